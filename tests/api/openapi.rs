//! OpenAPI document: its content, its availability, and its use in the validation of responses.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::app::{App, Client, Response};
use crate::document::{COMMITTED, DOCUMENT, Exchange, OWN_PATH, name_of};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Client without an API key at an unknown host.
fn anybody(app: &App) -> Client {
    Client { key: None, host: "203.0.113.7".to_owned(), ..app.acme.clone() }
}

/// Returns all operations: method, path, operation.
fn operations() -> Vec<(String, &'static str, &'static Value)> {
    let paths = DOCUMENT.value["paths"].as_object().expect("paths");
    let operations = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().expect("methods");
        methods.iter().map(move |(method, operation)| (method.clone(), path.as_str(), operation))
    });
    operations.collect()
}

/// Returns a value with all nested values.
fn within(value: &Value) -> Vec<&Value> {
    let inner: Vec<&Value> = match value {
        Value::Object(object) => object.values().collect(),
        Value::Array(array) => array.iter().collect(),
        _ => Vec::new(),
    };
    std::iter::once(value).chain(inner.into_iter().flat_map(within)).collect()
}

/// Beyond the contract: the OpenAPI 3.1 document is public, and equals the committed one.
#[test]
fn the_committed_document_is_served_to_anybody() {
    let app = App::start();
    let anybody = anybody(&app);
    let response = anybody.get(OWN_PATH);
    assert_eq!(response.status, 200);
    assert!(response.text() == COMMITTED, "docs/openapi.json is out of date: run `cargo xtask openapi`");
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=300"),
        ("x-content-type-options", "nosniff"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
    }
    assert!(response.header("x-request-id").is_some_and(|id| !id.is_empty()));

    let tag = response.header("etag").expect("a tag").to_owned();
    let again = anybody.request("GET", OWN_PATH, &[("If-None-Match", &tag)], None).unwrap();
    assert_eq!((again.status, again.text(), again.header("etag")), (304, String::new(), Some(tag.as_str())));
    let changed = anybody.request("GET", OWN_PATH, &[("If-None-Match", "\"another\"")], None).unwrap();
    assert_eq!((changed.status, changed.text()), (200, response.text()));
    let head = anybody.request("HEAD", OWN_PATH, &[], None).unwrap();
    assert_eq!((head.status, head.text(), head.header("etag")), (200, String::new(), Some(tag.as_str())));
    let post = anybody.request("POST", OWN_PATH, &[], None).unwrap();
    post.is_error(405, "Method not allowed");
    assert_eq!((post.header("allow"), post.header("cache-control")), (Some("GET, HEAD"), Some("no-store")));
}

/// Beyond the contract.
#[test]
fn the_command_prints_the_committed_document_and_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        std::process::Command::new(env!("CARGO_BIN_EXE_roadmap")).current_dir(folder.path()).arg("openapi").output();
    let output = command.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == COMMITTED.as_bytes(), "docs/openapi.json is out of date: run `cargo xtask openapi`");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Beyond the contract.
#[test]
fn the_document_is_consistent() {
    let document = &DOCUMENT.value;
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["security"], json!([{ "ApiKey": [] }, { "Bearer": [] }]));
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!((&schemes["ApiKey"]["name"], &schemes["Bearer"]["scheme"]), (&json!("X-Api-Key"), &json!("bearer")));
    for value in within(document) {
        DOCUMENT.resolved(value);
    }
    let ids: BTreeSet<&str> =
        operations().iter().map(|(_, _, operation)| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), operations().len());
    let text = COMMITTED.to_owned();
    for (kind, parts) in document["components"].as_object().unwrap() {
        for name in parts.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            assert!(text.contains(&format!("\"#/components/{kind}/{name}\"")), "{kind} {name} is used nowhere");
        }
    }
    for (method, path, operation) in operations() {
        let case = format!("{method} {path}");
        assert!(METHODS.contains(&method.as_str()), "{case}");
        let statuses: BTreeSet<&str> = operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
        for status in ["401", "403", "406", "429", "500", "503"] {
            assert!(statuses.contains(status), "{case}: {status}");
        }
        let successes = if operation["operationId"] == "createLink" { 2 } else { 1 };
        assert_eq!(statuses.iter().filter(|status| status.starts_with('2')).count(), successes, "{case}");
        for (status, documented) in operation["responses"].as_object().unwrap() {
            let documented = DOCUMENT.resolved(documented);
            assert_eq!(documented["headers"]["X-Request-Id"]["$ref"], "#/components/headers/RequestId", "{case}");
            if status == "204" {
                assert_eq!((documented.get("content"), method.as_str()), (None, "delete"), "{case}");
                continue;
            }
            let schema = name_of(&documented["content"]["application/json"]["schema"]);
            assert_eq!(document["components"]["schemas"][schema]["additionalProperties"], false, "{case}: {schema}");
        }
        for name in path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')) {
            let parameters = operation["parameters"].as_array().unwrap().iter();
            let mut parameters = parameters.filter(|parameter| parameter["in"] == "path" && parameter["name"] == name);
            assert_eq!(parameters.next().unwrap()["required"], true, "{case}");
        }
    }
}

