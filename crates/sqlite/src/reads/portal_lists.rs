//! Lists of feature requests on the portal: which statements a filter needs.

pub(crate) mod rows;
pub(crate) mod selections;
pub(crate) mod tracks;

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{Mine, PortalFilter, PortalList, PortalRow, PortalSort};
use roadmap_domain::policy::trending::Candidate;
use roadmap_domain::ports::PortalListReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{CandidateRow, PortalListRow};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use rows::{Matching, Rows, VotedAmong, folded, json_requests, request_ids};
use selections::{
    CountTagged, CountVoted, CountWritten, TaggedPage, TrendingTagged, TrendingVoted, TrendingWritten, VotedPage,
    WrittenPage,
};
use tracks::{CountPublic, LastUpdatedPage, MostVotedPage, NewestPage, OldestPage, TrendingOfTracks};

/// The parameters of a filter, and the statements that it needs.
#[derive(Debug, Clone)]
struct Filter {
    workspace: Id,
    lane: Option<Id>,
    tag: Option<String>,
    customer: Option<Id>,
    scan_limit: i64,
    kind: FilterKind,
}

#[derive(Debug, Clone, Copy)]
enum FilterKind {
    Tracks,
    Tagged,
    Voted,
    Written,
}

impl Filter {
    fn new(workspace: Id, filter: &PortalFilter) -> Self {
        let kind = match (&filter.tag, filter.mine) {
            (_, Some((Mine::Voted, _))) => FilterKind::Voted,
            (_, Some((Mine::Written, _))) => FilterKind::Written,
            (Some(_), None) => FilterKind::Tagged,
            (None, None) => FilterKind::Tracks,
        };
        Self {
            workspace,
            lane: filter.lane.map(|lane| Id(lane.uuid())),
            tag: filter.tag.as_ref().map(folded),
            customer: filter.mine.map(|(_, customer)| Id(customer.uuid())),
            scan_limit: i64::from(PortalList::TAG_LIMIT),
            kind,
        }
    }

    /// Counts what it chooses.
    fn count(&self, connection: &mut SqliteConnection) -> Result<i64, SqlError> {
        let Self { workspace, lane, tag, customer, scan_limit, kind } = self.clone();
        Ok(match kind {
            FilterKind::Tracks => CountPublic { workspace, lane }.get_result(connection)?,
            FilterKind::Tagged => CountTagged { workspace, lane, tag, customer, scan_limit }.get_result(connection)?,
            FilterKind::Voted => CountVoted { workspace, lane, tag, customer, scan_limit }.get_result(connection)?,
            FilterKind::Written => {
                CountWritten { workspace, lane, tag, customer, scan_limit }.get_result(connection)?
            }
        })
    }

    /// Returns a page of what it chooses.
    fn page(
        &self,
        connection: &mut SqliteConnection,
        sort: PortalSort,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<PortalListRow>, SqlError> {
        let Self { workspace, lane, tag, customer, scan_limit, kind } = self.clone();
        // Trending is ranked by the caller.
        let sort = if sort == PortalSort::Trending { PortalSort::Votes } else { sort };
        Ok(match kind {
            FilterKind::Tracks => {
                let scan_limit = limit.saturating_add(offset);
                match sort {
                    PortalSort::Trending | PortalSort::Votes => {
                        MostVotedPage { workspace, lane, scan_limit, limit, offset }.load(connection)?
                    }
                    PortalSort::Newest => NewestPage { workspace, lane, scan_limit, limit, offset }.load(connection)?,
                    PortalSort::Oldest => OldestPage { workspace, lane, scan_limit, limit, offset }.load(connection)?,
                    PortalSort::Updated => {
                        LastUpdatedPage { workspace, lane, scan_limit, limit, offset }.load(connection)?
                    }
                }
            }
            FilterKind::Tagged => {
                TaggedPage { workspace, lane, tag, customer, scan_limit, sort: sort.name(), limit, offset }
                    .load(connection)?
            }
            FilterKind::Voted => {
                VotedPage { workspace, lane, tag, customer, scan_limit, sort: sort.name(), limit, offset }
                    .load(connection)?
            }
            FilterKind::Written => {
                WrittenPage { workspace, lane, tag, customer, scan_limit, sort: sort.name(), limit, offset }
                    .load(connection)?
            }
        })
    }

    /// Returns what may trend of what it chooses.
    fn trending(&self, connection: &mut SqliteConnection, limit: u32) -> Result<Vec<CandidateRow>, SqlError> {
        let Self { workspace, lane, tag, customer, scan_limit, kind } = self.clone();
        let (voted, newest) = (i64::from(limit), i64::from(limit));
        Ok(match kind {
            FilterKind::Tracks => TrendingOfTracks { workspace, lane, limit: voted }.load(connection)?,
            FilterKind::Tagged => {
                TrendingTagged { workspace, lane, tag, customer, scan_limit, voted, newest }.load(connection)?
            }
            FilterKind::Voted => {
                TrendingVoted { workspace, lane, tag, customer, scan_limit, voted, newest }.load(connection)?
            }
            FilterKind::Written => {
                TrendingWritten { workspace, lane, tag, customer, scan_limit, voted, newest }.load(connection)?
            }
        })
    }
}

#[async_trait]
impl PortalListReader for SqliteStore {
    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError> {
        let workspace = Id(workspace.uuid());
        let filter = Filter::new(workspace, &list.filter);
        let (sort, page): (PortalSort, PageRequest) = (list.sort, list.page);
        let rows: Page<PortalListRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let total = filter.count(connection)?;
                let offset = page.offset().filter(|_| page.page() <= PortalList::MAX_PAGE);
                let Some(offset) = offset.filter(|offset| *offset < total) else { return Ok((Vec::new(), total)) };
                Ok((filter.page(connection, sort, page.limit(), offset)?, total))
            })
            .await?;
        listing(rows, page, PortalRow::try_from)
    }

    async fn trending_candidates(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        limit: u32,
    ) -> Result<Vec<Candidate>, StoreError> {
        let workspace = Id(workspace.uuid());
        let filter = Filter::new(workspace, filter);
        let rows = self.readers.run(move |connection| filter.trending(connection, limit)).await?;
        rows.into_iter().map(Candidate::try_from).collect()
    }

    async fn portal_rows(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<PortalRow>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = Rows { workspace, requests: json_requests(requests) };
        let rows: Vec<PortalListRow> = self.readers.run(move |connection| Ok(rows.load(connection)?)).await?;
        rows.into_iter().map(PortalRow::try_from).collect()
    }

    async fn matching(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let workspace = Id(workspace.uuid());
        let of = |kind| filter.mine.filter(|(mine, _)| *mine == kind).map(|(_, customer)| Id(customer.uuid()));
        let matching = Matching {
            workspace,
            lane: filter.lane.map(|lane| Id(lane.uuid())),
            tag: filter.tag.as_ref().map(folded),
            voter: of(Mine::Voted),
            author: of(Mine::Written),
            requests: json_requests(requests),
        };
        let ids = self.readers.run(move |connection| Ok(matching.load(connection)?)).await?;
        Ok(request_ids(ids))
    }

    async fn voted_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let workspace = Id(workspace.uuid());
        let voted = VotedAmong { workspace, customer: Id(customer.uuid()), requests: json_requests(requests) };
        let ids = self.readers.run(move |connection| Ok(voted.load(connection)?)).await?;
        Ok(request_ids(ids))
    }
}
