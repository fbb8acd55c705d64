//! Leases messages and loads their content by kind, with a fixed number of statements for each lease.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use futures_util::future::join_all;
use time::Duration;

use crate::error::StoreError;
use crate::model::email_address::EmailAddress;
use crate::model::feature_request::Title;
use crate::model::html::CleanHtml;
use crate::model::id::{CustomerId, FeatureRequestId, SignInId, WorkspaceId};
use crate::model::mail::{
    About, DigestEntry, DigestId, LeasedDigest, LeasedMail, LeasedSignInMail, LeasedTestMail, LeasedWebhookDisabled,
    MailId, MailRecipient, MailSender, Topic, TopicContent, WebhookDisabled,
};
use crate::model::message::{
    Audience, ContentError, Lease, LeasedMessage, LeasedMessages, MessageContent, MessageId, MessageOutcome, Priority,
    Recipient, UnreadableMessage,
};
use crate::model::sign_in::{PageAction, SignIn};
use crate::model::team_mail::{LeasedTeamDigest, TeamDigestContent, TeamDigestId};
use crate::model::timestamp::Timestamp;
use crate::policy::mail_limits::MAX_DIGEST_ENTRIES;
use crate::policy::subscription::{is_news, is_wanted};
use crate::ports::{MailReader, OutboxQueue};

/// Maximum characters that are read of a comment or changelog in a digest. More than the digest shows, because they
/// include markup.
const BEGINNING: u32 = 20_000;

/// How far the clock of the process that has published a changelog may be ahead, or was before it was set back.
const CLOCK_TOLERANCE: Duration = Duration::MINUTE;

/// A leased message with all data needed to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadedMessage {
    /// An audience whose messages are to be created.
    Audience(LeasedAudience),
    /// A notification.
    Mail(LeasedMail),
    /// A digest of several notifications.
    Digest(LeasedDigest),
    /// What customers have written, for a member of the team.
    TeamDigest(LeasedTeamDigest),
    SignIn(LeasedSignInMail),
    Test(LeasedTestMail),
    /// That the service has disabled a webhook, for an admin.
    WebhookDisabled(LeasedWebhookDisabled),
}

/// An audience that one worker has leased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedAudience {
    pub lease: Lease,
    pub audience: Audience,
    /// When it was created.
    pub created_at: Timestamp,
}

impl LoadedMessage {
    /// Returns the lease of the message.
    #[must_use]
    pub fn lease(&self) -> Lease {
        match self {
            Self::Audience(audience) => audience.lease.clone(),
            Self::Mail(mail) => mail.lease.clone(),
            Self::Digest(digest) => digest.lease.clone(),
            Self::TeamDigest(digest) => digest.lease.clone(),
            Self::SignIn(sign_in) => sign_in.lease.clone(),
            Self::Test(test) => test.lease.clone(),
            Self::WebhookDisabled(disabled) => disabled.lease.clone(),
        }
    }

    /// Returns the address that the message is for. An audience has none.
    #[must_use]
    pub fn recipient(&self) -> Option<&EmailAddress> {
        match self {
            Self::Audience(_) => None,
            Self::Mail(mail) => Some(&mail.to),
            Self::Digest(digest) => Some(&digest.to),
            Self::TeamDigest(digest) => Some(&digest.content.to),
            Self::SignIn(sign_in) => Some(&sign_in.sign_in.email),
            Self::Test(test) => Some(&test.to),
            Self::WebhookDisabled(disabled) => Some(&disabled.to),
        }
    }

