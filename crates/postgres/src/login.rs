//! Statements under the login itself, not under the role of the service.

use std::time::Duration;

use diesel::result::Error as DieselError;
use diesel_async::AsyncPgConnection;
use roadmap_domain::error::StoreError;

use crate::PostgresOptions;
use crate::connection::Connector;
use crate::errors::store_error;

/// Runs a query under the login itself. It waits for no migration, and no longer than the service's time limits.
pub(crate) async fn inspect<T>(
    options: &PostgresOptions,
    query: impl AsyncFnOnce(&mut AsyncPgConnection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let connector = Connector::for_inspection(options)?;
    // At most three statements. The server cancels them earlier, unless it does not respond.
    let limit = options.connection_wait + options.response_timeout() * 2;
    let queried = async { query(&mut connector.connect().await?).await };
    within(limit, queried).await?
}

/// Waits for a response of the server no longer than `limit`.
///
/// # Errors
/// The server has not responded.
pub(crate) async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, StoreError> {
    let unresponsive = || format!("the database server did not respond within {limit:?}");
    tokio::time::timeout(limit, work).await.map_err(|_| StoreError::Unavailable(unresponsive().into()))
}

/// Maps the failure of a statement.
pub(crate) fn map_error(error: DieselError) -> StoreError {
    // These statements take long only when they wait for a lock, and then the message indicates that.
    store_error(error, Duration::ZERO, Duration::MAX)
}
