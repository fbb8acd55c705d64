//! `POST /feature_requests/{id}/decline`.

use serde_json::{Value, json};

use crate::app::{App, has_keys};
use crate::shared::{age_feature_requests, column, outdated};

/// Creates a feature request of Ann that waits for approval. Returns its id.
fn held_request(app: &App, title: &str) -> String {
    let body = json!({
        "feature_request": { "title": title, "private": true },
        "customer": { "email": "ann@example.com", "name": "Ann" },
    });
    let created = app.acme.post_feature_request(&body).is_ok();
    let id = created["feature_request"]["id"].as_str().expect("an id").to_owned();
    app.data.hold_feature_request(&id);
    id
}

/// Ids of what waits, in order.
fn held(app: &App) -> Vec<Value> {
    column(&app.acme.get_held_posts("").is_ok(), "held_posts", "id")
}

fn entries(app: &App) -> i64 {
    app.count("SELECT count(*) FROM audit_entries WHERE action = 'feature_request.decline'")
}

/// Addition 7: after `POST /feature_requests/{id}/decline` it waits no longer and stays private; one that does not wait
/// is unchanged.
#[test]
fn a_declined_feature_request_stays_private_and_does_not_wait() {
    let app = App::start();
    let (declined, waiting) = (held_request(&app, "Quokka mode"), held_request(&app, "Night mode"));
    age_feature_requests(&app);
    let before = app.acme.detail(&declined);
    let body = app.acme.decline_feature_request(&declined).is_ok();
    has_keys(&body, &["feature_request"]);
    let mut expected = before.clone();
    expected["updated_at"] = body["feature_request"]["updated_at"].clone();
    assert_eq!(body["feature_request"], expected);
    assert_ne!(expected["updated_at"], outdated());
    assert_eq!((&expected["private"], &expected["author"]["email"]), (&json!(true), &json!("ann@example.com")));
    assert_eq!(app.acme.detail(&declined), expected);
    assert_eq!(held(&app), [json!(waiting)]);
    assert_eq!(app.acme.get_feature_requests("query=quokka").is_ok()["feature_requests"], json!([]));
    let listed = app.acme.get_audit_entries(&format!("subject={declined}")).is_ok();
    let [entry] = listed["audit_entries"].as_array().unwrap().as_slice() else { panic!("{listed}") };
    assert_eq!(
        (&entry["action"], &entry["subject"]),
        (&json!("feature_request.decline"), &json!({ "kind": "feature_request", "id": declined }),)
    );
    assert_eq!(entry["changes"], json!([{ "field": "awaiting_approval", "old": true, "new": false }]));
    // Again, it changes nothing.
    assert_eq!(app.acme.decline_feature_request(&declined).is_ok(), body);
    assert_eq!(entries(&app), 1);
    // It does not wait for approval any more.
    assert_eq!(app.acme.approve_feature_request(&declined).is_ok(), body);
    // The team can still publish it.
    app.acme.patch_feature_request(&declined, &json!({ "feature_request": { "private": false } })).is_ok();
    let results = app.acme.get_feature_requests("query=quokka").is_ok();
    assert_eq!(column(&results, "feature_requests", "id"), [json!(declined)]);
}

/// Addition 7.
#[test]
fn one_that_does_not_wait_is_unchanged() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    let approved = held_request(&app, "Approved");
    app.acme.approve_feature_request(&approved).is_ok();
    age_feature_requests(&app);
    for reference in ["1", "1-dark-mode", "2-secret", approved.as_str()] {
        let before = app.acme.detail(reference);
        assert_eq!(app.acme.decline_feature_request(reference).is_ok(), json!({ "feature_request": before }));
        assert_eq!(app.acme.detail(reference), before, "{reference}");
    }
    assert_eq!(entries(&app), 0);
}

/// Addition 7.
#[test]
fn declining_needs_no_body() {
    let app = App::start();
    for (body, content_type) in [(None, false), (Some(&b""[..]), true), (Some(b"{}"), true)] {
        let id = held_request(&app, "Idea");
        let path = format!("/api/external/v1/feature_requests/{id}/decline");
        let headers: &[(&str, &str)] = if content_type { &[("Content-Type", "application/json")] } else { &[] };
        let response = app.acme.request("POST", &path, headers, body).unwrap();
        assert_eq!(response.is_ok()["feature_request"]["id"], json!(id), "{body:?}");
        assert_eq!(held(&app), [] as [Value; 0], "{body:?}");
    }
}
