//! Blobs as files in a folder.

use std::ffi::OsStr;
use std::fs::{File, ReadDir};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::{GetResultPayload, MultipartUpload, ObjectStoreExt, PutPayloadMut};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, ContentHeaders};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{BlobListing, BlobUpload, Blobs, Chunks, StoredBlob};
use tokio::runtime::Handle;

use crate::errors::{disk_error, is_missing, misuse_error, store_error, task_error};

/// The number of bytes that are written or read at once. Each write or read runs on the pool of blocking threads, so
/// small ones are expensive. An upload buffers no more than this.
const PIECE_SIZE: usize = 256 * 1024;

/// The size of the memory blocks that buffer a piece.
const BLOCK_SIZE: usize = 64 * 1024;

/// The maximum number of blobs that a listing returns at once.
const PAGE_SIZE: usize = 1_000;

/// A blob storage in a local folder. Processes that serve the same data must share the folder.
#[derive(Debug, Clone)]
pub struct LocalBlobs {
    files: Arc<LocalFileSystem>,
    root: Arc<Path>,
    on_created: fn(&Path),
}

impl LocalBlobs {
    /// Opens the storage in this folder, and creates the folder if it does not exist.
    ///
    /// # Errors
    /// The folder cannot be created or read.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, StoreError> {
        let root = std::path::absolute(folder).map_err(disk_error)?;
        create_durably(&root).map_err(disk_error)?;
        let files = LocalFileSystem::new_with_prefix(&root).map_err(store_error)?.with_fsync(true);
        Ok(Self { files: Arc::new(files), root: root.into(), on_created: |_| {} })
    }

    /// Sets what is done with each new file, and before with its folder, for example to change their owners.
    #[must_use]
    pub fn on_created(self, on_created: fn(&Path)) -> Self {
        Self { on_created, ..self }
    }
}

#[async_trait]
impl Blobs for LocalBlobs {
    fn service_name(&self) -> &'static str {
        "local"
    }

    async fn create(&self, key: BlobKey, _content_headers: &ContentHeaders) -> Result<Box<dyn BlobUpload>, StoreError> {
        let (files, root, path) = (Arc::clone(&self.files), Arc::clone(&self.root), path_of(key));
        let runtime = Handle::current();
        let upload = blocking(move || {
            // object_store creates the folder and the staging file on the current thread.
            let upload = runtime.block_on(files.put_multipart(&path)).map_err(store_error)?;
            // object_store syncs the folders that it creates. A folder that another upload has just created may not be
            // durable yet, nor everything in it.
            sync_folder(&root).map_err(disk_error)?;
            Ok(upload)
        });
        let file = self.root.join(key.to_string());
        let on_created = self.on_created;
        Ok(Box::new(LocalUpload {
            upload: Some(upload.await?),
            buffer: empty_buffer(),
            is_broken: false,
            file,
            on_created,
        }))
    }

    async fn read(&self, key: BlobKey, range: Option<Range<u64>>) -> Result<Option<Box<dyn Chunks>>, StoreError> {
        let object = match self.files.get(&path_of(key)).await {
            Ok(object) => object,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(store_error(error)),
        };
        let range = range.unwrap_or(0..object.meta.size);
        if range.start > range.end || range.end > object.meta.size {
            return Err(misuse_error("a range that does not lie within the blob"));
        }
        // object_store's own stream reads 8 KiB at a time.
        let GetResultPayload::File(file, _) = object.payload else {
            return Err(misuse_error("object_store opened no file"));
        };
        Ok(Some(Box::new(LocalChunks { file: Some(file), next: range })))
    }

    async fn presigned_url(&self, _key: BlobKey, _lifetime: Duration) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    fn list(&self) -> Box<dyn BlobListing> {
        Box::new(LocalListing { walk: Some(Walk::new(&self.root)) })
    }

    async fn delete(&self, key: BlobKey) -> Result<(), StoreError> {
        match self.files.delete(&path_of(key)).await {
            Err(error) if !is_missing(&error) => Err(store_error(error)),
            _ => Ok(()),
        }
    }

    async fn delete_unfinished_uploads(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut walk = Walk::new(&self.root);
        blocking(move || {
            let mut deleted = 0;
            while let Some(entry) = walk.next().map_err(disk_error)? {
                if !is_staging(&entry.name) || entry.changed_at >= before {
                    continue;
                }
                match std::fs::remove_file(&entry.path) {
                    Ok(()) => deleted += 1,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(disk_error(error)),
                }
            }
            Ok(deleted)
        })
        .await
    }
}

