//! From diesel's errors to the domain's.

use diesel::result::{ConnectionError, DatabaseErrorKind, Error as DieselError};
use roadmap_domain::error::StoreError;
use thiserror::Error;

/// What can go wrong between here and SQLite.
#[derive(Debug, Error)]
pub(crate) enum SqlError {
    #[error(transparent)]
    Query(#[from] DieselError),
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SqlError> for StoreError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Store(error) => error,
            SqlError::Query(error) if is_passing(&error) => Self::Unavailable(error.into()),
            SqlError::Query(error) => Self::Fatal(error.into()),
            SqlError::Connection(error) => Self::Unavailable(error.into()),
        }
    }
}

/// Whether the statement failed because of the machine's state and not because of itself. Diesel
/// keeps SQLite's message and drops its code; these are the messages of `sqlite3_errstr`, which are
/// constants of the library and never translated.
pub(crate) fn is_passing(error: &DieselError) -> bool {
    let DieselError::DatabaseError(kind, information) = error else {
        return matches!(error, DieselError::BrokenTransactionManager);
    };
    let message = information.message();
    matches!(kind, DatabaseErrorKind::ReadOnlyTransaction)
        || ["is locked", "disk is full", "disk I/O error", "unable to open database file", "readonly database"]
            .iter()
            .any(|passing| message.contains(passing))
}

/// A value of a row that is not what was once written.
pub(crate) fn inconsistent(table: &'static str, column: &'static str, row: impl ToString) -> StoreError {
    StoreError::Inconsistent { table, column, row: row.to_string() }
}
