//! `roadmap workspace`

use clap::Subcommand;
use roadmap_domain::error::{FieldError, Resource, RoadmapError};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::mail::{MailSender, SenderName};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use roadmap_domain::usecase::set_sender_name::SetSenderName;
use serde::Serialize;

use super::find_workspace;
use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// Create a workspace with its lanes and tracks
    Create {
        /// Subdomain of the workspace: one label below the base URL
        subdomain: String,
        /// Name of the product
        #[arg(long, value_name = "NAME")]
        product_name: String,
        /// Website of the product
        #[arg(long, value_name = "URL")]
        website_url: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Change settings of a workspace that only operators have, and keep the others
    Set {
        /// Subdomain of the workspace
        subdomain: String,
        /// Name that its mail comes from, such as `Acme`; an empty text for `<product> via <service>`
        #[arg(long, value_name = "NAME")]
        sender_name: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List all workspaces
    List {
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Show how much workspaces store, and their limits
    Usage {
        /// Only this workspace
        #[arg(long, value_name = "SUBDOMAIN")]
        workspace: Option<String>,
        /// Recount instead of showing the saved totals
        #[arg(long)]
        recount: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct OutputRow {
    id: String,
    subdomain: String,
    base_url: String,
    product_name: String,
    website_url: String,
    /// `null`: mail comes from `<product> via <service>`.
    sender_name: Option<String>,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "subdomain", "base_url", "product_name", "website_url", "sender_name"];
}

impl OutputRow {
    fn new(workspace: &Workspace, setting: &Setting, sender_name: Option<&SenderName>, base_url: &BaseUrl) -> Self {
        Self {
            id: workspace.id.to_string(),
            subdomain: workspace.subdomain.to_string(),
            base_url: base_url.workspace_url(&workspace.subdomain),
            product_name: setting.product_name.to_string(),
            website_url: setting.website_url.as_str().to_owned(),
            sender_name: sender_name.map(|name| name.as_str().to_owned()),
        }
    }
}

/// Returns a workspace as it is stored.
async fn stored(application: &Application, workspace: &Workspace, base_url: &BaseUrl) -> anyhow::Result<OutputRow> {
    let sender = application.mail_reader().sender(workspace.id).await?;
    let MailSender { name, portal, .. } = sender.ok_or(RoadmapError::NotFound(Resource::Workspace))?;
    Ok(OutputRow::new(workspace, &portal.setting, name.as_ref(), base_url))
}

#[derive(Serialize)]
struct UsageRow {
    subdomain: String,
    record_bytes: i64,
    /// `null` without a limit.
    record_limit: Option<u64>,
    file_bytes: i64,
    /// `null` without a limit.
    file_limit: Option<u64>,
    /// `null` when the rows were never counted.
    counted_at: Option<String>,
}

impl Row for UsageRow {
    const COLUMNS: &[&str] = &["subdomain", "record_bytes", "record_limit", "file_bytes", "file_limit", "counted_at"];
}

/// Returns the storage usage of workspaces: the saved totals, which are some seconds old, or a recount.
async fn usage(
    application: &Application,
    settings: &Settings,
    only: Option<String>,
    recount: bool,
) -> anyhow::Result<Vec<UsageRow>> {
    let workspaces = match only {
        Some(subdomain) => vec![find_workspace(application, &subdomain).await?],
        None => application.directory.workspaces().await?,
    };
    let mut rows = Vec::new();
    for Workspace { id, subdomain } in workspaces {
        let stored = if recount {
            application.usage.recount_usage(id, application.clock.now()).await?
        } else {
            application.usage.load_usage(id).await?.unwrap_or_default()
        };
        rows.push(UsageRow {
            subdomain: subdomain.to_string(),
            record_bytes: stored.usage.records,
            record_limit: settings.storage_limits.records,
            file_bytes: stored.usage.files,
            file_limit: settings.storage_limits.files,
            counted_at: stored.counted_at.map(|at| at.to_string()),
        });
    }
    Ok(rows)
}

impl WorkspaceCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let base_url = settings.service_url()?;
        match self {
            Self::Create { subdomain, product_name, website_url, format } => {
                let operation = CreateWorkspace {
                    subdomain: Subdomain::parse("the subdomain", &subdomain)?,
                    setting: Setting::parse(&product_name, &website_url).map_err(with_flag_name)?,
                };
                let application = Application::open(settings).await?;
                let id = WorkspaceId::new(application.ids.next(application.clock.now()));
                let created = application.executor.run_without_key(id, &operation).await?;
                format.print_one(&OutputRow::new(&created.workspace, &operation.setting, None, &base_url))
            }
            Self::Set { subdomain, sender_name, format } => {
                let name = SenderName::parse("--sender-name", &sender_name)?;
                let application = Application::open(settings).await?;
                let workspace = find_workspace(&application, &subdomain).await?;
                application.executor.run_without_key(workspace.id, &SetSenderName { name }).await?;
                format.print_one(&stored(&application, &workspace, &base_url).await?)
            }
            Self::List { format } => {
                let application = Application::open(settings).await?;
                let mut rows = Vec::new();
                for workspace in application.directory.workspaces().await? {
                    rows.push(stored(&application, &workspace, &base_url).await?);
                }
                format.print_many(&rows)
            }
            Self::Usage { workspace, recount, format } => {
                let application = Application::open(settings).await?;
                format.print_many(&usage(&application, settings, workspace, recount).await?)
            }
        }
    }
}

/// Replaces the name of the invalid field by the name of its flag.
fn with_flag_name(invalid: FieldError) -> anyhow::Error {
    let flag = format!("--{}", invalid.field.replace('_', "-"));
    anyhow::Error::new(invalid).context(flag)
}
