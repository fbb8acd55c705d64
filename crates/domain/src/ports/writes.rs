//! Writes of commands inside a unit of work.
//!
//! A method combines the writes that fit into one statement, so that a command needs few round trips.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::api_key::{ApiKey, KeyDigest};
use crate::model::attachment::Attachment;
use crate::model::changelog::{Changelog, CoverImage};
use crate::model::comment::NewComment;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest, SearchableText};
use crate::model::id::{ApiKeyId, AttachmentId, CommentId, CustomerId, FeatureRequestId, TrackId};
use crate::model::mail::Unsubscription;
use crate::model::member::Member;
use crate::model::message::NewMessage;
use crate::model::search::SearchDocument;
use crate::model::search::Synonyms;
use crate::model::setting::Setting;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Lane, Track};
use crate::model::vote::{NewVote, VoteCast};
use crate::model::workspace::Workspace;
use crate::policy::mail_limits::MailBudgetWindow;

/// Writes of feature requests.
#[async_trait]
pub trait FeatureRequestWrites {
    /// Returns the feature request, if it exists in this workspace.
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Stores a feature request under the workspace's next tag number, with its author, its tags and its search
    /// document.
    ///
    /// Contract: tag numbers count from 1 in each workspace, without reuse.
    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError>;

    /// Moves a feature request to a track of this workspace.
    async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId) -> Result<(), StoreError>;

    /// Returns the texts that a feature request is searched by, unless it is private or does not exist.
    async fn searchable_text(&mut self, request: FeatureRequestId) -> Result<Option<SearchableText>, StoreError>;

    /// Replaces the search document of a public feature request, which gets the current version.
    async fn save_search_document(
        &mut self,
        request: FeatureRequestId,
        document: &SearchDocument,
    ) -> Result<(), StoreError>;
}

/// Writes of votes and their notes.
#[async_trait]
pub trait VoteWrites {
    /// Stores the note under its [`Author`](crate::model::member::Author), finds or creates the customer, and counts
    /// the vote unless the customer has voted for this feature request before.
    ///
    /// Returns the outcome and the updated feature request, or `None` without any change when the feature request does
    /// not exist.
    ///
    /// Contract: customers are found by folded address. A stored name is kept, an empty one is set. A vote subscribes
    /// the voter.
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError>;
}

/// Writes of public comments.
#[async_trait]
pub trait CommentWrites {
    /// Stores a comment under its [`Author`](crate::model::member::Author). Returns the feature request.
    ///
    /// Returns `None` and changes nothing when the feature request does not exist.
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
}

/// Messages that are sent after the unit of work has committed.
#[async_trait]
pub trait Outbox {
    /// Adds one mail about the comment to the outbox for every subscribed voter of the feature request. If there are
    /// more than `at_once`, adds a single entry that a worker expands later.
    ///
    /// Contract: at most one mail per voter and comment, and none to unsubscribed voters.
    async fn notify_voters(
        &mut self,
        request: FeatureRequestId,
        comment: CommentId,
        at: Timestamp,
        at_once: u32,
    ) -> Result<(), StoreError>;

    /// Puts a message in the outbox, unless there is one with the same identity. Returns whether it is new.
    async fn insert_message(&mut self, message: &NewMessage) -> Result<bool, StoreError>;

    /// Adds the mails of a comment, one per subscribed voter, to the workspace's mail count of the current hour.
    ///
    /// Returns the workspace's mail count of `day`, including these mails. Counting them may stop at `limit` plus one.
    ///
    /// Contract: concurrent units of work of one workspace and hour see each other's counts.
    async fn count_mails(
        &mut self,
        request: FeatureRequestId,
        at: Timestamp,
        day: MailBudgetWindow,
        limit: u64,
    ) -> Result<u64, StoreError>;
}

/// Who gets mail.
#[async_trait]
pub trait SubscriptionWrites {
    /// Stops mail to a voter and deletes the mails that wait to be sent. Returns whether the workspace has this customer.
    ///
    /// Contract: of a voter who has unsubscribed from everything before, the first timestamp stays.
    async fn unsubscribe(
        &mut self,
        customer: CustomerId,
        what: Unsubscription,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Tracks and lanes.
#[async_trait]
pub trait TrackWrites {
    /// Returns the track, if it exists in this workspace.
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError>;

    /// Returns the workspace's first track, the default for new feature requests.
    async fn first_track(&mut self) -> Result<Option<Track>, StoreError>;

    /// Returns the lane with this name, if it exists in this workspace.
    async fn find_lane(&mut self, name: &str) -> Result<Option<Lane>, StoreError>;

    /// Appends a lane.
    async fn insert_lane(&mut self, lane: &Lane) -> Result<Insertion, StoreError>;

    /// Appends a track.
    async fn insert_track(&mut self, track: &Track) -> Result<Insertion, StoreError>;
}

/// Writes of settings.
#[async_trait]
pub trait SettingWrites {
    /// Returns the current settings.
    async fn load_setting(&mut self) -> Result<Setting, StoreError>;

    /// Replaces the settings.
    async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError>;

    /// Replaces the synonyms.
    async fn save_synonyms(&mut self, synonyms: &Synonyms) -> Result<(), StoreError>;
}

/// Writes of changelogs.
#[async_trait]
pub trait ChangelogWrites {
    /// Stores a changelog.
    async fn insert_changelog(&mut self, changelog: &Changelog) -> Result<(), StoreError>;
}

/// Writes of attachments.
#[async_trait]
pub trait AttachmentWrites {
    /// Stores the row of a file after its bytes were stored.
    async fn insert_attachment(&mut self, attachment: &Attachment) -> Result<(), StoreError>;

    /// Returns a file for use as a cover, if it exists in this workspace.
    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<CoverImage>, StoreError>;
}

/// Writes of operator commands.
#[async_trait]
pub trait Provisioning {
    /// Stores the unit's workspace with its settings, without lanes and tracks.
    async fn insert_workspace(
        &mut self,
        workspace: &Workspace,
        setting: &Setting,
        at: Timestamp,
    ) -> Result<Insertion, StoreError>;

    /// Adds a team member.
    async fn insert_member(&mut self, member: &Member) -> Result<Insertion, StoreError>;

    /// Stores a key with its digest.
    async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError>;

    /// Returns the key, if it exists in this workspace.
    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets the timestamps of the key's expiry and revocation.
    async fn update_api_key_validity(
        &mut self,
        key: ApiKeyId,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;
}

/// The result of inserting a record whose name must be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Insertion {
    /// The record was stored.
    Inserted,
    /// The name is already in use. Nothing was stored.
    NameTaken,
}
