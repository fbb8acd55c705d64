//! Deletes an uploaded file that nothing uses.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Conflict, ErrorChain, Resource, RoadmapError};
use crate::model::attachment::UnusedAttachment;
use crate::model::audit::Audit;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::model::usage::Usage;
use crate::ports::{AttachmentDeletion, Blobs, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::storage_budgets::StorageBudgets;

/// Deletes files: first the row, then the content.
#[derive(Clone)]
pub struct DeleteAttachment {
    blobs: Arc<dyn Blobs>,
    budgets: Arc<StorageBudgets>,
}

/// Deletes the row of a file.
#[derive(Debug, Clone, Copy)]
struct DeleteRow(AttachmentId);

#[async_trait]
impl Operation for DeleteRow {
    type Output = UnusedAttachment;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<UnusedAttachment>, RoadmapError> {
        match work.delete_attachment(self.0).await? {
            AttachmentDeletion::Deleted(file) => {
                Ok(Performed::new(file, Audit::entry("attachment.delete", "attachment", Some(self.0.uuid()))))
            }
            AttachmentDeletion::InUse => Err(RoadmapError::Conflict(Conflict::AttachmentInUse)),
            AttachmentDeletion::NotFound => Err(RoadmapError::NotFound(Resource::Attachment)),
        }
    }
}

impl DeleteAttachment {
    /// Creates deletions from `blobs`, which `budgets` count.
    #[must_use]
    pub fn new(blobs: Arc<dyn Blobs>, budgets: Arc<StorageBudgets>) -> Self {
        Self { blobs, budgets }
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
        let file = executor.run_without_key(workspace, &DeleteRow(attachment)).await?;
        self.budgets.record(workspace, Usage::default().minus(Usage::from_files(file.byte_size)));
        if let Err(error) = self.blobs.delete(file.key).await {
            tracing::warn!(%workspace, %attachment, error = %ErrorChain::new(&error), "failed to delete the content of a file");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::usage::StoredUsage;
    use crate::policy::storage::StorageLimits;
    use crate::ports::mocks::{MockBlobs, MockOperationLocks, MockRetryPause, MockStore, MockUnit, MockUsageStore};
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
        let mut usage = MockUsageStore::new();
        let freed = Usage { records: 0, files: -700 };
        usage
            .expect_add_usage()
            .withf(move |of, added| (*of, *added) == (workspace(), freed))
            .times(usize::from(matches!(deletion, AttachmentDeletion::Deleted(_))))
            .returning(|_, _| Ok(StoredUsage::default()));
        let budgets = StorageBudgets::new(Arc::new(usage), Arc::new(FixedClock), StorageLimits::default());
        let delete = DeleteAttachment::new(Arc::new(blobs), Arc::new(budgets));
        let outcome = block_on(delete.run(&executor, workspace(), fixtures::attachment().id));
        block_on(delete.budgets.flush()).unwrap();
        outcome
    }

    /// Addition 4.
    #[test]
    fn the_content_is_deleted_after_the_row() {
        let file = UnusedAttachment { key: fixtures::attachment().key, byte_size: 700 };
        let deleted = || AttachmentDeletion::Deleted(file);
        delete(deleted(), Some(Ok(()))).unwrap();
        delete(deleted(), Some(Err(StoreError::Unavailable("down".into())))).unwrap();
    }

    /// Addition 4.
    #[test]
    fn a_file_in_use_or_unknown_is_not_deleted() {
        assert_eq!(delete(AttachmentDeletion::InUse, None).unwrap_err().to_string(), "Attachment is in use.");
        assert_eq!(delete(AttachmentDeletion::NotFound, None).unwrap_err().to_string(), "Attachment does not exist.");
    }
}
