//! The unit of work on the writing connection, and the claim of its operation key.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::{OperationKey, SavedResponse};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{BeginOutcome, EndOutcome, Store, UnitOfWork};
use roadmap_store::columns::{Id, inconsistent};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::schema::operations;
use crate::writer::{WriteGuard, Writer};

/// An open unit of work.
pub(crate) struct SqliteUnit {
    writer: Writer,
    /// `None` while a statement runs, and after a statement has panicked.
    guard: Option<WriteGuard>,
    workspace: Id,
    key: Option<OperationKey>,
}

impl SqliteUnit {
    /// Runs `work` in the unit, with the id of its workspace.
    pub(crate) async fn run<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut SqliteConnection, Id) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let workspace = self.workspace;
        let guard = self.guard.take().ok_or_else(lost_unit_error)?;
        let (guard, outcome) = guard.run(move |connection| work(connection, workspace)).await?;
        self.guard = Some(guard);
        outcome
    }
}

fn lost_unit_error() -> StoreError {
    StoreError::Fatal("the unit was lost in a failed statement".into())
}

#[async_trait]
impl Store for SqliteStore {
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
        let id = Id(workspace.uuid());
        let claimed_key = key.clone();
        // The guard gives this unit exclusive write access to the database. A key that is unused now stays unused until
        // the unit ends, so claiming it needs no write.
        let claim = move |connection: &mut SqliteConnection| match claimed_key {
            Some(key) => find_saved_response(connection, id, &key),
            None => Ok(None),
        };
        let (guard, saved) = self.writer.begin(claim).await?;
        match saved {
            None => {
                let guard = Some(guard);
                Ok(BeginOutcome::Started(Box::new(SqliteUnit {
                    writer: self.writer.clone(),
                    guard,
                    workspace: id,
                    key,
                })))
            }
            Some(saved) => {
                // The saved response may be part of this transaction, still uncommitted. It is replayed once it is
                // durable.
                self.writer.roll_back(guard).await?;
                Ok(BeginOutcome::Replay(saved))
            }
        }
    }
}

fn find_saved_response(
    connection: &mut SqliteConnection,
    workspace: Id,
    key: &OperationKey,
) -> Result<Option<SavedResponse>, SqlError> {
    let saved: Option<(i32, Vec<u8>)> = operations::table
        .filter(operations::workspace_id.eq(workspace))
        .filter(operations::operation_key.eq(key.as_str()))
        .select((operations::status, operations::body))
        .first(connection)
        .optional()?;
    let Some((status, body)) = saved else { return Ok(None) };
    let status = u16::try_from(status).map_err(|_| inconsistent("operations", "status", key.as_str()))?;
    Ok(Some(SavedResponse { status, body }))
}

#[async_trait]
impl UnitOfWork for SqliteUnit {
    async fn commit(
        mut self: Box<Self>,
        saved: Option<&SavedResponse>,
        at: Timestamp,
    ) -> Result<EndOutcome, StoreError> {
        let guard = self.guard.take().ok_or_else(lost_unit_error)?;
        let workspace = self.workspace;
        let record = self.key.take().zip(saved.cloned());
        let record = move |connection: &mut SqliteConnection| {
            if let Some((key, SavedResponse { status, body })) = record {
                diesel::insert_into(operations::table)
                    .values((
                        operations::workspace_id.eq(workspace),
                        operations::operation_key.eq(key.as_str()),
                        operations::status.eq(i32::from(status)),
                        operations::body.eq(body),
                        operations::created_at.eq(at.millis()),
                    ))
                    .execute(connection)?;
            }
            Ok(())
        };
        self.writer.commit(guard, record).await?;
        Ok(EndOutcome::Applied)
    }

    async fn rollback(mut self: Box<Self>) -> Result<EndOutcome, StoreError> {
        let guard = self.guard.take().ok_or_else(lost_unit_error)?;
        self.writer.roll_back(guard).await?;
        Ok(EndOutcome::Applied)
    }
}
