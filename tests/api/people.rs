//! A person's data: export, erasing, and what a restored backup brings back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::app::{App, eventually, files_below, run};
use crate::browser::Browser;
use crate::database::ON_POSTGRES;
use crate::mail::files as mail_files;

pub const ZELDA: &str = "Zelda.Quist@hyrule.example";
const FOLDED: &str = "zelda.quist@hyrule.example";
pub const NAME: &str = "Zelda Quist";

/// Columns that refer to a customer, or can hold the address or the name of one: they are in the export, and cleared.
const OF_PEOPLE: &[&str] = &[
    "comments.content",
    "comments.customer_id",
    "company_tallies.company",
    "confirmed_addresses.email_folded",
    "customers.email",
    "customers.email_folded",
    "customers.id",
    "customers.language",
    "customers.last_language",
    "customers.mail_stopped_because",
    "customers.name",
    "customers.name_folded",
    "feature_requests.author_id",
    "feature_requests.description",
    "feature_requests.description_text",
    "feature_requests.title",
    "followers.customer_id",
    "held_comments.content",
    "held_comments.customer_id",
    "notes.body",
    "notes.customer_id",
    "outbox.address",
    "outbox.customer_id",
    "removed_comments.content",
    "removed_comments.customer_id",
    "removed_requests.customer_id",
    "removed_requests.description",
    "removed_requests.description_text",
    "removed_requests.tags",
    "removed_requests.title",
    "sessions.browser_name",
    "sessions.email",
    "sessions.email_folded",
    "votes.customer_id",
];

/// Columns that can hold the address or the name of a person, that are cleared, and not exported.
const ERASED_ONLY: &[(&str, &str)] = &[
    ("attachments.filename", "names of pictures; the pictures are in the exported texts"),
    ("erasures.words", "until no file has them"),
    ("feature_request_events.actor_name", "the name of a member"),
    ("imports.progress", "counts and names for the team"),
    ("imports.upload", "the beginning of an uploaded file; emptied by erasing"),
    ("imports.report", "problems for the team; the person's records are exported themselves"),
    ("members.email", "a member of the team, who sees it"),
    ("members.email_folded", "a member of the team, who sees it"),
    ("members.name", "a member of the team, who sees it"),
    ("members.saved_views", "a member of the team, who sees it"),
    ("missed_searches.words", "counts without the person who searched"),
    ("operations.body", "copies of exported records, for a day"),
    ("search_documents.description", "the words of exported texts"),
    ("search_documents.tags", "the words of exported texts"),
    ("search_documents.title", "the words of exported texts"),
    ("search_trigrams.trigram", "the words of exported texts"),
    ("search_trigrams.word", "the words of exported texts"),
    ("search_words.word", "the words of exported texts"),
    ("sign_ins.action", "a sign-in that was asked for: a day"),
    ("sign_ins.browser_name", "a sign-in that was asked for: a day"),
    ("sign_ins.email", "a sign-in that was asked for: a day"),
    ("sign_ins.email_folded", "a sign-in that was asked for: a day"),
    ("sign_ins.next", "a sign-in that was asked for: a day"),
    ("sign_ins.language", "a sign-in that was asked for: a day"),
    ("webhook_attempts.response", "the answer of a server to an event, which may repeat it: 30 days"),
    ("webhook_events.data", "copies of exported records, as they are sent to webhooks: 30 days"),
    ("webhook_events.snapshot", "copies of exported records, as they are sent to webhooks: 30 days"),
];

