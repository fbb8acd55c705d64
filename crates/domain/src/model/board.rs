//! The board of a workspace: its lanes and tracks, in the team's order.

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::Change;
use crate::model::feature_request::{FeatureRequestSummary, Tag};
use crate::model::id::{LaneId, TrackId};
use crate::model::localized::Localized;
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Lane, LaneKind, Track};
use serde_json::{Value, json};

/// The lanes and tracks of a workspace. Names are unique in each list, regardless of case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Board {
    lanes: Vec<Lane>,
    tracks: Vec<Track>,
}

/// A change of a lane. `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaneChange {
    /// The new name.
    pub name: Option<Name>,
    /// The new kind. A new name alone leaves it.
    pub kind: Option<LaneKind>,
    /// The new names by language, all of them.
    pub names: Option<Localized>,
    /// The new position, from 1. A position after the last one means the last.
    pub position: Option<u64>,
}

/// A change of a track. `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackChange {
    /// The new name.
    pub name: Option<Name>,
    /// The new lane. `Some(None)` takes the track off the roadmap.
    pub lane: Option<Option<LaneId>>,
    /// The new position, from 1. A position after the last one means the last.
    pub position: Option<u64>,
}

/// A lane with its place on the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedLane {
    pub lane: Lane,
    /// Its position, from 1.
    pub position: u64,
    /// Number of public feature requests that it shows.
    pub feature_requests_count: i64,
}

/// A lane of the public roadmap with its most voted feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoadmapLane {
    pub lane: ListedLane,
    /// Public feature requests, most voted first.
    pub feature_requests: Vec<FeatureRequestSummary>,
}

/// A lane of the portal's roadmap with its first feature requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalLane {
    pub lane: ListedLane,
    /// Public feature requests, in the order of the lane: see [`LaneKind::is_latest_first`].
    pub cards: Vec<RoadmapCard>,
}

/// A public feature request on the portal's roadmap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoadmapCard {
    pub summary: FeatureRequestSummary,
    /// Since when it has its public status.
    pub status_since: Timestamp,
    /// The number of comments on its page, with those of what is merged into it.
    pub comments_count: i64,
    /// Its first tags, at most [`Self::MAX_TAGS`].
    pub tags: Vec<Tag>,
}

impl RoadmapCard {
    /// Maximum number of tags.
    pub const MAX_TAGS: u32 = 2;
}

impl Board {
    /// Creates a board from stored rows, in order.
    #[must_use]
    pub fn new(lanes: Vec<Lane>, tracks: Vec<Track>) -> Self {
        Self { lanes, tracks }
    }

    /// Returns the lanes, in order.
    #[must_use]
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// Returns the tracks, in order.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Returns a lane with its position.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`].
    pub fn lane(&self, id: LaneId) -> Result<(&Lane, u64), RoadmapError> {
        let lane = (1..).zip(&self.lanes).find(|(_, lane)| lane.id == id);
        lane.map(|(position, lane)| (lane, position)).ok_or(RoadmapError::NotFound(Resource::Lane))
    }

    /// Returns the lane with this name, regardless of case.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`].
    pub fn lane_by_name(&self, name: &Name) -> Result<&Lane, RoadmapError> {
        let lane = self.lanes.iter().find(|lane| same_name(&lane.name, name));
        lane.ok_or(RoadmapError::NotFound(Resource::Lane))
    }

    /// Returns a track with its position.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`].
    pub fn track(&self, id: TrackId) -> Result<(&Track, u64), RoadmapError> {
        let track = (1..).zip(&self.tracks).find(|(_, track)| track.id == id);
        track.map(|(position, track)| (track, position)).ok_or(RoadmapError::NotFound(Resource::Track))
    }

    /// Returns the track with this name, regardless of case.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`].
    pub fn track_by_name(&self, name: &Name) -> Result<&Track, RoadmapError> {
        let track = self.tracks.iter().find(|track| same_name(&track.name, name));
        track.ok_or(RoadmapError::NotFound(Resource::Track))
    }

