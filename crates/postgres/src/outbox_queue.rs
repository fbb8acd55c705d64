//! The outbox as workers see it: each call is a statement of its own.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::mail::{
    DigestEntry, DigestId, LeasedDigest, LeasedMail, LeasedMails, MailFailure, MailId, MailOutcome, MailStatus,
    OutboxDepth, UnreadableMail,
};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Subdomain;
use roadmap_domain::ports::{OutboxQueue, WorkspaceDirectory};
use uuid::Uuid;

use crate::PostgresStore;
use crate::codec::{TimestampColumn, optional_timestamp};
use crate::errors::inconsistent;
use crate::schema::outbox;
use crate::session::NO_WORKSPACE;
use crate::statement::statement;

statement! {
    /// The workspaces that have mail to be sent.
    WorkspacesWithMail { now: TimestampColumn => Timestamptz } -> SqlUuid,
    "SELECT id FROM workspaces_with_mail({now})"
}

statement! {
    /// Writes out the next mails of an audience, and forgets the audience when they are the last.
    Expand { workspace: Uuid => SqlUuid, most: i64 => BigInt } -> BigInt,
    "WITH one AS MATERIALIZED (
         SELECT comment_id, request_id, after_customer_id, created_at FROM outbox_audiences
         WHERE workspace_id = {workspace} ORDER BY created_at, comment_id LIMIT 1 FOR UPDATE SKIP LOCKED
     ), audience AS MATERIALIZED (
         SELECT one.comment_id, customer_id, one.created_at FROM one
         JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = one.request_id
          AND votes.customer_id > one.after_customer_id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
         WHERE subscribed AND votes.created_at <= one.created_at AND mail_stopped_at IS NULL
         ORDER BY customer_id LIMIT {most}
     ), written AS (
         INSERT INTO outbox (workspace_id, comment_id, customer_id, created_at, due_at)
         SELECT {workspace}, comment_id, customer_id, created_at, created_at FROM audience
     ), reached AS MATERIALIZED (
         SELECT customer_id FROM audience ORDER BY customer_id OFFSET {most} - 1
     ), moved AS (
         UPDATE outbox_audiences SET after_customer_id = (SELECT customer_id FROM reached)
         WHERE workspace_id = {workspace} AND comment_id = (SELECT comment_id FROM one) AND EXISTS (SELECT FROM reached)
     ), done AS (
         DELETE FROM outbox_audiences
         WHERE workspace_id = {workspace} AND comment_id = (SELECT comment_id FROM one)
           AND NOT EXISTS (SELECT FROM reached)
     )
     SELECT (SELECT count(*) FROM audience) FROM one"
}

statement! {
    /// Takes out the mails that have been due for longest, and deletes those that are not wanted.
    Lease {
        workspace: Uuid => SqlUuid,
        now: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        most: i64 => BigInt,
        hour: TimestampColumn => Timestamptz,
    } -> ((SqlUuid, SqlUuid, Nullable<Integer>, Text, SqlUuid, BigInt, Text, Text, Text, Text, BigInt), Bool),
    "WITH due AS MATERIALIZED (
         SELECT comment_id, customer_id FROM outbox WHERE workspace_id = {workspace} AND due_at <= {now}
           AND digest_at IS NULL
         ORDER BY due_at LIMIT {most} FOR UPDATE SKIP LOCKED
     ), mail AS MATERIALIZED (
         SELECT due.comment_id, due.customer_id, customers.email, feature_requests.id AS request_id,
                feature_requests.tag_number, feature_requests.title, comments.content,
                (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = {workspace}
                  AND sent.customer_id = due.customer_id AND sent.sent_at >= {hour} AND sent.digest_at IS NULL)
                + (SELECT count(*) FROM outbox held WHERE held.workspace_id = {workspace}
                    AND held.customer_id = due.customer_id AND held.leased_until > {now} AND held.digest_at IS NULL)
                AS recent_count,
                mail_stopped_at IS NULL AND coalesce(subscribed, false) AS is_wanted
         FROM due
         JOIN comments ON comments.workspace_id = {workspace} AND comments.id = due.comment_id
         JOIN feature_requests
           ON feature_requests.workspace_id = {workspace} AND feature_requests.id = comments.request_id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = due.customer_id
         LEFT JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = comments.request_id
          AND votes.customer_id = due.customer_id
     ), unwanted AS (
         DELETE FROM outbox USING mail
         WHERE outbox.workspace_id = {workspace} AND outbox.comment_id = mail.comment_id
           AND outbox.customer_id = mail.customer_id AND NOT is_wanted
     ), leased AS (
         UPDATE outbox SET due_at = {until}, leased_until = {until}, attempts = least(attempts, 2147483646) + 1
         FROM mail
         WHERE outbox.workspace_id = {workspace} AND outbox.comment_id = mail.comment_id
           AND outbox.customer_id = mail.customer_id AND is_wanted
         RETURNING outbox.comment_id, outbox.customer_id, attempts
     )
     SELECT mail.comment_id, mail.customer_id, attempts, email, request_id, tag_number, title, content, product_name,
            subdomain, recent_count, is_wanted
     FROM mail
     LEFT JOIN leased ON leased.comment_id = mail.comment_id AND leased.customer_id = mail.customer_id
     JOIN settings ON settings.workspace_id = {workspace}
     JOIN workspaces ON workspaces.id = {workspace}"
}

