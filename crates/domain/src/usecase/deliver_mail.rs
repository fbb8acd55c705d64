//! Sends the mail that the outbox holds: what workers do.

mod schedule;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{Either, join_all, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use time::Duration;

use crate::error::{ErrorChain, RoadmapError, StoreError};
use crate::model::base_url::BaseUrl;
use crate::model::id::{CustomerId, WorkspaceId};
use crate::model::links::Links;
use crate::model::mail::{
    DigestEntry, DigestNotification, DigestNotificationEntry, LeasedDigest, LeasedMail, MailId, MailOutcome,
    Notification, SendError, UnreadableMail,
};
use crate::model::slug::slug;
use crate::model::timestamp::Timestamp;
use crate::policy::mail_limits::{MAX_DIGEST_ENTRIES, end_of_hour, start_of_hour};
use crate::policy::mail_retry;
use crate::policy::signed_reference::ReferenceSigner;
use crate::ports::{Clock, Mailer, OutboxQueue};
use crate::usecase::batches;

pub use schedule::MAX_CONCURRENT_SENDS;
use schedule::Schedule;

/// How many mails of a big audience are written out at a time.
const AUDIENCE: u32 = 500;

/// How many digests are leased at a time.
const DIGESTS: u32 = 5;

/// How long a lease lasts, in times that one mail may take at most. A mail is only begun in the
/// first half of it, so that nobody else takes it while it is under way.
const LEASE: i32 = 4;

/// How long mails that were sent are remembered.
const MEMORY: Duration = Duration::days(30);

/// Whether to stop.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Something that a worker does beside other things.
type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// One mail to be sent.
#[derive(Debug)]
enum Letter {
    /// About one comment.
    Mail(LeasedMail),
    /// About several.
    Digest(LeasedDigest),
}

/// What has been done.
enum Done {
    /// These workspaces have mail.
    Found(Vec<WorkspaceId>),
    /// These mails of a workspace were leased. The flag: there may be more.
    Leased(WorkspaceId, VecDeque<Letter>, bool),
    /// A mail of this workspace was sent, or was not, and is settled.
    Sent(WorkspaceId),
    /// A mail was returned.
    Returned,
}

fn note(schedule: &mut Schedule<Letter>, done: Done) {
    match done {
        Done::Leased(workspace, mails, has_more) => schedule.leased(workspace, mails, has_more),
        Done::Sent(workspace) => schedule.sent(workspace),
        Done::Found(_) | Done::Returned => {}
    }
}

fn log_settled(workspace: WorkspaceId, mail: &dyn std::fmt::Display, settled: Result<bool, StoreError>) {
    match settled {
        Ok(true) => {}
        Ok(false) => {
            tracing::warn!(%workspace, %mail, "a mail's lease was over, or its recipient has unsubscribed meanwhile");
        }
        Err(error) => {
            tracing::warn!(%workspace, %mail, error = %ErrorChain::new(&error), "failed to settle a mail");
        }
    }
}

/// Sends mail.
#[derive(Clone)]
pub struct DeliverMail {
    queue: Arc<dyn OutboxQueue>,
    mailer: Arc<dyn Mailer>,
    clock: Arc<dyn Clock>,
    references: Arc<ReferenceSigner>,
    base_url: BaseUrl,
    longest: Duration,
    per_address: Option<u32>,
}

impl DeliverMail {
    /// Sends what is in `queue` by `mailer`, which takes at most `longest` for one mail.
    #[must_use]
    pub fn new(
        queue: Arc<dyn OutboxQueue>,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
        references: Arc<ReferenceSigner>,
        base_url: BaseUrl,
        longest: Duration,
    ) -> Self {
        Self { queue, mailer, clock, references, base_url, longest, per_address: None }
    }

    /// The same with a limit of the mails to one customer in an hour. The others go out in a digest when it is over.
    #[must_use]
    pub fn with_limit(self, per_address: Option<u32>) -> Self {
        Self { per_address, ..self }
    }

