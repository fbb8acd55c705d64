//! Changes many feature requests in one unit of work: all of them, or none.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::admin::{Selection, Triage};
use crate::model::audit::Audit;
use crate::model::feature_request::{FeatureRequestRef, Tag};
use crate::model::id::FeatureRequestId;
use crate::model::member::Author;
use crate::ports::UnitOfWork;
use crate::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use crate::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::merge_feature_requests::MergeFeatureRequests;
use crate::usecase::move_feature_request::{MoveDraft, MoveFeatureRequest};

/// Does the same with all selected feature requests. Those that have been deleted meanwhile, or merged into others, are left
/// out: what would change are not they.
#[derive(Debug, Clone)]
pub struct TriageFeatureRequests {
    /// The feature requests.
    pub selection: Selection,
    /// What is done.
    pub triage: Triage,
}

/// The number of feature requests that have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triaged {
    /// How many have changed.
    pub changed: usize,
}

impl TriageFeatureRequests {
    async fn one(
        &self,
        id: FeatureRequestId,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let request = FeatureRequestRef::Id(id);
        let edit = |change| EditFeatureRequest { request, change };
        Ok(match &self.triage {
            Triage::Move(track) => {
                let draft = MoveDraft { track: *track, author: Author::Oldest, notify_all_voters: false };
                MoveFeatureRequest { request, draft }.perform(context, work).await?.map(drop)
            }
            Triage::AddTag(tag) => {
                let found = edit(FeatureRequestChange::default()).perform(context, work).await?;
                let mut tags: Vec<String> = found.output.detail.tags.iter().map(Tag::to_string).collect();
                tags.push(tag.to_string());
                let tags = Some(Tag::parse_list("tag", &tags)?);
                let change = FeatureRequestChange { tags, ..FeatureRequestChange::default() };
                edit(change).perform(context, work).await?.map(drop)
            }
            Triage::SetPrivate(private) => {
                let change = FeatureRequestChange { private: Some(*private), ..FeatureRequestChange::default() };
                edit(change).perform(context, work).await?.never_refused().map(drop)
            }
            Triage::MergeInto(target) => {
                let target = FeatureRequestRef::Id(*target);
                MergeFeatureRequests { source: request, target }.perform(context, work).await?.map(drop)
            }
            Triage::Approve => ApproveFeatureRequest { request }.perform(context, work).await?.map(drop),
            Triage::Decline => DeclineFeatureRequest { request }.perform(context, work).await?.map(drop),
        })
    }
}

#[async_trait]
impl Operation for TriageFeatureRequests {
    type Output = Triaged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Triaged>, RoadmapError> {
        let selected = self.selection.requests();
        let existing = work.existing_feature_requests(selected).await?;
        let mut triaged = Performed::new(Triaged { changed: 0 }, Audit::Unchanged);
        for id in selected.iter().copied().filter(|id| existing.contains(id)) {
            // Locked, so that it is not merged into another before it changes.
            if !matches!(self.triage, Triage::MergeInto(_)) {
                let root = work.lock_feature_request(&FeatureRequestRef::Id(id)).await?;
                if root.is_none_or(|root| root.id != id) {
                    continue;
                }
            }
            let one = self.one(id, context, work).await?;
            triaged.output.changed += usize::from(one.has_changed());
            triaged.join(one);
        }
        Ok(triaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::{
        Description, EditableFields, FeatureRequestDetail, FeatureRequestSummary, Title,
    };
    use crate::model::id::TrackId;
    use crate::model::track::Track;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{detail, name, perform, summary};
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn triage(unit: &mut MockUnit, ids: &[u128], triage: Triage) -> Result<Performed<Triaged>, RoadmapError> {
        let selection = Selection::new("id", ids.iter().copied().map(id).collect()).unwrap();
        perform(&TriageFeatureRequests { selection, triage }, unit)
    }

    /// A unit with the feature requests 1, 2 and 3, of which 3 is merged into 1.
    fn unit() -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_existing_feature_requests()
            .returning(|ids| Ok(ids.iter().copied().filter(|found| *found != id(4)).collect()));
        unit.expect_lock_feature_request().returning(|request| {
            let FeatureRequestRef::Id(found) = *request else { panic!("an ID") };
            let root = if found == id(3) { id(1) } else { found };
            Ok(Some(FeatureRequestSummary { id: root, ..summary("Inbox", None, 0) }))
        });
        unit
    }

    #[test]
    fn each_that_is_moved_has_its_own_entry() {
        let track = TrackId::new(Uuid::from_u128(9));
        let mut unit = unit();
        unit.expect_find_track().returning(move |_| Ok(Some(Track { id: track, name: name("Planned"), lane: None })));
        unit.expect_set_feature_request_track()
            .withf(move |request, to, _| [id(1), id(2)].contains(request) && *to == track)
            .times(2)
            .returning(|_, _, _| Ok(()));
        unit.expect_insert_event().times(2).returning(|_| Ok(()));
        // The third is merged, and the fourth is deleted.
        let triaged = triage(&mut unit, &[1, 2, 3, 4], Triage::Move(track)).unwrap();
        assert_eq!(triaged.output.changed, 2);
        assert_eq!(triaged.recorded_bytes, 2 * crate::policy::storage::EVENT_BYTES);
        let entries = triaged.audit.into_entries();
        let subjects: Vec<_> = entries.iter().map(|entry| (entry.action, entry.subject.id)).collect();
        assert_eq!(subjects, [1, 2].map(|number| ("feature_request.move", Some(id(number).uuid()))));
    }

    #[test]
    fn what_is_so_already_is_not_changed() {
        let mut unit = unit();
        unit.expect_find_editable_fields().returning(|request| {
            let FeatureRequestRef::Id(id) = *request else { panic!("an ID") };
            Ok(Some(EditableFields {
                id,
                title: Title::parse("title", "Dark mode").unwrap(),
                description: Description::parse("description", "").unwrap(),
                tags: Tag::parse_list("tags", &["UI".to_owned()]).unwrap(),
                private: true,
            }))
        });
        unit.expect_feature_request_detail().returning(|id| {
            let summary = FeatureRequestSummary { id, ..summary("Inbox", None, 0) };
            let tags = Tag::parse_list("tags", &["UI".to_owned()]).unwrap();
            Ok(Some(FeatureRequestDetail { summary, tags, private: true, ..detail() }))
        });
        let tag = Tag::parse("tag", "ui").unwrap();
        for change in [Triage::AddTag(tag), Triage::SetPrivate(true), Triage::Approve, Triage::Decline] {
            let triaged = triage(&mut unit, &[1, 2], change).unwrap();
            assert_eq!((triaged.output.changed, triaged.audit), (0, Audit::Unchanged));
        }
    }

    #[test]
    fn one_that_cannot_be_changed_fails_all() {
        let mut unit = unit();
        unit.expect_find_track().returning(|_| Ok(None));
        let track = TrackId::new(Uuid::from_u128(9));
        let error = triage(&mut unit, &[1, 2], Triage::Move(track)).unwrap_err();
        assert_eq!(error.to_string(), "Track does not exist.");
    }
}
