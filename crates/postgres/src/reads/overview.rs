//! The overview of a workspace.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{ActivityCount, ActivityKind, Overview, OverviewTimes};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::ports::OverviewReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::OverviewRows;
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::tracks::most_voted;
use crate::rows::SummaryColumns;
use crate::statement::{placed, statement, summary};

/// The SQL of the common table expressions `members`, the feature requests of trees with merged ones, each with its root,
/// and `first_votes`, the first vote of each customer in each of these trees.
macro_rules! trees {
    () => {
        "merged AS MATERIALIZED (
             SELECT id, root_id FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL
         ), members AS MATERIALIZED (
             SELECT id, root_id FROM merged UNION SELECT root_id, root_id FROM merged
         ), first_votes AS MATERIALIZED (
             SELECT members.root_id, min(votes.created_at) AS created_at FROM members
             JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
             GROUP BY members.root_id, votes.customer_id
         )"
    };
}

statement! {
    /// Counts what was written since the first of some timestamps: feature requests (0), votes (1) and comments of
    /// customers (2), by the number of the week that begins with one of `weeks`, from 1. The counts are of all, of those
    /// in the period, and of those in the period before it.
    CountActivity {
        workspace: Uuid => SqlUuid,
        first: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
        since: TimestampColumn => Timestamptz,
        before: TimestampColumn => Timestamptz,
        weeks: Vec<TimestampColumn> => Array<Timestamptz>,
    } -> (Integer, Integer, BigInt, BigInt, BigInt),
    concat!("WITH ", trees!(), ", written AS (
         SELECT 0 AS kind, created_at FROM feature_requests WHERE workspace_id = {workspace}
         UNION ALL
         SELECT 1, created_at FROM votes
         WHERE workspace_id = {workspace} AND request_id NOT IN (SELECT id FROM members)
         UNION ALL
         SELECT 1, created_at FROM first_votes
         UNION ALL
         SELECT 2, created_at FROM comments WHERE workspace_id = {workspace} AND customer_id IS NOT NULL
     )
     SELECT kind, width_bucket(created_at, {weeks}), count(*), count(*) FILTER (WHERE created_at >= {since}),
            count(*) FILTER (WHERE created_at >= {before} AND created_at < {since})
     FROM written WHERE created_at >= {first} AND created_at <= {now} GROUP BY 1, 2")
}

type ActivityRow = (i32, i32, i64, i64, i64);

