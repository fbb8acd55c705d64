//! `roadmap export`

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use roadmap_domain::model::export::ExportOptions;
use roadmap_domain::usecase::record_export::RecordExport;
use serde::Serialize;

use super::WorkspaceArgument;
use super::output::{OutputFormat, print, print_json};
use crate::export::archive::Entry;
use crate::export::{Export, Written};
use crate::ownership;
use crate::settings::Settings;
use crate::shutdown::ShutdownSignals;
use crate::wiring::Application;

#[derive(Debug, clap::Args)]
pub(crate) struct ExportCommand {
    #[command(flatten)]
    target: WorkspaceArgument,
    /// Zip to write
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Leave out who customers and members are, and private notes. All numbers stay
    #[arg(long)]
    without_people: bool,
    /// Leave out private notes
    #[arg(long)]
    without_notes: bool,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// A written export.
#[derive(Serialize)]
struct OutputExport {
    file: String,
    bytes: u64,
    entries: Vec<Entry>,
}

impl ExportCommand {
    pub(crate) async fn run(self, settings: &Settings) -> anyhow::Result<()> {
        let application = Application::open(settings).await?;
        let mut signals = ShutdownSignals::listen()?;
        let export = async {
            let failed = format!("{} could not be written", self.to.display());
            self.write(settings, &application).await.context(failed)
        };
        // Whatever is written of it goes with it.
        let Written { entries, missing } = tokio::select! {
            written = export => written?,
            () = signals.wait() => bail!("the export was told to stop"),
        };
        for id in missing {
            eprintln!("warning: the content of the file {id} is not in the storage, so it is not in the export");
        }
        let file = self.to.display().to_string();
        let bytes = std::fs::metadata(&self.to)?.len();
        if self.format.is_json() {
            return print_json(&OutputExport { file, bytes, entries });
        }
        print(&format!("{file}: {bytes} bytes"))?;
        // Files have ids for names, which say nothing.
        let files = entries.iter().filter(|entry| entry.name.starts_with("files/")).count();
        for entry in entries.iter().filter(|entry| entry.name.ends_with(".ndjson")) {
            print(&format!("{:>10} {}", entry.records, entry.name.trim_end_matches(".ndjson").replace('_', " ")))?;
        }
        print(&format!("{files:>10} files"))
    }

    /// Writes the archive under a temporary name, and renames it.
    async fn write(&self, settings: &Settings, application: &Application) -> anyhow::Result<Written> {
        ensure!(!self.to.is_dir(), "it is a folder; name the file to write in it");
        ensure!(self.force || !self.to.exists(), "the file exists already; --force replaces it");
        let workspace = self.target.find(application).await?;
        let links = super::links(settings, &workspace)?;
        let blobs = Application::open_blobs(settings)?;
        let folder = match self.to.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let file = tempfile::Builder::new().prefix(".roadmap-export-").tempfile_in(folder)?;
        let options = ExportOptions { without_people: self.without_people, without_notes: self.without_notes };
        let created_at = application.clock.now().to_string();
        let export = Export { workspace: &workspace, links: &links, blobs: &*blobs, options, created_at };
        let snapshot = application.snapshots.snapshot(workspace.id).await?;
        let written = export.write(snapshot, BufWriter::new(file.as_file()), folder).await?;
        file.as_file().sync_all()?;
        application.executor.run_without_key(workspace.id, &RecordExport { options }).await?;
        if self.force {
            drop(file.persist(&self.to)?);
        } else {
            drop(file.persist_noclobber(&self.to).context("the file was created meanwhile; --force replaces it")?);
        }
        ownership::adopt(&self.to);
        Ok(written)
    }
}
