//! Restores an export into a workspace that has nothing yet.
//!
//! - [`input`]: the archive, checked against its manifest.
//! - [`items`]: its lines as records to store.
//!
//! The archive is read three times: to compare it with its manifest, to check all records, and to store them.

mod input;
mod items;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use roadmap_domain::error::{OverBudget, RoadmapError};
use roadmap_domain::model::id::{ImportId, WorkspaceId};
use roadmap_domain::model::import::records::Kind;
use roadmap_domain::model::import::run::{Counts, Import, ImportState, Progress, RESTORE, SourceName};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::usage::Usage;
use roadmap_domain::policy::links::Links;
use roadmap_domain::policy::{spreadsheet, storage};
use roadmap_domain::ports::Blobs;
use roadmap_domain::usecase::import::restore::{CheckBlank, RestoreBatch};
use roadmap_domain::usecase::import::run::{BeginImport, EndImport, ListImports};
use roadmap_import::records::{Lost, Problem};

use self::input::ExportArchive;
use self::items::{Item, Reader, Step};
use super::folders;
use super::load::{Ended, Stop, begun};
use super::progress::Display;
use super::report::{Report, Subject};
use super::staging::{LoadOptions, PROBLEMS, Plan};
use super::turns::pause_after;
use crate::wiring::Application;

/// How long a batch should take. No other write waits longer.
const GOAL: Duration = Duration::from_millis(100);
/// Fewest and most records of a batch.
const BATCH: (usize, usize) = (20, 2_000);
/// Most bytes of the records of a batch.
const BATCH_BYTES: usize = 8 * 1024 * 1024;
/// Most problems that a report shows itself.
const FIRST_PROBLEMS: usize = 10;

/// What an export is restored into, and how.
pub(crate) struct Restore<'a> {
    pub(crate) application: &'a Application,
    pub(crate) workspace: WorkspaceId,
    pub(crate) subdomain: &'a str,
    pub(crate) links: &'a Links,
    pub(crate) blobs: &'a dyn Blobs,
    pub(crate) data_dir: &'a Path,
    pub(crate) makes_members: bool,
    pub(crate) stop: &'a Stop,
}

/// What was found out before anything is written.
struct Checked {
    counts: Counts,
    problems: Vec<Problem>,
    /// Files of which the export has no content.
    missing: u64,
    voters: u64,
    nameless: u64,
}

/// A run that has ended, and the folder with its report.
pub(crate) type Restored = (Ended, Option<PathBuf>);

