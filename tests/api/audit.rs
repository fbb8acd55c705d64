//! `GET /audit_entries`: who changed what. Tests over all writes of the document.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::app::{App, Client, has_keys, is_id, is_timestamp};
use crate::database::sql_timestamp;
use crate::endpoints::{Endpoint, Records, endpoints};
use crate::shared::column;

/// Operations whose effects are records of themselves, or that change nothing that others see: files that wait to be imported,
/// what an import would do, and, without deliveries that have failed, to deliver them again.
const WITHOUT_ENTRY: [&str; 8] = [
    "POST /api/external/v1/webhooks/{id}/redeliver",
    "POST /api/external/v1/feature_requests",
    "POST /api/external/v1/feature_requests/{id}/upvotes",
    "POST /api/external/v1/feature_requests/{id}/comments",
    "POST /api/external/v2/attachments",
    "POST /api/external/v2/imports",
    "DELETE /api/external/v2/imports/{id}",
    "POST /api/external/v2/imports/{id}/run",
];

fn writes() -> impl Iterator<Item = Endpoint> {
    endpoints().into_iter().filter(|endpoint| endpoint.method != "GET")
}

fn entries(client: &Client, query: &str) -> Vec<Value> {
    let body = client.get_audit_entries(query).is_ok();
    has_keys(&body, &["audit_entries", "next_cursor"]);
    body["audit_entries"].as_array().expect("a list").clone()
}

/// Counts what was done over the API: imports and exports end by the service itself, at any time.
fn count(app: &App) -> i64 {
    app.count("SELECT count(*) FROM audit_entries WHERE channel = 'api'")
}

/// The audit log's form of the key of the tests.
fn actor(client: &Client) -> Value {
    let key = client.get_api_key().is_ok();
    json!({ "kind": "api_key", "id": key["api_key"]["id"], "name": "tests" })
}

/// Addition 6: an audit entry says who, through what, what, on what, when, with which request, and the changed fields.
#[test]
fn an_entry_says_who_changed_what_on_what_and_when() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let id = request["id"].as_str().unwrap();
    let body = json!({ "track_id": app.track("Planned") }).to_string();
    let headers = [("Content-Type", "application/json"), ("X-Request-Id", "my-request-17")];
    let path = format!("/api/external/v1/feature_requests/{id}/track");
    let moved = app.acme.request("PATCH", &path, &headers, Some(body.as_bytes())).unwrap();
    assert_eq!(moved.header("x-request-id"), Some("my-request-17"));
    let listed = app.acme.get_audit_entries(&format!("subject={id}")).is_ok();
    let entry = &listed["audit_entries"][0];
    assert_eq!(
        listed,
        json!({
            "audit_entries": [{
                "id": entry["id"],
                "created_at": entry["created_at"],
                "actor": actor(&app.acme),
                "channel": "api",
                "request_id": "my-request-17",
                "action": "feature_request.move",
                "subject": { "kind": "feature_request", "id": id },
                "changes": [
                    { "field": "track", "old": "Inbox", "new": "Planned" },
                    { "field": "status", "old": null, "new": "Planned" },
                ],
            }],
            "next_cursor": null,
        })
    );
    is_id(&entry["id"]);
    is_timestamp(&entry["created_at"]);
}

