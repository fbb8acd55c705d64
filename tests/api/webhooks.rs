//! `/webhooks` and their deliveries: the records, and what arrives at a receiver.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use roadmap_domain::model::timestamp::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::app::{App, Client, Response, eventually, has_keys, in_parallel, is_id, is_timestamp};
use crate::shared::{column, is_unknown};

const PATH: &str = "/api/external/v1/webhooks";
const URL: &str = "https://receiver.invalid/hook";
const SLACK: &str = "https://hooks.slack.com/services/T0/B0/canaryaB3x";

/// Nothing is sent.
const NO_WORKER: (&str, &str) = ("ROADMAP_WEBHOOK_WORKER", "false");

/// Receivers of the tests are on the loopback interface.
const LOOPBACK: (&str, &str) = ("ROADMAP_OUTBOUND_NETWORKS", "127.0.0.0/8");
const SOON: (&str, &str) = ("ROADMAP_WEBHOOK_RETRY_DELAYS", "100ms,100ms");

/// A request as it has arrived.
#[derive(Debug, Clone)]
struct Received {
    /// Method and path.
    line: String,
    /// Names are in lower case.
    headers: BTreeMap<String, String>,
    body: String,
    at: Instant,
}

impl Received {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {:?}", self.headers))
    }

    /// The signature that a secret gives.
    fn signature(&self, secret: &Value) -> String {
        let key = text(secret).strip_prefix("whsec_").expect("a secret");
        let key = BASE64_STANDARD.decode(key).expect("Base64");
        assert_eq!(key.len(), 32);
        let signed = format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        let mac = Hmac::<Sha256>::new_from_slice(&key).expect("a key").chain_update(signed);
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// A server that records requests, and stops with the process.
struct Receiver {
    port: u16,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Receiver {
    /// Starts one. `answer` returns the status, and headers in lines of their own, for the request with this number, from 0
    /// on. Without a status there is no answer.
    fn start(answer: impl Fn(usize) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (shared, answer) = (Arc::clone(&received), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                // Errors of aborted connections are ignored.
                std::thread::spawn(move || receive(stream, &shared, &*answer).unwrap_or_default());
            }
        });
        Self { port, received }
    }

    /// Starts one that takes everything.
    fn good() -> Self {
        Self::start(|_| "200 OK".to_owned())
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for this many requests. Returns all.
    #[track_caller]
    fn wait(&self, expected: usize) -> Vec<Received> {
        eventually("the requests arrive", || self.received().len() >= expected);
        self.received()
    }
}

fn receive(
    mut stream: TcpStream,
    shared: &Mutex<Vec<Received>>,
    answer: &impl Fn(usize) -> String,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (line, body) = (line.trim_end().to_owned(), String::from_utf8_lossy(&body).into_owned());
    let number = {
        let mut received = shared.lock().unwrap_or_else(PoisonError::into_inner);
        received.push(Received { line, headers, body, at: Instant::now() });
        received.len() - 1
    };
    match answer(number) {
        // Until the other side gives up.
        none if none.is_empty() => reader.read_to_end(&mut Vec::new()).map(drop),
        head => write!(stream, "HTTP/1.1 {head}\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhe\tre"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

fn post(client: &Client, fields: &Value) -> Response {
    client.send("POST", PATH, &json!({ "webhook": fields }))
}

/// Creates a webhook. Returns it and its secret.
#[track_caller]
fn create(client: &Client, fields: &Value) -> (Value, Value) {
    let response = post(client, fields);
    assert_eq!(response.status, 201, "{}", response.text());
    let body = response.json();
    has_keys(&body, &["webhook", "secret"]);
    (body["webhook"].clone(), body["secret"].clone())
}

fn path_of(webhook: &Value) -> String {
    format!("{PATH}/{}", text(&webhook["id"]))
}

fn show(client: &Client, webhook: &Value) -> Value {
    client.get(&path_of(webhook)).is_ok()["webhook"].clone()
}

#[track_caller]
fn change(client: &Client, webhook: &Value, fields: &Value) -> Value {
    client.send("PATCH", &path_of(webhook), &json!({ "webhook": fields })).is_ok()["webhook"].clone()
}

/// Sends a test event. Returns its delivery.
#[track_caller]
fn send_test(client: &Client, webhook: &Value) -> Value {
    let response = client.send("POST", &format!("{}/test", path_of(webhook)), &json!({}));
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["delivery"].clone()
}

fn deliveries(client: &Client, webhook: &Value, query: &str) -> Value {
    client.get(&format!("{}/deliveries?{query}", path_of(webhook))).is_ok()
}

fn delivery(client: &Client, webhook: &Value, id: &Value) -> Value {
    client.get(&format!("{}/deliveries/{}", path_of(webhook), text(id))).is_ok()["delivery"].clone()
}

/// Waits until a delivery is over. Returns it.
#[track_caller]
fn ended(client: &Client, webhook: &Value, id: &Value) -> Value {
    eventually("the delivery is over", || delivery(client, webhook, id)["state"] != "waiting");
    delivery(client, webhook, id)
}

/// Waits until the newest delivery is over. Returns it.
#[track_caller]
fn newest_ended(client: &Client, webhook: &Value) -> Value {
    eventually("there is a delivery", || deliveries(client, webhook, "")["total_count"] != 0);
    ended(client, webhook, &deliveries(client, webhook, "")["deliveries"][0]["id"])
}

/// A service that sends to the loopback interface, with the feature request 1.
fn sending(environment: &[(&str, &str)]) -> App {
    let app = App::with(&[], &[&[LOOPBACK, SOON][..], environment].concat());
    app.acme.feature_request("Dark mode");
    app
}

/// Creates a webhook that leads to a receiver and gets votes.
fn for_votes(client: &Client, receiver: &Receiver) -> (Value, Value) {
    create(client, &json!({ "url": receiver.url(), "events": ["vote.created"] }))
}

/// Webhooks: the record, with its secret once.
#[test]
fn a_webhook_has_its_fields() {
    let app = App::with(&[], &[NO_WORKER]);
    let (webhook, secret) = create(&app.acme, &json!({ "url": "HTTPS://Receiver.invalid:443/a b" }));
    assert!(text(&secret).starts_with("whsec_"), "{secret}");
    is_id(&webhook["id"]);
    is_timestamp(&webhook["created_at"]);
    assert_eq!(
        webhook,
        json!({
            "id": webhook["id"],
            "url": "https://receiver.invalid/a%20b",
            "description": "",
            "format": "standard",
            "events": null,
            "include_private": false,
            "include_emails": false,
            "enabled": true,
            "disabled_because": null,
            "failing_since": null,
            "previous_secret_expires_at": null,
            "created_at": webhook["created_at"],
            "updated_at": webhook["created_at"],
        })
    );
    let fields = json!({
        "url": URL, "description": " Help desk ", "format": "standard", "enabled": false, "include_private": true,
        "events": ["vote.removed", " vote.created ", "vote.removed"], "include_emails": true,
    });
    let (second, other_secret) = create(&app.acme, &fields);
    assert_ne!(other_secret, secret);
    assert_eq!((&second["description"], &second["enabled"]), (&json!("Help desk"), &json!(false)));
    assert_eq!((&second["include_private"], &second["include_emails"]), (&json!(true), &json!(true)));
    assert_eq!(second["events"], json!(["vote.created", "vote.removed"]));
    assert_eq!(second["disabled_because"], "operator");
    let listed = app.acme.get(PATH).is_ok();
    assert_eq!(listed["webhooks"], json!([webhook, second]));
    assert_eq!((&listed["page"], &listed["total_count"]), (&json!(1), &json!(2)));
    assert_eq!(app.acme.get(&format!("{PATH}?page=2&page_size=1")).is_ok()["webhooks"], json!([second]));
    app.acme.get(&format!("{PATH}?cursor=")).is_error(422, "cursor cannot be given for webhooks");
    assert_eq!(show(&app.acme, &webhook), webhook);
    // Fields that are left out stay.
    assert_eq!(change(&app.acme, &second, &json!({})), second);
    let changed = change(&app.acme, &second, &json!({ "events": null, "description": null, "enabled": true }));
    assert_eq!((&changed["events"], &changed["description"]), (&json!(null), &json!("")));
    assert_eq!((&changed["enabled"], &changed["disabled_because"]), (&json!(true), &json!(null)));
    assert_eq!((&changed["url"], &changed["include_private"]), (&json!(URL), &json!(true)));
    assert_ne!(changed["updated_at"], second["updated_at"]);
    assert_eq!(change(&app.acme, &second, &json!({ "url": "https://b.invalid" }))["url"], "https://b.invalid/");
    app.acme.delete(&path_of(&webhook)).is_empty();
    assert_eq!(column(&app.acme.get(PATH).is_ok(), "webhooks", "id"), [second["id"].clone()]);
}

/// Webhooks: those of another workspace are unknown.
#[test]
fn a_webhook_of_another_workspace_is_not_found() {
    let app = App::with(&[], &[NO_WORKER]);
    app.workspace("bolt");
    let bolt = app.client("bolt", &app.key("bolt", &["--scope", "read", "--scope", "manage"]));
    let (foreign, _) = create(&bolt, &json!({ "url": URL }));
    let of_foreign = send_test(&bolt, &foreign)["id"].clone();
    let (own, _) = create(&app.acme, &json!({ "url": URL }));
    let (foreign, delivery) = (text(&foreign["id"]), text(&of_foreign));
    let body = json!({ "webhook": { "enabled": false } });
    is_unknown(foreign, "Webhook", |id| app.acme.get(&format!("{PATH}/{id}")));
    is_unknown(foreign, "Webhook", |id| app.acme.delete(&format!("{PATH}/{id}")));
    is_unknown(foreign, "Webhook", |id| app.acme.send("PATCH", &format!("{PATH}/{id}"), &body));
    is_unknown(foreign, "Webhook", |id| app.acme.get(&format!("{PATH}/{id}/deliveries")));
    is_unknown(foreign, "Webhook", |id| app.acme.get(&format!("{PATH}/{id}/deliveries/{delivery}")));
    for path in ["rotate_secret".to_owned(), "test".to_owned(), format!("deliveries/{delivery}/redeliver")] {
        is_unknown(foreign, "Webhook", |id| app.acme.send("POST", &format!("{PATH}/{id}/{path}"), &json!({})));
    }
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    is_unknown(foreign, "Webhook", |id| app.acme.send("POST", &format!("{PATH}/{id}/redeliver"), &since));
    // A delivery belongs to its webhook.
    let own = path_of(&own);
    is_unknown(delivery, "Delivery", |id| app.acme.get(&format!("{own}/deliveries/{id}")));
    let redeliver = |id: &str| app.acme.send("POST", &format!("{own}/deliveries/{id}/redeliver"), &json!({}));
    is_unknown(delivery, "Delivery", redeliver);
    assert_eq!(bolt.get(PATH).is_ok()["webhooks"][0]["enabled"], true);
}

/// Webhooks: the URL of a chat format is a credential, and secrets are shown once. Nobody reads them elsewhere.
#[test]
fn credentials_are_shown_nowhere() {
    let app = App::with(&[], &[NO_WORKER]);
    let (slack, none) = create(&app.acme, &json!({ "url": SLACK, "format": "slack" }));
    assert_eq!((&slack["url"], &none), (&json!("https://hooks.slack.com/…aB3x"), &json!(null)));
    assert_eq!(show(&app.acme, &slack)["url"], slack["url"]);
    let (_, secret) = create(&app.acme, &json!({ "url": URL }));
    change(&app.acme, &slack, &json!({ "url": SLACK.replace("aB3x", "other") }));
    send_test(&app.acme, &slack);
    let entries = app.acme.get_audit_entries("page_size=100").is_ok().to_string();
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).expect("a log");
    for canary in ["canary", text(&secret), "receiver.invalid", "hooks.slack.com"] {
        assert!(!entries.contains(canary) && !log.contains(canary), "{canary}: {entries} {log}");
    }
    assert_eq!(app.count("SELECT count(*) FROM webhooks WHERE sealed_url LIKE 'sealed1.%'"), 2);
    assert_eq!(app.count("SELECT count(*) FROM webhooks WHERE sealed_secrets LIKE '%whsec_%'"), 0);
    for action in ["webhook.create", "webhook.update", "webhook.test"] {
        assert!(entries.contains(&format!("\"{action}\"")), "{action}: {entries}");
    }
}

/// Webhooks: what cannot be saved.
#[test]
fn invalid_fields_of_a_webhook_are_named() {
    let app = App::with(&[], &[NO_WORKER]);
    let missing = "param is missing or the value is empty or invalid: url";
    let not_https = "url must be an absolute https URL";
    let not_public = "url must not lead to a local or reserved address";
    let port = "url must use port 80, 443 or one above 1023";
    let events = "events must be types of events";
    let formats = "format must be one of standard, slack, discord, teams";
    let with_url = |url: &str| json!({ "url": url });
    let with = |field: &str, value: Value| json!({ "url": URL, field: value });
    let (slack, _) = create(&app.acme, &json!({ "url": SLACK, "format": "slack" }));
    let (standard, _) = create(&app.acme, &json!({ "url": URL }));
    let long = format!("https://a.example/{}", "x".repeat(2_048));
    for (fields, message) in [
        (with_url(" "), missing),
        (with_url("hook"), not_https),
        (with_url("//a.example"), not_https),
        (with_url("http://a.example"), not_https),
        (with_url("ftp://a.example"), not_https),
        (with_url("https://ann@a.example"), not_https),
        (with_url("https://a.example/#b"), not_https),
        (with_url("https://127.0.0.1"), not_public),
        (with_url("https://0x7f.1"), not_public),
        (with_url("https://[::ffff:10.0.0.1]/"), not_public),
        (with_url("https://localhost"), not_public),
        (with_url("https://intranet"), not_public),
        (with_url("https://acme.roadmap.example.com"), not_public),
        (with_url("https://a.example:22"), port),
        (with_url(&long), "url must be at most 2048 characters long"),
        (with("url", json!(7)), "url must be a string"),
        (with("description", json!("x".repeat(201))), "description must be at most 200 characters long"),
        (with("events", json!([])), "events must be null or name at least one type"),
        (with("events", json!(["vote.created", "vote"])), events),
        (with("events", json!(["webhook.test"])), events),
        (with("events", json!("vote.created")), "events must be a list"),
        (with("events", json!([7])), "events[0] must be a string"),
        (with("format", json!("irc")), formats),
        (with("include_private", json!("yes")), "include_private must be a boolean"),
        (with("include_emails", json!(1)), "include_emails must be a boolean"),
        (with("enabled", json!([])), "enabled must be a boolean"),
    ] {
        post(&app.acme, &fields).is_error(422, message);
        app.acme.send("PATCH", &path_of(&standard), &json!({ "webhook": fields })).is_error(422, message);
    }
    post(&app.acme, &json!({})).is_error(422, missing);
    let missing = "param is missing or the value is empty or invalid: webhook";
    app.acme.send("POST", PATH, &json!({})).is_error(422, missing);
    app.acme.send("PATCH", &path_of(&slack), &json!({})).is_error(422, missing);
    let of_chat = "events must be types of events that the format has";
    let fields = json!({ "url": SLACK, "format": "slack", "events": ["vote.created"] });
    post(&app.acme, &fields).is_error(422, of_chat);
    let patch = |fields: Value| app.acme.send("PATCH", &path_of(&slack), &json!({ "webhook": fields }));
    patch(json!({ "events": ["vote.created"] })).is_error(422, of_chat);
    patch(json!({ "format": "teams" })).is_error(422, "format cannot be changed");
    patch(json!({ "format": "standard" })).is_error(422, "format cannot be changed");
    assert_eq!(patch(json!({ "format": "slack" })).is_ok()["webhook"], slack);
    assert_eq!(patch(json!({ "format": null })).is_ok()["webhook"], slack);
    assert_eq!(show(&app.acme, &standard), standard);
    assert_eq!(app.acme.get(PATH).is_ok()["total_count"], 2);
}

/// Webhooks: an eleventh is refused, also when several come at once.
#[test]
fn a_workspace_has_at_most_ten_webhooks() {
    let app = App::with(&[], &[NO_WORKER]);
    let statuses = in_parallel(14, |_| post(&app.acme, &json!({ "url": URL })).status);
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 10, "{statuses:?}");
    post(&app.acme, &json!({ "url": URL })).is_error(409, "A workspace has at most 10 webhooks.");
    let first = app.acme.get(PATH).is_ok()["webhooks"][0].clone();
    app.acme.delete(&path_of(&first)).is_empty();
    create(&app.acme, &json!({ "url": URL }));
}

/// Webhooks: a new secret, and until when the last one signs, too.
#[test]
fn a_secret_is_rotated() {
    let app = App::with(&[], &[NO_WORKER]);
    let (webhook, secret) = create(&app.acme, &json!({ "url": URL }));
    let path = format!("{}/rotate_secret", path_of(&webhook));
    let rotate = |body: Value| app.acme.send("POST", &path, &body);
    let rotated = rotate(json!({ "overlap": "1h" })).is_ok();
    has_keys(&rotated, &["webhook", "secret"]);
    assert_ne!(rotated["secret"], secret);
    let in_an_hour = rotated["webhook"]["previous_secret_expires_at"].clone();
    is_timestamp(&in_an_hour);
    assert_eq!(show(&app.acme, &webhook)["previous_secret_expires_at"], in_an_hour);
    // A day without a body. What ends earlier still does, so that the later end is shown.
    let response = app.acme.request("POST", &path, &[], None).expect("a response");
    let in_a_day = response.is_ok()["webhook"]["previous_secret_expires_at"].clone();
    assert!(text(&in_a_day) > text(&in_an_hour), "{in_a_day} {in_an_hour}");
    let at_once = rotate(json!({ "overlap": "0s" })).is_ok();
    assert_eq!(at_once["webhook"]["previous_secret_expires_at"], json!(null));
    for overlap in ["8d", "24", "-1h", "1.5h", "x"] {
        let message = "overlap must be a duration from 0s to 7d, for example 24h";
        rotate(json!({ "overlap": overlap })).is_error(422, message);
    }
    rotate(json!({ "overlap": 24 })).is_error(422, "overlap must be a string");
    // No response is saved, because it has the secret.
    let keyed = json!({ "operation_key": "k" });
    assert_ne!(rotate(keyed.clone()).is_ok()["secret"], rotate(keyed).is_ok()["secret"]);
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
    let (slack, _) = create(&app.acme, &json!({ "url": SLACK, "format": "slack" }));
    let path = format!("{}/rotate_secret", path_of(&slack));
    app.acme.send("POST", &path, &json!({})).is_error(409, "Webhook has no secret.");
}

/// Webhooks: a test event is a delivery, which waits, is listed and is shown with its body.
#[test]
fn a_test_event_waits_and_is_shown() {
    let app = App::with(&[], &[NO_WORKER]);
    let (webhook, _) = create(&app.acme, &json!({ "url": URL }));
    let first = send_test(&app.acme, &webhook);
    is_id(&first["id"]);
    is_timestamp(&first["created_at"]);
    assert_eq!(
        first,
        json!({
            "id": first["id"],
            "type": "webhook.test",
            "state": "waiting",
            "failure": null,
            "attempts_count": 0,
            "next_attempt_at": first["created_at"],
            "created_at": first["created_at"],
            "last_attempt": null,
        })
    );
    let second = send_test(&app.acme, &webhook);
    let listed = deliveries(&app.acme, &webhook, "");
    has_keys(&listed, &["deliveries", "page", "page_size", "total_count", "total_pages"]);
    assert_eq!(listed["deliveries"], json!([second, first]));
    assert_eq!(deliveries(&app.acme, &webhook, "page=2&page_size=1")["deliveries"], json!([first]));
    for (state, count) in [("waiting", 2), ("", 2), ("delivered", 0), ("failed", 0)] {
        assert_eq!(deliveries(&app.acme, &webhook, &format!("state={state}"))["total_count"], count, "{state}");
    }
    let list = format!("{}/deliveries", path_of(&webhook));
    let states = "state must be one of waiting, delivered, failed";
    app.acme.get(&format!("{list}?state=gone")).is_error(422, states);
    app.acme.get(&format!("{list}?cursor=")).is_error(422, "cursor cannot be given for deliveries");
    let shown = delivery(&app.acme, &webhook, &first["id"]);
    let body: Value = serde_json::from_str(text(&shown["body"])).expect("JSON");
    has_keys(&body, &["id", "type", "timestamp", "workspace", "actor", "data"]);
    assert_eq!((&body["id"], &body["type"]), (&first["id"], &json!("webhook.test")));
    assert_eq!((&body["timestamp"], &body["workspace"]["subdomain"]), (&first["created_at"], &json!("acme")));
    assert_eq!((&body["actor"]["kind"], &body["actor"]["name"]), (&json!("api_key"), &json!("tests")));
    assert_eq!(body["data"], json!({ "webhook": { "id": webhook["id"] } }));
    let mut expected = first;
    (expected["attempts"], expected["body"]) = (json!([]), shown["body"].clone());
    assert_eq!(shown, expected);
    // A chat service gets a message.
    let (slack, _) = create(&app.acme, &json!({ "url": SLACK, "format": "slack" }));
    let tested = send_test(&app.acme, &slack);
    let shown = delivery(&app.acme, &slack, &tested["id"]);
    let body: Value = serde_json::from_str(text(&shown["body"])).expect("JSON");
    has_keys(&body, &["text"]);
    assert!(text(&body["text"]).starts_with("Test message from Acme"), "{body}");
}

/// Webhooks: nothing is delivered again to a disabled one. A test event is sent to it.
#[test]
fn a_disabled_webhook_gets_test_events_only() {
    let app = App::with(&[], &[NO_WORKER]);
    let (webhook, _) = create(&app.acme, &json!({ "url": URL }));
    let tested = send_test(&app.acme, &webhook);
    let redeliver = format!("{}/deliveries/{}/redeliver", path_of(&webhook), text(&tested["id"]));
    let again = app.acme.send("POST", &redeliver, &json!({})).is_ok()["delivery"].clone();
    assert_eq!((&again["id"], &again["state"]), (&tested["id"], &json!("waiting")));
    let all = format!("{}/redeliver", path_of(&webhook));
    let since = json!({ "since": "2026-01-01T00:00:00Z" });
    assert_eq!(app.acme.send("POST", &all, &since).is_ok(), json!({ "redelivered": 0 }));
    let missing = "param is missing or the value is empty or invalid: since";
    app.acme.send("POST", &all, &json!({})).is_error(422, missing);
    let format = "since is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z";
    app.acme.send("POST", &all, &json!({ "since": "yesterday" })).is_error(422, format);
    let disabled = change(&app.acme, &webhook, &json!({ "enabled": false }));
    assert_eq!((&disabled["enabled"], &disabled["disabled_because"]), (&json!(false), &json!("operator")));
    // Test events do not fail because of it.
    assert_eq!(delivery(&app.acme, &webhook, &tested["id"])["state"], "waiting");
    app.acme.send("POST", &redeliver, &json!({})).is_error(409, "Webhook is disabled.");
    app.acme.send("POST", &all, &since).is_error(409, "Webhook is disabled.");
    assert_eq!(send_test(&app.acme, &webhook)["state"], "waiting");
    app.acme.feature_request("Dark mode");
    assert_eq!(app.count("SELECT count(*) FROM webhook_events WHERE kind <> 'webhook.test'"), 0);
}

/// Webhooks: every endpoint needs `manage`.
#[test]
fn webhooks_need_the_scope_manage() {
    let app = App::with(&[], &[NO_WORKER]);
    let (webhook, _) = create(&app.acme, &json!({ "url": URL }));
    let tested = send_test(&app.acme, &webhook);
    let key = app.key("acme", &["--scope", "read", "--scope", "write"]);
    let other = app.client("acme", &key);
    let (own, of_delivery) = (path_of(&webhook), format!("deliveries/{}", text(&tested["id"])));
    for (method, path) in [
        ("GET", PATH.to_owned()),
        ("POST", PATH.to_owned()),
        ("GET", own.clone()),
        ("PATCH", own.clone()),
        ("DELETE", own.clone()),
        ("POST", format!("{own}/rotate_secret")),
        ("POST", format!("{own}/test")),
        ("POST", format!("{own}/redeliver")),
        ("GET", format!("{own}/deliveries")),
        ("GET", format!("{own}/{of_delivery}")),
        ("POST", format!("{own}/{of_delivery}/redeliver")),
    ] {
        let response = match method {
            "GET" | "DELETE" => other.request(method, &path, &[], None).expect("a response"),
            method => other.send(method, &path, &json!({})),
        };
        response.is_error(403, "API Key does not have the required scope");
    }
    assert_eq!(show(&app.acme, &webhook), webhook);
}

/// Events, The request: a vote arrives with what receivers verify.
#[test]
fn a_vote_arrives_signed() {
    let app = sending(&[]);
    let receiver = Receiver::good();
    let (webhook, secret) = for_votes(&app.acme, &receiver);
    app.acme.vote("1", "bo@example.com");
    let arrived = receiver.wait(1).remove(0);
    assert_eq!(arrived.line, "POST /hook HTTP/1.1");
    assert_eq!(arrived.header("content-type"), "application/json");
    assert_eq!(arrived.header("content-length"), arrived.body.len().to_string());
    assert!(arrived.header("user-agent").starts_with("roadmap-webhooks/"), "{:?}", arrived.headers);
    assert_eq!(arrived.header("webhook-signature"), arrived.signature(&secret));
    let sent: i64 = arrived.header("webhook-timestamp").parse().expect("seconds");
    let body = arrived.json();
    let event = Timestamp::parse(text(&body["timestamp"])).expect("a timestamp").millis() / 1_000;
    assert!((0..120).contains(&(sent - event)), "{event} {sent}");
    assert_eq!(arrived.header("webhook-id"), text(&body["id"]));
    assert_eq!(body["type"], "vote.created");
    let request = app.acme.get_feature_request("1").is_ok()["feature_request"].clone();
    let of_event = &body["data"]["feature_request"];
    assert_eq!((&of_event["id"], &of_event["votes_count"]), (&request["id"], &json!(1)));
    has_keys(&body["data"]["customer"], &["id", "name"]);
    assert!(!arrived.body.contains("bo@example.com"), "{}", arrived.body);
    let shown = ended(&app.acme, &webhook, &body["id"]);
    assert_eq!((&shown["state"], &shown["failure"]), (&json!("delivered"), &json!(null)));
    assert_eq!((&shown["next_attempt_at"], &shown["body"]), (&json!(null), &json!(arrived.body)));
    let attempt = shown["last_attempt"].clone();
    assert_eq!(shown["attempts"], json!([attempt]));
    is_timestamp(&attempt["at"]);
    assert_eq!((&attempt["status"], &attempt["error"]), (&json!(200), &json!(null)));
    assert_eq!(attempt["response"], "he\u{fffd}re");
    // After a rotation both secrets sign, the new one first, and addresses are sent if they are asked for.
    let path = format!("{}/rotate_secret", path_of(&webhook));
    let new = app.acme.send("POST", &path, &json!({})).is_ok()["secret"].clone();
    change(&app.acme, &webhook, &json!({ "include_emails": true }));
    app.acme.vote("1", "cy@example.com");
    let arrived = receiver.wait(2).remove(1);
    let both = format!("{} {}", arrived.signature(&new), arrived.signature(&secret));
    assert_eq!(arrived.header("webhook-signature"), both);
    assert_eq!(arrived.json()["data"]["customer"]["email"], "cy@example.com");
    let at_once = app.acme.send("POST", &path, &json!({ "overlap": "0s" })).is_ok()["secret"].clone();
    app.acme.vote("1", "di@example.com");
    let arrived = receiver.wait(3).remove(2);
    assert_eq!(arrived.header("webhook-signature"), arrived.signature(&at_once));
}

/// The request: a failed try is repeated, with equal id and body.
#[test]
fn a_failed_delivery_is_tried_again() {
    let app = sending(&[]);
    let receiver = Receiver::start(|number| if number == 0 { "500 Oops".to_owned() } else { "202 Fine".to_owned() });
    let (webhook, secret) = for_votes(&app.acme, &receiver);
    app.acme.vote("1", "bo@example.com");
    let arrived = receiver.wait(2);
    let [first, second] = [&arrived[0], &arrived[1]];
    assert_eq!((first.header("webhook-id"), &first.body), (second.header("webhook-id"), &second.body));
    assert!(second.at >= first.at + Duration::from_millis(90));
    assert_eq!(second.header("webhook-signature"), second.signature(&secret));
    let shown = newest_ended(&app.acme, &webhook);
    assert_eq!((&shown["state"], &shown["attempts_count"]), (&json!("delivered"), &json!(2)));
    let outcomes = |field: &str| column(&shown, "attempts", field);
    assert_eq!(outcomes("status"), [json!(500), json!(202)]);
    assert_eq!(outcomes("error"), [json!("status"), json!(null)]);
    // A success ends the failing.
    assert_eq!(show(&app.acme, &webhook)["failing_since"], json!(null));
}

/// The request: when all tries have failed, the delivery has. It can be delivered again, alone or with others.
#[test]
fn what_was_given_up_is_delivered_again() {
    let app = sending(&[]);
    let receiver = Receiver::start(|number| if number < 3 { "500 Oops".to_owned() } else { "200 OK".to_owned() });
    let (webhook, _) = for_votes(&app.acme, &receiver);
    let before = webhook["created_at"].clone();
    app.acme.vote("1", "bo@example.com");
    let failed = newest_ended(&app.acme, &webhook);
    assert_eq!((&failed["state"], &failed["failure"]), (&json!("failed"), &json!("gave_up")));
    assert_eq!((&failed["attempts_count"], &failed["next_attempt_at"]), (&json!(3), &json!(null)));
    assert_eq!(deliveries(&app.acme, &webhook, "state=failed")["deliveries"][0]["id"], failed["id"]);
    is_timestamp(&show(&app.acme, &webhook)["failing_since"]);
    let all = format!("{}/redeliver", path_of(&webhook));
    let late = json!({ "since": "2999-01-01T00:00:00Z" });
    assert_eq!(app.acme.send("POST", &all, &late).is_ok(), json!({ "redelivered": 0 }));
    let since = json!({ "since": before, "operation_key": "again" });
    for _ in 0..2 {
        assert_eq!(app.acme.send("POST", &all, &since).is_ok(), json!({ "redelivered": 1 }));
    }
    let arrived = receiver.wait(4);
    assert_eq!(arrived[3].body, arrived[0].body);
    assert_eq!(ended(&app.acme, &webhook, &failed["id"])["state"], "delivered");
    // Also what has arrived.
    let one = format!("{}/deliveries/{}/redeliver", path_of(&webhook), text(&failed["id"]));
    assert_eq!(app.acme.send("POST", &one, &json!({})).is_ok()["delivery"]["state"], "waiting");
    assert_eq!(receiver.wait(5)[4].header("webhook-id"), text(&failed["id"]));
    assert_eq!(ended(&app.acme, &webhook, &failed["id"])["attempts_count"], 5);
}

/// The request: 410 disables the endpoint at once.
#[test]
fn a_server_that_is_gone_gets_nothing_more() {
    let app = sending(&[]);
    let receiver = Receiver::start(|_| "410 Gone".to_owned());
    let (webhook, _) = for_votes(&app.acme, &receiver);
    app.acme.vote("1", "bo@example.com");
    eventually("it is disabled", || show(&app.acme, &webhook)["enabled"] == false);
    assert_eq!(show(&app.acme, &webhook)["disabled_because"], "gone");
    let failed = newest_ended(&app.acme, &webhook);
    assert_eq!((&failed["failure"], &failed["attempts_count"]), (&json!("gone"), &json!(1)));
    app.acme.vote("1", "cy@example.com");
    let entry = app.acme.get_audit_entries("action=webhook.disable").is_ok()["audit_entries"][0].clone();
    assert_eq!(entry["actor"]["kind"], "service", "{entry}");
    let enabled = change(&app.acme, &webhook, &json!({ "enabled": true }));
    assert_eq!((&enabled["disabled_because"], &enabled["failing_since"]), (&json!(null), &json!(null)));
    // What happened meanwhile is not sent later.
    assert_eq!(deliveries(&app.acme, &webhook, "")["total_count"], 1);
    assert_eq!(receiver.received().len(), 1);
}

/// The request: a server that does not answer, and one that leads elsewhere.
#[test]
fn a_time_out_and_a_redirect_are_failures() {
    let app = sending(&[("ROADMAP_WEBHOOK_TIMEOUT", "300ms")]);
    let silent = Receiver::start(|_| String::new());
    let elsewhere = Receiver::good();
    let location = format!("307 Elsewhere\r\nlocation: {}", elsewhere.url());
    let leading = Receiver::start(move |_| location.clone());
    let ((to_silent, _), (to_leading, _)) = (for_votes(&app.acme, &silent), for_votes(&app.acme, &leading));
    app.acme.vote("1", "bo@example.com");
    let failed = newest_ended(&app.acme, &to_silent);
    assert_eq!(column(&failed, "attempts", "error"), vec![json!("timeout"); 3]);
    let attempt = &failed["last_attempt"];
    assert_eq!((&attempt["status"], &attempt["response"]), (&json!(null), &json!(null)));
    assert!(attempt["duration_ms"].as_u64().is_some_and(|duration| duration >= 250), "{attempt}");
    let failed = newest_ended(&app.acme, &to_leading);
    assert_eq!(column(&failed, "attempts", "status"), vec![json!(307); 3]);
    assert_eq!(failed["last_attempt"]["error"], "status");
    assert!(elsewhere.received().is_empty());
    // Nobody listens there.
    let closed = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let url = format!("http://127.0.0.1:{closed}");
    let (to_nobody, _) = create(&app.acme, &json!({ "url": url, "events": ["vote.created"] }));
    let tested = send_test(&app.acme, &to_nobody);
    let failed = ended(&app.acme, &to_nobody, &tested["id"]);
    assert_eq!((&failed["failure"], &failed["attempts_count"]), (&json!("gave_up"), &json!(1)));
    assert_eq!(failed["last_attempt"]["error"], "unreachable");
}

/// Where it may lead: each try is checked, by the settings of then.
#[test]
fn nothing_is_sent_to_a_forbidden_address() {
    let mut app = sending(&[]);
    let receiver = Receiver::good();
    let (webhook, _) = for_votes(&app.acme, &receiver);
    app.set_environment(&[SOON]);
    app.restart();
    app.acme.vote("1", "bo@example.com");
    let failed = newest_ended(&app.acme, &webhook);
    assert_eq!((&failed["state"], &failed["failure"]), (&json!("failed"), &json!("blocked")));
    assert_eq!((&failed["attempts_count"], &failed["last_attempt"]["error"]), (&json!(1), &json!("blocked")));
    // Again, with the same result.
    let redeliver = format!("{}/deliveries/{}/redeliver", path_of(&webhook), text(&failed["id"]));
    app.acme.send("POST", &redeliver, &json!({})).is_ok();
    let failed = ended(&app.acme, &webhook, &failed["id"]);
    assert_eq!((&failed["failure"], &failed["attempts_count"]), (&json!("blocked"), &json!(2)));
    assert!(receiver.received().is_empty());
    app.set_environment(&[LOOPBACK, SOON]);
    app.restart();
    app.acme.send("POST", &redeliver, &json!({})).is_ok();
    assert_eq!(receiver.wait(1)[0].header("webhook-id"), text(&failed["id"]));
}

/// Events: what is private arrives where it was asked for.
#[test]
fn private_feature_requests_arrive_only_with_include_private() {
    let app = sending(&[]);
    let (public, all) = (Receiver::good(), Receiver::good());
    let events = json!(["feature_request.created", "reference_note.created"]);
    let (of_public, _) = create(&app.acme, &json!({ "url": public.url(), "events": events }));
    create(&app.acme, &json!({ "url": all.url(), "events": events, "include_private": true }));
    app.acme.feature_request_with(&json!({ "title": "Secret plan", "private": true }));
    let note = json!({ "customer": { "email": "bo@example.com" }, "reference_note": { "body": "Pays much" } });
    app.acme.post_upvote("1", &note).is_ok();
    app.acme.feature_request("Public plan");
    let titles = |receiver: &Receiver| -> Vec<Value> {
        receiver.received().iter().map(|arrived| arrived.json()["data"]["feature_request"]["title"].clone()).collect()
    };
    public.wait(1);
    assert_eq!(titles(&public), ["Public plan"]);
    assert_eq!(deliveries(&app.acme, &of_public, "")["total_count"], 1);
    all.wait(3);
    for title in ["Secret plan", "Dark mode", "Public plan"] {
        assert!(titles(&all).contains(&json!(title)), "{:?}", titles(&all));
    }
}

/// Webhooks: no try begins after the response to `enabled: false`. What waits fails.
#[test]
fn nothing_is_sent_after_a_webhook_was_disabled_or_deleted() {
    // The second try is far away.
    let app = App::with(&[], &[LOOPBACK, ("ROADMAP_WEBHOOK_RETRY_DELAYS", "1h")]);
    app.acme.feature_request("Dark mode");
    let receiver = Receiver::start(|_| "500 Oops".to_owned());
    let (webhook, _) = for_votes(&app.acme, &receiver);
    app.acme.vote("1", "bo@example.com");
    eventually("it was tried", || {
        deliveries(&app.acme, &webhook, "")["deliveries"][0]["last_attempt"]["status"] == 500
    });
    let waiting = deliveries(&app.acme, &webhook, "state=waiting")["deliveries"][0].clone();
    is_timestamp(&waiting["next_attempt_at"]);
    change(&app.acme, &webhook, &json!({ "enabled": false }));
    let failed = delivery(&app.acme, &webhook, &waiting["id"]);
    assert_eq!((&failed["state"], &failed["failure"]), (&json!("failed"), &json!("disabled")));
    app.acme.vote("1", "cy@example.com");
    // A test event is sent all the same, in one try.
    let tested = send_test(&app.acme, &webhook);
    assert_eq!(ended(&app.acme, &webhook, &tested["id"])["failure"], "gave_up");
    let arrived: Vec<Value> = receiver.received().iter().map(|arrived| arrived.json()["type"].clone()).collect();
    assert_eq!(arrived, ["vote.created", "webhook.test"]);
    change(&app.acme, &webhook, &json!({ "enabled": true }));
    app.acme.delete(&path_of(&webhook)).is_empty();
    app.acme.vote("1", "di@example.com");
    let (other, _) = for_votes(&app.acme, &receiver);
    app.acme.vote("1", "ed@example.com");
    eventually("the other one was tried", || deliveries(&app.acme, &other, "")["deliveries"][0]["attempts_count"] == 1);
    assert_eq!(receiver.received().len(), 3);
    assert_eq!(app.count("SELECT count(*) FROM webhook_deliveries"), 1);
}

/// The request: first tries begin in the order of the events; a chat service gets one message a second.
#[test]
fn messages_arrive_in_order_one_a_second() {
    let app = sending(&[]);
    let receiver = Receiver::good();
    let (chat, none) = create(&app.acme, &json!({ "url": receiver.url(), "format": "slack" }));
    assert_eq!(none, json!(null));
    let titles = ["First", "Second", "Third"];
    for title in titles {
        app.acme.feature_request(title);
    }
    // It is no event for a chat service.
    app.acme.vote("1", "bo@example.com");
    let arrived = receiver.wait(3);
    for (title, arrived) in titles.iter().zip(&arrived) {
        let body = arrived.json();
        let (first, second) = text(&body["text"]).split_once('\n').expect("two lines");
        assert!(first.starts_with("New feature request: <https://"), "{first}");
        assert!(first.ends_with(&format!("|{title}>")), "{first}");
        assert_eq!(second, "by the team · Inbox · 0 votes");
        assert!(!arrived.headers.keys().any(|name| name.starts_with("webhook-")), "{:?}", arrived.headers);
    }
    for pair in arrived.windows(2) {
        assert!(pair[1].at >= pair[0].at + Duration::from_millis(500));
    }
    eventually("all are delivered", || deliveries(&app.acme, &chat, "state=delivered")["total_count"] == 3);
    assert_eq!(deliveries(&app.acme, &chat, "")["total_count"], 3);
}

/// Events: what fails, changes nothing or is replayed has no event, and neither have imports.
#[test]
fn only_what_changes_something_is_an_event() {
    let app = sending(&[]);
    let receiver = Receiver::good();
    let (webhook, _) = create(&app.acme, &json!({ "url": receiver.url() }));
    let file = app.data_dir().join("posts.csv");
    std::fs::write(&file, "id,title\nA-1,Imported\n").expect("a file");
    let import = ["import", "csv", "--workspace", "acme", file.to_str().expect("text"), "--json"];
    let base = ["--base-url", "https://roadmap.example.com"];
    let imported = app.roadmap_with_environment(&[&base[..], &import].concat(), &[]);
    assert!(imported.success, "{}", imported.stderr);
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 2);
    let vote = json!({ "customer": { "email": "bo@example.com" }, "operation_key": "vote" });
    for _ in 0..2 {
        app.acme.post_upvote("1", &vote).is_ok();
    }
    app.acme.vote("1", "bo@example.com");
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "title": "Dark mode" } })).is_ok();
    assert_eq!(app.acme.post_upvote("1", &json!({ "customer": { "email": "x" } })).status, 422);
    app.acme.feature_request("The last one");
    receiver.wait(2);
    let last = deliveries(&app.acme, &webhook, "");
    assert_eq!(column(&last, "deliveries", "type"), ["feature_request.created", "vote.created"]);
    assert_eq!(receiver.received().len(), 2);
}

