//! Ranking of search results by relevance and votes, contract section 4.5.
//!
//! The score of a feature request is
//!
//! ```text
//! (sum over matched words: mass * field weight * quality) * coverage² * title share * damped votes
//! ```
//!
//! The *mass* of a word is its inverse document frequency times its weight. *Coverage* is the mass of the matched words
//! divided by the mass of all words. `docs/search.md` has an example.

use crate::model::search::document::{Entry, entries};
use crate::model::search::filter::TermFilter;
use crate::model::search::noise::noise_of_indexed;
use crate::model::search::{Alternative, MatchKind, QueryWord, SearchDocument, SearchQuery, Word};

/// Quality of a match of another inflection of a word. The word itself counts 1.
const STEM_QUALITY: f64 = 0.95;

/// Quality of a word of which the query has the beginning: this, and [`PREFIX_RANGE`] times the share of its letters
/// that the query has.
const PREFIX_QUALITY: f64 = 0.5;
const PREFIX_RANGE: f64 = 0.4;

/// What matches in further fields add, compared with the best field.
const OTHER_FIELDS: f64 = 0.1;

/// What a title adds whose words all match. A title in which half of the words match adds half of it.
const TITLE_SHARE: f64 = 0.25;

/// Added to the numbers of requests and matches, so that single matches in a small workspace do not decide.
const PRIOR_REQUESTS: f64 = 100.0;

/// How much the logarithm of the number of votes counts.
const VOTES_DAMPING: f64 = 0.15;

/// A field of a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Title,
    Tags,
    Description,
}

impl Field {
    const ALL: [Self; 3] = [Self::Title, Self::Tags, Self::Description];

    /// Returns the weight of a match in the field.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::Title => 4.0,
            Self::Tags => 2.0,
            Self::Description => 1.0,
        }
    }

    /// Returns the name of the field.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Tags => "tags",
            Self::Description => "description",
        }
    }

    fn of(self, document: &SearchDocument) -> &str {
        match self {
            Self::Title => &document.title,
            Self::Tags => &document.tags,
            Self::Description => &document.description,
        }
    }
}

/// Returns the inverse document frequency of a word that `matches` of so many feature requests have.
#[must_use]
pub fn inverse_frequency(requests: u64, matches: usize) -> f64 {
    // Only numbers beyond 2^53 lose precision.
    #[expect(clippy::cast_precision_loss)]
    let (requests, matches) = (requests as f64, matches as f64);
    ((requests + PRIOR_REQUESTS) / (matches + 1.0)).ln_1p()
}

/// Returns the factor by which votes raise a score.
#[must_use]
pub fn votes_factor(votes_count: i64) -> f64 {
    // Only numbers of votes beyond 2^53 lose precision.
    #[expect(clippy::cast_precision_loss)]
    let votes = votes_count.max(0) as f64;
    1.0 + VOTES_DAMPING * votes.ln_1p()
}

/// The match of a word of a query in a document.
#[derive(Debug, Clone, PartialEq)]
pub struct WordMatch {
    /// The position of the word in the query.
    pub word: usize,
    /// The field with the best match.
    pub field: Field,
    /// How the best match is related to the word.
    pub kind: MatchKind,
    /// The quality of the best match, from 0 to 1.
    pub quality: f64,
    /// What the word adds to the relevance, before coverage.
    pub score: f64,
}

/// How well a document matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    /// The matched words.
    pub matches: Vec<WordMatch>,
    /// The share of the query's mass that the matched words have, from 0 to 1.
    pub coverage: f64,
    /// The share of the title's words that match, from 0 to 1.
    pub title_share: f64,
    /// The relevance: the score without votes.
    pub value: f64,
    /// The relevance divided by that of a title with exactly the words of the query, from 0 to about 1.
    pub similarity: f64,
}

/// A match of one word: quality and kind.
#[derive(Debug, Clone, Copy)]
struct Best {
    quality: f64,
    kind: MatchKind,
}

impl Best {
    const NONE: Self = Self { quality: 0.0, kind: MatchKind::Word };

    fn raise(&mut self, quality: f64, kind: MatchKind) {
        if quality > self.quality {
            *self = Self { quality, kind };
        }
    }
}

/// Ranks documents for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranker {
    query: SearchQuery,
    masses: Vec<f64>,
    /// The texts of entries that match a word of the query, except by their beginning.
    filter: TermFilter,
}

