//! Where files are kept, apart from the rows that tell about them.
//!
//! A blob is written before its row and outside of any unit of work, so that a failure in between
//! leaves a blob without a row and never a row without a blob. The sweep removes the former.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::model::attachment::{BlobKey, ContentHeaders};
use crate::model::timestamp::Timestamp;

/// A storage for files.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// What clients know the storage by: `local` or `s3`.
    fn service_name(&self) -> &'static str;

    /// Begins to write a blob. `content_headers` is what a storage that serves files itself tells about it.
    async fn create(&self, key: BlobKey, content_headers: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError>;

    /// The bytes of a blob, or those of a range that lies within it. `None` when there is no such
    /// blob.
    async fn read(&self, key: BlobKey, range: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError>;

    /// A URL under which the storage itself serves the blob for `lifetime`. `None` when it serves no
    /// files and the service has to.
    async fn presigned_url(&self, key: BlobKey, lifetime: Duration) -> Result<Option<String>, StoreError>;

    /// All blobs. Whatever else lies in the storage is left out.
    fn list(&self) -> Box<dyn BlobListing>;

    /// Deletes a blob. One that is not there counts as deleted.
    async fn delete(&self, key: BlobKey) -> Result<(), StoreError>;

    /// Deletes what uploads that began before a moment have left unfinished. Returns how many.
    async fn delete_unfinished_uploads(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// A blob that is being written. Nobody sees it before it is finished; dropping it undoes it, as far
/// as the storage can.
#[async_trait]
pub trait BlobUpload: Send {
    /// Adds bytes.
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> Result<(), StoreError>;

    /// Undoes what was written.
    async fn abort(self: Box<Self>) -> Result<(), StoreError>;
}

/// Bytes that come one piece after the other.
#[async_trait]
pub trait Chunks: Send {
    /// The next piece; `None` at the end, behind which nobody asks.
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError>;
}

/// The blobs of a storage, some at a time, in no particular order.
#[async_trait]
pub trait BlobListing: Send {
    /// The next ones; none at the end.
    async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError>;
}

/// A blob as the storage knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBlob {
    /// Its key.
    pub key: BlobKey,
    /// When it was written.
    pub written_at: Timestamp,
}
