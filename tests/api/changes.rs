//! `GET /feature_requests/all` and `GET /comments`: everything, oldest change first.

use serde_json::{Value, json};

use crate::app::{App, Client, has_keys, is_id, is_timestamp};

const REQUESTS: &str = "/api/external/v1/feature_requests/all";
const COMMENTS: &str = "/api/external/v1/comments";

/// Reads a list to its end, in pages of this size.
fn all(client: &Client, path: &str, list: &str, query: &str, size: usize) -> Vec<Value> {
    let (mut cursor, mut items) = (String::new(), Vec::new());
    loop {
        let body = client.get(&format!("{path}?page_size={size}&cursor={cursor}&{query}")).is_ok();
        has_keys(&body, &[list, "next_cursor"]);
        let page = body[list].as_array().expect("a list");
        assert!(page.len() <= size);
        items.extend(page.iter().cloned());
        match body["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => {
                assert_eq!(body["next_cursor"], json!(null));
                return items;
            }
        }
    }
}

fn requests(client: &Client, query: &str) -> Vec<Value> {
    all(client, REQUESTS, "feature_requests", query, 2)
}

fn comments(client: &Client, query: &str) -> Vec<Value> {
    all(client, COMMENTS, "comments", query, 2)
}

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["id"].as_str().expect("an id")).collect()
}

fn gone(item: &Value) -> bool {
    let is_gone = item.get("deleted").is_some();
    if is_gone {
        has_keys(item, &["id", "deleted", "updated_at"]);
        assert_eq!(item["deleted"], json!(true));
        is_id(&item["id"]);
        is_timestamp(&item["updated_at"]);
    }
    is_gone
}

/// Addition 6: `GET /feature_requests/all` has all fields and `merged_into`, merged ones themselves, oldest change
/// first, the own workspace only.
#[test]
fn all_feature_requests_are_listed_with_all_fields() {
    let app = App::start();
    let [dark, export, night] =
        ["Dark mode", "Export", "Night mode"].map(|title| app.acme.feature_request_with(&json!({ "title": title })));
    app.acme.merge(&night, &dark);
    app.acme.delete_feature_request(&export, "").is_empty();
    let secret = app.acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    app.acme.vote(&dark, "ann@example.com");
    let listed = requests(&app.acme, "");
    assert_eq!(listed.len(), 3);
    let find = |id: &str| listed.iter().find(|item| item["id"] == id).expect("it is listed");
    let mut detail = app.acme.detail(&dark);
    detail["merged_into"] = json!(null);
    assert_eq!(find(&dark), &detail);
    let source = find(&night);
    let link = json!({ "id": detail["id"], "title": "Dark mode", "url": detail["url"] });
    assert_eq!(
        (&source["title"], &source["merged_into"], &source["merged"]),
        (&json!("Night mode"), &link, &json!([]))
    );
    assert!(gone(find(&export)) && ids(&listed).last() == Some(&export.as_str()));
    let with_private = requests(&app.acme, "include_private=true");
    assert_eq!(ids(&with_private).last(), Some(&secret.as_str()));
    assert_eq!((with_private.len(), &with_private[3]["private"]), (4, &json!(true)));
    let bolt = app.workspace("bolt");
    assert_eq!(requests(&bolt, "include_private=1"), Vec::<Value>::new());
    // Without parameters, the first 25 are listed.
    for number in 0..24 {
        app.acme.feature_request(&format!("Idea {number}"));
    }
    let body = app.acme.get(REQUESTS).is_ok();
    assert_eq!(body["feature_requests"].as_array().unwrap().len(), 25);
    assert_eq!(body["next_cursor"].as_str().unwrap().len(), 43);
}

/// Addition 6: lists of changes take `cursor`, `updated_since`, `track_id` and `include_private`, and return
/// `next_cursor`.
#[test]
fn what_changed_is_listed_after_a_cursor_and_from_a_time_on() {
    let app = App::start();
    let [first, second] = ["First", "Second"].map(|title| app.acme.feature_request_with(&json!({ "title": title })));
    let page = app.acme.get(&format!("{REQUESTS}?page_size=1")).is_ok();
    let cursor = page["next_cursor"].as_str().unwrap().to_owned();
    let after = |query: &str| requests_after(&app.acme, &cursor, query);
    assert_eq!(ids(&after("")), [second.as_str()]);
    let edit = json!({ "feature_request": { "title": "Changed" } });
    app.acme.patch_feature_request(&first, &edit).is_ok();
    app.acme.comment(&second, "No change of it");
    app.acme.vote(&second, "ann@example.com");
    assert_eq!(ids(&after("")), [second.as_str(), first.as_str()]);
    let changed_at = app.acme.detail(&first)["updated_at"].as_str().unwrap().to_owned();
    assert_eq!(ids(&requests(&app.acme, &format!("updated_since={changed_at}"))), [first.as_str()]);
    assert_eq!(ids(&after(&format!("updated_since={changed_at}"))), [first.as_str()]);
    assert_eq!(requests(&app.acme, "updated_since=2999-01-01T00:00:00Z"), Vec::<Value>::new());
    // What became private is listed as deleted, and its comments with it.
    let hide = |private: bool| {
        let edit = json!({ "feature_request": { "private": private } });
        app.acme.patch_feature_request(&second, &edit).is_ok();
    };
    assert!(!gone(&comments(&app.acme, "")[0]));
    hide(true);
    let listed = after("");
    assert_eq!(ids(&listed), [first.as_str(), second.as_str()]);
    assert!(gone(&listed[1]) && gone(&comments(&app.acme, "")[0]));
    assert!(!gone(&comments(&app.acme, "include_private=true")[0]));
    hide(false);
    assert!(!gone(&after("")[1]) && !gone(&comments(&app.acme, "")[0]));
    // A track.
    let (planned, inbox) = (app.track("Planned"), app.track("Inbox"));
    app.acme.patch_track(&first, &json!({ "track_id": planned })).is_ok();
    assert_eq!(ids(&requests(&app.acme, &format!("track_id={planned}"))), [first.as_str()]);
    assert_eq!(ids(&requests(&app.acme, &format!("track_id={inbox}"))), [second.as_str()]);
}

