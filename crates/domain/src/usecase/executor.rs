//! Runs commands in units of work: begin, perform, commit or roll back, with retries.
//!
//! The operation key, the writes, the outgoing mail and the saved response commit in one transaction. Only this module
//! calls `begin`, `commit` and `rollback`.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{ErrorChain, OverBudget, RoadmapError, StoreError};
use crate::model::audit::{Actor, ActorKind, Audit, AuditDraft, AuditEntry, Origin};
use crate::model::id::{AuditEntryId, WorkspaceId};
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;
use crate::policy::{idempotency, storage};
use crate::ports::{
    BeginOutcome, BoardObserver, Clock, EndOutcome, IdGenerator, OperationLocks, RetryPause, Store, UnitOfWork,
};
use crate::usecase::storage_budgets::{Reservation, StorageBudgets};

/// Maximum number of attempts when the store rolls back a unit of work or loses its result.
const MAX_ATTEMPTS: u32 = 3;

/// The context in which a command runs.
pub struct OperationContext<'a> {
    /// The workspace. The command has no access to any other.
    pub workspace: WorkspaceId,
    /// Timestamp of the start of the unit of work. All rows that the command stores carry it.
    pub now: Timestamp,
    /// Who runs the command.
    pub actor: &'a Actor,
    ids: &'a dyn IdGenerator,
}

impl<'a> OperationContext<'a> {
    /// Creates the context of a command that `actor` runs in `workspace` at `now`.
    #[must_use]
    pub fn new(workspace: WorkspaceId, now: Timestamp, actor: &'a Actor, ids: &'a dyn IdGenerator) -> Self {
        Self { workspace, now, actor, ids }
    }

    /// Generates an ID of the type that `wrap` creates.
    pub fn new_id<T>(&self, wrap: fn(Uuid) -> T) -> T {
        wrap(self.ids.next(self.now))
    }
}

/// A command that runs in a unit of work.
#[async_trait]
pub trait Operation: Send + Sync {
    /// The result of the command.
    type Output: Send;

    /// Performs the command. Takes `&self`, because a retry calls it again.
    ///
    /// The contract defines the order of checks: first the existence of the record, then the fields.
    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Self::Output, RoadmapError>;

    /// Returns the maximum number of record bytes that the command adds ([`crate::policy::storage`]).
    ///
    /// A command that adds none is never rejected because of the storage budget.
    fn stored_bytes(&self) -> u64 {
        0
    }

    /// Returns the size of what the command has recorded about itself: events of a history. They count towards the
    /// storage budget, but no command is rejected because of them.
    fn recorded_bytes(&self, _: &Self::Output) -> u64 {
        0
    }

    /// Whether the only write of the command is one vote, so that the store may cast it together with others
    /// ([`Store::begin_vote`]).
    fn casts_one_vote(&self) -> bool {
        false
    }

    /// Whether the command changes lanes or tracks, so that observers of the board are notified.
    fn changes_board(&self) -> bool {
        false
    }

    /// Returns what the audit log records about the command. The entry is part of the unit of work.
    fn audit(&self, output: &Self::Output) -> Audit;
}

/// The response of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationResponse {
    /// The status and the body.
    pub response: SavedResponse,
    /// Whether this is the saved response of an earlier use of the operation key. Then nothing ran.
    pub replayed: bool,
}

/// Runs commands in units of work.
#[derive(Clone)]
pub struct Executor {
    store: Arc<dyn Store>,
    locks: Arc<dyn OperationLocks>,
    pause: Arc<dyn RetryPause>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdGenerator>,
    budgets: Option<Arc<StorageBudgets>>,
    boards: Option<Arc<dyn BoardObserver>>,
    origin: Arc<Origin>,
}

/// What a performed operation has stored besides its records.
struct Recorded {
    /// Whether the operation changed anything.
    has_changed: bool,
    /// The counted size of the recorded events and audit entries.
    bytes: u64,
}

enum Outcome<T> {
    Fresh(T),
    Replayed(SavedResponse),
}

impl Executor {
    /// Creates an executor without storage budgets.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        locks: Arc<dyn OperationLocks>,
        pause: Arc<dyn RetryPause>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Self {
        Self { store, locks, pause, clock, ids, budgets: None, boards: None, origin: Arc::new(Origin::service()) }
    }

    /// Returns an executor whose commands have this origin. Without it, they are those of the service itself.
    #[must_use]
    pub fn acting_as(&self, origin: Origin) -> Self {
        Self { origin: Arc::new(origin), ..self.clone() }
    }

    /// Enforces storage budgets.
    #[must_use]
    pub fn with_budgets(self, budgets: Arc<StorageBudgets>) -> Self {
        Self { budgets: Some(budgets), ..self }
    }

    /// Notifies an observer of changes of lanes and tracks.
    #[must_use]
    pub fn with_board_observer(self, boards: Arc<dyn BoardObserver>) -> Self {
        Self { boards: Some(boards), ..self }
    }

