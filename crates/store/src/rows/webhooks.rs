//! Webhooks, events and deliveries.

use std::num::NonZeroU32;

use diesel::Queryable;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::{Actor, ActorKind};
use roadmap_domain::model::id::{WebhookEventId, WebhookId};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Attempt, AttemptError, Delivery, DeliveryDetail, DeliveryLease, DeliveryState, DisabledBecause, Failure, Inclusion,
    LeasedDelivery, SealedSecret, Webhook, WebhookDepth, WebhookFormat,
};
use roadmap_domain::model::webhook_event::{EventDetails, EventKind, StoredEvent};

use crate::columns::{Id, TimestampColumn, inconsistent, optional_timestamp};

/// A webhook.
#[derive(Debug, Queryable)]
pub struct WebhookRow {
    id: Id,
    sealed_url: String,
    /// A JSON array of secrets.
    sealed_secrets: String,
    description: String,
    format: String,
    events: Option<String>,
    include_private: bool,
    include_emails: bool,
    pub enabled: bool,
    disabled_because: Option<String>,
    enabled_at: TimestampColumn,
    disabled_at: Option<TimestampColumn>,
    failing_since: Option<TimestampColumn>,
    failed_tries: i32,
    created_at: TimestampColumn,
    updated_at: TimestampColumn,
}

impl TryFrom<WebhookRow> for Webhook {
    type Error = StoreError;

    fn try_from(row: WebhookRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("webhooks", column, row.id);
        let at = |timestamp: TimestampColumn, column| timestamp.into_timestamp("webhooks", column, row.id);
        let optional = |timestamp, column| optional_timestamp(timestamp, "webhooks", column, row.id);
        let because = |name: &str| DisabledBecause::from_name(name).ok_or_else(|| broken("disabled_because"));
        Ok(Self {
            id: WebhookId::new(row.id.0),
            secrets: serde_json::from_str(&row.sealed_secrets).map_err(|_| broken("sealed_secrets"))?,
            format: WebhookFormat::from_name(&row.format).ok_or_else(|| broken("format"))?,
            events: row.events.as_deref().map(Self::parse_events_column),
            includes: Inclusion { private: row.include_private, emails: row.include_emails },
            enabled: row.enabled,
            disabled_because: row.disabled_because.as_deref().map(because).transpose()?,
            enabled_at: at(row.enabled_at, "enabled_at")?,
            disabled_at: optional(row.disabled_at, "disabled_at")?,
            failing_since: optional(row.failing_since, "failing_since")?,
            failed_tries: row.failed_tries.unsigned_abs(),
            created_at: at(row.created_at, "created_at")?,
            updated_at: at(row.updated_at, "updated_at")?,
            sealed_url: row.sealed_url,
            description: row.description,
        })
    }
}

/// Returns the stored form of sealed secrets.
///
/// # Errors
/// They cannot be written as JSON.
pub fn secrets_column(secrets: &[SealedSecret]) -> Result<String, StoreError> {
    serde_json::to_string(secrets).map_err(|error| StoreError::Fatal(error.into()))
}

/// Returns the stored form of what an operation says of an event.
///
/// # Errors
/// It cannot be written as JSON.
pub fn details_column(details: &EventDetails) -> Result<String, StoreError> {
    serde_json::to_string(details).map_err(|error| StoreError::Fatal(error.into()))
}

/// An event. On PostgreSQL, `data` and `snapshot` are selected as text.
#[derive(Debug, Queryable)]
pub struct StoredEventRow {
    pub id: Id,
    kind: String,
    actor_kind: String,
    actor_id: Option<Id>,
    actor_name: String,
    data: String,
    snapshot: String,
    created_at: TimestampColumn,
}

impl TryFrom<StoredEventRow> for StoredEvent {
    type Error = StoreError;

    fn try_from(row: StoredEventRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("webhook_events", column, row.id);
        let kind = ActorKind::from_name(&row.actor_kind).ok_or_else(|| broken("actor_kind"))?;
        let actor = Actor { kind, id: row.actor_id.map(|id| id.0), name: row.actor_name };
        let at = row.created_at.into_timestamp("webhook_events", "created_at", row.id)?;
        let id = WebhookEventId::new(row.id.0);
        Self::parse((id, &row.kind), actor, at, &row.data, &row.snapshot).ok_or_else(|| broken("snapshot"))
    }
}

/// A try of a delivery.
#[derive(Debug, Queryable)]
pub struct AttemptRow {
    created_at: TimestampColumn,
    status: Option<i32>,
    error: Option<String>,
    duration_ms: i64,
    response: Option<String>,
}

