# Comments
comment-subject = { $name } answered: { $title }
comment-subject-customer = { $name } commented: { $title }
comment-subject-unnamed = A customer commented: { $title }
comment-lead = { $name } from { $product } answered a feature request that you voted for or follow:
comment-lead-team = { $product } answered a feature request that you voted for or follow:
comment-lead-customer = { $name } commented on a feature request that you voted for or follow:
comment-lead-unnamed = A customer commented on a feature request that you voted for or follow:

# Changes of the status
status-subject = { $status }: { $title }
status-subject-none = No longer on the roadmap: { $title }
status-lead = { $product } moved a feature request that you voted for or follow to “{ $status }”:
status-lead-none = { $product } took a feature request that you voted for or follow off the roadmap:

# Merges
merge-subject = Merged: { $title }
merge-lead = { $product } merged “{ $source }”, which you voted for or follow, into a feature request that says the same. Your vote counts there now:

# Changelogs
changelog-subject = New: { $title }
changelog-lead = { $product } has news about what you voted for or follow:
news-lead = { $product } has news:

# The author of a text
author = { $name } from { $product }
author-unnamed = A customer

# Buttons
open-request = Open the feature request
open-changelog = Open the changelog
whole-comment = Read the whole comment
whole-changelog = Read the whole changelog

# Digests
digest-subject = { $count ->
    [one] 1 update from { $product }
   *[other] { $count } updates from { $product }
}
digest-lead = { $count ->
    [one] There is 1 update about what you voted for or follow:
   *[other] There are { $count } updates about what you voted for or follow:
}
digest-comment = { $name } answered
digest-comment-customer = { $name } commented
digest-comment-unnamed = A customer commented
digest-status = Now: { $status }
digest-status-none = No longer on the roadmap
digest-merge = Merged with what you voted for or follow
digest-changelog = New
digest-more = { $count ->
    [one] and 1 more
   *[other] and { $count } more
}

# Mail to the team
team-lead = New at { $product } since the last mail:
team-requests = { $count ->
    [one] 1 new feature request
   *[other] { $count } new feature requests
}
team-replies = { $count ->
    [one] 1 new comment
   *[other] { $count } new comments
}
team-awaiting = Waits for approval
open-inbox = Open the inbox
team-settings = Choose which mail you get

# Sign-in
sign-in-subject = { $title } (code { $beginning }…)
sign-in-title = Sign in to { $product }
confirm-vote = Confirm your vote for “{ $title }”
confirm-remove-vote = Confirm that you take back your vote for “{ $title }”
confirm-comment = Confirm your comment on “{ $title }”
confirm-submit = Confirm your idea for { $product }
confirm-subscribe = Confirm that you follow “{ $title }”
confirm-unsubscribe = Confirm that you no longer follow “{ $title }”
confirm-news = Confirm that you want mail about news from { $product }
sign-in-code = Or type this code where you asked for this mail:
sign-in-link = Open this link:
sign-in-validity = They are valid for { $minutes } minutes and for one sign-in.
sign-in-origin = Asked from { $browser } on { $at }.
sign-in-origin-unknown = Asked on { $at }.
sign-in-ignore = If you did not ask for it, ignore this mail: nothing happens.
invitation-title = You are in the team of { $product }
invitation-link = Open this link to sign in:
invitation-validity = It is valid for { $minutes } minutes and for one sign-in.
invitation-again = Ask for a new one here:
invitation-ignore = If this is a mistake, ignore this mail: nothing happens.

# Disabled webhooks
webhook-disabled = A webhook was disabled: { $host }
webhook-gone = The server answered 410 Gone: this address takes no events any more.
webhook-failing = No event could be delivered since { $since }.
webhook-failing-long = No event could be delivered for too long.
webhook-status = The last response had the status { $status }.
webhook-response = The last response had the status { $status } and began with:
webhook-timeout = The last try got no response in time.
webhook-unreachable = The last try did not reach the server.
webhook-tls = The last try failed, because no secure connection could be made.
webhook-blocked = The last try was not made, because the host leads to a forbidden address.
webhook-effect = Events are not recorded for it until somebody enables it again.
open-webhook = Open the webhook

# Test mail
test-subject = Test of outgoing mail from { $product }
test-title = Mail works
test-text = This mail was queued by “roadmap mail test” for { $url } and sent by a worker. It has arrived, so mail works.
test-reason = You get this mail because an operator tests outgoing mail.

# Footers
reason-request = You get this mail from { $product } because you voted for this feature request or follow it.
reason-changelog = You get this mail from { $product } because you voted for a feature request that it is about, or follow one.
reason-news = You get this mail because you asked for mail about news from { $product }.
reason-digest = You get this mail from { $product } because you voted for these feature requests or follow them.
reason-team = You get this mail because you are in the team of { $product }.
reason-admin = You get this mail because you are an admin of { $product }.
stop-request = Stop mail about this feature request
stop-changelogs = Stop mail about changelogs
stop-news = Stop mail about news
stop-all = Stop all mail
stop-team = Stop this mail
