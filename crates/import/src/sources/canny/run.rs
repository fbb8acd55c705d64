//! A conversion: what becomes of each record.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;

use super::fields::{category_of, change_comment, id_or_digest, name_of, request_of};
use super::file::{Context, RecordKind, SourceFile, id_of};
use super::people;
use super::remembered::Remembered;
use super::texts::{amount, linked, own_fields};
use super::{CannyError, Options};
use crate::json::{Element, ElementProblem, Object, Value, reopen};
use crate::records::{
    Action, Changelog, Comment, FeatureRequest, Kind, Lost, Move, Note, PersonKey, Problem, Record, Sink, Vote,
    VoteTotals,
};
use crate::sources::csv::values::{digest, fit_title, line};
use crate::sources::quotes::with_quote;

/// What goes before the first rejected record of a file, and before each later one.
const HEAD: &[u8] = b"[";
const SEPARATOR: &[u8] = b",\n";

pub(super) const NAMES_WITHOUT_ADDRESS: &str = "names without an address";
const CUT_TITLE: &str = "the title is longer than 200 characters: it is cut, and whole before the description";
const CUT_TITLE_OF_CHANGELOG: &str = "the title is longer than 200 characters: it is cut, and whole before the text";

pub(super) type Converted = Result<(), CannyError>;

/// A conversion.
pub(super) struct Run<'a> {
    pub(super) options: &'a Options<'a>,
    sink: &'a mut dyn Sink,
    pub(super) remembered: Remembered,
    /// The board and category that all feature requests share so far.
    pub(super) shared: Option<Vec<String>>,
    /// How many feature requests there are.
    pub(super) requests: u64,
    /// The one of them that is no tag.
    pub(super) shared_category: Option<String>,
    /// The files of which records were rejected.
    with_rejected: HashSet<usize>,
    votes: VoteTotals,
    lost: BTreeMap<(Option<Kind>, String), u64>,
}

