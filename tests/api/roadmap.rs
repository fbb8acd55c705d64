//! `GET /roadmap` and `GET /tracks/{id}/feature_requests`.

use serde_json::{Value, json};

use crate::app::App;
use crate::database::sql_timestamp;
use crate::shared::{column, is_unknown};

/// Creates feature requests on a track, each with this number of votes.
fn create(app: &App, track: &str, titles: &[(&str, usize)]) {
    for (title, votes) in titles {
        let id = app.acme.feature_request_with(&json!({ "title": title, "track_id": app.track(track) }));
        for voter in 0..*votes {
            app.acme.vote(&id, &format!("v{voter}@example.com"));
        }
    }
}

/// Counts and titles of all lanes.
fn lanes(body: &Value) -> Vec<(Value, i64, Vec<Value>)> {
    let lanes = body["lanes"].as_array().expect("a list");
    lanes
        .iter()
        .map(|lane| {
            let count = lane["feature_requests_count"].as_i64().expect("a count");
            (lane["name"].clone(), count, column(lane, "feature_requests", "title"))
        })
        .collect()
}

/// Addition 4: `GET /roadmap` has lanes with public feature requests, most voted first; `per_lane` is 1 to 50, by
/// default 10.
#[test]
fn the_roadmap_has_all_lanes_with_their_public_feature_requests() {
    let app = App::start();
    create(&app, "Planned", &[("Two votes", 2), ("Façade mode", 3)]);
    let hidden = json!({ "title": "Hidden", "track_id": app.track("Planned"), "private": true });
    app.acme.feature_request_with(&hidden);
    // Tracks without a lane are on no roadmap.
    create(&app, "Inbox", &[("New", 9)]);
    let summary_of = |id: &str| {
        let mut detail = app.acme.detail(id);
        for field in
            ["tag_number", "description", "tags", "private", "comments_count", "author", "merged", "updated_at"]
        {
            detail.as_object_mut().unwrap().remove(field);
        }
        detail
    };
    let listed = app.acme.get_lanes().is_ok();
    let id = |index: usize| &listed["lanes"][index]["id"];
    let lane = |index: usize, name: &str, count: i64, requests: &[Value]| {
        json!({
            "id": id(index),
            "name": name,
            "kind": listed["lanes"][index]["kind"],
            "names": {},
            "position": index + 1,
            "feature_requests_count": count,
            "feature_requests": requests,
        })
    };
    let response = app.acme.get_roadmap("");
    assert_eq!(response.status, 200);
    assert_eq!(
        response.is_ok(),
        json!({
            "lanes": [
                lane(0, "Under consideration", 0, &[]),
                lane(1, "Planned", 2, &[summary_of("2"), summary_of("1")]),
                lane(2, "In progress", 0, &[]),
                lane(3, "Done", 0, &[]),
            ],
        })
    );
}

/// Addition 4.
#[test]
fn a_lane_shows_ten_unless_asked_and_at_most_fifty() {
    let app = App::start();
    let track = app.track("Done");
    for number in 1..=55 {
        app.acme.feature_request_with(&json!({ "title": format!("Number {number}"), "track_id": track }));
    }
    let titles: Vec<Value> = (1..=55).rev().map(|number| json!(format!("Number {number}"))).collect();
    for (query, count) in [
        ("", 10),
        ("per_lane=1", 1),
        ("per_lane=49", 49),
        ("per_lane=50", 50),
        ("per_lane=51", 50),
        ("per_lane=9223372036854775808", 50),
        ("page=2&page_size=1", 10),
    ] {
        let lanes = lanes(&app.acme.get_roadmap(query).is_ok());
        assert_eq!(lanes[3], (json!("Done"), 55, titles[..count].to_vec()), "{query}");
    }
}

/// Addition 4: `GET /tracks/{id}/feature_requests` lists private ones too, by `votes`, `newest` or `updated`, by
/// default `votes`.
#[test]
fn feature_requests_of_a_track_are_listed_with_private_ones() {
    let app = App::start();
    let planned = app.track("Planned");
    create(&app, "Planned", &[("a", 0)]);
    let hidden = json!({ "title": "Hidden", "track_id": planned, "private": true });
    app.acme.feature_request_with(&hidden);
    app.acme.vote("2", "ann@example.com");
    create(&app, "Inbox", &[("Elsewhere", 1)]);
    let summary_of = |id: &str| {
        let mut detail = app.acme.detail(id);
        for field in ["description", "tags", "private", "comments_count", "author", "merged", "updated_at"] {
            detail.as_object_mut().unwrap().remove(field);
        }
        detail
    };
    let expected = json!({
        "feature_requests": [summary_of("2"), summary_of("1")],
        "page": 1,
        "page_size": 25,
        "total_count": 2,
        "total_pages": 1,
    });
    for reference in [planned.clone(), planned.to_uppercase()] {
        assert_eq!(app.acme.get_track_requests(&reference, "").is_ok(), expected);
    }
    let nothing = json!({ "feature_requests": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 });
    assert_eq!(app.acme.get_track_requests(&app.track("Done"), "").is_ok(), nothing);
}

/// Addition 4.
#[test]
fn they_are_sorted_by_votes_age_or_last_update() {
    let app = App::start();
    let planned = app.track("Planned");
    create(&app, "Planned", &[("a", 1), ("b", 3), ("c", 1), ("d", 0)]);
    for (title, created, updated) in
        [("a", 4_000, 10_000), ("b", 3_000, 30_000), ("c", 2_000, 20_000), ("d", 2_000, 30_000)]
    {
        app.data.execute(&format!(
            "UPDATE feature_requests SET created_at = {}, updated_at = {} WHERE title = '{title}'",
            sql_timestamp(&format!("1767225600000 + {created}")),
            sql_timestamp(&format!("1767225600000 + {updated}")),
        ));
    }
    for (query, expected) in [
        ("", ["b", "c", "a", "d"]),
        ("sort=votes", ["b", "c", "a", "d"]),
        ("sort=", ["b", "c", "a", "d"]),
        ("sort=newest", ["d", "c", "b", "a"]),
        ("sort=updated", ["d", "b", "c", "a"]),
    ] {
        let listed = app.acme.get_track_requests(&planned, query).is_ok();
        assert_eq!(column(&listed, "feature_requests", "title"), expected, "{query}");
    }
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "tags": ["x"] } })).is_ok();
    let listed = app.acme.get_track_requests(&planned, "sort=updated").is_ok();
    assert_eq!(column(&listed, "feature_requests", "title"), ["a", "d", "b", "c"]);
    for value in ["Votes", "oldest", "x"] {
        let response = app.acme.get_track_requests(&planned, &format!("sort={value}"));
        response.is_error(422, "sort is not one of votes, newest, updated");
    }
}

/// Addition 4.
#[test]
fn the_track_is_checked_before_the_parameters() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign = bolt.get_tracks().json()["tracks"][0]["id"].as_str().unwrap().to_owned();
    for query in ["", "page=0", "sort=x"] {
        is_unknown(&foreign, "Track", |id| app.acme.get_track_requests(id, query));
    }
}
