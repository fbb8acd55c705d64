//! Tracks and lanes.

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Track};
use roadmap_domain::ports::{Insertion, TrackWrites};

use crate::codec::Id;
use crate::rows::{TrackRow, mapped_tracks};
use crate::schema::{lanes, tracks};
use crate::unit::SqliteUnit;
use crate::writes::provisioning::insertion;

#[async_trait]
impl TrackWrites for SqliteUnit {
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError> {
        let row: Option<TrackRow> = self
            .run(move |connection, workspace| {
                Ok(mapped_tracks()
                    .filter(tracks::workspace_id.eq(workspace))
                    .filter(tracks::id.eq(Id(track.uuid())))
                    .first(connection)
                    .optional()?)
            })
            .await?;
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

    async fn find_lane(&mut self, name: &str) -> Result<Option<Lane>, StoreError> {
        let name = name.to_owned();
        let row: Option<(Id, String)> = self
            .run(move |connection, workspace| {
                Ok(lanes::table
                    .filter(lanes::workspace_id.eq(workspace))
                    .filter(lanes::name.eq(name))
                    .select((lanes::id, lanes::name))
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(row.map(|(id, name)| Lane { id: LaneId::new(id.0), name: Name::from_stored(name) }))
    }

    async fn insert_lane(&mut self, lane: &Lane) -> Result<Insertion, StoreError> {
        let lane = lane.clone();
        self.run(move |connection, workspace| {
            let last: Option<i64> = lanes::table
                .filter(lanes::workspace_id.eq(workspace))
                .select(max(lanes::position))
                .first(connection)?;
            let inserted = diesel::insert_into(lanes::table)
                .values((
                    lanes::workspace_id.eq(workspace),
                    lanes::id.eq(Id(lane.id.uuid())),
                    lanes::name.eq(lane.name.as_str()),
                    lanes::position.eq(last.unwrap_or(0) + 1),
                ))
                .on_conflict((lanes::workspace_id, lanes::name))
                .do_nothing()
                .execute(connection)?;
            Ok(insertion(inserted))
        })
        .await
    }

    async fn insert_track(&mut self, track: &Track) -> Result<Insertion, StoreError> {
        let track = track.clone();
        self.run(move |connection, workspace| {
            let last: Option<i64> = tracks::table
                .filter(tracks::workspace_id.eq(workspace))
                .select(max(tracks::position))
                .first(connection)?;
            let inserted = diesel::insert_into(tracks::table)
                .values((
                    tracks::workspace_id.eq(workspace),
                    tracks::id.eq(Id(track.id.uuid())),
                    tracks::name.eq(track.name.as_str()),
                    tracks::lane_id.eq(track.lane.map(|lane| Id(lane.id.uuid()))),
                    tracks::position.eq(last.unwrap_or(0) + 1),
                ))
                .on_conflict((tracks::workspace_id, tracks::name))
                .do_nothing()
                .execute(connection)?;
            Ok(insertion(inserted))
        })
        .await
    }
}
