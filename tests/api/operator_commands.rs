//! Commands that do what the API does: feature requests, lanes, tracks, members, changelogs, the portal and the audit log;
//! and links to sign in.

use serde_json::{Value, json};

use crate::app::{App, has_keys, is_id, is_timestamp};

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Runs a command in `acme` and returns its output.
#[track_caller]
fn json(app: &App, arguments: &[&str]) -> Value {
    app.roadmap(&[arguments, &["--workspace", "acme"]].concat()).json()
}

/// Runs a command in `acme` that must fail, and returns its standard error.
#[track_caller]
fn failure(app: &App, arguments: &[&str]) -> String {
    let finished = app.roadmap(&[arguments, &["--workspace", "acme"]].concat());
    assert!(!finished.success, "{arguments:?}: {}", finished.stdout);
    assert_eq!(finished.stdout, "", "{arguments:?}");
    finished.stderr
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().expect("a list").iter().map(|row| text(&row["name"])).collect()
}

/// Addition 6: the history of a feature request has moves, merges and edits.
/// Addition 6: `roadmap request` has `show`, `merge`, `unmerge` and `delete`.
#[test]
fn requests_are_shown_merged_unmerged_and_deleted() {
    let app = App::start();
    let target = app.acme.feature_request("Dark mode");
    let source = app.acme.feature_request("Night theme");
    let ann = json!({ "customer": { "email": "ann@example.com" } });
    app.acme.post_upvote("1", &ann);
    app.acme.post_upvote("2", &json!({ "customer": { "email": "bo@example.com" } }));

    let mut output = json(&app, &["request", "show", "2"]);
    assert_eq!(output["history"], json!([]));
    output.as_object_mut().unwrap().remove("history");
    assert_eq!(output, app.acme.get_feature_request("2").json()["feature_request"]);

    let merged = json(&app, &["request", "merge", "2-night-theme", "--into", text(&target["id"])]);
    assert_eq!(merged["feature_request"], app.acme.get_feature_request("1").json()["feature_request"]);
    assert_eq!(merged["feature_request"]["votes_count"], 2);
    assert_eq!(merged["merged"]["id"], source["id"]);
    assert_eq!(json(&app, &["request", "merge", "2", "--into", "1"])["merged"], merged["merged"]);

    let output = json(&app, &["request", "show", "2"]);
    assert_eq!(output["id"], target["id"]);
    let event = &output["history"][0];
    has_keys(event, &["id", "kind", "feature_request", "by", "created_at"]);
    assert_eq!((&event["kind"], &event["feature_request"]), (&json!("merged"), &source["id"]));
    assert_eq!(event["by"]["kind"], "operator");
    let table = app.roadmap_as_text(&["request", "show", "--workspace", "acme", "2"]);
    for part in ["is merged into the following one", "Dark mode", "Merged into it:", "`Night theme` (2) was merged"] {
        assert!(table.contains(part), "{part}: {table}");
    }

    let refused = failure(&app, &["request", "delete", "1"]);
    assert!(refused.contains("cannot be undone; repeat the command with --yes"), "{refused}");
    let refused = failure(&app, &["request", "delete", "1", "--yes"]);
    assert!(refused.contains("add --with-merged") && refused.contains("has merged requests"), "{refused}");

    let unmerged = json(&app, &["request", "unmerge", "2"]);
    assert_eq!(unmerged["feature_request"], app.acme.get_feature_request("2").json()["feature_request"]);
    assert_eq!(unmerged["unmerged_from"]["id"], target["id"]);
    let refused = failure(&app, &["request", "unmerge", "2"]);
    assert!(refused.contains("nothing to undo: FeatureRequest is not merged."), "{refused}");
    let refused = failure(&app, &["request", "merge", "1", "--into", "1"]);
    assert!(refused.contains("target_id is the feature request itself"), "{refused}");

    let deleted = json(&app, &["request", "delete", "2", "--yes"]);
    assert_eq!(deleted, json!({ "id": source["id"], "tag_number": 2, "title": "Night theme", "merged_deleted": 0 }));
    for arguments in [
        &["request", "show", "2"][..],
        &["request", "delete", "2", "--yes"],
        &["request", "merge", "1", "--into", "2"],
        &["request", "unmerge", "2"],
    ] {
        let refused = failure(&app, arguments);
        assert!(refused.contains("there is no feature request `2` in the workspace"), "{refused}");
    }
}

