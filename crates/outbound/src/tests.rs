//! The client against listeners on this machine, with look-ups that the tests decide.

use super::*;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{sleep, spawn};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Long enough for everything that succeeds.
const PATIENT: Duration = Duration::from_secs(20);

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A server whose connections are counted.
struct Server {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// Serves each connection with `serve` on a thread of its own.
    fn at(address: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let (address, connections) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
        let (count, serve) = (Arc::clone(&connections), Arc::new(serve));
        spawn(move || {
            for stream in listener.incoming() {
                count.fetch_add(1, Ordering::SeqCst);
                let (stream, serve) = (stream.unwrap(), Arc::clone(&serve));
                stream.set_read_timeout(Some(PATIENT)).unwrap();
                spawn(move || serve(stream));
            }
        });
        Self { address, connections }
    }

    fn new(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1:0", serve)
    }

    /// Answers each request of a connection with `response`.
    fn answering(address: &str, response: &'static str) -> Self {
        Self::at(address, move |mut stream| {
            while read_request(&mut stream).is_some() {
                stream.write_all(response.as_bytes()).unwrap();
            }
        })
    }

    fn port(&self) -> u16 {
        self.address.port()
    }

    fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads a request with its body. `None`: the connection has ended.
fn read_request(stream: &mut impl Read) -> Option<String> {
    let (mut read, mut buffer) = (Vec::new(), [0; 1024]);
    loop {
        let count = stream.read(&mut buffer).ok().filter(|count| *count > 0)?;
        read.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&read).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text);
            }
        }
    }
}

/// Whether the other side ends the connection soon.
fn is_closed_soon(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    match stream.read(&mut [0; 1024]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == io::ErrorKind::ConnectionReset,
    }
}

/// A client whose look-ups are counted. The closure gets the name and the number of the look-up, from 1.
fn client_with(
    networks: &str,
    lookup: impl Fn(&str, usize) -> io::Result<Vec<&'static str>> + Send + Sync + 'static,
) -> (OutboundClient, Arc<AtomicUsize>) {
    let lookups = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&lookups);
    let networks = OutboundNetworks::parse("outbound_networks", networks).unwrap();
    let client = OutboundClient::with_lookup(
        networks,
        Arc::new(move |name: &str| {
            let addresses = lookup(name, count.fetch_add(1, Ordering::SeqCst) + 1)?;
            Ok(addresses.into_iter().map(|address| SocketAddr::new(address.parse().unwrap(), 0)).collect())
        }),
    );
    (client, lookups)
}

/// A client to which each name leads to this machine.
fn client(networks: &str) -> OutboundClient {
    client_with(networks, |_, _| Ok(vec!["127.0.0.1"])).0
}

fn request(url: &str) -> Request {
    Request {
        method: Method::POST,
        url: Url::parse(url).unwrap_or_else(|error| panic!("{url}: {error}")),
        headers: HeaderMap::new(),
        body: b"{}".to_vec(),
        timeout: PATIENT,
        body_limit: 16 * 1024,
    }
}

fn within(milliseconds: u64, url: &str) -> Request {
    Request { timeout: Duration::from_millis(milliseconds), ..request(url) }
}

async fn status(client: &OutboundClient, url: &str) -> Result<u16, &'static str> {
    client.send(request(url)).await.map(|response| response.status).map_err(|error| error.name())
}

/// Webhooks: the request.
#[tokio::test]
async fn a_request_is_sent_as_it_is_and_its_response_returned() {
    let seen = Arc::new(Mutex::new(String::new()));
    let requests = Arc::clone(&seen);
    let server = Server::new(move |mut stream| {
        *requests.lock().unwrap() = read_request(&mut stream).unwrap();
        let response = "HTTP/1.1 503 No\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nlater";
        stream.write_all(response.as_bytes()).unwrap();
        // The connection is closed by the client, though it could be used again.
        assert!(is_closed_soon(&mut stream));
    });
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    headers.insert(header::USER_AGENT, "roadmap-webhooks/1.2.3".parse().unwrap());
    let url = format!("http://hooks.example.org:{}/a%20b?c=d", server.port());
    let sent = Request { headers, body: b"{\"a\":1}".to_vec(), ..request(&url) };
    let response = client("127.0.0.0/8").send(sent).await.unwrap();
    assert_eq!((response.status, response.is_complete), (503, true));
    assert_eq!(response.body, b"later");
    assert_eq!(response.headers[header::RETRY_AFTER], "7");
    let seen = seen.lock().unwrap();
    let (head, body) = seen.split_once("\r\n\r\n").unwrap();
    let mut lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines.remove(0), "POST /a%20b?c=d HTTP/1.1");
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "accept: */*",
            "content-length: 7",
            "content-type: application/json",
            &format!("host: hooks.example.org:{}", server.port()),
            "user-agent: roadmap-webhooks/1.2.3",
        ]
    );
    assert_eq!(body, "{\"a\":1}");
}

