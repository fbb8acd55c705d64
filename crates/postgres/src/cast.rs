//! The statement that casts one vote.

use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::rows::SummaryColumns;
use crate::statement::{author, statement, upserted_customer};

statement! {
    /// Finds or inserts the customer, inserts and counts the vote unless it exists, and inserts the note. Returns the
    /// feature request, and whether the vote is new and where it was counted, if there is a voter. If the feature
    /// request does not exist, changes nothing and returns no row. Absent parts are NULL.
    ///
    /// A merged feature request counts as missing, because looking up its root here would slow down all other votes.
    /// The caller looks it up and passes it beside the reference.
    Cast {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        root: Option<Uuid> => Nullable<SqlUuid>,
        at: TimestampColumn => Timestamptz,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        email: Option<String> => Nullable<Text>,
        email_folded: Option<String> => Nullable<Text>,
        name: Option<String> => Nullable<Text>,
        name_folded: Option<String> => Nullable<Text>,
        note: Option<Uuid> => Nullable<SqlUuid>,
        note_author: Option<String> => Nullable<Text>,
        note_body: Option<String> => Nullable<Text>,
    } -> (SummaryColumns, Nullable<Bool>, Nullable<SqlUuid>),
    concat!("WITH request AS MATERIALIZED (
         SELECT feature_requests.id, tag_number, title, tracks.name AS track, lanes.name AS lane, created_at, was_merged
         FROM feature_requests
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = lane_id
         WHERE feature_requests.workspace_id = {workspace} AND root_id IS NULL
           AND feature_requests.id = (SELECT coalesce({root}, {request},
               (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     ), known AS MATERIALIZED (
         SELECT id, name FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), added AS (
         ", upserted_customer!("FROM request WHERE {customer} IS NOT NULL AND NOT EXISTS (SELECT FROM known)"), "
         RETURNING id
     ), named AS (
         UPDATE customers SET name = {name}, name_folded = {name_folded}
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM known WHERE name IS NULL)
           AND name IS NULL AND {name} IS NOT NULL AND EXISTS (SELECT FROM request)
     ), voter AS MATERIALIZED (
         SELECT id FROM known UNION ALL SELECT id FROM added
     ), vote AS MATERIALIZED (
         SELECT vote.* FROM request, voter,
                add_vote({workspace}, {request}, {number}, voter.id, {at}, request.id, was_merged) AS vote
     ), noted AS (
         INSERT INTO notes (workspace_id, id, request_id, customer_id, author_id, body, created_at)
         SELECT {workspace}, {note}, request.id, (SELECT id FROM voter),
                ", author!("{note_author}"), ",
                {note_body}, {at} FROM request
         WHERE {note} IS NOT NULL
     )
     SELECT id, tag_number, title, track, lane,
            coalesce(
                (SELECT counted FROM vote),
                (SELECT votes_count FROM vote_tallies WHERE workspace_id = {workspace} AND request_id = request.id)
            ),
            created_at, (SELECT is_new FROM vote), (SELECT root FROM vote)
     FROM request")
}
