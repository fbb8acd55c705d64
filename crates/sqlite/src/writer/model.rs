//! A model test of the writer: checks all orders of events for a few units of work.
//!
//! It runs the writer itself, not a description of it. Its environment is a [`World`]: a scheduler that polls futures
//! and runs blocking jobs in a given order, and a database that fails on demand. stateright's checker tries all orders,
//! breadth first. A state of the model is the list of [`Action`]s that led to it; each state is reached by running the
//! writer from the start. Two states are equal if everything that the writer can observe is equal ([`Summary`]).
//!
//! A crash of the process preserves durable data only. So a commit is lost if it is reported to a caller before it is
//! durable, whenever the crash happens.
//!
//! A job runs without interruption, because it holds the lock. The exception is the `COMMIT`: other tasks may run in
//! the middle of it.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use diesel::QueryResult;
use diesel::connection::SimpleConnection;
use diesel::result::{ConnectionError, DatabaseErrorKind, Error as DieselError};
use roadmap_domain::error::StoreError;
use stateright::{Checker, Expectation, Model, Property};

use super::Writer;
use super::environment::{Environment, PlantedFault};
use crate::errors::SqlError;

/// How a unit ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Commit,
    /// Commits, and repeats a statement that has failed before.
    CommitAnyway,
    RollBack,
    Drop,
}

/// The parameters of a run of the checker.
#[derive(Debug, Clone)]
struct Plan {
    units: Vec<End>,
    /// Whether a unit runs a statement between its begin and its end.
    statements: bool,
    /// How many units may be cancelled, by dropping their future.
    cancellations: usize,
    /// How many faults may occur.
    faults: usize,
    planted: Option<PlantedFault>,
}

/// A failure in a blocking job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fault {
    /// No connection can be opened.
    ConnectFails,
    BeginFails,
    InsertFails,
    /// The statement fails, and SQLite rolls the transaction back.
    InsertRollsBack,
    InsertPanics,
    /// The savepoint cannot be released or rolled back.
    EndFails,
    CommitFails,
    /// The commit reports a disk failure although the transaction is durable.
    CommitOutcomeUnknown,
}

const FAULTS: [Fault; 8] = [
    Fault::ConnectFails,
    Fault::BeginFails,
    Fault::InsertFails,
    Fault::InsertRollsBack,
    Fault::InsertPanics,
    Fault::EndFails,
    Fault::CommitFails,
    Fault::CommitOutcomeUnknown,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Action {
    /// A woken task runs to its next `.await`.
    Poll(usize),
    /// The caller of a unit is cancelled.
    Cancel(usize),
    /// The wait of a unit for the connection times out.
    Elapse(usize),
    /// A blocking job of a task runs.
    Run { owner: usize, fault: Option<Fault>, others_run_during_commit: bool },
}

/// The result that was reported to the caller of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Reported {
    Committed,
    RolledBack,
    Error,
    Unknown,
}

/// The database: its durable rows and its open transaction.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Database {
    connections: usize,
    durable: BTreeSet<usize>,
    transaction: Option<Transaction>,
    /// The ended transactions: their rows, and whether they were committed.
    ended: Vec<(Vec<usize>, bool)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Transaction {
    rows: Vec<usize>,
    /// The number of rows at the open savepoint.
    savepoint: Option<usize>,
}

impl Database {
    fn roll_back(&mut self) {
        if let Some(transaction) = self.transaction.take() {
            self.ended.push((transaction.rows, false));
        }
    }
}

/// The scheduler and the database. Clones share their state.
#[derive(Clone)]
struct World(Arc<Mutex<Inner>>);

struct Inner {
    planted: Option<PlantedFault>,
    database: Database,
    tasks: Vec<Task>,
    jobs: Vec<Job>,
    /// The tasks that wait for the lock or for another unit's commit, in the order of their arrival.
    queue: Vec<usize>,
    current: usize,
    in_job: bool,
    armed_fault: Option<Fault>,
    others_run_during_commit: bool,
    cancellations: usize,
    faults: usize,
    violations: BTreeSet<&'static str>,
    /// Whether the run is being closed: no new job or task is started.
    closing: bool,
}

