//! The database of LogChimp: the row `logchimp` of contract section 4.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::csv::values::{flag, optional, person_name};
use super::dump::{
    CommentColumns, Converted, Dump, PostColumns, Program, Row, Standing, Table, Tables, Unreadable, VoteColumns,
    path_of,
};
pub use super::dump::{DumpError as LogchimpError, Options};
use super::names::TagNames;
use crate::archive::Input;
use crate::records::{Action, Kind, Sink, VoteTotals};

const POSTS: Table = Table {
    name: "posts",
    needed: &["postId", "title"],
    others: &["contentMarkdown", "userId", "boardId", "roadmap_id", "createdAt", "slug"],
};
const BOARDS: Table = Table { name: "boards", needed: &["boardId", "name"], others: &[] };
const ROADMAPS: Table = Table { name: "roadmaps", needed: &["id", "name"], others: &["index", "display"] };
const USERS: Table = Table {
    name: "users",
    needed: &["userId"],
    others: &["email", "emailAddress", "name", "username", "isOwner", "isBlocked", "notes"],
};
const VOTES: Table = Table { name: "votes", needed: &["userId", "postId"], others: &["createdAt"] };
const ACTIVITIES: Table = Table { name: "posts_activity", needed: &["id", "post_id", "author_id"], others: &[] };
const COMMENTS: Table = Table {
    name: "posts_comments",
    needed: &["activity_id", "body"],
    others: &["id", "parent_id", "is_spam", "is_internal", "created_at"],
};

const LOGCHIMP: Program = Program {
    name: "LogChimp",
    posts: &POSTS,
    marks: &[&["postId"], &["title"], &["slugId", "contentMarkdown", "roadmap_id"]],
    tables: &[&BOARDS, &ROADMAPS, &USERS, &VOTES, &ACTIVITIES, &COMMENTS],
    unread: &[
        "auth_identities",
        "emailverification",
        "knex_migrations",
        "knex_migrations_lock",
        "logchimp_migrations",
        "logchimp_migrations_lock",
        "permissions",
        "permissions_roles",
        "resetpassword",
        "roles",
        "roles_users",
        "settings",
    ],
};

const POST: PostColumns = PostColumns {
    id: "postId",
    title: "title",
    text: "contentMarkdown",
    user: "userId",
    board: "boardId",
    boards: &BOARDS,
    status: "roadmap_id",
    statuses: &ROADMAPS,
    created_at: "createdAt",
};
const VOTE: VoteColumns = VoteColumns { post: "postId", user: "userId", created_at: "createdAt" };
const COMMENT: CommentColumns =
    CommentColumns { id: "id", text: "body", parent: "parent_id", created_at: "created_at" };

/// Whether the inputs have the table of feature requests of LogChimp. Only the beginnings of files are read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    super::dump::recognizes(inputs, &LOGCHIMP)
}

/// Converts the tables. The statuses of the public roadmap come first, then feature requests, votes, comments and
/// notes. Other tables are left out.
///
/// # Errors
/// No input is of LogChimp, a file cannot be read or is no table, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<VoteTotals, LogchimpError> {
    let tables = Tables::open(inputs, &LOGCHIMP, options)?;
    let mut dump = Dump::new(options, &tables, sink);
    dump.report_files(&POSTS, &USERS)?;
    dump.read(&USERS, Unreadable::Reject(Kind::Customers), add_user)?;
    dump.read(&BOARDS, Unreadable::Ignore, |dump, row| dump.add_board(row, ["boardId", "name"]))?;
    dump.read(&ROADMAPS, Unreadable::Ignore, |dump, row| {
        let is_shown = dump.read_flag(row, row.trimmed("id"), "display", false)?;
        dump.add_status(row, ["id", "name", "index"], is_shown)
    })?;
    dump.read(&POSTS, Unreadable::Pass, |dump, row| {
        dump.learn_post(row, &POST);
        Ok(())
    })?;
    dump.read(&VOTES, Unreadable::Pass, |dump, row| {
        dump.count_vote(row, &VOTE);
        Ok(())
    })?;
    let activities = read_activities(&mut dump)?;
    learn_quotes(&mut dump)?;

    dump.write_roadmap()?;
    dump.read(&POSTS, Unreadable::Reject(Kind::FeatureRequests), |dump, row| {
        let Some(post) = dump.begin_post(row, &POST)? else { return Ok(()) };
        dump.write_post(row, &POST, post, Standing::Public, path_of(&[row.trimmed("slug")]))
    })?;
    dump.read(&VOTES, Unreadable::Reject(Kind::Votes), |dump, row| dump.convert_vote(row, &VOTE, None))?;
    dump.read(&COMMENTS, Unreadable::Reject(Kind::Comments), |dump, row| match kind_of(row) {
        Some(Kind::Notes) => Ok(()),
        Some(_) => convert_comment(dump, row, Kind::Comments, &activities),
        None => {
            dump.output.skip(Kind::Comments, "spam");
            Ok(())
        }
    })?;
    dump.read(&COMMENTS, Unreadable::Pass, |dump, row| match kind_of(row) {
        Some(Kind::Notes) => convert_comment(dump, row, Kind::Notes, &activities),
        _ => Ok(()),
    })?;
    dump.finish()
}

