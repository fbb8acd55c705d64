//! Public comments on a feature request, contract section 2.6.

use crate::error::Validated;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::html::CleanHtml;
use crate::model::id::CommentId;
use crate::model::member::Author;
use crate::model::timestamp::Timestamp;

/// The validated fields of a new comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentDraft {
    /// Content.
    pub content: CleanHtml,
    /// Author.
    pub author: Author,
    /// Whether all subscribed voters are notified by mail.
    pub notify_all_voters: bool,
}

impl CommentDraft {
    /// Validates the fields of a comment.
    ///
    /// # Errors
    /// A `content` that is missing or invalid, or an `author_email` that is too long or has a NUL character.
    pub fn parse(content: Option<&str>, author_email: Option<&str>, notify_all_voters: bool) -> Validated<Self> {
        Ok(Self {
            content: CleanHtml::parse("content", content.unwrap_or_default())?,
            author: Author::parse("author_email", author_email)?,
            notify_all_voters,
        })
    }
}

/// A comment to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// ID.
    pub id: CommentId,
    /// The feature request.
    pub request: FeatureRequestRef,
    /// Content.
    pub content: CleanHtml,
    /// Author.
    pub author: Author,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}

/// A published comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// ID.
    pub id: CommentId,
    /// The sanitized HTML.
    pub content: CleanHtml,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}
