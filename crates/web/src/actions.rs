//! What people do on pages, from a form to a command.
//!
//! Somebody who is signed in does it at once ([`act`]). A visitor adds an address, and the action is kept with a sign-in
//! ([`keep`]). If it cannot be done, a page shows everything that was typed ([`not_done`]).

use std::net::IpAddr;

use actix_web::ResponseError;
use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{
    Conflict, FieldError, FieldProblem, MailBudget, OverMailLimit, RoadmapError, StoreError, Validated,
};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::SessionId;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::session::{BrowserSecret, Session};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignIn, SignInRequester};
use roadmap_domain::usecase::act_on_page::{ActOnPage, PageActionDone, PageActor, PageOutcome};
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::query::portal::FindVisibleRequest;
use roadmap_domain::usecase::sign_in::{AskForSignIn, StartSignIn};
use roadmap_http::error::{ErrorMessage, HttpError, WORKSPACE_SIGN_INS};
use roadmap_http::limits::PostWeight;
use roadmap_http::observer::SignInStep;

use crate::context::Context;
use crate::cookies::Secret;
use crate::digest;
use crate::form::{Fields, Problems};
use crate::known_browser;
use crate::page::{Nav, Page};
use crate::reply::{self, PageResult, Reply};
use crate::text::Text;

/// The path to which all forms of visitors lead.
pub(crate) const SENT: &str = "/sign-in/sent";

/// The honeypot: a field that people do not see. Programs that fill in all fields fill in this one, too. No password
/// manager and no browser has a value for this name.
pub(crate) const HONEYPOT: &str = "leave_blank";

/// The parameter of [`SENT`] while the workspace has used up its mails: the minutes until it sends all of them again.
pub(crate) const WAIT: &str = "wait";

/// The status under which the path that follows an action is saved. Only successes are.
const SAVED: u16 = 200;

/// Number of characters that always fit into [`SignIn::MAX_ACTION_BYTES`], whatever they are.
const ALWAYS_FITS: usize = 10_000;

/// A part of what somebody typed, which is shown again.
pub(crate) struct UnsavedText {
    /// The ID of the text area.
    pub(crate) id: &'static str,
    pub(crate) label: String,
    pub(crate) text: String,
}

#[derive(Template)]
#[template(path = "portal/not-done.html")]
struct NotDonePage {
    page: Page,
    /// Why it could not be done.
    sentence: String,
    /// Whether the person is signed in now, by the same request.
    is_signed_in: bool,
    texts: Vec<UnsavedText>,
    /// Where to go on.
    next: String,
}

/// Returns a text field with the line breaks that were typed. Browsers send two characters for each.
pub(crate) fn multiline_text(fields: &Fields, name: &str) -> String {
    fields.get(name).replace("\r\n", "\n")
}

/// Adds a problem if the honeypot of a form of visitors was filled in. The form is shown again, because it may have been a
/// person's browser.
pub(crate) fn check_honeypot(context: &Context, fields: &Fields, problems: &mut Problems) {
    if !fields.get(HONEYPOT).is_empty() {
        context.state.http.observer.honeypot_filled();
        problems.add(HONEYPOT, context.text().get("honeypot-filled"));
    }
}

/// Returns the path to which a form leads on: its hidden field `next`.
pub(crate) fn next_path(fields: &Fields) -> Option<LocalPath> {
    LocalPath::parse(fields.get("next"))
}

/// Adds what was done to a path, in place of what was done before.
pub(crate) fn with_done(path: &str, done: &str) -> String {
    let (path, fragment) = path.split_once('#').map_or((path, ""), |(path, fragment)| (path, fragment));
    let path = without_parameter(path, "done");
    let separator = if path.contains('?') { '&' } else { '?' };
    let mark = if fragment.is_empty() { "" } else { "#" };
    format!("{path}{separator}done={done}{mark}{fragment}")
}

/// Returns what was done, by the path of the next page. Empty if the path does not say it.
pub(crate) fn done_of(path: &str) -> String {
    let path = path.split('#').next().unwrap_or_default();
    let query = path.split_once('?').map_or("", |(_, query)| query);
    Fields::parse(query.as_bytes()).get("done").to_owned()
}

/// Removes a parameter from a path without a fragment.
pub(crate) fn without_parameter(path: &str, name: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let is_other = |pair: &&str| !pair.is_empty() && pair.split('=').next() != Some(name);
    let rest: Vec<&str> = query.split('&').filter(is_other).collect();
    if rest.is_empty() { path.to_owned() } else { format!("{path}?{}", rest.join("&")) }
}

