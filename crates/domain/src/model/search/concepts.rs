//! Concepts: groups of phrases that mean the same in feature requests.
//!
//! The groups are in `concepts.txt`. A document is indexed with the concepts of its phrases, and a query looks for the
//! concepts of its own phrases. Therefore synonyms cost a query one term, however many phrases a group has.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

const TABLE: &str = include_str!("concepts.txt");

/// Maximum number of words of a phrase.
const MAX_PHRASE: usize = 4;

/// The first character of a concept's term. It is no letter or digit, so that no word of a text is equal to a concept,
/// and not ASCII, so that the tokenizer of the index does not split there.
pub const CONCEPT_MARK: char = '§';

/// The version of the index documents: of this table and of the way in which documents are built.
///
/// A change of either needs a higher version. Documents with a lower version are indexed again in the background.
pub const INDEX_VERSION: i32 = 1;

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

static PHRASES: LazyLock<HashMap<String, Concept>> = LazyLock::new(|| parse(TABLE));

fn parse(table: &str) -> HashMap<String, Concept> {
    let groups = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let phrases = (0..).zip(groups).flat_map(|(number, group)| {
        group.split('|').map(move |phrase| {
            let words = super::words::words(phrase);
            let stems: Vec<&str> = words.iter().map(super::Word::stem).collect();
            (phrase_key(&stems), Concept(number))
        })
    });
    phrases.collect()
}

/// Returns the key of a phrase: its stems in a row. `log in`, `logging in`, `log-in` and `login` have the same key.
fn phrase_key(stems: &[&str]) -> String {
    let mut key = stems.concat();
    // The stem of a joined word may lack an `e` that the stem of its last part has: `timezon`, `time` and `zone`.
    if key.ends_with('e') {
        key.pop();
    }
    key
}

/// Returns the concepts of a text, given the stems of its words, with the words of each. Longer phrases are preferred,
/// and phrases do not overlap.
pub(super) fn concepts(stems: &[&str]) -> Vec<(Range<usize>, Concept)> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < stems.len() {
        let longest = (1..=MAX_PHRASE.min(stems.len() - start)).rev().find_map(|length| {
            let words = start..start + length;
            let concept = PHRASES.get(&phrase_key(&stems[words.clone()]))?;
            Some((words, *concept))
        });
        start = longest.as_ref().map_or(start + 1, |(words, _)| words.end);
        found.extend(longest);
    }
    found
}
