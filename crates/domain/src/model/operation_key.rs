//! Retry tokens of clients, contract section 4.10.

use crate::error::{FieldError, FieldProblem, Validated};

/// A client-chosen string of 1 to 255 characters under which a write happens at most once in its
/// workspace. Compared byte for byte: nothing is cut, folded or normalised.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperationKey(String);

impl OperationKey {
    /// The field's name in bodies.
    pub const FIELD: &'static str = "operation_key";
    /// Most characters of a key. A longer one is refused, never shortened: two keys that share
    /// their first 255 characters are two keys.
    pub const MAX: usize = 255;

    /// Reads a key. Blank counts as absent.
    ///
    /// # Errors
    /// Longer than [`Self::MAX`] or with a NUL character.
    pub fn parse(raw: &str) -> Validated<Option<Self>> {
        if raw.chars().all(char::is_whitespace) {
            return Ok(None);
        }
        if raw.contains('\0') {
            return Err(FieldError::new(Self::FIELD, FieldProblem::ContainsNul));
        }
        if raw.chars().count() > Self::MAX {
            return Err(FieldError::new(Self::FIELD, FieldProblem::TooLong { max: Self::MAX }));
        }
        Ok(Some(Self(raw.to_owned())))
    }

    /// The key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An answer as it went out the first time: kept as bytes, so that a replay is the same to the
/// last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedResponse {
    /// HTTP status.
    pub status: u16,
    /// Body, exactly.
    pub body: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_absent() {
        for raw in ["", " ", "\t\n", "\u{2003}\u{a0}"] {
            assert_eq!(OperationKey::parse(raw).unwrap(), None, "{raw:?}");
        }
    }

    #[test]
    fn an_operation_key_is_not_normalized() {
        for raw in [" a ", "A", "é", "e\u{301}", "\u{200b}", &"k".repeat(255), &"ü".repeat(255)] {
            assert_eq!(OperationKey::parse(raw).unwrap().unwrap().as_str(), raw);
        }
    }

    #[test]
    fn a_long_key_is_rejected_not_truncated() {
        assert_eq!(
            OperationKey::parse(&"k".repeat(256)).unwrap_err().to_string(),
            "operation_key must be at most 255 characters long"
        );
        assert_eq!(
            OperationKey::parse("a\0b").unwrap_err().to_string(),
            "operation_key must not contain the NUL character"
        );
    }
}
