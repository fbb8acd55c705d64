//! Exports of the workspace.

use roadmap_domain::model::pagination::Listing;
use roadmap_domain::usecase::query::exports::ListedExport;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;

/// A page of exports.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExportsPage)]
pub(crate) struct Page {
    #[schema(max_items = 100)]
    exports: Vec<Fields>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single export.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExportShown)]
pub(crate) struct Response {
    export: Fields,
}

/// An export of the workspace.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Export)]
pub(crate) struct Fields {
    #[schema(format = "uuid")]
    id: String,
    #[schema(value_type = State)]
    state: &'static str,
    without_people: bool,
    without_notes: bool,
    /// The size of the zip; null until it is done.
    #[schema(required = true, minimum = 0)]
    byte_size: Option<u64>,
    /// Where the zip can be downloaded for 15 minutes, without a key; null until it is done.
    #[schema(required = true, format = "uri")]
    download_url: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    /// When it is deleted.
    #[schema(format = DateTime)]
    expires_at: String,
}

/// How far an export is.
#[derive(ToSchema)]
#[schema(as = ExportState, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum State {
    Running,
    Done,
    Failed,
}

fn fields(ListedExport { run, file }: &ListedExport, download_url: Option<String>) -> Fields {
    Fields {
        id: run.id.to_string(),
        state: run.state.name(),
        without_people: run.options.without_people,
        without_notes: run.options.without_notes,
        byte_size: file.as_ref().map(|file| file.byte_size),
        download_url,
        created_at: run.created_at.to_string(),
        expires_at: run.expires_at().to_string(),
    }
}

pub(crate) fn response(export: &ListedExport, download_url: Option<String>) -> impl Serialize + use<> {
    Response { export: fields(export, download_url) }
}

/// Exports with the URLs of their files.
pub(crate) fn listed(listing: &Listing<(ListedExport, Option<String>)>) -> impl Serialize + use<> {
    let fields = |(export, url): &(ListedExport, Option<String>)| fields(export, url.clone());
    Page { exports: listing.items.iter().map(fields).collect(), envelope: listing.into() }
}
