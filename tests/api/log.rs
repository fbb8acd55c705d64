//! Log: one line per request, with what operators need and without personal data.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::app::{App, eventually};

/// Returns the lines of the server's log.
fn lines(app: &App) -> Vec<String> {
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).expect("a log");
    log.lines().map(str::to_owned).collect()
}

/// Waits until this many requests are logged, and returns all lines.
#[track_caller]
fn after(app: &App, requests: usize) -> Vec<String> {
    let is_logged = |line: &&String| line.contains("request completed");
    eventually("all requests are logged", || lines(app).iter().filter(is_logged).count() == requests);
    lines(app)
}

/// Unique values for personal data. Each occurs in one place of the requests below.
const CANARIES: [&str; 16] = [
    "canaryemail",
    "canaryname",
    "canarytitle",
    "canarydescription",
    "canarynote",
    "canarycomment",
    "canarychangelog",
    "canarycontent",
    "canaryfilename",
    "canarybytes",
    "canaryquery",
    "canarypath",
    "canaryoperation",
    "canarytag",
    "canaryproduct",
    "canaryvoter",
];

/// Sends requests with a canary in every place that a client controls. Returns the number of requests.
fn request_with_canaries(app: &App) -> usize {
    let acme = &app.acme;
    let request = json!({
        "feature_request": { "title": "canarytitle", "description": "canarydescription", "tags": ["canarytag"] },
        "customer": { "email": "canaryemail@example.com", "name": "canaryname" },
        "reference_note": { "body": "canarynote" },
        "operation_key": "canaryoperation",
    });
    let form = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"canaryfilename.txt\"\r\n\
                Content-Type: text/plain\r\n\r\ncanarybytes\r\n--limit--\r\n";
    let vote =
        json!({ "customer": { "email": "canaryvoter@example.com" }, "reference_note": { "body": "canarynote" } });
    let comment = json!({ "comment": { "content": "<p>canarycomment</p>" }, "notify_all_voters": true });
    let changelog = json!({ "changelog": { "title": "canarychangelog", "content": "<p>canarycontent</p>" } });
    let wrong = json!({ "feature_request": { "title": ["canarytitle"], "canarytag": "canarytitle" } });
    let responses = [
        acme.post_feature_request(&request),
        acme.post_feature_request(&request),
        acme.post_feature_request(&wrong),
        acme.post_upvote("1-canarytitle", &vote),
        acme.post_comment("1", &comment),
        acme.post_changelog(&changelog),
        acme.patch_setting(&json!({ "setting": { "product_name": "canaryproduct" } })),
        acme.post_attachment(form.as_bytes()),
        acme.get_feature_requests("query=canaryquery&canaryquery=1"),
        acme.get_votes("email=canaryemail@example.com"),
        acme.get_votes("email=canaryemail"),
        acme.get_voters("canarypath", ""),
        acme.get("/canarypath?canaryquery=canaryemail@example.com"),
        acme.send("POST", "/api/external/v1/feature_requests/canarypath/upvotes", &json!("canarynote")),
        app.client("acme", "canaryoperation").get_tracks(),
    ];
    let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    assert_eq!(statuses, [201, 201, 422, 201, 201, 201, 200, 201, 200, 200, 422, 404, 404, 400, 401]);
    let votes = acme.get_votes("email=canaryemail@example.com").json();
    assert_eq!(votes["feature_requests"][0]["title"], "canarytitle");
    responses.len() + 1
}

#[test]
fn no_line_holds_personal_data() {
    let runs = ["text", "json"].iter().flat_map(|form| ["info", "debug"].map(|level| (*form, level)));
    // In parallel, because each run waits for the timeout of a locked database.
    std::thread::scope(|scope| {
        for (form, level) in runs {
            scope.spawn(move || no_line_holds_a_canary(form, level));
        }
    });
}

fn no_line_holds_a_canary(form: &str, level: &str) {
    let app = App::with(&["--log", level], &[("ROADMAP_LOG_FORMAT", form)]);
    let requests = request_with_canaries(&app);
    // One more request while the database is locked, so that a failure is logged, too.
    let lock = app.data.lock();
    let vote = json!({ "customer": { "email": "canaryvoter2@example.com", "name": "canaryname" } });
    let failed = app.acme.post_upvote("1", &vote);
    assert_eq!(failed.status, 503);
    drop(lock);
    let key = app.acme.key.clone().unwrap();
    let lines = after(&app, requests + 1);
    assert!(lines.iter().any(|line| line.contains("request failed")), "{lines:?}");
    for line in &lines {
        let line = line.to_lowercase();
        for canary in CANARIES.iter().copied().chain([&key[4..47]]) {
            assert!(!line.contains(&canary.to_lowercase()), "{form} {level} {canary}: {line}");
        }
        assert!(!line.contains("@example.com"), "{form} {level}: {line}");
    }
}

