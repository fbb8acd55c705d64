//! Private notes of the team on a feature request, contract section 2.5. Never shown to customers.

use crate::error::Parsed;
use crate::model::email_address::FoldedEmail;
use crate::model::html::CleanHtml;
use crate::model::id::{MemberId, NoteId};

/// A note as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDraft {
    /// The note.
    pub body: CleanHtml,
    /// The team member it is to be attributed to.
    pub author_email: Option<FoldedEmail>,
}

impl NoteDraft {
    /// Checks the fields of a note.
    ///
    /// # Errors
    /// A `body` without text or too long, an `author_email` too long.
    pub fn parse(body: Option<&str>, author_email: Option<&str>) -> Parsed<Self> {
        Ok(Self {
            body: CleanHtml::parse("body", body.unwrap_or_default())?,
            author_email: FoldedEmail::of_author("author_email", author_email.unwrap_or_default())?,
        })
    }
}

/// A note about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// Identity.
    pub id: NoteId,
    /// The note.
    pub body: CleanHtml,
    /// Its author; none in a workspace without team members.
    pub author: Option<MemberId>,
}