/// Returns the path of a feature request.
pub(crate) fn request_path(request: &RequestLink) -> String {
    format!("/feature_requests/{}", request.slug())
}

/// Returns the name of what was done, for the parameter `done`.
pub(crate) const fn done_name(outcome: &PageOutcome) -> &'static str {
    match outcome {
        PageOutcome::Voted => "voted",
        PageOutcome::VoteRemoved => "unvoted",
        PageOutcome::Commented => "commented",
        PageOutcome::CommentHeld => "comment-held",
        PageOutcome::Submitted => "submitted",
        PageOutcome::IdeaHeld => "idea-held",
        PageOutcome::Subscribed => "subscribed",
        PageOutcome::MailResumed => "mail-resumed",
        PageOutcome::MailStopped => "mail-stopped",
        PageOutcome::Unsubscribed => "unsubscribed",
        PageOutcome::GetsNews => "news",
    }
}

/// Returns where to go after an action: to the new feature request, or to `next`.
pub(crate) fn landing(done: &PageActionDone, next: &str) -> String {
    let submitted = done.submitted.as_ref().map(request_path);
    with_done(submitted.as_deref().unwrap_or(next), done_name(&done.outcome))
}

/// Returns how much an action counts towards the limit of posts, as a [`PostWeight`].
pub(crate) const fn weight(action: &PageAction) -> PostWeight {
    match action {
        PageAction::Submit { .. } => PostWeight::Idea,
        PageAction::Comment { .. } => PostWeight::Comment,
        PageAction::Vote(_)
        | PageAction::RemoveVote(_)
        | PageAction::Subscribe(_)
        | PageAction::Unsubscribe(_)
        | PageAction::GetNews => PostWeight::Toggle,
    }
}

/// Returns the operation key of an action that would be done twice if its form was sent twice.
///
/// The key of a form counts only in the session for which the page was made. What was typed is a part of it: whoever
/// goes back and sends another text gets another comment. Votes and subscriptions need no key. They can be repeated, and
/// a saved response would hide that they were undone in between.
fn operation_key(session: SessionId, raw: &str, action: &PageAction) -> Option<OperationKey> {
    let is_own = raw.strip_prefix("web:").and_then(|rest| rest.strip_prefix(&format!("{session}:"))).is_some();
    if !is_own || weight(action) == PostWeight::Toggle {
        return None;
    }
    let digest = digest::short(action.to_json());
    OperationKey::parse(&format!("{raw}:{digest}")).ok().flatten()
}

/// Runs a command to its end, even if the browser disconnects.
///
/// # Errors
/// Those of the command.
pub(crate) async fn execute<O: Operation + 'static>(context: &Context, operation: O) -> Result<O::Output, HttpError>
where
    O::Output: 'static,
{
    let (executor, workspace) = (context.executor(), context.workspace.id);
    let work = async move { executor.run_without_key(workspace, &operation).await };
    context.state.http.detached.run(work).await?.map_err(HttpError::Domain)
}

/// Finds the feature request of the path. One that may not be seen is a missing page.
///
/// # Errors
/// As [`Context::run`].
pub(crate) async fn find_request(context: &Context) -> Result<RequestLink, HttpError> {
    let request = FeatureRequestRef::parse(context.parameter("slug"));
    context.run(&FindVisibleRequest { request, viewer: context.viewer() }).await
}

/// Counts an action towards the limit of posts of a person. The team has no limit.
///
/// # Errors
/// 429 after too many posts.
pub(crate) fn admit(context: &Context, actor: &PageActor, weight: PostWeight) -> Result<(), HttpError> {
    if actor.is_member {
        return Ok(());
    }
    context.state.http.limits.admit_post(context.workspace.id, actor.email.folded(), weight)
}

/// Returns who acts in a session.
pub(crate) fn actor(context: &Context, session: &Session) -> PageActor {
    PageActor { email: session.email.clone(), is_member: session.member.is_some(), language: context.language }
}

/// Does an action of somebody who is signed in. It leads to `next`, or to the new feature request.
pub(crate) async fn act(
    context: &Context,
    session: &Session,
    action: PageAction,
    fields: &Fields,
    next: String,
) -> PageResult {
    let actor = actor(context, session);
    let key = operation_key(session.id, fields.get(OperationKey::FIELD), &action);
    match run(context, &actor, &action, key, next.clone()).await {
        Ok(location) => Ok(Reply::see_other(location)),
        Err(error) if unsaved_texts(context.text(), &action).is_empty() => Err(error),
        Err(error) => Ok(not_done(context, &error, &action, next)),
    }
}

