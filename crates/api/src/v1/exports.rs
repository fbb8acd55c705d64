//! `GET` and `POST /exports`, `GET /exports/{id}`.

use actix_web::{HttpRequest, HttpResponse, web};
use roadmap_domain::error::{FieldError, Validated};
use roadmap_domain::model::export::ExportOptions;
use roadmap_domain::model::export::run::ExportRun;
use roadmap_domain::model::id::{ExportId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::usecase::export_jobs::RequestExport;
use roadmap_domain::usecase::query::exports::{ListExports, ListedExport, ShowExport};
use roadmap_domain::usecase::query::files::LocateJobFile;
use roadmap_domain::usecase::target::Target;
use serde::Deserialize;
use utoipa::ToSchema;

use super::execute_operation;
use crate::error::ApiError;
use crate::extractors::{ReadRequest, WriteRequest, record_id};
use crate::fields::Object;
use crate::openapi::failures::{BodyErrors, CommonErrors, ExportErrors, QueryErrors, RequestExportErrors};
use crate::openapi::fields as described;
use crate::state::State;
use crate::wire;
use crate::wire::Links;

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = CreateExport)]
struct Body {
    #[schema(required = true, value_type = NewExport)]
    export: Option<Object<NewExport>>,
}

#[derive(Debug, Deserialize, ToSchema)]
struct NewExport {
    #[schema(schema_with = described::without_people)]
    without_people: Option<bool>,
    #[schema(schema_with = described::without_notes)]
    without_notes: Option<bool>,
}

/// Create an export
///
/// Everything of the workspace as one zip. The service writes it in the background: ask for it again until `state` is not
/// `running` any more. It is deleted 24 hours after it was created.
#[utoipa::path(
    post,
    path = "/api/external/v1/exports",
    operation_id = "createExport",
    tag = "Settings",
    request_body(content = Body, example = json!({ "export": { "without_notes": true } })),
    responses(
        (
            status = 202,
            description = "The export, which is being written.",
            body = wire::export::Response,
            links(
                ("show" = (
                    operation_id = "showExport",
                    parameters(("id" = "$response.body#/export/id"))
                ))
            )
        ),
        CommonErrors, BodyErrors, RequestExportErrors
    )
)]
pub(crate) async fn create(state: web::Data<State>, input: WriteRequest) -> Result<HttpResponse, ApiError> {
    let operation = |options| RequestExport { options };
    let render =
        |run: ExportRun| wire::saved_accepted(&wire::export::response(&ListedExport { run, file: None }, None));
    execute_operation(&state, input, Target::Workspace, options, operation, render).await
}

/// List exports
///
/// Newest first, for 24 hours each.
#[utoipa::path(
    get,
    path = "/api/external/v1/exports",
    operation_id = "listExports",
    tag = "Settings",
    params(described::PageNumberParameters),
    responses(
        (
            status = 200,
            description = "A page of exports.",
            body = wire::export::Page,
            links(
                ("show" = (
                    operation_id = "showExport",
                    parameters(("id" = "$response.body#/exports/0/id"))
                ))
            )
        ),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    // There are few exports: one at a time, each for a day.
    let page = input.query.page_without_cursor("cursor cannot be given for exports")?;
    let Listing { items, request, total } = state.queries.run(input.workspace, &ListExports { page }).await?;
    let mut located = Vec::with_capacity(items.len());
    for export in items {
        let url = download_url(&state, input.workspace, &input.links, &export).await?;
        located.push((export, url));
    }
    Ok(wire::ok(&wire::export::listed(&Listing { items: located, request, total })))
}

/// Show an export
///
/// `download_url` needs no key, is another one in every response, and is valid for 15 minutes.
#[utoipa::path(
    get,
    path = "/api/external/v1/exports/{id}",
    operation_id = "showExport",
    tag = "Settings",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The export.", body = wire::export::Response),
        CommonErrors, ExportErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowExport { export: record_id(&request, ExportId::new) };
    let export = state.queries.run(input.workspace, &query).await?;
    let url = download_url(&state, input.workspace, &input.links, &export).await?;
    Ok(wire::ok(&wire::export::response(&export, url)))
}

/// Returns the URL at which the file of an export can be downloaded for a while.
async fn download_url(
    state: &State,
    workspace: WorkspaceId,
    links: &Links,
    export: &ListedExport,
) -> Result<Option<String>, ApiError> {
    let Some(file) = &export.file else { return Ok(None) };
    Ok(Some(state.queries.run(workspace, &LocateJobFile { file, links }).await?))
}

fn options(body: Body) -> Validated<ExportOptions> {
    let Object(NewExport { without_people, without_notes }) =
        body.export.ok_or_else(|| FieldError::missing("export"))?;
    Ok(ExportOptions {
        without_people: without_people.unwrap_or_default(),
        without_notes: without_notes.unwrap_or_default(),
    })
}
