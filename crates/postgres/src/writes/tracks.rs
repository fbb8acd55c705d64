//! Tracks and lanes.

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Track};
use roadmap_domain::ports::{Insertion, TrackWrites};
use uuid::Uuid;

use crate::rows::{TrackRow, mapped_tracks};
use crate::schema::{lanes, tracks};
use crate::unit::PostgresUnit;
use crate::writes::provisioning::insertion;

#[async_trait]
impl TrackWrites for PostgresUnit {
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError> {
        let found = mapped_tracks().filter(tracks::workspace_id.eq(self.workspace)).filter(tracks::id.eq(track.uuid()));
        let row: Option<TrackRow> = self.run_optional(found.first(&mut self.connection()?)).await?;
        Ok(row.map(Track::from))
    }

    async fn first_track(&mut self) -> Result<Option<Track>, StoreError> {
        let first = mapped_tracks().filter(tracks::workspace_id.eq(self.workspace)).order(tracks::position);
        let row: Option<TrackRow> = self.run_optional(first.first(&mut self.connection()?)).await?;
        Ok(row.map(Track::from))
    }

    async fn find_lane(&mut self, name: &str) -> Result<Option<Lane>, StoreError> {
        let found = lanes::table
            .filter(lanes::workspace_id.eq(self.workspace))
            .filter(lanes::name.eq(name))
            .select((lanes::id, lanes::name));
        let row: Option<(Uuid, String)> = self.run_optional(found.first(&mut self.connection()?)).await?;
        Ok(row.map(|(id, name)| Lane { id: LaneId::new(id), name: Name::from_stored(name) }))
    }

    async fn insert_lane(&mut self, lane: &Lane) -> Result<Insertion, StoreError> {
        let last = lanes::table.filter(lanes::workspace_id.eq(self.workspace)).select(max(lanes::position));
        let last: Option<i64> = self.run(last.first(&mut self.connection()?)).await?;
        let insert = diesel::insert_into(lanes::table)
            .values((
                lanes::workspace_id.eq(self.workspace),
                lanes::id.eq(lane.id.uuid()),
                lanes::name.eq(lane.name.as_str()),
                lanes::position.eq(last.unwrap_or(0) + 1),
            ))
            .on_conflict((lanes::workspace_id, lanes::name))
            .do_nothing();
        Ok(insertion(self.run(insert.execute(&mut self.connection()?)).await?))
    }

    async fn insert_track(&mut self, track: &Track) -> Result<Insertion, StoreError> {
        let last = tracks::table.filter(tracks::workspace_id.eq(self.workspace)).select(max(tracks::position));
        let last: Option<i64> = self.run(last.first(&mut self.connection()?)).await?;
        let insert = diesel::insert_into(tracks::table)
            .values((
                tracks::workspace_id.eq(self.workspace),
                tracks::id.eq(track.id.uuid()),
                tracks::name.eq(track.name.as_str()),
                tracks::lane_id.eq(track.lane.as_ref().map(|lane| lane.id.uuid())),
                tracks::position.eq(last.unwrap_or(0) + 1),
            ))
            .on_conflict((tracks::workspace_id, tracks::name))
            .do_nothing();
        Ok(insertion(self.run(insert.execute(&mut self.connection()?)).await?))
    }
}