/// Addition 6: `roadmap lane` and `roadmap track` have `rename`, `move` and `remove`.
#[test]
fn lanes_are_renamed_moved_and_removed() {
    let app = App::start();
    let lanes = || json(&app, &["lane", "list"]);
    assert_eq!(json!({ "lanes": lanes() }), app.acme.get_lanes().json());
    let renamed = json(&app, &["lane", "rename", "planned", "Next"]);
    assert_eq!((&renamed["name"], &renamed["position"]), (&json!("Next"), &json!(2)));
    let moved = json(&app, &["lane", "move", text(&renamed["id"]), "--position", "1"]);
    assert_eq!(moved["position"], 1);
    assert_eq!(names(&lanes()), ["Next", "Under consideration", "In progress", "Done"]);
    let removed = json(&app, &["lane", "remove", "Next"]);
    assert_eq!(removed, json!({ "id": renamed["id"], "name": "Next" }));
    assert_eq!(names(&lanes()), ["Under consideration", "In progress", "Done"]);
    let tracks = json(&app, &["track", "list"]);
    assert_eq!((&tracks[2]["name"], &tracks[2]["status"]), (&json!("Planned"), &json!(null)));
    assert!(failure(&app, &["lane", "remove", "Next"]).contains("there is no lane `Next`; `roadmap lane list"));
    assert!(failure(&app, &["lane", "rename", "Done", "IN PROGRESS"]).contains("lane `IN PROGRESS` is already taken"));
}

/// Addition 6.
#[test]
fn tracks_are_renamed_moved_and_removed() {
    let app = App::start();
    let renamed = json(&app, &["track", "rename", "Inbox", "New"]);
    assert_eq!(renamed["name"], "New");
    let moved = json(&app, &["track", "move", "new", "--position", "2", "--lane", "Planned"]);
    assert_eq!(moved, json!({ "id": renamed["id"], "name": "New", "status": "Planned" }));
    let tracks = json(&app, &["track", "list"]);
    assert_eq!(names(&tracks)[..2], ["Under consideration", "New"]);
    assert_eq!(json(&app, &["track", "move", "New", "--no-lane"])["status"], json!(null));
    app.acme.feature_request("Dark mode");
    let first = text(&tracks[0]["id"]);
    let refused = failure(&app, &["track", "remove", first]);
    assert!(refused.contains("has feature requests; name the track that gets them with --move-to"), "{refused}");
    let refused = failure(&app, &["track", "remove", first, "--move-to", "Under consideration"]);
    assert!(refused.contains("--move-to is the track that is to be removed"), "{refused}");
    let removed = json(&app, &["track", "remove", first, "--move-to", "New"]);
    assert_eq!(removed["name"], "Under consideration");
    assert_eq!(app.acme.get_feature_request("1").json()["feature_request"]["track"], "New");
    assert_eq!(json(&app, &["track", "remove", "Declined"])["name"], "Declined");
    assert_eq!(json!({ "tracks": json(&app, &["track", "list"]) }), app.acme.get_tracks().json());
    assert!(failure(&app, &["track", "remove", "Spam"]).contains("there is no track `Spam`; `roadmap track list"));
}

/// Addition 4: the last admin stays.
/// Addition 6: `roadmap member` has `list`, `remove` and `role`.
#[test]
fn members_get_roles_and_are_removed() {
    let app = App::start();
    let add = |name: &str, flags: &[&str]| {
        let email = format!("{name}@acme.example");
        json(&app, &[&["member", "add", "--name", name, "--email", &email], flags].concat())
    };
    let (pia, quinn) = (add("pia", &[]), add("quinn", &["--role", "admin"]));
    assert_eq!((&pia["role"], &quinn["role"]), (&json!("member"), &json!("admin")));
    let promoted = json(&app, &["member", "role", "PIA@acme.example", "admin"]);
    assert_eq!((&promoted["id"], &promoted["role"]), (&pia["id"], &json!("admin")));
    let removed = json(&app, &["member", "remove", text(&pia["id"])]);
    assert_eq!(removed["name"], "pia");
    assert_eq!(json!({ "members": json(&app, &["member", "list"]) }), app.acme.get_members().json());
    let refused = failure(&app, &["member", "remove", "pia@acme.example"]);
    assert!(refused.contains("there is no member `pia@acme.example`; `roadmap member list"), "{refused}");
    assert!(failure(&app, &["member", "role", "quinn@acme.example", "owner"]).contains("the role is not one of"));
    // One admin is left.
    let admins = json(&app, &["member", "list"]);
    let admins = admins.as_array().unwrap().iter().filter(|member| member["role"] == "admin");
    let admins: Vec<&str> = admins.map(|member| text(&member["id"])).collect();
    for admin in &admins[1..] {
        json(&app, &["member", "role", admin, "member"]);
    }
    for arguments in [&["member", "remove", admins[0]][..], &["member", "role", admins[0], "member"]] {
        assert!(failure(&app, arguments).contains("The last admin cannot be removed or demoted."), "{arguments:?}");
    }
}

