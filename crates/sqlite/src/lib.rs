//! The embedded store: one SQLite file, reached through diesel.
//!
//! - One connection writes. Units of work have it one after the other, first come first served, and
//!   those that wait share one commit with the one before them (`writer.rs`).
//! - A few connections read, each in a snapshot of its own (write-ahead log).
//! - What is committed is on the disk: `synchronous = FULL`.
//!
//! Not here: any decision. What two stores would both decide belongs to the domain.
//!
//! Invariant: every statement about a workspace's rows has its `workspace_id` in it.

mod codec;
mod connection;
mod copy;
mod errors;
mod examine;
#[cfg(test)]
mod fixtures;
mod migrate;
mod outbox_queue;
mod readers;
mod reads;
mod rows;
mod schema;
mod statement;
mod unit;
mod usage;
mod writer;
mod writes;

use std::path::PathBuf;
use std::time::Duration;

use diesel::SqliteConnection;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::{ConnectionPools, PoolStatus};

pub use copy::{ExclusiveLock, StoredFile, copy_to, integrity_errors, lock_exclusively, stored_files};
pub use examine::{check_writable, missing_migrations, newest_timestamp};
pub use migrate::{pending_migrations, revert_all, run as migrate};

use crate::connection::Connector;
use crate::errors::SqlError;
use crate::readers::Readers;
use crate::writer::Writer;

/// Where the file is and how patient the store is.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// The database file; created when it does not exist, in a folder that must.
    pub path: PathBuf,
    /// How many connections read.
    pub readers: usize,
    /// How long a unit waits for its turn, and for another process that writes to the file.
    pub write_wait: Duration,
    /// How long a read waits for a free connection.
    pub read_wait: Duration,
    /// How long one look into the search index may take.
    pub search_time: Duration,
}

impl SqliteOptions {
    /// The defaults for a file: 4 readers, 5 seconds for a write, 2 seconds for a read and for a search.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 4,
            write_wait: Duration::from_secs(5),
            read_wait: Duration::from_secs(2),
            search_time: Duration::from_secs(2),
        }
    }
}

/// The store. Clones share its connections.
#[derive(Clone)]
pub struct SqliteStore {
    writer: Writer,
    readers: Readers,
    search_time: Duration,
}

impl ConnectionPools for SqliteStore {
    fn pools(&self) -> Vec<PoolStatus> {
        vec![self.readers.status(), self.writer.status()]
    }
}

impl SqliteStore {
    /// Opens the file, whose schema must be up to date ([`migrate()`]).
    ///
    /// # Errors
    /// The file cannot be opened as a database.
    pub fn open(options: &SqliteOptions) -> Result<Self, StoreError> {
        let connector = Connector::new(&options.path, options.write_wait);
        Ok(Self {
            writer: Writer::open(connector.clone(), options.write_wait)?,
            readers: Readers::open(&connector, options.readers, options.read_wait)?,
            search_time: options.search_time,
        })
    }

    /// Runs `work` in a unit of its own, outside of any command.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (guard, outcome) = self.writer.begin(work).await?;
        self.writer.commit(guard, |_| Ok(())).await?;
        Ok(outcome)
    }
}
