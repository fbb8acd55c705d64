//! Webhooks: where a workspace's events are sent, and what became of each.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::id::{WebhookEventId, WebhookId};
use crate::model::text::validate_text;
use crate::model::timestamp::Timestamp;
use crate::model::webhook_event::{EventKind, StoredEvent};
use crate::model::workspace::Subdomain;

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WebhookFormat {
    /// JSON, signed as Standard Webhooks 1.0.0 says.
    Standard,
    /// Messages for Slack, Mattermost and Rocket.Chat.
    Slack,
    Discord,
    /// Messages for Microsoft Teams.
    Teams,
}

impl WebhookFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Standard, Self::Slack, Self::Discord, Self::Teams];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Teams => "teams",
        }
    }

    /// Returns the format with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether it is for a chat service: its URL is a credential, and its requests have no signature.
    #[must_use]
    pub const fn is_chat(self) -> bool {
        !matches!(self, Self::Standard)
    }

    /// Whether events of this kind are sent in the format.
    #[must_use]
    pub const fn has(self, kind: EventKind) -> bool {
        !self.is_chat() || kind.is_for_chat()
    }

    /// Validates the format of a new webhook. Absent or blank: [`Self::Standard`].
    ///
    /// # Errors
    /// Unknown.
    pub fn parse(raw: Option<&str>) -> Validated<Self> {
        match raw.map(str::trim).filter(|raw| !raw.is_empty()) {
            None => Ok(Self::Standard),
            Some(name) => Self::from_name(name).ok_or_else(|| {
                let message = "format must be one of standard, slack, discord, teams";
                FieldError::new("format", FieldProblem::Custom { message })
            }),
        }
    }
}

/// Why a webhook is disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisabledBecause {
    /// Somebody did it.
    Operator,
    /// Its server said that it is gone.
    Gone,
    /// It has failed for too long.
    Failing,
}

impl DisabledBecause {
    /// All reasons.
    pub const ALL: [Self; 3] = [Self::Operator, Self::Gone, Self::Failing];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Gone => "gone",
            Self::Failing => "failing",
        }
    }

    /// Returns the reason with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

/// What a webhook may know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Inclusion {
    /// Whether it also gets what concerns private feature requests, and notes.
    pub private: bool,
    /// Whether it gets the addresses of customers and members. Chat messages never have them.
    pub emails: bool,
}

/// A secret that signs requests, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedSecret {
    pub sealed: String,
    /// Milliseconds since the Unix epoch from which on it signs no more. `None`: until it is replaced.
    pub expires_at: Option<i64>,
}

/// A webhook as it is stored: its URL and its secrets are sealed ([`crate::policy::sealing`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub sealed_url: String,
    /// The secrets, newest first. Chat formats have none.
    pub secrets: Vec<SealedSecret>,
    /// What the team says of it.
    pub description: String,
    pub format: WebhookFormat,
    /// The events that it gets. `None` means all that its format has, also later ones.
    pub events: Option<Vec<EventKind>>,
    pub includes: Inclusion,
    /// Whether events are recorded for it.
    pub enabled: bool,
    pub disabled_because: Option<DisabledBecause>,
    /// Since when events are recorded for it; while it is disabled, since when they were.
    pub enabled_at: Timestamp,
    /// Since when no events are recorded. `None` while it is enabled.
    pub disabled_at: Option<Timestamp>,
    /// When the first of the tries failed since which none has succeeded.
    pub failing_since: Option<Timestamp>,
    /// The number of these tries.
    pub failed_tries: u32,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Timestamp of the last change by somebody.
    pub updated_at: Timestamp,
}

impl Webhook {
    /// Maximum number of webhooks of a workspace.
    pub const MAX: u64 = 10;
    /// Maximum number of characters of the description.
    pub const MAX_DESCRIPTION: usize = 200;
    /// Maximum number of secrets that sign: the current one, and those of the last two rotations.
    pub const MAX_SECRETS: usize = 3;

