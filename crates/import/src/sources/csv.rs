//! CSV and TSV files of any program: the row `csv` of contract section 4.
//!
//! Files are recognized by their columns: feature requests, votes for them, and comments on them. Files of votes are read
//! twice, because the number of nameless votes of a feature request depends on all of its listed voters.

mod columns;
mod values;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};

use encoding_rs::Encoding;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::text::{Name, truncate};
use roadmap_domain::model::timestamp::Timestamp;
use thiserror::Error;

use self::columns::{Columns, list_columns, recognize};
pub use self::columns::{Field, FieldMap, FileKind};
use self::values::{
    Tags, count, digest, fit_title, flag, line, nameless_votes, optional, split_tags, split_voters, unguard,
};
use crate::archive::Input;
use crate::dates::{Dates, When};
use crate::encoding::{Detected, Evidence, detect};
use crate::records::{
    Action, Comment, FeatureRequest, Lost, Note, Origin, Person, PersonKey, Problem, Record, Sink, Vote, VoteTotals,
};
use crate::table::{Item, Place, RejectedRow, Row, Table, TableError};
use crate::visible;

/// Most ids and votes of a run. They are remembered as hashes, to find repeated ones in bounded memory.
const MAX_SEEN: usize = 5_000_000;

/// Longest address of a feature request in its source, in characters.
const MAX_URL: usize = 2_000;

const NAMES_WITHOUT_ADDRESS: &str = "names without an address";

/// How the files of a run are read.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// `--map`
    pub map: &'a FieldMap,
    /// `--encoding`
    pub encoding: Option<&'static Encoding>,
    /// `--delimiter`
    pub delimiter: Option<u8>,
    /// `--dates`
    pub dates: Dates,
    /// Whether an earlier run has imported the feature request with this external id.
    pub is_known: &'a dyn Fn(&str) -> bool,
}

/// What a conversion did beside its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The inputs that were read, by their position.
    pub files: Vec<(usize, FileKind)>,
    /// The votes of all feature requests.
    pub votes: VoteTotals,
    /// The category or board that all feature requests share, which is no tag.
    pub shared_category: Option<String>,
}

/// What a file is, before it is converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Which records it has. `None` if its columns do not say.
    pub kind: Option<FileKind>,
    /// The columns as they are written, with the fields they fill.
    pub columns: Vec<(String, Option<Field>)>,
    /// How its encoding was found.
    pub encoding: Detected,
}