/// Addition 6: every operation writes one audit entry in its own unit of work, or is a record of itself.
#[test]
fn every_write_has_exactly_one_entry_or_is_a_record_of_itself_and_a_replay_has_none() {
    let app = App::start();
    let actor = actor(&app.acme);
    let mut without = BTreeSet::new();
    for (number, endpoint) in writes().enumerate() {
        let name = endpoint.name();
        let setting = json!({ "product_name": format!("Before {number}"), "website_url": "https://before.example" });
        app.acme.patch_setting(&json!({ "setting": setting })).is_ok();
        let records = Records::create(&app, &app.acme, &number.to_string());
        let before = count(&app);
        let response = if endpoint.takes_key() {
            let mut body = endpoint.example(&records).expect("a body");
            body["operation_key"] = json!(format!("audit {number}"));
            let first = endpoint.send_body(&app.acme, &records, &[], Some(&body));
            assert_eq!(first.status, endpoint.success(), "{name}: {}", first.text());
            let after = count(&app);
            for _ in 0..2 {
                let again = endpoint.send_body(&app.acme, &records, &[], Some(&body));
                assert_eq!(again.header("idempotent-replayed"), Some("true"), "{name}");
            }
            assert_eq!(count(&app), after, "{name}: a replay");
            first
        } else {
            let response = endpoint.send(&app.acme, &records, &[]);
            assert_eq!(response.status, endpoint.success(), "{name}: {}", response.text());
            response
        };
        if count(&app) == before {
            without.insert(name);
            continue;
        }
        assert_eq!(count(&app), before + 1, "{name}");
        let newest = entries(&app.acme, "page_size=1");
        let [entry] = newest.as_slice() else { panic!("{name}: {newest:?}") };
        has_keys(entry, &["id", "created_at", "actor", "channel", "request_id", "action", "subject", "changes"]);
        assert_eq!((&entry["actor"], &entry["channel"]), (&actor, &json!("api")), "{name}");
        assert_eq!(entry["request_id"].as_str(), response.header("x-request-id"), "{name}");
        has_keys(&entry["subject"], &["kind", "id"]);
        let action = entry["action"].as_str().unwrap();
        assert!(action.contains('.') && !action.ends_with('.'), "{name}: {action}");
        for change in entry["changes"].as_array().unwrap() {
            let keys: &[&str] = if change.get("old").is_some() { &["field", "old", "new"] } else { &["field"] };
            has_keys(change, keys);
        }
    }
    assert_eq!(without, WITHOUT_ENTRY.map(str::to_owned).into());
    app.has_logged_no_failure();
}

/// Addition 6: what fails, changes nothing or is replayed has no audit entry.
#[test]
fn what_fails_or_changes_nothing_has_no_entry() {
    let app = App::start();
    let records = Records::create(&app, &app.acme, "some");
    let before = count(&app);
    let unknown = Records::unknown();
    for endpoint in writes() {
        if endpoint.path.contains('{') {
            let response = endpoint.send(&app.acme, &unknown, &[]);
            assert_eq!(response.status, 404, "{}: {}", endpoint.name(), response.text());
        }
        if let Some(Value::Object(body)) = endpoint.example(&records) {
            // Fields of another type, where there are any.
            let body: Value = body.into_iter().map(|(name, _)| (name, json!(17))).collect();
            let response = endpoint.send_body(&app.acme, &records, &[], Some(&body));
            if body != json!({}) {
                assert_eq!(response.status, 422, "{}: {}", endpoint.name(), response.text());
            }
        }
    }
    // Undoing the merge and the import, unpublishing, approving, test events and their repetition take no fields.
    let without_fields = count(&app) - before;
    let undone = entries(&app.acme, &format!("page_size=100&subject={}", records.merged));
    let unpublished =
        entries(&app.acme, &format!("page_size=100&subject={}&action=changelog.unpublish", records.published));
    assert!(without_fields <= 8, "{without_fields} {undone:?} {unpublished:?}");
    let before = count(&app);
    app.acme.patch_feature_request(&records.request, &json!({ "feature_request": {} })).is_ok();
    app.acme.patch_changelog(&records.changelog, &json!({ "changelog": {} })).is_ok();
    app.acme.post_unpublish(&records.changelog, &json!({})).is_ok();
    app.acme.patch_track(&records.request, &json!({ "track_id": app.track("Inbox") })).is_ok();
    app.acme.patch_portal(&json!({ "portal": { "visibility": "public", "accent_color": null } })).is_ok();
    app.acme.approve_feature_request(&records.request).is_ok();
    app.acme.decline_feature_request(&records.request).is_ok();
    app.acme.patch_lane(&records.lane, &json!({ "lane": {} })).is_ok();
    app.acme.patch_track_itself(&records.track, &json!({ "track": {} })).is_ok();
    app.acme.delete_upvote(&records.request, "email=nobody@example.com").is_ok();
    app.acme.merge("2", "3");
    let merged = count(&app);
    app.acme.merge("2", "3");
    assert_eq!((count(&app), merged <= before + 1), (merged, true));
}

