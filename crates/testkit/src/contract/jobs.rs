//! Imports and exports that somebody has asked for, and their files.

use std::sync::Arc;

use async_trait::async_trait;
use roadmap_domain::error::RoadmapError;
use roadmap_domain::model::attachment::{Attachment, BlobKey, Filename, UnusedAttachment};
use roadmap_domain::model::audit::{Audit, OwnRecord};
use roadmap_domain::model::changelog::{ChangelogDraft, ChangelogFields};
use roadmap_domain::model::export::run::{ExportRun, ExportState};
use roadmap_domain::model::export::{ExportOptions, Record};
use roadmap_domain::model::id::{AttachmentId, ExportId, ImportId, WorkspaceId};
use roadmap_domain::model::import::run::{Import, ImportState, SourceName};
use roadmap_domain::model::import::upload::{ImportJob, ImportOptions, JobFile, JobId, OpenJob, Preview, Upload};
use roadmap_domain::ports::{AttachmentDeletion, UnitOfWork};
use roadmap_domain::usecase::create_changelog::CreateChangelog;
use roadmap_domain::usecase::executor::{Operation, OperationContext, Performed};
use roadmap_domain::usecase::export_jobs::{ClaimExport, EndExport, ForgetExports, HoldExport, RequestExport};
use roadmap_domain::usecase::import::jobs::{AddUpload, ClaimImport, EndReading, HoldImport, KEPT, RequestImport};
use roadmap_domain::usecase::purge_jobs::PurgeJobs;
use time::Duration;
use uuid::Uuid;

use super::attachments::{Delete, delete_unused, removed};
use crate::fakes::EmptyStorage;
use crate::harness::{Harness, attachment, changelog_fields};

/// The name of the files of the cases. The folder is a part of it.
const NAME: &str = "rejected/posts.csv";

/// Stores the row of a file of a job.
struct InsertJobFile(Uuid, Attachment);

#[async_trait]
impl Operation for InsertJobFile {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        work.insert_job_file(self.0, NAME, &self.1).await?;
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::Upload)))
    }
}

/// Deletes the rows of the files of a job.
struct DeleteJobFiles(Uuid);

#[async_trait]
impl Operation for DeleteJobFiles {
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        Ok(Performed::new(work.delete_job_files(self.0).await?, Audit::Unchanged))
    }
}

/// Finds a file as a cover.
struct FindCover(AttachmentId);

#[async_trait]
impl Operation for FindCover {
    type Output = bool;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        Ok(Performed::new(work.find_cover(self.0).await?.is_some(), Audit::Unchanged))
    }
}

/// Asks for an export.
pub(super) fn asked(without_people: bool) -> RequestExport {
    RequestExport { options: ExportOptions { without_people, without_notes: false } }
}

/// Stores the row of a file of a job.
async fn job_file(harness: &Harness, workspace: WorkspaceId, job: Uuid, number: u128) -> Attachment {
    let file = attachment(workspace, number, harness.now());
    harness.perform(workspace, &InsertJobFile(job, file.clone())).await;
    Attachment { filename: Filename::sanitize(NAME), ..file }
}

/// Takes an export, stores its file with this number and ends it. Returns the key of the file.
pub(super) async fn ended(harness: &Harness, workspace: WorkspaceId, id: ExportId, number: u128) -> BlobKey {
    let holder = Uuid::from_u128(number);
    assert!(harness.perform(workspace, &ClaimExport { id, holder }).await.is_some());
    let file = job_file(harness, workspace, id.uuid(), number).await;
    harness.perform(workspace, &EndExport { id, holder, state: ExportState::Done }).await;
    file.key
}

/// Makes an export with a file with this number. Returns the key of the file.
pub(super) async fn exported(harness: &Harness, workspace: WorkspaceId, without_people: bool, number: u128) -> BlobKey {
    let export = harness.perform(workspace, &asked(without_people)).await;
    ended(harness, workspace, export.id, number).await
}

