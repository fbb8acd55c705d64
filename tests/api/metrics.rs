//! Metrics for Prometheus, on a separate listener.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::app::{App, Client, eventually};
use crate::database::ON_POSTGRES;
use crate::mcp::Agent;

/// Service with metrics, and a client for them.
struct MeteredApp {
    app: App,
    metrics: Client,
}

impl MeteredApp {
    /// Starts a service without a mail worker, so that mail stays queued.
    fn start() -> Self {
        Self::with(&[])
    }

    fn with(environment: &[(&str, &str)]) -> Self {
        let fixed = [("ROADMAP_METRICS_LISTEN", "127.0.0.1:0"), ("ROADMAP_MAIL_WORKER", "false")];
        let mut app = App::with(&[], &[&fixed[..], environment].concat());
        let line = app.next_line();
        let port = line.strip_prefix("Metrics at http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/metrics"));
        let port = port.unwrap_or_else(|| panic!("{line}")).parse().expect("a port");
        let metrics = Client { port, key: None, host: "127.0.0.1".to_owned() };
        Self { app, metrics }
    }

    fn exposition(&self) -> Exposition {
        let response = self.metrics.get("/metrics");
        assert_eq!(response.status, 200);
        let form = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        assert_eq!(response.header("content-type"), Some(form));
        Exposition::parse(&response.text())
    }
}

type Labels = BTreeMap<String, String>;

/// Parsed response in the OpenMetrics text format.
struct Exposition {
    text: String,
    /// Type by name of the metric family.
    families: BTreeMap<String, String>,
    samples: BTreeMap<(String, Labels), f64>,
}

impl Exposition {
    /// Parses an exposition strictly (OpenMetrics 1.0, section 4).
    fn parse(text: &str) -> Self {
        let body = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
        let (mut families, mut samples) = (BTreeMap::<String, String>::new(), BTreeMap::new());
        let mut current = String::new();
        for line in body.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let (kind, rest) = comment.split_once(' ').expect("a kind");
                let (name, value) = rest.split_once(' ').expect("a name");
                is_name(name);
                current = name.to_owned();
                match kind {
                    "HELP" => assert!(value.ends_with('.') && !families.contains_key(name), "{line}"),
                    "TYPE" => assert_eq!(families.insert(name.to_owned(), value.to_owned()), None, "{line}"),
                    "UNIT" => assert!(name.ends_with(&format!("_{value}")), "{line}"),
                    other => panic!("{other}: {line}"),
                }
                continue;
            }
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let (name, labels) = series.split_once('{').map_or((series, ""), |(name, labels)| {
                (name, labels.strip_suffix('}').unwrap_or_else(|| panic!("{line}")))
            });
            is_name(name);
            let kind = families.get(&current).unwrap_or_else(|| panic!("no type: {line}"));
            let endings: &[&str] = match kind.as_str() {
                "counter" => &["_total"],
                "gauge" => &[""],
                "info" => &["_info"],
                "histogram" => &["_bucket", "_sum", "_count"],
                other => panic!("{other}: {line}"),
            };
            assert!(endings.iter().any(|ending| name == format!("{current}{ending}")), "{line} is not of {current}");
            let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(samples.insert((name.to_owned(), parse_labels(labels)), value), None, "twice: {line}");
        }
        Self { text: text.to_owned(), families, samples }
    }

    /// Returns the series of a name, with labels as `a=b,c=d`.
    fn series(&self, name: &str) -> BTreeMap<String, f64> {
        let of_name = self.samples.iter().filter(|((series, _), _)| series == name);
        let label_text = |labels: &Labels| {
            labels.iter().map(|(label, value)| format!("{label}={value}")).collect::<Vec<_>>().join(",")
        };
        of_name.map(|((_, labels), value)| (label_text(labels), *value)).collect()
    }

    /// Returns the only value of a name.
    fn value(&self, name: &str) -> f64 {
        let series = self.series(name);
        assert_eq!(series.len(), 1, "{name}: {series:?}");
        series.into_values().next().expect("a value")
    }
}

#[track_caller]
fn is_name(name: &str) {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit();
    assert!(!name.is_empty() && name.bytes().all(good), "{name}");
}

fn parse_labels(raw: &str) -> Labels {
    let mut labels = Labels::new();
    let mut rest = raw;
    while !rest.is_empty() {
        let (name, behind) = rest.split_once("=\"").unwrap_or_else(|| panic!("{raw}"));
        is_name(name);
        let (value, behind) = behind.split_once('"').unwrap_or_else(|| panic!("{raw}"));
        assert!(!value.contains('\\'), "no value of ours needs an escape: {raw}");
        assert_eq!(labels.insert(name.to_owned(), value.to_owned()), None, "{raw}");
        rest = behind.strip_prefix(',').unwrap_or(behind);
    }
    labels
}

