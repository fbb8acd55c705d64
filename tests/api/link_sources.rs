//! `GET` and `POST /link_sources`, `GET`, `PATCH` and `DELETE /link_sources/{id}`, `POST /hooks/{id}`: the trackers that
//! report closed issues.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::app::{App, Client, Response, eventually, in_parallel, is_id, is_timestamp, run};
use crate::shared::is_unknown;

const SECRET: &str = "It's a Secret to Everybody";
const PATH: &str = "/api/external/v1/link_sources";

fn with(client: &Client, fields: &Value) -> Response {
    client.send("POST", PATH, &json!({ "link_source": fields }))
}

/// Adds a link source with [`SECRET`]. Returns it.
#[track_caller]
fn add(client: &Client, kind: &str, track: &Value, notify: bool) -> Value {
    let fields = json!({
        "name": "Code", "kind": kind, "secret": SECRET, "closed_track_id": track, "notify_all_voters": notify,
    });
    let response = with(client, &fields);
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["link_source"].clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Sends a body to the address of a link source, at the host of the client, without a key.
fn post(client: &Client, source: &Value, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let path = format!("/hooks/{}", text(&source["id"]));
    let headers = [&[("Content-Type", "application/json")][..], headers].concat();
    let anonymous = Client { key: None, ..client.clone() };
    anonymous.request("POST", &path, &headers, Some(body)).expect("a response")
}

fn authentication_code(body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("a key").chain_update(body);
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reports to a link source of GitHub. Returns the numbers of updated links and moved feature requests.
#[track_caller]
fn report(client: &Client, source: &Value, body: &Value) -> (u64, u64) {
    let body = body.to_string();
    let proof = format!("sha256={}", authentication_code(body.as_bytes()));
    let response = post(client, source, &[("X-Hub-Signature-256", &proof)], body.as_bytes());
    assert_eq!(response.status, 200, "{}", response.text());
    let body = response.json();
    let number = |name: &str| body[name].as_u64().expect("a number");
    (number("links_updated"), number("feature_requests_moved"))
}

/// What GitHub reports of an issue.
fn issue(number: u32, title: &str, state: &str, reason: &Value, minute: u32) -> Value {
    json!({ "action": "edited", "issue": {
        "html_url": format!("https://github.com/acme/app/issues/{number}"), "title": title, "state": state,
        "state_reason": reason, "updated_at": format!("2026-03-01T09:{minute:02}:00Z"),
    } })
}

fn link(client: &Client, request: &str, url: &str) {
    assert_eq!(client.post_link(request, &json!({ "link": { "url": url } })).status, 201);
}

/// The titles and states of the links of a feature request, and its track.
fn shown(client: &Client, request: &str) -> (Vec<(Value, Value)>, Value) {
    let links = client.get_links(request, "").is_ok();
    let links = links["links"].as_array().expect("links").iter();
    let links = links.map(|link| (link["title"].clone(), link["state"].clone())).collect();
    (links, client.get_feature_request(request).is_ok()["feature_request"]["track"].clone())
}

fn track(client: &Client, name: &str) -> Value {
    client.post_track(&json!({ "track": { "name": name } })).is_ok()["track"]["id"].clone()
}

/// Links: the record of a link source, with its secret once.
#[test]
fn a_link_source_has_its_fields() {
    let app = App::start();
    let shipped = track(&app.acme, "Shipped");
    let response = with(&app.acme, &json!({ "name": " Code ", "kind": "github" }));
    assert_eq!(response.status, 201);
    let created = response.json();
    assert_eq!(text(&created["secret"]).len(), 40);
    let source = created["link_source"].clone();
    let id = text(&source["id"]);
    is_id(&source["id"]);
    is_timestamp(&source["created_at"]);
    assert_eq!(
        source,
        json!({
            "id": id,
            "name": "Code",
            "kind": "github",
            "hook_url": format!("https://{}/hooks/{id}", app.acme.host),
            "closed_track_id": null,
            "notify_all_voters": false,
            "enabled": true,
            "last_received_at": null,
            "created_at": source["created_at"],
            "updated_at": source["created_at"],
        })
    );
    let second = add(&app.acme, "linear", &shipped, true);
    assert_eq!((&second["closed_track_id"], &second["notify_all_voters"]), (&shipped, &json!(true)));
    let listed = app.acme.get(PATH).is_ok();
    assert_eq!(listed["link_sources"], json!([source, second]));
    assert_eq!((&listed["page"], &listed["total_count"]), (&json!(1), &json!(2)));
    assert_eq!(app.acme.get(&format!("{PATH}?page=2&page_size=1")).is_ok()["link_sources"], json!([second]));
    assert_eq!(app.acme.get(&format!("{PATH}/{id}")).is_ok()["link_source"], source);
    app.acme.get(&format!("{PATH}?cursor=")).is_error(422, "cursor cannot be given for link sources");
    let changed = app.acme.send("PATCH", &format!("{PATH}/{id}"), &json!({ "link_source": { "enabled": false } }));
    let changed = changed.is_ok()["link_source"].clone();
    assert_eq!((&changed["enabled"], &changed["name"]), (&json!(false), &json!("Code")));
    assert_ne!(changed["updated_at"], source["updated_at"]);
    app.acme.delete(&format!("{PATH}/{id}")).is_empty();
    app.workspace("bolt");
    let bolt = app.client("bolt", &app.key("bolt", &["--scope", "read", "--scope", "manage"]));
    let foreign = add(&bolt, "github", &json!(null), false);
    let foreign = text(&foreign["id"]);
    is_unknown(foreign, "LinkSource", |id| app.acme.get(&format!("{PATH}/{id}")));
    is_unknown(foreign, "LinkSource", |id| app.acme.delete(&format!("{PATH}/{id}")));
    let change = json!({ "link_source": { "enabled": false } });
    is_unknown(foreign, "LinkSource", |id| app.acme.send("PATCH", &format!("{PATH}/{id}"), &change));
    assert_eq!(bolt.get(PATH).is_ok()["link_sources"][0]["enabled"], true);
    // Nobody reads a secret: not in the database, the audit log or the log.
    for source in app.acme.get_audit_entries("limit=20").is_ok()["audit_entries"].as_array().expect("entries") {
        assert!(!source.to_string().contains(SECRET), "{source}");
    }
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).expect("a log");
    assert!(!log.contains(SECRET) && !log.contains(text(&created["secret"])), "{log}");
    assert_eq!(app.count("SELECT count(*) FROM link_sources WHERE sealed_secret LIKE 'sealed1.%'"), 2);
    assert_eq!(
        app.count(&format!("SELECT count(*) FROM link_sources WHERE sealed_secret LIKE '%{}%'", &SECRET[7..])),
        0
    );
}

/// Links: what cannot be saved.
#[test]
fn invalid_fields_of_a_link_source_are_named() {
    let app = App::start();
    for (fields, message) in [
        (json!({ "kind": "github" }), "param is missing or the value is empty or invalid: name"),
        (json!({ "name": "a" }), "param is missing or the value is empty or invalid: kind"),
        (json!({ "name": "a", "kind": "other" }), "kind must be one of github, gitlab, jira, linear"),
        (json!({ "name": "a", "kind": "github", "secret": "too short" }), "secret must have 16 to 255 characters"),
        (json!({ "name": "a", "kind": "github", "closed_track_id": "x" }), "closed_track_id is not a valid UUID"),
    ] {
        with(&app.acme, &fields).is_error(422, message);
    }
    let unknown = json!("01890a5d-ac96-774b-bcce-b302099a8057");
    with(&app.acme, &json!({ "name": "a", "kind": "github", "closed_track_id": unknown }))
        .is_error(404, "Track does not exist.");
    let source = add(&app.acme, "github", &json!(null), false);
    let path = format!("{PATH}/{}", text(&source["id"]));
    let patch = |fields: Value| app.acme.send("PATCH", &path, &json!({ "link_source": fields }));
    patch(json!({ "name": null })).is_error(422, "param is missing or the value is empty or invalid: name");
    patch(json!({ "closed_track_id": unknown })).is_error(404, "Track does not exist.");
    assert_eq!(patch(json!({ "kind": "gitlab" })).is_ok()["link_source"], source);
    let statuses = in_parallel(25, |_| with(&app.acme, &json!({ "name": "a", "kind": "jira" })).status);
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 19);
    with(&app.acme, &json!({ "name": "a", "kind": "jira" })).is_error(409, "A workspace has at most 20 link sources.");
}