/// All other columns that hold text, with the reason why they are none of a customer.
const OF_NOBODY: &[(&str, &[&str])] = &[
    (
        "chosen by the program",
        &[
            "attachments.content_type",
            "attachments.key",
            "attachments.picture_by",
            "attachments.service_name",
            "audit_entries.action",
            "audit_entries.actor_kind",
            "audit_entries.channel",
            "audit_entries.request_id",
            "audit_entries.subject_kind",
            "changes.kind",
            "erasures.texts",
            "erasures.votes",
            "exports.state",
            "feature_request_events.actor_kind",
            "feature_request_events.kind",
            "feature_requests.attention",
            "imported.kind",
            "imports.job",
            "imports.source",
            "imports.state",
            "lanes.kind",
            "link_sources.kind",
            "links.state",
            "members.role",
            "members.team_mail",
            "outbox.digest_id",
            "outbox.id",
            "outbox.kind",
            "outbox.request_id",
            "portal_settings.access",
            "portal_settings.noun",
            "removed_comments.was_held",
            "vote_tallies.attention",
            "webhook_attempts.error",
            "webhook_deliveries.failure",
            "webhook_deliveries.kind",
            "webhook_deliveries.state",
            "webhook_events.actor_kind",
            "webhook_events.kind",
            "webhooks.disabled_because",
            "webhooks.events",
            "webhooks.format",
        ],
    ),
    (
        "digests, which say nothing without a secret or an address",
        &["erasures.digest", "imported.digest", "imports.input", "links.issue"],
    ),
    (
        "the team's words about its own work, as in other people's texts: a dry run lists what can name a person",
        &[
            "changelogs.category",
            "changelogs.content",
            "changelogs.title",
            "feature_request_tags.tag",
            "feature_request_tags.tag_folded",
            "lanes.name",
            "lanes.names",
            "links.title",
            "links.url",
            "portal_settings.form_question",
            "portal_settings.welcome_text",
            "settings.product_name",
            "settings.sender_name",
            "synonyms.phrase",
            "tracks.name",
        ],
    ),
    (
        "settings of the workspace",
        &[
            "portal_settings.accent",
            "portal_settings.embed_origins",
            "portal_settings.languages",
            "portal_settings.mail_domains",
            "portal_settings.reply_to",
            "portal_settings.time_zone",
            "settings.website_url",
            "workspaces.subdomain",
        ],
    ),
    ("names of the team: members, keys and operators", &["api_keys.last_four", "api_keys.name"]),
    (
        "never an address or a name of a customer",
        &["audit_entries.actor_name", "audit_entries.changes", "webhook_events.actor_name"],
    ),
    ("ids of records and placements", &["feature_request_events.details", "outbox.payload"]),
    ("the answer of a mail server to a message that is deleted", &["outbox.answer", "outbox.failure"]),
    ("how somebody else's program names its records", &["imported.external_id", "imported.name", "imports.name"]),
    ("how the team calls a tracker, and its secret, encrypted", &["link_sources.name", "link_sources.sealed_secret"]),
    (
        "where the team sends events, and what for: URL and secrets are encrypted",
        &["webhooks.description", "webhooks.sealed_secrets", "webhooks.sealed_url"],
    ),
    ("chosen by the client for a retry", &["operations.operation_key"]),
];

/// Import contract 11: whoever adds a column decides what it has to do with people.
#[test]
fn every_column_is_exported_and_erased_or_has_a_reason() {
    let app = App::start();
    let columns = if *ON_POSTGRES {
        "SELECT table_name || '.' || column_name FROM information_schema.columns
         WHERE table_schema = current_schema() AND (data_type IN ('text', 'ARRAY', 'bytea')
            OR column_name IN ('customer_id', 'author_id'))"
    } else {
        "SELECT tables.name || '.' || columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
         WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%' AND tables.name NOT LIKE 'search_index%'
           AND (columns.type = 'TEXT' OR columns.name IN ('customer_id', 'author_id', 'body')
                OR EXISTS (SELECT 1 FROM pragma_foreign_key_list(tables.name) AS foreign_keys
                           WHERE foreign_keys.\"table\" = 'customers' AND foreign_keys.\"from\" = columns.name
                             AND columns.name <> 'workspace_id'))"
    };
    let known: BTreeSet<&str> = (OF_PEOPLE.iter().copied())
        .chain(ERASED_ONLY.iter().map(|(column, _)| *column))
        .chain(OF_NOBODY.iter().flat_map(|(_, columns)| columns.iter().copied()))
        // Authors from the team.
        .chain(["comments.author_id", "notes.author_id"])
        .collect();
    let is_schema = |column: &str| column.starts_with("__diesel_schema_migrations.");
    let found: Vec<String> = app.sql(columns).into_iter().filter(|column| !is_schema(column)).collect();
    assert!(found.len() > 80, "{found:?}");
    let unknown: Vec<_> = found.iter().filter(|column| !known.contains(column.as_str())).collect();
    let binary = [
        "api_keys.digest",
        "attachments.checksum",
        "sessions.digest",
        "sign_ins.browser_digest",
        "counted_mails.counter",
    ];
    let unknown: Vec<_> = unknown.into_iter().filter(|column| !binary.contains(&column.as_str())).collect();
    assert!(unknown.is_empty(), "columns of which nobody has decided whether they are about people: {unknown:?}");
}

