//! `roadmap track`

use anyhow::Context;
use clap::Subcommand;
use roadmap_domain::error::{FieldError, FieldProblem, Resource, RoadmapError};
use roadmap_domain::model::board::TrackChange;
use roadmap_domain::model::id::{LaneId, TrackId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::Track;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::usecase::change_board::{AddTrack, ChangeTrack, LaneRef, RemoveTrack, TrackDraft};
use serde::Serialize;

use super::WorkspaceArgument;
use super::lane;
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
        /// Lane of the public roadmap that shows the track's feature requests, by name or id [default: none]
        #[arg(long, value_name = "NAME")]
        lane: Option<String>,
        /// Position among the tracks, from 1; those from there on move one further [default: after the others]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        position: Option<u64>,
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
    /// Rename a track
    Rename {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the track
        track: String,
        /// New name
        name: String,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Move a track to another position or lane
    #[command(group = clap::ArgGroup::new("where").required(true).multiple(true))]
    Move {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the track
        track: String,
        /// New position among the tracks, from 1; after the last one means the last
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), group = "where")]
        position: Option<u64>,
        /// Lane of the public roadmap that shows the track's feature requests from now on, by name or id
        #[arg(long, value_name = "NAME", group = "where")]
        lane: Option<String>,
        /// Take the track off the public roadmap
        #[arg(long, group = "where", conflicts_with = "lane")]
        no_lane: bool,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Remove a track. The last one of a workspace stays
    Remove {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the track
        track: String,
        /// Track that its feature requests are moved to, by name or id; required if it has any
        #[arg(long, value_name = "TRACK")]
        move_to: Option<String>,
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
            Self::Add { target, name, lane, position, format } => {
                let workspace = target.find(&application).await?;
                let name = Name::parse("the name", &name)?;
                let lane = match lane {
                    Some(raw) => Some(LaneRef::Id(find_lane(&application, &workspace, &raw).await?)),
                    None => None,
                };
                let operation = AddTrack { draft: TrackDraft { name, lane, position } };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let tracks = application.reader.tracks(workspace.id).await?;
                format.print_many(&tracks.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
            Self::Rename { target, track, name, format } => {
                let workspace = target.find(&application).await?;
                let change = TrackChange { name: Some(Name::parse("the name", &name)?), ..TrackChange::default() };
                print_changed(&application, &workspace, &track, change, format).await
            }
            Self::Move { target, track, position, lane, no_lane, format } => {
                let workspace = target.find(&application).await?;
                let lane = match lane {
                    Some(raw) => Some(Some(find_lane(&application, &workspace, &raw).await?)),
                    None if no_lane => Some(None),
                    None => None,
                };
                let change = TrackChange { name: None, lane, position };
                print_changed(&application, &workspace, &track, change, format).await
            }
            Self::Remove { target, track, move_to, format } => {
                let workspace = target.find(&application).await?;
                let id = find(&application, &workspace, &track).await?;
                let move_to = match move_to {
                    Some(raw) => Some(find(&application, &workspace, &raw).await?),
                    None => None,
                };
                if move_to == Some(id) {
                    anyhow::bail!("--move-to is the track that is to be removed; name another one");
                }
                let operation = RemoveTrack { track: id, move_to };
                let removed = application.executor.run_without_key(workspace.id, &operation).await;
                format.print_one(&OutputRow::from(&removed.map_err(|error| explain(error, &track))?))
            }
        }
    }
}

/// Replaces the error for a missing target by one that names the flag.
fn explain(error: RoadmapError, track: &str) -> anyhow::Error {
    match error {
        RoadmapError::Invalid(FieldError { ref field, problem: FieldProblem::Missing }) if field == "move_to" => {
            anyhow::anyhow!("the track `{track}` has feature requests; name the track that gets them with --move-to")
        }
        other => other.into(),
    }
}

async fn print_changed(
    application: &Application,
    workspace: &Workspace,
    track: &str,
    change: TrackChange,
    format: OutputFormat,
) -> anyhow::Result<()> {
    let operation = ChangeTrack { track: find(application, workspace, track).await?, change };
    let changed = application.executor.run_without_key(workspace.id, &operation).await?;
    format.print_one(&OutputRow::from(&changed.record))
}

/// Finds the lane of the flag `--lane`.
async fn find_lane(application: &Application, workspace: &Workspace, raw: &str) -> anyhow::Result<LaneId> {
    Name::parse("--lane", raw)?;
    lane::find(application, workspace, raw).await
}

/// Finds the track that an operator has named.
async fn find(application: &Application, workspace: &Workspace, raw: &str) -> anyhow::Result<TrackId> {
    let tracks = application.reader.tracks(workspace.id).await?;
    lane::find_named(tracks.iter().map(|track| (track.id, &track.name)), raw, TrackId::new)
        .ok_or(RoadmapError::NotFound(Resource::Track))
        .with_context(|| {
            let subdomain = &workspace.subdomain;
            format!("there is no track `{raw}`; `roadmap track list --workspace {subdomain}` lists all tracks")
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::Arguments;
    use clap::Parser;

    #[test]
    fn a_track_is_moved_somewhere() {
        let parses = |flags: &[&str]| {
            let command = ["roadmap", "track", "move", "--workspace", "acme", "Inbox"];
            Arguments::try_parse_from(command.iter().chain(flags)).is_ok()
        };
        for flags in
            [&["--position", "1"][..], &["--lane", "Planned"], &["--no-lane"], &["--no-lane", "--position", "2"]]
        {
            assert!(parses(flags), "{flags:?}");
        }
        for flags in [&[][..], &["--position", "0"], &["--position", "-1"], &["--lane", "Planned", "--no-lane"]] {
            assert!(!parses(flags), "{flags:?}");
        }
    }

    #[test]
    fn a_missing_target_is_explained() {
        let text = explain(FieldError::missing("move_to").into(), "Inbox").to_string();
        assert_eq!(text, "the track `Inbox` has feature requests; name the track that gets them with --move-to");
        let text = explain(RoadmapError::NotFound(Resource::Track), "Inbox").to_string();
        assert_eq!(text, "Track does not exist.");
    }
}
