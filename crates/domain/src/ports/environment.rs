//! Clock, ID generator, random source, health checks, observers of boards and of search documents, connection pools, retry
//! pauses and operation locks.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::operation_key::OperationKey;
use crate::model::timestamp::Timestamp;

/// The clock.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Clock: Send + Sync {
    /// Returns the current time, truncated to the stored precision.
    fn now(&self) -> Timestamp;
}

/// Generates IDs of records.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait IdGenerator: Send + Sync {
    /// Returns a new ID (UUID version 7, RFC 9562 section 5.7).
    ///
    /// IDs are ordered by `at`, and those with the same timestamp by the order of generation.
    fn next(&self, at: Timestamp) -> Uuid;
}

/// Generates secrets.
pub trait Random: Send + Sync {
    /// Returns `characters` base62 characters from a cryptographically secure source.
    fn base62(&self, characters: usize) -> String;
}

/// Checks whether the store is available.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Health: Send + Sync {
    /// Runs a cheap query on the store.
    async fn check(&self) -> Result<(), StoreError>;
}

/// Observes changes of lanes, tracks, settings and synonyms, as caches of them do.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ConfigurationObserver: Send + Sync {
    /// The lanes, tracks, settings or synonyms of a workspace may have changed.
    fn configuration_changed(&self, workspace: WorkspaceId);
}

/// Observes search documents that are outdated.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait IndexingObserver: Send + Sync {
    /// Feature requests of a workspace may have to be indexed again.
    fn documents_outdated(&self, workspace: WorkspaceId);
}

/// Reports the status of a store's connection pools.
pub trait ConnectionPools: Send + Sync {
    /// Returns the status of each pool. The numbers of pools with the same name are to be added up.
    fn pools(&self) -> Vec<PoolStatus>;
}

/// The status of a connection pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// The purpose of the connections.
    pub name: &'static str,
    /// Maximum number of connections.
    pub limit: usize,
    /// Number of open connections.
    pub open: usize,
    /// Number of connections in use.
    pub in_use: usize,
    /// Number of tasks that wait for a connection.
    pub waiting: usize,
}

/// Pauses before the retry of a unit of work.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait RetryPause: Send + Sync {
    /// Waits for a short random time that grows with `attempts`, the number of attempts so far, counted from 1.
    ///
    /// The randomness keeps conflicting units of work from conflicting again.
    async fn pause(&self, attempts: u32);
}

/// Holds an operation lock. Dropping it releases the lock.
pub type OperationLockGuard = Box<dyn Send + Sync>;

/// In-memory locks, one per workspace and operation key, acquired in the order of arrival.
///
/// The store decides which request runs and which one replays. The locks only make requests with the same key wait in
/// memory instead of occupying connections of the store.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait OperationLocks: Send + Sync {
    /// Waits until all earlier requests with this key have released the lock, then acquires it.
    ///
    /// Returns `None` when the wait exceeds the configured timeout.
    async fn acquire(&self, workspace: WorkspaceId, key: &OperationKey) -> Option<OperationLockGuard>;
}
