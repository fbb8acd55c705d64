//! The outbox as workers see it: each call is a unit of its own.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use diesel::dsl::{count_star, exists, min};
use diesel::prelude::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
    RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Bool, Integer, Nullable, Text};
use diesel::{IntoSql, SqliteConnection, delete, insert_into, update};
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
use roadmap_domain::ports::OutboxQueue;
use uuid::Uuid;

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp, timestamp};
use crate::errors::{SqlError, inconsistent};
use crate::schema::{customers, outbox, outbox_audiences, votes, workspaces};
use crate::statement::statement;

statement! {
    /// Deletes the mails that were sent longest ago.
    PurgeSent { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM outbox WHERE (workspace_id, comment_id, customer_id) IN
     (SELECT workspace_id, comment_id, customer_id FROM outbox WHERE sent_at < ? LIMIT ?)"
}

statement! {
    /// The mails that have been due for longest, with all that they say, and whether they are wanted.
    DueMails { hour: i64 => BigInt, leased: i64 => BigInt, workspace: Id => Binary, now: i64 => BigInt, limit: i64 => BigInt }
        -> ((Binary, Binary, Integer, Text, Binary, BigInt, Text, Text, Text, Text, BigInt), Bool),
    "SELECT outbox.comment_id, outbox.customer_id, outbox.attempts, customers.email,
            feature_requests.id, feature_requests.tag_number, feature_requests.title,
            comments.content, settings.product_name, workspaces.subdomain,
            (SELECT count(*) FROM outbox sent WHERE sent.workspace_id = outbox.workspace_id
              AND sent.customer_id = outbox.customer_id AND sent.sent_at >= ? AND sent.digest_at IS NULL)
            + (SELECT count(*) FROM outbox leased WHERE leased.workspace_id = outbox.workspace_id
                AND leased.customer_id = outbox.customer_id AND leased.leased_until > ? AND leased.digest_at IS NULL),
            customers.mail_stopped_at IS NULL AND coalesce(votes.subscribed, 0)
     FROM outbox
     JOIN comments ON comments.workspace_id = outbox.workspace_id AND comments.id = outbox.comment_id
     JOIN feature_requests
       ON feature_requests.workspace_id = outbox.workspace_id AND feature_requests.id = comments.request_id
     JOIN customers ON customers.workspace_id = outbox.workspace_id AND customers.id = outbox.customer_id
     LEFT JOIN votes ON votes.workspace_id = outbox.workspace_id AND votes.request_id = comments.request_id
      AND votes.customer_id = outbox.customer_id
     JOIN settings ON settings.workspace_id = outbox.workspace_id
     JOIN workspaces ON workspaces.id = outbox.workspace_id
     WHERE outbox.workspace_id = ? AND outbox.due_at <= ? AND outbox.digest_at IS NULL
     ORDER BY outbox.due_at LIMIT ?"
}

statement! {
    /// Mails of all workspaces by what becomes of them: due, leased, postponed, dead; audiences; the
    /// oldest moments of mails that are due or will be, and of audiences.
    Depth { due: i64 => BigInt, leased: i64 => BigInt, postponed: i64 => BigInt }
        -> (BigInt, BigInt, BigInt, BigInt, BigInt, Nullable<BigInt>, Nullable<BigInt>),
    "SELECT count(*) FILTER (WHERE due_at <= ?),
            count(*) FILTER (WHERE due_at > ? AND leased_until IS NOT NULL),
            count(*) FILTER (WHERE due_at > ? AND leased_until IS NULL),
            (SELECT count(*) FROM outbox WHERE sent_at IS NULL AND due_at IS NULL),
            (SELECT count(*) FROM outbox_audiences),
            min(due_at),
            (SELECT min(created_at) FROM outbox_audiences)
     FROM outbox WHERE due_at IS NOT NULL"
}

/// What a mail is made of, as it is read.
type MailRow = (Id, Id, i32, String, Id, i64, String, String, String, String, i64);

statement! {
    /// The digests that are due: of whom, and when their hours were over.
    DueDigests { workspace: Id => Binary, now: i64 => BigInt, limit: i64 => BigInt } -> (Binary, BigInt),
    "SELECT customer_id, digest_at FROM outbox
     WHERE workspace_id = ? AND digest_at IS NOT NULL AND due_at <= ?
     GROUP BY customer_id, digest_at ORDER BY min(due_at) LIMIT ?"
}

statement! {
    /// Deletes the mails of a digest that are not wanted any more.
    DropUnwanted { workspace: Id => Binary, customer: Id => Binary, at: i64 => BigInt, now: i64 => BigInt }
    "DELETE FROM outbox WHERE workspace_id = ? AND customer_id = ? AND digest_at = ? AND due_at <= ? AND NOT EXISTS
     (SELECT 1 FROM comments
      JOIN votes ON votes.workspace_id = comments.workspace_id AND votes.request_id = comments.request_id
       AND votes.customer_id = outbox.customer_id
      JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
      WHERE comments.workspace_id = outbox.workspace_id AND comments.id = outbox.comment_id
        AND subscribed AND mail_stopped_at IS NULL)"
}

statement! {
    /// The first mails of a digest that was leased, with all that it says. Of each comment, no more than a digest can need.
    DigestMails {
        workspace: Id => Binary, customer: Id => Binary, at: i64 => BigInt, leased_until: i64 => BigInt, limit: i64 => BigInt
    } -> (Binary, Integer, Text, Text, Text, BigInt, Text, Text),
    "SELECT outbox.comment_id, outbox.attempts, customers.email, settings.product_name, workspaces.subdomain,
            feature_requests.tag_number, feature_requests.title, substr(comments.content, 1, 20000)
     FROM outbox
     JOIN comments ON comments.workspace_id = outbox.workspace_id AND comments.id = outbox.comment_id
     JOIN feature_requests
       ON feature_requests.workspace_id = outbox.workspace_id AND feature_requests.id = comments.request_id
     JOIN customers ON customers.workspace_id = outbox.workspace_id AND customers.id = outbox.customer_id
     JOIN settings ON settings.workspace_id = outbox.workspace_id
     JOIN workspaces ON workspaces.id = outbox.workspace_id
     WHERE outbox.workspace_id = ? AND outbox.customer_id = ? AND outbox.digest_at = ? AND outbox.leased_until = ?
     ORDER BY outbox.comment_id LIMIT ?"
}

/// What a comment in a digest is made of, as it is read.
type DigestRow = (Id, i32, String, String, String, i64, String, String);

/// Leases one digest, unless nothing of it is wanted or due any more. Returns its first mails, and how many it has.
fn lease_digest(
    connection: &mut SqliteConnection,
    workspace: Id,
    (customer, at): (Id, i64),
    now: i64,
    leased_until: i64,
    entries: i64,
) -> Result<(Vec<DigestRow>, u64), SqlError> {
    DropUnwanted { workspace, customer, at, now }.execute(connection)?;
    let due = outbox::table
        .filter(outbox::workspace_id.eq(workspace))
        .filter(outbox::customer_id.eq(customer))
        .filter(outbox::digest_at.eq(at))
        .filter(outbox::due_at.le(now));
    let mails = update(due)
        .set((
            outbox::due_at.eq(leased_until),
            outbox::leased_until.eq(leased_until),
            outbox::attempts.eq(outbox::attempts + 1),
        ))
        .execute(connection)?;
    let rows = DigestMails { workspace, customer, at, leased_until, limit: entries }.load(connection)?;
    Ok((rows, mails as u64))
}

fn digest(customer: Id, at: i64, rows: Vec<DigestRow>, mails: u64, until: Timestamp) -> Option<LeasedDigest> {
    let customer = CustomerId::new(customer.0);
    let (comment, _, email, product_name, subdomain, ..) = rows.first().cloned()?;
    let attempts = rows.iter().map(|row| row.1.unsigned_abs()).max().unwrap_or(1);
    let entry = |(.., tag_number, title, beginning): DigestRow| DigestEntry {
        tag_number,
        title: Title::from_stored(title),
        beginning,
    };
    Some(LeasedDigest {
        id: DigestId {
            at: Timestamp::from_millis(at)?,
            first: MailId { comment: CommentId::new(comment.0), customer },
        },
        leased_until: until,
        attempt: NonZeroU32::new(attempts).unwrap_or(NonZeroU32::MIN),
        to: EmailAddress::from_stored(email),
        product_name: Name::from_stored(product_name),
        subdomain: Subdomain::from_stored(subdomain),
        entries: rows.into_iter().map(entry).collect(),
        mails,
    })
}

statement! {
    /// How many subscribed voters there are who voted before a moment, counted up to a limit.
    Audience { workspace: Id => Binary, request: Id => Binary, at: i64 => BigInt, limit: i64 => BigInt } -> BigInt,
    "SELECT count(*) FROM (
         SELECT 1 FROM votes
         JOIN customers ON customers.workspace_id = votes.workspace_id AND customers.id = votes.customer_id
         WHERE votes.workspace_id = ? AND request_id = ? AND subscribed AND votes.created_at <= ?
           AND mail_stopped_at IS NULL
         LIMIT ?
     )"
}

