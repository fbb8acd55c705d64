//! Units of work: the writes of a command, its operation key and its saved response, in one transaction.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::timestamp::Timestamp;
use crate::ports::{
    AttachmentWrites, AuditWrites, ChangelogWrites, CommentWrites, CustomerWrites, FeatureRequestWrites,
    HeldPostWrites, ImportRunWrites, ImportWrites, JobWrites, LinkSourceWrites, LinkWrites, MergeWrites,
    ModerationWrites, Outbox, OwnPostWrites, PersonWrites, Provisioning, RestoreWrites, SessionWrites, SettingWrites,
    SubscriptionWrites, TagWrites, TrackWrites, VoteWrites, WebhookWrites,
};

/// The result of beginning a unit of work.
pub enum BeginOutcome {
    /// The unit of work is open.
    Started(Box<dyn UnitOfWork>),
    /// The operation key was used before, with this saved response. No unit of work is open.
    Replay(SavedResponse),
}

/// The result of ending a unit of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndOutcome {
    /// The unit of work was committed or rolled back as requested, and its operation key has no earlier response.
    Applied,
    /// Nothing was changed, because the operation key was used before, with this saved response.
    Replay(SavedResponse),
    /// Nothing was changed, because another unit of work holds the key and the wait for its end timed out.
    KeyBusy,
}

/// Begins units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a unit of work in `workspace` for `key`.
    ///
    /// Contract:
    ///
    /// - The key is claimed now or with the unit's first statement. Claiming it waits for an unfinished unit with the
    ///   same key.
    /// - If the key has a saved response, or the wait times out, statements fail and `commit` or `rollback` returns
    ///   the reason.
    /// - A unit sees everything that was committed before it claimed its key.
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError>;

    /// As [`Self::begin`], for a unit of work that is retried. Its transaction is its own, so that no other unit makes it
    /// fail again ([`VoteWrites::cast_vote`]).
    async fn begin_retry(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError> {
        self.begin(workspace, key).await
    }
}

/// An open unit of work. Dropping it rolls it back immediately.
#[async_trait]
pub trait UnitOfWork:
    FeatureRequestWrites
    + MergeWrites
    + ImportWrites
    + ImportRunWrites
    + JobWrites
    + RestoreWrites
    + VoteWrites
    + CommentWrites
    + LinkWrites
    + LinkSourceWrites
    + WebhookWrites
    + HeldPostWrites
    + OwnPostWrites
    + TagWrites
    + TrackWrites
    + SettingWrites
    + ChangelogWrites
    + AttachmentWrites
    + AuditWrites
    + ModerationWrites
    + Outbox
    + SubscriptionWrites
    + CustomerWrites
    + PersonWrites
    + SessionWrites
    + Provisioning
    + Send
{
    /// Commits all writes together with the saved response of the unit's key.
    ///
    /// Contract: after [`EndOutcome::Applied`] the writes survive a crash of the process or the machine. After any
    /// other outcome nothing was changed. `saved` is ignored for a unit without a key.
    async fn commit(self: Box<Self>, saved: Option<&SavedResponse>, at: Timestamp) -> Result<EndOutcome, StoreError>;

    /// Rolls back all writes and the claim of the key. Returns the key's saved response, if it has one.
    async fn rollback(self: Box<Self>) -> Result<EndOutcome, StoreError>;
}
