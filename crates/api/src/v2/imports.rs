//! `POST /imports`, `GET /imports`, `GET` and `DELETE /imports/{id}`, `POST /imports/{id}/run` and `/undo`.

use std::collections::BTreeMap;

use actix_multipart::Multipart;
use actix_web::http::StatusCode;
use actix_web::web::{self, Bytes};
use actix_web::{HttpRequest, HttpResponse};
use futures_util::StreamExt;
use roadmap_domain::error::{FieldError, FieldProblem, Validated};
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::import::run::Import;
use roadmap_domain::model::import::upload::{ImportJob, ImportOptions, JobFile};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::usecase::import::jobs::RequestImport;
use roadmap_domain::usecase::import::uploads::ImportDraft;
use roadmap_domain::usecase::query::files::LocateJobFile;
use roadmap_domain::usecase::query::imports::{ListImports, ShowImport};
use roadmap_domain::usecase::target::Target;
use roadmap_domain::usecase::upload_attachment;
use roadmap_http::form_part::lenient_headers;
use roadmap_http::upload_form::{FormBeginning, ReceivedFile, hand_on};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::ApiError;
use crate::extractors::{
    DeleteRequest, ReadRequest, UploadRequest, WriteRequestWithoutFields, record_id, record_id_or_nil,
};
use crate::openapi::failures::{
    BodyErrors, CommonErrors, DeleteErrors, DiscardImportErrors, FileBudgetErrors, ImportErrors, ImportUploadErrors,
    QueryErrors, RunImportErrors, UndoImportErrors,
};
use crate::openapi::fields as described;
use crate::state::State;
use crate::v1::execute_operation;
use crate::wire;
use crate::wire::Links;

/// The form of an upload.
#[derive(ToSchema)]
#[expect(dead_code, reason = "a form is read piece by piece, this describes it in the document")]
struct ImportUpload {
    /// The program that the file comes from: `csv`, `astuto`, `canny`, `clearflask`, `fider`, `github`, `logchimp`,
    /// `quackback` or `uservoice`.
    source: String,
    /// Which installation of the program it is: 1 to 40 of a-z, 0-9 and -. By default the source.
    #[schema(required = false)]
    name: String,
    /// How the file is read and loaded, as JSON.
    #[schema(required = false)]
    options: String,
    /// The last part of the form. A file, or a zip of several ones.
    #[schema(value_type = String, format = Binary)]
    file: Bytes,
}

/// Upload a file to import
///
/// Nothing is imported until it is run.
#[utoipa::path(
    post,
    path = "/api/external/v2/imports",
    operation_id = "createImport",
    tag = "Imports",
    request_body(content = ImportUpload, content_type = "multipart/form-data"),
    responses(
        (
            status = 201,
            description = "The import.",
            body = wire::import::Response,
            links(
                ("show" = (operation_id = "showImport", parameters(("id" = "$response.body#/import/id")))),
                ("run" = (operation_id = "runImport", parameters(("id" = "$response.body#/import/id")))),
                ("delete" = (operation_id = "deleteImport", parameters(("id" = "$response.body#/import/id"))))
            )
        ),
        CommonErrors, ImportUploadErrors, FileBudgetErrors
    )
)]
pub(crate) async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    payload: web::Payload,
) -> Result<HttpResponse, ApiError> {
    let input = UploadRequest::from_head(&request)?;
    let body = state.http.bodies.upload_body(payload.into_inner());
    let mut parts = Multipart::new(&lenient_headers(request.headers()), body.clone()).fuse();
    let added = match FormBeginning::read(&mut parts).await {
        Err(_) => Err(ApiError::MalformedUpload),
        Ok(beginning) => match draft(&beginning) {
            Err(invalid) => Err(invalid.into()),
            Ok(draft) => {
                let (imports, workspace) = (state.imports.clone(), input.workspace);
                imports.check(workspace, &draft).await?;
                // `draft` has found it.
                let Some((file, _)) = beginning.file else { return Err(ApiError::MalformedUpload) };
                body.begin_file();
                let executor = state.executor.acting_as(input.origin);
                let add = |mut content: ReceivedFile| async move {
                    imports.add(&executor, workspace, draft, &mut content).await
                };
                match hand_on(file, &state.http.detached, add).await {
                    None => Err(ApiError::MalformedUpload),
                    Some(added) => added.and_then(|added| Ok(added?)),
                }
            }
        },
    };
    let added = match added {
        Err(ApiError::MalformedUpload) if body.has_timed_out() => Err(ApiError::BodyTimeout),
        added => added,
    };
    // A malformed or stalled form is not drained.
    if matches!(added, Ok(_) | Err(ApiError::Domain(_))) {
        body.drain().await;
    }
    let import = wire::import::fields(&added?, BTreeMap::new(), state.http.clock.now());
    Ok(wire::created(&wire::import::response(import)))
}

