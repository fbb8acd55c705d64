//! The outbox as workers see it. Each method is a transaction of its own. Only the expansion of audiences depends on
//! the kinds of messages.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use diesel::{SqliteConnection, delete, insert_into, select, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::{DigestId, MailStatus, OutboxDepth};
use roadmap_domain::model::message::{
    Audience, Lease, LeasedMessages, MessageContent, MessageId, MessageOutcome, MessageState, Priority,
};
use roadmap_domain::model::team_mail::{MemberToTell, TeamMail};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::OutboxQueue;
use roadmap_store::columns::Id;
use roadmap_store::rows::{
    MailStatusRow, MemberToTellRow, MessageRow, MessageStateRow, OutboxDepthRow, leased_messages,
};

use crate::SqliteStore;
use crate::audience::expand_audience;
use crate::errors::SqlError;
use crate::schema::{customers, outbox};
use crate::statement::statement;

/// SQL for the number of mails that a row of the outbox represents.
macro_rules! mails {
    () => {
        "CASE
             WHEN kind GLOB '*_audience' THEN 0
             WHEN kind = 'comment_digest' THEN (SELECT count(*) FROM outbox held
                 WHERE held.workspace_id = outbox.workspace_id AND held.digest_id = outbox.id)
             ELSE 1
         END"
    };
}

statement! {
    /// Selects the workspaces with due messages, and their priorities.
    DueWorkspaces { now: i64 => BigInt } -> (Binary, Integer),
    "SELECT workspaces.id, priorities.value FROM workspaces CROSS JOIN json_each('[0, 1]') AS priorities
     WHERE EXISTS (SELECT 1 FROM outbox WHERE workspace_id = workspaces.id AND priority = priorities.value AND due_at <= ?)
     ORDER BY workspaces.id, priorities.value"
}

statement! {
    /// Selects the members who want mail about what customers write, with the time zone of their workspace.
    MembersToTell { nothing: String => Text } -> (Binary, Text, Binary, Text, BigInt),
    "SELECT members.workspace_id, coalesce(portal_settings.time_zone, 'UTC'), members.id, team_mail, told_until
     FROM members LEFT JOIN portal_settings ON portal_settings.workspace_id = members.workspace_id
     WHERE removed_at IS NULL AND team_mail <> ?"
}

statement! {
    /// Selects the messages that have been due longest.
    DueMessages { workspace: Id => Binary, priority: i32 => Integer, now: i64 => BigInt, limit: i64 => BigInt }
        -> (Text, Text, Text, Nullable<Binary>, Nullable<Text>, BigInt, Integer, Nullable<Text>),
    "SELECT id, kind, payload, customer_id, address, created_at, attempts, request_id FROM outbox
     WHERE workspace_id = ? AND priority = ? AND due_at <= ? ORDER BY due_at, rowid LIMIT ?"
}

statement! {
    /// Leases the messages that [`DueMessages`] selects.
    LeaseMessages {
        due_at: i64 => BigInt, leased_until: i64 => BigInt, workspace: Id => Binary, priority: i32 => Integer,
        now: i64 => BigInt, limit: i64 => BigInt,
    }
    "UPDATE outbox SET due_at = ?, leased_until = ?, attempts = min(attempts, 2147483646) + 1 WHERE rowid IN
     (SELECT rowid FROM outbox WHERE workspace_id = ? AND priority = ? AND due_at <= ? ORDER BY due_at, rowid LIMIT ?)"
}

