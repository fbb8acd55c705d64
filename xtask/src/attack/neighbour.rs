//! The neighbour: a workspace that is not attacked and measures the effect of attacks on others.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures_util::future::{try_join, try_join_all};

use crate::load::{Connection, HOST, Latencies, Service};

/// Number of connections, each with its own key.
const CALLERS: usize = 8;

/// Pause between two requests of a connection, which keeps them below the limits of keys and workspace.
const PAUSE: Duration = Duration::from_millis(140);

/// Pause between two requests of `/healthz`.
const HEALTHZ_PAUSE: Duration = Duration::from_millis(20);

/// Number of feature requests to vote for and to search.
const REQUESTS: usize = 200;

/// Workspace with some feature requests.
#[derive(Clone)]
pub(super) struct Neighbour {
    keys: Vec<String>,
}

/// Measurements of one run.
pub(super) struct Figures {
    requests: Latencies,
    healthz: Latencies,
    /// Number of responses with 5xx, and of missing responses.
    pub(super) server_errors: usize,
}

impl Neighbour {
    pub(super) fn new(service: &Service) -> anyhow::Result<Self> {
        let keys = (0..CALLERS).map(|_| Ok(service.api_key("bench")?.0)).collect::<anyhow::Result<_>>()?;
        Ok(Self { keys })
    }

    pub(super) async fn load(&self, port: u16) -> anyhow::Result<()> {
        let mut connection = self.connect(port, 0).await?;
        for number in 0..REQUESTS {
            let body = format!(r#"{{"feature_request":{{"title":"Dark mode {number} for everybody"}}}}"#);
            connection.expect("POST", "/feature_requests", &body, 201).await?;
        }
        Ok(())
    }

    async fn connect(&self, port: u16, caller: usize) -> anyhow::Result<Connection> {
        Connection::open(port, HOST, self.keys.get(caller).context("no key")?).await
    }

    /// Sends requests for this long and measures them.
    pub(super) async fn watch(self, port: u16, time: Duration) -> anyhow::Result<Figures> {
        let end = Instant::now() + time;
        let callers = (0..CALLERS).map(|caller| self.send_requests(port, caller, end));
        let (results, healthz) = try_join(try_join_all(callers), ask_healthz(port, end)).await?;
        let (requests, server_errors): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        Ok(Figures {
            requests: requests.into_iter().flatten().collect(),
            healthz: healthz.into_iter().collect(),
            server_errors: server_errors.iter().sum(),
        })
    }

    async fn send_requests(&self, port: u16, caller: usize, end: Instant) -> anyhow::Result<(Vec<Duration>, usize)> {
        let mut connection = self.connect(port, caller).await?;
        let (mut took, mut errors) = (Vec::new(), 0);
        for number in (caller..).take_while(|_| Instant::now() < end) {
            let request = number % REQUESTS + 1;
            let vote = format!(r#"{{"customer":{{"email":"customer{number}@example.com"}}}}"#);
            let (method, path, body) = match number % 4 {
                0 | 1 => ("POST", format!("/feature_requests/{request}/upvotes"), vote.as_str()),
                2 => ("GET", "/feature_requests?query=dark+mode".to_owned(), ""),
                _ => ("GET", format!("/votes?email=customer{number}@example.com"), ""),
            };
            let began = Instant::now();
            match connection.send(method, &path, body).await {
                Ok(status) if status < 500 => ensure!(status < 400, "{method} {path} returned {status}"),
                Ok(_) => errors += 1,
                Err(_) => {
                    errors += 1;
                    connection = self.connect(port, caller).await?;
                }
            }
            took.push(began.elapsed());
            tokio::time::sleep(PAUSE).await;
        }
        Ok((took, errors))
    }
}

async fn ask_healthz(port: u16, end: Instant) -> anyhow::Result<Vec<Duration>> {
    let mut took = Vec::new();
    let mut connection = Connection::open(port, HOST, "none").await?;
    while Instant::now() < end {
        let began = Instant::now();
        let status = connection.request("GET", "/healthz", "").await?;
        ensure!(status == 200, "/healthz returned {status}");
        took.push(began.elapsed());
        tokio::time::sleep(HEALTHZ_PAUSE).await;
    }
    Ok(took)
}

impl Figures {
    /// 99th percentile of the request latencies.
    pub(super) fn p99(&self) -> Duration {
        self.requests.percentile(99)
    }

    pub(super) fn healthz_p99(&self) -> Duration {
        self.healthz.percentile(99)
    }

    /// Table cells, in milliseconds.
    pub(super) fn columns(&self) -> String {
        let [p50, p99, slowest] = [50, 99, 100].map(|percent| self.requests.millis(percent));
        format!("{p50:.1} | {p99:.1} | {slowest:.1} | {:.1}", self.healthz.millis(99))
    }
}
