//! `GET /feature_requests/{id}/voters`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id, is_timestamp};
use crate::database::{hex, sql_timestamp};
use crate::shared::comes_in_pages;
use crate::shared::unknown_requests;

fn vote(client: &Client, request: &str, email: &str) {
    let response = client.post_upvote(request, &json!({ "customer": { "email": email } }));
    assert_eq!(response.status, 201, "{}", response.text());
}

fn emails(body: &Value) -> Vec<&str> {
    let voters = body["voters"].as_array().expect("a list");
    voters.iter().map(|voter| voter["email"].as_str().expect("a string")).collect()
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

/// Decision 4: `created_at` of a voter is the timestamp of the vote.
#[test]
fn the_timestamp_of_a_vote_is_its_own() {
    let app = App::start();
    for title in ["Dark mode", "CSV export"] {
        app.acme.feature_request(title);
    }
    vote(&app.acme, "1", "ann@example.com");
    set_vote_timestamps(&app, &[("ann@example.com", 0)]);
    vote(&app.acme, "2", "ann@example.com");
    vote(&app.acme, "1", "ANN@example.com");
    let [first, second] = ["1", "2"].map(|request| app.acme.get_voters(request, "").json()["voters"][0].clone());
    assert_eq!(first["id"], second["id"]);
    assert_eq!(first["created_at"], "2026-01-01T00:00:00.000Z");
    is_timestamp(&second["created_at"]);
    assert_ne!(second["created_at"], first["created_at"]);
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

/// Contract 3; Decision 4.
#[test]
fn an_author_is_the_first_voter_and_a_repeat_voter_is_listed_once() {
    let app = App::start();
    let customer = json!({ "email": "ann@example.com", "name": "Ann" });
    let body = json!({ "feature_request": { "title": "Dark mode" }, "customer": customer });
    assert_eq!(app.acme.post_feature_request(&body).status, 201);
    vote(&app.acme, "1", "ANN@example.com");
    let body = app.acme.get_voters("1", "").json();
    assert_eq!((emails(&body), &body["total_count"]), (vec!["ann@example.com"], &json!(1)));
}

/// Contract 2.2.
#[test]
fn the_request_is_found_by_uuid_or_by_the_number_of_its_slug() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com");
    let id = request["id"].as_str().unwrap();
    for reference in [id, &id.to_uppercase(), "1-dark-mode", "1-an-older-title", "1", "1-"] {
        let response = app.acme.get_voters(reference, "");
        assert_eq!((response.status, emails(&response.json())), (200, vec!["ann@example.com"]), "{reference}");
    }
    let response = app.acme.get("/api/external/v1/feature_requests/1/voters");
    assert_eq!((response.status, emails(&response.json())), (200, vec!["ann@example.com"]));
}

/// Decision 3.
#[test]
fn the_voters_of_a_private_request_are_listed() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Quokka", "private": true } });
    let request = app.acme.post_feature_request(&body).json()["feature_request"].clone();
    vote(&app.acme, "1", "ann@example.com");
    for reference in [request["id"].as_str().unwrap(), "1-quokka"] {
        let response = app.acme.get_voters(reference, "");
        assert_eq!((response.status, emails(&response.json())), (200, vec!["ann@example.com"]), "{reference}");
    }
}

/// Contract 4.9: a request's voters are listed in pages.
/// Contract 4.11: voters, votes and changelogs are paginated.
/// Contract 2.9, 8; Decision 2.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let voters: Vec<String> = (0..101).map(|number| format!("voter{number}@example.com")).collect();
    let timestamps: Vec<(&str, u32)> = voters.iter().map(String::as_str).zip(1..).collect();
    for email in &voters {
        vote(&app.acme, "1", email);
    }
    set_vote_timestamps(&app, &timestamps);
    let newest: Vec<Value> = voters.iter().rev().map(|email| json!(email)).collect();
    comes_in_pages("voters", "email", &newest, |query| app.acme.get_voters("1", query));
}

/// Decision 2.
#[test]
fn an_invalid_page_is_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for parameter in ["page", "page_size"] {
        for value in ["0", "00", "-1", "1.5", "", "one", "1e3", "0x1", "%2B1", "%201", "1%20", "%D9%A3", "null"] {
            let response = app.acme.get_voters("1", &format!("{parameter}={value}"));
            response.is_error(422, &format!("{parameter} must be an integer of at least 1"));
        }
    }
}

/// Decision 2.
#[test]
fn an_unknown_request_is_reported_before_a_bad_page() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (bolt, unknown) = unknown_requests(&app);
    vote(&bolt, "2", "ann@example.com");
    for unknown in &unknown {
        for query in ["", "page=2", "page=9223372036854775807", "page=0", "page=one", "page_size=-1"] {
            app.acme.get_voters(unknown, query).is_error(404, "FeatureRequest does not exist.");
        }
    }
}

/// Contract 1.
#[test]
fn votes_in_another_workspace_are_not_listed() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for (client, emails) in [(&app.acme, &["ann@example.com"][..]), (&bolt, &["ann@example.com", "bob@example.com"])] {
        client.feature_request("Dark mode");
        for email in emails {
            vote(client, "1", email);
        }
    }
    let acme = app.acme.get_voters("1", "").json();
    assert_eq!((emails(&acme), &acme["total_count"]), (vec!["ann@example.com"], &json!(1)));
    let bolt = bolt.get_voters("1", "").json();
    let ann = bolt["voters"].as_array().unwrap().iter().find(|voter| voter["email"] == "ann@example.com").unwrap();
    assert_ne!(ann["id"], acme["voters"][0]["id"]);
    assert_eq!(bolt["total_count"], 2);
}
