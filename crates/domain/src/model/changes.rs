//! Lists of everything, oldest change first, with what was deleted.
//!
//! Each change of a feature request or comment has a place. A place is assigned once the change is committed, and is
//! greater than all places before: a client that has read up to a place misses no change that is committed later. A
//! record is listed once, at the place of its last change.

use std::collections::HashMap;

use uuid::Uuid;

use crate::error::Validated;
use crate::model::audit::parse_time;
use crate::model::comment::ListedComment;
use crate::model::cursor::{CursorList, Place, foreign_cursor};
use crate::model::feature_request::{FeatureRequestDetail, RequestLink};
use crate::model::id::{TrackId, WorkspaceId};
use crate::model::pagination::{PageRequest, parse_count};
use crate::model::timestamp::Timestamp;

/// A place in the order of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangePlace {
    /// `updated_at` of the change, or that of the change before if it is later.
    pub at: Timestamp,
    /// The number of the change in the workspace, from 1.
    pub number: i64,
}

impl From<ChangePlace> for Place {
    fn from(place: ChangePlace) -> Self {
        Self { key: place.at.millis(), tie: u128::from(place.number.unsigned_abs()) }
    }
}

impl ChangePlace {
    fn of_cursor(place: Place) -> Option<Self> {
        Some(Self { at: Timestamp::from_millis(place.key)?, number: i64::try_from(place.tie).ok()? })
    }
}

/// Which records are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChangesFilter {
    /// Only changes from this time on.
    pub since: Option<Timestamp>,
    /// Only feature requests on this track, and those that were on it when they were deleted.
    pub track: Option<TrackId>,
    /// Whether private feature requests and their comments are listed. Otherwise those that were public before are listed
    /// as deleted.
    pub include_private: bool,
}

impl ChangesFilter {
    /// Creates a filter.
    ///
    /// # Errors
    /// `since`, the parameter `updated_since`, is not a timestamp. Blank counts as absent.
    pub fn parse(since: Option<&str>, track: Option<TrackId>, include_private: bool) -> Validated<Self> {
        let since = since.filter(|since| !since.trim().is_empty());
        let since = since.map(|since| parse_time("updated_since", since)).transpose()?;
        Ok(Self { since, track, include_private })
    }

    /// Returns the list that the cursors of a filter belong to. `updated_since` does not matter to them.
    #[must_use]
    pub fn cursors(&self, workspace: WorkspaceId, list: &str) -> CursorList {
        let track = self.track.map(|track| track.to_string()).unwrap_or_default();
        CursorList::new(workspace, list, &format!("{}{track}", if self.include_private { "all" } else { "public" }))
    }

    /// Whether an entry is listed.
    fn lists(&self, entry: &ChangeEntry) -> bool {
        let is_known = self.include_private || !entry.private || entry.was_public;
        is_known && self.track.is_none_or(|track| entry.track == Some(track))
    }

    /// Whether an entry is listed with its content.
    fn shows(&self, entry: &ChangeEntry) -> bool {
        !entry.deleted && (self.include_private || !entry.private)
    }
}

/// A part of a list of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangesPage {
    /// Only changes after this place.
    pub after: Option<ChangePlace>,
    /// Maximum number of items.
    pub size: u32,
}

impl ChangesPage {
    /// Validates the parameters `cursor` and `page_size`.
    ///
    /// # Errors
    /// A cursor of another list, or a size that is not an integer of at least 1.
    pub fn parse(list: &CursorList, cursor: Option<&str>, size: Option<&str>) -> Validated<Self> {
        let after = list.parse(cursor.unwrap_or_default())?;
        let after = after.map(|place| ChangePlace::of_cursor(place).ok_or_else(foreign_cursor)).transpose()?;
        let size = parse_count("page_size", size, PageRequest::DEFAULT_SIZE, PageRequest::MAX_SIZE)?;
        Ok(Self { after, size: u32::try_from(size).unwrap_or(u32::MAX) })
    }
}

/// What is stored of a record's last change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeEntry {
    /// ID of the record.
    pub id: Uuid,
    /// The track of a feature request.
    pub track: Option<TrackId>,
    /// Whether the feature request, or that of the comment, is private, or was when it was deleted.
    pub private: bool,
    /// Whether it has been public before.
    pub was_public: bool,
    /// Whether the record is deleted.
    pub deleted: bool,
    pub updated_at: Timestamp,
    pub place: ChangePlace,
}

/// An item of a list of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed<T> {
    /// A record as it is now.
    Present(T),
    /// A record that is deleted, or not shown any more.
    Gone {
        /// ID of the record.
        id: Uuid,
        /// Timestamp of the change.
        updated_at: Timestamp,
    },
}

/// Items of a list of changes, and where the next ones begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesListing<T> {
    /// The items, oldest change first.
    pub items: Vec<Changed<T>>,
    /// The place after which the next page begins. `None` on the last one.
    pub next: Option<ChangePlace>,
}

