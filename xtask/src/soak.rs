//! `cargo xtask soak`: loads the service with half of what it can take, for a long time.
//!
//! Requests are sent at a steady rate, whether or not earlier ones are answered. A latency counts from the time at which
//! a request is due, so that one slow response shows in all that wait behind it. Beside it, a page of another file is
//! synced now and then, so that a slow disk is not taken for a slow service.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::future::{try_join_all, try_join3};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use roadmap_testkit::postgres::Durability;

use crate::bench::corpus::Corpus;
use crate::bench::data;
use crate::bench::workloads::{self, NextRequest};
use crate::load::{Latencies, Request, Service, WITHOUT_LIMITS, block_on, build_release, closed_loop};
use crate::run::in_release;
use crate::store::Store;

/// Connections that send requests.
const CONNECTIONS: usize = 16;

/// How long the capacity is measured before.
const CALIBRATION: Duration = Duration::from_secs(20);

/// The share of the capacity that is used.
const LOAD: f64 = 0.5;

/// Minutes after which memory is compared, and at both ends of the time that are compared.
const SPAN: usize = 5;

/// Highest difference of memory after the first minutes, in megabytes: 5 more or less than the middle.
const MEMORY_TARGET: f64 = 10.0;
/// Highest ratio of the p99 of the last minutes to that of the first.
const LATENCY_TARGET: f64 = 1.2;

const MINUTE: Duration = Duration::from_secs(60);

/// Time between two syncs of the other file.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Soak {
    /// Minutes of load for each store
    #[arg(long, default_value_t = 45)]
    minutes: usize,
    /// Feature requests to load before
    #[arg(long, default_value_t = 3_000)]
    requests: u64,
    /// Customers to vote with
    #[arg(long, default_value_t = 2_000)]
    customers: u64,
    /// Votes to load before
    #[arg(long, default_value_t = 30_000)]
    votes: u64,
    /// Stores to load
    #[arg(long, value_delimiter = ',', default_values_t = [Store::Sqlite, Store::Postgres])]
    store: Vec<Store>,
    /// Requests per second, instead of half of what the service can take; to compare builds
    #[arg(long)]
    rate: Option<f64>,
    /// Another build of the service to load
    #[arg(long)]
    binary: Option<PathBuf>,
}

impl Soak {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        ensure!(self.minutes > 0, "--minutes is at least 1");
        ensure!(self.rate.is_none_or(|rate| rate > 0.0), "--rate is more than 0");
        in_release(|| {
            let binary = self.binary.clone().map_or_else(build_release, Ok)?;
            self.store.iter().try_for_each(|store| self.load(*store, binary.clone()))
        })
    }

    fn load(&self, store: Store, binary: PathBuf) -> anyhow::Result<()> {
        println!("\n## {store}, {} minutes\n", self.minutes);
        let corpus = Corpus::new(self.requests, self.customers);
        let mut service = Service::new(binary, store.cluster(Durability::Full)?)?;
        service.start(&WITHOUT_LIMITS)?;
        data::load_requests(&service, &corpus)?;
        data::load_votes(&service, &corpus, self.votes)?;
        data::load_comments(&service, &corpus)?;
        let rate = match self.rate {
            Some(rate) => rate,
            None => {
                let capacity = capacity(&service, &corpus)?;
                println!("capacity of {CONNECTIONS} connections: {capacity:.0} requests/s, of which {LOAD} are used\n");
                capacity * LOAD
            }
        };
        println!(
            "| minute | requests/s | p50 ms | p99 ms | slowest ms | p99 of another file's sync ms | memory MB | anonymous \
             MB | database MB |"
        );
        println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        let minutes = block_on(self.minutes(&service, &corpus, rate))?;
        judge(&minutes);
        Ok(())
    }

    /// Sends requests at this rate per second, and prints each minute.
    async fn minutes(&self, service: &Service, corpus: &Corpus, rate: f64) -> anyhow::Result<Vec<Minute>> {
        let (next, began, end) = (Cell::new(0_u32), Instant::now(), MINUTE * u32::try_from(self.minutes)?);
        // Of responses that have arrived since the last minute was printed.
        let latencies = RefCell::new(Vec::new());
        let syncs = RefCell::new(Vec::new());
        let callers = (0..CONNECTIONS as u64).map(async |seed| {
            let mut random = SmallRng::seed_from_u64(seed);
            let mut connection = service.connect().await?;
            loop {
                let due = Duration::from_secs_f64(f64::from(next.replace(next.get() + 1)) / rate);
                if due >= end {
                    return anyhow::Ok(());
                }
                tokio::time::sleep_until((began + due).into()).await;
                let (method, path, body) = mixed(corpus, &mut random);
                let status = connection.send(method, &path, &body).await?;
                ensure!(matches!(status, 200 | 201), "{method} {path} returned {status}");
                latencies.borrow_mut().push(began.elapsed().saturating_sub(due));
            }
        });
        let printed = async {
            let mut minutes = Vec::new();
            for number in 1..=u32::try_from(self.minutes)? {
                tokio::time::sleep_until((began + MINUTE * number).into()).await;
                let minute = Minute::of(service, latencies.take(), syncs.take())?;
                println!("| {number} | {minute} |");
                minutes.push(minute);
            }
            anyhow::Ok(minutes)
        };
        let disk = async {
            let file = Arc::new(File::create(service.folder().join("synced"))?);
            let mut due = SYNC_INTERVAL;
            while due < end {
                tokio::time::sleep_until((began + due).into()).await;
                let file = Arc::clone(&file);
                tokio::task::spawn_blocking(move || sync_page(&file)).await??;
                // From the time at which it is due, like those of requests.
                syncs.borrow_mut().push(began.elapsed().saturating_sub(due));
                due += SYNC_INTERVAL;
            }
            anyhow::Ok(())
        };
        let (_, mut minutes, ()) = try_join3(try_join_all(callers), printed, disk).await?;
        // Responses that arrived after the last minute was printed.
        if let Some(last) = minutes.last_mut() {
            last.latencies = last.latencies.iter().chain(latencies.take()).collect();
        }
        Ok(minutes)
    }
}

