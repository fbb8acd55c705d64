//! The mail worker: sends the messages of the outbox.

mod leases;
mod schedule;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{Either, join_all, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use time::Duration;
use tracing::{Instrument, Span};

use crate::error::{ErrorChain, RoadmapError};
use crate::model::base_url::BaseUrl;
use crate::model::id::{CustomerId, WorkspaceId};
use crate::model::mail::{
    About, Brand, DigestEntry, DigestId, DigestNotification, DigestNotificationEntry, LeasedDigest, LeasedMail,
    LeasedSignInMail, LeasedTestMail, LeasedWebhookDisabled, MailSender, NO_MAILBOX, News, Notification, SendError,
    SignInMail, TestMail, Unsubscription, WebhookDisabled, WebhookDisabledMail, mail_author, mail_name, mail_response,
    mail_title,
};
use crate::model::message::{Lease, MessageId, MessageOutcome, Priority, UnreadableMessage};
use crate::model::portal::Portal;
use crate::model::sign_in::PendingAction;
use crate::model::team_mail::{LeasedTeamDigest, TeamDigestEntry, TeamDigestNotification, TeamPost};
use crate::model::timestamp::Timestamp;
use crate::policy::links::Links;
use crate::policy::mail_limits::{end_of_hour, start_of_hour};
use crate::policy::mail_retry;
use crate::policy::signed_reference::ReferenceSigner;
use crate::ports::{Clock, MailReader, Mailer, OutboxQueue};
use crate::trace::TRACE_TARGET;
use crate::usecase::batches;
use crate::usecase::query::portal::image_path;

pub use leases::{LeasedAudience, Leases, LoadedMessage, LoadedMessages};
use schedule::{MAX_CONCURRENT_SENDS, Schedules};

/// Maximum messages created by one expansion of a large audience.
const AUDIENCE: u32 = 500;

/// The duration of a lease, as a multiple of the time that one mail may take. Mails are only started in the first half
/// of the lease, so that no other worker leases a mail that is being sent: half of a lease is enough to wait for a
/// connection and to send the mail.
const LEASE: i32 = 4;

/// How long sent messages are kept.
const RETENTION: Duration = Duration::days(30);

/// Returns whether the worker is to stop.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// A task that runs concurrently with the worker's other tasks.
type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// The result of a task.
enum Done {
    /// The workspaces with due messages.
    Found(Vec<(WorkspaceId, Priority)>),
    /// Leased messages of a workspace. The flag is whether there may be more.
    Leased(Priority, WorkspaceId, VecDeque<LoadedMessage>, bool),
    /// A message of the workspace is settled, sent or not.
    Sent(Priority, WorkspaceId),
    /// More messages of an audience of the workspace were created.
    Expanded(Priority, WorkspaceId),
    /// A message was returned.
    Returned,
}

fn record(schedules: &mut Schedules<LoadedMessage>, done: Done) {
    match done {
        Done::Leased(priority, workspace, messages, has_more) => {
            schedules.schedule(priority).leased(workspace, messages, has_more);
        }
        Done::Sent(priority, workspace) => schedules.schedule(priority).sent(workspace),
        Done::Expanded(priority, workspace) => {
            schedules.schedule(priority).messages_created(workspace);
            schedules.schedule(priority).sent(workspace);
        }
        Done::Found(_) | Done::Returned => {}
    }
}

/// The use case that sends the messages of the outbox.
#[derive(Clone)]
pub struct DeliverMail {
    queue: Arc<dyn OutboxQueue>,
    leases: Leases,
    mailer: Arc<dyn Mailer>,
    clock: Arc<dyn Clock>,
    references: Arc<ReferenceSigner>,
    base_url: BaseUrl,
    longest: Duration,
    per_address: Option<u32>,
    concurrent_sends: usize,
}

impl DeliverMail {
    /// Creates the use case: messages from `queue`, their content from `reader`, sent with `mailer`, which waits at most
    /// `longest` for a connection, and takes at most `longest` for one mail.
    #[must_use]
    pub fn new(
        queue: Arc<dyn OutboxQueue>,
        reader: Arc<dyn MailReader>,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
        references: Arc<ReferenceSigner>,
        base_url: BaseUrl,
        longest: Duration,
    ) -> Self {
        let leases = Leases::new(queue.clone(), reader);
        Self {
            queue,
            leases,
            mailer,
            clock,
            references,
            base_url,
            longest,
            per_address: None,
            concurrent_sends: MAX_CONCURRENT_SENDS,
        }
    }

    /// Limits the single mails to one customer in an hour. Further mails go out as one digest at the end of the hour.
    #[must_use]
    pub fn with_limit(self, per_address: Option<u32>) -> Self {
        Self { per_address, ..self }
    }

    /// Sets the maximum number of concurrent sends: the connections that the mailer may have.
    #[must_use]
    pub fn with_concurrent_sends(self, concurrent_sends: usize) -> Self {
        Self { concurrent_sends, ..self }
    }

    /// Sends messages until `stop` returns true. Then it starts no more, waits for those being sent, and returns the
    /// other leased messages.
    ///
    /// Looks for due messages whenever the future of `pause` completes. That future must complete at once when `stop`
    /// becomes true.
    ///
    /// An error of one message or workspace is logged and does not delay any other. A message that could not be settled
    /// is sent again when its lease expires.
    pub async fn run<P: Future<Output = ()> + Send>(&self, stop: Stop<'_>, pause: impl Fn() -> P) {
        let mut schedules: Schedules<LoadedMessage> = Schedules::new(self.concurrent_sends);
        let mut under_way: FuturesUnordered<Work<'_>> = FuturesUnordered::new();
        under_way.push(Box::pin(self.find_due_workspaces()));
        // `None` while the worker looks for messages.
        let mut pausing: Option<Pin<Box<P>>> = None;
        while !stop() {
            while let Some((priority, workspace, limit)) = schedules.next_lease() {
                under_way.push(Box::pin(self.lease(priority, workspace, limit)));
            }
            while let Some((priority, workspace, message)) = schedules.next_message() {
                let lease = message.lease();
                let sent = self.send_and_settle(priority, workspace, message, stop);
                let traced = sent.instrument(trace_span(workspace, &lease));
                under_way.push(Box::pin(traced.instrument(log_span(workspace, &lease))));
            }
            let done = match pausing.as_mut() {
                None => under_way.next().await,
                Some(over) if under_way.is_empty() => {
                    over.await;
                    None
                }
                Some(over) => match select(over, under_way.next()).await {
                    Either::Left(_) => None,
                    Either::Right((done, _)) => done,
                },
            };
            match done {
                Some(Done::Found(workspaces)) => {
                    for priority in Priority::ALL {
                        let workspaces =
                            workspaces.iter().filter(|(_, of)| *of == priority).map(|(workspace, _)| *workspace);
                        schedules.schedule(priority).add(workspaces.collect());
                    }
                    pausing = Some(Box::pin(pause()));
                }
                Some(done) => record(&mut schedules, done),
                None => {
                    pausing = None;
                    under_way.push(Box::pin(self.find_due_workspaces()));
                }
            }
        }
        loop {
            for (workspace, message) in schedules.take_unsent() {
                let span = log_span(workspace, &message.lease());
                under_way.push(Box::pin(self.return_message(workspace, message).instrument(span)));
            }
            let Some(done) = under_way.next().await else { break };
            record(&mut schedules, done);
        }
    }

    async fn find_due_workspaces(&self) -> Done {
        Done::Found(self.queue.due_workspaces(self.clock.now()).await.unwrap_or_else(|error| {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to look for messages");
            Vec::new()
        }))
    }

    /// Leases messages of a workspace.
    async fn lease(&self, priority: Priority, workspace: WorkspaceId, limit: usize) -> Done {
        let now = self.clock.now();
        let count = u32::try_from(limit).unwrap_or(u32::MAX);
        let until = now.plus(self.longest * LEASE);
        let leased = match self.leases.lease(workspace, priority, (now, until), count, start_of_hour(now)).await {
            Ok(leased) => leased,
            Err(error) => {
                tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to lease messages");
                return Done::Leased(priority, workspace, VecDeque::new(), false);
            }
        };
        if leased.unwanted > 0 {
            tracing::debug!(%workspace, messages = leased.unwanted, "deleted messages that are no longer wanted");
        }
        let has_more = leased.unwanted > 0 || leased.len() >= limit;
        for unreadable in &leased.unreadable {
            let span = log_span(workspace, &unreadable.lease);
            self.give_up_unreadable(workspace, unreadable).instrument(span).await;
        }
        for (lease, attempt, error) in &leased.unknown {
            // A newer version may be able to send it.
            let failed = Err(SendError::Transient { reason: error.to_string() });
            let span = log_span(workspace, lease);
            let outcome = span.in_scope(|| self.outcome(&lease.message, *attempt, now, failed));
            self.settle(workspace, lease, &outcome).instrument(span).await;
        }
        let messages = self.hold(workspace, leased.messages, now).await;
        Done::Leased(priority, workspace, messages, has_more)
    }

