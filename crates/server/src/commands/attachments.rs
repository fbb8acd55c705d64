//! `roadmap attachments`

use clap::Subcommand;
use serde::Serialize;

use super::output::{Form, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum AttachmentsCommand {
    /// Remove what uploads have left behind: files without a record and unfinished ones, older than a day
    Sweep {
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Serialize)]
struct Shown {
    storage: String,
    files_removed: u64,
    unfinished_removed: u64,
}

impl Row for Shown {
    const COLUMNS: &[&str] = &["storage", "files_removed", "unfinished_removed"];
}

impl AttachmentsCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let Self::Sweep { form } = self;
        let swept = application.sweep_attachments(Application::blobs(settings)?).run().await?;
        form.one(&Shown {
            storage: settings.storage.to_string(),
            files_removed: swept.blobs,
            unfinished_removed: swept.unfinished,
        })
    }
}
