//! What customers do about their own ideas and comments: edit and delete them.

use std::rc::Rc;

use actix_web::http::StatusCode;
use askama::Template;
use roadmap_domain::error::{Conflict, RoadmapError, Validated};
use roadmap_domain::model::admin::Fingerprint;
use roadmap_domain::model::feature_request::{Description, FeatureRequestRef, RequestLink, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, parse_uuid};
use roadmap_domain::model::own_post::{OwnComment, OwnRequest};
use roadmap_domain::model::sign_in::PageAction;
use roadmap_domain::usecase::edit_feature_request::{EditFeatureRequest, EditUnchangedRequest, FeatureRequestChange};
use roadmap_domain::usecase::executor::Operation;
use roadmap_domain::usecase::own_posts::{
    DeleteOwnComment, DeleteOwnRequest, EditOwnComment, EditOwnRequest, FindOwnComment, FindOwnRequest,
    OwnRequestDeleted,
};
use roadmap_domain::usecase::query::records::ShowFeatureRequest;
use roadmap_http::error::HttpError;
use roadmap_http::limits::PostWeight;

use crate::actions::{actor, admit, execute, multiline_text, next_path, not_done, request_path, with_done};
use crate::context::Context;
use crate::form::{Fields, Problems};
use crate::once::run_once;
use crate::page::{Nav, Page};
use crate::pictures;
use crate::prose::{self, editable};
use crate::reply::{PageResult, Reply};
use crate::text::Text;

/// Where somebody goes on whose post is gone with its page.
const LIST: &str = "/feature_requests";

#[derive(Template)]
#[template(path = "portal/own-post.html")]
struct EditPage {
    page: Page,
    /// The title and the path of the feature request.
    request: (String, String),
    /// The path of the form.
    path: String,
    /// The label of the content.
    label: String,
    draft: Draft,
}

/// An own post as it was typed.
#[derive(Debug, Clone, Default)]
struct Draft {
    /// The title of an idea. `None` for a comment.
    title: Option<String>,
    /// The comment, or the description of the idea.
    content: String,
    /// Whether the content is HTML.
    is_html: bool,
    /// What its author has read of an idea.
    fingerprint: String,
    /// The content as HTML, if a preview was asked for.
    preview: Option<String>,
    problems: Problems,
}

#[derive(Template)]
#[template(path = "portal/own-delete.html")]
struct DeletePage {
    page: Page,
    /// The title and the path of the feature request.
    request: (String, String),
    /// The path of the form.
    path: String,
    /// The comment, to be inserted without escaping.
    comment: Option<String>,
    /// What is deleted, and what stays.
    sentences: Vec<String>,
    /// The words of the button.
    button: String,
    /// Whether only author and description are removed.
    keeps_shared: bool,
}

impl Draft {
    fn of_form(fields: &Fields, is_idea: bool) -> Self {
        Self {
            title: is_idea.then(|| multiline_text(fields, "title")),
            content: multiline_text(fields, "content"),
            is_html: fields.get("format") == "html",
            fingerprint: fields.get("fingerprint").to_owned(),
            ..Self::default()
        }
    }

    /// Adds the picture of the form to the content.
    async fn add_picture(&mut self, context: &Context, fields: &Fields) -> Result<(), HttpError> {
        match self.is_html {
            true => Ok(()),
            false => pictures::append(context, fields, &mut self.problems, &mut self.content).await,
        }
    }

    /// Notes what is wrong with the content, and shows a preview of it if that was asked for. Returns the content to be
    /// saved.
    fn check<T>(
        &mut self,
        t: Text,
        fields: &Fields,
        content: Validated<T>,
        html: impl FnOnce(&T) -> &CleanHtml,
    ) -> Option<T> {
        let content = self.problems.check(content, t);
        if fields.has("preview") {
            self.preview = content.as_ref().map(|content| prose::html(html(content)));
        }
        content.filter(|_| self.problems.is_empty() && self.preview.is_none())
    }

    /// Returns the page that shows everything that was typed after an error.
    fn not_done(&self, context: &Context, error: &HttpError, next: String) -> Reply {
        let action = match &self.title {
            Some(title) => PageAction::Submit { title: title.clone(), description: self.content.clone() },
            None => {
                PageAction::Comment { request: FeatureRequestId::new(uuid::Uuid::nil()), content: self.content.clone() }
            }
        };
        not_done(context, error, &action, next)
    }
}

/// Returns who is signed in. Nobody else has own posts.
fn customer(context: &Context) -> Result<CustomerId, HttpError> {
    context.viewer().customer.ok_or(HttpError::NotFound)
}

fn own_comment(context: &Context) -> Result<FindOwnComment, HttpError> {
    let comment = parse_uuid("id", context.parameter("id")).map_err(|_| HttpError::NotFound)?;
    Ok(FindOwnComment { comment: CommentId::new(comment), customer: customer(context)? })
}