impl<'a> Run<'a> {
    pub(super) fn new(options: &'a Options<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            options,
            sink,
            remembered: Remembered::default(),
            shared: None,
            requests: 0,
            shared_category: None,
            with_rejected: HashSet::new(),
            votes: VoteTotals::default(),
            lost: BTreeMap::new(),
        }
    }

    /// Reports what has no place here. Returns the votes.
    pub(super) fn finish(self) -> Result<VoteTotals, CannyError> {
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(CannyError::Sink)?;
        }
        Ok(self.votes)
    }

    /// Whether no earlier record of this kind has the id of a record. One without an id is always the first.
    pub(super) fn is_first(&mut self, context: &Context<'_>) -> bool {
        let Some(id) = context.text("id") else { return true };
        self.remember_id(context.kind, &id)
    }

    fn remember_id(&mut self, kind: RecordKind, id: &str) -> bool {
        let id = self.remembered.hash((kind as u8, id));
        self.remembered.ids.insert(id)
    }

    /// Converts the records of a file that are of this kind.
    pub(super) fn convert_file(&mut self, file: &SourceFile<'_>, kind: RecordKind) -> Converted {
        file.read(|element| {
            let text = match &element.text {
                Ok(text) => *text,
                Err(problem) => {
                    if file.kind_of_unreadable(&element) == Some(kind) {
                        self.reject_unreadable(file, kind, problem, &element)?;
                    }
                    return Ok(());
                }
            };
            let object = Object::parse(text).unwrap_or_default();
            if RecordKind::of(element.list, &object) != Some(kind) {
                return Ok(());
            }
            let original = element.original.unwrap_or_default();
            let context = Context { file, line: element.line, kind, original, object: &object };
            if element.is_repaired {
                let problem = "the record has halves of characters: they are replaced";
                self.report(context.problem(context.text("id").as_deref(), problem, Action::Changed))?;
            }
            match kind {
                RecordKind::Board => {}
                RecordKind::Post => self.convert_post(&context)?,
                RecordKind::Vote => self.convert_vote(&context)?,
                RecordKind::Comment => self.convert_comment(&context)?,
                RecordKind::StatusChange => self.convert_status_change(&context)?,
                RecordKind::Entry => self.convert_entry(&context)?,
            }
            self.check_memory()
        })?;
        Ok(())
    }

    fn convert_post(&mut self, context: &Context<'_>) -> Converted {
        let Some(title) = context.text("title").and_then(|title| line(&title)) else {
            let id = context.text("id");
            return self
                .reject(context, context.problem_of(id.as_deref(), "title", "the title is blank", Action::Rejected));
        };
        let id = id_or_digest(context, &title).into_owned();
        let request = self.remembered.hash(&*id);
        if self.remembered.requests.insert(request, true) == Some(true) {
            return self.reject_double(context, "an earlier record has the same title and time, and there is no id");
        }
        let is_private = self.read_privacy(context, &id)?;
        let nameless_votes = self.read_nameless_votes(context, &id)?;
        let tags = self.read_tags(context, &id)?;
        let merged_into = self.remembered.merges.get(&request).cloned();
        self.write_post(context, &id, &title, |request| FeatureRequest {
            tags,
            is_private,
            nameless_votes,
            merged_into,
            ..request
        })?;
        self.count_lost_of_post(context);
        let custom = context.get("customFields");
        if !custom.is_null() && custom.array().is_none() && custom.object().is_none() {
            let problem = "the value is no list of fields";
            self.report(context.problem_of(Some(&id), "customFields", problem, Action::Ignored))?;
        }
        if let Some(body) = own_fields(context.object) {
            let note = Note {
                external_id: format!("{id}:fields"),
                request: id.clone(),
                body,
                author: None,
                is_team: true,
                created_at: None,
                origin: context.origin(),
            };
            self.write(Record::Note(note))?;
        }
        for merged in context.get("mergeHistory").array().into_iter().flatten().filter_map(Value::object) {
            self.convert_merged(context, &merged, &id, is_private)?;
        }
        Ok(())
    }

    /// Writes a feature request that is only in the history of the one into which it was merged.
    fn convert_merged(&mut self, context: &Context<'_>, merge: &Object<'_>, into: &str, is_private: bool) -> Converted {
        let value = merge.get("post");
        let Some(object) = value.object() else { return Ok(()) };
        let merged = Context { object: &object, original: value.raw().as_bytes(), ..*context };
        let Some(title) = merged.text("title").and_then(|title| line(&title)) else {
            let id = merged.text("id");
            if id.as_ref().is_some_and(|id| self.remembered.requests.contains_key(&self.remembered.hash(&**id))) {
                return Ok(());
            }
            return self
                .reject(&merged, merged.problem_of(id.as_deref(), "title", "the title is blank", Action::Rejected));
        };
        let id = id_or_digest(&merged, &title).into_owned();
        let request = self.remembered.hash(&*id);
        if self.remembered.requests.contains_key(&request) {
            return Ok(());
        }
        self.remembered.requests.insert(request, true);
        self.check_memory()?;
        let unusable = self.remembered.listed.get(&request).map_or(0, |listed| listed.unusable);
        self.write_post(&merged, &id, &title, |request| FeatureRequest {
            is_private,
            // Its votes are those of the other one now.
            nameless_votes: unusable,
            merged_into: Some(into.to_owned()),
            ..request
        })
    }

    /// Writes a feature request with what `complete` adds to it.
    fn write_post(
        &mut self,
        context: &Context<'_>,
        id: &str,
        title: &str,
        complete: impl FnOnce(FeatureRequest) -> FeatureRequest,
    ) -> Converted {
        let details = self.read_text_with_pictures(context, Some(id), "details")?;
        let (short_title, description) = fit_title(title, &details);
        if short_title != title {
            self.report(context.problem_of(Some(id), "title", CUT_TITLE, Action::Changed))?;
        }
        let author = self.read_person(context, Some(id), "author", "authorID")?;
        let request = complete(FeatureRequest {
            external_id: id.to_owned(),
            title: short_title.into_owned(),
            description: description.into_owned(),
            status: name_of(context.get("status")),
            tags: Vec::new(),
            is_private: false,
            awaits_approval: false,
            author: author.person,
            is_team: author.is_team,
            nameless_votes: 0,
            created_at: self.read_time(context, Some(id), "created")?,
            url: self.read_url(context, id)?,
            merged_into: None,
            origin: context.origin(),
        });
        self.votes.nameless += u64::from(request.nameless_votes);
        self.write(Record::FeatureRequest(request))
    }

    fn count_lost_of_post(&mut self, context: &Context<'_>) {
        self.lose("links to records of other programs", linked(context.object));
        self.lose("owners of feature requests", u64::from(!context.get("owner").is_null()));
        self.lose_by(context);
    }

    /// Counts a member of the team who added a feature request or vote for somebody else.
    fn lose_by(&mut self, context: &Context<'_>) {
        self.lose("names of those who posted or voted for others", u64::from(!context.get("by").is_null()));
    }

    fn convert_vote(&mut self, context: &Context<'_>) -> Converted {
        let given = context.text("id");
        if !self.is_first(context) {
            return self.reject_double(context, "");
        }
        let Some(request) = self.read_request(context, given.as_deref())? else { return Ok(()) };
        self.lose_by(context);
        let voter = people::find(context.object, "voter", "voterID");
        if voter.is_only_name {
            self.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
        let why = match &voter.bad_address {
            Some((_, error)) => error.to_string(),
            None if voter.is_malformed => "the value is no person".to_owned(),
            None => String::new(),
        };
        let listed = voter
            .bad_address
            .as_ref()
            .map_or_else(|| context.get("voter").shown(), |(email, _)| Cow::Borrowed(&**email));
        let problem =
            |problem: String, action| context.problem(given.as_deref(), problem, action).of_value("voter", &listed);
        let Some(person) = voter.person else {
            if self.remembered.requests.get(&self.remembered.hash(&*request)) != Some(&true) {
                self.skip(Kind::Votes, "votes without a person for feature requests of another run");
                let why = if why.is_empty() { "there is no voter" } else { &why };
                let text = format!("{why}: the vote is left out, because the feature request is from another run");
                return self.report(problem(text, Action::Skipped));
            }
            if why.is_empty() {
                return Ok(());
            }
            return self.report(problem(format!("{why}: the vote has no name"), Action::Changed));
        };
        if !why.is_empty() {
            self.report(problem(why, Action::Ignored))?;
        }
        let created_at = self.read_time(context, given.as_deref(), "created")?;
        let pair = match (&voter.address, &person.key) {
            (Some(address), _) => self.remembered.hash((&*request, true, address.folded())),
            (None, PersonKey::Email(id) | PersonKey::ExternalId(id)) => self.remembered.hash((&*request, false, id)),
        };
        if !self.remembered.voters.insert(pair) {
            self.votes.doubles += 1;
            return Ok(());
        }
        self.votes.voters += 1;
        let (request, origin) = (request.into_owned(), context.origin());
        self.write(Record::Vote(Vote { request, person, is_subscribed: None, created_at, origin }))
    }

    fn convert_comment(&mut self, context: &Context<'_>) -> Converted {
        let given = context.text("id");
        let body = self.read_text_with_pictures(context, given.as_deref(), "value")?;
        if body.trim().is_empty() {
            let problem = context.problem_of(given.as_deref(), "value", "the text is blank", Action::Rejected);
            return self.reject(context, problem);
        }
        let request = request_of(context.object).unwrap_or_default();
        let id = given.clone().map_or_else(
            || {
                let author = id_of(context.object, "author", "authorID").unwrap_or_default();
                digest(&[&request, &author, &context.text("created").unwrap_or_default(), &body])
            },
            Cow::into_owned,
        );
        if !self.remember_id(RecordKind::Comment, &id) {
            return self.reject_double(context, "an earlier record is the same, and there is no id");
        }
        let Some(request) = self.read_request(context, Some(&id))?.map(Cow::into_owned) else { return Ok(()) };
        self.lose("reactions", amount(context.get("likeCount")).max(amount(context.get("reactions"))));
        let is_internal = self.read_flag(context, Some(&id), "internal")?;
        let is_private = self.read_flag(context, Some(&id), "private")?;
        let is_note = is_internal || is_private || self.board_of(context.object).has_private_comments;
        let author = self.read_person(context, Some(&id), "author", "authorID")?;
        let created_at = self.read_time(context, Some(&id), "created")?;
        if let Some(at) = created_at {
            self.remembered.add_comment(&request, &body, at.millis());
        }
        let body = self.add_quote(context, &id, body, is_note)?;
        let (external_id, origin, is_team) = (id, context.origin(), author.is_team);
        let author = author.person;
        self.write(if is_note {
            Record::Note(Note { external_id, request, body, author, is_team, created_at, origin })
        } else {
            Record::Comment(Comment { external_id, request, body, author, is_team, is_held: false, created_at, origin })
        })
    }

    /// Puts what a reply quotes before it. What customers do not see is not quoted where they see it.
    fn add_quote(
        &mut self,
        context: &Context<'_>,
        id: &str,
        body: String,
        is_note: bool,
    ) -> Result<String, CannyError> {
        let Some(parent) = context.text("parentID") else { return Ok(body) };
        let problem = match self.remembered.quotes.find(self.remembered.hash(&*parent)) {
            Some(quote) if quote.is_private && !is_note => {
                "the reply is public, but the comment is not: it is not quoted"
            }
            Some(quote) if quote.text.is_empty() => return Ok(body),
            Some(quote) => return Ok(with_quote(&quote.text, &body)),
            None if self.remembered.quotes.left_out() > 0 => return Ok(body),
            None => "there is no comment with this id, so the reply quotes nothing",
        };
        self.report(context.problem_of(Some(id), "parentID", problem, Action::Ignored))?;
        Ok(body)
    }

    fn convert_status_change(&mut self, context: &Context<'_>) -> Converted {
        let given = context.text("id");
        let status = name_of(context.get("status"));
        let request = request_of(context.object).unwrap_or_default();
        let id = given.clone().map_or_else(
            || digest(&[&request, status.as_deref().unwrap_or_default(), &context.text("created").unwrap_or_default()]),
            Cow::into_owned,
        );
        if !self.remember_id(RecordKind::StatusChange, &id) {
            return self.reject_double(context, "an earlier record is the same, and there is no id");
        }
        let Some(request) = self.read_request(context, Some(&id))?.map(Cow::into_owned) else { return Ok(()) };
        let author = self.read_person(context, Some(&id), "changer", "changerID")?.person;
        let time = self.read_time(context, Some(&id), "created")?;
        let origin = context.origin();
        match status {
            Some(status) => {
                let at = time.unwrap_or(self.options.dates.now);
                let (external_id, request, author) = (id.clone(), request.clone(), author.clone());
                self.write(Record::Move(Move { external_id, request, status, author, at, origin }))?;
            }
            None => {
                self.skip(Kind::Moves, "status changes without a status");
                self.report(context.problem_of(Some(&id), "status", "the status is blank", Action::Skipped))?;
            }
        }
        let (body, has_bad_pictures) = change_comment(context.object);
        if has_bad_pictures {
            let problem = "a picture has no address of the web";
            self.report(context.problem_of(Some(&id), "changeComment", problem, Action::Ignored))?;
        }
        let is_known = time.is_some_and(|at| self.remembered.has_comment(&request, &body, at.millis()));
        if body.trim().is_empty() || is_known {
            return Ok(());
        }
        let external_id = format!("{id}:comment");
        self.write(Record::Comment(Comment {
            external_id,
            request,
            body,
            author,
            is_team: true,
            is_held: false,
            created_at: time,
            origin,
        }))
    }

    fn convert_entry(&mut self, context: &Context<'_>) -> Converted {
        let given = context.text("id");
        let reject = |field, problem: &str| context.problem_of(given.as_deref(), field, problem, Action::Rejected);
        let Some(title) = context.text("title").and_then(|title| line(&title)) else {
            return self.reject(context, reject("title", "the title is blank"));
        };
        let body = ["markdownDetails", "plaintextDetails"].into_iter().filter_map(|field| context.get(field).text());
        let Some(body) = body.into_iter().find(|body| !body.trim().is_empty()) else {
            return self.reject(context, reject("markdownDetails", "the text is blank"));
        };
        let id = id_or_digest(context, &title).into_owned();
        if !self.remember_id(RecordKind::Entry, &id) {
            return self.reject_double(context, "an earlier record has the same title and time, and there is no id");
        }
        let (short_title, body) = fit_title(&title, &body);
        if short_title != title {
            self.report(context.problem_of(Some(&id), "title", CUT_TITLE_OF_CHANGELOG, Action::Changed))?;
        }
        let published_at = self.read_publication(context, &id)?;
        self.lose("reactions", amount(context.get("reactions")));
        let marks = ["types", "labels"].into_iter().filter_map(|field| context.get(field).array());
        let marks: u64 = marks.map(|marks| marks.count() as u64).sum();
        let category = category_of(context.get("types"));
        self.lose("types and labels of changelogs", marks - u64::from(category.is_some()));
        let changelog = Changelog {
            title: short_title.into_owned(),
            body: body.into_owned(),
            category,
            published_at,
            requests: self.read_links(context, &id)?,
            external_id: id,
            origin: context.origin(),
        };
        self.write(Record::Changelog(changelog))
    }

    /// Rejects a record whose id an earlier one has, or which is like an earlier one without an id.
    fn reject_double(&mut self, context: &Context<'_>, without_id: &str) -> Converted {
        let id = context.text("id");
        let problem = if id.is_some() { "an earlier record has the same id" } else { without_id };
        self.reject(context, context.problem_of(id.as_deref(), "id", problem, Action::Rejected))
    }

    /// Rejects a record that was read.
    fn reject(&mut self, context: &Context<'_>, problem: Problem) -> Converted {
        self.report(problem)?;
        self.keep_original(context.file, context.kind, &mut &*context.original)
    }

    /// Rejects a record that cannot be read.
    fn reject_unreadable(
        &mut self,
        file: &SourceFile<'_>,
        kind: RecordKind,
        problem: &ElementProblem,
        element: &Element<'_>,
    ) -> Converted {
        self.report(file.problem(problem.to_string(), Action::Rejected).in_line(element.line))?;
        match element.original {
            Some(mut original) => self.keep_original(file, kind, &mut original),
            None => {
                let opened = reopen(file.input, file.encoding, &element.span);
                let mut original = opened.map_err(|source| file.error(source.into()))?;
                self.keep_original(file, kind, &mut original)
            }
        }
    }

    fn keep_original(&mut self, file: &SourceFile<'_>, kind: RecordKind, original: &mut dyn Read) -> Converted {
        let separator = if self.with_rejected.insert(file.index) { b"" } else { SEPARATOR };
        let mut original = separator.chain(original);
        self.sink.rejected(kind.records(), file.index, HEAD, &mut original).map_err(CannyError::Sink)
    }

    pub(super) fn report(&mut self, problem: Problem) -> Converted {
        self.sink.problem(problem).map_err(CannyError::Sink)
    }

    fn write(&mut self, record: Record) -> Converted {
        self.sink.record(record).map_err(CannyError::Sink)
    }

    /// Counts what has no place here.
    pub(super) fn lose(&mut self, what: &str, count: u64) {
        if count > 0 {
            *self.lost.entry((None, what.to_owned())).or_default() += count;
        }
    }

    /// Leaves a record out.
    pub(super) fn skip(&mut self, kind: Kind, why: &str) {
        *self.lost.entry((Some(kind), why.to_owned())).or_default() += 1;
    }

    /// Checks that what is remembered of the records stays within memory.
    pub(super) fn check_memory(&self) -> Converted {
        if self.remembered.records() > self.options.max_records {
            return Err(CannyError::TooManyRecords { max: self.options.max_records });
        }
        Ok(())
    }
}
