//! Invalid input: it is rejected in the common format of errors and has no effect.

use serde_json::{Value, json};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::app::{App, Client, Response, has_keys};
use crate::endpoints::{Endpoint, reads};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const UNKNOWN_REQUEST: &str = "FeatureRequest does not exist.";
const MALFORMED: &str = "Request body is not valid JSON";
const TOO_LARGE: &str = "Request body must not be larger than 1 MB";

/// Highest allowed size of a body.
const LARGEST: usize = 1024 * 1024;

/// Every field of every request body: the endpoint's path, the JSON pointer and the required type.
const FIELDS: [(&str, &str, &str); 42] = [
    ("/setting", "/setting", "an object"),
    ("/setting", "/setting/product_name", "a string"),
    ("/setting", "/setting/website_url", "a string"),
    ("/synonyms", "/synonyms", "a list"),
    ("/synonyms", "/synonyms/0", "a list"),
    ("/synonyms", "/synonyms/0/0", "a string"),
    ("/synonyms", "/synonyms/0/1", "a string"),
    ("/synonyms", "/operation_key", "a string"),
    ("/feature_requests", "/feature_request", "an object"),
    ("/feature_requests", "/feature_request/title", "a string"),
    ("/feature_requests", "/feature_request/description", "a string"),
    ("/feature_requests", "/feature_request/tags", "a list"),
    ("/feature_requests", "/feature_request/tags/0", "a string"),
    ("/feature_requests", "/feature_request/track_id", "a string"),
    ("/feature_requests", "/feature_request/private", "a boolean"),
    ("/feature_requests", "/customer", "an object"),
    ("/feature_requests", "/customer/email", "a string"),
    ("/feature_requests", "/customer/name", "a string"),
    ("/feature_requests", "/reference_note", "an object"),
    ("/feature_requests", "/reference_note/body", "a string"),
    ("/feature_requests", "/reference_note/author_email", "a string"),
    ("/feature_requests", "/operation_key", "a string"),
    ("/feature_requests/1/upvotes", "/customer", "an object"),
    ("/feature_requests/1/upvotes", "/customer/email", "a string"),
    ("/feature_requests/1/upvotes", "/customer/name", "a string"),
    ("/feature_requests/1/upvotes", "/reference_note", "an object"),
    ("/feature_requests/1/upvotes", "/reference_note/body", "a string"),
    ("/feature_requests/1/upvotes", "/reference_note/author_email", "a string"),
    ("/feature_requests/1/upvotes", "/operation_key", "a string"),
    ("/feature_requests/1/comments", "/comment", "an object"),
    ("/feature_requests/1/comments", "/comment/content", "a string"),
    ("/feature_requests/1/comments", "/author_email", "a string"),
    ("/feature_requests/1/comments", "/notify_all_voters", "a boolean"),
    ("/feature_requests/1/comments", "/operation_key", "a string"),
    ("/feature_requests/1/track", "/track_id", "a string"),
    ("/feature_requests/1/track", "/operation_key", "a string"),
    ("/changelogs", "/changelog", "an object"),
    ("/changelogs", "/changelog/title", "a string"),
    ("/changelogs", "/changelog/content", "a string"),
    ("/changelogs", "/changelog/cover_image_signed_id", "a string"),
    ("/changelogs", "/changelog/publish", "a boolean"),
    ("/changelogs", "/operation_key", "a string"),
];

/// Valid write with all of its fields.
pub struct Write {
    pub method: &'static str,
    pub path: &'static str,
    pub body: Value,
}

impl Write {
    /// Sends other bytes instead of the body.
    pub fn send(&self, client: &Client, body: &[u8]) -> Response {
        self.send_with(client, &JSON, body)
    }

    fn send_with(&self, client: &Client, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let path = format!("/api/external/v1{}", self.path);
        client.request(self.method, &path, headers, Some(body)).expect("a response")
    }

    /// Body with the value at a JSON pointer replaced.
    fn with(&self, pointer: &str, value: Value) -> Vec<u8> {
        let mut body = self.body.clone();
        *body.pointer_mut(pointer).expect("the field") = value;
        body.to_string().into_bytes()
    }

    /// Body padded to a length by an unknown field.
    fn padded(&self, length: usize) -> Vec<u8> {
        let body = |padding: usize| {
            let mut body = self.body.clone();
            body["padding"] = json!("x".repeat(padding));
            body.to_string().into_bytes()
        };
        body(length - body(0).len())
    }
}

/// Starts a service with the feature request 1. Returns it with every write.
pub fn started() -> (App, [Write; 8]) {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let track = app.track("Planned");
    let setting = json!({ "setting": { "product_name": "Acme", "website_url": "https://acme.example" } });
    let customer = json!({ "email": "ann@example.com", "name": "Ann" });
    let note = json!({ "body": "Wants it", "author_email": "olga@acme.example" });
    let writes = [
        Write { method: "PATCH", path: "/setting", body: setting.clone() },
        Write { method: "PUT", path: "/setting", body: setting },
        Write {
            method: "PUT",
            path: "/synonyms",
            body: json!({ "synonyms": [["2fa", "mfa"]], "operation_key": null }),
        },
        Write {
            method: "POST",
            path: "/feature_requests",
            body: json!({
                "feature_request": {
                    "title": "Night mode",
                    "description": "Dark, but darker",
                    "tags": ["ui"],
                    "track_id": track,
                    "private": false,
                },
                "customer": customer,
                "reference_note": note,
                "operation_key": null,
            }),
        },
        Write {
            method: "POST",
            path: "/feature_requests/1/upvotes",
            body: json!({ "customer": customer, "reference_note": note, "operation_key": null }),
        },
        Write {
            method: "POST",
            path: "/feature_requests/1/comments",
            body: json!({
                "comment": { "content": "Soon" },
                "author_email": "olga@acme.example",
                "notify_all_voters": false,
                "operation_key": null,
            }),
        },
        Write {
            method: "PATCH",
            path: "/feature_requests/1/track",
            body: json!({ "track_id": track, "operation_key": null }),
        },
        Write {
            method: "POST",
            path: "/changelogs",
            body: json!({
                "changelog": { "title": "1.2", "content": "New", "cover_image_signed_id": null, "publish": false },
                "operation_key": null,
            }),
        },
    ];
    (app, writes)
}

