//! `roadmap attachments`

use clap::Subcommand;
use serde::Serialize;

use super::output::{OutputFormat, Row};
use crate::settings::Settings;
use crate::wiring::Application;

#[derive(Debug, Subcommand)]
pub(crate) enum AttachmentsCommand {
    /// Remove unused files (the setting unused_uploads), and orphaned files and unfinished uploads that are older than a
    /// day
    Sweep {
        #[command(flatten)]
        format: OutputFormat,
    },
}

#[derive(Serialize)]
struct OutputRow {
    storage: String,
    orphaned_removed: u64,
    unfinished_removed: u64,
    unused_removed: u64,
}

impl Row for OutputRow {
    const COLUMNS: &[&str] = &["storage", "orphaned_removed", "unfinished_removed", "unused_removed"];
}

impl AttachmentsCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let Self::Sweep { format } = self;
        let swept = application.sweep_attachments(settings, Application::open_blobs(settings)?).run().await;
        // Even after a failed sweep, the space that it freed is recorded.
        application.budgets.flush().await?;
        let swept = swept?;
        format.print_one(&OutputRow {
            storage: settings.storage.to_string(),
            orphaned_removed: swept.orphaned_blobs,
            unfinished_removed: swept.unfinished_uploads,
            unused_removed: swept.unused_attachments,
        })
    }
}
