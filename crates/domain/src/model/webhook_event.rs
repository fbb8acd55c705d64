//! Events of a workspace, as webhooks send them. The history of a feature request is another thing ([`super::event`]).
//!
//! An operation says what has happened ([`EventDraft`]). The store adds the records that it is about, as they are at the
//! end of the unit of work ([`EventSnapshot`]), and keeps both ([`StoredEvent`]).

use std::borrow::Cow;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::model::audit::Actor;
use crate::model::email_address::FoldedEmail;
use crate::model::event::Move;
use crate::model::feature_request::RequestLink;
use crate::model::id::{
    ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, NoteId, WebhookEventId, WebhookId,
};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// What has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EventKind {
    FeatureRequestCreated,
    FeatureRequestUpdated,
    FeatureRequestMoved,
    FeatureRequestMerged,
    FeatureRequestUnmerged,
    FeatureRequestDeleted,
    VoteCreated,
    VoteRemoved,
    CommentCreated,
    CommentUpdated,
    CommentDeleted,
    ReferenceNoteCreated,
    ChangelogPublished,
    ChangelogUnpublished,
    /// Somebody asked for it, to see that a webhook works.
    WebhookTest,
}

impl EventKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 15] = [
        Self::FeatureRequestCreated,
        Self::FeatureRequestUpdated,
        Self::FeatureRequestMoved,
        Self::FeatureRequestMerged,
        Self::FeatureRequestUnmerged,
        Self::FeatureRequestDeleted,
        Self::VoteCreated,
        Self::VoteRemoved,
        Self::CommentCreated,
        Self::CommentUpdated,
        Self::CommentDeleted,
        Self::ReferenceNoteCreated,
        Self::ChangelogPublished,
        Self::ChangelogUnpublished,
        Self::WebhookTest,
    ];

    /// Returns the name that is stored and sent.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FeatureRequestCreated => "feature_request.created",
            Self::FeatureRequestUpdated => "feature_request.updated",
            Self::FeatureRequestMoved => "feature_request.moved",
            Self::FeatureRequestMerged => "feature_request.merged",
            Self::FeatureRequestUnmerged => "feature_request.unmerged",
            Self::FeatureRequestDeleted => "feature_request.deleted",
            Self::VoteCreated => "vote.created",
            Self::VoteRemoved => "vote.removed",
            Self::CommentCreated => "comment.created",
            Self::CommentUpdated => "comment.updated",
            Self::CommentDeleted => "comment.deleted",
            Self::ReferenceNoteCreated => "reference_note.created",
            Self::ChangelogPublished => "changelog.published",
            Self::ChangelogUnpublished => "changelog.unpublished",
            Self::WebhookTest => "webhook.test",
        }
    }

    /// Returns the kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether chat services get a message about it.
    #[must_use]
    pub const fn is_for_chat(self) -> bool {
        matches!(
            self,
            Self::FeatureRequestCreated
                | Self::FeatureRequestMoved
                | Self::CommentCreated
                | Self::ChangelogPublished
                | Self::WebhookTest
        )
    }
}

/// The customer that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventCustomer {
    Id(CustomerId),
    /// The customer with this address, who exists at the end of the unit of work.
    Address(FoldedEmail),
}

/// The records that an event is about. The store adds them as they are at the end of the unit of work; one that does not
/// exist then is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventRecords {
    /// A feature request, not one that is merged into another.
    pub request: Option<FeatureRequestId>,
    pub customer: Option<EventCustomer>,
    pub comment: Option<CommentId>,
    pub note: Option<NoteId>,
    pub changelog: Option<ChangelogId>,
}

/// What an operation says of what has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDraft {
    pub kind: EventKind,
    pub records: EventRecords,
    pub details: EventDetails,
}

impl EventDraft {
    /// Returns an event about these records.
    #[must_use]
    pub fn new(kind: EventKind, records: EventRecords) -> Self {
        Self { kind, records, details: EventDetails::default() }
    }

    /// Returns an event about a feature request alone.
    #[must_use]
    pub fn of_request(kind: EventKind, request: FeatureRequestId) -> Self {
        Self::new(kind, EventRecords { request: Some(request), ..EventRecords::default() })
    }

    /// Returns an event about a vote of a customer.
    #[must_use]
    pub fn of_vote(kind: EventKind, request: FeatureRequestId, customer: EventCustomer) -> Self {
        let records = EventRecords { request: Some(request), customer: Some(customer), ..EventRecords::default() };
        Self::new(kind, records)
    }

