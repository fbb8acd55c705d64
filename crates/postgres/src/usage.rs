//! The storage usage of workspaces.

use std::time::Duration;

use async_trait::async_trait;
use diesel::prelude::QueryDsl;
use diesel::sql_types::{BigInt, Nullable, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::usage::{StoredUsage, Usage};
use roadmap_domain::policy::storage::{AUDIT_ENTRY_BYTES, EVENT_BYTES, ROW_BYTES, TERM_COPIES, TRIGRAM_BYTES};
use roadmap_domain::ports::UsageStore;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::UsageRow;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::connection::Connector;
use crate::pool::Pool;
use crate::schema::workspace_usage;
use crate::session::Session;
use crate::statement::statement;
use crate::{PostgresOptions, PostgresStore};

/// The server's time limit for counting the rows of a workspace. No request waits for the count.
const COUNT_TIMEOUT: Duration = Duration::from_secs(120);

/// Bytes of records, bytes of files, and the time of the last count.
type UsageColumns = (BigInt, BigInt, Nullable<Timestamptz>);

statement! {
    /// Adds to a workspace's usage and returns the new total.
    AddUsage { workspace: Uuid => SqlUuid, records: i64 => BigInt, files: i64 => BigInt } -> UsageColumns,
    "INSERT INTO workspace_usage (workspace_id, record_bytes, file_bytes) VALUES ({workspace}, {records}, {files})
     ON CONFLICT (workspace_id) DO UPDATE SET
         record_bytes = workspace_usage.record_bytes + excluded.record_bytes,
         file_bytes = workspace_usage.file_bytes + excluded.file_bytes
     RETURNING record_bytes, file_bytes, counted_at"
}

statement! {
    /// Counts a workspace's usage from its rows: bytes of records and of files. PostgreSQL knows the length of a long
    /// text without reading it.
    CountUsage {
        workspace: Uuid => SqlUuid,
        row_bytes: i64 => BigInt,
        term_copies: i64 => BigInt,
        trigram_bytes: i64 => BigInt,
        event_bytes: i64 => BigInt,
        entry_bytes: i64 => BigInt,
    } -> (BigInt, BigInt),
    "SELECT (SELECT count(*) * {row_bytes}
                  + coalesce(sum(octet_length(title) + octet_length(description) + octet_length(description_text)), 0)
             FROM feature_requests WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} FROM vote_tallies WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(tag)), 0)
             FROM feature_request_tags WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + {term_copies}
                  * coalesce(sum(octet_length(title) + octet_length(tags) + octet_length(description)), 0)
             FROM search_documents WHERE workspace_id = {workspace})
          + (SELECT coalesce(sum((octet_length(word) + 1) * (octet_length(word) + {trigram_bytes}::integer)), 0)
             FROM search_words WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(
                 octet_length(email) + octet_length(email_folded) + coalesce(octet_length(name), 0)
             ), 0) FROM customers WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} FROM votes WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} FROM followers WHERE workspace_id = {workspace})
          + (SELECT count(*) * {event_bytes} FROM feature_request_events WHERE workspace_id = {workspace})
          + (SELECT count(*) * {entry_bytes} FROM audit_entries
             WHERE workspace_id = {workspace} AND actor_kind <> 'customer')
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(body)), 0)
             FROM notes WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(url) + coalesce(octet_length(title), 0)), 0)
             FROM links WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(content)), 0)
             FROM comments WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(content)), 0)
             FROM held_comments WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(content)), 0)
             FROM removed_comments WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(title) + octet_length(description)
                  + octet_length(description_text) + octet_length(array_to_string(tags, ''))), 0)
             FROM removed_requests WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(email) + octet_length(email_folded)), 0)
             FROM sessions WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(words)), 0)
             FROM missed_searches WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(title) + octet_length(content)), 0)
             FROM changelogs WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} FROM changelog_feature_requests WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(filename) + octet_length(content_type)
                  + octet_length(key) + octet_length(service_name)), 0)
             FROM attachments WHERE workspace_id = {workspace})
          + (SELECT count(*) * {row_bytes} + coalesce(sum(octet_length(operation_key) + octet_length(body)), 0)
             FROM operations WHERE workspace_id = {workspace}),
            (SELECT coalesce(sum(byte_size), 0)::bigint FROM attachments WHERE workspace_id = {workspace})"
}

