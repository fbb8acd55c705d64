//! Search queries.

use std::collections::HashSet;
use std::ops::Range;

use super::concepts::{Concept, MAX_PHRASE, PAIRS_PER_WORD, completions, concepts, phrase_key, phrase_length};
use super::document::{INITIALISM, abbreviation_term};
use super::expression::Expression;
use super::folding::fold;
use super::noise::{Noise, is_function_word, noise};
use super::words::{Word, initials, joined, numeronym, split_runs, words};
use crate::error::Validated;
use crate::model::text;

/// Weight of a word that any feature request may have.
const DOMAIN_WEIGHT: f64 = 0.3;

/// Maximum number of words of a text whose initials are looked for. Longer texts are sentences, in which nearly all
/// initials are those of something else.
const ABBREVIATED_WORDS: usize = 5;

/// How an alternative of a word is related to the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The word itself.
    Word,
    /// The word and a neighbour of it, written as one word.
    Joined,
    /// An abbreviation of the word and its neighbours.
    Abbreviation,
    /// A phrase of the same concept.
    Concept,
    /// A synonym of the workspace.
    Synonym,
    /// A similar word, in case that the word is mistyped.
    Correction,
}

impl MatchKind {
    /// Returns the name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Joined => "compound",
            Self::Abbreviation => "abbreviation",
            Self::Concept => "concept",
            Self::Synonym => "synonym",
            Self::Correction => "correction",
        }
    }

    /// Returns the value of a match, compared with a match of the word itself.
    #[must_use]
    pub fn quality(self) -> f64 {
        match self {
            Self::Word => 1.0,
            Self::Joined | Self::Synonym => 0.9,
            Self::Abbreviation | Self::Correction => 0.7,
            Self::Concept => 0.6,
        }
    }
}

/// What a document may have instead of a word of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alternative {
    /// All of these words.
    Words(MatchKind, Vec<Word>),
    /// A phrase of a concept.
    Concept(Concept),
}

/// A word of a query and its alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryWord {
    pub word: Word,
    /// What matches as well as the word.
    pub alternatives: Vec<Alternative>,
    /// Whether words that start with the word match, too.
    pub matches_prefix: bool,
    /// Whether the word was typed in capital letters, unlike others. It is not taken for a misspelling.
    pub is_acronym: bool,
    /// The weight of the word, from 0 to 1. Words with a weight below 1 find nothing alone.
    pub weight: f64,
}

impl QueryWord {
    /// Returns the expression that finds the documents in which the word matches.
    ///
    /// Words are looked up by their stems: the index has the stem of each word, and equal words have equal stems. The
    /// corrections are words of the index, which has Cyrillic words in ASCII; they are looked up in this form, too.
    #[must_use]
    pub fn expression(&self) -> Expression {
        let mut any = Vec::with_capacity(3 + self.alternatives.len());
        any.push(Expression::stem(&self.word));
        if self.matches_prefix {
            any.push(Expression::Prefix(self.word.surface().to_owned()));
        }
        if is_abbreviation(self.word.surface()) {
            any.push(Expression::Term(abbreviation_term(self.word.surface())));
        }
        any.extend(self.alternatives.iter().map(|alternative| match alternative {
            Alternative::Concept(concept) => Expression::Term(concept.term()),
            Alternative::Words(MatchKind::Correction, words) => Expression::all_surfaces(words),
            Alternative::Words(_, words) => Expression::all_words(words),
        }));
        Expression::Any(any)
    }

    /// Whether documents are searched for this word.
    #[must_use]
    pub fn finds(&self) -> bool {
        self.weight >= 1.0
    }
}

/// Whether a word may abbreviate others: it has as many letters as an initialism, or is a numeronym.
fn is_abbreviation(surface: &str) -> bool {
    let is_letters = surface.bytes().all(|byte| byte.is_ascii_lowercase());
    let is_numeronym = surface.len() > 2
        && surface.len() <= 4
        && surface.starts_with(|c: char| c.is_ascii_lowercase())
        && surface.ends_with(|c: char| c.is_ascii_lowercase())
        && surface[1..surface.len() - 1].bytes().all(|byte| byte.is_ascii_digit());
    is_numeronym || is_letters && INITIALISM.contains(&surface.len())
}

