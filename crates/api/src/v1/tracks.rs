//! `GET /tracks`, contract section 4.6.

use actix_web::{HttpResponse, web};
use roadmap_domain::usecase::query::tracks::ListTracks;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::CommonErrors;
use crate::state::State;
use crate::wire;

/// List tracks
#[utoipa::path(
    get,
    path = "/api/external/v1/tracks",
    operation_id = "listTracks",
    tag = "Tracks",
    responses((status = 200, description = "All tracks.", body = wire::track::Body), CommonErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let tracks = state.queries.run(input.workspace, &ListTracks).await?;
    Ok(wire::ok(&wire::track::listed(&tracks)))
}
