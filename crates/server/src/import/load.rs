//! Loads a run from its folder, batch after batch.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use roadmap_domain::error::{Conflict, RoadmapError};
use roadmap_domain::model::admin::{InboxFilter, InboxState};
use roadmap_domain::model::attachment::{BlobKey, Filename};
use roadmap_domain::model::board::Board;
use roadmap_domain::model::id::{FeatureRequestId, ImportId, WorkspaceId};
use roadmap_domain::model::import::records::{FeatureRequest, Kind, Prepared};
use roadmap_domain::model::import::run::{Import, ImportState, Progress, SourceName, Stage};
use roadmap_domain::model::picture::PictureBy;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::import_tracks::StatusTrack;
use roadmap_domain::policy::links::Links;
use roadmap_domain::usecase::import::load::{Batch, FindRequests, LoadBatch, PreparedRequest, RunContext};
use roadmap_domain::usecase::import::run::{Begun, CheckImport, EndImport, PlaceStatuses, WrongCount};
use roadmap_domain::usecase::upload_attachment::UploadAttachment;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::progress::Display;
use super::report::{Report, Subject};
use super::staging::{Staged, StagedFile};
use super::turns::{Timed, pause_after};
use crate::wiring::Application;

/// How long a batch should work until it is written to the disk. No other write waits longer.
const GOAL: Duration = Duration::from_millis(100);
/// Fewest and most records of a batch. Smaller ones write the same pages of the database again and again.
const BATCH: (usize, usize) = (50, 2_000);
/// How many pictures are stored until that is remembered.
const FILES: usize = 10;
/// How many feature requests are looked up at a time for redirects.
const REDIRECTS: usize = 500;

/// Whether the process has been told to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Stops at the next batch.
    pub(crate) fn request(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it is to stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What a run is loaded into.
pub(crate) struct Target<'a> {
    pub(crate) application: &'a Application,
    pub(crate) workspace: WorkspaceId,
    pub(crate) subdomain: &'a str,
    pub(crate) links: &'a Links,
    pub(crate) upload: &'a UploadAttachment,
    pub(crate) stop: &'a Stop,
}

/// How a run ended.
pub(crate) struct Ended {
    pub(crate) report: Report,
    /// Why it stopped before its end.
    pub(crate) why: Option<anyhow::Error>,
}

/// A run whose records are loaded as far as they can be, and that is to be ended.
pub(crate) struct Loaded {
    pub(crate) ended: Ended,
    end: EndImport,
}

impl Loaded {
    /// Adds to the report what people should know, unless it says already why it came to no good end.
    pub(crate) fn explain(&mut self, why: String) -> anyhow::Result<()> {
        self.ended.report.why.get_or_insert(why);
        self.end.report = serde_json::to_string(&self.ended.report)?;
        Ok(())
    }
}

