//! Pictures in texts: in the description of a feature request, a comment or a changelog.
//!
//! A text has a picture as `<img src="/pictures/{id}" alt="…" width="…" height="…">`. The ID is that of a file of the
//! workspace that was made for this: small enough for a page, and without metadata.

use sha2::{Digest, Sha256};
use uuid::Builder;

use crate::error::{FieldError, FieldProblem};
use crate::model::attachment::Dimensions;
use crate::model::id::{AttachmentId, parse_hyphenated_uuid};

/// Maximum size of a picture as it is sent, in bytes.
pub const MAX_BYTES: usize = 5 * 1024 * 1024;

/// Maximum number of pictures of a description or a comment.
pub const MAX_IN_POST: usize = 3;

/// Maximum number of pictures of a changelog.
pub const MAX_IN_CHANGELOG: usize = 20;

/// The beginning of the path of a picture.
pub const PATH: &str = "/pictures/";

/// Returns the path of a picture on the portal.
#[must_use]
pub fn path(picture: AttachmentId) -> String {
    format!("{PATH}{picture}")
}

/// Returns the picture of such a path. Any other text is `None`.
#[must_use]
pub fn parse_path(path: &str) -> Option<AttachmentId> {
    path.strip_prefix(PATH).and_then(parse_hyphenated_uuid).map(AttachmentId::new)
}

/// Returns the ID of the picture that is made from a file of the API. It is always the same, so that a repeated request
/// makes no second one.
#[must_use]
pub fn made_from(file: AttachmentId) -> AttachmentId {
    id_of(file.uuid().as_bytes(), &[])
}

/// Returns an ID for a picture that is always the same for this key and content.
#[must_use]
pub fn id_of(key: &[u8], content: &[u8]) -> AttachmentId {
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX).to_be_bytes();
    let digest = Sha256::new().chain_update(length).chain_update(key).chain_update(content).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    AttachmentId::new(Builder::from_custom_bytes(bytes).into_uuid())
}

/// Who has added a picture. Those of customers have a limit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureBy {
    /// A member, or a program with an API key.
    Team,
    Customer,
}

impl PictureBy {
    /// Returns the stored name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
            Self::Customer => "customer",
        }
    }
}

/// A picture that a text can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    pub id: AttachmentId,
    /// Width and height as it is shown.
    pub dimensions: Option<Dimensions>,
}

/// Why a file is no picture for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureProblem {
    /// It has more than [`MAX_BYTES`].
    TooLarge,
    /// It is not one of the four types, or it is broken.
    Unreadable,
    /// It has too many pixels.
    TooManyPixels,
    /// It is an animated WebP.
    Animated,
    /// Too many pictures wait for their turn.
    Busy,
    /// The customer has sent too many bytes in a day.
    DayUsedUp,
    /// The customers together have filled their part of the storage.
    ShareUsedUp,
}

impl PictureProblem {
    /// Returns the sentence about it.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::TooLarge => "Picture must not be larger than 5 MB",
            Self::Unreadable => "Picture must be a JPEG, PNG, WebP or GIF that can be read",
            Self::TooManyPixels => "Picture must have at most 40 megapixels",
            Self::Animated => "Picture must not be an animated WebP: GIF can be animated",
            Self::Busy => "Picture could not be read now, because many others are: try again",
            Self::DayUsedUp => "Picture does not fit into the 30 MB that you can add in a day",
            Self::ShareUsedUp => "Picture does not fit into the space for pictures of customers",
        }
    }

    /// Returns the error about a field.
    #[must_use]
    pub fn of_field(self, field: &str) -> FieldError {
        FieldError::new(field, FieldProblem::Custom { message: self.message() })
    }
}

/// Returns the error about a text with a picture that does not exist.
#[must_use]
pub fn missing(field: &str) -> FieldError {
    let message = "A picture of the text does not exist any more: add it again, or remove it from the text";
    FieldError::new(field, FieldProblem::Custom { message })
}

/// Returns the error about a text with more than `max` pictures.
#[must_use]
pub fn too_many(field: &str, max: usize) -> FieldError {
    let message = match max {
        MAX_IN_CHANGELOG => "A changelog can have at most 20 pictures",
        _ => "A description or a comment can have at most 3 pictures",
    };
    FieldError::new(field, FieldProblem::Custom { message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn only_the_path_of_a_picture_is_one() {
        let id = AttachmentId::new(Uuid::from_u128(7));
        assert_eq!(parse_path(&path(id)), Some(id));
        for other in [
            "",
            "/pictures/",
            "/pictures/7",
            "pictures/00000000-0000-0000-0000-000000000007",
            "/pictures/00000000-0000-0000-0000-000000000007/x",
            "/pictures/00000000-0000-0000-0000-000000000007?x",
            "https://a.example/pictures/00000000-0000-0000-0000-000000000007",
        ] {
            assert_eq!(parse_path(other), None, "{other}");
        }
    }

    #[test]
    fn the_picture_of_a_file_is_always_the_same_and_another_for_each_file() {
        let file = |number| AttachmentId::new(Uuid::from_u128(number));
        assert_eq!(made_from(file(1)), made_from(file(1)));
        assert_ne!(made_from(file(1)), made_from(file(2)));
        assert_ne!(made_from(file(1)), file(1));
        assert_eq!(made_from(file(1)).uuid().get_version_num(), 8);
    }
}
