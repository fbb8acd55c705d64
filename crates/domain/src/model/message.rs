//! Messages of the outbox, of all kinds.

use std::num::NonZeroU32;

use serde_json::{Value, json};
use thiserror::Error;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::email_address::EmailAddress;
use crate::model::id::{ChangelogId, CommentId, CustomerId, EventId, MemberId, SignInId, WebhookId};
use crate::model::mail::{DigestId, MailId, Topic, WebhookDisabled};
use crate::model::team_mail::TeamDigestId;
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{AttemptError, DisabledBecause};

/// The identity of a message, unique in its workspace. It is derived from the subject of the message, so that creating
/// the same message twice creates one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(String);

impl MessageId {
    /// Uses a text as an identity.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Returns the identity of the audience of a topic.
    #[must_use]
    pub fn audience(topic: Topic) -> Self {
        Self(format!("audience.{topic}"))
    }

    /// Returns the identity of the mail of a sign-in.
    #[must_use]
    pub fn sign_in(id: SignInId) -> Self {
        Self(format!("sign_in.{id}"))
    }

    /// Returns the identity of a test mail.
    #[must_use]
    pub fn test_mail(id: Uuid) -> Self {
        Self(format!("test.{id}"))
    }

    /// Returns the identity of the mail to an admin about a webhook that was disabled at `at`.
    #[must_use]
    pub fn webhook_disabled(webhook: WebhookId, at: Timestamp, admin: MemberId) -> Self {
        Self(format!("webhook_disabled.{webhook}.{}.{admin}", at.millis()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<MailId> for MessageId {
    fn from(mail: MailId) -> Self {
        Self(mail.to_string())
    }
}

impl From<DigestId> for MessageId {
    fn from(digest: DigestId) -> Self {
        Self(digest.to_string())
    }
}

impl From<TeamDigestId> for MessageId {
    fn from(digest: TeamDigestId) -> Self {
        Self(digest.to_string())
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The urgency of a message: which messages are leased first. Each priority has its own send slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Priority {
    /// A person waits for the message.
    Urgent,
    /// All other messages.
    Bulk,
}

impl Priority {
    /// All priorities, most urgent first.
    pub const ALL: [Self; 2] = [Self::Urgent, Self::Bulk];

    /// Returns the stored number.
    #[must_use]
    pub const fn number(self) -> i16 {
        match self {
            Self::Urgent => 0,
            Self::Bulk => 1,
        }
    }

    /// Returns the priority with this number.
    #[must_use]
    pub fn from_number(number: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|priority| priority.number() == number)
    }
}

/// The recipient of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recipient {
    /// No recipient: the message is expanded into messages with recipients.
    None,
    /// A customer, at the address that the customer has when the message is sent.
    Customer(CustomerId),
    /// An address, independent of any customer.
    Address(EmailAddress),
}

/// The subscribed customers who are to be notified of a topic and have no message yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Audience {
    /// The topic. It determines the feature requests.
    pub topic: Topic,
    /// The last customer who already has a message.
    pub after: CustomerId,
}

/// The content of a message, by its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageContent {
    /// The notifications of an audience that is still to be expanded.
    Audience(Audience),
    /// The notification of a customer about a topic.
    Notification(Topic),
    /// A digest of all notifications that notifications are held until the end of an hour.
    CommentDigest {
        /// The end of the hour.
        at: Timestamp,
    },
    /// What customers have written, for a member of the team.
    TeamDigest(TeamDigestId),
    /// The link and the code of a sign-in.
    SignIn(SignInId),
    /// A test mail, which shows an operator that mail arrives.
    TestMail,
    /// That the service has disabled a webhook, for an admin.
    WebhookDisabled(WebhookDisabled),
}

/// Why a stored message cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContentError {
    /// The kind is unknown; a newer version may have created the message.
    #[error("this version sends no messages of the kind `{0}`")]
    UnknownKind(String),
    /// The payload does not fit the kind.
    #[error("the payload is not one of its kind")]
    Payload,
}

impl MessageContent {
    /// Returns the stored name of the kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Audience(Audience { topic, .. }) => match topic {
                Topic::Comment(_) => "comment_audience",
                Topic::StatusChange(_) => "status_change_audience",
                Topic::Merge(_) => "merge_audience",
                Topic::Changelog(_) => "changelog_audience",
            },
            Self::Notification(topic) => match topic {
                Topic::Comment(_) => "comment",
                Topic::StatusChange(_) => "status_change",
                Topic::Merge(_) => "merge",
                Topic::Changelog(_) => "changelog",
            },
            Self::CommentDigest { .. } => "comment_digest",
            Self::TeamDigest(_) => "team_digest",
            Self::SignIn(_) => "sign_in",
            Self::TestMail => "test_mail",
            Self::WebhookDisabled(_) => "webhook_disabled",
        }
    }

    /// Returns the priority of the kind.
    #[must_use]
    pub const fn priority(&self) -> Priority {
        match self {
            Self::Audience(_)
            | Self::Notification(_)
            | Self::CommentDigest { .. }
            | Self::TeamDigest(_)
            | Self::WebhookDisabled(_) => Priority::Bulk,
            Self::SignIn(_) | Self::TestMail => Priority::Urgent,
        }
    }

    /// Returns the payload as JSON.
    #[must_use]
    pub fn payload(&self) -> String {
        let payload = match self {
            Self::Audience(Audience { topic, after }) => {
                let (field, id) = topic_field(*topic);
                json!({ field: id, "after": after.to_string() })
            }
            Self::Notification(topic) => {
                let (field, id) = topic_field(*topic);
                json!({ field: id })
            }
            Self::CommentDigest { at } => json!({ "at": at.millis() }),
            Self::TeamDigest(TeamDigestId { member, after, until }) => {
                json!({ "member": member.to_string(), "after": after.millis(), "until": until.millis() })
            }
            Self::SignIn(sign_in) => json!({ "sign_in": sign_in.to_string() }),
            Self::TestMail => json!({}),
            Self::WebhookDisabled(disabled) => json!({
                "webhook": disabled.webhook.to_string(),
                "host": disabled.host,
                "because": disabled.because.name(),
                "failing_since": disabled.failing_since.map(Timestamp::millis),
                "status": disabled.status,
                "error": disabled.error.map(AttemptError::name),
                "response": disabled.response,
            }),
        };
        payload.to_string()
    }

    /// Parses a stored kind and payload.
    ///
    /// # Errors
    /// The kind is unknown, or the payload does not fit the kind.
    pub fn parse(kind: &str, payload: &str) -> Result<Self, ContentError> {
        let payload: Value = serde_json::from_str(payload).map_err(|_| ContentError::Payload)?;
        let id = |field: &str| -> Result<Uuid, ContentError> {
            let text = payload.get(field).and_then(Value::as_str).ok_or(ContentError::Payload)?;
            Uuid::try_parse(text).map_err(|_| ContentError::Payload)
        };
        let time = |field: &str| -> Result<Timestamp, ContentError> {
            let millis = payload.get(field).and_then(Value::as_i64);
            millis.and_then(Timestamp::from_millis).ok_or(ContentError::Payload)
        };
        let (topic, is_audience) = match kind.strip_suffix("_audience") {
            Some(topic) => (topic, true),
            None => (kind, false),
        };
        let topic = match topic {
            "comment" => Topic::Comment(CommentId::new(id("comment")?)),
            "status_change" => Topic::StatusChange(EventId::new(id("event")?)),
            "merge" => Topic::Merge(EventId::new(id("event")?)),
            "changelog" => Topic::Changelog(ChangelogId::new(id("changelog")?)),
            "comment_digest" if !is_audience => return Ok(Self::CommentDigest { at: time("at")? }),
            "team_digest" if !is_audience => {
                let member = MemberId::new(id("member")?);
                return Ok(Self::TeamDigest(TeamDigestId { member, after: time("after")?, until: time("until")? }));
            }
            "sign_in" if !is_audience => return Ok(Self::SignIn(SignInId::new(id("sign_in")?))),
            "test_mail" if !is_audience => return Ok(Self::TestMail),
            "webhook_disabled" if !is_audience => {
                return webhook_disabled(WebhookId::new(id("webhook")?), &payload).map(Self::WebhookDisabled);
            }
            _ => return Err(ContentError::UnknownKind(kind.to_owned())),
        };
        Ok(if is_audience {
            Self::Audience(Audience { topic, after: CustomerId::new(id("after")?) })
        } else {
            Self::Notification(topic)
        })
    }
}