fn pairs(expected: &[(&str, f64)]) -> BTreeMap<String, f64> {
    expected.iter().map(|(labels, value)| ((*labels).to_owned(), *value)).collect()
}

const V1: &str = "/api/external/v1";

#[test]
fn counts_are_exact_after_a_series_of_requests() {
    let measured = MeteredApp::start();
    let app = &measured.app;
    assert_eq!(measured.exposition().series("roadmap_http_requests_total"), pairs(&[]));
    for _ in 0..3 {
        app.acme.get_tracks();
    }
    let body = json!({
        "feature_request": { "title": "Dark mode" },
        "customer": { "email": "ann@example.com" },
        "operation_key": "once",
    });
    for _ in 0..3 {
        assert_eq!(app.acme.post_feature_request(&body).status, 201);
    }
    app.acme.post_feature_request(&json!({}));
    app.acme.get_voters("1", "");
    app.acme.get_voters("9", "");
    app.acme.request("HEAD", &format!("{V1}/tracks"), &[], None).unwrap();
    app.acme.request("BREW", &format!("{V1}/tracks"), &[], None).unwrap();
    app.acme.request("KETTLE", "/coffee?strong", &[], None).unwrap();
    for path in ["/", "/secret/path", "/api/external/v1/nothing", "/api/external/v3/tracks"] {
        app.acme.get(path);
    }
    app.acme.get("/healthz");
    app.acme.get("/readyz");

    let exposition = measured.exposition();
    let requests = [
        ("method=GET,route=/api/external/v1/feature_requests/{id}/voters,status=200", 1.0),
        ("method=GET,route=/api/external/v1/feature_requests/{id}/voters,status=404", 1.0),
        ("method=GET,route=/api/external/v1/tracks,status=200", 3.0),
        ("method=GET,route=/healthz,status=200", 1.0),
        ("method=GET,route=/readyz,status=200", 1.0),
        ("method=GET,route=/,status=200", 1.0),
        ("method=GET,route=unknown,status=404", 3.0),
        ("method=HEAD,route=/api/external/v1/tracks,status=200", 1.0),
        ("method=POST,route=/api/external/v1/feature_requests,status=201", 3.0),
        ("method=POST,route=/api/external/v1/feature_requests,status=422", 1.0),
        ("method=other,route=/api/external/v1/tracks,status=405", 1.0),
        ("method=other,route=unknown,status=403", 1.0),
    ];
    assert_eq!(exposition.series("roadmap_http_requests_total"), pairs(&requests));
    assert_eq!(exposition.value("roadmap_operation_replays_total"), 2.0);

    // Each request was timed once, in seconds.
    let counts = exposition.series("roadmap_http_request_duration_seconds_count");
    assert_eq!(counts["method=POST,route=/api/external/v1/feature_requests"], 4.0);
    assert_eq!(counts.values().sum::<f64>(), requests.iter().map(|(_, count)| count).sum::<f64>());
    let sums = exposition.series("roadmap_http_request_duration_seconds_sum");
    assert!(sums.values().all(|sum| (0.0..20.0).contains(sum)), "{sums:?}");
    let buckets = exposition.series("roadmap_http_request_duration_seconds_bucket");
    assert_eq!(buckets["le=+Inf,method=GET,route=/api/external/v1/tracks"], 3.0);
    assert_eq!(buckets.len(), counts.len() * 15);
}

#[test]
fn rejected_keys_are_counted_by_cause() {
    let measured = MeteredApp::start();
    let app = &measured.app;
    let bolt = app.workspace("bolt");
    let issue = |flags: &[&str]| {
        let arguments = ["api-key", "create", "--workspace", "acme", "--name", "another"];
        app.roadmap(&[&arguments[..], flags].concat()).json()
    };
    let revoked = issue(&[]);
    app.roadmap(&["api-key", "revoke", "--workspace", "acme", revoked["id"].as_str().unwrap()]).json();
    let expired = issue(&["--expires-in", "1ms"]);
    let good = app.acme.key.clone().unwrap();
    let nobody = Client { key: None, ..app.acme.clone() };
    let with = |key: &str| Client { key: Some(key.to_owned()), ..app.acme.clone() };
    let rejected = [
        (Client { host: "elsewhere.example".to_owned(), ..app.acme.clone() }, 1),
        (nobody, 2),
        (with("rmk_nonsense"), 1),
        (with(bolt.key.as_deref().unwrap()), 2),
        (with(revoked["key"].as_str().unwrap()), 1),
        (with(expired["key"].as_str().unwrap()), 3),
        (Client { host: "ghost.roadmap.example.com".to_owned(), ..with(&good) }, 1),
    ];
    for (client, times) in rejected {
        for _ in 0..times {
            client.get_tracks().is_error(401, "Could not authenticate, invalid API Key");
        }
    }
    app.acme.get_tracks();
    let expected = [
        ("cause=expired", 3.0),
        ("cause=malformed", 1.0),
        ("cause=no_key", 2.0),
        ("cause=no_workspace", 1.0),
        ("cause=revoked", 1.0),
        ("cause=unknown", 3.0),
    ];
    assert_eq!(measured.exposition().series("roadmap_rejected_keys_total"), pairs(&expected));
}

