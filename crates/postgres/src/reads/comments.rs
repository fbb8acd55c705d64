//! Lists of comments.

use diesel::sql_types::{BigInt, Bool, Nullable, Timestamptz, Uuid as SqlUuid};
use uuid::Uuid;

use crate::codec::TimestampColumn;
use crate::rows::CommentColumns;
use crate::statement::{resolved, statement};

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
                btrim(description_text, E' \\n\\t\\r\\u00a0') <> '' AS is_described
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
