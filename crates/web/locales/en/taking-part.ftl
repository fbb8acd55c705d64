# Votes, comments, ideas, sign-in and the account.
email-hint = We send a link to confirm that it is you. Your address is shown to nobody but the team.
honeypot-label = Leave this field empty
honeypot-filled = Please leave this field empty. It is there to find programs that fill in forms, and your browser may have filled it in.
send-code = Send me a code
save = Save
go-on = Continue
session-ended = You are not signed in any more. Enter your address, and nothing that you typed is lost.

back-to-request = To the feature request
    .ideas = To the idea
ask-vote = To count your vote, we need your address. We send you a mail, and your vote counts when you confirm it there.
ask-remove-vote = To remove your vote, confirm your address. We send you a mail, and the vote is removed when you confirm it there.
ask-follow = To follow this, tell us your address. We send you a mail, and you follow it when you confirm it there.
ask-unfollow = To follow this no more, confirm your address. We send you a mail.
ask-news = To get mail about news, confirm your address. We send you a link.
get-news = Get mail about news
news-lead = Each changelog of { $name } by mail. A link in each mail stops them.
news-on = You get mail about news already.

idea-title = Submit an idea
idea-lead = What should be possible that is not possible today? One idea at a time, please.
idea-step-title = 1. Title
idea-step-rest = 2. Details
title-hint = In a few words, as you would say it to a friend.
continue = Continue
look-again = Look again
look-again-hint = Change it and look again for similar ones. What you have typed below stays.
similar-lead = If one of these is what you mean, your vote there counts for more than a second copy.
similar-none = We found nothing alike.
idea-rest = Tell us more
idea-rest-similar = None of these? Tell us more
description-hint = What are you trying to do, and what stops you today? Optional. Markdown works: **bold**, lists, links. Everybody can read it.
submit-idea = Submit idea

sign-in = Sign in
sign-in-lead = No password. We send you a link that works once, for 15 minutes.
sign-in-hint = Signing in for the first time makes your account. Your address is shown to nobody but the team.
link-known-title = You are signed in already
link-known-lead = This link was used before, or it is too old. You do not need it: you are signed in as { $name }.
link-known-go-on = Go on
cookies-needed = You are not signed in: your browser has not accepted the cookie of this site. Please allow cookies here, and sign in again.
link-gone-title = This link does not work any more
link-gone-lead = It was used already, is older than 15 minutes, or is incomplete. We send you a new one.
link-late-title = This link is too old
link-late-lead = It was valid for 15 minutes. Nothing is lost: we send a new mail to
link-late-kept = The new mail carries this along:
link-late-send = Send a new mail
sent-lead = We have sent you a mail. Open its link within 15 minutes, on any device.
sent-to = We wrote to
sent-change = change
sent-link = Or open the link of the mail within 15 minutes, on any device.
sent-code = Type the code of the mail here, in this browser, to sign in.
code-to-vote = Type the code of the mail here to vote for “{ $name }”.
code-to-remove-vote = Type the code of the mail here to remove your vote for “{ $name }”.
code-to-comment = Type the code of the mail here to post your comment on “{ $name }”.
code-to-submit = Type the code of the mail here to submit your idea “{ $name }”.
code-to-follow = Type the code of the mail here to follow “{ $name }”.
code-to-unfollow = Type the code of the mail here to follow “{ $name }” no more.
code-to-get-news = Type the code of the mail here to get mail about news.
sent-nothing = No mail after a few minutes? Look into the folder for spam, or
sent-again = send it again
sent-used-up = { $count ->
    [one] So many sign-ins are being asked for that some mails are not sent. People who have signed in here before get theirs. If none arrives, ask for a new one in a minute.
   *[other] So many sign-ins are being asked for that some mails are not sent. People who have signed in here before get theirs. If none arrives, ask for a new one in { $number } minutes.
}
code-hint = 8 characters. Capital or small letters, with or without spaces.
code-missing = Code is missing. Please type the code of the mail.
code-elsewhere = This code works only in the browser in which it was asked for, for 15 minutes. Open the link of the mail instead, or ask for a new one.
code-expired = This code cannot be used any more. Please ask for a new mail.
code-too-many = Those were too many tries. Please open the link of the mail, or ask for a new one.
code-wrong = This code is not right. Please compare it with the latest mail.
link-as = You sign in as
link-asked = Asked for on { $date } ({ $zone }).
link-asked-from = Asked for on { $date } ({ $zone }), from { $browser }.
pending-vote = You also voted for this feature request. The vote counts only if you say so:
    .ideas = You also voted for this idea. The vote counts only if you say so:
