# Stimmen, Kommentare, Ideen, Anmeldung und Konto.
email-hint = Wir senden Ihnen einen Link zur Bestätigung. Ihre Adresse sieht nur das Team.
honeypot-label = Dieses Feld leer lassen
honeypot-filled = Bitte lassen Sie dieses Feld leer. Es soll Programme erkennen, die Formulare ausfüllen; vielleicht hat Ihr Browser es ausgefüllt.
send-code = Code senden
save = Speichern
go-on = Weiter
session-ended = Sie sind nicht mehr angemeldet. Geben Sie Ihre Adresse an, dann geht nichts von Ihrer Eingabe verloren.

back-to-request = Zum Wunsch
    .ideas = Zur Idee
ask-vote = Damit Ihre Stimme zählt, brauchen wir Ihre Adresse. Wir senden Ihnen eine E-Mail. Die Stimme zählt, sobald Sie sie dort bestätigen.
ask-remove-vote = Bestätigen Sie Ihre Adresse, um Ihre Stimme zurückzunehmen. Wir senden Ihnen eine E-Mail. Die Stimme ist zurückgenommen, sobald Sie das dort bestätigen.
ask-follow = Um zu folgen, nennen Sie uns Ihre Adresse. Wir senden Ihnen eine E-Mail. Sie folgen, sobald Sie es dort bestätigen.
ask-unfollow = Um nicht mehr zu folgen, bestätigen Sie Ihre Adresse. Wir senden Ihnen eine E-Mail.
ask-news = Bestätigen Sie Ihre Adresse, um E-Mails zu allen Neuigkeiten zu bekommen. Wir senden Ihnen einen Link.
get-news = E-Mails zu allen Neuigkeiten
news-lead = Jede Neuigkeit von { $name } per E-Mail. Ein Link in jeder E-Mail bestellt sie ab.
news-on = Sie bekommen schon E-Mails zu allen Neuigkeiten.

idea-title = Idee einreichen
idea-lead = Was sollte möglich sein, was heute nicht geht? Bitte immer nur eine Idee auf einmal.
idea-step-title = 1. Titel
idea-step-rest = 2. Einzelheiten
title-hint = In wenigen Worten, so wie Sie es jemandem erzählen würden.
continue = Weiter
look-again = Neu suchen
look-again-hint = Ändern Sie den Titel und suchen Sie noch einmal nach ähnlichen Wünschen. Was Sie unten geschrieben haben, bleibt erhalten.
similar-lead = Wenn einer davon das ist, was Sie meinen, zählt Ihre Stimme dort mehr als ein zweiter Wunsch.
similar-none = Wir haben nichts Ähnliches gefunden.
idea-rest = Erzählen Sie mehr
idea-rest-similar = Keiner davon? Erzählen Sie mehr
description-hint = Was möchten Sie tun, und was hindert Sie heute daran? Freiwillig. Markdown ist möglich: **fett**, Listen, Links. Alle können es lesen.
submit-idea = Idee einreichen

