//! The tags of all feature requests.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::feature_request::Tag;
use crate::model::id::WorkspaceId;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::tag::{ListedTag, TagQuery};
use crate::usecase::query::{Query, QueryPorts};

/// Lists the tags whose name contains the query, or all, most used first.
#[derive(Debug, Clone)]
pub struct ListTags {
    pub query: Option<TagQuery>,
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListTags {
    type Output = Listing<ListedTag>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<ListedTag>, RoadmapError> {
        Ok(ports.reader.tags(workspace, self.query.as_ref(), self.page).await?)
    }
}

/// Shows a tag, by its name regardless of case.
#[derive(Debug, Clone)]
pub struct ShowTag {
    pub name: Tag,
}

#[async_trait]
impl Query for ShowTag {
    type Output = ListedTag;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<ListedTag, RoadmapError> {
        ports.reader.tag(workspace, &self.name).await?.ok_or(RoadmapError::NotFound(Resource::Tag))
    }
}

/// Suggests tags to somebody who types one: at most [`Self::MAX`], those first that the newest feature requests use most.
/// It is fast in a workspace with many feature requests, and counts what is used nowadays.
#[derive(Debug, Clone, Copy)]
pub struct SuggestTags;

impl SuggestTags {
    /// Maximum number of suggestions.
    pub const MAX: u32 = 50;
    /// Maximum number of tags of feature requests that are counted.
    const READ_LIMIT: u32 = 2_000;
}

#[async_trait]
impl Query for SuggestTags {
    type Output = Vec<Tag>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<Tag>, RoadmapError> {
        Ok(ports.reader.known_tags(workspace, Self::READ_LIMIT, Self::MAX).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;

    #[test]
    fn an_unknown_tag_is_not_found() {
        let mut reader = MockReads::new();
        reader.expect_tag().times(1).returning(|_, _| Ok(None));
        let query = ShowTag { name: Tag::parse("name", "ui").unwrap() };
        assert_eq!(run_query(reader, MockBlobs::new(), &query).unwrap_err().to_string(), "Tag does not exist.");
    }
}