async fn run(
    context: &Context,
    actor: &PageActor,
    action: &PageAction,
    key: Option<OperationKey>,
    next: String,
) -> Result<String, HttpError> {
    admit(context, actor, weight(action))?;
    let operation = ActOnPage::new(actor, action, context.portal.settings.holds_posts)?;
    let (executor, workspace, fallback) = (context.executor(), context.workspace.id, next.clone());
    let render = move |done: PageActionDone| SavedResponse { status: SAVED, body: landing(&done, &next).into_bytes() };
    let work = async move { executor.run(workspace, key.as_ref(), &operation, render).await };
    let done = context.state.http.detached.run(work).await?.map_err(HttpError::Domain)?;
    let location = String::from_utf8(done.response.body).ok().filter(|location| LocalPath::parse(location).is_some());
    Ok(location.unwrap_or(fallback))
}

/// Reads the address of a form of visitors.
///
/// # Errors
/// Adds the problem of the field `email`.
pub(crate) fn read_email(context: &Context, fields: &Fields, problems: &mut Problems) -> Option<EmailAddress> {
    let text = context.text();
    if !fields.has("email") {
        // The page was made for somebody who was signed in then.
        problems.add("email", text.get("session-ended"));
        return None;
    }
    problems.check(EmailAddress::parse("email", fields.get("email")), text)
}

/// Checks an action before it is kept or done.
///
/// # Errors
/// The first invalid field.
pub(crate) fn check(action: &PageAction, is_pending: bool) -> Validated<()> {
    ActOnPage::check(action)?;
    if is_pending && action.to_json().len() > SignIn::MAX_ACTION_BYTES {
        let field = if matches!(action, PageAction::Comment { .. }) { "content" } else { "description" };
        return Err(FieldError::new(field, FieldProblem::TooLong { max: ALWAYS_FITS }));
    }
    Ok(())
}

/// Asks for a sign-in by mail, and keeps an action with it.
pub(crate) async fn keep(
    context: &Context,
    email: EmailAddress,
    action: Option<PageAction>,
    next: Option<LocalPath>,
) -> PageResult {
    let known = Secret::SignIn.read(&context.request, context.is_https());
    let browser = known.map_or_else(|| new_secret(context), Ok)?;
    let is_admitted = context.is_public() || context.portal.settings.admits(email.folded(), false);
    let requester = match known_browser::find(context, &email) {
        Some(id) => SignInRequester::KnownBrowser { id, is_admitted },
        None => SignInRequester::Visitor { is_admitted },
    };
    let start = StartSignIn {
        email,
        browser: Some(browser.digest()),
        browser_name: context.browser_name(),
        action: action.clone(),
        next: next.clone(),
        language: context.language,
    };
    let limited = match requester {
        SignInRequester::Visitor { .. } => {
            client_address(context).and_then(|address| context.state.http.limits.admit_sign_in(address))
        }
        // Neighbours of the same network must not lock anybody out.
        SignInRequester::KnownBrowser { .. } | SignInRequester::Member => Ok(()),
    };
    let started = match limited {
        Ok(()) => execute(context, AskForSignIn { start, requester }).await,
        Err(error) => Err(error),
    };
    let next = next.map_or_else(|| "/".to_owned(), |next| next.as_str().to_owned());
    match (started, action) {
        (Ok(sign_in), _) => {
            let observer = &context.state.http.observer;
            observer.sign_in(SignInStep::Asked);
            if sign_in.used_up_for.is_some() {
                observer.budget_exceeded(WORKSPACE_SIGN_INS);
            }
            Ok(sent(context, &browser, sign_in.used_up_for))
        }
        (Err(error), Some(action)) if !unsaved_texts(context.text(), &action).is_empty() => {
            Ok(not_done(context, &error, &action, next))
        }
        (Err(error), _) => Err(error),
    }
}

/// Leads to the page for the code. It is the same for every address, also while the workspace has used up its mails.
fn sent(context: &Context, browser: &BrowserSecret, used_up_for: Option<u64>) -> Reply {
    let location = match used_up_for {
        Some(seconds) => format!("{SENT}?{WAIT}={}", seconds.div_ceil(60)),
        None => SENT.to_owned(),
    };
    Reply::see_other(location).with_cookie(Secret::SignIn.set(browser, context.is_https()))
}

