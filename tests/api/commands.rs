//! Command line: arguments and output.

use std::ffi::OsStr;
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::app::{App, BASE_HOST, Finished, Server, eventually, has_keys, is_id, is_timestamp, refusal, run};
use crate::browser::{Browser, path_of};
use crate::database::{Data, millis_between, sql_timestamp, url_for};

const UNKNOWN_ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Runs a command in a folder with only these `ROADMAP_` variables.
fn roadmap(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Finished {
    finished(roadmap_command(folder, arguments).envs(environment.iter().copied()))
}

/// Returns a command in a folder without `ROADMAP_` variables, except those of the store under test.
fn roadmap_command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roadmap"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ROADMAP_")) {
        command.env_remove(name);
    }
    if let Some(url) = url_for(folder) {
        command.env("ROADMAP_DATABASE_URL", url);
        command.env("ROADMAP_SECRET", "a secret that only tests would ever use");
    }
    command.current_dir(folder).args(arguments);
    command
}

fn finished(command: &mut Command) -> Finished {
    let output = command.output().expect("the binary runs");
    Finished {
        success: output.status.success(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Data with the workspace `acme`, its member Olga and an API key.
struct Folder(Data);

impl Folder {
    fn empty() -> Self {
        Self(Data::file())
    }

    /// Creates the data on the store under test.
    fn with_acme() -> Self {
        let folder = Self(Data::empty());
        let website = "https://acme.example";
        folder.json(&["workspace", "create", "acme", "--product-name", "Acme", "--website-url", website]);
        folder.json(&["member", "add", "--workspace", "acme", "--email", "olga@acme.example", "--name", "Olga"]);
        folder.json(&["api-key", "create", "--workspace", "acme", "--name", "first"]);
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs a command with `--json` and returns its output.
    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        run(self.path(), arguments, &[]).json()
    }

    /// Runs a command without `--json` and returns the lines of its output.
    #[track_caller]
    fn lines(&self, arguments: &[&str]) -> Vec<String> {
        let base_url = format!("https://{BASE_HOST}");
        let settings = ["--data-dir", ".", "--base-url", &base_url];
        let finished = roadmap(self.path(), &[&settings[..], arguments].concat(), &[]);
        assert!(finished.success, "{arguments:?}: {}", finished.stderr);
        finished.stdout.lines().map(str::to_owned).collect()
    }

    /// Runs a command that must fail, and returns its standard error.
    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let finished = run(self.path(), arguments, &[]);
        assert!(!finished.success, "{arguments:?}: {}", finished.stdout);
        assert_eq!(finished.stdout, "", "{arguments:?}");
        assert!(finished.stderr.starts_with("error: "), "{arguments:?}: {}", finished.stderr);
        finished.stderr
    }

    /// Returns the id of the first key.
    fn key_id(&self) -> String {
        text(&self.json(&["api-key", "list", "--workspace", "acme"])[0]["id"])
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Returns one field of every row of a list.
fn column(list: &Value, field: &str) -> Vec<String> {
    list.as_array().expect("a list").iter().map(|row| text(&row[field])).collect()
}

/// Decision 7: with `--json` commands print JSON.
/// Decision 7: `workspace create` creates a workspace.
/// Decision 1, 3.
#[test]
fn a_workspace_is_created_and_listed() {
    let folder = Folder::empty();
    assert_eq!(folder.json(&["workspace", "list"]), json!([]));
    let website = "https://acme.example";
    let created =
        folder.json(&["workspace", "create", "ACME", "--product-name", " Acme & Sons ", "--website-url", website]);
    is_id(&created["id"]);
    let expected = json!({
        "id": created["id"],
        "subdomain": "acme",
        "base_url": "https://acme.roadmap.example.com",
        "product_name": "Acme & Sons",
        "website_url": "https://acme.example",
        "sender_name": null,
    });
    assert_eq!(created, expected);
    let other = folder.json(&["workspace", "create", "aaa", "--product-name", "A", "--website-url", website]);
    assert_eq!(folder.json(&["workspace", "list"]), json!([other, expected]));
    let named = folder.json(&["workspace", "set", "acme", "--sender-name", " Acme Desk "]);
    assert_eq!(named["sender_name"], "Acme Desk");
    assert_eq!(folder.json(&["workspace", "list"]), json!([other, named]));
    let message = folder.failure(&["workspace", "set", "acme", "--sender-name", "ceo@bank.example"]);
    assert!(message.starts_with("error: --sender-name is not a name without"), "{message}");
    assert_eq!(folder.json(&["workspace", "set", "acme", "--sender-name", ""]), expected);
    let message = folder.failure(&["workspace", "set", "bolt", "--sender-name", "B"]);
    assert!(message.starts_with("error: there is no workspace `bolt`"), "{message}");
    let lanes = folder.json(&["lane", "list", "--workspace", "acme"]);
    assert_eq!(column(&lanes, "name"), ["Under consideration", "Planned", "In progress", "Done"]);
    let tracks = folder.json(&["track", "list", "--workspace", "acme"]);
    let mapped: Vec<(String, &Value)> =
        tracks.as_array().unwrap().iter().map(|track| (text(&track["name"]), &track["status"])).collect();
    let expected = [
        ("Inbox", json!(null)),
        ("Under consideration", json!("Under consideration")),
        ("Planned", json!("Planned")),
        ("In progress", json!("In progress")),
        ("Done", json!("Done")),
        ("Declined", json!(null)),
    ];
    let expected: Vec<(String, &Value)> = expected.iter().map(|(name, status)| ((*name).to_owned(), status)).collect();
    assert_eq!(mapped, expected);
}

/// Decision 7.
#[test]
fn a_subdomain_belongs_to_one_workspace() {
    let folder = Folder::with_acme();
    for subdomain in ["acme", "ACME"] {
        let arguments = ["workspace", "create", subdomain, "--product-name", "B", "--website-url", "https://b.example"];
        let message = folder.failure(&arguments);
        assert_eq!(message, "error: subdomain `acme` is already taken\n");
    }
    let listed = folder.json(&["workspace", "list"]);
    assert_eq!(column(&listed, "product_name"), ["Acme"]);
}

/// Decision 7.
#[test]
fn members_are_added_and_listed_oldest_first() {
    let folder = Folder::with_acme();
    let pia =
        folder.json(&["member", "add", "--workspace", "acme", "--email", " Pia@acme.example ", "--name", " Pia "]);
    has_keys(&pia, &["id", "name", "email", "role", "created_at", "sign_in_url"]);
    is_id(&pia["id"]);
    is_timestamp(&pia["created_at"]);
    assert_eq!((&pia["name"], &pia["email"]), (&json!("Pia"), &json!("Pia@acme.example")));
    let members = folder.json(&["member", "list", "--workspace", "acme"]);
    assert_eq!(column(&members, "name"), ["Olga", "Pia"]);
    let mut listed = members[1].clone();
    listed["sign_in_url"] = pia["sign_in_url"].clone();
    assert_eq!(listed, pia);
    let message =
        folder.failure(&["member", "add", "--workspace", "acme", "--email", "PIA@acme.example", "--name", "P"]);
    assert_eq!(message, "error: e-mail address `PIA@acme.example` is already taken\n");
    // It is available in another workspace.
    folder.json(&["workspace", "create", "b", "--product-name", "B", "--website-url", "https://b.example"]);
    folder.json(&["member", "add", "--workspace", "b", "--email", "pia@acme.example", "--name", "Pia"]);
    assert_eq!(folder.json(&["member", "list", "--workspace", "acme"]), members);
}

/// Decision 7: `member add` adds a member, with a link that signs in to the admin panel (not in the decision).
#[test]
fn a_new_member_gets_a_link_to_the_admin_panel() {
    let app = App::start();
    let arguments = ["member", "add", "--workspace", "acme", "--email", "pia@acme.example", "--name", "Pia"];
    let flags = ["--base-url", &format!("https://{BASE_HOST}")];
    let member = app.roadmap(&[&arguments[..], &flags].concat()).json();
    let url = member["sign_in_url"].as_str().unwrap();
    assert!(url.starts_with(&format!("https://acme.{BASE_HOST}/sign-in/")), "{url}");
    let browser = Browser::new(&app);
    let signed_in = browser.post(&path_of(url), &[("choice", "only")]);
    assert_eq!(
        (signed_in.status, signed_in.header("location")),
        (303, Some("/admin?done=signed-in")),
        "{}",
        signed_in.text()
    );
    // It works once, and nothing was mailed.
    assert_eq!(Browser::new(&app).post(&path_of(url), &[("choice", "only")]).status, 404);
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
    let actions = column(&app.acme.get_audit_entries("actor=operator&page_size=2").json()["audit_entries"], "action");
    assert_eq!(actions, ["sign_in.link", "member.add"]);
}

/// Decision 7: `track` and `lane` have `list` and `add`.
/// Decision 3.
#[test]
fn lanes_and_tracks_are_added_behind_the_others() {
    let folder = Folder::with_acme();
    let lane = folder.json(&["lane", "add", "--workspace", "acme", "Some day"]);
    has_keys(&lane, &["id", "name", "kind", "names", "position", "feature_requests_count"]);
    is_id(&lane["id"]);
    let lanes = folder.json(&["lane", "list", "--workspace", "acme"]);
    assert_eq!(column(&lanes, "name").last().map(String::as_str), Some("Some day"));

    let mapped = folder.json(&["track", "add", "--workspace", "acme", "Ideas", "--lane", "Some day"]);
    has_keys(&mapped, &["id", "name", "status"]);
    is_id(&mapped["id"]);
    assert_eq!((&mapped["name"], &mapped["status"]), (&json!("Ideas"), &json!("Some day")));
    let hidden = folder.json(&["track", "add", "--workspace", "acme", "Spam"]);
    assert_eq!(hidden["status"], json!(null));
    let tracks = folder.json(&["track", "list", "--workspace", "acme"]);
    let tracks = tracks.as_array().unwrap();
    assert_eq!(tracks[tracks.len() - 2..], [mapped, hidden]);

    const NO_LANE: &str =
        "there is no lane `Never`; `roadmap lane list --workspace acme` lists all lanes: Lane does not exist.";
    for (arguments, message) in [
        (&["lane", "add", "--workspace", "acme", "Some day"][..], "lane `Some day` is already taken"),
        (&["track", "add", "--workspace", "acme", "Inbox"], "track `Inbox` is already taken"),
        (&["track", "add", "--workspace", "acme", "More", "--lane", "Never"], NO_LANE),
    ] {
        assert_eq!(folder.failure(arguments), format!("error: {message}\n"), "{arguments:?}");
    }
}

/// Decision 7.
#[test]
fn a_running_service_shows_what_commands_change() {
    let app = App::start();
    let lane = app.roadmap(&["lane", "add", "--workspace", "acme", "Some day"]).json();
    let track = app.roadmap(&["track", "add", "--workspace", "acme", "Ideas", "--lane", "Some day"]).json();
    eventually("the track is listed", || {
        app.acme.get_tracks().json()["tracks"].as_array().unwrap().last() == Some(&track)
    });
    let tracks = app.acme.get_tracks().json();
    assert_eq!(track["status"], lane["name"]);
    assert_eq!(json!({ "tracks": app.roadmap(&["track", "list", "--workspace", "acme"]).json() }), tracks);
    app.acme.feature_request("Dark mode");
    let moved = app.acme.patch_track("1", &json!({ "track_id": track["id"] })).json();
    assert_eq!(moved["feature_request"]["status"], "Some day");
    app.acme.patch_setting(&json!({ "setting": { "product_name": "Acme 2" } }));
    assert_eq!(app.roadmap(&["workspace", "list"]).json()[0]["product_name"], "Acme 2");
}

/// Decision 4.
#[test]
fn searches_are_explained_and_indexed_again() {
    let app = App::start();
    app.acme.feature_request("Quokka export");
    app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } }));
    let explained = app.roadmap(&["search", "explain", "--workspace", "acme", "how to export quokkas"]).json();
    let expected = json!([{
        "number": 1,
        "title": "Quokka export",
        "votes_count": 1,
        "score": "40.33",
        "coverage": "0.98",
        "similarity": "0.93",
        "weak": false,
        "matches": ["export: title (word, 1.00) 15.77", "quokkas: title (word, 0.95) 14.98"],
    }]);
    assert_eq!(explained, expected);
    assert_eq!(app.roadmap(&["search", "explain", "--workspace", "acme", "!"]).json(), json!([]));
    let reindexed = app.roadmap(&["search", "reindex", "--workspace", "acme"]).json();
    assert_eq!(reindexed, json!({ "feature_requests": 1 }));
    assert_eq!(app.roadmap(&["search", "explain", "--workspace", "acme", "how to export quokkas"]).json(), expected);
}

