//! `DELETE /feature_requests/{id}/upvotes`: votes that are withdrawn.

use serde_json::json;

use crate::app::App;
use crate::shared::{column, unknown_requests};

const UNKNOWN: &str = "FeatureRequest does not exist.";

/// Addition 2: withdrawing a vote returns `vote_removed`, which is `false` for an unknown customer or without a vote.
#[test]
fn a_vote_is_withdrawn_once() {
    let app = App::start();
    let request = app.acme.feature_request("Façade mode");
    app.acme.vote("1", "Ann@example.com");
    app.acme.vote("1", "bo@example.com");
    for (email, removed, count) in
        [("ANN@example.com", true, 1), ("ann@example.com", false, 1), ("nobody@example.com", false, 1)]
    {
        let response = app.acme.delete_upvote("1-facade-mode", &format!("email={email}"));
        assert_eq!(response.status, 200);
        let mut expected = request.clone();
        expected["votes_count"] = json!(count);
        assert_eq!(response.is_ok(), json!({ "feature_request": expected, "vote_removed": removed }), "{email}");
    }
    let voters = app.acme.get_voters("1", "").is_ok();
    assert_eq!(column(&voters, "voters", "email"), ["bo@example.com"]);
    assert_eq!(app.acme.get_votes("email=ann@example.com").is_ok()["total_count"], 0);
    // The customer stays and may vote again.
    assert_eq!(app.acme.get_customers("query=ann").is_ok()["total_count"], 1);
    let again = app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } })).is_ok();
    assert_eq!((&again["vote_registered"], &again["feature_request"]["votes_count"]), (&json!(true), &json!(2)));
    app.data.is_sound();
}

/// Addition 2: withdrawing a vote keeps notes and comments.
#[test]
fn notes_and_comments_of_the_voter_stay() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let vote = json!({ "customer": { "email": "ann@example.com" }, "reference_note": { "body": "Called us" } });
    app.acme.post_upvote("1", &vote).is_ok();
    let comment = json!({ "comment": { "content": "Please" }, "customer": { "email": "ann@example.com" } });
    app.acme.post_comment("1", &comment).is_ok();
    app.acme.delete_upvote("1", "email=ann@example.com").is_ok();
    assert_eq!(app.acme.get_reference_notes("1", "").is_ok()["total_count"], 1);
    assert_eq!(app.acme.get_comments("1", "").is_ok()["total_count"], 1);
}

/// Addition 2.
#[test]
fn the_request_is_checked_before_the_address() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.vote("1", "ann@example.com");
    let (bolt, unknown) = unknown_requests(&app);
    bolt.vote("2", "ann@example.com");
    for unknown in &unknown {
        for query in ["email=ann@example.com", "email=", "", "email=x"] {
            app.acme.delete_upvote(unknown, query).is_error(404, UNKNOWN);
        }
    }
    let missing = "param is missing or the value is empty or invalid: email";
    let long = format!("email={}@example.com", "x".repeat(250));
    for (query, message) in [
        ("", missing),
        ("email=", missing),
        ("email=%20", missing),
        ("customer=ann@example.com", missing),
        ("email=ann", "email is not a valid e-mail address"),
        ("email=%ff", "email is not valid UTF-8"),
        ("email=a%00@example.com", "email must not contain the NUL character"),
        (long.as_str(), "email must be at most 254 characters long"),
    ] {
        app.acme.delete_upvote("1", query).is_error(422, message);
    }
    assert_eq!(app.acme.detail("1")["votes_count"], 1);
    assert_eq!(bolt.detail("2")["votes_count"], 1);
}
