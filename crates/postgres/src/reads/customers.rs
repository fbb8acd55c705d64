//! Customers, their records and their texts.

use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{CustomerRecords, InboxList};
use roadmap_domain::model::customer::{Customer, CustomerQuery};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::removal::{CustomerText, CustomerTexts};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::mail_requests::CounterKey;
use roadmap_domain::ports::CustomerReader;
use roadmap_store::columns::{TimestampColumn, optional_timestamp};
use roadmap_store::rows::{CustomerRecordsRows, CustomerRow, CustomerTextRow, TextCountsRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::comments::NoteColumns;
use crate::reads::listing::{BEYOND, listing};
use crate::rows::{CommentColumns, CustomerColumns, LinkColumns, SummaryColumns, votes_of};
use crate::schema::counted_mails;
use crate::statement::{placed, statement, subscribed, summary};

statement! {
    /// Selects the number of customers that match a pattern, with a page of them, newest first. Ids begin with the creation timestamp.
    /// So the page is read in the order of the primary key.
    CustomersPage {
        workspace: Uuid => SqlUuid,
        pattern: Option<String> => Nullable<Text>,
        address: Option<String> => Nullable<Text>,
        only_blocked: bool => Bool,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<CustomerColumns>),
    concat!("WITH total AS (
         SELECT count(*) AS total FROM customers
         WHERE workspace_id = {workspace}
           AND ({pattern} IS NULL OR name_folded LIKE {pattern} OR email_folded LIKE {address}
                OR lower(email) LIKE {pattern})
           AND (blocked_at IS NOT NULL OR NOT {only_blocked})
     ), page AS MATERIALIZED (
         SELECT id, name, email, created_at, blocked_at FROM customers
         WHERE workspace_id = {workspace} AND id < {before}
           AND ({pattern} IS NULL OR name_folded LIKE {pattern} OR email_folded LIKE {address}
                OR lower(email) LIKE {pattern})
           AND (blocked_at IS NOT NULL OR NOT {only_blocked})
         ORDER BY id DESC LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT id, name, email, ", votes_of!("page.id"), " AS votes_count, created_at, blocked_at FROM page
     )
     SELECT total, listed.* FROM total LEFT JOIN listed ON true ORDER BY listed.id DESC")
}

statement! {
    /// Selects a customer.
    SelectCustomer { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> CustomerColumns,
    concat!("SELECT id, name, email, ", votes_of!("customers.id"), ", created_at, blocked_at FROM customers
     WHERE workspace_id = {workspace} AND id = {customer}")
}

statement! {
    /// Selects what a customer voted for, newest first. What is merged is listed once, as the root of its tree. Of very many
    /// votes, those for the newest feature requests are read: IDs begin with the creation timestamp.
    VotedFor { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> SummaryColumns,
    concat!("WITH roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, votes.request_id) AS id FROM (
             SELECT request_id FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer}
             ORDER BY request_id DESC LIMIT {scan_limit}
         ) AS votes
         CROSS JOIN LATERAL (
             SELECT root_id FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = votes.request_id OFFSET 0
         ) AS tallies
     ), newest AS MATERIALIZED (
         SELECT roots.id FROM roots CROSS JOIN LATERAL (
             SELECT tag_number FROM vote_tallies WHERE workspace_id = {workspace} AND request_id = roots.id OFFSET 0
         ) AS tallies
         ORDER BY tag_number DESC LIMIT {limit}
     )
     SELECT ", summary!(), " FROM newest
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = newest.id
     ", placed!(), "
     ORDER BY feature_requests.tag_number DESC")
}

statement! {
    /// Selects since when all mail to a customer is stopped, and what the customer gets mail about, newest first. What is
    /// merged is listed once, as the root of its tree. Of very many, the newest ones are read.
    SubscribedTo {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        scan_limit: i64 => BigInt,
        limit: i64 => BigInt,
    } -> (Nullable<Timestamptz>, Nullable<LinkColumns>),
    concat!("WITH customer AS MATERIALIZED (
         SELECT mail_stopped_at, mail_stopped_because, stops_changelogs FROM customers
         WHERE workspace_id = {workspace} AND id = {customer}
     ), ", subscribed!(), ", roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, subscribed.request_id) AS id FROM subscribed
         CROSS JOIN LATERAL (
             SELECT root_id FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = subscribed.request_id OFFSET 0
         ) AS tallies
         WHERE EXISTS (SELECT FROM customer WHERE mail_stopped_at IS NULL)
     ), listed AS (
         SELECT requests.id, tag_number, title FROM roots CROSS JOIN LATERAL (
             SELECT id, tag_number, title FROM feature_requests
             WHERE workspace_id = {workspace} AND id = roots.id OFFSET 0
         ) AS requests
         ORDER BY tag_number DESC LIMIT {limit}
     )
     SELECT CASE WHEN mail_stopped_because <> 'blocked' AND stops_changelogs THEN mail_stopped_at END, id, tag_number,
            title
     FROM customer LEFT JOIN listed ON true ORDER BY tag_number DESC")
}

