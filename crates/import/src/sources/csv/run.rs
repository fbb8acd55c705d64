//! A conversion: what it remembers, and what becomes of each record.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::spreadsheet::unguard;

use super::columns::{Field, FileKind, list_columns, recognize};
use super::file::{
    Context, SourceFile, detect_encoding, is_table_by_name, open_table, read_error, reopen, shared_category,
};
use super::values::{Tags, count, digest, fit_title, flag, line, nameless_votes, optional, person_name, split_voters};
use super::{CsvError, Options};
use crate::archive::Input;
use crate::dates::When;
use crate::encoding::Evidence;
use crate::records::{
    Action, Comment, FeatureRequest, Kind, Lost, Note, Person, PersonKey, Problem, Record, Sink, Vote, VoteTotals,
};
use crate::table::{Item, RejectedRow};
use crate::visible;

/// Longest address of a feature request in its source, in characters.
const MAX_URL: usize = 2_000;

const NAMES_WITHOUT_ADDRESS: &str = "names without an address";

/// How many voters the files of votes list for a feature request.
#[derive(Default, Clone, Copy)]
struct Listed {
    entries: u32,
    unusable: u32,
}

/// A conversion. Ids and votes are remembered as hashes with a key of their own, which no file can foresee.
pub(super) struct Run<'a> {
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
    lost: BTreeMap<(Option<Kind>, String), u64>,
}

pub(super) type Converted = Result<(), CsvError>;

impl<'a> Run<'a> {
    pub(super) fn new(options: &'a Options<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
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
        }
    }

    pub(super) fn find_shared_category<'b>(&mut self, files: impl Iterator<Item = &'b SourceFile<'b>>) -> Converted {
        self.shared_category = shared_category(files, self.options)?;
        Ok(())
    }

    /// Reports what has no place here. Returns the votes, and the category that all feature requests share.
    pub(super) fn finish(self) -> Result<(VoteTotals, Option<String>), CsvError> {
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(CsvError::Sink)?;
        }
        Ok((self.votes, self.shared_category))
    }

    /// Finds out which inputs have records.
    pub(super) fn recognize_files<'b>(&mut self, inputs: &'b [Input]) -> Result<Vec<SourceFile<'b>>, CsvError> {
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

    fn recognize_file<'b>(
        &mut self,
        index: usize,
        input: &'b Input,
        unused: &mut Vec<&str>,
    ) -> Result<SourceFile<'b>, CsvError> {
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
    pub(super) fn count_listed_voters(&mut self, file: &SourceFile<'_>) -> Converted {
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
    pub(super) fn convert_rows(
        &mut self,
        file: &SourceFile<'_>,
        convert: fn(&mut Self, &Context<'_>) -> Converted,
    ) -> Converted {
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

    pub(super) fn convert_feature_request(&mut self, context: &Context<'_>) -> Converted {
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
            awaits_approval: false,
            author: self.read_person(context, &id, Field::AuthorEmail, Field::AuthorName)?,
            is_team: false,
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

    pub(super) fn convert_vote(&mut self, context: &Context<'_>) -> Converted {
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
                    self.skip(Kind::Votes, "votes without a person for feature requests of another run");
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

    pub(super) fn convert_comment(&mut self, context: &Context<'_>) -> Converted {
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
            Record::Note(Note { external_id, request, body, author, is_team: true, created_at, origin })
        } else {
            Record::Comment(Comment { external_id, request, body, author, is_team, is_held: false, created_at, origin })
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
        let (kind, why) = match context.file.kind {
            FileKind::Votes => (Kind::Votes, "votes for unknown feature requests"),
            _ => (Kind::Comments, "comments on unknown feature requests"),
        };
        self.skip(kind, why);
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
        self.write(Record::Vote(Vote {
            request: request.to_owned(),
            person,
            is_subscribed: None,
            created_at,
            origin: context.origin(),
        }))
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
        for tag in &tags.too_long {
            let problem = "tags have at most 50 characters";
            self.report(context.problem_of(Some(id), Field::Tags, tag, problem, Action::Ignored))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            self.report(context.problem_of(Some(id), Field::Tags, &tags.too_many.join("|"), problem, Action::Ignored))?;
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
        self.sink
            .rejected(context.file.kind.records(), context.file.index, context.head, &mut original)
            .map_err(CsvError::Sink)
    }

    /// Rejects a record that cannot be read.
    fn reject_unreadable(&mut self, file: &SourceFile<'_>, head: &[u8], row: &RejectedRow<'_>) -> Converted {
        self.report(file.problem(row.problem.to_string(), Action::Rejected).in_line(row.place.line))?;
        match row.original {
            Some(mut original) => {
                self.sink.rejected(file.kind.records(), file.index, head, &mut original).map_err(CsvError::Sink)
            }
            None => {
                let mut original = reopen(file.input, &row.place).map_err(|source| read_error(file.input, source))?;
                self.sink.rejected(file.kind.records(), file.index, head, &mut original).map_err(CsvError::Sink)
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
        *self.lost.entry((None, what.into())).or_default() += count;
    }

    /// Leaves a vote, comment or note out.
    fn skip(&mut self, kind: Kind, why: &str) {
        *self.lost.entry((Some(kind), why.to_owned())).or_default() += 1;
    }

    /// Checks that what is remembered of the records stays within memory.
    fn check_memory(&self) -> Converted {
        if self.ids.len() + self.comments.len() + self.voters.len() + self.listed.len() > self.options.max_records {
            return Err(CsvError::TooManyRecords { max: self.options.max_records });
        }
        Ok(())
    }
}