/// Contract 5: rule 4, issuance, scopes, rotation and expiry are open; decision 1 has them.
/// Decision 1: a key is `rmk_`, 43 base62 characters and 6 of CRC-32.
/// Decision 1: a key is shown once, and only its digest is stored.
/// Decision 1: stored with a key are its last four characters, name, scopes and timestamps.
/// Decision 1: the scopes are `read`, `write` and `manage`, by default the first two.
/// Decision 7: `api-key create` takes `--scope` and `--expires-in`.
/// Decision 7: `api-key` has `list`, `revoke` and `rotate`.
#[test]
fn a_key_is_shown_once() {
    let folder = Folder::with_acme();
    let created = folder.json(&["api-key", "create", "--workspace", "acme", "--name", " ci ", "--expires-in", "90d"]);
    has_keys(&created, &["id", "name", "key", "scopes", "created_at", "expires_at"]);
    is_id(&created["id"]);
    is_timestamp(&created["created_at"]);
    is_timestamp(&created["expires_at"]);
    assert!(text(&created["created_at"]) < text(&created["expires_at"]));
    assert_eq!((&created["name"], &created["scopes"]), (&json!("ci"), &json!(["read", "write"])));
    let key = text(&created["key"]);
    assert!(key.starts_with("rmk_") && key.len() == 53 && key[4..].bytes().all(|byte| byte.is_ascii_alphanumeric()));
    assert_eq!(folder.json(&["api-key", "create", "--workspace", "acme", "--name", "b"])["expires_at"], json!(null));

    let listed = folder.json(&["api-key", "list", "--workspace", "acme"]);
    assert_eq!(column(&listed, "name"), ["first", "ci", "b"]);
    assert_eq!(
        listed[1],
        json!({
            "id": created["id"],
            "name": "ci",
            "last_four": &key[49..],
            "scopes": ["read", "write"],
            "created_at": created["created_at"],
            "expires_at": created["expires_at"],
            "revoked_at": null,
            "last_used_at": null,
        })
    );
    let table = folder.lines(&["api-key", "list", "--workspace", "acme"]).concat();
    assert!(table.contains(&key[49..]), "{table}");
    for output in [listed.to_string(), table] {
        assert!(!output.contains(&key[..49]) && !output.contains(&key[4..]), "{output}");
    }
    for (flags, scopes) in [
        (&["--scope", "read"][..], json!(["read"])),
        (&["--scope", "write"], json!(["write"])),
        (&["--scope", "read,write"], json!(["read", "write"])),
        (&["--scope", "write", "--scope", "read"], json!(["read", "write"])),
    ] {
        let arguments = ["api-key", "create", "--workspace", "acme", "--name", "scoped"];
        assert_eq!(folder.json(&[&arguments[..], flags].concat())["scopes"], scopes, "{flags:?}");
    }
}