/// Addition 6: audit entries never have addresses, texts or secrets.
/// Addition 4.
#[test]
fn entries_contain_no_addresses_texts_or_secrets() {
    let app = App::start();
    let secret = "canary";
    let text = format!("<p>{secret}</p>");
    let id = app.acme.feature_request_with(&json!({ "title": "Dark mode", "description": text }));
    let edited = json!({ "description": format!("<p>another {secret}</p>"), "title": "Night mode" });
    app.acme.patch_feature_request(&id, &json!({ "feature_request": edited })).is_ok();
    let email = format!("{secret}@example.com");
    let vote = json!({
        "customer": { "email": email, "name": secret },
        "reference_note": { "body": text },
    });
    app.acme.post_upvote(&id, &vote).is_ok();
    app.acme.put_subscription(&id, &json!({ "email": email, "name": secret })).is_ok();
    app.acme.delete_subscription(&id, &format!("email={email}")).is_ok();
    let comment = app.acme.comment(&id, &text);
    app.acme.patch_comment(&comment, &json!({ "comment": { "content": format!("{secret} 2") } })).is_ok();
    app.acme.delete_comment(&comment).is_empty();
    let note = app.acme.get_reference_notes(&id, "").is_ok()["reference_notes"][0]["id"].as_str().unwrap().to_owned();
    app.acme.delete_reference_note(&note).is_empty();
    let customer = app.acme.get_customers("").is_ok()["customers"][0]["id"].as_str().unwrap().to_owned();
    app.acme.patch_customer(&customer, &json!({ "customer": { "name": format!("{secret} 2") } })).is_ok();
    app.acme.delete_upvote(&id, &format!("email={email}")).is_ok();
    app.acme.put_subscription(&id, &json!({ "email": format!("other-{email}"), "name": secret })).is_ok();
    let other = app.acme.get_customers("query=other").is_ok()["customers"][0]["id"].clone();
    app.acme.post_customer_merge(&customer, &json!({ "target_id": other })).is_ok();
    let changelog = json!({ "changelog": { "title": "1.0", "content": text } });
    let changelog = app.acme.post_changelog(&changelog).is_ok()["changelog"]["id"].as_str().unwrap().to_owned();
    app.acme.patch_changelog(&changelog, &json!({ "changelog": { "content": format!("{secret} 2") } })).is_ok();
    app.acme.delete_changelog(&changelog).is_empty();
    let file = app.acme.post_attachment(&crate::app::form_with("canary.png", b"canary")).is_ok();
    app.acme.delete_attachment(file["id"].as_str().unwrap()).is_empty();
    app.acme.put_synonyms(&json!({ "synonyms": [[secret, "bird"]] })).is_ok();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "canary@acme.example", "--name", "Pia"]).json();
    app.roadmap(&["member", "remove", "--workspace", "acme", "canary@acme.example"]).json();
    let key = app.key("acme", &[]);
    app.acme.delete_feature_request(&id, "").is_empty();
    let actions: BTreeSet<String> = app.sql("SELECT action FROM audit_entries").into_iter().collect();
    for action in [
        "feature_request.update",
        "feature_request.delete",
        "subscription.create",
        "subscription.delete",
        "comment.update",
        "comment.delete",
        "reference_note.delete",
        "customer.update",
        "customer.merge",
        "vote.withdraw",
        "changelog.create",
        "changelog.update",
        "changelog.delete",
        "attachment.delete",
        "synonyms.replace",
        "member.add",
        "member.remove",
        "api_key.create",
    ] {
        assert!(actions.contains(action), "{action} in {actions:?}");
    }
    let listed = app.acme.get_audit_entries("page_size=100").is_ok().to_string();
    let stored = app
        .sql("SELECT actor_name || ' ' || coalesce(request_id, '') || ' ' || action || ' ' || changes FROM audit_entries")
        .join("\n");
    for text in [&listed, &stored] {
        for hidden in [secret, "rmk_", "@", key.as_str(), &key[4..20]] {
            assert!(!text.contains(hidden), "{hidden} in {text}");
        }
    }
    assert!(listed.contains("Night mode"), "{listed}");
}

/// Addition 6: commands have audit entries of their operator.
#[test]
fn commands_have_entries_of_their_operator() {
    let app = App::start();
    let added = app.roadmap(&["lane", "add", "--workspace", "acme", "Beta"]).json();
    let listed = entries(&app.acme, "action=lane.create");
    let [entry] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((&entry["actor"]["kind"], &entry["actor"]["id"]), (&json!("operator"), &json!(null)));
    assert!(entry["actor"]["name"].as_str().is_some_and(|name| !name.is_empty()));
    assert_eq!((&entry["channel"], &entry["request_id"]), (&json!("command"), &json!(null)));
    assert_eq!(entry["subject"], json!({ "kind": "lane", "id": added["id"] }));
    assert_eq!(entry["changes"], json!([{ "field": "name", "old": null, "new": "Beta" }]));
}

