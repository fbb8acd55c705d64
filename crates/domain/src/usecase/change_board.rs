//! Adds, changes and removes lanes and tracks.

use async_trait::async_trait;
use serde_json::Value;

use crate::error::{FieldError, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::board::{Board, LaneChange, ListedLane, TrackChange};
use crate::model::id::{LaneId, TrackId};
use crate::model::localized::Localized;
use crate::model::text::Name;
use crate::model::track::{Lane, LaneKind, Track};
use crate::ports::UnitOfWork;
use crate::usecase::change_link_sources::replace_track;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Adds a lane.
#[derive(Debug, Clone)]
pub struct AddLane {
    pub draft: LaneDraft,
}

/// The validated fields of a new lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneDraft {
    pub name: Name,
    /// Without one, what the name says.
    pub kind: Option<LaneKind>,
    /// The names by language.
    pub names: Localized,
    /// The position, from 1. `None` means the last.
    pub position: Option<u64>,
}

/// Adds a track.
#[derive(Debug, Clone)]
pub struct AddTrack {
    pub draft: TrackDraft,
}

/// The validated fields of a new track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackDraft {
    pub name: Name,
    /// The lane that it maps to.
    pub lane: Option<LaneRef>,
    /// The position, from 1. `None` means the last.
    pub position: Option<u64>,
}

/// A reference to a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneRef {
    Id(LaneId),
    /// The name, regardless of case.
    Name(Name),
}

impl LaneRef {
    fn resolve(&self, board: &Board) -> Result<LaneId, RoadmapError> {
        match self {
            Self::Id(id) => Ok(board.lane(*id)?.0.id),
            Self::Name(name) => Ok(board.lane_by_name(name)?.id),
        }
    }
}

/// Changes name, kind and position of a lane.
#[derive(Debug, Clone)]
pub struct ChangeLane {
    pub lane: LaneId,
    pub change: LaneChange,
}

/// Changes name, lane and position of a track.
#[derive(Debug, Clone)]
pub struct ChangeTrack {
    pub track: TrackId,
    pub change: TrackChange,
}

/// Removes a lane. Its tracks are on the roadmap no more.
#[derive(Debug, Clone, Copy)]
pub struct RemoveLane {
    pub lane: LaneId,
}

/// Removes a track. Its feature requests are moved to another one.
#[derive(Debug, Clone)]
pub struct RemoveTrack {
    pub track: TrackId,
    /// Where its feature requests go. Not needed if it has none.
    pub move_to: Option<TrackId>,
}

/// A changed lane or track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed<T> {
    pub record: T,
    /// The changed fields.
    pub changes: Vec<Change>,
}

fn added(name: &Name) -> Vec<Change> {
    vec![Change::new("name", Value::Null, name.as_str())]
}

fn removed(name: &Name) -> Vec<Change> {
    vec![Change::new("name", name.as_str(), Value::Null)]
}

async fn listed(board: &Board, work: &mut dyn UnitOfWork, id: LaneId) -> Result<ListedLane, RoadmapError> {
    let (lane, position) = board.lane(id)?;
    Ok(ListedLane { lane: lane.clone(), position, feature_requests_count: work.count_lane_requests(id).await? })
}

#[async_trait]
impl Operation for AddLane {
    type Output = ListedLane;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<ListedLane>, RoadmapError> {
        let LaneDraft { name, kind, names, position } = &self.draft;
        let mut board = work.load_board().await?;
        let id = context.new_id(LaneId::new);
        let kind = kind.unwrap_or_else(|| LaneKind::of_name(name));
        board.add_lane(Lane { id, name: name.clone(), kind, names: names.clone() }, *position)?;
        work.save_board(&board).await?;
        let audit = Audit::with_changes("lane.create", "lane", Some(id.uuid()), added(name));
        Ok(Performed::new(listed(&board, work, id).await?, audit).changing_configuration())
    }
}

#[async_trait]
impl Operation for AddTrack {
    type Output = Track;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Track>, RoadmapError> {
        let TrackDraft { name, lane, position } = &self.draft;
        let mut board = work.load_board().await?;
        let lane = lane.as_ref().map(|lane| lane.resolve(&board)).transpose()?;
        let id = context.new_id(TrackId::new);
        board.add_track(id, name.clone(), lane, *position)?;
        work.save_board(&board).await?;
        let audit = Audit::with_changes("track.create", "track", Some(id.uuid()), added(name));
        Ok(Performed::new(board.track(id)?.0.clone(), audit).changing_configuration())
    }
}