    /// Runs a command at most once under its operation key, contract section 4.10.
    ///
    /// `render` creates the response, which is saved together with the writes.
    ///
    /// # Errors
    /// - Errors of the command. It then has no effect, and no response is saved.
    /// - [`RoadmapError::OperationInProgress`] when the wait for another request with the key times out.
    /// - [`RoadmapError::OverBudget`] when the command does not fit into the workspace's storage budget.
    /// - [`RoadmapError::OutcomeUnknown`] when the result of a commit is lost and retries do not resolve it.
    pub async fn run<O: Operation>(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
        operation: &O,
        render: impl Fn(O::Output) -> SavedResponse + Send + Sync,
    ) -> Result<OperationResponse, RoadmapError> {
        let _guard = match key {
            Some(key) => Some(self.locks.acquire(workspace, key).await.ok_or(RoadmapError::OperationInProgress)?),
            None => None,
        };
        let save = |response: &SavedResponse| idempotency::should_save(response).then(|| response.clone());
        Ok(match self.run_with_retries(workspace, key, operation, &render, &save).await? {
            Outcome::Fresh(response) => OperationResponse { response, replayed: false },
            Outcome::Replayed(response) => OperationResponse { response, replayed: true },
        })
    }

    /// Runs a command without an operation key. No response is saved.
    ///
    /// # Errors
    /// As [`Self::run`], except for [`RoadmapError::OperationInProgress`].
    pub async fn run_without_key<O: Operation>(
        &self,
        workspace: WorkspaceId,
        operation: &O,
    ) -> Result<O::Output, RoadmapError> {
        match self.run_with_retries(workspace, None, operation, &|output| output, &|_| None).await? {
            Outcome::Fresh(output) => Ok(output),
            Outcome::Replayed(_) => {
                Err(StoreError::Fatal("a unit of work without an operation key was replayed".into()).into())
            }
        }
    }

    async fn run_with_retries<O: Operation, T: Send>(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
        operation: &O,
        render: &(impl Fn(O::Output) -> T + Send + Sync),
        save: &(impl Fn(&T) -> Option<SavedResponse> + Send + Sync),
    ) -> Result<Outcome<T>, RoadmapError> {
        let has_key = key.is_some();
        // The error of an earlier attempt whose commit result was lost. With a key a retry is safe: it either finds the
        // saved response or runs the command.
        let mut unknown = None;
        for attempt in 1.. {
            let is_last = attempt >= MAX_ATTEMPTS;
            // What failed together with others runs alone.
            let is_shared = attempt == 1 && operation.casts_one_vote();
            match self.attempt(workspace, key, operation, is_shared, render, save).await {
                Err(RoadmapError::Store(error @ StoreError::Transient(_))) if !is_last => {
                    let error = ErrorChain::new(&error);
                    tracing::debug!(attempt, %error, "retrying a unit of work that the store rolled back");
                }
                Err(RoadmapError::Store(error @ StoreError::OutcomeUnknown(_))) if has_key && !is_last => {
                    let chain = ErrorChain::new(&error);
                    tracing::warn!(attempt, error = %chain, "retrying a unit of work whose outcome is unknown");
                    unknown = Some(error);
                }
                Err(RoadmapError::Store(error)) => {
                    return Err(match (unknown, error) {
                        (Some(source), _) | (None, source @ StoreError::OutcomeUnknown(_)) => {
                            RoadmapError::OutcomeUnknown { has_key, source }
                        }
                        (None, error) => error.into(),
                    });
                }
                result => return result,
            }
            self.pause.pause(attempt).await;
        }
        Err(StoreError::Fatal("a unit of work was retried without end".into()).into())
    }

    async fn attempt<O: Operation, T: Send>(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
        operation: &O,
        is_shared: bool,
        render: &(impl Fn(O::Output) -> T + Send + Sync),
        save: &(impl Fn(&T) -> Option<SavedResponse> + Send + Sync),
    ) -> Result<Outcome<T>, RoadmapError> {
        let added = self.max_added_usage(workspace, operation).await?;
        let begin = if is_shared {
            self.store.begin_vote(workspace, key.cloned())
        } else {
            self.store.begin(workspace, key.cloned())
        };
        let mut work = match begin.await? {
            BeginOutcome::Started(work) => work,
            BeginOutcome::Replay(saved) => return Ok(Outcome::Replayed(saved)),
        };
        let context = OperationContext::new(workspace, self.clock.now(), &self.origin.actor, &*self.ids);
        // A unit of work over the budget is rolled back: the rollback returns the saved response of its key, if any.
        let reservation = self.reserve(workspace, added);
        let performed = match &reservation {
            Ok(_) => self.perform_and_record(operation, &context, &mut *work).await,
            Err(over) => Err((*over).into()),
        };
        match performed {
            Ok((output, Recorded { has_changed, bytes: recorded_bytes })) => {
                let rendered = render(output);
                let saved = if key.is_some() { save(&rendered) } else { None };
                let committed = work.commit(saved.as_ref(), context.now).await;
                // Also when the result of the commit is lost.
                if let Some(boards) = self.boards.as_ref().filter(|_| operation.changes_board()) {
                    boards.board_changed(workspace);
                }
                match committed? {
                    EndOutcome::Applied => {
                        if let Ok(Some(reservation)) = reservation {
                            let response =
                                key.zip(saved.as_ref()).map(|(key, saved)| storage::saved_response_bytes(key, saved));
                            let additional = Usage::from_records(response.unwrap_or(0) + recorded_bytes);
                            if has_changed {
                                reservation.commit(additional);
                            } else {
                                reservation.commit_unused(additional);
                            }
                        }
                        Ok(Outcome::Fresh(rendered))
                    }
                    EndOutcome::Replay(saved) => Ok(Outcome::Replayed(saved)),
                    EndOutcome::KeyBusy => Err(RoadmapError::OperationInProgress),
                }
            }
            Err(error) => match work.rollback().await {
                Ok(EndOutcome::Applied) => Err(error),
                Ok(EndOutcome::Replay(saved)) => Ok(Outcome::Replayed(saved)),
                Ok(EndOutcome::KeyBusy) => Err(RoadmapError::OperationInProgress),
                // The key may have a saved response, in which case the command's error would be wrong.
                Err(second) if key.is_some() => Err(second.into()),
                // A failed rollback does no harm: the store rolls back a unit of work that is dropped.
                Err(second) => {
                    tracing::warn!(error = %ErrorChain::new(&second), "failed to roll back a unit of work");
                    Err(error)
                }
            },
        }
    }

