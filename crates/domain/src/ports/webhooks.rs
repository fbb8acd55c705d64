//! Ports for webhooks: their settings, the events of operations, and the queue of the workers.

use async_trait::async_trait;
use time::Duration;

use crate::error::StoreError;
use crate::model::id::{ChangelogId, CustomerId, WebhookEventId, WebhookId, WorkspaceId};
use crate::model::pagination::{Listing, PageRequest};
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{
    Attempt, AttemptError, Delivery, DeliveryDetail, DeliveryLease, DeliveryOutcome, DeliveryState, Failure, Inclusion,
    LeasedDeliveries, NewDelivery, Webhook, WebhookDepth, WebhookFormat,
};
use crate::model::webhook_event::{NewWebhookEvent, StoredEvent};
use crate::model::workspace::Subdomain;
use crate::policy::sealing::SecretText;

/// Reads webhooks and their deliveries.
#[async_trait]
pub trait WebhookReader: Send + Sync {
    /// Returns the webhooks of a workspace, oldest first.
    async fn webhooks(&self, workspace: WorkspaceId) -> Result<Vec<Webhook>, StoreError>;

    /// Returns the deliveries of a webhook, newest event first. Those of an unknown webhook are none.
    async fn deliveries(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        state: Option<DeliveryState>,
        page: PageRequest,
    ) -> Result<Listing<Delivery>, StoreError>;

    /// Returns a delivery with its tries.
    async fn delivery(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<DeliveryDetail>, StoreError>;
}

/// Writes of webhooks and events.
#[async_trait]
pub trait WebhookWrites {
    /// Returns the webhooks, oldest first. Other units of work that load them wait for this one.
    async fn load_webhooks(&mut self) -> Result<Vec<Webhook>, StoreError>;

    /// Stores a webhook, or replaces it.
    async fn save_webhook(&mut self, webhook: &Webhook) -> Result<(), StoreError>;

    /// Deletes a webhook with its deliveries.
    async fn delete_webhook(&mut self, webhook: WebhookId) -> Result<(), StoreError>;

    /// Lets the deliveries of a webhook that wait fail, also those that are tried now. Test events are left out.
    async fn fail_waiting(&mut self, webhook: WebhookId, failure: Failure) -> Result<(), StoreError>;

    /// Stores events with the records that they are about, as these are at the end of the unit of work: it may be done at
    /// the commit, together with it. Nothing is stored in a workspace without an enabled webhook.
    ///
    /// Contract: costs no round trip of its own on a server, and does not take the unit's vote out of a batch
    /// ([`VoteWrites::cast_vote`](super::VoteWrites::cast_vote)).
    async fn record_events(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError>;

    /// As [`Self::record_events`], with the records as they are now: before they are deleted.
    async fn record_events_now(&mut self, events: &[NewWebhookEvent]) -> Result<(), StoreError>;

    /// Stores a test event and its delivery, which is due before all others.
    async fn insert_test_delivery(&mut self, event: &NewWebhookEvent, delivery: &NewDelivery)
    -> Result<(), StoreError>;

    /// Returns a delivery, without its last attempt. Other units of work that find it, and the end of a try, wait for this
    /// one.
    async fn find_delivery(
        &mut self,
        webhook: WebhookId,
        event: WebhookEventId,
    ) -> Result<Option<Delivery>, StoreError>;

    /// Lets a delivery wait again, whatever its state: due at `at`, with all tries.
    async fn redeliver(&mut self, webhook: WebhookId, event: WebhookEventId, at: Timestamp) -> Result<(), StoreError>;

    /// Lets all failed deliveries of a webhook wait again whose events are not older than `since`. Test events are left
    /// out. Returns their number.
    async fn redeliver_failed(
        &mut self,
        webhook: WebhookId,
        since: Timestamp,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Deletes the events that name a customer, with their deliveries.
    async fn delete_events_of(&mut self, customer: CustomerId) -> Result<(), StoreError>;

    /// Marks a changelog whose time of publication has come as announced. Returns whether it was to be announced and is
    /// public at `at`.
    async fn mark_announced(&mut self, changelog: ChangelogId, at: Timestamp) -> Result<bool, StoreError>;
}

/// New events of a workspace, and the webhooks that may want them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndistributedEvents {
    /// In the order of their IDs.
    pub events: Vec<StoredEvent>,
    /// The IDs of all that were found, also of those that cannot be read.
    pub ids: Vec<WebhookEventId>,
    pub webhooks: Vec<Webhook>,
}

/// Events and deliveries as workers see them. Several workers may use it concurrently, also from several processes.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WebhookQueue: Send + Sync {
    /// Returns the workspaces with events that are not distributed yet.
    async fn workspaces_with_events(&self) -> Result<Vec<WorkspaceId>, StoreError>;

