//! `GET /feature_requests/{id}/voters`: who voted for a request, contract section 4.9.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::pagination::PageRequest;

use crate::call::{ReadCall, request_ref};
use crate::error::ApiError;
use crate::openapi::failures::{OfCalls, OfQueries, OfRequests};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the voters of a feature request
///
/// The latest vote first.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/voters",
    operation_id = "listVoters",
    tag = "Votes",
    params(described::Id, described::Pages),
    responses(
        (status = 200, description = "A page of voters.", body = wire::voter::Body),
        OfCalls, OfQueries, OfRequests
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    call: ReadCall,
) -> Result<HttpResponse, ApiError> {
    let page = call.query.page();
    // Whether the record exists comes before the fields.
    let listed = *page.as_ref().unwrap_or(&PageRequest::default());
    let voters = state.reader.voters(call.workspace, &request_ref(&request), listed).await?;
    let voters = voters.ok_or(RoadmapError::Missing(Resource::FeatureRequest))?;
    page?;
    Ok(wire::ok(&wire::voter::listed(&voters)))
}
