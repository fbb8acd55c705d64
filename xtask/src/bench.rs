//! `cargo xtask bench`: measures throughput, latency and cost of the service.
//!
//! Everything goes through the HTTP API of a release build with default settings, but without rate limits. The load
//! generator runs on the same machine, which distorts throughput and latency. Processor time per request is therefore
//! the more reliable figure. It comes from the system's accounting of the service's process and of the database
//! server's processes.
//!
//! PostgreSQL is a temporary server with durable writes. pgbench runs on it with one equivalent SQL statement; the
//! ratio of both rates shows the overhead of the service.

mod copies;
pub(crate) mod corpus;
mod crowd;
pub(crate) mod data;
mod imports;
mod many_votes;
mod merges;
mod moves;
mod pgbench;
mod report;
mod triage;
pub(crate) mod workloads;

use std::iter::repeat_with;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use roadmap_testkit::postgres::Durability;

use crate::load::{Service, WITHOUT_LIMITS, build_release};
use crate::run::in_release;
use crate::store::Store;
use corpus::Corpus;
use report::Figures;
use workloads::{COMMENTS, ROADMAP, SPREAD, UPVOTE, VOTES, WORKLOADS, Workload};

/// Lowest share of what pgbench reaches with as many clients ([`pgbench`]), where there is a limit.
const PGBENCH_TARGETS: [(&str, f64); 2] = [(UPVOTE, 1.2), (VOTES, 0.75)];
/// Highest processor time of an upvote from a single connection, in milliseconds, with SQLite and with PostgreSQL.
const ALONE_TARGETS: [f64; 2] = [0.86, 1.04];
/// Highest time from the start to the first response in milliseconds, and highest memory when idle and after the run.
const START_TARGET: f64 = 30.0;
const IDLE_TARGET: f64 = 20.0;
const PEAK_TARGET: f64 = 80.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Feature requests to load
    #[arg(long, default_value_t = 10_000)]
    requests: u64,
    /// Number of times that each feature request is in the database, the first by the API and the others by SQL; for
    /// searches
    #[arg(long, default_value_t = 1)]
    copies: u64,
    /// Customers to vote with
    #[arg(long, default_value_t = 2_000)]
    customers: u64,
    /// Votes to load
    #[arg(long, default_value_t = 100_000)]
    votes: u64,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Rounds of comparing measurements, alternated; the one with the median ratio is shown
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    connections: Vec<usize>,
    /// Measure only workloads whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Stores to measure
    #[arg(long, value_delimiter = ',', default_values_t = [Store::Sqlite, Store::Postgres])]
    store: Vec<Store>,
    /// Another build of the service to compare with: the same measurements are made in turns with both
    #[arg(long)]
    compare: Option<PathBuf>,
    /// Further votes to insert by SQL. The same measurements are made in turns with them and without them
    #[arg(long, default_value_t = 0, conflicts_with_all = ["compare", "copies"])]
    more_votes: u64,
}

