//! `POST /feature_requests/{id}/upvotes`: adds a voter and a note, contract section 4.7.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Parsed;
use roadmap_domain::model::vote::Ballot;
use roadmap_domain::usecase::cast_vote::CastVote;
use serde::Deserialize;

use super::feature_requests::{customer, note};
use super::{CustomerBody, ReferenceNoteBody, execute};
use crate::call::{WriteCall, request_ref};
use crate::error::ApiError;
use crate::fields::Object;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize)]
struct Body {
    customer: Option<Object<CustomerBody>>,
    reference_note: Option<Object<ReferenceNoteBody>>,
}

pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    call: WriteCall,
) -> Result<HttpResponse, ApiError> {
    let (workspace, links) = (call.workspace, call.links.clone());
    let (key, ballot) = call.command(ballot);
    let operation = CastVote { request: request_ref(&request), ballot };
    let render = move |cast| wire::feature_request::vote_cast(&cast, &links);
    execute(&state, workspace, key, operation, render).await
}

fn ballot(body: Body) -> Parsed<Ballot> {
    Ballot::of(customer(body.customer)?, note(body.reference_note)?)
}
