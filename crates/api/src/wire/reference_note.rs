//! Private notes, contract section 2.5. Only holders of a key read them.

use roadmap_domain::model::cursor::{CursorList, Placed};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::Listing;
use serde::Serialize;
use utoipa::ToSchema;

use super::customer::{self, CustomerReference};
use super::page::Envelope;

/// A page of private notes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReferenceNotesPage)]
pub(crate) struct Page<'a> {
    #[schema(max_items = 100)]
    reference_notes: Vec<Fields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A private note of the team on a feature request.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ListedReferenceNote)]
pub(crate) struct Fields<'a> {
    #[schema(format = "uuid")]
    id: String,
    /// Sanitized HTML.
    #[schema(min_length = 1)]
    body: &'a str,
    /// Null if the workspace had no members.
    #[schema(required = true)]
    author: Option<Author<'a>>,
    /// The customer that it is about.
    #[schema(required = true)]
    customer: Option<CustomerReference<'a>>,
    #[schema(format = DateTime)]
    created_at: String,
}

/// The team member who is the author of a private note.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReferenceNoteAuthor)]
pub(crate) struct Author<'a> {
    #[schema(min_length = 1, max_length = 200)]
    name: &'a str,
    #[schema(min_length = 3, max_length = 254)]
    email: &'a str,
}

fn fields(note: &Note) -> Fields<'_> {
    Fields {
        id: note.id.to_string(),
        body: note.body.as_str(),
        author: note.author.as_ref().map(|(name, email)| Author { name: name.as_str(), email: email.as_str() }),
        customer: note.customer.as_ref().map(customer::reference),
        created_at: note.created_at.to_string(),
    }
}

pub(crate) fn listed(notes: &Listing<Note>, cursors: &CursorList) -> impl Serialize {
    let envelope = Envelope::with_cursor(notes, cursors, Placed::place);
    Page { reference_notes: notes.page_items().iter().map(fields).collect(), envelope }
}
