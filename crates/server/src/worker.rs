//! The worker: sends mail, and queues the mail to team members when it is due, until it is stopped.

use std::time::Duration;

use roadmap_domain::error::ErrorChain;
use roadmap_domain::usecase::deliver_mail::DeliverMail;
use roadmap_domain::usecase::tell_team::TellTeam;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::shutdown::ShutdownSignals;

/// How often a worker looks for workspaces with mail.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// How often a worker looks for team members to tell what customers have written.
const TEAM_INTERVAL: Duration = Duration::from_secs(10);

/// A running worker.
pub(crate) struct Worker {
    stop: watch::Sender<bool>,
    running: JoinHandle<()>,
}

impl Worker {
    /// Starts the worker. A shutdown signal of the process also stops it at once: it starts no more mails, even while
    /// the process finishes other work.
    pub(crate) fn start(deliver: DeliverMail, tell_team: TellTeam) -> anyhow::Result<Self> {
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
                () = tell_team_repeatedly(tell_team) => {}
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

async fn tell_team_repeatedly(tell_team: TellTeam) {
    let mut ticks = tokio::time::interval(TEAM_INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match tell_team.run().await {
            Ok(0) => {}
            Ok(queued) => tracing::info!(queued, "queued mails to team members"),
            Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to look for team members to tell"),
        }
    }
}
