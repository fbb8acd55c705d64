//! Uploads a file, contract section 4.1. Stores the content before the attachment row.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use md5::{Digest, Md5};
use uuid::Uuid;

use crate::error::{ErrorChain, FieldError, FieldProblem, RoadmapError, StoreError};
use crate::model::attachment::{Attachment, BlobKey, Checksum, ContentHeaders, Filename, MAX_BYTES, UnusedAttachment};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::model::media_type::{self, MediaType};
use crate::model::picture::{PictureBy, PictureProblem};
use crate::model::usage::Usage;
use crate::policy::storage;
use crate::ports::{BlobUpload, Blobs, Chunks, Clock, IdGenerator, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::storage_budgets::{Reservation, StorageBudgets};

/// Number of bytes at the start of a file that are kept in memory, to read the dimensions of an image from.
const MAX_HEAD_BYTES: usize = 256 * 1024;

/// Uploads files.
#[derive(Clone)]
pub struct UploadAttachment {
    blobs: Arc<dyn Blobs>,
    executor: Executor,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    budgets: Option<Arc<StorageBudgets>>,
}

/// A file that is already in memory.
pub struct InMemory(pub Option<Bytes>);

#[async_trait]
impl Chunks for InMemory {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        Ok(self.0.take())
    }
}

/// The description of a file by the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDescription {
    /// The name.
    pub filename: Filename,
    /// The declared media type. It is used only when the content does not determine the type.
    pub media_type: Option<String>,
}

/// Returns the error for a missing or too large file.
#[must_use]
pub fn invalid_file() -> FieldError {
    FieldError::new("file", FieldProblem::Custom { message: "File is required and must not be larger than 50 MB" })
}

/// Returns the error for a file of an import or an export that is too large.
#[must_use]
pub fn too_large_file() -> FieldError {
    let message = "File is larger than this server takes (setting import_max_size)";
    FieldError::new("file", FieldProblem::Custom { message })
}

/// Returns the error for a form that has a file, but not in the field `file`.
#[must_use]
pub fn file_of_another_field() -> FieldError {
    let message = "File is required and must not be larger than 50 MB: the part of the form must be named `file`";
    FieldError::new("file", FieldProblem::Custom { message })
}

impl UploadAttachment {
    /// Creates uploads to `blobs` without storage budgets.
    #[must_use]
    pub fn new(blobs: Arc<dyn Blobs>, executor: Executor, clock: Arc<dyn Clock>, ids: Arc<dyn IdGenerator>) -> Self {
        Self { blobs, executor, clock, ids, budgets: None }
    }

    /// Enforces storage budgets.
    #[must_use]
    pub fn with_budgets(self, budgets: Arc<StorageBudgets>) -> Self {
        Self { budgets: Some(budgets), ..self }
    }

    /// Checks the storage budget before a file is read.
    ///
    /// # Errors
    /// - [`RoadmapError::OverBudget`] when the workspace cannot store any file.
    /// - Errors of the store.
    pub async fn check_budget(&self, workspace: WorkspaceId) -> Result<(), RoadmapError> {
        match &self.budgets {
            Some(budgets) => budgets.check_files(workspace).await,
            None => Ok(()),
        }
    }

    /// Stores the content as it arrives, and then the row. Both are durable when this returns.
    ///
    /// # Errors
    /// - [`invalid_file`] when the file has more than [`MAX_BYTES`].
    /// - [`RoadmapError::OverBudget`] when the file does not fit into the storage budget.
    /// - Errors of the source, the storage and the store.
    ///
    /// After an error there is no blob, unless the store failed. In that case it may be unknown whether the row was
    /// committed, so the blob is kept and the sweep deletes it if it is orphaned.
    pub async fn run(
        &self,
        workspace: WorkspaceId,
        file: FileDescription,
        source: &mut dyn Chunks,
    ) -> Result<Attachment, RoadmapError> {
        self.store(BlobKey { workspace, attachment: self.new_id() }, None, file, source).await
    }

    /// Stores a file of an import or an export, of at most `limit` bytes. Otherwise as [`Self::run`].
    ///
    /// # Errors
    /// As [`Self::run`], with another limit.
    pub async fn store_job_file(
        &self,
        workspace: WorkspaceId,
        (job, name): (Uuid, &str),
        limit: u64,
        source: &mut dyn Chunks,
    ) -> Result<Attachment, RoadmapError> {
        self.store_of_job(BlobKey { workspace, attachment: self.new_id() }, (job, name), limit, source).await
    }

