//! A conversion: what it remembers, and what becomes of each object.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::io::Read;

use roadmap_domain::model::timestamp::Timestamp;

use super::element::{Element, Member};
use super::file::{Context, SourceFile};
use super::json::{Item, List, Object, RejectedObject, Value};
use super::{GithubError, Options};
use crate::archive::Input;
use crate::dates::When;
use crate::encoding::Evidence;
use crate::records::{Action, Comment, FeatureRequest, Kind, Lost, Person, Problem, Record, Sink, VoteTotals};
use crate::sources::csv::values::{Tags, digest, fit_title, nameless_votes, optional};
use crate::sources::quotes::{quoted, with_quote};

/// Longest address of a feature request, in characters.
const MAX_URL: usize = 2_000;

/// Names of the reaction that is a vote.
const THUMBS_UP: [&str; 2] = ["thumbs_up", "+1"];

/// A conversion. Ids are remembered as hashes with a key of their own, which no file can foresee.
pub(super) struct Run<'a> {
    options: &'a Options<'a>,
    sink: &'a mut dyn Sink,
    hasher: RandomState,
    /// The ids of feature requests.
    ids: HashSet<u64>,
    /// The ids of comments.
    comments: HashSet<u64>,
    shared_category: Option<String>,
    votes: VoteTotals,
    lost: BTreeMap<(Option<Kind>, String), u64>,
    /// Comments that the files count, but do not have inside of feature requests; and those of pages of comments.
    missing_comments: u64,
    comments_of_pages: u64,
    /// The files of which something was rejected, and the object that was rejected last, by file and position.
    files_with_rejected: HashSet<usize>,
    last_rejected: Option<(usize, u64)>,
}

type Converted = Result<(), GithubError>;

/// What a comment is on.
struct Parent<'a> {
    request: &'a str,
    /// The text to which it replies.
    text: Option<&'a str>,
}

impl<'a> Run<'a> {
    pub(super) fn new(options: &'a Options<'a>, sink: &'a mut dyn Sink) -> Self {
        Self {
            options,
            sink,
            hasher: RandomState::new(),
            ids: HashSet::new(),
            comments: HashSet::new(),
            shared_category: None,
            votes: VoteTotals::default(),
            lost: BTreeMap::new(),
            missing_comments: 0,
            comments_of_pages: 0,
            files_with_rejected: HashSet::new(),
            last_rejected: None,
        }
    }

    /// Reports what has no place here. Returns the votes, and the category that all feature requests share.
    pub(super) fn finish(mut self) -> Result<(VoteTotals, Option<String>), GithubError> {
        self.lose("comments that are not in the files", self.missing_comments.saturating_sub(self.comments_of_pages));
        for ((kind, what), count) in self.lost {
            self.sink.lost(Lost { what, count, kind }).map_err(GithubError::Sink)?;
        }
        Ok((self.votes, self.shared_category))
    }

