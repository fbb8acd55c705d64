//! Writes messages to the outbox.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, SmallInt, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::mail::Topic;
use roadmap_domain::model::message::{Audience, MessageContent, MessageId, NewMessage, Recipient};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_limits::MailBudgetWindow;
use roadmap_domain::ports::Outbox;
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::outbox_queue::mails;
use crate::schema::outbox;
use crate::statement::{audience, statement, topic, topic_ids};
use crate::unit::PostgresUnit;

statement! {
    /// Creates the notifications of all subscribed customers, or one audience message if there are `limit` or more.
    EnqueueNotifications {
        workspace: Uuid => SqlUuid,
        comment: Option<Uuid> => Nullable<SqlUuid>,
        event: Option<Uuid> => Nullable<SqlUuid>,
        changelog: Option<Uuid> => Nullable<SqlUuid>,
        after: Uuid => SqlUuid,
        topic: String => Text,
        kind: String => Text,
        payload: String => Text,
        audience: String => Text,
        audience_kind: String => Text,
        audience_payload: String => Text,
        at: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
        request_id: Option<String> => Nullable<Text>,
    } -> Untyped,
    concat!("WITH RECURSIVE ", topic!(), ", audience AS MATERIALIZED (", audience!(), "
     ), created AS (
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, request_id)
         SELECT {workspace}, {topic} || '.' || customer_id::text, {kind}, 1, customer_id, {payload}::jsonb, {at}, {at},
                {request_id}
         FROM audience WHERE (SELECT count(*) FROM audience) < {limit}
         ON CONFLICT (workspace_id, id) DO NOTHING
     )
     INSERT INTO outbox (workspace_id, id, kind, priority, payload, created_at, due_at, request_id)
     SELECT {workspace}, {audience}, {audience_kind}, 1, {audience_payload}::jsonb, {at}, {at}, {request_id}
     WHERE (SELECT count(*) FROM audience) >= {limit}
     ON CONFLICT (workspace_id, id) DO NOTHING")
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
        request_id: Option<String> => Nullable<Text>,
    } -> Untyped,
    "INSERT INTO outbox
         (workspace_id, id, kind, priority, customer_id, address, payload, created_at, due_at, request_id)
     VALUES ({workspace}, {id}, {kind}, {priority}, {customer}, {address}, {payload}::jsonb, {at}, {at}, {request_id})
     ON CONFLICT (workspace_id, id) DO NOTHING"
}

statement! {
    /// Adds the mails of a topic to the counter of its hour, and returns the sum of the day. Concurrent statements for
    /// the same hour wait for each other.
    CountMails {
        workspace: Uuid => SqlUuid,
        comment: Option<Uuid> => Nullable<SqlUuid>,
        event: Option<Uuid> => Nullable<SqlUuid>,
        changelog: Option<Uuid> => Nullable<SqlUuid>,
        after: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        hour: TimestampColumn => Timestamptz,
        since: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> BigInt,
    concat!("WITH RECURSIVE ", topic!(), ", audience AS MATERIALIZED (", audience!(), "
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
     FROM counted")
}

statement! {
    /// Adds a mail to the counter of its hour, and returns the sum of the day, as [`CountMails`] does.
    CountTeamMail {
        workspace: Uuid => SqlUuid,
        hour: TimestampColumn => Timestamptz,
        since: TimestampColumn => Timestamptz,
    } -> BigInt,
    "WITH old AS (
         DELETE FROM mail_hours WHERE workspace_id = {workspace} AND hour < {since}
     ), counted AS (
         INSERT INTO mail_hours (workspace_id, hour, mails) VALUES ({workspace}, {hour}, 1)
         ON CONFLICT (workspace_id, hour) DO UPDATE SET mails = mail_hours.mails + 1
         RETURNING mails
     )
     SELECT mails + coalesce(
         (SELECT sum(mails)::bigint FROM mail_hours
          WHERE workspace_id = {workspace} AND hour >= {since} AND hour <> {hour}), 0)
     FROM counted"
}

statement! {
    /// Makes messages due that have failed before. Returns the number of their mails.
    Retry { workspace: Uuid => SqlUuid, dead: bool => Bool, now: TimestampColumn => Timestamptz } -> BigInt,
    concat!(
        "WITH retried AS (
             UPDATE outbox SET attempts = CASE WHEN due_at IS NULL THEN 0 ELSE attempts END, due_at = {now}
             WHERE workspace_id = {workspace} AND failure IS NOT NULL AND leased_until IS NULL AND sent_at IS NULL
               AND (due_at IS NOT NULL OR {dead})
             RETURNING id, kind
         )
         SELECT coalesce(sum(", mails!("retried"), "), 0)::bigint FROM retried"
    )
}

