//! Creates, changes, tests and deletes webhooks, delivers events to them again, and seals their secrets anew.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use time::Duration;
use url::Url;

use crate::error::{Conflict, ErrorChain, FieldError, FieldProblem, Resource, RoadmapError, Validated};
use crate::model::audit::{Audit, Change};
use crate::model::destination::{Destination, DestinationRules};
use crate::model::id::{WebhookEventId, WebhookId, WorkspaceId};
use crate::model::mail::WebhookDisabled;
use crate::model::text::truncate;
use crate::model::timestamp::Timestamp;
use crate::model::webhook::{
    Attempt, Delivery, DeliveryState, DisabledBecause, Failure, Inclusion, NewDelivery, SealedSecret, Webhook,
    WebhookChange, WebhookFormat, parse_events,
};
use crate::model::webhook_event::{EventDetails, EventDraft, EventKind, EventRecords, NewWebhookEvent};
use crate::policy::sealing::{SealedKind, SealedPlace, Sealer, SecretText};
use crate::policy::webhook_signature;
use crate::ports::{Maintenance, UnitOfWork};
use crate::usecase::executor::{Executor, Operation, OperationContext, Performed};
use crate::usecase::tell_admins::tell_of_disabled_webhook;

/// The longest time for which an older secret signs beside a new one.
pub const MAX_OVERLAP: Duration = Duration::days(7);

/// Returns the only place at which the URL of a webhook opens.
fn url_place(workspace: WorkspaceId, webhook: WebhookId) -> SealedPlace {
    SealedPlace { workspace, kind: SealedKind::WebhookUrl, record: webhook.uuid() }
}

/// Returns the only place at which the secrets of a webhook open.
fn secret_place(workspace: WorkspaceId, webhook: WebhookId) -> SealedPlace {
    SealedPlace { workspace, kind: SealedKind::WebhookSecret, record: webhook.uuid() }
}

/// Opens the URL of a webhook. `None` if it does not open, which is logged.
#[must_use]
pub fn open_url(sealer: &Sealer, workspace: WorkspaceId, webhook: &Webhook) -> Option<SecretText> {
    let opened = sealer.open(url_place(workspace, webhook.id), &webhook.sealed_url);
    opened.map_err(|error| log_unreadable(workspace, webhook, &error)).ok()
}

/// Opens the secrets of a webhook that sign at `now`, newest first. Those that do not open are left out and logged.
#[must_use]
pub fn open_secrets(sealer: &Sealer, workspace: WorkspaceId, webhook: &Webhook, now: Timestamp) -> Vec<SecretText> {
    let valid = webhook.secrets.iter().filter(|secret| secret.expires_at.is_none_or(|at| at > now.millis()));
    let opened = valid.map(|secret| sealer.open(secret_place(workspace, webhook.id), &secret.sealed));
    opened.filter_map(|opened| opened.map_err(|error| log_unreadable(workspace, webhook, &error)).ok()).collect()
}

fn log_unreadable(workspace: WorkspaceId, webhook: &Webhook, error: &crate::policy::sealing::OpenError) {
    let error = ErrorChain::new(error);
    tracing::error!(%workspace, webhook = %webhook.id, %error, "the URL or a secret of a webhook cannot be read");
}

/// Returns the URL of a webhook as it is shown. That of a chat service is a credential: only its scheme, its host and its
/// last four characters are shown. Empty if it cannot be read.
#[must_use]
pub fn shown_url(sealer: &Sealer, workspace: WorkspaceId, webhook: &Webhook) -> String {
    let Some(url) = open_url(sealer, workspace, webhook) else { return String::new() };
    if !webhook.format.is_chat() {
        return url.as_str().to_owned();
    }
    let Ok(parsed) = Url::parse(url.as_str()) else { return String::new() };
    let mut end: Vec<char> = url.as_str().chars().rev().take(4).collect();
    end.reverse();
    let end: String = end.into_iter().collect();
    format!("{}://{}/…{end}", parsed.scheme(), parsed.host_str().unwrap_or_default())
}

/// Returns the host to which a webhook leads. Empty if the URL cannot be read.
#[must_use]
pub fn shown_host(sealer: &Sealer, workspace: WorkspaceId, webhook: &Webhook) -> String {
    let url = open_url(sealer, workspace, webhook).and_then(|url| Url::parse(url.as_str()).ok());
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}

/// The validated fields of a new webhook.
#[derive(Debug, Clone)]
pub struct WebhookDraft {
    pub url: Destination,
    pub format: WebhookFormat,
    pub description: String,
    /// `None` means all events of the format.
    pub events: Option<Vec<EventKind>>,
    pub includes: Inclusion,
    pub enabled: bool,
}

