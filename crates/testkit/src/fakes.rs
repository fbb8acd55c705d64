//! Fakes of the clock, ids, pauses, operation locks and the storage of files.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, ContentHeaders};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{
    BlobListing, BlobUpload, Blobs, Chunks, Clock, IdGenerator, OperationLockGuard, OperationLocks, RetryPause,
    StoredBlob,
};
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

/// A storage that remembers which files were deleted. It stores none.
#[derive(Default)]
pub struct EmptyStorage(Mutex<Vec<BlobKey>>);

impl EmptyStorage {
    /// Returns the files that were deleted since the last call.
    pub fn take_deleted(&self) -> Vec<BlobKey> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[async_trait]
impl Blobs for EmptyStorage {
    fn service_name(&self) -> &'static str {
        "local"
    }

    async fn create(&self, _: BlobKey, _: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError> {
        Err(StoreError::Fatal("this storage takes no files".into()))
    }

    async fn read(&self, _: BlobKey, _: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError> {
        Ok(None)
    }

    async fn presigned_url(&self, _: BlobKey, _: Duration) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn list(&self) -> Box<dyn BlobListing> {
        Box::new(NoBlobs)
    }

    async fn delete(&self, key: BlobKey) -> Result<(), StoreError> {
        self.0.lock().unwrap().push(key);
        Ok(())
    }

    async fn delete_unfinished_uploads(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// A listing of no files.
struct NoBlobs;

#[async_trait]
impl BlobListing for NoBlobs {
    async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError> {
        Ok(Vec::new())
    }
}
