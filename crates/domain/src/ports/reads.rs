//! Ports for reads outside of units of work, and for maintenance. One method per query of a client or operator.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::api_key::{ApiKey, Credential, KeyDigest};
use crate::model::attachment::{Attachment, BlobKey, UnusedAttachment};
use crate::model::audit::{AuditFilter, AuditListing, AuditPage};
use crate::model::board::{ListedLane, RoadmapLane};
use crate::model::changelog::{Changelog, ChangelogDetail};
use crate::model::changes::{ChangedComment, ChangedRequest, ChangesFilter, ChangesListing, ChangesPage};
use crate::model::comment::ListedComment;
use crate::model::customer::{Customer, CustomerQuery, DoubleAddresses};
use crate::model::email_address::EmailAddress;
use crate::model::event::Event;
use crate::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Sort};
use crate::model::id::{AttachmentId, ChangelogId, CustomerId, FeatureRequestId, TrackId, WorkspaceId};
use crate::model::member::Member;
use crate::model::note::Note;
use crate::model::pagination::{Listing, PageRequest};
use crate::model::search::Synonyms;
use crate::model::setting::Setting;
use crate::model::timestamp::Timestamp;
use crate::model::track::Track;
use crate::model::vote::Voter;
use crate::model::workspace::{Subdomain, Workspace};

/// Supplies the tracks of workspaces to clients that list them: the store, usually with a cache.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait TrackSource: Send + Sync {
    /// Returns the tracks in the team's order, with all changes that this process has committed. Changes of other
    /// processes may be missing for up to a second.
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Arc<[Track]>, StoreError>;
}

/// Runs the read queries of the API.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait RoadmapReader: Send + Sync {
    /// Returns the settings, or `None` when the workspace does not exist.
    async fn setting(&self, workspace: WorkspaceId) -> Result<Option<Setting>, StoreError>;

    /// Returns the synonyms of the workspace. Empty when it does not exist.
    async fn synonyms(&self, workspace: WorkspaceId) -> Result<Synonyms, StoreError>;

    /// Returns the tracks in the team's order.
    async fn tracks(&self, workspace: WorkspaceId) -> Result<Vec<Track>, StoreError>;

    /// Returns the lanes in the team's order.
    async fn lanes(&self, workspace: WorkspaceId) -> Result<Vec<ListedLane>, StoreError>;

    /// Returns the lanes in the team's order, each with its `per_lane` most voted public feature requests. Merged ones
    /// are left out.
    async fn roadmap(&self, workspace: WorkspaceId, per_lane: u32) -> Result<Vec<RoadmapLane>, StoreError>;

    /// Returns the feature requests of a track, private ones included, without merged ones. `None` when the track does
    /// not exist.
    async fn track_requests(
        &self,
        workspace: WorkspaceId,
        track: TrackId,
        sort: Sort,
        page: PageRequest,
    ) -> Result<Option<Listing<FeatureRequestSummary>>, StoreError>;

    /// Returns a feature request with all of its fields. A merged one is the one it was merged into.
    async fn feature_request(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestDetail>, StoreError>;

    /// Returns the comments of a feature request and of everything that is merged into it, oldest first, with the
    /// descriptions of what is merged into it. Words of private feature requests that are merged into a public one are
    /// left out, and blank descriptions, too. `None` when it does not exist.
    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError>;

    /// Returns the notes of a feature request and of everything that is merged into it, newest first. `None` when it
    /// does not exist.
    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError>;

    /// Returns the events of a feature request, newest first, optionally only those of one stored kind. `None` when it
    /// does not exist.
    async fn events(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError>;

    /// Returns the customers whose name or address contains the query, or all, oldest first.
    async fn customers<'a, 'b>(
        &'a self,
        workspace: WorkspaceId,
        query: Option<&'b CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError>;

    /// Returns a customer.
    async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError>;

    /// Returns a changelog with everything that its own page shows.
    async fn changelog(
        &self,
        workspace: WorkspaceId,
        changelog: ChangelogId,
    ) -> Result<Option<ChangelogDetail>, StoreError>;

    /// Returns a part of the audit log, newest first.
    async fn audit_entries(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: AuditPage,
    ) -> Result<AuditListing, StoreError>;

    /// Returns a part of the list of all feature requests, oldest change first, merged and deleted ones included.
    ///
    /// Contract: a change that is committed after the call has a greater place than everything that the call returns.
    async fn changed_requests(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedRequest>, StoreError>;

    /// As [`Self::changed_requests`], for comments. A comment changes, too, when its feature request becomes private or
    /// public.
    async fn changed_comments(
        &self,
        workspace: WorkspaceId,
        filter: &ChangesFilter,
        page: ChangesPage,
    ) -> Result<ChangesListing<ChangedComment>, StoreError>;

    /// Returns the feature requests that a customer voted for, newest first. A merged one is the one it was merged into,
    /// listed once. Empty for an unknown customer.
    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError>;

    /// Returns the voters of a feature request and of everything that is merged into it, latest vote first. Each is
    /// listed once, with the first vote. `None` when it does not exist.
    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError>;

    /// Returns the changelogs, newest first.
    async fn changelogs(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<Changelog>, StoreError>;

    /// Returns the metadata of a file.
    async fn attachment(&self, workspace: WorkspaceId, id: AttachmentId) -> Result<Option<Attachment>, StoreError>;

    /// Returns the team members, oldest first.
    async fn members(&self, workspace: WorkspaceId) -> Result<Vec<Member>, StoreError>;
}

/// Looks up workspaces and their API keys.
#[async_trait]
pub trait WorkspaceDirectory: Send + Sync {
    /// Returns the key with this digest in the workspace of this subdomain, including expired and revoked keys.
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError>;

    /// Records the use of a key, unless a use was recorded within the last minute.
    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the workspace with this subdomain.
    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError>;

    /// Returns all workspaces, ordered by subdomain.
    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError>;

    /// Returns a workspace's keys, oldest first.
    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError>;

    /// Returns the digests of a workspace's keys, including expired and revoked ones, in any order.
    async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError>;
}

/// Deletes data that is no longer needed.
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

    /// Deletes the rows of up to `limit` files of a workspace that were stored before `before` and are no cover of a
    /// changelog. Returns these files.
    ///
    /// Contract: a concurrent unit of work that looks up a file as a cover either prevents its deletion or does not
    /// find it.
    async fn delete_unused_attachments(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError>;

    /// Returns up to `limit` feature requests of a workspace whose search documents have an earlier version.
    async fn outdated_documents(
        &self,
        workspace: WorkspaceId,
        version: i32,
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError>;

    /// Counts the feature requests of a workspace whose search documents have an earlier version.
    async fn count_outdated_documents(&self, workspace: WorkspaceId, version: i32) -> Result<u64, StoreError>;

    /// Gives all search documents of a workspace the earliest version.
    async fn expire_documents(&self, workspace: WorkspaceId) -> Result<(), StoreError>;

    /// Folds again the addresses of all workspaces that are stored folded in another way than [`EmailAddress`] does it
    /// now. Those of customers and members stay if another one has the address. Returns the number of changed rows.
    ///
    /// A start costs as much as there are addresses outside of ASCII.
    async fn refold_addresses(&self) -> Result<u64, StoreError>;

    /// Returns the customers and members of a workspace who have the address of another one.
    async fn double_addresses(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError>;
}