/// Decision 1, 7.
#[test]
fn a_key_is_revoked_and_rotated() {
    let folder = Folder::with_acme();
    let id = folder.key_id();
    let rotated = folder.json(&["api-key", "rotate", "--workspace", "acme", &id]);
    has_keys(&rotated, &["id", "name", "key", "scopes", "created_at", "expires_at"]);
    assert_eq!((&rotated["name"], &rotated["expires_at"]), (&json!("first"), &json!(null)));
    let listed = folder.json(&["api-key", "list", "--workspace", "acme"]);
    assert_eq!(column(&listed, "id"), [id.clone(), text(&rotated["id"])]);
    is_timestamp(&listed[0]["expires_at"]);

    let revoked = folder.json(&["api-key", "revoke", "--workspace", "acme", &id]);
    has_keys(
        &revoked,
        &["id", "name", "last_four", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"],
    );
    is_timestamp(&revoked["revoked_at"]);
    // Revoking again changes nothing.
    assert_eq!(folder.json(&["api-key", "revoke", "--workspace", "acme", &id]), revoked);
    assert_eq!(folder.json(&["api-key", "list", "--workspace", "acme"])[0], revoked);

    folder.json(&["workspace", "create", "b", "--product-name", "B", "--website-url", "https://b.example"]);
    let new = text(&rotated["id"]);
    for (arguments, message) in [
        (["api-key", "rotate", "--workspace", "acme", id.as_str()], "no longer works; create a new one"),
        (["api-key", "rotate", "--workspace", "acme", UNKNOWN_ID], "ApiKey does not exist."),
        (["api-key", "revoke", "--workspace", "acme", UNKNOWN_ID], "ApiKey does not exist."),
        (["api-key", "revoke", "--workspace", "b", new.as_str()], "ApiKey does not exist."),
        (["api-key", "rotate", "--workspace", "b", new.as_str()], "ApiKey does not exist."),
        (["api-key", "revoke", "--workspace", "acme", "first"], "the id is not a valid UUID"),
    ] {
        let failure = folder.failure(&arguments);
        assert!(failure.contains(message), "{arguments:?}: {failure}");
    }
}

/// Decision 7: commands that create or list print a table.
#[test]
fn without_json_a_record_is_a_table_of_its_fields() {
    let folder = Folder::with_acme();
    let id = folder.key_id();
    let website = "https://b.example";
    let issued = ["id", "name", "key", "scopes", "created_at", "expires_at"];
    let key = ["id", "name", "last_four", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"];
    let database = url_for(folder.path()).unwrap_or_else(|| "./roadmap.db".to_owned());
    let database = format!("database {database}");
    for (arguments, fields, expected) in [
        (
            &["workspace", "create", "b", "--product-name", "Bee hive", "--website-url", website][..],
            &["id", "subdomain", "base_url", "product_name", "website_url", "sender_name"][..],
            &["product_name Bee hive", "base_url https://b.roadmap.example.com"][..],
        ),
        (
            &["member", "add", "--workspace", "acme", "--email", "pia@acme.example", "--name", "Pia Pan"],
            // The last line is a sentence about the link.
            &["id", "name", "email", "role", "created_at", "sign_in_url", "The"],
            &["name Pia Pan", "email pia@acme.example"],
        ),
        (
            &["lane", "add", "--workspace", "acme", "Some day"],
            &["id", "name", "kind", "names", "position", "feature_requests_count"],
            &["name Some day", "kind other", "position 5"],
        ),
        (&["track", "add", "--workspace", "acme", "Spam"], &["id", "name", "status"], &["name Spam", "status -"]),
        (
            &["api-key", "create", "--workspace", "acme", "--name", "ci"],
            &issued,
            &["name ci", "scopes read, write", "expires_at -"],
        ),
        (&["api-key", "rotate", "--workspace", "acme", &id], &issued, &["name first"]),
        (&["api-key", "revoke", "--workspace", "acme", &id], &key, &["name first", "last_used_at -"]),
        (&["migrate"], &["database", "migrations_run"], &[&database]),
    ] {
        let lines = folder.lines(arguments);
        let words: Vec<Vec<&str>> = lines.iter().map(|line| line.split_whitespace().collect()).collect();
        let names: Vec<&str> = words.iter().map(|words| words[0]).collect();
        assert_eq!(names, fields, "{arguments:?}");
        for expected in expected {
            assert!(words.iter().any(|words| words.join(" ") == *expected), "{arguments:?}: {expected}: {lines:?}");
        }
    }
}

/// Decision 7.
#[test]
fn without_json_a_list_is_a_table_with_a_row_for_each() {
    let folder = Folder::with_acme();
    for (arguments, columns, rows, expected) in [
        (
            &["workspace", "list"][..],
            &["id", "subdomain", "base_url", "product_name", "website_url", "sender_name"][..],
            1,
            "acme https://acme.roadmap.example.com Acme https://acme.example -",
        ),
        (
            &["member", "list", "--workspace", "acme"],
            &["id", "name", "email", "role", "created_at"],
            1,
            "Olga olga@acme.example admin",
        ),
        (
            &["lane", "list", "--workspace", "acme"],
            &["id", "name", "kind", "names", "position", "feature_requests_count"],
            4,
            "In progress started {} 3 0",
        ),
        (&["track", "list", "--workspace", "acme"], &["id", "name", "status"], 6, "Inbox -"),
        (
            &["api-key", "list", "--workspace", "acme"],
            &["id", "name", "last_four", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"],
            1,
            "read, write",
        ),
    ] {
        let lines = folder.lines(arguments);
        assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), columns, "{arguments:?}");
        assert_eq!(lines.len(), rows + 1, "{arguments:?}: {lines:?}");
        let is_shown =
            lines.iter().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected));
        assert!(is_shown, "{arguments:?}: {lines:?}");
    }
}

