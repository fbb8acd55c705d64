//! Fakes of the clock, ids, pauses and operation locks.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Clock, IdGenerator, OperationLockGuard, OperationLocks, RetryPause};
use uuid::Uuid;

/// A clock that advances only on request.
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_780_000_000_000))
    }
}

impl ManualClock {
    /// Advances the clock.
    pub fn advance(&self, span: time::Duration) {
        self.0.fetch_add(i64::try_from(span.whole_milliseconds()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// UUIDs of version 7 with a counter instead of random bits.
#[derive(Default)]
pub struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let count = u128::from(self.0.fetch_add(1, Ordering::SeqCst));
        let millis = u128::from(at.millis().unsigned_abs()) << 80;
        Uuid::from_u128(millis | 0x7 << 76 | 0x2 << 62 | count)
    }
}

/// Retries without a pause.
pub struct NoPause;

#[async_trait]
impl RetryPause for NoPause {
    async fn pause(&self, _: u32) {}
}

/// Operation locks that never block, so that the store alone serializes runs with the same key.
pub struct NoOperationLocks;

#[async_trait]
impl OperationLocks for NoOperationLocks {
    async fn acquire(&self, _: WorkspaceId, _: &OperationKey) -> Option<OperationLockGuard> {
        Some(Box::new(()))
    }
}