/// An export is returned as it was stored, newest first, and not to another workspace. One runs at a time, and each process
/// finds those of all workspaces.
///
/// Import contract 10.
pub async fn one_export_of_a_workspace_runs_at_a_time(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let (reader, maintenance) = (&harness.subject.reader, &harness.subject.maintenance);
    let (first, second) = (asked(true), asked(false));
    let (a, b) =
        tokio::join!(harness.executor.run_without_key(acme, &first), harness.executor.run_without_key(acme, &second));
    let errors: Vec<String> =
        [&a, &b].into_iter().filter_map(|one| one.as_ref().err()).map(ToString::to_string).collect();
    assert_eq!(errors, ["Export is already running."]);
    let running = a.or(b).unwrap();
    assert_eq!(reader.exports(acme).await.unwrap(), std::slice::from_ref(&running));
    assert_eq!(reader.exports(bolt).await.unwrap(), []);
    let of_bolt = harness.perform(bolt, &asked(false)).await;
    let open = |workspace, id| OpenJob { workspace, job: JobId::Export(id) };
    let mut found = maintenance.open_jobs().await.unwrap();
    found.sort_by_key(|open| open.workspace != acme);
    assert_eq!(found, [open(acme, running.id), open(bolt, of_bolt.id)]);

    // Of two processes, one takes it.
    let claim = |number| ClaimExport { id: running.id, holder: Uuid::from_u128(number) };
    let (one, other) = (claim(1), claim(2));
    let (one, other) =
        tokio::join!(harness.executor.run_without_key(acme, &one), harness.executor.run_without_key(acme, &other));
    let taken: Vec<ExportRun> = [one.unwrap(), other.unwrap()].into_iter().flatten().collect();
    let [taken] = &taken[..] else { panic!("{taken:?}") };
    assert_eq!(reader.exports(acme).await.unwrap(), std::slice::from_ref(taken));
    assert_eq!(harness.perform(bolt, &claim(3)).await, None);
    harness.clock.advance(Duration::seconds(5));
    harness.perform(acme, &HoldExport { id: running.id, holder: taken.holder, goes_on: true }).await;
    harness.clock.advance(Import::PATIENCE - Duration::SECOND);
    assert_eq!(harness.perform(acme, &claim(3)).await, None);
    harness.clock.advance(Duration::SECOND);
    // The process has died.
    let third = harness.perform(acme, &claim(3)).await.unwrap();
    let end = EndExport { id: running.id, holder: taken.holder, state: ExportState::Done };
    assert_eq!(harness.failure(acme, &end).await, "Export is already running.");
    harness.perform(acme, &EndExport { holder: third.holder, ..end }).await;
    let done = ExportRun { state: ExportState::Done, ended_at: Some(harness.now()), ..third };
    assert_eq!(maintenance.open_jobs().await.unwrap(), [open(bolt, of_bolt.id)]);
    harness.clock.advance(Duration::SECOND);
    let next = harness.perform(acme, &asked(true)).await;
    assert_eq!(reader.exports(acme).await.unwrap(), [next, done]);
}