/// How many voters a mail is for, counted up to a limit.
pub(crate) fn audience(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    at: i64,
    limit: u32,
) -> Result<u64, SqlError> {
    let audience = Audience { workspace, request, at, limit: i64::from(limit) };
    let counted: i64 = audience.get_result(connection)?;
    Ok(counted.unsigned_abs())
}

/// Writes out mails to the subscribed voters behind `after`, in the order of their ids, who voted
/// before `at`. Returns how many, and the last of them.
pub(crate) fn write_out(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    comment: Id,
    after: Id,
    at: i64,
    limit: u32,
) -> Result<(u64, Option<Id>), SqlError> {
    let audience = votes::table
        .inner_join(
            customers::table
                .on(customers::workspace_id.eq(votes::workspace_id).and(customers::id.eq(votes::customer_id))),
        )
        .filter(votes::workspace_id.eq(workspace))
        .filter(votes::request_id.eq(request))
        .filter(votes::customer_id.gt(after))
        .filter(votes::subscribed.eq(true))
        .filter(votes::created_at.le(at))
        .filter(customers::mail_stopped_at.is_null())
        .order(votes::customer_id)
        .limit(i64::from(limit))
        .select((
            votes::workspace_id,
            comment.into_sql::<Binary>(),
            votes::customer_id,
            at.into_sql::<BigInt>(),
            Some(at).into_sql::<Nullable<BigInt>>(),
            0.into_sql::<Integer>(),
        ));
    let written: Vec<Id> = insert_into(outbox::table)
        .values(audience)
        .into_columns((
            outbox::workspace_id,
            outbox::comment_id,
            outbox::customer_id,
            outbox::created_at,
            outbox::due_at,
            outbox::attempts,
        ))
        .returning(outbox::customer_id)
        .get_results(connection)?;
    Ok((written.len() as u64, written.into_iter().max_by_key(|id| id.0)))
}

