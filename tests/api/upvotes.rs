//! `POST /feature_requests/{id}/upvotes`, contract section 4.7.

use serde_json::json;

use crate::app::{App, has_keys, is_id, is_timestamp};

#[test]
fn an_upvote_returns_the_request_and_the_outcome_of_the_vote() {
    let app = App::start();
    let request = app.acme.feature_request("Façade mode");
    let response = app.acme.post_upvote(
        request["id"].as_str().unwrap(),
        &json!({
            "customer": { "email": "ann@example.com", "name": "Ann" },
            "reference_note": { "body": "<p>Wants it</p>", "author_email": "olga@acme.example" },
        }),
    );
    assert_eq!(response.status, 201);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.json(),
        json!({
            "feature_request": {
                "id": request["id"],
                "title": "Façade mode",
                "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                "status": null,
                "track": "Inbox",
                "votes_count": 1,
                "created_at": request["created_at"],
            },
            "vote_registered": true,
            "already_voted": false,
        })
    );
    is_id(&request["id"]);
    is_timestamp(&request["created_at"]);
}

#[test]
fn a_repeat_vote_adds_no_second_vote_but_its_note() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = |email: &str| json!({ "customer": { "email": email }, "reference_note": { "body": "again" } });
    for (email, registered, votes) in
        [("ann@example.com", true, 1), ("ANN@Example.com", false, 1), ("bob@example.com", true, 2)]
    {
        let response = app.acme.post_upvote("1-dark-mode", &body(email)).json();
        has_keys(&response, &["feature_request", "vote_registered", "already_voted"]);
        assert_eq!(response["vote_registered"], registered, "{email}");
        assert_eq!(response["already_voted"], !registered, "{email}");
        assert_eq!(response["feature_request"]["votes_count"], votes, "{email}");
    }
    assert_eq!(app.count("SELECT count(*) FROM notes"), 3);
    assert_eq!(app.count("SELECT count(*) FROM votes"), 2);
}

#[test]
fn without_a_customer_only_the_note_is_added() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let response =
        app.acme.post_upvote("1", &json!({ "reference_note": { "body": "<b>Heard</b> at a fair<script>x</script>" } }));
    assert_eq!(response.status, 201);
    let body = response.json();
    assert_eq!((&body["vote_registered"], &body["already_voted"]), (&json!(false), &json!(false)));
    assert_eq!(body["feature_request"]["votes_count"], 0);
    assert_eq!(app.sql("SELECT body FROM notes"), ["<b>Heard</b> at a fair"]);
    assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
}

#[test]
fn the_author_of_a_note_is_the_named_or_the_oldest_member() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "Pia@acme.example", "--name", "Pia"]).json();
    let authors = "SELECT members.name FROM notes JOIN members ON members.id = notes.author_id ORDER BY notes.id";
    for (author_email, name) in [
        (json!("pia@ACME.example"), "Pia"),
        (json!("nobody@acme.example"), "Olga"),
        (json!("no address"), "Olga"),
        (json!(""), "Olga"),
        (json!(null), "Olga"),
    ] {
        app.acme.post_upvote("1", &json!({ "reference_note": { "body": "note", "author_email": author_email } }));
        assert_eq!(app.sql(authors).last().map(String::as_str), Some(name), "{author_email}");
    }
}

#[test]
fn the_request_is_found_by_uuid_or_by_the_number_of_its_slug() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let id = request["id"].as_str().unwrap();
    for reference in [id, &id.to_uppercase(), "1-dark-mode", "1-an-older-title", "1", "1-", "001"] {
        let response = app.acme.post_upvote(reference, &json!({ "customer": { "email": "ann@example.com" } }));
        assert_eq!((response.status, &response.json()["feature_request"]["id"]), (201, &request["id"]), "{reference}");
    }
}

#[test]
fn an_unknown_request_is_reported_before_bad_fields() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let good = json!({ "customer": { "email": "ann@example.com" } });
    let bad = json!({ "customer": { "email": 5 } });
    for unknown in [
        "2",
        "0",
        "dark-mode",
        "-1",
        "01890a5d-ac96-774b-bcce-b302099a8057",
        "99999999999999999999",
        "%00",
        "%ff",
        "1%20",
    ] {
        for body in [&good, &bad] {
            app.acme.post_upvote(unknown, body).is_error(404, "FeatureRequest does not exist.");
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
}

#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let long = "x".repeat(100_001);
    for (body, message) in [
        (json!({}), missing("reference_note")),
        (json!({ "customer": null, "reference_note": null }), missing("reference_note")),
        (json!({ "customer": {} }), missing("email")),
        (json!({ "customer": { "email": " " } }), missing("email")),
        (json!({ "customer": { "email": "ann" } }), "email is not a valid e-mail address".to_owned()),
        (json!({ "customer": { "email": 5 } }), "email must be a string".to_owned()),
        (
            json!({ "customer": { "email": "a\u{0}@example.com" } }),
            "email must not contain the NUL character".to_owned(),
        ),
        (json!({ "customer": "ann@example.com" }), "customer must be an object".to_owned()),
        (json!({ "customer": ["ann@example.com"] }), "customer must be an object".to_owned()),
        (
            json!({ "customer": { "email": "ann@example.com", "name": "n".repeat(201) } }),
            "name must be at most 200 characters long".to_owned(),
        ),
        (json!({ "reference_note": {} }), missing("body")),
        (json!({ "reference_note": { "body": "<p> </p>" } }), missing("body")),
        (json!({ "reference_note": { "body": long } }), "body must be at most 100000 characters long".to_owned()),
        (json!({ "reference_note": { "body": "x", "author_email": 1 } }), "author_email must be a string".to_owned()),
        (json!({ "customer": { "email": "ann@example.com" }, "reference_note": { "body": "" } }), missing("body")),
    ] {
        app.acme.post_upvote("1", &body).is_error(422, &message);
    }
    assert_eq!(app.count("SELECT count(*) FROM customers") + app.count("SELECT count(*) FROM notes"), 0);
}

#[test]
fn a_stored_name_is_kept_and_an_empty_one_filled() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (sent, stored) in [(json!(null), json!(null)), (json!(" Ann "), json!("Ann")), (json!("Anna"), json!("Ann"))] {
        app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com", "name": sent } }));
        assert_eq!(app.acme.get_voters("1", "").json()["voters"][0]["name"], stored, "{sent}");
    }
}
