//! Inserts votes into the database, because ten million of them would take an hour through the API.
//!
//! They are those of customers of their own, each with [`VOTES_EACH`] votes for different feature requests.

use anyhow::ensure;

use crate::load::Service;

/// Votes of each customer. Less than the number of feature requests.
const VOTES_EACH: u64 = 50;

/// Distance of the feature requests that a customer votes for, a prime number.
const STEP: u64 = 1_009;

/// Inserts this number of votes for the first `requests` feature requests, and counts them. The service must not run.
pub(crate) fn insert(service: &Service, requests: u64, votes: u64) -> anyhow::Result<()> {
    ensure!(
        requests > VOTES_EACH && !requests.is_multiple_of(STEP),
        "{requests} feature requests are not enough to vote for"
    );
    let customers = votes / VOTES_EACH;
    let insert = if service.cluster.is_some() { on_postgres } else { on_sqlite };
    service.execute(&insert(requests, customers))
}

/// Does what the database does by itself some time after the insertion, and which would be measured otherwise. The service
/// must not run.
pub(crate) fn settle(service: &Service) -> anyhow::Result<()> {
    if service.cluster.is_none() {
        return service.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    service.execute("VACUUM ANALYZE")?;
    service.execute("CHECKPOINT")
}

/// The votes of one customer after the other. Indexes are built after them, which is faster.
fn on_sqlite(requests: u64, customers: u64) -> String {
    format!(
        "PRAGMA foreign_keys = OFF;
         PRAGMA synchronous = OFF;
         PRAGMA cache_size = -1000000;
         PRAGMA temp_store = MEMORY;
         BEGIN;
         DROP INDEX votes_by_customer;
         DROP INDEX votes_by_age;
         CREATE TEMP TABLE numbered AS
             WITH RECURSIVE numbers (number) AS (
                 SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < {customers}
             )
             SELECT number, randomblob(16) AS id FROM numbers;
         INSERT INTO customers (workspace_id, id, email, email_folded, created_at)
             SELECT workspaces.id, numbered.id, 'many' || numbered.number || '@example.com',
                    'many' || numbered.number || '@example.com', workspaces.created_at
             FROM numbered CROSS JOIN workspaces;
         CREATE TEMP TABLE slots AS
             WITH RECURSIVE numbers (number) AS (
                 SELECT 0 UNION ALL SELECT number + 1 FROM numbers WHERE number + 1 < {VOTES_EACH}
             )
             SELECT number FROM numbers;
         INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
             SELECT requests.workspace_id, requests.id, numbered.id, 1, requests.created_at
             FROM numbered CROSS JOIN slots CROSS JOIN feature_requests AS requests
             WHERE requests.workspace_id = (SELECT id FROM workspaces)
               AND requests.tag_number = 1 + (numbered.number * 7919 + slots.number * {STEP}) % {requests}
             ORDER BY 1, 2, 3;
         UPDATE vote_tallies SET votes_count = (
             SELECT count(*) FROM votes
             WHERE votes.workspace_id = vote_tallies.workspace_id AND votes.request_id = vote_tallies.request_id
         );
         -- As if the votes were of different months.
         UPDATE vote_tallies SET trend = votes_count * (1.0 + row_number % 97);
         CREATE INDEX votes_by_customer ON votes (workspace_id, customer_id);
         CREATE INDEX votes_by_age ON votes (workspace_id, request_id, created_at);
         COMMIT;"
    )
}

/// As [`on_sqlite`]. Without triggers, which check foreign keys.
fn on_postgres(requests: u64, customers: u64) -> String {
    format!(
        "SET session_replication_role = replica;
         DROP INDEX votes_by_customer;
         DROP INDEX votes_by_age;
         CREATE TEMP TABLE numbered AS
             SELECT number, gen_random_uuid() AS id FROM generate_series(0, {customers} - 1) AS number;
         INSERT INTO customers (workspace_id, id, email, email_folded, created_at)
             SELECT workspaces.id, numbered.id, 'many' || numbered.number || '@example.com',
                    'many' || numbered.number || '@example.com', workspaces.created_at
             FROM numbered CROSS JOIN workspaces;
         INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
             SELECT requests.workspace_id, requests.id, numbered.id, true, requests.created_at
             FROM numbered CROSS JOIN generate_series(0, {VOTES_EACH} - 1) AS slot
             JOIN feature_requests AS requests
               ON requests.tag_number = 1 + (numbered.number * 7919 + slot * {STEP}) % {requests}
             ORDER BY 1, 2, 3;
         -- The sums as if the votes were of different months.
         UPDATE vote_tallies SET votes_count = counted.votes_count,
                trend = counted.votes_count * (1.0 + tag_number % 97) FROM (
             SELECT workspace_id, request_id, count(*) AS votes_count FROM votes GROUP BY 1, 2
         ) AS counted
         WHERE vote_tallies.workspace_id = counted.workspace_id AND vote_tallies.request_id = counted.request_id;
         CREATE INDEX votes_by_customer ON votes (workspace_id, customer_id, request_id);
         CREATE INDEX votes_by_age ON votes (workspace_id, request_id, created_at, customer_id);
         RESET session_replication_role;"
    )
}
