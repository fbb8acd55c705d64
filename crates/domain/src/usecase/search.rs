//! The algorithm of searches, [`Search::run`], for every store. A store calls it with its own index.
//!
//! 1. The index is asked for the matches of each word. A word with few matches has a list of all of them. A word with
//!    more is *common*.
//! 2. Words without matches are corrected, if similar words exist.
//! 3. The lists are united. If there are more feature requests than can be ranked, those with the best words are
//!    chosen, and among equals those with the most votes. More are ranked if there are common words, too.
//! 4. If there are too few results, the feature requests with all common words are added, then those with any two of
//!    the first four.
//!    Of those, only the most voted and the newest are ranked.
//! 5. The documents are ranked by [`ranking`](crate::policy::ranking). Those that match too small a part of the query
//!    are left out.
//!
//! All steps read a bounded number of rows.

use std::collections::HashMap;
use std::ops::Range;

use crate::error::StoreError;
use crate::model::search::{Alternative, Expression, Fields, MatchKind, QueryWord, SearchDocument, SearchQuery, Word};
use crate::policy::ranking::{Field, Ranker, Relevance, WordMatch, inverse_frequency, votes_factor};
use crate::policy::search::{CANDIDATE_LIMIT, Hit, MAX_SCANNED_ROWS, Search};
use crate::policy::similarity;
use crate::ports::{IndexedRequest, Matches, SearchIndex};

/// Maximum number of matches that are read for a word. A word with more is common.
pub const MATCHES_LIMIT: usize = 256;

/// Maximum number of feature requests whose votes decide which of them are ranked.
const VOTES_LIMIT: usize = 512;

/// Maximum number of documents that are ranked for the rare words if there are common words, too. Only the documents
/// show which of the common words they have.
const MIXED_LIMIT: usize = 128;

/// Maximum number of matches of common words that are ordered by votes. Of more matches, the most voted ones are found
/// by a walk.
pub const LOOKUP_LIMIT: usize = 1_000;

/// Maximum number of common words of which a feature request must have two.
const PAIRED_WORDS: usize = 4;

/// Maximum number of unknown words of a query that are corrected.
const CORRECTED_WORDS: usize = 4;

/// Number of results of a search with a minimum similarity that may be less similar.
const UNSURE_RESULTS: usize = 2;

/// Number of similar words that are compared with a mistyped one.
pub const SIMILAR_WORDS: usize = 50;

/// Minimum coverage of a result in which several words match.
const MIN_COVERAGE: f64 = 0.15;

/// Minimum coverage of a result in which one word matches, in title or tags and in the description. A result between
/// both is weak.
const ONE_WORD_IN_TITLE: Range<f64> = 0.22..0.42;
const ONE_WORD_IN_DESCRIPTION: Range<f64> = 0.4..0.55;

/// Number of results up to which weak ones are added.
const WEAK_RESULTS: usize = 2;

/// Maximum number of unknown words that are split into two words.
const SPLIT_WORDS: usize = 2;

/// A word of the query and its matches.
#[derive(Debug, Clone, PartialEq)]
struct Term {
    expression: Expression,
    /// All matches, or none if there are too many.
    matches: Option<Vec<i64>>,
    mass: f64,
}

impl Term {
    fn is_common(&self) -> bool {
        self.matches.is_none()
    }

    fn matches(&self) -> &[i64] {
        self.matches.as_deref().unwrap_or(&[])
    }
}

/// What is known of a feature request before it is ranked.
#[derive(Debug, Clone, Copy, Default)]
struct Partial {
    mass: f64,
    weighted: f64,
}

impl Partial {
    fn add(&mut self, mass: f64) {
        self.mass += mass;
        self.weighted += mass * Field::Description.weight();
    }

    /// Counts a word that was added before as one of the title.
    fn raise(&mut self, mass: f64) {
        self.weighted += mass * (Field::Title.weight() - Field::Description.weight());
    }

    fn value(self) -> f64 {
        self.weighted * self.mass * self.mass
    }
}

