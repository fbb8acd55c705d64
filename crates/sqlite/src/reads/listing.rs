//! Pages of lists.

use roadmap_domain::error::StoreError;
use roadmap_domain::model::pagination::{Listing, PageRequest};

/// The rows of a page, and the total number of rows.
pub(crate) type Page<R> = (Vec<R>, i64);

/// Converts a page of rows to a page of records.
pub(crate) fn listing<R, T>(
    (rows, total): Page<R>,
    request: PageRequest,
    record: impl Fn(R) -> Result<T, StoreError>,
) -> Result<Listing<T>, StoreError> {
    let items = rows.into_iter().map(record).collect::<Result<_, _>>()?;
    Ok(Listing { items, request, total: total.unsigned_abs() })
}
