//! The feature requests that are similar to one.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use moka::sync::Cache;
use roadmap_domain::model::feature_request::FeatureRequestDetail;
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::search::SearchQuery;
use roadmap_domain::usecase::query::portal::ListSimilar;
use roadmap_http::error::HttpError;

use crate::context::Context;
use crate::portal::parts::Lanes;

/// How long the similar feature requests of one are known.
const SIMILAR_LIFETIME: Duration = Duration::from_secs(600);
/// Number of feature requests whose similar ones are known.
const SIMILAR_CAPACITY: u64 = 20_000;

/// The similar feature requests of each one, and the lanes. Only IDs are kept, so that nothing is shown that has become
/// private.
static SIMILAR: LazyLock<Cache<(WorkspaceId, FeatureRequestId), Arc<Similar>>> =
    LazyLock::new(|| Cache::builder().max_capacity(SIMILAR_CAPACITY).time_to_live(SIMILAR_LIFETIME).build());

/// The similar feature requests of one, and the lanes.
pub(crate) struct Similar {
    /// The feature requests, most similar first.
    pub(crate) requests: Vec<FeatureRequestId>,
    /// The lanes.
    pub(crate) lanes: Lanes,
}

/// Returns the similar feature requests of one, and the lanes.
///
/// # Errors
/// The search or the store fails.
pub(crate) async fn similar(context: &Context, detail: &FeatureRequestDetail) -> Result<Arc<Similar>, HttpError> {
    let key = (context.workspace.id, detail.summary.id);
    if let Some(known) = SIMILAR.get(&key) {
        return Ok(known);
    }
    let lanes = Lanes::load(context).await?;
    let requests = match SearchQuery::parse("title", detail.summary.title.as_str()) {
        Ok(title) => {
            let query = ListSimilar { title, except: Some(detail.summary.id), viewer: context.viewer() };
            context.run(&query).await?.found.into_iter().map(|found| found.summary.id).collect()
        }
        Err(_) => Vec::new(),
    };
    let similar = Arc::new(Similar { requests, lanes });
    SIMILAR.insert(key, similar.clone());
    Ok(similar)
}