#[test]
fn a_line_of_json_has_these_fields_and_no_other() {
    let app = App::with(&[], &[("ROADMAP_LOG_FORMAT", "json")]);
    let requests = request_with_canaries(&app);
    let headers = [("X-Request-Id", "given-by-the-client")];
    app.acme.request("GET", "/api/external/v1/feature_requests/1/voters", &headers, None).unwrap();
    let outside = app.acme.get("/healthz").header("x-request-id").unwrap().to_owned();
    let lines = after(&app, requests + 2);
    let lines: Vec<Value> =
        lines.iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let completed: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request completed").collect();
    assert_eq!(completed.len(), requests + 2);
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<BTreeSet<String>>();
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    for line in &completed {
        let fields = ["timestamp", "level", "target", "message", "route", "status", "duration_us", "span"];
        assert_eq!(keys(line), set(&fields), "{line}");
        assert_eq!((&line["level"], &line["target"]), (&json!("INFO"), &json!("roadmap_http::access_log")), "{line}");
        assert!(line["status"].is_u64() && line["duration_us"].is_u64(), "{line}");
        // Requests to the API without authentication have no workspace.
        let known = line["status"] != 401 && line["route"] != "/healthz";
        let span: &[&str] =
            if known { &["name", "request_id", "method", "workspace"] } else { &["name", "request_id", "method"] };
        assert_eq!(keys(&line["span"]), set(span), "{line}");
        if known {
            assert_eq!(line["span"]["workspace"], "acme", "{line}");
        }
    }
    let of = |id: &str| {
        let mut line = (*completed.iter().find(|line| line["span"]["request_id"] == id).expect("the line")).clone();
        for unknown in ["timestamp", "duration_us"] {
            line.as_object_mut().unwrap().remove(unknown);
        }
        line
    };
    let expected = json!({
        "level": "INFO",
        "target": "roadmap_http::access_log",
        "message": "request completed",
        "route": "/api/external/v1/feature_requests/{id}/voters",
        "status": 200,
        "span": { "name": "request", "request_id": "given-by-the-client", "method": "GET", "workspace": "acme" },
    });
    assert_eq!(of("given-by-the-client"), expected);
    let expected = json!({
        "level": "INFO",
        "target": "roadmap_http::access_log",
        "message": "request completed",
        "route": "/healthz",
        "status": 200,
        "span": { "name": "request", "request_id": outside, "method": "GET" },
    });
    assert_eq!(of(&outside), expected);
}

#[test]
fn a_failure_has_its_request_and_workspace_at_any_level() {
    let app = App::with(&["--log", "warn"], &[("ROADMAP_LOG_FORMAT", "json")]);
    app.acme.feature_request("Dark mode");
    let lock = app.data.lock();
    let body = json!({ "customer": { "email": "ann@example.com" } });
    let headers = [("Content-Type", "application/json"), ("X-Request-Id", "the-one")];
    let path = "/api/external/v1/feature_requests/1/upvotes";
    let failed = app.acme.request("POST", path, &headers, Some(body.to_string().as_bytes())).unwrap();
    assert_eq!(failed.status, 503);
    drop(lock);
    let lines: Vec<Value> = lines(&app).iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let failed: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request failed").collect();
    let span = json!({ "name": "request", "request_id": "the-one", "method": "POST", "workspace": "acme" });
    assert_eq!((failed.len(), &failed[0]["span"], &failed[0]["status"]), (1, &span, &json!(503)));
}

/// The line of a sent mail has the id of the request that caused the mail, and nothing personal.
#[test]
fn the_line_of_a_mail_has_the_id_of_its_request() {
    let app = App::with(&[], &[("ROADMAP_LOG_FORMAT", "json")]);
    app.acme.feature_request("canarytitle");
    app.acme.vote("1", "canaryvoter@example.com");
    let comment = json!({ "comment": { "content": "<p>canarycomment</p>" }, "notify_all_voters": true });
    let posted = app.acme.post_comment("1", &comment);
    let id = posted.header("x-request-id").expect("an id").to_owned();
    let of_mail = || lines(&app).into_iter().find(|line| line.contains("a mail was sent"));
    eventually("the mail is logged", || of_mail().is_some());
    let line = of_mail().unwrap();
    let parsed: Value = serde_json::from_str(&line).expect("an object");
    assert_eq!((&parsed["span"]["name"], &parsed["span"]["request_id"]), (&json!("mail"), &json!(id)), "{line}");
    assert!(!line.contains("canary"), "{line}");
}
