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
mod many_votes;
mod pgbench;

use std::iter::repeat_with;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use roadmap_testkit::postgres::{Cluster, Durability};

use crate::load::{HOST, Latencies, Request, Service, WITHOUT_LIMITS, block_on, build_release, closed_loop};
use crate::run::in_release;
use crate::store::Store;
use corpus::Corpus;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

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

/// Returns the method, path and body of the next request of a kind.
pub(crate) type NextRequest = fn(&Corpus, &mut SmallRng) -> Request;

/// Workload and its limits on processor time per request, at 16 connections on two cores.
struct Workload {
    name: &'static str,
    /// Highest processor time in milliseconds with SQLite and with PostgreSQL, where there is a limit.
    targets: [Option<f64>; 2],
    /// The headers of a browser, if the request is for a page.
    page: Option<&'static str>,
    request: NextRequest,
}

/// Lowest share of what pgbench reaches with as many clients ([`pgbench`]), where there is a limit.
const PGBENCH_TARGETS: [(&str, f64); 2] = [(UPVOTE, 1.2), (VOTES, 0.75)];
/// Highest processor time of an upvote from a single connection, in milliseconds, with SQLite and with PostgreSQL.
const ALONE_TARGETS: [f64; 2] = [0.86, 1.04];
/// Highest time from the start to the first response in milliseconds, and highest memory when idle and after the run.
const START_TARGET: f64 = 30.0;
const IDLE_TARGET: f64 = 20.0;
const PEAK_TARGET: f64 = 80.0;
/// Lowest share of the rate of spread votes that votes for one feature request reach, also while a snapshot is open.
const HOT_TARGET: f64 = 1.0;
const HELD_TARGET: f64 = 0.8;

/// Makes every operation key unique.
static KEYS: AtomicU64 = AtomicU64::new(0);

/// The number of the next loaded vote to withdraw.
static WITHDRAWN: AtomicU64 = AtomicU64::new(0);

const UPVOTE: &str = "upvote (new key each)";
const VOTES: &str = "votes list";
const TRACKS: &str = "tracks";
const COMMENTS: &str = "comments page";
const ROADMAP: &str = "roadmap";
const MERGES: &str = "merges";
const TRIAGE: &str = "triage";

/// Number of feature requests that are moved at once, and the highest time that it may take, in milliseconds.
const SELECTED: usize = 100;
const TRIAGE_TARGET: f64 = 100.0;

/// Number of the first feature requests that have comments, and of the comments of each.
const COMMENTED: u64 = 100;
const COMMENTS_EACH: u64 = 30;

/// Votes of each of the two feature requests that are merged. A quarter of the customers voted for both.
const MERGED_VOTES: u64 = 10_000;
/// Highest time of a merge, and of any other request meanwhile, in milliseconds.
const MERGE_TARGET: f64 = 200.0;

/// What browsers send for a page.
const BROWSER: Option<&str> = Some("Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en\r\n");
/// The same for a page that they have.
const KNOWN: Option<&str> = Some("Accept-Encoding: gzip, deflate, br\r\nAccept-Language: en\r\nIf-None-Match: *\r\n");

/// What clients of the tools send.
const TOOL: Option<&str> = Some("Accept: application/json, text/event-stream\r\n");
/// The same in the modern era, for `ListTracks`.
const MODERN_TOOL: Option<&str> = Some(
    "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
     Mcp-Name: ListTracks\r\n",
);

/// The paths of the pages of feature requests of the service that is being measured.
static PAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

