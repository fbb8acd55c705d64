# Changelogs, tracks, lanes and settings.
done-changelog-saved = The changelog was saved.
done-changelog-published = The changelog was published.
done-changelog-mailed = { $count ->
    [0] The changelog was published. Nobody was there to get mail.
    [one] The changelog was published, and { $number } person gets mail.
   *[other] The changelog was published, and { $number } people get mail.
}
done-changelog-scheduled = The changelog will be published at the time you have chosen.
done-changelog-unpublished = The changelog is a draft again.
done-changelog-deleted = The changelog was deleted.
done-track-added = The track was added.
done-track-saved = The track was saved.
done-track-deleted = The track was deleted.
done-lane-added = The lane was added.
done-lane-saved = The lane was saved.
done-lane-deleted = The lane was deleted.
done-tag-saved = { $count ->
    [one] The tag was renamed on { $number } feature request.
   *[other] The tag was renamed on { $number } feature requests.
}
done-tag-merged = { $count ->
    [one] The two tags are one now. { $number } feature request was changed.
   *[other] The two tags are one now. { $number } feature requests were changed.
}
done-tag-deleted = { $count ->
    [one] The tag was removed from { $number } feature request.
   *[other] The tag was removed from { $number } feature requests.
}
done-settings-saved = The settings were saved.

# Changelogs.
changelogs-lead = What is new. The people who asked for it can get mail about it.
changelogs-none-title = No changelog yet
changelogs-none-text = When something is done, write it down here, and tell those who voted for it.
changelog-new = New changelog
changelog-draft = Draft
changelog-scheduled = Scheduled
changelog-published = Published
changelog-changed-on = Changed
changelog-public-from = Public from
changelog-public-since = Public since
changelog-see = See on the portal
times-are-in = Times are those of the time zone { $name }.
back-to-changelog = To the changelog
field-changelog-content = Content
field-linked-query = Search
changelog-content-hint = Markdown works: **bold**, lists, links.
changelog-html-hint = This text is HTML, because Markdown cannot express its formatting.
changelog-category = Category
changelog-category-none = No category
changelog-cover = Cover image
changelog-cover-hint = PNG, JPEG, WebP or GIF, up to 5 MB. Twice as wide as high looks best.
changelog-cover-now = The cover image as it is now
changelog-cover-remove = Remove cover
changelog-cover-gone = This image cannot be used any more. Please choose it again.
changelog-linked = Linked feature requests
changelog-linked-none = None yet. Search for those that are done now.
changelog-linked-many = A changelog can have { $number } linked feature requests at most. Untick some.
changelog-linked-gone = One of the linked feature requests does not exist any more. It is not in the list now. Check the list, and then try again.
changelog-find = Find
changelog-found = Found feature requests
changelog-publishing = Publishing
changelog-publish-at = Publish at
changelog-publish-at-hint = Time zone { $zone }, where it is { $now } now. With a time, Save schedules it. Without one, Save keeps it as a draft.
done-changelog-scheduled-mail = { $count ->
    [0] The changelog will be published at the time you have chosen. Nobody follows what it is about, so nobody would get mail now.
    [one] The changelog will be published at the time you have chosen, with mail. { $number } person would get it now; it goes to those who follow then.
   *[other] The changelog will be published at the time you have chosen, with mail. { $number } people would get it now; it goes to those who follow then.
}
changelog-move-linked = Move the linked feature requests to { $name }
changelog-move-linked-hint = When you press Publish. Nobody gets mail about the moves.
changelog-move-with-time = Feature requests are moved only when you press Publish. Untick this, or publish it now.
changelog-notify = E-mail voters of the linked requests, and everybody who gets news
changelog-people = { $count ->
    [0] Nobody would get mail now.
    [one] { $number } person would get it.
   *[other] { $number } people would get it, each once.
}
changelog-notify-hint = Mail goes out with the publication: when you press Publish, or at the time that you have chosen.
changelog-notify-published-hint = Mail goes out when you press Save.
changelog-mailed = Voters have got mail about it. Nobody gets a second one.
changelog-publish = Publish
changelog-unpublish = Unpublish
changelog-delete = Delete changelog
changelog-delete-title = Delete “{ $name }”?
changelog-delete-draft = It is gone for good.
changelog-delete-published = It is gone for good, also from the portal and its feed.
changelog-delete-text = Mail about it that is still waiting is not sent. The linked feature requests stay.
changelog-time-invalid = This is not a time. It should look like 2026-03-31T09:00.
changelog-time-past = This time has passed. Choose a later one, or empty the field and press Publish.
changelog-time-never = In { $name }, clocks are set forward over this time, so that it does not exist. Choose another one.
changelog-time-twice = In { $name }, clocks are set back over this time, so that it exists twice. Choose another one.
changelog-time-both = You have chosen a time and pressed Publish. Press Save to publish it at that time, or empty the field and press Publish to publish it now.
changelog-time-published = It is published already, so that it cannot be scheduled. Empty the field, or unpublish it first.
mails-used-up = The mails of today are used up, so nothing was published and nothing was sent. Untick this, or try again tomorrow.
storage-used-up = The storage of this workspace is used up, so nothing was saved. Ask the operator of the service for more.
changelog-conflict = Somebody else has saved this changelog since you opened it, so your changes are not saved yet. Compare them with what is stored now. The next Save replaces it.
changelog-conflict-by = { $name } has saved this changelog since you opened it, so your changes are not saved yet. Compare them with what is stored now. The next Save replaces it.
changelog-gone = Somebody has deleted this changelog since you opened it. What you typed is still here, and Save makes a new one of it.
stored-now = Stored now
stored-nothing = Nothing
stored-same = The same as what you typed.

