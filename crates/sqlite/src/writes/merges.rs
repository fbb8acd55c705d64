//! Merges of feature requests.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::merging::MergeNode;
use roadmap_domain::ports::MergeWrites;
use roadmap_store::columns::Id;
use roadmap_store::rows::SummaryRow;

use crate::codec::json_ids;
use crate::deletions::DeleteCompanyTallies;
use crate::errors::SqlError;
use crate::rows::find_row;
use crate::schema::{feature_requests, vote_tallies};
use crate::statement::statement;
use crate::trees::tree_members;
use crate::unit::SqliteUnit;
use crate::writes::votes::weight_of_vote;

statement! {
    /// Selects what a feature request is merged into, nearest first.
    Ancestors { workspace: Id => Binary, request: Id => Binary } -> Binary,
    "WITH RECURSIVE scope (workspace, request) AS (SELECT ?, ?),
     ancestors (id, distance) AS (
         SELECT merged_into_id, 1 FROM scope CROSS JOIN feature_requests
             ON feature_requests.workspace_id = scope.workspace AND feature_requests.id = scope.request
         UNION ALL
         SELECT merged_into_id, distance + 1 FROM ancestors CROSS JOIN scope CROSS JOIN feature_requests
             ON feature_requests.workspace_id = scope.workspace AND feature_requests.id = ancestors.id
     )
     SELECT id FROM ancestors WHERE id IS NOT NULL ORDER BY distance"
}

statement! {
    /// Selects what is merged into a feature request, directly or not.
    Descendants { workspace: Id => Binary, request: Id => Binary } -> Binary,
    "WITH RECURSIVE scope (workspace, request) AS (SELECT ?, ?),
     descendants (id) AS (
         SELECT feature_requests.id FROM scope CROSS JOIN feature_requests
             ON feature_requests.workspace_id = scope.workspace AND merged_into_id = scope.request
         UNION ALL
         SELECT feature_requests.id FROM descendants CROSS JOIN scope CROSS JOIN feature_requests
             ON feature_requests.workspace_id = scope.workspace AND merged_into_id = descendants.id
     )
     SELECT id FROM descendants"
}

statement! {
    /// Links a feature request, or removes its link.
    SetParent { parent: Option<Id> => Nullable<Binary>, workspace: Id => Binary, request: Id => Binary }
    "UPDATE feature_requests SET merged_into_id = ? WHERE workspace_id = ? AND id = ?"
}

statement! {
    /// Sets the root of the feature requests of a JSON array.
    SetRoot { root: Option<Id> => Nullable<Binary>, workspace: Id => Binary, requests: String => Text }
    "UPDATE feature_requests SET root_id = ? WHERE workspace_id = ?
       AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Sets the time of the last change of the feature requests of a JSON array.
    SetUpdated { at: i64 => BigInt, workspace: Id => Binary, requests: String => Text }
    "UPDATE feature_requests SET updated_at = ? WHERE workspace_id = ?
       AND id IN (SELECT unhex(value) FROM json_each(?))"
}

statement! {
    /// Selects when each customer with a vote for a feature request of a JSON array has first voted.
    FirstVotes { workspace: Id => Binary, requests: String => Text } -> BigInt,
    "WITH scope (workspace) AS (SELECT ?)
     SELECT min(votes.created_at) FROM scope CROSS JOIN json_each(?) AS request
     CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = unhex(request.value)
     GROUP BY votes.customer_id"
}

statement! {
    /// Counts the nameless votes of the feature requests of a JSON array.
    NamelessVotes { workspace: Id => Binary, requests: String => Text } -> BigInt,
    "WITH scope (workspace) AS (SELECT ?)
     SELECT coalesce(sum(tally.nameless_votes), 0) FROM scope CROSS JOIN json_each(?) AS request
     CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace AND tally.request_id = unhex(request.value)"
}

statement! {
    /// Inserts the tallies of the companies of a root, from the votes for the feature requests of a JSON array.
    InsertCompanyTallies { workspace: Id => Binary, root: Id => Binary, requests: String => Text }
    "WITH scope (workspace, root) AS (SELECT ?, ?)
     INSERT INTO company_tallies (workspace_id, request_id, company, voters_count)
     SELECT scope.workspace, scope.root, of_voter.company, count(DISTINCT votes.customer_id)
     FROM scope CROSS JOIN json_each(?) AS request
     CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = unhex(request.value)
     CROSS JOIN customer_companies of_voter
             ON of_voter.workspace_id = scope.workspace AND of_voter.customer_id = votes.customer_id
     GROUP BY of_voter.company"
}

statement! {
    /// Sets again what the feature requests of a JSON array need from the team.
    RefreshAttention { workspace: Id => Binary, requests: String => Text }
    "UPDATE feature_requests SET attention = (
         SELECT attention FROM feature_request_attention AS of_request
         WHERE of_request.row_number = feature_requests.row_number
     )
     WHERE workspace_id = ? AND id IN (SELECT unhex(value) FROM json_each(?))"
}

