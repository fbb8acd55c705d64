//! A move of many feature requests with their votes from SQLite to PostgreSQL.

use std::io::Read;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use roadmap_testkit::postgres::Durability;

use super::imports;
use crate::load::Service;
use crate::process::Process;
use crate::store::Store;

pub(super) const NAME: &str = "move";

const SECONDS_TARGET: f64 = 120.0;
const MEMORY_TARGET: f64 = 300.0;

/// Imports the files of the measurement of imports into SQLite, and moves that to PostgreSQL.
pub(super) fn measure(service: &Service) -> anyhow::Result<()> {
    service.workspace(NAME)?;
    let files = imports::files(service.folder())?;
    let paths = files.iter().map(|path| path.to_str().context("a path of UTF-8"));
    let paths = paths.collect::<anyhow::Result<Vec<_>>>()?;
    service.roadmap(&[&["import", "csv", "--workspace", NAME][..], &paths].concat())?;

    let cluster = Store::Postgres.cluster(Durability::Full)?.context("a database server")?;
    let mut command = service.command();
    command.args(["move", "--json", "--to", &cluster.url()]).stderr(std::process::Stdio::null());
    let began = Instant::now();
    let (mut process, mut output) = Process::start(&mut command, "the move")?;
    let mut peak = 0.0_f64;
    while !process.has_exited()? {
        // It is gone once the process has exited.
        peak = peak.max(process.peak_mb().unwrap_or_default());
        std::thread::sleep(Duration::from_millis(50));
    }
    let seconds = began.elapsed().as_secs_f64();
    let mut moved = String::new();
    output.read_to_string(&mut moved)?;
    let moved: serde_json::Value = serde_json::from_str(&moved).context("nothing was moved")?;
    let tables = moved.get("tables").and_then(serde_json::Value::as_array).context("tables")?;
    let rows = |name: &str| {
        let table = tables.iter().find(|table| table.get("name").is_some_and(|found| found == name));
        table.and_then(|table| table.get("rows")?.as_u64()).unwrap_or_default()
    };
    let (requests, votes) = (rows("feature_requests"), rows("votes"));
    ensure!(requests >= imports::REQUESTS && votes > 0, "not all was moved: {moved}");
    println!("| {NAME} of {requests} feature requests and {votes} votes to PostgreSQL | | target |");
    println!("|---|---:|---:|");
    println!("| seconds | {seconds:.1} | {SECONDS_TARGET} |");
    println!("| peak memory, MB | {peak:.0} | {MEMORY_TARGET} |");
    Ok(())
}