    /// Sends mail until `stop` says so, and begins no mail after that; those that are being sent then are waited for, and
    /// those that are leased are returned. Looks for mail whenever what `pause` returns is over, which is at once when `stop`
    /// says so.
    ///
    /// An error that has to do with one mail or one workspace is logged and delays nothing of any other. What the store has
    /// not been told is sent again when its lease is over.
    pub async fn run<P: Future<Output = ()> + Send>(&self, stop: Stop<'_>, pause: impl Fn() -> P) {
        let mut schedule = Schedule::new();
        let mut under_way: FuturesUnordered<Work<'_>> = FuturesUnordered::new();
        under_way.push(Box::pin(self.look()));
        // None while a look is under way.
        let mut pausing: Option<Pin<Box<P>>> = None;
        while !stop() {
            while let Some((workspace, limit)) = schedule.next_lease() {
                under_way.push(Box::pin(self.lease(workspace, limit)));
            }
            while let Some((workspace, mail)) = schedule.next_mail() {
                under_way.push(Box::pin(self.send_and_settle(workspace, mail, stop)));
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
                    schedule.add(workspaces);
                    pausing = Some(Box::pin(pause()));
                }
                Some(done) => note(&mut schedule, done),
                None => {
                    pausing = None;
                    under_way.push(Box::pin(self.look()));
                }
            }
        }
        loop {
            for (workspace, mail) in schedule.take_unsent() {
                under_way.push(Box::pin(self.give_back(workspace, mail)));
            }
            let Some(done) = under_way.next().await else { break };
            note(&mut schedule, done);
        }
    }

    async fn look(&self) -> Done {
        Done::Found(self.queue.workspaces_with_mail(self.clock.now()).await.unwrap_or_else(|error| {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to look for mail");
            Vec::new()
        }))
    }

    /// Writes out more of an audience of this workspace, and leases mails.
    async fn lease(&self, workspace: WorkspaceId, limit: usize) -> Done {
        let expanded = self.queue.expand(workspace, AUDIENCE).await.unwrap_or_else(|error| {
            tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to write out the mails of an audience");
            None
        });
        let now = self.clock.now();
        let count = u32::try_from(limit).unwrap_or(u32::MAX);
        let until = now.plus(self.longest * LEASE);
        let leased = match self.queue.lease(workspace, now, until, count, start_of_hour(now)).await {
            Ok(leased) => leased,
            Err(error) => {
                tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to lease mails");
                return Done::Leased(workspace, VecDeque::new(), false);
            }
        };
        if leased.unwanted > 0 {
            tracing::debug!(%workspace, mails = leased.unwanted, "deleted mails that nobody wants any more");
        }
        let rows = leased.mails.len() + leased.unreadable.len();
        for unreadable in &leased.unreadable {
            self.bury(workspace, unreadable).await;
        }
        let mut letters: VecDeque<Letter> = self.hold(workspace, leased.mails, now).await.map(Letter::Mail).collect();
        let digests = self.queue.lease_digests(workspace, now, until, DIGESTS, MAX_DIGEST_ENTRIES).await;
        let digests = digests.unwrap_or_else(|error| {
            tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to lease digests");
            Vec::new()
        });
        let has_more = expanded.is_some() || leased.unwanted > 0 || rows >= limit || digests.len() >= DIGESTS as usize;
        letters.extend(digests.into_iter().map(Letter::Digest));
        Done::Leased(workspace, letters, has_more)
    }

    /// Holds the mails whose recipients have got enough in this hour, and returns the others.
    async fn hold(
        &self,
        workspace: WorkspaceId,
        mails: Vec<LeasedMail>,
        now: Timestamp,
    ) -> impl Iterator<Item = LeasedMail> + use<> {
        let mut counts: BTreeMap<CustomerId, u32> = BTreeMap::new();
        let (kept, held): (Vec<LeasedMail>, Vec<LeasedMail>) = mails.into_iter().partition(|mail| {
            let count = counts.entry(mail.id.customer).or_insert(mail.recent_count);
            let fits = self.per_address.is_none_or(|limit| *count < limit);
            *count = count.saturating_add(u32::from(fits));
            fits
        });
        let outcome = MailOutcome::Held { until: end_of_hour(now) };
        join_all(held.iter().map(|mail| self.settle(workspace, mail.id, mail.leased_until, &outcome))).await;
        kept.into_iter()
    }

