//! Deletes a feature request with everything that belongs to it.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::feature_request::{FeatureRequestRef, RequestLink};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;
use crate::usecase::records::{deleted_request, is_hidden};

/// Deletes a feature request: itself, also if it is merged into another one.
#[derive(Debug, Clone, Copy)]
pub struct DeleteFeatureRequest {
    pub request: FeatureRequestRef,
    /// Whether what is merged into it is deleted, too.
    pub with_merged: bool,
}

/// A deleted feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureRequestDeleted {
    /// What it was.
    pub request: RequestLink,
    /// The number of feature requests that were merged into it and are deleted, too.
    pub merged: u64,
}

#[async_trait]
impl Operation for DeleteFeatureRequest {
    type Output = FeatureRequestDeleted;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<FeatureRequestDeleted>, RoadmapError> {
        let node = work.find_merge_node(&self.request).await?;
        let node = node.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        if node.descendants > 0 && !self.with_merged {
            return Err(RoadmapError::Conflict(Conflict::HasMerged));
        }
        let is_private = is_hidden(work, &node).await?;
        work.delete_feature_request(node.request.id).await?;
        // The words of what it was merged into do not include its own any more.
        if let Some(root) = node.ancestors.last() {
            index(work, *root).await?;
        }
        let deleted = FeatureRequestDeleted { request: RequestLink::from(&node.request), merged: node.descendants };
        let changes = [
            Some(Change::new("title", deleted.request.title.as_str(), Value::Null)),
            Some(Change::new("tag_number", deleted.request.tag_number, Value::Null)),
            (deleted.merged > 0).then(|| Change::new("merged", deleted.merged, 0)),
        ];
        let (id, changes) = (deleted.request.id.uuid(), changes.into_iter().flatten().collect());
        let audit = Audit::with_changes("feature_request.delete", "feature_request", Some(id), changes);
        let announced = deleted_request(&deleted.request, is_private);
        Ok(Performed::new(deleted, audit).announcing([announced]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::feature_request::FeatureRequestSummary;
    use crate::model::id::FeatureRequestId;
    use crate::policy::merging::MergeNode;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, request, summary};
    use uuid::Uuid;

    fn delete(unit: &mut MockUnit, with_merged: bool) -> Result<FeatureRequestDeleted, String> {
        let operation = DeleteFeatureRequest { request: request(), with_merged };
        let outcome = perform(&operation, unit);
        outcome.map_err(|error| error.to_string()).map(|performed| performed.output)
    }

    /// A public feature request with these ancestors.
    fn unit(ancestors: &'static [u128], descendants: u64) -> MockUnit {
        unit_with(false, ancestors, descendants)
    }

    fn unit_with(private: bool, ancestors: &'static [u128], descendants: u64) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_find_merge_node().withf(|of| *of == request()).returning(move |_| {
            let ancestors = ancestors.iter().map(|id| FeatureRequestId::new(Uuid::from_u128(*id))).collect();
            Ok(Some(MergeNode { request: summary("Inbox", None, 1), private, ancestors, descendants }))
        });
        unit
    }

    /// Expects a look at what the feature request is merged into.
    fn expect_root(unit: &mut MockUnit, root: u128, private: bool) {
        let id = FeatureRequestId::new(Uuid::from_u128(root));
        unit.expect_find_merge_node().withf(move |of| *of == FeatureRequestRef::Id(id)).returning(move |_| {
            let request = FeatureRequestSummary { id, ..summary("Inbox", None, 1) };
            Ok(Some(MergeNode { request, private, ancestors: Vec::new(), descendants: 1 }))
        });
    }

    /// Addition 2.
    #[test]
    fn merged_requests_are_deleted_only_when_asked_for() {
        assert_eq!(delete(&mut unit(&[], 1), false).unwrap_err(), "FeatureRequest has merged requests.");
        for (descendants, with_merged) in [(1, true), (0, false), (0, true)] {
            let mut unit = unit(&[], descendants);
            unit.expect_delete_feature_request()
                .withf(|id| *id == summary("", None, 0).id)
                .times(1)
                .returning(|_| Ok(()));
            assert_eq!(delete(&mut unit, with_merged).unwrap().merged, descendants);
        }
    }

    /// Addition 2.
    #[test]
    fn the_target_of_a_deleted_request_is_indexed_again() {
        let mut unit = unit(&[8, 9], 0);
        expect_root(&mut unit, 9, false);
        unit.expect_delete_feature_request().times(1).returning(|_| Ok(()));
        unit.expect_searchable_text()
            .withf(|id, _| *id == FeatureRequestId::new(Uuid::from_u128(9)))
            .times(1)
            .returning(|_, _| Ok(None));
        unit.expect_delete_search_document().times(1).returning(|_| Ok(()));
        delete(&mut unit, false).unwrap();
    }

    #[test]
    fn an_event_says_what_was_deleted_and_whether_it_was_private() {
        for (private, root, expected) in
            [(false, None, false), (true, None, true), (false, Some(false), false), (false, Some(true), true)]
        {
            let mut unit = unit_with(private, if root.is_some() { &[9] } else { &[] }, 0);
            if let Some(private) = root {
                expect_root(&mut unit, 9, private);
            }
            unit.expect_delete_feature_request().times(1).returning(|_| Ok(()));
            unit.expect_searchable_text().returning(|_, _| Ok(None));
            unit.expect_delete_search_document().returning(|_| Ok(()));
            let operation = DeleteFeatureRequest { request: request(), with_merged: false };
            let performed = perform(&operation, &mut unit).unwrap();
            assert_eq!(performed.events, [deleted_request(&performed.output.request, expected)]);
        }
    }
}
