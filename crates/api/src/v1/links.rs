//! `GET` and `POST /feature_requests/{id}/links`, `PATCH` and `DELETE /links/{id}`: what the team builds for feature requests.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::cursor::CursorList;
use roadmap_domain::model::id::LinkId;
use roadmap_domain::model::link::{Link, LinkChange, LinkDraft};
use roadmap_domain::usecase::change_links::{AddLink, DeleteLink, LinkAdded, UpdateLink};
use roadmap_domain::usecase::query::records::ListLinks;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{execute_deletion, execute_operation};
use crate::error::ApiError;
use crate::extractors::{DeleteRequest, ReadRequest, WriteRequest, feature_request_ref, record_id_or_nil};
use crate::fields::{Object, double_option, sent};
use crate::openapi::failures::{
    AddLinkErrors, BodyErrors, CommonErrors, DeleteErrors, FeatureRequestErrors, LinkErrors, OperationKeyErrors,
    QueryErrors, RecordBudgetErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateLink)]
struct NewBody {
    #[schema(required = true, value_type = NewLink)]
    link: Option<Object<NewLink>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewLink {
    #[schema(required = true, schema_with = described::link_url)]
    url: Option<String>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::link_title)]
    title: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::new_link_state)]
    state: Option<Option<String>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UpdateLink)]
struct ChangeBody {
    #[schema(required = true, value_type = ChangedLink)]
    link: Option<Object<ChangedLink>>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = LinkChange)]
struct ChangedLink {
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::link_title)]
    title: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option")]
    #[schema(schema_with = described::link_state)]
    state: Option<Option<String>>,
}

/// List the links of a feature request
///
/// Oldest first, with those of what is merged into it. They lead to what the team builds for it, and are never shown to
/// customers.
#[utoipa::path(
    get,
    path = "/api/external/v1/feature_requests/{id}/links",
    operation_id = "listLinks",
    tag = "Links",
    params(described::FeatureRequestIdParameter, described::PageParameters),
    responses(
        (status = 200, description = "A page of links.", body = wire::link::Page),
        CommonErrors, QueryErrors, FeatureRequestErrors
    )
)]
pub(crate) async fn index(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let request = feature_request_ref(&request);
    let cursors = CursorList::new(input.workspace, "links", &format!("{request:?}"));
    let query = ListLinks { request, page: input.query.page_of(&cursors) };
    let listed = state.queries.run(input.workspace, &query).await?;
    Ok(wire::ok(&wire::link::listed(&listed, &input.links, &cursors)))
}

/// Link a feature request to an issue
///
/// At most 20. If it has a link to the same issue, with whatever case, query or trailing words, that one gets the title and
/// the state that are sent.
#[utoipa::path(
    post,
    path = "/api/external/v1/feature_requests/{id}/links",
    operation_id = "createLink",
    tag = "Links",
    params(described::FeatureRequestIdParameter),
    request_body(
        content = NewBody,
        example = json!({ "link": { "url": "https://github.com/acme/app/issues/7", "title": "Dark mode", "state": "open" } })
    ),
    responses(
        (status = 200, description = "The link to the same issue.", body = wire::link::Response),
        (
            status = 201,
            description = "The link.",
            body = wire::link::Response,
            links(
                ("update" = (operation_id = "updateLink", parameters(("id" = "$response.body#/link/id")))),
                ("delete" = (operation_id = "deleteLink", parameters(("id" = "$response.body#/link/id"))))
            )
        ),
        CommonErrors, BodyErrors, RecordBudgetErrors, AddLinkErrors
    )
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let request = feature_request_ref(&request);
    let operation = move |draft| AddLink { request, draft };
    let render = move |LinkAdded { link, is_new }: LinkAdded| match (wire::link::response(&link, &links), is_new) {
        (response, true) => wire::saved_created(&response),
        (response, false) => wire::saved_ok(&response),
    };
    execute_operation(&state, input, Target::FeatureRequest(request), draft, operation, render).await
}

/// Update a link
///
/// It moves no feature request.
#[utoipa::path(
    patch,
    path = "/api/external/v1/links/{id}",
    operation_id = "updateLink",
    tag = "Links",
    params(described::RecordIdParameter),
    request_body(content = ChangeBody, example = json!({ "link": { "state": "closed" } })),
    responses(
        (status = 200, description = "The link.", body = wire::link::Response),
        CommonErrors, BodyErrors, OperationKeyErrors, RecordBudgetErrors, LinkErrors
    )
)]
pub(crate) async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequest,
) -> Result<HttpResponse, ApiError> {
    let links = input.links.clone();
    let link = record_id_or_nil(&request, LinkId::new);
    let operation = move |change| UpdateLink { link, change };
    let render = move |link: Link| wire::saved_ok(&wire::link::response(&link, &links));
    execute_operation(&state, input, Target::Link(link), change, operation, render).await
}

/// Delete a link
#[utoipa::path(
    delete,
    path = "/api/external/v1/links/{id}",
    operation_id = "deleteLink",
    tag = "Links",
    params(described::RecordIdParameter),
    responses((status = 204, description = "The link is deleted."), CommonErrors, DeleteErrors, LinkErrors)
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let link = record_id_or_nil(&request, LinkId::new);
    execute_deletion(&state, input, DeleteLink { link }).await?;
    Ok(wire::no_content())
}

fn draft(body: NewBody) -> Validated<LinkDraft> {
    let Object(link) = body.link.ok_or_else(|| FieldError::missing("link"))?;
    LinkDraft::parse(link.url.as_deref(), sent(&link.title), sent(&link.state))
}

fn change(body: ChangeBody) -> Validated<LinkChange> {
    let Object(link) = body.link.ok_or_else(|| FieldError::missing("link"))?;
    LinkChange::parse(sent(&link.title), sent(&link.state))
}