impl Restore<'_> {
    /// Reads and checks an export, and stores it unless the run is dry. The report of a dry run goes to a folder, if there is one.
    ///
    /// # Errors
    /// Nothing was done: the archive is broken, the workspace has something, or another import is at work.
    pub(crate) async fn run(&self, path: &Path, is_dry: bool, report_to: Option<&Path>) -> anyhow::Result<Restored> {
        let archive = tokio::task::block_in_place(|| ExportArchive::open(path))?;
        let input = format!("{}{}", archive.digest(), if self.makes_members { "-members" } else { "" });
        let stopped = self.stopped(&input).await?;
        if stopped.is_none() && !self.application.executor.run_without_key(self.workspace, &CheckBlank).await? {
            bail!(
                "the workspace `{}` has feature requests, customers or changelogs already: an export is restored into a \
                 workspace without any, which `roadmap workspace create` makes",
                self.subdomain
            );
        }
        let now = self.application.clock.now();
        let began_at = stopped.as_ref().map_or(now, |import| import.began_at);
        let mut reader = Reader::new(&archive, self.links, self.makes_members, began_at, self.workspace)?;
        let checked = tokio::task::block_in_place(|| check(&mut reader))?;
        let plan = plan(&checked, began_at, self.makes_members);
        if is_dry {
            let progress = Progress { counts: checked.counts, ..Progress::default() };
            let mut report = self.report(&plan, &progress, None, ImportState::Done);
            if let Some(to) = report_to {
                write_problems(to, &checked.problems)?;
                report.save(to, &[])?;
            }
            return Ok((Ended { report, why: None }, None));
        }
        let holder = self.application.ids.next(now);
        let name = SourceName::parse("name", RESTORE)?;
        let begin = BeginImport { source: RESTORE, name, input, holder, began_at };
        let import = begun(self.application.executor.run_without_key(self.workspace, &begin).await?)?;
        reader.set_import(import.id);
        let folder = folders::of(self.data_dir, import.id);
        write_problems(&folder, &checked.problems)?;
        let mut loader = Loader {
            restore: self,
            reader: &reader,
            import: &import,
            progress: import.progress.clone(),
            size: BATCH.0 * 10,
            display: Display::new(),
        };
        let (state, why) = match loader.load().await {
            Ok(true) => (ImportState::Done, None),
            Ok(false) => (ImportState::Stopped, Some(anyhow::anyhow!("the import was told to stop"))),
            Err(error) => (ImportState::Stopped, Some(error)),
        };
        let progress = loader.progress;
        let mut report = self.report(&plan, &progress, Some(import.id), state);
        // Its records are in the archive alone.
        report.resume = (state == ImportState::Stopped)
            .then(|| format!("roadmap import roadmap --workspace {} {}", self.subdomain, path.display()));
        report.save(&folder, &[])?;
        let report_json = serde_json::to_string(&report)?;
        let end = EndImport { id: import.id, holder: import.holder, progress, state, report: report_json };
        let ended = self.application.executor.run_without_key(self.workspace, &end).await;
        let why = match (ended, why) {
            (Ok(_), why) => why,
            // The first reason says more: the database may be gone.
            (Err(_), Some(why)) => Some(why),
            (Err(error), None) => Some(error.into()),
        };
        Ok((Ended { report, why }, Some(folder)))
    }

    /// Returns a run of the same archive that has stopped.
    async fn stopped(&self, input: &str) -> anyhow::Result<Option<Import>> {
        let now = self.application.clock.now();
        let imports = self.application.executor.run_without_key(self.workspace, &ListImports).await?;
        let is_same = |import: &Import| import.source == RESTORE && import.input == input && import.can_resume(now);
        Ok(imports.into_iter().find(is_same))
    }

    fn report(&self, plan: &Plan, progress: &Progress, id: Option<ImportId>, state: ImportState) -> Report {
        let ended_at = self.application.clock.now();
        Report::new(plan, progress, &Subject { id, state, subdomain: self.subdomain, ended_at })
    }
}

/// Reads all records before anything is written.
fn check(reader: &mut Reader<'_>) -> anyhow::Result<Checked> {
    let mut checked = Checked { counts: Counts::default(), problems: Vec::new(), missing: 0, voters: 0, nameless: 0 };
    let mut progress = Progress::default();
    for step in Step::ALL {
        let mut lines = reader.lines(step, 0)?;
        while let Some((number, line)) = lines.next_line()? {
            let found = reader.item(step, number, &line)?;
            checked.problems.extend(found.problem);
            match found.item {
                Some(item) => {
                    checked.nameless += item.nameless_votes();
                    let batch = items::batch(step, vec![item], reader.makes_members());
                    batch.count(&mut progress.counts);
                }
                None if step == Step::Files => checked.missing += 1,
                None => {}
            }
            reader.learn(step, &line)?;
        }
    }
    checked.voters = progress.counts.of(Kind::Votes).new;
    checked.counts = progress.counts;
    Ok(checked)
}

fn plan(checked: &Checked, began_at: Timestamp, makes_members: bool) -> Plan {
    let missing = Lost { what: "files without their content".to_owned(), count: checked.missing, kind: None };
    Plan {
        source: RESTORE.to_owned(),
        name: RESTORE.to_owned(),
        options: LoadOptions { makes_members, ..LoadOptions::default() },
        read_at: began_at.to_string(),
        statuses: Vec::new(),
        on_roadmap: Vec::new(),
        past: Vec::new(),
        votes: roadmap_import::records::VoteTotals { voters: checked.voters, nameless: checked.nameless, doubles: 0 },
        lost: if checked.missing > 0 { vec![missing] } else { Vec::new() },
        counts: Counts::default(),
        problems: checked.problems.len() as u64,
        first_problems: checked.problems.iter().take(FIRST_PROBLEMS).cloned().collect(),
        lengths: std::collections::BTreeMap::new(),
    }
}

