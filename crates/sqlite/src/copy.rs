//! Backups of the database file: copies, integrity checks and exclusive locks.

use std::path::Path;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::{QueryDsl, RunQueryDsl};
use diesel::result::Error as DieselError;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, Checksum};
use roadmap_store::columns::inconsistent;

use crate::SqliteOptions;
use crate::connection::Connector;
use crate::errors::{SqlError, is_temporary};
use crate::schema::attachments;

/// The maximum number of errors that each check of a damaged file returns.
const MAX_INTEGRITY_ERRORS: usize = 10;

/// How long a check waits for the lock of a writer.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An uploaded file, as described by its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFile {
    pub key: BlobKey,
    /// Its size in bytes.
    pub byte_size: u64,
    /// Its MD5 checksum.
    pub checksum: Checksum,
}

/// Writes a consistent copy of the database to a new file. Other connections keep reading and writing.
///
/// # Errors
/// The database cannot be read, or the file cannot be written or exists already.
pub fn copy_to(options: &SqliteOptions, target: &Path) -> Result<(), StoreError> {
    let Some(target) = target.to_str() else {
        return Err(StoreError::Fatal("the path of a copy must be valid UTF-8".into()));
    };
    let mut connection = Connector::new(&options.path, options.write_wait).open_existing()?;
    let copied = diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(target).execute(&mut connection);
    copied.map_err(SqlError::from)?;
    Ok(())
}

#[derive(QueryableByName)]
struct IntegrityError {
    #[diesel(sql_type = Text)]
    fault: String,
}

/// Returns the errors in a file's structure, constraints and foreign keys. Empty for an intact file.
///
/// # Errors
/// The file cannot be read at all.
pub fn integrity_errors(path: &Path) -> Result<Vec<String>, StoreError> {
    let mut connection = Connector::new(path, BUSY_TIMEOUT).open_existing_read_only()?;
    let structure = format!("SELECT integrity_check AS fault FROM pragma_integrity_check LIMIT {MAX_INTEGRITY_ERRORS}");
    let references = format!(
        "SELECT 'a row of ' || \"table\" || ' refers to none of ' || parent AS fault FROM pragma_foreign_key_check
         LIMIT {MAX_INTEGRITY_ERRORS}"
    );
    let mut faults: Vec<String> = Vec::new();
    for query in [structure, references] {
        let rows: Vec<IntegrityError> = diesel::sql_query(query).load(&mut connection).map_err(SqlError::from)?;
        faults.extend(rows.into_iter().map(|row| row.fault).filter(|fault| fault != "ok"));
    }
    Ok(faults)
}

/// Returns the uploaded files that the rows of a database describe.
///
/// # Errors
/// The file cannot be read, or a row is invalid.
pub fn stored_files(path: &Path) -> Result<Vec<StoredFile>, StoreError> {
    let mut connection = Connector::new(path, BUSY_TIMEOUT).open_existing_read_only()?;
    let rows: Vec<(String, i64, Vec<u8>)> = attachments::table
        .order(attachments::key)
        .select((attachments::key, attachments::byte_size, attachments::checksum))
        .load(&mut connection)
        .map_err(SqlError::from)?;
    rows.into_iter()
        .map(|(key, byte_size, checksum)| {
            let wrong = |column| inconsistent("attachments", column, &key);
            Ok(StoredFile {
                key: BlobKey::parse(&key).ok_or_else(|| wrong("key"))?,
                byte_size: u64::try_from(byte_size).map_err(|_| wrong("byte_size"))?,
                checksum: Checksum(checksum.try_into().map_err(|_| wrong("checksum"))?),
            })
        })
        .collect()
}

/// An exclusive lock on a database file, held until it is dropped.
pub struct ExclusiveLock {
    _connection: SqliteConnection,
}

