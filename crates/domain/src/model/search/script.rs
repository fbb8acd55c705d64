//! Writing systems, as far as the search treats them differently.

use unicode_normalization::char::is_combining_mark;

/// How a character is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Script {
    /// Converted to ASCII: Latin, Greek, Cyrillic and most other alphabets, digits and symbols.
    Ascii,
    /// The letters of Arabic, without vowel signs.
    Arabic,
    /// The letters of Hebrew, without points.
    Hebrew,
    /// Characters of scripts without spaces between words, and Hangul, whose words have particles. They are compared in
    /// pairs.
    Pairs,
}

impl Script {
    /// Returns how a normalized character is searched for.
    pub(super) fn of(c: char) -> Self {
        let script = match c {
            '\0'..'\u{590}' => return Self::Ascii,
            '\u{590}'..='\u{5ff}' => Self::Hebrew,
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' | '\u{870}'..='\u{8ff}' => Self::Arabic,
            // Thai, Lao; Burmese, Hangul; Khmer; Tai, Khmer symbols, Buginese, Tai Tham; Balinese.
            '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{1950}'..='\u{1aaf}'
            | '\u{1b00}'..='\u{1b7f}'
            // Ideographic marks, kana, Bopomofo, Hangul, Han; Yi.
            | '\u{3005}'..='\u{3007}'
            | '\u{3021}'..='\u{303c}'
            | '\u{3040}'..='\u{318f}'
            | '\u{31a0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{a4cf}'
            // Hangul, Javanese and Burmese, Tai Viet, Hangul; Han.
            | '\u{a960}'..='\u{aadf}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{1b000}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3fffd}' => Self::Pairs,
            _ => return Self::Ascii,
        };
        if c.is_alphabetic() || is_combining_mark(c) { script } else { Self::Ascii }
    }
}

pub(super) fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}')
}

pub(super) fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_scripts_without_spaces_are_compared_in_pairs() {
        for c in "视々〇グー้สໃကက្한ぁヽㄅ𠀀ꀀ".chars() {
            assert_eq!(Script::of(c), Script::Pairs, "{c}");
        }
        for c in "aéñΩЖ7٣๕၅፩、。・「」฿।क€🚀".chars() {
            assert_eq!(Script::of(c), Script::Ascii, "{c}");
        }
        assert_eq!(
            ["ب", "ש", "ی"].map(|c| Script::of(c.chars().next().unwrap())),
            [Script::Arabic, Script::Hebrew, Script::Arabic]
        );
    }
}
