//! Ports for link sources and what they report.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::{FeatureRequestId, LinkId, LinkSourceId, WorkspaceId};
use crate::model::link::{Issue, Link};
use crate::model::link_source::LinkSource;
use crate::model::timestamp::Timestamp;

/// Reads link sources.
#[async_trait]
pub trait LinkSourceReader: Send + Sync {
    /// Returns the link sources of a workspace, oldest first.
    async fn link_sources(&self, workspace: WorkspaceId) -> Result<Vec<LinkSource>, StoreError>;

    /// Returns a link source with its sealed secret.
    async fn sealed_link_source(
        &self,
        workspace: WorkspaceId,
        source: LinkSourceId,
    ) -> Result<Option<(LinkSource, String)>, StoreError>;
}

/// Writes of link sources, and of what they report.
#[async_trait]
pub trait LinkSourceWrites {
    /// Returns the link sources with their sealed secrets, oldest first. Other units of work that load them wait for this
    /// one.
    async fn load_link_sources(&mut self) -> Result<Vec<(LinkSource, String)>, StoreError>;

    /// Stores a link source with its sealed secret, or replaces it.
    async fn save_link_source(&mut self, source: &LinkSource, sealed: &str) -> Result<(), StoreError>;

    /// Deletes a link source.
    async fn delete_link_source(&mut self, source: LinkSourceId) -> Result<(), StoreError>;

    /// Returns the timestamp of the latest report of an issue, if any was about it.
    async fn last_report(&mut self, issue: &Issue) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the first `limit` links to an issue after the one with this ID, in the order of their IDs, each with the
    /// feature request that shows it: its own, or the one into which that is merged.
    async fn links_to(
        &mut self,
        issue: &Issue,
        after: Option<LinkId>,
        limit: u32,
    ) -> Result<Vec<(FeatureRequestId, Link)>, StoreError>;

    /// Replaces the titles and the states of links by those of a report.
    async fn save_reported_links(&mut self, links: &[Link], reported_at: Timestamp) -> Result<(), StoreError>;

    /// Whether a feature request, or what is merged into it, has a link whose state is `open`.
    async fn has_open_links(&mut self, request: FeatureRequestId) -> Result<bool, StoreError>;
}
