//! Comments and notes of feature requests, and what waits for approval.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{CommentId, WorkspaceId};
use roadmap_domain::model::note::Note;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::HeldPost;
use roadmap_domain::ports::CommentReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{CommentRow, CustomerNameRow, HeldPostRow, NoteRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, existing_listing, listing};
use crate::rows::{CommentColumns, CustomerNameColumns, LinkColumns};
use crate::statement::{id_or_number, resolved, statement};

/// The SQL of common table expressions for the list of comments of a feature request, in a statement with the parameters
/// `workspace`, `request` and `number`: the `request`, what is `merged` into it, as far as it is shown, and the `total`
/// and the `entries` of the list. The list has the comments of everything that is merged, and their descriptions. What is
/// merged into a private one is shown if it is public itself, or on a condition.
macro_rules! comment_list {
    ($shows_private:literal) => {
        concat!(
            "request AS MATERIALIZED (
         SELECT id, private FROM feature_requests WHERE workspace_id = {workspace} AND id = ",
            resolved!(),
            "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id, tag_number, title, author_id, created_at,
                description_text <> '' AS is_described
         FROM request JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
         WHERE request.private AND ",
            $shows_private,
            " OR NOT feature_requests.private
     ), total AS (
         SELECT (SELECT count(*) FROM comments
                 WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request))
              + (SELECT count(*) FROM merged
                 JOIN comments ON comments.workspace_id = {workspace} AND comments.request_id = merged.id)
              + (SELECT count(*) FROM merged WHERE is_described) AS total
     ), entries AS (
         SELECT id, created_at, NULL::uuid AS merged_id, false AS is_description FROM comments
         WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
         UNION ALL
         SELECT comments.id, comments.created_at, merged.id, false FROM merged
         JOIN comments ON comments.workspace_id = {workspace} AND comments.request_id = merged.id
         UNION ALL
         SELECT id, created_at, id, true FROM merged WHERE is_described
     )"
        )
    };
}

/// The SQL of a page of [`comment_list`] on a condition, from an offset. Without merges, it is read from the index.
macro_rules! comment_page {
    ($condition:literal, $offset:literal) => {
        concat!(
            "(SELECT id, created_at, NULL::uuid AS merged_id, false AS is_description FROM comments
          WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
            AND NOT EXISTS (SELECT FROM merged) AND ",
            $condition,
            " ORDER BY created_at, id LIMIT {limit} OFFSET ",
            $offset,
            ")
         UNION ALL
         (SELECT id, created_at, merged_id, is_description FROM entries WHERE EXISTS (SELECT FROM merged) AND ",
            $condition,
            " ORDER BY created_at, id LIMIT {limit} OFFSET ",
            $offset,
            ")"
        )
    };
}

/// The SQL of the listed comments of the common table expression `page`, after the given columns.
macro_rules! listed_comments {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            "page.id,
                CASE WHEN is_description THEN described.description ELSE comments.content END AS content,
                is_description AND merged.author_id IS NOT NULL OR comments.customer_id IS NOT NULL AS is_customer,
                coalesce(customers.name, members.name) AS author, page.created_at,
                coalesce(comments.updated_at, page.created_at) AS updated_at,
                merged.id AS merged_id, merged.tag_number, merged.title
         FROM page
         LEFT JOIN merged ON merged.id = page.merged_id
         LEFT JOIN comments ON comments.workspace_id = {workspace} AND comments.id = page.id
         LEFT JOIN feature_requests AS described
                ON described.workspace_id = {workspace} AND described.id = CASE WHEN is_description THEN page.id END
         LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = comments.author_id
         LEFT JOIN customers ON customers.workspace_id = {workspace}
               AND customers.id = CASE WHEN is_description THEN merged.author_id ELSE comments.customer_id END"
        )
    };
}

statement! {
    /// Selects the number of entries in the list of comments of a feature request, with a page of them. Returns no row if
    /// the feature request does not exist.
    CommentsPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<CommentColumns>),
    concat!("WITH ", comment_list!("true"), ", page AS MATERIALIZED (", comment_page!("(created_at, id) > ({at}, {after})", "{offset}"), "
     ), listed AS (", listed_comments!(""), ")
     SELECT total, listed.* FROM request CROSS JOIN total LEFT JOIN listed ON true
     ORDER BY listed.created_at, listed.id")
}

