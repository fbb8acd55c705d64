//! Votes, their voters and their notes.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Double, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::{FeatureRequestId, NoteId};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::{NewVote, VoteCast, VoteOutcome, VoteWithdrawn};
use roadmap_domain::policy::trending;
use roadmap_domain::ports::VoteWrites;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::SummaryRow;

use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::rows::{find_author, find_summary};
use crate::schema::{customers, notes};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::subscriptions::{delete_waiting_about, is_follower};

statement! {
    /// Inserts a vote, unless the customer has voted for the feature request or for one that is merged into it.
    InsertVote { workspace: Id => Binary, request: Id => Binary, customer: Id => Binary, at: i64 => BigInt }
    "WITH vote (workspace, request, customer, at) AS (SELECT ?, ?, ?, ?)
     INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
     SELECT workspace, request, customer, 1, at FROM vote
     WHERE NOT EXISTS (
         SELECT 1 FROM feature_requests merged
         CROSS JOIN votes ON votes.workspace_id = merged.workspace_id AND votes.request_id = merged.id
                AND votes.customer_id = vote.customer
         WHERE merged.workspace_id = vote.workspace AND merged.root_id = vote.request
     )
     ON CONFLICT DO NOTHING"
}

statement! {
    /// Deletes the votes of a customer for the feature requests of a JSON array. Returns when they were cast.
    DeleteVotes { workspace: Id => Binary, customer: Id => Binary, requests: String => Text } -> BigInt,
    "DELETE FROM votes WHERE workspace_id = ? AND customer_id = ?
       AND request_id IN (SELECT unhex(value) FROM json_each(?)) RETURNING created_at"
}

statement! {
    /// Adds votes, their weight and companies to the tally of a feature request. Returns the number of votes.
    AddVotes {
        votes: i64 => BigInt, weight: f64 => Double, companies: i64 => BigInt, workspace: Id => Binary,
        request: Id => Binary,
    } -> BigInt,
    "WITH added (votes, weight, companies) AS (SELECT ?, ?, ?)
     UPDATE vote_tallies SET votes_count = votes_count + added.votes,
         companies_count = companies_count + added.companies,
         trend = iif(votes_count + added.votes = 0, 0.0, max(trend + added.weight, 0.0))
     FROM added WHERE workspace_id = ? AND request_id = ? RETURNING votes_count"
}

statement! {
    /// Counts a voter of a feature request for the company, if there is one. Returns the number of its voters.
    AddCompanyVoter { request: Id => Binary, workspace: Id => Binary, customer: Id => Binary } -> BigInt,
    "INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
     SELECT workspace_id, ?, company, 1 FROM customer_companies WHERE workspace_id = ? AND customer_id = ?
     ON CONFLICT (workspace_id, request_id, company) DO UPDATE SET voters_count = voters_count + 1
     RETURNING voters_count"
}

statement! {
    /// Counts one voter of a feature request less for the company of a customer, if there is one. Returns the number of its
    /// voters, which may be 0, and the company.
    RemoveCompanyVoter { workspace: Id => Binary, customer: Id => Binary, request: Id => Binary } -> (BigInt, Text),
    "WITH of_voter (workspace, company) AS (
         SELECT workspace_id, company FROM customer_companies WHERE workspace_id = ? AND customer_id = ?
     )
     UPDATE company_tallies SET voters_count = voters_count - 1 FROM of_voter
     WHERE workspace_id = of_voter.workspace AND request_id = ? AND company_tallies.company = of_voter.company
     RETURNING voters_count, company_tallies.company"
}

statement! {
    /// Deletes the tally of a company.
    DeleteCompanyTally { workspace: Id => Binary, request: Id => Binary, company: String => Text }
    "DELETE FROM company_tallies WHERE workspace_id = ? AND request_id = ? AND company = ?"
}

#[async_trait]
impl VoteWrites for SqliteUnit {
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError> {
        let vote = vote.clone();
        let cast = self.run(move |connection, workspace| cast(connection, workspace, &vote)).await?;
        cast.map(|(outcome, row)| Ok(VoteCast { outcome, request: row.try_into()? })).transpose()
    }

    async fn withdraw_vote(
        &mut self,
        request: &FeatureRequestRef,
        customer: &FoldedEmail,
    ) -> Result<Option<VoteWithdrawn>, StoreError> {
        let (request, customer) = (*request, customer.clone());
        let withdrawn =
            self.run(move |connection, workspace| withdraw(connection, workspace, &request, &customer)).await?;
        withdrawn.map(|(vote_removed, row)| Ok(VoteWithdrawn { request: row.try_into()?, vote_removed })).transpose()
    }

    async fn delete_note(&mut self, note: NoteId) -> Result<Option<FeatureRequestId>, StoreError> {
        let request: Option<Id> = self
            .run(move |connection, workspace| {
                let note = notes::table.filter(notes::workspace_id.eq(workspace)).filter(notes::id.eq(Id(note.uuid())));
                Ok(diesel::delete(note).returning(notes::request_id).get_result(connection).optional()?)
            })
            .await?;
        Ok(request.map(|request| FeatureRequestId::new(request.0)))
    }
}

