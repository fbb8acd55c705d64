//! The beginning and the end of runs.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{Conflict, Resource, RoadmapError};
use crate::model::audit::{Audit, Change};
use crate::model::board::Board;
use crate::model::id::{ImportId, LaneId, TrackId};
use crate::model::import::ImportedFrom;
use crate::model::import::records::Kind;
use crate::model::import::run::{Import, ImportState, Progress, SourceName};
use crate::model::localized::Localized;
use crate::model::timestamp::Timestamp;
use crate::model::track::{Lane, LaneKind, Placement, Track};
use crate::policy::import_tracks::{StatusTrack, TrackChoice, choose, fold};
use crate::ports::UnitOfWork;
use crate::usecase::executor::{Operation, OperationContext, Performed};

/// Begins a run, or goes on with the latest one of the same input that has stopped.
#[derive(Debug, Clone)]
pub struct BeginImport {
    /// The program whose files are imported.
    pub source: &'static str,
    pub name: SourceName,
    /// A digest of the files and of how they are read.
    pub input: String,
    /// The process that works on it.
    pub holder: Uuid,
    /// When it began to read the input: the time of records that have none.
    pub began_at: Timestamp,
}

/// A run that was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begun {
    /// It is at work for this process.
    Run(Box<Import>),
    /// Another one is at work.
    Busy(ImportId),
}

/// Goes on with a run that has stopped.
#[derive(Debug, Clone)]
pub struct ResumeImport {
    pub id: ImportId,
    /// The process that works on it.
    pub holder: Uuid,
}

/// Ends a run, or stops it.
#[derive(Debug, Clone)]
pub struct EndImport {
    pub id: ImportId,
    pub holder: Uuid,
    pub progress: Progress,
    /// [`ImportState::Done`], [`ImportState::Failed`] or [`ImportState::Stopped`].
    pub state: ImportState,
    /// The report as JSON.
    pub report: String,
}

/// Checks what a run says that it has made. Nothing is written.
#[derive(Debug, Clone)]
pub struct CheckImport {
    pub id: ImportId,
    pub progress: Progress,
}

/// A kind of records of which a run has counted another number than the store has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongCount {
    pub kind: Kind,
    pub counted: u64,
    pub stored: u64,
}

/// Finds the tracks of all statuses of a run, and adds those that are missing.
#[derive(Debug, Clone)]
pub struct PlaceStatuses {
    pub id: ImportId,
    pub name: SourceName,
    /// Nothing is written.
    pub is_dry: bool,
    /// The statuses of the source, each once.
    pub statuses: Vec<String>,
    /// Those of them that have a column on the public roadmap of the source.
    pub on_roadmap: Vec<String>,
    /// Statuses that only moves have. No track is added for them.
    pub past: Vec<String>,
    /// What was chosen for some of them.
    pub chosen: Vec<StatusTrack>,
}

/// The tracks of the statuses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlacedStatuses {
    /// By the folded status.
    pub tracks: BTreeMap<String, Track>,
    /// What the statuses are called that only moves have, by the folded status.
    pub past: BTreeMap<String, Placement>,
    pub first_track: Option<Track>,
    /// The names of the tracks that are new.
    pub new: Vec<String>,
    /// The names of the lanes that are new.
    pub new_lanes: Vec<String>,
}

/// Returns the runs of a workspace, newest first.
#[derive(Debug, Clone, Copy)]
pub struct ListImports;

pub(super) fn entry(action: &'static str, import: &Import, changes: Vec<Change>) -> Audit {
    Audit::with_changes(action, "import", Some(import.id.uuid()), changes)
}

pub(super) fn missing() -> RoadmapError {
    RoadmapError::NotFound(Resource::Import)
}

/// Takes a run that is not at work for a process.
async fn claim(
    import: Import,
    holder: Uuid,
    now: Timestamp,
    work: &mut dyn UnitOfWork,
) -> Result<Import, RoadmapError> {
    let import = Import { state: ImportState::Running, holder, seen_at: now, ended_at: None, ..import };
    work.save_import(&import).await?;
    Ok(import)
}

/// Marks runs as stopped whose process has died, as only one may be at work.
pub(super) async fn stop_abandoned(
    imports: &mut [Import],
    now: Timestamp,
    work: &mut dyn UnitOfWork,
) -> Result<(), RoadmapError> {
    for import in imports
        .iter_mut()
        .filter(|import| import.state == ImportState::Running && import.job.is_none() && !import.is_at_work(now))
    {
        import.state = ImportState::Stopped;
        work.save_import(import).await?;
    }
    Ok(())
}

