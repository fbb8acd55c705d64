//! Link sources: the trackers that report closed issues to a workspace.

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::feature_request::Title;
use crate::model::id::{LinkSourceId, TrackId};
use crate::model::link::{Issue, LinkState, Tracker};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;

/// A tracker that reports issues. Its secret is not part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkSource {
    pub id: LinkSourceId,
    /// The name that moves and the audit log show.
    pub name: Name,
    /// Whose reports it understands.
    pub tracker: Tracker,
    /// The track to which a feature request is moved when its issues are done. `None` moves nothing.
    pub closed_track: Option<TrackId>,
    /// Whether such a move notifies the subscribed customers.
    pub notify_all_voters: bool,
    /// Whether reports are taken.
    pub enabled: bool,
    /// Timestamp of the last report with a valid proof.
    pub last_received_at: Option<Timestamp>,
    /// Timestamp of the creation.
    pub created_at: Timestamp,
    /// Timestamp of the last change by somebody.
    pub updated_at: Timestamp,
}

impl LinkSource {
    /// Maximum number of link sources of a workspace.
    pub const MAX: u64 = 20;

    /// Returns the link source after a change.
    #[must_use]
    pub fn with_change(&self, change: &LinkSourceChange, at: Timestamp) -> Self {
        let changed = Self {
            name: change.name.clone().unwrap_or_else(|| self.name.clone()),
            closed_track: change.closed_track.unwrap_or(self.closed_track),
            notify_all_voters: change.notify_all_voters.unwrap_or(self.notify_all_voters),
            enabled: change.enabled.unwrap_or(self.enabled),
            ..self.clone()
        };
        if changed == *self { changed } else { Self { updated_at: at, ..changed } }
    }
}

/// Validates the tracker of a new link source.
///
/// # Errors
/// A `kind` that is missing or unknown.
pub fn parse_tracker(raw: Option<&str>) -> Validated<Tracker> {
    match raw.unwrap_or_default().trim() {
        "" => Err(FieldError::missing("kind")),
        name => Tracker::from_name(name).ok_or_else(|| {
            let message = "kind must be one of github, gitlab, jira, linear";
            FieldError::new("kind", FieldProblem::Custom { message })
        }),
    }
}

/// What is to change about a link source. `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkSourceChange {
    pub name: Option<Name>,
    /// The inner `None` moves nothing any more.
    pub closed_track: Option<Option<TrackId>>,
    pub notify_all_voters: Option<bool>,
    pub enabled: Option<bool>,
}

/// What a tracker reports of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub issue: Issue,
    /// The title, as far as a link has room for it. `None` if the report has none.
    pub title: Option<Title>,
    pub state: LinkState,
    /// Whether what the issue asks for was done, so that feature requests move.
    pub is_done: bool,
    /// When the issue was as reported.
    pub at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{name, now};
    use time::Duration;
    use uuid::Uuid;

    fn source() -> LinkSource {
        LinkSource {
            id: LinkSourceId::new(Uuid::from_u128(1)),
            name: name("GitHub"),
            tracker: Tracker::Github,
            closed_track: Some(TrackId::new(Uuid::from_u128(2))),
            notify_all_voters: false,
            enabled: true,
            last_received_at: None,
            created_at: now(),
            updated_at: now(),
        }
    }

    #[test]
    fn what_is_not_sent_stays_and_only_a_change_has_a_time() {
        let later = now().plus(Duration::HOUR);
        assert_eq!(source().with_change(&LinkSourceChange::default(), later), source());
        let same = LinkSourceChange { enabled: Some(true), name: Some(name("GitHub")), ..LinkSourceChange::default() };
        assert_eq!(source().with_change(&same, later), source());
        let change = LinkSourceChange {
            name: Some(name("Code")),
            closed_track: Some(None),
            notify_all_voters: Some(true),
            enabled: Some(false),
        };
        let expected = LinkSource {
            name: name("Code"),
            closed_track: None,
            notify_all_voters: true,
            enabled: false,
            updated_at: later,
            ..source()
        };
        assert_eq!(source().with_change(&change, later), expected);
    }

    /// Links: `kind` is one of the four.
    #[test]
    fn the_kind_is_a_known_tracker() {
        for tracker in Tracker::ALL {
            assert_eq!(parse_tracker(Some(&format!(" {} ", tracker.name()))), Ok(tracker));
        }
        for missing in [None, Some(" ")] {
            assert_eq!(parse_tracker(missing), Err(FieldError::missing("kind")));
        }
        for unknown in ["other", "GitHub", "bitbucket"] {
            let error = parse_tracker(Some(unknown)).unwrap_err().to_string();
            assert_eq!(error, "kind must be one of github, gitlab, jira, linear");
        }
    }
}
