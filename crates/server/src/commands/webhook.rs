//! `roadmap webhook`

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use clap::Subcommand;
use roadmap_domain::model::audit::parse_time;
use roadmap_domain::model::id::{WebhookEventId, WebhookId, parse_uuid};
use roadmap_domain::model::pagination::PageRequest;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::webhook::{
    Delivery, DeliveryState, DisabledBecause, Failure, Webhook, WebhookChange, parse_description,
};
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::sealing::{Sealer, SecretText};
use roadmap_domain::usecase::change_webhooks::{
    CreateWebhook, DeleteWebhook, RedeliverFailed, RotateWebhookSecret, TestWebhook, UpdateWebhook, WebhookDraft,
    WebhookWithSecret, parse_overlap, parse_url, shown_url,
};
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::secret;
use crate::settings::{Settings, duration};
use crate::wiring::{Application, destination_rules};

/// How often a command looks whether a test event has arrived.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List the webhooks of a workspace
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Add a webhook and print its secret. It cannot be shown again
    Add {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// URL to which events are sent
        #[arg(long)]
        url: String,
        /// What is sent: standard, slack, discord or teams [default: standard]
        #[arg(long = "format", value_name = "FORMAT")]
        kind: Option<String>,
        #[command(flatten)]
        fields: Fields,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Change a webhook. What is not given stays
    Set {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        /// URL to which events are sent from now on, also those that wait
        #[arg(long)]
        url: Option<String>,
        #[command(flatten)]
        fields: Fields,
        /// Whether events are recorded for it
        #[arg(long, value_name = "BOOL")]
        enabled: Option<bool>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Remove a webhook, with what waits for it
    Remove {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Give a webhook a new secret and print it. The old one signs, too, for a while
    RotateSecret {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        /// How long the old secret signs, too: 0s to 7d
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Send a test event, wait for the result and print it
    Test {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        /// How long to wait
        #[arg(long, value_name = "DURATION", default_value = "30s")]
        wait: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the newest deliveries of a webhook
    Deliveries {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        /// Only those in this state: waiting, delivered or failed
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Send everything again that has failed since a time
    Redeliver {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Id of the webhook
        id: String,
        /// Time of the oldest event, for example 2026-03-01T09:30:00Z
        #[arg(long, value_name = "TIME")]
        since: String,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// The fields of a webhook that can be changed.
#[derive(Debug, clap::Args)]
pub(crate) struct Fields {
    /// Types of the events, for example feature_request.created,vote.created; `all` means all [default: all]
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    events: Option<Vec<String>>,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    /// Also send what concerns private feature requests, and notes
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    include_private: Option<bool>,
    /// Also send the e-mail addresses of customers and members
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    include_emails: Option<bool>,
}

impl Fields {
    fn change(self, enabled: Option<bool>) -> anyhow::Result<WebhookChange> {
        let events =
            self.events.map(|names| (names.len() != 1 || names.iter().any(|name| name != "all")).then_some(names));
        Ok(WebhookChange {
            description: self.description.map(|raw| parse_description(&raw)).transpose()?,
            events,
            include_private: self.include_private,
            include_emails: self.include_emails,
            enabled,
        })
    }
}

#[derive(Debug, Serialize)]
struct OutputRow {
    id: String,
    url: String,
    description: String,
    format: &'static str,
    events: Option<Vec<&'static str>>,
    include_private: bool,
    include_emails: bool,
    enabled: bool,
    disabled_because: Option<&'static str>,
    failing_since: Option<String>,
    previous_secret_expires_at: Option<String>,
    created_at: String,
    updated_at: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &[
        "id",
        "url",
        "description",
        "format",
        "events",
        "include_private",
        "include_emails",
        "enabled",
        "disabled_because",
        "failing_since",
        "created_at",
    ];
}

impl OutputRow {
    fn new(sealer: &Sealer, workspace: &Workspace, webhook: &Webhook, now: Timestamp) -> Self {
        Self {
            id: webhook.id.to_string(),
            url: shown_url(sealer, workspace.id, webhook),
            description: webhook.description.clone(),
            format: webhook.format.name(),
            events: webhook.events.as_ref().map(|events| events.iter().map(|kind| kind.name()).collect()),
            include_private: webhook.includes.private,
            include_emails: webhook.includes.emails,
            enabled: webhook.enabled,
            disabled_because: webhook.disabled_because.map(DisabledBecause::name),
            failing_since: webhook.failing_since.map(|at| at.to_string()),
            previous_secret_expires_at: webhook.previous_secret_expires_at(now).map(|at| at.to_string()),
            created_at: webhook.created_at.to_string(),
            updated_at: webhook.updated_at.to_string(),
        }
    }
}

/// A webhook with its new secret. Chat formats have none.
#[derive(Debug, Serialize)]
struct WithSecret {
    #[serde(flatten)]
    webhook: OutputRow,
    secret: Option<String>,
}

impl Row for WithSecret {
    const COLUMNS: &[&str] = &["id", "url", "format", "events", "include_private", "include_emails", "secret"];
}

#[derive(Debug, Serialize)]
struct Redelivered {
    redelivered: u64,
}

impl Row for Redelivered {
    const COLUMNS: &[&str] = &["redelivered"];
}

#[derive(Debug, Serialize)]
struct DeliveryRow {
    id: String,
    r#type: &'static str,
    state: &'static str,
    failure: Option<&'static str>,
    attempts_count: u32,
    next_attempt_at: Option<String>,
    created_at: String,
    status: Option<u16>,
    error: Option<&'static str>,
    duration_ms: Option<u64>,
    response: Option<String>,
}

impl Row for DeliveryRow {
    const COLUMNS: &[&str] = &[
        "id",
        "type",
        "state",
        "failure",
        "attempts_count",
        "next_attempt_at",
        "created_at",
        "status",
        "error",
        "response",
    ];
}

impl From<&Delivery> for DeliveryRow {
    fn from(delivery: &Delivery) -> Self {
        let last = delivery.last_attempt.as_ref();
        Self {
            id: delivery.event.to_string(),
            r#type: delivery.kind.name(),
            state: delivery.state.name(),
            failure: delivery.failure.map(Failure::name),
            attempts_count: delivery.attempts,
            next_attempt_at: delivery.due_at.map(|at| at.to_string()),
            created_at: delivery.created_at.to_string(),
            status: last.and_then(|attempt| attempt.status),
            error: last.and_then(|attempt| attempt.error).map(|error| error.name()),
            duration_ms: last.map(|attempt| attempt.duration_ms),
            response: last.and_then(|attempt| attempt.response.clone()),
        }
    }
}

impl WebhookCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let sealer = Arc::new(secret::sealer(settings)?);
        match self {
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let webhooks = application.reader.webhooks(workspace.id).await?;
                let now = application.clock.now();
                let row = |webhook: &Webhook| OutputRow::new(&sealer, &workspace, webhook, now);
                format.print_many(&webhooks.iter().map(row).collect::<Vec<_>>())
            }
            Self::Add { target, url, kind, fields, format } => {
                let workspace = target.find(&application).await?;
                let rules = destination_rules(settings, &settings.service_url()?);
                let draft = WebhookDraft::parse(Some(&url), kind.as_deref(), fields.change(None)?, &rules)?;
                let operation = CreateWebhook { draft, sealer: sealer.clone() };
                let created = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&with_secret(&sealer, &workspace, &created, application.clock.now()))
            }
            Self::Set { target, id, url, fields, enabled, format } => {
                let workspace = target.find(&application).await?;
                let rules = destination_rules(settings, &settings.service_url()?);
                let operation = UpdateWebhook {
                    webhook: webhook_id(&id)?,
                    url: url.map(|url| parse_url(Some(&url), &rules)).transpose()?,
                    format: None,
                    change: fields.change(enabled)?,
                    sealer: sealer.clone(),
                };
                let webhook = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&OutputRow::new(&sealer, &workspace, &webhook, application.clock.now()))
            }
            Self::Remove { target, id, format } => {
                let workspace = target.find(&application).await?;
                let webhook = find(&application, &workspace, webhook_id(&id)?).await?;
                let row = OutputRow::new(&sealer, &workspace, &webhook, application.clock.now());
                application.executor.run_without_key(workspace.id, &DeleteWebhook { webhook: webhook.id }).await?;
                format.print_one(&row)
            }
            Self::RotateSecret { target, id, overlap, format } => {
                let workspace = target.find(&application).await?;
                let overlap = parse_overlap(Some(&overlap))?;
                let operation = RotateWebhookSecret { webhook: webhook_id(&id)?, overlap, sealer: sealer.clone() };
                let rotated = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&with_secret(&sealer, &workspace, &rotated, application.clock.now()))
            }
            Self::Test { target, id, wait, format } => {
                let workspace = target.find(&application).await?;
                let (webhook, wait) = (webhook_id(&id)?, duration("--wait", &wait)?);
                let sent = application.executor.run_without_key(workspace.id, &TestWebhook { webhook }).await?;
                let delivery = await_end(&application, &workspace, webhook, sent.event, wait).await?;
                format.print_one(&DeliveryRow::from(&delivery))?;
                if delivery.state != DeliveryState::Delivered {
                    bail!("the test event was not delivered");
                }
                Ok(())
            }
            Self::Deliveries { target, id, state, format } => {
                let workspace = target.find(&application).await?;
                let state = DeliveryState::parse_filter(state.as_deref())?;
                let webhook = find(&application, &workspace, webhook_id(&id)?).await?;
                let page = PageRequest::parse(None, Some("100"))?;
                let listing = application.reader.deliveries(workspace.id, webhook.id, state, page).await?;
                format.print_many(&listing.page_items().iter().map(DeliveryRow::from).collect::<Vec<_>>())
            }
            Self::Redeliver { target, id, since, format } => {
                let workspace = target.find(&application).await?;
                let since: Timestamp = parse_time("--since", &since)?;
                let operation = RedeliverFailed { webhook: webhook_id(&id)?, since };
                let redelivered = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&Redelivered { redelivered })
            }
        }
    }
}

