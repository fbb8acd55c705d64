//! Deletes an uploaded file that nothing uses.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Conflict, ErrorChain, Resource, RoadmapError};
use crate::model::attachment::BlobKey;
use crate::model::audit::Audit;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::ports::{AttachmentDeletion, Blobs, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext};

/// Deletes files: first the row, then the content.
#[derive(Clone)]
pub struct DeleteAttachment {
    blobs: Arc<dyn Blobs>,
}

/// Deletes the row of a file.
#[derive(Debug, Clone, Copy)]
struct DeleteRow(AttachmentId);

#[async_trait]
impl Operation for DeleteRow {
    type Output = BlobKey;

    async fn perform(&self, _: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<BlobKey, RoadmapError> {
        match work.delete_attachment(self.0).await? {
            AttachmentDeletion::Deleted(key) => Ok(key),
            AttachmentDeletion::InUse => Err(RoadmapError::Conflict(Conflict::AttachmentInUse)),
            AttachmentDeletion::NotFound => Err(RoadmapError::NotFound(Resource::Attachment)),
        }
    }

    fn audit(&self, _: &BlobKey) -> Audit {
        Audit::entry("attachment.delete", "attachment", Some(self.0.uuid()))
    }
}

impl DeleteAttachment {
    /// Creates deletions from `blobs`.
    #[must_use]
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }

    /// Deletes a file. If its content cannot be deleted, the sweep deletes it later.
    ///
    /// # Errors
    /// - [`RoadmapError::NotFound`] when there is no such file.
    /// - [`RoadmapError::Conflict`] when a changelog uses it.
    /// - Errors of the store.
    pub async fn run(
        &self,
        executor: &Executor,
        workspace: WorkspaceId,
        attachment: AttachmentId,
    ) -> Result<(), RoadmapError> {
        let key = executor.run_without_key(workspace, &DeleteRow(attachment)).await?;
        if let Err(error) = self.blobs.delete(key).await {
            tracing::warn!(%workspace, %attachment, error = %ErrorChain::new(&error), "failed to delete the content of a file");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::ports::mocks::{MockBlobs, MockOperationLocks, MockRetryPause, MockStore, MockUnit};
    use crate::ports::{BeginOutcome, EndOutcome};
    use crate::usecase::fixtures::{self, FixedClock, NumberedIds, workspace};
    use pollster::block_on;

    fn delete(deletion: AttachmentDeletion, blob: Option<Result<(), StoreError>>) -> Result<(), RoadmapError> {
        let mut store = MockStore::new();
        store.expect_begin().return_once(move |_, _| {
            let mut unit = MockUnit::new();
            unit.expect_delete_attachment().return_once(move |_| Ok(deletion));
            unit.expect_insert_audit_entry().returning(|_| Ok(()));
            unit.expect_commit().returning(|_, _| Ok(EndOutcome::Applied));
            unit.expect_rollback().returning(|| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        let mut blobs = MockBlobs::new();
        blobs
            .expect_delete()
            .withf(|key| *key == fixtures::attachment().key)
            .times(usize::from(blob.is_some()))
            .return_once(move |_| blob.unwrap_or(Ok(())));
        let executor = Executor::new(
            Arc::new(store),
            Arc::new(MockOperationLocks::new()),
            Arc::new(MockRetryPause::new()),
            Arc::new(FixedClock),
            Arc::new(NumberedIds::default()),
        );
        let delete = DeleteAttachment::new(Arc::new(blobs));
        block_on(delete.run(&executor, workspace(), fixtures::attachment().id))
    }

    #[test]
    fn the_content_is_deleted_after_the_row() {
        let deleted = || AttachmentDeletion::Deleted(fixtures::attachment().key);
        delete(deleted(), Some(Ok(()))).unwrap();
        delete(deleted(), Some(Err(StoreError::Unavailable("down".into())))).unwrap();
    }

    #[test]
    fn a_file_in_use_or_unknown_is_not_deleted() {
        assert_eq!(delete(AttachmentDeletion::InUse, None).unwrap_err().to_string(), "Attachment is in use.");
        assert_eq!(delete(AttachmentDeletion::NotFound, None).unwrap_err().to_string(), "Attachment does not exist.");
    }
}
