//! Changes the name of a customer.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::customer::Customer;
use crate::model::id::CustomerId;
use crate::model::text::Name;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Replaces the name of a customer.
#[derive(Debug, Clone)]
pub struct RenameCustomer {
    /// The customer.
    pub customer: CustomerId,
    /// The new name, or its validation error.
    pub name: Validated<Name>,
}

/// A customer with a new name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerRenamed {
    /// The customer.
    pub customer: Customer,
    /// Whether the name is another one than before.
    pub has_changed: bool,
}

#[async_trait]
impl Operation for RenameCustomer {
    type Output = CustomerRenamed;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<CustomerRenamed, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::Customer);
        let name = match &self.name {
            Ok(name) => name,
            Err(invalid) => {
                work.customer_exists(self.customer).await?.then_some(()).ok_or_else(missing)?;
                return Err(invalid.clone().into());
            }
        };
        let (customer, old) = work.rename_customer(self.customer, name).await?.ok_or_else(missing)?;
        Ok(CustomerRenamed { customer, has_changed: old.as_ref() != Some(name) })
    }

    fn stored_bytes(&self) -> u64 {
        self.name.as_ref().map_or(0, |name| storage::row_bytes(&[name.as_str()]))
    }

    /// The names of customers are not recorded.
    fn audit(&self, renamed: &CustomerRenamed) -> Audit {
        if !renamed.has_changed {
            return Audit::Unchanged;
        }
        let changes = vec![Change::without_values("name")];
        Audit::with_changes("customer.update", "customer", Some(self.customer.uuid()), changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::model::customer::CustomerName;
    use crate::model::email_address::EmailAddress;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, name, now};
    use pollster::block_on;
    use uuid::Uuid;

    fn rename(unit: &mut MockUnit, name: Validated<Name>) -> Result<CustomerRenamed, String> {
        let operation = RenameCustomer { customer: CustomerId::new(Uuid::from_u128(3)), name };
        block_on(operation.perform(&context(&NumberedIds::default()), unit)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_new_name_is_saved() {
        for (old, has_changed) in [(None, true), (Some("Ann"), false), (Some("Anne"), true)] {
            let mut unit = MockUnit::new();
            unit.expect_rename_customer().withf(|_, new| new.as_str() == "Ann").times(1).returning(move |id, new| {
                let email = EmailAddress::parse("email", "ann@example.com").unwrap();
                let customer = CustomerName { id, name: Some(new.clone()), email };
                Ok(Some((Customer { customer, votes_count: 2, created_at: now(), blocked_at: None }, old.map(name))))
            });
            assert_eq!(rename(&mut unit, Ok(name("Ann"))).unwrap().has_changed, has_changed);
        }
    }

    #[test]
    fn an_unknown_customer_is_reported_before_a_missing_name() {
        for (exists, message) in
            [(false, "Customer does not exist."), (true, "param is missing or the value is empty or invalid: name")]
        {
            let mut unit = MockUnit::new();
            unit.expect_customer_exists().returning(move |_| Ok(exists));
            assert_eq!(rename(&mut unit, Err(FieldError::missing("name"))).unwrap_err(), message);
        }
    }
}
