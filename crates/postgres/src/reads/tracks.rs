//! Tracks and lanes, the roadmap, and the feature requests of a track.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::board::{ListedLane, PortalLane, RoadmapCard, RoadmapLane};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Sort};
use roadmap_domain::model::id::{TrackId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::track::{LaneKind, Track};
use roadmap_domain::ports::TrackReader;
use roadmap_store::rows::{CardRow, LaneRow, SummaryRow, TrackRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, existing_listing};
use crate::rows::{SummaryColumns, mapped_tracks};
use crate::schema::tracks;
use crate::statement::{placed, statement, summary};

/// The SQL of the common table expression `board`: the lanes with their positions and their numbers of feature requests.
macro_rules! board {
    () => {
        "WITH board AS MATERIALIZED (
             SELECT lanes.id, lanes.name, lanes.kind, lanes.names, row_number() OVER (ORDER BY lanes.position) AS number,
                    (SELECT coalesce(sum(public_count), 0)::bigint FROM tracks
                     JOIN track_tallies ON track_tallies.workspace_id = {workspace} AND track_id = tracks.id
                     WHERE tracks.workspace_id = {workspace} AND lane_id = lanes.id) AS shown
             FROM lanes WHERE workspace_id = {workspace}
         )"
    };
}

statement! {
    /// Selects the lanes with their positions and the number of feature requests that each shows.
    Lanes { workspace: Uuid => SqlUuid } -> LaneColumns,
    concat!(board!(), " SELECT id, name, kind, names, number, shown FROM board ORDER BY number")
}

