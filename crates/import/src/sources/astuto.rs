//! The database of Astuto: the row `astuto` of contract section 4.

use std::collections::HashSet;

use super::csv::values::{digest, flag, optional, person_name};
use super::dump::{
    CommentColumns, Converted, Dump, PostColumns, Program, Row, Standing, Table, Tables, Unreadable, VoteColumns,
    path_of,
};
pub use super::dump::{DumpError as AstutoError, Options};
use crate::archive::Input;
use crate::records::{Action, Kind, Move, Record, Sink, Subscription, VoteTotals};

/// The addresses of people who are deleted end with this.
const DELETED: &str = "@deleted.com";
/// The statuses of people who may not sign in any more, and of those who are deleted.
const BLOCKED_STATUS: &str = "1";
const DELETED_STATUS: &str = "2";

const POSTS: Table = Table {
    name: "posts",
    needed: &["id", "title"],
    others: &["description", "board_id", "user_id", "post_status_id", "created_at", "slug", "approval_status"],
};
const BOARDS: Table = Table { name: "boards", needed: &["id", "name"], others: &[] };
const STATUSES: Table = Table { name: "post_statuses", needed: &["id", "name"], others: &["order", "show_in_roadmap"] };
const USERS: Table = Table {
    name: "users",
    needed: &["id", "email"],
    others: &["full_name", "role", "status", "notifications_enabled"],
};
const LIKES: Table = Table { name: "likes", needed: &["user_id", "post_id"], others: &["created_at"] };
const FOLLOWS: Table = Table { name: "follows", needed: &["user_id", "post_id"], others: &["created_at"] };
const COMMENTS: Table = Table {
    name: "comments",
    needed: &["body", "post_id"],
    others: &["id", "user_id", "parent_id", "created_at", "is_post_update"],
};
const MOVES: Table = Table {
    name: "post_status_changes",
    needed: &["post_id", "post_status_id"],
    others: &["id", "user_id", "created_at"],
};
const SETTINGS: Table = Table { name: "tenant_settings", needed: &[], others: &["is_private"] };
const ATTACHMENTS: Table = Table { name: "active_storage_attachments", needed: &[], others: &["record_type"] };

const ASTUTO: Program = Program {
    name: "Astuto",
    posts: &POSTS,
    marks: &[&["title"], &["board_id"], &["post_status_id"]],
    tables: &[&BOARDS, &STATUSES, &USERS, &LIKES, &FOLLOWS, &COMMENTS, &MOVES, &SETTINGS, &ATTACHMENTS],
    unread: &[
        "active_storage_blobs",
        "active_storage_variant_records",
        "api_keys",
        "ar_internal_metadata",
        "invitations",
        "o_auths",
        "schema_migrations",
        "tenant_billings",
        "tenant_default_o_auths",
        "tenants",
        "webhooks",
    ],
};

const POST: PostColumns = PostColumns {
    id: "id",
    title: "title",
    text: "description",
    user: "user_id",
    board: "board_id",
    boards: &BOARDS,
    status: "post_status_id",
    statuses: &STATUSES,
    created_at: "created_at",
};
const VOTE: VoteColumns = VoteColumns { post: "post_id", user: "user_id", created_at: "created_at" };
const COMMENT: CommentColumns =
    CommentColumns { id: "id", text: "body", parent: "parent_id", created_at: "created_at" };

/// Whether the inputs have the table of feature requests of Astuto. Only the beginnings of files are read.
#[must_use]
pub fn recognizes(inputs: &[Input]) -> bool {
    super::dump::recognizes(inputs, &ASTUTO)
}

