//! Tasks that outlive their request.
//!
//! The web server drops a handler when its client resets the connection. That must not interrupt a write. Writes
//! therefore run on the main runtime, where only the end of the process can stop them. The shutdown waits for them.

use std::future::Future;
use std::time::Duration;

use roadmap_domain::trace;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use crate::access_log::{in_log_span, log_span};
use crate::error::HttpError;

/// Runs tasks independently of the connections that start them.
#[derive(Clone)]
pub struct DetachedTasks {
    runtime: Handle,
    tracker: TaskTracker,
}

impl DetachedTasks {
    /// Runs tasks on this runtime.
    #[must_use]
    pub fn new(runtime: Handle) -> Self {
        Self { runtime, tracker: TaskTracker::new() }
    }

    /// Runs `work` to its end, even if the returned future is dropped. It stays a part of the request in the log and in
    /// traces.
    ///
    /// # Errors
    /// [`HttpError::TaskPanicked`] when it panicked.
    pub async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Result<T, HttpError> {
        let work = in_log_span(log_span(), work.instrument(trace::current_span()));
        let work = self.tracker.spawn_on(work, &self.runtime);
        work.await.map_err(HttpError::TaskPanicked)
    }

    /// Runs `work` to its end in the background. Traces do not show it, because nothing waits for it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tracker.spawn_on(in_log_span(log_span(), work), &self.runtime);
    }

    /// Returns the number of running tasks.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.tracker.len()
    }

    /// Waits up to `limit` for all tasks. Returns whether all of them have finished.
    pub async fn drain(&self, limit: Duration) -> bool {
        self.tracker.close();
        tokio::time::timeout(limit, self.tracker.wait()).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn drain_reports_unfinished_tasks() {
        let detached = DetachedTasks::new(Handle::current());
        detached.spawn(tokio::time::sleep(Duration::from_secs(10)));
        assert_eq!(detached.in_flight(), 1);
        assert!(!detached.drain(Duration::from_secs(1)).await);
        assert!(detached.drain(Duration::from_secs(20)).await);
        assert_eq!(detached.in_flight(), 0);
    }
}
