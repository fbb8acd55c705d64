//! Sessions: a connection in the use of one operation, and the statements that must precede its first one.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deadpool::managed::Object;
use diesel::pg::Pg;
use diesel::query_builder::{QueryFragment, QueryId};
use diesel::{OptionalExtension, QueryResult};
use diesel_async::pooled_connection::PoolableConnection;
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::{OptionFuture, join, join3};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use uuid::Uuid;

use crate::connection::Connector;
use crate::errors::{is_definite_rollback, store_error};
use crate::pool::Pool;
use crate::webhook_events::RecordEvents;

/// The workspace of sessions that do not know theirs yet: no workspace's rows are visible.
pub(crate) const NO_WORKSPACE: WorkspaceId = WorkspaceId::new(Uuid::nil());

/// Begins a transaction at the isolation level READ COMMITTED, whatever the database's default is. Units wait for each
/// other's locks and then read again: they rely on each statement seeing everything that was committed before it.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// The statements that are sent ahead of the first statement, in the same round trip.
#[derive(Default)]
struct Preamble {
    /// The statement that sets the workspace. It is not part of the transaction, whose rollback would undo it.
    name: Option<String>,
    /// Whether to begin the transaction.
    begin: bool,
}

/// A last statement before a commit, which is sent together with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastStatement {
    /// Saves the response of a unit of work. The claim of its operation key was sent together with its first statement.
    Response,
    /// Saves the responses of votes that are cast together.
    VoteResponses,
    /// Records the events of a unit of work, or of votes that are cast together.
    Events,
}

/// A connection that works for one workspace.
///
/// Dropping it returns the connection to its pool. If a statement or transaction is unfinished, the connection is
/// closed instead, and the server rolls back.
pub(crate) struct Session {
    /// `None` only after [`Drop`] has taken it.
    pooled: Option<Object<Connector>>,
    workspace: Uuid,
    /// The statements that are still to be sent ahead of the first statement.
    preamble: Mutex<Preamble>,
    /// Whether a statement or transaction is unfinished, so that the connection must not be reused.
    is_dirty: AtomicBool,
    /// Whether there is a transaction that must be ended.
    in_transaction: bool,
    /// Whether a statement of the transaction has failed, so that the server has aborted the transaction.
    failed: AtomicBool,
    /// Whether the server did not respond in time. No further statement is sent then.
    timed_out: AtomicBool,
    response_timeout: Duration,
    lock_timeout: Duration,
}

impl Session {
    /// Opens a session for single statements.
    pub(crate) async fn autocommit(pool: &Pool, workspace: WorkspaceId) -> Result<Self, StoreError> {
        Self::open(pool, workspace.uuid(), false).await
    }

    /// Opens a session with a transaction, which must be committed or rolled back.
    pub(crate) async fn transaction(pool: &Pool, workspace: Uuid) -> Result<Self, StoreError> {
        Self::open(pool, workspace, true).await
    }

    async fn open(pool: &Pool, workspace: Uuid, in_transaction: bool) -> Result<Self, StoreError> {
        let mut pooled = pool.get().await?;
        // The session sets its workspace for row-level security, unless the last session on this connection has set the
        // same one. The setting on the server is unknown until the server has responded.
        let name =
            (pooled.workspace.take() != Some(workspace)).then(|| format!("SET roadmap.workspace_id = '{workspace}'"));
        Ok(Self {
            pooled: Some(pooled),
            workspace,
            in_transaction,
            preamble: Mutex::new(Preamble { name, begin: in_transaction }),
            is_dirty: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            timed_out: AtomicBool::new(false),
            response_timeout: pool.response_timeout,
            lock_timeout: pool.lock_timeout,
        })
    }

    /// Returns the connection, to build the statements that [`Self::run`] runs.
    pub(crate) fn connection(&self) -> Result<&AsyncPgConnection, StoreError> {
        let pooled = self.pooled.as_ref().ok_or_else(|| StoreError::Fatal("the session is over".into()))?;
        Ok(&pooled.connection)
    }

