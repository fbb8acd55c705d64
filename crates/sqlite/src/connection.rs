//! Opens connections, all with the same settings.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use roadmap_domain::error::StoreError;
use roadmap_store::spans::StatementSpans;

use crate::SqliteOptions;
use crate::errors::{SqlError, is_temporary};

/// Opens connections to one database file.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    path: PathBuf,
    busy_timeout: Duration,
    /// Most memory for pages of a connection that may write, in KiB.
    write_cache: u32,
}

impl Connector {
    pub(crate) fn new(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), busy_timeout, write_cache: SqliteOptions::WRITE_CACHE }
    }

    /// Returns one whose connections that may write keep so many KiB of pages.
    pub(crate) fn with_write_cache(self, write_cache: u32) -> Self {
        Self { write_cache, ..self }
    }

    /// Opens a connection that may write.
    pub(crate) fn open_writer(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = self.connect()?;
        // A checkpoint about every 4,000 pages, so that few commits include one. Most of these pages are in the database
        // file by then (`checkpointer.rs`).
        connection.batch_execute(&format!(
            "PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -{};",
            self.write_cache
        ))?;
        connection.set_instrumentation(spans());
        Ok(connection)
    }

    /// Opens a connection that only checkpoints.
    pub(crate) fn open_checkpointer(&self) -> Result<SqliteConnection, SqlError> {
        self.connect()
    }

    /// Opens the database file, to sync it.
    pub(crate) fn open_file(&self) -> Result<File, StoreError> {
        File::open(&self.path).map_err(|error| StoreError::Unavailable(error.into()))
    }

    /// Opens a connection that writes the database anew, which waits longer for others.
    pub(crate) fn open_for_rewrite(&self, wait: Duration) -> Result<SqliteConnection, SqlError> {
        Self { busy_timeout: wait, ..self.clone() }.connect()
    }

    /// Opens a connection that cannot write.
    pub(crate) fn open_reader(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = self.connect()?;
        // A small cache, because each commit on another connection empties it.
        connection.batch_execute("PRAGMA query_only = ON; PRAGMA cache_size = -2048;")?;
        connection.set_instrumentation(spans());
        Ok(connection)
    }

    /// Opens a connection to an existing file, for checks and copies.
    pub(crate) fn open_existing(&self) -> Result<SqliteConnection, SqlError> {
        self.open_with_busy_timeout(&self.url_with("mode=rw"))
    }

    /// Opens a read-only connection to an existing file.
    pub(crate) fn open_existing_read_only(&self) -> Result<SqliteConnection, SqlError> {
        self.open_with_busy_timeout(&self.url_with("mode=ro"))
    }

    fn open_with_busy_timeout(&self, url: &str) -> Result<SqliteConnection, SqlError> {
        let mut connection = SqliteConnection::establish(url)?;
        connection.batch_execute(&format!("PRAGMA busy_timeout = {};", self.busy_timeout.as_millis()))?;
        Ok(connection)
    }

    fn connect(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = SqliteConnection::establish(&self.url())?;
        connection.batch_execute(&format!("PRAGMA busy_timeout = {};", self.busy_timeout.as_millis()))?;
        self.enable_wal(&mut connection)?;
        connection.batch_execute(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
        )?;
        Ok(connection)
    }

    /// Switches to the write-ahead log.
    ///
    /// SQLite ignores its busy timeout here when several processes open a new file at the same time, so this function
    /// waits itself.
    fn enable_wal(&self, connection: &mut SqliteConnection) -> Result<(), SqlError> {
        const PAUSE: Duration = Duration::from_millis(10);
        let mut left = self.busy_timeout;
        loop {
            let outcome = connection.batch_execute("PRAGMA journal_mode = WAL;");
            match left.checked_sub(PAUSE) {
                Some(rest) if outcome.as_ref().is_err_and(is_temporary) => left = rest,
                _ => return Ok(outcome?),
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns [`Self::url`] with a query parameter.
    pub(crate) fn url_with(&self, parameter: &str) -> String {
        format!("{}?{parameter}", self.url())
    }

    /// Returns the path as a `file:` URI. It is percent-encoded, so that no character of the path has a special
    /// meaning.
    fn url(&self) -> String {
        format!("file:{}", percent_encode(self.path.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC))
    }
}

fn spans() -> StatementSpans {
    StatementSpans::new("sqlite")
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::sql_types::Text;
    use diesel::{QueryableByName, RunQueryDsl};
    use std::sync::mpsc;

    #[derive(QueryableByName)]
    struct Setting {
        #[diesel(sql_type = Text)]
        value: String,
    }

    /// Returns the settings of a connection, as `pragma=value`.
    fn pragmas(connection: &mut SqliteConnection) -> Vec<String> {
        ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "busy_timeout", "query_only"]
            .map(|pragma| {
                let column = if pragma == "busy_timeout" { "timeout" } else { pragma };
                let query = format!("SELECT CAST({column} AS TEXT) AS value FROM pragma_{pragma}");
                let setting: Setting = diesel::sql_query(query).get_result(connection).unwrap();
                format!("{pragma}={}", setting.value)
            })
            .into()
    }

    fn connector(busy_timeout: Duration) -> (tempfile::TempDir, Connector) {
        let folder = tempfile::tempdir().unwrap();
        // Every character that has a special meaning in a URI.
        let connector = Connector::new(&folder.path().join("a ?b#c%41\u{e9}&.db"), busy_timeout);
        (folder, connector)
    }

    #[test]
    fn connections_are_durable_and_readers_cannot_write() {
        let (folder, connector) = connector(Duration::from_millis(1_234));
        let common = ["journal_mode=wal", "synchronous=2", "foreign_keys=1", "trusted_schema=0", "busy_timeout=1234"];
        assert_eq!(pragmas(&mut connector.open_writer().unwrap()), [&common[..], &["query_only=0"]].concat());
        let mut reading = connector.open_reader().unwrap();
        assert_eq!(pragmas(&mut reading), [&common[..], &["query_only=1"]].concat());
        assert!(reading.batch_execute("CREATE TABLE t (n)").is_err());
        assert!(folder.path().join("a ?b#c%41\u{e9}&.db").is_file());
    }

    #[test]
    fn opening_an_existing_file_creates_none_and_read_only_is_enforced() {
        let (folder, connector) = connector(Duration::from_millis(1_234));
        assert!(connector.open_existing().is_err() && connector.open_existing_read_only().is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(connector.open_writer().unwrap());
        let mut existing = connector.open_existing().unwrap();
        existing.batch_execute("CREATE TABLE t (n)").unwrap();
        let mut read_only = connector.open_existing_read_only().unwrap();
        assert!(read_only.batch_execute("SELECT n FROM t").is_ok());
        assert!(read_only.batch_execute("INSERT INTO t VALUES (1)").is_err());
        for connection in [&mut existing, &mut read_only] {
            assert!(pragmas(connection).contains(&"busy_timeout=1234".to_owned()));
        }
    }

    #[test]
    fn opening_waits_for_a_lock_up_to_the_busy_timeout() {
        let (_folder, impatient) = connector(Duration::from_millis(50));
        let patient = Connector { busy_timeout: Duration::from_secs(20), ..impatient.clone() };
        let mut elsewhere = SqliteConnection::establish(&impatient.url()).unwrap();
        elsewhere.batch_execute("CREATE TABLE t (n); BEGIN IMMEDIATE").unwrap();
        let error = impatient.open_writer().map(|_| ()).unwrap_err();
        assert!(matches!(error, SqlError::Query(ref error) if is_temporary(error)), "{error:?}");
        let (began, begun) = mpsc::channel();
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| {
                began.send(()).unwrap();
                patient.open_writer().map(|_| ())
            });
            begun.recv().unwrap();
            // Time for the thread to run into the lock. A slower thread would find the file unlocked.
            std::thread::sleep(Duration::from_millis(200));
            elsewhere.batch_execute("COMMIT").unwrap();
            opened.join().unwrap().unwrap();
        });
    }
}
