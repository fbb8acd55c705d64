//! The settings of a workspace, contract section 4.2, and its synonyms.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::id::WorkspaceId;
use crate::model::search::Synonyms;
use crate::model::setting::Setting;
use crate::usecase::query::{Query, QueryPorts};

/// Shows the settings.
#[derive(Debug, Clone, Copy)]
pub struct ShowSetting;

#[async_trait]
impl Query for ShowSetting {
    type Output = Setting;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Setting, RoadmapError> {
        ports.reader.setting(workspace).await?.ok_or(RoadmapError::NotFound(Resource::Workspace))
    }
}

/// Shows the synonyms.
#[derive(Debug, Clone, Copy)]
pub struct ListSynonyms;

#[async_trait]
impl Query for ListSynonyms {
    type Output = Synonyms;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Synonyms, RoadmapError> {
        Ok(ports.reader.synonyms(workspace).await?)
    }
}
