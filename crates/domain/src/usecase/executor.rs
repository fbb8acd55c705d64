//! Runs commands in units of work: begin, perform, commit or roll back, with retries.
//!
//! The operation key, the writes, the outgoing mail and the saved response commit in one transaction. Only this module
//! calls `begin`, `commit` and `rollback`.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::field::Empty;
use tracing::{Instrument, Span};
use uuid::Uuid;

use crate::error::{ErrorChain, RoadmapError, StoreError, Validated};
use crate::model::audit::{Actor, ActorKind, Audit, AuditDraft, AuditEntry, Origin, OwnRecord};
use crate::model::id::{AuditEntryId, WebhookEventId, WorkspaceId};
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::timestamp::Timestamp;
use crate::model::usage::Usage;
use crate::model::webhook_event::{EventDraft, NewWebhookEvent};
use crate::policy::{announcements, idempotency, storage};
use crate::ports::{
    BeginOutcome, Clock, ConfigurationObserver, EndOutcome, IdGenerator, IndexingObserver, OperationLockGuard,
    OperationLocks, RetryPause, Store, UnitOfWork,
};
use crate::trace::TRACE_TARGET;
use crate::usecase::storage_budgets::{Reservation, StorageBudgets};
use crate::usecase::target::Target;

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
    /// The workspace's limit of mails per day, if any.
    pub mail_per_day: Option<u64>,
    /// The id of the HTTP request that runs the command, if any.
    pub request_id: Option<&'a str>,
    ids: &'a dyn IdGenerator,
}

impl<'a> OperationContext<'a> {
    /// Creates the context of a command that `actor` runs in `workspace` at `now`, without a limit of mails and outside of an
    /// HTTP request.
    #[must_use]
    pub fn new(workspace: WorkspaceId, now: Timestamp, actor: &'a Actor, ids: &'a dyn IdGenerator) -> Self {
        Self { workspace, now, actor, mail_per_day: None, request_id: None, ids }
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

    /// Performs the command, or returns an error after which the unit of work is rolled back. Takes `&self`, because a
    /// retry calls it again.
    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Self::Output>, RoadmapError>;
}

/// What a command has done: its output, and everything that the executor needs to know about it.
///
/// A command that consists of others joins what they have done ([`Self::join`]), so that nothing of it is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Performed<T> {
    /// The result for the caller.
    pub output: T,
    /// What the audit log records. The entry is part of the unit of work.
    pub audit: Audit,
    /// Maximum number of record bytes that were added ([`crate::policy::storage`]). The command is rolled back if they
    /// do not fit into the storage budget.
    pub stored_bytes: u64,
    /// The size of what the command has recorded about itself: events of a history. They count towards the storage
    /// budget, but no command is rejected because of them.
    pub recorded_bytes: u64,
    /// Whether lanes, tracks, settings or synonyms have changed, so that observers are notified.
    pub configuration_changed: bool,
    /// Whether search documents are left for the background, so that its observer is notified.
    pub documents_outdated: bool,
    /// What has happened, for webhooks. It is part of the unit of work. Which command announces what is a table:
    /// [`crate::policy::announcements`].
    pub events: Vec<EventDraft>,
}

impl<T> Performed<T> {
    /// Returns what a command has done that stored nothing that counts, and left the configuration as it is.
    pub fn new(output: T, audit: Audit) -> Self {
        Self {
            output,
            audit,
            stored_bytes: 0,
            recorded_bytes: 0,
            configuration_changed: false,
            documents_outdated: false,
            events: Vec::new(),
        }
    }

    /// Adds events.
    #[must_use]
    pub fn announcing(mut self, events: impl IntoIterator<Item = EventDraft>) -> Self {
        self.events.extend(events);
        self
    }

    /// Adds record bytes that must fit into the storage budget.
    #[must_use]
    pub fn storing(self, bytes: u64) -> Self {
        Self { stored_bytes: self.stored_bytes.saturating_add(bytes), ..self }
    }

