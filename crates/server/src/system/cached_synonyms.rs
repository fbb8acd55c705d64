//! A cache of synonyms, so that most searches do not read them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::ports::{SettingReader, SynonymSource};
use roadmap_http::shared_cache::SharedCache;

/// How long synonyms are cached. A change takes effect within this time in every process.
const LIFETIME: Duration = Duration::from_millis(500);

/// Maximum number of cached phrases of all workspaces, and how many a workspace counts at least.
const CAPACITY: u64 = 100_000;
const LEAST: usize = 10;

/// The cached synonyms of workspaces. Clones share them.
#[derive(Clone)]
pub(crate) struct SynonymCache(SharedCache<WorkspaceId, Arc<Synonyms>>);

impl SynonymCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self(SharedCache::weighted(CAPACITY, LIFETIME, |synonyms| synonyms.len() + LEAST))
    }
}

/// The synonyms of a reader, through a cache.
pub(crate) struct CachedSynonyms {
    /// Reads what is not cached.
    pub(crate) reader: Arc<dyn SettingReader>,
    pub(crate) cache: SynonymCache,
}

#[async_trait]
impl SynonymSource for CachedSynonyms {
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Arc<Synonyms>, StoreError> {
        let read = async { self.reader.synonyms(workspace).await.map(Arc::new) };
        self.cache.0.get(workspace, read).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::ports::mocks::MockReads;
    use uuid::Uuid;

    #[tokio::test]
    async fn synonyms_are_read_once_per_workspace_and_errors_are_not_cached() {
        let mut reader = MockReads::new();
        let mut count = 0;
        reader.expect_synonyms().times(3).returning(move |_| {
            count += 1;
            if count == 1 { Err(StoreError::Fatal("no such table".into())) } else { Ok(Synonyms::default()) }
        });
        let source = CachedSynonyms { reader: Arc::new(reader), cache: SynonymCache::new() };
        let workspace = |number| WorkspaceId::new(Uuid::from_u128(number));
        assert!(source.synonyms(workspace(1)).await.is_err());
        // These take less than the lifetime.
        for _ in 0..2 {
            assert!(source.synonyms(workspace(1)).await.unwrap().is_empty());
            assert!(source.synonyms(workspace(2)).await.unwrap().is_empty());
        }
    }
}
