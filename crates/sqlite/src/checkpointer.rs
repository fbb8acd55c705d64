//! Copies committed pages from the write-ahead log into the database file, beside the connection that writes.
//!
//! The writing connection checkpoints as well, after a commit that finds 4,000 pages in the log (`connection.rs`). Alone,
//! that copies all of them and syncs the file, while every write waits. Here most of them are copied before, by another
//! connection, which blocks neither reads nor writes. But a log to which others write does not start anew, and without
//! the checkpoints of the writing connection it would grow forever.
//!
//! SQLite syncs the database file only when a checkpoint reaches the end of the log. While others write, that is one of the
//! writing connection. So the thread syncs the file itself, and leaves few pages to that sync. If a sync fails, the process
//! ends: the system drops pages that it could not write and reports it only once, but SQLite counts them as copied. The
//! log still has them, and the next process that opens the database copies all of it again.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use diesel::sql_types::Integer;
use diesel::{QueryableByName, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::{ErrorChain, StoreError};

use crate::connection::Connector;
use crate::errors::SqlError;

/// Number of pages in the log from which they are copied. A page that is written again before that is copied once.
const MIN_PAGES: i32 = 250;

/// How long the thread waits after a commit before it looks at the log, so that it looks once for many commits. A command
/// that ends before that opens no further connection.
const PAUSE: Duration = Duration::from_millis(20);

/// The same after a failure, so that a broken disk does not fill the log of the service.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(10);

/// A thread that checkpoints. It ends when this value is dropped.
pub(crate) struct Checkpointer {
    /// `None` once the value is being dropped.
    senders: Option<Senders>,
    thread: Option<JoinHandle<()>>,
}

struct Senders {
    commits: SyncSender<()>,
    /// Only dropped, which ends a pause.
    _stop: Sender<()>,
}

struct Receivers {
    commits: Receiver<()>,
    stop: Receiver<()>,
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
        Self::start_with(connector, PAUSE)
    }

    fn start_with(connector: Connector, pause: Duration) -> Result<Self, StoreError> {
        // One notification is enough: the thread looks at the log after it received it.
        let (commits, notifications) = sync_channel(1);
        let (_stop, stop) = channel();
        let receivers = Receivers { commits: notifications, stop };
        let thread = std::thread::Builder::new()
            .name("checkpointer".to_owned())
            .spawn(move || checkpoint_after_commits(&connector, &receivers, pause))
            .map_err(|error| StoreError::Fatal(error.into()))?;
        Ok(Self { senders: Some(Senders { commits, _stop }), thread: Some(thread) })
    }

    /// Notifies the thread of a commit.
    pub(crate) fn notify_commit(&self) {
        if let Some(senders) = &self.senders {
            // If it is full, the thread has yet to receive an earlier notification.
            let _ = senders.commits.try_send(());
        }
    }
}

