//! `PATCH /feature_requests/{id}/track`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::App;
use crate::shared::unknown_requests;

/// The tracks of a new workspace with the lanes that they map to.
const TRACKS: [(&str, Option<&str>); 6] = [
    ("Inbox", None),
    ("Under consideration", Some("Under consideration")),
    ("Planned", Some("Planned")),
    ("In progress", Some("In progress")),
    ("Done", Some("Done")),
    ("Declined", None),
];

fn to(track: &str) -> Value {
    json!({ "track_id": track })
}

/// Contract 1: requests are moved to tracks.
/// Contract 3: a request has a status (a lane or null) and a track.
/// Contract 4.9: `PATCH …/track` takes `track_id` and `operation_key`.
/// Decision 4: a move has a flat body, and returns 200 with the request.
/// Contract 2.2.
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

/// Contract 2.2: `track` is the track's name.
/// Contract 2.3: a track's `id` is the `track_id` of a move.
/// Contract 3: the possible moves are open; by decision 4 they are from any track to any.
/// Decision 4: a move goes from any track to any track, and to the current one nothing happens.
#[test]
fn a_request_moves_between_any_tracks_and_its_status_is_the_lane() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let tracks = TRACKS.map(|(track, status)| (app.track(track), track, status));
    for (from, name, _) in &tracks {
        for (id, track, status) in &tracks {
            assert_eq!(app.acme.patch_track("1", &to(from)).status, 200, "{name}");
            let response = app.acme.patch_track("1", &to(id));
            assert_eq!(response.status, 200, "{name} to {track}");
            let request = &response.json()["feature_request"];
            assert_eq!((&request["track"], &request["status"]), (&json!(track), &json!(status)), "{name} to {track}");
        }
    }
}

/// Decision 4.
#[test]
fn a_move_to_the_current_track_changes_nothing() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    for _ in 0..2 {
        let response = app.acme.patch_track("1", &to(&app.track("Inbox")));
        assert_eq!((response.status, response.json()), (200, json!({ "feature_request": request })));
    }
}

/// Contract 2.2.
#[test]
fn the_request_is_found_by_uuid_or_by_the_number_of_its_slug() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let id = request["id"].as_str().unwrap();
    let references = [id, &id.to_uppercase(), "1-dark-mode", "1-an-older-title", "1", "1-"];
    for (reference, (track, _)) in references.into_iter().zip(TRACKS) {
        let response = app.acme.patch_track(reference, &to(&app.track(track)));
        let moved = &response.json()["feature_request"];
        assert_eq!(
            (response.status, &moved["id"], &moved["track"]),
            (200, &request["id"], &json!(track)),
            "{reference}"
        );
    }
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

/// Contract 2.3.
#[test]
fn a_request_moves_to_a_track_that_was_added() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (name, flags, status) in
        [("Ideas", &["--lane", "Planned"][..], json!("Planned")), ("Archive", &[], json!(null))]
    {
        let arguments = ["track", "add", "--workspace", "acme", name];
        let track = app.roadmap(&[&arguments[..], flags].concat()).json();
        let response = app.acme.patch_track("1", &json!({ "track_id": track["id"] }));
        let request = &response.json()["feature_request"];
        assert_eq!((response.status, &request["track"], &request["status"]), (200, &json!(name), &status));
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
        (json!({ "track_id": null }), missing),
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
        (json!({ "track_id": 5 }), "track_id must be a string"),
        (json!({ "track_id": true }), "track_id must be a string"),
        (json!({ "track_id": [planned] }), "track_id must be a string"),
        (json!({ "track_id": { "id": planned } }), "track_id must be a string"),
        (json!({ "track_id": planned, "operation_key": 5 }), "operation_key must be a string"),
        (
            json!({ "track_id": planned, "operation_key": "k".repeat(256) }),
            "operation_key must be at most 255 characters long",
        ),
    ] {
        app.acme.patch_track("1", &body).is_error(422, message);
    }
    let response = app.acme.patch_track("1", &to(&app.track("Inbox")));
    assert_eq!(response.json(), json!({ "feature_request": request }));
}

/// Decision 2: an unknown track is 404 `Track does not exist.`.
#[test]
fn unknown_and_foreign_tracks_do_not_exist() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let bolt = app.workspace("bolt");
    let tracks = bolt.get_tracks().json();
    for id in [
        "01890a5d-ac96-774b-bcce-b302099a8057",
        "00000000-0000-0000-0000-000000000000",
        tracks["tracks"][2]["id"].as_str().unwrap(),
    ] {
        app.acme.patch_track("1", &to(id)).is_error(404, "Track does not exist.");
    }
    let body = app.acme.get_feature_requests("query=dark").json();
    assert_eq!(body["feature_requests"][0]["track"], "Inbox");
}

/// Decision 2.
#[test]
fn an_unknown_request_is_reported_before_anything_about_the_track() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (bolt, unknown) = unknown_requests(&app);
    let planned = app.track("Planned");
    for unknown in &unknown {
        for body in [
            to(&planned),
            to("01890a5d-ac96-774b-bcce-b302099a8057"),
            to("Planned"),
            json!({}),
            json!({ "track_id": 5 }),
            json!({ "track_id": planned, "operation_key": 5 }),
        ] {
            app.acme.patch_track(unknown, &body).is_error(404, "FeatureRequest does not exist.");
        }
    }
    let body = bolt.get_feature_requests("query=bolt").json();
    let tracks = body["feature_requests"].as_array().unwrap().iter().map(|request| &request["track"]);
    assert_eq!(tracks.collect::<Vec<_>>(), [&json!("Inbox"), &json!("Inbox")]);
}

/// Contract 4.9; Decision 5.
#[test]
fn a_replayed_move_moves_nothing() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = json!({ "track_id": app.track("Planned"), "operation_key": "one" });
    let first = app.acme.patch_track("1", &body);
    assert_eq!((first.status, first.header("idempotent-replayed")), (200, None));
    app.acme.patch_track("1", &to(&app.track("Done")));
    let second = app.acme.patch_track("1", &body);
    assert_eq!((second.status, second.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(second.bytes, first.bytes);
    let body = app.acme.get_feature_requests("query=dark").json();
    assert_eq!(body["feature_requests"][0]["track"], "Done");
}
