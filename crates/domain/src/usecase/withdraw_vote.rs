//! Withdraws the vote of a customer.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::vote::VoteWithdrawn;
use crate::model::webhook_event::{EventCustomer, EventDraft, EventKind};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Withdraws a vote, and with it the subscription that came with it. Without a vote it changes nothing.
#[derive(Debug, Clone)]
pub struct WithdrawVote {
    pub request: FeatureRequestRef,
    /// The voter's address.
    pub customer: EmailAddress,
}

#[async_trait]
impl Operation for WithdrawVote {
    type Output = VoteWithdrawn;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<VoteWithdrawn>, RoadmapError> {
        let withdrawn = work.withdraw_vote(&self.request, self.customer.folded()).await?;
        let withdrawn = withdrawn.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        let audit = if withdrawn.vote_removed {
            let count = withdrawn.request.votes_count;
            let changes = vec![Change::new("votes_count", count + 1, count)];
            Audit::with_changes("vote.withdraw", "feature_request", Some(withdrawn.request.id.uuid()), changes)
        } else {
            Audit::Unchanged
        };
        let removed = withdrawn.vote_removed.then(|| {
            let voter = EventCustomer::Address(self.customer.folded().clone());
            EventDraft::of_vote(EventKind::VoteRemoved, withdrawn.request.id, voter)
        });
        Ok(Performed::new(withdrawn, audit).announcing(removed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, request, summary};

    fn operation(email: &str) -> WithdrawVote {
        WithdrawVote { request: request(), customer: EmailAddress::parse("email", email).unwrap() }
    }

    fn withdraw(unit: &mut MockUnit, email: &str) -> Result<Performed<VoteWithdrawn>, RoadmapError> {
        perform(&operation(email), unit)
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
            assert_eq!(withdrawn.has_changed(), vote_removed);
            let ann = EventCustomer::Address(operation("ann@example.com").customer.folded().clone());
            let removed = EventDraft::of_vote(EventKind::VoteRemoved, summary("", None, 0).id, ann);
            assert_eq!(withdrawn.events, if vote_removed { vec![removed] } else { Vec::new() });
            assert_eq!((withdrawn.output.vote_removed, withdrawn.output.request.votes_count), (vote_removed, 2));
        }
    }

    #[test]
    fn an_unknown_request_is_reported() {
        let mut unit = MockUnit::new();
        unit.expect_withdraw_vote().returning(|_, _| Ok(None));
        let outcome = withdraw(&mut unit, "ann@example.com");
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::FeatureRequest))));
    }
}
