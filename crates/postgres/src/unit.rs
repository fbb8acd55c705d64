//! The unit of work: a transaction, and the claim of its operation key.
//!
//! The claim costs no round trip, because it is sent with the unit's first statement. If the key has a saved response,
//! that statement runs in vain: the end of the unit rolls it back and returns the saved response. A unit that waits for
//! the same key waits in that statement.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use diesel::{OptionalExtension, QueryResult};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{join3, ready};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::search::SearchDocument;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook_event::NewWebhookEvent;
use roadmap_domain::ports::{BeginOutcome, EndOutcome, Store, UnitOfWork};
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::PostgresStore;
use crate::cast::Cast;
use crate::known_words::KnownWords;
use crate::locks::{LockKey, WorkspaceLock, lock_number};
use crate::pool::Pool;
use crate::saved_responses::{FindSavedResponse, SaveResponse, saved_response};
use crate::session::{LastStatement, Session};
use crate::vote_batches::{BatchOutcome, BatchSlot, VoteBatches, VotePermit};
use crate::webhook_events::RecordEvents;

/// An open unit of work.
pub(crate) struct PostgresUnit {
    /// `None` while the unit's vote is queued, and after it was cast in a batch.
    session: Option<Session>,
    units: Pool,
    pub(crate) workspace: Uuid,
    key: Option<OperationKey>,
    claim: Mutex<KeyClaim>,
    vote: VoteState,
    /// The locks of the workspace that the unit holds.
    locks: Vec<WorkspaceLock>,
    known_words: Arc<KnownWords>,
    /// Words that the unit has added to the vocabulary, or found in it.
    learned_words: Vec<String>,
    /// The events that are recorded with the commit.
    events: Vec<NewWebhookEvent>,
}

/// Where the unit's vote is cast, if it casts one.
enum VoteState {
    /// In its own transaction.
    Own,
    /// In its own transaction or, if this is its first statement, in a batch.
    Open(VoteBatches),
    /// In its own transaction. The permit is held until the unit ends.
    Permitted { _permit: VotePermit },
    /// In a batch.
    Batched(BatchSlot),
}

/// The state of the claim of the unit's operation key.
enum KeyClaim {
    /// Not claimed yet.
    Pending,
    /// The key has no saved response, and no other unit can save one before this unit ends. Or there is no key.
    Held,
    /// The key has a saved response.
    Replay(SavedResponse),
    /// Another unit holds the key.
    Busy,
}

impl PostgresUnit {
    /// Returns the words of a document that the unit has to add to the vocabulary, and remembers them if it commits.
    pub(crate) fn learn_words(&mut self, document: &SearchDocument) -> Vec<String> {
        let words = self.known_words.unknown_words(self.workspace, document);
        self.learned_words.extend_from_slice(&words);
        words
    }

    /// Keeps events until the commit, which records them.
    pub(crate) fn keep_events(&mut self, events: &[NewWebhookEvent]) {
        self.events.extend_from_slice(events);
    }

    pub(crate) fn connection(&self) -> Result<&AsyncPgConnection, StoreError> {
        self.session()?.connection()
    }

    fn session(&self) -> Result<&Session, StoreError> {
        // The retry has a transaction of its own.
        self.session.as_ref().ok_or_else(|| StoreError::Transient("the unit has no transaction of its own".into()))
    }

    /// Opens the unit's own transaction, unless it is open.
    async fn open(&mut self) -> Result<(), StoreError> {
        if self.session.is_none() {
            self.session = Some(Session::transaction(&self.units, self.workspace).await?);
        }
        Ok(())
    }