impl Bench {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        in_release(|| {
            let built = build_release()?;
            self.store.iter().try_for_each(|store| self.measure_store(*store, &built))
        })
    }

    fn measure_store(&self, store: Store, built: &Path) -> anyhow::Result<()> {
        let corpus = Corpus::new(self.requests, self.customers);
        println!("\n## {store}\n");
        if self.wants(imports::NAME) {
            let mut service = Service::new(built.to_owned(), store.cluster(Durability::Full)?)?;
            imports::measure(&mut service, store as usize, Duration::from_secs(2 * self.seconds))?;
            if self.only == imports::NAME {
                return Ok(());
            }
        }
        if store == Store::Sqlite && self.wants(moves::NAME) {
            moves::measure(&Service::new(built.to_owned(), None)?)?;
        }
        if self.only == moves::NAME {
            return Ok(());
        }
        let service = self.prepare(store, &corpus, built, self.more_votes)?;
        if self.compare.is_some() || self.more_votes > 0 {
            println!("Compared with:\n");
            let other = self.prepare(store, &corpus, self.compare.as_deref().unwrap_or(built), 0)?;
            return self.compare_workloads(&corpus, &service, &other);
        }
        println!("| request | connections | requests/s | p50 ms | p99 ms | CPU ms/request | target | of pgbench |");
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
        for (workload, connections) in self.workloads() {
            let target = match connections {
                16 => workload.targets.get(store as usize).copied().flatten(),
                1 if workload.name == UPVOTE => ALONE_TARGETS.get(store as usize).copied(),
                _ => None,
            };
            let target = target.map_or_else(String::new, |target| target.to_string());
            let script = pgbench::script(workload.name).filter(|_| connections >= 16 && store == Store::Postgres);
            let measure = || self.measure(&service, &corpus, workload, connections);
            let (figures, share) = match script {
                Some(script) => {
                    let (ratio, (figures, alone)) = self.median(|| {
                        let figures = measure()?;
                        let alone = pgbench::run(&service, script, self, connections)?;
                        Ok((figures.per_second / alone, (figures, alone)))
                    })?;
                    let least = PGBENCH_TARGETS.iter().find(|(name, _)| *name == workload.name);
                    let least = least.map_or_else(String::new, |(_, least)| format!(" (target {least})"));
                    (figures, format!("{ratio:.2} of {alone:.0}{least}"))
                }
                None => (measure()?, String::new()),
            };
            println!("| {} | {connections} | {figures} | {target} | {share} |", workload.name);
        }
        if self.wants(SPREAD.name) {
            crowd::measure(self, &service, &corpus)?;
        }
        if self.wants(merges::NAME) {
            merges::measure(&service, &corpus)?;
        }
        if self.wants(triage::NAME) {
            triage::measure(&service)?;
        }
        println!("\npeak memory: {:.0} MB (target {PEAK_TARGET})", service.process()?.peak_mb()?);
        Ok(())
    }

    /// Whether what has this name is measured.
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    /// Starts a service on a new store, and loads the corpus and, by SQL, `more_votes`.
    fn prepare(&self, store: Store, corpus: &Corpus, binary: &Path, more_votes: u64) -> anyhow::Result<Service> {
        let mut service = Service::new(binary.to_owned(), store.cluster(Durability::Full)?)?;
        service.start(&WITHOUT_LIMITS)?;
        let loading = Instant::now();
        self.load(&service, corpus)?;
        let loaded = loading.elapsed();

        // Restart, so that a service with existing data is measured and not the one that has written it.
        service.stop();
        copies::insert(&service, self.requests, self.copies)?;
        if more_votes > 0 {
            many_votes::insert(&service, self.requests, more_votes)?;
        }
        if self.more_votes > 0 {
            many_votes::settle(&service)?;
        }
        let started = service.start(&WITHOUT_LIMITS)?;
        data::load_pages(&mut service)?;
        if self.workloads().any(|(workload, _)| workload.name.starts_with("panel")) || self.wants(triage::NAME) {
            data::sign_in(&mut service)?;
        }
        println!("start to first response: {:.0} ms (target {START_TARGET})", started.as_secs_f64() * 1e3);
        println!("memory idle: {:.0} MB (target {IDLE_TARGET})", service.process()?.resident_mb()?);
        println!(
            "loaded {} requests and {} votes in {:.0} s, then {} copies of each request and {more_votes} votes by SQL; \
             database {:.0} MB\n",
            self.requests,
            self.votes,
            loaded.as_secs_f64(),
            self.copies,
            service.database_mb()?
        );
        Ok(service)
    }

    /// Returns the chosen workloads with each number of connections.
    fn workloads(&self) -> impl Iterator<Item = (&'static Workload, usize)> {
        let selected = WORKLOADS.iter().filter(|workload| self.wants(workload.name));
        selected.flat_map(|workload| self.connections.iter().map(move |connections| (workload, *connections)))
    }

    /// Measures workloads in turns with two services.
    fn compare_workloads(&self, corpus: &Corpus, service: &Service, other: &Service) -> anyhow::Result<()> {
        let other_name = if self.compare.is_some() { "before" } else { "with fewer votes" };
        println!("| request | connections | p99 ms | p99 ms {other_name} | CPU ms/request | {other_name} | ratio |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for (workload, connections) in self.workloads() {
            let (ratio, (figures, before)) = self.median(|| {
                let before = self.measure(other, corpus, workload, connections)?;
                let figures = self.measure(service, corpus, workload, connections)?;
                Ok((figures.total_cpu() / before.total_cpu(), (figures, before)))
            })?;
            println!(
                "| {} | {connections} | {:.2} | {:.2} | {} | {} | {ratio:.2} |",
                workload.name,
                figures.p99,
                before.p99,
                figures.cpu(),
                before.cpu()
            );
        }
        Ok(())
    }

    /// Measures a ratio several times and returns the round with the median. Machines are noisy: a ratio is only
    /// meaningful when both sides are measured right after each other.
    fn median<T>(&self, measure: impl FnMut() -> anyhow::Result<(f64, T)>) -> anyhow::Result<(f64, T)> {
        let mut rounds = repeat_with(measure).take(self.rounds.max(1)).collect::<anyhow::Result<Vec<_>>>()?;
        rounds.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        Ok(rounds.swap_remove(rounds.len() / 2))
    }

    fn load(&self, service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
        data::load_requests(service, corpus)?;
        data::load_votes(service, corpus, self.votes)?;
        if self.wants(COMMENTS) {
            data::load_comments(service, corpus)?;
        }
        if self.wants(ROADMAP) {
            data::load_lanes(service, corpus)?;
        }
        Ok(())
    }

    /// Measures a workload for the chosen time.
    fn measure(
        &self,
        service: &Service,
        corpus: &Corpus,
        workload: &Workload,
        connections: usize,
    ) -> anyhow::Result<Figures> {
        workload.measure(service, corpus, connections, Duration::from_secs(self.seconds))
    }
}