struct Task {
    future: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    woken: Arc<WakeFlag>,
    progress: Progress,
    /// The rows that the unit has read in its transaction.
    seen: Vec<usize>,
}

/// The progress of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Progress {
    polled: bool,
    jobs: usize,
    faults: Vec<Fault>,
    timer: Timer,
    reported: Option<Reported>,
    cancelled: bool,
    /// The index of the unit's transaction.
    transaction: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Timer {
    #[default]
    None,
    Running,
    Elapsed,
}

struct Job {
    owner: usize,
    run: Box<dyn FnOnce() + Send>,
}

#[derive(Default)]
struct WakeFlag(AtomicBool);

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Task {
    fn new(future: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            future: Some(Box::pin(future)),
            woken: Arc::new(WakeFlag(AtomicBool::new(true))),
            progress: Progress::default(),
            seen: vec![],
        }
    }

    fn can_run(&self) -> bool {
        self.future.is_some() && self.woken.0.load(Ordering::SeqCst)
    }
}

const NO_LOST_COMMIT: &str = "no lost commit";
const NO_OPEN_TRANSACTION: &str = "no open transaction";
const BLOCKING_THREADS: &str = "the database is used on blocking threads only";

const LOST_COMMIT: &str = "a commit is reported before it is durable";
const UNDURABLE_READ: &str = "a unit has read rows that are not durable, and no error is reported";
const ASYNC_THREAD: &str = "the database is used on an async thread";
const OUTSIDE_UNIT: &str = "a statement runs outside of its unit";