statement! {
    /// Replaces a workspace's total with a new count, plus what was added to the total during the count. Does nothing
    /// if another count has finished meanwhile.
    ReplaceUsage {
        workspace: Uuid => SqlUuid,
        records: i64 => BigInt,
        files: i64 => BigInt,
        now: TimestampColumn => Timestamptz,
        records_before: i64 => BigInt,
        files_before: i64 => BigInt,
        counted_before: Option<TimestampColumn> => Nullable<Timestamptz>,
    } -> UsageColumns,
    "INSERT INTO workspace_usage (workspace_id, record_bytes, file_bytes, counted_at)
     VALUES ({workspace}, {records}, {files}, {now})
     ON CONFLICT (workspace_id) DO UPDATE SET
         record_bytes = excluded.record_bytes + workspace_usage.record_bytes - {records_before},
         file_bytes = excluded.file_bytes + workspace_usage.file_bytes - {files_before},
         counted_at = excluded.counted_at
     WHERE workspace_usage.counted_at IS NOT DISTINCT FROM {counted_before}
     RETURNING record_bytes, file_bytes, counted_at"
}

#[async_trait]
impl UsageStore for PostgresStore {
    async fn load_usage(&self, workspace: WorkspaceId) -> Result<Option<StoredUsage>, StoreError> {
        let session = self.session(workspace).await?;
        let columns = (workspace_usage::record_bytes, workspace_usage::file_bytes, workspace_usage::counted_at);
        let row = workspace_usage::table.find(workspace.uuid()).select(columns);
        let row: Option<UsageRow> = session.run_optional(row.first(&mut session.connection()?)).await?;
        row.map(|row| row.into_usage(workspace)).transpose()
    }

    async fn add_usage(&self, workspace: WorkspaceId, added: Usage) -> Result<StoredUsage, StoreError> {
        let session = self.session(workspace).await?;
        let add = AddUsage { workspace: workspace.uuid(), records: added.records, files: added.files };
        let row: UsageRow = session.run(add.get_result(&mut session.connection()?)).await?;
        row.into_usage(workspace)
    }

    async fn recount_usage(&self, workspace: WorkspaceId, now: Timestamp) -> Result<StoredUsage, StoreError> {
        let before = self.load_usage(workspace).await?.unwrap_or_default();
        let (records, files) = self.count_usage(workspace).await?;
        let session = self.session(workspace).await?;
        let replace = ReplaceUsage {
            workspace: workspace.uuid(),
            records,
            files,
            now: now.into(),
            records_before: before.usage.records,
            files_before: before.usage.files,
            counted_before: before.counted_at.map(TimestampColumn::from),
        };
        let row: Option<UsageRow> = session.run_optional(replace.get_result(&mut session.connection()?)).await?;
        drop(session);
        match row {
            Some(row) => row.into_usage(workspace),
            None => Ok(self.load_usage(workspace).await?.unwrap_or_default()),
        }
    }
}

impl PostgresStore {
    /// Counts on a separate connection with its own time limit, which is closed afterwards.
    async fn count_usage(&self, workspace: WorkspaceId) -> Result<(i64, i64), StoreError> {
        let options = PostgresOptions { statement_timeout: COUNT_TIMEOUT, ..(*self.options).clone() };
        let pool = Pool::new(Connector::new(&options)?.on_runtime(Handle::current()), 1, &options)?;
        let session = Session::autocommit(&pool, workspace).await?;
        let count = CountUsage {
            workspace: workspace.uuid(),
            row_bytes: ROW_BYTES.cast_signed(),
            term_copies: TERM_COPIES.cast_signed(),
            trigram_bytes: TRIGRAM_BYTES.cast_signed(),
            event_bytes: EVENT_BYTES.cast_signed(),
            entry_bytes: AUDIT_ENTRY_BYTES.cast_signed(),
        };
        session.run(count.get_result(&mut session.connection()?)).await
    }
}
