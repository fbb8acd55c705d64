//! `POST /customers/{id}/merge`.

use serde_json::{Value, json};

use crate::app::{App, Client, in_parallel};
use crate::shared::{UNKNOWN_IDS, column, is_unknown};

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

fn voters(client: &Client, id: &str) -> Vec<Value> {
    let mut voters = column(&client.get_voters(id, "page_size=100").is_ok(), "voters", "email");
    voters.sort_by_key(Value::to_string);
    voters
}

/// Starts a service with the feature request 1 and the customers Ann and Bo. Returns their ids.
fn started() -> (App, String, String) {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let ann = new_customer(&app.acme, "ann@example.com", Some("Ann"));
    let bo = new_customer(&app.acme, "bo@example.com", Some("Bo"));
    (app, ann, bo)
}

/// Addition 4: after `POST /customers/{id}/merge` the target has everything, and the other address belongs to nobody.
/// Addition 4: votes of both customers for one feature request, or for what is merged into it, count once.
#[test]
fn the_target_gets_everything_of_the_customer() {
    let app = App::start();
    let with_author = json!({
        "feature_request": { "title": "Night mode" },
        "customer": { "email": "Ann@home.example", "name": "Ann" },
        "reference_note": { "body": "Called us" },
    });
    app.acme.feature_request("Dark mode");
    let authored = app.acme.post_feature_request(&with_author).is_ok()["feature_request"]["id"].clone();
    let authored = authored.as_str().unwrap();
    app.acme.feature_request("Export");
    for (id, email) in [("1", "ann@home.example"), ("1", "ann@work.example"), ("3", "ann@work.example")] {
        app.acme.vote(id, email);
    }
    let comment = |id: &str, email: &str| {
        let body = json!({ "comment": { "content": "Please" }, "customer": { "email": email } });
        app.acme.post_comment(id, &body).is_ok();
    };
    comment("1", "ann@home.example");
    let held = app.data.hold_comment(authored, "Ann@home.example", "<p>Soon?</p>", "0");
    let (home, work) = (customer(&app.acme, "ann@home.example"), customer(&app.acme, "ann@work.example"));
    assert_eq!((&home["votes_count"], &work["votes_count"]), (&json!(2), &json!(2)));
    let (source, target) = (home["id"].as_str().unwrap(), work["id"].as_str().unwrap());

    let merged = app.acme.post_customer_merge(source, &into(target));
    let expected = json!({
        "id": target,
        // The target had no name.
        "name": "Ann",
        "email": "ann@work.example",
        // A feature request that both voted for counts once.
        "votes_count": 3,
        "created_at": work["created_at"],
    });
    assert_eq!(
        merged.is_ok(),
        json!({ "customer": expected, "merged": { "id": source, "name": "Ann", "email": "Ann@home.example" } })
    );
    assert_eq!(app.acme.get_customer(target).is_ok(), json!({ "customer": expected }));
    app.acme.get_customer(source).is_error(404, UNKNOWN);
    assert_eq!(app.acme.get_customers("").is_ok()["customers"], json!([expected]));
    for (id, votes) in [("1", 1), (authored, 1), ("3", 1)] {
        assert_eq!(votes_count(&app.acme, id), votes, "{id}");
        assert_eq!(voters(&app.acme, id), ["ann@work.example"], "{id}");
    }
    assert_eq!(app.acme.get_votes("email=ann@work.example").is_ok()["total_count"], 3);
    let reference = json!({ "id": target, "name": "Ann", "email": "ann@work.example" });
    assert_eq!(app.acme.detail(authored)["author"], reference);
    assert_eq!(app.acme.get_reference_notes(authored, "").is_ok()["reference_notes"][0]["customer"], reference);
    let author = json!({ "kind": "customer", "name": "Ann" });
    assert_eq!(app.acme.get_comments("1", "").is_ok()["comments"][0]["author"], author);
    let waiting = app.acme.get_held_posts("").is_ok();
    assert_eq!((&waiting["held_posts"][0]["id"], &waiting["held_posts"][0]["author"]), (&json!(held), &reference));

    // The other address belongs to nobody: whoever uses it is somebody new.
    assert_eq!(app.acme.get_votes("email=ann@home.example").is_ok()["total_count"], 0);
    app.acme.vote("1", "ann@home.example");
    assert_ne!(id_of(&app.acme, "ann@home.example"), source);
    assert_eq!(votes_count(&app.acme, "1"), 2);
    app.data.is_sound();
}