impl World {
    fn new(planted: Option<PlantedFault>) -> Self {
        Self(Arc::new(Mutex::new(Inner {
            planted,
            database: Database::default(),
            tasks: vec![],
            jobs: vec![],
            queue: vec![],
            current: 0,
            in_job: true,
            armed_fault: None,
            others_run_during_commit: false,
            cancellations: 0,
            faults: 0,
            violations: BTreeSet::new(),
            closing: false,
        })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }

    fn apply(&self, action: Action) {
        match action {
            Action::Poll(task) => self.poll(task),
            Action::Cancel(task) => {
                let future = self.with(|inner| {
                    inner.cancellations += 1;
                    inner.current = task;
                    inner.queue.retain(|waiting| *waiting != task);
                    inner.tasks[task].progress.cancelled = true;
                    inner.tasks[task].future.take()
                });
                drop(future);
            }
            Action::Elapse(task) => self.with(|inner| {
                inner.tasks[task].progress.timer = Timer::Elapsed;
                inner.tasks[task].woken.0.store(true, Ordering::SeqCst);
            }),
            Action::Run { owner, fault, others_run_during_commit } => {
                let job = self.with(|inner| {
                    inner.armed_fault = fault;
                    inner.others_run_during_commit = others_run_during_commit;
                    inner.current = owner;
                    inner.in_job = true;
                    let place = inner.jobs.iter().position(|job| job.owner == owner).unwrap();
                    inner.jobs.remove(place)
                });
                // As on a separate thread, a panic does not propagate.
                let _ = catch_unwind(AssertUnwindSafe(job.run));
                self.with(|inner| (inner.armed_fault, inner.in_job) = (None, false));
            }
        }
    }

    fn poll(&self, task: usize) {
        let (mut future, woken) = self.with(|inner| {
            inner.current = task;
            let task = &mut inner.tasks[task];
            task.progress.polled = true;
            task.woken.0.store(false, Ordering::SeqCst);
            (task.future.take().unwrap(), Arc::clone(&task.woken))
        });
        let waker = Waker::from(woken);
        let outcome = future.as_mut().poll(&mut Context::from_waker(&waker));
        self.with(|inner| {
            let waits = outcome.is_pending() && inner.jobs.iter().all(|job| job.owner != task);
            if !waits {
                inner.queue.retain(|waiting| *waiting != task);
            } else if !inner.queue.contains(&task) {
                inner.queue.push(task);
            }
            if outcome.is_pending() {
                inner.tasks[task].future = Some(future);
            }
        });
    }

    /// Runs all runnable tasks, in the middle of a job.
    fn preempt(&self) {
        let (owner, runnable) = self.with(|inner| {
            inner.in_job = false;
            inner.others_run_during_commit = false;
            let runnable: Vec<_> = (0..inner.tasks.len()).filter(|task| inner.tasks[*task].can_run()).collect();
            (inner.current, runnable)
        });
        for task in runnable {
            self.poll(task);
        }
        self.with(|inner| (inner.in_job, inner.current) = (true, owner));
    }

    /// Records the result that is reported to the caller of a unit, and checks it.
    fn report(&self, unit: usize, reported: Reported) {
        self.with(|inner| {
            let durable = &inner.database.durable;
            let task = &mut inner.tasks[unit];
            task.progress.reported = Some(reported);
            if reported == Reported::Committed && !durable.contains(&unit) {
                inner.violations.insert(LOST_COMMIT);
            }
            if reported != Reported::Error && !task.seen.iter().all(|row| durable.contains(row)) {
                inner.violations.insert(UNDURABLE_READ);
            }
        });
    }

    /// Ends a run and drops its remaining tasks and jobs.
    fn close(&self) {
        self.with(|inner| inner.closing = true);
        loop {
            let rest = self.with(|inner| {
                let futures: Vec<_> = inner.tasks.iter_mut().filter_map(|task| task.future.take()).collect();
                (futures, std::mem::take(&mut inner.jobs))
            });
            if rest.0.is_empty() && rest.1.is_empty() {
                return;
            }
            drop(rest);
        }
    }
}

impl Environment for World {
    type Connection = Connection;

    fn connect(&self) -> Result<Connection, SqlError> {
        self.with(|inner| {
            inner.check_thread();
            if inner.triggers(Fault::ConnectFails) {
                return Err(ConnectionError::BadConnection("planted".into()).into());
            }
            inner.database.connections += 1;
            Ok(Connection(self.clone()))
        })
    }

    fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        self.spawn_blocking(move || {
            // If the caller was cancelled, the result is dropped here.
            let _ = sender.send(job());
        });
        async move { receiver.await.map_err(|panic| StoreError::Fatal(panic.into())) }
    }

    fn spawn_blocking(&self, job: impl FnOnce() + Send + 'static) {
        let refused = self.with(|inner| {
            if inner.closing {
                return Some(job);
            }
            let owner = inner.current;
            inner.tasks[owner].progress.jobs += 1;
            inner.jobs.push(Job { owner, run: Box::new(job) });
            None
        });
        drop(refused);
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let refused = self.with(|inner| {
            if inner.closing {
                return Some(task);
            }
            inner.tasks.push(Task::new(task));
            None
        });
        drop(refused);
    }

    fn sleep(&self, _duration: Duration) -> impl Future<Output = ()> + Send {
        let (world, task) = (self.clone(), self.with(|inner| inner.current));
        let timer = TimerGuard { world, task };
        timer.set(Timer::Running);
        poll_fn(move |_| match timer.world.with(|inner| inner.tasks[task].progress.timer) {
            Timer::Elapsed => Poll::Ready(()),
            _ => Poll::Pending,
        })
    }

    fn planted_fault(&self) -> Option<PlantedFault> {
        self.with(|inner| inner.planted)
    }
}

struct TimerGuard {
    world: World,
    task: usize,
}

impl TimerGuard {
    fn set(&self, timer: Timer) {
        self.world.with(|inner| inner.tasks[self.task].progress.timer = timer);
    }
}

impl Drop for TimerGuard {
    fn drop(&mut self) {
        self.set(Timer::None);
    }
}

impl Inner {
    fn check_thread(&mut self) {
        if !self.in_job && !self.closing {
            self.violations.insert(ASYNC_THREAD);
        }
    }