    /// Performs the operation and adds its entry to the audit log.
    ///
    /// Entries of customers do not count towards the storage budget: it belongs to the team.
    async fn perform_and_record<O: Operation>(
        &self,
        operation: &O,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<(O::Output, Recorded), RoadmapError> {
        let output = operation.perform(context, work).await?;
        let mut bytes = operation.recorded_bytes(&output);
        let audit = operation.audit(&output);
        let has_changed = audit != Audit::Unchanged;
        for AuditDraft { action, subject, changes } in audit.into_entries() {
            let entry = AuditEntry {
                id: context.new_id(AuditEntryId::new),
                at: context.now,
                origin: (*self.origin).clone(),
                action: action.to_owned(),
                subject,
                changes,
            };
            work.insert_audit_entry(&entry).await?;
            if self.origin.actor.kind != ActorKind::Customer {
                bytes += storage::AUDIT_ENTRY_BYTES;
            }
        }
        Ok((output, Recorded { has_changed, bytes }))
    }

    /// Returns the maximum usage that the operation adds, and loads the workspace's total if it adds any.
    async fn max_added_usage<O: Operation>(&self, workspace: WorkspaceId, operation: &O) -> Result<Usage, StoreError> {
        let Some(budgets) = &self.budgets else { return Ok(Usage::default()) };
        let bytes = operation.stored_bytes();
        if bytes > 0 {
            budgets.load(workspace).await?;
        }
        Ok(Usage::from_records(bytes))
    }

    /// Reserves storage budget. Does not access the database, because a unit of work is open.
    fn reserve(&self, workspace: WorkspaceId, added: Usage) -> Result<Option<Reservation>, OverBudget> {
        self.budgets.as_ref().map(|budgets| budgets.reserve(workspace, added)).transpose()
    }
}

#[cfg(test)]
mod tests {
    //! The eight rules of contract section 4.10, each under its number.

    use super::*;
    use crate::error::{Budget, FieldError, Resource};
    use crate::model::audit::{Change, Channel, OwnRecord, Subject};
    use crate::model::usage::StoredUsage;
    use crate::policy::storage::StorageLimits;
    use crate::ports::mocks::{
        MockBoardObserver, MockOperationLocks, MockRetryPause, MockStore, MockUnit, MockUsageStore,
    };
    use crate::usecase::fixtures::{FixedClock, NumberedIds, now, workspace};
    use mockall::Sequence;
    use pollster::block_on;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A command that counts its runs and returns a fixed result.
    struct Counted {
        runs: AtomicU32,
        end: fn() -> Result<&'static str, RoadmapError>,
        stored_bytes: u64,
        casts_one_vote: bool,
        changes_board: bool,
    }

    impl Counted {
        fn ending(end: fn() -> Result<&'static str, RoadmapError>) -> Self {
            Self { runs: AtomicU32::new(0), end, stored_bytes: 0, casts_one_vote: false, changes_board: false }
        }

        /// Adds this number of bytes.
        fn adding(self, stored_bytes: u64) -> Self {
            Self { stored_bytes, ..self }
        }

        /// Only casts a vote.
        fn casting_one_vote(self) -> Self {
            Self { casts_one_vote: true, ..self }
        }

        fn runs(&self) -> u32 {
            self.runs.load(Ordering::SeqCst)
        }
    }

    #[async_trait]
    impl Operation for Counted {
        type Output = &'static str;

        async fn perform(
            &self,
            _: &OperationContext<'_>,
            _: &mut dyn UnitOfWork,
        ) -> Result<&'static str, RoadmapError> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            (self.end)()
        }

        fn stored_bytes(&self) -> u64 {
            self.stored_bytes
        }

        fn casts_one_vote(&self) -> bool {
            self.casts_one_vote
        }

        fn changes_board(&self) -> bool {
            self.changes_board
        }

        fn audit(&self, _: &&'static str) -> Audit {
            Audit::OwnRecord(OwnRecord::Vote)
        }
    }

    fn created(body: &'static str) -> SavedResponse {
        SavedResponse { status: 201, body: body.into() }
    }

    fn key(raw: &str) -> OperationKey {
        OperationKey::parse(raw).unwrap().unwrap()
    }

    fn free_locks() -> MockOperationLocks {
        let mut locks = MockOperationLocks::new();
        locks.expect_acquire().returning(|_, _| Some(Box::new(())));
        locks
    }

    fn unused_locks() -> MockOperationLocks {
        MockOperationLocks::new()
    }

    fn executor(store: MockStore, locks: MockOperationLocks) -> Executor {
        pausing(store, locks, 0)
    }

