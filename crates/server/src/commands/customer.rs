//! `roadmap customer`

use clap::Subcommand;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::customer::DoubleCustomer;
use roadmap_domain::usecase::merge_customers::MergeCustomers;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row, print};
use super::person::{self, Erase, ExportTarget, Person};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum CustomerCommand {
    /// Show how much is stored about a customer
    Show {
        #[command(flatten)]
        person: Person,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Write all data of a customer as JSON, and nothing of anybody else
    Export {
        #[command(flatten)]
        person: Person,
        #[command(flatten)]
        target: ExportTarget,
    },
    /// Erase a customer from the database and from all files, which cannot be undone
    Erase(Erase),
    /// Erase again who was erased before a database was restored (`restore` does so by itself)
    Reapply {
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Merge customers whose addresses have become the same, such as those of one domain in two spellings. Lists them
    /// without --yes
    MergeDoubles {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Merge them, which cannot be undone
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// Two customers with one address.
#[derive(Serialize)]
struct DoubleRow {
    id: String,
    email: String,
    merged_into: String,
    merged_into_email: String,
}

impl Row for DoubleRow {
    const COLUMNS: &[&str] = &["id", "email", "merged_into", "merged_into_email"];
}

impl From<&DoubleCustomer> for DoubleRow {
    fn from(DoubleCustomer { double, canonical }: &DoubleCustomer) -> Self {
        Self {
            id: double.id.to_string(),
            email: double.email.as_str().to_owned(),
            merged_into: canonical.id.to_string(),
            merged_into_email: canonical.email.as_str().to_owned(),
        }
    }
}

impl CustomerCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let (target, yes, format) = match self {
            Self::Show { person, format } => return person::show(settings, &person, format).await,
            Self::Export { person, target } => {
                return person::export(settings, &person, target.to.as_deref(), target.without_notes).await;
            }
            Self::Erase(erase) => return erase.run(settings).await,
            Self::Reapply { format } => return person::reapply(settings, format).await,
            Self::MergeDoubles { target, yes, format } => (target, yes, format),
        };
        let application = Application::open(settings).await?;
        let workspace = target.find(&application).await?.id;
        let mut doubles = application.maintenance.double_addresses(workspace).await?.customers;
        if yes {
            let mut merged = Vec::new();
            for double in doubles {
                let merge = MergeCustomers { source: double.double.id, target: double.canonical.id };
                match application.executor.run_without_key(workspace, &merge).await {
                    Ok(_) => merged.push(double),
                    // Somebody else has merged one of them meanwhile.
                    Err(RoadmapError::NotFound(Resource::Customer)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            doubles = merged;
        }
        format.print_many(&doubles.iter().map(DoubleRow::from).collect::<Vec<_>>())?;
        if format.is_json() {
            return Ok(());
        }
        print(&match (doubles.len(), yes) {
            (0, _) => "There are no customers with the same address.".to_owned(),
            (count, true) => format!("{count} merged."),
            (count, false) => {
                format!(
                    "{count} to be merged: all that they wrote, and their votes, go to the other one. Add --yes to do so."
                )
            }
        })
    }
}
