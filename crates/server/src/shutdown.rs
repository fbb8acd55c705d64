//! How the service stops: first it is no longer ready, a little later it takes no calls any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use roadmap_domain::error::StoreError;
use roadmap_domain::ports::Health;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Whether the process was told to stop.
#[derive(Clone, Default)]
pub(crate) struct ShutdownState(Arc<AtomicBool>);

impl ShutdownState {
    /// Health that ends when the process is told to stop, whatever the store says.
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
            return Err(StoreError::Unavailable("the service was told to stop".into()));
        }
        self.store.check().await
    }
}

/// The signals that end the process.
pub(crate) struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignals {
    /// From now on they are received here.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let failed = "signals cannot be received";
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context(failed)?,
            interrupt: signal(SignalKind::interrupt()).context(failed)?,
        })
    }

    /// Waits for one.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// Waits for one, ends readiness at once, and lets `delay` go by, in which load balancers notice. A
    /// second signal ends the delay.
    pub(crate) async fn begin_shutdown(mut self, shutdown: ShutdownState, delay: Duration) {
        self.wait().await;
        shutdown.begin();
        tracing::info!(delay = ?delay, "told to stop");
        let _ = tokio::time::timeout(delay, self.wait()).await;
    }
}
