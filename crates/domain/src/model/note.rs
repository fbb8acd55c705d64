//! Private notes of the team on a feature request, contract section 2.5. Never shown to customers.

use crate::error::Validated;
use crate::model::html::CleanHtml;
use crate::model::id::NoteId;
use crate::model::member::Author;

/// The validated fields of a new note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDraft {
    /// Content.
    pub body: CleanHtml,
    /// Author.
    pub author: Author,
}

impl NoteDraft {
    /// Validates the fields of a note.
    ///
    /// # Errors
    /// A `body` that is missing or invalid, or an `author_email` that is too long or has a NUL character.
    pub fn parse(body: Option<&str>, author_email: Option<&str>) -> Validated<Self> {
        Ok(Self {
            body: CleanHtml::parse("body", body.unwrap_or_default())?,
            author: Author::parse("author_email", author_email)?,
        })
    }

    /// Returns the note to be stored with `id`.
    #[must_use]
    pub fn to_new_note(&self, id: NoteId) -> NewNote {
        NewNote { id, body: self.body.clone(), author: self.author.clone() }
    }
}

/// A note to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// ID.
    pub id: NoteId,
    /// Content.
    pub body: CleanHtml,
    /// Author.
    pub author: Author,
}