/// Why files cannot be converted, as a sentence for the operator.
#[derive(Debug, Error)]
pub enum CsvError {
    /// A file cannot be read.
    #[error("`{file}` cannot be read: {source}")]
    Read { file: String, source: io::Error },
    /// A file is no table.
    #[error("`{file}` cannot be imported: {problem}")]
    Table { file: String, problem: TableError },
    /// A file has neither a title nor what comments and votes need.
    #[error("`{file}` has no column for the title. Its columns are {columns}. Name one with --map \"title=COLUMN\"")]
    NoTitle { file: String, columns: String },
    /// A column of `--map` is in no file.
    #[error("no file has the column `{column}` of --map")]
    UnknownColumn { column: String },
    /// A value of `--map` is not of its form.
    #[error("`{text}` is no FIELD=COLUMN: the fields are {fields}")]
    InvalidMap { text: String, fields: String },
    /// `--map` names a field twice.
    #[error("--map names the field `{field}` twice")]
    MappedTwice { field: &'static str },
    /// More than [`MAX_SEEN`] ids and votes.
    #[error("the files have more than {MAX_SEEN} records")]
    TooManyRecords,
    /// The output cannot be stored.
    #[error("the converted records cannot be stored: {0}")]
    Sink(#[source] io::Error),
}

/// Finds out what a file is.
///
/// # Errors
/// It cannot be read, or is no table.
pub fn inspect(input: &Input, options: &Options<'_>) -> Result<Inspection, CsvError> {
    let encoding = detect_encoding(input, options)?;
    let table = open_table(input, encoding, options)?;
    let recognized = recognize(table.header(), options.map);
    let fields = recognized.as_ref().map_or(&[][..], |(_, columns)| columns.fields());
    let fields = fields.iter().copied().chain(std::iter::repeat(None));
    let columns = table.header().names().iter().cloned().zip(fields).collect();
    Ok(Inspection { kind: recognized.map(|(kind, _)| kind), columns, encoding })
}

/// Converts files. Feature requests come first, then votes, then comments and notes; the votes that a feature request lists
/// itself follow it.
///
/// Among several inputs, those that are no tables by the end of their name and not of a known kind are listed and left out.
///
/// # Errors
/// A file cannot be read, or is no table of a known kind, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<Summary, CsvError> {
    let mut run = Run {
        options,
        sink,
        hasher: RandomState::new(),
        ids: HashSet::new(),
        comments: HashSet::new(),
        voters: HashSet::new(),
        listed: HashMap::new(),
        shared_category: None,
        votes: VoteTotals::default(),
        lost: BTreeMap::new(),
    };
    let files = run.recognize_files(inputs)?;
    let of = |kind| files.iter().filter(move |file| file.kind == kind);
    for file in of(FileKind::Votes) {
        run.count_listed_voters(file)?;
    }
    run.shared_category = shared_category(of(FileKind::FeatureRequests), options)?;
    for file in of(FileKind::FeatureRequests) {
        run.convert_rows(file, Run::convert_feature_request)?;
    }
    for file in of(FileKind::Votes) {
        run.convert_rows(file, Run::convert_vote)?;
    }
    for file in of(FileKind::Comments) {
        run.convert_rows(file, Run::convert_comment)?;
    }
    for (what, count) in std::mem::take(&mut run.lost) {
        run.sink.lost(Lost { what, count }).map_err(CsvError::Sink)?;
    }
    Ok(Summary {
        files: files.iter().map(|file| (file.index, file.kind)).collect(),
        votes: run.votes,
        shared_category: run.shared_category,
    })
}

fn detect_encoding(input: &Input, options: &Options<'_>) -> Result<Detected, CsvError> {
    let read = |source| read_error(input, source);
    detect(input.open().map_err(read)?, options.encoding).map_err(read)
}

fn open_table(
    input: &Input,
    encoding: Detected,
    options: &Options<'_>,
) -> Result<Table<Box<dyn Read + Send>>, CsvError> {
    let file = input.open().map_err(|source| read_error(input, source))?;
    Table::open(file, encoding, options.delimiter).map_err(|problem| match problem {
        TableError::Read(source) => read_error(input, source),
        problem => CsvError::Table { file: visible(input.name(), 200), problem },
    })
}

fn read_error(input: &Input, source: io::Error) -> CsvError {
    CsvError::Read { file: visible(input.name(), 200), source }
}

/// A file of a known kind.
struct SourceFile<'a> {
    index: usize,
    input: &'a Input,
    encoding: Detected,
    kind: FileKind,
    columns: Columns,
}

impl SourceFile<'_> {
    /// Calls `each` for every record until it returns `false`.
    fn read(
        &self,
        options: &Options<'_>,
        mut each: impl FnMut(Item<'_>, &[u8]) -> Result<bool, CsvError>,
    ) -> Result<(), CsvError> {
        let mut table = open_table(self.input, self.encoding, options)?;
        let head = table.head().to_vec();
        while let Some(item) = table.read().map_err(|source| read_error(self.input, source))? {
            if !each(item, &head)? {
                break;
            }
        }
        Ok(())
    }

    fn problem(&self, problem: impl Into<String>, action: Action) -> Problem {
        Problem::new(self.input.name(), problem, action)
    }
}

/// Returns the category or board that all feature requests of a run share, if there are at least two.
fn shared_category<'a>(
    files: impl Iterator<Item = &'a SourceFile<'a>>,
    options: &Options<'_>,
) -> Result<Option<String>, CsvError> {
    let mut shared: Option<Vec<String>> = None;
    let mut records = 0_u64;
    for file in files {
        file.read(options, |item, _| {
            let Item::Row(row) = item else { return Ok(true) };
            if line(file.columns.cell(&row, Field::Title)).is_none() {
                return Ok(true);
            }
            records += 1;
            let cells = file.columns.categories().iter().map(|position| unguard(row.cell(*position)));
            let found = cells.flat_map(split_tags).filter_map(line);
            let left = match shared.take() {
                None => found.collect(),
                Some(before) => {
                    let found: Vec<String> = found.collect();
                    before.into_iter().filter(|category| found.contains(category)).collect()
                }
            };
            Ok(!shared.insert(left).is_empty())
        })?;
        if shared.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
    }
    Ok(shared.filter(|_| records > 1).and_then(|shared| shared.into_iter().next()))
}

/// How many voters the files of votes list for a feature request.
#[derive(Default, Clone, Copy)]
struct Listed {
    entries: u32,
    unusable: u32,
}