/// Writes down what became of leased rows: of one mail, or of all mails of a digest. A macro, because both are selections of
/// types of their own.
macro_rules! settle_rows {
    ($connection:expr, $rows:expr, $workspace:expr, $customer:expr, $outcome:expr, $now:expr) => {{
        let no_lease = outbox::leased_until.eq(None::<i64>);
        let settled = match $outcome {
            MailOutcome::Sent => update($rows)
                .set((
                    no_lease,
                    outbox::due_at.eq(None::<i64>),
                    outbox::tried_at.eq($now),
                    outbox::sent_at.eq($now),
                    outbox::failure.eq(None::<String>),
                ))
                .execute($connection)?,
            MailOutcome::Postponed { until, reason } => update($rows)
                .set((
                    no_lease,
                    outbox::due_at.eq(until.millis()),
                    outbox::tried_at.eq($now),
                    outbox::failure.eq(reason),
                ))
                .execute($connection)?,
            MailOutcome::Dead { reason, .. } => update($rows)
                .set((no_lease, outbox::due_at.eq(None::<i64>), outbox::tried_at.eq($now), outbox::failure.eq(reason)))
                .execute($connection)?,
            MailOutcome::Held { until } => update($rows)
                .set((
                    no_lease,
                    outbox::due_at.eq(until.millis()),
                    outbox::digest_at.eq(until.millis()),
                    outbox::attempts.eq(outbox::attempts - 1),
                ))
                .execute($connection)?,
            MailOutcome::Released => update($rows)
                .set((no_lease, outbox::due_at.eq($now), outbox::attempts.eq(outbox::attempts - 1)))
                .execute($connection)?,
        };
        if settled > 0
            && let MailOutcome::Dead { reason, no_such_mailbox: true } = $outcome
        {
            stop_mail($connection, $workspace, $customer, $now, reason)?;
        }
        Ok(settled > 0)
    }};
}

