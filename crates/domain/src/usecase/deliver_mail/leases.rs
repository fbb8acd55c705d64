//! Leases messages and loads their content by kind, with a fixed number of statements for each lease.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::error::StoreError;
use crate::model::email_address::EmailAddress;
use crate::model::html::CleanHtml;
use crate::model::id::{CommentId, CustomerId, WorkspaceId};
use crate::model::mail::{
    CommentedRequest, DigestEntry, DigestId, LeasedDigest, LeasedMail, LeasedTestMail, MailId, MailRecipient,
    MailSender,
};
use crate::model::message::{
    Audience, ContentError, Lease, LeasedMessage, LeasedMessages, MessageContent, MessageId, MessageOutcome, Priority,
    Recipient, UnreadableMessage,
};
use crate::model::timestamp::Timestamp;
use crate::policy::mail_limits::MAX_DIGEST_ENTRIES;
use crate::policy::subscription::is_wanted;
use crate::ports::{MailReader, OutboxQueue};

/// Maximum characters that are read of a comment in a digest. More than the digest shows, because they include markup.
const BEGINNING: u32 = 20_000;

/// A leased message with all data needed to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadedMessage {
    /// An audience whose messages are to be created.
    Audience(LeasedAudience),
    /// The notification of one comment.
    Mail(LeasedMail),
    /// A digest of several comments.
    Digest(LeasedDigest),
    /// A test mail.
    Test(LeasedTestMail),
}

/// An audience that one worker has leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedAudience {
    /// The lease.
    pub lease: Lease,
    /// The audience.
    pub audience: Audience,
    /// When its comment was posted.
    pub created_at: Timestamp,
}

impl LoadedMessage {
    /// Returns the lease of the message.
    #[must_use]
    pub fn lease(&self) -> Lease {
        match self {
            Self::Audience(audience) => audience.lease.clone(),
            Self::Mail(mail) => Lease { message: mail.id.into(), until: mail.leased_until },
            Self::Digest(digest) => Lease { message: digest.id.into(), until: digest.leased_until },
            Self::Test(test) => test.lease.clone(),
        }
    }
}

/// The result of one lease statement, by what can be done with the messages.
#[derive(Debug, Default)]
pub struct LoadedMessages {
    /// The messages to be sent, in the order in which they became due.
    pub messages: Vec<LoadedMessage>,
    /// The messages that cannot be read.
    pub unreadable: Vec<UnreadableMessage>,
    /// The messages of kinds that this version does not know, with the number of the attempt.
    pub unknown: Vec<(Lease, NonZeroU32, ContentError)>,
    /// The number of messages that their recipients no longer want. They are already settled.
    pub unwanted: usize,
}

impl LoadedMessages {
    /// Returns the number of leased messages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.messages.len() + self.unreadable.len() + self.unknown.len() + self.unwanted
    }

    /// Whether no message was leased.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Leases messages and loads their content.
#[derive(Clone)]
pub struct Leases {
    queue: Arc<dyn OutboxQueue>,
    reader: Arc<dyn MailReader>,
    digest_entries: usize,
}

impl Leases {
    /// Leases messages of `queue`, with the content from `reader`.
    #[must_use]
    pub fn new(queue: Arc<dyn OutboxQueue>, reader: Arc<dyn MailReader>) -> Self {
        Self { queue, reader, digest_entries: MAX_DIGEST_ENTRIES as usize }
    }

    /// Sets the number of comments that a digest shows.
    #[must_use]
    pub fn with_digest_entries(self, digest_entries: usize) -> Self {
        Self { digest_entries, ..self }
    }

    /// Leases at most `limit` messages and deletes those that are no longer wanted. `hour` is the start of the hour
    /// that [`LeasedMail::recent_count`] counts.
    ///
    /// # Errors
    /// Errors of the store. Messages leased before the error are returned.
    pub async fn lease(
        &self,
        workspace: WorkspaceId,
        priority: Priority,
        (now, until): (Timestamp, Timestamp),
        limit: u32,
        hour: Timestamp,
    ) -> Result<LoadedMessages, StoreError> {
        let LeasedMessages { messages, unreadable } = self.queue.lease(workspace, priority, now, until, limit).await?;
        let leases: Vec<Lease> = messages.iter().map(|message| message.lease.clone()).collect();
        let batch = Batch::sort(messages, unreadable);
        match self.load(workspace, batch, hour, now).await {
            Ok((mut leased, unwanted)) => {
                leased.unwanted = unwanted.len();
                self.settle_all(workspace, &unwanted, &MessageOutcome::Unwanted, now).await?;
                Ok(leased)
            }
            Err(error) => {
                // Messages that cannot be returned now become free when their lease expires.
                let _ = self.settle_all(workspace, &leases, &MessageOutcome::Returned, now).await;
                Err(error)
            }
        }
    }

    async fn settle_all(
        &self,
        workspace: WorkspaceId,
        leases: &[Lease],
        outcome: &MessageOutcome,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let settled = leases.iter().map(|lease| self.queue.settle(workspace, lease, outcome, now));
        join_all(settled).await.into_iter().try_for_each(|settled| settled.map(|_| ()))
    }

