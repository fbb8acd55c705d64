# Die Seite eines Wunsches, und was mit ihm getan wird.
done-unmerged = Der Wunsch steht wieder für sich.
done-request-saved = Der Wunsch wurde gespeichert.
done-request-created = Der Wunsch wurde angelegt.
done-request-deleted = Der Wunsch wurde gelöscht.
done-answered = Ihr Kommentar wurde veröffentlicht.
done-answered-mail = Ihr Kommentar wurde veröffentlicht, und die Abstimmenden bekommen E-Mail.
done-moved-mail = Der Wunsch wurde verschoben, und die Abstimmenden bekommen E-Mail über einen neuen Status.
done-merged-mail = Der Wunsch wurde zusammengeführt, und wer dafür gestimmt hat, bekommt eine E-Mail.
done-noted = Die private Notiz wurde hinzugefügt.
done-note-deleted = Die private Notiz wurde gelöscht.
done-link-added = Der Link wurde hinzugefügt.
done-link-known = Der Wunsch hatte diesen Link schon.
done-link-removed = Der Link wurde entfernt.
done-vote-added = Die Stimme wurde gezählt.
done-vote-known = Dieser Kunde hatte schon abgestimmt. Die Stimme zählt weiter einmal.
done-comment-saved = Der Kommentar wurde gespeichert.
done-comment-deleted = Der Kommentar wurde gelöscht.

# Namen von Feldern.
field-note = Private Notiz
field-vote_note = Notiz zu dieser Stimme
field-url = Link
field-track = Spur
field-tags = Schlagwörter

# Die Seite eines Wunsches.
team-number = Nummer { $name }
team-see-on-portal = Im Portal ansehen
team-edit = Bearbeiten
team-merge = Zusammenführen
team-delete = Löschen
team-change = Bearbeiten
team-status = Status
team-voters-and-history = Stimmen und Verlauf
team-details = Einzelheiten
team-from = Von
team-from-nobody = Niemand ist genannt.
team-visible = Sichtbar
team-visible-public = Im Portal
team-visible-private = Nur das Team und wer es eingereicht hat sehen es.
team-visible-awaiting = Wartet auf Freigabe. Nur das Team und wer es eingereicht hat sehen es.
team-visibility = Sichtbarkeit
team-make-private = Privat machen
team-make-public = Öffentlich machen
team-decline = Ablehnen
team-decline-hint = Was abgelehnt ist, bleibt privat.
team-notes = Private Notizen
team-notes-hint = Notizen sieht nur das Team.
team-no-notes = Noch keine Notizen.
team-notes-more = { $count ->
    [one] { $number } ältere Notiz wird hier nicht gezeigt.
   *[other] { $number } ältere Notizen werden hier nicht gezeigt.
}
team-note-about = Über
team-note-of = (Notiz von { $name })
team-add-note = Notiz hinzufügen
team-delete-note = Notiz löschen
team-delete-note-ask = Das lässt sich nicht rückgängig machen.
team-links = Links
team-links-hint = Die Adresse eines Tickets oder einer Seite zu dem, was Sie dafür bauen. Links sieht nur das Team.
team-no-links = Noch keine Links.
team-links-more = { $count ->
    [one] { $number } weiterer Link wird hier nicht gezeigt.
   *[other] { $number } weitere Links werden hier nicht gezeigt.
}
team-link-open = Offen
team-link-closed = Geschlossen
team-add-link = Link hinzufügen
team-remove-link = Entfernen
team-remove-link-named = { $name } entfernen
team-comment-hint = Öffentlich und als Kommentar des Teams gekennzeichnet. Markdown geht: **fett**, Listen, Links.
team-comment-hint-private = Solange der Wunsch privat ist, sehen ihn nur das Team und wer ihn eingereicht hat. Markdown geht: **fett**, Listen, Links.
team-mail-all = E-Mail an alle, die abgestimmt haben
team-mail-status = E-Mail über den neuen Status an alle, die abgestimmt haben
team-people-get-mail = { $count ->
    [0] Niemand bekommt E-Mail
    [one] { $number } Person bekommt E-Mail
   *[other] { $number } Personen bekommen E-Mail
}
team-move = Verschieben
team-move-next = Verschieben und weiter
team-voters = Abgestimmt haben
team-no-voters = Noch hat niemand abgestimmt.
team-all-voters = { $count ->
    [one] { $number } Stimme als Liste
   *[other] Alle { $number } Stimmen
}
team-csv = CSV herunterladen
team-vote-for-customer = Im Namen eines Kunden abstimmen
team-vote-note-hint = Freiwillig. Nur das Team sieht sie.
team-add-vote = Stimme hinzufügen
record-vote = Stimme eintragen
record-vote-lead = Für einen Kunden, der Sie per E-Mail, im Chat oder am Telefon gefragt hat.
field-words = Wörter
record-vote-words-hint = Worum der Kunde bittet. Wir suchen Wünsche, die es schon sagen.
record-vote-find = Suchen
record-vote-for = Wofür ist die Stimme?
record-vote-none = Wir haben nichts Ähnliches gefunden.
record-vote-new = Neuer Wunsch
record-vote-choose = Wählen Sie, wofür die Stimme ist.
record-vote-gone = Dieser Wunsch wurde inzwischen gelöscht. Wählen Sie einen anderen.
record-vote-save = Stimme eintragen
team-merged = In diesen Wunsch überführt
team-unmerge = Trennen
team-unmerge-named = { $name } trennen
team-history-merged-into = In einen anderen Wunsch überführt
team-history-unmerged-from = Die eigene Zusammenführung wurde aufgehoben
team-by = von { $name }
team-actor-key = API-Schlüssel „{ $name }“
team-actor-customer = einem Kunden
team-actor-operator = { $name }, mit einem Befehl
team-actor-service = dem Dienst

