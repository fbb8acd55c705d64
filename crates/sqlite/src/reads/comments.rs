//! Comments and notes of feature requests, and what waits for approval.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CommentId, WorkspaceId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::HeldPost;
use roadmap_domain::ports::CommentReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{CommentRow, CustomerNameRow, HeldPostRow, NoteRow};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::records::{CommentSql, CustomerNameSql, comment_authors, comment_columns, count_comments, shown_requests};
use crate::rows::find_summary;
use crate::schema::feature_requests;
use crate::statement::statement;
use crate::trees::{LinkSql, tree_members};

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
        "page.id, coalesce(comments.content, source.description),
         CASE WHEN page.number IS NULL THEN source.author_id ELSE comments.customer_id END IS NOT NULL,
         coalesce(members.name, customers.name), page.created_at, coalesce(comments.updated_at, source.created_at),
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
pub(super) type NoteSql = (Binary, Text, Nullable<(Text, Text)>, Nullable<CustomerNameSql>, BigInt);

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

statement! {
    /// Selects the customers who wrote the comments of a JSON array, or described the feature requests of it.
    CommentCustomers { workspace: Id => Binary, comments: String => Text } -> (Binary, CustomerNameSql),
    "WITH scope (workspace) AS (SELECT ?),
     listed (workspace, id) AS MATERIALIZED (SELECT workspace, unhex(value) FROM scope CROSS JOIN json_each(?)),
     written (workspace, id, customer) AS (
         SELECT listed.workspace, listed.id, comments.customer_id FROM listed
         CROSS JOIN comments ON comments.workspace_id = listed.workspace AND comments.id = listed.id
         UNION ALL
         SELECT listed.workspace, listed.id, request.author_id FROM listed
         CROSS JOIN feature_requests request ON request.workspace_id = listed.workspace AND request.id = listed.id
     )
     SELECT written.id, customers.id, customers.name, customers.email FROM written
     CROSS JOIN customers ON customers.workspace_id = written.workspace AND customers.id = written.customer"
}

statement! {
    /// Counts the ideas and comments that wait for approval.
    CountHeld { workspace: Id => Binary } -> BigInt,
    "WITH scope (workspace) AS (SELECT ?)
     SELECT (SELECT count(*) FROM feature_requests INDEXED BY feature_requests_awaiting
             WHERE workspace_id = scope.workspace AND awaiting_approval AND root_id IS NULL)
          + (SELECT count(*) FROM held_comments WHERE workspace_id = scope.workspace)
     FROM scope"
}

statement! {
    /// Selects the ideas and comments that wait for approval, oldest first. A comment is about the root of its tree.
    Held {
        workspace: Id => Binary, scan_limit: i64 => BigInt, at: i64 => BigInt, after: Id => Binary,
        limit: i64 => BigInt, offset: i64 => BigInt,
    } -> (LinkSql, Nullable<(Binary, Text)>, Nullable<CustomerNameSql>, BigInt),
    "WITH scope (workspace, scan_limit, at, after) AS (SELECT ?, ?, ?, ?),
     page (created_at, id, idea, comment) AS MATERIALIZED (
         SELECT * FROM (
             SELECT created_at, id, row_number, NULL FROM feature_requests INDEXED BY feature_requests_awaiting
             WHERE workspace_id = (SELECT workspace FROM scope) AND awaiting_approval AND root_id IS NULL
               AND (created_at, id) > (SELECT at, after FROM scope)
             ORDER BY created_at, id LIMIT (SELECT scan_limit FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, NULL, rowid FROM held_comments
             WHERE workspace_id = (SELECT workspace FROM scope) AND (created_at, id) > (SELECT at, after FROM scope)
             ORDER BY created_at, id LIMIT (SELECT scan_limit FROM scope)
         )
         ORDER BY 1, 2 LIMIT ? OFFSET ?
     )
     SELECT request.id, request.tag_number, request.title, held.id, held.content, author.id, author.name, author.email,
            page.created_at
     FROM page
     LEFT JOIN held_comments held ON held.rowid = page.comment
     LEFT JOIN vote_tallies tally ON tally.workspace_id = held.workspace_id AND tally.request_id = held.request_id
     CROSS JOIN feature_requests request ON request.row_number = coalesce(page.idea, (
         SELECT root.row_number FROM vote_tallies root
         WHERE root.workspace_id = tally.workspace_id AND root.request_id = coalesce(tally.root_id, tally.request_id)
     ))
     LEFT JOIN customers author ON author.workspace_id = request.workspace_id
           AND author.id = CASE WHEN page.idea IS NULL THEN held.customer_id ELSE request.author_id END
     ORDER BY page.created_at, page.id"
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

#[async_trait]
impl CommentReader for SqliteStore {
    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load = move |connection: &mut SqliteConnection| load_comments(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, ListedComment::try_from)).transpose()
    }

    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load = move |connection: &mut SqliteConnection| load_notes(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, Note::try_from)).transpose()
    }

    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError> {
        let workspace = Id(workspace.uuid());
        let load = move |connection: &mut SqliteConnection| -> Result<Page<HeldPostRow>, SqlError> {
            let total = CountHeld { workspace }.get_result(connection)?;
            let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
            let (limit, scan_limit) = (page.limit(), page.limit().saturating_add(offset));
            let (at, after) = page.after();
            let held = Held { workspace, scan_limit, at: at.millis(), after: Id(after), limit, offset };
            Ok((held.load(connection)?, total))
        };
        listing(self.readers.run_in_snapshot(load).await?, page, HeldPost::try_from)
    }

    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
        let workspace = Id(workspace.uuid());
        let ids: Vec<Id> = comments.iter().map(|comment| Id(comment.uuid())).collect();
        let list = CommentCustomers { workspace, comments: json_ids(&ids) };
        let rows: Vec<(Id, CustomerNameRow)> = self.readers.run(move |connection| Ok(list.load(connection)?)).await?;
        Ok(rows.into_iter().map(|(comment, row)| (CommentId::new(comment.0), row.into())).collect())
    }
}
