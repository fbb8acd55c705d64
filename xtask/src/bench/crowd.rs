//! Votes of many customers for one feature request, compared with votes that are spread.

use roadmap_testkit::postgres::{Cluster, Connection};

use super::Bench;
use super::corpus::Corpus;
use super::report::Figures;
use super::workloads::{HOT, SPREAD};
use crate::load::Service;

/// Connections of each measurement.
const CONNECTIONS: usize = 64;

/// Lowest share of the rate of spread votes that votes for one feature request reach, also while a snapshot is open.
const HOT_TARGET: f64 = 1.0;
const HELD_TARGET: f64 = 0.8;

/// Compares votes for one feature request, also while a snapshot is open, with votes that are spread.
pub(super) fn measure(bench: &Bench, service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    println!("\n| {CONNECTIONS} connections | requests/s | p50 ms | p99 ms | CPU ms/request | of the spread rate |");
    println!("|---|---:|---:|---:|---:|---:|");
    let show = |name: &str, figures: &Figures, share: &str| println!("| {name} | {figures} | {share} |");
    let compare = |while_held: Option<&Cluster>| {
        let spread = bench.measure(service, corpus, &SPREAD, CONNECTIONS)?;
        let _snapshot = while_held.map(|cluster| {
            let snapshot = Connection::open(&cluster.url());
            snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM vote_tallies");
            snapshot
        });
        let hot = bench.measure(service, corpus, &HOT, CONNECTIONS)?;
        Ok((hot.per_second / spread.per_second, (spread, hot)))
    };
    let (ratio, (spread, hot)) = bench.median(|| compare(None))?;
    show(SPREAD.name, &spread, "");
    show(HOT.name, &hot, &format!("{ratio:.2} (target {HOT_TARGET})"));
    if let Some(cluster) = &service.cluster {
        let (ratio, (_, held)) = bench.median(|| compare(Some(cluster)))?;
        show("the same, while a snapshot is open", &held, &format!("{ratio:.2} (target {HELD_TARGET})"));
        let lost = service.sql(
            "SELECT count(*) FROM vote_tallies WHERE votes_count <> (SELECT count(*) FROM votes
             WHERE votes.workspace_id = vote_tallies.workspace_id AND votes.request_id = vote_tallies.request_id)",
        )?;
        println!("\nrequests whose tally is not the number of their votes: {lost}");
    }
    Ok(())
}
