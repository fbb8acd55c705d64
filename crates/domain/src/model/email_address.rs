//! E-mail addresses, stored as written and compared case-insensitively.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::text;

/// A well-formed e-mail address of at most 254 characters (RFC 5321 section 4.5.3.1.3).
#[derive(Debug, Clone)]
pub struct EmailAddress {
    written: String,
    folded: FoldedEmail,
}

/// A lower-case e-mail address, for comparisons and uniqueness.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FoldedEmail(String);

impl EmailAddress {
    /// Maximum number of characters of an address.
    pub const MAX: usize = 254;

    /// Validates `raw`. An error names `field`.
    ///
    /// # Errors
    /// Blank, too long, with a NUL character, or not of the form `local@domain`.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let written = text::parse_line(field, raw, Self::MAX)?;
        let options = email_address::Options::default().without_display_text().without_domain_literal();
        if email_address::EmailAddress::parse_with_options(&written, options).is_err() {
            return Err(FieldError::new(field, FieldProblem::Malformed { expected: "a valid e-mail address" }));
        }
        Ok(Self { folded: FoldedEmail::fold(&written), written })
    }

    /// Wraps a stored value, which is not validated again.
    #[must_use]
    pub fn from_stored(written: String) -> Self {
        Self { folded: FoldedEmail::fold(&written), written }
    }

    /// Returns the address as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns the folded address.
    #[must_use]
    pub fn folded(&self) -> &FoldedEmail {
        &self.folded
    }
}

impl PartialEq for EmailAddress {
    fn eq(&self, other: &Self) -> bool {
        self.folded == other.folded
    }
}

impl Eq for EmailAddress {}

impl FoldedEmail {
    fn fold(written: &str) -> Self {
        Self(written.to_lowercase())
    }

    /// Parses the address of the author of a note or comment.
    ///
    /// The address need not be well-formed: an address that matches no team member falls back to the oldest one
    /// (contract section 2.5).
    ///
    /// # Errors
    /// Too long or with a NUL character.
    pub fn parse_author(field: &str, raw: &str) -> Validated<Option<Self>> {
        Ok(text::parse_optional_line(field, raw, EmailAddress::MAX)?.map(|written| Self::fold(&written)))
    }

    /// Returns the folded address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_distinguish_addresses() {
        let one = EmailAddress::parse("email", " Ann.Lee@Example.COM ").unwrap();
        let other = EmailAddress::parse("email", "ann.lee@example.com").unwrap();
        assert_eq!(one, other);
        assert_ne!(one, EmailAddress::parse("email", "bob.lee@example.com").unwrap());
        assert_eq!(one.as_str(), "Ann.Lee@Example.COM");
        assert_eq!(one.folded().as_str(), "ann.lee@example.com");
        assert_eq!(EmailAddress::parse("email", "JÜRGEN@example.com").unwrap().folded().as_str(), "jürgen@example.com");
    }

    #[test]
    fn an_invalid_address_is_rejected_with_the_field_name() {
        for raw in ["ann", "ann@", "@example.com", "a b@example.com", "Ann <ann@example.com>", "a@b@c", "a@[127.0.0.1]"]
        {
            assert_eq!(
                EmailAddress::parse("email", raw).unwrap_err().to_string(),
                "email is not a valid e-mail address",
                "{raw}"
            );
        }
        assert_eq!(EmailAddress::parse("email", " ").unwrap_err(), FieldError::missing("email"));
        let long = format!("a@{}.example", "b".repeat(250));
        assert_eq!(
            EmailAddress::parse("email", &long).unwrap_err().to_string(),
            "email must be at most 254 characters long"
        );
    }

    #[test]
    fn an_author_address_need_not_be_valid() {
        assert_eq!(FoldedEmail::parse_author("author_email", "Nobody").unwrap().unwrap().as_str(), "nobody");
        assert_eq!(FoldedEmail::parse_author("author_email", " ").unwrap(), None);
        assert!(FoldedEmail::parse_author("author_email", "a\0").is_err());
    }
}
