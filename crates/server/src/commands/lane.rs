//! `roadmap lane`

use clap::Subcommand;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Lane;
use roadmap_domain::usecase::add_lane::AddLane;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum LaneCommand {
    /// Add a lane after the others
    Add {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name of the lane
        name: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the lanes of a workspace
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct OutputRow {
    id: String,
    name: String,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "name"];
}

impl From<&Lane> for OutputRow {
    fn from(lane: &Lane) -> Self {
        Self { id: lane.id.to_string(), name: lane.name.to_string() }
    }
}

impl LaneCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { target, name, format } => {
                let workspace = target.find(&application).await?;
                let operation = AddLane { name: Name::parse("the name", &name)? };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let lanes = application.reader.lanes(workspace.id).await?;
                format.print_many(&lanes.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
        }
    }
}
