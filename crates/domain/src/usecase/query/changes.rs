//! Lists of everything, oldest change first.

use async_trait::async_trait;

use crate::error::{FieldError, FieldProblem, RoadmapError};
use crate::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use crate::model::id::WorkspaceId;
use crate::usecase::query::{Query, QueryPorts};

/// Lists all feature requests, also merged and deleted ones.
#[derive(Debug, Clone, Copy)]
pub struct ListChangedRequests {
    /// Which feature requests.
    pub filter: ChangesFilter,
    /// Which part of them.
    pub page: ChangesPage,
}

#[async_trait]
impl Query for ListChangedRequests {
    type Output = ChangesListing<ChangedRequest>;

    /// A track that does not exist is an error: the list would stay empty for ever.
    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        if let Some(track) = self.filter.track {
            let tracks = ports.reader.tracks(workspace).await?;
            if !tracks.iter().any(|known| known.id == track) {
                let expected = "the id of a track";
                return Err(FieldError::new("track_id", FieldProblem::Malformed { expected }).into());
            }
        }
        Ok(ports.reader.changed_requests(workspace, &self.filter, self.page).await?)
    }
}

/// Lists all comments, also deleted ones.
#[derive(Debug, Clone, Copy)]
pub struct ListChangedComments {
    /// Which comments.
    pub filter: ChangesFilter,
    /// Which part of them.
    pub page: ChangesPage,
}

#[async_trait]
impl Query for ListChangedComments {
    type Output = ChangesListing<ChangedComment>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError> {
        Ok(ports.reader.changed_comments(workspace, &self.filter, self.page).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::TrackId;
    use crate::ports::mocks::{MockBlobs, MockReads};
    use crate::usecase::query::tests::run_query;
    use uuid::Uuid;

    #[test]
    fn an_unknown_track_is_named() {
        let mut reader = MockReads::new();
        reader.expect_tracks().returning(|_| Ok(Vec::new()));
        let filter = ChangesFilter { track: Some(TrackId::new(Uuid::nil())), ..ChangesFilter::default() };
        let query = ListChangedRequests { filter, page: ChangesPage { after: None, size: 25 } };
        let error = run_query(reader, MockBlobs::new(), &query).unwrap_err();
        assert_eq!(error.to_string(), "track_id is not the id of a track");
    }
}
