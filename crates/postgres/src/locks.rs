//! Advisory locks: of operation keys, and of what one unit of work of a workspace does at a time.

use diesel::sql_types::BigInt;
use uuid::Uuid;

use crate::statement::statement;

statement! {
    /// Waits for the lock and takes it until the transaction ends.
    LockKey { number: i64 => BigInt } -> (),
    "SELECT pg_advisory_xact_lock({number})"
}

/// A lock of a workspace that one unit of work holds until it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkspaceLock {
    /// The units that merge, unmerge or delete feature requests.
    Merges,
    /// The units that change lanes and tracks.
    Board,
    /// The units that change team members.
    Members,
    /// The units that change a tag on all feature requests.
    Tags,
    /// The units that begin, end or undo runs of imports.
    Imports,
    /// The units that begin or end exports.
    Exports,
    /// The units that change link sources, or apply what they report.
    LinkSources,
    /// The units that change webhooks.
    Webhooks,
    /// Whoever counts searches that found nothing, which is not a unit.
    MissedSearches,
}

impl WorkspaceLock {
    /// Returns a name that no operation key has, because it contains the NUL character.
    const fn name(self) -> &'static str {
        match self {
            Self::Merges => "\0merges",
            Self::Board => "\0board",
            Self::Members => "\0members",
            Self::Tags => "\0tags",
            Self::Imports => "\0imports",
            Self::Exports => "\0exports",
            Self::LinkSources => "\0link_sources",
            Self::Webhooks => "\0webhooks",
            Self::MissedSearches => "\0missed_searches",
        }
    }
}

impl LockKey {
    /// Returns the statement for a lock of a workspace.
    pub(crate) fn of_workspace(workspace: Uuid, lock: WorkspaceLock) -> Self {
        Self { number: lock_number(workspace, lock.name()) }
    }
}

/// Returns the number of an advisory lock: half of the name-based UUID (RFC 9562 section 5.5) of its name, such as a
/// key, in its workspace. Two locks with the same number wait for each other needlessly.
pub(crate) fn lock_number(workspace: Uuid, name: &str) -> i64 {
    let (upper, _) = Uuid::new_v5(&workspace, name.as_bytes()).as_u64_pair();
    upper.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use roadmap_domain::model::operation_key::OperationKey;

    #[test]
    fn a_lock_has_a_number_of_its_own_in_each_workspace() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(lock_number(one, "k"), lock_number(one, "k"));
        assert_ne!(lock_number(one, "k"), lock_number(one, "K"));
        assert_ne!(lock_number(one, "k"), lock_number(other, "k"));
    }

    #[test]
    fn no_operation_key_is_the_name_of_a_lock() {
        let locks = [
            WorkspaceLock::Merges,
            WorkspaceLock::Board,
            WorkspaceLock::Exports,
            WorkspaceLock::Members,
            WorkspaceLock::Tags,
            WorkspaceLock::Webhooks,
            WorkspaceLock::MissedSearches,
        ];
        for lock in locks {
            assert!(OperationKey::parse(lock.name()).is_err());
            assert_eq!(locks.iter().filter(|other| other.name() == lock.name()).count(), 1);
        }
    }
}
