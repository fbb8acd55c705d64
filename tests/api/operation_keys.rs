//! Operation keys (contract section 4.10), rule by rule.

use std::collections::BTreeSet;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::app::{App, Client, Response, WAIT_LIMIT, eventually, in_parallel};
use crate::endpoints::{Endpoint, Records, endpoints, no_import_runs};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const MISSING_NOTE: &str = "param is missing or the value is empty or invalid: reference_note";

/// Tables that writes add rows to.
const TABLES: [&str; 7] =
    ["feature_requests", "customers", "votes", "notes", "comments", "outbox WHERE kind = 'comment'", "changelogs"];

/// Write that takes an operation key.
struct Keyed {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    body: Value,
    status: u16,
    /// Rows that one execution adds to each of [`TABLES`].
    effect: [i64; 7],
}

impl Keyed {
    fn send(&self, client: &Client, key: &Value) -> Response {
        self.send_body(client, &with_key(&self.body, key))
    }

    fn send_body(&self, client: &Client, body: &Value) -> Response {
        client.send(self.method, &format!("/api/external/v1{}", self.path), body)
    }

    /// Expected row counts after this many executions.
    fn after(&self, runs: i64, before: [i64; 7]) -> [i64; 7] {
        let mut after = before;
        for (count, effect) in after.iter_mut().zip(self.effect) {
            *count += runs * effect;
        }
        after
    }
}

fn with_key(body: &Value, key: &Value) -> Value {
    let mut body = body.clone();
    body["operation_key"] = key.clone();
    body
}

/// Returns the writes that take an operation key, for the feature request 1 with its two voters.
fn keyed(app: &App) -> [Keyed; 5] {
    [
        Keyed {
            name: "create",
            method: "POST",
            path: "/feature_requests",
            body: json!({
                "feature_request": { "title": "Night mode" },
                "customer": { "email": "cid@example.com" },
                "reference_note": { "body": "Asked at a fair" },
            }),
            status: 201,
            // The customer is the same each time.
            effect: [1, 0, 1, 1, 0, 0, 0],
        },
        Keyed {
            name: "upvote",
            method: "POST",
            path: "/feature_requests/1/upvotes",
            body: json!({ "customer": { "email": "ann@example.com" }, "reference_note": { "body": "Asked again" } }),
            status: 201,
            // Ann has already voted.
            effect: [0, 0, 0, 1, 0, 0, 0],
        },
        Keyed {
            name: "comment",
            method: "POST",
            path: "/feature_requests/1/comments",
            body: json!({ "comment": { "content": "Soon" }, "notify_all_voters": true }),
            status: 201,
            effect: [0, 0, 0, 0, 1, 2, 0],
        },
        Keyed {
            name: "move",
            method: "PATCH",
            path: "/feature_requests/1/track",
            body: json!({ "track_id": app.track("Planned") }),
            status: 200,
            effect: [0; 7],
        },
        Keyed {
            name: "changelog",
            method: "POST",
            path: "/changelogs",
            body: json!({ "changelog": { "title": "1.2", "content": "New" } }),
            status: 201,
            effect: [0, 0, 0, 0, 0, 0, 1],
        },
    ]
}

/// Starts a service with the feature request 1, voted for by Ann and Bob, and the customer Cid.
fn started() -> (App, [Keyed; 5]) {
    let app = App::start();
    fill(&app.acme);
    let endpoints = keyed(&app);
    (app, endpoints)
}

fn fill(client: &Client) {
    client.feature_request("Dark mode");
    for email in ["ann@example.com", "bob@example.com"] {
        assert_eq!(client.post_upvote("1", &json!({ "customer": { "email": email } })).status, 201);
    }
    let other = client.feature_request("Something else");
    let id = other["id"].as_str().unwrap();
    assert_eq!(client.post_upvote(id, &json!({ "customer": { "email": "cid@example.com" } })).status, 201);
}

