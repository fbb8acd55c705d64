//! Imports of files that were uploaded on a page or over the API. Somebody asks for a run; a process of the service claims it,
//! works on it and says so; when it dies or stops, another one goes on.

use async_trait::async_trait;
use serde_json::Value;
use time::Duration;
use uuid::Uuid;

use crate::error::{Conflict, RoadmapError};
use crate::model::attachment::UnusedAttachment;
use crate::model::audit::{Audit, Change, OwnRecord};
use crate::model::id::ImportId;
use crate::model::import::run::{Import, ImportState, Progress, SourceName};
use crate::model::import::upload::{ImportJob, ImportOptions, Preview, Upload};
use crate::model::timestamp::Timestamp;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::import::run::{at_work, entry, missing, stop_abandoned};

/// How many uploaded files of a workspace can wait for their import.
pub const MAX_UPLOADS: usize = 20;

/// How long the files of a run are kept after its end, and an upload that nobody imports.
pub const KEPT: Duration = Duration::days(30);

/// Adds a run for a file that was uploaded.
#[derive(Debug, Clone)]
pub struct AddUpload {
    pub id: ImportId,
    pub source: &'static str,
    pub name: SourceName,
    pub upload: Upload,
}

/// Changes how an uploaded file is read.
#[derive(Debug, Clone)]
pub struct ChangeUpload {
    pub id: ImportId,
    pub options: ImportOptions,
    pub preview: Preview,
}

/// Asks for a run, a dry one, or its undoing.
#[derive(Debug, Clone, Copy)]
pub struct RequestImport {
    pub id: ImportId,
    pub job: ImportJob,
}

/// Takes a run that was asked for and that no process works on.
#[derive(Debug, Clone, Copy)]
pub struct ClaimImport {
    pub id: ImportId,
    /// The process that works on it.
    pub holder: Uuid,
}

/// Says that the process still works on a run, whatever it is doing.
#[derive(Debug, Clone, Copy)]
pub struct HoldImport {
    pub id: ImportId,
    pub holder: Uuid,
}

/// Ends a dry run, or a run whose file could not be read, which therefore wrote nothing.
#[derive(Debug, Clone)]
pub struct EndReading {
    pub id: ImportId,
    pub holder: Uuid,
    /// [`ImportState::Uploaded`] after a dry run, [`ImportState::Failed`] after another one.
    pub state: ImportState,
    /// The report as JSON.
    pub report: String,
}

/// Replaces the report of a run that was undone, which ends its job.
#[derive(Debug, Clone)]
pub struct SaveUndoReport {
    pub id: ImportId,
    /// The report as JSON.
    pub report: String,
}

/// Deletes a run that has made nothing, and its files.
#[derive(Debug, Clone, Copy)]
pub struct DiscardImport {
    pub id: ImportId,
}

/// Deletes the uploaded file of a run, or the files of its report, because of a person who was erased. A run of which nothing
/// is in goes with its upload.
#[derive(Debug, Clone, Copy)]
pub struct ForgetImportFiles {
    pub id: ImportId,
    pub is_upload: bool,
}

/// Deletes uploads that nobody has imported for long, and the files of runs that ended long ago.
#[derive(Debug, Clone, Copy)]
pub struct ForgetOldImports;

fn find(imports: &[Import], id: ImportId) -> Result<Import, RoadmapError> {
    imports.iter().find(|import| import.id == id).cloned().ok_or_else(missing)
}

/// Whether the files of a run, and a run that has made nothing, are to be deleted.
pub(crate) fn is_old(import: &Import, now: Timestamp) -> bool {
    let since = import.ended_at.unwrap_or(import.began_at);
    import.job.is_none() && !import.is_at_work(now) && since.plus(KEPT) <= now
}

/// Returns a time at which no process can have said that it works on a run.
fn long_ago(now: Timestamp) -> Timestamp {
    now.plus(-Import::PATIENCE)
}