#[test]
fn sign_ins_start_at_zero() {
    let measured = MeteredApp::start();
    let expected = [("step=asked", 0.0), ("step=redeemed", 0.0), ("step=refused", 0.0)];
    assert_eq!(measured.exposition().series("roadmap_sign_ins_total"), pairs(&expected));
}

#[test]
fn mail_that_waits_is_counted_with_its_age() {
    let measured = MeteredApp::start();
    let app = &measured.app;
    let mails = |due: f64, postponed: f64, dead: f64| {
        pairs(&[("state=due", due), ("state=leased", 0.0), ("state=postponed", postponed), ("state=dead", dead)])
    };
    let exposition = measured.exposition();
    assert_eq!(exposition.series("roadmap_outbox_mails"), mails(0.0, 0.0, 0.0));
    assert_eq!(exposition.value("roadmap_outbox_oldest_due_age_seconds"), 0.0);
    assert_eq!(exposition.value("roadmap_outbox_audiences"), 0.0);
    // In two workspaces: the metrics are totals.
    for client in [&app.acme, &app.workspace("bolt")] {
        client.feature_request("Dark mode");
        for voter in ["ann@example.com", "bob@example.com"] {
            client.post_upvote("1", &json!({ "customer": { "email": voter } }));
        }
        let body = json!({ "comment": { "content": "<p>Soon</p>" }, "notify_all_voters": true });
        assert_eq!(client.post_comment("1", &body).status, 201);
    }
    let hour = if *ON_POSTGRES { "interval '1 hour'" } else { "3600000" };
    app.data.execute(&format!("UPDATE outbox SET due_at = due_at - {hour}"));
    let exposition = measured.exposition();
    assert_eq!(exposition.series("roadmap_outbox_mails"), mails(4.0, 0.0, 0.0));
    let age = exposition.value("roadmap_outbox_oldest_due_age_seconds");
    assert!((3_600.0..3_700.0).contains(&age), "{age}");
    // As if a worker had given up on some of them.
    app.data.execute("UPDATE outbox SET due_at = NULL, failure = 'no'");
    let exposition = measured.exposition();
    assert_eq!(exposition.series("roadmap_outbox_mails"), mails(0.0, 0.0, 4.0));
    assert_eq!(exposition.value("roadmap_outbox_oldest_due_age_seconds"), 0.0);
}

/// Decision 7: workers and pool size take effect in the running service.
#[test]
fn connections_and_writes_in_flight_are_shown() {
    let measured = MeteredApp::with(&[("ROADMAP_WORKERS", "1"), ("ROADMAP_POOL_SIZE", "3")]);
    let app = &measured.app;
    let idle = |pool: &str| format!("pool={pool},state=idle");
    let exposition = measured.exposition();
    let limits = exposition.series("roadmap_store_connections_limit");
    if *ON_POSTGRES {
        let pools = [("auxiliary", 2.0), ("mail", 4.0), ("read", 3.0), ("search", 1.0), ("write", 3.0)];
        assert_eq!(limits, pools.iter().map(|(pool, limit)| (format!("pool={pool}"), *limit)).collect());
    } else {
        assert_eq!(limits, pairs(&[("pool=read", 3.0), ("pool=write", 1.0)]));
        // Maintenance runs at the start.
        eventually("nobody writes", || {
            let connections = measured.exposition().series("roadmap_store_connections");
            (connections[&idle("write")], connections["pool=write,state=in_use"]) == (1.0, 0.0)
        });
    }
    eventually("nobody waits", || {
        let exposition = measured.exposition();
        exposition.series("roadmap_store_connections_waiting").values().all(|waiting| *waiting == 0.0)
    });
    assert_eq!(measured.exposition().value("roadmap_detached_writes"), 0.0);
    app.acme.feature_request("Dark mode");
    eventually("the remaining work of the request is finished", || {
        measured.exposition().value("roadmap_detached_writes") == 0.0
    });
    // A blocked write is in progress and occupies the write connection.
    let lock = app.data.lock();
    std::thread::scope(|scope| {
        scope.spawn(|| app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } })));
        eventually("the write is seen", || {
            let exposition = measured.exposition();
            exposition.value("roadmap_detached_writes") >= 1.0
                && exposition.series("roadmap_store_connections")["pool=write,state=in_use"] == 1.0
        });
        drop(lock);
    });
    eventually("it is over", || measured.exposition().value("roadmap_detached_writes") == 0.0);
}