/// Addition 6: `roadmap changelog` has `list` and `publish`.
#[test]
fn changelogs_are_listed_and_published() {
    let app = App::start();
    let target = app.acme.feature_request("Dark mode");
    let body = json!({ "changelog": { "title": "Dark", "category": "new", "content": "<p>Done</p>",
                                      "feature_request_ids": [target["id"]], "publish_at": "9000-01-01T00:00:00Z" } });
    let created = app.acme.post_changelog(&body).json()["changelog"].clone();
    let listed = json(&app, &["changelog", "list"]);
    assert_eq!((&listed[0]["id"], &listed[0]["status"]), (&created["id"], &json!("scheduled")));
    assert_eq!(listed[0]["publish_at"], "9000-01-01T00:00:00.000Z");
    let published = json(&app, &["changelog", "publish", text(&created["id"]), "--notify-voters"]);
    assert_eq!(published, app.acme.get_changelog(text(&created["id"])).json()["changelog"]);
    assert_eq!((&published["status"], &published["publish_at"]), (&json!("published"), &json!(null)));
    is_timestamp(&published["published_at"]);
    // Publishing again changes nothing.
    assert_eq!(json(&app, &["changelog", "publish", text(&created["id"]), "--notify-voters"]), published);
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    assert!(failure(&app, &["changelog", "publish", unknown]).contains("`roadmap changelog list --workspace acme`"));
}

#[test]
fn the_portal_is_shown_and_set() {
    let app = App::start();
    let output = json(&app, &["portal", "show"]);
    assert_eq!(output, app.acme.get_portal().json()["portal"]);
    let set = |flags: &[&str]| json(&app, &[&["portal", "set"], flags].concat());
    let changed = set(&[
        "--visibility",
        "private",
        "--mail-domains",
        "acme.example, b.example",
        "--indexing",
        "false",
        "--embed-origins",
        "https://help.acme.example",
        "--languages",
        "de,en",
        "--moderation",
        "on",
        "--accent-color",
        "#7A3f9d",
        "--reply-to",
        "help@acme.example",
        "--time-zone",
        "europe/berlin",
    ]);
    let expected = json!({
        "visibility": "private",
        "mail_domains": ["acme.example", "b.example"],
        "indexing": false,
        "embed_origins": ["https://help.acme.example"],
        "languages": ["de", "en"],
        "moderation": true,
        "accent_color": "#7a3f9d",
        "logo_url": null,
        "reply_to": "help@acme.example",
        "time_zone": "Europe/Berlin",
        "welcome_text": {},
        "form_question": {},
        "noun": "feature_requests",
    });
    assert_eq!(changed, expected);
    assert_eq!(json(&app, &["portal", "show"]), expected);
    // The others stay.
    let changed = set(&["--accent-color", "none", "--mail-domains", "", "--reply-to", "none"]);
    assert_eq!((&changed["accent_color"], &changed["mail_domains"]), (&json!(null), &json!([])));
    assert_eq!((&changed["visibility"], &changed["languages"]), (&json!("private"), &json!(["de", "en"])));
    assert_eq!(changed, app.acme.get_portal().json()["portal"]);
    let entry = &json(&app, &["audit", "list", "--action", "portal.update"])[0];
    assert_eq!((&entry["channel"], &entry["actor"]["kind"]), (&json!("command"), &json!("operator")));
    let fields: Vec<&str> = entry["changes"].as_array().unwrap().iter().map(|change| text(&change["field"])).collect();
    assert_eq!(fields, ["mail_domains", "accent_color", "reply_to"]);
    for (flags, says) in [
        (&[][..], "error: no setting to change: `roadmap portal set --help` lists all\n"),
        (&["--visibility", "hidden"], "error: --visibility is not one of public, private, off\n"),
        (&["--languages", "en,fr"], "error: --languages is not one of en, de, ar\n"),
        (&["--moderation", "true"], "error: --moderation is not on or off\n"),
        (&["--reply-to", "help"], "error: --reply-to is not an address that replies can be sent to\n"),
        (&["--time-zone", "Berlin"], "error: --time-zone is not an IANA time zone such as Europe/Berlin\n"),
    ] {
        assert_eq!(failure(&app, &[&["portal", "set"], flags].concat()), says);
    }
    let table = app.roadmap_as_text(&["portal", "show", "--workspace", "acme"]);
    assert!(table.lines().any(|line| line.split_whitespace().eq(["languages", "de,", "en"])), "{table}");
}