#[async_trait]
impl Operation for AddUpload {
    type Output = Import;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Import>, RoadmapError> {
        let imports = work.load_imports().await?;
        if imports.iter().filter(|import| import.state == ImportState::Uploaded).count() >= MAX_UPLOADS {
            return Err(RoadmapError::Conflict(Conflict::TooManyImports));
        }
        let import = Import {
            id: self.id,
            source: self.source.to_owned(),
            name: self.name.clone(),
            state: ImportState::Uploaded,
            job: None,
            upload: Some(self.upload.clone()),
            // No run of a command goes on with it.
            input: format!("upload {}", self.upload.file),
            progress: Progress::default(),
            report: None,
            holder: Uuid::nil(),
            began_at: context.now,
            seen_at: long_ago(context.now),
            ended_at: None,
        };
        work.save_import(&import).await?;
        Ok(Performed::new(import, Audit::OwnRecord(OwnRecord::Upload)))
    }
}

#[async_trait]
impl Operation for ChangeUpload {
    type Output = Import;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Import>, RoadmapError> {
        let imports = work.load_imports().await?;
        let import = find(&imports, self.id)?;
        // What is in was read with the options of then.
        if !import.can_run(context.now) || import.state == ImportState::Stopped {
            return Err(RoadmapError::Conflict(Conflict::ImportNotReady));
        }
        let upload = import.upload.clone().map(|upload| Upload {
            options: self.options.clone(),
            preview: self.preview.clone(),
            ..upload
        });
        // A report about other options says nothing about these.
        let is_same =
            upload.as_ref().map(|upload| &upload.options) == import.upload.as_ref().map(|upload| &upload.options);
        let report = import.report.clone().filter(|_| is_same);
        let import = Import { upload, report, state: ImportState::Uploaded, ended_at: None, ..import };
        work.save_import(&import).await?;
        Ok(Performed::new(import, Audit::OwnRecord(OwnRecord::Upload)))
    }
}

#[async_trait]
impl Operation for RequestImport {
    type Output = Import;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Import>, RoadmapError> {
        let mut imports = work.load_imports().await?;
        let import = find(&imports, self.id)?;
        // An undoing that has stopped is completed by another one.
        let is_other = |other: &&Import| other.is_at_work(context.now) || other.id != self.id || other.job.is_some();
        if at_work(&imports, context.now).filter(is_other).is_some() {
            return Err(RoadmapError::Conflict(Conflict::ImportRunning));
        }
        let is_allowed = match self.job {
            ImportJob::Try => import.can_run(context.now) && import.state != ImportState::Stopped,
            ImportJob::Run => import.can_run(context.now),
            ImportJob::Undo => import.can_undo(context.now),
        };
        if !is_allowed {
            let conflict = match self.job {
                ImportJob::Undo => Conflict::ImportNotUndoable,
                ImportJob::Try | ImportJob::Run => Conflict::ImportNotReady,
            };
            return Err(RoadmapError::Conflict(conflict));
        }
        stop_abandoned(&mut imports, context.now, work).await?;
        let is_new = import.state != ImportState::Undoing && import.state != ImportState::Stopped;
        let state = if self.job == ImportJob::Undo { ImportState::Undoing } else { ImportState::Running };
        // Records without a time have that of the run.
        let began_at = if self.job == ImportJob::Run && is_new { context.now } else { import.began_at };
        let import = Import {
            state,
            job: Some(self.job),
            holder: Uuid::nil(),
            began_at,
            seen_at: long_ago(context.now),
            ended_at: None,
            ..import
        };
        work.save_import(&import).await?;
        let audit = match self.job {
            ImportJob::Try => Audit::Unchanged,
            ImportJob::Run if !is_new => Audit::Unchanged,
            ImportJob::Run => entry(
                "import.start",
                &import,
                vec![
                    Change::new("source", Value::Null, &*import.source),
                    Change::new("name", Value::Null, import.name.as_str()),
                ],
            ),
            ImportJob::Undo => Audit::entry("import.undo", "import", Some(import.id.uuid())),
        };
        Ok(Performed::new(import, audit))
    }
}

