//! Ports for mail: the outbox queue of the workers, the content of mails, and the mailer.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::feature_request::Title;
use crate::model::id::{FeatureRequestId, SignInId, WorkspaceId};
use crate::model::mail::{
    DigestNotification, HeldMessage, MailId, MailRecipient, MailSender, MailStatus, Notification, OutboxDepth,
    SendError, SignInMail, TestMail, Topic, TopicContent, WebhookDisabledMail,
};
use crate::model::message::{Audience, Lease, LeasedMessages, MessageId, MessageOutcome, MessageState, Priority};
use crate::model::sign_in::SignIn;
use crate::model::team_mail::{MemberToTell, TeamDigestContent, TeamDigestId, TeamDigestNotification};
use crate::model::timestamp::Timestamp;

/// Sends mail.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Mailer: Send + Sync {
    /// Sends one mail. Returns the mail server's response to the accepted mail.
    ///
    /// Contract: the `Message-ID` depends on the mail's id alone. No content of the mail can become a header or an SMTP
    /// command.
    async fn send(&self, notification: &Notification) -> Result<String, SendError>;

    /// Sends one digest under the same contract.
    async fn send_digest(&self, digest: &DigestNotification) -> Result<String, SendError>;

    /// Sends one mail to a member under the same contract.
    async fn send_team_digest(&self, digest: &TeamDigestNotification) -> Result<String, SendError>;

    /// Sends the mail of a sign-in under the same contract. No log line has its link or its code.
    async fn send_sign_in(&self, mail: &SignInMail) -> Result<String, SendError>;

    /// Sends one test mail under the same contract.
    async fn send_test(&self, mail: &TestMail) -> Result<String, SendError>;

    /// Sends one mail about a disabled webhook under the same contract.
    async fn send_webhook_disabled(&self, mail: &WebhookDisabledMail) -> Result<String, SendError>;
}

/// The outbox as workers see it. Several workers may use it concurrently, also from several processes.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OutboxQueue: Send + Sync {
    /// Returns the workspaces with due messages, each with the priorities of these messages.
    async fn due_workspaces(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, Priority)>, StoreError>;

    /// Leases a workspace's messages of one priority until `until`, those that have been due longest first.
    ///
    /// Contract: no message is leased to two workers at the same time. Messages held for a digest are not leased. An
    /// unreadable row is leased and reported together with the readable ones.
    async fn lease(
        &self,
        workspace: WorkspaceId,
        priority: Priority,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<LeasedMessages, StoreError>;

    /// Creates the messages of the next `limit` voters of a leased audience and settles the audience. It becomes due
    /// again, or is deleted if these voters were the last. Returns the number of created messages, or `None` if the
    /// lease has expired; then nothing changes.
    ///
    /// Contract: the audience is the one at `created_at`, without customers who have unsubscribed since. A customer who
    /// is subscribed to several feature requests of the topic gets one message. The operation is atomic.
    async fn expand(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        audience: &Audience,
        created_at: Timestamp,
        limit: u32,
        now: Timestamp,
    ) -> Result<Option<u64>, StoreError>;

    /// Saves the outcome of a leased message. Returns `false` if the lease has expired; then nothing changes.
    ///
    /// Contract: if a message is to be held for a digest that has been leased in the meantime, the message is returned
    /// instead.
    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &Lease,
        outcome: &MessageOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns all members of all workspaces who want mail about what customers write.
    async fn members_to_tell(&self) -> Result<Vec<MemberToTell>, StoreError>;

    /// Returns the state of the message with this identity, if there is one.
    async fn message(&self, workspace: WorkspaceId, id: &MessageId) -> Result<Option<MessageState>, StoreError>;

    /// Returns the state of a workspace's mail at `now` with its last `failures`. A digest counts as the mails held for
    /// it. The audience of a later publication does not wait yet.
    async fn status(&self, workspace: WorkspaceId, failures: u32, now: Timestamp) -> Result<MailStatus, StoreError>;

    /// Returns the amount of unsent mail in all workspaces, counted as by [`Self::status`].
    async fn depth(&self, now: Timestamp) -> Result<OutboxDepth, StoreError>;

    /// Deletes at most `limit` messages that were sent before `before`, and with each digest the messages held for it.
    /// Returns the number of deleted messages without the held ones.
    async fn purge_sent(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// Reads the content of mails. Each method runs a fixed number of statements, independent of the number of mails.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait MailReader: Send + Sync {
    /// Returns the sender of a workspace's mail.
    async fn sender(&self, workspace: WorkspaceId) -> Result<Option<MailSender>, StoreError>;

    /// Returns the recipients of notifications, without those whose topic or customer has been deleted. `hour` is the
    /// start of the hour that [`MailRecipient::recent_count`] counts.
    async fn recipients(
        &self,
        workspace: WorkspaceId,
        mails: &[MailId],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<MailRecipient>, StoreError>;

    /// Returns the content of topics, each cut after `characters` characters. Deleted topics are left out, and changelogs
    /// that are not public at `public_at`.
    async fn topics(
        &self,
        workspace: WorkspaceId,
        topics: &[Topic],
        characters: u32,
        public_at: Timestamp,
    ) -> Result<Vec<TopicContent>, StoreError>;

    /// Returns the titles of those feature requests that everybody may see, by the IDs that were asked for. A merged one
    /// has the title of the one it was merged into.
    async fn public_titles(
        &self,
        workspace: WorkspaceId,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<(FeatureRequestId, Title)>, StoreError>;

    /// Returns the sign-ins with these IDs that exist.
    async fn sign_ins(&self, workspace: WorkspaceId, sign_ins: &[SignInId]) -> Result<Vec<SignIn>, StoreError>;

    /// Returns what a mail to a member is about, with at most `limit` feature requests and `limit` comments, each cut after
    /// `characters` characters. `None` if the member was removed or wants no such mail any more.
    ///
    /// Contract: the feature requests, also private ones and those that wait for approval, and the comments of customers,
    /// also those that wait for approval, whose timestamps are after one and until the other of the identity. A member who
    /// wants [`TeamMail::Answered`] gets no feature requests, and only comments on those that the member has commented on.
    /// They are found by their IDs, which are ordered by the timestamps.
    ///
    /// [`TeamMail::Answered`]: crate::model::team_mail::TeamMail::Answered
    async fn team_digest(
        &self,
        workspace: WorkspaceId,
        id: &TeamDigestId,
        limit: u32,
        characters: u32,
    ) -> Result<Option<TeamDigestContent>, StoreError>;

    /// Returns the messages that are held for these digests.
    async fn held(&self, workspace: WorkspaceId, digests: &[MessageId]) -> Result<Vec<HeldMessage>, StoreError>;
}