fn counts(app: &App) -> [i64; 7] {
    TABLES.map(|table| app.count(&format!("SELECT count(*) FROM {table}")))
}

/// Number of saved responses.
fn saved(app: &App) -> i64 {
    app.count("SELECT count(*) FROM operations")
}

/// Replayed parts of a response, and the header that marks a replay.
fn visible_parts(response: &Response) -> (u16, String, Option<String>) {
    (response.status, response.text(), response.header("idempotent-replayed").map(str::to_owned))
}

/// Start of a body or key, for assertion messages.
fn short(value: &Value) -> String {
    value.to_string().chars().take(100).collect()
}

/// Expected replay of a response.
fn replay_of(first: &Response) -> (u16, String, Option<String>) {
    (first.status, first.text(), Some("true".to_owned()))
}

/// Asserts that a request was executed and not replayed.
#[track_caller]
fn assert_ran(response: &Response, status: u16, case: &str) {
    assert_eq!(response.status, status, "{case}: {}", response.text());
    assert_eq!(response.header("idempotent-replayed"), None, "{case}");
}

/// Asserts the status and the whole body of an error.
#[track_caller]
fn assert_rejects(response: &Response, status: u16, message: &str, case: &str) {
    assert_eq!((response.status, response.json()), (status, json!({ "error": message })), "{case}");
    assert_eq!(response.header("idempotent-replayed"), None, "{case}");
}

/// Contract 4.7: an upvote takes an `operation_key`.
/// Contract 4.8: a comment takes an `operation_key`.
/// Contract 4.10: the four writes take a key: create, upvote, comment, move.
/// Contract 4.10: rule 2, the first request runs and is saved, later ones replay status and body.
/// Decision 5: status and exact bytes of 2xx responses are saved.
/// Decision 5: a replay carries `Idempotent-Replayed: true`.
/// Decision 5: a replay has no effect: no note, no mail.
#[test]
fn the_first_response_is_replayed_byte_for_byte_and_nothing_runs_again() {
    let (app, endpoints) = started();
    for endpoint in &endpoints {
        let (name, key) = (endpoint.name, json!(endpoint.name));
        let before = counts(&app);
        let first = endpoint.send(&app.acme, &key);
        assert_ran(&first, endpoint.status, name);
        let after = counts(&app);
        assert_eq!(after, endpoint.after(1, before), "{name}: {TABLES:?}");
        for _ in 0..3 {
            let again = endpoint.send(&app.acme, &key);
            assert_eq!(visible_parts(&again), replay_of(&first), "{name}");
            assert_eq!(again.header("content-type"), Some("application/json"), "{name}");
            assert_ne!(again.header("x-request-id"), first.header("x-request-id"), "{name}");
        }
        assert_eq!(counts(&app), after, "{name}: {TABLES:?}");
    }
    assert_eq!(saved(&app), 5);
}