/// A file of a job has its name with the folder, and is none of the files that clients know. It goes with its job.
pub async fn files_of_jobs_are_no_uploads(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let reader = &harness.subject.reader;
    let [job, other_job] = [7, 8].map(Uuid::from_u128);
    let upload = harness.attachment(acme, 1).await;
    let file = job_file(&harness, acme, job, 2).await;
    job_file(&harness, acme, other_job, 3).await;
    let listed = JobFile { job, name: NAME.to_owned(), file: file.clone() };
    assert_eq!(listed.file.filename.as_str(), "posts.csv");
    assert_eq!(reader.job_file(acme, file.id).await.unwrap(), Some(listed.clone()));
    assert_eq!(reader.job_files(acme, &[job]).await.unwrap(), [listed]);
    assert_eq!(reader.job_files(acme, &[job, other_job]).await.unwrap().len(), 2);
    assert_eq!(reader.job_files(acme, &[]).await.unwrap(), []);
    for (workspace, id) in [(bolt, file.id), (acme, upload.id)] {
        assert_eq!(reader.job_file(workspace, id).await.unwrap(), None);
    }
    assert_eq!(reader.job_files(bolt, &[job, other_job]).await.unwrap(), []);

    assert_eq!(reader.attachment(acme, file.id).await.unwrap(), None);
    assert!(harness.perform(acme, &FindCover(upload.id)).await);
    assert!(!harness.perform(acme, &FindCover(file.id)).await);
    let fields = ChangelogFields {
        cover_image_signed_id: Some(Some("signed".to_owned())),
        ..changelog_fields("1.0", "<p>New</p>")
    };
    let draft = ChangelogDraft::parse(&fields, false, |_| Some(file.id)).unwrap();
    assert_eq!(harness.failure(acme, &CreateChangelog { draft }).await, "Cover image is invalid");
    assert_eq!(harness.perform(acme, &Delete(file.id)).await, AttachmentDeletion::NotFound);

    // It counts as used, and no sweep takes it.
    let usage = harness.subject.usage.recount_usage(acme, harness.now()).await.unwrap().usage;
    assert_eq!(usage.files, 3 * upload.byte_size.cast_signed());
    harness.clock.advance(Duration::days(400));
    assert_eq!(delete_unused(&harness, acme, 10).await, [removed(&upload)]);
    let maintenance = &harness.subject.maintenance;
    assert_eq!(maintenance.delete_unused_pictures(acme, harness.now(), 10).await.unwrap(), []);
    assert_eq!(maintenance.find_orphaned_blobs(&[file.key, upload.key]).await.unwrap(), [upload.key]);
    let mut snapshot = harness.subject.snapshots.snapshot(acme).await.unwrap();
    while let Some(records) = snapshot.next().await.unwrap() {
        assert!(!records.iter().any(|exported| matches!(exported.record, Record::Attachment(_))));
    }
    drop(snapshot);

    assert_eq!(harness.perform(bolt, &DeleteJobFiles(job)).await, []);
    assert_eq!(harness.perform(acme, &DeleteJobFiles(job)).await, [removed(&file)]);
    assert_eq!(harness.perform(acme, &DeleteJobFiles(job)).await, []);
    assert_eq!(reader.job_files(acme, &[job, other_job]).await.unwrap().len(), 1);
}

/// Exports and their files are deleted after 24 hours, in all workspaces, and those that run are not.
///
/// Import contract 9.
pub async fn exports_are_deleted_after_a_day(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let storage = Arc::new(EmptyStorage::default());
    let (directory, reader) = (harness.subject.directory.clone(), harness.subject.reader.clone());
    let (executor, upload) = (harness.executor.clone(), harness.upload(&storage));
    let purge = PurgeJobs::new(directory, reader.clone(), harness.clock.clone(), executor, upload);
    let old = [exported(&harness, acme, false, 1).await, exported(&harness, bolt, true, 2).await];
    let running = harness.perform(bolt, &asked(false)).await;
    harness.clock.advance(Duration::SECOND);
    exported(&harness, acme, true, 3).await;
    harness.clock.advance(ExportRun::KEPT - Duration::seconds(2));
    assert_eq!(purge.run().await.unwrap(), 0);
    harness.clock.advance(Duration::SECOND);
    assert_eq!(purge.run().await.unwrap(), 2);
    let mut deleted = storage.take_deleted();
    deleted.sort_by_key(|key| key.attachment);
    assert_eq!(deleted, old);
    assert_eq!(reader.exports(acme).await.unwrap().len(), 1);
    assert_eq!(reader.exports(bolt).await.unwrap(), [running]);
    assert_eq!(harness.count("attachments", acme).await, 1);
    harness.perform(bolt, &ForgetExports { with_people: true }).await;
    assert_eq!(harness.count("exports", bolt).await, 1);
}

