//! The pagination envelope, contract section 2.9, and what lists of changes have instead of deleted records.

use roadmap_domain::model::cursor::{CursorList, Place};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The page of a list, at the top level of the response.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Envelope {
    #[schema(minimum = 1)]
    page: u64,
    #[schema(minimum = 1, maximum = 100)]
    page_size: u64,
    /// Items on all pages.
    total_count: u64,
    /// At least 1, even without items.
    #[schema(minimum = 1)]
    total_pages: u64,
    /// The `cursor` of the next page; null if there is none. Absent without `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

impl Envelope {
    /// The envelope of a list with cursors, whose items have these places.
    pub(crate) fn with_cursor<T>(listing: &Listing<T>, cursors: &CursorList, place: impl Fn(&T) -> Place) -> Self {
        let next_cursor = listing.next(place).map(|next| next.map(|place| cursors.cursor(place)));
        Self { next_cursor, ..listing.into() }
    }
}

impl<T> From<&Listing<T>> for Envelope {
    fn from(listing: &Listing<T>) -> Self {
        Self {
            page: listing.request.page(),
            page_size: listing.request.size(),
            total_count: listing.total,
            total_pages: listing.total_pages(),
            next_cursor: None,
        }
    }
}

/// A record that was deleted, or is not listed any more.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeletedRecord)]
pub(crate) struct Gone {
    #[schema(format = "uuid")]
    id: String,
    /// Always true.
    deleted: bool,
    /// The time of the deletion, or of the change because of which it is not listed any more.
    #[schema(format = DateTime)]
    updated_at: String,
}

pub(crate) fn gone(id: Uuid, updated_at: Timestamp) -> Gone {
    Gone { id: id.to_string(), deleted: true, updated_at: updated_at.to_string() }
}