#[async_trait]
impl OutboxQueue for SqliteStore {
    async fn workspaces_with_mail(&self, now: Timestamp) -> Result<Vec<WorkspaceId>, StoreError> {
        let now = now.millis();
        let found: Vec<Id> = self
            .readers
            .run(move |connection| {
                let due = outbox::table.filter(outbox::workspace_id.eq(workspaces::id)).filter(outbox::due_at.le(now));
                let audience = outbox_audiences::table.filter(outbox_audiences::workspace_id.eq(workspaces::id));
                Ok(workspaces::table
                    .filter(exists(due).or(exists(audience)))
                    .order(workspaces::id)
                    .select(workspaces::id)
                    .load(connection)?)
            })
            .await?;
        Ok(found.into_iter().map(|id| WorkspaceId::new(id.0)).collect())
    }

    async fn expand(&self, workspace: WorkspaceId, limit: u32) -> Result<Option<u64>, StoreError> {
        let workspace = Id(workspace.uuid());
        self.write(move |connection| {
            let audience: Option<(Id, Id, Id, i64)> = outbox_audiences::table
                .filter(outbox_audiences::workspace_id.eq(workspace))
                .order((outbox_audiences::created_at, outbox_audiences::comment_id))
                .select((
                    outbox_audiences::comment_id,
                    outbox_audiences::request_id,
                    outbox_audiences::after_customer_id,
                    outbox_audiences::created_at,
                ))
                .first(connection)
                .optional()?;
            let Some((comment, request, after, at)) = audience else { return Ok(None) };
            let (written, last) = write_out(connection, workspace, request, comment, after, at, limit)?;
            match last {
                Some(last) if written >= u64::from(limit) => {
                    update(outbox_audiences::table.find((workspace, comment)))
                        .set(outbox_audiences::after_customer_id.eq(last))
                        .execute(connection)?;
                }
                _ => {
                    delete(outbox_audiences::table.find((workspace, comment))).execute(connection)?;
                }
            }
            Ok(Some(written))
        })
        .await
    }

