//! `GET /customers`, `GET` and `PATCH /customers/{id}`.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id, is_timestamp};
use crate::shared::{column, is_unknown};

fn vote(client: &Client, id: &str, email: &str, name: Option<&str>) {
    let body = json!({ "customer": { "email": email, "name": name } });
    client.post_upvote(id, &body).is_ok();
}

/// Addresses of the customers that a query finds.
fn matching_emails(client: &Client, query: &str) -> Vec<Value> {
    column(&client.get_customers(query).is_ok(), "customers", "email")
}

fn name(name: &Value) -> Value {
    json!({ "customer": { "name": name } })
}

/// Addition 4.
#[test]
fn customers_are_listed_newest_first() {
    let app = App::start();
    let nothing = json!({ "customers": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 });
    assert_eq!(app.acme.get_customers("").is_ok(), nothing);
    for title in ["One", "Two", "Three"] {
        app.acme.feature_request(title);
    }
    vote(&app.acme, "1", "Ann@example.com", Some("Ann"));
    vote(&app.acme, "2", "ann@example.com", None);
    vote(&app.acme, "3", "ann@example.com", None);
    app.acme.put_subscription("1", &json!({ "email": "bo@example.com" })).is_ok();
    // What is merged counts once.
    app.acme.merge("2", "1");
    let listed = app.acme.get_customers("").is_ok();
    let customers = &listed["customers"];
    let ann = json!({
        "id": customers[1]["id"],
        "email": "Ann@example.com",
        "name": "Ann",
        "votes_count": 2,
        "created_at": customers[1]["created_at"],
    });
    let bo = json!({
        "id": customers[0]["id"],
        "email": "bo@example.com",
        "name": null,
        "votes_count": 0,
        "created_at": customers[0]["created_at"],
    });
    assert_eq!(
        listed,
        json!({ "customers": [bo, ann], "page": 1, "page_size": 25, "total_count": 2, "total_pages": 1 })
    );
    for customer in [ann, bo] {
        is_id(&customer["id"]);
        is_timestamp(&customer["created_at"]);
        let id = customer["id"].as_str().unwrap();
        for reference in [id, &id.to_uppercase()] {
            assert_eq!(app.acme.get_customer(reference).is_ok(), json!({ "customer": customer }));
        }
    }
    assert_eq!(app.acme.get_votes("email=ann@example.com").is_ok()["total_count"], 2);
}

/// Addition 4: `GET` and `PATCH /customers/{id}` show and rename a customer.
#[test]
fn a_renamed_customer_is_shown_with_the_new_name_everywhere() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com", Some("Ann"));
    app.acme
        .post_comment("1", &json!({ "comment": { "content": "Please" }, "customer": { "email": "ann@example.com" } }))
        .is_ok();
    let before = app.acme.get_customers("").is_ok()["customers"][0].clone();
    let id = before["id"].as_str().unwrap();
    for sent in [" Ann Archer ", "Ann Archer"] {
        let response = app.acme.patch_customer(id, &name(&json!(sent)));
        assert_eq!(response.status, 200);
        let mut expected = before.clone();
        expected["name"] = json!("Ann Archer");
        assert_eq!(response.is_ok(), json!({ "customer": expected }), "{sent}");
    }
    assert_eq!(app.acme.get_voters("1", "").is_ok()["voters"][0]["name"], "Ann Archer");
    assert_eq!(app.acme.get_comments("1", "").is_ok()["comments"][0]["author"]["name"], "Ann Archer");
    assert_eq!(matching_emails(&app.acme, "query=archer"), ["ann@example.com"]);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'customer.update'"), 1);
}

/// Addition 4.
#[test]
fn invalid_names_are_rejected() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com", Some("Ann"));
    let id = app.acme.get_customers("").is_ok()["customers"][0]["id"].as_str().unwrap().to_owned();
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    for (body, message) in [
        (json!({}), missing("customer")),
        (json!({ "name": "Outside" }), missing("customer")),
        (json!({ "customer": {} }), missing("name")),
        (json!({ "customer": { "email": "new@example.com" } }), missing("name")),
        (name(&json!(" \t")), missing("name")),
        (name(&json!("n".repeat(201))), "name must be at most 200 characters long".to_owned()),
    ] {
        app.acme.patch_customer(&id, &body).is_error(422, &message);
    }
    assert_eq!(app.acme.get_customer(&id).is_ok()["customer"]["name"], "Ann");
}

/// Addition 4.
#[test]
fn unknown_and_foreign_customers_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    vote(&bolt, "1", "ann@example.com", Some("Ann"));
    let foreign = bolt.get_customers("").is_ok()["customers"][0]["id"].as_str().unwrap().to_owned();
    is_unknown(&foreign, "Customer", |id| app.acme.get_customer(id));
    for body in [name(&json!("Taken over")), name(&json!("")), json!({})] {
        is_unknown(&foreign, "Customer", |id| app.acme.patch_customer(id, &body));
    }
    assert_eq!(app.acme.get_customers("").is_ok()["total_count"], 0);
    assert_eq!(bolt.get_customer(&foreign).is_ok()["customer"]["name"], "Ann");
}
