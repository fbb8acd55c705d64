//! Lists of feature requests with a tag, or of one person, on the pages of the portal. They are sorted, after at most
//! [`PortalList::TAG_LIMIT`] rows were selected.

use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::portal::{Mine, PortalFilter, PortalList, PortalSort};
use roadmap_domain::policy::trending::WantedRanking;
use roadmap_store::columns::first_id_at;
use roadmap_store::rows::{PortalListRow, limits};
use uuid::Uuid;

use super::{RankingColumns, RankingRow, RowColumns, new_ideas, ranking, row};
use crate::session::Session;
use crate::statement::{placed, statement};

/// The SQL of the common table expression `selected`: the feature requests with a tag, or those that a customer has voted
/// for or written, with all conditions of the filter. The newest `scan_limit` are considered: IDs begin with the
/// creation timestamp. The subqueries with an offset are looked up one by one.
macro_rules! selected {
    () => {
        "candidates AS MATERIALIZED (
             (SELECT request_id FROM feature_request_tags
              WHERE workspace_id = {workspace} AND tag_folded = {tag} AND {customer} IS NULL
              ORDER BY request_id DESC LIMIT {scan_limit})
             UNION
             (SELECT coalesce(root_id, voted.request_id) FROM (
                  SELECT request_id FROM votes
                  WHERE workspace_id = {workspace} AND customer_id = {customer} AND NOT {is_author}
                  ORDER BY request_id DESC LIMIT {scan_limit}
              ) AS voted
              CROSS JOIN LATERAL (
                  SELECT root_id FROM vote_tallies
                  WHERE workspace_id = {workspace} AND request_id = voted.request_id OFFSET 0
              ) AS tallies)
             UNION
             (SELECT id FROM feature_requests
              WHERE workspace_id = {workspace} AND author_id = {customer} AND {is_author}
              ORDER BY tag_number DESC LIMIT {scan_limit})
         ), selected AS MATERIALIZED (
             SELECT candidates.request_id, tag_number, track_id, votes_count, trend, updated_at FROM candidates
             CROSS JOIN LATERAL (
                 SELECT tag_number, track_id, updated_at FROM feature_requests
                 WHERE workspace_id = {workspace} AND id = candidates.request_id AND root_id IS NULL
                   AND (NOT private OR author_id = {customer}) OFFSET 0
             ) AS requests
             CROSS JOIN LATERAL (
                 SELECT votes_count, trend FROM vote_tallies
                 WHERE workspace_id = {workspace} AND request_id = candidates.request_id OFFSET 0
             ) AS tallies
             WHERE ({lane} IS NULL OR track_id IN (
                 SELECT id FROM tracks WHERE workspace_id = {workspace} AND lane_id = {lane}))
               AND ({tag} IS NULL OR {customer} IS NULL OR EXISTS (
                   SELECT FROM feature_request_tags AS tags
                   WHERE tags.workspace_id = {workspace} AND tags.request_id = candidates.request_id
                     AND tags.tag_folded = {tag}))
         )"
    };
}

statement! {
    /// Selects a page of the feature requests of a filter with a tag or a customer, in the order with this name.
    SelectedPage {
        workspace: Uuid => SqlUuid,
        lane: Option<Uuid> => Nullable<SqlUuid>,
        tag: Option<String> => Nullable<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_author: bool => Bool,
        scan_limit: i64 => BigInt,
        sort: String => Text,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<RowColumns>),
    concat!("WITH ", selected!(), ", page AS MATERIALIZED (
         SELECT request_id, row_number() OVER (
             ORDER BY CASE {sort} WHEN 'votes' THEN votes_count END DESC, CASE {sort} WHEN 'updated' THEN updated_at END DESC,
                      CASE {sort} WHEN 'oldest' THEN tag_number END, tag_number DESC
         ) AS place
         FROM selected ORDER BY place LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT ", row!(), ", place FROM page
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
         ", placed!(), "
     )
     SELECT total, id, tag_number, title, track, lane, votes_count, created_at, excerpt, private, awaiting_approval,
            status_since
     FROM (SELECT count(*) AS total FROM selected) AS total LEFT JOIN listed ON true ORDER BY place")
}