/// Beyond the contract.
#[test]
fn an_unknown_workspace_is_reported_with_the_command_to_list_them() {
    let folder = Folder::with_acme();
    for arguments in [
        &["member", "list"][..],
        &["member", "add", "--email", "pia@acme.example", "--name", "Pia"],
        &["lane", "list"],
        &["lane", "add", "Some day"],
        &["track", "list"],
        &["track", "add", "Ideas"],
        &["api-key", "list"],
        &["api-key", "create", "--name", "ci"],
        &["api-key", "revoke", UNKNOWN_ID],
        &["api-key", "rotate", UNKNOWN_ID],
        &["member", "remove", UNKNOWN_ID],
        &["member", "role", UNKNOWN_ID, "admin"],
        &["lane", "rename", "Planned", "Next"],
        &["lane", "move", "Planned", "--position", "1"],
        &["lane", "remove", "Planned"],
        &["track", "rename", "Planned", "Next"],
        &["track", "move", "Planned", "--no-lane"],
        &["track", "remove", "Planned"],
        &["request", "show", "1"],
        &["request", "merge", "1", "--into", "2"],
        &["request", "unmerge", "1"],
        &["request", "delete", "1", "--yes"],
        &["changelog", "list"],
        &["changelog", "publish", UNKNOWN_ID],
        &["audit", "list"],
        &["audit", "export"],
    ] {
        let failure = folder.failure(&[arguments, &["--workspace", "nobody"]].concat());
        for part in ["no workspace `nobody`", "`roadmap workspace list`"] {
            assert!(failure.contains(part), "{arguments:?}: {failure}");
        }
        let failure = folder.failure(&[arguments, &["--workspace", "a.b"]].concat());
        assert!(failure.contains("--workspace is not a host name label"), "{arguments:?}: {failure}");
        let failure = folder.failure(arguments);
        assert!(failure.contains("--workspace <SUBDOMAIN>"), "{arguments:?}: {failure}");
    }
}

/// Decision 1: the overlap is 0 s to 7 days.
/// Decision 7: durations are a number and a unit; anything else is rejected.
#[test]
fn an_invalid_value_is_rejected_by_name() {
    let folder = Folder::with_acme();
    let id = folder.key_id();
    let key = ["api-key", "create", "--workspace", "acme", "--name", "ci"];
    let rotate = ["api-key", "rotate", "--workspace", "acme", id.as_str()];
    let member = ["member", "add", "--workspace", "acme"];
    let workspace = ["workspace", "create"];
    let long = "x".repeat(201);
    for (command, flags, parts) in [
        (&key[..], &["--expires-in", "90"][..], &["--expires-in is `90`", "90d"][..]),
        (&key, &["--expires-in", "soon"], &["--expires-in is `soon`", "90d"]),
        (&key, &["--expires-in", ""], &["--expires-in is ``"]),
        (&key, &["--expires-in=-1d"], &["--expires-in is `-1d`"]),
        (&key, &["--expires-in", "1 fortnight"], &["--expires-in is `1 fortnight`"]),
        (&key, &["--expires-in", "99999999999999999999d"], &["--expires-in is `9999"]),
        (&key, &["--scope", "admin"], &["--scope", "read, write"]),
        (&key, &["--scope", "read,admin"], &["--scope", "read, write"]),
        (&key, &["--scope", "READ"], &["--scope", "read, write"]),
        (&key, &["--scope", ""], &["--scope", "read, write"]),
        (&key[..4], &["--name", " "], &["--name"]),
        (&key[..4], &["--name", &long], &["--name must be at most 200 characters long"]),
        (&key[..4], &[], &["--name <NAME>"]),
        (&rotate, &["--overlap", "1"], &["--overlap is `1`"]),
        (&rotate, &["--overlap", "tomorrow"], &["--overlap is `tomorrow`"]),
        (&rotate, &["--overlap", "8d"], &["error: --overlap must be between 0s and 7d"]),
        (&rotate, &["--overlap", "7d 1ms"], &["error: --overlap must be between 0s and 7d"]),
        (&member, &["--email", "ann", "--name", "Ann"], &["--email is not a valid e-mail address"]),
        (&member, &["--email", "Ann <ann@acme.example>", "--name", "Ann"], &["--email is not"]),
        (&member, &["--email", " ", "--name", "Ann"], &["--email"]),
        (&member, &["--email", "ann@acme.example", "--name", ""], &["--name"]),
        (&member, &["--email", "ann@acme.example"], &["--name <NAME>"]),
        (
            &workspace,
            &["b", "--product-name", "B", "--website-url", "b.example"],
            &["--website-url: Website URL is invalid"],
        ),
        (
            &workspace,
            &["b", "--product-name", "B", "--website-url", "ftp://b.example"],
            &["--website-url: Website URL is invalid"],
        ),
        (&workspace, &["b", "--product-name", " ", "--website-url", "https://b.example"], &["Product name"]),
        (&workspace, &["b", "--website-url", "https://b.example"], &["--product-name <NAME>"]),
        (
            &workspace,
            &["b.c", "--product-name", "B", "--website-url", "https://b.example"],
            &["the subdomain is not a host name label"],
        ),
        (
            &workspace,
            &["b_c", "--product-name", "B", "--website-url", "https://b.example"],
            &["the subdomain is not a host name label"],
        ),
        (&["lane", "add", "--workspace", "acme"], &[" "], &["the name"]),
        (&["track", "add", "--workspace", "acme"], &[&long], &["the name must be at most 200 characters long"]),
        (&["track", "add", "--workspace", "acme"], &["Ideas", "--lane", " "], &["--lane"]),
        (&["workspace", "list"], &["--log", "no=such=filter"], &["the setting log is `no=such=filter`"]),
        (&["workspace", "list"], &["--log-format", "xml"], &["xml"]),
        (&["workspace", "list"], &["--default-workspace", "a.b"], &["the setting default_workspace"]),
        (&["workspace", "list"], &["--config", "none.toml"], &["none.toml"]),
        (&["workspace", "list"], &["--colour"], &["--colour"]),
        (&["workspace", "remove"], &[], &["remove"]),
        (&["workspaces"], &[], &["workspaces"]),
    ] {
        let arguments = [command, flags].concat();
        let failure = folder.failure(&arguments);
        for part in parts {
            assert!(failure.contains(part), "{arguments:?}: {failure}");
        }
    }
    // Nothing was changed.
    assert_eq!(column(&folder.json(&["workspace", "list"]), "subdomain"), ["acme"]);
    assert_eq!(column(&folder.json(&["api-key", "list", "--workspace", "acme"]), "id"), std::slice::from_ref(&id));
    assert_eq!(folder.json(&["api-key", "list", "--workspace", "acme"])[0]["expires_at"], json!(null));
    assert_eq!(column(&folder.json(&["member", "list", "--workspace", "acme"]), "name"), ["Olga"]);
    // The limits of the allowed range.
    for overlap in ["0s", "7d"] {
        let key = folder.json(&["api-key", "create", "--workspace", "acme", "--name", overlap]);
        folder.json(&["api-key", "rotate", "--workspace", "acme", &text(&key["id"]), "--overlap", overlap]);
    }
}

