//! One unit of work: what a command does, its operation key and its saved answer, all or nothing.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::operation_key::{OperationKey, SavedReply};
use crate::model::timestamp::Timestamp;
use crate::ports::{
    AttachmentWrites, ChangelogWrites, CommentWrites, Outbox, Provisioning, RequestWrites, SettingWrites, TeamReads,
    TrackWrites, VoteWrites,
};

/// How a unit of work began.
pub enum Begun {
    /// It is open, and its operation key (if it has one) was never used.
    Open(Box<dyn UnitOfWork>),
    /// The key was used before: this was the answer. No unit is open.
    Replay(SavedReply),
    /// Another unit has the key, and the wait for its end took too long. No unit is open.
    Busy,
}

/// Opens units of work.
#[async_trait]
pub trait Store: Send + Sync {
    /// Opens a unit in `workspace` and claims `key` in it.
    ///
    /// Contract: a unit with the same key that is not finished is waited for; a unit sees all that
    /// was committed before it began.
    async fn begin(&self, workspace: WorkspaceId, key: Option<OperationKey>) -> Result<Begun, StoreError>;
}

/// An open unit of work. Dropping it undoes everything, at once.
#[async_trait]
pub trait UnitOfWork:
    RequestWrites
    + VoteWrites
    + CommentWrites
    + TrackWrites
    + SettingWrites
    + ChangelogWrites
    + AttachmentWrites
    + TeamReads
    + Outbox
    + Provisioning
    + Send
{
    /// Makes everything durable, together with the answer to be replayed for the unit's key.
    ///
    /// Contract: when this returns `Ok`, no crash of the process or the machine undoes it; when it
    /// returns an error, nothing was changed. `saved` is ignored for a unit without a key.
    async fn commit(self: Box<Self>, saved: Option<&SavedReply>, at: Timestamp) -> Result<(), StoreError>;

    /// Undoes everything, the claim of the key included.
    async fn rollback(self: Box<Self>) -> Result<(), StoreError>;
}