sign-in = Anmelden
sign-in-lead = Ohne Passwort. Wir senden Ihnen einen Link, der einmal gilt, 15 Minuten lang.
sign-in-hint = Mit der ersten Anmeldung entsteht Ihr Konto. Ihre Adresse sieht nur das Team.
link-known-title = Sie sind schon angemeldet
link-known-lead = Dieser Link wurde schon benutzt oder ist zu alt. Sie brauchen ihn nicht: Sie sind als { $name } angemeldet.
link-known-go-on = Weiter
cookies-needed = Sie sind nicht angemeldet: Ihr Browser hat das Cookie dieser Website nicht angenommen. Bitte erlauben Sie hier Cookies, und melden Sie sich noch einmal an.
link-gone-title = Dieser Link gilt nicht mehr
link-gone-lead = Er wurde schon benutzt, ist älter als 15 Minuten oder unvollständig. Wir senden Ihnen einen neuen.
link-late-title = Dieser Link ist zu alt
link-late-lead = Er galt 15 Minuten. Nichts ist verloren: Wir senden eine neue E-Mail an
link-late-kept = Die neue E-Mail nimmt dies mit:
link-late-send = Neue E-Mail senden
sent-lead = Wir haben Ihnen eine E-Mail gesendet. Öffnen Sie den Link darin innerhalb von 15 Minuten, auf einem beliebigen Gerät.
sent-to = Wir haben geschrieben an
sent-change = ändern
sent-link = Oder öffnen Sie den Link in der E-Mail innerhalb von 15 Minuten, auf einem beliebigen Gerät.
sent-code = Geben Sie den Code aus der E-Mail hier in diesem Browser ein, um sich anzumelden.
code-to-vote = Geben Sie den Code aus der E-Mail hier ein, um für „{ $name }“ zu stimmen.
code-to-remove-vote = Geben Sie den Code aus der E-Mail hier ein, um Ihre Stimme für „{ $name }“ zurückzunehmen.
code-to-comment = Geben Sie den Code aus der E-Mail hier ein, um Ihren Kommentar zu „{ $name }“ zu veröffentlichen.
code-to-submit = Geben Sie den Code aus der E-Mail hier ein, um Ihre Idee „{ $name }“ einzureichen.
code-to-follow = Geben Sie den Code aus der E-Mail hier ein, um „{ $name }“ zu folgen.
code-to-unfollow = Geben Sie den Code aus der E-Mail hier ein, um „{ $name }“ nicht mehr zu folgen.
code-to-get-news = Geben Sie den Code aus der E-Mail hier ein, um E-Mails zu Neuigkeiten zu bekommen.
sent-nothing = Nach ein paar Minuten noch keine E-Mail? Sehen Sie im Spam-Ordner nach, oder
sent-again = senden Sie sie noch einmal
sent-used-up = { $count ->
    [one] Gerade werden so viele Anmeldungen angefordert, dass manche E-Mails nicht gesendet werden. Wer sich hier schon einmal angemeldet hat, bekommt seine. Wenn keine ankommt, fordern Sie in einer Minute eine neue an.
   *[other] Gerade werden so viele Anmeldungen angefordert, dass manche E-Mails nicht gesendet werden. Wer sich hier schon einmal angemeldet hat, bekommt seine. Wenn keine ankommt, fordern Sie in { $number } Minuten eine neue an.
}
code-hint = 8 Zeichen. Groß oder klein geschrieben, mit oder ohne Leerzeichen.
code-missing = Der Code fehlt. Bitte geben Sie den Code aus der E-Mail ein.
code-elsewhere = Dieser Code gilt nur in dem Browser, in dem er angefordert wurde, 15 Minuten lang. Öffnen Sie stattdessen den Link in der E-Mail, oder fordern Sie eine neue an.
code-expired = Dieser Code gilt nicht mehr. Bitte fordern Sie eine neue E-Mail an.
code-too-many = Das waren zu viele Versuche. Bitte öffnen Sie den Link in der E-Mail, oder fordern Sie eine neue an.
code-wrong = Dieser Code stimmt nicht. Bitte vergleichen Sie ihn mit der neuesten E-Mail.
link-as = Sie melden sich an als
link-asked = Angefordert am { $date } ({ $zone }).
link-asked-from = Angefordert am { $date } ({ $zone }), mit { $browser }.
pending-vote = Sie haben auch für diesen Wunsch gestimmt. Die Stimme zählt nur, wenn Sie es bestätigen:
    .ideas = Sie haben auch für diese Idee gestimmt. Die Stimme zählt nur, wenn Sie es bestätigen:
pending-remove-vote = Sie haben auch Ihre Stimme für diesen Wunsch zurückgenommen. Das geschieht nur, wenn Sie es bestätigen:
    .ideas = Sie haben auch Ihre Stimme für diese Idee zurückgenommen. Das geschieht nur, wenn Sie es bestätigen:
pending-comment = Sie haben auch diesen Kommentar geschrieben. Er wird nur veröffentlicht, wenn Sie es bestätigen:
pending-submit = Sie haben auch diese Idee aufgeschrieben. Sie wird nur eingereicht, wenn Sie es bestätigen:
pending-follow = Sie möchten auch diesem Wunsch folgen. E-Mails bekommen Sie nur, wenn Sie es bestätigen:
    .ideas = Sie möchten auch dieser Idee folgen. E-Mails bekommen Sie nur, wenn Sie es bestätigen:
pending-news = Sie haben auch um E-Mails zu allen Neuigkeiten gebeten. Sie bekommen sie nur, wenn Sie zustimmen:
pending-unfollow = Sie möchten auch diesem Wunsch nicht mehr folgen. Das geschieht nur, wenn Sie es bestätigen:
    .ideas = Sie möchten auch dieser Idee nicht mehr folgen. Das geschieht nur, wenn Sie es bestätigen:
