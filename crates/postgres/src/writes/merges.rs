//! Merges of feature requests, and their deletion, which changes trees of merged feature requests, too. Those of customers
//! are in `customers.rs`.
//!
//! Merges, unmerges and deletions of a workspace run one after the other. A vote waits only for those that change the
//! tally that it changes.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestRef, FeatureRequestSummary};
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::policy::merging::MergeNode;
use roadmap_domain::ports::MergeWrites;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::SummaryRow;
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::SummaryColumns;
use crate::statement::{id_or_number, placed, statement, summary};
use crate::unit::PostgresUnit;

statement! {
    /// Locks the feature request that a reference names, also a merged one, against other changes.
    LockMergeNode {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> Untyped,
    "SELECT FROM feature_requests WHERE workspace_id = {workspace} AND id = (SELECT coalesce({request},
         (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     FOR NO KEY UPDATE"
}

statement! {
    /// Selects a feature request itself, even if it is merged: its summary, whether it is private, its ancestors, nearest
    /// first, and the number of its descendants.
    FindMergeNode {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> (SummaryColumns, Bool, Array<SqlUuid>, BigInt),
    concat!("WITH RECURSIVE node AS MATERIALIZED (
         SELECT ", summary!(), ", feature_requests.private, merged_into_id
         FROM feature_requests ", placed!(), "
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = (SELECT coalesce({request},
             (SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND tag_number = {number})))
     ), ancestors AS (
         SELECT merged_into_id AS id, 1 AS distance FROM node WHERE merged_into_id IS NOT NULL
         UNION ALL
         SELECT feature_requests.merged_into_id, distance + 1 FROM ancestors
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = ancestors.id
         WHERE feature_requests.merged_into_id IS NOT NULL
     ), descendants AS (
         SELECT feature_requests.id FROM node
         JOIN feature_requests ON feature_requests.workspace_id = {workspace}
                              AND feature_requests.merged_into_id = node.id
         UNION ALL
         SELECT feature_requests.id FROM descendants
         JOIN feature_requests ON feature_requests.workspace_id = {workspace}
                              AND feature_requests.merged_into_id = descendants.id
     )
     SELECT id, tag_number, title, track, lane, votes_count, created_at, private,
            ARRAY(SELECT id FROM ancestors ORDER BY distance), (SELECT count(*) FROM descendants)
     FROM node")
}

statement! {
    /// Selects a feature request with its descendants, and the root of its tree if it is merged.
    SelectSubtree { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid } -> (Array<SqlUuid>, Nullable<SqlUuid>),
    "WITH RECURSIVE subtree AS (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = {request}
         UNION ALL
         SELECT feature_requests.id FROM subtree
         JOIN feature_requests ON feature_requests.workspace_id = {workspace}
                              AND feature_requests.merged_into_id = subtree.id
     )
     SELECT ARRAY(SELECT id FROM subtree), root_id FROM feature_requests
     WHERE workspace_id = {workspace} AND id = {request}"
}

statement! {
    /// Locks the feature requests of trees, their tallies and those of their tracks. One of the tallies is locked first.
    /// Feature requests to be deleted are locked against votes, too.
    LockTrees {
        workspace: Uuid => SqlUuid,
        roots: Vec<Uuid> => Array<SqlUuid>,
        first: Uuid => SqlUuid,
        deleting: Vec<Uuid> => Array<SqlUuid>,
    } -> Untyped,
    "SELECT lock_trees({workspace}, {roots}, {first}, {deleting})"
}

statement! {
    /// Counts the votes of trees again and changes their versions.
    CountTrees { workspace: Uuid => SqlUuid, roots: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "SELECT count_trees({workspace}, {roots})"
}

statement! {
    /// Sets again what feature requests need from the team.
    RefreshAttention { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "SELECT refresh_attention({workspace}, {requests})"
}

statement! {
    /// Sets the root of a subtree, and what the feature request at its top is merged into. Without a root, that feature
    /// request becomes the root.
    SetRoot {
        workspace: Uuid => SqlUuid,
        top: Uuid => SqlUuid,
        subtree: Vec<Uuid> => Array<SqlUuid>,
        root: Option<Uuid> => Nullable<SqlUuid>,
        at: TimestampColumn => Timestamptz,
    } -> Untyped,
    "UPDATE feature_requests
     SET root_id = CASE WHEN id = {top} THEN {root} ELSE coalesce({root}, {top}) END,
         merged_into_id = CASE WHEN id = {top} THEN {root} ELSE merged_into_id END,
         updated_at = CASE WHEN id = {top} THEN {at} ELSE updated_at END,
         was_merged = true
     WHERE workspace_id = {workspace} AND id = ANY ({subtree})"
}

statement! {
    /// Marks what a feature request was merged into, or unmerged from.
    MarkTarget { workspace: Uuid => SqlUuid, request: Uuid => SqlUuid, at: TimestampColumn => Timestamptz } -> Untyped,
    "UPDATE feature_requests SET updated_at = {at}, was_merged = true
     WHERE workspace_id = {workspace} AND id = {request}"
}

/// SQL that deletes the unsent messages about the common table expression `topics`. Those held for a digest that was sent
/// were sent with it.
macro_rules! delete_messages_about {
    () => {
        "DELETE FROM outbox USING topics CROSS JOIN LATERAL (VALUES (topic), ('audience.' || topic)) AS message (prefix)
     WHERE outbox.workspace_id = {workspace} AND sent_at IS NULL
       AND outbox.id COLLATE \"C\" >= prefix AND outbox.id COLLATE \"C\" < prefix || '/'
       AND NOT EXISTS (SELECT FROM outbox digest WHERE digest.workspace_id = {workspace}
                       AND digest.id = outbox.digest_id AND digest.sent_at IS NOT NULL)"
    };
}
pub(crate) use delete_messages_about;

statement! {
    /// Deletes the unsent messages about feature requests: about their comments and about changes of their status. Those
    /// held for a digest are sent with it.
    DeleteMessages { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    concat!("WITH topics AS MATERIALIZED (
         SELECT id::text AS topic FROM comments WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
         UNION ALL
         SELECT 'status.' || id FROM feature_request_events
         WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ) ", delete_messages_about!())
}

statement! {
    /// Deletes feature requests with everything that belongs to them. The foreign keys are checked at the end.
    DeleteRequests { workspace: Uuid => SqlUuid, requests: Vec<Uuid> => Array<SqlUuid> } -> Untyped,
    "WITH votes AS (
         DELETE FROM votes WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), followers AS (
         DELETE FROM followers WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), comments AS (
         DELETE FROM comments WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), held AS (
         DELETE FROM held_comments WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), notes AS (
         DELETE FROM notes WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), events AS (
         DELETE FROM feature_request_events WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), issues AS (
         DELETE FROM links WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), changelogs AS (
         DELETE FROM changelog_feature_requests WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), documents AS (
         DELETE FROM search_documents WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), tags AS (
         DELETE FROM feature_request_tags WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), companies AS (
         DELETE FROM company_tallies WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     ), tallies AS (
         DELETE FROM vote_tallies WHERE workspace_id = {workspace} AND request_id = ANY ({requests})
     )
     DELETE FROM feature_requests WHERE workspace_id = {workspace} AND id = ANY ({requests})"
}

#[async_trait]
impl MergeWrites for PostgresUnit {
    async fn find_merge_node(&mut self, request: &FeatureRequestRef) -> Result<Option<MergeNode>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        self.lock_workspace(WorkspaceLock::Merges).await?;
        // Before it is read, because a merge depends on whether it is private.
        let lock = LockMergeNode { workspace: self.workspace, request, number };
        self.run(lock.execute(&mut self.connection()?)).await?;
        let find = FindMergeNode { workspace: self.workspace, request, number };
        let row: Option<(SummaryRow, bool, Vec<Uuid>, i64)> =
            self.run_optional(find.get_result(&mut self.connection()?)).await?;
        let Some((summary, private, ancestors, descendants)) = row else { return Ok(None) };
        Ok(Some(MergeNode {
            request: FeatureRequestSummary::try_from(summary)?,
            private,
            ancestors: ancestors.into_iter().map(FeatureRequestId::new).collect(),
            descendants: descendants.unsigned_abs(),
        }))
    }

    async fn link_feature_request(
        &mut self,
        source: FeatureRequestId,
        target: FeatureRequestId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let (source, target) = (source.uuid(), target.uuid());
        self.lock_workspace(WorkspaceLock::Merges).await?;
        self.lock_trees(vec![source, target], target, Vec::new()).await?;
        let Some((subtree, _)) = self.subtree(source).await? else { return Ok(()) };
        self.set_root(source, subtree, Some(target), at).await?;
        self.mark_target(target, at).await?;
        self.refresh_attention(vec![source]).await?;
        self.count_trees(vec![target]).await
    }

    async fn unlink_feature_request(&mut self, source: FeatureRequestId, at: Timestamp) -> Result<(), StoreError> {
        let source = source.uuid();
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let Some((subtree, Some(root))) = self.subtree(source).await? else { return Ok(()) };
        self.lock_trees(vec![root], source, Vec::new()).await?;
        self.set_root(source, subtree, None, at).await?;
        self.mark_target(root, at).await?;
        self.count_trees(vec![source, root]).await
    }
}

impl PostgresUnit {
    /// Deletes a feature request and everything that is merged into it.
    pub(crate) async fn delete_tree(&mut self, request: Uuid) -> Result<(), StoreError> {
        self.lock_workspace(WorkspaceLock::Merges).await?;
        let Some((subtree, root)) = self.subtree(request).await? else { return Ok(()) };
        self.lock_trees(vec![root.unwrap_or(request)], request, subtree.clone()).await?;
        let messages = DeleteMessages { workspace: self.workspace, requests: subtree.clone() };
        self.run(messages.execute(&mut self.connection()?)).await?;
        let requests = DeleteRequests { workspace: self.workspace, requests: subtree };
        self.run(requests.execute(&mut self.connection()?)).await?;
        match root {
            Some(root) => self.count_trees(vec![root]).await,
            None => Ok(()),
        }
    }

    async fn subtree(&self, request: Uuid) -> Result<Option<(Vec<Uuid>, Option<Uuid>)>, StoreError> {
        let select = SelectSubtree { workspace: self.workspace, request };
        self.run_optional(select.get_result(&mut self.connection()?)).await
    }

    /// Locks trees, the tally of one feature request first, and those to be deleted against votes, too.
    pub(crate) async fn lock_trees(
        &self,
        roots: Vec<Uuid>,
        first: Uuid,
        deleting: Vec<Uuid>,
    ) -> Result<(), StoreError> {
        let lock = LockTrees { workspace: self.workspace, roots, first, deleting };
        self.run(lock.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// Counts the votes of trees again, and sets what their roots need from the team.
    pub(crate) async fn count_trees(&self, roots: Vec<Uuid>) -> Result<(), StoreError> {
        self.refresh_attention(roots.clone()).await?;
        let count = CountTrees { workspace: self.workspace, roots };
        self.run(count.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    /// Sets again what feature requests need from the team.
    pub(super) async fn refresh_attention(&self, requests: Vec<Uuid>) -> Result<(), StoreError> {
        let refresh = RefreshAttention { workspace: self.workspace, requests };
        self.run(refresh.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn set_root(
        &self,
        top: Uuid,
        subtree: Vec<Uuid>,
        root: Option<Uuid>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let set = SetRoot { workspace: self.workspace, top, subtree, root, at: at.into() };
        self.run(set.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn mark_target(&self, request: Uuid, at: Timestamp) -> Result<(), StoreError> {
        let mark = MarkTarget { workspace: self.workspace, request, at: at.into() };
        self.run(mark.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