/// Runs `roadmap customer` with a command and its arguments.
pub fn customer(app: &App, arguments: &[&str]) -> Value {
    let target = ["--workspace", "acme"];
    let (command, rest) = arguments.split_first().expect("a command");
    app.roadmap(&[&["customer", command][..], &target, rest].concat()).json()
}

/// The output of `export`, which is always JSON.
fn exported(app: &App, arguments: &[&str]) -> Value {
    let base = ["--base-url", "https://roadmap.example.com", "customer", "export", "--workspace", "acme"];
    let output = app.roadmap_with_environment(&[&base[..], arguments].concat(), &[]);
    assert!(output.success, "{}", output.stderr);
    serde_json::from_str(&output.stdout).unwrap_or(Value::Null)
}

/// What a workspace with Zelda everywhere has: her feature request, and one that she has voted for and commented on.
pub struct Scene {
    pub app: App,
    pub own: String,
    pub other: String,
}

fn id(response: &Value, kind: &str) -> String {
    response[kind]["id"].as_str().expect("an id").to_owned()
}

/// A service in which Zelda has left traces everywhere.
pub fn scene() -> Scene {
    let app = App::start();
    let zelda = json!({ "email": ZELDA, "name": NAME });
    let create = |title: &str, customer: &Value| {
        let body = json!({ "feature_request": { "title": title, "description": "Please" }, "customer": customer,
            "operation_key": title });
        id(&app.acme.post_feature_request(&body).is_ok(), "feature_request")
    };
    let own = create("Master sword", &zelda);
    let other = create("Ocarina", &json!({ "email": "link@kokiri.example", "name": "Link" }));
    let vote = json!({ "customer": zelda, "reference_note": { "body": "A princess" } });
    app.acme.post_upvote(&other, &vote).is_ok();
    app.acme.post_upvote(&own, &json!({ "customer": { "email": "link@kokiri.example" } })).is_ok();
    let comment = json!({ "comment": { "content": "I would use it daily" }, "customer": zelda });
    app.acme.post_comment(&other, &comment).is_ok();
    let followed = create("Bombs", &json!({ "email": "link@kokiri.example" }));
    app.acme.put_subscription(&followed, &json!({ "email": ZELDA })).is_ok();
    let tell = json!({ "comment": { "content": "It is coming" }, "notify_all_voters": true });
    app.acme.post_comment(&other, &tell).is_ok();
    eventually("Zelda has mail", || {
        mail_files(&app).iter().any(|file| std::fs::read(file).is_ok_and(|mail| contains(&mail, FOLDED)))
    });
    // A session, and an import with rejected rows and a report.
    drop(Browser::signed_in(&app, ZELDA));
    let votes = format!("request_id,email,name\nA-1,{ZELDA},{NAME}\nA-1,link@kokiri.example,Link\n");
    let posts = format!("id,title,author_email,author_name\nA-1,Hookshot,{ZELDA},{NAME}\nA-2,,{ZELDA},{NAME}\n");
    let paths = [write(&app, "posts.csv", &posts), write(&app, "votes.csv", &votes)];
    let arguments = ["import", "csv", "--workspace", "acme", &paths[0], &paths[1], "--json"];
    let base = ["--base-url", "https://roadmap.example.com"];
    app.roadmap_with_environment(&[&base[..], &arguments].concat(), &[]);
    for path in paths {
        std::fs::remove_file(path).expect("the file of the source");
    }
    Scene { app, own, other }
}

