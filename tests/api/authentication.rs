//! Authentication and authorization (contract section 5), and the order of the checks of a request.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::app::{App, BASE_HOST, Client, Response, eventually, files_below, is_timestamp};
use crate::endpoints::{Records, allowed, endpoints, reads};

const REFUSED: &str = "Could not authenticate, invalid API Key";
const OUT_OF_SCOPE: &str = "API Key does not have the required scope";
const UNKNOWN_REQUEST: &str = "FeatureRequest does not exist.";

/// Starts a service with the feature request 1. Returns it with records for requests to all endpoints.
fn started() -> (App, Records) {
    // A delivery stays as it is between two requests.
    let app = App::with(&[], &[("ROADMAP_WEBHOOK_WORKER", "false")]);
    app.acme.feature_request("Dark mode");
    let records = Records::create(&app, &app.acme, "first");
    (app, records)
}

/// Numbers of records that requests without permission must not change.
fn counts(app: &App) -> Vec<i64> {
    let tables = [
        "feature_requests",
        "votes",
        "comments",
        "notes",
        "changelogs",
        "operations",
        "lanes",
        "tracks",
        "attachments",
    ];
    tables.iter().map(|table| app.count(&format!("SELECT count(*) FROM {table}"))).collect()
}

/// Asserts the status and the whole body of an error, and names the case on failure.
#[track_caller]
fn assert_rejects(response: &Response, status: u16, message: &str, case: &str) {
    let body = format!("{{\"error\":\"{message}\"}}");
    assert_eq!((response.status, response.text()), (status, body), "{case}");
    assert_eq!(response.header("content-type"), Some("application/json"), "{case}");
    assert!(response.header("x-request-id").is_some_and(|id| !id.is_empty()), "{case}");
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Creates an API key of `acme`. Returns its id and the key.
fn issued(app: &App, flags: &[&str]) -> (String, String) {
    let arguments = ["api-key", "create", "--workspace", "acme", "--name", "ci"];
    let key = app.roadmap(&[&arguments[..], flags].concat()).json();
    (text(&key["id"]), text(&key["key"]))
}

/// Returns a key of `acme` as the list of keys shows it.
fn listed(app: &App, id: &str) -> Value {
    let keys = app.roadmap(&["api-key", "list", "--workspace", "acme"]).json();
    keys.as_array().expect("a list").iter().find(|key| key["id"] == id).expect("the key").clone()
}

/// Client without an API key.
fn nobody(app: &App) -> Client {
    Client { key: None, ..app.acme.clone() }
}

/// The same client with another host name.
fn at(client: &Client, host: &str) -> Client {
    Client { host: host.to_owned(), ..client.clone() }
}

/// The key with one character changed.
fn mistyped(key: &str) -> String {
    let (start, rest) = key.split_at(10);
    let changed = if rest.starts_with('a') { 'b' } else { 'a' };
    format!("{start}{changed}{}", &rest[1..])
}

/// Contract 1: most endpoints are below `/api/external/v1`.
/// Contract 4: success statuses are open; decision 2 has them.
/// Contract 9: the version is in the path, and v1 for everything but attachments.
/// Decision 2: GET, PATCH and PUT return 200.
/// Decision 2: POST of a request, upvote, comment or changelog returns 201.
/// Beyond the contract.
#[test]
fn every_endpoint_of_the_document_is_served() {
    let (app, _) = started();
    for (number, endpoint) in endpoints().into_iter().enumerate() {
        let records = Records::create(&app, &app.acme, &number.to_string());
        let response = endpoint.send(&app.acme, &records, &[]);
        assert_eq!(response.status, endpoint.success(), "{}: {}", endpoint.name(), response.text());
    }
}

/// Contract 1: the base URL's host carries the workspace's subdomain.
/// Contract 2.10: an error's body is `error`, a string.
/// Contract 4: `X-Api-Key` is required everywhere.
/// Contract 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8: 401 without a valid key.
/// Contract 5: rule 1, every request carries the workspace's key in `X-Api-Key`.
/// Contract 5: rule 2, the host's subdomain names the workspace.
/// Contract 5: rule 3, a missing, invalid or expired key is 401 with the fixed message.
/// Contract 7: 401 on all endpoints.
/// Decision 1: an unknown host and a missing, wrong, revoked, expired or foreign key are one and the same 401.
/// Decision 1: a key stops at its expiry and soon after it is revoked.
/// Addition 1: every new route has 401, 403, 404, 405, 406 and HEAD.
#[test]
fn every_route_rejects_callers_without_a_valid_key_alike() {
    let (app, records) = started();
    let before = counts(&app);
    let key = app.acme.key.clone().unwrap();
    let acme = |key: &str| app.client("acme", key);
    let other = app.workspace("other");
    // Well-formed, but of another installation.
    let unknown = App::start().key("acme", &[]);
    let (_, expired) = issued(&app, &["--expires-in", "1ms"]);
    eventually("the key has expired", || acme(&expired).get_tracks().status == 401);
    let (revoked_id, revoked) = issued(&app, &[]);
    assert_eq!(acme(&revoked).get_tracks().status, 200);
    app.roadmap(&["api-key", "revoke", "--workspace", "acme", &revoked_id]).json();
    eventually("the key is revoked", || acme(&revoked).get_tracks().status == 401);

    let none: [(&str, &str); 0] = [];
    let twice = [("X-Api-Key", key.as_str())];
    let other_bearer = format!("Bearer {}", acme(&app.key("acme", &[])).key.unwrap());
    let (basic, bare) = (format!("Basic {key}"), key.clone());
    let unknown_bearer = format!("Bearer {unknown}");
    let authorization = |value| [("Authorization", value)];
    let other_key = authorization(other_bearer.as_str());
    let other_scheme = authorization(basic.as_str());
    let no_scheme = authorization(bare.as_str());
    let unknown_token = authorization(unknown_bearer.as_str());
    let empty_token = authorization("Bearer ");
    let callers = [
        ("no key", nobody(&app), &none[..]),
        ("an empty key", acme(""), &none),
        ("a malformed key", acme("secret"), &none),
        ("a key in another case", acme(&key.to_uppercase()), &none),
        ("a key with one character changed", acme(&mistyped(&key)), &none),
        ("a key that is cut", acme(&key[..key.len() - 1]), &none),
        ("a key with more behind it", acme(&format!("{key}a")), &none),
        ("an unknown key", acme(&unknown), &none),
        ("an expired key", acme(&expired), &none),
        ("a revoked key", acme(&revoked), &none),
        ("another workspace's key", acme(&other.key.clone().unwrap()), &none),
        ("a key for another workspace", app.client("other", &key), &none),
        ("an unknown subdomain", app.client("nobody", &key), &none),
        ("a workspace below a workspace", app.client("a.acme", &key), &none),
        ("the bare base host", at(&app.acme, BASE_HOST), &none),
        ("a foreign host", at(&app.acme, "acme.example.com"), &none),
        ("a host that only starts like ours", at(&app.acme, &format!("acme.{BASE_HOST}.evil.example")), &none),
        ("a bare label", at(&app.acme, "acme"), &none),
        ("an address", at(&app.acme, "[::1]:80"), &none),
        ("no host at all", at(&app.acme, ""), &none),
        ("two keys", app.acme.clone(), &twice),
        ("two different keys in two headers", app.acme.clone(), &other_key),
        ("a key and an empty one", app.acme.clone(), &empty_token),
        ("a key in another scheme", nobody(&app), &other_scheme),
        ("a key without a scheme", nobody(&app), &no_scheme),
        ("an unknown key as a bearer", nobody(&app), &unknown_token),
        ("an empty bearer", nobody(&app), &empty_token),
    ];
    for endpoint in endpoints() {
        for (caller, client, headers) in &callers {
            let case = format!("{} {}: {caller}", endpoint.method, endpoint.path);
            assert_rejects(&endpoint.send(client, &records, headers), 401, REFUSED, &case);
        }
    }
    // The other workspace has lanes and tracks, too.
    let after = counts(&app);
    assert_eq!((&after[..6], after[8]), (&before[..6], before[8]));
    assert_eq!(app.acme.get_tracks().status, 200);
}

/// Contract 4.1, 5; Decision 1.
#[test]
fn without_a_valid_key_any_path_method_and_body_gets_401() {
    let (app, _) = started();
    let nobody = nobody(&app);
    let html = [("Accept", "text/html")];
    let plain = [("Content-Type", "text/plain")];
    let json = [("Content-Type", "application/json")];
    for (method, path, headers, body) in [
        ("GET", "/api/external", &html, None),
        ("GET", "/api/external/", &html, None),
        ("GET", "/api/external/v1", &html, None),
        ("GET", "/api/external/v1/nothing", &html, None),
        ("GET", "/api/external/v1/tracks/", &html, None),
        ("GET", "/api/external/v3/tracks", &html, None),
        ("POST", "/api/external/v2/attachments", &json, Some("{}")),
        ("DELETE", "/api/external/v1/tracks", &html, None),
        ("POST", "/api/external/v1/tracks", &json, Some("{}")),
        ("GET", "/api/external/v1/feature_requests/1/upvotes", &html, None),
        ("GET", "/api/external/v1/tracks", &html, None),
        ("GET", "/api/external/v1/feature_requests/2/voters?page=x", &html, None),
        ("POST", "/api/external/v1/feature_requests", &plain, Some("{}")),
        ("POST", "/api/external/v1/feature_requests", &json, Some("{")),
        ("POST", "/api/external/v1/feature_requests", &json, Some("{}")),
        ("POST", "/api/external/v1/feature_requests/2/upvotes", &json, Some("{}")),
    ] {
        let response = nobody.request(method, path, headers, body.map(str::as_bytes)).expect("a response");
        assert_rejects(&response, 401, REFUSED, &format!("{method} {path} {headers:?} {body:?}"));
    }
}

/// Addition 1: `Authorization: Bearer` is accepted instead of `X-Api-Key`; both and different is 401.
#[test]
fn a_bearer_is_accepted_instead_of_the_header() {
    let (app, records) = started();
    let key = app.acme.key.clone().unwrap();
    let nobody = nobody(&app);
    for value in [format!("Bearer {key}"), format!("bearer {key}"), format!("BEARER  {key}")] {
        let headers = [("Authorization", value.as_str())];
        let response = nobody.request("GET", "/api/external/v1/tracks", &headers, None).unwrap();
        assert_eq!((response.status, response.json()), (200, app.acme.get_tracks().json()), "{value}");
    }
    let bearer = format!("Bearer {key}");
    let headers = [("Authorization", bearer.as_str())];
    // An export says when it was made.
    for endpoint in reads().filter(|endpoint| !endpoint.path.ends_with("/export")) {
        let expected = endpoint.send(&app.acme, &records, &[]).text();
        for client in [&nobody, &app.acme] {
            // Both headers with the same key are one key.
            let response = endpoint.send(client, &records, &headers);
            assert_eq!((response.status, response.text()), (200, expected.clone()), "{}", endpoint.path);
        }
    }
    let body = json!({ "feature_request": { "title": "By a bearer" } }).to_string();
    let headers = [headers[0], ("Content-Type", "application/json")];
    let path = "/api/external/v1/feature_requests";
    assert_eq!(nobody.request("POST", path, &headers, Some(body.as_bytes())).unwrap().status, 201);
    // Another scheme is not the service's, so that the header with the key counts.
    let basic = [("Authorization", "Basic YTpi")];
    assert_eq!(app.acme.request("GET", "/api/external/v1/tracks", &basic, None).unwrap().status, 200);
    let twice = [("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())];
    let response = nobody.request("GET", "/api/external/v1/tracks", &twice, None).unwrap();
    assert_rejects(&response, 401, REFUSED, "two bearers");
    // The key is in no log.
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
    assert!(!log.contains(&key), "{log}");
}

/// Decision 1: the checks run in order, from 401 to 422.
/// Decision 1: a request outside the scope is 403 with its message.
/// Decision 2: an unknown track is 404 `Track does not exist.`.
/// Decision 5; Addition 1.
#[test]
fn checks_run_in_the_documented_order() {
    let (app, _) = started();
    let nobody = nobody(&app);
    let reader = app.client("acme", &app.key("acme", &["--scope", "read"]));
    let writer = app.client("acme", &app.key("acme", &["--scope", "write"]));
    let used = json!({ "customer": { "email": "ann@example.com" }, "operation_key": "used" });
    let first = app.acme.post_upvote("1", &used);
    assert_eq!(first.status, 201);

    let (html, plain, json) =
        (("Accept", "text/html"), ("Content-Type", "text/plain"), ("Content-Type", "application/json"));
    let replay = used.to_string();
    let unknown_track = r#"{"track_id":"01890a5d-ac96-774b-bcce-b302099a8057"}"#;
    for (case, client, method, path, headers, body, status, message) in [
        ("401 before 404", &nobody, "GET", "/nothing", &[html][..], None, 401, REFUSED),
        ("401 before 405", &nobody, "DELETE", "/setting", &[html], None, 401, REFUSED),
        ("401 before 406", &nobody, "GET", "/tracks", &[html], None, 401, REFUSED),
        ("401 before 400", &nobody, "POST", "/changelogs", &[json], Some("{"), 401, REFUSED),
        ("404 before 406", &reader, "GET", "/nothing", &[html], None, 404, "Not found"),
        ("404 before 415", &reader, "POST", "/nothing", &[plain], Some("{"), 404, "Not found"),
        ("404 before 400", &reader, "POST", "/nothing", &[json], Some("{"), 404, "Not found"),
        ("405 before 406", &reader, "DELETE", "/setting", &[html], None, 405, "Method not allowed"),
        ("405 before 415", &reader, "POST", "/setting", &[plain], Some("{"), 405, "Method not allowed"),
        ("405 before 400", &reader, "POST", "/setting", &[json], Some("{"), 405, "Method not allowed"),
        (
            "406 before 400",
            &reader,
            "POST",
            "/changelogs",
            &[html, json],
            Some("{"),
            406,
            "Accept must allow application/json",
        ),
        (
            "415 before 400",
            &reader,
            "POST",
            "/changelogs",
            &[plain],
            Some("{"),
            415,
            "Content-Type must be application/json",
        ),
        ("406 before 403", &writer, "GET", "/tracks", &[html], None, 406, "Accept must allow application/json"),
        ("400 before 403", &reader, "POST", "/changelogs", &[json], Some("{"), 400, "Request body is not valid JSON"),
        (
            "403 before replay",
            &reader,
            "POST",
            "/feature_requests/1/upvotes",
            &[json],
            Some(replay.as_str()),
            403,
            OUT_OF_SCOPE,
        ),
        ("403 before 404", &reader, "POST", "/feature_requests/99/upvotes", &[json], Some("{}"), 403, OUT_OF_SCOPE),
        ("403 before 422", &reader, "POST", "/feature_requests", &[json], Some("{}"), 403, OUT_OF_SCOPE),
        ("403 before 404", &writer, "GET", "/feature_requests/99/voters", &[], None, 403, OUT_OF_SCOPE),
        ("403 before 422", &writer, "GET", "/votes", &[], None, 403, OUT_OF_SCOPE),
        (
            "404 before 422",
            &app.acme,
            "POST",
            "/feature_requests/99/upvotes",
            &[json],
            Some("{}"),
            404,
            UNKNOWN_REQUEST,
        ),
        (
            "404 before 422",
            &app.acme,
            "POST",
            "/feature_requests/99/comments",
            &[json],
            Some("{}"),
            404,
            UNKNOWN_REQUEST,
        ),
        ("404 before 422", &app.acme, "PATCH", "/feature_requests/99/track", &[json], Some("{}"), 404, UNKNOWN_REQUEST),
        (
            "the request before the track",
            &app.acme,
            "PATCH",
            "/feature_requests/99/track",
            &[json],
            Some(unknown_track),
            404,
            UNKNOWN_REQUEST,
        ),
        (
            "the track",
            &app.acme,
            "PATCH",
            "/feature_requests/1/track",
            &[json],
            Some(unknown_track),
            404,
            "Track does not exist.",
        ),
        ("404 before 422", &app.acme, "GET", "/feature_requests/99/voters?page=x", &[], None, 404, UNKNOWN_REQUEST),
        ("401 before 404", &nobody, "DELETE", "/feature_requests/99", &[], None, 401, REFUSED),
        (
            "406 before 403",
            &reader,
            "DELETE",
            "/feature_requests/99",
            &[html],
            None,
            406,
            "Accept must allow application/json",
        ),
        ("403 before 404", &writer, "DELETE", "/feature_requests/99", &[], None, 403, OUT_OF_SCOPE),
        ("403 before 404", &writer, "DELETE", "/lanes/99", &[], None, 403, OUT_OF_SCOPE),
        ("404 before 422", &app.acme, "DELETE", "/feature_requests/99/upvotes", &[], None, 404, UNKNOWN_REQUEST),
        ("403 before 422", &reader, "DELETE", "/feature_requests/1/upvotes", &[], None, 403, OUT_OF_SCOPE),
        ("404 before 422", &app.acme, "POST", "/feature_requests/99/merge", &[json], Some("{}"), 404, UNKNOWN_REQUEST),
        ("404 before 422", &app.acme, "PATCH", "/comments/99", &[json], Some("{}"), 404, "Comment does not exist."),
        ("404 before 422", &app.acme, "PATCH", "/changelogs/99", &[json], Some("{}"), 404, "Changelog does not exist."),
        ("404 before 422", &app.acme, "PATCH", "/lanes/99", &[json], Some("{}"), 404, "Lane does not exist."),
        ("404 before 422", &app.acme, "PATCH", "/tracks/99", &[json], Some("{}"), 404, "Track does not exist."),
        ("404 before 422", &app.acme, "PATCH", "/customers/99", &[json], Some("{}"), 404, "Customer does not exist."),
        (
            "422",
            &app.acme,
            "GET",
            "/feature_requests/1/voters?page=x",
            &[],
            None,
            422,
            "page must be an integer of at least 1",
        ),
    ] {
        let path = format!("/api/external/v1{path}");
        let response = client.request(method, &path, headers, body.map(str::as_bytes)).expect("a response");
        assert_rejects(&response, status, message, &format!("{case}: {method} {path}"));
    }

    for (case, path, body) in [
        ("replay before 404", "/feature_requests/99/upvotes", json!({ "operation_key": "used" })),
        ("replay before 422", "/feature_requests/1/upvotes", json!({ "customer": 5, "operation_key": "used" })),
        ("replay before both", "/feature_requests/99/comments", json!({ "comment": 5, "operation_key": "used" })),
    ] {
        let response = app.acme.send("POST", &format!("/api/external/v1{path}"), &body);
        assert_eq!((response.status, response.text()), (201, first.text()), "{case}");
        assert_eq!(response.header("idempotent-replayed"), Some("true"), "{case}");
    }
    assert_eq!(app.count("SELECT count(*) FROM operations"), 1);
}

/// Decision 2; Addition 1.
#[test]
fn a_wrong_method_gets_the_allowed_ones() {
    let (app, records) = started();
    for endpoint in endpoints() {
        let allowed = allowed(endpoint.path);
        for method in ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "PURGE"] {
            if allowed.split(", ").any(|allowed| allowed == method) {
                continue;
            }
            let case = format!("{method} {}", endpoint.path);
            let response =
                app.acme.request(method, &endpoint.target_with_query(&records), &[], None).expect("a response");
            if method == "HEAD" {
                assert_eq!((response.status, response.text()), (405, String::new()), "{case}");
            } else {
                assert_rejects(&response, 405, "Method not allowed", &case);
            }
            assert_eq!(response.header("allow"), Some(allowed.as_str()), "{case}");
        }
    }
}

/// Contract 9: the prefixes are not interchangeable: v1's endpoints are not below v2, and the upload is not below v1.
/// Decision 2: unknown paths and wrong methods have an `error` in the body too.
/// Contract 1, 7.
#[test]
fn an_unknown_path_is_not_found_with_any_method() {
    let (app, _) = started();
    for path in [
        "/api/external/v",
        "/api/external//",
        "/api/external/v1//",
        "/api/external/v1/nothing",
        "/api/external/v1/tracks/",
        "/api/external/v1/Tracks",
        "/api/external/v1/tracks/1/2",
        "/api/external/v1/feature_requests/1/upvote",
        "/api/external/v1/reference_notes",
        "/api/external/v1/keys",
        "/api/external/v1/feature_requests/1/upvotes/1",
        "/api/external/v1/attachments",
        "/api/external/v2/tracks",
        "/api/external/v3/tracks",
        "/api/v1/tracks",
    ] {
        for method in ["GET", "POST", "PATCH", "DELETE"] {
            let response = app.acme.request(method, path, &[], None).expect("a response");
            assert_rejects(&response, 404, "Not found", &format!("{method} {path}"));
        }
    }
}

/// Beyond the contract: the beginnings of paths lead to the documentation.
#[test]
fn the_beginnings_of_paths_lead_to_the_documentation() {
    let app = App::start();
    let nobody = nobody(&app);
    for path in ["/api", "/api/external", "/api/external/", "/api/external/v1", "/api/external/v1/", "/api/external/v2"]
    {
        for method in ["GET", "HEAD"] {
            let response = app.acme.request(method, path, &[], None).expect("a response");
            assert_eq!((response.status, response.header("location")), (302, Some("/api/docs")), "{method} {path}");
        }
        let response = app.acme.request("POST", path, &[], None).expect("a response");
        assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")), "{path}");
        let response = nobody.get(path);
        // Only what is below needs a key.
        assert_eq!(response.status, if path == "/api" { 302 } else { 401 }, "{path}");
    }
    assert_eq!(nobody.get("/api/docs").status, 200);
}

/// Beyond the contract: HEAD is GET without the body.
/// Addition 1.
#[test]
fn head_is_get_without_the_body() {
    let (app, records) = started();
    for endpoint in reads() {
        let get = endpoint.send(&app.acme, &records, &[]);
        let head = app.acme.request("HEAD", &endpoint.target_with_query(&records), &[], None).expect("a response");
        assert_eq!((head.status, head.text()), (200, String::new()), "{}", endpoint.path);
        for header in ["content-type", "content-length", "cache-control"] {
            assert_eq!(head.header(header), get.header(header), "{}: {header}", endpoint.path);
        }
    }
    let nobody = nobody(&app);
    let writer = app.client("acme", &app.key("acme", &["--scope", "write"]));
    for (client, path, status) in [
        (&nobody, "/tracks", 401),
        (&writer, "/tracks", 403),
        (&app.acme, "/nothing", 404),
        (&app.acme, "/feature_requests/99/voters", 404),
        (&app.acme, "/feature_requests/1/upvotes", 405),
        (&app.acme, "/changelogs/99", 404),
        (&app.acme, "/changelogs?page=0", 422),
    ] {
        let head = client.request("HEAD", &format!("/api/external/v1{path}"), &[], None).expect("a response");
        assert_eq!((head.status, head.text()), (status, String::new()), "{path}");
    }
}

/// Decision 1: the base host itself can serve the default workspace.
#[test]
fn a_default_workspace_is_served_at_the_bare_base_host() {
    let app = App::with(&["--default-workspace", "acme"], &[]);
    let other = app.workspace("other");
    let bare = at(&app.acme, BASE_HOST);
    assert_eq!(
        bare.get_setting().json(),
        json!({ "setting": { "product_name": "Acme", "website_url": "https://acme.example" } })
    );
    // Its URLs are those of the base host, whatever host was requested.
    let url = "https://roadmap.example.com/feature_requests/1-dark-mode";
    assert_eq!(bare.feature_request("Dark mode")["url"], url);
    assert_eq!(app.acme.get("/api/external/v1/feature_requests/1").json()["feature_request"]["url"], url);
    assert_eq!(
        bare.get("/api/external/v1/api_key").json()["api_key"]["workspace"]["base_url"],
        "https://roadmap.example.com"
    );
    for (case, client) in [
        ("its own host", &app.acme),
        ("another workspace", &other),
        ("a port", &at(&bare, &format!("{BASE_HOST}:8443"))),
        ("upper case", &at(&bare, &BASE_HOST.to_uppercase())),
    ] {
        assert_eq!(client.get_tracks().status, 200, "{case}");
    }
    for (case, client) in [
        ("another workspace's key", at(&other, BASE_HOST)),
        ("no key", at(&nobody(&app), BASE_HOST)),
        ("an unknown subdomain", app.client("nobody", app.acme.key.as_deref().unwrap())),
        ("a foreign host", at(&app.acme, "example.com")),
    ] {
        assert_rejects(&client.get_tracks(), 401, REFUSED, case);
    }
}

/// Decision 1: the host counts without port and in lower case, and exactly one label is left.
/// Contract 5.
#[test]
fn case_port_and_trailing_dot_of_the_host_are_ignored() {
    let app = App::start();
    for host in [
        "ACME.Roadmap.Example.COM",
        "acme.roadmap.example.com:8443",
        "acme.roadmap.example.com:1",
        "acme.roadmap.example.com.",
        "Acme.roadmap.example.com.:443",
    ] {
        assert_eq!(at(&app.acme, host).get_tracks().status, 200, "{host}");
    }
}

/// Decision 1: a proxy's headers count only with `trust_proxy`, of one family and from `proxy_networks`.
#[test]
fn proxy_headers_are_ignored_by_default() {
    let app = App::start();
    app.workspace("other");
    let (acme, other) = (format!("acme.{BASE_HOST}"), format!("other.{BASE_HOST}"));
    for (name, value) in [
        ("X-Forwarded-Host", acme.clone()),
        ("Forwarded", format!("host={acme}")),
        ("X-Forwarded-Server", acme.clone()),
        ("X-Host", acme.clone()),
    ] {
        let response =
            at(&app.acme, BASE_HOST).request("GET", "/api/external/v1/tracks", &[(name, value.as_str())], None);
        assert_rejects(&response.expect("a response"), 401, REFUSED, &format!("{name}: {value}"));
    }
    for (name, value) in [("X-Forwarded-Host", other.clone()), ("Forwarded", format!("host={other}"))] {
        let response = app.acme.request("GET", "/api/external/v1/tracks", &[(name, value.as_str())], None);
        assert_eq!(response.expect("a response").status, 200, "{name}: {value}");
    }
}

/// Decision 1.
#[test]
fn a_trusted_proxy_reports_the_host_in_the_headers_of_one_family() {
    let inside = "10.0.0.7:8080";
    let (acme, other) = (format!("acme.{BASE_HOST}"), format!("other.{BASE_HOST}"));
    for family in ["x-forwarded", "forwarded"] {
        let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", family)]);
        app.workspace("other");
        for (host, name, value, status) in [
            (inside, "X-Forwarded-Host", acme.clone(), 200),
            (inside, "X-Forwarded-Host", format!("{acme}:443"), 200),
            (inside, "X-Forwarded-Host", format!("evil.example, {acme}"), 200),
            (inside, "X-Forwarded-Host", format!("{acme}, evil.example"), 401),
            (inside, "X-Forwarded-Host", other.clone(), 401),
            (inside, "X-Forwarded-For", acme.clone(), 401),
            (acme.as_str(), "X-Forwarded-Host", other.clone(), 401),
            (acme.as_str(), "X-Forwarded-For", "192.0.2.1".to_owned(), 200),
            (inside, "Forwarded", format!("for=192.0.2.1;host={acme};proto=https"), 200),
            (inside, "Forwarded", format!("for=192.0.2.1; Host=\"{acme}:443\""), 200),
            (inside, "Forwarded", "host=evil.example".to_owned(), 401),
            (acme.as_str(), "Forwarded", format!("host={other}"), 401),
        ] {
            let response =
                at(&app.acme, host).request("GET", "/api/external/v1/tracks", &[(name, value.as_str())], None);
            // The headers that are not trusted are ignored: the host counts.
            let is_chosen = (name == "Forwarded") == (family == "forwarded");
            let status = if is_chosen {
                status
            } else if host == inside {
                401
            } else {
                200
            };
            assert_eq!(response.expect("a response").status, status, "{family}: {host}: {name}: {value}");
        }
        // No header of the proxy: the host counts.
        assert_eq!(app.acme.get_tracks().status, 200);
    }
}

/// Decision 1.
#[test]
fn proxy_headers_from_unnamed_networks_are_ignored() {
    let (acme, other) = (format!("acme.{BASE_HOST}"), format!("other.{BASE_HOST}"));
    for (networks, is_trusted) in [("10.0.0.0/8, ::1", false), ("10.0.0.0/8, 127.0.0.1", true)] {
        let app = App::with(
            &[],
            &[
                ("ROADMAP_TRUST_PROXY", "x-forwarded"),
                ("ROADMAP_PROXY_NETWORKS", networks),
                ("ROADMAP_RATE_LIMIT_FAILURES", "2/h"),
            ],
        );
        app.workspace("other");
        let get = |client: &Client, headers: &[(&str, &str)]| {
            client.request("GET", "/api/external/v1/tracks", headers, None).expect("a response")
        };
        let response = get(&at(&app.acme, "10.0.0.7:8080"), &[("X-Forwarded-Host", acme.as_str())]);
        assert_eq!(response.status, if is_trusted { 200 } else { 401 });
        let response = get(&app.acme, &[("X-Forwarded-Host", other.as_str())]);
        assert_eq!(response.status, if is_trusted { 401 } else { 200 });
        // Without trust, the client address is not taken from headers either, and contradictions are not checked.
        let stranger = app.client("acme", "rmk_wrong");
        get(&stranger, &[]);
        let statuses = [1, 2, 3].map(|number| {
            let address = format!("192.0.2.{number}");
            get(&stranger, &[("X-Forwarded-For", address.as_str())]).status
        });
        assert_eq!(statuses, if is_trusted { [401; 3] } else { [429; 3] });
        let both = [("X-Forwarded-Host", acme.as_str()), ("Forwarded", "host=other.example")];
        assert_eq!(get(&app.acme, &both).status, if is_trusted { 400 } else { 200 });
    }
}

/// Decision 1.
#[test]
fn contradicting_proxy_headers_are_refused() {
    let (acme, other) = (format!("acme.{BASE_HOST}"), format!("other.{BASE_HOST}"));
    let (of_acme, of_other) = (format!("for=192.0.2.1;host={acme}"), format!("for=192.0.2.1;host={other}"));
    for family in ["x-forwarded", "forwarded"] {
        let app = App::with(&[], &[("ROADMAP_TRUST_PROXY", family)]);
        app.workspace("other");
        for headers in [
            [("X-Forwarded-Host", acme.as_str()), ("Forwarded", of_other.as_str())],
            [("X-Forwarded-Host", other.as_str()), ("Forwarded", of_acme.as_str())],
            [("X-Forwarded-For", "192.0.2.2"), ("Forwarded", of_acme.as_str())],
            [("X-Forwarded-For", "192.0.2.1, 192.0.2.2"), ("Forwarded", of_acme.as_str())],
        ] {
            for (client, path) in [
                (&app.acme, "/api/external/v1/tracks"),
                (&nobody(&app), "/api/external/v1/nothing"),
                (&nobody(&app), "/readyz"),
                (&nobody(&app), "/blobs/x/y"),
            ] {
                let response = client.request("GET", path, &headers, None).expect("a response");
                assert_rejects(
                    &response,
                    400,
                    "Forwarded and X-Forwarded-* do not agree",
                    &format!("{path}: {headers:?}"),
                );
            }
            // `/healthz` only reports that the process responds, regardless of headers.
            assert_eq!(nobody(&app).request("GET", "/healthz", &headers, None).expect("a response").status, 200);
        }
        for headers in [
            [("X-Forwarded-Host", acme.as_str()), ("Forwarded", of_acme.as_str())],
            [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", of_acme.as_str())],
            [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=unknown;proto=https")],
        ] {
            let response = app.acme.request("GET", "/api/external/v1/tracks", &headers, None).expect("a response");
            assert_eq!(response.status, 200, "{family}: {headers:?}");
        }
    }
}

/// Decision 1.
#[test]
fn a_key_works_immediately_and_stops_shortly_after_its_revocation() {
    let app = App::start();
    let (id, key) = issued(&app, &[]);
    let client = app.client("acme", &key);
    assert_eq!(client.get_tracks().status, 200);
    let revoked = app.roadmap(&["api-key", "revoke", "--workspace", "acme", &id]).json();
    is_timestamp(&revoked["revoked_at"]);
    eventually("the key no longer works", || client.get_tracks().status == 401);
    assert_rejects(&client.get_tracks(), 401, REFUSED, "revoked");
    assert_eq!(app.acme.get_tracks().status, 200);
}

/// Decision 1: rotation makes a new key at once, and the old one works until the overlap ends.
#[test]
fn rotation_replaces_a_key_without_an_interruption() {
    let app = App::start();
    let (id, old) = issued(&app, &["--scope", "read"]);
    let rotated = app.roadmap(&["api-key", "rotate", "--workspace", "acme", &id]).json();
    let new = text(&rotated["key"]);
    assert_ne!(new, old);
    assert_eq!(rotated["scopes"], json!(["read"]));
    for (case, key) in [("old", &old), ("new", &new)] {
        assert_eq!(app.client("acme", key).get_tracks().status, 200, "{case}");
    }
    is_timestamp(&listed(&app, &id)["expires_at"]);

    let id = text(&rotated["id"]);
    let newest = app.roadmap(&["api-key", "rotate", "--workspace", "acme", &id, "--overlap", "0s"]).json();
    assert_eq!(app.client("acme", &text(&newest["key"])).get_tracks().status, 200);
    eventually("the replaced key no longer works", || app.client("acme", &new).get_tracks().status == 401);
    // The previous key is still in its overlap.
    assert_eq!(app.client("acme", &old).get_tracks().status, 200);
}

/// Decision 1: `last_used_at` is recorded at most once a minute.
#[test]
fn the_last_use_of_a_key_is_listed() {
    let app = App::start();
    let (id, key) = issued(&app, &[]);
    assert_eq!(listed(&app, &id)["last_used_at"], json!(null));
    // A rejected request does not count as use.
    assert_rejects(&app.client("other", &key).get_tracks(), 401, REFUSED, "another workspace");
    assert_eq!(listed(&app, &id)["last_used_at"], json!(null));
    assert_eq!(app.client("acme", &key).get_tracks().status, 200);
    eventually("the use is listed", || !listed(&app, &id)["last_used_at"].is_null());
    is_timestamp(&listed(&app, &id)["last_used_at"]);
}

/// Decision 7: `GET /healthz` needs no key and no workspace host.
#[test]
fn health_is_public_at_any_host() {
    let app = App::start();
    for host in ["", "localhost", "10.0.0.7:8080", BASE_HOST, app.acme.host.as_str(), "nobody.example"] {
        let response = at(&nobody(&app), host).get("/healthz");
        assert_eq!((response.status, response.text()), (200, r#"{"status":"ok"}"#.to_owned()), "{host}");
        assert_eq!(response.header("content-type"), Some("application/json"), "{host}");
        let head = at(&nobody(&app), host).request("HEAD", "/healthz", &[], None).expect("a response");
        assert_eq!((head.status, head.text()), (200, String::new()), "{host}");
    }
    let response = nobody(&app).request("POST", "/healthz", &[], None).expect("a response");
    assert_rejects(&response, 405, "Method not allowed", "POST /healthz");
    assert_eq!(response.header("allow"), Some("GET, HEAD"));
}

/// Decision 2: every response carries `X-Request-Id`.
#[test]
fn every_response_carries_a_request_id() {
    let (app, _) = started();
    let nobody = nobody(&app);
    let (longest, too_long) = ("x".repeat(128), "x".repeat(129));
    let mut seen = BTreeSet::new();
    for (client, method, path, status) in [
        (&app.acme, "GET", "/api/external/v1/tracks", 200),
        (&app.acme, "POST", "/api/external/v1/changelogs", 400),
        (&nobody, "GET", "/api/external/v1/tracks", 401),
        (&app.acme, "GET", "/api/external/v1/nothing", 404),
        (&app.acme, "GET", "/api/external/v1/feature_requests/99/voters", 404),
        (&nobody, "GET", "/nowhere", 404),
        (&app.acme, "DELETE", "/api/external/v1/tracks", 405),
        (&app.acme, "GET", "/api/external/v1/votes", 422),
        (&nobody, "GET", "/healthz", 200),
    ] {
        let case = format!("{method} {path}");
        for _ in 0..2 {
            let response = client.request(method, path, &[], None).expect("a response");
            assert_eq!(response.status, status, "{case}");
            let id = response.header("x-request-id").expect("an id").to_owned();
            assert!(!id.is_empty() && seen.insert(id), "{case}");
        }
        for (sent, is_kept) in [
            ("abc-123", true),
            ("01a1fce0-145f-732f-bf30-cef26d2a8c45", true),
            ("!\"#$%&'()*+,./:;<=>?@[]^_`{|}~", true),
            (longest.as_str(), true),
            (too_long.as_str(), false),
            ("two words", false),
            ("tab\tbed", false),
            ("", false),
        ] {
            let response = client.request(method, path, &[("X-Request-Id", sent)], None).expect("a response");
            let id = response.header("x-request-id").expect("an id");
            assert!(!id.is_empty(), "{case}: {sent}");
            assert_eq!(id == sent, is_kept, "{case}: {sent}");
        }
    }
}

/// Decision 1.
#[test]
fn keys_are_neither_logged_nor_stored() {
    let app = App::with(&["--log", "trace"], &[]);
    let (id, issued) = issued(&app, &[]);
    let rotated = text(&app.roadmap(&["api-key", "rotate", "--workspace", "acme", &id]).json()["key"]);
    let acme = app.acme.key.clone().unwrap();
    let keys = [mistyped(&acme), acme, issued, rotated];
    for key in &keys {
        let client = app.client("acme", key);
        client.get_tracks();
        client.post_feature_request(&json!({ "feature_request": { "title": "Dark mode" } }));
        client.post_feature_request(&json!({ "feature_request": { "title": key.repeat(4) } }));
    }
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).expect("a log");
    assert!(log.contains("status=200") && log.contains("status=401") && log.contains("status=422"), "{log}");
    let files = files_below(app.data_dir());
    assert!(files.iter().any(|file| file.ends_with("server.log")), "{files:?}");
    for file in files {
        let bytes = std::fs::read(&file).expect("its bytes");
        for key in &keys {
            // Without prefix and checksum: even a part of the secret must not be stored.
            let secret = &key.as_bytes()[4..47];
            let is_there = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!is_there, "{} holds a key", file.display());
        }
    }
}
