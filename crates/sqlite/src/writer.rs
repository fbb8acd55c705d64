//! The connection that writes: whose turn it is, and which units share a commit.
//!
//! Units take turns, first come first served. A unit is a savepoint in the transaction that is
//! open. When it is done and others wait, it leaves the transaction open and lines up behind them:
//! they run in the same transaction, and whoever's turn comes first after its own work is done
//! commits for all. So under load many units cost one `fsync`, and alone each commits at once. No
//! unit reports success before the transaction it is in is on the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::ports::PoolUse;
use tokio::sync::{Mutex, OwnedMutexGuard, watch};

use crate::connection::Connector;
use crate::errors::SqlError;

/// Gives out turns on the writing connection.
#[derive(Clone)]
pub(crate) struct Writer {
    slot: Arc<Mutex<Slot>>,
    waiting: Arc<AtomicUsize>,
    wait: Duration,
}

/// The connection and the transaction that is open on it.
struct Slot {
    connector: Connector,
    connection: Option<SqliteConnection>,
    /// Where the units that share the open transaction learn its fate.
    group: Option<watch::Sender<Fate>>,
}

/// What became of a group's transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Open,
    Durable,
    /// It could not be committed, now or for a while.
    Refused(String),
    /// It was lost because of another unit in it.
    Undone(String),
}

impl Fate {
    fn settled(&self) -> Result<(), StoreError> {
        match self {
            Self::Durable => Ok(()),
            Self::Refused(cause) => Err(StoreError::Unavailable(cause.clone().into())),
            Self::Undone(cause) => Err(StoreError::Transient(cause.clone().into())),
            Self::Open => Err(StoreError::Fatal("a transaction was left without an end".into())),
        }
    }
}

impl Writer {
    pub(crate) fn open(connector: Connector, wait: Duration) -> Result<Self, StoreError> {
        let connection = Some(connector.writing()?);
        let slot = Slot { connector, connection, group: None };
        Ok(Self { slot: Arc::new(Mutex::new(slot)), waiting: Arc::default(), wait })
    }

    /// How it stands: a pool of one.
    pub(crate) fn stands(&self) -> PoolUse {
        let in_use = usize::from(self.slot.try_lock().is_err());
        PoolUse { name: "write", limit: 1, open: 1, in_use, waiting: self.waiting.load(Ordering::SeqCst) }
    }

    /// Waits for a turn, opens a unit in it and does `first` there.
    pub(crate) async fn turn<T: Send + 'static>(
        &self,
        first: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(Turn, T), StoreError> {
        let line = InLine::join(&self.waiting);
        let slot = tokio::time::timeout(self.wait, Arc::clone(&self.slot).lock_owned()).await;
        drop(line);
        let turn = Turn { slot: slot.map_err(|elapsed| StoreError::Unavailable(elapsed.into()))?, open: false };
        let (turn, outcome) = turn
            .run(|turn| {
                turn.open_savepoint()?;
                first(turn.connection()?)
            })
            .await?;
        Ok((turn, outcome?))
    }

    /// Does `last` in the unit of `turn`, ends the unit and waits until it is durable together with
    /// all that it has seen.
    pub(crate) async fn commit(
        &self,
        turn: Turn,
        last: impl FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), StoreError> {
        self.finish(turn, true, last).await
    }

    /// Undoes the unit of `turn` and waits until all that it has seen is durable.
    pub(crate) async fn roll_back(&self, turn: Turn) -> Result<(), StoreError> {
        self.finish(turn, false, |_| Ok(())).await
    }

    async fn finish(
        &self,
        turn: Turn,
        keep: bool,
        last: impl FnOnce(&mut SqliteConnection) -> Result<(), SqlError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let waiting = Arc::clone(&self.waiting);
        let (turn, outcome) = turn
            .run(move |turn| {
                last(turn.connection()?)?;
                let ended = turn.end_savepoint(keep);
                // Alone: commit in the same breath. A lost transaction has its fate already.
                if ended.is_ok() && waiting.load(Ordering::SeqCst) == 0 {
                    turn.slot.commit();
                }
                ended
            })
            .await?;
        let mut fate = outcome?;
        drop(turn);
        let _pending = Pending { writer: self.clone(), fate: fate.clone() };
        self.settle(&mut fate).await
    }

