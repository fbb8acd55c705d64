//! The pool of reading connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadpool::unmanaged::Pool;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::PoolStatus;
use roadmap_domain::trace;

use crate::connection::Connector;
use crate::errors::SqlError;

/// A fixed number of read-only connections.
#[derive(Clone)]
pub(crate) struct Readers {
    /// `None` is a connection that was not needed yet, or was dropped after a panic. The next read opens a new one.
    pool: Pool<Option<OpenReader>>,
    connector: Connector,
    open: Arc<AtomicUsize>,
    wait: Duration,
}

/// An open connection, counted until it is dropped.
struct OpenReader {
    connection: SqliteConnection,
    open: Arc<AtomicUsize>,
}

impl OpenReader {
    fn new(connector: &Connector, open: &Arc<AtomicUsize>) -> Result<Self, SqlError> {
        let connection = connector.open_reader()?;
        open.fetch_add(1, Ordering::SeqCst);
        Ok(Self { connection, open: Arc::clone(open) })
    }
}

impl Drop for OpenReader {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Readers {
    pub(crate) fn open(connector: &Connector, count: usize, wait: Duration) -> Result<Self, StoreError> {
        // One is opened now, so that a file that cannot be read is an error of the start. The others wait for their first
        // read: opening a connection parses the schema, which takes longer than anything else at the start.
        let mut connections: Vec<_> = (1..count).map(|_| None).collect();
        // Last, because the pool returns it first.
        let open = Arc::default();
        connections.push(Some(OpenReader::new(connector, &open)?));
        Ok(Self { pool: Pool::from(connections), connector: connector.clone(), open, wait })
    }

    /// Opens connections like these.
    pub(crate) fn connector(&self) -> Connector {
        self.connector.clone()
    }

    /// How long a read waits for a free connection.
    pub(crate) fn wait(&self) -> Duration {
        self.wait
    }

    /// Returns the pool status.
    pub(crate) fn status(&self) -> PoolStatus {
        let status = self.pool.status();
        let in_use = status.size.saturating_sub(status.available);
        let open = self.open.load(Ordering::SeqCst);
        PoolStatus { name: "read", limit: status.max_size, open, in_use, waiting: status.waiting }
    }

    /// Runs `work` on a connection, on a blocking thread. If the caller is cancelled, the work runs to its end and then
    /// returns its connection.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut pooled = match tokio::time::timeout(self.wait, self.pool.get()).await {
            Ok(connection) => connection.map_err(|error| StoreError::Fatal(error.into()))?,
            Err(elapsed) => return Err(StoreError::Unavailable(elapsed.into())),
        };
        let (connector, open) = (self.connector.clone(), Arc::clone(&self.open));
        let read = move || {
            // Taken out of the pool, so that a panic drops the connection: a transaction may be open on it.
            let mut reader = match pooled.take() {
                Some(reader) => reader,
                None => OpenReader::new(&connector, &open)?,
            };
            let outcome = work(&mut reader.connection);
            *pooled = Some(reader);
            outcome
        };
        let span = trace::current_span();
        let outcome = tokio::task::spawn_blocking(move || span.in_scope(read)).await;
        Ok(outcome.map_err(|panic| StoreError::Fatal(panic.into()))??)
    }

    /// As [`Self::run`], with all statements of `work` in one snapshot.
    pub(crate) async fn run_in_snapshot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(move |connection| {
            connection.batch_execute("BEGIN")?;
            let outcome = work(connection);
            // Nothing was written, so a rollback is as good as a commit.
            connection.batch_execute("ROLLBACK")?;
            outcome
        })
        .await
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use diesel::sql_types::BigInt;
    use diesel::{QueryableByName, RunQueryDsl};
    use std::sync::mpsc;
    use tokio::task::JoinHandle;

    /// Holds a connection until the sender is dropped, and then runs `query` on it.
    pub(crate) async fn hold<T: Send + 'static>(
        readers: &Readers,
        query: fn(&mut SqliteConnection) -> Result<T, SqlError>,
    ) -> (mpsc::Sender<()>, JoinHandle<Result<T, StoreError>>) {
        let (done, busy) = mpsc::channel();
        let (began, beginning) = tokio::sync::oneshot::channel();
        let readers = readers.clone();
        let held = tokio::spawn(async move {
            readers
                .run(move |connection| {
                    let _ = began.send(());
                    let _ = busy.recv();
                    query(connection)
                })
                .await
        });
        beginning.await.unwrap();
        (done, held)
    }

    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        count: i64,
    }

    fn readers(count: usize, wait: Duration) -> (tempfile::TempDir, Readers) {
        let folder = tempfile::tempdir().unwrap();
        let connector = Connector::new(&folder.path().join("test.db"), wait);
        connector.open_writer().unwrap().batch_execute("CREATE TABLE entries (id INTEGER)").unwrap();
        let readers = Readers::open(&connector, count, wait).unwrap();
        (folder, readers)
    }

    fn count(connection: &mut SqliteConnection) -> Result<i64, SqlError> {
        let count = diesel::sql_query("SELECT count(*) AS count FROM entries");
        Ok(count.get_result::<Count>(connection)?.count)
    }

    /// Decision 2: the wait for an exhausted pool has a limit.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_wait_for_a_connection_is_limited() {
        let (_folder, readers) = readers(1, Duration::from_millis(20));
        let (done, held) = hold(&readers, count).await;
        assert!(matches!(readers.run(count).await, Err(StoreError::Unavailable(_))));
        drop(done);
        assert_eq!(held.await.unwrap().unwrap(), 0);
        assert_eq!(readers.run(count).await.unwrap(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_read_that_fails_leaves_the_connection_usable() {
        let (_folder, readers) = readers(1, Duration::from_secs(5));
        let writes = |connection: &mut SqliteConnection| Ok(connection.batch_execute("DELETE FROM entries")?);
        assert!(matches!(readers.run_in_snapshot(writes).await, Err(StoreError::Unavailable(_))));
        assert_eq!(readers.run_in_snapshot(count).await.unwrap(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_status_counts_connections_once_they_are_open() {
        let (_folder, readers) = readers(3, Duration::from_secs(5));
        let status = |open, in_use| PoolStatus { name: "read", limit: 3, open, in_use, waiting: 0 };
        assert_eq!(readers.status(), status(1, 0));
        let (done, held) = hold(&readers, count).await;
        assert_eq!(readers.status(), status(1, 1));
        assert_eq!(readers.run(count).await.unwrap(), 0);
        assert_eq!(readers.status(), status(2, 1));
        drop(done);
        assert_eq!(held.await.unwrap().unwrap(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_panic_closes_its_connection_and_later_reads_get_a_new_one() {
        let (_folder, readers) = readers(1, Duration::from_secs(5));
        for _ in 0..2 {
            let panics = |_: &mut SqliteConnection| -> Result<(), SqlError> { panic!("planted") };
            let failed = readers.run_in_snapshot(panics).await;
            assert!(matches!(failed, Err(StoreError::Fatal(_))), "{failed:?}");
            assert_eq!(readers.run_in_snapshot(count).await.unwrap(), 0);
            let idle = PoolStatus { name: "read", limit: 1, open: 1, in_use: 0, waiting: 0 };
            assert_eq!(readers.status(), idle);
        }
    }
}