    /// Casts the unit's vote in a batch, if it is the unit's first statement and other votes run. Returns the row of the
    /// feature request and whether the vote is new. `None`: the caller casts the vote in the unit's own transaction.
    pub(crate) async fn cast_together(
        &mut self,
        vote: &Cast,
    ) -> Result<Option<(SummaryRow, Option<bool>)>, StoreError> {
        let VoteState::Open(batches) = &self.vote else { return Ok(None) };
        if self.session()?.has_begun() {
            return Ok(None);
        }
        let batches = batches.clone();
        if let Some(permit) = batches.start_alone(self.workspace) {
            self.vote = VoteState::Permitted { _permit: permit };
            return Ok(None);
        }
        // A queued vote occupies no connection.
        self.session = None;
        let key = self.key.as_ref().map(|key| (key.clone(), lock_number(self.workspace, key.as_str())));
        match batches.cast(vote, key).await? {
            BatchOutcome::Alone(permit) => {
                self.vote = VoteState::Permitted { _permit: permit };
                self.open().await?;
                Ok(None)
            }
            BatchOutcome::Cast { request, is_new, slot } => {
                self.vote = VoteState::Batched(slot);
                *self.claim() = KeyClaim::Held;
                Ok(Some((request, is_new)))
            }
            BatchOutcome::Replay(saved) => {
                *self.claim() = KeyClaim::Replay(saved);
                Err(key_was_used())
            }
        }
    }

    /// Runs a statement. The claim is sent ahead of the first one.
    pub(crate) async fn run<T: Send>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<T, StoreError> {
        let is_pending = matches!(*self.claim(), KeyClaim::Pending);
        match &self.key {
            Some(key) if is_pending => self.run_first(key, statement).await,
            _ => self.session()?.run(statement).await,
        }
    }

    /// As [`Self::run`], for a statement that may return no row.
    pub(crate) async fn run_optional<T: Send>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<Option<T>, StoreError> {
        self.run(statement.map(OptionalExtension::optional)).await
    }

    /// Waits for a lock of the workspace and takes it, unless the unit holds it. This is a statement of its own, so that
    /// the next statements see the changes of the units that it waited for.
    pub(crate) async fn lock_workspace(&mut self, lock: WorkspaceLock) -> Result<(), StoreError> {
        if !self.locks.contains(&lock) {
            let statement = LockKey::of_workspace(self.workspace, lock);
            self.run(statement.execute(&mut self.connection()?)).await?;
            self.locks.push(lock);
        }
        Ok(())
    }