    /// Adds the bytes of recorded events.
    #[must_use]
    pub fn recording(self, bytes: u64) -> Self {
        Self { recorded_bytes: self.recorded_bytes.saturating_add(bytes), ..self }
    }

    /// Counts the stored bytes without a limit, as those of what the team decides about texts that are there.
    #[must_use]
    pub fn never_refused(self) -> Self {
        let recorded_bytes = self.recorded_bytes.saturating_add(self.stored_bytes);
        Self { stored_bytes: 0, recorded_bytes, ..self }
    }

    /// Says that lanes, tracks, settings or synonyms have changed.
    #[must_use]
    pub fn changing_configuration(self) -> Self {
        Self { configuration_changed: true, ..self }
    }

    /// Says that search documents were marked as outdated.
    #[must_use]
    pub fn leaving_outdated_documents(self) -> Self {
        Self { documents_outdated: true, ..self }
    }

    /// Replaces the entry of the audit log by the command's own record, unless nothing has changed.
    #[must_use]
    pub fn with_own_record(self, record: OwnRecord) -> Self {
        let audit = if self.has_changed() { Audit::OwnRecord(record) } else { self.audit };
        Self { audit, ..self }
    }

    /// Replaces the output.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Performed<U> {
        let Self { output, audit, stored_bytes, recorded_bytes, configuration_changed, documents_outdated, events } =
            self;
        let output = change(output);
        Performed { output, audit, stored_bytes, recorded_bytes, configuration_changed, documents_outdated, events }
    }

    /// Adds what another command has done in the same unit of work. Returns the other's output.
    pub fn join<U>(&mut self, other: Performed<U>) -> U {
        let Performed {
            output,
            audit,
            stored_bytes,
            recorded_bytes,
            configuration_changed,
            documents_outdated,
            events,
        } = other;
        self.audit.join(audit);
        self.stored_bytes = self.stored_bytes.saturating_add(stored_bytes);
        self.recorded_bytes = self.recorded_bytes.saturating_add(recorded_bytes);
        self.configuration_changed |= configuration_changed;
        self.documents_outdated |= documents_outdated;
        self.events.extend(events);
        output
    }

    /// Whether the command has changed anything.
    pub fn has_changed(&self) -> bool {
        self.audit != Audit::Unchanged
    }
}

/// A command of a client, some of whose fields may be invalid.
///
/// A record that does not exist is reported before an invalid field (contract section 4).
#[derive(Debug, Clone)]
pub struct Checked<O> {
    /// The record that the command is about.
    pub target: Target,
    /// The command, or the first invalid field.
    pub operation: Validated<O>,
}

#[async_trait]
impl<O: Operation> Operation for Checked<O> {
    type Output = O::Output;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<O::Output>, RoadmapError> {
        match &self.operation {
            // It finds the record itself, mostly with the statement that changes it, perhaps after it has looked up what a
            // field names.
            Ok(operation) => match operation.perform(context, work).await {
                Err(RoadmapError::Invalid(invalid)) => {
                    self.target.locate(work).await?;
                    Err(invalid.into())
                }
                performed => performed,
            },
            Err(invalid) => {
                self.target.locate(work).await?;
                Err(invalid.clone().into())
            }
        }
    }
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
    observer: Option<Arc<dyn ConfigurationObserver>>,
    indexing: Option<Arc<dyn IndexingObserver>>,
    mail_per_day: Option<u64>,
    origin: Arc<Origin>,
}

enum Outcome<T> {
    Fresh(T),
    Replayed(SavedResponse),
}

