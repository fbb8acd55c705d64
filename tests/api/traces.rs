//! Traces of requests, as a collector receives them by OTLP over HTTP.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind, status::StatusCode};
use prost::Message;
use roadmap_testkit::http::{HttpSink, Request};
use serde_json::json;

use crate::app::{App, WAIT_LIMIT};

/// Simplified span for comparisons: attributes by name, as text.
#[derive(Debug, PartialEq)]
struct SpanSummary {
    name: String,
    is_error: bool,
    attributes: BTreeMap<String, String>,
}

fn text(value: Option<AnyValue>) -> String {
    match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        other => panic!("{other:?}"),
    }
}

fn attributes(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    attributes.into_iter().map(|attribute| (attribute.key, text(attribute.value))).collect()
}

/// Returns all received spans, each with its resource attributes.
fn spans(requests: &[Request]) -> Vec<(BTreeMap<String, String>, Span)> {
    let mut spans = Vec::new();
    for request in requests {
        assert_eq!(request.line, "POST /v1/traces");
        assert!(request.headers.contains(&"content-type: application/x-protobuf".to_owned()), "{request:?}");
        for resource in ExportTraceServiceRequest::decode(&*request.body).expect("an export").resource_spans {
            let of = attributes(resource.resource.expect("a resource").attributes);
            let new_spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            spans.extend(new_spans.map(|span| (of.clone(), span)));
        }
    }
    spans
}

fn span_summary(name: &str, is_error: bool, pairs: &[(&str, &str)]) -> SpanSummary {
    let attributes = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    SpanSummary { name: name.to_owned(), is_error, attributes }
}

#[test]
fn each_request_is_a_span_with_its_route_and_no_personal_data() {
    let sink = HttpSink::start();
    let url = sink.url();
    // Tracing is independent of the log level.
    let mut app = App::with(&["--log", "error"], &[("ROADMAP_OTLP_ENDPOINT", &url)]);
    let send = |method: &str, path: &str, id: &str, body: Option<&str>| {
        let headers = [("X-Request-Id", id), ("Content-Type", "application/json")];
        app.acme.request(method, path, &headers, body.map(str::as_bytes)).expect("a response").status
    };
    let request = json!({
        "feature_request": { "title": "canary" },
        "customer": { "email": "canary@example.com" },
        "operation_key": "canary",
    });
    assert_eq!(send("POST", "/api/external/v1/feature_requests", "one", Some(&request.to_string())), 201);
    assert_eq!(send("GET", "/api/external/v1/feature_requests/1-canary/voters?page=1&canary=1", "two", None), 200);
    assert_eq!(send("GET", "/canary", "three", None), 404);
    let lock = app.data.lock();
    let vote = json!({ "customer": { "email": "canary@example.com" } }).to_string();
    assert_eq!(send("POST", "/api/external/v1/feature_requests/1/upvotes", "four", Some(&vote)), 503);
    drop(lock);
    // Remaining spans are exported at shutdown.
    app.terminate();
    assert!(app.wait_for_exit().success());
    let is_request = |span: &Span| span.kind() == SpanKind::Server;
    let all = |requests: &[Request]| spans(requests).iter().filter(|(_, span)| is_request(span)).count() == 4;
    assert!(sink.wait_until(WAIT_LIMIT, all), "{:?}", sink.received());

    let received = sink.received();
    for request in &received {
        let key = app.acme.key.clone().unwrap();
        for secret in ["canary", &key[4..47]] {
            let is_there = request.body.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_there, "{secret}: {request:?}");
        }
    }
    let mut summaries = Vec::new();
    for (of, span) in spans(&received) {
        let service = [("service.name", "roadmap"), ("service.version", "0.1.0")];
        assert_eq!(of, service.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!((span.trace_id.len(), span.span_id.len()), (16, 8));
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano && span.events.is_empty(), "{span:?}");
        if !is_request(&span) {
            continue;
        }
        let is_error = span.status.is_some_and(|status| status.code() == StatusCode::Error);
        summaries.push(SpanSummary { name: span.name, is_error, attributes: attributes(span.attributes) });
    }
    summaries.sort_by_key(|span| span.attributes.get("request_id").cloned());
    let expected = [
        span_summary(
            "POST /api/external/v1/feature_requests/{id}/upvotes",
            true,
            &[
                ("http.request.method", "POST"),
                ("http.response.status_code", "503"),
                ("http.route", "/api/external/v1/feature_requests/{id}/upvotes"),
                ("request_id", "four"),
            ],
        ),
        span_summary(
            "POST /api/external/v1/feature_requests",
            false,
            &[
                ("http.request.method", "POST"),
                ("http.response.status_code", "201"),
                ("http.route", "/api/external/v1/feature_requests"),
                ("request_id", "one"),
            ],
        ),
        span_summary(
            "GET unknown",
            false,
            &[
                ("http.request.method", "GET"),
                ("http.response.status_code", "404"),
                ("http.route", "unknown"),
                ("request_id", "three"),
            ],
        ),
        span_summary(
            "GET /api/external/v1/feature_requests/{id}/voters",
            false,
            &[
                ("http.request.method", "GET"),
                ("http.response.status_code", "200"),
                ("http.route", "/api/external/v1/feature_requests/{id}/voters"),
                ("request_id", "two"),
            ],
        ),
    ];
    assert_eq!(summaries, expected);
}