fn requests_after(client: &Client, cursor: &str, query: &str) -> Vec<Value> {
    let body = client.get(&format!("{REQUESTS}?cursor={cursor}&{query}")).is_ok();
    assert_eq!(body["next_cursor"], json!(null));
    body["feature_requests"].as_array().expect("a list").clone()
}

/// Addition 6: `GET /comments` has comments with their `feature_request`, oldest change first.
#[test]
fn all_comments_are_listed_with_their_feature_request() {
    let app = App::start();
    let dark = app.acme.feature_request("Dark mode");
    let id = dark["id"].as_str().unwrap();
    let other = app.acme.feature_request_with(&json!({ "title": "Export" }));
    let [first, second, third] = [(id, "One"), (id, "Two"), (other.as_str(), "Three")]
        .map(|(request, content)| app.acme.comment(request, content));
    let listed = comments(&app.acme, "");
    assert_eq!(ids(&listed), [first.as_str(), second.as_str(), third.as_str()]);
    let mut comment = app.acme.get_comments(id, "").is_ok()["comments"][0].clone();
    comment["feature_request"] = json!({ "id": id, "title": "Dark mode", "url": dark["url"] });
    assert_eq!(listed[0], comment);
    app.acme.patch_comment(&first, &json!({ "comment": { "content": "<p>Edited</p>" } })).is_ok();
    app.acme.delete_comment(&second).is_empty();
    app.acme.delete_feature_request(&other, "").is_empty();
    let listed = comments(&app.acme, "");
    assert_eq!(ids(&listed), [first.as_str(), second.as_str(), third.as_str()]);
    assert_eq!((&listed[0]["content"], gone(&listed[1]), gone(&listed[2])), (&json!("<p>Edited</p>"), true, true));
}

/// Addition 6.
#[test]
fn invalid_parameters_of_lists_of_changes_are_named() {
    let app = App::start();
    for number in 0..3 {
        let request = app.acme.feature_request_with(&json!({ "title": format!("Idea {number}") }));
        app.acme.comment(&request, "Soon");
    }
    let cursor = |client: &Client, path: &str, query: &str| {
        let body = client.get(&format!("{path}?page_size=1&{query}")).is_ok();
        body["next_cursor"].as_str().expect("a cursor").to_owned()
    };
    let bolt = app.workspace("bolt");
    bolt.feature_request("One");
    bolt.feature_request("Two");
    let own = cursor(&app.acme, REQUESTS, "");
    let planned = app.track("Planned");
    for (path, query) in [
        (REQUESTS, "cursor=x".to_owned()),
        (REQUESTS, "cursor=null".to_owned()),
        (REQUESTS, "cursor=%00".to_owned()),
        (REQUESTS, format!("cursor={}", "A".repeat(43))),
        (REQUESTS, format!("cursor={}", "A".repeat(4_000))),
        (REQUESTS, format!("cursor={own}A")),
        (COMMENTS, format!("cursor={own}")),
        (REQUESTS, format!("cursor={}", cursor(&app.acme, COMMENTS, ""))),
        (REQUESTS, format!("cursor={}", cursor(&bolt, REQUESTS, ""))),
        (REQUESTS, format!("cursor={own}&include_private=true")),
        (REQUESTS, format!("cursor={own}&track_id={planned}")),
    ] {
        app.acme.get(&format!("{path}?{query}")).is_error(422, "cursor is not a cursor of this list");
    }
    let time = "is not a timestamp as in RFC 3339, for example 2026-03-01T09:30:00Z";
    for (query, message) in [
        ("updated_since=yesterday", format!("updated_since {time}")),
        ("updated_since=2026-03-01", format!("updated_since {time}")),
        ("include_private=yes", "include_private is not one of true, false, 1, 0".to_owned()),
        ("page_size=0", "page_size must be an integer of at least 1".to_owned()),
    ] {
        for path in [REQUESTS, COMMENTS] {
            app.acme.get(&format!("{path}?{query}")).is_error(422, &message);
        }
    }
    for (track, message) in [
        ("x", "track_id is not a valid UUID"),
        ("01890a5d-ac96-774b-bcce-b302099a8057", "track_id is not the id of a track"),
    ] {
        app.acme.get(&format!("{REQUESTS}?track_id={track}")).is_error(422, message);
    }
    // Blank parameters count as absent.
    let blank = "updated_since=&include_private=&cursor=&track_id=";
    assert_eq!(app.acme.get(&format!("{REQUESTS}?{blank}")).is_ok(), app.acme.get(REQUESTS).is_ok());
}
