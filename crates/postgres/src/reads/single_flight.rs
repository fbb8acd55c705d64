//! One answer for all who ask the same at the same time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use roadmap_domain::error::StoreError;
use uuid::Uuid;

/// A question that all callers of a workspace ask alike. Those who come while it is being asked wait,
/// and then one of them asks it for all of them: nobody gets an answer that was begun before they
/// came, so that whoever has seen a write acknowledged sees it in the answer too.
pub(crate) struct SingleFlight<T> {
    flights: Mutex<HashMap<Uuid, Arc<Flight<T>>>>,
}

struct Flight<T> {
    /// How many have come.
    arrivals: AtomicU64,
    /// Held while the question is asked: the last answer, and for how many of those who came it is.
    last_result: tokio::sync::Mutex<Option<(u64, Result<T, String>)>>,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self { flights: Mutex::default() }
    }
}

impl<T: Clone> SingleFlight<T> {
    /// The answer that `ask` gives, or gave to somebody else who asked after this call.
    pub(crate) async fn get(
        &self,
        workspace: Uuid,
        ask: impl AsyncFnOnce() -> Result<T, StoreError>,
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
        let result = ask().await;
        if result.is_err() {
            // Whoever has come meanwhile gets the failure too: asking again after this wait, they would
            // wait twice as long.
            served = flight.arrivals.load(Ordering::SeqCst);
        }
        *last = Some((served, result.as_ref().map(T::clone).map_err(ToString::to_string)));
        result
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<Flight<T>>>> {
        // Nothing panics while it holds the map.
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever leaves last takes the question away.
struct FlightGuard<'a, T: Clone> {
    shared: &'a SingleFlight<T>,
    workspace: Uuid,
}

impl<T: Clone> Drop for FlightGuard<'_, T> {
    fn drop(&mut self) {
        let mut flights = self.shared.flights();
        // Two hold it: the map, and the one who leaves.
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
    async fn waiters_share_a_result_that_was_begun_after_they_came() {
        let (shared, asked, go) =
            (Arc::new(SingleFlight::default()), Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let ask = |hold: bool| {
            let (shared, asked, go) = (Arc::clone(&shared), Arc::clone(&asked), Arc::clone(&go));
            tokio::spawn(async move {
                let result = shared.get(WORKSPACE, async || {
                    let number = asked.fetch_add(1, Ordering::SeqCst);
                    if hold {
                        go.notified().await;
                    }
                    Ok(number)
                });
                result.await.unwrap()
            })
        };
        let first = ask(true);
        tokio::task::yield_now().await;
        let others: Vec<_> = (0..5).map(|_| ask(false)).collect();
        tokio::task::yield_now().await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        go.notify_one();
        assert_eq!(first.await.unwrap(), 0);
        for other in others {
            assert_eq!(other.await.unwrap(), 1);
        }
        assert_eq!(ask(false).await.unwrap(), 2);
        assert!(shared.flights().is_empty());
    }

    #[tokio::test]
    async fn a_failure_is_shared_by_those_who_wait_and_by_nobody_else() {
        let shared: SingleFlight<u8> = SingleFlight::default();
        let (go, asked) = (Notify::new(), AtomicU64::new(0));
        let fail = || async {
            let result = shared.get(WORKSPACE, async || {
                asked.fetch_add(1, Ordering::SeqCst);
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
        assert_eq!(asked.load(Ordering::SeqCst), 1);
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
