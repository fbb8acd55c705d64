//! Lists of feature requests on the portal: which statements a filter needs.

pub(crate) mod rows;
pub(crate) mod selections;
pub(crate) mod tracks;
pub(crate) mod trending;

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{Mine, PortalFilter, PortalList, PortalRow, PortalSort};
use roadmap_domain::model::text::Name;
use roadmap_domain::policy::trending::{Ranking, WantedRanking};
use roadmap_domain::ports::PortalListReader;
use roadmap_store::columns::{Id, first_id_at};
use roadmap_store::rows::{PortalListRow, limits};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use rows::{Matching, Rows, VotedAmong, json_requests, request_ids};
use selections::{
    CountTagged, CountVoted, CountWritten, TaggedLanes, TaggedPage, VotedLanes, VotedPage, WrittenLanes, WrittenPage,
};
use tracks::{CountPublic, LastUpdatedPage, MostVotedPage, NewestPage, OldestPage};
use trending::{CountOfTag, CountOfTracks, MAX_NEW, NewOfTag, NewOfTracks, RankingOfTag, RankingOfTracks};

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

/// How many feature requests there are, and how many of them are open; the new ideas, and the others.
type RankingRows = ((i64, i64), Vec<Id>, Vec<Id>);

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
            tag: filter.tag.as_ref().map(Tag::folded),
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

    /// Counts what it chooses in each lane.
    fn lanes(self, connection: &mut SqliteConnection) -> Result<Vec<(String, i64)>, SqlError> {
        let Self { workspace, tag, customer, scan_limit, kind, .. } = self;
        let lane = None;
        Ok(match kind {
            FilterKind::Tracks => Vec::new(),
            FilterKind::Tagged => TaggedLanes { workspace, lane, tag, customer, scan_limit }.load(connection)?,
            FilterKind::Voted => VotedLanes { workspace, lane, tag, customer, scan_limit }.load(connection)?,
            FilterKind::Written => WrittenLanes { workspace, lane, tag, customer, scan_limit }.load(connection)?,
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

    /// Ranks what it chooses.
    fn ranking(
        self,
        connection: &mut SqliteConnection,
        closed: String,
        first_new: Id,
        offset: i64,
        limit: i64,
    ) -> Result<RankingRows, SqlError> {
        let Self { workspace, lane, tag, scan_limit, .. } = self;
        let Some(tag) = tag else {
            let counts: (i64, i64) =
                CountOfTracks { workspace, lane, closed: closed.clone() }.get_result(connection)?;
            let new = NewOfTracks { workspace, lane, closed: closed.clone(), first_new };
            let new: Vec<Id> = new.load(connection)?;
            // The new ideas are left out afterwards.
            let scan_limit = offset.saturating_add(limit).saturating_add(MAX_NEW);
            let only_open = counts.1 >= scan_limit;
            let new_ids = json_ids(&new);
            let others =
                RankingOfTracks { workspace, lane, closed, scan_limit, only_open, new: new_ids, limit, offset };
            return Ok((counts, new, others.load(connection)?));
        };
        let counts = CountOfTag { workspace, lane, closed: closed.clone(), tag: tag.clone(), scan_limit };
        let counts = counts.get_result(connection)?;
        let new = NewOfTag { workspace, lane, closed: closed.clone(), tag: tag.clone(), scan_limit, first_new };
        let new: Vec<Id> = new.load(connection)?;
        let others = RankingOfTag { workspace, lane, closed, tag, scan_limit, new: json_ids(&new), limit, offset };
        Ok((counts, new, others.load(connection)?))
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

    async fn trending(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        wanted: &WantedRanking,
    ) -> Result<Ranking, StoreError> {
        let filter = Filter::new(Id(workspace.uuid()), filter);
        let (offset, limit) = limits(&wanted.places);
        let closed: Vec<Id> = wanted.closed.iter().map(|track| Id(track.uuid())).collect();
        let (closed, first_new) = (json_ids(&closed), Id(first_id_at(wanted.new_since)));
        let ranking =
            move |connection: &mut SqliteConnection| filter.ranking(connection, closed, first_new, offset, limit);
        let ((total, open), new, others) = self.readers.run_in_snapshot(ranking).await?;
        let (total, open) = (total.unsigned_abs(), open.unsigned_abs());
        Ok(Ranking { total, open, new: request_ids(new), others: request_ids(others) })
    }

    async fn lane_counts(&self, workspace: WorkspaceId, filter: &PortalFilter) -> Result<Vec<(Name, u64)>, StoreError> {
        let filter = Filter::new(Id(workspace.uuid()), filter);
        let counts = self.readers.run(move |connection| filter.lanes(connection)).await?;
        Ok(counts.into_iter().map(|(name, count)| (Name::from_stored(name), count.unsigned_abs())).collect())
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
            tag: filter.tag.as_ref().map(Tag::folded),
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
