//! The folder of a run: what the readers of sources give, checked, cleaned and sorted, so that it can be loaded in batches.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use bytes::Bytes;
use roadmap_domain::model::attachment;
use roadmap_domain::model::id::{AttachmentId, parse_uuid};
use roadmap_domain::model::import::records::{
    self, Changelog, Comment, FeatureRequest, Kind, Move, Origin, Person, PersonKey, Prepared, Record,
};
use roadmap_domain::model::import::run::{Count, Counts, SourceName, Stage};
use roadmap_domain::model::import::upload::Subscribing;
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::picture::{self, PictureProblem};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::{import_tracks, spreadsheet};
use roadmap_domain::usecase::import::load::{Merge, StagedMove, StagedPerson};
use roadmap_domain::usecase::import::merges::MergePlan;
use roadmap_domain::usecase::import::prepare::{Pictures, prepare};
use roadmap_import::archive::Input;
use roadmap_import::records::{Action, Lost, Problem, Sink, VoteTotals};
use roadmap_import::visible;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Most problems that a report shows itself.
const FIRST_PROBLEMS: usize = 10;

/// Most different statuses of a source, each of which may become a track.
const MAX_STATUSES: usize = 500;

/// What loading a run needs to know besides the records, and what a report says about reading them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) source: String,
    pub(crate) name: String,
    pub(crate) options: LoadOptions,
    /// When the input was read: the time of records that have none.
    pub(crate) read_at: String,
    /// The statuses of all feature requests, each once.
    pub(crate) statuses: Vec<String>,
    /// Those that have a column on the public roadmap of the source.
    pub(crate) on_roadmap: Vec<String>,
    /// Those that only moves have.
    pub(crate) past: Vec<String>,
    pub(crate) votes: VoteTotals,
    pub(crate) lost: Vec<Lost>,
    /// What was rejected or left out before loading.
    pub(crate) counts: Counts,
    pub(crate) problems: u64,
    pub(crate) first_problems: Vec<Problem>,
    /// The number of records of each stage.
    pub(crate) lengths: BTreeMap<Stage, u64>,
}

/// How the records of a run are loaded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct LoadOptions {
    pub(crate) updates: bool,
    pub(crate) subscribe: Subscribing,
    pub(crate) makes_members: bool,
    /// Statuses with the names of tracks.
    pub(crate) tracks: Vec<(String, String)>,
}

/// A picture of a run, whose content, as it will be shown, is a file of [`PICTURES`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StagedFile {
    id: String,
    pub(crate) name: String,
}

impl StagedFile {
    /// Returns the ID that it has here.
    pub(crate) fn attachment(&self) -> anyhow::Result<AttachmentId> {
        Ok(AttachmentId::new(parse_uuid("the ID of a picture", &self.id)?))
    }
}

/// A folder with the records of a run.
pub(crate) struct Staged {
    folder: PathBuf,
    pub(crate) plan: Plan,
}

