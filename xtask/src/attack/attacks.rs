//! Attacks by a workspace with its own keys, and by anonymous clients.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::Context;
use futures_util::future::join_all;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::load::{Connection, Request, Service, fill};

const HOST: &str = "evil.localhost";

/// Number of voters of the attacker's first feature request.
const VOTERS: usize = 1_000;

/// Longest allowed comment in characters.
const COMMENT: usize = 100_000;

/// Common word of new feature requests without votes.
const YOUNG: &str = "fresh";

/// Function of an attack. Returns a summary of the responses.
pub(super) type AttackFn = fn(Attacker, u16, Duration) -> Pin<Box<dyn Future<Output = String> + Send>>;

/// All attacks.
pub(super) const ATTACKS: [(&str, AttackFn); 8] = [
    ("200 trickling anonymous sockets", |_, port, time| Box::pin(trickle(port, time))),
    ("20 shapes of 100 KB HTML, 6 at a time", |attacker, port, time| Box::pin(hostile_html(attacker, port, time))),
    ("a hostile comment to 1,000 voters", |attacker, port, time| Box::pin(notify(attacker, port, time))),
    ("word bombs, 4 at a time", |attacker, port, time| Box::pin(word_bombs(attacker, port, time))),
    ("endless forms", |attacker, port, time| Box::pin(endless_forms(attacker, port, time))),
    ("a young common word", |attacker, port, time| Box::pin(young_word(attacker, port, time))),
    ("one key flooding", |attacker, port, time| Box::pin(flood(attacker, port, time))),
    ("keys over changing subdomains", |attacker, port, time| Box::pin(subdomains(attacker, port, time))),
];

/// Attacking workspace.
#[derive(Clone)]
pub(super) struct Attacker {
    keys: Vec<String>,
    revoked: String,
}

impl Attacker {
    pub(super) fn new(service: &Service) -> anyhow::Result<Self> {
        service.workspace("evil")?;
        // Ten keys together exhaust the workspace's limit.
        let keys = (0..10).map(|_| Ok(service.api_key("evil")?.0)).collect::<anyhow::Result<_>>()?;
        let (revoked, id) = service.api_key("evil")?;
        service.roadmap(&["api-key", "revoke", "--workspace", "evil", &id])?;
        Ok(Self { keys, revoked })
    }

    async fn connect(&self, port: u16, number: usize) -> anyhow::Result<Connection> {
        let key = self.keys.get(number % self.keys.len()).context("no key")?;
        Connection::open(port, HOST, key).await
    }

    /// Creates many feature requests and votes. The newer two thirds have a common word and no votes; the first one
    /// has many voters.
    pub(super) async fn load(&self, port: u16, requests: u64) -> anyhow::Result<()> {
        let connect = async |number: usize| self.connect(port, number).await;
        fill(connect, 0..requests, async |connection, number| {
            let (word, customer) = if number * 3 < requests {
                ("settled", format!(r#","customer":{{"email":"old{}@example.com"}}"#, number % 500))
            } else {
                (YOUNG, String::new())
            };
            let body = format!(
                r#"{{"feature_request":{{"title":"A {word} idea number {number}","description":"Something {word} about {} and {}"}}{customer}}}"#,
                number % 1_000,
                number % 77
            );
            connection.expect("POST", "/feature_requests", &body, 201).await
        })
        .await?;
        let mut connection = self.connect(port, 0).await?;
        for voter in 0..VOTERS {
            let body = format!(r#"{{"customer":{{"email":"voter{voter}@example.com"}}}}"#);
            connection.expect("POST", "/feature_requests/1/upvotes", &body, 201).await?;
        }
        Ok(())
    }

    /// Sends requests over several connections until the time is over. Returns the number of responses per status.
    async fn repeat(
        &self,
        port: u16,
        time: Duration,
        connections: usize,
        request: impl Fn(usize) -> Request,
    ) -> String {
        let end = Instant::now() + time;
        let one = async |number: usize| {
            let mut got = BTreeMap::<u16, u64>::new();
            let mut connection = None;
            for round in (0..).take_while(|_| Instant::now() < end) {
                let (method, path, body) = request(number + round * connections);
                let status = async {
                    let open = match &mut connection {
                        Some(open) => open,
                        none => none.insert(self.connect(port, number + round).await?),
                    };
                    open.send(method, &path, &body).await
                };
                match tokio::time::timeout(Duration::from_secs(20), status).await {
                    Ok(Ok(status)) => *got.entry(status).or_default() += 1,
                    _ => {
                        connection = None;
                        *got.entry(0).or_default() += 1;
                    }
                }
            }
            got
        };
        counted(join_all((0..connections).map(one)).await)
    }
}

/// Formats counts as `201 × 7, 429 × 3`. Status 0 is a connection without a response.
fn counted(all: Vec<BTreeMap<u16, u64>>) -> String {
    let mut sum = BTreeMap::<u16, u64>::new();
    for (status, count) in all.into_iter().flatten() {
        *sum.entry(status).or_default() += count;
    }
    sum.iter().map(|(status, count)| format!("{status} × {count}")).collect::<Vec<_>>().join(", ")
}

/// Opens an anonymous connection, from another address than the neighbour's.
async fn connect_without_key(port: u16) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, 66), 0)))?;
    socket.connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await
}