/// Webhooks, done when 3: no connection to a forbidden address, however it is written or found.
#[tokio::test]
async fn forbidden_addresses_get_no_connection() {
    let (v4, v6) = (Server::answering("0.0.0.0:0", OK), Server::answering("[::1]:0", OK));
    let (port, port6) = (v4.port(), v6.port());
    let (guarded, lookups) = client_with("", |name, _| {
        Ok(match name {
            "mixed.example.org" => vec!["8.8.8.8", "127.0.0.1"],
            "reversed.example.org" => vec!["127.0.0.1", "8.8.8.8"],
            "six.example.org" => vec!["::1"],
            "mapped.example.org" => vec!["::ffff:127.0.0.1"],
            "any.example.org" => vec!["0.0.0.0"],
            "any6.example.org" => vec!["::"],
            "metadata.example.org" => vec!["169.254.169.254"],
            "private.example.org" => vec!["10.0.0.1"],
            "public.example.org" => vec!["8.8.8.8"],
            "translated.example.org" => vec!["64:ff9b::7f00:1"],
            _ => vec!["127.0.0.1"],
        })
    });
    let literals = [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "１２７.０.０.１",
        "127。0。0。1",
        "127%2e0%2e0%2e1",
        "%31%32%37.0.0.1",
        "0",
        "0.0.0.0",
        "127.255.255.254",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[::]",
    ];
    let names = [
        "localhost",
        "localhost.",
        "hooks.example.org",
        "127.0.0.1.example.org",
        "mixed.example.org",
        "reversed.example.org",
        "mapped.example.org",
        "any.example.org",
        "any6.example.org",
        "metadata.example.org",
        "private.example.org",
        "translated.example.org",
    ];
    for scheme in ["http", "https"] {
        for host in literals.iter().chain(&names) {
            let url = format!("{scheme}://{host}:{port}/");
            assert_eq!(status(&guarded, &url).await, Err("blocked"), "{url}");
        }
        for host in ["[::1]", "[0:0:0:0:0:0:0:1]", "six.example.org"] {
            let url = format!("{scheme}://{host}:{port6}/");
            assert_eq!(status(&guarded, &url).await, Err("blocked"), "{url}");
        }
    }
    assert_eq!(lookups.load(Ordering::SeqCst), 2 * (names.len() + 1));
    // Other schemes, and plain HTTP to public addresses.
    let ftp = format!("ftp://127.0.0.1:{port}/");
    for url in [&ftp, "file:///etc/passwd", "http://8.8.8.8/", "http://public.example.org/"] {
        assert_eq!(status(&guarded, url).await, Err("blocked"), "{url}");
    }
    // Also if other networks are named.
    let elsewhere = client("10.0.0.0/8, fd00::/8");
    for host in ["127.0.0.1", "hooks.example.org"] {
        assert_eq!(status(&elsewhere, &format!("http://{host}:{port}/")).await, Err("blocked"));
    }
    sleep(Duration::from_millis(100));
    assert_eq!((v4.connections(), v6.connections()), (0, 0));
}

/// Webhooks: `outbound_networks`.
#[tokio::test]
async fn named_networks_get_requests() {
    let (v4, v6) = (Server::answering("127.0.0.1:0", OK), Server::answering("[::1]:0", OK));
    let opened = client("127.0.0.0/8, ::1");
    for host in ["127.0.0.1", "0x7f.1", "[::ffff:127.0.0.1]", "hooks.example.org", "localhost", "n8n"] {
        assert_eq!(status(&opened, &format!("http://{host}:{}/", v4.port())).await, Ok(200), "{host}");
    }
    assert_eq!(status(&opened, &format!("http://[::1]:{}/", v6.port())).await, Ok(200));
    assert_eq!((v4.connections(), v6.connections()), (6, 1));
    // The system's own look-up.
    let system = OutboundClient::new(OutboundNetworks::parse("outbound_networks", "127.0.0.0/8, ::1").unwrap());
    assert_eq!(status(&system, &format!("http://localhost:{}/", v4.port())).await, Ok(200));
    let closed = OutboundClient::new(OutboundNetworks::default());
    assert_eq!(status(&closed, &format!("https://localhost:{}/", v4.port())).await, Err("blocked"));
    assert_eq!((v4.connections(), v6.connections()), (7, 1));
}