/// Generates the secret of a cookie.
///
/// # Errors
/// None, because base62 characters are those of a secret.
pub(crate) fn new_secret(context: &Context) -> Result<BrowserSecret, HttpError> {
    let secret = BrowserSecret::parse(&context.state.random.base62(BrowserSecret::LENGTH));
    secret.ok_or_else(|| HttpError::from(StoreError::Fatal("the random source has returned no secret".into())))
}

fn client_address(context: &Context) -> Result<IpAddr, HttpError> {
    let request = &context.request;
    Ok(context.state.http.proxies.origin(request.headers(), request.peer_addr())?.address)
}

/// Returns what was typed for an action.
pub(crate) fn unsaved_texts(text: Text, action: &PageAction) -> Vec<UnsavedText> {
    let part = |id, label, text: &String| UnsavedText { id, label, text: text.clone() };
    let parts = match action {
        PageAction::Comment { content, .. } => vec![part("content", text.get("field-content").into_owned(), content)],
        PageAction::Submit { title, description } => vec![
            part("title", text.get("field-title").into_owned(), title),
            part("description", text.get("field-description").into_owned(), description),
        ],
        PageAction::Vote(_)
        | PageAction::RemoveVote(_)
        | PageAction::Subscribe(_)
        | PageAction::Unsubscribe(_)
        | PageAction::GetNews => Vec::new(),
    };
    parts.into_iter().filter(|part| !part.text.trim().is_empty()).collect()
}

/// Returns the page of an action that could not be done, with everything that was typed.
pub(crate) fn not_done(context: &Context, error: &HttpError, action: &PageAction, next: String) -> Reply {
    not_done_after(context, error, action, next, false)
}

/// Returns the same page after a sign-in that has succeeded nevertheless.
pub(crate) fn not_done_after(
    context: &Context,
    error: &HttpError,
    action: &PageAction,
    next: String,
    is_signed_in: bool,
) -> Reply {
    let text = context.text();
    let sentence = match error {
        HttpError::NotFound | HttpError::Domain(RoadmapError::NotFound(_)) => text.get("not-done-gone").into_owned(),
        HttpError::Domain(RoadmapError::Invalid(invalid)) => text.problem(invalid),
        HttpError::Domain(RoadmapError::OverMailLimit(OverMailLimit { budget: MailBudget::KeptPosts, .. })) => {
            text.get("kept-posts-used-up").into_owned()
        }
        HttpError::Domain(RoadmapError::Conflict(Conflict::NotEditable)) => text.get("done-not-editable").into_owned(),
        HttpError::Domain(RoadmapError::Conflict(Conflict::ChangedMeanwhile)) => text.get("own-changed").into_owned(),
        error if error.status_code() == StatusCode::TOO_MANY_REQUESTS => text.too_many(error.retry_after()),
        _ => text.get("unavailable-text").into_owned(),
    };
    let page = Page::new(context, Nav::Other, text.get("not-done-title")).not_indexed();
    let page = Page { notice: None, here: next.clone(), ..page };
    let template = NotDonePage { page, sentence, is_signed_in, texts: unsaved_texts(text, action), next };
    // Rendering to memory cannot fail.
    let html = template.render().unwrap_or_default();
    let mut response = error.error_response();
    // This page stands in for the message, which nobody else may render.
    response.extensions_mut().remove::<ErrorMessage>();
    Reply::other(reply::error_response(&context.request, response, html))
}

