# Kommentare
comment-subject = { $name } hat geantwortet: { $title }
comment-subject-customer = { $name } hat kommentiert: { $title }
comment-subject-unnamed = Ein Kunde hat kommentiert: { $title }
comment-lead = { $name } von { $product } hat auf einen Wunsch geantwortet, für den Sie gestimmt haben oder dem Sie folgen:
comment-lead-team = { $product } hat auf einen Wunsch geantwortet, für den Sie gestimmt haben oder dem Sie folgen:
comment-lead-customer = { $name } hat einen Wunsch kommentiert, für den Sie gestimmt haben oder dem Sie folgen:
comment-lead-unnamed = Ein Kunde hat einen Wunsch kommentiert, für den Sie gestimmt haben oder dem Sie folgen:

# Änderungen des Status
status-subject = { $status }: { $title }
status-subject-none = Nicht mehr auf der Roadmap: { $title }
status-lead = { $product } hat einen Wunsch, für den Sie gestimmt haben oder dem Sie folgen, nach „{ $status }“ verschoben:
status-lead-none = { $product } hat einen Wunsch, für den Sie gestimmt haben oder dem Sie folgen, von der Roadmap genommen:

# Zusammenführungen
merge-subject = Zusammengeführt: { $title }
merge-lead = { $product } hat „{ $source }“, wofür Sie gestimmt haben oder dem Sie folgen, mit einem Wunsch zusammengeführt, der dasselbe sagt. Ihre Stimme zählt jetzt dort:

# Neuigkeiten
changelog-subject = Neu: { $title }
changelog-lead = { $product } hat Neues zu Wünschen, für die Sie gestimmt haben oder denen Sie folgen:
news-lead = Neues von { $product }:

# Wer einen Text geschrieben hat
author = { $name } von { $product }
author-unnamed = Ein Kunde

# Schaltflächen
open-request = Wunsch öffnen
open-changelog = Neuigkeit öffnen
whole-comment = Ganzen Kommentar lesen
whole-changelog = Ganze Neuigkeit lesen

# Sammelmails
digest-subject = { $count ->
    [one] 1 Neuigkeit von { $product }
   *[other] { $count } Neuigkeiten von { $product }
}
digest-lead = { $count ->
    [one] Es gibt 1 Neuigkeit zu Wünschen, für die Sie gestimmt haben oder denen Sie folgen:
   *[other] Es gibt { $count } Neuigkeiten zu Wünschen, für die Sie gestimmt haben oder denen Sie folgen:
}
digest-comment = { $name } hat geantwortet
digest-comment-customer = { $name } hat kommentiert
digest-comment-unnamed = Ein Kunde hat kommentiert
digest-status = Jetzt: { $status }
digest-status-none = Nicht mehr auf der Roadmap
digest-merge = Zusammengeführt mit dem, wofür Sie gestimmt haben oder dem Sie folgen
digest-changelog = Neu
digest-more = { $count ->
    [one] und 1 weitere
   *[other] und { $count } weitere
}

# E-Mails ans Team
team-lead = Neu bei { $product } seit der letzten E-Mail:
team-requests = { $count ->
    [one] 1 neuer Wunsch
   *[other] { $count } neue Wünsche
}
team-replies = { $count ->
    [one] 1 neuer Kommentar
   *[other] { $count } neue Kommentare
}
team-awaiting = Wartet auf Freigabe
open-inbox = Eingang öffnen
team-settings = E-Mails auswählen

