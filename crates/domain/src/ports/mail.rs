//! Messages after the commit: the outbox as workers see it, what mails say, and what sends them.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::{CommentId, WorkspaceId};
use crate::model::mail::{
    CommentedRequest, DigestNotification, HeldMessage, MailId, MailRecipient, MailSender, MailStatus, Notification,
    OutboxDepth, SendError, TestMail,
};
use crate::model::message::{Audience, Lease, LeasedMessages, MessageId, MessageOutcome, MessageState, Priority};
use crate::model::timestamp::Timestamp;

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends one mail and returns the mail server's answer when it has accepted the mail.
    ///
    /// Contract: the mail's `Message-ID` follows from its id alone; nothing that it says can become
    /// a header or a command.
    async fn send(&self, notification: &Notification) -> Result<String, SendError>;

    /// Sends one digest, under the same contract.
    async fn send_digest(&self, digest: &DigestNotification) -> Result<String, SendError>;

    /// Sends one test mail, under the same contract.
    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError>;
}

/// The outbox as workers see it. Several may work on it at once, in several processes.
#[async_trait]
pub trait OutboxQueue: Send + Sync {
    /// The workspaces that have a message to be sent, with each priority that they have one of.
    async fn due_workspaces(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, Priority)>, StoreError>;

    /// Leases the messages of a priority that have been due for longest, so that nobody else does until `until`.
    ///
    /// Contract: no two workers hold one message at one time. Messages that are held for a digest are not leased. A row that
    /// cannot be read is leased and reported beside the others.
    async fn lease(
        &self,
        workspace: WorkspaceId,
        priority: Priority,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<LeasedMessages, StoreError>;

    /// Creates the messages of the next `limit` voters of a leased audience, and settles the audience: it is due again, or
    /// deleted when these were the last. Returns how many they were; `None` when the lease is over, and then nothing is
    /// changed.
    ///
    /// Contract: the audience is that of the timestamp `created_at`, without customers who have unsubscribed since. All of it
    /// happens or nothing.
    async fn expand(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        audience: &Audience,
        created_at: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError>;

    /// Writes down the outcome of a leased message. Returns whether the lease was still good; if not, nothing is changed.
    ///
    /// Contract: a message that is to be held for a digest that was leased meanwhile is returned instead.
    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        outcome: &MessageOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The state of a message, if there is one with this identity.
    async fn message(&self, workspace: WorkspaceId, id: &MessageId) -> Result<Option<MessageState>, StoreError>;

    /// The state of a workspace's mail, with its last `failures`. A digest counts as the mails that are held for it.
    async fn status(&self, workspace: WorkspaceId, failures: u32) -> Result<MailStatus, StoreError>;

    /// How much mail of all workspaces is not sent, counted as by [`Self::status`].
    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError>;

    /// Makes all mail of a workspace due that waits for its next try, and that is dead too when
    /// `dead` is set. Returns how many mails these are, counted as by [`Self::status`].
    async fn retry(&self, workspace: WorkspaceId, dead: bool, now: Timestamp) -> Result<u64, StoreError>;

    /// Deletes messages that were sent before a timestamp, at most `limit`, and with a digest the messages that were held for
    /// it. Returns how many, without the latter.
    async fn purge_sent(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads what mails say. Each method takes a fixed number of statements, however many mails there are.
#[async_trait]
pub trait MailReader: Send + Sync {
    /// Whom the mail of a workspace is from.
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError>;

    /// The recipients of notifications, without those whose comment or customer is gone. `hour` is when the hour began that
    /// [`MailRecipient::recent_count`] counts.
    async fn recipients(
        &self,
        workspace: WorkspaceId,
        mails: &[MailId],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<MailRecipient>, StoreError>;

    /// The comments, with so many characters of each at most.
    async fn comments(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
        characters: u32,
    ) -> Result<Vec<CommentedRequest>, StoreError>;

    /// The messages that are held for these digests.
    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError>;
}
