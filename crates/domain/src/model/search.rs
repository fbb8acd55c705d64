//! What search compares: words, reduced to the same form in documents and queries.
//!
//! Words are reduced here and not in the stores, so that every store finds the same requests for
//! the same query. A store only looks up finished terms.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use deunicode::deunicode;
use rust_stemmers::{Algorithm, Stemmer};

use crate::error::Validated;
use crate::model::text;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Longest word that is told apart, in ASCII characters. The rest of a longer one does not count.
const MAX_WORD_LENGTH: usize = 40;

/// A word in the two forms that are searched for: as written, and its stem. Both are lower-case
/// ASCII letters and digits, nothing else: safe in any index's query language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    surface: String,
    stem: String,
}

impl Word {
    fn new(word: &str) -> Self {
        let surface = surface(word);
        Self { stem: STEMMER.stem(&surface).into_owned(), surface }
    }

    /// The word as written, folded.
    #[must_use]
    pub fn surface(&self) -> &str {
        &self.surface
    }

    /// The part that its inflections share.
    #[must_use]
    pub fn stem(&self) -> &str {
        &self.stem
    }
}

/// The words of a text: accents dropped, other scripts transliterated, split at everything that is
/// no letter or digit. An apostrophe does not split: `don't` is `dont`.
pub fn words(text: &str) -> Vec<Word> {
    split_words(&fold_to_ascii(text)).map(Word::new).collect()
}

/// The text in ASCII, without apostrophes.
fn fold_to_ascii(text: &str) -> Cow<'_, str> {
    let ascii: Cow<'_, str> = if text.is_ascii() { text.into() } else { deunicode(text).into() };
    if ascii.contains('\'') { ascii.replace('\'', "").into() } else { ascii }
}

fn split_words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// What a feature request is found by: for title, tags and description the terms of their words.
///
/// What one record adds to an index is bounded: [`Self::MAX_DISTINCT_WORDS`], in the order title, tags,
/// description. Further words are not indexed.
///
/// Each field is a text of ` stem/surface` pairs, each with a space before it. An index that
/// splits at everything but letters and digits finds stems and surfaces; a scan finds a stem as
/// ` stem/` and the start of a surface as `/surf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDocument {
    /// Terms of the title.
    pub title: String,
    /// Terms of the tags.
    pub tags: String,
    /// Terms of the description.
    pub description: String,
}

impl SearchDocument {
    /// Most distinct words of one record that are indexed.
    pub const MAX_DISTINCT_WORDS: usize = 500;
    /// Most words of one record that are indexed, repetitions included.
    pub const MAX_WORDS: usize = 4_000;
    /// Most words of one record that typing errors are corrected to.
    pub const MAX_VOCABULARY: usize = 50;
    /// Longest word that typing errors are corrected to, in ASCII characters.
    pub const MAX_VOCABULARY_WORD: usize = 24;

    /// The terms of these fields.
    #[must_use]
    pub fn new<'a>(title: &str, tags: impl IntoIterator<Item = &'a str>, description: &str) -> Self {
        let tags: String = tags.into_iter().flat_map(|tag| [tag, " "]).collect();
        let mut terms = Terms::default();
        Self {
            title: terms.index_field(title),
            tags: terms.index_field(&tags),
            description: terms.index_field(description),
        }
    }

    /// The document with nothing but its title.
    #[must_use]
    pub fn title_only(&self) -> Self {
        Self { title: self.title.clone(), tags: String::new(), description: String::new() }
    }

    /// Words that typing errors are corrected to, as written: the first [`Self::MAX_VOCABULARY`] distinct ones
    /// of all fields, without those longer than [`Self::MAX_VOCABULARY_WORD`]. Sorted, so that units of work
    /// which store the same words lock them in the same order.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut words: Vec<&str> = [&self.title, &self.tags, &self.description]
            .into_iter()
            .flat_map(|field| term_pairs(field).map(|(_, surface)| surface))
            .filter(|word| word.len() <= Self::MAX_VOCABULARY_WORD && seen.insert(*word))
            .take(Self::MAX_VOCABULARY)
            .collect();
        words.sort_unstable();
        words
    }
}

