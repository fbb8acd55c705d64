//! `roadmap worker`

use std::sync::Arc;

use super::output::print;
use crate::secret;
use crate::settings::Settings;
use crate::wiring::Application;
use crate::worker::{Work, Worker};

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerCommand {}

impl WorkerCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        secret::refuse_guessable(settings)?;
        let application = Application::open_service(settings).await?;
        let references = Arc::new(secret::references(settings)?);
        let base_url = settings.service_url()?;
        let sealer = Arc::new(secret::sealer(settings)?);
        let webhooks = application.deliver_webhooks(settings, &base_url, references.clone(), sealer)?;
        let mail = application.deliver_mail(settings, &base_url, references)?;
        let work = Work { mail: Some((mail, application.tell_team())), webhooks: Some(webhooks) };
        let worker = Worker::start(work)?;
        print(&format!("Sending mail by {}, and events to webhooks", settings.mail))?;
        worker.wait_for_signal().await;
        if !worker.stop(settings.shutdown_wait).await {
            tracing::warn!("stopped before all mail and events in progress were sent");
        }
        Ok(())
    }
}
