//! A cache whose concurrent callers share one look-up.

use std::error::Error;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;
use roadmap_domain::error::{Cause, RoadmapError, StoreError};

use crate::error::HttpError;

/// Values that are looked up when they are needed, and cached for a while. Concurrent callers with one key wait for one
/// look-up and share its outcome, including an error. If the caller that looks up is cancelled, the next one looks up.
/// Clones share the values.
#[derive(Clone)]
pub struct SharedCache<K, V>(Cache<K, V>);

impl<K, V> SharedCache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Creates an empty cache of at most `capacity` values, each of which is cached for `lifetime`.
    #[must_use]
    pub fn new(capacity: u64, lifetime: Duration) -> Self {
        Self(Cache::builder().max_capacity(capacity).time_to_live(lifetime).build())
    }

    /// Creates an empty cache of values whose weights are at most `capacity` in total.
    #[must_use]
    pub fn weighted(capacity: u64, lifetime: Duration, weight: fn(&V) -> usize) -> Self {
        let weight = move |_: &K, value: &V| u32::try_from(weight(value)).unwrap_or(u32::MAX);
        Self(Cache::builder().max_capacity(capacity).weigher(weight).time_to_live(lifetime).build())
    }

    /// Returns the value of a key, which is looked up unless it is cached. Errors are not cached.
    ///
    /// # Errors
    /// Those of the look-up, [shared](SharedError) by its callers.
    pub async fn get<E: SharedError>(&self, key: K, look_up: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        // A hit needs no key on the heap, unlike `try_get_with`.
        if let Some(value) = self.0.get(&key).await {
            return Ok(value);
        }
        self.0.try_get_with(key, look_up).await.map_err(share)
    }

    /// Returns the value of a key, if there is one. Neither errors nor the absence of a value are cached.
    ///
    /// # Errors
    /// Those of the look-up, [shared](SharedError) by its callers.
    pub async fn find<E: SharedError>(
        &self,
        key: K,
        look_up: impl Future<Output = Result<Option<V>, E>>,
    ) -> Result<Option<V>, E> {
        if let Some(value) = self.0.get(&key).await {
            return Ok(Some(value));
        }
        let look_up = async { look_up.await.map_err(|error| Some(Arc::new(error)))?.ok_or(None) };
        match self.0.try_get_with(key, look_up).await {
            Ok(value) => Ok(Some(value)),
            Err(failed) => failed.as_ref().clone().map_or(Ok(None), |error| Err(share(error))),
        }
    }
}

impl<K, V, E> SharedCache<K, Result<V, Arc<E>>>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    E: SharedError,
{
    /// Returns the value of a key, which is looked up unless it is cached. Errors are cached as well, so that a failing
    /// store is not read by each caller.
    ///
    /// # Errors
    /// Those of the look-up, [shared](SharedError) by its callers.
    pub async fn get_outcome(&self, key: K, look_up: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        self.0.get_with(key, async { look_up.await.map_err(Arc::new) }).await.map_err(share)
    }
}

/// An error that several callers get. Each of them gets a [`StoreError`] with this error as its cause.
pub trait SharedError: Error + From<StoreError> + Send + Sync + 'static {
    /// Whether a retry cannot succeed ([`StoreError::Fatal`]). Otherwise, callers get [`StoreError::Unavailable`].
    fn is_fatal(&self) -> bool;
}

impl SharedError for StoreError {
    fn is_fatal(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::Transient(_) | Self::OutcomeUnknown(_) => false,
            Self::Inconsistent { .. } | Self::Fatal(_) => true,
        }
    }
}

impl SharedError for RoadmapError {
    fn is_fatal(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_fatal())
    }
}

impl SharedError for HttpError {
    fn is_fatal(&self) -> bool {
        match self {
            Self::Domain(error) => error.is_fatal(),
            error => matches!(error, Self::TaskPanicked(_) | Self::HandlerPanicked),
        }
    }
}

