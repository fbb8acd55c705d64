//! The queries of the service, one file each: what is read outside of units of work.
//!
//! A query is a value that implements [`Query`]; [`Queries`] runs it. Whether a record exists comes before the
//! fields, as in commands: a field that cannot be accepted is an error inside of the query.

pub mod find_file;
pub mod list_changelogs;
pub mod list_tracks;
pub mod list_voters;
pub mod list_votes;
pub mod locate_file;
pub mod search_feature_requests;
pub mod show_setting;
pub mod unsubscribe_options;

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::WorkspaceId;
use crate::ports::{Blobs, Clock, RoadmapReader, TextSearch};

/// A question about one workspace.
#[async_trait]
pub trait Query: Send + Sync {
    /// What it is answered with.
    type Answer: Send;

    /// Answers it.
    async fn answer(&self, workspace: WorkspaceId, ports: &Queries) -> Result<Self::Answer, RoadmapError>;
}

/// Runs queries. Whoever serves clients reads by these alone.
#[derive(Clone)]
pub struct Queries {
    reader: Arc<dyn RoadmapReader>,
    search: Arc<dyn TextSearch>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
}

impl Queries {
    /// Queries on these ports.
    #[must_use]
    pub fn new(
        reader: Arc<dyn RoadmapReader>,
        search: Arc<dyn TextSearch>,
        blobs: Arc<dyn Blobs>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { reader, search, blobs, clock }
    }

    /// Runs a query in `workspace`.
    ///
    /// # Errors
    /// Those of the query.
    pub async fn run<Q: Query>(&self, workspace: WorkspaceId, query: &Q) -> Result<Q::Answer, RoadmapError> {
        query.answer(workspace, self).await
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ports::mocks::{MockBlobs, MockRoadmapReader, MockTextSearch};
    use crate::usecase::fixtures::{FixedClock, workspace};
    use pollster::block_on;

    /// Runs a query on records and files.
    pub(crate) fn ask<Q: Query>(
        reader: MockRoadmapReader,
        blobs: MockBlobs,
        query: &Q,
    ) -> Result<Q::Answer, RoadmapError> {
        let (reader, search, blobs) = (Arc::new(reader), Arc::new(MockTextSearch::new()), Arc::new(blobs));
        let queries = Queries::new(reader, search, blobs, Arc::new(FixedClock));
        block_on(queries.run(workspace(), query))
    }
}
