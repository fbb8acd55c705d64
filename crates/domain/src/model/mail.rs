//! Mail: its content, its recipients, and the state of a workspace's mail.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::model::email_address::EmailAddress;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
use crate::model::message::{Lease, MessageId, Recipient};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::workspace::Subdomain;

/// A mail: there is one for each comment and voter, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MailId {
    /// What it is about.
    pub comment: CommentId,
    /// Whom it is for.
    pub customer: CustomerId,
}

impl std::fmt::Display for MailId {
    /// `<comment>.<customer>`: what a mail is known by outside, the same at every try.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.comment, self.customer)
    }
}

/// The notification of a comment that one worker has leased, with all that it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedMail {
    /// Which.
    pub id: MailId,
    /// The end of its lease.
    pub leased_until: Timestamp,
    /// The number of this try, from 1.
    pub attempt: NonZeroU32,
    /// Whom it is for.
    pub to: EmailAddress,
    /// The request that was commented on.
    pub request: FeatureRequestId,
    /// Its number.
    pub tag_number: i64,
    /// Its title.
    pub title: Title,
    /// The comment.
    pub comment: Arc<CleanHtml>,
    /// The product's name.
    pub product_name: Name,
    /// The workspace's subdomain.
    pub subdomain: Subdomain,
    /// How many mails by themselves the recipient has got since the hour began, those included that are leased by now.
    pub recent_count: u32,
}

/// A digest that one worker has leased, with all that it says: of the mails to one customer that were too many for an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDigest {
    /// Which.
    pub id: DigestId,
    /// The end of its lease.
    pub leased_until: Timestamp,
    /// The number of this try, from 1.
    pub attempt: NonZeroU32,
    /// Whom it is for.
    pub to: EmailAddress,
    /// The product's name.
    pub product_name: Name,
    /// The workspace's subdomain.
    pub subdomain: Subdomain,
    /// The first of its comments, in their order.
    pub entries: Vec<DigestEntry>,
    /// How many comments it is about.
    pub mails: u64,
}

/// A digest: there is one for each customer and hour, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigestId {
    /// The end of the hour.
    pub at: Timestamp,
    /// Whom it is for.
    pub customer: CustomerId,
}

impl std::fmt::Display for DigestId {
    /// `digest.<milliseconds>.<customer>`: the same at every try.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "digest.{}.{}", self.at.millis(), self.customer)
    }
}

/// A test mail that one worker has leased, with all that it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedTestMail {
    /// The lease.
    pub lease: Lease,
    /// The number of this try, from 1.
    pub attempt: NonZeroU32,
    /// Whom it is for.
    pub to: EmailAddress,
    /// Whom it is from.
    pub sender: MailSender,
}

/// Whom the mail of a workspace is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailSender {
    /// The product's name.
    pub product_name: Name,
    /// The workspace's subdomain.
    pub subdomain: Subdomain,
}

/// The recipient of the notification of a comment, and what decides whether it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailRecipient {
    /// The notification.
    pub mail: MailId,
    /// The customer's address.
    pub to: EmailAddress,
    /// Whether all mail to the customer is stopped.
    pub is_stopped: bool,
    /// Whether the customer's vote is subscribed to the feature request; `None` when there is no vote any more.
    pub is_subscribed: Option<bool>,
    /// How many mails by themselves the customer has got since the hour began, those included that are leased by now.
    pub recent_count: u32,
}

/// A comment, and the feature request that it is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommentedRequest {
    /// The comment.
    pub comment: CommentId,
    /// The beginning of its cleaned HTML, which may end in the middle of anything unless all of it was asked for.
    pub content: String,
    /// The feature request.
    pub request: FeatureRequestId,
    /// Its number.
    pub tag_number: i64,
    /// Its title.
    pub title: Title,
}

/// A message that is held for a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldMessage {
    /// The digest.
    pub digest: MessageId,
    /// Its kind, as it is stored.
    pub kind: String,
    /// Its payload, as it is stored.
    pub payload: String,
    /// Whom it is for.
    pub recipient: Recipient,
}

