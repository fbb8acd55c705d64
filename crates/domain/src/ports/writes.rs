//! What a command can do inside a unit of work. A store takes few round trips per command: where
//! one statement can do several things, one method does them.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::model::api_key::{ApiKey, KeyDigest};
use crate::model::attachment::Attachment;
use crate::model::changelog::{Changelog, CoverImage};
use crate::model::comment::NewComment;
use crate::model::feature_request::{FeatureRequestRef, FeatureRequestSummary, NewFeatureRequest};
use crate::model::id::{ApiKeyId, AttachmentId, CommentId, CustomerId, FeatureRequestId, TrackId};
use crate::model::mail::Unsubscription;
use crate::model::member::Member;
use crate::model::setting::Setting;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Lane, Track};
use crate::model::vote::{NewVote, VoteCast};
use crate::model::workspace::Workspace;
use crate::policy::mail_limits::MailBudgetWindow;

/// Feature requests.
#[async_trait]
pub trait FeatureRequestWrites {
    /// The request, if it exists in this workspace.
    async fn find_feature_request(
        &mut self,
        request: &FeatureRequestRef,
    ) -> Result<Option<FeatureRequestSummary>, StoreError>;

    /// Stores a request under the workspace's next tag number, with its author, its tags and what
    /// search finds it by.
    ///
    /// Contract: tag numbers count from 1 in each workspace, without reuse.
    async fn insert_feature_request(
        &mut self,
        request: &NewFeatureRequest,
    ) -> Result<FeatureRequestSummary, StoreError>;

    /// Puts a request on a track of this workspace.
    async fn set_feature_request_track(&mut self, request: FeatureRequestId, track: TrackId) -> Result<(), StoreError>;
}

/// Votes and the notes that come with them.
#[async_trait]
pub trait VoteWrites {
    /// Attaches the note under its [`Author`](crate::model::member::Author), finds or creates the customer and counts the vote,
    /// unless the customer has voted for this request before.
    ///
    /// Returns what became of it and the request after it; `None` (and does nothing) when there is
    /// no such request.
    ///
    /// Contract: customers are found by folded address; a stored name is kept, an empty one filled;
    /// a vote subscribes the voter.
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError>;
}

/// Public comments.
#[async_trait]
pub trait CommentWrites {
    /// Stores a comment under its [`Author`](crate::model::member::Author). Returns the request it is on; `None` (and does nothing) when there is no
    /// such request.
    async fn insert_comment(&mut self, comment: &NewComment) -> Result<Option<FeatureRequestSummary>, StoreError>;
}

/// Mail that is to be sent once the unit has committed.
#[async_trait]
pub trait Outbox {
    /// Puts one message about the comment in the outbox for every subscribed voter of the request. If
    /// there are more than `at_once`, a worker does it later.
    ///
    /// Contract: at most one per voter and comment; none for whom mail was stopped.
    async fn notify_voters(
        &mut self,
        request: FeatureRequestId,
        comment: CommentId,
        at: Timestamp,
        at_once: u32,
    ) -> Result<(), StoreError>;

    /// Counts the mails of a comment to all subscribed voters of the request into the hour of the day, and returns how many
    /// the workspace has made in the day, these included. What is over `limit` by more than one need not be counted to its end.
    ///
    /// Contract: two units of one workspace and hour do not miss each other's mails.
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
    /// The track, if it exists in this workspace.
    async fn find_track(&mut self, track: TrackId) -> Result<Option<Track>, StoreError>;

    /// The workspace's first track: where new requests go.
    async fn first_track(&mut self) -> Result<Option<Track>, StoreError>;

    /// The lane of this name, if the workspace has it.
    async fn find_lane(&mut self, name: &str) -> Result<Option<Lane>, StoreError>;

    /// Adds a lane behind the others.
    async fn insert_lane(&mut self, lane: &Lane) -> Result<Insertion, StoreError>;

    /// Adds a track behind the others.
    async fn insert_track(&mut self, track: &Track) -> Result<Insertion, StoreError>;
}

/// Settings.
#[async_trait]
pub trait SettingWrites {
    /// The settings as they are.
    async fn load_setting(&mut self) -> Result<Setting, StoreError>;

    /// Replaces the settings.
    async fn save_setting(&mut self, setting: &Setting) -> Result<(), StoreError>;
}

/// Changelogs.
#[async_trait]
pub trait ChangelogWrites {
    /// Stores a changelog.
    async fn insert_changelog(&mut self, changelog: &Changelog) -> Result<(), StoreError>;
}

/// Attachments.
#[async_trait]
pub trait AttachmentWrites {
    /// Stores the row of a file whose bytes are stored.
    async fn insert_attachment(&mut self, attachment: &Attachment) -> Result<(), StoreError>;

    /// The file that stands as a cover, if it exists in this workspace.
    async fn find_cover(&mut self, attachment: AttachmentId) -> Result<Option<CoverImage>, StoreError>;
}

/// What operators set up.
#[async_trait]
pub trait Provisioning {
    /// Stores the unit's own workspace with its settings, without lanes and tracks.
    async fn insert_workspace(
        &mut self,
        workspace: &Workspace,
        setting: &Setting,
        at: Timestamp,
    ) -> Result<Insertion, StoreError>;

    /// Adds a team member.
    async fn insert_member(&mut self, member: &Member) -> Result<Insertion, StoreError>;

    /// Stores a key by its digest.
    async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError>;

    /// The key, if it exists in this workspace.
    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError>;

    /// Sets when the key expires and when it was revoked.
    async fn update_api_key_validity(
        &mut self,
        key: ApiKeyId,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;
}

/// What became of a record whose name must be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Insertion {
    /// It was stored.
    Inserted,
    /// Its name is in use; nothing was stored.
    NameTaken,
}