/// What was measured in a minute.
struct Minute {
    latencies: Latencies,
    /// Of the other file, in milliseconds.
    sync_p99: f64,
    memory_mb: f64,
    anonymous_mb: f64,
    database_mb: f64,
}

impl Minute {
    /// Sorts once, because requests wait meanwhile.
    fn of(service: &Service, latencies: Vec<Duration>, syncs: Vec<Duration>) -> anyhow::Result<Self> {
        Ok(Self {
            latencies: latencies.into_iter().collect(),
            sync_p99: Latencies::from_iter(syncs).millis(99),
            memory_mb: service.process()?.resident_mb()?,
            anonymous_mb: service.process()?.anonymous_mb()?,
            database_mb: service.database_mb()?,
        })
    }
}

impl std::fmt::Display for Minute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let per_second = self.latencies.count() / 60;
        let [median, p99, slowest] = [50, 99, 100].map(|percent| self.latencies.millis(percent));
        let Self { sync_p99, memory_mb, anonymous_mb, database_mb, .. } = self;
        write!(
            f,
            "{per_second} | {median:.2} | {p99:.2} | {slowest:.0} | {sync_p99:.2} | {memory_mb:.1} | {anonymous_mb:.1} | \
             {database_mb:.0}"
        )
    }
}

/// Writes a page and syncs it.
fn sync_page(file: &File) -> std::io::Result<()> {
    file.write_all_at(&[0; 4096], 0)?;
    file.sync_data()
}

/// Measures the requests per second of a closed loop.
fn capacity(service: &Service, corpus: &Corpus) -> anyhow::Result<f64> {
    let seeds = (0..CONNECTIONS as u64).map(|seed| u64::MAX - seed);
    let (latencies, elapsed) = closed_loop(
        service,
        seeds,
        CALIBRATION,
        |random| mixed(corpus, random),
        async |connection, (method, path, body)| connection.send(method, path, body).await,
    )?;
    Ok(f64::from(u32::try_from(latencies.len())?) / elapsed.as_secs_f64())
}

/// Returns a request of the mix.
fn mixed(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let next: NextRequest = match random.random_range(0..100_u32) {
        0..30 => workloads::upvote,
        30 => workloads::create,
        31..35 => workloads::comment,
        35..50 => workloads::votes,
        50..65 => workloads::feature_request,
        65..75 => workloads::comments,
        75..90 => workloads::tracks,
        _ => workloads::search_two,
    };
    next(corpus, random)
}

/// Prints how memory and latencies changed.
fn judge(minutes: &[Minute]) {
    let span = SPAN.min(minutes.len().div_ceil(2));
    let after = minutes.iter().skip(span.min(minutes.len() - 1)).map(|minute| minute.memory_mb);
    let (min, max) = (after.clone().fold(f64::MAX, f64::min), after.fold(0.0, f64::max));
    println!("\nmemory after {span} minutes: {min:.1} to {max:.1} MB (target: a difference of {MEMORY_TARGET})");
    let p99 = |skipped: usize| {
        let measured = minutes.iter().skip(skipped).take(span);
        measured.flat_map(|minute| minute.latencies.iter()).collect::<Latencies>().millis(99)
    };
    let (first, last) = (p99(0), p99(minutes.len() - span));
    println!(
        "p99 of the first and the last {span} minutes: {first:.2} and {last:.2} ms, ratio {:.2} (target \
         {LATENCY_TARGET})",
        last / first
    );
}
