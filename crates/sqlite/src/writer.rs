//! The connection that writes: which unit of work has it, and which units share a commit.
//!
//! Units take the connection one after the other, first come first served. A unit is a savepoint in
//! the transaction that is open. When it ends and others wait, it leaves the transaction open and
//! queues behind them: they run in the same transaction, and the first that gets the connection
//! after its own work is done commits for all. So under load many units cost one `fsync`, and alone
//! each commits at once. No unit reports success before the transaction it is in is on the disk.
//!
//! A caller may go away at each `.await`, and a unit may panic: whatever ends a unit then runs on a
//! blocking thread, too. `writer/model.rs` tries all orders of these.

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

/// Gives out the writing connection, to one unit at a time.
#[derive(Clone)]
pub(crate) struct Writer<E: Environment = Connector> {
    environment: E,
    state: Arc<Mutex<WriterState<E>>>,
    waiting: Arc<AtomicUsize>,
    wait: Duration,
}

/// The connection and the transaction that is open on it.
struct WriterState<E: Environment> {
    environment: E,
    connection: Option<E::Connection>,
    /// Notifies the units that share the open transaction.
    group: Option<watch::Sender<CommitState>>,
}

/// What became of a group's transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CommitState {
    Pending,
    Committed,
    /// It could not be committed, now or for a while.
    Failed(String),
    /// It was lost because of another unit in it.
    RolledBack(String),
    /// The disk failed while it was committed.
    Unknown(String),
}

impl CommitState {
    /// What a unit of the group returns. The only place where a failed `COMMIT` becomes an error.
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
    pub(crate) fn open(environment: E, wait: Duration) -> Result<Self, StoreError> {
        let connection = Some(environment.connect()?);
        let state = WriterState { environment: environment.clone(), connection, group: None };
        Ok(Self { environment, state: Arc::new(Mutex::new(state)), waiting: Arc::default(), wait })
    }

    /// Its use, as of a pool of one.
    pub(crate) fn status(&self) -> PoolStatus {
        let in_use = usize::from(self.state.try_lock().is_err());
        PoolStatus { name: "write", limit: 1, open: 1, in_use, waiting: self.waiting.load(Ordering::SeqCst) }
    }

    /// Waits for the connection, opens a unit on it and does `first` there.
    pub(crate) async fn begin<T: Send + 'static>(
        &self,
        first: impl FnOnce(&mut E::Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(WriteGuard<E>, T), StoreError> {
        let state = self.lock().await?;
        let begin = move || {
            let mut unit = Unit { state, is_open: false, is_first: false };
            unit.open_savepoint()?;
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

    /// Does `last` in the unit, ends it and waits until it is durable together with all that it
    /// has seen.
    pub(crate) async fn commit(
        &self,
        guard: WriteGuard<E>,
        last: impl FnOnce(&mut E::Connection) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.finish(guard, true, last).await
    }

    /// Rolls the unit back and waits until all that it has seen is durable.
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
            let commit_state = unit.end_savepoint(keep)?;
            // Alone: commit at once. A lost transaction has no group any more.
            if unit.state.group.is_some() && writer.waiting.load(Ordering::SeqCst) == 0 {
                unit.state.commit();
            }
            // Made here, so that it exists though the caller is gone already.
            Ok::<_, SqlError>(PendingCommit { writer, commit_state })
        };
        let mut pending = self.environment.run_blocking(finish).await??;
        self.wait_for_commit(&mut pending.commit_state).await
    }

    /// Waits until another unit has committed the group, or commits it when it gets the connection.
    async fn wait_for_commit(&self, commit_state: &mut watch::Receiver<CommitState>) -> Result<(), StoreError> {
        if *commit_state.borrow() == CommitState::Pending {
            tokio::select! {
                biased;
                // An error is a sender that is gone, whose last value is still there.
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

/// Counts those who wait for the connection, for as long as they do.
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

/// A unit that has ended, and whose caller may go away before its group is committed. Then a task
/// waits in its place, or the transaction would stay open until the next unit.
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
                tracing::warn!(error = %ErrorChain::new(&error), "a unit of work that nobody waits for any more was not committed");
            }
        });
    }
}

/// The right to use the connection, and the unit that is open on it. Dropping it rolls the unit
/// back, on a blocking thread.
pub(crate) struct WriteGuard<E: Environment = Connector> {
    /// Only absent once the unit has been moved to a blocking thread.
    unit: Option<Unit<E>>,
}

impl<E: Environment> WriteGuard<E> {
    fn new(unit: Unit<E>) -> Self {
        Self { unit: Some(unit) }
    }

    fn into_unit(mut self) -> Result<Unit<E>, StoreError> {
        self.unit.take().ok_or_else(|| StoreError::Fatal("the unit has ended".into()))
    }

