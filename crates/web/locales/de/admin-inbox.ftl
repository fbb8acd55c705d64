# Der Eingang und der Überblick.
done-moved = { $count ->
    [one] { $number } Wunsch wurde verschoben.
   *[other] { $number } Wünsche wurden verschoben.
}
done-tagged = { $count ->
    [one] { $number } Wunsch hat das Schlagwort bekommen.
   *[other] { $number } Wünsche haben das Schlagwort bekommen.
}
done-moved-to = { $count ->
    [one] { $number } Wunsch wurde nach „{ $name }“ verschoben. Niemand bekam eine E-Mail.
   *[other] { $number } Wünsche wurden nach „{ $name }“ verschoben. Niemand bekam eine E-Mail.
}
done-untagged = { $count ->
    [one] { $number } Wunsch hat das Schlagwort nicht mehr.
   *[other] { $number } Wünsche haben das Schlagwort nicht mehr.
}
done-requests-deleted = { $count ->
    [one] { $number } Wunsch wurde gelöscht.
   *[other] { $number } Wünsche wurden gelöscht.
}
done-undone = { $count ->
    [one] { $number } Änderung wurde rückgängig gemacht.
   *[other] { $number } Änderungen wurden rückgängig gemacht.
}
done-undone-none = Nichts wurde rückgängig gemacht: Jemand hat es inzwischen geändert.
done-undo-late = Das lässt sich nicht mehr rückgängig machen.
undo-kept = { $count ->
    [one] { $number } bleibt, wie sie ist, weil jemand sie inzwischen geändert hat.
   *[other] { $number } bleiben, wie sie sind, weil jemand sie inzwischen geändert hat.
}
done-made-private = { $count ->
    [one] { $number } Wunsch ist jetzt privat.
   *[other] { $number } Wünsche sind jetzt privat.
}
done-made-public = { $count ->
    [one] { $number } Wunsch ist jetzt öffentlich.
   *[other] { $number } Wünsche sind jetzt öffentlich.
}
done-merged = { $count ->
    [one] { $number } Wunsch wurde zusammengeführt.
   *[other] { $number } Wünsche wurden zusammengeführt.
}
done-requests-approved = { $count ->
    [one] { $number } Wunsch wurde freigegeben.
   *[other] { $number } Wünsche wurden freigegeben.
}
done-requests-declined = { $count ->
    [one] { $number } Wunsch wurde abgelehnt und bleibt privat.
   *[other] { $number } Wünsche wurden abgelehnt und bleiben privat.
}
done-unchanged = Es war nichts zu ändern.
done-shortcuts = Die Tastenkürzel wurden ein- oder ausgeschaltet.

# Die Liste.
inbox-new = Neuer Wunsch
inbox-views = Ansichten
inbox-unanswered = Noch keine Antwort
inbox-merged = Zusammengeführt
inbox-track = Spur
inbox-lane = Spalte
inbox-all-lanes = Alle Spalten
inbox-tag = Schlagwort
inbox-mine = Mit Kommentar oder Notiz von mir
inbox-fold = Filter
inbox-more-filters = Weitere Filter
inbox-filter = Filtern
inbox-clear = Filter entfernen
inbox-request = Wunsch
inbox-votes = Stimmen
inbox-companies = Firmen
inbox-sort-companies = Meiste Firmen
inbox-from = Von
inbox-asked = Datum
inbox-nobody = Niemand
inbox-select = Auswählen
inbox-select-request = { $name } auswählen
inbox-select-all = Alle auf dieser Seite auswählen
inbox-merged-into = Zusammengeführt mit
inbox-unmerge = Trennen
inbox-held = { $count ->
    [one] { $number } Kommentar wartet
   *[other] { $number } Kommentare warten
}