async fn trickle(port: u16, time: Duration) -> String {
    const SOCKETS: usize = 200;
    let end = Instant::now() + time;
    let head = format!("POST /unsubscribe/abc.def HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 1000000\r\n\r\n");
    let one = async |_: usize| {
        let Ok(mut stream) = connect_without_key(port).await else { return false };
        if stream.write_all(head.as_bytes()).await.is_err() {
            return false;
        }
        while Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(500)).await;
            if stream.write_all(b"x").await.is_err() {
                return false;
            }
        }
        true
    };
    let open = join_all((0..SOCKETS).map(one)).await.into_iter().filter(|is_open| *is_open).count();
    format!("{open} of {SOCKETS} sockets open at the end")
}

/// Markup with quadratic cost in a naive parser, or that grows when it is sanitized.
const SHAPES: [&str; 24] = [
    "<ul>",
    "<ul><li>",
    "<ol><li>x",
    "<pre>",
    "<div>",
    "<dl><dd>",
    "<span></p>",
    "<blockquote>",
    "<p><blockquote>",
    "<b></p>",
    "<i><b>",
    "<a>x",
    "<a href=x>",
    "<h1><h2>",
    "<table><tr><td>",
    "<table>x",
    "<select><option>",
    "<svg><g>",
    "<math><mi>",
    "<template>",
    "<b><select></b>",
    "<li><ul></li>",
    "<applet><b>",
    "&amp",
];

