//! The records of an export: everything of a workspace, and nothing that depends on the installation.
//!
//! A record is one line of JSON whose keys are the fields here, in this order. It has all columns that are not derived from
//! others, under the names of the API. References are ids. In texts, links to own files are `attachment:<id>`
//! ([`portable_links`](crate::policy::portable_links)).

pub mod restore;
pub mod run;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::id::{
    AttachmentId, ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, LaneId, LinkId, MemberId, NoteId,
    TrackId,
};
use crate::model::timestamp::Timestamp;

/// The name of the format in the manifest.
pub const FORMAT: &str = "roadmap-export";

/// The version of the format that this version writes and reads.
pub const FORMAT_VERSION: u32 = 1;

/// The file that lists all others, the last one of an archive.
pub const MANIFEST: &str = "manifest.json";

/// A kind of records, each of which is a file of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Lanes,
    Tracks,
    Members,
    Customers,
    FeatureRequests,
    Votes,
    Subscriptions,
    Comments,
    Notes,
    Links,
    Events,
    Changelogs,
    Attachments,
    Imported,
    Workspace,
}

impl Kind {
    /// All kinds in the order of an archive.
    pub const ALL: [Self; 15] = [
        Self::Lanes,
        Self::Tracks,
        Self::Members,
        Self::Customers,
        Self::FeatureRequests,
        Self::Votes,
        Self::Subscriptions,
        Self::Comments,
        Self::Notes,
        Self::Links,
        Self::Events,
        Self::Changelogs,
        Self::Attachments,
        Self::Imported,
        Self::Workspace,
    ];

    /// Returns the name of the file.
    #[must_use]
    pub const fn file(self) -> &'static str {
        match self {
            Self::Lanes => "lanes.ndjson",
            Self::Tracks => "tracks.ndjson",
            Self::Members => "members.ndjson",
            Self::Customers => "customers.ndjson",
            Self::FeatureRequests => "feature_requests.ndjson",
            Self::Votes => "votes.ndjson",
            Self::Subscriptions => "subscriptions.ndjson",
            Self::Comments => "comments.ndjson",
            Self::Notes => "notes.ndjson",
            Self::Links => "links.ndjson",
            Self::Events => "events.ndjson",
            Self::Changelogs => "changelogs.ndjson",
            Self::Attachments => "attachments.ndjson",
            Self::Imported => "imported.ndjson",
            Self::Workspace => "workspace.ndjson",
        }
    }
}

/// Returns the name of the entry with the content of a file.
#[must_use]
pub fn file_entry(id: AttachmentId) -> String {
    format!("files/{id}")
}

/// What an export leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ExportOptions {
    /// Who customers and members are: only their ids are left, so that all counts stay.
    pub without_people: bool,
    /// Private notes.
    pub without_notes: bool,
}

impl ExportOptions {
    /// Returns what is exported of a record. `None`: nothing.
    #[must_use]
    pub fn apply(self, mut record: Record) -> Option<Record> {
        let without_notes = self.without_notes || self.without_people;
        match &mut record {
            Record::Note(_) if without_notes => return None,
            Record::Imported(_) if self.without_people => return None,
            // There is no note that it could belong to.
            Record::Imported(imported) if without_notes && imported.kind == "notes" => return None,
            Record::Member(member) if self.without_people => member.details = None,
            Record::Customer(customer) if self.without_people => customer.details = None,
            Record::Event(event) if self.without_people => event.actor_name.clear(),
            Record::Workspace(workspace) if self.without_people => workspace.reply_to = None,
            _ => {}
        }
        Some(record)
    }
}

/// A record with what the files for spreadsheets say beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    pub record: Record,
    /// The author of a feature request, comment or note, or the voter.
    pub author: Person,
    /// How many votes a feature request has itself, without what is merged into it, nameless ones included.
    pub votes: i64,
}

/// A person as files for spreadsheets name one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Person {
    pub name: Option<String>,
    pub email: Option<String>,
}