    async fn lease(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
        hour: Timestamp,
    ) -> Result<LeasedMails, StoreError> {
        let workspace = Id(workspace.uuid());
        let (now, leased_until, hour) = (now.millis(), until.millis(), hour.millis());
        let (rows, unwanted) = self
            .write(move |connection| {
                let due = DueMails { hour, leased: now, workspace, now, limit: i64::from(limit) };
                let due: Vec<(MailRow, bool)> = due.load(connection)?;
                let (mut leased, mut unwanted) = (Vec::with_capacity(due.len()), 0);
                for (mail, is_wanted) in due {
                    let row = outbox::table.find((workspace, mail.0, mail.1));
                    if !is_wanted {
                        unwanted += delete(row).execute(connection)? as u64;
                        continue;
                    }
                    update(row)
                        .set((
                            outbox::due_at.eq(leased_until),
                            outbox::leased_until.eq(leased_until),
                            outbox::attempts.eq(mail.2.saturating_add(1)),
                        ))
                        .execute(connection)?;
                    leased.push(mail);
                }
                Ok((leased, unwanted))
            })
            .await?;
        let mut mails = LeasedMails { unwanted, ..LeasedMails::default() };
        let mut comments = HashMap::new();
        for row in rows {
            let id = MailId { comment: CommentId::new(row.0.0), customer: CustomerId::new(row.1.0) };
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
        let workspace = Id(workspace.uuid());
        let (now, leased_until, entries) = (now.millis(), until.millis(), i64::from(entries));
        let due = DueDigests { workspace, now, limit: i64::from(limit) };
        // Mostly there is none, and nobody who writes has to wait for that.
        let due: Vec<(Id, i64)> = self.readers.run(move |connection| Ok(due.load(connection)?)).await?;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let leased = self
            .write(move |connection| {
                let mut leased = Vec::with_capacity(due.len());
                for group in due {
                    leased.push((group, lease_digest(connection, workspace, group, now, leased_until, entries)?));
                }
                Ok(leased)
            })
            .await?;
        Ok(leased
            .into_iter()
            .filter_map(|((customer, at), (rows, mails))| digest(customer, at, rows, mails, until))
            .collect())
    }

    async fn settle_digest(
        &self,
        workspace: WorkspaceId,
        digest: DigestId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let (workspace, customer) = (Id(workspace.uuid()), Id(digest.first.customer.uuid()));
        let (at, outcome, now) = (digest.at.millis(), outcome.clone(), now.millis());
        self.write(move |connection| {
            let rows = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::customer_id.eq(customer))
                .filter(outbox::digest_at.eq(at))
                .filter(outbox::leased_until.eq(leased_until.millis()));
            settle_rows!(connection, rows, workspace, customer, &outcome, now)
        })
        .await
    }

    async fn settle(
        &self,
        workspace: WorkspaceId,
        mail: MailId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let workspace = Id(workspace.uuid());
        let (outcome, now) = (outcome.clone(), now.millis());
        self.write(move |connection| {
            let customer = Id(mail.customer.uuid());
            let row = outbox::table
                .filter(outbox::workspace_id.eq(workspace))
                .filter(outbox::comment_id.eq(Id(mail.comment.uuid())))
                .filter(outbox::customer_id.eq(customer))
                .filter(outbox::leased_until.eq(leased_until.millis()));
            settle_rows!(connection, row, workspace, customer, &outcome, now)
        })
        .await
    }

    async fn status(&self, workspace: WorkspaceId, failures: u32) -> Result<MailStatus, StoreError> {
        type FailureRow = (Id, Id, i32, Option<i64>, String);
        let id = Id(workspace.uuid());
        let (waiting, oldest, audiences, sent, dead, failures) = self
            .readers
            .run_in_snapshot(move |connection| {
                let of_workspace = outbox::table.filter(outbox::workspace_id.eq(id));
                let (waiting, oldest): (i64, Option<i64>) = of_workspace
                    .filter(outbox::due_at.is_not_null())
                    .select((count_star(), min(outbox::created_at)))
                    .first(connection)?;
                let audiences: (i64, Option<i64>) = outbox_audiences::table
                    .filter(outbox_audiences::workspace_id.eq(id))
                    .select((count_star(), min(outbox_audiences::created_at)))
                    .first(connection)?;
                let sent: i64 = of_workspace.filter(outbox::sent_at.is_not_null()).count().get_result(connection)?;
                let dead: i64 = of_workspace
                    .filter(outbox::sent_at.is_null())
                    .filter(outbox::due_at.is_null())
                    .count()
                    .get_result(connection)?;
                let failures: Vec<FailureRow> = of_workspace
                    .filter(outbox::failure.is_not_null())
                    .order((outbox::tried_at.desc(), outbox::comment_id, outbox::customer_id))
                    .select((
                        outbox::comment_id,
                        outbox::customer_id,
                        outbox::attempts,
                        outbox::due_at,
                        outbox::failure.assume_not_null(),
                    ))
                    .limit(i64::from(failures))
                    .load(connection)?;
                let oldest = [oldest, audiences.1].into_iter().flatten().min();
                Ok((waiting, oldest, audiences.0, sent, dead, failures))
            })
            .await?;
        let failure = |(comment, customer, attempts, next, reason): FailureRow| {
            Ok(MailFailure {
                id: MailId { comment: CommentId::new(comment.0), customer: CustomerId::new(customer.0) },
                attempts: attempts.unsigned_abs(),
                next_attempt_at: optional_timestamp(next, "outbox", "due_at", comment)?,
                reason,
            })
        };
        Ok(MailStatus {
            workspace,
            waiting: waiting.unsigned_abs(),
            audiences: audiences.unsigned_abs(),
            oldest: oldest.map(|at| timestamp(at, "outbox", "created_at", id)).transpose()?,
            sent: sent.unsigned_abs(),
            dead: dead.unsigned_abs(),
            failures: failures.into_iter().map(failure).collect::<Result<_, StoreError>>()?,
        })
    }

    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError> {
        type Counts = (i64, i64, i64, i64, i64, Option<i64>, Option<i64>);
        let at = now.millis();
        let counts: Counts = self
            .readers
            .run(move |connection| Ok(Depth { due: at, leased: at, postponed: at }.get_result(connection)?))
            .await?;
        let (due, leased, postponed, dead, audiences, mail, audience) = counts;
        let oldest_due = mail.filter(|due_at| *due_at <= at).into_iter().chain(audience).min();
        Ok(OutboxDepth {
            due: due.unsigned_abs(),
            leased: leased.unsigned_abs(),
            postponed: postponed.unsigned_abs(),
            dead: dead.unsigned_abs(),
            audiences: audiences.unsigned_abs(),
            oldest_due: optional_timestamp(oldest_due, "outbox", "due_at", Id(Uuid::nil()))?,
        })
    }

