//! Imports.

use std::collections::BTreeMap;

use roadmap_domain::model::import::run::{Import, ImportState};
use roadmap_domain::model::import::upload::ImportJob;
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::usecase::query::imports::ShownImport;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::page::Envelope;

/// An import.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Import)]
pub(crate) struct Fields {
    #[schema(format = "uuid")]
    id: String,
    /// The program that the file comes from.
    #[schema(min_length = 1)]
    source: String,
    /// Which installation of the program it is.
    #[schema(min_length = 1)]
    name: String,
    /// Null: a command has read its files, or the import has come to its end.
    file_name: Option<String>,
    /// `uploaded`, `running`, `stopped`, `failed`, `done` or `undone`.
    #[schema(min_length = 1)]
    state: &'static str,
    /// Whether it runs without writing anything, or the report is about such a run.
    dry_run: bool,
    /// How far it is while it runs; null before it has read the file.
    progress: Option<Progress>,
    /// What became of the records, once it has come to an end or was tried out.
    #[schema(value_type = Option<Object>)]
    report: Option<Value>,
    /// The files of the report: their names, with URLs that need no key and are valid for 15 minutes.
    files: BTreeMap<String, String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    ended_at: Option<String>,
}

/// How far an import is.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportProgress)]
pub(crate) struct Progress {
    /// The kind of records that it stores.
    #[schema(min_length = 1)]
    stage: &'static str,
    done: u64,
    total: u64,
}

/// An import under its key.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportResponse)]
pub(crate) struct Response {
    import: Fields,
}

/// A page of imports.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportPage)]
pub(crate) struct Page {
    imports: Vec<Fields>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// Returns an import with the URLs of its files.
pub(crate) fn fields(import: &Import, files: BTreeMap<String, String>, now: Timestamp) -> Fields {
    let state = import.visible_state(now);
    let report: Option<Value> = import.report.as_deref().and_then(|report| serde_json::from_str(report).ok());
    let is_tried = report.as_ref().and_then(|report| report.get("dry_run")).and_then(Value::as_bool) == Some(true);
    let at = &import.progress;
    let progress = Progress { stage: at.stage.kind().name(), done: at.position, total: at.total };
    Fields {
        id: import.id.to_string(),
        source: import.source.clone(),
        name: import.name.to_string(),
        file_name: import.upload.as_ref().map(|upload| upload.file_name.clone()),
        state: state.name(),
        dry_run: import.job == Some(ImportJob::Try) || is_tried,
        progress: (state == ImportState::Running && at.total > 0).then_some(progress),
        report,
        files,
        created_at: import.created_at().to_string(),
        ended_at: import.ended_at.map(|at| at.to_string()),
    }
}

pub(crate) fn response(import: Fields) -> Response {
    Response { import }
}

pub(crate) fn page(listing: &Listing<ShownImport>, imports: Vec<Fields>) -> Page {
    Page { imports, envelope: listing.into() }
}
