//! Time, identities, chance, and the gate before the store.

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::StoreError;
use crate::model::id::WorkspaceId;
use crate::model::operation_key::OperationKey;
use crate::model::timestamp::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now, cut to the precision that is stored.
    fn now(&self) -> Timestamp;
}

/// Gives out identities.
pub trait IdGenerator: Send + Sync {
    /// A new identity whose order follows `at` (UUID version 7, RFC 9562 section 5.7), and within
    /// one moment the order of the calls.
    fn next(&self, at: Timestamp) -> Uuid;
}

/// Gives out secrets.
pub trait Random: Send + Sync {
    /// So many characters of base62 from a cryptographically secure source.
    fn base62(&self, characters: usize) -> String;
}

/// Knows whether the store can be worked with.
#[async_trait]
pub trait Health: Send + Sync {
    /// Asks the store something that costs nothing.
    async fn check(&self) -> Result<(), StoreError>;
}

/// Knows the connections of a store.
pub trait ConnectionPools: Send + Sync {
    /// How each of its pools stands. Those of one name are to be added up.
    fn pools(&self) -> Vec<PoolStatus>;
}

/// How a pool of connections stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolStatus {
    /// What the connections are for.
    pub name: &'static str,
    /// How many there may be.
    pub limit: usize,
    /// How many there are.
    pub open: usize,
    /// How many of them are in use.
    pub in_use: usize,
    /// How many calls wait for one.
    pub waiting: usize,
}

/// Waits before a unit of work runs again that the store undid.
#[async_trait]
pub trait RetryPause: Send + Sync {
    /// Waits for a short random time that grows with the number of attempts so far, from 1: units that
    /// disturbed each other do not meet again at once.
    async fn pause(&self, attempts: u32);
}

/// Held while a call with an operation key runs; dropping it lets the next one in.
pub type OperationLockGuard = Box<dyn Send + Sync>;

/// Lets one call per workspace and operation key through at a time, first come first served.
///
/// The store alone decides who runs and who replays. The gate stands before it so that a flood of
/// calls with one key waits here, in memory, and not on connections of the store.
#[async_trait]
pub trait OperationLocks: Send + Sync {
    /// Waits for the calls with this key that came before.
    ///
    /// Returns the pass, or `None` when the wait was longer than the operator allows.
    async fn acquire(&self, workspace: WorkspaceId, key: &OperationKey) -> Option<OperationLockGuard>;
}
