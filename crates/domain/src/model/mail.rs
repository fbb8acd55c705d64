//! Mail: its content, its recipients, and the state of a workspace's mail.

use std::num::NonZeroU32;
use std::sync::Arc;

use time::Duration;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::changelog::CoverImage;
use crate::model::comment::PublicAuthor;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::{RequestLink, Title};
use crate::model::html::CleanHtml;
use crate::model::id::{ChangelogId, CommentId, CustomerId, EventId, FeatureRequestId, WebhookId, WorkspaceId};
use crate::model::message::{Lease, MessageId, Recipient};
use crate::model::portal::{Color, Language, Portal};
use crate::model::session::BrowserName;
use crate::model::sign_in::{PendingAction, SignIn};
use crate::model::text::{self, Name, truncate};
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{AttemptError, DisabledBecause};
use crate::model::workspace::Subdomain;

/// What a notification is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    Comment(CommentId),
    /// A move that changed the public status of a feature request.
    StatusChange(EventId),
    /// The merge of a feature request into another one, by the event of the former.
    Merge(EventId),
    Changelog(ChangelogId),
}

impl std::fmt::Display for Topic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Comment(comment) => write!(f, "{comment}"),
            Self::StatusChange(event) => write!(f, "status.{event}"),
            Self::Merge(event) => write!(f, "merge.{event}"),
            Self::Changelog(changelog) => write!(f, "changelog.{changelog}"),
        }
    }
}

/// The identity of a notification. There is at most one for each topic and customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MailId {
    pub topic: Topic,
    /// The recipient.
    pub customer: CustomerId,
}

impl std::fmt::Display for MailId {
    /// `<topic>.<customer>`: the external id of a mail, the same at every attempt.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.topic, self.customer)
    }
}

/// A notification that one worker has leased, with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedMail {
    /// The identity of the mail.
    pub id: MailId,
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// When it was created.
    pub created_at: Timestamp,
    /// The recipient's address.
    pub to: EmailAddress,
    /// The recipient's language.
    pub language: Language,
    /// The record that it is about.
    pub about: About,
    /// The whole comment or changelog. Of a change of the status, the comment that says why, or empty.
    pub content: Arc<CleanHtml>,
    pub sender: Arc<MailSender>,
    /// What the link of the mail stops, which says why the recipient gets it.
    pub stops: Unsubscription,
    /// The number of single mails (not digests) to the recipient since the hour began, including mails of earlier leases.
    pub recent_count: u32,
}

/// The record that a notification is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A comment on this feature request.
    Comment(RequestLink, PublicAuthor),
    /// The new status of this feature request.
    StatusChange {
        request: RequestLink,
        /// `None`: it is not on the roadmap any more.
        status: Option<Name>,
        /// Who wrote the comment that says why, if there is one.
        author: Option<PublicAuthor>,
    },
    /// The feature request that another one was merged into.
    Merge {
        request: RequestLink,
        /// The title of the other one.
        source: Title,
    },
    Changelog {
        id: ChangelogId,
        title: Title,
        cover: Option<CoverImage>,
    },
}

impl About {
    /// Returns the title of the feature request or changelog.
    #[must_use]
    pub fn title(&self) -> &Title {
        match self {
            Self::Comment(request, _) | Self::StatusChange { request, .. } | Self::Merge { request, .. } => {
                &request.title
            }
            Self::Changelog { title, .. } => title,
        }
    }

    /// Returns what stops mail of this kind. `is_news`: the recipient gets it only because of having asked for all
    /// changelogs.
    #[must_use]
    pub fn unsubscription(&self, is_news: bool) -> Unsubscription {
        match self {
            Self::Comment(request, _) | Self::StatusChange { request, .. } | Self::Merge { request, .. } => {
                Unsubscription::Request(request.id)
            }
            Self::Changelog { .. } if is_news => Unsubscription::News,
            Self::Changelog { .. } => Unsubscription::Changelogs,
        }
    }
}

