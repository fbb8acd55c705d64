//! Private notes of the team on a feature request, contract section 2.5. Never shown to customers.

use crate::error::Validated;
use crate::model::html::CleanHtml;
use crate::model::id::NoteId;
use crate::model::member::Author;

/// A note as a call describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDraft {
    /// The note.
    pub body: CleanHtml,
    /// Whom it is by.
    pub author: Author,
}

impl NoteDraft {
    /// Checks the fields of a note.
    ///
    /// # Errors
    /// A `body` without text or too long, an `author_email` too long.
    pub fn parse(body: Option<&str>, author_email: Option<&str>) -> Validated<Self> {
        Ok(Self {
            body: CleanHtml::parse("body", body.unwrap_or_default())?,
            author: Author::parse("author_email", author_email)?,
        })
    }

    /// The note as it is stored.
    #[must_use]
    pub fn to_new_note(&self, id: NoteId) -> NewNote {
        NewNote { id, body: self.body.clone(), author: self.author.clone() }
    }
}

/// A note about to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// Identity.
    pub id: NoteId,
    /// The note.
    pub body: CleanHtml,
    /// Whom it is by.
    pub author: Author,
}
