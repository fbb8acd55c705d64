//! A conversion: what it remembers, and what becomes of people, boards, statuses and votes.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash, RandomState};

use roadmap_domain::model::email_address::EmailAddress;

use super::files::{Row, SourceFile, Table, Tables};
use super::{DumpError, Options};
use crate::encoding::Evidence;
use crate::records::{Action, Kind, Person, PersonKey, Problem, Record, Sink, Status, Vote, VoteTotals};
use crate::sources::csv::values::{flag, line, optional};
use crate::sources::names::{People, TagNames, User, identity};
use crate::sources::output::{Output, Reading, Spot};
use crate::sources::quotes::Quotes;
use crate::table::{Item, RejectedRow};

pub(crate) type Converted = Result<(), DumpError>;

/// What is done about a row that cannot be read.
#[derive(Clone, Copy)]
pub(crate) enum Unreadable {
    Reject(Kind),
    /// It is no record of its own.
    Ignore,
    /// Another pass lists it.
    Pass,
}

/// The columns of votes.
pub(crate) struct VoteColumns {
    pub(crate) post: &'static str,
    pub(crate) user: &'static str,
    pub(crate) created_at: &'static str,
}

/// A conversion. Ids are remembered as hashes with a key of their own, which no file can foresee.
pub(crate) struct Dump<'a> {
    pub(crate) output: Output<'a, DumpError>,
    pub(super) options: &'a Options<'a>,
    pub(crate) tables: &'a Tables<'a>,
    hasher: RandomState,
    people: People,
    pub(crate) boards: TagNames,
    pub(crate) statuses: TagNames,
    /// The statuses of the public roadmap, each with its place there.
    roadmap: Vec<(i64, Status)>,
    /// The board of all feature requests so far, by the hash of its name.
    pub(super) board: Option<u64>,
    /// Whether feature requests have different boards, and how many there are.
    pub(super) boards_differ: bool,
    pub(super) posts: u64,
    /// The ids of feature requests.
    pub(super) ids: HashSet<u64>,
    /// Votes without a person, by the id of the feature request.
    pub(super) nameless: HashMap<u64, u32>,
    /// Pairs of a feature request and a person who has voted.
    pub(crate) voters: HashSet<u64>,
    /// The ids of comments and notes.
    pub(super) comments: HashSet<u64>,
    pub(super) quotes: Quotes,
    /// What is remembered beside all this, in records.
    pub(crate) remembered: usize,
    /// The tables of which it was said that they are missing.
    missing: BTreeSet<&'static str>,
}

impl<'a> Dump<'a> {
    pub(crate) fn new(options: &'a Options<'a>, tables: &'a Tables<'a>, sink: &'a mut dyn Sink) -> Self {
        let Options { encoding, dates, max_records, .. } = *options;
        Self {
            output: Output::new(Reading { encoding, dates, max_records }, sink),
            options,
            tables,
            hasher: RandomState::new(),
            people: People::default(),
            boards: TagNames::default(),
            statuses: TagNames::default(),
            roadmap: Vec::new(),
            board: None,
            boards_differ: false,
            posts: 0,
            ids: HashSet::new(),
            nameless: HashMap::new(),
            voters: HashSet::new(),
            comments: HashSet::new(),
            quotes: Quotes::default(),
            remembered: 0,
            missing: BTreeSet::new(),
        }
    }

    /// Reports what has no place here. Returns the votes.
    pub(crate) fn finish(mut self) -> Result<VoteTotals, DumpError> {
        self.output.lose("quotes of comments that have replies", self.quotes.left_out());
        self.output.finish()
    }

    /// Lists what is to be said of the files before they are read.
    pub(crate) fn report_files(&mut self, posts: &Table, users: &Table) -> Converted {
        for input in &self.tables.others {
            self.output.report_unknown_file(input)?;
        }
        for file in self.tables.files().iter().filter(|file| file.encoding.evidence == Evidence::Guessed) {
            let warning =
                "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
            self.output.report(Problem::new(file.input.name(), warning, Action::Changed))?;
        }
        if !self.tables.has(users) {
            self.report_missing(
                posts,
                "there is no `users.csv` beside it: nobody is an author, and no vote has a name",
            )?;
        }
        Ok(())
    }