/// Links: everything that is not proved has one answer.
#[test]
fn reports_are_taken_with_their_proof_only() {
    let app = App::start();
    let source = add(&app.acme, "github", &json!(null), false);
    let body = issue(7, "Dark mode", "open", &json!(null), 30).to_string();
    let proof = format!("sha256={}", authentication_code(body.as_bytes()));
    let signed = [("X-Hub-Signature-256", proof.as_str())];
    let refused = |response: Response| {
        response.is_error(401, "Signature is not valid");
        assert_eq!(response.header("www-authenticate"), None);
    };
    refused(post(&app.acme, &source, &[], body.as_bytes()));
    refused(post(&app.acme, &source, &[("X-Hub-Signature-256", &proof[..70])], body.as_bytes()));
    refused(post(&app.acme, &source, &[("X-Gitlab-Token", SECRET)], body.as_bytes()));
    refused(post(&app.acme, &source, &signed, format!("{body} ").as_bytes()));
    for unknown in ["01890a5d-ac96-774b-bcce-b302099a8057", "x", "%ff"] {
        refused(post(&app.acme, &json!({ "id": unknown }), &signed, body.as_bytes()));
    }
    let bolt = app.workspace("bolt");
    refused(post(&bolt, &source, &signed, body.as_bytes()));
    refused(post(
        &Client { host: "nobody.roadmap.test".to_owned(), ..app.acme.clone() },
        &source,
        &signed,
        body.as_bytes(),
    ));
    assert_eq!(post(&app.acme, &source, &signed, body.as_bytes()).status, 200);
    // What is proved is looked at.
    let proof = format!("sha256={}", authentication_code(b"no JSON"));
    let signed = [("X-Hub-Signature-256", proof.as_str())];
    post(&app.acme, &source, &signed, b"no JSON").is_error(400, "Request body is not valid JSON");
    let form = [("Content-Type", "application/x-www-form-urlencoded"), signed[0]];
    let anonymous = Client { key: None, ..app.acme.clone() };
    let path = format!("/hooks/{}", text(&source["id"]));
    let response = anonymous.request("POST", &path, &form, Some(b"no JSON")).unwrap();
    response.is_error(415, "Content-Type must be application/json");
    let large = vec![b' '; 1024 * 1024 + 1];
    post(&app.acme, &source, &signed, &large).is_error(413, "Request body must not be larger than 1 MB");
    assert_eq!(anonymous.get(&path).status, 405);
    // A disabled one takes nothing, and neither does the old secret.
    let proof = format!("sha256={}", authentication_code(body.as_bytes()));
    let signed = [("X-Hub-Signature-256", proof.as_str())];
    let patch = |fields: Value| {
        let path = format!("{PATH}/{}", text(&source["id"]));
        app.acme.send("PATCH", &path, &json!({ "link_source": fields })).is_ok()
    };
    patch(json!({ "enabled": false }));
    refused(post(&app.acme, &source, &signed, body.as_bytes()));
    patch(json!({ "enabled": true, "secret": "another secret of 16" }));
    refused(post(&app.acme, &source, &signed, body.as_bytes()));
    patch(json!({ "secret": SECRET }));
    assert_eq!(post(&app.acme, &source, &signed, body.as_bytes()).status, 200);
}