/// What a mail is made of, as it is read. Without attempts it was not leased.
type MailRow = (Uuid, Uuid, Option<i32>, String, Uuid, i64, String, String, String, String, i64);

statement! {
    /// Takes out the digests that have been due for longest, and deletes what is not wanted of them. Whoever else does waits,
    /// and finds nothing: a digest is never shared. Of each comment, no more is read than a digest can need.
    LeaseDigests {
        workspace: Uuid => SqlUuid,
        now: TimestampColumn => Timestamptz,
        until: TimestampColumn => Timestamptz,
        most: i64 => BigInt,
        entries: i64 => BigInt,
    } -> (SqlUuid, Timestamptz, BigInt, Integer, SqlUuid, Text, Text, Text, BigInt, Text, Text),
    "WITH digest AS MATERIALIZED (
         SELECT customer_id, digest_at FROM outbox
         WHERE workspace_id = {workspace} AND digest_at IS NOT NULL AND due_at <= {now}
         GROUP BY customer_id, digest_at ORDER BY min(due_at) LIMIT {most}
     ), due AS MATERIALIZED (
         SELECT comment_id, outbox.customer_id, outbox.digest_at
         FROM outbox JOIN digest ON digest.customer_id = outbox.customer_id AND digest.digest_at = outbox.digest_at
         WHERE outbox.workspace_id = {workspace} AND due_at <= {now}
         ORDER BY outbox.customer_id, comment_id FOR UPDATE OF outbox
     ), mail AS MATERIALIZED (
         SELECT due.comment_id, due.customer_id, due.digest_at, comments.request_id,
                mail_stopped_at IS NULL AND coalesce(subscribed, false) AS is_wanted
         FROM due
         JOIN comments ON comments.workspace_id = {workspace} AND comments.id = due.comment_id
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = due.customer_id
         LEFT JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = comments.request_id
          AND votes.customer_id = due.customer_id
     ), unwanted AS (
         DELETE FROM outbox USING mail
         WHERE outbox.workspace_id = {workspace} AND outbox.comment_id = mail.comment_id
           AND outbox.customer_id = mail.customer_id AND NOT is_wanted
     ), leased AS (
         UPDATE outbox SET due_at = {until}, leased_until = {until}, attempts = least(attempts, 2147483646) + 1
         FROM mail
         WHERE outbox.workspace_id = {workspace} AND outbox.comment_id = mail.comment_id
           AND outbox.customer_id = mail.customer_id AND is_wanted
         RETURNING outbox.comment_id, outbox.customer_id, outbox.digest_at, request_id, attempts
     ), numbered AS (
         SELECT leased.*, row_number() OVER (PARTITION BY customer_id, digest_at ORDER BY comment_id) AS number,
                count(*) OVER (PARTITION BY customer_id, digest_at) AS mails,
                max(attempts) OVER (PARTITION BY customer_id, digest_at) AS tries
         FROM leased
     )
     SELECT customer_id, digest_at, mails, tries, comment_id, email, product_name, subdomain, tag_number, title,
            substr(content, 1, 20000)
     FROM numbered
     JOIN comments ON comments.workspace_id = {workspace} AND comments.id = comment_id
     JOIN feature_requests
       ON feature_requests.workspace_id = {workspace} AND feature_requests.id = numbered.request_id
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = customer_id
     JOIN settings ON settings.workspace_id = {workspace}
     JOIN workspaces ON workspaces.id = {workspace}
     WHERE number <= {entries}
     ORDER BY customer_id, digest_at, number"
}

