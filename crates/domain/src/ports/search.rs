//! Full-text search for public feature requests.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::feature_request::SearchResult;
use crate::model::id::{FeatureRequestId, WorkspaceId};
use crate::model::search::{Expression, Fields, SearchDocument, Synonyms};
use crate::policy::search::{Hit, Search};

/// Runs searches for public feature requests.
#[async_trait]
pub trait TextSearch: Send + Sync {
    /// Runs a search by [`Search::run`] on the workspace's index, and returns its hits, best first.
    ///
    /// Contract: the index is read in one snapshot if the store supports snapshots. Private feature requests are never
    /// returned.
    async fn search(&self, workspace: WorkspaceId, search: Search) -> Result<Vec<Hit>, StoreError>;

    /// Loads these feature requests in this order. Deleted, merged and private ones are left out. One statement.
    async fn load_results(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<SearchResult>, StoreError>;
}

/// Supplies the synonyms of workspaces to searches.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait SynonymSource: Send + Sync {
    /// Returns the synonyms of a workspace. They may be up to half a second old.
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Arc<Synonyms>, StoreError>;
}

/// An indexed feature request.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedRequest {
    pub id: FeatureRequestId,
    /// Its tag number. Newer feature requests have higher numbers.
    pub number: i64,
    /// Number of votes.
    pub votes_count: i64,
    /// Its terms.
    pub document: SearchDocument,
}

/// The matches of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Matches {
    /// The tag numbers of all matches, in any order.
    All(Vec<i64>),
    /// More than the limit, but not without prefixes ([`Expression::without_prefixes`]).
    TooManyWithPrefixes,
    /// More than the limit, even without prefixes.
    TooMany,
}

/// The full-text index of one workspace. All methods read a bounded number of rows.
#[async_trait]
pub trait SearchIndex: Send {
    /// Returns the number of feature requests that the workspace has created.
    async fn request_count(&mut self) -> Result<u64, StoreError>;

    /// Returns the matches of each expression in these fields, if there are at most `limit`.
    ///
    /// Contract: a store may return [`Matches::TooMany`] without counting if statistics show several times more
    /// matches than `limit`.
    async fn matches(&mut self, lookups: &[(Expression, Fields)], limit: usize) -> Result<Vec<Matches>, StoreError>;

    /// Returns for each word at most `limit` words of the workspace's public feature requests that share trigrams with
    /// it, the most similar first.
    async fn similar_words(&mut self, words: &[&str], limit: usize) -> Result<Vec<Vec<String>>, StoreError>;

    /// Returns the numbers of votes of these feature requests, in any order.
    async fn votes(&mut self, numbers: &[i64]) -> Result<Vec<(i64, i64)>, StoreError>;

    /// Returns these feature requests, in any order.
    async fn documents(&mut self, numbers: &[i64]) -> Result<Vec<IndexedRequest>, StoreError>;

    /// Returns the `count` most voted matches, the newest first among equals. Returns `None` if there are more than
    /// `limit` matches; a store may also return `None` as in [`Self::matches`].
    async fn most_voted(
        &mut self,
        expression: &Expression,
        fields: Fields,
        limit: usize,
        count: usize,
    ) -> Result<Option<Vec<IndexedRequest>>, StoreError>;

    /// Returns the matches that a walk finds from the most voted feature request downwards, the newest first among
    /// equals, as long as [`crate::policy::search::should_continue_scan`].
    async fn walk(&mut self, expression: &Expression, fields: Fields) -> Result<Vec<IndexedRequest>, StoreError>;

    /// Returns the `count` newest matches among the `rows` newest feature requests.
    async fn newest(
        &mut self,
        expression: &Expression,
        fields: Fields,
        rows: usize,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError>;

    /// Returns `count` matches, the oldest if the store has an order.
    async fn any(
        &mut self,
        expression: &Expression,
        fields: Fields,
        count: usize,
    ) -> Result<Vec<IndexedRequest>, StoreError>;
}