statement! {
    /// As [`CommentsPage`], for a feature request that is not merged, as a person may see it; without an offset, the last
    /// page. The entries after it are the latest comment of the team.
    CommentsAndAnswer {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        is_member: bool => Bool,
        limit: i64 => BigInt,
        offset: Option<i64> => Nullable<BigInt>,
    } -> (BigInt, Nullable<(Bool, CommentColumns)>),
    concat!("WITH ", comment_list!("{is_member}"), ", start AS MATERIALIZED (
         SELECT coalesce({offset}, greatest(total - 1, 0) / {limit} * {limit}) AS skipped FROM total
     ), commented AS MATERIALIZED (", comment_page!("true", "(SELECT skipped FROM start)"), "
     ), answer AS MATERIALIZED (
         SELECT latest.id, latest.created_at, merged_id, false AS is_description
         FROM (SELECT id, NULL::uuid AS merged_id FROM request UNION ALL SELECT id, id FROM merged) AS members
         CROSS JOIN LATERAL (
             SELECT id, created_at FROM comments
             WHERE workspace_id = {workspace} AND request_id = members.id AND customer_id IS NULL
             ORDER BY created_at DESC, id DESC LIMIT 1
         ) AS latest
         ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1
     ), page AS MATERIALIZED (
         SELECT false AS is_answer, * FROM commented UNION ALL SELECT true, * FROM answer
     ), listed AS (", listed_comments!("is_answer, "), ")
     SELECT total, listed.* FROM request CROSS JOIN total LEFT JOIN listed ON true
     ORDER BY is_answer, listed.created_at, listed.id")
}

statement! {
    /// Selects the number of notes of a feature request and of everything that is merged into it, with a page of them.
    /// Returns no row if the feature request does not exist.
    NotesPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<NoteColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id FROM request
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
     ), total AS (
         SELECT (SELECT count(*) FROM notes WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request))
              + (SELECT count(*) FROM merged
                 JOIN notes ON notes.workspace_id = {workspace} AND notes.request_id = merged.id) AS total
     ), page AS MATERIALIZED (
         (SELECT id FROM notes
          WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
            AND NOT EXISTS (SELECT FROM merged) AND (created_at, id) < ({at}, {before})
          ORDER BY created_at DESC, id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT notes.id FROM (SELECT id FROM request UNION ALL SELECT id FROM merged) AS members
          JOIN notes ON notes.workspace_id = {workspace} AND notes.request_id = members.id
          WHERE EXISTS (SELECT FROM merged) AND (notes.created_at, notes.id) < ({at}, {before})
          ORDER BY notes.created_at DESC, notes.id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT notes.id, body, members.name AS author, members.email AS author_email, customers.id AS customer_id,
                customers.name, customers.email, notes.created_at
         FROM page
         JOIN notes ON notes.workspace_id = {workspace} AND notes.id = page.id
         LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = notes.author_id
         LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = notes.customer_id
     )
     SELECT total, listed.* FROM request CROSS JOIN total LEFT JOIN listed ON true
     ORDER BY listed.created_at DESC, listed.id DESC")
}

/// The types of a note: ID, body, name and address of its author, the customer, and timestamp of the creation.
pub(crate) type NoteColumns = (SqlUuid, Text, Nullable<(Text, Text)>, Nullable<CustomerNameColumns>, Timestamptz);
statement! {
    /// Selects the customers who wrote comments, or described the feature requests with these IDs.
    CommentCustomers { workspace: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid> }
        -> (SqlUuid, CustomerNameColumns),
    "WITH written AS MATERIALIZED (
         SELECT id, customer_id FROM comments WHERE workspace_id = {workspace} AND id = ANY ({comments})
         UNION ALL
         SELECT id, author_id FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({comments})
     )
     SELECT written.id, customers.id, name, email FROM written
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = written.customer_id"
}

