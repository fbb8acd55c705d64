//! Ranking of search results by relevance and votes, contract section 4.5.

use crate::model::id::FeatureRequestId;
use crate::model::search::{QueryWord, SearchDocument, SearchQuery, term_pairs};
use crate::policy::search_plan::Fields;

/// Weights of a match by field.
///
/// One match in the title outweighs any number of matches in the tags, and one in the tags any number in the
/// description.
const TITLE_WEIGHT: f64 = 8.0;
const TAGS_WEIGHT: f64 = 4.0;
const DESCRIPTION_WEIGHT: f64 = 1.0;

/// Frequency of a prefix match. An exact match counts 1.
const PREFIX_MATCH_WEIGHT: f64 = 0.5;

/// A feature request that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The feature request.
    pub request: FeatureRequestId,
    /// Its tag number. Newer feature requests have higher numbers.
    pub tag_number: i64,
    /// Number of votes.
    pub votes_count: i64,
    /// Its [`relevance`] to the query.
    pub relevance: f64,
}

impl Candidate {
    /// A request with this document as a candidate, if every word of the query is in its `fields`.
    #[must_use]
    pub fn matching(
        query: &SearchQuery,
        fields: Fields,
        (request, tag_number, votes_count): (FeatureRequestId, i64, i64),
        document: &SearchDocument,
    ) -> Option<Self> {
        if fields == Fields::Title {
            relevance(query, &document.title_only())?;
        }
        Some(Self { request, tag_number, votes_count, relevance: relevance(query, document)? })
    }
}

/// How well a document answers a query: the sum over words and fields of the field's weight times
/// `n / (n + 1)`, `n` being how often the word is there. `None` when a word is nowhere.
#[must_use]
pub fn relevance(query: &SearchQuery, document: &SearchDocument) -> Option<f64> {
    let fields =
        [(TITLE_WEIGHT, &document.title), (TAGS_WEIGHT, &document.tags), (DESCRIPTION_WEIGHT, &document.description)];
    let mut sum = 0.0;
    for word in query.words() {
        let word_score: f64 = fields
            .iter()
            .map(|(weight, field)| {
                let n = frequency(word, field);
                weight * n / (n + 1.0)
            })
            .sum();
        if word_score == 0.0 {
            return None;
        }
        sum += word_score;
    }
    Some(sum)
}

fn frequency(word: &QueryWord, field: &str) -> f64 {
    term_pairs(field)
        .map(|(stem, surface)| {
            if word.alternatives.iter().any(|wanted| wanted.stem() == stem || wanted.surface() == surface) {
                1.0
            } else if word.matches_prefix
                && word.alternatives.iter().any(|wanted| surface.starts_with(wanted.surface()))
            {
                PREFIX_MATCH_WEIGHT
            } else {
                0.0
            }
        })
        .sum()
}

/// Returns the score: the relevance times `1 + ln(1 + votes)`.
#[must_use]
pub fn score(relevance: f64, votes_count: i64) -> f64 {
    // Only numbers of votes beyond 2^53 lose precision.
    #[expect(clippy::cast_precision_loss)]
    let votes = votes_count.max(0) as f64;
    relevance * (1.0 + votes.ln_1p())
}