    /// Stores a file that is to be imported, of at most `limit` bytes. It is a job file of its own, with its own ID. Otherwise as
    /// [`Self::run`].
    pub(crate) async fn store_upload(
        &self,
        workspace: WorkspaceId,
        name: &str,
        limit: u64,
        source: &mut dyn Chunks,
    ) -> Result<Attachment, RoadmapError> {
        let key = BlobKey { workspace, attachment: self.new_id() };
        self.store_of_job(key, (key.attachment.uuid(), name), limit, source).await
    }

    async fn store_of_job(
        &self,
        key: BlobKey,
        (job, name): (Uuid, &str),
        limit: u64,
        source: &mut dyn Chunks,
    ) -> Result<Attachment, RoadmapError> {
        let file = FileDescription { filename: Filename::sanitize(name), media_type: None };
        let (stored, reservation) = self.store_content(key, file, limit, source).await?;
        let record = RecordJobFile { job, name: name.to_owned(), stored };
        let recorded = self.executor.run_without_key(key.workspace, &record).await?;
        if let Some(reservation) = reservation {
            reservation.commit(Usage::default());
        }
        Ok(recorded)
    }

    /// Deletes all files of an import or an export. What cannot be deleted in the storage, the sweep deletes later.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn delete_job_files(&self, workspace: WorkspaceId, job: Uuid) -> Result<(), RoadmapError> {
        self.forget_files(workspace, self.executor.run_without_key(workspace, &DeleteJobFiles { job }).await?).await;
        Ok(())
    }

    /// Deletes the content of files whose rows are deleted.
    pub(crate) async fn forget_files(&self, workspace: WorkspaceId, files: Vec<UnusedAttachment>) {
        for file in files {
            if let Some(budgets) = &self.budgets {
                budgets.record(workspace, Usage::default().minus(Usage::from_files(file.byte_size)));
            }
            if let Err(error) = self.blobs.delete(file.key).await {
                tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to delete the content of a file");
            }
        }
    }

    /// Returns the ID of a new file.
    pub(crate) fn new_id(&self) -> AttachmentId {
        AttachmentId::new(self.ids.next(self.clock.now()))
    }

    /// Stores a picture that is already as texts show it, with who has added it. Its name gets the extension of its type.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub async fn store_picture(
        &self,
        key: BlobKey,
        name: &Filename,
        scaled: Bytes,
        by: PictureBy,
    ) -> Result<Attachment, RoadmapError> {
        let media_type = MediaType::detect(&scaled, None);
        let stem = name.as_str().rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        let extension = media_type.as_str().rsplit('/').next().unwrap_or_default();
        let filename = Filename::sanitize(&format!("{stem}.{extension}"));
        let file = FileDescription { filename, media_type: None };
        self.store(key, Some(by), file, &mut InMemory(Some(scaled))).await
    }

    /// Stores a file with this ID, or a picture for texts with who has added it. Otherwise as [`Self::run`].
    pub(crate) async fn store(
        &self,
        key: BlobKey,
        picture_by: Option<PictureBy>,
        file: FileDescription,
        source: &mut dyn Chunks,
    ) -> Result<Attachment, RoadmapError> {
        let (stored, reservation) = self.store_content(key, file, MAX_BYTES, source).await?;
        let customer_share = match picture_by {
            Some(PictureBy::Customer) => self.budgets.as_ref().and_then(|budgets| budgets.limits().customer_pictures()),
            Some(PictureBy::Team) | None => None,
        };
        let record = RecordAttachment { stored, picture_by, customer_share };
        let recorded = self.executor.run_without_key(key.workspace, &record).await;
        if let Err(RoadmapError::Invalid(_)) = &recorded
            && let Err(error) = self.blobs.delete(key).await
        {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to remove a refused picture");
        }
        let recorded = recorded?;
        if let Some(reservation) = reservation {
            reservation.commit(Usage::default());
        }
        Ok(recorded)
    }

    async fn store_content(
        &self,
        key: BlobKey,
        file: FileDescription,
        limit: u64,
        source: &mut dyn Chunks,
    ) -> Result<(Attachment, Option<Reservation>), RoadmapError> {
        let mut pieces = Vec::new();
        let mut progress = UploadProgress { limit, ..UploadProgress::default() };
        while progress.head.len() < media_type::SNIFF_BYTES && !progress.is_complete {
            pieces.extend(progress.next(source).await?);
        }
        let media_type = MediaType::detect(&progress.head, file.media_type.as_deref());
        let mut upload = self.blobs.create(key, &ContentHeaders::new(&media_type, &file.filename)).await?;
        let taken = progress.write_to(pieces, source, &mut *upload).await.and_then(|()| {
            let stored = Attachment {
                id: key.attachment,
                filename: file.filename,
                byte_size: progress.size,
                checksum: Checksum(std::mem::take(&mut progress.md5).finalize().into()),
                key,
                service_name: self.blobs.service_name().to_owned(),
                dimensions: media_type::dimensions(&media_type, &progress.head),
                media_type,
                created_at: self.clock.now(),
            };
            let reserve =
                |budgets: &Arc<StorageBudgets>| budgets.reserve(key.workspace, storage::attachment_usage(&stored));
            let reservation = self.budgets.as_ref().map(reserve).transpose()?;
            Ok((stored, reservation))
        });
        match &taken {
            Ok(_) => upload.finish().await?,
            Err(_) => {
                if let Err(second) = upload.abort().await {
                    tracing::warn!(error = %ErrorChain::new(&second), "failed to remove an unfinished upload");
                }
            }
        }
        taken
    }
}

