//! Deletes imports and exports of all workspaces whose time is over, and their files.

use std::sync::Arc;

use crate::error::RoadmapError;
use crate::model::id::WorkspaceId;
use crate::ports::{Clock, Reads, WorkspaceDirectory};
use crate::usecase::executor::Executor;
use crate::usecase::export_jobs::ForgetExports;
use crate::usecase::import::jobs::{ForgetOldImports, is_old};
use crate::usecase::upload_attachment::UploadAttachment;

/// Deletes exports that have expired, uploads that nobody has imported for long, and the files of runs that ended long ago.
#[derive(Clone)]
pub struct PurgeJobs {
    directory: Arc<dyn WorkspaceDirectory>,
    reader: Arc<dyn Reads>,
    clock: Arc<dyn Clock>,
    executor: Executor,
    upload: UploadAttachment,
}

impl PurgeJobs {
    /// Creates the use case.
    #[must_use]
    pub fn new(
        directory: Arc<dyn WorkspaceDirectory>,
        reader: Arc<dyn Reads>,
        clock: Arc<dyn Clock>,
        executor: Executor,
        upload: UploadAttachment,
    ) -> Self {
        Self { directory, reader, clock, executor, upload }
    }

    /// Deletes what is over. Returns how many files. Workspaces in which nothing is over are not written to.
    ///
    /// # Errors
    /// Errors of the store. What was deleted before stays deleted.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let mut deleted = 0;
        for workspace in self.directory.workspaces().await? {
            let (id, now) = (workspace.id, self.clock.now());
            let mut files = Vec::new();
            if self.reader.exports(id).await?.iter().any(|export| export.has_expired(now)) {
                files.extend(self.executor.run_without_key(id, &ForgetExports { with_people: false }).await?);
            }
            if self.has_old_imports(id).await? {
                files.extend(self.executor.run_without_key(id, &ForgetOldImports).await?);
            }
            deleted += files.len() as u64;
            self.upload.forget_files(id, files).await;
        }
        Ok(deleted)
    }

    /// Whether there is something to delete of imports.
    async fn has_old_imports(&self, workspace: WorkspaceId) -> Result<bool, RoadmapError> {
        let now = self.clock.now();
        let imports = self.reader.imports(workspace).await?;
        let old: Vec<_> = imports.iter().filter(|import| is_old(import, now)).collect();
        if old.iter().any(|import| import.upload.is_some()) {
            return Ok(true);
        }
        let ids: Vec<_> = old.iter().map(|import| import.id.uuid()).collect();
        Ok(!ids.is_empty() && !self.reader.job_files(workspace, &ids).await?.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::{BlobKey, UnusedAttachment};
    use crate::model::export::ExportOptions;
    use crate::model::export::run::{ExportRun, ExportState};
    use crate::model::id::{AttachmentId, ExportId, ImportId};
    use crate::model::import::run::{Import, ImportState, Progress, SourceName};
    use crate::model::import::upload::JobFile;
    use crate::model::workspace::{Subdomain, Workspace};
    use crate::ports::mocks::{MockBlobs, MockReads, MockUnit, MockWorkspaceDirectory};
    use crate::usecase::fixtures::{FixedClock, NumberedIds, attachment, executor, now, workspace};
    use crate::usecase::import::jobs::KEPT;
    use pollster::block_on;
    use time::Duration;
    use uuid::Uuid;

    fn export(age: Duration) -> ExportRun {
        ExportRun {
            id: ExportId::new(Uuid::from_u128(5)),
            state: ExportState::Done,
            options: ExportOptions { without_people: false, without_notes: false },
            holder: Uuid::nil(),
            created_at: now().plus(-age),
            seen_at: now().plus(-age),
            ended_at: None,
        }
    }

    /// An import that has ended.
    fn import(age: Duration) -> Import {
        Import {
            id: ImportId::new(Uuid::from_u128(6)),
            source: "csv".to_owned(),
            name: SourceName::from_stored("csv".to_owned()),
            state: ImportState::Done,
            job: None,
            upload: None,
            input: String::new(),
            progress: Progress::default(),
            report: None,
            holder: Uuid::nil(),
            began_at: now().plus(-age),
            seen_at: now().plus(-age),
            ended_at: Some(now().plus(-age)),
        }
    }

    #[test]
    fn workspaces_in_which_nothing_is_over_are_not_written_to() {
        let (old_export, old_import) = (export(ExportRun::KEPT), import(KEPT));
        let young = Duration::MILLISECOND;
        for (exports, imports, has_files, deleted) in [
            (vec![], vec![], false, 0),
            (vec![export(ExportRun::KEPT - young)], vec![import(KEPT - young)], true, 0),
            // Its files are deleted already.
            (vec![], vec![old_import.clone()], false, 0),
            (vec![old_export], vec![], false, 1),
            (vec![], vec![old_import], true, 1),
        ] {
            let mut directory = MockWorkspaceDirectory::new();
            let acme = Workspace { id: workspace(), subdomain: Subdomain::from_label("acme").unwrap() };
            directory.expect_workspaces().returning(move || Ok(vec![acme.clone()]));
            let (mut reader, mut unit) = (MockReads::new(), MockUnit::new());
            let (listed, loaded) = (exports.clone(), exports);
            reader.expect_exports().returning(move |_| Ok(listed.clone()));
            unit.expect_load_exports().returning(move || Ok(loaded.clone()));
            let (listed, loaded) = (imports.clone(), imports);
            reader.expect_imports().returning(move |_| Ok(listed.clone()));
            unit.expect_load_imports().returning(move || Ok(loaded.clone()));
            let file = |job: Uuid| JobFile { job, name: "report.json".to_owned(), file: attachment() };
            reader
                .expect_job_files()
                .returning(move |_, jobs| Ok(jobs.iter().take(usize::from(has_files)).map(|job| file(*job)).collect()));
            let key = BlobKey { workspace: workspace(), attachment: AttachmentId::new(Uuid::from_u128(9)) };
            unit.expect_delete_job_files().returning(move |_| Ok(vec![UnusedAttachment { key, byte_size: 1 }]));
            unit.expect_delete_export().returning(|_| Ok(()));
            let mut blobs = MockBlobs::new();
            blobs.expect_delete().withf(move |of| *of == key).times(deleted).returning(|_| Ok(()));
            let executor = executor((deleted > 0).then_some(unit));
            let (clock, ids) = (Arc::new(FixedClock), Arc::new(NumberedIds::default()));
            let upload = UploadAttachment::new(Arc::new(blobs), executor.clone(), clock.clone(), ids);
            let purge = PurgeJobs::new(Arc::new(directory), Arc::new(reader), clock, executor, upload);
            assert_eq!(block_on(purge.run()).unwrap(), deleted as u64);
        }
    }
}