/// Addition 6: `GET /audit_entries` is newest first, with filters and paging by cursor.
/// Beyond the contract: a time is valid if it is in the years 0000 to 9999 in UTC.
#[test]
fn entries_are_filtered() {
    let app = App::start();
    for title in ["One", "Two"] {
        app.acme.feature_request(title);
    }
    let edit = |id: &str, title: &str| {
        app.acme.patch_feature_request(id, &json!({ "feature_request": { "title": title } })).is_ok();
    };
    edit("1", "First");
    edit("2", "Second");
    app.acme.patch_track("1", &json!({ "track_id": app.track("Done") })).is_ok();
    app.roadmap(&["lane", "add", "--workspace", "acme", "Beta"]).json();
    let one = app.acme.detail("1")["id"].as_str().unwrap().to_owned();
    let key = actor(&app.acme)["id"].as_str().unwrap().to_owned();
    let actions = |query: &str| column(&json!({ "list": entries(&app.acme, query) }), "list", "action");
    let (update, moved, lane) = (json!("feature_request.update"), json!("feature_request.move"), json!("lane.create"));
    let of_key = [moved.clone(), update.clone(), update.clone()];
    assert_eq!(actions(&format!("actor={key}")), of_key);
    assert_eq!(actions(&format!("actor={}", key.to_uppercase())), of_key);
    assert_eq!(actions("actor=api_key"), of_key);
    assert_eq!(actions("actor=customer"), [] as [Value; 0]);
    assert_eq!(actions("actor=operator")[0], lane);
    assert_eq!(actions("action=feature_request.update"), [update.clone(), update.clone()]);
    assert_eq!(actions("action=feature_request"), [] as [Value; 0]);
    assert_eq!(actions(&format!("subject={one}")), [moved.clone(), update.clone()]);
    assert_eq!(actions(&format!("subject={one}&action=feature_request.move&actor=api_key")), [moved]);
    assert_eq!(actions("subject=01890a5d-ac96-774b-bcce-b302099a8057"), [] as [Value; 0]);
    assert_eq!(actions("actor=&action=&subject=&from=&to=&cursor=").len(), actions("").len());
    let all = entries(&app.acme, "page_size=100");
    let middle = all[2]["created_at"].as_str().unwrap();
    let is_later = |entry: &&Value| entry["created_at"].as_str().unwrap() >= middle;
    let later: Vec<Value> = all.iter().filter(is_later).cloned().collect();
    let earlier: Vec<Value> = all.iter().filter(|entry| !is_later(entry)).cloned().collect();
    assert_eq!(entries(&app.acme, &format!("page_size=100&from={middle}")), later);
    assert_eq!(entries(&app.acme, &format!("page_size=100&to={middle}")), earlier);
    assert_eq!(entries(&app.acme, "from=2999-01-01T00:00:00Z"), [] as [Value; 0]);
    assert_eq!(entries(&app.acme, "to=2001-01-01T00:00:00%2B02:00"), [] as [Value; 0]);
    // The ends of the range.
    for (query, count) in [
        ("from=0000-01-01T00:00:00Z", all.len()),
        ("from=0000-01-01T00:00:00-23:59", all.len()),
        ("to=9999-12-31T23:59:59.999Z", all.len()),
        ("to=9999-12-31T23:59:59%2B23:59", all.len()),
        ("from=9999-12-31T23:59:59Z", 0),
        ("to=0000-01-01T00:00:00Z", 0),
        ("to=2016-12-31T23:59:60Z", 0),
    ] {
        assert_eq!(entries(&app.acme, &format!("page_size=100&{query}")).len(), count, "{query}");
    }
    let time = "is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z";
    for (name, value) in [
        ("from", "yesterday"),
        ("to", "2026-03-01"),
        ("from", "9999-12-31T23:59:59-01:00"),
        ("to", "9999-12-31T23:59:59-00:01"),
        ("from", "9999-12-31T23:59:60-01:00"),
        ("to", "0000-01-01T00:00:00%2B00:01"),
        ("from", "2026-03-01T12:30:60Z"),
    ] {
        app.acme.get_audit_entries(&format!("{name}={value}")).is_error(422, &format!("{name} {time}"));
    }
}

