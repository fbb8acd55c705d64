//! The feature requests that are similar to one.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use roadmap_domain::model::feature_request::FeatureRequestDetail;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::usecase::query::portal::FindSimilar;
use roadmap_http::error::HttpError;
use roadmap_http::shared_cache::SharedCache;

use crate::context::Context;

/// How long the similar feature requests of one are known.
const SIMILAR_LIFETIME: Duration = Duration::from_secs(600);
/// Number of feature requests whose similar ones are known.
const SIMILAR_CAPACITY: u64 = 20_000;

/// Feature requests that are similar to one, most similar first.
type Similar = Arc<[FeatureRequestId]>;

/// The similar feature requests of each one. Only IDs are kept, so that nothing is shown that has
/// become private.
static SIMILAR: LazyLock<SharedCache<(WorkspaceId, FeatureRequestId), Similar>> =
    LazyLock::new(|| SharedCache::new(SIMILAR_CAPACITY, SIMILAR_LIFETIME));

/// Returns the similar feature requests of one, most similar first.
///
/// # Errors
/// The search or the store fails.
pub(crate) async fn similar(context: &Context, detail: &FeatureRequestDetail) -> Result<Similar, HttpError> {
    SIMILAR.get((context.workspace.id, detail.summary.id), find_similar(context, detail)).await
}

async fn find_similar(context: &Context, detail: &FeatureRequestDetail) -> Result<Similar, HttpError> {
    let similar = match SearchQuery::parse("title", detail.summary.title.as_str()) {
        Ok(title) => context.run(&FindSimilar { title, except: Some(detail.summary.id) }).await?,
        Err(_) => Vec::new(),
    };
    Ok(similar.into())
}
