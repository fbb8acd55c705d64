//! Tracks of the team and lanes of the public roadmap, contract sections 2.3 and 3.

use crate::model::id::{LaneId, TrackId};
use crate::model::text::Name;

/// A lane of the public roadmap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    pub id: LaneId,
    /// Name, unique in the workspace.
    pub name: Name,
}

/// A track: an internal stage of feature requests, optionally mapped to a lane of the public roadmap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Track {
    pub id: TrackId,
    /// Name, unique in the workspace.
    pub name: Name,
    /// The lane. Without one, the feature requests on this track are not on the public roadmap.
    pub lane: Option<Lane>,
}

impl Track {
    /// Returns the public status of the feature requests on this track: the name of the lane, if any.
    #[must_use]
    pub fn status(&self) -> Option<&Name> {
        self.lane.as_ref().map(|lane| &lane.name)
    }
}

/// The track and the public status of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The track's name.
    pub track: Name,
    /// The public status: the name of the track's lane, if any.
    pub status: Option<Name>,
}

/// A track of a new workspace and its lane.
#[derive(Debug, Clone, Copy)]
pub struct DefaultTrack {
    /// The track's name.
    pub track: &'static str,
    /// The name of its lane, if any.
    pub lane: Option<&'static str>,
}

/// Lanes of a new workspace, in order.
pub const DEFAULT_LANES: [&str; 4] = ["Under consideration", "Planned", "In progress", "Done"];

/// Tracks of a new workspace, in order. The first one is the default for new feature requests.
pub const DEFAULT_TRACKS: [DefaultTrack; 6] = [
    DefaultTrack { track: "Inbox", lane: None },
    DefaultTrack { track: "Under consideration", lane: Some("Under consideration") },
    DefaultTrack { track: "Planned", lane: Some("Planned") },
    DefaultTrack { track: "In progress", lane: Some("In progress") },
    DefaultTrack { track: "Done", lane: Some("Done") },
    DefaultTrack { track: "Declined", lane: None },
];

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    /// Contract 2.3; Decision 3.
    #[test]
    fn the_status_of_a_track_is_its_lane_s_name_or_none() {
        let name = |text: &str| Name::from_stored(text.to_owned());
        let lane = Lane { id: LaneId::new(Uuid::from_u128(1)), name: name("Planned") };
        let mut track = Track { id: TrackId::new(Uuid::from_u128(2)), name: name("Next quarter"), lane: Some(lane) };
        assert_eq!(track.status(), Some(&name("Planned")));
        track.lane = None;
        assert_eq!(track.status(), None);
    }

    /// Decision 3.
    #[test]
    fn every_default_track_maps_to_a_default_lane_or_none() {
        assert_eq!(DEFAULT_TRACKS[0].track, "Inbox");
        for DefaultTrack { track, lane } in DEFAULT_TRACKS {
            assert!(lane.is_none_or(|lane| DEFAULT_LANES.contains(&lane)), "{track}");
        }
    }
}
