//! Lists of feature requests on the pages of the portal.
//!
//! A list without a tag and without a person is merged from the first rows of each track, which indexes have in order.
//! Others are sorted (`selections.rs`).

mod selections;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Description;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::portal::{PortalFilter, PortalList, PortalRow, PortalSort};
use roadmap_domain::model::text::Name;
use roadmap_domain::policy::trending::{self, Ranking, WantedRanking};
use roadmap_domain::ports::PortalListReader;
use roadmap_store::columns::first_id_at;
use roadmap_store::rows::{PortalListRow, limits};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::listing;
use crate::reads::tracks::most_voted;
use crate::rows::SummaryColumns;
use crate::statement::{placed, statement};
use selections::{Matching, Parameters};

/// The types of a row of a list: the feature request, the beginning of its description, whether it is private,
/// whether it awaits approval, and since when it has its status.
pub(super) type RowColumns = (SummaryColumns, Text, Bool, Bool, Timestamptz);
/// The SQL of the columns of [`RowColumns`], after `placed` feature requests, with [`Description::EXCERPT_MAX`] characters
/// of the description.
macro_rules! row {
    () => {
        concat!(
            crate::statement::summary!(),
            ", substr(description_text, 1, 500) AS excerpt, feature_requests.private, awaiting_approval, status_since"
        )
    };
}
pub(super) use row;

const _: () = assert!(Description::EXCERPT_MAX == 500, "as in `row!`");

/// The SQL of the common table expression `track_set`: the tracks of a lane, or all of them.
macro_rules! track_set {
    () => {
        "track_set AS MATERIALIZED (
             SELECT tracks.id, coalesce(public_count, 0) AS public_count FROM tracks
             LEFT JOIN track_tallies
                    ON track_tallies.workspace_id = {workspace} AND track_tallies.track_id = tracks.id
             WHERE tracks.workspace_id = {workspace} AND ({lane} IS NULL OR lane_id = {lane})
         )"
    };
}

/// The SQL of the newest or the oldest public feature requests of a track, compared as in [`most_voted`].
macro_rules! numbered {
    ($direction:literal, $limit:literal) => {
        concat!(
            "SELECT id AS request_id, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND (track_id, tag_number) >= (track_set.id, 0)
               AND track_id <= track_set.id
               AND root_id IS NULL AND NOT private
             ORDER BY track_id ",
            $direction,
            ", tag_number ",
            $direction,
            " LIMIT ",
            $limit
        )
    };
}

/// The SQL of a page of public feature requests, with the total. The parameters are the first ones of a track, and the
/// order.
macro_rules! merged_page {
    ($top:expr, $order:literal) => {
        concat!("WITH ", track_set!(), ", page AS MATERIALIZED (
             SELECT request_id, row_number() OVER () AS place FROM (
                 SELECT top.* FROM track_set CROSS JOIN LATERAL (", $top, ") AS top
                 ORDER BY ", $order, " LIMIT {limit} OFFSET {offset}
             ) AS top
         ), listed AS (
             SELECT ", row!(), ", place FROM page
             JOIN feature_requests
               ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
             ", placed!(), "
         )
         SELECT total, id, tag_number, title, track, lane, votes_count, created_at, excerpt, private, awaiting_approval,
            status_since
         FROM (SELECT coalesce(sum(public_count), 0)::bigint AS total FROM track_set) AS total
         LEFT JOIN listed ON true ORDER BY place")
    };
}

/// Declares a statement with the parameters of [`merged_page`].
macro_rules! merged_list {
    ($(#[$doc:meta])* $name:ident, $top:expr, $order:literal) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Uuid => SqlUuid,
                lane: Option<Uuid> => Nullable<SqlUuid>,
                limit: i64 => BigInt,
                offset: i64 => BigInt,
                scan_limit: i64 => BigInt,
            } -> (BigInt, Nullable<RowColumns>),
            merged_page!($top, $order)
        }
    };
}

merged_list! {
    /// Selects a page of public feature requests, most voted first.
    MostVotedPage, most_voted!("track_set.id", " AND NOT private", "{scan_limit}"), "votes_count DESC, tag_number DESC"
}

merged_list! {
    /// Selects a page of public feature requests, newest first.
    NewestPage, numbered!("DESC", "{scan_limit}"), "tag_number DESC"
}

merged_list! {
    /// Selects a page of public feature requests, oldest first.
    OldestPage, numbered!("ASC", "{scan_limit}"), "tag_number"
}

merged_list! {
    /// Selects a page of public feature requests, last updated first.
    LastUpdatedPage,
    "SELECT id AS request_id, updated_at, tag_number FROM feature_requests
     WHERE workspace_id = {workspace} AND track_id = track_set.id AND root_id IS NULL AND NOT private
     ORDER BY updated_at DESC, tag_number DESC LIMIT {scan_limit}",
    "updated_at DESC, tag_number DESC"
}

/// The types of a ranking: how many there are, and how many of them are open, the new ideas, and the others.
pub(super) type RankingColumns = (BigInt, BigInt, Array<SqlUuid>, Array<SqlUuid>);