/// Webhooks: never to a second look-up (rebinding).
#[tokio::test]
async fn a_name_that_changes_its_address_is_judged_at_each_request() {
    let forbidden = Server::answering("127.0.0.1:0", OK);
    let admitted = Server::answering(&format!("127.0.0.2:{}", forbidden.port()), OK);
    let (rebound, lookups) =
        client_with("127.0.0.2", |_, number| Ok(vec![if number % 2 == 1 { "127.0.0.2" } else { "127.0.0.1" }]));
    let url = format!("http://hooks.example.org:{}/", forbidden.port());
    for round in 1..=10 {
        assert_eq!(status(&rebound, &url).await, Ok(200));
        assert_eq!(lookups.load(Ordering::SeqCst), 2 * round - 1);
        // The server would keep the connection of the first request open.
        assert_eq!(status(&rebound, &url).await, Err("blocked"));
        assert_eq!(lookups.load(Ordering::SeqCst), 2 * round);
        assert_eq!((admitted.connections(), forbidden.connections()), (round, 0));
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let target = Server::answering("127.0.0.1:0", OK);
    for code in [301, 302, 303, 307, 308] {
        let location = target.url();
        let server = Server::new(move |mut stream| {
            read_request(&mut stream).unwrap();
            let head = format!("HTTP/1.1 {code} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
        });
        let response = client("127.0.0.1").send(request(&server.url())).await.unwrap();
        assert_eq!((response.status, server.connections()), (code, 1));
        assert_eq!(response.headers[header::LOCATION], target.url().as_str());
    }
    assert_eq!(target.connections(), 0);
}

/// Webhooks: at most 16 kB of the body are read, then the connection is closed.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_body_is_cut_and_its_connection_closed() {
    let written = Arc::new(AtomicUsize::new(0));
    for head in ["Content-Length: 1073741824\r\n\r\n", "\r\n"] {
        let (sent, (done, closed)) = (Arc::clone(&written), std::sync::mpsc::channel());
        let server = Server::new(move |mut stream| {
            read_request(&mut stream).unwrap();
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}").as_bytes()).unwrap();
            let block = [b'x'; 64 * 1024];
            for _ in 0..16 * 1024 {
                if stream.write_all(&block).is_err() {
                    break;
                }
                sent.fetch_add(block.len(), Ordering::SeqCst);
            }
            done.send(()).unwrap();
        });
        written.store(0, Ordering::SeqCst);
        let response = client("127.0.0.1").send(request(&server.url())).await.unwrap();
        assert_eq!((response.status, response.body.len(), response.is_complete), (200, 16 * 1024, false));
        closed.recv_timeout(Duration::from_secs(10)).unwrap();
        // What the buffers of the sockets hold.
        assert!(written.load(Ordering::SeqCst) < 64 << 20, "{written:?}");
    }
}

#[tokio::test]
async fn a_body_is_complete_if_it_ends_below_the_limit() {
    let server = Server::new(|mut stream| {
        read_request(&mut stream).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    });
    for (body_limit, body, complete) in [(0, "", false), (4, "hell", false), (5, "hello", false), (6, "hello", true)] {
        let response = client("127.0.0.1").send(Request { body_limit, ..request(&server.url()) }).await.unwrap();
        assert_eq!((response.body.as_slice(), response.is_complete), (body.as_bytes(), complete), "{body_limit}");
    }
    let broken = Server::new(|mut stream| {
        read_request(&mut stream).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello").unwrap();
    });
    let response = client("127.0.0.1").send(request(&broken.url())).await.unwrap();
    assert_eq!((response.status, response.body.as_slice(), response.is_complete), (200, &b"hello"[..], false));
}

/// Writes bytes one after the other until the connection ends. Returns whether it ended.
fn trickle(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    for byte in bytes.iter().cycle().take(2_000) {
        if stream.write_all(&[*byte]).is_err() {
            return true;
        }
        sleep(Duration::from_millis(5));
    }
    false
}

