//! What people see of their own account.

use crate::trees::LinkSql;
use async_trait::async_trait;
use diesel::dsl::not;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::feature_request::{FeatureRequestSummary, RequestLink};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::MailSettings;
use roadmap_domain::model::portal::{AccountLists, PortalList, PortalRow};
use roadmap_domain::model::session::SessionEntry;
use roadmap_domain::ports::AccountReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{LinkRow, PortalListRow, SessionEntryRow, SummaryRow};

use crate::SqliteStore;
use crate::reads::portal_lists::rows::{RowSql, row_sql};
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::schema::customers;
use crate::statement::statement;

statement! {
    /// Selects the feature requests that a customer voted for, latest vote first: public ones, and private ones of the
    /// customer. A merged one is the one that it was merged into. At most `scan_limit` votes are read, those for the
    /// newest feature requests.
    LatestVotes { workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> SummarySql,
    concat!(
        "WITH scope (workspace, customer) AS (SELECT ?, ?),
         vote (workspace, request, voted_at) AS (
             SELECT workspace_id, request_id, created_at FROM votes INDEXED BY votes_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY request_id DESC LIMIT ?
         ),
         voted (workspace, root, voted_at) AS MATERIALIZED (
             SELECT vote.workspace, coalesce(tally.root_id, tally.request_id), max(vote.voted_at) FROM vote
             CROSS JOIN vote_tallies tally ON tally.workspace_id = vote.workspace AND tally.request_id = vote.request
             GROUP BY 1, 2
         ),
         page (number, voted_at) AS (
             SELECT root.row_number, voted.voted_at FROM scope CROSS JOIN voted
             CROSS JOIN vote_tallies root ON root.workspace_id = voted.workspace AND root.request_id = voted.root
             WHERE NOT root.private OR EXISTS (
                 SELECT 1 FROM feature_requests own
                 WHERE own.row_number = root.row_number AND own.author_id = scope.customer
             )
             ORDER BY voted.voted_at DESC, root.row_number DESC LIMIT ?
         )
         SELECT ", summary_sql!(), " FROM page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.number ", placed_joins!(), "
         ORDER BY page.voted_at DESC, page.number DESC"
    )
}

statement! {
    /// Selects the feature requests that a customer submitted, newest first.
    LatestIdeas { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt } -> RowSql,
    concat!(
        "SELECT ", row_sql!(), " FROM (
             SELECT row_number FROM feature_requests
             WHERE workspace_id = ? AND author_id = ? AND root_id IS NULL ORDER BY row_number DESC LIMIT ?
         ) AS page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.row_number ", placed_joins!(), "
         ORDER BY page.row_number DESC"
    )
}

statement! {
    /// Selects the feature requests that a customer gets mail about, newest first: public ones, and private ones of the
    /// customer. A merged one is the one that it was merged into. At most `scan_limit` votes and as many subscriptions
    /// without a vote are read.
    Subscriptions { workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> LinkSql,
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
     roots (root) AS (
         SELECT DISTINCT coalesce(tally.root_id, tally.request_id) FROM scope CROSS JOIN subscribed
         CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = subscribed.request
     ),
     page (number) AS (
         SELECT root.row_number FROM scope CROSS JOIN roots
         CROSS JOIN vote_tallies root ON root.workspace_id = scope.workspace AND root.request_id = roots.root
         CROSS JOIN customers subscriber ON subscriber.workspace_id = scope.workspace
                AND subscriber.id = scope.customer AND subscriber.mail_stopped_at IS NULL
         WHERE NOT root.private OR EXISTS (
             SELECT 1 FROM feature_requests own
             WHERE own.row_number = root.row_number AND own.author_id = scope.customer
         )
         ORDER BY root.row_number DESC LIMIT ?
     )
     SELECT request.id, request.tag_number, request.title FROM page
     CROSS JOIN feature_requests request ON request.row_number = page.number
     ORDER BY page.number DESC"
}

statement! {
    /// Selects the sessions of an address, latest use first.
    Sessions { workspace: Id => Binary, email: String => Text, limit: i64 => BigInt }
        -> (Binary, Nullable<Text>, BigInt, BigInt),
    "SELECT id, browser_name, created_at, last_seen_at FROM sessions
     WHERE workspace_id = ? AND email_folded = ? ORDER BY last_seen_at DESC, id DESC LIMIT ?"
}

/// The rows of the lists of an account: votes, ideas, subscriptions, sessions.
type AccountRows = (Vec<SummaryRow>, Vec<PortalListRow>, Vec<LinkRow>, Vec<SessionEntryRow>);

#[async_trait]
impl AccountReader for SqliteStore {
    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError> {
        let customer = customer.map(|customer| Id(customer.uuid()));
        let workspace = Id(workspace.uuid());
        let (email, limit) = (email.as_str().to_owned(), i64::from(limit));
        let scan_limit = i64::from(PortalList::TAG_LIMIT);
        let (votes, ideas, subscriptions, sessions): AccountRows = self
            .readers
            .run_in_snapshot(move |connection| {
                let sessions = Sessions { workspace, email, limit }.load(connection)?;
                let Some(customer) = customer else { return Ok((Vec::new(), Vec::new(), Vec::new(), sessions)) };
                let votes = LatestVotes { workspace, customer, scan_limit, limit }.load(connection)?;
                let ideas = LatestIdeas { workspace, customer, limit }.load(connection)?;
                let subscriptions = Subscriptions { workspace, customer, scan_limit, limit }.load(connection)?;
                Ok((votes, ideas, subscriptions, sessions))
            })
            .await?;
        Ok(AccountLists {
            votes: votes.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<_, _>>()?,
            ideas: ideas.into_iter().map(PortalRow::try_from).collect::<Result<_, _>>()?,
            subscriptions: subscriptions.into_iter().map(RequestLink::from).collect(),
            sessions: sessions.into_iter().map(SessionEntry::try_from).collect::<Result<_, _>>()?,
        })
    }

    async fn mail_settings(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<Option<(EmailAddress, MailSettings)>, StoreError> {
        let key = (Id(workspace.uuid()), Id(customer.uuid()));
        let columns = (
            customers::email,
            customers::mail_stopped_at.is_null(),
            not(customers::stops_changelogs).and(customers::blocked_at.is_null()),
            customers::news_since.is_not_null().and(customers::blocked_at.is_null()),
        );
        let row: Option<(String, bool, bool, bool)> = self
            .readers
            .run(move |connection| Ok(customers::table.find(key).select(columns).first(connection).optional()?))
            .await?;
        Ok(row.map(|(email, requests, changelogs, news)| {
            (EmailAddress::from_stored(email), MailSettings { requests, changelogs, news })
        }))
    }
}