statement! {
    /// Selects the feature requests with the most votes in a period, with their number.
    MostRising {
        workspace: Uuid => SqlUuid,
        since: TimestampColumn => Timestamptz,
        now: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> (SummaryColumns, BigInt),
    concat!("WITH ", trees!(), ", counted AS (
         SELECT request_id, count(*) AS new_votes FROM votes
         WHERE workspace_id = {workspace} AND created_at >= {since} AND created_at <= {now}
           AND request_id NOT IN (SELECT id FROM members)
         GROUP BY request_id
         UNION ALL
         SELECT root_id, count(*) FROM first_votes
         WHERE created_at >= {since} AND created_at <= {now} GROUP BY root_id
     ), rising AS MATERIALIZED (
         SELECT counted.request_id, new_votes FROM counted
         JOIN vote_tallies ON workspace_id = {workspace} AND vote_tallies.request_id = counted.request_id
         ORDER BY new_votes DESC, tag_number DESC LIMIT {limit}
     )
     SELECT ", summary!(), ", new_votes FROM rising
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = rising.request_id
     ", placed!(), "
     ORDER BY new_votes DESC, feature_requests.tag_number DESC")
}

/// Declares the statement of the most voted feature requests that need something.
macro_rules! most_voted_noticed {
    ($(#[$doc:meta])* $name:ident, $attention:literal) => {
        statement! {
            $(#[$doc])*
            $name { workspace: Uuid => SqlUuid, limit: i64 => BigInt } -> (SummaryColumns, Nullable<Timestamptz>),
            concat!("WITH track_set AS MATERIALIZED (
                 SELECT id FROM tracks WHERE workspace_id = {workspace}
             ), top AS MATERIALIZED (
                 SELECT request_id FROM track_set
                 CROSS JOIN LATERAL (", most_voted!("track_set.id", $attention, "{limit}"), ") AS top
                 ORDER BY votes_count DESC, tag_number DESC LIMIT {limit}
             ), oldest AS MATERIALIZED (
                 SELECT created_at FROM track_set CROSS JOIN LATERAL (
                     SELECT tag_number, created_at FROM feature_requests
                     WHERE workspace_id = {workspace} AND (track_id, tag_number) >= (track_set.id, 0)
                       AND track_id <= track_set.id", $attention, "
                     ORDER BY track_id, tag_number LIMIT 1
                 ) AS first
                 ORDER BY tag_number LIMIT 1
             )
             SELECT ", summary!(), ", oldest.created_at FROM top CROSS JOIN oldest
             JOIN feature_requests
               ON feature_requests.workspace_id = {workspace} AND feature_requests.id = top.request_id
             ", placed!(), "
             ORDER BY votes_count DESC, feature_requests.tag_number DESC")
        }
    };
}

most_voted_noticed!(
    /// Selects the most voted feature requests without an answer, each with the timestamp of the oldest one.
    MostVotedUnanswered, " AND attention = 'unanswered'"
);
most_voted_noticed!(
    /// Selects the most voted feature requests with a new reply, each with the timestamp of the oldest one.
    MostVotedReplied, " AND attention = 'replied'"
);

statement! {
    /// Selects the most frequent searches since a day (UTC) that found nothing.
    MostMissed {
        workspace: Uuid => SqlUuid,
        day: TimestampColumn => Timestamptz,
        limit: i64 => BigInt,
    } -> (Text, BigInt),
    "SELECT words, sum(count)::bigint AS total FROM missed_searches
     WHERE workspace_id = {workspace} AND day >= ({day} AT TIME ZONE 'UTC')::date
     GROUP BY words ORDER BY total DESC, words COLLATE \"C\" LIMIT {limit}"
}

/// Converts a count. Weeks are numbered from 1.
fn activity_count((kind, week, all, within, before): ActivityRow) -> ActivityCount {
    let week = usize::try_from(week).ok().and_then(|week| week.checked_sub(1));
    ActivityCount { kind: ActivityKind::from_number(kind), week, all, within, before }
}

#[async_trait]
impl OverviewReader for PostgresReader {
    async fn overview(&self, workspace: WorkspaceId, times: &OverviewTimes) -> Result<Overview, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let OverviewTimes { now, since, before, weeks } = *times;
        let limit = i64::from(Overview::ENTRIES);
        let count = CountActivity {
            workspace,
            first: times.first().into(),
            now: now.into(),
            since: since.into(),
            before: before.into(),
            weeks: weeks.map(TimestampColumn::from).to_vec(),
        };
        let counts: Vec<ActivityRow> = session.run(count.load(&mut session.connection()?)).await?;
        let unanswered = MostVotedUnanswered { workspace, limit };
        let unanswered = session.run(unanswered.load(&mut session.connection()?)).await?;
        let replied = MostVotedReplied { workspace, limit };
        let replied = session.run(replied.load(&mut session.connection()?)).await?;
        let rising = MostRising { workspace, since: since.into(), now: now.into(), limit };
        let rising = session.run(rising.load(&mut session.connection()?)).await?;
        let missed = MostMissed { workspace, day: since.start_of_day().into(), limit };
        let missed_searches = session.run(missed.load(&mut session.connection()?)).await?;
        let rows = OverviewRows { unanswered, replied, rising, missed_searches };
        rows.into_overview(times.add_up(counts.into_iter().map(activity_count)), workspace)
    }
}
