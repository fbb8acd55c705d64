//! Purges texts that the team has removed, once that cannot be undone any more.

use std::sync::Arc;

use crate::error::RoadmapError;
use crate::model::removal::RETENTION;
use crate::ports::{Clock, Maintenance};
use crate::usecase::batches;

/// Purges removed texts.
#[derive(Clone)]
pub struct PurgeRemovedTexts {
    maintenance: Arc<dyn Maintenance>,
    clock: Arc<dyn Clock>,
}

impl PurgeRemovedTexts {
    /// Creates a purge of texts that were removed longer ago than [`RETENTION`].
    #[must_use]
    pub fn new(maintenance: Arc<dyn Maintenance>, clock: Arc<dyn Clock>) -> Self {
        Self { maintenance, clock }
    }

    /// Deletes all expired texts in batches. Returns their number.
    ///
    /// # Errors
    /// Errors of the store. Texts of earlier batches stay deleted.
    pub async fn run(&self) -> Result<u64, RoadmapError> {
        let before = self.clock.now().plus(-RETENTION);
        Ok(batches::delete_in_batches(|limit| self.maintenance.purge_removed_texts(before, limit)).await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockMaintenance;
    use crate::usecase::fixtures::{FixedClock, now};
    use pollster::block_on;
    use time::Duration;

    #[test]
    fn removed_texts_are_kept_for_thirty_days() {
        let mut maintenance = MockMaintenance::new();
        maintenance
            .expect_purge_removed_texts()
            .withf(|before, _| *before == now().plus(-Duration::days(30)))
            .times(1)
            .returning(|_, _| Ok(3));
        let purge = PurgeRemovedTexts::new(Arc::new(maintenance), Arc::new(FixedClock));
        assert_eq!(block_on(purge.run()).unwrap(), 3);
    }
}
