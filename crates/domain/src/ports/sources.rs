//! What many requests need: the store, usually with a cache.

use async_trait::async_trait;
use std::sync::Arc;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::portal::Portal;
use crate::model::track::Track;

/// Supplies the tracks of workspaces to clients that list them: the store, usually with a cache.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TrackSource: Send + Sync {
    /// Returns the tracks in the team's order, with all changes that this process has committed. Changes of other
    /// processes may be missing for up to a second.
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Arc<[Track]>, StoreError>;
}

/// Provides the settings of portals to pages: the store, usually with a cache.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PortalSource: Send + Sync {
    /// Returns the settings of a workspace and its portal.
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Arc<Portal>>, StoreError>;
}