    /// Returns an event about a comment on a feature request.
    #[must_use]
    pub fn of_comment(kind: EventKind, request: FeatureRequestId, comment: CommentId) -> Self {
        Self::new(kind, EventRecords { request: Some(request), comment: Some(comment), ..EventRecords::default() })
    }

    /// Returns the event of a comment that was deleted, or is no longer public.
    #[must_use]
    pub fn of_deleted_comment(request: FeatureRequestId, comment: CommentId) -> Self {
        let details = EventDetails { deleted_comment: Some(comment), ..EventDetails::default() };
        Self::of_request(EventKind::CommentDeleted, request).with(details)
    }

    /// Returns the event of a new note on a feature request.
    #[must_use]
    pub fn of_note(request: FeatureRequestId, note: NoteId) -> Self {
        let records = EventRecords { request: Some(request), note: Some(note), ..EventRecords::default() };
        Self::new(EventKind::ReferenceNoteCreated, records)
    }

    /// Returns an event about a changelog.
    #[must_use]
    pub fn of_changelog(kind: EventKind, changelog: ChangelogId) -> Self {
        Self::new(kind, EventRecords { changelog: Some(changelog), ..EventRecords::default() })
    }

    /// Returns the event of a feature request some of whose fields were edited.
    #[must_use]
    pub fn of_edit<'a>(request: FeatureRequestId, fields: impl IntoIterator<Item = &'a str>) -> Self {
        let changed = fields.into_iter().map(ToOwned::to_owned).collect();
        let details = EventDetails { changed, ..EventDetails::default() };
        Self::of_request(EventKind::FeatureRequestUpdated, request).with(details)
    }

    /// Replaces the details.
    #[must_use]
    pub fn with(self, details: EventDetails) -> Self {
        Self { details, ..self }
    }
}

/// What the records do not say.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventDetails {
    /// The fields that were edited: some of `title`, `description`, `tags`, `private`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<MoveDetails>,
    /// The feature request that was merged into the subject, or that is no longer merged into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<LinkDetails>,
    /// A feature request that was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<LinkDetails>,
    /// A comment that was deleted, or is no longer public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_comment: Option<CommentId>,
    /// The webhook that is tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookId>,
    /// The name of the workspace's product, which the message of a test has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
}

/// A move, with the names of that time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoveDetails {
    pub id: EventId,
    pub from_track: String,
    pub to_track: String,
    pub from_status: Option<String>,
    pub to_status: Option<String>,
    /// The name of the kind of who moved it, and the name.
    pub actor_kind: String,
    pub actor_name: String,
    pub comment: Option<CommentId>,
    /// Milliseconds since the Unix epoch.
    pub at: i64,
}

impl MoveDetails {
    /// Returns the details of a move in the history of a feature request.
    #[must_use]
    pub fn new(id: EventId, moved: &Move, actor: &Actor, at: Timestamp) -> Self {
        let name = |name: &Name| name.as_str().to_owned();
        Self {
            id,
            from_track: name(&moved.from.track),
            to_track: name(&moved.to.track),
            from_status: moved.from.status.as_ref().map(name),
            to_status: moved.to.status.as_ref().map(name),
            actor_kind: actor.kind.name().to_owned(),
            actor_name: actor.name.clone(),
            comment: moved.comment,
            at: at.millis(),
        }
    }
}

/// A feature request that is only mentioned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkDetails {
    pub id: FeatureRequestId,
    pub tag_number: i64,
    pub title: String,
    pub private: bool,
}

impl LinkDetails {
    /// Returns a mention of a feature request that is, or was, private or not.
    #[must_use]
    pub fn new(request: &RequestLink, private: bool) -> Self {
        let title = request.title.as_str().to_owned();
        Self { id: request.id, tag_number: request.tag_number, title, private }
    }
}

/// An event to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhookEvent {
    pub id: WebhookEventId,
    pub draft: EventDraft,
    pub actor: Actor,
    pub at: Timestamp,
}

/// An event with the records that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub id: WebhookEventId,
    pub kind: EventKind,
    pub actor: Actor,
    pub at: Timestamp,
    pub details: EventDetails,
    pub snapshot: EventSnapshot,
}

