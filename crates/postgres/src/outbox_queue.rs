//! The outbox as workers see it. Each method is a statement of its own. Only the expansion of audiences depends on the
//! topics of messages.

use async_trait::async_trait;
use diesel::prelude::QueryDsl;
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, SmallInt, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::mail::{MailStatus, OutboxDepth};
use roadmap_domain::model::message::{
    Audience, Lease, LeasedMessages, MessageContent, MessageId, MessageOutcome, MessageState, Priority,
};
use roadmap_domain::model::team_mail::MemberToTell;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{OutboxQueue, WorkspaceDirectory};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{
    MailStatusRow, MemberToTellRow, MessageRow, MessageStateRow, OutboxDepthRow, leased_messages,
};
use uuid::Uuid;

use crate::PostgresStore;
use crate::schema::outbox;
use crate::session::NO_WORKSPACE;
use crate::statement::{audience, statement, topic, topic_ids};

/// SQL for whether a row of a table is an audience. Each topic has an audience of its own.
macro_rules! is_audience {
    ($table:literal) => {
        concat!($table, ".kind LIKE '%\\_audience'")
    };
}
pub(crate) use is_audience;

/// SQL for the number of mails that a row of a table represents, in a statement with the parameter `workspace`.
macro_rules! mails {
    ($table:literal) => {
        concat!(
            "CASE
                 WHEN ",
            crate::outbox_queue::is_audience!($table),
            " THEN 0
                 WHEN ",
            $table,
            ".kind = 'comment_digest' THEN (SELECT count(*) FROM outbox held
                     WHERE held.workspace_id = {workspace} AND held.digest_id = ",
            $table,
            ".id)
                 ELSE 1
             END"
        )
    };
}
pub(crate) use mails;

statement! {
    /// Selects the workspaces with due messages, and their priorities.
    DueWorkspaces { now: TimestampColumn => Timestamptz } -> (SqlUuid, SmallInt),
    "SELECT id, priority FROM workspaces_with_messages({now})"
}

statement! {
    /// Selects the members who want mail about what customers write, with the time zone of their workspace.
    MembersToTell {} -> (SqlUuid, Text, SqlUuid, Text, Timestamptz),
    "SELECT of_workspace, zone, member, wanted, told FROM members_to_tell()"
}

statement! {
    /// Leases the messages that have been due longest.
    LeaseMessages {
        workspace: Uuid => SqlUuid,
        priority: i16 => SmallInt,
        now: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> (Text, Text, Text, Nullable<SqlUuid>, Nullable<Text>, Timestamptz, Integer, Nullable<Text>),
    "WITH due AS MATERIALIZED (
         SELECT id, due_at FROM outbox WHERE workspace_id = {workspace} AND priority = {priority} AND due_at <= {now}
         ORDER BY due_at LIMIT {limit} FOR UPDATE SKIP LOCKED
     ), leased AS (
         UPDATE outbox SET due_at = {until}, leased_until = {until}, attempts = least(attempts, 2147483646) + 1
         FROM due WHERE outbox.workspace_id = {workspace} AND outbox.id = due.id
         RETURNING outbox.id, kind, payload, customer_id, address, created_at, attempts, request_id,
                   due.due_at AS was_due_at
     )
     SELECT id, kind, payload::text, customer_id, address, created_at, attempts, request_id
     FROM leased ORDER BY was_due_at, id"
}

