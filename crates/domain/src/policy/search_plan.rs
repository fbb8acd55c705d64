//! The steps in which a search finds its candidates, on every store.
//!
//! The number of matches decides between two strategies. A rare word is looked up in the index. Of a common word only
//! the most voted matches are needed, and a walk from the most voted feature request downwards soon finds enough of
//! them. If all matches have few votes, the walk fails, and the newest matches are taken. Both strategies scan a
//! bounded number of rows.
//!
//! [`SearchPlan`] returns the next step; a store runs it and records the result.

use crate::policy::ranking::Candidate;

/// Number of candidates that suffice to pick the best fifteen. The title matches have the same limit of their own.
pub const CANDIDATE_LIMIT: usize = 60;

/// Maximum rows that a walk scans, from the most voted feature request downwards. Also the number of newest feature
/// requests that are scanned if the index has no order. For independent words a walk needs about `60 * requests /
/// matches` rows, and only words with many matches are searched by a walk.
pub const MAX_SCANNED_ROWS: usize = 2_000;

/// Number of rows after which a walk is checked for whether the remaining rows are worth scanning.
pub const PROBE_ROWS: usize = 400;

/// Number of similar words that are compared with a mistyped one.
pub const SIMILAR_WORDS: usize = 50;

/// Whether a walk continues after this number of scanned rows and matches. It stops if it has fewer than a quarter of
/// the matches per row that would reach [`CANDIDATE_LIMIT`] within [`MAX_SCANNED_ROWS`], because then the most voted
/// feature requests contain too few matches.
#[must_use]
pub fn should_continue_scan(rows: usize, matches: usize) -> bool {
    matches < CANDIDATE_LIMIT && rows < MAX_SCANNED_ROWS && (rows != PROBE_ROWS || matches >= 3)
}

/// The costs of a store that decide between the index and a walk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexCost {
    /// The cost of a row that a walk scans, in matches that the index reads.
    pub scanned_row: f64,
    /// The number of matches up to which the index is always used.
    pub least_matches: u32,
}

impl IndexCost {
    /// Returns the factor under the square root of [`Self::max_matches`], for each feature request of the workspace.
    #[must_use]
    pub fn matches_per_request(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a small constant")]
        let limit = CANDIDATE_LIMIT as f64;
        self.scanned_row * limit
    }

    /// Returns the number of matches up to which the index is cheaper.
    ///
    /// Reading all of `m` matches costs about `m`. A walk until [`CANDIDATE_LIMIT`] of `n` feature requests match costs
    /// about `scanned_row * CANDIDATE_LIMIT * n / m`. Both are equal at the square root of `scanned_row *
    /// CANDIDATE_LIMIT * n`.
    #[must_use]
    pub fn max_matches(self, requests: u64) -> u64 {
        // Workspaces have far fewer than 2^52 requests.
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let root = (self.matches_per_request() * requests as f64).sqrt() as u64;
        root.max(self.least_matches.into())
    }
}

/// The fields in which the words of a query must occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fields {
    /// In title, tags or description.
    Any,
    /// In the title.
    Title,
}

/// The next step of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The most voted matches from the index, or [`Matches::TooMany`] if a walk is cheaper.
    LookUp(Fields),
    /// The most voted matches, by a walk that [`should_continue_scan`] bounds.
    Walk(Fields),
    /// The newest matches.
    Newest(Fields),
    /// Any matches, in the order of the index.
    Any(Fields),
}

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Matches {
    /// The matches.
    Found(Vec<Candidate>),
    /// There are more matches than the index is to read.
    TooMany,
}

/// The state of one search for candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchPlan {
    next: Option<Step>,
    /// Candidates of the fields whose search is finished.
    candidates: Vec<Candidate>,
    /// Candidates of the fields that are being searched.
    found: Vec<Candidate>,
    /// Whether a walk has scanned its maximum of rows and found too few matches. Another walk would fail, too.
    is_walk_exhausted: bool,
}

impl Default for SearchPlan {
    fn default() -> Self {
        let next = Some(Step::LookUp(Fields::Any));
        Self { next, candidates: Vec::new(), found: Vec::new(), is_walk_exhausted: false }
    }
}

impl SearchPlan {
    /// Returns the next step, or `None` when the search is finished.
    #[must_use]
    pub fn next_step(&self) -> Option<Step> {
        self.next
    }

    /// Records the result of the step.
    pub fn record(&mut self, matches: Matches) {
        let Some(step) = self.next else { return };
        let is_walk = matches!(step, Step::Walk(_));
        let has_enough = match matches {
            Matches::TooMany => false,
            Matches::Found(more) => {
                merge(&mut self.found, more);
                self.found.len() >= CANDIDATE_LIMIT || matches!(step, Step::LookUp(_))
            }
        };
        self.is_walk_exhausted |= is_walk && !has_enough;
        self.next = match step {
            _ if has_enough => self.finish(),
            Step::LookUp(fields) if self.is_walk_exhausted => Some(Step::Newest(fields)),
            Step::LookUp(fields) => Some(Step::Walk(fields)),
            Step::Walk(fields) => Some(Step::Newest(fields)),
            Step::Newest(fields) => Some(Step::Any(fields)),
            Step::Any(_) => self.finish(),
        };
    }

