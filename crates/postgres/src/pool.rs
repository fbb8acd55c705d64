//! Connection pools with a limited wait.

use std::time::Duration;

use deadpool::managed::{self, Object, PoolError};
use roadmap_domain::error::StoreError;

use roadmap_domain::ports::PoolStatus;

use crate::PostgresOptions;
use crate::connection::Connector;

/// A pool of connections that are opened when they are needed, up to a maximum.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: managed::Pool<Connector>,
    wait: Duration,
    /// How long the client waits for the response to a statement.
    pub(crate) response_timeout: Duration,
    /// How long the server waits for a lock.
    pub(crate) lock_timeout: Duration,
}

impl Pool {
    pub(crate) fn new(connector: Connector, connections: usize, options: &PostgresOptions) -> Result<Self, StoreError> {
        let builder = managed::Pool::builder(connector).max_size(connections.max(1));
        Ok(Self {
            connections: builder.build().map_err(|error| StoreError::Fatal(error.into()))?,
            wait: options.connection_wait,
            response_timeout: options.response_timeout(),
            lock_timeout: options.lock_timeout(),
        })
    }

    /// Returns the status under this name.
    pub(crate) fn status(&self, name: &'static str) -> PoolStatus {
        let status = self.connections.status();
        let in_use = status.size.saturating_sub(status.available);
        PoolStatus { name, limit: status.max_size, open: status.size, in_use, waiting: status.waiting }
    }

    /// Returns a connection for exclusive use.
    pub(crate) async fn get(&self) -> Result<Object<Connector>, StoreError> {
        match tokio::time::timeout(self.wait, self.connections.get()).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(PoolError::Backend(error))) => Err(error.into()),
            Ok(Err(error)) => Err(StoreError::Fatal(error.into())),
            Err(elapsed) => Err(StoreError::Unavailable(elapsed.into())),
        }
    }
}
