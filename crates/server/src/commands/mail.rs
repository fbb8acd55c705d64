//! The command `roadmap mail`.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Subcommand;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::MailStatus;
use roadmap_domain::model::message::MessageState;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::usecase::queue_test_mail::{QueueTestMail, TestMailBy};
use roadmap_domain::usecase::retry_mail::RetryMail;
use serde::Serialize;

use super::find_workspace;
use super::output::{OutputFormat, Row, print};
use crate::settings::{Mail, Settings, duration};
use crate::wiring::{self, Application};

#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Send a test mail and show the dialog with the mail server
    Test {
        /// Recipient
        #[arg(long, value_name = "ADDRESS")]
        to: String,
        /// Queue the mail for this workspace and wait until a worker has sent it [default: send it from here]
        #[arg(long, value_name = "SUBDOMAIN")]
        workspace: Option<String>,
        /// How long to wait
        #[arg(long, value_name = "TIME", default_value = "30s", requires = "workspace")]
        wait: String,
        /// Do not wait
        #[arg(long, requires = "workspace", conflicts_with = "wait")]
        no_wait: bool,
    },
    /// Show how much mail is waiting, sent and given up, and the latest failures
    Status {
        #[command(flatten)]
        target: WorkspaceFilter,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Retry failed mail now, instead of at its next attempt
    Retry {
        #[command(flatten)]
        target: WorkspaceFilter,
        /// Also retry mail that was given up
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// One workspace or all of them.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkspaceFilter {
    /// Subdomain of the workspace [default: all of them]
    #[arg(long, value_name = "SUBDOMAIN")]
    workspace: Option<String>,
}

impl WorkspaceFilter {
    async fn find(&self, application: &Application) -> anyhow::Result<Vec<Workspace>> {
        match &self.workspace {
            Some(raw) => Ok(vec![find_workspace(application, raw).await?]),
            None => Ok(application.directory.workspaces().await?),
        }
    }
}

/// Maximum failures to show for each workspace.
const MAX_FAILURES: u32 = 10;

#[derive(Serialize)]
struct OutputRow {
    workspace: String,
    waiting: u64,
    audiences: u64,
    oldest: Option<String>,
    sent: u64,
    dead: u64,
    failures: Vec<FailureRow>,
}

#[derive(Serialize)]
struct FailureRow {
    mail: String,
    attempts: u32,
    next: Option<String>,
    reason: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["workspace", "waiting", "audiences", "oldest", "sent", "dead"];
}

impl OutputRow {
    fn new(workspace: &Workspace, status: MailStatus) -> Self {
        Self {
            workspace: workspace.subdomain.to_string(),
            waiting: status.waiting,
            audiences: status.audiences,
            oldest: status.oldest.map(|at| at.to_string()),
            sent: status.sent,
            dead: status.dead,
            failures: status
                .failures
                .into_iter()
                .map(|failure| FailureRow {
                    mail: failure.id.to_string(),
                    attempts: failure.attempts,
                    next: failure.next_attempt_at.map(|at| at.to_string()),
                    reason: failure.reason,
                })
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct Retried {
    workspace: String,
    retried: u64,
}

impl Row for Retried {
    const COLUMNS: &[&str] = &["workspace", "retried"];
}

impl MailCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        match self {
            Self::Test { to, workspace, wait, no_wait } => {
                let to = EmailAddress::parse("--to", &to)?;
                let Some(workspace) = workspace else { return send_test_mail(settings, &to).await };
                let wait = if no_wait { None } else { Some(duration("--wait", &wait)?) };
                queue_test_mail(settings, to, &workspace, wait).await
            }
            Self::Status { target, format } => {
                let application = Application::open(settings).await?;
                let mut rows = Vec::new();
                for workspace in target.find(&application).await? {
                    let status = application.queue.status(workspace.id, MAX_FAILURES, application.clock.now()).await?;
                    rows.push(OutputRow::new(&workspace, status));
                }
                format.print_many(&rows)?;
                if !format.is_json() {
                    print_failures(settings, &rows)?;
                }
                Ok(())
            }
            Self::Retry { target, dead, format } => {
                let application = Application::open(settings).await?;
                let mut rows = Vec::new();
                for workspace in target.find(&application).await? {
                    let retried = application.executor.run_without_key(workspace.id, &RetryMail { dead }).await?;
                    rows.push(Retried { workspace: workspace.subdomain.to_string(), retried });
                }
                format.print_many(&rows)
            }
        }
    }
}

async fn send_test_mail(settings: &Settings, to: &EmailAddress) -> anyhow::Result<()> {
    let Mail::Smtp(options) = &settings.mail else {
        bail!("there is no mail server: the setting smtp_url is not set, and mail is written to {}", settings.mail);
    };
    let transcript = wiring::smtp_mailer(options)?.send_test_mail(to).await;
    for line in &transcript.lines {
        print(line)?;
    }
    match transcript.outcome {
        Ok(()) => print(&format!("The server has accepted the mail to {}.", to.as_str())),
        Err(problem) => bail!("the mail was not sent: {}", problem.reason),
    }
}

/// How often the state of a queued mail is read.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Queues a test mail and waits until a worker has sent it.
async fn queue_test_mail(
    settings: &Settings,
    to: EmailAddress,
    workspace: &str,
    wait: Option<Duration>,
) -> anyhow::Result<()> {
    let application = Application::open(settings).await?;
    let workspace = find_workspace(&application, workspace).await?.id;
    let message = application
        .executor
        .run_without_key(workspace, &QueueTestMail { to: to.clone(), requester: TestMailBy::Operator })
        .await?;
    print(&format!("The mail {message} to {} is queued.", to.as_str()))?;
    let Some(wait) = wait else { return Ok(()) };
    let begun = Instant::now();
    loop {
        let state = application.queue.message(workspace, &message).await?.context("the mail was deleted")?;
        if state.sent_at.is_some() {
            let response = state.response.unwrap_or_default();
            return print(&format!("It was sent at try {}. The mail server's response: {response}", state.attempts));
        }
        if state.due_at.is_none() {
            bail!("the mail was given up at try {}: {}", state.attempts, state.failure.unwrap_or_default());
        }
        if begun.elapsed() >= wait {
            bail!("{}", unfinished(&state, wait));
        }
        tokio::time::sleep(POLL_INTERVAL.min(wait.saturating_sub(begun.elapsed()))).await;
    }
}

/// Describes why a queued mail is not sent yet.
fn unfinished(state: &MessageState, wait: Duration) -> String {
    let wait = humantime::format_duration(wait);
    match (&state.failure, state.due_at) {
        (Some(reason), Some(next)) if state.leased_until.is_none() => {
            format!("the mail was not sent within {wait}, and is tried again at {next}: {reason}")
        }
        _ if state.attempts > 0 => {
            format!("the mail was not sent within {wait}: a worker has it, and the mail server has not answered yet")
        }
        _ => format!(
            "no worker has taken the mail within {wait}: start `roadmap serve` with mail_worker, or `roadmap worker`; the mail \
             stays queued"
        ),
    }
}

/// Prints the latest failures and hints below the table.
fn print_failures(settings: &Settings, rows: &[OutputRow]) -> anyhow::Result<()> {
    print(&format!("\nMail is sent by {}.", settings.mail))?;
    for OutputRow { workspace, failures, .. } in rows.iter().filter(|row| !row.failures.is_empty()) {
        print(&format!("\nThe latest failures of {workspace}:"))?;
        for FailureRow { mail, attempts, next, reason } in failures {
            let next = next.as_ref().map_or_else(|| "given up".to_owned(), |next| format!("next attempt at {next}"));
            print(&format!("  {mail}: tried {attempts} times, {next}\n    {reason}"))?;
        }
    }
    if rows.iter().any(|row| row.dead > 0) {
        print(
            "\n`roadmap mail retry --dead` also retries mail that was given up, except to addresses that do not exist.",
        )?;
    }
    Ok(())
}
