//! The table of workloads, and the requests that they send.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::RngExt;
use rand::rngs::SmallRng;

use super::corpus::Corpus;
use super::report::Figures;
use crate::load::{Request, Service, closed_loop};

/// Returns the next request of a kind.
pub(crate) type NextRequest = fn(&Corpus, &mut SmallRng) -> Request;

/// Workload and its limits on processor time per request, at 16 connections on two cores.
pub(super) struct Workload {
    pub(super) name: &'static str,
    /// Highest processor time in milliseconds with SQLite and with PostgreSQL, where there is a limit.
    pub(super) targets: [Option<f64>; 2],
    /// The headers of a browser, if the request is for a page.
    pub(super) page: Option<&'static str>,
    pub(super) request: NextRequest,
}

/// Makes every operation key unique.
static KEYS: AtomicU64 = AtomicU64::new(0);

/// The number of the next loaded vote to withdraw.
static WITHDRAWN: AtomicU64 = AtomicU64::new(0);

/// The paths of the pages of feature requests of the service that is being measured.
static PAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(super) const UPVOTE: &str = "upvote (new key each)";
pub(super) const VOTES: &str = "votes list";
pub(super) const TRACKS: &str = "tracks";
pub(super) const COMMENTS: &str = "comments page";
pub(super) const ROADMAP: &str = "roadmap";

/// Body of a request that creates a comment.
pub(super) const COMMENT: &str = r#"{"comment":{"content":"<p>We are <strong>on it</strong>, thank you.</p>"}}"#;

/// Number of the first feature requests that have comments.
pub(super) const COMMENTED: u64 = 100;

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

pub(super) const WORKLOADS: [Workload; 33] = [
    Workload { name: UPVOTE, targets: [Some(0.35), Some(0.42)], page: None, request: upvote },
    Workload { name: "create", targets: [Some(0.6), Some(1.0)], page: None, request: create },
    Workload { name: "comment", targets: [Some(1.0), None], page: None, request: comment },
    Workload { name: VOTES, targets: [Some(0.25), None], page: None, request: votes },
    Workload { name: "feature request", targets: [Some(0.15), None], page: None, request: feature_request },
    Workload { name: COMMENTS, targets: [Some(0.3), None], page: None, request: comments },
    Workload { name: ROADMAP, targets: [Some(0.5), None], page: None, request: |_, _| get("/roadmap") },
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
    Workload {
        name: "page, first of list by votes",
        targets: [Some(0.8), Some(1.2)],
        page: BROWSER,
        request: first_by_votes,
    },
    Workload { name: "page, list by trend", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: list_by_trend },
    Workload { name: "page, feature request", targets: [Some(0.8), Some(1.2)], page: BROWSER, request: request_page },
    Workload { name: "page, any feature request", targets: [None, None], page: BROWSER, request: any_request_page },
    Workload { name: "page, search", targets: [Some(2.5), None], page: BROWSER, request: search_two },
    Workload { name: "panel, inbox", targets: [Some(2.0), Some(2.0)], page: BROWSER, request: |_, _| get("/admin") },
    Workload { name: "panel, inbox by votes", targets: [Some(2.0), Some(2.0)], page: BROWSER, request: inbox_by_votes },
    Workload {
        name: "panel, inbox by companies",
        targets: [Some(2.0), Some(2.0)],
        page: BROWSER,
        request: inbox_by_companies,
    },
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

/// Votes of new customers, spread over all feature requests or for a single one.
pub(super) const SPREAD: Workload = Workload {
    name: "votes of new customers",
    targets: [None, None],
    page: None,
    request: |corpus, random| first_vote(corpus.any_request(random)),
};
pub(super) const HOT: Workload = Workload {
    name: "the same, all for one request",
    targets: [None, None],
    page: None,
    request: |_, _| first_vote(1),
};

impl Workload {
    /// Sends requests in a closed loop on every connection.
    pub(super) fn measure(
        &self,
        service: &Service,
        corpus: &Corpus,
        connections: usize,
        duration: Duration,
    ) -> anyhow::Result<Figures> {
        PAGES.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&service.pages);
        let session = &service.session;
        let seeds = (KEYS.load(Ordering::Relaxed) + 1..).take(connections);
        let cpu_before = service.cpu()?;
        let next = |random: &mut SmallRng| (self.request)(corpus, random);
        let (latencies, elapsed) = closed_loop(service, seeds, duration, next, async |connection, request| {
            let (method, path, body) = request;
            match self.page {
                Some(headers) if path.starts_with("/admin") => {
                    connection.request_with(method, path, &format!("{headers}{session}"), body).await
                }
                Some(headers) => connection.request_with(method, path, headers, body).await,
                None => connection.send(method, path, body).await,
            }
        })?;
        Ok(Figures::new(latencies, elapsed, cpu_before, service.cpu()?))
    }
}

