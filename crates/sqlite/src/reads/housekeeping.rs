//! Forgets what is no longer needed, and tells whether the file can be read.

use async_trait::async_trait;
use diesel::RunQueryDsl;
use diesel::connection::SimpleConnection;
use diesel::sql_types::BigInt;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::{Health, Housekeeping};

use crate::SqliteStore;
use crate::statement::statement;

statement! {
    /// Deletes the oldest saved answers from before a moment, of all workspaces.
    ForgetOperations { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM operations WHERE rowid IN
     (SELECT rowid FROM operations WHERE created_at < ? ORDER BY created_at LIMIT ?)"
}

#[async_trait]
impl Housekeeping for SqliteStore {
    async fn forget_operations(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let forget = ForgetOperations { before: before.millis(), limit: i64::from(limit) };
        let (turn, forgotten) = self.writer.turn(move |connection| Ok(forget.execute(connection)?)).await?;
        self.writer.commit(turn, |_| Ok(())).await?;
        Ok(u64::try_from(forgotten).unwrap_or(u64::MAX))
    }
}

#[async_trait]
impl Health for SqliteStore {
    async fn check(&self) -> Result<(), StoreError> {
        self.readers.run(|connection| Ok(connection.batch_execute("SELECT 1")?)).await
    }
}
