//! `GET /held_posts`, `POST /feature_requests/{id}/approve` and `/decline`, and `POST /comments/{id}/approve`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::CommentId;
use roadmap_domain::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use roadmap_domain::usecase::edit_feature_request::FeatureRequestEdited;
use roadmap_domain::usecase::hold_comment::ApproveComment;
use roadmap_domain::usecase::query::portal::ListHeldPosts;
use roadmap_domain::usecase::target::Target;

use super::{NoFields, execute_operation};
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequestWithoutFields, feature_request_ref, record_id_or_nil};
use crate::openapi::failures::{
    BodyErrors, CommentErrors, CommonErrors, FeatureRequestErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List what waits for approval
///
/// Feature requests and comments that customers submitted on the portal while it was moderated, oldest first. Only
/// their authors and the team see them.
#[utoipa::path(
    get,
    path = "/api/external/v1/held_posts",
    operation_id = "listHeldPosts",
    tag = "Moderation",
    params(described::PageParameters),
    responses(
        (status = 200, description = "A page of feature requests and comments.", body = wire::held_post::Page),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let cursors = CursorList::new(input.workspace, "held posts", "");
    let posts = state.queries.run(input.workspace, &ListHeldPosts { page: input.query.page_of(&cursors) }).await?;
    Ok(wire::ok(&wire::held_post::listed(&posts, &input.links, &cursors)))
}

/// Approve a feature request
///
/// It becomes public. One that does not wait for approval is unchanged.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/approve",
    operation_id = "approveFeatureRequest",
    tag = "Moderation",
    params(described::FeatureRequestIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn approve_feature_request(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |NoFields {}| ApproveFeatureRequest { request };
    let render = move |approved: FeatureRequestEdited| {
        wire::saved_ok(&wire::feature_request::response(&approved.detail, &links))
    };
    execute_operation(&state, input, Target::FeatureRequest(request), Ok, operation, render).await
}

/// Decline a feature request
///
/// It does not wait for approval any more, and stays private. One that does not wait is unchanged.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/decline",
    operation_id = "declineFeatureRequest",
    tag = "Moderation",
    params(described::FeatureRequestIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn decline_feature_request(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |NoFields {}| DeclineFeatureRequest { request };
    let render = move |declined: FeatureRequestEdited| {
        wire::saved_ok(&wire::feature_request::response(&declined.detail, &links))
    };
    execute_operation(&state, input, Target::FeatureRequest(request), Ok, operation, render).await
}

/// Approve a comment
///
/// It becomes public, with the time at which it was submitted. Nothing is mailed. A comment that does not wait for
/// approval is not found.
#[utoipa::path(
    post,
    path = "/api/external/v1/comments/{id}/approve",
    operation_id = "approveComment",
    tag = "Moderation",
    params(described::RecordIdParameter),
    request_body(content = Option<NoFields>, example = json!({})),
    responses(
        (
            status = 200,
            description = "The feature request of the comment.",
            body = wire::held_post::CommentApproved
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, CommentErrors
    )
)]
pub(crate) async fn approve_comment(
    state: web::Data<State>,
    request: HttpRequest,
    WriteRequestWithoutFields(input): WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let comment = record_id_or_nil(&request, CommentId::new);
    let operation = move |NoFields {}| ApproveComment { comment };
    let render = move |request: FeatureRequestSummary| wire::held_post::comment_approved(&request, &links);
    execute_operation(&state, input, Target::HeldComment(comment), Ok, operation, render).await
}
