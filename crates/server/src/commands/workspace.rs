//! `roadmap workspace`

use clap::Subcommand;
use roadmap_domain::error::{Invalid, Resource, RoadmapError};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::usecase::create_workspace::CreateWorkspace;
use serde::Serialize;

use super::output::{Form, Row};
use super::{base_url, named};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspaceCommand {
    /// Create a workspace with its lanes and tracks
    Create {
        /// Its address: one label below the base URL
        subdomain: String,
        /// Name of the product
        #[arg(long, value_name = "NAME")]
        product_name: String,
        /// Website of the product
        #[arg(long, value_name = "URL")]
        website_url: String,
        #[command(flatten)]
        form: Form,
    },
    /// List all workspaces
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Show how much workspaces store, and how much they may
    Usage {
        /// Only this workspace
        #[arg(long, value_name = "SUBDOMAIN")]
        workspace: Option<String>,
        /// Count anew instead of showing what the service knows
        #[arg(long)]
        recount: bool,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Serialize)]
struct Shown {
    id: String,
    subdomain: String,
    base_url: String,
    product_name: String,
    website_url: String,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["id", "subdomain", "base_url", "product_name", "website_url"];
}

impl Shown {
    fn of(workspace: &Workspace, setting: &Setting, base_url: &BaseUrl) -> Self {
        Self {
            id: workspace.id.to_string(),
            subdomain: workspace.subdomain.to_string(),
            base_url: base_url.of_workspace(&workspace.subdomain),
            product_name: setting.product_name.to_string(),
            website_url: setting.website_url.as_str().to_owned(),
        }
    }
}

#[derive(Serialize)]
struct ShownUsage {
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

impl Row for ShownUsage {
    const COLUMNS: &[&str] = &["subdomain", "record_bytes", "record_limit", "file_bytes", "file_limit", "counted_at"];
}

/// What workspaces store: as the service knows it, which is some seconds old, or counted now.
async fn usage(
    application: &Application,
    settings: &Settings,
    only: Option<String>,
    recount: bool,
) -> anyhow::Result<Vec<ShownUsage>> {
    let workspaces = match only {
        Some(subdomain) => vec![named(application, &subdomain).await?],
        None => application.directory.workspaces().await?,
    };
    let mut shown = Vec::new();
    for Workspace { id, subdomain } in workspaces {
        let stored = if recount {
            application.usage.recount_usage(id, application.clock.now()).await?
        } else {
            application.usage.load_usage(id).await?.unwrap_or_default()
        };
        shown.push(ShownUsage {
            subdomain: subdomain.to_string(),
            record_bytes: stored.usage.records,
            record_limit: settings.storage_limits.records,
            file_bytes: stored.usage.files,
            file_limit: settings.storage_limits.files,
            counted_at: stored.counted_at.map(|at| at.to_string()),
        });
    }
    Ok(shown)
}

impl WorkspaceCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let base_url = base_url(settings)?;
        match self {
            Self::Create { subdomain, product_name, website_url, form } => {
                let operation = CreateWorkspace {
                    subdomain: Subdomain::parse("the subdomain", &subdomain)?,
                    setting: Setting::parse(&product_name, &website_url).map_err(of_flag)?,
                };
                let application = Application::open(settings).await?;
                let id = WorkspaceId::new(application.ids.next(application.clock.now()));
                let created = application.executor.apply(id, &operation).await?;
                form.one(&Shown::of(&created.workspace, &operation.setting, &base_url))
            }
            Self::List { form } => {
                let application = Application::open(settings).await?;
                let mut shown = Vec::new();
                for workspace in application.directory.workspaces().await? {
                    let setting = application.reader.setting(workspace.id).await?;
                    let setting = setting.ok_or(RoadmapError::Missing(Resource::Workspace))?;
                    shown.push(Shown::of(&workspace, &setting, &base_url));
                }
                form.many(&shown)
            }
            Self::Usage { workspace, recount, form } => {
                let application = Application::open(settings).await?;
                form.many(&usage(&application, settings, workspace, recount).await?)
            }
        }
    }
}

/// A field of the settings is a flag here.
fn of_flag(invalid: Invalid) -> anyhow::Error {
    let flag = format!("--{}", invalid.field.replace('_', "-"));
    anyhow::Error::new(invalid).context(flag)
}