/// The state of a running search.
struct Run<'a> {
    index: &'a mut dyn SearchIndex,
    ranker: Ranker,
    /// The mass that the looked-up words of a result have at least: words that find nothing alone may match, too.
    min_mass: f64,
    hits: HashMap<i64, Hit>,
}

impl Search {
    /// Runs the search. Returns the hits, best first. Equal scores are ordered newest first.
    ///
    /// # Errors
    /// Those of the index.
    pub async fn run(self, index: &mut dyn SearchIndex) -> Result<Vec<Hit>, StoreError> {
        let Self { mut query, limit, min_similarity } = self;
        if query.words().is_empty() {
            return Ok(Vec::new());
        }
        let terms = find_terms(index, &mut query).await?;
        let masses: Vec<f64> = terms.iter().map(|term| term.mass).collect();
        let others: f64 =
            query.words().iter().zip(&masses).filter(|(word, _)| !word.finds()).map(|(_, mass)| mass).sum();
        let min_mass = MIN_COVERAGE * masses.iter().sum::<f64>() - others;
        let mut run = Run { index, ranker: Ranker::new(query, masses), min_mass, hits: HashMap::new() };
        run.rank_rare(&terms).await?;
        if run.hits.len() < limit {
            run.rank_common(&terms, limit).await?;
        }
        let mut hits: Vec<Hit> = run.hits.into_values().collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then(other.number.cmp(&one.number)));
        let mut weak = WEAK_RESULTS.saturating_sub(hits.iter().filter(|hit| !hit.is_weak).count());
        hits.retain(|hit| {
            let is_result = !hit.is_weak || weak > 0;
            weak -= usize::from(hit.is_weak && is_result);
            is_result
        });
        let mut place = 0;
        hits.retain(|hit| {
            place += 1;
            place <= UNSURE_RESULTS || hit.relevance.similarity >= min_similarity
        });
        hits.truncate(limit);
        Ok(hits)
    }
}

/// Looks up the words of a query, and adds corrections to those without matches.
async fn find_terms(index: &mut dyn SearchIndex, query: &mut SearchQuery) -> Result<Vec<Term>, StoreError> {
    let finding: Vec<usize> =
        (0..).zip(query.words()).filter(|(_, word)| word.finds()).map(|(number, _)| number).collect();
    let lookup_matches = index.matches(&lookups(query, &finding), MATCHES_LIMIT).await?;
    let mut matches: HashMap<usize, Matches> = finding.iter().copied().zip(lookup_matches).collect();
    let unknown: Vec<usize> = finding.into_iter().filter(|word| is_unknown(&matches, *word)).collect();
    let corrected = correct(index, query, &unknown).await?;
    if !corrected.is_empty() {
        let lookup_matches = index.matches(&lookups(query, &corrected), MATCHES_LIMIT).await?;
        matches.extend(corrected.into_iter().zip(lookup_matches));
    }
    let requests = index.request_count().await?;
    let shares = unknown_shares(query.words(), |word| is_unknown(&matches, word));
    let term = |((number, word), share): ((usize, &QueryWord), f64)| {
        let (expression, matches) = match matches.remove(&number) {
            Some(Matches::All(all)) => (word.expression(), Some(all)),
            Some(Matches::TooManyWithPrefixes) => (word.expression(), None),
            // A common word is not completed, because its completions are expensive to look up and add little. Words
            // that find nothing alone are in many feature requests.
            Some(Matches::TooMany) | None => (word.expression().without_prefixes(), None),
        };
        let count = matches.as_ref().map_or(MATCHES_LIMIT, Vec::len);
        Term { expression, matches, mass: share * word.weight * inverse_frequency(requests, count) }
    };
    Ok(query.words().iter().enumerate().zip(shares).map(term).collect())
}

/// Whether a word was looked up and no feature request has it.
fn is_unknown(matches: &HashMap<usize, Matches>, word: usize) -> bool {
    matches!(matches.get(&word), Some(Matches::All(all)) if all.is_empty())
}

