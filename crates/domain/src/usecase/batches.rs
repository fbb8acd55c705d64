//! Deleting much, a little at a time.

use crate::error::StoreError;

/// How many rows are deleted at a time, so that no write waits long for it.
const BATCH: u32 = 1_000;

/// Calls `delete` with a limit until it finds less than that. Returns how much was deleted in all.
///
/// # Errors
/// Those of `delete`; what was deleted until then stays deleted.
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
