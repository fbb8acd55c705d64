//! Adds a voter and a private note to a feature request, contract section 4.7.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::audit::{Audit, OwnRecord};
use crate::model::feature_request::FeatureRequestRef;
use crate::model::id::{CustomerId, NoteId};
use crate::model::vote::{NewVote, VoteCast, VoteDraft};
use crate::model::webhook_event::{EventCustomer, EventDraft, EventKind};
use crate::policy::storage;
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Casts a vote.
#[derive(Debug, Clone)]
pub struct CastVote {
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
        let request = cast.request.id;
        let voted = customer.as_ref().filter(|_| cast.vote_registered()).map(|customer| {
            let voter = EventCustomer::Address(customer.email.folded().clone());
            EventDraft::of_vote(EventKind::VoteCreated, request, voter)
        });
        let noted = vote.note.as_ref().map(|note| EventDraft::of_note(request, note.id));
        let voter = customer.as_ref().map_or(0, storage::voter_bytes);
        let bytes = voter + note.as_ref().map_or(0, storage::note_bytes);
        Ok(Performed::new(cast, audit).storing(bytes).announcing(voted).announcing(noted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::customer::CustomerDraft;
    use crate::model::email_address::EmailAddress;
    use crate::model::note::NoteDraft;
    use crate::model::vote::VoteOutcome;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{perform, request, summary};
    use uuid::Uuid;

    /// What is shown here is the audit record and the events. The rest is decided by SQL: the contract suite for stores
    /// shows it.
    #[test]
    fn a_repeated_vote_changes_nothing_unless_it_has_a_note_or_a_name() {
        let request_id = summary("", None, 0).id;
        let voted = || {
            let ann = EmailAddress::from_stored("ann@example.com".to_owned());
            let ann = EventCustomer::Address(ann.folded().clone());
            EventDraft::of_vote(EventKind::VoteCreated, request_id, ann)
        };
        // The ID before is that of the customer.
        let noted = || EventDraft::of_note(request_id, NoteId::new(Uuid::from_u128(2)));
        for (outcome, name, note, has_changed, events) in [
            (VoteOutcome::Registered, None, None, true, vec![voted()]),
            (VoteOutcome::Registered, None, Some("<p>Wants it</p>"), true, vec![voted(), noted()]),
            (VoteOutcome::AlreadyVoted, None, None, false, vec![]),
            (VoteOutcome::AlreadyVoted, Some("Ann"), None, true, vec![]),
            (VoteOutcome::AlreadyVoted, None, Some("<p>Wants it</p>"), true, vec![noted()]),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_cast_vote()
                .returning(move |_| Ok(Some(VoteCast { outcome, request: summary("Inbox", None, 3) })));
            let customer = CustomerDraft::parse(Some("Ann@example.com"), name).unwrap();
            let note = note.map(|note| NoteDraft::parse(Some(note), None).unwrap());
            let operation = CastVote { request: request(), draft: VoteDraft::new(Some(customer), note).unwrap() };
            let performed = perform(&operation, &mut unit).unwrap();
            assert_eq!(performed.has_changed(), has_changed, "{outcome:?} {name:?}");
            assert_eq!(performed.events, events, "{outcome:?} {name:?}");
        }
    }

    #[test]
    fn a_note_alone_is_no_vote() {
        let mut unit = MockUnit::new();
        unit.expect_cast_vote()
            .returning(|_| Ok(Some(VoteCast { outcome: VoteOutcome::NoVoter, request: summary("Inbox", None, 3) })));
        let note = NoteDraft::parse(Some("<p>Wants it</p>"), None).unwrap();
        let operation = CastVote { request: request(), draft: VoteDraft::new(None, Some(note)).unwrap() };
        let noted = EventDraft::of_note(summary("", None, 0).id, NoteId::new(Uuid::from_u128(1)));
        assert_eq!(perform(&operation, &mut unit).unwrap().events, [noted]);
    }
}