/// Returns the share of its mass that each word of a query counts with: all of it, except for pairs of characters that
/// no feature request has. Most of these are at the border of two words that are known, as the second of three pairs of
/// `导出视频`. Only characters that no other pair covers count, half each.
fn unknown_shares(words: &[QueryWord], is_unknown: impl Fn(usize) -> bool) -> Vec<f64> {
    let overlaps = |position: usize| {
        let before = position.checked_sub(1).and_then(|before| words.get(before));
        before.zip(words.get(position)).is_some_and(|(before, word)| word.word.overlaps(&before.word))
    };
    let share = |(position, word): (usize, &QueryWord)| {
        if !word.word.is_pair() || !is_unknown(position) {
            return 1.0;
        }
        let is_first_covered = overlaps(position);
        let is_second_covered = overlaps(position + 1) && !is_unknown(position + 1);
        [is_first_covered, is_second_covered].map(|is_covered| if is_covered { 0.0 } else { 0.5 }).iter().sum()
    };
    words.iter().enumerate().map(share).collect()
}

/// Returns the look-ups of these words of a query.
fn lookups(query: &SearchQuery, words: &[usize]) -> Vec<(Expression, Fields)> {
    words.iter().filter_map(|word| query.words().get(*word)).map(|word| (word.expression(), Fields::Any)).collect()
}

/// Adds corrections to the first unknown words, and splits those without corrections. Returns the words that have any.
async fn correct(
    index: &mut dyn SearchIndex,
    query: &mut SearchQuery,
    unknown: &[usize],
) -> Result<Vec<usize>, StoreError> {
    let misspellings: Vec<(usize, String)> = unknown
        .iter()
        .filter_map(|word| Some((*word, query.words().get(*word)?)))
        .filter(|(_, word)| {
            !word.is_acronym && !word.word.is_pair() && word.word.surface().len() <= SearchDocument::MAX_VOCABULARY_WORD
        })
        .map(|(number, word)| (number, word.word.surface().to_owned()))
        .filter(|(_, surface)| similarity::tolerance(surface) > 0)
        .take(CORRECTED_WORDS)
        .collect();
    if misspellings.is_empty() {
        return Ok(Vec::new());
    }
    let surfaces: Vec<&str> = misspellings.iter().map(|(_, surface)| surface.as_str()).collect();
    let similar = index.similar_words(&surfaces, SIMILAR_WORDS).await?;
    let mut corrected = Vec::new();
    let mut splits = SPLIT_WORDS;
    for ((word, surface), known) in misspellings.into_iter().zip(similar) {
        let mut alternatives: Vec<Alternative> = similarity::corrections(&surface, known)
            .iter()
            .map(|correction| Alternative::Words(MatchKind::Correction, vec![Word::new(correction)]))
            .collect();
        if alternatives.is_empty() && splits > 0 {
            splits -= 1;
            alternatives = split(index, &surface).await?;
        }
        if !alternatives.is_empty() {
            query.add_alternatives(word, alternatives);
            corrected.push(word);
        }
    }
    Ok(corrected)
}

/// Returns the expression for documents that match at least two of these.
fn any_two(expressions: &[Expression]) -> Expression {
    let pairs = expressions.iter().enumerate().filter_map(|(position, one)| {
        let others = expressions.get(position + 1..).filter(|others| !others.is_empty())?;
        Some(Expression::All(vec![one.clone(), Expression::Any(others.to_vec())]))
    });
    Expression::Any(pairs.collect())
}