    /// Returns whether this fault is armed, and disarms it.
    fn triggers(&mut self, fault: Fault) -> bool {
        if self.armed_fault != Some(fault) {
            return false;
        }
        self.armed_fault = None;
        self.faults += 1;
        let owner = self.current;
        self.tasks[owner].progress.faults.push(fault);
        true
    }

    fn savepoint(&mut self) -> QueryResult<(&mut Vec<usize>, &mut Option<usize>)> {
        match &mut self.database.transaction {
            Some(Transaction { rows, savepoint }) if savepoint.is_some() => Ok((rows, savepoint)),
            _ => Err(database_error("no such savepoint: unit")),
        }
    }

    /// Says that the unit is in the open transaction.
    fn enter_transaction(&mut self) {
        let owner = self.current;
        self.tasks[owner].progress.transaction = self.database.ended.len();
    }

    fn execute(&mut self, sql: &str) -> QueryResult<()> {
        self.check_thread();
        match sql {
            "BEGIN IMMEDIATE" if self.triggers(Fault::BeginFails) => Err(database_error("database is locked")),
            "BEGIN" | "BEGIN IMMEDIATE" if self.database.transaction.is_some() => {
                Err(database_error("cannot start a transaction within a transaction"))
            }
            "BEGIN" | "BEGIN IMMEDIATE" => {
                self.database.transaction = Some(Transaction::default());
                self.enter_transaction();
                Ok(())
            }
            "ROLLBACK" => {
                if self.triggers(Fault::EndFails) {
                    return Err(database_error("disk I/O error"));
                }
                if self.database.transaction.is_none() {
                    return Err(database_error("cannot rollback - no transaction is active"));
                }
                self.database.roll_back();
                Ok(())
            }
            "SAVEPOINT unit" => {
                let Some(transaction) = &mut self.database.transaction else {
                    return Err(database_error("no transaction"));
                };
                if transaction.savepoint.replace(transaction.rows.len()).is_some() {
                    self.violations.insert(OUTSIDE_UNIT);
                }
                self.enter_transaction();
                Ok(())
            }
            "RELEASE unit" | "ROLLBACK TO unit; RELEASE unit" => {
                if self.triggers(Fault::EndFails) {
                    return Err(database_error("disk I/O error"));
                }
                let (rows, savepoint) = self.savepoint()?;
                let before = savepoint.take().unwrap();
                if sql != "RELEASE unit" {
                    rows.truncate(before);
                }
                Ok(())
            }
            "COMMIT" => {
                if self.triggers(Fault::CommitFails) {
                    return Err(database_error("database or disk is full"));
                }
                let is_outcome_unknown = self.triggers(Fault::CommitOutcomeUnknown);
                let Some(transaction) = self.database.transaction.take() else {
                    return Err(database_error("no transaction"));
                };
                if transaction.savepoint.is_some() {
                    self.violations.insert(OUTSIDE_UNIT);
                }
                self.database.durable.extend(&transaction.rows);
                self.database.ended.push((transaction.rows, true));
                if is_outcome_unknown { Err(database_error("disk I/O error")) } else { Ok(()) }
            }
            insert => self.insert(insert.strip_prefix("INSERT ").unwrap().parse().unwrap()),
        }
    }

