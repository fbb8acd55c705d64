//! Votes, comments and subscriptions on a feature request, and what the team does about posts that wait for approval.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{CommentId, FeatureRequestId, parse_uuid};
use roadmap_domain::model::markdown;
use roadmap_domain::model::portal::PortalRow;
use roadmap_domain::model::sign_in::{LocalPath, PageAction};
use roadmap_domain::usecase::approve_feature_request::ApproveFeatureRequest;
use roadmap_domain::usecase::hold_comment::{ApproveComment, DiscardComment};
use roadmap_domain::usecase::query::portal::{FindSession, FindVisibleRequest, ShowRequestPage};
use roadmap_http::error::HttpError;

use crate::actions::{
    act, check, check_honeypot, done_of, execute, find_request, keep, multiline_text, next_path, not_done, read_email,
    request_path, with_done,
};
use crate::context::Context;
use crate::cookies::Secret;
use crate::form::{Fields, Problems};
use crate::page::{Nav, Page};
use crate::portal::comments::CommentDraft;
use crate::portal::parts::{Row, Statuses, VoteBox};
use crate::portal::request;
use crate::portal::sign_in::pending_email;
use crate::prose;
use crate::reply::{PageResult, Reply};
use crate::{notices, pictures};

/// What a visitor does with an address alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Toggle {
    Vote,
    RemoveVote,
    Subscribe,
    Unsubscribe,
}

impl Toggle {
    const fn action(self, request: FeatureRequestId) -> PageAction {
        match self {
            Self::Vote => PageAction::Vote(request),
            Self::RemoveVote => PageAction::RemoveVote(request),
            Self::Subscribe => PageAction::Subscribe(request),
            Self::Unsubscribe => PageAction::Unsubscribe(request),
        }
    }

    /// Returns the last segment of the path, and the key of the sentence above the form.
    const fn path_and_lead(self) -> (&'static str, &'static str) {
        match self {
            Self::Vote => ("vote", "ask-vote"),
            Self::RemoveVote => ("unvote", "ask-remove-vote"),
            Self::Subscribe => ("subscription", "ask-follow"),
            Self::Unsubscribe => ("subscription", "ask-unfollow"),
        }
    }

    /// Returns the field `state` of a subscription.
    const fn state(self) -> Option<&'static str> {
        match self {
            Self::Vote | Self::RemoveVote => None,
            Self::Subscribe => Some("on"),
            Self::Unsubscribe => Some("off"),
        }
    }
}

/// The form for the address of a visitor who votes or subscribes.
#[derive(Template)]
#[template(path = "portal/vote.html")]
struct AddressPage {
    page: Page,
    /// The path of the feature request.
    back: String,
    /// The path of the form.
    path: String,
    lead: String,
    state: Option<&'static str>,
    next: String,
    email: String,
    problems: Problems,
}

/// The part of a page that the script puts in place after a vote: that of a row.
#[derive(Template)]
#[template(path = "portal/part-row.html")]
struct RowPart {
    page: Page,
    /// What was done.
    notice: String,
    row: Row,
}

/// The same of the page of a feature request.
#[derive(Template)]
#[template(path = "portal/part-page.html")]
struct PagePart {
    page: Page,
    /// What was done.
    notice: String,
    vote_box: VoteBox,
}

/// `GET /feature_requests/{slug}/vote`: asks a visitor for an address.
pub(crate) async fn ask_vote(context: Rc<Context>) -> PageResult {
    ask(&context, Toggle::Vote).await
}

/// `GET /feature_requests/{slug}/subscription`: asks a visitor for an address.
pub(crate) async fn ask_subscription(context: Rc<Context>) -> PageResult {
    ask(&context, Toggle::Subscribe).await
}

async fn ask(context: &Context, toggle: Toggle) -> PageResult {
    let request = find_request(context).await?;
    if context.session.is_some() {
        return Ok(Reply::see_other(request_path(&request)));
    }
    // Who has just asked for a mail need not type the address again.
    let email = pending_email(context).await?;
    let next = next_path(&context.query);
    Ok(address_page(context, toggle, &request, next.as_ref(), email, Problems::default()).private())
}

