//! Validation of bounded text, shared by all text fields.
//!
//! A line, such as a name, a title or an address, is visible text. Characters that nobody can see are dropped silently,
//! line breaks become spaces, and a line of which nothing is left is blank. Programs and language models read these
//! characters, and people who compare two names or approve a text do not see them.

use std::borrow::Cow;

use crate::error::{FieldError, FieldProblem, Validated};

/// Validates text that may be empty: no NUL, at most `max` Unicode characters.
///
/// # Errors
/// [`FieldProblem::ContainsNul`], [`FieldProblem::TooLong`].
pub fn validate_text(field: &str, raw: &str, max: usize) -> Validated<()> {
    if raw.contains('\0') {
        return Err(FieldError::new(field, FieldProblem::ContainsNul));
    }
    // A text has at most as many characters as bytes, so the characters of most texts need not be counted.
    if raw.len() > max && raw.chars().count() > max {
        return Err(FieldError::new(field, FieldProblem::TooLong { max }));
    }
    Ok(())
}

/// Validates and cleans a required line of visible text.
///
/// # Errors
/// [`FieldProblem::Missing`] when blank, else as [`validate_text`].
pub fn parse_line(field: &str, raw: &str, max: usize) -> Validated<String> {
    parse_optional_line(field, raw, max)?.ok_or_else(|| FieldError::missing(field))
}

/// Validates and cleans an optional line of visible text ([`clean_line`]). A blank line counts as absent.
///
/// # Errors
/// As [`validate_text`]. Only the cleaned line is counted.
pub fn parse_optional_line(field: &str, raw: &str, max: usize) -> Validated<Option<String>> {
    if raw.contains('\0') {
        return Err(FieldError::new(field, FieldProblem::ContainsNul));
    }
    let line = clean_line(raw);
    validate_text(field, &line, max)?;
    Ok((!line.is_empty()).then(|| line.into_owned()))
}

/// Returns a text as one line without what nobody can see.
///
/// Line breaks and tabs become one space, together with the white space around them. Beside the characters that
/// [`drop_invisible`] drops, these go: soft hyphens, spaces without width, and characters that only change the direction
/// of text. Pages isolate names from the text around them, and letters have their direction themselves.
#[must_use]
pub fn clean_line(raw: &str) -> Cow<'_, str> {
    let trimmed = raw.trim();
    if trimmed.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return Cow::Borrowed(trimmed);
    }
    let cleaned = clean(trimmed, true);
    let is_blank = |character: char| character.is_whitespace() || character == BRAILLE_BLANK;
    Cow::Owned(cleaned.trim_matches(is_blank).to_owned())
}

/// Drops the characters of a text that nobody can see and that no script needs where they are.
///
/// These are tag characters, apart from those in the flags of England, Scotland and Wales; control characters, apart from
/// line breaks and tabs; fillers; variation selectors after characters that have no variants; and all but the first of
/// adjacent joiners, soft hyphens and spaces without width.
#[must_use]
pub fn drop_invisible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t')) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(clean(text, false))
}

/// The blank of the Braille alphabet, which is no white space in Unicode.
const BRAILLE_BLANK: char = '\u{2800}';

/// The flags of England, Scotland and Wales: a black flag, the tag characters of the region, and the end of the tag.
const FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// What a character shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    /// Something.
    Visible,
    /// White space in a line.
    Space,
    /// A line break or a tab.
    Break,
    /// Nothing, ever.
    Nothing,
    /// A direction: Unicode property `Bidi_Control`.
    Direction,
    /// Where a line may be broken, or must not.
    BreakHint,
    /// How the letters before and after it are joined.
    Joiner,
    /// A variant of the character before it.
    Variant,
}

impl Visibility {
    /// Classifies a character: those of the Unicode property `Default_Ignorable_Code_Point`, controls and white space are
    /// not visible.
    fn by(character: char) -> Self {
        match character {
            '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Self::Break,
            '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{2061}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}'
            | '\u{e01f0}'..='\u{e0fff}' => Self::Nothing,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Self::Direction,
            '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{2060}' => Self::BreakHint,
            '\u{180e}' | '\u{200c}' | '\u{200d}' => Self::Joiner,
            '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Self::Variant,
            _ if character.is_control() => Self::Nothing,
            _ if character.is_whitespace() => Self::Space,
            _ => Self::Visible,
        }
    }
}

