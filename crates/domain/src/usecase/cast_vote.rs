//! Adds a voter and a private note to a feature request, contract section 4.7.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{CustomerId, NoteId};
use crate::model::vote::{NewVote, VoteCast, VoteDraft};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Casts a vote.
#[derive(Debug, Clone)]
pub struct CastVote {
    /// The feature request.
    pub request: FeatureRequestRef,
    /// The voter and the note.
    pub draft: VoteDraft,
}

#[async_trait]
impl Operation for CastVote {
    type Output = VoteCast;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<VoteCast>, RoadmapError> {
        let VoteDraft { customer, note } = &self.draft;
        let vote = NewVote {
            request: self.request,
            customer: customer.as_ref().map(|customer| customer.to_new_customer(context.new_id(CustomerId::new))),
            note: note.as_ref().map(|note| note.to_new_note(context.new_id(NoteId::new))),
            at: context.now,
        };
        let cast = work.cast_vote(&vote).await?.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        // A note, and a first name, are stored also with a vote that was there.
        let stores_more = note.is_some() || customer.as_ref().is_some_and(|customer| customer.name.is_some());
        let has_changed = stores_more || !cast.already_voted();
        let audit = if has_changed { Audit::OwnRecord(OwnRecord::Vote) } else { Audit::Unchanged };
        let voter = customer.as_ref().map_or(0, storage::voter_bytes);
        Ok(Performed::new(cast, audit).storing(voter + note.as_ref().map_or(0, storage::note_bytes)))
    }

    fn casts_one_vote(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::customer::CustomerDraft;
    use crate::model::note::NoteDraft;
    use crate::model::vote::VoteOutcome;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, now, request, summary};
    use pollster::block_on;

    fn ann() -> Option<CustomerDraft> {
        Some(CustomerDraft::parse(Some("Ann@example.com"), Some("Ann")).unwrap())
    }

    fn note() -> Option<NoteDraft> {
        Some(NoteDraft::parse(Some("<p>Wants it</p>"), Some("Bob@team.example")).unwrap())
    }

    fn cast(
        unit: &mut MockUnit,
        customer: Option<CustomerDraft>,
        note: Option<NoteDraft>,
    ) -> Result<VoteCast, RoadmapError> {
        let ids = NumberedIds::default();
        let operation = CastVote { request: request(), draft: VoteDraft::new(customer, note).unwrap() };
        block_on(operation.perform(&context(&ids), unit)).map(|performed| performed.output)
    }

    fn outcome(outcome: VoteOutcome) -> Result<Option<VoteCast>, StoreError> {
        Ok(Some(VoteCast { outcome, request: summary("Inbox", None, 3) }))
    }

    /// Contract 4.7.
    #[test]
    fn rule_1_a_private_note_is_attached_on_every_request() {
        for result in [VoteOutcome::Registered, VoteOutcome::AlreadyVoted] {
            let mut unit = MockUnit::new();
            unit.expect_cast_vote()
                .withf(|vote| {
                    vote.note.as_ref().is_some_and(|note| {
                        note.body.as_str() == "<p>Wants it</p>" && note.author.address() == Some("bob@team.example")
                    }) && vote.at == now()
                })
                .times(1)
                .returning(move |_| outcome(result));
            cast(&mut unit, ann(), note()).unwrap();
        }
    }

    /// Contract 2.4, 4.7.
    #[test]
    fn rule_2_the_customer_is_found_or_created_and_recorded_as_a_voter() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote()
            .withf(|vote| {
                vote.customer.as_ref().is_some_and(|customer| {
                    customer.email.folded().as_str() == "ann@example.com"
                        && customer.name.as_ref().is_some_and(|name| name.as_str() == "Ann")
                })
            })
            .times(1)
            .returning(|_| outcome(VoteOutcome::Registered));
        let cast = cast(&mut unit, ann(), note()).unwrap();
        assert_eq!((cast.vote_registered(), cast.already_voted()), (true, false));
    }

    /// Contract 3, 4.7.
    #[test]
    fn rule_3_a_second_vote_is_reported_not_counted() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote().returning(|_| outcome(VoteOutcome::AlreadyVoted));
        let cast = cast(&mut unit, ann(), note()).unwrap();
        assert_eq!((cast.vote_registered(), cast.already_voted()), (false, true));
    }

    /// Contract 4.7.
    #[test]
    fn rule_4_without_a_customer_only_the_note_is_added() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote()
            .withf(|vote| vote.customer.is_none() && vote.note.is_some())
            .times(1)
            .returning(|_| outcome(VoteOutcome::NoVoter));
        let cast = cast(&mut unit, None, note()).unwrap();
        assert_eq!((cast.vote_registered(), cast.already_voted()), (false, false));
    }

    #[test]
    fn the_note_of_a_vote_is_optional() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote().withf(|vote| vote.note.is_none()).returning(|_| outcome(VoteOutcome::Registered));
        cast(&mut unit, ann(), None).unwrap();
    }

    #[test]
    fn a_vote_for_an_unknown_request_is_rejected() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote().returning(|_| Ok(None));
        assert!(matches!(cast(&mut unit, ann(), note()), Err(RoadmapError::NotFound(Resource::FeatureRequest))));
    }
}
