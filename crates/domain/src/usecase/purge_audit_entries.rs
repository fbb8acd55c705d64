//! Purges entries of the audit log that are older than the retention.

use std::sync::Arc;

use time::Duration;

use crate::error::RoadmapError;
use crate::ports::{Clock, Maintenance};
use crate::usecase::batches;

/// Shortest retention of entries. The database itself keeps younger ones from being deleted.
pub const MIN_RETENTION: Duration = Duration::days(30);

/// Purges expired entries of the audit log.
#[derive(Clone)]
pub struct PurgeAuditEntries {
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
    retention: Duration,
}

impl PurgeAuditEntries {
    /// Creates a purge of entries older than `retention`, which is at least [`MIN_RETENTION`].
    #[must_use]
    pub fn new(maintenance: Arc<dyn Maintenance>, clock: Arc<dyn Clock>, retention: Duration) -> Self {
        Self { maintenance, clock, retention: retention.max(MIN_RETENTION) }
    }

    /// Deletes all expired entries in batches. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. Entries of earlier batches stay deleted.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-self.retention);
        Ok(batches::delete_in_batches(|limit| self.maintenance.purge_audit_entries(before, limit)).await?)
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
    fn entries_are_kept_for_the_retention_and_at_least_a_month() {
        for (retention, days) in [(Duration::days(400), 400), (Duration::days(1), 30)] {
            let mut maintenance = MockMaintenance::new();
            maintenance
                .expect_purge_audit_entries()
                .withf(move |before, limit| *before == now().plus(-Duration::days(days)) && *limit == 1_000)
                .times(1)
                .returning(|_, _| Ok(7));
            let purge = PurgeAuditEntries::new(Arc::new(maintenance), Arc::new(FixedClock), retention);
            assert_eq!(block_on(purge.run()).unwrap(), 7);
        }
    }
}
