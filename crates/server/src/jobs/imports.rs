//! Does imports.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use roadmap_domain::error::{Conflict, ErrorChain, RoadmapError};
use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::import::run::{Import, ImportState, Progress};
use roadmap_domain::model::import::upload::{ImportJob, Upload};
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::import::jobs::{ClaimImport, EndReading, HoldImport, RequestImport, SaveUndoReport};
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use roadmap_import::archive::{self, Limits};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::{HOLD_INTERVAL, Jobs, LocalFile};
use crate::import::folders;
use crate::import::inspect::{fetch, reading};
use crate::import::load::{Target, is_taken_over};
use crate::import::reading::{Known, read};
use crate::import::report::Report;
use crate::import::source::Source;
use crate::import::staging::{LoadOptions, Staged};
use crate::import::undo::undo;
use crate::ownership;
use crate::report::error_line;

/// Most rejected records of a run.
const MAX_REJECTED: u64 = 1_000;

/// Does an import, unless another process does it.
pub(super) async fn run(jobs: &Jobs, workspace: WorkspaceId, id: ImportId) -> anyhow::Result<()> {
    let application = &*jobs.application;
    let imports = application.reader.imports(workspace).await?;
    let is_free = |import: &Import| import.id == id && !import.is_at_work(application.clock.now());
    let Some(import) = imports.into_iter().find(is_free) else { return Ok(()) };
    let Some((workspace, links)) = jobs.workspace(workspace).await? else { return Ok(()) };
    if import.job == Some(ImportJob::Undo) {
        return undo_import(jobs, &workspace, &links, import).await;
    }
    let holder = application.ids.next(application.clock.now());
    let claim = ClaimImport { id, holder };
    let Some(import) = application.executor.run_without_key(workspace.id, &claim).await? else { return Ok(()) };
    let Some(upload) = import.upload.clone() else {
        let why = "it has no file that could be imported";
        return end_reading(jobs, &workspace, &import, &anyhow::anyhow!(why)).await;
    };
    let work = Work { jobs, workspace: &workspace, links: &links, import: &import, upload: &upload };
    let _holding = hold(jobs, workspace.id, HoldImport { id, holder });
    let staged = work.read().await;
    match staged {
        Ok((staged, folder)) if import.job == Some(ImportJob::Try) => match work.try_out(&staged, &folder).await {
            Ok(()) => Ok(()),
            Err(error) => end_reading(jobs, &workspace, &import, &error).await,
        },
        Ok((staged, folder)) => work.load(&staged, &folder).await,
        Err(error) => end_reading(jobs, &workspace, &import, &error).await,
    }
}

/// Says from time to time that this process works on a run, until the result is dropped. It has a task of its own, because
/// reading keeps a thread busy, and a dry run writes nothing that would say so.
fn hold(jobs: &Jobs, workspace: WorkspaceId, hold: HoldImport) -> JoinSet<()> {
    let executor = jobs.application.executor.clone();
    let mut task = JoinSet::new();
    task.spawn(async move {
        let mut ticks = tokio::time::interval(HOLD_INTERVAL);
        loop {
            ticks.tick().await;
            match executor.run_without_key(workspace, &hold).await {
                Ok(()) => {}
                // It has ended, or another process has it: the next batch finds that out, too.
                Err(RoadmapError::Conflict(_)) => break,
                Err(error) => tracing::warn!(error = %ErrorChain::new(&error), "failed to hold an import"),
            }
        }
    });
    task
}

/// Ends a run whose file cannot be read.
async fn end_reading(jobs: &Jobs, workspace: &Workspace, import: &Import, error: &anyhow::Error) -> anyhow::Result<()> {
    let state = match import.job {
        Some(ImportJob::Try) => ImportState::Uploaded,
        // Something of it is in.
        _ if import.progress != Progress::default() => ImportState::Stopped,
        _ => ImportState::Failed,
    };
    let is_dry = import.job == Some(ImportJob::Try);
    let report = Report::of_failure(import, is_dry, error_line(error), jobs.application.clock.now());
    let end = EndReading { id: import.id, holder: import.holder, state, report: serde_json::to_string(&report)? };
    jobs.application.executor.run_without_key(workspace.id, &end).await?;
    Ok(())
}

/// Deletes what a run has made.
async fn undo_import(jobs: &Jobs, workspace: &Workspace, links: &Links, import: Import) -> anyhow::Result<()> {
    let application = &*jobs.application;
    let undone = match undo(application, workspace.id, links, import.id).await {
        // Another process was faster.
        Err(error) if matches!(error.downcast_ref(), Some(RoadmapError::Conflict(Conflict::ImportRunning))) => {
            return Ok(());
        }
        undone => undone?,
    };
    if let Some(upload) = &import.upload {
        jobs.upload().delete_job_files(workspace.id, upload.file.uuid()).await?;
    }
    let mut report = match import.report.as_deref().map(serde_json::from_str::<Report>) {
        Some(report) => report?,
        None => Report::of_failure(&import, false, String::new(), application.clock.now()),
    };
    report.state = ImportState::Undone;
    report.undone = Some(undone);
    let save = SaveUndoReport { id: import.id, report: serde_json::to_string(&report)? };
    Ok(application.executor.run_without_key(workspace.id, &save).await?)
}

/// The folder with what was read.
enum Folder {
    /// Of a dry run. It goes with it.
    Temporary(tempfile::TempDir),
    /// Of a run.
    Kept(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(path) => path,
        }
    }
}