/// Returns the `limit` candidates with the highest scores, best first. Equal scores are ordered newest first.
#[must_use]
pub fn top_candidates(candidates: Vec<Candidate>, limit: usize) -> Vec<FeatureRequestId> {
    let mut ranked: Vec<(f64, Candidate)> = candidates
        .into_iter()
        .map(|candidate| (score(candidate.relevance, candidate.votes_count), candidate))
        .collect();
    ranked.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.tag_number.cmp(&one.tag_number)));
    ranked.into_iter().take(limit).map(|(_, candidate)| candidate.request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    struct Known {
        number: u128,
        votes_count: i64,
        document: SearchDocument,
    }

    fn candidate(number: u128, votes_count: i64, title: &str, tags: &[&str], description: &str) -> Known {
        let document = SearchDocument::new(title, tags.iter().copied(), description);
        Known { number, votes_count, document }
    }

    fn order(query: &str, known: Vec<Known>) -> Vec<u128> {
        let query = SearchQuery::parse("query", query).unwrap();
        let candidates = known.into_iter().filter_map(|Known { number, votes_count, document }| {
            let request = (FeatureRequestId::new(Uuid::from_u128(number)), i64::try_from(number).unwrap(), votes_count);
            Candidate::matching(&query, Fields::Any, request, &document)
        });
        top_candidates(candidates.collect(), 15).iter().map(|id| id.uuid().as_u128()).collect()
    }

    #[test]
    fn title_outweighs_tags_and_tags_outweigh_description() {
        let many = "export ".repeat(200);
        let candidates = vec![
            candidate(1, 0, "Reports", &[], &many),
            candidate(2, 0, "Reports", &["export", "export api", "export csv"], &many),
            candidate(3, 0, "Export", &[], ""),
        ];
        assert_eq!(order("export", candidates), [3, 2, 1]);
        // Tags alone against the description alone.
        let candidates = vec![candidate(1, 0, "Reports", &[], &many), candidate(2, 0, "Reports", &["export"], "")];
        assert_eq!(order("export", candidates), [2, 1]);
    }

    #[test]
    fn inflections_match_and_other_words_do_not() {
        let candidates = vec![candidate(1, 0, "Exports", &[], ""), candidate(2, 0, "Reports", &[], "")];
        assert_eq!(order("exporting", candidates), [1]);
    }

    #[test]
    fn votes_raise_the_score() {
        let candidates = vec![candidate(1, 0, "Dark mode", &[], ""), candidate(2, 3, "Dark mode", &[], "")];
        assert_eq!(order("dark", candidates), [2, 1]);
        assert!((score(2.0, 0) - 2.0).abs() < f64::EPSILON);
        assert!((score(2.0, 9) - 2.0 * (1.0 + 10f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn equal_scores_are_ordered_newest_first() {
        let candidates = vec![candidate(1, 2, "Dark mode", &[], ""), candidate(2, 2, "Dark mode", &[], "")];
        assert_eq!(order("dark mode", candidates), [2, 1]);
    }

    #[test]
    fn every_word_must_match_somewhere() {
        let candidates = vec![
            candidate(1, 50, "Dark mode", &[], ""),
            candidate(2, 0, "Dark", &["mobile"], ""),
            candidate(3, 0, "Mobile", &[], "in the dark"),
        ];
        assert_eq!(order("dark mobile", candidates), [2, 3]);
    }

    #[test]
    fn words_that_are_searched_for_in_the_title_must_be_there() {
        let query = SearchQuery::parse("query", "dark mode").unwrap();
        let matching = |fields, title, description| {
            let request = (FeatureRequestId::new(Uuid::from_u128(1)), 1, 0);
            Candidate::matching(&query, fields, request, &SearchDocument::new(title, [], description)).is_some()
        };
        assert!(matching(Fields::Title, "Dark mode", "") && matching(Fields::Any, "Dark", "mode"));
        assert!(!matching(Fields::Title, "Dark", "mode"));
    }

    #[test]
    fn a_whole_word_outweighs_its_beginning() {
        let candidates = vec![candidate(1, 0, "Log", &[], ""), candidate(2, 0, "Login", &[], "")];
        assert_eq!(order("log", candidates), [1, 2]);
    }

    #[test]
    fn an_unfinished_inflection_still_matches() {
        // The stem of `notifications` is `notif`, which `notificat` does not share. Only the prefix matches.
        assert_eq!(order("mail notificat", vec![candidate(1, 0, "Mail notifications", &[], "")]), [1]);
        assert_eq!(order("notificat mail", vec![candidate(1, 0, "Mail notifications", &[], "")]), Vec::<u128>::new());
    }
}