impl WebhookDraft {
    /// Validates the fields, of which `url` is required, after those of `change` were validated.
    ///
    /// # Errors
    /// A URL that is missing or may not be used, a format that is unknown, or events that the format does not have.
    pub fn parse(
        url: Option<&str>,
        format: Option<&str>,
        change: WebhookChange,
        rules: &DestinationRules,
    ) -> Validated<Self> {
        let url = parse_url(url, rules)?;
        let format = WebhookFormat::parse(format)?;
        let events = change.events.flatten().map(|names| parse_events(&names, format)).transpose()?;
        let includes = Inclusion {
            private: change.include_private.unwrap_or(false),
            emails: change.include_emails.unwrap_or(false),
        };
        let description = change.description.unwrap_or_default();
        Ok(Self { url, format, description, events, includes, enabled: change.enabled.unwrap_or(true) })
    }
}

/// Validates a URL that is required.
///
/// # Errors
/// Missing, or a URL that may not be used.
pub fn parse_url(url: Option<&str>, rules: &DestinationRules) -> Validated<Destination> {
    let url = url.map(str::trim).filter(|url| !url.is_empty()).ok_or_else(|| FieldError::missing("url"))?;
    Destination::parse(url, rules)
}

/// Creates a webhook.
#[derive(Debug, Clone)]
pub struct CreateWebhook {
    pub draft: WebhookDraft,
    pub sealer: Arc<Sealer>,
}

/// A webhook with a new secret.
#[derive(Debug, Clone)]
pub struct WebhookWithSecret {
    pub webhook: Webhook,
    /// Its secret, which is shown now and never again. Chat formats have none.
    pub secret: Option<SecretText>,
}

/// Changes a webhook. What waits goes to the new URL.
#[derive(Debug, Clone)]
pub struct UpdateWebhook {
    pub webhook: WebhookId,
    pub url: Option<Destination>,
    /// The format that was sent. It cannot be another one.
    pub format: Option<WebhookFormat>,
    pub change: WebhookChange,
    pub sealer: Arc<Sealer>,
}

/// Deletes a webhook with its deliveries.
#[derive(Debug, Clone, Copy)]
pub struct DeleteWebhook {
    pub webhook: WebhookId,
}

/// Gives a webhook a new secret. The last ones sign, too, until `overlap` has passed.
#[derive(Debug, Clone)]
pub struct RotateWebhookSecret {
    pub webhook: WebhookId,
    /// At most [`MAX_OVERLAP`].
    pub overlap: Duration,
    pub sealer: Arc<Sealer>,
}

/// Sends a test event to a webhook, at once and in one try.
#[derive(Debug, Clone, Copy)]
pub struct TestWebhook {
    pub webhook: WebhookId,
}

/// Delivers an event again, whatever became of it.
#[derive(Debug, Clone, Copy)]
pub struct Redeliver {
    pub webhook: WebhookId,
    pub event: WebhookEventId,
}

/// Delivers all events again whose delivery has failed.
#[derive(Debug, Clone, Copy)]
pub struct RedeliverFailed {
    pub webhook: WebhookId,
    /// Only events from this time on.
    pub since: Timestamp,
}

/// Returns a webhook.
///
/// # Errors
/// [`RoadmapError::NotFound`] when it does not exist.
async fn find(work: &mut dyn UnitOfWork, id: WebhookId) -> Result<Webhook, RoadmapError> {
    let found = work.load_webhooks().await?.into_iter().find(|webhook| webhook.id == id);
    found.ok_or(RoadmapError::NotFound(Resource::Webhook))
}

fn audit(action: &'static str, webhook: WebhookId, changes: Vec<Change>) -> Audit {
    Audit::with_changes(action, "webhook", Some(webhook.uuid()), changes)
}

fn events_value(events: Option<&Vec<EventKind>>) -> Value {
    events.map(|events| events.iter().map(|kind| kind.name()).collect::<Vec<_>>()).into()
}

