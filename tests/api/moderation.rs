//! What waits for approval: `GET /held_posts`, `POST /feature_requests/{id}/approve`, `POST /comments/{id}/approve`.

use serde_json::{Value, json};

use crate::app::{App, has_keys};
use crate::shared::{LISTED, column, comes_in_pages};

const NO_COMMENT: &str = "Comment does not exist.";

/// Creates a feature request of Ann that waits for approval. Returns its id.
fn held_request(app: &App, title: &str) -> String {
    let body = json!({
        "feature_request": { "title": title, "private": true },
        "customer": { "email": "ann@example.com", "name": "Ann" },
    });
    let response = app.acme.post_feature_request(&body);
    assert_eq!(response.status, 201, "{}", response.text());
    let id = response.json()["feature_request"]["id"].as_str().expect("an id").to_owned();
    app.data.hold_feature_request(&id);
    id
}

/// Starts a service with a public feature request that Bob voted for. Returns its id.
fn started() -> (App, String) {
    let app = App::start();
    let id = app.acme.feature_request("Dark mode")["id"].as_str().expect("an id").to_owned();
    let vote = json!({ "customer": { "email": "bob@example.com", "name": "Bob" } });
    assert_eq!(app.acme.post_upvote(&id, &vote).status, 201);
    (app, id)
}

/// Ids of what waits, in order.
fn held(app: &App) -> Vec<String> {
    let ids = column(&app.acme.get_held_posts("").is_ok(), "held_posts", "id");
    ids.iter().map(|id| id.as_str().expect("an id").to_owned()).collect()
}

fn comments(app: &App, request: &str) -> Value {
    app.acme.get_comments(request, "").is_ok()["comments"].clone()
}

fn entries(app: &App, action: &str) -> i64 {
    app.count(&format!("SELECT count(*) FROM audit_entries WHERE action = '{action}'"))
}

