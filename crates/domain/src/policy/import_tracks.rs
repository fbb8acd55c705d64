//! Which track the feature requests of a status of an import come to (contract section 4).

use crate::model::board::Board;
use crate::model::id::TrackId;
use crate::model::text::{Name, truncate};

/// A status of a source, and a track here that it is to become, whatever its name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusTrack {
    pub status: String,
    /// The name of a track that exists.
    pub track: Name,
}

/// The track of a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackChoice {
    /// A track of the board.
    Existing(TrackId),
    /// A track that is to be added, without a lane.
    New(Name),
}

/// The words that mean a track of new workspaces, in lower case. The first of a list is its name.
const MEANINGS: [&[&str]; 5] = [
    &["under consideration", "under review", "in review", "considering", "gathering feedback"],
    &["planned", "accepted"],
    &["in progress", "started", "in development"],
    &["done", "completed", "complete", "shipped", "released", "resolved"],
    &["declined", "closed", "rejected", "not planned", "won't do", "won’t do", "wont do"],
];

/// The words that mean the first track.
const FIRST: [&str; 4] = ["", "open", "new", "backlog"];

/// Chooses the track of a status: the one that was chosen for it, else one of its name, else the one that its word means,
/// if it exists, else a new one of its name. `None` if the board has no track.
#[must_use]
pub fn choose(status: &str, chosen: &[StatusTrack], board: &Board) -> Option<TrackChoice> {
    let folded = fold(status);
    let named = |name: &str| board.tracks().iter().find(|track| fold(track.name.as_str()) == name);
    let by_choice = chosen
        .iter()
        .find(|choice| fold(&choice.status) == folded)
        .and_then(|choice| board.track_by_name(&choice.track).ok());
    if let Some(track) = by_choice.or_else(|| named(&folded)) {
        return Some(TrackChoice::Existing(track.id));
    }
    if FIRST.contains(&&*folded) {
        return board.tracks().first().map(|track| TrackChoice::Existing(track.id));
    }
    let meaning = MEANINGS.iter().find(|words| words.contains(&&*folded)).and_then(|words| words.first());
    if let Some(track) = meaning.and_then(|name| named(name)) {
        return Some(TrackChoice::Existing(track.id));
    }
    let cut = truncate(status.trim(), Name::MAX).trim_end();
    match Name::parse("track", cut) {
        // The name may be that of a track after it was cut.
        Ok(name) => {
            Some(board.track_by_name(&name).map_or(TrackChoice::New(name), |track| TrackChoice::Existing(track.id)))
        }
        Err(_) => board.tracks().first().map(|track| TrackChoice::Existing(track.id)),
    }
}

/// Returns a status or the name of a track as they are compared: in lower case, `_` and `-` as spaces, one space between
/// words.
#[must_use]
pub fn fold(status: &str) -> String {
    let spaced = status.replace(['_', '-'], " ").to_lowercase();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::track::{DEFAULT_TRACKS, Track};
    use crate::usecase::fixtures::name;
    use uuid::Uuid;

    fn board(names: &[&str]) -> Board {
        let track = |(place, text): (u128, &&str)| Track {
            id: TrackId::new(Uuid::from_u128(place)),
            name: name(text),
            lane: None,
        };
        Board::new(Vec::new(), (1..).zip(names).map(track).collect())
    }

    fn chosen(status: &str, choices: &[(&str, &str)], board: &Board) -> String {
        let choices: Vec<_> = choices
            .iter()
            .map(|(status, track)| StatusTrack { status: (*status).to_owned(), track: name(track) })
            .collect();
        match choose(status, &choices, board).unwrap() {
            TrackChoice::Existing(id) => board.track(id).unwrap().0.name.to_string(),
            TrackChoice::New(name) => format!("+{name}"),
        }
    }

    #[test]
    fn a_status_is_the_track_of_its_name_or_of_its_meaning() {
        let default = board(&DEFAULT_TRACKS.map(|track| track.track));
        for (status, track) in [
            ("", "Inbox"),
            (" Open ", "Inbox"),
            ("NEW", "Inbox"),
            ("backlog", "Inbox"),
            ("inbox", "Inbox"),
            ("under_review", "Under consideration"),
            ("In-Review", "Under consideration"),
            ("gathering  feedback", "Under consideration"),
            ("Accepted", "Planned"),
            ("started", "In progress"),
            ("in_progress", "In progress"),
            ("Complete", "Done"),
            ("Shipped", "Done"),
            ("Won't do", "Declined"),
            ("Won’t do", "Declined"),
            ("closed", "Declined"),
            ("Needs research", "+Needs research"),
            ("- -", "Inbox"),
        ] {
            assert_eq!(chosen(status, &[], &default), track, "{status}");
        }
    }

    #[test]
    fn what_was_chosen_and_what_exists_come_first() {
        let own = board(&["Triage", "Open", "Shipped", "Released soon"]);
        assert_eq!(chosen("open", &[], &own), "Open");
        assert_eq!(chosen("", &[], &own), "Triage");
        assert_eq!(chosen("shipped", &[], &own), "Shipped");
        // There is no track `Done`.
        assert_eq!(chosen("completed", &[], &own), "+completed");
        assert_eq!(chosen("Open", &[("open", "released SOON")], &own), "Released soon");
        assert_eq!(chosen("needs_work", &[("Needs work", "Triage"), ("other", "Open")], &own), "Triage");
        // A choice that names no track is found before the run begins; here it is none.
        assert_eq!(chosen("shipped", &[("shipped", "Gone")], &own), "Shipped");
        assert_eq!(choose("x", &[], &board(&[])), Some(TrackChoice::New(name("x"))));
        assert_eq!(choose("", &[], &board(&[])), None);
    }

    #[test]
    fn a_long_status_is_cut() {
        let long = "ä".repeat(Name::MAX + 5);
        let cut = "ä".repeat(Name::MAX);
        assert_eq!(chosen(&long, &[], &board(&["Inbox"])), format!("+{cut}"));
        assert_eq!(chosen(&long, &[], &board(&["Inbox", &cut])), cut);
    }
}
