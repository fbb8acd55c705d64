//! What waits for approval.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Queryable, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::CommentId;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::portal::{HeldComment, HeldPost};

use crate::SqliteStore;
use crate::codec::{Id, timestamp};
use crate::errors::SqlError;
use crate::reads::roadmap::{Page, listing};
use crate::records::{CustomerNameRow, customer_name, request_link};
use crate::statement::statement;

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
        workspace: Id => Binary, most: i64 => BigInt, at: i64 => BigInt, after: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (
        (Binary, BigInt, Text), Nullable<(Binary, Text)>, Nullable<(Binary, Nullable<Text>, Text)>,
        BigInt,
    ),
    "WITH scope (workspace, most, at, after) AS (SELECT ?, ?, ?, ?),
     page (created_at, id, idea, comment) AS MATERIALIZED (
         SELECT * FROM (
             SELECT created_at, id, row_number, NULL FROM feature_requests INDEXED BY feature_requests_awaiting
             WHERE workspace_id = (SELECT workspace FROM scope) AND awaiting_approval AND root_id IS NULL
               AND (created_at, id) > (SELECT at, after FROM scope)
             ORDER BY created_at, id LIMIT (SELECT most FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, NULL, rowid FROM held_comments
             WHERE workspace_id = (SELECT workspace FROM scope) AND (created_at, id) > (SELECT at, after FROM scope)
             ORDER BY created_at, id LIMIT (SELECT most FROM scope)
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

/// A row of [`Held`].
#[derive(Debug, Queryable)]
struct HeldRow {
    request: (Id, i64, String),
    /// ID and content. `None` for an idea.
    comment: Option<(Id, String)>,
    author: Option<CustomerNameRow>,
    created_at: i64,
}

impl TryFrom<HeldRow> for HeldPost {
    type Error = StoreError;

    fn try_from(row: HeldRow) -> Result<Self, StoreError> {
        let author = row.author.map(customer_name);
        let created_at = |table, id| timestamp(row.created_at, table, "created_at", id);
        Ok(match (row.comment, author) {
            (Some((id, content)), Some(author)) => {
                let created_at = created_at("held_comments", id)?;
                let (id, content) = (CommentId::new(id.0), CleanHtml::from_stored(content));
                let comment = HeldComment { id, content, author, created_at };
                Self { request: request_link(row.request), comment: Some(comment), author: None, created_at }
            }
            (_, author) => {
                let created_at = created_at("feature_requests", row.request.0)?;
                Self { request: request_link(row.request), comment: None, author, created_at }
            }
        })
    }
}

impl SqliteStore {
    /// Returns what waits for approval, oldest first.
    pub(super) async fn list_held(&self, workspace: Id, page: PageRequest) -> Result<Listing<HeldPost>, StoreError> {
        let load = move |connection: &mut SqliteConnection| -> Result<Page<HeldRow>, SqlError> {
            let total = CountHeld { workspace }.get_result(connection)?;
            let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
            let (limit, most) = (page.limit(), page.limit().saturating_add(offset));
            let (at, after) = page.after();
            let held = Held { workspace, most, at: at.millis(), after: Id(after), limit, offset };
            Ok((held.load(connection)?, total))
        };
        listing(self.readers.run_in_snapshot(load).await?, page, HeldPost::try_from)
    }
}
