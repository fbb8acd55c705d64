//! A directory that remembers the keys in use for a moment.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use moka::sync::Cache;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Credential, KeyDigest};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::Directory;

/// How long a key is remembered: a revocation takes effect within this time in every process.
/// Expiry does not wait for it, because the moment of expiry is remembered too.
const MEMORY: Duration = Duration::from_secs(1);

/// How many keys are remembered at a time.
const CAPACITY: u64 = 10_000;

/// Remembers keys that exist. Unknown ones are asked for every time: a key works at once after it
/// was issued, and strangers do not fill the memory.
pub(crate) struct CachedDirectory {
    inner: Arc<dyn Directory>,
    credentials: Cache<(Subdomain, KeyDigest), Credential>,
    used: Cache<uuid::Uuid, ()>,
}

impl CachedDirectory {
    /// Remembers for another directory.
    pub(crate) fn new(inner: Arc<dyn Directory>) -> Self {
        Self {
            inner,
            credentials: Cache::builder().max_capacity(CAPACITY).time_to_live(MEMORY).build(),
            used: Cache::builder().max_capacity(CAPACITY).time_to_live(MEMORY).build(),
        }
    }
}

#[async_trait]
impl Directory for CachedDirectory {
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError> {
        let name = (subdomain.clone(), *digest);
        if let Some(known) = self.credentials.get(&name) {
            return Ok(Some(known));
        }
        let found = self.inner.credential(subdomain, digest).await?;
        if let Some(found) = &found {
            self.credentials.insert(name, found.clone());
        }
        Ok(found)
    }

    /// While a key is remembered with an old moment of use, each call with it asks for that to be
    /// written; one of them is enough.
    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError> {
        let key = credential.key.id.uuid();
        if self.used.entry(key).or_insert(()).is_fresh() {
            self.inner.record_use(credential, at).await?;
        }
        Ok(())
    }

    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        self.inner.workspace(subdomain).await
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        self.inner.workspaces().await
    }

    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
        self.inner.api_keys(workspace).await
    }
}
