//! Exports that somebody asks for on a page or over the API, and that a process of the service writes.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::attachment::UnusedAttachment;
use crate::model::audit::Audit;
use crate::model::export::ExportOptions;
use crate::model::export::run::{ExportRun, ExportState};
use crate::model::id::ExportId;
use crate::model::import::run::Import;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::record_export::audit_entry;

/// Asks for an export.
#[derive(Debug, Clone, Copy)]
pub struct RequestExport {
    pub options: ExportOptions,
}

/// Takes an export that was asked for and that no process works on.
#[derive(Debug, Clone, Copy)]
pub struct ClaimExport {
    pub id: ExportId,
    /// The process that works on it.
    pub holder: Uuid,
}

/// Says that the process still works on an export, or leaves it to another one.
#[derive(Debug, Clone, Copy)]
pub struct HoldExport {
    pub id: ExportId,
    pub holder: Uuid,
    /// Whether it goes on.
    pub goes_on: bool,
}

/// Ends an export.
#[derive(Debug, Clone, Copy)]
pub struct EndExport {
    pub id: ExportId,
    pub holder: Uuid,
    /// [`ExportState::Done`] or [`ExportState::Failed`].
    pub state: ExportState,
}

/// Deletes exports that have expired, and their files.
#[derive(Debug, Clone, Copy)]
pub struct ForgetExports {
    /// All that are not at work, because they may hold a person who was erased.
    pub all: bool,
}

/// Returns an export that a process works on.
async fn held(work: &mut dyn UnitOfWork, id: ExportId, holder: Uuid) -> Result<ExportRun, RoadmapError> {
    let exports = work.load_exports().await?;
    let export = exports.into_iter().find(|export| export.id == id);
    let export = export.ok_or(RoadmapError::NotFound(Resource::Export))?;
    if export.holder != holder || export.state != ExportState::Running {
        return Err(RoadmapError::Conflict(Conflict::ExportRunning));
    }
    Ok(export)
}

#[async_trait]
impl Operation for RequestExport {
    type Output = ExportRun;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ExportRun>, RoadmapError> {
        if work.load_exports().await?.iter().any(|export| export.state == ExportState::Running) {
            return Err(RoadmapError::Conflict(Conflict::ExportRunning));
        }
        let export = ExportRun {
            id: context.new_id(ExportId::new),
            state: ExportState::Running,
            options: self.options,
            holder: Uuid::nil(),
            created_at: context.now,
            // No process has said yet that it works on it.
            seen_at: context.now.plus(-Import::PATIENCE),
            ended_at: None,
        };
        work.save_export(&export).await?;
        let audit = audit_entry(Some(export.id.uuid()), self.options);
        Ok(Performed::new(export, audit))
    }
}

#[async_trait]
impl Operation for ClaimExport {
    /// `None`: there is nothing to do, or another process does it.
    type Output = Option<ExportRun>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<ExportRun>>, RoadmapError> {
        let exports = work.load_exports().await?;
        let is_free = |export: &ExportRun| export.state == ExportState::Running && !export.is_at_work(context.now);
        let Some(export) = exports.into_iter().find(|export| export.id == self.id && is_free(export)) else {
            return Ok(Performed::new(None, Audit::Unchanged));
        };
        let export = ExportRun { holder: self.holder, seen_at: context.now, ..export };
        work.save_export(&export).await?;
        Ok(Performed::new(Some(export), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for HoldExport {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let export = held(work, self.id, self.holder).await?;
        let seen_at = if self.goes_on { context.now } else { context.now.plus(-Import::PATIENCE) };
        work.save_export(&ExportRun { seen_at, ..export }).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EndExport {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let export = held(work, self.id, self.holder).await?;
        work.save_export(&ExportRun { state: self.state, ended_at: Some(context.now), ..export }).await?;
        Ok(Performed::new((), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for ForgetExports {
    /// The files that are to be deleted in the storage.
    type Output = Vec<UnusedAttachment>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<UnusedAttachment>>, RoadmapError> {
        let mut files = Vec::new();
        for export in work.load_exports().await? {
            let is_over = export.state != ExportState::Running && (self.all || export.expires_at() <= context.now);
            if is_over {
                files.extend(work.delete_job_files(export.id.uuid()).await?);
                work.delete_export(export.id).await?;
            }
        }
        Ok(Performed::new(files, Audit::Unchanged))
    }
}