/// Webhooks: `webhook_timeout` is that of the whole try.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_limit_is_that_of_everything() {
    let (done, closed) = std::sync::mpsc::channel();
    let ended = |served: fn(&mut TcpStream) -> bool| {
        let done = done.clone();
        Server::new(move |mut stream| {
            read_request(&mut stream).unwrap();
            done.send(served(&mut stream)).unwrap();
        })
    };
    let started = Instant::now();
    for server in [
        ended(is_closed_soon),
        ended(|stream| trickle(stream, b"HTTP/1.1 200 OK\r\nX-Header: ")),
        ended(|stream| trickle(stream, b"HTTP/1.1 100 Continue\r\n\r\n")),
    ] {
        let error = client("127.0.0.1").send(within(300, &server.url())).await.unwrap_err();
        assert_eq!(error, RequestError::Timeout);
        assert!(closed.recv_timeout(PATIENT).unwrap());
    }
    // The head decides, a slow body is cut.
    let slow = ended(|stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        trickle(stream, b"x")
    });
    let response = client("127.0.0.1").send(within(2_000, &slow.url())).await.unwrap();
    assert_eq!((response.status, response.is_complete), (200, false));
    assert!(closed.recv_timeout(PATIENT).unwrap());
    // A name server that does not answer.
    let (slow, _) = client_with("127.0.0.1", |_, _| {
        sleep(Duration::from_secs(1));
        Ok(vec!["127.0.0.1"])
    });
    let error = slow.send(within(100, "http://hooks.example.org/")).await.unwrap_err();
    assert_eq!(error, RequestError::Timeout);
    assert!(started.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn silent_name_servers_take_a_bounded_number_of_threads() {
    let (slow, lookups) = client_with("127.0.0.1", |name, _| {
        if name.starts_with("slow") {
            sleep(Duration::from_secs(2));
        }
        Ok(vec!["127.0.0.1"])
    });
    let tries: Vec<_> = (0..MAX_LOOKUPS + 50)
        .map(|_| {
            let slow = slow.clone();
            tokio::spawn(async move { slow.send(within(500, "http://slow.example.org/")).await.unwrap_err() })
        })
        .collect();
    for finished in tries {
        assert_eq!(finished.await.unwrap(), RequestError::Timeout);
    }
    assert_eq!(lookups.load(Ordering::SeqCst), MAX_LOOKUPS);
    // Later look-ups work again.
    let server = Server::answering("127.0.0.1:0", OK);
    assert_eq!(status(&slow, &format!("http://fast.example.org:{}/", server.port())).await, Ok(200));
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named_without_the_url() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let no_http = Server::new(|mut stream| stream.write_all(b"220 mail.example.org ESMTP\r\n").unwrap());
    let hangs_up = Server::new(|mut stream| drop(read_request(&mut stream)));
    let endless_head = Server::new(|mut stream| {
        read_request(&mut stream).unwrap();
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X-Header: and another one of many\r\n").is_ok() {}
    });
    let (guarded, _) = client_with("127.0.0.1", |name, _| match name {
        "unknown.example.org" => Err(io::Error::other("no such host")),
        "empty.example.org" => Ok(vec![]),
        _ => Ok(vec!["127.0.0.1"]),
    });
    for url in [
        format!("http://{closed}/services/SECRET"),
        format!("http://{}/services/SECRET", no_http.address),
        format!("http://{}/services/SECRET", hangs_up.address),
        format!("http://{}/services/SECRET", endless_head.address),
        "http://unknown.example.org/services/SECRET".to_owned(),
        "http://empty.example.org/services/SECRET".to_owned(),
    ] {
        let error = guarded.send(request(&url)).await.unwrap_err();
        let text = format!("{error} {error:?}");
        assert_eq!(error.name(), "unreachable", "{url}: {text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
    let error = guarded.send(request("http://unknown.example.org/")).await.unwrap_err();
    assert!(error.to_string().ends_with("no such host"), "{error}");
}

/// What an authority has issued, and for whom.
struct Issued<'a> {
    names: &'a [&'a str],
    is_expired: bool,
}

/// A server with a certificate of `issuer` that answers with its protocol.
fn tls_server(issued: &Issued<'_>, issuer: Option<&Issuer<'_, KeyPair>>) -> Server {
    let names: Vec<String> = issued.names.iter().map(ToString::to_string).collect();
    let mut parameters = CertificateParams::new(names).unwrap();
    if issued.is_expired {
        (parameters.not_before, parameters.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    }
    let key = KeyPair::generate().unwrap();
    let certificate = match issuer {
        Some(issuer) => parameters.signed_by(&key, issuer).unwrap(),
        None => parameters.self_signed(&key).unwrap(),
    };
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut configuration = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    configuration.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let configuration = Arc::new(configuration);
    Server::new(move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&configuration)).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, stream);
        if read_request(&mut stream).is_some() {
            assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
            stream.write_all(OK.as_bytes()).unwrap();
        }
    })
}