/// Reads what is said of a file.
fn draft(beginning: &FormBeginning) -> Validated<ImportDraft> {
    let Some((_, file_name)) = &beginning.file else {
        let is_elsewhere = beginning.has_other_file;
        return Err(if is_elsewhere {
            upload_attachment::file_of_another_field()
        } else {
            FieldError::missing("file")
        });
    };
    let options = match beginning.get("options").trim() {
        "" => ImportOptions::default(),
        text => {
            let value = serde_json::from_str(text).map_err(|error| wrong_options(&error))?;
            options(&value)?
        }
    };
    Ok(ImportDraft {
        source: beginning.get("source").trim().to_owned(),
        name: Some(beginning.get("name").to_owned()),
        options,
        file_name: Filename::sanitize(file_name.as_deref().unwrap_or_default()).as_str().to_owned(),
    })
}

fn wrong_options(error: &serde_json::Error) -> FieldError {
    FieldError::new("options", FieldProblem::InFile { message: format!("options cannot be read: {error}") })
}

/// Parses how a file is read.
fn options(value: &Value) -> Validated<ImportOptions> {
    if value.to_string().len() > ImportOptions::MAX_BYTES {
        return Err(FieldError::new("options", FieldProblem::TooLong { max: ImportOptions::MAX_BYTES }));
    }
    ImportOptions::deserialize(value).map_err(|error| wrong_options(&error))
}

/// List imports
///
/// Newest first, also those of commands.
#[utoipa::path(
    get,
    path = "/api/external/v2/imports",
    operation_id = "listImports",
    tag = "Imports",
    params(described::PageNumberParameters),
    responses(
        (status = 200, description = "A page of imports.", body = wire::import::Page),
        CommonErrors, QueryErrors
    )
)]
pub(crate) async fn index(state: web::Data<State>, input: ReadRequest) -> Result<HttpResponse, ApiError> {
    let page = PageRequest::parse(input.query.get("page")?, input.query.get("page_size")?)?;
    let listing = state.queries.run(input.workspace, &ListImports { page }).await?;
    let mut imports = Vec::new();
    for shown in &listing.items {
        imports.push(with_files(&state, input.workspace, &input.links, &shown.import, &shown.files).await?);
    }
    Ok(wire::ok(&wire::import::page(&listing, imports)))
}

async fn with_files(
    state: &State,
    workspace: WorkspaceId,
    links: &Links,
    import: &Import,
    files: &[JobFile],
) -> Result<wire::import::Fields, ApiError> {
    let mut urls = BTreeMap::new();
    for file in files {
        let url = state.queries.run(workspace, &LocateJobFile { file: &file.file, links }).await?;
        urls.insert(file.name.clone(), url);
    }
    Ok(wire::import::fields(import, urls, state.http.clock.now()))
}

/// Show an import
#[utoipa::path(
    get,
    path = "/api/external/v2/imports/{id}",
    operation_id = "showImport",
    tag = "Imports",
    params(described::RecordIdParameter),
    responses(
        (status = 200, description = "The import.", body = wire::import::Response),
        CommonErrors, ImportErrors
    )
)]
pub(crate) async fn show(
    state: web::Data<State>,
    request: HttpRequest,
    input: ReadRequest,
) -> Result<HttpResponse, ApiError> {
    let query = ShowImport { id: record_id(&request, ImportId::new) };
    let shown = state.queries.run(input.workspace, &query).await?;
    let import = with_files(&state, input.workspace, &input.links, &shown.import, &shown.files).await?;
    Ok(wire::ok(&wire::import::response(import)))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = RunImport)]
struct RunBody {
    /// Find out what would be imported, and write nothing. False by default.
    dry_run: Option<bool>,
    /// How the file is read and loaded from now on.
    #[serde(default)]
    #[schema(value_type = ImportOptionsBody)]
    #[expect(dead_code, reason = "they are read before")]
    options: Option<Value>,
}