#[async_trait]
impl Operation for ChangeLane {
    type Output = Changed<ListedLane>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Changed<ListedLane>>, RoadmapError> {
        let mut board = work.load_board().await?;
        board.lane(self.lane)?;
        let changes = board.change_lane(self.lane, &self.change)?;
        if !changes.is_empty() {
            work.save_board(&board).await?;
        }
        let audit = Audit::of_changes("lane.update", "lane", Some(self.lane.uuid()), &changes);
        let record = listed(&board, work, self.lane).await?;
        Ok(Performed::new(Changed { record, changes }, audit).changing_configuration())
    }
}

#[async_trait]
impl Operation for ChangeTrack {
    type Output = Changed<Track>;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Changed<Track>>, RoadmapError> {
        let mut board = work.load_board().await?;
        board.track(self.track)?;
        let changes = board.change_track(self.track, &self.change)?;
        if !changes.is_empty() {
            work.save_board(&board).await?;
        }
        if changes.iter().any(|change| change.field == "lane") {
            work.set_status_since(self.track, context.now).await?;
        }
        let audit = Audit::of_changes("track.update", "track", Some(self.track.uuid()), &changes);
        let record = board.track(self.track)?.0.clone();
        Ok(Performed::new(Changed { record, changes }, audit).changing_configuration())
    }
}

#[async_trait]
impl Operation for RemoveLane {
    type Output = Lane;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Lane>, RoadmapError> {
        let mut board = work.load_board().await?;
        let lane = board.remove_lane(self.lane)?;
        work.save_board(&board).await?;
        let audit = Audit::with_changes("lane.delete", "lane", Some(lane.id.uuid()), removed(&lane.name));
        Ok(Performed::new(lane, audit).changing_configuration())
    }
}

