//! `roadmap serve --demo`: the printed commands and links work as printed.

use std::io::BufRead;
use std::process::Command;

use serde_json::Value;

use crate::app::{Client, Server, has_keys, refusal, run};
use crate::database::{Data, millis_between};

/// Starts the demo and reads its output up to the last command.
pub fn demo(data: &Data) -> (Server, Vec<String>) {
    // The port is unknown before the server listens, so the base URL must be the default one.
    let flags = ["--base-url", "http://localhost", "--demo"].map(str::to_owned);
    let mut server = Server::start(data.path(), &flags, &[]);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        assert!(server.stdout.read_line(&mut line).unwrap() > 0, "the demo ended: {lines:?}");
        let last = line.contains("/setting'");
        lines.push(line.trim_end().to_owned());
        if last {
            return (server, lines);
        }
    }
}

#[test]
fn the_printed_line_for_agents_leads_to_the_tools() {
    let data = Data::empty();
    let (server, lines) = demo(&data);
    let line = lines.iter().find(|line| line.starts_with("claude mcp add ")).expect("a line for agents");
    let (url, header) =
        line.strip_prefix("claude mcp add --transport http roadmap-demo ").unwrap().split_once(' ').unwrap();
    assert_eq!(url, "http://localhost/mcp");
    let key = header.strip_prefix("--header 'X-Api-Key: ").and_then(|rest| rest.strip_suffix('\'')).unwrap();
    let client = Client { port: server.port, key: Some(key.to_owned()), host: "localhost".to_owned() };
    let headers = [("Content-Type", "application/json")];
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let listed = client.request("POST", "/mcp", &headers, Some(body)).unwrap().json();
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(26));
}

/// Contract 1: the service is a workspace's product feedback and roadmap, called over HTTP with JSON.
/// Decision 7: `serve --demo` has a filled workspace, its key and working example requests.
/// Addition 6: the demo's printed calls include read, edit, merge, unmerge and withdraw.
#[test]
fn every_printed_request_is_served_as_the_contract_says() {
    let data = Data::empty();
    let (server, lines) = demo(&data);
    let commands: Vec<&String> = lines.iter().filter(|line| line.starts_with("curl ")).collect();
    let page = ["page", "page_size", "total_count", "total_pages"];
    let expected: Vec<(u16, Vec<&str>)> = vec![
        (200, vec!["feature_requests"]),
        (200, vec!["feature_request"]),
        (201, vec!["feature_request", "vote_registered", "already_voted"]),
        (200, [&["feature_requests"][..], &page].concat()),
        (200, [&["voters"][..], &page].concat()),
        (201, vec!["comment", "feature_request"]),
        (201, vec!["comment", "feature_request"]),
        (200, [&["comments"][..], &page].concat()),
        (201, vec!["feature_request", "vote_registered", "already_voted"]),
        (200, vec!["feature_request"]),
        (200, vec!["feature_request"]),
        (200, [&["moves"][..], &page].concat()),
        (200, vec!["feature_request", "merged"]),
        (200, vec!["feature_request"]),
        (200, vec!["feature_request", "unmerged_from"]),
        (200, vec!["feature_request", "vote_removed"]),
        (200, vec!["lanes"]),
        (200, vec!["tracks"]),
        (200, [&["changelogs"][..], &page].concat()),
        (200, vec!["audit_entries", "next_cursor"]),
        (200, vec!["setting"]),
    ];
    assert_eq!(commands.len(), expected.len(), "{lines:?}");
    let mut bodies = Vec::new();
    for (command, (status, keys)) in commands.into_iter().zip(expected) {
        // As printed, but with the port, which is random only in tests.
        let command = command.replace("http://localhost/", &format!("http://localhost:{}/", server.port));
        let (actual, body) = paste(&command);
        assert_eq!(actual, status, "{command}: {body}");
        has_keys(&body, &keys);
        bodies.push(body);
    }
    // The commands work on each other's results.
    let count = |body: &Value| body["feature_request"]["votes_count"].as_i64().unwrap();
    let merged = |body: &Value| body["feature_request"]["merged"].as_array().unwrap().len();
    assert_eq!(count(&bodies[15]), count(&bodies[2]) - 1);
    assert_eq!((&bodies[2]["vote_registered"], &bodies[15]["vote_removed"]), (&Value::Bool(true), &Value::Bool(true)));
    assert_eq!(bodies[12]["feature_request"], bodies[13]["feature_request"]);
    assert!(bodies[13]["feature_request"]["merged"].as_array().unwrap().contains(&bodies[12]["merged"]));
    assert_eq!(merged(&bodies[14]), 0);
    assert_eq!(bodies[14]["unmerged_from"]["id"], bodies[12]["feature_request"]["id"]);
}

