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

/// Says that the process still works on a run.
#[derive(Debug, Clone, Copy)]
pub struct HoldImport {
    pub id: ImportId,
    pub holder: Uuid,
}

/// Leaves a run to another process, because this one stops.
#[derive(Debug, Clone, Copy)]
pub struct ReleaseImport {
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

/// Replaces the report of a run that was undone.
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

/// Deletes uploads that nobody has imported for long, and the files of runs that ended long ago.
#[derive(Debug, Clone, Copy)]
pub struct ForgetOldImports;

fn find(imports: &[Import], id: ImportId) -> Result<Import, RoadmapError> {
    imports.iter().find(|import| import.id == id).cloned().ok_or_else(missing)
}

/// Returns a run that a process works on.
fn held(imports: &[Import], id: ImportId, holder: Uuid) -> Result<Import, RoadmapError> {
    let import = find(imports, id)?;
    let is_running = matches!(import.state, ImportState::Running | ImportState::Undoing);
    if import.holder != holder || !is_running {
        return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
    }
    Ok(import)
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
        let import = held(&work.load_imports().await?, self.id, self.holder)?;
        work.save_import(&Import { seen_at: context.now, ..import }).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for ReleaseImport {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let import = held(&work.load_imports().await?, self.id, self.holder)?;
        work.save_import(&Import { seen_at: long_ago(context.now), ..import }).await?;
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
        let import = held(&work.load_imports().await?, self.id, self.holder)?;
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
            work.save_import(&Import { report: Some(self.report.clone()), ..import }).await?;
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
            let since = import.ended_at.unwrap_or(import.began_at);
            if import.job.is_some() || import.is_at_work(context.now) || since.plus(KEPT) > context.now {
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
