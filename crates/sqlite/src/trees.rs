//! Trees of merged feature requests. A tree consists of its root and all feature requests that lead to it.

use diesel::sql_types::{BigInt, Binary, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use roadmap_store::columns::Id;

use crate::errors::SqlError;
use crate::statement::statement;

statement! {
    /// Selects the feature requests that lead to a root, oldest first.
    MergedRequests { workspace: Id => Binary, root: Id => Binary } -> LinkSql,
    "SELECT id, tag_number, title FROM feature_requests WHERE workspace_id = ? AND root_id = ? ORDER BY row_number"
}

statement! {
    /// Selects the IDs of the feature requests that lead to a root.
    MergedIds { workspace: Id => Binary, root: Id => Binary } -> Binary,
    "SELECT id FROM feature_requests WHERE workspace_id = ? AND root_id = ?"
}

statement! {
    /// Whether a workspace has merged feature requests.
    HasMerged { workspace: Id => Binary } -> diesel::sql_types::Bool,
    "SELECT EXISTS (SELECT 1 FROM feature_requests WHERE workspace_id = ? AND root_id IS NOT NULL)"
}

/// The types of the columns of a feature request as another record names it: ID, tag number and title.
pub(crate) type LinkSql = (Binary, BigInt, Text);

/// Returns the feature requests of a tree, the root first.
pub(crate) fn tree_members(connection: &mut SqliteConnection, workspace: Id, root: Id) -> Result<Vec<Id>, SqlError> {
    let mut members = vec![root];
    members.extend(MergedIds { workspace, root }.load::<Id>(connection)?);
    Ok(members)
}
