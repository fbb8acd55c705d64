//! Forgets saved answers that are older than the retention.

use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::policy::idempotency;
use crate::ports::{Clock, Maintenance};
use crate::usecase::batches;

/// Forgets saved answers.
#[derive(Clone)]
pub struct PurgeOperationKeys {
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
    retention: Duration,
}

impl PurgeOperationKeys {
    /// Forgets what is older than `retention`, which counts as a day when it is shorter.
    #[must_use]
    pub fn new(maintenance: Arc<dyn Maintenance>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self { maintenance, clock, retention }
    }

    /// Deletes all that is too old, in batches. Returns how many answers were forgotten.
    ///
    /// # Errors
    /// Those of the store; what was deleted until then stays deleted.
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
        let forget = PurgeOperationKeys::new(Arc::new(maintenance), Arc::new(FixedClock), Duration::days(30));
        assert_eq!(block_on(forget.run()).unwrap(), 2_007);
    }
}