# Warum etwas abgelehnt wurde.
team-problem-mail = { $count ->
    [one] Die E-Mails für heute sind aufgebraucht: Es ist { $number } am Tag. Lassen Sie dieses Kästchen leer, oder versuchen Sie es morgen wieder.
   *[other] Die E-Mails für heute sind aufgebraucht: Es sind { $number } am Tag. Lassen Sie dieses Kästchen leer, oder versuchen Sie es morgen wieder.
}
team-problem-storage = Der Speicher dieses Arbeitsbereichs ist aufgebraucht, deshalb wurde nichts gespeichert. Löschen Sie, was nicht mehr gebraucht wird, oder bitten Sie den Betreiber des Dienstes um mehr.
team-problem-track = Diese Spur gibt es nicht mehr. Bitte wählen Sie eine andere.
team-problem-tags = Möglich sind 20 Schlagwörter mit je 50 Zeichen. Bitte entfernen oder kürzen Sie einige.
team-problem-links = Es gibt schon 20 Links. Entfernen Sie einen, bevor Sie den nächsten hinzufügen.
problem-url = Das ist nicht die Adresse einer Seite. Sie sollte aussehen wie https://example.com/7.
team-problem-has-merged = Andere Wünsche sind in diesen überführt. Kreuzen Sie dieses Kästchen an, um auch sie zu löschen, oder trennen Sie sie vorher.
team-problem-merged = Der Wunsch wurde mit „{ $name }“ zusammengeführt, seit Sie seine Seite geöffnet haben. Es wurde nichts geändert. Dies ist die Seite des anderen.

# Bearbeiten.
team-edit-title = Bearbeiten: { $name }
team-markdown-hint = Markdown geht: **fett**, Listen, Links.
team-html-hint = Dieser Text hat eine Formatierung, die es in Markdown nicht gibt. Deshalb wird er als HTML gezeigt.
team-tags-hint = Durch Kommas getrennt. Höchstens 20.
team-changed-title = Auch jemand anderes hat dies geändert
team-changed-by = { $name } hat es am { $date } ({ $zone }) geändert, nachdem Sie diese Seite geöffnet hatten.
team-changed = Es wurde geändert, nachdem Sie diese Seite geöffnet hatten.
team-changed-text = Nichts ist gespeichert, und nichts ist verloren. Unten steht, was Sie geschrieben haben, und daneben, was jetzt gespeichert ist. Wenn Sie noch einmal speichern, ersetzt Ihr Text das Gespeicherte.
team-stored-now = Jetzt gespeichert:
team-stored-empty = Nichts

# Löschen.
team-delete-title = „{ $name }“ löschen?
team-delete-text = Das lässt sich nicht rückgängig machen. Mit gelöscht werden:
team-notes-count = { $count ->
    [0] Keine privaten Notizen
    [one] { $number } private Notiz
   *[other] { $number } private Notizen
}
team-links-count = { $count ->
    [0] Keine Links
    [one] { $number } Link
   *[other] { $number } Links
}
team-merged-count = { $count ->
    [one] { $number } überführter Wunsch
   *[other] { $number } überführte Wünsche
}
team-delete-with-merged = { $count ->
    [one] Auch { $number } überführten Wunsch löschen
   *[other] Auch { $number } überführte Wünsche löschen
}
team-delete-with-merged-hint = Um einen davon zu behalten, trennen Sie ihn vorher.
team-delete-button = Wunsch löschen

