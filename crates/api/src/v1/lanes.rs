//! `GET` and `POST /lanes`, `PATCH` and `DELETE /lanes/{id}`: the lanes of the public roadmap.

use std::collections::BTreeMap;

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::board::{LaneChange, ListedLane};
use roadmap_domain::model::id::LaneId;
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::LaneKind;
use roadmap_domain::usecase::change_board::{AddLane, ChangeLane, Changed, LaneDraft, RemoveLane};
use roadmap_domain::usecase::query::tracks::ListLanes;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, record_id_or_nil};
use crate::fields::{Object, Position, double_option};
use crate::openapi::failures::{BodyErrors, CommonErrors, DeleteErrors, LaneErrors, OperationKeyErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateLane)]
struct NewBody {
    #[schema(required = true, value_type = NewLane)]
    lane: Option<Object<NewLane>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewLane {
    #[schema(required = true, schema_with = described::record_name)]
    name: Option<String>,
    #[schema(schema_with = described::new_lane_kind)]
    kind: Option<String>,
    #[schema(schema_with = described::lane_names)]
    names: Option<BTreeMap<String, Option<String>>>,
    #[schema(schema_with = described::position)]
    position: Option<Position>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateLane)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedLane)]
    lane: Option<Object<ChangedLane>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LaneChange)]
struct ChangedLane {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::record_name)]
    name: Option<Option<String>>,
    #[schema(schema_with = described::changed_lane_kind)]
    kind: Option<String>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::lane_names)]
    names: Option<Option<BTreeMap<String, Option<String>>>>,
    #[schema(schema_with = described::changed_position)]
    position: Option<Position>,
}

/// List the lanes of the roadmap
#[utoipa::path(
    get,
    path = "/api/external/v1/lanes",
    operation_id = "listLanes",
    tag = "Roadmap",
    responses((status = 200, description = "All lanes.", body = wire::lane::Body), CommonErrors)
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let lanes = state.queries.run(input.workspace, &ListLanes).await?;
    Ok(wire::ok(&wire::lane::listed(&lanes)))
}

/// Create a lane
///
/// Names are unique, regardless of case.
#[utoipa::path(
    post,
    path = "/api/external/v1/lanes",
    operation_id = "createLane",
    tag = "Roadmap",
    request_body(content = NewBody, example = json!({ "lane": { "name": "Next up", "names": { "de": "Als Nächstes" }, "position": 2 } })),
    responses(
        (
            status = 201,
            description = "The lane.",
            body = wire::lane::Response,
            links(
                ("update" = (operation_id = "updateLane", parameters(("id" = "$response.body#/lane/id")))),
                ("delete" = (operation_id = "deleteLane", parameters(("id" = "$response.body#/lane/id"))))
            )
        ),
        CommonErrors, BodyErrors, OperationKeyErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let render = |lane: ListedLane| wire::saved_created(&wire::lane::response(&lane));
    execute_operation(&state, input, Target::Workspace, draft, |draft| AddLane { draft }, render).await
}

/// Update a lane
///
/// Omitted fields are unchanged. A new name is the new status of all feature requests in the lane.
#[utoipa::path(
    patch,
    path = "/api/external/v1/lanes/{id}",
    operation_id = "updateLane",
    tag = "Roadmap",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "lane": { "position": 1 } })),
    responses(
        (status = 200, description = "The lane.", body = wire::lane::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, LaneErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let lane = record_id_or_nil(&request, LaneId::new);
    let operation = move |change| ChangeLane { lane, change };
    let render = |changed: Changed<ListedLane>| wire::saved_ok(&wire::lane::response(&changed.record));
    execute_operation(&state, input, Target::Lane(lane), change, operation, render).await
}

/// Delete a lane
///
/// Its tracks are no longer on the roadmap.
#[utoipa::path(
    delete,
    path = "/api/external/v1/lanes/{id}",
    operation_id = "deleteLane",
    tag = "Roadmap",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The lane is deleted."), CommonErrors, DeleteErrors, LaneErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let lane = record_id_or_nil(&request, LaneId::new);
    execute_deletion(&state, input, RemoveLane { lane }).await?;
    Ok(wire::no_content())
}

/// Reads a kind. Blank means none.
fn parse_kind(raw: Option<&str>) -> Validated<Option<LaneKind>> {
    raw.filter(|raw| !raw.trim().is_empty()).map(|raw| LaneKind::parse("kind", raw)).transpose()
}

/// Reads names by language. Null means none.
fn parse_names(names: Option<BTreeMap<String, Option<String>>>) -> Validated<Localized> {
    let names = names.unwrap_or_default();
    Localized::parse_names("names", names.iter().map(|(code, name)| (code.as_str(), name.as_deref())))
}

fn draft(body: NewBody) -> Validated<LaneDraft> {
    let Object(lane) = body.lane.ok_or_else(|| FieldError::missing("lane"))?;
    Ok(LaneDraft {
        name: Name::parse("name", lane.name.as_deref().unwrap_or_default())?,
        kind: parse_kind(lane.kind.as_deref())?,
        names: parse_names(lane.names)?,
        position: lane.position.map(|Position(position)| position),
    })
}

fn change(body: ChangeBody) -> Validated<LaneChange> {
    let Object(lane) = body.lane.ok_or_else(|| FieldError::missing("lane"))?;
    Ok(LaneChange {
        name: lane.name.map(|name| Name::parse("name", name.as_deref().unwrap_or_default())).transpose()?,
        kind: parse_kind(lane.kind.as_deref())?,
        names: lane.names.map(parse_names).transpose()?,
        position: lane.position.map(|Position(position)| position),
    })
}
