//! Which words a mistyped one may have been meant as.

use strsim::osa_distance;

/// Most words that one mistyped word is tried as.
const MAX_CORRECTIONS: usize = 3;

/// The three-character pieces of a word, two spaces before it and one behind it: words that differ
/// in one letter share most of them.
#[must_use]
pub fn trigrams(word: &str) -> Vec<String> {
    let padded: Vec<char> = format!("  {word} ").chars().collect();
    let mut trigrams: Vec<String> = padded.windows(3).map(|piece| piece.iter().collect()).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Those of `known` that `typed` may have been meant as, likeliest first: few enough letters are
/// missing, extra, wrong or swapped. One letter in a word of up to five, two in a longer one; a
/// word of up to two letters is taken as it is.
#[must_use]
pub fn corrections(typed: &str, known: Vec<String>) -> Vec<String> {
    let tolerated = match typed.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let mut near: Vec<(usize, String)> = known
        .into_iter()
        .map(|word| (osa_distance(typed, &word), word))
        .filter(|(distance, _)| *distance <= tolerated)
        .collect();
    near.sort();
    near.into_iter().take(MAX_CORRECTIONS).map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["dark", "mode", "search", "export", "exports", "notification", "api"].map(str::to_owned).to_vec()
    }

    #[test]
    fn typos_are_corrected() {
        for (typed, word) in [
            ("drak", "dark"),
            ("mod", "mode"),
            ("moode", "mode"),
            ("serach", "search"),
            ("notifcaiton", "notification"),
            ("dark", "dark"),
        ] {
            assert_eq!(corrections(typed, known()).first().map(String::as_str), Some(word), "{typed}");
        }
        assert_eq!(corrections("exprot", known()), ["export", "exports"]);
    }

    #[test]
    fn unrelated_words_are_no_corrections() {
        for typed in ["desk", "ap", "xyz", "sea", ""] {
            assert_eq!(corrections(typed, known()), Vec::<String>::new(), "{typed}");
        }
    }

    #[test]
    fn trigrams_mark_the_start_and_end_of_a_word() {
        assert_eq!(trigrams("api"), ["  a", " ap", "api", "pi "]);
        assert_eq!(trigrams("a"), ["  a", " a "]);
    }
}
