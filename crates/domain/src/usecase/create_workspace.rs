//! Creates a workspace with its settings, lanes and tracks.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::id::{LaneId, TrackId};
use crate::model::setting::Setting;
use crate::model::text::Name;
use crate::model::track::{DEFAULT_LANES, DEFAULT_TRACKS, Lane, Track};
use crate::model::workspace::{Subdomain, Workspace};
use crate::ports::{Insertion, UnitOfWork};
use crate::usecase::executor::{Operation, OperationContext};

/// Creates the workspace of the unit of work.
#[derive(Debug, Clone)]
pub struct CreateWorkspace {
    /// The subdomain.
    pub subdomain: Subdomain,
    /// The settings.
    pub setting: Setting,
}

/// The created workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceCreated {
    /// The workspace.
    pub workspace: Workspace,
    /// Its tracks, in order.
    pub tracks: Vec<Track>,
}

#[async_trait]
impl Operation for CreateWorkspace {
    type Output = WorkspaceCreated;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<WorkspaceCreated, RoadmapError> {
        let workspace = Workspace { id: context.workspace, subdomain: self.subdomain.clone() };
        ensure_inserted(work.insert_workspace(&workspace, &self.setting, context.now).await?, || {
            format!("subdomain `{}`", self.subdomain)
        })?;
        let mut lanes = Vec::with_capacity(DEFAULT_LANES.len());
        for name in DEFAULT_LANES {
            let lane = Lane { id: context.new_id(LaneId::new), name: Name::from_stored(name.to_owned()) };
            ensure_inserted(work.insert_lane(&lane).await?, || format!("lane `{name}`"))?;
            lanes.push(lane);
        }
        let mut tracks = Vec::with_capacity(DEFAULT_TRACKS.len());
        for default in DEFAULT_TRACKS {
            let lane = lanes.iter().find(|lane| Some(lane.name.as_str()) == default.lane).cloned();
            let name = Name::from_stored(default.track.to_owned());
            let track = Track { id: context.new_id(TrackId::new), name, lane };
            ensure_inserted(work.insert_track(&track).await?, || format!("track `{}`", default.track))?;
            tracks.push(track);
        }
        Ok(WorkspaceCreated { workspace, tracks })
    }
}

/// Returns [`RoadmapError::Taken`] when the name was taken.
pub(crate) fn ensure_inserted(insertion: Insertion, what: impl FnOnce() -> String) -> Result<(), RoadmapError> {
    match insertion {
        Insertion::Inserted => Ok(()),
        Insertion::NameTaken => Err(RoadmapError::Taken { what: what() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, context, workspace};
    use pollster::block_on;
    use std::sync::{Arc, Mutex};

    fn operation() -> CreateWorkspace {
        CreateWorkspace {
            subdomain: Subdomain::from_label("acme").unwrap(),
            setting: Setting::parse("Acme", "https://acme.example").unwrap(),
        }
    }

    #[test]
    fn a_new_workspace_has_lanes_and_tracks_in_order() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut unit = MockUnit::new();
        unit.expect_insert_workspace().times(1).returning(|_, _, _| Ok(Insertion::Inserted));
        let lanes = Arc::clone(&seen);
        unit.expect_insert_lane().times(4).returning(move |lane| {
            lanes.lock().unwrap().push(format!("lane {}", lane.name));
            Ok(Insertion::Inserted)
        });
        let tracks = Arc::clone(&seen);
        unit.expect_insert_track().times(6).returning(move |track| {
            let status = track.status().map_or("none", Name::as_str);
            tracks.lock().unwrap().push(format!("{} -> {status}", track.name));
            Ok(Insertion::Inserted)
        });
        let ids = NumberedIds::default();
        let created = block_on(operation().perform(&context(&ids), &mut unit)).unwrap();
        assert_eq!(created.workspace.id, workspace());
        assert_eq!(created.tracks.len(), 6);
        assert_eq!(
            *seen.lock().unwrap(),
            [
                "lane Under consideration",
                "lane Planned",
                "lane In progress",
                "lane Done",
                "Inbox -> none",
                "Under consideration -> Under consideration",
                "Planned -> Planned",
                "In progress -> In progress",
                "Done -> Done",
                "Declined -> none",
            ]
        );
    }

    #[test]
    fn a_subdomain_belongs_to_one_workspace() {
        let mut unit = MockUnit::new();
        unit.expect_insert_workspace().returning(|_, _, _| Ok(Insertion::NameTaken));
        let ids = NumberedIds::default();
        let outcome = block_on(operation().perform(&context(&ids), &mut unit));
        assert_eq!(outcome.unwrap_err().to_string(), "subdomain `acme` is already taken");
    }
}
