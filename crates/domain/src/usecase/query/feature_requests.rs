//! Finds public feature requests by words, contract section 4.5.

use async_trait::async_trait;

use crate::error::{RoadmapError, StoreError, Validated};
use crate::model::feature_request::SearchResult;
use crate::model::id::{FeatureRequestId, WorkspaceId};
use crate::model::pagination::parse_count;
use crate::model::search::SearchQuery;
use crate::policy::search::Search;
use crate::ports::{SynonymSource, TextSearch};
use crate::usecase::query::{Query, QueryPorts};

/// Number of items if `per_page` is not given.
pub const DEFAULT_PER_PAGE: u64 = 8;
/// Maximum number of items.
pub const MAX_PER_PAGE: u64 = 15;
/// Maximum number of similar feature requests.
pub const MAX_SIMILAR: usize = 5;
/// Minimum similarity of similar feature requests, except for the best two
/// ([`Relevance::similarity`](crate::policy::ranking::Relevance::similarity)).
const MIN_SIMILARITY: f64 = 0.04;

/// Finds the public feature requests that match a query best, best first.
#[derive(Debug, Clone)]
pub struct SearchFeatureRequests {
    search: Search,
}

impl SearchFeatureRequests {
    /// Creates a search for at most `limit` feature requests.
    #[must_use]
    pub fn new(query: SearchQuery, limit: usize) -> Self {
        Self { search: Search::new(query, limit) }
    }

    /// Creates a search for the feature requests that a new one with this title may duplicate.
    #[must_use]
    pub fn similar(title: SearchQuery) -> Self {
        Self { search: Search::new(title, MAX_SIMILAR).with_min_similarity(MIN_SIMILARITY) }
    }

    /// Creates a search for `per_page` feature requests, by default [`DEFAULT_PER_PAGE`]. Values above [`MAX_PER_PAGE`]
    /// are lowered to it.
    ///
    /// # Errors
    /// `per_page` is not an integer, or is below 1.
    pub fn parse(query: SearchQuery, per_page: Option<&str>) -> Validated<Self> {
        let limit = parse_count("per_page", per_page, DEFAULT_PER_PAGE, MAX_PER_PAGE)?;
        Ok(Self::new(query, usize::try_from(limit).unwrap_or(usize::MAX)))
    }

    /// Runs the search. Returns what it finds, best first, for the caller to load what is shown of it.
    ///
    /// # Errors
    /// [`RoadmapError::SearchUnavailable`] for any failure.
    pub async fn run(
        &self,
        workspace: WorkspaceId,
        index: &dyn TextSearch,
        synonyms: &dyn SynonymSource,
    ) -> Result<Vec<FeatureRequestId>, RoadmapError> {
        self.find(workspace, index, synonyms).await.map_err(RoadmapError::SearchUnavailable)
    }

    async fn find(
        &self,
        workspace: WorkspaceId,
        index: &dyn TextSearch,
        synonyms: &dyn SynonymSource,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        if self.search.query().words().is_empty() {
            return Ok(Vec::new());
        }
        let synonyms = synonyms.synonyms(workspace).await?;
        let hits = index.search(workspace, self.search.clone().with_synonyms(&synonyms)).await?;
        Ok(hits.into_iter().map(|hit| hit.request).collect())
    }
}

#[async_trait]
impl Query for SearchFeatureRequests {
    type Output = Vec<SearchResult>;

