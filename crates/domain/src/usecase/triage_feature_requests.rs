//! Changes many feature requests in one unit of work: all of them, or none.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::admin::{Selection, Triage};
use crate::model::audit::Audit;
use crate::model::feature_request::{FeatureRequestRef, Tag};
use crate::model::id::FeatureRequestId;
use crate::model::member::Author;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::approve_feature_request::{ApproveFeatureRequest, DeclineFeatureRequest};
use crate::usecase::edit_feature_request::{EditFeatureRequest, FeatureRequestChange};
use crate::usecase::executor::{Operation, OperationContext};
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

/// What was done with the selected feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triaged {
    /// How many have changed.
    pub changed: usize,
    audits: Vec<Audit>,
    recorded_bytes: u64,
}

/// What an operation on one feature request has done.
struct Done {
    audit: Audit,
    recorded_bytes: u64,
}

async fn perform<O: Operation>(
    operation: &O,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<Done, RoadmapError> {
    let output = operation.perform(context, work).await?;
    Ok(Done { audit: operation.audit(&output), recorded_bytes: operation.recorded_bytes(&output) })
}

impl TriageFeatureRequests {
    async fn one(
        &self,
        id: FeatureRequestId,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Done, RoadmapError> {
        let request = FeatureRequestRef::Id(id);
        let edit = |change| EditFeatureRequest { request, change: Ok(change) };
        match &self.triage {
            Triage::Move(track) => {
                let draft = MoveDraft { track: *track, author: Author::Oldest, notify_all_voters: false };
                perform(&MoveFeatureRequest { request, draft: Ok(draft), mails_per_day: None }, context, work).await
            }
            Triage::AddTag(tag) => {
                let found = edit(FeatureRequestChange::default()).perform(context, work).await?;
                let mut tags: Vec<String> = found.detail.tags.iter().map(Tag::to_string).collect();
                tags.push(tag.to_string());
                let tags = Some(Tag::parse_list("tag", &tags)?);
                perform(&edit(FeatureRequestChange { tags, ..FeatureRequestChange::default() }), context, work).await
            }
            Triage::SetPrivate(private) => {
                let private = Some(*private);
                perform(&edit(FeatureRequestChange { private, ..FeatureRequestChange::default() }), context, work).await
            }
            Triage::MergeInto(target) => {
                let target = Ok(FeatureRequestRef::Id(*target));
                perform(&MergeFeatureRequests { source: request, target }, context, work).await
            }
            Triage::Approve => perform(&ApproveFeatureRequest { request }, context, work).await,
            Triage::Decline => perform(&DeclineFeatureRequest { request }, context, work).await,
        }
    }
}

#[async_trait]
impl Operation for TriageFeatureRequests {
    type Output = Triaged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Triaged, RoadmapError> {
        let selected = self.selection.requests();
        let existing = work.existing_feature_requests(selected).await?;
        let mut triaged = Triaged { changed: 0, audits: Vec::new(), recorded_bytes: 0 };
        for id in selected.iter().copied().filter(|id| existing.contains(id)) {
            // Locked, so that it is not merged into another before it changes.
            if !matches!(self.triage, Triage::MergeInto(_)) {
                let root = work.lock_feature_request(&FeatureRequestRef::Id(id)).await?;
                if root.is_none_or(|root| root.id != id) {
                    continue;
                }
            }
            let done = self.one(id, context, work).await?;
            triaged.changed += usize::from(done.audit != Audit::Unchanged);
            triaged.audits.push(done.audit);
            triaged.recorded_bytes += done.recorded_bytes;
        }
        Ok(triaged)
    }

    fn stored_bytes(&self) -> u64 {
        let requests = self.selection.requests().len() as u64;
        match &self.triage {
            Triage::AddTag(tag) => requests * (storage::row_bytes(&[tag.as_str()]) + storage::EVENT_BYTES),
            Triage::Move(_) | Triage::SetPrivate(_) | Triage::MergeInto(_) | Triage::Approve | Triage::Decline => 0,
        }
    }

    fn recorded_bytes(&self, triaged: &Triaged) -> u64 {
        triaged.recorded_bytes
    }

    fn audit(&self, triaged: &Triaged) -> Audit {
        Audit::all(triaged.audits.iter().cloned())
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
    use crate::usecase::fixtures::{NumberedIds, context, detail, name, summary};
    use pollster::block_on;
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn triage(unit: &mut MockUnit, ids: &[u128], triage: Triage) -> Result<(Triaged, Audit), RoadmapError> {
        let selection = Selection::new("id", ids.iter().copied().map(id).collect()).unwrap();
        let operation = TriageFeatureRequests { selection, triage };
        let triaged = block_on(operation.perform(&context(&NumberedIds::default()), unit))?;
        let audit = operation.audit(&triaged);
        Ok((triaged, audit))
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
        let (triaged, audit) = triage(&mut unit, &[1, 2, 3, 4], Triage::Move(track)).unwrap();
        assert_eq!(triaged.changed, 2);
        assert_eq!(triaged.recorded_bytes, 2 * storage::EVENT_BYTES);
        let entries = audit.into_entries();
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
            let (triaged, audit) = triage(&mut unit, &[1, 2], change).unwrap();
            assert_eq!((triaged.changed, audit.into_entries().len()), (0, 0));
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
