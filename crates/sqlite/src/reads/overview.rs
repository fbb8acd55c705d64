//! The overview of a workspace.

use async_trait::async_trait;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{ActivityCount, ActivityKind, Overview, OverviewTimes};
use roadmap_domain::model::feature_request::Attention;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::OverviewReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::OverviewRows;

use crate::SqliteStore;
use crate::rows::{SummarySql, placed_joins, summary_sql};
use crate::statement::statement;

/// SQL for the feature requests of trees with merged ones, each with its root, and for the first votes of the different
/// customers in each of these trees, from a common table expression `scope (workspace)`.
macro_rules! trees {
    () => {
        "merged (request, root) AS MATERIALIZED (
             SELECT id, root_id FROM feature_requests INDEXED BY feature_requests_by_root
             WHERE workspace_id = (SELECT workspace FROM scope) AND root_id IS NOT NULL
         ),
         grouped (request, root) AS MATERIALIZED (
             SELECT request, root FROM merged UNION SELECT root, root FROM merged
         ),
         first_votes (root, at) AS MATERIALIZED (
             SELECT grouped.root, min(votes.created_at) FROM scope CROSS JOIN grouped
             CROSS JOIN votes ON votes.workspace_id = scope.workspace AND votes.request_id = grouped.request
             GROUP BY grouped.root, votes.customer_id
         )"
    };
}

statement! {
    /// Counts what was written since a timestamp: feature requests (0), votes (1) and comments of customers (2), by the
    /// number of the week, which is -1 before the first week. The counts are of all, of those in the period and of those
    /// in the period before it.
    CountActivity {
        workspace: Id => Binary, from: i64 => BigInt, now: i64 => BigInt, since: i64 => BigInt, before: i64 => BigInt,
        weeks_from: i64 => BigInt, week: i64 => BigInt,
    } -> (Integer, BigInt, BigInt, BigInt, BigInt),
    concat!(
        "WITH scope (workspace, first, now, since, before, weeks_from, week) AS (SELECT ?, ?, ?, ?, ?, ?, ?), ", trees!(), ",
         written (kind, at) AS (
             SELECT 0, created_at FROM feature_requests INDEXED BY feature_requests_by_age
             WHERE workspace_id = (SELECT workspace FROM scope) AND created_at >= (SELECT first FROM scope)
             UNION ALL
             SELECT 1, created_at FROM votes INDEXED BY votes_by_age
             WHERE workspace_id = (SELECT workspace FROM scope) AND created_at >= (SELECT first FROM scope)
               AND request_id NOT IN (SELECT request FROM grouped)
             UNION ALL
             SELECT 1, at FROM first_votes WHERE at >= (SELECT first FROM scope)
             UNION ALL
             SELECT 2, created_at FROM comments INDEXED BY comments_of_customers
             WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id IS NOT NULL
               AND created_at >= (SELECT first FROM scope)
         )
         SELECT kind, CASE WHEN at >= scope.weeks_from THEN (at - scope.weeks_from) / scope.week ELSE -1 END AS number,
                count(*), sum(at >= scope.since), sum(at >= scope.before AND at < scope.since)
         FROM scope CROSS JOIN written WHERE at <= scope.now GROUP BY kind, number"
    )
}

/// A row of [`CountActivity`].
type ActivityRow = (i32, i64, i64, i64, i64);