#[async_trait]
impl Operation for CreateWebhook {
    type Output = WebhookWithSecret;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<WebhookWithSecret>, RoadmapError> {
        if work.load_webhooks().await?.len() as u64 >= Webhook::MAX {
            return Err(RoadmapError::Conflict(Conflict::TooManyWebhooks));
        }
        let WebhookDraft { url, format, description, events, includes, enabled } = &self.draft;
        let id = context.new_id(WebhookId::new);
        let secret = (!format.is_chat()).then(|| webhook_signature::new_secret(&self.sealer.random_bytes()));
        let seal = |secret: &SecretText| SealedSecret {
            sealed: self.sealer.seal(secret_place(context.workspace, id), secret),
            expires_at: None,
        };
        let webhook = Webhook {
            id,
            sealed_url: self.sealer.seal(url_place(context.workspace, id), &SecretText::new(url.as_str().to_owned())),
            secrets: secret.iter().map(seal).collect(),
            description: description.clone(),
            format: *format,
            events: events.clone(),
            includes: *includes,
            enabled: *enabled,
            disabled_because: (!enabled).then_some(DisabledBecause::Operator),
            enabled_at: context.now,
            disabled_at: (!enabled).then_some(context.now),
            failing_since: None,
            failed_tries: 0,
            created_at: context.now,
            updated_at: context.now,
        };
        work.save_webhook(&webhook).await?;
        let changes = vec![
            Change::new("format", Value::Null, format.name()),
            Change::new("events", Value::Null, events_value(events.as_ref())),
            Change::new("include_private", Value::Null, includes.private),
            Change::new("include_emails", Value::Null, includes.emails),
        ];
        Ok(Performed::new(WebhookWithSecret { webhook, secret }, audit("webhook.create", id, changes)))
    }
}

#[async_trait]
impl Operation for UpdateWebhook {
    type Output = Webhook;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Webhook>, RoadmapError> {
        let old = find(work, self.webhook).await?;
        if self.format.is_some_and(|format| format != old.format) {
            let message = "format cannot be changed";
            return Err(FieldError::new("format", FieldProblem::Custom { message }).into());
        }
        let mut new = old.clone();
        let change = &self.change;
        if let Some(events) = &change.events {
            new.events = events.as_ref().map(|names| parse_events(names, old.format)).transpose()?;
        }
        if let Some(description) = &change.description {
            new.description.clone_from(description);
        }
        new.includes.private = change.include_private.unwrap_or(old.includes.private);
        new.includes.emails = change.include_emails.unwrap_or(old.includes.emails);
        let stored_url = open_url(&self.sealer, context.workspace, &old);
        let new_url =
            self.url.as_ref().filter(|url| stored_url.as_ref().is_none_or(|old| old.as_str() != url.as_str()));
        if let Some(url) = new_url {
            let text = SecretText::new(url.as_str().to_owned());
            new.sealed_url = self.sealer.seal(url_place(context.workspace, old.id), &text);
        }
        match change.enabled {
            Some(true) => {
                if !old.enabled {
                    (new.enabled_at, new.disabled_at) = (context.now, None);
                }
                (new.enabled, new.disabled_because) = (true, None);
                (new.failing_since, new.failed_tries) = (None, 0);
            }
            Some(false) if old.enabled => {
                disable(&mut new, DisabledBecause::Operator, context.now);
                work.fail_waiting(old.id, Failure::Disabled).await?;
            }
            Some(false) | None => {}
        }
        if new == old {
            return Ok(Performed::new(old, Audit::Unchanged));
        }
        new.updated_at = context.now;
        work.save_webhook(&new).await?;
        let changed = |field: &str, is: bool| is.then(|| Change::without_values(field));
        let changes = [
            changed("url", new_url.is_some()),
            changed("description", old.description != new.description),
            Change::between("events", events_value(old.events.as_ref()), events_value(new.events.as_ref())),
            Change::between("include_private", old.includes.private, new.includes.private),
            Change::between("include_emails", old.includes.emails, new.includes.emails),
            Change::between("enabled", old.enabled, new.enabled),
            changed("failing_since", old.failing_since.is_some() && new.failing_since.is_none()),
        ];
        let changes = changes.into_iter().flatten().collect();
        Ok(Performed::new(new, audit("webhook.update", old.id, changes)))
    }
}

fn disable(webhook: &mut Webhook, because: DisabledBecause, now: Timestamp) {
    webhook.enabled = false;
    webhook.disabled_because = Some(because);
    webhook.disabled_at = Some(now);
}

/// Disables a webhook that does not work, and tells the admins. What waits fails. The output is the webhook, or `None` if
/// it was disabled or deleted meanwhile, or has succeeded since.
#[derive(Debug, Clone)]
pub struct DisableWebhook {
    pub webhook: WebhookId,
    pub because: DisabledBecause,
    /// The host to which it leads, for the mail to the admins. Empty if its URL cannot be read.
    pub host: String,
    /// The try after which it is disabled.
    pub last: Attempt,
}

