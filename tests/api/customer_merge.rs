//! `POST /customers/{id}/merge`.

use serde_json::{Value, json};

use crate::app::{App, Client, in_parallel};
use crate::shared::UNKNOWN_IDS;

const UNKNOWN: &str = "Customer does not exist.";

fn into(target: &str) -> Value {
    json!({ "target_id": target })
}

/// Returns the record of the customer with this address.
fn customer(client: &Client, email: &str) -> Value {
    let listed = client.get_customers(&format!("query={email}")).is_ok();
    let [customer] = listed["customers"].as_array().expect("a list").as_slice() else { panic!("{listed}") };
    customer.clone()
}

/// Returns the id of the customer with this address.
fn id_of(client: &Client, email: &str) -> String {
    customer(client, email)["id"].as_str().expect("an id").to_owned()
}

/// Creates a customer without votes. Returns the id.
fn new_customer(client: &Client, email: &str, name: Option<&str>) -> String {
    client.put_subscription("1", &json!({ "email": email, "name": name })).is_ok();
    id_of(client, email)
}

fn votes_count(client: &Client, id: &str) -> i64 {
    client.detail(id)["votes_count"].as_i64().expect("a count")
}

/// Starts a service with the feature request 1 and the customers Ann and Bo. Returns their ids.
fn started() -> (App, String, String) {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let ann = new_customer(&app.acme, "ann@example.com", Some("Ann"));
    let bo = new_customer(&app.acme, "bo@example.com", Some("Bo"));
    (app, ann, bo)
}

/// Addition 4.
#[test]
fn a_merge_returns_the_target_and_the_customer_that_is_gone() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let named = json!({ "customer": { "email": "Ann@home.example", "name": "Ann" } });
    app.acme.post_upvote("1", &named).is_ok();
    app.acme.vote("1", "ann@work.example");
    let (home, work) = (customer(&app.acme, "ann@home.example"), customer(&app.acme, "ann@work.example"));
    let (source, target) = (home["id"].as_str().unwrap(), work["id"].as_str().unwrap());

    let merged = app.acme.post_customer_merge(source, &into(target));
    let expected = json!({
        "id": target,
        // The target had no name.
        "name": "Ann",
        "email": "ann@work.example",
        // A feature request that both voted for counts once.
        "votes_count": 1,
        "created_at": work["created_at"],
    });
    assert_eq!(
        merged.is_ok(),
        json!({ "customer": expected, "merged": { "id": source, "name": "Ann", "email": "Ann@home.example" } })
    );
    assert_eq!(app.acme.get_customer(target).is_ok(), json!({ "customer": expected }));
    app.acme.get_customer(source).is_error(404, UNKNOWN);
}

/// Addition 4: a `target_id` that is missing, malformed or the customer itself is 422; unknown customer or target is
/// 404, the customer first.
#[test]
fn invalid_targets_are_rejected_by_name() {
    let (app, ann, bo) = started();
    let missing = "param is missing or the value is empty or invalid: target_id";
    for (body, message) in [
        (json!({}), missing),
        (json!({ "target_id": null }), missing),
        (into(""), missing),
        (into(" "), missing),
        (json!({ "target_id": 2 }), "target_id must be a string"),
        (json!({ "target_id": [bo] }), "target_id must be a string"),
        (json!({ "target_id": { "id": bo } }), "target_id must be a string"),
        (into("x"), "target_id is not a valid UUID"),
        (into("bo@example.com"), "target_id is not a valid UUID"),
        (into(&bo.replace('-', "")), "target_id is not a valid UUID"),
        (into("\u{0}"), "target_id is not a valid UUID"),
        (into(&ann), "target_id is the customer itself"),
        (into(&ann.to_uppercase()), "target_id is the customer itself"),
        (json!({ "target_id": bo, "operation_key": 5 }), "operation_key must be a string"),
    ] {
        app.acme.post_customer_merge(&ann, &body).is_error(422, message);
        // A missing customer comes first.
        app.acme.post_customer_merge(UNKNOWN_IDS[0], &body).is_error(404, UNKNOWN);
    }
    app.acme.post_customer_merge(&ann, &into(UNKNOWN_IDS[0])).is_error(404, UNKNOWN);
    assert_eq!(app.count("SELECT count(*) FROM customers"), 2);
}

/// Addition 4: of two merges of customers into each other at once, one succeeds.
#[test]
fn of_concurrent_merges_into_each_other_one_succeeds() {
    let (app, ..) = started();
    for round in 0..5 {
        let ids = ["one", "other"].map(|part| {
            let email = format!("{part}-{round}@example.com");
            app.acme.vote("1", &email);
            id_of(&app.acme, &email)
        });
        let before = votes_count(&app.acme, "1");
        let responses = in_parallel(2, |number| app.acme.post_customer_merge(&ids[number], &into(&ids[1 - number])));
        let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 404], "{round}");
        assert_eq!(votes_count(&app.acme, "1"), before - 1, "{round}");
    }
    app.data.is_sound();
}

#[test]
fn customers_who_have_become_double_are_found_and_merged() {
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.feature_request("Night theme");
    app.acme.vote("1", "ann@exämple.de");
    app.acme.vote("1", "bob@exämple.de");
    // As an older version has stored them.
    app.data.execute("UPDATE customers SET email_folded = email");
    app.acme.vote("1", "ann@xn--exmple-cua.de");
    app.acme.vote("2", "ann@xn--exmple-cua.de");
    app.terminate();
    app.wait_for_exit();
    app.restart();
    let votes = |email: &str| {
        app.acme.get_votes(&format!("email={}", email.replace('ä', "%C3%A4"))).json()["total_count"].clone()
    };
    // Nobody has lost a vote who is no double.
    assert_eq!([votes("bob@exämple.de"), votes("bob@xn--exmple-cua.de")], [1, 1]);
    let doctor = |result: &str| {
        let findings: Value = serde_json::from_str(&app.roadmap(&["doctor"]).stdout).unwrap();
        let finding =
            findings.as_array().unwrap().iter().find(|finding| finding["check"] == "addresses").unwrap().clone();
        assert_eq!(finding["result"], result, "{finding}");
        finding
    };
    let finding = doctor("warning");
    let count = "customers with the same address, so that the votes of one are not found: 1 in acme";
    assert_eq!(finding["found"], count);
    assert!(finding["fix"].as_str().unwrap().contains("roadmap customer merge-doubles --workspace SUBDOMAIN"));
    let merge = ["customer", "merge-doubles", "--workspace", "acme"];
    let listed = app.roadmap(&merge).json();
    assert_eq!(
        (&listed[0]["email"], &listed[0]["merged_into_email"]),
        (&json!("ann@exämple.de"), &json!("ann@xn--exmple-cua.de"))
    );
    assert_eq!(listed.as_array().unwrap().len(), 1);
    doctor("warning");
    assert_eq!(app.roadmap(&[&merge[..], &["--yes"]].concat()).json(), listed);
    assert_eq!(app.roadmap(&[&merge[..], &["--yes"]].concat()).json(), json!([]));
    doctor("ok");
    assert_eq!([votes("ann@exämple.de"), votes("ann@xn--exmple-cua.de")], [2, 2]);
    assert_eq!(app.acme.detail("1")["votes_count"], 2);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'customer.merge'"), 1);
    assert_eq!(app.acme.delete_upvote("1", "email=ANN@EX%C3%84MPLE.de").status, 200);
    assert_eq!(app.acme.detail("1")["votes_count"], 1);
}