/// Writes the terms of one record's fields, within the bounds of [`SearchDocument`].
#[derive(Default)]
struct Terms {
    /// The words so far, with their stems.
    stems: HashMap<String, String>,
    word_count: usize,
}

impl Terms {
    fn index_field(&mut self, text: &str) -> String {
        let mut terms = String::new();
        for raw in split_words(&fold_to_ascii(text)) {
            if self.word_count >= SearchDocument::MAX_WORDS {
                break;
            }
            let surface = surface(raw);
            if !self.stems.contains_key(&surface) {
                if self.stems.len() >= SearchDocument::MAX_DISTINCT_WORDS {
                    continue;
                }
                self.stems.insert(surface.clone(), STEMMER.stem(&surface).into_owned());
            }
            if let Some(stem) = self.stems.get(&surface) {
                terms.extend([" ", stem, "/", &surface]);
                self.word_count += 1;
            }
        }
        terms
    }
}

/// A word in lower case, cut to the length that counts.
fn surface(word: &str) -> String {
    let mut surface = word.to_ascii_lowercase();
    surface.truncate(MAX_WORD_LENGTH);
    surface
}

/// The ` stem/surface` pairs of a field.
pub(crate) fn term_pairs(field: &str) -> impl Iterator<Item = (&str, &str)> {
    field.split(' ').filter_map(|pair| pair.split_once('/'))
}

/// One word of a query, with the words that may stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// Any of these matches.
    pub alternatives: Vec<Word>,
    /// Whether a word that only starts like this one matches too.
    pub matches_prefix: bool,
}

/// A query: every word of it must match somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    words: Vec<QueryWord>,
}

impl SearchQuery {
    /// Most characters of a query.
    pub const MAX: usize = 1_000;
    /// Most words that are looked for; further ones do not count.
    pub const MAX_WORDS: usize = 16;

