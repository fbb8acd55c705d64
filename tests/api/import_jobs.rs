//! Imports of files that are uploaded over the API or on the page of the panel, and done by the service.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::app::{App, Client, FORM_TYPE, Response, eventually, files_below};
use crate::browser::{Browser, hidden, path_of};
use crate::database::uuid_text;
use crate::shared::column;

const PATH: &str = "/api/external/v2/imports";
const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

const POSTS: &str = "Headline;State;Votes;Author email;Tags\n\
    Dark mode;planned;3;ann@a.example;ui\n\
    Export;Someday;0;bob@a.example;\n\
    ;planned;1;;\n";

fn sample(name: &str) -> Vec<u8> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/samples");
    std::fs::read(samples.join(name)).expect("a sample")
}

/// Builds a form with fields before a file.
fn form(fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, value) in fields {
        let part = format!("--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        form.extend_from_slice(part.as_bytes());
    }
    if let Some((name, content)) = file {
        let head = format!("--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(content);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(b"--limit--\r\n");
    form
}

fn post(client: &Client, fields: &[(&str, &str)], file: Option<(&str, &[u8])>) -> Response {
    client.request("POST", PATH, &[("Content-Type", FORM_TYPE)], Some(&form(fields, file))).expect("a response")
}

/// Uploads a file, and returns its import.
#[track_caller]
fn upload(client: &Client, source: &str, name: &str, content: &[u8]) -> Value {
    let response = post(client, &[("source", source)], Some((name, content)));
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["import"].clone()
}

fn show(client: &Client, id: &str) -> Value {
    client.get(&format!("{PATH}/{id}")).is_ok()["import"].clone()
}

fn act(client: &Client, id: &str, action: &str, body: &Value) -> Response {
    client.send("POST", &format!("{PATH}/{id}/{action}"), body)
}

/// Waits until an import does not run any more.
#[track_caller]
fn ended(client: &Client, id: &str) -> Value {
    found_within(Duration::from_secs(90), || Some(show(client, id)).filter(|import| import["state"] != "running"))
}

/// Runs an import to its end.
#[track_caller]
fn run(client: &Client, id: &str, body: &Value) -> Value {
    let started = act(client, id, "run", body);
    assert_eq!((started.status, &started.json()["import"]["state"]), (202, &json!("running")), "{}", started.text());
    ended(client, id)
}

fn id_of(import: &Value) -> String {
    import["id"].as_str().expect("an id").to_owned()
}

/// Import contract 10: a file is uploaded, tried out, imported by the service, and undone. The files of the report are
/// handed out without a key.
#[test]
fn a_backup_is_imported_over_the_api() {
    let app = App::start();
    let import = upload(&app.acme, "fider", "backup.zip", &sample("fider/backup.zip"));
    let id = id_of(&import);
    assert_eq!(
        (&import["state"], &import["file_name"], &import["name"], &import["report"], &import["dry_run"]),
        (&json!("uploaded"), &json!("backup.zip"), &json!("fider"), &json!(null), &json!(false))
    );
    // Nothing of it is in.
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);

    let tried = run(&app.acme, &id, &json!({ "dry_run": true }));
    assert_eq!((&tried["state"], &tried["dry_run"]), (&json!("uploaded"), &json!(true)), "{tried}");
    let expected = tried["report"]["counts"].clone();
    assert!(expected["feature_requests"]["new"].as_u64() > Some(0), "{tried}");
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);

    let done = run(&app.acme, &id, &json!({ "operation_key": "run-1" }));
    assert_eq!(
        (&done["state"], &done["report"]["counts"], &done["file_name"]),
        (&json!("done"), &expected, &json!(null))
    );
    // A repeated request changes nothing.
    assert_eq!(act(&app.acme, &id, "run", &json!({ "operation_key": "run-1" })).status, 202);
    assert_eq!(show(&app.acme, &id)["state"], "done");
    let new = expected["feature_requests"]["new"].as_i64().expect("a number");
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), new);
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
    assert_eq!(files_below(&app.data_dir().join("imports")), Vec::<std::path::PathBuf>::new());

    let files = done["files"].as_object().expect("files");
    assert!(files.contains_key("report.json") && files.contains_key("problems.csv"), "{files:?}");
    let stranger = Browser::new(&app);
    let download = |url: &Value| stranger.get(&path_of(url.as_str().expect("a URL")));
    let report = download(&files["report.json"]);
    assert_eq!(report.json(), done["report"]);
    assert!(report.header("content-disposition").unwrap().starts_with("attachment"), "{:?}", report.headers);
    let forged = files["report.json"].as_str().unwrap().replace("/files/", "/files/A");
    assert_eq!(download(&json!(forged)).status, 404);

    assert_eq!(app.acme.delete(&format!("{PATH}/{id}")).status, 409);
    assert_eq!(act(&app.acme, &id, "run", &json!({})).status, 409);
    let undone = act(&app.acme, &id, "undo", &json!({}));
    assert_eq!((undone.status, &undone.json()["import"]["state"]), (202, &json!("running")));
    let undone = ended(&app.acme, &id);
    assert_eq!(undone["state"], "undone");
    assert_eq!(undone["report"]["undone"]["kept"], json!([]));
    assert_eq!(undone["report"]["undone"]["deleted"]["feature_requests"], expected["feature_requests"]["new"]);
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
    assert_eq!(act(&app.acme, &id, "undo", &json!({})).status, 409);

    let audit = app.acme.get_audit_entries("page_size=4").is_ok();
    let actions = ["import.finish", "import.undo", "import.finish", "import.start"];
    assert_eq!(column(&audit, "audit_entries", "action"), actions);
    assert_eq!(audit["audit_entries"][3]["actor"]["kind"], "api_key");
    let list = app.acme.get(&format!("{PATH}?page_size=1")).is_ok();
    assert_eq!((column(&list, "imports", "id"), &list["total_count"]), (vec![json!(id)], &json!(1)));
}

