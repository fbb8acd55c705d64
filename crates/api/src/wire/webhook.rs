//! Webhooks and what was sent to them. A secret is shown once, when it is made. The URL of a chat service is a
//! credential, of which a part is shown.

use roadmap_domain::model::pagination::Listing;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{Attempt, Delivery, Webhook};
use roadmap_domain::policy::sealing::SecretText;
use serde::Serialize;
use utoipa::ToSchema;

use super::page::Envelope;
use crate::openapi::fields as described;

/// A page of webhooks.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhooksPage)]
pub(crate) struct Page {
    #[schema(max_items = 10)]
    webhooks: Vec<Fields>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A single webhook.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookShown)]
pub(crate) struct Response {
    webhook: Fields,
}

/// A webhook with a new secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookWithSecret)]
pub(crate) struct WithSecret<'a> {
    webhook: Fields,
    /// What signs the requests, `whsec_` and Base64. It is not shown again. Null for chat services, whose requests have
    /// no signature.
    #[schema(required = true, pattern = "^whsec_[A-Za-z0-9+/]+=*$")]
    secret: Option<&'a str>,
}

/// Where the events of the workspace are sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
pub(crate) struct Fields {
    #[schema(format = "uuid")]
    id: String,
    /// As browsers write it. That of a chat service is a credential: scheme, host and the last four characters. Empty if
    /// the service cannot decrypt it.
    url: String,
    #[schema(max_length = 200)]
    description: String,
    #[schema(value_type = Format)]
    format: &'static str,
    /// The types of events that it gets; null for all that the format has, also later ones.
    #[schema(schema_with = described::listed_event_types, required = true)]
    events: Option<Vec<&'static str>>,
    /// Whether it also gets what concerns private feature requests, and notes.
    include_private: bool,
    /// Whether its events have the addresses of customers and members. Chat messages never have them.
    include_emails: bool,
    /// Whether events are recorded for it.
    enabled: bool,
    /// Null while it is enabled.
    #[schema(required = true, value_type = Option<DisabledBecause>)]
    disabled_because: Option<&'static str>,
    /// When the first of the tries failed since which none has succeeded; null after a success.
    #[schema(required = true, format = DateTime)]
    failing_since: Option<String>,
    /// Until when requests are also signed with secrets before the last rotation; null if they are not.
    #[schema(required = true, format = DateTime)]
    previous_secret_expires_at: Option<String>,
    #[schema(format = DateTime)]
    created_at: String,
    #[schema(format = DateTime)]
    updated_at: String,
}

/// What is sent: signed JSON, or messages for a chat service.
#[derive(ToSchema)]
#[schema(as = WebhookFormat, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Format {
    Standard,
    Slack,
    Discord,
    Teams,
}

/// Why a webhook is disabled: somebody did it, its server answered 410, or it has failed for too long.
#[derive(ToSchema)]
#[schema(as = WebhookDisabledBecause, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum DisabledBecause {
    Operator,
    Gone,
    Failing,
}

/// A page of deliveries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveriesPage)]
pub(crate) struct Deliveries<'a> {
    #[schema(max_items = 100)]
    deliveries: Vec<DeliveryFields<'a>>,
    #[serde(flatten)]
    envelope: Envelope,
}

/// A delivery without its tries.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryChanged)]
pub(crate) struct DeliveryResponse<'a> {
    delivery: DeliveryFields<'a>,
}

/// A single delivery.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryShown)]
pub(crate) struct DeliveryShown<'a> {
    delivery: DeliveryDetail<'a>,
}

/// An event for a webhook, and what has become of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDelivery)]
struct DeliveryFields<'a> {
    /// The id of the event, which is also its `webhook-id`.
    #[schema(format = "uuid")]
    id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    #[schema(schema_with = described::event_type)]
    kind: &'static str,
    #[schema(value_type = State)]
    state: &'static str,
    /// Null unless it has failed.
    #[schema(required = true, value_type = Option<Failure>)]
    failure: Option<&'static str>,
    /// All tries, also those before it was delivered again.
    #[schema(minimum = 0)]
    attempts_count: u32,
    /// Null unless it waits.
    #[schema(required = true, format = DateTime)]
    next_attempt_at: Option<String>,
    /// The time of the event.
    #[schema(format = DateTime)]
    created_at: String,
    /// Null before the first try.
    #[schema(required = true)]
    last_attempt: Option<AttemptFields<'a>>,
}

/// A delivery with its tries and what is sent.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookDeliveryDetail)]
struct DeliveryDetail<'a> {
    #[serde(flatten)]
    delivery: DeliveryFields<'a>,
    /// Oldest first.
    attempts: Vec<AttemptFields<'a>>,
    /// The body of each try; null if nothing is sent.
    #[schema(required = true)]
    body: Option<String>,
}

