//! `GET` and `POST /feature_requests/{id}/comments` (contract section 4.8), `GET /comments`, `PATCH` and `DELETE
//! /comments/{id}`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::changes::{ChangesFilter, ChangesPage};
use roadmap_domain::model::comment::{CommentDraft, ListedComment, parse_content};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::CommentId;
use roadmap_domain::usecase::edit_comment::{DeleteComment, EditComment};
use roadmap_domain::usecase::post_comment::PostComment;
use roadmap_domain::usecase::query::changes::ListChangedComments;
use roadmap_domain::usecase::query::records::ListComments;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{CustomerBody, customer, execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, feature_request_ref, record_id_or_nil};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommentErrors, CommonErrors, DeleteErrors, FeatureRequestErrors, OperationKeyErrors, QueryErrors,
    RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateComment)]
struct Body {
    #[schema(required = true, value_type = CommentBody)]
    comment: Option<Object<CommentBody>>,
    #[schema(schema_with = described::author_email)]
    author_email: Option<String>,
    /// The customer who is the author, instead of a team member. Nothing is mailed.
    #[schema(value_type = Option<CustomerBody>)]
    customer: Option<Object<CustomerBody>>,
    #[schema(schema_with = described::notify_all_voters)]
    notify_all_voters: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewComment)]
struct CommentBody {
    #[schema(required = true, schema_with = described::comment)]
    content: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateComment)]
struct ChangeBody {
    #[schema(required = true, value_type = CommentBody)]
    comment: Option<Object<CommentBody>>,
}

/// List the comments on a feature request
///
/// Oldest first, with those on what is merged into it. The description of what is merged is its first comment.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/comments",
    operation_id = "listComments",
    tag = "Comments",
    params(described::FeatureRequestIdParameter, described::PageParameters),
    responses(
        (status = 200, description = "A page of comments.", body = wire::comment::Page),
        CommonErrors, QueryErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let cursors = CursorList::new(input.workspace, "comments of", &format!("{request:?}"));
    let query = ListComments { request, page: input.query.page_of(&cursors) };
    let comments = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::comment::listed(&comments, &input.links, &cursors)))
}

/// List all comments
///
/// Oldest change first, with those that were deleted in the last 30 days. `next_cursor` is the `cursor` of the next ones.
#[utoipa::path(
    get,
    path = "/api/external/v1/comments",
    operation_id = "listAllComments",
    tag = "Comments",
    params(described::AllCommentsParameters),
    responses(
        (
            status = 200,
            description = "A part of the comments.",
            body = wire::comment::All,
            links(
                ("next" = (
                    operation_id = "listAllComments",
                    parameters(("cursor" = "$response.body#/next_cursor"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn all(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = &input.query;
    let filter = ChangesFilter::parse(query.get("updated_since")?, None, query.flag("include_private")?)?;
    let cursors = filter.cursors(input.workspace, "comments");
    let page = ChangesPage::parse(&cursors, query.get("cursor")?, query.get("page_size")?)?;
    let comments = state.queries.run(input.workspace, &ListChangedComments { filter, page }).await?;
    Ok(wire::ok(&wire::comment::all(&comments, &input.links, &cursors)))
}

/// Comment on a feature request
///
/// The comment is public. Its author is a team member, or a customer. A comment of the team can be sent as mail to the
/// voters.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/comments",
    operation_id = "createComment",
    tag = "Comments",
    params(described::FeatureRequestIdParameter),
    request_body(
        content = Body,
        example = json!({
            "comment": { "content": "<p>We are <strong>on it</strong>.</p>" },
            "notify_all_voters": false
        })
    ),
    responses(
        (
            status = 201,
            description = "The comment.",
            body = wire::comment::Posted,
            links(
                ("update" = (operation_id = "updateComment", parameters(("id" = "$response.body#/comment/id")))),
                ("delete" = (operation_id = "deleteComment", parameters(("id" = "$response.body#/comment/id"))))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |draft| PostComment { request, draft };
    let render = move |posted| wire::comment::posted(&posted, &links);
    execute_operation(&state, input, Target::FeatureRequest(request), draft, operation, render).await
}

/// Update a comment
///
/// Mail about it that was not sent yet has the new content.
#[utoipa::path(
    patch,
    path = "/api/external/v1/comments/{id}",
    operation_id = "updateComment",
    tag = "Comments",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "comment": { "content": "<p>We start in May.</p>" } })),
    responses(
        (status = 200, description = "The comment.", body = wire::comment::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, CommentErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let comment = record_id_or_nil(&request, CommentId::new);
    let operation = move |content| EditComment { comment, content };
    let render = move |edited: ListedComment| wire::saved_ok(&wire::comment::response(&edited, &links));
    execute_operation(&state, input, Target::Comment(comment), content, operation, render).await
}

/// Delete a comment
///
/// Mail about it that was not sent yet is dropped.
#[utoipa::path(
    delete,
    path = "/api/external/v1/comments/{id}",
    operation_id = "deleteComment",
    tag = "Comments",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The comment is deleted."), CommonErrors, DeleteErrors, CommentErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let comment = record_id_or_nil(&request, CommentId::new);
    execute_deletion(&state, input, DeleteComment { comment }).await?;
    Ok(wire::no_content())
}

fn content(body: ChangeBody) -> Validated<CleanHtml> {
    let Object(comment) = body.comment.ok_or_else(|| FieldError::missing("comment"))?;
    parse_content(comment.content.as_deref())
}

fn draft(body: Body) -> Validated<CommentDraft> {
    // A missing `comment` is reported like an empty one: its content is missing.
    let Object(comment) = body.comment.ok_or_else(|| FieldError::missing("content"))?;
    let notify = body.notify_all_voters.unwrap_or(false);
    let (content, author_email) = (comment.content.as_deref(), body.author_email.as_deref());
    match customer(body.customer)? {
        Some(customer) => CommentDraft::parse_of_customer(content, author_email, customer, notify),
        None => CommentDraft::parse(content, author_email, notify),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;
    use roadmap_domain::model::comment::CommentAuthor;
    use serde_json::{Value, json};

    fn read(sent: Value) -> Validated<CommentDraft> {
        let Value::Object(body) = sent else { panic!("an object") };
        fields::body(body).and_then(draft)
    }

    #[test]
    fn the_author_is_a_member_or_a_customer() {
        let (comment, customer) = (json!({ "content": "Soon" }), json!({ "email": "ann@example.com" }));
        for (sent, is_customer) in [
            (json!({ "comment": comment, "customer": null, "author_email": "olga@acme.example" }), false),
            (json!({ "comment": comment, "customer": customer, "author_email": " " }), true),
        ] {
            let author = read(sent.clone()).unwrap().author;
            assert_eq!(matches!(author, CommentAuthor::Customer(_)), is_customer, "{sent}");
        }
        for (sent, field) in [
            (json!({ "comment": comment, "customer": customer, "author_email": "olga@acme.example" }), "customer"),
            (json!({ "comment": comment, "customer": customer, "notify_all_voters": true }), "notify_all_voters"),
            (json!({ "comment": comment, "customer": {} }), "email"),
            (json!({ "customer": customer }), "content"),
        ] {
            assert_eq!(read(sent.clone()).unwrap_err().field, field, "{sent}");
        }
    }
}
