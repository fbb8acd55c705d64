//! Cleaning up what is no longer needed, and repairs.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::attachment::{BlobKey, UnusedAttachment};
use crate::model::customer::DoubleAddresses;
use crate::model::id::{FeatureRequestId, LinkSourceId, WebhookId, WorkspaceId};
use crate::model::import::upload::OpenJob;
use crate::model::timestamp::Timestamp;
use crate::model::vote::WrongTally;

/// Deletes data that is no longer needed.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Deletes up to `limit` saved responses of all workspaces that are older than `before`. Returns their number.
    async fn purge_operation_keys(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Returns those of `keys` that have no attachment row.
    async fn find_orphaned_blobs(&self, keys: &[BlobKey]) -> Result<Vec<BlobKey>, StoreError>;

    /// Deletes up to `limit` texts of all workspaces that were removed before a timestamp. Returns their number.
    async fn purge_removed_texts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes up to `limit` entries of the audit log of all workspaces that are older than `before`. Returns their
    /// number.
    async fn purge_audit_entries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Forgets up to `limit` deletions of feature requests and comments of all workspaces that are older than `before`.
    /// Returns their number.
    async fn purge_deletions(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes the rows of up to `limit` files of a workspace that were stored before `before` and are neither a picture of
    /// texts nor the cover of a changelog nor the logo. Returns these files.
    ///
    /// Contract: a concurrent unit of work that looks up a file as a cover either prevents its deletion or does not
    /// find it.
    async fn delete_unused_attachments(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError>;

    /// Deletes the rows of up to `limit` pictures of a workspace that no text has any more, also none that can be restored,
    /// or that none has ever had and that were stored before `before`. Returns these files.
    ///
    /// Contract: a concurrent unit of work that looks up a picture for a text either prevents its deletion or does not
    /// find it.
    async fn delete_unused_pictures(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError>;

    /// Returns up to `limit` feature requests of a workspace whose search documents have an earlier version or are marked
    /// as outdated.
    async fn outdated_documents(
        &self,
        workspace: WorkspaceId,
        version: i32,
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Counts the feature requests of a workspace whose search documents have an earlier version or are marked as outdated.
    async fn count_outdated_documents(&self, workspace: WorkspaceId, version: i32) -> Result<u64, StoreError>;

    /// Gives all search documents of a workspace the earliest version.
    async fn expire_documents(&self, workspace: WorkspaceId) -> Result<(), StoreError>;

    /// Returns the imports and exports of all workspaces that a process is to do, also those that one works on.
    async fn open_jobs(&self) -> Result<Vec<OpenJob>, StoreError>;

    /// Returns the link sources of all workspaces whose sealed secrets do not begin with `prefix`.
    async fn link_sources_sealed_otherwise(&self, prefix: &str)
    -> Result<Vec<(WorkspaceId, LinkSourceId)>, StoreError>;

    /// Returns the webhooks of all workspaces of which a sealed text does not begin with `prefix`.
    async fn webhooks_sealed_otherwise(&self, prefix: &str) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError>;

    /// Returns the workspaces with erasures of people that are not finished.
    async fn workspaces_of_unfinished_erasures(&self) -> Result<Vec<WorkspaceId>, StoreError>;

    /// Overwrites what deleted rows have left in the files of the database. Nothing is to be done where a server keeps them.
    /// Returns whether all of it is gone; otherwise a later call may succeed, when no read lasts.
    ///
    /// Writes wait until it is done.
    async fn overwrite_remains(&self) -> Result<bool, StoreError>;

    /// Folds again the addresses of all workspaces that are stored folded in another way than
    /// [`EmailAddress`](crate::model::email_address::EmailAddress) does it now. Those of customers and members stay if
    /// another one has the address. Returns the number of changed rows.
    ///
    /// A start costs as much as there are addresses outside of ASCII.
    async fn refold_addresses(&self) -> Result<u64, StoreError>;

    /// Returns the first feature requests of a workspace whose number of votes is not that of their votes, at most so many.
    ///
    /// Contract: all are counted in one snapshot.
    async fn wrong_tallies(&self, workspace: WorkspaceId, limit: u32) -> Result<Vec<WrongTally>, StoreError>;

    /// Returns the customers and members of a workspace who have the address of another one.
    async fn double_addresses(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError>;
}
