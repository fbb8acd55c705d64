//! Maps diesel's errors to the domain's.

use std::time::Duration;

use diesel::result::{ConnectionError, DatabaseErrorKind, Error as DieselError};
use roadmap_domain::error::StoreError;
use thiserror::Error;

/// An error before a statement runs.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The URL cannot be parsed.
    #[error("the database URL is not one that PostgreSQL's clients understand")]
    Url(#[source] tokio_postgres::Error),
    /// The URL has a parameter or value that this client does not support.
    #[error("the database URL {0}")]
    UrlRejected(String),
    /// The trusted certificates cannot be read.
    #[error("the certificates to trust cannot be read")]
    Certificates(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server cannot be reached, or rejects the connection.
    #[error("the database server cannot be reached")]
    Unreachable(#[source] tokio_postgres::Error),
    /// The connection was opened but cannot be set up.
    #[error("the connection to the database server cannot be set up")]
    Setup(#[from] ConnectionError),
    /// The task that opens the connection panicked or was cancelled.
    #[error("the connection to the database server was not completed")]
    TaskEnded(#[source] tokio::task::JoinError),
}

impl From<ConnectError> for StoreError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::Unreachable(_) | ConnectError::Setup(_) => Self::Unavailable(error.into()),
            ConnectError::Url(_)
            | ConnectError::UrlRejected(_)
            | ConnectError::Certificates(_)
            | ConnectError::TaskEnded(_) => Self::Fatal(error.into()),
        }
    }
}

/// Classifies the failure of a statement that took this long, on a connection with this `lock_timeout`.
///
/// Diesel distinguishes a few kinds of errors and drops the SQLSTATE of all others. For these there are two
/// indications: the duration of the statement, for the server's own time limits, and the message. It is in English:
/// `check.rs` verifies that at the start. An unknown message is classified, and reported, as a defect of the service.
pub(crate) fn store_error(error: DieselError, took: Duration, lock_timeout: Duration) -> StoreError {
    match &error {
        // Names that clients choose are inserted with "on conflict do nothing". The remaining case is two concurrent
        // units that took the same number. A row that is referred to was found before: a concurrent unit has deleted it.
        DieselError::DatabaseError(
            DatabaseErrorKind::SerializationFailure
            | DatabaseErrorKind::UniqueViolation
            | DatabaseErrorKind::ForeignKeyViolation,
            _,
        ) => StoreError::Transient(error.into()),
        DieselError::DatabaseError(
            DatabaseErrorKind::ClosedConnection
            | DatabaseErrorKind::UnableToSendCommand
            | DatabaseErrorKind::ReadOnlyTransaction,
            _,
        )
        | DieselError::BrokenTransactionManager => StoreError::Unavailable(error.into()),
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, information) => {
            let message = information.message();
            if message.starts_with("deadlock detected") {
                StoreError::Transient(error.into())
            } else if is_temporary(message) || took >= lock_timeout {
                StoreError::Unavailable(error.into())
            } else {
                StoreError::Fatal(error.into())
            }
        }
        _ => StoreError::Fatal(error.into()),
    }
}

/// Whether the failure of a `COMMIT`, or of a statement sent just before it, proves that the server rolled the
/// transaction back. After any other failure, the transaction may be durable.
pub(crate) fn is_definite_rollback(error: &DieselError) -> bool {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand, _) => {
            false
        }
        // A server that is being stopped also sends this after the commit.
        DieselError::DatabaseError(_, information) if information.message().starts_with("terminating connection") => {
            false
        }
        // A server that cannot write or sync its log ends. When it starts again, it may find the commit in the log.
        DieselError::DatabaseError(_, information) => !is_of_disk(information.message()),
        _ => false,
    }
}

/// Whether the message is about a failed disk or a full one. A table that cannot grow is left out: that is found before
/// the commit.
fn is_of_disk(message: &str) -> bool {
    let causes = ["No space left on device", "Input/output error", "Read-only file system"];
    causes.iter().any(|cause| message.contains(cause)) && !message.starts_with("could not extend file")
}

