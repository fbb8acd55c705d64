//! Serializes requests with the same operation key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::operation_key::OperationKey;
use roadmap_domain::ports::{OperationLockGuard, OperationLocks};
use tokio::sync::OwnedMutexGuard;

type KeyLock = Arc<tokio::sync::Mutex<()>>;
type KeyLocks = Arc<Mutex<HashMap<(WorkspaceId, OperationKey), KeyLock>>>;

/// Operation locks of one process: a mutex for each key in use.
pub(crate) struct InMemoryOperationLocks {
    locks: KeyLocks,
    wait: Duration,
}

impl InMemoryOperationLocks {
    /// Creates locks that are waited for at most `wait`.
    pub(crate) fn new(wait: Duration) -> Self {
        Self { locks: KeyLocks::default(), wait }
    }
}

#[async_trait]
impl OperationLocks for InMemoryOperationLocks {
    async fn acquire(&self, workspace: WorkspaceId, key: &OperationKey) -> Option<OperationLockGuard> {
        let name = (workspace, key.clone());
        let lock = Arc::clone(lock_map(&self.locks).entry(name.clone()).or_default());
        let mut entry = KeyLockGuard { locks: Arc::clone(&self.locks), name, guard: None };
        entry.guard = Some(tokio::time::timeout(self.wait, lock.lock_owned()).await.ok()?);
        Some(Box::new(entry))
    }
}

fn lock_map(locks: &KeyLocks) -> MutexGuard<'_, HashMap<(WorkspaceId, OperationKey), KeyLock>> {
    // No code panics while it holds this lock.
    locks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reference to a key's lock, waiting at first and holding it later. Dropping the last reference removes the lock.
struct KeyLockGuard {
    locks: KeyLocks,
    name: (WorkspaceId, OperationKey),
    guard: Option<OwnedMutexGuard<()>>,
}

impl Drop for KeyLockGuard {
    fn drop(&mut self) {
        let mut locks = lock_map(&self.locks);
        self.guard = None;
        if locks.get(&self.name).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use uuid::Uuid;

    fn workspace(number: u128) -> WorkspaceId {
        WorkspaceId::new(Uuid::from_u128(number))
    }

    fn key(raw: &str) -> OperationKey {
        OperationKey::parse(raw).unwrap().unwrap()
    }

    fn locks() -> Arc<InMemoryOperationLocks> {
        Arc::new(InMemoryOperationLocks::new(Duration::from_secs(30)))
    }

    /// Contract 4.10.
    #[tokio::test(start_paused = true)]
    async fn one_at_a_time_per_workspace_and_key() {
        let locks = locks();
        let first = locks.acquire(workspace(1), &key("k")).await.unwrap();
        assert!(locks.acquire(workspace(2), &key("k")).await.is_some());
        assert!(locks.acquire(workspace(1), &key("other")).await.is_some());
        let (inside, waiting) = (Arc::new(AtomicU32::new(0)), Arc::clone(&locks));
        let entered = Arc::clone(&inside);
        let second = tokio::spawn(async move {
            let _guard = waiting.acquire(workspace(1), &key("k")).await.unwrap();
            entered.fetch_add(1, Ordering::SeqCst);
        });
        tokio::task::yield_now().await;
        assert_eq!(inside.load(Ordering::SeqCst), 0);
        drop(first);
        second.await.unwrap();
        assert_eq!(inside.load(Ordering::SeqCst), 1);
    }

    /// Decision 5.
    #[tokio::test(start_paused = true)]
    async fn waiting_for_a_key_times_out() {
        let locks = locks();
        let _first = locks.acquire(workspace(1), &key("k")).await.unwrap();
        let start = tokio::time::Instant::now();
        assert!(locks.acquire(workspace(1), &key("k")).await.is_none());
        assert_eq!(start.elapsed(), Duration::from_secs(30));
    }

    #[tokio::test(start_paused = true)]
    async fn locks_of_unused_keys_are_removed() {
        let locks = locks();
        let first = locks.acquire(workspace(1), &key("k")).await.unwrap();
        assert!(locks.acquire(workspace(1), &key("k")).await.is_none());
        let waiting = Arc::clone(&locks);
        let abandoned = tokio::spawn(async move { waiting.acquire(workspace(1), &key("k")).await.is_some() });
        tokio::task::yield_now().await;
        abandoned.abort();
        assert!(abandoned.await.is_err());
        assert_eq!(lock_map(&locks.locks).len(), 1);
        drop(first);
        assert_eq!(lock_map(&locks.locks).len(), 0);
    }
}
