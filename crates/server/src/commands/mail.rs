//! `roadmap mail`

use anyhow::bail;
use clap::Subcommand;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::mail::MailStatus;
use roadmap_domain::model::workspace::Workspace;
use serde::Serialize;

use super::named;
use super::output::{Form, Row, print};
use crate::settings::{Mail, Settings};
use crate::wiring::{self, Application};

#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Send one mail and show what is said between here and the mail server
    Test {
        /// Whom to send it to
        #[arg(long, value_name = "ADDRESS")]
        to: String,
    },
    /// Show what waits, what was sent, what is given up, and why
    Status {
        #[command(flatten)]
        of: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Try again now what waits for its next try
    Retry {
        #[command(flatten)]
        of: Which,
        /// Also what was given up
        #[arg(long)]
        dead: bool,
        #[command(flatten)]
        form: Form,
    },
}

/// One workspace, or all.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// Subdomain of the workspace [default: all of them]
    #[arg(long, value_name = "SUBDOMAIN")]
    workspace: Option<String>,
}

impl Which {
    async fn find(&self, application: &Application) -> anyhow::Result<Vec<Workspace>> {
        match &self.workspace {
            Some(raw) => Ok(vec![named(application, raw).await?]),
            None => Ok(application.directory.workspaces().await?),
        }
    }
}

/// How many failures are shown of each workspace.
const FAILURES: u32 = 10;

#[derive(Serialize)]
struct Shown {
    workspace: String,
    waiting: u64,
    audiences: u64,
    oldest: Option<String>,
    sent: u64,
    dead: u64,
    failures: Vec<ShownFailure>,
}

#[derive(Serialize)]
struct ShownFailure {
    mail: String,
    attempts: u32,
    next: Option<String>,
    reason: String,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["workspace", "waiting", "audiences", "oldest", "sent", "dead"];
}

impl Shown {
    fn of(workspace: &Workspace, status: MailStatus) -> Self {
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
                .map(|failure| ShownFailure {
                    mail: failure.id.to_string(),
                    attempts: failure.attempts,
                    next: failure.next.map(|at| at.to_string()),
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
            Self::Test { to } => test(settings, &EmailAddress::parse("--to", &to)?).await,
            Self::Status { of, form } => {
                let application = Application::open(settings).await?;
                let mut shown = Vec::new();
                for workspace in of.find(&application).await? {
                    let status = application.queue.status(workspace.id, FAILURES).await?;
                    shown.push(Shown::of(&workspace, status));
                }
                form.many(&shown)?;
                if !form.is_json() {
                    explain(settings, &shown)?;
                }
                Ok(())
            }
            Self::Retry { of, dead, form } => {
                let application = Application::open(settings).await?;
                let mut shown = Vec::new();
                for workspace in of.find(&application).await? {
                    let retried = application.queue.retry(workspace.id, dead, application.clock.now()).await?;
                    shown.push(Retried { workspace: workspace.subdomain.to_string(), retried });
                }
                form.many(&shown)
            }
        }
    }
}

async fn test(settings: &Settings, to: &EmailAddress) -> anyhow::Result<()> {
    let Mail::Smtp(options) = &settings.mail else {
        bail!("there is no mail server: the setting smtp_url is not set, and mail is written to {}", settings.mail);
    };
    let conversation = wiring::smtp(options)?.converse(to).await;
    for line in &conversation.lines {
        print(line)?;
    }
    match conversation.outcome {
        Ok(()) => print(&format!("The server has taken a mail to {}.", to.as_str())),
        Err(reason) => bail!("the mail was not sent: {reason}"),
    }
}

/// What the numbers mean, below the table.
fn explain(settings: &Settings, shown: &[Shown]) -> anyhow::Result<()> {
    print(&format!("\nMail is sent by {}.", settings.mail))?;
    for Shown { workspace, failures, .. } in shown.iter().filter(|shown| !shown.failures.is_empty()) {
        print(&format!("\nThe latest failures of {workspace}:"))?;
        for ShownFailure { mail, attempts, next, reason } in failures {
            let next = next.as_ref().map_or_else(|| "given up".to_owned(), |next| format!("next try at {next}"));
            print(&format!("  {mail}: tried {attempts} times, {next}\n    {reason}"))?;
        }
    }
    if shown.iter().any(|shown| shown.dead > 0) {
        print(
            "\n`roadmap mail retry --dead` tries again what was given up; addresses that do not exist stay without mail.",
        )?;
    }
    Ok(())
}
