//! Writes that only imports make.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{OptionalExtension, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::ports::ImportWrites;
use roadmap_store::columns::Id;

use crate::errors::SqlError;
use crate::statement::statement;
use crate::unit::SqliteUnit;

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

statement! {
    /// Adds votes to the tally of a root.
    AddNamelessVotes { added: i64 => BigInt, workspace: Id => Binary, root: Id => Binary }
    "UPDATE vote_tallies SET votes_count = votes_count + ? WHERE workspace_id = ? AND request_id = ?"
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
    AddNamelessVotes { added: votes - before, workspace, root }.execute(connection)?;
    Ok(())
}

#[async_trait]
impl ImportWrites for SqliteUnit {
    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError> {
        let votes: Vec<(Id, i64)> =
            votes.iter().map(|(request, votes)| (Id(request.uuid()), (*votes).into())).collect();
        self.run(move |connection, workspace| {
            votes.iter().try_for_each(|(request, votes)| set_nameless_votes(connection, workspace, *request, *votes))
        })
        .await
    }
}
