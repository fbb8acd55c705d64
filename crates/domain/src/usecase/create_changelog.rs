//! Creates a changelog, contract section 2.8.

use async_trait::async_trait;

use crate::error::{Parsed, RoadmapError};
use crate::model::changelog::{Changelog, ChangelogDraft};
use crate::model::id::ChangelogId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Call, Operation};

/// Creates a changelog, as a draft or public at once.
#[derive(Debug, Clone)]
pub struct CreateChangelog {
    /// The changelog, or why it could not be read.
    pub draft: Parsed<ChangelogDraft>,
}

#[async_trait]
impl Operation for CreateChangelog {
    type Reply = Changelog;

    async fn perform(&self, call: &Call<'_>, work: &mut dyn UnitOfWork) -> Result<Changelog, RoadmapError> {
        let draft = self.draft.as_ref().map_err(Clone::clone)?;
        let changelog = Changelog {
            id: call.new_id(ChangelogId::new),
            title: draft.title.clone(),
            content: draft.content.clone(),
            published_at: draft.publish.then_some(call.now),
            created_at: call.now,
        };
        work.insert_changelog(&changelog).await?;
        Ok(changelog)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, call, now};
    use pollster::block_on;

    #[test]
    fn publishing_is_a_matter_of_the_moment() {
        for (publish, status, published_at) in [(true, "published", Some(now())), (false, "draft", None)] {
            let mut unit = MockUnit::new();
            unit.expect_insert_changelog().times(1).returning(|_| Ok(()));
            let draft = ChangelogDraft::parse(Some("1.2"), Some("<p>New</p>"), None, publish);
            let ids = NumberedIds::default();
            let changelog = block_on(CreateChangelog { draft }.perform(&call(&ids), &mut unit)).unwrap();
            assert_eq!((changelog.status(), changelog.published_at), (status, published_at));
        }
    }
}
