//! `GET` and `POST /changelogs`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::{App, Client, Response, is_id, is_timestamp};
use crate::database::{random_id, sql_timestamp};
use crate::shared::comes_in_pages;

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
    let shown = |id: &str, title: &str, status: &str, published_at: Value, created_at: &str| {
        json!({
            "id": id,
            "title": title,
            "content": "<p>New</p>",
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
                shown(three, "Three", "draft", json!(null), "2026-01-01T00:00:03.000Z"),
                shown(two, "Two", "published", json!("2026-01-01T00:00:00.002Z"), "2026-01-01T00:00:00.002Z"),
                shown(one, "One", "published", json!("2026-01-01T00:01:40.000Z"), "2026-01-01T00:00:00.001Z"),
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
}

#[test]
fn the_list_has_the_created_changelogs() {
    let app = App::start();
    for publish in [true, false] {
        let changelog = json!({ "title": " Façade & 😀\n", "content": "Soon <i>there</i>", "publish": publish });
        let created = create(&app.acme, &changelog).json();
        assert_eq!(created["changelog"]["title"], "Façade & 😀");
        let listed = app.acme.get("/api/external/v1/changelogs").json();
        let changelogs = listed["changelogs"].as_array().unwrap();
        assert!(changelogs.contains(&created["changelog"]), "{listed}");
    }
}

#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    app.data.execute(&format!(
        "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 101)
         INSERT INTO changelogs (workspace_id, id, title, content, published_at, created_at)
         SELECT (SELECT id FROM workspaces), {}, 'Release ' || number, 'New', NULL, {} FROM numbers",
        random_id(),
        sql_timestamp("1767225600000 + number"),
    ));
    let newest: Vec<Value> = (1..=101).rev().map(|number| json!(format!("Release {number}"))).collect();
    comes_in_pages("changelogs", "title", &newest, |query| app.acme.get_changelogs(query));
}

#[test]
fn an_invalid_page_is_rejected_by_name() {
    let app = App::start();
    for parameter in ["page", "page_size"] {
        for value in ["0", "00", "-1", "1.5", "", "one", "1e3", "0x1", "%2B1", "%201", "1%20", "%D9%A3", "null"] {
            let response = app.acme.get_changelogs(&format!("{parameter}={value}"));
            response.is_error(422, &format!("{parameter} must be an integer of at least 1"));
        }
    }
}

#[test]
fn the_html_of_a_changelog_is_cleaned() {
    let app = App::start();
    for (sent, shown) in [
        ("New", "New"),
        ("<h2>New</h2><ul><li>one</li></ul>", "<h2>New</h2><ul><li>one</li></ul>"),
        ("<script>alert(1)</script>hi", "hi"),
        ("<style>p{}</style>hi", "hi"),
        ("<img src=x onerror=alert(1)>hi", "hi"),
        ("<b style='x' onclick='y()'>hi</b><!-- x -->", "<b>hi</b>"),
        (
            "<a href=\"https://example.com/\" target=\"_top\">x</a>",
            "<a href=\"https://example.com/\" rel=\"nofollow noopener\">x</a>",
        ),
        ("<a href=\"javascript:alert(1)\">x</a>", "<a rel=\"nofollow noopener\">x</a>"),
    ] {
        let response = create(&app.acme, &json!({ "title": "Release", "content": sent }));
        assert_eq!((response.status, &response.json()["changelog"]["content"]), (201, &json!(shown)), "{sent}");
        let stored = app.sql("SELECT content FROM changelogs ORDER BY id");
        assert_eq!(stored.last().map(String::as_str), Some(shown), "{sent}");
    }
}