fn write(app: &App, name: &str, content: &str) -> String {
    let path = app.data_dir().join(name);
    std::fs::write(&path, content).expect("a file");
    path.to_str().expect("text").to_owned()
}

fn contains(bytes: &[u8], word: &str) -> bool {
    let lower = bytes.to_ascii_lowercase();
    let word = word.to_ascii_lowercase();
    lower.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Files that have the address or the name.
pub fn files_with(folder: &Path) -> Vec<PathBuf> {
    let has = |path: &PathBuf| {
        std::fs::read(path).is_ok_and(|content| contains(&content, FOLDED) || contains(&content, NAME))
    };
    files_below(folder).into_iter().filter(has).collect()
}

/// Rows of any table that have the address or the name, as SQL reads them.
pub fn rows_with(app: &App) -> Vec<String> {
    let tables = if *ON_POSTGRES {
        "SELECT table_name FROM information_schema.tables
         WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
    } else {
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search_index%'"
    };
    let mut found = Vec::new();
    for table in app.sql(tables) {
        let text = if *ON_POSTGRES {
            format!("SELECT row_of::text || encode(row_of::text::bytea, 'escape') FROM {table} AS row_of")
        } else {
            let columns = app.sql(&format!("SELECT name FROM pragma_table_info('{table}')"));
            let text = |name: &String| {
                format!("coalesce(CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE {name} END, '')")
            };
            let columns: Vec<String> = columns.iter().map(text).collect();
            format!("SELECT {} FROM {table}", columns.join(" || ' ' || "))
        };
        let hex = |word: &str| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let words = [FOLDED.to_owned(), NAME.to_lowercase(), hex(FOLDED), hex(ZELDA), hex(NAME)];
        let has = |row: &String| words.iter().any(|word| row.to_lowercase().contains(word));
        found.extend(app.sql(&text).into_iter().filter(has).map(|row| format!("{table}: {row}")));
    }
    found
}

/// Import contract 8: the export has everything about a person, and nothing of anybody else.
#[test]
fn a_person_s_data_are_exported_whole() {
    let Scene { app, .. } = scene();
    let shown = customer(&app, &["show", FOLDED]);
    assert_eq!((&shown["email"], &shown["votes"], &shown["sessions"]), (&json!(ZELDA), &json!(3), &json!(1)));
    let target = app.data_dir().join("zelda.json");
    exported(&app, &[ZELDA, "--to", target.to_str().expect("text")]);
    let export: Value = serde_json::from_slice(&std::fs::read(&target).expect("the file")).expect("JSON");
    assert_eq!((&export["format"], &export["format_version"]), (&json!("roadmap-person"), &json!(1)));
    assert_eq!(export["customer"]["name"], NAME);
    let numbers = |field: &str| export[field].as_array().expect("a list").len();
    let lists = ["votes", "feature_requests", "comments", "notes", "subscriptions", "mails", "sessions", "imported"];
    assert_eq!(lists.map(numbers), [3, 2, 1, 1, 1, 1, 1, 1]);
    assert_eq!(export["notes"][0]["body"], "A princess");
    let text = export.to_string();
    for of_others in ["link", "kokiri", "It is coming", "olga"] {
        assert!(!text.to_lowercase().contains(&of_others.to_lowercase()), "{of_others}: {text}");
    }
    assert_eq!(exported(&app, &[ZELDA, "--without-notes"])["notes"], json!([]));
    let audited = "SELECT count(*) FROM audit_entries WHERE action = 'customer.export'";
    assert_eq!(app.count(audited), 2);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&target).expect("the file").permissions().mode() & 0o777, 0o600);
}

