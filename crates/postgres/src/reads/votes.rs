//! Votes of customers and voters of feature requests.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::vote::{VoteCounts, Voter};
use roadmap_domain::ports::VoteReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{SummaryRow, VoterRow, vote_counts};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, existing_listing, listing};
use crate::rows::{CustomerNameColumns, SummaryColumns};
use crate::statement::{id_or_number, placed, resolved, statement, summary};

/// The types of a voter, and of the timestamp of the vote.
pub(crate) type VoterColumns = (CustomerNameColumns, Timestamptz);
statement! {
    /// Selects the number of feature requests that a customer has voted for, with a page of them. Ids begin with the
    /// creation timestamp, and the index of a customer's votes is ordered by id. So the page is read from the index
    /// without reading the other votes, unless the workspace has merged feature requests.
    VotedRequestsPage {
        workspace: Uuid => SqlUuid,
        email_folded: String => Text,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<SummaryColumns>),
    concat!("WITH customer AS MATERIALIZED (
         SELECT id FROM customers WHERE workspace_id = {workspace} AND email_folded = {email_folded}
     ), merges AS MATERIALIZED (
         SELECT EXISTS (SELECT FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL) AS exist
     ), voted AS MATERIALIZED (
         SELECT DISTINCT coalesce(vote_tallies.root_id, votes.request_id) AS request_id FROM votes
         JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = votes.request_id
         WHERE votes.workspace_id = {workspace} AND votes.customer_id = (SELECT id FROM customer)
           AND (SELECT exist FROM merges)
     ), total AS (
         SELECT CASE WHEN (SELECT exist FROM merges) THEN (SELECT count(*) FROM voted)
                ELSE (SELECT count(*) FROM votes
                      WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)) END AS total
     ), page AS MATERIALIZED (
         (SELECT request_id FROM votes
          WHERE workspace_id = {workspace} AND customer_id = (SELECT id FROM customer)
            AND NOT (SELECT exist FROM merges) AND request_id < {before}
          ORDER BY request_id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT request_id FROM voted WHERE request_id < {before} ORDER BY request_id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT ", summary!(), " FROM page
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = page.request_id
         ", placed!(), "
     )
     SELECT total, listed.* FROM total LEFT JOIN listed ON true ORDER BY listed.id DESC")
}

statement! {
    /// Selects the number of voters of a feature request, with a page of them. Returns no row if the feature request
    /// does not exist. A voter of several merged feature requests is listed once. Without merges, the page is read from
    /// the index.
    VotersPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        before: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<VoterColumns>),
    concat!("WITH request AS MATERIALIZED (
         SELECT feature_requests.id, votes_count FROM feature_requests
         JOIN vote_tallies ON vote_tallies.workspace_id = feature_requests.workspace_id
                          AND vote_tallies.request_id = feature_requests.id
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ", resolved!(), "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id FROM request
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
     ), page AS MATERIALIZED (
         (SELECT customer_id, created_at FROM votes
          WHERE workspace_id = {workspace} AND request_id = (SELECT id FROM request)
            AND NOT EXISTS (SELECT FROM merged) AND (created_at, customer_id) < ({at}, {before})
          ORDER BY created_at DESC, customer_id DESC LIMIT {limit} OFFSET {offset})
         UNION ALL
         (SELECT customer_id, min(created_at) AS created_at
          FROM (SELECT id FROM request UNION ALL SELECT id FROM merged) AS members
          JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
          WHERE EXISTS (SELECT FROM merged)
          GROUP BY customer_id HAVING (min(created_at), customer_id) < ({at}, {before})
          ORDER BY 2 DESC, customer_id DESC LIMIT {limit} OFFSET {offset})
     ), listed AS (
         SELECT customers.id, name, email, page.created_at
         FROM page JOIN customers ON customers.workspace_id = {workspace} AND customers.id = page.customer_id
     )
     SELECT votes_count - nameless_votes({workspace}, request.id), listed.* FROM request LEFT JOIN listed ON true
     ORDER BY listed.created_at DESC, listed.id DESC")
}

statement! {
    /// Selects the latest note about each of these customers on a feature request and on what is merged into it.
    NotesOfVoters { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, customers: Vec<Uuid> => Array<SqlUuid> }
        -> (SqlUuid, Text),
    "SELECT voter.id, note.body FROM unnest({customers}) AS voter (id)
     CROSS JOIN LATERAL (
         SELECT body FROM notes
         WHERE workspace_id = {workspace} AND customer_id = voter.id AND request_id IN (
             SELECT {request} UNION ALL
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id = {request}
         )
         ORDER BY created_at DESC, id DESC LIMIT 1
     ) AS note"
}

statement! {
    /// Selects the number of companies of the voters of a tree, and of its nameless votes.
    CountsOfVotes { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid } -> (BigInt, BigInt),
    "SELECT companies_count, nameless_votes({workspace}, {request}) FROM vote_tallies
     WHERE workspace_id = {workspace} AND request_id = {request}"
}

#[async_trait]
impl VoteReader for PostgresReader {
    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, before) = page.before();
        let voters = VotersPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            before,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<VoterRow>)> = session.run(voters.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, Voter::try_from)
    }

    async fn notes_of_voters(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        customers: &[CustomerId],
    ) -> Result<Vec<(CustomerId, CleanHtml)>, StoreError> {
        let session = self.session(workspace).await?;
        let notes = NotesOfVoters {
            workspace: workspace.uuid(),
            request: request.uuid(),
            customers: customers.iter().map(|customer| customer.uuid()).collect(),
        };
        let rows: Vec<(Uuid, String)> = session.run(notes.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(|(customer, body)| (CustomerId::new(customer), CleanHtml::from_stored(body))).collect())
    }

    async fn vote_counts(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<VoteCounts, StoreError> {
        let session = self.session(workspace).await?;
        let counts = CountsOfVotes { workspace: workspace.uuid(), request: request.uuid() };
        let counts: Option<(i64, i64)> = session.run_optional(counts.get_result(&mut session.connection()?)).await?;
        Ok(counts.map(vote_counts).unwrap_or_default())
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        let session = self.session(workspace).await?;
        let votes = VotedRequestsPage {
            workspace: workspace.uuid(),
            email_folded: customer.folded().as_str().to_owned(),
            before: page.before().1,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<SummaryRow>)> = session.run(votes.load(&mut session.connection()?)).await?;
        listing(rows, page, FeatureRequestSummary::try_from)
    }
}