const WORKLOADS: [Workload; 31] = [
    Workload { name: UPVOTE, targets: [Some(0.35), Some(0.42)], page: None, request: upvote },
    Workload { name: "create", targets: [Some(0.6), Some(1.0)], page: None, request: create },
    Workload { name: "comment", targets: [Some(1.0), None], page: None, request: comment },
    Workload { name: VOTES, targets: [Some(0.25), None], page: None, request: votes },
    Workload { name: "feature request", targets: [Some(0.15), None], page: None, request: feature_request },
    Workload { name: COMMENTS, targets: [Some(0.3), None], page: None, request: comments },
    Workload {
        name: ROADMAP,
        targets: [Some(0.5), None],
        page: None,
        request: |_, _| ("GET", "/roadmap".to_owned(), String::new()),
    },
    Workload { name: "withdraw a vote", targets: [Some(0.6), None], page: None, request: withdraw },
    Workload { name: "search, two words", targets: [Some(0.6), Some(0.8)], page: None, request: search_two },
    Workload { name: "search, ten words", targets: [Some(2.0), None], page: None, request: search_ten },
    Workload { name: "search, commonest word", targets: [None, None], page: None, request: search_common },
    Workload { name: "search, young common word", targets: [None, None], page: None, request: search_young },
    Workload { name: "search, 16 unknown words", targets: [None, None], page: None, request: search_unknown },
    Workload { name: "similar requests", targets: [None, None], page: None, request: similar },
    Workload { name: "page, roadmap", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: |_, _| get("/") },
    Workload { name: "page, roadmap, 304", targets: [Some(0.1), Some(0.1)], page: KNOWN, request: |_, _| get("/") },
    Workload { name: "page, list by votes", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: list_by_votes },
    Workload { name: "page, list by trend", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: list_by_trend },
    Workload { name: "page, feature request", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: request_page },
    Workload { name: "page, any feature request", targets: [None, None], page: BROWSER, request: any_request_page },
    Workload { name: "page, search", targets: [Some(2.5), None], page: BROWSER, request: search_page },
    Workload { name: "panel, inbox", targets: [Some(2.0), Some(2.0)], page: BROWSER, request: |_, _| get("/admin") },
    Workload { name: "panel, inbox by votes", targets: [Some(2.0), Some(2.0)], page: BROWSER, request: inbox_by_votes },
    Workload {
        name: "panel, unanswered by votes",
        targets: [Some(2.0), Some(2.0)],
        page: BROWSER,
        request: unanswered,
    },
    Workload { name: "panel, search", targets: [None, None], page: BROWSER, request: search_inbox },
    Workload { name: "panel, feature request", targets: [None, None], page: BROWSER, request: panel_request },
    Workload { name: "panel, overview", targets: [None, None], page: BROWSER, request: |_, _| get("/admin/overview") },
    Workload { name: "tools, tracks", targets: [None, None], page: MODERN_TOOL, request: tracks_by_tool },
    Workload { name: "tools, tracks, legacy era", targets: [None, None], page: TOOL, request: legacy_tracks_by_tool },
    Workload { name: "tools, upvote", targets: [None, None], page: TOOL, request: upvote_by_tool },
    Workload { name: TRACKS, targets: [Some(0.03), Some(0.03)], page: None, request: tracks },
];

/// Connections in the comparison of votes for one feature request with votes for many.
const MANY_CLIENTS: usize = 64;

/// Votes of new customers, spread over all feature requests or for a single one.
const SPREAD: Workload = Workload {
    name: "votes of new customers",
    targets: [None, None],
    page: None,
    request: |corpus, random| first_vote(corpus.any_request(random)),
};
const HOT: Workload = Workload {
    name: "the same, all for one request",
    targets: [None, None],
    page: None,
    request: |_, _| first_vote(1),
};

fn first_vote(request: u64) -> Request {
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    let body = format!(r#"{{"customer":{{"email":"new{key}@example.com"}},"operation_key":"bench-{key}"}}"#);
    ("POST", format!("/feature_requests/{request}/upvotes"), body)
}

pub(crate) fn upvote(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let key = KEYS.fetch_add(1, Ordering::Relaxed);
    let customer = random.random_range(0..corpus.customers);
    let body = format!(
        r#"{{"customer":{{"email":"customer{customer}@example.com","name":"Customer {customer}"}},"reference_note":{{"body":"Asked for it on the phone, number {key}"}},"operation_key":"bench-{key}"}}"#
    );
    ("POST", format!("/feature_requests/{}/upvotes", corpus.any_request(random)), body)
}

pub(crate) fn create(corpus: &Corpus, random: &mut SmallRng) -> Request {
    corpus.create(random.random())
}

pub(crate) fn tracks(_: &Corpus, _: &mut SmallRng) -> Request {
    get("/tracks")
}

fn tracks_by_tool(_: &Corpus, _: &mut SmallRng) -> Request {
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"ListTracks","arguments":{{}},"_meta":{meta}}}}}"#
    );
    ("POST", "/mcp".to_owned(), body)
}

fn legacy_tracks_by_tool(_: &Corpus, _: &mut SmallRng) -> Request {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ListTracks","arguments":{}}}"#;
    ("POST", "/mcp".to_owned(), body.to_owned())
}

/// The same as [`upvote`], by the tool.
fn upvote_by_tool(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let (_, path, body) = upvote(corpus, random);
    let request = path.split('/').nth(2).unwrap_or_default();
    let fields = body.strip_prefix('{').unwrap_or_default();
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"AddVoter","arguments":{{"feature_request_id":"{request}",{fields}}}}}"#
    );
    ("POST", "/mcp".to_owned(), body)
}