/// Import contract 8: a minute after erasing, no file of the service has the address or the name, and no row.
#[test]
fn erasing_leaves_nothing_of_a_person_in_any_file() {
    let Scene { app, own, other } = scene();
    assert!(!rows_with(&app).is_empty() && !files_with(&app.data_dir().join("mail")).is_empty());
    assert!(!files_with(&app.data_dir().join("imports")).is_empty());
    let counted = |request: &str| app.acme.detail(request)["votes_count"].clone();
    let before = (counted(&own), counted(&other));

    let dry = customer(&app, &["erase", ZELDA, "--dry-run"]);
    let expected = json!({ "votes": 3, "feature_requests": 2, "comments": 1, "notes": 1 });
    assert_eq!(dry, json!({ "erased": expected, "mentions": [] }));
    let refused = app.roadmap(&["customer", "erase", "--workspace", "acme", ZELDA]);
    assert!(!refused.success && refused.stderr.contains("--yes confirms it"), "{}", refused.stderr);
    assert!(!rows_with(&app).is_empty());

    assert_eq!(customer(&app, &["erase", ZELDA, "--yes"]), json!({ "erased": expected }));
    assert_eq!((counted(&own), counted(&other)), before);
    assert_eq!(rows_with(&app), Vec::<String>::new());
    eventually("no file has Zelda", || files_with(app.data_dir()).is_empty());
    let again = app.roadmap(&["customer", "erase", "--workspace", "acme", ZELDA, "--yes"]);
    assert!(!again.success && again.stderr.contains("has no customer"), "{}", again.stderr);
    // A retry still has no effect.
    let retry = json!({ "feature_request": { "title": "x" }, "operation_key": "Master sword" });
    let replayed = app.acme.post_feature_request(&retry).is_ok();
    assert_eq!(replayed["feature_request"]["id"], json!(own));
    // Who takes part again is a new customer.
    app.acme.post_upvote(&other, &json!({ "customer": { "email": ZELDA } })).is_ok();
    assert_eq!(customer(&app, &["show", ZELDA])["votes"], 1);
    let audited = "SELECT changes FROM audit_entries WHERE action = 'customer.erase'";
    assert!(!app.sql(audited)[0].to_lowercase().contains("zelda"));
    app.has_logged_no_failure();
}

/// Import contract 5, 8: an import does not bring an erased person back, nor counts a vote again.
#[test]
fn imports_do_not_bring_erased_people_back() {
    let Scene { app, .. } = scene();
    customer(&app, &["erase", ZELDA, "--yes"]);
    let hookshot = app.sql(
        "SELECT votes_count FROM vote_tallies JOIN feature_requests ON feature_requests.id = request_id
                            WHERE title = 'Hookshot'",
    );
    let votes = format!("request_id,email,name\nA-1,{ZELDA},{NAME}\nA-3,{FOLDED},{NAME}\n");
    let posts = format!("id,title,author_email,author_name\nA-1,Hookshot,{ZELDA},{NAME}\nA-3,Boots,{ZELDA},{NAME}\n");
    let comments = format!("request_id,id,body,author_email,author_name\nA-1,c,Nice,{ZELDA},{NAME}\n");
    let paths = [write(&app, "p.csv", &posts), write(&app, "v.csv", &votes), write(&app, "c.csv", &comments)];
    let base = ["--base-url", "https://roadmap.example.com", "import", "csv", "--workspace", "acme", "--json"];
    let output = app.roadmap_with_environment(&[&base[..], &paths.each_ref().map(String::as_str)].concat(), &[]);
    let report: Value = serde_json::from_str(&output.stdout).expect("a report");
    assert_eq!((&report["state"], &report["counts"]["votes"]["new"]), (&json!("done"), &json!(0)), "{report}");
    assert_eq!(app.count(&format!("SELECT count(*) FROM customers WHERE email_folded = '{FOLDED}'")), 0);
    let now = app.sql(
        "SELECT votes_count FROM vote_tallies JOIN feature_requests ON feature_requests.id = request_id
                       WHERE title = 'Hookshot'",
    );
    assert_eq!(now, hookshot);
    // The comment is nobody's, and not the team's.
    let author =
        "SELECT email FROM comments JOIN customers ON customers.id = comments.customer_id WHERE content LIKE '%Nice%'";
    assert_eq!(app.sql(author), ["nobody@csv.invalid"]);
}