async fn hostile_html(attacker: Attacker, port: u16, time: Duration) -> String {
    let request = |number: usize| {
        let shape = SHAPES.get(number % SHAPES.len()).copied().unwrap_or_default();
        // A known feature request, an unknown one, and a known one with a constant operation key.
        let (record, key) = match number % 3 {
            0 => (1, String::new()),
            1 => (999_999_999, String::new()),
            _ => (1, r#","operation_key":"k""#.to_owned()),
        };
        let body = format!(r#"{{"comment":{{"content":"{}"}}{key}}}"#, shape.repeat(COMMENT / shape.len()));
        ("POST", format!("/feature_requests/{record}/comments"), body)
    };
    attacker.repeat(port, time, 6, request).await
}

async fn notify(attacker: Attacker, port: u16, time: Duration) -> String {
    // Allowed content that is expensive to process: thousands of short elements.
    let content = "<ul><li><b>x</b></li></ul>".repeat(COMMENT / 27);
    let body = format!(r#"{{"comment":{{"content":"{content}"}},"notify_all_voters":true}}"#);
    let status = async {
        let mut connection = attacker.connect(port, 0).await?;
        connection.send("POST", "/feature_requests/1/comments", &body).await
    };
    let status = status.await.map_or_else(|error| error.to_string(), |status| status.to_string());
    tokio::time::sleep(time).await;
    status
}

async fn word_bombs(attacker: Attacker, port: u16, time: Duration) -> String {
    let request = |number: usize| {
        let mut random = SmallRng::seed_from_u64(number as u64);
        let mut words = String::with_capacity(20_000);
        while words.len() < 19_900 {
            words.extend((0..6).map(|_| char::from(random.random_range(b'a'..=b'z'))));
            words.push(' ');
        }
        let body = format!(r#"{{"feature_request":{{"title":"Bomb {number}","description":"{words}"}}}}"#);
        ("POST", "/feature_requests".to_owned(), body)
    };
    attacker.repeat(port, time, 4, request).await
}

async fn endless_forms(attacker: Attacker, port: u16, time: Duration) -> String {
    let end = Instant::now() + time;
    let pieces = ["\r\n--limit\r\nA: b\r\n\r\n", "A: b\r\n", "x\r\n", "x"];
    let one = async |number: usize| {
        let (mut sent, mut forms) = (0_usize, 0_usize);
        let piece = pieces.get(number % pieces.len()).copied().unwrap_or_default();
        let piece = piece.repeat(0x10000 / piece.len());
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        while Instant::now() < end {
            let Some(key) = attacker.keys.get(forms % attacker.keys.len()) else { break };
            let head = format!(
                "POST /api/external/v2/attachments HTTP/1.1\r\nHost: {HOST}\r\nX-Api-Key: {key}\r\n\
                 Content-Type: multipart/form-data; boundary=limit\r\nTransfer-Encoding: chunked\r\n\r\n"
            );
            let Ok(mut stream) = connect_without_key(port).await else { break };
            forms += 1;
            if stream.write_all(head.as_bytes()).await.is_err() {
                continue;
            }
            while Instant::now() < end && stream.write_all(chunk.as_bytes()).await.is_ok() {
                sent += chunk.len();
            }
        }
        (sent, forms)
    };
    let (sent, forms) = join_all((0..8).map(one)).await.into_iter().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    format!("{forms} forms, {} MB", sent / 1_000_000)
}

async fn young_word(attacker: Attacker, port: u16, time: Duration) -> String {
    let request = |_: usize| ("GET", format!("/feature_requests?query={YOUNG}"), String::new());
    attacker.repeat(port, time, 4, request).await
}

async fn flood(attacker: Attacker, port: u16, time: Duration) -> String {
    let one = Attacker { keys: attacker.keys.iter().take(1).cloned().collect(), ..attacker };
    one.repeat(port, time, 32, |_| ("GET", "/tracks".to_owned(), String::new())).await
}

/// Sends a valid key and a revoked key, with a different subdomain in every request.
async fn subdomains(attacker: Attacker, port: u16, time: Duration) -> String {
    let end = Instant::now() + time;
    let one = async |number: usize| {
        let mut got = BTreeMap::<u16, u64>::new();
        let mut round = 0_usize;
        while Instant::now() < end {
            let Ok(stream) = connect_without_key(port).await else { break };
            let mut connection = Connection::over(stream);
            while Instant::now() < end {
                round += 1;
                let key = if round.is_multiple_of(2) { Some(&attacker.revoked) } else { attacker.keys.first() };
                let key = key.map_or("", String::as_str);
                let host =
                    if round.is_multiple_of(3) { HOST.to_owned() } else { format!("w{number}x{round}.localhost") };
                let request =
                    format!("GET /api/external/v1/tracks HTTP/1.1\r\nHost: {host}\r\nX-Api-Key: {key}\r\n\r\n");
                let Ok(status) = connection.exchange(&request).await else { break };
                *got.entry(status).or_default() += 1;
            }
        }
        got
    };
    counted(join_all((0..16).map(one)).await)
}