impl DisableWebhook {
    /// Returns what the admins are told. What somebody did is told to nobody.
    fn news(&self, webhook: &Webhook) -> Option<WebhookDisabled> {
        let Attempt { status, error, response, .. } = &self.last;
        let response = response.as_deref().map(|text| truncate(text, WebhookDisabled::MAX_RESPONSE).to_owned());
        (self.because != DisabledBecause::Operator).then(|| WebhookDisabled {
            webhook: webhook.id,
            host: self.host.clone(),
            because: self.because,
            failing_since: webhook.failing_since,
            status: *status,
            error: *error,
            response,
        })
    }
}

#[async_trait]
impl Operation for DisableWebhook {
    type Output = Option<Webhook>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Option<Webhook>>, RoadmapError> {
        let found = work.load_webhooks().await?.into_iter().find(|webhook| webhook.id == self.webhook);
        let is_working = |webhook: &Webhook| {
            self.because == DisabledBecause::Failing && webhook.failing_since.is_none() || !webhook.enabled
        };
        let Some(mut webhook) = found.filter(|webhook| !is_working(webhook)) else {
            return Ok(Performed::new(None, Audit::Unchanged));
        };
        disable(&mut webhook, self.because, context.now);
        work.save_webhook(&webhook).await?;
        let failure = match self.because {
            DisabledBecause::Gone => Failure::Gone,
            DisabledBecause::Operator | DisabledBecause::Failing => Failure::Disabled,
        };
        work.fail_waiting(webhook.id, failure).await?;
        if let Some(news) = self.news(&webhook) {
            tell_of_disabled_webhook(context, work, &news).await?;
        }
        let changes = vec![Change::new("disabled_because", Value::Null, self.because.name())];
        let audit = audit("webhook.disable", webhook.id, changes);
        Ok(Performed::new(Some(webhook), audit))
    }
}

#[async_trait]
impl Operation for DeleteWebhook {
    type Output = ();

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<()>, RoadmapError> {
        let webhook = find(work, self.webhook).await?;
        work.delete_webhook(webhook.id).await?;
        let changes = vec![Change::new("format", webhook.format.name(), Value::Null)];
        Ok(Performed::new((), audit("webhook.delete", webhook.id, changes)))
    }
}

#[async_trait]
impl Operation for RotateWebhookSecret {
    type Output = WebhookWithSecret;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<WebhookWithSecret>, RoadmapError> {
        let mut webhook = find(work, self.webhook).await?;
        if webhook.format.is_chat() {
            return Err(RoadmapError::Conflict(Conflict::NoWebhookSecret));
        }
        let secret = webhook_signature::new_secret(&self.sealer.random_bytes());
        let sealed = self.sealer.seal(secret_place(context.workspace, webhook.id), &secret);
        let ends = context.now.plus(self.overlap.min(MAX_OVERLAP)).millis();
        let older = webhook.secrets.into_iter().map(|secret| SealedSecret {
            // One that ends earlier still does.
            expires_at: Some(secret.expires_at.map_or(ends, |at| at.min(ends))),
            ..secret
        });
        let older = older.filter(|secret| secret.expires_at.is_some_and(|at| at > context.now.millis()));
        let current = SealedSecret { sealed, expires_at: None };
        webhook.secrets = std::iter::once(current).chain(older).take(Webhook::MAX_SECRETS).collect();
        webhook.updated_at = context.now;
        work.save_webhook(&webhook).await?;
        let audit = audit("webhook.rotate", webhook.id, vec![Change::without_values("secret")]);
        Ok(Performed::new(WebhookWithSecret { webhook, secret: Some(secret) }, audit))
    }
}

#[async_trait]
impl Operation for TestWebhook {
    type Output = Delivery;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Delivery>, RoadmapError> {
        let webhook = find(work, self.webhook).await?;
        let kind = EventKind::WebhookTest;
        let product = work.load_setting().await?.product_name.as_str().to_owned();
        let details = EventDetails { webhook: Some(webhook.id), product: Some(product), ..EventDetails::default() };
        let event = NewWebhookEvent {
            id: context.new_id(WebhookEventId::new),
            draft: EventDraft::new(kind, EventRecords::default()).with(details),
            actor: context.actor.clone(),
            at: context.now,
        };
        let delivery = NewDelivery {
            webhook: webhook.id,
            event: event.id,
            kind,
            includes: webhook.includes,
            failure: None,
            created_at: context.now,
        };
        work.insert_test_delivery(&event, &delivery).await?;
        let output = Delivery {
            event: event.id,
            kind,
            includes: webhook.includes,
            state: DeliveryState::Waiting,
            failure: None,
            attempts: 0,
            due_at: Some(context.now),
            created_at: context.now,
            last_attempt: None,
        };
        Ok(Performed::new(output, audit("webhook.test", webhook.id, Vec::new())))
    }
}

