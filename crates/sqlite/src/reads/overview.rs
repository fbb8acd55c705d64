//! The overview of a workspace.

use async_trait::async_trait;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{Activity, MissedSearch, MissedWords, Overview, OverviewTimes, Rising, Week};
use roadmap_domain::model::feature_request::FeatureRequestSummary;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::OverviewReader;

use crate::SqliteStore;
use crate::codec::{Id, optional_timestamp};
use crate::missed_searches::day;
use crate::rows::{SummaryRow, SummarySql, placed_joins, summary_sql};
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
    CountWritten {
        workspace: Id => Binary, from: i64 => BigInt, now: i64 => BigInt, since: i64 => BigInt, before: i64 => BigInt,
        weeks_from: i64 => BigInt,
    } -> (Integer, BigInt, BigInt, BigInt, BigInt),
    concat!(
        "WITH scope (workspace, first, now, since, before, weeks_from) AS (SELECT ?, ?, ?, ?, ?, ?), ", trees!(), ",
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
         SELECT kind, CASE WHEN at >= scope.weeks_from THEN (at - scope.weeks_from) / 604800000 ELSE -1 END AS week,
                count(*), sum(at >= scope.since), sum(at >= scope.before AND at < scope.since)
         FROM scope CROSS JOIN written WHERE at <= scope.now GROUP BY kind, week"
    )
}

/// A row of [`CountWritten`].
type WrittenRow = (i32, i64, i64, i64, i64);

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
    /// Selects the most voted feature requests without an answer, each with the timestamp of the oldest one.
    MostVotedUnanswered { workspace: Id => Binary, limit: i64 => BigInt } -> (SummarySql, Nullable<BigInt>),
    concat!(
        "WITH scope (workspace) AS (SELECT ?)
         SELECT ", summary_sql!(), ", (
             SELECT created_at FROM feature_requests INDEXED BY feature_requests_unanswered
             WHERE workspace_id = (SELECT workspace FROM scope) AND unanswered AND root_id IS NULL
             ORDER BY tag_number LIMIT 1
         ) FROM (
             SELECT row_number, votes_count FROM vote_tallies INDEXED BY vote_tallies_by_count
             WHERE workspace_id = (SELECT workspace FROM scope) AND unanswered AND root_id IS NULL
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

/// The milliseconds of a week.
const WEEK: i64 = 604_800_000;

/// The rows of an overview.
type Rows = (Vec<WrittenRow>, Vec<(SummaryRow, i64)>, Vec<(SummaryRow, Option<i64>)>, Vec<(String, i64)>);

/// Adds the counts of a kind.
fn add(activity: &mut Activity, kind: i32, count: i64) {
    match kind {
        0 => activity.requests += count,
        1 => activity.votes += count,
        _ => activity.comments += count,
    }
}

/// Returns the counts of the period, of the one before it, and of the weeks.
fn activity(rows: Vec<WrittenRow>, weeks_from: i64) -> Result<(Activity, Activity, Vec<Week>), StoreError> {
    let (mut within, mut before) = (Activity::default(), Activity::default());
    let mut weeks = [Activity::default(); Overview::WEEKS];
    for (kind, week, all, in_period, in_period_before) in rows {
        add(&mut within, kind, in_period);
        add(&mut before, kind, in_period_before);
        if let Some(week) = usize::try_from(week).ok().and_then(|week| weeks.get_mut(week)) {
            add(week, kind, all);
        }
    }
    let week = |(number, Activity { requests, votes, comments }): (i64, Activity)| {
        let start = Timestamp::from_millis(weeks_from + number * WEEK);
        let start = start.ok_or_else(|| StoreError::Fatal("a week is out of range".into()))?;
        Ok(Week { start, requests, votes, comments })
    };
    Ok((within, before, (0..).zip(weeks).map(week).collect::<Result<_, StoreError>>()?))
}

#[async_trait]
impl OverviewReader for SqliteStore {
    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError> {
        let workspace = Id(workspace.uuid());
        let OverviewTimes { now, since, before, weeks_from } = times;
        let (now, since, before, weeks_from) = (now.millis(), since.millis(), before.millis(), weeks_from.millis());
        let (from, day, limit) = (before.min(weeks_from), day(times.since), i64::from(Overview::ENTRIES));
        let (written, rising_rows, unanswered, missed): Rows = self
            .readers
            .run_in_snapshot(move |connection| {
                Ok((
                    CountWritten { workspace, from, now, since, before, weeks_from }.load(connection)?,
                    MostRising { workspace, since, now, limit }.load(connection)?,
                    MostVotedUnanswered { workspace, limit }.load(connection)?,
                    MostMissed { workspace, day, limit }.load(connection)?,
                ))
            })
            .await?;
        let oldest = unanswered.first().and_then(|(_, oldest)| *oldest);
        let rising = |(row, new_votes): (SummaryRow, i64)| Ok(Rising { request: row.try_into()?, new_votes });
        let missed_search = |(words, count)| MissedSearch { words: MissedWords::from_stored(words), count };
        let (activity, activity_before, weeks) = activity(written, weeks_from)?;
        Ok(Overview {
            activity,
            activity_before,
            weeks,
            unanswered: unanswered
                .into_iter()
                .map(|(row, _)| FeatureRequestSummary::try_from(row))
                .collect::<Result<_, _>>()?,
            oldest_unanswered_at: optional_timestamp(oldest, "feature_requests", "created_at", workspace)?,
            rising: rising_rows.into_iter().map(rising).collect::<Result<_, StoreError>>()?,
            missed_searches: missed.into_iter().map(missed_search).collect(),
        })
    }
}
