//! Copies of the file: made while others write to it, looked through, and put in its place.

use std::path::Path;
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::prelude::{QueryDsl, RunQueryDsl};
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, Checksum};

use crate::SqliteOptions;
use crate::connection::Connector;
use crate::errors::{SqlError, inconsistent, is_passing};
use crate::schema::attachments;

/// How many faults are told of a damaged file.
const FAULTS: usize = 10;

/// How long whoever looks at a file waits for one that is about to write to it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that a row tells about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredFile {
    /// Where its bytes are.
    pub key: BlobKey,
    /// How many they are.
    pub byte_size: u64,
    /// Their MD5.
    pub checksum: Checksum,
}

/// Writes the database as it is at this moment into a new file. Others go on reading and writing.
///
/// # Errors
/// The database cannot be read, or the file not written; or there is one.
pub fn copy_to(options: &SqliteOptions, target: &Path) -> Result<(), StoreError> {
    let Some(target) = target.to_str() else {
        return Err(StoreError::Fatal("the path of a copy must be text".into()));
    };
    let mut connection = Connector::new(&options.path, options.write_wait).existing()?;
    let copied = diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(target).execute(&mut connection);
    copied.map_err(SqlError::from)?;
    Ok(())
}

#[derive(QueryableByName)]
struct Fault {
    #[diesel(sql_type = Text)]
    fault: String,
}

/// What is wrong with a file: its structure, its constraints, references to rows that are not there.
/// Nothing, when it is sound.
///
/// # Errors
/// It cannot be read at all.
pub fn faults(path: &Path) -> Result<Vec<String>, StoreError> {
    let mut connection = Connector::new(path, PATIENCE).looking()?;
    let structure = format!("SELECT integrity_check AS fault FROM pragma_integrity_check LIMIT {FAULTS}");
    let references = format!(
        "SELECT 'a row of ' || \"table\" || ' refers to none of ' || parent AS fault FROM pragma_foreign_key_check
         LIMIT {FAULTS}"
    );
    let mut faults: Vec<String> = Vec::new();
    for question in [structure, references] {
        let found: Vec<Fault> = diesel::sql_query(question).load(&mut connection).map_err(SqlError::from)?;
        faults.extend(found.into_iter().map(|row| row.fault).filter(|fault| fault != "ok"));
    }
    Ok(faults)
}

/// The files that the rows of a database tell about.
///
/// # Errors
/// It cannot be read.
pub fn stored_files(path: &Path) -> Result<Vec<StoredFile>, StoreError> {
    let mut connection = Connector::new(path, PATIENCE).looking()?;
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

/// Keeps everybody else from a file until it is dropped.
pub struct Claim {
    _connection: SqliteConnection,
}

/// Claims a file. `None` when somebody has it open, a service for example.
///
/// What was written to the file's log is in the file afterwards.
///
/// # Errors
/// The file cannot be opened.
pub fn claim(path: &Path) -> Result<Option<Claim>, StoreError> {
    let url = Connector::new(path, PATIENCE).url_with("mode=rw");
    let mut connection = SqliteConnection::establish(&url).map_err(SqlError::from)?;
    // Leaving the write-ahead log is for whoever is alone with the file: each connection to a file with
    // such a log holds a lock for as long as it is open.
    let claimed = connection
        .batch_execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT");
    match claimed {
        Err(error) if is_passing(&error) => Ok(None),
        // What is no database is nobody's.
        _ => Ok(Some(Claim { _connection: connection })),
    }
}
