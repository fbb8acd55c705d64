//! Removes everything that a customer has written, and restores it.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::event::EventContent;
use crate::model::id::CustomerId;
use crate::model::removal::{MAX_AT_ONCE, MovedTexts};
use crate::model::webhook_event::EventDraft;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};
use crate::usecase::indexing::index;
use crate::usecase::records::record_event;

/// Removes the texts of a customer, or restores removed ones: at most [`MAX_AT_ONCE`] of each kind. Removed ones are stored
/// for [`RETENTION`](crate::model::removal::RETENTION).
#[derive(Debug, Clone, Copy)]
pub struct MoveTexts {
    pub customer: CustomerId,
    /// Whether they are removed.
    pub removes: bool,
}

/// The fields of a feature request that change.
const FIELDS: [&str; 4] = ["title", "description", "tags", "private"];

/// Indexes the feature requests whose texts have changed, and what they are merged into, and records the edits.
async fn record_edits(
    moved: &MovedTexts,
    context: &OperationContext<'_>,
    work: &mut dyn UnitOfWork,
) -> Result<(), RoadmapError> {
    let mut roots = Vec::new();
    for (request, root) in &moved.requests {
        let fields = FIELDS.map(ToOwned::to_owned).to_vec();
        record_event(context, work, *request, context.actor.clone(), EventContent::Edited(fields)).await?;
        index(work, *request).await?;
        if let Some(root) = root
            && !roots.contains(root)
        {
            roots.push(*root);
        }
    }
    for root in roots {
        index(work, root).await?;
    }
    Ok(())
}

#[async_trait]
impl Operation for MoveTexts {
    type Output = MovedTexts;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<MovedTexts>, RoadmapError> {
        if !work.customer_exists(self.customer).await? {
            return Err(RoadmapError::NotFound(Resource::Customer));
        }
        let moved = if self.removes {
            work.remove_texts(self.customer, context.now, MAX_AT_ONCE).await?
        } else {
            work.restore_texts(self.customer, context.now, MAX_AT_ONCE).await?
        };
        record_edits(&moved, context, work).await?;
        // Numbers only: no text and no address.
        let action = if self.removes { "customer.remove_texts" } else { "customer.restore_texts" };
        let count = |field, count: u64| Change::new(field, serde_json::Value::Null, count);
        let requests = moved.requests.len() as u64;
        let audit = if moved.count() == 0 {
            Audit::Unchanged
        } else {
            let changes = vec![count("feature_requests", requests), count("comments", moved.comments)];
            Audit::with_changes(action, "customer", Some(self.customer.uuid()), changes)
        };
        // What a merged one leads to has not changed.
        let announced: Vec<EventDraft> = moved
            .requests
            .iter()
            .filter(|(_, root)| root.is_none())
            .map(|(request, _)| EventDraft::of_edit(*request, FIELDS))
            .collect();
        Ok(Performed::new(moved, audit).recording(requests * storage::EVENT_BYTES).announcing(announced))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, perform};
    use pollster::block_on;
    use uuid::Uuid;

    fn id(number: u128) -> FeatureRequestId {
        FeatureRequestId::new(Uuid::from_u128(number))
    }

    fn customer() -> CustomerId {
        CustomerId::new(Uuid::from_u128(3))
    }

    fn unit(exists: bool) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_customer_exists().returning(move |_| Ok(exists));
        unit
    }

    /// Two of three feature requests are merged into a fourth, which is indexed once.
    fn moved() -> MovedTexts {
        MovedTexts { comments: 2, requests: vec![(id(1), None), (id(2), Some(id(9))), (id(3), Some(id(9)))] }
    }

    #[test]
    fn each_changed_feature_request_is_indexed_and_each_root_once() {
        let mut unit = unit(true);
        unit.expect_remove_texts().withf(|_, _, limit| *limit == MAX_AT_ONCE).returning(|_, _, _| Ok(moved()));
        unit.expect_insert_event().times(3).returning(|_| Ok(()));
        unit.expect_searchable_text().returning(|_, _| Ok(None));
        for (number, times) in [(1, 1), (2, 1), (3, 1), (9, 1)] {
            unit.expect_delete_search_document().withf(move |of| *of == id(number)).times(times).returning(|_| Ok(()));
        }
        let operation = MoveTexts { customer: customer(), removes: true };
        let removed = perform(&operation, &mut unit).unwrap();
        assert_eq!((removed.output.count(), removed.recorded_bytes), (5, 3 * storage::EVENT_BYTES));
        assert_eq!(removed.events, [EventDraft::of_edit(id(1), FIELDS)]);
        let Audit::Entry(entry) = removed.audit else { panic!("no entry") };
        assert_eq!(entry.action, "customer.remove_texts");
    }

    #[test]
    fn nothing_that_was_removed_is_no_entry() {
        let mut unit = unit(true);
        unit.expect_remove_texts().returning(|_, _, _| Ok(MovedTexts::default()));
        let operation = MoveTexts { customer: customer(), removes: true };
        assert!(!perform(&operation, &mut unit).unwrap().has_changed());
    }

    #[test]
    fn texts_of_an_unknown_customer_are_neither_removed_nor_restored() {
        for removes in [true, false] {
            let operation = MoveTexts { customer: customer(), removes };
            let error = block_on(operation.perform(&context(&NumberedIds::default()), &mut unit(false))).unwrap_err();
            assert_eq!(error.to_string(), "Customer does not exist.");
        }
    }
}
