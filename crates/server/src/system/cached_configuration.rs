//! A cache of what teams configure and most requests need: lanes' tracks, settings of portals, and synonyms.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::portal::Portal;
use roadmap_domain::model::search::Synonyms;
use roadmap_domain::model::track::Track;
use roadmap_domain::ports::{ConfigurationObserver, PortalSource, Reads, SynonymSource, TrackSource};
use roadmap_http::shared_cache::SharedCache;

/// How long a value is cached. A change by another process takes effect within this time, one by this process at once.
const LIFETIME: Duration = Duration::from_millis(500);

/// Maximum weight of the cached values of a kind, of all workspaces together.
const CAPACITY: u64 = 100_000;

/// The weight of a value beside that of its parts: a track and a phrase weigh 1.
const WEIGHT: usize = 10;

/// Values by workspace and number of changes: what was read before a change is not used after it.
type Values<V> = SharedCache<(WorkspaceId, u64), V>;

/// The cached configurations of workspaces. Clones share them.
#[derive(Clone)]
pub(crate) struct ConfigurationCache {
    portals: Values<Arc<Portal>>,
    synonyms: Values<Arc<Synonyms>>,
    tracks: Values<Arc<[Track]>>,
    /// How often this process has changed each configuration.
    changes: Arc<RwLock<HashMap<WorkspaceId, u64>>>,
}

impl ConfigurationCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        Self {
            portals: SharedCache::weighted(CAPACITY, LIFETIME, |_| WEIGHT),
            synonyms: SharedCache::weighted(CAPACITY, LIFETIME, |synonyms| synonyms.len() + WEIGHT),
            tracks: SharedCache::weighted(CAPACITY, LIFETIME, |tracks: &Arc<[Track]>| tracks.len() + WEIGHT),
            changes: Arc::default(),
        }
    }

    fn key(&self, workspace: WorkspaceId) -> (WorkspaceId, u64) {
        let changes = self.changes.read().unwrap_or_else(PoisonError::into_inner);
        (workspace, changes.get(&workspace).copied().unwrap_or(0))
    }
}

impl ConfigurationObserver for ConfigurationCache {
    fn configuration_changed(&self, workspace: WorkspaceId) {
        let mut changes = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        *changes.entry(workspace).or_default() += 1;
    }
}

/// The configurations of a reader, through a cache.
pub(crate) struct CachedConfiguration {
    /// Reads what is not cached.
    pub(crate) reader: Arc<dyn Reads>,
    pub(crate) cache: ConfigurationCache,
}

#[async_trait]
impl PortalSource for CachedConfiguration {
    async fn portal(&self, workspace: WorkspaceId) -> Result<Option<Arc<Portal>>, StoreError> {
        let read = async { Ok(self.reader.portal(workspace).await?.map(Arc::new)) };
        self.cache.portals.find(self.cache.key(workspace), read).await
    }
}

#[async_trait]
impl SynonymSource for CachedConfiguration {
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Arc<Synonyms>, StoreError> {
        let read = async { self.reader.synonyms(workspace).await.map(Arc::new) };
        self.cache.synonyms.get(self.cache.key(workspace), read).await
    }
}

#[async_trait]
impl TrackSource for CachedConfiguration {
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Arc<[Track]>, StoreError> {
        let read = async { Ok(self.reader.tracks(workspace).await?.into()) };
        self.cache.tracks.get(self.cache.key(workspace), read).await
    }
}

// All of a test takes less than the lifetime.
#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::TrackId;
    use roadmap_domain::model::portal::PortalSettings;
    use roadmap_domain::model::setting::Setting;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::ports::mocks::MockReads;
    use uuid::Uuid;

    fn workspace(number: u128) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number))
    }

    fn source(reader: MockReads, cache: &ConfigurationCache) -> CachedConfiguration {
        CachedConfiguration { reader: Arc::new(reader), cache: cache.clone() }
    }

    fn portal(product: &str) -> Portal {
        let setting = Setting::parse(product, "https://acme.example").unwrap();
        Portal { setting, settings: PortalSettings::default(), logo: None }
    }

    fn no_table<T>() -> Result<T, StoreError> {
        Err(StoreError::Fatal("no such table".into()))
    }

    /// Reads a track whose name is the number of the read. The first read fails. During the read `changed`, the
    /// configuration changes.
    fn tracks(cache: &ConfigurationCache, reads: usize, changed: usize) -> CachedConfiguration {
        let (mut number, observer) = (0, cache.clone());
        let mut reader = MockReads::new();
        reader.expect_tracks().times(reads).returning(move |workspace| {
            number += 1;
            if number == changed {
                observer.configuration_changed(workspace);
            }
            if number == 1 {
                return no_table();
            }
            let name = Name::parse("name", &number.to_string()).unwrap();
            Ok(vec![Track { id: TrackId::new(Uuid::nil()), name, lane: None }])
        });
        source(reader, cache)
    }

    /// The number of the read that the listed track comes from.
    async fn read(source: &CachedConfiguration, number: u128) -> String {
        source.tracks(workspace(number)).await.unwrap()[0].name.to_string()
    }

    #[tokio::test]
    async fn values_are_read_once_per_workspace_and_neither_errors_nor_absence_are_cached() {
        let mut reader = MockReads::new();
        let (mut portals, mut synonyms) = (0, 0);
        reader.expect_portal().times(4).returning(move |_| {
            portals += 1;
            match portals {
                1 => no_table(),
                2 => Ok(None),
                _ => Ok(Some(portal("Acme"))),
            }
        });
        reader.expect_synonyms().times(3).returning(move |_| {
            synonyms += 1;
            if synonyms == 1 { no_table() } else { Ok(Synonyms::default()) }
        });
        let source = source(reader, &ConfigurationCache::new());
        assert!(source.portal(workspace(1)).await.is_err() && source.synonyms(workspace(1)).await.is_err());
        assert_eq!(source.portal(workspace(1)).await.unwrap(), None);
        for _ in 0..2 {
            for number in [1, 2] {
                assert_eq!(source.portal(workspace(number)).await.unwrap().as_deref(), Some(&portal("Acme")));
                assert!(source.synonyms(workspace(number)).await.unwrap().is_empty());
            }
        }
        let source = tracks(&ConfigurationCache::new(), 3, 0);
        assert!(source.tracks(workspace(1)).await.is_err());
        for _ in 0..2 {
            assert_eq!((read(&source, 1).await, read(&source, 2).await), ("2".to_owned(), "3".to_owned()));
        }
    }

    /// Addition 4.
    #[tokio::test]
    async fn a_change_of_this_process_is_seen_at_once() {
        let cache = ConfigurationCache::new();
        let source = tracks(&cache, 4, 0);
        assert!(source.tracks(workspace(1)).await.is_err());
        assert_eq!((read(&source, 1).await, read(&source, 2).await), ("2".to_owned(), "3".to_owned()));
        cache.configuration_changed(workspace(1));
        assert_eq!((read(&source, 1).await, read(&source, 2).await), ("4".to_owned(), "3".to_owned()));
    }

    /// Addition 4.
    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_cached_after_it() {
        let source = tracks(&ConfigurationCache::new(), 3, 2);
        assert!(source.tracks(workspace(1)).await.is_err());
        assert_eq!(read(&source, 1).await, "2");
        assert_eq!((read(&source, 1).await, read(&source, 1).await), ("3".to_owned(), "3".to_owned()));
    }
}
