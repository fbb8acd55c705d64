//! Votes of customers and voters of feature requests.

use crate::records::CustomerNameSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::{EmailAddress, FoldedEmail};
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::vote::{VoteCounts, Voter};
use roadmap_domain::ports::VoteReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{SummaryRow, VoterRow, vote_counts};

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::rows::{SummarySql, find_summary, placed_joins, placed_requests, summary_columns, summary_sql};
use crate::schema::{customers, feature_requests, votes};
use crate::statement::statement;
use crate::trees::{HasMerged, tree_members};
use crate::writes::merges::nameless_votes;

/// SQL for the distinct roots of the feature requests that a customer voted for.
macro_rules! voted_roots {
    () => {
        "SELECT DISTINCT votes.workspace_id, coalesce(vote_tallies.root_id, votes.request_id) AS root FROM votes
         CROSS JOIN vote_tallies ON vote_tallies.workspace_id = votes.workspace_id
                AND vote_tallies.request_id = votes.request_id
         WHERE votes.workspace_id = ? AND votes.customer_id = ?"
    };
}

statement! {
    /// Counts the distinct roots of the feature requests that a customer voted for.
    CountVotedRoots { workspace: Id => Binary, customer: Id => Binary } -> BigInt,
    concat!("SELECT count(*) FROM (", voted_roots!(), ")")
}