/// An upload into a staging file. object_store renames the file to the blob's name at the end, and removes it if the
/// upload is dropped before. If the last step fails, the file stays for `delete_unfinished_uploads`.
struct LocalUpload {
    /// `None` once the upload is finished or aborted.
    upload: Option<Box<dyn MultipartUpload>>,
    buffer: PutPayloadMut,
    /// Whether a write failed or was cancelled: the file may have a gap.
    is_broken: bool,
    /// The file's name once the upload is finished.
    file: PathBuf,
    on_created: fn(&Path),
}

impl LocalUpload {
    /// Writes the buffered piece and waits until it is written, which slows a fast sender down.
    async fn flush(&mut self) -> Result<(), StoreError> {
        self.is_broken = true;
        let piece = std::mem::replace(&mut self.buffer, empty_buffer()).freeze();
        if let Some(upload) = &mut self.upload {
            upload.put_part(piece).await.map_err(store_error)?;
        }
        self.is_broken = false;
        Ok(())
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.is_broken { Err(misuse_error("an upload continued after a failed write")) } else { Ok(()) }
    }
}

#[async_trait]
impl BlobUpload for LocalUpload {
    async fn write(&mut self, mut bytes: Bytes) -> Result<(), StoreError> {
        self.check()?;
        while !bytes.is_empty() {
            let free = PIECE_SIZE.saturating_sub(self.buffer.content_length());
            self.buffer.extend_from_slice(&bytes.split_to(free.min(bytes.len())));
            if self.buffer.content_length() >= PIECE_SIZE {
                self.flush().await?;
            }
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<(), StoreError> {
        self.check()?;
        if !self.buffer.is_empty() {
            self.flush().await?;
        }
        if let Some(mut upload) = self.upload.take() {
            upload.complete().await.map_err(store_error)?;
            self.file.parent().into_iter().chain([&*self.file]).for_each(self.on_created);
        }
        Ok(())
    }

    async fn abort(mut self: Box<Self>) -> Result<(), StoreError> {
        match self.upload.take() {
            Some(mut upload) => upload.abort().await.map_err(store_error),
            None => Ok(()),
        }
    }
}

impl Drop for LocalUpload {
    /// Drops the upload on a separate thread. object_store leaves the removal of the file to the current runtime, which
    /// no longer runs it when it is about to end. Without a runtime, object_store removes the file at once.
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            // If no thread can be started, the upload is dropped here.
            let _ = std::thread::Builder::new().spawn(move || drop(upload));
        }
    }
}

fn empty_buffer() -> PutPayloadMut {
    PutPayloadMut::new().with_block_size(BLOCK_SIZE)
}

struct LocalChunks {
    /// `None` while a read runs.
    file: Option<File>,
    next: Range<u64>,
}

#[async_trait]
impl Chunks for LocalChunks {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.next.is_empty() {
            return Ok(None);
        }
        let mut file = self.file.take().ok_or_else(|| misuse_error("a read continued after a failed one"))?;
        let (start, left) = (self.next.start, self.next.end - self.next.start);
        let (file, piece) = blocking(move || {
            let mut piece = Vec::with_capacity(usize::try_from(left).unwrap_or(PIECE_SIZE).min(PIECE_SIZE));
            file.seek(SeekFrom::Start(start)).map_err(disk_error)?;
            (&mut file).take(left.min(PIECE_SIZE as u64)).read_to_end(&mut piece).map_err(disk_error)?;
            Ok((file, piece))
        })
        .await?;
        if piece.is_empty() {
            return Err(disk_error(io::ErrorKind::UnexpectedEof.into()));
        }
        self.file = Some(file);
        self.next.start += piece.len() as u64;
        Ok(Some(piece.into()))
    }
}

