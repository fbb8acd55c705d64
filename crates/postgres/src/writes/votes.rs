//! Votes, their voters and their notes.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::RequestRef;
use roadmap_domain::model::vote::{NewVote, VoteCast, VoteOutcome};
use roadmap_domain::ports::VoteWrites;
use uuid::Uuid;

use crate::codec::Moment;
use crate::rows::{SummaryColumns, SummaryRow};
use crate::schema::vote_tallies;
use crate::statement::statement;
use crate::unit::PostgresUnit;
use crate::writes::requests::name_of;

statement! {
    /// Finds or adds the customer, adds the vote unless it is there, counts it, keeps the note, and
    /// returns the request, whether there was a voter and whether the vote was counted. Without such
    /// a request it does nothing and returns nothing. Parts that are absent are NULL.
    Cast {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: Moment => Timestamptz,
        customer: Option<Uuid> => Nullable<SqlUuid>,
        email: Option<String> => Nullable<Text>,
        email_folded: Option<String> => Nullable<Text>,
        name: Option<String> => Nullable<Text>,
        note: Option<Uuid> => Nullable<SqlUuid>,
        note_author: Option<Uuid> => Nullable<SqlUuid>,
        note_body: Option<String> => Nullable<Text>,
    } -> (SummaryColumns, Bool, Bool),
    "WITH request AS MATERIALIZED (
         SELECT feature_requests.id, tag_number, title, tracks.name AS track, lanes.name AS lane, created_at
         FROM feature_requests
         JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = lane_id
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = (SELECT coalesce({request},
             (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     ), known AS MATERIALIZED (
         SELECT id, name FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), added AS (
         INSERT INTO customers (workspace_id, id, email, email_folded, name, created_at)
         SELECT {workspace}, {customer}, {email}, {email_folded}, {name}, {at} FROM request
         WHERE {customer} IS NOT NULL AND NOT EXISTS (SELECT FROM known)
         ON CONFLICT (workspace_id, email_folded) DO UPDATE SET name = coalesce(customers.name, excluded.name)
         RETURNING id
     ), named AS (
         UPDATE customers SET name = {name}
         WHERE workspace_id = {workspace} AND id = (SELECT id FROM known WHERE name IS NULL)
           AND name IS NULL AND {name} IS NOT NULL AND EXISTS (SELECT FROM request)
     ), voter AS MATERIALIZED (
         SELECT id FROM known UNION ALL SELECT id FROM added
     ), vote AS (
         INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
         SELECT {workspace}, request.id, voter.id, true, {at} FROM request, voter
         ON CONFLICT (workspace_id, request_id, customer_id) DO NOTHING
         RETURNING request_id
     ), counted AS (
         UPDATE vote_tallies SET votes_count = votes_count + 1
         WHERE workspace_id = {workspace} AND request_id = (SELECT request_id FROM vote)
         RETURNING votes_count
     ), noted AS (
         INSERT INTO notes (workspace_id, id, request_id, customer_id, author_id, body, created_at)
         SELECT {workspace}, {note}, request.id, (SELECT id FROM voter), {note_author}, {note_body}, {at} FROM request
         WHERE {note} IS NOT NULL
     )
     SELECT id, tag_number, title, track, lane,
            coalesce(
                (SELECT votes_count FROM counted),
                (SELECT votes_count FROM vote_tallies WHERE workspace_id = {workspace} AND request_id = request.id)
            ),
            created_at, EXISTS (SELECT FROM voter), EXISTS (SELECT FROM counted)
     FROM request"
}

#[async_trait]
impl VoteWrites for PostgresUnit {
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError> {
        let Some((request, number)) = id_or_number(&vote.request) else { return Ok(None) };
        let (customer, note) = (vote.customer.as_ref(), vote.note.as_ref());
        let cast = Cast {
            workspace: self.workspace,
            request,
            number,
            at: vote.at.into(),
            customer: customer.map(|customer| customer.id.uuid()),
            email: customer.map(|customer| customer.email.as_str().to_owned()),
            email_folded: customer.map(|customer| customer.email.folded().as_str().to_owned()),
            name: customer.and_then(name_of),
            note: note.map(|note| note.id.uuid()),
            note_author: note.and_then(|note| note.author).map(|author| author.uuid()),
            note_body: note.map(|note| note.body.as_str().to_owned()),
        };
        let row: Option<(SummaryRow, bool, bool)> = self.run_optional(cast.get_result(&mut self.connection()?)).await?;
        let Some((mut request, has_voter, counted)) = row else { return Ok(None) };
        let outcome = match (has_voter, counted) {
            (false, _) => VoteOutcome::NoVoter,
            (true, true) => VoteOutcome::Registered,
            (true, false) => {
                // The vote may be one that was waited for: then it is newer than what the statement
                // saw, and only another statement sees the count with it.
                request.votes_count = self.votes_count(request.id).await?;
                VoteOutcome::AlreadyVoted
            }
        };
        Ok(Some(VoteCast { outcome, request: request.try_into()? }))
    }
}

impl PostgresUnit {
    async fn votes_count(&self, request: Uuid) -> Result<i64, StoreError> {
        let count = vote_tallies::table
            .filter(vote_tallies::workspace_id.eq(self.workspace))
            .filter(vote_tallies::request_id.eq(request))
            .select(vote_tallies::votes_count);
        self.run(count.first(&mut self.connection()?)).await
    }
}

/// How a statement takes the request that a client names; `None` when it names none.
pub(crate) fn id_or_number(request: &RequestRef) -> Option<(Option<Uuid>, Option<i64>)> {
    match *request {
        RequestRef::Id(id) => Some((Some(id.uuid()), None)),
        RequestRef::Number(number) => Some((None, Some(number))),
        RequestRef::Nothing => None,
    }
}