impl Staged {
    /// Opens the folder of a run that was read before. `None`: there is none.
    pub(crate) fn open(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(PLAN);
        match fs::read(&path) {
            Ok(plan) => {
                let plan = serde_json::from_slice(&plan).with_context(|| format!("{} is broken", path.display()))?;
                Ok(Some(Self { folder: folder.to_owned(), plan }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }

    /// Deletes the records in a folder. The files of the report stay.
    pub(crate) fn delete(folder: &Path) -> anyhow::Result<()> {
        let records = Stage::ALL.into_iter().map(file_of).chain([PLAN.to_owned()]);
        for path in records.map(|name| folder.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("{} cannot be deleted", path.display()));
                }
                _ => {}
            }
        }
        match fs::remove_dir_all(folder.join(PICTURES)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("the pictures in {} cannot be deleted", folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Returns the content of a picture.
    pub(crate) fn picture(&self, file: &StagedFile) -> anyhow::Result<Bytes> {
        let path = self.folder.join(PICTURES).join(&file.id);
        let content = fs::read(&path).with_context(|| format!("{} cannot be read", path.display()))?;
        Ok(content.into())
    }

    /// Returns the records of a stage, after those that are done.
    pub(crate) fn records<T: DeserializeOwned>(
        &self,
        stage: Stage,
        done: u64,
    ) -> anyhow::Result<impl Iterator<Item = anyhow::Result<T>> + use<T>> {
        let path = self.folder.join(file_of(stage));
        let file = File::open(&path).with_context(|| format!("{} cannot be opened", path.display()))?;
        let lines = BufReader::new(file).lines().skip(usize::try_from(done)?);
        let parse = move |line: io::Result<String>| {
            let record = line.map_err(anyhow::Error::from).and_then(|line| Ok(serde_json::from_str(&line)?));
            record.with_context(|| format!("{} is broken", path.display()))
        };
        Ok(lines.map(parse))
    }

    /// Returns the number of records of a stage.
    pub(crate) fn len(&self, stage: Stage) -> u64 {
        self.plan.lengths.get(&stage).copied().unwrap_or_default()
    }
}

/// The file with the plan.
const PLAN: &str = "plan.json";

/// The file in the folder of a run with the records of a stage, one a line.
fn file_of(stage: Stage) -> String {
    format!("{}.ndjson", stage.kind().name())
}

/// The files of a report, beside the records.
pub(crate) const PROBLEMS: &str = "problems.csv";
pub(crate) const REJECTED: &str = "rejected";

/// The folder with the pictures of texts.
const PICTURES: &str = "pictures";

/// What is lost of pictures.
const NO_PICTURES: &str = "pictures that cannot be shown";

/// What a run reads, and what it asks while it reads.
pub(crate) struct Reader<'a> {
    pub(crate) inputs: &'a [Input],
    /// Returns a picture as it is shown.
    pub(crate) scale: &'a dyn Fn(Bytes) -> Result<Bytes, PictureProblem>,
    /// Whether an earlier run has imported the feature request with this external id.
    pub(crate) is_known: &'a dyn Fn(&str) -> bool,
}

/// Takes what the reader of a source gives, and writes it to a folder.
pub(crate) struct Staging<'a> {
    folder: PathBuf,
    name: &'a SourceName,
    reader: Reader<'a>,
    file_names: Vec<String>,
    max_rejected: u64,
    /// Whether too many records were rejected, which ends the reading.
    pub(crate) is_over: bool,
    hasher: RandomState,
    members: People,
    customers: People,
    requests: Sorted,
    comments: Sorted,
    merges: Vec<(u64, Merge, Origin)>,
    merge_plan: MergePlan,
    votes: Sorted,
    subscriptions: Sorted,
    moves: Sorted,
    changelogs: Sorted,
    files: Lines,
    pictures: Pictures,
    /// In which order the feature requests of the input were read.
    sequence: HashMap<u64, usize>,
    notes: Lines,
    problems_file: BufWriter<File>,
    /// The files of rejected records, with what ends them.
    rejected: BTreeMap<usize, (BufWriter<File>, &'static [u8])>,
    statuses: BTreeSet<String>,
    on_roadmap: BTreeSet<String>,
    past: BTreeSet<String>,
    problems: u64,
    first_problems: Vec<Problem>,
    lost: Vec<Lost>,
    counts: Counts,
    has_nobody: bool,
}

/// A file of lines.
struct Lines {
    file: BufWriter<File>,
    count: u64,
}

impl Lines {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create_new(path)?), count: 0 })
    }

    fn write(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.file, value)?;
        self.file.write_all(b"\n")?;
        self.count += 1;
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.file.flush()?;
        Ok(self.count)
    }
}

/// People, each once, or twice if the name came later.
struct People {
    lines: Lines,
    /// Whether somebody's name is known.
    seen: HashMap<u64, bool>,
}

impl People {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { lines: Lines::create(path)?, seen: HashMap::new() })
    }

    fn add(&mut self, hash: u64, person: &Person) -> io::Result<()> {
        let again = match self.seen.get(&hash) {
            None => false,
            Some(false) if person.name.is_some() => true,
            Some(_) => return Ok(()),
        };
        self.seen.insert(hash, person.name.is_some());
        self.lines.write(&StagedPerson { person: person.clone(), again })
    }
}

/// Records that are sorted at the end.
struct Sorted {
    path: PathBuf,
    file: BufWriter<File>,
    /// Key, position and length of each line.
    places: Vec<(u64, u64, u32)>,
    end: u64,
}

