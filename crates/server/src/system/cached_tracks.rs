//! A cache of the tracks of workspaces, so that most lists of tracks do not read the store.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::track::Track;
use roadmap_domain::ports::{BoardObserver, TrackReader, TrackSource};
use roadmap_http::shared_cache::SharedCache;

/// How long tracks are cached. A change by another process takes effect within this time, one by this process at once.
const LIFETIME: Duration = Duration::from_millis(500);

/// Maximum number of cached tracks of all workspaces, and how many a workspace counts at least.
const CAPACITY: u64 = 100_000;
const LEAST: usize = 10;

/// The cached tracks of workspaces. Clones share them.
#[derive(Clone)]
pub(crate) struct TrackCache {
    /// The key has the number of changes, so that what was read before a change is not used after it.
    tracks: SharedCache<(WorkspaceId, u64), Arc<[Track]>>,
    /// How often this process has changed each board.
    changes: Arc<RwLock<HashMap<WorkspaceId, u64>>>,
}

impl TrackCache {
    /// Creates an empty cache.
    pub(crate) fn new() -> Self {
        let tracks = SharedCache::weighted(CAPACITY, LIFETIME, |tracks: &Arc<[Track]>| tracks.len().max(LEAST));
        Self { tracks, changes: Arc::default() }
    }

    /// Returns how often this process has changed the board of a workspace.
    fn count_changes(&self, workspace: WorkspaceId) -> u64 {
        let changes = self.changes.read().unwrap_or_else(PoisonError::into_inner);
        changes.get(&workspace).copied().unwrap_or(0)
    }
}

impl BoardObserver for TrackCache {
    fn board_changed(&self, workspace: WorkspaceId) {
        let mut changes = self.changes.write().unwrap_or_else(PoisonError::into_inner);
        *changes.entry(workspace).or_default() += 1;
    }
}

/// The tracks of a reader, through a cache.
pub(crate) struct CachedTracks {
    /// Reads what is not cached.
    pub(crate) reader: Arc<dyn TrackReader>,
    pub(crate) cache: TrackCache,
}

#[async_trait]
impl TrackSource for CachedTracks {
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Arc<[Track]>, StoreError> {
        let read = async { Ok(self.reader.tracks(workspace).await?.into()) };
        self.cache.tracks.get((workspace, self.cache.count_changes(workspace)), read).await
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
