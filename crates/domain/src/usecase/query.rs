//! The queries of the service: reads outside of units of work. One file per kind of record.
//!
//! A query is a value that implements [`Query`]; [`Queries`] runs it. As in commands, the existence of a record is
//! checked before the fields. Therefore a query contains a field that failed validation as an error.

pub mod audit;
pub mod changelogs;
pub mod feature_requests;
pub mod files;
pub mod people;
pub mod records;
pub mod setting;
pub mod subscriptions;
pub mod tracks;
pub mod votes;

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::attachment::Attachment;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::ports::{Blobs, Clock, RoadmapReader, SynonymSource, TextSearch};

/// A read query of one workspace.
#[async_trait]
pub trait Query: Send + Sync {
    /// The result of the query.
    type Output: Send;

    /// Runs the query.
    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<Self::Output, RoadmapError>;
}

/// Runs queries. Inbound adapters read through this type only.
#[derive(Clone)]
pub struct Queries {
    reader: Arc<dyn RoadmapReader>,
    search: Arc<dyn TextSearch>,
    synonyms: Arc<dyn SynonymSource>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
}

impl Queries {
    /// Creates a runner of queries on these ports.
    #[must_use]
    pub fn new(
        reader: Arc<dyn RoadmapReader>,
        search: Arc<dyn TextSearch>,
        synonyms: Arc<dyn SynonymSource>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { reader, search, synonyms, blobs, clock }
    }

    /// Runs a query in `workspace`.
    ///
    /// # Errors
    /// Errors of the query.
    pub async fn run<Q: Query>(&self, workspace: WorkspaceId, query: &Q) -> Result<Q::Output, RoadmapError> {
        query.execute(workspace, self).await
    }

    /// Returns the metadata of a file.
    async fn attachment(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Attachment, RoadmapError> {
        self.reader.attachment(workspace, file).await?.ok_or(RoadmapError::NotFound(Resource::File))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockRoadmapReader, MockSynonymSource, MockTextSearch};
    use crate::usecase::fixtures::{FixedClock, workspace};
    use pollster::block_on;

    /// Runs a query on test ports for records and files.
    pub(crate) fn run_query<Q: Query>(
        reader: MockRoadmapReader,
        blobs: MockBlobs,
        query: &Q,
    ) -> Result<Q::Output, RoadmapError> {
        let (search, synonyms) = (Arc::new(MockTextSearch::new()), Arc::new(MockSynonymSource::new()));
        let queries = Queries::new(Arc::new(reader), search, synonyms, Arc::new(blobs), Arc::new(FixedClock));
        block_on(queries.run(workspace(), query))
    }
}
