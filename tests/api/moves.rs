//! `GET /feature_requests/{id}/moves`, and the new fields of `PATCH /feature_requests/{id}/track`.

use serde_json::json;

use crate::app::{App, is_id, is_timestamp};
use crate::shared::unknown_requests;

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
    let expected = |index: usize, from: (&str, Option<&str>), to: (&str, Option<&str>), by: (&str, &str)| {
        json!({
            "id": moves[index]["id"],
            "from_track": from.0,
            "to_track": to.0,
            "from_status": from.1,
            "to_status": to.1,
            "moved_by": { "kind": by.0, "name": by.1 },
            "comment_id": null,
            "created_at": moves[index]["created_at"],
        })
    };
    let key = ("api_key", "tests");
    assert_eq!(
        listed,
        json!({
            "moves": [
                expected(0, ("Declined", None), ("Done", Some("Done")), key),
                expected(1, ("Planned", Some("Planned")), ("Declined", None), ("member", "Pia")),
                expected(2, ("Inbox", None), ("Planned", Some("Planned")), key),
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
}
