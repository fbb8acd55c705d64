//! Purges saved responses that are older than the retention.

use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::policy::idempotency;
use crate::ports::{Clock, Maintenance};
use crate::usecase::batches;

/// Purges expired operation keys.
#[derive(Clone)]
pub struct PurgeOperationKeys {
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
    retention: Duration,
}

impl PurgeOperationKeys {
    /// Creates a purge of keys older than `retention`, which is at least a day.
    #[must_use]
    pub fn new(maintenance: Arc<dyn Maintenance>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self { maintenance, clock, retention }
    }

    /// Deletes all expired keys in batches. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. Keys of earlier batches stay deleted.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let before = idempotency::purge_cutoff(self.clock.now(), self.retention);
        Ok(batches::delete_in_batches(|limit| self.maintenance.purge_operation_keys(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockMaintenance;
    use crate::usecase::fixtures::{FixedClock, now};
    use mockall::Sequence;
    use pollster::block_on;

    /// Decision 5.
    #[test]
    fn batches_are_deleted_until_one_is_not_full() {
        let mut order = Sequence::new();
        let mut maintenance = MockMaintenance::new();
        for batch in [1_000, 1_000, 7] {
            maintenance
                .expect_purge_operation_keys()
                .withf(|before, limit| *before == now().plus(-Duration::days(30)) && *limit == 1_000)
                .times(1)
                .in_sequence(&mut order)
                .return_once(move |_, _| Ok(batch));
        }
        let purge = PurgeOperationKeys::new(Arc::new(maintenance), Arc::new(FixedClock), Duration::days(30));
        assert_eq!(block_on(purge.run()).unwrap(), 2_007);
    }
}
