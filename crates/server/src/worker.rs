//! The worker: sends mail until it is stopped.

use std::time::Duration;

use roadmap_domain::usecase::deliver_mail::DeliverMail;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::shutdown::ShutdownSignals;

/// How often a worker looks for workspaces with mail.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A running worker.
pub(crate) struct Worker {
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Worker {
    /// Starts the worker. A shutdown signal of the process also stops it at once: it starts no more mails, even while
    /// the process finishes other work.
    pub(crate) fn start(deliver: DeliverMail) -> anyhow::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let mut signals = ShutdownSignals::listen()?;
        let signalled = stop.clone();
        let running = tokio::spawn(async move {
            let signal = async {
                signals.wait().await;
                signalled.send_replace(true);
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = deliver_until_stopped(deliver, stopped) => {}
                () = signal => {}
            }
        });
        Ok(Self { stop, running })
    }

    /// Waits for a shutdown signal.
    pub(crate) async fn wait_for_signal(&self) {
        // `self` holds the sender, so that the channel cannot be closed.
        let _ = self.stop.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Stops the worker: it starts no more mails and waits at most `limit` for those being sent. Returns whether all of
    /// them are finished.
    pub(crate) async fn stop(mut self, limit: Duration) -> bool {
        self.stop.send_replace(true);
        let done = tokio::time::timeout(limit, &mut self.running).await.is_ok();
        self.running.abort();
        done
    }
}

async fn deliver_until_stopped(deliver: DeliverMail, stopped: watch::Receiver<bool>) {
    let stop = || *stopped.borrow();
    let pause = || {
        let mut stopped = stopped.clone();
        async move {
            let _ = tokio::time::timeout(POLL_INTERVAL, stopped.wait_for(|stopped| *stopped)).await;
        }
    };
    deliver.run(&stop, pause).await;
}
