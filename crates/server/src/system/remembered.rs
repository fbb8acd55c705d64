//! What is read once in a while, whatever is asked for it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_api::limits::Stopwatch;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Health;
use tokio::sync::Mutex;

/// A value of the store that is read by one caller at a time and remembered for a while. Callers that
/// come meanwhile wait for that one and share its outcome, also when it is an error: a store that is
/// slow to fail is asked once, and not once for each of them.
pub(crate) struct Remembered<T> {
    stopwatch: Arc<dyn Stopwatch>,
    lifetime: Duration,
    last: Mutex<Option<Outcome<T>>>,
}

struct Outcome<T> {
    at: Duration,
    value: Result<T, Arc<StoreError>>,
}

impl<T: Clone> Remembered<T> {
    /// Remembers nothing yet.
    pub(crate) fn new(lifetime: Duration, stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { stopwatch, lifetime, last: Mutex::new(None) }
    }

    /// The value, read by `read` unless it is remembered.
    pub(crate) async fn get(&self, read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        let mut last = self.last.lock().await;
        let remembered = last.as_ref().filter(|last| self.stopwatch.elapsed().saturating_sub(last.at) < self.lifetime);
        let value = match remembered {
            Some(remembered) => remembered.value.clone(),
            None => {
                let value = read.await.map_err(Arc::new);
                *last = Some(Outcome { at: self.stopwatch.elapsed(), value: value.clone() });
                value
            }
        };
        value.map_err(shared)
    }
}

/// An error of the same kind, for one of the callers that share it.
fn shared(error: Arc<StoreError>) -> StoreError {
    match *error {
        StoreError::Unavailable(_) | StoreError::Transient(_) | StoreError::OutcomeUnknown(_) => {
            StoreError::Unavailable(Box::new(error))
        }
        StoreError::Inconsistent { .. } | StoreError::Fatal(_) => StoreError::Fatal(Box::new(error)),
    }
}

/// How long the health of the store is remembered.
const HEALTH: Duration = Duration::from_secs(1);

/// Health that asks the store once a second, however often it is asked itself.
pub(crate) struct RememberedHealth {
    store: Arc<dyn Health>,
    outcome: Remembered<()>,
}

impl RememberedHealth {
    /// Remembers the health of this store.
    pub(crate) fn new(store: Arc<dyn Health>, stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { store, outcome: Remembered::new(HEALTH, stopwatch) }
    }
}

#[async_trait]
impl Health for RememberedHealth {
    async fn check(&self) -> Result<(), StoreError> {
        self.outcome.get(self.store.check()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::tests::SetStopwatch;
    use roadmap_domain::error::ErrorChain;
    use roadmap_domain::ports::mocks::MockHealth;
    use std::task::Poll;
    use tokio::sync::Notify;

    #[tokio::test]
    async fn the_store_is_asked_once_a_second() {
        let stopwatch = Arc::new(SetStopwatch::default());
        let mut store = MockHealth::new();
        let mut asked = 0;
        store.expect_check().times(3).returning(move || {
            asked += 1;
            match asked {
                2 => Err(StoreError::Unavailable("no server".into())),
                _ => Ok(()),
            }
        });
        let health = RememberedHealth::new(Arc::new(store), stopwatch.clone());
        for (second, is_healthy) in [(0, true), (1, false), (2, true)] {
            for _ in 0..1_000 {
                let outcome = health.check().await;
                assert_eq!(outcome.is_ok(), is_healthy, "second {second}");
                if let Err(error) = outcome {
                    let chain = ErrorChain::new(&error).to_string();
                    assert!(matches!(error, StoreError::Unavailable(_)) && chain.ends_with("no server"), "{chain}");
                }
            }
            stopwatch.pass(Duration::from_millis(999));
            assert_eq!(health.check().await.is_ok(), is_healthy, "second {second}");
            stopwatch.pass(Duration::from_millis(1));
        }
    }

    #[tokio::test]
    async fn concurrent_callers_share_one_read() {
        let remembered = Arc::new(Remembered::new(Duration::from_secs(1), Arc::new(SetStopwatch::default())));
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = tokio::spawn({
            let (remembered, started, go_on) = (remembered.clone(), started.clone(), go_on.clone());
            async move {
                let read = async {
                    started.notify_one();
                    go_on.notified().await;
                    Ok(7)
                };
                remembered.get(read).await
            }
        });
        started.notified().await;
        let others: Vec<_> = (0..100)
            .map(|_| {
                let remembered = remembered.clone();
                tokio::spawn(async move { remembered.get(async { unreachable!("a second read") }).await })
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
    async fn a_caller_that_goes_away_leaves_the_read_to_the_next() {
        let remembered = Remembered::new(Duration::from_secs(1), Arc::new(SetStopwatch::default()));
        let mut first = Box::pin(remembered.get(std::future::pending()));
        let is_pending = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending()));
        assert!(is_pending.await);
        drop(first);
        assert_eq!(remembered.get(async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn an_error_that_is_no_outage_stays_one() {
        let remembered: Remembered<()> = Remembered::new(Duration::from_secs(1), Arc::new(SetStopwatch::default()));
        for _ in 0..2 {
            let error = remembered.get(async { Err(StoreError::Fatal("no such table".into())) }).await.unwrap_err();
            assert!(matches!(error, StoreError::Fatal(_)), "{error}");
        }
    }
}
