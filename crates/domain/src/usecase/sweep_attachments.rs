//! Deletes unused attachments and pictures, orphaned blobs and unfinished uploads.
//!
//! The row of an unused attachment is deleted before its blob. A crash in between leaves an orphaned blob, which the
//! next sweep deletes.
//!
//! Only blobs of workspaces in the store are deleted. A storage that belongs to another database, because of a wrong
//! setting or because two installations share it, is left unchanged.

use std::collections::BTreeSet;
use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::model::attachment::BlobKey;
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;
use crate::ports::{Blobs, Clock, Maintenance, StoredBlob, WorkspaceDirectory};
use crate::usecase::add_picture::UNUSED_FOR;
use crate::usecase::storage_budgets::StorageBudgets;

/// Minimum age of an orphaned blob. The row of a younger blob may not be committed yet.
const GRACE: Duration = Duration::days(1);

/// Maximum number of unused attachments per batch.
const BATCH: u32 = 100;

/// Deletes unused attachments, orphaned blobs and unfinished uploads.
#[derive(Clone)]
pub struct SweepAttachments {
    blobs: Arc<dyn Blobs>,
    directory: Arc<dyn WorkspaceDirectory>,
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
    budgets: Arc<StorageBudgets>,
    unused_after: Option<Duration>,
}

/// The numbers of items that a sweep has deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SweepReport {
    pub orphaned_blobs: u64,
    pub unfinished_uploads: u64,
    /// Uploaded files, and pictures of texts.
    pub unused_attachments: u64,
}

/// Which unused files are deleted.
#[derive(Debug, Clone, Copy)]
enum Unused {
    Files,
    Pictures,
}

impl SweepAttachments {
    /// Creates a sweep of `blobs` for the workspaces of `directory`.
    ///
    /// Attachments that are unused for `unused_after` are deleted. `None` keeps them. Pictures that no text has are deleted
    /// in any case. Deleted files are subtracted from
    /// `budgets`.
    #[must_use]
    pub fn new(
        blobs: Arc<dyn Blobs>,
        directory: Arc<dyn WorkspaceDirectory>,
        maintenance: Arc<dyn Maintenance>,
        clock: Arc<dyn Clock>,
        budgets: Arc<StorageBudgets>,
        unused_after: Option<Duration>,
    ) -> Self {
        Self { blobs, directory, maintenance, clock, budgets, unused_after }
    }

    /// Runs a sweep. Orphaned blobs and unfinished uploads are deleted when they are older than a day.
    ///
    /// # Errors
    /// Errors of the storage and the store. Items deleted before the error stay deleted.
    pub async fn run(&self) -> Result<SweepReport, RoadmapError> {
        let before = self.clock.now().plus(-GRACE);
        let own: BTreeSet<WorkspaceId> =
            self.directory.workspaces().await?.iter().map(|workspace| workspace.id).collect();
        let mut report = SweepReport::default();
        if let Some(unused_after) = self.unused_after {
            for workspace in &own {
                report.unused_attachments +=
                    self.delete_unused(*workspace, Unused::Files, self.clock.now().plus(-unused_after)).await?;
            }
        }
        let pictures_before = self.clock.now().plus(-UNUSED_FOR);
        for workspace in &own {
            report.unused_attachments += self.delete_unused(*workspace, Unused::Pictures, pictures_before).await?;
        }
        report.unfinished_uploads = self.blobs.delete_unfinished_uploads(before).await?;
        let mut listing = self.blobs.list();
        loop {
            let some = listing.next().await?;
            if some.is_empty() {
                return Ok(report);
            }
            let is_old_and_own = |blob: &&StoredBlob| blob.written_at < before && own.contains(&blob.key.workspace);
            let old: Vec<BlobKey> = some.iter().filter(is_old_and_own).map(|blob| blob.key).collect();
            if old.is_empty() {
                continue;
            }
            for key in self.maintenance.find_orphaned_blobs(&old).await? {
                self.blobs.delete(key).await?;
                report.orphaned_blobs += 1;
            }
        }
    }