    /// Whether it gets events of a kind. Test events are not among them.
    #[must_use]
    pub fn wants(&self, kind: EventKind) -> bool {
        kind != EventKind::WebhookTest
            && self.format.has(kind)
            && self.events.as_ref().is_none_or(|events| events.contains(&kind))
    }

    /// Whether an event of this time is recorded for it: it was enabled then.
    #[must_use]
    pub fn records_at(&self, at: Timestamp) -> bool {
        at >= self.enabled_at && self.disabled_at.is_none_or(|disabled_at| at < disabled_at)
    }

    /// Returns the time when the next of the older secrets signs no more, or `None` if only one signs at `now`.
    #[must_use]
    pub fn previous_secret_expires_at(&self, now: Timestamp) -> Option<Timestamp> {
        let expiring = self.secrets.iter().skip(1).filter_map(|secret| secret.expires_at);
        expiring.filter(|at| *at > now.millis()).max().and_then(Timestamp::from_millis)
    }

    /// Returns the stored form of the kinds of events, separated by commas.
    #[must_use]
    pub fn events_column(&self) -> Option<String> {
        let events = self.events.as_ref()?;
        Some(events.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(","))
    }

    /// Parses [`Self::events_column`]. Unknown kinds, those of a newer version, are left out.
    #[must_use]
    pub fn parse_events_column(column: &str) -> Vec<EventKind> {
        column.split(',').filter_map(EventKind::from_name).collect()
    }
}

/// Validates a description.
///
/// # Errors
/// Too long, or with a NUL character.
pub fn parse_description(raw: &str) -> Validated<String> {
    validate_text("description", raw, Webhook::MAX_DESCRIPTION)?;
    Ok(raw.trim().to_owned())
}

/// Validates the kinds of events that a webhook of this format gets.
///
/// # Errors
/// None, or one that the format does not have.
pub fn parse_events(raw: &[String], format: WebhookFormat) -> Validated<Vec<EventKind>> {
    let mut kinds = Vec::new();
    for name in raw {
        let kind = EventKind::from_name(name.trim()).filter(|kind| *kind != EventKind::WebhookTest);
        let kind = kind.filter(|kind| format.has(*kind)).ok_or_else(|| {
            let message = if format.is_chat() {
                "events must be types of events that the format has"
            } else {
                "events must be types of events"
            };
            FieldError::new("events", FieldProblem::Custom { message })
        })?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if kinds.is_empty() {
        let message = "events must be null or name at least one type";
        return Err(FieldError::new("events", FieldProblem::Custom { message }));
    }
    kinds.sort_unstable();
    Ok(kinds)
}

/// What is to change about a webhook, apart from its URL. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookChange {
    pub description: Option<String>,
    /// The names of kinds, which are validated with the format. The inner `None` means all.
    pub events: Option<Option<Vec<String>>>,
    pub include_private: Option<bool>,
    pub include_emails: Option<bool>,
    pub enabled: Option<bool>,
}

/// What has become of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// It is tried, or tried again later.
    Waiting,
    Delivered,
    Failed,
}

impl DeliveryState {
    /// All states.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Delivered, Self::Failed];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }

    /// Returns the state with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Validates the parameter of a list. Absent or blank: all states.
    ///
    /// # Errors
    /// Unknown.
    pub fn parse_filter(raw: Option<&str>) -> Validated<Option<Self>> {
        match raw.map(str::trim).filter(|raw| !raw.is_empty()) {
            None => Ok(None),
            Some(name) => Self::from_name(name).map(Some).ok_or_else(|| {
                let message = "state must be one of waiting, delivered, failed";
                FieldError::new("state", FieldProblem::Custom { message })
            }),
        }
    }
}

/// Why a delivery has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// All tries have failed.
    GaveUp,
    /// The URL leads to a forbidden address.
    Blocked,
    /// The server said that the endpoint is gone.
    Gone,
    /// It waited when the webhook was disabled.
    Disabled,
    /// Too many newer ones wait.
    Backlog,
}

