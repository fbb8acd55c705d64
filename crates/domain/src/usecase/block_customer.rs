//! Blocks customers, and ends blocks.
//!
//! What a blocked person does on the portal has no effect, and nothing shows that: the same pages come, but no mail with a
//! link or a code. Calls of the API for the customer are those of the team, and have their effect.

use async_trait::async_trait;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::customer::CustomerName;
use crate::model::id::CustomerId;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Blocks a customer, who is no member, or ends the block. With a block, all sessions and open sign-ins end.
#[derive(Debug, Clone, Copy)]
pub struct BlockCustomer {
    pub customer: CustomerId,
    /// Whether the customer is blocked afterwards.
    pub is_blocked: bool,
}

/// A customer who was blocked, or is not blocked any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerBlocked {
    pub customer: CustomerName,
    /// Whether it was different before.
    pub has_changed: bool,
}

#[async_trait]
impl Operation for BlockCustomer {
    type Output = CustomerBlocked;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<CustomerBlocked>, RoadmapError> {
        let blocked_at = self.is_blocked.then_some(context.now);
        let changed = work.set_blocked(self.customer, blocked_at).await?;
        let (customer, has_changed) = changed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        if self.is_blocked {
            if work.find_member(customer.email.folded()).await?.is_some() {
                return Err(RoadmapError::Conflict(Conflict::IsMember));
            }
            work.end_sessions(customer.email.folded()).await?;
        }
        let audit = if has_changed {
            let action = if self.is_blocked { "customer.block" } else { "customer.unblock" };
            let changes = vec![Change::new("blocked", !self.is_blocked, self.is_blocked)];
            Audit::with_changes(action, "customer", Some(self.customer.uuid()), changes)
        } else {
            Audit::Unchanged
        };
        Ok(Performed::new(CustomerBlocked { customer, has_changed }, audit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;
    use crate::model::id::MemberId;
    use crate::model::member::{Member, Role};
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{name, now, perform};
    use uuid::Uuid;

    fn email() -> EmailAddress {
        EmailAddress::parse("email", "ann@example.com").unwrap()
    }

    fn customer() -> CustomerId {
        CustomerId::new(Uuid::from_u128(3))
    }

    fn unit(exists: bool, has_changed: bool) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_set_blocked()
            .returning(move |id, _| Ok(exists.then(|| (CustomerName { id, name: None, email: email() }, has_changed))));
        unit
    }

    fn block(is_blocked: bool, unit: &mut MockUnit) -> Result<Audit, String> {
        let operation = BlockCustomer { customer: customer(), is_blocked };
        perform(&operation, unit).map(|done| done.audit).map_err(|error| error.to_string())
    }

    #[test]
    fn a_block_ends_the_sessions_and_its_end_does_not() {
        for (is_blocked, action) in [(true, "customer.block"), (false, "customer.unblock")] {
            for has_changed in [true, false] {
                let mut unit = unit(true, has_changed);
                unit.expect_find_member().returning(|_| Ok(None));
                let ended = usize::from(is_blocked);
                unit.expect_end_sessions().withf(|of| of == email().folded()).times(ended).returning(|_| Ok(1));
                let audit = block(is_blocked, &mut unit).unwrap();
                assert_eq!(matches!(audit, Audit::Entry(entry) if entry.action == action), has_changed);
            }
        }
    }

    #[test]
    fn members_and_unknown_customers_are_not_blocked() {
        let mut of_member = unit(true, true);
        of_member.expect_find_member().returning(|_| {
            let id = MemberId::new(Uuid::from_u128(1));
            Ok(Some(Member { id, email: email(), name: name("Ann"), role: Role::Member, created_at: now() }))
        });
        assert_eq!(block(true, &mut of_member).unwrap_err(), "The customer is a member of the team.");
        assert_eq!(block(true, &mut unit(false, false)).unwrap_err(), "Customer does not exist.");
    }
}