/// Links: what a report changes, in which order, and what moves.
#[test]
fn a_feature_request_moves_when_its_issues_are_done() {
    let app = App::start();
    let shipped = track(&app.acme, "Shipped");
    let source = add(&app.acme, "github", &shipped, false);
    let (null, planned) = (json!(null), json!("not_planned"));
    app.acme.feature_request("One issue");
    app.acme.feature_request("Two issues");
    link(&app.acme, "1", "https://github.com/acme/app/issues/7");
    link(&app.acme, "2", "https://GitHub.com/Acme/App/pull/7?x=1");
    link(&app.acme, "2", "https://github.com/acme/app/issues/8");
    let (title, open, closed) = (json!("Dark mode"), json!("open"), json!("closed"));
    assert_eq!(shown(&app.acme, "1"), (vec![(null.clone(), open.clone())], json!("Inbox")));
    // It means nothing, or concerns nothing here.
    assert_eq!(report(&app.acme, &source, &json!({ "zen": "Design for failure." })), (0, 0));
    assert_eq!(report(&app.acme, &source, &issue(99, "Other", "closed", &null, 1)), (0, 0));
    assert_eq!(report(&app.acme, &source, &issue(7, "Dark mode", "open", &null, 10)), (2, 0));
    assert_eq!(report(&app.acme, &source, &issue(7, "Dark mode", "open", &null, 10)), (0, 0));
    assert_eq!(shown(&app.acme, "1"), (vec![(title.clone(), open.clone())], json!("Inbox")));
    // An older report changes nothing, also not of a link that came later.
    app.acme.feature_request("Late");
    link(&app.acme, "3", "https://github.com/acme/app/issues/7");
    assert_eq!(report(&app.acme, &source, &issue(7, "Old", "closed", &null, 9)), (0, 0));
    assert_eq!(app.acme.delete_link(text(&app.acme.get_links("3", "").is_ok()["links"][0]["id"])).status, 204);
    // The first one has no other issue.
    assert_eq!(report(&app.acme, &source, &issue(7, "Dark mode", "closed", &null, 20)), (2, 1));
    assert_eq!(shown(&app.acme, "1"), (vec![(title.clone(), closed.clone())], json!("Shipped")));
    let states = vec![(title.clone(), closed.clone()), (null.clone(), open.clone())];
    assert_eq!(shown(&app.acme, "2"), (states, json!("Inbox")));
    let moves = app.acme.get_moves("1", "").is_ok();
    let by = json!({ "kind": "service", "name": "Code" });
    assert_eq!(moves["moves"][0]["moved_by"], by, "{moves}");
    let by = json!({ "kind": "service", "id": null, "name": "Code" });
    let entry = &app.acme.get_audit_entries("action=feature_request.move").is_ok()["audit_entries"][0];
    assert_eq!((&entry["actor"], &entry["channel"]), (&by, &json!("api")), "{entry}");
    // What is closed without being done moves nothing, and then the last one is not open any more.
    assert_eq!(report(&app.acme, &source, &issue(8, "Contrast", "closed", &planned, 21)), (1, 0));
    assert_eq!(shown(&app.acme, "2").1, json!("Inbox"));
    assert_eq!(report(&app.acme, &source, &issue(8, "Contrast", "open", &json!("reopened"), 22)), (1, 0));
    assert_eq!(report(&app.acme, &source, &issue(8, "Contrast", "closed", &json!("completed"), 23)), (1, 1));
    assert_eq!(shown(&app.acme, "2").1, json!("Shipped"));
    // Reopening moves nothing back.
    assert_eq!(report(&app.acme, &source, &issue(8, "Contrast", "open", &json!("reopened"), 24)), (1, 0));
    assert_eq!(shown(&app.acme, "2").1, json!("Shipped"));
    let shown = app.acme.get(&format!("{PATH}/{}", text(&source["id"]))).is_ok();
    is_timestamp(&shown["link_source"]["last_received_at"]);
    assert_eq!(shown["link_source"]["updated_at"], source["updated_at"]);
}

