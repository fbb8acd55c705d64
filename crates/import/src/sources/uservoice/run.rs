//! A conversion: what it remembers, and what becomes of each row.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::timestamp::Timestamp;

use super::columns::{Columns, Field, FileKind, Recognized, recognize};
use super::file::{Context, SourceFile, detect_encoding, is_table_by_name, list_columns, open_table};
use super::{Options, UservoiceError};
use crate::archive::Input;
use crate::dates::When;
use crate::encoding::Evidence;
use crate::records::{
    Action, Comment, FeatureRequest, Kind, Lost, Note, Person, PersonKey, Problem, Record, Sink, Vote, VoteTotals,
};
use crate::sources::csv::values::{
    Tags, count, digest, fit_title, for_each_item, line, nameless_votes, optional, person_name,
};
use crate::table::{Item, RejectedRow};
use crate::visible;

/// Longest address of a feature request in its source, in characters.
const MAX_URL: usize = 2_000;

const NAMES_WITHOUT_ADDRESS: &str = "names without an address";

/// Words of roles whose people belong to the team.
const TEAM: [&str; 5] = ["owner", "admin", "administrator", "contributor", "moderator"];

/// What a moderation state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moderation {
    Public,
    Pending,
    Private,
    /// It is left out, for this reason.
    Skipped(&'static str),
    Unknown,
}

impl Moderation {
    fn of(cell: &str) -> Self {
        match cell.trim().to_ascii_lowercase().as_str() {
            "" | "published" | "approved" | "active" | "open" | "closed" | "public" => Self::Public,
            "pending" | "new" | "draft" => Self::Pending,
            "archived" | "hidden" | "private" => Self::Private,
            "spam" => Self::Skipped("spam"),
            "deleted" | "removed" | "trashed" => Self::Skipped("deleted"),
            _ => Self::Unknown,
        }
    }
}

/// How many voters the rows of an idea list.
#[derive(Default, Clone, Copy)]
struct Listed {
    entries: u32,
    unusable: u32,
}

/// Who voted by a row.
enum Voter {
    Nobody,
    /// Somebody who cannot be told from others.
    Unusable,
    Person(Person),
}

/// A conversion. Ids, votes and people are remembered as hashes with a key of their own, which no file can foresee.
pub(super) struct Run<'a> {
    options: &'a Options<'a>,
    sink: &'a mut dyn Sink,
    hasher: RandomState,
    /// The ids of feature requests, and of those that are left out.
    ids: HashSet<u64>,
    skipped: HashSet<u64>,
    /// The ids of comments and notes.
    comments: HashSet<u64>,
    /// Pairs of a feature request and a voter.
    voters: HashSet<u64>,
    /// By the id of a feature request.
    listed: HashMap<u64, Listed>,
    /// Addresses.
    team: HashSet<u64>,
    deleted: HashSet<u64>,
    /// The forums and categories that all ideas so far share. `None` before the first one.
    shared: Option<Vec<String>>,
    votes: VoteTotals,
    lost: BTreeMap<(Option<Kind>, String), u64>,
    /// Cells of the file that is converted that are in columns without a field.
    unused: Vec<u64>,
}

type Converted = Result<(), UservoiceError>;