/// Asserts a client error in the common format of errors. Returns its message.
#[track_caller]
fn message(response: &Response, case: &str) -> String {
    assert!((400..=499).contains(&response.status), "{case}: {} {}", response.status, response.text());
    assert_eq!(response.header("content-type"), Some("application/json"), "{case}");
    assert!(response.header("x-request-id").is_some_and(|id| !id.is_empty()), "{case}");
    let body = response.json();
    has_keys(&body, &["error"]);
    let message = body["error"].as_str().expect("a sentence").to_owned();
    assert!(!message.is_empty(), "{case}");
    message
}

/// Asserts the status and the whole body of an error.
#[track_caller]
fn assert_rejects(response: &Response, status: u16, sentence: &str, case: &str) {
    let message = message(response, case);
    assert_eq!((response.status, message.as_str()), (status, sentence), "{case}");
}

/// Asserts that the service still works and has logged no failure.
#[track_caller]
fn assert_still_serves(app: &App) {
    assert_eq!(app.acme.get_tracks().status, 200);
    app.has_logged_no_failure();
}

/// Counts the records that writes add to.
fn records(app: &App) -> [i64; 6] {
    ["feature_requests", "customers", "votes", "notes", "comments", "changelogs"]
        .map(|table| app.count(&format!("SELECT count(*) FROM {table}")))
}

/// Returns the field name at the end of a JSON pointer.
fn leaf(pointer: &str) -> &str {
    pointer.rsplit('/').find(|part| part.parse::<usize>().is_err()).expect("a name")
}

/// Percent-encodes a text for a query string.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(byte).collect()
}

/// Target of a read with this parameter and the required ones.
fn target(read: &Endpoint, parameter: &str, value: &str) -> String {
    let path = if read.required() == [parameter] { read.target() } else { read.target_with_query() };
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}{parameter}={value}")
}

/// Parses the bytes of a response.
fn parsed(bytes: &[u8]) -> Response {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let mut headers = HeaderMap::new();
    for (name, value) in head.lines().skip(1).filter_map(|line| line.split_once(':')) {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        headers.insert(name, HeaderValue::from_str(value.trim()).expect("a value"));
    }
    Response { status, headers, bytes: bytes[end + 4..].to_vec() }
}

/// Start of a raw request head.
fn head(client: &Client, method: &str, target: &str) -> String {
    let key = client.key.as_deref().unwrap_or_default();
    format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {key}\r\nConnection: close\r\n", client.host)
}

/// Encodes a body with chunked transfer coding.
fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(64 * 1024) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn a_body_that_is_no_json_object_is_refused() {
    let (app, writes) = started();
    let before = records(&app);
    let objects = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let lists = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let open = "{\"a\":".repeat(100_000);
    for (case, body) in [
        ("nothing", &b""[..]),
        ("white space", b" \n"),
        ("null", b"null"),
        ("a list", b"[]"),
        ("a list of an object", b"[{}]"),
        ("a string", b"\"x\""),
        ("a number", b"1"),
        ("a boolean", b"true"),
        ("an open object", b"{"),
        ("an open string", b"{\"a"),
        ("no value", b"{\"a\":}"),
        ("no name", b"{:1}"),
        ("single quotes", b"{'a':1}"),
        ("no quotes", b"{a:1}"),
        ("a comma at the end", b"{\"a\":1,}"),
        ("text behind it", b"{\"a\":1} x"),
        ("two objects", b"{}{}"),
        ("a comment", b"{}/**/"),
        ("a byte order mark", b"\xef\xbb\xbf{}"),
        ("a NUL byte", b"\0"),
        ("a NUL byte behind it", b"{}\0"),
        ("invalid UTF-8", b"{\"a\":\"\xff\"}"),
        ("an overlong NUL", b"{\"a\":\"\xc0\x80\"}"),
        ("a surrogate in UTF-8", b"{\"a\":\"\xed\xa0\x80\"}"),
        ("UTF-16", b"\xff\xfe{\0}\0"),
        ("a lone surrogate", b"{\"a\":\"\\ud800\"}"),
        ("the wrong half of a pair", b"{\"a\":\"\\udc00\\ud800\"}"),
        ("a lone surrogate in a name", b"{\"\\ud800\":1}"),
        ("an unknown escape", b"{\"a\":\"\\x41\"}"),
        ("a line break in a string", b"{\"a\":\"\n\"}"),
        ("a number beyond all", b"{\"a\":1e400}"),
        ("a number with a leading zero", b"{\"a\":01}"),
        ("no number", b"{\"a\":NaN}"),
        ("infinity", b"{\"a\":-Infinity}"),
        ("a form", b"comment[content]=x"),
        ("objects, 5,000 deep", objects.as_bytes()),
        ("lists in an object, 5,000 deep", lists.as_bytes()),
        ("objects without an end", open.as_bytes()),
    ] {
        for write in &writes {
            let case = format!("{} {}: {case}", write.method, write.path);
            assert_rejects(&write.send(&app.acme, body), 400, MALFORMED, &case);
        }
    }
    assert_eq!(records(&app), before);
    assert_still_serves(&app);
}

