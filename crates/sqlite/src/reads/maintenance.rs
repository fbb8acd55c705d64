//! Maintenance of stored data, and the health check.

use std::time::Duration;

use async_trait::async_trait;
use diesel::connection::SimpleConnection;
use diesel::dsl::exists;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Integer, Text};
use diesel::{QueryableByName, SqliteConnection, TextExpressionMethods};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::{BlobKey, UnusedAttachment};
use roadmap_domain::model::customer::DoubleAddresses;
use roadmap_domain::model::export::run::ExportState;
use roadmap_domain::model::id::{
    AttachmentId, ExportId, FeatureRequestId, ImportId, LinkSourceId, WebhookId, WorkspaceId,
};
use roadmap_domain::model::import::upload::{JobId, OpenJob};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::vote::WrongTally;
use roadmap_domain::ports::{Health, Maintenance};
use roadmap_store::columns::Id;

use crate::SqliteStore;
use crate::connection::Connector;
use crate::errors::SqlError;
use crate::pictures::{is_kept_by_text, is_new_picture};
use crate::schema::{attachments, erasures, exports, imports, link_sources, search_documents};
use crate::statement::statement;

/// How long the rewriting of the database waits for a write or a read to end.
const REWRITE_WAIT: Duration = Duration::from_secs(20);
/// How often the write-ahead log is emptied at most, and the pause in between.
const CHECKPOINTS: u32 = 20;
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(100);

statement! {
    /// Deletes the oldest saved responses from before a timestamp, of all workspaces.
    PurgeOperationKeys { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM operations WHERE rowid IN
     (SELECT rowid FROM operations WHERE created_at < ? ORDER BY created_at LIMIT ?)"
}

statement! {
    /// Selects feature requests with the stored and the counted number of votes, where these differ.
    WrongTallies { workspace: Id => Binary, limit: i64 => BigInt } -> (BigInt, BigInt, BigInt),
    "WITH scope (workspace) AS (SELECT ?),
     trees AS MATERIALIZED (
         SELECT request_id, coalesce(root_id, request_id) AS root, nameless_votes FROM scope
         CROSS JOIN vote_tallies ON vote_tallies.workspace_id = workspace
     ),
     nameless AS (SELECT root, sum(nameless_votes) AS number FROM trees GROUP BY root),
     voters AS (
         SELECT root, count(DISTINCT customer_id) AS number FROM scope
         CROSS JOIN trees
         CROSS JOIN votes ON votes.workspace_id = workspace AND votes.request_id = trees.request_id
         GROUP BY root
     )
     SELECT tag_number, votes_count, nameless.number + coalesce(voters.number, 0) AS counted FROM scope
     CROSS JOIN vote_tallies ON vote_tallies.workspace_id = workspace AND vote_tallies.root_id IS NULL
     CROSS JOIN feature_requests AS record ON record.workspace_id = workspace AND record.id = vote_tallies.request_id
     CROSS JOIN nameless ON nameless.root = vote_tallies.request_id
     LEFT JOIN voters ON voters.root = vote_tallies.request_id
     WHERE votes_count <> nameless.number + coalesce(voters.number, 0) ORDER BY tag_number LIMIT ?"
}

/// The file is neither a cover nor the logo.
macro_rules! is_neither_cover_nor_logo {
    () => {
        "NOT EXISTS (
             SELECT 1 FROM changelogs WHERE changelogs.workspace_id = attachments.workspace_id
             AND changelogs.cover_attachment_id = attachments.id
         ) AND NOT EXISTS (
             SELECT 1 FROM portal_settings WHERE portal_settings.workspace_id = attachments.workspace_id
             AND portal_settings.logo_attachment_id = attachments.id
         )"
    };
}

statement! {
    /// Deletes a workspace's oldest attachments from before a timestamp that are neither the cover of a changelog nor
    /// the logo of the portal, nor a picture of texts.
    DeleteUnusedAttachments { workspace: Id => Binary, before: i64 => BigInt, limit: i64 => BigInt } -> (Binary, BigInt),
    concat!("DELETE FROM attachments WHERE (workspace_id, id) IN (
         SELECT workspace_id, id FROM attachments
         WHERE workspace_id = ? AND created_at < ? AND picture_by IS NULL AND job_id IS NULL AND ", is_neither_cover_nor_logo!(), "
         ORDER BY created_at LIMIT ?
     ) RETURNING id, byte_size")
}

