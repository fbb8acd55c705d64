//! `GET /votes`: the feature requests a customer voted for, contract section 4.4.

use actix_web::{HttpResponse, web};
use roadmap_domain::model::email_address::EmailAddress;

use crate::call::ReadCall;
use crate::error::ApiError;
use crate::openapi::failures::{OfCalls, OfQueries};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the feature requests a customer voted for
///
/// The newest feature request first.
#[utoipa::path(
    get,
    path = "/api/external/v1/votes",
    operation_id = "listVotes",
    tag = "Votes",
    params(described::Voter),
    responses(
        (status = 200, description = "A page of feature requests.", body = wire::feature_request::Page),
        OfCalls, OfQueries
    )
)]
pub(crate) async fn index(state: web::Data<State>, call: ReadCall) -> Result<HttpResponse, ApiError> {
    let customer = EmailAddress::parse("email", call.query.get("email")?.unwrap_or_default())?;
    let page = call.query.page()?;
    let votes = state.reader.votes_of(call.workspace, &customer, page).await?;
    Ok(wire::ok(&wire::feature_request::voted(&votes, &call.links)))
}
