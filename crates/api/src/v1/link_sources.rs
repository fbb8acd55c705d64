//! `GET` and `POST /link_sources`, `GET`, `PATCH` and `DELETE /link_sources/{id}`: the trackers that report closed issues.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::id::{LinkSourceId, TrackId, parse_uuid};
use roadmap_domain::model::link_source::{LinkSource, LinkSourceChange};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::text::Name;
use roadmap_domain::policy::sealing::SecretText;
use roadmap_domain::usecase::change_link_sources::{
    AddLinkSource, DeleteLinkSource, LinkSourceAdded, LinkSourceDraft, UpdateLinkSource, parse_secret,
};
use roadmap_domain::usecase::query::link_sources::{ListLinkSources, ShowLinkSource};
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, record_id, record_id_or_nil};
use crate::fields::{Object, double_option};
use crate::openapi::failures::{
    AddLinkSourceErrors, BodyErrors, CommonErrors, DeleteErrors, LinkSourceErrors, OperationKeyErrors, QueryErrors,
    UpdateLinkSourceErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateLinkSource)]
struct NewBody {
    #[schema(required = true, value_type = NewLinkSource)]
    link_source: Option<Object<NewLinkSource>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewLinkSource {
    #[schema(required = true, schema_with = described::record_name)]
    name: Option<String>,
    #[schema(required = true, schema_with = described::link_source_kind)]
    kind: Option<String>,
    #[schema(schema_with = described::closed_track)]
    closed_track_id: Option<String>,
    #[schema(schema_with = described::notify_closed)]
    notify_all_voters: Option<bool>,
    #[schema(schema_with = described::new_link_source_enabled)]
    enabled: Option<bool>,
    #[schema(schema_with = described::new_link_source_secret)]
    secret: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateLinkSource)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedLinkSource)]
    link_source: Option<Object<ChangedLinkSource>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LinkSourceChange)]
struct ChangedLinkSource {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::record_name)]
    name: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::closed_track)]
    closed_track_id: Option<Option<String>>,
    #[schema(schema_with = described::notify_closed)]
    notify_all_voters: Option<bool>,
    #[schema(schema_with = described::link_source_enabled)]
    enabled: Option<bool>,
    #[schema(schema_with = described::link_source_secret)]
    secret: Option<String>,
}

/// List link sources
///
/// Oldest first, at most 20.
#[utoipa::path(
    get,
    path = "/api/external/v1/link_sources",
    operation_id = "listLinkSources",
    tag = "Links",
    params(described::PageNumberParameters),
    responses(
        (
            status = 200,
            description = "A page of link sources.",
            body = wire::link_source::Page,
            links(
                ("show" = (
                    operation_id = "showLinkSource",
                    parameters(("id" = "$response.body#/link_sources/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let page = input.query.page_without_cursor("cursor cannot be given for link sources")?;
    let sources = state.queries.run(input.workspace, &ListLinkSources).await?;
    Ok(wire::ok(&wire::link_source::listed(&Listing::of_all(sources, page), &input.links)))
}

/// Show a link source
#[utoipa::path(
    get,
    path = "/api/external/v1/link_sources/{id}",
    operation_id = "showLinkSource",
    tag = "Links",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The link source.", body = wire::link_source::Response),
        CommonErrors, LinkSourceErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowLinkSource { source: record_id(&request, LinkSourceId::new) };
    let source = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::link_source::response(&source, &input.links)))
}

/// Create a link source
///
/// A tracker that sends its webhooks to `hook_url` reports its issues: links to them get their titles and states, and feature
/// requests whose last open issue is done move to the track. The response is not saved under an operation key, because it
/// has the secret.
#[utoipa::path(
    post,
    path = "/api/external/v1/link_sources",
    operation_id = "createLinkSource",
    tag = "Links",
    request_body(
        content = NewBody,
        example = json!({ "link_source": { "name": "GitHub", "kind": "github", "notify_all_voters": true } })
    ),
    responses(
        (
            status = 201,
            description = "The link source, and the secret, which is not shown again.",
            body = wire::link_source::Created,
            links(
                ("update" = (
                    operation_id = "updateLinkSource",
                    parameters(("id" = "$response.body#/link_source/id"))
                )),
                ("delete" = (
                    operation_id = "deleteLinkSource",
                    parameters(("id" = "$response.body#/link_source/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, AddLinkSourceErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, mut input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let (links, sealer) = (input.links.clone(), state.sealer.clone());
    // A saved response would hold the secret.
    input.key = Ok(None);
    let operation = move |draft| AddLinkSource { draft, sealer };
    let render = move |added: LinkSourceAdded| wire::saved_created(&wire::link_source::created(&added, &links));
    execute_operation(&state, input, Target::Workspace, draft, operation, render).await
}

/// Update a link source
///
/// Omitted fields are unchanged.
#[utoipa::path(
    patch,
    path = "/api/external/v1/link_sources/{id}",
    operation_id = "updateLinkSource",
    tag = "Links",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "link_source": { "enabled": false } })),
    responses(
        (status = 200, description = "The link source.", body = wire::link_source::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, UpdateLinkSourceErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let (links, sealer) = (input.links.clone(), state.sealer.clone());
    let source = record_id_or_nil(&request, LinkSourceId::new);
    let operation = move |(change, secret)| UpdateLinkSource { source, change, secret, sealer };
    let render = move |source: LinkSource| wire::saved_ok(&wire::link_source::response(&source, &links));
    execute_operation(&state, input, Target::LinkSource(source), change, operation, render).await
}

/// Delete a link source
///
/// Links keep their titles and states.
#[utoipa::path(
    delete,
    path = "/api/external/v1/link_sources/{id}",
    operation_id = "deleteLinkSource",
    tag = "Links",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The link source is deleted."), CommonErrors, DeleteErrors, LinkSourceErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let source = record_id_or_nil(&request, LinkSourceId::new);
    execute_deletion(&state, input, DeleteLinkSource { source }).await?;
    Ok(wire::no_content())
}

fn draft(body: NewBody) -> Validated<LinkSourceDraft> {
    let Object(new) = body.link_source.ok_or_else(|| FieldError::missing("link_source"))?;
    let change = LinkSourceChange {
        name: Some(Name::parse("name", new.name.as_deref().unwrap_or_default())?),
        closed_track: Some(track(new.closed_track_id.as_deref())?),
        notify_all_voters: new.notify_all_voters,
        enabled: new.enabled,
    };
    LinkSourceDraft::parse(new.kind.as_deref(), change, parse_secret(new.secret.as_deref())?)
}

fn change(body: ChangeBody) -> Validated<(LinkSourceChange, Option<SecretText>)> {
    let Object(changed) = body.link_source.ok_or_else(|| FieldError::missing("link_source"))?;
    let change = LinkSourceChange {
        name: changed.name.map(|name| Name::parse("name", name.as_deref().unwrap_or_default())).transpose()?,
        closed_track: changed.closed_track_id.map(|id| track(id.as_deref())).transpose()?,
        notify_all_voters: changed.notify_all_voters,
        enabled: changed.enabled,
    };
    Ok((change, parse_secret(changed.secret.as_deref())?))
}

/// Parses the ID of a track. Null or blank: none.
fn track(raw: Option<&str>) -> Validated<Option<TrackId>> {
    match raw.unwrap_or_default().trim() {
        "" => Ok(None),
        id => parse_uuid("closed_track_id", id).map(|id| Some(TrackId::new(id))),
    }
}