statement! {
    /// Selects the feature requests with the most votes in a period, with their number.
    MostRising { workspace: Id => Binary, since: i64 => BigInt, now: i64 => BigInt, limit: i64 => BigInt }
        -> (SummarySql, BigInt),
    concat!(
        "WITH scope (workspace, since, now) AS (SELECT ?, ?, ?), ", trees!(), ",
         counted (request, votes) AS (
             SELECT request_id, count(*) FROM votes INDEXED BY votes_by_age
             WHERE workspace_id = (SELECT workspace FROM scope)
               AND created_at BETWEEN (SELECT since FROM scope) AND (SELECT now FROM scope)
               AND request_id NOT IN (SELECT request FROM grouped)
             GROUP BY request_id
             UNION ALL
             SELECT root, count(*) FROM first_votes
             WHERE at BETWEEN (SELECT since FROM scope) AND (SELECT now FROM scope) GROUP BY root
         ),
         page (number, votes) AS (
             SELECT tally.row_number, counted.votes FROM scope CROSS JOIN counted
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                    AND tally.request_id = counted.request
             ORDER BY counted.votes DESC, tally.row_number DESC LIMIT ?
         )
         SELECT ", summary_sql!(), ", page.votes FROM page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.number ", placed_joins!(), "
         ORDER BY page.votes DESC, page.number DESC"
    )
}

statement! {
    /// Selects the most voted feature requests that need something, each with the timestamp of the oldest one.
    MostVotedNoticed { workspace: Id => Binary, state: &'static str => Text, limit: i64 => BigInt }
        -> (SummarySql, Nullable<BigInt>),
    concat!(
        "WITH scope (workspace, state) AS (SELECT ?, ?)
         SELECT ", summary_sql!(), ", (
             SELECT created_at FROM feature_requests INDEXED BY feature_requests_by_attention
             WHERE workspace_id = (SELECT workspace FROM scope) AND attention = (SELECT state FROM scope)
             ORDER BY tag_number LIMIT 1
         ) FROM (
             SELECT row_number, votes_count FROM vote_tallies INDEXED BY vote_tallies_by_count
             WHERE workspace_id = (SELECT workspace FROM scope) AND root_id IS NULL
               AND attention IS (SELECT state FROM scope)
             ORDER BY votes_count DESC, row_number DESC LIMIT ?
         ) AS page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.row_number ", placed_joins!(), "
         ORDER BY page.votes_count DESC, page.row_number DESC"
    )
}

statement! {
    /// Selects the most frequent searches since a day that found nothing.
    MostMissed { workspace: Id => Binary, day: i64 => BigInt, limit: i64 => BigInt } -> (Text, BigInt),
    "SELECT words, sum(count) AS total FROM missed_searches WHERE workspace_id = ? AND day >= ?
     GROUP BY words ORDER BY total DESC, words LIMIT ?"
}

/// Converts a count.
fn activity_count((kind, week, all, within, before): ActivityRow) -> ActivityCount {
    ActivityCount { kind: ActivityKind::from_number(kind), week: usize::try_from(week).ok(), all, within, before }
}

#[async_trait]
impl OverviewReader for SqliteStore {
    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError> {
        let workspace = Id(workspace.uuid());
        let OverviewTimes { now, since, before, weeks: [weeks_from, ..] } = times;
        let count = CountActivity {
            workspace,
            from: times.first().millis(),
            now: now.millis(),
            since: since.millis(),
            before: before.millis(),
            weeks_from: weeks_from.millis(),
            week: OverviewTimes::WEEK_MILLIS,
        };
        let limit = i64::from(Overview::ENTRIES);
        let rising = MostRising { workspace, since: since.millis(), now: now.millis(), limit };
        let missed = MostMissed { workspace, day: since.start_of_day().millis(), limit };
        let (counts, rows): (Vec<ActivityRow>, OverviewRows) = self
            .readers
            .run_in_snapshot(move |connection| {
                let counts = count.load(connection)?;
                let rising = rising.load(connection)?;
                let noticed = |state: Attention| MostVotedNoticed { workspace, state: state.name(), limit };
                let unanswered = noticed(Attention::Unanswered).load(connection)?;
                let replied = noticed(Attention::Replied).load(connection)?;
                let missed_searches = missed.load(connection)?;
                Ok((counts, OverviewRows { unanswered, replied, rising, missed_searches }))
            })
            .await?;
        rows.into_overview(times.add_up(counts.into_iter().map(activity_count)), workspace)
    }
}
