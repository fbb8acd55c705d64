//! Unit tests of the webhook worker.

use super::*;
use crate::model::id::{FeatureRequestId, WebhookEventId, WebhookId};
use crate::model::webhook::DeliveryOutcome;
use crate::model::webhook_event::{EventDetails, EventSnapshot, LinkDetails};
use crate::policy::sealing::{SealedKind, SealedPlace, SecretText};
use crate::policy::signed_reference::Secret;
use crate::policy::webhook_signature;
use crate::ports::Random;
use crate::ports::mocks::{MockEventRenderer, MockStore, MockUnit, MockWebhookQueue, MockWebhookSender};
use crate::ports::{BeginOutcome, EndOutcome};
use crate::usecase::fixtures::{FixedClock, actor, executor_of, now, webhook, workspace};
use pollster::block_on;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use uuid::Uuid;

struct Zeros;

impl Random for Zeros {
    fn base62(&self, characters: usize) -> String {
        "0".repeat(characters)
    }
}

fn sealer() -> Arc<Sealer> {
    Arc::new(Sealer::new(&Secret::parse("secret", "8f0c2b64e19d7a35f1e40b9c6d2a8375").unwrap(), &[], Arc::new(Zeros)))
}

fn event(number: u128, kind: EventKind) -> StoredEvent {
    let link = LinkDetails {
        id: FeatureRequestId::new(Uuid::from_u128(1)),
        tag_number: 1,
        title: "Dark mode".to_owned(),
        private: false,
    };
    let details = EventDetails { deleted: Some(link), ..EventDetails::default() };
    let id = WebhookEventId::new(Uuid::from_u128(number));
    StoredEvent { id, kind, actor: actor(), at: now(), details, snapshot: EventSnapshot::default() }
}

/// A webhook whose URL and secret open.
fn sealed(format: WebhookFormat) -> Webhook {
    let mut webhook = webhook(format);
    let place = |kind| SealedPlace { workspace: workspace(), kind, record: webhook.id.uuid() };
    let url = SecretText::new("https://example.com/hook".to_owned());
    let sealed_url = sealer().seal(place(SealedKind::WebhookUrl), &url);
    let secret = sealer().seal(place(SealedKind::WebhookSecret), &webhook_signature::new_secret(&[7; 32]));
    webhook.sealed_url = sealed_url;
    webhook.secrets = vec![crate::model::webhook::SealedSecret { sealed: secret, expires_at: None }];
    webhook
}

fn leased(webhook: &Webhook, kind: EventKind) -> LeasedDeliveries {
    let event = event(1, kind);
    let lease = DeliveryLease { webhook: webhook.id, event: event.id, until: now().plus(Duration::MINUTE) };
    let delivery = LeasedDelivery { lease, event, includes: webhook.includes, nth: NonZeroU32::MIN };
    let subdomain = Subdomain::parse("subdomain", "acme").unwrap();
    LeasedDeliveries { webhook: webhook.clone(), subdomain, deliveries: vec![delivery] }
}