fn add_user(dump: &mut Dump<'_>, row: &Row<'_>) -> Converted {
    let id = row.trimmed("userId");
    let is_team = dump.read_flag(row, id, "isOwner", false)?;
    let is_blocked = dump.read_flag(row, id, "isBlocked", false)?;
    dump.output.lose("blocks of people", u64::from(is_blocked));
    dump.output.lose("notes about people", u64::from(optional(row.cell("notes")).is_some()));
    // Whoever has no name is shown by the other one.
    let name = person_name(row.cell("name")).or_else(|| person_name(row.cell("username")));
    // The first versions have another name for it.
    let email = if row.trimmed("email").is_empty() { "emailAddress" } else { "email" };
    dump.add_user(row, ["userId", email], name, is_team, false)
}

/// Where comments are, and who wrote them.
#[derive(Default)]
struct Activities {
    /// The ids of feature requests and people.
    ids: TagNames,
    /// A feature request and a person for each activity.
    of: HashMap<u64, (u32, u32)>,
}

impl Activities {
    /// Remembers the id in a column. `None` if it is none.
    fn handle(&mut self, row: &Row<'_>, column: &'static str) -> Result<Option<u32>, LogchimpError> {
        let id = row.trimmed(column);
        if id.contains('\n') {
            return Ok(None);
        }
        self.ids.add(id, id, true)?;
        Ok(self.ids.find(id).map(|label| label.handle))
    }

    fn find(&self, activity: u64) -> Option<(&str, &str)> {
        self.of.get(&activity).map(|(post, author)| (self.ids.name(*post), self.ids.name(*author)))
    }
}

/// Remembers on what comments are, and who wrote them.
fn read_activities(dump: &mut Dump<'_>) -> Result<Activities, LogchimpError> {
    let mut activities = Activities::default();
    if !dump.tables.has(&ACTIVITIES) {
        dump.report_missing(&COMMENTS, "there is no `posts_activity.csv` beside it, which says on what comments are")?;
    }
    let remembered = dump.remembered;
    dump.read(&ACTIVITIES, Unreadable::Ignore, |dump, row| {
        let id = row.trimmed("id");
        let (post, author) = (activities.handle(row, "post_id")?, activities.handle(row, "author_id")?);
        let Some(of) = post.zip(author) else { return Ok(()) };
        match activities.of.entry(dump.hash(id)) {
            Entry::Vacant(entry) => drop(entry.insert(of)),
            Entry::Occupied(_) => dump.report_double(row.spot().of_record(id), "id", id)?,
        }
        // Each takes the space of two other records.
        dump.remembered = remembered + activities.of.len() * 2 + activities.ids.len();
        Ok(())
    })?;
    Ok(activities)
}

/// Remembers what replies quote.
fn learn_quotes(dump: &mut Dump<'_>) -> Converted {
    dump.read(&COMMENTS, Unreadable::Pass, |dump, row| {
        dump.learn_parent(row, &COMMENT);
        Ok(())
    })?;
    if !dump.has_replies() {
        return Ok(());
    }
    dump.read(&COMMENTS, Unreadable::Pass, |dump, row| {
        let kind = kind_of(row);
        dump.learn_quote(row, &COMMENT, kind == Some(Kind::Notes), kind.is_none());
        Ok(())
    })
}

/// Returns whether a row is a comment or a note, and `None` for spam. What may be a note must not become public.
fn kind_of(row: &Row<'_>) -> Option<Kind> {
    let is_spam = flag(row.cell("is_spam")).unwrap_or_default();
    let is_internal = flag(row.cell("is_internal")).unwrap_or(true);
    (!is_spam).then_some(if is_internal { Kind::Notes } else { Kind::Comments })
}

fn convert_comment(dump: &mut Dump<'_>, row: &Row<'_>, kind: Kind, activities: &Activities) -> Converted {
    let activity = row.trimmed("activity_id");
    let Some(id) = dump.begin_comment(row, &COMMENT, kind, [activity, ""])? else { return Ok(()) };
    let spot = row.spot().of_record(&id);
    let Some((request, user)) = activities.find(dump.hash(activity)) else {
        let what = if kind == Kind::Notes { "notes" } else { "comments" };
        dump.output.skip(kind, &format!("{what} without an activity, which says on what they are"));
        if dump.tables.has(&ACTIVITIES) {
            let problem = "there is no activity with this id";
            dump.output.report(spot.problem("activity_id", activity, problem, Action::Skipped))?;
        }
        return Ok(());
    };
    if !dump.has_request(spot, "post_id", request, kind)? {
        return Ok(());
    }
    for (field, otherwise) in [("is_spam", false), ("is_internal", true)] {
        // What they say is known, but not whether they are flags.
        dump.read_flag(row, &id, field, otherwise)?;
    }
    let (author, is_team) = dump.read_author(spot, "author_id", user)?;
    if kind == Kind::Notes {
        dump.write_note(row, &COMMENT, &id, request, author)
    } else {
        dump.write_comment(row, &COMMENT, &id, request, (author, is_team))
    }
}

#[cfg(test)]
mod tests;