#[async_trait]
impl Operation for ClaimImport {
    /// `None`: there is nothing to do, or another process does it.
    type Output = Option<Import>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<Import>>, RoadmapError> {
        let imports = work.load_imports().await?;
        let Ok(import) = find(&imports, self.id) else { return Ok(Performed::new(None, Audit::Unchanged)) };
        if import.job.is_none() || import.is_at_work(context.now) {
            return Ok(Performed::new(None, Audit::Unchanged));
        }
        let import = Import { holder: self.holder, seen_at: context.now, ..import };
        work.save_import(&import).await?;
        Ok(Performed::new(Some(import), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for HoldImport {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        if !work.hold_import(self.id, self.holder, context.now).await? {
            return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
        }
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EndReading {
    type Output = Import;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Import>, RoadmapError> {
        let import = find(&work.load_imports().await?, self.id)?;
        if import.holder != self.holder || import.state != ImportState::Running {
            return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
        }
        let is_tried = import.job == Some(ImportJob::Try);
        let import = Import {
            state: self.state,
            job: None,
            report: Some(self.report.clone()),
            seen_at: context.now,
            ended_at: (self.state != ImportState::Uploaded).then_some(context.now),
            ..import
        };
        work.save_import(&import).await?;
        let changes = vec![Change::new("state", ImportState::Running.name(), self.state.name())];
        let audit = if is_tried { Audit::Unchanged } else { entry("import.finish", &import, changes) };
        Ok(Performed::new(import, audit))
    }
}

#[async_trait]
impl Operation for SaveUndoReport {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let import = find(&work.load_imports().await?, self.id)?;
        if import.state == ImportState::Undone {
            // Until now it was shown as running, so that whoever sees its end finds the report.
            work.save_import(&Import { report: Some(self.report.clone()), job: None, ..import }).await?;
        }
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for DiscardImport {
    /// The files that are to be deleted in the storage.
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        let import = find(&work.load_imports().await?, self.id)?;
        if !import.can_discard() {
            return Err(RoadmapError::Conflict(Conflict::ImportNotDiscardable));
        }
        let mut files = work.delete_job_files(self.id.uuid()).await?;
        if let Some(upload) = &import.upload {
            files.extend(work.delete_job_files(upload.file.uuid()).await?);
        }
        work.delete_import(self.id).await?;
        Ok(Performed::new(files, Audit::OwnRecord(OwnRecord::Upload)))
    }
}

#[async_trait]
impl Operation for ForgetImportFiles {
    /// The files that are to be deleted in the storage.
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        let Ok(import) = find(&work.load_imports().await?, self.id) else {
            return Ok(Performed::new(Vec::new(), Audit::Unchanged));
        };
        if import.job.is_some() || import.is_at_work(context.now) {
            return Ok(Performed::new(Vec::new(), Audit::Unchanged));
        }
        let mut files = Vec::new();
        if !self.is_upload || import.can_discard() {
            files.extend(work.delete_job_files(self.id.uuid()).await?);
        }
        if self.is_upload
            && let Some(upload) = &import.upload
        {
            files.extend(work.delete_job_files(upload.file.uuid()).await?);
            if import.can_discard() {
                work.delete_import(self.id).await?;
            } else {
                work.save_import(&Import { upload: None, ..import }).await?;
            }
        }
        Ok(Performed::new(files, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for ForgetOldImports {
    /// The files that are to be deleted in the storage.
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        let mut files = Vec::new();
        for import in work.load_imports().await? {
            if !is_old(&import, context.now) {
                continue;
            }
            files.extend(work.delete_job_files(import.id.uuid()).await?);
            if let Some(upload) = &import.upload {
                files.extend(work.delete_job_files(upload.file.uuid()).await?);
            }
            if import.can_discard() {
                work.delete_import(import.id).await?;
            } else if import.upload.is_some() {
                work.save_import(&Import { upload: None, ..import }).await?;
            }
        }
        Ok(Performed::new(files, Audit::Unchanged))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::BlobKey;
    use crate::model::id::AttachmentId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform, workspace};
    use std::sync::{Arc, Mutex};

    const FILE: AttachmentId = AttachmentId::new(Uuid::from_u128(90));

    fn upload() -> Upload {
        let options = ImportOptions::default();
        Upload { file: FILE, file_name: "posts.csv".to_owned(), options, preview: Preview::default() }
    }

    /// An import that a process has seen so many seconds ago.
    fn import(number: u128, state: ImportState, job: Option<ImportJob>, seconds: i64) -> Import {
        Import {
            id: ImportId::new(Uuid::from_u128(number)),
            source: "csv".to_owned(),
            name: SourceName::from_stored("csv".to_owned()),
            state,
            job,
            upload: Some(upload()),
            input: String::new(),
            progress: Progress::default(),
            report: Some("{}".to_owned()),
            holder: Uuid::from_u128(70),
            began_at: now().plus(Duration::days(-1)),
            seen_at: now().plus(Duration::seconds(-seconds)),
            ended_at: None,
        }
    }

    /// A unit with these imports, and what is saved in it.
    fn unit(imports: Vec<Import>) -> (MockUnit, Arc<Mutex<Vec<Import>>>) {
        let (mut unit, saved) = (MockUnit::new(), Arc::new(Mutex::new(Vec::new())));
        unit.expect_load_imports().returning(move || Ok(imports.clone()));
        let keep = saved.clone();
        unit.expect_save_import().returning(move |import| {
            keep.lock().unwrap().push(import.clone());
            Ok(())
        });
        (unit, saved)
    }

    fn id(number: u128) -> ImportId {
        ImportId::new(Uuid::from_u128(number))
    }

    /// Import contract 9, 10.
    #[test]
    fn what_may_be_asked_for_depends_on_the_state() {
        use ImportJob::{Run, Try, Undo};
        use ImportState::{Done, Failed, Running, Stopped, Undoing, Undone, Uploaded};
        let (not_ready, not_undoable) = ("Import has no file that can be imported.", "Import cannot be undone");
        let running = "Import is already running.";
        for (state, job, seconds, asked, refused) in [
            (Uploaded, None, 99, Try, ""),
            (Uploaded, None, 99, Run, ""),
            (Uploaded, None, 99, Undo, not_undoable),
            // It could not read its file.
            (Failed, None, 99, Try, ""),
            (Failed, None, 99, Run, ""),
            (Failed, None, 99, Undo, not_undoable),
            (Stopped, None, 99, Try, not_ready),
            (Stopped, None, 99, Run, ""),
            (Stopped, None, 99, Undo, ""),
            // Its process has died, and was a command.
            (Running, None, 99, Run, ""),
            (Running, None, 1, Run, running),
            // Another process of the service will go on.
            (Running, Some(Run), 99, Run, running),
            (Running, Some(Try), 99, Run, running),
            (Running, Some(Run), 99, Undo, running),
            (Undoing, None, 99, Undo, ""),
            (Undoing, None, 1, Undo, running),
            (Undoing, Some(Undo), 99, Undo, running),
            (Undone, None, 99, Run, not_ready),
            (Undone, None, 99, Undo, not_undoable),
            (Done, None, 99, Undo, ""),
        ] {
            let (mut unit, saved) = unit(vec![import(1, state, job, seconds)]);
            let asking = perform(&RequestImport { id: id(1), job: asked }, &mut unit);
            let case = format!("{state:?} {job:?} {seconds} {asked:?}");
            match asking {
                Err(error) => assert!(!refused.is_empty() && error.to_string().starts_with(refused), "{case}: {error}"),
                Ok(_) => {
                    assert_eq!(refused, "", "{case}");
                    let saved = saved.lock().unwrap().last().cloned().unwrap();
                    assert_eq!((saved.job, saved.is_at_work(now())), (Some(asked), false), "{case}");
                    assert_eq!(saved.visible_state(now()), Running, "{case}");
                }
            }
        }
    }

    #[test]
    fn one_import_runs_at_a_time() {
        for (other, is_refused) in [
            (import(2, ImportState::Running, None, 1), true),
            (import(2, ImportState::Running, Some(ImportJob::Try), 99), true),
            (import(2, ImportState::Undoing, None, 99), true),
            (import(2, ImportState::Running, None, 99), false),
            (import(2, ImportState::Uploaded, None, 99), false),
        ] {
            let (mut unit, _) = unit(vec![other.clone(), import(1, ImportState::Uploaded, None, 99)]);
            let asked = perform(&RequestImport { id: id(1), job: ImportJob::Run }, &mut unit);
            assert_eq!(asked.is_err(), is_refused, "{other:?}");
        }
        let (mut unit, _) = unit(Vec::new());
        let unknown = perform(&RequestImport { id: id(1), job: ImportJob::Run }, &mut unit).unwrap_err();
        assert_eq!(unknown.to_string(), "Import does not exist.");
    }

    /// Records without a time have that of the run, which is the same after it has stopped.
    #[test]
    fn a_run_begins_when_it_is_asked_for() {
        for (state, expected) in
            [(ImportState::Uploaded, now()), (ImportState::Stopped, now().plus(Duration::days(-1)))]
        {
            let (mut unit, _) = unit(vec![import(1, state, None, 99)]);
            let asked = perform(&RequestImport { id: id(1), job: ImportJob::Run }, &mut unit).unwrap();
            assert_eq!(asked.output.began_at, expected, "{state:?}");
            assert_eq!(asked.audit == Audit::Unchanged, state == ImportState::Stopped);
        }
    }

    #[test]
    fn a_process_claims_what_no_other_one_works_on_and_loses_what_another_one_has() {
        let holder = Uuid::from_u128(71);
        for (job, seconds, is_claimed) in
            [(Some(ImportJob::Run), 15, true), (Some(ImportJob::Run), 14, false), (None, 99, false)]
        {
            let (mut unit, _) = unit(vec![import(1, ImportState::Running, job, seconds)]);
            let claimed = perform(&ClaimImport { id: id(1), holder }, &mut unit).unwrap().output;
            assert_eq!(claimed.map(|import| import.holder), is_claimed.then_some(holder), "{job:?} {seconds}");
        }
        for (holder, is_held) in [(Uuid::from_u128(70), true), (holder, false)] {
            let running = || unit(vec![import(1, ImportState::Running, Some(ImportJob::Try), 9)]);
            let end = EndReading { id: id(1), holder, state: ImportState::Uploaded, report: "{}".to_owned() };
            let (mut unit, saved) = running();
            assert_eq!(perform(&end, &mut unit).is_ok(), is_held);
            assert_eq!(saved.lock().unwrap().iter().any(|import| import.job.is_none()), is_held);
        }
    }

    #[test]
    fn a_process_that_has_lost_its_run_is_told() {
        for is_held in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_hold_import()
                .withf(|import, holder, at| (*import, *holder, *at) == (id(1), Uuid::from_u128(70), now()))
                .returning(move |_, _, _| Ok(is_held));
            let hold = HoldImport { id: id(1), holder: Uuid::from_u128(70) };
            assert_eq!(perform(&hold, &mut unit).is_ok(), is_held);
        }
    }

    #[test]
    fn options_change_until_something_is_in_and_end_what_was_said_of_others() {
        let options = ImportOptions { update: true, ..ImportOptions::default() };
        for (state, options, kept) in [
            (ImportState::Uploaded, options.clone(), Some(false)),
            (ImportState::Failed, ImportOptions::default(), Some(true)),
            (ImportState::Stopped, options.clone(), None),
            (ImportState::Done, options, None),
        ] {
            let (mut unit, _) = unit(vec![import(1, state, None, 99)]);
            let preview = Preview { is_cut: true, ..Preview::default() };
            let changed = perform(&ChangeUpload { id: id(1), options: options.clone(), preview }, &mut unit);
            let found = changed.ok().map(|changed| {
                let upload = changed.output.upload.unwrap();
                assert_eq!((upload.options, upload.preview.is_cut), (options.clone(), true));
                changed.output.report.is_some()
            });
            assert_eq!(found, kept, "{state:?}");
        }
    }

    #[test]
    fn only_so_many_uploads_wait() {
        for (waiting, is_added) in [(MAX_UPLOADS - 1, true), (MAX_UPLOADS, false)] {
            let mut imports: Vec<_> =
                (2..).take(waiting).map(|number| import(number, ImportState::Uploaded, None, 99)).collect();
            imports.push(import(1, ImportState::Done, None, 99));
            let (mut unit, saved) = unit(imports);
            let name = SourceName::from_stored("csv".to_owned());
            let add = AddUpload { id: id(500), source: "csv", name, upload: upload() };
            assert_eq!(perform(&add, &mut unit).is_ok(), is_added);
            assert_eq!(saved.lock().unwrap().len(), usize::from(is_added));
        }
    }

    /// A unit that deletes files and runs, and what it has deleted.
    fn deleting(imports: Vec<Import>) -> (MockUnit, Arc<Mutex<Vec<Uuid>>>) {
        let (mut unit, _) = unit(imports);
        let deleted = Arc::new(Mutex::new(Vec::new()));
        let (files, runs) = (deleted.clone(), deleted.clone());
        unit.expect_delete_job_files().returning(move |job| {
            files.lock().unwrap().push(job);
            let key = BlobKey { workspace: workspace(), attachment: AttachmentId::new(job) };
            Ok(vec![UnusedAttachment { key, byte_size: 1 }])
        });
        unit.expect_delete_import().returning(move |import| {
            runs.lock().unwrap().push(import.uuid());
            Ok(())
        });
        (unit, deleted)
    }

    #[test]
    fn what_has_made_nothing_is_deleted_with_its_files() {
        for (state, job, is_deleted) in [
            (ImportState::Uploaded, None, true),
            (ImportState::Failed, None, true),
            (ImportState::Running, Some(ImportJob::Try), false),
            (ImportState::Stopped, None, false),
            (ImportState::Done, None, false),
        ] {
            let (mut unit, deleted) = deleting(vec![import(1, state, job, 99)]);
            let discarded = perform(&DiscardImport { id: id(1) }, &mut unit);
            assert_eq!(discarded.map(|done| done.output.len()).ok(), is_deleted.then_some(2), "{state:?}");
            let expected = if is_deleted { vec![id(1).uuid(), FILE.uuid(), id(1).uuid()] } else { Vec::new() };
            assert_eq!(*deleted.lock().unwrap(), expected, "{state:?}");
        }
        // It has failed after it had read its file, and may have made something.
        let failed = Import { upload: None, ..import(1, ImportState::Failed, None, 99) };
        assert!(perform(&DiscardImport { id: id(1) }, &mut deleting(vec![failed]).0).is_err());
    }

    #[test]
    fn files_with_a_person_who_was_erased_go_unless_a_process_works_on_them() {
        let (run, upload) = (id(1).uuid(), FILE.uuid());
        for (state, seconds, is_upload, expected) in [
            (ImportState::Uploaded, 99, true, vec![run, upload, run]),
            (ImportState::Uploaded, 99, false, vec![run]),
            (ImportState::Stopped, 99, true, vec![upload]),
            (ImportState::Done, 99, false, vec![run]),
            (ImportState::Running, 1, true, vec![]),
        ] {
            let (mut unit, deleted) = deleting(vec![import(1, state, None, seconds)]);
            perform(&ForgetImportFiles { id: id(1), is_upload }, &mut unit).unwrap();
            assert_eq!(*deleted.lock().unwrap(), expected, "{state:?} {is_upload}");
        }
    }

    #[test]
    fn files_are_kept_for_thirty_days() {
        let aged = |number, state, days: i64| Import {
            began_at: now().plus(Duration::days(-days)),
            ..import(number, state, None, 99)
        };
        let done = |number, days| Import { upload: None, ..aged(number, ImportState::Done, days) };
        let imports =
            vec![done(1, 30), done(2, 29), aged(3, ImportState::Uploaded, 30), aged(4, ImportState::Stopped, 30)];
        let (mut unit, deleted) = deleting(imports);
        perform(&ForgetOldImports, &mut unit).unwrap();
        let (one, three, four) = (id(1).uuid(), id(3).uuid(), id(4).uuid());
        assert_eq!(*deleted.lock().unwrap(), [one, three, FILE.uuid(), three, four, FILE.uuid()]);
    }
}
