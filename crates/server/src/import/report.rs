//! What is said about a run (contract section 3).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use roadmap_domain::model::id::ImportId;
use roadmap_domain::model::import::records::Kind;
use roadmap_domain::model::import::run::{Count, Import, ImportState, Progress};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::spreadsheet;
use roadmap_import::records::{Lost, Problem};
use serde::{Deserialize, Serialize};

use super::staging::{PROBLEMS, Plan, REJECTED};
use super::undo::Undone;

/// The files of a report.
const REPORT: &str = "report.json";
const REDIRECTS: &str = "redirects.csv";

/// The report of a run, as the API and `--json` show it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    /// `None` for a dry run.
    pub(crate) id: Option<String>,
    pub(crate) state: ImportState,
    pub(crate) dry_run: bool,
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) counts: BTreeMap<Kind, Counted>,
    pub(crate) votes: Votes,
    /// How many new votes are subscriptions.
    pub(crate) subscribed: u64,
    pub(crate) lost: Vec<Lost>,
    pub(crate) new_tracks: Vec<String>,
    pub(crate) new_members: Vec<String>,
    pub(crate) problems: u64,
    pub(crate) first_problems: Vec<Problem>,
    pub(crate) files: Vec<String>,
    pub(crate) began_at: String,
    pub(crate) ended_at: String,
    /// The command that goes on.
    pub(crate) resume: Option<String>,
    /// Why it came to no good end, as a sentence.
    #[serde(default)]
    pub(crate) why: Option<String>,
    /// What became of what it has made, once it was undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) undone: Option<Undone>,
}

/// What became of the records of a kind.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Counted {
    /// The sum of the rest.
    read: u64,
    #[serde(flatten)]
    count: Count,
}

/// The votes of the source.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Votes {
    source: u64,
    voters: u64,
    nameless: u64,
    doubles: u64,
}

/// What a report is about.
pub(crate) struct Subject<'a> {
    pub(crate) id: Option<ImportId>,
    pub(crate) state: ImportState,
    pub(crate) subdomain: &'a str,
    pub(crate) ended_at: Timestamp,
}

impl Report {
    /// Creates the report of a run that has ended or stopped.
    pub(crate) fn new(plan: &Plan, progress: &Progress, subject: &Subject<'_>) -> Self {
        let counted = |kind| {
            let mut count = progress.counts.of(kind);
            count.add(plan.counts.of(kind));
            (kind, Counted { read: count.read(), count })
        };
        let resume = match (subject.id, subject.state) {
            (Some(id), ImportState::Stopped) => {
                Some(format!("roadmap import resume --workspace {} {id}", subject.subdomain))
            }
            _ => None,
        };
        let mut lost = plan.lost.clone();
        lost.extend(progress.refused.iter().map(|(what, count)| Lost {
            what: what.clone(),
            count: *count,
            kind: None,
        }));
        Self {
            id: subject.id.map(|id| id.to_string()),
            state: subject.state,
            dry_run: subject.id.is_none(),
            source: plan.source.clone(),
            name: plan.name.clone(),
            counts: Kind::ALL.into_iter().map(counted).collect(),
            votes: Votes {
                source: plan.votes.source(),
                voters: plan.votes.voters,
                nameless: plan.votes.nameless,
                doubles: plan.votes.doubles,
            },
            subscribed: progress.subscribed,
            lost,
            new_tracks: progress.new_tracks.clone(),
            new_members: progress.new_members.clone(),
            problems: plan.problems,
            first_problems: plan.first_problems.clone(),
            files: Vec::new(),
            began_at: plan.read_at.clone(),
            ended_at: subject.ended_at.to_string(),
            resume,
            why: None,
            undone: None,
        }
    }

    /// Creates the report of a run that could not begin.
    pub(crate) fn of_failure(import: &Import, is_dry: bool, why: String, ended_at: Timestamp) -> Self {
        let nothing = |kind| (kind, Counted { read: 0, count: Count::default() });
        Self {
            id: (!is_dry).then(|| import.id.to_string()),
            state: ImportState::Failed,
            dry_run: is_dry,
            source: import.source.clone(),
            name: import.name.to_string(),
            counts: Kind::ALL.into_iter().map(nothing).collect(),
            votes: Votes { source: 0, voters: 0, nameless: 0, doubles: 0 },
            subscribed: 0,
            lost: Vec::new(),
            new_tracks: Vec::new(),
            new_members: Vec::new(),
            problems: 0,
            first_problems: Vec::new(),
            files: Vec::new(),
            began_at: import.began_at.to_string(),
            ended_at: ended_at.to_string(),
            resume: None,
            why: (!why.is_empty()).then_some(why),
            undone: None,
        }
    }

