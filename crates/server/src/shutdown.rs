//! Graceful shutdown: readiness ends first, and after a delay the server stops accepting requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Health;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether the shutdown has begun.
#[derive(Clone, Default)]
pub(crate) struct ShutdownState(Arc<AtomicBool>);

impl ShutdownState {
    /// Wraps a health check, which then fails during the shutdown.
    pub(crate) fn wrap_health(&self, store: Arc<dyn Health>) -> Arc<dyn Health> {
        Arc::new(ShutdownAwareHealth { store, shutdown: self.clone() })
    }

    fn begin(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

struct ShutdownAwareHealth {
    store: Arc<dyn Health>,
    shutdown: ShutdownState,
}

#[async_trait]
impl Health for ShutdownAwareHealth {
    async fn check(&self) -> Result<(), StoreError> {
        if self.shutdown.has_begun() {
            return Err(StoreError::Unavailable("the service is shutting down".into()));
        }
        self.store.check().await
    }
}

/// The signals that stop the process: SIGTERM, SIGINT, and SIGHUP, which a closed terminal sends. No signal reads the
/// settings again.
pub(crate) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl ShutdownSignals {
    /// Starts to receive the signals.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let failed = "signals cannot be received";
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context(failed)?,
            interrupt: signal(SignalKind::interrupt()).context(failed)?,
            hangup: signal(SignalKind::hangup()).context(failed)?,
        })
    }

    /// Waits for a signal.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }

    /// Waits for a signal, ends readiness at once, and waits for `delay`, so that load balancers notice. A second signal
    /// cuts the delay short.
    pub(crate) async fn begin_shutdown(mut self, shutdown: ShutdownState, delay: Duration) {
        self.wait().await;
        shutdown.begin();
        tracing::info!(delay = ?delay, "shutting down");
        let _ = tokio::time::timeout(delay, self.wait()).await;
    }
}
