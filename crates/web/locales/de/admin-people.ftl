# Kunden, Mitglieder, API-Schlüssel, E-Mail und Protokoll.
done-customer-saved = Der Name wurde gespeichert.
done-customers-merged = Die beiden Kunden sind jetzt einer.
done-invited = Die Einladung ist unterwegs.
done-invitation-written = Die Einladung wurde in eine Datei geschrieben, weil kein Mailserver eingerichtet ist. Niemand bekommt sie.
done-member-added = Das Mitglied wurde hinzugefügt, aber es konnte keine E-Mail gesendet werden. Bitte senden Sie die Einladung später noch einmal.
done-role-changed = Die Rolle wurde geändert.
done-member-removed = Das Mitglied wurde entfernt.
done-key-created-before = Dieses Formular wurde zweimal gesendet. Der Schlüssel wurde einmal angelegt und einmal gezeigt. Falls Sie ihn nicht kopiert haben, widerrufen Sie ihn und legen Sie einen neuen an.
done-key-revoked = Der Schlüssel wurde widerrufen.
done-mail-retried = { $count ->
    [one] { $number } E-Mail wird noch einmal gesendet.
   *[other] { $number } E-Mails werden noch einmal gesendet.
}
done-mail-tested = Die Test-E-Mail ist unterwegs.
no-mail-server = Es ist kein Mailserver eingerichtet. Kunden können sich nicht anmelden, und niemand bekommt E-Mails: Sie werden in Dateien geschrieben. Wer diesen Dienst betreibt, kann einen einrichten (smtp_url).
done-mail-written = Die Test-E-Mail wurde in eine Datei geschrieben. Niemand bekommt sie.

# Kunden.
customers-lead = Alle, die abgestimmt, sich etwas gewünscht oder kommentiert haben.
customers-search = Kunden suchen
customers-count = { $count ->
    [one] { $number } Kunde
   *[other] { $number } Kunden
}
customers-all = Alle Kunden zeigen
customers-none-title = Noch keine Kunden
customers-none-text = Wer im Portal abstimmt oder über die API eine Stimme bekommt, steht hier.
customers-not-found-title = Niemand gefunden
customers-not-found-text = Versuchen Sie es mit einem Teil des Namens oder der Adresse.
field-customer_query = Suche
customer-votes = Stimmen
customer-since = Seit
customer-change = Kunden ändern
customer-name-hint = Steht neben dem, was dieser Kunde schreibt. Das Team sieht auch die Adresse.
customer-merge-link = Mit einem anderen Kunden zusammenführen
customer-requests = Gewünscht
customer-notes = Private Notizen
customer-notes-hint = Nur das Team sieht Notizen.
customer-subscriptions = Bekommt E-Mail über
customer-no-votes = Dieser Kunde hat für nichts gestimmt.
customer-no-requests = Dieser Kunde hat sich nichts gewünscht.
customer-no-notes = Das Team hat keine Notizen über diesen Kunden.
customer-no-subscriptions = Dieser Kunde bekommt über keinen Wunsch E-Mail.
customer-stopped = Dieser Kunde bekommt auf eigenen Wunsch keine E-Mail mehr, seit
customer-latest = Das sind die letzten { $number }.
customer-merge-title = Zwei Kunden zusammenführen
customer-merge-lead = Manchmal hat eine Person zwei Adressen. Suchen Sie den anderen Kunden: nach Name oder Adresse.
customer-merge-none = Es wurde kein anderer Kunde gefunden. Versuchen Sie es mit einem Teil des Namens oder der Adresse.
customer-merge-choose = Wählen
customer-unite-lead = Beide werden ein Kunde. Wählen Sie, wessen Adresse und Seite bleiben.
customer-keep = { $name } behalten
customer-keep-missing = Wählen Sie, welcher der beiden Kunden bleibt.
customer-gone = Diesen Kunden gibt es nicht mehr. Bitte suchen Sie einen anderen.
customer-unite-records = Stimmen, Wünsche, Kommentare, private Notizen und Abonnements von beiden gehören dem, den Sie behalten.
customer-unite-votes = Wo beide für denselben Wunsch gestimmt haben, zählt eine Stimme.
customer-unite-address = Die andere Adresse gehört danach niemandem. Wer später mit ihr schreibt, ist ein neuer Kunde.
customer-unite-name = Der Name dessen, den Sie behalten, bleibt. Fehlt er, wird der andere genommen.
customer-unite-mail = Hat einer von beiden alle E-Mail abbestellt, bleibt es dabei.
customer-unite-final = Das lässt sich nicht rückgängig machen.
customer-merge = Zusammenführen

