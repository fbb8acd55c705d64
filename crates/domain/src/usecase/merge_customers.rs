//! Merges two customers who are one person.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::admin::{CustomersMerged, same_customer};
use crate::model::audit::{Audit, Change};
use crate::model::id::CustomerId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Gives everything of a customer to another one and deletes the former. It cannot be undone.
#[derive(Debug, Clone)]
pub struct MergeCustomers {
    /// The customer who is gone afterwards.
    pub source: CustomerId,
    /// The customer who is left, or its validation error.
    pub target: Validated<CustomerId>,
}

#[async_trait]
impl Operation for MergeCustomers {
    type Output = CustomersMerged;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<CustomersMerged, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        work.customer_exists(self.source).await?.then_some(()).ok_or_else(missing)?;
        let target = self.target.clone()?;
        if target == self.source {
            return Err(same_customer().into());
        }
        let merged = work.merge_customers(self.source, target).await?.ok_or_else(missing)?;
        if merged.customer.blocked_at.is_some() {
            work.end_sessions(merged.customer.customer.email.folded()).await?;
        }
        Ok(merged)
    }

    /// Addresses are not recorded.
    fn audit(&self, merged: &CustomersMerged) -> Audit {
        let changes =
            vec![Change::new("merged_into", serde_json::Value::Null, merged.customer.customer.id.to_string())];
        Audit::with_changes("customer.merge", "customer", Some(self.source.uuid()), changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context};
    use pollster::block_on;
    use uuid::Uuid;

    /// Addition 4.
    #[test]
    fn a_missing_customer_comes_before_a_bad_target() {
        let id = |number| CustomerId::new(Uuid::from_u128(number));
        for (exists, target, expected) in [
            (false, Err(FieldError::missing("target_id")), "Customer does not exist."),
            (
                true,
                Err(FieldError::missing("target_id")),
                "param is missing or the value is empty or invalid: target_id",
            ),
            (true, Ok(id(1)), "target_id is the customer itself"),
            (true, Ok(id(2)), "Customer does not exist."),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_customer_exists().returning(move |_| Ok(exists));
            unit.expect_merge_customers().returning(|_, _| Ok(None));
            let operation = MergeCustomers { source: id(1), target };
            let error = block_on(operation.perform(&context(&NumberedIds::default()), &mut unit)).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
