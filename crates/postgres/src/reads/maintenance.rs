//! Maintenance of stored data, and the health check.

use std::collections::BTreeMap;

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::{RunQueryDsl, SimpleAsyncConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, UnusedAttachment};
use roadmap_domain::model::customer::DoubleAddresses;
use roadmap_domain::model::id::{
    AttachmentId, ExportId, FeatureRequestId, ImportId, LinkSourceId, WebhookId, WorkspaceId,
};
use roadmap_domain::model::import::upload::{JobId, OpenJob};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::WrongTally;
use roadmap_domain::ports::{Health, Maintenance, WorkspaceDirectory};
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::PostgresStore;
use crate::pictures::{is_kept_by_text, is_new_picture};
use crate::reads::number_changes;
use crate::schema::attachments;
use crate::session::{LastStatement, NO_WORKSPACE, Session};
use crate::statement::statement;

statement! {
    /// Deletes a workspace's oldest saved responses from before a timestamp.
    PurgeOperationKeys {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> BigInt,
    "DELETE FROM operations WHERE workspace_id = {workspace} AND operation_key IN (
         SELECT operation_key FROM operations WHERE workspace_id = {workspace} AND created_at < {before}
         ORDER BY created_at LIMIT {limit}
     )"
}

statement! {
    /// Selects feature requests with the stored and the counted number of votes, where these differ.
    WrongTallies { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> (BigInt, BigInt, BigInt),
    "WITH trees AS (
         SELECT request_id, coalesce(root_id, request_id) AS root, nameless_votes FROM vote_tallies
         WHERE workspace_id = {workspace}
     ), nameless AS (
         SELECT root, sum(nameless_votes)::bigint AS number FROM trees GROUP BY root
     ), voters AS (
         SELECT root, count(DISTINCT customer_id) AS number FROM trees
         JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = trees.request_id
         GROUP BY root
     )
     SELECT tag_number, votes_count, nameless.number + coalesce(voters.number, 0)
     FROM vote_tallies JOIN nameless ON nameless.root = request_id LEFT JOIN voters ON voters.root = request_id
     WHERE workspace_id = {workspace} AND root_id IS NULL
       AND votes_count <> nameless.number + coalesce(voters.number, 0)
     ORDER BY tag_number LIMIT {limit}"
}

statement! {
    /// Deletes a workspace's oldest entries of the audit log from before a timestamp, except for those of the last 30 days.
    /// Returns their number.
    PurgeAuditEntries {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> BigInt,
    "SELECT purge_audit_entries({workspace}, {before}, {limit})"
}

statement! {
    /// Deletes a workspace's oldest deletions of feature requests and comments from before a timestamp.
    PurgeDeletions {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> Untyped,
    "DELETE FROM changes WHERE workspace_id = {workspace} AND (kind, record_id) IN (
         SELECT kind, record_id FROM changes WHERE workspace_id = {workspace} AND deleted AND updated_at < {before}
         ORDER BY updated_at LIMIT {limit}
     )"
}

statement! {
    /// Deletes a workspace's texts that were removed first, before a timestamp. Returns their number.
    PurgeRemovedTexts {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> BigInt,
    "WITH expired AS MATERIALIZED (
         (SELECT id, NULL::uuid AS request_id, removed_at FROM removed_comments
          WHERE workspace_id = {workspace} AND removed_at < {before} ORDER BY removed_at LIMIT {limit})
         UNION ALL
         (SELECT NULL, request_id, removed_at FROM removed_requests
          WHERE workspace_id = {workspace} AND removed_at < {before} ORDER BY removed_at LIMIT {limit})
         ORDER BY removed_at LIMIT {limit}
     ), comments AS (
         DELETE FROM removed_comments WHERE workspace_id = {workspace} AND id IN (SELECT id FROM expired)
         RETURNING id
     ), requests AS (
         DELETE FROM removed_requests WHERE workspace_id = {workspace} AND request_id IN (SELECT request_id FROM expired)
         RETURNING request_id
     )
     SELECT (SELECT count(*) FROM comments) + (SELECT count(*) FROM requests)"
}

/// The SQL condition of attachments that are neither the cover of a changelog nor the logo of the portal.
/// The file is neither a cover nor the logo.
macro_rules! is_neither_cover_nor_logo {
    () => {
        "NOT EXISTS (
             SELECT FROM changelogs WHERE changelogs.workspace_id = {workspace} AND cover_attachment_id = attachments.id
         ) AND NOT EXISTS (
             SELECT FROM portal_settings
             WHERE portal_settings.workspace_id = {workspace} AND logo_attachment_id = attachments.id
         )"
    };
}

