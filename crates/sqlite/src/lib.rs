//! The embedded store: one SQLite file, accessed through diesel.
//!
//! - One connection writes. Units of work use it one at a time, in FIFO order. Units that wait share a commit with the
//!   unit before them (`writer.rs`).
//! - A few connections read, each in its own snapshot (write-ahead log).
//! - A committed transaction is on the disk: `synchronous = FULL`.
//! - Another thread copies committed pages from the log into the database file (`checkpointer.rs`).
//!
//! Not here: business rules. A rule that both stores would need belongs to the domain.
//!
//! Invariant: every statement on the rows of a workspace contains its `workspace_id`.

mod audience;
mod checkpointer;
mod codec;
mod connection;
mod copy;
mod deletions;
mod errors;
mod examine;
#[cfg(test)]
mod fixtures;
mod migrate;
mod missed_searches;
mod moving;
mod outbox_queue;
mod pictures;
#[cfg(test)]
mod plans;
mod portal_settings;
mod readers;
mod reads;
mod records;
mod rows;
mod schema;
mod search_documents;
mod statement;
mod trees;
mod unit;
mod usage;
mod webhook_queue;
mod writer;
mod writes;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use diesel::SqliteConnection;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::{ConnectionPools, PoolStatus};

pub use copy::{ExclusiveLock, StoredFile, copy_to, integrity_errors, lock_exclusively, stored_files};
pub use examine::{check_writable, has_been_served, missing_migrations, newest_timestamp, unknown_migrations};
pub use migrate::{pending_migrations, revert_all, run as migrate};
pub use moving::MoveSource;

use crate::checkpointer::Checkpointer;
use crate::connection::Connector;
use crate::errors::SqlError;
use crate::readers::Readers;
use crate::reads::search::CommonExpressions;
use crate::writer::Writer;

/// The path of the database file, the number of connections and the time limits.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The path of the database file. The file is created if it does not exist; its folder must exist.
    pub path: PathBuf,
    /// The number of connections that read.
    pub readers: usize,
    /// How long a unit of work waits for the writing connection, and for the lock of another process on the file.
    pub write_wait: Duration,
    /// How long a read waits for a free connection.
    pub read_wait: Duration,
    /// The time limit of one lookup in the search index.
    pub search_time: Duration,
    /// Most memory for pages of the writing connection, in KiB. With more than its indexes have, many rows in any order are
    /// written without reading pages again and again, and a transaction without writing them before its end.
    pub write_cache: u32,
}

impl SqliteOptions {
    /// The default of [`Self::write_cache`].
    pub const WRITE_CACHE: u32 = 8 * 1024;

    /// Returns the default options for a file: 4 readers, 5 seconds for a write, 2 seconds for a read and for a search, 8 MiB
    /// of pages.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 4,
            write_wait: Duration::from_secs(5),
            read_wait: Duration::from_secs(2),
            search_time: Duration::from_secs(2),
            write_cache: Self::WRITE_CACHE,
        }
    }
}

/// The SQLite store. Clones share its connections.
#[derive(Clone)]
pub struct SqliteStore {
    connector: Connector,
    writer: Writer,
    readers: Readers,
    search_time: Duration,
    common_expressions: Arc<CommonExpressions>,
}

impl ConnectionPools for SqliteStore {
    fn pools(&self) -> Vec<PoolStatus> {
        vec![self.readers.status(), self.writer.status()]
    }
}

impl SqliteStore {
    /// Opens the database file. Its schema must be up to date ([`migrate()`]).
    ///
    /// # Errors
    /// The file cannot be opened as a database.
    pub fn open(options: &SqliteOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(&options.path, options.write_wait).with_write_cache(options.write_cache);
        let checkpointer = Checkpointer::start(connector.clone())?;
        let on_commit = move || checkpointer.notify_commit();
        Ok(Self {
            writer: Writer::open(connector.clone(), options.write_wait, on_commit)?,
            readers: Readers::open(&connector, options.readers, options.read_wait)?,
            connector,
            search_time: options.search_time,
            common_expressions: Arc::default(),
        })
    }

    /// Runs `work` in its own unit of work, outside of any command.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (guard, outcome) = self.writer.begin(work).await?;
        self.writer.commit(guard, |_| Ok(())).await?;
        Ok(outcome)
    }
}
