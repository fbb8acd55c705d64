//! `roadmap track`

use clap::Subcommand;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::usecase::add_track::AddTrack;
use serde::Serialize;

use super::InWorkspace;
use super::output::{Form, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum TrackCommand {
    /// Add a track behind the others
    Add {
        #[command(flatten)]
        of: InWorkspace,
        /// Its name
        name: String,
        /// Lane in which the public sees what is on it [default: none]
        #[arg(long, value_name = "NAME")]
        lane: Option<String>,
        #[command(flatten)]
        form: Form,
    },
    /// List the tracks of a workspace
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
    status: Option<String>,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["id", "name", "status"];
}

impl From<&Track> for Shown {
    fn from(track: &Track) -> Self {
        Self { id: track.id.to_string(), name: track.name.to_string(), status: track.status().map(Name::to_string) }
    }
}

impl TrackCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { of, name, lane, form } => {
                let workspace = of.find(&application).await?;
                let operation = AddTrack {
                    name: Name::parse("the name", &name)?,
                    lane: lane.map(|raw| Name::parse("--lane", &raw)).transpose()?,
                };
                form.one(&Shown::from(&application.executor.apply(workspace.id, &operation).await?))
            }
            Self::List { of, form } => {
                let workspace = of.find(&application).await?;
                let tracks = application.reader.tracks(workspace.id).await?;
                form.many(&tracks.iter().map(Shown::from).collect::<Vec<_>>())
            }
        }
    }
}
