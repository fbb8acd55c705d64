//! Removes what uploads have left behind: blobs that no row tells about, and unfinished ones.
//!
//! Only blobs of workspaces that the store knows are looked at: a storage that belongs to another
//! database, because a setting is wrong or two installations share it, loses nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::model::attachment::BlobKey;
use crate::model::id::WorkspaceId;
use crate::ports::{Blobs, Clock, Directory, Housekeeping, StoredBlob};

/// How old a blob without a row must be: its row may only just be on its way.
const GRACE: Duration = Duration::days(1);

/// Sweeps the storage.
#[derive(Clone)]
pub struct SweepAttachments {
    blobs: Arc<dyn Blobs>,
    directory: Arc<dyn Directory>,
    housekeeping: Arc<dyn Housekeeping>,
    clock: Arc<dyn Clock>,
}

/// What a sweep has removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Blobs without a row.
    pub blobs: u64,
    /// Uploads that were never finished.
    pub unfinished: u64,
}

impl SweepAttachments {
    /// Sweeps `blobs` of what `housekeeping` knows no rows of, in the workspaces of `directory`.
    #[must_use]
    pub fn new(
        blobs: Arc<dyn Blobs>,
        directory: Arc<dyn Directory>,
        housekeeping: Arc<dyn Housekeeping>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { blobs, directory, housekeeping, clock }
    }

    /// Removes what is older than a day.
    ///
    /// # Errors
    /// Those of the storage and the store; what was removed until then stays removed.
    pub async fn run(&self) -> Result<Swept, RoadmapError> {
        let before = self.clock.now().plus(-GRACE);
        let own: BTreeSet<WorkspaceId> =
            self.directory.workspaces().await?.iter().map(|workspace| workspace.id).collect();
        let mut swept = Swept { blobs: 0, unfinished: self.blobs.delete_unfinished(before).await? };
        let mut listing = self.blobs.list();
        loop {
            let some = listing.next().await?;
            if some.is_empty() {
                return Ok(swept);
            }
            let is_old_and_own = |blob: &&StoredBlob| blob.written_at < before && own.contains(&blob.key.workspace);
            let old: Vec<BlobKey> = some.iter().filter(is_old_and_own).map(|blob| blob.key).collect();
            if old.is_empty() {
                continue;
            }
            for key in self.housekeeping.blobs_without_rows(&old).await? {
                self.blobs.delete(key).await?;
                swept.blobs += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::id::AttachmentId;
    use crate::model::workspace::{Subdomain, Workspace};
    use crate::ports::BlobListing;
    use crate::ports::mocks::{MockBlobs, MockDirectory, MockHousekeeping};
    use crate::usecase::fixtures::{FixedClock, now, workspace};
    use async_trait::async_trait;
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

    fn directory() -> MockDirectory {
        let mut directory = MockDirectory::new();
        let acme = Workspace { id: workspace(), subdomain: Subdomain::of_label("acme").unwrap() };
        directory.expect_workspaces().times(1).return_once(|| Ok(vec![acme]));
        directory
    }

    #[test]
    fn the_files_of_another_database_are_left_alone() {
        let mut blobs = MockBlobs::new();
        blobs.expect_delete_unfinished().return_once(|_| Ok(0));
        blobs.expect_list().return_once(|| {
            let mut foreign = blob(1, Duration::days(9));
            foreign.key.workspace = WorkspaceId::new(Uuid::from_u128(0xf0));
            Box::new(Batches(vec![vec![foreign]]))
        });
        // Neither `MockHousekeeping` nor `delete` expects a call.
        let housekeeping = Arc::new(MockHousekeeping::new());
        let sweep = SweepAttachments::new(Arc::new(blobs), Arc::new(directory()), housekeeping, Arc::new(FixedClock));
        assert_eq!(block_on(sweep.run()).unwrap(), Swept::default());
    }

    #[test]
    fn only_what_is_older_than_a_day_and_has_no_row_is_removed() {
        let (day, moment) = (Duration::days(1), Duration::milliseconds(1));
        let mut blobs = MockBlobs::new();
        blobs
            .expect_delete_unfinished()
            .withf(move |before| *before == now().plus(-day))
            .times(1)
            .return_once(|_| Ok(3));
        blobs.expect_list().return_once(move || {
            let old = vec![blob(1, day + moment), blob(2, day), blob(3, Duration::days(9))];
            Box::new(Batches(vec![old, vec![blob(4, Duration::ZERO)], vec![blob(5, Duration::days(2))]]))
        });
        blobs.expect_delete().withf(|deleted| *deleted == key(3)).times(1).returning(|_| Ok(()));
        let mut housekeeping = MockHousekeeping::new();
        housekeeping.expect_blobs_without_rows().times(2).returning(|keys| match keys {
            [first, second] if (*first, *second) == (key(1), key(3)) => Ok(vec![key(3)]),
            [only] if *only == key(5) => Ok(Vec::new()),
            other => Err(StoreError::Fatal(format!("{other:?}").into())),
        });
        let sweep =
            SweepAttachments::new(Arc::new(blobs), Arc::new(directory()), Arc::new(housekeeping), Arc::new(FixedClock));
        assert_eq!(block_on(sweep.run()).unwrap(), Swept { blobs: 1, unfinished: 3 });
    }
}
