//! The counts of searches that found nothing.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl, RunQueryDsl};
use diesel::sql_types::BigInt;
use diesel::{SqliteConnection, insert_into, update};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::MissedSearch;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::MissedSearchStore;
use roadmap_store::columns::Id;

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::schema::missed_searches;
use crate::statement::statement;

statement! {
    /// Deletes the counts of the first days before one, of all workspaces.
    PurgeMissedSearches { before: i64 => BigInt, limit: i64 => BigInt }
    "DELETE FROM missed_searches WHERE (workspace_id, day, words) IN (
         SELECT workspace_id, day, words FROM missed_searches WHERE day < ? ORDER BY day LIMIT ?
     )"
}

/// Adds to the counts of a day. New texts are left out once there are `limit` of them.
fn add(
    connection: &mut SqliteConnection,
    workspace: Id,
    day: i64,
    searches: &[MissedSearch],
    limit: i64,
) -> Result<(), SqlError> {
    let of_day =
        missed_searches::table.filter(missed_searches::workspace_id.eq(workspace)).filter(missed_searches::day.eq(day));
    let mut texts: i64 = of_day.count().get_result(connection)?;
    for MissedSearch { words, count } in searches {
        let added = update(of_day.filter(missed_searches::words.eq(words.as_str())))
            .set(missed_searches::count.eq(missed_searches::count + count))
            .execute(connection)?;
        if added > 0 || texts >= limit {
            continue;
        }
        insert_into(missed_searches::table)
            .values((
                missed_searches::workspace_id.eq(workspace),
                missed_searches::day.eq(day),
                missed_searches::words.eq(words.as_str()),
                missed_searches::count.eq(count),
            ))
            .execute(connection)?;
        texts += 1;
    }
    Ok(())
}

#[async_trait]
impl MissedSearchStore for SqliteStore {
    async fn add_missed_searches(
        &self,
        workspace: WorkspaceId,
        day: Timestamp,
        searches: &[MissedSearch],
        limit: u32,
    ) -> Result<(), StoreError> {
        let (workspace, day, searches) = (Id(workspace.uuid()), day.millis(), searches.to_vec());
        self.write(move |connection| add(connection, workspace, day, &searches, limit.into())).await
    }

    async fn purge_missed_searches(&self, day: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let purge = PurgeMissedSearches { before: day.millis(), limit: i64::from(limit) };
        self.write(move |connection| Ok(purge.execute(connection)? as u64)).await
    }
}