impl Target<'_> {
    /// Checks before a run begins that the tracks exist that were chosen for statuses.
    pub(crate) async fn check_tracks(&self, staged: &Staged) -> anyhow::Result<()> {
        let board = Board::new(Vec::new(), self.application.reader.tracks(self.workspace).await?);
        for (_, chosen) in &staged.plan.options.tracks {
            board.track_by_name(&Name::parse("--track", chosen)?).with_context(|| {
                format!("there is no track `{chosen}`; `roadmap track list` lists the tracks of a workspace")
            })?;
        }
        Ok(())
    }

    /// Finds out what a run would do.
    pub(crate) async fn try_out(&self, staged: &Staged) -> anyhow::Result<Report> {
        let mut loader = self.loader(staged, None)?;
        loader.load().await?;
        Ok(loader.report(ImportState::Done))
    }

    /// Loads a run that is at work for this process, and ends it. Its files are in the folder.
    pub(crate) async fn load(&self, staged: &Staged, import: &Import, folder: &Path) -> anyhow::Result<Ended> {
        let loaded = self.load_records(staged, import, folder).await?;
        Ok(self.end(loaded).await)
    }

    /// Loads the records of a run. It is at work until it is ended ([`Self::end`]).
    pub(crate) async fn load_records(&self, staged: &Staged, import: &Import, folder: &Path) -> anyhow::Result<Loaded> {
        let mut loader = self.loader(staged, Some(import))?;
        let loaded = loader.load().await;
        let (mut state, mut why) = match loaded {
            Ok(true) => match self.check(import.id, &loader.progress).await {
                Ok(None) => (ImportState::Done, None),
                Ok(Some(difference)) => (ImportState::Failed, Some(difference)),
                Err(error) => (ImportState::Stopped, Some(error)),
            },
            Ok(false) => (ImportState::Stopped, Some(anyhow::anyhow!("the import was told to stop"))),
            Err(error) => (ImportState::Stopped, Some(error)),
        };
        let mut redirects = Vec::new();
        if state == ImportState::Done {
            match loader.redirects().await {
                Ok(found) => redirects = found,
                // All records are in; resumed, the run only looks for them again.
                Err(error) => (state, why) = (ImportState::Stopped, Some(error)),
            }
        }
        let mut report = loader.report(state);
        report.why = why.as_ref().map(|why: &anyhow::Error| crate::report::error_line(why));
        report.save(folder, &redirects)?;
        let end = EndImport {
            id: import.id,
            holder: import.holder,
            progress: loader.progress,
            state,
            report: serde_json::to_string(&report)?,
        };
        Ok(Loaded { ended: Ended { report, why }, end })
    }

    /// Ends a run.
    pub(crate) async fn end(&self, Loaded { ended: Ended { report, why }, end }: Loaded) -> Ended {
        let ended = self.application.executor.run_without_key(self.workspace, &end).await;
        // The first reason says more: the database may be gone.
        let why = why.or_else(|| ended.err().map(anyhow::Error::from));
        Ended { report, why }
    }

    /// Compares what was counted with what is stored. Returns the differences.
    async fn check(&self, id: ImportId, progress: &Progress) -> anyhow::Result<Option<anyhow::Error>> {
        let check = CheckImport { id, progress: progress.clone() };
        let wrong = self.application.executor.run_without_key(self.workspace, &check).await?;
        let sentence = |wrong: &WrongCount| {
            format!("{} {} were counted, {} are stored", wrong.counted, wrong.kind.name(), wrong.stored)
        };
        let sentences: Vec<_> = wrong.iter().map(sentence).collect();
        Ok((!sentences.is_empty()).then(|| anyhow::anyhow!(sentences.join("; "))))
    }

    fn loader<'b>(&'b self, staged: &'b Staged, import: Option<&Import>) -> anyhow::Result<Loader<'b>> {
        let plan = &staged.plan;
        let read_at = Timestamp::parse(&plan.read_at).context("the plan of the run is broken")?;
        let run = RunContext {
            id: import.map_or(ImportId::new(Uuid::nil()), |import| import.id),
            name: SourceName::parse("name", &plan.name)?,
            began_at: read_at,
            holder: import.map_or(Uuid::nil(), |import| import.holder),
            is_dry: import.is_none(),
            updates: plan.options.updates,
            subscribing: plan.options.subscribe,
            makes_members: plan.options.makes_members,
            tracks: BTreeMap::new(),
            past: BTreeMap::new(),
            first_track: None,
            references: self.links.references().clone(),
        };
        let progress = import.map(|import| import.progress.clone()).unwrap_or_default();
        Ok(Loader { target: self, staged, run, progress, size: BATCH.0 * 4, display: Display::new() })
    }
}

struct Loader<'a> {
    target: &'a Target<'a>,
    staged: &'a Staged,
    run: RunContext,
    progress: Progress,
    /// How many records the next batch has.
    size: usize,
    display: Display,
}

