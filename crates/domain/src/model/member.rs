//! Team members: the people notes and comments are attributed to.

use crate::model::email_address::EmailAddress;
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
