//! `GET /feature_requests/{id}/reference_notes` and `DELETE /reference_notes/{id}`.

use serde_json::{Value, json};

use crate::app::{App, is_id, is_timestamp};
use crate::shared::{column, is_unknown, unknown_requests};

fn note(body: &str) -> Value {
    json!({ "reference_note": { "body": body } })
}

/// Contract 4.7: `reference_note` has `body` and `author_email`.
/// Addition 2: reference notes have their fields, newest first, and `DELETE` is 204.
#[test]
fn notes_are_listed_newest_first() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.post_upvote("1", &note("<p>Heard <b>twice</b><script>x</script></p>")).is_ok();
    let of_customer = json!({
        "reference_note": { "body": "Called us", "author_email": "pia@acme.example" },
        "customer": { "email": "Ann@example.com", "name": "Ann" },
    });
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "Pia@acme.example", "--name", "Pia"]).json();
    app.acme.post_upvote("1", &of_customer).is_ok();
    let created = json!({
        "feature_request": { "title": "Another" },
        "reference_note": { "body": "Of the other one" },
    });
    app.acme.post_feature_request(&created).is_ok();
    let listed = app.acme.get_reference_notes("1-dark-mode", "").is_ok();
    let notes = &listed["reference_notes"];
    let ann = app.acme.get_voters("1", "").json()["voters"][0]["id"].clone();
    assert_eq!(
        listed,
        json!({
            "reference_notes": [
                {
                    "id": notes[0]["id"],
                    "body": "Called us",
                    "author": { "name": "Pia", "email": "Pia@acme.example" },
                    "customer": { "id": ann, "name": "Ann", "email": "Ann@example.com" },
                    "created_at": notes[0]["created_at"],
                },
                {
                    "id": notes[1]["id"],
                    "body": "<p>Heard <b>twice</b></p>",
                    "author": { "name": "Olga", "email": "olga@acme.example" },
                    "customer": null,
                    "created_at": notes[1]["created_at"],
                },
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 2,
            "total_pages": 1,
        })
    );
    for note in notes.as_array().unwrap() {
        is_id(&note["id"]);
        is_timestamp(&note["created_at"]);
    }
    let other = app.acme.get_reference_notes("2", "").is_ok();
    assert_eq!(column(&other, "reference_notes", "body"), ["Of the other one"]);
}

/// Addition 2.
#[test]
fn a_workspace_without_members_has_notes_without_author() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    bolt.post_upvote("1", &note("Heard")).is_ok();
    assert_eq!(bolt.get_reference_notes("1", "").is_ok()["reference_notes"][0]["author"], json!(null));
}

#[test]
fn the_request_is_checked_before_the_page() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (_, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for query in ["", "page=2", "page=0", "page_size=x"] {
            app.acme.get_reference_notes(unknown, query).is_error(404, "FeatureRequest does not exist.");
        }
    }
}

/// Addition 2.
#[test]
fn a_deleted_note_is_gone() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for client in [&app.acme, &bolt] {
        client.feature_request("Dark mode");
        client.post_upvote("1", &note("first")).is_ok();
        client.post_upvote("1", &note("second")).is_ok();
    }
    let id = |client: &crate::app::Client| {
        let listed = client.get_reference_notes("1", "").is_ok();
        listed["reference_notes"][0]["id"].as_str().unwrap().to_owned()
    };
    is_unknown(&id(&bolt), "ReferenceNote", |id| app.acme.delete_reference_note(id));
    let deleted = id(&app.acme);
    app.acme.delete_reference_note(&deleted).is_empty();
    app.acme.delete_reference_note(&deleted).is_error(404, "ReferenceNote does not exist.");
    let listed = app.acme.get_reference_notes("1", "").is_ok();
    assert_eq!((column(&listed, "reference_notes", "body"), &listed["total_count"]), (vec![json!("first")], &json!(1)));
    assert_eq!(bolt.get_reference_notes("1", "").is_ok()["total_count"], 2);
}
