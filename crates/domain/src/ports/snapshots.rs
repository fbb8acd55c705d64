//! Everything of a workspace at one moment, for exports.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::export::Exported;
use crate::model::id::WorkspaceId;

/// Reads whole workspaces.
#[async_trait]
pub trait SnapshotReader: Send + Sync {
    /// Begins to read all records of a workspace as they are now, whatever is written until they are read.
    ///
    /// Contract: no write waits for it, and few records are in memory at a time.
    async fn snapshot(&self, workspace: WorkspaceId) -> Result<Box<dyn Snapshot>, StoreError>;
}

/// The records of a workspace. Dropping it ends the reading.
#[async_trait]
pub trait Snapshot: Send {
    /// Returns the next records, `None` at the end.
    ///
    /// Contract: the kinds come in the order of [`Kind::ALL`](crate::model::export::Kind::ALL), the records of a kind by
    /// their time and id, those without a time by their id.
    async fn next(&mut self) -> Result<Option<Vec<Exported>>, StoreError>;
}
