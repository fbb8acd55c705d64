//! The writing connection: which unit of work uses it, and which units share a commit.
//!
//! Units use the connection one at a time, in FIFO order. The first one begins a transaction. If other units wait when it
//! ends, it leaves the transaction open and queues behind them. They are savepoints in the same transaction, and the first
//! ended unit that gets the connection again commits for all. So under load many units share one `fsync`, and a unit
//! without waiters commits at once. No unit reports success before its transaction is on the disk.
//!
//! The first unit has no savepoint, because one costs a copy of each page that it changes, and is rolled back with its
//! transaction.
//!
//! A caller may be cancelled at each `.await`, and a unit may panic. In both cases the unit is ended on a blocking
//! thread as well. `writer/model.rs` tests all orders of these events.

mod environment;
#[cfg(test)]
mod model;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diesel::connection::SimpleConnection;
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::ports::PoolStatus;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use crate::connection::Connector;
use crate::errors::{SqlError, is_outcome_unknown};
use environment::Environment;
#[cfg(test)]
use environment::PlantedFault;

/// Grants the writing connection to one unit at a time.
#[derive(Clone)]
pub(crate) struct Writer<E: Environment = Connector> {
    environment: E,
    state: Arc<Mutex<WriterState<E>>>,
    waiting: Arc<AtomicUsize>,
    wait: Duration,
}

/// The writing connection and the transaction that is open on it.
struct WriterState<E: Environment> {
    environment: E,
    connection: Option<E::Connection>,
    /// Notifies the units of the open transaction; `None` without one.
    group: Option<watch::Sender<CommitState>>,
    /// Called after each commit. Must not block.
    on_commit: Box<dyn Fn() + Send>,
}

/// The state of a group's transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CommitState {
    Pending,
    Committed,
    /// The `COMMIT` failed; a later one may succeed.
    Failed(String),
    /// It was rolled back because another unit of the group failed.
    RolledBack(String),
    /// The disk failed during the `COMMIT`; the transaction may be durable.
    Unknown(String),
}

impl CommitState {
    /// Returns the result of a unit of the group. Only here does a failed `COMMIT` become an error.
    fn result(&self) -> Result<(), StoreError> {
        match self {
            Self::Committed => Ok(()),
            Self::Failed(cause) => Err(StoreError::Unavailable(cause.clone().into())),
            Self::RolledBack(cause) => Err(StoreError::Transient(cause.clone().into())),
            Self::Unknown(cause) => Err(StoreError::OutcomeUnknown(cause.clone().into())),
            Self::Pending => Err(StoreError::Fatal("a transaction was left without an end".into())),
        }
    }
}

impl<E: Environment> Writer<E> {
    /// Opens the connection. `on_commit` is called after each commit, and must not block.
    pub(crate) fn open(
        environment: E,
        wait: Duration,
        on_commit: impl Fn() + Send + 'static,
    ) -> Result<Self, StoreError> {
        let connection = Some(environment.connect()?);
        let on_commit = Box::new(on_commit);
        let state = WriterState { environment: environment.clone(), connection, group: None, on_commit };
        Ok(Self { environment, state: Arc::new(Mutex::new(state)), waiting: Arc::default(), wait })
    }

    /// Returns the status, as that of a pool of one connection.
    pub(crate) fn status(&self) -> PoolStatus {
        let in_use = usize::from(self.state.try_lock().is_err());
        PoolStatus { name: "write", limit: 1, open: 1, in_use, waiting: self.waiting.load(Ordering::SeqCst) }
    }