/// A row of [`RankingColumns`].
pub(super) type RankingRow = (i64, i64, Vec<Uuid>, Vec<Uuid>);

/// [`trending::MAX_NEW`].
const MAX_NEW: i64 = 10;

const _: () = assert!(trending::MIN_VOTES == 2, "as in `new_ideas!` and the column `trend_tier`");
const _: () = assert!(trending::MAX_NEW == MAX_NEW.unsigned_abs(), "as in `new_ideas!`");
const _: () = assert!(trending::HALF_LIFE.whole_seconds() == 2_592_000, "as in `vote_weight`");
const _: () = assert!(trending::WEIGHT_OF_ONE == 1_767_225_600_000, "as in `vote_weight`");
const _: () = assert!(trending::MAX_EXPONENT == 1_000, "as in `vote_weight`");

/// The SQL of the new ideas among those that a common table expression `newest (request_id, tag_number, is_open)` has.
macro_rules! new_ideas {
    () => {
        "new AS MATERIALIZED (
             SELECT request_id, tag_number FROM newest
             CROSS JOIN LATERAL (
                 SELECT FROM vote_tallies
                 WHERE workspace_id = {workspace} AND request_id = newest.request_id AND votes_count < 2 OFFSET 0
             ) AS tallies
             WHERE is_open AND newest.request_id >= {first_new} ORDER BY tag_number DESC LIMIT 10
         )"
    };
}

/// The SQL of a ranking: the SQL of the counts, with their table, and of those that are ranked, with the columns
/// `request_id`, `is_open`, `is_voted`, `trend` and `tag_number`.
macro_rules! ranking {
    ($counts:literal, $ranked:expr) => {
        concat!(
            "SELECT counts.*, ARRAY(SELECT request_id FROM new ORDER BY tag_number DESC), ARRAY(
                 SELECT request_id FROM (",
            $ranked,
            ") AS ranked WHERE request_id NOT IN (SELECT request_id FROM new)
                 ORDER BY is_open DESC, is_voted DESC, trend DESC, tag_number DESC LIMIT {limit} OFFSET {offset}
             ) FROM (SELECT ",
            $counts,
            ") AS counts"
        )
    };
}
pub(super) use {new_ideas, ranking};

statement! {
    /// Ranks the public feature requests of a lane, or of all. The first ones of each track are read step by step of
    /// their sums; those without a vote, which may be many in one step, by number. Closed
    /// tracks are read if there is not enough on the others.
    RankingOfTracks {
        workspace: Uuid => SqlUuid,
        lane: Option<Uuid> => Nullable<SqlUuid>,
        closed: Vec<Uuid> => Array<SqlUuid>,
        first_new: Uuid => SqlUuid,
        scan_limit: i64 => BigInt,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> RankingColumns,
    concat!("WITH track_set AS MATERIALIZED (
         SELECT tracks.id, coalesce(public_count, 0) AS public_count, tracks.id <> ALL ({closed}) AS is_open FROM tracks
         LEFT JOIN track_tallies ON track_tallies.workspace_id = {workspace} AND track_tallies.track_id = tracks.id
         WHERE tracks.workspace_id = {workspace} AND ({lane} IS NULL OR lane_id = {lane})
     ), newest AS MATERIALIZED (
         SELECT request_id, tag_number, is_open FROM track_set
         CROSS JOIN LATERAL (", numbered!("DESC", "10"), ") AS newest WHERE is_open
     ), ", new_ideas!(), " ", ranking!(
        "coalesce(sum(public_count), 0)::bigint, coalesce(sum(public_count) FILTER (WHERE is_open), 0)::bigint
         FROM track_set",
        "SELECT top.*, is_open FROM track_set CROSS JOIN LATERAL (
             (SELECT request_id, votes_count >= 2 AS is_voted, trend, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, trend_tier) >= (track_set.id, -140000)
                AND track_id <= track_set.id AND root_id IS NULL AND NOT private
              ORDER BY track_id DESC, trend_tier DESC, trend DESC, tag_number DESC LIMIT {scan_limit})
             UNION ALL
             (SELECT request_id, votes_count >= 2 AS is_voted, trend, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, trend_tier) >= (track_set.id, -150000)
                AND (track_id, trend_tier) < (track_set.id, -140000) AND root_id IS NULL AND NOT private
              ORDER BY track_id DESC, trend_tier DESC, tag_number DESC LIMIT {scan_limit})
         ) AS top
         WHERE is_open OR {scan_limit} > (SELECT coalesce(sum(public_count), 0) FROM track_set WHERE is_open)"))
}

