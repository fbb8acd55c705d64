//! Exports, and the files of imports and exports.

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{Attachment, Filename};
use roadmap_domain::model::export::ExportOptions;
use roadmap_domain::model::export::run::{ExportRun, ExportState};
use roadmap_domain::model::id::ExportId;
use roadmap_domain::model::import::upload::JobFile;

use crate::columns::{Id, TimestampColumn, inconsistent, optional_timestamp};
use crate::rows::AttachmentRow;

/// An export.
#[derive(Debug, Queryable)]
pub struct ExportRow {
    id: Id,
    state: String,
    without_people: bool,
    without_notes: bool,
    holder: Id,
    created_at: TimestampColumn,
    seen_at: TimestampColumn,
    ended_at: Option<TimestampColumn>,
}

impl TryFrom<ExportRow> for ExportRun {
    type Error = StoreError;

    fn try_from(row: ExportRow) -> Result<Self, StoreError> {
        let ExportRow { id, state, without_people, without_notes, holder, created_at, seen_at, ended_at } = row;
        Ok(Self {
            id: ExportId::new(id.0),
            state: ExportState::from_stored(&state).ok_or_else(|| inconsistent("exports", "state", id))?,
            options: ExportOptions { without_people, without_notes },
            holder: holder.0,
            created_at: created_at.into_timestamp("exports", "created_at", id)?,
            seen_at: seen_at.into_timestamp("exports", "seen_at", id)?,
            ended_at: optional_timestamp(ended_at, "exports", "ended_at", id)?,
        })
    }
}

/// A file of an import or an export, with its ID.
pub type JobFileRow = (Option<Id>, AttachmentRow);

/// Converts a file of an import or an export. `None`: it is not of any.
///
/// # Errors
/// The model cannot hold the file.
pub fn job_file((job, file): JobFileRow) -> Result<Option<JobFile>, StoreError> {
    let Some(job) = job else { return Ok(None) };
    let file = Attachment::try_from(file)?;
    let name = file.filename.as_str().to_owned();
    Ok(Some(JobFile { job: job.0, file: Attachment { filename: Filename::sanitize(&name), ..file }, name }))
}
