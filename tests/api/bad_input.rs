//! Invalid input: it is rejected in the common format of errors and has no effect.

use std::borrow::Cow;
use std::cell::Cell;

use roadmap_domain::model::text::{clean_line, drop_invisible};
use serde_json::{Value, json};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

use crate::app::{App, Client, Response, has_keys};
use crate::endpoints::{Endpoint, Records, endpoints, reads};

const JSON: [(&str, &str); 1] = [("Content-Type", "application/json")];
const UNKNOWN_REQUEST: &str = "FeatureRequest does not exist.";
const MALFORMED: &str = "Request body is not valid JSON";
const TOO_LARGE: &str = "Request body must not be larger than 1 MB";

/// Highest allowed size of a body.
const LARGEST: usize = 1024 * 1024;

/// Every field of every request body: the name of the write, the JSON pointer and the required type.
const FIELDS: &[(&str, &str, &str)] = &[
    ("setting", "/setting", "an object"),
    ("setting", "/setting/product_name", "a string"),
    ("setting", "/setting/website_url", "a string"),
    ("portal", "/portal", "an object"),
    ("portal", "/portal/visibility", "a string"),
    ("portal", "/portal/mail_domains", "a list"),
    ("portal", "/portal/mail_domains/0", "a string"),
    ("portal", "/portal/indexing", "a boolean"),
    ("portal", "/portal/embed_origins", "a list"),
    ("portal", "/portal/embed_origins/0", "a string"),
    ("portal", "/portal/languages", "a list"),
    ("portal", "/portal/languages/0", "a string"),
    ("portal", "/portal/moderation", "a boolean"),
    ("portal", "/portal/accent_color", "a string"),
    ("portal", "/portal/logo_signed_id", "a string"),
    ("portal", "/portal/reply_to", "a string"),
    ("portal", "/portal/time_zone", "a string"),
    ("portal", "/portal/noun", "a string"),
    ("portal", "/operation_key", "a string"),
    ("synonyms", "/synonyms", "a list"),
    ("synonyms", "/synonyms/0", "a list"),
    ("synonyms", "/synonyms/0/0", "a string"),
    ("synonyms", "/synonyms/0/1", "a string"),
    ("synonyms", "/operation_key", "a string"),
    ("create", "/feature_request", "an object"),
    ("create", "/feature_request/title", "a string"),
    ("create", "/feature_request/description", "a string"),
    ("create", "/feature_request/tags", "a list"),
    ("create", "/feature_request/tags/0", "a string"),
    ("create", "/feature_request/track_id", "a string"),
    ("create", "/feature_request/private", "a boolean"),
    ("create", "/customer", "an object"),
    ("create", "/customer/email", "a string"),
    ("create", "/customer/name", "a string"),
    ("create", "/reference_note", "an object"),
    ("create", "/reference_note/body", "a string"),
    ("create", "/reference_note/author_email", "a string"),
    ("create", "/operation_key", "a string"),
    ("edit", "/feature_request", "an object"),
    ("edit", "/feature_request/title", "a string"),
    ("edit", "/feature_request/description", "a string"),
    ("edit", "/feature_request/tags", "a list"),
    ("edit", "/feature_request/tags/0", "a string"),
    ("edit", "/feature_request/private", "a boolean"),
    ("edit", "/operation_key", "a string"),
    ("upvote", "/customer", "an object"),
    ("upvote", "/customer/email", "a string"),
    ("upvote", "/customer/name", "a string"),
    ("upvote", "/reference_note", "an object"),
    ("upvote", "/reference_note/body", "a string"),
    ("upvote", "/reference_note/author_email", "a string"),
    ("upvote", "/operation_key", "a string"),
    ("comment", "/comment", "an object"),
    ("comment", "/comment/content", "a string"),
    ("comment", "/author_email", "a string"),
    ("comment", "/notify_all_voters", "a boolean"),
    ("comment", "/operation_key", "a string"),
    ("comment of a customer", "/comment", "an object"),
    ("comment of a customer", "/comment/content", "a string"),
    ("comment of a customer", "/customer", "an object"),
    ("comment of a customer", "/customer/email", "a string"),
    ("comment of a customer", "/customer/name", "a string"),
    ("comment of a customer", "/operation_key", "a string"),
    ("edit of a comment", "/comment", "an object"),
    ("edit of a comment", "/comment/content", "a string"),
    ("edit of a comment", "/operation_key", "a string"),
    ("link", "/link", "an object"),
    ("link", "/link/url", "a string"),
    ("link", "/link/title", "a string"),
    ("link", "/link/state", "a string"),
    ("link", "/operation_key", "a string"),
    ("edit of a link", "/link", "an object"),
    ("edit of a link", "/link/title", "a string"),
    ("edit of a link", "/link/state", "a string"),
    ("edit of a link", "/operation_key", "a string"),
    ("new link source", "/link_source", "an object"),
    ("new link source", "/link_source/name", "a string"),
    ("new link source", "/link_source/kind", "a string"),
    ("new link source", "/link_source/closed_track_id", "a string"),
    ("new link source", "/link_source/notify_all_voters", "a boolean"),
    ("new link source", "/link_source/enabled", "a boolean"),
    ("new link source", "/link_source/secret", "a string"),
    ("link source", "/link_source", "an object"),
    ("link source", "/link_source/name", "a string"),
    ("link source", "/link_source/closed_track_id", "a string"),
    ("link source", "/link_source/notify_all_voters", "a boolean"),
    ("link source", "/link_source/enabled", "a boolean"),
    ("link source", "/link_source/secret", "a string"),
    ("link source", "/operation_key", "a string"),
    ("new webhook", "/webhook", "an object"),
    ("new webhook", "/webhook/url", "a string"),
    ("new webhook", "/webhook/description", "a string"),
    ("new webhook", "/webhook/format", "a string"),
    ("new webhook", "/webhook/events", "a list"),
    ("new webhook", "/webhook/events/0", "a string"),
    ("new webhook", "/webhook/include_private", "a boolean"),
    ("new webhook", "/webhook/include_emails", "a boolean"),
    ("new webhook", "/webhook/enabled", "a boolean"),
    ("webhook", "/webhook", "an object"),
    ("webhook", "/webhook/url", "a string"),
    ("webhook", "/webhook/description", "a string"),
    ("webhook", "/webhook/format", "a string"),
    ("webhook", "/webhook/events", "a list"),
    ("webhook", "/webhook/events/0", "a string"),
    ("webhook", "/webhook/include_private", "a boolean"),
    ("webhook", "/webhook/include_emails", "a boolean"),
    ("webhook", "/webhook/enabled", "a boolean"),
    ("webhook", "/operation_key", "a string"),
    ("new secret", "/overlap", "a string"),
    ("test event", "/operation_key", "a string"),
    ("redelivery", "/operation_key", "a string"),
    ("redeliveries", "/since", "a string"),
    ("redeliveries", "/operation_key", "a string"),
    ("move", "/track_id", "a string"),
    ("move", "/author_email", "a string"),
    ("move", "/notify_all_voters", "a boolean"),
    ("move", "/comment", "an object"),
    ("move", "/comment/content", "a string"),
    ("move", "/comment/author_email", "a string"),
    ("move", "/operation_key", "a string"),
    ("subscription", "/email", "a string"),
    ("subscription", "/name", "a string"),
    ("subscription", "/operation_key", "a string"),
    ("new lane", "/lane", "an object"),
    ("new lane", "/lane/name", "a string"),
    ("new lane", "/lane/kind", "a string"),
    ("new lane", "/lane/position", "an integer of at least 1"),
    ("new lane", "/operation_key", "a string"),
    ("lane", "/lane", "an object"),
    ("lane", "/lane/name", "a string"),
    ("lane", "/lane/kind", "a string"),
    ("lane", "/lane/position", "an integer of at least 1"),
    ("lane", "/operation_key", "a string"),
    ("new track", "/track", "an object"),
    ("new track", "/track/name", "a string"),
    ("new track", "/track/lane_id", "a string"),
    ("new track", "/track/position", "an integer of at least 1"),
    ("new track", "/operation_key", "a string"),
    ("track", "/track", "an object"),
    ("track", "/track/name", "a string"),
    ("track", "/track/lane_id", "a string"),
    ("track", "/track/position", "an integer of at least 1"),
    ("track", "/operation_key", "a string"),
    ("changelog", "/changelog", "an object"),
    ("changelog", "/changelog/title", "a string"),
    ("changelog", "/changelog/content", "a string"),
    ("changelog", "/changelog/cover_image_signed_id", "a string"),
    ("changelog", "/changelog/feature_request_ids", "a list"),
    ("changelog", "/changelog/feature_request_ids/0", "a string"),
    ("changelog", "/changelog/publish", "a boolean"),
    ("changelog", "/changelog/publish_at", "a string"),
    ("changelog", "/changelog/notify_subscribers", "a boolean"),
    ("changelog", "/operation_key", "a string"),
    ("edit of a changelog", "/changelog", "an object"),
    ("edit of a changelog", "/changelog/title", "a string"),
    ("edit of a changelog", "/changelog/content", "a string"),
    ("edit of a changelog", "/changelog/cover_image_signed_id", "a string"),
    ("edit of a changelog", "/changelog/feature_request_ids", "a list"),
    ("edit of a changelog", "/changelog/feature_request_ids/0", "a string"),
    ("edit of a changelog", "/changelog/publish_at", "a string"),
    ("edit of a changelog", "/changelog/notify_subscribers", "a boolean"),
    ("edit of a changelog", "/operation_key", "a string"),
    ("approve", "/operation_key", "a string"),
    ("decline", "/operation_key", "a string"),
    ("no answer", "/operation_key", "a string"),
    ("publish", "/notify_subscribers", "a boolean"),
    ("publish", "/operation_key", "a string"),
    ("unpublish", "/operation_key", "a string"),
    ("customer", "/customer", "an object"),
    ("customer", "/customer/name", "a string"),
    ("customer", "/operation_key", "a string"),
    ("merge", "/target_id", "a string"),
    ("merge", "/operation_key", "a string"),
];

