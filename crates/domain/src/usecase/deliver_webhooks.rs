//! The webhook worker: distributes events to webhooks, and sends them.

mod schedule;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use futures_util::stream::{FuturesUnordered, StreamExt};
use time::Duration;
use tracing::Instrument;

use crate::error::{ErrorChain, RoadmapError, StoreError};
use crate::model::audit::Origin;
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{
    Attempt, AttemptError, DeliveryLease, DisabledBecause, Failure, LeasedDeliveries, LeasedDelivery, NewDelivery,
    Webhook, WebhookFormat,
};
use crate::model::webhook_event::{EventKind, StoredEvent};
use crate::model::workspace::Subdomain;
use crate::policy::sealing::Sealer;
use crate::policy::webhook_content::content_for;
use crate::policy::webhook_retry::{self, RetryRules};
use crate::policy::webhook_signature::signature_header;
use crate::ports::{
    AttemptObserver, Clock, EventRenderer, UndistributedEvents, WebhookQueue, WebhookRequest, WebhookResponse,
    WebhookSender,
};
use crate::usecase::announce_changelogs::announce_changelogs;
use crate::usecase::change_webhooks::{DisableWebhook, open_secrets, open_url, shown_host};
use crate::usecase::executor::Executor;

use schedule::{Key, Schedule};

/// The duration of a lease, as a multiple of the time that a try may take. Tries begin as soon as they are leased.
const LEASE: i32 = 4;

/// The number of events that are distributed at a time.
const EVENTS_AT_ONCE: u32 = 100;

/// How many times in a row events of one workspace are distributed before others get their turn.
const TURNS_OF_WORKSPACE: u32 = 10;

/// How long ended deliveries are kept.
const RETENTION: Duration = Duration::days(30);

/// How many deliveries of a webhook are deleted at a time.
const PURGED_AT_ONCE: u32 = 10_000;

/// Maximum number of bytes of a response that are kept.
const MAX_RESPONSE: usize = 1_024;

/// Returns whether the worker is to stop.
type Stop<'a> = &'a (dyn Fn() -> bool + Sync);

/// A task that runs concurrently with the worker's other tasks.
type Work<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// The result of a task.
enum Done {
    /// The webhooks with due deliveries.
    Found(Vec<Key>),
    /// Deliveries of a webhook that are to be tried now, of a number that was asked for.
    Leased(Key, usize, Option<Arc<LeasedDeliveries>>),
    /// A try has ended.
    Tried(Key, Option<AttemptError>),
    /// Deliveries were given back.
    GivenBack,
}

/// How deliveries are tried.
#[derive(Debug, Clone)]
pub struct DeliverOptions {
    /// The time limit of a try.
    pub timeout: Duration,
    /// When a failed delivery is tried again, and when a webhook is disabled.
    pub rules: RetryRules,
    /// Maximum number of waiting deliveries of a webhook.
    pub backlog: u32,
    /// The version of the service.
    pub version: &'static str,
}

/// The use case that delivers events.
#[derive(Clone)]
pub struct DeliverWebhooks {
    queue: Arc<dyn WebhookQueue>,
    renderer: Arc<dyn EventRenderer>,
    sender: Arc<dyn WebhookSender>,
    executor: Executor,
    sealer: Arc<Sealer>,
    clock: Arc<dyn Clock>,
    options: DeliverOptions,
    observer: Option<Arc<dyn AttemptObserver>>,
}

impl DeliverWebhooks {
    /// Creates the use case. Webhooks that fail for too long are disabled by an operation of `executor`.
    #[must_use]
    pub fn new(
        queue: Arc<dyn WebhookQueue>,
        renderer: Arc<dyn EventRenderer>,
        sender: Arc<dyn WebhookSender>,
        executor: Executor,
        sealer: Arc<Sealer>,
        clock: Arc<dyn Clock>,
        options: DeliverOptions,
    ) -> Self {
        let executor = executor.acting_as(Origin::service());
        Self { queue, renderer, sender, executor, sealer, clock, options, observer: None }
    }

    /// Notifies an observer of each try.
    #[must_use]
    pub fn with_observer(self, observer: Arc<dyn AttemptObserver>) -> Self {
        Self { observer: Some(observer), ..self }
    }

