//! What a customer has written.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Queryable, RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::{CustomerText, CustomerTexts, TextCounts, TextState};

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp, timestamp};
use crate::errors::SqlError;
use crate::records::request_link;
use crate::statement::statement;
use crate::trees::MergedRow;

statement! {
    /// Counts the texts of a customer: feature requests, comments, removed ones; and when the first was removed.
    CountTexts { workspace: Id => Binary, customer: Id => Binary } -> (BigInt, BigInt, BigInt, Nullable<BigInt>),
    "WITH scope (workspace, customer) AS (SELECT ?, ?),
     removed (removed_at) AS MATERIALIZED (
         SELECT removed_at FROM scope CROSS JOIN removed_comments INDEXED BY removed_comments_by_customer
             ON workspace_id = scope.workspace AND customer_id = scope.customer
         UNION ALL
         SELECT removed_at FROM scope CROSS JOIN removed_requests INDEXED BY removed_requests_by_customer
             ON workspace_id = scope.workspace AND customer_id = scope.customer
     )
     SELECT (SELECT count(*) FROM feature_requests INDEXED BY feature_requests_by_author
             WHERE workspace_id = scope.workspace AND author_id = scope.customer)
          - (SELECT count(*) FROM removed_requests INDEXED BY removed_requests_by_customer
             WHERE workspace_id = scope.workspace AND customer_id = scope.customer),
            (SELECT count(*) FROM comments INDEXED BY comments_by_customer
             WHERE workspace_id = scope.workspace AND customer_id = scope.customer)
          + (SELECT count(*) FROM held_comments INDEXED BY held_comments_by_customer
             WHERE workspace_id = scope.workspace AND customer_id = scope.customer),
            (SELECT count(*) FROM removed), (SELECT min(removed_at) FROM removed)
     FROM scope"
}

statement! {
    /// Selects a page of the texts of a customer, newest first. At most `most` of each kind are read.
    TextsPage {
        workspace: Id => Binary, customer: Id => Binary, most: i64 => BigInt, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> ((Binary, BigInt, Text), Nullable<Text>, Text, Text, Nullable<BigInt>, BigInt),
    "WITH scope (workspace, customer, most) AS (SELECT ?, ?, ?),
     written (created_at, id, request, title, content, state, removed_at) AS MATERIALIZED (
         SELECT * FROM (
             SELECT created_at, id, id, title, description,
                    CASE WHEN awaiting_approval THEN 'held' WHEN private THEN 'private' ELSE 'shown' END, NULL
             FROM feature_requests INDEXED BY feature_requests_by_author
             WHERE workspace_id = (SELECT workspace FROM scope) AND author_id = (SELECT customer FROM scope)
               AND NOT EXISTS (SELECT 1 FROM removed_requests removed
                               WHERE removed.workspace_id = feature_requests.workspace_id
                                 AND removed.request_id = feature_requests.id)
             ORDER BY row_number DESC LIMIT (SELECT most FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'shown', NULL
             FROM comments INDEXED BY comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT most FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'held', NULL
             FROM held_comments INDEXED BY held_comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT most FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'removed', removed_at
             FROM removed_comments INDEXED BY removed_comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT most FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT request.created_at, request.id, request.id, removed.title, removed.description, 'removed',
                    removed.removed_at
             FROM removed_requests removed INDEXED BY removed_requests_by_customer
             CROSS JOIN feature_requests request ON request.workspace_id = removed.workspace_id
                    AND request.id = removed.request_id
             WHERE removed.workspace_id = (SELECT workspace FROM scope)
               AND removed.customer_id = (SELECT customer FROM scope)
             ORDER BY removed.request_id DESC LIMIT (SELECT most FROM scope)
         )
         ORDER BY 1 DESC, 2 DESC LIMIT ? OFFSET ?
     )
     SELECT request.id, request.tag_number, request.title, written.title, written.content, written.state,
            written.removed_at, written.created_at
     FROM scope CROSS JOIN written
     CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace AND request.id = written.request
     ORDER BY written.created_at DESC, written.id DESC"
}

/// A row of [`TextsPage`].
#[derive(Debug, Queryable)]
struct TextRow {
    request: MergedRow,
    title: Option<String>,
    content: String,
    state: String,
    removed_at: Option<i64>,
    created_at: i64,
}

impl TryFrom<TextRow> for CustomerText {
    type Error = StoreError;

    fn try_from(row: TextRow) -> Result<Self, StoreError> {
        let id = row.request.0;
        let removed_at = optional_timestamp(row.removed_at, "removed_comments", "removed_at", id)?;
        Ok(Self {
            request: request_link(row.request),
            title: row.title.map(Title::from_stored),
            content: CleanHtml::from_stored(row.content),
            state: TextState::from_stored(&row.state, removed_at),
            created_at: timestamp(row.created_at, "comments", "created_at", id)?,
        })
    }
}

impl SqliteStore {
    /// Returns a page of the texts of a customer.
    pub(super) async fn list_customer_texts(
        &self,
        workspace: Id,
        customer: Id,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError> {
        type Loaded = ((i64, i64, i64, Option<i64>), Vec<TextRow>);
        let load = move |connection: &mut SqliteConnection| -> Result<Loaded, SqlError> {
            let counts = CountTexts { workspace, customer }.get_result(connection)?;
            let Some(offset) = page.offset() else { return Ok((counts, Vec::new())) };
            let (limit, most) = (page.limit(), page.limit().saturating_add(offset));
            Ok((counts, TextsPage { workspace, customer, most, limit, offset }.load(connection)?))
        };
        let ((requests, comments, removed, removed_at), rows) = self.readers.run_in_snapshot(load).await?;
        let removed_at = optional_timestamp(removed_at, "removed_comments", "removed_at", customer)?;
        let counts = TextCounts { requests, comments, removed, removed_at };
        let items = rows.into_iter().map(CustomerText::try_from).collect::<Result<_, _>>()?;
        Ok(CustomerTexts { page: Listing { items, request: page, total: counts.total().unsigned_abs() }, counts })
    }
}