    fn insert(&mut self, unit: usize) -> QueryResult<()> {
        if self.triggers(Fault::InsertFails) {
            return Err(database_error("constraint failed"));
        }
        if self.triggers(Fault::InsertRollsBack) {
            self.database.roll_back();
            return Err(database_error("database or disk is full"));
        }
        // Only the first unit of a transaction has no savepoint.
        let rows = match &mut self.database.transaction {
            Some(Transaction { rows, savepoint }) if savepoint.is_some() || rows.is_empty() => rows,
            _ => {
                self.violations.insert(OUTSIDE_UNIT);
                return Err(database_error("outside of a unit"));
            }
        };
        rows.push(unit);
        let seen = rows.iter().copied().filter(|row| *row != unit).collect();
        self.tasks[unit].seen = seen;
        Ok(())
    }
}

fn database_error(message: &'static str) -> DieselError {
    DieselError::DatabaseError(DatabaseErrorKind::Unknown, Box::new(message.to_owned()))
}

/// A connection to the database of a world.
struct Connection(World);

impl SimpleConnection for Connection {
    fn batch_execute(&mut self, sql: &str) -> QueryResult<()> {
        if sql == "COMMIT" && self.0.with(|inner| inner.others_run_during_commit) {
            self.0.preempt();
        }
        if sql.starts_with("INSERT") && self.0.with(|inner| inner.triggers(Fault::InsertPanics)) {
            // Panics without a message, which would be printed thousands of times.
            resume_unwind(Box::new("planted"));
        }
        self.0.with(|inner| inner.execute(sql))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.with(|inner| {
            inner.check_thread();
            inner.database.connections -= 1;
            inner.database.roll_back();
        });
    }
}

/// Runs a unit, as its caller.
async fn unit(world: World, writer: Writer<World>, unit: usize, end: End, statement: bool) {
    let insert = move |connection: &mut Connection| Ok(connection.batch_execute(&format!("INSERT {unit}"))?);
    let work = async {
        let guard = if statement {
            let (guard, ()) = writer.begin(|_| Ok(())).await?;
            match guard.run(insert).await? {
                (guard, Err(_)) if end == End::CommitAnyway => {
                    let (guard, inserted) = guard.run(insert).await?;
                    inserted?;
                    guard
                }
                (guard, inserted) => {
                    inserted?;
                    guard
                }
            }
        } else {
            writer.begin(insert).await?.0
        };
        match end {
            End::Commit | End::CommitAnyway => writer.commit(guard, |_| Ok(())).await.map(|()| Reported::Committed),
            End::RollBack => writer.roll_back(guard).await.map(|()| Reported::RolledBack),
            End::Drop => Err(StoreError::Fatal("dropped".into())),
        }
    };
    let reported = work.await.unwrap_or_else(|error| match error {
        StoreError::OutcomeUnknown(_) => Reported::Unknown,
        _ => Reported::Error,
    });
    world.report(unit, reported);
}

/// The observable part of a state: it determines the possible actions and whether the properties hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Summary {
    database: Database,
    tasks: Vec<(Progress, Vec<usize>, bool, bool)>,
    jobs: Vec<usize>,
    queue: Vec<usize>,
    waiting: usize,
    is_locked: bool,
    cancellations: usize,
    faults: usize,
    violations: BTreeSet<&'static str>,
}

impl Summary {
    fn new(inner: &Inner, writer: &Writer<World>) -> Self {
        let task = |task: &Task| (task.progress.clone(), task.seen.clone(), task.future.is_some(), task.can_run());
        Self {
            database: inner.database.clone(),
            tasks: inner.tasks.iter().map(task).collect(),
            jobs: inner.jobs.iter().map(|job| job.owner).collect(),
            queue: inner.queue.clone(),
            waiting: writer.waiting.load(Ordering::SeqCst),
            is_locked: writer.state.try_lock().is_err(),
            cancellations: inner.cancellations,
            faults: inner.faults,
            violations: inner.violations.clone(),
        }
    }

    /// Whether no task and no job can run.
    fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.tasks.iter().all(|(.., can_run)| !can_run)
    }
}

/// A state of the model: the actions that led to it, and its summary.
#[derive(Debug, Clone)]
struct State {
    actions: Vec<Action>,
    summary: Summary,
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        self.summary == other.summary
    }
}

impl std::hash::Hash for State {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.summary.hash(state);
    }
}

