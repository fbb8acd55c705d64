//! Rate limits: who is limited, the response headers, and who is exempt. Most limits here are per hour, so that no
//! bucket refills during a test, even on a slow machine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use roadmap_domain::model::api_key::KeyText;
use serde_json::json;

use crate::app::{App, BASE_HOST, Client, Response, StopOnDrop, eventually};

const REFUSED: &str = "Could not authenticate, invalid API Key";
const TOO_MANY_REQUESTS: &str = "Too many calls, try again later";
const TOO_MANY_FAILURES: &str = "Too many failed authentications, try again later";

fn limited(key: &str, workspace: &str, failures: &str) -> App {
    App::with(
        &[],
        &[
            ("ROADMAP_RATE_LIMIT", key),
            ("ROADMAP_RATE_LIMIT_WORKSPACE", workspace),
            ("ROADMAP_RATE_LIMIT_FAILURES", failures),
        ],
    )
}

/// Returns both rate limit headers.
fn headers(response: &Response) -> (Option<&str>, Option<&str>) {
    (response.header("ratelimit-policy"), response.header("ratelimit"))
}

/// Asserts a 429 response and returns its `Retry-After` in seconds.
#[track_caller]
fn wait(response: &Response, message: &str) -> u64 {
    response.is_error(429, message);
    seconds_to_wait(response)
}

/// The time to wait that a response reports, whatever its body.
fn seconds_to_wait(response: &Response) -> u64 {
    let seconds = response.header("retry-after").expect("a time to wait").parse().expect("whole seconds");
    assert!(seconds >= 1);
    seconds
}

/// Sends a request with a client address as reported by a proxy.
fn from(client: &Client, address: &str) -> Response {
    client.request("GET", "/api/external/v1/tracks", &[("X-Forwarded-For", address)], None).expect("a response")
}

/// Contract 8: rate limits are open; decisions 1 and 7 have them.
#[test]
fn a_key_is_limited_after_its_burst() {
    let app = limited("50/h", "off", "off");
    let responses: Vec<Response> = (0..80).map(|_| app.acme.get_tracks()).collect();
    let policy = Some("\"default\";q=50;w=3600");
    for (number, response) in responses.iter().take(50).enumerate() {
        assert_eq!(response.status, 200, "{number}");
        // One request is refilled every 72 seconds.
        let standing = format!("\"default\";r={};t=72", 49 - number);
        assert_eq!(headers(response), (policy, Some(standing.as_str())));
        assert_eq!(response.header("retry-after"), None);
    }
    for response in &responses[50..] {
        let wait = wait(response, TOO_MANY_REQUESTS);
        assert!(wait <= 72, "{wait}");
        let standing = format!("\"default\";r=0;t={wait}");
        assert_eq!(headers(response), (policy, Some(standing.as_str())));
    }
}

/// Beyond the contract.
#[test]
fn a_client_that_respects_retry_after_is_served_again() {
    let app = limited("60/min burst 2", "off", "off");
    for _ in 0..2 {
        let refused = loop {
            let response = app.acme.get_tracks();
            if response.status != 200 {
                break response;
            }
        };
        let seconds = wait(&refused, TOO_MANY_REQUESTS);
        assert_eq!(seconds, 1);
        std::thread::sleep(Duration::from_secs(seconds));
        assert_eq!(app.acme.get_tracks().status, 200);
    }
}

/// Beyond the contract: limits of keys, workspaces and addresses are independent, and use bounded memory.
/// Contract 8.
#[test]
fn keys_of_a_workspace_share_its_limit_and_have_their_own() {
    let app = limited("5/h", "8/h", "off");
    let second = app.client("acme", &app.key("acme", &[]));
    let other = app.workspace("other");
    let served = |client: &Client| (0..7).filter(|_| client.get_tracks().status == 200).count();
    assert_eq!([served(&app.acme), served(&second), served(&other)], [5, 3, 5]);

    let policies = Some("\"default\";q=5;w=3600, \"workspace\";q=8;w=3600");
    let response = second.get_tracks();
    let seconds = wait(&response, TOO_MANY_REQUESTS);
    assert!(seconds <= 450, "{seconds}");
    let standing = format!("\"default\";r=2;t=720, \"workspace\";r=0;t={seconds}");
    assert_eq!(headers(&response), (policies, Some(standing.as_str())));

    // Both limits are used up: the longer time counts.
    let response = app.acme.get_tracks();
    assert!(wait(&response, TOO_MANY_REQUESTS) > 450);
    // Rejected requests are not counted: three are left for the next key of the other workspace.
    let response = app.client("other", &app.key("other", &[])).get_tracks();
    let standing = Some("\"default\";r=4;t=720, \"workspace\";r=2;t=450");
    assert_eq!((response.status, headers(&response)), (200, (policies, standing)));
}

