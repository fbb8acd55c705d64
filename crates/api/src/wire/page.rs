//! The pagination envelope, contract section 2.9.

use roadmap_domain::model::pagination::Listing;
use serde::Serialize;
use utoipa::ToSchema;

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
}

impl<T> From<&Listing<T>> for Envelope {
    fn from(listing: &Listing<T>) -> Self {
        Self {
            page: listing.request.page(),
            page_size: listing.request.size(),
            total_count: listing.total,
            total_pages: listing.total_pages(),
        }
    }
}