/// Decision 7: `serve`, `migrate`, `workspace`, `api-key`, `member`, `track` and `lane` have `--help`.
/// Decision 7: `mail`, and `attachments` and `worker` (not in the decision), have `--help`.
#[test]
fn every_command_documents_its_purpose() {
    let folder = Folder::empty();
    let itself: &[&str] = &[];
    for (arguments, purpose) in [
        (itself, "Self-hosted product feedback and roadmap"),
        (&["serve"], "Serve the portals and the API"),
        (&["migrate"], "Bring the database schema up to date"),
        (&["workspace"], "Create and list workspaces"),
        (&["workspace", "create"], "Create a workspace with its lanes and tracks"),
        (&["workspace", "list"], "List all workspaces"),
        (&["workspace", "usage"], "Show how much workspaces store"),
        (&["api-key"], "Create, list, revoke and rotate the API keys"),
        (&["api-key", "create"], "Create a key"),
        (&["api-key", "list"], "List the keys of a workspace"),
        (&["api-key", "revoke"], "Revoke a key"),
        (&["api-key", "rotate"], "Replace a key by a new one"),
        (&["member"], "Add, list and remove the team members"),
        (&["member", "add"], "Add a team member"),
        (&["member", "list"], "List the team members"),
        (&["member", "remove"], "Remove a team member"),
        (&["member", "role"], "Change the role of a team member"),
        (&["track"], "Add, list, rename, move and remove the tracks"),
        (&["track", "add"], "Add a track"),
        (&["track", "list"], "List the tracks"),
        (&["track", "rename"], "Rename a track"),
        (&["track", "move"], "Move a track to another position or lane"),
        (&["track", "remove"], "Remove a track"),
        (&["lane"], "Add, list, rename, move and remove the lanes"),
        (&["lane", "add"], "Add a lane"),
        (&["lane", "list"], "List the lanes"),
        (&["lane", "rename"], "Rename a lane"),
        (&["lane", "move"], "Move a lane to another position"),
        (&["lane", "remove"], "Remove a lane"),
        (&["request"], "Show, merge, unmerge and delete feature requests"),
        (&["request", "show"], "Show a feature request"),
        (&["request", "merge"], "Merge a feature request into another one"),
        (&["request", "unmerge"], "Undo the merge of a feature request"),
        (&["request", "delete"], "Delete a feature request"),
        (&["changelog"], "List and publish the changelogs"),
        (&["changelog", "list"], "List the changelogs"),
        (&["changelog", "publish"], "Publish a changelog now"),
        (&["audit"], "List and export the audit log"),
        (&["audit", "list"], "List the newest entries of the audit log"),
        (&["audit", "export"], "Print all entries of the audit log"),
        (&["attachments"], "Manage uploaded files"),
        (&["attachments", "sweep"], "Remove unused files"),
        (&["worker"], "Send mail and events in a separate process"),
        (&["webhook"], "Add, list, change, test and remove the webhooks"),
        (&["webhook", "add"], "Add a webhook and print its secret"),
        (&["webhook", "test"], "Send a test event, wait for the result"),
        (&["mail"], "Send a test mail, show the status"),
        (&["mail", "test"], "Send a test mail and show the dialog"),
        (&["mail", "status"], "Show how much mail is waiting"),
        (&["mail", "retry"], "Retry failed mail now"),
        (&["openapi"], "Print the OpenAPI document"),
    ] {
        for flag in ["--help", "-h"] {
            let finished = roadmap(folder.path(), &[arguments, &[flag]].concat(), &[]);
            assert!(finished.success, "{arguments:?}: {}", finished.stderr);
            for part in [purpose, "Usage: roadmap", "--data-dir <FOLDER>", "ROADMAP_"] {
                assert!(finished.stdout.contains(part), "{arguments:?} {flag}: {part}: {}", finished.stdout);
            }
            assert_eq!(finished.stderr, "", "{arguments:?}");
        }
    }
    // Help creates no files.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let nothing = roadmap(folder.path(), &[], &[]);
    assert!(!nothing.success && nothing.stderr.contains("Usage: roadmap"), "{}", nothing.stderr);
    let version = roadmap(folder.path(), &["--version"], &[]);
    assert!(version.success && version.stdout.starts_with("roadmap "), "{}", version.stdout);
}

