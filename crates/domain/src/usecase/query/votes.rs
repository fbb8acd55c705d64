//! The votes of customers and the voters of feature requests, contract sections 4.4 and 4.9.

use std::collections::HashMap;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError, Validated};
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use crate::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::text::truncate;
use crate::model::vote::{VoteCounts, Voter};
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

/// Finds the latest note about each of these voters of a feature request, as text: at most [`Self::MAX`] characters of each.
#[derive(Debug, Clone)]
pub struct ListVoterNotes {
    pub request: FeatureRequestId,
    pub voters: Vec<CustomerId>,
}

impl ListVoterNotes {
    /// Maximum number of characters of a note. A cut one ends with an ellipsis.
    pub const MAX: usize = 300;
    /// Number of voters of one statement.
    const AT_ONCE: usize = 1_000;
}

#[async_trait]
impl Query for ListVoterNotes {
    type Output = HashMap<CustomerId, String>;

    async fn execute(
        &self,
        workspace: WorkspaceId,
        ports: &QueryPorts,
    ) -> Result<HashMap<CustomerId, String>, RoadmapError> {
        let mut notes = HashMap::new();
        for voters in self.voters.chunks(Self::AT_ONCE) {
            let found = ports.reader.notes_of_voters(workspace, self.request, voters).await?;
            notes.extend(found.into_iter().map(|(voter, note)| {
                let note = note.to_text();
                let cut = truncate(&note, Self::MAX);
                (voter, if cut.len() < note.len() { format!("{}\u{2026}", cut.trim_end()) } else { note })
            }));
        }
        Ok(notes)
    }
}

/// Shows what is counted of the votes for a feature request.
#[derive(Debug, Clone, Copy)]
pub struct CountVotes {
    pub request: FeatureRequestId,
}

#[async_trait]
impl Query for CountVotes {
    type Output = VoteCounts;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<VoteCounts, RoadmapError> {
        Ok(ports.reader.vote_counts(workspace, self.request).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::html::CleanHtml;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::fixtures::{request, summary};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

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

    #[test]
    fn notes_are_read_in_parts_and_cut_at_their_end() {
        let voters: Vec<CustomerId> = (0..2_500).map(|number| CustomerId::new(Uuid::from_u128(number))).collect();
        let mut reader = MockReads::new();
        reader.expect_notes_of_voters().times(3).returning(|_, _, voters| {
            assert!(voters.len() <= 1_000);
            let text = |index: usize| if index == 0 { "\u{e4}".repeat(301) } else { "n".repeat(300) };
            let text = |index: usize| CleanHtml::from_stored(format!("<p>{}</p>", text(index)));
            Ok(voters.iter().take(2).enumerate().map(|(index, voter)| (*voter, text(index))).collect())
        });
        let query = ListVoterNotes { request: summary("Inbox", None, 0).id, voters: voters.clone() };
        let notes = run_query(reader, MockBlobs::new(), &query).unwrap();
        assert_eq!(notes.len(), 6);
        assert_eq!(notes[&voters[1_000]], format!("{}\u{2026}", "\u{e4}".repeat(300)));
        assert_eq!(notes[&voters[2_001]], "n".repeat(300));
    }
}
