//! Tracks of the team and lanes of the public roadmap, contract sections 2.3 and 3.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::id::{LaneId, TrackId};
use crate::model::localized::Localized;
use crate::model::portal::Language;
use crate::model::text::Name;

/// A lane of the public roadmap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    pub id: LaneId,
    /// Name, unique in the workspace.
    pub name: Name,
    pub kind: LaneKind,
    /// The names on the pages of some languages, at most [`Name::MAX`] characters each.
    pub names: Localized,
}

impl Lane {
    /// Returns the name on the pages of a language.
    #[must_use]
    pub fn name_in(&self, language: Language) -> &str {
        self.names.get(language).unwrap_or(self.name.as_str())
    }
}

/// What a lane means, whatever its name. It gives the lane its sign and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// The team weighs it.
    Considering,
    /// The team will do it.
    Planned,
    /// The team is doing it.
    Started,
    /// It is done.
    Done,
    /// The team will not do it.
    Declined,
    /// None of these.
    Other,
}

impl LaneKind {
    /// All kinds, in the usual order of lanes.
    pub const ALL: [Self; 6] =
        [Self::Considering, Self::Planned, Self::Started, Self::Done, Self::Declined, Self::Other];

    /// Returns the name in the API and in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Considering => "considering",
            Self::Planned => "planned",
            Self::Started => "started",
            Self::Done => "done",
            Self::Declined => "declined",
            Self::Other => "other",
        }
    }

    /// Returns the kind with this name.
    ///
    /// # Errors
    /// No kind has the name.
    pub fn parse(field: &'static str, name: &str) -> Validated<Self> {
        let invalid = || FieldError::new(field, FieldProblem::Custom { message: UNKNOWN_KIND });
        Self::ALL.into_iter().find(|kind| kind.as_str() == name.trim()).ok_or_else(invalid)
    }

    /// Returns the kind with this stored name. A newer version may know more kinds.
    #[must_use]
    pub fn from_stored(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name).unwrap_or(Self::Other)
    }

    /// Returns what a lane or track with this name usually means. Migrations say the same of lanes without a kind.
    #[must_use]
    pub fn of_name(name: &Name) -> Self {
        match name.as_str().to_lowercase().as_str() {
            "under consideration" | "considering" | "under review" => Self::Considering,
            "planned" | "accepted" | "next" => Self::Planned,
            "in progress" | "started" | "in beta" | "building" => Self::Started,
            "done" | "shipped" | "released" | "completed" => Self::Done,
            "declined" | "not planned" => Self::Declined,
            _ => Self::Other,
        }
    }

    /// Whether nothing more is to be expected.
    #[must_use]
    pub const fn is_closed(self) -> bool {
        matches!(self, Self::Done | Self::Declined)
    }

    /// Whether such a lane of the portal's roadmap begins with what came to it last, instead of with the most voted: what
    /// is done has nothing to vote for.
    #[must_use]
    pub const fn is_latest_first(self) -> bool {
        matches!(self, Self::Done)
    }
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

    /// Returns what the track means: the kind of its lane, or without a lane what its name says.
    #[must_use]
    pub fn kind(&self) -> LaneKind {
        self.lane.as_ref().map_or_else(|| LaneKind::of_name(&self.name), |lane| lane.kind)
    }
}

const UNKNOWN_KIND: &str = "kind is none of considering, planned, started, done, declined, other";

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

/// Whether these are the tracks of a new workspace, in order.
#[must_use]
pub fn is_default_board(tracks: &[Track]) -> bool {
    let is_default = |(track, default): (&Track, &DefaultTrack)| {
        track.name.as_str() == default.track && track.status().map(Name::as_str) == default.lane
    };
    tracks.len() == DEFAULT_TRACKS.len() && tracks.iter().zip(&DEFAULT_TRACKS).all(is_default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    /// Contract 2.3; Decision 3.
    #[test]
    fn the_status_of_a_track_is_its_lane_s_name_or_none() {
        let name = |text: &str| Name::from_stored(text.to_owned());
        let lane = Lane {
            id: LaneId::new(Uuid::from_u128(1)),
            name: name("Planned"),
            kind: LaneKind::Planned,
            names: Localized::default(),
        };
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

    #[test]
    fn a_track_means_what_its_lane_does_or_else_what_its_name_says() {
        let name = |text: &str| Name::from_stored(text.to_owned());
        let track = |track: &str, kind: Option<LaneKind>| {
            let lane = kind.map(|kind| Lane {
                id: LaneId::new(Uuid::from_u128(1)),
                name: name("Planned"),
                kind,
                names: Localized::default(),
            });
            Track { id: TrackId::new(Uuid::from_u128(2)), name: name(track), lane }.kind()
        };
        assert_eq!(track("Done", Some(LaneKind::Other)), LaneKind::Other);
        for (text, kind) in [
            ("Declined", LaneKind::Declined),
            ("not planned", LaneKind::Declined),
            ("SHIPPED", LaneKind::Done),
            ("In beta", LaneKind::Started),
            ("Next", LaneKind::Planned),
            ("Under review", LaneKind::Considering),
            ("Inbox", LaneKind::Other),
            ("Almost done", LaneKind::Other),
        ] {
            assert_eq!(track(text, None), kind, "{text}");
        }
    }

    #[test]
    fn kinds_are_read_by_their_names() {
        for kind in LaneKind::ALL {
            assert_eq!(LaneKind::parse("kind", &format!(" {} ", kind.as_str())), Ok(kind));
            assert_eq!(LaneKind::from_stored(kind.as_str()), kind);
        }
        assert_eq!(LaneKind::from_stored("paused"), LaneKind::Other);
        for bad in ["", "Done", "paused"] {
            assert_eq!(LaneKind::parse("kind", bad).unwrap_err().to_string(), UNKNOWN_KIND, "{bad}");
        }
    }
}
