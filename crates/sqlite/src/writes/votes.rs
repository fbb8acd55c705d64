//! Votes, their voters and their notes.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::text::Name;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::{NewVote, VoteCast, VoteOutcome};
use roadmap_domain::ports::VoteWrites;

use crate::codec::Id;
use crate::errors::SqlError;
use crate::rows::{SummaryRow, find_author, find_summary};
use crate::schema::{customers, notes, vote_tallies, votes};
use crate::unit::SqliteUnit;

#[async_trait]
impl VoteWrites for SqliteUnit {
    async fn cast_vote(&mut self, vote: &NewVote) -> Result<Option<VoteCast>, StoreError> {
        let vote = vote.clone();
        let cast = self.run(move |connection, workspace| cast(connection, workspace, &vote)).await?;
        cast.map(|(outcome, row)| Ok(VoteCast { outcome, request: row.try_into()? })).transpose()
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
        Some(customer) if insert_vote(connection, workspace, request.id, customer, vote.at)? => {
            request.votes_count = count_vote(connection, workspace, request.id)?;
            VoteOutcome::Registered
        }
        Some(_) => VoteOutcome::AlreadyVoted,
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

/// Inserts a vote and returns whether it is new. A repeated vote changes nothing.
fn insert_vote(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    customer: Id,
    at: Timestamp,
) -> Result<bool, SqlError> {
    let inserted = diesel::insert_into(votes::table)
        .values((
            votes::workspace_id.eq(workspace),
            votes::request_id.eq(request),
            votes::customer_id.eq(customer),
            votes::subscribed.eq(true),
            votes::created_at.eq(at.millis()),
        ))
        .on_conflict_do_nothing()
        .execute(connection)?;
    Ok(inserted == 1)
}

/// Increments the feature request's tally and returns it.
fn count_vote(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<i64, SqlError> {
    Ok(diesel::update(vote_tallies::table)
        .filter(vote_tallies::workspace_id.eq(workspace))
        .filter(vote_tallies::request_id.eq(request))
        .set(vote_tallies::votes_count.eq(vote_tallies::votes_count + 1))
        .returning(vote_tallies::votes_count)
        .get_result(connection)?)
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
                customers::created_at.eq(at.millis()),
            ))
            .execute(connection)?;
        return Ok(id);
    };
    if let (None, Some(name)) = (known_name, name) {
        diesel::update(customers::table)
            .filter(customers::workspace_id.eq(workspace))
            .filter(customers::id.eq(id))
            .set(customers::name.eq(name))
            .execute(connection)?;
    }
    Ok(id)
}