    /// Finds out which inputs are of GitHub.
    pub(super) fn recognize_files<'b>(&mut self, inputs: &'b [Input]) -> Result<Vec<SourceFile<'b>>, GithubError> {
        let mut files = Vec::new();
        let mut first_error = None;
        for (index, input) in inputs.iter().enumerate() {
            let file = SourceFile::new(index, input, self.options)?;
            match file.check() {
                Ok(()) => {
                    if file.encoding.evidence == Evidence::Guessed {
                        let warning = "the encoding is not known, so the file is read as windows-1252: --encoding names another one";
                        self.report(file.problem(warning, Action::Changed))?;
                    }
                    files.push(file);
                }
                Err(error) if inputs.len() == 1 => return Err(error),
                Err(error @ GithubError::Json { .. }) if is_json_by_name(input.name()) => return Err(error),
                Err(error @ (GithubError::Json { .. } | GithubError::Foreign { .. })) => {
                    let problem = "the file has no issues or discussions of GitHub";
                    self.report(file.problem(problem, Action::Skipped))?;
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

    /// Finds the category that all feature requests share, if there are at least two.
    pub(super) fn find_shared_category(&mut self, files: &[SourceFile<'_>]) -> Converted {
        let (mut shared, mut records, mut differ) = (None, 0_u64, false);
        for file in files {
            file.read(|item| {
                let Item::Object(found) = item else { return Ok(true) };
                let Some(element) = Object::parse(&found.text).map(Element) else { return Ok(true) };
                if element.is_comment() || element.is_pull_request() || element.title().is_none() {
                    // None of these becomes a feature request.
                    return Ok(true);
                }
                records += 1;
                let category = element.category();
                differ = category.is_none() || records > 1 && shared != category;
                shared = category;
                Ok(!differ)
            })?;
            if differ {
                return Ok(());
            }
        }
        self.shared_category = shared.filter(|_| records > 1);
        Ok(())
    }

    /// Converts the issues and discussions of a file. Returns whether it also has comments of their own.
    pub(super) fn convert_elements(&mut self, file: &SourceFile<'_>) -> Result<bool, GithubError> {
        let mut has_comments = false;
        file.read(|item| {
            match item {
                Item::Object(found) => {
                    let context = Context { file, found: &found };
                    match Object::parse(&found.text).map(Element) {
                        None => {
                            let problem = context.problem(None, "the record is no valid JSON", Action::Rejected);
                            self.reject(&context, Kind::FeatureRequests, problem)?;
                        }
                        Some(element) if element.0.is_empty() => {}
                        Some(element) if element.is_comment() => has_comments = true,
                        Some(element) if element.is_pull_request() => self.skip(Kind::FeatureRequests, "pull requests"),
                        Some(element) => self.convert_request(&context, &element)?,
                    }
                }
                Item::Rejected(object) => self.reject_unreadable(file, &object)?,
                Item::NoObject { line } => {
                    self.report(file.problem("this is no object", Action::Ignored).in_line(line))?;
                }
            }
            self.check_memory()?;
            Ok(true)
        })?;
        Ok(has_comments)
    }

    /// Converts the comments that a file has beside issues.
    pub(super) fn convert_pages_of_comments(&mut self, file: &SourceFile<'_>) -> Converted {
        file.read(|item| {
            let Item::Object(found) = item else { return Ok(true) };
            let Some(element) = Object::parse(&found.text).map(Element) else { return Ok(true) };
            if element.is_comment() {
                self.convert_comment_of_page(&Context { file, found: &found }, &element)?;
                self.check_memory()?;
            }
            Ok(true)
        })
    }

    fn convert_request(&mut self, context: &Context<'_>, element: &Element<'_>) -> Converted {
        let id = element.request_id();
        let reject = |problem: &str| context.problem(id.as_deref(), problem, Action::Rejected);
        if element.0.has_nul("comments") {
            return self.reject(context, Kind::FeatureRequests, reject("the record has a NUL character"));
        }
        let Some(title) = element.title() else {
            let problem = reject("the title is blank").of_value("title", shown(element.0.get("title")));
            return self.reject(context, Kind::FeatureRequests, problem);
        };
        let Some(id) = id.clone() else {
            let problem = reject("there is no number").of_value("number", shown(element.0.get("number")));
            return self.reject(context, Kind::FeatureRequests, problem);
        };
        if !self.ids.insert(self.hasher.hash_one(&*id)) {
            let problem = reject("an earlier record has the same number").of_value("number", &id);
            return self.reject(context, Kind::FeatureRequests, problem);
        }

        let text = match element.text() {
            Member::Is(text) => text.into_owned(),
            Member::Missing => String::new(),
            Member::Wrong(key, value) => {
                self.report(context.problem(Some(&id), "this is no text", Action::Ignored).of_value(key, &value))?;
                String::new()
            }
        };
        let (short_title, description) = fit_title(&title, &text);
        if short_title != title {
            let problem = "the title is longer than 200 characters: it is cut, and whole before the description";
            self.report(context.problem(Some(&id), problem, Action::Changed).of_value("title", &title))?;
        }
        let request = FeatureRequest {
            title: short_title.into_owned(),
            description: description.into_owned(),
            status: self.read_status(context, &id, element)?.map(str::to_owned),
            tags: self.read_tags(context, &id, element)?,
            is_private: false,
            awaits_approval: false,
            author: self.read_author(context, &id, element)?,
            is_team: element.is_team(),
            nameless_votes: self.read_nameless_votes(context, &id, element)?,
            created_at: self.read_time(context, &id, element)?,
            url: self.read_url(context, &id, element)?,
            merged_into: None,
            origin: context.origin(),
            external_id: id.clone(),
        };
        self.votes.nameless += u64::from(request.nameless_votes);
        self.write(Record::FeatureRequest(request))?;
        for (key, what) in [("milestone", "milestones"), ("assignees", "assignees")] {
            if let Some(value) = element.0.get(key) {
                self.lose(what, value.list().map_or(1, |list| list.count()));
            }
        }
        self.convert_comments(context, "comments", element, &Parent { request: &id, text: None })
    }

    /// Converts the comments on a feature request, or the replies to a comment.
    fn convert_comments(
        &mut self,
        context: &Context<'_>,
        key: &'static str,
        element: &Element<'_>,
        parent: &Parent<'_>,
    ) -> Converted {
        let Some(comments) = element.0.get(key) else { return Ok(()) };
        // The REST API only counts them.
        let only_counted = || comments.whole_number().map(|count| List { items: Vec::new(), total: Some(count) });
        let Some(list) = comments.list().or_else(only_counted) else {
            let problem = context.problem(Some(parent.request), "these are no comments", Action::Ignored);
            return self.report(problem.of_value(key, comments.shown()));
        };
        let missing = list.count() - list.items.len() as u64;
        self.missing_comments = self.missing_comments.saturating_add(missing);
        for item in list.items.into_iter().filter(|item| !item.is_null()) {
            match item.object().map(Element) {
                Some(comment) if comment.0.is_empty() => {}
                Some(comment) => self.convert_comment(context, &comment, parent)?,
                None => {
                    let problem = context.problem(Some(parent.request), "this is no comment", Action::Ignored);
                    self.report(problem.of_value(key, item.shown()))?;
                }
            }
            self.check_memory()?;
        }
        Ok(())
    }

    /// Converts a comment, and the replies to it.
    fn convert_comment(&mut self, context: &Context<'_>, element: &Element<'_>, parent: &Parent<'_>) -> Converted {
        let request = parent.request;
        let given = element.comment_id();
        let reject = |problem: &str| context.problem(given.as_deref(), problem, Action::Rejected);
        let body = match element.text() {
            Member::Is(body) => Some(body),
            _ => None,
        };
        let mut text = None;
        if element.is_minimized() {
            self.skip(Kind::Comments, "minimized comments");
        } else if element.0.has_nul("replies") {
            self.reject(context, Kind::Comments, reject("the comment has a NUL character"))?;
        } else if let Some(body) = &body {
            if self.write_comment(context, element, parent, given.clone(), body)? {
                text = Some(&**body);
            }
        } else {
            let problem = reject("the text is blank").of_value("body", shown(element.0.get("body")));
            self.reject(context, Kind::Comments, problem)?;
        }
        self.convert_comments(context, "replies", element, &Parent { request, text })
    }

    /// Writes a comment. Returns `false` if it is rejected.
    fn write_comment(
        &mut self,
        context: &Context<'_>,
        element: &Element<'_>,
        parent: &Parent<'_>,
        given: Option<String>,
        body: &str,
    ) -> Result<bool, GithubError> {
        let request = parent.request;
        let time = element.0.first(&CREATED_AT).and_then(|(_, time)| time.text()).unwrap_or_default();
        let id = given.clone().unwrap_or_else(|| {
            let login = element.0.first(&["author", "user"]).map_or("", |(_, author)| author.as_written());
            digest(&[request, login, &time, body])
        });
        if !self.comments.insert(self.hasher.hash_one(&*id)) {
            let problem = match given {
                Some(_) => "an earlier comment has the same id",
                None => "an earlier comment is the same, and there is no id",
            };
            let problem = context.problem(given.as_deref(), problem, Action::Rejected);
            self.reject(context, Kind::Comments, problem.of_value("id", given.as_deref().unwrap_or_default()))?;
            return Ok(false);
        }
        let reactions = self.count_reactions(context, &id, element)?;
        self.lose("reactions", reactions.thumbs_up.saturating_add(reactions.others));
        self.lose("upvotes of comments", reactions.upvotes);
        let comment = Comment {
            request: request.to_owned(),
            body: parent.text.and_then(quoted).map_or_else(|| body.to_owned(), |quote| with_quote(&quote, body)),
            author: self.read_author(context, &id, element)?,
            is_team: element.is_team(),
            is_held: false,
            created_at: self.read_time(context, &id, element)?,
            origin: context.origin(),
            external_id: id,
        };
        self.write(Record::Comment(comment))?;
        Ok(true)
    }

    fn convert_comment_of_page(&mut self, context: &Context<'_>, element: &Element<'_>) -> Converted {
        if element.is_pull_request() {
            self.skip(Kind::Comments, "comments on pull requests");
            return Ok(());
        }
        let request = element.request_of_comment();
        let is_here = request.as_ref().is_some_and(|request| self.ids.contains(&self.hasher.hash_one(&**request)));
        match &request {
            Some(request) if is_here || (self.options.is_known)(request) => {
                self.comments_of_pages += u64::from(is_here);
                self.convert_comment(context, element, &Parent { request, text: None })
            }
            _ => {
                self.skip(Kind::Comments, "comments on unknown feature requests");
                let problem = "there is no feature request with this address";
                let problem = context.problem(element.comment_id().as_deref(), problem, Action::Skipped);
                self.report(problem.of_value("issue_url", shown(element.0.get("issue_url"))))
            }
        }
    }

    fn read_status(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Option<&'static str>, GithubError> {
        match element.status() {
            Member::Missing => Ok(None),
            Member::Is(status) => Ok(Some(status)),
            Member::Wrong(key, value) => {
                let problem = context.problem(Some(id), "the state is neither open nor closed", Action::Ignored);
                self.report(problem.of_value(key, &value))?;
                Ok(None)
            }
        }
    }

    fn read_tags(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Vec<String>, GithubError> {
        let mut tags = Tags::default();
        match element.labels() {
            Member::Missing => {}
            Member::Is(labels) => labels.iter().for_each(|label| tags.add_one(label)),
            Member::Wrong(key, value) => {
                self.report(context.problem(Some(id), "these are no labels", Action::Ignored).of_value(key, &value))?;
            }
        }
        if let Some(category) = element.category().filter(|category| self.shared_category.as_ref() != Some(category)) {
            tags.add_one(&category);
        }
        for tag in &tags.too_long {
            let problem = "tags have at most 50 characters";
            self.report(context.problem(Some(id), problem, Action::Ignored).of_value("labels", tag))?;
        }
        if tags.rest > 0 {
            let problem = format!("a feature request has at most 20 tags: {} are left out", tags.rest);
            let problem = context.problem(Some(id), problem, Action::Ignored);
            self.report(problem.of_value("labels", &tags.too_many.join("|")))?;
        }
        Ok(tags.kept)
    }

    fn read_author(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Option<Person>, GithubError> {
        match element.author() {
            Member::Missing => Ok(None),
            Member::Is(Ok(person)) => Ok(Some(person)),
            Member::Is(Err(_)) => {
                self.lose("names without a login", 1);
                Ok(None)
            }
            Member::Wrong(key, value) => {
                self.report(context.problem(Some(id), "this is no author", Action::Ignored).of_value(key, &value))?;
                Ok(None)
            }
        }
    }

    /// Returns the votes of a feature request, none of which has a person.
    fn read_nameless_votes(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<u32, GithubError> {
        let reactions = self.count_reactions(context, id, element)?;
        self.lose("reactions", reactions.others);
        let votes = reactions.thumbs_up.max(reactions.upvotes);
        Ok(nameless_votes(i64::try_from(votes).unwrap_or(i64::MAX), 0, 0))
    }

    fn count_reactions(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Reactions, GithubError> {
        let mut reactions = Reactions::default();
        for (key, name, count) in element.reactions() {
            let count = self.read_count(context, id, key, count)?;
            if THUMBS_UP.contains(&&*name) {
                reactions.thumbs_up = reactions.thumbs_up.max(count);
            } else {
                reactions.others = reactions.others.saturating_add(count);
            }
        }
        if let Some((key, count)) = element.upvotes() {
            reactions.upvotes = self.read_count(context, id, key, count)?;
        }
        Ok(reactions)
    }

    fn read_count(
        &mut self,
        context: &Context<'_>,
        id: &str,
        key: &'static str,
        count: Value<'_>,
    ) -> Result<u64, GithubError> {
        let (problem, action) = match count.whole_number() {
            Some(number @ 0..) => return Ok(number.unsigned_abs()),
            Some(_) => ("the count is below 0: it is 0", Action::Changed),
            None => ("the count is no whole number", Action::Ignored),
        };
        self.report(context.problem(Some(id), problem, action).of_value(key, count.shown()))?;
        Ok(0)
    }

    fn read_time(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Option<Timestamp>, GithubError> {
        let Some((key, value)) = element.0.first(&CREATED_AT) else { return Ok(None) };
        let problem = match value.text().map(|text| self.options.dates.read(&text)) {
            Some(When::Missing) => return Ok(None),
            Some(When::At(time)) => return Ok(Some(time)),
            Some(When::Unusable(problem)) => problem.to_string(),
            None => "the time cannot be read".to_owned(),
        };
        self.report(context.problem(Some(id), problem, Action::Changed).of_value(key, value.shown()))?;
        Ok(None)
    }

    fn read_url(
        &mut self,
        context: &Context<'_>,
        id: &str,
        element: &Element<'_>,
    ) -> Result<Option<String>, GithubError> {
        let Some((key, value)) = element.page() else { return Ok(None) };
        let problem = match value.text() {
            None => "the address is no text",
            Some(url) if url.chars().nth(MAX_URL).is_some() || url.contains(char::is_control) => {
                "the address is too long or has control characters"
            }
            Some(url) => return Ok(optional(&url).map(str::to_owned)),
        };
        self.report(context.problem(Some(id), problem, Action::Ignored).of_value(key, value.shown()))?;
        Ok(None)
    }

    /// Rejects a record of an object that was read.
    fn reject(&mut self, context: &Context<'_>, kind: Kind, problem: Problem) -> Converted {
        self.report(problem)?;
        let mut original = context.found.original;
        self.write_rejected(context.file, kind, context.found.place.span.start, &mut original)
    }

    /// Rejects an object that cannot be read.
    fn reject_unreadable(&mut self, file: &SourceFile<'_>, object: &RejectedObject<'_>) -> Converted {
        self.report(file.problem(object.problem.to_string(), Action::Rejected).in_line(object.place.line))?;
        let start = object.place.span.start;
        match object.original {
            Some(mut original) => self.write_rejected(file, Kind::FeatureRequests, start, &mut original),
            None => self.write_rejected(file, Kind::FeatureRequests, start, &mut file.reopen(&object.place)?),
        }
    }

    fn write_rejected(&mut self, file: &SourceFile<'_>, kind: Kind, start: u64, original: &mut dyn Read) -> Converted {
        let is_written = self.last_rejected.replace((file.index, start)) == Some((file.index, start));
        let is_first = self.files_with_rejected.insert(file.index);
        let separator = if is_first { &[] } else { &*file.separator };
        let mut bytes: Box<dyn Read + '_> =
            if is_written { Box::new(std::io::empty()) } else { Box::new(separator.chain(original)) };
        self.sink.rejected(kind, file.index, &file.head, &mut bytes).map_err(GithubError::Sink)
    }

    fn report(&mut self, problem: Problem) -> Converted {
        self.sink.problem(problem).map_err(GithubError::Sink)
    }

    fn write(&mut self, record: Record) -> Converted {
        self.sink.record(record).map_err(GithubError::Sink)
    }

    fn lose(&mut self, what: &str, count: u64) {
        if count > 0 {
            let lost = self.lost.entry((None, what.to_owned())).or_default();
            *lost = lost.saturating_add(count);
        }
    }

    /// Leaves a whole record out.
    fn skip(&mut self, kind: Kind, why: &str) {
        *self.lost.entry((Some(kind), why.to_owned())).or_default() += 1;
    }

    /// Checks that what is remembered of the records stays within memory.
    fn check_memory(&self) -> Converted {
        if self.ids.len() + self.comments.len() > self.options.max_records {
            return Err(GithubError::TooManyRecords { max: self.options.max_records });
        }
        Ok(())
    }
}

/// Keys of the time when something was written.
const CREATED_AT: [&str; 2] = ["createdAt", "created_at"];

/// The reactions to something.
#[derive(Default)]
struct Reactions {
    thumbs_up: u64,
    others: u64,
    upvotes: u64,
}

fn shown(value: Option<Value<'_>>) -> &str {
    value.map_or("", Value::shown)
}

/// Whether a file says that it is JSON by the end of its name.
fn is_json_by_name(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    ["json", "jsonl", "ndjson"].iter().any(|json| extension.eq_ignore_ascii_case(json))
}