# Mitglieder.
members-lead = Die Menschen in Ihrem Team. Sie melden sich mit einem Link per E-Mail an und beantworten Wünsche.
members-list = Das Team
member-you = Sie
member-since = seit
member-role-of = Rolle von { $name }
member-change = Speichern
member-change-of = Speichern: Rolle von { $name }
member-invite-again-of = { $name } den Link noch einmal senden
member-remove = Entfernen
member-remove-of = { $name } entfernen
member-own-hint = Wenn Sie Ihre eigene Rolle ändern oder sich selbst entfernen, werden Sie abgemeldet. Mindestens ein Admin bleibt immer.
member-invite-title = Jemanden einladen
member-name-hint = Kunden sehen ihn neben Antworten des Teams.
field-role = Rolle
member-invite = Einladen
roles-title = Was die Rollen dürfen
role-member = Mitglied
role-member-may = Arbeitet mit Wünschen, Kommentaren, privaten Notizen, Neuigkeiten und Kunden.
role-admin = Admin
role-admin-may = Alles, was Mitglieder dürfen, und dazu Spuren, Mitglieder, API-Schlüssel, Einstellungen, E-Mail und Protokoll.
roles-hint = Eine geänderte Rolle gilt sofort: Die Person wird abgemeldet und meldet sich neu an.
member-known = Jemand mit dieser Adresse ist schon im Team. In der Liste können Sie den Link noch einmal senden.
member-gone = Diese Person ist nicht mehr im Team.
member-role-missing = Wählen Sie eine Rolle.
member-last-admin = Das ist der letzte Admin, und ein Team braucht einen. Machen Sie zuerst jemand anderen zum Admin.
member-link-limit = Gerade können keine Einladungen mehr gesendet werden: Drei in der Stunde an eine Adresse und insgesamt 100 in der Stunde sind möglich. Bitte versuchen Sie es später noch einmal.
member-remove-title = { $name } entfernen?
member-remove-access = Der Zugang zur Verwaltung endet sofort, in allen Browsern.
member-remove-own = Das sind Sie selbst. Sie werden sofort abgemeldet, und nur ein anderer Admin kann Sie wieder einladen.
member-remove-stays = Kommentare und private Notizen bleiben, mit dem Namen.