/// Converts the tables. The statuses of the public roadmap come first, then feature requests, votes, subscriptions,
/// comments and moves. Other tables are left out.
///
/// # Errors
/// No input is of Astuto, a file cannot be read or is no table, or the sink fails.
pub fn convert(inputs: &[Input], options: &Options<'_>, sink: &mut dyn Sink) -> Result<VoteTotals, AstutoError> {
    let tables = Tables::open(inputs, &ASTUTO, options)?;
    let mut dump = Dump::new(options, &tables, sink);
    dump.report_files(&POSTS, &USERS)?;
    dump.read(&SETTINGS, Unreadable::Ignore, read_settings)?;
    // Pairs of a feature request and somebody who follows it, and the people who get no mail.
    let (mut followers, mut silent) = (HashSet::new(), HashSet::new());
    dump.read(&USERS, Unreadable::Reject(Kind::Customers), |dump, row| add_user(dump, row, &mut silent))?;
    dump.read(&BOARDS, Unreadable::Ignore, |dump, row| dump.add_board(row, ["id", "name"]))?;
    dump.read(&STATUSES, Unreadable::Ignore, add_status)?;
    dump.read(&POSTS, Unreadable::Pass, |dump, row| {
        dump.learn_post(row, &POST);
        Ok(())
    })?;
    dump.read(&LIKES, Unreadable::Pass, |dump, row| {
        dump.count_vote(row, &VOTE);
        Ok(())
    })?;
    dump.read(&FOLLOWS, Unreadable::Pass, |dump, row| {
        if let Some(person) = dump.find_person(row.cell("user_id")).filter(|_| !is_silent(dump, row, &silent)) {
            let is_new = followers.insert(dump.pair(row.trimmed("post_id"), &person));
            dump.remembered += usize::from(is_new);
        }
        Ok(())
    })?;
    learn_quotes(&mut dump)?;

    dump.write_roadmap()?;
    dump.read(&POSTS, Unreadable::Reject(Kind::FeatureRequests), convert_post)?;
    let says_who_follows = tables.has(&FOLLOWS);
    dump.read(&LIKES, Unreadable::Reject(Kind::Votes), |dump, row| {
        dump.convert_vote(row, &VOTE, says_who_follows.then_some(&followers))
    })?;
    dump.read(&FOLLOWS, Unreadable::Reject(Kind::Subscriptions), |dump, row| {
        convert_follow(dump, row, &mut followers, &silent)
    })?;
    dump.read(&COMMENTS, Unreadable::Reject(Kind::Comments), convert_comment)?;
    let mut moves = HashSet::new();
    dump.read(&MOVES, Unreadable::Reject(Kind::Moves), |dump, row| convert_move(dump, row, &mut moves))?;
    dump.read(&ATTACHMENTS, Unreadable::Ignore, |dump, row| {
        let is_of_text = ["Post", "Comment"].contains(&row.trimmed("record_type"));
        dump.output.lose("attachments", u64::from(is_of_text));
        Ok(())
    })?;
    dump.finish()
}

/// Lists that the whole site is private.
fn read_settings(dump: &mut Dump<'_>, row: &Row<'_>) -> Converted {
    let is_private = row.cell("is_private");
    if flag(is_private) != Some(true) {
        return Ok(());
    }
    let problem = "the whole site is private, but its feature requests are imported as public";
    dump.output.report(row.spot().problem("is_private", is_private, problem, Action::Ignored))
}

/// Adds somebody. `silent` get no mail.
fn add_user(dump: &mut Dump<'_>, row: &Row<'_>, silent: &mut HashSet<u64>) -> Converted {
    let (id, status, role) = (row.trimmed("id"), row.trimmed("status"), row.trimmed("role"));
    let email = row.trimmed("email").to_ascii_lowercase();
    let is_deleted = status == DELETED_STATUS || email.ends_with(DELETED);
    let is_team = match role.parse::<u32>() {
        Ok(role) => role > 0,
        Err(_) if role.is_empty() => false,
        Err(_) => {
            let spot = row.spot().of_record(id);
            dump.output.report(spot.problem("role", role, "the value is no whole number", Action::Ignored))?;
            false
        }
    };
    dump.output.lose("blocks of people", u64::from(status == BLOCKED_STATUS));
    if optional(row.cell("notifications_enabled")).is_some()
        && !dump.read_flag(row, id, "notifications_enabled", false)?
    {
        dump.remembered += usize::from(silent.insert(dump.hash(id)));
    }
    dump.add_user(row, ["id", "email"], person_name(row.cell("full_name")), is_team, is_deleted)
}

fn is_silent(dump: &Dump<'_>, row: &Row<'_>, silent: &HashSet<u64>) -> bool {
    silent.contains(&dump.hash(row.trimmed("user_id")))
}

fn add_status(dump: &mut Dump<'_>, row: &Row<'_>) -> Converted {
    let is_on_roadmap = dump.read_flag(row, row.trimmed("id"), "show_in_roadmap", false)?;
    dump.add_status(row, ["id", "name", "order"], is_on_roadmap)
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
        dump.learn_quote(row, &COMMENT, false, false);
        Ok(())
    })
}