/// Returns the key of a record that is sorted by its time. One without a time comes last: it has that of the run.
fn key_of(at: Option<Timestamp>) -> u64 {
    // The order of the numbers, from the lowest one on.
    at.map_or(u64::MAX, |at| at.millis().cast_unsigned() ^ (1 << 63))
}

impl Sorted {
    fn create(path: PathBuf) -> io::Result<Self> {
        Ok(Self { file: BufWriter::new(File::create_new(&path)?), path, places: Vec::new(), end: 0 })
    }

    fn write(&mut self, key: u64, value: &impl Serialize) -> io::Result<()> {
        let line = serde_json::to_vec(value)?;
        self.file.write_all(&line)?;
        let length = u32::try_from(line.len()).map_err(io::Error::other)?;
        self.places.push((key, self.end, length));
        self.end += u64::from(length);
        Ok(())
    }

    /// Returns the place of each line after sorting, in the order in which they were written.
    fn ranks(&self) -> Vec<u64> {
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_unstable_by_key(|index| self.places.get(*index));
        let mut ranks = vec![0; order.len()];
        for (rank, index) in (0..).zip(order) {
            if let Some(place) = ranks.get_mut(index) {
                *place = rank;
            }
        }
        ranks
    }

    /// Writes the lines in their order to another file. Returns their number.
    fn finish(mut self, to: &Path) -> io::Result<u64> {
        self.file.flush()?;
        self.places.sort_unstable();
        let mut from = File::open(&self.path)?;
        let mut to = BufWriter::new(File::create_new(to)?);
        let mut line = Vec::new();
        for (_, position, length) in &self.places {
            from.seek(SeekFrom::Start(*position))?;
            line.resize(usize::try_from(*length).map_err(io::Error::other)?, 0);
            from.read_exact(&mut line)?;
            to.write_all(&line)?;
            to.write_all(b"\n")?;
        }
        to.flush()?;
        fs::remove_file(&self.path)?;
        Ok(self.places.len() as u64)
    }
}

impl<'a> Staging<'a> {
    /// Creates the files in an empty folder.
    pub(crate) fn create(
        folder: &Path,
        name: &'a SourceName,
        reader: Reader<'a>,
        max_rejected: u64,
    ) -> io::Result<Self> {
        let stage = |stage: Stage| folder.join(file_of(stage));
        let unsorted = |stage: Stage| folder.join(format!("{}.unsorted", stage.kind().name()));
        let mut problems_file = BufWriter::new(File::create_new(folder.join(PROBLEMS))?);
        let header = ["file", "line", "id", "field", "value", "problem", "action"].map(spreadsheet::cell);
        writeln!(problems_file, "\u{feff}{}", header.join(","))?;
        Ok(Self {
            folder: folder.to_owned(),
            name,
            file_names: reader.inputs.iter().map(|input| visible(input.name(), 200)).collect(),
            reader,
            max_rejected,
            is_over: false,
            hasher: RandomState::new(),
            members: People::create(&stage(Stage::Members))?,
            customers: People::create(&stage(Stage::Customers))?,
            requests: Sorted::create(unsorted(Stage::FeatureRequests))?,
            comments: Sorted::create(unsorted(Stage::Comments))?,
            merges: Vec::new(),
            merge_plan: MergePlan::default(),
            votes: Sorted::create(unsorted(Stage::Votes))?,
            subscriptions: Sorted::create(unsorted(Stage::Subscriptions))?,
            moves: Sorted::create(unsorted(Stage::Moves))?,
            changelogs: Sorted::create(unsorted(Stage::Changelogs))?,
            files: Lines::create(&stage(Stage::Files))?,
            pictures: Pictures::default(),
            sequence: HashMap::new(),
            notes: Lines::create(&stage(Stage::Notes))?,
            problems_file,
            rejected: BTreeMap::new(),
            statuses: BTreeSet::new(),
            on_roadmap: BTreeSet::new(),
            past: BTreeSet::new(),
            problems: 0,
            first_problems: Vec::new(),
            lost: Vec::new(),
            counts: Counts::default(),
            has_nobody: false,
        })
    }