#[async_trait]
impl Operation for RemoveTrack {
    type Output = Track;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Track>, RoadmapError> {
        let mut board = work.load_board().await?;
        let track = board.remove_track(self.track)?;
        if let Some(target) = self.move_to {
            // The board has the removed track no more, so it cannot be its own target.
            board.track(target)?;
        }
        if work.has_feature_requests(track.id).await? {
            let target = self.move_to.ok_or_else(|| FieldError::missing("move_to"))?;
            work.move_feature_requests(track.id, target, context.actor, context.now).await?;
        }
        replace_track(work, track.id, self.move_to).await?;
        work.save_board(&board).await?;
        let moved = self.move_to.map(|target| Change::new("moved_to", Value::Null, target.to_string()));
        let changes = removed(&track.name).into_iter().chain(moved).collect();
        let audit = Audit::with_changes("track.delete", "track", Some(track.id.uuid()), changes);
        Ok(Performed::new(track, audit).changing_configuration())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::link_source::LinkSource;
    use crate::ports::mocks::MockUnit;
    use crate::usecase::fixtures::{NumberedIds, actor, context, link_source, name, now};
    use pollster::block_on;
    use uuid::Uuid;

    fn lane_id(number: u128) -> LaneId {
        LaneId::new(Uuid::from_u128(number))
    }

    fn track_id(number: u128) -> TrackId {
        TrackId::new(Uuid::from_u128(number))
    }

    /// The lane `Planned` (1); the tracks `Inbox` (1) and `Next` (2, planned).
    fn board() -> Board {
        let mut board = Board::default();
        board
            .add_lane(
                Lane { id: lane_id(1), name: name("Planned"), kind: LaneKind::Planned, names: Localized::default() },
                None,
            )
            .unwrap();
        board.add_track(track_id(1), name("Inbox"), None, None).unwrap();
        board.add_track(track_id(2), name("Next"), Some(lane_id(1)), None).unwrap();
        board
    }

    /// A unit with the board that expects `saves` saved boards.
    fn unit(saves: usize) -> MockUnit {
        let mut unit = MockUnit::new();
        unit.expect_load_board().returning(|| Ok(board()));
        unit.expect_save_board().times(saves).returning(|_| Ok(()));
        unit.expect_count_lane_requests().returning(|_| Ok(7));
        unit
    }

    fn perform<O: Operation>(operation: &O, unit: &mut MockUnit) -> Result<Performed<O::Output>, String> {
        // IDs that the board does not have.
        let ids = NumberedIds::default();
        let context = context(&ids);
        (0..8).for_each(|_| {
            context.new_id(LaneId::new);
        });
        block_on(operation.perform(&context, unit)).map_err(|error| error.to_string())
    }

    fn run<O: Operation>(operation: &O, unit: &mut MockUnit) -> Result<O::Output, String> {
        perform(operation, unit).map(|performed| performed.output)
    }

    #[test]
    fn a_lane_is_added_with_its_kind_position_and_count() {
        for (kind, expected) in [(None, LaneKind::Done), (Some(LaneKind::Other), LaneKind::Other)] {
            let draft = LaneDraft { name: name("Done"), kind, names: Localized::default(), position: Some(1) };
            let lane = run(&AddLane { draft }, &mut unit(1)).unwrap();
            assert_eq!((lane.lane.name.as_str(), lane.lane.kind), ("Done", expected));
            assert_eq!((lane.position, lane.feature_requests_count), (1, 7));
        }
    }

    #[test]
    fn a_track_is_added_to_a_lane_by_id_or_name() {
        let add = |lane| AddTrack { draft: TrackDraft { name: name("Ideas"), lane, position: None } };
        for lane in [LaneRef::Id(lane_id(1)), LaneRef::Name(name("planned"))] {
            let track = run(&add(Some(lane)), &mut unit(1)).unwrap();
            assert_eq!(track.status(), Some(&name("Planned")));
        }
        assert_eq!(run(&add(None), &mut unit(1)).unwrap().status(), None);
        for lane in [LaneRef::Id(lane_id(2)), LaneRef::Name(name("Someday"))] {
            assert_eq!(run(&add(Some(lane)), &mut unit(0)).unwrap_err(), "Lane does not exist.");
        }
    }

    #[test]
    fn a_missing_record_is_reported() {
        let lane = ChangeLane { lane: lane_id(9), change: LaneChange::default() };
        assert_eq!(run(&lane, &mut unit(0)).unwrap_err(), "Lane does not exist.");
        let track = ChangeTrack { track: track_id(9), change: TrackChange::default() };
        assert_eq!(run(&track, &mut unit(0)).unwrap_err(), "Track does not exist.");
    }

    #[test]
    fn an_equal_board_is_not_saved_and_not_audited() {
        let operation = ChangeLane { lane: lane_id(1), change: LaneChange::default() };
        assert!(!perform(&operation, &mut unit(0)).unwrap().has_changed());
        let operation = ChangeTrack { track: track_id(1), change: TrackChange::default() };
        assert!(!perform(&operation, &mut unit(0)).unwrap().has_changed());
        let change = TrackChange { name: Some(name("New")), ..TrackChange::default() };
        let operation = ChangeTrack { track: track_id(1), change };
        let changed = perform(&operation, &mut unit(1)).unwrap();
        assert!(changed.configuration_changed);
        assert!(matches!(changed.audit, Audit::Entry(entry) if entry.action == "track.update"));
    }

    #[test]
    fn the_feature_requests_of_a_removed_track_go_to_its_target() {
        let remove =
            |number, move_to: Option<u128>| RemoveTrack { track: track_id(number), move_to: move_to.map(track_id) };
        let mut used = unit(1);
        // What moves closed ones to it, moves them to the target from now on.
        let source = LinkSource { closed_track: Some(track_id(2)), ..link_source() };
        used.expect_load_link_sources().returning(move || Ok(vec![(source.clone(), "sealed".to_owned())]));
        used.expect_save_link_source()
            .withf(|source, sealed| source.closed_track == Some(track_id(1)) && sealed == "sealed")
            .times(1)
            .returning(|_, _| Ok(()));
        used.expect_has_feature_requests().returning(|_| Ok(true));
        used.expect_move_feature_requests()
            .withf(|from, to, by, at| (*from, *to, *at) == (track_id(2), track_id(1), now()) && *by == actor())
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        run(&remove(2, Some(1)), &mut used).unwrap();

        let mut used = unit(0);
        used.expect_has_feature_requests().returning(|_| Ok(true));
        let message = "param is missing or the value is empty or invalid: move_to";
        assert_eq!(run(&remove(2, None), &mut used).unwrap_err(), message);
        for target in [2, 9] {
            assert_eq!(run(&remove(2, Some(target)), &mut unit(0)).unwrap_err(), "Track does not exist.");
        }
        assert_eq!(run(&remove(9, None), &mut unit(0)).unwrap_err(), "Track does not exist.");

        let mut empty = unit(1);
        empty.expect_load_link_sources().returning(|| Ok(Vec::new()));
        empty.expect_has_feature_requests().returning(|_| Ok(false));
        run(&remove(2, None), &mut empty).unwrap();
    }
}
