//! Merges a feature request into another one, and undoes merges.

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::event::EventContent;
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, RequestLink};
use crate::model::id::FeatureRequestId;
use crate::model::mail::Topic;
use crate::model::webhook_event::{EventDetails, EventDraft, EventKind, LinkDetails};
use crate::policy::merging::{MergeDecision, decide};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;
use crate::usecase::notify::notify_subscribers;
use crate::usecase::records::{is_hidden, load_detail, record_event};
use serde_json::Value;

/// Merges a feature request into another one.
#[derive(Debug, Clone)]
pub struct MergeFeatureRequests {
    /// The source, which becomes part of the target.
    pub source: FeatureRequestRef,
    pub target: FeatureRequestRef,
    /// Whether the customers who are subscribed to the source get mail. Nobody hears of a private target.
    pub tells_voters: bool,
}

/// A merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// What the source was merged into.
    pub target: FeatureRequestDetail,
    pub source: RequestLink,
    /// Whether the source was there before.
    pub was_there: bool,
}

/// Undoes the merge of a feature request. What is merged into it stays merged into it.
#[derive(Debug, Clone)]
pub struct UnmergeFeatureRequest {
    /// The feature request that was merged.
    pub source: FeatureRequestRef,
}

/// An undone merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmerged {
    /// The feature request, which stands for itself again.
    pub source: FeatureRequestDetail,
    /// What it was merged into.
    pub target: RequestLink,
}

fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::FeatureRequest)
}

/// The event of a feature request and of the other side of its merge.
fn announcement(kind: EventKind, request: FeatureRequestId, other: &RequestLink, private: bool) -> EventDraft {
    let source = Some(LinkDetails::new(other, private));
    EventDraft::of_request(kind, request).with(EventDetails { source, ..EventDetails::default() })
}

#[async_trait]
impl Operation for MergeFeatureRequests {
    type Output = Merged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Merged>, RoadmapError> {
        let source = work.find_merge_node(&self.source).await?.ok_or_else(missing)?;
        let target = work.find_merge_node(&self.target).await?.ok_or_else(missing)?;
        let root = match target.ancestors.last() {
            Some(root) => work.find_merge_node(&FeatureRequestRef::Id(*root)).await?.ok_or_else(missing)?,
            None => target.clone(),
        };
        let (source_id, link) = (source.request.id, RequestLink::from(&source.request));
        let (into, was_there) = match decide(&source, &target, &root)? {
            MergeDecision::AlreadyThere => (source.root(), true),
            MergeDecision::Link(into) => {
                work.link_feature_request(source_id, into, context.now).await?;
                index(work, source_id).await?;
                index(work, into).await?;
                let actor = || context.actor.clone();
                let event = record_event(context, work, source_id, actor(), EventContent::MergedInto(into)).await?;
                record_event(context, work, into, actor(), EventContent::Merged(source_id)).await?;
                if self.tells_voters && !root.private {
                    notify_subscribers(context, work, Topic::Merge(event)).await?;
                }
                (into, false)
            }
        };
        let merged = Merged { target: load_detail(work, into).await?, source: link, was_there };
        if was_there {
            return Ok(Performed::new(merged, Audit::Unchanged));
        }
        let changes = vec![Change::new("merged_into", Value::Null, into.to_string())];
        let audit = Audit::with_changes("feature_request.merge", "feature_request", Some(source_id.uuid()), changes);
        let announced = announcement(EventKind::FeatureRequestMerged, into, &merged.source, source.private);
        Ok(Performed::new(merged, audit).recording(2 * storage::EVENT_BYTES).announcing([announced]))
    }
}

