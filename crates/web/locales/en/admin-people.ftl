# Customers, members, API keys, mail and audit.
done-customer-saved = The name was saved.
done-customers-merged = The two customers are one now.
done-invited = The invitation is on its way.
done-invitation-written = The invitation was written to a file, because no mail server is set. Nobody gets it.
done-member-added = The member was added, but no mail could be sent. Please try the invitation again later.
done-role-changed = The role was changed.
done-member-removed = The member was removed.
done-key-created-before = This form was sent twice. The key was made once, and was shown once. If you did not copy it, revoke it and make a new one.
done-key-revoked = The key was revoked.
done-mail-retried = { $count ->
    [one] { $number } mail is sent again.
   *[other] { $number } mails are sent again.
}
done-mail-tested = The test mail is on its way.
no-mail-server = No mail server is set. Customers cannot sign in, and nobody gets mail: it is written to files. Whoever runs this service can set one (smtp_url).
done-mail-written = The test mail was written to a file. Nobody gets it.

# Customers.
customers-lead = Everybody who has voted, asked for something or written a comment.
customers-search = Search customers
customers-count = { $count ->
    [one] { $number } customer
   *[other] { $number } customers
}
customers-all = Show all customers
customers-none-title = No customers yet
customers-none-text = Whoever votes on the portal, or gets a vote by the API, is listed here.
customers-not-found-title = Nobody found
customers-not-found-text = Try a part of the name or of the address.
field-customer_query = Search
customer-votes = Votes
customer-since = Since
customer-change = Change the customer
customer-name-hint = Shown beside what this customer posts. The team sees the address, too.
customer-merge-link = Merge with another customer
customer-requests = Asked for
customer-notes = Private notes
customer-notes-hint = Only the team sees notes.
customer-subscriptions = Gets mail about
customer-no-votes = This customer has not voted for anything.
customer-no-requests = This customer has not asked for anything.
customer-no-notes = The team has no notes about this customer.
customer-no-subscriptions = This customer gets no mail about any feature request.
customer-stopped = This customer has stopped all mail on
customer-latest = These are the latest { $number }.
customer-merge-title = Merge two customers
customer-merge-lead = Sometimes one person has two addresses. Find the other customer: by name or by address.
customer-merge-none = No other customer was found. Try a part of the name or of the address.
customer-merge-choose = Choose
customer-unite-lead = Both become one customer. Choose whose address and page stay.
customer-keep = Keep { $name }
customer-keep-missing = Choose which of the two customers stays.
customer-gone = That customer does not exist any more. Please look for another one.
customer-unite-records = Votes, feature requests, comments, private notes and subscriptions of both belong to the one you keep.
customer-unite-votes = Where both have voted for the same feature request, one vote counts.
customer-unite-address = The other address belongs to nobody then. Whoever writes from it later is a new customer.
customer-unite-name = The name of the one you keep stays. If there is none, the other one is taken.
customer-unite-mail = If one of them has stopped all mail, it stays stopped.
customer-unite-final = This cannot be undone.
customer-merge = Merge

# Members.
members-lead = The people of your team. They sign in with a link by mail and answer feature requests.
members-list = The team
member-you = You
member-since = since
member-role-of = Role of { $name }
member-change = Save
member-change-of = Save the role of { $name }
member-invite-again-of = Send { $name } the link again
member-remove = Remove
member-remove-of = Remove { $name }
member-own-hint = If you change your own role or remove yourself, you are signed out. At least one admin always stays.
member-invite-title = Invite somebody
member-name-hint = Customers see it beside answers of the team.
field-role = Role
member-invite = Invite
roles-title = What the roles may do
role-member = Member
role-member-may = Works with feature requests, comments, private notes, changelogs and customers.
role-admin = Admin
role-admin-may = Everything that members may do, and also tracks, members, API keys, settings, mail and the audit log.
roles-hint = A changed role counts at once: the person is signed out and signs in again.
member-known = Somebody with this address is in the team already. You can send the link again in the list.
member-gone = This person is not in the team any more.
member-role-missing = Choose a role.
member-last-admin = This is the last admin, and a team needs one. Make somebody else an admin first.
member-link-limit = No more invitations can be sent for now: three an hour to one address, and 100 an hour in all, are possible. Please try again later.
member-remove-title = Remove { $name }?
member-remove-access = They lose access to the panel at once and are signed out everywhere.
member-remove-own = This is you. You are signed out at once, and only another admin can invite you again.
member-remove-stays = Comments and private notes stay, with the name.