/// The record that is being converted.
struct Context<'a> {
    file: &'a SourceFile<'a>,
    head: &'a [u8],
    row: &'a Row<'a>,
}

impl Context<'_> {
    fn cell(&self, field: Field) -> &str {
        self.file.columns.cell(self.row, field)
    }

    fn origin(&self) -> Origin {
        Origin { file: self.file.index, line: self.row.place.line }
    }

    fn problem(&self, id: Option<&str>, field: Field, problem: impl Into<String>, action: Action) -> Problem {
        self.problem_of(id, field, self.cell(field), problem, action)
    }

    fn problem_of(
        &self,
        id: Option<&str>,
        field: Field,
        value: &str,
        problem: impl Into<String>,
        action: Action,
    ) -> Problem {
        let problem = self.file.problem(problem, action).in_line(self.row.place.line).of_value(field.name(), value);
        match id {
            Some(id) => problem.of_record(id),
            None => problem,
        }
    }
}

/// A conversion. Ids and votes are remembered as hashes with a key of their own, which no file can foresee.
struct Run<'a> {
    options: &'a Options<'a>,
    sink: &'a mut dyn Sink,
    hasher: RandomState,
    /// The ids of feature requests.
    ids: HashSet<u64>,
    /// The ids of comments and notes.
    comments: HashSet<u64>,
    /// Pairs of a feature request and a voter.
    voters: HashSet<u64>,
    /// By the id of a feature request.
    listed: HashMap<u64, Listed>,
    shared_category: Option<String>,
    votes: VoteTotals,
    lost: BTreeMap<String, u64>,
}

type Converted = Result<(), CsvError>;

