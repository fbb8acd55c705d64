//! What only the team sees of a feature request, and how many people get mail about feature requests.

use diesel::sql_types::{Array, BigInt, Nullable, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::TeamPage;
use roadmap_domain::model::customer::CustomerName;
use roadmap_domain::model::id::{CommentId, FeatureRequestId};
use roadmap_domain::model::pagination::PageRequest;
use uuid::Uuid;

use crate::reads::portal::ids;
use crate::reads::roadmap::{NoteRow, NotesPage, VoterColumns, VoterRow, note, voter};
use crate::rows::{CustomerNameColumns, CustomerNameRow, customer_name};
use crate::session::Session;
use crate::statement::{members, statement, tree};

/// The SQL expression of the number of customers who get mail about the feature requests of the common table expression
/// `members`, as in [`audience`](crate::statement::audience).
macro_rules! subscribers {
    () => {
        "(SELECT count(*) FROM (
             SELECT votes.customer_id FROM members
             JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id AND votes.subscribed
             UNION
             SELECT followers.customer_id FROM members
             JOIN followers ON followers.workspace_id = {workspace} AND followers.request_id = members.id
          ) AS subscribed
          JOIN customers ON customers.workspace_id = {workspace} AND customers.id = subscribed.customer_id
          WHERE mail_stopped_at IS NULL)"
    };
}

statement! {
    /// Selects the number of subscribers of a feature request, and its latest voters, each once, by the first vote.
    /// Without merges, these are read from the index.
    SubscribersAndVoters { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, limit: i64 => BigInt }
        -> (BigInt, Nullable<VoterColumns>),
    concat!("WITH ", tree!(), ", subscribers AS MATERIALIZED (
         SELECT ", subscribers!(), " AS total
     ), latest AS MATERIALIZED (
         (SELECT customer_id, created_at FROM votes
          WHERE workspace_id = {workspace} AND request_id = {request} AND (SELECT count(*) FROM members) = 1
          ORDER BY created_at DESC, customer_id DESC LIMIT {limit})
         UNION ALL
         (SELECT customer_id, min(created_at) FROM members
          JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
          WHERE (SELECT count(*) FROM members) > 1
          GROUP BY customer_id ORDER BY 2 DESC, customer_id DESC LIMIT {limit})
     ), voters AS (
         SELECT customers.id, name, email, latest.created_at FROM latest
         JOIN customers ON customers.workspace_id = {workspace} AND customers.id = latest.customer_id
     )
     SELECT total, voters.* FROM subscribers LEFT JOIN voters ON true
     ORDER BY voters.created_at DESC, voters.id DESC")
}

statement! {
    /// Counts the customers who get mail about feature requests and what is merged with them.
    CountSubscribers { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> BigInt,
    concat!("WITH roots AS MATERIALIZED (
         SELECT DISTINCT coalesce(root_id, id) AS id FROM feature_requests
         WHERE workspace_id = {workspace} AND id = ANY ({requests})
     ), ", members!(), "
     SELECT ", subscribers!())
}

statement! {
    /// Selects the customers who wrote comments, or described the feature requests with these IDs.
    CommentCustomers { workspace: Uuid => SqlUuid, comments: Vec<Uuid> => Array<SqlUuid> }
        -> (SqlUuid, CustomerNameColumns),
    "WITH written AS MATERIALIZED (
         SELECT id, customer_id FROM comments WHERE workspace_id = {workspace} AND id = ANY ({comments})
         UNION ALL
         SELECT id, author_id FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({comments})
     )
     SELECT written.id, customers.id, name, email FROM written
     JOIN customers ON customers.workspace_id = {workspace} AND customers.id = written.customer_id"
}

/// Selects the customers who wrote comments.
pub(super) async fn comment_customers(
    session: &Session,
    workspace: Uuid,
    comments: &[CommentId],
) -> Result<Vec<(CommentId, CustomerName)>, StoreError> {
    let list = CommentCustomers { workspace, comments: comments.iter().map(|comment| comment.uuid()).collect() };
    let rows: Vec<(Uuid, CustomerNameRow)> = session.run(list.load(&mut session.connection()?)).await?;
    Ok(rows.into_iter().map(|(comment, row)| (CommentId::new(comment), customer_name(row))).collect())
}

/// Selects what only the team sees of a feature request.
pub(super) async fn page(
    session: &Session,
    workspace: Uuid,
    request: FeatureRequestId,
) -> Result<TeamPage, StoreError> {
    let request = request.uuid();
    let limit = i64::from(TeamPage::MAX_NOTES);
    let (at, before) = PageRequest::first(u64::from(TeamPage::MAX_NOTES)).before();
    let notes = NotesPage { workspace, request: Some(request), number: None, at: at.into(), before, limit, offset: 0 };
    let notes: Vec<(i64, Option<NoteRow>)> = session.run(notes.load(&mut session.connection()?)).await?;
    let voters = SubscribersAndVoters { workspace, request, limit: i64::from(TeamPage::MAX_VOTERS) };
    let voters: Vec<(i64, Option<VoterRow>)> = session.run(voters.load(&mut session.connection()?)).await?;
    Ok(TeamPage {
        notes_count: notes.as_slice().first().map_or(0, |(total, _)| *total),
        notes: notes.into_iter().filter_map(|(_, row)| row).map(note).collect::<Result<_, _>>()?,
        subscribers: voters.as_slice().first().map_or(0, |(total, _)| *total),
        voters: voters.into_iter().filter_map(|(_, row)| row).map(voter).collect::<Result<_, _>>()?,
    })
}

/// Counts the people who would get mail about feature requests.
pub(super) async fn count_subscribers(
    session: &Session,
    workspace: Uuid,
    requests: &[FeatureRequestId],
) -> Result<i64, StoreError> {
    let count = CountSubscribers { workspace, requests: ids(requests) };
    session.run(count.get_result(&mut session.connection()?)).await
}
