//! What customers have written themselves, as far as it decides what they may still do about it.

use crate::model::feature_request::RequestLink;
use crate::model::html::CleanHtml;
use crate::model::id::FeatureRequestId;
use crate::model::timestamp::Timestamp;

/// The minutes in which authors may edit what they have written.
pub const EDITABLE_MINUTES: i64 = 15;

/// When something was written, and what has happened with it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Timestamp of the creation.
    pub at: Timestamp,
    /// Whether the team has answered since, or has decided about it.
    pub is_answered: bool,
    /// Whether it waits for approval.
    pub is_held: bool,
}

impl Written {
    /// Whether its author may edit it: in the first [`EDITABLE_MINUTES`], and until the team answers. What the team has
    /// approved stays as it was approved, so nothing else may be edited where `holds_posts` is the setting of the portal.
    #[must_use]
    pub fn is_editable(self, holds_posts: bool, now: Timestamp) -> bool {
        let age = now.millis().saturating_sub(self.at.millis());
        age < EDITABLE_MINUTES * 60_000 && !self.is_answered && (self.is_held || !holds_posts)
    }
}

/// A comment of a customer, public or waiting for approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnComment {
    /// The feature request that shows it: of a merged one, what it was merged into.
    pub request: RequestLink,
    pub content: CleanHtml,
    /// Answers are comments of the team on the same page.
    pub written: Written,
}

/// An idea of a customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnRequest {
    /// The idea itself, also if it is merged.
    pub request: RequestLink,
    /// What it was merged into.
    pub root: Option<FeatureRequestId>,
    /// The team has answered with a comment, or by moving it.
    pub written: Written,
    /// Whether others have a part in it: with a vote, a comment, a note, a follow, a merge, a changelog that says that it
    /// was shipped, or as the team that has decided about it.
    pub is_shared: bool,
}

impl OwnRequest {
    /// As [`Written::is_editable`]. A merged one is a part of another feature request.
    #[must_use]
    pub fn is_editable(&self, holds_posts: bool, now: Timestamp) -> bool {
        self.root.is_none() && self.written.is_editable(holds_posts, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{now, summary};

    #[test]
    fn posts_are_editable_for_a_time_and_until_they_are_answered_or_approved() {
        let minutes = |minutes: i64, millis: i64| now().millis() - minutes * 60_000 - millis;
        for (at, is_answered, is_held, holds_posts, expected) in [
            (minutes(0, 0), false, false, false, true),
            (minutes(14, 59_999), false, false, false, true),
            (minutes(15, 0), false, false, false, false),
            // The clocks of two processes differ.
            (minutes(-1, 0), false, false, false, true),
            (minutes(0, 0), true, false, false, false),
            (minutes(0, 0), false, true, true, true),
            (minutes(0, 0), false, true, false, true),
            (minutes(0, 0), false, false, true, false),
            (minutes(15, 0), false, true, true, false),
            (minutes(0, 0), true, true, true, false),
        ] {
            let written = Written { at: Timestamp::from_millis(at).unwrap(), is_answered, is_held };
            assert_eq!(written.is_editable(holds_posts, now()), expected, "{written:?} {holds_posts}");
            let request = RequestLink::from(&summary("Inbox", None, 0));
            let mut own = OwnRequest { root: Some(request.id), request, written, is_shared: false };
            assert!(!own.is_editable(holds_posts, now()));
            own.root = None;
            assert_eq!(own.is_editable(holds_posts, now()), expected);
        }
    }
}