    /// Sorts what was read, and writes the plan.
    pub(crate) fn finish(
        mut self,
        source: &str,
        read_at: Timestamp,
        votes: VoteTotals,
        options: LoadOptions,
    ) -> anyhow::Result<Staged> {
        self.check_merges()?;
        for lost in &self.lost {
            if let Some(kind) = lost.kind {
                self.counts.of_mut(kind).skipped += lost.count;
            }
        }
        self.problems_file.flush()?;
        for (file, end) in self.rejected.values_mut() {
            file.write_all(end)?;
            file.flush()?;
        }
        self.sort_by_request();
        let path = |stage: Stage| self.folder.join(file_of(stage));
        let lengths = BTreeMap::from([
            (Stage::Members, self.members.lines.finish()?),
            (Stage::Customers, self.customers.lines.finish()?),
            (Stage::FeatureRequests, self.requests.finish(&path(Stage::FeatureRequests))?),
            (Stage::Merges, write_merges(&path(Stage::Merges), self.merges)?),
            (Stage::Votes, self.votes.finish(&path(Stage::Votes))?),
            (Stage::Subscriptions, self.subscriptions.finish(&path(Stage::Subscriptions))?),
            (Stage::Files, self.files.finish()?),
            (Stage::Moves, finish_moves(self.moves, &self.folder.join("moves.sorted"), &path(Stage::Moves))?),
            (Stage::Changelogs, self.changelogs.finish(&path(Stage::Changelogs))?),
            (Stage::Comments, self.comments.finish(&path(Stage::Comments))?),
            (Stage::Notes, self.notes.finish()?),
        ]);
        let plan = Plan {
            source: source.to_owned(),
            name: self.name.as_str().to_owned(),
            options,
            read_at: read_at.to_string(),
            past: self.past.difference(&self.statuses).cloned().collect(),
            statuses: self.statuses.into_iter().collect(),
            on_roadmap: self.on_roadmap.into_iter().collect(),
            votes,
            lost: self.lost,
            counts: self.counts,
            problems: self.problems,
            first_problems: self.first_problems,
            lengths,
        };
        fs::write(self.folder.join(PLAN), serde_json::to_vec(&plan)?)?;
        Ok(Staged { folder: self.folder, plan })
    }

    /// Sorts votes and subscriptions by their feature requests as these are loaded: those of one are stored and counted
    /// together, and near to those of the next one.
    fn sort_by_request(&mut self) {
        let ranks = self.requests.ranks();
        for (key, ..) in self.votes.places.iter_mut().chain(&mut self.subscriptions.places) {
            // Those of feature requests of earlier runs come last, together, too.
            let sequence = self.sequence.get(key).and_then(|sequence| ranks.get(*sequence));
            *key = sequence.copied().unwrap_or(*key | 1 << 63);
        }
    }

    /// Leaves out the merges that cannot be made, in the order in which they would be made.
    fn check_merges(&mut self) -> io::Result<()> {
        let is_known = self.reader.is_known;
        let mut merges = std::mem::take(&mut self.merges);
        merges.sort_by_key(|(place, ..)| *place);
        let mut refused = 0;
        for (place, merge, origin) in merges {
            match self.merge_plan.add_merge(&merge.source, &merge.target, || is_known(&merge.target)) {
                Ok(()) => self.merges.push((place, merge, origin)),
                Err(why) => {
                    refused += 1;
                    let problem = self.problem_at(origin, why, Action::Ignored).of_record(&merge.source);
                    self.problem(problem.of_value("merged_into", &merge.target))?;
                }
            }
        }
        if refused > 0 {
            self.lost.push(Lost {
                what: "merges that are not possible".to_owned(),
                count: refused,
                kind: Some(Kind::Merges),
            });
        }
        Ok(())
    }

    fn problem_at(&self, origin: Origin, problem: &str, action: Action) -> Problem {
        let file = self.file_names.get(origin.file).map_or("", String::as_str);
        Problem::new(file, problem, action).in_line(origin.line)
    }

