//! Storage budgets of workspaces, and orphaned files.

use serde_json::{Value, json};

use crate::app::{App, FORM_TYPE, Response, eventually, files_below, form_with, has_keys, is_timestamp};
use crate::database::sql_timestamp;

const MB: usize = 1024 * 1024;
const NO_RECORDS: &str = "Storage for records is used up, the workspace has 1 MB";
const NO_FILES: &str = "Storage for files is used up, the workspace has 1 MB";

/// Starts a service with a budget of one megabyte of records per workspace, and with a feature request.
///
/// The workspace is counted before its first write: the count of a new one corrects the estimates some seconds after it,
/// which makes room again in a workspace that a test has filled.
fn started() -> (App, String) {
    let app = App::with(&[], &[("ROADMAP_STORAGE_RECORDS", "1MB")]);
    usage(&app, &["--recount"]);
    let request = app.acme.feature_request("Dark mode")["id"].as_str().unwrap().to_owned();
    (app, request)
}

fn comment(app: &App, request: &str, characters: usize) -> Response {
    app.acme.post_comment(request, &json!({ "comment": { "content": "x".repeat(characters) } }))
}

/// Posts shorter and shorter comments until none fits. Returns their number.
fn fill(app: &App, request: &str) -> i64 {
    let mut posted = 0;
    for characters in [100_000, 10_000, 1_000, 1] {
        loop {
            let response = comment(app, request, characters);
            if response.status != 201 {
                response.is_error(507, NO_RECORDS);
                break;
            }
            posted += 1;
        }
    }
    posted
}

/// Row counts of all tables that requests can add to.
fn rows(app: &App) -> Vec<i64> {
    let tables =
        ["feature_requests", "comments", "notes", "votes", "customers", "changelogs", "attachments", "operations"];
    tables.iter().map(|table| app.count(&format!("SELECT count(*) FROM {table}"))).collect()
}

fn usage(app: &App, flags: &[&str]) -> Value {
    let usage = app.roadmap(&[&["workspace", "usage", "--workspace", "acme"], flags].concat()).json();
    assert_eq!(usage.as_array().map(Vec::len), Some(1));
    usage[0].clone()
}

fn blobs(app: &App) -> usize {
    files_below(&app.data_dir().join("blobs")).len()
}

/// Beyond the contract: a workspace stores no more than its budgets; replays, moves and reads still work.
#[test]
fn records_over_the_budget_are_refused_whole_and_replays_are_served() {
    let (mut app, request) = started();
    let keyed = json!({ "comment": { "content": "first" }, "operation_key": "used" });
    let first = app.acme.post_comment(&request, &keyed);
    assert_eq!(first.status, 201, "{}", first.text());
    let posted = fill(&app, &request);
    assert_eq!(app.count("SELECT count(*) FROM comments"), posted + 1);
    assert!(posted >= 10, "{posted}");

    let before = rows(&app);
    let refused = |app: &App| {
        let with_key = |mut body: Value| {
            body["operation_key"] = json!("new");
            body
        };
        for key in [|body| body, with_key as fn(Value) -> Value] {
            let ann = json!({ "email": "ann@example.com" });
            app.acme
                .post_feature_request(&key(json!({ "feature_request": { "title": "New" } })))
                .is_error(507, NO_RECORDS);
            app.acme.post_upvote(&request, &key(json!({ "customer": ann }))).is_error(507, NO_RECORDS);
            app.acme.post_comment(&request, &key(json!({ "comment": { "content": "x" } }))).is_error(507, NO_RECORDS);
            let changelog = json!({ "changelog": { "title": "1.0", "content": "New" } });
            app.acme.post_changelog(&key(changelog)).is_error(507, NO_RECORDS);
        }
        app.acme.post_attachment(&form_with("a.txt", b"text")).is_error(507, NO_RECORDS);
    };
    refused(&app);
    assert_eq!((rows(&app), blobs(&app)), (before.clone(), 0));

    let replayed = app.acme.post_comment(&request, &keyed);
    assert_eq!((replayed.status, &replayed.bytes), (201, &first.bytes));
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    // Writes that add no records still succeed, and so do reads. Invalid requests get their usual errors.
    let moved = json!({ "track_id": app.track("Done") });
    assert_eq!(app.acme.patch_track(&request, &moved).status, 200);
    assert_eq!(app.acme.patch_setting(&json!({ "setting": { "product_name": "Acme 2" } })).status, 200);
    assert_eq!(app.acme.get_feature_requests("query=dark").status, 200);
    assert_eq!(app.acme.get_changelogs("").status, 200);
    app.acme
        .post_comment(&request, &json!({ "comment": {} }))
        .is_error(422, "param is missing or the value is empty or invalid: content");
    assert_eq!(rows(&app), before);
    // Another workspace has its own budget.
    app.workspace("bolt").feature_request("Theirs");

    // A process stores its usage when it stops, so that the next one rejects, too.
    app.terminate();
    assert!(app.wait_for_exit().success());
    app.restart();
    refused(&app);
    app.terminate();
    app.wait_for_exit();
    app.set_environment(&[("ROADMAP_STORAGE_RECORDS", "off")]);
    app.restart();
    assert_eq!(comment(&app, &request, 100_000).status, 201);
}