/// Neighbouring words of a query that may be a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    /// The key of the phrase, which is the same for its inflections and spellings.
    pub(super) key: String,
    /// The position of its words in the text, with function words.
    pub(super) position: Range<usize>,
    /// The positions of its words in the query.
    pub(super) words: Vec<usize>,
}

/// A search query.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchQuery {
    raw: String,
    words: Vec<QueryWord>,
    /// The words of the text in which phrases are looked for, with function words.
    text: Vec<Word>,
}

impl SearchQuery {
    /// Maximum number of characters of a query.
    pub const MAX: usize = 1_000;
    /// Maximum number of words of a query, without function words. Further words are ignored.
    pub const MAX_WORDS: usize = 16;
    /// Number of words of a text, with function words, in which phrases are looked for.
    const PHRASED_WORDS: usize = 64;

    /// Parses a query. A query without any letter or digit has no words.
    ///
    /// The last word also matches as a prefix, because the user may still be typing it. So does a single character of a
    /// script without spaces between words. Function words are dropped if
    /// there are others. Words that any feature request may have count little, unless there are no others.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        text::validate_text(field, raw, Self::MAX)?;
        let mut text = words(raw);
        let words = query_words(&text, &acronyms(raw));
        text.truncate(Self::PHRASED_WORDS);
        Ok(Self { raw: raw.trim().to_owned(), words, text })
    }

    /// Returns the query as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// Returns the words.
    #[must_use]
    pub fn words(&self) -> &[QueryWord] {
        &self.words
    }

    /// Returns the phrases that have a word of the query, ordered by their beginning, longer ones first.
    pub(super) fn phrases(&self) -> Vec<Phrase> {
        phrases(&self.text, &self.words)
    }

    /// Adds synonyms to a word, up to `limit`.
    pub(super) fn add_synonyms(&mut self, word: usize, synonyms: &[Alternative], limit: usize) {
        let Some(word) = self.words.get_mut(word) else { return };
        let is_synonym = |alternative: &&Alternative| matches!(alternative, Alternative::Words(MatchKind::Synonym, _));
        let known = word.alternatives.iter().filter(is_synonym).count();
        word.alternatives.extend(synonyms.iter().take(limit.saturating_sub(known)).cloned());
    }

    /// Adds alternatives to a word.
    pub(crate) fn add_alternatives(&mut self, word: usize, alternatives: impl IntoIterator<Item = Alternative>) {
        if let Some(word) = self.words.get_mut(word) {
            word.alternatives.extend(alternatives);
        }
    }
}

/// Returns the words of up to five letters that are typed in capital letters, folded, unless the whole query is.
fn acronyms(raw: &str) -> HashSet<String> {
    let folded = fold(raw);
    let is_upper = |word: &&str| word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let (upper, other): (Vec<&str>, Vec<&str>) = split_runs(&folded).partition(is_upper);
    if other.is_empty() && upper.len() > 1 {
        return HashSet::new();
    }
    upper.into_iter().filter(|word| word.len() <= *INITIALISM.end()).map(str::to_ascii_lowercase).collect()
}

/// Selects the words of a query and adds their alternatives.
fn query_words(words: &[Word], acronyms: &HashSet<String>) -> Vec<QueryWord> {
    let noise_levels: Vec<Option<Noise>> = words.iter().map(noise).collect();
    let has_subject = noise_levels.contains(&None);
    let has_domain = noise_levels.contains(&Some(Noise::Domain));
    let weight = |noise: Option<Noise>| match noise {
        None => Some(1.0),
        Some(Noise::Domain) => Some(if has_subject { DOMAIN_WEIGHT } else { 1.0 }),
        Some(Noise::Function) => (!has_subject && !has_domain).then_some(1.0),
    };
    let last = words.len().saturating_sub(1);
    let mut query: Vec<QueryWord> = Vec::new();
    let alternatives = alternatives(words, &noise_levels);
    for (position, ((word, noise), more)) in words.iter().zip(noise_levels).zip(alternatives).enumerate() {
        let Some(weight) = weight(noise) else { continue };
        let matches_prefix = word.is_half_pair() || position == last && may_be_incomplete(word);
        // A repeated word counts once.
        if let Some(known) = query.iter_mut().find(|known| known.word.stem() == word.stem()) {
            known.alternatives.extend(more);
            known.matches_prefix |= matches_prefix;
        } else if query.len() < SearchQuery::MAX_WORDS {
            let is_acronym = acronyms.contains(word.surface());
            query.push(QueryWord { word: word.clone(), alternatives: more, matches_prefix, is_acronym, weight });
        }
    }
    query
}

