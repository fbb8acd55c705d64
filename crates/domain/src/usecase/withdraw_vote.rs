//! Withdraws the vote of a customer.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::vote::VoteWithdrawn;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext};

/// Withdraws a vote, and with it the subscription that came with it. Without a vote it changes nothing.
#[derive(Debug, Clone)]
pub struct WithdrawVote {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The voter's address, or its validation error.
    pub customer: Validated<EmailAddress>,
}

#[async_trait]
impl Operation for WithdrawVote {
    type Output = VoteWithdrawn;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<VoteWithdrawn, RoadmapError> {
        let missing = || RoadmapError::NotFound(Resource::FeatureRequest);
        match &self.customer {
            Ok(customer) => work.withdraw_vote(&self.request, customer.folded()).await?.ok_or_else(missing),
            Err(invalid) => {
                work.find_feature_request(&self.request).await?.ok_or_else(missing)?;
                Err(invalid.clone().into())
            }
        }
    }

    fn audit(&self, withdrawn: &VoteWithdrawn) -> Audit {
        if !withdrawn.vote_removed {
            return Audit::Unchanged;
        }
        let count = withdrawn.request.votes_count;
        let changes = vec![Change::new("votes_count", count + 1, count)];
        Audit::with_changes("vote.withdraw", "feature_request", Some(withdrawn.request.id.uuid()), changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::FieldError;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, request, summary};
    use pollster::block_on;

    fn operation(email: &str) -> WithdrawVote {
        WithdrawVote { request: request(), customer: EmailAddress::parse("email", email) }
    }

    fn withdraw(unit: &mut MockUnit, email: &str) -> Result<VoteWithdrawn, RoadmapError> {
        block_on(operation(email).perform(&context(&NumberedIds::default()), unit))
    }

    /// Addition 2.
    #[test]
    fn the_vote_is_found_by_folded_address_and_audited_if_there_was_one() {
        for vote_removed in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_withdraw_vote()
                .withf(|of, customer| *of == request() && customer.as_str() == "ann@example.com")
                .times(1)
                .returning(move |_, _| Ok(Some(VoteWithdrawn { request: summary("Inbox", None, 2), vote_removed })));
            let withdrawn = withdraw(&mut unit, "Ann@Example.com").unwrap();
            assert_eq!((withdrawn.vote_removed, withdrawn.request.votes_count), (vote_removed, 2));
            let audit = operation("ann@example.com").audit(&withdrawn);
            assert_eq!(audit == Audit::Unchanged, !vote_removed, "{audit:?}");
        }
    }

    #[test]
    fn an_unknown_request_is_reported_before_a_missing_address() {
        for exists in [true, false] {
            let mut unit = MockUnit::new();
            unit.expect_find_feature_request().returning(move |_| Ok(exists.then(|| summary("Inbox", None, 2))));
            match withdraw(&mut unit, " ").unwrap_err() {
                RoadmapError::Invalid(invalid) => assert!(exists && invalid == FieldError::missing("email")),
                error => assert!(!exists && matches!(error, RoadmapError::NotFound(Resource::FeatureRequest))),
            }
        }
    }
}