    /// Holds the mails to recipients that have reached the hourly limit. Returns the other messages.
    async fn hold(
        &self,
        workspace: WorkspaceId,
        messages: Vec<LoadedMessage>,
        now: Timestamp,
    ) -> VecDeque<LoadedMessage> {
        let mut counts: BTreeMap<CustomerId, u32> = BTreeMap::new();
        let (sendable, held): (Vec<LoadedMessage>, Vec<LoadedMessage>) = messages.into_iter().partition(|message| {
            let LoadedMessage::Mail(mail) = message else { return true };
            let count = counts.entry(mail.id.customer).or_insert(mail.recent_count);
            let fits = self.per_address.is_none_or(|limit| *count < limit);
            *count = count.saturating_add(u32::from(fits));
            fits
        });
        let held = held.iter().filter_map(|message| match message {
            LoadedMessage::Mail(mail) => Some((message.lease(), mail.id.customer)),
            LoadedMessage::Audience(_)
            | LoadedMessage::Digest(_)
            | LoadedMessage::TeamDigest(_)
            | LoadedMessage::SignIn(_)
            | LoadedMessage::Test(_)
            | LoadedMessage::WebhookDisabled(_) => None,
        });
        join_all(held.map(|(lease, customer)| async move {
            let outcome = MessageOutcome::Held { digest: DigestId { at: end_of_hour(now), customer } };
            self.settle(workspace, &lease, &outcome).instrument(log_span(workspace, &lease)).await;
        }))
        .await;
        sendable.into()
    }

    /// Gives up an unreadable row, because another attempt cannot read it either.
    async fn give_up_unreadable(&self, workspace: WorkspaceId, unreadable: &UnreadableMessage) {
        let chain = ErrorChain::new(&unreadable.error).to_string();
        tracing::error!(error = chain, "a message is dead: its row cannot be read");
        let reason = format!("the row cannot be read: {chain}");
        self.settle(workspace, &unreadable.lease, &MessageOutcome::Dead { reason, no_such_mailbox: false }).await;
    }

    async fn send_and_settle(
        &self,
        priority: Priority,
        workspace: WorkspaceId,
        message: LoadedMessage,
        stop: Stop<'_>,
    ) -> Done {
        let lease = message.lease();
        if self.is_too_late(lease.until, stop) {
            self.settle(workspace, &lease, &MessageOutcome::Returned).await;
            return Done::Sent(priority, workspace);
        }
        if message.recipient().is_some_and(|to| !to.folded().has_mailbox()) {
            let reason = NO_MAILBOX.to_owned();
            self.settle(workspace, &lease, &MessageOutcome::Dead { reason, no_such_mailbox: true }).await;
            return Done::Sent(priority, workspace);
        }
        let (attempt, sent) = match &message {
            LoadedMessage::Audience(audience) => return self.expand(priority, workspace, audience).await,
            LoadedMessage::Mail(mail) => (mail.attempt, self.mailer.send(&self.notification(workspace, mail)).await),
            LoadedMessage::Digest(digest) => {
                (digest.attempt, self.mailer.send_digest(&self.digest(workspace, digest)).await)
            }
            LoadedMessage::TeamDigest(digest) => {
                (digest.attempt, self.mailer.send_team_digest(&self.team_digest(workspace, digest)).await)
            }
            LoadedMessage::SignIn(leased) => {
                (leased.attempt, self.mailer.send_sign_in(&self.sign_in_mail(workspace, leased)).await)
            }
            LoadedMessage::Test(test) => (test.attempt, self.mailer.send_test(&self.test_mail(workspace, test)).await),
            LoadedMessage::WebhookDisabled(leased) => {
                (leased.attempt, self.mailer.send_webhook_disabled(&self.webhook_disabled(workspace, leased)).await)
            }
        };
        let outcome = self.outcome(&lease.message, attempt, message.waiting_since(), sent);
        self.settle(workspace, &lease, &outcome).await;
        Done::Sent(priority, workspace)
    }

    /// Creates more messages of an audience and settles the audience.
    async fn expand(&self, priority: Priority, workspace: WorkspaceId, leased: &LeasedAudience) -> Done {
        let LeasedAudience { lease, audience, created_at } = leased;
        let now = self.clock.now();
        match self.queue.expand(workspace, lease, audience, *created_at, AUDIENCE, now).await {
            Ok(Some(_)) => Done::Expanded(priority, workspace),
            Ok(None) => {
                tracing::warn!("the lease of an audience had expired");
                Done::Sent(priority, workspace)
            }
            Err(error) => {
                let error = ErrorChain::new(&error);
                tracing::warn!(%error, "failed to create the messages of an audience");
                Done::Sent(priority, workspace)
            }
        }
    }

    async fn return_message(&self, workspace: WorkspaceId, message: LoadedMessage) -> Done {
        self.settle(workspace, &message.lease(), &MessageOutcome::Returned).await;
        Done::Returned
    }

    async fn settle(&self, workspace: WorkspaceId, lease: &Lease, outcome: &MessageOutcome) {
        match self.queue.settle(workspace, lease, outcome, self.clock.now()).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::warn!("a message is no longer leased: its lease expired or it was deleted");
            }
            Err(error) => {
                tracing::warn!(error = %ErrorChain::new(&error), "failed to settle a message");
            }
        }
    }

    /// Whether the lease is too short to start a send: another worker could lease the message meanwhile.
    fn is_too_late(&self, leased_until: Timestamp, stop: Stop<'_>) -> bool {
        stop() || self.clock.now().plus(self.longest * (LEASE / 2)) > leased_until
    }

    fn outcome(
        &self,
        message: &MessageId,
        attempt: NonZeroU32,
        waiting_since: Timestamp,
        sent: Result<String, SendError>,
    ) -> MessageOutcome {
        let send_error = match sent {
            Ok(response) => {
                tracing::info!(attempt, "a mail was sent");
                return MessageOutcome::Sent { response };
            }
            Err(send_error) => send_error,
        };
        let outcome = mail_retry::outcome_after_failure(message, attempt, waiting_since, send_error, self.clock.now());
        match &outcome {
            MessageOutcome::Dead { reason, .. } => tracing::warn!(attempt, reason, "a message is dead"),
            MessageOutcome::Postponed { until, reason } => {
                tracing::info!(attempt, %until, reason, "a message is retried later");
            }
            MessageOutcome::Deferred { until, reason } => {
                tracing::info!(%until, reason, "a message waits for a connection to the mail server");
            }
            MessageOutcome::Sent { .. }
            | MessageOutcome::Held { .. }
            | MessageOutcome::Returned
            | MessageOutcome::Unwanted => {}
        }
        outcome
    }

    fn digest(&self, workspace: WorkspaceId, digest: &LeasedDigest) -> DigestNotification {
        let links = self.links(workspace, &digest.sender);
        let entry = |entry: &DigestEntry| DigestNotificationEntry {
            news: news(&links, &entry.about),
            title: entry.about.title().clone(),
            url: url(&links, &entry.about),
            beginning: entry.beginning.clone(),
        };
        DigestNotification {
            id: digest.id,
            to: digest.to.clone(),
            language: digest.language,
            brand: brand(&links, &digest.sender),
            entries: digest.entries.iter().map(entry).collect(),
            more: digest.mails.saturating_sub(digest.entries.len() as u64),
            unsubscribe_url: links.unsubscribe(digest.id.customer, Unsubscription::Everything),
        }
    }

    fn team_digest(&self, workspace: WorkspaceId, digest: &LeasedTeamDigest) -> TeamDigestNotification {
        let LeasedTeamDigest { id, content, sender, .. } = digest;
        let links = self.links(workspace, sender);
        let entry = |post: &TeamPost| TeamDigestEntry {
            title: post.request.title.clone(),
            url: links.admin_request(&post.request.slug()),
            author: post.author.as_ref().map(mail_author),
            is_awaiting: post.is_awaiting,
            beginning: post.beginning.clone(),
        };
        TeamDigestNotification {
            id: *id,
            to: content.to.clone(),
            language: sender.portal.settings.language_for(content.language),
            brand: brand(&links, sender),
            requests: content.requests.iter().map(entry).collect(),
            requests_count: content.requests_count,
            replies: content.replies.iter().map(entry).collect(),
            replies_count: content.replies_count,
            inbox_url: links.page("/admin"),
            account_url: links.page("/account#mail"),
            unsubscribe_url: links.stop_team_mail(id.member),
        }
    }

    fn notification(&self, workspace: WorkspaceId, mail: &LeasedMail) -> Notification {
        let links = self.links(workspace, &mail.sender);
        Notification {
            id: mail.id,
            to: mail.to.clone(),
            language: mail.language,
            brand: brand(&links, &mail.sender),
            news: news(&links, &mail.about),
            title: mail.about.title().clone(),
            url: url(&links, &mail.about),
            content: mail.content.clone(),
            stops: mail.stops,
            unsubscribe_url: links.unsubscribe(mail.id.customer, mail.stops),
            stop_all_url: links.unsubscribe(mail.id.customer, Unsubscription::Everything),
        }
    }

    fn sign_in_mail(&self, workspace: WorkspaceId, leased: &LeasedSignInMail) -> SignInMail {
        let LeasedSignInMail { lease, sign_in, title, sender, .. } = leased;
        let links = self.links(workspace, sender);
        let action = sign_in.action.clone();
        SignInMail {
            id: lease.message.clone(),
            to: sign_in.email.clone(),
            brand: brand(&links, sender),
            language: sign_in.language,
            url: links.sign_in(sign_in.id, sign_in.expires_at()),
            action: action.map(|action| PendingAction { action, title: title.as_ref().map(mail_title) }),
            code: links.sign_in_code(sign_in.id),
            ask_url: links.page("/sign-in"),
            is_invitation: sign_in.browser.is_none(),
            browser: sign_in.browser_name.clone(),
            asked_at: sign_in.created_at,
        }
    }

    fn test_mail(&self, workspace: WorkspaceId, test: &LeasedTestMail) -> TestMail {
        TestMail {
            id: test.lease.message.clone(),
            to: test.to.clone(),
            language: test.sender.portal.settings.default_language(),
            brand: brand(&self.links(workspace, &test.sender), &test.sender),
        }
    }

    fn webhook_disabled(&self, workspace: WorkspaceId, leased: &LeasedWebhookDisabled) -> WebhookDisabledMail {
        let LeasedWebhookDisabled { lease, to, content, sender, .. } = leased;
        let WebhookDisabled { webhook, host, because, failing_since, status, error, response } = content;
        let links = self.links(workspace, sender);
        WebhookDisabledMail {
            id: lease.message.clone(),
            to: to.clone(),
            language: sender.portal.settings.default_language(),
            brand: brand(&links, sender),
            host: if host.is_empty() { webhook.to_string() } else { host.clone() },
            because: *because,
            failing_since: *failing_since,
            status: *status,
            error: *error,
            response: response.as_deref().and_then(mail_response),
            url: links.admin_webhook(*webhook),
        }
    }

    fn links(&self, workspace: WorkspaceId, sender: &MailSender) -> Links {
        Links::new(&self.base_url, &sender.subdomain, workspace, self.references.clone())
    }

    /// Deletes messages that were sent before the retention time, in batches. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. Batches deleted before the error stay deleted.
    pub async fn purge_sent(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-RETENTION);
        Ok(batches::delete_in_batches(|limit| self.queue.purge_sent(before, limit)).await?)
    }
}