    /// Waits for the connection, opens a unit on it and runs `first` in the unit.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        first: impl FnOnce(&mut E::Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(WriteGuard<E>, T), StoreError> {
        let state = self.lock().await?;
        let begin = move || {
            let mut unit = Unit { state, is_open: false, is_first: false };
            unit.open()?;
            let outcome = first(unit.state.connection()?)?;
            Ok::<_, SqlError>((WriteGuard::new(unit), outcome))
        };
        Ok(self.environment.run_blocking(begin).await??)
    }

    async fn lock(&self) -> Result<OwnedMutexGuard<WriterState<E>>, StoreError> {
        let _waiter = WaiterGuard::new(&self.waiting);
        tokio::select! {
            biased;
            state = Arc::clone(&self.state).lock_owned() => Ok(state),
            () = self.environment.sleep(self.wait) => {
                Err(StoreError::Unavailable(format!("the writing connection was busy for {:?}", self.wait).into()))
            }
        }
    }

    /// Runs `last` in the unit, ends it, and waits until its writes and those that it has seen of earlier units are
    /// durable.
    pub(crate) async fn commit(
        &self,
        guard: WriteGuard<E>,
        last: impl FnOnce(&mut E::Connection) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.finish(guard, true, last).await
    }

    /// Rolls the unit back and waits until the writes that it has seen of earlier units are durable.
    pub(crate) async fn roll_back(&self, guard: WriteGuard<E>) -> Result<(), StoreError> {
        self.finish(guard, false, |_| Ok(())).await
    }

    async fn finish(
        &self,
        guard: WriteGuard<E>,
        keep: bool,
        last: impl FnOnce(&mut E::Connection) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let mut unit = guard.into_unit()?;
        let writer = self.clone();
        let finish = move || {
            last(unit.state.connection()?)?;
            let commit_state = unit.end(keep)?;
            // No other unit waits: commit at once. A lost transaction has no group any more.
            if unit.state.group.is_some() && writer.waiting.load(Ordering::SeqCst) == 0 {
                unit.state.commit();
            }
            // Created here, so that it exists even if the caller was cancelled.
            Ok::<_, SqlError>(PendingCommit { writer, commit_state })
        };
        let mut pending = self.environment.run_blocking(finish).await??;
        self.wait_for_commit(&mut pending.commit_state).await
    }

    /// Waits until another unit commits the group, or commits it after getting the connection.
    async fn wait_for_commit(&self, commit_state: &mut watch::Receiver<CommitState>) -> Result<(), StoreError> {
        if *commit_state.borrow() == CommitState::Pending {
            tokio::select! {
                biased;
                // An error means that the sender was dropped. Its last value is still available.
                _ = commit_state.changed() => {}
                mut state = Arc::clone(&self.state).lock_owned() => {
                    if *commit_state.borrow() == CommitState::Pending {
                        self.environment.run_blocking(move || state.commit()).await?;
                    }
                }
            }
        }
        commit_state.borrow().result()
    }
}

/// Counts a waiter for the connection until it is dropped.
struct WaiterGuard<'a>(&'a AtomicUsize);

