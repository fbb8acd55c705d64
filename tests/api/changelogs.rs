//! `GET` and `POST /changelogs`, contract section 4.9; the life of a single changelog.

use serde_json::{Value, json};

use crate::app::{App, Client, Response, eventually, form_with, is_id, is_timestamp};
use crate::database::{random_id, sql_timestamp};
use crate::shared::{column, comes_in_pages, is_unknown};

fn create(client: &Client, changelog: &Value) -> Response {
    client.post_changelog(&json!({ "changelog": changelog }))
}

fn nothing() -> Value {
    json!({ "changelogs": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 })
}

fn titles(body: &Value) -> Vec<&str> {
    let changelogs = body["changelogs"].as_array().expect("a list");
    changelogs.iter().map(|changelog| changelog["title"].as_str().expect("a string")).collect()
}

/// Decision 4: a changelog is `draft` or `published`.
/// Decision 4: POST of a changelog returns it.
/// Decision 3.
#[test]
fn a_changelog_is_a_draft_unless_published() {
    let app = App::start();
    for (publish, status) in [
        (json!({}), "draft"),
        (json!({ "publish": false }), "draft"),
        (json!({ "publish": null }), "draft"),
        (json!({ "publish": true }), "published"),
    ] {
        let mut changelog = publish.clone();
        changelog["title"] = json!("Release 1.2");
        changelog["content"] = json!("<p>All <b>new</b></p>");
        let response = create(&app.acme, &changelog);
        assert_eq!(response.status, 201, "{publish}");
        assert_eq!(response.header("content-type"), Some("application/json"));
        let body = response.json();
        let created = &body["changelog"];
        let id = created["id"].as_str().unwrap();
        assert_eq!(
            body,
            json!({
                "changelog": {
                    "id": id,
                    "title": "Release 1.2",
                    "content": "<p>All <b>new</b></p>",
                    "category": null,
                    "status": status,
                    "url": format!("https://acme.roadmap.example.com/changelogs/{id}"),
                    "admin_url": format!("https://acme.roadmap.example.com/admin/changelogs/{id}"),
                    "cover_image_url": null,
                    "published_at": created["published_at"],
                    "created_at": created["created_at"],
                },
            }),
            "{publish}"
        );
        is_id(&created["id"]);
        is_timestamp(&created["created_at"]);
        match status {
            "published" => is_timestamp(&created["published_at"]),
            _ => assert_eq!(created["published_at"], json!(null), "{publish}"),
        }
    }
}

/// Contract 1: changelogs are listed.
/// Contract 2.8: changelogs are listed, with fields as in decision 4.
/// Decision 4: changelogs have nine fields, by now also a category, and the envelope, newest first.
/// Contract 2.9, 4.9, 4.11.
#[test]
fn changelogs_are_listed_newest_first() {
    let app = App::start();
    assert_eq!(app.acme.get_changelogs("").json(), nothing());
    let created = [("Two", true), ("Three", false), ("One", true)].map(|(title, publish)| {
        let response = create(&app.acme, &json!({ "title": title, "content": "<p>New</p>", "publish": publish }));
        assert_eq!(response.status, 201, "{title}");
        response.json()["changelog"]["id"].as_str().unwrap().to_owned()
    });
    app.data.execute(&format!(
        "UPDATE changelogs SET created_at = {}, published_at = {}",
        sql_timestamp("1767225600000 + CASE title WHEN 'One' THEN 1 WHEN 'Two' THEN 2 ELSE 3000 END"),
        sql_timestamp("CASE title WHEN 'One' THEN 1767225700000 WHEN 'Two' THEN 1767225600002 END"),
    ));
    let listed = |id: &str, title: &str, status: &str, published_at: Value, created_at: &str| {
        json!({
            "id": id,
            "title": title,
            "content": "<p>New</p>",
            "category": null,
            "status": status,
            "url": format!("https://acme.roadmap.example.com/changelogs/{id}"),
            "admin_url": format!("https://acme.roadmap.example.com/admin/changelogs/{id}"),
            "cover_image_url": null,
            "published_at": published_at,
            "created_at": created_at,
        })
    };
    let [two, three, one] = &created;
    let response = app.acme.get_changelogs("");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.json(),
        json!({
            "changelogs": [
                listed(three, "Three", "draft", json!(null), "2026-01-01T00:00:03.000Z"),
                listed(two, "Two", "published", json!("2026-01-01T00:00:00.002Z"), "2026-01-01T00:00:00.002Z"),
                listed(one, "One", "published", json!("2026-01-01T00:01:40.000Z"), "2026-01-01T00:00:00.001Z"),
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
}

/// Contract 4.9: `GET /changelogs` is in pages, with `changelogs` and the envelope.
/// Contract 2.9, 4.11, 8; Decision 2.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    app.data.execute(&format!(
        "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 101)
         INSERT INTO changelogs (workspace_id, id, title, content, published_at, created_at, updated_at)
         SELECT (SELECT id FROM workspaces), {}, 'Release ' || number, 'New', NULL, {at}, {at} FROM numbers",
        random_id(),
        at = sql_timestamp("1767225600000 + number"),
    ));
    let newest: Vec<Value> = (1..=101).rev().map(|number| json!(format!("Release {number}"))).collect();
    comes_in_pages("changelogs", "title", &newest, |query| app.acme.get_changelogs(query));
}

