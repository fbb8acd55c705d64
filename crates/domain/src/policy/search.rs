//! A search, its results and the limits that its algorithm (`usecase/search.rs`) shares with the stores.

use crate::model::id::FeatureRequestId;
use crate::model::search::{SearchQuery, Synonyms};
use crate::policy::ranking::Relevance;

/// Maximum number of documents that are ranked for the rare words, and number of the most voted or newest matches that
/// are ranked for common words. The title matches have the same limit of their own.
pub const CANDIDATE_LIMIT: usize = 40;

/// Maximum rows that a walk scans, from the most voted feature request downwards. Also the number of newest feature
/// requests that are scanned. For independent words a walk needs about `40 * requests / matches` rows.
pub const MAX_SCANNED_ROWS: usize = 1_000;

/// Number of rows after which a walk is checked for whether the remaining rows are worth scanning.
pub const PROBE_ROWS: usize = 200;

/// Whether a walk continues after this number of scanned rows and matches. It stops if it has fewer than a quarter of
/// the matches per row that would reach [`CANDIDATE_LIMIT`] within [`MAX_SCANNED_ROWS`], because then the most voted
/// feature requests contain too few matches.
#[must_use]
pub fn should_continue_scan(rows: usize, matches: usize) -> bool {
    matches < CANDIDATE_LIMIT && rows < MAX_SCANNED_ROWS && (rows != PROBE_ROWS || matches >= 2)
}

/// A result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub request: FeatureRequestId,
    /// Its tag number. Newer feature requests have higher numbers.
    pub number: i64,
    /// Number of votes.
    pub votes_count: i64,
    /// How well it matches.
    pub relevance: Relevance,
    /// Whether so little of the query matches that it is a result only if there are few others.
    pub is_weak: bool,
    /// The relevance times the factor of the votes.
    pub score: f64,
}

/// A search for the best feature requests.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    pub(crate) query: SearchQuery,
    pub(crate) limit: usize,
    pub(crate) min_similarity: f64,
}

impl Search {
    /// Creates a search for at most `limit` feature requests.
    #[must_use]
    pub fn new(query: SearchQuery, limit: usize) -> Self {
        Self { query, limit, min_similarity: 0.0 }
    }

    /// Returns the query.
    #[must_use]
    pub fn query(&self) -> &SearchQuery {
        &self.query
    }

    /// Searches for the synonyms of the query's words, too.
    #[must_use]
    pub fn with_synonyms(mut self, synonyms: &Synonyms) -> Self {
        synonyms.expand(&mut self.query);
        self
    }

    /// Leaves out results that are less similar to the query than this ([`Relevance::similarity`]), except for the best two:
    /// people see at a glance that these are something else.
    #[must_use]
    pub fn with_min_similarity(self, min_similarity: f64) -> Self {
        Self { min_similarity, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 4.
    #[test]
    fn a_walk_ends_with_enough_matches_or_at_its_limit_or_after_a_poor_probe() {
        for (rows, matches, goes_on) in [
            (0, 0, true),
            (199, 0, true),
            (200, 1, false),
            (200, 2, true),
            (201, 2, true),
            (40, 40, false),
            (999, 39, true),
            (1_000, 39, false),
        ] {
            assert_eq!(should_continue_scan(rows, matches), goes_on, "{rows} {matches}");
        }
    }
}