    fn add_person(&mut self, person: &Person, is_team: bool) -> io::Result<()> {
        let address = self.name.address_of(&person.key).map_err(io::Error::other)?;
        let hash = self.hasher.hash_one(address.folded());
        if is_team { self.members.add(hash, person) } else { self.customers.add(hash, person) }
    }

    /// Adds the author of a comment or note. A customer of whom nothing is known is one, too.
    fn add_author(&mut self, author: Option<&Person>, is_team: bool) -> io::Result<()> {
        match author {
            Some(person) => self.add_person(person, is_team),
            None if is_team || self.has_nobody => Ok(()),
            None => {
                self.has_nobody = true;
                let address = self.name.nobody().map_err(io::Error::other)?;
                self.add_person(&Person { key: PersonKey::Email(address.as_str().to_owned()), name: None }, false)
            }
        }
    }

    fn add_request(&mut self, request: Prepared<FeatureRequest>) -> io::Result<()> {
        let record = &request.record;
        if let Some(author) = record.author.as_ref().filter(|_| !record.is_team) {
            self.add_person(author, false)?;
        }
        if let Some(status) = &record.status {
            add_status(&mut self.statuses, status)?;
        }
        self.merge_plan.add_request(&record.external_id, record.is_private);
        if let Some(target) = record.merged_into.clone() {
            let place = key_of(record.created_at);
            self.merges.push((place, Merge { source: record.external_id.clone(), target }, record.origin));
        }
        self.sequence.insert(self.hasher.hash_one(&record.external_id), self.sequence.len());
        self.requests.write(key_of(record.created_at), &request)
    }

    /// Adds a picture, as it will be shown. One that cannot be shown is listed.
    fn add_file(&mut self, file: records::File) -> io::Result<()> {
        let Some(input) = self.reader.inputs.get(file.origin.file) else { return Ok(()) };
        let mut content = Vec::new();
        input.open()?.take(attachment::MAX_BYTES + 1).read_to_end(&mut content)?;
        let content = Bytes::from(content);
        let scaled = match content.len() as u64 > attachment::MAX_BYTES {
            true => Err(PictureProblem::TooLarge),
            false => (self.reader.scale)(content.clone()),
        };
        // A browser may show what is broken.
        let scaled = scaled.or_else(|problem| match problem {
            PictureProblem::Unreadable if MediaType::detect(&content, None).is_inline() => Ok(content.clone()),
            problem => Err(problem),
        });
        match scaled {
            Ok(content) => {
                let id = picture::id_of(format!("{} {}", self.name, file.external_id).as_bytes(), &content);
                let folder = self.folder.join(PICTURES);
                fs::create_dir_all(&folder)?;
                fs::write(folder.join(id.to_string()), &content)?;
                self.pictures.add(file.external_id, id);
                self.files.write(&StagedFile { id: id.to_string(), name: file.name })
            }
            Err(problem) => {
                let message = format!("the picture is left out: {}", problem.message());
                let problem = Problem::new(input.name(), message, Action::Ignored).of_record(&file.external_id);
                self.problem(problem)?;
                let lost = self.lost.iter_mut().find(|lost| lost.what == NO_PICTURES);
                match lost {
                    Some(lost) => lost.count += 1,
                    None => {
                        self.lost.push(Lost { what: NO_PICTURES.to_owned(), count: 1, kind: Some(Kind::Files) });
                    }
                }
                Ok(())
            }
        }
    }

    fn add_move(&mut self, digest: String, moved: Move) -> io::Result<()> {
        add_status(&mut self.past, &moved.status)?;
        self.moves.write(key_of(Some(moved.at)), &Prepared { digest, record: StagedMove { from: None, moved } })
    }

    /// Adds a changelog. Links to feature requests that do not exist are listed.
    fn add_changelog(&mut self, digest: String, mut changelog: Changelog) -> io::Result<()> {
        let (origin, id) = (changelog.origin, changelog.external_id.clone());
        let mut linked = Vec::new();
        for request in std::mem::take(&mut changelog.requests) {
            let is_here =
                self.sequence.contains_key(&self.hasher.hash_one(&request)) || (self.reader.is_known)(&request);
            if is_here {
                linked.push(request);
                continue;
            }
            let problem = "there is no feature request with this id: the changelog does not link to it";
            let problem = self.problem_at(origin, problem, Action::Ignored).of_record(&id);
            self.problem(problem.of_value("posts", &request))?;
        }
        changelog.requests = linked;
        self.changelogs.write(key_of(changelog.published_at), &Prepared { digest, record: changelog })
    }