/// Addition 4.
#[test]
fn a_name_of_the_target_stays_and_subscriptions_move() {
    let (app, ann, bo) = started();
    let merged = app.acme.post_customer_merge(&ann, &into(&format!(" {} ", bo.to_uppercase()))).is_ok();
    assert_eq!((&merged["customer"]["id"], &merged["customer"]["name"]), (&json!(bo), &json!("Bo")));
    // Both followed the same feature request.
    assert_eq!(app.count("SELECT count(*) FROM followers"), 1);
    let cem = new_customer(&app.acme, "cem@example.com", None);
    app.acme.feature_request("Export");
    app.acme.put_subscription("2", &json!({ "email": "cem@example.com" })).is_ok();
    app.acme.post_customer_merge(&cem, &into(&bo)).is_ok();
    assert_eq!(app.count("SELECT count(*) FROM followers"), 2);
    assert_eq!(app.acme.delete_subscription("2", "email=bo@example.com").status, 200);
    assert_eq!(app.count("SELECT count(*) FROM followers"), 1);
}

/// Addition 4.
#[test]
fn votes_for_merged_feature_requests_count_once() {
    let (app, ann, bo) = started();
    app.acme.feature_request("Night mode");
    app.acme.vote("1", "ann@example.com");
    app.acme.vote("2", "bo@example.com");
    app.acme.merge("2", "1");
    assert_eq!(votes_count(&app.acme, "1"), 2);
    let merged = app.acme.post_customer_merge(&ann, &into(&bo)).is_ok();
    assert_eq!(merged["customer"]["votes_count"], 1);
    assert_eq!((votes_count(&app.acme, "1"), voters(&app.acme, "1")), (1, vec![json!("bo@example.com")]));
    app.acme.unmerge("2");
    assert_eq!((votes_count(&app.acme, "1"), votes_count(&app.acme, "2")), (1, 1));
    assert_eq!(customer(&app.acme, "bo@example.com")["votes_count"], 2);
    app.data.is_sound();
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
    assert_eq!(app.count("SELECT count(*) FROM customers"), 2);
}

/// Addition 4.
#[test]
fn unknown_and_foreign_customers_cannot_be_merged() {
    let (app, ann, bo) = started();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Bolt's first");
    let foreign = new_customer(&bolt, "ann@example.com", None);
    is_unknown(&foreign, "Customer", |id| app.acme.post_customer_merge(id, &into(&bo)));
    for target in [foreign.as_str(), UNKNOWN_IDS[0], UNKNOWN_IDS[1]] {
        app.acme.post_customer_merge(&ann, &into(target)).is_error(404, UNKNOWN);
    }
    bolt.post_customer_merge(&foreign, &into(&ann)).is_error(404, UNKNOWN);
    assert_eq!(app.count("SELECT count(*) FROM customers"), 3);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'customer.merge'"), 0);
}

/// Addition 4: a merge of customers is replayed and audited, without addresses.
#[test]
fn a_repeated_request_is_replayed() {
    let (app, ann, bo) = started();
    app.acme.vote("1", "ann@example.com");
    let body = json!({ "target_id": bo, "operation_key": "merge 1" });
    let first = app.acme.post_customer_merge(&ann, &body);
    assert_eq!((first.status, first.header("idempotent-replayed")), (200, None));
    // A new customer with the former address is not merged.
    new_customer(&app.acme, "ann@example.com", None);
    let again = app.acme.post_customer_merge(&ann, &body);
    assert_eq!((again.status, again.header("idempotent-replayed"), &again.bytes), (200, Some("true"), &first.bytes));
    assert_eq!(app.count("SELECT count(*) FROM customers"), 2);
    // Without the key, the customer is gone.
    app.acme.post_customer_merge(&ann, &into(&bo)).is_error(404, UNKNOWN);
}

/// Addition 4.
#[test]
fn the_audit_log_names_both_customers_without_their_addresses() {
    let (app, ann, bo) = started();
    let response = app.acme.post_customer_merge(&ann, &into(&bo));
    let listed = app.acme.get_audit_entries("action=customer.merge").is_ok();
    let entry = &listed["audit_entries"][0];
    let key = app.acme.get_api_key().is_ok();
    let expected = json!({
        "id": entry["id"],
        "created_at": entry["created_at"],
        "actor": { "kind": "api_key", "id": key["api_key"]["id"], "name": "tests" },
        "channel": "api",
        "request_id": response.header("x-request-id"),
        "action": "customer.merge",
        "subject": { "kind": "customer", "id": ann },
        "changes": [{ "field": "merged_into", "old": null, "new": bo }],
    });
    assert_eq!(listed, json!({ "audit_entries": [expected], "next_cursor": null }));
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
        let found =
            findings.as_array().unwrap().iter().find(|finding| finding["check"] == "addresses").unwrap().clone();
        assert_eq!(found["result"], result, "{found}");
        found
    };
    let found = doctor("warning");
    let count = "customers with the same address, so that the votes of one are not found: 1 in acme";
    assert_eq!(found["found"], count);
    assert!(found["fix"].as_str().unwrap().contains("roadmap customer merge-doubles --workspace SUBDOMAIN"));
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