pending-remove-vote = You also removed your vote for this feature request. It is removed only if you say so:
    .ideas = You also removed your vote for this idea. It is removed only if you say so:
pending-comment = You also wrote this comment. It is posted only if you say so:
pending-submit = You also wrote down this idea. It is submitted only if you say so:
pending-follow = You also chose to follow this feature request. You get mail only if you say so:
    .ideas = You also chose to follow this idea. You get mail only if you say so:
pending-news = You also asked for mail about all news. You get it only if you say so:
pending-unfollow = You also chose to follow this feature request no more. Mail ends only if you say so:
    .ideas = You also chose to follow this idea no more. Mail ends only if you say so:
sign-in-and-vote = Sign in and vote
sign-in-and-remove-vote = Sign in and remove vote
sign-in-and-post = Sign in and post
sign-in-and-submit = Sign in and submit
sign-in-and-follow = Sign in and follow
sign-in-and-get-news = Sign in and get news
sign-in-and-unfollow = Sign in and unfollow
only-sign-in = Only sign in
not-me = This was not me
not-me-hint = “This was not me” makes the link useless. Nothing is done in your name.

not-done-title = This could not be done
not-done-gone = The feature request does not exist any more, or cannot be seen with this address.
    .ideas = The idea does not exist any more, or cannot be seen with this address.
not-done-signed-out = You are not signed in any more. Sign in, and then send it once more.
not-done-signed-in = You are signed in.
not-done-typed = This is what you typed. Nothing of it is stored, so copy it if you still need it.
kept-posts-used-up = Too many posts wait for a confirmation at the moment. Please sign in first, and then send this once more.

account-title = Your account
account-admin = You are an admin of the team, as { $name }.
account-member = You are a member of the team, as { $name }.
account-you = About you
name-hint = It is public, beside what you post. Without a name, you are shown as “Customer”.
account-name-held = Your name is beside posts that the team has approved. Ask the team to change it.
account-name-link = A name without a link, please.
language-hint = Of these pages and of mail to you.
language-browser = As the browser
account-followed = What you follow and voted for
account-none-followed = You neither follow nor voted for anything yet.
account-all-votes = All feature requests that you voted for
    .ideas = All ideas that you voted for
account-ideas = Your ideas
account-no-ideas = You have not submitted an idea yet.
account-all-ideas = All your ideas
account-sessions = Where you are signed in
browser-unknown = Unknown browser
session-this = This browser
session-since = Since
session-seen = Last used
session-end = End
sign-out-everywhere = Sign out everywhere

done-voted = Your vote counts. Thank you.
done-unvoted = Your vote is removed.
done-commented = Your comment is posted.
done-comment-held = Thank you. Your comment is shown when the team has approved it.
done-submitted = Thank you for your idea. It has your vote already.
done-idea-held = Thank you for your idea. It is shown when the team has approved it.
done-subscribed = You follow this now. We write to you when the team answers or the status changes.
done-mail-resumed = You follow this now. You had stopped mail from us: it is on again.
done-mail-stopped = We send no mail to this address, so you get none about this either.
done-mail-saved = Your mail settings were saved.
done-news = You get a mail about each changelog from now on.
done-unsubscribed = You do not follow this any more, and get no more mail about it.
done-signed-in = You are signed in.
done-signed-out = You are signed out.
done-signed-out-everywhere = You are signed out in all browsers.
done-session-ended = You are signed out in that browser.
done-denied = The link does not work any more. Nothing was done in your name.
done-saved = Your account is saved.
done-approved = It is approved and public.
done-discarded = The comment is deleted.

# Mail
stop-mail-title = Stop mail
stop-mail-hint = Nothing changes until you press a button. Mail to sign in comes only when you ask for it.
stop-request = Stop mail about this feature request
    .ideas = Stop mail about this idea
stop-changelogs = Stop mail about changelogs
stop-news = Stop mail about news
stop-all = Stop all mail
stopped-request = You get no more mail about “{ $name }”.
stopped-this = You get no more mail about this feature request.
    .ideas = You get no more mail about this idea.
