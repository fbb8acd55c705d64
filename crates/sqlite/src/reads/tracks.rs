//! Tracks and lanes, the roadmap, and the feature requests of a track.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
    RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::board::{ListedLane, PortalLane, RoadmapCard, RoadmapLane};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Sort};
use roadmap_domain::model::id::{LaneId, TrackId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::track::{LaneKind, Track};
use roadmap_domain::ports::TrackReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{CardRow, LaneRow, SummaryRow, TrackRow};
use std::collections::HashMap;

use crate::SqliteStore;
use crate::codec::json_texts;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::rows::{SummarySql, mapped_tracks, placed_joins, summary_sql};
use crate::schema::{track_tallies, tracks};
use crate::statement::statement;

statement! {
    /// Selects the lanes in order, with the numbers of public feature requests that they show.
    Lanes { workspace: Id => Binary } -> ((Binary, Text, Text, Text), BigInt),
    "SELECT lanes.id, lanes.name, lanes.kind, lanes.names, (
         SELECT coalesce(sum(track_tallies.public_count), 0) FROM tracks
         CROSS JOIN track_tallies ON track_tallies.workspace_id = tracks.workspace_id
                AND track_tallies.track_id = tracks.id
         WHERE tracks.workspace_id = lanes.workspace_id AND tracks.lane_id = lanes.id
     ) FROM lanes WHERE workspace_id = ? ORDER BY position"
}

statement! {
    /// Selects the most voted public feature requests of each lane, most voted first. Of each track, at most as many
    /// are read as a lane shows.
    MostVoted { per_track: i64 => BigInt, workspace: Id => Binary, per_lane: i64 => BigInt } -> (Binary, SummarySql),
    concat!(
        "WITH candidates (lane, number, votes) AS (
             SELECT tracks.lane_id, tally.row_number, tally.votes_count FROM tracks
             CROSS JOIN vote_tallies tally ON tally.row_number IN (
                 SELECT best.row_number FROM vote_tallies best
                 WHERE best.workspace_id = tracks.workspace_id AND best.track_id = tracks.id AND best.root_id IS NULL
                   AND NOT best.private
                 ORDER BY best.votes_count DESC, best.row_number DESC LIMIT ?
             )
             WHERE tracks.workspace_id = ? AND tracks.lane_id IS NOT NULL
         ),
         ranked (lane, number, rank) AS MATERIALIZED (
             SELECT lane, number, row_number() OVER (PARTITION BY lane ORDER BY votes DESC, number DESC) FROM candidates
         )
         SELECT ranked.lane, ", summary_sql!(), " FROM ranked
         CROSS JOIN feature_requests ON feature_requests.row_number = ranked.number ", placed_joins!(), "
         WHERE ranked.rank <= ? ORDER BY ranked.lane, ranked.rank"
    )
}

const _: () = assert!(RoadmapCard::MAX_TAGS == 2, "as in `Cards`");

/// The types of a feature request on the portal's roadmap: since when it has its status, its number of comments, its tags.
type CardSql = (SummarySql, BigInt, BigInt, Nullable<Text>);

