//! The history of a feature request: its moves, merges and edits.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::model::audit::Actor;
use crate::model::id::{CommentId, EventId, FeatureRequestId};
use crate::model::text::Name;
use crate::model::timestamp::Timestamp;
use crate::model::track::Placement;

/// An event in the history of a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub id: EventId,
    /// What happened.
    pub content: EventContent,
    /// Who caused it.
    pub actor: Actor,
    pub created_at: Timestamp,
}

/// An event to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub request: FeatureRequestId,
    pub event: Event,
}

/// What happened to a feature request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventContent {
    /// It was moved to another track.
    Moved(Move),
    /// Another one was merged into it.
    Merged(FeatureRequestId),
    /// It was merged into another one.
    MergedInto(FeatureRequestId),
    /// The merge of another one into it was undone.
    Unmerged(FeatureRequestId),
    /// Its merge into another one was undone.
    UnmergedFrom(FeatureRequestId),
    /// These fields were edited.
    Edited(Vec<String>),
    /// A member said that no answer is needed, until a customer writes again.
    NoAnswerNeeded,
}

/// A move, with the names of that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The track and the status before.
    pub from: Placement,
    /// The track and the status after.
    pub to: Placement,
    /// The comment that says why, if there is one.
    pub comment: Option<CommentId>,
}

impl Move {
    /// The stored kind of moves.
    pub const KIND: &'static str = "moved";

    /// Whether the public status is another one after the move.
    #[must_use]
    pub fn changes_status(&self) -> bool {
        self.from.status != self.to.status
    }
}

impl EventContent {
    /// Returns the stored name of the kind.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Moved(_) => Move::KIND,
            Self::Merged(_) => "merged",
            Self::MergedInto(_) => "merged_into",
            Self::Unmerged(_) => "unmerged",
            Self::UnmergedFrom(_) => "unmerged_from",
            Self::Edited(_) => "edited",
            Self::NoAnswerNeeded => "no_answer_needed",
        }
    }

    /// Returns the details as JSON.
    #[must_use]
    pub fn details(&self) -> String {
        let placement =
            |at: &Placement| json!({ "track": at.track.as_str(), "status": at.status.as_ref().map(Name::as_str) });
        let details = match self {
            Self::Moved(Move { from, to, comment }) => {
                let mut details = json!({ "from": placement(from), "to": placement(to) });
                if let (Some(comment), Some(fields)) = (comment, details.as_object_mut()) {
                    fields.insert("comment".to_owned(), comment.to_string().into());
                }
                details
            }
            Self::Merged(other) | Self::MergedInto(other) | Self::Unmerged(other) | Self::UnmergedFrom(other) => {
                json!({ "feature_request": other.to_string() })
            }
            Self::Edited(fields) => json!({ "fields": fields }),
            Self::NoAnswerNeeded => json!({}),
        };
        details.to_string()
    }

    /// Parses a stored kind and its details. Returns `None` if they do not fit.
    #[must_use]
    pub fn parse(kind: &str, details: &str) -> Option<Self> {
        let details: Value = serde_json::from_str(details).ok()?;
        let placement = |field: &str| {
            let placement = details.get(field)?;
            let name = |field: &str| placement.get(field)?.as_str().map(|name| Name::from_stored(name.to_owned()));
            Some(Placement { track: name("track")?, status: name("status") })
        };
        let id = |field: &str| details.get(field)?.as_str().and_then(|id| Uuid::try_parse(id).ok());
        let other = || id("feature_request").map(FeatureRequestId::new);
        match kind {
            Move::KIND => {
                let comment = id("comment").map(CommentId::new);
                Some(Self::Moved(Move { from: placement("from")?, to: placement("to")?, comment }))
            }
            "merged" => other().map(Self::Merged),
            "merged_into" => other().map(Self::MergedInto),
            "unmerged" => other().map(Self::Unmerged),
            "unmerged_from" => other().map(Self::UnmergedFrom),
            "edited" => {
                let fields = details.get("fields")?.as_array()?;
                fields.iter().map(|field| field.as_str().map(str::to_owned)).collect::<Option<_>>().map(Self::Edited)
            }
            "no_answer_needed" => Some(Self::NoAnswerNeeded),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::name;

    fn placement(track: &str, status: Option<&str>) -> Placement {
        Placement { track: name(track), status: status.map(name) }
    }

    /// Addition 6.
    #[test]
    fn every_event_is_read_back_as_it_was_written() {
        let other = FeatureRequestId::new(Uuid::from_u128(9));
        for content in [
            EventContent::Moved(Move {
                from: placement("Inbox", None),
                to: placement("Next", Some("Planned")),
                comment: None,
            }),
            EventContent::Moved(Move {
                from: placement("Inbox", None),
                to: placement("Done", None),
                comment: Some(CommentId::new(Uuid::from_u128(5))),
            }),
            EventContent::Merged(other),
            EventContent::MergedInto(other),
            EventContent::NoAnswerNeeded,
            EventContent::Unmerged(other),
            EventContent::UnmergedFrom(other),
            EventContent::Edited(vec!["title".to_owned(), "tags".to_owned()]),
        ] {
            assert_eq!(EventContent::parse(content.kind(), &content.details()), Some(content.clone()));
            assert_eq!(EventContent::parse("other", &content.details()), None);
            let has_details = content != EventContent::NoAnswerNeeded;
            assert_eq!(EventContent::parse(content.kind(), "[]").is_none(), has_details);
        }
    }

    #[test]
    fn a_move_between_tracks_of_one_lane_keeps_the_status() {
        let moved =
            |from, to| Move { from: placement("A", from), to: placement("B", to), comment: None }.changes_status();
        assert!(!moved(Some("Planned"), Some("Planned")));
        assert!(!moved(None, None));
        assert!(moved(None, Some("Planned")));
        assert!(moved(Some("Planned"), None));
    }
}
