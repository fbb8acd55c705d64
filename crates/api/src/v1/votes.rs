//! `GET /votes`: the feature requests a customer voted for, contract section 4.4.

use actix_web::{HttpResponse, web};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::usecase::query::votes::ListVotes;

use crate::error::ApiError;
use crate::extractors::ReadRequest;
use crate::openapi::failures::{CommonErrors, QueryErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

/// List the feature requests a customer voted for
///
/// Newest feature request first.
#[utoipa::path(
    get,
    path = "/api/external/v1/votes",
    operation_id = "listVotes",
    tag = "Votes",
    params(described::VoterParameters),
    responses(
        (status = 200, description = "A page of feature requests.", body = wire::feature_request::Page),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let customer = input.query.email()?;
    let cursors = CursorList::new(input.workspace, "votes", customer.folded().as_str());
    let page = input.query.page_of(&cursors)?;
    let votes = state.queries.run(input.workspace, &ListVotes { customer, page }).await?;
    Ok(wire::ok(&wire::feature_request::voted(&votes, &input.links, &cursors)))
}
