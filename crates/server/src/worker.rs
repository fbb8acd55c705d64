//! The worker: sends mail, queues the mail to team members when it is due, and delivers events to webhooks, until it is
//! stopped.

use std::time::Duration;

use roadmap_domain::error::ErrorChain;
use roadmap_domain::usecase::deliver_mail::DeliverMail;
use roadmap_domain::usecase::deliver_webhooks::DeliverWebhooks;
use roadmap_domain::usecase::tell_team::TellTeam;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::shutdown::ShutdownSignals;

/// How often a worker looks for workspaces with mail.
const MAIL_INTERVAL: Duration = Duration::from_secs(1);

/// How often a worker looks for events: a receiver is to get them within a second.
const EVENT_INTERVAL: Duration = Duration::from_millis(250);

/// How often a worker looks for team members to tell what customers have written.
const TEAM_INTERVAL: Duration = Duration::from_secs(10);

/// How often a worker looks for changelogs whose time of publication has come.
const CHANGELOG_INTERVAL: Duration = Duration::from_secs(2);

/// What a worker does.
pub(crate) struct Work {
    pub(crate) mail: Option<(DeliverMail, TellTeam)>,
    pub(crate) webhooks: Option<DeliverWebhooks>,
}

/// A running worker.
pub(crate) struct Worker {
    stop: watch::Sender<bool>,
    /// The tasks that send. They end when they are stopped.
    sending: JoinSet<()>,
    /// The tasks that only look for something to do.
    _looking: JoinSet<()>,
}

impl Worker {
    /// Starts the worker. A shutdown signal of the process also stops it at once: it sends nothing new, even while the
    /// process finishes other work.
    pub(crate) fn start(work: Work) -> anyhow::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let mut signals = ShutdownSignals::listen()?;
        let signalled = stop.clone();
        let (mut sending, mut looking) = (JoinSet::new(), JoinSet::new());
        looking.spawn(async move {
            signals.wait().await;
            signalled.send_replace(true);
        });
        if let Some((deliver, tell_team)) = work.mail {
            let stopped = stopped.clone();
            sending.spawn(async move {
                deliver.run(&|| *stopped.borrow(), || pause(stopped.clone(), MAIL_INTERVAL)).await;
            });
            looking.spawn(tell_team_repeatedly(tell_team));
        }
        if let Some(webhooks) = work.webhooks {
            let announcing = webhooks.clone();
            sending.spawn(async move {
                webhooks.run(&|| *stopped.borrow(), || pause(stopped.clone(), EVENT_INTERVAL)).await;
            });
            looking.spawn(announce_changelogs_repeatedly(announcing));
        }
        Ok(Self { stop, sending, _looking: looking })
    }

    /// Waits for a shutdown signal.
    pub(crate) async fn wait_for_signal(&self) {
        // `self` holds the sender, so that the channel cannot be closed.
        let _ = self.stop.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Stops the worker: it sends nothing new and waits at most `limit` for what is being sent. Returns whether all of it
    /// is finished.
    pub(crate) async fn stop(mut self, limit: Duration) -> bool {
        self.stop.send_replace(true);
        let all_sent = async { while self.sending.join_next().await.is_some() {} };
        tokio::time::timeout(limit, all_sent).await.is_ok()
    }
}

/// Waits, at most until the worker is stopped.
async fn pause(mut stopped: watch::Receiver<bool>, interval: Duration) {
    let _ = tokio::time::timeout(interval, stopped.wait_for(|stopped| *stopped)).await;
}

async fn tell_team_repeatedly(tell_team: TellTeam) {
    let mut ticks = tokio::time::interval(TEAM_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match tell_team.run().await {
            Ok(0) => {}
            Ok(queued) => tracing::info!(queued, "queued mails to team members"),
            Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to look for team members to tell"),
        }
    }
}

async fn announce_changelogs_repeatedly(webhooks: DeliverWebhooks) {
    let mut ticks = tokio::time::interval(CHANGELOG_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match webhooks.announce_changelogs().await {
            Ok(0) => {}
            Ok(announced) => tracing::info!(announced, "announced changelogs to webhooks"),
            Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to look for published changelogs"),
        }
    }
}