/// A comment in a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestEntry {
    /// The number of the request that was commented on.
    pub tag_number: i64,
    /// Its title.
    pub title: Title,
    /// The beginning of the comment's cleaned HTML, which may end in the middle of anything.
    pub beginning: String,
}

/// All that a mail about a comment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// Which mail it is.
    pub id: MailId,
    /// Whom it is for: the one recipient.
    pub to: EmailAddress,
    /// The product's name.
    pub product_name: Name,
    /// The title of the request.
    pub title: Title,
    /// Where the request is seen.
    pub request_url: String,
    /// The comment, cleaned.
    pub comment: Arc<CleanHtml>,
    /// Where the recipient ends such mail, for people (GET) and for mail programs (POST, RFC 8058).
    pub unsubscribe_url: String,
}

/// All that a digest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestNotification {
    /// Which digest it is.
    pub id: DigestId,
    /// Whom it is for: the one recipient.
    pub to: EmailAddress,
    /// The product's name.
    pub product_name: Name,
    /// The comments that it shows.
    pub entries: Vec<DigestNotificationEntry>,
    /// How many comments it is about that it does not show.
    pub more: u64,
    /// Where the recipient ends such mail, for people (GET) and for mail programs (POST, RFC 8058).
    pub unsubscribe_url: String,
}

/// What a digest says of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestNotificationEntry {
    /// The title of the request.
    pub title: Title,
    /// Where the request is seen.
    pub request_url: String,
    /// The beginning of the comment's cleaned HTML.
    pub beginning: String,
}

/// All that a test mail says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestMail {
    /// Which mail it is.
    pub id: MessageId,
    /// Whom it is for: the one recipient.
    pub to: EmailAddress,
    /// The product's name.
    pub product_name: Name,
    /// The workspace's URL.
    pub workspace_url: String,
}

/// Why a mail was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendError {
    /// It may work later: the server is away, or has said so (4xx).
    Transient {
        /// What happened, in the server's words where it had any.
        reason: String,
    },
    /// It will never work: the server has refused it (5xx), or it cannot be written.
    Permanent {
        /// What happened.
        reason: String,
        /// Whether there is no such mailbox, so that no other mail will arrive there either.
        no_such_mailbox: bool,
    },
}

/// What a voter no longer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsubscription {
    /// Mail about one request.
    Request(FeatureRequestId),
    /// Any mail of the workspace, also about requests voted for later.
    Everything,
}

/// The state of a workspace's outgoing mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailStatus {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Mails that are to be sent, now or later.
    pub waiting: u64,
    /// Audiences whose mails are still being written out.
    pub audiences: u64,
    /// When the longest waiting of them was created.
    pub oldest: Option<Timestamp>,
    /// Mails that the server has taken.
    pub sent: u64,
    /// Mails that are not tried again.
    pub dead: u64,
    /// The latest failures, newest first.
    pub failures: Vec<MailFailure>,
}

/// How much mail there is, of all workspaces together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutboxDepth {
    /// Mails that are to be sent now.
    pub due: u64,
    /// Mails that a worker has leased.
    pub leased: u64,
    /// Mails that wait for their next try.
    pub postponed: u64,
    /// Mails that are not tried again.
    pub dead: u64,
    /// Audiences whose mails are still being written out.
    pub audiences: u64,
    /// Since when the longest waiting of the mails that are due, and of the audiences, could be sent.
    pub oldest_due: Option<Timestamp>,
}

/// A mail that was not sent at its last try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailFailure {
    /// Which.
    pub id: MessageId,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried again; never, when it is dead.
    pub next_attempt_at: Option<Timestamp>,
    /// What happened.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_mail_is_known_by_its_comment_and_its_customer() {
        let (comment, customer) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let id = MailId { comment: CommentId::new(comment), customer: CustomerId::new(customer) };
        assert_eq!(id.to_string(), format!("{comment}.{customer}"));
    }
}
