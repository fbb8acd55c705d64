//! `POST /feature_requests/{id}/upvotes`, which adds a voter and a note (contract section 4.7), and `DELETE`, which
//! withdraws a vote.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::usecase::cast_vote::CastVote;
use roadmap_domain::usecase::executor::Checked;
use roadmap_domain::usecase::target::Target;
use roadmap_domain::usecase::withdraw_vote::WithdrawVote;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{CustomerBody, ReferenceNoteBody, customer, execute_deletion, execute_operation, note};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, WriteRequest, feature_request_ref};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, FeatureRequestErrors, OperationKeyErrors, QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateUpvote)]
struct Body {
    /// The voter.
    #[schema(value_type = Option<CustomerBody>)]
    customer: Option<Object<CustomerBody>>,
    #[schema(value_type = Option<ReferenceNoteBody>)]
    reference_note: Option<Object<ReferenceNoteBody>>,
}

/// Add a voter and a note to a feature request
///
/// A customer votes at most once; a repeated vote only adds its note.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/upvotes",
    operation_id = "createUpvote",
    tag = "Votes",
    params(described::FeatureRequestIdParameter),
    request_body(
        content = Body,
        example = json!({
            "customer": { "email": "ann@example.com", "name": "Ann" },
            "reference_note": { "body": "Asked for it in a call.", "author_email": "olga@acme.example" }
        })
    ),
    responses(
        (status = 201, description = "The outcome of the vote.", body = wire::feature_request::Cast),
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
    let operation = move |draft| CastVote { request, draft };
    let render = move |cast| wire::feature_request::vote_cast(&cast, &links);
    execute_operation(&state, input, Target::FeatureRequest(request), draft, operation, render).await
}

/// Withdraw the vote of a customer
///
/// The subscription that came with the vote ends, too. Without a vote, nothing changes.
#[utoipa::path(
    delete,
    path = "/api/external/v1/feature_requests/{id}/upvotes",
    operation_id = "withdrawUpvote",
    tag = "Votes",
    params(described::FeatureRequestIdParameter, described::CustomerParameters),
    responses(
        (status = 200, description = "The outcome.", body = wire::feature_request::Withdrawn),
        CommonErrors, QueryErrors, DeleteErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = input.query.email().map(|customer| WithdrawVote { request, customer });
    let operation = Checked { target: Target::FeatureRequest(request), operation };
    let withdrawn = execute_deletion(&state, input, operation).await?;
    Ok(wire::ok(&wire::feature_request::vote_withdrawn(&withdrawn, &links)))
}

fn draft(body: Body) -> Validated<VoteDraft> {
    VoteDraft::new(customer(body.customer)?, note(body.reference_note)?)
}