# API-Schlüssel.
keys-lead = Mit einem Schlüssel liest und schreibt ein Programm dieselben Daten wie das Team.
keys-docs = So funktioniert die API
keys-active = Gültige Schlüssel
keys-none = Es gibt keinen gültigen Schlüssel. Legen Sie unten einen an.
keys-ended = { $count ->
    [one] { $number } Schlüssel, der nicht mehr gilt
   *[other] { $number } Schlüssel, die nicht mehr gelten
}
keys-ended-caption = Schlüssel, die nicht mehr gelten
key-last-four = Endet mit
key-scopes = Rechte
key-created = Angelegt
key-used = Zuletzt benutzt
key-used-never = Nie
key-expires = Läuft ab
key-ended = Beendet
key-revoked = Widerrufen
key-expired = Abgelaufen
key-actions = Aktionen
key-rotate = Erneuern
key-rotate-of = { $name } erneuern
key-rotate-hint = Erneuern legt einen neuen Schlüssel mit demselben Namen und denselben Rechten an. Neben dem Knopf wählen Sie, wann der alte endet, damit Zeit bleibt, Programme umzustellen.
key-overlap-of = Wann der alte Schlüssel von { $name } endet
key-overlap-none = Sofort
key-overlap-hour = In 1 Stunde
key-overlap-day = In 1 Tag
key-overlap-week = In 7 Tagen
key-overlap-missing = Wählen Sie, wann der alte Schlüssel endet.
key-ended-before = Dieser Schlüssel gilt nicht mehr und kann nicht erneuert werden. Legen Sie stattdessen einen neuen an.
key-rotated-at-once = Der alte Schlüssel gilt nicht mehr.
key-rotated-hour = Der alte Schlüssel gilt noch 1 Stunde.
key-rotated-day = Der alte Schlüssel gilt noch 1 Tag.
key-rotated-week = Der alte Schlüssel gilt noch 7 Tage.
key-revoke = Widerrufen
key-revoke-of = { $name } widerrufen
key-revoke-title = { $name } widerrufen?
key-revoke-text = Programme mit diesem Schlüssel werden innerhalb einer Sekunde abgewiesen. Das lässt sich nicht rückgängig machen; Sie müssten einen neuen Schlüssel anlegen.
key-revoked-before = Dieser Schlüssel wurde schon widerrufen.
key-create-title = Schlüssel anlegen
key-name-hint = Das Programm, das ihn benutzt, damit Sie ihn wiedererkennen: „Abgleich mit dem Helpdesk“.
key-scope-read = Liest alles, was das Team sieht, auch Adressen von Kunden.
key-scope-write = Legt Wünsche, Stimmen, Kommentare, private Notizen und Neuigkeiten an und ändert sie.
key-scope-manage = Ändert, was alle betrifft: Spuren, Spalten, Einstellungen, das Portal.
key-scope-missing = Wählen Sie mindestens ein Recht.
field-expires_in = Läuft ab nach
key-lifetime-never = Nie
key-lifetime-30 = 30 Tagen
key-lifetime-90 = 90 Tagen
key-lifetime-365 = 1 Jahr
key-lifetime-hint = Ein Schlüssel, der endet, ist sicherer. Vorher können Sie ihn erneuern.
key-lifetime-missing = Wählen Sie, wann der Schlüssel abläuft.
key-create = Schlüssel anlegen
key-created-title = Der neue Schlüssel { $name }
key-created-notice = Der Schlüssel wurde angelegt. Kopieren Sie ihn jetzt: Er wird nur dieses eine Mal gezeigt.
field-key = Schlüssel
key-created-hint = Behandeln Sie ihn wie ein Passwort. Der Dienst speichert nur eine Prüfsumme und kann ihn nicht noch einmal zeigen.
copy = Kopieren
copied = Kopiert
key-try = Ausprobieren
key-try-hint = Dieser Befehl zeigt Namen und Rechte des Schlüssels. Programme senden den Schlüssel im Header X-Api-Key.
key-copied = Ich habe den Schlüssel kopiert

# E-Mail.
mail-lead = E-Mail, die dieser Arbeitsbereich an Kunden und an das Team sendet.
mail-waiting = Wartet
mail-waiting-hint = Wird in Sekunden gesendet, wenn es nicht verschoben wurde.
mail-postponed = Verschoben
mail-postponed-hint = Ließ sich noch nicht senden und wird wieder versucht, bis zu zehnmal an einem Tag.
mail-failed = Gescheitert
mail-failed-hint = Aufgegeben. Wird nur noch einmal gesendet, wenn Sie es sagen.
mail-sent = Zuletzt gesendet
mail-sent-hint = Vom Mailserver angenommen. Alte werden nach einer Weile vergessen.
mail-written-hint = In Dateien geschrieben und an niemanden verschickt. Alte werden nach einer Weile vergessen.
mail-oldest = Die älteste E-Mail wartet seit
mail-failures = Was sich nicht senden ließ
mail-no-failures = Nichts. Alle E-Mail ist beim Mailserver angekommen oder auf dem Weg.
mail-no-failures-written = Nichts, denn es wird nichts verschickt.
mail-retry = Gescheiterte E-Mail noch einmal senden
mail-send-now = Verschobene E-Mail jetzt senden
mail-kind = E-Mail
mail-recipient = Empfänger
mail-recipient-address = Eine Adresse
mail-reason = Warum
mail-next = Nächster Versuch
mail-next-at = Nächster Versuch:
mail-given-up = Aufgegeben
mail-attempts = { $count ->
    [one] { $number } Versuch
   *[other] { $number } Versuche
}
mail-kind-comment = Kommentar
mail-kind-status = Neuer Status
mail-kind-merge = Zusammenführung
mail-kind-team = E-Mail ans Team
mail-kind-changelog = Neuigkeit
mail-kind-digest = Zusammenfassung mehrerer
mail-kind-sign-in = Link zur Anmeldung
mail-kind-test = Test-E-Mail
mail-latest = Die letzten { $number } werden gezeigt.
mail-test-title = Kommt E-Mail an?
mail-test-to = Eine Test-E-Mail geht an Ihre eigene Adresse:
mail-test-hint = Sie wird wie jede andere gesendet. Scheitert sie, steht der Grund kurz danach oben.
mail-test-written = Sie wird wie jede andere E-Mail in eine Datei geschrieben.
mail-test = Test-E-Mail senden