pub(crate) fn comment(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let body = r#"{"comment":{"content":"<p>We are <strong>on it</strong>, thank you.</p>"}}"#;
    ("POST", format!("/feature_requests/{}/comments", corpus.any_request(random)), body.to_owned())
}

pub(crate) fn votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let customer = random.random_range(0..corpus.customers);
    ("GET", format!("/votes?email=customer{customer}@example.com"), String::new())
}

pub(crate) fn feature_request(corpus: &Corpus, random: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests/{}", corpus.any_request(random)), String::new())
}

pub(crate) fn comments(_: &Corpus, random: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests/{}/comments", random.random_range(1..=COMMENTED)), String::new())
}

/// Withdraws the loaded votes one after the other.
fn withdraw(corpus: &Corpus, _: &mut SmallRng) -> Request {
    let (customer, request) = loaded_vote(corpus, WITHDRAWN.fetch_add(1, Ordering::Relaxed));
    ("DELETE", format!("/feature_requests/{request}/upvotes?email=customer{customer}@example.com"), String::new())
}

/// The customer and the feature request of a loaded vote.
fn loaded_vote(corpus: &Corpus, number: u64) -> (u64, u64) {
    let mut random = SmallRng::seed_from_u64(number);
    (random.random_range(0..corpus.customers), corpus.wanted_request(&mut random))
}

fn get(path: &str) -> Request {
    ("GET", path.to_owned(), String::new())
}

/// One of many pages, so that few of them are kept by the service.
fn list_by_votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 25).clamp(1, 200);
    get(&format!("/feature_requests?sort=votes&page={}", random.random_range(1..=last)))
}

/// The parameter that nobody reads keeps the service from returning a page that it has kept.
fn list_by_trend(_: &Corpus, random: &mut SmallRng) -> Request {
    get(&format!("/feature_requests?fresh={}", random.random::<u32>()))
}

/// One of the pages that are seen often, so that the service knows what is similar to them. Again with a parameter that
/// nobody reads.
fn request_page(_: &Corpus, random: &mut SmallRng) -> Request {
    const POPULAR: usize = 200;
    let pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = pages.get(random.random_range(0..pages.len().clamp(1, POPULAR)));
    get(&format!("{}?fresh={}", page.map_or("/", String::as_str), random.random::<u32>()))
}

/// A page that is hardly ever seen, for which the service looks for similar feature requests.
fn any_request_page(_: &Corpus, random: &mut SmallRng) -> Request {
    let pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    get(pages.get(random.random_range(0..pages.len().max(1))).map_or("/", String::as_str))
}

/// One of many pages of the inbox.
fn inbox_by_votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 50).clamp(1, 20);
    get(&format!("/admin?sort=votes&page={}", random.random_range(1..=last)))
}

fn unanswered(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 50).clamp(1, 20);
    get(&format!("/admin?state=unanswered&sort=votes&page={}", random.random_range(1..=last)))
}

fn search_inbox(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let [one, other] = corpus.two_words_of_a_request(random);
    get(&format!("/admin?query={one}+{other}"))
}

fn panel_request(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let (_, path, _) = request_page(corpus, random);
    get(&format!("/admin{}", path.split('?').next().unwrap_or_default()))
}

fn search_page(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let [one, other] = corpus.two_words_of_a_request(random);
    get(&format!("/feature_requests?query={one}+{other}"))
}

pub(crate) fn search_two(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let [one, other] = corpus.two_words_of_a_request(random);
    ("GET", format!("/feature_requests?query={one}+{other}"), String::new())
}

fn search_ten(corpus: &Corpus, random: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests?query={}", corpus.sentence(random).join("+")), String::new())
}

fn search_unknown(corpus: &Corpus, random: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests?query={}", corpus.misspelt_words(16, random).join("+")), String::new())
}

fn similar(corpus: &Corpus, random: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests/similar?title={}", corpus.title(random).join("+")), String::new())
}

fn search_common(corpus: &Corpus, _: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests?query={}", corpus.commonest_word()), String::new())
}

