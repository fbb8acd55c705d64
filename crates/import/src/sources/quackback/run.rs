//! A conversion: what it remembers, and what becomes of each row.

use std::collections::{HashMap, HashSet};

use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::timestamp::Timestamp;

use super::QuackbackError;
use super::files::{Changelogs, Comments, Posts, Statuses, Users, Votes};
use crate::dates::{DateProblem, When};
use crate::records::{
    Action, Changelog, Comment, FeatureRequest, Kind, Note, Person, PersonKey, Record, Status, Vote, VoteTotals,
};
use crate::sources::csv::values::{Tags, digest, flag, for_each_item, line, optional, person_name};
use crate::sources::names::NamesByAddress;
use crate::sources::quotes::{Quote, quoted_html};
use crate::sources::tables::{Column, Context, Converted, Output, Run, Shared};
use crate::table::fold;

const NAMES_WITHOUT_ADDRESS: &str = "names without an address";
const TIMES_OF_EDITS: &str = "times of edits";

/// The end of the addresses of people who have none.
const ANONYMOUS: &str = "@anon.quackback.io";

/// Most statuses that are remembered, and most characters of their names.
const MAX_STATUSES: usize = 1_000;
const MAX_STATUS_NAME: usize = 200;
/// Categories of statuses in the order of the roadmap.
const CATEGORIES: [&str; 3] = ["active", "complete", "closed"];

/// What a moderation state says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moderation {
    Public,
    Pending,
    /// Only the team sees it.
    Hidden,
    /// It is left out, for this reason.
    LeftOut(&'static str),
    Unknown,
}

impl Moderation {
    fn of(cell: &str) -> Self {
        match cell.trim().to_ascii_lowercase().as_str() {
            "" | "published" | "approved" => Self::Public,
            "pending" => Self::Pending,
            "archived" | "closed" => Self::Hidden,
            "spam" => Self::LeftOut("spam"),
            "deleted" => Self::LeftOut("deleted"),
            _ => Self::Unknown,
        }
    }
}

/// How many voters are listed for a post.
#[derive(Default, Clone, Copy)]
struct Listed {
    entries: u32,
    unusable: u32,
}

/// A status on the public roadmap, and its place there.
struct Lane {
    place: (usize, i64),
    status: Status,
}

/// A conversion.
pub(super) struct Quackback<'a> {
    output: Output<'a>,
    /// The names of statuses by their folded names and slugs.
    statuses: HashMap<String, String>,
    lanes: Vec<Lane>,
    names: NamesByAddress,
    /// The mailboxes of the team.
    team: HashSet<u64>,
    /// By the id of a post.
    listed: HashMap<u64, Listed>,
    /// Pairs of a post and a voter.
    voters: HashSet<u64>,
    boards: Shared,
}

impl<'a> Run<'a> for Quackback<'a> {
    fn output(&mut self) -> &mut Output<'a> {
        &mut self.output
    }

    fn remembered(&self) -> usize {
        self.names.len() + self.team.len() + self.listed.len() + self.voters.len()
    }
}

impl<'a> Quackback<'a> {
    pub(super) fn new(output: Output<'a>) -> Self {
        Self {
            output,
            statuses: HashMap::new(),
            lanes: Vec::new(),
            names: NamesByAddress::default(),
            team: HashSet::new(),
            listed: HashMap::new(),
            voters: HashSet::new(),
            boards: Shared::default(),
        }
    }

    pub(super) fn finish(self) -> Result<VoteTotals, QuackbackError> {
        self.output.finish()
    }

    pub(super) fn learn_status(&mut self, context: &Context<'_>, columns: &Statuses) -> Converted {
        let Some(name) = line(context.cell(columns.name)) else {
            let problem = "the name of the status is blank";
            return self.output.report(context.problem(None, columns.name, problem, Action::Skipped));
        };
        if name.chars().count() > MAX_STATUS_NAME || self.statuses.len() >= 2 * MAX_STATUSES {
            let problem = format!("there are more than {MAX_STATUSES} statuses, or the name is too long");
            return self.output.report(context.problem(None, columns.name, problem, Action::Skipped));
        }
        let is_new = !self.statuses.contains_key(&fold(&name));
        for text in [&*name, context.cell(columns.slug).trim()] {
            if text.chars().count() <= MAX_STATUS_NAME && !fold(text).is_empty() {
                self.statuses.entry(fold(text)).or_insert_with(|| name.clone());
            }
        }
        if self.output.read_flag(context, None, columns.show_on_roadmap, false)? && is_new {
            let category = context.cell(columns.category).trim().to_ascii_lowercase();
            let category = CATEGORIES.iter().position(|known| *known == category).unwrap_or(CATEGORIES.len());
            let position = context.cell(columns.position).trim().parse().unwrap_or(i64::MAX);
            let status = Status { name, origin: context.origin() };
            self.lanes.push(Lane { place: (category, position), status });
        }
        Ok(())
    }

