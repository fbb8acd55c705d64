//! A cache of the settings of portals, so that most pages do not read them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::portal::Portal;
use roadmap_domain::ports::{PortalSource, SettingReader};
use roadmap_http::shared_cache::SharedCache;

/// How long settings are cached. A change takes effect within this time in every process.
const LIFETIME: Duration = Duration::from_millis(500);

/// Maximum number of workspaces whose settings are cached.
const CAPACITY: u64 = 10_000;

/// The cached settings of portals. Clones share them.
#[derive(Clone)]
pub(crate) struct PortalCache(SharedCache<WorkspaceId, Arc<Portal>>);

impl PortalCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self(SharedCache::new(CAPACITY, LIFETIME))
    }
}

/// The settings of portals of a reader, through a cache.
pub(crate) struct CachedPortals {
    /// Reads what is not cached.
    pub(crate) reader: Arc<dyn SettingReader>,
    pub(crate) cache: PortalCache,
}

#[async_trait]
impl PortalSource for CachedPortals {
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Arc<Portal>>, StoreError> {
        let read = async { Ok(self.reader.portal(workspace).await?.map(Arc::new)) };
        self.cache.0.find(workspace, read).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::portal::PortalSettings;
    use roadmap_domain::model::setting::Setting;
    use roadmap_domain::ports::mocks::MockReads;
    use uuid::Uuid;

    #[tokio::test]
    async fn settings_are_read_once_per_workspace_and_neither_errors_nor_absence_are_cached() {
        let portal = Portal {
            setting: Setting::parse("Acme", "https://acme.example").unwrap(),
            settings: PortalSettings::default(),
            logo: None,
        };
        let mut reader = MockReads::new();
        let (mut count, read) = (0, portal.clone());
        reader.expect_portal().times(4).returning(move |_| {
            count += 1;
            match count {
                1 => Err(StoreError::Fatal("no such table".into())),
                2 => Ok(None),
                _ => Ok(Some(read.clone())),
            }
        });
        let source = CachedPortals { reader: Arc::new(reader), cache: PortalCache::new() };
        let workspace = |number| WorkspaceId::new(Uuid::from_u128(number));
        assert!(source.portal(workspace(1)).await.is_err());
        assert_eq!(source.portal(workspace(1)).await.unwrap(), None);
        // These take less than the lifetime.
        for _ in 0..2 {
            for number in [1, 2] {
                assert_eq!(source.portal(workspace(number)).await.unwrap().as_deref(), Some(&portal));
            }
        }
    }
}
