//! Outgoing mail after the commit: the queue that the outbox is to workers, and what sends.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::mail::{
    DigestId, DigestNotification, LeasedDigest, LeasedMails, MailId, MailOutcome, MailStatus, Notification,
    OutboxDepth, SendError,
};
use crate::model::timestamp::Timestamp;

/// Sends mail.
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends one mail and returns when the server has taken it.
    ///
    /// Contract: the mail's `Message-ID` follows from its id alone; nothing that it says can become
    /// a header or a command.
    async fn send(&self, notification: &Notification) -> Result<(), SendError>;

    /// Sends one digest, under the same contract.
    async fn send_digest(&self, digest: &DigestNotification) -> Result<(), SendError>;
}

/// The outbox as workers see it. Several may work on it at once, in several processes.
#[async_trait]
pub trait OutboxQueue: Send + Sync {
    /// The workspaces that have a mail to be sent, or an audience to be written out.
    async fn workspaces_with_mail(&self, now: Timestamp) -> Result<Vec<WorkspaceId>, StoreError>;

    /// Writes out the next `limit` mails of the audience that has waited longest. Returns how many
    /// they were; `None` when no audience waits.
    ///
    /// Contract: the audience is that of the comment's moment, without whom has unsubscribed since.
    async fn expand(&self, workspace: WorkspaceId, limit: u32) -> Result<Option<u64>, StoreError>;

    /// Takes out the mails that have waited longest, so that nobody else does until `until`. Mails that are held for a digest
    /// are none of them. `hour` is when the hour began that [`LeasedMail::recent_count`](crate::model::mail::LeasedMail::recent_count)
    /// counts.
    ///
    /// Contract: no two workers hold one mail at one time; mail that its recipient does not want
    /// any more, or whose vote is gone, is deleted instead. A row that cannot be read is leased and reported beside the
    /// others.
    async fn lease(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
        hour: Timestamp,
    ) -> Result<LeasedMails, StoreError>;

    /// Takes out at most `limit` digests that are due, as [`Self::lease`] does mails, each with `entries` comments at most.
    ///
    /// Contract: all mails of a digest are leased together, by one worker.
    async fn lease_digests(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
        entries: u32,
    ) -> Result<Vec<LeasedDigest>, StoreError>;

    /// Says what became of a mail. Returns whether the lease was still good; if not, nothing
    /// is changed.
    async fn settle(
        &self,
        workspace: WorkspaceId,
        mail: MailId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Says what became of a digest, and so of all its mails, as [`Self::settle`] does of one.
    async fn settle_digest(
        &self,
        workspace: WorkspaceId,
        digest: DigestId,
        leased_until: Timestamp,
        outcome: &MailOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// How the mail of a workspace stands, with its last `failures`.
    async fn status(&self, workspace: WorkspaceId, failures: u32) -> Result<MailStatus, StoreError>;

    /// How much mail of all workspaces there is to be sent, or is given up.
    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError>;

    /// Makes all mail of a workspace due that waits for its next try, and that is dead too when
    /// `dead` is set. Returns how many mails that are.
    async fn retry(&self, workspace: WorkspaceId, dead: bool, now: Timestamp) -> Result<u64, StoreError>;

    /// Forgets mails that were sent before a moment, at most `limit`. Returns how many.
    async fn purge_sent_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
