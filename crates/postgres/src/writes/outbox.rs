//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, RequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::Outbox;
use uuid::Uuid;

use crate::codec::Moment;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Writes out the mails of all voters, or leaves all to a worker when there are too many.
    NotifyVoters {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        at: Moment => Timestamptz,
        at_once: i64 => BigInt,
    } -> Untyped,
    "WITH audience AS MATERIALIZED (
         SELECT customer_id FROM votes
         JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = customer_id
         WHERE votes.workspace_id = {workspace} AND request_id = {request} AND subscribed AND votes.created_at <= {at}
           AND mail_stopped_at IS NULL
         LIMIT {at_once} + 1
     ), written AS (
         INSERT INTO outbox (workspace_id, comment_id, customer_id, created_at, due_at)
         SELECT {workspace}, {comment}, customer_id, {at}, {at} FROM audience
         WHERE (SELECT count(*) FROM audience) <= {at_once}
     )
     INSERT INTO outbox_audiences (workspace_id, comment_id, request_id, after_customer_id, created_at)
     SELECT {workspace}, {comment}, {request}, '00000000-0000-0000-0000-000000000000', {at}
     WHERE (SELECT count(*) FROM audience) > {at_once}"
}

#[async_trait]
impl Outbox for PostgresUnit {
    async fn notify_voters(
        &mut self,
        request: RequestId,
        comment: CommentId,
        at: Timestamp,
        at_once: u32,
    ) -> Result<(), StoreError> {
        let notify = NotifyVoters {
            workspace: self.workspace,
            request: request.uuid(),
            comment: comment.uuid(),
            at: at.into(),
            at_once: i64::from(at_once),
        };
        self.run(notify.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