/// Locks a file exclusively. Returns `None` if another connection has it open, such as that of a running service.
///
/// Merges the write-ahead log into the file.
///
/// # Errors
/// The file cannot be opened, or the disk is full or fails.
pub fn lock_exclusively(path: &Path) -> Result<Option<ExclusiveLock>, StoreError> {
    let url = Connector::new(path, BUSY_TIMEOUT).url_with("mode=rw");
    let mut connection = SqliteConnection::establish(&url).map_err(SqlError::from)?;
    // Switching off the write-ahead log needs exclusive access: each connection to a file in this mode holds a lock for
    // as long as it is open.
    let locked = connection
        .batch_execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT");
    match locked {
        Err(error) if is_locked(&error) => Ok(None),
        // The disk is full or fails, for example. Whether the file is in use is unknown.
        Err(error) if is_temporary(&error) => Err(SqlError::from(error).into()),
        // Other errors, such as that the file is not a database, do not mean that it is in use.
        _ => Ok(Some(ExclusiveLock { _connection: connection })),
    }
}

/// Whether another connection holds a lock. These are SQLite's messages for `SQLITE_BUSY` and `SQLITE_LOCKED`.
pub(crate) fn is_locked(error: &DieselError) -> bool {
    matches!(error, DieselError::DatabaseError(_, information) if information.message().contains("is locked"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, connection, run};
    use tempfile::TempDir;

    const WORKSPACE: &str = "00000000-0000-0000-0000-000000000001";
    const FILES: [&str; 2] = ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"];

    /// Creates a migrated database with one workspace.
    fn database() -> (TempDir, SqliteOptions) {
        let (folder, options) = fixtures::database();
        run(&options.path, &format!("INSERT INTO workspaces VALUES (1, unhex('{WORKSPACE}', '-'), 'acme', 0)"));
        (folder, options)
    }

    /// Returns the SQL that inserts the row of an attachment.
    fn file(id: &str, key: &str, byte_size: i64, checksum: &str) -> String {
        format!(
            "INSERT INTO attachments
                 (workspace_id, id, filename, content_type, byte_size, checksum, key, service_name, created_at)
             VALUES (unhex('{WORKSPACE}', '-'), unhex('{id}', '-'), 'a.png', 'image/png', {byte_size}, unhex('{checksum}'),
                     '{key}', 'local', 0);"
        )
    }

    fn key(id: &str) -> String {
        format!("{WORKSPACE}/{id}")
    }

    #[test]
    fn a_copy_has_the_committed_rows_and_overwrites_no_file() {
        let (folder, options) = database();
        let mut elsewhere = connection(&options.path);
        let (first, second) = (file(FILES[0], &key(FILES[0]), 3, &"ab".repeat(16)), key(FILES[1]));
        elsewhere.batch_execute(&first).unwrap();
        elsewhere.batch_execute(&format!("BEGIN; {}", file(FILES[1], &second, 4, &"cd".repeat(16)))).unwrap();
        let copy = folder.path().join("copy.db");
        copy_to(&options, &copy).unwrap();
        elsewhere.batch_execute("COMMIT").unwrap();
        let stored = |path| stored_files(path).unwrap().iter().map(|file| file.key.to_string()).collect::<Vec<_>>();
        assert_eq!(stored(&copy), [key(FILES[0])]);
        assert_eq!(stored(&options.path), [key(FILES[0]), key(FILES[1])]);

        assert!(copy_to(&options, &copy).is_err());
        assert_eq!(stored(&copy), [key(FILES[0])]);
        let nowhere = SqliteOptions::new(folder.path().join("nowhere.db"));
        assert!(copy_to(&nowhere, &folder.path().join("other.db")).is_err());
        assert!(!nowhere.path.exists() && !folder.path().join("other.db").exists());
    }

    #[test]
    fn an_intact_file_has_no_integrity_errors_and_a_damaged_file_a_few() {
        let (_folder, options) = database();
        assert_eq!(integrity_errors(&options.path).unwrap(), Vec::<String>::new());
        let keys: String = (0..12)
            .map(|n| {
                format!(
                    "INSERT INTO api_keys (workspace_id, id, name, digest, last_four, can_read, can_write, created_at)
                         VALUES (x'aa', x'{n:02}', 'ci', x'{n:02}', 'abcd', 1, 1, 0);"
                )
            })
            .collect();
        run(&options.path, &format!("PRAGMA foreign_keys = OFF; {keys}"));
        assert_eq!(
            integrity_errors(&options.path).unwrap(),
            ["a row of api_keys refers to none of workspaces"; MAX_INTEGRITY_ERRORS]
        );
        run(
            &options.path,
            "DELETE FROM api_keys; PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'subdomain TEXT NOT NULL UNIQUE', 'subdomain INTEGER NOT NULL UNIQUE')
             WHERE name = 'workspaces'",
        );
        assert_eq!(integrity_errors(&options.path).unwrap(), ["non-INTEGER value in workspaces.subdomain"]);
        std::fs::write(&options.path, "no database at all").unwrap();
        assert!(integrity_errors(&options.path).is_err());
    }

    #[test]
    fn files_are_listed_by_key_and_invalid_rows_are_errors() {
        let (_folder, options) = database();
        run(&options.path, &file(FILES[1], &key(FILES[1]), 0, &"00".repeat(16)));
        run(&options.path, &file(FILES[0], &key(FILES[0]), 7, &"0a".repeat(16)));
        let stored = |id: &str, byte_size, byte| StoredFile {
            key: BlobKey::parse(&key(id)).unwrap(),
            byte_size,
            checksum: Checksum([byte; 16]),
        };
        assert_eq!(stored_files(&options.path).unwrap(), [stored(FILES[0], 7, 10), stored(FILES[1], 0, 0)]);
        for (column, spoiled, right) in [
            ("key", "'../a'", format!("'{}'", key(FILES[1]))),
            ("byte_size", "-1", "1".to_owned()),
            ("checksum", "x'00'", format!("x'{}'", "00".repeat(16))),
        ] {
            let set = |value: &str| {
                run(&options.path, &format!("UPDATE attachments SET {column} = {value} WHERE byte_size <> 7"));
            };
            set(spoiled);
            match stored_files(&options.path) {
                Err(StoreError::Inconsistent { table: "attachments", column: actual, .. }) => {
                    assert_eq!(actual, column)
                }
                other => panic!("{column}: {other:?}"),
            }
            set(&right);
        }
    }

    #[test]
    fn an_exclusive_lock_needs_an_unused_file_and_merges_its_log() {
        let (folder, options) = database();
        let service = Connector::new(&options.path, Duration::from_millis(50)).open_writer().unwrap();
        assert!(lock_exclusively(&options.path).unwrap().is_none());
        drop(service);
        let locked = lock_exclusively(&options.path).unwrap();
        assert!(locked.is_some());
        assert!(!folder.path().join("roadmap.db-wal").exists(), "the log is merged into the file");
        assert!(connection(&options.path).batch_execute("SELECT 1 FROM workspaces").is_err());
        drop(locked);
        run(&options.path, "SELECT 1 FROM workspaces");

        let other = folder.path().join("other.db");
        assert!(lock_exclusively(&other).is_err());
        std::fs::write(&other, "no database at all").unwrap();
        assert!(lock_exclusively(&other).unwrap().is_some());
    }

    #[test]
    fn a_failure_of_the_disk_does_not_mean_that_a_file_is_in_use() {
        let (_folder, options) = database();
        // A folder takes the name of the write-ahead log.
        std::fs::create_dir(options.path.with_extension("db-wal")).unwrap();
        match lock_exclusively(&options.path).map(|lock| lock.is_some()) {
            Err(StoreError::Unavailable(cause)) => assert_eq!(cause.to_string(), "unable to open database file"),
            other => panic!("{other:?}"),
        }
    }
}