#[async_trait]
impl Operation for Redeliver {
    type Output = Delivery;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Delivery>, RoadmapError> {
        let webhook = find(work, self.webhook).await?;
        let delivery = work.find_delivery(webhook.id, self.event).await?;
        let delivery = delivery.ok_or(RoadmapError::NotFound(Resource::Delivery))?;
        ensure_enabled(&webhook)?;
        work.redeliver(webhook.id, self.event, context.now).await?;
        let waiting = Delivery { state: DeliveryState::Waiting, failure: None, due_at: Some(context.now), ..delivery };
        let changes = vec![Change::new("redelivered", Value::Null, 1)];
        Ok(Performed::new(waiting, audit("webhook.redeliver", webhook.id, changes)))
    }
}

#[async_trait]
impl Operation for RedeliverFailed {
    /// The number of deliveries that wait again.
    type Output = u64;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<u64>, RoadmapError> {
        let webhook = find(work, self.webhook).await?;
        ensure_enabled(&webhook)?;
        let count = work.redeliver_failed(webhook.id, self.since, context.now).await?;
        let audit = if count == 0 {
            Audit::Unchanged
        } else {
            audit("webhook.redeliver", webhook.id, vec![Change::new("redelivered", Value::Null, count)])
        };
        Ok(Performed::new(count, audit))
    }
}

fn ensure_enabled(webhook: &Webhook) -> Result<(), RoadmapError> {
    if webhook.enabled { Ok(()) } else { Err(RoadmapError::Conflict(Conflict::WebhookDisabled)) }
}

/// Seals the URL and the secrets with the current secret of the service. What does not open stays as it is.
#[derive(Debug, Clone)]
struct SealAnew {
    webhook: WebhookId,
    sealer: Arc<Sealer>,
}

#[async_trait]
impl Operation for SealAnew {
    /// Whether all of them opened.
    type Output = bool;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<bool>, RoadmapError> {
        let mut webhook = find(work, self.webhook).await?;
        let mut all_open = true;
        let mut seal = |place: SealedPlace, sealed: &mut String| match self.sealer.open(place, sealed) {
            Ok(text) => *sealed = self.sealer.seal(place, &text),
            Err(_) => all_open = false,
        };
        seal(url_place(context.workspace, webhook.id), &mut webhook.sealed_url);
        for secret in &mut webhook.secrets {
            seal(secret_place(context.workspace, webhook.id), &mut secret.sealed);
        }
        work.save_webhook(&webhook).await?;
        Ok(Performed::new(all_open, Audit::Unchanged))
    }
}

/// Seals all URLs and secrets of webhooks anew that were not sealed with the current secret of the service, so that
/// previous ones can be removed from the settings. Returns the number of webhooks of which something does not open.
///
/// # Errors
/// Errors of the store.
pub async fn seal_webhooks_anew(
    maintenance: &dyn Maintenance,
    executor: &Executor,
    sealer: &Arc<Sealer>,
) -> Result<u64, RoadmapError> {
    let mut unreadable = 0;
    for (workspace, webhook) in maintenance.webhooks_sealed_otherwise(&sealer.current_prefix()).await? {
        match executor.run_without_key(workspace, &SealAnew { webhook, sealer: sealer.clone() }).await {
            Ok(are_open) => unreadable += u64::from(!are_open),
            // It was deleted meanwhile.
            Err(RoadmapError::NotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(unreadable)
}

/// Validates for how long older secrets sign beside a new one: a number of seconds, minutes, hours or days. Absent or
/// blank: `24h`.
///
/// # Errors
/// No such number, or more than [`MAX_OVERLAP`].
pub fn parse_overlap(raw: Option<&str>) -> Validated<Duration> {
    let raw = raw.map(str::trim).filter(|raw| !raw.is_empty()).unwrap_or("24h");
    let parse = || {
        let unit = raw.chars().next_back()?;
        let seconds = match unit {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return None,
        };
        let number = raw.strip_suffix(unit).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
        let overlap = Duration::seconds(number.parse::<i64>().ok()?.checked_mul(seconds)?);
        (overlap <= MAX_OVERLAP).then_some(overlap)
    };
    parse().ok_or_else(|| {
        let message = "overlap must be a duration from 0s to 7d, for example 24h";
        FieldError::new("overlap", FieldProblem::Custom { message })
    })
}

#[cfg(test)]
mod tests;