/// Contract 4.10: rule 6, failures are not saved, and the key can be used again.
#[test]
fn a_failed_request_does_not_use_up_its_key() {
    let (app, endpoints) = started();
    let upvote = &endpoints[1];
    let nobody = Client { key: None, ..app.acme.clone() };
    let reader = app.client("acme", &app.key("acme", &["--scope", "read"]));
    let elsewhere = Client { host: format!("nobody.{}", crate::app::BASE_HOST), ..app.acme.clone() };
    let good = with_key(&upvote.body, &json!("KEY")).to_string();
    let padded = with_key(&json!({ "padding": "x".repeat(2_000_000) }), &json!("KEY")).to_string();
    let known = "/feature_requests/1/upvotes";
    let (plain, html) = ([("Content-Type", "text/plain")], [JSON[0], ("Accept", "text/html")]);
    for (number, (case, client, path, headers, body, status)) in [
        ("no key of the caller's", &nobody, known, &JSON[..], good.as_str(), 401),
        ("an unknown workspace", &elsewhere, known, &JSON, &good, 401),
        ("a key that may not write", &reader, known, &JSON, &good, 403),
        ("an unknown path", &app.acme, "/feature_requests/1/upvote", &JSON, &good, 404),
        ("a path without this method", &app.acme, "/setting", &JSON, &good, 405),
        ("an unsupported response type", &app.acme, known, &html, &good, 406),
        ("a body of another type", &app.acme, known, &plain, &good, 415),
        ("a body that is cut", &app.acme, known, &JSON, &good[..good.len() - 1], 400),
        ("a body that is too large", &app.acme, known, &JSON, &padded, 413),
        ("an unknown request", &app.acme, "/feature_requests/99/upvotes", &JSON, &good, 404),
        ("no fields", &app.acme, known, &JSON, r#"{"operation_key":"KEY"}"#, 422),
        ("a bad field", &app.acme, known, &JSON, r#"{"customer":{"email":"ann"},"operation_key":"KEY"}"#, 422),
        ("a field of another type", &app.acme, known, &JSON, r#"{"customer":5,"operation_key":"KEY"}"#, 422),
        ("an empty comment", &app.acme, "/feature_requests/1/comments", &JSON, r#"{"operation_key":"KEY"}"#, 422),
        ("an empty request", &app.acme, "/feature_requests", &JSON, r#"{"operation_key":"KEY"}"#, 422),
        ("an empty changelog", &app.acme, "/changelogs", &JSON, r#"{"operation_key":"KEY"}"#, 422),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("key-{number}");
        let before = counts(&app);
        let path = format!("/api/external/v1{path}");
        for _ in 0..2 {
            let failed = client.request("POST", &path, headers, Some(body.replace("KEY", &key).as_bytes()));
            let failed = failed.expect("a response");
            assert_eq!(failed.status, status, "{case}: {}", failed.text());
            assert_eq!(failed.header("idempotent-replayed"), None, "{case}");
        }
        assert_eq!(counts(&app), before, "{case}: {TABLES:?}");
        let query = format!("SELECT count(*) FROM operations WHERE operation_key = '{key}'");
        assert_eq!(app.count(&query), 0, "{case}");

        let corrected = upvote.send(&app.acme, &json!(key));
        assert_ran(&corrected, 201, case);
        assert_eq!(counts(&app), upvote.after(1, before), "{case}: {TABLES:?}");
        assert_eq!(visible_parts(&upvote.send(&app.acme, &json!(key))), replay_of(&corrected), "{case}");
    }
}

/// Contract 4.10.
#[test]
fn a_replay_returns_the_original_response_after_changes() {
    let (app, endpoints) = started();
    let firsts: Vec<Response> =
        endpoints.iter().map(|endpoint| endpoint.send(&app.acme, &json!(endpoint.name))).collect();
    // The data changes after the first responses.
    app.acme.post_upvote("1", &json!({ "customer": { "email": "dan@example.com" } }));
    app.acme.patch_track("1", &json!({ "track_id": app.track("Done") }));
    app.acme.patch_setting(&json!({ "setting": { "product_name": "Acme 2" } }));
    let now = app.acme.post_upvote("1", &json!({ "reference_note": { "body": "x" } })).json();
    assert_eq!((&now["feature_request"]["votes_count"], &now["feature_request"]["track"]), (&json!(3), &json!("Done")));
    for (endpoint, first) in endpoints.iter().zip(&firsts) {
        assert_eq!(
            visible_parts(&endpoint.send(&app.acme, &json!(endpoint.name))),
            replay_of(first),
            "{}",
            endpoint.name
        );
    }
    // A replayed move is not executed again.
    let now = app.acme.post_upvote("1", &json!({ "reference_note": { "body": "x" } })).json();
    assert_eq!(now["feature_request"]["track"], "Done");
}

/// Contract 4.10.
#[test]
fn settings_have_no_operation_keys() {
    let (app, endpoints) = started();
    assert_ran(&endpoints[1].send(&app.acme, &json!("used")), 201, "an upvote");
    for (number, key) in
        [json!("used"), json!("new"), json!("new"), json!("k".repeat(256)), json!(5), json!(["k"]), json!(null)]
            .into_iter()
            .enumerate()
    {
        for method in ["PATCH", "PUT"] {
            let name = format!("{method} {number}");
            let body = json!({ "setting": { "product_name": name }, "operation_key": key });
            let response = app.acme.send(method, "/api/external/v1/setting", &body);
            assert_ran(&response, 200, &format!("{method} {}", short(&key)));
            assert_eq!(response.json()["setting"]["product_name"], name.as_str(), "{name}");
            assert_eq!(app.acme.get_setting().json()["setting"]["product_name"], name.as_str(), "{name}");
        }
    }
    assert_eq!(app.sql("SELECT operation_key FROM operations"), ["used"]);
}

/// Contract 4.10.
#[test]
fn concurrent_requests_to_different_endpoints_share_a_key_too() {
    let (app, endpoints) = started();
    let before = counts(&app);
    let responses = in_parallel(25, |number| endpoints[number % 5].send(&app.acme, &json!("shared")));
    let assert_ran: Vec<usize> =
        (0..25).filter(|number| responses[*number].header("idempotent-replayed").is_none()).collect();
    assert_eq!(assert_ran.len(), 1, "{responses:?}");
    let first = &responses[assert_ran[0]];
    for (number, response) in responses.iter().enumerate().filter(|(number, _)| *number != assert_ran[0]) {
        assert_eq!(visible_parts(response), replay_of(first), "{number}");
    }
    assert_eq!(counts(&app), endpoints[assert_ran[0] % 5].after(1, before), "{TABLES:?}");
    assert_eq!(saved(&app), 1);
}

/// Decision 5.
#[test]
fn concurrent_requests_that_fail_all_run_and_none_is_saved() {
    let (app, _) = started();
    let before = counts(&app);
    for (case, request, body, status, message) in [
        ("422", "1", json!({ "operation_key": "k" }), 422, MISSING_NOTE),
        ("404", "99", json!({ "operation_key": "k" }), 404, "FeatureRequest does not exist."),
    ] {
        for response in in_parallel(24, |_| app.acme.post_upvote(request, &body)) {
            assert_rejects(&response, status, message, case);
        }
    }
    assert_eq!((counts(&app), saved(&app)), (before, 0), "{TABLES:?}");
}

/// Decision 5: if the first request with a key failed, the waiter runs.
#[test]
fn concurrent_requests_with_one_key_save_the_first_success() {
    let (app, endpoints) = started();
    let before = counts(&app);
    let upvote = &endpoints[1];
    // Half of them are invalid. They fail until a valid one has run, and replay its response afterwards.
    let responses = in_parallel(24, |number| {
        let body = if number % 2 == 0 { upvote.body.clone() } else { json!({}) };
        upvote.send_body(&app.acme, &with_key(&body, &json!("k")))
    });
    let first = responses
        .iter()
        .position(|response| visible_parts(response).2.is_none() && response.status == 201)
        .expect("a run");
    for (number, response) in responses.iter().enumerate().filter(|(number, _)| *number != first) {
        if number % 2 == 1 && response.status == 422 {
            assert_rejects(response, 422, MISSING_NOTE, &number.to_string());
        } else {
            assert_eq!(visible_parts(response), replay_of(&responses[first]), "{number}");
        }
    }
    assert_eq!(counts(&app), upvote.after(1, before), "{TABLES:?}");
    assert_eq!(saved(&app), 1);
}

/// Decision 5: after too long a wait, 409 `operation_in_progress` with `Retry-After`.
/// Decision 7: time-outs of writes and operation keys take effect.
#[test]
fn a_request_that_waits_too_long_for_another_with_its_key_is_rejected() {
    let app = App::with(
        &[],
        &[("ROADMAP_WRITE_WAIT", "10s"), ("ROADMAP_STATEMENT_TIMEOUT", "20s"), ("ROADMAP_OPERATION_WAIT", "200ms")],
    );
    app.acme.feature_request("Dark mode");
    // Otherwise the service would also try to write that timestamp.
    let used = "SELECT count(*) FROM api_keys WHERE last_used_at IS NOT NULL";
    eventually("the use of the key is written", || app.count(used) == 1);
    let body = &json!({ "customer": { "email": "ann@example.com" }, "operation_key": "k" });

    let lock = app.data.lock();
    let (sender, responses) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let (sender, client) = (sender.clone(), &app.acme);
            scope.spawn(move || sender.send(client.post_upvote("1", body)).expect("somebody who waits"));
        }
        // One of them waits for the database, the other one for the first.
        let refused = responses.recv_timeout(WAIT_LIMIT).expect("a response");
        assert_rejects(&refused, 409, "operation_in_progress", "the one that waits for the other");
        assert!(refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()));
        // Reads wait for neither.
        assert_eq!(app.acme.get_tracks().status, 200);
        drop(lock);
        let done = responses.recv_timeout(WAIT_LIMIT).expect("a response");
        assert_ran(&done, 201, "the one that waits for the database");
        assert_eq!(visible_parts(&app.acme.post_upvote("1", body)), replay_of(&done));
    });
    assert_eq!(app.count("SELECT count(*) FROM votes"), 1);
    assert_eq!(saved(&app), 1);
}

/// Decision 2: a busy database is 503 with `Retry-After`, and recovers by itself.
/// Decision 7.
#[test]
fn while_another_process_writes_reads_succeed_and_writes_get_503() {
    let app = App::with(&[], &[("ROADMAP_WRITE_WAIT", "200ms"), ("ROADMAP_STATEMENT_TIMEOUT", "300ms")]);
    fill(&app.acme);
    let endpoints = keyed(&app);
    let before = counts(&app);
    let lock = app.data.lock();
    let refused = |response: &Response, case: &str| {
        assert_rejects(response, 503, "Service is temporarily unavailable", case);
        let seconds = response.header("retry-after").and_then(|seconds| seconds.parse::<u32>().ok());
        assert!(seconds.is_some(), "{case}");
        assert_eq!(app.acme.get_tracks().status, 200, "{case}");
    };
    for endpoint in &endpoints {
        refused(&endpoint.send_body(&app.acme, &endpoint.body), endpoint.name);
        refused(&endpoint.send(&app.acme, &json!(endpoint.name)), endpoint.name);
    }
    refused(&app.acme.patch_setting(&json!({ "setting": { "product_name": "Acme 2" } })), "setting");
    for (path, response) in [
        ("setting", app.acme.get_setting()),
        ("votes", app.acme.get_votes("email=ann@example.com")),
        ("search", app.acme.get_feature_requests("query=dark")),
        ("voters", app.acme.get_voters("1", "")),
        ("changelogs", app.acme.get_changelogs("")),
    ] {
        assert_eq!(response.status, 200, "{path}");
    }
    drop(lock);
    assert_eq!((counts(&app), saved(&app)), (before, 0), "{TABLES:?}");
    // Writes succeed again without a restart, and the rejected requests have not used their operation keys.
    for endpoint in &endpoints {
        assert_ran(&endpoint.send(&app.acme, &json!(endpoint.name)), endpoint.status, endpoint.name);
    }
    assert_eq!(saved(&app), 5);
}

/// All endpoints that take an operation key, in the order of the document.
const TAKING_KEYS: [&str; 37] = [
    "POST /changelogs",
    "PATCH /changelogs/{id}",
    "POST /changelogs/{id}/publish",
    "POST /changelogs/{id}/unpublish",
    "PATCH /comments/{id}",
    "POST /comments/{id}/approve",
    "PATCH /customers/{id}",
    "POST /customers/{id}/erase",
    "POST /customers/{id}/merge",
    "POST /exports",
    "POST /feature_requests",
    "PATCH /feature_requests/{id}",
    "POST /feature_requests/{id}/approve",
    "POST /feature_requests/{id}/comments",
    "POST /feature_requests/{id}/decline",
    "POST /feature_requests/{id}/links",
    "POST /feature_requests/{id}/merge",
    "POST /feature_requests/{id}/no_answer_needed",
    "PUT /feature_requests/{id}/subscription",
    "PATCH /feature_requests/{id}/track",
    "POST /feature_requests/{id}/unmerge",
    "POST /feature_requests/{id}/upvotes",
    "POST /lanes",
    "PATCH /lanes/{id}",
    "PATCH /links/{id}",
    "PATCH /link_sources/{id}",
    "PATCH /portal",
    "PUT /synonyms",
    "PATCH /tags/{name}",
    "POST /tracks",
    "PATCH /tracks/{id}",
    "PATCH /webhooks/{id}",
    "POST /webhooks/{id}/deliveries/{delivery_id}/redeliver",
    "POST /webhooks/{id}/redeliver",
    "POST /webhooks/{id}/test",
    "POST /api/external/v2/imports/{id}/run",
    "POST /api/external/v2/imports/{id}/undo",
];

/// Endpoints that take an operation key.
fn taking_keys() -> impl Iterator<Item = Endpoint> {
    endpoints().into_iter().filter(Endpoint::takes_key)
}

/// Row counts of all tables that writes change.
fn all_counts(app: &App) -> Vec<(&'static str, i64)> {
    [
        "feature_requests",
        "feature_request_events",
        "feature_request_tags",
        "votes",
        "notes",
        "comments",
        "held_comments",
        "links",
        "link_sources",
        "webhooks",
        "customers",
        "portal_settings",
        "followers",
        "lanes",
        "tracks",
        "changelogs",
        "changelog_feature_requests",
        "outbox",
        "audit_entries",
        "operations",
    ]
    .map(|table| (table, app.count(&format!("SELECT count(*) FROM {table}"))))
    .to_vec()
}

/// Sends the example of an endpoint with an operation key.
fn send_example(endpoint: &Endpoint, client: &Client, records: &Records, key: &Value) -> Response {
    let body = with_key(&endpoint.example(records).expect("a body"), key);
    endpoint.send_body(client, records, &[], Some(&body))
}

/// Addition 2: the new writes take operation keys.
#[test]
fn the_endpoints_with_keys_are_those_of_the_contract() {
    let actual: BTreeSet<String> =
        taking_keys().map(|endpoint| endpoint.name().replace("/api/external/v1", "")).collect();
    assert_eq!(actual, TAKING_KEYS.map(str::to_owned).into());
}

/// Contract 4.10: rule 4, the key alone is matched.
/// Contract 4.10: rule 5, each action needs its own key.
/// Decision 4: a replacement of synonyms takes an `operation_key`.
/// Decision 5: a key is looked up before records and fields, whatever the endpoint.
/// Decision 5: `POST /changelogs` accepts a key too.
/// Addition 2: a replayed move is one move.
/// Addition 4: a merge of customers is replayed.
#[test]
fn every_endpoint_with_a_key_runs_once_and_replays_whatever_else_is_sent() {
    let app = App::start();
    let unknown = Records::unknown();
    for (number, endpoint) in taking_keys().enumerate() {
        let records = Records::create(&app, &app.acme, &number.to_string());
        let (name, key) = (endpoint.name(), json!(format!("key {number}")));
        // A request that fails saves nothing.
        let failed = endpoint.send_body(&app.acme, &unknown, &[], Some(&json!({ "operation_key": key })));
        assert!(matches!(failed.status, 404 | 422), "{name}: {}", failed.text());
        let first = send_example(&endpoint, &app.acme, &records, &key);
        assert_ran(&first, endpoint.success(), &name);
        no_import_runs(&app);
        let after = all_counts(&app);
        for (records, body) in [
            (&records, endpoint.example(&records).expect("a body")),
            (&records, json!({})),
            (&unknown, json!({ "feature_request": 5, "comment": "x", "changelog": true, "lane": [], "target_id": {} })),
        ] {
            let again = endpoint.send_body(&app.acme, records, &[], Some(&with_key(&body, &key)));
            assert_eq!(visible_parts(&again), replay_of(&first), "{name}: {body}");
        }
        assert_eq!(all_counts(&app), after, "{name}");
    }
    // Each key replays its response at every other endpoint, too.
    for endpoint in taking_keys() {
        for number in 0..TAKING_KEYS.len() {
            let body = json!({ "operation_key": format!("key {number}") });
            let replayed = endpoint.send_body(&app.acme, &unknown, &[], Some(&body));
            let case = format!("{} with key {number}: {}", endpoint.name(), replayed.text());
            assert_eq!(replayed.header("idempotent-replayed"), Some("true"), "{case}");
        }
    }
}

/// Decision 5: the header `Idempotency-Key` is the same key; both and different is 422; where no key is taken it is
/// ignored.
#[test]
fn the_header_is_a_key_at_every_endpoint_that_takes_one_and_nowhere_else() {
    let app = App::start();
    let unknown = Records::unknown();
    let differ = "operation_key and the header Idempotency-Key must be equal if both are sent";
    let too_long = "operation_key must be at most 255 characters long";
    let mut taken = 0;
    for (number, endpoint) in endpoints().into_iter().enumerate().filter(|(_, endpoint)| endpoint.method != "GET") {
        let records = Records::create(&app, &app.acme, &format!("header-{number}"));
        let (name, key) = (endpoint.name(), format!("header-{number}"));
        let header = [("Idempotency-Key", key.as_str())];
        let first = endpoint.send(&app.acme, &records, &header);
        assert_ran(&first, endpoint.success(), &name);
        if !endpoint.takes_key() {
            assert_eq!(
                app.count(&format!("SELECT count(*) FROM operations WHERE operation_key = '{key}'")),
                0,
                "{name}"
            );
            continue;
        }
        no_import_runs(&app);
        let after = all_counts(&app);
        for (headers, key) in
            [(&header[..], json!(null)), (&header, json!(" ")), (&header, json!(key)), (&[], json!(key))]
        {
            let body = json!({ "operation_key": key, "target_id": {} });
            let again = endpoint.send_body(&app.acme, &unknown, headers, Some(&body));
            assert_eq!(visible_parts(&again), replay_of(&first), "{name}: {headers:?} {body}");
        }
        let body = endpoint.example(&records).expect("a body");
        let long = "k".repeat(256);
        for (sent, key, message) in
            [(key.as_str(), json!("another"), differ), (&long, json!(null), too_long), (&long, json!("k"), too_long)]
        {
            let headers = [("Idempotency-Key", sent)];
            let response = endpoint.send_body(&app.acme, &records, &headers, Some(&with_key(&body, &key)));
            if response.status != 404 {
                // A feature request that was merged or declined may be reported first.
                assert!([409, 422].contains(&response.status), "{name}: {}", response.text());
            }
            if response.status == 422 {
                assert_rejects(&response, 422, message, &name);
            }
        }
        assert_eq!(all_counts(&app), after, "{name}");
        taken += 1;
    }
    assert_eq!(taken, TAKING_KEYS.len());
}

/// Decision 5: a key of another type, or a longer one, is 422 that names `operation_key`.
/// Addition 2.
#[test]
fn every_endpoint_with_a_key_rejects_invalid_ones_after_a_missing_record() {
    let app = App::start();
    let records = Records::create(&app, &app.acme, "some");
    let before = all_counts(&app);
    let unknown = Records::unknown();
    for endpoint in taking_keys() {
        for (key, message) in [
            (json!("k".repeat(256)), "operation_key must be at most 255 characters long"),
            (json!("a\u{0}b"), "operation_key must not contain the NUL character"),
            (json!(5), "operation_key must be a string"),
            (json!(["k"]), "operation_key must be a string"),
            (json!({}), "operation_key must be a string"),
        ] {
            let case = format!("{}: {}", endpoint.name(), short(&key));
            assert_rejects(&send_example(&endpoint, &app.acme, &records, &key), 422, message, &case);
            if endpoint.path.contains('{') {
                let response = send_example(&endpoint, &app.acme, &unknown, &key);
                assert_eq!(response.status, 404, "{case}: {}", response.text());
            }
        }
    }
    assert_eq!(all_counts(&app), before);
}

#[test]
/// Contract 4.10: rule 7, with a missing or blank key every request runs and nothing is saved.
/// Decision 5: a blank operation key is absent.
fn without_a_key_no_endpoint_saves_its_response() {
    let app = App::start();
    // One parser reads the keys of all endpoints.
    let blanks = [json!(null), json!(""), json!(" \t")];
    for (number, endpoint) in taking_keys().enumerate() {
        let records = Records::create(&app, &app.acme, &number.to_string());
        let response = send_example(&endpoint, &app.acme, &records, &blanks[number % blanks.len()]);
        assert_ran(&response, endpoint.success(), &endpoint.name());
    }
    assert_eq!(saved(&app), 0);
}

/// Contract 4.10: rule 8, of concurrent requests one runs, and the others replay.
/// Decision 5: a concurrent request with the key waits, then replays.
/// Addition 2.
#[test]
fn concurrent_requests_to_every_endpoint_with_one_key_run_once() {
    let app = App::start();
    for (number, endpoint) in taking_keys().enumerate() {
        let records = Records::create(&app, &app.acme, &number.to_string());
        let (name, key) = (endpoint.name(), json!(format!("key {number}")));
        let responses = in_parallel(8, |_| send_example(&endpoint, &app.acme, &records, &key));
        let ran = responses.iter().filter(|response| response.header("idempotent-replayed").is_none());
        assert_eq!(ran.count(), 1, "{name}: {responses:?}");
        for response in &responses {
            assert_eq!((response.status, &response.bytes), (endpoint.success(), &responses[0].bytes), "{name}");
        }
        let entries = format!("SELECT count(*) FROM audit_entries WHERE request_id = '{}'", {
            let first = responses.iter().find(|response| response.header("idempotent-replayed").is_none());
            first.and_then(|response| response.header("x-request-id")).expect("an id").to_owned()
        });
        assert!(app.count(&entries) <= 1, "{name}");
    }
    assert_eq!(saved(&app), TAKING_KEYS.len() as i64);
}

/// Addition 2: a `DELETE` is 204.
#[test]
fn deletions_have_no_operation_keys() {
    let app = App::start();
    for (number, endpoint) in endpoints().into_iter().filter(|endpoint| endpoint.method == "DELETE").enumerate() {
        let records = Records::create(&app, &app.acme, &number.to_string());
        assert!(!endpoint.takes_key(), "{}", endpoint.name());
        let first = endpoint.send(&app.acme, &records, &[]);
        assert_eq!(first.status, endpoint.success(), "{}: {}", endpoint.name(), first.text());
        let again = endpoint.send(&app.acme, &records, &[]);
        // A repeated deletion of a record finds none. One of a vote or a subscription changes nothing.
        let expected = if endpoint.success() == 204 { 404 } else { 200 };
        assert_eq!(again.status, expected, "{}: {}", endpoint.name(), again.text());
    }
}
