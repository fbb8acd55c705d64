//! The attacks of `hostile_http` through common reverse proxies.
//!
//! A proxy sends the requests of many clients over few connections. If proxy and service disagreed about the end of a
//! message, another client would get the attacker's response (request smuggling).
//!
//! Needs nginx and HAProxy, which `cargo xtask test-proxies` installs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::app::{App, BASE_HOST, Client, StopOnDrop, eventually, in_parallel};
use crate::hostile_http::{assert_still_serves, attacks, exchange, responses};

/// Running proxy. Stopped when dropped.
struct Proxy {
    process: Child,
    port: u16,
    _folder: TempDir,
}

impl Proxy {
    /// Starts a proxy with a configuration, after filling in its placeholders.
    fn start(program: &str, arguments: &[&str], configuration: &str, service: u16) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let port = free_port();
        let configuration = configuration
            .replace("FOLDER", folder.path().to_str().expect("text"))
            .replace("PORT", &port.to_string())
            .replace("SERVICE", &format!("127.0.0.1:{service}"));
        let file = folder.path().join("proxy.conf");
        std::fs::write(&file, configuration + "\n").expect("a configuration");
        let process = Command::new(program).args(arguments).arg(&file).stdout(Stdio::null()).spawn();
        let process = process.unwrap_or_else(|error| panic!("{program}: {error}; run `cargo xtask test-proxies`"));
        let proxy = Self { process, port, _folder: folder };
        eventually("the proxy listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        proxy
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns an unused port.
fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// Attacks the service through a proxy while other clients send requests through it.
fn is_proof(program: &str, arguments: &[&str], configuration: &str) {
    let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", "x-forwarded")]);
    let proxy = Proxy::start(program, arguments, configuration, app.acme.port);
    let behind = Client { port: proxy.port, ..app.acme.clone() };
    let setting = app.acme.get_setting();
    assert_eq!(setting.status, 200);
    let attacks = attacks(&behind);
    let (is_over, requests) = (AtomicBool::new(false), AtomicUsize::new(0));
    let received = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let response = behind.get_setting();
                    assert_eq!((response.status, response.text()), (200, setting.text()), "another client's response");
                    requests.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _until = StopOnDrop(&is_over);
        eventually("other clients send requests", || requests.load(Ordering::SeqCst) > 8);
        in_parallel(attacks.len(), |number| {
            let (case, bytes, ..) = &attacks[number];
            exchange(&behind, bytes.as_bytes(), case)
        })
    });
    let mut wrong = Vec::new();
    for ((case, ..), received) in attacks.iter().zip(&received) {
        // Some servers respond without a head to a request without a version.
        let statuses = if received.starts_with(b"HTTP/") { responses(received).0 } else { Vec::new() };
        // 501: the proxy does not support the encoding.
        if statuses.iter().any(|status| *status >= 500 && *status != 501) {
            wrong.push(format!("{case}: {}", String::from_utf8_lossy(received)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    println!("{} attacks through {program}, {} requests of other clients", attacks.len(), requests.into_inner());
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
    assert_still_serves(&app);
}

/// Requests the tracks through a proxy from a local address. Returns the status.
fn status_from(source: [u8; 4], proxy: &Proxy, key: &str, headers: &str) -> u16 {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((source, 0)).into()).expect("an address of this machine");
    socket.connect(&SocketAddr::from(([127, 0, 0, 1], proxy.port)).into()).expect("a connection");
    let mut stream = TcpStream::from(socket);
    let request = format!(
        "GET /api/external/v1/tracks HTTP/1.1\r\nHost: acme.{BASE_HOST}\r\nX-Api-Key: {key}\r\n{headers}\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("a request");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    responses(&response).0[0]
}

/// Asserts that the proxy reports each client's own address, whatever proxy headers the client sends.
fn reports_clients(program: &str, arguments: &[&str], configuration: &str) {
    let app = App::with(
        &[],
        &[
            ("ROADMAP_TRUST_PROXY", "x-forwarded"),
            ("ROADMAP_PROXY_NETWORKS", "127.0.0.1/32"),
            ("ROADMAP_RATE_LIMIT_FAILURES", "3/h"),
        ],
    );
    let proxy = Proxy::start(program, arguments, configuration, app.acme.port);
    let key = app.acme.key.as_deref().expect("a key");
    let made_up = [
        "",
        "X-Forwarded-For: 192.0.2.1\r\n",
        "Forwarded: for=192.0.2.2;host=other.example\r\n",
        "X-Forwarded-For: 192.0.2.3\r\nX-Forwarded-For: 192.0.2.4, 127.0.0.1\r\nX-Forwarded-Host: other.example\r\n",
        "forwarded: for=192.0.2.5\r\nFORWARDED: for=192.0.2.6\r\nX-FORWARDED-HOST: other.example\r\n",
    ];
    let statuses = made_up.map(|headers| status_from([127, 0, 0, 2], &proxy, "rmk_wrong", headers));
    assert_eq!(statuses, [401, 401, 401, 429, 429]);
    assert_eq!(made_up.map(|headers| status_from([127, 0, 0, 2], &proxy, key, headers)), [200; 5]);
    // Another client, and one without the proxy.
    assert_eq!(status_from([127, 0, 0, 3], &proxy, "rmk_wrong", ""), 401);
    assert_eq!(app.client("acme", "rmk_wrong").get_tracks().status, 401);
}

/// The headers as docs/operations.md sets them.
const NGINX: &str = r#"
daemon off;
worker_processes 1;
pid FOLDER/nginx.pid;
error_log FOLDER/error.log;
events {}
http {
    access_log off;
    keepalive_timeout 1s;
    client_body_temp_path FOLDER/body;
    proxy_temp_path FOLDER/proxy;
    fastcgi_temp_path FOLDER/fastcgi;
    uwsgi_temp_path FOLDER/uwsgi;
    scgi_temp_path FOLDER/scgi;
    upstream service {
        server SERVICE;
        keepalive 2;
    }
    server {
        listen 127.0.0.1:PORT;
        location / {
            proxy_pass http://service;
            proxy_http_version 1.1;
            proxy_request_buffering off;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Host $http_host;
            proxy_set_header Forwarded "";
        }
    }
}
"#;

/// The headers as docs/operations.md sets them.
const HAPROXY: &str = r#"
defaults
    mode http
    timeout connect 5s
    timeout client 10s
    timeout server 20s
    timeout http-keep-alive 1s

frontend everybody
    bind 127.0.0.1:PORT
    http-request del-header Forwarded
    http-request set-header X-Forwarded-For %[src]
    http-request set-header X-Forwarded-Host %[req.hdr(host)]
    default_backend service

backend service
    http-reuse always
    server service SERVICE pool-max-conn 2
"#;

#[test]
#[ignore = "needs nginx: cargo xtask test-proxies"]
fn responses_reach_their_own_client_behind_nginx() {
    is_proof("nginx", &["-e", "/dev/null", "-c"], NGINX);
}

#[test]
#[ignore = "needs nginx: cargo xtask test-proxies"]
fn clients_have_their_own_addresses_behind_nginx() {
    reports_clients("nginx", &["-e", "/dev/null", "-c"], NGINX);
}

#[test]
#[ignore = "needs HAProxy: cargo xtask test-proxies"]
fn responses_reach_their_own_client_behind_haproxy() {
    is_proof("haproxy", &["-db", "-f"], HAPROXY);
}

#[test]
#[ignore = "needs HAProxy: cargo xtask test-proxies"]
fn clients_have_their_own_addresses_behind_haproxy() {
    reports_clients("haproxy", &["-db", "-f"], HAPROXY);
}

#[test]
fn the_documentation_sets_the_headers_that_are_tested() {
    let document = include_str!("../../docs/operations.md");
    for line in NGINX.lines().chain(HAPROXY.lines()).map(str::trim) {
        if line.contains("Forwarded") {
            assert!(document.contains(line), "{line}");
        }
    }
}
