//! The feature requests that a customer voted for, contract section 4.4.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::FeatureRequestSummary;
use crate::model::id::WorkspaceId;
use crate::model::pagination::{Listing, PageRequest};
use crate::usecase::query::{Queries, Query};

/// Lists the feature requests that a customer voted for, including private ones, newest first. Empty for an unknown
/// customer.
#[derive(Debug, Clone)]
pub struct ListVotes {
    /// The customer.
    pub customer: EmailAddress,
    /// The page to return.
    pub page: PageRequest,
}

#[async_trait]
impl Query for ListVotes {
    type Output = Listing<FeatureRequestSummary>;

    async fn execute(
        &self,
        workspace: WorkspaceId,
        ports: &Queries,
    ) -> Result<Listing<FeatureRequestSummary>, RoadmapError> {
        Ok(ports.reader.voted_requests(workspace, &self.customer, self.page).await?)
    }
}
