//! The records of a customer.

use diesel::sql_types::{BigInt, Nullable, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{CustomerRecords, InboxList};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::CustomerId;
use uuid::Uuid;

use crate::codec::{TimestampColumn, optional_timestamp};
use crate::reads::roadmap::{NoteColumns, NoteRow, note};
use crate::rows::{
    CommentColumns, CommentRow, LinkColumns, LinkRow, SummaryColumns, SummaryRow, listed_comment, request_link,
};
use crate::session::Session;
use crate::statement::{placed, statement, summary};

statement! {
    /// Selects what a customer voted for, newest first. What is merged is listed once, as the root of its tree. Of very many
    /// votes, those for the newest feature requests are read: IDs begin with the creation timestamp.
    VotedFor { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, most: i64 => BigInt, limit: i64 => BigInt }
        -> SummaryColumns,
    concat!("WITH roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, votes.request_id) AS id FROM (
             SELECT request_id FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer}
             ORDER BY request_id DESC LIMIT {most}
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
    SubscribedTo { workspace: Uuid => SqlUuid, customer: Uuid => SqlUuid, most: i64 => BigInt, limit: i64 => BigInt }
        -> (Nullable<Timestamptz>, Nullable<LinkColumns>),
    "WITH customer AS MATERIALIZED (
         SELECT mail_stopped_at, mail_stopped_because FROM customers
         WHERE workspace_id = {workspace} AND id = {customer}
     ), subscribed AS MATERIALIZED (
         (SELECT request_id FROM votes WHERE workspace_id = {workspace} AND customer_id = {customer} AND subscribed
          ORDER BY request_id DESC LIMIT {most})
         UNION
         (SELECT request_id FROM followers WHERE workspace_id = {workspace} AND customer_id = {customer}
          ORDER BY request_id DESC LIMIT {most})
     ), roots AS MATERIALIZED (
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
     SELECT CASE WHEN mail_stopped_because <> 'blocked' THEN mail_stopped_at END, id, tag_number, title
     FROM customer LEFT JOIN listed ON true ORDER BY tag_number DESC"
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

/// Selects the records of a customer.
pub(super) async fn records(
    session: &Session,
    workspace: Uuid,
    customer: CustomerId,
) -> Result<CustomerRecords, StoreError> {
    let (customer, limit) = (customer.uuid(), i64::from(CustomerRecords::MAX));
    let most = i64::from(InboxList::READ_LIMIT);
    let votes = VotedFor { workspace, customer, most, limit };
    let votes: Vec<SummaryRow> = session.run(votes.load(&mut session.connection()?)).await?;
    let requests = AskedFor { workspace, customer, limit };
    let requests: Vec<SummaryRow> = session.run(requests.load(&mut session.connection()?)).await?;
    let comments = CommentsOf { workspace, customer, limit };
    let comments: Vec<(LinkRow, CommentRow)> = session.run(comments.load(&mut session.connection()?)).await?;
    let notes = NotesAbout { workspace, customer, limit };
    let notes: Vec<(LinkRow, NoteRow)> = session.run(notes.load(&mut session.connection()?)).await?;
    let subscriptions = SubscribedTo { workspace, customer, most, limit };
    let subscriptions: Vec<(Option<TimestampColumn>, Option<LinkRow>)> =
        session.run(subscriptions.load(&mut session.connection()?)).await?;
    let stopped = subscriptions.as_slice().first().and_then(|(stopped, _)| *stopped);
    let summaries = |rows: Vec<SummaryRow>| {
        rows.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<Vec<_>, StoreError>>()
    };
    Ok(CustomerRecords {
        votes: summaries(votes)?,
        requests: summaries(requests)?,
        comments: comments
            .into_iter()
            .map(|(request, comment)| Ok((request_link(request), listed_comment(comment)?)))
            .collect::<Result<_, StoreError>>()?,
        notes: notes
            .into_iter()
            .map(|(request, row)| Ok((request_link(request), note(row)?)))
            .collect::<Result<_, StoreError>>()?,
        subscriptions: subscriptions.into_iter().filter_map(|(_, row)| row).map(request_link).collect(),
        unsubscribed_at: optional_timestamp(stopped, "customers", "mail_stopped_at", customer)?,
    })
}