/// The SQL of the most voted feature requests of a track: each tier of less than 16 votes has a single count, so that it
/// is read in the order of the index. The larger tiers are sorted.
///
/// The track is compared as a part of a row, and ordered by, because only the index by track has that order. With an
/// equality, the planner also takes an index of the whole workspace, and reads all of it for a track with few feature
/// requests.
macro_rules! most_voted {
    ($track:literal, $filter:literal, $limit:literal) => {
        concat!(
            "(SELECT request_id, votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, tier) >= (",
            $track,
            ", 16) AND track_id <= ",
            $track,
            " AND root_id IS NULL",
            $filter,
            " ORDER BY track_id DESC, tier DESC, votes_count DESC, tag_number DESC LIMIT ",
            $limit,
            ") UNION ALL
             (SELECT request_id, votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND (track_id, tier) >= (",
            $track,
            ", 0) AND (track_id, tier) < (",
            $track,
            ", 16) AND root_id IS NULL",
            $filter,
            " ORDER BY track_id DESC, tier DESC, tag_number DESC LIMIT ",
            $limit,
            ")"
        )
    };
}
pub(crate) use most_voted;

statement! {
    /// Selects the lanes, each with its most voted public feature requests. A lane without one is a single row.
    Roadmap { workspace: Uuid => SqlUuid, per_lane: i64 => BigInt } -> (LaneColumns, Nullable<SummaryColumns>),
    concat!(board!(), ", ranked AS (
         SELECT tracks.lane_id, tracks.name AS track, top.request_id,
                row_number() OVER (PARTITION BY lane_id ORDER BY votes_count DESC, tag_number DESC) AS rank
         FROM tracks CROSS JOIN LATERAL (", most_voted!("tracks.id", " AND NOT private", "{per_lane}"), ") AS top
         WHERE tracks.workspace_id = {workspace} AND lane_id IS NOT NULL
     ), best AS MATERIALIZED (
         SELECT lane_id, track, request_id, rank FROM ranked WHERE rank <= {per_lane}
     )
     SELECT board.id, board.name, board.kind, board.names, number, shown, feature_requests.id, feature_requests.tag_number, title, track,
            CASE WHEN best.lane_id IS NOT NULL THEN board.name END, votes_count, created_at
     FROM board
     LEFT JOIN best ON best.lane_id = board.id
     LEFT JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = best.request_id
     LEFT JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = best.request_id
     ORDER BY number, rank")
}

type LaneColumns = ((SqlUuid, Text, Text, Text), BigInt, BigInt);

const _: () = assert!(RoadmapCard::MAX_TAGS == 2, "as in `PortalRoadmap`");

/// The types of a feature request on the portal's roadmap: since when it has its status, its number of comments, its tags.
type CardColumns = (SummaryColumns, Timestamptz, BigInt, Array<Text>);

statement! {
    /// Selects the lanes, each with its first public feature requests as the portal shows them. A lane without one is a
    /// single row. Of each track, at most as many are read as a lane shows. Because of the offset, each card is looked up.
    PortalRoadmap {
        workspace: Uuid => SqlUuid,
        per_lane: i64 => BigInt,
        latest_first: Vec<String> => Array<Text>,
    } -> (LaneColumns, Nullable<CardColumns>),
    concat!(board!(), ", of_lanes AS MATERIALIZED (
         SELECT board.id AS lane_id, tracks.id AS track_id, board.kind = ANY ({latest_first}) AS is_latest_first
         FROM board JOIN tracks ON tracks.workspace_id = {workspace} AND tracks.lane_id = board.id
     ), candidates AS (
         SELECT lane_id, request_id, tag_number, votes_count, NULL::timestamptz AS since FROM of_lanes
         CROSS JOIN LATERAL (", most_voted!("of_lanes.track_id", " AND NOT private", "{per_lane}"), ") AS top
         WHERE NOT is_latest_first
         UNION ALL
         SELECT lane_id, request_id, tag_number, 0, status_since FROM of_lanes
         CROSS JOIN LATERAL (
             SELECT id AS request_id, tag_number, status_since FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = of_lanes.track_id AND root_id IS NULL AND NOT private
             ORDER BY status_since DESC, tag_number DESC LIMIT {per_lane}
         ) AS latest
         WHERE is_latest_first
     ), ranked AS (
         SELECT lane_id, request_id, row_number() OVER (
             PARTITION BY lane_id ORDER BY since DESC, votes_count DESC, tag_number DESC
         ) AS rank FROM candidates
     ), best AS MATERIALIZED (
         SELECT lane_id, request_id, rank FROM ranked WHERE rank <= {per_lane}
     ), cards AS (
         SELECT lane_id, rank, card.* FROM best CROSS JOIN LATERAL (
             SELECT ", summary!(), ", status_since,
                    (SELECT count(*) FROM comments
                     WHERE comments.workspace_id = {workspace} AND comments.request_id = feature_requests.id)
                    + (SELECT coalesce(sum((merged.description_text <> '')::integer + (
                           SELECT count(*) FROM comments
                           WHERE comments.workspace_id = {workspace} AND comments.request_id = merged.id
                       )), 0)::bigint FROM feature_requests AS merged
                       WHERE merged.workspace_id = {workspace} AND merged.root_id = feature_requests.id
                         AND NOT merged.private) AS comments_count,
                    ARRAY(SELECT tag FROM feature_request_tags AS tags
                          WHERE tags.workspace_id = {workspace} AND tags.request_id = feature_requests.id
                          ORDER BY position LIMIT 2) AS tags
             FROM feature_requests ", placed!(), "
             WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = best.request_id OFFSET 0
         ) AS card
     )
     SELECT board.id, board.name, board.kind, board.names, number, shown, cards.id, tag_number, title, track, lane, votes_count,
            created_at, status_since, comments_count, tags
     FROM board LEFT JOIN cards ON cards.lane_id = board.id ORDER BY number, rank")
}

/// The SQL of a page of a track's feature requests, with the total. The parameter is the common table expression `page`,
/// with the ID and the place of each. Returns no row if the track does not exist.
macro_rules! track_page {
    ($page:expr) => {
        concat!(
            "WITH track AS MATERIALIZED (
                 SELECT tracks.name AS track, lanes.name AS lane, coalesce(all_count, 0) AS total FROM tracks
                 LEFT JOIN lanes ON lanes.workspace_id = {workspace} AND lanes.id = lane_id
                 LEFT JOIN track_tallies
                        ON track_tallies.workspace_id = {workspace} AND track_tallies.track_id = tracks.id
                 WHERE tracks.workspace_id = {workspace} AND tracks.id = {track}
             ), page AS MATERIALIZED (",
            $page,
            "), listed AS (
                 SELECT place, feature_requests.id, feature_requests.tag_number, title, votes_count, created_at
                 FROM page
                 JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.id
                 JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = page.id
             )
             SELECT total, id, tag_number, title, track, lane, votes_count, created_at
             FROM track LEFT JOIN listed ON true ORDER BY place"
        )
    };
}

statement! {
    /// Selects a page of a track's feature requests, most voted first.
    MostVotedPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
        scan_limit: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(concat!(
        "SELECT request_id AS id, row_number() OVER (ORDER BY votes_count DESC, tag_number DESC) AS place
         FROM (", most_voted!("{track}", "", "{scan_limit}"), ") AS top
         ORDER BY place LIMIT {limit} OFFSET {offset}"
    ))
}

statement! {
    /// Selects a page of a track's feature requests with smaller numbers than one, newest first.
    NewestPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        before: i64 => BigInt,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(
        "SELECT id, row_number() OVER (ORDER BY tag_number DESC) AS place FROM (
             SELECT id, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = {track} AND root_id IS NULL AND tag_number < {before}
             ORDER BY tag_number DESC LIMIT {limit} OFFSET {offset}
         ) AS newest"
    )
}