statement! {
    /// Creates the notifications of the next customers of a leased audience and settles the audience. It becomes due
    /// again, or is deleted if these customers were the last. Returns no row if the lease has expired.
    Expand {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        leased_until: TimestampColumn => Timestamptz,
        comment: Option<Uuid> => Nullable<SqlUuid>,
        event: Option<Uuid> => Nullable<SqlUuid>,
        changelog: Option<Uuid> => Nullable<SqlUuid>,
        topic: String => Text,
        kind: String => Text,
        payload: String => Text,
        after: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
        now: TimestampColumn => Timestamptz,
        request_id: Option<String> => Nullable<Text>,
    } -> BigInt,
    concat!("WITH RECURSIVE message AS MATERIALIZED (
         SELECT id FROM outbox WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until} FOR UPDATE
     ), ", topic!(), ", next AS MATERIALIZED (", audience!(), "
     ), audience AS MATERIALIZED (
         SELECT customer_id FROM message CROSS JOIN next
     ), created AS (
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at, request_id)
         SELECT {workspace}, {topic} || '.' || customer_id::text, {kind}, 1, customer_id, {payload}::jsonb, {at}, {at},
                {request_id}
         FROM audience
         ON CONFLICT (workspace_id, id) DO NOTHING RETURNING id
     ), reached AS MATERIALIZED (
         SELECT customer_id FROM audience ORDER BY customer_id OFFSET {limit} - 1
     ), moved AS (
         UPDATE outbox SET payload = payload || jsonb_build_object('after', (SELECT customer_id FROM reached)),
                           leased_until = NULL, due_at = {now}, attempts = 0
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM message) AND EXISTS (SELECT FROM reached)
     ), done AS (
         DELETE FROM outbox
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM message) AND NOT EXISTS (SELECT FROM reached)
     )
     SELECT (SELECT count(*) FROM created) FROM message")
}

statement! {
    /// Saves the outcome of a leased message, unless its lease has expired.
    Settle {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        leased_until: TimestampColumn => Timestamptz,
        due_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        sent_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        failure: Option<String> => Nullable<Text>,
        response: Option<String> => Nullable<Text>,
        now: TimestampColumn => Timestamptz,
        stop_mail: bool => Bool,
    } -> Bool,
    "WITH settled AS (
         UPDATE outbox SET leased_until = NULL, due_at = {due_at}, sent_at = {sent_at}, failure = {failure},
                           answer = {response}, tried_at = {now}
         WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until}
         RETURNING customer_id
     ), stopped AS (
         UPDATE customers
         SET mail_stopped_because = CASE WHEN mail_stopped_at IS NULL THEN {failure} ELSE mail_stopped_because END,
             mail_stopped_at = coalesce(mail_stopped_at, {now}), stops_changelogs = true, news_since = NULL
         WHERE workspace_id = {workspace} AND id = (SELECT customer_id FROM settled) AND {stop_mail}
     )
     SELECT EXISTS (SELECT FROM settled)"
}

statement! {
    /// Returns a message that was not attempted to the queue.
    Return {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        leased_until: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE outbox SET leased_until = NULL, due_at = {now}, attempts = attempts - 1
     WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until}"
}

statement! {
    /// Returns a message that had no connection to the mail server to the queue, with the reason.
    Defer {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        leased_until: TimestampColumn => Timestamptz,
        due_at: TimestampColumn => Timestamptz,
        failure: String => Text,
        now: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE outbox SET leased_until = NULL, due_at = {due_at}, failure = {failure}, tried_at = {now},
                       attempts = attempts - 1
     WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until}"
}

statement! {
    /// Deletes a message that is no longer wanted.
    Drop { workspace: Uuid => SqlUuid, id: String => Text, leased_until: TimestampColumn => Timestamptz } -> Untyped,
    "DELETE FROM outbox WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until}"
}

statement! {
    /// Links a message that was not attempted to a digest, or returns it if the digest has been leased before. The
    /// digest's row is locked, so that it cannot be leased in between.
    Hold {
        workspace: Uuid => SqlUuid,
        id: String => Text,
        leased_until: TimestampColumn => Timestamptz,
        digest: String => Text,
        customer: Uuid => SqlUuid,
        payload: String => Text,
        digest_at: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> Untyped,
    "WITH message AS MATERIALIZED (
         SELECT created_at FROM outbox
         WHERE workspace_id = {workspace} AND id = {id} AND leased_until = {leased_until} FOR UPDATE
     ), digest AS (
         INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
         SELECT {workspace}, {digest}, 'comment_digest', 1, {customer}, {payload}::jsonb, created_at, {digest_at}
         FROM message
         ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = outbox.due_at
         RETURNING id, attempts = 0 AND leased_until IS NULL AND due_at IS NOT NULL AS is_untried
     )
     UPDATE outbox SET leased_until = NULL, attempts = attempts - 1, failure = NULL,
                       digest_id = CASE WHEN is_untried THEN digest.id END,
                       due_at = CASE WHEN is_untried THEN NULL ELSE {now} END
     FROM digest WHERE workspace_id = {workspace} AND outbox.id = {id}"
}