statement! {
    /// Deletes the unsent messages about a topic, also its audience. Those held for a digest that was sent were sent with
    /// it.
    DeleteMessages { workspace: Uuid => SqlUuid, topic: String => Text } -> Untyped,
    "DELETE FROM outbox USING (VALUES ({topic}), ('audience.' || {topic})) AS message (prefix)
     WHERE outbox.workspace_id = {workspace} AND sent_at IS NULL
       AND outbox.id COLLATE \"C\" >= prefix AND outbox.id COLLATE \"C\" < prefix || '/'
       AND NOT EXISTS (SELECT FROM outbox digest WHERE digest.workspace_id = {workspace}
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
}

/// Deletes the unsent messages about a topic.
pub(crate) async fn delete_messages(unit: &PostgresUnit, topic: Topic) -> Result<(), StoreError> {
    let delete = DeleteMessages { workspace: unit.workspace, topic: topic.to_string() };
    unit.run(delete.execute(&mut unit.connection()?)).await?;
    Ok(())
}

#[async_trait]
impl Outbox for PostgresUnit {
    async fn count_team_mail(&mut self, day: MailBudgetWindow) -> Result<u64, StoreError> {
        let count = CountTeamMail { workspace: self.workspace, hour: day.hour.into(), since: day.since.into() };
        let mails: i64 = self.run(count.get_result(&mut self.connection()?)).await?;
        Ok(mails.unsigned_abs())
    }

    async fn count_mails(
        &mut self,
        topic: Topic,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let (comment, event, changelog) = topic_ids(topic);
        let count = CountMails {
            workspace: self.workspace,
            comment,
            event,
            changelog,
            after: Uuid::nil(),
            at: at.into(),
            hour: day.hour.into(),
            since: day.since.into(),
            limit: i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX),
        };
        let mails: i64 = self.run(count.get_result(&mut self.connection()?)).await?;
        Ok(mails.unsigned_abs())
    }

    async fn enqueue_notifications(
        &mut self,
        topic: Topic,
        at: Timestamp,
        at_once: u32,
        request_id: Option<String>,
    ) -> Result<(), StoreError> {
        let (comment, event, changelog) = topic_ids(topic);
        let notification = MessageContent::Notification(topic);
        let audience = MessageContent::Audience(Audience { topic, after: CustomerId::new(Uuid::nil()) });
        let enqueue = EnqueueNotifications {
            workspace: self.workspace,
            comment,
            event,
            changelog,
            after: Uuid::nil(),
            topic: topic.to_string(),
            kind: notification.kind().to_owned(),
            payload: notification.payload(),
            audience: MessageId::audience(topic).to_string(),
            audience_kind: audience.kind().to_owned(),
            audience_payload: audience.payload(),
            at: at.into(),
            limit: i64::from(at_once) + 1,
            request_id,
        };
        self.run(enqueue.execute(&mut self.connection()?)).await?;
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
            request_id: message.request_id.clone(),
        };
        Ok(self.run(insert.execute(&mut self.connection()?)).await? > 0)
    }

    async fn delete_message(&mut self, message: &MessageId) -> Result<(), StoreError> {
        let unsent = outbox::table
            .filter(outbox::workspace_id.eq(self.workspace))
            .filter(outbox::id.eq(message.as_str()))
            .filter(outbox::sent_at.is_null());
        self.run(diesel::delete(unsent).execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn retry_mail(&mut self, dead: bool, at: Timestamp) -> Result<u64, StoreError> {
        let retry = Retry { workspace: self.workspace, dead, now: at.into() };
        let mails: i64 = self.run(retry.get_result(&mut self.connection()?)).await?;
        Ok(mails.unsigned_abs())
    }
}