/// `POST /feature_requests/{slug}/vote`.
pub(crate) async fn vote(context: Rc<Context>, fields: Fields) -> PageResult {
    toggle(&context, &fields, Toggle::Vote).await
}

/// `POST /feature_requests/{slug}/unvote`.
pub(crate) async fn remove_vote(context: Rc<Context>, fields: Fields) -> PageResult {
    toggle(&context, &fields, Toggle::RemoveVote).await
}

/// `POST /feature_requests/{slug}/subscription`: the field `state` is `on` or `off`. As for votes, the field `part` asks for
/// the changed part of the page in place of a redirect.
pub(crate) async fn subscription(context: Rc<Context>, fields: Fields) -> PageResult {
    let toggled = if fields.get("state") == "off" { Toggle::Unsubscribe } else { Toggle::Subscribe };
    toggle(&context, &fields, toggled).await
}

async fn toggle(context: &Context, fields: &Fields, toggle: Toggle) -> PageResult {
    let request = find_request(context).await?;
    let (action, next) = (toggle.action(request.id), next_path(fields));
    if let Some(session) = context.session.as_deref() {
        let next = next.map_or_else(|| request_path(&request), |next| next.as_str().to_owned());
        let reply = act(context, session, action, fields, next.clone()).await?;
        return match fields.get("part") {
            "" => Ok(reply),
            part => changed_part(context, &request, &reply, part, next).await,
        };
    }
    let mut problems = Problems::default();
    check_honeypot(context, fields, &mut problems);
    // A button without a field for the address leads to the form that has one.
    let email = if fields.has("email") { read_email(context, fields, &mut problems) } else { None };
    match email.filter(|_| problems.is_empty()) {
        Some(email) => keep(context, email, Some(action), next).await,
        None => Ok(address_page(context, toggle, &request, next.as_ref(), fields.get("email").to_owned(), problems)),
    }
}

/// Returns the part of the page at `next` that an action has changed, for the script. `reply` is the redirect of the action.
async fn changed_part(context: &Context, request: &RequestLink, reply: &Reply, part: &str, next: String) -> PageResult {
    // Whoever has never taken part before has become a customer just now.
    let viewer = match Secret::Session.read(&context.request, context.is_https()) {
        Some(secret) => context.run(&FindSession { digest: secret.digest() }).await?,
        None => None,
    };
    let viewer = viewer.map(|session| session.viewer()).unwrap_or_default();
    let query = ShowRequestPage { request: FeatureRequestRef::Id(request.id), viewer, comments: None };
    let request = context.run(&query).await?;
    let statuses = Statuses::load(context).await?;
    let done = reply.location().map(done_of).unwrap_or_default();
    let notice = notices::of_portal(context.text(), &done).unwrap_or_default().into_owned();
    // The fragment is added again.
    let here = next.split('#').next().unwrap_or_default().to_owned();
    let page = Page { here, notice: None, ..Page::new(context, Nav::Requests, String::new()) };
    let reply = if part == "row" {
        let row = PortalRow {
            summary: request.detail.summary,
            status_since: request.detail.updated_at,
            excerpt: String::new(),
            private: request.detail.private,
            awaiting_approval: request.detail.awaiting_approval,
        };
        let voted = if request.has_voted { vec![row.summary.id] } else { Vec::new() };
        Reply::page(&RowPart { page, notice, row: Row::new(&statuses, &voted, &row, false) })
    } else {
        Reply::page(&PagePart { page, notice, vote_box: VoteBox::new(&statuses, &request) })
    };
    Ok(reply.not_indexed())
}

/// Shows the form: 422 if it has problems.
fn address_page(
    context: &Context,
    toggle: Toggle,
    request: &RequestLink,
    next: Option<&LocalPath>,
    email: String,
    problems: Problems,
) -> Reply {
    let (path, lead) = toggle.path_and_lead();
    let back = request_path(request);
    let title = request.title.as_str();
    let page = Page::new(context, Nav::Requests, title).with_problem(!problems.is_empty()).not_indexed();
    let status = if problems.is_empty() { StatusCode::OK } else { StatusCode::UNPROCESSABLE_ENTITY };
    let template = AddressPage {
        page: Page { here: back.clone(), ..page },
        path: format!("{back}/{path}"),
        lead: context.text().get(lead).into_owned(),
        state: toggle.state(),
        next: next.map(LocalPath::as_str).unwrap_or_default().to_owned(),
        back,
        email,
        problems,
    };
    Reply::page_with(status, &template).not_indexed()
}

