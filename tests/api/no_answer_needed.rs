//! `POST /feature_requests/{id}/no_answer_needed`.

use serde_json::json;

use crate::app::App;

/// How many feature requests have no answer, and how many have a new reply.
fn waiting(app: &App) -> (i64, i64) {
    let count = |name: &str| app.count(&format!("SELECT count(*) FROM feature_requests WHERE attention = '{name}'"));
    (count("unanswered"), count("replied"))
}

/// `POST /feature_requests/{id}/no_answer_needed` takes a feature request off the list of those without an answer until
/// a customer comments; one that needs none is unchanged.
#[test]
fn it_needs_no_answer_until_a_customer_writes() {
    let app = App::start();
    let created = app.acme.feature_request("Dark mode");
    let id = created["id"].as_str().expect("an id");
    assert_eq!(waiting(&app), (1, 0));
    let before = app.acme.detail(id);
    for reference in [id, "1", "1-dark-mode"] {
        let body = app.acme.need_no_answer(reference).is_ok();
        assert_eq!(body, json!({ "feature_request": before }), "{reference}");
    }
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'feature_request.no_answer_needed'"), 1);
    assert_eq!(waiting(&app), (0, 0));
    app.acme.comment_by(id, "ann@example.com", "When?");
    assert_eq!(waiting(&app), (0, 1));
    app.acme.need_no_answer(id).is_ok();
    assert_eq!(waiting(&app), (0, 0));
    app.acme.need_no_answer("99").is_error(404, "FeatureRequest does not exist.");
}
