//! The searchable terms of a feature request.

use std::collections::{HashMap, HashSet};

use super::concepts::{Concept, concepts};
use super::folding::fold;
use super::noise::is_function_word;
use super::words::{
    Word, initials, is_pair, joined, last_character, numeronym, split_runs, split_words, stem, surface,
};

/// Number of words that an initialism abbreviates.
pub(super) const INITIALISM: std::ops::RangeInclusive<usize> = 3..=5;

/// The first character of an abbreviation's term, for the same reasons as that of a concept: an abbreviation of a title
/// is found by the abbreviation, and not by other words with the same abbreviation.
const ABBREVIATION_MARK: char = '¬';

/// Returns the term of an abbreviation in the index.
pub(super) fn abbreviation_term(short: &str) -> String {
    format!("{ABBREVIATION_MARK}{short}")
}

/// The searchable terms of a feature request's title, tags and description.
///
/// The number of indexed words is bounded by [`Self::MAX_DISTINCT_WORDS`] and [`Self::MAX_WORDS`], in the order title,
/// tags, description. Further words are not indexed.
///
/// Each field is a text of entries, each preceded by a space:
///
/// - `stem/surface`: a word.
/// - `+timezon/timezone`: two neighbouring words of the title or a tag, joined, as a stem and a surface form. Also the
///   last character of a run of [pairs](super::words), with which no pair begins.
/// - `¬tfa`: the initials of three to five words of the title, or a long word of the title as a numeronym.
/// - `§17`: a [concept](super::concepts).
///
/// An index that splits at ASCII characters except letters and digits finds all of these as terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchDocument {
    /// Terms of the title.
    pub title: String,
    /// Terms of the tags.
    pub tags: String,
    /// Terms of the description.
    pub description: String,
}

/// An entry of a field of a [`SearchDocument`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry<'a> {
    Word {
        stem: &'a str,
        surface: &'a str,
    },
    /// Two joined words.
    Joined {
        stem: &'a str,
        surface: &'a str,
    },
    /// Initials or a numeronym.
    Abbreviation(&'a str),
    Concept(Concept),
}

impl SearchDocument {
    /// Maximum number of distinct indexed words of a record.
    pub const MAX_DISTINCT_WORDS: usize = 500;
    /// Maximum number of indexed words of a record, including repetitions.
    pub const MAX_WORDS: usize = 4_000;
    /// Maximum number of joined words and abbreviations of a record.
    pub const MAX_DERIVED: usize = 100;
    /// Maximum number of words of a record that typing errors are corrected to.
    pub const MAX_VOCABULARY: usize = 50;
    /// Maximum length of words that typing errors are corrected to, in bytes.
    pub const MAX_VOCABULARY_WORD: usize = 24;

    /// Builds the terms of these fields.
    #[must_use]
    pub fn new<'a>(title: &str, tags: impl IntoIterator<Item = &'a str>, description: &str) -> Self {
        let mut terms = Terms::default();
        let title = {
            let words = terms.words(title);
            format!("{}{}{}", words.entries(), terms.joined(&words) + &terms.abbreviations(&words), words.concepts())
        };
        let mut all_tags = String::new();
        for tag in tags {
            let words = terms.words(tag);
            all_tags += &words.entries();
            all_tags += &terms.joined(&words);
            all_tags += &words.concepts();
        }
        let words = terms.words(description);
        let description = words.entries() + &words.concepts();
        Self { title, tags: all_tags, description }
    }

    /// Returns the distinct terms of each field for an index, in any order.
    pub fn index_terms(&self, fields: super::Fields) -> HashSet<&str> {
        let searched: &[&String] = match fields {
            super::Fields::Any => &[&self.title, &self.tags, &self.description],
            super::Fields::Title => &[&self.title],
        };
        let separators = [' ', '/', '+'];
        searched.iter().flat_map(|field| field.split(separators)).filter(|term| !term.is_empty()).collect()
    }

    /// Returns the surface forms that typing errors are corrected to.
    ///
    /// These are the first [`Self::MAX_VOCABULARY`] distinct words of all fields, without words longer than
    /// [`Self::MAX_VOCABULARY_WORD`] and without pairs of characters. They are sorted, so that concurrent units of work lock the same words in the same
    /// order.
    #[must_use]
    pub fn vocabulary(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let mut words: Vec<&str> = [&self.title, &self.tags, &self.description]
            .into_iter()
            .flat_map(|field| entries(field))
            .filter_map(|entry| if let Entry::Word { surface, .. } = entry { Some(surface) } else { None })
            .filter(|word| word.len() <= Self::MAX_VOCABULARY_WORD && !is_pair(word) && seen.insert(*word))
            .take(Self::MAX_VOCABULARY)
            .collect();
        words.sort_unstable();
        words
    }
}