/// A record of any kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Record {
    Lane(Lane),
    Track(Track),
    Member(Member),
    Customer(Customer),
    FeatureRequest(FeatureRequest),
    Vote(Vote),
    Subscription(Subscription),
    Comment(Comment),
    Note(Note),
    Link(Link),
    Event(Event),
    Changelog(Changelog),
    Attachment(Attachment),
    Imported(Imported),
    Workspace(Box<Workspace>),
}

impl Record {
    /// Returns its kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Self::Lane(_) => Kind::Lanes,
            Self::Track(_) => Kind::Tracks,
            Self::Member(_) => Kind::Members,
            Self::Customer(_) => Kind::Customers,
            Self::FeatureRequest(_) => Kind::FeatureRequests,
            Self::Vote(_) => Kind::Votes,
            Self::Subscription(_) => Kind::Subscriptions,
            Self::Comment(_) => Kind::Comments,
            Self::Note(_) => Kind::Notes,
            Self::Link(_) => Kind::Links,
            Self::Event(_) => Kind::Events,
            Self::Changelog(_) => Kind::Changelogs,
            Self::Attachment(_) => Kind::Attachments,
            Self::Imported(_) => Kind::Imported,
            Self::Workspace(_) => Kind::Workspace,
        }
    }

    /// Returns its text of HTML, to be changed.
    pub fn html_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::FeatureRequest(request) => Some(&mut request.description),
            Self::Comment(comment) => Some(&mut comment.content),
            Self::Note(note) => Some(&mut note.body),
            Self::Changelog(changelog) => Some(&mut changelog.content),
            _ => None,
        }
    }
}

/// A lane of the public roadmap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lane {
    pub id: LaneId,
    pub name: String,
    pub kind: String,
    /// The names on the pages of some languages, by their codes.
    pub names: BTreeMap<String, String>,
    pub position: i64,
}

/// A track.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Track {
    pub id: TrackId,
    pub name: String,
    pub lane_id: Option<LaneId>,
    pub position: i64,
}

/// A member of the team, removed or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    pub id: MemberId,
    /// `None`: the export is without people.
    #[serde(flatten)]
    pub details: Option<MemberDetails>,
}

/// Who a member is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberDetails {
    pub email: String,
    pub name: String,
    pub role: String,
    /// Which mail the member wants about what customers write.
    pub team_mail: String,
    /// The saved views of the inbox: pairs of a name and a query.
    pub saved_views: Vec<(String, String)>,
    pub shortcuts: bool,
    pub created_at: Timestamp,
    pub removed_at: Option<Timestamp>,
}

/// A customer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Customer {
    pub id: CustomerId,
    /// `None`: the export is without people.
    #[serde(flatten)]
    pub details: Option<CustomerDetails>,
}

/// Who a customer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerDetails {
    pub email: String,
    pub name: Option<String>,
    /// The language that the person has chosen.
    pub language: Option<String>,
    /// The language of the last page that the person has used.
    pub last_language: Option<String>,
    pub mail_stopped_at: Option<Timestamp>,
    pub mail_stopped_because: Option<String>,
    /// Whether no mail about changelogs is wanted.
    pub stops_changelogs: bool,
    /// Since when mail about all changelogs is wanted.
    pub news_since: Option<Timestamp>,
    pub blocked_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// A feature request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureRequest {
    pub id: FeatureRequestId,
    pub tag_number: i64,
    pub title: String,
    pub description: String,
    pub tags: Vec<String>,
    pub track_id: TrackId,
    pub author_id: Option<CustomerId>,
    pub private: bool,
    pub awaiting_approval: bool,
    pub merged_into_id: Option<FeatureRequestId>,
    /// How many of its own votes are those of people of whom nothing is known.
    pub nameless_votes: i64,
    /// When the team has last dealt with it.
    pub handled_at: Option<Timestamp>,
    /// Since when it has its status.
    pub status_since: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A vote for a feature request itself, also if that is merged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    pub feature_request_id: FeatureRequestId,
    pub customer_id: CustomerId,
    /// Whether the customer gets mail about the feature request.
    pub subscribed: bool,
    pub created_at: Timestamp,
}