impl Loader<'_> {
    /// Loads what is left. Returns whether it came to the end.
    async fn load(&mut self) -> anyhow::Result<bool> {
        self.place_statuses().await?;
        let run = Arc::new(self.run.clone());
        let first = self.progress.stage;
        // Before their texts are stored, pictures that were stored may be deleted, because no text has them.
        if first > Stage::Files && !self.load_files(&run, u64::MAX).await? {
            return Ok(false);
        }
        for stage in Stage::ALL.into_iter().filter(|stage| *stage >= first && *stage != Stage::Tracks) {
            if stage != self.progress.stage {
                (self.progress.stage, self.progress.position) = (stage, 0);
            }
            let is_through = match stage {
                Stage::Tracks => true,
                Stage::Members => self.load_stage(&run, stage, |records| Ok(Batch::Members(records))).await?,
                Stage::Customers => self.load_stage(&run, stage, |records| Ok(Batch::Customers(records))).await?,
                Stage::Files => self.load_files(&run, self.progress.position).await?,
                Stage::FeatureRequests => self.load_stage(&run, stage, requests).await?,
                Stage::Merges => self.load_stage(&run, stage, |records| Ok(Batch::Merges(records))).await?,
                Stage::Votes => self.load_stage(&run, stage, |records| Ok(Batch::Votes(records))).await?,
                Stage::Subscriptions => {
                    self.load_stage(&run, stage, |records| Ok(Batch::Subscriptions(records))).await?
                }
                Stage::Comments => self.load_stage(&run, stage, |records| Ok(Batch::Comments(records))).await?,
                Stage::Notes => self.load_stage(&run, stage, |records| Ok(Batch::Notes(records))).await?,
                Stage::Moves => self.load_stage(&run, stage, |records| Ok(Batch::Moves(records))).await?,
                Stage::Changelogs => self.load_stage(&run, stage, |records| Ok(Batch::Changelogs(records))).await?,
            };
            if !is_through {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn place_statuses(&mut self) -> anyhow::Result<()> {
        let chosen = |(status, track): &(String, String)| {
            Ok(StatusTrack { status: status.clone(), track: Name::parse("--track", track)? })
        };
        let place = PlaceStatuses {
            id: self.run.id,
            name: self.run.name.clone(),
            is_dry: self.run.is_dry,
            statuses: self.staged.plan.statuses.clone(),
            on_roadmap: self.staged.plan.on_roadmap.clone(),
            past: self.staged.plan.past.clone(),
            chosen: self.staged.plan.options.tracks.iter().map(chosen).collect::<anyhow::Result<_>>()?,
        };
        let placed = self.target.application.executor.run_without_key(self.target.workspace, &place).await?;
        // A run that goes on finds the tracks that it has added before.
        for name in placed.new {
            self.progress.counts.of_mut(Kind::Tracks).new += 1;
            self.progress.new_tracks.push(name);
        }
        self.progress.counts.of_mut(Kind::Lanes).new += placed.new_lanes.len() as u64;
        (self.run.tracks, self.run.past, self.run.first_track) = (placed.tracks, placed.past, placed.first_track);
        Ok(())
    }

    /// Stores the pictures that are not there yet. So many were counted before.
    async fn load_files(&mut self, run: &Arc<RunContext>, counted: u64) -> anyhow::Result<bool> {
        let (application, workspace) = (self.target.application, self.target.workspace);
        let total = self.staged.len(Stage::Files);
        if total == 0 {
            return Ok(true);
        }
        let mut stored = Vec::new();
        for (place, file) in (1..).zip(self.staged.records::<StagedFile>(Stage::Files, 0)?) {
            if self.target.stop.is_requested() {
                return Ok(false);
            }
            let file = file?;
            let is_new = application.reader.attachment(workspace, file.attachment()?).await?.is_none();
            if is_new && !self.run.is_dry {
                let (key, name) =
                    (BlobKey { workspace, attachment: file.attachment()? }, Filename::sanitize(&file.name));
                let content = self.staged.picture(&file)?;
                self.target.upload.store_picture(key, &name, content, PictureBy::Team).await?;
            }
            if place > counted {
                stored.push(is_new);
            }
            if stored.len() == FILES || (place == total && !stored.is_empty()) {
                let batch = Arc::new(Batch::Files(std::mem::take(&mut stored)));
                let load = LoadBatch { run: run.clone(), progress: self.progress.clone(), batch };
                self.progress = application.executor.run_without_key(workspace, &load).await?;
                self.display.show("pictures", self.progress.position, total);
            }
        }
        Ok(true)
    }

    async fn load_stage<T: DeserializeOwned>(
        &mut self,
        run: &Arc<RunContext>,
        stage: Stage,
        batch: fn(Vec<T>) -> anyhow::Result<Batch>,
    ) -> anyhow::Result<bool> {
        let total = self.staged.len(stage);
        if total <= self.progress.position {
            return Ok(true);
        }
        let mut records = self.staged.records::<T>(stage, self.progress.position)?;
        loop {
            self.progress.total = total;
            self.display.show(&stage.kind().name().replace('_', " "), self.progress.position, total);
            if self.target.stop.is_requested() {
                return Ok(false);
            }
            let next = records.by_ref().take(self.size).collect::<anyhow::Result<Vec<T>>>()?;
            if next.is_empty() {
                return Ok(true);
            }
            let load = LoadBatch { run: run.clone(), progress: self.progress.clone(), batch: Arc::new(batch(next)?) };
            let (began, load) = (Instant::now(), Timed::new(&load));
            self.progress = self.target.application.executor.run_without_key(self.target.workspace, &load).await?;
            self.resize(load.worked());
            if !self.run.is_dry {
                pause_after(self.target.application, began.elapsed()).await;
            }
        }
    }

    /// Makes the next batch work about as long as a batch should.
    fn resize(&mut self, worked: Duration) {
        let (fewest, most) = BATCH;
        if worked > GOAL {
            self.size = (self.size / 2).max(fewest);
        } else if worked < GOAL / 2 {
            self.size = (self.size * 2).min(most);
        }
    }

    fn report(&self, state: ImportState) -> Report {
        let id = (!self.run.is_dry).then_some(self.run.id);
        let ended_at = self.target.application.clock.now();
        let subject = Subject { id, state, subdomain: self.target.subdomain, ended_at };
        Report::new(&self.staged.plan, &self.progress, &subject)
    }

    /// Returns pairs of the address that a feature request had in the source, and the one that it has here.
    async fn redirects(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut records = self.staged.records::<Prepared<FeatureRequest>>(Stage::FeatureRequests, 0)?;
        let mut redirects = Vec::new();
        loop {
            let next = records.by_ref().take(REDIRECTS).collect::<anyhow::Result<Vec<_>>>()?;
            if next.is_empty() {
                return Ok(redirects);
            }
            let with_url =
                next.into_iter().filter_map(|request| Some((request.record.external_id, request.record.url?)));
            let (external_ids, urls): (Vec<_>, Vec<_>) = with_url.unzip();
            let find = FindRequests { name: self.run.name.clone(), external_ids };
            let ids = self.target.application.executor.run_without_key(self.target.workspace, &find).await?;
            let known: Vec<FeatureRequestId> = ids.iter().copied().flatten().collect();
            let mut slugs = HashMap::new();
            for state in [InboxState::All, InboxState::Merged] {
                let filter = InboxFilter { state, ..InboxFilter::default() };
                let rows = self.target.application.reader.inbox_rows(self.target.workspace, &filter, &known).await?;
                slugs.extend(rows.into_iter().map(|row| (row.summary.id, row.summary.slug())));
            }
            for (url, id) in urls.into_iter().zip(ids) {
                if let Some(slug) = id.and_then(|id| slugs.get(&id)) {
                    redirects.push((url, self.target.links.request(slug)));
                }
            }
        }
    }
}

/// Derives what is stored before the unit of work begins.
fn requests(records: Vec<Prepared<FeatureRequest>>) -> anyhow::Result<Batch> {
    let requests = records.into_iter().map(PreparedRequest::new).collect::<Result<_, RoadmapError>>()?;
    Ok(Batch::FeatureRequests(requests))
}

/// Returns the run that was begun, resumed or undone for this process.
///
/// # Errors
/// Another one is at work.
pub(crate) fn begun(begun: Begun) -> anyhow::Result<Box<Import>> {
    match begun {
        Begun::Run(import) => Ok(import),
        Begun::Busy(other) => Err(anyhow::Error::from(RoadmapError::Conflict(Conflict::ImportRunning))
            .context(format!("import {other} is at work in this workspace, or its undoing has to be completed"))),
    }
}

/// Whether an error says that another process goes on with the run.
pub(crate) fn is_taken_over(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(RoadmapError::Conflict(Conflict::ImportTakenOver)))
}
