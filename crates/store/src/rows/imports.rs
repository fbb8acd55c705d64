//! Runs of imports, and what they remember.

use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{RequestLink, Title};
use roadmap_domain::model::id::{ChangelogId, FeatureRequestId, ImportId};
use roadmap_domain::model::import::run::{Import, ImportState, Progress, SourceName};
use roadmap_domain::model::import::upload::{ImportJob, Upload};
use roadmap_domain::model::import::{ImportedRecord, MadeChangelog, MadePosts, MadeRequest, RecordTimes};

use crate::columns::{Id, TimestampColumn, inconsistent, optional_timestamp};

/// The columns of a run: id, source, name, state, job, upload, input, progress, report, holder, `began_at`, `seen_at`,
/// `ended_at`.
pub type ImportRow = (
    Id,
    String,
    String,
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    Option<String>,
    Id,
    TimestampColumn,
    TimestampColumn,
    Option<TimestampColumn>,
);

/// The record, its digest and its run, when it was written, and when it was created and updated if it is still there.
pub type ImportedRow = (Id, String, Id, TimestampColumn, Option<TimestampColumn>, Option<TimestampColumn>);

/// A feature request that a run has made: ID, number, title, root, numbers of votes, subscriptions, comments and notes, and
/// whether anything else has changed it or its tree.
pub type MadeRow = (Id, i64, String, Id, i64, i64, i64, i64, bool);

/// A changelog that a run has made: ID, title, and whether it was edited since.
pub type MadeChangelogRow = (Id, String, bool);

/// Converts a run.
///
/// # Errors
/// The model does not have the state, the progress or a timestamp.
pub fn import(
    (id, source, name, state, job, upload, input, progress, report, holder, began_at, seen_at, ended_at): ImportRow,
) -> Result<Import, StoreError> {
    let job = job.map(|job| ImportJob::from_stored(&job).ok_or_else(|| inconsistent("imports", "job", id)));
    let upload = upload.map(|text| Upload::from_stored(&text).ok_or_else(|| inconsistent("imports", "upload", id)));
    Ok(Import {
        job: job.transpose()?,
        upload: upload.transpose()?,
        id: ImportId::new(id.0),
        source,
        name: SourceName::from_stored(name),
        state: ImportState::from_stored(&state).ok_or_else(|| inconsistent("imports", "state", id))?,
        input,
        progress: Progress::from_stored(&progress).ok_or_else(|| inconsistent("imports", "progress", id))?,
        report,
        holder: holder.0,
        began_at: began_at.into_timestamp("imports", "began_at", id)?,
        seen_at: seen_at.into_timestamp("imports", "seen_at", id)?,
        ended_at: optional_timestamp(ended_at, "imports", "ended_at", id)?,
    })
}

/// Converts what is known of a record.
///
/// # Errors
/// The model cannot hold a timestamp.
pub fn imported_record(
    (id, digest, import, written_at, created_at, updated_at): ImportedRow,
) -> Result<ImportedRecord, StoreError> {
    let created_at = optional_timestamp(created_at, "imported", "created_at", id)?;
    let updated_at = optional_timestamp(updated_at, "imported", "updated_at", id)?;
    Ok(ImportedRecord {
        id: id.0,
        digest,
        import: ImportId::new(import.0),
        written_at: written_at.into_timestamp("imported", "written_at", id)?,
        times: created_at.zip(updated_at).map(|(created_at, updated_at)| RecordTimes { created_at, updated_at }),
    })
}

/// Converts a changelog that a run has made.
#[must_use]
pub fn made_changelog((id, title, has_changed): MadeChangelogRow) -> MadeChangelog {
    MadeChangelog { id: ChangelogId::new(id.0), title: Title::from_stored(title), has_changed }
}

/// Converts a feature request that a run has made.
#[must_use]
pub fn made_request(
    (id, tag_number, title, root, votes, subscriptions, comments, notes, has_changed): MadeRow,
) -> MadeRequest {
    let posts = MadePosts {
        votes: votes.unsigned_abs(),
        subscriptions: subscriptions.unsigned_abs(),
        comments: comments.unsigned_abs(),
        notes: notes.unsigned_abs(),
    };
    let link = RequestLink { id: FeatureRequestId::new(id.0), tag_number, title: Title::from_stored(title) };
    MadeRequest { link, root: FeatureRequestId::new(root.0), posts, has_changed }
}
