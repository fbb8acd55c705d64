//! The changelogs of a workspace, contract section 4.9.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::changelog::{Changelog, ChangelogDetail};
use crate::model::id::{ChangelogId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Query, QueryPorts};

/// Lists the changelogs, including drafts, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListChangelogs {
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListChangelogs {
    type Output = Listing<Changelog>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<Changelog>, RoadmapError> {
        Ok(ports.reader.changelogs(workspace, self.page).await?)
    }
}

/// Shows a changelog, also one that is not public.
#[derive(Debug, Clone, Copy)]
pub struct ShowChangelog {
    /// The changelog. `None` for an ID that no changelog can have.
    pub changelog: Option<ChangelogId>,
}

#[async_trait]
impl Query for ShowChangelog {
    type Output = ChangelogDetail;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ChangelogDetail, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Changelog);
        let changelog = self.changelog.ok_or_else(missing)?;
        ports.reader.changelog(workspace, changelog).await?.ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn an_unknown_changelog_is_not_found() {
        for changelog in [None, Some(ChangelogId::new(Uuid::from_u128(3)))] {
            let mut reader = MockReads::new();
            reader.expect_changelog().times(usize::from(changelog.is_some())).returning(|_, _| Ok(None));
            let error = run_query(reader, MockBlobs::new(), &ShowChangelog { changelog }).unwrap_err();
            assert_eq!(error.to_string(), "Changelog does not exist.");
        }
    }
}