stopped-changelogs = You get no more mail about changelogs.
stopped-news = You get no more mail about news.
stopped-all = You get no more mail from us. Mail to sign in still comes when you ask for it.
all-mail-settings = All mail settings
mail-settings-title = Mail settings
account-mail = Mail
mail-requests = Answers and status of what I follow
mail-changelogs = Changelogs about it
mail-news = All news
mail-settings-hint = You follow what you voted for, unless you chose otherwise.
team-mail = Mail for the team
team-mail-each = Each new request and reply
team-mail-each-hint = Within minutes. What comes in quick succession comes in one mail.
team-mail-answered = Replies to what I answered
team-mail-answered-hint = Comments of customers where you have commented, also over the API.
team-mail-daily = Daily digest
team-mail-daily-hint = At 8:00 ({ $name }). Nothing comes if nothing happened.
team-mail-nothing = Nothing
stop-team-mail = Stop mail for the team
stopped-team = You get no more mail about what customers write.
save-mail-settings = Save mail settings

# The name of somebody who takes part.
you = You
ask-name = How shall we call you?
ask-name-hint = Optional. Your name stands beside what you write. You can change it in your account.
save-name = Save name
done-named = Thank you. Your name is saved.

# What somebody has written.
edit-own = Edit
delete-own = Delete
own-comment = your comment, { $name }
own-idea = your idea
edit-comment-title = Edit your comment
edit-idea-title = Edit your idea
edit-own-hint = You can edit it for 15 minutes, as long as the team has not answered.
save-own = Save
delete-comment-title = Delete your comment?
delete-comment-text = It is removed for everybody. This cannot be undone.
delete-comment = Delete comment
delete-idea-title = Delete your idea?
delete-idea-text = “{ $name }” is removed, with your vote and your comments on it. This cannot be undone.
delete-idea = Delete idea
remove-idea-title = Remove your name and your text?
remove-idea-text = Others take part in “{ $name }”. So it stays, with its title, its votes and its comments. Your name and your description are removed from it. This cannot be undone.
remove-idea-rest = Your own vote and comments stay until you remove them.
remove-idea = Remove my name and text
own-changed = It was changed meanwhile. Open it again to see how it is now, and add your changes there.
done-own-saved = Your changes are saved.
done-own-comment-deleted = Your comment is deleted.
done-own-idea-deleted = Your idea is deleted.
done-own-idea-removed = Your name and your text are removed from it.
done-not-editable = It cannot be edited any more: 15 minutes have passed, or the team has answered or approved it. You can still delete it.

# The toolbar of a text area for Markdown.
formatting = Formatting
tool-bold = Bold
tool-list = List
tool-link = Link
tool-picture = Picture

# A picture of a text.
add-picture = Add picture
picture-hint = JPEG, PNG, WebP or GIF, up to 5 MB. Hidden data such as the place are removed.
picture-dropping = You can also paste or drop it into the text.
picture-sending = Adding the picture …
picture-added = The picture is in the text.
picture-failed = The picture could not be added. Try again.
pictures-linked = { $count ->
    [one] A picture of another site became a link. To show it, download it and use “Add picture”.
   *[other] { $number } pictures of other sites became links. To show them, download them and use “Add picture”.
}
problem-picture-large = This picture is too large. It may have at most 5 MB.
problem-picture-unreadable = This is not a picture that can be read. Choose a JPEG, PNG, WebP or GIF file.
problem-picture-pixels = This picture has too many pixels. At most 40 megapixels are possible.
problem-picture-animated = An animated WebP cannot be shown. Use a GIF.
problem-picture-busy = Many pictures are being added right now. Try again in a moment.
problem-picture-day = You can add 30 MB of pictures in a day, and this one does not fit any more. Your text is not lost.
problem-picture-share = There is no more space for pictures of customers here. Post without it.
problem-picture-rate = You are adding many pictures. Wait a while before you add the next one.
problem-picture-gone = A picture of your text does not exist any more. Add it again, or remove it from the text.
problem-pictures-post = A text can have at most 3 pictures.
problem-pictures-changelog = A changelog can have at most 20 pictures.

# Everything that is stored about somebody.
account-data = Your data
account-data-hint = Download what is stored about you, as a JSON file, or delete your account.
download-my-data = Download my data
delete-me = Delete me
delete-me-title = Delete your account?
delete-me-lead = Your name and your address are deleted, with your settings, what you follow, and what waits for approval. You are signed out everywhere.
delete-me-votes = { $count ->
    [one] Your vote stays, without your name.
   *[other] Your { $number } votes stay, without your name.
}
delete-me-final = This cannot be undone. Backups hold your data until they are deleted.
delete-me-texts = Your ideas and comments
keep-texts = Keep texts
remove-texts = Remove texts
delete-me-keep-texts = They stay, without your name beside them.
delete-me-remove-texts = Your comments are deleted, and so are ideas in which nobody else took part. Other ideas lose title and description.
done-account-deleted = Your account is deleted, and you are signed out.