fn convert_post(dump: &mut Dump<'_>, row: &Row<'_>) -> Converted {
    let Some(post) = dump.begin_post(row, &POST)? else { return Ok(()) };
    let approval = row.trimmed("approval_status");
    let standing = match approval {
        "" | "0" => Standing::Public,
        "1" => Standing::AwaitsApproval,
        "2" => Standing::Private,
        _ => {
            let problem = "no approval has this number, so that the feature request is private";
            let spot = row.spot().of_record(&post.0);
            dump.output.report(spot.problem("approval_status", approval, problem, Action::Changed))?;
            Standing::Private
        }
    };
    // Older versions have no slugs.
    let path = path_of(&[row.trimmed("slug"), row.trimmed("id")]);
    dump.write_post(row, &POST, post, standing, path)
}

/// Writes a subscription of somebody who has no vote.
fn convert_follow(
    dump: &mut Dump<'_>,
    row: &Row<'_>,
    followers: &mut HashSet<u64>,
    silent: &HashSet<u64>,
) -> Converted {
    let (post, user) = (row.trimmed("post_id"), row.cell("user_id"));
    let Some(person) = dump.find_person(user) else {
        dump.output.skip(Kind::Subscriptions, "subscriptions of nobody who is known");
        return Ok(());
    };
    if is_silent(dump, row, silent) {
        dump.output.skip(Kind::Subscriptions, "subscriptions of people who get no mail");
        return Ok(());
    }
    let pair = dump.pair(post, &person);
    if dump.voters.contains(&pair) || !followers.contains(&pair) {
        return Ok(());
    }
    if !dump.has_request(row.spot(), "post_id", post, Kind::Subscriptions)? {
        return Ok(());
    }
    followers.remove(&pair);
    let spot = row.spot().of_record(post);
    let created_at = dump.output.read_time(spot, "created_at", row.cell("created_at"))?;
    let (request, origin) = (post.to_owned(), spot.origin);
    dump.output.write(Record::Subscription(Subscription { request, person, created_at, origin }))
}

fn convert_comment(dump: &mut Dump<'_>, row: &Row<'_>) -> Converted {
    let (request, user) = (row.trimmed("post_id"), row.trimmed("user_id"));
    let Some(id) = dump.begin_comment(row, &COMMENT, Kind::Comments, [request, user])? else { return Ok(()) };
    let spot = row.spot().of_record(&id);
    if !dump.has_request(spot, "post_id", request, Kind::Comments)? {
        return Ok(());
    }
    let is_update = dump.read_flag(row, &id, "is_post_update", false)?;
    let (author, is_team) = dump.read_author(spot, "user_id", user)?;
    dump.write_comment(row, &COMMENT, &id, request, (author, is_team || is_update))
}

/// Writes a change of the status. Without a status, the feature request has none any more.
fn convert_move(dump: &mut Dump<'_>, row: &Row<'_>, ids: &mut HashSet<u64>) -> Converted {
    let (request, given) = (row.trimmed("post_id"), optional(row.cell("id")));
    let (status, time) = (row.trimmed("post_status_id"), row.cell("created_at"));
    let id = given.map_or_else(|| digest(&[request, status, time.trim()]), str::to_owned);
    let spot = row.spot().of_record(&id);
    let is_new = ids.insert(dump.hash(&*id));
    dump.remembered += usize::from(is_new);
    if !is_new {
        dump.output.skip(Kind::Moves, "repeated status changes");
        return dump.output.report(spot.problem("id", &id, "an earlier record has the same id", Action::Skipped));
    }
    if !dump.has_request(spot, "post_id", request, Kind::Moves)? {
        return Ok(());
    }
    let name = dump.read_label(row, &id, "post_status_id", |dump| &dump.statuses, &STATUSES)?;
    if name.is_none() && !status.is_empty() {
        dump.output.skip(Kind::Moves, "status changes to unknown statuses");
        return Ok(());
    }
    let (author, _) = dump.read_author(spot, "user_id", row.cell("user_id"))?;
    let at = dump.output.read_time(spot, "created_at", time)?.unwrap_or(dump.output.reading.dates.now);
    dump.output.write(Record::Move(Move {
        external_id: id.clone(),
        request: request.to_owned(),
        status: name.unwrap_or_default(),
        author,
        at,
        origin: spot.origin,
    }))
}

#[cfg(test)]
mod tests;