/// Returns the run that keeps others from beginning: it is at work, or its undoing has to be completed.
pub(super) fn at_work(imports: &[Import], now: Timestamp) -> Option<&Import> {
    let works =
        |import: &&Import| import.is_at_work(now) || import.job.is_some() || import.state == ImportState::Undoing;
    imports.iter().find(works)
}

#[async_trait]
impl Operation for BeginImport {
    type Output = Begun;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Begun>, RoadmapError> {
        let mut imports = work.load_imports().await?;
        if let Some(other) = at_work(&imports, context.now) {
            return Ok(Performed::new(Begun::Busy(other.id), Audit::Unchanged));
        }
        stop_abandoned(&mut imports, context.now, work).await?;
        let same = |import: &Import| import.name == self.name && import.input == self.input;
        if let Some(stopped) = imports.into_iter().find(|import| import.can_resume(context.now) && same(import)) {
            let import = claim(stopped, self.holder, context.now, work).await?;
            return Ok(Performed::new(Begun::Run(Box::new(import)), Audit::Unchanged));
        }
        let import = Import {
            id: context.new_id(ImportId::new),
            source: self.source.to_owned(),
            name: self.name.clone(),
            state: ImportState::Running,
            job: None,
            upload: None,
            input: self.input.clone(),
            progress: Progress::default(),
            report: None,
            holder: self.holder,
            began_at: self.began_at,
            seen_at: context.now,
            ended_at: None,
        };
        work.save_import(&import).await?;
        let changes =
            vec![Change::new("source", Value::Null, self.source), Change::new("name", Value::Null, self.name.as_str())];
        let audit = entry("import.start", &import, changes);
        Ok(Performed::new(Begun::Run(Box::new(import)), audit))
    }
}