/// The writes that need no body.
const WITHOUT_BODY: [&str; 8] =
    ["approve", "decline", "no answer", "publish", "unpublish", "new secret", "test event", "redelivery"];

/// Valid write with all of its fields, which can be repeated.
pub struct Write {
    /// Name in [`FIELDS`].
    name: &'static str,
    pub method: &'static str,
    pub path: String,
    pub body: Value,
    /// Status of its response.
    status: u16,
    /// Number of bodies, for names that must be unique.
    bodies: Cell<u32>,
}

impl Write {
    fn new(name: &'static str, method: &'static str, path: &str, status: u16, body: Value) -> Self {
        Self { name, method, path: path.to_owned(), body, status, bodies: Cell::new(0) }
    }

    /// Fields of the body.
    fn fields(&self) -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
        FIELDS.iter().filter(|(name, ..)| *name == self.name)
    }

    /// Name for assertion messages.
    fn case(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Sends other bytes instead of the body.
    pub fn send(&self, client: &Client, body: &[u8]) -> Response {
        self.send_with(client, &JSON, body)
    }

    fn send_with(&self, client: &Client, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let path = format!("/api/external/v1{}", self.path);
        client.request(self.method, &path, headers, Some(body)).expect("a response")
    }

    /// The body. The names of lanes and tracks that it adds are new each time.
    fn fresh(&self) -> Value {
        let mut body = self.body.clone();
        self.bodies.set(self.bodies.get() + 1);
        let name = json!(format!("{} {}", self.name, self.bodies.get()));
        match self.name {
            "new lane" => body["lane"]["name"] = name,
            "new track" => body["track"]["name"] = name,
            _ => {}
        }
        body
    }

    /// Body with the value at a JSON pointer replaced.
    fn with(&self, pointer: &str, value: Value) -> Vec<u8> {
        let mut body = self.fresh();
        *body.pointer_mut(pointer).expect("the field") = value;
        body.to_string().into_bytes()
    }

    /// Body padded to a length by an unknown field.
    fn padded(&self, length: usize) -> Vec<u8> {
        let fresh = self.fresh();
        let body = |padding: usize| {
            let mut body = fresh.clone();
            body["padding"] = json!("x".repeat(padding));
            body.to_string().into_bytes()
        };
        body(length - body(0).len())
    }
}

