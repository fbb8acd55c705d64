//! Enforces the storage budget of each workspace without a database statement per write.
//!
//! A process counts in memory: the total last read from the store, the usage added by its own commands since then, and
//! the reservations of running commands. Every few seconds [`StorageBudgets::flush`] adds the new usage to the store's
//! total and reads the additions of other processes. A single process never lets a workspace exceed its budget. Several
//! processes exceed it by at most the usage that they add between two flushes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::Duration;

use crate::error::{OverBudget, RoadmapError, StoreError};
use crate::model::id::WorkspaceId;
use crate::model::timestamp::Timestamp;
use crate::model::usage::{StoredUsage, Usage};
use crate::policy::storage::StorageLimits;
use crate::ports::{Clock, UsageStore};

/// Maximum age of the count of a workspace in use.
const RECOUNT_AFTER: Duration = Duration::days(1);

/// Maximum age of the count after a rejected write. It is shorter because the counted usage includes estimates, which
/// are too high.
const RECOUNT_AFTER_REJECTION: Duration = Duration::hours(1);

/// The budgets of all workspaces in one process.
pub struct StorageBudgets {
    store: Arc<dyn UsageStore>,
    clock: Arc<dyn Clock>,
    limits: StorageLimits,
    counters: Mutex<HashMap<WorkspaceId, Counter>>,
}

/// The usage of a workspace.
#[derive(Default)]
struct Counter {
    /// The store's total. `None` until it is read.
    stored: Option<StoredUsage>,
    /// Committed usage that is not part of that total.
    added: Usage,
    /// Usage reserved by running commands.
    reserved: Usage,
    /// Whether a write was rejected since the last count.
    has_rejected: bool,
}

impl Counter {
    fn used(&self) -> Usage {
        self.stored.unwrap_or_default().usage.plus(self.added).plus(self.reserved)
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let age = if self.has_rejected { RECOUNT_AFTER_REJECTION } else { RECOUNT_AFTER };
        let counted_at = |stored: StoredUsage| stored.counted_at;
        self.stored.is_some_and(|stored| counted_at(stored).is_none_or(|counted_at| counted_at.plus(age) <= now))
    }
}

impl StorageBudgets {
    /// Creates budgets with these limits.
    #[must_use]
    pub fn new(store: Arc<dyn UsageStore>, clock: Arc<dyn Clock>, limits: StorageLimits) -> Self {
        Self { store, clock, limits, counters: Mutex::default() }
    }

    /// Returns the limits.
    #[must_use]
    pub const fn limits(&self) -> &StorageLimits {
        &self.limits
    }