# Tracks and lanes.
tracks-lead = Tracks are how the team sorts. A track that leads to a lane is on the public roadmap; the others stay inside.
no-lane = No lane
lanes-none = No lane yet, so that the roadmap is empty.
track-up = Move { $name } up
track-down = Move { $name } down
track-rename = Rename { $name }
track-delete-named = Delete { $name }
lane-up = Move lane { $name } up
lane-down = Move lane { $name } down
lane-rename = Rename lane { $name }
lane-delete-named = Delete lane { $name }
rename = Rename
delete = Delete
add-track-heading = Add a track
add-track = Add track
add-lane-heading = Add a lane
add-lane = Add lane
field-track-name = Name
field-track-lane = Lane
field-lane-name = Name
track-name-taken = Another track has this name. Choose a different one.
lane-name-taken = Another lane has this name. Choose a different one.
field-lane-name-in = Name on pages in { $name }
lane-name-in-hint = Empty: the name above.
field-lane-kind = Kind
lane-kind-by-name = What its name says
lane-kind-considering = Considering
lane-kind-planned = Planned
lane-kind-started = Started
lane-kind-done = Done
lane-kind-declined = Declined
lane-kind-other = Another
lane-kind-unknown = This kind does not exist. Choose another one.
lane-gone = This lane does not exist any more. Choose another one.
tracks-preview = The public roadmap
tracks-preview-lead = Each lane with its most voted feature requests.
track-title = Track “{ $name }”
track-lane-hint = Where the roadmap shows the feature requests of this track. Nobody gets mail about a change.
lane-title = Lane “{ $name }”
lane-name-hint = Visitors read this name as the status of feature requests.
back-to-tracks = To the tracks
track-delete = Delete track
track-delete-title = Delete the track “{ $name }”?
track-delete-count = { $count ->
    [0] No feature request is on it.
    [one] { $number } feature request is on it and moves to another track.
   *[other] { $number } feature requests are on it and move to another track.
}
track-move-to = Move its feature requests to
track-move-hint = Nobody gets mail about it.
track-target-missing = Merged feature requests are still on this track. Choose where they go.
track-target-gone = This track does not exist any more. Choose another one.
track-delete-last = This is the last track, and every feature request needs one. Add another track first.
lane-delete = Delete lane
lane-delete-title = Delete the lane “{ $name }”?
lane-delete-none = No track leads to it, so that nothing else changes.
lane-delete-tracks = The feature requests of these tracks lose their public status:
lane-delete-stay = They stay in the list of the portal, but are not on the roadmap any more.

# Tags.
tags-lead = Words by which feature requests are found and filtered. What you change here changes on all feature requests that have the tag.
tags-search = Search tags
tags-count = { $count ->
    [one] { $number } tag
   *[other] { $number } tags
}
tags-all = Show all tags
tags-none-title = No tags yet
tags-none-text = Give tags to feature requests in the inbox, or when you edit one. Then they are listed here.
tags-not-found-title = No tag found
tags-not-found-text = Try a shorter part of the name.
tag-requests = Feature requests
tag-rename = Rename { $name }
tag-delete-named = Delete { $name }
tag-rename-title = Rename “{ $name }”
tag-rename-count = { $count ->
    [0] Only merged feature requests have it.
    [one] { $number } feature request has it.
   *[other] { $number } feature requests have it.
}
field-tag_query = Search
field-tag-name = New name
tag-name-hint = If another tag has this name, you are asked whether the two become one.
tag-merge-title = Merge “{ $from }” into “{ $to }”?
tag-merge-text = There is a tag with this name already. The feature requests of “{ $from }” get “{ $to }” instead, and one that has both then has it once. This cannot be undone.
tag-merge = Merge tags
tag-delete-title = Delete the tag “{ $name }”?
tag-delete-count = { $count ->
    [0] Only merged feature requests lose it.
    [one] { $number } feature request loses it.
   *[other] { $number } feature requests lose it.
}
tag-delete-text = The feature requests stay. This cannot be undone.
tag-delete = Delete tag
tag-too-many = More than { $number } feature requests have this tag, which is too many to change at once. Nothing was changed.