    /// Finishes the search of some fields. If there are [`CANDIDATE_LIMIT`] candidates, feature requests with matching
    /// titles but few votes may be missing. In that case the titles are searched next.
    fn finish(&mut self) -> Option<Step> {
        let is_first = self.candidates.is_empty();
        merge(&mut self.candidates, std::mem::take(&mut self.found));
        (is_first && self.candidates.len() >= CANDIDATE_LIMIT).then_some(Step::LookUp(Fields::Title))
    }

    /// Returns the candidates.
    #[must_use]
    pub fn into_candidates(self) -> Vec<Candidate> {
        self.candidates
    }
}

/// Adds the candidates that are not in the list yet.
fn merge(candidates: &mut Vec<Candidate>, more: Vec<Candidate>) {
    for candidate in more {
        if !candidates.iter().any(|known| known.request == candidate.request) {
            candidates.push(candidate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use std::ops::Range;
    use uuid::Uuid;

    const SQLITE_LIKE: IndexCost = IndexCost { scanned_row: 3.0, least_matches: 1_000 };

    fn found(numbers: Range<i64>) -> Matches {
        let candidate = |number: i64| Candidate {
            request: FeatureRequestId::new(Uuid::from_u128(number.unsigned_abs().into())),
            tag_number: number,
            votes_count: 0,
            relevance: 1.0,
        };
        Matches::Found(numbers.map(candidate).collect())
    }

    /// Runs a plan that must take these steps, and returns the numbers of the candidates.
    fn run(steps: impl IntoIterator<Item = (Step, Matches)>) -> Vec<i64> {
        let mut plan = SearchPlan::default();
        for (step, matches) in steps {
            assert_eq!(plan.next_step(), Some(step));
            plan.record(matches);
        }
        assert_eq!(plan.next_step(), None);
        plan.into_candidates().iter().map(|candidate| candidate.tag_number).collect()
    }

    fn numbers(numbers: Range<i64>) -> Vec<i64> {
        numbers.collect()
    }

    #[test]
    fn the_index_reads_fewer_matches_than_a_walk_would_scan_rows() {
        assert_eq!([0, 5_555, 5_600, 100_000].map(|n| SQLITE_LIKE.max_matches(n)), [1_000, 1_000, 1_003, 4_242]);
    }

    #[test]
    fn few_matches_are_looked_up() {
        for count in [0, 1, 59] {
            assert_eq!(run([(Step::LookUp(Fields::Any), found(0..count))]), numbers(0..count));
        }
    }

    #[test]
    fn titles_are_searched_when_there_are_as_many_candidates_as_there_may_be() {
        let steps = [(Step::LookUp(Fields::Any), found(0..60)), (Step::LookUp(Fields::Title), found(50..70))];
        assert_eq!(run(steps), numbers(0..70));
    }

    #[test]
    fn many_matches_are_walked_to() {
        let steps = [
            (Step::LookUp(Fields::Any), Matches::TooMany),
            (Step::Walk(Fields::Any), found(0..60)),
            (Step::LookUp(Fields::Title), Matches::TooMany),
            (Step::Walk(Fields::Title), found(40..100)),
        ];
        assert_eq!(run(steps), numbers(0..100));
    }

    #[test]
    fn a_walk_in_vain_is_followed_by_the_newest_and_not_repeated() {
        let steps = [
            (Step::LookUp(Fields::Any), Matches::TooMany),
            (Step::Walk(Fields::Any), found(0..2)),
            (Step::Newest(Fields::Any), found(1..61)),
            (Step::LookUp(Fields::Title), Matches::TooMany),
            (Step::Newest(Fields::Title), found(30..90)),
        ];
        assert_eq!(run(steps), numbers(0..90));
    }

    #[test]
    fn any_matches_are_taken_when_the_newest_are_too_few() {
        let steps = [
            (Step::LookUp(Fields::Any), Matches::TooMany),
            (Step::Walk(Fields::Any), found(0..2)),
            (Step::Newest(Fields::Any), found(1..4)),
            (Step::Any(Fields::Any), found(0..59)),
        ];
        assert_eq!(run(steps), numbers(0..59));
    }

    #[test]
    fn a_walk_ends_with_enough_matches_or_at_its_limit_or_after_a_poor_probe() {
        for (rows, matches, goes_on) in [
            (0, 0, true),
            (399, 0, true),
            (400, 2, false),
            (400, 3, true),
            (401, 3, true),
            (60, 60, false),
            (1_999, 59, true),
            (2_000, 59, false),
        ] {
            assert_eq!(should_continue_scan(rows, matches), goes_on, "{rows} {matches}");
        }
    }
}
