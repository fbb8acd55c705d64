//! A cache of the tracks of workspaces, so that most lists of tracks do not read the store.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use moka::sync::Cache;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::track::Track;
use roadmap_domain::ports::{BoardObserver, TrackReader, TrackSource};

/// How long tracks are cached. A change by another process takes effect within this time, one by this process at once.
const LIFETIME: Duration = Duration::from_millis(500);

/// Maximum number of cached tracks of all workspaces, and how many a workspace counts at least.
const CAPACITY: u64 = 100_000;
const LEAST: u32 = 10;

/// The cached tracks of workspaces. Clones share them.
#[derive(Clone)]
pub(crate) struct TrackCache {
    tracks: Cache<WorkspaceId, Arc<[Track]>>,
    /// The number of changes. What was read before a change is not cached after it.
    changes: Arc<Mutex<u64>>,
}

impl TrackCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        let weight =
            |_: &WorkspaceId, tracks: &Arc<[Track]>| u32::try_from(tracks.len()).unwrap_or(u32::MAX).max(LEAST);
        let tracks = Cache::builder().max_capacity(CAPACITY).weigher(weight).time_to_live(LIFETIME).build();
        Self { tracks, changes: Arc::default() }
    }

    /// Runs this with the number of changes, while no further one is made.
    fn with_changes<T>(&self, run: impl FnOnce(&mut u64) -> T) -> T {
        // Nothing panics while it holds the lock.
        run(&mut self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl BoardObserver for TrackCache {
    fn board_changed(&self, workspace: WorkspaceId) {
        self.with_changes(|changes| {
            *changes += 1;
            self.tracks.invalidate(&workspace);
        });
    }
}

/// The tracks of a reader, through a cache.
pub(crate) struct CachedTracks {
    /// Reads what is not cached.
    pub(crate) reader: Arc<dyn TrackReader>,
    /// The cache.
    pub(crate) cache: TrackCache,
}

#[async_trait]
impl TrackSource for CachedTracks {
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Arc<[Track]>, StoreError> {
        if let Some(cached) = self.cache.tracks.get(&workspace) {
            return Ok(cached);
        }
        let before = self.cache.with_changes(|changes| *changes);
        let tracks: Arc<[Track]> = self.reader.tracks(workspace).await?.into();
        self.cache.with_changes(|changes| {
            if *changes == before {
                self.cache.tracks.insert(workspace, tracks.clone());
            }
        });
        Ok(tracks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::id::TrackId;
    use roadmap_domain::model::text::Name;
    use roadmap_domain::ports::mocks::MockReads;
    use uuid::Uuid;

    fn workspace(number: u128) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number))
    }

    /// Reads a track whose name is the number of the read. The first read fails. During the read `changed`, the board
    /// changes.
    fn source(cache: &TrackCache, reads: usize, changed: usize) -> CachedTracks {
        let (mut number, observer) = (0, cache.clone());
        let mut reader = MockReads::new();
        reader.expect_tracks().times(reads).returning(move |workspace| {
            number += 1;
            if number == changed {
                observer.board_changed(workspace);
            }
            if number == 1 {
                return Err(StoreError::Fatal("no such table".into()));
            }
            let name = Name::parse("name", &number.to_string()).unwrap();
            Ok(vec![Track { id: TrackId::new(Uuid::nil()), name, lane: None }])
        });
        CachedTracks { reader: Arc::new(reader), cache: cache.clone() }
    }

    /// The number of the read that the listed track comes from.
    async fn read(source: &CachedTracks, number: u128) -> String {
        source.tracks(workspace(number)).await.unwrap()[0].name.to_string()
    }

    // All of a test takes less than the lifetime.

    #[tokio::test]
    async fn tracks_are_read_once_per_workspace_and_errors_are_not_cached() {
        let source = source(&TrackCache::new(), 3, 0);
        assert!(source.tracks(workspace(1)).await.is_err());
        for _ in 0..2 {
            assert_eq!((read(&source, 1).await, read(&source, 2).await), ("2".to_owned(), "3".to_owned()));
        }
    }

    /// Addition 4.
    #[tokio::test]
    async fn a_change_of_this_process_is_seen_at_once() {
        let cache = TrackCache::new();
        let source = source(&cache, 4, 0);
        assert!(source.tracks(workspace(1)).await.is_err());
        assert_eq!((read(&source, 1).await, read(&source, 2).await), ("2".to_owned(), "3".to_owned()));
        cache.board_changed(workspace(1));
        assert_eq!((read(&source, 1).await, read(&source, 2).await), ("4".to_owned(), "3".to_owned()));
    }

    /// Addition 4.
    #[tokio::test]
    async fn what_was_read_before_a_change_is_not_cached_after_it() {
        let source = source(&TrackCache::new(), 3, 2);
        assert!(source.tracks(workspace(1)).await.is_err());
        assert_eq!(read(&source, 1).await, "2");
        assert_eq!((read(&source, 1).await, read(&source, 1).await), ("3".to_owned(), "3".to_owned()));
    }
}