sign-in-and-vote = Anmelden und abstimmen
sign-in-and-remove-vote = Anmelden und Stimme zurücknehmen
sign-in-and-post = Anmelden und veröffentlichen
sign-in-and-submit = Anmelden und einreichen
sign-in-and-follow = Anmelden und folgen
sign-in-and-get-news = Anmelden und Neuigkeiten bekommen
sign-in-and-unfollow = Anmelden und nicht mehr folgen
only-sign-in = Nur anmelden
not-me = Das war ich nicht
not-me-hint = „Das war ich nicht“ macht den Link unbrauchbar. In Ihrem Namen geschieht nichts.

not-done-title = Das ging nicht
not-done-gone = Den Wunsch gibt es nicht mehr, oder er ist mit dieser Adresse nicht zu sehen.
    .ideas = Die Idee gibt es nicht mehr, oder sie ist mit dieser Adresse nicht zu sehen.
not-done-signed-out = Sie sind nicht mehr angemeldet. Melden Sie sich an und senden Sie es dann noch einmal.
not-done-signed-in = Sie sind angemeldet.
not-done-typed = Das haben Sie geschrieben. Nichts davon ist gespeichert. Kopieren Sie es, wenn Sie es noch brauchen.
kept-posts-used-up = Gerade warten zu viele Beiträge auf eine Bestätigung. Bitte melden Sie sich zuerst an, und senden Sie diesen dann noch einmal.

account-title = Ihr Konto
account-admin = Sie gehören als { $name } zum Team und verwalten es.
account-member = Sie gehören als { $name } zum Team.
account-you = Über Sie
name-hint = Er ist öffentlich und steht neben dem, was Sie schreiben. Ohne Namen steht dort „Kundin oder Kunde“.
account-name-held = Ihr Name steht neben Beiträgen, die das Team freigegeben hat. Bitten Sie das Team, ihn zu ändern.
account-name-link = Bitte ein Name ohne Link.
language-hint = Die Sprache dieser Seiten und der E-Mails an Sie.
language-browser = Wie der Browser
account-followed = Dem Sie folgen und wofür Sie gestimmt haben
account-none-followed = Sie folgen noch nichts und haben noch nicht abgestimmt.
account-all-votes = Alle Wünsche, für die Sie gestimmt haben
    .ideas = Alle Ideen, für die Sie gestimmt haben
account-ideas = Ihre Ideen
account-no-ideas = Sie haben noch keine Idee eingereicht.
account-all-ideas = Alle Ihre Ideen
account-sessions = Wo Sie angemeldet sind
browser-unknown = Unbekannter Browser
session-this = Dieser Browser
session-since = Seit
session-seen = Zuletzt benutzt
session-end = Beenden
sign-out-everywhere = Überall abmelden

done-voted = Ihre Stimme zählt. Vielen Dank.
done-unvoted = Ihre Stimme ist zurückgenommen.
done-commented = Ihr Kommentar ist veröffentlicht.
done-comment-held = Vielen Dank. Ihr Kommentar erscheint, sobald das Team ihn freigegeben hat.
done-submitted = Vielen Dank für Ihre Idee. Ihre Stimme hat sie schon.
done-idea-held = Vielen Dank für Ihre Idee. Sie erscheint, sobald das Team sie freigegeben hat.
done-subscribed = Sie folgen diesem Wunsch. Wir schreiben Ihnen, wenn das Team antwortet oder sich der Status ändert.
done-mail-resumed = Sie folgen diesem Wunsch. Sie hatten E-Mails von uns gestoppt: Sie kommen wieder.
done-mail-stopped = An diese Adresse schicken wir keine E-Mails, also auch dazu keine.
done-mail-saved = Ihre Einstellungen für E-Mails wurden gespeichert.
done-news = Sie bekommen ab jetzt zu jeder Neuigkeit eine E-Mail.
done-unsubscribed = Sie folgen diesem Wunsch nicht mehr und bekommen hierzu keine E-Mails mehr.
done-signed-in = Sie sind angemeldet.
done-signed-out = Sie sind abgemeldet.
done-signed-out-everywhere = Sie sind in allen Browsern abgemeldet.
done-session-ended = Sie sind in jenem Browser abgemeldet.
done-denied = Der Link gilt nicht mehr. In Ihrem Namen ist nichts geschehen.
done-saved = Ihr Konto ist gespeichert.
done-approved = Es ist freigegeben und öffentlich.
done-discarded = Der Kommentar ist gelöscht.