statement! {
    /// Selects the first public feature requests of each lane, as the portal shows them. `latest_first` is a JSON array of
    /// kinds of lanes. Of each track, at most as many are read as a lane shows.
    Cards { workspace: Id => Binary, per_lane: i64 => BigInt, latest_first: String => Text } -> (Binary, CardSql),
    concat!(
        "WITH scope (workspace, per_lane, latest_first) AS (SELECT ?, ?, ?),
         of_lanes (workspace, lane, track, is_latest_first) AS MATERIALIZED (
             SELECT lanes.workspace_id, lanes.id, tracks.id,
                    lanes.kind IN (SELECT value FROM json_each(scope.latest_first))
             FROM scope CROSS JOIN lanes ON lanes.workspace_id = scope.workspace
             CROSS JOIN tracks ON tracks.workspace_id = lanes.workspace_id AND tracks.lane_id = lanes.id
         ),
         candidates (lane, number, key) AS (
             SELECT of_lanes.lane, tally.row_number, tally.votes_count FROM of_lanes
             CROSS JOIN vote_tallies tally ON tally.row_number IN (
                 SELECT best.row_number FROM vote_tallies best
                 WHERE best.workspace_id = of_lanes.workspace AND best.track_id = of_lanes.track
                   AND best.root_id IS NULL AND NOT best.private
                 ORDER BY best.votes_count DESC, best.row_number DESC LIMIT (SELECT per_lane FROM scope)
             )
             WHERE NOT of_lanes.is_latest_first
             UNION ALL
             SELECT of_lanes.lane, request.row_number, request.status_since FROM of_lanes
             CROSS JOIN feature_requests request ON request.row_number IN (
                 SELECT latest.row_number FROM feature_requests latest
                 WHERE latest.workspace_id = of_lanes.workspace AND latest.track_id = of_lanes.track
                   AND latest.root_id IS NULL AND NOT latest.private
                 ORDER BY latest.status_since DESC, latest.row_number DESC LIMIT (SELECT per_lane FROM scope)
             )
             WHERE of_lanes.is_latest_first
         ),
         ranked (lane, number, rank) AS MATERIALIZED (
             SELECT lane, number, row_number() OVER (PARTITION BY lane ORDER BY key DESC, number DESC) FROM candidates
         )
         SELECT ranked.lane, ", summary_sql!(), ", feature_requests.status_since,
                (SELECT count(*) FROM comments
                 WHERE comments.workspace_id = feature_requests.workspace_id
                   AND comments.request_id = feature_requests.id)
                + coalesce((
                    SELECT sum((octet_length(merged.description_text) > 0) + (
                        SELECT count(*) FROM comments
                        WHERE comments.workspace_id = merged.workspace_id AND comments.request_id = merged.id
                    )) FROM feature_requests merged
                    WHERE merged.workspace_id = feature_requests.workspace_id AND merged.root_id = feature_requests.id
                      AND NOT merged.private
                ), 0),
                (SELECT group_concat(tag, char(10)) FROM (
                     SELECT tag FROM feature_request_tags tags
                     WHERE tags.workspace_id = feature_requests.workspace_id AND tags.request_id = feature_requests.id
                     ORDER BY position LIMIT 2))
         FROM ranked CROSS JOIN feature_requests ON feature_requests.row_number = ranked.number ", placed_joins!(), "
         WHERE ranked.rank <= (SELECT per_lane FROM scope) ORDER BY ranked.lane, ranked.rank"
    )
}

/// SQL for a page of the feature requests of a track: the table that the page is read from, a
/// condition, and the order.
macro_rules! track_page {
    ($table:literal, $condition:literal, $order:literal, $column:literal) => {
        concat!(
            "SELECT ",
            summary_sql!(),
            "
             FROM (SELECT row_number FROM ",
            $table,
            "
                   WHERE workspace_id = ? AND track_id = ? AND root_id IS NULL ",
            $condition,
            " ORDER BY ",
            $order,
            " LIMIT ? OFFSET ?) AS page
             CROSS JOIN feature_requests ON feature_requests.row_number = page.row_number ",
            placed_joins!(),
            "
             ORDER BY ",
            $column,
            " DESC, feature_requests.row_number DESC"
        )
    };
}

statement! {
    /// Selects feature requests of a track, most voted first.
    TrackByVotes { workspace: Id => Binary, track: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt }
        -> SummarySql,
    track_page!("vote_tallies", "", "votes_count DESC, row_number DESC", "vote_tallies.votes_count")
}

statement! {
    /// Selects feature requests of a track with smaller numbers than one, newest first.
    TrackByAge {
        workspace: Id => Binary, track: Id => Binary, in_workspace: Id => Binary, before: i64 => BigInt,
        limit: i64 => BigInt, offset: i64 => BigInt,
    } -> SummarySql,
    track_page!(
        "feature_requests",
        "AND row_number < coalesce((SELECT row_number FROM feature_requests WHERE workspace_id = ? AND tag_number >= ?
                                    ORDER BY tag_number LIMIT 1), 9223372036854775807)",
        "row_number DESC",
        "feature_requests.row_number"
    )
}

statement! {
    /// Selects feature requests of a track, last updated first.
    TrackByUpdate { workspace: Id => Binary, track: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt }
        -> SummarySql,
    track_page!("feature_requests", "", "updated_at DESC, row_number DESC", "feature_requests.updated_at")
}

/// Converts rows to lanes. Positions count from 1.
fn listed_lanes(rows: Vec<(LaneRow, i64)>) -> impl Iterator<Item = ListedLane> {
    (1_u64..).zip(rows).map(|(position, (lane, feature_requests_count))| ListedLane {
        lane: lane.into(),
        position,
        feature_requests_count,
    })
}