/// Whether a word may be the beginning of a longer one that is still being typed. A single letter may be the beginning of
/// too many, and is a name, too: `R`, `C`. A pair of characters is not longer in an index.
fn may_be_incomplete(word: &Word) -> bool {
    word.surface().chars().nth(1).is_some() && !word.is_pair()
}

/// Returns the phrases of a text that have a word of its query.
fn phrases(text: &[Word], query: &[QueryWord]) -> Vec<Phrase> {
    let position = |word: &Word| query.iter().position(|known| known.word.stem() == word.stem());
    let positions: Vec<Option<usize>> = text.iter().map(position).collect();
    let stems: Vec<&str> = text.iter().map(Word::stem).collect();
    let mut phrases = Vec::new();
    for start in 0..text.len() {
        for end in (start + 1..=(start + MAX_PHRASE * PAIRS_PER_WORD).min(text.len())).rev() {
            let (Some(stems), Some(positions)) = (stems.get(start..end), positions.get(start..end)) else { continue };
            if text.get(start..end).is_none_or(|words| phrase_length(words) > MAX_PHRASE) {
                continue;
            }
            let mut words: Vec<usize> = positions.iter().copied().flatten().collect();
            words.sort_unstable();
            words.dedup();
            if !words.is_empty() {
                phrases.push(Phrase { key: phrase_key(stems), position: start..end, words });
            }
        }
    }
    phrases
}