statement! {
    /// Selects what a customer asked for, newest first, merged feature requests included.
    AskedFor { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt } -> SummaryColumns,
    concat!("SELECT ", summary!(), " FROM (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND author_id = {customer}
         ORDER BY tag_number DESC LIMIT {limit}
     ) AS newest
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = newest.id
     ", placed!(), "
     ORDER BY feature_requests.tag_number DESC")
}

statement! {
    /// Selects the comments of a customer, newest first, each with the feature request on which it was written, once more
    /// if that is merged.
    CommentsOf { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt }
        -> (LinkColumns, CommentColumns),
    "SELECT requests.id, tag_number, title, comments.id, content, true, name, comments.created_at, comments.updated_at,
            CASE WHEN root_id IS NOT NULL THEN requests.id END, CASE WHEN root_id IS NOT NULL THEN tag_number END,
            CASE WHEN root_id IS NOT NULL THEN title END
     FROM (
         SELECT id FROM comments WHERE workspace_id = {workspace} AND customer_id = {customer}
         ORDER BY created_at DESC, id DESC LIMIT {limit}
     ) AS newest
     JOIN comments ON comments.workspace_id = {workspace} AND comments.id = newest.id
     JOIN feature_requests AS requests
       ON requests.workspace_id = {workspace} AND requests.id = comments.request_id
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = comments.customer_id
     ORDER BY comments.created_at DESC, comments.id DESC"
}

statement! {
    /// Selects the notes about a customer, newest first, each with its feature request.
    NotesAbout { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt }
        -> (LinkColumns, NoteColumns),
    "SELECT requests.id, tag_number, title, notes.id, body, members.name, members.email, customers.id, customers.name,
            customers.email, notes.created_at
     FROM (
         SELECT id FROM notes WHERE workspace_id = {workspace} AND customer_id = {customer}
         ORDER BY created_at DESC, id DESC LIMIT {limit}
     ) AS newest
     JOIN notes ON notes.workspace_id = {workspace} AND notes.id = newest.id
     JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = notes.request_id
     LEFT JOIN members ON members.workspace_id = {workspace} AND members.id = notes.author_id
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = notes.customer_id
     ORDER BY notes.created_at DESC, notes.id DESC"
}

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
    /// Selects a page of the texts of a customer, newest first. At most `scan_limit` of each kind are read.
    TextsPage {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        scan_limit: i64 => BigInt,
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
          ORDER BY tag_number DESC LIMIT {scan_limit})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'shown', NULL FROM comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {scan_limit})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'held', NULL FROM held_comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {scan_limit})
         UNION ALL
         (SELECT created_at, id, request_id, NULL, content, 'removed', removed_at FROM removed_comments
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY created_at DESC, id DESC LIMIT {scan_limit})
         UNION ALL
         (SELECT requests.created_at, requests.id, requests.id, removed.title, removed.description, 'removed',
                 removed.removed_at
          FROM removed_requests AS removed
          JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = removed.request_id
          WHERE removed.workspace_id = {workspace} AND removed.customer_id = {customer}
          ORDER BY removed.request_id DESC LIMIT {scan_limit})
         ORDER BY 1 DESC, 2 DESC LIMIT {limit} OFFSET {offset}
     )
     SELECT requests.id, requests.tag_number, requests.title, written.title, written.content, written.state,
            written.removed_at, written.created_at
     FROM written
     JOIN feature_requests AS requests ON requests.workspace_id = {workspace} AND requests.id = written.request_id
     ORDER BY written.created_at DESC, written.id DESC"
}