/// Beyond the contract.
#[test]
fn files_over_the_budget_are_rejected_and_leave_nothing() {
    let app = App::with(&[], &[("ROADMAP_STORAGE_FILES", "1MB")]);
    let upload = |bytes: usize| app.acme.post_attachment(&form_with("a.txt", &vec![b'x'; bytes]));
    assert_eq!(upload(MB - 5_000).status, 201);
    upload(5_001).is_error(507, NO_FILES);
    assert_eq!((rows(&app)[6], blobs(&app)), (1, 1));
    let last = upload(5_000);
    assert_eq!(last.status, 201, "{}", last.text());
    // The budget is exhausted: the response is sent before the body is read.
    let head = format!(
        "POST /api/external/v2/attachments HTTP/1.1\r\nHost: {}\r\nX-Api-Key: {}\r\nContent-Type: {FORM_TYPE}\r\n\
         Content-Length: 1000000\r\n\r\n",
        app.acme.host,
        app.acme.key.as_deref().unwrap()
    );
    let response = String::from_utf8(app.acme.raw(head.as_bytes())).unwrap();
    assert!(response.starts_with("HTTP/1.1 507 "), "{response}");
    assert!(response.ends_with(&format!("{{\"error\":\"{NO_FILES}\"}}")), "{response}");
    assert_eq!((rows(&app)[6], blobs(&app)), (2, 2));
    // Records still have room.
    app.acme.feature_request("Dark mode");
}

#[test]
fn usage_is_shown_to_operators_with_warnings() {
    let (mut app, request) = started();
    has_keys(
        &usage(&app, &[]),
        &["subdomain", "record_bytes", "record_limit", "file_bytes", "file_limit", "counted_at"],
    );
    fill(&app, &request);
    app.acme.post_attachment(&form_with("a.txt", b"text"));
    app.terminate();
    app.wait_for_exit();
    let stored = usage(&app, &[]);
    let counted = usage(&app, &["--recount"]);
    is_timestamp(&counted["counted_at"]);
    let bytes = |usage: &Value| usage["record_bytes"].as_i64().unwrap();
    assert!(bytes(&stored) >= bytes(&counted), "{stored} {counted}");
    assert!((MB as i64 - 1_000..=MB as i64).contains(&bytes(&counted)), "{counted}");
    assert_eq!((&counted["subdomain"], &counted["record_limit"]), (&json!("acme"), &json!(2_i64 << 30)));
    assert_eq!((&counted["file_bytes"], &counted["file_limit"]), (&json!(0), &json!(10_i64 << 30)));
    let table = app.roadmap_as_text(&["workspace", "usage"]);
    assert!(table.contains("1048576") && table.contains("acme"), "{table}");

    let doctor = |limit: &str| {
        let finished = app.roadmap_with_environment(&["doctor", "--json"], &[("ROADMAP_STORAGE_RECORDS", limit)]);
        let findings: Value = serde_json::from_str(&finished.stdout).unwrap();
        findings.as_array().unwrap().iter().find(|finding| finding["check"] == "usage").unwrap().clone()
    };
    let full = doctor("1MB");
    assert_eq!(
        (&full["result"], &full["found"]),
        (
            &json!("warning"),
            &json!(format!("acme has used {} % of storage_records", bytes(&counted) * 100 / MB as i64))
        )
    );
    for limit in ["2MB", "off"] {
        let well = doctor(limit);
        assert_eq!((&well["result"], &well["found"]), (&json!("ok"), &json!("no workspace is above 90 % of a budget")));
    }
}

