//! Stand-ins for what is outside.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use async_trait::async_trait;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Clock, IdGenerator, OperationLockGuard, OperationLocks, RetryPause};
use uuid::Uuid;

/// A clock that stands until it is moved.
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_780_000_000_000))
    }
}

impl ManualClock {
    /// Moves the clock.
    pub fn advance(&self, span: time::Duration) {
        self.0.fetch_add(i64::try_from(span.whole_milliseconds()).unwrap(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// UUIDs of version 7 with a counter where others have chance.
#[derive(Default)]
pub struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next(&self, at: Timestamp) -> Uuid {
        let count = u128::from(self.0.fetch_add(1, Ordering::SeqCst));
        let millis = u128::from(at.millis().unsigned_abs()) << 80;
        Uuid::from_u128(millis | 0x7 << 76 | 0x2 << 62 | count)
    }
}

/// No pause at all.
pub struct NoPause;

#[async_trait]
impl RetryPause for NoPause {
    async fn pause(&self, _: u32) {}
}

/// A gate that lets everybody through: leaves it to the store alone who runs.
pub struct NoOperationLocks;

#[async_trait]
impl OperationLocks for NoOperationLocks {
    async fn acquire(&self, _: WorkspaceId, _: &OperationKey) -> Option<OperationLockGuard> {
        Some(Box::new(()))
    }
}