/// Links: those of merged feature requests are the target's.
#[test]
fn a_report_about_a_merged_feature_request_moves_its_target() {
    let app = App::start();
    let source = add(&app.acme, "github", &track(&app.acme, "Shipped"), false);
    let [target, merged] = ["Target", "Merged"].map(|title| app.acme.feature_request(title)["id"].clone());
    link(&app.acme, text(&merged), "https://github.com/acme/app/issues/7");
    link(&app.acme, text(&target), "https://github.com/acme/app/issues/8");
    app.acme.merge(text(&merged), text(&target));
    let null = json!(null);
    assert_eq!(report(&app.acme, &source, &issue(7, "A", "closed", &null, 1)), (1, 0));
    assert_eq!(report(&app.acme, &source, &issue(8, "B", "closed", &null, 2)), (1, 1));
    assert_eq!(shown(&app.acme, text(&target)).1, json!("Shipped"));
}

/// Links: `notify_all_voters` of the source decides about mail.
#[test]
fn a_move_by_a_report_notifies_the_voters() {
    let app = App::start();
    let lane = app.acme.post_lane(&json!({ "lane": { "name": "Out now" } })).is_ok()["lane"]["id"].clone();
    let shipped = app.acme.post_track(&json!({ "track": { "name": "Shipped", "lane_id": lane } })).is_ok();
    let source = add(&app.acme, "github", &shipped["track"]["id"], true);
    app.acme.feature_request("Dark mode");
    app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } })).is_ok();
    link(&app.acme, "1", "https://github.com/acme/app/issues/7");
    assert_eq!(report(&app.acme, &source, &issue(7, "A", "closed", &json!(null), 1)), (1, 1));
    let mails = app.count("SELECT count(*) FROM outbox WHERE kind = 'status_change'");
    assert_eq!(mails, 1);
}

