//! Row types that several queries share, and their conversion to records.

use diesel::Queryable;
use diesel::dsl::auto_type;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Scopes};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, Title};
use roadmap_domain::model::id::{ApiKeyId, FeatureRequestId, LaneId, TrackId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Placement, Track};
use uuid::Uuid;

use crate::codec::{TimestampColumn, optional_timestamp};
use crate::schema::{api_keys, feature_requests, lanes, tracks, vote_tallies};

/// Feature requests with their vote tally, their track and its lane.
#[auto_type]
pub(crate) fn placed_requests() -> _ {
    feature_requests::table
        .inner_join(
            vote_tallies::table.on(vote_tallies::workspace_id
                .eq(feature_requests::workspace_id)
                .and(vote_tallies::request_id.eq(feature_requests::id))),
        )
        .inner_join(
            tracks::table.on(tracks::workspace_id
                .eq(feature_requests::workspace_id)
                .and(tracks::id.eq(feature_requests::track_id))),
        )
        .left_join(
            lanes::table.on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
        )
}

/// The columns of a feature request's summary.
#[auto_type]
pub(crate) fn summary_columns() -> _ {
    (
        feature_requests::id,
        feature_requests::tag_number,
        feature_requests::title,
        tracks::name,
        lanes::name.nullable(),
        vote_tallies::votes_count,
        feature_requests::created_at,
    )
}

/// The types of [`summary_columns()`], for statements written in SQL.
pub(crate) type SummaryColumns = (SqlUuid, BigInt, Text, Text, Nullable<Text>, BigInt, Timestamptz);

/// A row of [`summary_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct SummaryRow {
    pub(crate) id: Uuid,
    tag_number: i64,
    title: String,
    track: String,
    lane: Option<String>,
    pub(crate) votes_count: i64,
    created_at: TimestampColumn,
}

impl TryFrom<SummaryRow> for FeatureRequestSummary {
    type Error = StoreError;

    fn try_from(row: SummaryRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: FeatureRequestId::new(row.id),
            tag_number: row.tag_number,
            title: Title::from_stored(row.title),
            placement: Placement { track: Name::from_stored(row.track), status: row.lane.map(Name::from_stored) },
            votes_count: row.votes_count,
            created_at: row.created_at.into_timestamp("feature_requests", "created_at", row.id)?,
        })
    }
}

/// Tracks with their lanes.
#[auto_type]
pub(crate) fn mapped_tracks() -> _ {
    tracks::table
        .left_join(
            lanes::table.on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
        )
        .select((tracks::id, tracks::name, lanes::id.nullable(), lanes::name.nullable()))
}

/// A row of [`mapped_tracks()`].
#[derive(Debug, Queryable)]
pub(crate) struct TrackRow {
    id: Uuid,
    name: String,
    lane_id: Option<Uuid>,
    lane_name: Option<String>,
}

impl From<TrackRow> for Track {
    fn from(row: TrackRow) -> Self {
        let lane = row.lane_id.zip(row.lane_name);
        Self {
            id: TrackId::new(row.id),
            name: Name::from_stored(row.name),
            lane: lane.map(|(id, name)| Lane { id: LaneId::new(id), name: Name::from_stored(name) }),
        }
    }
}

/// The columns of an API key.
#[auto_type]
pub(crate) fn api_key_columns() -> _ {
    (
        api_keys::id,
        api_keys::name,
        api_keys::last_four,
        api_keys::can_read,
        api_keys::can_write,
        api_keys::can_manage,
        api_keys::created_at,
        api_keys::expires_at,
        api_keys::revoked_at,
        api_keys::last_used_at,
    )
}

/// A row of [`api_key_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct ApiKeyRow {
    id: Uuid,
    name: String,
    last_four: String,
    can_read: bool,
    can_write: bool,
    can_manage: bool,
    created_at: TimestampColumn,
    expires_at: Option<TimestampColumn>,
    revoked_at: Option<TimestampColumn>,
    last_used_at: Option<TimestampColumn>,
}

impl TryFrom<ApiKeyRow> for ApiKey {
    type Error = StoreError;

    fn try_from(row: ApiKeyRow) -> Result<Self, StoreError> {
        let optional = |timestamp, column| optional_timestamp(timestamp, "api_keys", column, row.id);
        Ok(Self {
            id: ApiKeyId::new(row.id),
            name: Name::from_stored(row.name),
            last_four: row.last_four,
            scopes: Scopes { read: row.can_read, write: row.can_write, manage: row.can_manage },
            created_at: row.created_at.into_timestamp("api_keys", "created_at", row.id)?,
            expires_at: optional(row.expires_at, "expires_at")?,
            revoked_at: optional(row.revoked_at, "revoked_at")?,
            last_used_at: optional(row.last_used_at, "last_used_at")?,
        })
    }
}
