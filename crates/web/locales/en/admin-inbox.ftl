# The inbox and the overview.
done-moved = { $count ->
    [one] { $number } feature request was moved.
   *[other] { $number } feature requests were moved.
}
done-tagged = { $count ->
    [one] { $number } feature request was tagged.
   *[other] { $number } feature requests were tagged.
}
done-moved-to = { $count ->
    [one] { $number } feature request was moved to “{ $name }”. Nobody got mail.
   *[other] { $number } feature requests were moved to “{ $name }”. Nobody got mail.
}
done-untagged = { $count ->
    [one] { $number } feature request lost the tag.
   *[other] { $number } feature requests lost the tag.
}
done-requests-deleted = { $count ->
    [one] { $number } feature request was deleted.
   *[other] { $number } feature requests were deleted.
}
done-undone = { $count ->
    [one] { $number } change was undone.
   *[other] { $number } changes were undone.
}
done-undone-none = Nothing was undone: somebody has changed it since.
done-undo-late = This cannot be undone any more.
undo-kept = { $count ->
    [one] { $number } stays as it is, because somebody has changed it since.
   *[other] { $number } stay as they are, because somebody has changed them since.
}
done-made-private = { $count ->
    [one] { $number } feature request is private now.
   *[other] { $number } feature requests are private now.
}
done-made-public = { $count ->
    [one] { $number } feature request is public now.
   *[other] { $number } feature requests are public now.
}
done-merged = { $count ->
    [one] { $number } feature request was merged.
   *[other] { $number } feature requests were merged.
}
done-requests-approved = { $count ->
    [one] { $number } feature request was approved.
   *[other] { $number } feature requests were approved.
}
done-requests-declined = { $count ->
    [one] { $number } feature request was declined and stays private.
   *[other] { $number } feature requests were declined and stay private.
}
done-unchanged = Nothing had to be changed.
done-shortcuts = Keyboard shortcuts were switched on or off.

# The list.
inbox-new = New feature request
inbox-views = Views
inbox-unanswered = No answer yet
inbox-merged = Merged
inbox-track = Track
inbox-lane = Lane
inbox-all-lanes = All lanes
inbox-tag = Tag
inbox-mine = I have commented or written a note
inbox-fold = Filters
inbox-more-filters = More filters
inbox-filter = Filter
inbox-clear = Clear filters
inbox-request = Feature request
inbox-votes = Votes
inbox-companies = Companies
inbox-sort-companies = Most companies
inbox-from = By
inbox-asked = Date
inbox-nobody = Nobody
inbox-select = Select
inbox-select-request = Select { $name }
inbox-select-all = Select all on this page
inbox-merged-into = Merged into
inbox-unmerge = Unmerge
inbox-held = { $count ->
    [one] { $number } comment waiting
   *[other] { $number } comments waiting
}

# What is done with the ticked rows.
inbox-change = Change selected
inbox-move-to = Move to { $name }
inbox-apply-to = Apply to #
inbox-choose = Choose…
inbox-tick-hint = Tick rows below, then apply.
# The script replaces the sign by a number.
inbox-ticked = Selected: #
inbox-add-tag = Add tag
inbox-remove-tag = Remove tag
inbox-make-private = Make private
inbox-make-public = Make public
inbox-merge = Merge
inbox-delete = Delete
inbox-approve = Approve
inbox-decline = Decline
inbox-problem-none = Nothing is selected. Tick at least one feature request.
inbox-problem-two = To merge, select at least two feature requests.
inbox-problem-many = That is too much at once. Select at most { $number } feature requests.
inbox-problem-track-gone = This track does not exist any more. Choose another one.
inbox-problem-action = Choose what is done with the selected feature requests.
inbox-problem-tags = One of the selected feature requests has { $number } tags already, and cannot have more. Nothing was changed.
inbox-problem-merged = One of the selected feature requests was merged into another one meanwhile. Nothing was changed. The list below is up to date.
inbox-problem-has-merged = One of the selected feature requests has others merged into it. Delete it on its own page. Nothing was deleted.
field-tag = Tag

# Merging the selected ones.
inbox-merge-title = Merge feature requests
inbox-merge-target = Merge all into
inbox-merge-target-hint = This one keeps its address and its place on the roadmap. The others lead to it.
inbox-merge-together = { $count ->
    [one] Together they have { $number } vote.
   *[other] Together they have { $number } votes.
}
inbox-merge-twice = { $count ->
    [one] { $number } customer voted for both and counts once.
   *[other] { $number } customers voted for both and count once.
}
inbox-merge-counts-once = Each customer counts once, also who voted for several of them.
inbox-merge-effect = Comments and private notes are shown on the one that stays. A merge can be undone.
inbox-merge-private = The words of private ones stay hidden from customers. A public one cannot become part of a private one.
inbox-merge-button = Merge
inbox-merge-few = Select at least two feature requests in the inbox that are not merged yet.
inbox-back = Back to the inbox
inbox-delete-title = { $count ->
    [one] Delete { $number } feature request?
   *[other] Delete { $number } feature requests?
}
inbox-delete-text = They are deleted with their votes, comments and private notes. This cannot be undone.
inbox-delete-none = Select feature requests in the inbox that are not merged.
inbox-delete-button = Delete
inbox-problem-target = Choose the feature request into which the others are merged.
inbox-problem-target-gone = This feature request does not exist any more. Choose another one.
inbox-problem-already-merged = One of them was merged into another feature request meanwhile, and is not listed here any more. Nothing was changed.
inbox-problem-private-target = A public feature request cannot become part of a private one: its voters would not see it any more. Choose a public one, or make this one public first.
inbox-problem-not-mergeable = These cannot be merged: one of them is part of another one already, or too many are merged together.

