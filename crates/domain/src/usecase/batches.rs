//! Deletion of rows in batches.

use crate::error::StoreError;

/// Maximum number of rows per batch. Bounds how long other writes wait.
const BATCH: u32 = 1_000;

/// Calls `delete` with a limit until it deletes fewer rows than the limit. Returns the total number of deleted rows.
///
/// # Errors
/// Errors of `delete`. Rows of earlier batches stay deleted.
pub(crate) async fn delete_in_batches<D: Future<Output = Result<u64, StoreError>>>(
    delete: impl Fn(u32) -> D,
) -> Result<u64, StoreError> {
    let mut deleted = 0;
    loop {
        let batch = delete(BATCH).await?;
        deleted += batch;
        if batch < u64::from(BATCH) {
            return Ok(deleted);
        }
    }
}