/// An upload is returned as it was stored, and not to another workspace. One of two processes takes what is asked for, holds
/// it, and loses it to nobody else. After 30 days it is deleted with its file.
///
/// Import contract 9, 10.
pub async fn an_upload_is_taken_by_one_process_and_forgotten(harness: Harness) {
    let (acme, bolt) = (harness.workspace("acme").await, harness.workspace("bolt").await);
    let (reader, storage) = (harness.subject.reader.clone(), Arc::new(EmptyStorage::default()));
    // An upload is a job of its own.
    let file = job_file(&harness, acme, attachment(acme, 70, harness.now()).id.uuid(), 70).await;
    let upload = Upload {
        file: file.id,
        file_name: "posts.csv".to_owned(),
        options: ImportOptions { update: true, ..ImportOptions::default() },
        preview: Preview { statuses: vec!["Someday".to_owned()], ..Preview::default() },
    };
    let id = ImportId::new(Uuid::from_u128(71));
    let name = SourceName::parse("name", "csv").unwrap();
    let added = harness.perform(acme, &AddUpload { id, source: "csv", name, upload }).await;
    assert_eq!(reader.imports(acme).await.unwrap(), std::slice::from_ref(&added));
    assert_eq!(reader.imports(bolt).await.unwrap(), []);
    assert_eq!(harness.subject.maintenance.open_jobs().await.unwrap(), []);

    harness.perform(acme, &RequestImport { id, job: ImportJob::Run }).await;
    let open = OpenJob { workspace: acme, job: JobId::Import(id) };
    assert_eq!(harness.subject.maintenance.open_jobs().await.unwrap(), [open]);
    let claim = |number| ClaimImport { id, holder: Uuid::from_u128(number) };
    let (one, other) = (claim(1), claim(2));
    let (one, other) =
        tokio::join!(harness.executor.run_without_key(acme, &one), harness.executor.run_without_key(acme, &other));
    let taken: Vec<Import> = [one.unwrap(), other.unwrap()].into_iter().flatten().collect();
    let [taken] = &taken[..] else { panic!("{taken:?}") };
    harness.clock.advance(Duration::seconds(10));
    let hold = |holder| HoldImport { id, holder };
    harness.perform(acme, &hold(taken.holder)).await;
    assert!(harness.executor.run_without_key(acme, &hold(Uuid::from_u128(9))).await.is_err());
    assert!(harness.executor.run_without_key(bolt, &hold(taken.holder)).await.is_err());
    // What it has said counts: nobody else takes it yet.
    harness.clock.advance(Duration::seconds(10));
    assert_eq!(harness.perform(acme, &claim(3)).await, None);
    let end = EndReading { id, holder: taken.holder, state: ImportState::Failed, report: "{}".to_owned() };
    let ended = harness.perform(acme, &end).await;
    assert_eq!(reader.imports(acme).await.unwrap(), [ended]);

    let (directory, executor) = (harness.subject.directory.clone(), harness.executor.clone());
    let purge = PurgeJobs::new(directory, reader.clone(), harness.clock.clone(), executor, harness.upload(&storage));
    harness.clock.advance(KEPT - Duration::SECOND);
    assert_eq!(purge.run().await.unwrap(), 0);
    harness.clock.advance(Duration::SECOND);
    assert_eq!(purge.run().await.unwrap(), 1);
    assert_eq!(storage.take_deleted(), [file.key]);
    assert_eq!(reader.imports(acme).await.unwrap(), []);
}

crate::contract::cases!($ jobs {
    one_export_of_a_workspace_runs_at_a_time,
    files_of_jobs_are_no_uploads,
    exports_are_deleted_after_a_day,
    an_upload_is_taken_by_one_process_and_forgotten,
});
