//! Blobs as objects in an S3-compatible bucket.
//!
//! Runtime: all requests run on the runtime in which the storage was opened, and callers on any runtime wait for the
//! result. reqwest binds a connection to the runtime that opens it, and then keeps it in one pool for all runtimes. So
//! a request of one worker could use a connection that another worker drives only between its own requests, or does not
//! drive any more. object_store has a connector for this, but it buffers a whole response however slowly it is read.
//! Here the sender waits.
//!
//! Certificates: reqwest uses the platform's verifier, which on Linux reads the certificates of the system (or of
//! `SSL_CERT_FILE` and `SSL_CERT_DIR`), and the process's cryptography provider. There must be some certificates even
//! if no request is encrypted.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path;
use object_store::signer::{Method, Signer};
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, GetOptions, GetRange, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutPayloadMut, RetryConfig,
};
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::attachment::{BlobKey, ContentHeaders};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{BlobListing, BlobUpload, Blobs, Chunks, StoredBlob};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use crate::errors::{SettingError, is_missing, misuse_error, store_error, task_error};

/// The size of a part. S3 accepts no smaller parts except the last.
const PART_SIZE: usize = 5 * 1024 * 1024;

/// The size of the memory blocks that buffer a part.
const BLOCK_SIZE: usize = 64 * 1024;

/// The number of uploads of this process that may buffer bytes at the same time. Others wait for a permit.
static UPLOAD_PERMITS: Semaphore = Semaphore::const_new(8);

/// How long an upload waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(30);

/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long S3 may be silent: from the start of a request, including its body, and between two chunks of a response.
///
/// A part therefore needs 4 Mbit/s; `AWS_READ_TIMEOUT` sets another limit. There is no limit for a whole response,
/// because a slow reader may take long to fetch it.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How long after its start a request may be retried. With the two limits above, an S3 that is unreachable is detected
/// in about 7 seconds, and one that is silent in about 10.
const RETRY_TIMEOUT: Duration = Duration::from_secs(4);

/// A blob storage in a bucket, optionally under a prefix. Nothing else may write there: objects whose keys object_store
/// cannot express (`a//b`) make a listing fail.
///
/// Uploads that are unfinished when the process is killed are invisible, but billed. A lifecycle rule of the bucket
/// deletes them (`AbortIncompleteMultipartUpload`).
#[derive(Debug, Clone)]
pub struct S3Blobs {
    store: Arc<AmazonS3>,
    prefix: Path,
    runtime: Handle,
}

impl S3Blobs {
    /// Opens the storage at `s3://bucket` or `s3://bucket/prefix`. Credentials, region and endpoint come from the
    /// `AWS_…` variables in `environment`. Without keys in them, credentials are requested from a web identity, the
    /// container or the machine when they are needed. All requests run on the current runtime.
    ///
    /// # Errors
    /// The settings are invalid. Whether S3 is reachable is not checked.
    pub fn open(url: &str, environment: impl IntoIterator<Item = (String, String)>) -> Result<Self, StoreError> {
        let runtime = Handle::try_current().map_err(SettingError::Runtime)?;
        // If another part of the process has installed a provider, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (bucket, prefix) = parse_bucket_url(url)?;
        let client = ClientOptions::new()
            .with_timeout_disabled()
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_read_timeout(READ_TIMEOUT);
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: Duration::from_secs(1), ..BackoffConfig::default() },
            max_retries: 3,
            retry_timeout: RETRY_TIMEOUT,
        };
        let mut builder = AmazonS3Builder::new().with_client_options(client).with_retry(retry);
        for (name, value) in environment {
            // An empty variable counts as not set, as is usual in containers.
            if name.starts_with("AWS_")
                && !value.is_empty()
                && let Ok(key) = name.to_ascii_lowercase().parse()
            {
                builder = builder.with_config(key, value);
            }
        }
        let endpoint = builder
            .get_config_value(&AmazonS3ConfigKey::S3Endpoint)
            .or_else(|| builder.get_config_value(&AmazonS3ConfigKey::Endpoint));
        if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
            builder = builder.with_allow_http(true);
        }
        let store = builder
            .with_bucket_name(bucket)
            // Not every S3 supports the request that deletes several objects.
            .with_disable_bulk_delete(true)
            .build()
            .map_err(SettingError::Variables)?;
        Ok(Self { store: Arc::new(store), prefix, runtime })
    }

    fn path_of(&self, key: BlobKey) -> Path {
        self.prefix.clone().join(key.workspace.to_string()).join(key.attachment.to_string())
    }
}

