//! `GET`, `PATCH` and `DELETE /feature_requests/{id}`.

use serde_json::{Value, json};

use crate::app::{App, is_timestamp};
use crate::shared::{age_feature_requests, outdated, unknown_requests};

const UNKNOWN: &str = "FeatureRequest does not exist.";

fn edit(fields: &Value) -> Value {
    json!({ "feature_request": fields })
}

/// Contract 2.2: every `{id}` in a path is a UUID or a slug.
/// Decision 3: a slug is looked up by its digits only; old links continue to work.
/// Addition 2: the detail of a feature request has its fields, and no others.
#[test]
fn a_feature_request_is_shown_with_all_of_its_fields() {
    let app = App::start();
    let created = app.acme.post_feature_request(&json!({
        "feature_request": {
            "title": "Façade mode",
            "description": "<p>Paint <b>all</b> of it<script>x</script></p>",
            "tags": ["Paint", "ui"],
            "track_id": app.track("Planned"),
        },
        "customer": { "email": "Ann@example.com", "name": "Ann" },
    }));
    let created = created.is_ok()["feature_request"].clone();
    app.acme.comment("1", "Soon");
    let detail = app.acme.get_feature_request(created["id"].as_str().unwrap()).is_ok();
    let ann = app.acme.get_voters("1", "").json()["voters"][0]["id"].clone();
    assert_eq!(
        detail,
        json!({
            "feature_request": {
                "id": created["id"],
                "title": "Façade mode",
                "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                "status": "Planned",
                "track": "Planned",
                "votes_count": 1,
                "created_at": created["created_at"],
                "tag_number": 1,
                "description": "<p>Paint <b>all</b> of it</p>",
                "tags": ["Paint", "ui"],
                "private": false,
                "comments_count": 1,
                "author": { "id": ann, "name": "Ann", "email": "Ann@example.com" },
                "merged": [],
                "updated_at": created["created_at"],
            },
        })
    );
    let id = created["id"].as_str().unwrap();
    for reference in [&id.to_uppercase(), "1-facade-mode", "1-an-older-title", "1", "001"] {
        assert_eq!(app.acme.get_feature_request(reference).is_ok(), detail, "{reference}");
    }
}

/// Addition 2.
#[test]
fn a_feature_request_can_be_without_description_tags_and_author() {
    let app = App::start();
    let id = app.acme.feature_request_with(&json!({ "title": "Quokka", "private": true }));
    app.acme.post_upvote(&id, &json!({ "customer": { "email": "ann@example.com" } })).is_ok();
    let detail = app.acme.detail("1-quokka");
    assert_eq!((&detail["description"], &detail["tags"], &detail["author"]), (&json!(""), &json!([]), &json!(null)));
    assert_eq!(
        (&detail["private"], &detail["comments_count"], &detail["votes_count"]),
        (&json!(true), &json!(0), &json!(1))
    );
}

/// Addition 2.
#[test]
fn an_author_can_be_without_a_name() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Dark mode" }, "customer": { "email": "ann@example.com" } });
    app.acme.post_feature_request(&body).is_ok();
    assert_eq!(app.acme.detail("1")["author"]["name"], json!(null));
}

/// Addition 2.
#[test]
fn a_whole_description_is_shown() {
    let app = App::start();
    let longest = "ü".repeat(20_000);
    let id = app.acme.feature_request_with(&json!({ "title": "Dark mode", "description": longest }));
    assert_eq!(app.acme.detail(&id)["description"], json!(longest));
}

/// Addition 2: `GET /feature_requests/{id}` of an unknown one is 404.
#[test]
fn unknown_and_foreign_feature_requests_do_not_exist() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (bolt, unknown) = unknown_requests(&app);
    for id in &unknown {
        app.acme.get_feature_request(id).is_error(404, UNKNOWN);
        for body in [edit(&json!({ "title": "Taken over" })), edit(&json!({ "title": "" })), json!({})] {
            app.acme.patch_feature_request(id, &body).is_error(404, UNKNOWN);
        }
        for query in ["", "with_merged=true"] {
            app.acme.delete_feature_request(id, query).is_error(404, UNKNOWN);
        }
    }
    assert_eq!(bolt.detail("2")["title"], "Bolt's second");
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 3);
}

/// Addition 2: a `PATCH` keeps the fields that are left out.
/// Addition 2: tag names that differ only in case are the same.
#[test]
fn sent_fields_are_changed_and_others_stay() {
    let app = App::start();
    let fields = json!({ "title": "Dark mode", "description": "<p>Eyes</p>", "tags": ["ui"] });
    let id = app.acme.feature_request_with(&fields);
    app.acme.vote(&id, "ann@example.com");
    let mut expected = app.acme.detail(&id);
    for (change, changed_fields) in [
        (json!({ "title": " Night mode " }), json!({ "title": "Night mode" })),
        (json!({ "description": "<p onclick=x>Dark</p>" }), json!({ "description": "<p>Dark</p>" })),
        (json!({ "tags": ["Night", "night", "ui"] }), json!({ "tags": ["Night", "ui"] })),
        (json!({ "private": true }), json!({ "private": true })),
        (json!({ "private": false, "tags": [] }), json!({ "private": false, "tags": [] })),
        (json!({ "description": "" }), json!({ "description": "" })),
        (json!({ "description": "again", "tags": ["again"] }), json!({ "description": "again", "tags": ["again"] })),
        // Null empties what can be empty.
        (json!({ "description": null, "tags": null }), json!({ "description": "", "tags": [] })),
        (json!({ "title": "Dusk" }), json!({ "title": "Dusk" })),
    ] {
        age_feature_requests(&app);
        let edited = app.acme.patch_feature_request(&id, &edit(&change)).is_ok();
        for (field, value) in changed_fields.as_object().unwrap() {
            expected[field] = value.clone();
        }
        for (field, page) in [("url", "feature_requests"), ("admin_url", "admin/feature_requests")] {
            let slug = expected["title"].as_str().unwrap().to_lowercase().replace(' ', "-");
            expected[field] = json!(format!("https://acme.roadmap.example.com/{page}/1-{slug}"));
        }
        expected["updated_at"] = edited["feature_request"]["updated_at"].clone();
        is_timestamp(&expected["updated_at"]);
        assert_ne!(expected["updated_at"], outdated(), "{change}");
        assert_eq!(edited, edit(&expected), "{change}");
        assert_eq!(app.acme.detail(&id), expected, "{change}");
    }
}