/// Addition 6.
#[test]
fn entries_come_in_parts_newest_first() {
    let app = App::start();
    app.acme.feature_request("Start");
    for number in 0..30 {
        let title = json!({ "feature_request": { "title": format!("Title {number}") } });
        app.acme.patch_feature_request("1", &title).is_ok();
    }
    let all = entries(&app.acme, "action=feature_request.update&page_size=100");
    let titles: Vec<&Value> = all.iter().map(|entry| &entry["changes"][0]["new"]).collect();
    assert_eq!(
        titles,
        (0..30).rev().map(|number| json!(format!("Title {number}"))).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
    assert_eq!(entries(&app.acme, "action=feature_request.update").len(), 25);
    assert_eq!(entries(&app.acme, "action=feature_request.update&page_size=1000").len(), 30);
    for size in [7, 30] {
        let mut entries = Vec::new();
        let mut query = format!("action=feature_request.update&page_size={size}");
        loop {
            let body = app.acme.get_audit_entries(&query).is_ok();
            entries.extend(body["audit_entries"].as_array().unwrap().clone());
            // Entries that are added meanwhile are on no later page.
            app.acme
                .patch_feature_request("1", &json!({ "feature_request": { "title": format!("{}", entries.len()) } }))
                .is_ok();
            let Some(cursor) = body["next_cursor"].as_str() else { break };
            query = format!("action=feature_request.update&page_size={size}&cursor={cursor}");
        }
        let former: Vec<Value> = entries
            .into_iter()
            .filter(|entry| entry["changes"][0]["new"].as_str().unwrap().starts_with("Title "))
            .collect();
        assert_eq!(former, all, "{size}");
    }
    app.data.is_sound();
}

/// Addition 6: the serving role cannot change or delete audit entries.
#[test]
fn the_database_rejects_changes_of_entries() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "title": "Night" } })).is_ok();
    let before = app.sql("SELECT action || changes FROM audit_entries ORDER BY id");
    // On PostgreSQL, the role of the service has no such right; these statements run with the rights of an owner.
    if !*crate::database::ON_POSTGRES {
        for statement in [
            "UPDATE audit_entries SET action = 'x'",
            "UPDATE audit_entries SET created_at = 0",
            "DELETE FROM audit_entries",
        ] {
            let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| app.data.execute(statement)));
            assert!(attempt.is_err(), "{statement}");
        }
    }
    assert_eq!(app.sql("SELECT action || changes FROM audit_entries ORDER BY id"), before);
}

/// Addition 6: audit entries are kept 400 days, a setting of at least 30.
#[test]
fn entries_are_purged_after_the_configured_time() {
    let mut app = App::with(&[], &[("ROADMAP_AUDIT_RETENTION", "30d")]);
    app.acme.feature_request("Dark mode");
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "title": "Night" } })).is_ok();
    let before = count(&app);
    let copied = |days: u32| {
        let age = format!("{}", i64::from(days) * 86_400_000);
        let now = if *crate::database::ON_POSTGRES {
            "CAST(extract(epoch FROM now()) * 1000 AS bigint)"
        } else {
            "unixepoch() * 1000"
        };
        let at = sql_timestamp(&format!("{now} - {age}"));
        let id = crate::database::random_id();
        app.data.execute(&format!(
            "INSERT INTO audit_entries (workspace_id, id, created_at, actor_kind, actor_id, actor_name, channel,
                                        request_id, action, subject_kind, subject_id, changes)
             SELECT workspace_id, {id}, {at}, actor_kind, actor_id, actor_name, channel, request_id, 'old.{days}',
                    subject_kind, subject_id, changes
             FROM audit_entries WHERE action = 'feature_request.update'"
        ));
    };
    for days in [29, 31, 500] {
        copied(days);
    }
    app.kill();
    app.restart();
    let old = "SELECT count(*) FROM audit_entries WHERE action LIKE 'old.%'";
    crate::app::eventually("the old ones are purged", || app.count(old) == 1);
    assert_eq!(app.sql("SELECT action FROM audit_entries WHERE action LIKE 'old.%'"), ["old.29"]);
    assert_eq!(count(&app), before + 1);
}