/// Whether the message is about the state of the server, not about the statement.
fn is_temporary(message: &str) -> bool {
    [
        "canceling statement due to",
        "terminating connection due to",
        "the database system is",
        "too many clients",
        "too many connections",
        "connection slots are reserved",
        "could not extend file",
        "out of memory",
        "out of shared memory",
    ]
    .iter()
    .any(|temporary| message.contains(temporary))
        || is_of_disk(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classified(kind: DatabaseErrorKind, message: &str, took: u64) -> &'static str {
        let error = DieselError::DatabaseError(kind, Box::new(message.to_owned()));
        match store_error(error, Duration::from_millis(took), Duration::from_secs(1)) {
            StoreError::Unavailable(_) => "unavailable",
            StoreError::Transient(_) => "transient",
            StoreError::OutcomeUnknown(_) => "unknown",
            StoreError::Inconsistent { .. } => "inconsistent",
            StoreError::Fatal(_) => "fatal",
        }
    }

    #[test]
    fn only_an_error_from_the_server_is_a_definite_rollback() {
        use DatabaseErrorKind::{
            ClosedConnection, ForeignKeyViolation, SerializationFailure, UnableToSendCommand, Unknown,
        };
        for (kind, message, refused) in [
            (SerializationFailure, "could not serialize access", true),
            (ForeignKeyViolation, "violates foreign key", true),
            (Unknown, "canceling statement due to statement timeout", true),
            (Unknown, "could not extend file: No space left on device", true),
            (Unknown, "could not fsync file \"pg_wal/000000010000000000000001\": Input/output error", false),
            (Unknown, "could not write to file \"pg_wal/xlogtemp.7\": No space left on device", false),
            (Unknown, "could not open file \"pg_wal/000000010000000000000002\": Read-only file system", false),
            (Unknown, "terminating connection due to administrator command", false),
            (ClosedConnection, "terminating connection because of crash of another server process", false),
            (UnableToSendCommand, "connection closed", false),
        ] {
            assert_eq!(
                is_definite_rollback(&DieselError::DatabaseError(kind, Box::new(message.to_owned()))),
                refused,
                "{message}"
            );
        }
        assert!(!is_definite_rollback(&DieselError::BrokenTransactionManager));
    }

    #[test]
    fn failures_are_classified_by_what_can_be_done_about_them() {
        use DatabaseErrorKind::{
            ClosedConnection, ForeignKeyViolation, SerializationFailure, UnableToSendCommand, UniqueViolation, Unknown,
        };
        for (kind, message, took, expected) in [
            (SerializationFailure, "could not serialize access", 1, "transient"),
            (Unknown, "deadlock detected", 1_200, "transient"),
            (Unknown, "canceling statement due to lock timeout", 1_000, "unavailable"),
            (Unknown, "canceling statement due to statement timeout", 2_000, "unavailable"),
            // The same from a server with German messages.
            (Unknown, "storniere Anfrage wegen Zeitüberschreitung der Sperre", 1_000, "unavailable"),
            (Unknown, "Sperre nicht verfügbar", 999, "fatal"),
            (Unknown, "terminating connection due to administrator command", 1, "unavailable"),
            (Unknown, "the database system is shutting down", 1, "unavailable"),
            (Unknown, "could not extend file \"base/1/2\": No space left on device", 1, "unavailable"),
            (Unknown, "could not read block 7 in file \"base/5/2\": Input/output error", 1, "unavailable"),
            (Unknown, "could not open file \"base/5/2\": Read-only file system", 1, "unavailable"),
            (UnableToSendCommand, "connection closed", 1, "unavailable"),
            (ClosedConnection, "", 1, "unavailable"),
            (Unknown, "relation \"votes\" does not exist", 1, "fatal"),
            (Unknown, "permission denied for table votes", 1, "fatal"),
            (UniqueViolation, "duplicate key", 1, "transient"),
            (ForeignKeyViolation, "violates foreign key", 1, "transient"),
        ] {
            assert_eq!(classified(kind, message, took), expected, "{message}");
        }
    }

    /// Classifies the failure of a statement that took no time: by kind and message alone.
    fn classified_by_message(error: DieselError) -> (String, StoreError) {
        let text = error.to_string();
        (text, store_error(error, Duration::ZERO, Duration::from_secs(3_600)))
    }

    /// The messages in `store_error` are those of the server, as tokio-postgres and diesel-async return them. Fails
    /// when an update changes their wording.
    #[tokio::test]
    async fn temporary_errors_of_postgres_are_known() {
        use diesel_async::{AsyncConnection, AsyncPgConnection, SimpleAsyncConnection};

        const LOCK: &str = "SELECT pg_advisory_lock(4711, 1)";
        const OTHER_LOCK: &str = "SELECT pg_advisory_lock(4711, 2)";
        let server = roadmap_testkit::postgres::server();
        let connect = || async { AsyncPgConnection::establish(&server).await.unwrap() };
        let (mut one, mut two) = (connect().await, connect().await);

        one.batch_execute("SET statement_timeout = '10ms'").await.unwrap();
        let (text, classified) = classified_by_message(one.batch_execute("SELECT pg_sleep(60)").await.unwrap_err());
        assert_eq!(text, "canceling statement due to statement timeout");
        assert!(matches!(classified, StoreError::Unavailable(_)), "{classified:?}");

        one.batch_execute("SET statement_timeout = 0; SET lock_timeout = '10ms'").await.unwrap();
        two.batch_execute(LOCK).await.unwrap();
        let (text, classified) = classified_by_message(one.batch_execute(LOCK).await.unwrap_err());
        assert_eq!(text, "canceling statement due to lock timeout");
        assert!(matches!(classified, StoreError::Unavailable(_)), "{classified:?}");

        // A deadlock: each waits for the lock of the other.
        for connection in [&mut one, &mut two] {
            connection.batch_execute("SET lock_timeout = 0; SET deadlock_timeout = '10ms'").await.unwrap();
        }
        one.batch_execute(OTHER_LOCK).await.unwrap();
        let (waits, also) = tokio::join!(
            async {
                let outcome = one.batch_execute(LOCK).await;
                one.batch_execute("SELECT pg_advisory_unlock_all()").await.unwrap();
                outcome
            },
            async {
                let outcome = two.batch_execute(OTHER_LOCK).await;
                two.batch_execute("SELECT pg_advisory_unlock_all()").await.unwrap();
                outcome
            },
        );
        let (text, classified) = classified_by_message(waits.and(also).unwrap_err());
        assert_eq!(text, "deadlock detected");
        assert!(matches!(classified, StoreError::Transient(_)), "{classified:?}");

        let ended = one.batch_execute("SELECT pg_terminate_backend(pg_backend_pid())").await.unwrap_err();
        let (text, classified) = classified_by_message(ended);
        assert!(matches!(classified, StoreError::Unavailable(_)), "{text}: {classified:?}");
    }
}
