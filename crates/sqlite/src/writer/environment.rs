//! The writer's dependencies: connections, threads and time.
//!
//! They are behind a trait, so that the model test (`model.rs`) can run the writer under its own scheduler, with a
//! database that fails on demand.

use std::future::Future;
use std::time::Duration;

use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use roadmap_domain::error::StoreError;
use roadmap_domain::trace;
use tokio::runtime::Handle;

use crate::connection::Connector;
use crate::errors::SqlError;

/// Provides connections, threads and time to a writer.
pub(crate) trait Environment: Clone + Send + Sync + 'static {
    type Connection: SimpleConnection + Send + 'static;

    /// Opens a connection that may write.
    fn connect(&self) -> Result<Self::Connection, SqlError>;

    /// Starts `job` on a blocking thread and returns its result. The job runs to its end even if the future is dropped.
    fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send;

    /// Starts `job` on a blocking thread.
    fn spawn_blocking(&self, job: impl FnOnce() + Send + 'static);

    /// Starts a detached task.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Waits for this duration.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send;

    /// Returns the fault that the model test must find.
    #[cfg(test)]
    fn planted_fault(&self) -> Option<PlantedFault> {
        None
    }
}

/// Faults of the writer that the model test must find.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlantedFault {
    /// Units are notified before the `COMMIT`.
    NotifyBeforeCommit,
    /// A dropped unit is not rolled back.
    SkipRollback,
    /// A dropped unit is rolled back on the thread that drops it.
    RollBackOnAsyncThread,
    /// An ended unit is not committed if its caller is cancelled.
    SkipPendingCommit,
}

impl Environment for Connector {
    type Connection = SqliteConnection;

    fn connect(&self) -> Result<SqliteConnection, SqlError> {
        self.open_writer()
    }

    fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = Result<T, StoreError>> + Send {
        let span = trace::current_span();
        let running = tokio::task::spawn_blocking(move || span.in_scope(job));
        async move { running.await.map_err(|panic| StoreError::Fatal(panic.into())) }
    }

    fn spawn_blocking(&self, job: impl FnOnce() + Send + 'static) {
        match Handle::try_current() {
            Ok(runtime) => {
                let span = trace::current_span();
                drop(runtime.spawn_blocking(move || span.in_scope(job)));
            }
            // Outside of a runtime there is no async thread that could be blocked.
            Err(_) => job(),
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(task);
        }
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }
}
