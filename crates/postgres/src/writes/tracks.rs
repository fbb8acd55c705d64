//! Tracks and lanes.

use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::board::Board;
use roadmap_domain::model::event::{EventContent, Move};
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::{Lane, Placement, Track};
use roadmap_domain::ports::TrackWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{LaneRow, TrackRow};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::mapped_tracks;
use crate::schema::{feature_requests, lanes, tracks};
use crate::statement::{inserted_events, statement};
use crate::unit::PostgresUnit;

statement! {
    /// Deletes the tracks that are not on a board.
    DeleteTracks { workspace: Uuid => SqlUuid, tracks: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "DELETE FROM tracks WHERE workspace_id = {workspace} AND id <> ALL ({tracks})"
}

statement! {
    /// Takes tracks off the lanes that are not on a board.
    LeaveLanes { workspace: Uuid => SqlUuid, lanes: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "UPDATE tracks SET lane_id = NULL WHERE workspace_id = {workspace} AND lane_id <> ALL ({lanes})"
}

statement! {
    /// Deletes the lanes that are not on a board.
    DeleteLanes { workspace: Uuid => SqlUuid, lanes: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "DELETE FROM lanes WHERE workspace_id = {workspace} AND id <> ALL ({lanes})"
}

statement! {
    /// Inserts or changes lanes. Names and positions are compared at the end of the statement.
    SaveLanes {
        workspace: Uuid => SqlUuid,
        lanes: Vec<Uuid> => Array<SqlUuid>,
        names: Vec<String> => Array<Text>,
        kinds: Vec<String> => Array<Text>,
        localized: Vec<String> => Array<Text>,
    } -> Untyped,
    "INSERT INTO lanes (workspace_id, id, name, kind, names, position)
     SELECT {workspace}, id, name, kind, names, position
     FROM unnest({lanes}, {names}, {kinds}, {localized}) WITH ORDINALITY AS board (id, name, kind, names, position)
     ON CONFLICT (workspace_id, id) DO UPDATE
     SET name = excluded.name, kind = excluded.kind, names = excluded.names, position = excluded.position
     WHERE (lanes.name, lanes.kind, lanes.names, lanes.position)
           IS DISTINCT FROM (excluded.name, excluded.kind, excluded.names, excluded.position)"
}

statement! {
    /// Inserts or changes tracks. Names and positions are compared at the end of the statement.
    SaveTracks {
        workspace: Uuid => SqlUuid,
        tracks: Vec<Uuid> => Array<SqlUuid>,
        names: Vec<String> => Array<Text>,
        lanes: Vec<Option<Uuid>> => Array<Nullable<SqlUuid>>,
    } -> Untyped,
    "INSERT INTO tracks (workspace_id, id, name, lane_id, position)
     SELECT {workspace}, id, name, lane_id, position
     FROM unnest({tracks}, {names}, {lanes}) WITH ORDINALITY AS board (id, name, lane_id, position)
     ON CONFLICT (workspace_id, id) DO UPDATE
     SET name = excluded.name, lane_id = excluded.lane_id, position = excluded.position
     WHERE (tracks.name, tracks.lane_id, tracks.position)
           IS DISTINCT FROM (excluded.name, excluded.lane_id, excluded.position)"
}

statement! {
    /// Counts the public feature requests of a lane.
    CountLaneRequests { workspace: Uuid => SqlUuid, lane: Uuid => SqlUuid } -> BigInt,
    "SELECT coalesce(sum(public_count), 0)::bigint FROM tracks
     JOIN track_tallies ON track_tallies.workspace_id = {workspace} AND track_id = tracks.id
     WHERE tracks.workspace_id = {workspace} AND lane_id = {lane}"
}

statement! {
    /// Locks the feature requests of a track, in order.
    LockTrackRequests { workspace: Uuid => SqlUuid, track: Uuid => SqlUuid } -> Untyped,
    "SELECT FROM feature_requests WHERE workspace_id = {workspace} AND track_id = {track}
     ORDER BY id FOR NO KEY UPDATE"
}

statement! {
    /// Moves the feature requests of a track, each with an event. The IDs of the events are UUIDs of version 7 (RFC 9562
    /// section 5.7): 48 bits of milliseconds, the version, the variant, and random bits.
    MoveRequests {
        workspace: Uuid => SqlUuid,
        from: Uuid => SqlUuid,
        to: Uuid => SqlUuid,
        changes_status: bool => Bool,
        kind: String => Text,
        details: String => Text,
        actor_kind: String => Text,
        actor_id: Option<Uuid> => Nullable<SqlUuid>,
        actor_name: String => Text,
        millis: i64 => BigInt,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    concat!("WITH moved AS (
         UPDATE feature_requests
         SET track_id = {to}, handled_at = {at}, updated_at = {at},
             status_since = CASE WHEN {changes_status} THEN {at} ELSE status_since END
         WHERE workspace_id = {workspace} AND track_id = {from}
         RETURNING id
     )
     ", inserted_events!("moved"))
}

#[async_trait]
impl TrackWrites for PostgresUnit {
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError> {
        let select =
            mapped_tracks().filter(tracks::workspace_id.eq(self.workspace)).filter(tracks::id.eq(track.uuid()));
        let row: Option<TrackRow> = self.run_optional(select.first(&mut self.connection()?)).await?;
        Ok(row.map(Track::from))
    }

    async fn first_track(&mut self) -> Result<Option<Track>, StoreError> {
        let first = mapped_tracks().filter(tracks::workspace_id.eq(self.workspace)).order(tracks::position);
        let row: Option<TrackRow> = self.run_optional(first.first(&mut self.connection()?)).await?;
        Ok(row.map(Track::from))
    }

    async fn load_board(&mut self) -> Result<Board, StoreError> {
        self.lock_workspace(WorkspaceLock::Board).await?;
        let select = lanes::table.filter(lanes::workspace_id.eq(self.workspace)).order(lanes::position).select((
            lanes::id,
            lanes::name,
            lanes::kind,
            lanes::names,
        ));
        let rows: Vec<LaneRow> = self.run(select.load(&mut self.connection()?)).await?;
        let select = mapped_tracks().filter(tracks::workspace_id.eq(self.workspace)).order(tracks::position);
        let mapped: Vec<TrackRow> = self.run(select.load(&mut self.connection()?)).await?;
        Ok(Board::new(rows.into_iter().map(Lane::from).collect(), mapped.into_iter().map(Track::from).collect()))
    }

    async fn save_board(&mut self, board: &Board) -> Result<(), StoreError> {
        let workspace = self.workspace;
        let lanes: Vec<Uuid> = board.lanes().iter().map(|lane| lane.id.uuid()).collect();
        let tracks: Vec<Uuid> = board.tracks().iter().map(|track| track.id.uuid()).collect();
        let delete = DeleteTracks { workspace, tracks: tracks.clone() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        let leave = LeaveLanes { workspace, lanes: lanes.clone() };
        self.run(leave.execute(&mut self.connection()?)).await?;
        let delete = DeleteLanes { workspace, lanes: lanes.clone() };
        self.run(delete.execute(&mut self.connection()?)).await?;
        let names = board.lanes().iter().map(|lane| lane.name.to_string()).collect();
        let kinds = board.lanes().iter().map(|lane| lane.kind.as_str().to_owned()).collect();
        let localized = board.lanes().iter().map(|lane| lane.names.to_json()).collect();
        let save = SaveLanes { workspace, lanes, names, kinds, localized };
        self.run(save.execute(&mut self.connection()?)).await?;
        let save = SaveTracks {
            workspace,
            tracks,
            names: board.tracks().iter().map(|track| track.name.to_string()).collect(),
            lanes: board.tracks().iter().map(|track| track.lane.as_ref().map(|lane| lane.id.uuid())).collect(),
        };
        self.run(save.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn has_feature_requests(&mut self, track: TrackId) -> Result<bool, StoreError> {
        let rows = feature_requests::table
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::track_id.eq(track.uuid()));
        self.run(diesel::select(exists(rows)).get_result(&mut self.connection()?)).await
    }

    async fn count_lane_requests(&mut self, lane: LaneId) -> Result<i64, StoreError> {
        let count = CountLaneRequests { workspace: self.workspace, lane: lane.uuid() };
        self.run(count.get_result(&mut self.connection()?)).await
    }

    async fn set_status_since(&mut self, track: TrackId, at: Timestamp) -> Result<(), StoreError> {
        let set = diesel::update(feature_requests::table)
            .filter(feature_requests::workspace_id.eq(self.workspace))
            .filter(feature_requests::track_id.eq(track.uuid()))
            .set(feature_requests::status_since.eq(TimestampColumn::from(at)));
        self.run(set.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn move_feature_requests(
        &mut self,
        from: TrackId,
        to: TrackId,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (old, new) = (self.find_track(from).await?, self.find_track(to).await?);
        let (Some(old), Some(new)) = (old, new) else { return Ok(()) };
        let placement = |track: Track| Placement { status: track.status().cloned(), track: track.name };
        let moved = Move { from: placement(old), to: placement(new), comment: None };
        let changes_status = moved.changes_status();
        let moved = EventContent::Moved(moved);
        // Before the feature requests and the tallies, as whoever creates a feature request on the track or moves one to it.
        let lock = tracks::table
            .filter(tracks::workspace_id.eq(self.workspace))
            .filter(tracks::id.eq(from.uuid()))
            .select(tracks::id)
            .for_update();
        let _: Vec<Uuid> = self.run(lock.load(&mut self.connection()?)).await?;
        let lock = LockTrackRequests { workspace: self.workspace, track: from.uuid() };
        self.run(lock.execute(&mut self.connection()?)).await?;
        let move_all = MoveRequests {
            workspace: self.workspace,
            from: from.uuid(),
            to: to.uuid(),
            changes_status,
            kind: moved.kind().to_owned(),
            details: moved.details(),
            actor_kind: actor.kind.name().to_owned(),
            actor_id: actor.id,
            actor_name: actor.name.clone(),
            millis: at.millis(),
            at: at.into(),
        };
        self.run(move_all.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