/// Import contract 10: options are sent with the file or with the run.
#[test]
fn options_say_how_a_file_is_read() {
    let app = App::start();
    let options =
        json!({ "map": { "title": "Headline", "votes": "" }, "tracks": { "Someday": "Planned" } }).to_string();
    let fields = [("source", "csv"), ("name", "csv-2"), ("options", &*options)];
    let response = post(&app.acme, &fields, Some(("posts.csv", POSTS.as_bytes())));
    let import = response.json()["import"].clone();
    assert_eq!((response.status, &import["name"]), (201, &json!("csv-2")), "{import}");
    let id = id_of(&import);
    let tried = run(&app.acme, &id, &json!({ "dry_run": true }));
    let counts = |import: &Value| {
        (import["report"]["counts"]["feature_requests"]["new"].clone(), import["report"]["votes"]["nameless"].clone())
    };
    assert_eq!((counts(&tried), &tried["report"]["new_tracks"]), ((json!(2), json!(0)), &json!([])));
    let done = run(&app.acme, &id, &json!({ "options": { "map": { "title": "Headline" } } }));
    assert_eq!((counts(&done), &done["report"]["new_tracks"]), ((json!(2), json!(3)), &json!(["Someday"])));
    let files = done["files"].as_object().expect("files");
    let rejected = Browser::new(&app).get(&path_of(files["rejected/posts.csv"].as_str().expect("a URL")));
    assert_eq!(rejected.text(), "Headline;State;Votes;Author email;Tags\n;planned;1;;\n");
    assert_eq!(rejected.header("content-disposition"), Some("attachment; filename=\"posts.csv\""));
}