impl Plan {
    /// Runs the writer from the start with these actions.
    fn replay(&self, actions: Vec<Action>) -> State {
        let world = World::new(self.planted);
        let writer = Writer::open(world.clone(), Duration::from_secs(1), || ()).unwrap();
        for (place, end) in self.units.iter().enumerate() {
            let unit = unit(world.clone(), writer.clone(), place, *end, self.statements);
            world.spawn(unit);
        }
        world.with(|inner| inner.in_job = false);
        for action in &actions {
            world.apply(*action);
        }
        let summary = world.with(|inner| Summary::new(inner, &writer));
        world.close();
        State { actions, summary }
    }
}

impl Model for Plan {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.replay(vec![])]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let summary = &state.summary;
        for (task, (progress, _, is_alive, can_run)) in summary.tasks.iter().enumerate() {
            if *can_run {
                actions.push(Action::Poll(task));
            }
            let may_cancel = summary.cancellations < self.cancellations && task < self.units.len();
            if *is_alive && progress.polled && may_cancel {
                actions.push(Action::Cancel(task));
            }
            if *is_alive && progress.timer == Timer::Running {
                actions.push(Action::Elapse(task));
            }
        }
        for &owner in &summary.jobs {
            let faults = if summary.faults < self.faults { &FAULTS[..] } else { &[] };
            for fault in std::iter::once(None).chain(faults.iter().copied().map(Some)) {
                actions.push(Action::Run { owner, fault, others_run_during_commit: false });
                if matches!(fault, None | Some(Fault::CommitFails | Fault::CommitOutcomeUnknown)) {
                    actions.push(Action::Run { owner, fault, others_run_during_commit: true });
                }
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut actions = state.actions.clone();
        actions.push(action);
        Some(self.replay(actions))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::<Self>::always(NO_LOST_COMMIT, |_, state| {
                let summary = &state.summary;
                let is_durable = |unit: usize| summary.database.durable.contains(&unit);
                !summary.violations.contains(LOST_COMMIT)
                    && summary.reported().all(|(unit, reported)| reported != Reported::Committed || is_durable(unit))
            }),
            Property::<Self>::always("a failed or rolled back unit is not durable", |_, state| {
                let summary = &state.summary;
                let is_durable = |unit: usize| summary.database.durable.contains(&unit);
                let may_be_durable = [Reported::Committed, Reported::Unknown];
                summary.reported().all(|(unit, reported)| may_be_durable.contains(&reported) || !is_durable(unit))
            }),
            Property::<Self>::always(
                "the rows that a unit has read are durable when its end is reported",
                |_, state| !state.summary.violations.contains(UNDURABLE_READ),
            ),
            Property::<Self>::always(NO_OPEN_TRANSACTION, |_, state| {
                !state.summary.is_idle() || state.summary.database.transaction.is_none()
            }),
            Property::<Self>::always("every caller gets a result", |_, state| {
                !state.summary.is_idle() || state.summary.tasks.iter().all(|(_, _, is_alive, _)| !is_alive)
            }),
            Property::<Self>::always("the lock is free at the end, and no waiter is counted", |_, state| {
                let summary = &state.summary;
                !summary.is_idle() || !summary.is_locked && summary.waiting == 0
            }),
            Property::<Self>::always(BLOCKING_THREADS, |_, state| !state.summary.violations.contains(ASYNC_THREAD)),
            Property::<Self>::always("statements run inside of their unit", |_, state| {
                !state.summary.violations.contains(OUTSIDE_UNIT)
            }),
            Property::<Self>::always("one connection at most", |_, state| state.summary.database.connections <= 1),
        ];
        // The model reaches the interesting states.
        let shares = self.units.iter().filter(|end| matches!(end, End::Commit | End::CommitAnyway)).count() > 1;
        if shares {
            properties.push(Property::<Self>::sometimes("units share a commit", |_, state| {
                state.summary.database.ended.iter().any(|(rows, is_committed)| *is_committed && rows.len() > 1)
            }));
        }
        if shares && self.faults > 0 {
            properties.push(Property::<Self>::sometimes("a shared transaction is lost", |_, state| {
                state.summary.database.ended.iter().any(|(rows, is_committed)| !is_committed && rows.len() > 1)
            }));
        }
        if self.cancellations > 0 {
            properties.push(Property::<Self>::sometimes("a cancelled unit is durable", |_, state| {
                let summary = &state.summary;
                summary
                    .tasks
                    .iter()
                    .enumerate()
                    .any(|(unit, (progress, ..))| progress.cancelled && summary.database.durable.contains(&unit))
            }));
        }
        properties
    }
}

