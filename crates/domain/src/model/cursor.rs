//! Cursors: places in a list from which a client goes on.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::changelog::Changelog;
use crate::model::comment::ListedComment;
use crate::model::customer::Customer;
use crate::model::event::Event;
use crate::model::id::WorkspaceId;
use crate::model::link::Link;
use crate::model::note::Note;
use crate::model::portal::HeldPost;
use crate::model::timestamp::Timestamp;
use crate::model::vote::Voter;

/// Number of bytes that name the list.
const LIST: usize = 8;
/// Number of bytes of the first value of a place.
const KEY: usize = size_of::<i64>();
/// Number of bytes of the second value of a place.
const TIE: usize = size_of::<u128>();

/// The place of an item in the order of a list: the value by which the list is ordered, and one that differs between
/// items that are equal in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The value by which the list is ordered.
    pub key: i64,
    /// The second value of the order.
    pub tie: u128,
}

impl Place {
    /// The place of an item in a list that is ordered by time, and by ID among items of one millisecond.
    #[must_use]
    pub fn new(at: Timestamp, id: Uuid) -> Self {
        Self { key: at.millis(), tie: id.as_u128() }
    }

    /// The place of an item in a list that is ordered by ID, which begins with the time of the creation.
    #[must_use]
    pub fn of_id(id: Uuid) -> Self {
        Self::new(Timestamp::MIN, id)
    }

    /// The place of a feature request in a list that is ordered by number.
    #[must_use]
    pub fn of_number(tag_number: i64) -> Self {
        Self { key: tag_number, tie: 0 }
    }
}

/// What has one place, in whatever list it is. A feature request is no such item.
pub trait Placed {
    /// Its place.
    fn place(&self) -> Place;
}

impl Placed for Changelog {
    fn place(&self) -> Place {
        Place::new(self.created_at, self.id.uuid())
    }
}

impl Placed for Customer {
    fn place(&self) -> Place {
        Place::of_id(self.customer.id.uuid())
    }
}

impl Placed for Event {
    fn place(&self) -> Place {
        Place::new(self.created_at, self.id.uuid())
    }
}

impl Placed for HeldPost {
    fn place(&self) -> Place {
        let id = self.comment.as_ref().map_or(self.request.id.uuid(), |comment| comment.id.uuid());
        Place::new(self.created_at, id)
    }
}

impl Placed for ListedComment {
    fn place(&self) -> Place {
        Place::new(self.comment.created_at, self.comment.id.uuid())
    }
}

impl Placed for Link {
    fn place(&self) -> Place {
        Place::new(self.created_at, self.id.uuid())
    }
}

impl Placed for Note {
    fn place(&self) -> Place {
        Place::new(self.created_at, self.id.uuid())
    }
}

impl Placed for Voter {
    fn place(&self) -> Place {
        Place::new(self.voted_at, self.id.uuid())
    }
}

/// A list with cursors: one list of one workspace, in one order, with certain filters.
///
/// A cursor names the list only by a part of a digest. It is no secret and grants nothing: a client could construct one,
/// and would see what the list shows after another place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorList([u8; LIST]);

impl CursorList {
    /// Number of characters of a cursor.
    pub const CURSOR_LEN: usize = 43;

    /// Creates a list from its name and from what its cursors depend on: the record that it belongs to, the order and the
    /// filters.
    #[must_use]
    pub fn new(workspace: WorkspaceId, name: &str, of: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(workspace.uuid().as_bytes());
        digest.update(name);
        digest.update([0]);
        digest.update(of);
        let mut list = [0; LIST];
        for (byte, hashed) in list.iter_mut().zip(digest.finalize()) {
            *byte = hashed;
        }
        Self(list)
    }

    /// Returns the cursor of a place.
    #[must_use]
    pub fn cursor(&self, place: Place) -> String {
        let bytes = [&self.0[..], &place.key.to_be_bytes(), &place.tie.to_be_bytes()].concat();
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads the parameter `cursor`. Blank means the beginning of the list.
    ///
    /// # Errors
    /// It is not a cursor of this list.
    pub fn parse(&self, raw: &str) -> Validated<Option<Place>> {
        let raw = raw.trim();
        if raw.is_empty() {
            return Ok(None);
        }
        self.place(raw).map(Some).ok_or_else(foreign_cursor)
    }

    fn place(&self, raw: &str) -> Option<Place> {
        if raw.len() != Self::CURSOR_LEN {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(raw).ok()?;
        let (list, rest) = bytes.split_first_chunk::<LIST>()?;
        let (key, tie) = rest.split_first_chunk::<KEY>()?;
        let tie: [u8; TIE] = tie.try_into().ok()?;
        (*list == self.0).then(|| Place { key: i64::from_be_bytes(*key), tie: u128::from_be_bytes(tie) })
    }
}

/// Returns the error of a cursor that the list has not returned.
pub(crate) fn foreign_cursor() -> FieldError {
    FieldError::new("cursor", FieldProblem::Malformed { expected: "a cursor of this list" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::workspace;
    use proptest::prelude::*;

    /// Addition 6.
    #[test]
    fn a_cursor_belongs_to_one_list_of_one_workspace() {
        let list = CursorList::new(workspace(), "voters", "1");
        let cursor = list.cursor(Place { key: -5, tie: 7 });
        assert_eq!(cursor.len(), CursorList::CURSOR_LEN);
        assert_eq!(list.parse(&format!(" {cursor} ")).unwrap(), Some(Place { key: -5, tie: 7 }));
        for other in [
            CursorList::new(WorkspaceId::new(Uuid::max()), "voters", "1"),
            CursorList::new(workspace(), "votes", "1"),
            CursorList::new(workspace(), "voters", "2"),
            CursorList::new(workspace(), "voter", "s1"),
        ] {
            assert_eq!(other.parse(&cursor).unwrap_err().to_string(), "cursor is not a cursor of this list");
        }
    }

    /// Addition 6.
    #[test]
    fn a_blank_cursor_is_the_beginning_and_a_malformed_one_is_named() {
        let list = CursorList::new(workspace(), "voters", "1");
        assert_eq!((list.parse("").unwrap(), list.parse("  ").unwrap()), (None, None));
        let cursor = list.cursor(Place { key: 1, tie: 2 });
        let long = "A".repeat(100_000);
        for raw in ["x", "null", "0", "é", &cursor[1..], &format!("{cursor}A"), &cursor.replace('A', "+"), &long] {
            assert_eq!(list.parse(raw).unwrap_err().field, "cursor", "{raw}");
        }
    }

    proptest! {
        #[test]
        fn every_place_is_read_back(key: i64, tie: u128) {
            let list = CursorList::new(workspace(), "voters", "1");
            let place = Place { key, tie };
            prop_assert_eq!(list.parse(&list.cursor(place)).unwrap(), Some(place));
        }

        #[test]
        fn any_text_is_a_cursor_or_named(raw in "(?s).{0,60}|[A-Za-z0-9_-]{43}") {
            let list = CursorList::new(workspace(), "voters", "1");
            if let Err(error) = list.parse(&raw) {
                prop_assert_eq!(error.field, "cursor");
            }
        }
    }
}
