//! Creates a changelog, contract section 2.8.

use async_trait::async_trait;

use crate::error::{RoadmapError, Validated};
use crate::model::changelog::{self, Changelog, ChangelogDraft};
use crate::model::id::ChangelogId;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Creates a changelog, either as a draft or published.
#[derive(Debug, Clone)]
pub struct CreateChangelog {
    /// The changelog, or its validation error.
    pub draft: Validated<ChangelogDraft>,
}

#[async_trait]
impl Operation for CreateChangelog {
    type Output = Changelog;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Changelog, RoadmapError> {
        let draft = self.draft.as_ref().map_err(Clone::clone)?;
        let cover = match draft.cover {
            Some(attachment) => Some(work.find_cover(attachment).await?.ok_or_else(changelog::invalid_cover)?),
            None => None,
        };
        let changelog = Changelog {
            id: context.new_id(ChangelogId::new),
            title: draft.title.clone(),
            content: draft.content.clone(),
            cover,
            published_at: draft.publish.then_some(context.now),
            created_at: context.now,
        };
        work.insert_changelog(&changelog).await?;
        Ok(changelog)
    }

    fn stored_bytes(&self) -> u64 {
        self.draft.as_ref().map_or(0, |draft| storage::row_bytes(&[draft.title.as_str(), draft.content.as_str()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Filename;
    use crate::model::changelog::CoverImage;
    use crate::model::id::AttachmentId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now};
    use pollster::block_on;
    use uuid::Uuid;

    fn file() -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(0xf11e))
    }

    fn create(cover: Option<&str>, publish: bool, unit: &mut MockUnit) -> Result<Changelog, RoadmapError> {
        let draft = ChangelogDraft::parse(Some("1.2"), Some("<p>New</p>"), cover, publish, |_| Some(file()));
        let ids = NumberedIds::default();
        block_on(CreateChangelog { draft }.perform(&context(&ids), unit))
    }

    #[test]
    fn a_published_changelog_has_its_time_of_publication() {
        for (publish, status, published_at) in [(true, "published", Some(now())), (false, "draft", None)] {
            let mut unit = MockUnit::new();
            unit.expect_insert_changelog().times(1).returning(|_| Ok(()));
            let changelog = create(None, publish, &mut unit).unwrap();
            assert_eq!((changelog.status(), changelog.published_at), (status, published_at));
        }
    }

    #[test]
    fn a_cover_is_a_file_of_the_workspace() {
        let cover = CoverImage { attachment: file(), filename: Filename::sanitize("cover.png") };
        let mut unit = MockUnit::new();
        let found = cover.clone();
        unit.expect_find_cover().withf(|id| *id == file()).return_once(move |_| Ok(Some(found)));
        unit.expect_insert_changelog().times(1).returning(|_| Ok(()));
        assert_eq!(create(Some("signed"), false, &mut unit).unwrap().cover, Some(cover));

        let mut unit = MockUnit::new();
        unit.expect_find_cover().return_once(|_| Ok(None));
        let error = create(Some("signed"), false, &mut unit).unwrap_err();
        assert_eq!(error.to_string(), "Cover image is invalid");
    }
}
