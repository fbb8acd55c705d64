//! Adds a lane to the public roadmap of a workspace.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::LaneId;
use crate::model::text::Name;
use crate::model::track::Lane;
use crate::ports::UnitOfWork;
use crate::usecase::create_workspace::ensure_inserted;
use crate::usecase::executor::{Operation, OperationContext};

/// Appends a lane.
#[derive(Debug, Clone)]
pub struct AddLane {
    /// The name.
    pub name: Name,
}

#[async_trait]
impl Operation for AddLane {
    type Output = Lane;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Lane, RoadmapError> {
        let lane = Lane { id: context.new_id(LaneId::new), name: self.name.clone() };
        ensure_inserted(work.insert_lane(&lane).await?, || format!("lane `{}`", self.name))?;
        Ok(lane)
    }
}