/// Decision 3.
#[test]
fn limits_count_characters() {
    let app = App::start();
    let (title, content) = ("ü".repeat(200), "ü".repeat(100_000));
    let response = create(&app.acme, &json!({ "title": title, "content": content }));
    assert_eq!((response.status, &response.json()["changelog"]["title"]), (201, &json!(title)));
    assert_eq!(app.count("SELECT length(content) FROM changelogs"), 100_000);
}

/// Decision 2, 4.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let with = |field: &str, value: Value| {
        let mut changelog = json!({ "title": "Release", "content": "New" });
        changelog[field] = value;
        json!({ "changelog": changelog })
    };
    for (body, message) in [
        (json!({}), missing("changelog")),
        (json!({ "title": "Release", "content": "New" }), missing("changelog")),
        (json!({ "changelog": { "content": "New" } }), missing("title")),
        (with("title", json!(" \t\n\u{2003}")), missing("title")),
        (with("title", json!("t".repeat(201))), "title must be at most 200 characters long".to_owned()),
        (json!({ "changelog": { "title": "Release" } }), missing("content")),
        (with("content", json!("")), missing("content")),
        (with("content", json!("<p> </p><br>")), missing("content")),
        (with("content", json!("<p>&nbsp;</p>")), missing("content")),
        (with("content", json!("<script>alert(1)</script>")), missing("content")),
        (with("content", json!("x".repeat(100_001))), "content must be at most 100000 characters long".to_owned()),
    ] {
        app.acme.post_changelog(&body).is_error(422, &message);
    }
    assert_eq!(app.acme.get_changelogs("").json(), nothing());
}

/// Decision 4.
#[test]
fn other_fields_are_ignored() {
    let app = App::start();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let response = app.acme.post_changelog(&json!({
        "changelog": {
            "id": id,
            "title": "Release",
            "content": "New",
            "status": "published",
            "published_at": "2001-01-01T00:00:00.000Z",
            "created_at": "2001-01-01T00:00:00.000Z",
            "cover_image_url": "https://evil.example/x.png",
            "workspace_id": id,
        },
        "publish": true,
        "more": [1, 2],
    }));
    assert_eq!(response.status, 201);
    let created = response.json()["changelog"].clone();
    assert_ne!(created["id"], id);
    assert_ne!(created["created_at"], "2001-01-01T00:00:00.000Z");
    assert_eq!(
        (&created["status"], &created["published_at"], &created["cover_image_url"]),
        (&json!("draft"), &json!(null), &json!(null))
    );
}

/// Contract 1.
#[test]
fn another_workspace_s_changelogs_are_not_listed() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    create(&bolt, &json!({ "title": "Bolt's", "content": "New", "publish": true }));
    assert_eq!(app.acme.get_changelogs("").json(), nothing());
    let listed = bolt.get_changelogs("").json();
    assert_eq!((titles(&listed), &listed["total_count"]), (vec!["Bolt's"], &json!(1)));
    let id = listed["changelogs"][0]["id"].as_str().unwrap();
    let url = format!("https://bolt.roadmap.example.com/changelogs/{id}");
    assert_eq!(listed["changelogs"][0]["url"], url.as_str());
}

