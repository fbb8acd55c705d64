//! Mail about comments: what is said to whom, and what becomes of it.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::error::StoreError;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, FeatureRequestId, WorkspaceId};
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

/// A mail that one worker has taken out to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedMail {
    /// Which.
    pub id: MailId,
    /// Until when nobody else takes it. Names the lease, too: what another worker has taken
    /// meanwhile has another end.
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

/// What a worker has leased at once, of one workspace.
#[derive(Debug, Default)]
pub struct LeasedMails {
    /// The mails, in the order in which they were due.
    pub mails: Vec<LeasedMail>,
    /// Leased rows that cannot be read.
    pub unreadable: Vec<UnreadableMail>,
    /// How many mails were deleted because their recipients no longer want them: those who have unsubscribed, and
    /// those whose vote is gone.
    pub unwanted: u64,
}

/// Mails to one customer that were too many for an hour, leased together to go out as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDigest {
    /// Which.
    pub id: DigestId,
    /// Names the lease, as that of a mail.
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

/// A digest: of the mails to a customer that were held until the end of an hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DigestId {
    /// When that hour was over.
    pub at: Timestamp,
    /// The first of its mails.
    pub first: MailId,
}

impl std::fmt::Display for DigestId {
    /// `digest.<milliseconds>.<comment>.<customer>`: the same at every try.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "digest.{}.{}", self.at.millis(), self.first)
    }
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

/// A leased row that cannot be read back into the model.
#[derive(Debug)]
pub struct UnreadableMail {
    /// Which.
    pub id: MailId,
    /// The end of its lease.
    pub leased_until: Timestamp,
    /// What is wrong with it.
    pub error: StoreError,
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

/// What becomes of a mail that was taken out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailOutcome {
    /// The server has it.
    Sent,
    /// It is tried again at this time.
    Postponed {
        /// When.
        until: Timestamp,
        /// Why.
        reason: String,
    },
    /// It is never tried again, unless an operator says so.
    Dead {
        /// Why.
        reason: String,
        /// Whether to send nothing more to its address.
        no_such_mailbox: bool,
    },
    /// It was not tried, because its recipient has got enough mail in this hour: it goes out in a digest.
    Held {
        /// When the hour is over.
        until: Timestamp,
    },
    /// It was not tried: it is as it was before it was taken out.
    Released,
}

/// What a voter no longer wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsubscription {
    /// Mail about one request.
    Request(FeatureRequestId),
    /// Any mail of the workspace, also about requests voted for later.
    Everything,
}

/// How the outgoing mail of a workspace stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailStatus {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Mails that are to be sent, now or later.
    pub waiting: u64,
    /// Audiences whose mails are still being written out.
    pub audiences: u64,
    /// When the longest waiting of them was asked for.
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
    /// Mails that a worker has taken out.
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
    pub id: MailId,
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
