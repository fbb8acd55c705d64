//! Editing and deleting a comment, and what is done about comments that wait for approval.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::feature_request::{FeatureRequestRef, RequestLink};
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::sign_in::LocalPath;
use roadmap_domain::usecase::edit_comment::{DeleteComment, EditComment, FindCommentRequest};
use roadmap_domain::usecase::hold_comment::{ApproveComment, DiscardComment};
use roadmap_domain::usecase::query::admin::ListCommentCustomers;
use roadmap_domain::usecase::query::portal::ShowRequestPage;
use roadmap_domain::usecase::query::records::{ListComments, ShowFeatureRequest};
use roadmap_http::error::HttpError;

use crate::actions::{execute, multiline_text, next_path, with_done};
use crate::admin::parts::Person;
use crate::admin::request_form::{path, refusal, show_unsaved_text};
use crate::admin::{Entry, frame, path_id};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::pictures;
use crate::portal::comments::CommentView;
use crate::prose::{self, editable};
use crate::reply::{PageResult, Reply};

/// Number of pages of 100 comments among which a comment is looked for.
const MAX_PAGES: u64 = 50;

#[derive(Template)]
#[template(path = "admin/comment.html")]
struct CommentPage {
    page: Page,
    comment: CommentView,
    /// The author, if a customer has written it.
    person: Option<Person>,
    /// The path of the form.
    path: String,
    /// The title and the path of the feature request.
    request: (String, String),
    /// Where the comment is listed, as the link to this page says.
    on: String,
    at: String,
    draft: Draft,
}

/// The content as it was typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    content: String,
    /// Whether the content is HTML.
    is_html: bool,
    preview: Option<String>,
    problems: Problems,
}

/// Finds a comment with its feature request. The parameters `on` and `at` say on which page it is listed. Without them, all
/// comments of its feature request are looked through.
async fn find_comment(
    context: &Context,
    id: CommentId,
    on: &str,
    at: &str,
) -> Result<(ListedComment, RequestLink), HttpError> {
    if let (FeatureRequestRef::Id(_) | FeatureRequestRef::Number(_), Ok(page)) =
        (FeatureRequestRef::parse(on), at.parse::<u64>())
    {
        let comments = Some(page).filter(|page| *page > 0);
        let query = ShowRequestPage { request: FeatureRequestRef::parse(on), viewer: context.viewer(), comments };
        if let Ok(page) = context.run(&query).await
            && let Some(comment) = of_id(page.comments.items, id)
        {
            return Ok((comment, RequestLink::from(&page.detail.summary)));
        }
    }
    let request = FeatureRequestRef::Id(execute(context, FindCommentRequest { comment: id }).await?);
    let detail = context.run(&ShowFeatureRequest { request }).await?;
    let page = |number: u64| PageRequest::parse(Some(&number.to_string()), Some("100"));
    let last = u64::try_from(detail.comments_count).unwrap_or_default().div_ceil(100).max(1);
    // The latest comments are the ones that are edited.
    for number in (1..=last).rev().take(usize::try_from(MAX_PAGES).unwrap_or(usize::MAX)) {
        let listed = context.run(&ListComments { request, page: page(number) }).await?;
        if let Some(comment) = of_id(listed.items, id) {
            return Ok((comment, RequestLink::from(&detail.summary)));
        }
    }
    Err(HttpError::NotFound)
}

/// Returns the comment with an ID. The description of a merged feature request is listed as a comment, but is none.
fn of_id(comments: Vec<ListedComment>, id: CommentId) -> Option<ListedComment> {
    let is_comment = |listed: &ListedComment| {
        let is_description = listed.from.as_ref().is_some_and(|from| from.id.uuid() == id.uuid());
        listed.comment.id == id && !is_description
    };
    comments.into_iter().find(is_comment)
}

/// `GET /admin/comments/{id}`.
pub(crate) async fn show(context: Rc<Context>) -> PageResult {
    let id = path_id(&context, CommentId::new)?;
    let (on, at) = (context.query.get("on"), context.query.get("at"));
    let (comment, request) = find_comment(&context, id, on, at).await?;
    let (content, is_html) = editable(&comment.comment.content);
    let draft = Draft { content, is_html, ..Draft::default() };
    page(&context, &comment, &request, (on, at), draft).await
}

/// `POST /admin/comments/{id}`: saves the content, or shows a preview of it.
pub(crate) async fn save(context: Rc<Context>, fields: Fields) -> PageResult {
    let id = path_id(&context, CommentId::new)?;
    let (content, is_html) = (multiline_text(&fields, "content"), fields.get("format") == "html");
    let mut draft = Draft { content, is_html, ..Draft::default() };
    if !is_html {
        pictures::append(&context, &fields, &mut draft.problems, &mut draft.content).await?;
    }
    let html = draft
        .problems
        .check(prose::comment("content", &draft.content, is_html), context.text())
        .filter(|_| draft.problems.is_empty());
    match html {
        Some(html) if fields.has("preview") => draft.preview = Some(prose::html(&html)),
        Some(content) => {
            let next = next_path(&fields);
            let landing = move |_: ListedComment| after(next.as_ref(), "/admin", "comment-saved");
            match run_once(&context, &fields, EditComment { comment: id, content }, landing).await {
                Ok(reply) if is_html => return Ok(reply),
                Ok(reply) => return Ok(pictures::tell_linked(reply, &draft.content)),
                Err(error) => match refusal(context.text(), &error) {
                    Some(sentence) => draft.problems.add("content", sentence),
                    None => return show_unsaved_text(&context, error, &draft.content),
                },
            }
        }
        None => {}
    }
    let (on, at) = (fields.get("on"), fields.get("at"));
    match find_comment(&context, id, on, at).await {
        Ok((comment, request)) => page(&context, &comment, &request, (on, at), draft).await,
        Err(error) => show_unsaved_text(&context, error, &draft.content),
    }
}