impl TryFrom<AttemptRow> for Attempt {
    type Error = StoreError;

    fn try_from(row: AttemptRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("webhook_attempts", column, row.created_at.0);
        let status = |status: i32| u16::try_from(status).map_err(|_| broken("status"));
        let error = |name: &str| AttemptError::from_name(name).ok_or_else(|| broken("error"));
        Ok(Self {
            at: row.created_at.into_timestamp("webhook_attempts", "created_at", row.created_at.0)?,
            status: row.status.map(status).transpose()?,
            error: row.error.as_deref().map(error).transpose()?,
            duration_ms: row.duration_ms.unsigned_abs(),
            response: row.response,
        })
    }
}

/// A delivery, with its last try.
#[derive(Debug, Queryable)]
pub struct DeliveryRow {
    event: Id,
    kind: String,
    include_private: bool,
    include_emails: bool,
    state: String,
    failure: Option<String>,
    attempts: i32,
    due_at: Option<TimestampColumn>,
    created_at: TimestampColumn,
    last_attempt: Option<AttemptRow>,
}

impl TryFrom<DeliveryRow> for Delivery {
    type Error = StoreError;

    fn try_from(row: DeliveryRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("webhook_deliveries", column, row.event);
        let failure = |name: &str| Failure::from_name(name).ok_or_else(|| broken("failure"));
        Ok(Self {
            event: WebhookEventId::new(row.event.0),
            kind: EventKind::from_name(&row.kind).ok_or_else(|| broken("kind"))?,
            includes: Inclusion { private: row.include_private, emails: row.include_emails },
            state: DeliveryState::from_name(&row.state).ok_or_else(|| broken("state"))?,
            failure: row.failure.as_deref().map(failure).transpose()?,
            attempts: row.attempts.unsigned_abs(),
            due_at: optional_timestamp(row.due_at, "webhook_deliveries", "due_at", row.event)?,
            created_at: row.created_at.into_timestamp("webhook_deliveries", "created_at", row.event)?,
            last_attempt: row.last_attempt.map(TryInto::try_into).transpose()?,
        })
    }
}

/// Converts a delivery with its event and its tries, oldest first.
///
/// # Errors
/// The model cannot hold a value.
pub fn delivery_detail(
    (delivery, event): (DeliveryRow, StoredEventRow),
    attempts: Vec<AttemptRow>,
) -> Result<DeliveryDetail, StoreError> {
    Ok(DeliveryDetail {
        delivery: delivery.try_into()?,
        event: event.try_into()?,
        attempts: attempts.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
    })
}

/// A delivery that is leased.
#[derive(Debug, Queryable)]
pub struct LeasedDeliveryRow {
    include_private: bool,
    include_emails: bool,
    /// The number of tries since it was due for the first or the next time, with the one that begins.
    pub tries: i32,
    pub event: StoredEventRow,
}

impl LeasedDeliveryRow {
    /// Converts the row of a delivery that is leased to a worker until a timestamp.
    ///
    /// # Errors
    /// The model cannot hold a value.
    pub fn into_delivery(self, webhook: WebhookId, until: Timestamp) -> Result<LeasedDelivery, StoreError> {
        let id = self.event.id;
        let nth = u32::try_from(self.tries).ok().and_then(NonZeroU32::new);
        Ok(LeasedDelivery {
            lease: DeliveryLease { webhook, event: WebhookEventId::new(id.0), until },
            event: self.event.try_into()?,
            includes: Inclusion { private: self.include_private, emails: self.include_emails },
            nth: nth.ok_or_else(|| inconsistent("webhook_deliveries", "tries", id))?,
        })
    }
}

/// The numbers of deliveries and webhooks of all workspaces.
#[derive(Debug, Queryable)]
pub struct WebhookDepthRow {
    due: i64,
    leased: i64,
    postponed: i64,
    failed: i64,
    oldest_due: Option<TimestampColumn>,
    enabled: i64,
    disabled: i64,
}

impl TryFrom<WebhookDepthRow> for WebhookDepth {
    type Error = StoreError;

    fn try_from(row: WebhookDepthRow) -> Result<Self, StoreError> {
        Ok(Self {
            due: row.due.unsigned_abs(),
            leased: row.leased.unsigned_abs(),
            postponed: row.postponed.unsigned_abs(),
            failed: row.failed.unsigned_abs(),
            oldest_due_at: optional_timestamp(row.oldest_due, "webhook_deliveries", "due_at", "all")?,
            enabled: row.enabled.unsigned_abs(),
            disabled: row.disabled.unsigned_abs(),
        })
    }
}