/// Addition 7: `GET /held_posts` has what waits, oldest first, in pages.
#[test]
fn what_waits_is_listed_oldest_first() {
    let (app, public) = started();
    app.acme.feature_request_with(&json!({ "title": "Private, but not waiting", "private": true }));
    let nothing = json!({ "held_posts": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 });
    assert_eq!(app.acme.get_held_posts("").is_ok(), nothing);

    let idea = held_request(&app, "Night mode");
    let later = app.data.hold_comment(&public, "bob@example.com", "<p>Me, too</p>", "61000");
    let first = app.data.hold_comment(&public, "bob@example.com", "<p>Please</p>", "1000");
    let body = app.acme.get_held_posts("").is_ok();
    let (detail, created_at) = (app.acme.detail(&idea), &body["held_posts"][2]["created_at"]);
    let link = |request: &Value| json!({ "id": request["id"], "title": request["title"], "url": request["url"] });
    let (of_idea, of_comments) = (link(&detail), link(&app.acme.detail(&public)));
    let bob = &app.acme.get_voters(&public, "").is_ok()["voters"][0];
    let bob = json!({ "id": bob["id"], "name": "Bob", "email": "bob@example.com" });
    assert_eq!(
        body,
        json!({
            "held_posts": [
                {
                    "kind": "comment",
                    "id": first,
                    "feature_request": of_comments,
                    "content": "<p>Please</p>",
                    "author": bob,
                    "created_at": "1970-01-01T00:00:01.000Z",
                },
                {
                    "kind": "comment",
                    "id": later,
                    "feature_request": of_comments,
                    "content": "<p>Me, too</p>",
                    "author": bob,
                    "created_at": "1970-01-01T00:01:01.000Z",
                },
                {
                    "kind": "feature_request",
                    "id": idea,
                    "feature_request": of_idea,
                    "content": null,
                    "author": detail["author"],
                    "created_at": created_at,
                },
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
    assert_eq!(created_at, &detail["created_at"]);
    assert_eq!(body["held_posts"][2]["author"]["email"], "ann@example.com");
    // The whole record has the same keys as every other one.
    let keys: Vec<String> = app.acme.detail(&public).as_object().expect("an object").keys().cloned().collect();
    has_keys(&detail, &keys.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(comments(&app, &public), json!([]));
}

/// Addition 7.
#[test]
fn what_waits_comes_in_pages() {
    let (app, public) = started();
    // Half of them have the same time.
    let hold = |number: usize| {
        let millis = if number.is_multiple_of(2) { number * 1_000 } else { 0 };
        json!(app.data.hold_comment(&public, "bob@example.com", &format!("Comment {number}"), &millis.to_string()))
    };
    let ids: Vec<Value> = (0..LISTED - 1).map(hold).collect();
    let idea = json!(held_request(&app, "Night mode"));
    let body = app.acme.get_held_posts("page_size=100").is_ok();
    let mut listed = column(&body, "held_posts", "id");
    listed.extend(column(&app.acme.get_held_posts("page_size=100&page=2").is_ok(), "held_posts", "id"));
    assert_eq!(listed.last(), Some(&idea));
    let times = column(&body, "held_posts", "created_at");
    assert!(times.is_sorted_by_key(|time| time.as_str().expect("a timestamp").to_owned()), "{times:?}");
    let mut known = [&ids[..], &[idea]].concat();
    let mut actual = listed.clone();
    for list in [&mut known, &mut actual] {
        list.sort_by_key(Value::to_string);
    }
    assert_eq!(actual, known);
    comes_in_pages("held_posts", "id", &listed, |query| app.acme.get_held_posts(query));
}

/// Addition 7: an approved feature request is public; one that does not wait is unchanged.
#[test]
fn an_approved_feature_request_is_public() {
    let (app, _) = started();
    let id = held_request(&app, "Quokka mode");
    let match_count =
        || app.acme.get_feature_requests("query=quokka").is_ok()["feature_requests"].as_array().unwrap().len();
    assert_eq!((match_count(), app.acme.detail(&id)["private"].clone()), (0, json!(true)));
    let approved = app.acme.approve_feature_request(&id).is_ok();
    assert_eq!(approved["feature_request"]["private"], json!(false));
    assert_eq!(approved["feature_request"], app.acme.detail(&id));
    assert_eq!((match_count(), held(&app)), (1, Vec::new()));
    let listed = app.acme.get_audit_entries(&format!("subject={id}")).is_ok();
    let entry = &listed["audit_entries"][0];
    assert_eq!(
        (&entry["action"], &entry["changes"]),
        (&json!("feature_request.approve"), &json!([{ "field": "private", "old": true, "new": false }]))
    );
    // Again, it changes nothing.
    assert_eq!(app.acme.approve_feature_request(&id).is_ok(), approved);
    assert_eq!(entries(&app, "feature_request.approve"), 1);
}

/// Addition 7: an approved comment is public, with its id and time, and nothing is mailed.
#[test]
fn an_approved_comment_is_public_with_its_id_and_time() {
    let (app, request) = started();
    let id = app.data.hold_comment(&request, "bob@example.com", "<p>Please</p>", "1000");
    assert_eq!(app.acme.detail(&request)["comments_count"], 0);
    let approved = app.acme.approve_comment(&id).is_ok();
    let listed = comments(&app, &request);
    assert_eq!(
        listed,
        json!([{
            "id": id,
            "content": "<p>Please</p>",
            "author": { "kind": "customer", "name": "Bob" },
            "created_at": "1970-01-01T00:00:01.000Z",
            "updated_at": "1970-01-01T00:00:01.000Z",
        }])
    );
    let detail = app.acme.detail(&request);
    assert_eq!(detail["comments_count"], 1);
    assert_eq!(approved["comment_approved"], json!(true));
    has_keys(&approved, &["feature_request", "comment_approved"]);
    for (field, value) in approved["feature_request"].as_object().expect("an object") {
        assert_eq!(value, &detail[field], "{field}");
    }
    assert_eq!((held(&app), app.count("SELECT count(*) FROM held_comments")), (Vec::new(), 0));
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
    let entry = &app.acme.get_audit_entries(&format!("subject={id}")).is_ok()["audit_entries"][0];
    assert_eq!((&entry["action"], &entry["changes"]), (&json!("comment.approve"), &json!([])));
    // It does not wait any more.
    app.acme.approve_comment(&id).is_error(404, NO_COMMENT);
    assert_eq!(entries(&app, "comment.approve"), 1);
}

/// Addition 7: approving a comment that does not wait is 404.
#[test]
fn a_public_comment_cannot_be_approved() {
    let (app, request) = started();
    let id = app.acme.comment(&request, "Soon");
    app.acme.approve_comment(&id).is_error(404, NO_COMMENT);
    for unknown in ["1", "x", "%00", "%ff", "01890a5d-ac96-774b-bcce-b302099a8057"] {
        app.acme.approve_comment(unknown).is_error(404, NO_COMMENT);
    }
    assert_eq!(comments(&app, &request).as_array().map(Vec::len), Some(1));
}