    /// Adds a lane at a position, by default after the others.
    ///
    /// # Errors
    /// [`RoadmapError::Taken`].
    pub fn add_lane(&mut self, lane: Lane, position: Option<u64>) -> Result<(), RoadmapError> {
        ensure_free(self.lanes.iter().map(|other| &other.name), &lane.name, "lane")?;
        insert_at(&mut self.lanes, lane, position);
        Ok(())
    }

    /// Adds a track at a position, by default after the others.
    ///
    /// # Errors
    /// [`RoadmapError::Taken`], or [`RoadmapError::NotFound`] for its lane.
    pub fn add_track(
        &mut self,
        id: TrackId,
        name: Name,
        lane: Option<LaneId>,
        position: Option<u64>,
    ) -> Result<(), RoadmapError> {
        ensure_free(self.tracks.iter().map(|other| &other.name), &name, "track")?;
        let lane = lane.map(|lane| self.lane(lane).map(|(lane, _)| lane.clone())).transpose()?;
        insert_at(&mut self.tracks, Track { id, name, lane }, position);
        Ok(())
    }

    /// Changes a lane. Returns the changed fields.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`], [`RoadmapError::Taken`].
    pub fn change_lane(&mut self, id: LaneId, change: &LaneChange) -> Result<Vec<Change>, RoadmapError> {
        let (old, position) = self.lane(id).map(|(lane, position)| (lane.clone(), position))?;
        let others = self.lanes.iter().filter(|lane| lane.id != id).map(|lane| &lane.name);
        let name = change.name.as_ref().unwrap_or(&old.name);
        ensure_free(others, name, "lane")?;
        let names = change.names.as_ref().unwrap_or(&old.names);
        let lane = Lane { id, name: name.clone(), kind: change.kind.unwrap_or(old.kind), names: names.clone() };
        self.lanes.retain(|lane| lane.id != id);
        insert_at(&mut self.lanes, lane.clone(), Some(change.position.unwrap_or(position)));
        for track in &mut self.tracks {
            if track.lane.as_ref().is_some_and(|lane| lane.id == id) {
                track.lane = Some(lane.clone());
            }
        }
        let (_, new_position) = self.lane(id)?;
        let changes = [
            Change::between("name", old.name.as_str(), name.as_str()),
            Change::between("kind", old.kind.as_str(), lane.kind.as_str()),
            Change::between("names", json!(old.names.texts()), json!(lane.names.texts())),
            Change::between("position", position, new_position),
        ];
        Ok(changes.into_iter().flatten().collect())
    }

    /// Changes a track. Returns the changed fields.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`] for the track or its new lane, [`RoadmapError::Taken`].
    pub fn change_track(&mut self, id: TrackId, change: &TrackChange) -> Result<Vec<Change>, RoadmapError> {
        let (old, position) = self.track(id).map(|(track, position)| (track.clone(), position))?;
        let others = self.tracks.iter().filter(|track| track.id != id).map(|track| &track.name);
        let name = change.name.as_ref().unwrap_or(&old.name);
        ensure_free(others, name, "track")?;
        let lane = match change.lane {
            None => old.lane.clone(),
            Some(None) => None,
            Some(Some(lane)) => Some(self.lane(lane)?.0.clone()),
        };
        self.tracks.retain(|track| track.id != id);
        let track = Track { id, name: name.clone(), lane };
        insert_at(&mut self.tracks, track.clone(), Some(change.position.unwrap_or(position)));
        let (_, new_position) = self.track(id)?;
        let status = |track: &Track| track.status().map_or(Value::Null, |name| name.as_str().into());
        let changes = [
            Change::between("name", old.name.as_str(), name.as_str()),
            Change::between("lane", status(&old), status(&track)),
            Change::between("position", position, new_position),
        ];
        Ok(changes.into_iter().flatten().collect())
    }

    /// Removes a lane. Its tracks are on the roadmap no more. Returns it.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`].
    pub fn remove_lane(&mut self, id: LaneId) -> Result<Lane, RoadmapError> {
        let removed = self.lane(id)?.0.clone();
        self.lanes.retain(|lane| lane.id != id);
        for track in &mut self.tracks {
            track.lane = track.lane.take().filter(|lane| lane.id != id);
        }
        Ok(removed)
    }

