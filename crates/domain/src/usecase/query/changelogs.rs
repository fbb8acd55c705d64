//! The changelogs of a workspace, contract section 4.9.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::changelog::Changelog;
use crate::model::id::WorkspaceId;
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Queries, Query};

/// Lists the changelogs, including drafts, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListChangelogs {
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListChangelogs {
    type Output = Listing<Changelog>;

    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<Listing<Changelog>, RoadmapError> {
        Ok(ports.reader.changelogs(workspace, self.page).await?)
    }
}
