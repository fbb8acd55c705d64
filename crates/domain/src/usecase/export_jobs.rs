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
    /// Also those that hold people, because one of them was erased. One that is being written stays.
    pub with_people: bool,
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
            let has_erased = self.with_people && export.state != ExportState::Running && export.holds_people();
            if has_erased || export.has_expired(context.now) {
                files.extend(work.delete_job_files(export.id.uuid()).await?);
                work.delete_export(export.id).await?;
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
    use time::Duration;

    const HOLDER: Uuid = Uuid::from_u128(7);
    const OTHER: Uuid = Uuid::from_u128(8);

    fn id(number: u128) -> ExportId {
        ExportId::new(Uuid::from_u128(number))
    }

    /// An export that `HOLDER` has said to work on so long ago.
    fn export(number: u128, state: ExportState, seen: Duration) -> ExportRun {
        let options = ExportOptions { without_people: false, without_notes: false };
        let (created_at, seen_at) = (now().plus(-Duration::HOUR), now().plus(-seen));
        ExportRun { id: id(number), state, options, holder: HOLDER, created_at, seen_at, ended_at: None }
    }

    fn running(seen: Duration) -> ExportRun {
        export(1, ExportState::Running, seen)
    }

    /// A unit with these exports, which saves one that is as expected.
    fn unit(exports: Vec<ExportRun>, saved: Option<ExportRun>) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_load_exports().returning(move || Ok(exports.clone()));
        if let Some(expected) = saved {
            unit.expect_save_export().withf(move |export| *export == expected).times(1).returning(|_| Ok(()));
        }
        unit
    }

    /// Import contract 10: one at a time.
    #[test]
    fn an_export_is_asked_for_unless_one_runs() {
        let options = ExportOptions { without_people: true, without_notes: false };
        let request = RequestExport { options };
        let error = perform(&request, &mut unit(vec![running(Duration::HOUR)], None)).unwrap_err();
        assert_eq!(error.to_string(), "Export is already running.");
        let ended = [ExportState::Done, ExportState::Failed].map(|state| export(2, state, Duration::HOUR));
        let asked = ExportRun {
            options,
            holder: Uuid::nil(),
            created_at: now(),
            ..export(1, ExportState::Running, Import::PATIENCE)
        };
        let performed = perform(&request, &mut unit(ended.to_vec(), Some(asked.clone()))).unwrap();
        assert_eq!(performed.output, asked);
        assert!(!asked.is_at_work(now()), "every process may take it at once");
    }

    #[test]
    fn a_process_takes_an_export_that_no_other_one_works_on() {
        let (just, long_ago) = (Import::PATIENCE - Duration::SECOND, Import::PATIENCE);
        for (export, is_taken) in [
            (running(just), false),
            (running(long_ago), true),
            (export(1, ExportState::Done, long_ago), false),
            (export(2, ExportState::Running, long_ago), false),
        ] {
            let claimed = ExportRun { holder: OTHER, seen_at: now(), ..export.clone() };
            let mut unit = unit(vec![export], is_taken.then(|| claimed.clone()));
            let taken = perform(&ClaimExport { id: id(1), holder: OTHER }, &mut unit).unwrap().output;
            assert_eq!(taken, is_taken.then_some(claimed));
        }
    }

    #[test]
    fn only_the_process_that_works_on_an_export_goes_on_leaves_or_ends_it() {
        let known = running(Duration::seconds(5));
        for (goes_on, seen_at) in [(true, now()), (false, now().plus(-Import::PATIENCE))] {
            let held = ExportRun { seen_at, ..known.clone() };
            assert_eq!(held.is_at_work(now()), goes_on);
            let hold = HoldExport { id: id(1), holder: HOLDER, goes_on };
            perform(&hold, &mut unit(vec![known.clone()], Some(held))).unwrap();
        }
        for state in [ExportState::Done, ExportState::Failed] {
            let ended = ExportRun { state, ended_at: Some(now()), ..known.clone() };
            perform(&EndExport { id: id(1), holder: HOLDER, state }, &mut unit(vec![known.clone()], Some(ended)))
                .unwrap();
        }
        let done = export(1, ExportState::Done, Duration::ZERO);
        for (exports, holder, expected) in [
            (vec![known.clone()], OTHER, "Export is already running."),
            (vec![done], HOLDER, "Export is already running."),
            (Vec::new(), HOLDER, "Export does not exist."),
        ] {
            let hold = HoldExport { id: id(1), holder, goes_on: true };
            let error = perform(&hold, &mut unit(exports.clone(), None)).unwrap_err();
            assert_eq!(error.to_string(), expected);
            let end = EndExport { id: id(1), holder, state: ExportState::Done };
            assert_eq!(perform(&end, &mut unit(exports, None)).unwrap_err().to_string(), expected);
        }
    }

    fn file(export: u128) -> UnusedAttachment {
        let key = BlobKey { workspace: workspace(), attachment: AttachmentId::new(Uuid::from_u128(export + 100)) };
        UnusedAttachment { key, byte_size: 1 }
    }

    /// A unit with exports, of which these are deleted.
    fn forgetting(exports: Vec<ExportRun>, deleted: &[u128]) -> MockUnit {
        let (count, deleted) = (deleted.len(), deleted.to_vec());
        let mut unit = unit(exports, None);
        let of_jobs = deleted.clone();
        unit.expect_delete_job_files()
            .withf(move |job| of_jobs.contains(&job.as_u128()))
            .times(count)
            .returning(|job| Ok(vec![file(job.as_u128())]));
        unit.expect_delete_export()
            .withf(move |export| deleted.contains(&export.uuid().as_u128()))
            .times(count)
            .returning(|_| Ok(()));
        unit
    }

    /// Import contract 8 and 9: after 24 hours; and at once what holds somebody who was erased.
    #[test]
    fn exports_are_deleted_after_a_day_or_because_they_hold_people() {
        let aged =
            |number, state, age: Duration| ExportRun { created_at: now().plus(-age), ..export(number, state, age) };
        let without_people = ExportOptions { without_people: true, without_notes: false };
        let young = ExportRun::KEPT - Duration::MILLISECOND;
        let exports = vec![
            aged(1, ExportState::Running, ExportRun::KEPT),
            aged(2, ExportState::Done, young),
            ExportRun { options: without_people, ..aged(3, ExportState::Done, young) },
            aged(4, ExportState::Failed, young),
            aged(5, ExportState::Done, ExportRun::KEPT),
            ExportRun { options: without_people, ..aged(6, ExportState::Failed, ExportRun::KEPT) },
        ];
        for (with_people, deleted) in [(false, &[5, 6][..]), (true, &[2, 4, 5, 6])] {
            let forget = ForgetExports { with_people };
            let files = perform(&forget, &mut forgetting(exports.clone(), deleted)).unwrap().output;
            assert_eq!(files, deleted.iter().map(|number| file(*number)).collect::<Vec<_>>());
        }
    }
}
