//! `GET` and `POST /tracks` (contract section 4.6), `PATCH` and `DELETE /tracks/{id}`, and the feature requests of a
//! track.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::board::TrackChange;
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::feature_request::Sort;
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::usecase::change_board::{AddTrack, ChangeTrack, Changed, LaneRef, RemoveTrack, TrackDraft};
use roadmap_domain::usecase::executor::Checked;
use roadmap_domain::usecase::query::tracks::{ListTrackRequests, ListTracks};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, record_id, record_id_or_nil};
use crate::fields::{Object, Position, Query, double_option, optional_uuid};
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, DeleteTrackErrors, LaneErrors, OperationKeyErrors, QueryErrors,
    TrackErrors, TrackOrLaneErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateTrack)]
struct NewBody {
    #[schema(required = true, value_type = NewTrack)]
    track: Option<Object<NewTrack>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewTrack {
    #[schema(required = true, schema_with = described::record_name)]
    name: Option<String>,
    #[schema(schema_with = described::lane_id)]
    lane_id: Option<String>,
    #[schema(schema_with = described::position)]
    position: Option<Position>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateTrack)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedTrack)]
    track: Option<Object<ChangedTrack>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = TrackChange)]
struct ChangedTrack {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::record_name)]
    name: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::lane_id)]
    lane_id: Option<Option<String>>,
    #[schema(schema_with = described::changed_position)]
    position: Option<Position>,
}

/// List tracks
#[utoipa::path(
    get,
    path = "/api/external/v1/tracks",
    operation_id = "listTracks",
    tag = "Tracks",
    responses(
        (
            status = 200,
            description = "All tracks.",
            body = wire::track::Body,
            links(
                ("feature_requests" = (
                    operation_id = "listTrackFeatureRequests",
                    parameters(("id" = "$response.body#/tracks/0/id"))
                ))
            )
        ),
        CommonErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let tracks = state.queries.run(input.workspace, &ListTracks).await?;
    Ok(wire::ok(&wire::track::listed(&tracks)))
}

/// Create a track
///
/// Names are unique, regardless of case.
#[utoipa::path(
    post,
    path = "/api/external/v1/tracks",
    operation_id = "createTrack",
    tag = "Tracks",
    request_body(content = NewBody, example = json!({ "track": { "name": "In review", "position": 2 } })),
    responses(
        (
            status = 201,
            description = "The track.",
            body = wire::track::Response,
            links(
                ("feature_requests" = (
                    operation_id = "listTrackFeatureRequests",
                    parameters(("id" = "$response.body#/track/id"))
                )),
                ("update" = (operation_id = "updateTrack", parameters(("id" = "$response.body#/track/id")))),
                ("delete" = (operation_id = "deleteTrack", parameters(("id" = "$response.body#/track/id"))))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors, LaneErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let render = |track: Track| wire::saved_created(&wire::track::response(&track));
    execute_operation(&state, input, Target::Workspace, draft, |draft| AddTrack { draft }, render).await
}

/// Update a track
///
/// Omitted fields are unchanged. Another lane is another public status of all feature requests on the track.
#[utoipa::path(
    patch,
    path = "/api/external/v1/tracks/{id}",
    operation_id = "updateTrack",
    tag = "Tracks",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "track": { "position": 1 } })),
    responses(
        (status = 200, description = "The track.", body = wire::track::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, TrackOrLaneErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let track = record_id_or_nil(&request, TrackId::new);
    let operation = move |change| ChangeTrack { track, change };
    let render = |changed: Changed<Track>| wire::saved_ok(&wire::track::response(&changed.record));
    execute_operation(&state, input, Target::Track(track), change, operation, render).await
}

/// Delete a track
///
/// Its feature requests go to another track. The last track cannot be deleted.
#[utoipa::path(
    delete,
    path = "/api/external/v1/tracks/{id}",
    operation_id = "deleteTrack",
    tag = "Tracks",
    params(described::RecordIdParameter, described::MoveToParameters),
    responses(
        (status = 204, description = "The track is deleted."),
        CommonErrors, QueryErrors, DeleteErrors, DeleteTrackErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let track = record_id_or_nil(&request, TrackId::new);
    let move_to = input.query.uuid("move_to").map(|target| target.map(TrackId::new));
    let operation = move_to.map(|move_to| RemoveTrack { track, move_to });
    execute_deletion(&state, input, Checked { target: Target::Track(track), operation }).await?;
    Ok(wire::no_content())
}

/// List the feature requests of a track
///
/// Private ones, too, but not those that are merged into others.
#[utoipa::path(
    get,
    path = "/api/external/v1/tracks/{id}/feature_requests",
    operation_id = "listTrackFeatureRequests",
    tag = "Tracks",
    params(described::RecordIdParameter, described::TrackRequestsParameters),
    responses(
        (status = 200, description = "A page of feature requests.", body = wire::feature_request::Page),
        CommonErrors, QueryErrors, TrackErrors
    )
)]
pub(crate) async fn feature_requests(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let track = record_id(&request, TrackId::new);
    let cursors = CursorList::new(input.workspace, "feature requests of", &format!("{track:?}"));
    let query = ListTrackRequests { track, parameters: sort_and_page(&input.query, &cursors) };
    let requests = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::feature_request::numbered(&requests, &input.links, &cursors)))
}

