//! Imports: their runs, what they remember of the records of a source, and the records as the stores write them: many at
//! once, with the times and numbers that they have in their source.

pub mod records;
pub mod run;
pub mod upload;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::model::event::NewEvent;
use crate::model::feature_request::{NewFeatureRequest, RequestLink, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{ChangelogId, CommentId, CustomerId, FeatureRequestId, ImportId, MemberId, NoteId, TrackId};
use crate::model::timestamp::Timestamp;

/// A feature request of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRequest {
    pub request: NewFeatureRequest,
    /// How many votes for it are those of people of whom nothing is known.
    pub nameless_votes: u32,
}

/// A vote of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedVote {
    /// The feature request that was voted for, also if it is merged: its vote stays its own after an unmerge.
    pub request: FeatureRequestId,
    pub customer: CustomerId,
    /// Whether the customer is to get mail about the feature request. Nobody does whose mail is stopped.
    pub is_subscribed: bool,
    pub at: Timestamp,
}

/// What a batch of votes has added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VotesImported {
    /// Votes that were not there before.
    pub new: u64,
    /// Those of them that are subscriptions, too.
    pub subscribed: u64,
}

/// A subscription without a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportedSubscription {
    pub request: FeatureRequestId,
    pub customer: CustomerId,
    pub at: Timestamp,
}

/// The author of a comment of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportedAuthor {
    Customer(CustomerId),
    /// A customer whose comment waits for approval.
    HeldCustomer(CustomerId),
    /// A member, removed or not. `None`: the team, without a name.
    Member(Option<MemberId>),
}

/// A comment of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedComment {
    pub id: CommentId,
    /// The feature request that it was written on, also if that is merged.
    pub request: FeatureRequestId,
    pub author: ImportedAuthor,
    pub content: CleanHtml,
    pub at: Timestamp,
}

/// A move of an import: an event of the past.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedMove {
    pub event: NewEvent,
    /// The track that it leads to. `None`: there is none any more.
    pub track: Option<TrackId>,
    /// Whether the public status is another one after it.
    pub changes_status: bool,
}

/// A changelog that a run has made and that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeChangelog {
    pub id: ChangelogId,
    pub title: Title,
    /// Whether it was edited since.
    pub has_changed: bool,
}

/// A private note of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedNote {
    pub id: NoteId,
    pub request: FeatureRequestId,
    /// The customer that it is about.
    pub customer: Option<CustomerId>,
    /// `None`: the team, without a name.
    pub author: Option<MemberId>,
    pub body: CleanHtml,
    pub at: Timestamp,
}

/// What an import knows of a record that an earlier one has made, or an earlier batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRecord {
    /// The record here.
    pub id: Uuid,
    /// A digest of what the source said.
    pub digest: String,
    /// The run that has made it.
    pub import: ImportId,
    /// When an import has written it last.
    pub written_at: Timestamp,
    /// `None`: it was deleted here.
    pub times: Option<RecordTimes>,
}

/// The times of a record that was imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordTimes {
    pub created_at: Timestamp,
    /// The last change of what an import writes.
    pub updated_at: Timestamp,
}

/// Where a record came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFrom {
    pub external_id: String,
    /// The record here.
    pub id: Uuid,
    /// A digest of what the source says.
    pub digest: String,
}

/// A feature request that a run has made and that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeRequest {
    pub link: RequestLink,
    /// What it is merged into, or itself.
    pub root: FeatureRequestId,
    /// The numbers of its own votes, subscriptions, comments and notes.
    pub posts: MadePosts,
    /// Whether anything else has happened to it since, or to one of its tree that the run has made: a vote, subscription,
    /// comment, note, link, move, edit or merge, or a link of a changelog.
    pub has_changed: bool,
}

/// Numbers of posts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MadePosts {
    pub votes: u64,
    pub subscriptions: u64,
    /// Those that wait for approval, too.
    pub comments: u64,
    pub notes: u64,
}

impl MadePosts {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.votes += other.votes;
        self.subscriptions += other.subscriptions;
        self.comments += other.comments;
        self.notes += other.notes;
    }
}

/// Returns the first half of the SHA-256 of something, in hexadecimal digits.
fn hex_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