fn load_track_requests(
    connection: &mut SqliteConnection,
    (workspace, track): (Id, Id),
    sort: Sort,
    page: PageRequest,
) -> Result<Option<Page<SummaryRow>>, SqlError> {
    let total: Option<Option<i64>> = tracks::table
        .left_join(
            track_tallies::table
                .on(track_tallies::workspace_id.eq(tracks::workspace_id).and(track_tallies::track_id.eq(tracks::id))),
        )
        .filter(tracks::workspace_id.eq(workspace))
        .filter(tracks::id.eq(track))
        .select(track_tallies::all_count.nullable())
        .first(connection)
        .optional()?;
    let Some(total) = total.map(Option::unwrap_or_default) else { return Ok(None) };
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let limit = page.limit();
    let rows = match sort {
        Sort::Votes => TrackByVotes { workspace, track, limit, offset }.load(connection)?,
        Sort::Newest => {
            let before = page.before_number();
            TrackByAge { workspace, track, in_workspace: workspace, before, limit, offset }.load(connection)?
        }
        Sort::Updated => TrackByUpdate { workspace, track, limit, offset }.load(connection)?,
    };
    Ok(Some((rows, total)))
}

#[async_trait]
impl TrackReader for SqliteStore {
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<TrackRow> = self
            .readers
            .run(move |connection| {
                Ok(mapped_tracks()
                    .filter(tracks::workspace_id.eq(workspace))
                    .order(tracks::position)
                    .load(connection)?)
            })
            .await?;
        Ok(rows.into_iter().map(Track::from).collect())
    }

    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<(LaneRow, i64)> =
            self.readers.run(move |connection| Ok(Lanes { workspace }.load(connection)?)).await?;
        Ok(listed_lanes(rows).collect())
    }

    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError> {
        let workspace = Id(workspace.uuid());
        let per_lane = i64::from(per_lane);
        let (lanes, requests): (Vec<(LaneRow, i64)>, Vec<(Id, SummaryRow)>) = self
            .readers
            .run_in_snapshot(move |connection| {
                let lanes = Lanes { workspace }.load(connection)?;
                Ok((lanes, MostVoted { per_track: per_lane, workspace, per_lane }.load(connection)?))
            })
            .await?;
        let mut of_lanes: HashMap<LaneId, Vec<FeatureRequestSummary>> = HashMap::new();
        for (lane, row) in requests {
            of_lanes.entry(LaneId::new(lane.0)).or_default().push(row.try_into()?);
        }
        let roadmap_lane = |lane: ListedLane| {
            let feature_requests = of_lanes.remove(&lane.lane.id).unwrap_or_default();
            RoadmapLane { lane, feature_requests }
        };
        Ok(listed_lanes(lanes).map(roadmap_lane).collect())
    }

    async fn portal_roadmap(
        &self,
        workspace: WorkspaceId,
        per_lane: u32,
        latest_first: &[LaneKind],
    ) -> Result<Vec<PortalLane>, StoreError> {
        let workspace = Id(workspace.uuid());
        let per_lane = i64::from(per_lane);
        let latest_first = json_texts(latest_first.iter().map(|kind| kind.as_str()));
        let (lanes, cards): (Vec<(LaneRow, i64)>, Vec<(Id, CardRow)>) = self
            .readers
            .run_in_snapshot(move |connection| {
                let lanes = Lanes { workspace }.load(connection)?;
                Ok((lanes, Cards { workspace, per_lane, latest_first }.load(connection)?))
            })
            .await?;
        let mut of_lanes: HashMap<LaneId, Vec<RoadmapCard>> = HashMap::new();
        for (lane, row) in cards {
            of_lanes.entry(LaneId::new(lane.0)).or_default().push(row.try_into()?);
        }
        let portal_lane = |lane: ListedLane| {
            let cards = of_lanes.remove(&lane.lane.id).unwrap_or_default();
            PortalLane { lane, cards }
        };
        Ok(listed_lanes(lanes).map(portal_lane).collect())
    }

    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError> {
        let (workspace, track) = (Id(workspace.uuid()), Id(track.uuid()));
        let load =
            move |connection: &mut SqliteConnection| load_track_requests(connection, (workspace, track), sort, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, FeatureRequestSummary::try_from)).transpose()
    }
}