/// Webhooks: `previous_secrets` decrypt older ones, and each start encrypts them anew.
#[test]
fn credentials_survive_a_change_of_the_secret_of_the_service() {
    const OLD: &str = "8f0c2b64e19d7a35f1e40b9c6d2a8375";
    const NEW: &str = "1b5d8a40c7e2936ff07a4d8be3169c52";
    let mut app = App::with(&[], &[("ROADMAP_SECRET", OLD), NO_WORKER]);
    let (webhook, _) = create(&app.acme, &json!({ "url": URL }));
    // Without the old one, nothing is read. It stays as it is.
    app.set_environment(&[("ROADMAP_SECRET", NEW), NO_WORKER]);
    app.restart();
    assert_eq!(show(&app.acme, &webhook)["url"], "");
    app.set_environment(&[("ROADMAP_SECRET", NEW), ("ROADMAP_PREVIOUS_SECRETS", OLD), NO_WORKER]);
    app.restart();
    // It begins with what identifies the old one.
    let old = "SELECT count(*) FROM webhooks WHERE sealed_url LIKE 'sealed1.0e597ace.%'";
    eventually("it is sealed anew", || app.count(old) == 0);
    app.set_environment(&[("ROADMAP_SECRET", NEW), NO_WORKER]);
    app.restart();
    assert_eq!(show(&app.acme, &webhook)["url"], URL);
}