    /// Runs `work` in the unit, on a blocking thread. If the caller goes away meanwhile, the unit
    /// is rolled back after the work, not before.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce(&mut E::Connection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(Self, Result<T, StoreError>), StoreError> {
        let mut unit = self.into_unit()?;
        let environment = unit.state.environment.clone();
        let run = move || {
            let outcome = unit.state.connection().and_then(work);
            (Self::new(unit), outcome.map_err(StoreError::from))
        };
        environment.run_blocking(run).await
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

/// The unit that is open on the connection. It lives on blocking threads: dropping it rolls it back.
struct Unit<E: Environment> {
    state: OwnedMutexGuard<WriterState<E>>,
    is_open: bool,
    /// Whether it began the transaction, so that it has seen nothing that was not durable.
    is_first: bool,
}

impl<E: Environment> Unit<E> {
    fn open_savepoint(&mut self) -> Result<(), SqlError> {
        let state = &mut *self.state;
        self.is_first = state.group.is_none();
        let connection = state.connection()?;
        if self.is_first {
            connection.batch_execute("BEGIN IMMEDIATE")?;
            state.group = Some(watch::Sender::new(CommitState::Pending));
        }
        self.is_open = true;
        state.connection()?.batch_execute("SAVEPOINT unit")?;
        Ok(())
    }

    /// Ends the savepoint and returns where the end of its transaction will be seen.
    fn end_savepoint(&mut self, keep: bool) -> Result<watch::Receiver<CommitState>, SqlError> {
        self.is_open = false;
        let state = &mut *self.state;
        let end = if keep { "RELEASE unit" } else { "ROLLBACK TO unit; RELEASE unit" };
        if let Err(error) = state.connection().and_then(|connection| Ok(connection.batch_execute(end)?)) {
            // SQLite rolls the whole transaction back by itself after some failures, a full disk
            // for example, and the savepoint is gone with it. Start over from a clean connection.
            let lost = CommitState::RolledBack(error.to_string());
            state.discard_connection(lost.clone());
            // Of a unit that was to be rolled back nothing is left: that is what was asked. But what
            // it has seen of other units is gone, too, and it must not report that.
            let end = if self.is_first { CommitState::Committed } else { lost };
            return if keep { Err(error) } else { Ok(watch::Sender::new(end).subscribe()) };
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
        match self.end_savepoint(false) {
            // It may be that nobody waits for this transaction: do not leave it open.
            Ok(_) if self.state.group.is_some() => self.state.commit(),
            _ => {}
        }
    }
}

impl<E: Environment> WriterState<E> {
    /// The connection, opened again if it was discarded.
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
            Ok(()) => self.notify_group(CommitState::Committed),
            Err(error) if is_outcome_unknown(&error) => {
                self.discard_connection(CommitState::Unknown(error.to_string()))
            }
            Err(error) => self.discard_connection(CommitState::Failed(error.to_string())),
        }
    }

