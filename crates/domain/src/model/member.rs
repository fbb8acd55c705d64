//! Team members and the authors of notes and comments.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::email_address::{EmailAddress, FoldedEmail};
use crate::model::id::{MemberId, parse_hyphenated_uuid};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A team member of a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub id: MemberId,
    /// E-mail address, unique in the workspace (case-insensitive).
    pub email: EmailAddress,
    /// Display name.
    pub name: Name,
    pub role: Role,
    /// Timestamp of the creation. The oldest member is the default author.
    pub created_at: Timestamp,
}

/// What a team member may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Everything, also tracks, members, keys and settings.
    Admin,
    /// The work with feature requests and changelogs.
    Member,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 2] = [Self::Admin, Self::Member];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// Returns the role with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Parses a role.
    ///
    /// # Errors
    /// Any other text than a name of a role.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        let expected = "one of admin, member";
        Self::from_name(raw).ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected }))
    }
}

/// A reference to a team member: an ID or an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemberRef {
    Id(MemberId),
    Address(FoldedEmail),
}

impl MemberRef {
    /// Parses a UUID or an address.
    ///
    /// # Errors
    /// Neither of both.
    pub fn parse(field: &str, raw: &str) -> Validated<Self> {
        match parse_hyphenated_uuid(raw.trim()) {
            Some(id) => Ok(Self::Id(MemberId::new(id))),
            None => Ok(Self::Address(EmailAddress::parse(field, raw)?.folded().clone())),
        }
    }
}

/// The author of a note or comment, contract sections 2.5 and 4.8.
///
/// The author is the named member, otherwise the workspace's oldest member. A workspace without members has no author.
///
/// A store looks up the member in the statement that stores the note or comment, which saves a round trip (ADR 1).
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
    fn a_member_is_referred_to_by_id_or_address() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        assert!(matches!(MemberRef::parse("member", id).unwrap(), MemberRef::Id(found) if found.to_string() == id));
        let by_address = MemberRef::parse("member", " Ann@Team.example ").unwrap();
        assert!(matches!(by_address, MemberRef::Address(address) if address.as_str() == "ann@team.example"));
        assert_eq!(MemberRef::parse("member", "ann").unwrap_err().field, "member");
    }

    #[test]
    fn roles_have_names() {
        for role in Role::ALL {
            assert_eq!(Role::parse("role", role.name()).unwrap(), role);
        }
        assert_eq!(Role::parse("role", "owner").unwrap_err().to_string(), "role is not one of admin, member");
    }

    /// Contract 2.5.
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