/// Returns what a payload says about a webhook that was disabled.
fn webhook_disabled(webhook: WebhookId, payload: &Value) -> Result<WebhookDisabled, ContentError> {
    let text = |field: &str| payload.get(field).and_then(Value::as_str).ok_or(ContentError::Payload);
    Ok(WebhookDisabled {
        webhook,
        host: text("host")?.to_owned(),
        because: DisabledBecause::from_name(text("because")?).ok_or(ContentError::Payload)?,
        failing_since: optional(payload, "failing_since", |value| value.as_i64().and_then(Timestamp::from_millis))?,
        status: optional(payload, "status", |value| value.as_u64().and_then(|status| u16::try_from(status).ok()))?,
        error: optional(payload, "error", |value| value.as_str().and_then(AttemptError::from_name))?,
        response: optional(payload, "response", |value| value.as_str().map(str::to_owned))?,
    })
}

/// Returns a field of a payload that can be null.
fn optional<T>(payload: &Value, field: &str, read: impl Fn(&Value) -> Option<T>) -> Result<Option<T>, ContentError> {
    match payload.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or(ContentError::Payload),
    }
}

/// Returns the field of a payload that names the topic, and its value.
fn topic_field(topic: Topic) -> (&'static str, String) {
    match topic {
        Topic::Comment(comment) => ("comment", comment.to_string()),
        Topic::StatusChange(event) | Topic::Merge(event) => ("event", event.to_string()),
        Topic::Changelog(changelog) => ("changelog", changelog.to_string()),
    }
}