impl Drop for Checkpointer {
    /// Waits for the thread, so that no connection is left open.
    fn drop(&mut self) {
        self.senders = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn checkpoint_after_commits(connector: &Connector, receivers: &Receivers, pause: Duration) {
    let (mut open, mut next_pause) = (Open::default(), pause);
    while receivers.commits.recv().is_ok() {
        if receivers.stop.recv_timeout(next_pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        next_pause = pause;
        // Commits during the pause need no further look.
        let _ = receivers.commits.try_recv();
        match checkpoint(connector, &mut open) {
            Ok(None) => {}
            Ok(Some(lost)) => {
                tracing::error!(
                    error = %lost,
                    "the disk failed to store pages of the database; the process ends, so that its next start takes them \
                     from the write-ahead log"
                );
                std::process::exit(1);
            }
            Err(error) => {
                // The writing connection checkpoints instead.
                let error = StoreError::from(error);
                tracing::warn!(error = %ErrorChain::new(&error), "failed to checkpoint the write-ahead log");
                (open.connection, next_pause) = (None, PAUSE_AFTER_FAILURE);
            }
        }
    }
}

/// What the thread has open.
#[derive(Default)]
struct Open {
    connection: Option<SqliteConnection>,
    /// The database file. It is never closed: that would drop all locks of the process on it (fcntl(2)), which its
    /// connections to the database need.
    file: Option<ManuallyDrop<File>>,
}

/// Checkpoints if the log has enough pages that are not in the database file. Returns the error of a failed sync.
fn checkpoint(connector: &Connector, open: &mut Open) -> Result<Option<std::io::Error>, SqlError> {
    let connection = match &mut open.connection {
        Some(connection) => connection,
        none => none.insert(connector.open_checkpointer()?),
    };
    // Before the first checkpoint: a failure is reported to files that were open at the time.
    let file = match &open.file {
        Some(file) => file,
        None => open.file.insert(ManuallyDrop::new(connector.open_file()?)),
    };
    let log: Log = diesel::sql_query("PRAGMA wal_checkpoint(NOOP)").get_result(connection)?;
    if log.log - log.checkpointed < MIN_PAGES {
        return Ok(None);
    }
    let copied = diesel::sql_query("PRAGMA wal_checkpoint(PASSIVE)").execute(connection);
    // After a failed checkpoint as well, which may be a failed sync of SQLite's own.
    if let Err(lost) = file.sync_data() {
        return Ok(Some(lost));
    }
    copied?;
    Ok(None)
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
    fn database_with_log(pages: i32) -> (tempfile::TempDir, Connector, SqliteConnection) {
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
        let (_folder, connector, mut writer) = database_with_log(MIN_PAGES);
        writer.batch_execute("BEGIN IMMEDIATE; INSERT INTO entries VALUES (zeroblob(4000))").unwrap();
        let checkpointer = Checkpointer::start(connector.clone()).unwrap();
        checkpointer.notify_commit();
        wait_for_checkpoint(&mut connector.open_reader().unwrap());
        writer.batch_execute("COMMIT").unwrap();
    }

    #[test]
    fn a_short_log_is_left_alone() {
        let (_folder, connector, mut writer) = database_with_log(MIN_PAGES / 2);
        let mut open = Open::default();
        assert!(checkpoint(&connector, &mut open).unwrap().is_none());
        assert_eq!(log(&mut writer).checkpointed, 0);
        // One more page than enough.
        while log(&mut writer).log <= MIN_PAGES {
            writer.batch_execute("INSERT INTO entries VALUES (zeroblob(4000))").unwrap();
        }
        assert!(checkpoint(&connector, &mut open).unwrap().is_none());
        assert_eq!(log(&mut writer).checkpointed, log(&mut writer).log);
    }

    #[test]
    fn a_dropped_checkpointer_closes_its_connection() {
        let (folder, connector, mut writer) = database_with_log(MIN_PAGES);
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
    fn a_dropped_checkpointer_ends_its_pause_and_looks_at_no_log() {
        let (_folder, connector, mut writer) = database_with_log(MIN_PAGES);
        let checkpointer = Checkpointer::start_with(connector, Duration::from_secs(3_600)).unwrap();
        checkpointer.notify_commit();
        checkpointer.notify_commit();
        let (dropped, is_dropped) = channel();
        std::thread::spawn(move || {
            drop(checkpointer);
            dropped.send(()).unwrap();
        });
        is_dropped.recv_timeout(LIMIT).unwrap();
        assert_eq!(log(&mut writer).checkpointed, 0);
    }

    #[test]
    fn a_connection_that_cannot_be_opened_is_opened_again_for_the_next_checkpoint() {
        let (folder, connector, mut writer) = database_with_log(MIN_PAGES);
        let mut open = Open::default();
        let missing = Connector::new(&folder.path().join("none/test.db"), LIMIT);
        assert!(checkpoint(&missing, &mut open).is_err());
        assert!(checkpoint(&connector, &mut open).unwrap().is_none());
        assert!(log(&mut writer).checkpointed >= MIN_PAGES);
    }
}