/// A feature request in the list of all, also a merged one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedRequest {
    /// The feature request itself.
    pub detail: FeatureRequestDetail,
    /// What it is merged into in the end.
    pub merged_into: Option<RequestLink>,
}

/// A comment in the list of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedComment {
    pub comment: ListedComment,
    /// The feature request that it was written on.
    pub request: RequestLink,
    /// Whether that is private.
    pub private: bool,
}

/// A record that a list of changes shows.
pub trait ChangedRecord {
    /// Returns the ID.
    fn id(&self) -> Uuid;

    /// Whether it is listed only with private ones.
    fn is_private(&self) -> bool;
}

impl ChangedRecord for ChangedRequest {
    fn id(&self) -> Uuid {
        self.detail.summary.id.uuid()
    }

    fn is_private(&self) -> bool {
        self.detail.private
    }
}

impl ChangedRecord for ChangedComment {
    fn id(&self) -> Uuid {
        self.comment.comment.id.uuid()
    }

    fn is_private(&self) -> bool {
        self.private
    }
}

/// Maximum number of entries that one page examines. With a filter, a page can have fewer items than were asked for,
/// although there are more.
pub const EXAMINED: u32 = 500;

/// The entries of a page.
#[derive(Debug, Clone)]
pub struct ChangesSelection {
    filter: ChangesFilter,
    entries: Vec<ChangeEntry>,
    next: Option<ChangePlace>,
}

impl ChangesSelection {
    /// Returns the place after which a page reads entries. The store passes the first [`EXAMINED`] of them to
    /// [`Self::choose`].
    #[must_use]
    pub fn start(filter: &ChangesFilter, page: ChangesPage) -> ChangePlace {
        let since = filter.since.unwrap_or(Timestamp::MIN);
        page.after.unwrap_or(ChangePlace { at: since, number: 0 }).max(ChangePlace { at: since, number: 0 })
    }

    /// Chooses the entries of a page out of those that follow its start, in their order.
    #[must_use]
    pub fn choose(examined: Vec<ChangeEntry>, filter: ChangesFilter, page: ChangesPage) -> Self {
        let size = usize::try_from(page.size).unwrap_or(usize::MAX);
        let is_cut = examined.len() >= usize::try_from(EXAMINED).unwrap_or(usize::MAX);
        let last_examined = examined.last().map(|entry| entry.place).filter(|_| is_cut);
        let mut entries: Vec<ChangeEntry> = examined.into_iter().filter(|entry| filter.lists(entry)).collect();
        let has_more = entries.len() > size;
        entries.truncate(size);
        let next = if has_more { entries.last().map(|entry| entry.place) } else { last_examined };
        Self { filter, entries, next }
    }

    /// Returns the IDs of the records whose content is shown.
    #[must_use]
    pub fn visible_ids(&self) -> Vec<Uuid> {
        self.entries.iter().filter(|entry| self.filter.shows(entry)).map(|entry| entry.id).collect()
    }

