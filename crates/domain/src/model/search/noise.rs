//! Words that say little about what a feature request is about.
//!
//! The words are in `noise.txt`, in sections.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::script::{is_hiragana, is_katakana};
use super::words::{Word, words as split};

const WORDS: &str = include_str!("noise.txt");

/// How much a word says about a feature request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    /// A word without a subject of its own, such as "the". It is ignored if a query has other words.
    Function,
    /// A word that any feature request may have, such as "customer". It has a low weight, and does not find anything
    /// alone if a query has other words.
    Domain,
}

/// Maximum number of letters by which an inflection is longer than a domain word.
const MAX_INFLECTION: usize = 3;

static NOISE: LazyLock<Words> = LazyLock::new(|| Words::parse(WORDS));

#[derive(Default)]
struct Words {
    by_surface: HashMap<String, Noise>,
    /// The length of the shortest domain word with each stem.
    domain_stems: HashMap<String, usize>,
}

impl Words {
    fn parse(text: &str) -> Self {
        let mut words = Self::default();
        let mut kind = Noise::Function;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            if let Some(section) = line.strip_prefix('[') {
                kind = if section == "domain]" { Noise::Domain } else { Noise::Function };
                continue;
            }
            for word in split(line) {
                words.by_surface.insert(word.surface().to_owned(), kind);
                if kind == Noise::Domain {
                    let length = word.surface().len();
                    let shortest = words.domain_stems.entry(word.stem().to_owned()).or_insert(length);
                    *shortest = length.min(*shortest);
                }
            }
        }
        words
    }
}

/// Loads the table.
pub(super) fn load() {
    LazyLock::force(&NOISE);
}

/// Returns how much noise a word is, or `None` for a word with a subject.
///
/// An inflection of a domain word is one, too. It is not shorter than the word, as `custom` is shorter than `customer`,
/// and not much longer, as `productivity` is much longer than `product`.
pub fn noise(word: &Word) -> Option<Noise> {
    noise_of_indexed(word.stem(), word.surface())
}

/// As [`noise`], of a word of the index, which is stored as its stem and its surface form.
pub(crate) fn noise_of_indexed(stem: &str, surface: &str) -> Option<Noise> {
    let by_stem = || {
        let length = *NOISE.domain_stems.get(stem)?;
        let inflections = length..=length + MAX_INFLECTION;
        inflections.contains(&surface.len()).then_some(Noise::Domain)
    };
    if surface.is_ascii() {
        NOISE.by_surface.get(surface).copied().or_else(by_stem)
    } else {
        noise_of_pair(surface).or_else(|| NOISE.by_surface.get(surface).copied()).or_else(by_stem)
    }
}

/// Returns how much noise a pair of Japanese characters is. Hiragana is used for particles and endings, so that a pair
/// with a beginning in it is at the border of two words, and few words are written in it as a whole.
fn noise_of_pair(surface: &str) -> Option<Noise> {
    let mut characters = surface.chars();
    let (first, second) = (characters.next()?, characters.next()?);
    match (is_hiragana(first), is_hiragana(second)) {
        (false, false) => None,
        (false, true) if is_katakana(first) => Some(Noise::Function),
        (true, false) => Some(Noise::Function),
        (_, true) => Some(Noise::Domain),
    }
}

/// Whether a folded word is a function word.
pub(super) fn is_function_word(surface: &str) -> bool {
    NOISE.by_surface.get(surface) == Some(&Noise::Function)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 4.
    #[test]
    fn inflections_of_domain_words_are_noise_and_other_words_with_their_stem_are_not() {
        for (word, expected) in [
            ("the", Some(Noise::Function)),
            ("customer", Some(Noise::Domain)),
            ("customers", Some(Noise::Domain)),
            ("using", Some(Noise::Domain)),
            ("custom", None),
            ("productivity", None),
            ("quokka", None),
        ] {
            assert_eq!(noise(&Word::new(word)), expected, "{word}");
        }
    }
}
