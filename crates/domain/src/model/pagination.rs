//! Pagination of lists, contract sections 2.9 and 4.11.

use uuid::Uuid;

use crate::error::{FieldError, FieldProblem, Validated};
use crate::model::cursor::{CursorList, Place};
use crate::model::timestamp::Timestamp;

/// The requested page number, or where the page begins, and the page size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    page: u64,
    size: u64,
    /// With a cursor, the place after which the page begins; the beginning of the list if that is `None`.
    cursor: Option<Option<Place>>,
}

impl PageRequest {
    /// Default number of items on a page.
    pub const DEFAULT_SIZE: u64 = 25;
    /// Maximum number of items on a page.
    pub const MAX_SIZE: u64 = 100;
    /// Maximum page number, which is the largest SQL integer.
    const MAX_PAGE: u64 = i64::MAX.unsigned_abs();

    /// Parses the parameters `page` and `page_size`. Larger values are lowered to the maximum.
    ///
    /// # Errors
    /// Not an integer, or below 1.
    pub fn parse(page: Option<&str>, size: Option<&str>) -> Validated<Self> {
        Ok(Self {
            page: parse_count("page", page, 1, Self::MAX_PAGE)?,
            size: parse_count("page_size", size, Self::DEFAULT_SIZE, Self::MAX_SIZE)?,
            cursor: None,
        })
    }

    /// Creates the request for the first `size` items, which may be more than a page of the API has: for files, whose items
    /// are then those of one point in time, and are read once.
    #[must_use]
    pub const fn first(size: u64) -> Self {
        Self { page: 1, size, cursor: None }
    }

    /// Adds the parameter `cursor`, if it was sent. A blank one begins.
    ///
    /// # Errors
    /// It is not a cursor of this list, or another page than the first was requested, too.
    pub fn with_cursor(self, list: &CursorList, cursor: Option<&str>) -> Validated<Self> {
        let Some(cursor) = cursor else { return Ok(self) };
        if self.page != 1 {
            let message = "cursor and page cannot both be given";
            return Err(FieldError::new("cursor", FieldProblem::Custom { message }));
        }
        Ok(Self { cursor: Some(list.parse(cursor)?), ..self })
    }

    /// Returns what every item of the page follows in a list that is ordered by time and ID. Without a cursor, every item
    /// follows it.
    #[must_use]
    pub fn after(self) -> (Timestamp, Uuid) {
        self.place().unwrap_or((Timestamp::MIN, Uuid::nil()))
    }

    /// As [`Self::after`], for a list in descending order.
    #[must_use]
    pub fn before(self) -> (Timestamp, Uuid) {
        self.place().unwrap_or((Timestamp::MAX, Uuid::max()))
    }

    /// Returns the number that every item of the page is below, in a list of feature requests that is ordered by number,
    /// the highest first.
    #[must_use]
    pub fn before_number(self) -> i64 {
        self.cursor.flatten().map_or(i64::MAX, |place| place.key)
    }

    fn place(self) -> Option<(Timestamp, Uuid)> {
        let place = self.cursor??;
        // No list has returned a cursor with another timestamp. It begins.
        Some((Timestamp::from_millis(place.key)?, Uuid::from_u128(place.tie)))
    }

    /// Returns the page number, from 1.
    #[must_use]
    pub fn page(self) -> u64 {
        self.page
    }

    /// Returns the number of items on a page.
    #[must_use]
    pub fn size(self) -> u64 {
        self.size
    }

    /// Returns the number of items before this page, or `None` when it exceeds the largest SQL integer.
    ///
    /// Such a page is empty. A wrapped offset would show the wrong page.
    #[must_use]
    pub fn offset(self) -> Option<i64> {
        (self.page - 1).checked_mul(self.size).and_then(|offset| i64::try_from(offset).ok())
    }

    /// Returns the number of items to read for a page as an SQL integer. With a cursor, one more shows whether there is
    /// a next page.
    #[must_use]
    pub fn limit(self) -> i64 {
        i64::try_from(self.size).unwrap_or(i64::MAX) + i64::from(self.cursor.is_some())
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { page: 1, size: Self::DEFAULT_SIZE, cursor: None }
    }
}

