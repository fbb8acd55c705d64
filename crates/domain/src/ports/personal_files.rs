//! Files of a process outside of the database and of the storage of uploads.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::attachment::Attachment;
use crate::model::id::{ImportId, WorkspaceId};
use crate::model::person::UnfinishedErasure;

/// The files that a process writes about people: mails, what imports have read, the list of erasures.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait PersonalFiles: Send + Sync {
    /// Adds an erasure to the list that no backup holds, and deletes the files that have the person's address or name,
    /// apart from those of runs at work. Returns whether no file has them any more.
    async fn erase(
        &self,
        workspace: WorkspaceId,
        erasure: &UnfinishedErasure,
        running: &[ImportId],
    ) -> Result<bool, StoreError>;

    /// Whether a file of the storage has one of these words, or one of the files in it if it is an archive.
    async fn mentions(&self, file: &Attachment, words: &[String]) -> Result<bool, StoreError>;
}