    /// Reads what a person typed. The last word is perhaps not finished, so that it matches as a
    /// prefix too. A query without any letter or digit has no words.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        text::validate_text(field, raw, Self::MAX)?;
        let mut words: Vec<QueryWord> = words(raw)
            .into_iter()
            .take(Self::MAX_WORDS)
            .map(|word| QueryWord { alternatives: vec![word], matches_prefix: false })
            .collect();
        if let Some(last) = words.last_mut() {
            last.matches_prefix = true;
        }
        Ok(Self { words })
    }

    /// A query in which each word may be any of some similar ones. `None` when for one word there
    /// are none: then nothing can match.
    #[must_use]
    pub fn from_alternatives(similar: Vec<Vec<String>>) -> Option<Self> {
        let words = similar
            .into_iter()
            .map(|words| {
                let alternatives: Vec<Word> = words.iter().map(|word| Word::new(word)).collect();
                (!alternatives.is_empty()).then_some(QueryWord { alternatives, matches_prefix: false })
            })
            .collect::<Option<_>>()?;
        Some(Self { words })
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[QueryWord] {
        &self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn surfaces(text: &str) -> Vec<String> {
        words(text).iter().map(|word| word.surface().to_owned()).collect()
    }

    #[test]
    fn words_lose_accents_case_and_punctuation() {
        assert_eq!(surfaces("Façade für ZÜRICH"), ["facade", "fur", "zurich"]);
        assert_eq!(surfaces("dark-mode, e-mail/CSV"), ["dark", "mode", "e", "mail", "csv"]);
        assert_eq!(surfaces("don't the user’s"), ["dont", "the", "users"]);
        assert_eq!(surfaces("\"a\" OR b* NEAR(c) col:d ^e"), ["a", "or", "b", "near", "c", "col", "d", "e"]);
        assert_eq!(surfaces("!?*-"), Vec::<String>::new());
        assert_eq!(surfaces("поиск"), ["poisk"]);
    }

    #[test]
    fn inflections_share_a_stem() {
        for (one, other) in [("notifications", "notification"), ("exporting", "exports"), ("users", "user’s")] {
            assert_eq!(words(one)[0].stem(), words(other)[0].stem());
        }
    }

    #[test]
    fn a_document_holds_pairs_and_a_vocabulary() {
        let document = SearchDocument::new("Dark modes", ["UI", "night-shift"], "Modes, dark.");
        assert_eq!(document.title, " dark/dark mode/modes");
        assert_eq!(document.tags, " ui/ui night/night shift/shift");
        assert_eq!(document.vocabulary(), ["dark", "modes", "night", "shift", "ui"]);
    }

    /// `count` different words, each of `length` letters.
    fn different_words(first: usize, count: usize, length: usize) -> String {
        let word = |number: usize| {
            let digits = format!("{number:0length$}");
            digits.bytes().map(|digit| char::from(b'a' + (digit - b'0'))).collect::<String>() + " "
        };
        (first..first + count).map(word).collect()
    }

    #[test]
    fn a_record_adds_500_distinct_words_at_most_title_and_tags_first() {
        let tag = different_words(100, 5, 6);
        let document = SearchDocument::new("Dark mode", [tag.trim()], &different_words(1_000, 3_000, 6));
        assert_eq!(document.title, " dark/dark mode/mode");
        assert_eq!(term_pairs(&document.tags).count(), 5);
        // 2 and 5 words came first.
        let indexed: Vec<&str> = term_pairs(&document.description).map(|(_, surface)| surface).collect();
        assert_eq!(indexed, different_words(1_000, 493, 6).split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn known_words_still_count_at_the_limit() {
        let text = format!("{}dark dark", different_words(1_000, 600, 6));
        let document = SearchDocument::new("Dark", [], &text);
        let dark = term_pairs(&document.description).filter(|(_, surface)| *surface == "dark").count();
        assert_eq!((dark, term_pairs(&document.description).count()), (2, 501));
    }

    #[test]
    fn a_record_adds_4000_words_at_most_repetitions_included() {
        let document = SearchDocument::new("a b", [], &"a ".repeat(10_000));
        assert_eq!(term_pairs(&document.description).count(), 3_998);
    }

    #[test]
    fn the_vocabulary_is_the_first_200_short_words() {
        let long = "a".repeat(25);
        let document = SearchDocument::new(&long, ["zebra"], &different_words(1_000, 300, 24));
        let mut expected = different_words(1_000, 199, 24);
        expected.push_str("zebra");
        assert_eq!(document.vocabulary(), expected.split(' ').collect::<Vec<_>>());
    }

    #[test]
    fn only_the_last_word_is_a_prefix() {
        let query = SearchQuery::parse("query", "dark mod").unwrap();
        let prefixes: Vec<bool> = query.words().iter().map(|word| word.matches_prefix).collect();
        assert_eq!(prefixes, [false, true]);
        assert!(SearchQuery::parse("query", " - ").unwrap().words().is_empty());
    }

    #[test]
    fn queries_are_bounded() {
        assert_eq!(SearchQuery::parse("query", &"a ".repeat(500)).unwrap().words().len(), 16);
        assert_eq!(
            SearchQuery::parse("query", &"a".repeat(1_001)).unwrap_err().to_string(),
            "query must be at most 1000 characters long"
        );
        assert!(SearchQuery::parse("query", "a\0").is_err());
    }

    proptest! {
        #[test]
        fn terms_are_letters_and_digits_whatever_is_typed(text in any::<String>()) {
            for word in words(&text) {
                for form in [word.surface(), word.stem()] {
                    prop_assert!(!form.is_empty() && form.len() <= MAX_WORD_LENGTH);
                    prop_assert!(form.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{form}");
                }
            }
        }
    }
}