#[async_trait]
impl CustomerReader for PostgresReader {
    async fn customers(
        &self,
        workspace: WorkspaceId,
        query: Option<&CustomerQuery>,
        page: PageRequest,
    ) -> Result<Listing<Customer>, StoreError> {
        let session = self.session(workspace).await?;
        let customers = CustomersPage {
            workspace: workspace.uuid(),
            pattern: query.map(CustomerQuery::pattern),
            address: query.map(CustomerQuery::address_pattern),
            only_blocked: query.is_some_and(CustomerQuery::is_only_blocked),
            before: page.before().1,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<CustomerRow>)> = session.run(customers.load(&mut session.connection()?)).await?;
        listing(rows, page, Customer::try_from)
    }

    async fn customer(&self, workspace: WorkspaceId, id: CustomerId) -> Result<Option<Customer>, StoreError> {
        let session = self.session(workspace).await?;
        let select = SelectCustomer { workspace: workspace.uuid(), customer: id.uuid() };
        let row: Option<CustomerRow> = session.run_optional(select.get_result(&mut session.connection()?)).await?;
        row.map(Customer::try_from).transpose()
    }

    async fn customer_records(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<CustomerRecords, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let (customer, limit) = (customer.uuid(), i64::from(CustomerRecords::MAX));
        let scan_limit = i64::from(InboxList::READ_LIMIT);
        let votes = VotedFor { workspace, customer, scan_limit, limit };
        let votes = session.run(votes.load(&mut session.connection()?)).await?;
        let requests = AskedFor { workspace, customer, limit };
        let requests = session.run(requests.load(&mut session.connection()?)).await?;
        let comments = CommentsOf { workspace, customer, limit };
        let comments = session.run(comments.load(&mut session.connection()?)).await?;
        let notes = NotesAbout { workspace, customer, limit };
        let notes = session.run(notes.load(&mut session.connection()?)).await?;
        let subscriptions = SubscribedTo { workspace, customer, scan_limit, limit };
        let subscriptions = session.run(subscriptions.load(&mut session.connection()?)).await?;
        CustomerRecordsRows { votes, requests, comments, notes, subscriptions }.into_records(customer)
    }

    async fn customer_texts(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
        page: PageRequest,
    ) -> Result<CustomerTexts, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let customer = customer.uuid();
        let count = CountTexts { workspace, customer };
        let counts: TextCountsRow = session.run(count.get_result(&mut session.connection()?)).await?;
        let counts = counts.into_counts(customer)?;
        let mut items = Vec::new();
        if let Some(offset) = page.offset() {
            let (limit, scan_limit) = (page.limit(), page.limit().saturating_add(offset));
            let texts = TextsPage { workspace, customer, scan_limit, limit, offset };
            let rows: Vec<CustomerTextRow> = session.run(texts.load(&mut session.connection()?)).await?;
            items = rows.into_iter().map(CustomerText::try_from).collect::<Result<_, _>>()?;
        }
        Ok(CustomerTexts { page: Listing { items, request: page, total: counts.total().unsigned_abs() }, counts })
    }

    async fn last_counted_mail(
        &self,
        workspace: WorkspaceId,
        counter: CounterKey,
    ) -> Result<Option<Timestamp>, StoreError> {
        let session = self.session(workspace).await?;
        let last = counted_mails::table
            .filter(counted_mails::workspace_id.eq(workspace.uuid()))
            .filter(counted_mails::counter.eq(counter.0.to_vec()))
            .select(max(counted_mails::asked_at));
        let last: Option<TimestampColumn> = session.run(last.first(&mut session.connection()?)).await?;
        optional_timestamp(last, "counted_mails", "asked_at", workspace.uuid())
    }
}
