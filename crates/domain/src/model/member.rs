//! Team members and the authors of notes and comments.

use crate::error::Validated;
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::id::MemberId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A team member of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// ID.
    pub id: MemberId,
    /// E-mail address, unique in the workspace (case-insensitive).
    pub email: EmailAddress,
    /// Display name.
    pub name: Name,
    /// Timestamp of the creation. The oldest member is the default author.
    pub created_at: Timestamp,
}

/// The author of a note or comment, contract sections 2.5 and 4.8.
///
/// The author is the named member, otherwise the workspace's oldest member. A workspace without members has no author.
///
/// A store looks up the member in the statement that stores the note or comment, which saves a round trip (ADR 22).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The member with this address, or the oldest member when the address is unknown.
    Named(FoldedEmail),
    /// The oldest member.
    Oldest,
}

impl Author {
    /// Parses the optional address of the author.
    ///
    /// # Errors
    /// Too long, or with a NUL character.
    pub fn parse(field: &str, raw: Option<&str>) -> Validated<Self> {
        let named = FoldedEmail::parse_author(field, raw.unwrap_or_default())?;
        Ok(named.map_or(Self::Oldest, Self::Named))
    }

    /// Returns the address of a named author.
    #[must_use]
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::Named(email) => Some(email.as_str()),
            Self::Oldest => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_member_is_the_default_author() {
        for (named, address) in [
            (Some("Bob@team.example"), Some("bob@team.example")),
            (Some("Nobody"), Some("nobody")),
            (Some(" "), None),
            (None, None),
        ] {
            assert_eq!(Author::parse("author_email", named).unwrap().address(), address, "{named:?}");
        }
        assert!(Author::parse("author_email", Some("a\0")).is_err());
    }
}