    /// An executor that is expected to pause `pauses` times, with increasing attempt numbers.
    fn pausing(store: MockStore, locks: MockOperationLocks, pauses: usize) -> Executor {
        let mut pause = MockRetryPause::new();
        let paused = AtomicU32::new(0);
        pause
            .expect_pause()
            .withf(move |attempts| *attempts == paused.fetch_add(1, Ordering::SeqCst) + 1)
            .times(pauses)
            .returning(|_| ());
        let ids = Arc::new(NumberedIds::default());
        Executor::new(Arc::new(store), Arc::new(locks), Arc::new(pause), Arc::new(FixedClock), ids)
    }

    /// A store whose units of work return these commit outcomes in order.
    fn committing_as(outcomes: Vec<Result<EndOutcome, StoreError>>) -> MockStore {
        let mut store = MockStore::new();
        let outcomes = std::sync::Mutex::new(outcomes.into_iter());
        store.expect_begin().returning(move |_, _| {
            let outcome = outcomes.lock().unwrap().next().expect("no further unit");
            let mut unit = MockUnit::new();
            unit.expect_commit().return_once(move |_, _| outcome);
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        store
    }

    fn outcome_unknown() -> Result<EndOutcome, StoreError> {
        Err(StoreError::OutcomeUnknown("connection closed".into()))
    }

    fn unavailable() -> Result<EndOutcome, StoreError> {
        Err(StoreError::Unavailable("gone".into()))
    }

    #[test]
    fn a_lost_commit_without_a_key_is_reported_as_unknown_and_runs_once() {
        let operation = Counted::ending(|| Ok("done"));
        let store = committing_as(vec![outcome_unknown()]);
        let outcome = block_on(executor(store, free_locks()).run(workspace(), None, &operation, created));
        assert!(matches!(outcome, Err(RoadmapError::OutcomeUnknown { has_key: false, .. })), "{outcome:?}");
        assert_eq!(operation.runs(), 1);
    }

    #[test]
    fn a_lost_commit_with_a_key_is_resolved_by_the_key() {
        for (outcomes, runs, replayed) in [
            (vec![outcome_unknown(), Ok(EndOutcome::Replay(created("done")))], 2, true),
            (vec![outcome_unknown(), Ok(EndOutcome::Applied)], 2, false),
            (vec![outcome_unknown(), outcome_unknown(), Ok(EndOutcome::Applied)], 3, false),
        ] {
            let operation = Counted::ending(|| Ok("done"));
            let executor = pausing(committing_as(outcomes), free_locks(), usize::try_from(runs).unwrap() - 1);
            let outcome = block_on(executor.run(workspace(), Some(&key("k")), &operation, created)).unwrap();
            assert_eq!(outcome, OperationResponse { response: created("done"), replayed });
            assert_eq!(operation.runs(), runs);
        }
    }

    #[test]
    fn a_lost_commit_that_cannot_be_resolved_is_reported_as_unknown() {
        for (outcomes, pauses) in [
            (vec![outcome_unknown(), unavailable()], 1),
            (vec![outcome_unknown(), outcome_unknown(), outcome_unknown()], 2),
        ] {
            let operation = Counted::ending(|| Ok("done"));
            let executor = pausing(committing_as(outcomes), free_locks(), pauses);
            let outcome = block_on(executor.run(workspace(), Some(&key("k")), &operation, created));
            assert!(matches!(outcome, Err(RoadmapError::OutcomeUnknown { has_key: true, .. })), "{outcome:?}");
        }
    }

    /// A store whose only unit of work expects a commit with `saved`.
    fn committing(saved: Option<SavedResponse>) -> MockStore {
        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(move |_, _| {
            let mut unit = MockUnit::new();
            unit.expect_commit()
                .withf(move |given, at| {
                    given.map(|response| (response.status, response.body.clone()))
                        == saved.clone().map(|response| (response.status, response.body))
                        && *at == now()
                })
                .times(1)
                .return_once(|_, _| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        store
    }

    /// A store whose only unit of work expects a rollback.
    fn rolling_back() -> MockStore {
        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(|_, _| {
            let mut unit = MockUnit::new();
            unit.expect_rollback().times(1).return_once(|| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        store
    }

    /// A store whose only unit of work returns this outcome for both commit and rollback.
    fn ending(ended: EndOutcome) -> MockStore {
        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(move |_, _| {
            let (committed, undone) = (ended.clone(), ended);
            let mut unit = MockUnit::new();
            unit.expect_commit().return_once(|_, _| Ok(committed));
            unit.expect_rollback().return_once(|| Ok(undone));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        store
    }

    /// Commands whose unit of work learns at its end that the key is taken: one that succeeded, one whose first
    /// statement failed, and one that failed validation.
    fn commands_with_a_taken_key() -> [Counted; 3] {
        [
            Counted::ending(|| Ok("done")),
            Counted::ending(|| Err(StoreError::Transient("the key is not this unit's".into()).into())),
            Counted::ending(|| Err(FieldError::missing("content").into())),
        ]
    }

    /// Contract 4.10.
    #[test]
    fn rule_1_the_key_is_claimed_in_the_unit_that_runs() {
        let mut store = MockStore::new();
        store
            .expect_begin()
            .withf(|_, key| key.as_ref().map(OperationKey::as_str) == Some("k 1"))
            .times(1)
            .return_once(|_, _| {
                let mut unit = MockUnit::new();
                unit.expect_commit().return_once(|_, _| Ok(EndOutcome::Applied));
                Ok(BeginOutcome::Started(Box::new(unit)))
            });
        let operation = Counted::ending(|| Ok("done"));
        block_on(executor(store, free_locks()).run(workspace(), Some(&key("k 1")), &operation, created)).unwrap();
    }

    /// Contract 4.10.
    #[test]
    fn rule_2_the_first_response_is_saved_with_the_effect_and_a_later_request_replays_it() {
        let operation = Counted::ending(|| Ok("done"));
        let first = executor(committing(Some(created("done"))), free_locks());
        let outcome = block_on(first.run(workspace(), Some(&key("k")), &operation, created)).unwrap();
        assert_eq!(outcome, OperationResponse { response: created("done"), replayed: false });

        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(|_, _| Ok(BeginOutcome::Replay(created("done"))));
        let outcome =
            block_on(executor(store, free_locks()).run(workspace(), Some(&key("k")), &operation, created)).unwrap();
        assert_eq!(outcome, OperationResponse { response: created("done"), replayed: true });
        assert_eq!(operation.runs(), 1);
    }

    /// Contract 4.10.
    #[test]
    fn rule_3_the_key_is_scoped_to_the_workspace_of_the_request() {
        let mut store = MockStore::new();
        store
            .expect_begin()
            .withf(|requested, _| *requested == workspace())
            .times(1)
            .return_once(|_, _| Ok(BeginOutcome::Replay(created("x"))));
        let mut locks = MockOperationLocks::new();
        locks
            .expect_acquire()
            .withf(|requested, _| *requested == workspace())
            .times(1)
            .returning(|_, _| Some(Box::new(())));
        let operation = Counted::ending(|| Ok("done"));
        block_on(executor(store, locks).run(workspace(), Some(&key("k")), &operation, created)).unwrap();
    }

    /// Contract 4.10.
    #[test]
    fn rule_4_a_replay_depends_on_the_key_alone() {
        // The second request would fail if it were processed.
        let operation = Counted::ending(|| Err(FieldError::missing("content").into()));
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Replay(created("first"))));
        let outcome =
            block_on(executor(store, free_locks()).run(workspace(), Some(&key("k")), &operation, created)).unwrap();
        assert_eq!((outcome.response, outcome.replayed, operation.runs()), (created("first"), true, 0));
    }

    /// Contract 4.10.
    #[test]
    fn rule_5_another_key_runs_again() {
        let operation = Counted::ending(|| Ok("done"));
        for raw in ["k1", "k2", "K1", "k1 "] {
            let outcome = block_on(executor(committing(Some(created("done"))), free_locks()).run(
                workspace(),
                Some(&key(raw)),
                &operation,
                created,
            ));
            assert!(!outcome.unwrap().replayed);
        }
        assert_eq!(operation.runs(), 4);
    }

    /// Contract 4.10.
    #[test]
    fn rule_6_a_failed_request_saves_nothing() {
        for end in [
            (|| Err(RoadmapError::NotFound(Resource::FeatureRequest))) as fn() -> Result<&'static str, RoadmapError>,
            || Err(FieldError::missing("content").into()),
            || Err(StoreError::Unavailable("disk full".into()).into()),
        ] {
            let operation = Counted::ending(end);
            let outcome =
                block_on(executor(rolling_back(), free_locks()).run(workspace(), Some(&key("k")), &operation, created));
            assert_eq!(format!("{:?}", outcome.unwrap_err()), format!("{:?}", end().unwrap_err()));
        }
        // A response without a success status is not saved either.
        let operation = Counted::ending(|| Ok("no"));
        let refused = |_| SavedResponse { status: 422, body: vec![] };
        block_on(executor(committing(None), free_locks()).run(workspace(), Some(&key("k")), &operation, refused))
            .unwrap();
    }

    /// Contract 4.10.
    #[test]
    fn rule_7_without_a_key_every_request_runs_and_nothing_is_saved() {
        let operation = Counted::ending(|| Ok("done"));
        for _ in 0..2 {
            // No lock is acquired: the mock has no expectation.
            let outcome =
                block_on(executor(committing(None), unused_locks()).run(workspace(), None, &operation, created))
                    .unwrap();
            assert!(!outcome.replayed);
        }
        assert_eq!(operation.runs(), 2);
    }

    /// Contract 4.10.
    #[test]
    fn rule_8_a_concurrent_request_waits_for_the_lock_before_it_asks_the_store() {
        let mut order = Sequence::new();
        let mut locks = MockOperationLocks::new();
        locks.expect_acquire().times(1).in_sequence(&mut order).returning(|_, _| Some(Box::new(())));
        let mut store = MockStore::new();
        store
            .expect_begin()
            .times(1)
            .in_sequence(&mut order)
            .return_once(|_, _| Ok(BeginOutcome::Replay(created("first"))));
        let operation = Counted::ending(|| Ok("second"));
        let outcome = block_on(executor(store, locks).run(workspace(), Some(&key("k")), &operation, created)).unwrap();
        assert_eq!(outcome.response, created("first"));
    }

    /// Decision 5.
    #[test]
    fn a_lock_that_is_not_acquired_in_time_fails_before_a_unit_begins() {
        let mut locks = MockOperationLocks::new();
        locks.expect_acquire().returning(|_, _| None);
        let operation = Counted::ending(|| Ok("done"));
        let outcome =
            block_on(executor(MockStore::new(), locks).run(workspace(), Some(&key("k")), &operation, created));
        assert!(matches!(outcome, Err(RoadmapError::OperationInProgress)));
        assert_eq!(operation.runs(), 0);
    }

    #[test]
    fn a_key_that_another_process_holds_for_too_long_is_in_progress() {
        for operation in commands_with_a_taken_key() {
            let outcome = block_on(executor(ending(EndOutcome::KeyBusy), free_locks()).run(
                workspace(),
                Some(&key("k")),
                &operation,
                created,
            ));
            assert!(matches!(outcome, Err(RoadmapError::OperationInProgress)));
        }
    }

    #[test]
    fn a_saved_response_found_at_the_end_of_the_unit_is_replayed() {
        for operation in commands_with_a_taken_key() {
            let store = ending(EndOutcome::Replay(created("first")));
            let outcome =
                block_on(executor(store, free_locks()).run(workspace(), Some(&key("k")), &operation, created));
            assert_eq!(outcome.unwrap(), OperationResponse { response: created("first"), replayed: true });
        }
    }

    #[test]
    fn a_failed_rollback_with_a_key_is_the_result_because_the_key_may_have_a_saved_response() {
        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(|_, _| {
            let mut unit = MockUnit::new();
            unit.expect_rollback().return_once(|| Err(StoreError::Unavailable("gone".into())));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        let operation = Counted::ending(|| Err(FieldError::missing("content").into()));
        let outcome = block_on(executor(store, free_locks()).run(workspace(), Some(&key("k")), &operation, created));
        assert!(matches!(outcome, Err(RoadmapError::Store(StoreError::Unavailable(_)))));
    }

    #[test]
    fn a_unit_that_the_store_rolled_back_is_retried_a_bounded_number_of_times() {
        let operation = Counted::ending(|| Err(StoreError::Transient("undone".into()).into()));
        let mut store = MockStore::new();
        store.expect_begin().times(3).returning(|_, _| {
            let mut unit = MockUnit::new();
            unit.expect_rollback().return_once(|| Ok(EndOutcome::Applied));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        let outcome = block_on(pausing(store, free_locks(), 2).run(workspace(), Some(&key("k")), &operation, created));
        assert!(matches!(outcome, Err(RoadmapError::Store(StoreError::Transient(_)))));
        assert_eq!(operation.runs(), 3);
    }

    /// Decision 5.
    #[test]
    fn a_failed_commit_is_the_result() {
        let mut store = MockStore::new();
        store.expect_begin().times(1).return_once(|_, _| {
            let mut unit = MockUnit::new();
            unit.expect_commit().return_once(|_, _| Err(StoreError::Unavailable("disk full".into())));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        let operation = Counted::ending(|| Ok("done"));
        let outcome = block_on(executor(store, free_locks()).run(workspace(), None, &operation, created));
        assert!(matches!(outcome, Err(RoadmapError::Store(StoreError::Unavailable(_)))));
    }

    /// Records how units of work begin, and rolls them back.
    #[derive(Default)]
    struct Beginnings(std::sync::Mutex<Vec<&'static str>>);

    impl Beginnings {
        fn begun(&self, how: &'static str) -> BeginOutcome {
            self.0.lock().unwrap().push(how);
            let mut unit = MockUnit::new();
            unit.expect_rollback().return_once(|| Ok(EndOutcome::Applied));
            BeginOutcome::Started(Box::new(unit))
        }
    }

    #[async_trait]
    impl Store for Beginnings {
        async fn begin(&self, _: WorkspaceId, _: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
            Ok(self.begun("alone"))
        }

        async fn begin_vote(&self, _: WorkspaceId, _: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
            Ok(self.begun("as a vote"))
        }
    }

    #[test]
    fn only_the_first_attempt_of_a_vote_may_share_a_transaction() {
        let undone = || Counted::ending(|| Err(StoreError::Transient("undone".into()).into()));
        let store = Arc::new(Beginnings::default());
        let mut pause = MockRetryPause::new();
        pause.expect_pause().returning(|_| ());
        let ids = Arc::new(NumberedIds::default());
        let executor =
            Executor::new(store.clone(), Arc::new(unused_locks()), Arc::new(pause), Arc::new(FixedClock), ids);
        block_on(executor.run_without_key(workspace(), &undone().casting_one_vote())).unwrap_err();
        block_on(executor.run_without_key(workspace(), &undone())).unwrap_err();
        assert_eq!(*store.0.lock().unwrap(), ["as a vote", "alone", "alone", "alone", "alone", "alone"]);
    }

    /// Addition 4.
    #[test]
    fn observers_of_boards_are_notified_of_each_commit_that_may_have_changed_one() {
        let changing = || Counted { changes_board: true, ..Counted::ending(|| Ok("done")) };
        let failing = || Counted { changes_board: true, ..Counted::ending(|| Err(FieldError::missing("name").into())) };
        for (operation, store, notices) in [
            (changing(), committing_as(vec![Ok(EndOutcome::Applied)]), 1),
            (changing(), committing_as(vec![outcome_unknown()]), 1),
            (Counted::ending(|| Ok("done")), committing_as(vec![Ok(EndOutcome::Applied)]), 0),
            (failing(), rolling_back(), 0),
        ] {
            let mut boards = MockBoardObserver::new();
            boards.expect_board_changed().with(mockall::predicate::eq(workspace())).times(notices).return_const(());
            let executor = executor(store, unused_locks()).with_board_observer(Arc::new(boards));
            // Its outcome is looked at elsewhere.
            drop(block_on(executor.run_without_key(workspace(), &operation)));
        }
    }

    /// Budgets of a workspace that stores 900 of 1,000 bytes.
    fn nearly_used_up(usage: MockUsageStore) -> Arc<StorageBudgets> {
        let limits = StorageLimits { records: Some(1_000), files: None };
        Arc::new(StorageBudgets::new(Arc::new(usage), Arc::new(FixedClock), limits))
    }

    fn usage() -> MockUsageStore {
        usage_of(900)
    }

    fn usage_of(records: u64) -> MockUsageStore {
        let mut usage = MockUsageStore::new();
        let stored = StoredUsage { usage: Usage::from_records(records), counted_at: Some(now()) };
        usage.expect_load_usage().times(1).return_once(move |_| Ok(Some(stored)));
        usage
    }

    #[test]
    fn an_operation_over_the_budget_does_not_run_and_one_that_adds_nothing_does() {
        let budgets = nearly_used_up(usage());
        let too_large = Counted::ending(|| Ok("done")).adding(101);
        let refused = executor(rolling_back(), free_locks()).with_budgets(budgets.clone());
        let outcome = block_on(refused.run(workspace(), Some(&key("k")), &too_large, created));
        let over = OverBudget { budget: Budget::StoredRecords, limit: 1_000 };
        assert!(matches!(outcome, Err(RoadmapError::OverBudget(found)) if found == over));
        assert_eq!(too_large.runs(), 0);

        let last = Counted::ending(|| Ok("done")).adding(100);
        let runs = executor(committing(None), unused_locks()).with_budgets(budgets.clone());
        block_on(runs.run_without_key(workspace(), &last)).unwrap();
        let move_ = Counted::ending(|| Ok("moved"));
        let runs = executor(committing(Some(created("moved"))), free_locks()).with_budgets(budgets);
        block_on(runs.run(workspace(), Some(&key("k")), &move_, created)).unwrap();
        assert_eq!((last.runs(), move_.runs()), (1, 1));
    }

    #[test]
    fn a_replay_needs_no_budget() {
        // A store reports a used key when the unit of work begins or when it ends.
        let mut replayed_at_begin = MockStore::new();
        replayed_at_begin.expect_begin().return_once(|_, _| Ok(BeginOutcome::Replay(created("first"))));
        for store in [replayed_at_begin, ending(EndOutcome::Replay(created("first")))] {
            let operation = Counted::ending(|| Ok("second")).adding(101);
            let executor = executor(store, free_locks()).with_budgets(nearly_used_up(usage()));
            let outcome = block_on(executor.run(workspace(), Some(&key("k")), &operation, created)).unwrap();
            assert_eq!(
                (outcome, operation.runs()),
                (OperationResponse { response: created("first"), replayed: true }, 0)
            );
        }
    }

    #[test]
    fn committed_operations_count_with_their_saved_response_and_failed_ones_do_not() {
        let mut usage = usage();
        // A row of 200 bytes, the key and the body.
        usage
            .expect_add_usage()
            .withf(|_, added| *added == Usage::from_records(20 + 200 + 1 + 4))
            .times(1)
            .return_once(|_, _| Ok(StoredUsage::default()));
        let budgets = nearly_used_up(usage);
        let failing = Counted::ending(|| Err(FieldError::missing("content").into())).adding(100);
        let fails = executor(rolling_back(), free_locks()).with_budgets(budgets.clone());
        let failed = block_on(fails.run(workspace(), Some(&key("k")), &failing, created));
        assert!(matches!(failed, Err(RoadmapError::Invalid(_))), "{failed:?}");
        let operation = Counted::ending(|| Ok("done")).adding(20);
        let runs = executor(committing(Some(created("done"))), free_locks()).with_budgets(budgets.clone());
        block_on(runs.run(workspace(), Some(&key("k")), &operation, created)).unwrap();
        block_on(budgets.flush()).unwrap();
    }

    /// A command that records this about itself.
    struct Audited(Audit);

    #[async_trait]
    impl Operation for Audited {
        type Output = &'static str;

        async fn perform(
            &self,
            context: &OperationContext<'_>,
            _: &mut dyn UnitOfWork,
        ) -> Result<&'static str, RoadmapError> {
            assert_eq!(context.actor, &operator().actor);
            Ok("done")
        }

        fn audit(&self, output: &&'static str) -> Audit {
            assert_eq!(*output, "done");
            self.0.clone()
        }
    }

    fn operator() -> Origin {
        Origin { actor: Actor::operator("root"), channel: Channel::Command, request_id: Some("r1".to_owned()) }
    }

    /// Addition 6.
    #[test]
    fn an_operation_is_recorded_with_its_origin_in_its_unit_of_work() {
        let changes = vec![Change::new("name", "Old", "New")];
        let mut sequence = Sequence::new();
        let mut unit = MockUnit::new();
        unit.expect_insert_audit_entry()
            .withf(|entry| {
                let subject = Subject { kind: "lane".to_owned(), id: Some(Uuid::from_u128(9)) };
                (&entry.origin, entry.at, entry.action.as_str(), &entry.subject)
                    == (&operator(), now(), "lane.edit", &subject)
                    && entry.changes == [Change::new("name", "Old", "New")]
            })
            .times(1)
            .in_sequence(&mut sequence)
            .returning(|_| Ok(()));
        unit.expect_commit().times(1).in_sequence(&mut sequence).return_once(|_, _| Ok(EndOutcome::Applied));
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Started(Box::new(unit))));
        let mut usage = usage_of(0);
        usage
            .expect_add_usage()
            .withf(|_, added| *added == Usage::from_records(storage::AUDIT_ENTRY_BYTES))
            .times(1)
            .return_once(|_, _| Ok(StoredUsage::default()));
        let budgets = nearly_used_up(usage);
        block_on(budgets.load(workspace())).unwrap();
        let executor = executor(store, unused_locks()).with_budgets(budgets.clone()).acting_as(operator());
        let operation = Audited(Audit::with_changes("lane.edit", "lane", Some(Uuid::from_u128(9)), changes));
        block_on(executor.run_without_key(workspace(), &operation)).unwrap();
        block_on(budgets.flush()).unwrap();
    }

    /// Addition 6.
    #[test]
    fn an_operation_without_a_change_or_with_a_record_of_its_own_has_no_entry() {
        for audit in [Audit::Unchanged, Audit::OwnRecord(OwnRecord::Comment)] {
            // `MockUnit` expects no entry.
            let executor = executor(committing(None), unused_locks()).acting_as(operator());
            block_on(executor.run_without_key(workspace(), &Audited(audit))).unwrap();
        }
    }

    /// A command that may add 500 bytes and records this about itself.
    struct Storing(Audit);

    #[async_trait]
    impl Operation for Storing {
        type Output = ();

        async fn perform(&self, _: &OperationContext<'_>, _: &mut dyn UnitOfWork) -> Result<(), RoadmapError> {
            Ok(())
        }

        fn stored_bytes(&self) -> u64 {
            500
        }

        fn audit(&self, (): &()) -> Audit {
            self.0.clone()
        }
    }

    #[test]
    fn what_changed_nothing_and_the_entries_of_customers_use_no_storage() {
        let customer = Origin {
            actor: Actor::customer(crate::model::id::CustomerId::new(Uuid::from_u128(5))),
            channel: Channel::Page,
            request_id: None,
        };
        let entry = || Audit::entry("vote.withdraw", "feature_request", None);
        for (audit, origin, used) in [
            (Audit::Unchanged, operator(), 0),
            (Audit::OwnRecord(OwnRecord::Vote), operator(), 500),
            (entry(), operator(), 500 + storage::AUDIT_ENTRY_BYTES),
            (entry(), customer, 500),
        ] {
            let mut unit = MockUnit::new();
            unit.expect_insert_audit_entry().returning(|_| Ok(()));
            unit.expect_commit().return_once(|_, _| Ok(EndOutcome::Applied));
            let mut store = MockStore::new();
            store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Started(Box::new(unit))));
            let mut usage = MockUsageStore::new();
            usage.expect_load_usage().returning(|_| Ok(None));
            usage
                .expect_add_usage()
                .withf(move |_, added| *added == Usage::from_records(used))
                .times(usize::from(used > 0))
                .returning(|_, _| Ok(StoredUsage::default()));
            let budgets = Arc::new(StorageBudgets::new(
                Arc::new(usage),
                Arc::new(FixedClock),
                StorageLimits { records: Some(10_000), files: None },
            ));
            let executor = executor(store, unused_locks()).with_budgets(budgets.clone()).acting_as(origin);
            let operation = Storing(audit);
            block_on(executor.run_without_key(workspace(), &operation)).unwrap();
            block_on(budgets.flush()).unwrap();
        }
    }

    /// Addition 6.
    #[test]
    fn an_operation_that_cannot_be_recorded_is_rolled_back() {
        let mut unit = MockUnit::new();
        unit.expect_insert_audit_entry().times(1).returning(|_| Err(StoreError::Unavailable("gone".into())));
        unit.expect_rollback().times(1).return_once(|| Ok(EndOutcome::Applied));
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Started(Box::new(unit))));
        let executor = executor(store, unused_locks()).acting_as(operator());
        let operation = Audited(Audit::entry("lane.delete", "lane", None));
        let outcome = block_on(executor.run_without_key(workspace(), &operation));
        assert!(matches!(outcome, Err(RoadmapError::Store(StoreError::Unavailable(_)))));
    }

    #[test]
    fn a_total_that_cannot_be_read_is_the_result_before_a_unit_begins() {
        let mut usage = MockUsageStore::new();
        usage.expect_load_usage().returning(|_| Err(StoreError::Unavailable("gone".into())));
        let operation = Counted::ending(|| Ok("done")).adding(1);
        let executor = executor(MockStore::new(), unused_locks()).with_budgets(nearly_used_up(usage));
        let outcome = block_on(executor.run_without_key(workspace(), &operation));
        assert!(matches!(outcome, Err(RoadmapError::Store(StoreError::Unavailable(_)))));
    }

    #[test]
    fn the_operation_s_error_is_the_result_even_when_the_rollback_fails() {
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| {
            let mut unit = MockUnit::new();
            unit.expect_rollback().return_once(|| Err(StoreError::Unavailable("gone".into())));
            Ok(BeginOutcome::Started(Box::new(unit)))
        });
        let operation = Counted::ending(|| Err(RoadmapError::NotFound(Resource::Track)));
        let outcome = block_on(executor(store, free_locks()).run_without_key(workspace(), &operation));
        assert!(matches!(outcome, Err(RoadmapError::NotFound(Resource::Track))));
    }
}
