//! Private notes of the team on a feature request, contract section 2.5. Never shown to customers.

use crate::error::Validated;
use crate::model::customer::CustomerName;
use crate::model::email_address::EmailAddress;
use crate::model::html::CleanHtml;
use crate::model::id::NoteId;
use crate::model::member::Author;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// The validated fields of a new note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteDraft {
    /// Content.
    pub body: CleanHtml,
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

    /// Returns the note to be stored with `id`. Pictures become their alternative texts: they are for what customers see.
    #[must_use]
    pub fn to_new_note(&self, id: NoteId) -> NewNote {
        NewNote { id, body: self.body.without_pictures(), author: self.author.clone() }
    }
}

/// A note to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    pub id: NoteId,
    /// Content.
    pub body: CleanHtml,
    pub author: Author,
}

/// A private note of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub id: NoteId,
    /// The sanitized HTML.
    pub body: CleanHtml,
    /// The name and the address of its author. `None` if the workspace had no members.
    pub author: Option<(Name, EmailAddress)>,
    /// The customer that it is about.
    pub customer: Option<CustomerName>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
}
