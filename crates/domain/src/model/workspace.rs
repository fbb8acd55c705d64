//! Workspaces: one per customer company, addressed by subdomain.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::id::WorkspaceId;

/// The subdomain of a workspace: a DNS label (RFC 1123 section 2.1) in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subdomain(String);

impl Subdomain {
    /// Validates a label: 1 to 63 letters, digits and inner hyphens. Upper case is converted to lower case.
    ///
    /// # Errors
    /// Blank, or not such a label.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        if raw.trim().is_empty() {
            return Err(FieldError::missing(field));
        }
        let expected = "a host name label: 1 to 63 letters, digits and inner hyphens";
        Self::from_label(raw).ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
    }

    /// Converts a label to a subdomain, or returns `None` when it is invalid.
    #[must_use]
    pub fn from_label(raw: &str) -> Option<Self> {
        let fits = (1..=63).contains(&raw.len())
            && raw.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !raw.starts_with('-')
            && !raw.ends_with('-');
        fits.then(|| Self(raw.to_ascii_lowercase()))
    }

    /// Wraps a stored value, which is not validated again.
    #[must_use]
    pub fn from_stored(label: String) -> Self {
        Self(label)
    }

    /// Returns the label.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Subdomain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    pub id: WorkspaceId,
    pub subdomain: Subdomain,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subdomain_is_a_dns_label() {
        for (raw, label) in [("acme", "acme"), ("ACME-2", "acme-2"), ("7", "7"), (&"a".repeat(63), &"a".repeat(63))] {
            assert_eq!(Subdomain::from_label(raw).unwrap().as_str(), label);
        }
        for raw in ["-a", "a-", "a.b", "a b", "ä", "a_b", &"a".repeat(64), ""] {
            assert_eq!(Subdomain::from_label(raw), None, "{raw}");
        }
        assert_eq!(Subdomain::parse("subdomain", " ").unwrap_err(), FieldError::missing("subdomain"));
    }
}
