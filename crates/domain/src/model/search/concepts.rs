//! Concepts: groups of phrases that mean the same in feature requests.
//!
//! The groups are in `concepts.txt`. A document is indexed with the concepts of its phrases, and a query looks for the
//! concepts of its own phrases. Therefore synonyms cost a query one term, however many phrases a group has.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Bound, Range};
use std::sync::LazyLock;

use super::words::{Word, words};

const TABLE: &str = include_str!("concepts.txt");

/// Maximum number of words of a phrase.
pub(super) const MAX_PHRASE: usize = 4;

/// Number of pairs of characters that count as one word of a phrase.
pub(super) const PAIRS_PER_WORD: usize = 4;

/// Maximum number of concepts that an incomplete phrase is completed to.
const MAX_COMPLETIONS: usize = 3;

/// Minimum number of letters of an incomplete phrase of one word.
const MIN_INCOMPLETE: usize = 4;

/// The first character of a concept's term. It is no letter or digit, so that no word of a text is equal to a concept,
/// and not ASCII, so that the tokenizer of the index does not split there.
pub const CONCEPT_MARK: char = '§';

/// The version of the index documents: of this table and of the way in which documents are built.
///
/// A change of either needs a higher version. Documents with a lower version are indexed again in the background.
pub const INDEX_VERSION: i32 = 4;

/// A concept, by the number of its group in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Concept(u16);

impl Concept {
    /// Returns the term of the concept in the index.
    #[must_use]
    pub fn term(self) -> String {
        format!("{CONCEPT_MARK}{}", self.0)
    }

    /// Parses a term that [`Self::term`] returned.
    pub(crate) fn from_term(term: &str) -> Option<Self> {
        term.strip_prefix(CONCEPT_MARK)?.parse().ok().map(Self)
    }
}

/// The concepts of phrases.
#[derive(Default)]
struct Phrases {
    by_key: BTreeMap<String, Concept>,
    /// By a word that is matched without its inflections.
    by_word: HashMap<String, Concept>,
}

impl Phrases {
    fn new(table: &str) -> Self {
        let mut phrases = Self::default();
        for (key, concept) in parse(table) {
            match key {
                Key::Phrase(key) => phrases.by_key.insert(key, concept),
                Key::ExactWord(word) => phrases.by_word.insert(word, concept),
            };
        }
        phrases
    }

    /// Whether a phrase may begin with a word of this stem. Saves most look-ups of phrases.
    fn may_begin_with(&self, stem: &str) -> bool {
        // The key of a phrase of this word alone lacks its last `e`.
        let start = stem.strip_suffix('e').unwrap_or(stem);
        let first = self.by_key.range::<str, _>((Bound::Included(start), Bound::Unbounded)).next();
        first.is_some_and(|(key, _)| key.starts_with(start))
    }
}

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| Phrases::new(TABLE));

/// Loads the table.
pub(super) fn load() {
    LazyLock::force(&PHRASES);
}

/// What a phrase of the table is found by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The key of a phrase, see [`phrase_key`].
    Phrase(String),
    /// The surface form of a word.
    ExactWord(String),
}

/// Returns the keys of all phrases with their concepts.
fn parse(table: &str) -> impl Iterator<Item = (Key, Concept)> {
    let groups = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    (0..).zip(groups).flat_map(|(number, group)| {
        group.split('|').map(move |phrase| {
            let words = words(phrase);
            let key = match (phrase.trim().starts_with('='), words.as_slice()) {
                (true, [word]) => Key::ExactWord(word.surface().to_owned()),
                _ => Key::Phrase(phrase_key(&words.iter().map(Word::stem).collect::<Vec<_>>())),
            };
            (key, Concept(number))
        })
    })
}

/// Returns the number of words of a phrase. [`PAIRS_PER_WORD`] pairs of characters count as one word.
pub(super) fn phrase_length(words: &[Word]) -> usize {
    let pairs = words.iter().filter(|word| word.is_pair()).count();
    words.len() - pairs + pairs.div_ceil(PAIRS_PER_WORD)
}

/// Returns the key of a phrase: its stems in a row. `log in`, `logging in`, `log-in` and `login` have the same key.
pub(super) fn phrase_key(stems: &[&str]) -> String {
    let mut key = stems.concat();
    // The stem of a joined word may lack an `e` that the stem of its last part has: `timezon`, `time` and `zone`.
    if key.ends_with('e') {
        key.pop();
    }
    key
}