statement! {
    /// Counts the mails of a workspace: waiting; audiences; the oldest of both; sent; dead.
    Status { workspace: Uuid => SqlUuid, now: TimestampColumn => Timestamptz }
        -> (BigInt, BigInt, Nullable<Timestamptz>, BigInt, BigInt),
    concat!(
        "SELECT coalesce(sum(mails) FILTER (WHERE due_at IS NOT NULL), 0)::bigint,
                count(*) FILTER (WHERE is_audience AND created_at <= {now}),
                min(created_at) FILTER (WHERE due_at IS NOT NULL AND created_at <= {now}),
                coalesce(sum(mails) FILTER (WHERE sent_at IS NOT NULL), 0)::bigint,
                coalesce(sum(mails) FILTER (WHERE sent_at IS NULL AND due_at IS NULL), 0)::bigint
         FROM (SELECT ", is_audience!("outbox"), " AS is_audience, created_at, due_at, sent_at,
                      ", mails!("outbox"), " AS mails FROM outbox
               WHERE workspace_id = {workspace} AND digest_id IS NULL) AS counted"
    )
}

statement! {
    /// Selects the latest failures of a workspace's mail. A digest yields each mail that is held for it.
    Failures { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> (Text, Integer, Nullable<Timestamptz>, Text),
    "SELECT coalesce(held.id, message.id), message.attempts, message.due_at, message.failure FROM outbox message
     LEFT JOIN outbox held ON held.workspace_id = {workspace} AND held.digest_id = message.id
     WHERE message.workspace_id = {workspace} AND message.failure IS NOT NULL
     ORDER BY message.tried_at DESC, message.id, held.id LIMIT {limit}"
}

statement! {
    /// Counts the unsent mail of all workspaces.
    Depth { now: TimestampColumn => Timestamptz } -> (BigInt, BigInt, BigInt, BigInt, BigInt, Nullable<Timestamptz>),
    "SELECT due, leased, postponed, dead, audiences, oldest_due FROM mail_depth({now})"
}

statement! {
    /// Deletes a workspace's messages that were sent before a timestamp, and the messages that were held for them.
    PurgeSent { workspace: Uuid => SqlUuid, before: TimestampColumn => Timestamptz, limit: i64 => BigInt } -> Untyped,
    "DELETE FROM outbox WHERE workspace_id = {workspace} AND id IN (
         SELECT id FROM outbox WHERE workspace_id = {workspace} AND sent_at < {before} LIMIT {limit}
     )"
}