#[async_trait]
impl Operation for UnmergeFeatureRequest {
    type Output = Unmerged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Unmerged>, RoadmapError> {
        let source = work.find_merge_node(&self.source).await?.ok_or_else(missing)?;
        let Some(parent) = source.ancestors.first().copied() else {
            return Err(RoadmapError::Conflict(Conflict::NotMerged));
        };
        let (source_id, root) = (source.request.id, source.root());
        let target = work.find_merge_node(&FeatureRequestRef::Id(parent)).await?.ok_or_else(missing)?;
        let is_private = is_hidden(work, &target).await?;
        work.unlink_feature_request(source_id, context.now).await?;
        index(work, source_id).await?;
        index(work, root).await?;
        record_event(context, work, source_id, context.actor.clone(), EventContent::UnmergedFrom(parent)).await?;
        record_event(context, work, parent, context.actor.clone(), EventContent::Unmerged(source_id)).await?;
        let changes = vec![Change::new("merged_into", parent.to_string(), Value::Null)];
        let audit = Audit::with_changes("feature_request.unmerge", "feature_request", Some(source_id.uuid()), changes);
        let source = load_detail(work, source_id).await?;
        let unmerged = Unmerged { source, target: RequestLink::from(&target.request) };
        let announced = announcement(EventKind::FeatureRequestUnmerged, source_id, &unmerged.target, is_private);
        Ok(Performed::new(unmerged, audit).recording(2 * storage::EVENT_BYTES).announcing([announced]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::feature_request::FeatureRequestSummary;
    use crate::policy::merging::MergeNode;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{self, now, perform, summary};
    use std::collections::BTreeMap;
    use uuid::Uuid;

    fn id(number: i64) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(u128::from(number.unsigned_abs())))
    }

    /// A unit with these nodes: number and ancestors. They are public.
    fn unit(nodes: &'static [(i64, &[i64])]) -> MockUnit {
        unit_with_private(nodes, &[])
    }

    /// A unit with these nodes, some of which are private.
    fn unit_with_private(nodes: &'static [(i64, &[i64])], private: &[i64]) -> MockUnit {
        let nodes: BTreeMap<i64, MergeNode> = nodes
            .iter()
            .map(|(number, ancestors)| {
                let request =
                    FeatureRequestSummary { id: id(*number), tag_number: *number, ..summary("Inbox", None, 0) };
                let ancestors = ancestors.iter().copied().map(id).collect();
                (*number, MergeNode { request, private: private.contains(number), ancestors, descendants: 0 })
            })
            .collect();
        let mut unit = MockUnit::new();
        unit.expect_find_merge_node().returning(move |request| {
            Ok(match request {
                FeatureRequestRef::Number(number) => nodes.get(number).cloned(),
                FeatureRequestRef::Id(id) => nodes.values().find(|node| node.request.id == *id).cloned(),
                FeatureRequestRef::Unresolvable => None,
            })
        });
        unit.expect_feature_request_detail().returning(|id| {
            let mut detail = fixtures::detail();
            detail.summary.id = id;
            Ok(Some(detail))
        });
        unit
    }

    fn merge(unit: &mut MockUnit, source: i64, target: i64) -> Result<Performed<Merged>, String> {
        let [source, target] = [source, target].map(FeatureRequestRef::Number);
        perform(&MergeFeatureRequests { source, target, tells_voters: false }, unit).map_err(|error| error.to_string())
    }

    fn unmerge(unit: &mut MockUnit, source: i64) -> Result<Performed<Unmerged>, String> {
        let operation = UnmergeFeatureRequest { source: FeatureRequestRef::Number(source) };
        perform(&operation, unit).map_err(|error| error.to_string())
    }

    /// Addition 3.
    #[test]
    fn a_merge_links_to_the_root_and_indexes_both() {
        let mut unit = unit(&[(1, &[]), (2, &[3]), (3, &[])]);
        unit.expect_link_feature_request()
            .withf(|source, target, at| (*source, *target, *at) == (id(1), id(3), now()))
            .times(1)
            .returning(|_, _, _| Ok(()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        unit.expect_delete_search_document().times(2).returning(|_| Ok(()));
        unit.expect_insert_event()
            .withf(|new| {
                (new.request, &new.event.content) == (id(1), &EventContent::MergedInto(id(3)))
                    || (new.request, &new.event.content) == (id(3), &EventContent::Merged(id(1)))
            })
            .times(2)
            .returning(|_| Ok(()));
        let merged = merge(&mut unit, 1, 2).unwrap();
        let announced = announcement(EventKind::FeatureRequestMerged, id(3), &merged.output.source, false);
        assert_eq!(merged.events, [announced]);
        let merged = merged.output;
        assert_eq!((merged.target.summary.id, merged.source.id, merged.was_there), (id(3), id(1), false));
    }

    #[test]
    fn an_event_says_whether_the_other_side_is_private() {
        let writes = |unit: &mut MockUnit| {
            unit.expect_link_feature_request().returning(|_, _, _| Ok(()));
            unit.expect_unlink_feature_request().returning(|_, _| Ok(()));
            unit.expect_searchable_text().returning(|_, _| Ok(None));
            unit.expect_delete_search_document().returning(|_| Ok(()));
            unit.expect_insert_event().returning(|_| Ok(()));
        };
        let is_private = |events: &[EventDraft]| {
            let [EventDraft { details: EventDetails { source: Some(source), .. }, .. }] = events else {
                panic!("one event")
            };
            source.private
        };
        for (private, expected) in [(vec![], false), (vec![1], true)] {
            let mut unit = unit_with_private(&[(1, &[]), (2, &[])], &private);
            writes(&mut unit);
            assert_eq!(is_private(&merge(&mut unit, 1, 2).unwrap().events), expected);
        }
        // What the former target is merged into hides it, too.
        for (private, expected) in [(vec![], false), (vec![1], false), (vec![2], true), (vec![3], true)] {
            let mut unit = unit_with_private(&[(1, &[2, 3]), (2, &[3]), (3, &[])], &private);
            writes(&mut unit);
            assert_eq!(is_private(&unmerge(&mut unit, 1).unwrap().events), expected, "{private:?}");
        }
    }

    #[test]
    fn a_merge_tells_voters_on_request() {
        use crate::model::id::EventId;
        for tells_voters in [false, true] {
            let mut unit = unit(&[(1, &[]), (2, &[])]);
            unit.expect_link_feature_request().returning(|_, _, _| Ok(()));
            unit.expect_searchable_text().returning(|_, _| Ok(None));
            unit.expect_delete_search_document().returning(|_| Ok(()));
            unit.expect_insert_event().times(2).returning(|_| Ok(()));
            // The first event is that of the source.
            unit.expect_enqueue_notifications()
                .withf(|topic, at, _, _| (*topic, *at) == (Topic::Merge(EventId::new(Uuid::from_u128(1))), now()))
                .times(usize::from(tells_voters))
                .returning(|_, _, _, _| Ok(()));
            let [source, target] = [1, 2].map(FeatureRequestRef::Number);
            perform(&MergeFeatureRequests { source, target, tells_voters }, &mut unit).unwrap();
        }
        // What is there already is not told again.
        let [source, target] = [1, 3].map(FeatureRequestRef::Number);
        let again = MergeFeatureRequests { source, target, tells_voters: true };
        perform(&again, &mut unit(&[(1, &[2, 3]), (2, &[3]), (3, &[])])).unwrap();
    }

    #[test]
    fn a_merge_to_where_the_source_is_changes_nothing() {
        let merged = merge(&mut unit(&[(1, &[2, 3]), (2, &[3]), (3, &[])]), 1, 3).unwrap();
        assert!(!merged.has_changed());
        assert_eq!((merged.output.target.summary.id, merged.output.was_there), (id(3), true));
    }

    #[test]
    fn the_source_and_the_target_exist_and_differ() {
        let mut unit = unit(&[(1, &[])]);
        for (source, target) in [(9, 1), (1, 9)] {
            assert_eq!(merge(&mut unit, source, target).unwrap_err(), "FeatureRequest does not exist.");
        }
        assert_eq!(merge(&mut unit, 1, 1).unwrap_err(), "target_id is the feature request itself");
    }

    #[test]
    fn an_unmerge_removes_the_link_alone() {
        let mut unit = unit(&[(1, &[2, 3]), (2, &[3]), (3, &[])]);
        unit.expect_unlink_feature_request()
            .withf(|source, at| (*source, *at) == (id(1), now()))
            .times(1)
            .returning(|_, _| Ok(()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        unit.expect_delete_search_document()
            .withf(|request| [id(1), id(3)].contains(request))
            .times(2)
            .returning(|_| Ok(()));
        unit.expect_insert_event().times(2).returning(|_| Ok(()));
        let unmerged = unmerge(&mut unit, 1).unwrap();
        let announced = announcement(EventKind::FeatureRequestUnmerged, id(1), &unmerged.output.target, false);
        assert_eq!(unmerged.events, [announced]);
        assert_eq!((unmerged.output.source.summary.id, unmerged.output.target.id), (id(1), id(2)));
    }
}
