//! The conversion of a backup: what it remembers, and what becomes of each row.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use roadmap_domain::model::email_address::EmailAddress;
use serde::de::DeserializeOwned;

use super::FiderError;
use super::elements::Element;
use super::files::{SourceFile, Tables};
use super::names::{People, TagNames, User, identity};
use super::output::{Converted, Output, Spot};
use super::rows::{self, Status, answer_id, number, url};
use super::texts::{file_name, replace_mentions, replace_pictures};
use crate::records::{
    Action, Comment, FeatureRequest, File, Kind, Note, Origin, Person, PersonKey, Problem, Record, Subscription, Vote,
    VoteTotals,
};
use crate::sources::csv::values::{Tags, digest, flag, line, optional, person_name};

/// Longest id of a picture.
const MAX_FILE_ID: usize = 200;
/// Longest part of an address after the number.
const MAX_SLUG: usize = 1_000;
/// The role from which somebody belongs to the team, and the status of somebody who is deleted.
const TEAM_ROLE: u32 = 2;
const DELETED_STATUS: u32 = 2;

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
    people: People,
    tags: TagNames,
    /// Pairs of a feature request and a public tag, in the order of the first.
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
    run.post_tags.sort_by_key(|(post, _)| *post);
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

    fn read_tenant(&mut self, row: &Row<'_, rows::Tenant>) -> Converted {
        let (cname, is_private) = (row.columns.cname.0.trim(), &row.columns.is_private.0);
        if !cname.is_empty() && cname.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:".contains(&byte)) {
            self.site = format!("https://{cname}");
        }
        if flag(is_private) == Some(true) {
            let problem = "the whole site is private, but its feature requests are imported as public";
            self.output.report(row.spot.problem("is_private", is_private, problem, Action::Ignored))?;
        }
        Ok(())
    }

    fn add_user(&mut self, row: &Row<'_, rows::User>) -> Converted {
        let user = row.columns;
        let id = user.id.0.trim();
        let spot = row.spot.of_record(id);
        let is_team = self.read_number(spot, "role", &user.role.0)?.is_some_and(|role| role >= TEAM_ROLE);
        if self.read_number(spot, "status", &user.status.0)? == Some(DELETED_STATUS) {
            return self.add_person(spot, id, &User { person: None, is_team });
        }
        let key = match EmailAddress::parse("email", &user.email.0) {
            Ok(address) => PersonKey::Email(address.as_str().to_owned()),
            Err(error) => {
                if !user.email.0.trim().is_empty() {
                    self.output.report(spot.problem("email", &user.email.0, error.to_string(), Action::Ignored))?;
                }
                PersonKey::ExternalId(id.to_owned())
            }
        };
        let person = Some(Person { key, name: person_name(&user.name.0) });
        self.add_person(spot, id, &User { person, is_team })
    }

    fn add_person(&mut self, spot: Spot<'_>, id: &str, user: &User) -> Converted {
        if id.is_empty() {
            return self.output.report(spot.problem("id", id, "the id is blank", Action::Ignored));
        }
        if !self.people.add(id, user)? {
            let problem = "an earlier record has the same id";
            return self.output.report(spot.problem("id", id, problem, Action::Ignored));
        }
        Ok(())
    }

    fn add_tag(&mut self, row: &Row<'_, rows::Tag>) -> Converted {
        let (id, name) = (row.columns.id.0.trim(), &row.columns.name.0);
        let spot = row.spot.of_record(id);
        let is_public = self.output.read_flag(spot, "is_public", &row.columns.is_public.0)?;
        let Some(line) = line(name) else {
            return self.output.report(spot.problem("name", name, "the name is blank", Action::Ignored));
        };
        if !self.tags.add(id, &line, is_public)? {
            let problem = "an earlier record has the same id";
            return self.output.report(spot.problem("id", id, problem, Action::Ignored));
        }
        Ok(())
    }

    fn add_post(&mut self, row: &Row<'_, rows::Post>) -> Converted {
        let id = row.columns.id.0.trim();
        if !id.is_empty() {
            self.posts.entry(self.hasher.hash_one(id)).or_insert(Post::of(row.columns));
        }
        Ok(())
    }

    fn add_post_tag(&mut self, row: &Row<'_, rows::PostTag>) -> Converted {
        let (post, tag) = (row.columns.post_id.0.trim(), row.columns.tag_id.0.trim());
        match self.tags.find(tag) {
            Some(tag) if tag.is_public => self.post_tags.push((self.hasher.hash_one(post), tag.handle)),
            Some(_) => {}
            None => {
                let problem = "there is no tag with this id";
                self.output.report(row.spot.problem("tag_id", tag, problem, Action::Ignored))?;
            }
        }
        Ok(())
    }

    /// Counts a vote if it has no person.
    fn count_vote(&mut self, row: &Row<'_, rows::PostVote>) -> Converted {
        let voter = self.people.find(row.columns.user_id.0.trim());
        if voter.is_none_or(|user| user.person.is_none()) {
            let nameless = self.nameless.entry(self.hasher.hash_one(row.columns.post_id.0.trim())).or_default();
            *nameless = nameless.saturating_add(1);
        }
        Ok(())
    }

    fn add_subscriber(&mut self, row: &Row<'_, rows::PostSubscriber>) -> Converted {
        let (post, status) = (row.columns.post_id.0.trim(), &row.columns.status.0);
        let Some(is_subscribed) = flag(status).filter(|_| !status.trim().is_empty()) else {
            let problem = "the status is neither 0 nor 1";
            return self.output.report(row.spot.problem("status", status, problem, Action::Ignored));
        };
        if let Some(person) = self.people.find(row.columns.user_id.0.trim()).and_then(|user| user.person) {
            self.subscribers.insert(self.pair(post, &person), is_subscribed);
        }
        Ok(())
    }

    fn add_attachment(&mut self, row: &Row<'_, rows::Attachment>) -> Converted {
        let (post, comment) = (row.columns.post_id.0.trim(), row.columns.comment_id.0.trim());
        let key = row.columns.attachment_bkey.0.trim();
        match self.blobs.get(key) {
            Some(index) if comment.is_empty() => {
                self.attachments.push((self.text_hash(Kind::FeatureRequests, post), *index));
            }
            Some(index) => self.attachments.push((self.text_hash(Kind::Comments, comment), *index)),
            None => {
                let problem = "the file is not in the backup";
                self.output.report(row.spot.problem("attachment_bkey", key, problem, Action::Ignored))?;
            }
        }
        Ok(())
    }

    fn convert_post(&mut self, row: &Row<'_, rows::Post>) -> Converted {
        let post = row.columns;
        let (id, known) = (post.id.0.trim(), Post::of(post));
        let key = self.hasher.hash_one(id);
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
        if !is_first || !self.ids.insert(self.hasher.hash_one(&*external_id)) {
            let problem = spot.problem("id", id, "an earlier record has the same id", Action::Rejected);
            return self.reject(row, Kind::FeatureRequests, problem);
        }

        let attached = self.attached(self.text_hash(Kind::FeatureRequests, id), &post.description.0);
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
            is_private: awaits_approval,
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
        let attached = self.attached(self.text_hash(Kind::Comments, &id), content);
        if content.trim().is_empty() && attached.is_empty() {
            let problem = spot.problem("content", content, "the text is blank", Action::Rejected);
            return self.reject(row, Kind::Comments, problem);
        }
        if !self.comments.insert(self.hasher.hash_one(&*id)) {
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
        if !self.comments.insert(self.hasher.hash_one(&*external_id)) {
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
        match self.posts.get(&self.hasher.hash_one(post)) {
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
        match self.posts.get(&self.hasher.hash_one(id)).filter(|_| !id.is_empty()) {
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

    fn read_number(&mut self, spot: Spot<'_>, field: &'static str, text: &str) -> Result<Option<u32>, FiderError> {
        let read = optional(text).map(str::parse);
        if let Some(Err(_)) = read {
            self.output.report(spot.problem(field, text, "the value is no whole number", Action::Ignored))?;
        }
        Ok(read.and_then(Result::ok))
    }

    /// Returns the positions of the files that belong to a text and are not in it.
    fn attached(&self, text_hash: u64, text: &str) -> Vec<usize> {
        let files = entries(&self.attachments, text_hash).iter().map(|(_, index)| *index);
        files.filter(|index| self.tables.key(*index).is_some_and(|key| !text.contains(key))).collect()
    }

    /// Returns a text with names instead of mentions, and with its pictures. `attached` follow it.
    fn convert_text(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        text: &str,
        attached: Vec<usize>,
    ) -> Result<String, FiderError> {
        let with_pictures = replace_pictures(text, |shown, key| self.convert_picture(spot, field, shown, key))?;
        let mut converted = match replace_mentions(&with_pictures) {
            Cow::Borrowed(_) => with_pictures.into_owned(),
            Cow::Owned(replaced) => replaced,
        };
        for key in attached.into_iter().filter_map(|index| self.tables.key(index)) {
            let picture = self.convert_picture(spot, field, "", key)?;
            if !converted.trim().is_empty() {
                converted.push_str("\n\n");
            }
            converted.push_str(&picture);
        }
        Ok(converted)
    }

    /// Returns what is in a text instead of a picture, which becomes a record when it is first seen.
    fn convert_picture(
        &mut self,
        spot: Spot<'_>,
        field: &'static str,
        shown: &str,
        key: &str,
    ) -> Result<String, FiderError> {
        if let Some(index) = self.blobs.get(key).copied() {
            let external_id = file_id(key);
            let link = File::link(&external_id);
            if self.pictures.insert(index) {
                let origin = Origin { file: index, line: 1 };
                self.output.write(Record::File(File { external_id, name: file_name(key).to_owned(), origin }))?;
            }
            return Ok(format!("![{shown}]({link})"));
        }
        let name =
            if shown.trim().is_empty() { file_name(key).replace(['[', ']', '<', '>'], "") } else { shown.to_owned() };
        let (text, problem) = if self.site.is_empty() || !is_file_id(key) {
            (name, "the picture is not in the backup: its name is in its place")
        } else {
            let address = format!("{}/static/images/{key}", self.site);
            (format!("[{name}]({address})"), "the picture is not in the backup: a link is in its place")
        };
        self.output.report(spot.problem(field, key, problem, Action::Changed))?;
        Ok(text)
    }

    fn reject<T>(&mut self, row: &Row<'_, T>, kind: Kind, problem: Problem) -> Converted {
        self.output.reject_element(kind, problem, row.spot.origin.file, row.original)
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
        let max = self.output.options.max_records;
        if remembered.into_iter().sum::<usize>() > max { Err(FiderError::TooManyRecords { max }) } else { Ok(()) }
    }
}

impl Post {
    fn of(row: &rows::Post) -> Self {
        match (Status::read(&row.status.0), number(&row.number.0)) {
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

/// Returns the id of a picture: its key, or a digest of one that no file may have.
fn file_id(key: &str) -> String {
    if is_file_id(key) { key.to_owned() } else { digest(&[key]) }
}

fn is_file_id(key: &str) -> bool {
    (1..=MAX_FILE_ID).contains(&key.len())
        && key.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>()\\".contains(&byte))
}