    /// Removes a track, which must have no feature requests. Returns it.
    ///
    /// # Errors
    /// [`RoadmapError::NotFound`], or [`Conflict::LastTrack`].
    pub fn remove_track(&mut self, id: TrackId) -> Result<Track, RoadmapError> {
        let removed = self.track(id)?.0.clone();
        if self.tracks.len() == 1 {
            return Err(RoadmapError::Conflict(Conflict::LastTrack));
        }
        self.tracks.retain(|track| track.id != id);
        Ok(removed)
    }
}

fn same_name(one: &Name, other: &Name) -> bool {
    one.as_str().to_lowercase() == other.as_str().to_lowercase()
}

fn ensure_free<'a>(
    mut others: impl Iterator<Item = &'a Name>,
    name: &Name,
    kind: &'static str,
) -> Result<(), RoadmapError> {
    if others.any(|other| same_name(other, name)) {
        return Err(RoadmapError::Taken { what: format!("{kind} `{name}`") });
    }
    Ok(())
}

/// Inserts an item at a position, from 1. `None` and positions after the last one mean the last.
fn insert_at<T>(items: &mut Vec<T>, item: T, position: Option<u64>) {
    let index =
        position.map_or(usize::MAX, |position| usize::try_from(position).unwrap_or(usize::MAX).saturating_sub(1));
    items.insert(index.min(items.len()), item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::portal::Language;
    use crate::usecase::fixtures::name;
    use uuid::Uuid;

    fn lane_id(number: u128) -> LaneId {
        LaneId::new(Uuid::from_u128(number))
    }

    fn track_id(number: u128) -> TrackId {
        TrackId::new(Uuid::from_u128(number))
    }

    fn lane(number: u128, text: &str) -> Lane {
        Lane {
            id: lane_id(number),
            name: name(text),
            kind: LaneKind::of_name(&name(text)),
            names: Localized::default(),
        }
    }

    /// Lanes `Planned` (1) and `Done` (2); tracks `Inbox` (1), `Next` (2, planned) and `Shipped` (3, done).
    fn board() -> Board {
        let mut board = Board::default();
        for (number, text) in [(1, "Planned"), (2, "Done")] {
            board.add_lane(lane(number, text), None).unwrap();
        }
        for (number, text, lane) in [(1, "Inbox", None), (2, "Next", Some(1)), (3, "Shipped", Some(2))] {
            board.add_track(track_id(number), name(text), lane.map(lane_id), None).unwrap();
        }
        board
    }

    fn names(board: &Board) -> String {
        let lanes: Vec<&str> = board.lanes().iter().map(|lane| lane.name.as_str()).collect();
        let track = |track: &Track| format!("{}={}", track.name, track.status().map_or("-", Name::as_str));
        let tracks: Vec<String> = board.tracks().iter().map(track).collect();
        format!("{} | {}", lanes.join(" "), tracks.join(" "))
    }

    /// Addition 4.
    #[test]
    fn a_position_in_use_shifts_the_others() {
        for (position, expected) in [
            (None, "Planned Done New | Inbox=- Next=Planned Shipped=Done"),
            (Some(1), "New Planned Done | Inbox=- Next=Planned Shipped=Done"),
            (Some(2), "Planned New Done | Inbox=- Next=Planned Shipped=Done"),
            (Some(99), "Planned Done New | Inbox=- Next=Planned Shipped=Done"),
        ] {
            let mut board = board();
            board.add_lane(lane(9, "New"), position).unwrap();
            assert_eq!(names(&board), expected, "{position:?}");
        }
        let mut board = board();
        board.add_track(track_id(9), name("Ideas"), Some(lane_id(1)), Some(2)).unwrap();
        assert_eq!(names(&board), "Planned Done | Inbox=- Ideas=Planned Next=Planned Shipped=Done");
    }

    /// Addition 4.
    #[test]
    fn names_are_unique_regardless_of_case() {
        let mut changed = board();
        let taken = |outcome: Result<(), RoadmapError>| outcome.unwrap_err().to_string();
        let lane = lane(9, "PLANNED");
        assert_eq!(taken(changed.add_lane(lane, None)), "lane `PLANNED` is already taken");
        assert_eq!(taken(changed.add_track(track_id(9), name("inbox"), None, None)), "track `inbox` is already taken");
        let rename = LaneChange { name: Some(name("done")), ..LaneChange::default() };
        assert_eq!(changed.change_lane(lane_id(1), &rename).unwrap_err().to_string(), "lane `done` is already taken");
        let rename = TrackChange { name: Some(name("NEXT")), ..TrackChange::default() };
        assert!(changed.change_track(track_id(1), &rename).is_err());
        assert_eq!(changed, board());
        // A record may change the case of its own name.
        assert_eq!(changed.change_track(track_id(2), &rename).unwrap(), [Change::new("name", "Next", "NEXT")]);
        assert_eq!(changed.track_by_name(&name("next")).unwrap().id, track_id(2));
        assert_eq!(changed.lane_by_name(&name("dOnE")).unwrap().id, lane_id(2));
    }

    #[test]
    fn a_renamed_lane_is_the_status_of_its_tracks() {
        let mut board = board();
        let names_by_language = Localized::default().with(Language::German, "Bald");
        let change = LaneChange {
            name: Some(name("Soon")),
            kind: Some(LaneKind::Other),
            names: Some(names_by_language),
            position: Some(2),
        };
        let changes = board.change_lane(lane_id(1), &change).unwrap();
        let expected = [
            Change::new("name", "Planned", "Soon"),
            Change::new("kind", "planned", "other"),
            Change::new("names", json!({}), json!({ "de": "Bald" })),
            Change::new("position", 1, 2),
        ];
        assert_eq!(changes, expected);
        assert_eq!(names(&board), "Done Soon | Inbox=- Next=Soon Shipped=Done");
        assert_eq!(board.change_lane(lane_id(1), &change).unwrap(), []);
        let (lane, _) = board.lane(lane_id(1)).unwrap();
        assert_eq!((lane.name_in(Language::German), lane.name_in(Language::English)), ("Bald", "Soon"));
    }

    #[test]
    fn a_track_changes_its_lane_and_position() {
        let mut board = board();
        let change = TrackChange { name: None, lane: Some(None), position: Some(1) };
        let changes = board.change_track(track_id(2), &change).unwrap();
        assert_eq!(changes, [Change::new("lane", "Planned", Value::Null), Change::new("position", 2, 1)]);
        assert_eq!(names(&board), "Planned Done | Next=- Inbox=- Shipped=Done");
        let change = TrackChange { lane: Some(Some(lane_id(9))), ..TrackChange::default() };
        assert_eq!(board.change_track(track_id(2), &change).unwrap_err().to_string(), "Lane does not exist.");
        assert_eq!(
            board.change_track(track_id(9), &TrackChange::default()).unwrap_err().to_string(),
            "Track does not exist."
        );
    }

    /// Addition 4.
    #[test]
    fn a_removed_lane_takes_its_tracks_off_the_roadmap() {
        let mut board = board();
        assert_eq!(board.remove_lane(lane_id(1)).unwrap().name, name("Planned"));
        assert_eq!(names(&board), "Done | Inbox=- Next=- Shipped=Done");
        assert_eq!(board.remove_lane(lane_id(1)).unwrap_err().to_string(), "Lane does not exist.");
    }

    /// Addition 4.
    #[test]
    fn the_last_track_stays() {
        let mut board = board();
        for number in [1, 3] {
            board.remove_track(track_id(number)).unwrap();
        }
        assert_eq!(board.remove_track(track_id(1)).unwrap_err().to_string(), "Track does not exist.");
        assert_eq!(board.remove_track(track_id(2)).unwrap_err().to_string(), "The last track cannot be deleted.");
    }
}
