//! Creates a workspace with its settings, lanes and tracks.

use async_trait::async_trait;

use crate::error::RoadmapError;
use crate::model::audit::Audit;
use crate::model::board::Board;
use crate::model::id::{LaneId, TrackId};
use crate::model::localized::Localized;
use crate::model::setting::Setting;
use crate::model::text::Name;
use crate::model::track::{DEFAULT_LANES, DEFAULT_TRACKS, Lane, LaneKind, Track};
use crate::model::workspace::{Subdomain, Workspace};
use crate::ports::{Insertion, UnitOfWork};
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Creates the workspace of the unit of work.
#[derive(Debug, Clone)]
pub struct CreateWorkspace {
    pub subdomain: Subdomain,
    pub setting: Setting,
}

/// The created workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceCreated {
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
    ) -> Result<Performed<WorkspaceCreated>, RoadmapError> {
        let workspace = Workspace { id: context.workspace, subdomain: self.subdomain.clone() };
        ensure_inserted(work.insert_workspace(&workspace, &self.setting, context.now).await?, || {
            format!("subdomain `{}`", self.subdomain)
        })?;
        let mut board = Board::default();
        for name in DEFAULT_LANES {
            let name = Name::from_stored(name.to_owned());
            let kind = LaneKind::of_name(&name);
            board.add_lane(Lane { id: context.new_id(LaneId::new), name, kind, names: Localized::default() }, None)?;
        }
        for default in DEFAULT_TRACKS {
            let lane = board.lanes().iter().find(|lane| Some(lane.name.as_str()) == default.lane).map(|lane| lane.id);
            let name = Name::from_stored(default.track.to_owned());
            board.add_track(context.new_id(TrackId::new), name, lane, None)?;
        }
        work.save_board(&board).await?;
        let audit = Audit::entry("workspace.create", "workspace", Some(workspace.id.uuid()));
        Ok(Performed::new(WorkspaceCreated { workspace, tracks: board.tracks().to_vec() }, audit))
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

    fn operation() -> CreateWorkspace {
        CreateWorkspace {
            subdomain: Subdomain::from_label("acme").unwrap(),
            setting: Setting::parse("Acme", "https://acme.example").unwrap(),
        }
    }

    /// Decision 3.
    #[test]
    fn a_new_workspace_has_lanes_and_tracks_in_order() {
        let mut unit = MockUnit::new();
        unit.expect_insert_workspace().times(1).returning(|_, _, _| Ok(Insertion::Inserted));
        unit.expect_save_board()
            .withf(|board| {
                let lanes: Vec<&str> = board.lanes().iter().map(|lane| lane.name.as_str()).collect();
                let status = |track: &Track| track.status().map_or("none".to_owned(), Name::to_string);
                let tracks: Vec<String> =
                    board.tracks().iter().map(|track| format!("{} -> {}", track.name, status(track))).collect();
                lanes == ["Under consideration", "Planned", "In progress", "Done"]
                    && tracks
                        == [
                            "Inbox -> none",
                            "Under consideration -> Under consideration",
                            "Planned -> Planned",
                            "In progress -> In progress",
                            "Done -> Done",
                            "Declined -> none",
                        ]
            })
            .times(1)
            .returning(|_| Ok(()));
        let ids = NumberedIds::default();
        let created = block_on(operation().perform(&context(&ids), &mut unit)).unwrap().output;
        assert_eq!(created.workspace.id, workspace());
        assert_eq!(created.tracks.len(), 6);
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