    /// A row that cannot be read will not be read better at the next try.
    async fn bury(&self, workspace: WorkspaceId, unreadable: &UnreadableMail) {
        let chain = ErrorChain::new(&unreadable.error).to_string();
        tracing::error!(%workspace, mail = %unreadable.id, error = chain, "a mail is given up: its row cannot be read");
        let reason = format!("the row cannot be read: {chain}");
        let outcome = MailOutcome::Dead { reason, no_such_mailbox: false };
        self.settle(workspace, unreadable.id, unreadable.leased_until, &outcome).await;
    }

    async fn send_and_settle(&self, workspace: WorkspaceId, letter: Letter, stop: Stop<'_>) -> Done {
        match letter {
            Letter::Mail(mail) => {
                let outcome = if self.is_too_late(mail.leased_until, stop) {
                    MailOutcome::Released
                } else {
                    let sent = self.mailer.send(&self.notification(workspace, &mail)).await;
                    self.outcome(mail.id, mail.attempt, sent)
                };
                self.settle(workspace, mail.id, mail.leased_until, &outcome).await;
            }
            Letter::Digest(digest) => {
                let outcome = if self.is_too_late(digest.leased_until, stop) {
                    MailOutcome::Released
                } else {
                    let sent = self.mailer.send_digest(&self.digest(workspace, &digest)).await;
                    self.outcome(digest.id.first, digest.attempt, sent)
                };
                self.settle_digest(workspace, &digest, &outcome).await;
            }
        }
        Done::Sent(workspace)
    }

    async fn give_back(&self, workspace: WorkspaceId, letter: Letter) -> Done {
        match letter {
            Letter::Mail(mail) => self.settle(workspace, mail.id, mail.leased_until, &MailOutcome::Released).await,
            Letter::Digest(digest) => self.settle_digest(workspace, &digest, &MailOutcome::Released).await,
        }
        Done::Returned
    }

    async fn settle(&self, workspace: WorkspaceId, mail: MailId, leased_until: Timestamp, outcome: &MailOutcome) {
        let settled = self.queue.settle(workspace, mail, leased_until, outcome, self.clock.now()).await;
        log_settled(workspace, &mail, settled);
    }

    async fn settle_digest(&self, workspace: WorkspaceId, digest: &LeasedDigest, outcome: &MailOutcome) {
        let now = self.clock.now();
        let settled = self.queue.settle_digest(workspace, digest.id, digest.leased_until, outcome, now).await;
        log_settled(workspace, &digest.id, settled);
    }

    /// Whether it is too late to begin: another worker could take what is under way.
    fn is_too_late(&self, leased_until: Timestamp, stop: Stop<'_>) -> bool {
        stop() || self.clock.now().plus(self.longest * (LEASE / 2)) > leased_until
    }

    fn outcome(&self, mail: MailId, attempt: NonZeroU32, sent: Result<(), SendError>) -> MailOutcome {
        let Err(send_error) = sent else { return MailOutcome::Sent };
        let outcome = mail_retry::outcome_after_failure(mail, attempt, send_error, self.clock.now());
        match &outcome {
            MailOutcome::Dead { reason, .. } => tracing::warn!(%mail, attempt, reason, "a mail is given up"),
            MailOutcome::Postponed { until, reason } => {
                tracing::info!(%mail, attempt, %until, reason, "a mail is tried again");
            }
            MailOutcome::Sent | MailOutcome::Held { .. } | MailOutcome::Released => {}
        }
        outcome
    }

    fn digest(&self, workspace: WorkspaceId, digest: &LeasedDigest) -> DigestNotification {
        let links = Links::new(&self.base_url, &digest.subdomain, workspace, self.references.clone());
        let entry = |entry: &DigestEntry| DigestNotificationEntry {
            title: entry.title.clone(),
            request_url: links.request(&slug(entry.tag_number, &entry.title)),
            beginning: entry.beginning.clone(),
        };
        DigestNotification {
            id: digest.id,
            to: digest.to.clone(),
            product_name: digest.product_name.clone(),
            entries: digest.entries.iter().map(entry).collect(),
            more: digest.mails.saturating_sub(digest.entries.len() as u64),
            unsubscribe_url: links.unsubscribe(digest.id.first.customer, None),
        }
    }

