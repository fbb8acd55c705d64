//! Workspaces and their API keys.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::api_key::{ApiKey, Credential, KeyDigest};
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::workspace::{Subdomain, Workspace};

/// Looks up workspaces and their API keys.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WorkspaceDirectory: Send + Sync {
    /// Returns the key with this digest in the workspace of this subdomain, including expired and revoked keys.
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError>;

    /// Records the use of a key, unless a use was recorded within the last minute.
    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the workspace with this subdomain.
    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError>;

    /// Returns all workspaces, ordered by subdomain.
    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError>;

    /// Returns the first `limit` workspaces of [`Self::workspaces`].
    async fn first_workspaces(&self, limit: u32) -> Result<Vec<Workspace>, StoreError>;

    /// Returns a workspace's keys, oldest first.
    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError>;

    /// Returns the digests of a workspace's keys, including expired and revoked ones, in any order.
    async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError>;
}