/// A timestamp that no test reaches.
const FUTURE: &str = "2999-12-31T23:59:59.000Z";

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// Creates a changelog with these fields and returns its id.
fn created(client: &Client, fields: &Value) -> String {
    let mut changelog = json!({ "title": "Release 1.2", "content": "New" });
    for (name, value) in fields.as_object().unwrap() {
        changelog[name] = value.clone();
    }
    text(&create(client, &changelog).is_ok()["changelog"]["id"])
}

fn changelog_of(client: &Client, id: &str) -> Value {
    let mut changelog = client.get_changelog(id).is_ok()["changelog"].clone();
    // Changes do not have it.
    changelog.as_object_mut().unwrap().remove("audience_count");
    changelog
}

fn edit(fields: &Value) -> Value {
    json!({ "changelog": fields })
}

/// Status, time of publication and planned time of a changelog.
fn state(changelog: &Value) -> (String, Value, Value) {
    (text(&changelog["status"]), changelog["published_at"].clone(), changelog["publish_at"].clone())
}

fn is_draft(changelog: &Value) -> bool {
    state(changelog) == ("draft".to_owned(), json!(null), json!(null))
}

/// Addition 5: `GET /changelogs/{id}` has the fields of the list and three more, and while it is not published, how many
/// people would get mail.
/// Addition 5: POST of a changelog takes `feature_request_ids` and `publish_at`, a time to come.
#[test]
fn a_changelog_is_shown_with_what_it_is_about() {
    let app = App::start();
    let ids = ["Dark mode", "Façade mode", "Merged"].map(|title| text(&app.acme.feature_request(title)["id"]));
    app.acme.patch_track("2", &json!({ "track_id": app.track("Done") })).is_ok();
    app.acme.merge("3", "1");
    app.acme.post_upvote(&ids[0], &json!({ "customer": { "email": "ann@example.com" } }));
    let linked = [&ids[1], &ids[2], &ids[0], &ids[1]];
    let id = created(
        &app.acme,
        &json!({ "content": "<p>New</p>", "category": " improved ", "feature_request_ids": linked }),
    );
    let body = app.acme.get_changelog(&id.to_uppercase()).is_ok();
    let changelog = &body["changelog"];
    let request = |id: &str, title: &str, slug: &str, status: Value| {
        let url = format!("https://acme.roadmap.example.com/feature_requests/{slug}");
        json!({ "id": id, "title": title, "url": url, "status": status })
    };
    assert_eq!(
        body,
        json!({
            "changelog": {
                "id": id,
                "title": "Release 1.2",
                "content": "<p>New</p>",
                "category": "improved",
                "status": "draft",
                "url": format!("https://acme.roadmap.example.com/changelogs/{id}"),
                "admin_url": format!("https://acme.roadmap.example.com/admin/changelogs/{id}"),
                "cover_image_url": null,
                "published_at": null,
                "created_at": changelog["created_at"],
                // In the team's order. A merged one is the one that it was merged into, listed once.
                "feature_requests": [
                    request(&ids[1], "Façade mode", "2-facade-mode", json!("Done")),
                    request(&ids[0], "Dark mode", "1-dark-mode", json!(null)),
                ],
                "publish_at": null,
                "updated_at": changelog["created_at"],
                "audience_count": 1,
            },
        })
    );
    is_timestamp(&changelog["updated_at"]);
    // The list has all but the last three.
    let mut expected = changelog.clone();
    expected
        .as_object_mut()
        .unwrap()
        .retain(|key, _| !["feature_requests", "publish_at", "updated_at", "audience_count"].contains(&&**key));
    assert_eq!(app.acme.get_changelogs("").is_ok()["changelogs"], json!([expected]));
    app.acme.post_publish(&id, &json!({})).is_ok();
    assert_eq!(app.acme.get_changelog(&id).is_ok()["changelog"]["audience_count"], json!(null));
}

