//! `GET /tracks`, contract section 4.6; `POST /tracks`, `PATCH` and `DELETE /tracks/{id}`.

use serde_json::{Value, json};

use crate::app::{App, has_keys, is_id};
use crate::database::random_id;
use crate::shared::is_unknown;

/// Names and statuses, in order.
fn placed(body: &Value) -> Vec<(&str, Option<&str>)> {
    let tracks = body["tracks"].as_array().expect("a list");
    tracks.iter().map(|track| (track["name"].as_str().expect("a string"), track["status"].as_str())).collect()
}

const STARTING: [(&str, Option<&str>); 6] = [
    ("Inbox", None),
    ("Under consideration", Some("Under consideration")),
    ("Planned", Some("Planned")),
    ("In progress", Some("In progress")),
    ("Done", Some("Done")),
    ("Declined", None),
];

/// Contract 2.3: a track has `id`, `name` and `status`.
/// Contract 3: the values of a status are open; by decision 3 they are the workspace's lanes.
/// Contract 4.6: the response has `tracks` of `id`, `name` and `status`.
/// Decision 3: `status` is the lane's name or null.
#[test]
fn a_new_workspace_has_six_tracks_in_their_order() {
    let app = App::start();
    let response = app.acme.get_tracks();
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    let id = |index: usize| &body["tracks"][index]["id"];
    assert_eq!(
        body,
        json!({
            "tracks": [
                { "id": id(0), "name": "Inbox", "status": null },
                { "id": id(1), "name": "Under consideration", "status": "Under consideration" },
                { "id": id(2), "name": "Planned", "status": "Planned" },
                { "id": id(3), "name": "In progress", "status": "In progress" },
                { "id": id(4), "name": "Done", "status": "Done" },
                { "id": id(5), "name": "Declined", "status": null },
            ],
        })
    );
    for index in 0..6 {
        is_id(id(index));
    }
}

/// Contract 1: tracks are listed.
/// Contract 4.6: `GET /tracks` is not paginated.
/// Contract 4.11.
#[test]
fn all_tracks_are_in_one_response() {
    let app = App::start();
    let many =
        "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 120)
                INSERT INTO tracks (workspace_id, id, name, lane_id, position)
                SELECT (SELECT id FROM workspaces), {id}, 'Track ' || number, NULL, 1000 + number FROM numbers";
    app.data.execute(&many.replace("{id}", random_id()));
    let all = app.acme.get_tracks().json();
    has_keys(&all, &["tracks"]);
    let names: Vec<String> = (1..=120).map(|number| format!("Track {number}")).collect();
    let expected: Vec<(&str, Option<&str>)> =
        STARTING.into_iter().chain(names.iter().map(|name| (name.as_str(), None))).collect();
    assert_eq!(placed(&all), expected);
    for query in ["page=2", "page=2&page_size=1", "per_page=1", "page=0", "page_size=none", "page=9223372036854775807"]
    {
        let response = app.acme.get(&format!("/api/external/v1/tracks?{query}"));
        assert_eq!((response.status, &response.json()), (200, &all), "{query}");
    }
}

fn track(fields: &Value) -> Value {
    json!({ "track": fields })
}

fn lane(app: &App, index: usize) -> Value {
    app.acme.get_lanes().is_ok()["lanes"][index]["id"].clone()
}

/// Addition 4: `POST /tracks` and `PATCH /tracks/{id}` add and change a track.
/// Addition 4: `GET /tracks` shows a change at once, one of a command or another process within half a second.
#[test]
fn a_track_is_added_last_or_at_a_position() {
    let app = App::start();
    let planned = lane(&app, 1);
    let response = app.acme.post_track(&track(&json!({ "name": " Beta ", "lane_id": planned })));
    assert_eq!(response.status, 201);
    let body = response.is_ok();
    is_id(&body["track"]["id"]);
    assert_eq!(body, json!({ "track": { "id": body["track"]["id"], "name": "Beta", "status": "Planned" } }));
    for fields in [
        json!({ "name": "Second", "position": 2 }),
        json!({ "name": "No lane", "lane_id": null, "position": null }),
        json!({ "name": "First", "lane_id": "", "position": 1 }),
        json!({ "name": "Far", "position": 1_000 }),
    ] {
        let body = app.acme.post_track(&track(&fields)).is_ok();
        assert_eq!((&body["track"]["name"], &body["track"]["status"]), (&fields["name"], &json!(null)));
    }
    let listed = app.acme.get_tracks().is_ok();
    let names: Vec<&str> = placed(&listed).into_iter().map(|(name, _)| name).collect();
    let expected = [
        "First",
        "Inbox",
        "Second",
        "Under consideration",
        "Planned",
        "In progress",
        "Done",
        "Declined",
        "Beta",
        "No lane",
        "Far",
    ];
    assert_eq!(names, expected);
    // The first track is the default of new feature requests.
    assert_eq!(app.acme.feature_request("Dark mode")["track"], "First");
}

/// Addition 4.
#[test]
fn a_track_is_changed() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let inbox = app.track("Inbox");
    let (considered, planned) = (lane(&app, 0), lane(&app, 1));
    for (change, name, status) in [
        (json!({ "name": "Incoming" }), "Incoming", json!(null)),
        (json!({ "lane_id": planned }), "Incoming", json!("Planned")),
        (json!({ "lane_id": considered, "position": 3 }), "Incoming", json!("Under consideration")),
        (json!({}), "Incoming", json!("Under consideration")),
        (json!({ "position": null }), "Incoming", json!("Under consideration")),
        (json!({ "lane_id": null, "name": "INBOX" }), "INBOX", json!(null)),
    ] {
        let response = app.acme.patch_track_itself(&inbox, &track(&change));
        assert_eq!(response.status, 200, "{change}");
        assert_eq!(response.is_ok(), track(&json!({ "id": inbox, "name": name, "status": status })), "{change}");
        let detail = app.acme.detail("1");
        assert_eq!((&detail["track"], &detail["status"]), (&json!(name), &status), "{change}");
    }
    let listed = app.acme.get_tracks().is_ok();
    assert_eq!(
        placed(&listed)[..3],
        [("Under consideration", Some("Under consideration")), ("Planned", Some("Planned")), ("INBOX", None)]
    );
    // A renamed track is no move.
    assert_eq!(app.acme.get_moves("1", "").is_ok()["total_count"], 0);
}

