//! Tracks and lanes.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::dsl::{exists, select};
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::Actor;
use roadmap_domain::model::board::Board;
use roadmap_domain::model::event::{EventContent, Move};
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::track::{Lane, Placement, Track};
use roadmap_domain::ports::TrackWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::{LaneRow, TrackRow};

use crate::errors::SqlError;
use crate::rows::mapped_tracks;
use crate::schema::{feature_requests, lanes, track_tallies, tracks};
use crate::statement::{inserted_events, statement};
use crate::unit::SqliteUnit;

statement! {
    /// Frees the names and the positions of all lanes. The negative positions mark them as not saved again yet.
    FreeLanes { workspace: Id => Binary }
    "UPDATE lanes SET position = -position, name = hex(id) WHERE workspace_id = ?"
}

statement! {
    /// Frees the names and the positions of all tracks, as [`FreeLanes`] does.
    FreeTracks { workspace: Id => Binary }
    "UPDATE tracks SET position = -position, name = hex(id) WHERE workspace_id = ?"
}

statement! {
    /// Deletes the counts of the tracks that were not saved again.
    DeleteMissingTallies { workspace: Id => Binary }
    "DELETE FROM track_tallies WHERE (workspace_id, track_id) IN (
         SELECT workspace_id, id FROM tracks WHERE workspace_id = ? AND position < 0
     )"
}

statement! {
    /// Adds the same event, a move, to the history of all feature requests of a track. The IDs are UUIDs of version 7.
    InsertMoves {
        at: i64 => BigInt, kind: String => Text, details: String => Text, actor_kind: String => Text,
        actor_id: Option<Id> => diesel::sql_types::Nullable<Binary>, actor_name: String => Text,
        created_at: i64 => BigInt, workspace: Id => Binary, track: Id => Binary,
    }
    inserted_events!("workspace_id = ? AND track_id = ?")
}

/// Replaces the lanes and tracks of a workspace.
fn save(connection: &mut SqliteConnection, workspace: Id, board: &Board) -> Result<(), SqlError> {
    FreeLanes { workspace }.execute(connection)?;
    FreeTracks { workspace }.execute(connection)?;
    for (position, lane) in (1_i64..).zip(board.lanes()) {
        let names = lane.names.to_json();
        let values = (
            lanes::name.eq(lane.name.as_str()),
            lanes::kind.eq(lane.kind.as_str()),
            lanes::names.eq(&names),
            lanes::position.eq(position),
        );
        diesel::insert_into(lanes::table)
            .values((lanes::workspace_id.eq(workspace), lanes::id.eq(Id(lane.id.uuid())), values))
            .on_conflict((lanes::workspace_id, lanes::id))
            .do_update()
            .set(values)
            .execute(connection)?;
    }
    for (position, track) in (1_i64..).zip(board.tracks()) {
        let lane = track.lane.as_ref().map(|lane| Id(lane.id.uuid()));
        let values = (tracks::name.eq(track.name.as_str()), tracks::lane_id.eq(lane), tracks::position.eq(position));
        diesel::insert_into(tracks::table)
            .values((tracks::workspace_id.eq(workspace), tracks::id.eq(Id(track.id.uuid())), values))
            .on_conflict((tracks::workspace_id, tracks::id))
            .do_update()
            .set(values)
            .execute(connection)?;
    }
    DeleteMissingTallies { workspace }.execute(connection)?;
    let missing = tracks::table.filter(tracks::workspace_id.eq(workspace)).filter(tracks::position.lt(0));
    diesel::delete(missing).execute(connection)?;
    let missing = lanes::table.filter(lanes::workspace_id.eq(workspace)).filter(lanes::position.lt(0));
    diesel::delete(missing).execute(connection)?;
    Ok(())
}

/// Returns a track, if it exists.
fn find(connection: &mut SqliteConnection, workspace: Id, track: Id) -> Result<Option<TrackRow>, SqlError> {
    Ok(mapped_tracks()
        .filter(tracks::workspace_id.eq(workspace))
        .filter(tracks::id.eq(track))
        .first(connection)
        .optional()?)
}