fn webhook_id(raw: &str) -> anyhow::Result<WebhookId> {
    Ok(WebhookId::new(parse_uuid("the id", raw)?))
}

fn with_secret(sealer: &Sealer, workspace: &Workspace, created: &WebhookWithSecret, now: Timestamp) -> WithSecret {
    let secret = created.secret.as_ref().map(SecretText::as_str).map(ToOwned::to_owned);
    WithSecret { webhook: OutputRow::new(sealer, workspace, &created.webhook, now), secret }
}

async fn find(application: &Application, workspace: &Workspace, id: WebhookId) -> anyhow::Result<Webhook> {
    let webhooks = application.reader.webhooks(workspace.id).await?;
    match webhooks.into_iter().find(|webhook| webhook.id == id) {
        Some(webhook) => Ok(webhook),
        None => bail!("Webhook does not exist. `roadmap webhook list` shows the ids."),
    }
}

/// Waits until a worker has tried to send a test event.
async fn await_end(
    application: &Application,
    workspace: &Workspace,
    webhook: WebhookId,
    event: WebhookEventId,
    wait: Duration,
) -> anyhow::Result<Delivery> {
    let look = async {
        loop {
            match application.reader.delivery(workspace.id, webhook, event).await? {
                None => bail!("the webhook was removed"),
                Some(found) if found.delivery.state != DeliveryState::Waiting => return Ok(found.delivery),
                Some(_) => tokio::time::sleep(LOOK_INTERVAL).await,
            }
        }
    };
    match tokio::time::timeout(wait, look).await {
        Ok(outcome) => outcome,
        Err(_) => bail!(
            "no worker has sent the event within {}: start `roadmap serve` with webhook_worker, or `roadmap worker`",
            humantime::format_duration(wait)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(events: Option<&[&str]>) -> Fields {
        let events = events.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Fields { events, description: None, include_private: None, include_emails: None }
    }

    #[test]
    fn all_events_are_meant_by_their_word() {
        assert_eq!(fields(None).change(None).unwrap().events, None);
        assert_eq!(fields(Some(&["all"])).change(None).unwrap().events, Some(None));
        let named = fields(Some(&["vote.created", "vote.removed"])).change(Some(true)).unwrap();
        assert_eq!(named.events, Some(Some(vec!["vote.created".to_owned(), "vote.removed".to_owned()])));
        assert_eq!(named.enabled, Some(true));
        let long = Fields { description: Some("a".repeat(201)), ..fields(None) };
        assert!(long.change(None).is_err());
    }
}