/// `POST /feature_requests/{slug}/comments`: posts a comment, or shows a preview of it.
pub(crate) async fn comment(context: Rc<Context>, fields: Fields) -> PageResult {
    let text = context.text();
    let content = multiline_text(&fields, "content");
    let request = match find_request(&context).await {
        Ok(request) => request,
        // It was deleted or hidden, or the session of its author has ended: what was typed is not lost.
        Err(error @ HttpError::NotFound) if !content.trim().is_empty() => {
            let action = PageAction::Comment { request: FeatureRequestId::new(uuid::Uuid::nil()), content };
            return Ok(not_done(&context, &error, &action, "/feature_requests".to_owned()));
        }
        Err(error) => return Err(error),
    };
    let mut draft = CommentDraft { content, email: fields.get("email").to_owned(), ..CommentDraft::default() };
    pictures::append(&context, &fields, &mut draft.problems, &mut draft.content).await?;
    if fields.has("preview") {
        let html = draft.problems.check(markdown::to_html("content", &draft.content), text);
        draft.preview = html.map(|html| prose::html(&html));
        return request::render(&context, draft).await;
    }
    let action = PageAction::Comment { request: request.id, content: draft.content.clone() };
    draft.problems.check(check(&action, context.session.is_none()), text);
    if let Some(session) = context.session.as_deref() {
        return match draft.problems.is_empty() {
            true => {
                let reply = act(&context, session, action, &fields, request_path(&request)).await;
                reply.map(|reply| pictures::tell_linked(reply, &draft.content))
            }
            false => request::render(&context, draft).await,
        };
    }
    check_honeypot(&context, &fields, &mut draft.problems);
    match (read_email(&context, &fields, &mut draft.problems), draft.problems.is_empty()) {
        (Some(email), true) => keep(&context, email, Some(action), None).await,
        _ => request::render(&context, draft).await,
    }
}

/// `POST /feature_requests/{slug}/approve`: makes an idea public that waits.
pub(crate) async fn approve(context: Rc<Context>, _: Fields) -> PageResult {
    require_member(&context)?;
    let request = find_request(&context).await?;
    execute(&context, ApproveFeatureRequest { request: FeatureRequestRef::Id(request.id) }).await?;
    Ok(Reply::see_other(with_done(&request_path(&request), "approved")))
}

/// `POST /comments/{id}/approve`: makes a comment public that waits.
pub(crate) async fn approve_comment(context: Rc<Context>, _: Fields) -> PageResult {
    require_member(&context)?;
    let approved = execute(&context, ApproveComment { comment: comment_of_path(&context)? }).await?;
    Ok(Reply::see_other(with_done(&request_path(&RequestLink::from(&approved)), "approved")))
}

/// `POST /comments/{id}/discard`: deletes a comment that waits.
pub(crate) async fn discard_comment(context: Rc<Context>, _: Fields) -> PageResult {
    require_member(&context)?;
    let request = execute(&context, DiscardComment { comment: comment_of_path(&context)? }).await?;
    let request = FeatureRequestRef::Id(request);
    let request = context.run(&FindVisibleRequest { request, viewer: context.viewer() }).await?;
    Ok(Reply::see_other(with_done(&request_path(&request), "discarded")))
}

/// For everybody but the team, these pages do not exist.
fn require_member(context: &Context) -> Result<(), HttpError> {
    let is_member = context.session.as_ref().is_some_and(|session| session.member.is_some());
    if is_member { Ok(()) } else { Err(HttpError::NotFound) }
}

fn comment_of_path(context: &Context) -> Result<CommentId, HttpError> {
    parse_uuid("id", context.parameter("id")).map(CommentId::new).map_err(|_| HttpError::NotFound)
}