#[test]
fn limits_count_characters() {
    let app = App::start();
    let (title, content) = ("ü".repeat(200), "ü".repeat(100_000));
    let response = create(&app.acme, &json!({ "title": title, "content": content }));
    assert_eq!((response.status, &response.json()["changelog"]["title"]), (201, &json!(title)));
    assert_eq!(app.count("SELECT length(content) FROM changelogs"), 100_000);
}

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
        (json!({ "changelog": null }), missing("changelog")),
        (json!({ "changelog": "Release" }), "changelog must be an object".to_owned()),
        (json!({ "changelog": ["Release", "New"] }), "changelog must be an object".to_owned()),
        (json!({ "changelog": 5 }), "changelog must be an object".to_owned()),
        (json!({ "changelog": { "content": "New" } }), missing("title")),
        (with("title", json!(null)), missing("title")),
        (with("title", json!(" \t\n\u{2003}")), missing("title")),
        (with("title", json!(5)), "title must be a string".to_owned()),
        (with("title", json!("t".repeat(201))), "title must be at most 200 characters long".to_owned()),
        (with("title", json!("a\u{0}b")), "title must not contain the NUL character".to_owned()),
        (json!({ "changelog": { "title": "Release" } }), missing("content")),
        (with("content", json!(null)), missing("content")),
        (with("content", json!("")), missing("content")),
        (with("content", json!("<p> </p><br>")), missing("content")),
        (with("content", json!("<p>&nbsp;</p>")), missing("content")),
        (with("content", json!("<script>alert(1)</script>")), missing("content")),
        (with("content", json!(["New"])), "content must be a string".to_owned()),
        (with("content", json!("x".repeat(100_001))), "content must be at most 100000 characters long".to_owned()),
        (with("content", json!("a\u{0}b")), "content must not contain the NUL character".to_owned()),
        (with("publish", json!("true")), "publish must be a boolean".to_owned()),
        (with("publish", json!(1)), "publish must be a boolean".to_owned()),
        (with("cover_image_signed_id", json!(5)), "cover_image_signed_id must be a string".to_owned()),
        (with("cover_image_signed_id", json!({})), "cover_image_signed_id must be a string".to_owned()),
        (
            json!({ "changelog": { "title": "Release", "content": "New" }, "operation_key": 5 }),
            "operation_key must be a string".to_owned(),
        ),
        (
            json!({ "changelog": { "title": "Release", "content": "New" }, "operation_key": "k".repeat(256) }),
            "operation_key must be at most 255 characters long".to_owned(),
        ),
    ] {
        app.acme.post_changelog(&body).is_error(422, &message);
    }
    assert_eq!(app.acme.get_changelogs("").json(), nothing());
}

#[test]
fn a_cover_image_that_nobody_uploaded_is_invalid() {
    let app = App::start();
    for signed_id in
        ["forged", "01890a5d-ac96-774b-bcce-b302099a8057", "eyJfcmFpbHMiOnt9fQ==--0a1b", "../../etc/passwd", "😀"]
    {
        let changelog = json!({ "title": "Release", "content": "New", "cover_image_signed_id": signed_id });
        create(&app.acme, &changelog).is_error(422, "Cover image is invalid");
    }
    assert_eq!(app.acme.get_changelogs("").json(), nothing());
    for signed_id in [json!(null), json!(""), json!(" ")] {
        let changelog = json!({ "title": "Release", "content": "New", "cover_image_signed_id": signed_id });
        let response = create(&app.acme, &changelog);
        assert_eq!(
            (response.status, &response.json()["changelog"]["cover_image_url"]),
            (201, &json!(null)),
            "{signed_id}"
        );
    }
}

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

#[test]
fn an_operation_key_creates_once_and_replays_the_response() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let body = |title: &str| json!({ "changelog": { "title": title, "content": "New" }, "operation_key": "one" });
    app.acme.post_changelog(&body(" ")).is_error(422, "param is missing or the value is empty or invalid: title");
    let first = app.acme.post_changelog(&body("First"));
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
    for replayed in [body("First"), body("Second"), body(" "), json!({ "operation_key": "one" })] {
        let again = app.acme.post_changelog(&replayed);
        assert_eq!((again.status, again.header("idempotent-replayed")), (201, Some("true")), "{replayed}");
        assert_eq!(again.header("content-type"), Some("application/json"), "{replayed}");
        assert_eq!(again.bytes, first.bytes, "{replayed}");
    }
    assert_eq!(titles(&app.acme.get_changelogs("").json()), ["First"]);
    let other = bolt.post_changelog(&body("Bolt's"));
    assert_eq!((other.status, other.header("idempotent-replayed")), (201, None));
    assert_eq!(titles(&bolt.get_changelogs("").json()), ["Bolt's"]);
}

#[test]
fn without_an_operation_key_every_request_creates() {
    let app = App::start();
    for key in [json!(null), json!(""), json!(" \t")] {
        for _ in 0..2 {
            let body = json!({ "changelog": { "title": "Release", "content": "New" }, "operation_key": key });
            let response = app.acme.post_changelog(&body);
            assert_eq!((response.status, response.header("idempotent-replayed")), (201, None), "{key}");
        }
    }
    assert_eq!(app.acme.get_changelogs("").json()["total_count"], 6);
}

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