    /// Writes the statuses that are on the public roadmap, in their order.
    pub(super) fn write_statuses(&mut self) -> Converted {
        self.lanes.sort_by_key(|lane| lane.place);
        for lane in std::mem::take(&mut self.lanes) {
            self.output.write(Record::Status(lane.status))?;
        }
        Ok(())
    }

    /// Remembers the name of a user.
    pub(super) fn learn_user(&mut self, context: &Context<'_>, columns: &Users) -> Converted {
        if let (Some(address), Some(name)) =
            (address(context.cell(columns.email)), person_name(context.cell(columns.name)))
        {
            self.names.add(&address, &name)?;
        }
        Ok(())
    }

    /// Remembers who belongs to the team, and which comments have replies.
    pub(super) fn learn_comment(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        let author = self.hash_address(context.cell(columns.author_email));
        if flag(context.cell(columns.is_team_member)) == Some(true) {
            self.team.extend(author);
        }
        if let Some(parent) = optional(context.cell(columns.parent_id)) {
            self.output.quotes.add_parent(self.output.hash(parent));
        }
        Ok(())
    }

    /// Remembers what replies to a comment quote.
    pub(super) fn learn_quote(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        let Some(comment) = optional(context.cell(columns.id)).map(|id| self.output.hash(id)) else { return Ok(()) };
        if self.output.quotes.is_parent(comment) {
            let moderation = Moderation::of(context.cell(columns.moderation_state));
            let is_private = is_note(context, columns) || moderation != Moderation::Public;
            let text = match moderation {
                Moderation::LeftOut(_) => None,
                _ => quoted_html(context.cell(columns.content)),
            };
            let quote = Quote { text: text.unwrap_or_default(), is_private };
            self.output.quotes.add(comment, quote, self.output.options.max_records);
        }
        Ok(())
    }

    /// Counts a voter.
    pub(super) fn learn_vote(&mut self, context: &Context<'_>, columns: &Votes) -> Converted {
        if let Some(post) = optional(context.cell(columns.post_id)) {
            let is_usable = address(context.cell(columns.voter_email)).is_some();
            let listed = self.listed.entry(self.output.hash(post)).or_default();
            listed.entries = listed.entries.saturating_add(1);
            listed.unusable = listed.unusable.saturating_add(u32::from(!is_usable));
        }
        Ok(())
    }

    /// Remembers whether all posts are on one board.
    pub(super) fn learn_post(&mut self, context: &Context<'_>, columns: &Posts) -> Converted {
        if line(context.cell(columns.title)).is_some() {
            self.boards.add(context.cell(columns.board));
        }
        Ok(())
    }

    pub(super) fn convert_post(&mut self, context: &Context<'_>, columns: &Posts) -> Converted {
        let title = line(context.cell(columns.title));
        let id = Output::id_of(context, columns.id, title.as_deref().unwrap_or_default(), columns.created_at);
        let moderation = Moderation::of(context.cell(columns.moderation_state));
        if let Moderation::LeftOut(why) = moderation {
            self.output.leave_out_request(&id, why);
            return Ok(());
        }
        let Some(title) = title else {
            let id = optional(context.cell(columns.id));
            let problem = context.problem(id, columns.title, "the title is blank", Action::Rejected);
            return self.output.reject(context, problem);
        };
        if !self.output.add_request(context, columns.id, &id)? {
            return Ok(());
        }
        if moderation == Moderation::Unknown {
            let problem = "the state is not known, so that the feature request is private";
            self.output.report(context.problem(Some(&id), columns.moderation_state, problem, Action::Changed))?;
        }
        let content = context.cell(columns.content);
        let (title, description) = self.output.fit_title(context, &id, columns.title, &title, content)?;
        let listed = self.listed.get(&self.output.hash(&*id)).copied().unwrap_or_default();
        let is_private = self.output.read_flag(context, Some(&id), columns.is_private, true)?;
        let author_hash = self.hash_address(context.cell(columns.author_email));
        let is_team = author_hash.is_some_and(|address| self.team.contains(&address));
        let request = FeatureRequest {
            title,
            description,
            status: self.read_status(context, columns.status),
            tags: self.read_tags(context, columns, &id)?,
            is_private: is_private || moderation != Moderation::Public,
            awaits_approval: moderation == Moderation::Pending,
            author: self.read_author(context, &id, columns.author_email, columns.author_name, is_team)?,
            is_team,
            nameless_votes: self.output.read_nameless_votes(
                context,
                &id,
                columns.vote_count,
                listed.entries,
                listed.unusable,
            )?,
            created_at: self.output.read_time(context, Some(&id), columns.created_at)?,
            url: url(context, columns),
            merged_into: optional(context.cell(columns.merged_into)).map(str::to_owned),
            origin: context.origin(),
            external_id: id.into_owned(),
        };
        self.output.write(Record::FeatureRequest(request))
    }

