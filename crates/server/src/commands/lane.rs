//! `roadmap lane`

use std::collections::BTreeMap;

use anyhow::Context;
use clap::Subcommand;
use roadmap_domain::error::{Resource, RoadmapError};
use roadmap_domain::model::board::{LaneChange, ListedLane};
use roadmap_domain::model::id::{LaneId, parse_uuid};
use roadmap_domain::model::localized::Localized;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, LaneKind};
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::usecase::change_board::{AddLane, ChangeLane, LaneDraft, RemoveLane};
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
        /// What it means: considering, planned, started, done, declined or other [default: what the name says]
        #[arg(long)]
        kind: Option<String>,
        /// Position among the lanes, from 1; those from there on move one further [default: after the others]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        position: Option<u64>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// List the lanes of a workspace, with the number of public feature requests that each one shows
    List {
        #[command(flatten)]
        target: WorkspaceArgument,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Rename a lane. The public status of its feature requests changes with it
    Rename {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the lane
        lane: String,
        /// New name
        name: String,
        /// What it means from now on: considering, planned, started, done, declined or other
        #[arg(long)]
        kind: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Move a lane to another position
    Move {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the lane
        lane: String,
        /// New position among the lanes, from 1; after the last one means the last
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        position: u64,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Remove a lane. Its tracks and their feature requests stay, but are no longer on the public roadmap
    Remove {
        #[command(flatten)]
        target: WorkspaceArgument,
        /// Name or id of the lane
        lane: String,
        #[command(flatten)]
        format: OutputFormat,
    },
}

/// A lane, as the API shows it.
#[derive(Serialize)]
struct OutputRow {
    id: String,
    name: String,
    kind: &'static str,
    names: BTreeMap<&'static str, String>,
    position: u64,
    feature_requests_count: i64,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["id", "name", "kind", "names", "position", "feature_requests_count"];
}

impl From<&ListedLane> for OutputRow {
    fn from(lane: &ListedLane) -> Self {
        Self {
            id: lane.lane.id.to_string(),
            name: lane.lane.name.to_string(),
            kind: lane.lane.kind.as_str(),
            names: lane.lane.names.texts().clone(),
            position: lane.position,
            feature_requests_count: lane.feature_requests_count,
        }
    }
}

/// A removed lane.
#[derive(Serialize)]
struct Removed {
    id: String,
    name: String,
}

impl Row for Removed {
    const COLUMNS: &[&str] = &["id", "name"];
}

impl From<&Lane> for Removed {
    fn from(lane: &Lane) -> Self {
        Self { id: lane.id.to_string(), name: lane.name.to_string() }
    }
}

impl LaneCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        match self {
            Self::Add { target, name, kind, position, format } => {
                let kind = parse_kind(kind.as_deref())?;
                let workspace = target.find(&application).await?;
                let name = Name::parse("the name", &name)?;
                let operation = AddLane { draft: LaneDraft { name, kind, names: Localized::default(), position } };
                format
                    .print_one(&OutputRow::from(&application.executor.run_without_key(workspace.id, &operation).await?))
            }
            Self::List { target, format } => {
                let workspace = target.find(&application).await?;
                let lanes = application.reader.lanes(workspace.id).await?;
                format.print_many(&lanes.iter().map(OutputRow::from).collect::<Vec<_>>())
            }
            Self::Rename { target, lane, name, kind, format } => {
                let change = LaneChange {
                    name: Some(Name::parse("the name", &name)?),
                    kind: parse_kind(kind.as_deref())?,
                    ..LaneChange::default()
                };
                print_changed(&application, &target, &lane, change, format).await
            }
            Self::Move { target, lane, position, format } => {
                let change = LaneChange { position: Some(position), ..LaneChange::default() };
                print_changed(&application, &target, &lane, change, format).await
            }
            Self::Remove { target, lane, format } => {
                let workspace = target.find(&application).await?;
                let operation = RemoveLane { lane: find(&application, &workspace, &lane).await? };
                let removed = application.executor.run_without_key(workspace.id, &operation).await?;
                format.print_one(&Removed::from(&removed))
            }
        }
    }
}

fn parse_kind(raw: Option<&str>) -> anyhow::Result<Option<LaneKind>> {
    Ok(raw.map(|raw| LaneKind::parse("kind", raw)).transpose()?)
}

async fn print_changed(
    application: &Application,
    target: &WorkspaceArgument,
    lane: &str,
    change: LaneChange,
    format: OutputFormat,
) -> anyhow::Result<()> {
    let workspace = target.find(application).await?;
    let operation = ChangeLane { lane: find(application, &workspace, lane).await?, change };
    let changed = application.executor.run_without_key(workspace.id, &operation).await?;
    format.print_one(&OutputRow::from(&changed.record))
}

/// Finds the lane that an operator has named.
pub(super) async fn find(application: &Application, workspace: &Workspace, raw: &str) -> anyhow::Result<LaneId> {
    let lanes = application.reader.lanes(workspace.id).await?;
    find_named(lanes.iter().map(|lane| (lane.lane.id, &lane.lane.name)), raw, LaneId::new)
        .ok_or(RoadmapError::NotFound(Resource::Lane))
        .with_context(|| {
            let subdomain = &workspace.subdomain;
            format!("there is no lane `{raw}`; `roadmap lane list --workspace {subdomain}` lists all lanes")
        })
}

/// Returns the record with this ID, or else with this name, regardless of case.
pub(super) fn find_named<'a, I: PartialEq + Copy>(
    records: impl Iterator<Item = (I, &'a Name)> + Clone,
    raw: &str,
    id: fn(uuid::Uuid) -> I,
) -> Option<I> {
    let id = parse_uuid("id", raw).ok().map(id);
    let name = raw.trim().to_lowercase();
    let by_id = records.clone().find(|(record, _)| Some(*record) == id);
    let record = by_id.or_else(|| records.clone().find(|(_, record)| record.as_str().to_lowercase() == name));
    record.map(|(record, _)| record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_lane_is_named_by_its_id_or_name() {
        let id = |number| LaneId::new(Uuid::from_u128(number));
        let names = ["Planned", "Über uns"].map(|name| Name::from_stored(name.to_owned()));
        // A lane whose name is the ID of another one is found by its own ID only.
        let odd = Name::from_stored(id(1).to_string());
        let lanes = [(id(3), &odd), (id(1), &names[0]), (id(2), &names[1])];
        let find = |raw: &str| find_named(lanes.iter().copied(), raw, LaneId::new);
        for (raw, expected) in [
            ("Planned", Some(id(1))),
            (" planned ", Some(id(1))),
            ("ÜBER UNS", Some(id(2))),
            (&*id(1).to_string(), Some(id(1))),
            (&id(3).to_string(), Some(id(3))),
            (&id(4).to_string(), None),
            ("Plan", None),
            ("", None),
        ] {
            assert_eq!(find(raw), expected, "{raw}");
        }
    }
}