fn search_young(corpus: &Corpus, _: &mut SmallRng) -> Request {
    ("GET", format!("/feature_requests?query={}", corpus.young_common_word()), String::new())
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
            println!(
                "| {} | {connections} | {:.0} | {:.2} | {:.2} | {} | {target} | {share} |",
                workload.name,
                figures.per_second,
                figures.p50,
                figures.p99,
                figures.cpu()
            );
        }
        if SPREAD.name.contains(&self.only) {
            self.crowd(&service, &corpus)?;
        }
        if MERGES.contains(&self.only) {
            self.merges(&service, &corpus)?;
        }
        if TRIAGE.contains(&self.only) {
            triage(&service)?;
        }
        println!("\npeak memory: {:.0} MB (target {PEAK_TARGET})", service.process()?.peak_mb()?);
        Ok(())
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
        load_pages(&mut service)?;
        if self.workloads().any(|(workload, _)| workload.name.starts_with("panel")) || TRIAGE.contains(&self.only) {
            sign_in(&mut service)?;
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
        let chosen = WORKLOADS.iter().filter(|workload| workload.name.contains(&self.only));
        chosen.flat_map(|workload| self.connections.iter().map(move |connections| (workload, *connections)))
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

    /// Compares votes for one feature request, also while a snapshot is open, with votes that are spread.
    fn crowd(&self, service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
        println!(
            "\n| {MANY_CLIENTS} connections | requests/s | p50 ms | p99 ms | CPU ms/request | of the spread rate |"
        );
        println!("|---|---:|---:|---:|---:|---:|");
        let show = |name: &str, figures: &Figures, share: String| {
            let Figures { per_second, p50, p99, .. } = figures;
            println!("| {name} | {per_second:.0} | {p50:.2} | {p99:.2} | {} | {share} |", figures.cpu());
        };
        let compare = |while_held: Option<&Cluster>| {
            let spread = self.measure(service, corpus, &SPREAD, MANY_CLIENTS)?;
            let _snapshot = while_held.map(|cluster| {
                let snapshot = roadmap_testkit::postgres::Connection::open(&cluster.url());
                snapshot.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM vote_tallies");
                snapshot
            });
            let hot = self.measure(service, corpus, &HOT, MANY_CLIENTS)?;
            Ok((hot.per_second / spread.per_second, (spread, hot)))
        };
        let (ratio, (spread, hot)) = self.median(|| compare(None))?;
        show(SPREAD.name, &spread, String::new());
        show(HOT.name, &hot, format!("{ratio:.2} (target {HOT_TARGET})"));
        if let Some(cluster) = &service.cluster {
            let (ratio, (_, held)) = self.median(|| compare(Some(cluster)))?;
            show("the same, while a snapshot is open", &held, format!("{ratio:.2} (target {HELD_TARGET})"));
            let lost = service.sql(
                "SELECT count(*) FROM vote_tallies WHERE votes_count <> (SELECT count(*) FROM votes
                 WHERE votes.workspace_id = vote_tallies.workspace_id AND votes.request_id = vote_tallies.request_id)",
            )?;
            println!("\nrequests whose tally is not the number of their votes: {lost}");
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
        load_requests(service, corpus)?;
        load_votes(service, corpus, self.votes)?;
        let wants = |name: &str| name.contains(&self.only);
        if wants(COMMENTS) {
            load_comments(service, corpus)?;
        }
        if wants(ROADMAP) {
            load_lanes(service, corpus)?;
        }
        Ok(())
    }

    /// Merges and unmerges two feature requests with many votes, while another connection votes for others.
    fn merges(&self, service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
        let (mut merges, mut longest) = (Vec::new(), Duration::ZERO);
        block_on(async {
            let mut connection = service.connect().await?;
            let mut create = async |number: u64| {
                let (method, path, body) = corpus.create(number);
                connection.expect(method, &path, &body, 201).await?;
                connection.id()
            };
            let (source, target) = (&create(self.requests).await?, &create(self.requests + 1).await?);
            service
                .fill(0..2 * MERGED_VOTES, async |connection, number| {
                    let (request, customer) = match number.checked_sub(MERGED_VOTES) {
                        None => (source, number),
                        Some(number) => (target, number + MERGED_VOTES * 3 / 4),
                    };
                    let body = format!(r#"{{"customer":{{"email":"merged{customer}@example.com"}}}}"#);
                    connection.expect("POST", &format!("/feature_requests/{request}/upvotes"), &body, 201).await
                })
                .await?;
            let is_done = std::cell::Cell::new(false);
            let merging = async {
                let mut connection = service.connect().await?;
                for _ in 0..20 {
                    let body = format!(r#"{{"target_id":"{target}"}}"#);
                    for (path, body) in [("merge", body.as_str()), ("unmerge", "{}")] {
                        let began = Instant::now();
                        connection.expect("POST", &format!("/feature_requests/{source}/{path}"), body, 200).await?;
                        merges.push(began.elapsed());
                    }
                }
                is_done.set(true);
                anyhow::Ok(())
            };
            let others = async {
                let mut connection = service.connect().await?;
                let mut random = SmallRng::seed_from_u64(1);
                while !is_done.get() {
                    let (method, path, body) = upvote(corpus, &mut random);
                    let began = Instant::now();
                    connection.expect(method, &path, &body, 201).await?;
                    longest = longest.max(began.elapsed());
                }
                anyhow::Ok(())
            };
            futures_util::future::try_join(merging, others).await?;
            anyhow::Ok(())
        })?;
        let merges = Latencies::from_iter(merges);
        let longest = longest.as_secs_f64() * 1e3;
        println!("\n| {MERGES} of two feature requests of {MERGED_VOTES} votes each | ms | target |");
        println!("|---|---:|---:|");
        println!("| merge or unmerge, median | {:.0} | {MERGE_TARGET} |", merges.millis(50));
        println!("| merge or unmerge, slowest of {} | {:.0} | {MERGE_TARGET} |", merges.count(), merges.millis(100));
        println!("| slowest upvote of another feature request meanwhile | {longest:.0} | {MERGE_TARGET} |");
        Ok(())
    }
}

/// Creates the feature requests.
pub(crate) fn load_requests(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    block_on(service.fill(0..corpus.requests, async |connection, number| {
        let (method, path, body) = corpus.create(number);
        connection.expect(method, &path, &body, 201).await
    }))
}

/// Votes, mostly for popular feature requests.
pub(crate) fn load_votes(service: &Service, corpus: &Corpus, votes: u64) -> anyhow::Result<()> {
    block_on(service.fill(0..votes, async |connection, number| {
        let (customer, request) = loaded_vote(corpus, number);
        let body = format!(r#"{{"customer":{{"email":"customer{customer}@example.com"}}}}"#);
        connection.expect("POST", &format!("/feature_requests/{request}/upvotes"), &body, 201).await
    }))
}

/// Comments on the first feature requests.
pub(crate) fn load_comments(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    block_on(service.fill(0..COMMENTED.min(corpus.requests) * COMMENTS_EACH, async |connection, number| {
        let path = format!("/feature_requests/{}/comments", number / COMMENTS_EACH + 1);
        let body = r#"{"comment":{"content":"<p>We are <strong>on it</strong>, thank you.</p>"}}"#;
        connection.expect("POST", &path, body, 201).await
    }))
}

/// Spreads the feature requests over the tracks. Two of three get into a lane.
fn load_lanes(service: &Service, corpus: &Corpus) -> anyhow::Result<()> {
    let tracks = block_on(async {
        let mut connection = service.connect().await?;
        connection.expect("GET", "/tracks", "", 200).await?;
        connection.ids("tracks")
    })?;
    block_on(service.fill(0..corpus.requests, async |connection, number| {
        let track = tracks.get(usize::try_from(number)? % tracks.len()).context("there is no track")?;
        let path = format!("/feature_requests/{}/track", number + 1);
        connection.expect("PATCH", &path, &format!(r#"{{"track_id":"{track}"}}"#), 200).await
    }))
}

/// Loads the paths of the pages of feature requests from the sitemap. A build without pages has none.
fn load_pages(service: &mut Service) -> anyhow::Result<()> {
    block_on(async {
        let mut connection = service.connect().await?;
        if connection.request("GET", "/sitemap-1.xml", "").await? == 200 {
            let sitemap = connection.text();
            let paths = sitemap.split("/feature_requests/").skip(1).filter_map(|rest| rest.split('<').next());
            // Other services have the same feature requests, but perhaps under other numbers.
            service.pages = paths.map(|slug| format!("/feature_requests/{slug}")).collect();
        }
        Ok(())
    })
}

/// Signs in as a member, for the pages of the admin panel.
fn sign_in(service: &mut Service) -> anyhow::Result<()> {
    let address = "bench@example.com";
    service.roadmap(&["member", "add", "--workspace", "bench", "--email", address, "--name", "Bench"])?;
    let link = service.roadmap(&["sign-in", "link", "--workspace", "bench", "--email", address])?;
    let url = link.get("url").and_then(Value::as_str).context("no link")?;
    let (_, rest) = url.split_once("://").context("no URL")?;
    let (_, path) = rest.split_once('/').context("no path")?;
    // The command does not know the port of the service.
    let origin = format!("http://{HOST}:{}", service.port()?);
    block_on(async {
        let mut connection = service.connect().await?;
        let headers = format!("Origin: {origin}\r\n");
        let status = connection.request_with("POST", &format!("/{path}"), &headers, "choice=only").await?;
        ensure!(status == 303, "signing in returned {status}");
        let cookie = connection.cookie().context("no session")?;
        service.session = format!("Cookie: {cookie}\r\n{headers}");
        Ok(())
    })
}

/// Moves many feature requests at once, to and fro, and prints how long it takes.
fn triage(service: &Service) -> anyhow::Result<()> {
    let mut times = Vec::new();
    block_on(async {
        let mut connection = service.connect().await?;
        connection.expect("GET", "/tracks", "", 200).await?;
        let tracks = connection.ids("tracks")?;
        let [one, other, ..] = tracks.as_slice() else { anyhow::bail!("there are fewer than two tracks") };
        let mut selected = Vec::new();
        for page in 1.. {
            let path = format!("/tracks/{one}/feature_requests?sort=newest&page={page}");
            connection.expect("GET", &path, "", 200).await?;
            let found = connection.ids("feature_requests")?;
            if found.is_empty() || selected.len() >= SELECTED {
                break;
            }
            selected.extend(found);
        }
        selected.truncate(SELECTED);
        let selection: String = selected.iter().map(|id| format!("id={id}&")).collect();
        for round in 0..20 {
            let track = if round % 2 == 0 { other } else { one };
            let body = format!("{selection}track={track}&action=move");
            let began = Instant::now();
            let status = connection.request_with("POST", "/admin/triage", &service.session, &body).await?;
            times.push(began.elapsed());
            ensure!(status == 303, "moving {} feature requests returned {status}", selected.len());
        }
        Ok(())
    })?;
    let times = Latencies::from_iter(times);
    println!("\n| {TRIAGE}: moving {SELECTED} feature requests | ms | target |");
    println!("|---|---:|---:|");
    println!("| median | {:.0} | {TRIAGE_TARGET} |", times.millis(50));
    println!("| slowest of {} | {:.0} | {TRIAGE_TARGET} |", times.count(), times.millis(100));
    Ok(())
}

struct Figures {
    per_second: f64,
    p50: f64,
    p99: f64,
    /// Processor time of the service and of the database server, in milliseconds per request.
    cpu: [f64; 2],
}

impl Figures {
    fn total_cpu(&self) -> f64 {
        self.cpu.iter().sum()
    }

    /// Formats processor time per request, with both parts where there are two.
    fn cpu(&self) -> String {
        match self.cpu {
            [service, 0.0] => format!("{service:.3}"),
            [service, server] => format!("{:.3} ({service:.3} + {server:.3})", service + server),
        }
    }
}

impl Bench {
    /// Sends requests in a closed loop on every connection.
    fn measure(
        &self,
        service: &Service,
        corpus: &Corpus,
        workload: &Workload,
        connections: usize,
    ) -> anyhow::Result<Figures> {
        PAGES.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&service.pages);
        let (session, time) = (&service.session, Duration::from_secs(self.seconds));
        let seeds = (KEYS.load(Ordering::Relaxed) + 1..).take(connections);
        let cpu_before = service.cpu()?;
        let next = |random: &mut SmallRng| (workload.request)(corpus, random);
        let (latencies, elapsed) = closed_loop(service, seeds, time, next, async |connection, request| {
            let (method, path, body) = request;
            match workload.page {
                Some(headers) if path.starts_with("/admin") => {
                    connection.request_with(method, path, &format!("{headers}{session}"), body).await
                }
                Some(headers) => connection.request_with(method, path, headers, body).await,
                None => connection.send(method, path, body).await,
            }
        })?;
        let cpu = service.cpu()?;
        #[expect(clippy::cast_precision_loss)]
        let requests = latencies.len() as f64;
        let latencies = Latencies::from_iter(latencies);
        Ok(Figures {
            per_second: requests / elapsed.as_secs_f64(),
            p50: latencies.millis(50),
            p99: latencies.millis(99),
            cpu: std::array::from_fn(|part| {
                let [before, after] = [cpu_before, cpu].map(|cpu| cpu.get(part).map_or(0.0, Duration::as_secs_f64));
                (after - before) * 1e3 / requests
            }),
        })
    }
}