fn share<E: SharedError>(error: Arc<E>) -> E {
    let is_fatal = error.is_fatal();
    let cause: Cause = Box::new(error);
    E::from(if is_fatal { StoreError::Fatal(cause) } else { StoreError::Unavailable(cause) })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Poll;

    use super::*;
    use roadmap_domain::error::ErrorChain;
    use tokio::sync::Notify;

    const LONG: Duration = Duration::from_secs(3_600);
    const SHORT: Duration = Duration::from_millis(1);

    type Outcome<V> = Result<V, StoreError>;

    fn unavailable<V>() -> Outcome<V> {
        Err(StoreError::Unavailable("no server".into()))
    }

    fn fatal<V>() -> Outcome<V> {
        Err(StoreError::Fatal("no such table".into()))
    }

    #[tokio::test]
    async fn values_are_cached_and_errors_are_not() {
        let cache = SharedCache::new(10, LONG);
        for (key, look_up, expected) in
            [(1, unavailable(), None), (1, Ok(2), Some(2)), (1, fatal(), Some(2)), (2, Ok(3), Some(3))]
        {
            // Clones share the values.
            assert_eq!(cache.clone().get(key, async { look_up }).await.ok(), expected);
        }
    }

    #[tokio::test]
    async fn absence_is_not_cached() {
        let cache = SharedCache::new(10, LONG);
        for (look_up, expected) in
            [(Ok(None), Ok(None)), (unavailable(), Err(())), (Ok(Some(2)), Ok(Some(2))), (Ok(None), Ok(Some(2)))]
        {
            assert_eq!(cache.find((), async { look_up }).await.map_err(|_| ()), expected);
        }
    }

    #[tokio::test]
    async fn cached_outcomes_have_errors_too() {
        let cache = SharedCache::new(10, LONG);
        for (key, look_up, is_ok) in [(1, fatal(), false), (1, Ok(2), false), (2, Ok(2), true), (2, fatal(), true)] {
            assert_eq!(cache.get_outcome(key, async { look_up }).await.is_ok(), is_ok);
        }
    }

    #[tokio::test]
    async fn nothing_is_cached_after_its_lifetime() {
        let (values, outcomes) = (SharedCache::new(10, SHORT), SharedCache::new(10, SHORT));
        assert_eq!(values.get((), async { Outcome::Ok(1) }).await.unwrap(), 1);
        assert!(outcomes.get_outcome((), async { fatal() }).await.is_err());
        tokio::time::sleep(20 * SHORT).await;
        assert_eq!(values.get((), async { Outcome::Ok(2) }).await.unwrap(), 2);
        assert_eq!(outcomes.get_outcome((), async { Ok(2) }).await.unwrap(), 2);
    }

    #[tokio::test]
    async fn capacity_is_in_values_or_in_their_weights() {
        let counted = SharedCache::new(10, LONG);
        let weighted = SharedCache::weighted(10, LONG, |value: &String| value.len());
        for key in 0..100 {
            counted.get(key, async { Outcome::Ok("two".to_owned()) }).await.unwrap();
            weighted.get(key, async { Outcome::Ok("two".to_owned()) }).await.unwrap();
        }
        for (cache, count) in [(counted, 10), (weighted, 3)] {
            cache.0.run_pending_tasks().await;
            assert_eq!(cache.0.entry_count(), count);
        }
    }

    /// Starts a look-up with this outcome and a hundred callers that wait for it, and returns what they get.
    async fn share_lookup(outcome: Outcome<Option<u32>>) -> Vec<Outcome<Option<u32>>> {
        let cache = SharedCache::new(10, LONG);
        let (started, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let first = tokio::spawn({
            let (cache, started, go_on) = (cache.clone(), started.clone(), go_on.clone());
            async move {
                let look_up = async {
                    started.notify_one();
                    go_on.notified().await;
                    outcome
                };
                cache.find((), look_up).await
            }
        });
        started.notified().await;
        let others: Vec<_> = (0..100)
            .map(|_| {
                let cache = cache.clone();
                tokio::spawn(async move { cache.find((), async { unreachable!("a second look-up") }).await })
            })
            .collect();
        tokio::task::yield_now().await;
        go_on.notify_one();
        let mut outcomes = Vec::new();
        for caller in [first].into_iter().chain(others) {
            outcomes.push(caller.await.unwrap());
        }
        outcomes
    }

    #[tokio::test]
    async fn concurrent_callers_share_one_lookup() {
        for value in [Some(7), None] {
            let outcomes = share_lookup(Ok(value)).await;
            assert!(outcomes.into_iter().all(|outcome| outcome.is_ok_and(|shared| shared == value)));
        }
        for outcome in share_lookup(unavailable()).await {
            let error = outcome.unwrap_err();
            let chain = ErrorChain::new(&error).to_string();
            assert!(matches!(error, StoreError::Unavailable(_)) && chain.ends_with("no server"), "{chain}");
        }
        for outcome in share_lookup(fatal()).await {
            let error = outcome.unwrap_err();
            let chain = ErrorChain::new(&error).to_string();
            assert!(matches!(error, StoreError::Fatal(_)) && chain.ends_with("no such table"), "{chain}");
        }
    }

    #[tokio::test]
    async fn the_next_caller_looks_up_after_a_cancelled_one() {
        let (cache, lookups) = (SharedCache::new(10, LONG), AtomicU32::new(0));
        let mut first = Box::pin(cache.get((), async {
            lookups.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<Outcome<u32>>().await
        }));
        let is_pending = std::future::poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending()));
        assert!(is_pending.await);
        assert_eq!(lookups.load(Ordering::Relaxed), 1);
        drop(first);
        assert_eq!(cache.get((), async { Outcome::Ok(7) }).await.unwrap(), 7);
    }

    #[test]
    fn shared_errors_keep_their_kind() {
        let errors: [(HttpError, bool); 6] = [
            (fatal::<()>().unwrap_err().into(), true),
            (StoreError::Inconsistent { table: "votes", column: "id", row: String::new() }.into(), true),
            (unavailable::<()>().unwrap_err().into(), false),
            (RoadmapError::SearchUnavailable(StoreError::Transient("conflict".into())).into(), false),
            (HttpError::HandlerPanicked, true),
            (HttpError::MarkupQueueFull, false),
        ];
        for (error, is_fatal) in errors {
            let message = error.to_string();
            let HttpError::Domain(RoadmapError::Store(shared)) = share(Arc::new(error)) else {
                panic!("no error of the store: {message}");
            };
            assert_eq!(shared.is_fatal(), is_fatal, "{message}");
        }
    }
}
