//! Values of the store that are cached for a short time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Health;
use roadmap_http::limits::Stopwatch;
use tokio::sync::Mutex;

/// A value of the store that is read by one caller at a time and cached for a while. Concurrent callers wait and share the
/// outcome, including an error: a store that is slow to fail is read once, and not once for each caller.
pub(crate) struct CachedValue<T> {
    stopwatch: Arc<dyn Stopwatch>,
    lifetime: Duration,
    last: Mutex<Option<CachedOutcome<T>>>,
}

struct CachedOutcome<T> {
    at: Duration,
    value: Result<T, Arc<StoreError>>,
}

impl<T: Clone> CachedValue<T> {
    /// Creates an empty cache.
    pub(crate) fn new(lifetime: Duration, stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { stopwatch, lifetime, last: Mutex::new(None) }
    }

    /// Returns the cached value, or reads it with `read`.
    pub(crate) async fn get(&self, read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut last = self.last.lock().await;
        let cached = last.as_ref().filter(|last| self.stopwatch.elapsed().saturating_sub(last.at) < self.lifetime);
        let value = match cached {
            Some(cached) => cached.value.clone(),
            None => {
                let value = read.await.map_err(Arc::new);
                *last = Some(CachedOutcome { at: self.stopwatch.elapsed(), value: value.clone() });
                value
            }
        };
        value.map_err(share_error)
    }
}

/// An error of the same kind for one of the callers that share it.
pub(crate) fn share_error(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unavailable(_) | StoreError::Transient(_) | StoreError::OutcomeUnknown(_) => {
            StoreError::Unavailable(Box::new(error))
        }
        StoreError::Inconsistent { .. } | StoreError::Fatal(_) => StoreError::Fatal(Box::new(error)),
    }
}

/// How long the health of the store is cached.
const HEALTH_LIFETIME: Duration = Duration::from_secs(1);

/// A health check that queries the store at most once a second.
pub(crate) struct CachedHealth {
    store: Arc<dyn Health>,
    outcome: CachedValue<()>,
}

impl CachedHealth {
    /// Caches the health of this store.
    pub(crate) fn new(store: Arc<dyn Health>, stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { store, outcome: CachedValue::new(HEALTH_LIFETIME, stopwatch) }
    }
}

#[async_trait]
impl Health for CachedHealth {
    async fn check(&self) -> Result<(), StoreError> {
        self.outcome.get(self.store.check()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tests::ManualStopwatch;
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::ports::mocks::MockHealth;
    use std::task::Poll;
    use tokio::sync::Notify;

    /// Beyond the contract.
    #[tokio::test]
    async fn the_store_is_checked_once_a_second() {
        let stopwatch = Arc::new(ManualStopwatch::default());
        let mut store = MockHealth::new();
        let mut asked = 0;
        store.expect_check().times(3).returning(move || {
            asked += 1;
            match asked {
                2 => Err(StoreError::Unavailable("no server".into())),
                _ => Ok(()),
            }
        });
        let health = CachedHealth::new(Arc::new(store), stopwatch.clone());
        for (second, is_healthy) in [(0, true), (1, false), (2, true)] {
            for _ in 0..1_000 {
                let outcome = health.check().await;
                assert_eq!(outcome.is_ok(), is_healthy, "second {second}");
                if let Err(error) = outcome {
                    let chain = ErrorChain::new(&error).to_string();
                    assert!(matches!(error, StoreError::Unavailable(_)) && chain.ends_with("no server"), "{chain}");
                }
            }
            stopwatch.advance(Duration::from_millis(999));
            assert_eq!(health.check().await.is_ok(), is_healthy, "second {second}");
            stopwatch.advance(Duration::from_millis(1));
        }
    }

    #[tokio::test]
    async fn concurrent_callers_share_one_read() {
        let cached = Arc::new(CachedValue::new(Duration::from_secs(1), Arc::new(ManualStopwatch::default())));
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = tokio::spawn({
            let (cached, started, go_on) = (cached.clone(), started.clone(), go_on.clone());
            async move {
                let read = async {
                    started.notify_one();
                    go_on.notified().await;
                    Ok(7)
                };
                cached.get(read).await
            }
        });
        started.notified().await;
        let others: Vec<_> = (0..100)
            .map(|_| {
                let cached = cached.clone();
                tokio::spawn(async move { cached.get(async { unreachable!("a second read") }).await })
            })
            .collect();
        tokio::task::yield_now().await;
        go_on.notify_one();
        assert_eq!(first.await.unwrap().unwrap(), 7);
        for other in others {
            assert_eq!(other.await.unwrap().unwrap(), 7);
        }
    }

    #[tokio::test]
    async fn a_cancelled_caller_leaves_the_read_to_the_next() {
        let cached = CachedValue::new(Duration::from_secs(1), Arc::new(ManualStopwatch::default()));
        let mut first = Box::pin(cached.get(std::future::pending()));
        let is_pending = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending()));
        assert!(is_pending.await);
        drop(first);
        assert_eq!(cached.get(async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_fatal_error_stays_fatal() {
        let cached: CachedValue<()> = CachedValue::new(Duration::from_secs(1), Arc::new(ManualStopwatch::default()));
        for _ in 0..2 {
            let error = cached.get(async { Err(StoreError::Fatal("no such table".into())) }).await.unwrap_err();
            assert!(matches!(error, StoreError::Fatal(_)), "{error}");
        }
    }
}