/// Whether there can be a variant of a character: of emoji and other symbols, digits included, of Mongolian letters, and
/// of Han characters.
fn has_variants(character: char, selector: char) -> bool {
    match selector {
        '\u{180b}'..='\u{180f}' => matches!(character, '\u{1800}'..='\u{18af}'),
        '\u{fe00}'..='\u{fe0f}' => !character.is_ascii_alphabetic(),
        _ => matches!(character, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'),
    }
}

/// Drops what cannot be seen. In a line, less of it stays, and line breaks become spaces.
fn clean(text: &str, is_line: bool) -> String {
    let mut cleaned = String::with_capacity(text.len());
    // What the last character shows that has stayed, and the last visible one.
    let (mut before, mut base) = (Visibility::Space, ' ');
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let flag = (character == '\u{1f3f4}').then(|| FLAGS.into_iter().find(|flag| rest.starts_with(flag))).flatten();
        let (part, after) = rest.split_at(flag.map_or(character.len_utf8(), str::len));
        rest = after;
        let visibility = Visibility::by(character);
        let follows_visible = matches!(before, Visibility::Visible | Visibility::Variant);
        let stays = match visibility {
            Visibility::Visible | Visibility::Break => true,
            Visibility::Space => !is_line || before != Visibility::Break,
            Visibility::Nothing => false,
            Visibility::Direction => !is_line,
            Visibility::BreakHint => !is_line && follows_visible,
            Visibility::Joiner => follows_visible && !base.is_ascii(),
            Visibility::Variant => before == Visibility::Visible && has_variants(base, character),
        };
        if !stays {
            continue;
        }
        if is_line && visibility == Visibility::Break {
            cleaned.truncate(cleaned.trim_end().len());
            cleaned.push(' ');
        } else {
            cleaned.push_str(part);
        }
        if visibility != Visibility::Direction {
            before = visibility;
        }
        if visibility == Visibility::Visible {
            base = character;
        }
    }
    cleaned
}