impl Ranker {
    /// Creates a ranker. `masses` has the mass of each word of the query.
    #[must_use]
    pub fn new(query: SearchQuery, masses: Vec<f64>) -> Self {
        let texts = query.words().iter().flat_map(|word| {
            let singles = word.alternatives.iter().filter_map(|alternative| match alternative {
                Alternative::Words(_, words) => words.first().filter(|_| words.len() == 1),
                Alternative::Concept(_) => None,
            });
            let forms = singles.flat_map(|word| [word.stem(), word.surface()]);
            [word.word.stem(), word.word.surface()].into_iter().chain(forms)
        });
        Self { filter: TermFilter::new(texts), masses, query }
    }

    /// Returns the query.
    #[must_use]
    pub fn query(&self) -> &SearchQuery {
        &self.query
    }

    /// Whether an entry may match a word of the query.
    fn may_match(&self, entry: Entry<'_>) -> bool {
        match entry {
            Entry::Word { stem, surface } => {
                let is_completion = |word: &QueryWord| word.matches_prefix && surface.starts_with(word.word.surface());
                self.filter.may_contain(stem)
                    || self.filter.may_contain(surface)
                    || self.query.words().iter().any(is_completion)
            }
            Entry::Joined { stem, .. } => self.filter.may_contain(stem),
            Entry::Abbreviation(short) => self.filter.may_contain(short),
            Entry::Concept(_) => true,
        }
    }

    /// Ranks a document. Returns `None` if no word matches.
    #[must_use]
    pub fn relevance(&self, document: &SearchDocument) -> Option<Relevance> {
        let (words, masses) = (self.query.words(), &self.masses);
        let mut best = vec![[Best::NONE; 3]; words.len()];
        let (mut title_words, mut title_matches) = (0.0, 0.0);
        for (field, column) in Field::ALL.into_iter().zip(0..) {
            for entry in entries(field.of(document)) {
                let mut is_matched = false;
                if self.may_match(entry) {
                    for (word, best) in words.iter().zip(&mut best) {
                        if let Some((quality, kind)) = entry_quality(word, entry)
                            && let Some(best) = best.get_mut(column)
                        {
                            best.raise(quality, kind);
                            is_matched = true;
                        }
                    }
                }
                if let (Field::Title, Entry::Word { stem, surface }) = (field, entry)
                    && (is_matched || noise_of_indexed(stem, surface).is_none())
                {
                    title_words += 1.0;
                    title_matches += f64::from(u8::from(is_matched));
                }
            }
        }
        for (word, best) in words.iter().zip(&mut best) {
            raise_by_phrases(word, document, best);
        }
        let mut matches = Vec::with_capacity(words.len());
        for (word, (best, mass)) in best.iter().zip(masses).enumerate() {
            let scored =
                Field::ALL.into_iter().zip(best).map(|(field, best)| (field.weight() * best.quality, field, best));
            let Some((score, field, top)) = scored.clone().max_by(|(one, ..), (other, ..)| one.total_cmp(other)) else {
                continue;
            };
            if score > 0.0 {
                let others: f64 = scored.map(|(score, ..)| score).sum::<f64>() - score;
                let score = mass * (score + OTHER_FIELDS * others);
                matches.push(WordMatch { word, field, kind: top.kind, quality: top.quality, score });
            }
        }
        if matches.is_empty() {
            return None;
        }
        let all: f64 = masses.iter().sum();
        let matched =
            matches.iter().map(|word_match| masses.get(word_match.word).copied().unwrap_or(0.0) * word_match.quality);
        let coverage = matched.sum::<f64>() / all;
        let title_share = if title_words > 0.0 { title_matches / title_words } else { 0.0 };
        let sum: f64 = matches.iter().map(|word_match| word_match.score).sum();
        let value = sum * coverage * coverage * (1.0 + TITLE_SHARE * title_share);
        let similarity = value / (all * Field::Title.weight() * (1.0 + TITLE_SHARE));
        Some(Relevance { matches, coverage, title_share, value, similarity })
    }
}

