//! The imports and exports that somebody has asked for on a page or over the API. Each process of the service does one of
//! each at a time, of any workspace. What a process leaves that stops or dies, another one goes on with, or this one after its
//! next start.

mod exports;
mod imports;

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use roadmap_domain::error::{ErrorChain, StoreError};
use roadmap_domain::model::base_url::BaseUrl;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::import::upload::{JobId, OpenJob};
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::signed_reference::ReferenceSigner;
use roadmap_domain::ports::{Blobs, Chunks};
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use crate::import::load::Stop;
use crate::report;
use crate::wiring::Application;

/// How often a process looks for work.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often a process says that it works on something while nothing else says so.
const HOLD_INTERVAL: Duration = Duration::from_secs(5);

/// How many bytes of a file are stored at a time.
const PIECE: u64 = 256 * 1024;

/// What the work needs.
pub(crate) struct Jobs {
    pub(crate) application: Arc<Application>,
    pub(crate) base_url: BaseUrl,
    pub(crate) references: Arc<ReferenceSigner>,
    pub(crate) blobs: Arc<dyn Blobs>,
    /// The folder below which work is prepared.
    pub(crate) data_dir: PathBuf,
    /// Requested when the process stops.
    pub(crate) stop: Stop,
}

/// The tasks that look for work.
pub(crate) struct RunningJobs {
    tasks: JoinSet<()>,
    stop: Stop,
}

/// Which work a task does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Imports,
    Exports,
}

impl Jobs {
    /// Begins to look for work.
    pub(crate) fn start(self) -> RunningJobs {
        let (jobs, mut tasks) = (Arc::new(self), JoinSet::new());
        for kind in [Kind::Imports, Kind::Exports] {
            let jobs = jobs.clone();
            tasks.spawn(async move { jobs.work(kind).await });
        }
        RunningJobs { tasks, stop: jobs.stop.clone() }
    }

    async fn work(&self, kind: Kind) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.stop.is_requested() {
            ticks.tick().await;
            let open = match self.application.maintenance.open_jobs().await {
                Ok(open) => open,
                Err(error) => {
                    tracing::warn!(error = %ErrorChain::new(&error), "failed to look for imports and exports to do");
                    continue;
                }
            };
            for OpenJob { workspace, job } in open {
                let done = match (kind, job) {
                    _ if self.stop.is_requested() => break,
                    (Kind::Imports, JobId::Import(id)) => imports::run(self, workspace, id).await,
                    (Kind::Exports, JobId::Export(id)) => exports::run(self, workspace, id).await,
                    _ => continue,
                };
                if let Err(error) = done {
                    tracing::warn!(%workspace, error = %report::error_line(&error), "an import or an export failed");
                }
            }
        }
    }

    /// Stores files.
    fn upload(&self) -> UploadAttachment {
        self.application.upload(self.blobs.clone())
    }

    /// Returns a workspace with its links. `None`: there is none any more.
    async fn workspace(&self, id: WorkspaceId) -> anyhow::Result<Option<(Workspace, Links)>> {
        let workspaces = self.application.directory.workspaces().await?;
        let workspace = workspaces.into_iter().find(|workspace| workspace.id == id);
        Ok(workspace.map(|workspace| {
            let links = Links::new(&self.base_url, &workspace.subdomain, workspace.id, self.references.clone());
            (workspace, links)
        }))
    }
}

/// A file of this machine, as it is stored.
struct LocalFile(File);

#[async_trait]
impl Chunks for LocalFile {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        let mut piece = Vec::new();
        let read = (&self.0).take(PIECE).read_to_end(&mut piece);
        read.map_err(|error| StoreError::Unavailable(error.into()))?;
        Ok((!piece.is_empty()).then(|| piece.into()))
    }
}

impl RunningJobs {
    /// Stops at the next batch. Returns whether everything was left in time.
    pub(crate) async fn stop(mut self, limit: Duration) -> bool {
        self.stop.request();
        let all = async { while self.tasks.join_next().await.is_some() {} };
        tokio::time::timeout(limit, all).await.is_ok()
    }
}