/// The other orders change while a client reads the pages, so that no cursor could keep its promise in them.
fn sort_and_page(query: &Query, cursors: &CursorList) -> Validated<(Sort, PageRequest)> {
    let sort = Sort::parse(query.get("sort")?)?;
    let page = query.page_of(cursors)?;
    if sort != Sort::Newest && query.get("cursor")?.is_some() {
        let message = "cursor can only be given with sort=newest";
        return Err(FieldError::new("cursor", FieldProblem::Custom { message }));
    }
    Ok((sort, page))
}

fn draft(body: NewBody) -> Validated<TrackDraft> {
    let Object(track) = body.track.ok_or_else(|| FieldError::missing("track"))?;
    Ok(TrackDraft {
        name: Name::parse("name", track.name.as_deref().unwrap_or_default())?,
        lane: lane(track.lane_id)?.map(LaneRef::Id),
        position: track.position.map(|Position(position)| position),
    })
}

fn change(body: ChangeBody) -> Validated<TrackChange> {
    let Object(track) = body.track.ok_or_else(|| FieldError::missing("track"))?;
    Ok(TrackChange {
        name: track.name.map(|name| Name::parse("name", name.as_deref().unwrap_or_default())).transpose()?,
        lane: track.lane_id.map(lane).transpose()?,
        position: track.position.map(|Position(position)| position),
    })
}

fn lane(id: Option<String>) -> Validated<Option<LaneId>> {
    Ok(optional_uuid("lane_id", id.as_deref())?.map(LaneId::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields;
    use serde_json::{Value, json};

    const LANE: &str = "01976800-c95f-7d4d-9d90-7a6bf43233fb";

    fn read<B: serde::de::DeserializeOwned>(sent: Value) -> Validated<B> {
        let Value::Object(body) = json!({ "track": sent }) else { panic!("an object") };
        fields::body(body)
    }

    #[test]
    fn only_sent_fields_change_and_a_track_can_leave_its_lane() {
        let changed = |sent| read(sent).and_then(change);
        assert_eq!(changed(json!({ "position": null })).unwrap(), TrackChange::default());
        for blank in [json!(null), json!(" ")] {
            assert_eq!(changed(json!({ "lane_id": blank })).unwrap().lane, Some(None));
            assert_eq!(changed(json!({ "name": blank })).unwrap_err(), FieldError::missing("name"));
        }
        let all = changed(json!({ "name": " Next ", "lane_id": LANE, "position": 3 })).unwrap();
        assert_eq!(all.name.unwrap().as_str(), "Next");
        assert_eq!((all.lane.flatten().map(|lane| lane.to_string()), all.position), (Some(LANE.to_owned()), Some(3)));
        for (sent, message) in [
            (json!(null), "param is missing or the value is empty or invalid: track"),
            (json!({ "lane_id": "Done" }), "lane_id is not a valid UUID"),
            (json!({ "position": 0 }), "position must be an integer of at least 1"),
        ] {
            assert_eq!(changed(sent).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_new_track_needs_only_a_name() {
        let new = |sent| read(sent).and_then(draft);
        let track = new(json!({ "name": "Next" })).unwrap();
        assert_eq!((track.name.as_str(), track.lane, track.position), ("Next", None, None));
        assert_eq!(new(json!({ "lane_id": LANE })).unwrap_err(), FieldError::missing("name"));
        assert_eq!(new(json!(null)).unwrap_err(), FieldError::missing("track"));
    }
}