/// Opens the span of a message that all its lines in the log have. As the span of a request, it is at level ERROR, so that
/// the lines have it at any configured level.
fn log_span(workspace: WorkspaceId, lease: &Lease) -> Span {
    let (mail, request_id) = (&lease.message, lease.request_id.as_deref());
    tracing::error_span!("mail", request_id = request_id.map(tracing::field::display), %workspace, %mail)
}

/// Opens the span of a message in traces.
fn trace_span(workspace: WorkspaceId, lease: &Lease) -> Span {
    let (mail, request_id) = (&lease.message, lease.request_id.as_deref());
    tracing::info_span!(target: TRACE_TARGET, "mail", request_id, %workspace, %mail)
}

/// Returns how the mail of a workspace looks, and whom it is from. Everybody sees a logo, also that of a private portal.
fn brand(links: &Links, sender: &MailSender) -> Brand {
    let MailSender { name, portal: Portal { setting, settings, logo }, .. } = sender;
    Brand {
        product_name: mail_name(&setting.product_name),
        sender_name: name.clone(),
        reply_to: settings.reply_to.clone(),
        accent: settings.accent,
        logo: logo.as_ref().map(|logo| links.page(&image_path(logo))),
        portal_url: links.page("/"),
    }
}

/// Returns what a notification tells its recipient. The link to a cover works for everybody who gets the mail, also while
/// the portal is private.
fn news(links: &Links, about: &About) -> News {
    match about {
        About::Comment(_, author) => News::Comment(mail_author(author)),
        About::StatusChange { status, author, .. } => {
            News::StatusChange { status: status.as_ref().map(mail_name), author: author.as_ref().map(mail_author) }
        }
        About::Merge { source, .. } => News::Merge { source: source.clone() },
        About::Changelog { cover, .. } => {
            News::Changelog { cover: cover.as_ref().map(|cover| links.blob(cover.attachment, &cover.filename)) }
        }
    }
}

