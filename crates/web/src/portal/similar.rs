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
use crate::portal::parts::Lanes;

/// How long the similar feature requests of one are known.
const SIMILAR_LIFETIME: Duration = Duration::from_secs(600);
/// Number of feature requests whose similar ones are known.
const SIMILAR_CAPACITY: u64 = 20_000;

/// The similar feature requests of each one, and the lanes. Only IDs are kept, so that nothing is shown that has become
/// private.
static SIMILAR: LazyLock<SharedCache<(WorkspaceId, FeatureRequestId), Arc<Similar>>> =
    LazyLock::new(|| SharedCache::new(SIMILAR_CAPACITY, SIMILAR_LIFETIME));

/// The similar feature requests of one, and the lanes.
pub(crate) struct Similar {
    /// The feature requests, most similar first.
    pub(crate) requests: Vec<FeatureRequestId>,
    pub(crate) lanes: Lanes,
}

/// Returns the similar feature requests of one, and the lanes.
///
/// # Errors
/// The search or the store fails.
pub(crate) async fn similar(context: &Context, detail: &FeatureRequestDetail) -> Result<Arc<Similar>, HttpError> {
    SIMILAR.get((context.workspace.id, detail.summary.id), find_similar(context, detail)).await
}

async fn find_similar(context: &Context, detail: &FeatureRequestDetail) -> Result<Arc<Similar>, HttpError> {
    let lanes = Lanes::load(context).await?;
    let requests = match SearchQuery::parse("title", detail.summary.title.as_str()) {
        Ok(title) => context.run(&FindSimilar { title, except: Some(detail.summary.id) }).await?,
        Err(_) => Vec::new(),
    };
    Ok(Arc::new(Similar { requests, lanes }))
}