# Zusammenführen.
team-merge-title = „{ $name }“ zusammenführen
team-merge-lead = Welcher Wunsch sagt dasselbe? Er bleibt und bekommt die Stimmen und Kommentare von diesem.
team-merge-suggested = Ähnliche Wünsche
team-merge-nothing = Nichts gefunden. Versuchen Sie es mit anderen Wörtern oder mit der Nummer des Wunsches.
team-merge-into = Überführen
team-merge-into-named = Überführen in { $name }
team-neighbours = Wünsche dieser Liste
team-previous = Vorheriger
team-next = Nächster
team-merge-other = Einen anderen wählen
team-merge-goes = Dieser wird überführt
team-merge-stays = Dieser bleibt
team-merge-what = Was geschieht
team-merge-counted = Zusammen { $votes }: { $shared }
team-merge-shared = { $count ->
    [0] Niemand hat für beide gestimmt.
    [one] { $number } Kunde hat für beide gestimmt und zählt einmal.
   *[other] { $number } Kunden haben für beide gestimmt und zählen einmal.
}
team-merge-comments = Kommentare und die Beschreibung stehen bei denen des Wunsches, der bleibt.
team-merge-notes = Auch private Notizen und Links stehen dort. Schlagwörter und Spur des Wunsches, der bleibt, werden behalten.
team-merge-address = Die alte Adresse führt zu dem Wunsch, der bleibt.
team-merge-hidden = Er ist privat, deshalb sieht seinen Text weiter nur das Team. Seine Stimmen zählen.
team-merge-undo = Sie können das jederzeit rückgängig machen. Nichts geht verloren.
team-merged-into = Er ist in „{ $name }“ überführt. Sie können ihn wieder für sich stehen lassen, mit eigenen Stimmen, Kommentaren, Notizen und Links.
team-merge-tell = { $count ->
    [one] 1 abstimmende Person benachrichtigen
   *[other] { $number } abstimmende Personen benachrichtigen
}
team-merge-tell-hint = Eine E-Mail sagt, womit dieser Wunsch zusammengeführt wurde. Wer für den anderen gestimmt hat, bekommt keine.
team-merge-itself = Das ist derselbe Wunsch, oder einer, der in ihn überführt ist. Bitte wählen Sie einen anderen.
team-merge-private = Ein öffentlicher Wunsch kann nicht Teil eines privaten werden, denn er verschwände aus dem Portal. Machen Sie den anderen zuerst öffentlich, oder führen Sie in der anderen Richtung zusammen.
team-merge-many = In jenen sind zu viele Wünsche überführt. Bitte wählen Sie einen anderen.
team-merge-gone = Jenen Wunsch gibt es nicht mehr. Bitte wählen Sie einen anderen.
team-merge-elsewhere = Jemand hat diesen inzwischen in einen anderen Wunsch überführt. Trennen Sie ihn zuerst.

# Ein neuer Wunsch.
team-new-title = Neuer Wunsch
team-new-customer = Gewünscht von (freiwillig)
team-new-customer-hint = Der Kunde steht als Urheber da und gibt die erste Stimme. Eine Adresse, die noch nicht bekannt ist, wird ein neuer Kunde.
team-new-create = Wunsch anlegen
team-new-look = Nach ähnlichen suchen
team-similar-none = Etwas Ähnliches wurde nicht gefunden.
team-similar-lead = Wenn einer davon dasselbe sagt, fügen Sie die Stimme oder die Notiz dort hinzu. Die Links öffnen sich in einem neuen Tab.

# Stimmen.
team-voters-title = Stimmen für „{ $name }“
team-company = Firma
team-companies = { $count ->
    [one] aus { $number } Firma
   *[other] aus { $number } Firmen
}
team-nameless-votes = { $count ->
    [one] und { $number } Stimme ohne Namen
   *[other] und { $number } Stimmen ohne Namen
}
team-only-nameless-votes = { $count ->
    [one] { $number } Stimme ohne Namen
   *[other] { $number } Stimmen ohne Namen
}
team-voted-on = Abgestimmt am
team-csv-limit = Die Datei hat die neuesten 100.000 Stimmen.
team-csv-cut = { $count ->
    [one] { $number } frühere Stimme fehlt.
   *[other] { $number } frühere Stimmen fehlen.
}

# Ein Kommentar.
team-comment-title = Kommentar von { $name }
team-comment-delete-title = Diesen Kommentar löschen?
team-comment-delete-text = Das lässt sich nicht rückgängig machen. E-Mails darüber, die noch nicht gesendet sind, werden nicht mehr gesendet.
team-comment-delete = Kommentar löschen
team-why = Grund
team-why-hint = Optional. Er ist öffentlich, als Kommentar von Ihnen. Seine Mail und die über den Status sind eine.
