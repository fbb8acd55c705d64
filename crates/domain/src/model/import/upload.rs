//! Files that were uploaded to be imported: how they are read, and what they begin with (contract sections 9 and 10).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use crate::model::attachment::Attachment;
use crate::model::id::{AttachmentId, ExportId, ImportId, WorkspaceId};

/// What a process of the service is to do with a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportJob {
    /// Find out what would be imported, and write nothing.
    Try,
    Run,
    Undo,
}

impl ImportJob {
    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Try => "try",
            Self::Run => "run",
            Self::Undo => "undo",
        }
    }

    /// Returns the job with this stored name.
    #[must_use]
    pub fn from_stored(name: &str) -> Option<Self> {
        [Self::Try, Self::Run, Self::Undo].into_iter().find(|job| job.name() == name)
    }
}

/// Who gets mail about the feature requests that they have voted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subscribing {
    /// Who gets it in the source. Nobody of whom the source does not say so.
    #[default]
    Keep,
    #[serde(rename = "none")]
    Nobody,
    #[serde(rename = "all")]
    Everybody,
}

/// How an uploaded file is read and loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImportOptions {
    /// The columns of fields, by the name of the field. An empty one leaves the field out. Of CSV files alone.
    pub map: BTreeMap<String, String>,
    /// The names of tracks, by the status of the source.
    pub tracks: BTreeMap<String, String>,
    /// A label of an encoding (WHATWG). `None`: it is detected.
    pub encoding: Option<String>,
    /// The character between columns, or `tab`. `None`: it is detected.
    pub delimiter: Option<String>,
    /// The order of dates such as 01/02/2024: `dmy` or `mdy`.
    pub dates: Option<String>,
    pub subscribe: Subscribing,
    /// Records that have changed in the source are overwritten, unless they were changed here since.
    pub update: bool,
    /// The team of the source is added to the team, with the role of members.
    pub make_members: bool,
}

impl ImportOptions {
    /// Maximum number of bytes as JSON.
    pub const MAX_BYTES: usize = 64 * 1024;
}

/// A file that was uploaded for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// The file of the run that holds it.
    #[serde(with = "file_id")]
    pub file: AttachmentId,
    pub file_name: String,
    pub options: ImportOptions,
    pub preview: Preview,
}

impl Upload {
    /// Returns it as stored JSON.
    #[must_use]
    pub fn to_stored(&self) -> String {
        json!(self).to_string()
    }

    /// Parses what [`Self::to_stored`] returns. `None`: it is something else.
    #[must_use]
    pub fn from_stored(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// The ID of a file as text.
mod file_id {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::model::id::{AttachmentId, parse_hyphenated_uuid};

    pub(super) fn serialize<S: Serializer>(id: &AttachmentId, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<AttachmentId, D::Error> {
        let text = String::deserialize(from)?;
        parse_hyphenated_uuid(&text).map(AttachmentId::new).ok_or_else(|| de::Error::custom("not an ID"))
    }
}

/// What an uploaded file begins with, as it will be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Preview {
    /// The columns of the table with the feature requests. None: it is no table of any program.
    pub columns: Vec<PreviewColumn>,
    /// The statuses that feature requests have, each once.
    pub statuses: Vec<String>,
    /// The first feature requests.
    pub records: Vec<PreviewRecord>,
    /// Whether only the beginning was read, so that more statuses may follow.
    pub is_cut: bool,
    /// Why it cannot be imported with these options, as a sentence. `None`: it can.
    pub problem: Option<String>,
}

impl Preview {
    /// How many feature requests it has.
    pub const RECORDS: usize = 20;
    /// How many statuses it has.
    pub const STATUSES: usize = 100;
}

/// A column of an uploaded table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewColumn {
    pub name: String,
    /// The name of the field that it fills.
    pub field: Option<String>,
}

/// A feature request of an uploaded file, as it will be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PreviewRecord {
    pub title: String,
    /// The beginning of the description.
    pub text: String,
    pub status: String,
    pub tags: Vec<String>,
    /// Name or address.
    pub author: String,
    /// RFC 3339. `None`: the time of the run.
    pub created_at: Option<String>,
    pub is_private: bool,
}

/// A file of an import or an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFile {
    /// The ID of the import or of the export.
    pub job: Uuid,
    /// What it is called among the files of its job: `rejected/posts.csv`. The file itself has the last part of it for a
    /// name.
    pub name: String,
    pub file: Attachment,
}

/// An import or an export that a process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenJob {
    pub workspace: WorkspaceId,
    pub job: JobId,
}

/// Which one it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobId {
    Import(ImportId),
    Export(ExportId),
}
