//! Forgets deletions of feature requests and comments that clients had time to read.

use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::ports::{Clock, Maintenance};
use crate::usecase::batches;

/// How long lists of changes have what was deleted.
pub const RETENTION: Duration = Duration::days(30);

/// Purges deletions that are older than [`RETENTION`].
#[derive(Clone)]
pub struct PurgeDeletions {
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
}

impl PurgeDeletions {
    /// Creates a purge.
    #[must_use]
    pub fn new(maintenance: Arc<dyn Maintenance>, clock: Arc<dyn Clock>) -> Self {
        Self { maintenance, clock }
    }

    /// Forgets all expired deletions in batches. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. What earlier batches forgot stays forgotten.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-RETENTION);
        Ok(batches::delete_in_batches(|limit| self.maintenance.purge_deletions(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockMaintenance;
    use crate::usecase::fixtures::{FixedClock, now};
    use pollster::block_on;

    /// Addition 6.
    #[test]
    fn deletions_are_listed_for_thirty_days() {
        let mut maintenance = MockMaintenance::new();
        maintenance
            .expect_purge_deletions()
            .withf(|before, limit| *before == now().plus(-Duration::days(30)) && *limit == 1_000)
            .times(1)
            .returning(|_, _| Ok(7));
        let purge = PurgeDeletions::new(Arc::new(maintenance), Arc::new(FixedClock));
        assert_eq!(block_on(purge.run()).unwrap(), 7);
    }
}
