# Neuigkeiten, Spuren, Spalten und Einstellungen.
done-changelog-saved = Die Neuigkeit wurde gespeichert.
done-changelog-published = Die Neuigkeit wurde veröffentlicht.
done-changelog-mailed = { $count ->
    [0] Die Neuigkeit wurde veröffentlicht. Niemand bekommt E-Mail, weil niemand abgestimmt hat.
    [one] Die Neuigkeit wurde veröffentlicht, und { $number } Person bekommt E-Mail.
   *[other] Die Neuigkeit wurde veröffentlicht, und { $number } Personen bekommen E-Mail.
}
done-changelog-scheduled = Die Neuigkeit wird zur gewählten Zeit veröffentlicht.
done-changelog-unpublished = Die Neuigkeit ist wieder ein Entwurf.
done-changelog-deleted = Die Neuigkeit wurde gelöscht.
done-track-added = Die Spur wurde hinzugefügt.
done-track-saved = Die Spur wurde gespeichert.
done-track-deleted = Die Spur wurde gelöscht.
done-lane-added = Die Spalte wurde hinzugefügt.
done-lane-saved = Die Spalte wurde gespeichert.
done-lane-deleted = Die Spalte wurde gelöscht.
done-tag-saved = { $count ->
    [one] Das Schlagwort wurde bei { $number } Wunsch umbenannt.
   *[other] Das Schlagwort wurde bei { $number } Wünschen umbenannt.
}
done-tag-merged = { $count ->
    [one] Die beiden Schlagwörter sind jetzt eins. { $number } Wunsch wurde geändert.
   *[other] Die beiden Schlagwörter sind jetzt eins. { $number } Wünsche wurden geändert.
}
done-tag-deleted = { $count ->
    [one] Das Schlagwort wurde von { $number } Wunsch entfernt.
   *[other] Das Schlagwort wurde von { $number } Wünschen entfernt.
}
done-settings-saved = Die Einstellungen wurden gespeichert.