/// Decision 7: `migrate` runs migrations.
#[test]
fn migrations_are_run_once() {
    let folder = Folder::empty();
    let first = folder.json(&["migrate"]);
    has_keys(&first, &["database", "migrations_run"]);
    assert_eq!(first["database"], "./roadmap.db");
    let run: Vec<String> = first["migrations_run"].as_array().unwrap().iter().map(text).collect();
    assert_eq!(run.first().map(String::as_str), Some("20261121000000"));
    assert!(run.is_sorted(), "{run:?}");
    let expected = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite")).unwrap();
    assert_eq!(run.len(), expected.count());
    for _ in 0..2 {
        assert_eq!(folder.json(&["migrate"]), json!({ "database": "./roadmap.db", "migrations_run": [] }));
    }
    // The other commands migrate by themselves.
    let other = Folder::with_acme();
    assert_eq!(other.json(&["migrate"])["migrations_run"], json!([]));
}

/// Decision 7: the database is in SQLite by default.
/// Decision 7: the data directory is a setting with a default.
#[test]
fn every_command_creates_a_missing_data_folder() {
    let (no_flags, no_variables): (&[&str], &[(&str, &str)]) = (&[], &[]);
    for (arguments, outcome) in [
        (&["workspace", "list"][..], Ok(())),
        (&["migrate"], Ok(())),
        (&["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"], Ok(())),
        (&["member", "list", "--workspace", "acme"], Err("no workspace `acme`")),
        (&["lane", "list", "--workspace", "acme"], Err("no workspace `acme`")),
        (&["track", "list", "--workspace", "acme"], Err("no workspace `acme`")),
        (&["api-key", "list", "--workspace", "acme"], Err("no workspace `acme`")),
        (&["api-key", "create", "--workspace", "acme", "--name", "ci"], Err("no workspace `acme`")),
    ] {
        for (flags, environment, file) in [
            (no_flags, no_variables, "roadmap-data/roadmap.db"),
            (&["--data-dir", "deep/in a/föhlder"], &[], "deep/in a/föhlder/roadmap.db"),
            (&[], &[("ROADMAP_DATA_DIR", "from the environment")], "from the environment/roadmap.db"),
            (&["--database-url", "sqlite://else/where.db"], &[], "else/where.db"),
        ] {
            let folder = Folder::empty();
            let finished = roadmap(folder.path(), &[flags, arguments].concat(), environment);
            let case = format!("{arguments:?} {flags:?}: {}", finished.stderr);
            match outcome {
                Ok(()) => assert!(finished.success, "{case}"),
                Err(message) => assert!(!finished.success && finished.stderr.contains(message), "{case}"),
            }
            assert!(folder.path().join(file).is_file(), "{case}");
            let again = roadmap(folder.path(), &[flags, &["migrate", "--json"]].concat(), environment).json();
            assert_eq!(again["migrations_run"], json!([]), "{case}");
        }
    }
}

/// Decision 1: without a configured base URL it is `http://localhost:<port>`.
/// Decision 7: flags come before the environment, before `roadmap.toml`, before defaults.
/// Decision 7: the listen address is a setting with a default.
/// Decision 7: the base URL is a setting with a default.
#[test]
fn settings_come_from_flags_then_the_environment_then_the_file_then_defaults() {
    let folder = Folder::empty();
    let create = ["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"];
    assert!(roadmap(folder.path(), &create, &[]).success);
    let base_url = |flags: &[&str], environment: &[(&str, &str)]| {
        let listed = roadmap(folder.path(), &[flags, &["workspace", "list", "--json"]].concat(), environment).json();
        assert_eq!(column(&listed, "subdomain"), ["acme"]);
        text(&listed[0]["base_url"])
    };
    let variable = [("ROADMAP_BASE_URL", "https://environment.example")];
    let flag = ["--base-url", "https://flag.example:8443/"];

    assert_eq!(base_url(&[], &[]), "http://acme.localhost:8080");
    assert_eq!(base_url(&["--listen", "0.0.0.0:9090"], &[]), "http://acme.localhost:9090");
    assert_eq!(base_url(&[], &[("ROADMAP_LISTEN", "[::1]:7070")]), "http://acme.localhost:7070");
    assert_eq!(base_url(&[], &variable), "https://acme.environment.example");

    std::fs::write(folder.path().join("roadmap.toml"), "base_url = \"https://file.example\"\n").unwrap();
    assert_eq!(base_url(&[], &[]), "https://acme.file.example");
    assert_eq!(base_url(&[], &[("ROADMAP_BASE_URL", "")]), "https://acme.file.example");
    assert_eq!(base_url(&[], &variable), "https://acme.environment.example");
    assert_eq!(base_url(&flag, &[]), "https://acme.flag.example:8443");
    assert_eq!(base_url(&flag, &variable), "https://acme.flag.example:8443");

    std::fs::write(folder.path().join("other.toml"), "base_url = \"https://other.example\"\n").unwrap();
    let config = ["--config", "other.toml"];
    assert_eq!(base_url(&config, &[]), "https://acme.other.example");
    assert_eq!(base_url(&config, &variable), "https://acme.environment.example");
    assert_eq!(base_url(&[&config[..], &flag].concat(), &[]), "https://acme.flag.example:8443");
    // Global flags are allowed before and after the command.
    let behind = ["workspace", "list", "--json", "--base-url", "https://behind.example"];
    let listed = roadmap(folder.path(), &behind, &variable).json();
    assert_eq!(listed[0]["base_url"], "https://acme.behind.example");
}

#[test]
fn the_packaged_settings_are_accepted_with_their_examples() {
    let packaged = include_str!("../../packaging/roadmap.toml");
    let with_example = |line: &'static str| match line.strip_prefix("# ") {
        // The example database does not exist, and the example secret must be replaced.
        Some(example) if example.starts_with("database_url") || example.starts_with("secret") => line,
        Some(example) if example.contains(" = ") => example,
        _ => line,
    };
    let examples: Vec<&str> = packaged.lines().map(with_example).collect();
    assert!(examples.contains(&"default_workspace = \"acme\""), "{examples:?}");
    for text in [packaged.to_owned(), examples.join("\n")] {
        let folder = Folder::empty();
        std::fs::write(folder.path().join("packaged.toml"), &text).unwrap();
        let run = |arguments: &[&str]| {
            let settings = ["--config", "packaged.toml", "--data-dir", "."];
            roadmap(folder.path(), &[&settings, arguments, &["--json"]].concat(), &[]).json()
        };
        run(&["workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example"]);
        let base_url = if text.lines().any(|line| line.starts_with("default_workspace = ")) {
            "https://roadmap.example.com"
        } else {
            "https://acme.roadmap.example.com"
        };
        assert_eq!(run(&["workspace", "list"])[0]["base_url"], base_url);
    }
}