#[test]
fn a_link_to_sign_in_is_printed_and_not_mailed() {
    let app = App::start();
    let link = |environment: &[(&str, &str)], flags: &[&str]| {
        let arguments = ["sign-in", "link", "--workspace", "acme", "--email", "Ann@example.com"];
        let base_url = ["--base-url", "https://roadmap.example.com"];
        let finished = app.roadmap_with_environment(&[&arguments[..], &base_url, flags].concat(), environment);
        assert!(finished.success, "{}", finished.stderr);
        finished.stdout
    };
    let parse = |output: &str| serde_json::from_str::<Value>(output).unwrap();
    // There is no limit.
    let links: Vec<Value> = (0..12).map(|_| parse(&link(&[], &["--json"]))).collect();
    for link in &links {
        has_keys(link, &["url", "expires_at"]);
        is_timestamp(&link["expires_at"]);
        assert!(text(&link["url"]).starts_with("https://acme.roadmap.example.com/sign-in/"), "{link}");
    }
    assert_ne!(links[0]["url"], links[1]["url"]);
    let default = parse(&link(&[("ROADMAP_DEFAULT_WORKSPACE", "acme")], &["--json"]));
    assert!(text(&default["url"]).starts_with("https://roadmap.example.com/sign-in/"), "{default}");
    let printed = link(&[], &[]);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("https://acme.roadmap.example.com/sign-in/"), "{printed}");
    assert!(lines.len() == 2 && lines[1].starts_with("It works once, until "), "{printed}");
    // Nothing is mailed, and nobody becomes a customer.
    assert_eq!(app.count("SELECT count(*) FROM sign_ins WHERE email_folded = 'ann@example.com'"), 14);
    assert_eq!((app.count("SELECT count(*) FROM outbox"), app.count("SELECT count(*) FROM customers")), (0, 0));
    assert!(failure(&app, &["sign-in", "link", "--email", "nobody"]).starts_with("error: --email is not"));
}

#[test]
fn nothing_changes_if_links_cannot_be_signed() {
    let app = App::start();
    // On SQLite a secret is created, unless there is a file.
    std::fs::write(app.data_dir().join("secret"), "short").unwrap();
    let before = json(&app, &["portal", "show"]);
    for arguments in [&["portal", "set", "--visibility", "off"][..], &["sign-in", "link", "--email", "ann@example.com"]]
    {
        let arguments = [arguments, &["--workspace", "acme"]].concat();
        let finished = app.roadmap_with_environment(&arguments, &[("ROADMAP_SECRET", "")]);
        assert!(!finished.success && finished.stdout.is_empty(), "{}", finished.stdout);
        assert!(finished.stderr.contains("secret"), "{}", finished.stderr);
    }
    assert_eq!(json(&app, &["portal", "show"]), before);
    assert_eq!(json(&app, &["audit", "list", "--action", "portal.update"]), json!([]));
    assert_eq!(app.count("SELECT count(*) FROM sign_ins"), 0);
}