# Settings.
field-product_name = Product name
field-website_url = Website
field-synonyms = Words that mean the same
settings-product = Product
settings-product-lead = At the top of every page, and in mail.
settings-website-hint = With https://.
settings-website-invalid = This is not the address of a website. It should look like https://example.com.
settings-look = Look
settings-look-lead = Any colour works. Buttons have this colour. Links and lines are lighter or darker where they could not be read.
settings-accent = Accent colour
settings-accent-default = Use the default colour
settings-accent-invalid = This is not a colour. It should look like #17694f.
settings-show-colours = Show colours
settings-in-light = In light
settings-in-dark = In dark
settings-link = A link
settings-contrast = Button { $button } : 1, link { $link } : 1
settings-logo = Logo
settings-logo-hint = PNG, JPEG, WebP or GIF, up to 256 kB. A square looks best.
settings-logo-now = The logo as it is now
settings-logo-remove = Remove logo
settings-logo-gone = This image cannot be used any more. Please choose it again.
settings-changed-meanwhile = Somebody else has changed this since you opened the page, so nothing is saved yet. The next Save replaces it.
settings-changed-to = Somebody else has changed this since you opened the page, so nothing is saved yet. It is now: { $name }. The next Save replaces it.
settings-access-heading = Access
settings-access-lead = Who reads the portal.
settings-access = Who can see the portal
settings-access-public = Everybody
settings-access-public-hint = Nobody has to sign in to read.
settings-access-private = Signed-in people with certain addresses
settings-access-private-hint = The team, and whoever has an address of one of the mail domains below.
settings-access-off = Only the team
settings-access-off-hint = Everybody else is turned away.
settings-access-missing = Choose who can see the portal.
settings-hidden = With this choice, visitors do not see the portal, and feeds, embedded pages and search engines get nothing.
settings-domains = Mail domains
settings-domains-hint = One on each line, such as example.com. Whoever has such an address can see a portal for signed-in people.
settings-domain-invalid = “{ $name }” is not a mail domain. It should look like example.com.
settings-too-many = These are too many lines. There can be { $number } at most.
settings-indexed = Search engines may list the portal
settings-indexed-hint = Otherwise they are asked to stay away.
settings-embedding = Embedding
settings-embedding-lead = Which websites may show the roadmap and the changelog in a frame.
settings-origins = Embed origins
settings-origins-hint = One on each line, such as https://help.example.com, without a path.
settings-origin-invalid = “{ $name }” is not an origin. It should look like https://help.example.com.
settings-snippet = HTML for your website
settings-snippet-hint = For the changelog, write “changelogs” in place of “roadmap” in the address.
settings-languages-heading = Languages
settings-languages-lead = Of the portal, of this panel and of mail. Each reader gets the own one, if it is offered.
settings-languages = Offered languages
settings-languages-missing = Choose at least one language.
settings-default-language-label = Default language
settings-default-language-hint = For browsers that want none of the offered languages.
settings-default-language = The default language has to be one of the offered ones.
settings-mail-heading = Mail
settings-reply-to = Reply-To
settings-reply-to-hint = Replies to mail of this workspace go to this address. Empty: they go to the sender’s address, which often nobody reads.
settings-reply-to-invalid = This is not an address that replies can be sent to.
settings-time-zone = Time zone
settings-time-zone-hint = Times of these pages, and the time at which you publish.
settings-time-zone-invalid = Choose one of the time zones of the list.
settings-noun = What people submit
settings-noun-hint = What visitors read on all pages. The panel says feature requests.
settings-noun-requests = Feature requests
settings-noun-ideas = Ideas
settings-noun-invalid = Choose one of the two.
settings-times-heading = Times
settings-moderation-heading = Moderation
settings-words-heading = Words of the portal
settings-words-lead = Your own words. Where a field is empty, the portal uses its own.
settings-welcome = Welcome text ({ $name })
settings-welcome-hint = What the roadmap says first. At most 300 characters. Markdown works: **bold**, links.
settings-question = Question of the form ({ $name })
settings-question-hint = What the form for ideas asks. At most 150 characters.
settings-moderation = Ideas and comments of customers wait for approval
settings-moderation-hint = Until then, only the team and the author see them. They wait in the inbox.
settings-search-lead = Your own words for the search of feature requests.
settings-synonyms-hint = One group on each line, with commas between its words: 2fa, two-factor, mfa
settings-synonyms-too-many = These are too many lines. There can be { $number } groups at most.
settings-synonyms-invalid = Line { $number } cannot be used: “{ $name }”. A line has 2 to 8 words or phrases with commas between them. Each has at most 60 characters, a letter or a digit among them, and is nowhere else in the list.
