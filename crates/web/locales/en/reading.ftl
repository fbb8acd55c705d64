# Reading: the roadmap, feature requests, changelogs, feeds.

# The roadmap.
roadmap-title = { $name } roadmap
roadmap-lead = What we are weighing, what comes next and what is already yours. Vote for what would help you, and we will write when it moves.
roadmap-empty = Nothing here yet, so the first word is yours. What should { $name } do that it does not do today?
roadmap-empty-lanes = Nothing is on the roadmap yet. See what others have asked for, and vote for what would help you.
lanes = Lanes
lane-empty = Nothing here at the moment.
show-all-in-lane = Show all { $number }
requests-count = { $count ->
    [one] { $number } feature request
   *[other] { $number } feature requests
}
    .ideas = { $count ->
        [one] { $number } idea
       *[other] { $number } ideas
    }
new-idea = Submit an idea
submit-first-idea = Submit the first idea
see-changelog = See what is new

# Votes.
votes = { $count ->
    [one] { $number } vote
   *[other] { $number } votes
}
vote = Vote
voted = Voted
remove-vote = Remove vote
vote-for = Vote for { $name }
remove-vote-for = Remove vote for { $name }

# The list.
requests-title = Feature requests
    .ideas = Ideas
requests-lead = Find what others have asked for, and vote for what you need, too.
requests-description = What customers of { $name } have asked for. Search, vote, or submit an idea of your own.
search-label = Search feature requests
    .ideas = Search ideas
search-count = { $count ->
    [one] Search { $number } feature request
   *[other] Search { $number } feature requests
}
    .ideas = { $count ->
        [one] Search { $number } idea
       *[other] Search { $number } ideas
    }
search = Search
sort-by = Sort by
sort-relevance = Best match
sort-trending = Trending
sort-votes = Most votes
sort-newest = Newest
sort-oldest = Oldest
sort-updated = Recently updated
apply = Apply
filter = Filter
lane-all = All
mine-voted = Voted by me
mine-written = Written by me
remove-search = Remove the search
remove-tag = Remove the tag
results = { $count ->
    [one] { $number } result
   *[other] { $number } results
}
pages = Pages
page-previous = Previous
page-next = Next
page-position = Page { $page } of { $total }
first-page = To the first page
show-all = Show all feature requests
    .ideas = Show all ideas
empty-page-title = This page is empty
empty-page-text = The list has become shorter.
empty-search-title = Nothing found for “{ $name }”
empty-search-text = Try other words, or tell us about it: it may be a new idea.
empty-voted-title = You have not voted yet
empty-voted-text = What you vote for is listed here.
empty-written-title = You have not submitted an idea yet
empty-written-text = What you submit is listed here.
empty-list-title = Nothing here yet
empty-list-text = The first word is yours. What would help you?
empty-filter-title = Nothing matches
empty-filter-text = No feature request fits these filters.
    .ideas = No idea fits these filters.

# A feature request.
all-requests = All feature requests
    .ideas = All ideas
badge-awaiting = Awaiting approval
badge-private = Private
awaiting-text = Only the team and the author see this until the team has approved it.
approve = Approve
discard = Discard
customer = Customer
team = Team
vote-and-follow = Vote and follow
follow = Follow
following = Following
unfollow = Unfollow
follow-hint = Get mail when the team answers or the status changes.
following-hint = You get mail about this.
tags = Tags
no-description = No description.
team-answer = Team answer
comments = Comments
comments-count = { $count ->
    [0] No comments
    [one] { $number } comment
   *[other] { $number } comments
}
no-comments = No comments yet.
earlier-comments = { $count ->
    [one] Show { $number } earlier comment
   *[other] Show { $number } earlier comments
}
later-comments = Show later comments
edited = edited
comment-from = On the merged feature request
    .ideas = On the merged idea
comment-of = the comment of { $name } on “{ $title }”, { $date }
reply = Reply
reply-to = to { $name }
reply-quote = { $name } wrote
answer-above = ↑ This is the answer above.
write-comment = Write a comment
your-comment = Your comment
comment-hint = Markdown works: **bold**, lists, links. Everybody can read it.
preview = Preview
post-comment = Post comment
similar-requests = Similar feature requests
    .ideas = Similar ideas

# The history.
history = History
history-moved = Moved to { $name }
history-off-the-roadmap = Taken off the roadmap
history-merged = Merged with “{ $name }”
history-merged-another = Merged with another feature request
    .ideas = Merged with another idea
history-unmerged = A merge was undone
history-edited = Edited: { $name }
list-separator = {", "}
history-submitted-by = Submitted by { $name }
history-submitted = Submitted

# Changelogs.
changelog-title = Changelog
changelog-lead = What is new in { $name }, latest first.
changelog-empty-title = Nothing published yet
changelog-empty-text = What is new will be listed here.
category-new = New
category-improved = Improved
category-fixed = Fixed
all-changelogs = All entries
more-changelogs = More changelogs
newer = Newer
older = Older
you-asked-for = You asked for

# Feeds and embedded pages.
feed-requests = New feature requests
    .ideas = New ideas
feed-comments = Comments
feed-changelogs = Changelog feed
comment-by = Comment by { $name }
open-portal = Open the portal
open-in-admin = Open in the admin panel
status-not-reviewed = Not reviewed yet
status-declined = Declined
since = since { $date }
asked-on = Asked { $date }
shipped-in = Shipped in