#[test]
fn workspaces_without_a_count_are_counted_soon() {
    let (mut app, request) = started();
    comment(&app, &request, 50_000);
    app.terminate();
    app.wait_for_exit();
    let before = usage(&app, &["--recount"])["record_bytes"].as_i64().unwrap();
    app.data.execute("DELETE FROM workspace_usage");
    app.restart();
    assert_eq!(usage(&app, &[])["counted_at"], json!(null));
    // The first write triggers the count.
    comment(&app, &request, 1);
    eventually("the rows are counted", || usage(&app, &[])["counted_at"] != json!(null));
    assert!(usage(&app, &[])["record_bytes"].as_i64().unwrap() > before);
}

/// Beyond the contract: unused files are deleted after their time limit, covers never.
#[test]
fn unused_files_are_deleted_after_the_configured_time() {
    let mut app = App::start();
    let upload = |app: &App, name: &str| {
        let response = app.acme.post_attachment(&form_with(name, b"\x89PNG\r\n\x1a\n"));
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()
    };
    let with_cover = |app: &App, file: &Value| {
        let changelog = json!({ "title": "1.0", "content": "New", "cover_image_signed_id": file["signed_id"] });
        app.acme.post_changelog(&json!({ "changelog": changelog }))
    };
    let (unused, cover) = (upload(&app, "unused.txt"), upload(&app, "cover.png"));
    assert_eq!(with_cover(&app, &cover).status, 201);
    app.data.execute(&format!("UPDATE attachments SET created_at = {}", sql_timestamp("1000")));
    let new = upload(&app, "new.txt");
    app.terminate();
    app.wait_for_exit();
    assert_eq!(usage(&app, &[])["file_bytes"], json!(24));

    let sweep = |environment: &[(&str, &str)]| -> Value {
        let finished = app.roadmap_with_environment(&["attachments", "sweep", "--json"], environment);
        assert!(finished.success, "{}", finished.stderr);
        serde_json::from_str(&finished.stdout).unwrap()
    };
    assert_eq!(sweep(&[("ROADMAP_UNUSED_UPLOADS", "off")])["unused_removed"], json!(0));
    assert_eq!(sweep(&[])["unused_removed"], json!(1));
    assert_eq!(sweep(&[])["unused_removed"], json!(0));
    assert_eq!((rows(&app)[6], blobs(&app), &usage(&app, &[])["file_bytes"]), (2, 2, &json!(16)));

    app.restart();
    with_cover(&app, &unused).is_error(422, "Cover image is invalid");
    for (file, status) in [(&unused, 404), (&cover, 302), (&new, 302)] {
        let path = file["blob_url"].as_str().unwrap().split_once(".com").unwrap().1.to_owned();
        assert_eq!(app.acme.get(&path).status, status, "{path}");
    }
    assert_eq!(with_cover(&app, &new).status, 201);
}