# E-Mails
stop-mail-title = E-Mails abbestellen
stop-mail-hint = Es ändert sich nichts, bis Sie eine Schaltfläche wählen. E-Mails zum Anmelden kommen nur, wenn Sie sie anfordern.
stop-request = E-Mails zu diesem Wunsch abbestellen
    .ideas = E-Mails zu dieser Idee abbestellen
stop-changelogs = E-Mails zu Neuigkeiten abbestellen
stop-news = E-Mails zu allen Neuigkeiten abbestellen
stop-all = Alle E-Mails abbestellen
stopped-request = Sie bekommen keine E-Mails mehr zu „{ $name }“.
stopped-this = Sie bekommen keine E-Mails mehr zu diesem Wunsch.
    .ideas = Sie bekommen keine E-Mails mehr zu dieser Idee.
stopped-changelogs = Sie bekommen keine E-Mails mehr zu Neuigkeiten.
stopped-news = Sie bekommen keine E-Mails mehr zu allen Neuigkeiten.
stopped-all = Sie bekommen keine E-Mails mehr von uns. E-Mails zum Anmelden kommen weiter, wenn Sie sie anfordern.
all-mail-settings = Alle Einstellungen für E-Mails
mail-settings-title = Einstellungen für E-Mails
account-mail = E-Mails
mail-requests = Antworten und Status zu dem, was ich verfolge
mail-changelogs = Neuigkeiten dazu
mail-news = Alle Neuigkeiten
mail-settings-hint = Sie folgen allem, wofür Sie gestimmt haben, wenn Sie es nicht anders gewählt haben.
team-mail = E-Mails fürs Team
team-mail-each = Jeder neue Wunsch und jede Antwort
team-mail-each-hint = Nach wenigen Minuten. Was schnell aufeinander folgt, kommt in einer E-Mail.
team-mail-answered = Antworten auf das, was ich beantwortet habe
team-mail-answered-hint = Kommentare von Kunden dort, wo Sie kommentiert haben, auch über die API.
team-mail-daily = Tägliche Zusammenfassung
team-mail-daily-hint = Um 8:00 Uhr ({ $name }). Ist nichts geschehen, kommt nichts.
team-mail-nothing = Nichts
stop-team-mail = E-Mails fürs Team abbestellen
stopped-team = Sie bekommen keine E-Mails mehr über das, was Kunden schreiben.
save-mail-settings = Einstellungen für E-Mails speichern

# The name of somebody who takes part.
you = Sie
ask-name = Wie dürfen wir Sie nennen?
ask-name-hint = Freiwillig. Ihr Name steht neben dem, was Sie schreiben. In Ihrem Konto können Sie ihn ändern.
save-name = Namen speichern
done-named = Danke. Ihr Name ist gespeichert.

# What somebody has written.
edit-own = Bearbeiten
delete-own = Löschen
own-comment = Ihren Kommentar, { $name }
own-idea = Ihre Idee
edit-comment-title = Ihren Kommentar bearbeiten
edit-idea-title = Ihre Idee bearbeiten
edit-own-hint = Sie können 15 Minuten lang etwas ändern, solange das Team nicht geantwortet hat.
save-own = Speichern
delete-comment-title = Ihren Kommentar löschen?
delete-comment-text = Niemand sieht ihn danach mehr. Das lässt sich nicht rückgängig machen.
delete-comment = Kommentar löschen
delete-idea-title = Ihre Idee löschen?
delete-idea-text = „{ $name }“ wird mit Ihrer Stimme und Ihren Kommentaren dazu gelöscht. Das lässt sich nicht rückgängig machen.
delete-idea = Idee löschen
remove-idea-title = Ihren Namen und Ihren Text entfernen?
remove-idea-text = An „{ $name }“ sind andere beteiligt. Darum bleibt die Idee mit Titel, Stimmen und Kommentaren bestehen. Ihr Name und Ihre Beschreibung werden daraus entfernt. Das lässt sich nicht rückgängig machen.
remove-idea-rest = Ihre eigene Stimme und Ihre Kommentare bleiben, bis Sie sie selbst entfernen.
remove-idea = Meinen Namen und Text entfernen
own-changed = Inzwischen hat sich etwas geändert. Öffnen Sie die Seite noch einmal, um den jetzigen Stand zu sehen, und ergänzen Sie dort Ihre Änderungen.
done-own-saved = Ihre Änderungen sind gespeichert.
done-own-comment-deleted = Ihr Kommentar ist gelöscht.
done-own-idea-deleted = Ihre Idee ist gelöscht.
done-own-idea-removed = Ihr Name und Ihr Text sind daraus entfernt.
done-not-editable = Das lässt sich nicht mehr bearbeiten: 15 Minuten sind vorbei, oder das Team hat geantwortet oder es freigegeben. Löschen können Sie es weiterhin.