/// Starts a service with the feature requests 1 and 2. Returns it with every write that can be repeated.
pub fn started() -> (App, Vec<Write>) {
    // Nothing is sent to the webhooks.
    let app = App::with(&[], &[("ROADMAP_WEBHOOK_WORKER", "false")]);
    let request = app.acme.feature_request("Dark mode")["id"].clone();
    app.acme.feature_request("Target");
    let track = app.track("Planned");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let lane = text(&app.acme.get_lanes().is_ok()["lanes"][1]["id"]);
    let setting = json!({ "setting": { "product_name": "Acme", "website_url": "https://acme.example" } });
    let customer = json!({ "email": "ann@example.com", "name": "Ann" });
    let note = json!({ "body": "Wants it", "author_email": "olga@acme.example" });
    let subscription = json!({ "email": "fan@example.com", "name": "Fan", "operation_key": null });
    app.acme.put_subscription("2", &subscription).is_ok();
    let fan = text(&app.acme.get_customers("query=fan").is_ok()["customers"][0]["id"]);
    let comment = app.acme.comment("2", "First");
    let new_link = json!({ "url": "https://github.com/acme/app/issues/7", "title": "Dark", "state": "open" });
    let link = text(&app.acme.post_link("1", &json!({ "link": new_link })).is_ok()["link"]["id"]);
    let of_source = json!({
        "name": "Code", "closed_track_id": track, "notify_all_voters": true, "enabled": true, "secret": "a secret of 16 characters",
    });
    let mut new_source = of_source.clone();
    new_source["kind"] = json!("github");
    let path = "/api/external/v1/link_sources";
    let source = app.acme.send("POST", path, &json!({ "link_source": new_source })).is_ok();
    let source = text(&source["link_source"]["id"]);
    let of_webhook = json!({
        "url": "https://receiver.invalid/hook",
        "description": "Help desk",
        "format": "standard",
        "events": ["vote.created"],
        "include_private": false,
        "include_emails": false,
        "enabled": true,
    });
    let path = "/api/external/v1/webhooks";
    let webhook = app.acme.send("POST", path, &json!({ "webhook": of_webhook })).is_ok();
    let webhook = format!("/webhooks/{}", text(&webhook["webhook"]["id"]));
    let test = app.acme.send("POST", &format!("/api/external/v1{webhook}/test"), &json!({})).is_ok();
    let redeliver = format!("{webhook}/deliveries/{}/redeliver", text(&test["delivery"]["id"]));
    let draft = || {
        let body = app.acme.post_changelog(&json!({ "changelog": { "title": "1.0", "content": "New" } })).is_ok();
        text(&body["changelog"]["id"])
    };
    let (edited, published) = (format!("/changelogs/{}", draft()), format!("/changelogs/{}", draft()));
    let changelog = json!({
        "title": "1.2",
        "content": "New",
        "cover_image_signed_id": null,
        "feature_request_ids": [request],
        "publish_at": "2999-01-01T00:00:00Z",
        "notify_subscribers": false,
    });
    let portal = json!({
        "visibility": "public",
        "mail_domains": ["acme.example"],
        "indexing": true,
        "embed_origins": ["https://help.acme.example"],
        "languages": ["en"],
        "moderation": false,
        "accent_color": "#17694f",
        "logo_signed_id": null,
        "reply_to": "help@acme.example",
        "time_zone": "Europe/Berlin",
        "noun": "ideas",
    });
    let mut new_changelog = changelog.clone();
    new_changelog["publish"] = json!(false);
    let fields = json!({
        "title": "Night mode",
        "description": "Dark, but darker",
        "tags": ["ui"],
        "private": false,
    });
    let mut new_fields = fields.clone();
    new_fields["track_id"] = json!(track);
    let of_lane = json!({
        "lane": { "name": "Planned", "kind": "planned", "position": 2 },
        "operation_key": null,
    });
    let of_track = json!({
        "track": { "name": "Planned", "lane_id": lane, "position": 3 },
        "operation_key": null,
    });
    let with_key = |mut body: Value| {
        body["operation_key"] = json!(null);
        body
    };
    let writes = vec![
        Write::new("setting", "PATCH", "/setting", 200, setting.clone()),
        Write::new("setting", "PUT", "/setting", 200, setting),
        Write::new("portal", "PATCH", "/portal", 200, with_key(json!({ "portal": portal }))),
        Write::new("synonyms", "PUT", "/synonyms", 200, with_key(json!({ "synonyms": [["2fa", "mfa"]] }))),
        Write::new(
            "create",
            "POST",
            "/feature_requests",
            201,
            with_key(json!({ "feature_request": new_fields, "customer": customer, "reference_note": note })),
        ),
        Write::new("edit", "PATCH", "/feature_requests/1", 200, with_key(json!({ "feature_request": fields }))),
        Write::new(
            "upvote",
            "POST",
            "/feature_requests/1/upvotes",
            201,
            with_key(json!({ "customer": customer, "reference_note": note })),
        ),
        Write::new(
            "comment",
            "POST",
            "/feature_requests/1/comments",
            201,
            with_key(json!({
                "comment": { "content": "Soon" },
                "author_email": "olga@acme.example",
                "notify_all_voters": false,
            })),
        ),
        Write::new(
            "comment of a customer",
            "POST",
            "/feature_requests/1/comments",
            201,
            with_key(json!({ "comment": { "content": "Please" }, "customer": customer })),
        ),
        Write::new(
            "edit of a comment",
            "PATCH",
            &format!("/comments/{comment}"),
            200,
            with_key(json!({ "comment": { "content": "Later" } })),
        ),
        Write::new("link", "POST", "/feature_requests/1/links", 200, with_key(json!({ "link": new_link }))),
        Write::new("new link source", "POST", "/link_sources", 201, json!({ "link_source": new_source })),
        Write::new(
            "link source",
            "PATCH",
            &format!("/link_sources/{source}"),
            200,
            with_key(json!({ "link_source": of_source })),
        ),
        Write::new("new webhook", "POST", "/webhooks", 201, json!({ "webhook": of_webhook })),
        Write::new("webhook", "PATCH", &webhook, 200, with_key(json!({ "webhook": of_webhook }))),
        Write::new("new secret", "POST", &format!("{webhook}/rotate_secret"), 200, json!({ "overlap": "1h" })),
        Write::new("test event", "POST", &format!("{webhook}/test"), 201, with_key(json!({}))),
        Write::new("redelivery", "POST", &redeliver, 200, with_key(json!({}))),
        Write::new(
            "redeliveries",
            "POST",
            &format!("{webhook}/redeliver"),
            200,
            with_key(json!({ "since": "2026-03-01T09:30:00Z" })),
        ),
        Write::new(
            "edit of a link",
            "PATCH",
            &format!("/links/{link}"),
            200,
            with_key(json!({ "link": { "title": "Dark mode", "state": "closed" } })),
        ),
        Write::new(
            "move",
            "PATCH",
            "/feature_requests/1/track",
            200,
            with_key(json!({
                "track_id": track,
                "author_email": "olga@acme.example",
                "notify_all_voters": false,
                "comment": { "content": "Because", "author_email": "olga@acme.example" },
            })),
        ),
        Write::new("approve", "POST", "/feature_requests/1/approve", 200, with_key(json!({}))),
        Write::new("decline", "POST", "/feature_requests/1/decline", 200, with_key(json!({}))),
        Write::new("no answer", "POST", "/feature_requests/1/no_answer_needed", 200, with_key(json!({}))),
        Write::new("subscription", "PUT", "/feature_requests/1/subscription", 200, subscription),
        Write::new(
            "new lane",
            "POST",
            "/lanes",
            201,
            with_key(json!({ "lane": { "name": "New", "kind": "other", "position": 9 } })),
        ),
        Write::new("lane", "PATCH", &format!("/lanes/{lane}"), 200, of_lane),
        Write::new(
            "new track",
            "POST",
            "/tracks",
            201,
            with_key(json!({ "track": { "name": "New", "lane_id": lane, "position": 9 } })),
        ),
        Write::new("track", "PATCH", &format!("/tracks/{track}"), 200, of_track),
        Write::new("changelog", "POST", "/changelogs", 201, with_key(json!({ "changelog": new_changelog }))),
        Write::new("edit of a changelog", "PATCH", &edited, 200, with_key(json!({ "changelog": changelog }))),
        Write::new(
            "publish",
            "POST",
            &format!("{published}/publish"),
            200,
            with_key(json!({ "notify_subscribers": false })),
        ),
        Write::new("unpublish", "POST", &format!("{published}/unpublish"), 200, with_key(json!({}))),
        Write::new(
            "customer",
            "PATCH",
            &format!("/customers/{fan}"),
            200,
            with_key(json!({ "customer": { "name": "Great fan" } })),
        ),
        // The last one: from here on, the feature request 1 is a part of 2.
        Write::new("merge", "POST", "/feature_requests/1/merge", 200, with_key(json!({ "target_id": "2" }))),
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
fn records(app: &App) -> Vec<i64> {
    let tables = [
        "feature_requests",
        "customers",
        "votes",
        "notes",
        "comments",
        "changelogs",
        "lanes",
        "tracks",
        "followers",
        "links",
        "feature_request_events",
        "audit_entries",
    ];
    tables.iter().map(|table| app.count(&format!("SELECT count(*) FROM {table}"))).collect()
}

/// Returns the field name at the end of a JSON pointer.
fn leaf(pointer: &str) -> &str {
    pointer.rsplit('/').find(|part| part.parse::<usize>().is_err()).expect("a name")
}

/// Returns the name of the field at a JSON pointer, with the indices of items of lists: `tags[0]`.
fn item(pointer: &str) -> String {
    let (_, indices) = pointer.split_once(&format!("/{}", leaf(pointer))).expect("a name");
    indices.split('/').skip(1).fold(leaf(pointer).to_owned(), |name, index| format!("{name}[{index}]"))
}

/// Percent-encodes a text for a query string.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(byte).collect()
}

/// Target of a read of these records with this parameter and the required ones.
fn target(read: &Endpoint, known: &Records, parameter: &str, value: &str) -> String {
    let path = if read.required() == [parameter] { read.target(known) } else { read.target_with_query(known) };
    let mark = if path.contains('?') { '&' } else { '?' };
    format!("{path}{mark}{parameter}={value}")
}

/// Parameter that a search needs so that it ignores unknown ones.
fn words_of_search(read: &Endpoint) -> &'static str {
    if read.path.ends_with("/v1/feature_requests") { "&query=" } else { "" }
}