impl<'a> WaiterGuard<'a> {
    fn new(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// An ended unit whose group may not be committed yet.
///
/// If its caller is cancelled before the commit, a task waits instead. Otherwise the transaction would stay open until
/// the next unit.
struct PendingCommit<E: Environment> {
    writer: Writer<E>,
    commit_state: watch::Receiver<CommitState>,
}

impl<E: Environment> Drop for PendingCommit<E> {
    fn drop(&mut self) {
        if *self.commit_state.borrow() != CommitState::Pending {
            return;
        }
        #[cfg(test)]
        if self.writer.environment.planted_fault() == Some(PlantedFault::SkipPendingCommit) {
            return;
        }
        let (writer, mut commit_state) = (self.writer.clone(), self.commit_state.clone());
        self.writer.environment.spawn(async move {
            if let Err(error) = writer.wait_for_commit(&mut commit_state).await {
                tracing::warn!(error = %ErrorChain::new(&error), "the unit of work of a cancelled caller was not committed");
            }
        });
    }
}

/// Exclusive use of the connection, and the unit that is open on it. Dropping it rolls the unit back on a blocking
/// thread.
pub(crate) struct WriteGuard<E: Environment = Connector> {
    /// `None` once the unit has moved to a blocking thread.
    unit: Option<Unit<E>>,
}

impl<E: Environment> WriteGuard<E> {
    fn new(unit: Unit<E>) -> Self {
        Self { unit: Some(unit) }
    }

    fn into_unit(mut self) -> Result<Unit<E>, StoreError> {
        self.unit.take().ok_or_else(|| StoreError::Fatal("the unit has ended".into()))
    }

    /// Runs `work` in the unit, on a blocking thread. If the caller is cancelled meanwhile, the unit is rolled back
    /// after the work, not before.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut E::Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(Self, Result<T, StoreError>), StoreError> {
        let mut unit = self.into_unit()?;
        let environment = unit.state.environment.clone();
        let run = move || match unit.state.connection().and_then(work) {
            Err(error) if unit.is_lost() => Err(error.into()),
            outcome => Ok((Self::new(unit), outcome.map_err(StoreError::from))),
        };
        environment.run_blocking(run).await?
    }
}

impl<E: Environment> Drop for WriteGuard<E> {
    fn drop(&mut self) {
        let Some(unit) = self.unit.take() else { return };
        let environment = unit.state.environment.clone();
        #[cfg(test)]
        if environment.planted_fault() == Some(PlantedFault::RollBackOnAsyncThread) {
            return drop(unit);
        }
        environment.spawn_blocking(move || drop(unit));
    }
}

/// The unit that is open on the connection. Dropping it rolls it back, so it is used on blocking threads only.
struct Unit<E: Environment> {
    state: OwnedMutexGuard<WriterState<E>>,
    is_open: bool,
    /// Whether the unit began the transaction, so that it has seen durable data only.
    is_first: bool,
}

impl<E: Environment> Unit<E> {
    fn open(&mut self) -> Result<(), SqlError> {
        let state = &mut *self.state;
        self.is_first = state.group.is_none();
        let connection = state.connection()?;
        if self.is_first {
            connection.batch_execute("BEGIN IMMEDIATE")?;
            state.group = Some(watch::Sender::new(CommitState::Pending));
            self.is_open = true;
        } else {
            self.is_open = true;
            connection.batch_execute("SAVEPOINT unit")?;
        }
        Ok(())
    }

    /// Whether SQLite has rolled back the whole transaction, as it does after some failures, such as a full disk. Each
    /// further statement would be a transaction of its own, so the unit is over.
    fn is_lost(&mut self) -> bool {
        // In a transaction this fails and has no effect.
        let is_lost = self.state.connection().is_ok_and(|connection| connection.batch_execute("BEGIN").is_ok());
        if is_lost {
            self.is_open = false;
            self.state.discard_connection(CommitState::RolledBack("a unit has lost the transaction".to_owned()));
        }
        is_lost
    }

    /// Ends the unit and returns a receiver for the state of its transaction.
    fn end(&mut self, keep: bool) -> Result<watch::Receiver<CommitState>, SqlError> {
        self.is_open = false;
        let state = &mut *self.state;
        let mut execute = |sql| state.connection().and_then(|connection| Ok(connection.batch_execute(sql)?));
        let ended = match (self.is_first, keep) {
            // There is no savepoint to release.
            (true, true) => Ok(()),
            (true, false) => execute("ROLLBACK"),
            (false, true) => execute("RELEASE unit"),
            (false, false) => execute("ROLLBACK TO unit; RELEASE unit"),
        };
        if let Err(error) = ended {
            // The transaction is lost, including the savepoint. Start over with a new connection.
            let lost = CommitState::RolledBack(error.to_string());
            state.discard_connection(lost.clone());
            // The unit itself is rolled back, as requested. But the writes of earlier units are lost as well. If it may
            // have seen them, it must not report success.
            let end = if self.is_first { CommitState::Committed } else { lost };
            return if keep { Err(error) } else { Ok(watch::Sender::new(end).subscribe()) };
        }
        if self.is_first && !keep {
            // The transaction was its own.
            state.notify_group(CommitState::RolledBack("its only unit was rolled back".to_owned()));
            return Ok(watch::Sender::new(CommitState::Committed).subscribe());
        }
        match &state.group {
            Some(group) => Ok(group.subscribe()),
            None => Err(StoreError::Fatal("a unit was outside of a transaction".into()).into()),
        }
    }
}

impl<E: Environment> Drop for Unit<E> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        #[cfg(test)]
        if self.state.environment.planted_fault() == Some(PlantedFault::SkipRollback) {
            return;
        }
        match self.end(false) {
            // There may be no waiter for this transaction: do not leave it open.
            Ok(_) if self.state.group.is_some() => self.state.commit(),
            _ => {}
        }
    }
}

