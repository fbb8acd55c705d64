//! `GET /feature_requests/{id}/voters`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id};
use crate::database::{hex, sql_timestamp};
use crate::shared::comes_in_pages;

fn vote(client: &Client, request: &str, email: &str) {
    let response = client.post_upvote(request, &json!({ "customer": { "email": email } }));
    assert_eq!(response.status, 201, "{}", response.text());
}

fn nobody() -> Value {
    json!({ "voters": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 })
}

/// Sets the timestamps of votes to these milliseconds after the start of 2026.
fn set_vote_timestamps(app: &App, timestamps: &[(&str, u32)]) {
    for (email, millis) in timestamps {
        let update = format!(
            "UPDATE votes SET created_at = {}
             WHERE customer_id IN (SELECT id FROM customers WHERE email = '{email}')",
            sql_timestamp(&format!("1767225600000 + {millis}"))
        );
        app.data.execute(&update);
    }
}

/// Contract 2.4: `name` is shown for the customer.
/// Contract 2.8: voters are listed, with fields as in decision 4.
/// Decision 4: voters have `id`, `name`, `email`, `created_at`, and the envelope.
/// Decision 4: voters are listed newest first.
/// Decision 4: `created_at` of a voter is the timestamp of the vote.
/// Decision 3.
#[test]
fn voters_are_listed_newest_vote_first() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (email, name) in
        [("Ann@Example.com", json!("Ann")), ("bob@example.com", json!(null)), ("cid@example.com", json!("Cid"))]
    {
        app.acme.post_upvote("1", &json!({ "customer": { "email": email, "name": name } }));
    }
    set_vote_timestamps(&app, &[("Ann@Example.com", 2_000), ("bob@example.com", 3_000), ("cid@example.com", 1)]);
    let response = app.acme.get_voters("1-dark-mode", "");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    let voters = &body["voters"];
    assert_eq!(
        body,
        json!({
            "voters": [
                {
                    "id": voters[0]["id"],
                    "name": null,
                    "email": "bob@example.com",
                    "created_at": "2026-01-01T00:00:03.000Z",
                },
                {
                    "id": voters[1]["id"],
                    "name": "Ann",
                    "email": "Ann@Example.com",
                    "created_at": "2026-01-01T00:00:02.000Z",
                },
                {
                    "id": voters[2]["id"],
                    "name": "Cid",
                    "email": "cid@example.com",
                    "created_at": "2026-01-01T00:00:00.001Z",
                },
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
    for voter in voters.as_array().unwrap() {
        is_id(&voter["id"]);
        let id = voter["id"].as_str().unwrap().replace('-', "");
        let email = format!("SELECT email FROM customers WHERE {} = '{id}'", hex("id"));
        assert_eq!(app.sql(&email), [voter["email"].as_str().unwrap()]);
    }
}

/// Contract 2.9, 4.11.
#[test]
fn a_request_without_votes_has_an_empty_list() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.post_upvote("1", &json!({ "reference_note": { "body": "No voter" } }));
    app.acme.feature_request("Another");
    vote(&app.acme, "2", "ann@example.com");
    let response = app.acme.get_voters("1", "");
    assert_eq!((response.status, response.json()), (200, nobody()));
}

/// Contract 4.9: a request's voters are listed in pages.
/// Contract 4.11: voters, votes and changelogs are paginated.
/// Contract 2.9, 8; Decision 2.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    app.data.add_voters(request["id"].as_str().unwrap(), 101);
    let voters: Vec<String> = (0..101).map(|number| format!("v{number}@example.com")).collect();
    let timestamps: Vec<(&str, u32)> = voters.iter().map(String::as_str).zip(1..).collect();
    set_vote_timestamps(&app, &timestamps);
    let newest: Vec<Value> = voters.iter().rev().map(|email| json!(email)).collect();
    comes_in_pages("voters", "email", &newest, |query| app.acme.get_voters("1", query));
}
