//! Messages of the outbox and counts of them.

use std::num::NonZeroU32;

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::{HeldMessage, MailFailure, MailStatus, OutboxDepth};
use roadmap_domain::model::message::{Lease, LeasedMessage, LeasedMessages, MessageId, MessageState, Recipient};
use roadmap_domain::model::timestamp::Timestamp;

use crate::columns::{Id, TimestampColumn, inconsistent, optional_timestamp};

/// A leased message.
#[derive(Debug, Queryable)]
pub struct MessageRow {
    id: String,
    kind: String,
    payload: String,
    customer: Option<Id>,
    address: Option<String>,
    created_at: TimestampColumn,
    /// The number of attempts, with the one that begins.
    pub attempts: i32,
    /// The ID of the HTTP request that wrote the message.
    request_id: Option<String>,
}

/// Converts the rows of messages that are leased until a timestamp.
#[must_use]
pub fn leased_messages(rows: Vec<MessageRow>, until: Timestamp) -> LeasedMessages {
    let mut messages = LeasedMessages::default();
    for mut row in rows {
        let lease = Lease { message: MessageId::new(row.id.clone()), until, request_id: row.request_id.take() };
        messages.push(lease.clone(), leased(row, lease));
    }
    messages
}

fn leased(row: MessageRow, lease: Lease) -> Result<LeasedMessage, StoreError> {
    let attempt = u32::try_from(row.attempts).ok().and_then(NonZeroU32::new);
    Ok(LeasedMessage {
        lease,
        attempt: attempt.ok_or_else(|| inconsistent("outbox", "attempts", &row.id))?,
        kind: row.kind,
        payload: row.payload,
        recipient: recipient(row.customer, row.address),
        created_at: row.created_at.into_timestamp("outbox", "created_at", &row.id)?,
    })
}

fn recipient(customer: Option<Id>, address: Option<String>) -> Recipient {
    match (customer, address) {
        (Some(customer), _) => Recipient::Customer(CustomerId::new(customer.0)),
        (None, Some(address)) => Recipient::Address(EmailAddress::from_stored(address)),
        (None, None) => Recipient::None,
    }
}

/// A message that is held for a digest.
#[derive(Debug, Queryable)]
pub struct HeldMessageRow {
    digest: String,
    kind: String,
    payload: String,
    customer: Option<Id>,
    address: Option<String>,
}

impl From<HeldMessageRow> for HeldMessage {
    fn from(row: HeldMessageRow) -> Self {
        let (digest, recipient) = (MessageId::new(row.digest), recipient(row.customer, row.address));
        Self { digest, kind: row.kind, payload: row.payload, recipient }
    }
}

/// The state of a message.
#[derive(Debug, Queryable)]
pub struct MessageStateRow {
    attempts: i32,
    due_at: Option<TimestampColumn>,
    leased_until: Option<TimestampColumn>,
    sent_at: Option<TimestampColumn>,
    failure: Option<String>,
    response: Option<String>,
}

impl MessageStateRow {
    /// Converts the row of a message.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_state(self, id: &MessageId) -> Result<MessageState, StoreError> {
        Ok(MessageState {
            attempts: self.attempts.unsigned_abs(),
            due_at: optional_timestamp(self.due_at, "outbox", "due_at", id)?,
            leased_until: optional_timestamp(self.leased_until, "outbox", "leased_until", id)?,
            sent_at: optional_timestamp(self.sent_at, "outbox", "sent_at", id)?,
            failure: self.failure,
            response: self.response,
        })
    }
}

/// A message that failed.
#[derive(Debug, Queryable)]
pub struct MailFailureRow {
    id: String,
    attempts: i32,
    due_at: Option<TimestampColumn>,
    reason: String,
}

impl TryFrom<MailFailureRow> for MailFailure {
    type Error = StoreError;

    fn try_from(MailFailureRow { id, attempts, due_at, reason }: MailFailureRow) -> Result<Self, StoreError> {
        let next_attempt_at = optional_timestamp(due_at, "outbox", "due_at", &id)?;
        Ok(Self { id: MessageId::new(id), attempts: attempts.unsigned_abs(), next_attempt_at, reason })
    }
}

/// The numbers of a workspace's mails.
#[derive(Debug, Queryable)]
pub struct MailStatusRow {
    waiting: i64,
    audiences: i64,
    /// When the oldest waiting one was created.
    oldest: Option<TimestampColumn>,
    sent: i64,
    dead: i64,
}

impl MailStatusRow {
    /// Converts the row of a workspace, with its latest failures.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_status(self, workspace: WorkspaceId, failures: Vec<MailFailureRow>) -> Result<MailStatus, StoreError> {
        Ok(MailStatus {
            workspace,
            waiting: self.waiting.unsigned_abs(),
            audiences: self.audiences.unsigned_abs(),
            oldest: optional_timestamp(self.oldest, "outbox", "created_at", workspace)?,
            sent: self.sent.unsigned_abs(),
            dead: self.dead.unsigned_abs(),
            failures: failures.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
        })
    }
}

/// The numbers of unsent mails of all workspaces.
#[derive(Debug, Queryable)]
pub struct OutboxDepthRow {
    due: i64,
    leased: i64,
    postponed: i64,
    dead: i64,
    audiences: i64,
    oldest_due: Option<TimestampColumn>,
}

impl TryFrom<OutboxDepthRow> for OutboxDepth {
    type Error = StoreError;

    fn try_from(row: OutboxDepthRow) -> Result<Self, StoreError> {
        Ok(Self {
            due: row.due.unsigned_abs(),
            leased: row.leased.unsigned_abs(),
            postponed: row.postponed.unsigned_abs(),
            dead: row.dead.unsigned_abs(),
            audiences: row.audiences.unsigned_abs(),
            oldest_due: optional_timestamp(row.oldest_due, "outbox", "due_at", "all")?,
        })
    }
}