impl<E: Environment> WriterState<E> {
    /// Returns the connection, and opens a new one if it was discarded.
    fn connection(&mut self) -> Result<&mut E::Connection, SqlError> {
        if self.connection.is_none() {
            self.connection = Some(self.environment.connect()?);
        }
        self.connection.as_mut().ok_or_else(|| StoreError::Fatal("the writing connection is gone".into()).into())
    }

    /// Commits the open transaction and notifies its units.
    fn commit(&mut self) {
        #[cfg(test)]
        if self.environment.planted_fault() == Some(PlantedFault::NotifyBeforeCommit) {
            self.notify_group(CommitState::Committed);
        }
        let outcome = self.connection().and_then(|connection| Ok(connection.batch_execute("COMMIT")?));
        match outcome {
            Ok(()) => {
                self.notify_group(CommitState::Committed);
                (self.on_commit)();
            }
            Err(error) if is_outcome_unknown(&error) => {
                self.discard_connection(CommitState::Unknown(error.to_string()))
            }
            Err(error) => self.discard_connection(CommitState::Failed(error.to_string())),
        }
    }

    /// Closes the connection, which rolls back its open transaction, and notifies the units.
    fn discard_connection(&mut self, end: CommitState) {
        self.connection = None;
        self.notify_group(end);
    }