/// What was sent: the headers and the body.
type Sent = Arc<Mutex<Vec<(Vec<(&'static str, String)>, String)>>>;

/// What was settled.
type Settled = Arc<Mutex<Vec<(Attempt, DeliveryOutcome)>>>;

/// Runs a worker that finds one due delivery, whose request has this response, until it is settled.
fn deliver(
    webhook: &Webhook,
    kind: EventKind,
    response: Result<WebhookResponse, AttemptError>,
    unit: Option<MockUnit>,
) -> (Sent, Settled) {
    let (sent, settled, stopped) = (Sent::default(), Settled::default(), Arc::new(AtomicBool::new(false)));
    let mut queue = MockWebhookQueue::new();
    queue.expect_workspaces_with_events().returning(|| Ok(Vec::new()));
    let key = (workspace(), webhook.id);
    queue.expect_due_webhooks().returning(move |_| Ok(vec![key]));
    let (batch, mut first) = (leased(webhook, kind), true);
    queue.expect_lease().returning(move |_, _, _, _, _| Ok(std::mem::take(&mut first).then(|| batch.clone())));
    let (settling, stopping, failing) = (settled.clone(), stopped.clone(), webhook.clone());
    queue.expect_settle().times(1).returning(move |_, _, attempt, outcome| {
        settling.lock().unwrap().push((attempt.clone(), outcome));
        stopping.store(true, Ordering::SeqCst);
        Ok(Some(Webhook { failing_since: attempt.error.map(|_| attempt.at), ..failing.clone() }))
    });
    let mut renderer = MockEventRenderer::new();
    renderer.expect_body().returning(|_, _, _, _, _| Some("{}".to_owned()));
    let mut sender = MockWebhookSender::new();
    let sending = sent.clone();
    sender.expect_send().returning(move |request| {
        assert_eq!(request.url.as_str(), "https://example.com/hook");
        sending.lock().unwrap().push((request.headers, request.body));
        response.clone()
    });
    let mut store = MockStore::new();
    if let Some(mut unit) = unit {
        unit.expect_commit().returning(|_, _| Ok(EndOutcome::Applied));
        store.expect_begin().times(1).return_once(move |_, _| Ok(BeginOutcome::Started(Box::new(unit))));
    }
    let worker = worker(queue, renderer, sender, executor_of(store));
    block_on(worker.run(&move || stopped.load(Ordering::SeqCst), || std::future::ready(())));
    (sent, settled)
}

fn worker(
    queue: MockWebhookQueue,
    renderer: MockEventRenderer,
    sender: MockWebhookSender,
    executor: Executor,
) -> DeliverWebhooks {
    let options = DeliverOptions {
        timeout: Duration::seconds(15),
        rules: RetryRules::default(),
        backlog: 10_000,
        version: "1.2.3",
    };
    DeliverWebhooks::new(
        Arc::new(queue),
        Arc::new(renderer),
        Arc::new(sender),
        executor,
        sealer(),
        Arc::new(FixedClock),
        options,
    )
}

fn responds(status: u16) -> Result<WebhookResponse, AttemptError> {
    Ok(WebhookResponse { status, retry_after: None, body: b"ok\0\n".to_vec() })
}

#[test]
fn a_request_is_signed_and_its_response_is_kept() {
    let (sent, settled) = deliver(&sealed(WebhookFormat::Standard), EventKind::VoteCreated, responds(204), None);
    let (headers, body) = sent.lock().unwrap().remove(0);
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["content-type", "user-agent", "webhook-id", "webhook-timestamp", "webhook-signature"]);
    assert_eq!((headers[1].1.as_str(), body.as_str()), ("roadmap-webhooks/1.2.3", "{}"));
    assert!(headers[4].1.starts_with("v1,"), "{headers:?}");
    let (attempt, outcome) = settled.lock().unwrap().remove(0);
    assert_eq!((attempt.status, attempt.error, outcome), (Some(204), None, DeliveryOutcome::Delivered));
    assert_eq!(attempt.response.as_deref(), Some("ok\u{fffd}\u{fffd}"));
}

#[test]
fn chat_services_get_no_signature() {
    let (sent, _) = deliver(&sealed(WebhookFormat::Slack), EventKind::FeatureRequestCreated, responds(200), None);
    assert_eq!(sent.lock().unwrap()[0].0.len(), 2);
}

#[test]
fn a_failed_delivery_is_postponed() {
    for response in [responds(500), responds(302), Err(AttemptError::Timeout), Err(AttemptError::Tls)] {
        let (_, settled) = deliver(&sealed(WebhookFormat::Standard), EventKind::VoteCreated, response.clone(), None);
        let (attempt, outcome) = settled.lock().unwrap().remove(0);
        assert_eq!(attempt.error, Some(response.err().unwrap_or(AttemptError::Status)));
        assert!(
            matches!(outcome, DeliveryOutcome::Postponed(at) if at >= now().plus(Duration::seconds(5))),
            "{outcome:?}"
        );
    }
}

#[test]
fn a_webhook_that_cannot_be_read_is_tried_again_without_a_request() {
    let unreadable = Webhook { sealed_url: "sealed1.x.y.z".to_owned(), ..sealed(WebhookFormat::Standard) };
    let (sent, settled) = deliver(&unreadable, EventKind::VoteCreated, responds(200), None);
    assert!(sent.lock().unwrap().is_empty());
    assert!(matches!(settled.lock().unwrap()[0].1, DeliveryOutcome::Postponed(_)));
}

#[test]
fn a_webhook_that_is_gone_is_disabled() {
    let webhook = sealed(WebhookFormat::Standard);
    let (mut unit, known) = (MockUnit::new(), webhook.clone());
    unit.expect_load_webhooks().returning(move || Ok(vec![known.clone()]));
    unit.expect_load_members().returning(|| Ok(Vec::new()));
    unit.expect_save_webhook()
        .times(1)
        .withf(|webhook| !webhook.enabled && webhook.disabled_because == Some(DisabledBecause::Gone))
        .returning(|_| Ok(()));
    unit.expect_fail_waiting().times(1).withf(|_, failure| *failure == Failure::Gone).returning(|_, _| Ok(()));
    unit.expect_insert_audit_entry().times(1).returning(|_| Ok(()));
    let (_, settled) = deliver(&webhook, EventKind::VoteCreated, responds(410), Some(unit));
    assert_eq!(settled.lock().unwrap()[0].1, DeliveryOutcome::Failed(Failure::Gone));
    // A test event changes nothing of the webhook.
    let (_, settled) = deliver(&webhook, EventKind::WebhookTest, responds(410), None);
    assert_eq!(settled.lock().unwrap()[0].1, DeliveryOutcome::Failed(Failure::Gone));
}

#[test]
fn events_are_distributed_to_those_who_want_them_then() {
    let numbered = |number, change: fn(&mut Webhook)| {
        let mut webhook = webhook(WebhookFormat::Standard);
        webhook.id = WebhookId::new(Uuid::from_u128(number));
        change(&mut webhook);
        webhook
    };
    let webhooks = vec![
        numbered(1, |_| {}),
        numbered(2, |webhook| webhook.events = Some(vec![EventKind::VoteCreated])),
        numbered(3, |webhook| webhook.format = WebhookFormat::Slack),
        numbered(4, |webhook| webhook.enabled_at = now().plus(Duration::SECOND)),
        numbered(5, |webhook| {
            webhook.enabled = false;
            webhook.disabled_at = Some(now().plus(Duration::SECOND));
        }),
        numbered(6, |webhook| {
            webhook.enabled = false;
            webhook.disabled_at = Some(now());
        }),
    ];
    let mut queue = MockWebhookQueue::new();
    queue.expect_workspaces_with_events().returning(|| Ok(vec![workspace()]));
    let deleted = event(9, EventKind::FeatureRequestDeleted);
    let unreadable = WebhookEventId::new(Uuid::from_u128(10));
    let found = UndistributedEvents { ids: vec![deleted.id, unreadable], events: vec![deleted], webhooks };
    queue.expect_undistributed_events().returning(move |_, _| Ok(found.clone()));
    let stopped = Arc::new(AtomicBool::new(false));
    let stopping = stopped.clone();
    queue.expect_distribute().times(1).returning(move |_, ids, deliveries, backlog, _| {
        assert_eq!((ids.len(), backlog), (2, 10_000));
        let made: Vec<_> = deliveries.iter().map(|made| (made.webhook.uuid().as_u128(), made.failure)).collect();
        assert_eq!(made, [(1, None), (5, Some(Failure::Disabled))]);
        stopping.store(true, Ordering::SeqCst);
        Ok(())
    });
    queue.expect_due_webhooks().returning(|_| Ok(Vec::new()));
    let worker = worker(queue, MockEventRenderer::new(), MockWebhookSender::new(), executor_of(MockStore::new()));
    block_on(worker.run(&move || stopped.load(Ordering::SeqCst), || std::future::ready(())));
}

#[test]
fn what_was_leased_while_the_worker_stops_is_given_back() {
    let webhook = sealed(WebhookFormat::Standard);
    let stopped = Arc::new(AtomicBool::new(false));
    let mut queue = MockWebhookQueue::new();
    queue.expect_workspaces_with_events().returning(|| Ok(Vec::new()));
    let key = (workspace(), webhook.id);
    queue.expect_due_webhooks().returning(move |_| Ok(vec![key]));
    let (batch, stopping) = (leased(&webhook, EventKind::VoteCreated), stopped.clone());
    queue.expect_lease().returning(move |_, _, _, _, _| {
        stopping.store(true, Ordering::SeqCst);
        Ok(Some(batch.clone()))
    });
    queue.expect_give_back().times(1).withf(|_, leases, _| leases.len() == 1).returning(|_, _, _| Ok(()));
    let worker = worker(queue, MockEventRenderer::new(), MockWebhookSender::new(), executor_of(MockStore::new()));
    block_on(worker.run(&move || stopped.load(Ordering::SeqCst), || std::future::ready(())));
}

#[test]
fn a_failing_store_stops_no_worker() {
    let (stopped, mut looks) = (Arc::new(AtomicBool::new(false)), 0);
    let stopping = stopped.clone();
    let mut queue = MockWebhookQueue::new();
    queue.expect_workspaces_with_events().returning(move || {
        looks += 1;
        stopping.store(looks == 3, Ordering::SeqCst);
        Err(StoreError::Unavailable("gone".into()))
    });
    let worker = worker(queue, MockEventRenderer::new(), MockWebhookSender::new(), executor_of(MockStore::new()));
    block_on(worker.run(&move || stopped.load(Ordering::SeqCst), || std::future::ready(())));
}
