//! Sign-in by mail, and sign-out.
//!
//! Somebody asks for a mail (`ask`, `start`), and opens its link (`confirm`, `redeem_link`) or types its code in the
//! browser that asked (`sent`, `redeem_code`). A GET never uses a link, because scanners of mail open them.

use std::rc::Rc;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, LOCATION, REFERRER_POLICY};
use askama::Template;
use fluent_bundle::FluentValue;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::feature_request::{FeatureRequestRef, Title};
use roadmap_domain::model::id::{FeatureRequestId, SignInId};
use roadmap_domain::model::markdown;
use roadmap_domain::model::portal::Viewer;
use roadmap_domain::model::session::{BrowserName, BrowserSecret, Session};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, PendingAction, SignIn};
use roadmap_domain::policy::signed_reference::Purpose;
use roadmap_domain::usecase::act_on_page::{ActOnPage, PageActor};
use roadmap_domain::usecase::query::portal::{
    FindSession, FindSignIn, FindSignInOfBrowser, FindVisibleRequest, SignInDetail,
};
use roadmap_domain::usecase::sign_in::{CountCode, DiscardSignIn, EndSession, RedeemSignIn, SignInRedeemed};
use roadmap_http::error::HttpError;
use roadmap_http::observer::SignInStep;

use crate::actions::{
    SENT, WAIT, admit, execute, keep, landing, new_secret, next_path, not_done, not_done_after, read_email,
    request_path, weight, with_done,
};
use crate::context::{Context, Entrance};
use crate::cookies::Secret;
use crate::form::{Fields, Problems};
use crate::known_browser;
use crate::page::{Nav, Page};
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// The path of the form for the address.
const PATH: &str = "/sign-in";

/// The form for the address.
#[derive(Template)]
#[template(path = "portal/sign-in.html")]
struct AskPage {
    page: Page,
    lead: String,
    next: String,
    /// Whether another mail is asked for, with what was kept with the one before.
    keeps_action: bool,
    email: String,
    problems: Problems,
}

/// The field of the form that asks for another mail.
const AGAIN: &str = "again";

/// The form for the code of a mail.
#[derive(Template)]
#[template(path = "portal/sign-in-sent.html")]
struct SentPage {
    page: Page,
    /// The address that this browser has asked for.
    email: Option<String>,
    /// What the code does.
    code_lead: String,
    /// The words of the button that does it.
    act: String,
    /// The sentence about the mails of the workspace that are used up.
    used_up: Option<String>,
    code: String,
    problems: Problems,
}

/// The page of a link or a code that came too late: what was kept with it, and a button that asks for a new mail.
#[derive(Template)]
#[template(path = "portal/sign-in-late.html")]
struct LatePage {
    page: Page,
    /// The path of the form.
    action: String,
    email: String,
    pending: Option<Pending>,
}

/// The page of a link.
#[derive(Template)]
#[template(path = "portal/sign-in-link.html")]
struct LinkPage {
    page: Page,
    /// The path of the form.
    action: String,
    email: String,
    /// When it was asked for, and from which browser.
    origin_sentence: String,
    pending: Option<Pending>,
}

/// The page of a link that cannot be used, for somebody who does not need it.
#[derive(Template)]
#[template(path = "portal/sign-in-known.html")]
struct KnownPage {
    page: Page,
    lead: String,
}

/// A kept action in full.
struct Pending {
    /// What it does.
    lead: String,
    /// The title of the feature request or of the idea.
    title: Option<String>,
    /// The path of the feature request.
    path: Option<String>,
    /// The text as HTML. It may be empty.
    html: String,
    /// The button that does it. Empty if it cannot be done any more.
    act: String,
}

/// `GET /sign-in`: asks for the address, or shows the one that this browser has asked for.
pub(crate) async fn ask(context: Rc<Context>) -> PageResult {
    let email = pending_email(&context).await?;
    Ok(ask_page(&context, &context.query, email, Problems::default()).private())
}

/// `POST /sign-in`: sends the mail.
pub(crate) async fn start(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut problems = Problems::default();
    let Some(email) = read_email(&context, &fields, &mut problems) else {
        return Ok(ask_page(&context, &fields, fields.get("email").to_owned(), problems));
    };
    let (action, next) = if fields.has(AGAIN) { load_pending_action(&context).await? } else { (None, None) };
    keep(&context, email, action, next_path(&fields).or(next)).await
}

