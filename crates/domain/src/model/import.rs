//! Records of an import, as the stores write them: many at once, with the times and numbers that they have in their source.

use crate::model::feature_request::NewFeatureRequest;
use crate::model::id::{CustomerId, FeatureRequestId};
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
    /// Whether the customer gets mail about the feature request.
    pub is_subscribed: bool,
    pub at: Timestamp,
}
