//! A rate limiter with one bucket for each key, workspace or address, refilled at a constant rate.
//!
//! The arithmetic is governor's. The buckets are kept here, because a request must be able to read a bucket without
//! consuming from it.

use std::collections::HashMap;
use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::StateInformationMiddleware;
use governor::nanos::Nanos;
use governor::state::StateStore;
use governor::state::keyed::ShrinkableKeyedStateStore;
use governor::{Quota, RateLimiter};

use super::Stopwatch;

/// Number of buckets above which full ones are removed.
const SWEEP_THRESHOLD: usize = 1_024;

/// A number of requests per period, and the largest burst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(Quota);

impl Rate {
    /// Allows `requests` per `period` and bursts of up to `burst`. Returns `None` if the interval between two requests
    /// would be zero.
    #[must_use]
    pub fn new(requests: NonZeroU32, period: Duration, burst: NonZeroU32) -> Option<Self> {
        Quota::with_period(period / requests.get()).map(|quota| Self(quota.allow_burst(burst)))
    }

    /// Allows this many times as many requests, and bursts as many times as large.
    pub(super) fn times(self, factor: u32) -> Self {
        let factor = NonZeroU32::new(factor).unwrap_or(NonZeroU32::MIN);
        let burst = self.0.burst_size().saturating_mul(factor);
        let quota = Quota::with_period(self.0.replenish_interval() / factor.get());
        Self(quota.map_or(self.0, |quota| quota.allow_burst(burst)))
    }

    /// Returns the largest burst.
    pub(super) fn burst(self) -> u32 {
        self.0.burst_size().get()
    }

    /// Returns how long an empty bucket takes to refill.
    pub(super) fn refill(self) -> Duration {
        self.refill_time(self.burst())
    }

    fn refill_time(self, requests: u32) -> Duration {
        self.0.replenish_interval() * requests
    }
}

/// The status of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BucketState {
    /// How many more requests can be made at once.
    pub(super) remaining: u32,
    /// Longest time until one more request is available; `None` for a full bucket.
    pub(super) refill_in: Option<Duration>,
    /// Time until a request is available, if the bucket was empty.
    pub(super) retry_after: Option<Duration>,
}

/// Buckets with the same rate.
pub(super) struct Limiter<K: Hash + Eq + Clone> {
    pub(super) rate: Rate,
    governor: RateLimiter<BucketAccess<K>, Buckets<K>, StopwatchClock, StateInformationMiddleware>,
    sweep_above: AtomicUsize,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    pub(super) fn new(rate: Rate, stopwatch: Arc<dyn Stopwatch>) -> Self {
        let governor = RateLimiter::new(rate.0, Buckets::default(), StopwatchClock(stopwatch));
        Self { rate, governor, sweep_above: AtomicUsize::new(SWEEP_THRESHOLD) }
    }

    /// Consumes one request of a bucket, if one is available.
    pub(super) fn take(&self, key: K) -> BucketState {
        self.take_many(key, NonZeroU32::MIN)
    }

    /// Consumes several requests of a bucket, if all of them are available. More than the largest burst count as one
    /// burst, so that they can be available at all.
    pub(super) fn take_many(&self, key: K, requests: NonZeroU32) -> BucketState {
        let state = self.access_bucket(BucketAccess { key, consumes: true }, requests);
        self.remove_full_buckets();
        state
    }

    /// Returns the status of a bucket without consuming from it.
    pub(super) fn peek(&self, key: K) -> BucketState {
        self.access_bucket(BucketAccess { key, consumes: false }, NonZeroU32::MIN)
    }

    fn access_bucket(&self, access: BucketAccess<K>, requests: NonZeroU32) -> BucketState {
        let requests = requests.min(self.rate.0.burst_size());
        match self.governor.check_key_n(&access, requests) {
            Ok(Ok(snapshot)) => {
                // The snapshot always assumes that one request was consumed.
                let remaining = snapshot.remaining_burst_capacity() + u32::from(!access.consumes);
                let is_full = remaining >= self.rate.burst();
                BucketState { remaining, refill_in: (!is_full).then(|| self.rate.refill_time(1)), retry_after: None }
            }
            Ok(Err(not_until)) => {
                let wait = not_until.wait_time_from(self.governor.clock().now());
                BucketState { remaining: 0, refill_in: Some(wait), retry_after: Some(wait) }
            }
            // Not reached: there are no more requests than the largest burst.
            Err(_) => {
                let wait = self.rate.refill();
                BucketState { remaining: 0, refill_in: Some(wait), retry_after: Some(wait) }
            }
        }
    }

    /// Removes full buckets, which equal new ones. It runs each time their number has doubled, so that its amortized
    /// cost per bucket is small.
    fn remove_full_buckets(&self) {
        if self.governor.len() > self.sweep_above.load(Ordering::Relaxed) {
            self.governor.retain_recent();
            self.sweep_above.store(SWEEP_THRESHOLD.max(2 * self.governor.len()), Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.governor.len()
    }
}

/// A read of the bucket of `key`, which consumes requests if `consumes` is set.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct BucketAccess<K> {
    key: K,
    consumes: bool,
}

/// For each key the time since the limiter's start at which its bucket is full.
#[derive(Debug)]
struct Buckets<K>(Mutex<HashMap<K, Nanos>>);

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K> Buckets<K> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, Nanos>> {
        // An insert cannot leave a partial value, so a poisoned lock is safe to use.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Hash + Eq + Clone> StateStore for Buckets<K> {
    type Key = BucketAccess<K>;

    fn measure_and_replace<T, F, E>(&self, access: &BucketAccess<K>, decide: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut all = self.lock();
        let (decided, full_at) = decide(all.get(&access.key).copied())?;
        if access.consumes {
            all.insert(access.key.clone(), full_at);
        }
        Ok(decided)
    }
}

impl<K: Hash + Eq + Clone> ShrinkableKeyedStateStore<BucketAccess<K>> for Buckets<K> {
    fn retain_recent(&self, drop_below: Nanos) {
        let mut all = self.lock();
        all.retain(|_, full_at| *full_at > drop_below);
        all.shrink_to(SWEEP_THRESHOLD);
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }
}

/// Adapts the stopwatch to governor's clock.
struct StopwatchClock(Arc<dyn Stopwatch>);

impl Clock for StopwatchClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
