//! `cargo xtask bench`: what the service does per second, how long a call takes, and what it costs.
//!
//! Everything goes through the API of a release build on its default settings. The generator runs on
//! the same machine, so that rates and latencies say less than the processor time per call, which is
//! the service's alone, by the system's accounting of its process.

mod connection;
mod corpus;
mod service;

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use crate::run::{finish, root};
use connection::Connection;
use corpus::Corpus;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use service::Service;

#[derive(Debug, clap::Args)]
pub(crate) struct Bench {
    /// Feature requests to load
    #[arg(long, default_value_t = 10_000)]
    requests: u64,
    /// Customers to vote with
    #[arg(long, default_value_t = 2_000)]
    customers: u64,
    /// Votes to load
    #[arg(long, default_value_t = 100_000)]
    votes: u64,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Numbers of connections
    #[arg(long, value_delimiter = ',', default_values_t = [1, 16, 64])]
    connections: Vec<usize>,
    /// Measure only calls whose name contains this
    #[arg(long, default_value = "")]
    only: String,
}

/// A kind of call, and what one may cost at 16 connections on two cores.
struct Workload {
    name: &'static str,
    /// Milliseconds of processor time, where there is a bar.
    bar: Option<f64>,
    /// Method, path and body of the next call.
    call: fn(&Corpus, &mut SmallRng) -> (&'static str, String, String),
}

/// Makes each operation key a new one.
static KEYS: AtomicU64 = AtomicU64::new(0);

const WORKLOADS: [Workload; 7] = [
    Workload { name: "upvote (new key each)", bar: Some(0.8), call: upvote },
    Workload { name: "create", bar: Some(1.0), call: |corpus, random| corpus.create(random.random()) },
    Workload { name: "comment", bar: Some(1.0), call: comment },
    Workload { name: "votes list", bar: Some(0.4), call: votes },
    Workload { name: "search, two words", bar: Some(2.0), call: search_two },
    Workload { name: "search, commonest word", bar: None, call: search_common },
    Workload { name: "tracks", bar: Some(0.15), call: |_, _| ("GET", "/tracks".to_owned(), String::new()) },
];

fn upvote(corpus: &Corpus, random: &mut SmallRng) -> (&'static str, String, String) {
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    let customer = random.random_range(0..corpus.customers);
    let body = format!(
        r#"{{"customer":{{"email":"customer{customer}@example.com","name":"Customer {customer}"}},"reference_note":{{"body":"Asked for it on the phone, number {key}"}},"operation_key":"bench-{key}"}}"#
    );
    ("POST", format!("/feature_requests/{}/upvotes", corpus.any_request(random)), body)
}

fn comment(corpus: &Corpus, random: &mut SmallRng) -> (&'static str, String, String) {
    let body = r#"{"comment":{"content":"<p>We are <strong>on it</strong>, thank you.</p>"}}"#;
    ("POST", format!("/feature_requests/{}/comments", corpus.any_request(random)), body.to_owned())
}

fn votes(corpus: &Corpus, random: &mut SmallRng) -> (&'static str, String, String) {
    let customer = random.random_range(0..corpus.customers);
    ("GET", format!("/votes?email=customer{customer}@example.com"), String::new())
}

fn search_two(corpus: &Corpus, random: &mut SmallRng) -> (&'static str, String, String) {
    let [one, other] = corpus.two_words_of_a_request(random);
    ("GET", format!("/feature_requests?query={one}+{other}"), String::new())
}

fn search_common(corpus: &Corpus, _: &mut SmallRng) -> (&'static str, String, String) {
    ("GET", format!("/feature_requests?query={}", corpus.commonest_word()), String::new())
}

impl Bench {
    pub(crate) fn run(&self) -> anyhow::Result<()> {
        let build = ["build", "--release", "--locked", "--package", "roadmap-server"];
        finish(Command::new(env!("CARGO")).args(build).current_dir(root()), "cargo build --release")?;
        let corpus = Corpus::new(self.requests, self.customers);
        let mut service = Service::new()?;

        service.start()?;
        let loading = Instant::now();
        self.load(&service, &corpus)?;
        let loaded = loading.elapsed();

        // Start again: what is measured is a service that finds its data, not one that wrote it.
        service.stop();
        let started = service.start()?;
        println!("start to first answer: {:.0} ms", started.as_secs_f64() * 1e3);
        println!("memory idle: {:.0} MB", service.resident_mb()?);
        println!(
            "loaded {} requests and {} votes in {:.0} s; database {:.0} MB\n",
            self.requests,
            self.votes,
            loaded.as_secs_f64(),
            service.database_mb()?
        );
        println!("| call | connections | calls/s | p50 ms | p99 ms | CPU ms/call | bar |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        for workload in WORKLOADS.iter().filter(|workload| workload.name.contains(&self.only)) {
            for connections in &self.connections {
                let figures = measure(&service, &corpus, workload, *connections, Duration::from_secs(self.seconds))?;
                let bar = workload.bar.filter(|_| *connections == 16).map_or_else(String::new, |bar| bar.to_string());
                println!(
                    "| {} | {connections} | {:.0} | {:.2} | {:.2} | {:.3} | {bar} |",
                    workload.name, figures.per_second, figures.p50, figures.p99, figures.cpu
                );
            }
        }
        println!("\nmemory after the run: {:.0} MB", service.resident_mb()?);
        Ok(())
    }