    /// Reads the workspace's total from the store, unless it was read before.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn load(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        if self.counters().get(&workspace).is_some_and(|counter| counter.stored.is_some()) {
            return Ok(());
        }
        let stored = self.store.load_usage(workspace).await?.unwrap_or_default();
        // Keeps the total that a concurrent task has read, because usage may have been flushed to it since.
        self.counters().entry(workspace).or_default().stored.get_or_insert(stored);
        Ok(())
    }

    /// Reserves storage for a command. Dropping the reservation without a commit releases it.
    ///
    /// # Errors
    /// The budget that would be exceeded.
    pub fn reserve(self: &Arc<Self>, workspace: WorkspaceId, added: Usage) -> Result<Reservation, OverBudget> {
        let mut counters = self.counters();
        let counter = counters.entry(workspace).or_default();
        if let Err(over) = self.limits.check(counter.used(), added) {
            counter.has_rejected = true;
            return Err(over);
        }
        counter.reserved = counter.reserved.plus(added);
        Ok(Reservation { budgets: Arc::clone(self), workspace, reserved: added })
    }

    /// Checks that the workspace can store at least one byte of a file.
    ///
    /// # Errors
    /// - [`RoadmapError::OverBudget`] when it cannot.
    /// - Errors of the store.
    pub async fn check_files(&self, workspace: WorkspaceId) -> Result<(), RoadmapError> {
        self.load(workspace).await?;
        let smallest = Usage { records: 1, files: 1 };
        let mut counters = self.counters();
        let counter = counters.entry(workspace).or_default();
        Ok(self.limits.check(counter.used(), smallest).inspect_err(|_| counter.has_rejected = true)?)
    }

    /// Records stored usage, or deleted usage when it is negative.
    pub fn record(&self, workspace: WorkspaceId, added: Usage) {
        let mut counters = self.counters();
        let counter = counters.entry(workspace).or_default();
        counter.added = counter.added.plus(added);
    }

    /// Adds the usage committed since the last flush to the store's totals, and reads the additions of other processes.
    ///
    /// Covers the workspaces that were written to or had a write rejected.
    ///
    /// # Errors
    /// The first error of the store. Usage that was not added is added by the next flush.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let active: Vec<(WorkspaceId, Usage)> = {
            let counters = self.counters();
            let is_active = |counter: &Counter| counter.added != Usage::default() || counter.has_rejected;
            let active = counters.iter().filter(|(_, counter)| is_active(counter));
            active.map(|(workspace, counter)| (*workspace, counter.added)).collect()
        };
        for (workspace, added) in active {
            self.add(workspace, added).await?;
        }
        Ok(())
    }

    /// Adds usage that was recorded to the store's total, or reads the total if there is none.
    async fn add(&self, workspace: WorkspaceId, added: Usage) -> Result<(), StoreError> {
        let stored = if added == Usage::default() {
            self.store.load_usage(workspace).await?.unwrap_or_default()
        } else {
            self.store.add_usage(workspace, added).await?
        };
        let mut counters = self.counters();
        let counter = counters.entry(workspace).or_default();
        counter.stored = Some(stored);
        counter.added = counter.added.minus(added);
        Ok(())
    }

    /// Recounts the workspaces whose count is too old or missing. Returns their number.
    ///
    /// # Errors
    /// The first error of the store.
    pub async fn recount_due(&self) -> Result<u64, StoreError> {
        let now = self.clock.now();
        let due: Vec<(WorkspaceId, Usage)> = {
            let counters = self.counters();
            let due = counters.iter().filter(|(_, counter)| counter.is_due(now));
            due.map(|(workspace, counter)| (*workspace, counter.added)).collect()
        };
        let mut recounted = 0;
        for (workspace, added) in due {
            // The count includes what was stored and deleted until now, which must not be added once more.
            if added != Usage::default() {
                self.add(workspace, added).await?;
            }
            let stored = self.store.recount_usage(workspace, now).await?;
            let mut counters = self.counters();
            let counter = counters.entry(workspace).or_default();
            counter.stored = Some(stored);
            counter.has_rejected = false;
            recounted += 1;
        }
        Ok(recounted)
    }

    fn counters(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Counter>> {
        // No code panics while it holds the lock, so a poisoned map is consistent.
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Storage reserved for a command. Dropping it releases the storage.
#[must_use]
pub struct Reservation {
    budgets: Arc<StorageBudgets>,
    workspace: WorkspaceId,
    reserved: Usage,
}

impl Reservation {
    /// Records the reserved usage and `additional` as stored, after the command has committed.
    pub fn commit(self, additional: Usage) {
        self.budgets.record(self.workspace, self.reserved.plus(additional));
    }

    /// Records only `additional` as stored, after a command that changed nothing.
    pub fn commit_unused(self, additional: Usage) {
        self.budgets.record(self.workspace, additional);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut counters = self.budgets.counters();
        let counter = counters.entry(self.workspace).or_default();
        counter.reserved = counter.reserved.minus(self.reserved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Budget;
    use crate::ports::mocks::{MockClock, MockUsageStore};
    use crate::usecase::fixtures::{now, workspace};
    use mockall::predicate::eq;
    use pollster::block_on;

    fn usage(records: i64, files: i64) -> Usage {
        Usage { records, files }
    }

    fn stored(records: i64, files: i64, age: Duration) -> StoredUsage {
        StoredUsage { usage: usage(records, files), counted_at: Some(now().plus(-age)) }
    }

    fn budgets(store: MockUsageStore) -> Arc<StorageBudgets> {
        let mut clock = MockClock::new();
        clock.expect_now().returning(now);
        let limits = StorageLimits { records: Some(1_000), files: Some(1_000) };
        Arc::new(StorageBudgets::new(Arc::new(store), Arc::new(clock), limits))
    }

    fn loaded(first: StoredUsage) -> MockUsageStore {
        let mut store = MockUsageStore::new();
        store.expect_load_usage().with(eq(workspace())).times(1).return_once(move |_| Ok(Some(first)));
        store
    }

    fn over(budget: Budget) -> OverBudget {
        OverBudget { budget, limit: 1_000 }
    }

    #[test]
    fn a_deletion_before_a_count_is_not_subtracted_from_it() {
        let mut store = loaded(stored(0, 1_000, Duration::DAY));
        store
            .expect_add_usage()
            .with(eq(workspace()), eq(usage(0, -700)))
            .times(1)
            .returning(|_, _| Ok(stored(0, 300, Duration::DAY)));
        store.expect_recount_usage().times(1).returning(|_, _| Ok(stored(0, 300, Duration::ZERO)));
        let budgets = budgets(store);
        block_on(budgets.load(workspace())).unwrap();
        budgets.record(workspace(), usage(0, -700));
        assert_eq!(block_on(budgets.recount_due()).unwrap(), 1);
        block_on(budgets.flush()).unwrap();
        assert!(budgets.reserve(workspace(), usage(0, 701)).is_err());
        assert!(budgets.reserve(workspace(), usage(0, 700)).is_ok());
    }

    #[test]
    fn the_total_is_read_once_and_reservations_count_until_they_are_released() {
        let budgets = budgets(loaded(stored(900, 0, Duration::ZERO)));
        block_on(budgets.load(workspace())).unwrap();
        block_on(budgets.load(workspace())).unwrap();
        let first = budgets.reserve(workspace(), usage(60, 0)).unwrap();
        assert_eq!(budgets.reserve(workspace(), usage(60, 0)).err(), Some(over(Budget::StoredRecords)));
        drop(first);
        budgets.reserve(workspace(), usage(60, 0)).unwrap().commit(usage(40, 0));
        assert_eq!(budgets.reserve(workspace(), usage(1, 0)).err(), Some(over(Budget::StoredRecords)));
        // Another workspace has a budget of its own.
        let other = WorkspaceId::new(uuid::Uuid::from_u128(0xb01));
        assert!(budgets.reserve(other, usage(1_000, 1_000)).is_ok());
    }

    #[test]
    fn concurrent_reservations_never_exceed_the_limit() {
        let budgets = budgets(MockUsageStore::new());
        let reserved: Vec<_> = (0..16).map(|_| budgets.reserve(workspace(), usage(150, 0))).collect();
        assert_eq!(reserved.iter().filter(|reserved| reserved.is_ok()).count(), 6);
    }

    #[test]
    fn a_file_needs_budget_for_one_byte() {
        for (used, outcome) in [
            (usage(999, 999), None),
            (usage(0, 1_000), Some("Storage for files is used up, the workspace has 1000 bytes")),
            (usage(1_000, 0), Some("Storage for records is used up, the workspace has 1000 bytes")),
        ] {
            let budgets = budgets(loaded(StoredUsage { usage: used, counted_at: Some(now()) }));
            let checked = block_on(budgets.check_files(workspace()));
            assert_eq!(checked.err().map(|error| error.to_string()).as_deref(), outcome);
        }
    }

    #[test]
    fn a_flush_adds_new_usage_and_reads_that_of_other_processes() {
        let mut store = loaded(stored(100, 0, Duration::ZERO));
        let added = eq(usage(200, 30));
        // Another process has added 500 meanwhile.
        store
            .expect_add_usage()
            .with(eq(workspace()), added)
            .times(1)
            .return_once(|_, _| Ok(stored(800, 30, Duration::ZERO)));
        let budgets = budgets(store);
        block_on(budgets.load(workspace())).unwrap();
        let running = budgets.reserve(workspace(), usage(100, 0)).unwrap();
        budgets.reserve(workspace(), usage(150, 30)).unwrap().commit(usage(50, 0));
        block_on(budgets.flush()).unwrap();
        // A second flush has nothing to add and does not access the store. The reservation still counts.
        block_on(budgets.flush()).unwrap();
        assert!(budgets.reserve(workspace(), usage(101, 0)).is_err());
        drop(running);
        assert!(budgets.reserve(workspace(), usage(200, 970)).is_ok());
    }

    #[test]
    fn a_failed_flush_is_retried() {
        let mut store = MockUsageStore::new();
        let mut failed = false;
        store.expect_add_usage().with(eq(workspace()), eq(usage(7, -3))).times(2).returning(move |_, _| {
            if std::mem::replace(&mut failed, true) {
                Ok(StoredUsage::default())
            } else {
                Err(StoreError::Unavailable("gone".into()))
            }
        });
        let budgets = budgets(store);
        budgets.record(workspace(), usage(7, -3));
        assert!(block_on(budgets.flush()).is_err());
        block_on(budgets.flush()).unwrap();
        block_on(budgets.flush()).unwrap();
    }

    #[test]
    fn a_workspace_over_its_budget_reads_its_total_again_at_the_next_flush() {
        let mut store = MockUsageStore::new();
        let mut totals = vec![stored(0, 0, Duration::ZERO), stored(1_000, 0, Duration::ZERO)];
        store.expect_load_usage().times(2).returning(move |_| Ok(totals.pop()));
        let budgets = budgets(store);
        block_on(budgets.load(workspace())).unwrap();
        assert!(budgets.reserve(workspace(), usage(1, 0)).is_err());
        block_on(budgets.flush()).unwrap();
        assert!(budgets.reserve(workspace(), usage(1, 0)).is_ok());
    }

    #[test]
    fn a_workspace_in_use_is_counted_once_a_day_and_after_a_rejection_once_an_hour() {
        let minute = Duration::minutes(1);
        for (counted, refused, recounted) in [
            (StoredUsage { counted_at: None, ..stored(1_000, 0, minute) }, false, 1),
            (stored(1_000, 0, Duration::DAY - minute), false, 0),
            (stored(1_000, 0, Duration::DAY), false, 1),
            (stored(1_000, 0, Duration::HOUR - minute), true, 0),
            (stored(1_000, 0, Duration::HOUR), true, 1),
        ] {
            let mut store = loaded(counted);
            store
                .expect_recount_usage()
                .with(eq(workspace()), eq(now()))
                .times(usize::try_from(recounted).unwrap())
                .returning(|_, _| Ok(stored(400, 0, Duration::ZERO)));
            let budgets = budgets(store);
            block_on(budgets.load(workspace())).unwrap();
            if refused {
                assert!(budgets.reserve(workspace(), usage(1, 0)).is_err());
            }
            assert_eq!(block_on(budgets.recount_due()).unwrap(), recounted, "{counted:?} {refused}");
            // A fresh count is not repeated, and its total applies.
            assert_eq!(block_on(budgets.recount_due()).unwrap(), 0);
            assert_eq!(budgets.reserve(workspace(), usage(600, 0)).is_ok(), recounted == 1);
        }
    }
}