    /// Returns the oldest `limit` events of a workspace that are not distributed yet, and all its webhooks.
    async fn undistributed_events(&self, workspace: WorkspaceId, limit: u32)
    -> Result<UndistributedEvents, StoreError>;

    /// Stores the deliveries of events and marks the events as distributed. Those that another worker has distributed
    /// meanwhile are left out, and so are deliveries of webhooks that no longer exist. Those of a webhook that was disabled
    /// meanwhile have failed. Events without a delivery are deleted.
    /// Of more than `backlog` waiting deliveries of a webhook, the oldest fail.
    ///
    /// Contract: the operation is atomic.
    async fn distribute(
        &self,
        workspace: WorkspaceId,
        events: &[WebhookEventId],
        deliveries: &[NewDelivery],
        backlog: u32,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the webhooks of all workspaces that have due deliveries.
    async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError>;

    /// Leases due deliveries of a webhook until `until`: test events first, then those that have been due longest. `None`
    /// if the webhook does not exist. Of a disabled one, only test events.
    ///
    /// Contract: no delivery is leased to two workers at the same time.
    async fn lease(
        &self,
        workspace: WorkspaceId,
        webhook: WebhookId,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Option<LeasedDeliveries>, StoreError>;

    /// Stores a try and what becomes of the delivery, unless its lease has expired; then nothing changes. A success ends the
    /// failing of the webhook, a failure begins or continues it. Test events change nothing of the webhook. Returns the
    /// webhook as it is then, or `None` if nothing was changed.
    async fn settle(
        &self,
        workspace: WorkspaceId,
        lease: &DeliveryLease,
        attempt: &Attempt,
        outcome: DeliveryOutcome,
    ) -> Result<Option<Webhook>, StoreError>;

    /// Returns leased deliveries that were not tried.
    async fn give_back(
        &self,
        workspace: WorkspaceId,
        leases: &[DeliveryLease],
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the state of all deliveries.
    async fn depth(&self, now: Timestamp) -> Result<WebhookDepth, StoreError>;

    /// Returns the changelogs of all workspaces that are to be announced, at most `limit`.
    async fn changelogs_to_announce(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(WorkspaceId, ChangelogId)>, StoreError>;

    /// Deletes ended deliveries of events before `before`, and of each webhook all but the newest `keep`, at most `limit`
    /// of each webhook, and with them the events that have none left. Returns their number.
    async fn purge(&self, before: Timestamp, keep: u32, limit: u32) -> Result<u64, StoreError>;
}

/// Observes the tries of deliveries, as metrics do.
pub trait AttemptObserver: Send + Sync {
    /// A try has ended, with this error or with success.
    fn attempted(&self, error: Option<AttemptError>, duration: std::time::Duration);
}

/// Makes the bodies of requests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait EventRenderer: Send + Sync {
    /// Returns the body that a webhook of this format gets, or `None` if it gets nothing about the event.
    ///
    /// Contract: equal arguments give equal bodies.
    fn body(
        &self,
        event: &StoredEvent,
        format: WebhookFormat,
        includes: Inclusion,
        workspace: WorkspaceId,
        subdomain: &Subdomain,
    ) -> Option<String>;
}

/// A request that is to be sent. It is not `Debug`, because the URL may be a credential.
pub struct WebhookRequest {
    pub url: SecretText,
    /// Names and values of headers.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    /// The time limit of the whole try.
    pub timeout: Duration,
}

/// A response, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookResponse {
    pub status: u16,
    /// The value of `Retry-After`.
    pub retry_after: Option<String>,
    /// The beginning of the body.
    pub body: Vec<u8>,
}

/// Sends the requests of webhooks.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Sends a request, once.
    ///
    /// # Errors
    /// Why there is no response: any [`AttemptError`] but [`AttemptError::Status`].
    async fn send(&self, request: WebhookRequest) -> Result<WebhookResponse, AttemptError>;
}