# API keys.
keys-lead = With a key, a program reads and writes the same data as the team.
keys-docs = How to use the API
keys-active = Keys that work
keys-none = There is no key that works. Create one below.
keys-ended = { $count ->
    [one] { $number } key that does not work any more
   *[other] { $number } keys that do not work any more
}
keys-ended-caption = Keys that do not work any more
key-last-four = Ends with
key-scopes = Scopes
key-created = Created
key-used = Last used
key-used-never = Never
key-expires = Expires
key-ended = Ended
key-revoked = Revoked
key-expired = Expired
key-actions = Actions
key-rotate = Rotate
key-rotate-of = Rotate { $name }
key-rotate-hint = Rotating makes a new key with the same name and scopes. Beside the button you choose when the old one ends, so that programs have time to change over.
key-overlap-of = When the old key of { $name } ends
key-overlap-none = At once
key-overlap-hour = In 1 hour
key-overlap-day = In 1 day
key-overlap-week = In 7 days
key-overlap-missing = Choose when the old key ends.
key-ended-before = This key does not work any more, so it cannot be rotated. Create a new one instead.
key-rotated-at-once = The old key does not work any more.
key-rotated-hour = The old key still works for 1 hour.
key-rotated-day = The old key still works for 1 day.
key-rotated-week = The old key still works for 7 days.
key-revoke = Revoke
key-revoke-of = Revoke { $name }
key-revoke-title = Revoke { $name }?
key-revoke-text = Programs with this key are refused within a second. It cannot be undone; you would make a new key.
key-revoked-before = This key was revoked before.
key-create-title = Create a key
key-name-hint = The program that will use it, so that you know it again: “Help desk sync”.
key-scope-read = Reads everything that the team sees, addresses of customers included.
key-scope-write = Creates and changes feature requests, votes, comments, private notes and changelogs.
key-scope-manage = Changes what concerns everybody: tracks, lanes, settings, the portal.
key-scope-missing = Tick at least one scope.
field-expires_in = Expires in
key-lifetime-never = Never
key-lifetime-30 = 30 days
key-lifetime-90 = 90 days
key-lifetime-365 = 1 year
key-lifetime-hint = A key that ends is safer. You can rotate it before.
key-lifetime-missing = Choose when the key expires.
key-create = Create key
key-created-title = The new key { $name }
key-created-notice = The key was created. Copy it now: it is shown only this once.
field-key = Key
key-created-hint = Keep it like a password. The service stores only a digest of it and cannot show it again.
copy = Copy
copied = Copied
key-try = Try it
key-try-hint = This command shows the key’s name and scopes. Programs send the key in the header X-Api-Key.
key-copied = I have copied the key

# Mail.
mail-lead = Mail that this workspace sends to customers and to the team.
mail-waiting = Waiting
mail-waiting-hint = Sent within seconds, unless it was postponed.
mail-postponed = Postponed
mail-postponed-hint = Could not be sent yet and is tried again, up to ten times in a day.
mail-failed = Failed
mail-failed-hint = Given up. It is sent again only if you say so.
mail-sent = Sent lately
mail-sent-hint = Accepted by the mail server. Old ones are forgotten after a while.
mail-written-hint = Written to files, and not sent to anybody. Old ones are forgotten after a while.
mail-oldest = The oldest mail waits since
mail-failures = What could not be sent
mail-no-failures = Nothing. All mail has arrived at the mail server, or is on its way.
mail-no-failures-written = Nothing, because nothing is sent.
mail-retry = Retry failed mail
mail-send-now = Send postponed mail now
mail-kind = Mail
mail-recipient = Recipient
mail-recipient-address = An address
mail-reason = Why
mail-next = Next try
mail-next-at = Next try:
mail-given-up = Given up
mail-attempts = { $count ->
    [one] { $number } try
   *[other] { $number } tries
}
mail-kind-comment = Comment
mail-kind-status = New status
mail-kind-merge = Merge
mail-kind-team = Mail to the team
mail-kind-changelog = Changelog
mail-kind-digest = Summary of several
mail-kind-sign-in = Link to sign in
mail-kind-test = Test mail
mail-latest = The latest { $number } are shown.
mail-test-title = Does mail arrive?
mail-test-to = A test mail goes to your own address:
mail-test-hint = It is sent like every other mail. If it fails, the reason stands above after a moment.
mail-test-written = It is written to a file, like every other mail.
mail-test = Send test mail