    /// Waits for the lock of a counter of asked mails, which counts for all workspaces, and takes it. It is held until the
    /// unit ends.
    pub(crate) async fn lock_counter(&self, counter: &[u8; 32]) -> Result<(), StoreError> {
        let (number, _) = Uuid::new_v5(&Uuid::nil(), counter).as_u64_pair();
        let statement = LockKey { number: number.cast_signed() };
        self.run(statement.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn run_first<T: Send>(
        &self,
        key: &OperationKey,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<T, StoreError> {
        let session = self.session()?;
        let (mut locking, mut looking) = (session.connection()?, session.connection()?);
        // Only the holder of the lock can use the key. The lookup runs after the lock was taken, so that it sees the
        // saved response of a unit that was waited for.
        let lock = LockKey { number: lock_number(self.workspace, key.as_str()) };
        let lock = lock.execute(&mut locking);
        let look = self.find_saved_response(key).get_result(&mut looking).map(OptionalExtension::optional);
        let at_once = session.has_prepared(LastStatement::Response);
        let began = Instant::now();
        let outcomes = async {
            // A statement that is not prepared yet takes two round trips, to prepare and to execute it. A statement
            // sent after it could overtake it in between.
            Ok(if at_once { join3(lock, look, statement).await } else { (lock.await, look.await, statement.await) })
        };
        let (locked, saved, outcome) = session.run(outcomes).await?;
        if let Err(error) = locked {
            let failure = session.record_failure(error, began.elapsed());
            if matches!(failure, StoreError::Unavailable(_)) && began.elapsed() >= session.lock_timeout() {
                *self.claim() = KeyClaim::Busy;
            }
            return Err(failure);
        }
        match saved.map_err(|error| session.record_failure(error, began.elapsed()))? {
            None => *self.claim() = KeyClaim::Held,
            Some(saved) => {
                *self.claim() = KeyClaim::Replay(saved_response(saved, key)?);
                return Err(key_was_used());
            }
        }
        outcome.map_err(|error| session.record_failure(error, began.elapsed()))
    }

    fn find_saved_response(&self, key: &OperationKey) -> FindSavedResponse {
        FindSavedResponse { workspace: self.workspace, key: key.as_str().to_owned() }
    }

    fn claim(&self) -> MutexGuard<'_, KeyClaim> {
        // Nothing panics while it holds the lock.
        self.claim.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The result of a statement under an operation key with a saved response. The end of the unit returns that response.
fn key_was_used() -> StoreError {
    StoreError::Transient("the operation key was used before".into())
}

impl PostgresStore {
    async fn open_unit(
        &self,
        workspace: WorkspaceId,
        key: Option<OperationKey>,
        vote: VoteState,
    ) -> Result<BeginOutcome, StoreError> {
        let workspace = workspace.uuid();
        Ok(BeginOutcome::Started(Box::new(PostgresUnit {
            session: Some(Session::transaction(&self.units, workspace).await?),
            units: self.units.clone(),
            workspace,
            claim: Mutex::new(if key.is_some() { KeyClaim::Pending } else { KeyClaim::Held }),
            key,
            vote,
            locks: Vec::new(),
            known_words: self.known_words.clone(),
            learned_words: Vec::new(),
            events: Vec::new(),
        })))
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
        self.open_unit(workspace, key, VoteState::Open(self.votes.clone())).await
    }

    async fn begin_retry(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
        self.open_unit(workspace, key, VoteState::Own).await
    }
}

#[async_trait]
impl UnitOfWork for PostgresUnit {
    async fn commit(
        mut self: Box<Self>,
        saved: Option<&SavedResponse>,
        at: Timestamp,
    ) -> Result<EndOutcome, StoreError> {
        let record = self.key.clone().zip(saved).map(|(key, response)| SaveResponse {
            workspace: self.workspace,
            key: key.as_str().to_owned(),
            status: i32::from(response.status),
            body: response.body.clone(),
            at: at.into(),
        });
        if let VoteState::Batched(slot) = self.vote {
            slot.commit(record, self.events).await?;
            return Ok(EndOutcome::Applied);
        }
        let events = RecordEvents::of(self.workspace, &self.events)?;
        self.open().await?;
        // A command without statements has not claimed its key yet.
        let is_pending = matches!(*self.claim(), KeyClaim::Pending);
        if is_pending && let Err(error) = self.run(ready(Ok(()))).await {
            return match self.rollback().await? {
                EndOutcome::Applied => Err(error),
                ended => Ok(ended),
            };
        }
        if let Some(session) = self.session {
            session.commit_recording(record.map(|record| (LastStatement::Response, record)), events).await?;
        }
        self.known_words.remember(self.workspace, &self.learned_words);
        Ok(EndOutcome::Applied)
    }

    async fn rollback(mut self: Box<Self>) -> Result<EndOutcome, StoreError> {
        let claim = std::mem::replace(&mut *self.claim(), KeyClaim::Held);
        if matches!(claim, KeyClaim::Pending) {
            self.open().await?;
        }
        let ended = match (claim, &self.key) {
            (KeyClaim::Replay(response), _) => EndOutcome::Replay(response),
            (KeyClaim::Busy, _) => EndOutcome::KeyBusy,
            (KeyClaim::Pending, Some(_)) if self.session()?.has_failed() => {
                let problem = "a statement failed before the server returned whether the operation key was used";
                return Err(StoreError::Unavailable(problem.into()));
            }
            (KeyClaim::Pending, Some(key)) => {
                // No statement has run yet, so only the saved response is looked up.
                let look = self.find_saved_response(key);
                let saved = self.session()?.run_optional(look.get_result(&mut self.connection()?)).await?;
                saved
                    .map(|saved| saved_response(saved, key))
                    .transpose()?
                    .map_or(EndOutcome::Applied, EndOutcome::Replay)
            }
            (KeyClaim::Pending | KeyClaim::Held, _) => EndOutcome::Applied,
        };
        // The server may have become unreachable while the unit waited for a busy key. A successful rollback shows that
        // it is reachable.
        if let Some(session) = self.session {
            session.roll_back().await?;
        }
        Ok(ended)
    }
}
