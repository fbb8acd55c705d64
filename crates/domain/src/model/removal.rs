//! What a customer has written, and texts that the team has removed.

use time::Duration;

use crate::model::feature_request::{RequestLink, Title};
use crate::model::html::CleanHtml;
use crate::model::id::FeatureRequestId;
use crate::model::pagination::Listing;
use crate::model::timestamp::Timestamp;

/// How long removed texts are stored, so that a removal can be undone.
pub const RETENTION: Duration = Duration::days(30);

/// The number of feature requests, of comments, and of comments that wait, each, that one removal or its undoing moves at
/// most. The newest ones are moved first.
pub const MAX_AT_ONCE: u32 = 200;

/// The title of a feature request whose texts were removed.
pub const REMOVED_TITLE: &str = "[removed]";

/// What was removed or restored at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedTexts {
    /// The number of comments, also of those that wait for approval.
    pub comments: u64,
    /// The feature requests, each with the one that it is merged into in the end.
    pub requests: Vec<(FeatureRequestId, Option<FeatureRequestId>)>,
}

impl MovedTexts {
    /// Returns the number of texts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.comments + self.requests.len() as u64
    }
}

/// Who may see a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextState {
    /// Whoever may see the feature request.
    Shown,
    /// The team, and the author of a feature request: it is private.
    Private,
    /// The team and the author, until it is approved.
    Held,
    /// The team on the page of the customer, until the removed texts are purged.
    Removed(Timestamp),
}

impl TextState {
    /// Creates a state from those that stores read: `held`, `private` or `shown`, unless the text was removed.
    #[must_use]
    pub fn from_stored(state: &str, removed_at: Option<Timestamp>) -> Self {
        match (state, removed_at) {
            (_, Some(at)) => Self::Removed(at),
            ("held", _) => Self::Held,
            ("private", _) => Self::Private,
            _ => Self::Shown,
        }
    }
}

/// A text of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerText {
    /// The feature request, or the one that was commented on.
    pub request: RequestLink,
    /// The title of a feature request. `None` for a comment.
    pub title: Option<Title>,
    /// The description, which may be empty, or the comment.
    pub content: CleanHtml,
    /// Who may see it.
    pub state: TextState,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

/// The numbers of a customer's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextCounts {
    /// Feature requests that are not removed.
    pub requests: i64,
    /// Comments that are not removed, also those that wait for approval.
    pub comments: i64,
    pub removed: i64,
    /// When the first of the removed texts was removed.
    pub removed_at: Option<Timestamp>,
}

impl TextCounts {
    /// Returns the number of all texts.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.requests + self.comments + self.removed
    }
}

/// A page of a customer's texts, newest first, with the numbers of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomerTexts {
    pub page: Listing<CustomerText>,
    /// The numbers.
    pub counts: TextCounts,
}

impl CustomerTexts {
    /// Number of texts on a page.
    pub const PER_PAGE: u64 = 20;
    /// The last page that is read.
    pub const MAX_PAGE: u64 = 100;
}