/// Decision 1.
#[test]
fn a_rejected_request_has_no_effect_and_does_not_use_its_operation_key() {
    let mut app = limited("1/h", "off", "off");
    let body = json!({ "feature_request": { "title": "Dark mode" }, "operation_key": "once" });
    assert_eq!(app.acme.get_tracks().status, 200);
    wait(&app.acme.post_feature_request(&body), TOO_MANY_REQUESTS);
    let count = |app: &App, table: &str| app.count(&format!("SELECT count(*) FROM {table}"));
    assert_eq!([count(&app, "feature_requests"), count(&app, "operations")], [0, 0]);
    // Limits are kept in memory and start anew with the process.
    app.kill();
    app.restart();
    let response = app.acme.post_feature_request(&body);
    assert_eq!((response.status, response.header("idempotent-replayed")), (201, None));
    assert_eq!([count(&app, "feature_requests"), count(&app, "operations")], [1, 1]);
}

/// Decision 1: 429 has its place in the order of checks.
#[test]
fn replays_and_rejected_requests_count_too() {
    let app = limited("5/h", "off", "off");
    let body = json!({ "feature_request": { "title": "Dark mode" }, "operation_key": "once" });
    let first = app.acme.post_feature_request(&body);
    let replay = app.acme.post_feature_request(&body);
    assert_eq!((replay.status, replay.text()), (201, first.text()));
    assert_eq!(replay.header("idempotent-replayed"), Some("true"));
    assert_eq!(replay.header("ratelimit"), Some("\"default\";r=3;t=720"));
    for (method, path, status, standing) in [
        ("GET", "/nothing", 404, "r=2;t=720"),
        ("DELETE", "/tracks", 405, "r=1;t=720"),
        ("POST", "/feature_requests", 400, "r=0;t=720"),
    ] {
        let headers = [("Content-Type", "application/json")];
        let path = format!("/api/external/v1{path}");
        let response = app.acme.request(method, &path, &headers, Some(b"{")).expect("a response");
        assert_eq!(response.status, status, "{path}");
        assert_eq!(response.header("ratelimit"), Some(format!("\"default\";{standing}").as_str()), "{path}");
    }
    // The rate limit is checked before all of these, and after authentication.
    wait(&app.acme.get("/api/external/v1/nothing"), TOO_MANY_REQUESTS);
    wait(&app.acme.post_feature_request(&body), TOO_MANY_REQUESTS);
    let stranger = app.client("acme", "rmk_wrong").get_tracks();
    stranger.is_error(401, REFUSED);
    assert_eq!(headers(&stranger), (None, None));
    assert_eq!(Client { key: None, ..app.acme.clone() }.get("/healthz").status, 200);
}

/// Beyond the contract: a valid key works whatever failures its address has; unknown keys and workspaces cost a bounded
/// number of reads.
/// Contract 8.
#[test]
fn only_failing_requests_of_an_address_with_many_failures_are_refused() {
    let app = limited("off", "off", "4/h");
    let other = app.workspace("other");
    let nobody = Client { key: None, ..app.acme.clone() };
    let callers = [
        ("a wrong key", app.client("acme", "rmk_wrong")),
        ("another workspace's key", app.client("acme", other.key.as_deref().unwrap())),
        ("an unknown workspace", app.client("nobody", app.acme.key.as_deref().unwrap())),
        ("no key", nobody.clone()),
    ];
    for (case, caller) in &callers {
        // Successful requests are not counted as failures.
        assert_eq!(app.acme.get_tracks().status, 200, "{case}");
        let response = caller.get_tracks();
        response.is_error(401, REFUSED);
        assert_eq!((headers(&response), response.header("retry-after")), ((None, None), None), "{case}");
    }
    for (case, caller) in &callers {
        let response = caller.get_tracks();
        let seconds = wait(&response, TOO_MANY_FAILURES);
        assert!(seconds <= 900, "{case}: {seconds}");
        assert_eq!(headers(&response), (None, None), "{case}");
    }
    // A key that is new to this process is accepted, and so is one that was created meanwhile.
    assert_eq!(other.get_tracks().status, 200);
    assert_eq!(app.client("acme", &app.key("acme", &[])).get_tracks().status, 200);
    // An untrusted header with another address changes nothing.
    wait(&from(&callers[0].1, "192.0.2.1"), TOO_MANY_FAILURES);
    // A revoked key fails like any other, and so does a valid key at another workspace.
    assert_eq!(app.acme.get_tracks().status, 200);
    wait(&callers[2].1.get_tracks(), TOO_MANY_FAILURES);
    let keys = app.roadmap(&["api-key", "list", "--workspace", "acme"]).json();
    let id = keys[0]["id"].as_str().expect("an id");
    app.roadmap(&["api-key", "revoke", "--workspace", "acme", id]).json();
    eventually("the key is revoked", || app.acme.get_tracks().status != 200);
    wait(&app.acme.get_tracks(), TOO_MANY_FAILURES);
    assert_eq!(nobody.get("/healthz").status, 200);
}