/// Addition 5: `status` is `draft`, `scheduled` or `published` everywhere.
#[test]
fn a_scheduled_changelog_becomes_public_by_itself() {
    let app = App::start();
    for (sent, at) in [
        (FUTURE, FUTURE),
        ("2998-06-01T14:00:00.5+02:00", "2998-06-01T12:00:00.500Z"),
        (" 2998-06-01T12:00:00Z ", "2998-06-01T12:00:00.000Z"),
    ] {
        let id = created(&app.acme, &json!({ "publish_at": sent }));
        assert_eq!(state(&changelog_of(&app.acme, &id)), ("scheduled".to_owned(), json!(null), json!(at)), "{sent}");
    }
    let listed = app.acme.get_changelogs("").is_ok();
    assert_eq!(column(&listed, "changelogs", "status"), ["scheduled"; 3]);
    assert_eq!(column(&listed, "changelogs", "published_at"), [json!(null), json!(null), json!(null)]);
    let soon = app.sql(&format!(
        "SELECT {}",
        if *crate::database::ON_POSTGRES {
            "to_char(now() AT TIME ZONE 'UTC' + interval '2 seconds', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        } else {
            "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+2 seconds')"
        }
    ));
    let id = created(&app.acme, &json!({ "publish_at": soon[0] }));
    assert_eq!(state(&changelog_of(&app.acme, &id)).0, "scheduled");
    eventually("it is published", || changelog_of(&app.acme, &id)["status"] == "published");
    let published = changelog_of(&app.acme, &id);
    assert_eq!(state(&published), ("published".to_owned(), json!(soon[0]), json!(null)));
}

/// Addition 5: `PATCH` of a changelog keeps the fields that are left out; `cover_image_signed_id: null` removes the
/// cover.
#[test]
fn an_edit_changes_the_sent_fields_only() {
    let app = App::start();
    let request = text(&app.acme.feature_request("Dark mode")["id"]);
    let file = app.acme.post_attachment(&form_with("a.png", b"\x89PNG\r\n\x1a\n")).is_ok();
    let id = created(&app.acme, &json!({}));
    app.data.execute(&format!("UPDATE changelogs SET updated_at = {}", sql_timestamp("0")));
    let mut expected = changelog_of(&app.acme, &id);
    for unchanged in [json!({}), json!({ "title": "Release 1.2" }), json!({ "publish": true, "status": "published" })] {
        assert_eq!(app.acme.patch_changelog(&id, &edit(&unchanged)).is_ok()["changelog"], expected, "{unchanged}");
    }
    assert_eq!(expected["updated_at"], "1970-01-01T00:00:00.000Z");
    let about = json!([{
        "id": request,
        "title": "Dark mode",
        "url": "https://acme.roadmap.example.com/feature_requests/1-dark-mode",
        "status": null,
    }]);
    for (change, field, value) in [
        (json!({ "title": " Release 1.3 " }), "title", json!("Release 1.3")),
        (json!({ "content": "<p onclick=x>Newer</p>" }), "content", json!("<p>Newer</p>")),
        (json!({ "cover_image_signed_id": file["signed_id"] }), "cover_image_url", file["blob_url"].clone()),
        (json!({ "feature_request_ids": [request] }), "feature_requests", about.clone()),
        (json!({ "publish_at": FUTURE }), "publish_at", json!(FUTURE)),
        (json!({ "category": "new" }), "category", json!("new")),
        (json!({ "category": "fixed" }), "category", json!("fixed")),
        (json!({ "category": null }), "category", json!(null)),
        (json!({ "cover_image_signed_id": null }), "cover_image_url", json!(null)),
        (json!({ "feature_request_ids": [] }), "feature_requests", json!([])),
        (json!({ "publish_at": null }), "publish_at", json!(null)),
        (json!({ "feature_request_ids": [request] }), "feature_requests", about.clone()),
        (json!({ "feature_request_ids": null }), "feature_requests", json!([])),
    ] {
        app.data.execute(&format!("UPDATE changelogs SET updated_at = {}", sql_timestamp("0")));
        let response = app.acme.patch_changelog(&id, &edit(&change));
        assert_eq!(response.status, 200, "{change}");
        let edited = response.is_ok();
        expected[field] = value;
        expected["status"] = if expected["publish_at"].is_null() { json!("draft") } else { json!("scheduled") };
        expected["updated_at"] = edited["changelog"]["updated_at"].clone();
        assert_ne!(expected["updated_at"], "1970-01-01T00:00:00.000Z", "{change}");
        assert_eq!(edited, edit(&expected), "{change}");
        assert_eq!(changelog_of(&app.acme, &id), expected, "{change}");
    }
    // An empty text removes the cover, too.
    app.acme.patch_changelog(&id, &edit(&json!({ "cover_image_signed_id": file["signed_id"] }))).is_ok();
    let edited = app.acme.patch_changelog(&id, &edit(&json!({ "cover_image_signed_id": " " }))).is_ok();
    assert_eq!(edited["changelog"]["cover_image_url"], json!(null));
}

