//! `roadmap worker`

use std::sync::Arc;

use super::output::print;
use crate::secret;
use crate::settings::Settings;
use crate::wiring::Application;
use crate::worker::Worker;

#[derive(Debug, clap::Args)]
pub(crate) struct WorkerCommand {}

impl WorkerCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        secret::refuse_guessable(settings)?;
        let application = Application::open_service(settings).await?;
        let references = Arc::new(secret::references(settings)?);
        let deliver = application.deliver_mail(settings, &settings.service_url()?, references)?;
        let worker = Worker::start(deliver, application.tell_team())?;
        print(&format!("Sending mail by {}", settings.mail))?;
        worker.wait_for_signal().await;
        if !worker.stop(settings.shutdown_wait).await {
            tracing::warn!("stopped before all mail in progress was sent");
        }
        Ok(())
    }
}
