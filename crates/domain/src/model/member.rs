//! Team members: the people notes and comments are attributed to.

use crate::error::Validated;
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::id::MemberId;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A team member of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Identity.
    pub id: MemberId,
    /// Address, unique in the workspace without regard to case.
    pub email: EmailAddress,
    /// Display name.
    pub name: Name,
    /// When the member was added. The oldest member is the author of last resort.
    pub created_at: Timestamp,
}

/// Whom a note or comment is by, contract sections 2.5 and 4.8: the member who was named, else the
/// workspace's oldest member, else nobody.
///
/// A store finds the member in the statement that stores what is theirs: asking for them first would
/// cost a round trip (ADR 22).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The member with this address. Somebody unknown is the oldest member.
    Named(FoldedEmail),
    /// The oldest member.
    Oldest,
}

impl Author {
    /// Reads the address of whom a call names, if it names anybody.
    ///
    /// # Errors
    /// It is too long, or no line of text.
    pub fn parse(field: &str, raw: Option<&str>) -> Validated<Self> {
        let named = FoldedEmail::parse_author(field, raw.unwrap_or_default())?;
        Ok(named.map_or(Self::Oldest, Self::Named))
    }

    /// The address to look for first.
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
