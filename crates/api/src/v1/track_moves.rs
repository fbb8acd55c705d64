//! `PATCH /feature_requests/{id}/track`: moves a feature request to a track, contract section 4.9.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::id::{TrackId, parse_uuid};
use roadmap_domain::usecase::move_feature_request::MoveFeatureRequest;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{WriteRequest, feature_request_ref};
use crate::openapi::failures::{BodyErrors, CommonErrors, MoveErrors, OperationKeyErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MoveFeatureRequest)]
struct Body {
    #[schema(required = true, schema_with = described::track_id)]
    track_id: Option<String>,
}

/// Move a feature request to a track
///
/// A feature request can move from any track to any other.
#[utoipa::path(
    patch,
    path = "/api/external/v1/feature_requests/{id}/track",
    operation_id = "moveFeatureRequest",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter),
    request_body(content = Body, example = json!({ "track_id": "01976800-c95f-7d4d-9d90-7a6bf43233fb" })),
    responses(
        (status = 200, description = "The feature request.", body = wire::feature_request::Moved),
        CommonErrors, BodyErrors, OperationKeyErrors, MoveErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |track| MoveFeatureRequest { request, track };
    let render = move |moved| wire::feature_request::moved(&moved, &links);
    execute_operation(&state, input, track, operation, render).await
}

fn track(body: Body) -> Validated<TrackId> {
    parse_uuid("track_id", body.track_id.as_deref().unwrap_or_default()).map(TrackId::new)
}