    fn notify_group(&mut self, end: CommitState) {
        if let Some(group) = self.group.take() {
            group.send_replace(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::SqliteConnection;
    use diesel::connection::InstrumentationEvent;
    use diesel::sql_types::BigInt;
    use diesel::{Connection, QueryableByName, RunQueryDsl};
    use std::thread::ThreadId;
    use tempfile::TempDir;
    use tokio::task::JoinHandle;

    const LIMIT: Duration = Duration::from_secs(10);

    struct Fixture {
        writer: Writer,
        connector: Connector,
        folder: TempDir,
    }

    #[derive(QueryableByName)]
    struct Count {
        #[diesel(sql_type = BigInt)]
        count: i64,
    }

    impl Fixture {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let connector = Connector::new(&folder.path().join("test.db"), LIMIT);
            let schema =
                "CREATE TABLE entries (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES entries (id), body BLOB)";
            connector.open_writer().unwrap().batch_execute(schema).unwrap();
            Self { writer: Writer::open(connector.clone(), LIMIT, || ()).unwrap(), connector, folder }
        }

        /// Returns the number of rows that another connection sees.
        fn durable(&self) -> i64 {
            let count = diesel::sql_query("SELECT count(*) AS count FROM entries");
            count.get_result::<Count>(&mut self.connector.open_reader().unwrap()).unwrap().count
        }

        /// Begins a unit and runs these statements in it.
        async fn unit(&self, sql: &'static str) -> WriteGuard {
            self.writer.begin(run(sql)).await.unwrap().0
        }

        fn commit(&self, guard: WriteGuard) -> JoinHandle<Result<(), StoreError>> {
            let writer = self.writer.clone();
            tokio::spawn(async move { writer.commit(guard, |_| Ok(())).await })
        }

        /// Starts a unit that waits for the connection and then runs these statements.
        async fn waiting_unit(&self, sql: &'static str) -> JoinHandle<WriteGuard> {
            let (writer, before) = (self.writer.clone(), self.writer.waiting.load(Ordering::SeqCst));
            let waiting = tokio::spawn(async move { writer.begin(run(sql)).await.unwrap().0 });
            self.until(|| self.writer.waiting.load(Ordering::SeqCst) > before).await;
            waiting
        }

        /// Returns the pending commit of an ended unit, and the guard of a second unit that is open in the same
        /// transaction.
        async fn shared_transaction(&self) -> (JoinHandle<Result<(), StoreError>>, WriteGuard) {
            self.shared_transaction_after(INSERT).await
        }

        /// As [`Self::shared_transaction`], with the statements of the first unit.
        async fn shared_transaction_after(
            &self,
            sql: &'static str,
        ) -> (JoinHandle<Result<(), StoreError>>, WriteGuard) {
            let first = self.unit(sql).await;
            let waiting = self.waiting_unit(INSERT).await;
            let first = self.commit(first);
            (first, waiting.await.unwrap())
        }

        async fn until(&self, mut condition: impl FnMut() -> bool) {
            let patient = async {
                while !condition() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(LIMIT, patient).await.expect("the condition is not met");
        }
    }

    impl WriteGuard {
        fn connection(&mut self) -> &mut SqliteConnection {
            self.unit.as_mut().unwrap().state.connection().unwrap()
        }
    }

    const INSERT: &str = "INSERT INTO entries (body) VALUES ('x')";

    /// A violated foreign key that SQLite checks at the commit.
    const ORPHAN: &str = "PRAGMA defer_foreign_keys = ON; INSERT INTO entries (parent) VALUES (99)";

    fn run(sql: &'static str) -> impl FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static {
        move |connection| Ok(connection.batch_execute(sql)?)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_without_waiters_commits_at_once() {
        let fixture = Fixture::new();
        let guard = fixture.unit(INSERT).await;
        assert_eq!(fixture.durable(), 0);
        fixture.commit(guard).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
        let guard = fixture.unit(INSERT).await;
        fixture.writer.roll_back(guard).await.unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn units_share_a_commit_and_none_finishes_before_it() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_transaction().await;
        assert_eq!(fixture.durable(), 0);
        assert!(!first.is_finished());
        fixture.commit(second).await.unwrap().unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_rolled_back_or_dropped_unit_does_not_affect_its_group() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_transaction().await;
        fixture.writer.roll_back(second).await.unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
        let (third, dropped) = fixture.shared_transaction().await;
        drop(dropped);
        third.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_unit_releases_the_lock_on_the_file() {
        let fixture = Fixture::new();
        let impatient = Connector::new(&fixture.folder.path().join("test.db"), Duration::from_millis(20));
        let mut elsewhere = impatient.open_writer().unwrap();
        let guard = fixture.unit(INSERT).await;
        assert!(elsewhere.batch_execute(INSERT).is_err());
        drop(guard);
        fixture.until(|| elsewhere.batch_execute(INSERT).is_ok()).await;
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_finished_unit_is_committed_after_its_caller_is_cancelled() {
        let fixture = Fixture::new();
        // It left the commit to a waiter that was cancelled meanwhile.
        let guard = fixture.unit(INSERT).await;
        let mut unit = guard.into_unit().unwrap();
        let commit_state = unit.end(true).unwrap();
        drop(unit);
        let pending = PendingCommit { writer: fixture.writer.clone(), commit_state };
        assert_eq!(fixture.durable(), 0);
        drop(pending);
        fixture.until(|| fixture.durable() == 1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn when_a_commit_fails_all_of_its_units_fail_and_the_next_one_works() {
        let fixture = Fixture::new();
        let (first, mut second) = fixture.shared_transaction().await;
        second.connection().batch_execute(ORPHAN).unwrap();
        let second = fixture.commit(second).await.unwrap();
        assert!(matches!(second, Err(StoreError::Unavailable(_))), "{second:?}");
        let first = first.await.unwrap();
        assert!(matches!(first, Err(StoreError::Unavailable(_))), "{first:?}");
        assert_eq!(fixture.durable(), 0);
        let next = fixture.unit(INSERT).await;
        fixture.commit(next).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_rollback_fails_when_the_data_that_the_unit_has_read_is_not_committed() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_transaction_after(ORPHAN).await;
        let undone = fixture.writer.roll_back(second).await;
        assert!(matches!(undone, Err(StoreError::Unavailable(_))), "{undone:?}");
        assert!(matches!(first.await.unwrap(), Err(StoreError::Unavailable(_))));
        assert_eq!(fixture.durable(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_lost_transaction_is_a_transient_error_for_its_other_units() {
        for keep in [true, false] {
            let fixture = Fixture::new();
            let (first, mut second) = fixture.shared_transaction().await;
            // As SQLite itself does after some failures.
            second.connection().batch_execute("ROLLBACK").unwrap();
            if keep {
                let second = fixture.commit(second).await.unwrap();
                assert!(matches!(second, Err(StoreError::Fatal(_))), "{second:?}");
            } else {
                // It may have read what the first unit wrote, such as a saved response.
                let second = fixture.writer.roll_back(second).await;
                assert!(matches!(second, Err(StoreError::Transient(_))), "{second:?}");
            }
            let first = first.await.unwrap();
            assert!(matches!(first, Err(StoreError::Transient(_))), "{first:?}");
            let next = fixture.unit(INSERT).await;
            fixture.commit(next).await.unwrap().unwrap();
            assert_eq!(fixture.durable(), 1);
        }
    }

    /// Decision 2.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_disk_is_reported_and_writes_succeed_when_there_is_space_again() {
        let fixture = Fixture::new();
        let full = "PRAGMA max_page_count = 1; INSERT INTO entries (body) VALUES (zeroblob(1000000))";
        let refused = fixture.writer.begin(run(full)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        let next =
            fixture.unit("PRAGMA max_page_count = 100000; INSERT INTO entries (body) VALUES (zeroblob(1000000))").await;
        fixture.commit(next).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    /// Decision 2.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_wait_for_the_writer_is_limited() {
        let mut fixture = Fixture::new();
        fixture.writer.wait = Duration::from_millis(20);
        let _held = fixture.unit(INSERT).await;
        let refused = fixture.writer.begin(run(INSERT)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert_eq!(fixture.writer.waiting.load(Ordering::SeqCst), 0);
    }

    /// Records on which threads this connection is used from now on.
    fn watch_threads(connection: &mut SqliteConnection) -> Arc<std::sync::Mutex<Vec<(String, ThreadId)>>> {
        let seen = Arc::new(std::sync::Mutex::new(vec![]));
        let statements = Arc::clone(&seen);
        connection.set_instrumentation(move |event: InstrumentationEvent<'_>| {
            if let InstrumentationEvent::StartQuery { query, .. } = event {
                statements.lock().unwrap().push((query.to_string(), std::thread::current().id()));
            }
        });
        seen
    }

    // A single-threaded runtime: everything that is not on a blocking thread runs on this thread.
    #[tokio::test]
    async fn a_unit_that_is_dropped_is_rolled_back_on_a_blocking_thread() {
        let fixture = Fixture::new();
        let mut guard = fixture.unit(INSERT).await;
        let statements = watch_threads(guard.connection());
        drop(guard);
        fixture.until(|| statements.lock().unwrap().iter().any(|(query, _)| query.contains("ROLLBACK"))).await;
        let here: Vec<_> = statements
            .lock()
            .unwrap()
            .iter()
            .filter(|(_, thread)| *thread == std::thread::current().id())
            .cloned()
            .collect();
        assert_eq!(here, vec![]);
        assert_eq!(fixture.durable(), 0);
    }

    #[tokio::test]
    async fn a_statement_that_fails_is_rolled_back_on_a_blocking_thread() {
        let fixture = Fixture::new();
        let mut guard = fixture.unit(INSERT).await;
        let statements = watch_threads(guard.connection());
        fixture.writer.commit(guard, run("INSERT INTO nowhere VALUES (1)")).await.unwrap_err();
        fixture.writer.begin(run("INSERT INTO nowhere VALUES (1)")).await.map(|_| ()).unwrap_err();
        let next = fixture.unit(INSERT).await;
        fixture.commit(next).await.unwrap().unwrap();
        let threads = statements.lock().unwrap().clone();
        let ends: Vec<_> =
            threads.iter().filter(|(query, _)| ["ROLLBACK", "COMMIT"].contains(&query.as_str())).collect();
        assert_eq!(ends.len(), 3, "{threads:?}");
        let here: Vec<_> = threads.into_iter().filter(|(_, thread)| *thread == std::thread::current().id()).collect();
        assert_eq!(here, vec![]);
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_whose_caller_is_cancelled_during_its_commit_is_committed() {
        let fixture = Fixture::new();
        let guard = fixture.unit(INSERT).await;
        // The unit leaves the commit to this waiter, which is cancelled before it gets the connection.
        let waiter = WaiterGuard::new(&fixture.writer.waiting);
        let (began, beginning) = tokio::sync::oneshot::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let writer = fixture.writer.clone();
        let caller = tokio::spawn(async move {
            let last = move |_: &mut SqliteConnection| {
                let _ = began.send(());
                let _ = released.recv();
                Ok(())
            };
            writer.commit(guard, last).await
        });
        beginning.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        drop(release);
        fixture.until(|| fixture.writer.state.try_lock().is_ok()).await;
        drop(waiter);
        fixture.until(|| fixture.durable() == 1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_first_unit_of_a_lost_transaction_rolls_back_without_an_error() {
        let fixture = Fixture::new();
        let mut guard = fixture.unit(INSERT).await;
        guard.connection().batch_execute("ROLLBACK").unwrap();
        fixture.writer.roll_back(guard).await.unwrap();
        assert_eq!(fixture.durable(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_statement_follows_a_failure_that_has_lost_the_transaction() {
        // As SQLite itself does after some failures.
        let failure = "ROLLBACK; INSERT INTO nowhere VALUES (1)";
        let fixture = Fixture::new();
        let guard = fixture.unit(INSERT).await;
        guard.run(run(failure)).await.map(|_| ()).unwrap_err();
        let (first, second) = fixture.shared_transaction().await;
        second.run(run(failure)).await.map(|_| ()).unwrap_err();
        assert!(matches!(first.await.unwrap(), Err(StoreError::Transient(_))));
        // Any other failure is the caller's to judge.
        let guard = fixture.unit(INSERT).await;
        let (guard, failed) = guard.run(run("INSERT INTO nowhere VALUES (1)")).await.unwrap();
        failed.unwrap_err();
        fixture.commit(guard).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[test]
    fn a_unit_that_outlives_its_runtime_is_rolled_back() {
        let fixture = Fixture::new();
        let mut elsewhere =
            Connector::new(&fixture.folder.path().join("test.db"), Duration::from_millis(20)).open_writer().unwrap();
        let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let ended = runtime();
        let guard = ended.block_on(fixture.unit(INSERT));
        drop(ended);
        assert!(elsewhere.batch_execute(INSERT).is_err());
        drop(guard);
        elsewhere.batch_execute(INSERT).unwrap();
        // Dropped with a task, while the runtime shuts down and starts no new tasks.
        let ending = runtime();
        let guard = ending.block_on(fixture.unit(INSERT));
        ending.spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        });
        drop(ending);
        elsewhere.batch_execute(INSERT).unwrap();
        assert_eq!(fixture.durable(), 2);
    }
}
