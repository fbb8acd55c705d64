//! The storage usage of workspaces.

use async_trait::async_trait;
use diesel::prelude::{OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::usage::{StoredUsage, Usage};
use roadmap_domain::policy::storage::{AUDIT_ENTRY_BYTES, EVENT_BYTES, ROW_BYTES, TERM_COPIES, TRIGRAM_BYTES};
use roadmap_domain::ports::UsageStore;
use roadmap_store::columns::Id;
use roadmap_store::rows::UsageRow;

use crate::SqliteStore;
use crate::schema::workspace_usage;
use crate::statement::statement;

/// Bytes of records, bytes of files, and the time of the last count.
type UsageColumns = (BigInt, BigInt, Nullable<BigInt>);

statement! {
    /// Adds to a workspace's usage and returns the new total.
    AddUsage { workspace: Id => Binary, records: i64 => BigInt, files: i64 => BigInt } -> UsageColumns,
    "INSERT INTO workspace_usage (workspace_id, record_bytes, file_bytes) VALUES (?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET
         record_bytes = workspace_usage.record_bytes + excluded.record_bytes,
         file_bytes = workspace_usage.file_bytes + excluded.file_bytes
     RETURNING record_bytes, file_bytes, counted_at"
}

statement! {
    /// Counts a workspace's usage from its rows: bytes of records and of files.
    CountUsage {
        workspace: Id => Binary,
        row_bytes: i64 => BigInt,
        term_copies: i64 => BigInt,
        trigram_bytes: i64 => BigInt,
        event_bytes: i64 => BigInt,
        audit_entry_bytes: i64 => BigInt,
    } -> (BigInt, BigInt),
    "WITH counted (workspace, row_bytes, term_copies, trigram_bytes, event_bytes, audit_entry_bytes) AS (
         SELECT ?, ?, ?, ?, ?, ?
     )
     SELECT (SELECT count(*) * row_bytes
                  + coalesce(sum(octet_length(title) + octet_length(description) + octet_length(description_text)), 0)
             FROM feature_requests WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes FROM vote_tallies WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(tag)), 0)
             FROM feature_request_tags WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + term_copies
                  * coalesce(sum(octet_length(title) + octet_length(tags) + octet_length(description)), 0)
             FROM search_documents WHERE workspace_id = workspace)
          + (SELECT coalesce(sum((octet_length(word) + 1) * (octet_length(word) + trigram_bytes)), 0)
             FROM search_words WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(
                 octet_length(email) + octet_length(email_folded) + coalesce(octet_length(name), 0)
             ), 0) FROM customers WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes FROM votes WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes FROM followers WHERE workspace_id = workspace)
          + (SELECT count(*) * event_bytes FROM feature_request_events WHERE workspace_id = workspace)
          + (SELECT count(*) * audit_entry_bytes FROM audit_entries
             WHERE workspace_id = workspace AND actor_kind <> 'customer')
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(body)), 0)
             FROM notes WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(url) + coalesce(octet_length(title), 0)), 0)
             FROM links WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(content)), 0)
             FROM comments WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(content)), 0)
             FROM held_comments WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(content)), 0)
             FROM removed_comments WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(title) + octet_length(description)
                  + octet_length(description_text) + octet_length(tags)), 0)
             FROM removed_requests WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(email) + octet_length(email_folded)), 0)
             FROM sessions WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(words)), 0)
             FROM missed_searches WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(title) + octet_length(content)), 0)
             FROM changelogs WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes FROM changelog_feature_requests WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(filename) + octet_length(content_type)
                  + octet_length(key) + octet_length(service_name)), 0)
             FROM attachments WHERE workspace_id = workspace)
          + (SELECT count(*) * row_bytes + coalesce(sum(octet_length(operation_key) + octet_length(body)), 0)
             FROM operations WHERE workspace_id = workspace),
            (SELECT coalesce(sum(byte_size), 0) FROM attachments WHERE workspace_id = workspace)
     FROM counted"
}

statement! {
    /// Replaces a workspace's total with a new count, plus what was added to the total during the count. Does nothing
    /// if another count has finished meanwhile.
    ReplaceUsage {
        workspace: Id => Binary,
        records: i64 => BigInt,
        files: i64 => BigInt,
        now: i64 => BigInt,
        records_before: i64 => BigInt,
        files_before: i64 => BigInt,
        counted_before: Option<i64> => Nullable<BigInt>,
    } -> UsageColumns,
    "INSERT INTO workspace_usage (workspace_id, record_bytes, file_bytes, counted_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (workspace_id) DO UPDATE SET
         record_bytes = excluded.record_bytes + workspace_usage.record_bytes - ?,
         file_bytes = excluded.file_bytes + workspace_usage.file_bytes - ?,
         counted_at = excluded.counted_at
     WHERE workspace_usage.counted_at IS ?
     RETURNING record_bytes, file_bytes, counted_at"
}

#[async_trait]
impl UsageStore for SqliteStore {
    async fn load_usage(&self, workspace: WorkspaceId) -> Result<Option<StoredUsage>, StoreError> {
        let id = Id(workspace.uuid());
        let row: Option<UsageRow> = self
            .readers
            .run(move |connection| {
                let columns = (workspace_usage::record_bytes, workspace_usage::file_bytes, workspace_usage::counted_at);
                Ok(workspace_usage::table.find(id).select(columns).first(connection).optional()?)
            })
            .await?;
        row.map(|row| row.into_usage(workspace)).transpose()
    }

    async fn add_usage(&self, workspace: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError> {
        let add = AddUsage { workspace: Id(workspace.uuid()), records: added.records, files: added.files };
        let row: UsageRow = self.write(move |connection| Ok(add.get_result(connection)?)).await?;
        row.into_usage(workspace)
    }

    async fn recount_usage(&self, workspace: WorkspaceId, now: Timestamp) -> Result<StoredUsage, StoreError> {
        let before = self.load_usage(workspace).await?.unwrap_or_default();
        let id = Id(workspace.uuid());
        let count = CountUsage {
            workspace: id,
            row_bytes: ROW_BYTES.cast_signed(),
            term_copies: TERM_COPIES.cast_signed(),
            trigram_bytes: TRIGRAM_BYTES.cast_signed(),
            event_bytes: EVENT_BYTES.cast_signed(),
            audit_entry_bytes: AUDIT_ENTRY_BYTES.cast_signed(),
        };
        let (records, files): (i64, i64) =
            self.readers.run(move |connection| Ok(count.get_result(connection)?)).await?;
        let replace = ReplaceUsage {
            workspace: id,
            records,
            files,
            now: now.millis(),
            records_before: before.usage.records,
            files_before: before.usage.files,
            counted_before: before.counted_at.map(Timestamp::millis),
        };
        let row: Option<UsageRow> =
            self.write(move |connection| Ok(replace.get_result(connection).optional()?)).await?;
        match row {
            Some(row) => row.into_usage(workspace),
            None => Ok(self.load_usage(workspace).await?.unwrap_or_default()),
        }
    }
}