/// Returns how well an entry of a document matches a word of a query, without alternatives of several words. Equal
/// words have equal stems.
fn entry_quality(word: &QueryWord, entry: Entry<'_>) -> Option<(f64, MatchKind)> {
    let query_word = &word.word;
    let by_alternative = |matches: &dyn Fn(&Alternative) -> Option<MatchKind>| {
        word.alternatives
            .iter()
            .filter_map(matches)
            .map(|kind| (kind.quality(), kind))
            .max_by(|a, b| a.0.total_cmp(&b.0))
    };
    match entry {
        Entry::Word { stem, surface } => {
            if surface == query_word.surface() {
                return Some((1.0, MatchKind::Word));
            }
            if stem == query_word.stem() {
                return Some((STEM_QUALITY, MatchKind::Word));
            }
            if word.matches_prefix && surface.starts_with(query_word.surface()) {
                #[expect(clippy::cast_precision_loss, reason = "words have at most 40 letters")]
                let share = query_word.surface().len() as f64 / surface.len() as f64;
                return Some((PREFIX_QUALITY + PREFIX_RANGE * share, MatchKind::Word));
            }
            by_alternative(&|alternative| match alternative {
                Alternative::Words(kind, words) => match words.as_slice() {
                    [one] if one.stem() == stem => Some(*kind),
                    // A word of the index, which has the stem of another language.
                    [one] if *kind == MatchKind::Correction && one.surface() == surface => Some(*kind),
                    _ => None,
                },
                Alternative::Concept(_) => None,
            })
        }
        Entry::Joined { stem, .. } => {
            (stem == query_word.stem()).then(|| (MatchKind::Joined.quality(), MatchKind::Joined))
        }
        Entry::Abbreviation(short) => {
            let is_wanted = short == query_word.surface();
            is_wanted.then(|| (MatchKind::Abbreviation.quality(), MatchKind::Abbreviation))
        }
        Entry::Concept(indexed) => by_alternative(&|alternative| match alternative {
            Alternative::Concept(concept) if *concept == indexed => Some(MatchKind::Concept),
            _ => None,
        }),
    }
}