# Neuigkeiten.
changelogs-lead = Was es Neues gibt. Wer es sich gewünscht hat, kann E-Mail dazu bekommen.
changelogs-none-title = Noch keine Neuigkeit
changelogs-none-text = Wenn etwas fertig ist, schreiben Sie es hier auf, und sagen Sie es denen, die dafür gestimmt haben.
changelog-new = Neue Neuigkeit
changelog-draft = Entwurf
changelog-scheduled = Geplant
changelog-published = Veröffentlicht
changelog-changed-on = Geändert am
changelog-public-from = Öffentlich ab
changelog-public-since = Öffentlich seit
changelog-see = Im Portal ansehen
times-are-in = Die Zeiten sind in der Zeitzone { $name }.
back-to-changelog = Zur Neuigkeit
field-changelog-content = Inhalt
field-linked-query = Suche
changelog-content-hint = Markdown geht: **fett**, Listen, Links.
changelog-html-hint = Dieser Text ist HTML, weil Markdown seine Formatierung nicht ausdrücken kann.
changelog-category = Kategorie
changelog-category-none = Keine Kategorie
changelog-cover = Titelbild
changelog-cover-hint = PNG, JPEG, WebP oder GIF, bis 5 MB. Doppelt so breit wie hoch sieht am besten aus.
changelog-cover-now = Das jetzige Titelbild
changelog-cover-remove = Titelbild entfernen
changelog-cover-gone = Dieses Bild kann nicht mehr verwendet werden. Bitte wählen Sie es noch einmal aus.
changelog-linked = Verknüpfte Wünsche
changelog-linked-none = Noch keine. Suchen Sie die Wünsche, die jetzt erfüllt sind.
changelog-linked-many = Eine Neuigkeit kann höchstens { $number } verknüpfte Wünsche haben. Wählen Sie einige ab.
changelog-linked-gone = Einen der verknüpften Wünsche gibt es nicht mehr. Er steht jetzt nicht mehr in der Liste. Sehen Sie die Liste durch, und versuchen Sie es noch einmal.
changelog-find = Suchen
changelog-found = Gefundene Wünsche
changelog-publishing = Veröffentlichung
changelog-publish-at = Veröffentlichen am
changelog-publish-at-hint = Zeitzone { $zone }, dort ist es jetzt { $now }. Mit einer Zeit plant „Speichern“ die Veröffentlichung, ohne bleibt es ein Entwurf.
done-changelog-scheduled-mail = { $count ->
    [0] Die Neuigkeit wird zur gewählten Zeit veröffentlicht. Niemand folgt dem, worum es geht: Jetzt bekäme niemand eine E-Mail.
    [one] Die Neuigkeit wird zur gewählten Zeit veröffentlicht, mit E-Mail. Jetzt bekäme sie { $number } Person; sie geht an alle, die dann folgen.
   *[other] Die Neuigkeit wird zur gewählten Zeit veröffentlicht, mit E-Mail. Jetzt bekämen sie { $number } Personen; sie geht an alle, die dann folgen.
}
changelog-move-linked = Die verknüpften Wünsche nach { $name } verschieben
changelog-move-linked-hint = Sobald Sie „Veröffentlichen“ drücken. Über das Verschieben bekommt niemand eine E-Mail.
changelog-move-with-time = Wünsche werden nur verschoben, wenn Sie „Veröffentlichen“ drücken. Entfernen Sie das Häkchen, oder veröffentlichen Sie jetzt.
changelog-notify = E-Mail an die Abstimmenden der verknüpften Wünsche und an alle, die Neuigkeiten bekommen
changelog-people = { $count ->
    [0] Jetzt bekäme niemand E-Mail.
    [one] { $number } Person bekäme sie.
   *[other] { $number } Personen bekämen sie, jede einmal.
}
changelog-notify-hint = Die E-Mail geht mit der Veröffentlichung hinaus: wenn Sie „Veröffentlichen“ drücken, oder zur gewählten Zeit.
changelog-notify-published-hint = Die E-Mail geht hinaus, wenn Sie „Speichern“ drücken.
changelog-mailed = Die Abstimmenden haben dazu E-Mail bekommen. Niemand bekommt eine zweite.
changelog-publish = Veröffentlichen
changelog-unpublish = Zurückziehen
changelog-delete = Neuigkeit löschen
changelog-delete-title = „{ $name }“ löschen?
changelog-delete-draft = Die Neuigkeit ist dann endgültig weg.
changelog-delete-published = Die Neuigkeit ist dann endgültig weg, auch aus dem Portal und seinem Feed.
changelog-delete-text = E-Mail dazu, die noch wartet, wird nicht gesendet. Die verknüpften Wünsche bleiben.
changelog-time-invalid = Das ist keine Zeit. Sie sollte aussehen wie 2026-03-31T09:00.
changelog-time-past = Diese Zeit ist vorbei. Wählen Sie eine spätere, oder leeren Sie das Feld und drücken Sie „Veröffentlichen“.
changelog-time-never = In { $name } werden die Uhren über diese Zeit hinweg vorgestellt: Es gibt sie nicht. Wählen Sie eine andere.
changelog-time-twice = In { $name } werden die Uhren über diese Zeit hinweg zurückgestellt: Es gibt sie zweimal. Wählen Sie eine andere.
changelog-time-both = Sie haben eine Zeit gewählt und „Veröffentlichen“ gedrückt. Drücken Sie „Speichern“, um zu dieser Zeit zu veröffentlichen, oder leeren Sie das Feld, um jetzt zu veröffentlichen.
changelog-time-published = Die Neuigkeit ist schon veröffentlicht und kann nicht geplant werden. Leeren Sie das Feld, oder ziehen Sie die Neuigkeit zuerst zurück.
mails-used-up = Die E-Mails von heute sind aufgebraucht. Darum wurde nichts veröffentlicht und nichts gesendet. Wählen Sie dies ab, oder versuchen Sie es morgen noch einmal.
storage-used-up = Der Speicher dieses Arbeitsbereichs ist aufgebraucht. Darum wurde nichts gespeichert. Bitten Sie den Betreiber des Dienstes um mehr.
changelog-conflict = Jemand anderes hat diese Neuigkeit gespeichert, seit Sie sie geöffnet haben. Ihre Änderungen sind noch nicht gespeichert. Vergleichen Sie sie mit dem, was jetzt gespeichert ist. Das nächste „Speichern“ ersetzt es.
changelog-conflict-by = { $name } hat diese Neuigkeit gespeichert, seit Sie sie geöffnet haben. Ihre Änderungen sind noch nicht gespeichert. Vergleichen Sie sie mit dem, was jetzt gespeichert ist. Das nächste „Speichern“ ersetzt es.
changelog-gone = Jemand hat diese Neuigkeit gelöscht, seit Sie sie geöffnet haben. Was Sie geschrieben haben, ist noch da, und „Speichern“ macht daraus eine neue.
stored-now = Jetzt gespeichert
stored-nothing = Nichts
stored-same = Dasselbe, was Sie geschrieben haben.

