//! Counts of searches that found nothing.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Text, Timestamptz, Untyped, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::MissedSearch;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::MissedSearchStore;
use roadmap_store::columns::TimestampColumn;
use uuid::Uuid;

use crate::PostgresStore;
use crate::locks::{LockKey, WorkspaceLock};
use crate::session::{LastStatement, NO_WORKSPACE, Session};
use crate::statement::statement;

statement! {
    /// Adds to the counts of a day (UTC). New texts are added, in order, until the day has `limit` of them.
    AddMissedSearches {
        workspace: Uuid => SqlUuid,
        day: TimestampColumn => Timestamptz,
        words: Vec<String> => Array<Text>,
        counts: Vec<i64> => Array<BigInt>,
        limit: i64 => BigInt,
    } -> Untyped,
    "WITH today AS MATERIALIZED (
         SELECT ({day} AT TIME ZONE 'UTC')::date AS day
     ), stored AS MATERIALIZED (
         SELECT words FROM missed_searches WHERE workspace_id = {workspace} AND day = (SELECT day FROM today)
     ), added AS (
         SELECT words, sum(count)::bigint AS count, min(place) AS place,
                words IN (SELECT words FROM stored) AS is_stored
         FROM unnest({words}, {counts}) WITH ORDINALITY AS searches (words, count, place)
         GROUP BY words
     ), ranked AS (
         SELECT words, count, is_stored, row_number() OVER (PARTITION BY is_stored ORDER BY place) AS rank FROM added
     )
     INSERT INTO missed_searches (workspace_id, day, words, count)
     SELECT {workspace}, (SELECT day FROM today), words, count FROM ranked
     WHERE is_stored OR rank + (SELECT count(*) FROM stored) <= {limit}
     ON CONFLICT (workspace_id, day, words) DO UPDATE SET count = missed_searches.count + excluded.count"
}

statement! {
    /// Selects the workspaces with counts of days (UTC) before one.
    OutdatedWorkspaces { day: TimestampColumn => Timestamptz } -> SqlUuid,
    "SELECT id FROM workspaces_with_missed_searches(({day} AT TIME ZONE 'UTC')::date)"
}

statement! {
    /// Deletes a workspace's oldest counts of days (UTC) before one.
    PurgeMissedSearches {
        workspace: Uuid => SqlUuid,
        day: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> Untyped,
    "DELETE FROM missed_searches WHERE workspace_id = {workspace} AND (day, words) IN (
         SELECT day, words FROM missed_searches
         WHERE workspace_id = {workspace} AND day < ({day} AT TIME ZONE 'UTC')::date
         ORDER BY day, words LIMIT {limit}
     )"
}

#[async_trait]
impl MissedSearchStore for PostgresStore {
    /// Takes a lock of the workspace first, so that two processes do not exceed the limit together.
    async fn add_missed_searches(
        &self,
        workspace: WorkspaceId,
        day: Timestamp,
        searches: &[MissedSearch],
        limit: u32,
    ) -> Result<(), StoreError> {
        let workspace = workspace.uuid();
        let session = Session::transaction(&self.auxiliary, workspace).await?;
        let lock = LockKey::of_workspace(workspace, WorkspaceLock::MissedSearches);
        session.run(lock.execute(&mut session.connection()?)).await?;
        let add = AddMissedSearches {
            workspace,
            day: day.into(),
            words: searches.iter().map(|search| search.words.as_str().to_owned()).collect(),
            counts: searches.iter().map(|search| search.count).collect(),
            limit: i64::from(limit),
        };
        session.run(add.execute(&mut session.connection()?)).await?;
        session.commit(None::<(LastStatement, AddMissedSearches)>).await
    }

    /// Purges one workspace at a time, because no session sees the rows of two. Mostly there is none to purge.
    async fn purge_missed_searches(&self, day: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let outdated = {
            let session = self.session(NO_WORKSPACE).await?;
            let outdated = OutdatedWorkspaces { day: day.into() };
            let outdated: Vec<Uuid> = session.run(outdated.load(&mut session.connection()?)).await?;
            outdated
        };
        let mut purged: u64 = 0;
        for workspace in outdated {
            let remaining = u64::from(limit).saturating_sub(purged).cast_signed();
            if remaining == 0 {
                break;
            }
            let session = self.session(WorkspaceId::new(workspace)).await?;
            let purge = PurgeMissedSearches { workspace, day: day.into(), limit: remaining };
            purged += session.run(purge.execute(&mut session.connection()?)).await? as u64;
        }
        Ok(purged)
    }
}
