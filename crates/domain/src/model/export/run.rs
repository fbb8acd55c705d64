//! Exports that somebody has asked for on a page or over the API, which a process of the service writes.

use time::Duration;
use uuid::Uuid;

use crate::model::export::ExportOptions;
use crate::model::id::ExportId;
use crate::model::import::run::Import;
use crate::model::timestamp::Timestamp;

/// How far an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportState {
    Running,
    Done,
    Failed,
}

impl ExportState {
    /// Returns the name that is stored and that clients see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Returns the state with this stored name.
    #[must_use]
    pub fn from_stored(name: &str) -> Option<Self> {
        [Self::Running, Self::Done, Self::Failed].into_iter().find(|state| state.name() == name)
    }
}

/// An export of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportRun {
    pub id: ExportId,
    pub state: ExportState,
    pub options: ExportOptions,
    /// The process that works on it.
    pub holder: Uuid,
    pub created_at: Timestamp,
    /// When the process has said last that it works on it.
    pub seen_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

impl ExportRun {
    /// How long its file is kept after it was asked for.
    pub const KEPT: Duration = Duration::hours(24);

    /// Whether a process works on it.
    #[must_use]
    pub fn is_at_work(&self, now: Timestamp) -> bool {
        self.state == ExportState::Running && self.seen_at.plus(Import::PATIENCE) > now
    }

    /// Returns when it is deleted.
    #[must_use]
    pub fn expires_at(&self) -> Timestamp {
        self.created_at.plus(Self::KEPT)
    }

    /// Whether it is to be deleted, and is not shown until then. One that is still being written is not.
    #[must_use]
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.state != ExportState::Running && self.expires_at() <= now
    }

    /// Whether addresses and names may be in it.
    #[must_use]
    pub fn holds_people(&self) -> bool {
        !self.options.without_people
    }
}
