//! What people see of their own account.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::id::{CustomerId, WorkspaceId};
use roadmap_domain::model::mail::MailSettings;
use roadmap_domain::model::portal::{AccountLists, FollowedRequest, PortalList, PortalRow};
use roadmap_domain::model::session::SessionEntry;
use roadmap_domain::ports::AccountReader;
use roadmap_store::rows::{FollowedRow, PortalListRow, SessionEntryRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::portal_lists::{RowColumns, row};
use crate::schema::sessions;
use crate::session::Session;
use crate::statement::{placed, statement};

statement! {
    /// Selects what a customer voted for or gets mail about, the one that has its status for the shortest time first. Of very
    /// many, those for the newest feature requests are read.
    Followed {
        workspace: Uuid => SqlUuid,
        customer: Uuid => SqlUuid,
        scan_limit: i64 => BigInt,
        limit: i64 => BigInt,
    } -> (RowColumns, Bool, Bool),
    concat!("WITH own AS MATERIALIZED (
         (SELECT request_id, true AS is_vote, subscribed FROM votes
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY request_id DESC LIMIT {scan_limit})
         UNION ALL
         (SELECT request_id, false, true FROM followers
          WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY request_id DESC LIMIT {scan_limit})
     ), roots AS MATERIALIZED (
         SELECT coalesce(root_id, own.request_id) AS request_id, bool_or(is_vote) AS has_voted,
                bool_or(subscribed) AND (
                    SELECT mail_stopped_at IS NULL FROM customers WHERE workspace_id = {workspace} AND id = {customer}
                ) AS is_followed
         FROM own CROSS JOIN LATERAL (
             SELECT root_id FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = own.request_id OFFSET 0
         ) AS tallies
         GROUP BY coalesce(root_id, own.request_id)
     )
     SELECT ", row!(), ", has_voted, is_followed FROM (
         SELECT roots.request_id, has_voted, is_followed, shown.since, shown.number FROM roots CROSS JOIN LATERAL (
             SELECT status_since AS since, tag_number AS number FROM feature_requests
             WHERE workspace_id = {workspace} AND id = roots.request_id AND (NOT private OR author_id = {customer})
             OFFSET 0
         ) AS shown
         WHERE has_voted OR is_followed ORDER BY shown.since DESC, shown.number DESC LIMIT {limit}
     ) AS latest
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = latest.request_id
     ", placed!(), "
     ORDER BY latest.since DESC, latest.number DESC")
}

statement! {
    /// Selects the newest feature requests of a customer, also private ones.
    LatestIdeas { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, limit: i64 => BigInt } -> RowColumns,
    concat!("SELECT ", row!(), " FROM (
         SELECT id FROM feature_requests
         WHERE workspace_id = {workspace} AND author_id = {customer} AND root_id IS NULL
         ORDER BY tag_number DESC LIMIT {limit}
     ) AS newest
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = newest.id
     ", placed!(), "
     ORDER BY feature_requests.tag_number DESC")
}

statement! {
    /// Selects the address of a customer, and whether the customer gets answers and changes of the status, changelogs about
    /// what the customer follows, and all changelogs.
    MailSettingsOf { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid } -> (Text, Bool, Bool, Bool),
    "SELECT email, mail_stopped_at IS NULL, NOT stops_changelogs AND blocked_at IS NULL,
            news_since IS NOT NULL AND blocked_at IS NULL FROM customers
     WHERE workspace_id = {workspace} AND id = {customer}"
}

/// Selects the lists of a customer's account.
async fn customer_lists(
    session: &Session,
    workspace: Uuid,
    id: CustomerId,
    limit: i64,
) -> Result<AccountLists, StoreError> {
    let (customer, scan_limit) = (id.uuid(), i64::from(PortalList::TAG_LIMIT));
    let followed = Followed { workspace, customer, scan_limit, limit };
    let followed: Vec<FollowedRow> = session.run(followed.load(&mut session.connection()?)).await?;
    let ideas = LatestIdeas { workspace, customer, limit };
    let ideas: Vec<PortalListRow> = session.run(ideas.load(&mut session.connection()?)).await?;
    Ok(AccountLists {
        followed: followed.into_iter().map(FollowedRequest::try_from).collect::<Result<_, _>>()?,
        ideas: ideas.into_iter().map(PortalRow::try_from).collect::<Result<_, _>>()?,
        sessions: Vec::new(),
    })
}

#[async_trait]
impl AccountReader for PostgresReader {
    async fn account_lists(
        &self,
        workspace: WorkspaceId,
        email: &FoldedEmail,
        customer: Option<CustomerId>,
        limit: u32,
    ) -> Result<AccountLists, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let limit = i64::from(limit);
        let lists = match customer {
            Some(customer) => customer_lists(&session, workspace, customer, limit).await?,
            None => AccountLists::default(),
        };
        let select = sessions::table
            .filter(sessions::workspace_id.eq(workspace))
            .filter(sessions::email_folded.eq(email.as_str()))
            .order((sessions::last_seen_at.desc(), sessions::id.desc()))
            .limit(limit)
            .select((sessions::id, sessions::browser_name, sessions::created_at, sessions::last_seen_at));
        let rows: Vec<SessionEntryRow> = session.run(select.load(&mut session.connection()?)).await?;
        let sessions = rows.into_iter().map(SessionEntry::try_from).collect::<Result<_, _>>()?;
        Ok(AccountLists { sessions, ..lists })
    }

    async fn mail_settings(
        &self,
        workspace: WorkspaceId,
        customer: CustomerId,
    ) -> Result<Option<(EmailAddress, MailSettings)>, StoreError> {
        let session = self.session(workspace).await?;
        let select = MailSettingsOf { workspace: workspace.uuid(), customer: customer.uuid() };
        let row: Option<(String, bool, bool, bool)> =
            session.run_optional(select.get_result(&mut session.connection()?)).await?;
        Ok(row.map(|(email, requests, changelogs, news)| {
            (EmailAddress::from_stored(email), MailSettings { requests, changelogs, news })
        }))
    }
}