/// Whether a parameter is a positive integer.
fn is_count(parameter: &str) -> bool {
    parameter.contains("page") || parameter == "per_lane"
}

/// Message for a text that a parameter does not allow, other than a text that is too long or has a NUL character.
/// `None` for parameters that allow any text.
fn malformed(parameter: &str) -> Option<String> {
    let problem = match parameter {
        parameter if is_count(parameter) => "must be an integer of at least 1",
        "sort" => "is not one of votes, newest, updated",
        "days" => "is not one of 7, 30, 365",
        "notes" => "is not true or false",
        "state" => "must be one of waiting, delivered, failed",
        "actor" => "is not a valid UUID or one of api_key, member, customer, operator, service",
        "subject" | "track_id" => "is not a valid UUID",
        "include_private" => "is not one of true, false, 1, 0",
        "from" | "to" | "updated_since" => "is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z",
        "cursor" => "is not a cursor of this list",
        _ => return None,
    };
    Some(format!("{parameter} {problem}"))
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

/// Decision 2: invalid JSON and oversized bodies have an `error` in the body too.
/// Decision 2: malformed JSON, or JSON that is no object, is 400.
/// Contract 1; Beyond the contract.
#[test]
fn a_body_that_is_no_json_object_is_refused() {
    let (app, writes) = started();
    let mut before = records(&app);
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
        ("a byte order mark and nothing else", b"\xef\xbb\xbf "),
        ("two byte order marks", b"\xef\xbb\xbf\xef\xbb\xbf{}"),
        ("a byte order mark behind it", b"{}\xef\xbb\xbf"),
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
            let case = format!("{}: {case}", write.case());
            let response = write.send(&app.acme, body);
            if body.is_empty() && WITHOUT_BODY.contains(&write.name) {
                assert_eq!(response.status, write.status, "{case}: {}", response.text());
            } else {
                assert_rejects(&response, 400, MALFORMED, &case);
            }
        }
    }
    // Publishing, unpublishing and saying that no answer is needed need no body, and have one entry of the audit log each.
    // So do a new secret, a test event and its repetition. That no answer is needed is also in the history.
    before.last_mut().into_iter().for_each(|entries| *entries += 6);
    before[10] += 1;
    assert_eq!(records(&app), before);
    assert_still_serves(&app);
}

/// Decision 2: the cause of invalid JSON is in `X-Error-Detail`, and a byte order mark is ignored.
#[test]
fn a_body_that_is_no_json_says_where_in_a_header() {
    let app = App::start();
    for (body, detail) in [
        (&b""[..], "it is empty"),
        (b" \n", "it is empty"),
        (b"[{}]", "it must be an object"),
        (b"\"secret\"", "it must be an object"),
        (b"{\"a\":\"\xff\"}", "it is not UTF-8 from byte 6 on"),
        (b"{\n  \"a\": 1,\n}", "trailing comma at line 3 column 1"),
        (b"{\"a\":\"\n\"}", "control character (\\u0000-\\u001F) found while parsing a string at line 2 column 0"),
        (b"{\"a\":\"\\ud800\"}", "unexpected end of hex escape at line 1 column 13"),
    ] {
        let response = app.acme.request("POST", "/api/external/v1/feature_requests", &JSON, Some(body)).unwrap();
        response.is_error(400, MALFORMED);
        assert_eq!(response.header("x-error-detail"), Some(detail), "{}", String::from_utf8_lossy(body));
    }
    let marked = "\u{feff}{\"feature_request\":{\"title\":\"Dark mode\"}}".as_bytes();
    let path = "/api/external/v1/feature_requests";
    let response = app.acme.raw(&[head(&app.acme, "POST", path).as_bytes(), &with_length(marked)].concat());
    assert_eq!(parsed(&response).status, 201);
}