statement! {
    /// Selects the number of ideas and comments that wait for approval, with a page of them.
    HeldPosts {
        workspace: Uuid => SqlUuid,
        at: TimestampColumn => Timestamptz,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
        scan_limit: i64 => BigInt,
    } -> (BigInt, Nullable<HeldPostColumns>),
    "WITH total AS (
         SELECT (SELECT count(*) FROM feature_requests
                 WHERE workspace_id = {workspace} AND awaiting_approval AND root_id IS NULL)
              + (SELECT count(*) FROM held_comments WHERE workspace_id = {workspace}) AS total
     ), page AS MATERIALIZED (
         SELECT id, is_comment, created_at FROM (
             (SELECT id, false AS is_comment, created_at FROM feature_requests
              WHERE workspace_id = {workspace} AND awaiting_approval AND root_id IS NULL
                AND (created_at, id) > ({at}, {after})
              ORDER BY created_at, id LIMIT {scan_limit})
             UNION ALL
             (SELECT id, true, created_at FROM held_comments
              WHERE workspace_id = {workspace} AND (created_at, id) > ({at}, {after})
              ORDER BY created_at, id LIMIT {scan_limit})
         ) AS posts
         ORDER BY created_at, id LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT request.id AS request_id, request.tag_number, request.title, comment_id, content,
                customers.id AS customer_id, name, email, page.created_at, page.id
         FROM page
         CROSS JOIN LATERAL (
             SELECT NULL::uuid AS comment_id, NULL::text AS content, author_id AS customer_id, id AS request_id
             FROM feature_requests
             WHERE workspace_id = {workspace} AND feature_requests.id = CASE WHEN NOT is_comment THEN page.id END
             UNION ALL
             SELECT held.id, content, customer_id, coalesce(root_id, about.id) FROM held_comments AS held
             JOIN feature_requests AS about ON about.workspace_id = {workspace} AND about.id = held.request_id
             WHERE held.workspace_id = {workspace} AND held.id = CASE WHEN is_comment THEN page.id END
             OFFSET 0
         ) AS post
         CROSS JOIN LATERAL (
             SELECT id, tag_number, title FROM feature_requests
             WHERE workspace_id = {workspace} AND id = post.request_id OFFSET 0
         ) AS request
         LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = post.customer_id
     )
     SELECT total, request_id, tag_number, title, comment_id, content, customer_id, name, email, created_at
     FROM total LEFT JOIN listed ON true ORDER BY created_at, listed.id"
}

type HeldPostColumns = (LinkColumns, Nullable<(SqlUuid, Text)>, Nullable<CustomerNameColumns>, Timestamptz);
#[async_trait]
impl CommentReader for PostgresReader {
    async fn comments(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<ListedComment>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, after) = page.after();
        let comments = CommentsPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            after,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<CommentRow>)> = session.run(comments.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, ListedComment::try_from)
    }

    async fn notes(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Note>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let notes = NotesPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<NoteRow>)> = session.run(notes.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, Note::try_from)
    }

    async fn held_posts(&self, workspace: WorkspaceId, page: PageRequest) -> Result<Listing<HeldPost>, StoreError> {
        let session = self.session(workspace).await?;
        let (limit, offset) = (page.limit(), page.offset().unwrap_or(BEYOND));
        let scan_limit = offset.saturating_add(limit);
        let (at, after) = page.after();
        let select = HeldPosts { workspace: workspace.uuid(), at: at.into(), after, limit, offset, scan_limit };
        let rows: Vec<(i64, Option<HeldPostRow>)> = session.run(select.load(&mut session.connection()?)).await?;
        listing(rows, page, HeldPost::try_from)
    }

    async fn comment_customers(
        &self,
        workspace: WorkspaceId,
        comments: &[CommentId],
    ) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let list = CommentCustomers { workspace, comments: comments.iter().map(|comment| comment.uuid()).collect() };
        let rows: Vec<(Uuid, CustomerNameRow)> = session.run(list.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(|(comment, row)| (CommentId::new(comment), row.into())).collect())
    }
}