/// Returns the concepts of a text, given the stems and surface forms of its words, with the words of each. Phrases may
/// overlap. A phrase within a longer one does not count, and an exact word counts before the stem of another group.
pub(super) fn concepts(words: &[(&str, &str)]) -> Vec<(Range<usize>, Concept)> {
    let stems: Vec<&str> = words.iter().map(|(stem, _)| *stem).collect();
    let mut matches: Vec<(Range<usize>, Concept)> = Vec::new();
    for (start, (stem, surface)) in words.iter().enumerate() {
        let longest = if PHRASES.may_begin_with(stem) { MAX_PHRASE.min(words.len() - start) } else { 0 };
        let phrase = |length: usize| {
            let phrase = start..start + length;
            let concept = PHRASES.by_key.get(&phrase_key(stems.get(phrase.clone())?))?;
            Some((phrase, *concept))
        };
        let exact = || Some((start..start + 1, *PHRASES.by_word.get(*surface)?));
        // A word that the table has in this form before one that it has by its stem.
        let known = (2..=longest).rev().find_map(phrase).or_else(exact);
        let known = known.or_else(|| if longest > 0 { phrase(1) } else { None });
        let end = matches.last().map_or(0, |(phrase, _)| phrase.end);
        matches.extend(known.filter(|(phrase, _)| phrase.end > end));
    }
    matches
}

/// Returns the concepts of phrases that start with these words, of which the last is incomplete. Returns no more than
/// [`MAX_COMPLETIONS`], or nothing if there are more: then the words say too little.
pub(super) fn completions(stems: &[&str], incomplete: &str) -> Vec<Concept> {
    let start = format!("{}{incomplete}", stems.concat());
    if incomplete.len() < MIN_INCOMPLETE && stems.is_empty() {
        return Vec::new();
    }
    let mut matches: Vec<Concept> = Vec::new();
    for (_, concept) in PHRASES.by_key.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start)) {
        if !matches.contains(concept) {
            matches.push(*concept);
        }
        if matches.len() > MAX_COMPLETIONS {
            return Vec::new();
        }
    }
    matches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_phrase_is_in_two_groups() {
        let mut groups: BTreeMap<Key, Concept> = BTreeMap::new();
        for (key, concept) in parse(TABLE) {
            let known = *groups.entry(key.clone()).or_insert(concept);
            assert_eq!(known, concept, "{key:?}");
        }
        assert!(groups.values().map(|concept| concept.0).max().unwrap() >= 150);
    }

    #[test]
    fn every_phrase_is_found() {
        for phrase in TABLE.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split('|')) {
            let (words, mut keys) = (words(phrase), parse(phrase));
            let forms: Vec<(&str, &str)> = words.iter().map(|word| (word.stem(), word.surface())).collect();
            let longest = concepts(&forms).pop();
            let expected = keys.next().and_then(|(key, _)| match key {
                Key::Phrase(key) => PHRASES.by_key.get(&key),
                Key::ExactWord(word) => PHRASES.by_word.get(&word),
            });
            assert_eq!(longest, expected.map(|concept| (0..words.len(), *concept)), "{phrase}");
        }
    }

    /// Decision 4: a changed concept table of the search has a new version.
    #[test]
    fn a_changed_table_has_a_new_version() {
        // After a change of the table, increment INDEX_VERSION and replace the checksum.
        assert_eq!((INDEX_VERSION, crc32fast::hash(TABLE.as_bytes())), (4, 1_487_980_452));
    }

    #[test]
    fn phrases_are_short() {
        for phrase in TABLE.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split('|')) {
            assert!(words(phrase).len() <= MAX_PHRASE, "{phrase}");
        }
    }

    #[test]
    fn longer_phrases_are_preferred() {
        let spans = |text: &str| {
            let words = words(text);
            let forms: Vec<(&str, &str)> = words.iter().map(|word| (word.stem(), word.surface())).collect();
            concepts(&forms).into_iter().map(|(words, _)| (words.start, words.end)).collect::<Vec<_>>()
        };
        assert_eq!(spans("quokka single sign on"), [(1, 4)]);
        assert_eq!(spans("login and logging in"), [(0, 1), (2, 4)]);
    }

    #[test]
    fn an_exact_word_is_preferred_to_its_stem() {
        let only = |text: &str| {
            let words = words(text);
            let forms: Vec<(&str, &str)> = words.iter().map(|word| (word.stem(), word.surface())).collect();
            let matches = concepts(&forms);
            assert_eq!(matches.len(), 1, "{text}: {matches:?}");
            matches[0].1
        };
        // The stem of `attendees` is that of `attendance`, a phrase of the group of `clock in`.
        assert_eq!(only("attendance"), only("clock in"));
        assert_eq!(only("attendees"), only("event registration"));
        // A longer phrase still comes first.
        assert_ne!(only("settings as code"), only("settings"));
        assert_eq!(only("settings as code"), only("terraform"));
    }

    /// Decision 4.
    #[test]
    fn incomplete_phrases_are_completed_if_few_begin_so() {
        let sso = concepts(&[("sso", "sso")])[0].1;
        assert_eq!(completions(&["singl"], "si"), [sso]);
        assert_eq!(completions(&[], "s"), []);
    }
}
