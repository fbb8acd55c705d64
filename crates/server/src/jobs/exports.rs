//! Writes exports.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use async_trait::async_trait;
use bytes::Bytes;
use roadmap_domain::error::{ErrorChain, RoadmapError, StoreError};
use roadmap_domain::model::export::run::{ExportRun, ExportState};
use roadmap_domain::model::id::{ExportId, WorkspaceId};
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::ports::{Blobs, Chunks, SnapshotReader};
use roadmap_domain::usecase::export_jobs::{ClaimExport, EndExport, HoldExport};
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use tokio::runtime::Handle;
use tokio::time::MissedTickBehavior;
use uuid::Uuid;

use super::{HOLD_INTERVAL, Jobs, LocalFile};
use crate::export::{Export, Written};
use crate::import::load::Stop;

/// How often it is looked whether the writing is to stop.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// Writes an export, unless another process does it.
pub(super) async fn run(jobs: &Jobs, workspace: WorkspaceId, id: ExportId) -> anyhow::Result<()> {
    let (application, executor) = (&jobs.application, &jobs.application.executor);
    let holder = application.ids.next(application.clock.now());
    let Some(export) = executor.run_without_key(workspace, &ClaimExport { id, holder }).await? else { return Ok(()) };
    let Some((workspace, links)) = jobs.workspace(workspace).await? else { return Ok(()) };
    let writing = Writing {
        links,
        blobs: jobs.blobs.clone(),
        snapshots: application.snapshots.clone(),
        upload: jobs.upload(),
        folder: jobs.data_dir.clone(),
        created_at: application.clock.now().to_string(),
        stops: Stops { process: jobs.stop.clone(), export: Stop::default() },
        workspace,
        export,
    };
    let (workspace, stops) = (writing.workspace.id, writing.stops.clone());
    // Compressing keeps a thread busy.
    let mut written = tokio::task::spawn_blocking(move || Handle::current().block_on(writing.run()));
    let mut ticks = tokio::time::interval(HOLD_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let written = loop {
        tokio::select! {
            written = &mut written => break written.unwrap_or_else(|panic| Err(panic.into())),
            _ = ticks.tick() => {
                if let Err(lost) = hold(jobs, workspace, id, holder).await {
                    stops.export.request();
                    return Err(lost);
                }
            }
        }
    };
    if written.is_err() && jobs.stop.is_requested() {
        executor.run_without_key(workspace, &HoldExport { id, holder, goes_on: false }).await?;
        return Ok(());
    }
    let state = if written.is_ok() { ExportState::Done } else { ExportState::Failed };
    executor.run_without_key(workspace, &EndExport { id, holder, state }).await?;
    written
}

/// Says that the process works on an export. An error: another one does.
async fn hold(jobs: &Jobs, workspace: WorkspaceId, id: ExportId, holder: Uuid) -> anyhow::Result<()> {
    let hold = HoldExport { id, holder, goes_on: true };
    match jobs.application.executor.run_without_key(workspace, &hold).await {
        Ok(()) => Ok(()),
        Err(lost @ (RoadmapError::Conflict(_) | RoadmapError::NotFound(_))) => {
            Err(anyhow::Error::new(lost).context("another process has taken an export over"))
        }
        Err(error) => {
            // The database may be back before another process takes it over.
            tracing::warn!(error = %ErrorChain::new(&error), "failed to hold an export");
            Ok(())
        }
    }
}

/// Whether the process stops, or only this export.
#[derive(Clone)]
struct Stops {
    process: Stop,
    export: Stop,
}

impl Stops {
    fn are_requested(&self) -> bool {
        self.process.is_requested() || self.export.is_requested()
    }

    async fn wait(&self) {
        while !self.are_requested() {
            tokio::time::sleep(STOP_INTERVAL).await;
        }
    }
}

/// An export that is being written and stored.
struct Writing {
    workspace: Workspace,
    links: Links,
    export: ExportRun,
    blobs: Arc<dyn Blobs>,
    snapshots: Arc<dyn SnapshotReader>,
    upload: UploadAttachment,
    folder: PathBuf,
    created_at: String,
    stops: Stops,
}

impl Writing {
    async fn run(self) -> anyhow::Result<()> {
        let (workspace, job) = (self.workspace.id, self.export.id.uuid());
        // What a process has stored that died before it could say so.
        self.upload.delete_job_files(workspace, job).await?;
        let failed = || format!("no temporary file can be written in {}", self.folder.display());
        // It has no name, so that nothing is left of it when the process dies.
        let mut file = tempfile::tempfile_in(&self.folder).with_context(failed)?;
        let Written { missing, .. } = tokio::select! {
            written = self.write(&file) => written?,
            () = self.stops.wait() => anyhow::bail!("the export was told to stop"),
        };
        for file in missing {
            tracing::warn!(%workspace, %file, "the content of a file is not in the storage, so it is not in an export");
        }
        file.seek(SeekFrom::Start(0))?;
        let name = format!("{}-export.zip", self.workspace.subdomain);
        let mut content = Content { file: LocalFile(file), stops: self.stops.clone() };
        self.upload.store_job_file(workspace, (job, name.as_str()), u64::MAX, &mut content).await?;
        Ok(())
    }

    async fn write(&self, to: &File) -> anyhow::Result<Written> {
        let export = Export {
            workspace: &self.workspace,
            links: &self.links,
            blobs: &*self.blobs,
            options: self.export.options,
            created_at: self.created_at.clone(),
        };
        let snapshot = self.snapshots.snapshot(self.workspace.id).await?;
        export.write(snapshot, BufWriter::new(to), &self.folder).await
    }
}

/// The written archive.
struct Content {
    file: LocalFile,
    stops: Stops,
}

#[async_trait]
impl Chunks for Content {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        if self.stops.are_requested() {
            return Err(StoreError::Unavailable("the export was told to stop".into()));
        }
        self.file.next().await
    }
}
