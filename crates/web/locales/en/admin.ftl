# The frame of the admin panel, and what its pages share.
nav-admin = Admin
admin-inbox = Inbox
admin-overview = Overview
admin-changelogs = Changelog
admin-customers = Customers
admin-tags = Tags
admin-tracks = Tracks
admin-members = Members
admin-api-keys = API keys
admin-webhooks = Webhooks
admin-link-sources = Link sources
admin-settings = Settings
admin-mail = Mail
admin-exports = Export
admin-audit = Audit
admin-inbox-waiting = { $count ->
    [one] { $number } waits for the team
   *[other] { $number } wait for the team
}
admin-only-title = Only admins can see this page
admin-only-text = You are a member of the team, and this page is for its admins. An admin can change your role on the page Members.
admin-sign-in-again = What you do here cannot be undone, so please sign in again first. Your last sign-in was more than an hour ago.
admin-sign-in-again-link = Sign in again
admin-save = Save
admin-cancel = Cancel
problem-image = This is not an image that browsers show. Choose a PNG, JPEG, WebP or GIF file.
problem-image-large = This image is too large. It can have { $number } kB at most.