impl Failure {
    /// All failures.
    pub const ALL: [Self; 5] = [Self::GaveUp, Self::Blocked, Self::Gone, Self::Disabled, Self::Backlog];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GaveUp => "gave_up",
            Self::Blocked => "blocked",
            Self::Gone => "gone",
            Self::Disabled => "disabled",
            Self::Backlog => "backlog",
        }
    }

    /// Returns the failure with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.name() == name)
    }
}

/// Why a try has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttemptError {
    /// The status is not 2xx.
    Status,
    Timeout,
    Unreachable,
    Tls,
    /// The address is forbidden.
    Blocked,
}

impl AttemptError {
    /// All errors.
    pub const ALL: [Self; 5] = [Self::Status, Self::Timeout, Self::Unreachable, Self::Tls, Self::Blocked];

    /// Returns the name that is stored and shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Blocked => "blocked",
        }
    }

    /// Returns the error with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|error| error.name() == name)
    }
}

/// A try to send a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// The status of the response. `None` without one.
    pub status: Option<u16>,
    /// `None` if it succeeded.
    pub error: Option<AttemptError>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The beginning of the response. `None` without one.
    pub response: Option<String>,
}

/// An event for one webhook, and what has become of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The ID of the event, with which it is sent.
    pub event: WebhookEventId,
    /// The type that is sent. It can be another one than that of the event
    /// ([`crate::policy::webhook_content::content_for`]).
    pub kind: EventKind,
    pub includes: Inclusion,
    pub state: DeliveryState,
    /// Why it has failed. `None` in other states.
    pub failure: Option<Failure>,
    /// The number of all tries.
    pub attempts: u32,
    /// When it is tried next. `None` unless it waits.
    pub due_at: Option<Timestamp>,
    /// Timestamp of the event.
    pub created_at: Timestamp,
    pub last_attempt: Option<Attempt>,
}

/// A delivery with its tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryDetail {
    pub delivery: Delivery,
    /// The event, from which its body is made.
    pub event: StoredEvent,
    /// The tries, oldest first.
    pub attempts: Vec<Attempt>,
}

/// A delivery to be stored. Its webhook is that of the call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    pub webhook: WebhookId,
    pub event: WebhookEventId,
    pub kind: EventKind,
    pub includes: Inclusion,
    /// `None`: it waits and is due now. Otherwise it has failed already.
    pub failure: Option<Failure>,
    /// Timestamp of the event.
    pub created_at: Timestamp,
}

/// The permission to try a delivery until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLease {
    pub webhook: WebhookId,
    pub event: WebhookEventId,
    pub until: Timestamp,
}

/// A delivery that is to be tried now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDelivery {
    pub lease: DeliveryLease,
    pub event: StoredEvent,
    pub includes: Inclusion,
    /// The number of this try, from 1 on, since the delivery was due for the first time or was to be delivered again.
    pub nth: NonZeroU32,
}

/// Deliveries of one webhook that are to be tried now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeasedDeliveries {
    pub webhook: Webhook,
    /// The subdomain of its workspace.
    pub subdomain: Subdomain,
    /// In the order in which they begin.
    pub deliveries: Vec<LeasedDelivery>,
}

/// What is to become of a delivery after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Delivered,
    Failed(Failure),
    /// It is tried again at this time.
    Postponed(Timestamp),
}

/// What waits and what has failed, in all workspaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WebhookDepth {
    /// Deliveries that are due.
    pub due: u64,
    /// Deliveries that are tried now.
    pub leased: u64,
    /// Deliveries that are tried again later.
    pub postponed: u64,
    /// Deliveries that have failed.
    pub failed: u64,
    /// When the oldest of those that are due was to be tried.
    pub oldest_due_at: Option<Timestamp>,
    /// Webhooks that are enabled.
    pub enabled: u64,
    /// Webhooks that are disabled.
    pub disabled: u64,
}
