//! Merges a feature request into another one, and undoes merges.

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::event::EventContent;
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, RequestLink};
use crate::policy::merging::{MergeDecision, decide};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};
use crate::usecase::indexing::index;
use crate::usecase::records::{load_detail, record_event};
use serde_json::Value;

/// Merges a feature request into another one.
#[derive(Debug, Clone)]
pub struct MergeFeatureRequests {
    /// The source, which becomes part of the target.
    pub source: FeatureRequestRef,
    /// The target, or its validation error.
    pub target: Validated<FeatureRequestRef>,
}

/// A merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// What the source was merged into.
    pub target: FeatureRequestDetail,
    /// The source.
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

#[async_trait]
impl Operation for MergeFeatureRequests {
    type Output = Merged;

    async fn perform(&self, context: &OperationContext<'_>, work: &mut dyn UnitOfWork) -> Result<Merged, RoadmapError> {
        let source = work.find_merge_node(&self.source).await?.ok_or_else(missing)?;
        let target = self.target.as_ref().map_err(Clone::clone)?;
        let target = work.find_merge_node(target).await?.ok_or_else(missing)?;
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
                record_event(context, work, source_id, context.actor.clone(), EventContent::MergedInto(into)).await?;
                record_event(context, work, into, context.actor.clone(), EventContent::Merged(source_id)).await?;
                (into, false)
            }
        };
        Ok(Merged { target: load_detail(work, into).await?, source: link, was_there })
    }

    fn recorded_bytes(&self, merged: &Merged) -> u64 {
        if merged.was_there { 0 } else { 2 * storage::EVENT_BYTES }
    }

    fn audit(&self, merged: &Merged) -> Audit {
        if merged.was_there {
            return Audit::Unchanged;
        }
        let changes = vec![Change::new("merged_into", Value::Null, merged.target.summary.id.to_string())];
        Audit::with_changes("feature_request.merge", "feature_request", Some(merged.source.id.uuid()), changes)
    }
}

#[async_trait]
impl Operation for UnmergeFeatureRequest {
    type Output = Unmerged;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Unmerged, RoadmapError> {
        let source = work.find_merge_node(&self.source).await?.ok_or_else(missing)?;
        let Some(parent) = source.ancestors.first().copied() else {
            return Err(RoadmapError::Conflict(Conflict::NotMerged));
        };
        let (source_id, root) = (source.request.id, source.root());
        let target = work.find_merge_node(&FeatureRequestRef::Id(parent)).await?.ok_or_else(missing)?;
        work.unlink_feature_request(source_id, context.now).await?;
        index(work, source_id).await?;
        index(work, root).await?;
        record_event(context, work, source_id, context.actor.clone(), EventContent::UnmergedFrom(parent)).await?;
        record_event(context, work, parent, context.actor.clone(), EventContent::Unmerged(source_id)).await?;
        Ok(Unmerged { source: load_detail(work, source_id).await?, target: RequestLink::from(&target.request) })
    }

    fn recorded_bytes(&self, _: &Unmerged) -> u64 {
        2 * storage::EVENT_BYTES
    }

    fn audit(&self, unmerged: &Unmerged) -> Audit {
        let changes = vec![Change::new("merged_into", unmerged.target.id.to_string(), Value::Null)];
        let id = unmerged.source.summary.id.uuid();
        Audit::with_changes("feature_request.unmerge", "feature_request", Some(id), changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::feature_request::FeatureRequestSummary;
    use crate::model::id::FeatureRequestId;
    use crate::policy::merging::MergeNode;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{self, NumberedIds, context, now, summary};
    use pollster::block_on;
    use std::collections::BTreeMap;
    use uuid::Uuid;

    fn id(number: i64) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(u128::from(number.unsigned_abs())))
    }

    /// A unit with these nodes: number and ancestors.
    fn unit(nodes: &'static [(i64, &[i64])]) -> MockUnit {
        let nodes: BTreeMap<i64, MergeNode> = nodes
            .iter()
            .map(|(number, ancestors)| {
                let request =
                    FeatureRequestSummary { id: id(*number), tag_number: *number, ..summary("Inbox", None, 0) };
                let ancestors = ancestors.iter().copied().map(id).collect();
                (*number, MergeNode { request, private: false, ancestors, descendants: 0 })
            })
            .collect();
        let mut unit = MockUnit::new();
        unit.expect_find_merge_node().returning(move |request| {
            Ok(match request {
                FeatureRequestRef::Number(number) => nodes.get(number).cloned(),
                FeatureRequestRef::Id(wanted) => nodes.values().find(|node| node.request.id == *wanted).cloned(),
                FeatureRequestRef::Unresolvable => None,
            })
        });
        unit.expect_feature_request_detail().returning(|wanted| {
            let mut found = fixtures::detail();
            found.summary.id = wanted;
            Ok(Some(found))
        });
        unit
    }

    fn merge(unit: &mut MockUnit, source: i64, target: Validated<i64>) -> Result<Merged, String> {
        let source = FeatureRequestRef::Number(source);
        let operation = MergeFeatureRequests { source, target: target.map(FeatureRequestRef::Number) };
        block_on(operation.perform(&context(&NumberedIds::default()), unit)).map_err(|error| error.to_string())
    }

    fn unmerge(unit: &mut MockUnit, source: i64) -> Result<Unmerged, String> {
        let operation = UnmergeFeatureRequest { source: FeatureRequestRef::Number(source) };
        block_on(operation.perform(&context(&NumberedIds::default()), unit)).map_err(|error| error.to_string())
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
        let merged = merge(&mut unit, 1, Ok(2)).unwrap();
        assert_eq!((merged.target.summary.id, merged.source.id, merged.was_there), (id(3), id(1), false));
    }

    #[test]
    fn a_merge_to_where_the_source_is_changes_nothing() {
        let merged = merge(&mut unit(&[(1, &[2, 3]), (2, &[3]), (3, &[])]), 1, Ok(3)).unwrap();
        assert_eq!((merged.target.summary.id, merged.was_there), (id(3), true));
        let operation =
            MergeFeatureRequests { source: FeatureRequestRef::Number(1), target: Ok(FeatureRequestRef::Number(3)) };
        assert_eq!(operation.audit(&merged), Audit::Unchanged);
    }

    #[test]
    fn the_source_is_checked_before_the_field_and_the_target() {
        let mut unit = unit(&[(1, &[])]);
        let invalid = || Err(FieldError::missing("target_id"));
        assert_eq!(merge(&mut unit, 9, invalid()).unwrap_err(), "FeatureRequest does not exist.");
        let message = "param is missing or the value is empty or invalid: target_id";
        assert_eq!(merge(&mut unit, 1, invalid()).unwrap_err(), message);
        assert_eq!(merge(&mut unit, 1, Ok(9)).unwrap_err(), "FeatureRequest does not exist.");
        assert_eq!(merge(&mut unit, 1, Ok(1)).unwrap_err(), "target_id is the feature request itself");
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
        assert_eq!((unmerged.source.summary.id, unmerged.target.id), (id(1), id(2)));
    }

    /// Addition 3.
    #[test]
    fn only_a_merged_request_is_unmerged() {
        let mut unit = unit(&[(1, &[])]);
        assert_eq!(unmerge(&mut unit, 1).unwrap_err(), "FeatureRequest is not merged.");
        assert_eq!(unmerge(&mut unit, 9).unwrap_err(), "FeatureRequest does not exist.");
    }
}