    async fn delete_unused(
        &self,
        workspace: WorkspaceId,
        unused: Unused,
        before: Timestamp,
    ) -> Result<u64, RoadmapError> {
        let mut deleted = 0;
        loop {
            let batch = match unused {
                Unused::Files => self.maintenance.delete_unused_attachments(workspace, before, BATCH).await?,
                Unused::Pictures => self.maintenance.delete_unused_pictures(workspace, before, BATCH).await?,
            };
            for file in &batch {
                self.budgets.record(workspace, Usage::default().minus(Usage::from_files(file.byte_size)));
                self.blobs.delete(file.key).await?;
                deleted += 1;
            }
            if batch.len() < BATCH as usize {
                return Ok(deleted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::attachment::UnusedAttachment;
    use crate::model::id::AttachmentId;
    use crate::model::usage::StoredUsage;
    use crate::model::workspace::{Subdomain, Workspace};
    use crate::policy::storage::StorageLimits;
    use crate::ports::BlobListing;
    use crate::ports::mocks::{MockBlobs, MockMaintenance, MockUsageStore, MockWorkspaceDirectory};
    use crate::usecase::fixtures::{FixedClock, now, workspace};
    use async_trait::async_trait;
    use mockall::Sequence;
    use pollster::block_on;
    use uuid::Uuid;

    struct Batches(Vec<Vec<StoredBlob>>);

    #[async_trait]
    impl BlobListing for Batches {
        async fn next(&mut self) -> Result<Vec<StoredBlob>, StoreError> {
            Ok(if self.0.is_empty() { Vec::new() } else { self.0.remove(0) })
        }
    }

    fn key(number: u128) -> BlobKey {
        BlobKey { workspace: workspace(), attachment: AttachmentId::new(Uuid::from_u128(number)) }
    }

    fn blob(number: u128, age: Duration) -> StoredBlob {
        StoredBlob { key: key(number), written_at: now().plus(-age) }
    }

    fn directory() -> MockWorkspaceDirectory {
        let mut directory = MockWorkspaceDirectory::new();
        let acme = Workspace { id: workspace(), subdomain: Subdomain::from_label("acme").unwrap() };
        directory.expect_workspaces().times(1).return_once(|| Ok(vec![acme]));
        directory
    }

    fn sweep(blobs: MockBlobs, maintenance: MockMaintenance, unused_after: Option<Duration>) -> SweepAttachments {
        sweep_with(blobs, maintenance, MockUsageStore::new(), unused_after)
    }

    fn sweep_with(
        blobs: MockBlobs,
        maintenance: MockMaintenance,
        usage: MockUsageStore,
        unused_after: Option<Duration>,
    ) -> SweepAttachments {
        let clock = Arc::new(FixedClock);
        let budgets = StorageBudgets::new(Arc::new(usage), clock.clone(), StorageLimits::default());
        let (directory, maintenance) = (Arc::new(directory()), Arc::new(maintenance));
        SweepAttachments::new(Arc::new(blobs), directory, maintenance, clock, Arc::new(budgets), unused_after)
    }

    /// A storage without blobs and unfinished uploads.
    fn empty_storage() -> MockBlobs {
        let mut blobs = MockBlobs::new();
        blobs.expect_delete_unfinished_uploads().return_once(|_| Ok(0));
        blobs.expect_list().return_once(|| Box::new(Batches(Vec::new())));
        blobs
    }

    fn unused(numbers: std::ops::Range<u128>) -> Vec<UnusedAttachment> {
        numbers.map(|number| UnusedAttachment { key: key(number), byte_size: 10 }).collect()
    }

    /// Beyond the contract.
    #[test]
    fn unused_attachments_lose_their_row_before_their_bytes() {
        let mut order = Sequence::new();
        let mut maintenance = MockMaintenance::new();
        let mut blobs = empty_storage();
        for numbers in [0..100, 100..103] {
            let unused_blobs = unused(numbers.clone());
            maintenance
                .expect_delete_unused_attachments()
                .withf(|of, before, limit| (*of, *before, *limit) == (workspace(), now().plus(-Duration::days(7)), 100))
                .times(1)
                .in_sequence(&mut order)
                .return_once(move |_, _, _| Ok(unused_blobs));
            let count = numbers.clone().count();
            blobs
                .expect_delete()
                .withf(move |deleted| numbers.clone().any(|number| key(number) == *deleted))
                .times(count)
                .in_sequence(&mut order)
                .returning(|_| Ok(()));
        }
        // A picture without a text goes a day after it was added, whatever the setting is.
        maintenance
            .expect_delete_unused_pictures()
            .withf(|of, before, limit| (*of, *before, *limit) == (workspace(), now().plus(-Duration::days(1)), 100))
            .times(1)
            .in_sequence(&mut order)
            .return_once(|_, _, _| Ok(unused(200..201)));
        blobs.expect_delete().withf(|deleted| *deleted == key(200)).times(1).returning(|_| Ok(()));
        let mut usage = MockUsageStore::new();
        usage
            .expect_add_usage()
            .withf(|of, freed| (*of, *freed) == (workspace(), Usage { records: 0, files: -1_040 }))
            .times(1)
            .returning(|_, _| Ok(StoredUsage::default()));
        let sweep = sweep_with(blobs, maintenance, usage, Some(Duration::days(7)));
        assert_eq!(
            block_on(sweep.run()).unwrap(),
            SweepReport { orphaned_blobs: 0, unfinished_uploads: 0, unused_attachments: 104 }
        );
        block_on(sweep.budgets.flush()).unwrap();
    }

    #[test]
    fn a_deleted_row_is_not_counted_even_when_its_bytes_cannot_be_deleted() {
        let mut blobs = MockBlobs::new();
        blobs.expect_delete().times(1).returning(|_| Err(StoreError::Unavailable("gone".into())));
        let mut maintenance = MockMaintenance::new();
        maintenance.expect_delete_unused_attachments().times(1).return_once(|_, _, _| Ok(unused(1..2)));
        let mut usage = MockUsageStore::new();
        usage
            .expect_add_usage()
            .withf(|_, freed| *freed == Usage { records: 0, files: -10 })
            .times(1)
            .returning(|_, _| Ok(StoredUsage::default()));
        let sweep = sweep_with(blobs, maintenance, usage, Some(Duration::days(7)));
        assert!(matches!(block_on(sweep.run()), Err(RoadmapError::Store(StoreError::Unavailable(_)))));
        block_on(sweep.budgets.flush()).unwrap();
    }

    #[test]
    fn blobs_of_unknown_workspaces_are_kept() {
        let mut blobs = MockBlobs::new();
        blobs.expect_delete_unfinished_uploads().return_once(|_| Ok(0));
        blobs.expect_list().return_once(|| {
            let mut foreign = blob(1, Duration::days(9));
            foreign.key.workspace = WorkspaceId::new(Uuid::from_u128(0xf0));
            Box::new(Batches(vec![vec![foreign]]))
        });
        // No other call is expected, and no deletion.
        let mut maintenance = MockMaintenance::new();
        maintenance.expect_delete_unused_pictures().times(1).returning(|_, _, _| Ok(Vec::new()));
        let sweep = sweep(blobs, maintenance, None);
        assert_eq!(block_on(sweep.run()).unwrap(), SweepReport::default());
    }

    /// Beyond the contract.
    #[test]
    fn only_orphans_that_are_older_than_a_day_are_removed() {
        let (day, millisecond) = (Duration::days(1), Duration::milliseconds(1));
        let mut blobs = MockBlobs::new();
        blobs
            .expect_delete_unfinished_uploads()
            .withf(move |before| *before == now().plus(-day))
            .times(1)
            .return_once(|_| Ok(3));
        blobs.expect_list().return_once(move || {
            let old = vec![blob(1, day + millisecond), blob(2, day), blob(3, Duration::days(9))];
            Box::new(Batches(vec![old, vec![blob(4, Duration::ZERO)], vec![blob(5, Duration::days(2))]]))
        });
        blobs.expect_delete().withf(|deleted| *deleted == key(3)).times(1).returning(|_| Ok(()));
        let mut maintenance = MockMaintenance::new();
        maintenance.expect_find_orphaned_blobs().times(2).returning(|keys| match keys {
            [first, second] if (*first, *second) == (key(1), key(3)) => Ok(vec![key(3)]),
            [only] if *only == key(5) => Ok(Vec::new()),
            other => Err(StoreError::Fatal(format!("{other:?}").into())),
        });
        maintenance.expect_delete_unused_pictures().times(1).returning(|_, _, _| Ok(Vec::new()));
        let sweep = sweep(blobs, maintenance, None);
        assert_eq!(
            block_on(sweep.run()).unwrap(),
            SweepReport { orphaned_blobs: 1, unfinished_uploads: 3, unused_attachments: 0 }
        );
    }
}