struct Work<'a> {
    jobs: &'a Jobs,
    workspace: &'a Workspace,
    links: &'a Links,
    import: &'a Import,
    upload: &'a Upload,
}

impl Work<'_> {
    /// Reads the uploaded file into a folder, unless that is done already.
    async fn read(&self) -> anyhow::Result<(Staged, Folder)> {
        let application = &*self.jobs.application;
        let place = folders::of(&self.jobs.data_dir, self.import.id);
        let is_dry = self.import.job == Some(ImportJob::Try);
        if !is_dry && let Some(staged) = Staged::open(&place)? {
            return Ok((staged, Folder::Kept(place)));
        }
        let source = Source::from_name(&self.import.source).context("the source of the import is unknown")?;
        let options = &self.upload.options;
        let reading = reading(options).map_err(RoadmapError::from)?;
        let load_options = LoadOptions {
            updates: options.update,
            subscribe: options.subscribe,
            makes_members: options.make_members,
            tracks: options.tracks.iter().map(|(theirs, ours)| (theirs.clone(), ours.clone())).collect(),
        };
        let imports = folders::all(&self.jobs.data_dir);
        ownership::create_folder(&imports)?;
        let temporary = || tempfile::Builder::new().prefix(folders::NEW).tempdir_in(&imports);
        let (upload_folder, folder) = (temporary()?, temporary()?);
        let file = application.reader.job_file(self.workspace.id, self.upload.file).await?;
        let file = file.context("the uploaded file is gone: upload it again")?.file;
        let path = fetch(&*self.jobs.blobs, &file, upload_folder.path()).await?;
        let read_at = if is_dry { application.clock.now() } else { self.import.began_at };
        let known = Known::new(application, self.workspace.id, self.import.name.clone());
        let staged = tokio::task::block_in_place(|| {
            let inputs = archive::open(&path, &Limits::default())?;
            source.check(&inputs)?;
            let how = (read_at, load_options, MAX_REJECTED);
            read(source, &inputs, &reading, folder.path(), &self.import.name, how, &known)
        })?;
        known.check()?;
        if is_dry {
            return Ok((staged, Folder::Temporary(folder)));
        }
        // What a process has left there was not whole.
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::rename(folder.keep(), &place)?;
        let staged = Staged::open(&place)?.context("the records of the run are gone")?;
        Ok((staged, Folder::Kept(place)))
    }

    fn target<'b>(&'b self, upload: &'b UploadAttachment) -> Target<'b> {
        Target {
            application: &self.jobs.application,
            workspace: self.workspace.id,
            subdomain: self.workspace.subdomain.as_str(),
            links: self.links,
            upload,
            stop: &self.jobs.stop,
        }
    }

    /// Finds out what the import would do, and says so.
    async fn try_out(&self, staged: &Staged, folder: &Folder) -> anyhow::Result<()> {
        let upload = self.jobs.upload();
        let target = self.target(&upload);
        target.check_tracks(staged).await?;
        let mut report = target.try_out(staged).await?;
        report.save(folder.path(), &[])?;
        self.keep_files(&report, folder.path()).await?;
        let (id, holder, state) = (self.import.id, self.import.holder, ImportState::Uploaded);
        let end = EndReading { id, holder, state, report: serde_json::to_string(&report)? };
        self.jobs.application.executor.run_without_key(self.workspace.id, &end).await?;
        Ok(())
    }

    /// Loads what was read.
    async fn load(&self, staged: &Staged, folder: &Folder) -> anyhow::Result<()> {
        let upload = self.jobs.upload();
        let target = self.target(&upload);
        if let Err(error) = target.check_tracks(staged).await {
            fs::remove_dir_all(folder.path())?;
            return end_reading(self.jobs, self.workspace, self.import, &error).await;
        }
        let mut loaded = target.load_records(staged, self.import, folder.path()).await?;
        // Whoever sees that it has ended finds its files. Without them it ends all the same: its records are in.
        if let Err(error) = self.keep_files(&loaded.ended.report, folder.path()).await {
            tracing::warn!(workspace = %self.workspace.id, import = %self.import.id, why = error_line(&error), "the files of a report cannot be stored");
            loaded.explain(format!("the files of the report cannot be stored: {}", error_line(&error)))?;
        }
        let ended = target.end(loaded).await;
        if let Some(why) = &ended.why {
            if is_taken_over(why) {
                return Ok(());
            }
            tracing::warn!(workspace = %self.workspace.id, import = %self.import.id, why = error_line(why), "an import has stopped");
        }
        if ended.report.state == ImportState::Stopped {
            if self.jobs.stop.is_requested() {
                // Another process goes on.
                let again = RequestImport { id: self.import.id, job: ImportJob::Run };
                self.jobs.application.executor.run_without_key(self.workspace.id, &again).await?;
            }
            return Ok(());
        }
        fs::remove_dir_all(folder.path())?;
        self.jobs.upload().delete_job_files(self.workspace.id, self.upload.file.uuid()).await?;
        Ok(())
    }

    /// Stores the files of a report, so that every process can hand them out.
    async fn keep_files(&self, report: &Report, folder: &Path) -> anyhow::Result<()> {
        let (upload, job): (_, Uuid) = (self.jobs.upload(), self.import.id.uuid());
        upload.delete_job_files(self.workspace.id, job).await?;
        for name in &report.files {
            let mut content = LocalFile(fs::File::open(folder.join(name))?);
            upload.store_job_file(self.workspace.id, (job, name), u64::MAX, &mut content).await?;
        }
        Ok(())
    }
}
