//! Customers, their records and their texts.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{CustomerRecords, InboxList};
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::{CustomerText, CustomerTexts};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::CustomerReader;
use roadmap_store::columns::{Id, TimestampColumn, optional_timestamp};
use roadmap_store::rows::{CustomerRecordsRows, CustomerRow, CustomerTextRow, TextCountsRow};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::reads::comments::{NoteSql, note_columns, note_people};
use crate::reads::listing::{Page, listing};
use crate::records::{CommentSql, CustomerSql, OneCustomer, comment_authors, comment_columns, customer_votes};
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::schema::{counted_mails, customers};
use crate::statement::statement;

/// SQL for a page of the customers that fulfil a condition. Ids begin with the timestamp of the creation.
macro_rules! customers_where {
    ($condition:literal) => {
        concat!(
            "SELECT customer.id, customer.name, customer.email, ",
            customer_votes!(),
            ", customer.created_at, customer.blocked_at
             FROM (SELECT workspace_id, id, name, email, created_at, blocked_at FROM customers
                   WHERE workspace_id = ? AND id < ? ",
            $condition,
            " ORDER BY id DESC LIMIT ? OFFSET ?) AS customer
             ORDER BY customer.id DESC"
        )
    };
}

statement! {
    /// Selects all customers, newest first.
    Customers { workspace: Id => Binary, before: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt } -> CustomerSql,
    customers_where!("")
}

statement! {
    /// Selects the customers whose address or name matches a pattern, newest first, or only those who are blocked.
    MatchingCustomers {
        workspace: Id => Binary, before: Id => Binary, only_blocked: bool => Bool, address: String => Text,
        email: String => Text, name: String => Text, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> CustomerSql,
    customers_where!(
        "AND (blocked_at IS NOT NULL) >= ?
         AND (email_folded LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR name_folded LIKE ? ESCAPE '\\')"
    )
}

statement! {
    /// Counts the customers whose address or name matches a pattern, or only those who are blocked.
    CountMatching {
        workspace: Id => Binary, only_blocked: bool => Bool, address: String => Text, email: String => Text,
        name: String => Text,
    } -> BigInt,
    "SELECT count(*) FROM customers WHERE workspace_id = ? AND (blocked_at IS NOT NULL) >= ?
       AND (email_folded LIKE ? ESCAPE '\\' OR email LIKE ? ESCAPE '\\' OR name_folded LIKE ? ESCAPE '\\')"
}

statement! {
    /// Selects the feature requests that a customer voted for, newest first. A merged one is the one that it was merged
    /// into, once. At most `scan_limit` votes are read, those for the newest feature requests.
    Voted { workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> SummarySql,
    concat!(
        "WITH vote (workspace, request) AS (
             SELECT workspace_id, request_id FROM votes INDEXED BY votes_by_customer
             WHERE workspace_id = ? AND customer_id = ? ORDER BY request_id DESC LIMIT ?
         ),
         roots (workspace, id) AS MATERIALIZED (
             SELECT DISTINCT vote.workspace, coalesce(tally.root_id, tally.request_id) FROM vote
             CROSS JOIN vote_tallies tally ON tally.workspace_id = vote.workspace AND tally.request_id = vote.request
         ),
         page (number) AS (
             SELECT root.row_number FROM roots
             CROSS JOIN vote_tallies root ON root.workspace_id = roots.workspace AND root.request_id = roots.id
             ORDER BY root.row_number DESC LIMIT ?
         )
         SELECT ", summary_sql!(), " FROM page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.number ", placed_joins!(), "
         ORDER BY page.number DESC"
    )
}

statement! {
    /// Selects the feature requests that a customer asked for, newest first, merged ones included.
    AskedFor { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt } -> SummarySql,
    concat!(
        "SELECT ", summary_sql!(), " FROM (
             SELECT row_number FROM feature_requests INDEXED BY feature_requests_by_author
             WHERE workspace_id = ? AND author_id = ? ORDER BY row_number DESC LIMIT ?
         ) AS page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.row_number ", placed_joins!(), "
         ORDER BY page.row_number DESC"
    )
}

statement! {
    /// Selects the comments of a customer, newest first, each with the feature request on which it was written.
    Commented { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt }
        -> (LinkSql, CommentSql),
    concat!(
        "SELECT request.id, request.tag_number, request.title, ", comment_columns!(), ",
                CASE WHEN request.root_id IS NOT NULL THEN request.id END,
                CASE WHEN request.root_id IS NOT NULL THEN request.tag_number END,
                CASE WHEN request.root_id IS NOT NULL THEN request.title END
         FROM (SELECT rowid AS number FROM comments INDEXED BY comments_by_customer
               WHERE workspace_id = ? AND customer_id = ? ORDER BY created_at DESC, id DESC LIMIT ?) AS page
         CROSS JOIN comments ON comments.rowid = page.number
         CROSS JOIN feature_requests request ON request.workspace_id = comments.workspace_id
                AND request.id = comments.request_id ", comment_authors!(), "
         ORDER BY comments.created_at DESC, comments.id DESC"
    )
}

statement! {
    /// Selects the notes about a customer, newest first, each with its feature request.
    Noted { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt } -> (LinkSql, NoteSql),
    concat!(
        "SELECT request.id, request.tag_number, request.title, ", note_columns!(), "
         FROM (SELECT rowid AS number FROM notes INDEXED BY notes_by_customer
               WHERE workspace_id = ? AND customer_id = ? ORDER BY created_at DESC, id DESC LIMIT ?) AS page
         CROSS JOIN notes ON notes.rowid = page.number
         CROSS JOIN feature_requests request ON request.workspace_id = notes.workspace_id
                AND request.id = notes.request_id ", note_people!(), "
         ORDER BY notes.created_at DESC, notes.id DESC"
    )
}

statement! {
    /// Selects since when all mail to a customer is stopped, and what the customer gets mail about, newest first. A
    /// merged one is the one that it was merged into. At most `scan_limit` votes and as many subscriptions without a
    /// vote are read.
    SubscribedTo { workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> (Nullable<BigInt>, Nullable<LinkSql>),
    "WITH scope (workspace, customer, scan_limit) AS (SELECT ?, ?, ?),
     subscribed (request) AS (
         SELECT request_id FROM (
             SELECT request_id, subscribed FROM votes INDEXED BY votes_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
         ) WHERE subscribed
         UNION
         SELECT request_id FROM (
             SELECT request_id FROM followers
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
         )
     ),
     roots (id) AS MATERIALIZED (
         SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM scope CROSS JOIN subscribed
         CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = subscribed.request
     ),
     page (number) AS MATERIALIZED (
         SELECT root.row_number FROM scope CROSS JOIN roots
         CROSS JOIN vote_tallies root ON root.workspace_id = scope.workspace AND root.request_id = roots.id
         CROSS JOIN customers subscriber ON subscriber.workspace_id = scope.workspace
                AND subscriber.id = scope.customer AND subscriber.mail_stopped_at IS NULL
         ORDER BY root.row_number DESC LIMIT ?
     )
     SELECT CASE WHEN customers.mail_stopped_because <> 'blocked' AND customers.stops_changelogs
                 THEN customers.mail_stopped_at END,
            request.id, request.tag_number, request.title FROM scope
     CROSS JOIN customers ON customers.workspace_id = scope.workspace AND customers.id = scope.customer
     LEFT JOIN page ON true
     LEFT JOIN feature_requests request ON request.row_number = page.number
     ORDER BY page.number DESC"
}

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
    /// Selects a page of the texts of a customer, newest first. At most `scan_limit` of each kind are read.
    TextsPage {
        workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (LinkSql, Nullable<Text>, Text, Text, Nullable<BigInt>, BigInt),
    "WITH scope (workspace, customer, scan_limit) AS (SELECT ?, ?, ?),
     written (created_at, id, request, title, content, state, removed_at) AS MATERIALIZED (
         SELECT * FROM (
             SELECT created_at, id, id, title, description,
                    CASE WHEN awaiting_approval THEN 'held' WHEN private THEN 'private' ELSE 'shown' END, NULL
             FROM feature_requests INDEXED BY feature_requests_by_author
             WHERE workspace_id = (SELECT workspace FROM scope) AND author_id = (SELECT customer FROM scope)
               AND NOT EXISTS (SELECT 1 FROM removed_requests removed
                               WHERE removed.workspace_id = feature_requests.workspace_id
                                 AND removed.request_id = feature_requests.id)
             ORDER BY row_number DESC LIMIT (SELECT scan_limit FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'shown', NULL
             FROM comments INDEXED BY comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT scan_limit FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'held', NULL
             FROM held_comments INDEXED BY held_comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT scan_limit FROM scope)
         )
         UNION ALL
         SELECT * FROM (
             SELECT created_at, id, request_id, NULL, content, 'removed', removed_at
             FROM removed_comments INDEXED BY removed_comments_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY created_at DESC, id DESC LIMIT (SELECT scan_limit FROM scope)
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
             ORDER BY removed.request_id DESC LIMIT (SELECT scan_limit FROM scope)
         )
         ORDER BY 1 DESC, 2 DESC LIMIT ? OFFSET ?
     )
     SELECT request.id, request.tag_number, request.title, written.title, written.content, written.state,
            written.removed_at, written.created_at
     FROM scope CROSS JOIN written
     CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace AND request.id = written.request
     ORDER BY written.created_at DESC, written.id DESC"
}

#[async_trait]
impl CustomerReader for SqliteStore {
    async fn customers(
        &self,
        workspace: WorkspaceId,
        query: Option<&CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError> {
        let workspace = Id(workspace.uuid());
        let pattern = query.map(|query| (query.address_pattern(), query.pattern()));
        let only_blocked = query.is_some_and(CustomerQuery::is_only_blocked);
        let rows: Page<CustomerRow> = self
            .readers
            .run_in_snapshot(move |connection| {
                let total: i64 = match pattern.clone() {
                    Some((address, name)) => {
                        CountMatching { workspace, only_blocked, address, email: name.clone(), name }
                            .get_result(connection)?
                    }
                    None => {
                        customers::table.filter(customers::workspace_id.eq(workspace)).count().get_result(connection)?
                    }
                };
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let (limit, before) = (page.limit(), Id(page.before().1));
                let rows = match pattern {
                    Some((address, name)) => {
                        let email = name.clone();
                        MatchingCustomers { workspace, before, only_blocked, address, email, name, limit, offset }
                            .load(connection)?
                    }
                    None => Customers { workspace, before, limit, offset }.load(connection)?,
                };
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, Customer::try_from)
    }

    async fn customer(&self, workspace: WorkspaceId, customer: CustomerId) -> Result<Option<Customer>, StoreError> {
        let (workspace, customer) = (Id(workspace.uuid()), Id(customer.uuid()));
        let find = OneCustomer { workspace, customer };
        let row: Option<CustomerRow> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(Customer::try_from).transpose()
    }

    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError> {
        let (workspace, customer) = (Id(workspace.uuid()), Id(customer.uuid()));
        let (scan_limit, limit) = (i64::from(InboxList::READ_LIMIT), i64::from(CustomerRecords::MAX));
        let rows = self
            .readers
            .run_in_snapshot(move |connection| {
                Ok(CustomerRecordsRows {
                    votes: Voted { workspace, customer, scan_limit, limit }.load(connection)?,
                    requests: AskedFor { workspace, customer, limit }.load(connection)?,
                    comments: Commented { workspace, customer, limit }.load(connection)?,
                    notes: Noted { workspace, customer, limit }.load(connection)?,
                    subscriptions: SubscribedTo { workspace, customer, scan_limit, limit }.load(connection)?,
                })
            })
            .await?;
        rows.into_records(customer)
    }

    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError> {
        type Loaded = (TextCountsRow, Vec<CustomerTextRow>);
        let (workspace, customer) = (Id(workspace.uuid()), Id(customer.uuid()));
        let load = move |connection: &mut SqliteConnection| -> Result<Loaded, SqlError> {
            let counts = CountTexts { workspace, customer }.get_result(connection)?;
            let Some(offset) = page.offset() else { return Ok((counts, Vec::new())) };
            let (limit, scan_limit) = (page.limit(), page.limit().saturating_add(offset));
            Ok((counts, TextsPage { workspace, customer, scan_limit, limit, offset }.load(connection)?))
        };
        let (counts, rows) = self.readers.run_in_snapshot(load).await?;
        let counts = counts.into_counts(customer)?;
        let items = rows.into_iter().map(CustomerText::try_from).collect::<Result<_, _>>()?;
        Ok(CustomerTexts { page: Listing { items, request: page, total: counts.total().unsigned_abs() }, counts })
    }

    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError> {
        let workspace = Id(workspace.uuid());
        let last: Option<TimestampColumn> = self
            .readers
            .run(move |connection| {
                Ok(counted_mails::table
                    .filter(counted_mails::workspace_id.eq(workspace))
                    .filter(counted_mails::counter.eq(counter.0.to_vec()))
                    .select(max(counted_mails::asked_at))
                    .first(connection)?)
            })
            .await?;
        optional_timestamp(last, "counted_mails", "asked_at", workspace)
    }
}