    /// Delivers events until `stop` returns true. Then it begins no more tries, and waits for those under way.
    ///
    /// Looks for events and due deliveries whenever the future of `pause` completes. That future must complete at once
    /// when `stop` becomes true.
    ///
    /// An error of one delivery or workspace is logged and does not delay any other. A try whose result could not be
    /// stored is repeated when its lease expires.
    pub async fn run<P: Future<Output = ()> + Send>(&self, stop: Stop<'_>, pause: impl Fn() -> P) {
        let mut schedule = Schedule::default();
        let mut under_way: FuturesUnordered<Work<'_>> = FuturesUnordered::new();
        under_way.push(Box::pin(self.find()));
        // `None` while the worker looks for work.
        let mut pausing: Option<Pin<Box<P>>> = None;
        while !stop() {
            while let Some((key, limit)) = schedule.next_lease(self.clock.now()) {
                under_way.push(Box::pin(self.lease(key, limit)));
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
                Some(Done::Found(due)) => {
                    schedule.found(&due, self.clock.now());
                    pausing = Some(Box::pin(pause()));
                }
                Some(Done::Leased(key, limit, leased)) if !stop() => {
                    let format = leased.as_ref().map(|leased| leased.webhook.format);
                    let count = leased.as_ref().map_or(0, |leased| leased.deliveries.len());
                    schedule.leased(key, limit, count, format, self.clock.now());
                    for place in 0..count {
                        let Some(leased) = leased.clone() else { break };
                        under_way.push(Box::pin(self.deliver(key, leased, place)));
                    }
                }
                Some(Done::Leased(key, _, leased)) => under_way.push(Box::pin(self.give_back(key, leased))),
                Some(Done::Tried(key, error)) => schedule.ended(key, error),
                Some(Done::GivenBack) => {}
                None => {
                    pausing = None;
                    under_way.push(Box::pin(self.find()));
                }
            }
        }
        while let Some(done) = under_way.next().await {
            if let Done::Leased(key, _, leased) = done {
                under_way.push(Box::pin(self.give_back(key, leased)));
            }
        }
    }

    /// Announces the changelogs of all workspaces whose time of publication has come. Returns their number.
    ///
    /// # Errors
    /// Errors of the store while it looks for them.
    pub async fn announce_changelogs(&self) -> Result<u64, RoadmapError> {
        announce_changelogs(&*self.queue, &self.executor, self.clock.now()).await
    }

    /// Deletes deliveries that ended long ago, and those of which a webhook has many. Returns their number.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn purge(&self) -> Result<u64, StoreError> {
        self.queue.purge(self.clock.now().plus(-RETENTION), self.options.backlog, PURGED_AT_ONCE).await
    }

    /// Distributes new events, and looks for due deliveries.
    async fn find(&self) -> Done {
        let found = async {
            for workspace in self.queue.workspaces_with_events().await? {
                if let Err(error) = self.distribute(workspace).await {
                    tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to distribute events");
                }
            }
            self.queue.due_webhooks(self.clock.now()).await
        };
        Done::Found(found.await.unwrap_or_else(|error: StoreError| {
            tracing::warn!(error = %ErrorChain::new(&error), "failed to look for events");
            Vec::new()
        }))
    }

    /// Makes the deliveries of new events of a workspace.
    async fn distribute(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        for _ in 0..TURNS_OF_WORKSPACE {
            let UndistributedEvents { events, ids, webhooks } =
                self.queue.undistributed_events(workspace, EVENTS_AT_ONCE).await?;
            if ids.is_empty() {
                break;
            }
            let deliveries: Vec<_> = events.iter().flat_map(|event| deliveries(event, &webhooks)).collect();
            self.queue.distribute(workspace, &ids, &deliveries, self.options.backlog, self.clock.now()).await?;
            if ids.len() < EVENTS_AT_ONCE as usize {
                break;
            }
        }
        Ok(())
    }

    async fn lease(&self, key: Key, limit: usize) -> Done {
        let (workspace, webhook) = key;
        let now = self.clock.now();
        let until = now.plus(self.options.timeout * LEASE);
        let count = u32::try_from(limit).unwrap_or(u32::MAX);
        let leased = self.queue.lease(workspace, webhook, now, until, count).await.unwrap_or_else(|error| {
            tracing::warn!(%workspace, %webhook, error = %ErrorChain::new(&error), "failed to lease deliveries");
            None
        });
        Done::Leased(key, limit, leased.map(Arc::new))
    }

    async fn give_back(&self, (workspace, _): Key, leased: Option<Arc<LeasedDeliveries>>) -> Done {
        let leases: Vec<DeliveryLease> =
            leased.iter().flat_map(|leased| leased.deliveries.iter().map(|delivery| delivery.lease.clone())).collect();
        if !leases.is_empty()
            && let Err(error) = self.queue.give_back(workspace, &leases, self.clock.now()).await
        {
            // Their leases expire.
            tracing::warn!(%workspace, error = %ErrorChain::new(&error), "failed to return leased deliveries");
        }
        Done::GivenBack
    }

    /// Tries one of the leased deliveries, and stores what becomes of it.
    async fn deliver(&self, key: Key, leased: Arc<LeasedDeliveries>, place: usize) -> Done {
        let (workspace, webhook) = key;
        let Some(delivery) = leased.deliveries.get(place) else { return Done::Tried(key, None) };
        let span = tracing::info_span!("delivery", %workspace, %webhook, event = %delivery.event.id);
        let error = self.try_and_settle(workspace, &leased, delivery).instrument(span).await;
        Done::Tried(key, error)
    }

    async fn try_and_settle(
        &self,
        workspace: WorkspaceId,
        leased: &LeasedDeliveries,
        delivery: &LeasedDelivery,
    ) -> Option<AttemptError> {
        let LeasedDeliveries { webhook, subdomain, .. } = leased;
        let at = self.clock.now();
        let sent = match self.request(workspace, webhook, subdomain, delivery, at) {
            Some(request) => self.sender.send(request).await,
            // Another try may have the secret that opens it.
            None => Err(AttemptError::Unreachable),
        };
        let now = self.clock.now();
        let (attempt, retry_after) = attempt(sent, at, now);
        let duration = std::time::Duration::from_millis(attempt.duration_ms);
        if let Some(observer) = &self.observer {
            observer.attempted(attempt.error, duration);
        }
        let outcome = webhook_retry::outcome(
            &self.options.rules,
            &delivery.lease,
            delivery.event.kind,
            delivery.nth,
            &attempt,
            retry_after.as_deref(),
            now,
        );
        match attempt.error {
            None => tracing::debug!(status = attempt.status, "delivered an event"),
            Some(error) => tracing::info!(
                error = error.name(),
                status = attempt.status,
                try_number = delivery.nth,
                "failed to deliver an event"
            ),
        }
        match self.queue.settle(workspace, &delivery.lease, &attempt, outcome).await {
            Ok(Some(webhook)) if delivery.event.kind != EventKind::WebhookTest => {
                if let Some(because) = webhook_retry::should_disable(&self.options.rules, &webhook, &attempt, now) {
                    self.disable(workspace, &webhook, because, &attempt).await;
                }
            }
            Ok(Some(_)) => {}
            Ok(None) => tracing::warn!("the lease of a delivery had expired, or its webhook was disabled or deleted"),
            Err(error) => {
                let error = ErrorChain::new(&error);
                tracing::warn!(%error, "failed to store the result of a delivery: it will be sent again");
            }
        }
        attempt.error
    }

    /// Makes the request of a delivery. `None` if the URL or all secrets cannot be read, or if there is nothing to send.
    fn request(
        &self,
        workspace: WorkspaceId,
        webhook: &Webhook,
        subdomain: &Subdomain,
        delivery: &LeasedDelivery,
        at: Timestamp,
    ) -> Option<WebhookRequest> {
        let url = open_url(&self.sealer, workspace, webhook)?;
        let body = self.renderer.body(&delivery.event, webhook.format, delivery.includes, workspace, subdomain)?;
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", format!("roadmap-webhooks/{}", self.options.version)),
        ];
        if webhook.format == WebhookFormat::Standard {
            let seconds = at.millis().div_euclid(1_000);
            let secrets = open_secrets(&self.sealer, workspace, webhook, at);
            headers.push(("webhook-id", delivery.event.id.to_string()));
            headers.push(("webhook-timestamp", seconds.to_string()));
            headers.push(("webhook-signature", signature_header(delivery.event.id, seconds, &body, &secrets)?));
        }
        Some(WebhookRequest { url, headers, body, timeout: self.options.timeout })
    }

    async fn disable(&self, workspace: WorkspaceId, webhook: &Webhook, because: DisabledBecause, last: &Attempt) {
        let host = shown_host(&self.sealer, workspace, webhook);
        let operation = DisableWebhook { webhook: webhook.id, because, host, last: last.clone() };
        match self.executor.run_without_key(workspace, &operation).await {
            Ok(Some(_)) => tracing::warn!(because = because.name(), "disabled a webhook"),
            Ok(None) => {}
            Err(error) => {
                // The next failed try does it.
                tracing::warn!(error = %ErrorChain::new(&error), "failed to disable a webhook");
            }
        }
    }
}

