//! Moves a feature request to any track of the workspace, contract section 4.9.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::TrackId;
use crate::model::track::Placement;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Moves a feature request to a track.
#[derive(Debug, Clone)]
pub struct MoveFeatureRequest {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The track, or its validation error.
    pub track: Validated<TrackId>,
}

#[async_trait]
impl Operation for MoveFeatureRequest {
    type Output = FeatureRequestSummary;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<FeatureRequestSummary, RoadmapError> {
        let request = work.find_feature_request(&self.request).await?;
        let request = request.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let track = self.track.clone()?;
        let track = work.find_track(track).await?.ok_or(RoadmapError::NotFound(Resource::Track))?;
        work.set_feature_request_track(request.id, track.id).await?;
        let placement = Placement { status: track.status().cloned(), track: track.name };
        Ok(FeatureRequestSummary { placement, ..request })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::id::LaneId;
    use crate::model::track::{Lane, Track};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, name, request, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn id() -> TrackId {
        TrackId::new(Uuid::from_u128(5))
    }

    fn track(lane: Option<&str>) -> Track {
        let lane = lane.map(|lane| Lane { id: LaneId::new(Uuid::from_u128(6)), name: name(lane) });
        Track { id: id(), name: name("Next quarter"), lane }
    }

    fn moved(unit: &mut MockUnit, track: Validated<TrackId>) -> Result<FeatureRequestSummary, RoadmapError> {
        let ids = NumberedIds::default();
        block_on(MoveFeatureRequest { request: request(), track }.perform(&context(&ids), unit))
    }

    #[test]
    fn the_status_follows_the_lane_of_the_new_track() {
        for lane in [Some("Planned"), None] {
            let mut unit = MockUnit::new();
            unit.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", Some("Done"), 4))));
            unit.expect_find_track().returning(move |_| Ok(Some(track(lane))));
            unit.expect_set_feature_request_track()
                .withf(|request, track| *request == summary("", None, 0).id && *track == id())
                .times(1)
                .returning(|_, _| Ok(()));
            assert_eq!(moved(&mut unit, Ok(id())).unwrap(), summary("Next quarter", lane, 4));
        }
    }

    #[test]
    fn the_request_is_checked_before_the_field_and_the_track() {
        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(|_| Ok(None));
        assert!(matches!(
            moved(&mut unit, Err(FieldError::missing("track_id"))),
            Err(RoadmapError::NotFound(Resource::FeatureRequest))
        ));

        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
        assert!(matches!(moved(&mut unit, Err(FieldError::missing("track_id"))), Err(RoadmapError::Invalid(_))));

        let mut unit = MockUnit::new();
        unit.expect_find_feature_request().returning(|_| Ok(Some(summary("Inbox", None, 0))));
        unit.expect_find_track().returning(|_| Ok(None));
        assert!(matches!(moved(&mut unit, Ok(id())), Err(RoadmapError::NotFound(Resource::Track))));
    }
}