/// Addition 4: after `DELETE /tracks/{id}` feature requests go to `move_to`, which 422 names when missing.
#[test]
fn the_feature_requests_of_a_deleted_track_go_to_another_one() {
    let app = App::start();
    let (planned, done) = (app.track("Planned"), app.track("Done"));
    for (title, private) in [("Dark mode", false), ("Hidden", true), ("Merged", false), ("Target", false)] {
        app.acme.feature_request_with(&json!({ "title": title, "track_id": planned, "private": private }));
    }
    app.acme.patch_track("4", &json!({ "track_id": done })).is_ok();
    app.acme.merge("3", "4");
    let missing = "param is missing or the value is empty or invalid: move_to";
    for (query, status, message) in [
        ("", 422, missing),
        ("move_to=", 422, missing),
        ("move_to=Done", 422, "move_to is not a valid UUID"),
        ("move_to=%ff", 422, "move_to is not valid UTF-8"),
        ("move_to=01890a5d-ac96-774b-bcce-b302099a8057", 404, "Track does not exist."),
    ] {
        app.acme.delete_track(&planned, query).is_error(status, message);
    }
    app.acme.delete_track(&planned, &format!("move_to={planned}")).is_error(404, "Track does not exist.");
    assert_eq!(app.acme.detail("1")["track"], "Planned");
    app.acme.delete_track(&planned, &format!("move_to={done}")).is_empty();
    app.acme.delete_track(&planned, "").is_error(404, "Track does not exist.");
    app.acme.unmerge("3");
    for id in ["1", "2", "3", "4"] {
        let detail = app.acme.detail(id);
        assert_eq!((&detail["track"], &detail["status"]), (&json!("Done"), &json!("Done")), "{id}");
    }
    assert!(placed(&app.acme.get_tracks().is_ok()).iter().all(|(name, _)| *name != "Planned"));
    assert_eq!(app.acme.get_track_requests(&done, "").is_ok()["total_count"], 4);
    app.data.is_sound();
}

/// Addition 4: the last track stays, with 409.
#[test]
fn an_empty_track_is_deleted_without_another_one_and_the_last_one_stays() {
    let app = App::start();
    let names = STARTING.map(|(name, _)| name);
    for name in &names[..5] {
        app.acme.delete_track(&app.track(name), "").is_empty();
    }
    let last = app.track("Declined");
    for query in ["".to_owned(), format!("move_to={last}")] {
        let refused = app.acme.delete_track(&last, &query);
        refused.is_error(409, "The last track cannot be deleted.");
        assert_eq!(refused.header("retry-after"), None);
    }
    assert_eq!(app.acme.feature_request("Dark mode")["track"], "Declined");
}

/// Addition 4.
#[test]
fn invalid_fields_of_a_track_are_rejected_by_name() {
    let app = App::start();
    let id = app.track("Planned");
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let with = |field: &str, value: Value| {
        let mut fields = json!({ "name": "New" });
        fields[field] = value;
        track(&fields)
    };
    for (body, message) in [
        (json!({}), missing("track")),
        (json!({ "name": "Outside" }), missing("track")),
        (with("name", json!(" ")), missing("name")),
        (with("name", json!("n".repeat(201))), "name must be at most 200 characters long".to_owned()),
        (with("lane_id", json!("Planned")), "lane_id is not a valid UUID".to_owned()),
        (with("position", json!(0)), "position must be an integer of at least 1".to_owned()),
    ] {
        app.acme.post_track(&body).is_error(422, &message);
        app.acme.patch_track_itself(&id, &body).is_error(422, &message);
    }
    app.acme.post_track(&track(&json!({ "position": 1 }))).is_error(422, &missing("name"));
    let unknown = with("lane_id", json!("01890a5d-ac96-774b-bcce-b302099a8057"));
    app.acme.post_track(&unknown).is_error(404, "Lane does not exist.");
    app.acme.patch_track_itself(&id, &unknown).is_error(404, "Lane does not exist.");
    let bolt = app.workspace("bolt");
    let foreign = with("lane_id", bolt.get_lanes().is_ok()["lanes"][0]["id"].clone());
    app.acme.post_track(&foreign).is_error(404, "Lane does not exist.");
    assert_eq!(placed(&app.acme.get_tracks().is_ok()), STARTING);
}

/// Addition 4.
#[test]
fn unknown_and_foreign_tracks_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign = bolt.get_tracks().json()["tracks"][0]["id"].as_str().unwrap().to_owned();
    for body in [track(&json!({ "name": "Taken over" })), track(&json!({ "name": "" })), json!({})] {
        is_unknown(&foreign, "Track", |id| app.acme.patch_track_itself(id, &body));
    }
    for query in ["", "move_to=x"] {
        is_unknown(&foreign, "Track", |id| app.acme.delete_track(id, query));
    }
    app.acme.feature_request("Dark mode");
    let inbox = app.track("Inbox");
    app.acme.delete_track(&inbox, &format!("move_to={foreign}")).is_error(404, "Track does not exist.");
    assert_eq!(placed(&bolt.get_tracks().is_ok()), STARTING);
}