/// Beyond the contract.
#[test]
fn a_valid_key_is_served_while_its_address_guesses_thousands() {
    let app = limited("off", "off", "4/h");
    let is_over = AtomicBool::new(false);
    let (tried, served) = std::thread::scope(|scope| {
        let attacks: Vec<_> = (0..4)
            .map(|thread| {
                let (app, is_over) = (&app, &is_over);
                scope.spawn(move || {
                    let mut tried = 0_u32;
                    while !is_over.load(Ordering::SeqCst) {
                        // With a valid checksum, so that the key must be looked up.
                        let key = KeyText::from_random(&format!("{thread:0>21}{tried:0>22}")).expect("a key");
                        let host =
                            if tried.is_multiple_of(2) { "acme".to_owned() } else { format!("w{thread}x{tried}") };
                        let status = app.client(&host, key.reveal()).get_tracks().status;
                        assert!([401, 429].contains(&status), "{status}");
                        tried += 1;
                    }
                    tried
                })
            })
            .collect();
        let until = StopOnDrop(&is_over);
        eventually("the address is over its limit", || app.client("acme", "rmk_wrong").get_tracks().status == 429);
        // Every key is new to this process.
        let clients: Vec<Client> = (0..8).map(|_| app.client("acme", &app.key("acme", &[]))).collect();
        let served: Vec<u16> = clients
            .iter()
            .map(|client| {
                // The key is unknown until the cached list of keys expires.
                eventually("the new key works", || client.get_tracks().status == 200);
                client.get_tracks().status
            })
            .collect();
        drop(until);
        (attacks.into_iter().map(|thread| thread.join().expect("a thread")).sum::<u32>(), served)
    });
    println!("{tried} keys tried in vain meanwhile");
    assert!(tried > 100, "{tried}");
    assert_eq!(served, [200; 8]);
}

/// Beyond the contract: requests without a key are limited by address; malformed references cause no look-up; readiness
/// is checked once a second.
#[test]
fn requests_without_a_key_are_counted_for_their_address() {
    let limit = [("ROADMAP_RATE_LIMIT_ANONYMOUS", "12/h burst 6"), ("ROADMAP_TRUST_PROXY", "x-forwarded")];
    let app = App::with(&[], &limit);
    let nobody = Client { key: None, ..app.acme.clone() };
    let at = |method: &str, path: &str, address: &str| {
        nobody.request(method, path, &[("X-Forwarded-For", address)], None).expect("a response")
    };
    let policy = Some("\"anonymous\";q=6;w=1800");
    for (method, path, status, left) in [
        ("GET", "/readyz", 200, 5),
        ("GET", "/blobs/x/a.png", 404, 4),
        ("GET", "/files/x/a.png", 404, 3),
        ("GET", "/unsubscribe/x", 404, 2),
        ("POST", "/unsubscribe/x", 404, 1),
        ("HEAD", "/readyz", 200, 0),
    ] {
        let response = at(method, path, "192.0.2.1");
        let state = format!("\"anonymous\";r={left};t=300");
        assert_eq!((response.status, headers(&response)), (status, (policy, Some(state.as_str()))), "{method} {path}");
    }
    for (method, path) in [
        ("GET", "/readyz"),
        ("GET", "/blobs/x/a.png"),
        ("GET", "/files/x/a.png"),
        ("GET", "/unsubscribe/x"),
        ("POST", "/unsubscribe/x"),
    ] {
        let response = at(method, path, "192.0.2.1");
        let seconds = if path.starts_with("/unsubscribe/") {
            // It is opened by people, so that its errors are pages.
            assert_eq!((response.status, response.header("content-type")), (429, Some("text/html; charset=utf-8")));
            seconds_to_wait(&response)
        } else {
            wait(&response, TOO_MANY_REQUESTS)
        };
        assert!(seconds <= 300, "{seconds}");
        let state = format!("\"anonymous\";r=0;t={seconds}");
        assert_eq!(headers(&response), (policy, Some(state.as_str())), "{method} {path}");
    }
    // Other addresses, requests with a key, and requests without a lookup.
    assert_eq!(at("GET", "/readyz", "192.0.2.2").status, 200);
    assert_eq!(from(&app.acme, "192.0.2.1").status, 200);
    for path in ["/healthz", "/api/docs", "/api/external/openapi.json"] {
        let response = at("GET", path, "192.0.2.1");
        assert_eq!((response.status, headers(&response)), (200, (None, None)), "{path}");
    }
}

