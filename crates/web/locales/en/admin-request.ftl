# The page of a feature request, and what is done with one.
done-unmerged = The feature request stands for itself again.
done-request-saved = The feature request was saved.
done-request-created = The feature request was created.
done-request-deleted = The feature request was deleted.
done-answered = Your comment was posted.
done-answered-mail = Your comment was posted, and the voters get mail.
done-moved-mail = The feature request was moved, and the voters get mail about a new status.
done-merged-mail = The feature request was merged, and its voters get mail.
done-noted = The private note was added.
done-note-deleted = The private note was deleted.
done-link-added = The link was added.
done-link-known = The feature request had this link before.
done-link-removed = The link was removed.
done-vote-added = The vote was added.
done-vote-known = This customer had voted before. The vote still counts once.
done-comment-saved = The comment was saved.
done-comment-deleted = The comment was deleted.

# Names of fields.
field-note = Private note
field-vote_note = Note about this vote
field-url = Link
field-track = Track
field-tags = Tags

# The page of a feature request.
team-number = Number { $name }
team-see-on-portal = See on the portal
team-edit = Edit
team-merge = Merge
team-delete = Delete
team-change = Edit
team-status = Status
team-voters-and-history = Voters and history
team-details = Details
team-from = From
team-from-nobody = Nobody is named.
team-visible = Visible
team-visible-public = On the portal
team-visible-private = Only the team and the author see it.
team-visible-awaiting = It waits for approval. Only the team and the author see it.
team-visibility = Visibility
team-make-private = Make private
team-make-public = Make public
team-decline = Decline
team-decline-hint = What is declined stays private.
team-notes = Private notes
team-notes-hint = Only the team sees notes.
team-no-notes = No notes yet.
team-notes-more = { $count ->
    [one] { $number } older note is not shown here.
   *[other] { $number } older notes are not shown here.
}
team-note-about = About
team-note-of = the note of { $name }
team-add-note = Add note
team-delete-note = Delete note
team-delete-note-ask = This cannot be undone.
team-links = Links
team-links-hint = The address of an issue or a page of what you build for this. Only the team sees links.
team-no-links = No links yet.
team-links-more = { $count ->
    [one] { $number } more link is not shown here.
   *[other] { $number } more links are not shown here.
}
team-link-open = Open
team-link-closed = Closed
team-add-link = Add link
team-remove-link = Remove
team-remove-link-named = Remove { $name }
team-comment-hint = Public, and marked as the team’s. Markdown works: **bold**, lists, links.
team-comment-hint-private = Only the team and the author see it, as long as the feature request is private. Markdown works: **bold**, lists, links.
team-mail-all = E-mail all voters
team-mail-status = E-mail voters about the new status
team-people-get-mail = { $count ->
    [0] Nobody gets mail
    [one] { $number } person gets mail
   *[other] { $number } people get mail
}
team-move = Move
team-move-next = Move and next
team-voters = Voters
team-no-voters = Nobody has voted yet.
team-all-voters = { $count ->
    [one] The only voter
   *[other] All { $number } voters
}
team-csv = Download CSV
team-vote-for-customer = Vote on behalf of a customer
team-vote-note-hint = Optional. Only the team sees it.
team-add-vote = Add vote
record-vote = Record a vote
record-vote-lead = For a customer who asked you by mail, in a chat or on the telephone.
field-words = Words
record-vote-words-hint = What the customer asks for. We look for feature requests that say it already.
record-vote-find = Find
record-vote-for = What is the vote for?
record-vote-none = We found nothing alike.
record-vote-new = New feature request
record-vote-choose = Choose what the vote is for.
record-vote-gone = This feature request was deleted meanwhile. Choose another one.
record-vote-save = Record vote
team-merged = Merged into this one
team-unmerge = Unmerge
team-unmerge-named = Unmerge { $name }
team-history-merged-into = Merged into another feature request
team-history-unmerged-from = Its own merge was undone
team-by = by { $name }
team-actor-key = API key “{ $name }”
team-actor-customer = a customer
team-actor-operator = { $name }, by a command
team-actor-service = the service

# Why something was refused.
team-problem-mail = { $count ->
    [one] The mail of today is used up: it is { $number } mail a day. Leave this box empty, or try again tomorrow.
   *[other] The mail of today is used up: it is { $number } mails a day. Leave this box empty, or try again tomorrow.
}
team-problem-storage = The space of this workspace is used up, so nothing was saved. Delete what is not needed any more, or ask the operator of the service for more.
team-problem-track = This track does not exist any more. Please choose another one.
team-problem-tags = There can be 20 tags, with 50 characters each. Please remove or shorten some.
team-problem-links = There are 20 links already. Remove one before you add the next.
problem-url = This is not the address of a page. It should look like https://example.com/7.
team-problem-has-merged = Others are merged into this one. Tick this box to delete them, too, or unmerge them first.
team-problem-merged = The feature request was merged into “{ $name }” since you opened its page, so nothing was changed. This is the page of the other one.