/// A digest that one worker has leased, with all of its content. It replaces the mails to one customer that exceed the
/// hourly limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDigest {
    /// The identity of the digest.
    pub id: DigestId,
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// The recipient's address.
    pub to: EmailAddress,
    /// The recipient's language.
    pub language: Language,
    pub sender: Arc<MailSender>,
    /// The first of its comments, in order.
    pub entries: Vec<DigestEntry>,
    /// The number of comments in the digest, including those without an entry.
    pub mails: u64,
}

/// The identity of a digest. There is at most one for each customer and hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigestId {
    /// The end of the hour.
    pub at: Timestamp,
    /// The recipient.
    pub customer: CustomerId,
}

impl std::fmt::Display for DigestId {
    /// `digest.<milliseconds>.<customer>`: the same at every attempt.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "digest.{}.{}", self.at.millis(), self.customer)
    }
}

/// A test mail that one worker has leased, with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedTestMail {
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// When it was queued.
    pub created_at: Timestamp,
    /// The recipient's address.
    pub to: EmailAddress,
    pub sender: Arc<MailSender>,
}

/// What a mail to an admin says about a webhook that the service has disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDisabled {
    pub webhook: WebhookId,
    /// The host to which it leads. Empty if its URL cannot be read.
    pub host: String,
    pub because: DisabledBecause,
    /// When the first of the tries failed since which none has succeeded.
    pub failing_since: Option<Timestamp>,
    /// The status of the last response. `None` without one.
    pub status: Option<u16>,
    /// Why the last try has failed.
    pub error: Option<AttemptError>,
    /// The beginning of the last response, at most [`Self::MAX_RESPONSE`] characters. `None` without one.
    pub response: Option<String>,
}

impl WebhookDisabled {
    /// Maximum number of characters of the response.
    pub const MAX_RESPONSE: usize = 1_024;
}

/// A mail about a disabled webhook that one worker has leased, with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedWebhookDisabled {
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    /// When it was queued.
    pub created_at: Timestamp,
    /// The recipient's address.
    pub to: EmailAddress,
    pub content: WebhookDisabled,
    pub sender: Arc<MailSender>,
}

/// The mail of a sign-in that one worker has leased, with all of its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedSignInMail {
    pub lease: Lease,
    /// The number of this attempt, from 1.
    pub attempt: NonZeroU32,
    pub sign_in: SignIn,
    /// The title of the feature request of its action, if everybody may see it.
    pub title: Option<Title>,
    pub sender: Arc<MailSender>,
}

/// Why the mail of a customer is stopped whose address cannot have a mailbox, as stored.
pub const NO_MAILBOX: &str = "no_mailbox";

/// Maximum number of characters of a name in mail.
const MAX_MAIL_NAME: usize = 60;

/// Maximum number of characters of the response of a webhook's server in mail.
const MAX_MAIL_RESPONSE: usize = 300;

/// Returns a name as mail shows it: one line of at most 60 visible characters, without the beginning of a URL.
///
/// A workspace chooses its names, and its mail comes from the operator. A name that adds lines or links to a mail would be
/// a message of the workspace in the operator's name.
#[must_use]
pub fn mail_name(name: &Name) -> Name {
    Name::from_stored(visible_line(name.as_str(), MAX_MAIL_NAME))
}

/// Whether a character is not shown, or changes how others are shown.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns one line of at most `max` visible characters, without the beginning of a URL.
fn visible_line(text: &str, max: usize) -> String {
    let visible: String = text.chars().map(|character| if is_hidden(character) { ' ' } else { character }).collect();
    let without_urls = visible.replace("://", " ");
    let line = without_urls.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_whole = truncate(&line, max).len() == line.len();
    if is_whole { line } else { format!("{}…", truncate(&line, max.saturating_sub(1)).trim_end()) }
}

