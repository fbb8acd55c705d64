//! Records of an import, as the stores write them: many at once, with the times and numbers that they have in their source.

use crate::model::feature_request::NewFeatureRequest;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, FeatureRequestId, MemberId, NoteId};
use crate::model::timestamp::Timestamp;

/// A feature request of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRequest {
    pub request: NewFeatureRequest,
    /// How many votes for it are those of people of whom nothing is known.
    pub nameless_votes: u32,
}

/// A vote of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedVote {
    /// The feature request that was voted for, also if it is merged: its vote stays its own after an unmerge.
    pub request: FeatureRequestId,
    pub customer: CustomerId,
    /// Whether the customer is to get mail about the feature request. Nobody does whose mail is stopped.
    pub is_subscribed: bool,
    pub at: Timestamp,
}

/// A subscription without a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedSubscription {
    pub request: FeatureRequestId,
    pub customer: CustomerId,
    pub at: Timestamp,
}

/// The author of a comment of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportedAuthor {
    Customer(CustomerId),
    /// A customer whose comment waits for approval.
    HeldCustomer(CustomerId),
    /// A member, removed or not. `None`: the team, without a name.
    Member(Option<MemberId>),
}

/// A comment of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedComment {
    pub id: CommentId,
    /// The feature request that it was written on, also if that is merged.
    pub request: FeatureRequestId,
    pub author: ImportedAuthor,
    pub content: CleanHtml,
    pub at: Timestamp,
}

/// A private note of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedNote {
    pub id: NoteId,
    pub request: FeatureRequestId,
    /// The customer that it is about.
    pub customer: Option<CustomerId>,
    /// `None`: the team, without a name.
    pub author: Option<MemberId>,
    pub body: CleanHtml,
    pub at: Timestamp,
}
