//! Words of texts.

use std::borrow::Cow;
use std::sync::LazyLock;

use deunicode::deunicode;
use rust_stemmers::{Algorithm, Stemmer};

static STEMMER: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));

/// Maximum length of a word in ASCII characters. Longer words are truncated.
pub const MAX_WORD_LENGTH: usize = 40;

/// Minimum length of a word that is abbreviated by its length.
const MIN_NUMERONYM_WORD: usize = 10;

/// A word in the two forms that are searched for: the folded surface form and its stem.
///
/// Both consist of lower-case ASCII letters and digits only, which makes them safe in any index's query language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    surface: String,
    stem: String,
}

impl Word {
    pub(crate) fn new(word: &str) -> Self {
        let surface = surface(word);
        Self { stem: stem(&surface).into_owned(), surface }
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
pub(super) fn fold_to_ascii(text: &str) -> Cow<'_, str> {
    let ascii: Cow<'_, str> = if text.is_ascii() { text.into() } else { deunicode(text).into() };
    if ascii.contains('\'') { ascii.replace('\'', "").into() } else { ascii }
}

pub(super) fn split_words(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// Converts a word to lower case and truncates it to [`MAX_WORD_LENGTH`].
pub(super) fn surface(word: &str) -> String {
    let mut surface = word.to_ascii_lowercase();
    surface.truncate(MAX_WORD_LENGTH);
    surface
}

/// Returns the English stem of a folded word.
pub(super) fn stem(surface: &str) -> Cow<'_, str> {
    STEMMER.stem(surface)
}

/// Returns the numeronym of a long word: its first letter, the number of letters between, and its last letter.
/// `accessibility` becomes `a11y`.
pub(super) fn numeronym(surface: &str) -> Option<String> {
    let is_word = surface.len() >= MIN_NUMERONYM_WORD && surface.bytes().all(|byte| byte.is_ascii_lowercase());
    let (first, last) = (surface.chars().next()?, surface.chars().last()?);
    is_word.then(|| format!("{first}{}{last}", surface.len() - 2))
}

/// Joins two neighbouring words. Returns `None` if the result is too long for a word.
pub(super) fn joined(one: &str, other: &str) -> Option<String> {
    (one.len() + other.len() <= MAX_WORD_LENGTH).then(|| format!("{one}{other}"))
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
    fn long_words_have_a_numeronym() {
        for (word, expected) in [
            ("accessibility", Some("a11y")),
            ("internationalization", Some("i18n")),
            ("kubernetes", Some("k8s")),
            ("terminals", None),
            ("version10", None),
            ("", None),
        ] {
            assert_eq!(numeronym(word).as_deref(), expected, "{word}");
        }
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