impl Executor {
    /// Creates an executor without budgets.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        locks: Arc<dyn OperationLocks>,
        pause: Arc<dyn RetryPause>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdGenerator>,
    ) -> Self {
        let origin = Arc::new(Origin::service());
        let (budgets, observer, indexing, mail_per_day) = (None, None, None, None);
        Self { store, locks, pause, clock, ids, budgets, observer, indexing, mail_per_day, origin }
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

    /// Limits the mails that a workspace may send per day. `None` means no limit.
    #[must_use]
    pub fn with_mail_budget(self, mail_per_day: Option<u64>) -> Self {
        Self { mail_per_day, ..self }
    }

    /// Notifies an observer of changes of lanes, tracks, settings and synonyms.
    #[must_use]
    pub fn with_configuration_observer(self, observer: Arc<dyn ConfigurationObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Notifies an observer of search documents that are left for the background.
    #[must_use]
    pub fn with_indexing_observer(self, observer: Arc<dyn IndexingObserver>) -> Self {
        Self { indexing: Some(observer), ..self }
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
        let _guard = self.lock_key(workspace, key).await?;
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

    /// Returns the saved response of an operation key, if there is one, and otherwise checks that the record exists that
    /// the command is about: what is known before the fields of a large body are read.
    ///
    /// # Errors
    /// - [`RoadmapError::NotFound`] when there is no such record.
    /// - [`RoadmapError::OperationInProgress`] when the wait for another request with the key times out.
    /// - Errors of the store.
    pub async fn find_saved_response(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
        target: &Target,
    ) -> Result<Option<OperationResponse>, RoadmapError> {
        let lookup = self.find_in_unit(workspace, key, target);
        lookup.instrument(unit_span("FindSavedResponse", workspace, 1)).await
    }

    async fn find_in_unit(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
        target: &Target,
    ) -> Result<Option<OperationResponse>, RoadmapError> {
        let replay = |response| Ok(Some(OperationResponse { response, replayed: true }));
        let _guard = self.lock_key(workspace, key).await?;
        let mut work = match self.store.begin(workspace, key.cloned()).await? {
            BeginOutcome::Started(work) => work,
            BeginOutcome::Replay(saved) => return replay(saved),
        };
        let located = target.locate(&mut *work).await;
        match work.rollback().await? {
            EndOutcome::Applied => located.map(|()| None),
            EndOutcome::Replay(saved) => replay(saved),
            EndOutcome::KeyBusy => Err(RoadmapError::OperationInProgress),
        }
    }

    /// Waits until no other request with the key runs in this process.
    async fn lock_key(
        &self,
        workspace: WorkspaceId,
        key: Option<&OperationKey>,
    ) -> Result<Option<OperationLockGuard>, RoadmapError> {
        Ok(match key {
            Some(key) => Some(self.locks.acquire(workspace, key).await.ok_or(RoadmapError::OperationInProgress)?),
            None => None,
        })
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
        let name = operation_name::<O>();
        // The error of an earlier attempt whose commit result was lost. With a key a retry is safe: it either finds the
        // saved response or runs the command.
        let mut unknown = None;
        for attempt in 1.. {
            let is_last = attempt >= MAX_ATTEMPTS;
            let span = unit_span(name, workspace, attempt);
            let outcome = self.attempt(workspace, key, operation, attempt > 1, render, save);
            let outcome = outcome.instrument(span.clone()).await;
            if let Err(RoadmapError::Store(_)) = &outcome {
                span.record("otel.status_code", "error");
            }
            drop(span);
            match outcome {
                Err(RoadmapError::Store(error @ StoreError::Transient(_))) if !is_last => {
                    let error = ErrorChain::new(&error);
                    tracing::info!(operation = name, attempt, %error, "retrying a unit of work that the store rolled back");
                }
                Err(RoadmapError::Store(error @ StoreError::OutcomeUnknown(_))) if has_key && !is_last => {
                    let chain = ErrorChain::new(&error);
                    tracing::warn!(operation = name, attempt, error = %chain, "retrying a unit of work whose outcome is unknown");
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
        is_retry: bool,
        render: &(impl Fn(O::Output) -> T + Send + Sync),
        save: &(impl Fn(&T) -> Option<SavedResponse> + Send + Sync),
    ) -> Result<Outcome<T>, RoadmapError> {
        if let Some(budgets) = &self.budgets {
            budgets.load(workspace).await?;
        }
        let begin = if is_retry {
            self.store.begin_retry(workspace, key.cloned())
        } else {
            self.store.begin(workspace, key.cloned())
        };
        let mut work = match begin.await? {
            BeginOutcome::Started(work) => work,
            BeginOutcome::Replay(saved) => return Ok(Outcome::Replayed(saved)),
        };
        let mut context = OperationContext::new(workspace, self.clock.now(), &self.origin.actor, &*self.ids);
        context.mail_per_day = self.mail_per_day;
        context.request_id = self.origin.request_id.as_deref();
        match self.perform_and_record(operation, &context, &mut *work).await {
            Ok((performed, reservation)) => {
                let (has_changed, configuration_changed) = (performed.has_changed(), performed.configuration_changed);
                let (recorded_bytes, documents_outdated) = (performed.recorded_bytes, performed.documents_outdated);
                let rendered = render(performed.output);
                let saved = if key.is_some() { save(&rendered) } else { None };
                let committed = work.commit(saved.as_ref(), context.now).await;
                // Also when the result of the commit is lost.
                if let Some(observer) = self.observer.as_ref().filter(|_| configuration_changed) {
                    observer.configuration_changed(workspace);
                }
                if let Some(observer) = self.indexing.as_ref().filter(|_| documents_outdated) {
                    observer.documents_outdated(workspace);
                }
                match committed? {
                    EndOutcome::Applied => {
                        if let Some(reservation) = reservation {
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

    /// Performs the operation, reserves storage for what it stored, adds its entries to the audit log, and records its events.
    ///
    /// Entries of customers do not count towards the storage budget: it belongs to the team.
    async fn perform_and_record<O: Operation>(
        &self,
        operation: &O,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<(Performed<O::Output>, Option<Reservation>), RoadmapError> {
        let mut performed = operation.perform(context, work).await?;
        debug_assert!(
            announcements::are_complete(&performed.audit, &performed.events),
            "{} does not announce what {:?} says",
            std::any::type_name::<O>(),
            performed.audit
        );
        // In memory: a unit of work is open.
        let added = Usage::from_records(performed.stored_bytes);
        let reserve = |budgets: &Arc<StorageBudgets>| budgets.reserve(context.workspace, added);
        let reservation = self.budgets.as_ref().map(reserve).transpose()?;
        for AuditDraft { action, subject, changes } in performed.audit.clone().into_entries() {
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
                performed.recorded_bytes += storage::AUDIT_ENTRY_BYTES;
            }
        }
        if !performed.events.is_empty() {
            let event = |draft| NewWebhookEvent {
                id: context.new_id(WebhookEventId::new),
                draft,
                actor: self.origin.actor.clone(),
                at: context.now,
            };
            let events: Vec<_> = std::mem::take(&mut performed.events).into_iter().map(event).collect();
            work.record_events(&events).await?;
        }
        Ok((performed, reservation))
    }
}

/// Returns the name of a command in traces and in the log: that of its type, and of the one that [`Checked`] contains.
fn operation_name<O: Operation>() -> &'static str {
    let path = std::any::type_name::<O>().trim_end_matches('>');
    let path = path.rsplit_once('<').map_or(path, |(_, inner)| inner);
    path.rsplit_once("::").map_or(path, |(_, name)| name)
}

/// Opens the span of one attempt to run a unit of work, in the trace of the request.
fn unit_span(name: &'static str, workspace: WorkspaceId, attempt: u32) -> Span {
    tracing::info_span!(
        target: TRACE_TARGET,
        "unit of work",
        otel.name = name,
        otel.status_code = Empty,
        %workspace,
        attempt,
    )
}

#[cfg(test)]
mod tests {
    //! The eight rules of contract section 4.10, each under its number.

    use super::*;
    use crate::error::{Budget, FieldError, OverBudget, Resource};
    use crate::model::audit::{Change, Channel, OwnRecord, Subject};
    use crate::model::board::Board;
    use crate::model::id::LaneId;
    use crate::model::localized::Localized;
    use crate::model::text::Name;
    use crate::model::track::{Lane, LaneKind};
    use crate::model::usage::StoredUsage;
    use crate::model::webhook_event::{EventKind, EventRecords};
    use crate::policy::storage::StorageLimits;
    use crate::ports::mocks::{
        MockConfigurationObserver, MockIndexingObserver, MockOperationLocks, MockRetryPause, MockStore, MockUnit,
        MockUsageStore,
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
        changes_configuration: bool,
        outdates_documents: bool,
    }

    impl Counted {
        fn ending(end: fn() -> Result<&'static str, RoadmapError>) -> Self {
            let runs = AtomicU32::new(0);
            Self { runs, end, stored_bytes: 0, changes_configuration: false, outdates_documents: false }
        }

        /// Adds this number of bytes.
        fn adding(self, stored_bytes: u64) -> Self {
            Self { stored_bytes, ..self }
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
        ) -> Result<Performed<&'static str>, RoadmapError> {
            self.runs.fetch_add(1, Ordering::SeqCst);
            let performed = Performed::new((self.end)()?, Audit::OwnRecord(OwnRecord::Vote)).storing(self.stored_bytes);
            let (configuration_changed, documents_outdated) = (self.changes_configuration, self.outdates_documents);
            Ok(Performed { configuration_changed, documents_outdated, ..performed })
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
                .withf(move |saved_response, at| {
                    saved_response.map(|response| (response.status, response.body.clone()))
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
            Ok(self.begun("first"))
        }

        async fn begin_retry(&self, _: WorkspaceId, _: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
            Ok(self.begun("retry"))
        }
    }

    #[test]
    fn the_store_knows_which_units_are_retried() {
        let undone = Counted::ending(|| Err(StoreError::Transient("undone".into()).into()));
        let store = Arc::new(Beginnings::default());
        let mut pause = MockRetryPause::new();
        pause.expect_pause().returning(|_| ());
        let ids = Arc::new(NumberedIds::default());
        let executor =
            Executor::new(store.clone(), Arc::new(unused_locks()), Arc::new(pause), Arc::new(FixedClock), ids);
        block_on(executor.run_without_key(workspace(), &undone)).unwrap_err();
        assert_eq!(*store.0.lock().unwrap(), ["first", "retry", "retry"]);
    }

    /// Addition 4.
    #[test]
    fn observers_are_notified_of_each_commit_that_may_have_changed_a_configuration() {
        let changing = || Counted { changes_configuration: true, ..Counted::ending(|| Ok("done")) };
        let failing =
            || Counted { changes_configuration: true, ..Counted::ending(|| Err(FieldError::missing("name").into())) };
        for (operation, store, notices) in [
            (changing(), committing_as(vec![Ok(EndOutcome::Applied)]), 1),
            (changing(), committing_as(vec![outcome_unknown()]), 1),
            (Counted::ending(|| Ok("done")), committing_as(vec![Ok(EndOutcome::Applied)]), 0),
            (failing(), rolling_back(), 0),
        ] {
            let mut observer = MockConfigurationObserver::new();
            observer
                .expect_configuration_changed()
                .with(mockall::predicate::eq(workspace()))
                .times(notices)
                .return_const(());
            let executor = executor(store, unused_locks()).with_configuration_observer(Arc::new(observer));
            // Its outcome is looked at elsewhere.
            drop(block_on(executor.run_without_key(workspace(), &operation)));
        }
    }

    #[test]
    fn an_observer_is_notified_of_documents_that_are_left_for_the_background() {
        let leaving = || Counted { outdates_documents: true, ..Counted::ending(|| Ok("done")) };
        for (operation, store, notices) in [
            (leaving(), committing_as(vec![Ok(EndOutcome::Applied)]), 1),
            (leaving(), committing_as(vec![outcome_unknown()]), 1),
            (Counted::ending(|| Ok("done")), committing_as(vec![Ok(EndOutcome::Applied)]), 0),
        ] {
            let mut observer = MockIndexingObserver::new();
            let outdated = observer.expect_documents_outdated();
            outdated.with(mockall::predicate::eq(workspace())).times(notices).return_const(());
            let executor = executor(store, unused_locks()).with_indexing_observer(Arc::new(observer));
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
    fn an_operation_over_the_budget_is_rolled_back_and_one_that_adds_nothing_is_not() {
        let budgets = nearly_used_up(usage());
        let too_large = Counted::ending(|| Ok("done")).adding(101);
        let refused = executor(rolling_back(), free_locks()).with_budgets(budgets.clone());
        let outcome = block_on(refused.run(workspace(), Some(&key("k")), &too_large, created));
        let over = OverBudget { budget: Budget::StoredRecords, limit: 1_000 };
        assert!(matches!(outcome, Err(RoadmapError::OverBudget(found)) if found == over));
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
        for (store, runs) in [(replayed_at_begin, 0), (ending(EndOutcome::Replay(created("first"))), 1)] {
            let operation = Counted::ending(|| Ok("second")).adding(101);
            let executor = executor(store, free_locks()).with_budgets(nearly_used_up(usage()));
            let outcome = block_on(executor.run(workspace(), Some(&key("k")), &operation, created)).unwrap();
            let replay = OperationResponse { response: created("first"), replayed: true };
            assert_eq!((outcome, operation.runs()), (replay, runs));
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
        ) -> Result<Performed<&'static str>, RoadmapError> {
            assert_eq!(context.actor, &operator().actor);
            Ok(Performed::new("done", self.0.clone()))
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
                    == (&operator(), now(), "lane.update", &subject)
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
        let operation = Audited(Audit::with_changes("lane.update", "lane", Some(Uuid::from_u128(9)), changes));
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

        async fn perform(
            &self,
            _: &OperationContext<'_>,
            _: &mut dyn UnitOfWork,
        ) -> Result<Performed<()>, RoadmapError> {
            Ok(Performed::new((), self.0.clone()).storing(500))
        }
    }

    #[test]
    fn what_changed_nothing_and_the_entries_of_customers_use_no_storage() {
        let customer = Origin {
            actor: Actor::customer(crate::model::id::CustomerId::new(Uuid::from_u128(5))),
            channel: Channel::Page,
            request_id: None,
        };
        let entry = || Audit::entry("subscription.delete", "feature_request", None);
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

    #[test]
    fn joined_operations_lose_nothing() {
        let entry = |action| Audit::entry(action, "lane", None);
        let mut both = Performed::new("first", entry("one")).storing(1).recording(10);
        let second = Performed::new("second", entry("two")).storing(2).recording(20).changing_configuration();
        let event = |kind| EventDraft::new(kind, EventRecords::default());
        let second = second.leaving_outdated_documents().announcing([event(EventKind::VoteRemoved)]);
        both = both.announcing([event(EventKind::VoteCreated)]);
        assert_eq!(both.join(second), "second");
        let entries = Audit::Entries([entry("one"), entry("two")].into_iter().flat_map(Audit::into_entries).collect());
        let expected = Performed {
            output: "first",
            audit: entries,
            stored_bytes: 3,
            recorded_bytes: 30,
            configuration_changed: true,
            documents_outdated: true,
            events: vec![event(EventKind::VoteCreated), event(EventKind::VoteRemoved)],
        };
        assert_eq!(both, expected);
        assert_eq!(both.clone().map(drop), Performed { output: (), ..expected.clone().map(drop) });
        assert_eq!(both.never_refused(), Performed { stored_bytes: 0, recorded_bytes: 33, ..expected });
    }

    #[test]
    fn what_was_recorded_stays_recorded_when_operations_are_joined() {
        let (unchanged, own, entry) =
            (Audit::Unchanged, Audit::OwnRecord(OwnRecord::Vote), Audit::entry("one", "lane", None));
        for (first, second, expected) in [
            (&unchanged, &unchanged, &unchanged),
            (&unchanged, &own, &own),
            (&own, &unchanged, &own),
            (&own, &entry, &entry),
            (&entry, &own, &entry),
            (&unchanged, &entry, &entry),
        ] {
            let mut audit = first.clone();
            audit.join(second.clone());
            assert_eq!(audit, *expected);
        }
        let own_record = |audit: &Audit| Performed::new((), audit.clone()).with_own_record(OwnRecord::Comment).audit;
        assert_eq!([&unchanged, &entry].map(own_record), [unchanged, Audit::OwnRecord(OwnRecord::Comment)]);
    }

    /// A command about a lane of the board, whose only field is invalid.
    fn invalid(lane: LaneId) -> Checked<Counted> {
        Checked { target: Target::Lane(lane), operation: Err(FieldError::missing("name")) }
    }

    fn lane(number: u128) -> LaneId {
        LaneId::new(Uuid::from_u128(number))
    }

    /// A unit whose board has the lane 1, and which is rolled back.
    fn unit_with_lane(end: EndOutcome) -> MockStore {
        let mut unit = MockUnit::new();
        unit.expect_load_board().returning(|| {
            let mut board = Board::default();
            board
                .add_lane(
                    Lane {
                        id: lane(1),
                        name: Name::from_stored("Planned".to_owned()),
                        kind: LaneKind::Planned,
                        names: Localized::default(),
                    },
                    None,
                )
                .unwrap();
            Ok(board)
        });
        unit.expect_rollback().times(1).return_once(move || Ok(end));
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Started(Box::new(unit))));
        store
    }

    #[test]
    fn a_missing_record_and_a_saved_response_come_before_an_invalid_field() {
        let run = |number, end| {
            let executor = executor(unit_with_lane(end), free_locks());
            let outcome = block_on(executor.run(workspace(), Some(&key("k")), &invalid(lane(number)), created));
            outcome.map(|response| response.replayed).map_err(|error| error.to_string())
        };
        assert_eq!(run(9, EndOutcome::Applied).unwrap_err(), "Lane does not exist.");
        let missing = FieldError::missing("name").to_string();
        assert_eq!(run(1, EndOutcome::Applied).unwrap_err(), missing);
        assert_eq!(run(1, EndOutcome::Replay(created("first"))), Ok(true));
    }

    #[test]
    fn a_command_has_the_name_of_its_type() {
        assert_eq!([operation_name::<Counted>(), operation_name::<Checked<Counted>>()], ["Counted"; 2]);
    }

    #[test]
    fn what_is_known_before_a_body_is_read_is_found() {
        let find = |number, end| {
            let executor = executor(unit_with_lane(end), free_locks());
            let target = Target::Lane(lane(number));
            let saved = block_on(executor.find_saved_response(workspace(), Some(&key("k")), &target));
            saved.map_err(|error| error.to_string())
        };
        let replay = OperationResponse { response: created("first"), replayed: true };
        assert_eq!(find(9, EndOutcome::Applied).unwrap_err(), "Lane does not exist.");
        assert_eq!(find(1, EndOutcome::Applied), Ok(None));
        assert_eq!(find(9, EndOutcome::Replay(created("first"))), Ok(Some(replay.clone())));
        let busy = RoadmapError::OperationInProgress.to_string();
        assert_eq!(find(1, EndOutcome::KeyBusy).unwrap_err(), busy);
        let mut store = MockStore::new();
        store.expect_begin().return_once(|_, _| Ok(BeginOutcome::Replay(created("first"))));
        let saved = executor(store, free_locks());
        let saved = block_on(saved.find_saved_response(workspace(), Some(&key("k")), &Target::Workspace));
        assert_eq!(saved.unwrap(), Some(replay));
    }
}
