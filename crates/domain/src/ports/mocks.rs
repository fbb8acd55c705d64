//! Mockall doubles of the ports, for unit tests: all of them, and those that `automock` cannot make and that are not
//! beside their ports.

use async_trait::async_trait;
use mockall::mock;

use crate::error::StoreError;
use crate::model::feature_request::SearchResult;
use crate::model::id::{FeatureRequestId, WorkspaceId};
use crate::model::operation_key::OperationKey;
use crate::policy::search::{Hit, Search};
use crate::ports::{BeginOutcome, Store, TextSearch};

pub use crate::ports::blobs::MockBlobs;
pub use crate::ports::directory::MockWorkspaceDirectory;
pub use crate::ports::environment::{
    MockClock, MockConfigurationObserver, MockHealth, MockIdGenerator, MockIndexingObserver, MockOperationLocks,
    MockRetryPause,
};
pub use crate::ports::jobs::MockImportInspector;
pub use crate::ports::mail::{MockMailReader, MockMailer, MockOutboxQueue};
pub use crate::ports::maintenance::MockMaintenance;
pub use crate::ports::missed_searches::{MockMissedSearchLog, MockMissedSearchStore};
pub use crate::ports::personal_files::MockPersonalFiles;
pub use crate::ports::reads::MockReads;
pub use crate::ports::search::MockSynonymSource;
pub use crate::ports::sources::{MockPortalSource, MockTrackSource};
pub use crate::ports::usage::MockUsageStore;
pub use crate::ports::webhooks::{MockEventRenderer, MockWebhookQueue, MockWebhookSender};
pub use crate::ports::writes::MockUnit;

mock! {
    /// Double of [`Store`].
    pub Store {}

    #[async_trait]
    impl Store for Store {
        async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError>;
    }
}

mock! {
    /// Double of [`TextSearch`].
    pub TextSearch {}

    #[async_trait]
    impl TextSearch for TextSearch {
        async fn search(&self, workspace: WorkspaceId, search: Search) -> Result<Vec<Hit>, StoreError>;
        async fn load_results(&self, workspace: WorkspaceId, requests: &[FeatureRequestId]) -> Result<Vec<SearchResult>, StoreError>;
    }
}