struct LocalListing {
    /// `None` while a page is read.
    walk: Option<Walk>,
}

#[async_trait]
impl BlobListing for LocalListing {
    async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError> {
        let mut walk = self.walk.take().ok_or_else(|| misuse_error("a listing continued after a failure"))?;
        let (walk, blobs) = blocking(move || {
            let mut blobs = Vec::new();
            while blobs.len() < PAGE_SIZE
                && let Some(entry) = walk.next().map_err(disk_error)?
            {
                if let Some(key) = BlobKey::parse(&entry.name) {
                    blobs.push(StoredBlob { key, written_at: entry.changed_at });
                }
            }
            Ok((walk, blobs))
        })
        .await?;
        self.walk = Some(walk);
        Ok(blobs)
    }
}

/// A file in a workspace's folder.
struct Entry {
    /// `<workspace>/<file>`
    name: String,
    path: PathBuf,
    changed_at: Timestamp,
}

/// An iterator over the files in all workspaces' folders. object_store's own listing omits staging files, and fails
/// permanently at a folder that it may not read, such as `lost+found`.
struct Walk {
    root: PathBuf,
    folders: Option<ReadDir>,
    /// The current folder: its name and its remaining files.
    files: Option<(String, ReadDir)>,
}

impl Walk {
    fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), folders: None, files: None }
    }

    fn next(&mut self) -> io::Result<Option<Entry>> {
        loop {
            if let Some((folder, files)) = &mut self.files {
                if let Some(file) = files.next() {
                    let file = file?;
                    // A file that was deleted meanwhile is omitted.
                    let Some(metadata) = if_present(file.metadata())? else { continue };
                    if let Some(name) = file.file_name().to_str()
                        && metadata.is_file()
                        && let Some(changed_at) = timestamp(metadata.modified()?)
                    {
                        let name = format!("{folder}/{name}");
                        return Ok(Some(Entry { name, path: file.path(), changed_at }));
                    }
                    continue;
                }
                self.files = None;
            }
            let folders = match &mut self.folders {
                Some(folders) => folders,
                None => self.folders.insert(std::fs::read_dir(&self.root)?),
            };
            let Some(folder) = folders.next() else { return Ok(None) };
            let folder = folder?;
            if let Some(name) = workspace_folder(&folder.file_name())
                && folder.file_type()?.is_dir()
                && let Some(files) = if_present(std::fs::read_dir(folder.path()))?
            {
                self.files = Some((name, files));
            }
        }
    }
}

/// Returns the name of a folder that can contain blobs. Both halves of a key have the same form.
fn workspace_folder(name: &OsStr) -> Option<String> {
    let name = name.to_str()?;
    BlobKey::parse(&format!("{name}/{name}")).map(|_| name.to_owned())
}

/// Whether the file is a staging file of object_store, which appends `#` and a number to the key.
fn is_staging(name: &str) -> bool {
    name.split_once('#').is_some_and(|(key, number)| {
        BlobKey::parse(key).is_some() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn path_of(key: BlobKey) -> object_store::path::Path {
    key.to_string().into()
}

/// Returns `None` if the file does not exist any more.
fn if_present<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts the time of a file; `None` if its year does not have four digits.
fn timestamp(time: SystemTime) -> Option<Timestamp> {
    let millis = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).ok()?,
        Err(before) => -i64::try_from(before.duration().as_millis()).ok()?,
    };
    Timestamp::from_millis(millis)
}

/// Creates a folder and its missing parents, so that they survive a power failure.
fn create_durably(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
    std::fs::create_dir_all(folder)?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Makes the names in a folder durable, which is only possible on Unix.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(task_error)?
}
