//! Comments, notes and events of feature requests.

use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::{Queryable, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::audit::{Actor, ActorKind};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::event::{Event, EventContent};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{EventId, NoteId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::text::Name;

use crate::SqliteStore;
use crate::codec::{Id, json_ids, timestamp};
use crate::errors::{SqlError, inconsistent};
use crate::reads::roadmap::{Page, listing};
use crate::records::{
    CommentRow, CommentSql, comment_authors, comment_columns, count_comments, customer_name, shown_requests,
};
use crate::rows::find_summary;
use crate::schema::{feature_request_events, feature_requests};
use crate::statement::statement;
use crate::trees::tree_members;

statement! {
    /// Selects comments of a feature request into which nothing was merged, oldest first.
    Comments {
        workspace: Id => Binary, request: Id => Binary, at: i64 => BigInt, after: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> CommentSql,
    concat!(
        "SELECT ", comment_columns!(), ", NULL, NULL, NULL
         FROM (SELECT rowid AS number FROM comments
               WHERE workspace_id = ? AND request_id = ? AND (created_at, id) > (?, ?)
               ORDER BY created_at, id LIMIT ? OFFSET ?) AS page
         CROSS JOIN comments ON comments.rowid = page.number ", comment_authors!(), "
         ORDER BY comments.created_at, comments.id"
    )
}

/// SQL for the comments of the feature requests of [`shown_by_root!`](crate::records::shown_by_root), with the
/// descriptions of what was merged: the workspace, the timestamp, the ID, the feature request and the row number.
macro_rules! shown_comments {
    () => {
        "SELECT shown.workspace, comments.created_at, comments.id, shown.id, comments.rowid FROM shown
         CROSS JOIN comments ON comments.workspace_id = shown.workspace AND comments.request_id = shown.id
         UNION ALL
         SELECT shown.workspace, described.created_at, described.id, shown.id, NULL FROM shown
         CROSS JOIN feature_requests described ON described.workspace_id = shown.workspace AND described.id = shown.id
         WHERE shown.is_described
         ORDER BY 2, 3"
    };
}
pub(super) use shown_comments;

/// SQL for the columns of the comments of a common table expression `page` with the columns of [`shown_comments!`].
macro_rules! shown_comment_columns {
    () => {
        "page.id, coalesce(comments.content, source.description), page.created_at,
         coalesce(comments.updated_at, source.created_at),
         CASE WHEN page.number IS NULL THEN source.author_id ELSE comments.customer_id END IS NOT NULL,
         coalesce(members.name, customers.name),
         CASE WHEN source.root_id IS NOT NULL THEN source.id END,
         CASE WHEN source.root_id IS NOT NULL THEN source.tag_number END,
         CASE WHEN source.root_id IS NOT NULL THEN source.title END"
    };
}
pub(super) use shown_comment_columns;

/// SQL that joins `page` with what [`shown_comment_columns!`] needs, in the order of the comments.
macro_rules! join_shown_comments {
    () => {
        "CROSS JOIN feature_requests source ON source.workspace_id = page.workspace AND source.id = page.request
         LEFT JOIN comments ON comments.rowid = page.number
         LEFT JOIN members ON members.workspace_id = page.workspace AND members.id = comments.author_id
         LEFT JOIN customers ON customers.workspace_id = page.workspace
               AND customers.id = CASE WHEN page.number IS NULL THEN source.author_id ELSE comments.customer_id END
         ORDER BY page.created_at, page.id"
    };
}
pub(super) use join_shown_comments;

statement! {
    /// Selects the comments that a feature request shows, with the descriptions of what was merged into it, oldest
    /// first. Whoever asked for a feature request wrote its description.
    ShownComments {
        workspace: Id => Binary, root: Id => Binary, private: bool => Bool, at: i64 => BigInt, after: Id => Binary,
        limit: i64 => BigInt, offset: i64 => BigInt,
    } -> CommentSql,
    concat!(
        "WITH ", shown_requests!(), ",
         entries (workspace, created_at, id, request, number) AS (", shown_comments!(), "),
         page AS MATERIALIZED (
             SELECT * FROM entries WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ? OFFSET ?
         )
         SELECT ", shown_comment_columns!(), " FROM page ", join_shown_comments!()
    )
}

/// The types of the columns of a note: ID, body, name and address of the author, the customer, timestamp.
pub(super) type NoteSql =
    (Binary, Text, Nullable<Text>, Nullable<Text>, Nullable<Binary>, Nullable<Text>, Nullable<Text>, BigInt);

/// SQL for the columns of a note.
macro_rules! note_columns {
    () => {
        "notes.id, notes.body, members.name, members.email, customers.id, customers.name, customers.email,
         notes.created_at"
    };
}
pub(super) use note_columns;

/// SQL that joins notes with their authors and customers.
macro_rules! note_people {
    () => {
        "LEFT JOIN members ON members.workspace_id = notes.workspace_id AND members.id = notes.author_id
         LEFT JOIN customers ON customers.workspace_id = notes.workspace_id AND customers.id = notes.customer_id"
    };
}
pub(super) use note_people;

/// SQL for a page of the notes that fulfil a condition, newest first.
macro_rules! notes_where {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            note_columns!(),
            " FROM (SELECT rowid AS number FROM notes WHERE workspace_id = ? AND ",
            $condition,
            " AND (created_at, id) < (?, ?)
                   ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?) AS page
             CROSS JOIN notes ON notes.rowid = page.number ",
            note_people!(),
            " ORDER BY notes.created_at DESC, notes.id DESC"
        )
    };
}

