//! pgbench with the best single SQL statement for a workload: what the database server achieves alone.

use std::process::Command;

use anyhow::{Context, ensure};

use roadmap_testkit::postgres::program;

use super::workloads;
use crate::load::Service;
use crate::run::text;

/// Upvote with all of its effects: operation key and saved response, customer (found, created or named), vote, tally,
/// note and the note's author.
const UPVOTE: &str = "\\set customer random(0, {customers} - 1)
\\set number random(1, {requests})
\\set key random(1, 1000000000000000000)
WITH saved AS (
    INSERT INTO operations (workspace_id, operation_key, status, body, created_at)
    VALUES ('{workspace}', 'pgbench-' || (:key)::text, 201, decode(repeat('6a', 480), 'hex'), now())
), request AS MATERIALIZED (
    SELECT feature_requests.id, tag_number, title, tracks.name AS track, lanes.name AS lane, created_at
    FROM feature_requests
    JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id AND tracks.id = track_id
    LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = lane_id
    WHERE feature_requests.workspace_id = '{workspace}' AND tag_number = :number
), known AS MATERIALIZED (
    SELECT id, name FROM customers
    WHERE workspace_id = '{workspace}' AND email_folded = 'customer' || (:customer)::text || '@example.com'
), added AS (
    INSERT INTO customers (workspace_id, id, email, email_folded, name, created_at)
    SELECT '{workspace}', gen_random_uuid(), 'customer' || (:customer)::text || '@example.com',
           'customer' || (:customer)::text || '@example.com', 'Customer', now() FROM request
    WHERE NOT EXISTS (SELECT FROM known)
    ON CONFLICT (workspace_id, email_folded) DO UPDATE SET name = coalesce(customers.name, excluded.name) RETURNING id
), named AS (
    UPDATE customers SET name = 'Customer'
    WHERE workspace_id = '{workspace}' AND id = (SELECT id FROM known WHERE name IS NULL) AND name IS NULL
), voter AS MATERIALIZED (
    SELECT id FROM known UNION ALL SELECT id FROM added
), vote AS (
    INSERT INTO votes (workspace_id, request_id, customer_id, subscribed, created_at)
    SELECT '{workspace}', request.id, voter.id, true, now() FROM request, voter
    ON CONFLICT DO NOTHING RETURNING request_id
), counted AS (
    UPDATE vote_tallies SET votes_count = votes_count + 1
    WHERE workspace_id = '{workspace}' AND request_id = (SELECT request_id FROM vote) RETURNING votes_count
), noted AS (
    INSERT INTO notes (workspace_id, id, request_id, customer_id, author_id, body, created_at)
    SELECT '{workspace}', gen_random_uuid(), request.id, (SELECT id FROM voter),
           (SELECT id FROM members WHERE workspace_id = '{workspace}' ORDER BY created_at, id LIMIT 1),
           'Asked for it on the phone, number ' || (:key)::text, now() FROM request
)
SELECT request.*, coalesce((SELECT votes_count FROM counted),
    (SELECT votes_count FROM vote_tallies WHERE workspace_id = '{workspace}' AND request_id = request.id))
FROM request;
";

const TRACKS: &str = "SELECT tracks.id, tracks.name, lanes.id, lanes.name FROM tracks
LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
WHERE tracks.workspace_id = '{workspace}' ORDER BY tracks.position;
";

const VOTES: &str = "\\set customer random(0, {customers} - 1)
WITH customer AS MATERIALIZED (
    SELECT id FROM customers
    WHERE workspace_id = '{workspace}' AND email_folded = 'customer' || (:customer)::text || '@example.com'
), total AS (
    SELECT count(*) AS total FROM votes WHERE workspace_id = '{workspace}' AND customer_id = (SELECT id FROM customer)
), page AS (
    SELECT request_id FROM votes WHERE workspace_id = '{workspace}' AND customer_id = (SELECT id FROM customer)
    ORDER BY request_id DESC LIMIT 25 OFFSET 0
)
SELECT total, feature_requests.id, feature_requests.tag_number, title, tracks.name, lanes.name, votes_count, created_at
FROM total LEFT JOIN (
    page
    JOIN feature_requests ON feature_requests.workspace_id = '{workspace}' AND feature_requests.id = page.request_id
    JOIN vote_tallies ON vote_tallies.workspace_id = '{workspace}' AND vote_tallies.request_id = page.request_id
    JOIN tracks ON tracks.workspace_id = '{workspace}' AND tracks.id = feature_requests.track_id
    LEFT JOIN lanes ON lanes.workspace_id = '{workspace}' AND lanes.id = lane_id
) ON true ORDER BY feature_requests.id DESC;
";

/// Returns the pgbench script of a workload, if there is one.
pub(crate) fn script(workload: &str) -> Option<&'static str> {
    match workload {
        workloads::UPVOTE => Some(UPVOTE),
        workloads::TRACKS => Some(TRACKS),
        workloads::VOTES => Some(VOTES),
        _ => None,
    }
}

/// Returns statements per second with this many clients.
pub(crate) fn run(service: &Service, script: &str, bench: &super::Bench, clients: usize) -> anyhow::Result<f64> {
    let cluster = service.cluster.as_ref().context("there is no database server")?;
    let script = script
        .replace("{workspace}", &service.sql("SELECT id FROM workspaces")?)
        .replace("{customers}", &bench.customers.to_string())
        .replace("{requests}", &bench.requests.to_string());
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), script)?;
    let mut pgbench = Command::new(program("pgbench").context("pgbench is not installed")?);
    let port = cluster.port().to_string();
    pgbench.args(["-n", "-M", "prepared", "-h", "127.0.0.1", "-U", "postgres", "-j", "1", "-p", &port]);
    pgbench.args(["-c", &clients.to_string(), "-T", &bench.seconds.to_string(), "-f"]).arg(file.path()).arg("postgres");
    let printed = text(&mut pgbench, "pgbench")?;
    ensure!(printed.contains("number of failed transactions: 0"), "statements of pgbench failed: {printed}");
    let rate = printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split_whitespace().next());
    Ok(rate.context("pgbench reported no rate")?.parse()?)
}