#[async_trait]
impl Operation for ResumeImport {
    type Output = Begun;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Begun>, RoadmapError> {
        let mut imports = work.load_imports().await?;
        let import = imports.iter().find(|import| import.id == self.id).cloned().ok_or_else(missing)?;
        if let Some(other) = at_work(&imports, context.now).filter(|other| other.id != self.id) {
            return Ok(Performed::new(Begun::Busy(other.id), Audit::Unchanged));
        }
        if !import.can_resume(context.now) {
            let conflict =
                if import.is_at_work(context.now) { Conflict::ImportRunning } else { Conflict::ImportNotStopped };
            return Err(RoadmapError::Conflict(conflict));
        }
        stop_abandoned(&mut imports, context.now, work).await?;
        let import = claim(import, self.holder, context.now, work).await?;
        Ok(Performed::new(Begun::Run(Box::new(import)), Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for EndImport {
    type Output = Import;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Import>, RoadmapError> {
        let imports = work.load_imports().await?;
        let import = imports.into_iter().find(|import| import.id == self.id).ok_or_else(missing)?;
        if import.holder != self.holder || import.state != ImportState::Running {
            return Err(RoadmapError::Conflict(Conflict::ImportTakenOver));
        }
        let import = Import {
            state: self.state,
            job: None,
            // One that has stopped goes on with it.
            upload: import.upload.filter(|_| self.state == ImportState::Stopped),
            progress: self.progress.clone(),
            report: Some(self.report.clone()),
            seen_at: context.now,
            ended_at: Some(context.now),
            ..import
        };
        work.save_import(&import).await?;
        let count = |kind| self.progress.counts.of(kind).new;
        let new = json!({
            "feature_requests": count(Kind::FeatureRequests), "votes": count(Kind::Votes),
            "comments": count(Kind::Comments), "notes": count(Kind::Notes), "customers": count(Kind::Customers),
            "subscriptions": count(Kind::Subscriptions), "moves": count(Kind::Moves),
            "changelogs": count(Kind::Changelogs),
        });
        let changes = vec![
            Change::new("state", ImportState::Running.name(), self.state.name()),
            Change::new("new", Value::Null, new),
        ];
        let audit = entry("import.finish", &import, changes);
        Ok(Performed::new(import, audit))
    }
}

#[async_trait]
impl Operation for CheckImport {
    type Output = Vec<WrongCount>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<WrongCount>>, RoadmapError> {
        let mut wrong = Vec::new();
        let kinds = [Kind::FeatureRequests, Kind::Merges, Kind::Comments, Kind::Notes, Kind::Moves, Kind::Changelogs];
        for kind in kinds {
            let (counted, stored) = (self.progress.counts.of(kind).new, work.count_imported(self.id, kind).await?);
            if counted != stored {
                wrong.push(WrongCount { kind, counted, stored });
            }
        }
        Ok(Performed::new(wrong, Audit::Unchanged))
    }
}

#[async_trait]
impl Operation for PlaceStatuses {
    type Output = PlacedStatuses;

    async fn perform(
        &self,
        context: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<PlacedStatuses>, RoadmapError> {
        let mut board = work.load_board().await?;
        for choice in &self.chosen {
            board.track_by_name(&choice.track)?;
        }
        let (tracks_before, lanes_before) = (board.tracks().len(), board.lanes().len());
        let mut placed = PlacedStatuses { first_track: board.tracks().first().cloned(), ..PlacedStatuses::default() };
        for status in self.statuses.iter().map(String::as_str).chain([""]) {
            let Some(track) = self.place(status, &mut board, context)? else { continue };
            placed.tracks.insert(fold(status), track);
        }
        for status in &self.past {
            match choose(status, &self.chosen, &board) {
                None => {}
                Some(TrackChoice::Existing(id)) => {
                    placed.tracks.insert(fold(status), board.track(id)?.0.clone());
                }
                Some(TrackChoice::New(track)) => {
                    placed.past.insert(fold(status), Placement { track, status: None });
                }
            }
        }
        // New ones are after the others.
        let new_tracks = board.tracks().get(tracks_before..).unwrap_or_default();
        let new_lanes = board.lanes().get(lanes_before..).unwrap_or_default();
        placed.new = new_tracks.iter().map(|track| track.name.to_string()).collect();
        placed.new_lanes = new_lanes.iter().map(|lane| lane.name.to_string()).collect();
        if self.is_dry || new_tracks.is_empty() {
            return Ok(Performed::new(placed, Audit::Unchanged));
        }
        work.save_board(&board).await?;
        let made = |id: Uuid| ImportedFrom { external_id: id.to_string(), id, digest: String::new() };
        let tracks: Vec<_> = new_tracks.iter().map(|track| made(track.id.uuid())).collect();
        work.remember_imported(self.id, &self.name, Kind::Tracks, &tracks, context.now).await?;
        let lanes: Vec<_> = new_lanes.iter().map(|lane| made(lane.id.uuid())).collect();
        if !lanes.is_empty() {
            work.remember_imported(self.id, &self.name, Kind::Lanes, &lanes, context.now).await?;
        }
        Ok(Performed::new(placed, Audit::Unchanged).changing_configuration())
    }
}

impl PlaceStatuses {
    /// Returns the track of a status, which is added to the board if it is new, with the lane of its name if the source has it
    /// on its roadmap.
    fn place(
        &self,
        status: &str,
        board: &mut Board,
        context: &OperationContext<'_>,
    ) -> Result<Option<Track>, RoadmapError> {
        let id = match choose(status, &self.chosen, board) {
            None => return Ok(None),
            Some(TrackChoice::Existing(id)) => id,
            Some(TrackChoice::New(name)) => {
                let id = context.new_id(TrackId::new);
                let is_on_roadmap = self.on_roadmap.iter().any(|other| fold(other) == fold(status));
                let lane = match board.lane_by_name(&name) {
                    _ if !is_on_roadmap => None,
                    Ok(lane) => Some(lane.id),
                    Err(_) => {
                        let lane = context.new_id(LaneId::new);
                        let kind = LaneKind::of_name(&name);
                        board
                            .add_lane(Lane { id: lane, name: name.clone(), kind, names: Localized::default() }, None)?;
                        Some(lane)
                    }
                };
                board.add_track(id, name, lane, None)?;
                id
            }
        };
        Ok(Some(board.track(id)?.0.clone()))
    }
}

#[async_trait]
impl Operation for ListImports {
    type Output = Vec<Import>;

    async fn perform(
        &self,
        _: &OperationContext<'_>,
        work: &mut dyn UnitOfWork,
    ) -> Result<Performed<Vec<Import>>, RoadmapError> {
        Ok(Performed::new(work.load_imports().await?, Audit::Unchanged))
    }
}