    fn notification(&self, workspace: WorkspaceId, mail: &LeasedMail) -> Notification {
        let links = Links::new(&self.base_url, &mail.subdomain, workspace, self.references.clone());
        Notification {
            id: mail.id,
            to: mail.to.clone(),
            product_name: mail.product_name.clone(),
            title: mail.title.clone(),
            request_url: links.request(&slug(mail.tag_number, &mail.title)),
            comment: mail.comment.clone(),
            unsubscribe_url: links.unsubscribe(mail.id.customer, Some(mail.request)),
        }
    }

    /// Forgets mails that were sent long ago, in batches. Returns how many.
    ///
    /// # Errors
    /// Those of the store; what was deleted until then stays deleted.
    pub async fn purge_sent_mail(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-MEMORY);
        Ok(batches::delete_in_batches(|limit| self.queue.purge_sent_mail(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::email_address::EmailAddress;
    use crate::model::feature_request::Title;
    use crate::model::html::CleanHtml;
    use crate::model::id::{CommentId, FeatureRequestId};
    use crate::model::mail::{DigestId, LeasedMails};
    use crate::model::workspace::Subdomain;
    use crate::policy::signed_reference::{Purpose, Secret};
    use crate::ports::mocks::{MockMailer, MockOutboxQueue};
    use crate::usecase::fixtures::{FixedClock, name, now, workspace};
    use pollster::block_on;
    use std::future::poll_fn;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
    use std::task::Poll;
    use uuid::Uuid;

    const LONGEST: Duration = Duration::seconds(30);

    fn leased(number: u128, leased_until: Timestamp) -> LeasedMail {
        LeasedMail {
            id: mail_id(number),
            leased_until,
            attempt: NonZeroU32::MIN,
            to: EmailAddress::parse("email", &format!("v{number}@example.com")).unwrap(),
            request: FeatureRequestId::new(Uuid::from_u128(0x7)),
            tag_number: 7,
            title: Title::from_stored("Dark mode".to_owned()),
            comment: Arc::new(CleanHtml::from_stored("<p>Soon</p>".to_owned())),
            product_name: name("Acme"),
            subdomain: Subdomain::from_label("acme").unwrap(),
            recent_count: 0,
        }
    }

    fn mail_id(number: u128) -> MailId {
        MailId { comment: CommentId::new(Uuid::from_u128(0xc0)), customer: CustomerId::new(Uuid::from_u128(number)) }
    }

    fn number(mail: MailId) -> u128 {
        mail.customer.uuid().as_u128()
    }

    fn unreadable(number: u128, leased_until: Timestamp) -> UnreadableMail {
        let error = StoreError::Inconsistent { table: "outbox", column: "attempts", row: number.to_string() };
        UnreadableMail { id: mail_id(number), leased_until, error }
    }

    /// A queue with these mails in one workspace.
    fn queue(mails: Vec<LeasedMail>) -> MockOutboxQueue {
        let mut queue = MockOutboxQueue::new();
        queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
        queue.expect_expand().returning(|_, _| Ok(None));
        queue
            .expect_lease()
            .withf(|_, at, until, limit, hour| {
                *at == now() && *until == now().plus(LONGEST * 4) && *limit == 40 && *hour == start_of_hour(now())
            })
            .return_once(move |_, _, _, _, _| Ok(LeasedMails { mails, ..LeasedMails::default() }));
        queue.expect_lease_digests().returning(|_, _, _, _, _| Ok(Vec::new()));
        queue
    }

    /// All that the queue is told of: each mail's number and what became of it.
    fn settled(queue: &mut MockOutboxQueue) -> Arc<Mutex<Vec<(u128, MailOutcome)>>> {
        let settled = Arc::new(Mutex::new(Vec::new()));
        let seen = settled.clone();
        queue.expect_settle().returning(move |of, mail, until, outcome, at| {
            assert_eq!((of, until, at), (workspace(), now().plus(LONGEST * 4), now()));
            seen.lock().unwrap().push((number(mail), outcome.clone()));
            Ok(true)
        });
        settled
    }

    fn deliver(queue: MockOutboxQueue, mailer: MockMailer) -> DeliverMail {
        with_clock(queue, Arc::new(mailer), Arc::new(FixedClock))
    }

    fn with_clock(queue: MockOutboxQueue, mailer: Arc<dyn Mailer>, clock: Arc<dyn Clock>) -> DeliverMail {
        let secret = Secret::parse("secret", &"s".repeat(32)).unwrap();
        let references = Arc::new(ReferenceSigner::new(secret, Vec::new()));
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
        DeliverMail::new(Arc::new(queue), mailer, clock, references, base_url, LONGEST)
    }

    /// Lets everything else go on for as long as it can.
    async fn yield_often() {
        let mut left = 10_000;
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

    /// Looks for mail once and sends what there is.
    fn run_once(deliver: &DeliverMail) {
        let stop = AtomicBool::new(false);
        block_on(deliver.run(&|| stop.load(Ordering::SeqCst), || async {
            yield_often().await;
            stop.store(true, Ordering::SeqCst);
        }));
    }

    #[test]
    fn each_mail_is_sent_and_settled_under_its_lease() {
        let until = now().plus(LONGEST * 4);
        let mut queue = queue(vec![leased(1, until), leased(2, until)]);
        let settled = settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(2).returning(|notification| {
            let bad = number(notification.id) == 2;
            if bad { Err(SendError::Permanent { reason: "550".to_owned(), no_such_mailbox: true }) } else { Ok(()) }
        });
        run_once(&deliver(queue, mailer));
        let dead = MailOutcome::Dead { reason: "550".to_owned(), no_such_mailbox: true };
        assert_eq!(*settled.lock().unwrap(), [(1, MailOutcome::Sent), (2, dead)]);
    }

    #[test]
    fn a_mail_says_where_things_are_by_the_configured_address() {
        let mail = leased(1, now().plus(LONGEST * 4));
        let deliver = deliver(MockOutboxQueue::new(), MockMailer::new());
        let notification = deliver.notification(workspace(), &mail);
        let url = &notification.unsubscribe_url;
        assert_eq!(notification.request_url, "https://acme.roadmap.example.com/feature_requests/7-dark-mode");
        let token = url.strip_prefix("https://acme.roadmap.example.com/unsubscribe/").unwrap();
        let (token, request) = token.split_once("?request=").unwrap();
        assert_eq!(request, mail.request.to_string());
        let customer = deliver.references.verify(Purpose::Unsubscribe, workspace(), token, now());
        assert_eq!(customer, Some(mail.id.customer.uuid()));
    }

    #[test]
    fn nothing_is_begun_late_in_a_lease() {
        let mut queue = queue(vec![leased(1, now().plus(LONGEST * 2 - Duration::MILLISECOND))]);
        let settled = Arc::new(Mutex::new(Vec::new()));
        let seen = settled.clone();
        queue.expect_settle().returning(move |_, mail, _, outcome, _| {
            seen.lock().unwrap().push((number(mail), outcome.clone()));
            Ok(true)
        });
        // `MockMailer` expects no mail.
        run_once(&deliver(queue, MockMailer::new()));
        assert_eq!(*settled.lock().unwrap(), [(1, MailOutcome::Released)]);
    }

    #[test]
    fn after_the_stop_nothing_is_begun_and_what_is_leased_is_returned() {
        let until = now().plus(LONGEST * 4);
        let mut queue = queue((1..=20).map(|number| leased(number, until)).collect());
        let settled = settled(&mut queue);
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        let mut mailer = MockMailer::new();
        // The first mail is being sent when the stop comes.
        mailer.expect_send().times(1).returning(move |_| {
            told.store(true, Ordering::SeqCst);
            Ok(())
        });
        block_on(deliver(queue, mailer).run(&|| stop.load(Ordering::SeqCst), std::future::pending::<()>));
        let mut settled = settled.lock().unwrap().clone();
        settled.sort_by_key(|(number, _)| *number);
        let expected =
            (1..=20).map(|number| (number, if number == 1 { MailOutcome::Sent } else { MailOutcome::Released }));
        assert_eq!(settled, expected.collect::<Vec<_>>());
    }

    #[test]
    fn one_mail_that_cannot_be_settled_does_not_keep_the_others() {
        let until = now().plus(LONGEST * 4);
        let mut queue = queue((1..=20).map(|number| leased(number, until)).collect());
        queue.expect_settle().times(20).returning(|_, mail, _, _, _| {
            if number(mail) == 3 { Err(StoreError::Unavailable("gone".into())) } else { Ok(true) }
        });
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(20).returning(|_| Ok(()));
        run_once(&deliver(queue, mailer));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_dead_and_the_others_are_sent() {
        let until = now().plus(LONGEST * 4);
        let mut queue = MockOutboxQueue::new();
        queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
        queue.expect_expand().returning(|_, _| Ok(None));
        queue.expect_lease_digests().returning(|_, _, _, _, _| Ok(Vec::new()));
        queue.expect_lease().return_once(move |_, _, _, _, _| {
            let mails = vec![leased(1, until), leased(3, until)];
            Ok(LeasedMails { mails, unreadable: vec![unreadable(2, until)], unwanted: 0 })
        });
        let settled = settled(&mut queue);
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(2).returning(|_| Ok(()));
        run_once(&deliver(queue, mailer));
        let reason = "the row cannot be read: stored data is inconsistent: outbox.attempts of row 2".to_owned();
        let dead = MailOutcome::Dead { reason, no_such_mailbox: false };
        assert_eq!(*settled.lock().unwrap(), [(2, dead), (1, MailOutcome::Sent), (3, MailOutcome::Sent)]);
    }

    #[test]
    fn mails_that_are_too_many_for_an_address_are_held_until_the_hour_is_over() {
        let until = now().plus(LONGEST * 4);
        let comment = |customer: u128, comment: u128, recent_count: u32| {
            let mut mail = LeasedMail { recent_count, ..leased(customer, until) };
            mail.id.comment = CommentId::new(Uuid::from_u128(comment));
            mail
        };
        // The first has got two of three already, the second none.
        let mails = vec![comment(1, 1, 2), comment(2, 1, 0), comment(1, 2, 2), comment(2, 2, 0), comment(1, 3, 2)];
        for (limit, sent) in
            [(Some(3), vec![(1, 1), (2, 1), (2, 2)]), (Some(0), vec![]), (None, (0..5).map(|_| (0, 0)).collect())]
        {
            let mut queue = queue(mails.clone());
            let seen: Arc<Mutex<Vec<(u128, u128)>>> = Arc::default();
            let held: Arc<Mutex<u32>> = Arc::default();
            let (seeing, holding) = (seen.clone(), held.clone());
            queue.expect_settle().returning(move |_, mail, _, outcome, _| {
                match outcome {
                    MailOutcome::Sent => seeing.lock().unwrap().push((number(mail), mail.comment.uuid().as_u128())),
                    MailOutcome::Held { until } if *until == end_of_hour(now()) => *holding.lock().unwrap() += 1,
                    other => panic!("{other:?}"),
                }
                Ok(true)
            });
            let mut mailer = MockMailer::new();
            mailer.expect_send().returning(|_| Ok(()));
            run_once(&deliver(queue, mailer).with_limit(limit));
            let mut seen = seen.lock().unwrap().clone();
            seen.sort_unstable();
            assert_eq!((seen.len(), *held.lock().unwrap() as usize), (sent.len(), 5 - sent.len()));
            assert!(limit.is_none() || seen == sent, "{seen:?}");
        }
    }

    #[test]
    fn a_digest_is_sent_and_settled_like_a_mail() {
        let until = now().plus(LONGEST * 4);
        let entry = |tag_number: i64| DigestEntry {
            tag_number,
            title: Title::from_stored("Dark mode".to_owned()),
            beginning: "<p>Soon".to_owned(),
        };
        let digest = LeasedDigest {
            id: DigestId { at: start_of_hour(now()), first: mail_id(1) },
            leased_until: until,
            attempt: NonZeroU32::MIN,
            to: EmailAddress::parse("email", "ann@example.com").unwrap(),
            product_name: name("Acme"),
            subdomain: Subdomain::from_label("acme").unwrap(),
            entries: vec![entry(7), entry(8)],
            mails: 12,
        };
        let send_error = || Err(SendError::Permanent { reason: "550".to_owned(), no_such_mailbox: false });
        for sends in [Ok(()), send_error()] {
            let mut queue = MockOutboxQueue::new();
            queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
            queue.expect_expand().returning(|_, _| Ok(None));
            queue.expect_lease().returning(|_, _, _, _, _| Ok(LeasedMails::default()));
            let leased = digest.clone();
            queue
                .expect_lease_digests()
                .withf(move |of, at, end, limit, entries| {
                    (*of, *at, *end, *limit, *entries) == (workspace(), now(), until, 5, 50)
                })
                .return_once(move |_, _, _, _, _| Ok(vec![leased]));
            let expected = match &sends {
                Ok(()) => MailOutcome::Sent,
                Err(_) => MailOutcome::Dead { reason: "550".to_owned(), no_such_mailbox: false },
            };
            let id = digest.id;
            queue
                .expect_settle_digest()
                .withf(move |of, found, end, outcome, at| {
                    (*of, *found, *end, *at) == (workspace(), id, until, now()) && *outcome == expected
                })
                .times(1)
                .returning(|_, _, _, _, _| Ok(true));
            let mut mailer = MockMailer::new();
            mailer
                .expect_send_digest()
                .withf(|digest| {
                    let urls: Vec<&str> = digest.entries.iter().map(|entry| entry.request_url.as_str()).collect();
                    let base = "https://acme.roadmap.example.com";
                    let all = ["7", "8"].map(|number| format!("{base}/feature_requests/{number}-dark-mode"));
                    urls == all
                        && digest.more == 10
                        && digest.unsubscribe_url.starts_with(&format!("{base}/unsubscribe/"))
                        && !digest.unsubscribe_url.contains('?')
                })
                .times(1)
                .return_once(move |_| sends);
            run_once(&deliver(queue, mailer));
        }
    }

    #[test]
    fn audiences_are_written_out_beside_the_sending_and_an_error_there_keeps_no_mail() {
        for fails in [false, true] {
            let until = now().plus(LONGEST * 4);
            let mut queue = MockOutboxQueue::new();
            queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
            let expands = AtomicU32::new(0);
            queue.expect_expand().withf(|of, limit| (*of, *limit) == (workspace(), 500)).returning(move |_, _| {
                match expands.fetch_add(1, Ordering::SeqCst) {
                    _ if fails => Err(StoreError::Unavailable("gone".into())),
                    0 => Ok(Some(500)),
                    _ => Ok(None),
                }
            });
            let mut mails = vec![vec![leased(1, until)], vec![leased(2, until)]];
            queue
                .expect_lease()
                .times(if fails { 1 } else { 2 })
                .returning(move |_, _, _, _, _| Ok(LeasedMails { mails: mails.remove(0), ..LeasedMails::default() }));
            queue.expect_lease_digests().returning(|_, _, _, _, _| Ok(Vec::new()));
            let settled = settled(&mut queue);
            let mut mailer = MockMailer::new();
            mailer.expect_send().returning(|_| Ok(()));
            run_once(&deliver(queue, mailer));
            // After a piece of an audience the workspace has another lease at once.
            assert_eq!(settled.lock().unwrap().len(), if fails { 1 } else { 2 });
        }
    }

    #[test]
    fn a_look_that_fails_is_followed_by_the_next() {
        let mut queue = MockOutboxQueue::new();
        let looks = Arc::new(AtomicU32::new(0));
        let looked = looks.clone();
        queue.expect_workspaces_with_mail().returning(move |_| match looked.fetch_add(1, Ordering::SeqCst) {
            0 => Err(StoreError::Unavailable("gone".into())),
            _ => Ok(Vec::new()),
        });
        block_on(
            deliver(queue, MockMailer::new()).run(&|| looks.load(Ordering::SeqCst) == 3, || std::future::ready(())),
        );
        assert_eq!(looks.load(Ordering::SeqCst), 3);
    }

    /// A mail's number, and the second at which it was due.
    type Due = (u128, i64);

    /// A clock that only the test moves.
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

    /// Sends mail at once, but that of one workspace never: the mail server is silent for its recipients.
    struct PartlySilent {
        clock: Arc<VirtualClock>,
        silent: String,
        sent: Mutex<BTreeMap<u128, i64>>,
        hanging: AtomicU32,
    }

    #[async_trait::async_trait]
    impl Mailer for PartlySilent {
        async fn send(&self, notification: &Notification) -> Result<(), SendError> {
            if notification.request_url.contains(&self.silent) {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                let over = self.clock.seconds() + LONGEST.whole_seconds();
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
            assert!(self.sent.lock().unwrap().insert(number(notification.id), self.clock.seconds()).is_none());
            Ok(())
        }

        async fn send_digest(&self, _: &DigestNotification) -> Result<(), SendError> {
            unreachable!("no mail is held")
        }
    }

    /// One workspace has rows that cannot be read, the statements of one fail, and the mail server is silent for the recipients
    /// of one: 48 of the 50 get two mails in each of 60 seconds, and none of them comes more than five seconds late.
    #[test]
    fn no_workspace_delays_another_by_more_than_five_seconds() {
        const WORKSPACES: u128 = 50;
        const SECONDS: i64 = 60;
        // The lowest ids: they come first in every look.
        const SILENT: u128 = 0;
        const FAILING: u128 = 1;
        const UNREADABLE: u128 = 2;
        let id = |number: u128| WorkspaceId::new(Uuid::from_u128(number));
        let clock = Arc::new(VirtualClock(AtomicI64::new(0)));
        // When each mail was due, by its number; those that are not leased yet.
        let due: Arc<Mutex<BTreeMap<u128, Vec<Due>>>> = Arc::default();
        let all: Arc<Mutex<BTreeMap<u128, i64>>> = Arc::default();

        let mut queue = MockOutboxQueue::new();
        queue.expect_workspaces_with_mail().returning(move |_| Ok((0..WORKSPACES).map(id).collect()));
        queue.expect_expand().returning(move |of, _| {
            if of == id(FAILING) { Err(StoreError::Unavailable("gone".into())) } else { Ok(None) }
        });
        let (waiting, time) = (due.clone(), clock.clone());
        queue.expect_lease_digests().returning(|_, _, _, _, _| Ok(Vec::new()));
        queue.expect_lease().returning(move |of, _, until, limit, _| {
            let of = of.uuid().as_u128();
            let mut waiting = waiting.lock().unwrap();
            let waiting = waiting.entry(of).or_default();
            let mail = |number| LeasedMail {
                subdomain: Subdomain::from_label(&format!("w{of}")).unwrap(),
                ..leased(number, until)
            };
            match of {
                FAILING => Err(StoreError::Unavailable("gone".into())),
                SILENT => {
                    Ok(LeasedMails { mails: (0..u128::from(limit)).map(mail).collect(), ..LeasedMails::default() })
                }
                _ => {
                    let taken = waiting.len().min(limit as usize);
                    let mails = waiting.drain(..taken).map(|(number, _)| mail(number)).collect();
                    let bad = of == UNREADABLE && time.seconds() % 7 == 0;
                    let unreadable = bad.then(|| unreadable(9, until)).into_iter().collect();
                    Ok(LeasedMails { mails, unreadable, unwanted: 0 })
                }
            }
        });
        queue.expect_settle().returning(|_, _, _, _, _| Ok(true));

        let mailer = Arc::new(PartlySilent {
            clock: clock.clone(),
            silent: format!("//w{SILENT}."),
            sent: Mutex::default(),
            hanging: AtomicU32::new(0),
        });
        let deliver = with_clock(queue, mailer.clone(), clock.clone());
        // Each pause is a second, in which everything else goes on, and in which new mail comes.
        let (waiting, everything, time) = (due.clone(), all.clone(), clock.clone());
        let stop = || clock.seconds() >= SECONDS + LONGEST.whole_seconds() * 2;
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

    #[test]
    fn sent_mails_are_forgotten_until_a_batch_is_not_full() {
        let mut queue = MockOutboxQueue::new();
        let batches = AtomicU32::new(0);
        queue
            .expect_purge_sent_mail()
            .withf(|before, limit| (*before, *limit) == (now().plus(-Duration::days(30)), 1_000))
            .times(2)
            .returning(move |_, _| Ok(if batches.fetch_add(1, Ordering::SeqCst) == 0 { 1_000 } else { 7 }));
        assert_eq!(block_on(deliver(queue, MockMailer::new()).purge_sent_mail()).unwrap(), 1_007);
    }
}