/// Addition 2: a `PATCH` names invalid fields, after the record is looked up.
#[test]
fn invalid_edits_are_rejected_by_name() {
    let app = App::start();
    let id = app.acme.feature_request_with(&json!({ "title": "Dark mode", "tags": ["ui"] }));
    let before = app.acme.detail(&id);
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let tags: Vec<String> = (0..21).map(|number| format!("tag {number}")).collect();
    for (body, message) in [
        (json!({}), missing("feature_request")),
        (json!({ "title": "Outside" }), missing("feature_request")),
        (edit(&json!({ "title": "" })), missing("title")),
        (edit(&json!({ "title": " \t" })), missing("title")),
        (edit(&json!({ "title": "t".repeat(201) })), "title must be at most 200 characters long".to_owned()),
        (
            edit(&json!({ "description": "x".repeat(20_001) })),
            "description must be at most 20000 characters long".to_owned(),
        ),
        (edit(&json!({ "tags": [" "] })), missing("tags")),
        (edit(&json!({ "tags": ["t".repeat(51)] })), "tags must be at most 50 characters long".to_owned()),
        (edit(&json!({ "tags": tags })), "tags must have at most 20 items".to_owned()),
        // One invalid field, and nothing is changed.
        (edit(&json!({ "title": "Night mode", "private": 1 })), "private must be a boolean".to_owned()),
    ] {
        app.acme.patch_feature_request(&id, &body).is_error(422, &message);
    }
    assert_eq!(app.acme.detail(&id), before);
}

/// Row counts of all tables that have something of a feature request.
fn rows(app: &App) -> Vec<(&'static str, i64)> {
    [
        "feature_requests",
        "feature_request_tags",
        "vote_tallies",
        "company_tallies",
        "votes",
        "comments",
        "notes",
        "feature_request_events",
        "followers",
        "changelog_feature_requests",
        "outbox",
    ]
    .map(|table| (table, app.count(&format!("SELECT count(*) FROM {table}"))))
    .to_vec()
}

/// Fills a feature request with everything that it can have.
fn fill(app: &App, id: &str) {
    app.acme.vote(id, "ann@example.com");
    app.acme.post_upvote(id, &json!({ "reference_note": { "body": "Heard" } })).is_ok();
    app.acme.put_subscription(id, &json!({ "email": "bob@example.com" })).is_ok();
    app.acme.patch_track(id, &json!({ "track_id": app.track("Done") })).is_ok();
    let comment = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    app.acme.post_comment(id, &comment).is_ok();
    let customer = json!({ "comment": { "content": "Please" }, "customer": { "email": "cid@example.com" } });
    app.acme.post_comment(id, &customer).is_ok();
    let id = app.acme.detail(id)["id"].clone();
    let changelog = json!({ "changelog": { "title": "1.0", "content": "New", "feature_request_ids": [id] } });
    app.acme.post_changelog(&changelog).is_ok();
}

/// Addition 2: a `DELETE` with merged ones is 409, unless `with_merged`.
#[test]
fn one_with_merged_feature_requests_is_deleted_only_with_them() {
    let app = App::with(&[], &[("ROADMAP_MAIL_WORKER", "false")]);
    app.acme.feature_request("Other");
    let before = rows(&app);
    for title in ["Target", "Source", "Source of the source"] {
        app.acme.feature_request(title);
    }
    for id in ["2", "3", "4"] {
        fill(&app, id);
    }
    app.acme.merge("4", "3");
    app.acme.merge("3", "2");
    for query in ["", "with_merged=false", "with_merged=0", "with_merged="] {
        let refused = app.acme.delete_feature_request("2", query);
        refused.is_error(409, "FeatureRequest has merged requests.");
        assert_eq!(refused.header("retry-after"), None);
    }
    for value in ["yes", "2", "TRUE"] {
        let response = app.acme.delete_feature_request("2", &format!("with_merged={value}"));
        response.is_error(422, "with_merged is not one of true, false, 1, 0");
    }
    assert_eq!(app.acme.detail("2")["votes_count"], 1);
    app.acme.delete_feature_request("2", "with_merged=true").is_empty();
    assert_eq!(rows(&app), before);
    for id in ["2", "3", "4"] {
        app.acme.get_feature_request(id).is_error(404, UNKNOWN);
    }
    app.has_logged_no_failure();
}