# Was mit den ausgewählten Zeilen geschieht.
inbox-change = Ausgewählte ändern
inbox-move-to = Nach { $name } verschieben
inbox-apply-to = Auf # anwenden
inbox-choose = Bitte wählen …
inbox-tick-hint = Unten Zeilen auswählen, dann anwenden.
# Das Skript ersetzt das Zeichen durch eine Zahl.
inbox-ticked = Ausgewählt: #
inbox-add-tag = Schlagwort hinzufügen
inbox-remove-tag = Schlagwort entfernen
inbox-make-private = Privat machen
inbox-make-public = Öffentlich machen
inbox-merge = Zusammenführen
inbox-delete = Löschen
inbox-approve = Freigeben
inbox-decline = Ablehnen
inbox-problem-none = Es ist nichts ausgewählt. Wählen Sie mindestens einen Wunsch aus.
inbox-problem-two = Zum Zusammenführen wählen Sie mindestens zwei Wünsche aus.
inbox-problem-many = Das ist zu viel auf einmal. Wählen Sie höchstens { $number } Wünsche aus.
inbox-problem-track-gone = Diese Spur gibt es nicht mehr. Wählen Sie eine andere.
inbox-problem-action = Wählen Sie, was mit den ausgewählten Wünschen geschieht.
inbox-problem-tags = Einer der ausgewählten Wünsche hat schon { $number } Schlagwörter und kann nicht mehr haben. Es wurde nichts geändert.
inbox-problem-merged = Einer der ausgewählten Wünsche wurde inzwischen mit einem anderen zusammengeführt. Es wurde nichts geändert. Die Liste unten ist aktuell.
inbox-problem-has-merged = Mit einem der ausgewählten Wünsche sind andere zusammengeführt. Löschen Sie ihn auf seiner eigenen Seite. Nichts wurde gelöscht.
field-tag = Schlagwort

# Die ausgewählten Wünsche zusammenführen.
inbox-merge-title = Wünsche zusammenführen
inbox-merge-target = Alle zusammenführen mit
inbox-merge-target-hint = Dieser behält seine Adresse und seinen Platz auf der Roadmap. Die anderen führen zu ihm.
inbox-merge-together = { $count ->
    [one] Zusammen haben sie { $number } Stimme.
   *[other] Zusammen haben sie { $number } Stimmen.
}
inbox-merge-twice = { $count ->
    [one] { $number } Person hat für beide gestimmt und zählt einmal.
   *[other] { $number } Personen haben für beide gestimmt und zählen einmal.
}
inbox-merge-counts-once = Jede Person zählt einmal, auch wenn sie für mehrere gestimmt hat.
inbox-merge-effect = Kommentare und private Notizen stehen dann bei dem Wunsch, der bleibt. Eine Zusammenführung lässt sich aufheben.
inbox-merge-private = Was in privaten Wünschen steht, bleibt für Kunden verborgen. Ein öffentlicher kann nicht Teil eines privaten werden.
inbox-merge-button = Zusammenführen
inbox-merge-few = Wählen Sie im Eingang mindestens zwei Wünsche aus, die noch nicht zusammengeführt sind.
inbox-back = Zurück zum Eingang
inbox-delete-title = { $count ->
    [one] { $number } Wunsch löschen?
   *[other] { $number } Wünsche löschen?
}
inbox-delete-text = Sie werden mit ihren Stimmen, Kommentaren und privaten Notizen gelöscht. Das lässt sich nicht rückgängig machen.
inbox-delete-none = Wählen Sie im Eingang Wünsche aus, die nicht zusammengeführt sind.
inbox-delete-button = Löschen
inbox-problem-target = Wählen Sie den Wunsch, mit dem die anderen zusammengeführt werden.
inbox-problem-target-gone = Diesen Wunsch gibt es nicht mehr. Wählen Sie einen anderen.
inbox-problem-already-merged = Einer von ihnen wurde inzwischen mit einem anderen Wunsch zusammengeführt und steht hier nicht mehr. Es wurde nichts geändert.
inbox-problem-private-target = Ein öffentlicher Wunsch kann nicht Teil eines privaten werden: Wer für ihn gestimmt hat, würde ihn nicht mehr sehen. Wählen Sie einen öffentlichen, oder machen Sie diesen zuerst öffentlich.
inbox-problem-not-mergeable = Diese Wünsche lassen sich nicht zusammenführen: Einer ist schon Teil eines anderen, oder es sind zu viele.

