//! Typed IDs of records. The types prevent mixing up the IDs of different kinds of records.

use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::timestamp::Timestamp;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID.
            #[must_use]
            pub const fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// Returns the UUID.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                let malformed = || serde::de::Error::custom("no hyphenated UUID");
                parse_hyphenated_uuid(&text).map(Self).ok_or_else(malformed)
            }
        }
    )+};
}

ids! {
    /// ID of a workspace.
    WorkspaceId,
    /// ID of an API key (not the key itself).
    ApiKeyId,
    /// ID of a team member.
    MemberId,
    /// ID of a customer.
    CustomerId,
    /// ID of a feature request.
    FeatureRequestId,
    /// ID of a track.
    TrackId,
    /// ID of a lane.
    LaneId,
    /// ID of a private note.
    NoteId,
    /// ID of a public comment.
    CommentId,
    /// ID of a link of a feature request.
    LinkId,
    /// ID of a link source: of a tracker that reports issues.
    LinkSourceId,
    /// ID of a webhook.
    WebhookId,
    /// ID of an event that webhooks are sent.
    WebhookEventId,
    /// ID of a changelog.
    ChangelogId,
    /// ID of an attachment.
    AttachmentId,
    /// ID of an event in the history of a feature request.
    EventId,
    /// ID of an entry of the audit log.
    AuditEntryId,
    /// ID of a session of somebody who is signed in.
    SessionId,
    /// ID of a sign-in that was asked for.
    SignInId,
    /// ID of a run of an import.
    ImportId,
    /// ID of an export that was asked for.
    ExportId,
}

/// Returns a UUID that is not greater than any ID of a record with this timestamp or a later one: IDs begin with the
/// milliseconds of their record's timestamp (RFC 9562 section 5.7).
#[must_use]
pub fn lowest_id_at(at: Timestamp) -> Uuid {
    Uuid::from_u128(u128::from(at.millis().max(0).unsigned_abs()) << 80)
}

/// Parses a hyphenated UUID in upper or lower case.
///
/// # Errors
/// [`FieldProblem::Missing`] when blank, [`FieldProblem::Malformed`] for any other text.
pub fn parse_uuid(field: &str, raw: &str) -> Validated<Uuid> {
    let raw = raw.trim();
    if raw.is_empty() {
        return Err(FieldError::missing(field));
    }
    parse_hyphenated_uuid(raw)
        .ok_or_else(|| FieldError::new(field, FieldProblem::Malformed { expected: "a valid UUID" }))
}

/// Parses a UUID in the 36-character form.
///
/// The API does not accept the forms in braces, as URN and without hyphens.
pub(crate) fn parse_hyphenated_uuid(raw: &str) -> Option<Uuid> {
    if raw.len() == 36 { Uuid::try_parse(raw).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_id_begins_with_the_milliseconds() {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        assert_eq!(lowest_id_at(at(0x0189_0a5d_ac96)).to_string(), "01890a5d-ac96-0000-0000-000000000000");
        assert_eq!(lowest_id_at(at(-1)), Uuid::nil());
    }

    #[test]
    fn reads_only_the_hyphenated_form() {
        let text = "01890a5d-ac96-774b-bcce-b302099a8057";
        assert_eq!(parse_uuid("track_id", text).unwrap().to_string(), text);
        assert_eq!(parse_uuid("track_id", &text.to_uppercase()).unwrap().to_string(), text);
        for raw in ["x", "01890a5dac96774bbcceb302099a8057", "{01890a5d-ac96-774b-bcce-b302099a8057}"] {
            assert_eq!(parse_uuid("track_id", raw).unwrap_err().to_string(), "track_id is not a valid UUID");
        }
        assert_eq!(parse_uuid("track_id", "  ").unwrap_err(), FieldError::missing("track_id"));
    }
}
