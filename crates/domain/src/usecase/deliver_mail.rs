//! Sends the mail that the outbox holds: what workers do.

use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use time::Duration;

use crate::error::RoadmapError;
use crate::model::base_url::BaseUrl;
use crate::model::id::WorkspaceId;
use crate::model::mail::{LeasedMail, MailOutcome, Notification};
use crate::model::slug::slug;
use crate::policy::mail_retry;
use crate::policy::reference::{Purpose, References};
use crate::ports::{Clock, Mailer, OutboxQueue};
use crate::usecase::batches;

/// How many mails a worker takes out at a time, of one workspace: after them, the next has its turn.
const BATCH: u32 = 40;

/// How many of them are under way at a time.
const AT_ONCE: usize = 8;

/// How many mails of a big audience are written out at a time.
const AUDIENCE: u32 = 500;

/// How long a lease lasts, in times that one mail may take at most. A mail is only begun in the
/// first half of it, so that nobody else takes it while it is under way.
const LEASE: i32 = 4;

/// How long mails that were sent are remembered.
const MEMORY: Duration = Duration::days(30);

/// Sends mail.
#[derive(Clone)]
pub struct DeliverMail {
    queue: Arc<dyn OutboxQueue>,
    mailer: Arc<dyn Mailer>,
    clock: Arc<dyn Clock>,
    references: Arc<References>,
    base_url: BaseUrl,
    longest: Duration,
}

impl DeliverMail {
    /// Sends what is in `queue` by `mailer`, which takes at most `longest` for one mail.
    #[must_use]
    pub fn new(
        queue: Arc<dyn OutboxQueue>,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
        references: Arc<References>,
        base_url: BaseUrl,
        longest: Duration,
    ) -> Self {
        Self { queue, mailer, clock, references, base_url, longest }
    }