/// Returns the title of a feature request as the mail of a sign-in shows it. Anybody can have such a mail sent to any
/// address, so that it has no more of other people's words than a name may have.
#[must_use]
pub fn mail_title(title: &Title) -> Title {
    Title::from_stored(visible_line(title.as_str(), MAX_MAIL_NAME))
}

/// Returns the beginning of the response of a webhook's server as mail shows it: one visible line without a working URL,
/// because whoever has that server chooses it. `None` if nothing of it is visible.
#[must_use]
pub fn mail_response(response: &str) -> Option<String> {
    // Line breaks of the response are stored as replacement characters.
    let line = visible_line(&response.replace(char::REPLACEMENT_CHARACTER, " "), MAX_MAIL_RESPONSE);
    (!line.is_empty()).then_some(line)
}

/// Returns the author of a comment with the name as mail shows it.
#[must_use]
pub fn mail_author(author: &PublicAuthor) -> PublicAuthor {
    match author {
        PublicAuthor::Member(name) => PublicAuthor::Member(name.as_ref().map(mail_name)),
        PublicAuthor::Customer(name) => PublicAuthor::Customer(name.as_ref().map(mail_name)),
    }
}

/// The name that the operator lets a workspace's mail come from, instead of `<product> via <service>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderName(String);

impl SenderName {
    /// Maximum number of characters.
    pub const MAX: usize = 60;

    /// Validates and trims a name. A blank one is none.
    ///
    /// # Errors
    /// Too long, with a NUL character, or with a character that is special in addresses: mail programs could show
    /// another sender.
    pub fn parse(field: &str, raw: &str) -> Validated<Option<Self>> {
        let Some(name) = text::parse_optional_line(field, raw, Self::MAX)? else { return Ok(None) };
        if name.contains(['"', '\\', '<', '>', '@']) {
            let expected = "a name without quotation marks, backslashes, angle brackets and @";
            return Err(FieldError::new(field, FieldProblem::Malformed { expected }));
        }
        Ok(Some(Self(name)))
    }

    /// Wraps a stored name, which is not validated again.
    #[must_use]
    pub fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The sender of a workspace's mail, and what gives it its look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSender {
    /// The workspace's subdomain.
    pub subdomain: Subdomain,
    /// The name that the operator has set.
    pub name: Option<SenderName>,
    /// The product, and the settings of its portal.
    pub portal: Portal,
}

/// The recipient of a notification, with the data that decides whether it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailRecipient {
    /// The notification.
    pub mail: MailId,
    /// The customer's address.
    pub to: EmailAddress,
    /// The language that the customer has chosen, else the one of the last visit. `None` if neither is known.
    pub language: Option<Language>,
    /// Whether mail of this kind to the customer is stopped: changelogs, or answers and changes of the status.
    pub is_stopped: bool,
    /// Whether the customer is subscribed to a feature request of the topic, or to one that is merged with it; `None` if
    /// the customer has neither a vote nor a subscription any more.
    pub is_subscribed: Option<bool>,
    /// Whether the topic is a changelog, and the customer gets all of them.
    pub wants_news: bool,
    /// The number of single mails (not digests) to the customer since the hour began, including mails leased now.
    pub recent_count: u32,
}

/// The content of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicContent {
    pub topic: Topic,
    /// The record that it is about. A merged feature request is the one it was merged into.
    pub about: About,
    /// The beginning of the cleaned HTML of the comment or changelog. It may be cut anywhere, even inside of a tag,
    /// unless the whole was requested. Of a change of the status, the comment that says why, or empty.
    pub content: String,
}

/// A message that is held for a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldMessage {
    pub digest: MessageId,
    /// The kind, as it is stored.
    pub kind: String,
    /// The payload, as it is stored.
    pub payload: String,
    pub recipient: Recipient,
}

/// A notification in a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestEntry {
    /// The record that it is about.
    pub about: About,
    /// The beginning of the cleaned HTML of the comment or changelog. It may be cut anywhere, even inside of a tag.
    pub beginning: String,
}

