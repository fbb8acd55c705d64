//! Changes many feature requests in one unit of work: all of them, or none.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::admin::{Selection, Triage};
use crate::model::audit::Audit;
use crate::model::feature_request::{EditableFields, FeatureRequestRef, Tag};
use crate::model::id::FeatureRequestId;
use crate::model::member::Author;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::ports::UnitOfWork;
use crate::usecase::approve_feature_request::{approve, decline};
use crate::usecase::delete_feature_request::DeleteFeatureRequest;
use crate::usecase::edit_feature_request::{FeatureRequestChange, edit};
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::merge_feature_requests::MergeFeatureRequests;
use crate::usecase::move_feature_request::{MoveDraft, move_to};
use crate::usecase::need_no_answer::need_no_answer;

/// Does the same with all selected feature requests. Those that have been deleted meanwhile, or merged into others, are left
/// out: what would change are not they.
#[derive(Debug, Clone)]
pub struct TriageFeatureRequests {
    pub selection: Selection,
    /// What is done.
    pub triage: Triage,
}

/// The number of feature requests that have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triaged {
    /// How many have changed.
    pub changed: usize,
    /// When: the timestamp of their entries in the audit log.
    pub at: Timestamp,
}

impl TriageFeatureRequests {
    /// Locks a feature request and changes it. Returns `None` if it has been deleted or merged meanwhile. `track` is the
    /// one that it is moved to.
    async fn change(
        &self,
        id: FeatureRequestId,
        track: Option<&Track>,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Option<Performed<()>>, RoadmapError> {
        let request = FeatureRequestRef::Id(id);
        Ok(Some(match &self.triage {
            Triage::Move(id_of_track) => {
                let locked = work.lock_feature_request(&request).await?;
                let Some(request) = locked.filter(|root| root.id == id) else { return Ok(None) };
                let track = track.ok_or(RoadmapError::NotFound(Resource::Track))?;
                let draft =
                    MoveDraft { track: *id_of_track, author: Author::Oldest, notify_all_voters: false, comment: None };
                move_to(track, request, &draft, context, work).await?.map(drop)
            }
            Triage::AddTag(tag) => {
                let Some(fields) = lock_fields(id, work).await? else { return Ok(None) };
                let mut tags: Vec<String> = fields.tags.iter().map(Tag::to_string).collect();
                tags.push(tag.to_string());
                let tags = Some(Tag::parse_list("tag", &tags)?);
                let change = FeatureRequestChange { tags, ..FeatureRequestChange::default() };
                edit(&fields, &change, context, work).await?.map(drop)
            }
            Triage::RemoveTag(tag) => {
                let Some(fields) = lock_fields(id, work).await? else { return Ok(None) };
                let tags = fields.tags.iter().filter(|other| !other.equals(tag)).cloned().collect();
                let change = FeatureRequestChange { tags: Some(tags), ..FeatureRequestChange::default() };
                edit(&fields, &change, context, work).await?.never_refused().map(drop)
            }
            Triage::SetPrivate(private) => {
                let Some(fields) = lock_fields(id, work).await? else { return Ok(None) };
                let change = FeatureRequestChange { private: Some(*private), ..FeatureRequestChange::default() };
                edit(&fields, &change, context, work).await?.never_refused().map(drop)
            }
            Triage::MergeInto(target) => {
                let target = FeatureRequestRef::Id(*target);
                MergeFeatureRequests { source: request, target, tells_voters: false }
                    .perform(context, work)
                    .await?
                    .map(drop)
            }
            Triage::Approve => {
                let Some(fields) = lock_fields(id, work).await? else { return Ok(None) };
                approve(&fields, context, work).await?.map(drop)
            }
            Triage::Decline => {
                let Some(fields) = lock_fields(id, work).await? else { return Ok(None) };
                decline(fields.id, context, work).await?.map(drop)
            }
            Triage::NoAnswerNeeded => {
                let locked = work.lock_feature_request(&request).await?;
                let Some(request) = locked.filter(|root| root.id == id) else { return Ok(None) };
                need_no_answer(request.id, context, work).await?.map(drop)
            }
            Triage::Delete => {
                let node = work.find_merge_node(&request).await?;
                if node.is_none_or(|node| !node.ancestors.is_empty()) {
                    return Ok(None);
                }
                DeleteFeatureRequest { request, with_merged: false }.perform(context, work).await?.map(drop)
            }
        }))
    }
}

/// Locks a feature request and returns its fields, or `None` if it has been deleted or merged meanwhile.
async fn lock_fields(id: FeatureRequestId, work: &mut dyn UnitOfWork) -> Result<Option<EditableFields>, RoadmapError> {
    let fields = work.find_editable_fields(&FeatureRequestRef::Id(id)).await?;
    Ok(fields.filter(|root| root.id == id))
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
        let track = match &self.triage {
            Triage::Move(track) => work.find_track(*track).await?,
            _ => None,
        };
        let mut triaged = Performed::new(Triaged { changed: 0, at: context.now }, Audit::Unchanged);
        for id in selected.iter().copied().filter(|id| existing.contains(id)) {
            if let Some(one) = self.change(id, track.as_ref(), context, work).await? {
                triaged.output.changed += usize::from(one.has_changed());
                triaged.join(one);
            }
        }
        Ok(triaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::{Description, FeatureRequestDetail, FeatureRequestSummary, Title};
    use crate::model::id::TrackId;
    use crate::policy::merging::MergeNode;
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
            .times(1)
            .returning(|ids| Ok(ids.iter().copied().filter(|existing| *existing != id(4)).collect()));
        unit
    }

    /// Returns the root of a feature request of [`unit`].
    fn root(request: &FeatureRequestRef) -> FeatureRequestId {
        let FeatureRequestRef::Id(request) = *request else { panic!("an ID") };
        if request == id(3) { id(1) } else { request }
    }

    /// Expects that some feature requests are locked, once each, to move them.
    fn expect_locks(unit: &mut MockUnit, locks: usize) {
        unit.expect_lock_feature_request()
            .times(locks)
            .returning(|request| Ok(Some(FeatureRequestSummary { id: root(request), ..summary("Inbox", None, 0) })));
    }

    /// Expects that some feature requests are locked, once each, to edit them. They have the tag `UI` and are private.
    fn expect_edits(unit: &mut MockUnit, locks: usize) {
        unit.expect_find_editable_fields().times(locks).returning(|request| {
            Ok(Some(EditableFields {
                id: root(request),
                title: Title::parse("title", "Dark mode").unwrap(),
                description: Description::parse("description", "").unwrap(),
                tags: Tag::parse_list("tags", &["UI".to_owned()]).unwrap(),
                private: true,
            }))
        });
    }

    /// Expects that feature requests are read with all of their fields.
    fn expect_details(unit: &mut MockUnit, awaiting_approval: bool) {
        unit.expect_feature_request_detail().returning(move |id| {
            let summary = FeatureRequestSummary { id, ..summary("Inbox", None, 0) };
            let tags = Tag::parse_list("tags", &["UI".to_owned()]).unwrap();
            Ok(Some(FeatureRequestDetail { summary, tags, private: true, awaiting_approval, ..detail() }))
        });
    }

    #[test]
    fn each_that_is_moved_is_locked_once_and_has_its_own_entry() {
        let track = TrackId::new(Uuid::from_u128(9));
        let mut unit = unit();
        expect_locks(&mut unit, 3);
        unit.expect_find_track()
            .times(1)
            .returning(move |_| Ok(Some(Track { id: track, name: name("Planned"), lane: None })));
        unit.expect_set_feature_request_track()
            .withf(move |request, to, _, _| [id(1), id(2)].contains(request) && *to == track)
            .times(2)
            .returning(|_, _, _, _| Ok(()));
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
    fn each_that_is_edited_is_locked_once_and_merged_ones_are_left_out() {
        let tag = Tag::parse("tag", "API").unwrap();
        let had = Tag::parse("tag", "ui").unwrap();
        for (change, action) in [
            (Triage::AddTag(tag), "feature_request.update"),
            (Triage::RemoveTag(had), "feature_request.update"),
            (Triage::SetPrivate(false), "feature_request.update"),
            (Triage::Approve, "feature_request.approve"),
            (Triage::Decline, "feature_request.decline"),
        ] {
            let mut unit = unit();
            expect_edits(&mut unit, 3);
            expect_details(&mut unit, true);
            let (saves, declines) = if change == Triage::Decline { (0, 2) } else { (2, 0) };
            unit.expect_save_editable_fields().times(saves).returning(|_, _| Ok(()));
            unit.expect_searchable_text().times(saves).returning(|_, _| Ok(None));
            unit.expect_delete_search_document().times(saves).returning(|_| Ok(()));
            unit.expect_insert_event().times(saves).returning(|_| Ok(()));
            unit.expect_decline_feature_request().times(declines).returning(|_, _| Ok(true));
            let triaged = triage(&mut unit, &[1, 2, 3, 4], change).unwrap();
            assert_eq!(triaged.output.changed, 2);
            let entries = triaged.audit.into_entries();
            let subjects: Vec<_> = entries.iter().map(|entry| (entry.action, entry.subject.id)).collect();
            assert_eq!(subjects, [1, 2].map(|number| (action, Some(id(number).uuid()))));
        }
    }

    #[test]
    fn what_is_so_already_is_not_changed() {
        let tag = |name| Tag::parse("tag", name).unwrap();
        let (had, missing) = (Triage::AddTag(tag("ui")), Triage::RemoveTag(tag("API")));
        for change in [had, missing, Triage::SetPrivate(true), Triage::Approve, Triage::Decline] {
            let mut unit = unit();
            expect_edits(&mut unit, 2);
            expect_details(&mut unit, false);
            let triaged = triage(&mut unit, &[1, 2], change).unwrap();
            assert_eq!((triaged.output.changed, triaged.audit), (0, Audit::Unchanged));
        }
    }

    #[test]
    fn what_is_deleted_is_neither_merged_nor_has_merged_ones() {
        for (descendants, expected) in [(0, Ok(2)), (1, Err("FeatureRequest has merged requests.".to_owned()))] {
            let mut unit = unit();
            unit.expect_find_merge_node().returning(move |request| {
                let FeatureRequestRef::Id(request) = *request else { panic!("an ID") };
                let ancestors = if request == id(3) { vec![id(1)] } else { Vec::new() };
                let request = FeatureRequestSummary { id: request, ..summary("Inbox", None, 1) };
                Ok(Some(MergeNode { request, private: false, ancestors, descendants }))
            });
            unit.expect_delete_feature_request()
                .withf(|deleted| [id(1), id(2)].contains(deleted))
                .returning(|_| Ok(()));
            let triaged = triage(&mut unit, &[1, 2, 3, 4], Triage::Delete);
            assert_eq!(triaged.map(|done| done.output.changed).map_err(|error| error.to_string()), expected);
        }
    }

    #[test]
    fn one_that_cannot_be_changed_fails_all() {
        let mut unit = unit();
        expect_locks(&mut unit, 1);
        unit.expect_find_track().returning(|_| Ok(None));
        let track = TrackId::new(Uuid::from_u128(9));
        let error = triage(&mut unit, &[1, 2], Triage::Move(track)).unwrap_err();
        assert_eq!(error.to_string(), "Track does not exist.");
    }
}
