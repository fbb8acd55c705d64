//! Creates a changelog, contract section 2.8.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::changelog::{
    self, Changelog, ChangelogDetail, ChangelogDraft, CoverImage, EditableChangelog, Publication,
};
use crate::model::id::{AttachmentId, ChangelogId, FeatureRequestId};
use crate::model::mail::Topic;
use crate::model::picture::MAX_IN_CHANGELOG;
use crate::model::webhook_event::{EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::add_picture::keep_pictures;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::notify::notify_subscribers_later;
use serde_json::Value;

/// Creates a changelog: a draft, scheduled or published.
#[derive(Debug, Clone)]
pub struct CreateChangelog {
    pub draft: ChangelogDraft,
}

/// Returns the file of a cover, which must exist in the workspace and be an image that browsers show.
pub(crate) async fn find_cover(
    work: &mut dyn UnitOfWork,
    cover: Option<AttachmentId>,
) -> Result<Option<CoverImage>, RoadmapError> {
    match cover {
        Some(attachment) => {
            let image = work.find_cover(attachment).await?.filter(|(_, media_type)| media_type.is_inline());
            Ok(Some(image.map(|(cover, _)| cover).ok_or_else(changelog::invalid_cover)?))
        }
        None => Ok(None),
    }
}

/// Checks that all linked feature requests exist in the workspace.
pub(crate) async fn ensure_linked_exist(
    work: &mut dyn UnitOfWork,
    linked: &[FeatureRequestId],
) -> Result<(), RoadmapError> {
    if linked.is_empty() {
        return Ok(());
    }
    let existing = work.existing_feature_requests(linked).await?;
    let all_exist = linked.iter().all(|id| existing.contains(id));
    if all_exist { Ok(()) } else { Err(RoadmapError::NotFound(Resource::FeatureRequest)) }
}

#[async_trait]
impl Operation for CreateChangelog {
    type Output = ChangelogDetail;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ChangelogDetail>, RoadmapError> {
        let draft = &self.draft;
        let public_from = match draft.publication {
            Publication::Never => None,
            Publication::Now => Some(context.now),
            Publication::At(at) if at > context.now => Some(at),
            Publication::At(_) => return Err(changelog::publication_in_the_past().into()),
        };
        let cover = find_cover(work, draft.cover).await?;
        ensure_linked_exist(work, &draft.feature_requests).await?;
        let id = context.new_id(ChangelogId::new);
        let content = keep_pictures(work, ("content", &draft.content), id.uuid(), MAX_IN_CHANGELOG).await?;
        let changelog = Changelog {
            id,
            title: draft.title.clone(),
            content,
            category: draft.category,
            cover,
            public_from,
            created_at: context.now,
            updated_at: context.now,
        };
        work.insert_changelog(&changelog, &draft.feature_requests).await?;
        if let Some(at) = changelog.public_from.filter(|_| draft.notifies) {
            let feature_requests = draft.feature_requests.clone();
            let scheduled = EditableChangelog {
                changelog: changelog.clone(),
                feature_requests,
                is_notified: false,
                notifies: true,
            };
            work.save_changelog(&scheduled).await?;
            notify_subscribers_later(context, work, Topic::Changelog(changelog.id), at).await?;
        }
        let feature_requests = match draft.feature_requests.as_slice() {
            [] => Vec::new(),
            _ => work.linked_feature_requests(changelog.id).await?,
        };
        let time = changelog.public_from.map_or(Value::Null, |at| at.to_string().into());
        let changes = vec![
            Change::new("title", Value::Null, changelog.title.as_str()),
            Change::new("public_from", Value::Null, time),
        ];
        let mail = draft.notifies.then(|| Change::new("notifies", Value::Null, true));
        let changes = changes.into_iter().chain(mail).collect();
        let audit = Audit::with_changes("changelog.create", "changelog", Some(changelog.id.uuid()), changes);
        let links = storage::ROW_BYTES.saturating_mul(draft.feature_requests.len() as u64);
        let bytes = storage::row_bytes(&[draft.title.as_str(), draft.content.as_str()]) + links;
        // One that is scheduled is announced at its time.
        let announced = (draft.publication == Publication::Now)
            .then(|| EventDraft::of_changelog(EventKind::ChangelogPublished, changelog.id));
        let detail = ChangelogDetail { changelog, feature_requests };
        Ok(Performed::new(detail, audit).storing(bytes).announcing(announced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::attachment::Filename;
    use crate::model::changelog::{ChangelogFields, ChangelogState};
    use crate::model::media_type::MediaType;
    use crate::model::timestamp::Timestamp;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{now, perform};
    use time::Duration;
    use uuid::Uuid;

    fn file() -> AttachmentId {
        AttachmentId::new(Uuid::from_u128(0xf11e))
    }

    fn fields() -> ChangelogFields {
        ChangelogFields {
            title: Some("1.2".to_owned()),
            content: Some("<p>New</p>".to_owned()),
            ..ChangelogFields::default()
        }
    }

    fn create(
        fields: &ChangelogFields,
        publish: bool,
        unit: &mut MockUnit,
    ) -> Result<Performed<ChangelogDetail>, RoadmapError> {
        let draft = ChangelogDraft::parse(fields, publish, |_| Some(file()));
        perform(&CreateChangelog { draft: draft.unwrap() }, unit)
    }

    fn at(time: Timestamp) -> ChangelogFields {
        ChangelogFields { publish_at: Some(Some(time.to_string())), ..fields() }
    }

    /// Decision 4.
    #[test]
    fn a_changelog_is_published_now_later_or_never() {
        let later = now().plus(Duration::HOUR);
        for (fields, publish, state) in [
            (fields(), true, ChangelogState::Published(now())),
            (fields(), false, ChangelogState::Draft),
            (at(later), false, ChangelogState::Scheduled(later)),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_insert_changelog().times(1).returning(|_, _| Ok(()));
            let created = create(&fields, publish, &mut unit).unwrap();
            assert_eq!(created.output.changelog.state(now()), state);
            let announced = EventDraft::of_changelog(EventKind::ChangelogPublished, created.output.changelog.id);
            assert_eq!(created.events, if publish { vec![announced] } else { Vec::new() });
        }
        let error = create(&at(now()), false, &mut MockUnit::new()).unwrap_err();
        assert_eq!(error.to_string(), "publish_at is not in the future");
    }

    /// Decision 4.
    #[test]
    fn a_cover_is_a_file_of_the_workspace() {
        let with_cover = ChangelogFields { cover_image_signed_id: Some(Some("signed".to_owned())), ..fields() };
        let cover = CoverImage { attachment: file(), filename: Filename::sanitize("cover.png") };
        let mut unit = MockUnit::new();
        let row = (cover.clone(), MediaType::from_stored("image/webp".to_owned()));
        unit.expect_find_cover().withf(|id| *id == file()).return_once(move |_| Ok(Some(row)));
        unit.expect_insert_changelog().times(1).returning(|_, _| Ok(()));
        assert_eq!(create(&with_cover, false, &mut unit).unwrap().output.changelog.cover, Some(cover));

        for media_type in [None, Some("image/svg+xml"), Some("image/avif"), Some("text/html")] {
            let cover = CoverImage { attachment: file(), filename: Filename::sanitize("cover.png") };
            let row = media_type.map(|name| (cover, MediaType::from_stored(name.to_owned())));
            let mut unit = MockUnit::new();
            unit.expect_find_cover().return_once(|_| Ok(row));
            let error = create(&with_cover, false, &mut unit).unwrap_err();
            assert_eq!(error.to_string(), "Cover image is invalid", "{media_type:?}");
        }
    }
}
