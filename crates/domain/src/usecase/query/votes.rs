//! The votes of customers and the voters of feature requests, contract sections 4.4 and 4.9.

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::WorkspaceId;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::vote::Voter;
use crate::usecase::query::{Query, QueryPorts};

/// Lists the feature requests that a customer voted for, including private ones, newest first. Empty for an unknown
/// customer.
#[derive(Debug, Clone)]
pub struct ListVotes {
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
        ports: &QueryPorts,
    ) -> Result<Listing<FeatureRequestSummary>, RoadmapError> {
        Ok(ports.reader.voted_requests(workspace, &self.customer, self.page).await?)
    }
}

/// Lists the voters, latest vote first.
#[derive(Debug, Clone)]
pub struct ListVoters {
    pub request: FeatureRequestRef,
    /// The page to return, or why it is invalid.
    pub page: Validated<PageRequest>,
}

#[async_trait]
impl Query for ListVoters {
    type Output = Listing<Voter>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Listing<Voter>, RoadmapError> {
        // The existence of the record is checked before the fields.
        let page = self.page.as_ref().copied().unwrap_or_default();
        let voters = ports.reader.voters(workspace, &self.request, page).await?;
        let voters = voters.ok_or(RoadmapError::NotFound(Resource::FeatureRequest))?;
        self.page.clone()?;
        Ok(voters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::request;
    use crate::usecase::query::tests::run_query;

    fn error(page: &str, exists: bool) -> Option<String> {
        let mut reader = MockReads::new();
        reader
            .expect_voters()
            .returning(move |_, _, page| Ok(exists.then_some(Listing { items: Vec::new(), request: page, total: 0 })));
        let query = ListVoters { request: request(), page: PageRequest::parse(Some(page), None) };
        run_query(reader, MockBlobs::new(), &query).err().map(|error| error.to_string())
    }

    #[test]
    fn a_missing_request_comes_before_a_bad_page() {
        assert_eq!(error("2", true), None);
        for page in ["0", "2"] {
            assert_eq!(error(page, false).unwrap(), "FeatureRequest does not exist.");
        }
        assert_eq!(error("0", true).unwrap(), "page must be an integer of at least 1");
    }
}