# The audit log.
audit-lead = Who has changed what: the team, programs with an API key, commands and the service itself.
audit-actor = Actor
audit-action = Action
audit-from = From
audit-to = To
audit-everybody = Everybody
audit-every-action = Every action
actors-api-key = All API keys
actors-member = All members
actors-customer = All customers
actors-operator = All operators
actors-service = The service
audit-actor-member = Member: { $name }
audit-actor-key = API key: { $name }
audit-actor-chosen = The chosen one
actor-api-key = API key
actor-member = Member
actor-customer = Customer
actor-operator = Operator
actor-service = Service
channel-api = by the API
channel-page = on a page
channel-command = by a command
channel-job = as a background job
audit-when = When
audit-who = Who
audit-what = What
audit-record = Record and changes
audit-only-record = Only this record
audit-one-record = Entries about one record are shown.
audit-all-records = Show all records
audit-download = Download CSV
audit-download-hint = With this filter, the newest 10,000 entries at most.
audit-none-title = No entries
audit-none-text = Nothing was changed that fits this filter. Old entries are deleted after a while.
audit-newest = Newest entries
audit-older = Older entries
audit-day-invalid = This is not a day. It should look like 2026-03-04.
audit-filter-unknown = The log cannot be filtered by this. Please choose something else.
change-old = before:
change-new = now:
change-yes = yes
change-no = no
change-content = Content
change-private = Private
change-status = Status
change-position = Position
change-moved-to = Moved to
change-awaiting = Awaiting approval
change-merged-into = Merged into
change-merged = Merged feature requests
change-number = Number
change-subscribed = Subscribed
change-requests = Linked feature requests
change-cover = Cover image
change-public-from = Public from
change-notified = Voters were mailed
change-notifies = mail with the publication
change-mails = Mails
change-product-name = Product name
change-website = Website
change-state = State
change-kind = Kind
change-visibility = Who can see the portal
change-mail-domains = Mail domains
change-indexing = Search engines
change-embed-origins = Embed origins
change-languages = Languages
change-moderation = Approval of posts
change-accent = Accent colour
change-logo = Logo
change-reply-to = Reply-To
change-welcome = Welcome text
change-question = Question of the form
change-noun = What people submit
change-names = Names by language
change-time-zone = Time zone
change-sender-name = Sender of mail
record-request = Feature request
record-comment = Comment
record-note = Private note
record-link = Link
record-changelog = Changelog
record-customer = Customer
record-track = Track
record-lane = Lane
record-tag = Tag
record-member = Member
record-key = API key
record-sign-in = Sign-in
record-setting = Settings
record-portal = Portal
record-synonyms = Synonyms
record-attachment = File
record-mail = Mail
record-workspace = Workspace
action-request-update = Feature request edited
action-request-move = Feature request moved
action-request-merge = Feature request merged
action-request-unmerge = Merge undone
action-request-approve = Feature request approved
action-request-decline = Feature request declined
action-request-no-answer-needed = Feature request marked as needing no answer
action-request-delete = Feature request deleted
action-comment-update = Comment edited
action-comment-approve = Comment approved
action-comment-delete = Comment deleted
action-note-delete = Private note deleted
action-link-create = Link added
action-link-update = Link changed
action-link-delete = Link removed
action-vote-withdraw = Vote removed
action-subscription-create = Subscribed
action-subscription-delete = Unsubscribed
action-changelog-create = Changelog created
action-changelog-update = Changelog edited
action-changelog-publish = Changelog published
action-changelog-unpublish = Changelog unpublished
action-changelog-delete = Changelog deleted
action-customer-update = Customer changed
action-customer-merge = Customers merged
action-customer-export = Data of a customer exported
action-customer-erase = Customer erased
action-export-create = Export created
action-import-start = Import started
action-import-finish = Import ended
action-import-undo = Import undone
action-track-create = Track added
action-track-update = Track changed
action-track-delete = Track deleted
action-lane-create = Lane added
action-lane-update = Lane changed
action-lane-delete = Lane deleted
action-tag-update = Tag renamed
action-tag-delete = Tag deleted
action-member-add = Member added
action-member-role = Role changed
action-member-remove = Member removed
action-sign-in-link = Sign-in link made
action-key-create = API key created
action-key-rotate = API key rotated
action-key-revoke = API key revoked
action-setting-update = Settings changed
action-portal-update = Portal changed
action-synonyms-replace = Synonyms replaced
action-attachment-delete = File deleted
action-mail-retry = Mail sent again
action-mail-test = Test mail sent
action-workspace-create = Workspace created
action-workspace-update = Workspace changed
customer-texts = Texts
customer-no-texts = This customer has written nothing.
customer-texts-removed = { $count ->
    [one] One text is removed: only this page shows it. It is deleted 30 days after its removal.
   *[other] { $number } texts are removed: only this page shows them. They are deleted 30 days after their removal.
}
customer-remove-texts = Remove all texts
customer-remove-title = Remove all texts of { $name }
customer-remove-comments = { $count ->
    [one] One comment is not there any more for anybody, also if it waits for approval.
   *[other] { $number } comments are not there any more for anybody, also those that wait for approval.
}
customer-remove-ideas = { $count ->
    [one] One feature request becomes private, and its title, description and tags are removed.
   *[other] { $number } feature requests become private, and their titles, descriptions and tags are removed.
}
customer-remove-others = Votes, comments of others and private notes stay. The team finds these feature requests under Private, with the title “[removed]”.
customer-remove-many = At once, the newest { $number } feature requests and { $number } comments are removed. Do it again for the others.
customer-remove-mail = Mail about these texts that was not sent yet is not sent.
customer-remove-undo = You can undo this for 30 days. Then the texts are deleted.
customer-block = Block
customer-unblock = Unblock
customer-block-hint = Nothing that this person does on the portal has an effect then: the same pages come, but no mail. All sessions end. Votes that the team adds still count.
customer-blocked-since = Blocked since
customer-blocked-mail = This customer gets no mail while blocked.
customer-block-member = This is a member of the team. Remove the member first.
customers-only-blocked = Only blocked ones
badge-blocked = Blocked
badge-removed = Removed
undo = Undo
done-customer-blocked = The customer is blocked.
done-customer-unblocked = The customer is not blocked any more.
done-texts-removed = { $count ->
    [one] One text was removed.
   *[other] { $number } texts were removed.
}
done-texts-restored = { $count ->
    [one] One text was restored.
   *[other] { $number } texts were restored.
}
action-customer-block = Customer blocked
action-customer-unblock = Block of a customer ended
action-customer-remove-texts = Texts of a customer removed
action-customer-restore-texts = Texts of a customer restored
customer-no-comments = No comment of this customer is public.
member-demote-title = Is { $name } no admin any more?
member-demote-text = This member works with feature requests and customers then, but not with settings, members and API keys. All sessions end.
member-keys = This member has made API keys that work. They go on working unless they are revoked:
member-revoke-keys = Revoke them, too

