//! `GET` and `POST /lanes`, `PATCH` and `DELETE /lanes/{id}`.

use serde_json::{Value, json};

use crate::app::{App, is_id};
use crate::browser::{Browser, hidden, shows};
use crate::shared::{column, is_unknown};

/// What the lanes of a new workspace mean.
const KINDS: [&str; 4] = ["considering", "planned", "started", "done"];

const STARTING: [&str; 4] = ["Under consideration", "Planned", "In progress", "Done"];

fn lane(fields: &Value) -> Value {
    json!({ "lane": fields })
}

/// Names of the lanes in order, after a check of their positions.
#[track_caller]
fn names(app: &App) -> Vec<String> {
    let listed = app.acme.get_lanes().is_ok();
    let positions = column(&listed, "lanes", "position");
    assert_eq!(positions, (1..=positions.len()).map(|position| json!(position)).collect::<Vec<_>>());
    column(&listed, "lanes", "name").iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

fn id_of(app: &App, name: &str) -> String {
    let listed = app.acme.get_lanes().is_ok();
    let lanes = listed["lanes"].as_array().unwrap();
    lanes.iter().find(|lane| lane["name"] == name).expect("the lane")["id"].as_str().unwrap().to_owned()
}

/// Addition 4: `GET` and `POST /lanes`, `PATCH` and `DELETE /lanes/{id}` list, add, change and delete lanes.
#[test]
fn a_new_workspace_has_four_lanes_in_their_order() {
    let app = App::start();
    for (title, private) in [("One", false), ("Two", false), ("Three", true)] {
        let fields = json!({ "title": title, "track_id": app.track("Planned"), "private": private });
        app.acme.feature_request_with(&fields);
    }
    let body = app.acme.get_lanes().is_ok();
    let expected = |index: usize, count: i64| {
        let id = &body["lanes"][index]["id"];
        is_id(id);
        json!({
            "id": id,
            "name": STARTING[index],
            "kind": KINDS[index],
            "names": {},
            "position": index + 1,
            "feature_requests_count": count,
        })
    };
    assert_eq!(body, json!({ "lanes": [expected(0, 0), expected(1, 2), expected(2, 0), expected(3, 0)] }));
}

/// Addition 4: positions count from 1; a position in use shifts the others.
#[test]
fn a_lane_is_added_last_or_at_a_position() {
    let app = App::start();
    let response = app.acme.post_lane(&lane(&json!({ "name": " Beta & <more> " })));
    assert_eq!(response.status, 201);
    let body = response.is_ok();
    let id = body["lane"]["id"].clone();
    is_id(&id);
    assert_eq!(
        body,
        json!({ "lane": {
            "id": id, "name": "Beta & <more>", "kind": "other", "names": {}, "position": 5, "feature_requests_count": 0,
        } })
    );
    for (name, position, expected) in
        [("First", json!(1), 1), ("Third", json!(3), 3), ("Far", json!(99), 8), ("Null", json!(null), 9)]
    {
        let body = app.acme.post_lane(&lane(&json!({ "name": name, "position": position }))).is_ok();
        assert_eq!((&body["lane"]["name"], &body["lane"]["position"]), (&json!(name), &json!(expected)), "{name}");
    }
    let expected =
        ["First", "Under consideration", "Third", "Planned", "In progress", "Done", "Beta & <more>", "Far", "Null"];
    assert_eq!(names(&app), expected);
}

/// Addition 4.
#[test]
fn a_changed_lane_is_the_status_of_its_tracks() {
    let app = App::start();
    app.acme.feature_request_with(&json!({ "title": "One", "track_id": app.track("Planned") }));
    let id = id_of(&app, "Planned");
    for (change, name, position) in [
        (json!({ "name": "Soon" }), "Soon", 2),
        (json!({ "position": 4 }), "Soon", 4),
        (json!({ "position": 1, "name": "Next" }), "Next", 1),
        (json!({ "name": "NEXT" }), "NEXT", 1),
        (json!({}), "NEXT", 1),
        (json!({ "position": null }), "NEXT", 1),
        (json!({ "position": 77 }), "NEXT", 4),
    ] {
        let body = app.acme.patch_lane(&id, &lane(&change));
        assert_eq!(body.status, 200, "{change}");
        let expected = json!({
            "id": id, "name": name, "kind": "planned", "names": {}, "position": position, "feature_requests_count": 1,
        });
        assert_eq!(body.is_ok(), lane(&expected), "{change}");
        assert_eq!(app.acme.detail("1")["status"], name, "{change}");
    }
    assert_eq!(names(&app), ["Under consideration", "In progress", "Done", "NEXT"]);
    let tracks = app.acme.get_tracks().is_ok();
    assert_eq!(tracks["tracks"][2]["status"], "NEXT");
}

/// A lane means what its name says, or what it is told; a new name alone does not change it.
#[test]
fn a_lane_has_a_kind() {
    let app = App::start();
    for (fields, kind) in [
        (json!({ "name": "in BETA" }), "started"),
        (json!({ "name": "Shipped" }), "done"),
        (json!({ "name": "Not planned", "kind": null }), "declined"),
        (json!({ "name": "Someday", "kind": " " }), "other"),
        (json!({ "name": "Released", "kind": "considering" }), "considering"),
    ] {
        assert_eq!(app.acme.post_lane(&lane(&fields)).is_ok()["lane"]["kind"], kind, "{fields}");
    }
    let id = id_of(&app, "Someday");
    for (fields, kind) in [
        (json!({ "kind": "done" }), "done"),
        (json!({ "name": "Planned for good" }), "done"),
        (json!({ "kind": null }), "done"),
        (json!({ "kind": "other", "name": "Some day" }), "other"),
    ] {
        assert_eq!(app.acme.patch_lane(&id, &lane(&fields)).is_ok()["lane"]["kind"], kind, "{fields}");
    }
    let message = "kind is none of considering, planned, started, done, declined, other";
    for kind in ["Done", "finished"] {
        app.acme.post_lane(&lane(&json!({ "name": "New", "kind": kind }))).is_error(422, message);
        app.acme.patch_lane(&id, &lane(&json!({ "kind": kind }))).is_error(422, message);
    }
    let listed = app.acme.get_roadmap("").is_ok();
    assert_eq!(column(&listed, "lanes", "kind"), column(&app.acme.get_lanes().is_ok(), "lanes", "kind"));
}

/// The portal shows the name of the page's language. The API, and addresses of pages, have the one name of the lane.
#[test]
fn a_lane_has_names_by_language() {
    let app = App::start();
    app.acme.feature_request_with(&json!({ "title": "One", "track_id": app.track("Planned") }));
    let id = id_of(&app, "Planned");
    for (sent, stored) in [
        (json!({ "de": " Geplant ", "ar": null, "en": " " }), json!({ "de": "Geplant" })),
        (json!({}), json!({})),
        (json!({ "de": "Geplant <bald>", "ar": "مخطط" }), json!({ "ar": "مخطط", "de": "Geplant <bald>" })),
    ] {
        let body = app.acme.patch_lane(&id, &lane(&json!({ "names": sent }))).is_ok();
        assert_eq!(body["lane"]["names"], stored, "{sent}");
    }
    for (sent, message) in [
        (json!({ "fr": "Prévu" }), "names is not an object with the keys en, de and ar"),
        (json!({ "de": "a".repeat(201) }), "names must be at most 200 characters long"),
    ] {
        app.acme.patch_lane(&id, &lane(&json!({ "names": sent }))).is_error(422, message);
        app.acme.post_lane(&lane(&json!({ "name": "New", "names": sent }))).is_error(422, message);
    }
    let added = app.acme.post_lane(&lane(&json!({ "name": "Later", "names": { "de": "Später" } }))).is_ok();
    assert_eq!(added["lane"]["names"], json!({ "de": "Später" }));
    assert_eq!(app.acme.detail("1")["status"], "Planned");
    let visitor = Browser::new(&app);
    for path in ["/", "/feature_requests", "/feature_requests/1-one"] {
        shows(&visitor.page(&format!("{path}?lang=de")), &["Geplant &#60;bald&#62;"]);
        shows(&visitor.page(&format!("{path}?lang=ar")), &["مخطط"]);
        shows(&visitor.page(&format!("{path}?lang=en")), &["Planned"]);
    }
    shows(&visitor.page("/feature_requests?lane=Planned&lang=de"), &["One", "lane=Planned"]);
    // Unchanged fields of a form do not overwrite newer names.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let page = olga.page(&format!("/admin/lanes/{id}"));
    let key = hidden(&page, "operation_key");
    app.acme.patch_lane(&id, &lane(&json!({ "names": { "de": "Bald", "ar": "مخطط" } }))).is_ok();
    let fields = [
        ("operation_key", key.as_str()),
        ("lane-name", "Planned"),
        ("name-before", "Planned"),
        ("lane-kind", "planned"),
        ("kind-before", "planned"),
        ("lane-name-en", "On the plan"),
        ("lane-name-en-before", ""),
        ("lane-name-de", "Geplant <bald>"),
        ("lane-name-de-before", "Geplant <bald>"),
        ("lane-name-ar", ""),
        ("lane-name-ar-before", "مخطط"),
    ];
    assert_eq!(olga.post(&format!("/admin/lanes/{id}"), &fields).status, 303);
    let names = app.acme.get_lanes().is_ok()["lanes"][1]["names"].clone();
    assert_eq!(names, json!({ "de": "Bald", "en": "On the plan" }));
    let mut long = fields.to_vec();
    let name = "x".repeat(201);
    long.retain(|(field, _)| !["operation_key", "lane-name-de"].contains(field));
    long.push(("lane-name-de", name.as_str()));
    let refused = olga.post(&format!("/admin/lanes/{id}"), &long);
    assert_eq!(refused.status, 422);
    shows(&refused.text(), &[name.as_str(), "id=\"lane-name-de-error\""]);
}

/// Addition 4: a deleted lane's tracks show nowhere.
#[test]
fn the_tracks_of_a_deleted_lane_show_nowhere() {
    let app = App::start();
    let planned = app.track("Planned");
    app.acme.feature_request_with(&json!({ "title": "One", "track_id": planned }));
    let id = id_of(&app, "Planned");
    app.acme.delete_lane(&id).is_empty();
    app.acme.delete_lane(&id).is_error(404, "Lane does not exist.");
    assert_eq!(names(&app), ["Under consideration", "In progress", "Done"]);
    let detail = app.acme.detail("1");
    assert_eq!((&detail["track"], &detail["status"]), (&json!("Planned"), &json!(null)));
    let roadmap = app.acme.get_roadmap("").is_ok();
    assert!(column(&roadmap, "lanes", "feature_requests_count").iter().all(|count| *count == 0), "{roadmap}");
    // The last lane may be deleted, too.
    for name in ["Under consideration", "In progress", "Done"] {
        app.acme.delete_lane(&id_of(&app, name)).is_empty();
    }
    assert_eq!(app.acme.get_lanes().is_ok(), json!({ "lanes": [] }));
    assert_eq!(app.acme.get_roadmap("").is_ok(), json!({ "lanes": [] }));
}

/// Addition 4: two lane names, or two track names, that differ only in case are the same.
#[test]
fn names_that_differ_only_in_case_are_the_same() {
    let app = App::start();
    for name in ["Planned", "PLANNED", " planned "] {
        let message = format!("lane `{}` is already taken", name.trim());
        app.acme.post_lane(&lane(&json!({ "name": name }))).is_error(422, &message);
        app.acme.patch_lane(&id_of(&app, "Done"), &lane(&json!({ "name": name }))).is_error(422, &message);
    }
    app.acme.post_lane(&lane(&json!({ "name": "ÜBER" }))).is_ok();
    app.acme.post_lane(&lane(&json!({ "name": "über" }))).is_error(422, "lane `über` is already taken");
    assert_eq!(names(&app)[..4], STARTING);
    // A track may have the name of a lane.
    app.acme.post_track(&json!({ "track": { "name": "ÜBER" } })).is_ok();
}

/// Addition 4.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    let id = id_of(&app, "Planned");
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let position = "position must be an integer of at least 1".to_owned();
    for (body, message) in [
        (json!({}), missing("lane")),
        (json!({ "name": "Outside" }), missing("lane")),
        (lane(&json!({ "name": " " })), missing("name")),
        (lane(&json!({ "name": "n".repeat(201) })), "name must be at most 200 characters long".to_owned()),
        (lane(&json!({ "name": "New", "position": 0 })), position.clone()),
        (lane(&json!({ "name": "New", "position": -1 })), position.clone()),
        (lane(&json!({ "name": "New", "position": 1.5 })), position),
    ] {
        app.acme.post_lane(&body).is_error(422, &message);
        app.acme.patch_lane(&id, &body).is_error(422, &message);
    }
    for body in [lane(&json!({})), lane(&json!({ "position": 1 }))] {
        app.acme.post_lane(&body).is_error(422, &missing("name"));
    }
    assert_eq!(names(&app), STARTING);
}

/// Addition 4.
#[test]
fn unknown_and_foreign_lanes_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let foreign = bolt.get_lanes().is_ok()["lanes"][1]["id"].as_str().unwrap().to_owned();
    for body in [lane(&json!({ "name": "Taken over" })), lane(&json!({ "name": "" })), json!({})] {
        is_unknown(&foreign, "Lane", |id| app.acme.patch_lane(id, &body));
    }
    is_unknown(&foreign, "Lane", |id| app.acme.delete_lane(id));
    assert_eq!(column(&bolt.get_lanes().is_ok(), "lanes", "name"), STARTING);
}
