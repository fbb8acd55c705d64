//! A connection in the use of one call, and what it must be told before its first statement.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deadpool::managed::Object;
use diesel::{OptionalExtension, QueryResult};
use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use futures_util::FutureExt;
use futures_util::future::join;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use uuid::Uuid;

use crate::connection::Connector;
use crate::errors::store_error;
use crate::pool::Pool;

/// For what is asked before the workspace is known: no workspace's rows are seen.
pub(crate) const NO_WORKSPACE: WorkspaceId = WorkspaceId::new(Uuid::nil());

/// A connection that works for one workspace. Dropping it gives the connection back, unless it is in
/// the middle of something: then it is closed, and the server undoes what was begun.
pub(crate) struct Session {
    /// Only absent after [`Drop`] has taken it.
    link: Option<Object<Connector>>,
    workspace: Uuid,
    /// What is sent ahead of the first statement, in the same round trip.
    opening: Mutex<Option<String>>,
    /// Whether the session is in a state that the next call must not find it in.
    unsettled: AtomicBool,
    /// Whether there is a transaction, which must be ended.
    in_transaction: bool,
    /// Whether a statement of the transaction has failed, so that the server has given it up.
    failed: AtomicBool,
    /// Whether the server did not answer in time: nothing more is asked of it.
    silent: AtomicBool,
    /// Whether the session, and not only a transaction in it, works for the workspace.
    names_workspace: bool,
    answer_wait: Duration,
    lock_timeout: Duration,
}

impl Session {
    /// A session for single statements. It names its workspace for row-level security, unless it is
    /// the same as that of the last call on this connection.
    pub(crate) async fn reading(pool: &Pool, workspace: WorkspaceId) -> Result<Self, StoreError> {
        let workspace = workspace.uuid();
        let mut session = Self::on(pool, workspace).await?;
        session.names_workspace = true;
        if let Some(link) = &mut session.link
            && link.workspace != Some(workspace)
        {
            // What the server thinks is only known again when it has answered.
            link.workspace = None;
            session.opening = Mutex::new(Some(format!("SET roadmap.workspace_id = '{workspace}'")));
        }
        Ok(session)
    }

    /// A session with a transaction, which begins with `opening` and is to be committed or rolled back.
    pub(crate) async fn transaction(pool: &Pool, workspace: Uuid, opening: &str) -> Result<Self, StoreError> {
        let mut session = Self::on(pool, workspace).await?;
        session.in_transaction = true;
        session.opening = Mutex::new(Some(format!("BEGIN; SET LOCAL roadmap.workspace_id = '{workspace}'; {opening}")));
        Ok(session)
    }

    async fn on(pool: &Pool, workspace: Uuid) -> Result<Self, StoreError> {
        Ok(Self {
            link: Some(pool.get().await?),
            workspace,
            opening: Mutex::new(None),
            unsettled: AtomicBool::new(false),
            in_transaction: false,
            failed: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            names_workspace: false,
            answer_wait: pool.answer_wait,
            lock_timeout: pool.lock_timeout,
        })
    }

    /// The connection, to build statements on that [`Self::run`] runs.
    pub(crate) fn connection(&self) -> Result<&AsyncPgConnection, StoreError> {
        let link = self.link.as_ref().ok_or_else(|| StoreError::Fatal("the session is over".into()))?;
        Ok(&link.connection)
    }

    /// Runs a statement. The first one has the opening in front of it: both are sent before either
    /// is answered.
    pub(crate) async fn run<T>(&self, statement: impl Future<Output = QueryResult<T>> + Send) -> Result<T, StoreError> {
        let opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut connection = self.connection()?;
        let opened = async {
            match &opening {
                Some(opening) => connection.batch_execute(opening).await,
                None => Ok(()),
            }
        };
        let began = Instant::now();
        self.unsettled.store(true, Ordering::SeqCst);
        let outcome = match tokio::time::timeout(self.answer_wait, join(opened, statement)).await {
            Err(elapsed) => {
                self.silent.store(true, Ordering::SeqCst);
                return Err(StoreError::Unavailable(elapsed.into()));
            }
            Ok((Err(error), _)) => Err(error),
            Ok((Ok(()), outcome)) => {
                self.unsettled.store(self.in_transaction, Ordering::SeqCst);
                outcome
            }
        };
        outcome.map_err(|error| {
            self.failed.store(true, Ordering::SeqCst);
            store_error(error, began.elapsed(), self.lock_timeout)
        })
    }

    /// As [`Self::run`], for a statement that may find nothing.
    pub(crate) async fn run_optional<T>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<Option<T>, StoreError> {
        self.run(statement.map(OptionalExtension::optional)).await
    }

    /// Whether anything was sent yet.
    pub(crate) fn is_open(&self) -> bool {
        self.opening.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// Makes the transaction durable, together with what a last statement does.
    pub(crate) async fn commit(mut self, last: &str) -> Result<(), StoreError> {
        if *self.failed.get_mut() {
            // The server would answer "rolled back", which is no error to it.
            return Err(StoreError::Fatal("a unit was to be committed in which a statement had failed".into()));
        }
        self.end(&format!("{last}COMMIT")).await
    }

    /// Undoes the transaction.
    pub(crate) async fn roll_back(self) -> Result<(), StoreError> {
        self.end("ROLLBACK").await
    }

    /// When this fails, dropping the session closes the connection, which undoes the transaction too.
    async fn end(mut self, statements: &str) -> Result<(), StoreError> {
        if !self.is_open() {
            return Ok(());
        }
        if *self.silent.get_mut() {
            return Err(StoreError::Unavailable("the server has stopped answering".into()));
        }
        let mut connection = self.connection()?;
        self.run(connection.batch_execute(statements)).await?;
        self.unsettled = AtomicBool::new(false);
        self.in_transaction = false;
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(mut link) = self.link.take() else { return };
        if *self.unsettled.get_mut() {
            // Given back, it would keep its locks, or answer the next call with this one's answer.
            drop(Object::take(link));
        } else if self.names_workspace && self.is_open() {
            link.workspace = Some(self.workspace);
        }
    }
}
