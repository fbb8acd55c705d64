//! Maps diesel's errors to the domain's.

use diesel::result::{ConnectionError, DatabaseErrorKind, Error as DieselError};
use roadmap_domain::error::StoreError;
use thiserror::Error;

/// An error of a database operation.
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
            SqlError::Query(error) if is_temporary(&error) => Self::Unavailable(error.into()),
            SqlError::Query(error) => Self::Fatal(error.into()),
            SqlError::Connection(error) => Self::Unavailable(error.into()),
        }
    }
}

/// Whether the cause of a failed statement is the state of the machine, not the statement itself.
///
/// Diesel keeps SQLite's message and drops its error code. These are the messages of `sqlite3_errstr`, which are
/// constants of the library and never translated.
pub(crate) fn is_temporary(error: &DieselError) -> bool {
    let DieselError::DatabaseError(kind, information) = error else {
        return matches!(error, DieselError::BrokenTransactionManager);
    };
    let message = information.message();
    matches!(kind, DatabaseErrorKind::ReadOnlyTransaction)
        || ["is locked", "disk is full", "disk I/O error", "unable to open database file", "readonly database"]
            .iter()
            .any(|temporary| message.contains(temporary))
}

/// Whether a transaction may be durable although its `COMMIT` failed with this error.
///
/// If the sync of the write-ahead log fails, the log may still contain the transaction, and SQLite reads the log when
/// the database is opened after a crash. If the disk is full, the end of the transaction was not written.
pub(crate) fn is_outcome_unknown(error: &SqlError) -> bool {
    match error {
        SqlError::Query(DieselError::DatabaseError(_, information)) => information.message().contains("disk I/O error"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use diesel::connection::SimpleConnection;

    /// The messages in `is_temporary` are those of SQLite. Fails when an update of `libsqlite3-sys` or diesel changes
    /// their wording.
    #[test]
    fn temporary_errors_of_libsqlite3_sys_are_known() {
        let (_folder, options) = fixtures::database();
        let fails = |setup: &str, statement: &str| {
            let mut connection = fixtures::connection(&options.path);
            connection.batch_execute(setup).unwrap();
            connection.batch_execute(statement).unwrap_err()
        };
        let write = "CREATE TABLE more AS SELECT randomblob(1000000) AS bytes";
        let mut writer = fixtures::connection(&options.path);
        writer.batch_execute("BEGIN IMMEDIATE").unwrap();
        let locked = fails("PRAGMA busy_timeout = 0", write);
        writer.batch_execute("ROLLBACK").unwrap();
        // A folder takes the name of the write-ahead log.
        let (_elsewhere, other) = fixtures::database();
        std::fs::create_dir(other.path.with_extension("db-wal")).unwrap();
        let unopened = fixtures::connection(&other.path).batch_execute("SELECT * FROM workspaces").unwrap_err();
        for (error, message) in [
            (locked, "database is locked"),
            (fails("PRAGMA max_page_count = 1", write), "database or disk is full"),
            (fails("PRAGMA query_only = 1", write), "attempt to write a readonly database"),
            (unopened, "unable to open database file"),
        ] {
            assert!(error.to_string().starts_with(message), "{error}");
            assert!(is_temporary(&error), "{error}");
        }
        // An invalid statement is not a temporary error.
        for statement in ["SELECT * FROM nowhere", "SELEC", "INSERT INTO workspaces (id) VALUES ('x')"] {
            assert!(!is_temporary(&fails("", statement)), "{statement}");
        }
    }
}