/// Returns the alternatives of each word that follow from the query itself.
fn alternatives(words: &[Word], noise_levels: &[Option<Noise>]) -> Vec<Vec<Alternative>> {
    let mut lists: Vec<Vec<Alternative>> = vec![Vec::new(); words.len()];
    let mut add = |positions: Range<usize>, alternative: Alternative| {
        for list in lists.get_mut(positions).into_iter().flatten() {
            if !list.contains(&alternative) {
                list.push(alternative.clone());
            }
        }
    };
    let one = |kind, term: &str| Alternative::Words(kind, vec![Word::new(term)]);
    for (position, (left, right)) in words.iter().zip(words.iter().skip(1)).enumerate() {
        if let Some(joined) = joined(left.surface(), right.surface()) {
            add(position..position + 2, one(MatchKind::Joined, &joined));
        }
    }
    let is_function = |noise: Option<&Option<Noise>>| noise == Some(&Some(Noise::Function));
    for length in INITIALISM.filter(|_| words.len() <= ABBREVIATED_WORDS) {
        for (position, (run, noise)) in words.windows(length).zip(noise_levels.windows(length)).enumerate() {
            let Some(initials) = initials(run.iter().map(Word::surface)) else { continue };
            if !is_function(noise.first()) && !is_function(noise.last()) && !is_function_word(&initials) {
                add(position..position + length, one(MatchKind::Abbreviation, &initials));
            }
        }
    }
    for (position, word) in words.iter().enumerate() {
        if let Some(short) = numeronym(word.surface()) {
            add(position..position + 1, one(MatchKind::Abbreviation, &short));
        }
    }
    let forms: Vec<(&str, &str)> = words.iter().map(|word| (word.stem(), word.surface())).collect();
    for (positions, concept) in concepts(&forms) {
        add(positions, Alternative::Concept(concept));
    }
    // The longest incomplete phrase that ends with the last word.
    if let Some((last, before)) = words.split_last() {
        let stems: Vec<&str> = before.iter().map(Word::stem).collect();
        let starts = before.len().saturating_sub(MAX_PHRASE - 1)..=before.len();
        let completed = starts.map(|start| (start, completions(stems.get(start..).unwrap_or(&[]), last.surface())));
        if let Some((start, concepts)) = completed.into_iter().find(|(_, concepts)| !concepts.is_empty()) {
            for concept in concepts {
                add(start..words.len(), Alternative::Concept(concept));
            }
        }
    }
    lists
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Vec<QueryWord> {
        SearchQuery::parse("query", text).unwrap().words().to_vec()
    }

    fn weights(text: &str) -> Vec<(String, f64)> {
        query(text).iter().map(|word| (word.word.surface().to_owned(), word.weight)).collect()
    }

    /// Decision 4.
    #[test]
    fn only_the_last_word_is_a_prefix() {
        let prefixes: Vec<bool> = query("quokka mod").iter().map(|word| word.matches_prefix).collect();
        assert_eq!(prefixes, [false, true]);
        assert!(query(" - ").is_empty());
    }

    #[test]
    fn a_single_letter_is_no_beginning_and_a_single_character_of_other_scripts_is() {
        for (text, expected) in [
            ("quokka R", &[false, false][..]),
            ("C", &[false]),
            ("go", &[true]),
            ("c+", &[true]),
            ("検 quokka", &[true, true]),
            ("検索", &[false]),
            ("ש", &[false]),
        ] {
            let prefixes: Vec<bool> = query(text).iter().map(|word| word.matches_prefix).collect();
            assert_eq!(prefixes, expected, "{text}");
        }
    }

    /// Decision 4.
    #[test]
    fn noise_counts_only_when_nothing_else_is_left() {
        let expected = |words: &[(&str, f64)]| -> Vec<(String, f64)> {
            words.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect()
        };
        for (text, words) in [
            ("how can the customer export a quokka", &[("customer", 0.3), ("export", 1.0), ("quokka", 1.0)][..]),
            ("the customer", &[("customer", 1.0)]),
            ("not the", &[("not", 1.0), ("the", 1.0)]),
            ("権限を管理", &[("権限", 1.0), ("限を", 0.3), ("管理", 1.0)]),
            ("おすすめ", &[("おす", 1.0), ("すす", 1.0), ("すめ", 1.0)]),
            ("как экспортировать отчёты для клиента", &[("eksportirovat", 1.0), ("otchety", 1.0), ("klienta", 0.3)]),
            ("البحث في الملفات", &[("بحث", 1.0), ("ملفات", 1.0)]),
            ("quokka quokkas", &[("quokka", 1.0)]),
        ] {
            assert_eq!(weights(text), expected(words), "{text}");
        }
    }

    /// Decision 4.
    #[test]
    fn neighbours_are_joined_and_abbreviated() {
        let words = query("red quokka zone");
        let terms = |word: &QueryWord| -> Vec<String> {
            let term = |alternative: &Alternative| match alternative {
                Alternative::Words(_, words) => words[0].surface().to_owned(),
                Alternative::Concept(concept) => concept.term(),
            };
            word.alternatives.iter().map(term).collect()
        };
        assert_eq!(terms(&words[0]), ["redquokka", "rqz"]);
        assert_eq!(terms(&words[1]), ["redquokka", "quokkazone", "rqz"]);
        assert_eq!(terms(&words[2]), ["quokkazone", "rqz"]);
        assert_eq!(terms(&query("検索 グループ 権限")[0]), Vec::<String>::new());
        // A sentence has no initials.
        let words = query("red quokka zone with green fern");
        assert_eq!(terms(&words[0]), ["redquokka"]);
    }

    /// Decision 4: a search does not correct short words in capital letters.
    #[test]
    fn short_words_in_capital_letters_are_acronyms() {
        let acronyms = |text: &str| -> Vec<String> {
            let words = query(text).into_iter().filter(|word| word.is_acronym);
            words.map(|word| word.word.surface().to_owned()).collect()
        };
        assert_eq!(acronyms("the BYOK quokka"), ["byok"]);
        assert_eq!(acronyms("BYOK"), ["byok"]);
        assert_eq!(acronyms("QUOKKA quokka"), Vec::<String>::new());
        assert_eq!(acronyms("DRAK THEME"), Vec::<String>::new());
    }

    #[test]
    fn an_expression_has_all_forms() {
        let term = |term: &str| Expression::Term(term.to_owned());
        let words = query("quokkas burrows");
        let expected = [
            vec![term("quokka"), term("quokkasburrow")],
            vec![term("burrow"), Expression::Prefix("burrows".to_owned()), term("quokkasburrow")],
        ];
        assert_eq!(words.iter().map(QueryWord::expression).collect::<Vec<_>>(), expected.map(Expression::Any));
    }

    #[test]
    fn queries_are_bounded() {
        let many: String = (b'a'..=b'z').flat_map(|letter| [letter as char, 'x', ' ']).collect();
        assert_eq!(query(&many).len(), 16);
        assert_eq!(
            SearchQuery::parse("query", &"a".repeat(1_001)).unwrap_err().to_string(),
            "query must be at most 1000 characters long"
        );
        assert!(SearchQuery::parse("query", "a\0").is_err());
    }
}
