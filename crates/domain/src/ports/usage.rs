//! How much each workspace stores.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::usage::{StoredUsage, Usage};

/// Keeps a total for each workspace, to which all processes add.
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// The total. `None` when nothing was added or counted yet.
    async fn load_usage(&self, workspace: WorkspaceId) -> Result<Option<StoredUsage>, StoreError>;

    /// Adds to the total, which begins at zero. Returns it with all that other processes have added.
    async fn add_usage(&self, workspace: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError>;

    /// Counts all that is stored, by the numbers of [`crate::policy::storage`], and makes it the total.
    ///
    /// Contract: what is added to the total while rows are counted stays in it, so that a total may be
    /// too large by that and is never too small. Of two that count at the same time one is heeded.
    async fn recount_usage(&self, workspace: WorkspaceId, now: Timestamp) -> Result<StoredUsage, StoreError>;
}