impl<'a> Run<'a> {
    pub(super) fn new(options: &'a Options<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            options,
            sink,
            hasher: RandomState::new(),
            ids: HashSet::new(),
            skipped: HashSet::new(),
            comments: HashSet::new(),
            voters: HashSet::new(),
            listed: HashMap::new(),
            team: HashSet::new(),
            deleted: HashSet::new(),
            shared: None,
            votes: VoteTotals::default(),
            lost: BTreeMap::new(),
            unused: Vec::new(),
        }
    }

    /// Reports what has no place here. Returns the votes, and the forums and categories that all feature requests share.
    pub(super) fn finish(self) -> Result<(VoteTotals, Vec<String>), UservoiceError> {
        let shared = self.shared_categories().to_vec();
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(UservoiceError::Sink)?;
        }
        Ok((self.votes, shared))
    }

    /// The forums and categories that all feature requests share, if there are at least two.
    fn shared_categories(&self) -> &[String] {
        self.shared.as_deref().filter(|_| self.listed.len() > 1).unwrap_or_default()
    }

    /// Finds out which inputs have records.
    pub(super) fn recognize_files<'b>(&mut self, inputs: &'b [Input]) -> Result<Vec<SourceFile<'b>>, UservoiceError> {
        let mut files = Vec::new();
        let mut first_error = None;
        for (index, input) in inputs.iter().enumerate() {
            match self.recognize_file(index, input) {
                Ok(file) => files.push(file),
                Err(error) if inputs.len() == 1 || is_table_by_name(input.name()) => return Err(error),
                Err(error @ (UservoiceError::Table { .. } | UservoiceError::Foreign { .. })) => {
                    let problem = Problem::new(input.name(), "the file is no table of a known kind", Action::Skipped);
                    self.report(problem)?;
                    first_error.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        match first_error {
            Some(error) if files.is_empty() => Err(error),
            _ => Ok(files),
        }
    }

    fn recognize_file<'b>(&mut self, index: usize, input: &'b Input) -> Result<SourceFile<'b>, UservoiceError> {
        let encoding = detect_encoding(input, self.options)?;
        let table = open_table(input, encoding, self.options)?;
        let header = table.header();
        let recognized = recognize(header, input.name()).ok_or_else(|| UservoiceError::Foreign {
            file: visible(input.name(), 200),
            columns: list_columns(header),
        })?;
        let kind = match recognized {
            Recognized::Certain(kind) => kind,
            Recognized::CommentsOrNotes => FileKind::Notes,
        };
        let file = SourceFile { index, input, encoding, kind, columns: Columns::new(kind, header) };
        if recognized == Recognized::CommentsOrNotes {
            let problem = "the file does not say whether it has comments or notes, so that it has notes: for comments, name it comments.csv";
            self.report(file.problem(problem, Action::Changed))?;
        }
        if encoding.evidence == Evidence::Guessed {
            let warning =
                "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
            self.report(file.problem(warning, Action::Changed))?;
        }
        Ok(file)
    }

    /// Reads the rows of a file to learn of them. Those that cannot be read are nothing.
    pub(super) fn read_rows(
        &mut self,
        file: &SourceFile<'_>,
        mut learn: impl FnMut(&mut Self, &Context<'_>),
    ) -> Converted {
        file.read(self.options, |item, head| {
            if let Item::Row(row) = item {
                learn(self, &Context { file, head, row: &row });
            }
            self.check_memory()
        })
        .map(drop)
    }

    /// Converts the rows of a file with `convert`, and rejects those that cannot be read.
    pub(super) fn convert_rows(
        &mut self,
        file: &SourceFile<'_>,
        mut convert: impl FnMut(&mut Self, &Context<'_>) -> Converted,
    ) -> Converted {
        self.unused.clear();
        let header = file.read(self.options, |item, head| {
            match item {
                Item::Row(row) => convert(self, &Context { file, head, row: &row })?,
                Item::Rejected(row) => self.reject_unreadable(file, head, &row)?,
            }
            self.check_memory()
        })?;
        for (name, lost) in header.names().iter().zip(std::mem::take(&mut self.unused)) {
            self.lose(format!("column {}", visible(name, 80)), lost);
        }
        Ok(())
    }

    /// Remembers who belongs to the team, and who is deleted.
    pub(super) fn learn_user(&mut self, context: &Context<'_>) -> Converted {
        let Some(address) = self.hash_address(context.cell(Field::Email)) else { return Ok(()) };
        let role = context.cell(Field::Role).to_ascii_lowercase();
        if role.split(|c: char| !c.is_alphanumeric()).any(|word| TEAM.contains(&word)) {
            self.team.insert(address);
        }
        if Moderation::of(context.cell(Field::State)) == Moderation::Skipped("deleted") {
            self.deleted.insert(address);
        }
        Ok(())
    }

    /// Remembers who belongs to the team: nobody else writes notes.
    pub(super) fn learn_author_of_note(&mut self, context: &Context<'_>) {
        let address = self.hash_address(context.cell(Field::AuthorEmail));
        self.team.extend(address);
    }

    /// Remembers what the rows of an idea say together, and who belongs to the team: nobody else updates the status.
    pub(super) fn learn_idea(&mut self, context: &Context<'_>) {
        let updater = self.hash_address(context.cell(Field::UpdaterEmail));
        self.team.extend(updater);
        let title = line(context.cell(Field::Title));
        let is_skipped = matches!(Moderation::of(context.cell(Field::State)), Moderation::Skipped(_));
        if is_skipped || title.is_none() && optional(context.cell(Field::Id)).is_none() {
            return;
        }
        let id = idea_id(context, title.as_deref());
        let voter = self.voter(context);
        let listed = self.listed.entry(self.hasher.hash_one(&*id)).or_default();
        listed.entries = listed.entries.saturating_add(u32::from(!matches!(voter, Voter::Nobody)));
        listed.unusable = listed.unusable.saturating_add(u32::from(matches!(voter, Voter::Unusable)));

        if title.is_none() {
            return;
        }
        let found: Vec<String> =
            [Field::Forum, Field::Category].iter().filter_map(|field| line(context.cell(*field))).collect();
        self.shared = Some(match self.shared.take() {
            None => found,
            Some(before) => before.into_iter().filter(|category| found.contains(category)).collect(),
        });
    }

    pub(super) fn convert_idea(&mut self, context: &Context<'_>) -> Converted {
        let title = line(context.cell(Field::Title));
        let id = idea_id(context, title.as_deref());
        let hash = self.hasher.hash_one(&*id);
        if self.ids.contains(&hash) {
            return self.convert_vote(context, &id);
        }
        let moderation = Moderation::of(context.cell(Field::State));
        if let Moderation::Skipped(why) = moderation {
            if self.skipped.insert(hash) {
                self.skip(Kind::FeatureRequests, why);
            }
            if !matches!(self.voter(context), Voter::Nobody) {
                self.skip(Kind::Votes, "votes for spam or deleted feature requests");
            }
            return Ok(());
        }
        let Some(title) = title else {
            let id = optional(context.cell(Field::Id));
            return self.reject(context, context.problem(id, Field::Title, "the title is blank", Action::Rejected));
        };
        self.ids.insert(hash);
        if moderation == Moderation::Unknown {
            let problem = "the state is not known, so that the feature request is private";
            self.report(context.problem(Some(&id), Field::State, problem, Action::Changed))?;
        }
        let (short_title, description) = fit_title(&title, context.cell(Field::Text));
        if short_title != title {
            let problem = "the title is longer than 200 characters: it is cut, and whole before the description";
            self.report(context.problem(Some(&id), Field::Title, problem, Action::Changed))?;
        }
        let request = FeatureRequest {
            title: short_title.into_owned(),
            description: description.into_owned(),
            status: line(context.cell(Field::Status)),
            tags: self.read_tags(context, &id)?,
            is_private: moderation != Moderation::Public,
            awaits_approval: moderation == Moderation::Pending,
            is_team: self.is_team(context.cell(Field::AuthorEmail)),
            author: self.read_author(context, &id)?,
            nameless_votes: self.read_nameless_votes(context, &id, hash)?,
            created_at: self.read_time(context, &id, Field::CreatedAt)?,
            url: self.read_url(context, &id)?,
            merged_into: optional(context.cell(Field::Parent)).map(str::to_owned),
            origin: context.origin(),
            external_id: id.to_string(),
        };
        self.votes.nameless += u64::from(request.nameless_votes);
        self.write(Record::FeatureRequest(request))?;
        self.count_unused(context);
        self.convert_status_update(context, &id)?;
        self.convert_vote(context, &id)
    }

    /// Writes the status update of an idea as a comment of the team.
    fn convert_status_update(&mut self, context: &Context<'_>, request: &str) -> Converted {
        let body = context.cell(Field::UpdateText);
        if body.trim().is_empty() {
            return Ok(());
        }
        let id = digest(&[request, "status update", context.cell(Field::UpdatedAt).trim(), body]);
        let person = [Field::UpdaterEmail, Field::UpdaterName];
        let author = self.read_person(context, request, person, "")?;
        let created_at = self.read_time(context, request, Field::UpdatedAt)?;
        self.comments.insert(self.hasher.hash_one((Kind::Comments, &*id)));
        self.write(Record::Comment(Comment {
            external_id: id,
            request: request.to_owned(),
            body: body.to_owned(),
            author,
            is_team: true,
            is_held: false,
            created_at,
            origin: context.origin(),
        }))
    }

    /// Writes the vote of a row, unless the person has voted already.
    fn convert_vote(&mut self, context: &Context<'_>, request: &str) -> Converted {
        let person = match self.voter(context) {
            Voter::Nobody => return Ok(()),
            Voter::Unusable => {
                return self.report_unusable_voter(context, request);
            }
            Voter::Person(person) => person,
        };
        let key = match &person.key {
            PersonKey::Email(email) => self.hash_address(email),
            PersonKey::ExternalId(id) => Some(self.hasher.hash_one(id)),
        };
        if !self.voters.insert(self.hasher.hash_one((request, key))) {
            self.votes.doubles += 1;
            return Ok(());
        }
        self.votes.voters += 1;
        let created_at = self.read_time(context, request, Field::VotedAt)?;
        self.write(Record::Vote(Vote {
            request: request.to_owned(),
            person,
            is_subscribed: None,
            created_at,
            origin: context.origin(),
        }))
    }

    fn report_unusable_voter(&mut self, context: &Context<'_>, request: &str) -> Converted {
        let email = context.cell(Field::VoterEmail);
        match EmailAddress::parse("the address", email) {
            // Somebody who is deleted.
            Ok(_) => Ok(()),
            Err(_) if email.trim().is_empty() => {
                self.lose(NAMES_WITHOUT_ADDRESS, 1);
                Ok(())
            }
            Err(error) => {
                let problem = format!("{error}: the vote has no name");
                self.report(context.problem(Some(request), Field::VoterEmail, problem, Action::Changed))
            }
        }
    }

    pub(super) fn convert_comment(&mut self, context: &Context<'_>) -> Converted {
        let (given, request) = (optional(context.cell(Field::Id)), context.cell(Field::Request).trim());
        let kind = context.file.kind.records();
        let body = context.cell(Field::Text);
        let moderation = Moderation::of(context.cell(Field::State));
        let hidden = match moderation {
            Moderation::Skipped(why) => Some(why),
            Moderation::Private if kind == Kind::Comments => Some("hidden"),
            _ => None,
        };
        if let Some(why) = hidden {
            self.leave_out(kind, &format!("that are {why}"));
            return Ok(());
        }
        if body.trim().is_empty() {
            return self.reject(context, context.problem(given, Field::Text, "the text is blank", Action::Rejected));
        }
        let id = given.map_or_else(
            || {
                let (email, time) = (context.cell(Field::AuthorEmail).trim(), context.cell(Field::CreatedAt).trim());
                digest(&[request, email, time, body])
            },
            str::to_owned,
        );
        if !self.comments.insert(self.hasher.hash_one((kind, &*id))) {
            let problem = match given {
                Some(_) => "an earlier record has the same id",
                None => "an earlier record is the same, and there is no id",
            };
            return self.reject(context, context.problem(given, Field::Id, problem, Action::Rejected));
        }
        let hash = self.hasher.hash_one(request);
        if self.skipped.contains(&hash) {
            self.leave_out(kind, "on spam or deleted feature requests");
            return Ok(());
        }
        if !self.ids.contains(&hash) && !(self.options.is_known)(request) {
            self.leave_out(kind, "on unknown feature requests");
            let problem = "there is no feature request with this id";
            return self.report(context.problem(given, Field::Request, problem, Action::Skipped));
        }
        self.count_unused(context);
        let is_team = self.is_team(context.cell(Field::AuthorEmail));
        if moderation == Moderation::Unknown && kind == Kind::Comments {
            let problem = "the state is not known, so that the comment waits for approval";
            self.report(context.problem(Some(&id), Field::State, problem, Action::Changed))?;
        }
        let author = self.read_author(context, &id)?;
        let created_at = self.read_time(context, &id, Field::CreatedAt)?;
        let (external_id, request, body, origin) = (id, request.to_owned(), body.to_owned(), context.origin());
        self.write(if kind == Kind::Notes {
            // A comment may have the same number.
            let external_id = format!("note-{external_id}");
            Record::Note(Note { external_id, request, body, author, is_team: true, created_at, origin })
        } else {
            let is_held = moderation != Moderation::Public && !is_team;
            Record::Comment(Comment { external_id, request, body, author, is_team, is_held, created_at, origin })
        })
    }

    /// Returns who voted by a row.
    fn voter(&self, context: &Context<'_>) -> Voter {
        let (email, name) = (context.cell(Field::VoterEmail), person_name(context.cell(Field::VoterName)));
        let id = optional(context.cell(Field::VoterId));
        let is_deleted = self.hash_address(email).is_some_and(|address| self.deleted.contains(&address));
        let key = match (EmailAddress::parse("", email), id) {
            _ if is_deleted => None,
            (Ok(address), _) => Some(PersonKey::Email(address.as_str().to_owned())),
            (Err(_), Some(id)) => Some(PersonKey::ExternalId(id.to_owned())),
            (Err(_), None) => None,
        };
        match key {
            Some(key) => Voter::Person(Person { key, name }),
            None if email.trim().is_empty() && name.is_none() => Voter::Nobody,
            None => Voter::Unusable,
        }
    }

    fn hash_address(&self, email: &str) -> Option<u64> {
        let address = EmailAddress::parse("", email).ok()?;
        Some(self.hasher.hash_one(address.folded()))
    }

    fn is_team(&self, email: &str) -> bool {
        self.hash_address(email).is_some_and(|address| self.team.contains(&address))
    }

    /// Returns how many votes of a feature request have no usable person.
    fn read_nameless_votes(&mut self, context: &Context<'_>, id: &str, hash: u64) -> Result<u32, UservoiceError> {
        let counted = count(context.cell(Field::Count));
        match counted {
            None => {
                self.report(context.problem(Some(id), Field::Count, "the count is no whole number", Action::Ignored))?;
            }
            Some(..0) => {
                self.report(context.problem(Some(id), Field::Count, "the count is below 0: it is 0", Action::Changed))?;
            }
            Some(_) => {}
        }
        let listed = self.listed.get(&hash).copied().unwrap_or_default();
        Ok(nameless_votes(counted.unwrap_or_default(), u64::from(listed.entries), u64::from(listed.unusable)))
    }

    fn read_tags(&mut self, context: &Context<'_>, id: &str) -> Result<Vec<String>, UservoiceError> {
        let mut tags = Tags::default();
        for_each_item(context.cell(Field::Labels), |label| tags.add_one(label));
        for field in [Field::Category, Field::Forum] {
            let name = line(context.cell(field));
            if let Some(name) = name.filter(|name| !self.shared_categories().contains(name)) {
                tags.add_one(&name);
            }
        }
        for tag in &tags.too_long {
            let problem = "tags have at most 50 characters";
            self.report(context.problem_of(Some(id), Field::Labels, tag, problem, Action::Ignored))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            let value = tags.too_many.join("|");
            self.report(context.problem_of(Some(id), Field::Labels, &value, problem, Action::Ignored))?;
        }
        Ok(tags.kept)
    }

    fn read_author(&mut self, context: &Context<'_>, id: &str) -> Result<Option<Person>, UservoiceError> {
        let person = [Field::AuthorEmail, Field::AuthorName];
        self.read_person(context, id, person, context.cell(Field::AuthorId))
    }

    /// Returns a person by the columns of the address and the name. Without a usable address or an id there is none.
    fn read_person(
        &mut self,
        context: &Context<'_>,
        id: &str,
        [email_field, name_field]: [Field; 2],
        external_id: &str,
    ) -> Result<Option<Person>, UservoiceError> {
        let (email, name) = (context.cell(email_field), person_name(context.cell(name_field)));
        match EmailAddress::parse("the address", email) {
            Ok(_) if self.hash_address(email).is_some_and(|address| self.deleted.contains(&address)) => {
                return Ok(None);
            }
            Ok(address) => return Ok(Some(Person { key: PersonKey::Email(address.as_str().to_owned()), name })),
            Err(_) if email.trim().is_empty() => {}
            Err(error) => self.report(context.problem(Some(id), email_field, error.to_string(), Action::Ignored))?,
        }
        if let Some(external_id) = optional(external_id) {
            return Ok(Some(Person { key: PersonKey::ExternalId(external_id.to_owned()), name }));
        }
        if name.is_some() {
            self.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
        Ok(None)
    }

    fn read_time(
        &mut self,
        context: &Context<'_>,
        id: &str,
        field: Field,
    ) -> Result<Option<Timestamp>, UservoiceError> {
        match self.options.dates.read(context.cell(field)) {
            When::Missing => Ok(None),
            When::At(time) => Ok(Some(time)),
            When::Unusable(problem) => {
                self.report(context.problem(Some(id), field, problem.to_string(), Action::Changed))?;
                Ok(None)
            }
        }
    }

    fn read_url(&mut self, context: &Context<'_>, id: &str) -> Result<Option<String>, UservoiceError> {
        let url = optional(context.cell(Field::Url));
        if url.is_some_and(|url| url.chars().nth(MAX_URL).is_some() || url.contains(char::is_control)) {
            let problem = "the address is too long or has control characters";
            self.report(context.problem(Some(id), Field::Url, problem, Action::Ignored))?;
            return Ok(None);
        }
        Ok(url.map(str::to_owned))
    }

    /// Rejects a row that was read.
    fn reject(&mut self, context: &Context<'_>, problem: Problem) -> Converted {
        self.report(problem)?;
        let mut original = context.row.original;
        self.sink
            .rejected(context.file.kind.records(), context.file.index, context.head, &mut original)
            .map_err(UservoiceError::Sink)
    }

    /// Rejects a row that cannot be read.
    fn reject_unreadable(&mut self, file: &SourceFile<'_>, head: &[u8], row: &RejectedRow<'_>) -> Converted {
        self.report(file.problem(row.problem.to_string(), Action::Rejected).in_line(row.place.line))?;
        let (kind, index) = (file.kind.records(), file.index);
        match row.original {
            Some(mut original) => self.sink.rejected(kind, index, head, &mut original),
            None => self.sink.rejected(kind, index, head, &mut file.reopen(&row.place)?),
        }
        .map_err(UservoiceError::Sink)
    }

    fn report(&mut self, problem: Problem) -> Converted {
        self.sink.problem(problem).map_err(UservoiceError::Sink)
    }

    fn write(&mut self, record: Record) -> Converted {
        self.sink.record(record).map_err(UservoiceError::Sink)
    }

    /// Counts the cells of a row that have no field.
    fn count_unused(&mut self, context: &Context<'_>) {
        for (position, cell) in context.row.cells().enumerate() {
            if self.unused.len() == position {
                self.unused.push(0);
            }
            if !cell.trim().is_empty()
                && !context.file.columns.is_used(position)
                && let Some(lost) = self.unused.get_mut(position)
            {
                *lost += 1;
            }
        }
    }

    fn lose(&mut self, what: impl Into<String>, count: u64) {
        if count > 0 {
            *self.lost.entry((None, what.into())).or_default() += count;
        }
    }

    /// Leaves a whole record out.
    fn skip(&mut self, kind: Kind, why: &str) {
        *self.lost.entry((Some(kind), why.to_owned())).or_default() += 1;
    }

    /// Leaves a comment or note out.
    fn leave_out(&mut self, kind: Kind, why: &str) {
        let what = if kind == Kind::Notes { "notes" } else { "comments" };
        self.skip(kind, &format!("{what} {why}"));
    }

    /// Checks that what is remembered of the records stays within memory.
    fn check_memory(&self) -> Converted {
        let sets = [&self.ids, &self.skipped, &self.comments, &self.voters, &self.team, &self.deleted];
        if sets.iter().map(|set| set.len()).sum::<usize>() + self.listed.len() > self.options.max_records {
            return Err(UservoiceError::TooManyRecords { max: self.options.max_records });
        }
        Ok(())
    }
}

/// Returns the id of an idea, or a digest of what identifies it.
fn idea_id<'b>(context: &Context<'b>, title: Option<&str>) -> Cow<'b, str> {
    match optional(context.cell(Field::Id)) {
        Some(id) => Cow::Borrowed(id),
        None => Cow::Owned(digest(&[title.unwrap_or_default(), context.cell(Field::CreatedAt).trim()])),
    }
}