/// Beyond the contract.
#[test]
fn failures_behind_a_trusted_proxy_are_counted_for_the_address_that_it_reports() {
    let trusted = [("ROADMAP_TRUST_PROXY", "x-forwarded"), ("ROADMAP_RATE_LIMIT_FAILURES", "2/h")];
    let app = App::with(&[], &trusted);
    let stranger = app.client("acme", "rmk_wrong");
    for address in ["198.51.100.7, 192.0.2.1", "192.0.2.1:4711"] {
        from(&stranger, address).is_error(401, REFUSED);
    }
    for (address, status) in [
        ("192.0.2.1", 429),
        ("192.0.2.2, 192.0.2.1", 429),
        // A second proxy on this machine, behind the first one.
        ("192.0.2.1, 127.0.0.9", 429),
        ("192.0.2.1, 192.0.2.2", 401),
        ("192.0.2.2", 401),
        ("192.0.2.2", 429),
    ] {
        assert_eq!(from(&stranger, address).status, status, "{address}");
        assert_eq!(from(&app.acme, address).status, 200, "{address}");
    }
    for address in ["2001:db8::1", "[2001:db8::2]:80"] {
        from(&stranger, address).is_error(401, REFUSED);
    }
    wait(&from(&stranger, "2001:db8::3"), TOO_MANY_FAILURES);
    from(&stranger, "2001:db8:0:1::1").is_error(401, REFUSED);
    // Without the header the proxy itself is the client.
    stranger.get_tracks().is_error(401, REFUSED);
}

/// Decision 1.
#[test]
fn forged_headers_behind_a_proxy_do_not_evade_the_limit_of_failures() {
    let trusted = [("ROADMAP_TRUST_PROXY", "x-forwarded"), ("ROADMAP_RATE_LIMIT_FAILURES", "2/h")];
    let app = App::with(&[], &trusted);
    let stranger = app.client("acme", "rmk_wrong");
    // A request with its own `Forwarded` header, as nginx passes it on.
    let statuses: Vec<u16> = (1..6)
        .map(|number| {
            let forwarded = format!("for=203.0.113.{number}");
            let headers = [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", forwarded.as_str())];
            let response = stranger.request("GET", "/api/external/v1/tracks", &headers, None).expect("a response");
            response.is_error(400, "Forwarded and X-Forwarded-* do not agree");
            response.status
        })
        .collect();
    assert_eq!(statuses, [400; 5]);
    // The requests are counted neither for the forged addresses nor for the sender.
    for address in ["203.0.113.1", "203.0.113.2", "192.0.2.1"] {
        from(&stranger, address).is_error(401, REFUSED);
    }
}

/// Decision 7: the rate limit of a key is 600 a minute, or `off`.
#[test]
fn limits_are_on_by_default_and_can_be_off() {
    let app = limited("", "", "");
    let response = app.acme.get_tracks();
    let policies = "\"default\";q=600;w=60, \"workspace\";q=6000;w=60";
    assert_eq!(headers(&response), (Some(policies), Some("\"default\";r=599;t=1, \"workspace\";r=5999;t=1")));

    let app = App::start();
    let stranger = app.client("acme", "rmk_wrong");
    for _ in 0..700 {
        let response = app.acme.get_tracks();
        assert_eq!((response.status, headers(&response)), (200, (None, None)));
    }
    for _ in 0..70 {
        stranger.get_tracks().is_error(401, REFUSED);
    }
}

/// Decision 7.
#[test]
fn an_invalid_limit_is_rejected_by_name() {
    let app = App::start();
    for (name, setting) in [
        ("ROADMAP_RATE_LIMIT", "rate_limit"),
        ("ROADMAP_RATE_LIMIT_WORKSPACE", "rate_limit_workspace"),
        ("ROADMAP_RATE_LIMIT_FAILURES", "rate_limit_failures"),
        ("ROADMAP_RATE_LIMIT_ANONYMOUS", "rate_limit_anonymous"),
        ("ROADMAP_RATE_LIMIT_SIGN_IN", "rate_limit_sign_in"),
        ("ROADMAP_RATE_LIMIT_POSTS", "rate_limit_posts"),
    ] {
        for value in ["fast", "0", "-1", "600/day", "600/min burst 0", "600/min burst", "1000001/s", "1.5/s", "Off"] {
            let refused = app
                .roadmap_with_environment(&["--base-url", &format!("https://{BASE_HOST}"), "serve"], &[(name, value)]);
            assert!(!refused.success, "{name}={value}");
            assert_eq!(
                refused.stderr,
                format!(
                    "error: the setting {setting} is `{value}`, which is neither `off` nor a number of requests such \
                     as 600/min, 10/s or 600/min burst 100, between 1 and 1000000\n"
                )
            );
        }
    }
}