/// What a notification tells its recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// There is a comment on a feature request.
    Comment(PublicAuthor),
    /// A feature request has another status.
    StatusChange {
        /// `None`: it is not on the roadmap any more.
        status: Option<Name>,
        /// Who wrote the comment that says why, if there is one.
        author: Option<PublicAuthor>,
    },
    /// Another feature request is a part of this one now.
    Merge {
        /// The title of the other one.
        source: Title,
    },
    /// There is a changelog.
    Changelog {
        /// The URL of its cover.
        cover: Option<String>,
    },
}

/// How the mail of a workspace looks, and whom it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brand {
    /// The product's name.
    pub product_name: Name,
    /// The sender's name that the operator has set.
    pub sender_name: Option<SenderName>,
    /// Where replies go. `None`: to the sender.
    pub reply_to: Option<EmailAddress>,
    /// The accent colour that the workspace has chosen.
    pub accent: Option<Color>,
    /// The URL of the logo.
    pub logo: Option<String>,
    /// The URL of the portal.
    pub portal_url: String,
}

impl Brand {
    /// Returns the look of a workspace without settings of its own.
    #[must_use]
    pub fn of_product(product_name: Name, portal_url: String) -> Self {
        Self { product_name, sender_name: None, reply_to: None, accent: None, logo: None, portal_url }
    }
}

/// The content of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The identity of the mail.
    pub id: MailId,
    /// The only recipient.
    pub to: EmailAddress,
    /// The recipient's language.
    pub language: Language,
    pub brand: Brand,
    pub news: News,
    /// The title of the feature request or changelog.
    pub title: Title,
    /// The URL of the feature request or changelog.
    pub url: String,
    /// The cleaned HTML of the comment or changelog. Of a change of the status, the comment that says why, or empty.
    pub content: Arc<CleanHtml>,
    /// What the next URL stops, which says why the recipient gets the mail.
    pub stops: Unsubscription,
    /// The URL that stops mail of this kind: about the feature request, or changelogs. For people (GET) and for mail
    /// programs (POST, RFC 8058).
    pub unsubscribe_url: String,
    /// The URL of the page that stops all mail.
    pub stop_all_url: String,
}

/// The content of a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestNotification {
    /// The identity of the digest.
    pub id: DigestId,
    /// The only recipient.
    pub to: EmailAddress,
    /// The recipient's language.
    pub language: Language,
    pub brand: Brand,
    /// The comments that the digest shows.
    pub entries: Vec<DigestNotificationEntry>,
    /// The number of further comments that the digest does not show.
    pub more: u64,
    /// The URL that stops all mail, for people (GET) and for mail programs (POST, RFC 8058).
    pub unsubscribe_url: String,
}

/// The entry of a digest for one notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestNotificationEntry {
    pub news: News,
    /// The title of the feature request or changelog.
    pub title: Title,
    /// The URL of the feature request or changelog.
    pub url: String,
    /// The beginning of the cleaned HTML of the comment or changelog.
    pub beginning: String,
}

/// The content of a test mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMail {
    /// The identity of the mail.
    pub id: MessageId,
    /// The only recipient.
    pub to: EmailAddress,
    /// The default language of the portal.
    pub language: Language,
    pub brand: Brand,
}

/// The content of the mail to an admin about a disabled webhook. It has no unsubscribe link: it is only sent when the
/// service has disabled one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDisabledMail {
    /// The identity of the mail.
    pub id: MessageId,
    /// The only recipient.
    pub to: EmailAddress,
    /// The default language of the portal.
    pub language: Language,
    pub brand: Brand,
    /// The host to which the webhook leads, or the webhook's ID if its URL cannot be read.
    pub host: String,
    pub because: DisabledBecause,
    /// When the first of the tries failed since which none has succeeded.
    pub failing_since: Option<Timestamp>,
    /// The status of the last response. `None` without one.
    pub status: Option<u16>,
    /// Why the last try has failed.
    pub error: Option<AttemptError>,
    /// The beginning of the last response, as one line. `None` if nothing of it is visible.
    pub response: Option<String>,
    /// The URL of the webhook in the admin panel.
    pub url: String,
}

