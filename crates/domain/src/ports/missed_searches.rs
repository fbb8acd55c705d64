//! Searches that found nothing.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::admin::{MissedSearch, MissedWords};
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;

/// Counts searches that found nothing. An entry is a text and a number: who searched is stored nowhere.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MissedSearchStore: Send + Sync {
    /// Adds to the counts of a day, which is named by its start ([`Timestamp::start_of_day`]). New texts are left out once
    /// the workspace has `limit` of them on that day.
    async fn add_missed_searches(
        &self,
        workspace: WorkspaceId,
        day: Timestamp,
        searches: &[MissedSearch],
        limit: u32,
    ) -> Result<(), StoreError>;

    /// Deletes up to `limit` counts of all workspaces of days before this one. Returns their number.
    async fn purge_missed_searches(&self, day: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Notes searches that found nothing. It keeps them in memory, so that a search does not wait.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait MissedSearchLog: Send + Sync {
    /// Notes a search.
    fn record(&self, workspace: WorkspaceId, words: MissedWords);
}