/// The state of an upload: size, checksum and first bytes of the content read so far.
#[derive(Default)]
struct UploadProgress {
    /// Maximum size in bytes.
    limit: u64,
    size: u64,
    md5: Md5,
    head: Vec<u8>,
    is_complete: bool,
}

impl UploadProgress {
    /// Reads and counts the next chunk.
    async fn next(&mut self, source: &mut dyn Chunks) -> Result<Option<Bytes>, RoadmapError> {
        let piece = source.next().await?;
        match &piece {
            Some(piece) => self.count(piece)?,
            None => self.is_complete = true,
        }
        Ok(piece)
    }

    fn count(&mut self, piece: &Bytes) -> Result<(), RoadmapError> {
        self.size = self.size.saturating_add(piece.len() as u64);
        if self.size > self.limit {
            return Err(if self.limit == MAX_BYTES { invalid_file() } else { too_large_file() }.into());
        }
        self.md5.update(piece);
        let length = piece.len().min(MAX_HEAD_BYTES.saturating_sub(self.head.len()));
        self.head.extend_from_slice(piece.get(..length).unwrap_or_default());
        Ok(())
    }

    /// Writes the chunks in `taken` and the remaining chunks of `source`.
    async fn write_to(
        &mut self,
        taken: Vec<Bytes>,
        source: &mut dyn Chunks,
        upload: &mut dyn BlobUpload,
    ) -> Result<(), RoadmapError> {
        for piece in taken {
            upload.write(piece).await?;
        }
        while !self.is_complete {
            if let Some(piece) = self.next(source).await? {
                upload.write(piece).await?;
            }
        }
        Ok(())
    }
}

/// Stores the row of a file of an import or an export after its content was stored.
struct RecordJobFile {
    job: Uuid,
    name: String,
    stored: Attachment,
}

#[async_trait]
impl Operation for RecordJobFile {
    type Output = Attachment;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Attachment>, RoadmapError> {
        let file = Attachment { created_at: context.now, ..self.stored.clone() };
        work.insert_job_file(self.job, &self.name, &file).await?;
        Ok(Performed::new(file, Audit::OwnRecord(OwnRecord::Upload)))
    }
}

/// Deletes the rows of the files of an import or an export.
struct DeleteJobFiles {
    job: Uuid,
}

#[async_trait]
impl Operation for DeleteJobFiles {
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        Ok(Performed::new(work.delete_job_files(self.job).await?, Audit::Unchanged))
    }
}

/// Stores the row of a file after its content was stored.
struct RecordAttachment {
    stored: Attachment,
    picture_by: Option<PictureBy>,
    /// How many bytes the pictures of customers may take together.
    customer_share: Option<u64>,
}