fn named(name: &'static str) -> impl Fn(&&Span) -> bool {
    move |span| span.name == name
}

/// Returns the children of a span, in the order of their beginnings.
fn children(spans: &[Span], parent: &Span) -> Vec<Span> {
    let is_child = |span: &&Span| span.parent_span_id == parent.span_id && span.trace_id == parent.trace_id;
    let mut children: Vec<Span> = spans.iter().filter(is_child).cloned().collect();
    children.sort_by_key(|span| span.start_time_unix_nano);
    children
}

/// A trace shows the units of work and the statements of a request, by name.
#[test]
fn a_request_has_spans_of_its_units_of_work_and_statements() {
    let sink = HttpSink::start();
    let mut app = App::with(&[], &[("ROADMAP_OTLP_ENDPOINT", &sink.url())]);
    app.acme.feature_request("Dark mode");
    app.acme.vote("1", "ann@example.com");
    assert_eq!(app.acme.get("/api/external/v1/feature_requests/1").status, 200);
    let comment = json!({ "comment": { "content": "<p>Soon</p>" }, "notify_all_voters": true });
    let id = app.acme.post_comment("1", &comment).header("x-request-id").expect("an id").to_owned();
    crate::mail::wait_for_mail_files(&app, 1);
    app.terminate();
    assert!(app.wait_for_exit().success());
    let all = |requests: &[Request]| spans(requests).iter().any(|(_, span)| span.name == "mail");
    assert!(sink.wait_until(WAIT_LIMIT, all), "{:?}", sink.received());

    let spans: Vec<Span> = spans(&sink.received()).into_iter().map(|(_, span)| span).collect();
    let root = |name: &'static str| spans.iter().find(named(name)).unwrap_or_else(|| panic!("{name}"));
    let comment = children(&spans, root("POST /api/external/v1/feature_requests/{id}/comments"));
    let unit = comment.iter().find(named("PostComment")).unwrap_or_else(|| panic!("{comment:?}"));
    let unit_attributes = attributes(unit.attributes.clone());
    assert_eq!(unit_attributes.keys().collect::<Vec<_>>(), ["attempt", "workspace"]);
    assert_eq!(unit_attributes["attempt"], "1");
    let system = if *crate::database::ON_POSTGRES { "postgresql" } else { "sqlite" };
    let statements = children(&spans, unit);
    for statement in &statements {
        let expected = [("db.query.summary", statement.name.as_str()), ("db.system.name", system)];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!((attributes(statement.attributes.clone()), statement.kind()), (expected.into(), SpanKind::Client));
        assert!(statement.start_time_unix_nano >= unit.start_time_unix_nano, "{statement:?}");
        assert!(statement.end_time_unix_nano <= unit.end_time_unix_nano, "{statement:?}");
    }
    assert!(statements.iter().any(|statement| statement.name == "COMMIT"), "{statements:?}");
    // A vote may be cast together with others on PostgreSQL, but it has its unit of work.
    let vote = children(&spans, root("POST /api/external/v1/feature_requests/{id}/upvotes"));
    assert!(vote.iter().any(|span| span.name == "CastVote"), "{vote:?}");
    // A read has no unit of work.
    let read = children(&spans, root("GET /api/external/v1/feature_requests/{id}"));
    assert!(!read.is_empty() && read.iter().all(|span| span.kind() == SpanKind::Client), "{read:?}");
    let mail = root("mail");
    assert_eq!(attributes(mail.attributes.clone())["request_id"], id);
    assert!(!children(&spans, mail).is_empty(), "{mail:?}");
}

#[test]
fn an_unreachable_collector_delays_no_request() {
    let app = App::with(&[], &[("ROADMAP_OTLP_ENDPOINT", "http://127.0.0.1:1")]);
    for _ in 0..20 {
        assert_eq!(app.acme.get_tracks().status, 200);
    }
    let log = || std::fs::read_to_string(app.data_dir().join("server.log")).expect("a log");
    crate::app::eventually("the failure is logged", || log().contains("failed to send traces"));
    assert_eq!(app.acme.get_tracks().status, 200);
    app.has_logged_no_failure();
}