# Spuren und Spalten.
tracks-lead = Mit Spuren sortiert das Team. Eine Spur, die zu einer Spalte führt, ist auf der öffentlichen Roadmap; die anderen bleiben intern.
no-lane = Keine Spalte
lanes-none = Noch keine Spalte, darum ist die Roadmap leer.
track-up = { $name } nach oben
track-down = { $name } nach unten
track-rename = { $name } umbenennen
track-delete-named = { $name } löschen
lane-up = Spalte { $name } nach oben
lane-down = Spalte { $name } nach unten
lane-rename = Spalte { $name } umbenennen
lane-delete-named = Spalte { $name } löschen
rename = Umbenennen
delete = Löschen
add-track-heading = Eine Spur hinzufügen
add-track = Spur hinzufügen
add-lane-heading = Eine Spalte hinzufügen
add-lane = Spalte hinzufügen
field-track-name = Name
field-track-lane = Spalte
field-lane-name = Name
track-name-taken = Eine andere Spur heißt schon so. Wählen Sie einen anderen Namen.
lane-name-taken = Eine andere Spalte heißt schon so. Wählen Sie einen anderen Namen.
field-lane-name-in = Name auf Seiten in { $name }
lane-name-in-hint = Leer: der Name oben.
field-lane-kind = Art
lane-kind-by-name = Wie der Name sagt
lane-kind-considering = Wird erwogen
lane-kind-planned = Geplant
lane-kind-started = Begonnen
lane-kind-done = Erledigt
lane-kind-declined = Abgelehnt
lane-kind-other = Andere
lane-kind-unknown = Diese Art gibt es nicht. Wählen Sie eine andere.
lane-gone = Diese Spalte gibt es nicht mehr. Wählen Sie eine andere.
tracks-preview = Die öffentliche Roadmap
tracks-preview-lead = Jede Spalte mit ihren Wünschen mit den meisten Stimmen.
track-title = Spur „{ $name }“
track-lane-hint = Wo die Roadmap die Wünsche dieser Spur zeigt. Über eine Änderung bekommt niemand E-Mail.
lane-title = Spalte „{ $name }“
lane-name-hint = Besucher lesen diesen Namen als Status von Wünschen.
back-to-tracks = Zu den Spuren
track-delete = Spur löschen
track-delete-title = Die Spur „{ $name }“ löschen?
track-delete-count = { $count ->
    [0] Kein Wunsch ist auf ihr.
    [one] { $number } Wunsch ist auf ihr und kommt auf eine andere Spur.
   *[other] { $number } Wünsche sind auf ihr und kommen auf eine andere Spur.
}
track-move-to = Ihre Wünsche kommen auf
track-move-hint = Darüber bekommt niemand E-Mail.
track-target-missing = Zusammengeführte Wünsche sind noch auf dieser Spur. Wählen Sie, wohin sie kommen.
track-target-gone = Diese Spur gibt es nicht mehr. Wählen Sie eine andere.
track-delete-last = Das ist die letzte Spur, und jeder Wunsch braucht eine. Fügen Sie zuerst eine andere hinzu.
lane-delete = Spalte löschen
lane-delete-title = Die Spalte „{ $name }“ löschen?
lane-delete-none = Keine Spur führt zu ihr, darum ändert sich sonst nichts.
lane-delete-tracks = Die Wünsche dieser Spuren verlieren ihren öffentlichen Status:
lane-delete-stay = Sie bleiben in der Liste des Portals, stehen aber nicht mehr auf der Roadmap.