# Anmeldung
sign-in-subject = { $title } (Code { $beginning }…)
sign-in-title = Anmelden bei { $product }
confirm-vote = Bestätigen Sie Ihre Stimme für „{ $title }“
confirm-remove-vote = Bestätigen Sie, dass Sie Ihre Stimme für „{ $title }“ zurücknehmen
confirm-comment = Bestätigen Sie Ihren Kommentar zu „{ $title }“
confirm-submit = Bestätigen Sie Ihre Idee für { $product }
confirm-subscribe = Bestätigen Sie, dass Sie „{ $title }“ folgen
confirm-unsubscribe = Bestätigen Sie, dass Sie „{ $title }“ nicht mehr folgen
confirm-news = Bestätigen Sie, dass Sie E-Mails zu allen Neuigkeiten von { $product } wollen
sign-in-code = Oder geben Sie diesen Code dort ein, wo Sie diese E-Mail angefordert haben:
sign-in-link = Öffnen Sie diesen Link:
sign-in-validity = Beide gelten { $minutes } Minuten lang und für eine Anmeldung.
sign-in-origin = Angefordert mit { $browser } am { $at }.
sign-in-origin-unknown = Angefordert am { $at }.
sign-in-ignore = Wenn Sie sie nicht angefordert haben, ignorieren Sie diese E-Mail: Es geschieht nichts.
invitation-title = Sie sind im Team von { $product }
invitation-link = Öffnen Sie diesen Link, um sich anzumelden:
invitation-validity = Er gilt { $minutes } Minuten lang und für eine Anmeldung.
invitation-again = Einen neuen fordern Sie hier an:
invitation-ignore = Wenn das ein Irrtum ist, ignorieren Sie diese E-Mail: Es geschieht nichts.

# Deaktivierte Webhooks
webhook-disabled = Ein Webhook wurde deaktiviert: { $host }
webhook-gone = Der Server hat mit 410 Gone geantwortet: Diese Adresse nimmt keine Ereignisse mehr an.
webhook-failing = Seit { $since } konnte kein Ereignis zugestellt werden.
webhook-failing-long = Zu lange konnte kein Ereignis zugestellt werden.
webhook-status = Die letzte Antwort hatte den Status { $status }.
webhook-response = Die letzte Antwort hatte den Status { $status } und begann mit:
webhook-timeout = Auf den letzten Versuch kam keine Antwort in der vorgesehenen Zeit.
webhook-unreachable = Der letzte Versuch hat den Server nicht erreicht.
webhook-tls = Der letzte Versuch ist gescheitert, weil keine sichere Verbindung zustande kam.
webhook-blocked = Der letzte Versuch wurde nicht gemacht, weil der Host zu einer verbotenen Adresse führt.
webhook-effect = Für ihn werden keine Ereignisse aufgezeichnet, bis ihn jemand wieder aktiviert.
open-webhook = Webhook öffnen

# Testmail
test-subject = Test ausgehender E-Mails von { $product }
test-title = E-Mails funktionieren
test-text = Diese E-Mail wurde von „roadmap mail test“ für { $url } eingereiht und von einem Worker gesendet. Sie ist angekommen, also funktionieren E-Mails.
test-reason = Sie bekommen diese E-Mail, weil jemand aus dem Betrieb ausgehende E-Mails testet.

# Fußzeilen
reason-request = Sie bekommen diese E-Mail von { $product }, weil Sie für diesen Wunsch gestimmt haben oder ihm folgen.
reason-changelog = Sie bekommen diese E-Mail von { $product }, weil Sie für einen Wunsch gestimmt haben, um den es hier geht, oder einem folgen.
reason-news = Sie bekommen diese E-Mail, weil Sie um E-Mails zu allen Neuigkeiten von { $product } gebeten haben.
reason-digest = Sie bekommen diese E-Mail von { $product }, weil Sie für diese Wünsche gestimmt haben oder ihnen folgen.
reason-team = Sie bekommen diese E-Mail, weil Sie im Team von { $product } sind.
reason-admin = Sie bekommen diese E-Mail, weil Sie Admin von { $product } sind.
stop-request = E-Mails zu diesem Wunsch abbestellen
stop-changelogs = E-Mails zu Neuigkeiten abbestellen
stop-news = E-Mails zu allen Neuigkeiten abbestellen
stop-all = Alle E-Mails abbestellen
stop-team = Diese E-Mails abbestellen