/// Returns the page for somebody who has to sign in before a form can be accepted, with everything that was typed. `None`
/// if nothing was typed.
pub(crate) fn signed_out(context: &Context, fields: &Fields) -> Option<Reply> {
    let text = context.text();
    let label = |id| text.get(&format!("field-{id}")).into_owned();
    let part = |id| UnsavedText { id, label: label(id), text: multiline_text(fields, id) };
    let parts = ["content", "title", "description", "note", "vote_note"].map(part).into_iter();
    let texts: Vec<UnsavedText> = parts.filter(|part| !part.text.trim().is_empty()).collect();
    if texts.is_empty() {
        return None;
    }
    let page = Page::new(context, Nav::Other, text.get("not-done-title")).not_indexed();
    let (page, next) = (Page { here: "/".to_owned(), ..page }, "/sign-in?next=%2F".to_owned());
    let sentence = text.get("not-done-signed-out").into_owned();
    let template = NotDonePage { page, sentence, is_signed_in: false, texts, next };
    Some(Reply::page_with(StatusCode::UNPROCESSABLE_ENTITY, &template).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::FeatureRequestId;
    use uuid::Uuid;

    fn fields(encoded: &str) -> Fields {
        Fields::parse(encoded.as_bytes())
    }

    fn comment(content: &str) -> PageAction {
        PageAction::Comment { request: FeatureRequestId::new(Uuid::from_u128(7)), content: content.to_owned() }
    }

    #[test]
    fn what_was_done_replaces_what_was_done_before() {
        for (path, expected) in [
            ("/", "/?done=voted"),
            ("/feature_requests?query=a%26b&page=2", "/feature_requests?query=a%26b&page=2&done=voted"),
            ("/feature_requests?done=unvoted&page=2", "/feature_requests?page=2&done=voted"),
            ("/feature_requests?done=unvoted", "/feature_requests?done=voted"),
            ("/account?#votes", "/account?done=voted#votes"),
            ("/x?undone=1&done", "/x?undone=1&done=voted"),
        ] {
            assert_eq!(with_done(path, "voted"), expected);
            assert_eq!(done_of(expected), "voted");
            assert!(LocalPath::parse(expected).is_some());
        }
    }

    #[test]
    fn forms_lead_to_local_paths_only() {
        for (form, expected) in [
            ("next=%2Ffeature_requests%3Fpage%3D2", Some("/feature_requests?page=2")),
            ("next=%2F%2Fevil.example", None),
            ("next=https%3A%2F%2Fevil.example", None),
            ("next=%2F%5Cevil.example", None),
            ("next=%2Fa%0D%0ASet-Cookie%3A+a%3Db", None),
            ("", None),
        ] {
            assert_eq!(next_path(&fields(form)).as_ref().map(LocalPath::as_str), expected, "{form}");
        }
    }

    #[test]
    fn a_key_is_that_of_the_own_session_and_of_what_was_typed() {
        let (own, other) = (SessionId::new(Uuid::from_u128(1)), SessionId::new(Uuid::from_u128(2)));
        let raw = format!("web:{own}:{}", Uuid::from_u128(3));
        let key = operation_key(own, &raw, &comment("Yes")).unwrap();
        assert!(key.as_str().starts_with(&raw), "{key:?}");
        assert_eq!(operation_key(own, &raw, &comment("Yes")), Some(key.clone()));
        assert_ne!(operation_key(own, &raw, &comment("No")), Some(key));
        for (session, raw) in [
            (other, raw.clone()),
            (own, format!("api:{own}:1")),
            (own, format!("web:{own}")),
            (own, String::new()),
            (own, format!("web:{own}:{}", "a".repeat(255))),
        ] {
            assert_eq!(operation_key(session, &raw, &comment("Yes")), None, "{raw}");
        }
        // These can be repeated.
        let request = FeatureRequestId::new(Uuid::from_u128(7));
        for action in [PageAction::Vote(request), PageAction::RemoveVote(request), PageAction::Subscribe(request)] {
            assert_eq!(operation_key(own, &raw, &action), None);
        }
    }

    #[test]
    fn line_breaks_count_once() {
        assert_eq!(multiline_text(&fields("content=a%0D%0Ab%0Ac"), "content"), "a\nb\nc");
    }

    #[test]
    fn an_action_that_is_kept_is_bounded_in_bytes() {
        let wide = comment(&"\u{1f600}".repeat(19_000));
        assert_eq!(check(&wide, false), Ok(()));
        let error = check(&wide, true).unwrap_err();
        assert_eq!((error.field.as_str(), error.problem), ("content", FieldProblem::TooLong { max: ALWAYS_FITS }));
        // The widest characters in JSON have six bytes.
        let widest = format!("{}a", "\u{1}".repeat(ALWAYS_FITS - 1));
        assert_eq!(check(&comment(&widest), true), Ok(()));
        assert_eq!(check(&comment(" "), true), Err(FieldError::missing("content")));
    }

    #[test]
    fn an_idea_leads_to_its_page() {
        let title = roadmap_domain::model::feature_request::Title::parse("title", "Dark mode").unwrap();
        let id = FeatureRequestId::new(Uuid::from_u128(7));
        let mut done = PageActionDone {
            outcome: PageOutcome::IdeaHeld,
            request: Some(id),
            submitted: Some(RequestLink { id, tag_number: 7, title }),
        };
        assert_eq!(landing(&done, "/account"), "/feature_requests/7-dark-mode?done=idea-held");
        done = PageActionDone { outcome: PageOutcome::Voted, submitted: None, ..done };
        assert_eq!(landing(&done, "/account"), "/account?done=voted");
    }
}
