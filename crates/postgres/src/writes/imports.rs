//! Writes that only imports make.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::ports::ImportWrites;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Selects the roots of the trees of feature requests.
    RootsOf { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> SqlUuid,
    "SELECT DISTINCT coalesce(root_id, id) AS root FROM feature_requests
     WHERE workspace_id = {workspace} AND id = ANY ({requests}) ORDER BY root"
}

statement! {
    /// Sets the nameless votes of feature requests.
    SetNamelessVotes {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        votes: Vec<i64> => Array<BigInt>,
    } -> Untyped,
    "UPDATE vote_tallies SET nameless_votes = given.votes
     FROM unnest({requests}, {votes}) AS given (request, votes)
     WHERE workspace_id = {workspace} AND request_id = given.request"
}

#[async_trait]
impl ImportWrites for PostgresUnit {
    async fn set_nameless_votes(&mut self, votes: &[(FeatureRequestId, u32)]) -> Result<(), StoreError> {
        let (requests, votes): (Vec<Uuid>, Vec<i64>) =
            votes.iter().map(|(request, votes)| (request.uuid(), i64::from(*votes))).unzip();
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let roots = RootsOf { workspace: self.workspace, requests: requests.clone() };
        let roots: Vec<Uuid> = self.run(roots.load(&mut self.connection()?)).await?;
        let Some(first) = roots.iter().copied().next() else { return Ok(()) };
        self.lock_trees(roots.clone(), first, Vec::new()).await?;
        let set = SetNamelessVotes { workspace: self.workspace, requests, votes };
        self.run(set.execute(&mut self.connection()?)).await?;
        self.count_trees(roots).await
    }
}