    /// Combines the entries with the records that are shown. A record that was deleted or became private since the entries
    /// were read is left out: its change has a later place.
    #[must_use]
    pub fn listing<T: ChangedRecord>(self, records: Vec<T>) -> ChangesListing<T> {
        let Self { filter, entries, next } = self;
        let mut records: HashMap<Uuid, T> = records.into_iter().map(|record| (record.id(), record)).collect();
        let items = entries.into_iter().filter_map(|entry| {
            if !filter.shows(&entry) {
                return Some(Changed::Gone { id: entry.id, updated_at: entry.updated_at });
            }
            let record = records.remove(&entry.id)?;
            (filter.include_private || !record.is_private()).then_some(Changed::Present(record))
        });
        ChangesListing { items: items.collect(), next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::{now, workspace};
    use time::Duration;

    struct Record(u128, bool);

    impl ChangedRecord for Record {
        fn id(&self) -> Uuid {
            Uuid::from_u128(self.0)
        }

        fn is_private(&self) -> bool {
            self.1
        }
    }

    fn entry(number: i64) -> ChangeEntry {
        ChangeEntry {
            id: Uuid::from_u128(number.unsigned_abs().into()),
            track: Some(TrackId::new(Uuid::from_u128(1))),
            private: false,
            was_public: true,
            deleted: false,
            updated_at: now(),
            place: ChangePlace { at: now(), number },
        }
    }

    fn page(size: u32) -> ChangesPage {
        ChangesPage { after: None, size }
    }

    /// Lists entries whose records all exist. Shows the IDs, negative for those that are gone.
    fn listed(entries: Vec<ChangeEntry>, filter: ChangesFilter, size: u32) -> (Vec<i128>, Option<i64>) {
        let selection = ChangesSelection::choose(entries, filter, page(size));
        let records = selection.visible_ids().into_iter().map(|id| Record(id.as_u128(), false)).collect();
        let listing = selection.listing(records);
        let id = |id: Uuid| i128::try_from(id.as_u128()).unwrap();
        let items = listing.items.into_iter().map(|item| match item {
            Changed::Present(record) => id(record.id()),
            Changed::Gone { id: gone, .. } => -id(gone),
        });
        (items.collect(), listing.next.map(|place| place.number))
    }

    /// Addition 6.
    #[test]
    fn what_a_reader_knew_and_may_not_see_is_gone() {
        let private = |number| ChangeEntry { private: true, ..entry(number) };
        let entries = || {
            vec![
                entry(1),
                private(2),
                ChangeEntry { was_public: false, ..private(3) },
                ChangeEntry { deleted: true, ..entry(4) },
                ChangeEntry { deleted: true, was_public: false, ..private(5) },
                ChangeEntry { deleted: true, ..private(6) },
            ]
        };
        let all = ChangesFilter { include_private: true, ..ChangesFilter::default() };
        assert_eq!(listed(entries(), ChangesFilter::default(), 25), (vec![1, -2, -4, -6], None));
        assert_eq!(listed(entries(), all, 25), (vec![1, 2, 3, -4, -5, -6], None));
        let elsewhere = ChangesFilter { track: Some(TrackId::new(Uuid::from_u128(2))), ..all };
        assert_eq!(listed(entries(), elsewhere, 25), (vec![], None));
    }

    /// Addition 6.
    #[test]
    fn a_page_goes_on_after_its_last_item_or_after_what_it_examined() {
        let entries = |count: i64| (1..=count).map(entry).collect::<Vec<_>>();
        let filter = ChangesFilter::default();
        assert_eq!(listed(entries(2), filter, 2), (vec![1, 2], None));
        assert_eq!(listed(entries(3), filter, 2), (vec![1, 2], Some(2)));
        assert_eq!(listed(Vec::new(), filter, 2), (vec![], None));
        let elsewhere = ChangesFilter { track: Some(TrackId::new(Uuid::from_u128(2))), ..filter };
        let examined = i64::from(EXAMINED);
        assert_eq!(listed(entries(examined - 1), elsewhere, 2), (vec![], None));
        assert_eq!(listed(entries(examined), elsewhere, 2), (vec![], Some(examined)));
    }

    #[test]
    fn a_record_that_changed_meanwhile_is_left_out() {
        let selection = ChangesSelection::choose((1..=3).map(entry).collect(), ChangesFilter::default(), page(25));
        let listing = selection.listing(vec![Record(1, false), Record(3, true)]);
        assert_eq!(listing.items.len(), 1);
    }

    /// Addition 6.
    #[test]
    fn a_page_begins_after_its_cursor_and_its_time() {
        let at = |seconds| now().plus(Duration::seconds(seconds));
        let start = |since: Option<i64>, after: Option<(i64, i64)>| {
            let filter = ChangesFilter { since: since.map(at), ..ChangesFilter::default() };
            let after = after.map(|(seconds, number)| ChangePlace { at: at(seconds), number });
            ChangesSelection::start(&filter, ChangesPage { after, size: 1 })
        };
        assert_eq!(start(None, None), ChangePlace { at: Timestamp::MIN, number: 0 });
        assert_eq!(start(Some(5), None), ChangePlace { at: at(5), number: 0 });
        assert_eq!(start(Some(5), Some((5, 7))), ChangePlace { at: at(5), number: 7 });
        assert_eq!(start(Some(5), Some((4, 7))), ChangePlace { at: at(5), number: 0 });
        assert_eq!(start(None, Some((4, 7))), ChangePlace { at: at(4), number: 7 });
    }

    #[test]
    fn a_cursor_depends_on_the_filter_but_not_on_the_time() {
        let filter = ChangesFilter::parse(Some(" 2026-03-01T09:30:00Z "), None, false).unwrap();
        let list = filter.cursors(workspace(), "comments");
        let place = ChangePlace { at: now(), number: 5 };
        let cursor = list.cursor(place.into());
        let parse = |filter: ChangesFilter| {
            ChangesPage::parse(&filter.cursors(workspace(), "comments"), Some(&cursor), Some("101"))
        };
        assert_eq!(parse(filter).unwrap(), ChangesPage { after: Some(place), size: 100 });
        assert_eq!(parse(ChangesFilter { since: None, ..filter }).unwrap().after, Some(place));
        for other in [
            ChangesFilter { include_private: true, ..filter },
            ChangesFilter { track: Some(TrackId::new(Uuid::nil())), ..filter },
        ] {
            assert_eq!(parse(other).unwrap_err().field, "cursor");
        }
        assert_eq!(ChangesFilter::parse(Some("yesterday"), None, false).unwrap_err().field, "updated_since");
        assert_eq!(ChangesFilter::parse(Some(" "), None, false).unwrap().since, None);
    }
}