/// Returns the entries of a field.
pub(crate) fn entries(field: &str) -> impl Iterator<Item = Entry<'_>> {
    field.split(' ').filter_map(|entry| {
        if let Some(pair) = entry.strip_prefix('+') {
            let (stem, surface) = pair.split_once('/')?;
            Some(Entry::Joined { stem, surface })
        } else if let Some(short) = entry.strip_prefix(ABBREVIATION_MARK) {
            Some(Entry::Abbreviation(short))
        } else if let Some((stem, surface)) = entry.split_once('/') {
            Some(Entry::Word { stem, surface })
        } else {
            Concept::from_term(entry).map(Entry::Concept)
        }
    })
}

/// The words of a text that are indexed.
#[derive(Default)]
struct FieldWords {
    /// Stems and surface forms.
    words: Vec<(String, String)>,
    /// The last characters of runs of pairs, each once.
    last_characters: Vec<String>,
}

impl FieldWords {
    fn entries(&self) -> String {
        let words = self.words.iter().flat_map(|(stem, surface)| [" ", stem, "/", surface]);
        let last = self.last_characters.iter().flat_map(|last| [" +", last.as_str(), "/", last]);
        words.chain(last).collect()
    }

    /// Returns the concepts, each once.
    fn concepts(&self) -> String {
        let words: Vec<(&str, &str)> =
            self.words.iter().map(|(stem, surface)| (stem.as_str(), surface.as_str())).collect();
        let mut seen: HashSet<Concept> = HashSet::new();
        let distinct = concepts(&words).into_iter().filter(|(_, concept)| seen.insert(*concept));
        distinct.map(|(_, concept)| format!(" {}", concept.term())).collect()
    }
}

/// Builds the terms of a record's fields within the limits of [`SearchDocument`].
#[derive(Default)]
struct Terms {
    /// The stems of the words so far, by surface form.
    stems: HashMap<String, String>,
    word_count: usize,
    derived: HashSet<String>,
}

impl Terms {
    fn words(&mut self, text: &str) -> FieldWords {
        let mut field = FieldWords::default();
        let mut seen = HashSet::new();
        for run in split_runs(&fold(text)) {
            for folded in split_words(run) {
                if self.word_count >= SearchDocument::MAX_WORDS {
                    return field;
                }
                let Some(surface) = surface(folded) else { continue };
                if !self.stems.contains_key(&surface) {
                    if self.stems.len() >= SearchDocument::MAX_DISTINCT_WORDS {
                        continue;
                    }
                    self.stems.insert(surface.clone(), stem(folded, &surface).into_owned());
                }
                if let Some(stem) = self.stems.get(&surface) {
                    field.words.push((stem.clone(), surface));
                    self.word_count += 1;
                }
            }
            let last = last_character(run).filter(|_| self.stems.len() < SearchDocument::MAX_DISTINCT_WORDS);
            if let Some(last) = last.and_then(surface).filter(|last| seen.insert(last.clone())) {
                field.last_characters.push(last);
            }
        }
        field
    }

    /// Returns the neighbouring words, joined.
    fn joined(&mut self, words: &FieldWords) -> String {
        let surfaces = words.words.iter().map(|(_, surface)| surface);
        let pairs = surfaces.clone().zip(surfaces.skip(1)).filter_map(|(one, other)| joined(one, other));
        self.derive('+', pairs.map(|surface| format!("{}/{surface}", Word::new(&surface).stem())).collect())
    }

    /// Returns the initials of neighbouring words and the numeronyms of long words. A function word is neither the
    /// first nor the last of the abbreviated words.
    fn abbreviations(&mut self, words: &FieldWords) -> String {
        let runs = INITIALISM.flat_map(|length| words.words.windows(length));
        let initials = runs.filter_map(|run| {
            let (first, last) = (run.first()?, run.last()?);
            let has_subject = !is_function_word(&first.1) && !is_function_word(&last.1);
            initials(run.iter().map(|(_, surface)| surface.as_str())).filter(|_| has_subject)
        });
        let numeronyms = words.words.iter().filter_map(|(_, surface)| numeronym(surface));
        self.derive(ABBREVIATION_MARK, initials.chain(numeronyms).collect())
    }