impl Summary {
    fn reported(&self) -> impl Iterator<Item = (usize, Reported)> {
        self.tasks.iter().enumerate().filter_map(|(unit, (progress, ..))| Some((unit, progress.reported?)))
    }
}

/// Checks all orders and returns the violated properties, each with the actions that led there.
fn violated_properties(plan: &Plan) -> Vec<(&'static str, Vec<Action>)> {
    let checker = plan.clone().checker().threads(2).spawn_bfs().join();
    println!("{plan:?}: {} states, {} steps deep", checker.unique_state_count(), checker.max_depth());
    let properties = plan.properties().into_iter().filter_map(|property| {
        let actions = checker.discovery(property.name).map(|path| path.last_state().actions.clone());
        match property.expectation {
            Expectation::Sometimes if actions.is_none() => Some((property.name, vec![])),
            Expectation::Sometimes => None,
            Expectation::Always | Expectation::Eventually => Some((property.name, actions?)),
        }
    });
    properties.collect()
}

#[test]
fn two_units_with_statements_keep_all_properties_in_all_orders() {
    for units in [
        [End::Commit, End::Commit],
        [End::Commit, End::RollBack],
        [End::Commit, End::Drop],
        [End::CommitAnyway, End::CommitAnyway],
    ] {
        let plan = Plan { units: units.into(), statements: true, cancellations: 2, faults: 2, planted: None };
        assert_eq!(violated_properties(&plan), vec![]);
    }
}

#[test]
fn three_units_keep_all_properties_in_all_orders() {
    for (third, cancellations, faults) in [(End::RollBack, 1, 1), (End::Commit, 3, 0), (End::Drop, 0, 2)] {
        let units = vec![End::Commit, End::Commit, third];
        let plan = Plan { units, statements: false, cancellations, faults, planted: None };
        assert_eq!(violated_properties(&plan), vec![]);
    }
}

#[test]
#[ignore = "takes long: cargo xtask torture"]
fn four_units_keep_all_properties_in_all_orders() {
    let units = vec![End::Commit, End::Commit, End::Commit, End::Commit];
    let plan = Plan { units, statements: false, cancellations: 0, faults: 0, planted: None };
    assert_eq!(violated_properties(&plan), vec![]);
}

/// Returns the properties that are violated with this fault in the writer.
fn with_fault(planted: PlantedFault) -> Vec<&'static str> {
    let plan = Plan {
        units: vec![End::Commit, End::Commit],
        statements: true,
        cancellations: 2,
        faults: 1,
        planted: Some(planted),
    };
    violated_properties(&plan).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_planted_lost_commit_is_found() {
    let broken = with_fault(PlantedFault::NotifyBeforeCommit);
    assert!(broken.contains(&NO_LOST_COMMIT), "{broken:?}");
}

#[test]
fn a_planted_open_transaction_is_found() {
    for planted in [PlantedFault::SkipRollback, PlantedFault::SkipPendingCommit] {
        let broken = with_fault(planted);
        assert!(broken.contains(&NO_OPEN_TRANSACTION), "{planted:?}: {broken:?}");
    }
}

#[test]
fn a_planted_rollback_on_an_async_thread_is_found() {
    let broken = with_fault(PlantedFault::RollBackOnAsyncThread);
    assert_eq!(broken, [BLOCKING_THREADS]);
}
