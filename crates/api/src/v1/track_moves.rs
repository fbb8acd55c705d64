//! `PATCH /feature_requests/{id}/track`: moves a request to a track, contract section 4.9.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Parsed;
use roadmap_domain::model::id::{TrackId, parse_uuid};
use roadmap_domain::usecase::move_request::MoveRequest;
use serde::Deserialize;

use super::execute;
use crate::call::{WriteCall, request_ref};
use crate::error::ApiError;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize)]
struct Body {
    track_id: Option<String>,
}

pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    call: WriteCall,
) -> Result<HttpResponse, ApiError> {
    let (workspace, links) = (call.workspace, call.links.clone());
    let (key, track) = call.command(track);
    let operation = MoveRequest { request: request_ref(&request), track };
    let render = move |moved| wire::feature_request::moved(&moved, &links);
    execute(&state, workspace, key, operation, render).await
}

fn track(body: Body) -> Parsed<TrackId> {
    parse_uuid("track_id", body.track_id.as_deref().unwrap_or_default()).map(TrackId::new)
}