/// A subscription without a vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    pub feature_request_id: FeatureRequestId,
    pub customer_id: CustomerId,
    pub created_at: Timestamp,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comment {
    pub id: CommentId,
    pub feature_request_id: FeatureRequestId,
    /// The member who wrote it, if that is known and no customer did.
    pub author_id: Option<MemberId>,
    pub customer_id: Option<CustomerId>,
    pub content: String,
    /// Whether it waits for approval.
    pub held: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A private note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub id: NoteId,
    pub feature_request_id: FeatureRequestId,
    /// The customer that it is about.
    pub customer_id: Option<CustomerId>,
    /// The member who wrote it.
    pub author_id: Option<MemberId>,
    pub body: String,
    pub created_at: Timestamp,
}

/// A link of a feature request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub id: LinkId,
    pub feature_request_id: FeatureRequestId,
    pub url: String,
    pub title: Option<String>,
    pub state: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// An event in the history of a feature request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub id: EventId,
    pub feature_request_id: FeatureRequestId,
    pub kind: String,
    pub details: Value,
    pub actor_kind: String,
    /// The key, member or customer who caused it. Keys are not exported.
    pub actor_id: Option<String>,
    pub actor_name: String,
    pub created_at: Timestamp,
}

/// A changelog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changelog {
    pub id: ChangelogId,
    pub title: String,
    pub content: String,
    pub category: Option<String>,
    pub cover_attachment_id: Option<AttachmentId>,
    /// From when on it is public. `None`: a draft.
    pub publish_at: Option<Timestamp>,
    /// Whether mail about it has been sent, or is not wanted any more.
    pub notified: bool,
    /// Whether mail about it is wanted.
    pub notifies: bool,
    /// The feature requests that it links to, in their order.
    pub feature_request_ids: Vec<FeatureRequestId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A file, whose content is the entry [`file_entry`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    pub id: AttachmentId,
    pub filename: String,
    pub content_type: String,
    pub byte_size: i64,
    /// The MD5 of the content in Base64.
    pub checksum: String,
    pub width: Option<i64>,
    pub height: Option<i64>,
    /// Who has added the picture of a text: `team` or `customer`. `None`: it is none.
    pub picture_by: Option<String>,
    pub created_at: Timestamp,
}

/// Where a record came from that an import has made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Imported {
    /// The name of the source.
    pub name: String,
    pub kind: String,
    pub external_id: String,
    /// The record here, which may be deleted since.
    pub local_id: String,
    /// A digest of what the source said.
    pub digest: String,
    pub written_at: Timestamp,
}

/// The settings of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    pub product_name: String,
    pub website_url: String,
    pub sender_name: Option<String>,
    /// The number of the newest feature request, which may be deleted since.
    pub last_tag_number: i64,
    #[serde(rename = "visibility")]
    pub access: String,
    pub mail_domains: Vec<String>,
    #[serde(rename = "indexing")]
    pub is_indexed: bool,
    pub embed_origins: Vec<String>,
    pub languages: Vec<String>,
    #[serde(rename = "moderation")]
    pub holds_posts: bool,
    #[serde(rename = "accent_color")]
    pub accent: Option<String>,
    pub logo_attachment_id: Option<AttachmentId>,
    pub reply_to: Option<String>,
    pub time_zone: String,
    pub welcome_text: BTreeMap<String, String>,
    pub form_question: BTreeMap<String, String>,
    pub noun: String,
    /// Groups of phrases that mean the same.
    pub synonyms: Vec<Vec<String>>,
}

/// Reads a stored value of JSON. `None`: it is something else.
#[must_use]
pub fn from_stored<T: serde::de::DeserializeOwned>(json: &str) -> Option<T> {
    serde_json::from_str(json).ok()
}
