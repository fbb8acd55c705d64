//! Pages of lists.

use roadmap_domain::error::StoreError;
use roadmap_domain::model::pagination::{Listing, PageRequest};

/// The offset of a page whose own offset is out of range. Such a page is empty, and so is the page at this offset.
pub(crate) const BEYOND: i64 = i64::MAX;

/// Converts rows that each begin with the total of a list to a page of records. A page without records is one row,
/// whose record is absent.
pub(crate) fn listing<R, T>(
    rows: Vec<(i64, Option<R>)>,
    request: PageRequest,
    record: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Listing<T>, StoreError> {
    let mut total = 0;
    let mut items = Vec::with_capacity(rows.len());
    for (counted, row) in rows {
        total = counted.unsigned_abs();
        items.extend(row.map(&record).transpose()?);
    }
    Ok(Listing { items, request, total })
}

/// As [`listing`], for a list that does not exist if there are no rows.
pub(crate) fn existing_listing<R, T>(
    rows: Vec<(i64, Option<R>)>,
    request: PageRequest,
    record: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Option<Listing<T>>, StoreError> {
    if rows.is_empty() { Ok(None) } else { listing(rows, request, record).map(Some) }
}