    fn load(&self, service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
        const LOADERS: u64 = 16;
        let share = |what: &(dyn Fn(&mut Connection, u64) -> anyhow::Result<()> + Sync), count: u64| {
            std::thread::scope(|scope| {
                let loaders: Vec<_> = (0..LOADERS)
                    .map(|loader| {
                        scope.spawn(move || {
                            let mut connection = service.connect()?;
                            (loader..count)
                                .step_by(LOADERS as usize)
                                .try_for_each(|number| what(&mut connection, number))
                        })
                    })
                    .collect();
                loaders.into_iter().try_for_each(|loader| joined(loader.join()))
            })
        };
        share(
            &|connection, number| {
                let (method, path, body) = corpus.create(number);
                expect(connection, method, &path, &body, 201)
            },
            self.requests,
        )?;
        share(
            &|connection, number| {
                let mut random = SmallRng::seed_from_u64(number);
                let customer = random.random_range(0..corpus.customers);
                let body = format!(r#"{{"customer":{{"email":"customer{customer}@example.com"}}}}"#);
                let path = format!("/feature_requests/{}/upvotes", corpus.wanted_request(&mut random));
                expect(connection, "POST", &path, &body, 201)
            },
            self.votes,
        )
    }
}

fn expect(connection: &mut Connection, method: &str, path: &str, body: &str, status: u16) -> anyhow::Result<()> {
    let answer = connection.call(method, path, body)?;
    ensure!(answer == status, "{method} {path} was answered with {answer}");
    Ok(())
}

fn joined<T>(outcome: std::thread::Result<anyhow::Result<T>>) -> anyhow::Result<T> {
    outcome.map_err(|_| anyhow::anyhow!("a thread of the generator panicked"))?
}

struct Figures {
    per_second: f64,
    p50: f64,
    p99: f64,
    cpu: f64,
}

/// Calls in a closed loop on every connection: the next call when the last is answered.
fn measure(
    service: &Service,
    corpus: &Corpus,
    workload: &Workload,
    connections: usize,
    duration: Duration,
) -> anyhow::Result<Figures> {
    let seed = AtomicU64::new(KEYS.load(Ordering::Relaxed) + 1);
    let cpu_before = service.cpu()?;
    let began = Instant::now();
    let mut latencies = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..connections)
            .map(|_| {
                let seed = &seed;
                scope.spawn(move || -> anyhow::Result<Vec<Duration>> {
                    let mut random = SmallRng::seed_from_u64(seed.fetch_add(1, Ordering::Relaxed));
                    let mut connection = service.connect()?;
                    let mut latencies = Vec::new();
                    while began.elapsed() < duration {
                        let (method, path, body) = (workload.call)(corpus, &mut random);
                        let asked = Instant::now();
                        let status = connection.call(method, &path, &body)?;
                        latencies.push(asked.elapsed());
                        ensure!(status == 200 || status == 201, "{method} {path} was answered with {status}");
                    }
                    Ok(latencies)
                })
            })
            .collect();
        callers.into_iter().try_fold(Vec::new(), |mut all, caller| {
            all.extend(joined(caller.join())?);
            anyhow::Ok(all)
        })
    })?;
    let elapsed = began.elapsed();
    let cpu = service.cpu()? - cpu_before;
    latencies.sort_unstable();
    let quantile = |share: f64| -> anyhow::Result<f64> {
        // An index below the length.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let index = (latencies.len() as f64 * share) as usize;
        let latency = latencies.get(index).context("nothing was answered in time")?;
        Ok(latency.as_secs_f64() * 1e3)
    };
    #[expect(clippy::cast_precision_loss)]
    let calls = latencies.len() as f64;
    Ok(Figures {
        per_second: calls / elapsed.as_secs_f64(),
        p50: quantile(0.5)?,
        p99: quantile(0.99)?,
        cpu: cpu.as_secs_f64() * 1e3 / calls,
    })
}
