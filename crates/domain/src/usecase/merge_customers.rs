//! Merges two customers who are one person.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::admin::{CustomersMerged, same_customer};
use crate::model::audit::{Audit, Change};
use crate::model::id::CustomerId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Gives everything of a customer to another one and deletes the former. It cannot be undone.
#[derive(Debug, Clone)]
pub struct MergeCustomers {
    /// The customer who is gone afterwards.
    pub source: CustomerId,
    /// The customer who is left.
    pub target: CustomerId,
}

#[async_trait]
impl Operation for MergeCustomers {
    type Output = CustomersMerged;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<CustomersMerged>, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        work.customer_exists(self.source).await?.then_some(()).ok_or_else(missing)?;
        if self.target == self.source {
            return Err(same_customer().into());
        }
        let merged = work.merge_customers(self.source, self.target).await?.ok_or_else(missing)?;
        if merged.customer.blocked_at.is_some() {
            work.end_sessions(merged.customer.customer.email.folded()).await?;
        }
        // Addresses are not recorded.
        let id = merged.customer.customer.id.to_string();
        let changes = vec![Change::new("merged_into", serde_json::Value::Null, id)];
        let audit = Audit::with_changes("customer.merge", "customer", Some(self.source.uuid()), changes);
        Ok(Performed::new(merged, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::perform;
    use uuid::Uuid;

    /// Addition 4.
    #[test]
    fn both_customers_exist_and_differ() {
        let id = |number| CustomerId::new(Uuid::from_u128(number));
        for (exists, target, expected) in [
            (false, 2, "Customer does not exist."),
            (true, 1, "target_id is the customer itself"),
            (true, 2, "Customer does not exist."),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_customer_exists().returning(move |_| Ok(exists));
            unit.expect_merge_customers().returning(|_, _| Ok(None));
            let operation = MergeCustomers { source: id(1), target: id(target) };
            let error = perform(&operation, &mut unit).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