/// Links: when its track is deleted, `move_to` takes its place, or null.
#[test]
fn another_track_takes_the_place_of_a_deleted_one() {
    let app = App::start();
    let [first, second] = ["First", "Second"].map(|name| track(&app.acme, name));
    let source = add(&app.acme, "github", &first, false);
    let path = format!("{PATH}/{}", text(&source["id"]));
    let closed_track = || app.acme.get(&path).is_ok()["link_source"]["closed_track_id"].clone();
    app.acme.delete_track(text(&first), &format!("move_to={}", text(&second))).is_empty();
    assert_eq!(closed_track(), second);
    app.acme.delete_track(text(&second), "").is_empty();
    assert_eq!(closed_track(), json!(null));
}

/// Webhooks: `previous_secrets` open what is sealed, and each start seals it anew.
#[test]
fn secrets_survive_a_change_of_the_secret_of_the_service() {
    const OLD: &str = "8f0c2b64e19d7a35f1e40b9c6d2a8375";
    const NEW: &str = "1b5d8a40c7e2936ff07a4d8be3169c52";
    let mut app = App::with(&[], &[("ROADMAP_SECRET", OLD)]);
    let source = add(&app.acme, "github", &json!(null), false);
    let body = b"{}";
    let proof = format!("sha256={}", authentication_code(body));
    let status = |app: &App| post(&app.acme, &source, &[("X-Hub-Signature-256", &proof)], body).status;
    assert_eq!(status(&app), 200);
    // Without the old one, nothing is proved. The secret stays as it is.
    app.set_environment(&[("ROADMAP_SECRET", NEW)]);
    app.restart();
    assert_eq!(status(&app), 401);
    let found = "link sources whose secrets cannot be read, so that their reports are refused: 1";
    let doctor = |environment: &[(&str, &str)]| run(app.data_dir(), &["doctor"], environment).stdout;
    assert!(doctor(&[("ROADMAP_SECRET", NEW)]).contains(found));
    assert!(!doctor(&[("ROADMAP_SECRET", NEW), ("ROADMAP_PREVIOUS_SECRETS", OLD)]).contains("link sources"));
    app.set_environment(&[("ROADMAP_SECRET", NEW), ("ROADMAP_PREVIOUS_SECRETS", OLD)]);
    app.restart();
    assert_eq!(status(&app), 200);
    // It begins with what identifies the old one.
    let old = "SELECT count(*) FROM link_sources WHERE sealed_secret LIKE 'sealed1.0e597ace.%'";
    eventually("it is sealed anew", || app.count(old) == 0);
    app.set_environment(&[("ROADMAP_SECRET", NEW)]);
    app.restart();
    assert_eq!(status(&app), 200);
}
