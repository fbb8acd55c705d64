//! The records of a customer.

use diesel::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{CustomerRecords, InboxList};
use roadmap_domain::model::comment::ListedComment;
use roadmap_domain::model::feature_request::{FeatureRequestSummary, RequestLink};
use roadmap_domain::model::note::Note;

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp};
use crate::reads::comments::{NoteRow, NoteSql, note_columns, note_people};
use crate::records::{CommentRow, CommentSql, comment_authors, comment_columns, request_link};
use crate::rows::{SummaryRow, SummarySql, placed_joins, summary_sql};
use crate::statement::statement;
use crate::trees::MergedRow;

statement! {
    /// Selects the feature requests that a customer voted for, newest first. A merged one is the one that it was merged
    /// into, once. At most `most` votes are read, those for the newest feature requests.
    Voted { workspace: Id => Binary, customer: Id => Binary, most: i64 => BigInt, limit: i64 => BigInt } -> SummarySql,
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
        -> ((Binary, BigInt, Text), CommentSql),
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
    Noted { workspace: Id => Binary, customer: Id => Binary, limit: i64 => BigInt } -> ((Binary, BigInt, Text), NoteSql),
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
    /// merged one is the one that it was merged into. At most `most` votes and as many subscriptions without a vote are
    /// read.
    SubscribedTo { workspace: Id => Binary, customer: Id => Binary, most: i64 => BigInt, limit: i64 => BigInt }
        -> (Nullable<BigInt>, Nullable<(Binary, BigInt, Text)>),
    "WITH scope (workspace, customer, most) AS (SELECT ?, ?, ?),
     subscribed (request) AS (
         SELECT request_id FROM (
             SELECT request_id, subscribed FROM votes INDEXED BY votes_by_customer
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT most FROM scope)
         ) WHERE subscribed
         UNION
         SELECT request_id FROM (
             SELECT request_id FROM followers
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT most FROM scope)
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
     SELECT CASE WHEN customers.mail_stopped_because <> 'blocked' THEN customers.mail_stopped_at END, request.id, request.tag_number, request.title FROM scope
     CROSS JOIN customers ON customers.workspace_id = scope.workspace AND customers.id = scope.customer
     LEFT JOIN page ON true
     LEFT JOIN feature_requests request ON request.row_number = page.number
     ORDER BY page.number DESC"
}

/// The rows of the lists: votes, feature requests, comments, notes, subscriptions.
type Rows = (
    Vec<SummaryRow>,
    Vec<SummaryRow>,
    Vec<(MergedRow, CommentRow)>,
    Vec<(MergedRow, NoteRow)>,
    Vec<(Option<i64>, Option<MergedRow>)>,
);

/// Converts a row with its feature request.
fn with_request<R, T: TryFrom<R, Error = StoreError>>(
    (request, row): (MergedRow, R),
) -> Result<(RequestLink, T), StoreError> {
    Ok((request_link(request), row.try_into()?))
}

impl SqliteStore {
    /// Returns the records of a customer.
    pub(super) async fn list_customer_records(
        &self,
        workspace: Id,
        customer: Id,
    ) -> Result<CustomerRecords, StoreError> {
        let (most, limit) = (i64::from(InboxList::READ_LIMIT), i64::from(CustomerRecords::MAX));
        let (votes, requests, comments, notes, subscriptions): Rows = self
            .readers
            .run_in_snapshot(move |connection| {
                Ok((
                    Voted { workspace, customer, most, limit }.load(connection)?,
                    AskedFor { workspace, customer, limit }.load(connection)?,
                    Commented { workspace, customer, limit }.load(connection)?,
                    Noted { workspace, customer, limit }.load(connection)?,
                    SubscribedTo { workspace, customer, most, limit }.load(connection)?,
                ))
            })
            .await?;
        let stopped_at = subscriptions.first().and_then(|(stopped_at, _)| *stopped_at);
        let summaries = |rows: Vec<SummaryRow>| {
            rows.into_iter().map(FeatureRequestSummary::try_from).collect::<Result<Vec<_>, StoreError>>()
        };
        Ok(CustomerRecords {
            votes: summaries(votes)?,
            requests: summaries(requests)?,
            comments: comments.into_iter().map(with_request::<_, ListedComment>).collect::<Result<_, _>>()?,
            notes: notes.into_iter().map(with_request::<_, Note>).collect::<Result<_, _>>()?,
            subscriptions: subscriptions.into_iter().filter_map(|(_, request)| request).map(request_link).collect(),
            unsubscribed_at: optional_timestamp(stopped_at, "customers", "mail_stopped_at", customer)?,
        })
    }
}
