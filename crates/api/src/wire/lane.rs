//! Lanes and the public roadmap.

use roadmap_domain::model::board::{ListedLane, RoadmapLane};
use serde::Serialize;
use utoipa::ToSchema;

use crate::openapi::fields as described;

use super::Links;
use super::feature_request::{Summary, summaries};
use super::portal::LocalizedText;

/// All lanes, in the team's order.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lanes)]
pub(crate) struct Body<'a> {
    lanes: Vec<Fields<'a>>,
}

/// A single lane.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LaneShown)]
pub(crate) struct Response<'a> {
    lane: Fields<'a>,
}

/// A public status of feature requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Lane)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 1, max_length = 200)]
    name: &'a str,
    /// What it means, whatever its name.
    #[schema(schema_with = described::lane_kind)]
    kind: &'static str,
    /// The names on the pages of the portal, by language. A missing language shows `name`.
    names: LocalizedText<'a>,
    #[schema(minimum = 1)]
    position: u64,
    /// Number of public feature requests in the lane.
    #[schema(minimum = 0)]
    feature_requests_count: i64,
}

/// The public roadmap.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Roadmap<'a> {
    lanes: Vec<LaneWithRequests<'a>>,
}

/// A lane with its most voted feature requests.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = RoadmapLane)]
pub(crate) struct LaneWithRequests<'a> {
    #[serde(flatten)]
    lane: Fields<'a>,
    /// Most voted first.
    #[schema(max_items = 50)]
    feature_requests: Vec<Summary>,
}

fn fields(lane: &ListedLane) -> Fields<'_> {
    Fields {
        id: lane.lane.id.to_string(),
        name: lane.lane.name.as_str(),
        kind: lane.lane.kind.as_str(),
        names: LocalizedText::new(&lane.lane.names),
        position: lane.position,
        feature_requests_count: lane.feature_requests_count,
    }
}

pub(crate) fn listed(lanes: &[ListedLane]) -> impl Serialize {
    Body { lanes: lanes.iter().map(fields).collect() }
}

pub(crate) fn response(lane: &ListedLane) -> impl Serialize {
    Response { lane: fields(lane) }
}

pub(crate) fn roadmap<'a>(lanes: &'a [RoadmapLane], links: &Links) -> impl Serialize + use<'a> {
    let lane = |lane: &'a RoadmapLane| LaneWithRequests {
        lane: fields(&lane.lane),
        feature_requests: summaries(&lane.feature_requests, links),
    };
    Roadmap { lanes: lanes.iter().map(lane).collect() }
}