# Das Protokoll.
audit-lead = Wer was geändert hat: das Team, Programme mit einem API-Schlüssel, Befehle und der Dienst selbst.
audit-actor = Wer
audit-action = Was
audit-from = Von
audit-to = Bis
audit-everybody = Alle
audit-every-action = Alles
actors-api-key = Alle API-Schlüssel
actors-member = Alle Mitglieder
actors-customer = Alle Kunden
actors-operator = Alle Betreiber
actors-service = Der Dienst
audit-actor-member = Mitglied: { $name }
audit-actor-key = API-Schlüssel: { $name }
audit-actor-chosen = Der gewählte
actor-api-key = API-Schlüssel
actor-member = Mitglied
actor-customer = Kunde
actor-operator = Betreiber
actor-service = Dienst
channel-api = über die API
channel-page = auf einer Seite
channel-command = mit einem Befehl
channel-job = als Hintergrundaufgabe
audit-when = Wann
audit-who = Wer
audit-what = Was
audit-record = Datensatz und Änderungen
audit-only-record = Nur dieser Datensatz
audit-one-record = Gezeigt werden Einträge zu einem Datensatz.
audit-all-records = Alle Datensätze zeigen
audit-download = CSV herunterladen
audit-download-hint = Mit diesem Filter, höchstens die neuesten 10.000 Einträge.
audit-none-title = Keine Einträge
audit-none-text = Nichts wurde geändert, das zu diesem Filter passt. Alte Einträge werden nach einer Weile gelöscht.
audit-newest = Neueste Einträge
audit-older = Ältere Einträge
audit-day-invalid = Das ist kein Tag. Er sollte aussehen wie 2026-03-04.
audit-filter-unknown = Danach kann das Protokoll nicht gefiltert werden. Bitte wählen Sie etwas anderes.
change-old = vorher:
change-new = jetzt:
change-yes = ja
change-no = nein
change-content = Inhalt
change-private = Privat
change-status = Status
change-position = Position
change-moved-to = Verschoben nach
change-awaiting = Wartet auf Freigabe
change-merged-into = Zusammengeführt mit
change-merged = Zusammengeführte Wünsche
change-number = Nummer
change-subscribed = Abonniert
change-requests = Verknüpfte Wünsche
change-cover = Titelbild
change-public-from = Öffentlich ab
change-notified = Abstimmende haben E-Mail
change-notifies = E-Mail mit der Veröffentlichung
change-mails = E-Mails
change-product-name = Produktname
change-website = Website
change-state = Stand
change-kind = Art
change-visibility = Wer das Portal sieht
change-mail-domains = E-Mail-Domains
change-indexing = Suchmaschinen
change-embed-origins = Einbettende Websites
change-languages = Sprachen
change-moderation = Freigabe von Beiträgen
change-accent = Akzentfarbe
change-logo = Logo
change-reply-to = Antwortadresse
change-welcome = Begrüßung
change-question = Frage des Formulars
change-noun = Was Leute einreichen
change-names = Namen je Sprache
change-time-zone = Zeitzone
change-sender-name = Absender der E-Mails
record-request = Wunsch
record-comment = Kommentar
record-note = Private Notiz
record-link = Link
record-changelog = Neuigkeit
record-customer = Kunde
record-track = Spur
record-lane = Spalte
record-tag = Schlagwort
record-member = Mitglied
record-key = API-Schlüssel
record-sign-in = Anmeldung
record-setting = Einstellungen
record-portal = Portal
record-synonyms = Synonyme
record-attachment = Datei
record-mail = E-Mail
record-workspace = Arbeitsbereich
action-request-update = Wunsch bearbeitet
action-request-move = Wunsch verschoben
action-request-merge = Wunsch zusammengeführt
action-request-unmerge = Zusammenführung aufgehoben
action-request-approve = Wunsch freigegeben
action-request-decline = Wunsch abgelehnt
action-request-no-answer-needed = Wunsch braucht keine Antwort
action-request-delete = Wunsch gelöscht
action-comment-update = Kommentar bearbeitet
action-comment-approve = Kommentar freigegeben
action-comment-delete = Kommentar gelöscht
action-note-delete = Private Notiz gelöscht
action-link-create = Link hinzugefügt
action-link-update = Link geändert
action-link-delete = Link entfernt
action-vote-withdraw = Stimme entfernt
action-subscription-create = Abonniert
action-subscription-delete = Abbestellt
action-changelog-create = Neuigkeit angelegt
action-changelog-update = Neuigkeit bearbeitet
action-changelog-publish = Neuigkeit veröffentlicht
action-changelog-unpublish = Neuigkeit zurückgezogen
action-changelog-delete = Neuigkeit gelöscht
action-customer-update = Kunde geändert
action-customer-merge = Kunden zusammengeführt
action-customer-export = Daten eines Kunden ausgegeben
action-customer-erase = Kunde gelöscht
action-export-create = Export erstellt
action-import-start = Import begonnen
action-import-finish = Import beendet
action-import-undo = Import rückgängig gemacht
action-track-create = Spur hinzugefügt
action-track-update = Spur geändert
action-track-delete = Spur gelöscht
action-lane-create = Spalte hinzugefügt
action-lane-update = Spalte geändert
action-lane-delete = Spalte gelöscht
action-tag-update = Schlagwort umbenannt
action-tag-delete = Schlagwort gelöscht
action-member-add = Mitglied hinzugefügt
action-member-role = Rolle geändert
action-member-remove = Mitglied entfernt
action-sign-in-link = Anmelde-Link erstellt
action-key-create = API-Schlüssel angelegt
action-key-rotate = API-Schlüssel erneuert
action-key-revoke = API-Schlüssel widerrufen
action-setting-update = Einstellungen geändert
action-portal-update = Portal geändert
action-synonyms-replace = Synonyme ersetzt
action-attachment-delete = Datei gelöscht
action-mail-retry = E-Mail noch einmal gesendet
action-mail-test = Test-E-Mail gesendet
action-workspace-create = Arbeitsbereich angelegt
action-workspace-update = Arbeitsbereich geändert
customer-texts = Texte
customer-no-texts = Dieser Kunde hat nichts geschrieben.
customer-texts-removed = { $count ->
    [one] Ein Text ist entfernt: Nur diese Seite zeigt ihn. 30 Tage nach dem Entfernen wird er gelöscht.
   *[other] { $number } Texte sind entfernt: Nur diese Seite zeigt sie. 30 Tage nach dem Entfernen werden sie gelöscht.
}
customer-remove-texts = Alle Texte entfernen
customer-remove-title = Alle Texte von { $name } entfernen
customer-remove-comments = { $count ->
    [one] Ein Kommentar ist für niemanden mehr da, auch wenn er auf Freigabe wartet.
   *[other] { $number } Kommentare sind für niemanden mehr da, auch die, die auf Freigabe warten.
}
customer-remove-ideas = { $count ->
    [one] Ein Wunsch wird privat; Titel, Beschreibung und Tags werden entfernt.
   *[other] { $number } Wünsche werden privat; Titel, Beschreibungen und Tags werden entfernt.
}
customer-remove-others = Stimmen, Kommentare anderer und private Notizen bleiben. Das Team findet diese Wünsche unter „Privat“ mit dem Titel „[removed]“.
customer-remove-many = Auf einmal werden die neuesten { $number } Wünsche und { $number } Kommentare entfernt. Wiederholen Sie es für die übrigen.
customer-remove-mail = E-Mail über diese Texte, die noch nicht gesendet ist, wird nicht gesendet.
customer-remove-undo = Sie können das 30 Tage lang rückgängig machen. Danach werden die Texte gelöscht.
customer-block = Sperren
customer-unblock = Sperre aufheben
customer-block-hint = Was diese Person im Portal tut, bleibt dann ohne Wirkung: Es kommen dieselben Seiten, aber keine E-Mail. Alle Sitzungen enden. Stimmen, die das Team einträgt, zählen weiter.
customer-blocked-since = Gesperrt seit
customer-blocked-mail = Dieser Kunde bekommt keine E-Mail, solange er gesperrt ist.
customer-block-member = Das ist ein Mitglied des Teams. Entfernen Sie zuerst das Mitglied.
customers-only-blocked = Nur gesperrte
badge-blocked = Gesperrt
badge-removed = Entfernt
undo = Rückgängig
done-customer-blocked = Der Kunde ist gesperrt.
done-customer-unblocked = Der Kunde ist nicht mehr gesperrt.
done-texts-removed = { $count ->
    [one] Ein Text wurde entfernt.
   *[other] { $number } Texte wurden entfernt.
}
done-texts-restored = { $count ->
    [one] Ein Text wurde wiederhergestellt.
   *[other] { $number } Texte wurden wiederhergestellt.
}
action-customer-block = Kunde gesperrt
action-customer-unblock = Sperre eines Kunden aufgehoben
action-customer-remove-texts = Texte eines Kunden entfernt
action-customer-restore-texts = Texte eines Kunden wiederhergestellt
customer-no-comments = Kein Kommentar dieses Kunden ist öffentlich.
member-demote-title = Ist { $name } kein Admin mehr?
member-demote-text = Dieses Mitglied arbeitet dann mit Wünschen und Kunden, aber nicht mit Einstellungen, Mitgliedern und API-Schlüsseln. Alle Sitzungen enden.
member-keys = Dieses Mitglied hat API-Schlüssel gemacht, die gelten. Sie gelten weiter, wenn sie nicht widerrufen werden:
member-revoke-keys = Auch diese widerrufen

