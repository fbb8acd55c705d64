//! Writes that only imports make.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{OptionalExtension, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::customer::NewCustomer;
use roadmap_domain::model::id::{CustomerId, FeatureRequestId};
use roadmap_domain::model::import::{ImportedRequest, ImportedVote};
use roadmap_domain::model::mail::NO_MAILBOX;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::trending;
use roadmap_domain::ports::ImportWrites;
use roadmap_store::columns::Id;
use uuid::Uuid;

use crate::errors::SqlError;
use crate::outbox_queue::stop_mail;
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::merges::recount;
use crate::writes::requests::insert;
use crate::writes::votes::{AddCompanyVoter, AddVotes, find_or_insert_customer};

statement! {
    /// Inserts a vote for a feature request itself, also if it is merged.
    ImportVote {
        workspace: Id => Binary, request: Id => Binary, customer: Id => Binary, subscribed: bool => Bool,
        at: i64 => BigInt,
    }
    "INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO NOTHING"
}

statement! {
    /// Selects how many nameless votes a feature request has, and the root of its tree.
    NamelessVotesOf { workspace: Id => Binary, request: Id => Binary } -> (BigInt, Binary),
    "SELECT nameless_votes, coalesce(root_id, request_id) FROM vote_tallies WHERE workspace_id = ? AND request_id = ?"
}

statement! {
    /// Sets the nameless votes of a feature request.
    SetNamelessVotes { votes: i64 => BigInt, workspace: Id => Binary, request: Id => Binary }
    "UPDATE vote_tallies SET nameless_votes = ? WHERE workspace_id = ? AND request_id = ?"
}

/// The new votes for a feature request that is not merged.
#[derive(Default)]
struct Added {
    votes: i64,
    weight: f64,
    companies: i64,
}

fn import_customer(
    connection: &mut SqliteConnection,
    workspace: Id,
    customer: &NewCustomer,
    at: Timestamp,
) -> Result<CustomerId, SqlError> {
    let id = find_or_insert_customer(connection, workspace, customer, at)?;
    if id.0 == customer.id.uuid() && !customer.email.folded().has_mailbox() {
        stop_mail(connection, workspace, id, at.millis(), NO_MAILBOX)?;
    }
    Ok(CustomerId::new(id.0))
}

fn import_requests(
    connection: &mut SqliteConnection,
    workspace: Id,
    requests: &[ImportedRequest],
) -> Result<i64, SqlError> {
    let mut first = None;
    for ImportedRequest { request, nameless_votes } in requests {
        let number = insert(connection, workspace, request, (*nameless_votes).into())?;
        first.get_or_insert(number);
    }
    Ok(first.unwrap_or_default())
}

/// Returns the root of a feature request if anything is merged in its tree.
fn merged_root(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<Option<Uuid>, SqlError> {
    let (_, root): (i64, Id) = NamelessVotesOf { workspace, request }.get_result(connection)?;
    Ok((tree_members(connection, workspace, root)?.len() > 1).then_some(root.0))
}

fn import_votes(connection: &mut SqliteConnection, workspace: Id, votes: &[ImportedVote]) -> Result<u64, SqlError> {
    let mut trees: BTreeMap<Uuid, Option<Uuid>> = BTreeMap::new();
    let mut recounted = BTreeSet::new();
    let mut counted: BTreeMap<Uuid, Added> = BTreeMap::new();
    let mut new = 0;
    for ImportedVote { request, customer, is_subscribed, at } in votes {
        let (request, customer) = (Id(request.uuid()), Id(customer.uuid()));
        let vote = ImportVote { workspace, request, customer, subscribed: *is_subscribed, at: at.millis() };
        if vote.execute(connection)? == 0 {
            continue;
        }
        new += 1;
        let root = match trees.get(&request.0) {
            Some(root) => *root,
            None => {
                let root = merged_root(connection, workspace, request)?;
                trees.insert(request.0, root);
                root
            }
        };
        if let Some(root) = root {
            recounted.insert(root);
            continue;
        }
        let voters: Option<i64> = AddCompanyVoter { request, workspace, customer }.get_result(connection).optional()?;
        let added = counted.entry(request.0).or_default();
        added.votes += 1;
        added.weight += trending::weight(*at);
        added.companies += i64::from(voters == Some(1));
    }
    for (request, Added { votes, weight, companies }) in counted {
        let add = AddVotes { votes, weight, companies, workspace, request: Id(request) };
        let _: i64 = add.get_result(connection)?;
    }
    for root in recounted {
        recount(connection, workspace, Id(root))?;
    }
    Ok(new)
}

fn set_nameless_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
    votes: i64,
) -> Result<(), SqlError> {
    let found: Option<(i64, Id)> = NamelessVotesOf { workspace, request }.get_result(connection).optional()?;
    let Some((before, root)) = found else { return Ok(()) };
    SetNamelessVotes { votes, workspace, request }.execute(connection)?;
    let add = AddVotes { votes: votes - before, weight: 0.0, companies: 0, workspace, request: root };
    let _: i64 = add.get_result(connection)?;
    Ok(())
}

#[async_trait]
impl ImportWrites for SqliteUnit {
    async fn import_customers(
        &mut self,
        customers: &[(NewCustomer, Timestamp)],
    ) -> Result<Vec<CustomerId>, StoreError> {
        let customers = customers.to_vec();
        self.run(move |connection, workspace| {
            customers.iter().map(|(customer, at)| import_customer(connection, workspace, customer, *at)).collect()
        })
        .await
    }

    async fn import_feature_requests(&mut self, requests: &[ImportedRequest]) -> Result<i64, StoreError> {
        let requests = requests.to_vec();
        self.run(move |connection, workspace| import_requests(connection, workspace, &requests)).await
    }

    async fn import_votes(&mut self, votes: &[ImportedVote]) -> Result<u64, StoreError> {
        let votes = votes.to_vec();
        self.run(move |connection, workspace| import_votes(connection, workspace, &votes)).await
    }

    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError> {
        let votes = votes.to_vec();
        self.run(move |connection, workspace| {
            votes.iter().try_for_each(|(request, votes)| {
                set_nameless_votes(connection, workspace, Id(request.uuid()), (*votes).into())
            })
        })
        .await
    }
}
