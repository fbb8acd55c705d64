//! Copies committed pages from the write-ahead log into the database file, beside the connection that writes.
//!
//! The writing connection checkpoints as well, after a commit that finds 4,000 pages in the log (`connection.rs`). Alone,
//! that copies all of them and syncs the file, while every write waits. Here most of them are copied before, by another
//! connection, which blocks neither reads nor writes. But a log to which others write does not start anew, and without
//! the checkpoints of the writing connection it would grow forever.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use diesel::sql_types::Integer;
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::{ErrorChain, StoreError};

use crate::connection::Connector;
use crate::errors::SqlError;

/// Number of pages in the log from which a checkpoint is worth a sync of the database file.
const MIN_PAGES: i32 = 1_000;

/// How long the thread waits after a commit before it looks at the log, so that it looks once for many commits. A command
/// that ends before that opens no further connection.
const PAUSE: Duration = Duration::from_millis(20);

/// The same after a failure, so that a broken disk does not fill the log of the service.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// A thread that checkpoints. It ends when this value is dropped.
pub(crate) struct Checkpointer {
    /// `None` once the value is being dropped.
    commits: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The status of the log, as SQLite reports it.
#[derive(QueryableByName)]
struct Log {
    /// Pages in the log, or -1 without one.
    #[diesel(sql_type = Integer)]
    log: i32,
    /// How many of them are in the database file.
    #[diesel(sql_type = Integer)]
    checkpointed: i32,
}

impl Checkpointer {
    /// Starts the thread. It opens its connection when it looks at the log for the first time.
    pub(crate) fn start(connector: Connector) -> Result<Self, StoreError> {
        // One notification is enough: the thread looks at the log after it received it.
        let (commits, notifications) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("checkpointer".to_owned())
            .spawn(move || checkpoint_after_commits(&connector, &notifications))
            .map_err(|error| StoreError::Fatal(error.into()))?;
        Ok(Self { commits: Some(commits), thread: Some(thread) })
    }

    /// Notifies the thread of a commit.
    pub(crate) fn notify_commit(&self) {
        if let Some(commits) = &self.commits {
            // If it is full, the thread has yet to receive an earlier notification.
            let _ = commits.try_send(());
        }
    }
}

impl Drop for Checkpointer {
    /// Waits for the thread, so that no connection is left open.
    fn drop(&mut self) {
        self.commits = None;
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

fn checkpoint_after_commits(connector: &Connector, notifications: &Receiver<()>) {
    let (mut connection, mut pause) = (None, PAUSE);
    while notifications.recv().is_ok() {
        std::thread::park_timeout(pause);
        if notifications.try_recv() == Err(TryRecvError::Disconnected) {
            return;
        }
        pause = PAUSE;
        if let Err(error) = checkpoint(connector, &mut connection) {
            // The writing connection checkpoints instead.
            tracing::warn!(error = %ErrorChain::new(&StoreError::from(error)), "failed to checkpoint the write-ahead log");
            (connection, pause) = (None, PAUSE_AFTER_FAILURE);
        }
    }
}

/// Checkpoints if the log has enough pages that are not in the database file.
fn checkpoint(connector: &Connector, connection: &mut Option<SqliteConnection>) -> Result<(), SqlError> {
    let connection = match connection {
        Some(connection) => connection,
        None => connection.insert(connector.open_checkpointer()?),
    };
    let log: Log = diesel::sql_query("PRAGMA wal_checkpoint(NOOP)").get_result(connection)?;
    if log.log - log.checkpointed >= MIN_PAGES {
        diesel::sql_query("PRAGMA wal_checkpoint(PASSIVE)").execute(connection)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::connection::SimpleConnection;
    use std::time::Instant;

    const LIMIT: Duration = Duration::from_secs(10);

    fn log(connection: &mut SqliteConnection) -> Log {
        diesel::sql_query("PRAGMA wal_checkpoint(NOOP)").get_result(connection).unwrap()
    }

    /// A database whose log has this number of pages, and the connection that wrote them.
    fn written(pages: i32) -> (tempfile::TempDir, Connector, SqliteConnection) {
        let folder = tempfile::tempdir().unwrap();
        let connector = Connector::new(&folder.path().join("test.db"), LIMIT);
        let mut writer = connector.open_writer().unwrap();
        writer.batch_execute("CREATE TABLE entries (body BLOB)").unwrap();
        while log(&mut writer).log < pages {
            writer.batch_execute("INSERT INTO entries VALUES (zeroblob(4000))").unwrap();
        }
        (folder, connector, writer)
    }

    /// Waits until the thread has copied a log.
    fn wait_for_checkpoint(connection: &mut SqliteConnection) {
        let began = Instant::now();
        while log(connection).checkpointed < MIN_PAGES {
            assert!(began.elapsed() < LIMIT, "no checkpoint");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_long_log_is_copied_while_the_writing_connection_has_a_transaction_open() {
        let (_folder, connector, mut writer) = written(MIN_PAGES);
        writer.batch_execute("BEGIN IMMEDIATE; INSERT INTO entries VALUES (zeroblob(4000))").unwrap();
        let checkpointer = Checkpointer::start(connector.clone()).unwrap();
        checkpointer.notify_commit();
        wait_for_checkpoint(&mut connector.open_reader().unwrap());
        writer.batch_execute("COMMIT").unwrap();
    }

    #[test]
    fn a_short_log_is_left_alone() {
        let (_folder, connector, mut writer) = written(MIN_PAGES / 2);
        let mut connection = None;
        checkpoint(&connector, &mut connection).unwrap();
        assert_eq!(log(&mut writer).checkpointed, 0);
        // One more page than enough.
        while log(&mut writer).log <= MIN_PAGES {
            writer.batch_execute("INSERT INTO entries VALUES (zeroblob(4000))").unwrap();
        }
        checkpoint(&connector, &mut connection).unwrap();
        assert_eq!(log(&mut writer).checkpointed, log(&mut writer).log);
    }

    #[test]
    fn a_dropped_checkpointer_closes_its_connection() {
        let (folder, connector, mut writer) = written(MIN_PAGES);
        let checkpointer = Checkpointer::start(connector).unwrap();
        checkpointer.notify_commit();
        wait_for_checkpoint(&mut writer);
        drop(writer);
        drop(checkpointer);
        // The last connection that closes deletes the log.
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files, ["test.db"]);
    }

    #[test]
    fn a_connection_that_cannot_be_opened_is_opened_again_for_the_next_checkpoint() {
        let (folder, connector, mut writer) = written(MIN_PAGES);
        let mut connection = None;
        let missing = Connector::new(&folder.path().join("none/test.db"), LIMIT);
        assert!(checkpoint(&missing, &mut connection).is_err());
        checkpoint(&connector, &mut connection).unwrap();
        assert!(log(&mut writer).checkpointed >= MIN_PAGES);
    }
}