    fn derive(&mut self, mark: char, terms: Vec<String>) -> String {
        let mut entries = String::new();
        for term in terms {
            if self.derived.len() < SearchDocument::MAX_DERIVED && self.derived.insert(format!("{mark}{term}")) {
                entries.extend([" ", mark.encode_utf8(&mut [0; 4]), &term]);
            }
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surfaces(field: &str) -> Vec<&str> {
        let surface = |entry| if let Entry::Word { surface, .. } = entry { Some(surface) } else { None };
        entries(field).filter_map(surface).collect()
    }

    #[test]
    fn a_document_holds_words_and_derived_terms() {
        let document = SearchDocument::new("Quokka fern zones", ["UI", "mossy-fern"], "Modes, quokka.");
        assert_eq!(
            document.title,
            " quokka/quokka fern/fern zone/zones +quokkafern/quokkafern +fernzon/fernzones ¬qfz"
        );
        assert_eq!(document.tags, " ui/ui mossi/mossy fern/fern +mossyfern/mossyfern");
        assert_eq!(document.description, " mode/modes quokka/quokka");
        assert_eq!(document.vocabulary(), ["fern", "modes", "mossy", "quokka", "ui", "zones"]);
    }

    #[test]
    fn scripts_without_spaces_are_indexed_in_pairs_without_compounds() {
        let document = SearchDocument::new("PDF导出", ["检"], "搜索。搜索 C++");
        assert_eq!(document.title, " pdf/pdf 导出/导出 +出/出".to_owned() + &concept_of("pdf"));
        assert_eq!(document.tags, " 检/检");
        assert!(
            document.description.starts_with(" 搜索/搜索 搜索/搜索 c＋＋/c＋＋ +索/索"),
            "{}",
            document.description
        );
        assert_eq!(document.vocabulary(), ["c＋＋", "pdf"]);
    }

    /// The entry of the only concept of a word, if it has one.
    fn concept_of(word: &str) -> String {
        concepts(&[(word, word)]).first().map(|(_, concept)| format!(" {}", concept.term())).unwrap_or_default()
    }

    /// Decision 4.
    #[test]
    fn long_words_and_function_words_are_abbreviated_as_people_do() {
        let document = SearchDocument::new("The accessibility of our terminal", [], "");
        let abbreviations: Vec<&str> = entries(&document.title)
            .filter_map(|entry| if let Entry::Abbreviation(term) = entry { Some(term) } else { None })
            .collect();
        assert_eq!(abbreviations, ["aoot", "a11y"]);
    }

    /// Decision 4.
    #[test]
    fn phrases_of_one_concept_share_a_term() {
        let concept = |title: &str| {
            let document = SearchDocument::new(title, [], "");
            entries(&document.title)
                .filter_map(|entry| if let Entry::Concept(concept) = entry { Some(concept) } else { None })
                .collect::<Vec<_>>()
        };
        let dark = concept("Dark mode");
        assert_eq!(dark.len(), 1);
        for title in ["dark modes", "A dark theme", "DARK-MODE"] {
            assert_eq!(concept(title), dark, "{title}");
        }
        assert_eq!(concept("Quokka"), []);
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
        let document = SearchDocument::new("Quiet quokka", [tag.trim()], &different_words(1_000, 3_000, 6));
        assert_eq!(surfaces(&document.title), ["quiet", "quokka"]);
        assert_eq!(surfaces(&document.tags).len(), 5);
        // The title has 2 words and the tags have 5.
        let expected = different_words(1_000, 493, 6);
        assert_eq!(surfaces(&document.description), expected.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn known_words_still_count_at_the_limit() {
        let text = format!("{}quokka quokka", different_words(1_000, 600, 6));
        let document = SearchDocument::new("Quokka", [], &text);
        let quokkas = surfaces(&document.description).into_iter().filter(|surface| *surface == "quokka").count();
        assert_eq!((quokkas, surfaces(&document.description).len()), (2, 501));
    }

    #[test]
    fn long_texts_without_spaces_are_bounded() {
        let text: String = ('\u{4e00}'..).take(20_000).collect();
        let document = SearchDocument::new("", [], &text);
        assert_eq!(surfaces(&document.description).len(), SearchDocument::MAX_DISTINCT_WORDS);
        let text = "视频".repeat(10_000);
        let document = SearchDocument::new("", [], &text);
        assert_eq!(surfaces(&document.description).len(), SearchDocument::MAX_WORDS);
        let text = "视 ".repeat(10_000);
        assert_eq!(surfaces(&SearchDocument::new("", [], &text).description).len(), SearchDocument::MAX_WORDS);
    }

    #[test]
    fn a_record_adds_4000_words_at_most_repetitions_included() {
        let document = SearchDocument::new("a b", [], &"a ".repeat(10_000));
        assert_eq!(surfaces(&document.description).len(), 3_998);
    }

    #[test]
    fn a_record_adds_100_derived_terms_at_most() {
        let title = different_words(100, 200, 3);
        let document = SearchDocument::new(&title, [title.as_str()], &title);
        let all = format!("{}{}{}", document.title, document.tags, document.description);
        let derived = entries(&all).filter(|entry| matches!(entry, Entry::Joined { .. } | Entry::Abbreviation(_)));
        assert_eq!(derived.count(), 100);
    }

    #[test]
    fn the_vocabulary_is_the_first_50_short_words() {
        let long = "a".repeat(25);
        let document = SearchDocument::new(&long, ["zebra"], &different_words(1_000, 300, 24));
        let mut expected = different_words(1_000, 49, 24);
        expected.push_str("zebra");
        assert_eq!(document.vocabulary(), expected.split(' ').collect::<Vec<_>>());
    }
}
