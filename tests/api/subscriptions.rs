//! `PUT` and `DELETE /feature_requests/{id}/subscription`.

use serde_json::{Value, json};

use crate::app::{App, Client, eventually};
use crate::mail::{unsubscribe_link, wait_for_mail_files};
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

/// Addition 5: a subscription concerns everything that is merged.
#[test]
fn a_subscription_concerns_all_that_is_merged() {
    let app = silent();
    app.acme.put_subscription("2", &ann()).is_ok();
    app.acme.vote("2", "bo@example.com");
    app.acme.merge("2", "1");
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["ann@example.com", "bo@example.com"]);
    app.data.execute("DELETE FROM outbox");
    // A subscription that is made by the source is one of the target.
    app.acme.put_subscription("2", &json!({ "email": "cem@example.com" })).is_ok();
    app.acme.delete_subscription("1", "email=ann@example.com").is_ok();
    announce(&app.acme, "2");
    assert_eq!(audience(&app), ["bo@example.com", "cem@example.com"]);
    app.data.execute("DELETE FROM outbox");
    app.acme.unmerge("2");
    announce(&app.acme, "2");
    assert_eq!(audience(&app), ["bo@example.com"]);
    app.data.execute("DELETE FROM outbox");
    announce(&app.acme, "1");
    assert_eq!(audience(&app), ["cem@example.com"]);
}

/// Addition 2: a subscription cannot undo a customer's own one-click unsubscribe of everything.
#[test]
fn a_customer_who_has_stopped_all_mail_cannot_be_subscribed_by_others() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.put_subscription("1", &ann()).is_ok();
    announce(&app.acme, "1");
    let mails = wait_for_mail_files(&app, 1);
    // Unsubscribing deletes a mail whose file is written but which is not settled yet.
    let status = || app.roadmap(&["mail", "status"]).json();
    eventually("the first mail is settled", || status()[0]["sent"] == 1);
    let reader = Client { key: None, ..app.acme.clone() };
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let link = unsubscribe_link(&mails["ann@example.com"]);
    let done = reader.request("POST", &link, &form, Some(b"List-Unsubscribe=One-Click")).unwrap();
    assert_eq!(done.status, 200);
    for body in [ann(), json!({ "email": "ann@example.com", "operation_key": "one" })] {
        assert_eq!(app.acme.put_subscription("1", &body).is_ok(), subscribed(false), "{body}");
    }
    app.acme.vote("1", "ann@example.com");
    assert_eq!(app.acme.put_subscription("1", &ann()).is_ok(), subscribed(false));
    app.acme.vote("1", "bo@example.com");
    announce(&app.acme, "1");
    eventually("all is settled", || status()[0]["waiting"] == 0 && status()[0]["sent"] == 2);
    assert_eq!(wait_for_mail_files(&app, 2).into_keys().collect::<Vec<_>>(), ["ann@example.com", "bo@example.com"]);
}

/// Addition 2.
#[test]
fn an_unsubscription_from_one_feature_request_can_be_undone() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.put_subscription("1", &ann()).is_ok();
    announce(&app.acme, "1");
    let mails = wait_for_mail_files(&app, 1);
    let status = || app.roadmap(&["mail", "status"]).json();
    // The file is there before the outbox says so; an unsubscription in between deletes the message.
    eventually("the first is settled", || status()[0]["sent"] == 1);
    let reader = Client { key: None, ..app.acme.clone() };
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let link = unsubscribe_link(&mails["ann@example.com"]);
    assert_eq!(reader.request("POST", &link, &form, Some(b"from=request")).unwrap().status, 200);
    announce(&app.acme, "1");
    eventually("all is settled", || status()[0]["waiting"] == 0 && status()[0]["audiences"] == 0);
    assert_eq!(status()[0]["sent"], 1);
    assert_eq!(app.acme.put_subscription("1", &ann()).is_ok(), subscribed(true));
    announce(&app.acme, "1");
    eventually("the next is sent", || status()[0]["sent"] == 2);
}

/// Addition 2.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = silent();
    let missing = "param is missing or the value is empty or invalid: email";
    let invalid = "email is not a valid e-mail address";
    for (body, message) in [
        (json!({}), missing),
        (json!({ "email": null }), missing),
        (json!({ "email": " " }), missing),
        (json!({ "customer": { "email": "ann@example.com" } }), missing),
        (json!({ "email": "ann" }), invalid),
        (json!({ "email": 5 }), "email must be a string"),
        (json!({ "email": "a\u{0}@example.com" }), "email must not contain the NUL character"),
        (json!({ "email": "ann@example.com", "name": 5 }), "name must be a string"),
        (json!({ "email": "ann@example.com", "name": "n".repeat(201) }), "name must be at most 200 characters long"),
        (json!({ "email": "ann@example.com", "operation_key": 5 }), "operation_key must be a string"),
    ] {
        app.acme.put_subscription("1", &body).is_error(422, message);
    }
    for (query, message) in [
        ("", missing),
        ("email=", missing),
        ("email=ann", invalid),
        ("email=%ff", "email is not valid UTF-8"),
        ("email=a%00@example.com", "email must not contain the NUL character"),
    ] {
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