    async fn retry(&self, workspace: WorkspaceId, dead: bool, now: Timestamp) -> Result<u64, StoreError> {
        let (workspace, now) = (Id(workspace.uuid()), now.millis());
        self.write(move |connection| {
            let of_workspace = outbox::table.filter(outbox::workspace_id.eq(workspace));
            let mut made_due = update(
                of_workspace
                    .filter(outbox::failure.is_not_null())
                    .filter(outbox::leased_until.is_null())
                    .filter(outbox::due_at.is_not_null()),
            )
            .set(outbox::due_at.eq(now))
            .execute(connection)?;
            if dead {
                made_due += update(
                    of_workspace
                        .filter(outbox::failure.is_not_null())
                        .filter(outbox::sent_at.is_null())
                        .filter(outbox::due_at.is_null()),
                )
                .set((outbox::due_at.eq(now), outbox::attempts.eq(0)))
                .execute(connection)?;
            }
            Ok(made_due as u64)
        })
        .await
    }

    async fn purge_sent_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forget = PurgeSent { before: before.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(forget.execute(connection)? as u64)).await
    }
}

/// The first reason stays.
fn stop_mail(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: Id,
    now: i64,
    reason: &str,
) -> Result<(), SqlError> {
    update(customers::table.find((workspace, customer)).filter(customers::mail_stopped_at.is_null()))
        .set((customers::mail_stopped_at.eq(now), customers::mail_stopped_because.eq(reason)))
        .execute(connection)?;
    Ok(())
}

/// A mail from its row. All mails of one comment share its content.
fn leased(
    row: MailRow,
    id: MailId,
    leased_until: Timestamp,
    comments: &mut HashMap<CommentId, Arc<CleanHtml>>,
) -> Result<LeasedMail, StoreError> {
    let (_, _, attempts, email, request, tag_number, title, content, product_name, subdomain, recent_count) = row;
    let attempt = u32::try_from(attempts.saturating_add(1)).ok().and_then(NonZeroU32::new);
    let comment = comments.entry(id.comment).or_insert_with(|| Arc::new(CleanHtml::from_stored(content)));
    Ok(LeasedMail {
        id,
        leased_until,
        attempt: attempt.ok_or_else(|| inconsistent("outbox", "attempts", id))?,
        to: EmailAddress::from_stored(email),
        request: FeatureRequestId::new(request.0),
        tag_number,
        title: Title::from_stored(title),
        comment: comment.clone(),
        product_name: Name::from_stored(product_name),
        subdomain: Subdomain::from_stored(subdomain),
        recent_count: u32::try_from(recent_count).unwrap_or(u32::MAX),
    })
}