/// A message to be added to the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Its identity.
    pub id: MessageId,
    pub content: MessageContent,
    pub recipient: Recipient,
    /// When it was created. It is due at once.
    pub created_at: Timestamp,
    /// The id of the HTTP request that caused it, if any.
    pub request_id: Option<String>,
}

/// The lease of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub message: MessageId,
    /// The end of the lease; no other worker leases the message before. It also identifies the lease, because a later
    /// lease of the same message ends at another time.
    pub until: Timestamp,
    /// The id of the HTTP request that caused the message, for the log and for messages that it creates. `None` if there
    /// is none, or several, as for a digest.
    pub request_id: Option<String>,
}

/// A message that one worker has leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedMessage {
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// The kind, as it is stored.
    pub kind: String,
    /// The payload, as it is stored.
    pub payload: String,
    pub recipient: Recipient,
    /// When it was created.
    pub created_at: Timestamp,
}

/// The result of one lease statement.
#[derive(Debug, Default)]
pub struct LeasedMessages {
    /// The readable messages, in the order in which they became due.
    pub messages: Vec<LeasedMessage>,
    /// The leased rows that cannot be read.
    pub unreadable: Vec<UnreadableMessage>,
}

impl LeasedMessages {
    /// Adds a leased row: to `messages` if it can be read, else to `unreadable`.
    pub fn push(&mut self, lease: Lease, message: Result<LeasedMessage, StoreError>) {
        match message {
            Ok(message) => self.messages.push(message),
            Err(error) => self.unreadable.push(UnreadableMessage { lease, error }),
        }
    }
}

/// A leased row that cannot be read back into the model.
#[derive(Debug)]
pub struct UnreadableMessage {
    pub lease: Lease,
    /// Why the row cannot be read.
    pub error: StoreError,
}

/// The outcome of a leased message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageOutcome {
    /// The message was sent.
    Sent {
        /// The mail server's response.
        response: String,
    },
    /// The attempt failed and is repeated later.
    Postponed {
        /// The time of the next attempt.
        until: Timestamp,
        /// The reason of the failure.
        reason: String,
    },
    /// Not attempted, because there was no connection to the mail server. The attempt does not count.
    Deferred {
        /// The time of the next attempt.
        until: Timestamp,
        /// Why there was no connection.
        reason: String,
    },
    /// The message is not retried, unless an operator requests it.
    Dead {
        /// The reason of the failure.
        reason: String,
        /// Whether to stop all mail to the recipient, if that is a customer.
        no_such_mailbox: bool,
    },
    /// Not attempted, because the recipient has reached the hourly limit. The message goes out with this digest.
    Held { digest: DigestId },
    /// Not attempted: the message is in the same state as before the lease.
    Returned,
    /// Not attempted, because the recipient no longer wants the message. It is deleted.
    Unwanted,
}