/// Returns what was kept with the sign-in that this browser has asked for before, so that another mail does not lose it.
async fn load_pending_action(context: &Context) -> Result<(Option<PageAction>, Option<LocalPath>), HttpError> {
    let sign_in = pending_sign_in(context).await?;
    Ok(sign_in.map(|sign_in| (sign_in.action, sign_in.next)).unwrap_or_default())
}

/// Returns the address for which this browser has asked for a mail, so that nobody types it twice. Otherwise it is empty.
///
/// # Errors
/// As [`Context::run`].
pub(crate) async fn pending_email(context: &Context) -> Result<String, HttpError> {
    let sign_in = pending_sign_in(context).await?;
    Ok(sign_in.map(|sign_in| sign_in.email.as_str().to_owned()).unwrap_or_default())
}

/// Returns the latest sign-in that this browser has asked for, if it can be used or renewed. There is one for every address,
/// whether it gets mail or not.
async fn pending_sign_in(context: &Context) -> Result<Option<SignIn>, HttpError> {
    let Some(browser) = Secret::SignIn.read(&context.request, context.is_https()) else { return Ok(None) };
    match context.run(&FindSignInOfBrowser { browser: browser.digest() }).await {
        Ok(SignInDetail { sign_in, .. }) => Ok(Some(sign_in)),
        Err(HttpError::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Shows the form as it was filled in: 422 if it has problems.
fn ask_page(context: &Context, fields: &Fields, email: String, problems: Problems) -> Reply {
    let text = context.text();
    let next = next_path(fields);
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let mut page = sign_in_frame(context, text.get("sign-in").into_owned()).with_problem(!problems.is_empty());
    // The page to which a sign-in led has asked for another one.
    let is_after_sign_in = next.as_ref().is_some_and(|next| next.as_str().ends_with("done=signed-in"));
    if is_after_sign_in && context.session.is_none() {
        page.notice = Some(text.get("cookies-needed").into_owned());
    }
    let template = AskPage {
        page,
        lead: text.get("sign-in-lead").into_owned(),
        next: next.as_ref().map(LocalPath::as_str).unwrap_or_default().to_owned(),
        keeps_action: fields.has(AGAIN),
        email,
        problems,
    };
    Reply::page_with(status, &template).not_indexed()
}

/// Returns the frame of a page of the sign-in. Its own path would lead nowhere after a choice in the footer.
fn sign_in_frame(context: &Context, title: String) -> Page {
    Page { here: PATH.to_owned(), ..Page::new(context, Nav::Account, title).not_indexed() }
}

/// Returns the page of a link that cannot be used, which offers a new one. Who is signed in does not need it, and goes on.
fn gone_page(context: &Context) -> Reply {
    context.state.http.observer.sign_in(SignInStep::Refused);
    let text = context.text();
    if let Some(session) = context.session.as_deref() {
        let page = Page { notice: None, ..sign_in_frame(context, text.get("link-known-title").into_owned()) };
        let lead = text.named("link-known-lead", session.email.as_str());
        return Reply::page_with(StatusCode::NOT_FOUND, &KnownPage { page, lead }).not_indexed();
    }
    let page = Page { notice: None, ..sign_in_frame(context, text.get("link-gone-title").into_owned()) };
    let template = AskPage {
        page,
        lead: text.get("link-gone-lead").into_owned(),
        next: String::new(),
        keeps_action: false,
        email: String::new(),
        problems: Problems::default(),
    };
    Reply::page_with(StatusCode::NOT_FOUND, &template).not_indexed()
}

/// Returns the page of a link or a code that came too late. Its person asked for it, so that a new mail carries on.
fn late_page(context: &Context, detail: &SignInDetail, path: String) -> Reply {
    context.state.http.observer.sign_in(SignInStep::Refused);
    let text = context.text();
    let page = sign_in_frame(context, text.get("link-late-title").into_owned());
    let pending = detail.pending.as_ref();
    let template = LatePage {
        page: Page { notice: None, ..page },
        action: path,
        email: detail.sign_in.email.as_str().to_owned(),
        pending: pending.map(|pending| Pending::new(text, pending, is_possible(context, detail, pending))),
    };
    Reply::page_with(StatusCode::NOT_FOUND, &template).not_indexed().private()
}

/// Asks for a new mail for a sign-in that came too late, with what was kept with it.
async fn renew(context: &Context, detail: SignInDetail) -> PageResult {
    let SignIn { email, action, next, .. } = detail.sign_in;
    keep(context, email, action, next).await
}

/// `GET /sign-in/sent`: the same for every address, which it names.
pub(crate) async fn sent(context: Rc<Context>) -> PageResult {
    sent_page(&context, String::new(), Problems::default()).await
}

async fn sent_page(context: &Context, code: String, problems: Problems) -> PageResult {
    let sign_in = pending_sign_in(context).await?;
    let (code_lead, act) = code_words(context, sign_in.as_ref().and_then(|sign_in| sign_in.action.as_ref())).await?;
    let page = sign_in_frame(context, context.text().get("sign-in").into_owned()).with_problem(!problems.is_empty());
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let page = Page { here: SENT.to_owned(), ..page };
    // Anybody can write this parameter, but only as a number.
    let wait = context.query.get(WAIT).parse::<u64>().ok().filter(|minutes| (1..=60).contains(minutes));
    let used_up = wait.map(|minutes| context.text().count("sent-used-up", minutes));
    let email = sign_in.map(|sign_in| sign_in.email.as_str().to_owned());
    let template = SentPage { page, email, code_lead, act, used_up, code, problems };
    Ok(Reply::page_with(status, &template).not_indexed().private())
}

/// Returns what a code does, and the words of its button. Only the title of what everybody may see here is named: whoever
/// typed the address may be anybody.
async fn code_words(context: &Context, action: Option<&PageAction>) -> Result<(String, String), HttpError> {
    let text = context.text();
    let title = match action.and_then(PageAction::request) {
        Some(request) if context.entrance() == Entrance::Open => {
            let request = FeatureRequestRef::Id(request);
            match context.run(&FindVisibleRequest { request, viewer: Viewer::default() }).await {
                Ok(request) => Some(request.title.as_str().to_owned()),
                Err(HttpError::NotFound) => None,
                Err(error) => return Err(error),
            }
        }
        _ => None,
    };
    let (lead, act, title) = match (action, title) {
        (Some(PageAction::Vote(_)), Some(title)) => ("code-to-vote", "vote", title),
        (Some(PageAction::RemoveVote(_)), Some(title)) => ("code-to-remove-vote", "remove-vote", title),
        (Some(PageAction::Comment { .. }), Some(title)) => ("code-to-comment", "post-comment", title),
        (Some(PageAction::Subscribe(_)), Some(title)) => ("code-to-follow", "follow", title),
        (Some(PageAction::Unsubscribe(_)), Some(title)) => ("code-to-unfollow", "unfollow", title),
        (Some(PageAction::Submit { title, .. }), _) => ("code-to-submit", "submit-idea", title.clone()),
        (Some(PageAction::GetNews), _) => ("code-to-get-news", "get-news", String::new()),
        _ => ("sent-code", "sign-in", String::new()),
    };
    Ok((text.named(lead, &title), text.get(act).into_owned()))
}

/// `POST /sign-in/sent`: signs in with the code that was typed in the browser that asked, and does the kept action at
/// once. Whoever types it there knows what they have written. After the code has expired, `choice=renew` asks for a new
/// mail.
pub(crate) async fn redeem_code(context: Rc<Context>, fields: Fields) -> PageResult {
    let code = fields.get("code");
    let detail = match find_of_browser(&context).await {
        Ok(detail) if !detail.is_open => {
            return match fields.get("choice") {
                "renew" => renew(&context, detail).await,
                _ => Ok(late_page(&context, &detail, SENT.to_owned())),
            };
        }
        Ok(detail) => find_by_code(&context, detail, code).await,
        Err(error) => Err(error),
    };
    match detail {
        Ok(detail) => redeem(&context, detail, true).await,
        Err(CodeError::Failed(error)) => Err(error),
        Err(CodeError::Refused(problem)) => {
            context.state.http.observer.sign_in(SignInStep::Refused);
            let mut problems = Problems::default();
            problems.add("code", context.text().get(problem));
            sent_page(&context, code.to_owned(), problems).await
        }
    }
}

/// Why a code was not accepted.
enum CodeError {
    /// The key of the sentence about it.
    Refused(&'static str),
    /// It could not be checked.
    Failed(HttpError),
}

impl From<HttpError> for CodeError {
    fn from(error: HttpError) -> Self {
        Self::Failed(error)
    }
}

/// Finds the latest sign-in of this browser.
async fn find_of_browser(context: &Context) -> Result<SignInDetail, CodeError> {
    let browser = Secret::SignIn.read(&context.request, context.is_https());
    let browser = browser.ok_or(CodeError::Refused("code-elsewhere"))?.digest();
    match context.run(&FindSignInOfBrowser { browser }).await {
        Err(HttpError::NotFound) => Err(CodeError::Refused("code-expired")),
        detail => Ok(detail?),
    }
}

async fn find_by_code(context: &Context, detail: SignInDetail, code: &str) -> Result<SignInDetail, CodeError> {
    if code.trim().is_empty() {
        return Err(CodeError::Refused("code-missing"));
    }
    // The code is counted before it is compared, so that codes that are sent at once are counted, too.
    if !execute(context, CountCode { sign_in: detail.sign_in.id }).await? {
        return Err(CodeError::Refused("code-too-many"));
    }
    let id = detail.sign_in.id.uuid();
    if context.state.http.references.verify_sign_in_code(context.workspace.id, id, code.trim()) {
        Ok(detail)
    } else {
        Err(CodeError::Refused("code-wrong"))
    }
}

/// `GET /sign-in/{reference}`: shows what the link does.
pub(crate) async fn confirm(context: Rc<Context>) -> PageResult {
    match find_by_link(&context).await {
        Ok(detail) if !detail.is_open => Ok(late_page(&context, &detail, link_path(&context))),
        Ok(detail) => Ok(link_page(&context, &detail)),
        Err(HttpError::NotFound) => Ok(gone_page(&context)),
        Err(error) => Err(error),
    }
}

/// `POST /sign-in/{reference}`: signs in and does the kept action (`choice=act`), only signs in, or discards the link
/// (`choice=deny`). After the link has expired, `choice=renew` asks for a new mail to the same address.
pub(crate) async fn redeem_link(context: Rc<Context>, fields: Fields) -> PageResult {
    let detail = match find_by_link(&context).await {
        Ok(detail) => detail,
        Err(HttpError::NotFound) => return Ok(gone_page(&context)),
        Err(error) => return Err(error),
    };
    if !detail.is_open {
        return match fields.get("choice") {
            "renew" => renew(&context, detail).await,
            _ => Ok(late_page(&context, &detail, link_path(&context))),
        };
    }
    if fields.get("choice") != "deny" {
        return redeem(&context, detail, fields.get("choice") == "act").await;
    }
    match execute(&context, DiscardSignIn { sign_in: detail.sign_in.id }).await {
        Ok(()) => Ok(Reply::see_other(with_done(PATH, "denied"))),
        Err(HttpError::Domain(RoadmapError::NotFound(_))) => Ok(gone_page(&context)),
        Err(error) => Err(error),
    }
}

/// Returns the path of the link.
fn link_path(context: &Context) -> String {
    format!("{PATH}/{}", context.parameter("reference"))
}

/// Finds the sign-in of the link, also for a day after the link has expired. A used, changed or foreign one is a missing
/// page.
async fn find_by_link(context: &Context) -> Result<SignInDetail, HttpError> {
    let (http, reference) = (&context.state.http, context.parameter("reference"));
    let id = http.references.verify_despite_expiry(Purpose::SignIn, context.workspace.id, reference);
    let id = id.map(SignInId::new).ok_or(HttpError::NotFound)?;
    context.run(&FindSignIn { id }).await
}

fn link_page(context: &Context, detail: &SignInDetail) -> Reply {
    let text = context.text();
    let sign_in = &detail.sign_in;
    let pending = detail.pending.as_ref();
    let template = LinkPage {
        page: sign_in_frame(context, text.get("sign-in").into_owned()),
        action: link_path(context),
        email: sign_in.email.as_str().to_owned(),
        origin_sentence: origin_sentence(text, &text.date_time(sign_in.created_at), sign_in.browser_name.as_ref()),
        pending: pending.map(|pending| Pending::new(text, pending, is_possible(context, detail, pending))),
    };
    Reply::page(&template).not_indexed().private()
}

fn origin_sentence(text: Text, date: &str, browser: Option<&BrowserName>) -> String {
    let (date, zone) = (("date", FluentValue::from(date.to_owned())), ("zone", FluentValue::from(text.zone.name())));
    match browser {
        Some(browser) => {
            text.with("link-asked-from", &[date, zone, ("browser", FluentValue::from(browser.as_str().to_owned()))])
        }
        None => text.with("link-asked", &[date, zone]),
    }
}

impl Pending {
    fn new(text: Text, pending: &PendingAction, is_possible: bool) -> Self {
        let PendingAction { action, title } = pending;
        let (lead, act) = match action {
            PageAction::Vote(_) => ("pending-vote", "sign-in-and-vote"),
            PageAction::RemoveVote(_) => ("pending-remove-vote", "sign-in-and-remove-vote"),
            PageAction::Comment { .. } => ("pending-comment", "sign-in-and-post"),
            PageAction::Submit { .. } => ("pending-submit", "sign-in-and-submit"),
            PageAction::Subscribe(_) => ("pending-follow", "sign-in-and-follow"),
            PageAction::Unsubscribe(_) => ("pending-unfollow", "sign-in-and-unfollow"),
            PageAction::GetNews => ("pending-news", "sign-in-and-get-news"),
        };
        let text_of_action = match action {
            PageAction::Comment { content, .. } => content,
            PageAction::Submit { description, .. } => description,
            _ => "",
        };
        // It was checked before it was kept.
        let html = markdown::to_html("content", text_of_action).map(|html| prose::html(&html)).unwrap_or_default();
        let title = match action {
            PageAction::Submit { title, .. } => Some(title.clone()),
            _ => title.as_ref().map(|title: &Title| title.as_str().to_owned()),
        };
        Self {
            lead: text.get(lead).into_owned(),
            path: action.request().filter(|_| is_possible).map(path_by_id),
            title,
            html,
            act: if is_possible { text.get(act).into_owned() } else { String::new() },
        }
    }
}

/// Whether the owner of the address may do the kept action now: may see the portal and the feature request.
fn is_possible(context: &Context, detail: &SignInDetail, pending: &PendingAction) -> bool {
    let is_there = pending.action.request().is_none() || pending.title.is_some();
    is_there && context.portal.settings.admits(detail.sign_in.email.folded(), detail.is_member)
}

fn path_by_id(request: FeatureRequestId) -> String {
    format!("/feature_requests/{request}")
}

/// Uses a sign-in: creates a session in place of this browser's old one, and does the kept action.
async fn redeem(context: &Context, detail: SignInDetail, does_action: bool) -> PageResult {
    let pending = detail.pending.as_ref();
    let possible = pending.filter(|pending| does_action && is_possible(context, &detail, pending));
    let SignInDetail { sign_in, is_member, .. } = &detail;
    let actor = PageActor { email: sign_in.email.clone(), is_member: *is_member, language: context.language };
    let next = next_of(&detail);
    if let Some(PendingAction { action, .. }) = possible
        && let Err(error) = admit(context, &actor, weight(action))
    {
        return Ok(not_done(context, &error, action, next));
    }
    let secret = new_secret(context)?;
    let holds_posts = context.portal.settings.holds_posts;
    let operation = RedeemSignIn {
        sign_in: sign_in.id,
        email: sign_in.email.clone(),
        digest: secret.digest(),
        browser_name: context.browser_name(),
        language: context.language,
        action: possible.map(|pending| ActOnPage::new(&actor, &pending.action, holds_posts)),
    };
    let redeemed = match (execute(context, operation).await, possible) {
        (Ok(redeemed), _) => redeemed,
        // Somebody else was faster.
        (Err(HttpError::Domain(RoadmapError::NotFound(_))), _) => return Ok(gone_page(context)),
        (Err(error), Some(pending)) => return Ok(not_done(context, &error, &pending.action, next)),
        (Err(error), None) => return Err(error),
    };
    context.state.http.observer.sign_in(SignInStep::Redeemed);
    end_old_session(context).await;
    let reply = after_sign_in(context, &detail, &secret, redeemed, does_action).await?;
    let is_https = context.is_https();
    let known = known_browser::remember(context, &actor.email);
    Ok(reply
        .with_cookie(Secret::Session.set(&secret, is_https))
        .with_cookie(Secret::SignIn.remove(is_https))
        .with_cookie(known))
}

/// Returns where to go after a sign-in: where its form led, or to the feature request.
fn next_of(detail: &SignInDetail) -> String {
    let request = detail.pending.as_ref().filter(|pending| pending.title.is_some());
    let request = request.and_then(|pending| pending.action.request());
    match (&detail.sign_in.next, request) {
        (Some(next), _) => next.as_str().to_owned(),
        (None, Some(request)) => path_by_id(request),
        (None, None) => "/".to_owned(),
    }
}

/// Returns the response to somebody who is signed in now.
async fn after_sign_in(
    context: &Context,
    detail: &SignInDetail,
    secret: &BrowserSecret,
    redeemed: SignInRedeemed,
    does_action: bool,
) -> PageResult {
    let next = canonical(context, detail, next_of(detail)).await;
    let failure = match (redeemed.action, &detail.pending) {
        (Some(Ok(done)), _) => return Ok(Reply::see_other(landing(&done, &next))),
        (Some(Err(error)), Some(pending)) => Some((HttpError::Domain(error), &pending.action)),
        (None, Some(pending)) if does_action => Some((HttpError::NotFound, &pending.action)),
        _ => None,
    };
    let Some((error, action)) = failure else { return Ok(Reply::see_other(with_done(&next, "signed-in"))) };
    // The page is that of the new session.
    let session = context.run(&FindSession { digest: secret.digest() }).await?.map(Arc::new);
    let context = Context { session, ..context.clone() };
    Ok(not_done_after(&context, &error, action, next, true))
}

/// Replaces the path of a feature request by its ID, so that what was done is not lost in a redirect.
async fn canonical(context: &Context, detail: &SignInDetail, next: String) -> String {
    let request = detail.pending.as_ref().and_then(|pending| pending.action.request());
    let Some(request) = request.filter(|request| path_by_id(*request) == next) else { return next };
    let viewer = Viewer { customer: None, is_member: detail.is_member };
    let request = context.run(&FindVisibleRequest { request: FeatureRequestRef::Id(request), viewer }).await;
    request.map_or(next, |request| request_path(&request))
}

/// Ends the session that this browser had before. The new one is there already.
async fn end_old_session(context: &Context) {
    let Some(Session { id, email, .. }) = context.session.as_deref() else { return };
    if let Err(error) = execute(context, EndSession { session: *id, email: email.clone() }).await {
        tracing::warn!(%error, "the old session of a browser could not be ended");
    }
}

/// `POST /sign-out`.
pub(crate) async fn sign_out(context: Rc<Context>, _: Fields) -> PageResult {
    if let Some(session) = context.session.as_deref() {
        execute(&context, EndSession { session: session.id, email: session.email.clone() }).await?;
    }
    Ok(signed_out(&context, "signed-out"))
}

/// Returns the response to somebody who is signed out now. On HTTPS, browsers delete their copies of pages.
pub(crate) fn signed_out(context: &Context, done: &str) -> Reply {
    let next = if context.is_public() { "/" } else { PATH };
    let is_https = context.is_https();
    let mut response = HttpResponse::SeeOther();
    response
        .insert_header((LOCATION, with_done(next, done)))
        .insert_header((CACHE_CONTROL, "private, no-store"))
        .insert_header((REFERRER_POLICY, "same-origin"));
    if is_https {
        response.insert_header(("Clear-Site-Data", "\"cache\""));
    }
    Reply::other(response.finish()).with_cookie(Secret::Session.remove(is_https))
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::portal::Language;

    const TEXT: Text = Text::utc(Language::English);

    #[test]
    fn a_kept_action_is_shown_in_full() {
        let request = FeatureRequestId::new(uuid::Uuid::from_u128(7));
        let action = PageAction::Comment { request, content: "**Yes**\n\n<b>no</b>".to_owned() };
        let title = Title::parse("title", "Dark mode").ok();
        let pending = Pending::new(TEXT, &PendingAction { action: action.clone(), title }, true);
        assert_eq!((pending.title.as_deref(), pending.act.as_str()), (Some("Dark mode"), "Sign in and post"));
        assert!(
            pending.html.contains("<strong>Yes</strong>") && pending.html.contains("&lt;b&gt;no"),
            "{}",
            pending.html
        );
        // The feature request is gone, but not what was typed.
        let pending = Pending::new(TEXT, &PendingAction { action, title: None }, false);
        assert!(pending.act.is_empty() && pending.path.is_none() && pending.html.contains("<strong>Yes"));
        let idea = PageAction::Submit { title: "Dark & light".to_owned(), description: String::new() };
        let pending = Pending::new(TEXT, &PendingAction { action: idea, title: None }, true);
        assert_eq!((pending.title.as_deref(), pending.html.as_str()), (Some("Dark & light"), ""));
    }
}