/// Runs a line in a shell. Returns the status and the body.
fn paste(line: &str) -> (u16, Value) {
    let line = format!("{line} --write-out '\\n%{{http_code}}'");
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "is curl installed? {line}: {}", String::from_utf8_lossy(&output.stderr));
    let (body, status) = printed.rsplit_once('\n').expect("a status");
    (status.parse().unwrap(), serde_json::from_str(body).unwrap())
}

/// Addition 6: the demo uses customers' comments, merges, a scheduled changelog and moves.
/// Decision 7.
#[test]
fn the_demo_is_filled_once_with_believable_content() {
    let data = Data::empty();
    let counted = |query: &str| data.rows(query)[0].clone();
    let counts = || {
        ["feature_requests", "votes", "comments", "notes", "changelogs", "customers", "members"]
            .map(|table| counted(&format!("SELECT count(*) FROM {table}")).parse::<u64>().unwrap())
    };
    let (server, lines) = demo(&data);
    let first = counts();
    for (count, least) in first.iter().zip([60, 500, 80, 30, 9, 80, 4]) {
        assert!(*count >= least, "{first:?}");
    }
    for (query, least) in [
        ("feature_requests WHERE merged_into_id IS NOT NULL", 7),
        ("feature_requests WHERE private", 3),
        ("feature_request_events WHERE kind = 'moved'", 90),
        ("feature_request_events WHERE kind = 'unmerged'", 1),
        ("comments WHERE customer_id IS NOT NULL", 30),
        ("changelog_feature_requests", 12),
        ("followers", 8),
        ("changelogs WHERE cover_attachment_id IS NOT NULL", 6),
        ("portal_settings WHERE accent IS NOT NULL AND logo_attachment_id IS NOT NULL", 1),
        ("audit_entries", 100),
    ] {
        let count: u64 = counted(&format!("SELECT count(*) FROM {query}")).parse().unwrap();
        assert!(count >= least, "{query}: {count}");
    }
    let (future, now) =
        (counted("SELECT max(published_at) FROM changelogs"), counted("SELECT max(created_at) FROM api_keys"));
    assert!(future > now, "{future} {now}");
    assert_eq!(counted("SELECT count(*) FROM outbox"), "0", "nobody gets mail about the past");
    let told_from = counted("SELECT min(told_until) FROM members");
    assert!(told_from >= counted("SELECT max(created_at) FROM comments"), "members get no mail about the past");
    data.is_sound();
    drop(server);
    let (_server, again) = demo(&data);
    assert_eq!(counts(), first);
    for name in ["API key", "Sign in as a customer", "Sign in as the team"] {
        assert_ne!(printed(&lines, name), printed(&again, name));
    }
}

/// Returns the line with this name, without the name.
fn printed(lines: &[String], name: &str) -> String {
    let line = lines.iter().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("{name}: {lines:?}")).to_owned()
}

