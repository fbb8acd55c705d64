//! `GET /members`.

use actix_web::{HttpResponse, web};
use roadmap_domain::usecase::query::people::ListMembers;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::CommonErrors;
use crate::state::State;
use crate::wire;

/// List the team members
///
/// Oldest first.
#[utoipa::path(
    get,
    path = "/api/external/v1/members",
    operation_id = "listMembers",
    tag = "People",
    responses((status = 200, description = "All members.", body = wire::member::Body), CommonErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let members = state.queries.run(input.workspace, &ListMembers).await?;
    Ok(wire::ok(&wire::member::listed(&members)))
}
