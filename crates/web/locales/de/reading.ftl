# Lesen: Roadmap, Wünsche, Neuigkeiten, Feeds.

# Die Roadmap.
roadmap-title = Roadmap von { $name }
roadmap-lead = Was wir abwägen, was als Nächstes kommt und was schon da ist. Stimmen Sie für das, was Ihnen hilft. Wir schreiben Ihnen, sobald sich etwas bewegt.
roadmap-empty = Noch steht hier nichts, das erste Wort haben also Sie. Was sollte { $name } können, das heute fehlt?
roadmap-empty-lanes = Auf der Roadmap steht noch nichts. Sehen Sie, was andere sich wünschen, und stimmen Sie für das, was Ihnen hilft.
lanes = Spalten
lane-empty = Hier steht gerade nichts.
show-all-in-lane = Alle { $number } anzeigen
requests-count = { $count ->
    [one] { $number } Wunsch
   *[other] { $number } Wünsche
}
    .ideas = { $count ->
        [one] { $number } Idee
       *[other] { $number } Ideen
    }
new-idea = Idee einreichen
submit-first-idea = Erste Idee einreichen
see-changelog = Neuigkeiten ansehen

# Stimmen.
votes = { $count ->
    [one] { $number } Stimme
   *[other] { $number } Stimmen
}
vote = Abstimmen
voted = Abgestimmt
remove-vote = Stimme zurückziehen
vote-for = Abstimmen für { $name }
remove-vote-for = Stimme zurückziehen für { $name }

# Die Liste.
requests-title = Wünsche
    .ideas = Ideen
requests-lead = Sehen Sie, was andere sich wünschen, und stimmen Sie für das, was auch Sie brauchen.
requests-description = Was sich die Kundinnen und Kunden von { $name } wünschen. Suchen Sie, stimmen Sie ab oder reichen Sie eine eigene Idee ein.
search-label = Wünsche durchsuchen
    .ideas = Ideen durchsuchen
search-count = { $count ->
    [one] { $number } Wunsch durchsuchen
   *[other] { $number } Wünsche durchsuchen
}
    .ideas = { $count ->
        [one] { $number } Idee durchsuchen
       *[other] { $number } Ideen durchsuchen
    }
search = Suchen
sort-by = Sortieren nach
sort-relevance = Beste Treffer
sort-trending = Im Trend
sort-votes = Meiste Stimmen
sort-newest = Neueste
sort-oldest = Älteste
sort-updated = Zuletzt geändert
apply = Anwenden
filter = Filter
lane-all = Alle
mine-voted = Von mir gewählt
mine-written = Von mir eingereicht
remove-search = Suche entfernen
remove-tag = Schlagwort entfernen
results = { $count ->
    [one] { $number } Treffer
   *[other] { $number } Treffer
}
pages = Seiten
page-previous = Zurück
page-next = Weiter
page-position = Seite { $page } von { $total }
first-page = Zur ersten Seite
show-all = Alle Wünsche zeigen
    .ideas = Alle Ideen zeigen
empty-page-title = Diese Seite ist leer
empty-page-text = Die Liste ist kürzer geworden.
empty-search-title = Nichts gefunden für „{ $name }“
empty-search-text = Versuchen Sie es mit anderen Wörtern, oder erzählen Sie uns davon: Vielleicht ist es eine neue Idee.
empty-voted-title = Sie haben noch nicht abgestimmt
empty-voted-text = Wofür Sie stimmen, das steht hier.
empty-written-title = Sie haben noch keine Idee eingereicht
empty-written-text = Was Sie einreichen, das steht hier.
empty-list-title = Noch steht hier nichts
empty-list-text = Das erste Wort haben Sie. Was würde Ihnen helfen?
empty-filter-title = Nichts passt
empty-filter-text = Kein Wunsch passt zu diesen Filtern.
    .ideas = Keine Idee passt zu diesen Filtern.

# Ein Wunsch.
all-requests = Alle Wünsche
    .ideas = Alle Ideen
badge-awaiting = Wartet auf Freigabe
badge-private = Privat
awaiting-text = Nur das Team und wer die Idee eingereicht hat sehen sie, bis das Team sie freigibt.
approve = Freigeben
discard = Verwerfen
customer = Kundin oder Kunde
team = Team
vote-and-follow = Abstimmen und folgen
follow = Folgen
following = Sie folgen
unfollow = Nicht mehr folgen
follow-hint = E-Mails bekommen, wenn das Team antwortet oder sich der Stand ändert.
following-hint = Sie bekommen hierzu E-Mails.
tags = Schlagwörter
no-description = Keine Beschreibung.
team-answer = Antwort des Teams
comments = Kommentare
comments-count = { $count ->
    [0] Keine Kommentare
    [one] { $number } Kommentar
   *[other] { $number } Kommentare
}
no-comments = Noch keine Kommentare.
earlier-comments = { $count ->
    [one] { $number } früheren Kommentar zeigen
   *[other] { $number } frühere Kommentare zeigen
}
later-comments = Spätere Kommentare zeigen
edited = bearbeitet
comment-from = Zum zusammengeführten Wunsch
    .ideas = Zur zusammengeführten Idee
comment-of = (Kommentar von { $name } zu „{ $title }“, { $date })
reply = Antworten
reply-to = an { $name }
reply-quote = { $name } schrieb
answer-above = ↑ Das ist die Antwort oben.
write-comment = Kommentar schreiben
your-comment = Ihr Kommentar
comment-hint = Markdown geht: **fett**, Listen, Links. Alle können es lesen.
preview = Vorschau
post-comment = Kommentar absenden
similar-requests = Ähnliche Wünsche
    .ideas = Ähnliche Ideen

# Der Verlauf.
history = Verlauf
history-moved = Nach „{ $name }“ verschoben
history-off-the-roadmap = Von der Roadmap genommen
history-merged = Mit „{ $name }“ zusammengeführt
history-merged-another = Mit einem anderen Wunsch zusammengeführt
    .ideas = Mit einer anderen Idee zusammengeführt
history-unmerged = Eine Zusammenführung wurde aufgehoben
history-edited = Bearbeitet: { $name }
list-separator = {", "}
history-submitted-by = Eingereicht von { $name }
history-submitted = Eingereicht

# Neuigkeiten.
changelog-title = Neuigkeiten
changelog-lead = Was es Neues in { $name } gibt, das Neueste zuerst.
changelog-empty-title = Noch nichts veröffentlicht
changelog-empty-text = Was es Neues gibt, steht dann hier.
category-new = Neu
category-improved = Verbessert
category-fixed = Behoben
all-changelogs = Alle Neuigkeiten
more-changelogs = Weitere Neuigkeiten
newer = Neuer
older = Älter
you-asked-for = Das hatten Sie sich gewünscht

# Feeds und eingebettete Seiten.
feed-requests = Neue Wünsche
    .ideas = Neue Ideen
feed-comments = Kommentare
feed-changelogs = Feed der Neuigkeiten
comment-by = Kommentar von { $name }
open-portal = Portal öffnen
open-in-admin = In der Verwaltung öffnen
status-not-reviewed = Noch nicht geprüft
status-declined = Abgelehnt
since = seit { $date }
asked-on = Gefragt am { $date }
shipped-in = Erschienen in
