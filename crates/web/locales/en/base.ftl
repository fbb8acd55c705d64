# The frame of all pages, problems of forms, and error pages.
skip-to-content = Skip to content
request-failed = That did not reach us. Please try again.
nav-main = Main
nav-roadmap = Roadmap
nav-requests = Feature requests
    .ideas = Ideas
nav-changelog = Changelog
nav-account = Your account
nav-sign-in = Sign in
sign-out = Sign out
theme = Theme
theme-system = As the system
theme-light = Light
theme-dark = Dark
# Other words than on the account page, where both forms are.
shown-in = Language
apply-preferences = Save
back-to-roadmap = To the roadmap

field-email = E-mail address
field-title = Title
field-description = Description
field-content = Comment
field-name = Name
field-language = Language
field-code = Code

error-title = Error: { $name }
error-prefix = Error:
problem-heading = There is a problem
problem-missing = { $field } is missing. Please fill it in.
problem-too-long = { $field } is too long. It can have { $max } characters at most.
problem-email = This is not an e-mail address. It should look like name@example.com.
problem-markup = { $field } has too much formatting. Please simplify it.
problem-invalid = { $field } has characters or a form that cannot be stored.

date = { $day } { $month } { $year }
date-short = { $day } { $month }
date-time = { $date }, { $time }
month-1 = January
month-2 = February
month-3 = March
month-4 = April
month-5 = May
month-6 = June
month-7 = July
month-8 = August
month-9 = September
month-10 = October
month-11 = November
month-12 = December
month-short-1 = Jan
month-short-2 = Feb
month-short-3 = Mar
month-short-4 = Apr
month-short-5 = May
month-short-6 = Jun
month-short-7 = Jul
month-short-8 = Aug
month-short-9 = Sep
month-short-10 = Oct
month-short-11 = Nov
month-short-12 = Dec

not-found-title = This page does not exist
not-found-text = The address may have a typing error, or what was here has been removed.
no-workspace-title = There is no workspace yet
no-workspace-text = The service runs. Whoever operates it creates the first workspace with these commands. The second one prints a link to the admin panel.
forbidden-title = You cannot see this page
forbidden-text = You are signed in with an address that has no access here. Sign out and use another address, or ask the team.
origin-title = This form came from somewhere else
origin-text = Your browser says that another site has sent this form, so nothing was changed. Open the page again and try once more. If it happens again, the address of the service is configured wrongly: its operator can run “roadmap doctor”.
too-many-title = That was a lot at once
too-many-text = To keep out spam, there are limits. Please wait a few minutes and try again.
long-address-title = This address is too long
long-address-text = No page has an address as long as this one. Please shorten what comes after the question mark.
too-many-minutes = { $count ->
    [one] To keep out spam, there are limits. Please try again in a minute.
   *[other] To keep out spam, there are limits. Please try again in { $number } minutes.
}
too-many-hours = { $count ->
    [one] To keep out spam, there are limits. Please try again in an hour.
   *[other] To keep out spam, there are limits. Please try again in { $number } hours.
}
too-large-title = This is too long
too-large-text = What you sent is larger than a form can be. Please go back and shorten it.
unavailable-title = Something does not work
unavailable-text = It is our fault, not yours. Please try again in a minute.
bad-request-title = This did not work
bad-request-text = Your browser sent something that could not be understood. Please go back and try again.