/// The state of one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageState {
    /// The number of attempts, including one in progress.
    pub attempts: u32,
    /// The time of the next attempt or, if it is leased, the end of the lease; `None` if it is sent or dead.
    pub due_at: Option<Timestamp>,
    /// The end of its lease, if it is leased.
    pub leased_until: Option<Timestamp>,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// Why the last attempt failed.
    pub failure: Option<String>,
    /// The mail server's response to the accepted message.
    pub response: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_read_as_they_were_written() {
        let uuid = Uuid::from_u128;
        let topics = [
            Topic::Comment(CommentId::new(uuid(1))),
            Topic::StatusChange(EventId::new(uuid(2))),
            Topic::Merge(EventId::new(uuid(7))),
            Topic::Changelog(ChangelogId::new(uuid(3))),
        ];
        let audience = |topic| MessageContent::Audience(Audience { topic, after: CustomerId::new(uuid(4)) });
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let digest = TeamDigestId { member: MemberId::new(uuid(6)), after: at(-1), until: at(1_770_000_000_000) };
        let gone = WebhookDisabled {
            webhook: WebhookId::new(uuid(8)),
            host: "hooks.example.com".to_owned(),
            because: DisabledBecause::Gone,
            failing_since: None,
            status: Some(410),
            error: Some(AttemptError::Status),
            response: Some("\"<b>\" \u{fffd}".to_owned()),
        };
        let failing = WebhookDisabled {
            because: DisabledBecause::Failing,
            failing_since: Some(at(1_770_000_000_000)),
            status: None,
            error: Some(AttemptError::Timeout),
            response: None,
            ..gone.clone()
        };
        let others = [
            MessageContent::WebhookDisabled(gone),
            MessageContent::WebhookDisabled(failing),
            MessageContent::TeamDigest(digest),
            MessageContent::CommentDigest { at: Timestamp::from_millis(1_770_000_000_000).unwrap() },
            MessageContent::SignIn(SignInId::new(uuid(5))),
            MessageContent::TestMail,
        ];
        let about_topics = topics.into_iter().flat_map(|topic| [audience(topic), MessageContent::Notification(topic)]);
        for content in about_topics.chain(others) {
            assert_eq!(MessageContent::parse(content.kind(), &content.payload()), Ok(content));
        }
    }

    #[test]
    fn a_payload_of_another_kind_is_an_error() {
        for (kind, payload) in [
            ("comment", "{}"),
            ("comment", "no JSON"),
            ("comment", r#"{"comment":"no id"}"#),
            ("comment", r#"{"comment":7}"#),
            ("comment_audience", r#"{"comment":"01890a5d-ac96-774b-bcce-b302099a8057"}"#),
            ("status_change", r#"{"comment":"01890a5d-ac96-774b-bcce-b302099a8057"}"#),
            ("changelog_audience", r#"{"changelog":"01890a5d-ac96-774b-bcce-b302099a8057"}"#),
            ("team_digest", r#"{"member":"01890a5d-ac96-774b-bcce-b302099a8057","after":1}"#),
            ("comment_digest", r#"{"at":"now"}"#),
            ("comment_digest", r#"{"at":9223372036854775807}"#),
            ("webhook_disabled", r#"{"host":"a.example","because":"gone"}"#),
            (
                "webhook_disabled",
                r#"{"webhook":"01890a5d-ac96-774b-bcce-b302099a8057","host":"a.example","because":"bored"}"#,
            ),
            (
                "webhook_disabled",
                r#"{"webhook":"01890a5d-ac96-774b-bcce-b302099a8057","host":"","because":"gone","status":70000}"#,
            ),
        ] {
            assert_eq!(MessageContent::parse(kind, payload), Err(ContentError::Payload), "{kind} {payload}");
        }
        for kind in ["test_mail_audience", "webhook_disabled_audience", "comment_digest_audience", "_audience", ""] {
            assert!(matches!(MessageContent::parse(kind, "{}"), Err(ContentError::UnknownKind(_))), "{kind}");
        }
        let unknown = MessageContent::parse("webhook", "{}").unwrap_err();
        assert_eq!(unknown.to_string(), "this version sends no messages of the kind `webhook`");
    }

    #[test]
    fn a_priority_is_read_by_its_number() {
        for priority in Priority::ALL {
            assert_eq!(Priority::from_number(priority.number()), Some(priority));
        }
        assert_eq!(Priority::from_number(2), None);
    }

    #[test]
    fn message_ids_are_derived_from_their_subject() {
        let (comment, customer) = (CommentId::new(Uuid::from_u128(1)), CustomerId::new(Uuid::from_u128(2)));
        let topic = Topic::Comment(comment);
        assert_eq!(MessageId::from(MailId { topic, customer }).to_string(), format!("{comment}.{customer}"));
        let at = Timestamp::from_millis(1_770_000_000_000).unwrap();
        let digest = MessageId::from(DigestId { at, customer });
        assert_eq!(digest.as_str(), format!("digest.1770000000000.{customer}"));
        assert_eq!(MessageId::audience(topic).as_str(), format!("audience.{comment}"));
        assert_eq!(MessageId::test_mail(comment.uuid()).as_str(), format!("test.{comment}"));
        let (webhook, admin) = (WebhookId::new(Uuid::from_u128(3)), MemberId::new(Uuid::from_u128(4)));
        let disabled = MessageId::webhook_disabled(webhook, at, admin);
        assert_eq!(disabled.as_str(), format!("webhook_disabled.{webhook}.1770000000000.{admin}"));
    }
}