/// Decision 7: invalid settings are rejected with their name.
/// Decision 5.
#[test]
fn an_invalid_setting_of_any_source_is_rejected_by_name() {
    let folder = Folder::empty();
    for (name, value, parts) in [
        ("base_url", "example.com", &["base_url", "https://roadmap.example.com"][..]),
        ("base_url", "https://example.com/path", &["base_url"]),
        ("default_workspace", "a.b", &["default_workspace"]),
        ("log", "no=such=filter", &["log is `no=such=filter`"]),
        ("log_format", "xml", &["xml"]),
        ("write_wait", "5", &["write_wait is `5`", "2s"]),
        ("operation_wait", "soon", &["operation_wait is `soon`"]),
        ("operation_retention", "23h", &["operation_retention", "24h"]),
        ("pool_size", "0", &["pool_size must be at least 1"]),
        ("workers", "0", &["workers must be at least 1"]),
        ("pool_size", "many", &["pool_size"]),
        ("trust_proxy", "perhaps", &["trust_proxy"]),
        ("database_url", "mysql://localhost/roadmap", &["database_url is `mysql://…`", "sqlite://", "postgres://"]),
        ("database_url", "sqlite://", &["database_url", "sqlite:///path/to/roadmap.db"]),
    ] {
        let variable = format!("ROADMAP_{}", name.to_uppercase());
        std::fs::write(folder.path().join("bad.toml"), format!("{name} = \"{value}\"\n")).unwrap();
        for finished in [
            roadmap(folder.path(), &["workspace", "list"], &[(variable.as_str(), value)]),
            roadmap(folder.path(), &["workspace", "list", "--config", "bad.toml"], &[]),
        ] {
            assert!(!finished.success, "{name} = {value}: {}", finished.stdout);
            assert_eq!(finished.stdout, "", "{name} = {value}");
            for part in parts {
                assert!(finished.stderr.contains(part), "{name} = {value}: {}", finished.stderr);
            }
        }
    }
    for (file, part) in [("lisen = \"x\"\n", "lisen"), ("listen = \n", "bad.toml"), ("\u{0}", "bad.toml")] {
        std::fs::write(folder.path().join("bad.toml"), file).unwrap();
        let finished = roadmap(folder.path(), &["workspace", "list", "--config", "bad.toml"], &[]);
        assert!(!finished.success && finished.stderr.contains(part), "{file:?}: {}", finished.stderr);
    }
    assert!(!folder.path().join("roadmap-data").exists());
}

#[test]
fn a_variable_that_is_not_utf8_is_an_error_only_if_it_may_be_a_setting() {
    let folder = Folder::empty();
    let latin1 = OsStr::from_bytes(b"s3cret \xe9");
    let list = |name: &str| {
        let mut command = roadmap_command(folder.path(), &["workspace", "list", "--json"]);
        finished(command.env(name, latin1))
    };
    assert_eq!(list("PWD").json(), json!([]));
    let refused = list("ROADMAP_SMTP_URL");
    let says = "error: the environment variable ROADMAP_SMTP_URL is not valid UTF-8\n";
    assert_eq!((refused.success, refused.stdout.as_str(), refused.stderr.as_str()), (false, "", says));
}

/// Decision 7: the database can be `postgres://…`, on which all tests from outside run too.
#[test]
fn a_database_server_that_cannot_be_reached_is_named_without_its_password() {
    let folder = Folder::empty();
    for (url, expected) in [
        ("postgres://roadmap:hunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgresql://roadmap:hunter2@127.0.0.1:9/roadmap?sslmode=require", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://roadmap:p/hunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://roadmap:p?hunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://roadmap:p#hunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://roadmap:p:hunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://roadmap:p%2Fhunter2@127.0.0.1:9/roadmap", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://127.0.0.1:9/roadmap?user=roadmap&password=hunter2", "postgres://roadmap@127.0.0.1:9/roadmap"),
        ("postgres://127.0.0.1:9/roadmap?password=hunter2&nonsense=1", "the database postgres://… cannot be "),
        ("postgres://roadmap:p@hunter2@127.0.0.1:9/roadmap", "postgres://…"),
        ("host=127.0.0.1 port=9 password=hunter2", "the setting database_url is `…`, which is neither a file"),
        ("host=127.0.0.1 password=hunter2://x", "the setting database_url is `…`, which is neither a file"),
    ] {
        std::fs::write(folder.path().join("file.toml"), format!("database_url = \"{url}\"\n")).unwrap();
        for command in [&["workspace", "list"][..], &["migrate"], &["serve", "--listen", "127.0.0.1:0"]] {
            for finished in [
                roadmap(folder.path(), &[command, &["--database-url", url]].concat(), &[]),
                roadmap(folder.path(), command, &[("ROADMAP_DATABASE_URL", url)]),
                roadmap(folder.path(), &[command, &["--config", "file.toml"]].concat(), &[]),
            ] {
                assert!(!finished.success, "{command:?} {url}: {}", finished.stdout);
                assert!(finished.stderr.contains(expected), "{command:?} {url}: {}", finished.stderr);
                let told = finished.stdout + &finished.stderr;
                assert!(!told.contains("hunter2"), "{command:?} {url}: {told}");
            }
        }
    }
    assert!(!folder.path().join("roadmap-data").exists());
}

/// Decision 7: `serve` runs the service.
#[test]
fn a_service_without_a_workspace_logs_the_first_steps() {
    let folder = Folder::empty();
    let mut server = Server::start(folder.path(), &[], &[]);
    let mut steps = Vec::new();
    while steps.len() < 3 {
        let mut line = String::new();
        assert_ne!(server.stdout.read_line(&mut line).unwrap(), 0, "{steps:?}");
        if line.trim_start().starts_with("roadmap ") {
            steps.push(line.trim().to_owned());
        }
    }
    for (step, command) in steps.iter().zip(["workspace create", "member add", "api-key create"]) {
        assert!(step.starts_with(&format!("roadmap {command} ")), "{steps:?}");
        // The line as it would be pasted, with the path of the binary.
        let line = step.replacen("roadmap ", &format!("'{}' ", env!("CARGO_BIN_EXE_roadmap")), 1);
        let pasted = Command::new("sh").current_dir(folder.path()).args(["-c", &line]).output().unwrap();
        assert!(pasted.status.success(), "{step}: {}", String::from_utf8_lossy(&pasted.stderr));
    }
    assert_eq!(column(&folder.json(&["workspace", "list"]), "subdomain"), ["acme"]);
    assert_eq!(column(&folder.json(&["api-key", "list", "--workspace", "acme"]), "name"), ["first"]);
}

/// Decision 7.
#[test]
fn a_service_prints_how_to_add_the_first_member_of_at_most_three_workspaces() {
    let folder = Folder::empty();
    let create = |subdomain: &str| {
        let arguments = ["workspace", "create", subdomain, "--product-name", "A", "--website-url", "https://a.example"];
        folder.json(&arguments);
    };
    let add = |subdomain: &str| {
        folder.json(&["member", "add", "--workspace", subdomain, "--email", "ann@a.example", "--name", "Ann"])
    };
    /// Lines that a service prints about workspaces without members.
    fn hints(folder: &Path) -> Vec<String> {
        let printed = Server::start(folder, &[], &[]).stop();
        printed.lines().map(str::to_owned).filter(|line| line.contains(" has no members. ")).collect()
    }
    ["d", "c", "b", "a"].iter().for_each(|subdomain| create(subdomain));
    let lines = hints(folder.path());
    let named: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(2).unwrap()).collect();
    assert_eq!(named, ["a", "b", "c"]);
    // The command as it would be pasted, with the path of the binary.
    let command = lines[1].split_once(": roadmap ").unwrap().1;
    let line = format!("'{}' {command}", env!("CARGO_BIN_EXE_roadmap"));
    let pasted = Command::new("sh").current_dir(folder.path()).args(["-c", &line]).output().unwrap();
    assert!(pasted.status.success(), "{line}: {}", String::from_utf8_lossy(&pasted.stderr));
    assert_eq!(column(&folder.json(&["member", "list", "--workspace", "b"]), "role"), ["admin"]);
    add("a");
    assert_eq!(hints(folder.path()), [lines[2].clone()]);
    add("c");
    assert_eq!(hints(folder.path()), [] as [String; 0]);
}