statement! {
    /// Selects notes of a feature request into which nothing was merged.
    Notes {
        workspace: Id => Binary, request: Id => Binary, at: i64 => BigInt, before: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> NoteSql,
    notes_where!("request_id = ?")
}

statement! {
    /// Selects notes of the feature requests of a JSON array.
    NotesOfTree {
        workspace: Id => Binary, requests: String => Text, at: i64 => BigInt, before: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> NoteSql,
    notes_where!("request_id IN (SELECT unhex(value) FROM json_each(?))")
}

statement! {
    /// Counts the notes of the feature requests of a JSON array.
    CountNotes { workspace: Id => Binary, requests: String => Text } -> BigInt,
    "SELECT count(*) FROM notes WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?))"
}

/// A row of a note.
#[derive(Debug, Queryable)]
pub(super) struct NoteRow {
    id: Id,
    body: String,
    author: Option<String>,
    author_address: Option<String>,
    customer: Option<Id>,
    customer_name: Option<String>,
    customer_address: Option<String>,
    created_at: i64,
}

impl TryFrom<NoteRow> for Note {
    type Error = StoreError;

    fn try_from(row: NoteRow) -> Result<Self, StoreError> {
        let author = row.author.zip(row.author_address);
        let customer = row.customer.zip(row.customer_address);
        Ok(Self {
            id: NoteId::new(row.id.0),
            body: CleanHtml::from_stored(row.body),
            author: author.map(|(name, email)| (Name::from_stored(name), EmailAddress::from_stored(email))),
            customer: customer.map(|(id, email)| customer_name((id, row.customer_name, email))),
            created_at: timestamp(row.created_at, "notes", "created_at", row.id)?,
        })
    }
}

/// A row of an event: ID, kind, details, kind, ID and name of the actor, timestamp.
pub(super) type EventRow = (Id, String, String, String, Option<Id>, String, i64);

/// Converts a row to an event.
pub(super) fn event(
    (id, kind, details, actor_kind, actor_id, actor_name, created_at): EventRow,
) -> Result<Event, StoreError> {
    let broken = |column| inconsistent("feature_request_events", column, id.0);
    let actor_kind = ActorKind::from_name(&actor_kind).ok_or_else(|| broken("actor_kind"))?;
    Ok(Event {
        id: EventId::new(id.0),
        content: EventContent::parse(&kind, &details).ok_or_else(|| broken("details"))?,
        actor: Actor { kind: actor_kind, id: actor_id.map(|id| id.0), name: actor_name },
        created_at: timestamp(created_at, "feature_request_events", "created_at", id)?,
    })
}

fn load_comments(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    page: PageRequest,
) -> Result<Option<Page<CommentRow>>, SqlError> {
    let Some(root) = find_summary(connection, workspace, request)?.map(|row| row.id) else { return Ok(None) };
    let has_merged = tree_members(connection, workspace, root)?.len() > 1;
    let private = has_merged && is_private(connection, workspace, root)?;
    let total = count_comments(connection, workspace, root, private, has_merged)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let limit = page.limit();
    let (at, after) = page.after();
    let (at, after) = (at.millis(), Id(after));
    let rows = if has_merged {
        ShownComments { workspace, root, private, at, after, limit, offset }.load(connection)?
    } else {
        Comments { workspace, request: root, at, after, limit, offset }.load(connection)?
    };
    Ok(Some((rows, total)))
}

fn is_private(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<bool, SqlError> {
    Ok(feature_requests::table
        .filter(feature_requests::workspace_id.eq(workspace))
        .filter(feature_requests::id.eq(request))
        .select(feature_requests::private)
        .first(connection)?)
}

fn load_notes(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    page: PageRequest,
) -> Result<Option<Page<NoteRow>>, SqlError> {
    let Some(root) = find_summary(connection, workspace, request)?.map(|row| row.id) else { return Ok(None) };
    let members = tree_members(connection, workspace, root)?;
    let requests = json_ids(&members);
    let total: i64 = CountNotes { workspace, requests: requests.clone() }.get_result(connection)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let limit = page.limit();
    let (at, before) = page.before();
    let (at, before) = (at.millis(), Id(before));
    let rows = if members.len() > 1 {
        NotesOfTree { workspace, requests, at, before, limit, offset }.load(connection)?
    } else {
        Notes { workspace, request: root, at, before, limit, offset }.load(connection)?
    };
    Ok(Some((rows, total)))
}

fn load_events(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    kind: Option<&'static str>,
    page: PageRequest,
) -> Result<Option<Page<EventRow>>, SqlError> {
    let Some(root) = find_summary(connection, workspace, request)?.map(|row| row.id) else { return Ok(None) };
    let of_request = || {
        let events = feature_request_events::table
            .filter(feature_request_events::workspace_id.eq(workspace))
            .filter(feature_request_events::request_id.eq(root))
            .into_boxed();
        match kind {
            Some(kind) => events.filter(feature_request_events::kind.eq(kind)),
            None => events,
        }
    };
    let total: i64 = of_request().count().get_result(connection)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let (at, before) = page.before();
    let (at, before) = (at.millis(), Id(before));
    let is_before = feature_request_events::created_at
        .lt(at)
        .or(feature_request_events::created_at.eq(at).and(feature_request_events::id.lt(before)));
    let rows = of_request()
        .filter(is_before)
        .order((feature_request_events::created_at.desc(), feature_request_events::id.desc()))
        .select((
            feature_request_events::id,
            feature_request_events::kind,
            feature_request_events::details,
            feature_request_events::actor_kind,
            feature_request_events::actor_id,
            feature_request_events::actor_name,
            feature_request_events::created_at,
        ))
        .limit(page.limit())
        .offset(offset)
        .load(connection)?;
    Ok(Some((rows, total)))
}

impl SqliteStore {
    /// Returns the comments that a feature request shows, oldest first.
    pub(crate) async fn list_comments(
        &self,
        workspace: Id,
        request: FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError> {
        let load = move |connection: &mut SqliteConnection| load_comments(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, ListedComment::try_from)).transpose()
    }

    /// Returns the notes of a feature request and of everything that is merged into it, newest first.
    pub(crate) async fn list_notes(
        &self,
        workspace: Id,
        request: FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError> {
        let load = move |connection: &mut SqliteConnection| load_notes(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, Note::try_from)).transpose()
    }

    /// Returns the events of a feature request, newest first.
    pub(crate) async fn list_events(
        &self,
        workspace: Id,
        request: FeatureRequestRef,
        kind: Option<&'static str>,
        page: PageRequest,
    ) -> Result<Option<Listing<Event>>, StoreError> {
        let load = move |connection: &mut SqliteConnection| load_events(connection, workspace, &request, kind, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, event)).transpose()
    }
}