fn own_request(context: &Context) -> Result<FindOwnRequest, HttpError> {
    let request = FeatureRequestRef::parse(context.parameter("slug"));
    Ok(FindOwnRequest { request, customer: customer(context)? })
}

async fn find_comment(context: &Context) -> Result<OwnComment, HttpError> {
    execute(context, own_comment(context)?).await
}

async fn find_request(context: &Context) -> Result<OwnRequest, HttpError> {
    execute(context, own_request(context)?).await
}

/// Counts an edit or a deletion as a comment towards the limit of posts.
fn admit_change(context: &Context) -> Result<(), HttpError> {
    let session = context.session.as_deref().ok_or(HttpError::NotFound)?;
    admit(context, &actor(context, session), PostWeight::Comment)
}

/// Leads to a feature request, after something that was not done or was.
fn back_to(request: &RequestLink, done: &str) -> Reply {
    Reply::see_other(with_done(&request_path(request), done))
}

/// Whether the post does not exist, or not any more.
fn is_missing(error: &HttpError) -> bool {
    matches!(error, HttpError::NotFound | HttpError::Domain(RoadmapError::NotFound(_)))
}

/// `GET /comments/{id}/edit`.
pub(crate) async fn edit_comment(context: Rc<Context>) -> PageResult {
    let own = find_comment(&context).await?;
    if !own.written.is_editable(context.portal.settings.holds_posts, context.state.http.clock.now()) {
        return Ok(back_to(&own.request, "not-editable"));
    }
    let (content, is_html) = editable(&own.content);
    Ok(edit_page(&context, &own.request, Draft { content, is_html, ..Draft::default() }))
}

/// `POST /comments/{id}/edit`: saves the content, or shows a preview of it.
pub(crate) async fn save_comment(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft::of_form(&fields, false);
    let own = match find_comment(&context).await {
        Ok(own) => own,
        Err(error) => return Ok(draft.not_done(&context, &error, LIST.to_owned())),
    };
    draft.add_picture(&context, &fields).await?;
    let content = prose::comment("content", &draft.content, draft.is_html);
    let Some(content) = draft.check(context.text(), &fields, content, |content| content) else {
        return Ok(edit_page(&context, &own.request, draft));
    };
    let holds_posts = context.portal.settings.holds_posts;
    let operation = EditOwnComment { own: own_comment(&context)?, content, holds_posts };
    save(&context, &fields, &own.request, draft, operation).await
}

/// `GET /feature_requests/{slug}/edit`.
pub(crate) async fn edit_request(context: Rc<Context>) -> PageResult {
    let own = find_request(&context).await?;
    if !own.is_editable(context.portal.settings.holds_posts, context.state.http.clock.now()) {
        return Ok(back_to(&own.request, "not-editable"));
    }
    let detail = context.run(&ShowFeatureRequest { request: FeatureRequestRef::Id(own.request.id) }).await?;
    let (content, is_html) = editable(&detail.description);
    let title = Some(detail.summary.title.as_str().to_owned());
    let draft = Draft {
        title,
        content,
        is_html,
        fingerprint: Fingerprint::of_detail(&detail).as_str().to_owned(),
        ..Draft::default()
    };
    Ok(edit_page(&context, &own.request, draft))
}

/// `POST /feature_requests/{slug}/edit`: saves title and description, or shows a preview of the description.
pub(crate) async fn save_request(context: Rc<Context>, fields: Fields) -> PageResult {
    let mut draft = Draft::of_form(&fields, true);
    let own = match find_request(&context).await {
        Ok(own) => own,
        Err(error) => return Ok(draft.not_done(&context, &error, LIST.to_owned())),
    };
    let title = Title::parse("title", draft.title.as_deref().unwrap_or_default());
    let title = draft.problems.check(title, context.text());
    draft.add_picture(&context, &fields).await?;
    let description = prose::description("content", &draft.content, draft.is_html);
    let description = draft.check(context.text(), &fields, description, Description::clean);
    let (Some(description), Some(title)) = (description, title) else {
        return Ok(edit_page(&context, &own.request, draft));
    };
    let change =
        FeatureRequestChange { title: Some(title), description: Some(description), ..FeatureRequestChange::default() };
    let edit = EditFeatureRequest { request: FeatureRequestRef::Id(own.request.id), change };
    let operation = EditOwnRequest {
        edit: EditUnchangedRequest { edit, read: Fingerprint::from_form(&draft.fingerprint) },
        customer: customer(&context)?,
        holds_posts: context.portal.settings.holds_posts,
    };
    save(&context, &fields, &own.request, draft, operation).await
}

