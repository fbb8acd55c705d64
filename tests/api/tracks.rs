//! `GET /tracks`, contract section 4.6.

use serde_json::{Value, json};

use crate::app::{App, has_keys, is_id};
use crate::database::random_id;

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

#[test]
fn a_track_that_is_added_comes_last() {
    let app = App::start();
    let before = app.acme.get_tracks().json();
    let mut expected = before["tracks"].as_array().unwrap().clone();
    for (name, flags, status) in
        [("Ideas", &["--lane", "Planned"][..], json!("Planned")), ("Archive", &[], json!(null))]
    {
        let arguments = ["track", "add", "--workspace", "acme", name];
        let added = app.roadmap(&[&arguments[..], flags].concat()).json();
        is_id(&added["id"]);
        expected.push(json!({ "id": added["id"], "name": name, "status": status }));
        assert_eq!(app.acme.get_tracks().json(), json!({ "tracks": expected }), "{name}");
    }
}

#[test]
fn a_track_can_map_to_a_lane_that_was_added() {
    let app = App::start();
    app.roadmap(&["lane", "add", "--workspace", "acme", "Shipped <soon> 😀"]).json();
    app.roadmap(&["track", "add", "--workspace", "acme", "Beta", "--lane", "Shipped <soon> 😀"]).json();
    let body = app.acme.get_tracks().json();
    assert_eq!(placed(&body).last(), Some(&("Beta", Some("Shipped <soon> 😀"))));
}

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

#[test]
fn workspaces_have_tracks_of_their_own() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    app.roadmap(&["track", "add", "--workspace", "acme", "Ideas"]).json();
    app.roadmap(&["track", "add", "--workspace", "bolt", "Bolts", "--lane", "Done"]).json();
    let (acme, bolt) = (app.acme.get_tracks().json(), bolt.get_tracks().json());
    assert_eq!(placed(&acme), [&STARTING[..], &[("Ideas", None)]].concat());
    assert_eq!(placed(&bolt), [&STARTING[..], &[("Bolts", Some("Done"))]].concat());
    for (one, other) in acme["tracks"].as_array().unwrap().iter().zip(bolt["tracks"].as_array().unwrap()) {
        assert_ne!(one["id"], other["id"], "{}", one["name"]);
    }
}
