//! One unit of work: what a command does, its operation key and its saved answer, all or nothing.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::operation_key::{OperationKey, SavedResponse};
use crate::model::timestamp::Timestamp;
use crate::ports::{
    AttachmentWrites, ChangelogWrites, CommentWrites, FeatureRequestWrites, Outbox, Provisioning, SettingWrites,
    SubscriptionWrites, TrackWrites, VoteWrites,
};

/// How a unit of work began.
pub enum BeginOutcome {
    /// It is open.
    Started(Box<dyn UnitOfWork>),
    /// Its operation key was used before: this was the answer. No unit is open.
    Replay(SavedResponse),
}

/// How a unit of work ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndOutcome {
    /// As it was told to, and nobody has answered under its operation key before.
    Applied,
    /// Without any change, because its key was used before: this was the answer.
    Replay(SavedResponse),
    /// Without any change, because another unit has the key, and the wait for its end took too long.
    KeyBusy,
}

/// Opens units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Opens a unit in `workspace` for `key`.
    ///
    /// Contract: the key is claimed now or with the unit's first statement. A unit with the same key
    /// that is not finished is waited for then; when the key turns out to have an answer, or the wait
    /// takes too long, statements fail and the unit's end tells why. A unit sees all that was
    /// committed before it claimed its key.
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<BeginOutcome, StoreError>;
}

/// An open unit of work. Dropping it undoes everything, at once.
#[async_trait]
pub trait UnitOfWork:
    FeatureRequestWrites
    + VoteWrites
    + CommentWrites
    + TrackWrites
    + SettingWrites
    + ChangelogWrites
    + AttachmentWrites
    + Outbox
    + SubscriptionWrites
    + Provisioning
    + Send
{
    /// Makes everything durable, together with the answer to be replayed for the unit's key.
    ///
    /// Contract: when this returns [`EndOutcome::Applied`], no crash of the process or the machine undoes
    /// it; when it returns anything else, nothing was changed. `saved` is ignored for a unit without
    /// a key.
    async fn commit(self: Box<Self>, saved: Option<&SavedResponse>, at: Timestamp) -> Result<EndOutcome, StoreError>;

    /// Undoes everything, the claim of the key included, and tells whether the key had an answer.
    async fn rollback(self: Box<Self>) -> Result<EndOutcome, StoreError>;
}