    /// Loads the content of the messages. Also returns the leases of the messages that are no longer wanted.
    async fn load(
        &self,
        workspace: WorkspaceId,
        batch: Batch,
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<(LoadedMessages, Vec<Lease>), StoreError> {
        let Batch { found, unreadable, unknown } = batch;
        let mut leased = LoadedMessages { unreadable, unknown, ..LoadedMessages::default() };
        let mut unwanted = Vec::new();
        if !found.iter().any(|(_, content)| matches!(content, Found::Mail(_) | Found::Digest(_) | Found::Test(_))) {
            leased.messages.extend(found.into_iter().filter_map(|(message, content)| content.into_audience(message)));
            return Ok((leased, unwanted));
        }
        let missing =
            || StoreError::Inconsistent { table: "settings", column: "workspace_id", row: workspace.to_string() };
        let sender = self.reader.sender(workspace).await?.ok_or_else(missing)?;
        let mut contents = self.contents(workspace, &found, hour, now).await?;
        // The reader counts the mails of this lease as leased, but they do not count towards the limit yet.
        let mut own: HashMap<CustomerId, u32> = HashMap::new();
        for (_, content) in &found {
            if let Found::Mail(mail) = content {
                *own.entry(mail.customer).or_default() += 1;
            }
        }
        for (message, content) in found {
            let lease = message.lease.clone();
            let loaded = match content {
                Found::Audience(_) => content.into_audience(message),
                Found::Mail(mail) => {
                    let own = own.get(&mail.customer).copied().unwrap_or(0);
                    contents.mail(&message, mail, own, &sender).map(LoadedMessage::Mail)
                }
                Found::Digest(digest) => {
                    contents.digest(&message, digest, &sender, self.digest_entries).map(LoadedMessage::Digest)
                }
                Found::Test(to) => {
                    let LeasedMessage { lease, attempt, .. } = message;
                    Some(LoadedMessage::Test(LeasedTestMail { lease, attempt, to, sender: sender.clone() }))
                }
            };
            match loaded {
                Some(loaded) => leased.messages.push(loaded),
                None => unwanted.push(lease),
            }
        }
        Ok((leased, unwanted))
    }

    async fn contents(
        &self,
        workspace: WorkspaceId,
        found: &[(LeasedMessage, Found)],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Contents, StoreError> {
        let mut mails: Vec<MailId> = Vec::new();
        let (mut digests, mut digest_ids) = (HashMap::new(), Vec::new());
        for (message, content) in found {
            match content {
                Found::Mail(mail) => mails.push(*mail),
                Found::Digest(digest) => {
                    digests.insert(message.lease.message.clone(), *digest);
                    digest_ids.push(message.lease.message.clone());
                }
                Found::Audience(_) | Found::Test(_) => {}
            }
        }
        let single = mails.clone();
        let mut held: HashMap<DigestId, Vec<MailId>> = HashMap::new();
        if !digest_ids.is_empty() {
            for message in self.reader.held(workspace, &digest_ids).await? {
                let content = MessageContent::parse(&message.kind, &message.payload);
                let (Ok(MessageContent::Comment(comment)), Recipient::Customer(customer)) =
                    (content, message.recipient)
                else {
                    tracing::error!(%workspace, digest = %message.digest, "a message that is held for a digest cannot be read");
                    continue;
                };
                if let Some(digest) = digests.get(&message.digest) {
                    held.entry(*digest).or_default().push(MailId { comment, customer });
                    mails.push(MailId { comment, customer });
                }
            }
        }
        if mails.is_empty() {
            return Ok(Contents::default());
        }
        let recipients = self.reader.recipients(workspace, &mails, hour, now).await?;
        let recipients = recipients.into_iter().filter(is_wanted).map(|recipient| (recipient.mail, recipient));
        let recipients: HashMap<MailId, MailRecipient> = recipients.collect();
        for mails in held.values_mut() {
            mails.retain(|mail| recipients.contains_key(mail));
            mails.sort_unstable_by_key(|mail| mail.comment);
        }
        let wanted = single.iter().filter(|mail| recipients.contains_key(mail)).map(|mail| mail.comment);
        let whole = self.comments(workspace, wanted, u32::MAX).await?;
        let entries = held.values().flat_map(|mails| mails.iter().take(self.digest_entries));
        let beginnings = self.comments(workspace, entries.map(|mail| mail.comment), BEGINNING).await?;
        let whole = whole.into_iter().map(|comment| (comment.comment, Whole::from(comment))).collect();
        let beginnings = beginnings.into_iter().map(|comment| (comment.comment, comment)).collect();
        Ok(Contents { recipients, whole, beginnings, held })
    }

    async fn comments(
        &self,
        workspace: WorkspaceId,
        comments: impl Iterator<Item = CommentId>,
        characters: u32,
    ) -> Result<Vec<CommentedRequest>, StoreError> {
        let mut comments: Vec<CommentId> = comments.collect();
        comments.sort_unstable();
        comments.dedup();
        if comments.is_empty() { Ok(Vec::new()) } else { self.reader.comments(workspace, &comments, characters).await }
    }
}

/// The content of a leased message, with its recipient.
enum Found {
    Audience(Audience),
    Mail(MailId),
    Digest(DigestId),
    Test(EmailAddress),
}

impl Found {
    fn into_audience(self, message: LeasedMessage) -> Option<LoadedMessage> {
        let Self::Audience(audience) = self else { return None };
        let LeasedMessage { lease, created_at, .. } = message;
        Some(LoadedMessage::Audience(LeasedAudience { lease, audience, created_at }))
    }
}

/// Leased messages, sorted by whether they can be read.
struct Batch {
    found: Vec<(LeasedMessage, Found)>,
    unreadable: Vec<UnreadableMessage>,
    unknown: Vec<(Lease, NonZeroU32, ContentError)>,
}

impl Batch {
    fn sort(messages: Vec<LeasedMessage>, unreadable: Vec<UnreadableMessage>) -> Self {
        let mut batch = Self { found: Vec::new(), unreadable, unknown: Vec::new() };
        for message in messages {
            let content = MessageContent::parse(&message.kind, &message.payload);
            let is = |id: MessageId| id == message.lease.message;
            let found = match (content, &message.recipient) {
                (Ok(MessageContent::CommentAudience(audience)), Recipient::None) => Found::Audience(audience),
                (Ok(MessageContent::Comment(comment)), Recipient::Customer(customer))
                    if is(MailId { comment, customer: *customer }.into()) =>
                {
                    Found::Mail(MailId { comment, customer: *customer })
                }
                (Ok(MessageContent::CommentDigest { at }), Recipient::Customer(customer))
                    if is(DigestId { at, customer: *customer }.into()) =>
                {
                    Found::Digest(DigestId { at, customer: *customer })
                }
                (Ok(MessageContent::TestMail), Recipient::Address(to)) => Found::Test(to.clone()),
                (Err(unknown @ ContentError::UnknownKind(_)), _) => {
                    batch.unknown.push((message.lease, message.attempt, unknown));
                    continue;
                }
                (content, _) => {
                    // The content, the recipient and the identity contradict each other.
                    let column = if content.is_ok() { "id" } else { "payload" };
                    let row = message.lease.message.to_string();
                    let error = StoreError::Inconsistent { table: "outbox", column, row };
                    batch.unreadable.push(UnreadableMessage { lease: message.lease, error });
                    continue;
                }
            };
            batch.found.push((message, found));
        }
        batch
    }
}

/// A whole comment. All its mails share its content.
struct Whole {
    request: CommentedRequest,
    content: Arc<CleanHtml>,
}

impl From<CommentedRequest> for Whole {
    fn from(mut request: CommentedRequest) -> Self {
        let content = Arc::new(CleanHtml::from_stored(std::mem::take(&mut request.content)));
        Self { request, content }
    }
}

/// The content of the messages of a lease.
#[derive(Default)]
struct Contents {
    /// The recipients that still want their mail.
    recipients: HashMap<MailId, MailRecipient>,
    whole: HashMap<CommentId, Whole>,
    beginnings: HashMap<CommentId, CommentedRequest>,
    /// The wanted mails of each digest, in the order of their comments.
    held: HashMap<DigestId, Vec<MailId>>,
}

impl Contents {
    /// Returns the notification of a comment, or `None` if it is no longer wanted.
    fn mail(&self, message: &LeasedMessage, mail: MailId, own: u32, sender: &MailSender) -> Option<LeasedMail> {
        let recipient = self.recipients.get(&mail)?;
        let Whole { request, content } = self.whole.get(&mail.comment)?;
        Some(LeasedMail {
            id: mail,
            leased_until: message.lease.until,
            attempt: message.attempt,
            to: recipient.to.clone(),
            request: request.request,
            tag_number: request.tag_number,
            title: request.title.clone(),
            comment: content.clone(),
            product_name: sender.product_name.clone(),
            subdomain: sender.subdomain.clone(),
            recent_count: recipient.recent_count.saturating_sub(own),
        })
    }

    /// Returns a digest, or `None` if none of its mails is wanted any more.
    fn digest(
        &mut self,
        message: &LeasedMessage,
        digest: DigestId,
        sender: &MailSender,
        entries: usize,
    ) -> Option<LeasedDigest> {
        let mails = self.held.remove(&digest)?;
        let to = self.recipients.get(mails.first()?)?.to.clone();
        let entries = mails.iter().take(entries).filter_map(|mail| {
            let comment = self.beginnings.get(&mail.comment)?;
            Some(DigestEntry {
                tag_number: comment.tag_number,
                title: comment.title.clone(),
                beginning: comment.content.clone(),
            })
        });
        Some(LeasedDigest {
            id: digest,
            leased_until: message.lease.until,
            attempt: message.attempt,
            to,
            product_name: sender.product_name.clone(),
            subdomain: sender.subdomain.clone(),
            entries: entries.collect(),
            mails: mails.len() as u64,
        })
    }
}