/// Runs a test of this file that is ignored otherwise in a process with other variables.
fn run_with(test: &str, certificates: &Path, proxy: &Server) {
    let proxy_url = format!("http://{}", proxy.address);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]).env("SSL_CERT_FILE", certificates);
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env(name, &proxy_url);
    }
    let output = command.env_remove("SSL_CERT_DIR").env_remove("NO_PROXY").env_remove("no_proxy").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(proxy.connections(), 0);
}

/// Webhooks: certificates are verified against those in `SSL_CERT_FILE`, and proxies of the environment are not used.
#[test]
fn certificates_come_from_the_environment_and_proxies_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Server::answering("127.0.0.1:0", OK);
    let key = KeyPair::generate().unwrap();
    let (authority, file) = (authority().self_signed(&key).unwrap(), folder.path().join("authority.pem"));
    std::fs::write(&file, authority.pem()).unwrap();
    std::fs::write(file.with_extension("key"), key.serialize_pem()).unwrap();
    run_with("tests::with_an_authority", &file, &proxy);
    std::fs::write(&file, "").unwrap();
    run_with("tests::without_authorities", &file, &proxy);
}

fn authority() -> CertificateParams {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters
}

#[tokio::test]
#[ignore = "another test runs it with variables"]
async fn with_an_authority() {
    let file = std::env::var_os("SSL_CERT_FILE").unwrap();
    let key = std::fs::read_to_string(Path::new(&file).with_extension("key")).unwrap();
    let issuer = Issuer::new(authority(), KeyPair::from_pem(&key).unwrap());
    let guarded = client("127.0.0.0/8");
    let valid = |names: &'static [&'static str]| Issued { names, is_expired: false };
    let hangs_up = Server::new(|mut stream| drop(stream.read(&mut [0; 4096])));
    let plain_http = Server::new(|mut stream| {
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    for (what, server, host, expected) in [
        ("the right name", tls_server(&valid(&["hooks.example.org"]), Some(&issuer)), "hooks.example.org", Ok(200)),
        ("a pattern", tls_server(&valid(&["*.example.org"]), Some(&issuer)), "hooks.example.org", Ok(200)),
        ("the right address", tls_server(&valid(&["127.0.0.1"]), Some(&issuer)), "127.0.0.1", Ok(200)),
        ("another name", tls_server(&valid(&["other.example.org"]), Some(&issuer)), "hooks.example.org", Err("tls")),
        ("a name, no address", tls_server(&valid(&["hooks.example.org"]), Some(&issuer)), "127.0.0.1", Err("tls")),
        ("nobody's", tls_server(&valid(&["hooks.example.org"]), None), "hooks.example.org", Err("tls")),
        (
            "expired",
            tls_server(&Issued { names: &["hooks.example.org"], is_expired: true }, Some(&issuer)),
            "hooks.example.org",
            Err("tls"),
        ),
        ("plain HTTP", plain_http, "hooks.example.org", Err("tls")),
        ("the end of the handshake", hangs_up, "hooks.example.org", Err("tls")),
    ] {
        let found = guarded.send(request(&format!("https://{host}:{}/", server.port()))).await;
        let found = found.map(|response| response.status).map_err(|error| (error.name(), error.to_string()));
        let name = found.as_ref().map(|status| *status).map_err(|(name, _)| *name);
        assert_eq!(name, expected, "{what}: {found:?}");
    }
    let plain = Server::answering("127.0.0.1:0", OK);
    assert_eq!(status(&guarded, &plain.url()).await, Ok(200));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(status(&guarded, &format!("https://{closed}/")).await, Err("unreachable"));
}

#[tokio::test]
#[ignore = "another test runs it with variables"]
async fn without_authorities() {
    let guarded = client("127.0.0.0/8");
    let server = Server::answering("127.0.0.1:0", OK);
    assert_eq!(status(&guarded, &server.url()).await, Ok(200));
    let error = guarded.send(request(&format!("https://{}/", server.address))).await.unwrap_err();
    assert_eq!(error.name(), "tls", "{error}");
    assert_eq!(status(&client(""), &format!("https://{}/", server.address)).await, Err("blocked"));
    assert_eq!(server.connections(), 1);
}
