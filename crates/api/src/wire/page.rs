//! The pagination envelope, contract section 2.9.

use roadmap_domain::model::pagination::Listing;
use serde::Serialize;

/// Stands beside a list, at the top level.
#[derive(Debug, Serialize)]
pub(crate) struct Envelope {
    page: u64,
    page_size: u64,
    total_count: u64,
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