    fn add_comment(&mut self, comment: &Prepared<Comment>) -> io::Result<()> {
        let record = &comment.record;
        self.add_author(record.author.as_ref(), record.is_team)?;
        self.comments.write(key_of(record.created_at), comment)
    }
}

/// Adds a status of a feature request or a move.
fn add_status(statuses: &mut BTreeSet<String>, status: &str) -> io::Result<()> {
    statuses.insert(status.to_owned());
    if statuses.len() > MAX_STATUSES {
        let message = format!("the feature requests have more than {MAX_STATUSES} different statuses");
        return Err(io::Error::other(message));
    }
    Ok(())
}

/// Writes moves in the order of their times, each with the status before it. Returns their number.
fn finish_moves(moves: Sorted, sorted: &Path, to: &Path) -> anyhow::Result<u64> {
    let count = moves.finish(sorted)?;
    let mut lines = Lines::create(to)?;
    let mut latest: HashMap<u64, String> = HashMap::new();
    let hasher = RandomState::new();
    for line in BufReader::new(File::open(sorted)?).lines() {
        let mut moved: Prepared<StagedMove> = serde_json::from_str(&line?)?;
        let status = moved.record.moved.status.clone();
        moved.record.from = latest.insert(hasher.hash_one(&moved.record.moved.request), status);
        lines.write(&moved)?;
    }
    lines.finish()?;
    fs::remove_file(sorted)?;
    Ok(count)
}

/// Writes merges. Returns their number.
fn write_merges(path: &Path, merges: Vec<(u64, Merge, Origin)>) -> io::Result<u64> {
    let mut lines = Lines::create(path)?;
    for (_, merge, _) in merges {
        lines.write(&merge)?;
    }
    lines.finish()
}

impl Sink for Staging<'_> {
    fn record(&mut self, record: Record) -> io::Result<()> {
        let origin = record.origin();
        let id = match &record {
            Record::FeatureRequest(request) => Some(request.external_id.clone()),
            Record::Comment(comment) => Some(comment.external_id.clone()),
            Record::Note(note) => Some(note.external_id.clone()),
            Record::Changelog(changelog) => Some(changelog.external_id.clone()),
            _ => None,
        };
        let prepared = prepare(record, &self.pictures)?;
        for adjustment in prepared.adjustments {
            let (field, sentence) = adjustment.describe();
            let problem = self.problem_at(origin, sentence, Action::Changed);
            let problem = if let Some(id) = &id { problem.of_record(id) } else { problem };
            self.problem(problem.of_value(field, ""))?;
        }
        for Prepared { digest, record } in prepared.records {
            match record {
                Record::FeatureRequest(record) => self.add_request(Prepared { digest, record })?,
                Record::Comment(record) => self.add_comment(&Prepared { digest, record })?,
                Record::Note(record) => {
                    if let Some(author) = &record.author {
                        self.add_person(author, record.is_team)?;
                    }
                    self.notes.write(&Prepared { digest, record })?;
                }
                Record::Vote(vote) => {
                    self.add_person(&vote.person, false)?;
                    self.votes.write(self.hasher.hash_one(&vote.request), &vote)?;
                }
                Record::Subscription(subscription) => {
                    self.add_person(&subscription.person, false)?;
                    self.subscriptions.write(self.hasher.hash_one(&subscription.request), &subscription)?;
                }
                Record::Status(status) => {
                    self.on_roadmap.insert(import_tracks::fold(&status.name));
                }
                Record::File(file) => self.add_file(file)?,
                Record::Move(moved) => self.add_move(digest, moved)?,
                Record::Changelog(changelog) => self.add_changelog(digest, changelog)?,
            }
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> io::Result<()> {
        self.problems += 1;
        let action = serde_json::to_value(problem.action)?;
        let line = problem.line.map(|line| line.to_string()).unwrap_or_default();
        let cells = [
            &problem.file,
            &line,
            problem.id.as_deref().unwrap_or_default(),
            problem.field.as_deref().unwrap_or_default(),
            problem.value.as_deref().unwrap_or_default(),
            &problem.problem,
            action.as_str().unwrap_or_default(),
        ];
        writeln!(self.problems_file, "{}", cells.map(spreadsheet::cell).join(","))?;
        if self.first_problems.len() < FIRST_PROBLEMS {
            self.first_problems.push(problem);
        }
        Ok(())
    }

    fn lost(&mut self, lost: Lost) -> io::Result<()> {
        self.lost.push(lost);
        Ok(())
    }

    fn rejected(&mut self, kind: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()> {
        let Count { rejected, .. } = self.counts.of(kind);
        self.counts.of_mut(kind).rejected = rejected + 1;
        if Kind::ALL.iter().map(|kind| self.counts.of(*kind).rejected).sum::<u64>() > self.max_rejected {
            self.is_over = true;
            return Err(io::Error::other("too many records are rejected"));
        }
        let name = rejected_name(&self.file_names, file);
        let folder = self.folder.join(REJECTED);
        let to = match self.rejected.entry(file) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(new) => {
                if !folder.exists() {
                    fs::create_dir(&folder)?;
                }
                let mut file = BufWriter::new(File::create_new(folder.join(name))?);
                file.write_all(head)?;
                new.insert((file, end_of(head)))
            }
        };
        io::copy(original, &mut to.0)?;
        Ok(())
    }
}

/// Returns what ends a file of rejected records that begins with this: the end of an array, in the encoding of its beginning.
fn end_of(head: &[u8]) -> &'static [u8] {
    match head {
        [0xfe, 0xff, .., 0, b'['] => b"\0]",
        [.., b'[', 0] => b"]\0",
        [.., b'['] => b"]",
        _ => b"",
    }
}