fn get(path: impl Into<String>) -> Request {
    ("GET", path.into(), String::new())
}

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
    ("POST", format!("/feature_requests/{}/comments", corpus.any_request(random)), COMMENT.to_owned())
}

pub(crate) fn votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let customer = random.random_range(0..corpus.customers);
    get(format!("/votes?email=customer{customer}@example.com"))
}

pub(crate) fn feature_request(corpus: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests/{}", corpus.any_request(random)))
}

pub(crate) fn comments(_: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests/{}/comments", random.random_range(1..=COMMENTED)))
}

/// Withdraws the loaded votes one after the other.
fn withdraw(corpus: &Corpus, _: &mut SmallRng) -> Request {
    let (customer, request) = corpus.vote(WITHDRAWN.fetch_add(1, Ordering::Relaxed));
    ("DELETE", format!("/feature_requests/{request}/upvotes?email=customer{customer}@example.com"), String::new())
}

/// One of many pages, so that few of them are kept by the service.
fn list_by_votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 25).clamp(1, 200);
    get(format!("/feature_requests?sort=votes&page={}", random.random_range(1..=last)))
}

/// The parameter that nobody reads keeps the service from returning a page that it has kept.
fn first_by_votes(_: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests?sort=votes&fresh={}", random.random::<u32>()))
}

/// As [`first_by_votes`].
fn list_by_trend(_: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests?fresh={}", random.random::<u32>()))
}

/// One of the pages that are seen often, so that the service knows what is similar to them. Again with a parameter that
/// nobody reads.
fn request_page(_: &Corpus, random: &mut SmallRng) -> Request {
    const POPULAR: usize = 200;
    let pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let page = pages.get(random.random_range(0..pages.len().clamp(1, POPULAR)));
    get(format!("{}?fresh={}", page.map_or("/", String::as_str), random.random::<u32>()))
}

/// A page that is hardly ever seen, for which the service looks for similar feature requests.
fn any_request_page(_: &Corpus, random: &mut SmallRng) -> Request {
    let pages = PAGES.lock().unwrap_or_else(PoisonError::into_inner);
    get(pages.get(random.random_range(0..pages.len().max(1))).map_or("/", String::as_str))
}

/// One of many pages of the inbox.
fn inbox_by_votes(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 50).clamp(1, 20);
    get(format!("/admin?sort=votes&page={}", random.random_range(1..=last)))
}

fn inbox_by_companies(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 50).clamp(1, 20);
    get(format!("/admin?sort=companies&page={}", random.random_range(1..=last)))
}

fn unanswered(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let last = (corpus.requests / 50).clamp(1, 20);
    get(format!("/admin?state=unanswered&sort=votes&page={}", random.random_range(1..=last)))
}

fn search_inbox(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let [one, other] = corpus.two_words_of_a_request(random);
    get(format!("/admin?query={one}+{other}"))
}

fn panel_request(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let (_, path, _) = request_page(corpus, random);
    get(format!("/admin{}", path.split('?').next().unwrap_or_default()))
}

pub(crate) fn search_two(corpus: &Corpus, random: &mut SmallRng) -> Request {
    let [one, other] = corpus.two_words_of_a_request(random);
    get(format!("/feature_requests?query={one}+{other}"))
}

fn search_ten(corpus: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests?query={}", corpus.sentence(random).join("+")))
}

fn search_unknown(corpus: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests?query={}", corpus.misspelt_words(16, random).join("+")))
}

fn similar(corpus: &Corpus, random: &mut SmallRng) -> Request {
    get(format!("/feature_requests/similar?title={}", corpus.title(random).join("+")))
}

fn search_common(corpus: &Corpus, _: &mut SmallRng) -> Request {
    get(format!("/feature_requests?query={}", corpus.commonest_word()))
}

fn search_young(corpus: &Corpus, _: &mut SmallRng) -> Request {
    get(format!("/feature_requests?query={}", corpus.young_common_word()))
}
