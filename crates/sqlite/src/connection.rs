//! How connections are made: every one with the same settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use diesel::{Connection, SqliteConnection};

use crate::errors::SqlError;

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

    fn connect(&self) -> Result<SqliteConnection, SqlError> {
        let mut connection = SqliteConnection::establish(&self.url())?;
        // The busy timeout comes first: changing the journal mode may have to wait already.
        connection.batch_execute(&format!(
            "PRAGMA busy_timeout = {};
             PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA foreign_keys = ON;
             PRAGMA trusted_schema = OFF;
             PRAGMA cache_size = -8192;
             PRAGMA temp_store = MEMORY;",
            self.busy_timeout.as_millis()
        ))?;
        Ok(connection)
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