statement! {
    /// Deletes a workspace's pictures that no text has any more, and those that none has ever had, from before a timestamp.
    DeleteUnusedPictures { workspace: Id => Binary, before: i64 => BigInt, limit: i64 => BigInt } -> (Binary, BigInt),
    concat!("DELETE FROM attachments WHERE (workspace_id, id) IN (
         SELECT workspace_id, id FROM attachments
         WHERE workspace_id = ? AND picture_by IS NOT NULL AND ", is_neither_cover_nor_logo!(), "
         AND CASE WHEN ", is_new_picture!(), " THEN created_at < ? ELSE NOT ", is_kept_by_text!(), " END
         LIMIT ?
     ) RETURNING id, byte_size")
}

statement! {
    /// Deletes the oldest entries of the audit log from before a timestamp, of all workspaces. The database keeps those
    /// of the last 30 days.
    PurgeAuditEntries { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM audit_entries WHERE rowid IN (
         SELECT rowid FROM audit_entries
         WHERE created_at < min(?, (unixepoch() - 30 * 86400) * 1000) ORDER BY created_at LIMIT ?
     )"
}

statement! {
    /// Deletes the oldest deletions from before a timestamp, of all workspaces.
    PurgeDeletions { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM changes WHERE rowid IN (
         SELECT rowid FROM changes WHERE deleted AND updated_at < ? ORDER BY updated_at LIMIT ?
     )"
}

statement! {
    /// Deletes the comments that were removed first, before a timestamp, of all workspaces.
    PurgeRemovedComments { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM removed_comments WHERE rowid IN (
         SELECT rowid FROM removed_comments INDEXED BY removed_comments_by_removal
         WHERE removed_at < ? ORDER BY removed_at LIMIT ?
     )"
}

statement! {
    /// Deletes the texts of feature requests that were removed first, before a timestamp, of all workspaces.
    PurgeRemovedRequests { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM removed_requests WHERE rowid IN (
         SELECT rowid FROM removed_requests INDEXED BY removed_requests_by_removal
         WHERE removed_at < ? ORDER BY removed_at LIMIT ?
     )"
}

statement! {
    /// Selects feature requests whose search documents have an earlier version or are marked as outdated.
    OutdatedDocuments { workspace: Id => Binary, version: i32 => Integer, limit: i64 => BigInt } -> Binary,
    "WITH scope (workspace, version) AS (SELECT ?, ?)
     SELECT request_id FROM search_documents
     WHERE workspace_id = (SELECT workspace FROM scope) AND version < (SELECT version FROM scope)
     UNION ALL
     SELECT request_id FROM outdated_documents WHERE workspace_id = (SELECT workspace FROM scope)
     LIMIT ?"
}

statement! {
    /// Counts the feature requests whose search documents have an earlier version or are marked as outdated.
    CountOutdatedDocuments { workspace: Id => Binary, version: i32 => Integer } -> BigInt,
    "WITH scope (workspace, version) AS (SELECT ?, ?)
     SELECT (SELECT count(*) FROM search_documents WHERE workspace_id = scope.workspace AND version < scope.version)
          + (SELECT count(*) FROM outdated_documents WHERE workspace_id = scope.workspace)
     FROM scope"
}

statement! {
    /// Selects the webhooks of all workspaces whose URL, or one of whose secrets, does not begin with a text.
    SealedOtherwise { prefix: String => Text } -> (Binary, Binary),
    "WITH scope (prefix) AS (SELECT ?)
     SELECT workspace_id, id FROM scope CROSS JOIN webhooks
     WHERE substr(sealed_url, 1, length(prefix)) <> prefix
        OR EXISTS (SELECT 1 FROM json_each(sealed_secrets) AS secret
                   WHERE substr(secret.value ->> 'sealed', 1, length(prefix)) <> prefix)"
}

/// Returns deleted files by their ID and size.
fn unused(workspace: WorkspaceId, deleted: Vec<(Id, i64)>) -> Vec<UnusedAttachment> {
    let file = |(attachment, byte_size): (Id, i64)| UnusedAttachment {
        key: BlobKey { workspace, attachment: AttachmentId::new(attachment.0) },
        byte_size: byte_size.unsigned_abs(),
    };
    deleted.into_iter().map(file).collect()
}

/// The result of a checkpoint.
#[derive(QueryableByName)]
struct Checkpoint {
    /// Whether a read or a write has kept it from emptying the log.
    #[diesel(sql_type = Integer)]
    busy: i32,
}

/// Writes the index of the search and the database anew, without what deleted rows have left in its pages, and empties the write-ahead log. Returns
/// whether the log is empty: a read that lasts needs it.
///
/// To overwrite deleted rows at once (`PRAGMA secure_delete`) is not enough: when a page is split, copies of its rows stay
/// behind in the free part of the old page.
fn overwrite_remains(connector: &Connector) -> Result<bool, SqlError> {
    let mut connection = connector.open_for_rewrite(REWRITE_WAIT)?;
    // The index keeps deleted words until its parts are merged.
    connection.batch_execute("INSERT INTO search_index (search_index) VALUES ('optimize'); VACUUM;")?;
    // SQLite does not wait for another checkpoint, such as that of the checkpointer.
    for _ in 0..CHECKPOINTS {
        let checkpoint: Checkpoint =
            diesel::sql_query("PRAGMA wal_checkpoint(TRUNCATE)").get_result(&mut connection)?;
        if checkpoint.busy == 0 {
            return Ok(true);
        }
        std::thread::sleep(CHECKPOINT_PAUSE);
    }
    Ok(false)
}

#[async_trait]
impl Maintenance for SqliteStore {
    async fn purge_operation_keys(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = PurgeOperationKeys { before: before.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(purge.execute(connection)? as u64)).await
    }

    async fn purge_removed_texts(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let (before, limit) = (before.millis(), i64::from(limit));
        self.write(move |connection| {
            let comments = PurgeRemovedComments { before, limit }.execute(connection)?;
            let left = limit - i64::try_from(comments).unwrap_or(limit);
            let requests = PurgeRemovedRequests { before, limit: left }.execute(connection)?;
            Ok((comments + requests) as u64)
        })
        .await
    }

    async fn purge_audit_entries(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = PurgeAuditEntries { before: before.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(purge.execute(connection)? as u64)).await
    }

    async fn purge_deletions(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = PurgeDeletions { before: before.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(purge.execute(connection)? as u64)).await
    }

    async fn find_orphaned_blobs(&self, keys: &[BlobKey]) -> Result<Vec<BlobKey>, StoreError> {
        let keys = keys.to_vec();
        self.readers
            .run(move |connection| {
                let mut orphaned = Vec::new();
                for key in keys {
                    let row = attachments::table
                        .filter(attachments::workspace_id.eq(Id(key.workspace.uuid())))
                        .filter(attachments::id.eq(Id(key.attachment.uuid())));
                    if !diesel::select(exists(row)).get_result::<bool>(connection)? {
                        orphaned.push(key);
                    }
                }
                Ok(orphaned)
            })
            .await
    }

    async fn delete_unused_attachments(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError> {
        let id = Id(workspace.uuid());
        let delete = DeleteUnusedAttachments { workspace: id, before: before.millis(), limit: i64::from(limit) };
        let deleted = self.write(move |connection| Ok(delete.load(connection)?)).await?;
        Ok(unused(workspace, deleted))
    }

    async fn delete_unused_pictures(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<UnusedAttachment>, StoreError> {
        let id = Id(workspace.uuid());
        let delete = DeleteUnusedPictures { workspace: id, before: before.millis(), limit: i64::from(limit) };
        let deleted = self.write(move |connection| Ok(delete.load(connection)?)).await?;
        Ok(unused(workspace, deleted))
    }

    async fn outdated_documents(
        &self,
        workspace: WorkspaceId,
        version: i32,
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let outdated = OutdatedDocuments { workspace: Id(workspace.uuid()), version, limit: limit.into() };
        let ids: Vec<Id> = self.readers.run(move |connection| Ok(outdated.load(connection)?)).await?;
        Ok(ids.into_iter().map(|id| FeatureRequestId::new(id.0)).collect())
    }

    async fn count_outdated_documents(&self, workspace: WorkspaceId, version: i32) -> Result<u64, StoreError> {
        let count = CountOutdatedDocuments { workspace: Id(workspace.uuid()), version };
        let count: i64 = self.readers.run(move |connection| Ok(count.get_result(connection)?)).await?;
        Ok(count.unsigned_abs())
    }

    async fn expire_documents(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        self.write(move |connection| {
            diesel::update(search_documents::table)
                .filter(search_documents::workspace_id.eq(Id(workspace.uuid())))
                .set(search_documents::version.eq(0))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn open_jobs(&self) -> Result<Vec<OpenJob>, StoreError> {
        let select = |connection: &mut SqliteConnection| {
            let to_do = imports::table.filter(imports::job.is_not_null());
            let to_import: Vec<(Id, Id)> = to_do.select((imports::workspace_id, imports::id)).load(connection)?;
            let running = exports::table.filter(exports::state.eq(ExportState::Running.name()));
            let to_export: Vec<(Id, Id)> = running.select((exports::workspace_id, exports::id)).load(connection)?;
            Ok((to_import, to_export))
        };
        let (to_import, to_export) = self.readers.run(select).await?;
        let open = |workspace: Id, job| OpenJob { workspace: WorkspaceId::new(workspace.0), job };
        let imports = to_import.into_iter().map(|(of, id)| open(of, JobId::Import(ImportId::new(id.0))));
        let exports = to_export.into_iter().map(|(of, id)| open(of, JobId::Export(ExportId::new(id.0))));
        Ok(imports.chain(exports).collect())
    }

    async fn link_sources_sealed_otherwise(
        &self,
        prefix: &str,
    ) -> Result<Vec<(WorkspaceId, LinkSourceId)>, StoreError> {
        let prefix = format!("{prefix}%");
        let select = move |connection: &mut SqliteConnection| {
            let otherwise = link_sources::table.filter(link_sources::sealed_secret.not_like(prefix));
            Ok(otherwise.select((link_sources::workspace_id, link_sources::id)).load::<(Id, Id)>(connection)?)
        };
        let rows = self.readers.run(select).await?;
        let id = |(workspace, source): (Id, Id)| (WorkspaceId::new(workspace.0), LinkSourceId::new(source.0));
        Ok(rows.into_iter().map(id).collect())
    }

    async fn webhooks_sealed_otherwise(&self, prefix: &str) -> Result<Vec<(WorkspaceId, WebhookId)>, StoreError> {
        let select = SealedOtherwise { prefix: prefix.to_owned() };
        let rows: Vec<(Id, Id)> = self.readers.run(move |connection| Ok(select.load(connection)?)).await?;
        let id = |(workspace, webhook): (Id, Id)| (WorkspaceId::new(workspace.0), WebhookId::new(webhook.0));
        Ok(rows.into_iter().map(id).collect())
    }

    async fn workspaces_of_unfinished_erasures(&self) -> Result<Vec<WorkspaceId>, StoreError> {
        let select = |connection: &mut SqliteConnection| {
            let unfinished = erasures::table.filter(erasures::is_finished.eq(false));
            Ok(unfinished.select(erasures::workspace_id).distinct().load::<Id>(connection)?)
        };
        let workspaces = self.readers.run(select).await?;
        Ok(workspaces.into_iter().map(|workspace| WorkspaceId::new(workspace.0)).collect())
    }

    async fn overwrite_remains(&self) -> Result<bool, StoreError> {
        let connector = self.connector.clone();
        let overwritten = tokio::task::spawn_blocking(move || overwrite_remains(&connector)).await;
        let overwritten = overwritten.map_err(|panic| StoreError::Fatal(panic.into()))?;
        Ok(overwritten?)
    }

    async fn refold_addresses(&self) -> Result<u64, StoreError> {
        self.refold().await
    }

    async fn wrong_tallies(&self, workspace: WorkspaceId, limit: u32) -> Result<Vec<WrongTally>, StoreError> {
        let select = WrongTallies { workspace: Id(workspace.uuid()), limit: limit.into() };
        let rows: Vec<(i64, i64, i64)> = self.readers.run(move |connection| Ok(select.load(connection)?)).await?;
        Ok(rows.into_iter().map(|(tag_number, stored, counted)| WrongTally { tag_number, stored, counted }).collect())
    }

    async fn double_addresses(&self, workspace: WorkspaceId) -> Result<DoubleAddresses, StoreError> {
        self.doubles(Id(workspace.uuid())).await
    }
}

#[async_trait]
impl Health for SqliteStore {
    async fn check(&self) -> Result<(), StoreError> {
        self.readers.run(|connection| Ok(connection.batch_execute("SELECT 1 FROM workspaces LIMIT 1")?)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;
    use crate::fixtures::place;
    use crate::readers::tests::hold;
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread")]
    async fn it_is_healthy_while_it_responds() {
        let (_folder, options) = place();
        let options = SqliteOptions { readers: 1, read_wait: Duration::from_millis(20), ..options };
        let store = SqliteStore::open(&options).unwrap();
        assert!(matches!(store.check().await, Err(StoreError::Fatal(_))), "there is no table yet");
        crate::migrate(&options).unwrap();
        store.check().await.unwrap();
        let (done, held) = hold(&store.readers, |_| Ok(())).await;
        assert!(matches!(store.check().await, Err(StoreError::Unavailable(_))));
        drop(done);
        held.await.unwrap().unwrap();
        store.check().await.unwrap();
    }
}