/// Beyond the contract.
#[test]
fn every_example_matches_its_schema() {
    let mut checked = 0;
    for (method, path, operation) in operations() {
        let Some(content) = operation["requestBody"]["content"].get("application/json") else { continue };
        let errors = DOCUMENT.errors_of_body(name_of(&content["schema"]), &content["example"]);
        assert_eq!(errors, "", "{method} {path}");
        checked += 1;
    }
    assert_eq!(checked, 42);
    for documented in DOCUMENT.value["components"]["responses"].as_object().unwrap().values() {
        let examples = documented["content"]["application/json"]["examples"].as_object();
        for example in examples.into_iter().flat_map(|examples| examples.values()) {
            assert_eq!(DOCUMENT.errors_of_body("Error", &example["value"]), "");
        }
    }
}

/// Beyond the contract.
#[test]
fn rules_between_fields_are_checked() {
    let (customer, note) = (json!({ "email": "ann@example.com" }), json!({ "body": "A note" }));
    let comment = json!({ "content": "Soon" });
    for (schema, body, is_valid) in [
        ("CreateUpvote", json!({ "customer": customer }), true),
        ("CreateUpvote", json!({ "customer": customer, "reference_note": note }), true),
        ("CreateUpvote", json!({ "customer": null, "reference_note": null }), false),
        ("CreateUpvote", json!({}), false),
        ("CreateComment", json!({ "comment": comment, "author_email": "olga@acme.example" }), true),
        ("CreateComment", json!({ "comment": comment, "customer": customer, "author_email": " " }), true),
        ("CreateComment", json!({ "comment": comment, "customer": customer, "author_email": "o@a.example" }), false),
        ("CreateComment", json!({ "comment": comment, "customer": customer, "notify_all_voters": true }), false),
        ("NewChangelog", json!({ "title": "t", "content": "c", "publish": true, "publish_at": null }), true),
        ("NewChangelog", json!({ "title": "t", "content": "c", "publish_at": "2100-01-01T00:00:00Z" }), true),
        (
            "NewChangelog",
            json!({ "title": "t", "content": "c", "publish": true, "publish_at": "2100-01-01T00:00:00Z" }),
            false,
        ),
    ] {
        assert_eq!(DOCUMENT.errors_of_body(schema, &body).is_empty(), is_valid, "{schema}: {body}");
    }
}

/// Returns the validation error of a modified response.
fn problem_of(response: &Response, method: &str, path: &str, change: impl FnOnce(&mut Response)) -> String {
    let mut changed = response.clone();
    change(&mut changed);
    DOCUMENT.problem(&Exchange { method, path, body: None, response: &changed }).expect_err("a problem")
}

fn with_body(response: &mut Response, change: impl FnOnce(&mut Value)) {
    let mut body = response.json();
    change(&mut body);
    response.bytes = body.to_string().into_bytes();
}