    /// Waits until someone has committed the group, or does it when the turn comes.
    async fn settle(&self, fate: &mut watch::Receiver<Fate>) -> Result<(), StoreError> {
        if *fate.borrow() == Fate::Open {
            tokio::select! {
                biased;
                // An error is a sender that is gone, whose last word still stands.
                _ = fate.changed() => {}
                slot = Arc::clone(&self.slot).lock_owned() => {
                    if *fate.borrow() == Fate::Open {
                        let turn = Turn { slot, open: false };
                        turn.run(|turn| { turn.slot.commit(); Ok::<_, SqlError>(()) }).await?.1?;
                    }
                }
            }
        }
        fate.borrow().settled()
    }
}

/// Counts those who wait for a turn, for as long as they do.
struct InLine<'a>(&'a AtomicUsize);

impl<'a> InLine<'a> {
    fn join(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::SeqCst);
        Self(waiting)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A finished unit whose caller may go away before its group is committed. Then someone else must
/// see to it, or the transaction would stay open until the next unit.
struct Pending {
    writer: Writer,
    fate: watch::Receiver<Fate>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if *self.fate.borrow() != Fate::Open {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (writer, mut fate) = (self.writer.clone(), self.fate.clone());
            runtime.spawn(async move {
                if let Err(error) = writer.settle(&mut fate).await {
                    tracing::warn!(error = %ErrorChain::new(&error), "a unit of work that nobody waits for any more was not committed");
                }
            });
        }
    }
}

/// The right to use the connection, and the unit that is open on it. Dropping it undoes the unit.
pub(crate) struct Turn {
    slot: OwnedMutexGuard<Slot>,
    open: bool,
}

impl Turn {
    /// Runs `work` off the async threads. If the caller goes away meanwhile, the turn ends with the
    /// work, not before.
    pub(crate) async fn run<T: Send + 'static>(
        mut self,
        work: impl FnOnce(&mut Self) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<(Self, Result<T, StoreError>), StoreError> {
        tokio::task::spawn_blocking(move || {
            let outcome = work(&mut self);
            (self, outcome.map_err(StoreError::from))
        })
        .await
        .map_err(|panic| StoreError::Fatal(panic.into()))
    }

    /// The connection.
    pub(crate) fn connection(&mut self) -> Result<&mut SqliteConnection, SqlError> {
        self.slot.connected()
    }

    fn open_savepoint(&mut self) -> Result<(), SqlError> {
        let slot = &mut *self.slot;
        let begins = slot.group.is_none();
        let connection = slot.connected()?;
        if begins {
            connection.batch_execute("BEGIN IMMEDIATE")?;
            slot.group = Some(watch::Sender::new(Fate::Open));
        }
        self.open = true;
        slot.connected()?.batch_execute("SAVEPOINT unit")?;
        Ok(())
    }

