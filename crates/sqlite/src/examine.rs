//! Checks of the database file that do not change it, for operators (`roadmap doctor`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;

use crate::SqliteOptions;
use crate::connection::Connector;
use crate::errors::SqlError;
use crate::migrate::known;

/// How long a check waits for the lock of a writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(QueryableByName)]
struct Version {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Returns the versions of the migrations that are not applied to the file. Unlike [`crate::pending_migrations`], does
/// not create the table of migrations in a file without one.
///
/// # Errors
/// The file cannot be read.
pub fn missing_migrations(path: &Path) -> Result<Vec<String>, StoreError> {
    let applied = applied_migrations(path)?;
    Ok(known().map_err(StoreError::Fatal)?.difference(&applied).cloned().collect())
}

/// Returns the versions of the migrations that are applied to the file and that only a newer version of the service has.
///
/// # Errors
/// The file cannot be read.
pub fn unknown_migrations(path: &Path) -> Result<Vec<String>, StoreError> {
    let known = known().map_err(StoreError::Fatal)?;
    Ok(applied_migrations(path)?.difference(&known).cloned().collect())
}

fn applied_migrations(path: &Path) -> Result<BTreeSet<String>, StoreError> {
    Ok(select_applied(&mut Connector::new(path, BUSY_TIMEOUT).open_existing_read_only()?)?)
}

/// Selects the versions of the applied migrations, without creating their table.
pub(crate) fn select_applied(connection: &mut SqliteConnection) -> Result<BTreeSet<String>, SqlError> {
    let table = "SELECT name AS version FROM sqlite_schema WHERE name = '__diesel_schema_migrations'";
    let tables: Vec<Version> = diesel::sql_query(table).load(connection)?;
    let applied: Vec<Version> = if tables.is_empty() {
        Vec::new()
    } else {
        let applied = "SELECT version FROM __diesel_schema_migrations";
        diesel::sql_query(applied).load(connection)?
    };
    Ok(applied.into_iter().map(|row| row.version).collect())
}

/// Checks that the file can be written: begins a write transaction and rolls it back.
///
/// # Errors
/// The file cannot be written now.
pub fn check_writable(options: &SqliteOptions) -> Result<(), StoreError> {
    let mut connection = Connector::new(&options.path, options.write_wait).open_existing()?;
    Ok(connection.batch_execute("BEGIN IMMEDIATE; ROLLBACK").map_err(SqlError::from)?)
}

#[derive(QueryableByName)]
struct NewestRow {
    #[diesel(sql_type = Nullable<BigInt>)]
    newest: Option<i64>,
}

/// Returns the creation timestamp of the newest row, `None` if there are no rows.
///
/// # Errors
/// The file cannot be read.
pub fn newest_timestamp(path: &Path) -> Result<Option<Timestamp>, StoreError> {
    let mut connection = Connector::new(path, BUSY_TIMEOUT).open_existing_read_only()?;
    let newest = "SELECT max(at) AS newest FROM (
                      SELECT max(created_at) AS at FROM workspaces
                      UNION ALL SELECT max(created_at) FROM feature_requests
                      UNION ALL SELECT max(created_at) FROM votes
                      UNION ALL SELECT max(created_at) FROM comments
                      UNION ALL SELECT max(created_at) FROM held_comments
                      UNION ALL SELECT max(created_at) FROM changelogs
                      UNION ALL SELECT max(created_at) FROM feature_request_events
                      UNION ALL SELECT max(created_at) FROM audit_entries
                      UNION ALL SELECT max(created_at) FROM operations
                      UNION ALL SELECT max(created_at) FROM sessions
                      UNION ALL SELECT max(created_at) FROM sign_ins
                  )";
    let row: NewestRow = diesel::sql_query(newest).get_result(&mut connection).map_err(SqlError::from)?;
    Ok(row.newest.and_then(Timestamp::from_millis))
}

#[derive(QueryableByName)]
struct ServedRow {
    #[diesel(sql_type = Bool)]
    was_served: bool,
}

/// Whether the data is of a service that has run: there are customers, sign-ins or uploaded files, to all of which signed
/// links may exist.
///
/// # Errors
/// The file cannot be read, or has no schema.
pub fn has_been_served(path: &Path) -> Result<bool, StoreError> {
    let mut connection = Connector::new(path, BUSY_TIMEOUT).open_existing_read_only()?;
    let query = "SELECT EXISTS (SELECT 1 FROM customers) OR EXISTS (SELECT 1 FROM sign_ins)
                        OR EXISTS (SELECT 1 FROM attachments) AS was_served";
    let row: ServedRow = diesel::sql_query(query).get_result(&mut connection).map_err(SqlError::from)?;
    Ok(row.was_served)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{connection, database, place, run};
    use crate::migrate::{pending_migrations, run as migrate};

    #[test]
    fn missing_migrations_are_listed_and_the_file_left_as_it_is() {
        let (_folder, options) = place();
        assert!(missing_migrations(&options.path).is_err());
        std::fs::write(&options.path, "").unwrap();
        let all = missing_migrations(&options.path).unwrap();
        assert_eq!(std::fs::read(&options.path).unwrap(), b"");
        assert_eq!(all, pending_migrations(&options).unwrap());
        assert!(all.len() > 1);
        migrate(&options).unwrap();
        assert_eq!(missing_migrations(&options.path).unwrap(), Vec::<String>::new());
        run(&options.path, &format!("DELETE FROM __diesel_schema_migrations WHERE version = '{}'", all[1]));
        assert_eq!(missing_migrations(&options.path).unwrap(), all[1..2]);
    }

    #[test]
    fn write_access_is_checked_without_writing() {
        let (_folder, mut options) = place();
        options.write_wait = Duration::from_millis(50);
        assert!(check_writable(&options).is_err());
        assert!(!options.path.exists());
        migrate(&options).unwrap();
        check_writable(&options).unwrap();
        let mut elsewhere = connection(&options.path);
        elsewhere.batch_execute("BEGIN IMMEDIATE").unwrap();
        assert!(matches!(check_writable(&options), Err(StoreError::Unavailable(_))));
    }

    #[test]
    fn data_that_was_served_has_people_or_files() {
        let (_folder, options) = database();
        assert!(!has_been_served(&options.path).unwrap());
        run(&options.path, "INSERT INTO workspaces VALUES (1, x'01', 'acme', 5000)");
        assert!(!has_been_served(&options.path).unwrap());
        run(
            &options.path,
            "INSERT INTO customers (workspace_id, id, email, email_folded, created_at)
             VALUES (x'01', x'02', 'a@b.example', 'a@b.example', 0)",
        );
        assert!(has_been_served(&options.path).unwrap());
        let (_empty, place) = place();
        assert!(has_been_served(&place.path).is_err());
    }

    #[test]
    fn the_newest_timestamp_is_that_of_the_latest_row() {
        let (_folder, options) = database();
        assert_eq!(newest_timestamp(&options.path).unwrap(), None);
        run(&options.path, "INSERT INTO workspaces VALUES (1, x'01', 'acme', 5000)");
        assert_eq!(newest_timestamp(&options.path).unwrap(), Timestamp::from_millis(5_000));
        run(&options.path, "INSERT INTO operations VALUES (x'01', 'key', 200, x'', 7000)");
        assert_eq!(newest_timestamp(&options.path).unwrap(), Timestamp::from_millis(7_000));
    }
}