    /// Whether records were rejected.
    pub(crate) fn has_rejected(&self) -> bool {
        self.counts.values().any(|counted| counted.count.rejected > 0)
    }

    /// Writes the report to the folder of the run, where its other files are. `redirects` are pairs of an old and a new
    /// address.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn save(&mut self, folder: &Path, redirects: &[(String, String)]) -> anyhow::Result<()> {
        let mut files = vec![REPORT.to_owned(), PROBLEMS.to_owned()];
        if !redirects.is_empty() {
            let line =
                |(old, new): &(String, String)| format!("{},{}\n", spreadsheet::cell(old), spreadsheet::cell(new));
            let lines: String = redirects.iter().map(line).collect();
            fs::write(folder.join(REDIRECTS), format!("\u{feff}\"old\",\"new\"\n{lines}"))?;
            files.push(REDIRECTS.to_owned());
        }
        if let Ok(rejected) = fs::read_dir(folder.join(REJECTED)) {
            let names = rejected.filter_map(|file| file.ok()?.file_name().into_string().ok());
            files.extend(names.map(|name| format!("{REJECTED}/{name}")));
        }
        files.sort();
        self.files = files;
        let path = folder.join(REPORT);
        fs::write(&path, serde_json::to_vec_pretty(self)?)
            .with_context(|| format!("{} cannot be written", path.display()))
    }

    /// Returns the report for people.
    pub(crate) fn to_text(&self, folder: Option<&Path>) -> String {
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        let about = if self.dry_run { "Dry run: nothing was written.".to_owned() } else { self.headline() };
        line(about);
        line(String::new());
        line(format!(
            "{:<18}{:>9}{:>9}{:>9}{:>11}{:>7}{:>9}{:>10}",
            "", "read", "new", "changed", "unchanged", "kept", "skipped", "rejected"
        ));
        for (kind, Counted { read, count }) in self.counts.iter().filter(|(_, counted)| counted.read > 0) {
            let Count { new, changed, unchanged, kept, skipped, rejected } = count;
            let kind = kind.name().replace('_', " ");
            line(format!("{kind:<18}{read:>9}{new:>9}{changed:>9}{unchanged:>11}{kept:>7}{skipped:>9}{rejected:>10}"));
        }
        line(String::new());
        let Votes { source, voters, nameless, doubles } = self.votes;
        line(format!(
            "Votes in the source: {source}, of which {voters} with a person, {nameless} without a name, {doubles} repeated."
        ));
        if self.subscribed > 0 {
            line(format!("{} votes get mail about their feature requests.", self.subscribed));
        }
        if !self.new_tracks.is_empty() {
            let what = "New tracks, on the roadmap if the source has them there";
            line(format!("{what}: {}.", self.new_tracks.join(", ")));
        }
        if !self.new_members.is_empty() {
            let what = "New names of the source's team, without access";
            line(format!("{what}: {}.", self.new_members.join(", ")));
        }
        for Lost { what, count, .. } in &self.lost {
            line(format!("Left out: {what} ({count})."));
        }
        if self.problems > 0 {
            line(String::new());
            line(format!("Problems: {}", self.problems));
            for problem in &self.first_problems {
                line(format!("  {}", problem_line(problem)));
            }
            let more = self.problems.saturating_sub(self.first_problems.len() as u64);
            if more > 0 {
                line(format!("  and {more} more"));
            }
        }
        if let Some(folder) = folder {
            line(format!("Files of the report: {}", folder.display()));
        }
        if let Some(resume) = &self.resume {
            line(format!("Go on with: {resume}"));
        }
        text.trim_end().to_owned()
    }

    fn headline(&self) -> String {
        let id = self.id.as_deref().unwrap_or_default();
        match self.state {
            ImportState::Done => format!("Import {id} is done."),
            ImportState::Stopped => format!("Import {id} has stopped before its end."),
            ImportState::Failed => format!("Import {id} has failed: the database has other numbers than were counted."),
            ImportState::Uploaded | ImportState::Running | ImportState::Undoing | ImportState::Undone => {
                format!("Import {id}")
            }
        }
    }
}

fn problem_line(Problem { file, line, id, field, value, problem, action }: &Problem) -> String {
    let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
    let about = match (id, field) {
        (Some(id), Some(field)) => format!(" {field} of {id}"),
        (Some(id), None) => format!(" {id}"),
        (None, Some(field)) => format!(" {field}"),
        (None, None) => String::new(),
    };
    let value =
        value.as_deref().filter(|value| !value.is_empty()).map_or_else(String::new, |value| format!(" `{value}`"));
    let action = serde_json::to_value(action).ok();
    let action = action.as_ref().and_then(|action| action.as_str()).unwrap_or_default();
    format!("{place}{about}{value}: {problem} ({action})")
}
