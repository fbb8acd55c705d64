//! `PATCH /feature_requests/{id}/track`, which moves a feature request to a track (contract section 4.9), and
//! `GET /feature_requests/{id}/moves`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::Validated;
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::id::{TrackId, parse_uuid};
use roadmap_domain::model::member::Author;
use roadmap_domain::usecase::move_feature_request::{MoveComment, MoveDraft, MoveFeatureRequest, Moved};
use roadmap_domain::usecase::query::records::ListMoves;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest, feature_request_ref};
use crate::fields::Object;
use crate::openapi::failures::{
    BodyErrors, CommonErrors, FeatureRequestErrors, MoveErrors, OperationKeyErrors, QueryErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MoveFeatureRequest)]
struct Body {
    #[schema(required = true, schema_with = described::track_id)]
    track_id: Option<String>,
    #[schema(schema_with = described::mover_email)]
    author_email: Option<String>,
    #[schema(schema_with = described::notify_of_status)]
    notify_all_voters: Option<bool>,
    /// A public comment that says why. Its mail and that about the status are one.
    #[schema(value_type = Option<MoveCommentBody>)]
    comment: Option<Object<MoveCommentBody>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MoveComment)]
struct MoveCommentBody {
    #[schema(required = true, schema_with = described::comment)]
    content: Option<String>,
    #[schema(schema_with = described::author_email)]
    author_email: Option<String>,
}

/// List the moves of a feature request
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/moves",
    operation_id = "listMoves",
    tag = "Feature requests",
    params(described::FeatureRequestIdParameter, described::PageParameters),
    responses(
        (status = 200, description = "A page of moves.", body = wire::moves::Page),
        CommonErrors, QueryErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let cursors = CursorList::new(input.workspace, "moves", &format!("{request:?}"));
    let query = ListMoves { request, page: input.query.page_of(&cursors) };
    let moves = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::moves::listed(&moves, &cursors)))
}

/// Move a feature request to a track
///
/// A feature request can move from any track to any other. A new public status can be sent as mail to the voters.
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
    let operation = move |draft| MoveFeatureRequest { request, draft };
    let render = move |moved: Moved| wire::feature_request::moved(&moved, &links);
    execute_operation(&state, input, Target::FeatureRequest(request), draft, operation, render).await
}

fn draft(body: Body) -> Validated<MoveDraft> {
    Ok(MoveDraft {
        track: parse_uuid("track_id", body.track_id.as_deref().unwrap_or_default()).map(TrackId::new)?,
        author: Author::parse("author_email", body.author_email.as_deref())?,
        notify_all_voters: body.notify_all_voters.unwrap_or(false),
        comment: match body.comment {
            Some(Object(comment)) => {
                Some(MoveComment::parse(comment.content.as_deref(), comment.author_email.as_deref())?)
            }
            None => None,
        },
    })
}