/// Returns the bucket and the prefix of a URL.
fn parse_bucket_url(url: &str) -> Result<(String, Path), SettingError> {
    let url = Url::parse(url).map_err(|_| SettingError::Url)?;
    let is_plain = url.scheme() == "s3"
        && url.username().is_empty()
        && url.password().is_none()
        && url.port().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let bucket = url.host_str().filter(|bucket| is_plain && !bucket.is_empty()).ok_or(SettingError::Url)?;
    let prefix = Path::from_url_path(url.path()).map_err(|_| SettingError::Url)?;
    Ok((bucket.to_owned(), prefix))
}

#[async_trait]
impl Blobs for S3Blobs {
    fn service_name(&self) -> &'static str {
        "s3"
    }

    async fn create(&self, key: BlobKey, content_headers: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError> {
        // Presigned URLs do not contain the response headers, so the object has to have them.
        let attributes = Attributes::from_iter([
            (Attribute::ContentType, content_headers.content_type.clone()),
            (Attribute::ContentDisposition, content_headers.content_disposition()),
        ]);
        Ok(Box::new(S3Upload {
            store: Arc::clone(&self.store),
            runtime: self.runtime.clone(),
            path: self.path_of(key),
            attributes,
            permit: None,
            buffer: empty_buffer(),
            parts: None,
            is_broken: false,
        }))
    }

    async fn read(&self, key: BlobKey, range: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError> {
        // A request cannot have an empty range, so it is a HEAD request instead.
        let is_empty = range.as_ref().is_some_and(Range::is_empty);
        let range = range.filter(|range| !range.is_empty()).map(GetRange::Bounded);
        let options = GetOptions { range, head: is_empty, ..GetOptions::default() };
        let (store, path) = (Arc::clone(&self.store), self.path_of(key));
        let object = run_on(&self.runtime, async move {
            match store.get_opts(&path, options).await {
                Ok(object) => Ok(Some(object)),
                Err(error) if is_missing(&error) => Ok(None),
                Err(error) => Err(store_error(error)),
            }
        });
        let Some(object) = object.await? else { return Ok(None) };
        let pieces = object.into_stream().take(if is_empty { 0 } else { usize::MAX });
        Ok(Some(Box::new(ForwardedStream::new(&self.runtime, pieces.map_err(store_error)))))
    }

    async fn presigned_url(&self, key: BlobKey, lifetime: Duration) -> Result<Option<String>, StoreError> {
        let (store, path) = (Arc::clone(&self.store), self.path_of(key));
        run_on(&self.runtime, async move {
            let url = store.signed_url(Method::GET, &path, lifetime).await.map_err(store_error)?;
            Ok(Some(url.into()))
        })
        .await
    }

    fn list(&self) -> Box<dyn BlobListing> {
        let prefix = self.prefix.clone();
        let pages = self
            .store
            .list(Some(&self.prefix))
            .map_err(store_error)
            .try_filter_map(move |object| std::future::ready(Ok(stored_blob(&object, &prefix))))
            // The objects of a page of S3 arrive together.
            .ready_chunks(1_000)
            .map(|page| page.into_iter().collect::<Result<Vec<_>, _>>());
        Box::new(ForwardedStream::new(&self.runtime, pages))
    }

    async fn delete(&self, key: BlobKey) -> Result<(), StoreError> {
        let (store, path) = (Arc::clone(&self.store), self.path_of(key));
        run_on(&self.runtime, async move {
            match store.delete(&path).await {
                Err(error) if !is_missing(&error) => Err(store_error(error)),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Returns 0: unfinished uploads are deleted by a lifecycle rule of the bucket.
    async fn delete_unfinished_uploads(&self, _before: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }
}

/// Converts an object to a blob; `None` if it is not a blob.
fn stored_blob(object: &ObjectMeta, prefix: &Path) -> Option<StoredBlob> {
    let parts: Vec<_> = object.location.prefix_match(prefix)?.collect();
    let [workspace, attachment] = parts.as_slice() else { return None };
    let key = BlobKey::parse(&format!("{}/{}", workspace.as_ref(), attachment.as_ref()))?;
    Some(StoredBlob { key, written_at: Timestamp::from_millis(object.last_modified.timestamp_millis())? })
}

/// An upload: a single put if it fits into one part, else a multipart upload.
struct S3Upload {
    store: Arc<AmazonS3>,
    runtime: Handle,
    path: Path,
    attributes: Attributes,
    /// The permit to buffer bytes, held from the first byte on.
    permit: Option<SemaphorePermit<'static>>,
    buffer: PutPayloadMut,
    parts: Option<Box<dyn MultipartUpload>>,
    /// Whether sending a part failed or was cancelled: the object may have a gap.
    is_broken: bool,
}

impl S3Upload {
    /// Sends the buffered part and waits until S3 has received it, which slows a fast sender down.
    async fn flush(&mut self) -> Result<(), StoreError> {
        self.is_broken = true;
        if self.parts.is_none() {
            let (store, path) = (Arc::clone(&self.store), self.path.clone());
            let options = PutMultipartOptions { attributes: self.attributes.clone(), ..PutMultipartOptions::default() };
            let begun = async move { store.put_multipart_opts(&path, options).await.map_err(store_error) };
            self.parts = Some(run_on(&self.runtime, begun).await?);
        }
        let bytes = self.take_buffer();
        if let Some(parts) = &mut self.parts {
            let part = parts.put_part(bytes);
            run_on(&self.runtime, async move { part.await.map_err(store_error) }).await?;
        }
        self.is_broken = false;
        Ok(())
    }

    fn take_buffer(&mut self) -> PutPayload {
        std::mem::replace(&mut self.buffer, empty_buffer()).freeze()
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_broken { Err(misuse_error("an upload continued after a failed write")) } else { Ok(()) }
    }
}

#[async_trait]
impl BlobUpload for S3Upload {
    async fn write(&mut self, mut bytes: Bytes) -> Result<(), StoreError> {
        self.check()?;
        if self.permit.is_none() && !bytes.is_empty() {
            let permit = timeout(PERMIT_TIMEOUT, UPLOAD_PERMITS.acquire()).await;
            let permit = permit.map_err(|late| StoreError::Unavailable(late.into()))?;
            self.permit = Some(permit.map_err(|closed| StoreError::Fatal(closed.into()))?);
        }
        while !bytes.is_empty() {
            // Only now is it certain that this part is not the last.
            if self.buffer.content_length() >= PART_SIZE {
                self.flush().await?;
            }
            let free = PART_SIZE.saturating_sub(self.buffer.content_length());
            self.buffer.extend_from_slice(&bytes.split_to(free.min(bytes.len())));
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        self.check()?;
        if self.parts.is_some() {
            self.flush().await?;
        }
        if let Some(mut parts) = self.parts.take() {
            let done = self.runtime.spawn(async move {
                let done = parts.complete().await;
                if done.is_err() {
                    abort_upload(parts).await;
                }
                done
            });
            done.await.map_err(task_error)?.map_err(store_error)?;
        } else {
            let (store, path, bytes) = (Arc::clone(&self.store), self.path.clone(), self.take_buffer());
            let options = PutOptions { attributes: self.attributes.clone(), ..PutOptions::default() };
            let done = self.runtime.spawn(async move { store.put_opts(&path, bytes, options).await });
            done.await.map_err(task_error)?.map_err(store_error)?;
        }
        Ok(())
    }

    async fn abort(mut self: Box<Self>) -> Result<(), StoreError> {
        let Some(mut parts) = self.parts.take() else { return Ok(()) };
        let undone = self.runtime.spawn(async move { parts.abort().await });
        match undone.await.map_err(task_error)? {
            Err(error) if !is_missing(&error) => Err(store_error(error)),
            _ => Ok(()),
        }
    }
}

impl Drop for S3Upload {
    fn drop(&mut self) {
        if let Some(parts) = self.parts.take() {
            // On a runtime that has ended, this does nothing.
            drop(self.runtime.spawn(abort_upload(parts)));
        }
    }
}

/// Aborts an upload whose caller gets another error or was cancelled.
async fn abort_upload(mut parts: Box<dyn MultipartUpload>) {
    match parts.abort().await {
        Err(error) if !is_missing(&error) => {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to abort an unfinished upload");
        }
        _ => {}
    }
}

fn empty_buffer() -> PutPayloadMut {
    PutPayloadMut::new().with_block_size(BLOCK_SIZE)
}

/// The items of a stream that runs on another runtime, one item ahead of its reader.
struct ForwardedStream<T> {
    items: mpsc::Receiver<Result<T, StoreError>>,
    /// Dropping it aborts the task.
    task: JoinSet<()>,
}

impl<T: Send + 'static> ForwardedStream<T> {
    fn new(runtime: &Handle, stream: impl Stream<Item = Result<T, StoreError>> + Send + 'static) -> Self {
        let (sender, items) = mpsc::channel(1);
        let mut task = JoinSet::new();
        task.spawn_on(
            async move {
                let mut stream = std::pin::pin!(stream);
                while let Some(item) = stream.next().await {
                    if sender.send(item).await.is_err() {
                        return;
                    }
                }
            },
            runtime,
        );
        Self { items, task }
    }

    async fn item(&mut self) -> Result<Option<T>, StoreError> {
        if let Some(item) = self.items.recv().await {
            return item.map(Some);
        }
        // A cancelled task has not reached the end of the stream.
        match self.task.join_next().await {
            Some(Err(error)) => Err(task_error(error)),
            _ => Ok(None),
        }
    }
}

#[async_trait]
impl Chunks for ForwardedStream<Bytes> {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        self.item().await
    }
}

#[async_trait]
impl BlobListing for ForwardedStream<Vec<StoredBlob>> {
    async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError> {
        Ok(self.item().await?.unwrap_or_default())
    }
}

/// Runs a request on a runtime, and cancels it if its caller is cancelled.
async fn run_on<T: Send + 'static>(
    runtime: &Handle,
    request: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    let mut task = JoinSet::new();
    task.spawn_on(request, runtime);
    match task.join_next().await {
        Some(done) => done.map_err(task_error)?,
        None => Err(misuse_error("a request was not started")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 7.
    #[test]
    fn a_url_names_a_bucket_and_optionally_a_prefix() {
        for (url, bucket, prefix) in [
            ("s3://bucket", "bucket", ""),
            ("s3://bucket/", "bucket", ""),
            ("s3://my.bucket-1/a/b%20c/", "my.bucket-1", "a/b c"),
        ] {
            let (name, path) = parse_bucket_url(url).unwrap();
            assert_eq!((name.as_str(), path.as_ref()), (bucket, prefix), "{url}");
        }
        for url in [
            "",
            "bucket",
            "s3:",
            "s3:///prefix",
            "https://bucket/x",
            "s3://key@bucket",
            "s3://bucket?x",
            "s3://bucket/a//b",
        ] {
            assert!(parse_bucket_url(url).is_err(), "{url}");
        }
    }
}