    /// Ends the savepoint and returns where the fate of its transaction will be told.
    fn end_savepoint(&mut self, keep: bool) -> Result<watch::Receiver<Fate>, SqlError> {
        self.open = false;
        let slot = &mut *self.slot;
        let end = if keep { "RELEASE unit" } else { "ROLLBACK TO unit; RELEASE unit" };
        if let Err(error) = slot.connected().and_then(|connection| Ok(connection.batch_execute(end)?)) {
            // SQLite undoes the whole transaction by itself after some failures, a full disk for
            // example, and the savepoint is gone with it. Start over from a clean connection.
            slot.lose(Fate::Undone(error.to_string()));
            // Of a unit that was to be undone nothing is left: that is what was asked.
            return if keep { Err(error) } else { Ok(watch::Sender::new(Fate::Durable).subscribe()) };
        }
        match &slot.group {
            Some(group) => Ok(group.subscribe()),
            None => Err(StoreError::Fatal("a unit was outside of a transaction".into()).into()),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let slot = &mut *self.slot;
        let undone =
            slot.connected().and_then(|connection| Ok(connection.batch_execute("ROLLBACK TO unit; RELEASE unit")?));
        match undone {
            Err(error) => slot.lose(Fate::Undone(error.to_string())),
            // It may be that nobody waits for this transaction: do not leave it open.
            Ok(()) => slot.commit(),
        }
    }
}

impl Slot {
    fn connected(&mut self) -> Result<&mut SqliteConnection, SqlError> {
        if self.connection.is_none() {
            self.connection = Some(self.connector.writing()?);
        }
        self.connection.as_mut().ok_or_else(|| StoreError::Fatal("the writing connection is gone".into()).into())
    }

    /// Commits the open transaction and tells its units.
    fn commit(&mut self) {
        let outcome = self.connected().and_then(|connection| Ok(connection.batch_execute("COMMIT")?));
        match outcome {
            Ok(()) => self.tell(Fate::Durable),
            Err(error) => self.lose(Fate::Refused(error.to_string())),
        }
    }

    /// Closes the connection, which undoes what is open on it, and tells its units.
    fn lose(&mut self, fate: Fate) {
        self.connection = None;
        self.tell(fate);
    }