    /// Lists what a table needs, but is missing.
    pub(crate) fn report_missing(&mut self, table: &Table, problem: &str) -> Converted {
        match self.tables.find(table) {
            Some(file) => self.output.report(Problem::new(file.input.name(), problem, Action::Ignored)),
            None => Ok(()),
        }
    }

    /// Reads all rows of a table, if there is one.
    pub(crate) fn read(
        &mut self,
        table: &'static Table,
        unreadable: Unreadable,
        mut each: impl FnMut(&mut Self, &Row<'_>) -> Converted,
    ) -> Converted {
        let tables = self.tables;
        let Some(file) = tables.find(table) else { return Ok(()) };
        file.read(self.options, |item, head| {
            match item {
                Item::Row(row) => each(self, &Row { file, head, row: &row })?,
                Item::Rejected(row) => self.list_unreadable(file, head, &row, unreadable)?,
            }
            self.check_memory()
        })
    }

    fn list_unreadable(
        &mut self,
        file: &SourceFile<'_>,
        head: &[u8],
        row: &RejectedRow<'_>,
        unreadable: Unreadable,
    ) -> Converted {
        let problem = |action| file.spot(row.place.line).whole_problem(row.problem.to_string(), action);
        match (unreadable, row.original) {
            (Unreadable::Reject(kind), Some(mut original)) => {
                self.output.reject_row(kind, problem(Action::Rejected), file.index, head, &mut original)
            }
            (Unreadable::Reject(kind), None) => {
                let mut original = file.reopen(&row.place)?;
                self.output.reject_row(kind, problem(Action::Rejected), file.index, head, &mut original)
            }
            (Unreadable::Ignore, _) => self.output.report(problem(Action::Ignored)),
            (Unreadable::Pass, _) => Ok(()),
        }
    }

    /// Rejects a row that was read.
    pub(super) fn reject(&mut self, row: &Row<'_>, kind: Kind, problem: Problem) -> Converted {
        let mut original = row.row.original;
        self.output.reject_row(kind, problem, row.file.index, row.head, &mut original)
    }

    /// Adds somebody whose id and address are in these columns.
    pub(crate) fn add_user(
        &mut self,
        row: &Row<'_>,
        [id_column, email_column]: [&'static str; 2],
        name: Option<String>,
        is_team: bool,
        is_deleted: bool,
    ) -> Converted {
        let (id, email) = (row.trimmed(id_column), row.cell(email_column));
        let spot = row.spot().of_record(id);
        if id.is_empty() {
            return self.output.report(spot.problem(id_column, id, "the id is blank", Action::Ignored));
        }
        let key = match EmailAddress::parse(email_column, email) {
            Ok(address) => PersonKey::Email(address.as_str().to_owned()),
            Err(error) => {
                if !email.trim().is_empty() && !is_deleted {
                    self.output.report(spot.problem(email_column, email, error.to_string(), Action::Ignored))?;
                }
                PersonKey::ExternalId(id.to_owned())
            }
        };
        let person = (!is_deleted).then_some(Person { key, name });
        if !self.people.add(id, &User { person, is_team })? {
            return self.report_double(spot, id_column, id);
        }
        Ok(())
    }

    /// Lists a row of a table whose rows are no records of their own.
    pub(crate) fn report_double(&mut self, spot: Spot<'_>, field: &'static str, id: &str) -> Converted {
        self.output.report(spot.problem(field, id, "an earlier record has the same id", Action::Ignored))
    }

    /// Adds a board, whose id and name are in these columns.
    pub(crate) fn add_board(&mut self, row: &Row<'_>, [id, name]: [&'static str; 2]) -> Converted {
        let Some(name) = self.read_name(row, [id, name])? else { return Ok(()) };
        if !self.boards.add(row.trimmed(id), &name, true)? {
            return self.report_double(row.spot().of_record(row.trimmed(id)), id, row.trimmed(id));
        }
        Ok(())
    }

    /// Adds a status, whose id, name and place on the public roadmap are in these columns.
    pub(crate) fn add_status(
        &mut self,
        row: &Row<'_>,
        [id, name, place]: [&'static str; 3],
        is_on_roadmap: bool,
    ) -> Converted {
        let Some(name) = self.read_name(row, [id, name])? else { return Ok(()) };
        let spot = row.spot().of_record(row.trimmed(id));
        if !self.statuses.add(row.trimmed(id), &name, is_on_roadmap)? {
            return self.report_double(spot, id, row.trimmed(id));
        }
        if is_on_roadmap {
            let place = row.trimmed(place).parse().unwrap_or(i64::MAX);
            self.roadmap.push((place, Status { name, origin: spot.origin }));
        }
        Ok(())
    }

    fn read_name(&mut self, row: &Row<'_>, [id, name]: [&'static str; 2]) -> Result<Option<String>, DumpError> {
        let read = line(row.cell(name));
        if read.is_none() {
            let spot = row.spot().of_record(row.trimmed(id));
            self.output.report(spot.problem(name, row.cell(name), "the name is blank", Action::Ignored))?;
        }
        Ok(read)
    }

    /// Writes the statuses of the public roadmap in their order there.
    pub(crate) fn write_roadmap(&mut self) -> Converted {
        let mut roadmap = std::mem::take(&mut self.roadmap);
        roadmap.sort_by_key(|(place, _)| *place);
        let mut names = HashSet::new();
        for (_, status) in roadmap {
            if names.insert(status.name.to_lowercase()) {
                self.output.write(Record::Status(status))?;
            }
        }
        Ok(())
    }

    /// Returns the name of a board or status by its id.
    pub(crate) fn read_label(
        &mut self,
        row: &Row<'_>,
        record: &str,
        field: &'static str,
        labels: fn(&Self) -> &TagNames,
        table: &'static Table,
    ) -> Result<Option<String>, DumpError> {
        let Some(id) = optional(row.cell(field)) else { return Ok(None) };
        let found = labels(self).find(id).map(|label| label.name.to_owned());
        if found.is_some() {
            return Ok(found);
        }
        if self.tables.has(table) {
            let problem = format!("`{}.csv` has no record with this id", table.name);
            self.output.report(row.spot().of_record(record).problem(field, id, problem, Action::Ignored))?;
        } else if self.missing.insert(table.name) {
            let problem = format!("there is no `{}.csv` beside it: no record gets what `{field}` says", table.name);
            self.output.report(Problem::new(row.file.input.name(), problem, Action::Ignored))?;
        }
        Ok(None)
    }

    /// Returns an author, and whether the author belongs to the team.
    pub(crate) fn read_author(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        id: &str,
    ) -> Result<(Option<Person>, bool), DumpError> {
        let id = id.trim();
        if id.is_empty() || self.people.len() == 0 {
            return Ok((None, false));
        }
        match self.people.find(id) {
            Some(user) => Ok((user.person, user.is_team)),
            None => {
                self.output.report(spot.problem(field, id, "there is no user with this id", Action::Ignored))?;
                Ok((None, false))
            }
        }
    }

    /// Returns the person with an id, unless it is unknown or of somebody who is deleted.
    pub(crate) fn find_person(&self, id: &str) -> Option<Person> {
        self.people.find(id.trim()).and_then(|user| user.person)
    }

    /// Reads a flag. What is neither yes nor no counts as `otherwise`.
    pub(crate) fn read_flag(
        &mut self,
        row: &Row<'_>,
        record: &str,
        field: &'static str,
        otherwise: bool,
    ) -> Result<bool, DumpError> {
        let cell = row.cell(field);
        if let Some(value) = flag(cell) {
            return Ok(value);
        }
        let counts = if otherwise { "yes" } else { "no" };
        let problem = format!("the value is neither yes nor no: it counts as {counts}");
        self.output.report(row.spot().of_record(record).problem(field, cell, problem, Action::Changed))?;
        Ok(otherwise)
    }

    /// Counts a vote if it has no person.
    pub(crate) fn count_vote(&mut self, row: &Row<'_>, columns: &VoteColumns) {
        if self.find_person(row.cell(columns.user)).is_none() {
            let nameless = self.nameless.entry(self.hash(row.trimmed(columns.post))).or_default();
            *nameless = nameless.saturating_add(1);
        }
    }

    /// Writes a vote, unless the person has voted already. `followers` are pairs of a feature request and a person who
    /// gets mail, if the source says who does.
    pub(crate) fn convert_vote(
        &mut self,
        row: &Row<'_>,
        columns: &VoteColumns,
        followers: Option<&HashSet<u64>>,
    ) -> Converted {
        let (post, user) = (row.trimmed(columns.post), row.trimmed(columns.user));
        let spot = row.spot().of_record(post);
        if !self.has_request(row.spot(), columns.post, post, Kind::Votes)? {
            return Ok(());
        }
        let Some(person) = self.find_person(user) else {
            return self.list_nameless_vote(spot, columns, post, user);
        };
        let pair = self.pair(post, &person);
        if !self.voters.insert(pair) {
            self.output.votes.doubles += 1;
            return Ok(());
        }
        self.output.votes.voters += 1;
        let created_at = self.output.read_time(spot, columns.created_at, row.cell(columns.created_at))?;
        self.output.write(Record::Vote(Vote {
            request: post.to_owned(),
            person,
            is_subscribed: followers.map(|followers| followers.contains(&pair)),
            created_at,
            origin: spot.origin,
        }))
    }

    /// Lists a vote without a person, which is counted with its feature request.
    fn list_nameless_vote(&mut self, spot: Spot<'_>, columns: &VoteColumns, post: &str, user: &str) -> Converted {
        if !self.ids.contains(&self.hash(post)) {
            self.output.skip(Kind::Votes, "votes without a person for feature requests of another run");
            let problem = "the vote has no person, and is left out, because the feature request is from another run";
            return self.output.report(spot.problem(columns.user, user, problem, Action::Skipped));
        }
        // Whoever is found is deleted.
        if self.people.len() == 0 || self.people.find(user).is_some() {
            return Ok(());
        }
        let problem = "there is no user with this id: the vote has no name";
        self.output.report(spot.problem(columns.user, user, problem, Action::Changed))
    }

    /// Whether there is the feature request to which a row belongs. If not, it is listed.
    pub(crate) fn has_request(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        id: &str,
        kind: Kind,
    ) -> Result<bool, DumpError> {
        let problem = match id {
            "" => "the id of the feature request is blank",
            _ if self.ids.contains(&self.hash(id)) || (self.options.is_known)(id) => return Ok(true),
            _ => "there is no feature request with this id",
        };
        let why = match kind {
            Kind::Votes => "votes for unknown feature requests",
            Kind::Subscriptions => "subscriptions to unknown feature requests",
            Kind::Moves => "status changes of unknown feature requests",
            Kind::Notes => "notes on unknown feature requests",
            _ => "comments on unknown feature requests",
        };
        self.output.skip(kind, why);
        self.output.report(spot.problem(field, id, problem, Action::Skipped))?;
        Ok(false)
    }

    /// Returns the hash of an id.
    pub(crate) fn hash(&self, id: impl Hash) -> u64 {
        self.hasher.hash_one(id)
    }

    /// Returns the hash of a feature request and a person.
    pub(crate) fn pair(&self, post: &str, person: &Person) -> u64 {
        self.hasher.hash_one((post, identity(&person.key)))
    }

    /// Checks that what is remembered of the rows stays within memory.
    fn check_memory(&self) -> Converted {
        let remembered = [
            self.people.len(),
            self.boards.len(),
            self.statuses.len(),
            self.ids.len(),
            self.nameless.len(),
            self.voters.len(),
            self.comments.len(),
            self.quotes.records(),
            self.remembered,
        ];
        let max = self.options.max_records;
        if remembered.into_iter().sum::<usize>() > max { Err(DumpError::TooManyRecords { max }) } else { Ok(()) }
    }
}
