# Der Rahmen aller Seiten, Fehler in Formularen und Fehlerseiten.
skip-to-content = Zum Inhalt springen
request-failed = Das hat uns nicht erreicht. Bitte versuchen Sie es noch einmal.
nav-main = Hauptnavigation
nav-roadmap = Roadmap
nav-requests = Wünsche
    .ideas = Ideen
nav-changelog = Neuigkeiten
nav-account = Ihr Konto
nav-sign-in = Anmelden
sign-out = Abmelden
theme = Farben
theme-system = Wie das System
theme-light = Hell
theme-dark = Dunkel
shown-in = Sprache
apply-preferences = Speichern
back-to-roadmap = Zur Roadmap

field-email = E-Mail-Adresse
field-title = Titel
field-description = Beschreibung
field-content = Kommentar
field-name = Name
field-language = Sprache
field-code = Code

error-title = Fehler: { $name }
error-prefix = Fehler:
problem-heading = Es gibt ein Problem
problem-missing = { $field } fehlt. Bitte füllen Sie das Feld aus.
problem-too-long = { $field } ist zu lang. Höchstens { $max } Zeichen sind möglich.
problem-email = Das ist keine E-Mail-Adresse. Sie sollte aussehen wie name@example.com.
problem-markup = { $field } enthält zu viel Formatierung. Bitte vereinfachen Sie den Text.
problem-invalid = { $field } enthält Zeichen oder eine Form, die nicht gespeichert werden kann.

date = { $day }. { $month } { $year }
date-short = { $day }. { $month }
date-time = { $date }, { $time } Uhr
month-1 = Januar
month-2 = Februar
month-3 = März
month-4 = April
month-5 = Mai
month-6 = Juni
month-7 = Juli
month-8 = August
month-9 = September
month-10 = Oktober
month-11 = November
month-12 = Dezember
month-short-1 = Jan.
month-short-2 = Feb.
month-short-3 = März
month-short-4 = Apr.
month-short-5 = Mai
month-short-6 = Juni
month-short-7 = Juli
month-short-8 = Aug.
month-short-9 = Sept.
month-short-10 = Okt.
month-short-11 = Nov.
month-short-12 = Dez.

not-found-title = Diese Seite gibt es nicht
not-found-text = Vielleicht ist die Adresse falsch geschrieben, oder was hier war, wurde entfernt.
no-workspace-title = Es gibt noch keinen Arbeitsbereich
no-workspace-text = Der Dienst läuft. Wer ihn betreibt, legt mit diesen Befehlen den ersten Arbeitsbereich an. Der zweite gibt einen Link in die Verwaltung aus.
forbidden-title = Sie können diese Seite nicht sehen
forbidden-text = Sie sind mit einer Adresse angemeldet, die hier keinen Zugang hat. Melden Sie sich ab und nehmen Sie eine andere Adresse, oder fragen Sie das Team.
origin-title = Dieses Formular kam von anderswo
origin-text = Ihr Browser sagt, dass eine andere Website dieses Formular gesendet hat. Deshalb wurde nichts geändert. Öffnen Sie die Seite neu und versuchen Sie es noch einmal. Wenn es wieder geschieht, ist die Adresse des Dienstes falsch eingestellt: Der Betreiber kann „roadmap doctor“ ausführen.
too-many-title = Das war viel auf einmal
too-many-text = Zum Schutz vor Spam gibt es Grenzen. Bitte warten Sie einige Minuten und versuchen Sie es dann wieder.
long-address-title = Diese Adresse ist zu lang
long-address-text = Keine Seite hat eine so lange Adresse. Bitte kürzen Sie, was nach dem Fragezeichen steht.
too-many-minutes = { $count ->
    [one] Zum Schutz vor Spam gibt es Grenzen. Bitte versuchen Sie es in einer Minute wieder.
   *[other] Zum Schutz vor Spam gibt es Grenzen. Bitte versuchen Sie es in { $number } Minuten wieder.
}
too-many-hours = { $count ->
    [one] Zum Schutz vor Spam gibt es Grenzen. Bitte versuchen Sie es in einer Stunde wieder.
   *[other] Zum Schutz vor Spam gibt es Grenzen. Bitte versuchen Sie es in { $number } Stunden wieder.
}
too-large-title = Das ist zu lang
too-large-text = Was Sie gesendet haben, ist größer, als ein Formular sein kann. Bitte gehen Sie zurück und kürzen Sie es.
unavailable-title = Etwas funktioniert nicht
unavailable-text = Das liegt an uns, nicht an Ihnen. Bitte versuchen Sie es in einer Minute noch einmal.
bad-request-title = Das hat nicht geklappt
bad-request-text = Ihr Browser hat etwas gesendet, das nicht zu verstehen war. Bitte gehen Sie zurück und versuchen Sie es noch einmal.
