//! Votes of customers for feature requests, contract sections 3 and 4.7.

use crate::error::{FieldError, Validated};
use crate::model::customer::{CustomerDraft, NewCustomer};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::CustomerId;
use crate::model::note::{NewNote, NoteDraft};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A vote as a call describes it: who votes, and what the team wants to remember of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteDraft {
    /// The customer; none when only a note is to be added.
    pub customer: Option<CustomerDraft>,
    /// The private note.
    pub note: Option<NoteDraft>,
}

impl VoteDraft {
    /// Puts a ballot together: customer and note are each optional, one of them is required.
    ///
    /// # Errors
    /// Neither is given.
    pub fn new(customer: Option<CustomerDraft>, note: Option<NoteDraft>) -> Validated<Self> {
        if customer.is_none() && note.is_none() {
            return Err(FieldError::missing("reference_note"));
        }
        Ok(Self { customer, note })
    }
}

/// A vote about to be cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVote {
    /// The request.
    pub request: FeatureRequestRef,
    /// The voter.
    pub customer: Option<NewCustomer>,
    /// The note.
    pub note: Option<NewNote>,
    /// When.
    pub at: Timestamp,
}

/// What became of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteOutcome {
    /// A new vote was counted.
    Registered,
    /// The customer had voted for this request before; nothing was counted.
    AlreadyVoted,
    /// There was no customer to vote, only a note to keep.
    NoVoter,
}

/// A vote that was cast, and the request after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteCast {
    /// What became of the vote.
    pub outcome: VoteOutcome,
    /// The request, with the count after this vote.
    pub request: FeatureRequestSummary,
}

impl VoteCast {
    /// Whether this call added a new vote.
    #[must_use]
    pub fn vote_registered(&self) -> bool {
        self.outcome == VoteOutcome::Registered
    }

    /// Whether the customer had voted before.
    #[must_use]
    pub fn already_voted(&self) -> bool {
        self.outcome == VoteOutcome::AlreadyVoted
    }
}

/// A voter of a request, as listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voter {
    /// The customer.
    pub id: CustomerId,
    /// Display name, if known.
    pub name: Option<Name>,
    /// Address as first written.
    pub email: EmailAddress,
    /// The moment of the vote.
    pub voted_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vote_draft_needs_a_voter_or_a_note() {
        assert_eq!(VoteDraft::new(None, None).unwrap_err(), FieldError::missing("reference_note"));
        assert!(VoteDraft::new(CustomerDraft::parse(Some("a@example.com"), None).ok(), None).is_ok());
        assert!(VoteDraft::new(None, NoteDraft::parse(Some("why"), None).ok()).is_ok());
    }

    #[test]
    fn each_part_needs_its_own_field() {
        assert_eq!(CustomerDraft::parse(None, Some("Ann")).unwrap_err(), FieldError::missing("email"));
        assert_eq!(NoteDraft::parse(None, Some("a@example.com")).unwrap_err(), FieldError::missing("body"));
    }
}