statement! {
    /// Locks a workspace's oldest attachments from before a timestamp that are neither covers nor the logo, nor pictures of
    /// texts.
    LockUnusedAttachments {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> SqlUuid,
    concat!("SELECT id FROM attachments WHERE workspace_id = {workspace} AND created_at < {before}
     AND picture_by IS NULL AND job_id IS NULL AND ", is_neither_cover_nor_logo!(), " ORDER BY created_at LIMIT {limit} FOR UPDATE SKIP LOCKED")
}

statement! {
    /// Deletes those of the given attachments that are unused.
    DeleteUnusedAttachments { workspace: Uuid => SqlUuid, ids: Vec<Uuid> => Array<SqlUuid> } -> (SqlUuid, BigInt),
    concat!("DELETE FROM attachments WHERE workspace_id = {workspace} AND id = ANY ({ids})
     AND ", is_neither_cover_nor_logo!(), " RETURNING id, byte_size")
}

/// No text has the picture any more, or none has ever had it and it was stored before a timestamp.
macro_rules! is_unused_picture {
    () => {
        concat!(
            "picture_by IS NOT NULL AND ",
            is_neither_cover_nor_logo!(),
            " AND CASE WHEN ",
            is_new_picture!(),
            "
         THEN created_at < {before} ELSE NOT ",
            is_kept_by_text!(),
            " END"
        )
    };
}

statement! {
    /// Locks a workspace's unused pictures.
    LockUnusedPictures {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> SqlUuid,
    concat!("SELECT id FROM attachments WHERE workspace_id = {workspace} AND ", is_unused_picture!(), "
     LIMIT {limit} FOR UPDATE SKIP LOCKED")
}

statement! {
    /// Deletes those of the given pictures that are unused.
    DeleteUnusedPictures {
        workspace: Uuid => SqlUuid,
        before: TimestampColumn => Timestamptz,
        ids: Vec<Uuid> => Array<SqlUuid>,
    } -> (SqlUuid, BigInt),
    concat!("DELETE FROM attachments WHERE workspace_id = {workspace} AND id = ANY ({ids}) AND ",
        is_unused_picture!(), " RETURNING id, byte_size")
}

statement! {
    /// Selects feature requests whose search documents have an earlier version or are marked as outdated.
    OutdatedDocuments { workspace: Uuid => SqlUuid, version: i32 => Integer, limit: i64 => BigInt } -> SqlUuid,
    "SELECT request_id FROM search_documents WHERE workspace_id = {workspace} AND version < {version}
     UNION ALL
     SELECT request_id FROM outdated_documents WHERE workspace_id = {workspace}
     LIMIT {limit}"
}

statement! {
    /// Counts the feature requests whose search documents have an earlier version or are marked as outdated.
    CountOutdatedDocuments { workspace: Uuid => SqlUuid, version: i32 => Integer } -> BigInt,
    "SELECT (SELECT count(*) FROM search_documents WHERE workspace_id = {workspace} AND version < {version})
          + (SELECT count(*) FROM outdated_documents WHERE workspace_id = {workspace})"
}

statement! {
    /// Selects the imports and exports that a process is to do.
    OpenJobs {} -> (SqlUuid, SqlUuid, Bool),
    "SELECT of_workspace, job, is_export FROM jobs_to_do()"
}

statement! {
    /// Selects the link sources whose sealed secrets do not begin with a prefix.
    SealedOtherwise { prefix: String => Text } -> (SqlUuid, SqlUuid),
    "SELECT of_workspace, source FROM link_sources_sealed_otherwise({prefix})"
}

statement! {
    /// Selects the webhooks of which a sealed text does not begin with a prefix.
    WebhooksSealedOtherwise { prefix: String => Text } -> (SqlUuid, SqlUuid),
    "SELECT of_workspace, webhook FROM webhooks_sealed_otherwise({prefix})"
}

statement! {
    /// Selects the workspaces with erasures that are not finished.
    UnfinishedErasures {} -> SqlUuid,
    "SELECT unfinished_erasures()"
}

statement! {
    /// Gives all search documents the earliest version.
    ExpireDocuments { workspace: Uuid => SqlUuid } -> Untyped,
    "UPDATE search_documents SET version = 0 WHERE workspace_id = {workspace}"
}

impl PostgresStore {
    /// Purges at most `limit` rows, one workspace at a time, because no session sees the rows of two. `purge` gets a
    /// workspace and how many rows are left, and returns the number of its rows.
    async fn purge_workspaces<F>(
        &self,
        limit: u32,
        purge: impl Fn(WorkspaceId, i64) -> F + Send,
    ) -> Result<u64, StoreError>
    where
        F: Future<Output = Result<i64, StoreError>> + Send,
    {
        let mut purged: i64 = 0;
        for workspace in self.workspaces().await? {
            let remaining = i64::from(limit).saturating_sub(purged);
            if remaining == 0 {
                break;
            }
            purged = purged.saturating_add(purge(workspace.id, remaining).await?);
        }
        Ok(purged.unsigned_abs())
    }
}

/// Returns deleted files by their ID and size.
fn unused(workspace: WorkspaceId, deleted: Vec<(Uuid, i64)>) -> Vec<UnusedAttachment> {
    let file = |(attachment, byte_size): (Uuid, i64)| UnusedAttachment {
        key: BlobKey { workspace, attachment: AttachmentId::new(attachment) },
        byte_size: byte_size.unsigned_abs(),
    };
    deleted.into_iter().map(file).collect()
}

#[async_trait]
impl Maintenance for PostgresStore {
    async fn purge_operation_keys(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = |workspace: WorkspaceId, remaining| async move {
            let session = self.session(workspace).await?;
            let purge = PurgeOperationKeys { workspace: workspace.uuid(), before: before.into(), limit: remaining };
            let deleted = session.run(purge.execute(&mut session.connection()?)).await?;
            Ok(i64::try_from(deleted).unwrap_or(i64::MAX))
        };
        self.purge_workspaces(limit, purge).await
    }

    async fn purge_audit_entries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = |workspace: WorkspaceId, remaining| async move {
            let session = self.session(workspace).await?;
            let purge = PurgeAuditEntries { workspace: workspace.uuid(), before: before.into(), limit: remaining };
            let deleted: i64 = session.run(purge.get_result(&mut session.connection()?)).await?;
            Ok(deleted)
        };
        self.purge_workspaces(limit, purge).await
    }

    /// Numbers changes, too, so that readers who come seldom find at most those of an hour without a number.
    async fn purge_deletions(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = |workspace: WorkspaceId, remaining| async move {
            number_changes(&self.auxiliary, workspace).await?;
            let session = self.session(workspace).await?;
            let purge = PurgeDeletions { workspace: workspace.uuid(), before: before.into(), limit: remaining };
            let deleted = session.run(purge.execute(&mut session.connection()?)).await?;
            Ok(i64::try_from(deleted).unwrap_or(i64::MAX))
        };
        self.purge_workspaces(limit, purge).await
    }

    async fn purge_removed_texts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = |workspace: WorkspaceId, remaining| async move {
            let session = self.session(workspace).await?;
            let purge = PurgeRemovedTexts { workspace: workspace.uuid(), before: before.into(), limit: remaining };
            let deleted: i64 = session.run(purge.get_result(&mut session.connection()?)).await?;
            Ok(deleted)
        };
        self.purge_workspaces(limit, purge).await
    }

    async fn find_orphaned_blobs(&self, keys: &[BlobKey]) -> Result<Vec<BlobKey>, StoreError> {
        let mut of_workspaces: BTreeMap<WorkspaceId, Vec<BlobKey>> = BTreeMap::new();
        for key in keys {
            of_workspaces.entry(key.workspace).or_default().push(*key);
        }
        let mut orphaned = Vec::new();
        for (workspace, keys) in of_workspaces {
            let session = self.session(workspace).await?;
            let ids: Vec<Uuid> = keys.iter().map(|key| key.attachment.uuid()).collect();
            let known = attachments::table
                .filter(attachments::workspace_id.eq(workspace.uuid()))
                .filter(attachments::id.eq_any(ids))
                .select(attachments::id);
            let known: Vec<Uuid> = session.run(known.load(&mut session.connection()?)).await?;
            orphaned.extend(keys.into_iter().filter(|key| !known.contains(&key.attachment.uuid())));
        }
        Ok(orphaned)
    }

    /// Locks the rows with one statement and checks them again with the next. A changelog that took one of them as its
    /// cover in between has committed by then, and is seen.
    async fn delete_unused_attachments(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError> {
        let session = Session::transaction(&self.auxiliary, workspace.uuid()).await?;
        let id = workspace.uuid();
        let lock = LockUnusedAttachments { workspace: id, before: before.into(), limit: i64::from(limit) };
        let ids: Vec<Uuid> = session.run(lock.load(&mut session.connection()?)).await?;
        if ids.is_empty() {
            session.roll_back().await?;
            return Ok(Vec::new());
        }
        let delete = DeleteUnusedAttachments { workspace: id, ids };
        let deleted: Vec<(Uuid, i64)> = session.run(delete.load(&mut session.connection()?)).await?;
        session.commit(None::<(LastStatement, DeleteUnusedAttachments)>).await?;
        Ok(unused(workspace, deleted))
    }

    /// As [`Self::delete_unused_attachments`].
    async fn delete_unused_pictures(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError> {
        let session = Session::transaction(&self.auxiliary, workspace.uuid()).await?;
        let id = workspace.uuid();
        let lock = LockUnusedPictures { workspace: id, before: before.into(), limit: i64::from(limit) };
        let ids: Vec<Uuid> = session.run(lock.load(&mut session.connection()?)).await?;
        if ids.is_empty() {
            session.roll_back().await?;
            return Ok(Vec::new());
        }
        let delete = DeleteUnusedPictures { workspace: id, before: before.into(), ids };
        let deleted: Vec<(Uuid, i64)> = session.run(delete.load(&mut session.connection()?)).await?;
        session.commit(None::<(LastStatement, DeleteUnusedPictures)>).await?;
        Ok(unused(workspace, deleted))
    }

    async fn outdated_documents(
        &self,
        workspace: WorkspaceId,
        version: i32,
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let session = self.session(workspace).await?;
        let select = OutdatedDocuments { workspace: workspace.uuid(), version, limit: limit.into() };
        let ids: Vec<Uuid> = session.run(select.load(&mut session.connection()?)).await?;
        Ok(ids.into_iter().map(FeatureRequestId::new).collect())
    }

    async fn count_outdated_documents(&self, workspace: WorkspaceId, version: i32) -> Result<u64, StoreError> {
        let session = self.session(workspace).await?;
        let select = CountOutdatedDocuments { workspace: workspace.uuid(), version };
        let count: i64 = session.run(select.get_result(&mut session.connection()?)).await?;
        Ok(count.unsigned_abs())
    }

    async fn expire_documents(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let session = self.session(workspace).await?;
        let expire = ExpireDocuments { workspace: workspace.uuid() };
        session.run(expire.execute(&mut session.connection()?)).await?;
        Ok(())
    }

    async fn open_jobs(&self) -> Result<Vec<OpenJob>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let jobs: Vec<(Uuid, Uuid, bool)> = session.run(OpenJobs {}.load(&mut session.connection()?)).await?;
        let open = |(workspace, job, is_export): (Uuid, Uuid, bool)| OpenJob {
            workspace: WorkspaceId::new(workspace),
            job: if is_export { JobId::Export(ExportId::new(job)) } else { JobId::Import(ImportId::new(job)) },
        };
        Ok(jobs.into_iter().map(open).collect())
    }

    async fn link_sources_sealed_otherwise(
        &self,
        prefix: &str,
    ) -> Result<Vec<(WorkspaceId, LinkSourceId)>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let select = SealedOtherwise { prefix: prefix.to_owned() };
        let rows: Vec<(Uuid, Uuid)> = session.run(select.load(&mut session.connection()?)).await?;
        let id = |(workspace, source)| (WorkspaceId::new(workspace), LinkSourceId::new(source));
        Ok(rows.into_iter().map(id).collect())
    }

    async fn webhooks_sealed_otherwise(&self, prefix: &str) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let select = WebhooksSealedOtherwise { prefix: prefix.to_owned() };
        let rows: Vec<(Uuid, Uuid)> = session.run(select.load(&mut session.connection()?)).await?;
        let id = |(workspace, webhook)| (WorkspaceId::new(workspace), WebhookId::new(webhook));
        Ok(rows.into_iter().map(id).collect())
    }

    async fn workspaces_of_unfinished_erasures(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let select = UnfinishedErasures {};
        let workspaces: Vec<Uuid> = session.run(select.load(&mut session.connection()?)).await?;
        Ok(workspaces.into_iter().map(WorkspaceId::new).collect())
    }

    async fn overwrite_remains(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    async fn refold_addresses(&self) -> Result<u64, StoreError> {
        self.refold().await
    }

    async fn wrong_tallies(&self, workspace: WorkspaceId, limit: u32) -> Result<Vec<WrongTally>, StoreError> {
        let session = self.session(workspace).await?;
        let select = WrongTallies { workspace: workspace.uuid(), limit: limit.into() };
        let rows: Vec<(i64, i64, i64)> = session.run(select.load(&mut session.connection()?)).await?;
        Ok(rows.into_iter().map(|(tag_number, stored, counted)| WrongTally { tag_number, stored, counted }).collect())
    }

    async fn double_addresses(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError> {
        self.doubles(workspace).await
    }
}

#[async_trait]
impl Health for PostgresStore {
    async fn check(&self) -> Result<(), StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let mut connection = session.connection()?;
        session.run(connection.batch_execute("SELECT 1")).await
    }
}