statement! {
    /// Selects the roots of the feature requests that a customer voted for, newest first.
    VotedRoots {
        workspace: Id => Binary, customer: Id => Binary, before: Id => Binary, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> SummarySql,
    concat!(
        "SELECT ", summary_sql!(), " FROM (", voted_roots!(), " AND root < ? ORDER BY root DESC LIMIT ? OFFSET ?) AS page
         CROSS JOIN feature_requests ON feature_requests.workspace_id = page.workspace_id
                AND feature_requests.id = page.root ", placed_joins!(), "
         ORDER BY feature_requests.id DESC"
    )
}

statement! {
    /// Selects the voters of the feature requests of a JSON array, each once, by the time of the first vote.
    VotersOfTree {
        workspace: Id => Binary, requests: String => Text, at: i64 => BigInt, before: Id => Binary,
        limit: i64 => BigInt, offset: i64 => BigInt,
    } -> (CustomerNameSql, BigInt),
    "WITH scope (workspace) AS (SELECT ?)
     SELECT customers.id, customers.name, customers.email, voter.voted_at
     FROM (SELECT votes.workspace_id, votes.customer_id, min(votes.created_at) AS voted_at
           FROM scope CROSS JOIN json_each(?) AS request
           CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = unhex(request.value)
           GROUP BY votes.customer_id HAVING (voted_at, votes.customer_id) < (?, ?)
           ORDER BY voted_at DESC, votes.customer_id DESC LIMIT ? OFFSET ?) AS voter
     CROSS JOIN customers ON customers.workspace_id = voter.workspace_id AND customers.id = voter.customer_id
     ORDER BY voter.voted_at DESC, customers.id DESC"
}

statement! {
    /// Selects the number of companies of the voters of a tree, and of its nameless votes.
    CountsOfVotes { workspace: Id => Binary, request: Id => Binary } -> (BigInt, BigInt),
    "WITH scope (workspace, request) AS (SELECT ?, ?)
     SELECT tally.companies_count, tally.nameless_votes + coalesce((
         SELECT sum(of_merged.nameless_votes) FROM feature_requests merged
         CROSS JOIN vote_tallies of_merged ON of_merged.row_number = merged.row_number
         WHERE merged.workspace_id = scope.workspace AND merged.root_id = scope.request
     ), 0)
     FROM scope CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
            AND tally.request_id = scope.request"
}

statement! {
    /// Selects the latest note about each customer of a JSON array on a feature request and on what is merged into it.
    NotesOfVoters { workspace: Id => Binary, request: Id => Binary, customers: String => Text } -> (Binary, Text),
    "WITH scope (workspace, request) AS (SELECT ?, ?),
     tree (id) AS (
         SELECT request FROM scope
         UNION ALL
         SELECT merged.id FROM scope CROSS JOIN feature_requests merged
             ON merged.workspace_id = scope.workspace AND merged.root_id = scope.request
     )
     SELECT customer, body FROM (
         SELECT notes.customer_id AS customer, notes.body AS body, row_number() OVER (
             PARTITION BY notes.customer_id ORDER BY notes.created_at DESC, notes.id DESC
         ) AS place
         FROM scope CROSS JOIN json_each(?) AS voter
         CROSS JOIN notes INDEXED BY notes_by_customer
             ON notes.workspace_id = scope.workspace AND notes.customer_id = unhex(voter.value)
         WHERE notes.request_id IN (SELECT id FROM tree)
     ) WHERE place = 1"
}

fn load_voted(
    connection: &mut SqliteConnection,
    workspace: Id,
    email: &FoldedEmail,
    page: PageRequest,
) -> Result<Page<SummaryRow>, SqlError> {
    let customer: Option<Id> = customers::table
        .filter(customers::workspace_id.eq(workspace))
        .filter(customers::email_folded.eq(email.as_str()))
        .select(customers::id)
        .first(connection)
        .optional()?;
    let Some(customer) = customer else { return Ok((Vec::new(), 0)) };
    let before = Id(page.before().1);
    if (HasMerged { workspace }).get_result::<bool>(connection)? {
        let total = CountVotedRoots { workspace, customer }.get_result(connection)?;
        let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
        let rows = VotedRoots { workspace, customer, before, limit: page.limit(), offset }.load(connection)?;
        return Ok((rows, total));
    }
    let total: i64 = votes::table
        .filter(votes::workspace_id.eq(workspace))
        .filter(votes::customer_id.eq(customer))
        .count()
        .get_result(connection)?;
    let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
    let rows: Vec<SummaryRow> =
        placed_requests()
            .inner_join(votes::table.on(
                votes::workspace_id.eq(feature_requests::workspace_id).and(votes::request_id.eq(feature_requests::id)),
            ))
            .filter(votes::workspace_id.eq(workspace))
            .filter(votes::customer_id.eq(customer))
            .filter(votes::request_id.lt(before))
            // Ids begin with the creation timestamp, and the index of a customer's votes is ordered by id. So
            // the page is read from the index without reading the other votes.
            .order(votes::request_id.desc())
            .select(summary_columns())
            .limit(page.limit())
            .offset(offset)
            .load(connection)?;
    Ok((rows, total))
}

fn load_voters(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    page: PageRequest,
) -> Result<Option<Page<VoterRow>>, SqlError> {
    let Some(request) = find_summary(connection, workspace, request)? else { return Ok(None) };
    let members = tree_members(connection, workspace, request.id)?;
    let total = request.votes_count - nameless_votes(connection, workspace, &members)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let (at, before) = page.before();
    let (at, before) = (at.millis(), Id(before));
    if members.len() > 1 {
        let voters = VotersOfTree { workspace, requests: json_ids(&members), at, before, limit: page.limit(), offset };
        return Ok(Some((voters.load(connection)?, total)));
    }
    let rows = votes::table
        .inner_join(
            customers::table
                .on(customers::workspace_id.eq(votes::workspace_id).and(customers::id.eq(votes::customer_id))),
        )
        .filter(votes::workspace_id.eq(workspace))
        .filter(votes::request_id.eq(request.id))
        .filter(votes::created_at.lt(at).or(votes::created_at.eq(at).and(votes::customer_id.lt(before))))
        .order((votes::created_at.desc(), votes::customer_id.desc()))
        .select(((customers::id, customers::name, customers::email), votes::created_at))
        .limit(page.limit())
        .offset(offset)
        .load(connection)?;
    Ok(Some((rows, total)))
}

#[async_trait]
impl VoteReader for SqliteStore {
    async fn voters(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Voter>>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load = move |connection: &mut SqliteConnection| load_voters(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, Voter::try_from)).transpose()
    }

    async fn notes_of_voters(
        &self,
        workspace: WorkspaceId,
        request: FeatureRequestId,
        customers: &[CustomerId],
    ) -> Result<Vec<(CustomerId, CleanHtml)>, StoreError> {
        let customers: Vec<Id> = customers.iter().map(|customer| Id(customer.uuid())).collect();
        let (workspace, request) = (Id(workspace.uuid()), Id(request.uuid()));
        let notes = NotesOfVoters { workspace, request, customers: json_ids(&customers) };
        let rows: Vec<(Id, String)> = self.readers.run(move |connection| Ok(notes.load(connection)?)).await?;
        Ok(rows
            .into_iter()
            .map(|(customer, body)| (CustomerId::new(customer.0), CleanHtml::from_stored(body)))
            .collect())
    }

    async fn vote_counts(&self, workspace: WorkspaceId, request: FeatureRequestId) -> Result<VoteCounts, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), Id(request.uuid()));
        let counts = CountsOfVotes { workspace, request };
        let counts: Option<(i64, i64)> =
            self.readers.run(move |connection| Ok(counts.get_result(connection).optional()?)).await?;
        Ok(counts.map(vote_counts).unwrap_or_default())
    }

    async fn voted_requests(
        &self,
        workspace: WorkspaceId,
        customer: &EmailAddress,
        page: PageRequest,
    ) -> Result<Listing<FeatureRequestSummary>, StoreError> {
        let workspace = Id(workspace.uuid());
        let email = customer.folded().clone();
        let load = move |connection: &mut SqliteConnection| load_voted(connection, workspace, &email, page);
        listing(self.readers.run_in_snapshot(load).await?, page, FeatureRequestSummary::try_from)
    }
}
