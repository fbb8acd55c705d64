//! Storage usage per workspace.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::usage::{StoredUsage, Usage};

/// Stores a usage total for each workspace. All processes add to it.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait UsageStore: Send + Sync {
    /// Returns the total, or `None` when nothing was added or counted yet.
    async fn load_usage(&self, workspace: WorkspaceId) -> Result<Option<StoredUsage>, StoreError>;

    /// Adds to the total, which starts at zero. Returns the new total, including the additions of other processes.
    async fn add_usage(&self, workspace: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError>;

    /// Counts the stored rows and files by the rules of [`crate::policy::storage`] and replaces the total.
    ///
    /// Contract: additions during the count are kept, so the total may be too large by that amount but is never too
    /// small. Of two concurrent counts only one takes effect.
    async fn recount_usage(&self, workspace: WorkspaceId, now: Timestamp) -> Result<StoredUsage, StoreError>;
}
