//! The connections that read.

use std::time::Duration;

use deadpool::unmanaged::Pool;
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use roadmap_domain::error::StoreError;

use crate::connection::Connector;
use crate::errors::SqlError;

/// A fixed number of connections that only read.
#[derive(Clone)]
pub(crate) struct Readers {
    pool: Pool<SqliteConnection>,
    wait: Duration,
}

impl Readers {
    pub(crate) fn open(connector: &Connector, count: usize, wait: Duration) -> Result<Self, StoreError> {
        let connections = (0..count.max(1)).map(|_| connector.reading()).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { pool: Pool::from(connections), wait })
    }

    /// Runs `work` on a connection, off the async threads. Work that nobody waits for any more
    /// runs to its end and gives its connection back.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let mut connection = match tokio::time::timeout(self.wait, self.pool.get()).await {
            Ok(connection) => connection.map_err(|error| StoreError::Fatal(error.into()))?,
            Err(elapsed) => return Err(StoreError::Unavailable(elapsed.into())),
        };
        let outcome = tokio::task::spawn_blocking(move || work(&mut connection)).await;
        Ok(outcome.map_err(|panic| StoreError::Fatal(panic.into()))??)
    }

    /// As [`Self::run`], with all statements of `work` in one snapshot.
    pub(crate) async fn run_in_snapshot<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(move |connection| {
            connection.batch_execute("BEGIN")?;
            let outcome = work(connection);
            // Nothing was written: how the transaction ends makes no difference to the data.
            connection.batch_execute("ROLLBACK")?;
            outcome
        })
        .await
    }
}
