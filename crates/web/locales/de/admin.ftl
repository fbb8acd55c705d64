# Der Rahmen des Admin-Bereichs, und was seine Seiten gemeinsam haben.
nav-admin = Verwaltung
admin-inbox = Eingang
admin-overview = Überblick
admin-changelogs = Neuigkeiten
admin-customers = Kunden
admin-tags = Schlagwörter
admin-tracks = Spuren
admin-members = Mitglieder
admin-api-keys = API-Schlüssel
admin-webhooks = Webhooks
admin-link-sources = Link-Quellen
admin-settings = Einstellungen
admin-mail = E-Mail
admin-exports = Export
admin-audit = Protokoll
admin-inbox-waiting = { $count ->
    [one] { $number } wartet auf das Team
   *[other] { $number } warten auf das Team
}
admin-only-title = Diese Seite ist nur für Admins
admin-only-text = Sie gehören zum Team, aber diese Seite ist für Admins. Ein Admin kann Ihre Rolle auf der Seite Mitglieder ändern.
admin-sign-in-again = Was Sie hier tun, lässt sich nicht rückgängig machen. Bitte melden Sie sich zuerst noch einmal an, denn Ihre letzte Anmeldung ist mehr als eine Stunde her.
admin-sign-in-again-link = Noch einmal anmelden
admin-save = Speichern
admin-cancel = Abbrechen
problem-image = Das ist kein Bild, das Browser zeigen. Wählen Sie eine PNG-, JPEG-, WebP- oder GIF-Datei.
problem-image-large = Dieses Bild ist zu groß. Es darf höchstens { $number } kB haben.