#[test]
fn version_and_start_time_are_exported() {
    let measured = MeteredApp::start();
    let exposition = measured.exposition();
    assert_eq!(exposition.series("roadmap_build_info"), pairs(&[("version=0.1.0", 1.0)]));
    let started = exposition.value("process_start_time_seconds");
    let log = measured.app.data_dir().join("server.log");
    let now = std::fs::metadata(log).unwrap().modified().unwrap();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((started - now).abs() < 60.0, "{started} {now}");
}

#[test]
fn no_personal_data_is_in_the_metrics() {
    let measured = MeteredApp::start();
    let app = &measured.app;
    let body = json!({
        "feature_request": { "title": "Canary title", "description": "Canary text" },
        "customer": { "email": "canary@example.com", "name": "Canary" },
        "operation_key": "canary-key",
    });
    app.acme.post_feature_request(&body);
    app.acme.post_feature_request(&body);
    app.acme.get_feature_requests("query=canary");
    app.acme.get("/canary/canary@example.com");
    app.acme.get("/api/external/v1/feature_requests/1-canary-title/voters");
    Client { host: "canary.roadmap.example.com".to_owned(), ..app.acme.clone() }.get_tracks();
    let text = measured.exposition().text.to_lowercase();
    for secret in ["canary", "acme", "roadmap.example.com", &app.acme.key.clone().unwrap()[4..12]] {
        assert!(!text.contains(&secret.to_lowercase()), "{secret}: {text}");
    }
}

#[test]
fn metrics_have_a_listener_of_their_own() {
    let measured = MeteredApp::start();
    let base = Client { host: "roadmap.example.com".to_owned(), key: None, ..measured.app.acme.clone() };
    for client in [&measured.app.acme, &base] {
        let page = client.get("/metrics");
        // The base host leads to the only workspace, which has no such page.
        assert!([302, 404].contains(&page.status) && !page.text().contains("roadmap_http_requests"), "{}", page.text());
    }
    let api = Client { port: measured.metrics.port, ..measured.app.acme.clone() };
    for path in ["/api/docs", "/healthz", "/readyz", "/"] {
        assert_eq!(api.get(path).status, 404, "{path}");
    }
    assert_eq!(measured.metrics.request("POST", "/metrics", &[], Some(b"")).unwrap().status, 404);
    // Metrics are off by default.
    let app = App::start();
    assert_eq!(app.acme.get("/metrics").status, 404);
}

#[test]
fn an_address_that_cannot_be_listened_on_is_reported() {
    let measured = MeteredApp::start();
    let taken = format!("127.0.0.1:{}", measured.metrics.port);
    let environment = [("ROADMAP_METRICS_LISTEN", taken.as_str())];
    let failed = measured.app.roadmap_with_environment(&["serve", "--listen", "127.0.0.1:0"], &environment);
    assert!(!failed.success && failed.stdout.is_empty(), "{}", failed.stdout);
    let message = format!("error: cannot listen on {taken} for metrics: ");
    assert!(failed.stderr.lines().any(|line| line.starts_with(&message)), "{}", failed.stderr);
}

#[test]
fn every_metric_is_documented() {
    let measured = MeteredApp::start();
    measured.app.acme.get_tracks();
    let agent = Agent::legacy(&measured.app.acme);
    agent.call("ListTracks", &json!({})).is_ok();
    assert_eq!(agent.send("unknown", &json!({})).status, 200);
    let documents = include_str!("../../docs/operations.md");
    let documented: BTreeSet<&str> = documents
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split(['`', '{']).next())
        .filter(|name| name.starts_with("roadmap_") || name.starts_with("process_"))
        .collect();
    let ending = |kind: &str| match kind {
        "counter" => "_total",
        "info" => "_info",
        _ => "",
    };
    let families = measured.exposition().families;
    let served: BTreeSet<String> = families.iter().map(|(name, kind)| format!("{name}{}", ending(kind))).collect();
    assert_eq!(served.iter().map(String::as_str).collect::<BTreeSet<&str>>(), documented);
}