/// Returns the first `max` Unicode characters.
#[must_use]
pub fn truncate(text: &str, max: usize) -> &str {
    match text.char_indices().nth(max) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// Declares a type for a required line of text.
macro_rules! line_type {
    ($(#[$doc:meta])* $name:ident, $max:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Maximum number of characters.
            pub const MAX: usize = $max;

            /// Validates `raw`. An error names `field`.
            ///
            /// # Errors
            /// Nothing visible, too long, or with a NUL character.
            pub fn parse(field: &str, raw: &str) -> $crate::error::Validated<Self> {
                $crate::model::text::parse_line(field, raw, Self::MAX).map(Self)
            }

            /// Wraps a stored value, which is not validated again.
            #[must_use]
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }

            /// Returns the text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}
pub(crate) use line_type;

line_type! {
    /// A name of a person, a product, a lane, a track or a key: 1 to 200 characters.
    Name, 200
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decision 3: white space around titles, names and e-mails is trimmed.
    #[test]
    fn a_line_is_trimmed() {
        assert_eq!(parse_line("title", "  Dark mode\t\n", 200).unwrap(), "Dark mode");
        assert_eq!(parse_optional_line("name", " \u{2003} ", 200).unwrap(), None);
    }

    #[test]
    fn a_line_is_one_line_of_visible_text() {
        for (raw, line) in [
            ("Ann\r\nLee", "Ann Lee"),
            ("Ann \n\n \t Lee", "Ann Lee"),
            ("Ann\u{2028}Lee\u{2029}", "Ann Lee"),
            ("Ann\u{b}\u{c}\u{85}Lee", "Ann Lee"),
            ("Ann  Lee", "Ann  Lee"),
            ("\u{1b}[31mAnn\u{7}\u{9b}", "[31mAnn"),
            ("A\u{202e}nn\u{2066}\u{2069}", "Ann"),
            ("\u{200e}Ann\u{200f}\u{61c}", "Ann"),
            ("دعم C++\u{200f} الآن", "دعم C++ الآن"),
            ("A\u{200b}n\u{2060}n\u{feff}", "Ann"),
            ("Haus\u{ad}tür", "Haustür"),
            ("Ann\u{e0041}\u{e0042}\u{e007f}", "Ann"),
            ("A\u{200c}n\u{200d}n", "Ann"),
            ("می\u{200c}خواهم", "می\u{200c}خواهم"),
            ("می\u{200c}\u{200d}\u{200c}خواهم", "می\u{200c}خواهم"),
            ("1447 ه\u{200d}", "1447 ه\u{200d}"),
            ("क्\u{200d}ष", "क्\u{200d}ष"),
            ("👩\u{200d}💻 \u{2764}\u{fe0f} 1\u{fe0f}\u{20e3}", "👩\u{200d}💻 \u{2764}\u{fe0f} 1\u{fe0f}\u{20e3}"),
            ("👁\u{fe0f}\u{200d}🗨\u{fe0f}", "👁\u{fe0f}\u{200d}🗨\u{fe0f}"),
            (FLAGS[0], FLAGS[0]),
            ("\u{1f3f4}\u{e0078}\u{e0079}", "\u{1f3f4}"),
            ("葛\u{e0100}城", "葛\u{e0100}城"),
            ("😀\u{e0101}\u{e0102}\u{fe0f}", "😀\u{fe0f}"),
            ("h\u{fe00}i\u{e0100}", "hi"),
            ("葛\u{e0100}\u{e0101}", "葛\u{e0100}"),
            ("\u{1828}\u{180b}", "\u{1828}\u{180b}"),
            ("a\u{3164}\u{115f}b", "ab"),
        ] {
            assert_eq!(parse_line("name", raw, 200).unwrap(), line, "{raw:?}");
        }
    }

    #[test]
    fn a_line_of_which_nothing_can_be_seen_is_missing() {
        for raw in
            ["\u{200b}", "\u{200d}", "\u{fe0f}", "\u{3164}", "\u{2800} \u{2800}", "\u{e0041}", "\u{1b}", " \u{202e}\n"]
        {
            assert_eq!(parse_line("name", raw, 200), Err(FieldError::missing("name")), "{raw:?}");
            assert_eq!(parse_optional_line("name", raw, 200), Ok(None), "{raw:?}");
        }
    }

    #[test]
    fn a_longer_text_keeps_its_lines_and_loses_hidden_words() {
        for (raw, text) in [
            ("one\r\n\ttwo", "one\r\n\ttwo"),
            ("a\u{e0041}\u{e0042}b\u{1b}", "ab"),
            ("Donau\u{ad}\u{ad}dampf", "Donau\u{ad}dampf"),
            ("ខ្ញុំ\u{200b}ចង់\u{200b}\u{200b}", "ខ្ញុំ\u{200b}ចង់\u{200b}"),
            ("C++\u{200f} الآن", "C++\u{200f} الآن"),
            ("\u{200b}\u{200c}\u{200b}x", "x"),
            (FLAGS[2], FLAGS[2]),
            ("x\u{e0100}\u{e0101}", "x"),
        ] {
            assert_eq!(drop_invisible(raw), text, "{raw:?}");
        }
    }

    proptest! {
        #[test]
        fn a_cleaned_text_is_clean(text in "(?s).{0,20}") {
            let line = clean_line(&text).into_owned();
            prop_assert_eq!(clean_line(&line).into_owned(), line.clone());
            prop_assert!(!line.chars().any(char::is_control));
            let dropped = drop_invisible(&text).into_owned();
            prop_assert_eq!(drop_invisible(&dropped).into_owned(), dropped.clone());
        }
    }

    #[test]
    fn limits_count_visible_characters() {
        let hidden = format!("{}\u{200b}\n", "ü".repeat(200));
        assert!(parse_line("title", &hidden, 200).is_ok());
    }

    #[test]
    fn limits_count_characters_not_bytes() {
        assert!(parse_line("title", &"ü".repeat(200), 200).is_ok());
        assert_eq!(
            parse_line("title", &"ü".repeat(201), 200).unwrap_err().to_string(),
            "title must be at most 200 characters long"
        );
    }

    /// Decision 3.
    #[test]
    fn nul_is_rejected_anywhere() {
        for raw in ["a\0b", "\0", "ab\0"] {
            assert_eq!(
                parse_line("title", raw, 200).unwrap_err().to_string(),
                "title must not contain the NUL character"
            );
        }
    }

    /// Decision 3.
    #[test]
    fn truncation_never_splits_a_character() {
        assert_eq!(truncate("añb😀c", 4), "añb😀");
        assert_eq!(truncate("añb", 3), "añb");
        assert_eq!(truncate("", 3), "");
    }
}
