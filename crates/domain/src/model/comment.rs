//! Public comments on a feature request, contract section 2.6.

use crate::error::Validated;
use crate::model::feature_request::FeatureRequestRef;
use crate::model::html::CleanHtml;
use crate::model::id::CommentId;
use crate::model::member::Author;
use crate::model::timestamp::Timestamp;

/// A comment as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentDraft {
    /// The comment.
    pub content: CleanHtml,
    /// Whom it is by.
    pub author: Author,
    /// Whether every subscribed voter gets it by mail.
    pub notify_all_voters: bool,
}

impl CommentDraft {
    /// Checks the fields of a comment.
    ///
    /// # Errors
    /// `content` without text or too long, an `author_email` too long.
    pub fn parse(content: Option<&str>, author_email: Option<&str>, notify_all_voters: bool) -> Validated<Self> {
        Ok(Self {
            content: CleanHtml::parse("content", content.unwrap_or_default())?,
            author: Author::parse("author_email", author_email)?,
            notify_all_voters,
        })
    }
}

/// A comment about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewComment {
    /// Identity.
    pub id: CommentId,
    /// The request it is on.
    pub request: FeatureRequestRef,
    /// The comment.
    pub content: CleanHtml,
    /// Whom it is by.
    pub author: Author,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A comment as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Identity.
    pub id: CommentId,
    /// The cleaned HTML.
    pub content: CleanHtml,
    /// When it was made.
    pub created_at: Timestamp,
}
