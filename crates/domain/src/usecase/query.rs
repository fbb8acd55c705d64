//! The queries of the service: reads outside of units of work. One file per kind of record.
//!
//! A query is a value that implements [`Query`]; [`Queries`] runs it. As in commands, the existence of a record is
//! checked before the fields. Therefore a query contains a field that failed validation as an error.

pub mod admin;
pub mod audit;
pub mod changelogs;
pub mod changes;
pub mod exports;
pub mod feature_requests;
pub mod files;
pub mod imports;
pub mod link_sources;
pub mod people;
pub mod portal;
pub mod records;
pub mod setting;
pub mod subscriptions;
pub mod tags;
pub mod tracks;
pub mod votes;
pub mod webhooks;

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Resource, RoadmapError};
use crate::model::admin::MissedWords;
use crate::model::attachment::Attachment;
use crate::model::id::{AttachmentId, WorkspaceId};
use crate::model::search::SearchQuery;
use crate::ports::{
    Blobs, Clock, MissedSearchLog, OutboxQueue, PortalSource, Reads, SynonymSource, TextSearch, TrackSource,
    WorkspaceDirectory,
};

/// A read query of one workspace.
#[async_trait]
pub trait Query: Send + Sync {
    /// The result of the query.
    type Output: Send;

    /// Runs the query.
    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Self::Output, RoadmapError>;
}

/// The ports that queries read from.
#[derive(Clone)]
pub struct QueryPorts {
    /// Reads records.
    pub reader: Arc<dyn Reads>,
    /// Reads the state of mail.
    pub outbox: Arc<dyn OutboxQueue>,
    /// Looks up API keys.
    pub directory: Arc<dyn WorkspaceDirectory>,
    /// Notes searches that found nothing.
    pub missed_searches: Arc<dyn MissedSearchLog>,
    /// Provides the settings of portals.
    pub portals: Arc<dyn PortalSource>,
    /// Lists tracks.
    pub tracks: Arc<dyn TrackSource>,
    /// Searches feature requests.
    pub search: Arc<dyn TextSearch>,
    /// Provides synonyms.
    pub synonyms: Arc<dyn SynonymSource>,
    /// Stores files.
    pub blobs: Arc<dyn Blobs>,
    pub clock: Arc<dyn Clock>,
}

/// Runs queries. Inbound adapters read through this type only.
#[derive(Clone)]
pub struct Queries(QueryPorts);

impl Queries {
    /// Creates a runner of queries on these ports.
    #[must_use]
    pub fn new(ports: QueryPorts) -> Self {
        Self(ports)
    }

    /// Runs a query in `workspace`.
    ///
    /// # Errors
    /// Errors of the query.
    pub async fn run<Q: Query>(&self, workspace: WorkspaceId, query: &Q) -> Result<Q::Output, RoadmapError> {
        query.execute(workspace, &self.0).await
    }
}

impl QueryPorts {
    /// Notes a search that found nothing.
    fn record_missed_search(&self, workspace: WorkspaceId, query: &SearchQuery) {
        if let Some(words) = MissedWords::of_query(query.as_str()) {
            self.missed_searches.record(workspace, words);
        }
    }

    /// Returns the metadata of a file of an import or an export.
    async fn job_file(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Attachment, RoadmapError> {
        let found = self.reader.job_file(workspace, file).await?;
        found.map(|found| found.file).ok_or(RoadmapError::NotFound(Resource::File))
    }

    /// Returns the metadata of a file.
    async fn attachment(&self, workspace: WorkspaceId, file: AttachmentId) -> Result<Attachment, RoadmapError> {
        self.reader.attachment(workspace, file).await?.ok_or(RoadmapError::NotFound(Resource::File))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ports::mocks::{
        MockBlobs, MockMissedSearchLog, MockOutboxQueue, MockPortalSource, MockReads, MockSynonymSource,
        MockTextSearch, MockTrackSource, MockWorkspaceDirectory,
    };
    use crate::usecase::fixtures::{FixedClock, workspace};
    use pollster::block_on;

    /// Runs a query on test ports for records and files.
    pub(crate) fn run_query<Q: Query>(
        reader: MockReads,
        blobs: MockBlobs,
        query: &Q,
    ) -> Result<Q::Output, RoadmapError> {
        let queries = Queries::new(QueryPorts { reader: Arc::new(reader), blobs: Arc::new(blobs), ..ports() });
        block_on(queries.run(workspace(), query))
    }

    /// Returns ports that expect no calls.
    pub(crate) fn ports() -> QueryPorts {
        QueryPorts {
            reader: Arc::new(MockReads::new()),
            outbox: Arc::new(MockOutboxQueue::new()),
            directory: Arc::new(MockWorkspaceDirectory::new()),
            missed_searches: Arc::new(MockMissedSearchLog::new()),
            portals: Arc::new(MockPortalSource::new()),
            tracks: Arc::new(MockTrackSource::new()),
            search: Arc::new(MockTextSearch::new()),
            synonyms: Arc::new(MockSynonymSource::new()),
            blobs: Arc::new(MockBlobs::new()),
            clock: Arc::new(FixedClock),
        }
    }
}