/// Import contract 5, 10: what cannot be imported is refused with a sentence, and not kept.
#[test]
fn what_cannot_be_imported_is_refused() {
    let app = App::with(&[], &[("ROADMAP_IMPORT_MAX_SIZE", "1MB")]);
    let csv = POSTS.as_bytes();
    let invalid = |fields: &[(&str, &str)], file: Option<(&str, &[u8])>, part: &str| {
        let response = post(&app.acme, fields, file);
        assert_eq!(response.status, 422, "{part}: {}", response.text());
        assert!(response.json()["error"].as_str().unwrap().contains(part), "{part}: {}", response.text());
    };
    invalid(&[], Some(("a.csv", csv)), "source");
    invalid(&[("source", "jira")], Some(("a.csv", csv)), "source must be one of csv");
    invalid(&[("source", "csv")], None, "file");
    invalid(&[("source", "csv"), ("name", "A b")], Some(("a.csv", csv)), "name");
    invalid(&[("source", "csv"), ("options", "{")], Some(("a.csv", csv)), "options cannot be read");
    invalid(&[("source", "csv"), ("options", "{\"dates\":\"ymd\"}")], Some(("a.csv", csv)), "dates must be dmy or mdy");
    invalid(&[("source", "csv"), ("options", "{\"pace\":1}")], Some(("a.csv", csv)), "pace");
    invalid(&[("source", "csv"), ("options", "{\"encoding\":\"klingon\"}")], Some(("a.csv", csv)), "klingon");
    invalid(&[("source", "fider")], Some(("a.zip", b"PK\x03\x04 broken")), "");
    invalid(&[("source", "csv")], Some(("backup.zip", &sample("fider/backup.zip"))), "Fider");
    let large = vec![b'a'; 1024 * 1024 + 1];
    invalid(&[("source", "csv")], Some(("a.csv", &large)), "import_max_size");
    for name in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/samples/hostile"))
        .into_iter()
        .flatten()
    {
        let path = name.expect("a sample").path();
        if path.extension().is_some_and(|extension| extension == "zip") {
            invalid(&[("source", "csv")], Some(("a.zip", &std::fs::read(&path).expect("a sample"))), "");
        }
    }
    assert_eq!(app.acme.get(PATH).is_ok()["imports"], json!([]));
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 0);
    assert_eq!(files_below(&app.data_dir().join("imports")), Vec::<std::path::PathBuf>::new());
    app.has_logged_no_failure();

    // So many wait at most, and one that is deleted makes room.
    let ids: Vec<_> = (0..20).map(|_| id_of(&upload(&app.acme, "csv", "a.csv", csv))).collect();
    assert_eq!(post(&app.acme, &[("source", "csv")], Some(("a.csv", csv))).status, 409);
    assert_eq!(app.acme.delete(&format!("{PATH}/{}", ids[0])).status, 204);
    assert_eq!(app.acme.delete(&format!("{PATH}/{}", ids[0])).status, 404);
    upload(&app.acme, "csv", "a.csv", csv);
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 20);

    // Nor do fields of another type begin anything.
    for (action, field) in [("run", "dry_run"), ("run", "options"), ("run", "operation_key"), ("undo", "operation_key")]
    {
        let response = act(&app.acme, &ids[1], action, &json!({ field: 17 }));
        assert_eq!(response.status, 422, "{action}, {field}: {}", response.text());
        assert!(response.json()["error"].as_str().unwrap().contains(field), "{action}: {}", response.text());
    }
    assert_eq!(show(&app.acme, &ids[1])["state"], "uploaded");
}

/// Import contract 10: a file without a title is imported once it is said which column it is; until then the run fails and
/// says so, and nothing is lost.
#[test]
fn a_run_that_cannot_read_its_file_says_why() {
    let app = App::start();
    let id = id_of(&upload(&app.acme, "csv", "posts.csv", b"Wish;When\nDark mode;2024-01-01\n"));
    for (body, state) in [(json!({ "dry_run": true }), "uploaded"), (json!({}), "failed")] {
        let import = run(&app.acme, &id, &body);
        assert_eq!(import["state"], state, "{import}");
        let why = import["report"]["why"].as_str().expect("a reason");
        assert!(why.contains("has no column for the title"), "{why}");
    }
    let done = run(&app.acme, &id, &json!({ "options": { "map": { "title": "Wish", "created_at": "When" } } }));
    assert_eq!((&done["state"], &done["report"]["counts"]["feature_requests"]["new"]), (&json!("done"), &json!(1)));
    assert_eq!(app.acme.detail("1")["created_at"], "2024-01-01T00:00:00.000Z");
    // A failed one can be deleted instead.
    let id = id_of(&upload(&app.acme, "csv", "posts.csv", b"Wish\nDark mode\n"));
    assert_eq!(run(&app.acme, &id, &json!({}))["state"], "failed");
    assert_eq!(app.acme.delete(&format!("{PATH}/{id}")).status, 204);
}