/// Returns the end of a head with the length of a body, and the body.
fn with_length(body: &[u8]) -> Vec<u8> {
    let end = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
    [end.as_bytes(), body].concat()
}

/// Beyond the contract.
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

/// Decision 2: JSON over 1 MB is 413.
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
            let case = format!("{}: {case}", write.case());
            assert_rejects(&write.send(&app.acme, &body), 413, TOO_LARGE, &case);
        }
        // The length of a chunked body is unknown before its end.
        let mut request = head(&app.acme, write.method, &format!("/api/external/v1{}", write.path)).into_bytes();
        request.extend_from_slice(b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
        request.extend(chunked(&write.padded(2 * LARGEST)));
        let case = format!("{}: in chunks", write.case());
        assert_rejects(&parsed(&app.acme.raw(&request)), 413, TOO_LARGE, &case);
    }
    assert_eq!(records(&app), before);
    assert_still_serves(&app);
}

/// Decision 2.
#[test]
fn a_body_of_a_megabyte_is_not_too_large() {
    let (app, writes) = started();
    for write in &writes {
        let status = write.status;
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

/// Addition 2: every new field is rejected by name; strange text does no harm.
/// Decision 2.
#[test]
fn the_table_of_fields_is_complete() {
    fn pointers(value: &Value, at: &str, result: &mut Vec<String>) {
        let inside: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(name, value)| (name.clone(), value)).collect(),
            Value::Array(list) => list.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect(),
            _ => Vec::new(),
        };
        for (name, value) in inside {
            let pointer = format!("{at}/{name}");
            pointers(value, &pointer, result);
            result.push(pointer);
        }
    }
    let (_, writes) = started();
    for write in &writes {
        let mut listed_pointers = Vec::new();
        pointers(&write.body, "", &mut listed_pointers);
        let mut listed: Vec<String> = write.fields().map(|(_, pointer, _)| (*pointer).to_owned()).collect();
        listed_pointers.sort();
        listed.sort();
        assert_eq!(listed, listed_pointers, "{}", write.case());
    }
    // Every endpoint with a JSON body has a write. The fields of its body are those of the document.
    let (app, writes) = started();
    for endpoint in endpoints() {
        let Some(mut fields) = endpoint.fields() else { continue };
        // Their only field is tested with the operation keys.
        if endpoint.path.ends_with("/unmerge") || endpoint.path.ends_with("/comments/{id}/approve") {
            assert_eq!(fields, ["operation_key"]);
            continue;
        }
        // It cannot be repeated. Its own tests send invalid fields.
        if endpoint.path.ends_with("/customers/{id}/merge") {
            fields.sort_unstable();
            assert_eq!(fields, ["operation_key", "target_id"]);
            continue;
        }
        // Nor can this. `people.rs` sends invalid fields.
        if endpoint.path.ends_with("/customers/{id}/erase") {
            fields.sort_unstable();
            assert_eq!(fields, ["operation_key", "texts", "votes"]);
            continue;
        }
        // One runs at a time. `exports.rs` sends invalid fields.
        if endpoint.path.ends_with("/exports") {
            fields.sort_unstable();
            assert_eq!(fields, ["export", "operation_key"]);
            continue;
        }
        // Nor can these. `import_jobs.rs` sends invalid fields.
        if endpoint.path.ends_with("/imports/{id}/run") || endpoint.path.ends_with("/imports/{id}/undo") {
            fields.retain(|field| *field != "operation_key");
            assert!(fields.is_empty() || fields == ["dry_run", "options"], "{fields:?}");
            continue;
        }
        // Nor can this. `tags.rs` sends invalid fields.
        if endpoint.path.ends_with("/tags/{name}") {
            fields.sort_unstable();
            assert_eq!(fields, ["operation_key", "tag"]);
            continue;
        }
        let template: Vec<&str> = endpoint.path.split('/').collect();
        let of_endpoint = |write: &&Write| {
            let path = format!("/api/external/v1{}", write.path);
            let segments: Vec<&str> = path.split('/').collect();
            let mut pairs = template.iter().zip(&segments);
            let fits = pairs.all(|(expected, segment)| expected.starts_with('{') || expected == segment);
            fits && template.len() == segments.len() && write.method == endpoint.method
        };
        let sent =
            writes.iter().filter(of_endpoint).flat_map(|write| write.body.as_object().expect("an object").keys());
        let mut sent: Vec<&str> = sent.map(String::as_str).collect();
        sent.sort_unstable();
        sent.dedup();
        fields.sort_unstable();
        assert_eq!(sent, fields, "{}", endpoint.name());
    }
    drop(app);
}

/// Contract 7: the body is `{"error": "<message>"}`.
/// Decision 2: every error is exactly `{"error": …}` as JSON.
/// Decision 2: a wrong type is 422 that names the field.
/// Decision 4: `setting` must be an object.
/// Contract 2.10; Addition 2.
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
        for (_, pointer, expected) in write.fields() {
            // A large integer is a position after the last one.
            let is_valid = |kind: &str, value: &Value| {
                kind == *expected
                    || (expected.starts_with("an integer") && value.as_u64().is_some_and(|value| value > 0))
            };
            for (_, value) in values.iter().filter(|(kind, value)| !is_valid(kind, value)) {
                let response = write.send(&app.acme, &write.with(pointer, value.clone()));
                let case = format!("{}: {pointer} = {value}", write.case());
                assert_rejects(&response, 422, &format!("{} must be {expected}", item(pointer)), &case);
            }
        }
    }
    assert_eq!(records(&app), before);
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
    assert_still_serves(&app);
}

