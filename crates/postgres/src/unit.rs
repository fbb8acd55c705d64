//! The unit of work: a transaction, and the claim of its operation key.

use std::time::Instant;

use async_trait::async_trait;
use diesel::QueryResult;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::{OperationKey, SavedReply};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Begun, Store, UnitOfWork};
use uuid::Uuid;

use crate::PostgresStore;
use crate::errors::inconsistent;
use crate::schema::operations;
use crate::session::Session;

/// An open unit.
pub(crate) struct PostgresUnit {
    session: Session,
    pub(crate) workspace: Uuid,
    key: Option<OperationKey>,
}

impl PostgresUnit {
    pub(crate) fn connection(&self) -> Result<&AsyncPgConnection, StoreError> {
        self.session.connection()
    }

    pub(crate) async fn run<T>(&self, statement: impl Future<Output = QueryResult<T>> + Send) -> Result<T, StoreError> {
        self.session.run(statement).await
    }

    pub(crate) async fn run_optional<T>(
        &self,
        statement: impl Future<Output = QueryResult<T>> + Send,
    ) -> Result<Option<T>, StoreError> {
        self.session.run_optional(statement).await
    }
}

#[async_trait]
impl Store for PostgresStore {
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<Begun, StoreError> {
        let workspace = workspace.uuid();
        let Some(key) = key else {
            let session = Session::transaction(&self.units, workspace, "").await?;
            return Ok(Begun::Open(Box::new(PostgresUnit { session, workspace, key: None })));
        };
        let claim = format!("SELECT pg_advisory_xact_lock({})", lock_of(workspace, &key));
        let session = Session::transaction(&self.units, workspace, &claim).await?;
        // Whoever holds the lock is alone with the key. This statement comes after the wait for it,
        // so that it sees the answer of a unit that was waited for.
        let saved = operations::table
            .filter(operations::workspace_id.eq(workspace))
            .filter(operations::operation_key.eq(key.as_str()))
            .select((operations::status, operations::body));
        let asked = Instant::now();
        let saved: Option<(i32, Vec<u8>)> = match session.run_optional(saved.first(&mut session.connection()?)).await {
            Err(StoreError::Unavailable(cause)) if asked.elapsed() >= self.options.lock_timeout() => {
                // Either another process has the key, or the server is away. One that can still undo
                // the claim is there.
                return match session.roll_back().await {
                    Ok(()) => Ok(Begun::Busy),
                    Err(_) => Err(StoreError::Unavailable(cause)),
                };
            }
            saved => saved?,
        };
        match saved {
            None => Ok(Begun::Open(Box::new(PostgresUnit { session, workspace, key: Some(key) }))),
            Some((status, body)) => {
                session.roll_back().await?;
                let status = u16::try_from(status).map_err(|_| inconsistent("operations", "status", key.as_str()))?;
                Ok(Begun::Replay(SavedReply { status, body }))
            }
        }
    }
}

/// The number of the lock that stands for a key: half of the name-based UUID (RFC 9562 section 5.5)
/// of the key in its workspace. Two keys that share a number wait for each other for nothing.
fn lock_of(workspace: Uuid, key: &OperationKey) -> i64 {
    let (upper, _) = Uuid::new_v5(&workspace, key.as_str().as_bytes()).as_u64_pair();
    upper.cast_signed()
}

#[async_trait]
impl UnitOfWork for PostgresUnit {
    async fn commit(mut self: Box<Self>, saved: Option<&SavedReply>, at: Timestamp) -> Result<(), StoreError> {
        let record = self.key.take().zip(saved);
        let record = record.map(|(key, reply)| save(self.workspace, &key, reply, at)).unwrap_or_default();
        self.session.commit(&record).await
    }

    async fn rollback(self: Box<Self>) -> Result<(), StoreError> {
        self.session.roll_back().await
    }
}

/// The statement that saves an answer. It is written out, because only then can it be sent as one
/// with the commit: nothing can come between them, and a commit can never overtake it. Whatever a
/// client has chosen is in hexadecimal digits.
fn save(workspace: Uuid, key: &OperationKey, reply: &SavedReply, at: Timestamp) -> String {
    format!(
        "INSERT INTO operations (workspace_id, operation_key, status, body, created_at) VALUES \
         ('{workspace}', convert_from('\\x{}', 'UTF8'), {}, '\\x{}', '{at}'); ",
        hex(key.as_str().as_bytes()),
        reply.status,
        hex(&reply.body),
    )
}

fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(raw: &str) -> OperationKey {
        OperationKey::parse(raw).unwrap().unwrap()
    }

    #[test]
    fn nothing_that_a_client_chose_is_part_of_the_statement_s_text() {
        let reply = SavedReply { status: 201, body: b"'; DROP TABLE votes; --".to_vec() };
        let at = Timestamp::from_millis(1_780_000_000_000).unwrap();
        let statement = save(Uuid::nil(), &key("' OR ''='"), &reply, at);
        assert_eq!(
            statement,
            "INSERT INTO operations (workspace_id, operation_key, status, body, created_at) VALUES \
             ('00000000-0000-0000-0000-000000000000', convert_from('\\x27204f522027273d27', 'UTF8'), 201, \
             '\\x273b2044524f50205441424c4520766f7465733b202d2d', '2026-05-28T20:26:40.000Z'); "
        );
    }

    #[test]
    fn a_key_has_a_lock_of_its_own_in_each_workspace() {
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        assert_eq!(lock_of(one, &key("k")), lock_of(one, &key("k")));
        assert_ne!(lock_of(one, &key("k")), lock_of(one, &key("K")));
        assert_ne!(lock_of(one, &key("k")), lock_of(other, &key("k")));
    }
}