/// Returns the placement of the feature requests on a track.
fn placement(track: Track) -> Placement {
    Placement { status: track.status().cloned(), track: track.name }
}

#[async_trait]
impl TrackWrites for SqliteUnit {
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError> {
        let row = self.run(move |connection, workspace| find(connection, workspace, Id(track.uuid()))).await?;
        Ok(row.map(Track::from))
    }

    async fn first_track(&mut self) -> Result<Option<Track>, StoreError> {
        let row: Option<TrackRow> = self
            .run(|connection, workspace| {
                Ok(mapped_tracks()
                    .filter(tracks::workspace_id.eq(workspace))
                    .order(tracks::position)
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(row.map(Track::from))
    }

    async fn load_board(&mut self) -> Result<Board, StoreError> {
        let (lanes, tracks): (Vec<LaneRow>, Vec<TrackRow>) = self
            .run(|connection, workspace| {
                let lanes = lanes::table
                    .filter(lanes::workspace_id.eq(workspace))
                    .order(lanes::position)
                    .select((lanes::id, lanes::name, lanes::kind, lanes::names))
                    .load(connection)?;
                let tracks = mapped_tracks()
                    .filter(tracks::workspace_id.eq(workspace))
                    .order(tracks::position)
                    .load(connection)?;
                Ok((lanes, tracks))
            })
            .await?;
        Ok(Board::new(lanes.into_iter().map(Lane::from).collect(), tracks.into_iter().map(Track::from).collect()))
    }

    async fn save_board(&mut self, board: &Board) -> Result<(), StoreError> {
        let board = board.clone();
        self.run(move |connection, workspace| save(connection, workspace, &board)).await
    }

    async fn has_feature_requests(&mut self, track: TrackId) -> Result<bool, StoreError> {
        self.run(move |connection, workspace| {
            let on_track = feature_requests::table
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::track_id.eq(Id(track.uuid())));
            Ok(select(exists(on_track)).get_result(connection)?)
        })
        .await
    }

    async fn count_lane_requests(&mut self, lane: LaneId) -> Result<i64, StoreError> {
        self.run(move |connection, workspace| {
            let counts: Vec<i64> = tracks::table
                .inner_join(track_tallies::table.on(
                    track_tallies::workspace_id.eq(tracks::workspace_id).and(track_tallies::track_id.eq(tracks::id)),
                ))
                .filter(tracks::workspace_id.eq(workspace))
                .filter(tracks::lane_id.eq(Id(lane.uuid())))
                .select(track_tallies::public_count)
                .load(connection)?;
            Ok(counts.into_iter().sum())
        })
        .await
    }

    async fn set_status_since(&mut self, track: TrackId, at: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::track_id.eq(Id(track.uuid())))
                .set(feature_requests::status_since.eq(at.millis()))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn move_feature_requests(
        &mut self,
        from: TrackId,
        to: TrackId,
        actor: &Actor,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (from, to, actor, at) = (Id(from.uuid()), Id(to.uuid()), actor.clone(), at.millis());
        self.run(move |connection, workspace| {
            let (Some(old), Some(new)) = (find(connection, workspace, from)?, find(connection, workspace, to)?) else {
                return Ok(());
            };
            let moved = Move { from: placement(old.into()), to: placement(new.into()), comment: None };
            let changes_status = moved.changes_status();
            let moved = EventContent::Moved(moved);
            let insert = InsertMoves {
                at,
                kind: moved.kind().to_owned(),
                details: moved.details(),
                actor_kind: actor.kind.name().to_owned(),
                actor_id: actor.id.map(Id),
                actor_name: actor.name,
                created_at: at,
                workspace,
                track: from,
            };
            insert.execute(connection)?;
            diesel::update(feature_requests::table)
                .filter(feature_requests::workspace_id.eq(workspace))
                .filter(feature_requests::track_id.eq(from))
                .set((
                    feature_requests::track_id.eq(to),
                    feature_requests::handled_at.eq(at),
                    changes_status.then(|| feature_requests::status_since.eq(at)),
                    feature_requests::updated_at.eq(at),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