statement! {
    /// Deletes messages that were sent before a timestamp, and the messages that were held for them.
    PurgeSent { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM outbox WHERE rowid IN (SELECT rowid FROM outbox WHERE sent_at < ? LIMIT ?)"
}

statement! {
    /// Counts the mails of all workspaces: due, leased, postponed, dead; audiences; the earliest due time.
    Depth { due: i64 => BigInt, leased: i64 => BigInt, postponed: i64 => BigInt, oldest: i64 => BigInt }
        -> (BigInt, BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>),
    concat!(
        "SELECT coalesce(sum(mails) FILTER (WHERE due_at <= ?), 0),
                coalesce(sum(mails) FILTER (WHERE due_at > ? AND leased_until IS NOT NULL), 0),
                coalesce(sum(mails) FILTER (WHERE due_at > ? AND leased_until IS NULL), 0),
                (SELECT coalesce(sum(", mails!(), "), 0) FROM outbox
                 WHERE sent_at IS NULL AND due_at IS NULL AND digest_id IS NULL),
                count(*) FILTER (WHERE kind GLOB '*_audience'),
                min(due_at) FILTER (WHERE due_at <= ?)
         FROM (SELECT kind, due_at, leased_until, ", mails!(), " AS mails FROM outbox WHERE due_at IS NOT NULL)"
    )
}

statement! {
    /// Counts the mails of a workspace: waiting; audiences; the oldest of both; sent; dead.
    Status { audiences_at: i64 => BigInt, oldest_at: i64 => BigInt, workspace: Id => Binary }
        -> (BigInt, BigInt, Nullable<BigInt>, BigInt, BigInt),
    concat!(
        "SELECT coalesce(sum(mails) FILTER (WHERE due_at IS NOT NULL), 0),
                count(*) FILTER (WHERE kind GLOB '*_audience' AND created_at <= ?),
                min(created_at) FILTER (WHERE due_at IS NOT NULL AND created_at <= ?),
                coalesce(sum(mails) FILTER (WHERE sent_at IS NOT NULL), 0),
                coalesce(sum(mails) FILTER (WHERE sent_at IS NULL AND due_at IS NULL), 0)
         FROM (SELECT kind, created_at, due_at, sent_at, ", mails!(), " AS mails FROM outbox
               WHERE workspace_id = ? AND digest_id IS NULL)"
    )
}

statement! {
    /// Selects the latest failures of a workspace's mail. A digest yields each mail that is held for it.
    Failures { workspace: Id => Binary, limit: i64 => BigInt } -> (Text, Integer, Nullable<BigInt>, Text),
    "SELECT coalesce(held.id, outbox.id), outbox.attempts, outbox.due_at, outbox.failure FROM outbox
     LEFT JOIN outbox held ON held.workspace_id = outbox.workspace_id AND held.digest_id = outbox.id
     WHERE outbox.workspace_id = ? AND outbox.failure IS NOT NULL
     ORDER BY outbox.tried_at DESC, outbox.id, held.id LIMIT ?"
}

statement! {
    /// Counts the mails that a retry makes due.
    Retried { workspace: Id => Binary, dead: bool => diesel::sql_types::Bool } -> BigInt,
    concat!(
        "SELECT coalesce(sum(", mails!(), "), 0) FROM outbox
         WHERE workspace_id = ? AND failure IS NOT NULL AND leased_until IS NULL AND sent_at IS NULL
           AND (due_at IS NOT NULL OR ?)"
    )
}

statement! {
    /// Makes messages due that have failed before.
    Retry { now: i64 => BigInt, workspace: Id => Binary, dead: bool => diesel::sql_types::Bool }
    "UPDATE outbox SET attempts = CASE WHEN due_at IS NULL THEN 0 ELSE attempts END, due_at = ?
     WHERE workspace_id = ? AND failure IS NOT NULL AND leased_until IS NULL AND sent_at IS NULL
       AND (due_at IS NOT NULL OR ?)"
}

/// Links a leased message to a digest, unless the digest has been leased before.
fn hold(
    connection: &mut SqliteConnection,
    workspace: Id,
    lease: &Lease,
    digest: DigestId,
    now: i64,
) -> Result<bool, SqlError> {
    let message = outbox::table
        .filter(outbox::workspace_id.eq(workspace))
        .filter(outbox::id.eq(lease.message.as_str()))
        .filter(outbox::leased_until.eq(lease.until.millis()));
    let created_at: Option<i64> = message.select(outbox::created_at).first(connection).optional()?;
    let Some(created_at) = created_at else { return Ok(false) };
    let (id, content) = (MessageId::from(digest), MessageContent::CommentDigest { at: digest.at });
    insert_into(outbox::table)
        .values((
            outbox::workspace_id.eq(workspace),
            outbox::id.eq(id.as_str()),
            outbox::kind.eq(content.kind()),
            outbox::priority.eq(i32::from(content.priority().number())),
            outbox::customer_id.eq(Id(digest.customer.uuid())),
            outbox::payload.eq(content.payload()),
            outbox::created_at.eq(created_at),
            outbox::due_at.eq(digest.at.millis()),
        ))
        .on_conflict_do_nothing()
        .execute(connection)?;
    let untried = outbox::table
        .find((workspace, id.as_str()))
        .filter(outbox::attempts.eq(0).and(outbox::leased_until.is_null()).and(outbox::due_at.is_not_null()));
    let is_untried: bool = select(diesel::dsl::exists(untried)).get_result(connection)?;
    let held = (is_untried.then(|| id.as_str().to_owned()), (!is_untried).then_some(now));
    update(message)
        .set((
            outbox::leased_until.eq(None::<i64>),
            outbox::digest_id.eq(held.0),
            outbox::due_at.eq(held.1),
            outbox::failure.eq(None::<String>),
            outbox::attempts.eq(outbox::attempts - 1),
        ))
        .execute(connection)?;
    Ok(true)
}

#[async_trait]
impl OutboxQueue for SqliteStore {
    async fn due_workspaces(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, Priority)>, StoreError> {
        let due = DueWorkspaces { now: now.millis() };
        let rows: Vec<(Id, i32)> = self.readers.run(move |connection| Ok(due.load(connection)?)).await?;
        let priority = |number: i32| i16::try_from(number).ok().and_then(Priority::from_number);
        let known = |(id, number): (Id, i32)| Some((WorkspaceId::new(id.0), priority(number)?));
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
        let (workspace, priority) = (Id(workspace.uuid()), i32::from(priority.number()));
        let (now, leased_until, limit) = (now.millis(), until.millis(), i64::from(limit));
        let mut rows = self
            .write(move |connection| {
                let rows: Vec<MessageRow> = DueMessages { workspace, priority, now, limit }.load(connection)?;
                if !rows.is_empty() {
                    LeaseMessages { due_at: leased_until, leased_until, workspace, priority, now, limit }
                        .execute(connection)?;
                }
                Ok(rows)
            })
            .await?;
        // They were selected before this attempt was counted.
        rows.iter_mut().for_each(|row| row.attempts = row.attempts.saturating_add(1));
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
        let (workspace, lease, audience) = (Id(workspace.uuid()), lease.clone(), *audience);
        self.write(move |connection| {
            let row = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::id.eq(lease.message.as_str()))
                .filter(outbox::leased_until.eq(lease.until.millis()));
            if !select(diesel::dsl::exists(row)).get_result::<bool>(connection)? {
                return Ok(None);
            }
            let (at, request_id) = (created_at.millis(), lease.request_id);
            let (created, last) = expand_audience(connection, workspace, &audience, at, limit, request_id)?;
            match last {
                Some(last) if created >= u64::from(limit) => {
                    let rest = Audience { after: CustomerId::new(last.0), ..audience };
                    update(row)
                        .set((
                            outbox::payload.eq(MessageContent::Audience(rest).payload()),
                            outbox::leased_until.eq(None::<i64>),
                            outbox::due_at.eq(now.millis()),
                            outbox::attempts.eq(0),
                        ))
                        .execute(connection)?;
                }
                _ => {
                    delete(row).execute(connection)?;
                }
            }
            Ok(Some(created))
        })
        .await
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        outcome: &MessageOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (workspace, lease) = (Id(workspace.uuid()), lease.clone());
        let (outcome, now) = (outcome.clone(), now.millis());
        self.write(move |connection| {
            let row = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::id.eq(lease.message.as_str()))
                .filter(outbox::leased_until.eq(lease.until.millis()));
            let no_lease = outbox::leased_until.eq(None::<i64>);
            let settled = match &outcome {
                MessageOutcome::Sent { response } => update(row)
                    .set((
                        no_lease,
                        outbox::due_at.eq(None::<i64>),
                        outbox::tried_at.eq(now),
                        outbox::sent_at.eq(now),
                        outbox::failure.eq(None::<String>),
                        outbox::answer.eq(response),
                    ))
                    .execute(connection)?,
                MessageOutcome::Postponed { until, reason } => update(row)
                    .set((
                        no_lease,
                        outbox::due_at.eq(until.millis()),
                        outbox::tried_at.eq(now),
                        outbox::failure.eq(reason),
                    ))
                    .execute(connection)?,
                MessageOutcome::Deferred { until, reason } => update(row)
                    .set((
                        no_lease,
                        outbox::due_at.eq(until.millis()),
                        outbox::tried_at.eq(now),
                        outbox::failure.eq(reason),
                        outbox::attempts.eq(outbox::attempts - 1),
                    ))
                    .execute(connection)?,
                MessageOutcome::Dead { reason, no_such_mailbox } => {
                    let dead = (
                        no_lease,
                        outbox::due_at.eq(None::<i64>),
                        outbox::tried_at.eq(now),
                        outbox::failure.eq(reason),
                    );
                    let customer: Option<Option<Id>> =
                        update(row).set(dead).returning(outbox::customer_id).get_result(connection).optional()?;
                    if let (Some(Some(customer)), true) = (customer, *no_such_mailbox) {
                        stop_mail(connection, workspace, customer, now, reason)?;
                    }
                    usize::from(customer.is_some())
                }
                MessageOutcome::Held { digest } => return hold(connection, workspace, &lease, *digest, now),
                MessageOutcome::Returned => update(row)
                    .set((no_lease, outbox::due_at.eq(now), outbox::attempts.eq(outbox::attempts - 1)))
                    .execute(connection)?,
                MessageOutcome::Unwanted => delete(row).execute(connection)?,
            };
            Ok(settled > 0)
        })
        .await
    }

    async fn members_to_tell(&self) -> Result<Vec<MemberToTell>, StoreError> {
        let wanting = MembersToTell { nothing: TeamMail::Nothing.name().to_owned() };
        let rows: Vec<MemberToTellRow> = self.readers.run(move |connection| Ok(wanting.load(connection)?)).await?;
        Ok(rows.into_iter().filter_map(MemberToTellRow::member).collect())
    }

    async fn message(&self, workspace: WorkspaceId, id: &MessageId) -> Result<Option<MessageState>, StoreError> {
        let (workspace, id) = (Id(workspace.uuid()), id.clone());
        let key = id.clone();
        let row: Option<MessageStateRow> = self
            .readers
            .run(move |connection| {
                let columns = (
                    outbox::attempts,
                    outbox::due_at,
                    outbox::leased_until,
                    outbox::sent_at,
                    outbox::failure,
                    outbox::answer,
                );
                let row = outbox::table.find((workspace, key.as_str())).select(columns);
                Ok(row.first(connection).optional()?)
            })
            .await?;
        row.map(|row| row.into_state(&id)).transpose()
    }

    async fn status(&self, workspace: WorkspaceId, failures: u32, now: Timestamp) -> Result<MailStatus, StoreError> {
        let (id, now) = (Id(workspace.uuid()), now.millis());
        let (counts, failures): (MailStatusRow, _) = self
            .readers
            .run_in_snapshot(move |connection| {
                let counts = Status { audiences_at: now, oldest_at: now, workspace: id }.get_result(connection)?;
                Ok((counts, Failures { workspace: id, limit: i64::from(failures) }.load(connection)?))
            })
            .await?;
        counts.into_status(workspace, failures)
    }

    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError> {
        let at = now.millis();
        let depth = Depth { due: at, leased: at, postponed: at, oldest: at };
        let row: OutboxDepthRow = self.readers.run(move |connection| Ok(depth.get_result(connection)?)).await?;
        row.try_into()
    }

    async fn purge_sent(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = PurgeSent { before: before.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(purge.execute(connection)? as u64)).await
    }
}

/// Makes mails due that have failed before; with `dead`, also those that were given up. Returns their number.
pub(crate) fn retry(connection: &mut SqliteConnection, workspace: Id, dead: bool, now: i64) -> Result<u64, SqlError> {
    let mails: i64 = Retried { workspace, dead }.get_result(connection)?;
    Retry { now, workspace, dead }.execute(connection)?;
    Ok(mails.unsigned_abs())
}

/// Stops all mail to a customer. If it is already stopped, the first reason is kept.
pub(crate) fn stop_mail(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    now: i64,
    reason: &str,
) -> Result<(), SqlError> {
    let customer = customers::table.find((workspace, customer));
    let no_changelogs = (customers::stops_changelogs.eq(true), customers::news_since.eq(None::<i64>));
    update(customer).set(no_changelogs).execute(connection)?;
    update(customer.filter(customers::mail_stopped_at.is_null()))
        .set((customers::mail_stopped_at.eq(now), customers::mail_stopped_because.eq(reason)))
        .execute(connection)?;
    Ok(())
}