/// Addition 5: `publish` and `unpublish` change whether a changelog is public.
#[test]
fn a_changelog_is_published_and_unpublished() {
    let app = App::start();
    let id = created(&app.acme, &json!({ "publish_at": FUTURE }));
    let published = app.acme.post_publish(&id, &json!({}));
    assert_eq!(published.status, 200);
    let published = published.is_ok()["changelog"].clone();
    assert_eq!((text(&published["status"]), &published["publish_at"]), ("published".to_owned(), &json!(null)));
    is_timestamp(&published["published_at"]);
    assert_ne!(published["published_at"], FUTURE);
    assert_eq!(changelog_of(&app.acme, &id), published);
    // A published one keeps its time.
    assert_eq!(app.acme.post_publish(&id, &json!({ "notify_subscribers": false })).is_ok()["changelog"], published);
    let refused = app.acme.patch_changelog(&id, &edit(&json!({ "publish_at": FUTURE })));
    refused.is_error(422, "publish_at is for changelogs that are not published, unpublish it first");
    let unchanged = app.acme.patch_changelog(&id, &edit(&json!({ "publish_at": null }))).is_ok();
    assert_eq!(unchanged["changelog"], published);
    for _ in 0..2 {
        let unpublished = app.acme.post_unpublish(&id, &json!({}));
        assert_eq!(unpublished.status, 200);
        assert!(is_draft(&unpublished.is_ok()["changelog"]));
        assert!(is_draft(&changelog_of(&app.acme, &id)));
    }
    // Unpublishing a scheduled one makes it a draft.
    app.acme.patch_changelog(&id, &edit(&json!({ "publish_at": FUTURE }))).is_ok();
    assert!(is_draft(&app.acme.post_unpublish(&id, &json!({})).is_ok()["changelog"]));
}

#[test]
fn publishing_and_unpublishing_need_no_body() {
    let app = App::start();
    let id = created(&app.acme, &json!({}));
    for (action, status) in [("publish", "published"), ("unpublish", "draft")] {
        let path = format!("/api/external/v1/changelogs/{id}/{action}");
        let response = app.acme.request("POST", &path, &[], None).unwrap();
        assert_eq!(response.is_ok()["changelog"]["status"], status);
    }
}