    pub(super) fn convert_vote(&mut self, context: &Context<'_>, columns: &Votes) -> Converted {
        let Some(id) = self.output.read_request(context, None, columns.post_id, Kind::Votes)? else { return Ok(()) };
        let email = context.cell(columns.voter_email);
        let name = person_name(context.cell(columns.voter_name));
        let Some(address) = address(email) else {
            self.output.lose(NAMES_WITHOUT_ADDRESS, name.is_some().into());
            if !self.output.is_here(id) {
                self.output.skip(Kind::Votes, "votes without a person for feature requests of another run");
                return Ok(());
            }
            if email.trim().is_empty() || is_anonymous(email) {
                return Ok(());
            }
            let problem = "the address is not valid: the vote has no name";
            return self.output.report(context.problem(Some(id), columns.voter_email, problem, Action::Changed));
        };
        if !self.voters.insert(self.output.hash((id, address.folded()))) {
            self.output.votes.doubles += 1;
            return Ok(());
        }
        self.output.votes.voters += 1;
        let vote = Vote {
            request: id.to_owned(),
            person: self.person(&address, name),
            is_subscribed: None,
            created_at: self.output.read_time(context, Some(id), columns.created_at)?,
            origin: context.origin(),
        };
        self.output.write(Record::Vote(vote))
    }

    pub(super) fn convert_comment(&mut self, context: &Context<'_>, columns: &Comments) -> Converted {
        let (given, content) = (optional(context.cell(columns.id)), context.cell(columns.content));
        let is_team = flag(context.cell(columns.is_team_member)) == Some(true);
        let moderation = Moderation::of(context.cell(columns.moderation_state));
        // What the team has hidden of its own must not become public.
        let is_note =
            is_note(context, columns) || is_team && matches!(moderation, Moderation::Hidden | Moderation::Unknown);
        let (kind, kinds) = if is_note { (Kind::Notes, "notes") } else { (Kind::Comments, "comments") };
        if let Moderation::LeftOut(why) = moderation {
            self.output.skip(kind, &format!("{kinds} that are {why}"));
            return Ok(());
        }
        if content.trim().is_empty() {
            let problem = context.problem(given, columns.content, "the text is blank", Action::Rejected);
            return self.output.reject(context, problem);
        }
        let id = given.map_or_else(
            || {
                let cells = [columns.post_id, columns.author_email, columns.created_at]
                    .map(|column| context.cell(column).trim());
                let [post, email, time] = cells;
                digest(&[post, email, time, content])
            },
            str::to_owned,
        );
        if !self.output.add_record(context, columns.id, &id)? {
            return Ok(());
        }
        let Some(request) = self.output.read_request(context, Some(&id), columns.post_id, kind)? else {
            return Ok(());
        };
        self.output.read_flag(context, Some(&id), columns.is_team_member, false)?;
        self.output.read_flag(context, Some(&id), columns.is_private, true)?;
        if moderation == Moderation::Unknown {
            let problem = "the state is not known, so that customers do not see the comment";
            self.output.report(context.problem(Some(&id), columns.moderation_state, problem, Action::Changed))?;
        }
        let is_held = !is_team && moderation != Moderation::Public;
        let author = self.read_author(context, &id, columns.author_email, columns.author_name, is_team)?;
        let body = self.output.add_quote(context, &id, columns.parent_id, content, is_note || is_held)?;
        let created_at = self.output.read_time(context, Some(&id), columns.created_at)?;
        let (edited, created) = (context.cell(columns.updated_at).trim(), context.cell(columns.created_at).trim());
        self.output.lose(TIMES_OF_EDITS, (!edited.is_empty() && edited != created).into());
        let (external_id, request, origin) = (id, request.to_owned(), context.origin());
        self.output.write(if is_note {
            Record::Note(Note { external_id, request, body, author, is_team, created_at, origin })
        } else {
            Record::Comment(Comment { external_id, request, body, author, is_team, is_held, created_at, origin })
        })
    }