/// `POST /admin/comments/{id}/delete`.
pub(crate) async fn delete(context: Rc<Context>, fields: Fields) -> PageResult {
    let (comment, next) = (path_id(&context, CommentId::new)?, next_path(&fields));
    let landing = move |request: FeatureRequestId| after(next.as_ref(), &path(&request.to_string()), "comment-deleted");
    run_once(&context, &fields, DeleteComment { comment }, landing).await
}

/// `POST /admin/comments/{id}/approve`: makes a comment public that waits.
pub(crate) async fn approve(context: Rc<Context>, fields: Fields) -> PageResult {
    let (comment, next) = (path_id(&context, CommentId::new)?, next_path(&fields));
    let outcome = execute(&context, ApproveComment { comment }).await;
    decided(outcome.map(|request| path(&request.slug())), next, "approved")
}

/// `POST /admin/comments/{id}/discard`: deletes a comment that waits.
pub(crate) async fn discard(context: Rc<Context>, fields: Fields) -> PageResult {
    let (comment, next) = (path_id(&context, CommentId::new)?, next_path(&fields));
    let outcome = execute(&context, DiscardComment { comment }).await;
    decided(outcome.map(|request| path(&request.to_string())), next, "discarded")
}

/// Leads on after a decision. If somebody else of the team was faster, nothing had to be changed.
fn decided(outcome: Result<String, HttpError>, next: Option<LocalPath>, done: &str) -> PageResult {
    match (outcome, next) {
        (Ok(path), next) => Ok(Reply::see_other(after(next.as_ref(), &path, done))),
        (Err(HttpError::Domain(RoadmapError::NotFound(Resource::Comment))), Some(next)) => {
            Ok(Reply::see_other(with_done(next.as_str(), "unchanged")))
        }
        (Err(error), _) => Err(error),
    }
}

/// Returns the path after an action: where the form leads, or `otherwise`.
fn after(next: Option<&LocalPath>, otherwise: &str, done: &str) -> String {
    with_done(next.map_or(otherwise, LocalPath::as_str), done)
}

async fn page(
    context: &Context,
    comment: &ListedComment,
    request: &RequestLink,
    (on, at): (&str, &str),
    draft: Draft,
) -> PageResult {
    let t = context.text();
    let view = CommentView::new(t, comment);
    let customers = context.run(&ListCommentCustomers { comments: vec![comment.comment.id] }).await?;
    let person = customers.get(&comment.comment.id).map(Person::from);
    let author = person.as_ref().map_or(&view.author, |person| &person.label);
    let page = frame(context, Entry::Inbox, t.named("team-comment-title", author)).await?;
    let has_problem = !draft.problems.is_empty();
    let path = format!("/admin/comments/{}", view.id);
    let template = CommentPage {
        page: Page { here: path.clone(), ..page.with_problem(has_problem) },
        request: (request.title.as_str().to_owned(), self::path(&request.slug())),
        comment: view,
        person,
        path,
        on: on.to_owned(),
        at: at.to_owned(),
        draft,
    };
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Ok(Reply::page_with(status, &template).not_indexed())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::portal::parts::tests::{assert_well_formed, sample_page};
    use crate::portal::request::tests::sample;
    use roadmap_domain::model::portal::Language;
    use roadmap_domain::model::sign_in::LocalPath;

    #[test]
    fn the_page_is_well_formed_in_every_state() {
        for language in Language::ALL {
            for comment in &sample("3").comments.items {
                let page = sample_page(language, true, "Comment");
                let mut draft = Draft { content: "</textarea><b>".to_owned(), is_html: true, ..Draft::default() };
                draft.preview = Some("<p>Preview</p>".to_owned());
                if language != Language::English {
                    draft.problems.add("content", "Missing.");
                    draft.is_html = false;
                }
                let template = CommentPage {
                    comment: CommentView::new(page.t, comment),
                    person: (language != Language::English).then(|| {
                        let email = "bo@customer.example".to_owned();
                        Person { label: "Bo <b>".to_owned(), email, path: "/admin/customers/1".to_owned() }
                    }),
                    page,
                    path: "/admin/comments/1".to_owned(),
                    request: ("<b>".to_owned(), "/admin/feature_requests/7-x".to_owned()),
                    on: "7-x\"".to_owned(),
                    at: "3".to_owned(),
                    draft,
                };
                assert_well_formed(&template.render().unwrap());
            }
        }
    }

    #[test]
    fn somebody_else_may_be_faster() {
        let gone = || Err(HttpError::Domain(RoadmapError::NotFound(Resource::Comment)));
        assert!(decided(gone(), None, "approved").is_err());
        assert!(decided(gone(), LocalPath::parse("/admin"), "approved").is_ok());
        assert!(decided(Err(HttpError::Forbidden), LocalPath::parse("/admin"), "approved").is_err());
        let next = LocalPath::parse("/admin?state=awaiting");
        assert_eq!(after(next.as_ref(), "/x", "approved"), "/admin?state=awaiting&done=approved");
        assert_eq!(after(None, "/x", "approved"), "/x?done=approved");
    }
}