/// Beyond the contract: every response conforms to the document, also in `cargo xtask fuzz-api`.
#[test]
fn a_response_that_violates_the_document_is_detected() {
    let app = App::start();
    let path = "/api/external/v1/tracks";
    let good = app.acme.get(path);
    let problem = |change: fn(&mut Response)| problem_of(&good, "GET", path, change);
    for (change, expected) in [
        (
            (|response| with_body(response, |body| body["more"] = json!(1))) as fn(&mut Response),
            "it is not a valid Tracks: ",
        ),
        (|response| with_body(response, |body| body["tracks"][0]["more"] = json!(1)), "it is not a valid Tracks: "),
        (|response| with_body(response, |body| body["tracks"][0]["id"] = json!("1")), "it is not a valid Tracks: "),
        (|response| with_body(response, |body| body["tracks"][0]["name"] = json!(null)), "it is not a valid Tracks: "),
        (
            |response| {
                with_body(response, |body| {
                    body["tracks"][0].as_object_mut().unwrap().remove("status");
                });
            },
            "it is not a valid Tracks: ",
        ),
        (|response| response.bytes = b"{".to_vec(), "it is not JSON: "),
        (|response| response.status = 204, "the document has no such status for GET /api/external/v1/tracks"),
        (|response| response.status = 422, "the document has no such status for GET /api/external/v1/tracks"),
        (|response| response.status = 401, "it is not a valid Error: "),
        (
            |response| {
                response.headers.remove("x-request-id");
            },
            "it has no header X-Request-Id",
        ),
        (
            |response| {
                response.headers.insert("content-type", "text/html".parse().unwrap());
            },
            "it is Some(\"text/html\") and not application/json",
        ),
        (
            |response| {
                response.headers.insert("cache-control", "public".parse().unwrap());
            },
            "its header Cache-Control is wrong: ",
        ),
        (
            |response| {
                response.headers.insert("retry-after", "1".parse().unwrap());
            },
            "the document has no header Retry-After there",
        ),
    ] {
        let problem_text = problem(change);
        assert!(problem_text.starts_with(expected), "{problem_text}");
    }
    assert_eq!(
        problem_of(&good, "GET", "/api/external/v1/nothing", |_| {}),
        "the document has no such operation",
        "an unknown path"
    );
    assert!(
        problem_of(&good, "DELETE", path, |response| response.status = 405).starts_with("it is not a valid Error: ")
    );
    assert_eq!(problem_of(&good, "HEAD", path, |_| {}), "a response to HEAD has no body");

    // A request body that the service accepted although the document does not allow it.
    let path = "/api/external/v1/feature_requests";
    let accepted = app.acme.post_feature_request(&json!({ "feature_request": { "title": "Dark mode" } }));
    let body = json!({ "feature_request": { "title": " " } }).to_string();
    let exchange = Exchange { method: "POST", path, body: Some(body.as_bytes()), response: &accepted };
    let problem_text = DOCUMENT.problem(&exchange).unwrap_err();
    assert!(problem_text.starts_with("the document does not allow its body: "), "{problem_text}");
}

/// Beyond the contract.
#[test]
#[should_panic(expected = "GET /api/external/v1/tracks returned 200, but it has no header")]
fn every_request_of_the_tests_is_checked() {
    // A server with an undocumented response.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        assert!(stream.read(&mut head).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}").unwrap();
    });
    Client { port, host: "acme".to_owned(), key: None }.get_tracks();
}

/// Beyond the contract: the page of the API shows every operation and loads nothing.
#[test]
fn the_page_shows_every_operation_and_loads_nothing() {
    let app = App::start();
    let response = anybody(&app).get("/api/docs");
    let page = response.text();
    assert_eq!(response.status, 200);
    for (_, path, operation) in operations() {
        let id = operation["operationId"].as_str().unwrap();
        for part in [format!("<article id=\"{id}\">"), format!("href=\"#{id}\""), format!("<code>{path}</code>")] {
            assert!(page.contains(&part), "{part}");
        }
        assert_eq!(page.matches(&format!("<article id=\"{id}\">")).count(), 1, "{id}");
        for status in operation["responses"].as_object().unwrap().keys() {
            assert!(page.contains(&format!("<td>{status}</td>")), "{status}");
        }
    }
    for name in DOCUMENT.value["components"]["schemas"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("<article id=\"schema-{name}\">")), "{name}");
    }
    for part in [
        "<tr><td><code>email</code> <b>required</b></td><td>query</td>",
        "<tr><td><code>page</code></td><td>query</td>",
        "<tr><td><code>X-Request-Id</code></td><td>header</td>",
        "<tr><td><code>publish</code></td>",
        "The author and first voter.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The page only links to its own anchors and to paths of the same host.
    let references = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut own_paths: BTreeSet<&str> = BTreeSet::new();
    for reference in references {
        match reference.strip_prefix('#') {
            Some(place) => assert!(page.contains(&format!("id=\"{place}\"")), "{reference}"),
            None => {
                own_paths.insert(reference);
            }
        }
    }
    assert_eq!(own_paths, [OWN_PATH].into());
    for loading in ["<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "style=", "<base", "http-equiv"] {
        assert!(!page.contains(loading), "{loading}");
    }
    let (_, style) = page.split_once("<style>").expect("a style");
    let (style, _) = style.split_once("</style>").expect("its end");
    let style = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    );
    for (name, value) in [
        ("content-security-policy", policy.as_str()),
        ("content-type", "text/html; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "public, max-age=300"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(response.header(name), Some(value), "{name}");
    }
    let head = anybody(&app).request("HEAD", "/api/docs", &[], None).unwrap();
    assert_eq!((head.status, head.text()), (200, String::new()));
    anybody(&app).request("POST", "/api/docs", &[], None).unwrap().is_error(405, "Method not allowed");
}