    /// Returns since when the message waits to be sent.
    #[must_use]
    pub fn waiting_since(&self) -> Timestamp {
        match self {
            Self::Audience(audience) => audience.created_at,
            Self::Mail(mail) => mail.created_at,
            Self::Digest(digest) => digest.id.at,
            Self::TeamDigest(digest) => digest.created_at,
            Self::SignIn(sign_in) => sign_in.sign_in.created_at,
            Self::Test(test) => test.created_at,
            Self::WebhookDisabled(disabled) => disabled.created_at,
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

    /// Sets the number of notifications that a digest shows.
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
        let Batch { readable, unreadable, unknown } = batch;
        let mut leased = LoadedMessages { unreadable, unknown, ..LoadedMessages::default() };
        let mut unwanted = Vec::new();
        if readable.iter().all(|(_, content)| matches!(content, AddressedContent::Audience(_))) {
            leased
                .messages
                .extend(readable.into_iter().filter_map(|(message, content)| content.into_audience(message)));
            return Ok((leased, unwanted));
        }
        let missing =
            || StoreError::Inconsistent { table: "settings", column: "workspace_id", row: workspace.to_string() };
        let sender = Arc::new(self.reader.sender(workspace).await?.ok_or_else(missing)?);
        let mut contents = self.contents(workspace, &readable, hour, now).await?;
        // The reader counts the mails of this lease as leased, but they do not count towards the limit yet.
        let mut own: HashMap<CustomerId, u32> = HashMap::new();
        for (_, content) in &readable {
            if let AddressedContent::Mail(mail) = content {
                *own.entry(mail.customer).or_default() += 1;
            }
        }
        for (message, content) in readable {
            let lease = message.lease.clone();
            let loaded = match content {
                AddressedContent::Audience(_) => content.into_audience(message),
                AddressedContent::Mail(mail) => {
                    let own = own.get(&mail.customer).copied().unwrap_or(0);
                    contents.mail(&message, mail, own, &sender).map(LoadedMessage::Mail)
                }
                AddressedContent::Digest(digest) => {
                    contents.digest(&message, digest, &sender, self.digest_entries).map(LoadedMessage::Digest)
                }
                AddressedContent::TeamDigest(id, to) => {
                    // To the address that has the choice of the link, not to one that the member had before.
                    let content = self.team_digest(workspace, &id).await?.filter(|content| content.to == to);
                    content.map(|content| {
                        let LeasedMessage { lease, attempt, created_at, .. } = message;
                        let sender = sender.clone();
                        LoadedMessage::TeamDigest(LeasedTeamDigest { id, lease, attempt, created_at, content, sender })
                    })
                }
                AddressedContent::SignIn(id, to) => {
                    let LeasedMessage { lease, attempt, .. } = message;
                    let open = contents.sign_ins.remove(&id).filter(|open| open.email == to && open.is_open_at(now));
                    open.map(|sign_in| {
                        let request = sign_in.action.as_ref().and_then(PageAction::request);
                        let title = request.and_then(|request| contents.titles.get(&request).cloned());
                        let sender = sender.clone();
                        LoadedMessage::SignIn(LeasedSignInMail { lease, attempt, sign_in, title, sender })
                    })
                }
                AddressedContent::Test(to) => {
                    let LeasedMessage { lease, attempt, created_at, .. } = message;
                    Some(LoadedMessage::Test(LeasedTestMail { lease, attempt, created_at, to, sender: sender.clone() }))
                }
                AddressedContent::WebhookDisabled(content, to) => {
                    let LeasedMessage { lease, attempt, created_at, .. } = message;
                    let sender = sender.clone();
                    let disabled = LeasedWebhookDisabled { lease, attempt, created_at, to, content, sender };
                    Some(LoadedMessage::WebhookDisabled(disabled))
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
        readable: &[(LeasedMessage, AddressedContent)],
        hour: Timestamp,
        now: Timestamp,
    ) -> Result<Contents, StoreError> {
        let mut mails: Vec<MailId> = Vec::new();
        let mut sign_ins: Vec<SignInId> = Vec::new();
        let (mut digests, mut digest_ids) = (HashMap::new(), Vec::new());
        for (message, content) in readable {
            match content {
                AddressedContent::Mail(mail) => mails.push(*mail),
                AddressedContent::Digest(digest) => {
                    digests.insert(message.lease.message.clone(), *digest);
                    digest_ids.push(message.lease.message.clone());
                }
                AddressedContent::SignIn(sign_in, _) => sign_ins.push(*sign_in),
                AddressedContent::Audience(_)
                | AddressedContent::TeamDigest(..)
                | AddressedContent::Test(_)
                | AddressedContent::WebhookDisabled(..) => {}
            }
        }
        let (sign_ins, titles) = self.sign_ins(workspace, &sign_ins).await?;
        let single = mails.clone();
        let mut held: HashMap<DigestId, Vec<MailId>> = HashMap::new();
        if !digest_ids.is_empty() {
            for message in self.reader.held(workspace, &digest_ids).await? {
                let content = MessageContent::parse(&message.kind, &message.payload);
                let (Ok(MessageContent::Notification(topic)), Recipient::Customer(customer)) =
                    (content, message.recipient)
                else {
                    tracing::error!(%workspace, digest = %message.digest, "a message that is held for a digest cannot be read");
                    continue;
                };
                if let Some(digest) = digests.get(&message.digest) {
                    held.entry(*digest).or_default().push(MailId { topic, customer });
                    mails.push(MailId { topic, customer });
                }
            }
        }
        if mails.is_empty() {
            return Ok(Contents { sign_ins, titles, ..Contents::default() });
        }
        let recipients = self.reader.recipients(workspace, &mails, hour, now).await?;
        let recipients = recipients.into_iter().filter(is_wanted).map(|recipient| (recipient.mail, recipient));
        let recipients: HashMap<MailId, MailRecipient> = recipients.collect();
        for mails in held.values_mut() {
            mails.retain(|mail| recipients.contains_key(mail));
            mails.sort_unstable_by_key(|mail| mail.topic);
        }
        let whole_topics = single.iter().filter(|mail| recipients.contains_key(mail)).map(|mail| mail.topic);
        let public_at = now.plus(CLOCK_TOLERANCE);
        let whole = self.topics(workspace, whole_topics, u32::MAX, public_at).await?;
        let entries = held.values().flat_map(|mails| mails.iter().take(self.digest_entries));
        let beginnings = self.topics(workspace, entries.map(|mail| mail.topic), BEGINNING, public_at).await?;
        let whole = whole.into_iter().map(|content| (content.topic, Whole::from(content))).collect();
        let beginnings = beginnings.into_iter().map(|content| (content.topic, content)).collect();
        Ok(Contents { recipients, whole, beginnings, held, sign_ins, titles })
    }

    /// Loads what a mail to a member is about. `None` if the member does not want it any more, or all of it was deleted.
    async fn team_digest(
        &self,
        workspace: WorkspaceId,
        id: &TeamDigestId,
    ) -> Result<Option<TeamDigestContent>, StoreError> {
        let content = self.reader.team_digest(workspace, id, TeamDigestContent::MAX_SHOWN, BEGINNING).await?;
        Ok(content.filter(|content| !content.is_empty()))
    }

    /// Loads sign-ins, and the titles of the feature requests that their actions are about.
    async fn sign_ins(
        &self,
        workspace: WorkspaceId,
        ids: &[SignInId],
    ) -> Result<(HashMap<SignInId, SignIn>, HashMap<FeatureRequestId, Title>), StoreError> {
        if ids.is_empty() {
            return Ok(Default::default());
        }
        let sign_ins = self.reader.sign_ins(workspace, ids).await?;
        let requests: Vec<FeatureRequestId> =
            sign_ins.iter().filter_map(|sign_in| sign_in.action.as_ref()?.request()).collect();
        let titles = match requests.is_empty() {
            true => Vec::new(),
            false => self.reader.public_titles(workspace, &requests).await?,
        };
        let sign_ins = sign_ins.into_iter().map(|sign_in| (sign_in.id, sign_in)).collect();
        Ok((sign_ins, titles.into_iter().collect()))
    }

    async fn topics(
        &self,
        workspace: WorkspaceId,
        topics: impl Iterator<Item = Topic>,
        characters: u32,
        public_at: Timestamp,
    ) -> Result<Vec<TopicContent>, StoreError> {
        let mut topics: Vec<Topic> = topics.collect();
        topics.sort_unstable();
        topics.dedup();
        if topics.is_empty() {
            return Ok(Vec::new());
        }
        self.reader.topics(workspace, &topics, characters, public_at).await
    }
}

/// The content of a leased message, with its recipient.
enum AddressedContent {
    Audience(Audience),
    Mail(MailId),
    Digest(DigestId),
    TeamDigest(TeamDigestId, EmailAddress),
    SignIn(SignInId, EmailAddress),
    Test(EmailAddress),
    WebhookDisabled(WebhookDisabled, EmailAddress),
}

impl AddressedContent {
    fn into_audience(self, message: LeasedMessage) -> Option<LoadedMessage> {
        let Self::Audience(audience) = self else { return None };
        let LeasedMessage { lease, created_at, .. } = message;
        Some(LoadedMessage::Audience(LeasedAudience { lease, audience, created_at }))
    }
}

/// Leased messages, sorted by whether they can be read.
struct Batch {
    readable: Vec<(LeasedMessage, AddressedContent)>,
    unreadable: Vec<UnreadableMessage>,
    unknown: Vec<(Lease, NonZeroU32, ContentError)>,
}

impl Batch {
    fn sort(messages: Vec<LeasedMessage>, unreadable: Vec<UnreadableMessage>) -> Self {
        let mut batch = Self { readable: Vec::new(), unreadable, unknown: Vec::new() };
        for message in messages {
            let content = MessageContent::parse(&message.kind, &message.payload);
            let is = |id: MessageId| id == message.lease.message;
            let addressed = match (content, &message.recipient) {
                (Ok(MessageContent::Audience(audience)), Recipient::None) => AddressedContent::Audience(audience),
                (Ok(MessageContent::Notification(topic)), Recipient::Customer(customer))
                    if is(MailId { topic, customer: *customer }.into()) =>
                {
                    AddressedContent::Mail(MailId { topic, customer: *customer })
                }
                (Ok(MessageContent::CommentDigest { at }), Recipient::Customer(customer))
                    if is(DigestId { at, customer: *customer }.into()) =>
                {
                    AddressedContent::Digest(DigestId { at, customer: *customer })
                }
                (Ok(MessageContent::TeamDigest(id)), Recipient::Address(to)) if is(id.into()) => {
                    AddressedContent::TeamDigest(id, to.clone())
                }
                (Ok(MessageContent::SignIn(sign_in)), Recipient::Address(to)) if is(MessageId::sign_in(sign_in)) => {
                    AddressedContent::SignIn(sign_in, to.clone())
                }
                (Ok(MessageContent::TestMail), Recipient::Address(to)) => AddressedContent::Test(to.clone()),
                (Ok(MessageContent::WebhookDisabled(disabled)), Recipient::Address(to)) => {
                    AddressedContent::WebhookDisabled(disabled, to.clone())
                }
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
            batch.readable.push((message, addressed));
        }
        batch
    }
}

/// A whole comment or changelog, or a change of the status. All its mails share its content.
struct Whole {
    about: About,
    content: Arc<CleanHtml>,
}

impl From<TopicContent> for Whole {
    fn from(TopicContent { about, content, .. }: TopicContent) -> Self {
        Self { about, content: Arc::new(CleanHtml::from_stored(content)) }
    }
}

/// The content of the messages of a lease.
#[derive(Default)]
struct Contents {
    /// The recipients that still want their mail.
    recipients: HashMap<MailId, MailRecipient>,
    whole: HashMap<Topic, Whole>,
    beginnings: HashMap<Topic, TopicContent>,
    /// The wanted mails of each digest, in the order of their topics.
    held: HashMap<DigestId, Vec<MailId>>,
    sign_ins: HashMap<SignInId, SignIn>,
    /// The titles of public feature requests that actions of the sign-ins are about.
    titles: HashMap<FeatureRequestId, Title>,
}

impl Contents {
    /// Returns a notification, or `None` if it is no longer wanted.
    fn mail(&self, message: &LeasedMessage, mail: MailId, own: u32, sender: &Arc<MailSender>) -> Option<LeasedMail> {
        let recipient = self.recipients.get(&mail)?;
        let Whole { about, content } = self.whole.get(&mail.topic)?;
        Some(LeasedMail {
            id: mail,
            lease: message.lease.clone(),
            attempt: message.attempt,
            created_at: message.created_at,
            to: recipient.to.clone(),
            language: sender.portal.settings.language_for(recipient.language),
            about: about.clone(),
            stops: about.unsubscription(is_news(recipient)),
            content: content.clone(),
            sender: sender.clone(),
            recent_count: recipient.recent_count.saturating_sub(own),
        })
    }

    /// Returns a digest, or `None` if none of its mails is wanted any more.
    fn digest(
        &mut self,
        message: &LeasedMessage,
        digest: DigestId,
        sender: &Arc<MailSender>,
        entries: usize,
    ) -> Option<LeasedDigest> {
        let mails = self.held.remove(&digest)?;
        let recipient = self.recipients.get(mails.first()?)?;
        let listed = mails.iter().take(entries);
        let entries: Vec<DigestEntry> = listed
            .clone()
            .filter_map(|mail| self.beginnings.get(&mail.topic))
            .map(|topic| DigestEntry { about: topic.about.clone(), beginning: topic.content.clone() })
            .collect();
        let deleted = listed.len() - entries.len();
        if deleted == mails.len() {
            return None;
        }
        Some(LeasedDigest {
            id: digest,
            lease: message.lease.clone(),
            attempt: message.attempt,
            to: recipient.to.clone(),
            language: sender.portal.settings.language_for(recipient.language),
            sender: sender.clone(),
            entries,
            mails: (mails.len() - deleted) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::comment::PublicAuthor;
    use crate::model::feature_request::RequestLink;
    use crate::model::id::{ChangelogId, CommentId, EventId};
    use crate::model::mail::HeldMessage;
    use crate::ports::mocks::{MockMailReader, MockOutboxQueue};
    use crate::usecase::fixtures::{mail_sender, name, now, workspace};
    use pollster::block_on;
    use uuid::Uuid;

    fn customer() -> CustomerId {
        CustomerId::new(Uuid::from_u128(9))
    }

    fn topics() -> [Topic; 3] {
        let uuid = Uuid::from_u128;
        [
            Topic::Comment(CommentId::new(uuid(3))),
            Topic::StatusChange(EventId::new(uuid(2))),
            Topic::Changelog(ChangelogId::new(uuid(1))),
        ]
    }

    fn message(content: MessageContent, id: impl Into<MessageId>, recipient: Recipient) -> LeasedMessage {
        LeasedMessage {
            lease: Lease { message: id.into(), until: now(), request_id: None },
            attempt: NonZeroU32::MIN,
            kind: content.kind().to_owned(),
            payload: content.payload(),
            recipient,
            created_at: now(),
        }
    }

    fn notification(topic: Topic) -> LeasedMessage {
        let id = MailId { topic, customer: customer() };
        message(MessageContent::Notification(topic), id, Recipient::Customer(customer()))
    }

    /// A queue with these messages, of which these are expected to be unwanted.
    fn queue(messages: Vec<LeasedMessage>, unwanted: &[MessageId]) -> MockOutboxQueue {
        let mut queue = MockOutboxQueue::new();
        queue.expect_lease().return_once(move |_, _, _, _, _| Ok(LeasedMessages { messages, unreadable: Vec::new() }));
        let expected = unwanted.to_vec();
        queue
            .expect_settle()
            .withf(move |_, lease, outcome, _| {
                expected.contains(&lease.message) && *outcome == MessageOutcome::Unwanted
            })
            .times(unwanted.len())
            .returning(|_, _, _, _| Ok(true));
        queue
    }

    /// A reader with a sender and wanted mails, in which all topics but `deleted` exist.
    fn reader(deleted: Option<Topic>) -> MockMailReader {
        let mut reader = MockMailReader::new();
        reader.expect_sender().returning(|_| Ok(Some(mail_sender("acme"))));
        reader.expect_recipients().returning(|_, mails, _, _| {
            let recipient = |mail: &MailId| MailRecipient {
                mail: *mail,
                to: EmailAddress::parse("email", "ann@example.com").unwrap(),
                language: None,
                is_stopped: false,
                is_subscribed: Some(true),
                wants_news: false,
                recent_count: u32::try_from(mails.len()).unwrap() + 1,
            };
            Ok(mails.iter().map(recipient).collect())
        });
        reader.expect_topics().times(1).returning(move |_, topics, _, public_at| {
            assert_eq!(public_at, now().plus(Duration::MINUTE));
            let topics = topics.iter().filter(|topic| Some(**topic) != deleted);
            Ok(topics.map(|topic| content(*topic)).collect())
        });
        reader
    }

    fn content(topic: Topic) -> TopicContent {
        let title = Title::from_stored("Dark mode".to_owned());
        let id = FeatureRequestId::new(Uuid::from_u128(7));
        let request = RequestLink { id, tag_number: 7, title: title.clone() };
        let (about, content) = match topic {
            Topic::Comment(_) => (About::Comment(request, PublicAuthor::Member(Some(name("Ines")))), "<p>Soon</p>"),
            Topic::StatusChange(_) | Topic::Merge(_) => {
                (About::StatusChange { request, status: Some(name("Planned")), author: None }, "")
            }
            Topic::Changelog(id) => (About::Changelog { id, title, cover: None }, "<p>Done</p>"),
        };
        TopicContent { topic, about, content: content.to_owned() }
    }

    fn lease(queue: MockOutboxQueue, reader: MockMailReader) -> LoadedMessages {
        let leases = Leases::new(Arc::new(queue), Arc::new(reader));
        block_on(leases.lease(workspace(), Priority::Bulk, (now(), now()), 40, now())).unwrap()
    }

    #[test]
    fn notifications_of_all_kinds_are_loaded_together() {
        let messages = topics().map(notification).to_vec();
        let loaded = lease(queue(messages, &[]), reader(None));
        let mails = loaded.messages.iter().map(|message| match message {
            LoadedMessage::Mail(mail) => mail,
            other => panic!("{other:?}"),
        });
        for (mail, topic) in mails.zip(topics()) {
            let expected = content(topic);
            assert_eq!((mail.id, &mail.about), (MailId { topic, customer: customer() }, &expected.about));
            assert_eq!((mail.content.as_str(), mail.recent_count), (expected.content.as_str(), 1));
        }
        assert_eq!((loaded.messages.len(), loaded.len()), (3, 3));
    }

    #[test]
    fn a_notification_of_a_deleted_record_is_unwanted() {
        for deleted in topics() {
            let unwanted = MessageId::from(MailId { topic: deleted, customer: customer() });
            let messages = topics().map(notification).to_vec();
            let loaded = lease(queue(messages, std::slice::from_ref(&unwanted)), reader(Some(deleted)));
            assert_eq!((loaded.messages.len(), loaded.unwanted), (2, 1));
            assert!(loaded.messages.iter().all(|message| message.lease().message != unwanted));
        }
    }

    /// A digest, and the reader with the notifications that are held for it, the last topic first.
    fn digest_of(topics: Vec<Topic>, deleted: Option<Topic>) -> (LeasedMessage, MockMailReader) {
        let id = DigestId { at: now(), customer: customer() };
        let mut reader = reader(deleted);
        reader.expect_held().times(1).returning(move |_, _| {
            let held = topics.iter().rev().map(|topic| {
                let content = MessageContent::Notification(*topic);
                HeldMessage {
                    digest: id.into(),
                    kind: content.kind().to_owned(),
                    payload: content.payload(),
                    recipient: Recipient::Customer(customer()),
                }
            });
            Ok(held.collect())
        });
        let content = MessageContent::CommentDigest { at: id.at };
        (message(content, id, Recipient::Customer(customer())), reader)
    }

    fn entry(topic: Topic) -> DigestEntry {
        let TopicContent { about, content, .. } = content(topic);
        DigestEntry { about, beginning: content }
    }

    #[test]
    fn a_digest_is_in_the_order_of_its_topics() {
        let (message, reader) = digest_of(topics().to_vec(), None);
        let loaded = lease(queue(vec![message], &[]), reader);
        let [LoadedMessage::Digest(digest)] = loaded.messages.as_slice() else { panic!("{loaded:?}") };
        assert_eq!((digest.entries.as_slice(), digest.mails), (&topics().map(entry)[..], 3));
    }

    #[test]
    fn a_digest_leaves_deleted_records_out() {
        let [comment, status_change, changelog] = topics();
        let (message, reader) = digest_of(topics().to_vec(), Some(changelog));
        let loaded = lease(queue(vec![message], &[]), reader);
        let [LoadedMessage::Digest(digest)] = loaded.messages.as_slice() else { panic!("{loaded:?}") };
        assert_eq!((digest.entries.as_slice(), digest.mails), (&[comment, status_change].map(entry)[..], 2));
        let (message, reader) = digest_of(vec![changelog], Some(changelog));
        let unwanted = [message.lease.message.clone()];
        let loaded = lease(queue(vec![message], &unwanted), reader);
        assert_eq!((loaded.messages.len(), loaded.unwanted), (0, 1));
    }

    #[test]
    fn a_message_about_another_topic_than_its_identity_is_unreadable() {
        let [comment, status_change, changelog] = topics();
        let mut messages = topics().map(notification).to_vec();
        for (message, other) in messages.iter_mut().zip([changelog, comment, status_change]) {
            let content = MessageContent::Notification(other);
            message.kind = content.kind().to_owned();
            message.payload = content.payload();
        }
        let loaded = lease(queue(messages, &[]), MockMailReader::new());
        assert_eq!((loaded.unreadable.len(), loaded.len()), (3, 3));
        for unreadable in &loaded.unreadable {
            assert!(matches!(unreadable.error, StoreError::Inconsistent { table: "outbox", column: "id", .. }));
        }
    }
}