impl Run<'_> {
    /// Finds out which inputs have records.
    fn recognize_files<'a>(&mut self, inputs: &'a [Input]) -> Result<Vec<SourceFile<'a>>, CsvError> {
        let mut files = Vec::new();
        let mut unused: Vec<&str> = self.options.map.columns().collect();
        let mut first_error = None;
        for (index, input) in inputs.iter().enumerate() {
            match self.recognize_file(index, input, &mut unused) {
                Ok(file) => files.push(file),
                Err(error) if inputs.len() == 1 || is_table_by_name(input.name()) => return Err(error),
                Err(error @ CsvError::Read { .. }) => return Err(error),
                Err(error) => {
                    let problem = Problem::new(input.name(), "the file is no table of a known kind", Action::Skipped);
                    self.report(problem)?;
                    first_error.get_or_insert(error);
                }
            }
        }
        match (first_error, unused.first()) {
            (Some(error), _) if files.is_empty() => Err(error),
            (_, Some(column)) => Err(CsvError::UnknownColumn { column: visible(column, 80) }),
            _ => Ok(files),
        }
    }

    fn recognize_file<'a>(
        &mut self,
        index: usize,
        input: &'a Input,
        unused: &mut Vec<&str>,
    ) -> Result<SourceFile<'a>, CsvError> {
        let encoding = detect_encoding(input, self.options)?;
        let table = open_table(input, encoding, self.options)?;
        let header = table.header();
        unused.retain(|column| header.position(column).is_none());
        let (kind, columns) = recognize(header, self.options.map)
            .ok_or_else(|| CsvError::NoTitle { file: visible(input.name(), 200), columns: list_columns(header) })?;
        let file = SourceFile { index, input, encoding, kind, columns };
        if encoding.evidence == Evidence::Guessed {
            let warning =
                "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
            self.report(file.problem(warning, Action::Changed))?;
        }
        Ok(file)
    }

    /// Counts the voters that a file of votes lists for each feature request.
    fn count_listed_voters(&mut self, file: &SourceFile<'_>) -> Converted {
        file.read(self.options, |item, _| {
            let Item::Row(row) = item else { return Ok(true) };
            let Some(request) = optional(file.columns.cell(&row, Field::RequestId)) else { return Ok(true) };
            let is_usable = EmailAddress::parse("email", file.columns.cell(&row, Field::Email)).is_ok();
            let listed = self.listed.entry(self.hasher.hash_one(request)).or_default();
            listed.entries = listed.entries.saturating_add(1);
            listed.unusable = listed.unusable.saturating_add(u32::from(!is_usable));
            self.check_memory()?;
            Ok(true)
        })
    }

    /// Converts all records of a file.
    fn convert_rows(&mut self, file: &SourceFile<'_>, convert: fn(&mut Self, &Context<'_>) -> Converted) -> Converted {
        let mut lost_cells: Vec<u64> = vec![0; file.columns.fields().len()];
        let mut names = Vec::new();
        file.read(self.options, |item, head| {
            match item {
                Item::Row(row) => {
                    let unused = file.columns.fields().iter().zip(&mut lost_cells).zip(row.cells());
                    for ((_, lost), _) in unused.filter(|((field, _), cell)| field.is_none() && !cell.trim().is_empty())
                    {
                        *lost += 1;
                    }
                    convert(self, &Context { file, head, row: &row })?;
                }
                Item::Rejected(row) => self.reject_unreadable(file, head, &row)?,
            }
            self.check_memory()?;
            Ok(true)
        })?;
        if lost_cells.iter().any(|lost| *lost > 0) {
            names = open_table(file.input, file.encoding, self.options)?.header().names().to_vec();
        }
        for (name, lost) in names.iter().zip(lost_cells).filter(|(_, lost)| *lost > 0) {
            self.lose(format!("column {}", visible(name, 80)), lost);
        }
        Ok(())
    }

    fn convert_feature_request(&mut self, context: &Context<'_>) -> Converted {
        let title = line(context.cell(Field::Title));
        let id = match (optional(context.cell(Field::Id)), &title) {
            (Some(id), _) => id.to_owned(),
            (None, title) => digest(&[title.as_deref().unwrap_or_default(), context.cell(Field::CreatedAt).trim()]),
        };
        let has_id = optional(context.cell(Field::Id)).is_some();
        let Some(title) = title else {
            let id = has_id.then_some(&*id);
            return self.reject(context, context.problem(id, Field::Title, "the title is blank", Action::Rejected));
        };
        if !self.ids.insert(self.hasher.hash_one(&*id)) {
            let problem = if has_id {
                context.problem(Some(&id), Field::Id, "an earlier record has the same id", Action::Rejected)
            } else {
                let problem = "an earlier record has the same title and time, and there is no id";
                context.problem(None, Field::Title, problem, Action::Rejected)
            };
            return self.reject(context, problem);
        }

        let (short_title, description) = fit_title(&title, context.cell(Field::Description));
        if short_title != title {
            let problem = "the title is longer than 200 characters: it is cut, and whole before the description";
            self.report(context.problem(Some(&id), Field::Title, problem, Action::Changed))?;
        }
        let request = FeatureRequest {
            title: short_title.into_owned(),
            description: description.into_owned(),
            status: line(context.cell(Field::Status)),
            tags: self.read_tags(context, &id)?,
            is_private: self.read_flag(context, &id, Field::Private)?,
            author: self.read_person(context, &id, Field::AuthorEmail, Field::AuthorName)?,
            nameless_votes: self.read_nameless_votes(context, &id)?,
            created_at: self.read_time(context, Some(&id))?,
            url: self.read_url(context, &id)?,
            merged_into: optional(context.cell(Field::MergedInto)).map(str::to_owned),
            origin: context.origin(),
            external_id: id,
        };
        self.votes.nameless += u64::from(request.nameless_votes);
        let id = request.external_id.clone();
        self.write(Record::FeatureRequest(request))?;
        for voter in split_voters(context.cell(Field::Voters)) {
            if let Ok(address) = EmailAddress::parse("voters", voter) {
                self.add_vote(context, &id, &address, None, None)?;
            }
        }
        Ok(())
    }

    fn convert_vote(&mut self, context: &Context<'_>) -> Converted {
        let Some(id) = self.read_request(context)? else { return Ok(()) };
        let (email, name) = (context.cell(Field::Email), person_name(context.cell(Field::Name)));
        match EmailAddress::parse("email", email) {
            Ok(address) => {
                let created_at = self.read_time(context, Some(id))?;
                self.add_vote(context, id, &address, name, created_at)
            }
            Err(error) => {
                if name.is_some() {
                    self.lose(NAMES_WITHOUT_ADDRESS, 1);
                }
                if !self.ids.contains(&self.hasher.hash_one(id)) {
                    let problem =
                        format!("{error}: the vote is left out, because the feature request is from another run");
                    return self.report(context.problem(Some(id), Field::Email, problem, Action::Skipped));
                }
                if email.trim().is_empty() {
                    return Ok(());
                }
                let problem = format!("{error}: the vote has no name");
                self.report(context.problem(Some(id), Field::Email, problem, Action::Changed))
            }
        }
    }

    fn convert_comment(&mut self, context: &Context<'_>) -> Converted {
        let (given, request) = (optional(context.cell(Field::Id)), context.cell(Field::RequestId).trim());
        let body = context.cell(Field::Body);
        if body.trim().is_empty() {
            return self.reject(context, context.problem(given, Field::Body, "the text is blank", Action::Rejected));
        }
        let id = given.map_or_else(
            || digest(&[request, context.cell(Field::AuthorEmail).trim(), context.cell(Field::CreatedAt).trim(), body]),
            str::to_owned,
        );
        if !self.comments.insert(self.hasher.hash_one(&*id)) {
            let problem = match given {
                Some(_) => "an earlier record has the same id",
                None => "an earlier record is the same, and there is no id",
            };
            return self.reject(context, context.problem(given, Field::Id, problem, Action::Rejected));
        }
        let Some(request) = self.read_request(context)?.map(str::to_owned) else { return Ok(()) };
        let is_team = self.read_flag(context, &id, Field::Team)?;
        let is_internal = self.read_flag(context, &id, Field::Internal)?;
        let author = self.read_person(context, &id, Field::AuthorEmail, Field::AuthorName)?;
        let created_at = self.read_time(context, Some(&id))?;
        let (external_id, body, origin) = (id, body.to_owned(), context.origin());
        self.write(if is_internal {
            Record::Note(Note { external_id, request, body, author, created_at, origin })
        } else {
            Record::Comment(Comment { external_id, request, body, author, is_team, created_at, origin })
        })
    }

    /// Returns the id of the feature request to which a vote or comment belongs. `None` if there is none, which is listed.
    fn read_request<'b>(&mut self, context: &'b Context<'_>) -> Result<Option<&'b str>, CsvError> {
        let id = optional(context.cell(Field::RequestId));
        let problem = match id {
            Some(id) if self.ids.contains(&self.hasher.hash_one(id)) || (self.options.is_known)(id) => {
                return Ok(Some(id));
            }
            Some(_) => "there is no feature request with this id",
            None => "the id of the feature request is blank",
        };
        self.report(context.problem(None, Field::RequestId, problem, Action::Skipped))?;
        Ok(None)
    }

    /// Writes a vote, unless the person has voted already.
    fn add_vote(
        &mut self,
        context: &Context<'_>,
        request: &str,
        address: &EmailAddress,
        name: Option<String>,
        created_at: Option<Timestamp>,
    ) -> Converted {
        if !self.voters.insert(self.hasher.hash_one((request, address.folded()))) {
            self.votes.doubles += 1;
            return Ok(());
        }
        self.check_memory()?;
        self.votes.voters += 1;
        let person = Person { key: PersonKey::Email(address.as_str().to_owned()), name };
        self.write(Record::Vote(Vote { request: request.to_owned(), person, created_at, origin: context.origin() }))
    }

    /// Returns how many votes of a feature request have no usable person.
    fn read_nameless_votes(&mut self, context: &Context<'_>, id: &str) -> Result<u32, CsvError> {
        let counted = count(context.cell(Field::Votes));
        match counted {
            None => {
                self.report(context.problem(Some(id), Field::Votes, "the count is no whole number", Action::Ignored))?;
            }
            Some(..0) => {
                self.report(context.problem(Some(id), Field::Votes, "the count is below 0: it is 0", Action::Changed))?;
            }
            Some(_) => {}
        }
        let listed = self.listed.get(&self.hasher.hash_one(id)).copied().unwrap_or_default();
        let (mut entries, mut unusable) = (u64::from(listed.entries), u64::from(listed.unusable));
        for voter in split_voters(context.cell(Field::Voters)) {
            entries += 1;
            if let Err(error) = EmailAddress::parse("voters", voter) {
                unusable += 1;
                let problem = format!("{error}: the vote has no name");
                self.report(context.problem_of(Some(id), Field::Voters, voter, problem, Action::Changed))?;
            }
        }
        Ok(nameless_votes(counted.unwrap_or_default(), entries, unusable))
    }

    fn read_tags(&mut self, context: &Context<'_>, id: &str) -> Result<Vec<String>, CsvError> {
        let columns = &context.file.columns;
        let mut tags = Tags::default();
        for position in columns.of(Field::Tags) {
            tags.add(unguard(context.row.cell(*position)));
        }
        if let Some(shared) = &self.shared_category {
            tags.kept.retain(|tag| tag != shared);
        }
        for (left_out, problem) in [
            (&tags.too_long, "tags have at most 50 characters"),
            (&tags.too_many, "a feature request has at most 20 tags"),
        ] {
            for tag in left_out {
                self.report(context.problem_of(Some(id), Field::Tags, tag, problem, Action::Ignored))?;
            }
        }
        Ok(tags.kept)
    }

    fn read_flag(&mut self, context: &Context<'_>, id: &str, field: Field) -> Result<bool, CsvError> {
        let value = flag(context.cell(field));
        if value.is_none() {
            self.report(context.problem(Some(id), field, "the value is neither yes nor no", Action::Ignored))?;
        }
        Ok(value.unwrap_or_default())
    }

    /// Returns a person. Without a usable address there is none.
    fn read_person(
        &mut self,
        context: &Context<'_>,
        id: &str,
        email_field: Field,
        name_field: Field,
    ) -> Result<Option<Person>, CsvError> {
        let (email, name) = (context.cell(email_field), person_name(context.cell(name_field)));
        match EmailAddress::parse(email_field.name(), email) {
            Ok(address) => return Ok(Some(Person { key: PersonKey::Email(address.as_str().to_owned()), name })),
            Err(_) if email.trim().is_empty() => {}
            Err(error) => self.report(context.problem(Some(id), email_field, error.to_string(), Action::Ignored))?,
        }
        if name.is_some() {
            self.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
        Ok(None)
    }

    fn read_time(&mut self, context: &Context<'_>, id: Option<&str>) -> Result<Option<Timestamp>, CsvError> {
        match self.options.dates.read(context.cell(Field::CreatedAt)) {
            When::Missing => Ok(None),
            When::At(time) => Ok(Some(time)),
            When::Unusable(problem) => {
                self.report(context.problem(id, Field::CreatedAt, problem.to_string(), Action::Changed))?;
                Ok(None)
            }
        }
    }

    fn read_url(&mut self, context: &Context<'_>, id: &str) -> Result<Option<String>, CsvError> {
        let url = optional(context.cell(Field::Url));
        if url.is_some_and(|url| url.chars().nth(MAX_URL).is_some() || url.contains(char::is_control)) {
            let problem = "the address is too long or has control characters";
            self.report(context.problem(Some(id), Field::Url, problem, Action::Ignored))?;
            return Ok(None);
        }
        Ok(url.map(str::to_owned))
    }

    /// Rejects a record that was read.
    fn reject(&mut self, context: &Context<'_>, problem: Problem) -> Converted {
        self.report(problem)?;
        let mut original = context.row.original;
        self.sink.rejected(context.file.index, context.head, &mut original).map_err(CsvError::Sink)
    }

    /// Rejects a record that cannot be read.
    fn reject_unreadable(&mut self, file: &SourceFile<'_>, head: &[u8], row: &RejectedRow<'_>) -> Converted {
        self.report(file.problem(row.problem.to_string(), Action::Rejected).in_line(row.place.line))?;
        match row.original {
            Some(mut original) => self.sink.rejected(file.index, head, &mut original).map_err(CsvError::Sink),
            None => {
                let mut original = reopen(file.input, &row.place).map_err(|source| read_error(file.input, source))?;
                self.sink.rejected(file.index, head, &mut original).map_err(CsvError::Sink)
            }
        }
    }

    fn report(&mut self, problem: Problem) -> Converted {
        self.sink.problem(problem).map_err(CsvError::Sink)
    }

    fn write(&mut self, record: Record) -> Converted {
        self.sink.record(record).map_err(CsvError::Sink)
    }

    fn lose(&mut self, what: impl Into<String>, count: u64) {
        *self.lost.entry(what.into()).or_default() += count;
    }

    /// Checks that what is remembered of the records stays within memory.
    fn check_memory(&self) -> Converted {
        if self.ids.len() + self.comments.len() + self.voters.len() + self.listed.len() > MAX_SEEN {
            return Err(CsvError::TooManyRecords);
        }
        Ok(())
    }
}

/// Whether a file says that it is a table by the end of its name.
fn is_table_by_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["csv", "tsv", "tab"].iter().any(|table| extension.eq_ignore_ascii_case(table))
}

/// Returns the name of a person as a line of at most as many characters as names have.
fn person_name(cell: &str) -> Option<String> {
    line(cell).map(|name| truncate(&name, Name::MAX).trim_end().to_owned())
}

/// Opens an input at a record.
fn reopen(input: &Input, place: &Place) -> io::Result<io::Take<Box<dyn Read + Send>>> {
    let mut file = input.open()?;
    io::copy(&mut file.by_ref().take(place.span.start), &mut io::sink())?;
    Ok(file.take(place.span.end - place.span.start))
}

#[cfg(test)]
mod tests;