/// Beyond the contract: the service does not start with a guessable secret.
#[test]
fn a_guessable_secret_prevents_the_start() {
    let (guessable, random) = ("ab".repeat(20), "0123456789abcdef0123456789abcdef");
    let how = "run `openssl rand -hex 32` once and set ROADMAP_SECRET of every process to its output";
    let current =
        format!("error: the setting secret cannot be used: it has too few different characters to be random: {how}\n");
    let previous =
        "error: the setting previous_secrets cannot be used: one of them has too few different characters to \
                    be random: remove it, because anyone who guesses it can forge references\n"
            .to_owned();
    let expected = format!(
        "error: the secret in ./secret cannot be used: it has too few different characters to be random: {how}\n"
    );
    for command in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["serve", "--demo", "--listen", "127.0.0.1:0"], &["worker"]]
    {
        for (secret, replaced, says) in [(guessable.as_str(), "", &current), (random, guessable.as_str(), &previous)] {
            let folder = Folder::empty();
            let environment = [("ROADMAP_SECRET", secret), ("ROADMAP_PREVIOUS_SECRETS", replaced)];
            assert_eq!(&refusal(folder.path(), command, &environment), says, "{command:?}");
            // Nothing was created.
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{command:?}");
        }
        let folder = Folder::empty();
        std::fs::write(folder.path().join("secret"), &guessable).unwrap();
        assert_eq!(refusal(folder.path(), command, &[("ROADMAP_SECRET", "")]), expected, "{command:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{command:?}");
        // The setting overrides the file.
        let server = Server::start(folder.path(), &[], &[("ROADMAP_SECRET".to_owned(), random.to_owned())]);
        drop(server);
    }
}

/// Decision 7.
#[test]
fn an_unusable_listen_address_is_reported() {
    let app = App::start();
    let taken = format!("127.0.0.1:{}", app.port());
    for address in [taken.as_str(), "nonsense", "127.0.0.1", "127.0.0.1:99999"] {
        let finished = roadmap(app.data_dir(), &["serve", "--data-dir", ".", "--listen", address], &[]);
        assert!(!finished.success, "{address}: {}", finished.stdout);
        assert!(finished.stderr.contains(&format!("cannot listen on {address}")), "{address}: {}", finished.stderr);
    }
    assert_eq!(app.acme.get_tracks().status, 200);
}

/// Decision 1: the overlap is 24 h when it is not given.
/// Decision 7: `--expires-in 90d` is 90 days from now.
#[test]
fn durations_of_keys_are_as_given_and_a_day_of_overlap_by_default() {
    let app = App::start();
    let span = |condition: &str| {
        let span = millis_between("created_at", "expires_at");
        app.sql(&format!("SELECT {span} FROM api_keys WHERE {condition}"))[0].parse::<i64>().unwrap()
    };
    app.roadmap(&["api-key", "create", "--workspace", "acme", "--name", "short", "--expires-in", "90d"]).json();
    assert_eq!(span("name = 'short'"), 90 * 24 * 3_600_000);
    let lasting = app.roadmap(&["api-key", "create", "--workspace", "acme", "--name", "lasting"]).json();
    app.roadmap(&["api-key", "rotate", "--workspace", "acme", lasting["id"].as_str().unwrap()]).json();
    let replaced = format!(
        "SELECT {} FROM api_keys old JOIN api_keys new ON new.name = old.name
         WHERE old.name = 'lasting' AND old.expires_at IS NOT NULL AND new.expires_at IS NULL",
        millis_between("new.created_at", "old.expires_at")
    );
    assert_eq!(app.sql(&replaced), [(24 * 3_600_000).to_string()]);
}

/// Decision 7: the log's format (`log_format`) takes effect.
#[test]
fn the_log_is_json_if_configured() {
    let app = App::with(&[], &[("ROADMAP_LOG_FORMAT", "json")]);
    app.acme.get_tracks();
    let is_logged = || {
        let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
        let lines: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
        lines.iter().any(|line| line["route"] == "/api/external/v1/tracks" && line["status"] == 200)
    };
    eventually("the request is logged", is_logged);
}

/// Decision 5: the running service purges saved responses by itself at its start.
#[test]
fn a_service_purges_expired_operation_keys_by_itself() {
    let mut app = App::start();
    app.acme
        .post_feature_request(&serde_json::json!({ "feature_request": { "title": "Old" }, "operation_key": "old" }));
    app.acme
        .post_feature_request(&serde_json::json!({ "feature_request": { "title": "New" }, "operation_key": "new" }));
    app.kill();
    app.data.execute(&format!("UPDATE operations SET created_at = {} WHERE operation_key = 'old'", sql_timestamp("0")));
    app.restart();
    eventually("the old key is purged", || app.sql("SELECT operation_key FROM operations") == ["new"]);
}