/// Decision 2.
#[test]
fn null_is_the_same_as_an_absent_field() {
    let (app, writes) = started();
    let missing = |field: &str| Some(format!("param is missing or the value is empty or invalid: {field}"));
    for write in &writes {
        for (name, pointer, _) in write.fields() {
            let response = write.send(&app.acme, &write.with(pointer, json!(null)));
            let refusal = match (*name, *pointer) {
                (_, "/setting/product_name") => Some("Product name can't be blank".to_owned()),
                (_, "/setting/website_url") => Some("Website URL is invalid".to_owned()),
                ("setting" | "synonyms", "/setting" | "/synonyms") => missing(leaf(pointer)),
                (_, "/synonyms/0") => Some("synonyms[0] must be a list".to_owned()),
                // Null elements of a list are invalid, not missing.
                (_, "/synonyms/0/0" | "/synonyms/0/1" | "/feature_request/tags/0")
                | (_, "/changelog/feature_request_ids/0") => Some(format!("{} must be a string", item(pointer))),
                (_, "/portal/mail_domains/0" | "/portal/embed_origins/0" | "/portal/languages/0") => {
                    Some(format!("{} must be a string", item(pointer)))
                }
                (_, "/feature_request" | "/lane" | "/track" | "/changelog" | "/portal" | "/link" | "/link/url")
                | (_, "/link_source" | "/webhook" | "/webhook/url" | "/since") => missing(leaf(pointer)),
                (_, "/webhook/events/0") => Some(format!("{} must be a string", item(pointer))),
                (_, "/portal/visibility" | "/portal/languages") => missing(leaf(pointer)),
                (_, "/feature_request/title" | "/changelog/title") => missing("title"),
                (_, "/customer/email" | "/email") => missing("email"),
                (_, "/reference_note/body") => missing("body"),
                ("edit of a comment", "/comment") => missing("comment"),
                ("move", "/comment") => None,
                (_, "/comment" | "/comment/content" | "/changelog/content") => missing("content"),
                (_, "/lane/name" | "/track/name" | "/link_source/name") => missing("name"),
                (_, "/link_source/kind") => missing("kind"),
                ("customer", "/customer/name") => missing("name"),
                ("customer", "/customer") => missing("customer"),
                (_, "/track_id" | "/target_id") => missing(leaf(pointer)),
                _ => None,
            };
            let case = format!("{}: {pointer}", write.case());
            match refusal {
                Some(sentence) => assert_rejects(&response, 422, &sentence, &case),
                None => assert!(matches!(response.status, 200 | 201), "{case}: {}", response.text()),
            }
        }
    }
    assert_still_serves(&app);
}

/// Decision 3: NUL is 422.
/// Addition 2.
#[test]
fn a_nul_character_is_refused_in_every_text() {
    let (app, writes) = started();
    let before = records(&app);
    for write in &writes {
        let texts = write.fields().filter(|(_, _, expected)| *expected == "a string");
        for (_, pointer, _) in texts {
            let field = leaf(pointer);
            let sentence = match field {
                "website_url" => "Website URL is invalid".to_owned(),
                "track_id" | "lane_id" | "closed_track_id" | "feature_request_ids" => {
                    format!("{field} is not a valid UUID")
                }
                "publish_at" | "since" => malformed("from").expect("a message").replace("from", field),
                "format" => "format must be one of standard, slack, discord, teams".to_owned(),
                "events" => "events must be types of events".to_owned(),
                "overlap" => "overlap must be a duration from 0s to 7d, for example 24h".to_owned(),
                // A reference like one in a path: there is no such feature request.
                "target_id" => UNKNOWN_REQUEST.to_owned(),
                "cover_image_signed_id" => "Cover image is invalid".to_owned(),
                "logo_signed_id" => "logo_signed_id is not the signed_id of an uploaded image".to_owned(),
                "visibility" => "visibility is not one of public, private, off".to_owned(),
                "kind" if *pointer == "/link_source/kind" => {
                    "kind must be one of github, gitlab, jira, linear".to_owned()
                }
                "kind" => "kind is none of considering, planned, started, done, declined, other".to_owned(),
                "languages" => "languages is not one of en, de, ar".to_owned(),
                "accent_color" => "accent_color is not a colour such as #17694f".to_owned(),
                "reply_to" => "reply_to is not an address that replies can be sent to".to_owned(),
                "time_zone" => "time_zone is not an IANA time zone such as Europe/Berlin".to_owned(),
                "noun" => "noun is not one of feature_requests, ideas".to_owned(),
                "state" => "state is not one of open, closed".to_owned(),
                "secret" => "secret must have 16 to 255 characters".to_owned(),
                "synonyms" => "group 1 of synonyms has a phrase with the NUL character".to_owned(),
                field => format!("{field} must not contain the NUL character"),
            };
            for value in ["\0", "a\0b", "\0https://acme.example", "ann@example.com\0", "https://acme\0.example"] {
                let response = write.send(&app.acme, &write.with(pointer, json!(value)));
                let case = format!("{}: {pointer} = {value:?}", write.case());
                assert_rejects(&response, if field == "target_id" { 404 } else { 422 }, &sentence, &case);
            }
        }
    }
    assert_eq!(records(&app), before);
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
    assert_still_serves(&app);
}

/// Contract 1: bodies are JSON.
/// Contract 4: `Accept` is `application/json`, also when it is not sent.
/// Contract 4: `Content-Type` is that of JSON bodies.
/// Decision 2: `Accept` without JSON is 406; `*/*`, `application/*` and none are allowed.
/// Decision 2: a wrong `Content-Type` is 415; none is allowed, except for an upload.
#[test]
fn only_plain_json_is_accepted_and_returned() {
    let (app, writes) = started();
    let before = records(&app);
    for write in &writes {
        let body = write.fresh().to_string();
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
            (406, "Accept must allow application/json", "Accept", "image/png, text/html;level=1"),
        ] {
            let header = [(name, value)];
            let json: &[(&str, &str)] = if name == "Content-Type" { &[] } else { &JSON };
            let response = write.send_with(&app.acme, &[json, &header].concat(), body.as_bytes());
            assert_rejects(&response, status, sentence, &format!("{}: {name}: {value}", write.case()));
        }
    }
    assert_eq!(records(&app), before);
    let known = Records::create(&app, &app.acme, "known");
    for read in reads() {
        let path = read.target_with_query(&known);
        for value in ["text/html", "image/*", "application/json;q=0", "text/*"] {
            let response = app.acme.request("GET", &path, &[("Accept", value)], None).expect("a response");
            assert_rejects(&response, 406, "Accept must allow application/json", &format!("GET {path}: {value}"));
        }
        for value in ["application/json", "*/*", "application/*", "text/html, */*;q=0.1", "", "*/*; q=.2", "nonsense"] {
            let response = app.acme.request("GET", &path, &[("Accept", value)], None).expect("a response");
            assert_eq!(response.status, 200, "GET {path}: {value}");
        }
    }
    for write in &writes {
        let status = write.status;
        let variants: [&[(&str, &str)]; 4] = [
            &[],
            &[("Content-Type", "application/json; charset=UTF-8")],
            &[("Content-Type", "APPLICATION/JSON")],
            &[("Content-Encoding", "identity")],
        ];
        for headers in variants {
            let response = write.send_with(&app.acme, headers, write.fresh().to_string().as_bytes());
            assert_eq!(response.status, status, "{} {}: {headers:?}", write.method, write.path);
        }
    }
    assert_still_serves(&app);
}

