//! Mail that is to be sent.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::MailBudgetWindow;
use roadmap_domain::ports::Outbox;
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Writes out the mails of all voters, or leaves all to a worker when there are too many.
    NotifyVoters {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
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

statement! {
    /// Counts the mails of a comment into its hour, and all of the day. Whoever counts into the same hour waits.
    CountMails {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        hour: TimestampColumn => Timestamptz,
        since: TimestampColumn => Timestamptz,
        most: i64 => BigInt,
    } -> BigInt,
    "WITH audience AS MATERIALIZED (
         SELECT customer_id FROM votes
         JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = customer_id
         WHERE votes.workspace_id = {workspace} AND request_id = {request} AND subscribed AND votes.created_at <= {at}
           AND mail_stopped_at IS NULL
         LIMIT {most}
     ), old AS (
         DELETE FROM mail_hours WHERE workspace_id = {workspace} AND hour < {since}
     ), counted AS (
         INSERT INTO mail_hours (workspace_id, hour, mails) SELECT {workspace}, {hour}, count(*) FROM audience
         ON CONFLICT (workspace_id, hour) DO UPDATE SET mails = mail_hours.mails + excluded.mails
         RETURNING mails
     )
     SELECT mails + coalesce(
         (SELECT sum(mails)::bigint FROM mail_hours
          WHERE workspace_id = {workspace} AND hour >= {since} AND hour <> {hour}), 0)
     FROM counted"
}

#[async_trait]
impl Outbox for PostgresUnit {
    async fn count_mails(
        &mut self,
        request: FeatureRequestId,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let count = CountMails {
            workspace: self.workspace,
            request: request.uuid(),
            at: at.into(),
            hour: day.hour.into(),
            since: day.since.into(),
            most: i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX),
        };
        let mails: i64 = self.run(count.get_result(&mut self.connection()?)).await?;
        Ok(mails.unsigned_abs())
    }

    async fn notify_voters(
        &mut self,
        request: FeatureRequestId,
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