/// The content of the mail of a sign-in. It has no unsubscribe link: it is only sent when it is asked for, or once to a
/// new member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInMail {
    /// The identity of the mail.
    pub id: MessageId,
    /// The only recipient.
    pub to: EmailAddress,
    pub brand: Brand,
    /// The language of the page that asked.
    pub language: Language,
    /// The link, which a person opens.
    pub url: String,
    /// What it confirms beside the address.
    pub action: Option<PendingAction>,
    /// The code, which a person types instead. The subject has no more than its first two characters.
    pub code: String,
    /// The page on which a new link is asked for.
    pub ask_url: String,
    /// Whether no browser has asked for it: somebody else has added the recipient to the team.
    pub is_invitation: bool,
    /// The browser that asked.
    pub browser: Option<BrowserName>,
    /// Timestamp of the request.
    pub asked_at: Timestamp,
}

/// Why a mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// The mail was not tried, because there was no connection to the mail server for it: none could be opened, or all
    /// open ones were in use for too long.
    NoConnection {
        /// The reason, in the mail server's words if it responded.
        reason: String,
    },
    /// A later attempt may succeed: the mail server responded with 4xx, or requires an action of the operator, such as
    /// a correct name in EHLO.
    Transient {
        /// The reason, in the mail server's words if it responded.
        reason: String,
    },
    /// No attempt can succeed: the mail server rejected the mail (5xx), or the mail cannot be built.
    Permanent {
        reason: String,
        /// Whether the mailbox does not exist. Then no other mail to it can be delivered either.
        no_such_mailbox: bool,
    },
}

/// What an unsubscribe link stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsubscription {
    /// Mail about one feature request. Changelogs about it, too.
    Request(FeatureRequestId),
    /// Changelogs, whatever they are about, also for those who asked for all of them.
    Changelogs,
    /// Changelogs that the customer gets only because the customer asked for all of them.
    News,
    /// All mail of the workspace, including mail about feature requests that the customer votes for later.
    Everything,
}

/// Which mail a customer gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MailSettings {
    /// Answers and status of what the customer voted for or follows.
    pub requests: bool,
    /// Changelogs about it.
    pub changelogs: bool,
    /// All changelogs.
    pub news: bool,
}

impl MailSettings {
    /// How long a link to the settings is valid.
    pub const LINK_LIFETIME: Duration = Duration::days(30);
}

/// New values of the [`MailSettings`] that are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MailSettingsChange {
    pub requests: Option<bool>,
    pub changelogs: Option<bool>,
    pub news: Option<bool>,
}

impl MailSettingsChange {
    /// Stops all mail.
    pub const NOTHING: Self = Self { requests: Some(false), changelogs: Some(false), news: Some(false) };
}

impl From<MailSettings> for MailSettingsChange {
    fn from(MailSettings { requests, changelogs, news }: MailSettings) -> Self {
        Self { requests: Some(requests), changelogs: Some(changelogs), news: Some(news) }
    }
}

/// What a request to subscribe a customer has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscribeOutcome {
    /// Whether the customer is subscribed now.
    pub is_subscribed: bool,
    /// Whether anything changed.
    pub has_changed: bool,
}

/// The state of a workspace's outgoing mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailStatus {
    pub workspace: WorkspaceId,
    /// The number of mails still to be sent, now or later.
    pub waiting: u64,
    /// The number of audiences that are not fully expanded yet.
    pub audiences: u64,
    /// The creation time of the oldest waiting mail or audience.
    pub oldest: Option<Timestamp>,
    /// The number of mails that the mail server has accepted.
    pub sent: u64,
    /// The number of mails that are not retried.
    pub dead: u64,
    /// The latest failures, newest first.
    pub failures: Vec<MailFailure>,
}

