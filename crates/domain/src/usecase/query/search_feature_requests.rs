//! Finds public feature requests by words, contract section 4.5.

use async_trait::async_trait;

use crate::error::{RoadmapError, StoreError, Validated};
use crate::model::feature_request::{FoundFeatureRequest, Visibility};
use crate::model::id::WorkspaceId;
use crate::model::pagination::parse_count;
use crate::model::search::{QueryWord, SearchDocument, SearchQuery};
use crate::policy::search_plan::{SIMILAR_WORDS, SearchPlan};
use crate::policy::{ranking, similarity};
use crate::ports::TextSearch;
use crate::usecase::query::{Queries, Query};

/// Number of items if `per_page` is not given.
pub const DEFAULT_PER_PAGE: u64 = 8;
/// Maximum number of items.
pub const MAX_PER_PAGE: u64 = 15;

/// Finds the best public feature requests in which every word of a query matches, best first. If there are none, the
/// search is repeated with similar words instead of the mistyped ones.
#[derive(Debug, Clone)]
pub struct SearchFeatureRequests {
    query: SearchQuery,
    limit: usize,
}

impl SearchFeatureRequests {
    /// Creates a search for at most `limit` feature requests.
    #[must_use]
    pub fn new(query: SearchQuery, limit: usize) -> Self {
        Self { query, limit }
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

    /// Runs the search.
    ///
    /// # Errors
    /// [`RoadmapError::SearchUnavailable`] for any failure.
    pub async fn run(
        &self,
        workspace: WorkspaceId,
        index: &dyn TextSearch,
    ) -> Result<Vec<FoundFeatureRequest>, RoadmapError> {
        self.find(workspace, index).await.map_err(RoadmapError::SearchUnavailable)
    }

    async fn find(
        &self,
        workspace: WorkspaceId,
        index: &dyn TextSearch,
    ) -> Result<Vec<FoundFeatureRequest>, StoreError> {
        let Self { query, limit } = self;
        if query.words().is_empty() {
            return Ok(Vec::new());
        }
        let candidates = index.candidates(workspace, query, SearchPlan::default()).await?;
        let mut best = ranking::top_candidates(candidates, *limit);
        if best.is_empty()
            && let Some(corrected) = self.corrected_query(workspace, index).await?
        {
            let candidates = index.candidates(workspace, &corrected, SearchPlan::default()).await?;
            best = ranking::top_candidates(candidates, *limit);
        }
        if best.is_empty() { Ok(Vec::new()) } else { index.load_results(workspace, &best, Visibility::Public).await }
    }

    /// Returns the query with each word replaced by its possible corrections among the known words.
    async fn corrected_query(
        &self,
        workspace: WorkspaceId,
        index: &dyn TextSearch,
    ) -> Result<Option<SearchQuery>, StoreError> {
        let mut similar = Vec::with_capacity(self.query.words().len());
        for word in self.query.words().iter().flat_map(|QueryWord { alternatives, .. }| alternatives) {
            if word.surface().len() > SearchDocument::MAX_VOCABULARY_WORD {
                return Ok(None);
            }
            let known = index.similar_words(workspace, word.surface(), SIMILAR_WORDS).await?;
            let corrections = similarity::corrections(word.surface(), known);
            if corrections.is_empty() {
                return Ok(None);
            }
            similar.push(corrections);
        }
        Ok(SearchQuery::from_alternatives(similar))
    }
}

#[async_trait]
impl Query for SearchFeatureRequests {
    type Output = Vec<FoundFeatureRequest>;

    async fn execute(&self, workspace: WorkspaceId, ports: &Queries) -> Result<Vec<FoundFeatureRequest>, RoadmapError> {
        self.run(workspace, &*ports.search).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use crate::policy::ranking::Candidate;
    use crate::ports::mocks::MockTextSearch;
    use crate::usecase::fixtures::{summary, workspace};
    use pollster::block_on;
    use uuid::Uuid;

    fn candidate(number: u128, relevance: f64) -> Candidate {
        let request = FeatureRequestId::new(Uuid::from_u128(number));
        Candidate { request, tag_number: i64::try_from(number).unwrap(), votes_count: 0, relevance }
    }

    fn found(ids: &[FeatureRequestId]) -> Vec<FoundFeatureRequest> {
        ids.iter()
            .map(|id| {
                let mut summary = summary("Inbox", None, 0);
                summary.id = *id;
                FoundFeatureRequest { summary, description: String::new() }
            })
            .collect()
    }

    fn search(port: MockTextSearch, query: &str) -> Result<Vec<u128>, RoadmapError> {
        let query = SearchQuery::parse("query", query).unwrap();
        let found = block_on(SearchFeatureRequests::new(query, 8).run(workspace(), &port))?;
        Ok(found.iter().map(|found| found.summary.id.uuid().as_u128()).collect())
    }

    #[test]
    fn a_query_without_words_finds_nothing_and_reads_nothing() {
        for query in ["", "  ", "\"*\" -"] {
            assert_eq!(search(MockTextSearch::new(), query).unwrap(), Vec::<u128>::new());
        }
    }

    #[test]
    fn results_are_ordered_by_rank() {
        let mut port = MockTextSearch::new();
        port.expect_candidates().times(1).returning(|_, _, _| Ok(vec![candidate(1, 4.0), candidate(2, 5.3)]));
        port.expect_load_results()
            .withf(|_, _, visibility| *visibility == Visibility::Public)
            .returning(|_, ids, _| Ok(found(ids)));
        assert_eq!(search(port, "dark").unwrap(), [2, 1]);
    }

    #[test]
    fn a_mistyped_query_is_retried_with_corrections() {
        let mut port = MockTextSearch::new();
        port.expect_candidates().times(2).returning(|_, query, _| {
            let is_corrected =
                query.words().iter().all(|word| word.alternatives.iter().any(|word| word.surface() != "drak"));
            Ok(if is_corrected { vec![candidate(1, 4.0)] } else { vec![] })
        });
        port.expect_similar_words().returning(|_, word, _| {
            Ok(if word == "drak" { vec!["dark".to_owned(), "drag".to_owned()] } else { vec!["mode".to_owned()] })
        });
        port.expect_load_results()
            .withf(|_, _, visibility| *visibility == Visibility::Public)
            .returning(|_, ids, _| Ok(found(ids)));
        assert_eq!(search(port, "drak mode").unwrap(), [1]);
    }

    #[test]
    fn a_word_that_resembles_nothing_finds_nothing() {
        let mut port = MockTextSearch::new();
        port.expect_candidates().times(1).returning(|_, _, _| Ok(vec![]));
        port.expect_similar_words().times(1).returning(|_, _, _| Ok(vec!["entirely".to_owned()]));
        assert_eq!(search(port, "xylophone dark").unwrap(), Vec::<u128>::new());
    }

    #[test]
    fn a_word_that_is_longer_than_any_correction_is_not_corrected() {
        let mut port = MockTextSearch::new();
        port.expect_candidates().times(1).returning(|_, _, _| Ok(vec![]));
        assert_eq!(search(port, &"a".repeat(25)).unwrap(), Vec::<u128>::new());
    }

    #[test]
    fn every_failure_of_the_index_is_search_unavailable() {
        let mut port = MockTextSearch::new();
        port.expect_candidates().returning(|_, _, _| Err(StoreError::Fatal("no such table".into())));
        assert_eq!(search(port, "dark").unwrap_err().to_string(), "search_unavailable");
    }
}