# Schlagwörter.
tags-lead = Wörter, nach denen Wünsche gefunden und gefiltert werden. Was Sie hier ändern, ändert sich bei allen Wünschen mit dem Schlagwort.
tags-search = Schlagwörter suchen
tags-count = { $count ->
    [one] { $number } Schlagwort
   *[other] { $number } Schlagwörter
}
tags-all = Alle Schlagwörter zeigen
tags-none-title = Noch keine Schlagwörter
tags-none-text = Geben Sie Wünschen im Eingang oder beim Bearbeiten Schlagwörter. Dann stehen sie hier.
tags-not-found-title = Kein Schlagwort gefunden
tags-not-found-text = Versuchen Sie es mit einem kürzeren Teil des Namens.
tag-requests = Wünsche
tag-rename = { $name } umbenennen
tag-delete-named = { $name } löschen
tag-rename-title = „{ $name }“ umbenennen
tag-rename-count = { $count ->
    [0] Nur zusammengeführte Wünsche haben es.
    [one] { $number } Wunsch hat es.
   *[other] { $number } Wünsche haben es.
}
field-tag_query = Suche
field-tag-name = Neuer Name
tag-name-hint = Wenn ein anderes Schlagwort so heißt, werden Sie gefragt, ob die beiden eins werden.
tag-merge-title = „{ $from }“ mit „{ $to }“ zusammenführen?
tag-merge-text = Ein Schlagwort heißt schon so. Wünsche mit „{ $from }“ bekommen stattdessen „{ $to }“, und ein Wunsch mit beiden hat es danach einmal. Das lässt sich nicht rückgängig machen.
tag-merge = Schlagwörter zusammenführen
tag-delete-title = Das Schlagwort „{ $name }“ löschen?
tag-delete-count = { $count ->
    [0] Nur zusammengeführte Wünsche verlieren es.
    [one] { $number } Wunsch verliert es.
   *[other] { $number } Wünsche verlieren es.
}
tag-delete-text = Die Wünsche bleiben. Das lässt sich nicht rückgängig machen.
tag-delete = Schlagwort löschen
tag-too-many = Mehr als { $number } Wünsche haben dieses Schlagwort. Das sind zu viele, um sie auf einmal zu ändern. Es wurde nichts geändert.

