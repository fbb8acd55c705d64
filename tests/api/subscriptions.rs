//! `PUT` and `DELETE /feature_requests/{id}/subscription`.

use serde_json::{Value, json};

use crate::app::{App, Client};
use crate::shared::unknown_requests;

const UNKNOWN: &str = "FeatureRequest does not exist.";

fn subscribed(yes: bool) -> Value {
    json!({ "subscribed": yes })
}

fn ann() -> Value {
    json!({ "email": "ann@example.com", "name": "Ann" })
}

/// Recipients of all unsent mail.
fn audience(app: &App) -> Vec<String> {
    app.sql("SELECT email FROM outbox JOIN customers ON customers.id = customer_id ORDER BY email")
}

/// Starts a service that sends no mail, with two feature requests.
fn silent() -> App {
    let app = App::with(&[], &[("ROADMAP_MAIL_WORKER", "false")]);
    app.acme.feature_request("Dark mode");
    app.acme.feature_request("Light mode");
    app
}

fn announce(client: &Client, id: &str) {
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    client.post_comment(id, &body).is_ok();
}

/// Addition 2: a customer is subscribed with and without a vote.
#[test]
fn a_customer_is_subscribed_with_or_without_a_vote() {
    let app = silent();
    app.acme.vote("1", "bo@example.com");
    for (reference, body) in [
        ("1", ann()),
        ("1-dark-mode", json!({ "email": "ANN@example.com", "name": "Anna" })),
        ("1", json!({ "email": "bo@example.com" })),
        ("1", json!({ "email": "bo@example.com", "name": null, "operation_key": null })),
    ] {
        let response = app.acme.put_subscription(reference, &body);
        assert_eq!((response.status, response.json()), (200, subscribed(true)), "{body}");
    }
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["ann@example.com", "bo@example.com"]);
    announce(&app.acme, "2");
    assert_eq!(audience(&app).len(), 2);
    // A subscription is no vote.
    assert_eq!(app.acme.detail("1")["votes_count"], 1);
    assert_eq!(app.acme.get_votes("email=ann@example.com").is_ok()["total_count"], 0);
    let customer = &app.acme.get_customers("query=ann").is_ok()["customers"][0];
    assert_eq!((&customer["name"], &customer["votes_count"]), (&json!("Ann"), &json!(0)));
}

/// Addition 2.
#[test]
fn an_ended_subscription_gets_no_mail_and_keeps_the_vote() {
    let app = silent();
    app.acme.vote("1", "bo@example.com");
    for email in ["ann@example.com", "cem@example.com"] {
        app.acme.put_subscription("1", &json!({ "email": email })).is_ok();
    }
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["ann@example.com", "bo@example.com", "cem@example.com"]);
    for email in ["BO@example.com", "ann@example.com", "ann@example.com", "nobody@example.com"] {
        let response = app.acme.delete_subscription("1", &format!("email={email}"));
        assert_eq!((response.status, response.json()), (200, subscribed(false)), "{email}");
    }
    assert_eq!(app.count("SELECT count(*) FROM customers WHERE email_folded = 'nobody@example.com'"), 0);
    // Mail that was not sent yet is dropped.
    assert_eq!(audience(&app), ["cem@example.com"]);
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["cem@example.com", "cem@example.com"]);
    assert_eq!(app.acme.detail("1")["votes_count"], 1);
    // A repeat vote does not subscribe again, but the endpoint does.
    app.acme.vote("1", "bo@example.com");
    app.data.execute("DELETE FROM outbox");
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["cem@example.com"]);
    assert_eq!(app.acme.put_subscription("1", &json!({ "email": "bo@example.com" })).is_ok(), subscribed(true));
    app.data.execute("DELETE FROM outbox");
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["bo@example.com", "cem@example.com"]);
}

/// Addition 2.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = silent();
    let missing = "param is missing or the value is empty or invalid: email";
    let invalid = "email is not a valid e-mail address";
    for (body, message) in [
        (json!({}), missing),
        (json!({ "email": " " }), missing),
        (json!({ "customer": { "email": "ann@example.com" } }), missing),
        (json!({ "email": "ann" }), invalid),
        (json!({ "email": "ann@example.com", "name": "n".repeat(201) }), "name must be at most 200 characters long"),
    ] {
        app.acme.put_subscription("1", &body).is_error(422, message);
    }
    for (query, message) in [("", missing), ("email=", missing), ("email=ann", invalid)] {
        app.acme.delete_subscription("1", query).is_error(422, message);
    }
    assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
}

#[test]
fn the_request_is_checked_before_the_address() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (_, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for body in [ann(), json!({}), json!({ "email": 5 })] {
            app.acme.put_subscription(unknown, &body).is_error(404, UNKNOWN);
        }
        for query in ["email=ann@example.com", "", "email=x"] {
            app.acme.delete_subscription(unknown, query).is_error(404, UNKNOWN);
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM customers"), 0);
}