statement! {
    /// Selects public feature requests in the given order.
    Rows { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> RowColumns,
    concat!("SELECT ", row!(), " FROM unnest({requests}) WITH ORDINALITY AS wanted (request_id, place)
     JOIN feature_requests
       ON feature_requests.workspace_id = {workspace} AND feature_requests.id = wanted.request_id
     ", placed!(), "
     WHERE NOT feature_requests.private AND feature_requests.root_id IS NULL ORDER BY place")
}

statement! {
    /// Selects which of these feature requests a customer has voted for, or for one that is merged into it.
    VotedAmong {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
    } -> SqlUuid,
    "SELECT DISTINCT wanted.request_id FROM unnest({requests}) AS wanted (request_id)
     CROSS JOIN LATERAL (
         SELECT wanted.request_id AS member_id UNION ALL
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = wanted.request_id OFFSET 0
     ) AS members
     CROSS JOIN LATERAL (
         SELECT FROM votes
         WHERE workspace_id = {workspace} AND request_id = member_id AND customer_id = {customer} OFFSET 0
     ) AS vote"
}

/// Whether the rows of a filter can be read in their order.
fn is_ordered(filter: &PortalFilter) -> bool {
    filter.tag.is_none() && filter.mine.is_none()
}

/// Returns the IDs as parameters.
pub(crate) fn ids(requests: &[FeatureRequestId]) -> Vec<Uuid> {
    requests.iter().map(|request| request.uuid()).collect()
}

#[async_trait]
impl PortalListReader for PostgresReader {
    async fn portal_list(&self, workspace: WorkspaceId, list: &PortalList) -> Result<Listing<PortalRow>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let PortalList { filter, sort, page } = list;
        // No rows are read of a page that is too far.
        let is_read = page.page() <= PortalList::MAX_PAGE;
        let (limit, offset) = if is_read { (page.limit(), page.offset().unwrap_or(0)) } else { (0, 0) };
        let rows: Vec<(i64, Option<PortalListRow>)> = if is_ordered(filter) {
            let (lane, scan_limit) = (filter.lane.map(|lane| lane.uuid()), offset.saturating_add(limit));
            match sort {
                PortalSort::Trending | PortalSort::Votes => {
                    let page = MostVotedPage { workspace, lane, limit, offset, scan_limit };
                    session.run(page.load(&mut session.connection()?)).await?
                }
                PortalSort::Newest => {
                    let page = NewestPage { workspace, lane, limit, offset, scan_limit };
                    session.run(page.load(&mut session.connection()?)).await?
                }
                PortalSort::Oldest => {
                    let page = OldestPage { workspace, lane, limit, offset, scan_limit };
                    session.run(page.load(&mut session.connection()?)).await?
                }
                PortalSort::Updated => {
                    let page = LastUpdatedPage { workspace, lane, limit, offset, scan_limit };
                    session.run(page.load(&mut session.connection()?)).await?
                }
            }
        } else {
            selections::page(&session, workspace, filter, *sort, limit, offset).await?
        };
        listing(rows, *page, PortalRow::try_from)
    }

    async fn trending(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        wanted: &WantedRanking,
    ) -> Result<Ranking, StoreError> {
        let session = self.session(workspace).await?;
        let (total, open, new, others): RankingRow = if is_ordered(filter) {
            let (offset, limit) = limits(&wanted.places);
            let ranking = RankingOfTracks {
                workspace: workspace.uuid(),
                lane: filter.lane.map(|lane| lane.uuid()),
                closed: wanted.closed.iter().map(|track| track.uuid()).collect(),
                first_new: first_id_at(wanted.new_since),
                // The new ideas are left out afterwards.
                scan_limit: offset.saturating_add(limit).saturating_add(MAX_NEW),
                limit,
                offset,
            };
            session.run(ranking.get_result(&mut session.connection()?)).await?
        } else {
            selections::ranking(&session, workspace.uuid(), filter, wanted).await?
        };
        let ids = |ids: Vec<Uuid>| ids.into_iter().map(FeatureRequestId::new).collect();
        Ok(Ranking { total: total.unsigned_abs(), open: open.unsigned_abs(), new: ids(new), others: ids(others) })
    }

    async fn lane_counts(&self, workspace: WorkspaceId, filter: &PortalFilter) -> Result<Vec<(Name, u64)>, StoreError> {
        let session = self.session(workspace).await?;
        let counts = selections::lanes(&session, workspace.uuid(), filter).await?;
        Ok(counts.into_iter().map(|(name, count)| (Name::from_stored(name), count.unsigned_abs())).collect())
    }

    async fn portal_rows(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<PortalRow>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let rows = Rows { workspace, requests: ids(requests) };
        let rows: Vec<PortalListRow> = session.run(rows.load(&mut session.connection()?)).await?;
        rows.into_iter().map(PortalRow::try_from).collect()
    }

    async fn matching(
        &self,
        workspace: WorkspaceId,
        filter: &PortalFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let Parameters { lane, tag, customer, is_author } = filter.into();
        let matching = Matching { workspace, requests: ids(requests), lane, tag, customer, is_author };
        let ids: Vec<Uuid> = session.run(matching.load(&mut session.connection()?)).await?;
        Ok(ids.into_iter().map(FeatureRequestId::new).collect())
    }

    async fn voted_among(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let voted = VotedAmong { workspace, customer: customer.uuid(), requests: ids(requests) };
        let ids: Vec<Uuid> = session.run(voted.load(&mut session.connection()?)).await?;
        Ok(ids.into_iter().map(FeatureRequestId::new).collect())
    }
}
