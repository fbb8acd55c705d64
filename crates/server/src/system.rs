//! Adapters of the process itself: clock, ids, random numbers, operation locks, workspaces to index again, and caches in
//! front of the store.

mod cached_configuration;
mod cached_directory;
mod cached_health;
mod operation_locks;
mod outdated_workspaces;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use rand::RngExt;
use rand::distr::{Alphanumeric, SampleString};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Clock, IdGenerator, Random, RetryPause};
use roadmap_http::limits::Stopwatch;
use time::OffsetDateTime;
use uuid::{ContextV7, Uuid};

pub(crate) use cached_configuration::{CachedConfiguration, ConfigurationCache};
pub(crate) use cached_directory::CachedDirectory;
pub(crate) use cached_health::CachedHealth;
pub(crate) use operation_locks::InMemoryOperationLocks;
pub(crate) use outdated_workspaces::OutdatedWorkspaces;

/// The system's clock.
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the only implementation of the port")]
    fn now(&self) -> Timestamp {
        Timestamp::new(OffsetDateTime::from(SystemTime::now()))
    }
}

/// Random pauses of some milliseconds before a retry, about as long as a conflicting unit of work takes.
pub(crate) struct JitteredPause;

impl JitteredPause {
    /// The longest pause after this number of attempts.
    fn max_pause(attempts: u32) -> Duration {
        const FIRST: Duration = Duration::from_millis(20);
        FIRST * 2_u32.saturating_pow(attempts.saturating_sub(1)).min(16)
    }
}

#[async_trait]
impl RetryPause for JitteredPause {
    async fn pause(&self, attempts: u32) {
        let longest = Self::max_pause(attempts);
        let pause = rand::rng().random_range(longest / 4..=longest);
        tokio::time::sleep(pause).await;
    }
}

/// A monotonic stopwatch.
pub(crate) struct SystemStopwatch(Instant);

impl SystemStopwatch {
    /// Starts at zero.
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Stopwatch for SystemStopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A generator of UUIDs of version 7, which increase within a millisecond: the first has random bits, each further one is
/// the previous plus one (RFC 9562 section 6.2, method 2).
#[derive(Default)]
pub(crate) struct MonotonicIds(Mutex<LastId>);

/// The millisecond of the last id and the 80 bits that follow it.
#[derive(Default)]
struct LastId {
    millis: u64,
    counter: ContextV7,
}

impl IdGenerator for MonotonicIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let millis = u64::try_from(at.millis()).unwrap_or(0);
        // No code panics while it holds this lock.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if millis < last.millis {
            // The counter would stay at the later timestamp, but ids follow `at`: units begin and ask for ids in any order.
            last.counter = ContextV7::new();
        }
        last.millis = millis;
        let nanos = u32::try_from(millis % 1_000 * 1_000_000).unwrap_or(0);
        Uuid::new_v7(uuid::Timestamp::from_unix(&last.counter, millis / 1_000, nanos))
    }
}

/// The thread's random generator, which is seeded by the operating system and cryptographically secure.
pub(crate) struct SystemRandom;

impl Random for SystemRandom {
    fn base62(&self, characters: usize) -> String {
        Alphanumeric.sample_string(&mut rand::rng(), characters)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A stopwatch that advances only on request.
    #[derive(Default)]
    pub(crate) struct ManualStopwatch(AtomicU64);

    impl Stopwatch for ManualStopwatch {
        fn elapsed(&self) -> Duration {
            Duration::from_micros(self.0.load(Ordering::Relaxed))
        }
    }

    impl ManualStopwatch {
        pub(crate) fn advance(&self, time: Duration) {
            self.0.fetch_add(u64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
        }
    }

    #[test]
    fn pauses_grow_and_are_bounded() {
        let longest: Vec<_> = (1..=7).map(|attempts| JitteredPause::max_pause(attempts).as_millis()).collect();
        assert_eq!(longest, [20, 40, 80, 160, 320, 320, 320]);
        assert_eq!(JitteredPause::max_pause(u32::MAX).as_millis(), 320);
    }

    /// Decision 3.
    #[test]
    fn ids_are_of_version_7_and_follow_time() {
        let ids = MonotonicIds::default();
        let at = |millis| ids.next(Timestamp::from_millis(millis).unwrap());
        let first = at(1_780_000_000_000);
        assert_eq!((first.get_version_num(), first.get_variant()), (7, uuid::Variant::RFC4122));
        let of_one_millisecond: Vec<Uuid> = (0..1_000).map(|_| at(1_780_000_000_000)).collect();
        assert!(first < of_one_millisecond[0] && of_one_millisecond.is_sorted());
        assert!(of_one_millisecond.iter().all(|id| id.get_version_num() == 7));
        let later = at(1_780_000_000_001);
        assert!(of_one_millisecond[999] < later && at(1_779_999_999_999) < first);
        assert_ne!(at(5), MonotonicIds::default().next(Timestamp::from_millis(5).unwrap()));
    }

    #[test]
    fn ids_of_many_threads_are_distinct_and_in_order_on_each() {
        let ids = MonotonicIds::default();
        let at = Timestamp::from_millis(1_780_000_000_000).unwrap();
        let next = || (0..1_000).map(|_| ids.next(at)).collect::<Vec<Uuid>>();
        let made: Vec<Vec<Uuid>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(next)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|of_one| of_one.is_sorted()));
        let distinct: std::collections::BTreeSet<Uuid> = made.into_iter().flatten().collect();
        assert_eq!(distinct.len(), 4_000);
    }

    /// Decision 1.
    #[test]
    fn secrets_are_of_the_length_and_alphabet_of_keys() {
        let secret = SystemRandom.base62(43);
        assert_eq!(secret.len(), 43);
        assert!(secret.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_ne!(secret, SystemRandom.base62(43));
    }
}