/// Returns the pairs of words that a word consists of and that some feature request has both of.
async fn split(index: &mut dyn SearchIndex, surface: &str) -> Result<Vec<Alternative>, StoreError> {
    let pairs: Vec<Vec<Word>> =
        similarity::splits(surface).into_iter().map(|(left, right)| vec![Word::new(left), Word::new(right)]).collect();
    let lookups: Vec<(Expression, Fields)> =
        pairs.iter().map(|words| (Expression::all_words(words), Fields::Any)).collect();
    let lookup_matches = index.matches(&lookups, MATCHES_LIMIT).await?;
    let matches = pairs.into_iter().zip(lookup_matches).filter(|(_, matches)| *matches != Matches::All(Vec::new()));
    let alternatives = matches.map(|(words, _)| Alternative::Words(MatchKind::Joined, words));
    Ok(alternatives.take(similarity::MAX_CORRECTIONS).collect())
}

impl Run<'_> {
    /// Whether feature requests with words of this mass may match enough of the query.
    fn may_cover(&self, mass: f64) -> bool {
        mass >= self.min_mass
    }

    /// Returns the coverage from which a feature request is a result, and the one up to which it is a weak result.
    /// Words that find nothing alone do not count.
    fn min_coverage(&self, relevance: &Relevance) -> Range<f64> {
        let words = self.ranker.query().words();
        let finds = |word_match: &&WordMatch| words.get(word_match.word).is_some_and(QueryWord::finds);
        let matches: Vec<&WordMatch> = relevance.matches.iter().filter(finds).collect();
        match matches.as_slice() {
            [] => f64::INFINITY..f64::INFINITY,
            [one] if one.field == Field::Description => ONE_WORD_IN_DESCRIPTION,
            [_] => ONE_WORD_IN_TITLE,
            _ => MIN_COVERAGE..MIN_COVERAGE,
        }
    }

    fn rank(&mut self, requests: Vec<IndexedRequest>) {
        for IndexedRequest { id, number, votes_count, document } in requests {
            let Some(relevance) = self.ranker.relevance(&document) else { continue };
            let Range { start, end } = self.min_coverage(&relevance);
            if relevance.coverage >= start {
                let is_weak = relevance.coverage < end;
                let score = relevance.value * votes_factor(votes_count);
                self.hits.insert(number, Hit { request: id, number, votes_count, relevance, is_weak, score });
            }
        }
    }

    /// Ranks the matches of rare words.
    async fn rank_rare(&mut self, terms: &[Term]) -> Result<(), StoreError> {
        let finding: Vec<&Term> = terms
            .iter()
            .zip(self.ranker.query().words())
            .filter(|(_, word)| word.finds())
            .map(|(term, _)| term)
            .collect();
        let mut partials: HashMap<i64, Partial> = HashMap::new();
        for term in &finding {
            for number in term.matches() {
                partials.entry(*number).or_default().add(term.mass);
            }
        }
        let common: f64 = finding.iter().filter(|term| term.is_common()).map(|term| term.mass).sum();
        partials.retain(|_, partial| self.may_cover(partial.mass + common));
        let has_common = finding.iter().any(|term| term.is_common());
        let limit = if has_common { MIXED_LIMIT } else { CANDIDATE_LIMIT };
        if partials.len() > limit {
            self.add_titles(&finding, &mut partials).await?;
        }
        let candidates = self.choose(partials, limit).await?;
        if !candidates.is_empty() {
            let documents = self.index.documents(&candidates).await?;
            self.rank(documents);
        }
        Ok(())
    }

    /// Counts the rare words of titles as such.
    async fn add_titles(&mut self, terms: &[&Term], partials: &mut HashMap<i64, Partial>) -> Result<(), StoreError> {
        let rare: Vec<&&Term> = terms.iter().filter(|term| !term.matches().is_empty()).collect();
        let lookups: Vec<(Expression, Fields)> =
            rare.iter().map(|term| (term.expression.clone(), Fields::Title)).collect();
        let lookup_matches = self.index.matches(&lookups, MATCHES_LIMIT).await?;
        for (term, matches) in rare.into_iter().zip(lookup_matches) {
            let Matches::All(all) = matches else { continue };
            for number in all {
                if let Some(partial) = partials.get_mut(&number) {
                    partial.raise(term.mass);
                }
            }
        }
        Ok(())
    }

    /// Chooses the feature requests that are ranked.
    async fn choose(&mut self, partials: HashMap<i64, Partial>, limit: usize) -> Result<Vec<i64>, StoreError> {
        let mut ordered: Vec<(f64, i64)> =
            partials.into_iter().map(|(number, partial)| (partial.value(), number)).collect();
        let order = |one: &(f64, i64), other: &(f64, i64)| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1));
        if ordered.len() > limit {
            ordered.sort_by(order);
            ordered.truncate(VOTES_LIMIT);
            let numbers: Vec<i64> = ordered.iter().map(|(_, number)| *number).collect();
            let votes: HashMap<i64, i64> = self.index.votes(&numbers).await?.into_iter().collect();
            for (value, number) in &mut ordered {
                *value *= votes_factor(votes.get(number).copied().unwrap_or(0));
            }
            ordered.sort_by(order);
            ordered.truncate(limit);
        }
        Ok(ordered.into_iter().map(|(_, number)| number).collect())
    }

    /// Ranks the matches of all common words, also those in the title, and then those of two of them.
    async fn rank_common(&mut self, terms: &[Term], limit: usize) -> Result<(), StoreError> {
        let words = self.ranker.query().words().iter().zip(terms);
        let common: Vec<&Term> =
            words.filter(|(word, term)| word.finds() && term.is_common()).map(|(_, term)| term).collect();
        let mass = |terms: &[&Term]| -> f64 { terms.iter().map(|term| term.mass).sum() };
        let expressions: Vec<Expression> = common.iter().map(|term| term.expression.clone()).collect();
        let all = match expressions.as_slice() {
            [] => return Ok(()),
            [one] => one.clone(),
            several => Expression::All(several.to_vec()),
        };
        if self.may_cover(mass(&common)) {
            let (count, is_exhausted) = self.rank_fields(&all, Fields::Any, false).await?;
            // With fewer candidates, these are all matches.
            if count >= CANDIDATE_LIMIT {
                self.rank_fields(&all, Fields::Title, is_exhausted).await?;
            }
        }
        if let ([one, other, _, ..], Some(paired)) =
            (common.as_slice(), expressions.get(..PAIRED_WORDS.min(common.len())))
            && self.hits.len() < limit
            && self.may_cover(mass(&[one, other]))
        {
            self.rank_fields(&any_two(paired), Fields::Any, false).await?;
        }
        Ok(())
    }

    /// Ranks the most voted matches in these fields. Returns their number, and whether a walk found too few matches.
    /// Another walk would find too few, too.
    async fn rank_fields(
        &mut self,
        expression: &Expression,
        fields: Fields,
        is_walk_exhausted: bool,
    ) -> Result<(usize, bool), StoreError> {
        if let Some(matches) = self.index.most_voted(expression, fields, LOOKUP_LIMIT, CANDIDATE_LIMIT).await? {
            let count = matches.len();
            self.rank(matches);
            return Ok((count, is_walk_exhausted));
        }
        let mut count = 0;
        if !is_walk_exhausted {
            let matches = self.index.walk(expression, fields).await?;
            count = matches.len();
            self.rank(matches);
            if count >= CANDIDATE_LIMIT {
                return Ok((count, false));
            }
        }
        let newest = self.index.newest(expression, fields, MAX_SCANNED_ROWS, CANDIDATE_LIMIT).await?;
        count += newest.len();
        self.rank(newest);
        if count < CANDIDATE_LIMIT {
            let any = self.index.any(expression, fields, CANDIDATE_LIMIT).await?;
            count += any.len();
            self.rank(any);
        }
        Ok((count, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::FeatureRequestId;
    use crate::model::search::Synonyms;
    use crate::ports::memory_index::MemoryIndex;
    use pollster::block_on;
    use serde_json::Value;
    use uuid::Uuid;

    /// Creates an index of titles and votes. Descriptions follow after `|`.
    fn index(requests: impl IntoIterator<Item = (String, i64)>) -> MemoryIndex {
        let request = |(number, (text, votes_count)): (i64, (String, i64))| {
            let (title, description) = text.split_once('|').unwrap_or((&text, ""));
            IndexedRequest {
                id: FeatureRequestId::new(Uuid::from_u128(number.unsigned_abs().into())),
                number,
                votes_count,
                document: SearchDocument::new(title, [], description),
            }
        };
        MemoryIndex { requests: (1..).zip(requests).map(request).collect(), rows_read: 0 }
    }

    fn titles(titles: &[&str]) -> MemoryIndex {
        index(titles.iter().map(|title| ((*title).to_owned(), 0)))
    }

    fn numbers(index: &mut MemoryIndex, query: &str, limit: usize) -> Vec<i64> {
        let search = Search::new(SearchQuery::parse("query", query).unwrap(), limit);
        block_on(search.run(index)).unwrap().iter().map(|hit| hit.number).collect()
    }

    /// Decision 4.
    #[test]
    fn the_best_coverage_comes_first_and_the_newest_among_equals() {
        let mut index = titles(&["Quokka", "Quokka fern", "Fern", "Wombat", "Fern quokka"]);
        assert_eq!(numbers(&mut index, "quokka fern", 8), [5, 2, 3, 1]);
        assert_eq!(numbers(&mut index, "quokka fern", 1), [5]);
        assert_eq!(numbers(&mut index, "the and of", 8), Vec::<i64>::new());
    }

    /// Decision 4.
    #[test]
    fn unknown_words_are_corrected_and_known_words_are_not() {
        let mut index = titles(&["Quokka", "Quokkas burrow", "Wombat"]);
        assert_eq!(numbers(&mut index, "qoukka", 8), [1, 2]);
        assert_eq!(numbers(&mut index, "wombta", 8), [3]);
        assert_eq!(numbers(&mut index, "wmo", 8), Vec::<i64>::new());
        let mut index = titles(&["Bark", "Mark", "Lark"]);
        assert_eq!(numbers(&mut index, "mark", 8), [2]);
        assert_eq!(numbers(&mut index, "dark", 8), [3, 2, 1]);
        // Capital letters mark an acronym.
        assert_eq!(numbers(&mut index, "DARK", 8), Vec::<i64>::new());
    }

    /// Decision 4: a search splits unknown compounds.
    #[test]
    fn unknown_compounds_are_split() {
        let mut index = titles(&["Arbeit und Zeug", "Zeug", "Quokka"]);
        assert_eq!(numbers(&mut index, "Arbeitszeug", 8), [1]);
    }

    #[test]
    fn synonyms_are_found_in_place_of_a_word() {
        let mut index = titles(&["Quokka zoo", "Wombat", "Fern"]);
        let synonyms = Synonyms::parse(&[vec!["numbat".to_owned(), "quokka zoo".to_owned()]]).unwrap();
        let query = SearchQuery::parse("query", "numbat").unwrap();
        let hits = block_on(Search::new(query, 5).with_synonyms(&synonyms).run(&mut index)).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), [1]);
        assert_eq!(hits[0].relevance.matches[0].kind, MatchKind::Synonym);
    }

    /// Decision 4.
    #[test]
    fn weak_results_fill_up_to_two() {
        let mut index = titles(&["Quokka one", "Quokka two", "Quokka three", "Wombat fern"]);
        // One word of three matches.
        assert_eq!(numbers(&mut index, "quokka zebra lion", 8).len(), 2);
        // A word of five is too little.
        assert_eq!(numbers(&mut index, "quokka zebra lion tiger giraffe", 8), Vec::<i64>::new());
        // A description needs more than a title.
        let mut index = titles(&["One|a quokka", "Two|a quokka"]);
        assert_eq!(numbers(&mut index, "quokka", 8), [2, 1]);
        assert_eq!(numbers(&mut index, "quokka zebra lion", 8), Vec::<i64>::new());
    }

    /// Decision 4.
    #[test]
    fn votes_choose_among_more_matches_than_are_ranked() {
        let requests = (0..200).map(|number| (format!("Wombat {number}|quokka"), i64::from(number == 7)));
        let mut index = index(requests);
        assert_eq!(numbers(&mut index, "quokka", 3), [8, 200, 199]);
    }

    /// Decision 4.
    #[test]
    fn a_common_word_narrows_many_matches_of_a_rare_one() {
        // All have the common word in the description, and one has it besides the rare one.
        let requests = (0..1_000).map(|number| {
            let rare = if number < 100 { "quokka" } else { "numbat" };
            let common = if number == 3 || number >= 100 { "fern" } else { "moss" };
            (format!("Request {number}|{rare} {common}"), 0)
        });
        let mut index = index(requests);
        assert_eq!(numbers(&mut index, "quokka fern", 1), [4]);
    }

    /// Decision 4.
    #[test]
    fn common_words_are_combined() {
        let word = |number: i64, divisor, word: &'static str| if number % divisor == 0 { word } else { "" };
        let requests = (1..=1_500).map(|number: i64| {
            let words =
                format!("{} {} {}", word(number, 2, "quokka"), word(number, 3, "fern"), word(number, 5, "moss"));
            (format!("Request|{words}"), if number == 30 { 9 } else { 0 })
        });
        let mut index = index(requests);
        // Every thirtieth has all three words.
        assert_eq!(numbers(&mut index, "quokka fern moss", 3), [30, 1_500, 1_470]);
        assert_eq!(numbers(&mut index, "quokka", 2), [30, 1_500]);
    }

    #[test]
    fn two_of_the_common_words_are_enough() {
        let words = ["quokka", "fern", "moss"];
        // Each has one of the words, and every hundredth has two.
        let requests = (0..1_200_usize).map(|number| {
            let other = if number % 100 == 1 { words[(number + 1) % 3] } else { "" };
            (format!("Request|{} {other}", words[number % 3]), 0)
        });
        let mut index = index(requests);
        let results = numbers(&mut index, "quokka fern moss", 15);
        assert_eq!(results, (0..12).rev().map(|hundred| hundred * 100 + 2).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_unknown_words_are_corrected() {
        let mut index = titles(&["Quokka wombat numbat burrow meadow"]);
        let query = SearchQuery::parse("query", "qokka wmbat nmbat brrow medow").unwrap();
        let hits = block_on(Search::new(query, 5).run(&mut index)).unwrap();
        let matched: Vec<usize> = hits[0].relevance.matches.iter().map(|word_match| word_match.word).collect();
        assert_eq!(matched, [0, 1, 2, 3]);
    }

    /// Decision 4: a search reads a bounded number of rows.
    #[test]
    fn any_query_reads_a_bounded_number_of_rows() {
        let words = ["quokka", "fern", "moss", "zebra", "lion", "wombat", "numbat", "burrow"];
        let requests = (0..2_500_i64).map(|number: i64| {
            let selection: Vec<&str> =
                (0_i64..).zip(words).filter(|(bit, _)| (number >> bit) & 1 == 1).map(|(_, word)| word).collect();
            (format!("{} {number}|{}", selection.join(" "), words[usize::try_from(number % 8).unwrap()]), number % 7)
        });
        let mut index = index(requests);
        for query in [words.join(" "), words[..3].join(" "), "quokka".to_owned(), "customer quokka".to_owned()] {
            index.rows_read = 0;
            assert!(!numbers(&mut index, &query, 15).is_empty(), "{query}");
            // Matches of each word, lookups and walks for all words and two of them, in both kinds of fields.
            let max_rows = 16 * MATCHES_LIMIT + 2 * 2 * (LOOKUP_LIMIT + MAX_SCANNED_ROWS);
            assert!(index.rows_read <= max_rows, "{query}: {}", index.rows_read);
        }
    }

    /// Returns the feature requests of the evaluation with their names.
    fn evaluated() -> (MemoryIndex, Vec<String>) {
        let requests = include_str!("../../../../tests/search-eval/requests.jsonl").lines();
        let requests: Vec<Value> = requests.map(|line| serde_json::from_str(line).unwrap()).collect();
        let text = |request: &Value, key: &str| request[key].as_str().unwrap().to_owned();
        let indexed = |(number, request): (i64, &Value)| {
            let tags: Vec<&str> = request["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
            IndexedRequest {
                id: FeatureRequestId::new(Uuid::nil()),
                number,
                votes_count: request["votes"].as_i64().unwrap().min(20),
                document: SearchDocument::new(&text(request, "title"), tags, &text(request, "description")),
            }
        };
        let index = MemoryIndex { requests: (1..).zip(&requests).map(indexed).collect(), rows_read: 0 };
        (index, requests.iter().map(|request| text(request, "id")).collect())
    }

    /// Decision 4.
    #[test]
    fn judged_queries_in_other_scripts_find_what_they_mean() {
        let (mut index, names) = evaluated();
        let queries = include_str!("../../../../tests/search-eval/queries.jsonl").lines();
        let queries: Vec<Value> = queries.map(|line| serde_json::from_str(line).unwrap()).collect();
        let (mut recalls, mut misses) = (Vec::new(), String::new());
        for query in queries.iter().filter(|query| query["half"] == "both") {
            let text = query["query"].as_str().unwrap();
            let relevant: Vec<&str> =
                query["relevant"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
            let results = numbers(&mut index, text, 8);
            let results: Vec<&str> =
                results.iter().map(|number| names[usize::try_from(number - 1).unwrap()].as_str()).collect();
            let matches = relevant.iter().filter(|name| results.contains(name)).count();
            let number = |count: usize| f64::from(u32::try_from(count).unwrap());
            recalls.push(number(matches) / number(relevant.len()));
            if matches < relevant.len() || results[0] != relevant[0] {
                misses += &format!("{text}: {relevant:?}, found {results:?}\n");
            }
        }
        let recall = recalls.iter().sum::<f64>() / f64::from(u32::try_from(recalls.len()).unwrap());
        assert!(recalls.len() >= 60 && recall >= 0.9, "{recall} of {} queries\n{misses}", recalls.len());
    }

    /// Decision 4.
    #[test]
    fn unknown_pairs_count_with_the_characters_that_no_other_pair_covers() {
        let shares = |text: &str, unknown: &[usize]| {
            let query = SearchQuery::parse("query", text).unwrap();
            unknown_shares(query.words(), |word| unknown.contains(&word))
        };
        for (text, unknown, expected) in [
            ("导出视频", &[1][..], &[1.0, 0.0, 1.0][..]),
            ("导出视频", &[0, 1], &[1.0, 0.0, 1.0]),
            ("导出视频", &[0, 1, 2], &[1.0, 0.5, 0.5]),
            ("导出视频", &[2], &[1.0, 1.0, 0.5]),
            ("导出 视频", &[0], &[1.0, 1.0]),
            ("quokka wombat", &[0, 1], &[1.0, 1.0]),
        ] {
            assert_eq!(shares(text, unknown), expected, "{text} {unknown:?}");
        }
    }

    /// Decision 4.
    #[test]
    fn dissimilar_requests_are_left_out_if_asked_except_for_the_best_two() {
        let mut index = titles(&[
            "A quokka in a very big zoo of other animals",
            "Quokka fern",
            "A fern in a very big garden of other plants",
            "Fern and quokka",
        ]);
        for (title, min_similarity, numbers) in [
            ("quokka fern", 0.0, &[4, 2, 3, 1][..]),
            ("quokka fern", 0.5, &[4, 2]),
            ("quokka zoo garden", 0.9, &[1, 3]),
        ] {
            let query = SearchQuery::parse("query", title).unwrap();
            let search = Search::new(query, 5).with_min_similarity(min_similarity);
            let hits = block_on(search.run(&mut index)).unwrap();
            assert_eq!(hits.iter().map(|hit| hit.number).collect::<Vec<_>>(), numbers, "{title}");
        }
    }
}