fn cast(
    connection: &mut SqliteConnection,
    workspace: Id,
    vote: &NewVote,
) -> Result<Option<(VoteOutcome, SummaryRow)>, SqlError> {
    let Some(mut request) = find_summary(connection, workspace, &vote.request)? else { return Ok(None) };
    let customer = match &vote.customer {
        Some(customer) => Some(find_or_insert_customer(connection, workspace, customer, vote.at)?),
        None => None,
    };
    let outcome = match customer {
        None => VoteOutcome::NoVoter,
        Some(customer) => {
            let insert = InsertVote { workspace, request: request.id, customer, at: vote.at.millis() };
            if insert.execute(connection)? == 1 {
                let weight = trending::weight(vote.at);
                let voters: Option<i64> =
                    AddCompanyVoter { request: request.id, workspace, customer }.get_result(connection).optional()?;
                let companies = i64::from(voters == Some(1));
                request.votes_count =
                    AddVotes { votes: 1, weight, companies, workspace, request: request.id }.get_result(connection)?;
                VoteOutcome::Registered
            } else {
                VoteOutcome::AlreadyVoted
            }
        }
    };
    if let Some(note) = &vote.note {
        let author = find_author(connection, workspace, &note.author)?;
        diesel::insert_into(notes::table)
            .values((
                notes::workspace_id.eq(workspace),
                notes::id.eq(Id(note.id.uuid())),
                notes::request_id.eq(request.id),
                notes::customer_id.eq(customer),
                notes::author_id.eq(author),
                notes::body.eq(note.body.as_str()),
                notes::created_at.eq(vote.at.millis()),
            ))
            .execute(connection)?;
    }
    Ok(Some((outcome, request)))
}

/// Withdraws the votes of a customer for the tree of a feature request. Returns whether there was one.
fn withdraw(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    customer: &FoldedEmail,
) -> Result<Option<(bool, SummaryRow)>, SqlError> {
    let Some(mut request) = find_summary(connection, workspace, request)? else { return Ok(None) };
    let Some(customer) = find_customer(connection, workspace, customer)? else { return Ok(Some((false, request))) };
    let requests = json_ids(&tree_members(connection, workspace, request.id)?);
    let withdrawn: Vec<i64> = DeleteVotes { workspace, customer, requests: requests.clone() }.load(connection)?;
    let Some(voted_at) = withdrawn.into_iter().min() else { return Ok(Some((false, request))) };
    let weight = -weight_of_vote(voted_at, request.id)?;
    let left: Option<(i64, String)> =
        RemoveCompanyVoter { workspace, customer, request: request.id }.get_result(connection).optional()?;
    let companies = match left {
        Some((0, company)) => {
            DeleteCompanyTally { workspace, request: request.id, company }.execute(connection)?;
            -1
        }
        _ => 0,
    };
    request.votes_count =
        AddVotes { votes: -1, weight, companies, workspace, request: request.id }.get_result(connection)?;
    if !is_follower(connection, workspace, customer, &requests)? {
        delete_waiting_about(connection, workspace, customer, &requests)?;
    }
    Ok(Some((true, request)))
}

/// Returns the weight of a vote that was cast at this time.
pub(crate) fn weight_of_vote(voted_at: i64, request: Id) -> Result<f64, SqlError> {
    Ok(trending::weight(TimestampColumn(voted_at).into_timestamp("votes", "created_at", request)?))
}

/// Returns the id of the customer with this address.
pub(crate) fn find_customer(
    connection: &mut SqliteConnection,
    workspace: Id,
    address: &FoldedEmail,
) -> Result<Option<Id>, SqlError> {
    Ok(customers::table
        .filter(customers::workspace_id.eq(workspace))
        .filter(customers::email_folded.eq(address.as_str()))
        .select(customers::id)
        .first(connection)
        .optional()?)
}

/// Returns the id of the customer with this address, and inserts the customer if it is new. A missing name is filled
/// in; a stored name is kept.
pub(crate) fn find_or_insert_customer(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: &NewCustomer,
    at: Timestamp,
) -> Result<Id, SqlError> {
    let name = customer.name.as_ref().map(Name::as_str);
    let known: Option<(Id, Option<String>)> = customers::table
        .filter(customers::workspace_id.eq(workspace))
        .filter(customers::email_folded.eq(customer.email.folded().as_str()))
        .select((customers::id, customers::name))
        .first(connection)
        .optional()?;
    let Some((id, known_name)) = known else {
        let id = Id(customer.id.uuid());
        diesel::insert_into(customers::table)
            .values((
                customers::workspace_id.eq(workspace),
                customers::id.eq(id),
                customers::email.eq(customer.email.as_str()),
                customers::email_folded.eq(customer.email.folded().as_str()),
                customers::name.eq(name),
                customers::name_folded.eq(name.map(str::to_lowercase)),
                customers::created_at.eq(at.millis()),
            ))
            .execute(connection)?;
        return Ok(id);
    };
    if let (None, Some(name)) = (known_name, name) {
        diesel::update(customers::table)
            .filter(customers::workspace_id.eq(workspace))
            .filter(customers::id.eq(id))
            .set((customers::name.eq(name), customers::name_folded.eq(name.to_lowercase())))
            .execute(connection)?;
    }
    Ok(id)
}