# Die Werkzeugleiste eines Textfelds für Markdown.
formatting = Formatierung
tool-bold = Fett
tool-list = Liste
tool-link = Link
tool-picture = Bild

# Ein Bild in einem Text.
add-picture = Bild hinzufügen
picture-hint = JPEG, PNG, WebP oder GIF, bis 5 MB. Versteckte Daten wie der Ort werden entfernt.
picture-dropping = Sie können es auch in den Text einfügen oder hineinziehen.
picture-sending = Das Bild wird hinzugefügt …
picture-added = Das Bild ist im Text.
picture-failed = Das Bild konnte nicht hinzugefügt werden. Versuchen Sie es noch einmal.
pictures-linked = { $count ->
    [one] Ein Bild einer anderen Website wurde zu einem Link. Um es zu zeigen, laden Sie es herunter und nehmen Sie „Bild hinzufügen“.
   *[other] { $number } Bilder anderer Websites wurden zu Links. Um sie zu zeigen, laden Sie sie herunter und nehmen Sie „Bild hinzufügen“.
}
problem-picture-large = Dieses Bild ist zu groß. Es darf höchstens 5 MB haben.
problem-picture-unreadable = Das ist kein Bild, das gelesen werden kann. Wählen Sie eine JPEG-, PNG-, WebP- oder GIF-Datei.
problem-picture-pixels = Dieses Bild hat zu viele Pixel. Möglich sind höchstens 40 Megapixel.
problem-picture-animated = Ein animiertes WebP kann nicht gezeigt werden. Nehmen Sie ein GIF.
problem-picture-busy = Gerade werden viele Bilder hinzugefügt. Versuchen Sie es gleich noch einmal.
problem-picture-day = Sie können am Tag 30 MB an Bildern hinzufügen, und dieses passt nicht mehr hinein. Ihr Text geht nicht verloren.
problem-picture-share = Für Bilder von Kunden ist hier kein Platz mehr. Senden Sie den Text ohne das Bild.
problem-picture-rate = Sie fügen viele Bilder hinzu. Warten Sie eine Weile vor dem nächsten.
problem-picture-gone = Ein Bild Ihres Textes gibt es nicht mehr. Fügen Sie es noch einmal hinzu, oder entfernen Sie es aus dem Text.
problem-pictures-post = Ein Text kann höchstens 3 Bilder haben.
problem-pictures-changelog = Ein Changelog kann höchstens 20 Bilder haben.

# Alles, was über jemanden gespeichert ist.
account-data = Ihre Daten
account-data-hint = Laden Sie als JSON-Datei herunter, was über Sie gespeichert ist, oder löschen Sie Ihr Konto.
download-my-data = Meine Daten herunterladen
delete-me = Mich löschen
delete-me-title = Ihr Konto löschen?
delete-me-lead = Ihr Name und Ihre Adresse werden gelöscht, dazu Ihre Einstellungen, was Sie verfolgen und was auf Freigabe wartet. Sie werden überall abgemeldet.
delete-me-votes = { $count ->
    [one] Ihre Stimme bleibt ohne Ihren Namen.
   *[other] Ihre { $number } Stimmen bleiben ohne Ihren Namen.
}
delete-me-final = Das lässt sich nicht rückgängig machen. Sicherungen enthalten Ihre Daten, bis sie gelöscht werden.
delete-me-texts = Ihre Ideen und Kommentare
keep-texts = Texte behalten
remove-texts = Texte entfernen
delete-me-keep-texts = Sie bleiben, ohne Ihren Namen daneben.
delete-me-remove-texts = Ihre Kommentare werden gelöscht, ebenso Ideen, an denen sonst niemand beteiligt ist. Andere Ideen verlieren Titel und Beschreibung.
done-account-deleted = Ihr Konto ist gelöscht, und Sie sind abgemeldet.
