//! Trackers that report closed issues.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::id::{LinkSourceId, WorkspaceId};
use crate::model::link_source::LinkSource;
use crate::usecase::query::{Query, QueryPorts};

/// Lists the link sources of a workspace, oldest first.
#[derive(Debug, Clone, Copy)]
pub struct ListLinkSources;

#[async_trait]
impl Query for ListLinkSources {
    type Output = Vec<LinkSource>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<LinkSource>, RoadmapError> {
        Ok(ports.reader.link_sources(workspace).await?)
    }
}

/// Shows a link source.
#[derive(Debug, Clone, Copy)]
pub struct ShowLinkSource {
    /// The link source. `None` for an ID that none can have.
    pub source: Option<LinkSourceId>,
}

#[async_trait]
impl Query for ShowLinkSource {
    type Output = LinkSource;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<LinkSource, RoadmapError> {
        let sources = ports.reader.link_sources(workspace).await?;
        let found = sources.into_iter().find(|source| Some(source.id) == self.source);
        found.ok_or(RoadmapError::NotFound(Resource::LinkSource))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::link_source;
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn a_link_source_is_shown_by_its_id() {
        let show = |source| {
            let mut reader = MockReads::new();
            reader.expect_link_sources().returning(|_| Ok(vec![link_source()]));
            run_query(reader, MockBlobs::new(), &ShowLinkSource { source })
        };
        assert_eq!(show(Some(link_source().id)).unwrap(), link_source());
        for unknown in [None, Some(LinkSourceId::new(Uuid::nil()))] {
            assert_eq!(show(unknown).unwrap_err().to_string(), "LinkSource does not exist.");
        }
    }
}
