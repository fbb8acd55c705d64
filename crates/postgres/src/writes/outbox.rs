//! Writes messages to the outbox.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, SmallInt, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId};
use roadmap_domain::model::message::{Audience, MessageContent, MessageId, NewMessage, Recipient};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::MailBudgetWindow;
use roadmap_domain::ports::Outbox;
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Creates the notifications of all voters, or one audience message if there are too many.
    NotifyVoters {
        workspace: Uuid => SqlUuid,
        request: Uuid => SqlUuid,
        comment: String => Text,
        payload: String => Text,
        audience: String => Text,
        audience_payload: String => Text,
        at: TimestampColumn => Timestamptz,
        at_once: i64 => BigInt,
    } -> Untyped,
    "WITH audience AS MATERIALIZED (
         SELECT customer_id FROM votes
         JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = customer_id
         WHERE votes.workspace_id = {workspace} AND request_id = {request} AND subscribed AND votes.created_at <= {at}
           AND mail_stopped_at IS NULL
         LIMIT {at_once} + 1
     ), created AS (
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
         SELECT {workspace}, {comment} || '.' || customer_id::text, 'comment', 1, customer_id, {payload}::jsonb, {at}, {at}
         FROM audience WHERE (SELECT count(*) FROM audience) <= {at_once}
     )
     INSERT INTO outbox (workspace_id, id, kind, priority, payload, created_at, due_at)
     SELECT {workspace}, {audience}, 'comment_audience', 1, {audience_payload}::jsonb, {at}, {at}
     WHERE (SELECT count(*) FROM audience) > {at_once}"
}

statement! {
    /// Inserts a message, unless there is one with its identity.
    InsertMessage {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        kind: String => Text,
        priority: i16 => SmallInt,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        address: Option<String> => Nullable<Text>,
        payload: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, address, payload, created_at, due_at)
     VALUES ({workspace}, {id}, {kind}, {priority}, {customer}, {address}, {payload}::jsonb, {at}, {at})
     ON CONFLICT (workspace_id, id) DO NOTHING"
}

statement! {
    /// Adds the mails of a comment to the counter of its hour, and returns the sum of the day. Concurrent statements
    /// for the same hour wait for each other.
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
        let whole = Audience { comment, request, after: CustomerId::new(Uuid::nil()) };
        let notify = NotifyVoters {
            workspace: self.workspace,
            request: request.uuid(),
            comment: comment.to_string(),
            payload: MessageContent::Comment(comment).payload(),
            audience: MessageId::audience(comment).to_string(),
            audience_payload: MessageContent::CommentAudience(whole).payload(),
            at: at.into(),
            at_once: i64::from(at_once),
        };
        self.run(notify.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError> {
        let (customer, address) = match &message.recipient {
            Recipient::None => (None, None),
            Recipient::Customer(customer) => (Some(customer.uuid()), None),
            Recipient::Address(address) => (None, Some(address.as_str().to_owned())),
        };
        let insert = InsertMessage {
            workspace: self.workspace,
            id: message.id.to_string(),
            kind: message.content.kind().to_owned(),
            priority: message.content.priority().number(),
            customer,
            address,
            payload: message.content.payload(),
            at: message.created_at.into(),
        };
        Ok(self.run(insert.execute(&mut self.connection()?)).await? > 0)
    }
}
