//! Hostile HTTP: contradictory hosts, request smuggling, heads and bodies that never end.
//!
//! Three things must not happen: a response for another workspace, a response to a smuggled request, and a service
//! that blocks other clients.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Map, Value, json};

use crate::app::{App, Client, FORM_TYPE, WAIT_LIMIT, form_with, in_parallel};
use crate::attachments::memory;
use crate::bad_input::{Write, started};
use crate::mail::{links, wait_for_mail_files};

const TRACKS: &str = "/api/external/v1/tracks";
const REQUESTS: &str = "/api/external/v1/feature_requests";
const ATTACHMENTS: &str = "/api/external/v2/attachments";

/// Reads until the server closes the connection, which it must.
fn rest(mut stream: TcpStream, case: &str) -> Vec<u8> {
    let (mut response, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return response,
            Ok(read) => response.extend_from_slice(&chunk[..read]),
            // The server closes without reading the rest of an invalid request.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return response,
            Err(error) => panic!("{case}: {error}: {}", String::from_utf8_lossy(&response)),
        }
    }
}

/// Reads the next response on a connection that stays open.
fn read_one_response(stream: &mut TcpStream) -> Vec<u8> {
    let mut response = Vec::new();
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a response");
        response.extend(byte);
        if response.ends_with(b"\r\n\r\n") {
            let head = String::from_utf8(response.clone()).expect("text").to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).expect("a length");
            let mut body = vec![0; length.trim().parse().expect("a number")];
            stream.read_exact(&mut body).expect("the body");
            response.extend(body);
            return response;
        }
    }
}

/// Sends bytes and reads until the server closes the connection.
pub fn exchange(client: &Client, bytes: &[u8], case: &str) -> Vec<u8> {
    let mut stream = client.connect();
    // The server may close the connection before everything is sent.
    let _ = stream.write_all(bytes);
    rest(stream, case)
}

/// Returns the statuses of all responses, and whether the last one announces the end of the connection.
pub fn responses(bytes: &[u8]) -> (Vec<u16>, bool) {
    let (mut statuses, mut closes) = (Vec::new(), false);
    let mut left = bytes;
    while !left.is_empty() {
        let end = left.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head") + 4;
        let head = String::from_utf8(left[..end].to_vec()).expect("text").to_lowercase();
        let status = head.strip_prefix("http/1.1 ").or(head.strip_prefix("http/1.0 "));
        statuses.push(status.unwrap_or_else(|| panic!("no response: {head}"))[..3].parse().expect("a status"));
        let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name).map(str::trim));
        closes = header("connection:") == Some("close");
        let length: usize = header("content-length:").map_or(0, |length| length.parse().expect("a length"));
        left = left.get(end + length..).expect("a whole body");
    }
    (statuses, closes)
}

/// Start of a request head with an API key.
fn head(client: &Client, method: &str, target: &str) -> String {
    let key = client.key.as_deref().expect("a key");
    format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {key}\r\n", client.host)
}

/// Encodes bytes as one chunk (chunked transfer coding).
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Asserts that the service still works and has logged no failure.
#[track_caller]
pub fn assert_still_serves(app: &App) {
    assert_eq!(app.acme.get_tracks().status, 200);
    app.has_logged_no_failure();
}

/// Sends a request per row, with its target, its headers and the key of `acme`. Asserts the status of the only
/// response.
#[track_caller]
fn hosts(app: &App, rows: &[(&str, &[&str], u16)]) {
    let key = app.acme.key.as_deref().expect("a key");
    for (target, headers, status) in rows {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let request = format!("GET {target} HTTP/1.1\r\n{headers}X-Api-Key: {key}\r\nConnection: close\r\n\r\n");
        let response = exchange(&app.acme, request.as_bytes(), &request);
        assert_eq!(responses(&response).0, [*status], "{request}{}", String::from_utf8_lossy(&response));
    }
}

