//! Sessions and accounts of people who are signed in.

use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::{CustomerId, SessionId};
use roadmap_domain::model::portal::{AccountLists, Language, PortalList};
use roadmap_domain::model::session::{BrowserName, SecretDigest, Session as SignedIn, SessionEntry};
use uuid::Uuid;

use super::lists;
use crate::codec::TimestampColumn;
use crate::rows::{
    CustomerNameColumns, CustomerNameRow, LinkColumns, LinkRow, MemberRow, SummaryColumns, SummaryRow, customer_name,
    member, request_link,
};
use crate::schema::sessions;
use crate::session::Session;
use crate::statement::{placed, statement, summary};

statement! {
    /// Selects a session with the customer, the customer's language and the member of its address.
    FindSession { workspace: Uuid => SqlUuid, digest: Vec<u8> => Binary } -> SessionColumns,
    "SELECT sessions.id, sessions.email, customers.id, customers.name, customers.email, language,
            members.id, members.email, members.name, role, members.created_at, sessions.created_at, last_seen_at
     FROM sessions
     LEFT JOIN customers
            ON customers.workspace_id = {workspace} AND customers.email_folded = sessions.email_folded
     LEFT JOIN members
            ON members.workspace_id = {workspace} AND members.email_folded = sessions.email_folded
           AND removed_at IS NULL
     WHERE sessions.workspace_id = {workspace} AND digest = {digest}"
}

type SessionColumns = (
    SqlUuid,
    Text,
    Nullable<CustomerNameColumns>,
    Nullable<Text>,
    Nullable<(SqlUuid, Text, Text, Text, Timestamptz)>,
    Timestamptz,
    Timestamptz,
);
type SessionRow =
    (Uuid, String, Option<CustomerNameRow>, Option<String>, Option<MemberRow>, TimestampColumn, TimestampColumn);

/// Selects a session.
pub(super) async fn session(
    session: &Session,
    workspace: Uuid,
    digest: &SecretDigest,
) -> Result<Option<SignedIn>, StoreError> {
    let find = FindSession { workspace, digest: digest.0.to_vec() };
    let row: Option<SessionRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
    let Some((id, email, customer, language, found, created_at, last_seen_at)) = row else { return Ok(None) };
    Ok(Some(SignedIn {
        id: SessionId::new(id),
        email: EmailAddress::from_stored(email),
        customer: customer.map(customer_name),
        language: language.as_deref().and_then(Language::from_code),
        member: found.map(member).transpose()?,
        created_at: created_at.into_timestamp("sessions", "created_at", id)?,
        last_seen_at: last_seen_at.into_timestamp("sessions", "last_seen_at", id)?,
    }))
}

statement! {
    /// Selects what a customer voted for, latest vote first. Of very many votes, those for the newest feature requests are
    /// read.
    LatestVotes { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, most: i64 => BigInt, limit: i64 => BigInt }
        -> SummaryColumns,
    concat!("WITH voted AS MATERIALIZED (
         SELECT coalesce(root_id, votes.request_id) AS request_id, max(votes.created_at) AS voted_at FROM (
             SELECT request_id, created_at FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer}
             ORDER BY request_id DESC LIMIT {most}
         ) AS votes
         CROSS JOIN LATERAL (
             SELECT root_id FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = votes.request_id OFFSET 0
         ) AS tallies
         GROUP BY coalesce(root_id, votes.request_id)
     )
     SELECT ", summary!(), " FROM (
         SELECT voted.request_id, voted_at FROM voted CROSS JOIN LATERAL (
             SELECT FROM feature_requests
             WHERE workspace_id = {workspace} AND id = voted.request_id AND (NOT private OR author_id = {customer})
             OFFSET 0
         ) AS shown
         ORDER BY voted_at DESC, voted.request_id DESC LIMIT {limit}
     ) AS latest
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = latest.request_id
     ", placed!(), "
     ORDER BY voted_at DESC, latest.request_id DESC")
}

statement! {
    /// Selects what a customer gets mail about, newest first. Of very many, the newest ones are read.
    Subscriptions { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, most: i64 => BigInt, limit: i64 => BigInt }
        -> LinkColumns,
    "WITH subscribed AS MATERIALIZED (
         (SELECT request_id FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer} AND subscribed
          ORDER BY request_id DESC LIMIT {most})
         UNION
         (SELECT request_id FROM followers WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY request_id DESC LIMIT {most})
     ), roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, subscribed.request_id) AS request_id FROM subscribed
         CROSS JOIN LATERAL (
             SELECT root_id FROM vote_tallies
             WHERE workspace_id = {workspace} AND request_id = subscribed.request_id OFFSET 0
         ) AS tallies
     )
     SELECT id, tag_number, title FROM roots
     CROSS JOIN LATERAL (
         SELECT id, tag_number, title FROM feature_requests
         WHERE workspace_id = {workspace} AND id = roots.request_id AND (NOT private OR author_id = {customer}) OFFSET 0
     ) AS requests
     WHERE EXISTS (
         SELECT FROM customers WHERE workspace_id = {workspace} AND id = {customer} AND mail_stopped_at IS NULL)
     ORDER BY tag_number DESC LIMIT {limit}"
}

/// Selects the lists of a customer's account.
async fn customer_lists(
    session: &Session,
    workspace: Uuid,
    id: CustomerId,
    limit: i64,
) -> Result<AccountLists, StoreError> {
    let (customer, most) = (id.uuid(), i64::from(PortalList::TAG_LIMIT));
    let votes = LatestVotes { workspace, customer, most, limit };
    let votes: Vec<SummaryRow> = session.run(votes.load(&mut session.connection()?)).await?;
    let subscriptions = Subscriptions { workspace, customer, most, limit };
    let subscriptions: Vec<LinkRow> = session.run(subscriptions.load(&mut session.connection()?)).await?;
    Ok(AccountLists {
        votes: votes.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<_, _>>()?,
        ideas: lists::written(session, workspace, id, limit).await?,
        subscriptions: subscriptions.into_iter().map(request_link).collect(),
        sessions: Vec::new(),
    })
}

/// Selects the lists of an account.
pub(super) async fn account_lists(
    session: &Session,
    workspace: Uuid,
    email: &FoldedEmail,
    customer: Option<CustomerId>,
    limit: u32,
) -> Result<AccountLists, StoreError> {
    type Row = (Uuid, Option<String>, TimestampColumn, TimestampColumn);
    let limit = i64::from(limit);
    let lists = match customer {
        Some(customer) => customer_lists(session, workspace, customer, limit).await?,
        None => AccountLists::default(),
    };
    let select = sessions::table
        .filter(sessions::workspace_id.eq(workspace))
        .filter(sessions::email_folded.eq(email.as_str()))
        .order((sessions::last_seen_at.desc(), sessions::id.desc()))
        .limit(limit)
        .select((sessions::id, sessions::browser_name, sessions::created_at, sessions::last_seen_at));
    let rows: Vec<Row> = session.run(select.load(&mut session.connection()?)).await?;
    let entry = |(id, browser, created_at, last_seen_at): Row| {
        Ok(SessionEntry {
            id: SessionId::new(id),
            browser: browser.map(BrowserName::from_stored),
            created_at: created_at.into_timestamp("sessions", "created_at", id)?,
            last_seen_at: last_seen_at.into_timestamp("sessions", "last_seen_at", id)?,
        })
    };
    let sessions = rows.into_iter().map(entry).collect::<Result<_, StoreError>>()?;
    Ok(AccountLists { sessions, ..lists })
}
