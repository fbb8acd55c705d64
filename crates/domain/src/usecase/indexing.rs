//! Keeps the search document of a feature request up to date.

use crate::error::StoreError;
use crate::model::id::FeatureRequestId;
use crate::ports::UnitOfWork;

/// Maximum number of merged feature requests whose titles and tags are indexed with the one that they are merged into.
///
/// Bounds the work of indexing and the length of the document.
const MAX_INDEXED_MERGES: u32 = 20;

/// Indexes a feature request again. A private or merged one is removed from the index.
pub(crate) async fn index(work: &mut dyn UnitOfWork, request: FeatureRequestId) -> Result<(), StoreError> {
    match work.searchable_text(request, MAX_INDEXED_MERGES).await? {
        Some(text) => work.save_search_document(request, &text.document()).await,
        None => work.delete_search_document(request).await,
    }
}
