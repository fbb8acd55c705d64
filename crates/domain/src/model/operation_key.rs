//! Operation keys (idempotency keys) and saved responses, contract section 4.10.

use crate::error::{FieldError, FieldProblem, Validated};

/// A string of 1 to 255 characters, chosen by the client, that makes a write idempotent within a workspace.
///
/// Keys are compared byte by byte, without truncation, case folding or normalization.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OperationKey(String);

impl OperationKey {
    /// The name of the field in request bodies.
    pub const FIELD: &'static str = "operation_key";
    /// Maximum number of characters of a key.
    ///
    /// A longer key is rejected and not truncated, because keys with the same first 255 characters are different.
    pub const MAX: usize = 255;

    /// Parses a key. A blank key counts as absent.
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

    /// Returns the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The first response to an operation key. The body is stored as bytes, so that a replay is identical.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedResponse {
    /// HTTP status.
    pub status: u16,
    pub body: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract 4.10; Decision 5.
    #[test]
    fn blank_is_absent() {
        for raw in ["", " ", "\t\n", "\u{2003}\u{a0}"] {
            assert_eq!(OperationKey::parse(raw).unwrap(), None, "{raw:?}");
        }
    }

    /// Decision 5.
    #[test]
    fn an_operation_key_is_not_normalized() {
        for raw in [" a ", "A", "é", "e\u{301}", "\u{200b}", &"k".repeat(255), &"ü".repeat(255)] {
            assert_eq!(OperationKey::parse(raw).unwrap().unwrap().as_str(), raw);
        }
    }

    /// Decision 5.
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