    /// Runs a statement. The preamble is sent ahead of the first one, without waiting for its response.
    pub(crate) async fn run<T: Send>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<T, StoreError> {
        if self.timed_out.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("the server has stopped responding".into()));
        }
        let Preamble { name, begin } = std::mem::take(&mut *self.preamble());
        let connection = self.connection()?;
        let send = |statement: Option<String>| async move {
            match statement {
                Some(statement) => (&mut &*connection).batch_execute(&statement).await,
                None => Ok(()),
            }
        };
        // Polled in this order, and therefore sent in this order.
        let begin = begin.then(|| BEGIN.to_owned());
        let opened = join(send(name), send(begin)).map(|(named, begun)| named.and(begun));
        let began = Instant::now();
        self.is_dirty.store(true, Ordering::SeqCst);
        let outcome = match tokio::time::timeout(self.response_timeout, join(opened, statement)).await {
            Err(elapsed) => {
                self.timed_out.store(true, Ordering::SeqCst);
                return Err(StoreError::Unavailable(elapsed.into()));
            }
            Ok((Err(error), _)) => Err(error),
            Ok((Ok(()), outcome)) => {
                self.is_dirty.store(self.in_transaction, Ordering::SeqCst);
                outcome
            }
        };
        outcome.map_err(|error| self.record_failure(error, began.elapsed()))
    }

    /// Records that a statement has failed after this time, so that the server has aborted the transaction, and
    /// classifies its error.
    pub(crate) fn record_failure(&self, error: diesel::result::Error, took: Duration) -> StoreError {
        self.failed.store(true, Ordering::SeqCst);
        store_error(error, took, self.lock_timeout)
    }

    /// Whether a statement has failed. The server then rejects all others of the transaction.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    /// Whether the server has responded to every statement, so that it can be sent another one.
    pub(crate) fn is_responsive(&mut self) -> bool {
        let is_open = self.pooled.as_mut().is_some_and(|pooled| !pooled.connection.is_broken());
        is_open && !*self.timed_out.get_mut()
    }

    /// How long the server waits for a lock.
    pub(crate) fn lock_timeout(&self) -> Duration {
        self.lock_timeout
    }

    /// Whether the connection has prepared the statements of these commits. It has if it has committed so before.
    pub(crate) fn has_prepared(&self, commit: LastStatement) -> bool {
        self.pooled.as_ref().is_some_and(|pooled| match commit {
            LastStatement::Response => pooled.key_statements_prepared,
            LastStatement::VoteResponses => pooled.vote_statements_prepared,
            LastStatement::Events => pooled.event_statement_prepared,
        })
    }

    /// As [`Self::run`], for a statement that may return no row.
    pub(crate) async fn run_optional<T: Send>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<Option<T>, StoreError> {
        self.run(statement.map(OptionalExtension::optional)).await
    }

    /// Whether the transaction has begun on the server: no part of the preamble is left to send.
    pub(crate) fn has_begun(&self) -> bool {
        let preamble = self.preamble();
        preamble.name.is_none() && !preamble.begin
    }

    fn preamble(&self) -> MutexGuard<'_, Preamble> {
        // Nothing panics while it holds the lock.
        self.preamble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits the transaction, together with a last statement.
    pub(crate) async fn commit(
        self,
        last: Option<(LastStatement, impl QueryFragment<Pg> + QueryId + Send)>,
    ) -> Result<(), StoreError> {
        self.commit_recording(last, None).await
    }

    /// As [`Self::commit`], with the statement that records events between the last statement and the commit.
    pub(crate) async fn commit_recording(
        mut self,
        last: Option<(LastStatement, impl QueryFragment<Pg> + QueryId + Send)>,
        events: Option<RecordEvents>,
    ) -> Result<(), StoreError> {
        if *self.failed.get_mut() {
            // The server would roll back and report that as a success.
            return Err(StoreError::Fatal("a unit with a failed statement cannot be committed".into()));
        }
        let kinds = [last.as_ref().map(|(kind, _)| *kind), events.as_ref().map(|_| LastStatement::Events)];
        if kinds == [None, None] && !self.has_begun() {
            return Ok(());
        }
        let (mut first, mut second, mut third) = (self.connection()?, self.connection()?, self.connection()?);
        let at_once = kinds.into_iter().flatten().all(|kind| self.has_prepared(kind));
        let sent = AtomicBool::new(false);
        let statements = async {
            let commit = async {
                sent.store(true, Ordering::SeqCst);
                third.batch_execute("COMMIT").await
            };
            let last = last.map(|(_, last)| diesel_async::RunQueryDsl::execute(last, &mut first));
            let last = OptionFuture::from(last).map(Option::transpose);
            let events = events.map(|events| diesel_async::RunQueryDsl::execute(events, &mut second));
            let events = OptionFuture::from(events).map(Option::transpose);
            // If a statement fails, the server rolls back instead of committing, and the COMMIT returns no error. The first
            // error is the cause: the server rejects what follows it. A statement that is not prepared yet takes two round
            // trips, and what is sent after it could overtake it.
            let outcome = if at_once {
                let (last, events, committed) = join3(last, events, commit).await;
                last.and(events).and(committed)
            } else {
                match last.await {
                    Ok(_) => match events.await {
                        Ok(_) => commit.await,
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                }
            };
            Ok(outcome)
        };
        let began = Instant::now();
        let outcome = self.run(statements).await;
        let is_sent = sent.load(Ordering::SeqCst);
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) if is_sent && !is_definite_rollback(&error) => {
                return Err(StoreError::OutcomeUnknown(error.into()));
            }
            Ok(Err(error)) => return Err(self.record_failure(error, began.elapsed())),
            Err(StoreError::Unavailable(cause)) if is_sent => return Err(StoreError::OutcomeUnknown(cause)),
            Err(error) => return Err(error),
        }
        self.mark_ended();
        if let Some(pooled) = &mut self.pooled {
            for kind in kinds.into_iter().flatten() {
                match kind {
                    LastStatement::Response => pooled.key_statements_prepared = true,
                    LastStatement::VoteResponses => pooled.vote_statements_prepared = true,
                    LastStatement::Events => pooled.event_statement_prepared = true,
                }
            }
        }
        Ok(())
    }

    /// Rolls the transaction back.
    pub(crate) async fn roll_back(self) -> Result<(), StoreError> {
        self.end_transaction("ROLLBACK").await
    }

    /// Ends the transaction. If this fails, dropping the session closes the connection, which rolls the transaction
    /// back, too.
    async fn end_transaction(mut self, statement: &str) -> Result<(), StoreError> {
        if !self.has_begun() {
            return Ok(());
        }
        let mut connection = self.connection()?;
        self.run(connection.batch_execute(statement)).await?;
        self.mark_ended();
        Ok(())
    }

    /// Records that the transaction has ended.
    fn mark_ended(&mut self) {
        self.is_dirty = AtomicBool::new(false);
        self.in_transaction = false;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(mut pooled) = self.pooled.take() else { return };
        if *self.is_dirty.get_mut() {
            // A reused connection would keep its locks, or return the response to this session's statement to the next
            // session.
            drop(Object::take(pooled));
        } else if self.preamble().name.is_none() {
            pooled.workspace = Some(self.workspace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PostgresOptions;
    use diesel::QueryableByName;
    use diesel::sql_types::Text;
    use diesel_async::RunQueryDsl;
    use roadmap_testkit::postgres::{Database, server};

    #[derive(QueryableByName)]
    struct Level {
        #[diesel(sql_type = Text)]
        level: String,
    }

    /// The connection has another default level, as behind a pooler that drops the settings made at connect.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_transaction_names_its_isolation_level() {
        let database = Database::empty(&server());
        let separator = if database.url.contains('?') { '&' } else { '?' };
        let option = "options=-c%20default_transaction_isolation%3Dserializable";
        let options = PostgresOptions::new(format!("{}{separator}{option}", database.url));
        let pool = Pool::new(Connector::for_login(&options.url).unwrap(), 1, &options).unwrap();
        let level = async |session: Session| {
            let show = diesel::sql_query("SELECT current_setting('transaction_isolation') AS level");
            let level: Level = session.run(show.get_result(&mut session.connection().unwrap())).await.unwrap();
            level.level
        };
        assert_eq!(level(Session::autocommit(&pool, NO_WORKSPACE).await.unwrap()).await, "serializable");
        assert_eq!(level(Session::transaction(&pool, Uuid::nil()).await.unwrap()).await, "read committed");
    }
}
