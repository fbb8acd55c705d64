//! Keeps the search document of a feature request up to date.

use crate::error::StoreError;
use crate::model::id::FeatureRequestId;
use crate::policy::storage;
use crate::ports::UnitOfWork;

/// Maximum number of merged feature requests whose titles and tags are indexed with the one that they are merged into.
///
/// Bounds the work of indexing and the length of the document.
const MAX_INDEXED_MERGES: u32 = 20;

/// Indexes a feature request again. A private or merged one is removed from the index. Returns the counted size of the
/// search document.
pub(crate) async fn index(work: &mut dyn UnitOfWork, request: FeatureRequestId) -> Result<u64, StoreError> {
    match work.searchable_text(request, MAX_INDEXED_MERGES).await? {
        Some(text) => {
            let document = text.document();
            work.save_search_document(request, &document).await?;
            Ok(storage::search_document_bytes(&document))
        }
        None => {
            work.delete_search_document(request).await?;
            Ok(0)
        }
    }
}
