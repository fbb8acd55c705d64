//! How connections are made: every one with the same settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::errors::{SqlError, is_passing};

/// Makes connections to one file.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    path: PathBuf,
    busy_timeout: Duration,
}

impl Connector {
    pub(crate) fn new(path: &Path, busy_timeout: Duration) -> Self {
        Self { path: path.to_owned(), busy_timeout }
    }

    /// A connection that may write.
    pub(crate) fn writing(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = self.connect()?;
        // The log is folded back after some 4,000 pages, so that few commits pay for it.
        connection.batch_execute("PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;")?;
        Ok(connection)
    }

    /// A connection that cannot write, whatever it is asked.
    pub(crate) fn reading(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = self.connect()?;
        connection.batch_execute("PRAGMA query_only = ON;")?;
        Ok(connection)
    }

    /// A connection to a file that is there, for what is neither a unit of work nor a list.
    pub(crate) fn existing(&self) -> Result<SqliteConnection, SqlError> {
        self.patient(&self.url_with("mode=rw"))
    }

    /// A connection to a file that is there and is left as it is.
    pub(crate) fn looking(&self) -> Result<SqliteConnection, SqlError> {
        self.patient(&self.url_with("mode=ro"))
    }

    fn patient(&self, url: &str) -> Result<SqliteConnection, SqlError> {
        let mut connection = SqliteConnection::establish(url)?;
        connection.batch_execute(&format!("PRAGMA busy_timeout = {};", self.busy_timeout.as_millis()))?;
        Ok(connection)
    }

    fn connect(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = SqliteConnection::establish(&self.url())?;
        connection.batch_execute(&format!("PRAGMA busy_timeout = {};", self.busy_timeout.as_millis()))?;
        self.log_ahead(&mut connection)?;
        connection.batch_execute(
            "PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
        )?;
        Ok(connection)
    }

    /// Switches to the write-ahead log. SQLite does not wait for its busy timeout here when several
    /// processes open a new file at once, so that the waiting is done by hand.
    fn log_ahead(&self, connection: &mut SqliteConnection) -> Result<(), SqlError> {
        const PAUSE: Duration = Duration::from_millis(10);
        let mut left = self.busy_timeout;
        loop {
            match connection.batch_execute("PRAGMA journal_mode = WAL;") {
                Err(error) if is_passing(&error) && left > PAUSE => left -= PAUSE,
                settled => return Ok(settled?),
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// As [`Self::url`], with a parameter.
    pub(crate) fn url_with(&self, parameter: &str) -> String {
        format!("{}?{parameter}", self.url())
    }

    /// A `file:` URI, so that no character of the path has a meaning of its own.
    fn url(&self) -> String {
        let mut url = String::from("file:");
        for byte in self.path.as_os_str().as_encoded_bytes() {
            match byte {
                b'%' | b'?' | b'#' => url.push_str(&format!("%{byte:02X}")),
                0x20..=0x7e => url.push(char::from(*byte)),
                _ => url.push_str(&format!("%{byte:02X}")),
            }
        }
        url
    }
}