/// Decision 2: pages and sizes that are not integers of at least 1 are 422 that names them.
#[test]
fn numbers_of_pages_and_items_are_positive_integers() {
    let (app, _) = started();
    let known = Records::create(&app, &app.acme, "known");
    let values = concat!(
        "0 00 -1 %2B1 +1 %201 1%20 1.0 1.5 1,000 1e3 0x10 1_0 x null true NaN [] %5B1%5D %7B%7D ",
        "%D9%A1 %EF%BC%91 %C2%B2 %00 1%00 1' 1;drop 1-- %25 %zz %",
    );
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in parameters.iter().filter(|parameter| is_count(parameter)) {
            for value in values.split(' ').chain([""]) {
                let response = app.acme.get(&target(&read, &known, parameter, value));
                let case = format!("{path}: {parameter}={value}");
                assert_rejects(&response, 422, &format!("{parameter} must be an integer of at least 1"), &case);
            }
            let nines = "9".repeat(50);
            for value in ["1", "001", "%31", "100", "101", "4294967296", "9223372036854775807", "9223372036854775808"]
                .into_iter()
                .chain(["18446744073709551615", "18446744073709551616", nines.as_str()])
            {
                let response = app.acme.get(&target(&read, &known, parameter, value));
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
            app.acme.get_votes(&format!("email=nobody@example.com&{query}")).json(),
            json!({ "feature_requests": [], "page": page, "page_size": size, "total_count": 0, "total_pages": 1 }),
            "{query}"
        );
    }
    let twice = app.acme.get_changelogs("page_size=3&page_size=x");
    assert_rejects(&twice, 422, "page_size must be an integer of at least 1", "the last one is bad");
    let twice = app.acme.get_feature_requests("query=zebra&query=dark").json();
    assert_eq!(twice["feature_requests"][0]["title"], "Dark mode");
    assert_still_serves(&app);
}

/// Beyond the contract: no input causes a 5xx or a dropped connection.
#[test]
fn a_query_string_with_invalid_text_is_rejected() {
    let (app, _) = started();
    let known = Records::create(&app, &app.acme, "known");
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in &parameters {
            for value in ["%ff", "a%ff", "%c3%28", "%c0%80", "%ed%a0%80", "%f4%90%80%80", "%e2%82"] {
                let case = format!("{path}: {parameter}={value}");
                let response = app.acme.get(&target(&read, &known, parameter, value));
                assert_rejects(&response, 422, &format!("{parameter} is not valid UTF-8"), &case);
            }
        }
        for parameter in parameters.iter().filter(|parameter| !is_count(parameter)) {
            for value in ["%00", "a%00b", "ann@example.com%00"] {
                let case = format!("{path}: {parameter}={value}");
                let response = app.acme.get(&target(&read, &known, parameter, value));
                let sentence =
                    malformed(parameter).unwrap_or_else(|| format!("{parameter} must not contain the NUL character"));
                assert_rejects(&response, 422, &sentence, &case);
            }
        }
        // Unknown parameters are ignored, and so are separators without names.
        for query in
            ["x=%00", "x", "=", "&&&", "=&=", "%26=%3D", "%zz=%", "page%00=x", "x[]=1&x[a]=2", "email=a@b.co&?"]
        {
            let (target, needed) = (read.target(&known), read.target_with_query(&known));
            let needed = needed.split_once('?').map_or(String::new(), |(_, needed)| format!("&{needed}"));
            let needed = needed + words_of_search(&read);
            let response = app.acme.get(&format!("{target}?{query}{needed}"));
            assert_eq!(response.status, 200, "{path}?{query}: {}", response.text());
        }
    }
    assert_still_serves(&app);
}

/// Beyond the contract.
#[test]
fn query_strings_of_64_kilobytes_do_no_harm() {
    let (app, _) = started();
    let known = Records::create(&app, &app.acme, "known");
    for read in reads() {
        let (path, parameters) = (read.path, read.parameters());
        for parameter in &parameters {
            let sentence = match *parameter {
                "email" => "email must be at most 254 characters long".to_owned(),
                "query" if path.ends_with("/customers") => "query must be at most 254 characters long".to_owned(),
                "query" if path.ends_with("/tags") => "query must be at most 50 characters long".to_owned(),
                "query" | "title" => format!("{parameter} must be at most 1000 characters long"),
                "action" => "action must be at most 100 characters long".to_owned(),
                parameter => malformed(parameter).expect("a parameter with a format"),
            };
            for sign in ["x", "%20x", "%C3%BC", "%F0%9F%98%80"] {
                let response = app.acme.get(&target(&read, &known, parameter, &sign.repeat(60_000 / sign.len())));
                assert_rejects(&response, 422, &sentence, &format!("{path}: {parameter}={sign}…"));
            }
        }
        let many = format!("{}&{}", words_of_search(&read), "a=b&".repeat(15_000));
        let response = app.acme.get(&target(&read, &known, &format!("{many}email"), "ann@example.com"));
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        // Longer than any URL may be. The web server rejects it before routing, so that there is only a status.
        let longest = head(&app.acme, "GET", &target(&read, &known, "query", &"x".repeat(70_000)));
        let response = parsed(&app.acme.raw(format!("{longest}\r\n").as_bytes()));
        assert!((400..=499).contains(&response.status), "{path}: {}", response.status);
    }
    assert_still_serves(&app);
}

/// Decision 4: a search query is text, not syntax.
#[test]
fn syntax_of_query_languages_has_no_effect_in_a_search() {
    let (app, _) = started();
    let match_count = |query: &str| {
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
        assert_eq!(match_count(query), 1, "{query}");
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
        assert_eq!(match_count(query), 0, "{query}");
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
        match_count(query);
    }
    assert_eq!(match_count("dark"), 1);
    assert_still_serves(&app);
}