fn write_problems(folder: &Path, problems: &[Problem]) -> anyhow::Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    let path = folder.join(PROBLEMS);
    let failed = || format!("{} cannot be written", path.display());
    let mut file = BufWriter::new(File::create(&path).with_context(failed)?);
    let header = ["file", "line", "id", "field", "value", "problem", "action"].map(spreadsheet::cell);
    writeln!(file, "\u{feff}{}", header.join(",")).with_context(failed)?;
    for problem in problems {
        let cells = [
            &problem.file,
            &problem.line.map(|line| line.to_string()).unwrap_or_default(),
            problem.id.as_deref().unwrap_or_default(),
            problem.field.as_deref().unwrap_or_default(),
            problem.value.as_deref().unwrap_or_default(),
            &problem.problem,
            "changed",
        ];
        writeln!(file, "{}", cells.map(spreadsheet::cell).join(",")).with_context(failed)?;
    }
    file.flush().with_context(failed)
}

struct Loader<'a> {
    restore: &'a Restore<'a>,
    reader: &'a Reader<'a>,
    import: &'a Import,
    progress: Progress,
    /// How many records the next batch has.
    size: usize,
    display: Display,
}

impl Loader<'_> {
    /// Stores what is left. Returns whether it came to the end.
    async fn load(&mut self) -> anyhow::Result<bool> {
        // Of the lines of all steps.
        let mut done = self.progress.position;
        let total: u64 = Step::ALL.into_iter().map(|step| self.reader.len(step)).sum();
        for step in Step::ALL {
            let skipped = done.min(self.reader.len(step));
            done -= skipped;
            if skipped == self.reader.len(step) {
                continue;
            }
            let mut lines = self.reader.lines(step, skipped)?;
            loop {
                self.display.show(step.name(), self.progress.position, total);
                if self.restore.stop.is_requested() {
                    return Ok(false);
                }
                let (mut items, mut taken, mut bytes) = (Vec::new(), 0, 0);
                let most = self.size.min(step.most_in_batch());
                while taken < most && bytes < BATCH_BYTES {
                    let Some((number, line)) = lines.next_line()? else { break };
                    taken += 1;
                    bytes += line.len();
                    items.extend(self.reader.item(step, number, &line)?.item);
                }
                if taken == 0 {
                    break;
                }
                self.store(step, items, taken as u64).await?;
            }
        }
        Ok(true)
    }

    async fn store(&mut self, step: Step, mut items: Vec<Item>, lines: u64) -> anyhow::Result<()> {
        let (application, workspace) = (self.restore.application, self.restore.workspace);
        let mut reserved = Vec::new();
        for item in &mut items {
            if let Item::File(file, _) = item {
                let too_large = |over: OverBudget| anyhow::Error::from(RoadmapError::from(over));
                let usage = storage::attachment_usage(file);
                reserved.push(application.budgets.reserve(workspace, usage).map_err(too_large)?);
                *file = self.reader.archive().store_file(self.restore.blobs, file).await?;
            }
        }
        let batch = Arc::new(items::batch(step, items, self.reader.makes_members()));
        let restore = RestoreBatch {
            import: self.import.id,
            holder: self.import.holder,
            progress: self.progress.clone(),
            lines,
            batch,
        };
        let began = Instant::now();
        self.progress = application.executor.run_without_key(workspace, &restore).await?;
        reserved.into_iter().for_each(|reservation| reservation.commit(Usage::default()));
        let elapsed = began.elapsed();
        let (fewest, most) = BATCH;
        if elapsed > GOAL {
            self.size = (self.size / 2).max(fewest);
        } else if elapsed < GOAL / 2 {
            self.size = (self.size * 2).min(most);
        }
        pause_after(application, elapsed).await;
        Ok(())
    }
}
