//! `POST /feature_requests/{id}/upvotes`: adds a voter and a note, contract section 4.7.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::vote::VoteDraft;
use roadmap_domain::usecase::cast_vote::CastVote;
use serde::Deserialize;
use utoipa::ToSchema;

use super::feature_requests::{customer, note};
use super::{CustomerBody, ReferenceNoteBody, execute_operation};
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
#[schema(as = CreateUpvote, description = "At least one of `customer` and `reference_note` is an object.")]
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
    execute_operation(&state, input, draft, operation, render).await
}

fn draft(body: Body) -> Validated<VoteDraft> {
    VoteDraft::new(customer(body.customer)?, note(body.reference_note)?)
}