/// Import contract 8: `restore` erases again who was erased after the backup, and nobody who took part again.
#[test]
fn a_restored_backup_has_nobody_who_was_erased_after_it() {
    let Scene { mut app, .. } = scene();
    let backup = app.data_dir().join("backup.tar");
    let file = backup.to_str().expect("text").to_owned();
    app.roadmap(&["backup", &file]).json();
    customer(&app, &["erase", ZELDA, "--yes"]);
    app.kill();
    app.roadmap(&["restore", &file, "--force"]).json();
    std::fs::remove_file(&backup).expect("the backup");
    assert_eq!(rows_with(&app), Vec::<String>::new());
    app.restart();
    eventually("no file has Zelda", || files_with(app.data_dir()).is_empty());
    assert_eq!(run(app.data_dir(), &["customer", "reapply"], &[]).json(), json!({ "erased": 0 }));
    app.acme.post_feature_request(&json!({ "feature_request": { "title": "Again" }, "customer": { "email": ZELDA } }));
    assert_eq!(run(app.data_dir(), &["customer", "reapply"], &[]).json(), json!({ "erased": 0 }));
    assert_eq!(customer(&app, &["show", ZELDA])["feature_requests"], 1);
}

/// Import contract 10: programs export and erase customers with the scope `manage`.
#[test]
fn programs_export_and_erase_customers() {
    let Scene { app, own, .. } = scene();
    let zelda = customer(&app, &["show", ZELDA])["id"].as_str().expect("an id").to_owned();
    let export = app.acme.get_customer_export(&zelda, "").is_ok();
    assert_eq!((&export["format"], &export["notes"][0]["body"]), (&json!("roadmap-person"), &json!("A princess")));
    assert_eq!(app.acme.get_customer_export(&zelda, "notes=false").is_ok()["notes"], json!([]));
    app.acme.get_customer_export(&zelda, "notes=maybe").is_error(422, "notes is not true or false");
    app.acme.get_customer_export("x", "").is_error(404, "Customer does not exist.");

    for (body, message) in [
        (json!({ "votes": "lose" }), "votes is not keep or drop"),
        (json!({ "texts": "drop" }), "texts is not keep or remove"),
    ] {
        app.acme.post_customer_erase(&zelda, &body).is_error(422, message);
    }
    let olga = json!({ "customer": { "email": "olga@acme.example" } });
    app.acme.post_upvote(&own, &olga).is_ok();
    let member = customer(&app, &["show", "olga@acme.example"])["id"].as_str().expect("an id").to_owned();
    app.acme.post_customer_erase(&member, &json!({})).is_error(409, "The customer is a member of the team.");

    let erased = json!({ "erased": { "votes": 3, "feature_requests": 2, "comments": 1, "notes": 1 } });
    let body = json!({ "votes": "drop", "texts": "remove", "operation_key": "erase" });
    assert_eq!(app.acme.post_customer_erase(&zelda, &body).is_ok(), erased);
    assert_eq!(app.acme.post_customer_erase(&zelda, &body).is_ok(), erased, "a retry");
    app.acme.post_customer_erase(&zelda, &json!({})).is_error(404, "Customer does not exist.");
    eventually("no row has Zelda", || rows_with(&app).is_empty());
    eventually("no file has Zelda", || files_with(app.data_dir()).is_empty());
    // Link and Olga have voted for it, too: it stays without its texts.
    let request = app.acme.detail(&own);
    assert_eq!((&request["title"], &request["votes_count"]), (&json!("Feature request 1"), &json!(2)));
}
