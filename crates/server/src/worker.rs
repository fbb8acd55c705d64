//! The worker: sends mail until it is told to stop.

use std::time::Duration;

use roadmap_domain::usecase::deliver_mail::DeliverMail;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How often an idle worker looks for mail, and how long one waits after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// A worker that runs.
pub(crate) struct Worker {
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Worker {
    /// Starts to work.
    pub(crate) fn start(deliver: DeliverMail) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, running: tokio::spawn(work(deliver, stopped)) }
    }

    /// Begins no mail any more, and waits for those under way, at most so long. Returns whether all
    /// of them are done.
    pub(crate) async fn stop(mut self, limit: Duration) -> bool {
        self.stop.send_replace(true);
        let done = tokio::time::timeout(limit, &mut self.running).await.is_ok();
        self.running.abort();
        done
    }
}

async fn work(deliver: DeliverMail, mut stopped: watch::Receiver<bool>) {
    let asked_to_stop = stopped.clone();
    let stop = || *asked_to_stop.borrow();
    while !stop() {
        match deliver.round(&stop).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "mail could not be looked for or settled"),
        }
        let _ = tokio::time::timeout(PAUSE, stopped.changed()).await;
    }
}