/// How a file is read and loaded.
#[derive(ToSchema)]
#[schema(as = ImportOptions)]
#[expect(dead_code, reason = "the options of the domain, as the document describes them")]
struct ImportOptionsBody {
    /// The columns of fields. An empty one leaves the field out.
    #[schema(required = false)]
    map: BTreeMap<String, String>,
    /// The tracks of statuses, by their names.
    #[schema(required = false)]
    tracks: BTreeMap<String, String>,
    /// A label of an encoding (WHATWG); detected by default.
    encoding: Option<String>,
    /// The character between columns, or `tab`; detected by default.
    delimiter: Option<String>,
    /// The order of dates such as 01/02/2024: `dmy` or `mdy`.
    dates: Option<String>,
    /// Who gets mail about the feature requests that they have voted for: `keep` (by default), `none` or `all`.
    #[schema(required = false)]
    subscribe: String,
    /// Overwrite records that have changed in the source, unless they were changed here since. False by default.
    #[schema(required = false)]
    update: bool,
    /// Add the team of the source to the team. False by default.
    #[schema(required = false)]
    make_members: bool,
}

/// Run an import
///
/// A process of the service does it. After a dry run the state is `uploaded` again, with its report. One that has stopped
/// goes on.
#[utoipa::path(
    post,
    path = "/api/external/v2/imports/{id}/run",
    operation_id = "runImport",
    tag = "Imports",
    params(described::RecordIdParameter),
    request_body(content = RunBody, example = json!({ "dry_run": true })),
    responses(
        (status = 202, description = "The import, which runs.", body = wire::import::Response),
        CommonErrors, BodyErrors, RunImportErrors
    )
)]
pub(crate) async fn run(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let (id, input) = (record_id_or_nil(&request, ImportId::new), input.0);
    let sent = input.body.get("options").filter(|sent| !sent.is_null());
    if let (Some(sent), Ok(key)) = (sent, &input.key) {
        let executor = state.executor.acting_as(input.origin.clone());
        let (imports, workspace, key) = (state.imports.clone(), input.workspace, key.clone());
        let options = options(sent)?;
        let change = async move {
            // What was sent before has changed them already.
            let saved = executor.find_saved_response(workspace, key.as_ref(), &Target::Import(id)).await?;
            match saved {
                Some(_) => Ok(()),
                None => imports.change(&executor, workspace, id, options).await.map(drop),
            }
        };
        state.http.detached.run(change).await??;
    }
    let now = state.http.clock.clone();
    let job = |body: RunBody| Ok(if body.dry_run.unwrap_or_default() { ImportJob::Try } else { ImportJob::Run });
    let operation = move |job| RequestImport { id, job };
    let render = move |import: Import| {
        let import = wire::import::fields(&import, BTreeMap::new(), now.now());
        wire::saved(StatusCode::ACCEPTED, &wire::import::response(import))
    };
    execute_operation(&state, input, Target::Import(id), job, operation, render).await
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = UndoImport)]
struct UndoBody {}

/// Undo an import
///
/// Deletes what it has made. A feature request on which anything else has happened since stays whole. Possible for 30 days.
#[utoipa::path(
    post,
    path = "/api/external/v2/imports/{id}/undo",
    operation_id = "undoImport",
    tag = "Imports",
    params(described::RecordIdParameter),
    request_body(content = UndoBody, example = json!({})),
    responses(
        (status = 202, description = "The import, which is being undone.", body = wire::import::Response),
        CommonErrors, BodyErrors, UndoImportErrors
    )
)]
pub(crate) async fn undo(
    state: web::Data<State>,
    request: HttpRequest,
    input: WriteRequestWithoutFields,
) -> Result<HttpResponse, ApiError> {
    let (id, clock) = (record_id_or_nil(&request, ImportId::new), state.http.clock.clone());
    let operation = move |()| RequestImport { id, job: ImportJob::Undo };
    let render = move |import: Import| {
        let import = wire::import::fields(&import, BTreeMap::new(), clock.now());
        wire::saved(StatusCode::ACCEPTED, &wire::import::response(import))
    };
    execute_operation(&state, input.0, Target::Import(id), |_: UndoBody| Ok(()), operation, render).await
}

/// Delete an import
///
/// Only one of which nothing is in yet. Its file is deleted, too.
#[utoipa::path(
    delete,
    path = "/api/external/v2/imports/{id}",
    operation_id = "deleteImport",
    tag = "Imports",
    params(described::RecordIdParameter),
    responses(
        (status = 204, description = "The import is deleted."),
        CommonErrors, DeleteErrors, DiscardImportErrors
    )
)]
pub(crate) async fn delete(
    state: web::Data<State>,
    request: HttpRequest,
    input: DeleteRequest,
) -> Result<HttpResponse, ApiError> {
    let id = record_id_or_nil(&request, ImportId::new);
    let (imports, workspace, executor) =
        (state.imports.clone(), input.workspace, state.executor.acting_as(input.origin));
    state.http.detached.run(async move { imports.discard(&executor, workspace, id).await }).await??;
    Ok(wire::no_content())
}