/// Returns the URL of the feature request or changelog.
fn url(links: &Links, about: &About) -> String {
    match about {
        About::Comment(request, _) | About::StatusChange { request, .. } | About::Merge { request, .. } => {
            links.request(&request.slug())
        }
        About::Changelog { id, .. } => links.changelog(&id.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::comment::PublicAuthor;
    use crate::model::email_address::EmailAddress;
    use crate::model::feature_request::{RequestLink, Title};
    use crate::model::id::{ChangelogId, CommentId, EventId, FeatureRequestId, MemberId, SignInId, WebhookId};
    use crate::model::mail::{HeldMessage, MailId, MailRecipient, Topic, TopicContent};
    use crate::model::message::{Audience, LeasedMessage, LeasedMessages, MessageContent, Recipient};
    use crate::model::portal::Language;
    use crate::model::session::SecretDigest;
    use crate::model::sign_in::SignIn;
    use crate::model::team_mail::{TeamDigestContent, TeamDigestId};
    use crate::model::webhook::{AttemptError, DisabledBecause};
    use crate::policy::signed_reference::{Purpose, Secret};
    use crate::ports::mocks::{MockMailReader, MockMailer, MockOutboxQueue};
    use crate::usecase::fixtures::{FixedClock, mail_sender, name, now, workspace};
    use pollster::block_on;
    use std::future::poll_fn;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
    use std::task::Poll;
    use uuid::Uuid;

    const LONGEST: Duration = Duration::seconds(30);

    fn until() -> Timestamp {
        now().plus(LONGEST * 4)
    }

    fn customer(number: u128) -> CustomerId {
        CustomerId::new(Uuid::from_u128(number))
    }

    /// The comment with this number.
    fn comment(number: u128) -> Topic {
        Topic::Comment(CommentId::new(Uuid::from_u128(number)))
    }

    /// The change of the status with this number.
    fn status_change(number: u128) -> Topic {
        Topic::StatusChange(EventId::new(Uuid::from_u128(number)))
    }

    /// The changelog with this number.
    fn changelog(number: u128) -> Topic {
        Topic::Changelog(ChangelogId::new(Uuid::from_u128(number)))
    }

    /// The number of a topic's record.
    fn record_number(topic: Topic) -> u128 {
        let uuid = match topic {
            Topic::Comment(comment) => comment.uuid(),
            Topic::StatusChange(event) | Topic::Merge(event) => event.uuid(),
            Topic::Changelog(changelog) => changelog.uuid(),
        };
        uuid.as_u128()
    }

    /// The notification of the customer with this number.
    fn mail_id(number: u128) -> MailId {
        MailId { topic: comment(0xc0), customer: customer(number) }
    }

    fn message(content: MessageContent, id: impl Into<MessageId>, recipient: Recipient) -> LeasedMessage {
        LeasedMessage {
            lease: Lease { message: id.into(), until: until(), request_id: None },
            attempt: NonZeroU32::MIN,
            kind: content.kind().to_owned(),
            payload: content.payload(),
            recipient,
            created_at: now(),
        }
    }

    fn mail(id: MailId) -> LeasedMessage {
        message(MessageContent::Notification(id.topic), id, Recipient::Customer(id.customer))
    }

    /// The leased notifications of the customers with these numbers.
    fn mails(numbers: impl IntoIterator<Item = u128>) -> LeasedMessages {
        let messages = numbers.into_iter().map(|number| mail(mail_id(number))).collect();
        LeasedMessages { messages, unreadable: Vec::new() }
    }

    fn audience() -> Audience {
        Audience { topic: comment(0xc0), after: customer(0) }
    }

    fn leased_audience() -> LeasedMessage {
        let id = MessageId::audience(audience().topic);
        message(MessageContent::Audience(audience()), id, Recipient::None)
    }

    fn test_mail(number: u128) -> LeasedMessage {
        let to = EmailAddress::parse("to", &format!("ops{number}@acme.example")).unwrap();
        message(MessageContent::TestMail, MessageId::test_mail(Uuid::from_u128(number)), Recipient::Address(to))
    }

    /// The number of the message's customer.
    fn number(message: &MessageId) -> u128 {
        Uuid::parse_str(message.as_str().rsplit_once('.').unwrap().1).unwrap().as_u128()
    }

    fn unreadable(number: u128) -> UnreadableMessage {
        let error = StoreError::Inconsistent { table: "outbox", column: "attempts", row: number.to_string() };
        UnreadableMessage { lease: Lease { message: mail_id(number).into(), until: until(), request_id: None }, error }
    }

    fn recipient(mail: MailId, recent_count: u32) -> MailRecipient {
        let number = mail.customer.uuid().as_u128();
        MailRecipient {
            mail,
            to: EmailAddress::parse("email", &format!("v{number}@example.com")).unwrap(),
            language: None,
            is_stopped: false,
            is_subscribed: Some(true),
            wants_news: false,
            recent_count,
        }
    }

    fn ines() -> PublicAuthor {
        PublicAuthor::Member(Some(name("Ines")))
    }

    fn status_news(status: Option<&str>) -> News {
        News::StatusChange { status: status.map(name), author: None }
    }

    fn request() -> RequestLink {
        let title = Title::from_stored("Dark mode".to_owned());
        RequestLink { id: FeatureRequestId::new(Uuid::from_u128(0x7)), tag_number: 7, title }
    }

    /// The content of a topic. The status changes to none if its number is even.
    fn content(topic: Topic) -> TopicContent {
        let (about, content) = match topic {
            Topic::Comment(_) => (About::Comment(request(), ines()), "<p>Soon</p>"),
            Topic::StatusChange(_) | Topic::Merge(_) => {
                let status = (record_number(topic) % 2 == 1).then(|| name("Planned"));
                (About::StatusChange { request: request(), status, author: None }, "")
            }
            Topic::Changelog(id) => {
                let title = Title::from_stored("Dark mode is here".to_owned());
                (About::Changelog { id, title, cover: None }, "<p>Done</p>")
            }
        };
        TopicContent { topic, about, content: content.to_owned() }
    }

    fn with_sender(reader: &mut MockMailReader) {
        reader.expect_sender().returning(|of| {
            let subdomain = if of == workspace() { "acme".to_owned() } else { format!("w{}", of.uuid().as_u128()) };
            Ok(Some(mail_sender(&subdomain)))
        });
    }

    /// A reader in which all mails are wanted, with these counts of recent mails of their recipients.
    fn reader_with(recent_count: impl Fn(MailId) -> u32 + Send + Sync + 'static) -> MockMailReader {
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        reader.expect_recipients().returning(move |_, mails, _, _| {
            let own = |mail: &MailId| mails.iter().filter(|other| other.customer == mail.customer).count();
            Ok(mails
                .iter()
                .map(|mail| recipient(*mail, recent_count(*mail) + u32::try_from(own(mail)).unwrap()))
                .collect())
        });
        reader.expect_topics().returning(|_, topics, _, _| Ok(topics.iter().map(|topic| content(*topic)).collect()));
        reader
    }

    fn reader() -> MockMailReader {
        reader_with(|_| 0)
    }

    /// A queue with these messages in one workspace.
    fn queue(messages: LeasedMessages) -> MockOutboxQueue {
        let mut queue = MockOutboxQueue::new();
        queue.expect_due_workspaces().returning(|_| Ok(vec![(workspace(), Priority::Bulk)]));
        queue
            .expect_lease()
            .withf(|of, priority, at, end, limit| {
                (*of, *priority, *at, *end, *limit) == (workspace(), Priority::Bulk, now(), until(), 40)
            })
            .times(1)
            .return_once(move |_, _, _, _, _| Ok(messages));
        queue
    }

    /// Records all settled messages: their numbers and outcomes.
    fn settled(queue: &mut MockOutboxQueue) -> Arc<Mutex<Vec<(u128, MessageOutcome)>>> {
        let settled = Arc::new(Mutex::new(Vec::new()));
        let seen = settled.clone();
        queue.expect_settle().returning(move |of, lease, outcome, at| {
            assert_eq!((of, lease.until, at), (workspace(), until(), now()));
            seen.lock().unwrap().push((number(&lease.message), outcome.clone()));
            Ok(true)
        });
        settled
    }

    fn sent() -> MessageOutcome {
        MessageOutcome::Sent { response: "250 OK".to_owned() }
    }

    fn ok() -> Result<String, SendError> {
        Ok("250 OK".to_owned())
    }

    fn deliver(queue: MockOutboxQueue, reader: MockMailReader, mailer: MockMailer) -> DeliverMail {
        with_clock(queue, reader, Arc::new(mailer), Arc::new(FixedClock))
    }

    fn with_clock(
        queue: MockOutboxQueue,
        reader: MockMailReader,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
    ) -> DeliverMail {
        let secret = Secret::parse("secret", &"s".repeat(32)).unwrap();
        let references = Arc::new(ReferenceSigner::new(secret, Vec::new()));
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
        DeliverMail::new(Arc::new(queue), Arc::new(reader), mailer, clock, references, base_url, LONGEST)
    }

    /// Lets all other tasks make progress.
    async fn yield_often() {
        yield_times(10_000).await;
    }

    async fn yield_times(mut left: u32) {
        poll_fn(|context| {
            if left == 0 {
                return Poll::Ready(());
            }
            left -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Looks for messages once and sends them.
    fn run_once(deliver: &DeliverMail) {
        let stop = AtomicBool::new(false);
        block_on(deliver.run(&|| stop.load(Ordering::SeqCst), || async {
            yield_often().await;
            stop.store(true, Ordering::SeqCst);
        }));
    }

    /// Contract 4.8.
    #[test]
    fn each_mail_is_sent_and_settled_under_its_lease() {
        let mut queue = queue(mails([1, 2]));
        let settled = settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(2).returning(|notification| {
            let bad = notification.id.customer == customer(2);
            if bad { Err(SendError::Permanent { reason: "550".to_owned(), no_such_mailbox: true }) } else { ok() }
        });
        run_once(&deliver(queue, reader(), mailer));
        let dead = MessageOutcome::Dead { reason: "550".to_owned(), no_such_mailbox: true };
        assert_eq!(*settled.lock().unwrap(), [(1, sent()), (2, dead)]);
    }

    #[test]
    fn no_mail_goes_to_an_address_without_a_mailbox() {
        let to = |address: &str| EmailAddress::parse("to", address).unwrap();
        let test = |number: u128, address: &str| {
            let id = MessageId::test_mail(Uuid::from_u128(number));
            message(MessageContent::TestMail, id, Recipient::Address(to(address)))
        };
        let messages = vec![test(1, "7@imported.INVALID"), test(2, "7@invalid.example"), mail(mail_id(3))];
        let mut queue = queue(LeasedMessages { messages, unreadable: Vec::new() });
        let settled = settled(&mut queue);
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        reader.expect_recipients().returning(move |_, mails, _, _| {
            Ok(mails.iter().map(|mail| MailRecipient { to: to("3@a.b.invalid"), ..recipient(*mail, 1) }).collect())
        });
        reader.expect_topics().returning(|_, topics, _, _| Ok(topics.iter().map(|topic| content(*topic)).collect()));
        let mut mailer = MockMailer::new();
        mailer
            .expect_send_test()
            .withf(move |mail| mail.to.as_str() == "7@invalid.example")
            .times(1)
            .returning(|_| ok());
        run_once(&deliver(queue, reader, mailer));
        let dead = || MessageOutcome::Dead { reason: "no_mailbox".to_owned(), no_such_mailbox: true };
        let mut settled = settled.lock().unwrap().clone();
        settled.sort_by_key(|(number, _)| *number);
        assert_eq!(settled, [(1, dead()), (2, sent()), (3, dead())]);
    }

    #[test]
    fn links_in_mails_have_the_configured_base_url() {
        let mut queue = queue(mails([1]));
        settled(&mut queue);
        let seen: Arc<Mutex<Option<Notification>>> = Arc::default();
        let seeing = seen.clone();
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(1).returning(move |notification| {
            *seeing.lock().unwrap() = Some(notification.clone());
            ok()
        });
        let deliver = deliver(queue, reader(), mailer);
        run_once(&deliver);
        let notification = seen.lock().unwrap().clone().unwrap();
        let url = &notification.unsubscribe_url;
        assert_eq!(notification.url, "https://acme.roadmap.example.com/feature_requests/7-dark-mode");
        assert_eq!((notification.to.as_str(), notification.content.as_str()), ("v1@example.com", "<p>Soon</p>"));
        let token = url.strip_prefix("https://acme.roadmap.example.com/unsubscribe/").unwrap();
        let (token, request) = token.split_once("?request=").unwrap();
        assert_eq!(request, Uuid::from_u128(0x7).to_string());
        let customer = deliver.references.verify(Purpose::Unsubscribe, workspace(), token, now());
        assert_eq!(customer, Some(notification.id.customer.uuid()));
    }

    #[test]
    fn each_kind_of_news_links_to_its_record() {
        const BASE: &str = "https://acme.roadmap.example.com";
        let about_request = |news, content| (news, "Dark mode", "/feature_requests/7-dark-mode".to_owned(), content);
        for (topic, (expected, title, path, content), names_request) in [
            (comment(1), about_request(News::Comment(ines()), "<p>Soon</p>"), true),
            (status_change(1), about_request(status_news(Some("Planned")), ""), true),
            (status_change(2), about_request(status_news(None), ""), true),
            (
                changelog(1),
                (
                    News::Changelog { cover: None },
                    "Dark mode is here",
                    format!("/changelogs/{}", Uuid::from_u128(1)),
                    "<p>Done</p>",
                ),
                false,
            ),
        ] {
            let id = MailId { topic, customer: customer(1) };
            let mut queue = queue(LeasedMessages { messages: vec![mail(id)], unreadable: Vec::new() });
            let settled = settled(&mut queue);
            let mut mailer = MockMailer::new();
            mailer
                .expect_send()
                .withf(move |notification| {
                    let Notification { news, url, unsubscribe_url, .. } = notification;
                    (notification.id, news, url) == (id, &expected, &format!("{BASE}{path}"))
                        && (notification.title.as_str(), notification.content.as_str()) == (title, content)
                        && unsubscribe_url.starts_with(&format!("{BASE}/unsubscribe/"))
                        && unsubscribe_url.contains("?request=") == names_request
                })
                .times(1)
                .returning(|_| ok());
            run_once(&deliver(queue, reader(), mailer));
            assert_eq!(*settled.lock().unwrap(), [(1, sent())]);
        }
    }

    /// Addition 5.
    #[test]
    fn audiences_of_all_topics_are_expanded() {
        for topic in [comment(1), status_change(1), changelog(1)] {
            let audience = Audience { topic, after: customer(3) };
            let leased = message(MessageContent::Audience(audience), MessageId::audience(topic), Recipient::None);
            let mut queue = queue(LeasedMessages { messages: vec![leased], unreadable: Vec::new() });
            queue
                .expect_expand()
                .withf(move |_, lease, content, _, _, _| {
                    (&lease.message, content) == (&MessageId::audience(topic), &audience)
                })
                .times(1)
                .returning(|_, _, _, _, _, _| Ok(None));
            run_once(&deliver(queue, MockMailReader::new(), MockMailer::new()));
        }
    }

    /// Decision 6.
    #[test]
    fn no_send_starts_late_in_a_lease() {
        let late = now().plus(LONGEST * 2 - Duration::MILLISECOND);
        let mut leased = mails([1]);
        leased.messages.push(leased_audience());
        for message in &mut leased.messages {
            message.lease.until = late;
        }
        let mut queue = queue(leased);
        let settled = Arc::new(Mutex::new(Vec::new()));
        let seen = settled.clone();
        queue.expect_settle().returning(move |_, lease, outcome, _| {
            seen.lock().unwrap().push((lease.message.clone(), outcome.clone()));
            Ok(true)
        });
        // `MockMailer` expects no mail, and `MockOutboxQueue` no expansion.
        run_once(&deliver(queue, reader(), MockMailer::new()));
        let returned = [mail_id(1).into(), MessageId::audience(comment(0xc0))];
        assert_eq!(*settled.lock().unwrap(), returned.map(|message| (message, MessageOutcome::Returned)));
    }

    /// Decision 6.
    #[test]
    fn after_a_stop_no_send_starts_and_leased_messages_are_returned() {
        let mut queue = queue(mails(1..=20));
        let settled = settled(&mut queue);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut mailer = MockMailer::new();
        // The stop comes while the first mail is being sent.
        mailer.expect_send().times(1).returning(move |_| {
            stopped.store(true, Ordering::SeqCst);
            ok()
        });
        block_on(deliver(queue, reader(), mailer).run(&|| stop.load(Ordering::SeqCst), std::future::pending::<()>));
        let mut settled = settled.lock().unwrap().clone();
        settled.sort_by_key(|(number, _)| *number);
        let expected = (1..=20).map(|number| (number, if number == 1 { sent() } else { MessageOutcome::Returned }));
        assert_eq!(settled, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_failed_settlement_delays_no_other_mail() {
        let mut queue = queue(mails(1..=20));
        queue.expect_settle().times(20).returning(|_, lease, _, _| {
            if number(&lease.message) == 3 { Err(StoreError::Unavailable("gone".into())) } else { Ok(true) }
        });
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(20).returning(|_| ok());
        run_once(&deliver(queue, reader(), mailer));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_dead_and_the_others_are_sent() {
        let mut leased = mails([1, 3, 4, 5]);
        // The payload of another kind, and a payload that contradicts the row's identity.
        leased.messages[2].payload = "{}".to_owned();
        leased.messages[3].payload = MessageContent::Notification(comment(0xc1)).payload();
        leased.unreadable.push(unreadable(2));
        let mut queue = queue(leased);
        let settled = settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(2).returning(|_| ok());
        run_once(&deliver(queue, reader(), mailer));
        let dead = |column: &str, row: &str| {
            let reason = format!("the row cannot be read: stored data is inconsistent: outbox.{column} of row {row}");
            MessageOutcome::Dead { reason, no_such_mailbox: false }
        };
        let expected = [
            (2, dead("attempts", "2")),
            (4, dead("payload", &mail_id(4).to_string())),
            (5, dead("id", &mail_id(5).to_string())),
            (1, sent()),
            (3, sent()),
        ];
        assert_eq!(*settled.lock().unwrap(), expected);
    }

    #[test]
    fn messages_of_unknown_kinds_are_postponed() {
        let mut leased = mails([1, 2]);
        leased.messages[1].kind = "webhook".to_owned();
        let mut queue = queue(leased);
        let settled = settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(1).returning(|_| ok());
        run_once(&deliver(queue, reader(), mailer));
        let settled = settled.lock().unwrap();
        let [(2, MessageOutcome::Postponed { until, reason }), (1, first)] = settled.as_slice() else {
            panic!("{settled:?}")
        };
        assert!(*until > now() && reason.contains("`webhook`"), "{reason}");
        assert_eq!(*first, sent());
    }

    #[test]
    fn unwanted_mails_are_deleted() {
        let mut queue = queue(mails(1..=5));
        let settled = settled(&mut queue);
        // The second lease is empty.
        queue.expect_lease().times(1).returning(|_, _, _, _, _| Ok(LeasedMessages::default()));
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        // The comment or the customer of the fifth message has been deleted.
        reader.expect_recipients().returning(|_, mails, hour, at| {
            assert_eq!((mails.len(), hour, at), (5, start_of_hour(now()), now()));
            let mut recipients: Vec<MailRecipient> = mails[..4].iter().map(|mail| recipient(*mail, 1)).collect();
            recipients[1].is_stopped = true;
            recipients[2].is_subscribed = None;
            recipients[3].is_subscribed = Some(false);
            Ok(recipients)
        });
        reader.expect_topics().times(1).returning(|_, topics, characters, _| {
            assert_eq!((topics, characters), (&[comment(0xc0)][..], u32::MAX));
            Ok(vec![content(topics[0])])
        });
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(1).returning(|_| ok());
        run_once(&deliver(queue, reader, mailer));
        let expected = (2..=5).map(|number| (number, MessageOutcome::Unwanted)).chain([(1, sent())]);
        assert_eq!(*settled.lock().unwrap(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn messages_whose_contents_cannot_be_loaded_are_returned() {
        for has_sender in [false, true] {
            let mut queue = queue(mails([1, 2]));
            let settled = settled(&mut queue);
            let mut reader = MockMailReader::new();
            if has_sender {
                with_sender(&mut reader);
            } else {
                reader.expect_sender().returning(|_| Ok(None));
            }
            reader.expect_recipients().returning(|_, _, _, _| Err(StoreError::Unavailable("gone".into())));
            run_once(&deliver(queue, reader, MockMailer::new()));
            assert_eq!(*settled.lock().unwrap(), [1, 2].map(|number| (number, MessageOutcome::Returned)));
        }
    }

    #[test]
    fn mails_over_the_hourly_limit_are_held_until_the_end_of_the_hour() {
        let of = |of: u128, about: u128| MailId { topic: comment(about), customer: customer(of) };
        // The first has two of three mails already, the second none.
        let leased = [of(1, 1), of(2, 1), of(1, 2), of(2, 2), of(1, 3)];
        let recent_count = |mail: MailId| if mail.customer == customer(1) { 2 } else { 0 };
        for (limit, sent) in
            [(Some(3), vec![(1, 1), (2, 1), (2, 2)]), (Some(0), vec![]), (None, (0..5).map(|_| (0, 0)).collect())]
        {
            let messages = leased.iter().map(|id| mail(*id)).collect();
            let mut queue = queue(LeasedMessages { messages, unreadable: Vec::new() });
            let held: Arc<Mutex<u32>> = Arc::default();
            let holding = held.clone();
            queue.expect_settle().returning(move |_, lease, outcome, _| {
                match outcome {
                    MessageOutcome::Sent { .. } => {}
                    MessageOutcome::Held { digest } => {
                        let expected = DigestId { at: end_of_hour(now()), customer: customer(number(&lease.message)) };
                        assert_eq!(*digest, expected);
                        *holding.lock().unwrap() += 1;
                    }
                    other => panic!("{other:?}"),
                }
                Ok(true)
            });
            let seen: Arc<Mutex<Vec<(u128, u128)>>> = Arc::default();
            let seeing = seen.clone();
            let mut mailer = MockMailer::new();
            mailer.expect_send().returning(move |notification| {
                let MailId { topic, customer } = notification.id;
                seeing.lock().unwrap().push((customer.uuid().as_u128(), record_number(topic)));
                ok()
            });
            run_once(&deliver(queue, reader_with(recent_count), mailer).with_limit(limit));
            let mut seen = seen.lock().unwrap().clone();
            seen.sort_unstable();
            assert_eq!((seen.len(), *held.lock().unwrap() as usize), (sent.len(), 5 - sent.len()));
            assert!(limit.is_none() || seen == sent, "{seen:?}");
        }
    }

    /// A digest for customer 1 with `held` held comments, and a reader of it.
    fn digest(held: u128, is_wanted: fn(u128) -> bool) -> (LeasedMessage, DigestId, MockMailReader) {
        digest_of((1..=held).rev().map(comment).collect(), is_wanted)
    }

    /// A digest for customer 1 with notifications about these topics, and a reader of it.
    fn digest_of(held: Vec<Topic>, is_wanted: fn(u128) -> bool) -> (LeasedMessage, DigestId, MockMailReader) {
        let id = DigestId { at: start_of_hour(now()), customer: customer(1) };
        let digest = MessageContent::CommentDigest { at: id.at };
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        reader.expect_held().times(1).returning(move |_, digests| {
            assert_eq!(digests, [MessageId::from(id)]);
            let held = held.iter().map(|topic| {
                let content = MessageContent::Notification(*topic);
                HeldMessage {
                    digest: id.into(),
                    kind: content.kind().to_owned(),
                    payload: content.payload(),
                    recipient: Recipient::Customer(customer(1)),
                }
            });
            let broken = HeldMessage {
                digest: id.into(),
                kind: "comment".to_owned(),
                payload: "{}".to_owned(),
                recipient: Recipient::Customer(customer(1)),
            };
            Ok(held.chain([broken]).collect())
        });
        reader.expect_recipients().times(1).returning(move |_, mails, _, _| {
            let recipient = |mail: &MailId| MailRecipient {
                is_subscribed: Some(is_wanted(record_number(mail.topic))),
                ..recipient(*mail, 0)
            };
            Ok(mails.iter().map(recipient).collect())
        });
        reader.expect_topics().returning(|_, topics, characters, _| {
            assert_eq!(characters, 20_000);
            Ok(topics.iter().map(|topic| content(*topic)).collect())
        });
        (message(digest, id, Recipient::Customer(customer(1))), id, reader)
    }

    #[test]
    fn a_digest_is_sent_and_settled_like_a_mail() {
        let send_error = || Err(SendError::Permanent { reason: "550".to_owned(), no_such_mailbox: false });
        for sends in [ok(), send_error()] {
            let expected = match &sends {
                Ok(_) => sent(),
                Err(_) => MessageOutcome::Dead { reason: "550".to_owned(), no_such_mailbox: false },
            };
            // Five comments are no longer wanted.
            let (leased, id, reader) = digest(65, |number| number > 5);
            let mut queue = queue(LeasedMessages { messages: vec![leased], unreadable: Vec::new() });
            queue
                .expect_settle()
                .withf(move |of, lease, outcome, at| {
                    let expected_lease = Lease { message: id.into(), until: until(), request_id: None };
                    (*of, *at) == (workspace(), now()) && *lease == expected_lease && *outcome == expected
                })
                .times(1)
                .returning(|_, _, _, _| Ok(true));
            let mut mailer = MockMailer::new();
            mailer
                .expect_send_digest()
                .withf(move |digest| {
                    let base = "https://acme.roadmap.example.com";
                    let url = format!("{base}/feature_requests/7-dark-mode");
                    digest.entries.iter().all(|entry| entry.url == url && entry.beginning == "<p>Soon</p>")
                        && (digest.id, digest.entries.len(), digest.more) == (id, 50, 10)
                        && digest.to.as_str() == "v1@example.com"
                        && digest.unsubscribe_url.starts_with(&format!("{base}/unsubscribe/"))
                        && !digest.unsubscribe_url.contains('?')
                })
                .times(1)
                .return_once(move |_| sends);
            run_once(&deliver(queue, reader, mailer));
        }
    }

    /// Addition 5.
    #[test]
    fn a_digest_holds_notifications_of_all_kinds() {
        let held = vec![changelog(1), status_change(2), comment(3), status_change(1)];
        let (leased, _, reader) = digest_of(held, |_| true);
        let mut queue = queue(LeasedMessages { messages: vec![leased], unreadable: Vec::new() });
        settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer
            .expect_send_digest()
            .withf(|digest| {
                let entries = digest.entries.iter();
                let entries: Vec<(&News, &str, &str)> = entries
                    .map(|entry| (&entry.news, entry.url.rsplit_once('/').unwrap().1, entry.beginning.as_str()))
                    .collect();
                let changelog = Uuid::from_u128(1).to_string();
                entries
                    == [
                        (&News::Comment(ines()), "7-dark-mode", "<p>Soon</p>"),
                        (&status_news(Some("Planned")), "7-dark-mode", ""),
                        (&status_news(None), "7-dark-mode", ""),
                        (&News::Changelog { cover: None }, &changelog, "<p>Done</p>"),
                    ]
                    && digest.more == 0
            })
            .times(1)
            .returning(|_| ok());
        run_once(&deliver(queue, reader, mailer));
    }

    #[test]
    fn a_digest_without_wanted_mails_is_deleted() {
        let (leased, id, reader) = digest(3, |_| false);
        let mut queue = queue(LeasedMessages { messages: vec![leased], unreadable: Vec::new() });
        queue.expect_lease().times(1).returning(|_, _, _, _, _| Ok(LeasedMessages::default()));
        queue
            .expect_settle()
            .withf(move |_, lease, outcome, _| {
                lease.message == MessageId::from(id) && *outcome == MessageOutcome::Unwanted
            })
            .times(1)
            .returning(|_, _, _, _| Ok(true));
        run_once(&deliver(queue, reader, MockMailer::new()));
    }

    #[test]
    fn a_test_mail_is_sent_to_its_address() {
        let mut queue = MockOutboxQueue::new();
        queue.expect_due_workspaces().returning(|_| Ok(vec![(workspace(), Priority::Urgent)]));
        queue
            .expect_lease()
            .withf(|_, priority, _, _, _| *priority == Priority::Urgent)
            .return_once(|_, _, _, _, _| Ok(LeasedMessages { messages: vec![test_mail(7)], unreadable: Vec::new() }));
        let settled = settled(&mut queue);
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        let mut mailer = MockMailer::new();
        mailer
            .expect_send_test()
            .withf(|mail| {
                (mail.to.as_str(), mail.brand.product_name.as_str()) == ("ops7@acme.example", "Acme")
                    && mail.brand.portal_url == "https://acme.roadmap.example.com/"
                    && mail.id == MessageId::test_mail(Uuid::from_u128(7))
            })
            .times(1)
            .returning(|_| ok());
        run_once(&deliver(queue, reader, mailer));
        assert_eq!(*settled.lock().unwrap(), [(7, sent())]);
    }

    #[test]
    fn an_admin_is_told_of_a_disabled_webhook() {
        let webhook = WebhookId::new(Uuid::from_u128(0x3eb));
        let told = |host: &str| WebhookDisabled {
            webhook,
            host: host.to_owned(),
            because: DisabledBecause::Failing,
            failing_since: Some(now().plus(-Duration::days(5))),
            status: Some(500),
            error: Some(AttemptError::Status),
            response: Some("Oops\u{fffd}https://phish.example".to_owned()),
        };
        // The URL of the second cannot be read.
        let messages = [(1, "hooks.example.com"), (2, "")].map(|(number, host)| {
            let id = MessageId::webhook_disabled(webhook, now(), MemberId::new(Uuid::from_u128(number)));
            let to = EmailAddress::parse("to", &format!("admin{number}@acme.example")).unwrap();
            message(MessageContent::WebhookDisabled(told(host)), id, Recipient::Address(to))
        });
        let mut queue = queue(LeasedMessages { messages: messages.to_vec(), unreadable: Vec::new() });
        let settled = settled(&mut queue);
        let mut reader = MockMailReader::new();
        with_sender(&mut reader);
        let seen: Arc<Mutex<Vec<WebhookDisabledMail>>> = Arc::default();
        let seeing = seen.clone();
        let mut mailer = MockMailer::new();
        mailer.expect_send_webhook_disabled().times(2).returning(move |mail| {
            seeing.lock().unwrap().push(mail.clone());
            ok()
        });
        run_once(&deliver(queue, reader, mailer));
        let mut settled = settled.lock().unwrap().clone();
        settled.sort_by_key(|(number, _)| *number);
        assert_eq!(settled, [(1, sent()), (2, sent())]);
        let mut seen = seen.lock().unwrap().clone();
        seen.sort_by_key(|mail| number(&mail.id));
        let hosts: Vec<(&str, &str)> = seen.iter().map(|mail| (mail.to.as_str(), mail.host.as_str())).collect();
        let unknown = webhook.to_string();
        let expected = [("admin1@acme.example", "hooks.example.com"), ("admin2@acme.example", unknown.as_str())];
        assert_eq!(hosts, expected);
        for mail in &seen {
            assert_eq!((mail.because, mail.status), (DisabledBecause::Failing, Some(500)));
            assert_eq!(mail.response.as_deref(), Some("Oops https phish.example"));
            assert_eq!(mail.url, format!("https://acme.roadmap.example.com/admin/webhooks/{webhook}"));
        }
    }

    /// Portal.
    #[test]
    fn the_mail_of_a_sign_in_that_no_browser_has_asked_for_is_an_invitation() {
        let to = EmailAddress::parse("email", "ann@acme.example").unwrap();
        let sign_in = |number: u128, browser: Option<SecretDigest>| SignIn {
            id: SignInId::new(Uuid::from_u128(number)),
            email: to.clone(),
            browser,
            browser_name: None,
            action: None,
            next: None,
            language: Language::German,
            wrong_codes: 0,
            created_at: now(),
            consumed_at: None,
        };
        let sign_ins = vec![sign_in(1, None), sign_in(2, Some(SecretDigest([7; 32])))];
        let leased = |sign_in: &SignIn| {
            let recipient = Recipient::Address(to.clone());
            message(MessageContent::SignIn(sign_in.id), MessageId::sign_in(sign_in.id), recipient)
        };
        let messages = sign_ins.iter().map(leased).collect();
        let mut queue = queue(LeasedMessages { messages, unreadable: Vec::new() });
        let settled = settled(&mut queue);
        let mut reader = reader();
        reader.expect_sign_ins().returning(move |_, _| Ok(sign_ins.clone()));
        let seen: Arc<Mutex<Vec<SignInMail>>> = Arc::default();
        let seeing = seen.clone();
        let mut mailer = MockMailer::new();
        mailer.expect_send_sign_in().times(2).returning(move |mail| {
            seeing.lock().unwrap().push(mail.clone());
            ok()
        });
        run_once(&deliver(queue, reader, mailer));
        assert_eq!(settled.lock().unwrap().len(), 2);
        for mail in seen.lock().unwrap().iter() {
            assert_eq!(mail.is_invitation, number(&mail.id) == 1);
            assert_eq!((mail.to.as_str(), mail.language), ("ann@acme.example", Language::German));
            assert_eq!(mail.ask_url, "https://acme.roadmap.example.com/sign-in");
            assert!(mail.url.starts_with("https://acme.roadmap.example.com/sign-in/"), "{}", mail.url);
        }
    }

    #[test]
    fn a_member_gets_mail_that_is_still_wanted_and_about_something() {
        let id = |number| {
            let (after, until) = (now().plus(-Duration::DAY), now().plus(-Duration::MINUTE));
            TeamDigestId { member: MemberId::new(Uuid::from_u128(number)), after, until }
        };
        let to = |address: &str| EmailAddress::parse("email", address).unwrap();
        // Of the first; the second has another address now, the third wants none, and of the fourth nothing is left.
        let messages = (1..=4).map(|number| {
            let recipient = Recipient::Address(to("ines@team.example"));
            message(MessageContent::TeamDigest(id(number)), id(number), recipient)
        });
        let mut queue = queue(LeasedMessages { messages: messages.collect(), unreadable: Vec::new() });
        queue.expect_lease().returning(|_, _, _, _, _| Ok(LeasedMessages::default()));
        let settled = settled(&mut queue);
        let mut reader = reader();
        reader.expect_team_digest().times(4).returning(move |_, wanted, limit, _| {
            assert_eq!(limit, TeamDigestContent::MAX_SHOWN);
            let request = RequestLink {
                id: FeatureRequestId::new(Uuid::from_u128(7)),
                tag_number: 7,
                title: Title::from_stored("Dark mode".to_owned()),
            };
            let post =
                TeamPost { request, author: Some(ines()), is_awaiting: true, beginning: "<p>Eyes</p>".to_owned() };
            let has_posts = *wanted != id(4);
            Ok((*wanted != id(3)).then(|| TeamDigestContent {
                to: to(if *wanted == id(2) { "other@team.example" } else { "ines@team.example" }),
                language: Some(Language::German),
                requests: if has_posts { vec![post] } else { Vec::new() },
                requests_count: if has_posts { 3 } else { 0 },
                replies: Vec::new(),
                replies_count: 0,
            }))
        });
        let seen: Arc<Mutex<Vec<TeamDigestNotification>>> = Arc::default();
        let seeing = seen.clone();
        let mut mailer = MockMailer::new();
        mailer.expect_send_team_digest().times(1).returning(move |mail| {
            seeing.lock().unwrap().push(mail.clone());
            ok()
        });
        run_once(&deliver(queue, reader, mailer));
        assert_eq!(settled.lock().unwrap().len(), 4);
        let seen = seen.lock().unwrap();
        let [mail] = seen.as_slice() else { panic!("{seen:?}") };
        assert_eq!((mail.id, mail.language, mail.requests_count), (id(1), Language::German, 3));
        let base = "https://acme.roadmap.example.com";
        assert_eq!(mail.requests[0].url, format!("{base}/admin/feature_requests/7-dark-mode"));
        assert_eq!((mail.inbox_url.as_str(), mail.requests[0].is_awaiting), (format!("{base}/admin").as_str(), true));
        assert_eq!(mail.account_url, format!("{base}/account#mail"));
        assert!(mail.unsubscribe_url.ends_with("?kind=team"), "{}", mail.unsubscribe_url);
    }

    /// Decision 6.
    #[test]
    fn audiences_are_expanded_concurrently_and_errors_delay_no_mail() {
        for fails in [false, true] {
            let mut queue = MockOutboxQueue::new();
            queue.expect_due_workspaces().returning(|_| Ok(vec![(workspace(), Priority::Bulk)]));
            queue
                .expect_expand()
                .withf(|of, lease, content, at, limit, time| {
                    let id = MessageId::audience(comment(0xc0));
                    (*of, &lease.message, lease.until, content) == (workspace(), &id, until(), &audience())
                        && (*at, *limit, *time) == (now(), 500, now())
                })
                .times(1)
                .returning(
                    move |_, _, _, _, _, _| {
                        if fails { Err(StoreError::Unavailable("gone".into())) } else { Ok(Some(500)) }
                    },
                );
            let mut first = mails([1]);
            first.messages.insert(0, leased_audience());
            let mut batches = vec![first, mails([2])];
            queue.expect_lease().times(if fails { 1 } else { 2 }).returning(move |_, _, _, _, _| Ok(batches.remove(0)));
            let settled = settled(&mut queue);
            let mut mailer = MockMailer::new();
            mailer.expect_send().returning(|_| ok());
            run_once(&deliver(queue, reader(), mailer));
            // After a batch of an audience, the workspace is leased again at once.
            assert_eq!(settled.lock().unwrap().len(), if fails { 1 } else { 2 });
        }
    }

    #[test]
    fn an_audience_with_an_expired_lease_is_not_settled() {
        let mut queue = queue(LeasedMessages { messages: vec![leased_audience()], unreadable: Vec::new() });
        queue.expect_expand().times(1).returning(|_, _, _, _, _, _| Ok(None));
        // `MockOutboxQueue` expects no other lease and no settled message; `MockMailReader` expects no query.
        run_once(&deliver(queue, MockMailReader::new(), MockMailer::new()));
    }

    #[test]
    fn a_failed_look_up_is_repeated() {
        let mut queue = MockOutboxQueue::new();
        let looks = Arc::new(AtomicU32::new(0));
        let looked = looks.clone();
        queue.expect_due_workspaces().returning(move |_| match looked.fetch_add(1, Ordering::SeqCst) {
            0 => Err(StoreError::Unavailable("gone".into())),
            _ => Ok(Vec::new()),
        });
        let deliver = deliver(queue, MockMailReader::new(), MockMailer::new());
        block_on(deliver.run(&|| looks.load(Ordering::SeqCst) == 3, || std::future::ready(())));
        assert_eq!(looks.load(Ordering::SeqCst), 3);
    }

    /// A message's number and the second in which it became due.
    type Due = (u128, i64);

    /// A clock that only the test advances.
    struct VirtualClock(AtomicI64);

    impl VirtualClock {
        fn seconds(&self) -> i64 {
            self.0.load(Ordering::SeqCst)
        }
    }

    impl Clock for VirtualClock {
        fn now(&self) -> Timestamp {
            now().plus(Duration::seconds(self.seconds()))
        }
    }

    /// A mailer that sends at once, except for notifications of some workspaces, whose mail server never replies.
    struct PartlySilent {
        clock: Arc<VirtualClock>,
        is_silent: fn(&Notification) -> bool,
        /// The end of the test. Mails without a reply are released then, because the clock stops.
        end: i64,
        sent: Mutex<BTreeMap<u128, i64>>,
        hanging: AtomicU32,
    }

    impl PartlySilent {
        fn new(clock: &Arc<VirtualClock>, end: i64, is_silent: fn(&Notification) -> bool) -> Arc<Self> {
            Arc::new(Self { clock: clock.clone(), is_silent, end, sent: Mutex::default(), hanging: AtomicU32::new(0) })
        }

        fn sent(&self, number: u128) -> Result<String, SendError> {
            assert!(self.sent.lock().unwrap().insert(number, self.clock.seconds()).is_none());
            ok()
        }
    }

    #[async_trait::async_trait]
    impl Mailer for PartlySilent {
        async fn send(&self, notification: &Notification) -> Result<String, SendError> {
            if (self.is_silent)(notification) {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                let over = (self.clock.seconds() + LONGEST.whole_seconds()).min(self.end);
                poll_fn(|context| {
                    if self.clock.seconds() >= over {
                        return Poll::Ready(());
                    }
                    context.waker().wake_by_ref();
                    Poll::Pending
                })
                .await;
                return Err(SendError::Transient { reason: "silent".to_owned() });
            }
            self.sent(notification.id.customer.uuid().as_u128())
        }

        async fn send_digest(&self, _: &DigestNotification) -> Result<String, SendError> {
            unreachable!("no mail is held")
        }

        async fn send_team_digest(&self, _: &TeamDigestNotification) -> Result<String, SendError> {
            ok()
        }

        async fn send_sign_in(&self, _: &SignInMail) -> Result<String, SendError> {
            ok()
        }

        async fn send_test(&self, mail: &TestMail) -> Result<String, SendError> {
            self.sent(number(&mail.id))
        }

        async fn send_webhook_disabled(&self, _: &WebhookDisabledMail) -> Result<String, SendError> {
            ok()
        }
    }

    fn numbered_workspace(number: u128) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number))
    }

    /// One workspace has unreadable rows, the statements of one fail, and the mail server of one workspace's recipients
    /// does not reply. The other 48 of the 50 workspaces get two mails in each of 60 seconds, each at most five seconds
    /// late.
    #[test]
    fn no_workspace_delays_another_by_more_than_five_seconds() {
        const WORKSPACES: u128 = 50;
        const SECONDS: i64 = 60;
        // The lowest ids, which every look returns first.
        const SILENT: u128 = 0;
        const FAILING: u128 = 1;
        const UNREADABLE: u128 = 2;
        let id = numbered_workspace;
        let clock = Arc::new(VirtualClock(AtomicI64::new(0)));
        // The due times of the mails that are not leased yet, by workspace.
        let due: Arc<Mutex<BTreeMap<u128, Vec<Due>>>> = Arc::default();
        let all: Arc<Mutex<BTreeMap<u128, i64>>> = Arc::default();

        let mut queue = MockOutboxQueue::new();
        queue
            .expect_due_workspaces()
            .returning(move |_| Ok((0..WORKSPACES).map(|of| (id(of), Priority::Bulk)).collect()));
        let (waiting, time) = (due.clone(), clock.clone());
        queue.expect_lease().returning(move |of, _, _, until, limit| {
            let of = of.uuid().as_u128();
            let mut waiting = waiting.lock().unwrap();
            let waiting = waiting.entry(of).or_default();
            let mut leased = match of {
                FAILING => return Err(StoreError::Unavailable("gone".into())),
                SILENT => mails(0..u128::from(limit)),
                _ => {
                    let taken = waiting.len().min(limit as usize);
                    let mut leased = mails(waiting.drain(..taken).map(|(number, _)| number));
                    let bad = of == UNREADABLE && time.seconds() % 7 == 0;
                    leased.unreadable.extend(bad.then(|| unreadable(9)));
                    leased
                }
            };
            for message in &mut leased.messages {
                message.lease.until = until;
            }
            Ok(leased)
        });
        queue.expect_settle().returning(|_, _, _, _| Ok(true));

        let end = SECONDS + LONGEST.whole_seconds() * 2;
        let mailer = PartlySilent::new(&clock, end, |notification| notification.url.contains("//w0."));
        let deliver = with_clock(queue, reader(), mailer.clone(), clock.clone());
        // Each pause is one second, in which all other tasks make progress and new mail arrives.
        let (waiting, everything, time) = (due.clone(), all.clone(), clock.clone());
        let stop = || clock.seconds() >= end;
        block_on(deliver.run(&stop, || {
            let (waiting, everything, time) = (waiting.clone(), everything.clone(), time.clone());
            async move {
                yield_often().await;
                let at = time.0.fetch_add(1, Ordering::SeqCst) + 1;
                if at > SECONDS {
                    return;
                }
                for of in (0..WORKSPACES).filter(|of| ![SILENT, FAILING].contains(of)) {
                    for mail in 0..2 {
                        let number = 1_000_000 + of * 10_000 + u128::from(at.unsigned_abs()) * 10 + mail;
                        waiting.lock().unwrap().entry(of).or_default().push((number, at));
                        everything.lock().unwrap().insert(number, at);
                    }
                }
            }
        }));
        let (sent, all) = (mailer.sent.lock().unwrap(), all.lock().unwrap());
        assert_eq!(all.len(), 48 * 2 * 60);
        assert_eq!(sent.len(), all.len());
        let latest = all.iter().map(|(number, due)| sent[number] - due).max().unwrap();
        println!("{} mails, the latest {latest} s after it was due", all.len());
        assert!(latest <= 5, "{latest} s");
        assert!(mailer.hanging.load(Ordering::SeqCst) > 8);
    }

    /// Each of 50 workspaces has 20,000 waiting notifications. The mail server of the recipients of 20 workspaces does
    /// not reply, so that they hold all slots for bulk mail. Test mails of every workspace are sent within two seconds.
    #[test]
    fn urgent_messages_do_not_wait_for_others() {
        const WORKSPACES: u128 = 50;
        const NOTIFICATIONS: u128 = 20_000;
        const SECONDS: i64 = 40;
        let clock = Arc::new(VirtualClock(AtomicI64::new(0)));
        let urgent: Arc<Mutex<BTreeMap<WorkspaceId, Vec<u128>>>> = Arc::default();
        let bulk: Arc<Mutex<BTreeMap<WorkspaceId, u128>>> = Arc::default();

        let mut queue = MockOutboxQueue::new();
        let waiting = urgent.clone();
        queue.expect_due_workspaces().returning(move |_| {
            let waiting = waiting.lock().unwrap();
            let urgent = waiting.iter().filter(|(_, mails)| !mails.is_empty()).map(|(of, _)| (*of, Priority::Urgent));
            let bulk = (0..WORKSPACES).map(|of| (numbered_workspace(of), Priority::Bulk));
            Ok(bulk.chain(urgent).collect())
        });
        let (waiting, leased_bulk) = (urgent.clone(), bulk.clone());
        queue.expect_lease().returning(move |of, priority, _, until, limit| {
            let mut leased = LeasedMessages::default();
            match priority {
                Priority::Urgent => {
                    let mails = std::mem::take(waiting.lock().unwrap().entry(of).or_default());
                    leased.messages.extend(mails.into_iter().map(test_mail));
                }
                Priority::Bulk => {
                    let mut counts = leased_bulk.lock().unwrap();
                    let begun = counts.entry(of).or_default();
                    let end = (*begun + u128::from(limit)).min(NOTIFICATIONS);
                    let first = 1_000_000_000 + of.uuid().as_u128() * 1_000_000;
                    leased = mails((*begun..end).map(|number| first + number));
                    *begun = end;
                }
            }
            for message in &mut leased.messages {
                message.lease.until = until;
            }
            Ok(leased)
        });
        queue.expect_settle().returning(|_, _, _, _| Ok(true));

        let is_silent = |notification: &Notification| (0..20).any(|of| notification.url.contains(&format!("//w{of}.")));
        let mailer = PartlySilent::new(&clock, SECONDS + 5, is_silent);
        let deliver = with_clock(queue, reader(), mailer.clone(), clock.clone());
        let (waiting, time) = (urgent.clone(), clock.clone());
        let stop = || clock.seconds() >= SECONDS + 5;
        block_on(deliver.run(&stop, || {
            let (waiting, time) = (waiting.clone(), time.clone());
            async move {
                yield_times(500).await;
                let at = time.0.fetch_add(1, Ordering::SeqCst) + 1;
                if at <= SECONDS {
                    // Alternates between workspaces with and without a silent mail server.
                    let of = u128::from(at.unsigned_abs()) % WORKSPACES;
                    waiting
                        .lock()
                        .unwrap()
                        .entry(numbered_workspace(of))
                        .or_default()
                        .push(u128::from(at.unsigned_abs()));
                }
            }
        }));
        let sent = mailer.sent.lock().unwrap();
        let latest = (1..=SECONDS).map(|at| sent[&u128::from(at.unsigned_abs())] - at).max().unwrap();
        println!("{SECONDS} test mails, the latest {latest} s after it was due, beside {} others", sent.len());
        assert!(latest <= 2, "{latest} s");
        // Nearly all other messages still wait.
        assert!(bulk.lock().unwrap().values().any(|begun| *begun < NOTIFICATIONS));
        assert!(mailer.hanging.load(Ordering::SeqCst) >= 16);
    }

    /// Decision 6.
    #[test]
    fn sent_messages_are_purged_until_a_batch_is_not_full() {
        let mut queue = MockOutboxQueue::new();
        let batches = AtomicU32::new(0);
        queue
            .expect_purge_sent()
            .withf(|before, limit| (*before, *limit) == (now().plus(-Duration::days(30)), 1_000))
            .times(2)
            .returning(move |_, _| Ok(if batches.fetch_add(1, Ordering::SeqCst) == 0 { 1_000 } else { 7 }));
        let deliver = deliver(queue, MockMailReader::new(), MockMailer::new());
        assert_eq!(block_on(deliver.purge_sent()).unwrap(), 1_007);
    }
}