/// Import contract 10: the scope manage, and only in the own workspace. Files of imports are no uploads.
#[test]
fn imports_are_for_keys_that_manage_and_for_admins() {
    let app = App::start();
    let id = id_of(&upload(&app.acme, "csv", "posts.csv", POSTS.as_bytes()));
    let manage = ["--scope", "read", "--scope", "write", "--scope", "manage"];
    app.workspace("globex");
    let globex = app.client("globex", &app.key("globex", &manage));
    for (client, status) in [(app.client("acme", &app.key("acme", &manage[..4])), 403), (globex, 404)] {
        for (method, path) in [("GET", ""), ("POST", "/run"), ("POST", "/undo"), ("DELETE", "")] {
            let path = format!("{PATH}/{id}{path}");
            let response = client.send(method, &path, &json!({}));
            assert_eq!(response.status, status, "{method} {path}");
        }
    }
    let file = app.sql(&format!("SELECT {} FROM attachments", uuid_text("id"))).remove(0);
    assert_eq!((app.acme.get_attachment(&file).status, app.acme.delete_attachment(&file).status), (404, 404));

    let admin = Browser::signed_in(&app, "olga@acme.example");
    app.roadmap(&[
        "member",
        "add",
        "--workspace",
        "acme",
        "--email",
        "max@acme.example",
        "--name",
        "Max",
        "--role",
        "member",
    ]);
    let member = Browser::signed_in(&app, "max@acme.example");
    let customer = Browser::signed_in(&app, "ann@a.example");
    let stranger = Browser::new(&app);
    let pages = ["/admin/imports".to_owned(), format!("/admin/imports/{id}"), format!("/admin/imports/{id}/undo")];
    for page in &pages {
        assert_eq!(admin.get(page).status, 200, "{page}");
        let others = [&member, &customer, &stranger].map(|browser| browser.get(page).status);
        assert_eq!(others, [403, 404, 303], "{page}");
    }
    for (path, fields) in [(&pages[1], [("do", "import")]), (&pages[2], [("do", "")]), (&pages[1], [("do", "discard")])]
    {
        let others = [&member, &customer, &stranger].map(|browser| browser.post(path, &fields).status);
        assert_eq!(others, [403, 404, 303], "{path}");
        assert_eq!(admin.post_with(path, &fields, &[("Origin", "https://evil.example")]).status, 403);
    }
    // What cannot be taken back needs a sign-in of the last hour, and so do files about people.
    app.data.age_sessions();
    assert!(!admin.page(&pages[1]).contains("name=\"do\""));
    assert_eq!(admin.post(&pages[1], &[("do", "import")]).status, 303);
    assert_eq!(show(&app.acme, &id)["state"], "uploaded");
    assert_eq!(admin.get(&format!("{}/files/{UNKNOWN}", pages[1])).status, 303);
}

/// Uploads a file on the page. Returns the path of its import.
#[track_caller]
fn upload_on_page(browser: &Browser, source: &str, name: &str, content: &[u8]) -> String {
    let response = post_on_page(browser, source, Some((name, content)));
    assert_eq!(response.status, 303, "{}", response.text());
    response.header("location").expect("a location").to_owned()
}