#[test]
fn texts_of_others_do_not_control_the_terminal() {
    let app = App::start();
    let title = "Dark\u{1b}[2J mode";
    app.acme.feature_request("Dark mode");
    // As an older version has stored it.
    let description = "First\u{9b}31m\nSecond";
    app.data.execute(&format!(
        "UPDATE feature_requests SET title = '{title}', description = '{description}' WHERE tag_number = 1"
    ));
    assert_eq!(app.acme.detail("1")["title"], title);
    app.acme.feature_request("Night theme");
    app.data.execute("UPDATE feature_requests SET title = 'Night\u{7} theme' WHERE tag_number = 2");
    app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } }));
    let printed = |arguments: &[&str]| {
        let text = app.roadmap_as_text(&[arguments, &["--workspace", "acme"]].concat());
        let controls = |character: char| character.is_control() && character != '\n';
        assert!(!text.contains(controls), "{arguments:?}: {text:?}");
        text
    };
    let output = printed(&["request", "show", "1"]);
    assert!(output.contains("Dark\u{fffd}[2J mode") && output.contains("\nFirst\u{fffd}31m\nSecond\n"), "{output:?}");
    assert!(printed(&["search", "explain", "mode"]).contains("Dark\u{fffd}[2J mode"));
    // JSON has the texts as they are.
    assert_eq!(json(&app, &["request", "show", "1"])["title"], title);
    let merged = printed(&["request", "merge", "2", "--into", "1"]);
    assert_eq!(merged, "`Night\u{fffd} theme` (2) is now part of `Dark\u{fffd}[2J mode` (1), which has 1 vote.\n");
    printed(&["request", "show", "1"]);
    printed(&["audit", "list"]);
}

/// Addition 6: `roadmap audit` has `list` and `export`.
#[test]
fn the_audit_log_is_listed_and_exported() {
    let app = App::start();
    let workspace = ["--workspace", "acme"];
    let rename = ["lane", "rename", "--workspace", "acme", "Planned", "Next, \"soon\"", "--json"];
    let finished = app.roadmap_with_environment(&rename, &[("LOGNAME", "=olga")]);
    assert!(finished.success, "{}", finished.stderr);
    app.acme.patch_setting(&json!({ "setting": { "product_name": "Acme 2" } }));

    let listed = json(&app, &["audit", "list"]);
    assert_eq!(listed, app.acme.get_audit_entries("").json()["audit_entries"]);
    let [setting, lane] = [&listed[0], &listed[1]];
    assert_eq!((&setting["action"], &setting["actor"]["kind"]), (&json!("setting.update"), &json!("api_key")));
    is_id(&lane["id"]);
    assert_eq!((&lane["action"], &lane["channel"]), (&json!("lane.update"), &json!("command")));
    assert_eq!(lane["actor"], json!({ "kind": "operator", "id": null, "name": "=olga" }));
    assert_eq!(lane["changes"], json!([{ "field": "name", "old": "Planned", "new": "Next, \"soon\"" }]));

    for (flags, expected) in [
        (&["--limit", "1"][..], vec![setting]),
        (&["--action", "lane.update"], vec![lane]),
        (&["--actor", "operator", "--limit", "1"], vec![lane]),
        (&["--subject", text(&lane["subject"]["id"])], vec![lane]),
        (&["--to", "2000-01-01T00:00:00Z"], vec![]),
        (&["--from", "9000-01-01T00:00:00Z"], vec![]),
    ] {
        let entries = json(&app, &[&["audit", "list"], flags].concat());
        assert_eq!(entries.as_array().unwrap().iter().collect::<Vec<_>>(), expected, "{flags:?}");
    }
    assert!(failure(&app, &["audit", "list", "--actor", "olga"]).contains("--actor is not a valid UUID or one of"));

    let lines = app.roadmap_as_text(&[&["audit", "export"], &workspace[..]].concat());
    let exported: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&Value::from(exported), &listed);
    let csv = app.roadmap_as_text(&[&["audit", "export", "--csv", "--action", "lane.update"], &workspace[..]].concat());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 2, "{csv}");
    assert!(
        lines[0].starts_with("\u{feff}\"id\",\"created_at\",\"actor_kind\",\"actor_id\",\"actor_name\",\"channel\","),
        "{csv}"
    );
    assert!(lines[1].contains(",\"operator\",\"\",\"'=olga\",\"command\",\"\",\"lane.update\",\"lane\","), "{csv}");
}