# Die Daten eines Kunden, und sie löschen.
customer-download = Daten herunterladen
customer-erase = Kunden löschen
customer-erase-title = { $name } löschen?
customer-erase-goes = Das verschwindet, was auch immer Sie unten wählen:
customer-erase-person = Name, Adresse, Einstellungen, Abonnements, E-Mails und Sitzungen
customer-erase-waiting = Was auf Freigabe wartet, und entfernte Texte
customer-erase-mentions = Texte mit dem Namen oder der Adresse
customer-erase-no-mentions = Es gibt keine.
customer-erase-mentions-stay = Diese bleiben, wie sie sind. Bearbeiten oder löschen Sie sie selbst, wenn der Name verschwinden muss. Texte des Kunden verschwinden mit „Texte entfernen“.
customer-erase-more-mentions = { $count ->
    [one] Und { $number } weiterer. Der Befehl roadmap customer erase --dry-run listet alle auf.
   *[other] Und { $number } weitere. Der Befehl roadmap customer erase --dry-run listet alle auf.
}
customer-erase-final = Das lässt sich nicht rückgängig machen. Ältere Sicherungen und Exporte enthalten den Kunden, bis Sie sie löschen.
keep-votes = Stimmen behalten
remove-votes = Stimmen entfernen
customer-erase-keep-votes = Sie zählen wie bisher, ohne den Kunden.
customer-erase-remove-votes = Sie werden gelöscht, und es wird neu gezählt.
customer-erase-keep-texts = Sie bleiben ohne Namen.
customer-erase-remove-texts = Kommentare verschwinden, ebenso Wünsche, an denen sonst niemand beteiligt ist. Andere Wünsche verlieren Titel und Beschreibung.
done-customer-erased = Der Kunde ist gelöscht.