    /// One turn for each workspace that has mail. Returns whether there was any. As soon as `stop`
    /// says so, no mail is begun any more; those that are under way are sent.
    ///
    /// # Errors
    /// Those of the store. What it has not been told is sent again when the lease is over.
    pub async fn round(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<bool, RoadmapError> {
        let workspaces = self.queue.workspaces_with_mail(self.clock.now()).await?;
        let mut any = false;
        for workspace in workspaces {
            if stop() {
                break;
            }
            any |= self.queue.expand(workspace, AUDIENCE).await?.is_some();
            any |= self.send_batch(workspace, stop).await?;
        }
        Ok(any)
    }

    async fn send_batch(&self, workspace: WorkspaceId, stop: &(dyn Fn() -> bool + Sync)) -> Result<bool, RoadmapError> {
        let now = self.clock.now();
        let mails = self.queue.lease(workspace, now, now.plus(self.longest * LEASE), BATCH).await?;
        let any = !mails.is_empty();
        let mut sending = stream::iter(mails)
            .map(|mail| async move {
                let outcome = self.send(workspace, &mail, stop).await;
                let (until, now) = (mail.leased_until, self.clock.now());
                let settled = self.queue.settle(workspace, mail.id, until, &outcome, now).await;
                if let Ok(false) = settled {
                    tracing::warn!(mail = %mail.id, "a mail's lease was over, or its recipient has unsubscribed meanwhile");
                }
                settled.map(|_| ())
            })
            .buffer_unordered(AT_ONCE);
        let mut outcome = Ok(any);
        while let Some(settled) = sending.next().await {
            // The others are under way: they are waited for, and settled.
            if let Err(error) = settled {
                outcome = Err(error.into());
            }
        }
        outcome
    }

    async fn send(&self, workspace: WorkspaceId, mail: &LeasedMail, stop: &(dyn Fn() -> bool + Sync)) -> MailOutcome {
        if stop() || self.clock.now().plus(self.longest * (LEASE / 2)) > mail.leased_until {
            return MailOutcome::Returned;
        }
        match self.mailer.send(&self.notification(workspace, mail)).await {
            Ok(()) => MailOutcome::Sent,
            Err(not_sent) => {
                let outcome = mail_retry::outcome(mail.id, mail.attempt, not_sent, self.clock.now());
                match &outcome {
                    MailOutcome::Dead { reason, .. } => {
                        tracing::warn!(mail = %mail.id, attempt = mail.attempt, reason, "a mail is given up");
                    }
                    MailOutcome::Postponed { until, reason } => {
                        tracing::info!(mail = %mail.id, attempt = mail.attempt, %until, reason, "a mail is tried again");
                    }
                    MailOutcome::Sent | MailOutcome::Returned => {}
                }
                outcome
            }
        }
    }

    fn notification(&self, workspace: WorkspaceId, mail: &LeasedMail) -> Notification {
        let base = self.base_url.of_workspace(&mail.subdomain);
        let token = self.references.sign(Purpose::Unsubscribe, workspace, mail.id.customer.uuid());
        Notification {
            id: mail.id,
            to: mail.to.clone(),
            product_name: mail.product_name.clone(),
            title: mail.title.clone(),
            request_url: format!("{base}/feature_requests/{}", slug(mail.tag_number, &mail.title)),
            comment: mail.comment.clone(),
            unsubscribe_url: format!("{base}/unsubscribe/{token}?request={}", mail.request),
        }
    }

    /// Forgets mails that were sent long ago, in batches. Returns how many.
    ///
    /// # Errors
    /// Those of the store; what was deleted until then stays deleted.
    pub async fn forget_sent(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-MEMORY);
        Ok(batches::delete_all(|limit| self.queue.forget_sent(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StoreError;
    use crate::model::email_address::EmailAddress;
    use crate::model::feature_request::Title;
    use crate::model::html::CleanHtml;
    use crate::model::id::{CommentId, CustomerId, RequestId};
    use crate::model::mail::{MailId, NotSent};
    use crate::model::timestamp::Timestamp;
    use crate::model::workspace::Subdomain;
    use crate::policy::reference::Secret;
    use crate::ports::mocks::{MockMailer, MockOutboxQueue};
    use crate::usecase::fixtures::{FixedClock, name, now, workspace};
    use pollster::block_on;
    use std::num::NonZeroU32;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};
    use uuid::Uuid;

    const LONGEST: Duration = Duration::seconds(30);

    fn leased(number: u128, leased_until: Timestamp) -> LeasedMail {
        LeasedMail {
            id: MailId {
                comment: CommentId::new(Uuid::from_u128(0xc0)),
                customer: CustomerId::new(Uuid::from_u128(number)),
            },
            leased_until,
            attempt: NonZeroU32::MIN,
            to: EmailAddress::parse("email", &format!("v{number}@example.com")).unwrap(),
            request: RequestId::new(Uuid::from_u128(0x7)),
            tag_number: 7,
            title: Title::stored("Dark mode".to_owned()),
            comment: CleanHtml::stored("<p>Soon</p>".to_owned()),
            product_name: name("Acme"),
            subdomain: Subdomain::of_label("acme").unwrap(),
        }
    }

    /// A queue with these mails in one workspace.
    fn queue(mails: Vec<LeasedMail>) -> MockOutboxQueue {
        let mut queue = MockOutboxQueue::new();
        queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
        queue.expect_expand().returning(|_, _| Ok(None));
        queue
            .expect_lease()
            .withf(|_, at, until, limit| *at == now() && *until == now().plus(LONGEST * 4) && *limit == 40)
            .return_once(move |_, _, _, _| Ok(mails));
        queue
    }

    fn deliver(queue: MockOutboxQueue, mailer: MockMailer) -> DeliverMail {
        let secret = Secret::parse("secret", &"s".repeat(32)).unwrap();
        let references = Arc::new(References::new(secret, Vec::new()));
        let base_url = BaseUrl::parse("base_url", "https://roadmap.example.com").unwrap();
        DeliverMail::new(Arc::new(queue), Arc::new(mailer), Arc::new(FixedClock), references, base_url, LONGEST)
    }

    fn round(deliver: &DeliverMail) -> Result<bool, RoadmapError> {
        block_on(deliver.round(&|| false))
    }

    #[test]
    fn each_mail_is_sent_and_settled_under_its_lease() {
        let until = now().plus(LONGEST * 4);
        let mut queue = queue(vec![leased(1, until), leased(2, until)]);
        let settled = Arc::new(Mutex::new(Vec::new()));
        let seen = settled.clone();
        queue.expect_settle().returning(move |of, mail, leased_until, outcome, at| {
            seen.lock().unwrap().push((of, mail.customer.uuid().as_u128(), leased_until, outcome.clone(), at));
            Ok(true)
        });
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(2).returning(|notification| {
            let bad = notification.id.customer.uuid().as_u128() == 2;
            if bad { Err(NotSent::Never { reason: "550".to_owned(), no_such_mailbox: true }) } else { Ok(()) }
        });
        assert!(round(&deliver(queue, mailer)).unwrap());
        let dead = MailOutcome::Dead { reason: "550".to_owned(), no_such_mailbox: true };
        let settled = settled.lock().unwrap();
        let expected = [(1, MailOutcome::Sent), (2, dead)];
        for (settled, (customer, outcome)) in settled.iter().zip(expected) {
            assert_eq!(*settled, (workspace(), customer, until, outcome, now()));
        }
        assert_eq!(settled.len(), 2);
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
    fn nothing_is_begun_after_the_stop_or_late_in_a_lease() {
        let until = now().plus(LONGEST * 4);
        for (mails, stop_after) in [
            (vec![leased(1, until), leased(2, until)], 1),
            (vec![leased(1, now().plus(LONGEST * 2 - Duration::MILLISECOND))], 100),
        ] {
            let expected = mails.len();
            let mut queue = queue(mails);
            queue
                .expect_settle()
                .withf(|_, _, _, outcome, _| *outcome == MailOutcome::Returned)
                .times(expected)
                .returning(|_, _, _, _, _| Ok(true));
            // `MockMailer` expects no mail.
            let asked = AtomicU32::new(0);
            let stop = || asked.fetch_add(1, Ordering::SeqCst) >= stop_after;
            assert!(block_on(deliver(queue, MockMailer::new()).round(&stop)).unwrap());
        }
    }

    #[test]
    fn one_mail_that_cannot_be_settled_does_not_keep_the_others() {
        let until = now().plus(LONGEST * 4);
        let mut queue = queue((1..=20).map(|number| leased(number, until)).collect());
        queue.expect_settle().times(20).returning(|_, mail, _, _, _| {
            if mail.customer.uuid().as_u128() == 3 { Err(StoreError::Unavailable("gone".into())) } else { Ok(true) }
        });
        let mut mailer = MockMailer::new();
        mailer.expect_send().times(20).returning(|_| Ok(()));
        assert!(matches!(round(&deliver(queue, mailer)), Err(RoadmapError::Store(StoreError::Unavailable(_)))));
    }

    #[test]
    fn audiences_are_written_out_beside_the_sending() {
        let mut queue = MockOutboxQueue::new();
        queue.expect_workspaces_with_mail().returning(|_| Ok(vec![workspace()]));
        queue.expect_expand().withf(|of, limit| (*of, *limit) == (workspace(), 500)).return_once(|_, _| Ok(Some(0)));
        queue.expect_lease().return_once(|_, _, _, _| Ok(Vec::new()));
        assert!(round(&deliver(queue, MockMailer::new())).unwrap());

        let mut idle = MockOutboxQueue::new();
        idle.expect_workspaces_with_mail().return_once(|_| Ok(Vec::new()));
        assert!(!round(&deliver(idle, MockMailer::new())).unwrap());
    }

    #[test]
    fn sent_mails_are_forgotten_until_a_batch_is_not_full() {
        let mut queue = MockOutboxQueue::new();
        let batches = AtomicU32::new(0);
        queue
            .expect_forget_sent()
            .withf(|before, limit| (*before, *limit) == (now().plus(-Duration::days(30)), 1_000))
            .times(2)
            .returning(move |_, _| Ok(if batches.fetch_add(1, Ordering::SeqCst) == 0 { 1_000 } else { 7 }));
        assert_eq!(block_on(deliver(queue, MockMailer::new()).forget_sent()).unwrap(), 1_007);
    }
}
