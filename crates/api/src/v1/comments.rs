//! `POST /feature_requests/{id}/comments`: posts a public comment, contract section 4.8.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::comment::CommentDraft;
use roadmap_domain::usecase::post_comment::PostComment;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{WriteRequest, feature_request_ref};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, FeatureRequestErrors, OperationKeyErrors, RecordBudgetErrors,
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
    #[schema(schema_with = described::notify_all_voters)]
    notify_all_voters: Option<bool>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewComment)]
struct CommentBody {
    #[schema(required = true, schema_with = described::comment)]
    content: Option<String>,
}

/// Comment on a feature request
///
/// The comment is public. It can be sent as mail to the voters.
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
        (status = 201, description = "The comment.", body = wire::comment::Posted),
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
    let mails_per_day = state.mails_per_day;
    let operation = move |draft| PostComment { request, draft, mails_per_day };
    let render = move |posted| wire::comment::posted(&posted, &links);
    execute_operation(&state, input, draft, operation, render).await
}

fn draft(body: Body) -> Validated<CommentDraft> {
    // A missing `comment` is reported like an empty one: its content is missing.
    let Object(comment) = body.comment.ok_or_else(|| FieldError::missing("content"))?;
    let notify = body.notify_all_voters.unwrap_or(false);
    CommentDraft::parse(comment.content.as_deref(), body.author_email.as_deref(), notify)
}
