//! Exports that somebody has asked for.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Resource, RoadmapError};
use crate::model::attachment::Attachment;
use crate::model::export::run::{ExportRun, ExportState};
use crate::model::id::{ExportId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Query, QueryPorts};

/// An export with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedExport {
    pub run: ExportRun,
    /// `None` until it is done.
    pub file: Option<Attachment>,
}

/// Lists the exports of a workspace, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListExports {
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListExports {
    type Output = Listing<ListedExport>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        let Listing { items, request, total } = Listing::of_all(runs(workspace, ports).await?, self.page);
        Ok(Listing { items: with_files(workspace, ports, items).await?, request, total })
    }
}

/// Shows an export.
#[derive(Debug, Clone, Copy)]
pub struct ShowExport {
    /// The export. `None` for an ID that no export can have.
    pub export: Option<ExportId>,
}

#[async_trait]
impl Query for ShowExport {
    type Output = ListedExport;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ListedExport, RoadmapError> {
        let runs = runs(workspace, ports).await?;
        let run = runs.into_iter().filter(|run| Some(run.id) == self.export).collect();
        let found = with_files(workspace, ports, run).await?.into_iter().next();
        found.ok_or(RoadmapError::NotFound(Resource::Export))
    }
}

/// Returns the exports that are not to be deleted, newest first. There are few: one at a time, each for a day.
async fn runs(workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<ExportRun>, RoadmapError> {
    let now = ports.clock.now();
    let mut runs = ports.reader.exports(workspace).await?;
    runs.retain(|run| !run.has_expired(now));
    Ok(runs)
}

async fn with_files(
    workspace: WorkspaceId,
    ports: &QueryPorts,
    runs: Vec<ExportRun>,
) -> Result<Vec<ListedExport>, RoadmapError> {
    let is_done = |run: &&ExportRun| run.state == ExportState::Done;
    let done: Vec<Uuid> = runs.iter().filter(is_done).map(|run| run.id.uuid()).collect();
    let mut files = if done.is_empty() { Vec::new() } else { ports.reader.job_files(workspace, &done).await? };
    let listed = |run: ExportRun| {
        let place = files.iter().position(|file| file.job == run.id.uuid());
        let file = place.map(|place| files.swap_remove(place).file);
        ListedExport { run, file }
    };
    Ok(runs.into_iter().map(listed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::export::ExportOptions;
    use crate::model::import::upload::JobFile;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::{attachment, now};
    use crate::usecase::query::tests::run_query;
    use time::Duration;

    fn run(number: u128, state: ExportState, age: Duration) -> ExportRun {
        let options = ExportOptions { without_people: false, without_notes: false };
        let (id, created_at) = (ExportId::new(Uuid::from_u128(number)), now().plus(-age));
        ExportRun { id, state, options, holder: Uuid::nil(), created_at, seen_at: created_at, ended_at: None }
    }

    /// Exports, of which one has expired, and the file of the only one that is asked for.
    fn reader() -> MockReads {
        let mut reader = MockReads::new();
        let runs = [
            run(4, ExportState::Running, Duration::DAY * 2),
            run(3, ExportState::Failed, Duration::HOUR),
            run(2, ExportState::Done, Duration::HOUR * 2),
            run(1, ExportState::Done, ExportRun::KEPT),
        ];
        reader.expect_exports().returning(move |_| Ok(runs.to_vec()));
        let job = Uuid::from_u128(2);
        reader
            .expect_job_files()
            .withf(move |_, jobs| *jobs == [job])
            .returning(move |_, _| Ok(vec![JobFile { job, name: "acme-export.zip".to_owned(), file: attachment() }]));
        reader
    }

    /// Import contract 9 and 10: newest first, and none that is older than a day.
    #[test]
    fn exports_are_listed_until_they_expire() {
        for (page, size, expected) in
            [("1", "25", &[4, 3, 2][..]), ("1", "2", &[4, 3]), ("2", "2", &[2]), ("3", "2", &[])]
        {
            let page = PageRequest::parse(Some(page), Some(size)).unwrap();
            let listing = run_query(reader(), MockBlobs::new(), &ListExports { page }).unwrap();
            let numbers: Vec<u128> = listing.items.iter().map(|export| export.run.id.uuid().as_u128()).collect();
            assert_eq!((numbers.as_slice(), listing.total), (expected, 3));
            let with_file = listing.items.iter().filter(|export| export.file.is_some());
            assert!(with_file.eq(listing.items.iter().filter(|export| export.run.state == ExportState::Done)));
        }
    }

    #[test]
    fn an_export_is_shown_until_it_expires() {
        let show = |export| run_query(reader(), MockBlobs::new(), &ShowExport { export });
        let shown = show(Some(ExportId::new(Uuid::from_u128(2)))).unwrap();
        assert_eq!(shown.file, Some(attachment()));
        for missing in [None, Some(1), Some(9)] {
            let error = show(missing.map(|number| ExportId::new(Uuid::from_u128(number)))).unwrap_err();
            assert_eq!(error.to_string(), "Export does not exist.");
        }
    }
}
