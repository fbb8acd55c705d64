//! `roadmap lane`

use clap::Subcommand;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Lane;
use roadmap_domain::usecase::add_lane::AddLane;
use serde::Serialize;

use super::InWorkspace;
use super::output::{Form, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum LaneCommand {
    /// Add a lane behind the others
    Add {
        #[command(flatten)]
        of: InWorkspace,
        /// Its name
        name: String,
        #[command(flatten)]
        form: Form,
    },
    /// List the lanes of a workspace
    List {
        #[command(flatten)]
        of: InWorkspace,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Serialize)]
struct Shown {
    id: String,
    name: String,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["id", "name"];
}

impl From<&Lane> for Shown {
    fn from(lane: &Lane) -> Self {
        Self { id: lane.id.to_string(), name: lane.name.to_string() }
    }
}

impl LaneCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { of, name, form } => {
                let workspace = of.find(&application).await?;
                let operation = AddLane { name: Name::parse("the name", &name)? };
                form.one(&Shown::from(&application.executor.apply(workspace.id, &operation).await?))
            }
            Self::List { of, form } => {
                let workspace = of.find(&application).await?;
                let lanes = application.reader.lanes(workspace.id).await?;
                form.many(&lanes.iter().map(Shown::from).collect::<Vec<_>>())
            }
        }
    }
}
