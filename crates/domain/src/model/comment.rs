//! Public comments on a feature request, contract section 2.6.

use crate::error::Parsed;
use crate::model::email_address::FoldedEmail;
use crate::model::feature_request::RequestRef;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, MemberId};
use crate::model::timestamp::Timestamp;

/// A comment as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentDraft {
    /// The comment.
    pub content: CleanHtml,
    /// The team member it is to be attributed to.
    pub author_email: Option<FoldedEmail>,
    /// Whether every subscribed voter gets it by mail.
    pub notify_all_voters: bool,
}

impl CommentDraft {
    /// Checks the fields of a comment.
    ///
    /// # Errors
    /// `content` without text or too long, an `author_email` too long.
    pub fn parse(content: Option<&str>, author_email: Option<&str>, notify_all_voters: bool) -> Parsed<Self> {
        Ok(Self {
            content: CleanHtml::parse("content", content.unwrap_or_default())?,
            author_email: FoldedEmail::of_author("author_email", author_email.unwrap_or_default())?,
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
    pub request: RequestRef,
    /// The comment.
    pub content: CleanHtml,
    /// Its author; none in a workspace without team members.
    pub author: Option<MemberId>,
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
