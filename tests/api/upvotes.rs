//! `POST /feature_requests/{id}/upvotes`, contract section 4.7.

use serde_json::json;

use crate::app::{App, has_keys, is_id, is_timestamp};

/// Contract 1: a vote is recorded with a private note.
/// Contract 2.2: a request that is voted for or commented on has the fields of its column, and no others.
/// Contract 2.2: `id` is a UUID.
/// Contract 2.2: `title` is the request's title.
/// Contract 2.2: `url` is the request on the public roadmap.
/// Contract 2.2: `created_at` is ISO 8601.
/// Contract 4.7: the response has the request, `vote_registered` and `already_voted`.
/// Decision 3: ids are UUIDs of version 7.
/// Decision 3: timestamps are RFC 3339 in UTC with milliseconds and `Z`.
/// Decision 4: the count in the response to an upvote is the one after the vote.
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

/// Contract 2.2: `votes_count` is the number of votes.
/// Contract 2.4: a vote finds the customer by e-mail or creates it, as a voter.
/// Contract 3: a customer has at most one vote on a request.
/// Contract 3: a repeat vote is reported with `already_voted`.
/// Contract 4.7: rule 1, every request attaches its note.
/// Contract 4.7: rule 2, the customer is found or created and votes.
/// Contract 4.7: rule 3, a repeat adds no vote: `vote_registered` is false, `already_voted` is true.
/// Contract 4.7: `vote_registered` is true for a new vote.
/// Contract 4.7: `{id}` is a UUID or a slug.
/// Decision 4.
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

/// Contract 2.5: `body` is HTML.
/// Contract 4.7: rule 4, without a customer only the note is added.
/// Decision 4.
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

/// Contract 4.7: the required fields are open; decision 4 has them.
/// Decision 2: a missing, null or blank field is 422 with the leaf's name.
/// Decision 4: an upvote needs a note or a customer, else 422 names `reference_note`.
/// Decision 4: in an upvote `customer.email` and `reference_note.body` are required inside.
/// Decision 3.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let long = "x".repeat(100_001);
    for (body, message) in [
        (json!({}), missing("reference_note")),
        (json!({ "customer": {} }), missing("email")),
        (json!({ "customer": { "email": " " } }), missing("email")),
        (json!({ "customer": { "email": "ann" } }), "email is not a valid e-mail address".to_owned()),
        (
            json!({ "customer": { "email": "ann@example.com", "name": "n".repeat(201) } }),
            "name must be at most 200 characters long".to_owned(),
        ),
        (json!({ "reference_note": {} }), missing("body")),
        (json!({ "reference_note": { "body": "<p> </p>" } }), missing("body")),
        (json!({ "reference_note": { "body": long } }), "body must be at most 100000 characters long".to_owned()),
        (json!({ "customer": { "email": "ann@example.com" }, "reference_note": { "body": "" } }), missing("body")),
    ] {
        app.acme.post_upvote("1", &body).is_error(422, &message);
    }
    assert_eq!(app.count("SELECT count(*) FROM customers") + app.count("SELECT count(*) FROM notes"), 0);
}
