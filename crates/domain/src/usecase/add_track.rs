//! Adds a track to a workspace, optionally mapped to a lane.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::id::TrackId;
use crate::model::text::Name;
use crate::model::track::Track;
use crate::ports::UnitOfWork;
use crate::usecase::create_workspace::ensure_inserted;
use crate::usecase::executor::{Operation, OperationContext};

/// Appends a track.
#[derive(Debug, Clone)]
pub struct AddTrack {
    /// The name.
    pub name: Name,
    /// The name of its lane, if any.
    pub lane: Option<Name>,
}

#[async_trait]
impl Operation for AddTrack {
    type Output = Track;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Track, RoadmapError> {
        let lane = match &self.lane {
            Some(name) => Some(work.find_lane(name.as_str()).await?.ok_or(RoadmapError::NotFound(Resource::Lane))?),
            None => None,
        };
        let track = Track { id: context.new_id(TrackId::new), name: self.name.clone(), lane };
        ensure_inserted(work.insert_track(&track).await?, || format!("track `{}`", self.name))?;
        Ok(track)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, name};
    use pollster::block_on;

    #[test]
    fn a_track_cannot_map_to_a_missing_lane() {
        let mut unit = MockUnit::new();
        unit.expect_find_lane().withf(|name| name == "Someday").returning(|_| Ok(None));
        let operation = AddTrack { name: name("Ideas"), lane: Some(name("Someday")) };
        let ids = NumberedIds::default();
        let outcome = block_on(operation.perform(&context(&ids), &mut unit));
        assert_eq!(outcome.unwrap_err().to_string(), "Lane does not exist.");
    }
}