# The data of a customer, and erasing.
customer-download = Download data
customer-erase = Erase customer
customer-erase-title = Erase { $name }?
customer-erase-goes = These go, whatever you choose below:
customer-erase-person = Name, address, settings, subscriptions, mail and sessions
customer-erase-waiting = What waits for approval, and removed texts
customer-erase-mentions = Texts with the name or the address
customer-erase-no-mentions = There are none.
customer-erase-mentions-stay = These stay as they are, so edit or delete them yourself if the name has to go. Texts of the customer go with “Remove texts”.
customer-erase-more-mentions = { $count ->
    [one] And { $number } more. The command roadmap customer erase --dry-run lists all.
   *[other] And { $number } more. The command roadmap customer erase --dry-run lists all.
}
customer-erase-final = This cannot be undone. Backups and exports made before hold the customer until you delete them.
keep-votes = Keep votes
remove-votes = Remove votes
customer-erase-keep-votes = They count as before, without the customer.
customer-erase-remove-votes = They are deleted, and what they were for is counted again.
customer-erase-keep-texts = They stay without a name.
customer-erase-remove-texts = Comments go, and so do feature requests in which nobody else took part. Other feature requests lose title and description.
done-customer-erased = The customer is erased.

# Exports.
exports-lead = Everything of this workspace as one zip: feature requests, votes, comments, changelogs, people and files. Another installation can import it, and spreadsheets can open its tables.
exports-list = Exports
exports-none = There is no export.
exports-kept = Each export is deleted 24 hours after it was created, or sooner if a customer is erased who may be in it.
export-create-title = Create an export
export-create = Create export
export-without-people = Without people
export-without-people-hint = Names, addresses and private notes are left out. All numbers stay. Texts are not searched for names.
export-without-notes = Without private notes
export-time = Time
export-size = Size
export-state = State
export-file = File
export-running = Running
export-done = Done
export-failed = Failed
export-download = Download export
export-refresh = Refresh
export-running-already = An export is already running. You can create another one when it is done.
done-export-created = The export is being written. It can take some minutes.
size-kb = { $number } kB
size-mb = { $number } MB