/// Adds matches of alternatives of several words. A phrase is in the fields of its words that are weighted least.
fn raise_by_phrases(word: &QueryWord, document: &SearchDocument, best: &mut [Best; 3]) {
    for alternative in &word.alternatives {
        let Alternative::Words(kind, phrase) = alternative else { continue };
        if phrase.len() < 2 {
            continue;
        }
        let has = |field: Field, phrase_word: &Word| {
            entries(field.of(document))
                .any(|entry| matches!(entry, Entry::Word { stem, .. } if stem == phrase_word.stem()))
        };
        // The fields are ordered by weight.
        let columns = phrase.iter().map(|phrase_word| Field::ALL.into_iter().position(|field| has(field, phrase_word)));
        let worst = columns.collect::<Option<Vec<usize>>>().and_then(|columns| columns.into_iter().max());
        if let Some(best) = worst.and_then(|column| best.get_mut(column)) {
            best.raise(kind.quality(), *kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks a document for a query in which all words have the same mass, but for domain words.
    fn rank(query: &str, title: &str, tags: &[&str], description: &str) -> Option<Relevance> {
        let query = SearchQuery::parse("query", query).unwrap();
        let masses: Vec<f64> = query.words().iter().map(|word| word.weight).collect();
        Ranker::new(query, masses).relevance(&SearchDocument::new(title, tags.iter().copied(), description))
    }

    fn value(query: &str, title: &str, tags: &[&str], description: &str) -> f64 {
        rank(query, title, tags, description).map_or(0.0, |relevance| relevance.value)
    }

    /// Decision 4.
    #[test]
    fn title_outweighs_tags_and_tags_outweigh_description() {
        let many = "quokka ".repeat(200);
        let title = value("quokka", "Quokka", &[], "");
        let tags = value("quokka", "Reports", &["quokka", "quokka zoo"], &many);
        let description = value("quokka", "Reports", &[], &many);
        assert!(title > tags && tags > description && description > 0.0, "{title} {tags} {description}");
    }

    /// Decision 4.
    #[test]
    fn the_value_is_the_sum_of_masses_times_squared_coverage_and_title_share() {
        // Two of three words match: one in the title, one in the description.
        let relevance = rank("quokka fern wombat", "Quokka numbat", &[], "A fern").unwrap();
        let close = |one: f64, other: f64| (one - other).abs() < 1e-9;
        assert!(close(relevance.coverage, 2.0 / 3.0) && close(relevance.title_share, 0.5), "{relevance:?}");
        assert!(close(relevance.value, (4.0 + 1.0) * (4.0 / 9.0) * (1.0 + 0.25 * 0.5)), "{relevance:?}");
        assert!(close(relevance.similarity, relevance.value / (3.0 * 4.0 * 1.25)), "{relevance:?}");
        let fields: Vec<(usize, Field)> =
            relevance.matches.iter().map(|word_match| (word_match.word, word_match.field)).collect();
        assert_eq!(fields, [(0, Field::Title), (1, Field::Description)]);
    }

    /// Decision 4.
    #[test]
    fn an_identical_title_has_a_similarity_of_one() {
        for title in ["Quokka fern", "视频上传", "C++ SDK", "PDF导出"] {
            assert!((rank(title, title, &[], "").unwrap().similarity - 1.0).abs() < 1e-9, "{title}");
        }
    }

    /// Decision 4.
    #[test]
    fn the_kinds_of_matches_are_told_apart() {
        for (query, title, kind, quality) in [
            ("quokka", "Quokka", MatchKind::Word, 1.0),
            ("quokkas", "Quokka", MatchKind::Word, STEM_QUALITY),
            ("quok", "Quokka", MatchKind::Word, PREFIX_QUALITY + PREFIX_RANGE * 4.0 / 6.0),
            ("fernzone", "Fern zone", MatchKind::Joined, 0.9),
            ("fern zone", "Fernzone", MatchKind::Joined, 0.9),
            ("qfz", "Quokka fern zone", MatchKind::Abbreviation, 0.7),
            ("quokka fern zone", "QFZ", MatchKind::Abbreviation, 0.7),
            ("k8s", "Kubernetes", MatchKind::Abbreviation, 0.7),
            ("kubernetes", "K8s", MatchKind::Abbreviation, 0.7),
            ("night mode", "Dark theme", MatchKind::Concept, 0.6),
            ("视频", "视频上传", MatchKind::Word, 1.0),
            ("传", "视频上传", MatchKind::Joined, 0.9),
            ("上", "视频上传", MatchKind::Word, PREFIX_QUALITY + PREFIX_RANGE * 0.5),
            (".net", "net", MatchKind::Word, STEM_QUALITY),
        ] {
            let relevance = rank(query, title, &[], "").unwrap_or_else(|| panic!("{query} {title}"));
            let best = &relevance.matches[0];
            assert_eq!((best.kind, best.quality), (kind, quality), "{query} {title}");
        }
        assert_eq!(rank("quokka", "Numbat", &["wombat"], "fern"), None);
        for (query, title) in [("C++", "C# SDK"), ("C", "C++"), ("R", "Reports"), ("shipin", "视频"), ("视频", "食品")]
        {
            assert_eq!(rank(query, title, &[], ""), None, "{query} {title}");
        }
    }

    /// Decision 4.
    #[test]
    fn only_the_last_word_of_a_query_matches_as_a_prefix() {
        // The stem of `notifications` is `notif`, which `notificat` does not share. Only the prefix matches.
        assert!(value("quokka notificat", "Notifications", &[], "") > 0.0);
        assert_eq!(rank("notificat quokka", "Notifications", &[], ""), None);
    }

    #[test]
    fn phrases_of_alternatives_need_all_their_words() {
        let mut query = SearchQuery::parse("query", "zzz").unwrap();
        let words = ["quokka", "fern"].map(Word::new).to_vec();
        query.add_alternatives(0, [Alternative::Words(MatchKind::Synonym, words)]);
        let ranker = Ranker::new(query, vec![1.0]);
        let rank = |title, description| ranker.relevance(&SearchDocument::new(title, [], description));
        let both = rank("Quokka", "fern").unwrap();
        assert_eq!((both.matches[0].field, both.matches[0].kind), (Field::Description, MatchKind::Synonym));
        assert_eq!(rank("Quokka fern", "").unwrap().matches[0].field, Field::Title);
        assert_eq!(rank("Quokka", ""), None);
    }

    /// Decision 4: search results are ranked by relevance × (1 + 0.15 · ln(1 + votes)).
    #[test]
    fn votes_are_damped() {
        assert!((votes_factor(0) - 1.0).abs() < f64::EPSILON);
        assert!((votes_factor(9) - (1.0 + 0.15 * 10f64.ln())).abs() < 1e-12);
        assert!(votes_factor(1_000_000) < 3.1);
    }

    /// Decision 4: rare words in a query count more.
    #[test]
    fn rare_words_have_more_mass() {
        assert!(inverse_frequency(1_000, 1) > inverse_frequency(1_000, 100));
        assert!(inverse_frequency(0, 0) > 0.0);
    }
}
