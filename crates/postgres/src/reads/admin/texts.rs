//! What a customer has written.

use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Title;
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::CustomerId;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::{CustomerText, CustomerTexts, TextCounts, TextState};
use uuid::Uuid;

use crate::codec::{TimestampColumn, optional_timestamp};
use crate::rows::{LinkColumns, LinkRow, request_link};
use crate::session::Session;
use crate::statement::statement;

statement! {
    /// Counts the texts of a customer: feature requests, comments, removed ones; and when the first was removed.
    CountTexts { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid }
        -> (BigInt, BigInt, BigInt, Nullable<Timestamptz>),
    "WITH removed_texts AS MATERIALIZED (
         SELECT removed_at FROM removed_comments WHERE workspace_id = {workspace} AND customer_id = {customer}
         UNION ALL
         SELECT removed_at FROM removed_requests WHERE workspace_id = {workspace} AND customer_id = {customer}
     )
     SELECT (SELECT count(*) FROM feature_requests WHERE workspace_id = {workspace} AND author_id = {customer})
          - (SELECT count(*) FROM removed_requests WHERE workspace_id = {workspace} AND customer_id = {customer}),
            (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer})
          + (SELECT count(*) FROM held_comments WHERE workspace_id = {workspace} AND customer_id = {customer}),
            (SELECT count(*) FROM removed_texts), (SELECT min(removed_at) FROM removed_texts)"
}

statement! {
    /// Selects a page of the texts of a customer, newest first. At most `most` of each kind are read.
    TextsPage {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        most: i64 => BigInt,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (LinkColumns, Nullable<Text>, Text, Text, Nullable<Timestamptz>, Timestamptz),
    "WITH written (created_at, id, request_id, title, content, state, removed_at) AS MATERIALIZED (
         (SELECT created_at, id, id, title, description,
                 CASE WHEN awaiting_approval THEN 'held' WHEN private THEN 'private' ELSE 'shown' END, NULL::timestamptz
          FROM feature_requests
          WHERE workspace_id = {workspace} AND author_id = {customer} AND NOT EXISTS (
              SELECT FROM removed_requests
              WHERE removed_requests.workspace_id = {workspace} AND removed_requests.request_id = feature_requests.id)
          ORDER BY tag_number DESC LIMIT {most})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'shown', NULL FROM comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {most})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'held', NULL FROM held_comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {most})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'removed', removed_at FROM removed_comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {most})
         UNION ALL
         (SELECT requests.created_at, requests.id, requests.id, removed.title, removed.description, 'removed',
                 removed.removed_at
          FROM removed_requests AS removed
          JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = removed.request_id
          WHERE removed.workspace_id = {workspace} AND removed.customer_id = {customer}
          ORDER BY removed.request_id DESC LIMIT {most})
         ORDER BY 1 DESC, 2 DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT requests.id, requests.tag_number, requests.title, written.title, written.content, written.state,
            written.removed_at, written.created_at
     FROM written
     JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = written.request_id
     ORDER BY written.created_at DESC, written.id DESC"
}

type TextRow = (LinkRow, Option<String>, String, String, Option<TimestampColumn>, TimestampColumn);

fn text((request, title, content, state, removed_at, created_at): TextRow) -> Result<CustomerText, StoreError> {
    let id = request.0;
    let removed_at = optional_timestamp(removed_at, "removed_comments", "removed_at", id)?;
    Ok(CustomerText {
        request: request_link(request),
        title: title.map(Title::from_stored),
        content: CleanHtml::from_stored(content),
        state: TextState::from_stored(&state, removed_at),
        created_at: created_at.into_timestamp("comments", "created_at", id)?,
    })
}

/// Selects a page of the texts of a customer.
pub(super) async fn page(
    session: &Session,
    workspace: Uuid,
    customer: CustomerId,
    page: PageRequest,
) -> Result<CustomerTexts, StoreError> {
    let customer = customer.uuid();
    let count = CountTexts { workspace, customer };
    let (requests, comments, removed, removed_at): (i64, i64, i64, Option<TimestampColumn>) =
        session.run(count.get_result(&mut session.connection()?)).await?;
    let removed_at = optional_timestamp(removed_at, "removed_comments", "removed_at", customer)?;
    let counts = TextCounts { requests, comments, removed, removed_at };
    let mut items = Vec::new();
    if let Some(offset) = page.offset() {
        let (limit, most) = (page.limit(), page.limit().saturating_add(offset));
        let texts = TextsPage { workspace, customer, most, limit, offset };
        let rows: Vec<TextRow> = session.run(texts.load(&mut session.connection()?)).await?;
        items = rows.into_iter().map(text).collect::<Result<_, _>>()?;
    }
    Ok(CustomerTexts { page: Listing { items, request: page, total: counts.total().unsigned_abs() }, counts })
}