    /// Closes the connection, which rolls back what is open on it, and notifies the units.
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
            Self { writer: Writer::open(connector.clone(), LIMIT).unwrap(), connector, folder }
        }

        /// Rows that another connection sees.
        fn durable(&self) -> i64 {
            let count = diesel::sql_query("SELECT count(*) AS count FROM entries");
            count.get_result::<Count>(&mut self.connector.open_reader().unwrap()).unwrap().count
        }

        /// A unit in which these statements were run.
        async fn unit(&self, sql: &'static str) -> WriteGuard {
            self.writer.begin(run(sql)).await.unwrap().0
        }

        fn commit(&self, guard: WriteGuard) -> JoinHandle<Result<(), StoreError>> {
            let writer = self.writer.clone();
            tokio::spawn(async move { writer.commit(guard, |_| Ok(())).await })
        }

        /// A unit that waits in line, with these statements to run when it is its turn.
        async fn waiting_unit(&self, sql: &'static str) -> JoinHandle<WriteGuard> {
            let (writer, before) = (self.writer.clone(), self.writer.waiting.load(Ordering::SeqCst));
            let waiting = tokio::spawn(async move { writer.begin(run(sql)).await.unwrap().0 });
            self.until(|| self.writer.waiting.load(Ordering::SeqCst) > before).await;
            waiting
        }

        /// A unit that has ended in a transaction with the one that is returned, which goes on.
        async fn shared_transaction(&self) -> (JoinHandle<Result<(), StoreError>>, WriteGuard) {
            self.shared_transaction_after(INSERT).await
        }

        /// As [`Self::shared`], with what the first unit does.
        async fn shared_transaction_after(
            &self,
            sql: &'static str,
        ) -> (JoinHandle<Result<(), StoreError>>, WriteGuard) {
            let first = self.unit(sql).await;
            let waiting = self.waiting_unit(INSERT).await;
            let first = self.commit(first);
            (first, waiting.await.unwrap())
        }

        async fn until(&self, mut is_so: impl FnMut() -> bool) {
            let patient = async {
                while !is_so() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(LIMIT, patient).await.expect("still not so");
        }
    }

    impl WriteGuard {
        fn connection(&mut self) -> &mut SqliteConnection {
            self.unit.as_mut().unwrap().state.connection().unwrap()
        }
    }

    const INSERT: &str = "INSERT INTO entries (body) VALUES ('x')";

    /// A broken reference that SQLite checks at the commit.
    const ORPHAN: &str = "PRAGMA defer_foreign_keys = ON; INSERT INTO entries (parent) VALUES (99)";

    fn run(sql: &'static str) -> impl FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static {
        move |connection| Ok(connection.batch_execute(sql)?)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn alone_a_unit_commits_at_once() {
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
    async fn units_share_a_commit_and_none_is_done_before_it() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_transaction().await;
        assert_eq!(fixture.durable(), 0);
        assert!(!first.is_finished());
        fixture.commit(second).await.unwrap().unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_that_is_rolled_back_or_dropped_takes_no_other_with_it() {
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
    async fn a_unit_that_is_dropped_leaves_the_file_to_other_processes() {
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
    async fn a_finished_unit_is_committed_though_nobody_waits_for_it() {
        let fixture = Fixture::new();
        // It left the commit to one in line, who has gone away in the meantime.
        let guard = fixture.unit(INSERT).await;
        let mut unit = guard.into_unit().unwrap();
        let commit_state = unit.end_savepoint(true).unwrap();
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
    async fn a_unit_that_is_rolled_back_fails_when_what_it_has_read_was_not_committed() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_transaction_after(ORPHAN).await;
        let undone = fixture.writer.roll_back(second).await;
        assert!(matches!(undone, Err(StoreError::Unavailable(_))), "{undone:?}");
        assert!(matches!(first.await.unwrap(), Err(StoreError::Unavailable(_))));
        assert_eq!(fixture.durable(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn when_a_transaction_is_lost_its_other_units_may_run_again() {
        for keep in [true, false] {
            let fixture = Fixture::new();
            let (first, mut second) = fixture.shared_transaction().await;
            // As SQLite itself does after some failures.
            second.connection().batch_execute("ROLLBACK").unwrap();
            if keep {
                let second = fixture.commit(second).await.unwrap();
                assert!(matches!(second, Err(StoreError::Fatal(_))), "{second:?}");
            } else {
                // It may have seen what the first unit wrote, a saved reply for example.
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

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_disk_is_reported_and_writing_goes_on_when_there_is_room() {
        let fixture = Fixture::new();
        let full = "PRAGMA max_page_count = 1; INSERT INTO entries (body) VALUES (zeroblob(1000000))";
        let refused = fixture.writer.begin(run(full)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        let next =
            fixture.unit("PRAGMA max_page_count = 100000; INSERT INTO entries (body) VALUES (zeroblob(1000000))").await;
        fixture.commit(next).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_waits_for_the_writer_longer_than_allowed() {
        let mut fixture = Fixture::new();
        fixture.writer.wait = Duration::from_millis(20);
        let _held = fixture.unit(INSERT).await;
        let refused = fixture.writer.begin(run(INSERT)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert_eq!(fixture.writer.waiting.load(Ordering::SeqCst), 0);
    }

    /// On which threads this connection is used from now on.
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

    // On one thread, so that whatever is not on a blocking thread is on this one.
    #[tokio::test]
    async fn a_unit_that_is_dropped_is_rolled_back_on_a_blocking_thread() {
        let fixture = Fixture::new();
        let mut guard = fixture.unit(INSERT).await;
        let statements = watch_threads(guard.connection());
        drop(guard);
        fixture.until(|| statements.lock().unwrap().iter().any(|(query, _)| query.contains("COMMIT"))).await;
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
        assert_eq!(threads.iter().filter(|(query, _)| query.contains("COMMIT")).count(), 3, "{threads:?}");
        let here: Vec<_> = threads.into_iter().filter(|(_, thread)| *thread == std::thread::current().id()).collect();
        assert_eq!(here, vec![]);
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_whose_caller_goes_away_during_its_end_is_committed() {
        let fixture = Fixture::new();
        let guard = fixture.unit(INSERT).await;
        // Somebody waits, so that the commit is left to them, and goes away before it is their turn.
        let waiter = WaiterGuard::new(&fixture.writer.waiting);
        let (began, beginning) = tokio::sync::oneshot::channel();
        let (go_on, gone_on) = std::sync::mpsc::channel::<()>();
        let writer = fixture.writer.clone();
        let caller = tokio::spawn(async move {
            let last = move |_: &mut SqliteConnection| {
                let _ = began.send(());
                let _ = gone_on.recv();
                Ok(())
            };
            writer.commit(guard, last).await
        });
        beginning.await.unwrap();
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        drop(go_on);
        fixture.until(|| fixture.writer.state.try_lock().is_ok()).await;
        drop(waiter);
        fixture.until(|| fixture.durable() == 1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_that_saw_nothing_of_others_is_rolled_back_though_its_transaction_is_lost() {
        let fixture = Fixture::new();
        let mut guard = fixture.unit(INSERT).await;
        guard.connection().batch_execute("ROLLBACK").unwrap();
        fixture.writer.roll_back(guard).await.unwrap();
        assert_eq!(fixture.durable(), 0);
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
        // Dropped with a task, while the runtime stops and starts nothing any more.
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
