//! `GET /feature_requests/{id}/moves`, and the new fields of `PATCH /feature_requests/{id}/track`.

use serde_json::{Value, json};

use crate::app::{App, is_id, is_timestamp};
use crate::shared::{column, comes_in_pages, rejects_bad_pages, unknown_requests};

/// Addition 2: moves have their fields, newest first, with the names of that time.
/// Addition 2: `author_email` of a move is the member who moved it.
#[test]
fn moves_are_listed_newest_first_with_the_names_of_that_time() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "Pia@acme.example", "--name", "Pia"]).json();
    let planned = app.track("Planned");
    for (track, author) in [
        (planned.as_str(), json!(null)),
        // A move to the current track is none.
        (&planned, json!("pia@acme.example")),
        (&app.track("Declined"), json!(" PIA@acme.example ")),
        (&app.track("Done"), json!("nobody@acme.example")),
    ] {
        let body = json!({ "track_id": track, "author_email": author });
        app.acme.patch_track("1", &body).is_ok();
    }
    app.roadmap(&["track", "rename", "--workspace", "acme", "Planned", "Next up"]).json();
    let listed = app.acme.get_moves(request["id"].as_str().unwrap(), "").is_ok();
    let moves = &listed["moves"];
    let shown = |index: usize, from: (&str, Option<&str>), to: (&str, Option<&str>), by: (&str, &str)| {
        json!({
            "id": moves[index]["id"],
            "from_track": from.0,
            "to_track": to.0,
            "from_status": from.1,
            "to_status": to.1,
            "moved_by": { "kind": by.0, "name": by.1 },
            "created_at": moves[index]["created_at"],
        })
    };
    let key = ("api_key", "tests");
    assert_eq!(
        listed,
        json!({
            "moves": [
                shown(0, ("Declined", None), ("Done", Some("Done")), key),
                shown(1, ("Planned", Some("Planned")), ("Declined", None), ("member", "Pia")),
                shown(2, ("Inbox", None), ("Planned", Some("Planned")), key),
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
    for entry in moves.as_array().unwrap() {
        is_id(&entry["id"]);
        is_timestamp(&entry["created_at"]);
    }
}

/// Addition 2.
#[test]
fn only_moves_are_listed() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.feature_request("Night theme");
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "title": "New" } })).is_ok();
    app.acme.merge("2", "1");
    app.acme.unmerge("2");
    assert!(app.count("SELECT count(*) FROM feature_request_events") >= 5);
    let nothing = json!({ "moves": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 });
    for id in ["1", "2"] {
        assert_eq!(app.acme.get_moves(id, "").is_ok(), nothing);
    }
}

/// Addition 4.
#[test]
fn a_move_of_requests_of_a_deleted_track_is_listed() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (inbox, done) = (app.track("Inbox"), app.track("Done"));
    app.acme.delete_track(&inbox, &format!("move_to={done}")).is_empty();
    let listed = app.acme.get_moves("1", "").is_ok();
    let first = &listed["moves"][0];
    assert_eq!(
        (&first["from_track"], &first["to_track"], &first["to_status"]),
        (&json!("Inbox"), &json!("Done"), &json!("Done"))
    );
    assert_eq!(first["moved_by"], json!({ "kind": "api_key", "name": "tests" }));
}

/// Addition 1.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let tracks = ["Planned", "Done"].map(|name| app.track(name));
    for number in 0..101 {
        app.acme.patch_track("1", &json!({ "track_id": tracks[number % 2] })).is_ok();
    }
    let listed: Vec<Value> = [1, 2]
        .iter()
        .flat_map(|page| column(&app.acme.get_moves("1", &format!("page_size=100&page={page}")).is_ok(), "moves", "id"))
        .collect();
    comes_in_pages("moves", "id", &listed, |query| app.acme.get_moves("1", query));
}

#[test]
fn the_request_is_checked_before_the_page() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (bolt, unknown) = unknown_requests(&app);
    bolt.get_moves("2", "").is_ok();
    for unknown in &unknown {
        for query in ["", "page=2", "page=0", "page_size=x"] {
            app.acme.get_moves(unknown, query).is_error(404, "FeatureRequest does not exist.");
        }
    }
    rejects_bad_pages(|query| app.acme.get_moves("1", query));
}

#[test]
fn the_new_fields_of_a_move_are_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let planned = app.track("Planned");
    for (field, value, message) in [
        ("notify_all_voters", json!("true"), "notify_all_voters must be a boolean"),
        ("notify_all_voters", json!(1), "notify_all_voters must be a boolean"),
        ("author_email", json!(5), "author_email must be a string"),
        ("author_email", json!("x".repeat(255)), "author_email must be at most 254 characters long"),
        ("author_email", json!("a\u{0}b"), "author_email must not contain the NUL character"),
    ] {
        let mut body = json!({ "track_id": planned });
        body[field] = value;
        app.acme.patch_track("1", &body).is_error(422, message);
    }
    assert_eq!(app.acme.detail("1")["track"], "Inbox");
    assert_eq!(app.acme.get_moves("1", "").is_ok()["total_count"], 0);
}

/// Addition 2: a replayed move is one move.
#[test]
fn a_replayed_move_is_listed_once() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = json!({ "track_id": app.track("Planned"), "operation_key": "one" });
    for replayed in [None, Some("true")] {
        let response = app.acme.patch_track("1", &body);
        assert_eq!((response.status, response.header("idempotent-replayed")), (200, replayed));
    }
    assert_eq!(app.acme.get_moves("1", "").is_ok()["total_count"], 1);
}
