//! `GET /api_key`: the key of the request.

use actix_web::{HttpRequest, HttpResponse, web};

use crate::error::ApiError;
use crate::extractors::{ReadRequest, credential};
use crate::openapi::failures::CommonErrors;
use crate::state::State;
use crate::wire;

/// Show the API key
///
/// Any scope is enough. It checks a set-up without changing anything.
#[utoipa::path(
    get,
    path = "/api/external/v1/api_key",
    operation_id = "showApiKey",
    tag = "Settings",
    responses((status = 200, description = "The key of the request.", body = wire::api_key::Response), CommonErrors)
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    _: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let credential = credential(&request)?;
    let base_url = state.http.base_url.workspace_url(&credential.workspace.subdomain);
    Ok(wire::ok(&wire::api_key::response(&credential, base_url)))
}
