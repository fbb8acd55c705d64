//! Correction of typing errors in search words.

use strsim::osa_distance;

/// Maximum number of corrections of a word.
pub const MAX_CORRECTIONS: usize = 3;

/// Minimum number of letters of each part of a compound word.
const MIN_PART: usize = 4;

/// Returns the distinct trigrams of a word that is padded with two spaces before it and one after it.
///
/// Words that differ in one letter share most of their trigrams.
#[must_use]
pub fn trigrams(word: &str) -> Vec<String> {
    let padded: Vec<char> = format!("  {word} ").chars().collect();
    let mut trigrams: Vec<String> = padded.windows(3).map(|piece| piece.iter().collect()).collect();
    trigrams.sort_unstable();
    trigrams.dedup();
    trigrams
}

/// Returns the number of typing errors that are corrected in a word: 0 in a word of up to three letters, which is often
/// an abbreviation, 1 in a word of up to seven, and 2 in a longer word.
#[must_use]
pub fn tolerance(word: &str) -> usize {
    match word.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        _ => 2,
    }
}

/// Returns the words of `known` that `surface` may be a misspelling of, most similar first.
///
/// The edit distance counts missing, extra, wrong and swapped letters. Its maximum is the [`tolerance`].
#[must_use]
pub fn corrections(surface: &str, known: Vec<String>) -> Vec<String> {
    let tolerated = tolerance(surface);
    let mut near: Vec<(usize, String)> = known
        .into_iter()
        .map(|word| (osa_distance(surface, &word), word))
        .filter(|(distance, _)| *distance <= tolerated)
        .collect();
    near.sort();
    near.into_iter().take(MAX_CORRECTIONS).map(|(_, word)| word).collect()
}

/// Returns the ways to split a compound word into two words of at least four letters, with and without an `s` between
/// them, as German has it. Words in other scripts than Latin have none.
#[must_use]
pub fn splits(compound: &str) -> Vec<(&str, &str)> {
    let mut splits = Vec::new();
    if !compound.is_ascii() {
        return splits;
    }
    for position in MIN_PART..compound.len().saturating_sub(MIN_PART - 1) {
        let Some((left, right)) = compound.split_at_checked(position) else { continue };
        splits.push((left, right));
        if let Some(rest) = right.strip_prefix('s').filter(|rest| rest.len() >= MIN_PART) {
            splits.push((left, rest));
        }
    }
    splits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<String> {
        ["dark", "mode", "search", "export", "exports", "notification", "api"].map(str::to_owned).to_vec()
    }

    /// Decision 4.
    #[test]
    fn typos_are_corrected() {
        for (misspelling, word) in [
            ("drak", "dark"),
            ("moode", "mode"),
            ("serach", "search"),
            ("notifcaiton", "notification"),
            ("dark", "dark"),
        ] {
            assert_eq!(corrections(misspelling, known()).first().map(String::as_str), Some(word), "{misspelling}");
        }
        assert_eq!(corrections("exprot", known()), ["export"]);
        assert_eq!(corrections("notifications", known()), ["notification"]);
    }

    /// Decision 4.
    #[test]
    fn unrelated_words_are_no_corrections() {
        for misspelling in ["desk", "ap", "xyz", "sea", "mod", "darkest", ""] {
            assert_eq!(corrections(misspelling, known()), Vec::<String>::new(), "{misspelling}");
        }
    }

    /// Decision 4.
    #[test]
    fn compounds_are_split_into_words_of_four_letters() {
        assert_eq!(splits("timezone"), [("time", "zone")]);
        assert_eq!(splits("anzahlstag"), [("anza", "hlstag"), ("anzah", "lstag"), ("anzahl", "stag")]);
        assert_eq!(splits("arbeitstag"), [("arbe", "itstag"), ("arbei", "tstag"), ("arbeit", "stag")]);
        assert_eq!(splits("arbeitstage")[3..], [("arbeit", "tage"), ("arbeits", "tage")]);
        assert_eq!(splits("quokka"), []);
    }

    #[test]
    fn trigrams_mark_the_start_and_end_of_a_word() {
        assert_eq!(trigrams("api"), ["  a", " ap", "api", "pi "]);
        assert_eq!(trigrams("a"), ["  a", " a "]);
    }
}