    async fn execute(&self, workspace: WorkspaceId, ports: &QueryPorts) -> Result<Vec<SearchResult>, RoadmapError> {
        let ids = self.run(workspace, &*ports.search, &*ports.synonyms).await?;
        if ids.is_empty() {
            ports.record_missed_search(workspace, self.search.query());
            return Ok(Vec::new());
        }
        ports.search.load_results(workspace, &ids).await.map_err(RoadmapError::SearchUnavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::search::Synonyms;
    use crate::policy::ranking::Relevance;
    use crate::policy::search::Hit;
    use crate::ports::mocks::{MockMissedSearchLog, MockSynonymSource, MockTextSearch};
    use crate::usecase::fixtures::{summary, workspace};
    use crate::usecase::query::Queries;
    use crate::usecase::query::tests::ports;
    use pollster::block_on;
    use std::sync::Arc;
    use uuid::Uuid;

    fn hit(number: u128) -> Hit {
        let relevance = Relevance { matches: Vec::new(), coverage: 1.0, title_share: 1.0, value: 1.0, similarity: 1.0 };
        let request = FeatureRequestId::new(Uuid::from_u128(number));
        Hit { request, number: i64::try_from(number).unwrap(), votes_count: 0, relevance, is_weak: false, score: 1.0 }
    }

    fn results(ids: &[FeatureRequestId]) -> Vec<SearchResult> {
        ids.iter()
            .map(|id| {
                let mut summary = summary("Inbox", None, 0);
                summary.id = *id;
                SearchResult { summary, description: String::new() }
            })
            .collect()
    }

    fn synonyms(groups: &'static [&[&str]]) -> MockSynonymSource {
        let owned = |group: &&[&str]| group.iter().map(|phrase| (*phrase).to_owned()).collect();
        let mut source = MockSynonymSource::new();
        let groups: Vec<Vec<String>> = groups.iter().map(owned).collect();
        source.expect_synonyms().returning(move |_| Ok(Arc::new(Synonyms::parse(&groups).unwrap())));
        source
    }

    fn search(port: &MockTextSearch, query: &str) -> Result<Vec<u128>, RoadmapError> {
        let query = SearchQuery::parse("query", query).unwrap();
        let ids = block_on(SearchFeatureRequests::new(query, 8).run(workspace(), port, &synonyms(&[])))?;
        Ok(ids.iter().map(|id| id.uuid().as_u128()).collect())
    }

    /// Decision 4.
    #[test]
    fn a_query_without_words_finds_nothing_and_reads_nothing() {
        for query in ["", "  ", "\"*\" -"] {
            assert_eq!(search(&MockTextSearch::new(), query).unwrap(), Vec::<u128>::new());
        }
    }

    #[test]
    fn hits_are_returned_in_their_order() {
        let mut port = MockTextSearch::new();
        port.expect_search()
            .withf(|_, search| *search == Search::new(SearchQuery::parse("query", "dark").unwrap(), 8))
            .returning(|_, _| Ok(vec![hit(2), hit(1)]));
        assert_eq!(search(&port, "dark").unwrap(), [2, 1]);
    }

    #[test]
    fn results_are_loaded_at_once() {
        let mut port = MockTextSearch::new();
        port.expect_search().returning(|_, _| Ok(vec![hit(2), hit(1)]));
        port.expect_load_results().times(1).returning(|_, ids| Ok(results(ids)));
        let queries = Queries::new(QueryPorts { search: Arc::new(port), synonyms: Arc::new(synonyms(&[])), ..ports() });
        let search = SearchFeatureRequests::new(SearchQuery::parse("query", "dark").unwrap(), 8);
        let results = block_on(queries.run(workspace(), &search)).unwrap();
        let ids: Vec<u128> = results.iter().map(|result| result.summary.id.uuid().as_u128()).collect();
        assert_eq!(ids, [2, 1]);
    }

    #[test]
    fn a_search_without_hits_is_counted_and_loads_nothing() {
        let (mut port, mut log) = (MockTextSearch::new(), MockMissedSearchLog::new());
        port.expect_search().returning(|_, _| Ok(Vec::new()));
        log.expect_record().withf(|_, words| words.as_str() == "dark").times(1).return_const(());
        let (search, synonyms, missed_searches) = (Arc::new(port), Arc::new(synonyms(&[])), Arc::new(log));
        let queries = Queries::new(QueryPorts { search, synonyms, missed_searches, ..ports() });
        let search = SearchFeatureRequests::new(SearchQuery::parse("query", "dark").unwrap(), 8);
        assert_eq!(block_on(queries.run(workspace(), &search)).unwrap(), []);
    }

    /// Decision 4.
    #[test]
    fn similar_requests_have_a_minimum_similarity() {
        let mut port = MockTextSearch::new();
        let title = || SearchQuery::parse("title", "Dark mode").unwrap();
        let expected = Search::new(title(), 5).with_min_similarity(MIN_SIMILARITY);
        port.expect_search().withf(move |_, search| *search == expected).times(1).returning(|_, _| Ok(Vec::new()));
        let search = SearchFeatureRequests::similar(title());
        assert_eq!(block_on(search.run(workspace(), &port, &synonyms(&[]))).unwrap(), []);
    }

    #[test]
    fn synonyms_of_the_workspace_are_searched() {
        let mut port = MockTextSearch::new();
        let query = || SearchQuery::parse("query", "numbat").unwrap();
        let groups: &[&[&str]] = &[&["numbat", "quokka"]];
        let known = Synonyms::parse(&[vec!["numbat".to_owned(), "quokka".to_owned()]]).unwrap();
        let expected = Search::new(query(), 8).with_synonyms(&known);
        assert_ne!(expected, Search::new(query(), 8));
        port.expect_search().withf(move |_, search| *search == expected).times(1).returning(|_, _| Ok(Vec::new()));
        let search = SearchFeatureRequests::new(query(), 8);
        assert_eq!(block_on(search.run(workspace(), &port, &synonyms(groups))).unwrap(), []);
    }

    /// Contract 4.5.
    #[test]
    fn every_failure_of_the_index_is_search_unavailable() {
        let mut port = MockTextSearch::new();
        port.expect_search().returning(|_, _| Err(StoreError::Fatal("no such table".into())));
        assert_eq!(search(&port, "dark").unwrap_err().to_string(), "search_unavailable");
        let mut failing = MockSynonymSource::new();
        failing.expect_synonyms().returning(|_| Err(StoreError::Fatal("no such table".into())));
        let query = SearchQuery::parse("query", "dark").unwrap();
        let outcome = block_on(SearchFeatureRequests::new(query, 8).run(workspace(), &MockTextSearch::new(), &failing));
        assert_eq!(outcome.unwrap_err().to_string(), "search_unavailable");
    }
}