/// A try to deliver an event.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookAttempt)]
struct AttemptFields<'a> {
    #[schema(format = DateTime)]
    at: String,
    /// The status of the response; null without one.
    #[schema(required = true, minimum = 100, maximum = 999)]
    status: Option<u16>,
    /// Null if it succeeded.
    #[schema(required = true, value_type = Option<AttemptError>)]
    error: Option<&'static str>,
    #[schema(minimum = 0)]
    duration_ms: u64,
    /// The beginning of the response; null without one.
    #[schema(required = true, max_length = 1024)]
    response: Option<&'a str>,
}

/// What has become of a delivery. One that waits is tried, or tried again later.
#[derive(ToSchema)]
#[schema(as = WebhookDeliveryState, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum State {
    Waiting,
    Delivered,
    Failed,
}

/// Why a delivery has failed: all tries have failed, the URL leads to a forbidden address, the server answered 410, the
/// webhook was disabled while it waited, or too many newer ones wait.
#[derive(ToSchema)]
#[schema(as = WebhookDeliveryFailure, rename_all = "snake_case")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum Failure {
    GaveUp,
    Blocked,
    Gone,
    Disabled,
    Backlog,
}

/// Why a try has failed: the status is not 2xx, there was no response in time, no connection, no verified certificate,
/// or the address is forbidden.
#[derive(ToSchema)]
#[schema(as = WebhookAttemptError, rename_all = "lowercase")]
#[expect(dead_code, reason = "the domain has the names, this lists them in the document")]
enum AttemptError {
    Status,
    Timeout,
    Unreachable,
    Tls,
    Blocked,
}

/// How many deliveries wait again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookRedelivered)]
pub(crate) struct Redelivered {
    #[schema(minimum = 0)]
    redelivered: u64,
}

/// Returns the fields of a webhook with its URL as it is shown.
pub(crate) fn fields(webhook: &Webhook, url: String, now: Timestamp) -> Fields {
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    Fields {
        id: webhook.id.to_string(),
        url,
        description: webhook.description.clone(),
        format: webhook.format.name(),
        events: webhook.events.as_ref().map(|kinds| kinds.iter().map(|kind| kind.name()).collect()),
        include_private: webhook.includes.private,
        include_emails: webhook.includes.emails,
        enabled: webhook.enabled,
        disabled_because: webhook.disabled_because.map(|because| because.name()),
        failing_since: time(webhook.failing_since),
        previous_secret_expires_at: time(webhook.previous_secret_expires_at(now)),
        created_at: webhook.created_at.to_string(),
        updated_at: webhook.updated_at.to_string(),
    }
}

pub(crate) fn listed(listing: &Listing<Webhook>, fields: impl Fn(&Webhook) -> Fields) -> Page {
    Page { webhooks: listing.items.iter().map(fields).collect(), envelope: listing.into() }
}

pub(crate) fn response(webhook: Fields) -> Response {
    Response { webhook }
}

pub(crate) fn with_secret(webhook: Fields, secret: Option<&SecretText>) -> WithSecret<'_> {
    WithSecret { webhook, secret: secret.map(SecretText::as_str) }
}

pub(crate) fn deliveries(listing: &Listing<Delivery>) -> Deliveries<'_> {
    Deliveries { deliveries: listing.items.iter().map(delivery_fields).collect(), envelope: listing.into() }
}

pub(crate) fn delivery(delivery: &Delivery) -> DeliveryResponse<'_> {
    DeliveryResponse { delivery: delivery_fields(delivery) }
}

/// Returns a delivery with its tries and the body that is sent.
pub(crate) fn delivery_shown<'a>(
    delivery: &'a Delivery,
    attempts: &'a [Attempt],
    body: Option<String>,
) -> DeliveryShown<'a> {
    let attempts = attempts.iter().map(attempt).collect();
    DeliveryShown { delivery: DeliveryDetail { delivery: delivery_fields(delivery), attempts, body } }
}

pub(crate) fn redelivered(redelivered: u64) -> Redelivered {
    Redelivered { redelivered }
}

fn delivery_fields(delivery: &Delivery) -> DeliveryFields<'_> {
    DeliveryFields {
        id: delivery.event.to_string(),
        kind: delivery.kind.name(),
        state: delivery.state.name(),
        failure: delivery.failure.map(|failure| failure.name()),
        attempts_count: delivery.attempts,
        next_attempt_at: delivery.due_at.as_ref().map(Timestamp::to_string),
        created_at: delivery.created_at.to_string(),
        last_attempt: delivery.last_attempt.as_ref().map(attempt),
    }
}

fn attempt(attempt: &Attempt) -> AttemptFields<'_> {
    AttemptFields {
        at: attempt.at.to_string(),
        status: attempt.status,
        error: attempt.error.map(|error| error.name()),
        duration_ms: attempt.duration_ms,
        response: attempt.response.as_deref(),
    }
}