/// Returns a name for the rejected records of an input, of which no part is a path.
fn rejected_name(names: &[String], index: usize) -> String {
    let plain = |name: &String| {
        let last = name.rsplit('/').next().unwrap_or_default();
        let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
        let plain: String = last.chars().take(100).map(|c| if is_plain(c) { c } else { '_' }).collect();
        if plain.starts_with('.') || plain.is_empty() { format!("_{plain}") } else { plain }
    };
    let name = names.get(index).map(plain).unwrap_or_default();
    let is_first = !names.iter().take(index).any(|other| plain(other) == name);
    if is_first { name } else { format!("{}-{name}", index + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_records_go_to_a_file_of_a_plain_name() {
        let names = ["posts.csv", "a/posts.csv", "../../etc/pass wd", ".bashrc", "", "ü\u{1b}.csv"].map(str::to_owned);
        let plain: Vec<_> = (0..names.len()).map(|index| rejected_name(&names, index)).collect();
        assert_eq!(plain, ["posts.csv", "2-posts.csv", "pass_wd", "_.bashrc", "_", "__.csv"]);
    }

    #[test]
    fn an_array_of_rejected_records_ends() {
        let cases: [(&[u8], &[u8]); 6] = [
            (b"[", b"]"),
            (b"\xef\xbb\xbf[", b"]"),
            (b"\xff\xfe[\0", b"]\0"),
            (b"\xfe\xff\0[", b"\0]"),
            (b"id,title\n", b""),
            (b"", b""),
        ];
        for (head, end) in cases {
            assert_eq!(end_of(head), end, "{head:?}");
        }
    }

    #[test]
    fn lines_are_sorted_by_time_and_then_by_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let mut sorted = Sorted::create(folder.path().join("a")).unwrap();
        for (at, value) in [(Some(5), "b"), (None, "e"), (Some(-3), "a"), (Some(5), "c"), (None, "d")] {
            sorted.write(key_of(at.and_then(Timestamp::from_millis)), &value).unwrap();
        }
        assert_eq!(sorted.ranks(), [1, 3, 0, 2, 4]);
        let to = folder.path().join("b");
        assert_eq!(sorted.finish(&to).unwrap(), 5);
        assert_eq!(fs::read_to_string(to).unwrap(), "\"a\"\n\"b\"\n\"c\"\n\"e\"\n\"d\"\n");
        assert!(!folder.path().join("a").exists());
    }
}
