//! The conversion of a backup: what it remembers, and what becomes of each row.

mod first;
mod pictures;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde::de::DeserializeOwned;

use super::FiderError;
use super::elements::Element;
use super::files::{SourceFile, Tables};
use super::output::{Converted, Output, Spot};
use super::rows::{self, Status, answer_id, post_number, url};
use crate::records::{
    Action, Comment, FeatureRequest, Kind, Note, Origin, Person, Problem, Record, Subscription, Vote, VoteTotals,
};
use crate::sources::csv::values::{Tags, digest, flag, line, optional};
use crate::sources::names::{People, TagNames, identity};

/// Longest part of an address after the number.
const MAX_SLUG: usize = 1_000;

/// What is known of a feature request by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Post {
    /// Its number, which is its external id.
    Number(u32),
    /// It has no number.
    Id,
    /// It is not imported, because it is deleted.
    Deleted,
}

/// What is done about a row that cannot be read.
#[derive(Clone, Copy)]
enum Unreadable {
    Reject(Kind),
    /// It is no record of its own.
    Ignore,
    /// Another pass lists it.
    Pass,
}

/// A row of a table.
struct Row<'a, T> {
    spot: Spot<'a>,
    original: &'a [u8],
    columns: &'a T,
}

/// A conversion. Ids are remembered as hashes with a key of their own, which no file can foresee.
struct Run<'a, 'b> {
    output: Output<'b>,
    tables: &'a Tables<'a>,
    hasher: RandomState,
    /// The address of the site, if it has a host of its own.
    site: String,
    is_private: bool,
    people: People,
    tags: TagNames,
    /// Pairs of a feature request and a public tag, sorted.
    post_tags: Vec<(u64, u32)>,
    /// By the id of the row.
    posts: HashMap<u64, Post>,
    /// The external ids of feature requests.
    ids: HashSet<u64>,
    comments: HashSet<u64>,
    /// Votes without a person, by the id of the row of the feature request.
    nameless: HashMap<u64, u32>,
    /// Pairs of a feature request and a person who has voted.
    voters: HashSet<u64>,
    /// Whether somebody gets mail about a feature request, by the same pairs.
    subscribers: HashMap<u64, bool>,
    /// Pairs of a text and the position of a file that belongs to it, in the order of the first.
    attachments: Vec<(u64, usize)>,
    blobs: HashMap<&'a str, usize>,
    /// The positions of the blobs that are pictures of texts.
    pictures: HashSet<usize>,
}