/// What a comment in a digest is made of, as it is read.
type DigestRow = (Uuid, TimestampColumn, i64, i32, Uuid, String, String, String, i64, String, String);

statement! {
    /// Says what became of a digest, unless its lease is over.
    SettleDigest {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        leased_until: TimestampColumn => Timestamptz,
        due_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        sent_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        failure: Option<String> => Nullable<Text>,
        now: TimestampColumn => Timestamptz,
        stop_mail: bool => Bool,
    } -> Bool,
    "WITH settled AS (
         UPDATE outbox SET leased_until = NULL, due_at = {due_at}, sent_at = {sent_at}, failure = {failure},
                           tried_at = {now}
         WHERE workspace_id = {workspace} AND customer_id = {customer} AND digest_at = {at}
           AND leased_until = {leased_until}
         RETURNING customer_id
     ), stopped AS (
         UPDATE customers SET mail_stopped_at = {now}, mail_stopped_because = {failure}
         WHERE workspace_id = {workspace} AND id = (SELECT customer_id FROM settled LIMIT 1)
           AND mail_stopped_at IS NULL AND {stop_mail}
     )
     SELECT EXISTS (SELECT FROM settled)"
}

statement! {
    /// Puts back a digest that was not tried.
    ReturnDigest {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        leased_until: TimestampColumn => Timestamptz,
        due_at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE outbox SET leased_until = NULL, due_at = {due_at}, attempts = attempts - 1
     WHERE workspace_id = {workspace} AND customer_id = {customer} AND digest_at = {at}
       AND leased_until = {leased_until}"
}

statement! {
    /// Holds a mail that was not tried for a digest.
    Hold {
        workspace: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        leased_until: TimestampColumn => Timestamptz,
        digest_at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE outbox SET leased_until = NULL, due_at = {digest_at}, digest_at = {digest_at}, attempts = attempts - 1
     WHERE workspace_id = {workspace} AND comment_id = {comment} AND customer_id = {customer}
       AND leased_until = {leased_until}"
}

statement! {
    /// Says what became of a mail, unless its lease is over.
    Settle {
        workspace: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        leased_until: TimestampColumn => Timestamptz,
        due_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        sent_at: Option<TimestampColumn> => Nullable<Timestamptz>,
        failure: Option<String> => Nullable<Text>,
        now: TimestampColumn => Timestamptz,
        stop_mail: bool => Bool,
    } -> Bool,
    "WITH settled AS (
         UPDATE outbox SET leased_until = NULL, due_at = {due_at}, sent_at = {sent_at}, failure = {failure},
                           tried_at = {now}
         WHERE workspace_id = {workspace} AND comment_id = {comment} AND customer_id = {customer}
           AND leased_until = {leased_until}
         RETURNING customer_id
     ), stopped AS (
         UPDATE customers SET mail_stopped_at = {now}, mail_stopped_because = {failure}
         WHERE workspace_id = {workspace} AND id = (SELECT customer_id FROM settled) AND mail_stopped_at IS NULL
           AND {stop_mail}
     )
     SELECT EXISTS (SELECT FROM settled)"
}

statement! {
    /// Puts back a mail that was not tried.
    Return {
        workspace: Uuid => SqlUuid,
        comment: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        leased_until: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE outbox SET leased_until = NULL, due_at = {now}, attempts = attempts - 1
     WHERE workspace_id = {workspace} AND comment_id = {comment} AND customer_id = {customer}
       AND leased_until = {leased_until}"
}

statement! {
    /// How a workspace's mail stands: waiting, audiences, the oldest of both, sent, dead.
    Status { workspace: Uuid => SqlUuid } -> (BigInt, BigInt, Nullable<Timestamptz>, BigInt, BigInt),
    "SELECT count(*) FILTER (WHERE due_at IS NOT NULL),
            (SELECT count(*) FROM outbox_audiences WHERE workspace_id = {workspace}),
            least(
                min(created_at) FILTER (WHERE due_at IS NOT NULL),
                (SELECT min(created_at) FROM outbox_audiences WHERE workspace_id = {workspace})
            ),
            count(*) FILTER (WHERE sent_at IS NOT NULL),
            count(*) FILTER (WHERE sent_at IS NULL AND due_at IS NULL)
     FROM outbox WHERE workspace_id = {workspace}"
}

statement! {
    /// How much mail there is of all workspaces.
    Depth { now: TimestampColumn => Timestamptz } -> (BigInt, BigInt, BigInt, BigInt, BigInt, Nullable<Timestamptz>),
    "SELECT due, leased, postponed, dead, audiences, oldest_due FROM mail_depth({now})"
}

statement! {
    /// Makes mail due that has failed before.
    Retry { workspace: Uuid => SqlUuid, dead: bool => Bool, now: TimestampColumn => Timestamptz } -> Untyped,
    "UPDATE outbox SET attempts = CASE WHEN due_at IS NULL THEN 0 ELSE attempts END, due_at = {now}
     WHERE workspace_id = {workspace} AND failure IS NOT NULL AND leased_until IS NULL AND sent_at IS NULL
       AND (due_at IS NOT NULL OR {dead})"
}

statement! {
    /// Deletes a workspace's mails that were sent longest ago.
    PurgeSent { workspace: Uuid => SqlUuid, before: TimestampColumn => Timestamptz, most: i64 => BigInt } -> Untyped,
    "DELETE FROM outbox WHERE workspace_id = {workspace} AND (comment_id, customer_id) IN (
         SELECT comment_id, customer_id FROM outbox WHERE workspace_id = {workspace} AND sent_at < {before}
         LIMIT {most}
     )"
}

#[async_trait]
impl OutboxQueue for PostgresStore {
    async fn workspaces_with_mail(&self, now: Timestamp) -> Result<Vec<WorkspaceId>, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let found = WorkspacesWithMail { now: now.into() };
        let found: Vec<Uuid> = session.run(found.load(&mut session.connection()?)).await?;
        Ok(found.into_iter().map(WorkspaceId::new).collect())
    }

    async fn expand(&self, workspace: WorkspaceId, limit: u32) -> Result<Option<u64>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let expand = Expand { workspace: workspace.uuid(), most: i64::from(limit) };
        let written: Option<i64> = session.run_optional(expand.get_result(&mut session.connection()?)).await?;
        Ok(written.map(i64::unsigned_abs))
    }

    async fn lease(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
        hour: Timestamp,
    ) -> Result<LeasedMails, StoreError> {
        let session = self.mail_session(workspace).await?;
        let lease = Lease {
            workspace: workspace.uuid(),
            now: now.into(),
            until: until.into(),
            most: i64::from(limit),
            hour: hour.into(),
        };
        let rows: Vec<(MailRow, bool)> = session.run(lease.load(&mut session.connection()?)).await?;
        let mut mails = LeasedMails::default();
        let mut comments = HashMap::new();
        for (row, is_wanted) in rows {
            if !is_wanted {
                mails.unwanted += 1;
                continue;
            }
            let id = MailId { comment: CommentId::new(row.0), customer: CustomerId::new(row.1) };
            match leased(row, id, until, &mut comments) {
                Ok(mail) => mails.mails.push(mail),
                Err(error) => mails.unreadable.push(UnreadableMail { id, leased_until: until, error }),
            }
        }
        Ok(mails)
    }

    async fn lease_digests(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
        entries: u32,
    ) -> Result<Vec<LeasedDigest>, StoreError> {
        let session = self.mail_session(workspace).await?;
        let lease = LeaseDigests {
            workspace: workspace.uuid(),
            now: now.into(),
            until: until.into(),
            most: i64::from(limit),
            entries: i64::from(entries),
        };
        let rows: Vec<DigestRow> = session.run(lease.load(&mut session.connection()?)).await?;
        let mut digests: Vec<LeasedDigest> = Vec::new();
        for row in rows {
            let (customer, at, mails, tries, comment, email, product_name, subdomain, tag_number, title, beginning) =
                row;
            let at = at.into_timestamp("outbox", "digest_at", comment)?;
            let entry = DigestEntry { tag_number, title: Title::from_stored(title), beginning };
            match digests.last_mut() {
                Some(digest) if digest.id.first.customer.uuid() == customer && digest.id.at == at => {
                    digest.entries.push(entry);
                }
                _ => digests.push(LeasedDigest {
                    id: DigestId {
                        at,
                        first: MailId { comment: CommentId::new(comment), customer: CustomerId::new(customer) },
                    },
                    leased_until: until,
                    attempt: NonZeroU32::new(tries.unsigned_abs()).unwrap_or(NonZeroU32::MIN),
                    to: EmailAddress::from_stored(email),
                    product_name: Name::from_stored(product_name),
                    subdomain: Subdomain::from_stored(subdomain),
                    entries: vec![entry],
                    mails: mails.unsigned_abs(),
                }),
            }
        }
        Ok(digests)
    }

    async fn settle_digest(
        &self,
        workspace: WorkspaceId,
        digest: DigestId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (workspace, leased_until, now) =
            (workspace.uuid(), TimestampColumn::from(leased_until), TimestampColumn::from(now));
        let (customer, at) = (digest.first.customer.uuid(), TimestampColumn::from(digest.at));
        let (due_at, sent_at, failure, stop_mail) = match outcome {
            MailOutcome::Sent => (None, Some(now), None, false),
            MailOutcome::Postponed { until, reason } => (Some((*until).into()), None, Some(reason.clone()), false),
            MailOutcome::Dead { reason, no_such_mailbox } => (None, None, Some(reason.clone()), *no_such_mailbox),
            MailOutcome::Released | MailOutcome::Held { .. } => {
                let put_back = ReturnDigest { workspace, customer, at, leased_until, due_at: now };
                return Ok(session.run(put_back.execute(&mut session.connection()?)).await? > 0);
            }
        };
        let settle = SettleDigest { workspace, customer, at, leased_until, due_at, sent_at, failure, now, stop_mail };
        session.run(settle.get_result(&mut session.connection()?)).await
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        mail: MailId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let session = self.mail_session(workspace).await?;
        let (workspace, leased_until, now) =
            (workspace.uuid(), TimestampColumn::from(leased_until), TimestampColumn::from(now));
        let (comment, customer) = (mail.comment.uuid(), mail.customer.uuid());
        let (due_at, sent_at, failure, stop_mail) = match outcome {
            MailOutcome::Sent => (None, Some(now), None, false),
            MailOutcome::Postponed { until, reason } => (Some((*until).into()), None, Some(reason.clone()), false),
            MailOutcome::Dead { reason, no_such_mailbox } => (None, None, Some(reason.clone()), *no_such_mailbox),
            MailOutcome::Released => {
                let put_back = Return { workspace, comment, customer, leased_until, now };
                return Ok(session.run(put_back.execute(&mut session.connection()?)).await? > 0);
            }
            MailOutcome::Held { until } => {
                let hold = Hold { workspace, comment, customer, leased_until, digest_at: (*until).into() };
                return Ok(session.run(hold.execute(&mut session.connection()?)).await? > 0);
            }
        };
        let settle = Settle { workspace, comment, customer, leased_until, due_at, sent_at, failure, now, stop_mail };
        session.run(settle.get_result(&mut session.connection()?)).await
    }

    async fn status(&self, workspace: WorkspaceId, failures: u32) -> Result<MailStatus, StoreError> {
        type FailureRow = (Uuid, Uuid, i32, Option<TimestampColumn>, String);
        let session = self.mail_session(workspace).await?;
        let status = Status { workspace: workspace.uuid() };
        let counts: (i64, i64, Option<TimestampColumn>, i64, i64) =
            session.run(status.get_result(&mut session.connection()?)).await?;
        let latest = outbox::table
            .filter(outbox::workspace_id.eq(workspace.uuid()))
            .filter(outbox::failure.is_not_null())
            .order((outbox::tried_at.desc(), outbox::comment_id, outbox::customer_id))
            .select((
                outbox::comment_id,
                outbox::customer_id,
                outbox::attempts,
                outbox::due_at,
                outbox::failure.assume_not_null(),
            ))
            .limit(i64::from(failures));
        let latest: Vec<FailureRow> = session.run(latest.load(&mut session.connection()?)).await?;
        let failure = |(comment, customer, attempts, next, reason): FailureRow| {
            Ok(MailFailure {
                id: MailId { comment: CommentId::new(comment), customer: CustomerId::new(customer) },
                attempts: attempts.unsigned_abs(),
                next_attempt_at: optional_timestamp(next, "outbox", "due_at", comment)?,
                reason,
            })
        };
        let (waiting, audiences, oldest, sent, dead) = counts;
        Ok(MailStatus {
            workspace,
            waiting: waiting.unsigned_abs(),
            audiences: audiences.unsigned_abs(),
            oldest: optional_timestamp(oldest, "outbox", "created_at", workspace.uuid())?,
            sent: sent.unsigned_abs(),
            dead: dead.unsigned_abs(),
            failures: latest.into_iter().map(failure).collect::<Result<_, StoreError>>()?,
        })
    }

    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError> {
        let session = self.mail_session(NO_WORKSPACE).await?;
        let depth = Depth { now: now.into() };
        let counts: (i64, i64, i64, i64, i64, Option<TimestampColumn>) =
            session.run(depth.get_result(&mut session.connection()?)).await?;
        let (due, leased, postponed, dead, audiences, oldest_due) = counts;
        Ok(OutboxDepth {
            due: due.unsigned_abs(),
            leased: leased.unsigned_abs(),
            postponed: postponed.unsigned_abs(),
            dead: dead.unsigned_abs(),
            audiences: audiences.unsigned_abs(),
            oldest_due: optional_timestamp(oldest_due, "outbox", "due_at", Uuid::nil())?,
        })
    }

    async fn retry(&self, workspace: WorkspaceId, dead: bool, now: Timestamp) -> Result<u64, StoreError> {
        let session = self.mail_session(workspace).await?;
        let retry = Retry { workspace: workspace.uuid(), dead, now: now.into() };
        Ok(session.run(retry.execute(&mut session.connection()?)).await? as u64)
    }

    /// Workspace by workspace: no session sees the rows of two.
    async fn purge_sent_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let mut forgotten: u64 = 0;
        for workspace in self.workspaces().await? {
            let most = u64::from(limit).saturating_sub(forgotten).cast_signed();
            if most == 0 {
                break;
            }
            let session = self.mail_session(workspace.id).await?;
            let forget = PurgeSent { workspace: workspace.id.uuid(), before: before.into(), most };
            forgotten += session.run(forget.execute(&mut session.connection()?)).await? as u64;
        }
        Ok(forgotten)
    }
}

/// A mail from its row. All mails of one comment share its content.
fn leased(
    row: MailRow,
    id: MailId,
    leased_until: Timestamp,
    comments: &mut HashMap<CommentId, Arc<CleanHtml>>,
) -> Result<LeasedMail, StoreError> {
    let (_, _, attempts, email, request, tag_number, title, content, product_name, subdomain, recent_count) = row;
    let attempt = attempts.and_then(|attempts| u32::try_from(attempts).ok()).and_then(NonZeroU32::new);
    let comment = comments.entry(id.comment).or_insert_with(|| Arc::new(CleanHtml::from_stored(content)));
    Ok(LeasedMail {
        id,
        leased_until,
        attempt: attempt.ok_or_else(|| inconsistent("outbox", "attempts", id))?,
        to: EmailAddress::from_stored(email),
        request: FeatureRequestId::new(request),
        tag_number,
        title: Title::from_stored(title),
        comment: comment.clone(),
        product_name: Name::from_stored(product_name),
        subdomain: Subdomain::from_stored(subdomain),
        recent_count: u32::try_from(recent_count).unwrap_or(u32::MAX),
    })
}
