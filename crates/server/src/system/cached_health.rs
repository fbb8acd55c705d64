//! A health check that queries the store at most once a second.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Health;
use roadmap_http::shared_cache::SharedCache;

/// How long the health of the store is cached.
const LIFETIME: Duration = Duration::from_secs(1);

/// The health of a store, through a cache.
pub(crate) struct CachedHealth {
    store: Arc<dyn Health>,
    outcome: SharedCache<(), Result<(), Arc<StoreError>>>,
}

impl CachedHealth {
    /// Caches the health of this store.
    pub(crate) fn new(store: Arc<dyn Health>) -> Self {
        Self { store, outcome: SharedCache::new(1, LIFETIME) }
    }
}

#[async_trait]
impl Health for CachedHealth {
    async fn check(&self) -> Result<(), StoreError> {
        self.outcome.get_outcome((), async { self.store.check().await }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::ports::mocks::MockHealth;

    /// Beyond the contract.
    #[tokio::test]
    async fn the_store_is_checked_once_a_second() {
        for is_healthy in [true, false] {
            let mut store = MockHealth::new();
            // At most two, because all calls take less than a second.
            store.expect_check().times(1..=2).returning(move || match is_healthy {
                true => Ok(()),
                false => Err(StoreError::Unavailable("no server".into())),
            });
            let health = CachedHealth::new(Arc::new(store));
            for _ in 0..1_000 {
                assert_eq!(health.check().await.is_ok(), is_healthy);
            }
        }
    }
}
