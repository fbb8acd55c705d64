//! `GET /customers`, `GET` and `PATCH /customers/{id}`.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id, is_timestamp};
use crate::database::sql_timestamp;
use crate::shared::{column, comes_in_pages, is_unknown, rejects_bad_pages};

fn vote(client: &Client, id: &str, email: &str, name: Option<&str>) {
    let body = json!({ "customer": { "email": email, "name": name } });
    client.post_upvote(id, &body).is_ok();
}

/// Addresses of the customers that a query finds.
fn found(client: &Client, query: &str) -> Vec<Value> {
    column(&client.get_customers(query).is_ok(), "customers", "email")
}

fn name(name: &Value) -> Value {
    json!({ "customer": { "name": name } })
}

/// Addition 4.
#[test]
fn customers_are_listed_oldest_first() {
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
        "id": customers[0]["id"],
        "email": "Ann@example.com",
        "name": "Ann",
        "votes_count": 2,
        "created_at": customers[0]["created_at"],
    });
    let bo = json!({
        "id": customers[1]["id"],
        "email": "bo@example.com",
        "name": null,
        "votes_count": 0,
        "created_at": customers[1]["created_at"],
    });
    assert_eq!(
        listed,
        json!({ "customers": [ann, bo], "page": 1, "page_size": 25, "total_count": 2, "total_pages": 1 })
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

/// Addition 4: `query` of `GET /customers` finds by name and address.
#[test]
fn a_query_finds_by_name_and_address() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (email, name) in [
        ("Ann.Archer@Example.com", Some("Ann Archer")),
        ("bo_100%@example.org", Some("Ärger \\ Ölaf")),
        ("cem@example.net", None),
    ] {
        vote(&app.acme, "1", email, name);
    }
    for (query, expected) in [
        ("query=archer", &["Ann.Archer@Example.com"][..]),
        ("query=ANN", &["Ann.Archer@Example.com"]),
        ("query=n%20a", &["Ann.Archer@Example.com"]),
        ("query=%20ann+archer%20", &["Ann.Archer@Example.com"]),
        ("query=example.com", &["Ann.Archer@Example.com"]),
        ("query=%C3%84RGER", &["bo_100%@example.org"]),
        ("query=%C3%B6laf", &["bo_100%@example.org"]),
        ("query=%25", &["bo_100%@example.org"]),
        ("query=_", &["bo_100%@example.org"]),
        ("query=%5C", &["bo_100%@example.org"]),
        ("query=cem@example", &["cem@example.net"]),
        ("query=example", &["Ann.Archer@Example.com", "bo_100%@example.org", "cem@example.net"]),
        ("query=", &["Ann.Archer@Example.com", "bo_100%@example.org", "cem@example.net"]),
        ("query=%20", &["Ann.Archer@Example.com", "bo_100%@example.org", "cem@example.net"]),
        ("query=a%25r", &[]),
        ("query=nobody", &[]),
        ("query='%20OR%201=1", &[]),
    ] {
        assert_eq!(found(&app.acme, query), expected, "{query}");
    }
    for (query, message) in [
        (format!("query={}", "x".repeat(255)), "query must be at most 254 characters long"),
        ("query=%00".to_owned(), "query must not contain the NUL character"),
        ("query=%ff".to_owned(), "query is not valid UTF-8"),
    ] {
        app.acme.get_customers(&query).is_error(422, message);
    }
}

/// Addition 1.
#[test]
fn the_list_comes_in_pages() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    app.data.add_voters(request["id"].as_str().unwrap(), 101);
    app.data.execute(&format!("UPDATE customers SET created_at = {}", sql_timestamp("1767225600000")));
    let all: Vec<Value> = (1..=2).flat_map(|page| found(&app.acme, &format!("page_size=100&page={page}"))).collect();
    for filter in ["", "query=example&", "query=V&"] {
        comes_in_pages("customers", "email", &all, |query| app.acme.get_customers(&format!("{filter}{query}")));
    }
    rejects_bad_pages(|query| app.acme.get_customers(query));
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
    assert_eq!(found(&app.acme, "query=archer"), ["ann@example.com"]);
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
        (json!({ "customer": null }), missing("customer")),
        (json!({ "customer": "Ann" }), "customer must be an object".to_owned()),
        (json!({ "customer": {} }), missing("name")),
        (json!({ "customer": { "email": "new@example.com" } }), missing("name")),
        (name(&json!(null)), missing("name")),
        (name(&json!(" \t")), missing("name")),
        (name(&json!(5)), "name must be a string".to_owned()),
        (name(&json!("n".repeat(201))), "name must be at most 200 characters long".to_owned()),
        (name(&json!("a\u{0}")), "name must not contain the NUL character".to_owned()),
        (json!({ "customer": { "name": "Anna" }, "operation_key": 5 }), "operation_key must be a string".to_owned()),
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