impl StoredEvent {
    /// Parses the stored details and records. Returns `None` if they are not what a store writes.
    #[must_use]
    pub fn parse(
        (id, kind): (WebhookEventId, &str),
        actor: Actor,
        at: Timestamp,
        details: &str,
        snapshot: &str,
    ) -> Option<Self> {
        let (details, snapshot) = (serde_json::from_str(details).ok()?, serde_json::from_str(snapshot).ok()?);
        Some(Self { id, kind: EventKind::from_name(kind)?, actor, at, details, snapshot })
    }
}

/// The records of an event, as they were at the end of its unit of work. The stores build it as JSON, in SQL: times are
/// milliseconds since the Unix epoch, IDs hexadecimal with or without hyphens, truth values also 0 and 1.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct EventSnapshot {
    pub feature_request: Option<RequestSnapshot>,
    pub customer: Option<PersonSnapshot>,
    pub comment: Option<CommentSnapshot>,
    pub reference_note: Option<NoteSnapshot>,
    pub changelog: Option<ChangelogSnapshot>,
}

/// A feature request.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RequestSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    pub tag_number: i64,
    pub title: String,
    /// The beginning of the description as plain text: 500 characters, or more.
    pub description: String,
    /// The name of the lane.
    pub status: Option<String>,
    pub track: String,
    pub votes_count: i64,
    pub created_at: i64,
    pub tags: Vec<String>,
    #[serde(deserialize_with = "truth")]
    pub private: bool,
    pub author: Option<PersonSnapshot>,
}

/// A customer or a member.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct PersonSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    pub name: Option<String>,
    pub email: String,
}

/// A public comment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommentSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    /// Sanitized HTML.
    pub content: String,
    /// The author, if that is a customer.
    pub customer: Option<PersonSnapshot>,
    /// The author, if that is a member.
    pub member: Option<PersonSnapshot>,
    pub created_at: i64,
    pub updated_at: i64,
}

/// A private note.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NoteSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    /// Sanitized HTML.
    pub body: String,
    /// The member who wrote it.
    pub author: Option<PersonSnapshot>,
    /// The customer that it is about.
    pub customer: Option<PersonSnapshot>,
    pub created_at: i64,
}

/// A changelog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ChangelogSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    pub title: String,
    /// Sanitized HTML.
    pub content: String,
    pub category: Option<String>,
    pub cover: Option<CoverSnapshot>,
    /// When it is or was to be public.
    pub published_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
    /// What it is about, in the team's order. A merged one is the one it was merged into, listed once.
    pub feature_requests: Vec<LinkedSnapshot>,
}

/// The cover image of a changelog.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CoverSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub attachment: Uuid,
    pub filename: String,
}

/// A feature request that a changelog is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct LinkedSnapshot {
    #[serde(deserialize_with = "uuid")]
    pub id: Uuid,
    pub tag_number: i64,
    pub title: String,
    pub status: Option<String>,
    #[serde(deserialize_with = "truth")]
    pub private: bool,
}

fn uuid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Uuid, D::Error> {
    let text = <Cow<'de, str> as Deserialize>::deserialize(deserializer)?;
    Uuid::try_parse(&text).map_err(|_| D::Error::custom("no UUID"))
}

fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Bool(truth) => Ok(truth),
        Value::Number(number) => Ok(number.as_i64() != Some(0)),
        _ => Err(D::Error::custom("no truth value")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{actor, now};

    #[test]
    fn kinds_have_names() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(EventKind::from_name("vote"), None);
    }

    /// The stores write the same records in slightly different JSON.
    #[test]
    fn stored_records_are_read() {
        let (hyphenated, simple) = ("01976800-c95f-7d4d-9d90-7a6bf43233fb", "01976800c95f7d4d9d907a6bf43233fb");
        let parse = |id: &str, private: &str| {
            let snapshot = format!(
                r#"{{"feature_request":{{"id":"{id}","tag_number":3,"title":"Dark \"mode\"","description":"","status":null,
                    "track":"Inbox","votes_count":1,"created_at":1,"tags":["ui"],"private":{private},"author":null}},
                    "customer":null}}"#
            );
            let id = WebhookEventId::new(Uuid::from_u128(1));
            StoredEvent::parse((id, "vote.created"), actor(), now(), r#"{"changed":["title"]}"#, &snapshot)
        };
        let event = parse(hyphenated, "true").unwrap();
        assert_eq!(event.snapshot.feature_request.as_ref().unwrap().id.to_string(), hyphenated);
        assert_eq!(event.details.changed, ["title"]);
        assert_eq!(parse(simple, "1"), Some(event));
        assert_eq!(parse("x", "true"), None);
        assert_eq!(parse(simple, "\"yes\""), None);
    }
}
