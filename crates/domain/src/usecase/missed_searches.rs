//! Counts searches that found nothing, so that the team learns what customers look for in vain.
//!
//! Counts are kept in memory and written from time to time. Those of a process that crashes in between are lost.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use time::Duration;

use crate::error::StoreError;
use crate::model::admin::{MissedSearch, MissedWords};
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::ports::{MissedSearchLog, MissedSearchStore};

/// Counts searches in memory until they are written.
#[derive(Debug, Default)]
pub struct MissedSearches {
    counts: Mutex<HashMap<WorkspaceId, HashMap<MissedWords, i64>>>,
}

impl MissedSearches {
    /// Maximum number of different texts of a workspace in memory. Others of this workspace are left out until the next
    /// write.
    pub const MAX_IN_MEMORY: usize = 500;
    /// Maximum number of different texts of a workspace and day.
    pub const MAX_PER_DAY: u32 = 500;
    /// How long counts are stored.
    pub const RETENTION: Duration = Duration::days(400);
    /// Maximum number of counts that one purge deletes.
    const PURGE_LIMIT: u32 = 1_000;

    /// Writes what was counted since the last call, and deletes a part of what is too old.
    ///
    /// # Errors
    /// The store fails. What could not be written is lost: it is not worth a retry.
    pub async fn flush(&self, store: &dyn MissedSearchStore, now: Timestamp) -> Result<(), StoreError> {
        let counts = std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        for (workspace, counts) in counts {
            let searches = counts.into_iter().map(|(words, count)| MissedSearch { words, count });
            let mut searches: Vec<MissedSearch> = searches.collect();
            searches.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.words.cmp(&b.words)));
            store.add_missed_searches(workspace, now.start_of_day(), &searches, Self::MAX_PER_DAY).await?;
        }
        store.purge_missed_searches(now.plus(-Self::RETENTION).start_of_day(), Self::PURGE_LIMIT).await?;
        Ok(())
    }
}

impl MissedSearchLog for MissedSearches {
    fn record(&self, workspace: WorkspaceId, words: MissedWords) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = counts.entry(workspace).or_default();
        if counts.len() < Self::MAX_IN_MEMORY || counts.contains_key(&words) {
            *counts.entry(words).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::mocks::MockMissedSearchStore;
    use crate::usecase::fixtures::{now, workspace};
    use pollster::block_on;
    use uuid::Uuid;

    fn words(text: &str) -> MissedWords {
        MissedWords::of_query(text).unwrap()
    }

    #[test]
    fn counts_are_written_once_most_frequent_first() {
        let searches = MissedSearches::default();
        for text in ["b", "a", "b", "c"] {
            searches.record(workspace(), words(text));
        }
        let mut store = MockMissedSearchStore::new();
        store
            .expect_add_missed_searches()
            .withf(|of, day, searches, limit| {
                let seen: Vec<_> = searches.iter().map(|search| (search.words.as_str(), search.count)).collect();
                *of == workspace()
                    && *day == now().start_of_day()
                    && *limit == 500
                    && seen == [("b", 2), ("a", 1), ("c", 1)]
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
        store.expect_purge_missed_searches().times(2).returning(|_, _| Ok(0));
        block_on(searches.flush(&store, now())).unwrap();
        block_on(searches.flush(&store, now())).unwrap();
    }

    #[test]
    fn memory_is_bounded_for_each_workspace() {
        let searches = MissedSearches::default();
        let neighbour = WorkspaceId::new(Uuid::from_u128(99));
        for number in 0..3_000 {
            searches.record(workspace(), words(&format!("word{number}")));
        }
        searches.record(workspace(), words("word7"));
        searches.record(neighbour, words("word2999"));
        let counts = searches.counts.lock().unwrap();
        assert_eq!(counts[&workspace()].len(), MissedSearches::MAX_IN_MEMORY);
        assert_eq!(counts[&workspace()].get(&words("word7")), Some(&2));
        assert_eq!(counts[&neighbour].get(&words("word2999")), Some(&1));
    }
}
