//! Votes of customers for feature requests, contract sections 3 and 4.7.

use crate::error::{FieldError, Validated};
use crate::model::customer::{CustomerDraft, NewCustomer};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::CustomerId;
use crate::model::note::{NewNote, NoteDraft};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// The validated fields of a new vote: the voter and a private note of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteDraft {
    /// The customer. `None` when only a note is added.
    pub customer: Option<CustomerDraft>,
    /// The private note.
    pub note: Option<NoteDraft>,
}

impl VoteDraft {
    /// Creates a draft. The customer and the note are optional, but one of them is required.
    ///
    /// # Errors
    /// Both are missing.
    pub fn new(customer: Option<CustomerDraft>, note: Option<NoteDraft>) -> Validated<Self> {
        if customer.is_none() && note.is_none() {
            return Err(FieldError::missing("reference_note"));
        }
        Ok(Self { customer, note })
    }
}

/// A vote to be cast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVote {
    pub request: FeatureRequestRef,
    /// The voter, if any.
    pub customer: Option<NewCustomer>,
    /// The private note, if any.
    pub note: Option<NewNote>,
    pub at: Timestamp,
}

/// The outcome of a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteOutcome {
    /// A new vote was counted.
    Registered,
    /// The customer had voted for this feature request before. No vote was counted.
    AlreadyVoted,
    /// There was no customer, only a note.
    NoVoter,
}

/// The result of a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteCast {
    pub outcome: VoteOutcome,
    /// The feature request with the updated number of votes.
    pub request: FeatureRequestSummary,
}

impl VoteCast {
    /// Whether a new vote was counted.
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

/// The result of withdrawing a vote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteWithdrawn {
    /// The feature request with the updated number of votes.
    pub request: FeatureRequestSummary,
    /// Whether there was a vote.
    pub vote_removed: bool,
}

/// An entry in the list of voters of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voter {
    pub id: CustomerId,
    /// Display name, if known.
    pub name: Option<Name>,
    /// E-mail address as first written.
    pub email: EmailAddress,
    /// Timestamp of the vote.
    pub voted_at: Timestamp,
}

/// What is counted of the votes for a feature request and for what is merged into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VoteCounts {
    /// Number of [companies](super::company) of the voters.
    pub companies: u64,
    /// Number of the votes that were imported and of whose voters nothing is known.
    pub nameless: u64,
}

/// A feature request whose stored number of votes is not that of its votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongTally {
    pub tag_number: i64,
    /// The number that is shown.
    pub stored: i64,
    /// The different customers with a vote in its tree, and the votes without a person.
    pub counted: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.7; Decision 4.
    #[test]
    fn a_vote_draft_needs_a_voter_or_a_note() {
        assert_eq!(VoteDraft::new(None, None).unwrap_err(), FieldError::missing("reference_note"));
        assert!(VoteDraft::new(CustomerDraft::parse(Some("a@example.com"), None).ok(), None).is_ok());
        assert!(VoteDraft::new(None, NoteDraft::parse(Some("why"), None).ok()).is_ok());
    }

    /// Contract 4.7; Decision 4.
    #[test]
    fn customer_and_note_have_their_own_required_fields() {
        assert_eq!(CustomerDraft::parse(None, Some("Ann")).unwrap_err(), FieldError::missing("email"));
        assert_eq!(NoteDraft::parse(None, Some("a@example.com")).unwrap_err(), FieldError::missing("body"));
    }
}