/// Parses a positive integer and lowers it to `max`. Accepts only digits: no sign, no white space, no fraction.
///
/// # Errors
/// Not an integer, or below 1.
pub fn parse_count(field: &str, raw: Option<&str>, default: u64, max: u64) -> Validated<u64> {
    let Some(raw) = raw else { return Ok(default) };
    let malformed =
        || FieldError::new(field, FieldProblem::WrongType { expected: "an integer of at least 1".to_owned() });
    if raw.is_empty() || !raw.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    // With only digits, parsing fails only for numbers above `u64::MAX`, which are lowered to `max` anyway.
    match raw.parse::<u64>().unwrap_or(u64::MAX) {
        0 => Err(malformed()),
        number => Ok(number.min(max)),
    }
}

/// A page of a list and the total number of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing<T> {
    /// The items of this page, with a cursor also the next one.
    pub items: Vec<T>,
    /// The requested page.
    pub request: PageRequest,
    /// Total number of items on all pages.
    pub total: u64,
}

impl<T> Listing<T> {
    /// Returns a page of a list that is short enough to be read whole.
    #[must_use]
    pub fn of_all(all: Vec<T>, request: PageRequest) -> Self {
        let as_count = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let offset = request.offset().map_or(usize::MAX, |offset| as_count(offset.unsigned_abs()));
        let total = all.len() as u64;
        Self { items: all.into_iter().skip(offset).take(as_count(request.size())).collect(), request, total }
    }

    /// Returns the total number of pages, which is at least 1.
    #[must_use]
    pub fn total_pages(&self) -> u64 {
        self.total.div_ceil(self.request.size).max(1)
    }

    /// Returns the items of the page.
    #[must_use]
    pub fn page_items(&self) -> &[T] {
        let size = usize::try_from(self.request.size).unwrap_or(usize::MAX);
        self.items.get(..size).unwrap_or(&self.items)
    }

    /// Returns the place after which the next page begins, `None` on the last page. Without a cursor, it is absent.
    #[must_use]
    pub fn next(&self, place: impl Fn(&T) -> Place) -> Option<Option<Place>> {
        self.request.cursor.map(|_| {
            let items = self.page_items();
            items.last().filter(|_| items.len() < self.items.len()).map(place)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(total: u64, size: &str) -> Listing<()> {
        Listing { items: vec![], request: PageRequest::parse(None, Some(size)).unwrap(), total }
    }

    /// Contract 4.11.
    #[test]
    fn page_numbers_and_sizes_have_defaults_and_limits() {
        let page = PageRequest::parse(None, None).unwrap();
        assert_eq!((page.page(), page.size(), page.offset(), page.limit()), (1, 25, Some(0), 25));
        let page = PageRequest::parse(Some("3"), Some("101")).unwrap();
        assert_eq!((page.page(), page.size(), page.offset(), page.limit()), (3, 100, Some(200), 100));
        assert_eq!(page, PageRequest::parse(Some("003"), Some("1000000000000000000000000")).unwrap());
    }

    #[test]
    fn an_invalid_page_number_is_rejected_with_the_field_name() {
        for raw in ["0", "-1", "1.5", "", " 1", "+1", "٣", "1e3", "x", "0x1", "00"] {
            assert_eq!(
                PageRequest::parse(Some(raw), None).unwrap_err().to_string(),
                "page must be an integer of at least 1",
                "{raw}"
            );
            assert_eq!(
                PageRequest::parse(None, Some(raw)).unwrap_err().to_string(),
                "page_size must be an integer of at least 1",
                "{raw}"
            );
        }
    }

    /// Decision 2.
    #[test]
    fn a_huge_page_has_no_offset_instead_of_a_wrapped_one() {
        for raw in ["9223372036854775807", "18446744073709551616", "1".repeat(40).as_str()] {
            let page = PageRequest::parse(Some(raw), None).unwrap();
            assert_eq!((page.page(), page.offset()), (i64::MAX.unsigned_abs(), None), "{raw}");
        }
        let page = PageRequest::parse(Some("9223372036854775807"), Some("1")).unwrap();
        assert_eq!(page.offset(), Some(i64::MAX - 1));
    }

    /// Contract 2.9.
    #[test]
    fn an_empty_list_has_one_page() {
        for (total, size, pages) in
            [(0, "25", 1), (1, "25", 1), (25, "25", 1), (26, "25", 2), (100, "1", 100), (101, "100", 2)]
        {
            assert_eq!(listing(total, size).total_pages(), pages, "{total} items, {size} a page");
        }
    }
}