/// Returns the deliveries of an event to those webhooks that want it.
fn deliveries(event: &StoredEvent, webhooks: &[Webhook]) -> Vec<NewDelivery> {
    let delivery = |webhook: &Webhook| {
        let content = content_for(event, webhook.format, webhook.includes)?;
        let is_wanted = webhook.wants(content.kind) && webhook.records_at(event.at);
        is_wanted.then(|| NewDelivery {
            webhook: webhook.id,
            event: event.id,
            kind: content.kind,
            includes: webhook.includes,
            // It happened before the webhook was disabled.
            failure: (!webhook.enabled).then_some(Failure::Disabled),
            created_at: event.at,
        })
    };
    webhooks.iter().filter_map(delivery).collect()
}

/// Returns the record of a try, and the `Retry-After` of its response.
fn attempt(sent: Result<WebhookResponse, AttemptError>, at: Timestamp, now: Timestamp) -> (Attempt, Option<String>) {
    let duration_ms = u64::try_from(now.millis().saturating_sub(at.millis())).unwrap_or(0);
    match sent {
        Ok(WebhookResponse { status, retry_after, body }) => {
            let error = (!(200..300).contains(&status)).then_some(AttemptError::Status);
            (
                Attempt { at, status: Some(status), error, duration_ms, response: Some(response_text(&body)) },
                retry_after,
            )
        }
        Err(error) => (Attempt { at, status: None, error: Some(error), duration_ms, response: None }, None),
    }
}

/// Returns the beginning of a response as text, without control characters.
fn response_text(body: &[u8]) -> String {
    let beginning = body.get(..MAX_RESPONSE).unwrap_or(body);
    let text = String::from_utf8_lossy(beginning);
    text.chars().map(|char| if char.is_control() { char::REPLACEMENT_CHARACTER } else { char }).collect()
}

#[cfg(test)]
mod tests;
