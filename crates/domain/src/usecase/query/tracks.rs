//! The tracks, lanes and roadmap of a workspace, contract section 4.6.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::board::{ListedLane, PortalLane, RoadmapLane};
use crate::model::feature_request::{FeatureRequestSummary, Sort};
use crate::model::id::{TrackId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest, parse_count};
use crate::model::track::{LaneKind, Track};
use crate::usecase::query::{Query, QueryPorts};

/// Lists the tracks in the team's order.
#[derive(Debug, Clone, Copy)]
pub struct ListTracks;

#[async_trait]
impl Query for ListTracks {
    type Output = Arc<[Track]>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Arc<[Track]>, RoadmapError> {
        Ok(ports.tracks.tracks(workspace).await?)
    }
}

/// Lists the lanes in the team's order.
#[derive(Debug, Clone, Copy)]
pub struct ListLanes;

#[async_trait]
impl Query for ListLanes {
    type Output = Vec<ListedLane>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<ListedLane>, RoadmapError> {
        Ok(ports.reader.lanes(workspace).await?)
    }
}

/// Number of feature requests of a lane if `per_lane` is not given.
pub const DEFAULT_PER_LANE: u64 = 10;
/// Maximum number of feature requests of a lane.
pub const MAX_PER_LANE: u64 = 50;

/// Shows the public roadmap.
#[derive(Debug, Clone, Copy)]
pub struct ShowRoadmap {
    /// Number of feature requests in each lane.
    pub per_lane: u32,
}

impl ShowRoadmap {
    /// Creates a query of `per_lane` feature requests in each lane. Values above [`MAX_PER_LANE`] are lowered to it.
    ///
    /// # Errors
    /// `per_lane` is not an integer, or is below 1.
    pub fn parse(per_lane: Option<&str>) -> Validated<Self> {
        let per_lane = parse_count("per_lane", per_lane, DEFAULT_PER_LANE, MAX_PER_LANE)?;
        Ok(Self { per_lane: u32::try_from(per_lane).unwrap_or(u32::MAX) })
    }
}

#[async_trait]
impl Query for ShowRoadmap {
    type Output = Vec<RoadmapLane>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<RoadmapLane>, RoadmapError> {
        Ok(ports.reader.roadmap(workspace, self.per_lane).await?)
    }
}

/// Shows the roadmap of the portal. Unlike that of the API, a lane may begin with what came to it last.
#[derive(Debug, Clone, Copy)]
pub struct ShowPortalRoadmap {
    /// Number of feature requests in each lane.
    pub per_lane: u32,
}

#[async_trait]
impl Query for ShowPortalRoadmap {
    type Output = Vec<PortalLane>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<PortalLane>, RoadmapError> {
        let latest_first: Vec<LaneKind> = LaneKind::ALL.into_iter().filter(|kind| kind.is_latest_first()).collect();
        Ok(ports.reader.portal_roadmap(workspace, self.per_lane, &latest_first).await?)
    }
}

/// Lists the feature requests of a track, private ones included. The existence of the track is checked before the
/// parameters.
#[derive(Debug, Clone)]
pub struct ListTrackRequests {
    /// The track. `None` for an ID that no track can have.
    pub track: Option<TrackId>,
    /// The order and the page, or which parameter is invalid.
    pub parameters: Validated<(Sort, PageRequest)>,
}

#[async_trait]
impl Query for ListTrackRequests {
    type Output = Listing<FeatureRequestSummary>;

    async fn execute(
        &self,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<Listing<FeatureRequestSummary>, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Track);
        let track = self.track.ok_or_else(missing)?;
        let (sort, page) = self.parameters.as_ref().copied().unwrap_or_default();
        let listing = ports.reader.track_requests(workspace, track, sort, page).await?.ok_or_else(missing)?;
        self.parameters.as_ref().map_err(Clone::clone)?;
        Ok(listing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn a_lane_shows_ten_requests_unless_told_otherwise() {
        for (raw, per_lane) in [(None, 10), (Some("1"), 1), (Some("50"), 50), (Some("999"), 50)] {
            let mut reader = MockReads::new();
            reader.expect_roadmap().withf(move |_, limit| *limit == per_lane).times(1).returning(|_, _| Ok(Vec::new()));
            run_query(reader, MockBlobs::new(), &ShowRoadmap::parse(raw).unwrap()).unwrap();
        }
        assert_eq!(ShowRoadmap::parse(Some("0")).unwrap_err().field, "per_lane");
    }

    #[test]
    fn the_portal_shows_first_what_was_done_last() {
        let mut reader = MockReads::new();
        reader
            .expect_portal_roadmap()
            .withf(|_, per_lane, latest_first| *per_lane == 20 && latest_first == [LaneKind::Done])
            .times(1)
            .returning(|_, _, _| Ok(Vec::new()));
        assert_eq!(run_query(reader, MockBlobs::new(), &ShowPortalRoadmap { per_lane: 20 }).unwrap(), []);
    }

    #[test]
    fn a_missing_track_comes_before_bad_parameters() {
        let list = |track: Option<u128>, page: &str, exists: bool| {
            let mut reader = MockReads::new();
            reader.expect_track_requests().returning(move |_, _, _, page| {
                Ok(exists.then_some(Listing { items: Vec::new(), request: page, total: 0 }))
            });
            let parameters = PageRequest::parse(Some(page), None).map(|page| (Sort::Newest, page));
            let query = ListTrackRequests { track: track.map(|id| TrackId::new(Uuid::from_u128(id))), parameters };
            run_query(reader, MockBlobs::new(), &query).err().map(|error| error.to_string())
        };
        assert_eq!(list(Some(1), "2", true), None);
        for (track, exists) in [(None, true), (Some(1), false)] {
            assert_eq!(list(track, "0", exists).unwrap(), "Track does not exist.");
        }
        assert_eq!(list(Some(1), "0", true).unwrap(), "page must be an integer of at least 1");
    }
}