#[async_trait]
impl Operation for RecordAttachment {
    type Output = Attachment;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Attachment>, RoadmapError> {
        let attachment = Attachment { created_at: context.now, ..self.stored.clone() };
        if let Some(share) = self.customer_share
            && work.customer_picture_bytes().await?.saturating_add(attachment.byte_size) > share
        {
            return Err(PictureProblem::ShareUsedUp.of_field("picture").into());
        }
        work.insert_attachment(&attachment, self.picture_by).await?;
        Ok(Performed::new(attachment, Audit::OwnRecord(OwnRecord::Upload)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Budget, OverBudget};
    use crate::model::usage::StoredUsage;
    use crate::policy::storage::StorageLimits;
    use crate::ports::mocks::{MockBlobs, MockOperationLocks, MockRetryPause, MockStore, MockUnit, MockUsageStore};
    use crate::ports::{BeginOutcome, EndOutcome};
    use crate::usecase::fixtures::{FixedClock, NumberedIds, now, workspace};
    use pollster::block_on;
    use std::sync::{Mutex, PoisonError};
    use uuid::Uuid;

    /// A source of chunks and errors. Panics when it is read after the end.
    struct Pieces(Option<std::vec::IntoIter<Result<Bytes, StoreError>>>);

    #[async_trait]
    impl Chunks for Pieces {
        async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
            let next = self.0.as_mut().unwrap().next();
            if next.is_none() {
                self.0 = None;
            }
            next.transpose()
        }
    }

    /// The recorded calls of an upload.
    #[derive(Default)]
    struct Seen {
        bytes: Vec<u8>,
        ended: Vec<&'static str>,
    }

    struct Recorded(Arc<Mutex<Seen>>);

    impl Recorded {
        fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    #[async_trait]
    impl BlobUpload for Recorded {
        async fn write(&mut self, bytes: Bytes) -> Result<(), StoreError> {
            self.seen().bytes.extend_from_slice(&bytes);
            Ok(())
        }

        async fn finish(self: Box<Self>) -> Result<(), StoreError> {
            self.seen().ended.push("finished");
            Ok(())
        }

        async fn abort(self: Box<Self>) -> Result<(), StoreError> {
            self.seen().ended.push("aborted");
            Ok(())
        }
    }

    fn storage(seen: &Arc<Mutex<Seen>>, type_served: &'static str) -> MockBlobs {
        let (mut blobs, seen) = (MockBlobs::new(), seen.clone());
        blobs.expect_service_name().return_const("local");
        blobs
            .expect_create()
            .withf(move |key, content_headers| {
                key.workspace == workspace()
                    && key.attachment.uuid() == Uuid::from_u128(1)
                    && content_headers.content_type == type_served
            })
            .times(1)
            .returning(move |_, _| Ok(Box::new(Recorded(seen.clone()))));
        blobs
    }

    /// A store that expects one row and returns `outcome`.
    fn store(outcome: fn() -> Result<(), StoreError>) -> MockStore {
        let mut store = MockStore::new();
        store.expect_begin().return_once(move |_, _| {
            let mut unit = MockUnit::new();
            unit.expect_insert_attachment().times(1).returning(move |_, _| outcome());
            unit.expect_commit().returning(|_, _| Ok(EndOutcome::Applied));
            unit.expect_rollback().returning(|| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        store
    }

    fn upload(
        blobs: MockBlobs,
        store: MockStore,
        pieces: Vec<Result<Bytes, StoreError>>,
    ) -> Result<Attachment, RoadmapError> {
        upload_within(StorageLimits::default(), MockUsageStore::new(), blobs, store, pieces)
    }

    fn upload_within(
        limits: StorageLimits,
        usage: MockUsageStore,
        blobs: MockBlobs,
        store: MockStore,
        pieces: Vec<Result<Bytes, StoreError>>,
    ) -> Result<Attachment, RoadmapError> {
        let (clock, ids) = (Arc::new(FixedClock), Arc::new(NumberedIds::default()));
        let locks = Arc::new(MockOperationLocks::new());
        let pause = Arc::new(MockRetryPause::new());
        let executor = Executor::new(Arc::new(store), locks, pause, clock.clone(), ids.clone());
        let budgets = Arc::new(StorageBudgets::new(Arc::new(usage), clock.clone(), limits));
        let upload = UploadAttachment::new(Arc::new(blobs), executor, clock, ids).with_budgets(budgets.clone());
        let file = FileDescription { filename: Filename::sanitize("a.png"), media_type: Some("text/plain".to_owned()) };
        let uploaded = block_on(upload.run(workspace(), file, &mut Pieces(Some(pieces.into_iter()))));
        if limits != StorageLimits::default() {
            block_on(budgets.flush()).unwrap();
        }
        uploaded
    }

    #[test]
    fn a_file_over_the_budget_is_aborted_and_one_within_it_is_counted() {
        let seen = Arc::default();
        let limits = StorageLimits { records: None, files: Some(4_999) };
        let mut usage = MockUsageStore::new();
        // After a rejection the flush reads the total again, because other processes may have freed storage. Nothing is
        // added.
        usage.expect_load_usage().times(1).returning(|_| Ok(None));
        let blobs = storage(&seen, "text/plain");
        let error = upload_within(limits, usage, blobs, nothing_stored(), pieces_of(5_000)).unwrap_err();
        let over = OverBudget { budget: Budget::StoredFiles, limit: 4_999 };
        assert!(matches!(error, RoadmapError::OverBudget(found) if found == over));
        assert_eq!(Recorded(seen).seen().ended, ["aborted"]);

        let seen = Arc::default();
        let mut usage = MockUsageStore::new();
        let row = 200 + "a.png".len() + "text/plain".len() + 2 * 36 + 1 + "local".len();
        let counted = Usage::from_records(row as u64).plus(Usage::from_files(4_999));
        usage
            .expect_add_usage()
            .withf(move |_, added| *added == counted)
            .times(1)
            .returning(|_, _| Ok(StoredUsage::default()));
        let blobs = storage(&seen, "text/plain");
        upload_within(limits, usage, blobs, store(|| Ok(())), pieces_of(4_999)).unwrap();
    }

    fn nothing_stored() -> MockStore {
        MockStore::new()
    }

    fn pieces_of(size: usize) -> Vec<Result<Bytes, StoreError>> {
        let piece = Bytes::from(vec![b'a'; 1024 * 1024]);
        let mut pieces: Vec<_> = (0..size / piece.len()).map(|_| Ok(piece.clone())).collect();
        pieces.push(Ok(piece.slice(..size % piece.len())));
        pieces
    }

    /// Contract 2.7; Decision 4.
    #[test]
    fn the_media_type_is_detected_from_the_content_in_any_chunking() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0\x08\x06\0\0\0";
        for width in [1, 7, png.len()] {
            let seen = Arc::default();
            let pieces = png.chunks(width).map(|piece| Ok(Bytes::from_static(piece))).collect();
            let attachment = upload(storage(&seen, "image/png"), store(|| Ok(())), pieces).unwrap();
            assert_eq!((attachment.media_type.as_str(), attachment.byte_size), ("image/png", png.len() as u64));
            assert_eq!(attachment.checksum.0, <[u8; 16]>::from(Md5::digest(png)));
            assert_eq!(attachment.dimensions.map(|size| (size.width, size.height)), Some((640, 480)));
            assert_eq!((attachment.service_name.as_str(), attachment.created_at), ("local", now()));
            let recorded = Recorded(seen);
            let seen = recorded.seen();
            assert_eq!((seen.bytes.as_slice(), seen.ended.as_slice()), (&png[..], &["finished"][..]));
        }
    }

    #[test]
    fn an_empty_file_is_accepted() {
        let seen = Arc::default();
        let attachment = upload(storage(&seen, "text/plain"), store(|| Ok(())), Vec::new()).unwrap();
        assert_eq!((attachment.byte_size, attachment.checksum.to_string().as_str()), (0, "1B2M2Y8AsgTpgAmY7PhCfg=="));
    }

    /// Contract 4.1; Decision 2.
    #[test]
    fn a_file_of_the_maximum_size_is_accepted_and_one_byte_more_is_not() {
        let limit = usize::try_from(MAX_BYTES).unwrap();
        let seen = Arc::default();
        let attachment = upload(storage(&seen, "text/plain"), store(|| Ok(())), pieces_of(limit)).unwrap();
        assert_eq!(attachment.byte_size, 52_428_800);

        let seen = Arc::default();
        let error = upload(storage(&seen, "text/plain"), nothing_stored(), pieces_of(limit + 1)).unwrap_err();
        assert_eq!(error.to_string(), "File is required and must not be larger than 50 MB");
        assert_eq!(Recorded(seen).seen().ended, ["aborted"]);
    }

    /// Decision 2.
    #[test]
    fn an_oversized_first_chunk_reaches_no_storage() {
        let huge = vec![Ok(Bytes::from(vec![0; usize::try_from(MAX_BYTES).unwrap() + 1]))];
        let error = upload(MockBlobs::new(), nothing_stored(), huge).unwrap_err();
        assert!(matches!(error, RoadmapError::Invalid(_)));
    }

    /// Beyond the contract.
    #[test]
    fn an_interrupted_upload_is_aborted() {
        let seen = Arc::default();
        let mut pieces = pieces_of(5_000);
        pieces.push(Err(StoreError::Unavailable("the client is gone".into())));
        let error = upload(storage(&seen, "text/plain"), nothing_stored(), pieces).unwrap_err();
        assert!(matches!(error, RoadmapError::Store(StoreError::Unavailable(_))));
        assert_eq!(Recorded(seen).seen().ended, ["aborted"]);
    }

    /// Beyond the contract.
    #[test]
    fn a_blob_is_kept_when_its_row_may_be_committed() {
        // `MockBlobs` does not expect `delete`.
        let seen = Arc::default();
        let failing = store(|| Err(StoreError::Unavailable("gone".into())));
        assert!(upload(storage(&seen, "text/plain"), failing, pieces_of(10)).is_err());
        assert_eq!(Recorded(seen).seen().ended, ["finished"]);
    }
}
