//! Forgets saved answers that are older than the retention.

use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::policy::idempotency;
use crate::ports::{Clock, Housekeeping};
use crate::usecase::batches;

/// Forgets saved answers.
#[derive(Clone)]
pub struct ForgetOperations {
    housekeeping: Arc<dyn Housekeeping>,
    clock: Arc<dyn Clock>,
    retention: Duration,
}

impl ForgetOperations {
    /// Forgets what is older than `retention`, which counts as a day when it is shorter.
    #[must_use]
    pub fn new(housekeeping: Arc<dyn Housekeeping>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self { housekeeping, clock, retention }
    }

    /// Deletes all that is too old, in batches. Returns how many answers were forgotten.
    ///
    /// # Errors
    /// Those of the store; what was deleted until then stays deleted.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let before = idempotency::purge_cutoff(self.clock.now(), self.retention);
        Ok(batches::delete_all(|limit| self.housekeeping.forget_operations(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockHousekeeping;
    use crate::usecase::fixtures::{FixedClock, now};
    use mockall::Sequence;
    use pollster::block_on;

    #[test]
    fn goes_on_until_a_batch_is_not_full() {
        let mut order = Sequence::new();
        let mut housekeeping = MockHousekeeping::new();
        for batch in [1_000, 1_000, 7] {
            housekeeping
                .expect_forget_operations()
                .withf(|before, limit| *before == now().plus(-Duration::days(30)) && *limit == 1_000)
                .times(1)
                .in_sequence(&mut order)
                .return_once(move |_, _| Ok(batch));
        }
        let forget = ForgetOperations::new(Arc::new(housekeeping), Arc::new(FixedClock), Duration::days(30));
        assert_eq!(block_on(forget.run()).unwrap(), 2_007);
    }
}
