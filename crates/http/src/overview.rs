//! The overviews of workspaces, which are expensive to read: each is kept for a minute, for all surfaces.

use std::sync::Arc;
use std::time::Duration;

use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::admin::{Overview, Period};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::query::admin::ShowOverview;

use crate::shared_cache::SharedCache;

/// How long an overview is kept. Changes are shown within this time.
const LIFETIME: Duration = Duration::from_secs(60);

/// Maximum number of overviews that are kept.
const CAPACITY: u64 = 1_000;

/// The overviews of workspaces, one for each period. Clones share them.
#[derive(Clone)]
pub struct OverviewCache(SharedCache<(WorkspaceId, Period), Arc<Overview>>);

impl OverviewCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self(SharedCache::new(CAPACITY, LIFETIME))
    }

    /// Returns the overview of a workspace, which is read unless one is kept. Errors are not kept.
    ///
    /// # Errors
    /// Errors of the query.
    pub async fn show(
        &self,
        queries: &Queries,
        workspace: WorkspaceId,
        period: Period,
    ) -> Result<Arc<Overview>, RoadmapError> {
        let read = async { queries.run(workspace, &ShowOverview { period }).await.map(Arc::new) };
        self.0.get((workspace, period), read).await
    }
}

impl Default for OverviewCache {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::error::StoreError;
    use roadmap_domain::model::admin::Activity;
    use roadmap_domain::model::timestamp::Timestamp;
    use roadmap_domain::ports::mocks::{
        MockBlobs, MockClock, MockMissedSearchLog, MockOutboxQueue, MockPortalSource, MockReads, MockSynonymSource,
        MockTextSearch, MockTrackSource, MockWorkspaceDirectory,
    };
    use roadmap_domain::usecase::query::QueryPorts;
    use uuid::Uuid;

    /// An overview that is different for each number.
    fn overview(requests: i64) -> Overview {
        Overview {
            activity: Activity { requests, ..Activity::default() },
            activity_before: Activity::default(),
            weeks: Vec::new(),
            unanswered: Vec::new(),
            replied: Vec::new(),
            oldest_unanswered_at: None,
            rising: Vec::new(),
            missed_searches: Vec::new(),
        }
    }

    /// Queries of overviews that have the number of their read. The first one fails.
    fn queries(reads: usize) -> Queries {
        let mut clock = MockClock::new();
        clock.expect_now().return_const(Timestamp::from_millis(0).unwrap());
        let mut reader = MockReads::new();
        let mut number = 0;
        reader.expect_overview().times(reads).returning(move |_, _| {
            number += 1;
            if number == 1 { Err(StoreError::Unavailable("no server".into())) } else { Ok(overview(number)) }
        });
        Queries::new(QueryPorts {
            reader: Arc::new(reader),
            outbox: Arc::new(MockOutboxQueue::new()),
            directory: Arc::new(MockWorkspaceDirectory::new()),
            missed_searches: Arc::new(MockMissedSearchLog::new()),
            portals: Arc::new(MockPortalSource::new()),
            tracks: Arc::new(MockTrackSource::new()),
            search: Arc::new(MockTextSearch::new()),
            synonyms: Arc::new(MockSynonymSource::new()),
            blobs: Arc::new(MockBlobs::new()),
            clock: Arc::new(clock),
        })
    }

    fn workspace(number: u128) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number))
    }

    /// Addition 8.
    #[tokio::test]
    async fn an_overview_is_read_once_per_workspace_and_period_and_errors_are_not_kept() {
        let (cache, queries) = (OverviewCache::new(), queries(4));
        assert!(cache.show(&queries, workspace(1), Period::Week).await.is_err());
        for _ in 0..2 {
            // Clones share what is kept.
            let cache = cache.clone();
            for (number, period, read) in [(1, Period::Week, 2), (1, Period::Year, 3), (2, Period::Week, 4)] {
                let entry = cache.show(&queries, workspace(number), period).await.unwrap();
                assert_eq!(*entry, overview(read), "{number} {period:?}");
            }
        }
    }
}
