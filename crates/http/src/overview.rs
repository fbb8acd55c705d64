//! The overviews of workspaces, which are expensive to read: each is kept for a minute, for all surfaces.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;
use roadmap_domain::error::{RoadmapError, StoreError};
use roadmap_domain::model::admin::{Overview, Period};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::usecase::query::Queries;
use roadmap_domain::usecase::query::admin::ShowOverview;
use tokio::sync::OnceCell;

/// How long an overview is kept. Changes are shown within this time.
const LIFETIME: Duration = Duration::from_secs(60);

/// Maximum number of overviews that are kept.
const CAPACITY: u64 = 1_000;

/// The outcome of one read, which callers wait for and share.
type Read = OnceCell<Result<Arc<Overview>, Arc<RoadmapError>>>;

/// The overviews of workspaces, one for each period. Clones share them.
#[derive(Clone)]
pub struct OverviewCache(Cache<(WorkspaceId, Period), Arc<Read>>);

impl OverviewCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::with_lifetime(LIFETIME)
    }

    fn with_lifetime(lifetime: Duration) -> Self {
        Self(Cache::builder().max_capacity(CAPACITY).time_to_live(lifetime).build())
    }

    /// Returns the overview of a workspace, which is read unless one is kept. Concurrent callers wait for one read and
    /// share its outcome, including an error. Errors are not kept.
    ///
    /// # Errors
    /// Errors of the query.
    pub async fn show(
        &self,
        queries: &Queries,
        workspace: WorkspaceId,
        period: Period,
    ) -> Result<Arc<Overview>, RoadmapError> {
        let read = async { queries.run(workspace, &ShowOverview { period }).await };
        self.get((workspace, period), read).await
    }

    async fn get(
        &self,
        key: (WorkspaceId, Period),
        read: impl Future<Output = Result<Overview, RoadmapError>>,
    ) -> Result<Arc<Overview>, RoadmapError> {
        let shared = self.0.get_with(key, Arc::default);
        let outcome = shared.get_or_init(|| async { read.await.map(Arc::new).map_err(Arc::new) }).await.clone();
        outcome.map_err(|error| {
            // Only this read, not one that has begun since.
            if self.0.get(&key).is_some_and(|kept| Arc::ptr_eq(&kept, &shared)) {
                self.0.invalidate(&key);
            }
            share_error(error)
        })
    }
}

impl Default for OverviewCache {
    fn default() -> Self {
        Self::new()
    }
}

/// An error of the same kind for one of the callers that share it.
fn share_error(error: Arc<RoadmapError>) -> RoadmapError {
    let source = match *error {
        RoadmapError::Store(StoreError::Inconsistent { .. } | StoreError::Fatal(_)) => {
            StoreError::Fatal(Box::new(error))
        }
        _ => StoreError::Unavailable(Box::new(error)),
    };
    RoadmapError::Store(source)
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use super::*;
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::model::admin::Activity;
    use roadmap_domain::model::timestamp::Timestamp;
    use roadmap_domain::ports::mocks::{
        MockBlobs, MockClock, MockMissedSearchLog, MockOutboxQueue, MockPortalSource, MockReads, MockSynonymSource,
        MockTextSearch, MockTrackSource, MockWorkspaceDirectory,
    };
    use roadmap_domain::usecase::query::QueryPorts;
    use tokio::sync::Notify;
    use uuid::Uuid;

    /// An overview that is different for each number.
    fn overview(requests: i64) -> Overview {
        Overview {
            activity: Activity { requests, ..Activity::default() },
            activity_before: Activity::default(),
            weeks: Vec::new(),
            unanswered: Vec::new(),
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

    fn key() -> (WorkspaceId, Period) {
        (workspace(1), Period::Week)
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
                let shown = cache.show(&queries, workspace(number), period).await.unwrap();
                assert_eq!(*shown, overview(read), "{number} {period:?}");
            }
        }
    }

    /// Addition 8.
    #[tokio::test]
    async fn an_overview_is_read_again_after_its_lifetime() {
        let (cache, queries) = (OverviewCache::with_lifetime(Duration::from_millis(1)), queries(3));
        assert!(cache.show(&queries, workspace(1), Period::Week).await.is_err());
        for read in [2, 3] {
            let shown = cache.show(&queries, workspace(1), Period::Week).await.unwrap();
            assert_eq!(*shown, overview(read));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(OverviewCache::default().0.policy().time_to_live(), Some(Duration::from_secs(60)));
    }

    /// Addition 8.
    #[tokio::test]
    async fn concurrent_callers_share_one_outcome() {
        for outcome in [Ok(overview(7)), Err(StoreError::Fatal("no such table".into()))] {
            let cache = OverviewCache::new();
            let is_ok = outcome.is_ok();
            let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let first = tokio::spawn({
                let (cache, started, go_on) = (cache.clone(), started.clone(), go_on.clone());
                async move {
                    let read = async {
                        started.notify_one();
                        go_on.notified().await;
                        Ok(outcome?)
                    };
                    cache.get(key(), read).await
                }
            });
            started.notified().await;
            let others: Vec<_> = (0..100)
                .map(|_| {
                    let cache = cache.clone();
                    tokio::spawn(async move { cache.get(key(), async { unreachable!("a second read") }).await })
                })
                .collect();
            tokio::task::yield_now().await;
            go_on.notify_one();
            for caller in [first].into_iter().chain(others) {
                match caller.await.unwrap() {
                    Ok(shown) => assert!(is_ok && *shown == overview(7)),
                    Err(error) => {
                        let chain = ErrorChain::new(&error).to_string();
                        let is_fatal = matches!(error, RoadmapError::Store(StoreError::Fatal(_)));
                        assert!(!is_ok && is_fatal && chain.ends_with("no such table"), "{chain}");
                    }
                }
            }
        }
    }

    /// Addition 8.
    #[tokio::test]
    async fn a_cancelled_caller_leaves_the_read_to_the_next() {
        let cache = OverviewCache::new();
        let mut first = Box::pin(cache.get(key(), std::future::pending()));
        let is_pending = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending()));
        assert!(is_pending.await);
        drop(first);
        assert_eq!(*cache.get(key(), async { Ok(overview(7)) }).await.unwrap(), overview(7));
    }
}