/// Converts all tables.
pub(super) fn convert(tables: &Tables<'_>, output: Output<'_>) -> Result<VoteTotals, FiderError> {
    let mut run = Run::new(tables, output);
    run.report_other_files()?;
    run.read("tenants", Unreadable::Ignore, Run::read_tenant)?;
    run.read("users", Unreadable::Ignore, Run::add_user)?;
    run.read("tags", Unreadable::Ignore, Run::add_tag)?;
    run.read("posts", Unreadable::Pass, Run::add_post)?;
    run.read("post_tags", Unreadable::Ignore, Run::add_post_tag)?;
    run.read("post_votes", Unreadable::Pass, Run::count_vote)?;
    run.read("post_subscribers", Unreadable::Pass, Run::add_subscriber)?;
    run.read("attachments", Unreadable::Ignore, Run::add_attachment)?;
    // One tag may be listed a million times.
    run.post_tags.sort_unstable();
    run.post_tags.dedup();
    run.attachments.sort_by_key(|(text, _)| *text);

    run.read("posts", Unreadable::Reject(Kind::FeatureRequests), Run::convert_post)?;
    run.read("post_votes", Unreadable::Reject(Kind::Votes), Run::convert_vote)?;
    run.read("post_subscribers", Unreadable::Reject(Kind::Subscriptions), Run::convert_subscriber)?;
    run.read("comments", Unreadable::Reject(Kind::Comments), Run::convert_comment)?;
    run.read("post_tags", Unreadable::Pass, Run::convert_private_tag)?;
    let other_files = run.blobs.len() - run.pictures.len();
    run.output.lose("files that no text has", other_files as u64);
    run.output.finish()
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(tables: &'a Tables<'a>, output: Output<'b>) -> Self {
        Self {
            output,
            tables,
            hasher: RandomState::new(),
            site: String::new(),
            is_private: false,
            people: People::default(),
            tags: TagNames::default(),
            post_tags: Vec::new(),
            posts: HashMap::new(),
            ids: HashSet::new(),
            comments: HashSet::new(),
            nameless: HashMap::new(),
            voters: HashSet::new(),
            subscribers: HashMap::new(),
            attachments: Vec::new(),
            blobs: tables.blobs(),
            pictures: HashSet::new(),
        }
    }

    /// Reads all rows of a table, if there is one.
    fn read<T: DeserializeOwned>(
        &mut self,
        table: &str,
        unreadable: Unreadable,
        each: fn(&mut Self, &Row<'_, T>) -> Converted,
    ) -> Converted {
        let Some(file) = self.tables.find(table) else { return Ok(()) };
        file.read(|element: Element<'_, T>| {
            let origin = Origin { file: file.index, line: element.place.line };
            let spot = Spot { input: file.input, origin, id: None };
            match &element.fields {
                Ok(columns) => {
                    each(self, &Row { spot, original: element.original.unwrap_or_default(), columns })?;
                }
                Err(problem) => self.list_unreadable(file, spot, problem.to_string(), &element, unreadable)?,
            }
            self.check_memory()
        })
    }

    fn list_unreadable<T>(
        &mut self,
        file: SourceFile<'_>,
        spot: Spot<'_>,
        problem: String,
        element: &Element<'_, T>,
        unreadable: Unreadable,
    ) -> Converted {
        let kind = match unreadable {
            Unreadable::Reject(kind) => kind,
            Unreadable::Ignore => return self.output.report(spot.whole_problem(problem, Action::Ignored)),
            Unreadable::Pass => return Ok(()),
        };
        let problem = spot.whole_problem(problem, Action::Rejected);
        match element.original {
            Some(original) => self.output.reject_element(kind, problem, file.index, original),
            None => {
                let original = file.reopen(&element.place)?;
                self.output.reject_element(kind, problem, file.index, original)
            }
        }
    }

    fn report_other_files(&mut self) -> Converted {
        for input in self.tables.others() {
            self.output.report_unknown_file(input)?;
        }
        match (self.tables.find("users"), self.tables.find("posts")) {
            (None, Some(posts)) => {
                let problem = "there is no `users.json` beside it: nobody is an author, and no vote has a name";
                self.output.report(Problem::new(posts.input.name(), problem, Action::Ignored))
            }
            _ => Ok(()),
        }
    }

    fn convert_post(&mut self, row: &Row<'_, rows::Post>) -> Converted {
        let post = row.columns;
        let (id, known) = (post.id.0.trim(), Post::of(post));
        let key = self.hash(id);
        let external_id = match known {
            Post::Number(number) => number.to_string(),
            _ if id.is_empty() => digest(&[post.title.0.trim(), post.created_at.0.trim()]),
            _ => Post::external_id_of(id),
        };
        let spot = row.spot.of_record(&external_id);
        if known == Post::Deleted {
            self.output.skip(Kind::FeatureRequests, "deleted feature requests");
            return Ok(());
        }
        let is_first = id.is_empty() || self.posts.get(&key) == Some(&known);
        let Some(title) = line(&post.title.0) else {
            if is_first {
                self.posts.remove(&key);
            }
            let problem = spot.problem("title", &post.title.0, "the title is blank", Action::Rejected);
            return self.reject(row, Kind::FeatureRequests, problem);
        };
        if !is_first || !self.ids.insert(self.hash(&external_id)) {
            let problem = spot.problem("id", id, "an earlier record has the same id", Action::Rejected);
            return self.reject(row, Kind::FeatureRequests, problem);
        }

        let attached = self.attached(spot, self.text_hash(Kind::FeatureRequests, id), &post.description.0)?;
        let description = self.convert_text(spot, "description", &post.description.0, attached)?;
        let (title, description) = self.output.fit_title(spot, title, description)?;
        let status = self.output.read_status(spot, &post.status.0)?;
        let awaits_approval = !self.output.read_flag(spot, "is_approved", &post.is_approved.0)?;
        let (author, is_team) = self.read_author(spot, "user_id", &post.user_id.0)?;
        let request = FeatureRequest {
            title,
            description,
            status: status.name().and_then(line),
            tags: self.read_tags(spot, key)?,
            is_private: self.is_private || awaits_approval,
            awaits_approval,
            author,
            is_team,
            nameless_votes: self.nameless.get(&key).copied().filter(|_| !id.is_empty()).unwrap_or_default(),
            created_at: self.output.read_time(spot, "created_at", &post.created_at.0)?,
            url: self.read_url(known, &post.slug.0),
            merged_into: self.read_original(spot, status, &post.original_id.0)?,
            origin: spot.origin,
            external_id: external_id.clone(),
        };
        self.output.votes.nameless += u64::from(request.nameless_votes);
        self.output.write(Record::FeatureRequest(request))?;
        self.convert_response(spot, &external_id, post)
    }

    /// Writes the answer of the team to a feature request.
    fn convert_response(&mut self, spot: Spot<'_>, request: &str, post: &rows::Post) -> Converted {
        if post.response.0.trim().is_empty() {
            return Ok(());
        }
        let body = self.convert_text(spot, "response", &post.response.0, Vec::new())?;
        let (author, _) = self.read_author(spot, "response_user_id", &post.response_user_id.0)?;
        let comment = Comment {
            external_id: answer_id(request),
            request: request.to_owned(),
            body,
            author,
            is_team: true,
            is_held: false,
            created_at: self.output.read_time(spot, "response_date", &post.response_date.0)?,
            origin: spot.origin,
        };
        self.output.write(Record::Comment(comment))
    }

    fn convert_vote(&mut self, row: &Row<'_, rows::PostVote>) -> Converted {
        let (post, user) = (row.columns.post_id.0.trim(), row.columns.user_id.0.trim());
        let Some(request) = self.read_request(row.spot, post, Kind::Votes)? else { return Ok(()) };
        let spot = row.spot.of_record(&request);
        let person = match self.people.find(user) {
            Some(user) => user.person,
            None if self.people.len() == 0 => None,
            None => {
                let problem = "there is no user with this id: the vote has no name";
                self.output.report(spot.problem("user_id", user, problem, Action::Changed))?;
                None
            }
        };
        // Votes without a person are counted with the feature request.
        let Some(person) = person else { return Ok(()) };
        let pair = self.pair(post, &person);
        if !self.voters.insert(pair) {
            self.output.votes.doubles += 1;
            return Ok(());
        }
        self.output.votes.voters += 1;
        let vote = Vote {
            is_subscribed: self.subscribers.get(&pair).copied(),
            created_at: self.output.read_time(spot, "created_at", &row.columns.created_at.0)?,
            person,
            origin: spot.origin,
            request: request.clone(),
        };
        self.output.write(Record::Vote(vote))
    }

    /// Writes a subscription of somebody who has no vote.
    fn convert_subscriber(&mut self, row: &Row<'_, rows::PostSubscriber>) -> Converted {
        let (post, user) = (row.columns.post_id.0.trim(), row.columns.user_id.0.trim());
        if flag(&row.columns.status.0) != Some(true) {
            return Ok(());
        }
        let Some(person) = self.people.find(user).and_then(|user| user.person) else {
            self.output.skip(Kind::Subscriptions, "subscriptions of nobody who is known");
            return Ok(());
        };
        let pair = self.pair(post, &person);
        if self.voters.contains(&pair) || self.subscribers.get(&pair) != Some(&true) {
            return Ok(());
        }
        let Some(request) = self.read_request(row.spot, post, Kind::Subscriptions)? else { return Ok(()) };
        self.subscribers.remove(&pair);
        let spot = row.spot.of_record(&request);
        let subscription = Subscription {
            person,
            created_at: self.output.read_time(spot, "created_at", &row.columns.created_at.0)?,
            origin: spot.origin,
            request: request.clone(),
        };
        self.output.write(Record::Subscription(subscription))
    }

    fn convert_comment(&mut self, row: &Row<'_, rows::Comment>) -> Converted {
        let comment = row.columns;
        let (post, content) = (comment.post_id.0.trim(), &comment.content.0);
        let id = optional(&comment.id.0).map_or_else(
            || digest(&[post, comment.user_id.0.trim(), comment.created_at.0.trim(), content]),
            str::to_owned,
        );
        let spot = row.spot.of_record(&id);
        if !comment.deleted_at.0.trim().is_empty() {
            self.output.skip(Kind::Comments, "deleted comments");
            return Ok(());
        }
        let attached = self.attached(spot, self.text_hash(Kind::Comments, &id), content)?;
        if content.trim().is_empty() && attached.is_empty() {
            let problem = spot.problem("content", content, "the text is blank", Action::Rejected);
            return self.reject(row, Kind::Comments, problem);
        }
        if !self.comments.insert(self.hash(&id)) {
            let problem = spot.problem("id", &comment.id.0, "an earlier record has the same id", Action::Rejected);
            return self.reject(row, Kind::Comments, problem);
        }
        let Some(request) = self.read_request(row.spot, post, Kind::Comments)? else { return Ok(()) };
        let is_approved = self.output.read_flag(spot, "is_approved", &comment.is_approved.0)?;
        let (author, is_team) = self.read_author(spot, "user_id", &comment.user_id.0)?;
        let record = Comment {
            external_id: id.clone(),
            request,
            body: self.convert_text(spot, "content", content, attached)?,
            author,
            is_team,
            is_held: !is_approved && !is_team,
            created_at: self.output.read_time(spot, "created_at", &comment.created_at.0)?,
            origin: spot.origin,
        };
        self.output.write(Record::Comment(record))
    }

    /// Writes a tag that only the team sees as a note.
    fn convert_private_tag(&mut self, row: &Row<'_, rows::PostTag>) -> Converted {
        let (post, tag_id) = (row.columns.post_id.0.trim(), row.columns.tag_id.0.trim());
        let Some(tag) = self.tags.find(tag_id).filter(|tag| !tag.is_public) else { return Ok(()) };
        let body = format!("Private tag: {}", tag.name);
        let Some(request) = self.read_request(row.spot, post, Kind::Notes)? else { return Ok(()) };
        let external_id = format!("tag-{tag_id}-{request}");
        if !self.comments.insert(self.hash(&external_id)) {
            return Ok(());
        }
        let spot = row.spot.of_record(&external_id);
        let (author, _) = self.read_author(spot, "created_by_id", &row.columns.created_by_id.0)?;
        let created_at = self.output.read_time(spot, "created_at", &row.columns.created_at.0)?;
        let origin = spot.origin;
        self.output.write(Record::Note(Note {
            external_id: external_id.clone(),
            request,
            body,
            author,
            is_team: true,
            created_at,
            origin,
        }))
    }

    /// Returns the external id of the feature request to which a row belongs. `None` if it is not imported.
    fn read_request(&mut self, spot: Spot<'_>, post: &str, kind: Kind) -> Result<Option<String>, FiderError> {
        let (of_deleted, of_unknown) = match kind {
            Kind::Votes => ("votes for deleted feature requests", "votes for unknown feature requests"),
            Kind::Subscriptions => {
                ("subscriptions to deleted feature requests", "subscriptions to unknown feature requests")
            }
            Kind::Notes => ("private tags of deleted feature requests", "private tags of unknown feature requests"),
            _ => ("comments on deleted feature requests", "comments on unknown feature requests"),
        };
        match self.posts.get(&self.hash(post)) {
            Some(Post::Number(number)) => return Ok(Some(number.to_string())),
            Some(Post::Id) => return Ok(Some(Post::external_id_of(post))),
            Some(Post::Deleted) => self.output.skip(kind, of_deleted),
            None => {
                self.output.skip(kind, of_unknown);
                let problem = match post {
                    "" => "the id of the feature request is blank",
                    _ => "there is no feature request with this id",
                };
                self.output.report(spot.problem("post_id", post, problem, Action::Skipped))?;
            }
        }
        Ok(None)
    }

    /// Returns the external id of the feature request into which a duplicate is merged.
    fn read_original(&mut self, spot: Spot<'_>, status: Status<'_>, id: &str) -> Result<Option<String>, FiderError> {
        if status != Status::Duplicate {
            return Ok(None);
        }
        let id = id.trim();
        match self.posts.get(&self.hash(id)).filter(|_| !id.is_empty()) {
            Some(Post::Number(number)) => return Ok(Some(number.to_string())),
            Some(Post::Id) => return Ok(Some(Post::external_id_of(id))),
            Some(Post::Deleted) | None => {}
        }
        let problem = "the feature request of which it is a duplicate is not imported: it is not merged";
        self.output.report(spot.problem("original_id", id, problem, Action::Ignored))?;
        Ok(None)
    }

    /// Returns an author, and whether the author belongs to the team.
    fn read_author(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        id: &str,
    ) -> Result<(Option<Person>, bool), FiderError> {
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

    fn read_tags(&mut self, spot: Spot<'_>, post: u64) -> Result<Vec<String>, FiderError> {
        let mut tags = Tags::default();
        for (_, tag) in entries(&self.post_tags, post) {
            tags.add_one(self.tags.name(*tag));
        }
        self.output.fit_tags(spot, tags)
    }

    fn read_url(&self, post: Post, slug: &str) -> Option<String> {
        let Post::Number(number) = post else { return None };
        let slug = slug.trim();
        let is_path = slug.len() <= MAX_SLUG && slug.bytes().all(|byte| byte.is_ascii_graphic());
        Some(url(&self.site, number, if is_path { slug } else { "" }))
    }

    fn reject<T>(&mut self, row: &Row<'_, T>, kind: Kind, problem: Problem) -> Converted {
        self.output.reject_element(kind, problem, row.spot.origin.file, row.original)
    }

    /// Returns the hash of an id.
    fn hash(&self, id: &str) -> u64 {
        self.hasher.hash_one(id)
    }

    /// Returns the hash of a feature request, by the id of its row, and a person.
    fn pair(&self, post: &str, person: &Person) -> u64 {
        self.hasher.hash_one((post, identity(&person.key)))
    }

    /// Returns the hash of the text of a feature request or comment.
    fn text_hash(&self, kind: Kind, id: &str) -> u64 {
        self.hasher.hash_one((kind, id))
    }

    /// Checks that what is remembered of the rows stays within memory.
    fn check_memory(&self) -> Converted {
        let remembered = [
            self.people.len(),
            self.tags.len(),
            self.post_tags.len(),
            self.posts.len(),
            self.ids.len(),
            self.comments.len(),
            self.nameless.len(),
            self.voters.len(),
            self.subscribers.len(),
            self.attachments.len(),
        ];
        let max = self.output.reading.max_records;
        if remembered.into_iter().sum::<usize>() > max { Err(FiderError::TooManyRecords { max }) } else { Ok(()) }
    }
}

impl Post {
    fn of(row: &rows::Post) -> Self {
        match (Status::read(&row.status.0), post_number(&row.number.0)) {
            (Status::Deleted, _) => Self::Deleted,
            (_, Some(number)) => Self::Number(number),
            (_, None) => Self::Id,
        }
    }

    /// Returns the external id of a feature request without a number.
    fn external_id_of(id: &str) -> String {
        format!("id-{id}")
    }
}

/// Returns the entries of a key in a sorted list.
fn entries<T>(list: &[(u64, T)], key: u64) -> &[(u64, T)] {
    let start = list.partition_point(|(other, _)| *other < key);
    let end = list.partition_point(|(other, _)| *other <= key);
    list.get(start..end).unwrap_or_default()
}