#[test]
fn all_json_syntax_is_accepted() {
    let (app, _) = started();
    for (body, title) in [
        (" \r\n\t{\"feature_request\":{\"title\":\"Space\"}} \n", "Space"),
        (r#"{"feature_request":{"title":"\u0041\ud83d\ude00\/"}}"#, "A😀/"),
        (r#"{"feature_request":{"title":"Unknown","colour":"red"},"size":1e300}"#, "Unknown"),
        (r#"{"feature_request":{"title":"Deep"},"a":[[[[[[[[[[{"b":{"c":{}}}]]]]]]]]]]}"#, "Deep"),
        // The last of duplicate names counts, as in most JSON parsers.
        (r#"{"feature_request":{"title":"First","title":"Second"}}"#, "Second"),
        (r#"{"feature_request":{"title":"First"},"feature_request":{"title":"Second"}}"#, "Second"),
        (r#"{"feature_request":5,"feature_request":{"title":5,"title":"Third"}}"#, "Third"),
    ] {
        let response = app.acme.request("POST", "/api/external/v1/feature_requests", &JSON, Some(body.as_bytes()));
        let response = response.expect("a response");
        assert_eq!((response.status, &response.json()["feature_request"]["title"]), (201, &json!(title)), "{body}");
    }
    let body = r#"{"feature_request":{"title":"First","title":" "}}"#;
    let response = app.acme.request("POST", "/api/external/v1/feature_requests", &JSON, Some(body.as_bytes()));
    assert_rejects(
        &response.expect("a response"),
        422,
        "param is missing or the value is empty or invalid: title",
        body,
    );
    let body = r#"{"comment":{"content":"one"},"operation_key":"first","operation_key":"second"}"#;
    let path = "/api/external/v1/feature_requests/1/comments";
    assert_eq!(app.acme.request("POST", path, &JSON, Some(body.as_bytes())).expect("a response").status, 201);
    assert_eq!(app.sql("SELECT operation_key FROM operations"), ["second"]);
    assert_still_serves(&app);
}

#[test]
fn a_body_of_more_than_a_megabyte_is_refused() {
    let (app, writes) = started();
    let before = records(&app);
    for write in &writes {
        for (case, body) in [
            ("two megabytes", write.padded(2 * LARGEST)),
            ("a byte too many", write.padded(LARGEST + 1)),
            ("two megabytes of nothing", vec![b' '; 2 * LARGEST]),
        ] {
            let case = format!("{} {}: {case}", write.method, write.path);
            assert_rejects(&write.send(&app.acme, &body), 413, TOO_LARGE, &case);
        }
        // The length of a chunked body is unknown before its end.
        let mut request = head(&app.acme, write.method, &format!("/api/external/v1{}", write.path)).into_bytes();
        request.extend_from_slice(b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        request.extend(chunked(&write.padded(2 * LARGEST)));
        let case = format!("{} {}: in chunks", write.method, write.path);
        assert_rejects(&parsed(&app.acme.raw(&request)), 413, TOO_LARGE, &case);
    }
    assert_eq!(records(&app), before);
    assert_still_serves(&app);
}

#[test]
fn a_body_of_a_megabyte_is_not_too_large() {
    let (app, writes) = started();
    for write in &writes {
        let status = if write.method == "POST" { 201 } else { 200 };
        for (case, length) in [("just under a megabyte", LARGEST - 1), ("a megabyte", LARGEST)] {
            let response = write.send(&app.acme, &write.padded(length));
            assert_eq!(response.status, status, "{} {}: {case}", write.method, write.path);
        }
        let mut request = head(&app.acme, write.method, &format!("/api/external/v1{}", write.path)).into_bytes();
        request.extend_from_slice(b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        request.extend(chunked(&write.padded(LARGEST)));
        let response = parsed(&app.acme.raw(&request));
        assert_eq!(response.status, status, "{} {}: in chunks", write.method, write.path);
    }
    assert_still_serves(&app);
}

#[test]
fn the_table_of_fields_is_complete() {
    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        let inside: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
            _ => Vec::new(),
        };
        for (name, value) in inside {
            let pointer = format!("{at}/{name}");
            pointers(value, &pointer, found);
            found.push(pointer);
        }
    }
    let (_, writes) = started();
    for write in &writes {
        let mut found = Vec::new();
        pointers(&write.body, "", &mut found);
        let listed = FIELDS.iter().filter(|(path, ..)| *path == write.path);
        let mut listed: Vec<String> = listed.map(|(_, pointer, _)| (*pointer).to_owned()).collect();
        found.sort();
        listed.sort();
        assert_eq!(listed, found, "{}", write.path);
    }
}

#[test]
fn a_field_of_another_type_is_rejected_by_name() {
    let (app, writes) = started();
    let before = records(&app);
    let values = [
        ("a string", json!("x")),
        ("a string", json!("")),
        ("a number", json!(0)),
        ("a number", json!(-1.5)),
        ("a number", json!(18_446_744_073_709_551_615_u64)),
        ("a boolean", json!(true)),
        ("a boolean", json!(false)),
        ("a list", json!([])),
        ("a list", json!(["x"])),
        ("an object", json!({})),
        ("an object", json!({ "email": "ann@example.com" })),
    ];
    for write in &writes {
        for (_, pointer, expected) in FIELDS.iter().filter(|(path, ..)| *path == write.path) {
            for (_, value) in values.iter().filter(|(kind, _)| kind != expected) {
                let response = write.send(&app.acme, &write.with(pointer, value.clone()));
                let case = format!("{} {}: {pointer} = {value}", write.method, write.path);
                assert_rejects(&response, 422, &format!("{} must be {expected}", leaf(pointer)), &case);
            }
        }
    }
    assert_eq!(records(&app), before);
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
    assert_still_serves(&app);
}

#[test]
fn null_is_the_same_as_an_absent_field() {
    let (app, writes) = started();
    let missing = |field: &str| Some(format!("param is missing or the value is empty or invalid: {field}"));
    for write in &writes {
        for (path, pointer, _) in FIELDS.iter().filter(|(path, ..)| *path == write.path) {
            let response = write.send(&app.acme, &write.with(pointer, json!(null)));
            let refusal = match (*path, *pointer) {
                ("/setting", "/setting/product_name") => Some("Product name can't be blank".to_owned()),
                ("/setting", "/setting/website_url") => Some("Website URL is invalid".to_owned()),
                ("/setting", "/setting") => missing("setting"),
                ("/synonyms", "/synonyms") => missing("synonyms"),
                (_, "/synonyms/0") => Some("synonyms must be a list".to_owned()),
                (_, "/synonyms/0/0" | "/synonyms/0/1") => Some("synonyms must be a string".to_owned()),
                (_, "/feature_request") => missing("feature_request"),
                (_, "/feature_request/title") => missing("title"),
                // Null elements of a list are invalid, not missing.
                (_, "/feature_request/tags/0") => Some("tags must be a string".to_owned()),
                (_, "/customer/email") => missing("email"),
                (_, "/reference_note/body") => missing("body"),
                (_, "/comment" | "/comment/content" | "/changelog/content") => missing("content"),
                (_, "/track_id") => missing("track_id"),
                (_, "/changelog") => missing("changelog"),
                (_, "/changelog/title") => missing("title"),
                _ => None,
            };
            let case = format!("{} {}: {pointer}", write.method, write.path);
            match refusal {
                Some(sentence) => assert_rejects(&response, 422, &sentence, &case),
                None => assert!(matches!(response.status, 200 | 201), "{case}: {}", response.text()),
            }
        }
    }
    assert_still_serves(&app);
}

#[test]
fn a_nul_character_is_refused_in_every_text() {
    let (app, writes) = started();
    let before = records(&app);
    for write in &writes {
        let texts = FIELDS.iter().filter(|(path, _, expected)| *path == write.path && *expected == "a string");
        for (_, pointer, _) in texts {
            let field = leaf(pointer);
            let sentence = match field {
                "website_url" => "Website URL is invalid".to_owned(),
                "track_id" => "track_id is not a valid UUID".to_owned(),
                "cover_image_signed_id" => "Cover image is invalid".to_owned(),
                "synonyms" => "group 1 of synonyms has a phrase with the NUL character".to_owned(),
                field => format!("{field} must not contain the NUL character"),
            };
            for value in ["\0", "a\0b", "\0https://acme.example", "ann@example.com\0", "https://acme\0.example"] {
                let response = write.send(&app.acme, &write.with(pointer, json!(value)));
                let case = format!("{} {}: {pointer} = {value:?}", write.method, write.path);
                assert_rejects(&response, 422, &sentence, &case);
            }
        }
    }
    assert_eq!(records(&app), before);
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
    assert_still_serves(&app);
}

#[test]
fn only_plain_json_is_accepted_and_returned() {
    let (app, writes) = started();
    let before = records(&app);
    for write in &writes {
        let body = write.body.to_string();
        for (status, sentence, name, value) in [
            (415, "Content-Type must be application/json", "Content-Type", "text/plain"),
            (415, "Content-Type must be application/json", "Content-Type", "text/json"),
            (415, "Content-Type must be application/json", "Content-Type", "application/xml"),
            (415, "Content-Type must be application/json", "Content-Type", "application/x-www-form-urlencoded"),
            (415, "Content-Type must be application/json", "Content-Type", "multipart/form-data; boundary=x"),
            (415, "Content-Type must be application/json", "Content-Type", "application/json; charset=utf-16"),
            (415, "Content-Type must be application/json", "Content-Type", "application/jsonp"),
            (415, "Content-Type must be application/json", "Content-Type", "*/*"),
            (415, "Content-Type must be application/json", "Content-Type", "json"),
            (415, "Content-Type must be application/json", "Content-Type", ""),
            (415, "Content-Type must be application/json", "Content-Encoding", "gzip"),
            (415, "Content-Type must be application/json", "Content-Encoding", "br"),
            (415, "Content-Type must be application/json", "Content-Encoding", "deflate, gzip"),
            (406, "Accept must allow application/json", "Accept", "text/html"),
            (406, "Accept must allow application/json", "Accept", "application/xml, text/*;q=0.5"),
            (406, "Accept must allow application/json", "Accept", "application/json;q=0"),
            (406, "Accept must allow application/json", "Accept", "application/json;q=0, */*"),
            (406, "Accept must allow application/json", "Accept", "nonsense"),
        ] {
            let given = [(name, value)];
            let json: &[(&str, &str)] = if name == "Content-Type" { &[] } else { &JSON };
            let response = write.send_with(&app.acme, &[json, &given].concat(), body.as_bytes());
            assert_rejects(&response, status, sentence, &format!("{} {}: {name}: {value}", write.method, write.path));
        }
    }
    assert_eq!(records(&app), before);
    for read in reads() {
        let path = read.target_with_query();
        for value in ["text/html", "image/*", "application/json;q=0", "nonsense"] {
            let response = app.acme.request("GET", &path, &[("Accept", value)], None).expect("a response");
            assert_rejects(&response, 406, "Accept must allow application/json", &format!("GET {path}: {value}"));
        }
        for value in ["application/json", "*/*", "application/*", "text/html, */*;q=0.1", ""] {
            let response = app.acme.request("GET", &path, &[("Accept", value)], None).expect("a response");
            assert_eq!(response.status, 200, "GET {path}: {value}");
        }
    }
    for write in &writes {
        let status = if write.method == "POST" { 201 } else { 200 };
        let variants: [&[(&str, &str)]; 4] = [
            &[],
            &[("Content-Type", "application/json; charset=UTF-8")],
            &[("Content-Type", "APPLICATION/JSON")],
            &[("Content-Encoding", "identity")],
        ];
        for headers in variants {
            let response = write.send_with(&app.acme, headers, write.body.to_string().as_bytes());
            assert_eq!(response.status, status, "{} {}: {headers:?}", write.method, write.path);
        }
    }
    assert_still_serves(&app);
}

#[test]
fn numbers_of_pages_and_items_are_positive_integers() {
    let (app, _) = started();
    let values = concat!(
        "0 00 -1 %2B1 +1 %201 1%20 1.0 1.5 1,000 1e3 0x10 1_0 x null true NaN [] %5B1%5D %7B%7D ",
        "%D9%A1 %EF%BC%91 %C2%B2 %00 1%00 1' 1;drop 1-- %25 %zz %",
    );
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in parameters.iter().filter(|parameter| parameter.contains("page")) {
            for value in values.split(' ').chain([""]) {
                let response = app.acme.get(&target(&read, parameter, value));
                let case = format!("{path}: {parameter}={value}");
                assert_rejects(&response, 422, &format!("{parameter} must be an integer of at least 1"), &case);
            }
            let nines = "9".repeat(50);
            for value in ["1", "001", "%31", "100", "101", "4294967296", "9223372036854775807", "9223372036854775808"]
                .into_iter()
                .chain(["18446744073709551615", "18446744073709551616", nines.as_str()])
            {
                let response = app.acme.get(&target(&read, parameter, value));
                assert_eq!(response.status, 200, "{path}: {parameter}={value}: {}", response.text());
            }
        }
    }
    for (query, page, size) in [
        ("page=9223372036854775807", 9_223_372_036_854_775_807_u64, 25),
        ("page=9223372036854775807&page_size=100", 9_223_372_036_854_775_807, 100),
        ("page_size=9223372036854775807", 1, 100),
        ("page_size=101", 1, 100),
        // The last of duplicate parameters counts.
        ("page=7&page=2", 2, 25),
        ("page_size=x&page_size=3", 1, 3),
        ("%70age=2", 2, 25),
        ("page[]=2&Page=3&page%20=4&page%00=5", 1, 25),
    ] {
        assert_eq!(
            app.acme.get_changelogs(query).json(),
            json!({ "changelogs": [], "page": page, "page_size": size, "total_count": 0, "total_pages": 1 }),
            "{query}"
        );
    }
    let twice = app.acme.get_changelogs("page_size=3&page_size=x");
    assert_rejects(&twice, 422, "page_size must be an integer of at least 1", "the last one is bad");
    let twice = app.acme.get_feature_requests("query=zebra&query=dark").json();
    assert_eq!(twice["feature_requests"][0]["title"], "Dark mode");
    assert_still_serves(&app);
}

#[test]
fn a_query_string_with_invalid_text_is_rejected() {
    let (app, _) = started();
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in &parameters {
            for value in ["%ff", "a%ff", "%c3%28", "%c0%80", "%ed%a0%80", "%f4%90%80%80", "%e2%82"] {
                let case = format!("{path}: {parameter}={value}");
                let response = app.acme.get(&target(&read, parameter, value));
                assert_rejects(&response, 422, &format!("{parameter} is not valid UTF-8"), &case);
            }
        }
        for parameter in parameters.iter().filter(|parameter| !parameter.contains("page")) {
            for value in ["%00", "a%00b", "ann@example.com%00"] {
                let case = format!("{path}: {parameter}={value}");
                let response = app.acme.get(&target(&read, parameter, value));
                assert_rejects(&response, 422, &format!("{parameter} must not contain the NUL character"), &case);
            }
        }
        // Unknown parameters are ignored, and so are separators without names.
        for query in
            ["x=%00", "x", "=", "&&&", "=&=", "%26=%3D", "%zz=%", "page%00=x", "x[]=1&x[a]=2", "email=a@b.co&?"]
        {
            let (target, needed) = (read.target(), read.target_with_query());
            let needed = needed.split_once('?').map_or(String::new(), |(_, needed)| format!("&{needed}"));
            let response = app.acme.get(&format!("{target}?{query}{needed}"));
            assert_eq!(response.status, 200, "{path}?{query}: {}", response.text());
        }
    }
    assert_still_serves(&app);
}

#[test]
fn query_strings_of_64_kilobytes_do_no_harm() {
    let (app, _) = started();
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in &parameters {
            let sentence = match *parameter {
                "email" => "email must be at most 254 characters long".to_owned(),
                "query" | "title" => format!("{parameter} must be at most 1000 characters long"),
                parameter => format!("{parameter} must be an integer of at least 1"),
            };
            for sign in ["x", "%20x", "%C3%BC", "%F0%9F%98%80"] {
                let response = app.acme.get(&target(&read, parameter, &sign.repeat(60_000 / sign.len())));
                assert_rejects(&response, 422, &sentence, &format!("{path}: {parameter}={sign}…"));
            }
        }
        let many = "a=b&".repeat(15_000);
        let response = app.acme.get(&target(&read, &format!("{many}email"), "ann@example.com"));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        // Longer than any URL may be. The web server rejects it before routing, so that there is only a status.
        let longest = head(&app.acme, "GET", &target(&read, "query", &"x".repeat(70_000)));
        let response = parsed(&app.acme.raw(format!("{longest}\r\n").as_bytes()));
        assert!((400..=499).contains(&response.status), "{path}: {}", response.status);
    }
    assert_still_serves(&app);
}

#[test]
fn syntax_of_query_languages_has_no_effect_in_a_search() {
    let (app, _) = started();
    let found = |query: &str| {
        let response = app.acme.get_feature_requests(&format!("query={}", encoded(query)));
        assert_eq!(response.status, 200, "{query}: {}", response.text());
        let body = response.json();
        has_keys(&body, &["feature_requests"]);
        body["feature_requests"].as_array().expect("a list").len()
    };
    for query in [
        "dark",
        "\"dark",
        "dark\"",
        "\"dark mode\"",
        "dark*",
        "*dark",
        "^dark",
        "(dark)",
        "((dark",
        "dark)",
        "[dark]",
        "{dark}",
        "-dark",
        "+dark",
        "~dark",
        "dark~",
        "dark;",
        "dark'",
        "dark\\",
        "\\dark",
        "dark:*",
        "dark + mode",
        "dark & mode",
        "dark | mode",
        "dark/mode",
        "dark%",
        "dark_mode",
        "<dark>",
        "dark\u{7f}",
        "dark\u{200b}mode",
        "d\u{e4}rk mod",
    ] {
        assert_eq!(found(query), 1, "{query}");
    }
    for query in [
        "",
        " ",
        "\"",
        "\"\"",
        "\"\" \"\"",
        "*",
        "* *",
        "(",
        ")",
        "()",
        "[",
        "{",
        "}",
        "^",
        ":",
        "-",
        "--",
        "+",
        "%",
        "_",
        "\\",
        "'",
        "''",
        "?",
        "~",
        "|",
        "&",
        "<>",
        "/*",
        "*/",
        "\u{200b}",
        "\u{202e}",
    ] {
        assert_eq!(found(query), 0, "{query}");
    }
    for query in [
        "AND",
        "OR",
        "NOT",
        "NEAR",
        "NEAR(",
        "NEAR(dark mode, 5)",
        "NOT dark",
        "dark AND",
        "OR dark",
        "dark OR mode",
        "title:dark",
        "title : dark",
        "{title tags} : dark",
        "- title : dark",
        "rowid:1",
        "search_index",
        "dark^2",
        "dark MATCH mode",
        "'; DROP TABLE feature_requests; --",
        "\" OR 1=1 --",
        "x' UNION SELECT * FROM api_keys --",
        "%' OR '1'='1",
        "a\"b\"c",
        "/.*/",
        "(?i)dark",
        "$where",
        "{\"$gt\":\"\"}",
    ] {
        // Ordinary words without matches.
        found(query);
    }
    assert_eq!(found("dark"), 1);
    assert_still_serves(&app);
}

#[test]
fn a_path_that_names_no_request_is_not_found() {
    let (app, writes) = started();
    let before = records(&app);
    let (letters, digits) = ("a".repeat(4_000), "9".repeat(4_000));
    let ids = concat!(
        "%00 1%00 %ff 1%ff %2f ..%2f.. %2e%2e%2f 1%2F1 %5c %zz 1% %25 %2531 . .. %2e%2e %20 1%20 %201 ",
        "1%0a 1%0d%0a 1;drop 1' 1'-- 1%22 1,2 1.0 1e0 0x1 +1 -1 0 00 2 2-dark-mode dark-mode null ",
        "undefined true %7Bid%7D %5B%5D * $1 @ %F0%9F%98%80 %D9%A1 %EF%BC%91 %C2%B9 %E2%80%8B1 ",
        "1%E2%80%8B 00000000-0000-0000-0000-000000000000 01890a5dac96774bbcceb302099a8057 ",
        "9223372036854775807 9223372036854775808 -9223372036854775808",
    );
    for id in ids.split(' ').chain([letters.as_str(), digits.as_str()]) {
        for write in writes.iter().filter(|write| write.path.starts_with("/feature_requests/")) {
            let path = format!("/api/external/v1{}", write.path.replace("/1/", &format!("/{id}/")));
            for body in [write.body.to_string(), "{}".to_owned()] {
                let response = app.acme.request(write.method, &path, &JSON, Some(body.as_bytes())).expect("a response");
                assert_rejects(&response, 404, UNKNOWN_REQUEST, &format!("{} {path:.120} {body}", write.method));
            }
        }
        let response = app.acme.get_voters(id, "");
        assert_rejects(&response, 404, UNKNOWN_REQUEST, &format!("voters of {id:.80}"));
    }
    // Not one segment: not a path of the service.
    for id in ["", "/", "1/", "/1", "1/1", "../1", "a/b", "1%2F/"] {
        let response = app.acme.get_voters(id, "");
        assert_rejects(&response, 404, "Not found", &format!("voters of {id}"));
    }
    assert_eq!(records(&app), before);
    assert_still_serves(&app);
}

/// Strings that are known to break software, and some that are only long.
fn naughty() -> Vec<String> {
    [
        // Words that are values elsewhere.
        "undefined",
        "null",
        "NULL",
        "nil",
        "None",
        "true",
        "False",
        "NaN",
        "Infinity",
        "-1",
        "0",
        "1e309",
        "0x7fffffff",
        "constructor",
        "__proto__",
        "[object Object]",
        // Punctuation and white space.
        "!@#$%^&*()-_=+[]{}\\|;:'\",./?`~",
        "  blanks around  ",
        "\t\u{85}\u{2003}wide blanks\u{3000}\n",
        "two\nlines",
        "two\r\nlines",
        "no\u{a0}break",
        "tab\there",
        "\u{1}\u{2}\u{8}\u{1b}[31m\u{7f}",
        // Text direction, zero width and joining.
        "\u{202e}desrever\u{202c}",
        "\u{200f}\u{200e}\u{2066}isolated\u{2069}",
        "zero\u{200b}width\u{200d}joined\u{2060}",
        "\u{feff}byte order mark",
        "soft\u{ad}hyphen",
        "\u{fffd}\u{ffff}\u{fdd0}\u{e000}",
        "e\u{301}\u{323}\u{308}combining",
        "Z\u{351}\u{36b}\u{343}\u{32a}\u{302}\u{32b}a\u{321}\u{353}\u{354}l\u{30b}\u{366}g\u{30f}\u{332}o\u{300}",
        "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}",
        "\u{1f1e9}\u{1f1ea}\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e007f}",
        "👍🏽🏳️‍🌈",
        "\u{10ffff}",
        // Scripts and case rules of several languages.
        "İstanbul ışık",
        "ŒUVRE ﬁne ﬀ ß ẞ",
        "Ⅳ ① ½ ２ ٣",
        "田中さんにあげて下さい",
        "사회과학원",
        "нет",
        "مرحبا بالعالم",
        "שלום",
        "ﷺ",
        "สวัสดี",
        "हिन्दी",
        "ΣΊΣΥΦΟΣ",
        "𝒯𝒽ℯ 𝓺𝓾𝓲𝓬𝓴",
        "Ṱ̺̺o͞ ̷i̲̬n",
        // Code in languages that an interpreter may run.
        "'; DROP TABLE feature_requests; --",
        "1' OR '1'='1",
        "\" OR \"\"=\"",
        "%' AND 1=0 UNION SELECT key FROM api_keys --",
        "<script>alert(1)</script>",
        "\"><svg/onload=alert(1)>",
        "<img src=x onerror=alert(1)>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "javascript:alert(1)",
        "&lt;b&gt; &amp; &#0; &bogus;",
        "<!-- <b> --><![CDATA[x]]>",
        "$(touch /tmp/x) `id` ; rm -rf / | cat",
        "../../../../etc/passwd%00",
        "%s%s%s%n %x {} {0} {{7*7}} ${jndi:ldap://x} %(a)s",
        "=cmd|' /C calc'!A0",
        "\r\nSet-Cookie: a=b",
        "file:///etc/passwd",
        "a/../b?c#d&e=f+g%20h",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        "w".repeat(50),
        "w".repeat(200),
        "w".repeat(201),
        "\u{1f600}".repeat(200),
        "long ".repeat(1_000),
        "\u{fdfa}".repeat(300),
        "e\u{301}".repeat(2_000),
    ])
    .collect()
}

/// Trims a text. Returns `None` if it is empty or too long.
fn kept(text: &str, most: usize) -> Option<&str> {
    let text = text.trim();
    (!text.is_empty() && text.chars().count() <= most).then_some(text)
}

/// Whether sanitizing leaves a text unchanged.
fn is_plain(text: &str) -> bool {
    !text.contains(['<', '>', '&', '\r', '\u{a0}']) && !text.starts_with('\u{feff}')
}

/// Asserts that HTML was returned unchanged or sanitized, or that the field was rejected.
#[track_caller]
fn is_kept_or_harmless(response: &Response, content: impl Fn(&Value) -> Value, field: &str, sent: &str) {
    if response.status != 201 {
        assert!(!is_plain(sent), "{field}: {sent:?}: {}", response.text());
        let missing = format!("param is missing or the value is empty or invalid: {field}");
        assert_rejects(response, 422, &missing, sent);
        return;
    }
    let content = content(&response.json());
    if is_plain(sent) {
        assert_eq!(content, json!(sent), "{field}");
        return;
    }
    let html = content.as_str().expect("HTML").to_lowercase();
    for harm in ["<script", "<svg", "<img", "<!--", "href=\"javascript"] {
        assert!(!html.contains(harm), "{field}: {sent:?}: {html}");
    }
}

#[test]
fn strange_titles_tags_and_descriptions_come_back_as_sent() {
    let (app, _) = started();
    for (number, text) in naughty().iter().enumerate() {
        let response = app.acme.post_feature_request(&json!({ "feature_request": { "title": text } }));
        match kept(text, 200) {
            Some(title) => {
                assert_eq!(response.status, 201, "{text:?}: {}", response.text());
                let request = &response.json()["feature_request"];
                assert_eq!(request["title"], title);
                // The slug of any title consists of letters, digits and hyphens, and identifies the feature request.
                let url = request["url"].as_str().expect("a URL");
                let slug = url.strip_prefix("https://acme.roadmap.example.com/feature_requests/").expect("a slug");
                let is_slug = slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                assert!(is_slug, "{text:?}: {slug}");
                assert_eq!(app.acme.get_voters(slug, "").status, 200, "{text:?}: {slug}");
            }
            None => assert_rejects(&response, 422, "title must be at most 200 characters long", text),
        }

        let word = format!("probe{number:03}");
        let body = |field: &str, value: Value| json!({ "feature_request": { "title": word, field: value } });
        let response = app.acme.post_feature_request(&body("tags", json!([text])));
        match kept(text, 50) {
            Some(tag) => {
                assert_eq!(response.status, 201, "{text:?}: {}", response.text());
                let tags = "SELECT tag FROM feature_request_tags JOIN feature_requests \
                            ON feature_requests.id = feature_request_tags.request_id ORDER BY tag_number DESC LIMIT 1";
                assert_eq!(app.sql(tags), [tag]);
            }
            None => assert_rejects(&response, 422, "tags must be at most 50 characters long", text),
        }
        let response = app.acme.post_feature_request(&body("description", json!(text)));
        assert_eq!(response.status, 201, "{text:?}: {}", response.text());
        if is_plain(text.trim()) {
            let found = app.acme.get_feature_requests(&format!("query={word}&per_page=15")).json();
            let found = found["feature_requests"].as_array().expect("a list").clone();
            let found = found.iter().find(|request| request["id"] == response.json()["feature_request"]["id"]);
            let excerpt: String = text.trim().chars().take(500).collect();
            assert_eq!(found.expect("the request")["description"], json!(excerpt));
        }

        let response = app.acme.post_feature_request(&body("track_id", json!(text)));
        assert_rejects(&response, 422, "track_id is not a valid UUID", text);
    }
    assert_still_serves(&app);
}

#[test]
fn strange_notes_comments_and_changelogs_come_back_as_sent_or_harmless() {
    let (app, _) = started();
    for text in &naughty() {
        let response = app.acme.post_comment("1", &json!({ "comment": { "content": text } }));
        is_kept_or_harmless(&response, |body| body["comment"]["content"].clone(), "content", text);
        let response = app.acme.post_changelog(&json!({ "changelog": { "title": "1.2", "content": text } }));
        is_kept_or_harmless(&response, |body| body["changelog"]["content"].clone(), "content", text);
        let response = app.acme.post_upvote("1", &json!({ "reference_note": { "body": text } }));
        let note = app.sql("SELECT body FROM notes ORDER BY id DESC LIMIT 1");
        is_kept_or_harmless(&response, |_| json!(note[0]), "body", text);

        let response = app.acme.post_changelog(&json!({ "changelog": { "title": text, "content": "New" } }));
        match kept(text, 200) {
            Some(title) => {
                assert_eq!((response.status, &response.json()["changelog"]["title"]), (201, &json!(title)), "{text:?}");
            }
            None => assert_rejects(&response, 422, "title must be at most 200 characters long", text),
        }
        let cover = json!({ "changelog": { "title": "1.2", "content": "New", "cover_image_signed_id": text } });
        assert_rejects(&app.acme.post_changelog(&cover), 422, "Cover image is invalid", text);
    }
    assert_still_serves(&app);
}

#[test]
fn strange_names_and_addresses_come_back_as_sent() {
    let (app, _) = started();
    for (number, text) in naughty().iter().enumerate() {
        let email = format!("customer{number}@example.com");
        let response = app.acme.post_upvote("1", &json!({ "customer": { "email": email, "name": text } }));
        match kept(text, 200) {
            Some(name) => {
                assert_eq!(response.status, 201, "{text:?}: {}", response.text());
                let voters = app.acme.get_voters("1", "page_size=100").json();
                let voters = voters["voters"].as_array().expect("a list").clone();
                let voter = voters.iter().find(|voter| voter["email"] == email.as_str());
                assert_eq!(voter.expect("the voter")["name"], name);
            }
            None => assert_rejects(&response, 422, "name must be at most 200 characters long", text),
        }

        let response = app.acme.patch_setting(&json!({ "setting": { "product_name": text } }));
        match kept(text, 200) {
            Some(name) => {
                assert_eq!(response.status, 200, "{text:?}: {}", response.text());
                assert_eq!(app.acme.get_setting().json()["setting"]["product_name"], name);
            }
            None => assert_rejects(&response, 422, "product_name must be at most 200 characters long", text),
        }

        // A URL is stored unchanged or rejected.
        let url = format!("https://acme.example/{text}");
        let response = app.acme.patch_setting(&json!({ "setting": { "website_url": url } }));
        if response.status == 200 {
            assert_eq!(response.json()["setting"]["website_url"], url.trim());
        } else {
            assert_rejects(&response, 422, "Website URL is invalid", text);
        }

        // Any `author_email` of an allowed length is accepted, whether or not it matches a member.
        let response = app.acme.post_comment("1", &json!({ "comment": { "content": "Soon" }, "author_email": text }));
        if text.trim().chars().count() <= 254 {
            assert_eq!(response.status, 201, "{text:?}: {}", response.text());
        } else {
            assert_rejects(&response, 422, "author_email must be at most 254 characters long", text);
        }
    }
    assert_still_serves(&app);
}

#[test]
fn strange_addresses_are_refused_or_found_again() {
    let (app, _) = started();
    for text in &naughty() {
        let response = app.acme.post_upvote("1", &json!({ "customer": { "email": text } }));
        let sentence = if text.trim().chars().count() > 254 {
            "email must be at most 254 characters long"
        } else {
            "email is not a valid e-mail address"
        };
        assert_rejects(&response, 422, sentence, text);
        assert_rejects(&app.acme.get_votes(&format!("email={}", encoded(text))), 422, sentence, text);

        let address = format!("{text}@example.com");
        let response = app.acme.post_upvote("1", &json!({ "customer": { "email": address } }));
        let votes = app.acme.get_votes(&format!("email={}", encoded(&address)));
        if response.status == 201 {
            assert_eq!((votes.status, &votes.json()["total_count"]), (200, &json!(1)), "{address:?}");
        } else {
            assert!(message(&response, &address).starts_with("email "), "{address:?}: {}", response.text());
            assert!(message(&votes, &address).starts_with("email "), "{address:?}: {}", votes.text());
        }
    }
    assert_still_serves(&app);
}

#[test]
fn strange_operation_keys_are_valid() {
    let (app, _) = started();
    for text in &naughty() {
        let body = json!({ "comment": { "content": "Soon" }, "operation_key": text });
        let responses = [app.acme.post_comment("1", &body), app.acme.post_comment("1", &body)];
        if text.chars().count() <= 255 {
            assert_eq!(responses[0].status, 201, "{text:?}: {}", responses[0].text());
            assert_eq!(responses[0].bytes, responses[1].bytes, "{text:?}");
            assert_eq!(responses[1].header("idempotent-replayed"), Some("true"), "{text:?}");
            assert!(app.sql("SELECT operation_key FROM operations").contains(text), "{text:?}");
        } else {
            assert_rejects(&responses[0], 422, "operation_key must be at most 255 characters long", text);
        }
    }
    assert_still_serves(&app);
}

#[test]
fn strange_queries_are_valid() {
    let (app, _) = started();
    for text in &naughty() {
        let response = app.acme.get_feature_requests(&format!("query={}", encoded(text)));
        if text.chars().count() <= 1_000 {
            assert_eq!(response.status, 200, "{text:?}: {}", response.text());
            has_keys(&response.json(), &["feature_requests"]);
        } else {
            assert_rejects(&response, 422, "query must be at most 1000 characters long", text);
        }
        for path in ["/setting", "/tracks"] {
            let response = app.acme.get(&format!("/api/external/v1{path}?{}={}", encoded(text), encoded(text)));
            assert_eq!(response.status, 200, "{path}: {text:?}: {}", response.text());
        }
    }
    assert_still_serves(&app);
}
