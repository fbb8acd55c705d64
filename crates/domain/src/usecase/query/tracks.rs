//! The tracks of a workspace, contract section 4.6.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::WorkspaceId;
use crate::model::track::Track;
use crate::usecase::query::{Queries, Query};

/// Lists the tracks in the team's order.
#[derive(Debug, Clone, Copy)]
pub struct ListTracks;

#[async_trait]
impl Query for ListTracks {
    type Output = Vec<Track>;

    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<Vec<Track>, RoadmapError> {
        Ok(ports.reader.tracks(workspace).await?)
    }
}
