//! Who is the author of a note or comment, contract sections 2.5 and 4.8.

use crate::model::id::MemberId;

/// The members who can be the author, as the store found them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuthorCandidates {
    /// The member with the address that was named, if there is one.
    pub named: Option<MemberId>,
    /// The workspace's oldest member, if it has any.
    pub oldest: Option<MemberId>,
}

/// The member named, else the oldest one. A workspace without members has no author to give.
#[must_use]
pub fn author(candidates: AuthorCandidates) -> Option<MemberId> {
    candidates.named.or(candidates.oldest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn the_oldest_member_stands_in_for_an_unknown_one() {
        let ann = Some(MemberId::new(Uuid::from_u128(1)));
        let bob = Some(MemberId::new(Uuid::from_u128(2)));
        assert_eq!(author(AuthorCandidates { named: bob, oldest: ann }), bob);
        assert_eq!(author(AuthorCandidates { named: None, oldest: ann }), ann);
        assert_eq!(author(AuthorCandidates { named: None, oldest: None }), None);
    }
}
