//! Validation of bounded text, shared by all text fields.

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

/// Validates a required line of text and trims it.
///
/// # Errors
/// [`FieldProblem::Missing`] when blank, else as [`validate_text`].
pub fn parse_line(field: &str, raw: &str, max: usize) -> Validated<String> {
    parse_optional_line(field, raw, max)?.ok_or_else(|| FieldError::missing(field))
}

/// Validates an optional line of text and trims it. A blank line counts as absent.
///
/// # Errors
/// As [`validate_text`].
pub fn parse_optional_line(field: &str, raw: &str, max: usize) -> Validated<Option<String>> {
    let trimmed = raw.trim();
    validate_text(field, trimmed, max)?;
    Ok((!trimmed.is_empty()).then(|| trimmed.to_owned()))
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
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub struct $name(String);

        impl $name {
            /// Maximum number of characters.
            pub const MAX: usize = $max;

            /// Validates `raw`. An error names `field`.
            ///
            /// # Errors
            /// Blank, too long, or with a NUL character.
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

    #[test]
    fn a_line_is_trimmed() {
        assert_eq!(parse_line("title", "  Dark mode\t\n", 200).unwrap(), "Dark mode");
        assert_eq!(parse_optional_line("name", " \u{2003} ", 200).unwrap(), None);
    }

    #[test]
    fn limits_count_characters_not_bytes() {
        assert!(parse_line("title", &"ü".repeat(200), 200).is_ok());
        assert_eq!(
            parse_line("title", &"ü".repeat(201), 200).unwrap_err().to_string(),
            "title must be at most 200 characters long"
        );
    }

    #[test]
    fn nul_is_rejected_anywhere() {
        for raw in ["a\0b", "\0", "ab\0"] {
            assert_eq!(
                parse_line("title", raw, 200).unwrap_err().to_string(),
                "title must not contain the NUL character"
            );
        }
    }

    #[test]
    fn truncation_never_splits_a_character() {
        assert_eq!(truncate("añb😀c", 4), "añb😀");
        assert_eq!(truncate("añb", 3), "añb");
        assert_eq!(truncate("", 3), "");
    }
}