/// Beyond the contract: a host is well-formed, present once, and equal to that of the target, else 400; proxy headers
/// count only from trusted proxies.
#[test]
fn a_request_with_ambiguous_hosts_is_rejected() {
    let app = App::start();
    app.workspace("other");
    let acme = "Host: acme.roadmap.example.com";
    let other = "Host: other.roadmap.example.com";
    let absolute = "http://acme.roadmap.example.com/api/external/v1/tracks";
    hosts(
        &app,
        &[
            (TRACKS, &[acme], 200),
            (TRACKS, &["Host: ACME.ROADMAP.EXAMPLE.COM"], 200),
            (TRACKS, &["Host: acme.roadmap.example.com:1"], 200),
            (TRACKS, &["Host: acme.roadmap.example.com:"], 200),
            (TRACKS, &["Host: acme.roadmap.example.com."], 200),
            (TRACKS, &["Host: acme.roadmap.example.com.:443"], 200),
            (TRACKS, &["Host:acme.roadmap.example.com"], 200),
            (TRACKS, &["Host: \t acme.roadmap.example.com \t "], 200),
            // Missing or duplicate.
            (TRACKS, &[], 400),
            (TRACKS, &[acme, acme], 400),
            (TRACKS, &[acme, other], 400),
            (TRACKS, &[other, acme], 400),
            (TRACKS, &[acme, "hOST: other.roadmap.example.com"], 400),
            // Not a valid host.
            (TRACKS, &["Host: acme.roadmap.example.com, other.roadmap.example.com"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com other.roadmap.example.com"], 400),
            (TRACKS, &["Host: http://acme.roadmap.example.com"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com/other"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com?other"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com#other"], 400),
            (TRACKS, &["Host: ann@acme.roadmap.example.com"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com:port"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com:65536"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com:-1"], 400),
            (TRACKS, &["Host: acme.roadmap.example.com:80:80"], 400),
            (TRACKS, &["Host: acme%2eroadmap.example.com"], 400),
            (TRACKS, &["Host: acme\u{ff0e}roadmap.example.com"], 400),
            (TRACKS, &["Host: acme\\roadmap.example.com"], 400),
            (TRACKS, &["Host: [::1"], 400),
            (TRACKS, &["Host: .:80"], 400),
            // An unknown host, or that of another workspace.
            (TRACKS, &["Host:"], 401),
            (TRACKS, &["Host: roadmap.example.com"], 401),
            (TRACKS, &["Host: acme.roadmap.example.com.."], 401),
            (TRACKS, &["Host: .acme.roadmap.example.com"], 401),
            (TRACKS, &["Host: xacme.roadmap.example.com"], 401),
            (TRACKS, &["Host: 127.0.0.1"], 401),
            (TRACKS, &[other], 401),
            // In the target, too.
            (absolute, &[acme], 200),
            (absolute, &["Host: Acme.roadmap.example.com.:80"], 200),
            ("https://acme.roadmap.example.com:443/api/external/v1/tracks", &[acme], 200),
            ("http://other.roadmap.example.com/api/external/v1/tracks", &[other], 401),
            (absolute, &[other], 400),
            ("http://other.roadmap.example.com/api/external/v1/tracks", &[acme], 400),
            ("http://acme.roadmap.example.com:8080/api/external/v1/tracks", &[acme], 400),
            ("http://ann@acme.roadmap.example.com/api/external/v1/tracks", &[acme], 400),
            ("http://evil.example/healthz", &[acme], 400),
            (absolute, &["Host:"], 400),
            (absolute, &[], 400),
            // Headers of a proxy, from a client that is not a trusted proxy.
            (TRACKS, &[acme, "X-Forwarded-Host: other.roadmap.example.com"], 200),
            (TRACKS, &[acme, "Forwarded: host=other.roadmap.example.com"], 200),
            (TRACKS, &[acme, "X-Original-Host: other.roadmap.example.com", "X-Host: evil.example"], 200),
            (TRACKS, &[acme, "X-Forwarded-Host: \u{ff0e}"], 200),
            (TRACKS, &[other, "X-Forwarded-Host: acme.roadmap.example.com"], 401),
            (TRACKS, &[other, "Forwarded: host=acme.roadmap.example.com"], 401),
            (TRACKS, &["Host: evil.example", "X-Forwarded-Host: acme.roadmap.example.com"], 401),
            ("http://evil.example/api/external/v1/tracks", &[acme, "X-Forwarded-Host: evil.example"], 400),
        ],
    );
    // For every path, and in the common format of errors.
    for path in ["/healthz", "/api/nowhere", "/blobs/x/y", TRACKS] {
        let client = Client { host: "ann@acme.roadmap.example.com".to_owned(), ..app.acme.clone() };
        client.get(path).is_error(400, "Host is not valid");
    }
    assert_still_serves(&app);
}

/// Beyond the contract.
#[test]
fn a_trusted_proxy_s_host_is_used_and_the_own_host_must_be_valid() {
    let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", "x-forwarded")]);
    let inside = "Host: 10.0.0.7:8080";
    hosts(
        &app,
        &[
            (TRACKS, &[inside, "X-Forwarded-Host: acme.roadmap.example.com"], 200),
            (TRACKS, &[inside, "X-Forwarded-Host: ACME.roadmap.example.com.:443"], 200),
            (TRACKS, &[inside, "X-Forwarded-Host: evil.example", "X-Forwarded-Host: acme.roadmap.example.com"], 200),
            (TRACKS, &[inside, "X-Forwarded-Host: ann@acme.roadmap.example.com"], 401),
            (TRACKS, &[inside, "X-Forwarded-Host: acme.roadmap.example.com/x"], 401),
            (TRACKS, &[inside], 401),
            (TRACKS, &[inside, "Forwarded: host=acme.roadmap.example.com"], 401),
            (
                TRACKS,
                &[inside, "X-Forwarded-Host: acme.roadmap.example.com", "Forwarded: host=other.roadmap.example.com"],
                400,
            ),
            (TRACKS, &["X-Forwarded-Host: acme.roadmap.example.com"], 400),
            (TRACKS, &[inside, inside, "X-Forwarded-Host: acme.roadmap.example.com"], 400),
            (TRACKS, &["Host: a b", "X-Forwarded-Host: acme.roadmap.example.com"], 400),
            ("http://evil.example/healthz", &[inside, "X-Forwarded-Host: evil.example"], 400),
        ],
    );
    assert_still_serves(&app);
    let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", "forwarded")]);
    hosts(
        &app,
        &[
            (TRACKS, &[inside, "Forwarded: by=x;HOST=\"acme.roadmap.example.com:443\""], 200),
            (TRACKS, &[inside, "Forwarded: host=\"acme.roadmap.example.com"], 200),
            (TRACKS, &[inside, "X-Forwarded-Host: acme.roadmap.example.com"], 401),
        ],
    );
    assert_still_serves(&app);
}

/// Returns all strings in a value that are URLs.
fn urls(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) if text.contains("://") => vec![text],
        Value::Array(items) => items.iter().flat_map(urls).collect(),
        Value::Object(fields) => fields.values().flat_map(urls).collect(),
        _ => Vec::new(),
    }
}

/// Beyond the contract: URLs in responses and mails are built from the settings, never from headers.
#[test]
fn urls_are_built_from_settings_and_never_from_headers() {
    for trust_proxy in ["off", "forwarded", "x-forwarded"] {
        let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", trust_proxy)]);
        let spoofed = [
            ("Host", "ACME.roadmap.example.com.:6666"),
            ("X-Forwarded-Host", "evil.example:6666, Acme.Roadmap.Example.com:6666"),
            ("Forwarded", "for=evil.example;proto=gopher, host=acme.roadmap.example.com:6666;proto=gopher"),
            ("X-Forwarded-Proto", "gopher"),
            ("X-Forwarded-Port", "6666"),
            ("X-Forwarded-Prefix", "/evil.example"),
            ("X-Original-Url", "https://evil.example/"),
            ("Origin", "https://evil.example"),
            ("Referer", "https://evil.example/"),
        ];
        let send = |method: &str, path: &str, content_type: &str, body: &str| {
            let key = app.acme.key.as_deref().expect("a key");
            let headers: String = spoofed.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = body.len();
            let request = format!(
                "{method} {path} HTTP/1.1\r\n{headers}X-Api-Key: {key}\r\nContent-Type: {content_type}\r\n\
                 Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
            let response = exchange(&app.acme, request.as_bytes(), path);
            let text = String::from_utf8(response).expect("text");
            assert!(!text.contains("evil") && !text.contains(":6666") && !text.contains("gopher"), "{path}: {text}");
            text
        };
        let body = |text: &str| -> Value {
            serde_json::from_str(text.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
        };
        let json = "application/json";
        let part = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.png\"\r\n\r\n\
                    \u{89}PNG\r\n\r\n--limit--\r\n";
        let file = body(&send("POST", "/api/external/v2/attachments", FORM_TYPE, part));
        let changelog = json!({ "changelog": { "title": "1.2", "content": "New", "publish": true } }).to_string();
        let request = json!({ "feature_request": { "title": "Dark" }, "customer": { "email": "a@b.example" } });
        let comment = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true }).to_string();
        let responses = [
            send("POST", REQUESTS, json, &request.to_string()),
            send("POST", "/api/external/v1/feature_requests/1/comments", json, &comment),
            send("POST", "/api/external/v1/changelogs", json, &changelog),
            send("GET", "/api/external/v1/changelogs", json, ""),
            send("GET", "/api/external/v1/votes?email=a@b.example", json, ""),
            send("GET", "/api/external/v1/feature_requests?query=dark", json, ""),
            send("GET", "/api/external/v1/feature_requests/1/voters", json, ""),
        ];
        let bodies: Vec<Value> = responses.iter().map(|response| body(response)).chain([file.clone()]).collect();
        let urls: Vec<&str> = bodies.iter().flat_map(urls).collect();
        assert!(urls.len() >= 8, "{urls:?}");
        for url in &urls {
            assert!(url.starts_with("https://acme.roadmap.example.com/"), "{url}");
        }
        let mails = wait_for_mail_files(&app, 1);
        let urls = links(&mails["a@b.example"]);
        assert!(urls.len() >= 3, "{urls:?}");
        for url in &urls {
            assert!(url.starts_with("https://acme.roadmap.example.com/"), "{url}");
        }
        let blob = file["blob_url"].as_str().expect("a URL");
        let opened = send("GET", &blob["https://acme.roadmap.example.com".len()..], json, "");
        assert!(opened.starts_with("HTTP/1.1 302") || opened.starts_with("HTTP/1.1 307"), "{opened}");
        let location = opened.lines().find(|line| line.to_lowercase().starts_with("location:")).expect("a place");
        let place = location.split_once(':').expect("a place").1.trim();
        assert!(place.starts_with('/') || place.starts_with("https://acme.roadmap.example.com/"), "{place}");
    }
}

/// Fields of records that most request bodies do not have, with harmful values.
fn foreign(other: &Value) -> Map<String, Value> {
    let past = "2001-01-01T00:00:00.000Z";
    let fields = json!({
        "id": other, "workspace_id": other, "request_id": other, "customer_id": other, "member_id": other,
        "author_id": other, "vote_id": other, "lane_id": other, "api_key_id": other, "tag_number": 4711,
        "slug": "4711-mine", "vote_count": 4711, "upvotes_count": 4711, "comment_count": 4711, "tier": 9,
        "position": -1, "created_at": past, "updated_at": past, "published_at": past, "deleted_at": past,
        "unsubscribed_at": past, "expires_at": past, "scopes": ["admin"], "role": "admin", "is_admin": true,
        "subdomain": "other", "url": "https://evil.example", "admin_url": "https://evil.example",
        "digest": "00", "__proto__": { "admin": true }, "constructor": { "prototype": { "admin": true } },
        "rank": 1e300,
    });
    fields.as_object().expect("an object").clone()
}

/// Adds fields to an object and to all nested objects, unless they have them.
fn add(fields: &Map<String, Value>, body: &mut Value) {
    if let Value::Object(object) = body {
        object.values_mut().for_each(|value| add(fields, value));
        for (name, value) in fields {
            // Bodies have all of their fields. Some of these are fields elsewhere.
            object.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// Replaces all ids, timestamps and secrets in a value.
fn timeless(value: &Value) -> Value {
    match value {
        Value::String(text) if uuid::Uuid::try_parse(text).is_ok() => json!("an id"),
        Value::String(text) if text.len() == 24 && text.ends_with('Z') => json!("a moment"),
        Value::String(text) if text.starts_with("whsec_") => json!("a secret"),
        Value::String(text) => match text.rsplit_once('/') {
            Some((place, id)) if uuid::Uuid::try_parse(id).is_ok() => json!(place),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(timeless).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), timeless(value))).collect(),
        other => other.clone(),
    }
}

/// Contract 2.1: other settings are ignored.
/// Contract 4.3: other keys are ignored.
/// Beyond the contract: unknown fields change nothing.
#[test]
fn unknown_fields_change_nothing() {
    let send = |app: &App, write: &Write, body: &Value| {
        let response = write.send(&app.acme, body.to_string().as_bytes());
        (response.status, timeless(&response.json()))
    };
    let seen = |app: &App| -> Vec<Value> {
        let lists = [
            "setting",
            "tracks",
            "votes?email=ann@example.com",
            "feature_requests?query=night",
            "feature_requests/1/voters",
            "feature_requests/2/voters",
            "changelogs",
        ];
        let get = |list: &&str| {
            let response = app.acme.get(&format!("/api/external/v1/{list}"));
            let text = response.text();
            assert!(!["2001-01-01", "4711", "evil"].iter().any(|sent| text.contains(sent)), "{list}: {text}");
            timeless(&response.json())
        };
        lists.iter().map(get).collect()
    };
    let ((plain, plain_writes), (hostile, hostile_writes)) = (started(), started());
    let other = hostile.workspace("other");
    let workspaces = hostile.roadmap(&["workspace", "list"]).json();
    let of_other = workspaces.as_array().expect("workspaces").iter().find(|listed| listed["subdomain"] == "other");
    let id = of_other.expect("the workspace")["id"].clone();
    let fields = foreign(&id);
    assert!(fields.len() >= 30);
    for (plain_write, write) in plain_writes.iter().zip(&hostile_writes) {
        let mut body = write.body.clone();
        add(&fields, &mut body);
        let expected = send(&plain, plain_write, &plain_write.body);
        assert!(expected.0 < 300, "{expected:?}");
        assert_eq!(send(&hostile, write, &body), expected, "{} {}", write.method, write.path);
    }
    assert_eq!(seen(&hostile), seen(&plain));
    assert_eq!(other.get_feature_requests("query=night").json(), json!({ "feature_requests": [] }));
    assert_eq!(other.get_votes("email=ann@example.com").json()["total_count"], 0);
    assert_eq!(other.get_changelogs("").json()["total_count"], 0);
    for table in ["feature_requests", "customers", "votes", "notes", "comments", "changelogs"] {
        let of = |app: &App| app.count(&format!("SELECT count(*) FROM {table}"));
        assert_eq!(of(&hostile), of(&plain), "{table}");
    }
}

/// Beyond the contract: deeply nested JSON is rejected safely.
#[test]
fn deeply_nested_json_is_rejected() {
    let app = App::start();
    for depth in [128, 200_000] {
        for (open, close) in [("{\"a\":", "}"), ("[", "]"), ("{\"a\":[", "]}")] {
            for close in [close, ""] {
                let body = format!("{{\"a\":{}1{}}}", open.repeat(depth), close.repeat(depth));
                let headers = [("Content-Type", "application/json")];
                let response = app.acme.request("POST", REQUESTS, &headers, Some(body.as_bytes())).expect("a response");
                if body.len() > 1024 * 1024 {
                    response.is_error(413, "Request body must not be larger than 1 MB");
                } else {
                    response.is_error(400, "Request body is not valid JSON");
                }
            }
        }
    }
    assert_still_serves(&app);
}

/// Beyond the contract: strange targets and large heads are 4xx.
#[test]
fn malformed_and_oversized_targets_and_heads_are_client_errors() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let long = "x".repeat(64 * 1024);
    let headers = |number: usize| (0..number).map(|n| format!("X-{n}: a\r\n")).collect::<String>();
    let large = |kilobytes: usize| format!("X-Large: {}\r\n", "x".repeat(kilobytes * 1024));
    let voters = |id: &str| format!("/api/external/v1/feature_requests/{id}/voters");
    let mut wrong = Vec::new();
    for (case, target, more, status) in [
        ("no escape", voters("%zz"), String::new(), 404),
        ("half an escape", voters("%4"), String::new(), 404),
        ("a percent sign", voters("%"), String::new(), 404),
        ("a NUL", voters("%00"), String::new(), 404),
        ("a NUL behind a number", voters("1%00"), String::new(), 404),
        ("no UTF-8", voters("%ff"), String::new(), 404),
        ("a slash", voters("1%2f"), String::new(), 404),
        ("a path in a segment", voters("..%2f..%2f1"), String::new(), 404),
        ("a way up", voters("../1"), String::new(), 404),
        ("a double slash", "//api/external/v1/tracks".to_owned(), String::new(), 404),
        ("a backslash", voters("1\\"), String::new(), 404),
        ("64 KB", voters(&long), String::new(), 400),
        ("64 KB of escapes", voters(&"%41".repeat(21_000)), String::new(), 404),
        ("64 KB and nowhere", format!("/{long}"), String::new(), 400),
        ("a path that is too long for the library", format!("/{}", long.repeat(3)), String::new(), 431),
        ("an escaped path", "/api/external/v1/%74racks%00".to_owned(), String::new(), 404),
        ("no escape nowhere", "/api/%zz".to_owned(), String::new(), 404),
        ("no escape in a query", format!("{TRACKS}?a=%zz"), String::new(), 200),
        ("a fragment", format!("{TRACKS}#a"), String::new(), 200),
        ("no path", "tracks".to_owned(), String::new(), 400),
        ("a star", "*".to_owned(), String::new(), 404),
        ("raw bytes", "/\u{fc}".to_owned(), String::new(), 400),
        ("93 headers more", TRACKS.to_owned(), headers(93), 200),
        ("97 headers more", TRACKS.to_owned(), headers(97), 431),
        ("1,000 headers more", TRACKS.to_owned(), headers(1_000), 431),
        ("a head of 120 KB", TRACKS.to_owned(), large(120), 200),
        ("a head of 129 KB", TRACKS.to_owned(), large(129), 431),
        ("a head of 1 MB", TRACKS.to_owned(), large(1_024), 431),
    ] {
        let request = format!("{}{more}Connection: close\r\n\r\n", head(&app.acme, "GET", &target));
        let response = exchange(&app.acme, request.as_bytes(), case);
        let statuses = responses(&response).0;
        if statuses != [status] {
            wrong.push(format!("{case}: {statuses:?}, not {status}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_still_serves(&app);
}

/// State of a connection after an attack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It can be reused.
    Open,
    /// The last response has `Connection: close`.
    Announced,
    /// It is closed, sometimes before a response: the body of a request turned out to be invalid.
    Cut,
}
use End::{Announced, Cut, Open};

/// Attack: name, bytes, statuses of all responses, and state of the connection afterwards.
pub type Attack = (&'static str, String, &'static [u16], End);

#[expect(clippy::too_many_lines, reason = "it is one table")]
pub fn attacks(client: &Client) -> Vec<Attack> {
    let get = format!("{}\r\n", head(client, "GET", TRACKS));
    let request = head(client, "POST", REQUESTS);
    let post = |headers: &str, body: &str| format!("{request}{headers}\r\n\r\n{body}");
    let chunked = |body: &str| format!("{request}Transfer-Encoding: chunked\r\n\r\n{body}");
    let length = get.len();
    let hidden = |chunk: &str| format!("{chunk}{get}");
    vec![
        // Controls: exactly one request, and exactly two.
        ("a length", post("Content-Length: 2", "{}"), &[422], Open),
        ("chunks", chunked("1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"), &[422], Open),
        ("two requests", post("Content-Length: 2", &hidden("{}")), &[422, 200], Open),
        ("two requests, the first in chunks", chunked(&hidden("2\r\n{}\r\n0\r\n\r\n")), &[422, 200], Open),
        ("a request as the body of another", post(&format!("Content-Length: {length}"), &get), &[400], Open),
        ("a request as a chunk of another", chunked(&format!("{length:x}\r\n{get}\r\n0\r\n\r\n")), &[400], Open),
        // Two ways to give the length.
        ("CL.TE", post("Content-Length: 5\r\nTransfer-Encoding: chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        (
            "TE.CL",
            post("Transfer-Encoding: chunked\r\nContent-Length: 4", &hidden("2\r\n{}\r\n0\r\n\r\n")),
            &[400],
            Announced,
        ),
        ("TE.0", post("Transfer-Encoding: chunked\r\nContent-Length: 0", &hidden("0\r\n\r\n")), &[400], Announced),
        ("two lengths", post("Content-Length: 2\r\nContent-Length: 0", &hidden("{}")), &[400], Announced),
        ("one length twice", post("Content-Length: 2\r\nContent-Length: 2", &hidden("{}")), &[400], Announced),
        ("a list of lengths", post("Content-Length: 2, 2", &hidden("{}")), &[400], Announced),
        ("a length with a sign", post("Content-Length: +2", &hidden("{}")), &[400], Announced),
        ("a negative length", post("Content-Length: -2", &hidden("{}")), &[400], Announced),
        ("minus nothing", post("Content-Length: -0", &hidden("{}")), &[400], Announced),
        ("a hexadecimal length", post("Content-Length: 0x2", &hidden("{}")), &[400], Announced),
        ("two numbers", post("Content-Length: 2 2", &hidden("{}")), &[400], Announced),
        ("a length and more", post("Content-Length: 2;a", &hidden("{}")), &[400], Announced),
        ("a length that is none", post("Content-Length:", &hidden("{}")), &[400], Announced),
        ("a length beyond all", post("Content-Length: 18446744073709551618", &hidden("{}")), &[400], Announced),
        ("a fraction", post("Content-Length: 2.0", &hidden("{}")), &[400], Announced),
        // Transfer codings that some servers do not know.
        ("an unknown encoding", post("Transfer-Encoding: xchunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("chunked twice", post("Transfer-Encoding: chunked, chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("chunked at the end", post("Transfer-Encoding: gzip, chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("chunked first", post("Transfer-Encoding: chunked, identity", &hidden("0\r\n\r\n")), &[400], Announced),
        ("identity", post("Transfer-Encoding: identity", &hidden("{}")), &[400], Announced),
        ("nothing", post("Transfer-Encoding:", &hidden("0\r\n\r\n")), &[400], Announced),
        ("quotes", post("Transfer-Encoding: \"chunked\"", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a parameter", post("Transfer-Encoding: chunked;a=b", &hidden("0\r\n\r\n")), &[400], Announced),
        (
            "two encodings",
            post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", &hidden("0\r\n\r\n")),
            &[400],
            Announced,
        ),
        ("an older version", chunked(&hidden("0\r\n\r\n")).replacen("HTTP/1.1", "HTTP/1.0", 1), &[400], Announced),
        // Headers that some servers ignore.
        ("a space before the colon", post("Transfer-Encoding : chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a tab before the colon", post("Content-Length\t: 2", &hidden("{}")), &[400], Announced),
        ("a line before the colon", post("Transfer-Encoding\r\n: chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a folded header", post("X-A: b\r\n Transfer-Encoding: chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a folded value", post("Transfer-Encoding:\r\n chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a folded length", post("Content-Length: 2\r\n\t2", &hidden("{}")), &[400], Announced),
        ("a space before the first", post(" Content-Length: 2", &hidden("{}")), &[400], Announced),
        ("a NUL in a value", post("Transfer-Encoding: chunked\0", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a NUL in a name", post("Transfer-Encoding\0: chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a vertical tab", post("Transfer-Encoding: \u{b}chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        ("a lone CR", post("X-A: b\rTransfer-Encoding: chunked", &hidden("0\r\n\r\n")), &[400], Announced),
        (
            "a lone LF",
            post("Content-Length: 2\r\nX-A: b\nTransfer-Encoding: chunked", &hidden("{}")),
            &[400],
            Announced,
        ),
        ("no colon", post("Content-Length 2", &hidden("{}")), &[400], Announced),
        ("no name", post(": 2", &hidden("{}")), &[400], Announced),
        ("a space in a name", post("Content Length: 2", &hidden("{}")), &[400], Announced),
        // Chunks with ambiguous ends.
        ("an extension", chunked("2;a=b;c=\"d\"\r\n{}\r\n0;e\r\n\r\n"), &[422], Open),
        ("an extension with an LF", chunked(&hidden("2;a\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("an extension with a NUL", chunked(&hidden("2;\0\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size with 0x", chunked(&hidden("0x2\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size with a sign", chunked(&hidden("+2\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a negative size", chunked(&hidden("-2\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size with a space before it", chunked(&hidden(" 2\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("no size", chunked(&hidden("\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size that is no number", chunked(&hidden("g\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size beyond all", chunked(&hidden("10000000000000002\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a size before an LF", chunked(&hidden("2\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a chunk before an LF", chunked(&hidden("2\r\n{}\n0\r\n\r\n")), &[400], Cut),
        ("a chunk longer than its size", chunked(&hidden("1\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a chunk shorter than its size", chunked(&hidden("4\r\n{}\r\n0\r\n\r\n")), &[400], Cut),
        ("a trailer", chunked("2\r\n{}\r\n0\r\nContent-Length: 4711\r\n\r\n"), &[422], Open),
        ("a trailer before an LF", chunked(&hidden("2\r\n{}\r\n0\r\nA: b\n\r\n")), &[422], Open),
        ("an LF at the end", chunked(&hidden("2\r\n{}\r\n0\r\n\n")), &[422], Open),
        // Request lines and versions.
        ("an LF at the end of each line", get.replace("\r\n", "\n"), &[200], Open),
        ("an empty line before the first", format!("\r\n{get}"), &[200], Open),
        ("two spaces", get.replacen(' ', "  ", 1), &[400], Announced),
        ("a tab", get.replacen(' ', "\t", 1), &[400], Announced),
        ("an unknown version", get.replacen("HTTP/1.1", "HTTP/1.2", 1), &[400], Announced),
        ("a version of two digits", get.replacen("HTTP/1.1", "HTTP/1.10", 1), &[400], Announced),
        ("no version", get.replacen(" HTTP/1.1", "", 1), &[400], Announced),
        ("HTTP/2", format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{get}"), &[400], Announced),
        ("TLS", format!("\u{16}\u{3}\u{1}\0\u{1}{get}"), &[400], Announced),
        // A GET with a body is allowed.
        (
            "a GET with a GET as its body",
            format!("{}Content-Length: {length}\r\n\r\n{get}", head(client, "GET", TRACKS)),
            &[200],
            Open,
        ),
        (
            "a GET with a GET as its chunk",
            format!(
                "{}Transfer-Encoding: chunked\r\n\r\n{length:x}\r\n{get}\r\n0\r\n\r\n",
                head(client, "GET", TRACKS)
            ),
            &[200],
            Open,
        ),
    ]
}

/// Beyond the contract: a message with two possible ends gets at most one response, and its connection is closed.
#[test]
fn ambiguous_message_lengths_get_one_response_and_close_the_connection() {
    let app = App::start();
    let attacks = attacks(&app.acme);
    assert!(attacks.len() >= 60);
    let received = in_parallel(attacks.len(), |number| {
        let (case, bytes, ..) = &attacks[number];
        exchange(&app.acme, bytes.as_bytes(), case)
    });
    let mut wrong = Vec::new();
    for ((case, _, statuses, end), received) in attacks.iter().zip(&received) {
        let (all, last) = responses(received);
        let was_cut = *end == Cut && all.is_empty();
        if (all != *statuses && !was_cut) || (*end == Announced && !last) {
            wrong.push(format!("{case}: {}", String::from_utf8_lossy(received)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
    assert_still_serves(&app);
}

/// Raises the soft limit of open files to the hard limit, as the service does.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("as many files as are allowed");
}

#[test]
fn the_limit_of_open_files_is_raised_to_the_hard_limit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shell = "ulimit -S -n 256 && exec \"$0\" serve --data-dir . --listen 127.0.0.1:0 2> /dev/null";
    let mut service = Command::new("sh")
        .args(["-c", shell, env!("CARGO_BIN_EXE_roadmap")])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut line = String::new();
    BufReader::new(service.stdout.take().expect("its output")).read_line(&mut line).expect("its first line");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", service.id())).expect("its limits");
    service.kill().and_then(|()| service.wait()).expect("its end");
    let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("a limit");
    let [soft, hard] = files.split_whitespace().skip(3).take(2).collect::<Vec<_>>()[..] else { panic!("{files}") };
    assert_eq!(soft, hard);
}

/// Beyond the contract: a body that stalls for 30 s gets 408; 1,000 of these, and 1,000 stalled heads, delay no other
/// request.
#[test]
fn stalled_heads_and_bodies_time_out_and_delay_no_others() {
    let app = App::with(&[], &[("ROADMAP_BODY_TIMEOUT", "6s")]);
    let slow = |bytes: &str| {
        let mut stream = app.acme.connect();
        stream.set_read_timeout(Some(3 * WAIT_LIMIT)).expect("a time limit");
        stream.write_all(bytes.as_bytes()).expect("the server reads");
        stream
    };
    let request = head(&app.acme, "POST", REQUESTS);
    raise_open_files();
    let heads: Vec<TcpStream> = (0..1_000).map(|_| slow(&request)).collect();
    let bodies: Vec<TcpStream> = (0..1_000).map(|_| slow(&format!("{request}Content-Length: 100\r\n\r\n{{"))).collect();
    let served = in_parallel(4, |_| (0..25).filter(|_| app.acme.get_tracks().status == 200).count());
    assert_eq!(served, [25; 4]);
    for stream in heads {
        assert_eq!(responses(&rest(stream, "a head")), (vec![408], true));
    }
    for stream in bodies {
        let response = rest(stream, "a body");
        assert_eq!(responses(&response), (vec![408], true));
        let text = String::from_utf8(response).expect("text");
        assert!(text.ends_with("\r\n\r\n{\"error\":\"Request body took too long to arrive\"}"), "{text}");
    }
    assert_still_serves(&app);
}

#[test]
fn unauthenticated_slow_bodies_use_no_memory_and_time_out() {
    const SOCKETS: usize = 200;
    let app = App::with(&[], &[("ROADMAP_BODY_TIMEOUT", "3s")]);
    assert_still_serves(&app);
    let before = memory(app.process_id(), "VmRSS:");
    let head = head(&app.acme, "POST", "/unsubscribe/eyJ4IjoxfQ.junk");
    let mut open: Vec<TcpStream> = (0..SOCKETS)
        .map(|_| {
            let mut stream = app.acme.connect();
            let begin =
                format!("{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\n");
            stream.write_all(begin.as_bytes()).expect("the server reads");
            stream
        })
        .collect();
    let began = Instant::now();
    while !open.is_empty() {
        assert!(began.elapsed() < WAIT_LIMIT, "{} sockets are open for ever", open.len());
        open.retain_mut(|stream| stream.write_all(b"x").is_ok());
        std::thread::sleep(Duration::from_millis(100));
    }
    let added = memory(app.process_id(), "VmHWM:").saturating_sub(before);
    println!("{SOCKETS} anonymous sockets added {added} kB and were closed after {:?}", began.elapsed());
    assert!(added < 10 * 1024, "{added} kB");
    assert_still_serves(&app);
}

#[test]
fn slow_bodies_have_one_deadline() {
    let app = App::with(&[], &[("ROADMAP_BODY_TIMEOUT", "1s")]);
    let part = |name: &str| format!("--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
    let statuses = in_parallel(3, |number| {
        let (target, media_type, begin) = [
            (REQUESTS, "application/json", "{".to_owned()),
            (ATTACHMENTS, FORM_TYPE, part("other")),
            (ATTACHMENTS, FORM_TYPE, "--lim".to_owned()),
        ][number]
            .clone();
        let mut stream = app.acme.connect();
        let head = head(&app.acme, "POST", target);
        let head = format!("{head}Content-Type: {media_type}\r\nContent-Length: 1000000\r\n\r\n{begin}");
        stream.write_all(head.as_bytes()).expect("the server reads");
        let mut sending = stream.try_clone().expect("the same connection");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while sending.write_all(b" ").is_ok() {
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
            responses(&rest(stream, target)).0
        })
    });
    assert_eq!(statuses, [[408]; 3]);
}

/// Beyond the contract: a later head that stalls or trickles is aborted 5 s after its first byte, an unread response
/// after 60 s.
#[test]
fn a_stalled_later_head_times_out_like_the_first() {
    let app = App::start();
    let request = format!("{}\r\n", head(&app.acme, "GET", TRACKS));
    let cases = [
        ("a head behind a request", format!("{request}G"), ""),
        ("a whole head but for its end", format!("{request}{}", &request[..request.len() - 2]), ""),
        ("a head behind a response", request.clone(), "GET / HTTP/1.1\r\nHost:"),
    ];
    let statuses = in_parallel(cases.len() + 1, |number| {
        let mut stream = app.acme.connect();
        let Some((case, first, later)) = cases.get(number) else {
            // Trickling bytes does not extend the time limit.
            let mut dripped = 0;
            while stream.write_all(b"x").is_ok() {
                dripped += 1;
                assert!(dripped < 200, "a head goes on for ever");
                std::thread::sleep(Duration::from_millis(100));
            }
            return Vec::new();
        };
        stream.write_all(first.as_bytes()).expect("the server reads");
        let mut response = vec![0; 12];
        stream.read_exact(&mut response).expect("a response");
        stream.write_all(later.as_bytes()).expect("the server reads");
        response.extend(rest(stream, case));
        responses(&response).0
    });
    assert_eq!(statuses, [vec![200], vec![200], vec![200], vec![]]);
    assert_still_serves(&app);
}

/// Beyond the contract.
#[test]
fn pipelined_requests_on_one_connection_are_all_served() {
    let app = App::with(&[], &[("ROADMAP_KEEP_ALIVE", "2s")]);
    let mut stream = app.acme.connect();
    let request = format!("{}\r\n", head(&app.acme, "GET", TRACKS));
    // In total longer than the keep-alive timeout and its margin, with pauses that are shorter.
    for number in 0..7 {
        if number > 0 {
            std::thread::sleep(Duration::from_millis(700));
        }
        stream.write_all(request.as_bytes()).expect("the server reads");
        assert_eq!(responses(&read_one_response(&mut stream)).0, [200], "{number}");
    }
}

/// Asserts that a request is rejected with a status and that its body is not parsed as the next request.
#[track_caller]
fn is_refused_and_goes_on(app: &App, mut stream: TcpStream, status: u16) {
    assert_eq!(responses(&read_one_response(&mut stream)), (vec![status], false));
    stream.write_all(format!("{}\r\n", head(&app.acme, "GET", TRACKS)).as_bytes()).expect("the server reads");
    assert_eq!(responses(&read_one_response(&mut stream)), (vec![200], false));
}

/// Beyond the contract: an oversized body is read further for a limited time, so that its sender gets the response.
#[test]
fn a_slightly_too_large_body_is_read_to_its_end() {
    const SIXTEEN_MEGABYTES: usize = 16 * 1024 * 1024;
    let app = App::start();
    let mut stream = app.acme.connect();
    let head = head(&app.acme, "POST", "/api/external/v1/feature_requests");
    let request = format!("{head}Content-Type: application/json\r\nContent-Length: {SIXTEEN_MEGABYTES}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("the server reads");
    stream.write_all(&vec![b' '; SIXTEEN_MEGABYTES]).expect("the server reads on");
    is_refused_and_goes_on(&app, stream, 413);
}

/// Beyond the contract.
#[test]
fn a_form_with_too_much_before_its_file_is_read_to_its_end() {
    let app = App::start();
    let mut stream = app.acme.connect();
    let (begin, end) = ("--limit\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n", "\r\n--limit--\r\n");
    let (other, head) = (vec![b'x'; 10_000_000], head(&app.acme, "POST", ATTACHMENTS));
    let length = begin.len() + other.len() + end.len();
    let request = format!("{head}Content-Type: {FORM_TYPE}\r\nContent-Length: {length}\r\n\r\n{begin}");
    for part in [request.as_bytes(), &other, end.as_bytes()] {
        stream.write_all(part).expect("the server reads on");
    }
    is_refused_and_goes_on(&app, stream, 422);
}

/// Beyond the contract.
#[test]
fn a_body_that_does_not_end_is_not_read_for_ever() {
    let app = App::start();
    let part = |name: &str| format!("--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
    let endless = |text: &str| chunk(text.repeat(0x10000 / text.len()).as_bytes());
    in_parallel(8, |number| {
        let (case, target, media_type, begin, piece, status) = [
            ("JSON", REQUESTS, "application/json", " ".to_owned(), "x".to_owned(), 413),
            ("a part that nobody asked for", ATTACHMENTS, FORM_TYPE, part("other"), "x".to_owned(), 422),
            ("a file", ATTACHMENTS, FORM_TYPE, part("file"), "x".to_owned(), 422),
            ("parts without content", ATTACHMENTS, FORM_TYPE, part("a"), "\r\n--limit\r\nA: b\r\n\r\n".to_owned(), 400),
            ("parts with nothing in them", ATTACHMENTS, FORM_TYPE, part("a"), format!("\r\n{}", part("b")), 422),
            ("heads of a part", ATTACHMENTS, FORM_TYPE, "--limit\r\n".to_owned(), "A: b\r\n".to_owned(), 400),
            ("lines before the first part", ATTACHMENTS, FORM_TYPE, "x\r\n".to_owned(), "x\r\n".to_owned(), 422),
            ("a line before the first part", ATTACHMENTS, FORM_TYPE, "x".to_owned(), "x".to_owned(), 400),
        ][number]
            .clone();
        let piece = endless(&piece);
        let mut stream = app.acme.connect();
        let head = head(&app.acme, "POST", target);
        let head = format!("{head}Content-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n");
        stream.write_all(&[head.as_bytes(), &chunk(begin.as_bytes())].concat()).expect("the server reads");
        let mut sending = stream.try_clone().expect("the same connection");
        sending.set_write_timeout(Some(WAIT_LIMIT)).expect("a time limit");
        let piece = &piece;
        std::thread::scope(|scope| {
            let sent = scope.spawn(move || {
                let began = Instant::now();
                let error = loop {
                    match sending.write_all(piece) {
                        Ok(()) => assert!(began.elapsed() < 2 * WAIT_LIMIT, "{case} is read for ever"),
                        Err(error) => break error,
                    }
                };
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "{case} is neither read nor refused");
            });
            assert_eq!(responses(&read_one_response(&mut stream)).0, [status], "{case}");
            sent.join().expect("the connection ends");
        });
    });
    assert_still_serves(&app);
}

/// Beyond the contract.
#[test]
fn a_response_that_is_read_with_pauses_arrives_whole() {
    let app = App::with(&[], &[("ROADMAP_KEEP_ALIVE", "1s")]);
    // More than the connection's buffers hold.
    let bytes = 20_000_000;
    let file = app.acme.post_attachment(&form_with("a.bin", &vec![b'x'; bytes])).json();
    let path_of = |url: &str| url.strip_prefix("https://acme.roadmap.example.com").expect("our URL").to_owned();
    let redirect = app.acme.get(&path_of(file["blob_url"].as_str().expect("a URL")));
    let place = path_of(redirect.header("location").expect("a place"));

    let mut stream = app.acme.connect();
    let request = format!("{}Connection: close\r\n\r\n", head(&app.acme, "GET", &place));
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut part = vec![0; 1_000_000];
    stream.read_exact(&mut part).expect("the first part");
    // Longer than the keep-alive timeout and its margin of a second.
    std::thread::sleep(Duration::from_secs(4));
    let left = rest(stream, "the rest");
    let whole = responses(&[part, left].concat());
    assert_eq!(whole, (vec![200], true));
}

/// Beyond the contract.
#[test]
fn a_response_before_the_end_of_the_body_ends_the_connection() {
    let app = App::start();
    let stranger = app.client("acme", "rmk_wrong");
    let unfinished = "Content-Length: 100\r\n\r\n{";
    for (case, request, status) in [
        ("a wrong key", head(&stranger, "POST", REQUESTS), 401),
        ("an unknown path", head(&app.acme, "POST", "/api/nowhere"), 404),
        ("another method", head(&app.acme, "DELETE", TRACKS), 405),
        ("a read", head(&app.acme, "GET", TRACKS), 200),
        ("another type", format!("{}Content-Type: text/plain\r\n", head(&app.acme, "POST", REQUESTS)), 415),
    ] {
        let response = exchange(&app.acme, format!("{request}{unfinished}").as_bytes(), case);
        assert_eq!(responses(&response), (vec![status], true), "{case}");
    }
}

/// Beyond the contract: a slow body is accepted.
#[test]
fn a_slow_but_steady_body_is_accepted() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Dark mode", "description": "x".repeat(100) } }).to_string();
    let mut stream = app.acme.connect();
    let head =
        format!("{}Connection: close\r\nContent-Length: {}\r\n\r\n", head(&app.acme, "POST", REQUESTS), body.len());
    stream.write_all(head.as_bytes()).expect("the server reads");
    let began = Instant::now();
    for piece in body.as_bytes().chunks(7) {
        stream.write_all(piece).expect("the server reads");
        std::thread::sleep(Duration::from_millis(250));
    }
    // Longer than the time limit of a head.
    assert!(began.elapsed() > Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(responses(&rest(stream, "a slow body")), (vec![201], true));
}