/// Contract 4.7, 4.8: an unknown request is `FeatureRequest does not exist.`.
/// Contract 7: an unknown request is an error on vote and comment.
/// Decision 2: an unknown request is 404, also for a value that is neither UUID nor slug.
#[test]
fn a_path_that_names_no_request_is_not_found() {
    let (app, writes) = started();
    let before = records(&app);
    let (letters, digits) = ("a".repeat(4_000), "9".repeat(4_000));
    let ids = concat!(
        "%00 1%00 %ff 1%ff %2f ..%2f.. %2e%2e%2f 1%2F1 %5c %zz 1% %25 %2531 . .. %2e%2e %20 1%20 %201 ",
        "1%0a 1%0d%0a 1;drop 1' 1'-- 1%22 1,2 1.0 1e0 0x1 +1 -1 0 00 99 99-dark-mode dark-mode null ",
        "undefined true %7Bid%7D %5B%5D * $1 @ %F0%9F%98%80 %D9%A1 %EF%BC%91 %C2%B9 %E2%80%8B1 ",
        "1%E2%80%8B 00000000-0000-0000-0000-000000000000 01890a5dac96774bbcceb302099a8057 ",
        "9223372036854775807 9223372036854775808 -9223372036854775808",
    );
    for id in ids.split(' ').chain([letters.as_str(), digits.as_str()]) {
        for write in writes.iter().filter(|write| write.path.starts_with("/feature_requests/1")) {
            let path = format!("/api/external/v1{}", write.path.replacen("/1", &format!("/{id}"), 1));
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
        "Ann\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}",
        "C++\u{200f} الآن",
        "می\u{200c}خواهم",
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

/// Returns the visible line of a text. `None` if it is too long.
fn visible_line(text: &str, max: usize) -> Option<Cow<'_, str>> {
    let line = clean_line(text);
    (line.chars().count() <= max).then_some(line)
}

/// Whether sanitizing leaves a text unchanged.
fn is_plain(text: &str) -> bool {
    !text.contains(['<', '>', '&', '\r', '\u{a0}']) && !text.starts_with('\u{feff}')
}

/// Asserts that a text was returned without what nobody can see, or sanitized, or that the field was rejected.
#[track_caller]
fn assert_returned_or_harmless(response: &Response, content: impl Fn(&Value) -> Value, field: &str, sent: &str) {
    let visible = drop_invisible(sent);
    if response.status != 201 {
        assert!(!is_plain(sent) || visible.trim().is_empty(), "{field}: {sent:?}: {}", response.text());
        let missing = format!("param is missing or the value is empty or invalid: {field}");
        assert_rejects(response, 422, &missing, sent);
        return;
    }
    let content = content(&response.json());
    if is_plain(sent) && !sent.contains('\n') {
        assert_eq!(content, json!(visible), "{field}");
        return;
    }
    let html = content.as_str().expect("HTML").to_lowercase();
    for harm in ["<script", "<svg", "<img", "<!--", "href=\"javascript"] {
        assert!(!html.contains(harm), "{field}: {sent:?}: {html}");
    }
}

/// Contract 2.2: `description` is plain text of at most 500 characters.
/// Contract 8: a description in search has at most 500 characters.
#[test]
fn strange_titles_tags_and_descriptions_come_back_as_visible() {
    let (app, _) = started();
    for (number, text) in naughty().iter().enumerate() {
        let response = app.acme.post_feature_request(&json!({ "feature_request": { "title": text } }));
        match visible_line(text, 200) {
            Some(title) => {
                assert_eq!(response.status, 201, "{text:?}: {}", response.text());
                let request = &response.json()["feature_request"];
                assert_eq!(request["title"], *title);
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
        match visible_line(text, 50) {
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
            let body = app.acme.get_feature_requests(&format!("query={word}&per_page=15")).json();
            let body = body["feature_requests"].as_array().expect("a list").clone();
            let body = body.iter().find(|request| request["id"] == response.json()["feature_request"]["id"]);
            let excerpt: String = drop_invisible(text.trim()).chars().take(500).collect();
            assert_eq!(body.expect("the request")["description"], json!(excerpt));
        }

        let response = app.acme.post_feature_request(&body("track_id", json!(text)));
        assert_rejects(&response, 422, "track_id is not a valid UUID", text);
    }
    assert_still_serves(&app);
}

/// Contract 2.5.
#[test]
fn strange_notes_comments_and_changelogs_come_back_as_sent_or_harmless() {
    let (app, _) = started();
    for text in &naughty() {
        let response = app.acme.post_comment("1", &json!({ "comment": { "content": text } }));
        assert_returned_or_harmless(&response, |body| body["comment"]["content"].clone(), "content", text);
        let response = app.acme.post_changelog(&json!({ "changelog": { "title": "1.2", "content": text } }));
        assert_returned_or_harmless(&response, |body| body["changelog"]["content"].clone(), "content", text);
        let response = app.acme.post_upvote("1", &json!({ "reference_note": { "body": text } }));
        let note = app.sql("SELECT body FROM notes ORDER BY id DESC LIMIT 1");
        assert_returned_or_harmless(&response, |_| json!(note[0]), "body", text);

        let response = app.acme.post_changelog(&json!({ "changelog": { "title": text, "content": "New" } }));
        match visible_line(text, 200) {
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

/// Contract 4.7: `customer` has `email` and `name`.
/// Beyond the contract.
#[test]
fn strange_names_and_addresses_come_back_as_visible() {
    let (app, _) = started();
    for (number, text) in naughty().iter().enumerate() {
        let email = format!("customer{number}@example.com");
        let response = app.acme.post_upvote("1", &json!({ "customer": { "email": email, "name": text } }));
        match visible_line(text, 200) {
            Some(name) => {
                assert_eq!(response.status, 201, "{text:?}: {}", response.text());
                let voters = app.acme.get_voters("1", "page_size=100").json();
                let voters = voters["voters"].as_array().expect("a list").clone();
                let voter = voters.iter().find(|voter| voter["email"] == email.as_str());
                assert_eq!(voter.expect("the voter")["name"], *name);
            }
            None => assert_rejects(&response, 422, "name must be at most 200 characters long", text),
        }

        let response = app.acme.patch_setting(&json!({ "setting": { "product_name": text } }));
        match visible_line(text, 200) {
            Some(name) => {
                assert_eq!(response.status, 200, "{text:?}: {}", response.text());
                assert_eq!(app.acme.get_setting().json()["setting"]["product_name"], *name);
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
        if clean_line(text).chars().count() <= 254 {
            assert_eq!(response.status, 201, "{text:?}: {}", response.text());
        } else {
            assert_rejects(&response, 422, "author_email must be at most 254 characters long", text);
        }
    }
    assert_still_serves(&app);
}

/// Decision 2.
#[test]
fn strange_addresses_are_refused_or_found_again() {
    let (app, _) = started();
    for text in &naughty() {
        let response = app.acme.post_upvote("1", &json!({ "customer": { "email": text } }));
        let sentence = if clean_line(text).chars().count() > 254 {
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

/// Contract 4.10: rule 1, the key is the client's string, in the JSON body.
/// Decision 5: an operation key has 1 to 255 characters, and is used unchanged.
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

/// Decision 4.
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