#[test]
fn the_printed_links_lead_to_the_portal() {
    let data = Data::empty();
    let (server, lines) = demo(&data);
    assert_eq!(printed(&lines, "Portal"), "http://localhost");
    let visitor = Client { port: server.port, host: "localhost".to_owned(), key: None };
    let home = visitor.get("/");
    assert_eq!(home.status, 200);
    assert!(home.text().contains("Two-way chat integration for team channels"), "{}", home.text());
    for name in ["Sign in as a customer", "Sign in as the team"] {
        let link = printed(&lines, name);
        let path = link.strip_prefix("http://localhost").unwrap_or_else(|| panic!("{link}"));
        assert!(path.starts_with("/sign-in/"), "{link}");
        assert_eq!(visitor.get(path).status, 200, "{link}");
    }
}

/// Decision 7.
#[test]
fn the_demo_rejects_another_default_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_roadmap"))
        .current_dir(folder.path())
        .args(["serve", "--demo", "--default-workspace", "acme", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("--demo serves the workspace `demo` at the base URL"), "{message}");
}

/// Keys of the demo in `api-key list`, oldest first.
fn keys(data: &Data) -> Vec<Value> {
    let listed = run(data.path(), &["api-key", "list", "--workspace", "demo"], &[]).json();
    let mut keys = listed.as_array().expect("a list").clone();
    keys.sort_by_key(|key| key["created_at"].to_string());
    keys
}

/// Decision 7: the demo's key expires after a day and is replaced at the next start; the demo shares no database (not
/// in the decision).
#[test]
fn the_demo_s_key_ends_after_a_day_and_at_the_next_start() {
    let data = Data::empty();
    let (server, lines) = demo(&data);
    let first = printed(&lines, "API key");
    drop(server);
    // A key that was created manually in the demo's workspace is not a demo key.
    let own = run(data.path(), &["api-key", "create", "--workspace", "demo", "--name", "own"], &[]).json();
    for starts in 2..4 {
        let (server, lines) = demo(&data);
        let client =
            |key: &str| Client { port: server.port, host: "demo.localhost".to_owned(), key: Some(key.to_owned()) };
        let newest = printed(&lines, "API key");
        assert_eq!(client(&newest).get_tracks().status, 200);
        assert_eq!(client(&first).get_tracks().status, 401);
        assert_eq!(client(own["key"].as_str().unwrap()).get_tracks().status, 200);
        let keys: Vec<Value> = keys(&data).into_iter().filter(|key| key["name"] == "demo").collect();
        assert_eq!(keys.len(), starts);
        for (place, key) in keys.iter().enumerate() {
            assert_eq!(key["revoked_at"].is_null(), place + 1 == starts, "{keys:?}");
        }
        let lives =
            format!("SELECT DISTINCT {} FROM api_keys WHERE name = 'demo'", millis_between("created_at", "expires_at"));
        assert_eq!(data.rows(&lives), ["86400000"]);
    }
}

/// Decision 7.
#[test]
fn the_demo_does_not_share_a_database_with_other_workspaces() {
    let data = Data::empty();
    let website = "https://acme.example";
    let create =
        |name| run(data.path(), &["workspace", "create", name, "--product-name", name, "--website-url", website], &[]);
    let serve = ["serve", "--demo", "--listen", "127.0.0.1:0"];
    let refused = || refusal(data.path(), &serve, &[]);
    create("acme").json();
    assert_eq!(
        refused(),
        "error: --demo requires a separate database, but this one has the workspace `acme`: serve without --demo, or \
         with another --data-dir or database_url\n"
    );
    create("bolt").json();
    let two = refused();
    assert!(two.contains("this one has the workspace `acme` and 1 more: "), "{two}");
    // Nothing was created.
    assert_eq!(data.rows("SELECT subdomain FROM workspaces ORDER BY subdomain"), ["acme", "bolt"]);
    assert_eq!(data.rows("SELECT count(*) FROM api_keys"), ["0"]);
    // Not even when the data also contains an earlier demo.
    let data = Data::empty();
    drop(demo(&data));
    run(data.path(), &["workspace", "create", "acme", "--product-name", "Acme", "--website-url", website], &[]).json();
    let refused = refusal(data.path(), &serve, &[]);
    assert!(refused.contains("has the workspace `acme`: "), "{refused}");
    assert_eq!(keys(&data).len(), 1);
}