# Was auf Freigabe wartet, und leere Listen.
inbox-held-title = Kommentare, die auf Freigabe warten
inbox-held-on = zu
inbox-held-more = { $count ->
    [one] { $number } weiterer Kommentar wartet. Er steht hier, wenn diese erledigt sind.
   *[other] { $number } weitere Kommentare warten. Sie stehen hier, wenn diese erledigt sind.
}
inbox-empty-filter = Kein Wunsch in dieser Ansicht passt zu diesen Filtern.
inbox-empty-all-title = Der Eingang ist leer
inbox-empty-all = Alle Wünsche sind mit anderen zusammengeführt oder gelöscht.
inbox-empty-unanswered-title = Alles ist beantwortet
inbox-empty-unanswered = Niemand wartet auf ein Wort des Teams.
inbox-empty-awaiting-title = Nichts wartet auf Freigabe
inbox-empty-awaiting = Ideen und Kommentare, die das Team erst freigeben muss, stehen hier.
inbox-empty-private-title = Nichts ist privat
inbox-empty-private = Wünsche, die nur das Team und ihre Verfasser sehen, stehen hier.
inbox-empty-merged-title = Nichts ist zusammengeführt
inbox-empty-merged = Wenn zwei Wünsche dasselbe meinen, führen Sie sie zusammen: Dann zählen ihre Stimmen gemeinsam.
welcome-title = Willkommen
welcome-lead = Diese Schritte führen zu einem Portal, das Ihre Kunden nutzen.
welcome-progress = { $done } von { $all } sind erledigt.
welcome-done = erledigt
welcome-mail = E-Mails senden
welcome-mail-text = Kunden melden sich per E-Mail an und hören von Antworten und Neuigkeiten.
welcome-look = Name und Logo
welcome-look-text = Legen Sie Namen, Logo, Farben und Sichtbarkeit des Portals fest.
welcome-lanes = Phasen und Spalten
welcome-lanes-text = Richten Sie die Phasen Ihrer Arbeit ein und die Spalten, die Kunden sehen.
welcome-team = Team einladen
welcome-team-text = Holen Sie dazu, wer Kunden antwortet oder über das Produkt entscheidet.
welcome-requests = Erste Wünsche
welcome-requests-text = Schreiben Sie auf, was Kunden in E-Mails und Gesprächen gewünscht haben.
welcome-share = Adresse teilen
welcome-share-text = Sehen Sie, was Ihre Kunden sehen, und schicken Sie ihnen die Adresse.

# Tastenkürzel.
shortcuts-on = Tastenkürzel: an
shortcuts-off = Tastenkürzel: aus
shortcuts-list = Liste der Tasten
shortcut-next = Nächste Zeile
shortcut-previous = Vorige Zeile
shortcut-tick = Zeile auswählen oder abwählen
shortcut-change = Zu „Ausgewählte ändern“
shortcut-search = Zur Suche
shortcut-help = Diese Liste zeigen oder verbergen