statement! {
    /// Selects a page of a track's feature requests, last updated first.
    LastUpdatedPage {
        workspace: Uuid => SqlUuid,
        track: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    track_page!(
        "SELECT id, row_number() OVER (ORDER BY updated_at DESC, tag_number DESC) AS place FROM (
             SELECT id, updated_at, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = {track} AND root_id IS NULL
             ORDER BY updated_at DESC, tag_number DESC LIMIT {limit} OFFSET {offset}
         ) AS updated"
    )
}

fn listed_lane((lane, position, requests_count): (LaneRow, i64, i64)) -> ListedLane {
    ListedLane { lane: lane.into(), position: position.unsigned_abs(), feature_requests_count: requests_count }
}

#[async_trait]
impl TrackReader for PostgresReader {
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError> {
        let session = self.session(workspace).await?;
        let tracks = mapped_tracks().filter(tracks::workspace_id.eq(workspace.uuid())).order(tracks::position);
        let rows: Vec<TrackRow> = session.run(tracks.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(Track::from).collect())
    }

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError> {
        let session = self.session(workspace).await?;
        let lanes = Lanes { workspace: workspace.uuid() };
        let rows: Vec<(LaneRow, i64, i64)> = session.run(lanes.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(listed_lane).collect())
    }

    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError> {
        let session = self.session(workspace).await?;
        let roadmap = Roadmap { workspace: workspace.uuid(), per_lane: i64::from(per_lane) };
        let rows: Vec<((LaneRow, i64, i64), Option<SummaryRow>)> =
            session.run(roadmap.load(&mut session.connection()?)).await?;
        let mut lanes: Vec<RoadmapLane> = Vec::new();
        for (lane, request) in rows {
            let lane = listed_lane(lane);
            let request = request.map(FeatureRequestSummary::try_from).transpose()?;
            match lanes.last_mut() {
                Some(last) if last.lane.lane.id == lane.lane.id => last.feature_requests.extend(request),
                _ => lanes.push(RoadmapLane { lane, feature_requests: request.into_iter().collect() }),
            }
        }
        Ok(lanes)
    }

    async fn portal_roadmap(
        &self,
        workspace: WorkspaceId,
        per_lane: u32,
        latest_first: &[LaneKind],
    ) -> Result<Vec<PortalLane>, StoreError> {
        let session = self.session(workspace).await?;
        let roadmap = PortalRoadmap {
            workspace: workspace.uuid(),
            per_lane: i64::from(per_lane),
            latest_first: latest_first.iter().map(|kind| kind.as_str().to_owned()).collect(),
        };
        let rows: Vec<((LaneRow, i64, i64), Option<CardRow>)> =
            session.run(roadmap.load(&mut session.connection()?)).await?;
        let mut lanes: Vec<PortalLane> = Vec::new();
        for (lane, card) in rows {
            let lane = listed_lane(lane);
            let card = card.map(RoadmapCard::try_from).transpose()?;
            match lanes.last_mut() {
                Some(last) if last.lane.lane.id == lane.lane.id => last.cards.extend(card),
                _ => lanes.push(PortalLane { lane, cards: card.into_iter().collect() }),
            }
        }
        Ok(lanes)
    }

    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError> {
        let session = self.session(workspace).await?;
        let (workspace, track) = (workspace.uuid(), track.uuid());
        let (limit, offset) = (page.limit(), page.offset().unwrap_or(BEYOND));
        let rows: Vec<(i64, Option<SummaryRow>)> = match sort {
            Sort::Votes => {
                let scan_limit = offset.saturating_add(limit);
                let page = MostVotedPage { workspace, track, limit, offset, scan_limit };
                session.run(page.load(&mut session.connection()?)).await?
            }
            Sort::Newest => {
                let page = NewestPage { workspace, track, before: page.before_number(), limit, offset };
                session.run(page.load(&mut session.connection()?)).await?
            }
            Sort::Updated => {
                let page = LastUpdatedPage { workspace, track, limit, offset };
                session.run(page.load(&mut session.connection()?)).await?
            }
        };
        existing_listing(rows, page, FeatureRequestSummary::try_from)
    }
}
