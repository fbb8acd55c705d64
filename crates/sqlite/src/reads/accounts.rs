//! What people see of their own account.

use async_trait::async_trait;
use diesel::dsl::not;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::MailSettings;
use roadmap_domain::model::portal::{AccountLists, FollowedRequest, PortalList, PortalRow};
use roadmap_domain::model::session::SessionEntry;
use roadmap_domain::ports::AccountReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{FollowedRow, PortalListRow, SessionEntryRow};

use crate::SqliteStore;
use crate::reads::portal_lists::rows::{RowSql, row_sql};
use crate::rows::placed_joins;
use crate::schema::customers;
use crate::statement::statement;

statement! {
    /// Selects the feature requests that a customer voted for or gets mail about, the one that has its status for the shortest
    /// time first: public ones, and private ones of the customer. A merged one is the one that it was merged into. At most
    /// `scan_limit` votes and as many subscriptions without a vote are read, those for the newest feature requests.
    Followed { workspace: Id => Binary, customer: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt }
        -> (RowSql, Bool, Bool),
    concat!(
        "WITH scope (workspace, customer, scan_limit) AS (SELECT ?, ?, ?),
         own (request, is_vote, subscribed) AS (
             SELECT request_id, 1, subscribed FROM (
                 SELECT request_id, subscribed FROM votes INDEXED BY votes_by_customer
                 WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
                 ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
             )
             UNION ALL
             SELECT request_id, 0, 1 FROM (
                 SELECT request_id FROM followers
                 WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
                 ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
             )
         ),
         roots (root, has_voted, subscribed) AS MATERIALIZED (
             SELECT coalesce(tally.root_id, tally.request_id), max(own.is_vote), max(own.subscribed)
             FROM scope CROSS JOIN own
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = own.request
             GROUP BY 1
         ),
         page (number, since, has_voted, is_followed) AS (
             SELECT request.row_number, request.status_since, roots.has_voted,
                    roots.subscribed AND subscriber.mail_stopped_at IS NULL
             FROM scope
             CROSS JOIN customers subscriber ON subscriber.workspace_id = scope.workspace
                    AND subscriber.id = scope.customer
             CROSS JOIN roots
             CROSS JOIN feature_requests request ON request.workspace_id = scope.workspace AND request.id = roots.root
             WHERE (NOT request.private OR request.author_id = scope.customer)
               AND (roots.has_voted OR subscriber.mail_stopped_at IS NULL)
             ORDER BY request.status_since DESC, request.row_number DESC LIMIT ?
         )
         SELECT ", row_sql!(), ", page.has_voted, page.is_followed FROM page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.number ", placed_joins!(), "
         ORDER BY page.since DESC, page.number DESC"
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
    /// Selects the sessions of an address, latest use first.
    Sessions { workspace: Id => Binary, email: String => Text, limit: i64 => BigInt }
        -> (Binary, Nullable<Text>, BigInt, BigInt),
    "SELECT id, browser_name, created_at, last_seen_at FROM sessions
     WHERE workspace_id = ? AND email_folded = ? ORDER BY last_seen_at DESC, id DESC LIMIT ?"
}

/// The rows of the lists of an account: what is followed or voted for, ideas, sessions.
type AccountRows = (Vec<FollowedRow>, Vec<PortalListRow>, Vec<SessionEntryRow>);

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
        let (followed, ideas, sessions): AccountRows = self
            .readers
            .run_in_snapshot(move |connection| {
                let sessions = Sessions { workspace, email, limit }.load(connection)?;
                let Some(customer) = customer else { return Ok((Vec::new(), Vec::new(), sessions)) };
                let followed = Followed { workspace, customer, scan_limit, limit }.load(connection)?;
                let ideas = LatestIdeas { workspace, customer, limit }.load(connection)?;
                Ok((followed, ideas, sessions))
            })
            .await?;
        Ok(AccountLists {
            followed: followed.into_iter().map(FollowedRequest::try_from).collect::<Result<_, _>>()?,
            ideas: ideas.into_iter().map(PortalRow::try_from).collect::<Result<_, _>>()?,
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
