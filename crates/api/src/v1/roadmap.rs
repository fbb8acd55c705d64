//! `GET /roadmap`: the public roadmap.

use actix_web::{HttpResponse, web};
use roadmap_domain::usecase::query::tracks::ShowRoadmap;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::{CommonErrors, QueryErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// Show the public roadmap
///
/// All lanes in the team's order, each with its most voted public feature requests.
#[utoipa::path(
    get,
    path = "/api/external/v1/roadmap",
    operation_id = "showRoadmap",
    tag = "Roadmap",
    params(described::RoadmapParameters),
    responses((status = 200, description = "The roadmap.", body = wire::lane::Roadmap), CommonErrors, QueryErrors)
)]
pub(crate) async fn show(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let query = ShowRoadmap::parse(input.query.get("per_lane")?)?;
    let lanes = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::lane::roadmap(&lanes, &input.links)))
}