    fn tell(&mut self, fate: Fate) {
        if let Some(group) = self.group.take() {
            group.send_replace(fate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use diesel::sql_types::BigInt;
    use diesel::{QueryableByName, RunQueryDsl};
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
            connector.writing().unwrap().batch_execute(schema).unwrap();
            Self { writer: Writer::open(connector.clone(), LIMIT).unwrap(), connector, folder }
        }

        /// Rows that another connection sees.
        fn durable(&self) -> i64 {
            let count = diesel::sql_query("SELECT count(*) AS count FROM entries");
            count.get_result::<Count>(&mut self.connector.reading().unwrap()).unwrap().count
        }

        /// A unit in which these statements were run.
        async fn unit(&self, sql: &'static str) -> Turn {
            self.writer.turn(run(sql)).await.unwrap().0
        }

        fn commit(&self, turn: Turn) -> JoinHandle<Result<(), StoreError>> {
            let writer = self.writer.clone();
            tokio::spawn(async move { writer.commit(turn, |_| Ok(())).await })
        }

        /// A unit that waits in line, with these statements to run when it is its turn.
        async fn in_line(&self, sql: &'static str) -> JoinHandle<Turn> {
            let (writer, before) = (self.writer.clone(), self.writer.waiting.load(Ordering::SeqCst));
            let waiting = tokio::spawn(async move { writer.turn(run(sql)).await.unwrap().0 });
            self.until(|| self.writer.waiting.load(Ordering::SeqCst) > before).await;
            waiting
        }

        /// A unit that has ended in a transaction with the one that is returned, which goes on.
        async fn shared(&self) -> (JoinHandle<Result<(), StoreError>>, Turn) {
            self.shared_after(INSERT).await
        }

        /// As [`Self::shared`], with what the first unit does.
        async fn shared_after(&self, sql: &'static str) -> (JoinHandle<Result<(), StoreError>>, Turn) {
            let first = self.unit(sql).await;
            let waiting = self.in_line(INSERT).await;
            let first = self.commit(first);
            (first, waiting.await.unwrap())
        }

        async fn until(&self, is_so: impl Fn() -> bool) {
            let patient = async {
                while !is_so() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(LIMIT, patient).await.expect("still not so");
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
        let turn = fixture.unit(INSERT).await;
        assert_eq!(fixture.durable(), 0);
        fixture.commit(turn).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
        let turn = fixture.unit(INSERT).await;
        fixture.writer.roll_back(turn).await.unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn units_share_a_commit_and_none_is_done_before_it() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared().await;
        assert_eq!(fixture.durable(), 0);
        assert!(!first.is_finished());
        fixture.commit(second).await.unwrap().unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_that_is_undone_or_dropped_takes_no_other_with_it() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared().await;
        fixture.writer.roll_back(second).await.unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
        let (third, dropped) = fixture.shared().await;
        drop(dropped);
        third.await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_unit_that_is_dropped_leaves_the_file_to_other_processes() {
        let fixture = Fixture::new();
        let impatient = Connector::new(&fixture.folder.path().join("test.db"), Duration::from_millis(20));
        let mut elsewhere = impatient.writing().unwrap();
        let turn = fixture.unit(INSERT).await;
        assert!(elsewhere.batch_execute(INSERT).is_err());
        drop(turn);
        elsewhere.batch_execute(INSERT).unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_finished_unit_is_committed_though_nobody_waits_for_it() {
        let fixture = Fixture::new();
        // It left the commit to one in line, who has gone away in the meantime.
        let turn = fixture.unit(INSERT).await;
        let (turn, fate) = turn.run(|turn| turn.end_savepoint(true)).await.unwrap();
        drop(turn);
        let pending = Pending { writer: fixture.writer.clone(), fate: fate.unwrap() };
        assert_eq!(fixture.durable(), 0);
        drop(pending);
        fixture.until(|| fixture.durable() == 1).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn when_a_commit_is_refused_all_of_its_units_are_told_and_the_next_one_works() {
        let fixture = Fixture::new();
        let (first, mut second) = fixture.shared().await;
        second.connection().unwrap().batch_execute(ORPHAN).unwrap();
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
    async fn a_unit_that_is_undone_is_told_when_what_it_has_seen_was_not_kept() {
        let fixture = Fixture::new();
        let (first, second) = fixture.shared_after(ORPHAN).await;
        let undone = fixture.writer.roll_back(second).await;
        assert!(matches!(undone, Err(StoreError::Unavailable(_))), "{undone:?}");
        assert!(matches!(first.await.unwrap(), Err(StoreError::Unavailable(_))));
        assert_eq!(fixture.durable(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn when_a_transaction_is_lost_its_other_units_may_run_again() {
        for keep in [true, false] {
            let fixture = Fixture::new();
            let (first, mut second) = fixture.shared().await;
            // As SQLite itself does after some failures.
            second.connection().unwrap().batch_execute("ROLLBACK").unwrap();
            if keep {
                let second = fixture.commit(second).await.unwrap();
                assert!(matches!(second, Err(StoreError::Fatal(_))), "{second:?}");
            } else {
                fixture.writer.roll_back(second).await.unwrap();
            }
            let first = first.await.unwrap();
            assert!(matches!(first, Err(StoreError::Transient(_))), "{first:?}");
            let next = fixture.unit(INSERT).await;
            fixture.commit(next).await.unwrap().unwrap();
            assert_eq!(fixture.durable(), 1);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_full_disk_is_told_and_writing_goes_on_when_there_is_room() {
        let fixture = Fixture::new();
        let full = "PRAGMA max_page_count = 1; INSERT INTO entries (body) VALUES (zeroblob(1000000))";
        let refused = fixture.writer.turn(run(full)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        let next =
            fixture.unit("PRAGMA max_page_count = 100000; INSERT INTO entries (body) VALUES (zeroblob(1000000))").await;
        fixture.commit(next).await.unwrap().unwrap();
        assert_eq!(fixture.durable(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_waits_for_a_turn_longer_than_allowed() {
        let mut fixture = Fixture::new();
        fixture.writer.wait = Duration::from_millis(20);
        let _held = fixture.unit(INSERT).await;
        let refused = fixture.writer.turn(run(INSERT)).await.map(|_| ());
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
        assert_eq!(fixture.writer.waiting.load(Ordering::SeqCst), 0);
    }
}