# Einstellungen.
field-product_name = Name des Produkts
field-website_url = Website
field-synonyms = Wörter, die dasselbe bedeuten
settings-product = Produkt
settings-product-lead = Oben auf jeder Seite und in E-Mails.
settings-website-hint = Mit https://.
settings-website-invalid = Das ist nicht die Adresse einer Website. Sie sollte aussehen wie https://example.com.
settings-look = Aussehen
settings-look-lead = Jede Farbe geht. Knöpfe haben diese Farbe. Links und Linien sind heller oder dunkler, wo man sie sonst nicht lesen könnte.
settings-accent = Akzentfarbe
settings-accent-default = Die Standardfarbe verwenden
settings-accent-invalid = Das ist keine Farbe. Sie sollte aussehen wie #17694f.
settings-show-colours = Farben zeigen
settings-in-light = Hell
settings-in-dark = Dunkel
settings-link = Ein Link
settings-contrast = Knopf { $button } : 1, Link { $link } : 1
settings-logo = Logo
settings-logo-hint = PNG, JPEG, WebP oder GIF, bis 256 kB. Ein Quadrat sieht am besten aus.
settings-logo-now = Das jetzige Logo
settings-logo-remove = Logo entfernen
settings-logo-gone = Dieses Bild kann nicht mehr verwendet werden. Bitte wählen Sie es noch einmal aus.
settings-changed-meanwhile = Jemand anderes hat das geändert, seit Sie die Seite geöffnet haben. Es ist noch nichts gespeichert. Das nächste „Speichern“ ersetzt es.
settings-changed-to = Jemand anderes hat das geändert, seit Sie die Seite geöffnet haben. Es ist noch nichts gespeichert. Jetzt steht dort: { $name }. Das nächste „Speichern“ ersetzt es.
settings-access-heading = Zugang
settings-access-lead = Wer das Portal liest.
settings-access = Wer das Portal sehen kann
settings-access-public = Alle
settings-access-public-hint = Zum Lesen muss sich niemand anmelden.
settings-access-private = Angemeldete mit bestimmten Adressen
settings-access-private-hint = Das Team, und wer eine Adresse mit einer der E-Mail-Domains unten hat.
settings-access-off = Nur das Team
settings-access-off-hint = Alle anderen werden abgewiesen.
settings-access-missing = Wählen Sie, wer das Portal sehen kann.
settings-hidden = Mit dieser Wahl sehen Besucher das Portal nicht, und Feeds, eingebettete Seiten und Suchmaschinen bekommen nichts.
settings-domains = E-Mail-Domains
settings-domains-hint = Eine in jeder Zeile, zum Beispiel example.com. Wer eine solche Adresse hat, sieht ein Portal für Angemeldete.
settings-domain-invalid = „{ $name }“ ist keine E-Mail-Domain. Sie sollte aussehen wie example.com.
settings-too-many = Das sind zu viele Zeilen. Höchstens { $number } sind möglich.
settings-indexed = Suchmaschinen dürfen das Portal aufnehmen
settings-indexed-hint = Sonst werden sie gebeten, fernzubleiben.
settings-embedding = Einbetten
settings-embedding-lead = Welche Websites die Roadmap und die Neuigkeiten in einem Rahmen zeigen dürfen.
settings-origins = Websites zum Einbetten
settings-origins-hint = Eine in jeder Zeile, zum Beispiel https://help.example.com, ohne Pfad.
settings-origin-invalid = „{ $name }“ ist kein Ursprung einer Website. Er sollte aussehen wie https://help.example.com.
settings-snippet = HTML für Ihre Website
settings-snippet-hint = Für die Neuigkeiten schreiben Sie in der Adresse „changelogs“ statt „roadmap“.
settings-languages-heading = Sprachen
settings-languages-lead = Des Portals, dieser Verwaltung und der E-Mails. Wer liest, bekommt die eigene, wenn sie angeboten wird.
settings-languages = Angebotene Sprachen
settings-languages-missing = Wählen Sie mindestens eine Sprache.
settings-default-language-label = Standardsprache
settings-default-language-hint = Für Browser, die keine der angebotenen Sprachen möchten.
settings-default-language = Die Standardsprache muss eine der angebotenen sein.
settings-mail-heading = E-Mail
settings-reply-to = Antwortadresse (Reply-To)
settings-reply-to-hint = Antworten auf E-Mails dieses Arbeitsbereichs gehen an diese Adresse. Leer: Sie gehen an die Adresse des Absenders, die oft niemand liest.
settings-reply-to-invalid = An diese Adresse kann man nicht antworten.
settings-time-zone = Zeitzone
settings-time-zone-hint = Zeiten auf diesen Seiten, und die Zeit, zu der Sie veröffentlichen.
settings-time-zone-invalid = Wählen Sie eine Zeitzone der Liste.
settings-noun = Was Leute einreichen
settings-noun-hint = Was Besucher auf allen Seiten lesen. Diese Verwaltung sagt Wünsche.
settings-noun-requests = Wünsche
settings-noun-ideas = Ideen
settings-noun-invalid = Wählen Sie eines von beiden.
settings-times-heading = Zeiten
settings-moderation-heading = Moderation
settings-words-heading = Worte des Portals
settings-words-lead = Ihre eigenen Worte. Ist ein Feld leer, spricht das Portal selbst.
settings-welcome = Begrüßung ({ $name })
settings-welcome-hint = Das Erste auf der Roadmap. Höchstens 300 Zeichen. Markdown geht: **fett**, Links.
settings-question = Frage des Formulars ({ $name })
settings-question-hint = Was das Formular für Ideen fragt. Höchstens 150 Zeichen.
settings-moderation = Ideen und Kommentare von Kunden warten auf Freigabe
settings-moderation-hint = Bis dahin sehen sie nur das Team und die Verfasser. Sie warten im Eingang.
settings-search-lead = Ihre eigenen Wörter für die Suche nach Wünschen.
settings-synonyms-hint = Eine Gruppe in jeder Zeile, mit Kommas zwischen den Wörtern: 2fa, two-factor, mfa
settings-synonyms-too-many = Das sind zu viele Zeilen. Höchstens { $number } Gruppen sind möglich.
settings-synonyms-invalid = Zeile { $number } geht nicht: „{ $name }“. Eine Zeile hat 2 bis 8 Wörter oder Wendungen mit Kommas dazwischen. Jede hat höchstens 60 Zeichen, darunter einen Buchstaben oder eine Ziffer, und steht nirgends sonst in der Liste.
