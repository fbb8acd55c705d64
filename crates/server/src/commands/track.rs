//! `roadmap track`

use clap::Subcommand;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::usecase::add_track::AddTrack;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum TrackCommand {
    /// Add a track after the others
    Add {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name of the track
        name: String,
        /// Lane of the public roadmap that shows the track's feature requests [default: none]
        #[arg(long, value_name = "NAME")]
        lane: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the tracks of a workspace
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
    status: Option<String>,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "name", "status"];
}

impl From<&Track> for OutputRow {
    fn from(track: &Track) -> Self {
        Self { id: track.id.to_string(), name: track.name.to_string(), status: track.status().map(Name::to_string) }
    }
}

impl TrackCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { target, name, lane, format } => {
                let workspace = target.find(&application).await?;
                let operation = AddTrack {
                    name: Name::parse("the name", &name)?,
                    lane: lane.map(|raw| Name::parse("--lane", &raw)).transpose()?,
                };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let tracks = application.reader.tracks(workspace.id).await?;
                format.print_many(&tracks.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
        }
    }
}
