//! `GET /votes`, contract section 4.4.

use serde_json::{Value, json};

use crate::app::{App, Client};
use crate::shared::comes_in_pages;

fn vote(client: &Client, request: &str, email: &str) {
    let response = client.post_upvote(request, &json!({ "customer": { "email": email } }));
    assert_eq!(response.status, 201, "{}", response.text());
}

fn numbers(body: &Value) -> Vec<i64> {
    let requests = body["feature_requests"].as_array().expect("a list");
    requests.iter().map(|request| request["tag_number"].as_i64().expect("a number")).collect()
}

fn nothing() -> Value {
    json!({ "feature_requests": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 })
}

/// Contract 1: what a customer voted for is listed.
/// Contract 2.2: a request in the votes list has the fields of the votes column, and no others.
/// Contract 2.2: `tag_number` is the request's number, the prefix of its slug, in the votes list only.
/// Contract 4.4: the response has `feature_requests` and the envelope.
/// Decision 3.
#[test]
fn the_requests_that_a_customer_voted_for_are_listed_with_their_numbers() {
    let app = App::start();
    let older = app.acme.feature_request("Façade mode");
    app.acme.feature_request("Somebody else's wish");
    let newer = app.acme.feature_request("CSV export");
    vote(&app.acme, "2", "bob@example.com");
    vote(&app.acme, "1", "bob@example.com");
    vote(&app.acme, "3", "ann@example.com");
    vote(&app.acme, "1", "ann@example.com");
    app.acme.patch_track("1", &json!({ "track_id": app.track("In progress") }));
    let response = app.acme.get_votes("email=ann@example.com");
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(
        response.json(),
        json!({
            "feature_requests": [
                {
                    "id": newer["id"],
                    "title": "CSV export",
                    "url": "https://acme.roadmap.example.com/feature_requests/3-csv-export",
                    "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/3-csv-export",
                    "status": null,
                    "track": "Inbox",
                    "votes_count": 1,
                    "created_at": newer["created_at"],
                    "tag_number": 3,
                },
                {
                    "id": older["id"],
                    "title": "Façade mode",
                    "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                    "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                    "status": "In progress",
                    "track": "In progress",
                    "votes_count": 2,
                    "created_at": older["created_at"],
                    "tag_number": 1,
                },
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 2,
            "total_pages": 1,
        })
    );
}

/// Contract 2.4: `email` finds the customer, in any case when votes are listed.
/// Contract 4.4: the case of `email` does not matter.
#[test]
fn the_spelling_of_the_email_does_not_matter() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for voter in ["Ann.Lee@Example.com", "jürgen@example.com", "ann+news@example.com", "ann@exämple.de"] {
        vote(&app.acme, "1", voter);
    }
    for query in [
        "email=Ann.Lee@Example.com",
        "email=ann.lee@example.com",
        "email=ANN.LEE%40EXAMPLE.COM",
        "email=%20ann.lee%40example.com+",
        "email=J%C3%9CRGEN%40example.com",
        "email=Ju%CC%88rgen%40example.com",
        "email=ANN%40xn--exmple-cua.de",
        "email=ann%40EX%C3%84MPLE.de",
        "email=Ann%2BNews%40example.com",
    ] {
        assert_eq!(numbers(&app.acme.get_votes(query).json()), [1], "{query}");
    }
}

/// Contract 2.9: `total_pages` is at least 1, also without items.
/// Contract 4.4: an unknown e-mail has an empty list.
/// Contract 4.11: `total_pages` is at least 1.
#[test]
fn an_unknown_email_gives_an_empty_list() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com");
    let longest = format!("{}@{}.{}.{}", "a".repeat(64), "b".repeat(63), "c".repeat(63), "d".repeat(61));
    for email in
        ["nobody@example.com", "an@example.com", "ann@example.co", "%25@example.com", "olga@acme.example", &longest]
    {
        let response = app.acme.get_votes(&format!("email={email}"));
        assert_eq!((response.status, response.json()), (200, nothing()), "{email}");
    }
}

/// Contract 4.4: `email` is required, and named when it is missing or blank.
/// Contract 7: a votes list without a usable `email` is an error.
/// Decision 2.
#[test]
fn a_missing_or_blank_email_is_rejected_by_name() {
    let app = App::start();
    for query in
        ["", "email", "email=", "email=%20", "email=+%09%0A", "email=%C2%A0", "Email=ann@example.com", "page=0"]
    {
        let message = "param is missing or the value is empty or invalid: email";
        app.acme.get_votes(query).is_error(422, message);
    }
    let response = app.acme.get("/api/external/v1/votes");
    response.is_error(422, "param is missing or the value is empty or invalid: email");
}

/// Contract 2.9: a list has `page`, `page_size` and `total_count`.
/// Contract 4.4: `page` is at least 1, and 1 by default.
/// Contract 4.4: `page_size` is 1 to 100, 25 by default, and lowered to 100.
/// Contract 4.11: `page` starts at 1, its default.
/// Contract 4.11: `page_size` is 25 by default, and lowered to 100.
/// Contract 4.11: the four numbers are at the top level beside the list.
/// Contract 4.11: a page past the last is empty.
/// Contract 8: `page_size` is 25 by default, and at most 100.
/// Decision 2: sizes above the maximum are lowered.
/// Decision 2: a page far past the end is empty, also 9223372036854775807.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    for number in 1..=101 {
        let title = format!("Request {number}");
        let customer = json!({ "email": "ann@example.com" });
        let body = json!({ "feature_request": { "title": title }, "customer": customer });
        assert_eq!(app.acme.post_feature_request(&body).status, 201);
    }
    let newest: Vec<Value> = (1..=101).rev().map(|number: i64| json!(number)).collect();
    comes_in_pages("feature_requests", "tag_number", &newest, |query| {
        app.acme.get_votes(&format!("email=ann@example.com&{query}"))
    });
}