/// Decision 4: a forged cover image is 422 `Cover image is invalid`.
/// Addition 5.
#[test]
fn new_fields_of_a_changelog_are_rejected_by_name() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign_request = text(&bolt.feature_request("Bolt's")["id"]);
    let foreign_file = bolt.post_attachment(&form_with("a.png", b"x")).is_ok()["signed_id"].clone();
    let request = text(&app.acme.feature_request("Dark mode")["id"]);
    let id = created(&app.acme, &json!({}));
    let before = changelog_of(&app.acme, &id);
    let many: Vec<String> = (0..51).map(|_| request.clone()).collect();
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let no_time = "publish_at is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z";
    let missing = "FeatureRequest does not exist.";
    for (field, value, status, message) in [
        ("feature_request_ids", json!(["1-dark-mode"]), 422, "feature_request_ids is not a valid UUID"),
        (
            "feature_request_ids",
            json!([""]),
            422,
            "param is missing or the value is empty or invalid: feature_request_ids",
        ),
        ("feature_request_ids", json!(many), 422, "feature_request_ids must have at most 50 items"),
        ("feature_request_ids", json!([request, unknown]), 404, missing),
        ("feature_request_ids", json!([foreign_request]), 404, missing),
        ("publish_at", json!("tomorrow"), 422, no_time),
        ("publish_at", json!("2998-06-01"), 422, no_time),
        ("publish_at", json!("9999-12-31T23:59:59-01:00"), 422, no_time),
        ("publish_at", json!("9999-12-31T23:59:60-00:01"), 422, no_time),
        ("publish_at", json!("0000-01-01T00:00:00+01:00"), 422, no_time),
        ("publish_at", json!("0000-01-01T00:00:00Z"), 422, "publish_at is not in the future"),
        ("publish_at", json!("2016-12-31T23:59:60Z"), 422, "publish_at is not in the future"),
        ("publish_at", json!("2998-06-01T12:00:00"), 422, no_time),
        ("publish_at", json!("2001-01-01T00:00:00Z"), 422, "publish_at is not in the future"),
        ("cover_image_signed_id", foreign_file, 422, "Cover image is invalid"),
        ("cover_image_signed_id", json!("forged"), 422, "Cover image is invalid"),
        ("category", json!("Fixed"), 422, "category is not one of new, improved, fixed"),
        ("category", json!("security"), 422, "category is not one of new, improved, fixed"),
    ] {
        let mut changelog = json!({ "title": "Release", "content": "New" });
        changelog[field] = value.clone();
        app.acme.post_changelog(&edit(&changelog)).is_error(status, message);
        app.acme.patch_changelog(&id, &edit(&json!({ field: value }))).is_error(status, message);
    }
    let both = json!({ "title": "Release", "content": "New", "publish": true, "publish_at": FUTURE });
    app.acme.post_changelog(&edit(&both)).is_error(422, "publish_at and publish cannot both be given");
    for (body, message) in [
        (json!({}), "param is missing or the value is empty or invalid: changelog"),
        (edit(&json!({ "title": " " })), "param is missing or the value is empty or invalid: title"),
        (edit(&json!({ "content": "<p> </p>" })), "param is missing or the value is empty or invalid: content"),
    ] {
        app.acme.patch_changelog(&id, &body).is_error(422, message);
    }
    assert_eq!(changelog_of(&app.acme, &id), before);
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 1);
}

/// Decision 2: an unknown changelog is 404 `Changelog does not exist.`.
/// Addition 5.
#[test]
fn unknown_and_foreign_changelogs_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign = created(&bolt, &json!({}));
    is_unknown(&foreign, "Changelog", |id| app.acme.get_changelog(id));
    is_unknown(&foreign, "Changelog", |id| app.acme.delete_changelog(id));
    for body in [edit(&json!({ "title": "Taken over" })), edit(&json!({ "title": "" })), json!({})] {
        is_unknown(&foreign, "Changelog", |id| app.acme.patch_changelog(id, &body));
    }
    for body in [json!({}), json!({ "notify_subscribers": true }), json!({ "notify_subscribers": 5 })] {
        is_unknown(&foreign, "Changelog", |id| app.acme.post_publish(id, &body));
        is_unknown(&foreign, "Changelog", |id| app.acme.post_unpublish(id, &body));
    }
    assert!(is_draft(&changelog_of(&bolt, &foreign)));
}

/// A changelog that is published at a time can be mailed then: the mail waits in the outbox, and follows the publication.
#[test]
fn mail_goes_out_with_a_scheduled_publication() {
    let app = App::start();
    let outbox = || app.count("SELECT count(*) FROM outbox WHERE kind = 'changelog_audience'");
    let fields =
        json!({ "title": "1.0", "content": "New", "publish_at": "2999-01-01T09:00:00Z", "notify_subscribers": true });
    let created = app.acme.post_changelog(&json!({ "changelog": fields })).is_ok();
    let id = created["changelog"]["id"].as_str().expect("an id");
    let change = |fields: Value| app.acme.patch_changelog(id, &json!({ "changelog": fields }));
    assert_eq!(outbox(), 1);
    change(json!({ "publish_at": "2999-02-01T09:00:00Z" })).is_ok();
    assert_eq!(outbox(), 1);
    change(json!({ "notify_subscribers": false })).is_ok();
    assert_eq!(outbox(), 0);
    change(json!({ "notify_subscribers": true })).is_ok();
    change(json!({ "publish_at": null })).is_ok();
    assert_eq!(outbox(), 0);
    let message = "notify_subscribers is for changelogs with publish_at, others are mailed when they are published";
    change(json!({ "notify_subscribers": true })).is_error(422, message);
    let fields = json!({ "title": "1.0", "content": "New", "notify_subscribers": true });
    app.acme.post_changelog(&json!({ "changelog": fields })).is_error(422, message);
}