    pub(super) fn convert_changelog(&mut self, context: &Context<'_>, columns: &Changelogs) -> Converted {
        let (given, content) = (optional(context.cell(columns.id)), context.cell(columns.content));
        let Some(title) = line(context.cell(columns.title)) else {
            let problem = context.problem(given, columns.title, "the title is blank", Action::Rejected);
            return self.output.reject(context, problem);
        };
        if content.trim().is_empty() {
            let problem = context.problem(given, columns.content, "the text is blank", Action::Rejected);
            return self.output.reject(context, problem);
        }
        let id = Output::id_of(context, columns.id, &title, columns.created_at);
        if !self.output.add_record(context, columns.id, &id)? {
            return Ok(());
        }
        let (title, body) = self.output.fit_title(context, &id, columns.title, &title, content)?;
        let changelog = Changelog {
            category: None,
            title,
            body,
            published_at: self.read_publication(context, columns, &id)?,
            requests: Vec::new(),
            origin: context.origin(),
            external_id: id.into_owned(),
        };
        self.output.write(Record::Changelog(changelog))
    }

    /// Returns when a changelog was published, as readers see it. `None` for a draft.
    fn read_publication(
        &mut self,
        context: &Context<'_>,
        columns: &Changelogs,
        id: &str,
    ) -> Result<Option<Timestamp>, QuackbackError> {
        let dates = self.output.options.dates;
        match dates.read(context.cell(columns.published_at)) {
            When::Missing => return Ok(None),
            When::Unusable(DateProblem::Future) => {
                self.output.lose("times of scheduled changelogs", 1);
                return Ok(None);
            }
            _ => {}
        }
        let shown = self.output.read_time(context, Some(id), columns.display_date)?;
        let published = self.output.read_time(context, Some(id), columns.published_at)?;
        Ok(Some(shown.or(published).unwrap_or(dates.now)))
    }

    /// Returns the name of a status that is given by its name or its slug.
    fn read_status(&self, context: &Context<'_>, column: Column) -> Option<String> {
        let status = line(context.cell(column))?;
        Some(self.statuses.get(&fold(&status)).cloned().unwrap_or(status))
    }

    fn read_tags(&mut self, context: &Context<'_>, columns: &Posts, id: &str) -> Result<Vec<String>, QuackbackError> {
        let mut tags = Tags::default();
        for_each_item(context.cell(columns.tags), |tag| tags.add_one(tag));
        let board = context.cell(columns.board);
        if !self.boards.is_of_all(board) {
            tags.add_one(board);
        }
        self.output.fit_tags(context, id, columns.tags, tags)
    }

    /// Returns an author. Without a usable address there is none.
    fn read_author(
        &mut self,
        context: &Context<'_>,
        id: &str,
        email_column: Column,
        name_column: Column,
        is_team: bool,
    ) -> Result<Option<Person>, QuackbackError> {
        let (email, name) = (context.cell(email_column), person_name(context.cell(name_column)));
        match EmailAddress::parse("the address", email) {
            _ if email.trim().is_empty() || is_anonymous(email) => {}
            Ok(address) => return Ok(Some(self.person(&address, name))),
            Err(error) => {
                self.output.report(context.problem(Some(id), email_column, error.to_string(), Action::Ignored))?;
            }
        }
        if name.is_some() && !is_team {
            self.output.lose(NAMES_WITHOUT_ADDRESS, 1);
        }
        Ok(None)
    }

    /// Returns a person with a name, or with the one that the table of users has.
    fn person(&self, address: &EmailAddress, name: Option<String>) -> Person {
        let name = name.or_else(|| self.names.find(address).map(str::to_owned));
        Person { key: PersonKey::Email(address.as_str().to_owned()), name }
    }

    fn hash_address(&self, email: &str) -> Option<u64> {
        Some(self.output.hash(address(email)?.folded()))
    }
}

/// Returns a usable address.
fn address(email: &str) -> Option<EmailAddress> {
    EmailAddress::parse("", email).ok().filter(|_| !is_anonymous(email))
}

/// Whether an address stands for somebody who has none.
fn is_anonymous(email: &str) -> bool {
    email.trim().to_ascii_lowercase().ends_with(ANONYMOUS)
}

/// Whether only the team sees a comment. What may be private must not become public.
fn is_note(context: &Context<'_>, columns: &Comments) -> bool {
    context.is_of(Kind::Notes) || flag(context.cell(columns.is_private)) != Some(false)
}

/// Returns the path of a post, whose host is not known.
fn url(context: &Context<'_>, columns: &Posts) -> Option<String> {
    let (id, board) = (optional(context.cell(columns.id))?, optional(context.cell(columns.board))?);
    let is_part = |text: &str| {
        text.len() <= 200 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    (id.starts_with("post_") && is_part(id) && is_part(board)).then(|| format!("/b/{board}/posts/{id}"))
}
