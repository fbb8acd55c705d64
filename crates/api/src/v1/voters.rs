//! `GET /feature_requests/{id}/voters`: the voters of a feature request, contract section 4.9.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::usecase::query::votes::ListVoters;

use crate::error::ApiError;
use crate::extractors::{ReadRequest, feature_request_ref};
use crate::openapi::failures::{CommonErrors, FeatureRequestErrors, QueryErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the voters of a feature request
///
/// Latest vote first.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/voters",
    operation_id = "listVoters",
    tag = "Votes",
    params(described::FeatureRequestIdParameter, described::PageParameters),
    responses(
        (status = 200, description = "A page of voters.", body = wire::voter::Body),
        CommonErrors, QueryErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let cursors = CursorList::new(input.workspace, "voters", &format!("{request:?}"));
    let query = ListVoters { request, page: input.query.page_of(&cursors) };
    let voters = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::voter::listed(&voters, &cursors)))
}