/// Returns the number of nameless votes of a tree.
pub(crate) fn nameless_votes(
    connection: &mut SqliteConnection,
    workspace: Id,
    members: &[Id],
) -> Result<i64, SqlError> {
    Ok(NamelessVotes { workspace, requests: json_ids(members) }.get_result(connection)?)
}

/// Returns what is merged into a feature request, directly or not.
pub(crate) fn descendants(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<Vec<Id>, SqlError> {
    Ok(Descendants { workspace, request }.load(connection)?)
}

/// Counts the votes of the tree of a root and their companies again, and sets what it needs from the team.
pub(crate) fn recount(connection: &mut SqliteConnection, workspace: Id, root: Id) -> Result<(), SqlError> {
    let members = tree_members(connection, workspace, root)?;
    let nameless = nameless_votes(connection, workspace, &members)?;
    let requests = json_ids(&members);
    let first_votes: Vec<i64> = FirstVotes { workspace, requests: requests.clone() }.load(connection)?;
    let mut trend = 0.0;
    for voted_at in &first_votes {
        trend += weight_of_vote(*voted_at, root)?;
    }
    let voters = i64::try_from(first_votes.len()).unwrap_or(i64::MAX);
    DeleteCompanyTallies { workspace, requests: json_ids(&[root]) }.execute(connection)?;
    let companies = InsertCompanyTallies { workspace, root, requests }.execute(connection)?;
    let companies = i64::try_from(companies).unwrap_or(i64::MAX);
    diesel::update(vote_tallies::table)
        .filter(vote_tallies::workspace_id.eq(workspace))
        .filter(vote_tallies::request_id.eq(root))
        .set((
            vote_tallies::votes_count.eq(voters.saturating_add(nameless)),
            vote_tallies::companies_count.eq(companies),
            vote_tallies::trend.eq(trend),
        ))
        .execute(connection)?;
    RefreshAttention { workspace, requests: json_ids(&[root]) }.execute(connection)?;
    Ok(())
}

/// Returns the root of the tree of a feature request, if it is merged.
pub(crate) fn root_of(connection: &mut SqliteConnection, workspace: Id, request: Id) -> Result<Option<Id>, SqlError> {
    let root: Option<Option<Id>> = vote_tallies::table
        .filter(vote_tallies::workspace_id.eq(workspace))
        .filter(vote_tallies::request_id.eq(request))
        .select(vote_tallies::root_id)
        .first(connection)
        .optional()?;
    Ok(root.flatten())
}

#[async_trait]
impl MergeWrites for SqliteUnit {
    async fn find_merge_node(&mut self, request: &FeatureRequestRef) -> Result<Option<MergeNode>, StoreError> {
        type Node = (SummaryRow, bool, Vec<Id>, usize);
        let request = *request;
        let node: Option<Node> = self
            .run(move |connection, workspace| {
                let Some((row, _)) = find_row(connection, workspace, &request)? else { return Ok(None) };
                let private: bool = feature_requests::table
                    .filter(feature_requests::workspace_id.eq(workspace))
                    .filter(feature_requests::id.eq(row.id))
                    .select(feature_requests::private)
                    .first(connection)?;
                let ancestors = Ancestors { workspace, request: row.id }.load(connection)?;
                let descendants = descendants(connection, workspace, row.id)?.len();
                Ok(Some((row, private, ancestors, descendants)))
            })
            .await?;
        let Some((row, private, ancestors, descendants)) = node else { return Ok(None) };
        let ancestors = ancestors.into_iter().map(|id| FeatureRequestId::new(id.0)).collect();
        Ok(Some(MergeNode { request: row.try_into()?, private, ancestors, descendants: descendants as u64 }))
    }

    async fn link_feature_request(
        &mut self,
        source: FeatureRequestId,
        target: FeatureRequestId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (source, target, at) = (Id(source.uuid()), Id(target.uuid()), at.millis());
        self.run(move |connection, workspace| {
            let moved = json_ids(&tree_members(connection, workspace, source)?);
            SetParent { parent: Some(target), workspace, request: source }.execute(connection)?;
            SetRoot { root: Some(target), workspace, requests: moved }.execute(connection)?;
            SetUpdated { at, workspace, requests: json_ids(&[source, target]) }.execute(connection)?;
            RefreshAttention { workspace, requests: json_ids(&[source]) }.execute(connection)?;
            recount(connection, workspace, target)
        })
        .await
    }

    async fn unlink_feature_request(&mut self, source: FeatureRequestId, at: Timestamp) -> Result<(), StoreError> {
        let (source, at) = (Id(source.uuid()), at.millis());
        self.run(move |connection, workspace| {
            let Some(root) = root_of(connection, workspace, source)? else { return Ok(()) };
            let merged = json_ids(&descendants(connection, workspace, source)?);
            SetParent { parent: None, workspace, request: source }.execute(connection)?;
            SetRoot { root: None, workspace, requests: json_ids(&[source]) }.execute(connection)?;
            SetRoot { root: Some(source), workspace, requests: merged }.execute(connection)?;
            SetUpdated { at, workspace, requests: json_ids(&[source, root]) }.execute(connection)?;
            recount(connection, workspace, source)?;
            recount(connection, workspace, root)
        })
        .await
    }
}
