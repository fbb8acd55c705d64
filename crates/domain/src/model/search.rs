//! Search documents and search queries.
//!
//! Words of documents and queries are folded and stemmed here and not in the stores, so that all stores return the same
//! results for the same query. A store only looks up terms.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use deunicode::deunicode;
use rust_stemmers::{Algorithm, Stemmer};

use crate::error::Validated;
use crate::model::text;

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Maximum length of a word in ASCII characters. Longer words are truncated.
const MAX_WORD_LENGTH: usize = 40;

/// A word in the two forms that are searched for: the folded surface form and its stem.
///
/// Both consist of lower-case ASCII letters and digits only, which makes them safe in any index's query language.
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

    /// Returns the folded surface form.
    #[must_use]
    pub fn surface(&self) -> &str {
        &self.surface
    }

    /// Returns the stem, which inflections of a word share.
    #[must_use]
    pub fn stem(&self) -> &str {
        &self.stem
    }
}

/// Splits a text into words.
///
/// Accents are dropped and other scripts are transliterated. Every character except letters, digits and apostrophes
/// separates words. Apostrophes are removed: `don't` becomes `dont`.
pub fn words(text: &str) -> Vec<Word> {
    split_words(&fold_to_ascii(text)).map(Word::new).collect()
}

/// Converts a text to ASCII and removes apostrophes.
fn fold_to_ascii(text: &str) -> Cow<'_, str> {
    let ascii: Cow<'_, str> = if text.is_ascii() { text.into() } else { deunicode(text).into() };
    if ascii.contains('\'') { ascii.replace('\'', "").into() } else { ascii }
}

fn split_words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// The searchable terms of a feature request's title, tags and description.
///
/// The number of indexed words is bounded by [`Self::MAX_DISTINCT_WORDS`] and [`Self::MAX_WORDS`], in the order title,
/// tags, description. Further words are not indexed.
///
/// Each field is a text of ` stem/surface` pairs, each preceded by a space. An index that splits at everything except
/// letters and digits finds stems and surface forms. A scan finds a stem as ` stem/` and a prefix of a surface form as
/// `/prefix`.
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
    /// Maximum number of distinct indexed words of a record.
    pub const MAX_DISTINCT_WORDS: usize = 500;
    /// Maximum number of indexed words of a record, including repetitions.
    pub const MAX_WORDS: usize = 4_000;
    /// Maximum number of words of a record that typing errors are corrected to.
    pub const MAX_VOCABULARY: usize = 50;
    /// Maximum length of words that typing errors are corrected to, in ASCII characters.
    pub const MAX_VOCABULARY_WORD: usize = 24;

    /// Builds the terms of these fields.
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

    /// Returns the document with only its title.
    #[must_use]
    pub fn title_only(&self) -> Self {
        Self { title: self.title.clone(), tags: String::new(), description: String::new() }
    }

    /// Returns the surface forms that typing errors are corrected to.
    ///
    /// These are the first [`Self::MAX_VOCABULARY`] distinct words of all fields, without words longer than
    /// [`Self::MAX_VOCABULARY_WORD`]. They are sorted, so that concurrent units of work lock the same words in the same
    /// order.
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

/// Builds the terms of a record's fields within the limits of [`SearchDocument`].
#[derive(Default)]
struct Terms {
    /// The stems of the words so far, by surface form.
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

/// Converts a word to lower case and truncates it to [`MAX_WORD_LENGTH`].
fn surface(word: &str) -> String {
    let mut surface = word.to_ascii_lowercase();
    surface.truncate(MAX_WORD_LENGTH);
    surface
}

/// Returns the ` stem/surface` pairs of a field.
pub(crate) fn term_pairs(field: &str) -> impl Iterator<Item = (&str, &str)> {
    field.split(' ').filter_map(|pair| pair.split_once('/'))
}

/// A word of a query and its alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryWord {
    /// The words of which any matches.
    pub alternatives: Vec<Word>,
    /// Whether words that start with an alternative match, too.
    pub matches_prefix: bool,
}

/// A search query. Every word must match in some field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    words: Vec<QueryWord>,
}

impl SearchQuery {
    /// Maximum number of characters of a query.
    pub const MAX: usize = 1_000;
    /// Maximum number of words of a query. Further words are ignored.
    pub const MAX_WORDS: usize = 16;

    /// Parses a query. A query without any letter or digit has no words.
    ///
    /// The last word also matches as a prefix, because the user may still be typing it.
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

    /// Creates a query in which each word has alternatives. Returns `None` when a word has none, because then nothing
    /// can match.
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

    /// Returns the words.
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

    /// Returns `count` distinct words of `length` letters.
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
        // The title has 2 words and the tags have 5.
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
    fn the_vocabulary_is_the_first_50_short_words() {
        let long = "a".repeat(25);
        let document = SearchDocument::new(&long, ["zebra"], &different_words(1_000, 300, 24));
        let mut expected = different_words(1_000, 49, 24);
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
        fn terms_of_any_text_are_letters_and_digits(text in any::<String>()) {
            for word in words(&text) {
                for form in [word.surface(), word.stem()] {
                    prop_assert!(!form.is_empty() && form.len() <= MAX_WORD_LENGTH);
                    prop_assert!(form.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()), "{form}");
                }
            }
        }
    }
}