# What waits for approval, and empty lists.
inbox-held-title = Comments that wait for approval
inbox-held-on = on
inbox-held-more = { $count ->
    [one] { $number } more comment waits. It is listed when these are done.
   *[other] { $number } more comments wait. They are listed when these are done.
}
inbox-empty-filter = No feature request in this view fits these filters.
inbox-empty-all-title = The inbox is empty
inbox-empty-all = All feature requests are merged into others, or deleted.
inbox-empty-unanswered-title = Everything is answered
inbox-empty-unanswered = Nobody waits for a word of the team.
inbox-empty-awaiting-title = Nothing waits for approval
inbox-empty-awaiting = Ideas and comments that the team has to approve first are listed here.
inbox-empty-private-title = Nothing is private
inbox-empty-private = Feature requests that only the team and their authors see are listed here.
inbox-empty-merged-title = Nothing is merged
inbox-empty-merged = When two feature requests mean the same, merge them, and their votes count together.
welcome-title = Welcome
welcome-lead = These steps lead to a portal that your customers use.
welcome-progress = { $done } of { $all } are done.
welcome-done = done
welcome-mail = Send mail
welcome-mail-text = Customers sign in by mail, and hear of answers and news.
welcome-look = Name and logo
welcome-look-text = Set the name, the logo, the colours and who can see the portal.
welcome-lanes = Tracks and lanes
welcome-lanes-text = Set up the stages of your work, and the lanes that customers see.
welcome-team = Invite your team
welcome-team-text = Let those take part who answer customers or decide what is built.
welcome-requests = First feature requests
welcome-requests-text = Write down what customers have asked for in mails and calls.
welcome-share = Share the address
welcome-share-text = See what your customers see, and send them its address.

# Keyboard shortcuts.
shortcuts-on = Keyboard shortcuts: on
shortcuts-off = Keyboard shortcuts: off
shortcuts-list = List of keys
shortcut-next = Next row
shortcut-previous = Previous row
shortcut-tick = Tick the row, or untick it
shortcut-change = Go to “Change selected”
shortcut-search = Go to the search
shortcut-help = Show or hide this list

# The overview.
overview-period = Period
overview-days = { $count ->
    [one] { $number } day
   *[other] { $number } days
}
overview-year = 1 year
overview-lead = The numbers are at most a minute old. Each is compared with the same number of days before.
overview-sign-ins-used-up = So many strangers asked to sign in that some got no mail. The team and customers who had signed in before were not affected. Last on
overview-requests = New requests
overview-votes = Votes
overview-comments = Comments of customers
overview-unanswered = Without an answer
overview-failed = Mails that failed
overview-more = { $count ->
    [one] { $number } more than before
   *[other] { $number } more than before
}
overview-fewer = { $count ->
    [one] { $number } fewer than before
   *[other] { $number } fewer than before
}
overview-same = As many as before
overview-oldest = The oldest is of
overview-none-waiting = Nobody is waiting
overview-see-mail = See why
overview-mail-fine = All mail was sent or is on its way
overview-mail-written = Mail is written to files
overview-mail-admins = An admin can see why
overview-votes-by-week = Votes by week
overview-requests-by-week = New requests by week
overview-chart = { $name }, the last { $weeks } weeks: { $first } in the week from { $date }, at most { $max }, { $now } in this week so far
overview-as-table = Show as a table
overview-week = Week
overview-week-of = From { $date }
overview-this-week = This week so far
overview-tracks = Where requests are
overview-tracks-caption = Feature requests by track
overview-count = Requests
overview-share = Share
overview-percent = { $number } percent
overview-most-voted = Most voted without an answer
overview-most-voted-none = Everything is answered.
overview-rising = Rising in this period
overview-rising-none = Nobody has voted in this period.
overview-new-votes = { $count ->
    [one] { $number } new vote
   *[other] { $number } new votes
}
overview-missed = Searches that found nothing
overview-missed-hint = What customers looked for and did not find. Who searched is not stored.
overview-missed-none = Every search in this period has found something.
overview-times = { $count ->
    [one] once
   *[other] { $number } times
}
done-posts-approved = { $count ->
    [one] One post was approved.
   *[other] { $number } posts were approved.
}
done-posts-discarded = { $count ->
    [one] One post was discarded.
   *[other] { $number } posts were discarded.
}
inbox-discard-hint = Discarded comments are deleted, discarded ideas stay private.
inbox-problem-no-posts = Nothing is selected. Tick at least one post.
inbox-problem-many-posts = That is too much at once. Select at most { $number } posts.
inbox-open = Open
inbox-replied = New reply
inbox-no-answer-needed = No answer needed
inbox-empty-open-title = Nothing is open
inbox-empty-open = What is done or declined is under “All”.
inbox-empty-replied-title = No new replies
inbox-empty-replied = No customer has written after the team.
team-no-answer-needed = No answer needed
team-history-no-answer-needed = No answer needed
done-no-answer-needed-here = It needs no answer until a customer writes again.
overview-replied-title = New replies
done-no-answer-needed = { $count ->
    [one] { $number } feature request needs no answer until a customer writes again.
   *[other] { $number } feature requests need no answer until a customer writes again.
}

inbox-own-views = Saved views
inbox-save-view = Save this view
inbox-remove-view = Remove view { $name }
done-view-saved = The view was saved. Only you see it.
done-view-removed = The view was removed.
problem-view-name = You have a view with this name. Choose another one, or remove that view first.
problem-views = You have 20 views. Remove one before you save the next.
