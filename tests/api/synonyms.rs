//! `GET` and `PUT /synonyms`, and `roadmap synonyms`.

use std::time::Instant;

use serde_json::{Value, json};

use crate::app::{App, Client, eventually};

fn synonyms(groups: &Value) -> Value {
    json!({ "synonyms": groups })
}

/// Decision 4: synonyms are listed, replaced, and deleted by an empty list.
/// Decision 4: synonyms are in effect within a second, in every process.
#[test]
fn synonyms_are_replaced_and_take_effect_within_a_second() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for client in [&app.acme, &bolt] {
        client.feature_request("Second factor at the login");
    }
    let match_count = |client: &Client| {
        let match_count = client.get_feature_requests("query=yubikeys").json();
        match_count["feature_requests"].as_array().expect("a list").len()
    };
    assert_eq!((app.acme.get_synonyms().json(), match_count(&app.acme)), (synonyms(&json!([])), 0));
    let groups = json!([["pen", "pencil"], ["YubiKey ", "second factor", "hardware token"]]);
    let trimmed = json!([["pen", "pencil"], ["YubiKey", "second factor", "hardware token"]]);
    let response = app.acme.put_synonyms(&synonyms(&groups));
    assert_eq!((response.status, response.json()), (200, synonyms(&trimmed)));
    assert_eq!(app.acme.get_synonyms().json(), synonyms(&trimmed));
    let changed = Instant::now();
    eventually("the synonym is found", || match_count(&app.acme) == 1);
    println!("in effect after {:?}", changed.elapsed());
    // They are of one workspace only.
    assert_eq!((bolt.get_synonyms().json(), match_count(&bolt)), (synonyms(&json!([])), 0));
    let similar = app.acme.get("/api/external/v1/feature_requests/similar?title=yubikey").json();
    assert_eq!(similar["feature_requests"].as_array().expect("a list").len(), 1);
    let explained = app.roadmap(&["search", "explain", "--workspace", "acme", "yubikey"]).json();
    let matched = explained[0]["matches"][0].as_str().expect("a match");
    assert!(matched.starts_with("yubikey: title (synonym, 0.90) "), "{matched}");
    // An empty list deletes them.
    assert_eq!(app.acme.put_synonyms(&synonyms(&json!([]))).json(), synonyms(&json!([])));
    eventually("the synonym is not found any more", || match_count(&app.acme) == 0);
}

/// Decision 4: there are at most 500 groups of two to eight synonyms, and errors name the group.
#[test]
fn invalid_synonyms_name_their_group_and_change_nothing() {
    let app = App::start();
    let valid = synonyms(&json!([["pen", "pencil"]]));
    assert_eq!(app.acme.put_synonyms(&valid).status, 200);
    let many: Vec<Value> = (0..501).map(|number| json!([format!("a{number}"), format!("b{number}")])).collect();
    for (groups, message) in [
        (json!([["pen", "pencil"], ["ink", " "]]), "group 2 of synonyms has a blank phrase"),
        (json!([["pen"]]), "group 1 of synonyms must have 2 to 8 words or phrases"),
        (json!([["pen", "Pens"]]), "group 1 of synonyms has `Pens` twice"),
        (json!([["pen", "ink"], ["quill", "ink"]]), "group 2 of synonyms has `ink`, which is in group 1, too"),
        (json!([["pen", "x".repeat(61)]]), "group 1 of synonyms has a phrase of more than 60 characters"),
        (json!([["pen", "…"]]), "group 1 of synonyms has the phrase `…` without a letter or digit"),
        (json!(many), "synonyms must have at most 500 items"),
    ] {
        app.acme.put_synonyms(&synonyms(&groups)).is_error(422, message);
        assert_eq!(app.acme.get_synonyms().json(), valid);
    }
    app.acme.put_synonyms(&json!({})).is_error(422, "param is missing or the value is empty or invalid: synonyms");
    app.has_logged_no_failure();
}

/// Decision 4.
#[test]
fn the_largest_list_is_kept_whole() {
    let app = App::start();
    let phrase = |number: usize, position: usize| format!("{number}w{position} {}", "ü".repeat(50));
    let group = |number: usize| (0..8).map(|position| phrase(number, position)).collect::<Vec<_>>();
    let largest = synonyms(&json!((0..500).map(group).collect::<Vec<_>>()));
    assert_eq!(app.acme.put_synonyms(&largest).json(), largest);
    assert_eq!(app.acme.get_synonyms().json(), largest);
    assert_eq!(app.acme.get_feature_requests("query=7w3").status, 200);
}

/// Decision 4: `roadmap synonyms` has `list` and `replace`.
#[test]
fn commands_list_and_replace_synonyms() {
    let app = App::start();
    let file = app.data_dir().join("synonyms.txt");
    let path = file.to_str().expect("a path");
    std::fs::write(&file, "2fa, two-factor , mfa\n\npen,pencil\n").expect("a file");
    let replaced = app.roadmap(&["synonyms", "replace", "--workspace", "acme", path]).json();
    assert_eq!(replaced, synonyms(&json!([["2fa", "two-factor", "mfa"], ["pen", "pencil"]])));
    assert_eq!(app.acme.get_synonyms().json(), replaced);
    assert_eq!(app.roadmap(&["synonyms", "list", "--workspace", "acme"]).json(), replaced);
    let listed = app.roadmap_as_text(&["synonyms", "list", "--workspace", "acme"]);
    assert_eq!(listed, "2fa, two-factor, mfa\npen, pencil\n");
    // What it lists can be read again.
    std::fs::write(&file, listed).expect("a file");
    assert_eq!(app.roadmap(&["synonyms", "replace", "--workspace", "acme", path]).json(), replaced);
    for (content, message) in [
        (Some("pen"), "group 1 of synonyms must have 2 to 8 words or phrases"),
        (Some(&*"x".repeat(1_048_577)), "has more than 1048576 bytes"),
        (None, "cannot be opened"),
    ] {
        match content {
            Some(content) => std::fs::write(&file, content).expect("a file"),
            None => std::fs::remove_file(&file).expect("a file"),
        }
        let failed = app.roadmap(&["synonyms", "replace", "--workspace", "acme", path]);
        assert!(!failed.success && failed.stderr.contains(message), "{}", failed.stderr);
        assert_eq!(app.acme.get_synonyms().json(), replaced);
    }
}