statement! {
    /// Counts the feature requests of a filter with a tag or a customer, by lane.
    SelectedLanes {
        workspace: Uuid => SqlUuid,
        lane: Option<Uuid> => Nullable<SqlUuid>,
        tag: Option<String> => Nullable<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_author: bool => Bool,
        scan_limit: i64 => BigInt,
    } -> (Text, BigInt),
    concat!("WITH ", selected!(), "
     SELECT lanes.name, count(*) FROM selected
     JOIN tracks ON tracks.workspace_id = {workspace} AND tracks.id = track_id
     JOIN lanes ON lanes.workspace_id = {workspace} AND lanes.id = lane_id
     GROUP BY lanes.name")
}

statement! {
    /// Ranks the feature requests of a filter with a tag.
    SelectedRanking {
        workspace: Uuid => SqlUuid,
        lane: Option<Uuid> => Nullable<SqlUuid>,
        tag: Option<String> => Nullable<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_author: bool => Bool,
        scan_limit: i64 => BigInt,
        closed: Vec<Uuid> => Array<SqlUuid>,
        first_new: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> RankingColumns,
    concat!("WITH ", selected!(), ", newest AS MATERIALIZED (
         SELECT request_id, tag_number, trend, votes_count >= 2 AS is_voted, track_id <> ALL ({closed}) AS is_open
         FROM selected
     ), ", new_ideas!(), " ", ranking!(
        "count(*), count(*) FILTER (WHERE is_open) FROM newest", "SELECT * FROM newest"))
}

statement! {
    /// Selects which of these public feature requests match a filter.
    Matching {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        lane: Option<Uuid> => Nullable<SqlUuid>,
        tag: Option<String> => Nullable<Text>,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        is_author: bool => Bool,
    } -> SqlUuid,
    "SELECT id FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ANY ({requests}) AND NOT private AND root_id IS NULL
       AND ({lane} IS NULL OR track_id IN (
           SELECT id FROM tracks WHERE workspace_id = {workspace} AND lane_id = {lane}))
       AND ({tag} IS NULL OR EXISTS (
           SELECT FROM feature_request_tags AS tags
           WHERE tags.workspace_id = {workspace} AND tags.request_id = feature_requests.id AND tag_folded = {tag}))
       AND CASE
           WHEN {customer} IS NULL THEN true
           WHEN {is_author} THEN author_id = {customer}
           ELSE EXISTS (
               SELECT FROM (
                   SELECT feature_requests.id AS request_id UNION ALL
                   SELECT merged.id FROM feature_requests AS merged
                   WHERE merged.workspace_id = {workspace} AND merged.root_id = feature_requests.id OFFSET 0
               ) AS members
               CROSS JOIN LATERAL (
                   SELECT FROM votes
                   WHERE votes.workspace_id = {workspace} AND votes.request_id = members.request_id
                     AND votes.customer_id = {customer} OFFSET 0
               ) AS vote)
       END"
}

/// The parameters of a filter.
pub(super) struct Parameters {
    pub(super) lane: Option<Uuid>,
    pub(super) tag: Option<String>,
    pub(super) customer: Option<Uuid>,
    pub(super) is_author: bool,
}

impl From<&PortalFilter> for Parameters {
    fn from(filter: &PortalFilter) -> Self {
        Self {
            lane: filter.lane.map(|lane| lane.uuid()),
            tag: filter.tag.as_ref().map(Tag::folded),
            customer: filter.mine.map(|(_, customer)| customer.uuid()),
            is_author: matches!(filter.mine, Some((Mine::Written, _))),
        }
    }
}

/// Selects a page of the feature requests of a filter, with the total.
pub(super) async fn page(
    session: &Session,
    workspace: Uuid,
    filter: &PortalFilter,
    sort: PortalSort,
    limit: i64,
    offset: i64,
) -> Result<Vec<(i64, Option<PortalListRow>)>, StoreError> {
    let Parameters { lane, tag, customer, is_author } = filter.into();
    let sort = if sort == PortalSort::Trending { PortalSort::Votes } else { sort };
    let (sort, scan_limit) = (sort.name().to_owned(), i64::from(PortalList::TAG_LIMIT));
    let page = SelectedPage { workspace, lane, tag, customer, is_author, scan_limit, sort, limit, offset };
    session.run(page.load(&mut session.connection()?)).await
}

/// Ranks the feature requests of a filter.
pub(super) async fn ranking(
    session: &Session,
    workspace: Uuid,
    filter: &PortalFilter,
    wanted: &WantedRanking,
) -> Result<RankingRow, StoreError> {
    let Parameters { lane, tag, customer, is_author } = filter.into();
    let (offset, limit) = limits(&wanted.places);
    let ranking = SelectedRanking {
        workspace,
        lane,
        tag,
        customer,
        is_author,
        scan_limit: i64::from(PortalList::TAG_LIMIT),
        closed: wanted.closed.iter().map(|track| track.uuid()).collect(),
        first_new: first_id_at(wanted.new_since),
        limit,
        offset,
    };
    session.run(ranking.get_result(&mut session.connection()?)).await
}

/// Counts the feature requests of a filter in each lane, whatever its own lane.
pub(super) async fn lanes(
    session: &Session,
    workspace: Uuid,
    filter: &PortalFilter,
) -> Result<Vec<(String, i64)>, StoreError> {
    let Parameters { tag, customer, is_author, .. } = filter.into();
    let scan_limit = i64::from(PortalList::TAG_LIMIT);
    let lanes = SelectedLanes { workspace, lane: None, tag, customer, is_author, scan_limit };
    session.run(lanes.load(&mut session.connection()?)).await
}