/// The amount of unsent mail of all workspaces together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxDepth {
    /// The number of mails that are due now.
    pub due: u64,
    /// The number of mails that a worker has leased.
    pub leased: u64,
    /// The number of mails that wait for their next attempt.
    pub postponed: u64,
    /// The number of mails that are not retried.
    pub dead: u64,
    /// The number of audiences that are not fully expanded yet.
    pub audiences: u64,
    /// The earliest due time of the due mails and audiences.
    pub oldest_due: Option<Timestamp>,
}

/// A mail whose last attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFailure {
    /// The identity of the message.
    pub id: MessageId,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The time of the next attempt; `None` if the mail is dead.
    pub next_attempt_at: Option<Timestamp>,
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_name_in_mail_is_one_short_visible_line_without_a_url() {
        for (name, expected) in [
            ("Acme & Söhne", "Acme & Söhne"),
            ("  Acme\t\r\nInc. ", "Acme Inc."),
            (
                "PayPal\n\nYour account is limited: https://phish.example/x",
                "PayPal Your account is limited: https phish.example/x",
            ),
            ("A\u{202e}b\u{200b}c\u{e0041}\u{2028}d\u{feff}", "A b c d"),
            ("a\u{ad}:\u{2060}//b", "a : //b"),
            ("://", ""),
            ("://:", ":"),
        ] {
            assert_eq!(mail_name(&Name::from_stored(name.to_owned())).as_str(), expected, "{name:?}");
        }
        let long = |length: usize| mail_name(&Name::from_stored("ü".repeat(length))).as_str().to_owned();
        assert_eq!((long(60), long(61)), ("ü".repeat(60), format!("{}…", "ü".repeat(59))));
    }

    #[test]
    fn a_response_in_mail_is_one_visible_line_without_a_url() {
        for (response, expected) in [
            ("Gone", Some("Gone")),
            ("{\u{fffd}\u{fffd}  \"error\": 7\u{fffd}}", Some("{ \"error\": 7 }")),
            ("\u{202e}see https://phish.example/x\u{200b}", Some("see https phish.example/x")),
            ("", None),
            (" \u{fffd}\u{200b}", None),
        ] {
            assert_eq!(mail_response(response).as_deref(), expected, "{response:?}");
        }
        let long = |length: usize| mail_response(&"ü".repeat(length)).unwrap();
        assert_eq!((long(300), long(301)), ("ü".repeat(300), format!("{}…", "ü".repeat(299))));
    }

    #[test]
    fn a_sender_s_name_is_a_line_that_looks_like_no_address() {
        for (raw, name) in [
            (" Lumen  Desk\r\n", Some("Lumen  Desk")),
            ("Müller, Söhne & Co.", Some("Müller, Söhne & Co.")),
            (" ", None),
        ] {
            let parsed = SenderName::parse("--sender-name", raw).unwrap();
            assert_eq!(parsed.as_ref().map(SenderName::as_str), name, "{raw:?}");
        }
        for raw in ["a@b.example", "\"Bank\"", "<bank>", "a\\b", "a\0b", &"ü".repeat(61)] {
            assert!(SenderName::parse("--sender-name", raw).is_err(), "{raw:?}");
        }
    }

    #[test]
    fn a_mail_id_consists_of_topic_and_customer() {
        let (record, customer) = (Uuid::from_u128(1), Uuid::from_u128(2));
        for (topic, prefix) in [
            (Topic::Comment(CommentId::new(record)), ""),
            (Topic::StatusChange(EventId::new(record)), "status."),
            (Topic::Merge(EventId::new(record)), "merge."),
            (Topic::Changelog(ChangelogId::new(record)), "changelog."),
        ] {
            let id = MailId { topic, customer: CustomerId::new(customer) };
            assert_eq!(id.to_string(), format!("{prefix}{record}.{customer}"));
        }
    }
}
