//! The form of the panel for a vote that a customer asked for elsewhere.

use serde_json::json;

use crate::app::App;
use crate::browser::{Browser, hidden};

const PATH: &str = "/admin/record-vote";

/// Starts a service with a feature request, whose ID is returned, and a member who is signed in.
fn started() -> (App, Browser, String) {
    let app = App::start();
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let id = app.acme.feature_request("Dark <mode>")["id"].as_str().expect("an id").to_owned();
    (app, olga, id)
}

#[test]
fn a_vote_is_recorded_for_what_was_found() {
    let (app, olga, id) = started();
    assert!(olga.page("/admin").contains("<a href=\"/admin/record-vote\">Record a vote</a>"));
    let page = olga.page(PATH);
    assert!(!page.contains("type=\"radio\"") && page.contains("autofocus"), "{page}");
    let typed = [("email", "ann@example.com"), ("words", "dark mode"), ("note", "Renews in May")];
    let found = olga.post(PATH, &[&typed[..], &[("find", "1")]].concat());
    assert_eq!(found.status, 200);
    let page = found.text();
    for part in
        [&*format!("value=\"{id}\""), "Dark &#60;mode&#62;", "value=\"new\"", "ann@example.com", "Renews in May"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(app.acme.detail(&id)["votes_count"], json!(0));
    let key = hidden(&page, "operation_key");
    let fields = [&typed[..], &[("request", id.as_str()), ("operation_key", &key)]].concat();
    let path = olga.submit(PATH, &fields);
    assert_eq!(path, "/admin/feature_requests/1-dark-mode?done=vote-added");
    // A form that is sent twice does one thing.
    assert_eq!(olga.submit(PATH, &fields), path);
    let page = olga.page(&path);
    assert!(page.contains("The vote was added.") && page.matches("Renews in May").count() == 1, "{page}");
    assert_eq!(app.acme.detail(&id)["votes_count"], json!(1));
    let known = olga.submit(PATH, &[("email", "Ann@Example.com"), ("words", "x"), ("request", &id)]);
    assert!(known.ends_with("?done=vote-known"), "{known}");
    // What is merged meanwhile counts where it belongs.
    let target = app.acme.feature_request("Night mode")["id"].as_str().unwrap().to_owned();
    app.acme.merge(&id, &target);
    let path = olga.submit(PATH, &[("email", "ben@example.com"), ("words", "x"), ("request", &id)]);
    assert_eq!(path, "/admin/feature_requests/2-night-mode?done=vote-added");
    assert_eq!(app.acme.detail(&target)["votes_count"], json!(2));
}

#[test]
fn a_new_feature_request_gets_the_words_as_its_title() {
    let (app, olga, _) = started();
    let page = olga.post(PATH, &[("email", "ann@example.com"), ("words", "Zebra crossing"), ("find", "1")]).text();
    assert!(page.contains("We found nothing alike.") && page.contains("value=\"new\" checked"), "{page}");
    let fields = [("email", "ann@example.com"), ("words", "Zebra crossing"), ("request", "new"), ("note", "Loud")];
    let path = olga.submit(PATH, &fields);
    assert_eq!(path, "/admin/feature_requests/2-zebra-crossing?done=request-created");
    let created = app.acme.detail("2");
    assert_eq!((&created["votes_count"], &created["author"]["email"]), (&json!(1), &json!("ann@example.com")));
    assert!(olga.page(&path).contains("Loud"));
}

#[test]
fn a_form_with_a_problem_keeps_everything_and_records_nothing() {
    let (app, olga, id) = started();
    let gone = "01890a5d-ac96-774b-bcce-b302099a8057";
    let long = "a".repeat(300);
    for (email, words, request, problem) in [
        ("", "dark", id.as_str(), "<a href=\"#email\">"),
        ("nobody", "dark", &id, "<a href=\"#email\">"),
        ("ann@example.com", "dark", "", "<a href=\"#request-1\">Choose what the vote is for."),
        ("ann@example.com", "dark", "x", "<a href=\"#request-1\">Choose what the vote is for."),
        ("ann@example.com", "dark", gone, "<a href=\"#request-1\">This feature request was deleted"),
        ("ann@example.com", "", "new", "<a href=\"#words\">"),
        ("ann@example.com", &long, "new", "<a href=\"#words\">"),
    ] {
        let fields = [("email", email), ("words", words), ("request", request), ("note", "Kept <note>")];
        let refused = olga.post(PATH, &fields);
        let page = refused.text();
        assert_eq!(refused.status, 422, "{problem}: {page}");
        assert!(page.contains(problem), "{problem}: {page}");
        for kept in [email, words] {
            assert!(page.contains(&format!("value=\"{kept}\"")), "{kept}: {page}");
        }
        assert!(page.contains("Kept &#60;note&#62;"), "{page}");
    }
    assert_eq!(olga.post(PATH, &[("words", " "), ("find", "1")]).status, 422);
    assert_eq!(app.count("SELECT count(*) FROM votes"), 0);
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 1);
}

#[test]
fn known_customers_are_suggested_to_members() {
    let (app, olga, id) = started();
    for email in ["ann@example.com", "anton@example.com", "ben@example.com"] {
        app.acme.vote(&id, email);
    }
    let suggested = |browser: &Browser, query: &str| {
        let page = browser.get(&format!("{PATH}/customers?query={query}"));
        (page.status, page.text().matches("<option ").count())
    };
    assert_eq!(suggested(&olga, "an"), (200, 2));
    assert_eq!(suggested(&olga, ""), (200, 0));
    assert_eq!(suggested(&olga, &"a".repeat(1_000)), (200, 0));
    assert_eq!(suggested(&olga, "%25"), (200, 0));
    assert_eq!(suggested(&Browser::signed_in(&app, "ann@example.com"), "an").0, 404);
}
