//! Shares one result among concurrent callers of the same query.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roadmap_domain::error::StoreError;
use uuid::Uuid;

/// A query that is the same for all callers of a workspace.
///
/// Callers that arrive while it runs wait, and then one of them runs it for all of them. No caller gets a result of a
/// query that began before the caller arrived. So a caller that has seen the acknowledgement of a write also sees the
/// write in the result.
pub(crate) struct SingleFlight<T> {
    flights: Mutex<HashMap<Uuid, Arc<Flight<T>>>>,
}

struct Flight<T> {
    /// The number of callers that have arrived.
    arrivals: AtomicU64,
    /// Locked while the query runs. Contains the last result and the number of arrivals that it serves.
    last_result: tokio::sync::Mutex<Option<(u64, Result<T, String>)>>,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self { flights: Mutex::default() }
    }
}

impl<T: Clone> SingleFlight<T> {
    /// Returns the result of `query`, or of a query that another caller began after this caller arrived.
    pub(crate) async fn get(
        &self,
        workspace: Uuid,
        query: impl AsyncFnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let flight = Arc::clone(self.flights().entry(workspace).or_insert_with(|| {
            Arc::new(Flight { arrivals: AtomicU64::new(0), last_result: tokio::sync::Mutex::new(None) })
        }));
        let _guard = FlightGuard { shared: self, workspace };
        let arrival = flight.arrivals.fetch_add(1, Ordering::SeqCst) + 1;
        let mut last = flight.last_result.lock().await;
        if let Some((served, result)) = &*last
            && *served >= arrival
        {
            return result.clone().map_err(|cause| StoreError::Unavailable(cause.into()));
        }
        let mut served = flight.arrivals.load(Ordering::SeqCst);
        let result = query().await;
        if result.is_err() {
            // Callers that arrived meanwhile get the failure too. Another query after this wait would double their
            // wait.
            served = flight.arrivals.load(Ordering::SeqCst);
        }
        *last = Some((served, result.as_ref().map(T::clone).map_err(ToString::to_string)));
        result
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Flight<T>>>> {
        // Nothing panics while it holds the lock.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the workspace's entry when its last caller leaves.
struct FlightGuard<'a, T: Clone> {
    shared: &'a SingleFlight<T>,
    workspace: Uuid,
}

impl<T: Clone> Drop for FlightGuard<'_, T> {
    fn drop(&mut self) {
        let mut flights = self.shared.flights();
        // Two references are left: that of the map and that of this caller.
        if flights.get(&self.workspace).is_some_and(|flight| Arc::strong_count(flight) <= 2) {
            flights.remove(&self.workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::Notify;

    const WORKSPACE: Uuid = Uuid::nil();

    #[tokio::test]
    async fn waiters_share_a_result_that_was_begun_after_their_arrival() {
        let (shared, queries, go) =
            (Arc::new(SingleFlight::default()), Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let start = |hold: bool| {
            let (shared, queries, go) = (Arc::clone(&shared), Arc::clone(&queries), Arc::clone(&go));
            tokio::spawn(async move {
                let result = shared.get(WORKSPACE, async || {
                    let number = queries.fetch_add(1, Ordering::SeqCst);
                    if hold {
                        go.notified().await;
                    }
                    Ok(number)
                });
                result.await.unwrap()
            })
        };
        let first = start(true);
        tokio::task::yield_now().await;
        let others: Vec<_> = (0..5).map(|_| start(false)).collect();
        tokio::task::yield_now().await;
        assert_eq!(queries.load(Ordering::SeqCst), 1);
        go.notify_one();
        assert_eq!(first.await.unwrap(), 0);
        for other in others {
            assert_eq!(other.await.unwrap(), 1);
        }
        assert_eq!(start(false).await.unwrap(), 2);
        assert!(shared.flights().is_empty());
    }

    #[tokio::test]
    async fn a_failure_is_shared_by_waiters_only() {
        let shared: SingleFlight<u8> = SingleFlight::default();
        let (go, queries) = (Notify::new(), AtomicU64::new(0));
        let fail = || async {
            let result = shared.get(WORKSPACE, async || {
                queries.fetch_add(1, Ordering::SeqCst);
                go.notified().await;
                Err(StoreError::Unavailable("gone".into()))
            });
            result.await
        };
        let release = async {
            tokio::task::yield_now().await;
            go.notify_one();
        };
        let (one, two, three, ()) = tokio::join!(fail(), fail(), fail(), release);
        for outcome in [one, two, three] {
            assert!(matches!(outcome, Err(StoreError::Unavailable(_))));
        }
        assert_eq!(queries.load(Ordering::SeqCst), 1);
        assert_eq!(shared.get(WORKSPACE, async || Ok(7)).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_cancelled_query_is_run_by_the_next_waiter() {
        let shared: Arc<SingleFlight<u8>> = Arc::default();
        let stuck = Arc::clone(&shared);
        let stuck = tokio::spawn(async move { stuck.get(WORKSPACE, async || std::future::pending().await).await });
        tokio::task::yield_now().await;
        let waiting = Arc::clone(&shared);
        let waiting = tokio::spawn(async move { waiting.get(WORKSPACE, async || Ok(7)).await });
        tokio::task::yield_now().await;
        stuck.abort();
        assert_eq!(waiting.await.unwrap().unwrap(), 7);
    }
}