/// Saves a post. What was typed is shown if it cannot be saved.
async fn save<O>(
    context: &Context,
    fields: &Fields,
    request: &RequestLink,
    mut draft: Draft,
    operation: O,
) -> PageResult
where
    O: Operation<Output = RequestLink> + 'static,
{
    let saved = match admit_change(context) {
        Ok(()) => {
            let landing = |request: RequestLink| with_done(&request_path(&request), "own-saved");
            run_once(context, fields, operation, landing).await
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(reply) if draft.is_html => Ok(reply),
        Ok(reply) => Ok(pictures::tell_linked(reply, &draft.content)),
        Err(HttpError::Domain(RoadmapError::Invalid(invalid))) => {
            draft.problems.add("content", context.text().problem(&invalid));
            Ok(edit_page(context, request, draft))
        }
        Err(error) => Ok(draft.not_done(context, &error, request_path(request))),
    }
}

/// `GET /comments/{id}/delete`: asks.
pub(crate) async fn ask_delete_comment(context: Rc<Context>) -> PageResult {
    let own = find_comment(&context).await?;
    let t = context.text();
    let sentences = vec![t.get("delete-comment-text").into_owned()];
    let words = (t.get("delete-comment-title").into_owned(), sentences, t.get("delete-comment").into_owned());
    Ok(delete_page(&context, &own.request, words, (Some(prose::html(&own.content)), false)))
}

/// `POST /comments/{id}/delete`.
pub(crate) async fn delete_comment(context: Rc<Context>, fields: Fields) -> PageResult {
    admit_change(&context)?;
    let landing = |request: RequestLink| with_done(&request_path(&request), "own-comment-deleted");
    let deleted = run_once(&context, &fields, DeleteOwnComment { own: own_comment(&context)? }, landing).await;
    gone_already(deleted, &fields)
}

/// `GET /feature_requests/{slug}/delete`: asks, and says what stays because of others.
pub(crate) async fn ask_delete_request(context: Rc<Context>) -> PageResult {
    let own = find_request(&context).await?;
    Ok(ask_about_request(&context, &own))
}

fn ask_about_request(context: &Context, own: &OwnRequest) -> Reply {
    let (t, title) = (context.text(), own.request.title.as_str());
    let words = match own.is_shared {
        true => (
            t.get("remove-idea-title").into_owned(),
            vec![t.named("remove-idea-text", title), t.get("remove-idea-rest").into_owned()],
            t.get("remove-idea").into_owned(),
        ),
        false => (
            t.get("delete-idea-title").into_owned(),
            vec![t.named("delete-idea-text", title)],
            t.get("delete-idea").into_owned(),
        ),
    };
    delete_page(context, &own.request, words, (None, own.is_shared))
}

/// `POST /feature_requests/{slug}/delete`. The field `keeps_shared` says that the author was asked about name and text only.
pub(crate) async fn delete_request(context: Rc<Context>, fields: Fields) -> PageResult {
    admit_change(&context)?;
    let operation = DeleteOwnRequest { own: own_request(&context)?, keeps_shared: fields.has("keeps_shared") };
    let landing = |deleted: OwnRequestDeleted| match deleted {
        OwnRequestDeleted::Deleted => with_done(LIST, "own-idea-deleted"),
        OwnRequestDeleted::Anonymous(request) => with_done(&request_path(&request), "own-idea-removed"),
    };
    match run_once(&context, &fields, operation, landing).await {
        // Somebody has taken part since the question.
        Err(HttpError::Domain(RoadmapError::Conflict(Conflict::ChangedMeanwhile))) => {
            Ok(ask_about_request(&context, &find_request(&context).await?))
        }
        deleted => gone_already(deleted, &fields),
    }
}

/// Leads on from a deletion of what does not exist any more, without saying that it was done just now.
fn gone_already(deleted: Result<Reply, HttpError>, fields: &Fields) -> PageResult {
    match (deleted, next_path(fields)) {
        (Err(error), Some(next)) if is_missing(&error) => Ok(Reply::see_other(next.as_str().to_owned())),
        (deleted, _) => deleted,
    }
}

/// Renders the form: 422 if it has problems.
fn edit_page(context: &Context, request: &RequestLink, draft: Draft) -> Reply {
    let t = context.text();
    let (title, label) = match draft.title {
        Some(_) => ("edit-idea-title", "field-description"),
        None => ("edit-comment-title", "your-comment"),
    };
    let has_problem = !draft.problems.is_empty();
    let path = context.request.path().to_owned();
    let page = Page::new(context, Nav::Requests, t.get(title)).with_problem(has_problem).not_indexed();
    let template = EditPage {
        page: Page { here: path.clone(), ..page },
        request: (request.title.as_str().to_owned(), request_path(request)),
        path,
        label: t.get(label).into_owned(),
        draft,
    };
    let status = if has_problem { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    Reply::page_with(status, &template).not_indexed()
}

fn delete_page(
    context: &Context,
    request: &RequestLink,
    (title, sentences, button): (String, Vec<String>, String),
    (comment, keeps_shared): (Option<String>, bool),
) -> Reply {
    let path = context.request.path().to_owned();
    let page = Page::new(context, Nav::Requests, title).not_indexed();
    let template = DeletePage {
        page: Page { here: path.clone(), ..page },
        request: (request.title.as_str().to_owned(), request_path(request)),
        path,
        comment,
        sentences,
        button,
        keeps_shared,
    };
    Reply::page(&template).not_indexed()
}