# Editing.
team-edit-title = Edit: { $name }
team-markdown-hint = Markdown works: **bold**, lists, links.
team-html-hint = This text has formatting that Markdown does not have. Therefore it is shown as HTML.
team-tags-hint = Separated by commas. At most 20.
team-changed-title = Somebody else has changed this, too
team-changed-by = { $name } has changed it on { $date } ({ $zone }), after you opened this page.
team-changed = It was changed after you opened this page.
team-changed-text = Nothing is saved and nothing is lost. Below is what you typed, with what is stored now beside it. If you save once more, what you typed replaces it.
team-stored-now = Stored now:
team-stored-empty = Nothing

# Deleting.
team-delete-title = Delete “{ $name }”?
team-delete-text = This cannot be undone. These go with it:
team-notes-count = { $count ->
    [0] No private notes
    [one] { $number } private note
   *[other] { $number } private notes
}
team-links-count = { $count ->
    [0] No links
    [one] { $number } link
   *[other] { $number } links
}
team-merged-count = { $count ->
    [one] { $number } merged feature request
   *[other] { $number } merged feature requests
}
team-delete-with-merged = { $count ->
    [one] Also delete { $number } merged feature request
   *[other] Also delete { $number } merged feature requests
}
team-delete-with-merged-hint = To keep one of them, unmerge it first.
team-delete-button = Delete feature request

# Merging.
team-merge-title = Merge “{ $name }”
team-merge-lead = Which feature request says the same? That one stays, and gets the votes and comments of this one.
team-merge-suggested = Similar ones
team-merge-nothing = Nothing found. Try other words, or the number of the feature request.
team-merge-into = Merge into
team-merge-into-named = Merge into { $name }
team-neighbours = Feature requests of this list
team-previous = Previous
team-next = Next
team-merge-other = Choose another one
team-merge-goes = This one is merged
team-merge-stays = This one stays
team-merge-what = What happens
team-merge-counted = Together { $votes }: { $shared }
team-merge-shared = { $count ->
    [0] nobody voted for both.
    [one] { $number } customer voted for both and counts once.
   *[other] { $number } customers voted for both and count once.
}
team-merge-comments = Comments and the description are listed with those of the one that stays.
team-merge-notes = Private notes and links are listed there, too. Tags and the track of the one that stays are kept.
team-merge-address = The old address leads to the one that stays.
team-merge-hidden = It is private, so its words stay hidden from everybody but the team. Its votes count.
team-merge-undo = You can undo this at any time. Nothing gets lost.
team-merged-into = It is merged into “{ $name }”. You can make it stand for itself again, with its own votes, comments, notes and links.
team-merge-tell = { $count ->
    [one] Tell 1 voter
   *[other] Tell { $number } voters
}
team-merge-tell-hint = A mail says what this one was merged into. The voters of the one that stays get none.
team-merge-itself = This is the same feature request, or one that is merged into it. Please choose another one.
team-merge-private = A public feature request cannot become part of a private one, because it would disappear from the portal. Make the other one public first, or merge in the other direction.
team-merge-many = Too many feature requests are merged into that one. Please choose another one.
team-merge-gone = That feature request does not exist any more. Please choose another one.
team-merge-elsewhere = Somebody has merged this one into another feature request meanwhile. Unmerge it first.

# A new one.
team-new-title = New feature request
team-new-customer = Asked for by (optional)
team-new-customer-hint = The customer becomes its author and first voter. An address that is not known yet becomes a new customer.
team-new-create = Create feature request
team-new-look = Look for similar ones
team-similar-none = Nothing similar was found.
team-similar-lead = If one of these says the same, add the vote or the note there. The links open in a new tab.

# Voters.
team-voters-title = Voters of “{ $name }”
team-company = Company
team-companies = { $count ->
    [one] from { $number } company
   *[other] from { $number } companies
}
team-nameless-votes = { $count ->
    [one] and { $number } vote without a name
   *[other] and { $number } votes without a name
}
team-only-nameless-votes = { $count ->
    [one] { $number } vote without a name
   *[other] { $number } votes without a name
}
team-voted-on = Voted on
team-csv-limit = The file has the latest 100,000 voters.
team-csv-cut = { $count ->
    [one] { $number } earlier voter is left out.
   *[other] { $number } earlier voters are left out.
}

# A comment.
team-comment-title = Comment of { $name }
team-comment-delete-title = Delete this comment?
team-comment-delete-text = This cannot be undone. Mail about it that was not sent yet is not sent any more.
team-comment-delete = Delete comment
team-why = Say why
team-why-hint = Optional. It is public, as a comment of yours. Its mail and that about the status are one.