# Der Überblick.
overview-period = Zeitraum
overview-days = { $count ->
    [one] { $number } Tag
   *[other] { $number } Tage
}
overview-year = 1 Jahr
overview-lead = Die Zahlen sind höchstens eine Minute alt. Verglichen wird mit ebenso vielen Tagen davor.
overview-sign-ins-used-up = So viele Fremde wollten sich anmelden, dass manche keine E-Mail bekamen. Das Team und Kunden, die sich schon einmal angemeldet hatten, waren nicht betroffen. Zuletzt am
overview-requests = Neue Wünsche
overview-votes = Stimmen
overview-comments = Kommentare von Kunden
overview-unanswered = Ohne Antwort
overview-failed = Gescheiterte E-Mails
overview-more = { $count ->
    [one] { $number } mehr als zuvor
   *[other] { $number } mehr als zuvor
}
overview-fewer = { $count ->
    [one] { $number } weniger als zuvor
   *[other] { $number } weniger als zuvor
}
overview-same = So viele wie zuvor
overview-oldest = Der älteste ist vom
overview-none-waiting = Niemand wartet
overview-see-mail = Gründe ansehen
overview-mail-fine = Alle E-Mails sind verschickt oder unterwegs
overview-mail-written = E-Mails werden in Dateien geschrieben
overview-mail-admins = Ein Admin kann die Gründe sehen
overview-votes-by-week = Stimmen pro Woche
overview-requests-by-week = Neue Wünsche pro Woche
overview-chart = { $name }, die letzten { $weeks } Wochen: { $first } in der Woche ab { $date }, höchstens { $max }, { $now } in dieser Woche bisher
overview-as-table = Als Tabelle zeigen
overview-week = Woche
overview-week-of = Ab { $date }
overview-this-week = Diese Woche bisher
overview-tracks = Wo die Wünsche stehen
overview-tracks-caption = Wünsche nach Spur
overview-count = Wünsche
overview-share = Anteil
overview-percent = { $number } Prozent
overview-most-voted = Meiste Stimmen ohne Antwort
overview-most-voted-none = Alles ist beantwortet.
overview-rising = Im Kommen in diesem Zeitraum
overview-rising-none = In diesem Zeitraum hat niemand abgestimmt.
overview-new-votes = { $count ->
    [one] { $number } neue Stimme
   *[other] { $number } neue Stimmen
}
overview-missed = Suchen ohne Treffer
overview-missed-hint = Was Kunden gesucht und nicht gefunden haben. Wer gesucht hat, wird nicht gespeichert.
overview-missed-none = Jede Suche in diesem Zeitraum hat etwas gefunden.
overview-times = { $count ->
    [one] einmal
   *[other] { $number }-mal
}
done-posts-approved = { $count ->
    [one] Ein Beitrag wurde freigegeben.
   *[other] { $number } Beiträge wurden freigegeben.
}
done-posts-discarded = { $count ->
    [one] Ein Beitrag wurde verworfen.
   *[other] { $number } Beiträge wurden verworfen.
}
inbox-discard-hint = Verworfene Kommentare werden gelöscht, verworfene Ideen bleiben privat.
inbox-problem-no-posts = Es ist nichts ausgewählt. Wählen Sie mindestens einen Beitrag aus.
inbox-problem-many-posts = Das ist zu viel auf einmal. Wählen Sie höchstens { $number } Beiträge aus.
inbox-open = Offen
inbox-replied = Neue Antwort
inbox-no-answer-needed = Keine Antwort nötig
inbox-empty-open-title = Nichts ist offen
inbox-empty-open = Erledigtes und Abgelehntes steht unter „Alle“.
inbox-empty-replied-title = Keine neuen Antworten
inbox-empty-replied = Kein Kunde hat nach dem Team geschrieben.
team-no-answer-needed = Keine Antwort nötig
team-history-no-answer-needed = Keine Antwort nötig
done-no-answer-needed-here = Es braucht keine Antwort, bis ein Kunde wieder schreibt.
overview-replied-title = Neue Antworten
done-no-answer-needed = { $count ->
    [one] { $number } Wunsch braucht keine Antwort, bis ein Kunde wieder schreibt.
   *[other] { $number } Wünsche brauchen keine Antwort, bis ein Kunde wieder schreibt.
}

inbox-own-views = Gespeicherte Ansichten
inbox-save-view = Diese Ansicht speichern
inbox-remove-view = Ansicht { $name } entfernen
done-view-saved = Die Ansicht wurde gespeichert. Nur Sie sehen sie.
done-view-removed = Die Ansicht wurde entfernt.
problem-view-name = Sie haben schon eine Ansicht mit diesem Namen. Wählen Sie einen anderen, oder entfernen Sie zuerst jene Ansicht.
problem-views = Sie haben 20 Ansichten. Entfernen Sie eine, bevor Sie die nächste speichern.
