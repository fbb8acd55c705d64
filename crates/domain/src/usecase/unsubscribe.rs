//! Unsubscribes a voter from mail about one feature request or from all mail.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::id::CustomerId;
use crate::model::mail::Unsubscription;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Stops mail to a voter and deletes the waiting mails. It is idempotent.
#[derive(Debug, Clone, Copy)]
pub struct Unsubscribe {
    /// The voter.
    pub customer: CustomerId,
    /// The scope.
    pub what: Unsubscription,
}

#[async_trait]
impl Operation for Unsubscribe {
    type Output = ();

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let changed = work.unsubscribe(self.customer, self.what, context.now).await?;
        changed.ok_or(RoadmapError::NotFound(Resource::Customer))?;
        Ok(Performed::new((), Audit::OwnRecord(OwnRecord::Unsubscription)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now};
    use pollster::block_on;
    use uuid::Uuid;

    fn unsubscribe(is_known: bool) -> Result<(), RoadmapError> {
        let customer = CustomerId::new(Uuid::from_u128(3));
        let what = Unsubscription::Request(FeatureRequestId::new(Uuid::from_u128(4)));
        let mut unit = MockUnit::new();
        unit.expect_unsubscribe()
            .withf(move |who, from, at| (*who, *from, *at) == (customer, what, now()))
            .times(1)
            .returning(move |_, _, _| Ok(is_known.then_some(true)));
        let ids = NumberedIds::default();
        block_on(Unsubscribe { customer, what }.perform(&context(&ids), &mut unit)).map(|performed| performed.output)
    }

    #[test]
    fn a_voter_is_unsubscribed_in_the_unit() {
        unsubscribe(true).unwrap();
    }

    #[test]
    fn an_unknown_voter_does_not_exist() {
        assert_eq!(unsubscribe(false).unwrap_err().to_string(), "Customer does not exist.");
    }
}