fn post_on_page(browser: &Browser, source: &str, file: Option<(&str, &[u8])>) -> Response {
    let origin = browser.origin();
    let headers = [("Origin", &*origin), ("Content-Type", FORM_TYPE)];
    browser.send("POST", "/admin/imports", &headers, Some(&form(&[("source", source), ("name", "")], file)))
}

/// Import contract 9: from a table with other names to a portal, and back, by the pages alone.
#[test]
fn a_table_is_imported_on_the_page() {
    let app = App::start();
    let admin = Browser::signed_in(&app, "olga@acme.example");
    for (source, file, sentence) in [
        ("csv", None, "Choose a file."),
        ("", Some(("posts.csv", POSTS.as_bytes())), "Choose the program"),
        ("fider", Some(("posts.csv", POSTS.as_bytes())), ""),
    ] {
        let refused = post_on_page(&admin, source, file);
        assert_eq!(refused.status, 422, "{source}");
        assert!(
            refused.text().contains("There is a problem") && refused.text().contains(sentence),
            "{}",
            refused.text()
        );
    }
    let path = upload_on_page(&admin, "csv", "wishes <b>.csv", POSTS.replace("Headline", "Wish").as_bytes());
    let page = admin.page(&path);
    assert!(page.contains("No column has the title yet") && page.contains("Field for Wish"), "{page}");
    assert!(!page.contains("<b>.csv"), "{page}");
    let send = |fields: &[(&str, &str)]| {
        let key = hidden(&admin.page(&path), "operation_key");
        let mut fields = fields.to_vec();
        fields.push(("operation_key", &key));
        admin.post(&path, &fields)
    };
    let columns = [("column-1", "status"), ("column-2", "votes"), ("column-3", "author_email"), ("column-4", "tags")];
    let twice = send(&[&columns[1..], &[("column-0", "title"), ("column-1", "title"), ("do", "preview")]].concat());
    assert_eq!(twice.status, 422);
    assert!(twice.text().contains("Two columns have the same field"), "{}", twice.text());
    let previewed = send(&[&columns[..], &[("column-0", "title"), ("do", "preview")]].concat());
    assert_eq!(previewed.status, 303, "{}", previewed.text());
    let page = admin.page(&path);
    for part in ["Dark mode", "Track for Someday", "New track: Someday", "ann@a.example", "Try it"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The status gets a track that is there.
    let chosen = [&columns[..], &[("column-0", "title"), ("status-0", "Planned"), ("do", "try")]].concat();
    assert_eq!(send(&chosen).status, 303);
    let wait = || {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let page = admin.page(&path);
            if !page.contains("role=\"progressbar\"") {
                break page;
            }
            assert!(page.contains("data-reload"), "{page}");
            assert!(Instant::now() < deadline, "it still runs");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    let tried = wait();
    for part in [
        "What would be imported. Nothing was written.",
        "Feature requests",
        "the title is blank",
        "Download report",
        "Download rejected records",
    ] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 0);
    let chosen = [&columns[..], &[("column-0", "title"), ("status-0", "Planned"), ("do", "import")]].concat();
    assert_eq!(send(&chosen).status, 303);
    let done = wait();
    assert!(done.contains("Undo import") && !done.contains("Update preview"), "{done}");
    assert_eq!(app.acme.detail("1")["track"], "Planned");
    assert_eq!(app.acme.detail("2")["track"], "Planned");
    let report = done.split("href=\"").find(|link| link.contains("/files/")).and_then(|link| link.split('"').next());
    let download = admin.get(report.expect("a link"));
    assert_eq!((download.status, &download.json()["state"]), (200, &json!("done")));
    assert!(download.header("content-disposition").unwrap().starts_with("attachment"));
    assert!(admin.page("/admin/imports").contains("wishes") || admin.page("/admin/imports").contains("CSV"));

    // What somebody has voted for since stays.
    app.acme.vote("2", "eve@a.example");
    let undo = format!("{path}/undo");
    let key = hidden(&admin.page(&undo), "operation_key");
    assert_eq!(admin.submit(&undo, &[("operation_key", &key)]), path);
    let undone = wait();
    assert!(undone.contains("These stay, because") && undone.contains(">Export<"), "{undone}");
    assert_eq!(app.acme.get_feature_request("1").status, 404);
    assert_eq!(app.acme.detail("2")["title"], "Export");
    app.has_logged_no_failure();
}

/// A file of so many feature requests that its import takes a while.
fn many(count: u32) -> String {
    let row = |number: u32| format!("{number},Feature request {number} with a title,planned,voter{number}@a.example\n");
    format!("id,title,status,author_email\n{}", (0..count).map(row).collect::<String>())
}

/// Import contract 9: a process that is killed, or stops, leaves its run to the next one, which ends it as if nothing had
/// happened.
#[test]
fn a_run_goes_on_after_its_process_has_ended() {
    let mut app = App::start();
    for is_killed in [true, false] {
        let content = many(4_000);
        let name = if is_killed { "killed" } else { "stopped" };
        let response = post(&app.acme, &[("source", "csv"), ("name", name)], Some(("posts.csv", content.as_bytes())));
        let id = id_of(&response.json()["import"]);
        assert_eq!(act(&app.acme, &id, "run", &json!({})).status, 202);
        eventually("some of it is in", || {
            let import = show(&app.acme, &id);
            let is_loading = import["progress"]["stage"] == "feature_requests" && import["progress"]["done"] != 0;
            is_loading || import["state"] == "done"
        });
        if is_killed {
            app.kill();
        } else {
            app.terminate();
            app.wait_for_exit();
        }
        app.restart();
        assert!(["running", "done"].contains(&show(&app.acme, &id)["state"].as_str().expect("a state")));
        let done = ended(&app.acme, &id);
        assert_eq!(done["state"], "done", "{done}");
        assert_eq!(done["report"]["counts"]["feature_requests"]["new"], 4_000, "{done}");
        assert_eq!(app.count("SELECT count(*) FROM feature_requests"), if is_killed { 4_000 } else { 8_000 });
    }
    assert_eq!(files_below(&app.data_dir().join("imports")), Vec::<std::path::PathBuf>::new());
}

fn found_within<T>(limit: Duration, mut find: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(Instant::now() < deadline, "it takes too long");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A report for which there is no room keeps no import from its end.
#[test]
fn a_run_ends_although_its_report_cannot_be_stored() {
    let app = App::with(&[], &[("ROADMAP_STORAGE_FILES", "1KB")]);
    let id = id_of(&upload(&app.acme, "csv", "posts.csv", b"title\nDark mode\n"));
    let done = run(&app.acme, &id, &json!({}));
    assert_eq!((&done["state"], &done["files"]["report.json"]), (&json!("done"), &json!(null)), "{done}");
    let why = done["report"]["why"].as_str().expect("a reason");
    assert!(why.starts_with("the files of the report cannot be stored: Storage for files is used up"), "{why}");
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 1);
    assert_eq!(act(&app.acme, &id, "undo", &json!({})).status, 202);
    assert_eq!(ended(&app.acme, &id)["state"], "undone");
}

/// Import contract 2, 10: one run at a time in a workspace, whoever asks.
#[test]
fn one_import_runs_at_a_time() {
    let app = App::start();
    let first = id_of(&upload(&app.acme, "csv", "posts.csv", many(3_000).as_bytes()));
    let second = id_of(&upload(&app.acme, "csv", "posts.csv", POSTS.replace("Headline", "Title").as_bytes()));
    assert_eq!(act(&app.acme, &first, "run", &json!({})).status, 202);
    let busy = act(&app.acme, &second, "run", &json!({}));
    busy.is_error(409, "Import is already running.");
    assert_eq!(act(&app.acme, &second, "run", &json!({ "dry_run": true })).status, 409);
    assert_eq!(app.acme.delete(&format!("{PATH}/{first}")).status, 409);
    assert_eq!(ended(&app.acme, &first)["state"], "done");
    assert_eq!(run(&app.acme, &second, &json!({}))["state"], "done");
}