# Exporte.
exports-lead = Alles aus diesem Arbeitsbereich in einer Zip-Datei: Wünsche, Stimmen, Kommentare, Neuigkeiten, Personen und Dateien. Eine andere Installation kann sie importieren, und Tabellenprogramme öffnen ihre Tabellen.
exports-list = Exporte
exports-none = Es gibt keinen Export.
exports-kept = Jeder Export wird 24 Stunden nach dem Erstellen gelöscht, oder früher, wenn ein Kunde gelöscht wird, der darin sein kann.
export-create-title = Einen Export erstellen
export-create = Export erstellen
export-without-people = Ohne Personen
export-without-people-hint = Namen, Adressen und private Notizen fehlen. Alle Zahlen bleiben. In Texten wird nicht nach Namen gesucht.
export-without-notes = Ohne private Notizen
export-time = Zeit
export-size = Größe
export-state = Status
export-file = Datei
export-running = Läuft
export-done = Fertig
export-failed = Fehlgeschlagen
export-download = Export herunterladen
export-refresh = Aktualisieren
export-running-already = Ein Export läuft bereits. Sie können den nächsten erstellen, wenn er fertig ist.
done-export-created = Der Export wird geschrieben. Das kann einige Minuten dauern.
size-kb = { $number } kB
size-mb = { $number } MB
