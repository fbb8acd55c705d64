//! Changes the name of a customer.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::customer::Customer;
use crate::model::id::CustomerId;
use crate::model::text::Name;
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Replaces the name of a customer.
#[derive(Debug, Clone)]
pub struct RenameCustomer {
    pub customer: CustomerId,
    /// The new name.
    pub name: Name,
}

/// A customer with a new name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerRenamed {
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
    ) -> Result<Performed<CustomerRenamed>, RoadmapError> {
        let renamed = work.rename_customer(self.customer, &self.name).await?;
        let (customer, old) = renamed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        let has_changed = old.as_ref() != Some(&self.name);
        // The names of customers are not recorded.
        let changes: Vec<_> = has_changed.then(|| Change::without_values("name")).into_iter().collect();
        let audit = Audit::of_changes("customer.update", "customer", Some(self.customer.uuid()), &changes);
        let bytes = storage::row_bytes(&[self.name.as_str()]);
        Ok(Performed::new(CustomerRenamed { customer, has_changed }, audit).storing(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, perform};
    use uuid::Uuid;

    fn rename(unit: &mut MockUnit, name: Name) -> Result<CustomerRenamed, String> {
        let operation = RenameCustomer { customer: CustomerId::new(Uuid::from_u128(3)), name };
        perform(&operation, unit).map(|performed| performed.output).map_err(|error| error.to_string())
    }

    #[test]
    fn an_unknown_customer_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_rename_customer().returning(|_, _| Ok(None));
        assert_eq!(rename(&mut unit, name("Ann")).unwrap_err(), "Customer does not exist.");
    }
}
