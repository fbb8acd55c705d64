//! Storage of file contents, apart from the attachment rows.
//!
//! A blob is written before its row and outside of any unit of work. A failure in between leaves an orphaned blob, but
//! never a row without a blob. The sweep removes orphaned blobs.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::model::attachment::{BlobKey, ContentHeaders};
use crate::model::timestamp::Timestamp;

/// A blob storage.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Blobs: Send + Sync {
    /// Returns the storage's name that clients see: `local` or `s3`.
    fn service_name(&self) -> &'static str;

    /// Begins an upload. A storage that serves files itself sends `content_headers` with the blob.
    async fn create(&self, key: BlobKey, content_headers: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError>;

    /// Returns the bytes of a blob, or of a range within it. Returns `None` when the blob does not exist.
    async fn read(&self, key: BlobKey, range: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError>;

    /// Returns a URL at which the storage serves the blob for `lifetime`. `None` when it cannot serve files.
    async fn presigned_url(&self, key: BlobKey, lifetime: Duration) -> Result<Option<String>, StoreError>;

    /// Lists all blobs. Other objects in the storage are omitted.
    fn list(&self) -> Box<dyn BlobListing>;

    /// Deletes a blob. A missing blob counts as deleted.
    async fn delete(&self, key: BlobKey) -> Result<(), StoreError>;

    /// Deletes unfinished uploads that began before `before`. Returns their number.
    async fn delete_unfinished_uploads(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// An upload in progress. The blob is invisible until it is finished.
///
/// Dropping an unfinished upload discards it, as far as the storage can.
#[async_trait]
pub trait BlobUpload: Send {
    /// Appends bytes.
    async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> Result<(), StoreError>;

    /// Discards the written bytes.
    async fn abort(self: Box<Self>) -> Result<(), StoreError>;
}

/// A stream of bytes.
#[async_trait]
pub trait Chunks: Send {
    /// Returns the next chunk, or `None` at the end. Must not be called after the end.
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError>;
}

/// The blobs of a storage in batches, in no particular order.
#[async_trait]
pub trait BlobListing: Send {
    /// Returns the next batch. An empty batch marks the end.
    async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError>;
}

/// An entry of a blob listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBlob {
    pub key: BlobKey,
    /// Timestamp of the write.
    pub written_at: Timestamp,
}
