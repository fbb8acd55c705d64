//! Adds a lane to the public roadmap of a workspace.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::LaneId;
use crate::model::text::Name;
use crate::model::track::Lane;
use crate::ports::UnitOfWork;
use crate::usecase::create_workspace::taken;
use crate::usecase::executor::{Call, Operation};

/// Adds a lane behind the others.
#[derive(Debug, Clone)]
pub struct AddLane {
    /// Its name.
    pub name: Name,
}

#[async_trait]
impl Operation for AddLane {
    type Reply = Lane;

    async fn perform(&self, call: &Call<'_>, work: &mut dyn UnitOfWork) -> Result<Lane, RoadmapError> {
        let lane = Lane { id: call.new_id(LaneId::new), name: self.name.clone() };
        taken(work.insert_lane(&lane).await?, || format!("lane `{}`", self.name))?;
        Ok(lane)
    }
}