#[async_trait]
impl OutboxQueue for PostgresStore {
    async fn due_workspaces(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, Priority)>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let due = DueWorkspaces { now: now.into() };
        let rows: Vec<(Uuid, i16)> = session.run(due.load(&mut session.connection()?)).await?;
        let known = |(id, number)| Some((WorkspaceId::new(id), Priority::from_number(number)?));
        Ok(rows.into_iter().filter_map(known).collect())
    }

    async fn lease(
        &self,
        workspace: WorkspaceId,
        priority: Priority,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<LeasedMessages, StoreError> {
        let session = self.mail_session(workspace).await?;
        let lease = LeaseMessages {
            workspace: workspace.uuid(),
            priority: priority.number(),
            now: now.into(),
            until: until.into(),
            limit: i64::from(limit),
        };
        let rows: Vec<MessageRow> = session.run(lease.load(&mut session.connection()?)).await?;
        Ok(leased_messages(rows, until))
    }

    async fn expand(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        audience: &Audience,
        created_at: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (comment, event, changelog) = topic_ids(audience.topic);
        let notification = MessageContent::Notification(audience.topic);
        let expand = Expand {
            workspace: workspace.uuid(),
            id: lease.message.to_string(),
            leased_until: lease.until.into(),
            comment,
            event,
            changelog,
            topic: audience.topic.to_string(),
            kind: notification.kind().to_owned(),
            payload: notification.payload(),
            after: audience.after.uuid(),
            at: created_at.into(),
            limit: i64::from(limit),
            now: now.into(),
            request_id: lease.request_id.clone(),
        };
        let created: Option<i64> = session.run_optional(expand.get_result(&mut session.connection()?)).await?;
        Ok(created.map(i64::unsigned_abs))
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        outcome: &MessageOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (workspace, id) = (workspace.uuid(), lease.message.to_string());
        let (leased_until, now) = (TimestampColumn::from(lease.until), TimestampColumn::from(now));
        let unsent = Settle {
            workspace,
            id: id.clone(),
            leased_until,
            due_at: None,
            sent_at: None,
            failure: None,
            response: None,
            now,
            stop_mail: false,
        };
        let settle = match outcome {
            MessageOutcome::Sent { response } => {
                Settle { sent_at: Some(now), response: Some(response.clone()), ..unsent }
            }
            MessageOutcome::Postponed { until, reason } => {
                Settle { due_at: Some((*until).into()), failure: Some(reason.clone()), ..unsent }
            }
            MessageOutcome::Dead { reason, no_such_mailbox } => {
                Settle { failure: Some(reason.clone()), stop_mail: *no_such_mailbox, ..unsent }
            }
            MessageOutcome::Deferred { until, reason } => {
                let (due_at, failure) = ((*until).into(), reason.clone());
                let defer = Defer { workspace, id, leased_until, due_at, failure, now };
                return Ok(session.run(defer.execute(&mut session.connection()?)).await? > 0);
            }
            MessageOutcome::Returned => {
                let put_back = Return { workspace, id, leased_until, now };
                return Ok(session.run(put_back.execute(&mut session.connection()?)).await? > 0);
            }
            MessageOutcome::Unwanted => {
                let drop = Drop { workspace, id, leased_until };
                return Ok(session.run(drop.execute(&mut session.connection()?)).await? > 0);
            }
            MessageOutcome::Held { digest } => {
                let hold = Hold {
                    workspace,
                    id,
                    leased_until,
                    digest: digest.to_string(),
                    customer: digest.customer.uuid(),
                    payload: MessageContent::CommentDigest { at: digest.at }.payload(),
                    digest_at: digest.at.into(),
                    now,
                };
                return Ok(session.run(hold.execute(&mut session.connection()?)).await? > 0);
            }
        };
        session.run(settle.get_result(&mut session.connection()?)).await
    }

    async fn members_to_tell(&self) -> Result<Vec<MemberToTell>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let rows: Vec<MemberToTellRow> = session.run(MembersToTell {}.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().filter_map(MemberToTellRow::member).collect())
    }

    async fn message(&self, workspace: WorkspaceId, id: &MessageId) -> Result<Option<MessageState>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let columns =
            (outbox::attempts, outbox::due_at, outbox::leased_until, outbox::sent_at, outbox::failure, outbox::answer);
        let row = outbox::table.find((workspace.uuid(), id.as_str())).select(columns);
        let row: Option<MessageStateRow> = session.run_optional(row.first(&mut session.connection()?)).await?;
        row.map(|row| row.into_state(id)).transpose()
    }

    async fn status(&self, workspace: WorkspaceId, failures: u32, now: Timestamp) -> Result<MailStatus, StoreError> {
        let session = self.mail_session(workspace).await?;
        let status = Status { workspace: workspace.uuid(), now: now.into() };
        let counts: MailStatusRow = session.run(status.get_result(&mut session.connection()?)).await?;
        let latest = Failures { workspace: workspace.uuid(), limit: i64::from(failures) };
        counts.into_status(workspace, session.run(latest.load(&mut session.connection()?)).await?)
    }

    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let depth = Depth { now: now.into() };
        let counts: OutboxDepthRow = session.run(depth.get_result(&mut session.connection()?)).await?;
        counts.try_into()
    }

    /// Runs per workspace, because row security hides the rows of other workspaces from a session.
    async fn purge_sent(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let mut purged: u64 = 0;
        for workspace in self.workspaces().await? {
            let remaining = u64::from(limit).saturating_sub(purged).cast_signed();
            if remaining == 0 {
                break;
            }
            let session = self.mail_session(workspace.id).await?;
            let purge = PurgeSent { workspace: workspace.id.uuid(), before: before.into(), limit: remaining };
            purged += session.run(purge.execute(&mut session.connection()?)).await? as u64;
        }
        Ok(purged)
    }
}
