//! `PATCH /feature_requests/{id}/track`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::App;

fn to(track: &str) -> Value {
    json!({ "track_id": track })
}

/// Contract 1: requests are moved to tracks.
/// Contract 2.2: `track` is the track's name.
/// Contract 2.3: a track's `id` is the `track_id` of a move.
/// Contract 3: a request has a status (a lane or null) and a track.
/// Contract 4.9: `PATCH …/track` takes `track_id` and `operation_key`.
/// Decision 4: a move has a flat body, and returns 200 with the request.
#[test]
fn a_move_returns_the_request_on_its_new_track() {
    let app = App::start();
    let request = app.acme.feature_request("Façade mode");
    app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } }));
    let body = json!({ "track_id": app.track("In progress"), "operation_key": "one" });
    let response = app.acme.patch_track(request["id"].as_str().unwrap(), &body);
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.json(),
        json!({
            "feature_request": {
                "id": request["id"],
                "title": "Façade mode",
                "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                "status": "In progress",
                "track": "In progress",
                "votes_count": 1,
                "created_at": request["created_at"],
            },
        })
    );
    assert_eq!(app.acme.get_feature_requests("query=facade").json()["feature_requests"][0]["track"], "In progress");
}

/// `PATCH …/track` takes a public comment that says why: one comment, and one mail about both.
#[test]
fn a_move_takes_a_comment_that_says_why() {
    let app = App::start();
    let (track, id) = (app.track("Planned"), "1");
    app.acme.feature_request("Dark mode");
    app.acme.vote(id, "ann@example.com");
    let body = json!({
        "track_id": track,
        "notify_all_voters": true,
        "comment": { "content": "<p>Enough of you asked.</p>" },
        "operation_key": "one",
    });
    let moved = app.acme.patch_track(id, &body).is_ok();
    assert_eq!(app.acme.patch_track(id, &body).is_ok(), moved);
    assert_eq!(moved["comment"]["content"], "<p>Enough of you asked.</p>");
    assert_eq!(moved["feature_request"]["track"], "Planned");
    let comments = app.acme.get("/api/external/v1/feature_requests/1/comments").is_ok();
    assert_eq!(comments["comments"].as_array().map(Vec::len), Some(1), "{comments}");
    assert_eq!(comments["comments"][0]["id"], moved["comment"]["id"]);
    let moves = app.acme.get("/api/external/v1/feature_requests/1/moves").is_ok();
    assert_eq!(moves["moves"][0]["comment_id"], moved["comment"]["id"]);
    assert_eq!(app.count("SELECT count(*) FROM outbox WHERE kind = 'status_change'"), 1);
    assert_eq!(app.count("SELECT count(*) FROM outbox WHERE kind = 'comment'"), 0);
    // Without a comment, the response has none; a bad one moves nothing.
    let back = app.acme.patch_track(id, &to(&app.track("Inbox"))).is_ok();
    assert_eq!(back.get("comment"), None);
    let missing = "param is missing or the value is empty or invalid: content";
    let body = json!({ "track_id": track, "comment": { "content": " " } });
    app.acme.patch_track(id, &body).is_error(422, missing);
    assert_eq!(app.acme.detail(id)["track"], "Inbox");
}

/// Beyond the contract: UUIDs are case-insensitive.
#[test]
fn a_track_is_named_by_its_uuid_in_either_case() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (track, id) in [("Planned", app.track("Planned").to_uppercase()), ("Done", app.track("Done"))] {
        let response = app.acme.patch_track("1", &to(&id));
        assert_eq!((response.status, &response.json()["feature_request"]["track"]), (200, &json!(track)));
    }
}

/// Decision 3.
#[test]
fn a_private_request_can_be_moved() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Quokka", "private": true } });
    assert_eq!(app.acme.post_feature_request(&body).status, 201);
    let response = app.acme.patch_track("1-quokka", &to(&app.track("Done")));
    assert_eq!((response.status, &response.json()["feature_request"]["track"]), (200, &json!("Done")));
    assert_eq!(app.acme.get_feature_requests("query=quokka").json(), json!({ "feature_requests": [] }));
}

/// Decision 2: what is no UUID or no e-mail address is 422 that names the field.
/// Decision 4.
#[test]
fn an_invalid_track_id_is_rejected_by_name() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let missing = "param is missing or the value is empty or invalid: track_id";
    let malformed = "track_id is not a valid UUID";
    let planned = app.track("Planned");
    for (body, message) in [
        (json!({}), missing),
        (to(""), missing),
        (to(" \t\n"), missing),
        (json!({ "feature_request": { "track_id": planned } }), missing),
        (json!({ "track": planned }), missing),
        (to("Planned"), malformed),
        (to("1"), malformed),
        (to(&planned.replace('-', "")), malformed),
        (to(&format!("{{{planned}}}")), malformed),
        (to(&format!("urn:uuid:{planned}")), malformed),
        (to(&format!("{}g", &planned[..35])), malformed),
        (to(&"x".repeat(100_000)), malformed),
    ] {
        app.acme.patch_track("1", &body).is_error(422, message);
    }
    let response = app.acme.patch_track("1", &to(&app.track("Inbox")));
    assert_eq!(response.json(), json!({ "feature_request": request }));
}
