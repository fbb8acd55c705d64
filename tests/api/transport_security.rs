//! `Strict-Transport-Security`: sent when the service is reached by HTTPS.

use serde_json::json;

use crate::app::{App, Client, Response};

/// Responses of each kind: successes and errors, of the API and of pages for browsers.
fn responses(app: &App) -> Vec<(u16, Response)> {
    let acme = &app.acme;
    let stranger = Client { key: None, ..acme.clone() };
    let nobody = Client { host: "elsewhere.example".to_owned(), ..acme.clone() };
    vec![
        (200, acme.get_tracks()),
        (201, acme.post_feature_request(&json!({ "feature_request": { "title": "Dark mode" } }))),
        (401, stranger.get_tracks()),
        (401, nobody.get_tracks()),
        (404, acme.get("/api/external/v1/nothing")),
        (405, acme.send("DELETE", "/api/external/v1/tracks", &json!({}))),
        (422, acme.post_feature_request(&json!({}))),
        (200, stranger.get("/healthz")),
        (200, stranger.get("/api/docs")),
        (404, stranger.get("/files/nothing/a.png")),
        (404, stranger.get("/unsubscribe/nothing")),
    ]
}

/// Beyond the contract: with `https` every response has `Strict-Transport-Security`, for its host only.
#[test]
fn every_response_has_hsts_if_the_base_url_is_https() {
    let app = App::start();
    for (status, response) in responses(&app) {
        assert_eq!(response.status, status, "{}", response.text());
        // Without `includeSubDomains`, because other hosts below the base host are not under the service's control.
        assert_eq!(response.header("strict-transport-security"), Some("max-age=31536000"), "{status}");
    }
}

/// Beyond the contract.
#[test]
fn no_response_has_hsts_if_the_base_url_is_http() {
    let app = App::with(&["--base-url", "http://roadmap.example.com"], &[]);
    for (status, response) in responses(&app) {
        assert_eq!(response.status, status, "{}", response.text());
        assert_eq!(response.header("strict-transport-security"), None, "{status}");
    }
}
