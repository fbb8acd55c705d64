//! `POST /feature_requests/{id}/merge` and `/unmerge`, and what merged feature requests show.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::app::{App, Client, StopOnDrop, in_parallel};
use crate::database::sql_timestamp;
use crate::effort::{SeededRng, rounds};
use crate::shared::{UNKNOWN_IDS, age_feature_requests, column, outdated, unknown_requests};

const UNKNOWN: &str = "FeatureRequest does not exist.";
const NOT_MERGED: &str = "FeatureRequest is not merged.";
const ELSEWHERE: &str = "FeatureRequest is already merged.";

/// Creates feature requests with these titles, numbered from 1.
fn with_requests(titles: &[&str]) -> App {
    let app = App::start();
    for title in titles {
        app.acme.feature_request(title);
    }
    app
}

/// Short form of a feature request in other records.
fn link(detail: &Value) -> Value {
    json!({ "id": detail["id"], "title": detail["title"], "url": detail["url"] })
}

fn into(target: &str) -> Value {
    json!({ "target_id": target })
}

fn votes_count(client: &Client, id: &str) -> i64 {
    client.detail(id)["votes_count"].as_i64().expect("a count")
}

fn voters(client: &Client, id: &str) -> Vec<Value> {
    column(&client.get_voters(id, "page_size=100").is_ok(), "voters", "email")
}

fn found(client: &Client, query: &str) -> Vec<Value> {
    column(&client.get_feature_requests(&format!("query={query}")).is_ok(), "feature_requests", "title")
}

/// Short texts of the comments of a feature request.
fn comments(client: &Client, id: &str) -> Vec<Value> {
    column(&client.get_comments(id, "").is_ok(), "comments", "content")
}

/// Sets the time of all comments with this content, and of votes of this customer, in seconds after the start of 2026.
fn set_time(app: &App, table: &str, condition: &str, seconds: u32) {
    let at = sql_timestamp(&format!("1767225600000 + {}", seconds * 1_000));
    app.data.execute(&format!("UPDATE {table} SET created_at = {at} WHERE {condition}"));
}

/// Addition 3: `merge` returns the target and the source, `unmerge` the source and the former target.
#[test]
fn a_merge_returns_the_target_and_the_source() {
    let app = with_requests(&["Dark mode", "Night theme"]);
    for (id, email) in
        [("1", "ann@example.com"), ("1", "bo@example.com"), ("2", "bo@example.com"), ("2", "cem@example.com")]
    {
        app.acme.vote(id, email);
    }
    let (target, source) = (app.acme.detail("1"), app.acme.detail("2"));
    let merged = app.acme.post_merge("2", &into(target["id"].as_str().unwrap())).is_ok();
    let mut expected = target.clone();
    expected["votes_count"] = json!(3);
    expected["merged"] = json!([link(&source)]);
    expected["updated_at"] = merged["feature_request"]["updated_at"].clone();
    assert_eq!(merged, json!({ "feature_request": expected, "merged": link(&source) }));
    for reference in [target["id"].as_str().unwrap(), source["id"].as_str().unwrap(), "1", "2", "2-night-theme"] {
        assert_eq!(app.acme.detail(reference), expected, "{reference}");
    }
}

/// Addition 3: unmerging what is not merged is 409 `FeatureRequest is not merged.`.
#[test]
fn an_undone_merge_returns_the_source_and_the_former_target() {
    let app = with_requests(&["Dark mode", "Night theme"]);
    app.acme.vote("1", "ann@example.com");
    app.acme.vote("2", "bo@example.com");
    let (target, source) = (app.acme.detail("1"), app.acme.detail("2"));
    app.acme.merge("2", "1");
    let unmerged = app.acme.post_unmerge("2", &json!({})).is_ok();
    let mut expected = source.clone();
    expected["updated_at"] = unmerged["feature_request"]["updated_at"].clone();
    assert_eq!(unmerged, json!({ "feature_request": expected, "unmerged_from": link(&target) }));
    let mut expected = target.clone();
    expected["updated_at"] = app.acme.detail("1")["updated_at"].clone();
    assert_eq!(app.acme.detail("1"), expected);
    assert_eq!(app.acme.detail("2"), unmerged["feature_request"]);
    let refused = app.acme.post_unmerge("2", &json!({}));
    refused.is_error(409, NOT_MERGED);
    assert_eq!(refused.header("retry-after"), None);
}

#[test]
fn unmerging_needs_no_body() {
    let app = with_requests(&["Dark mode", "Night theme"]);
    let path = "/api/external/v1/feature_requests/2/unmerge";
    for body in [None, Some(&b""[..]), Some(b"{}")] {
        app.acme.merge("2", "1");
        let headers: &[(&str, &str)] = if body.is_some() { &[("Content-Type", "application/json")] } else { &[] };
        let response = app.acme.request("POST", path, headers, body).unwrap();
        assert_eq!(response.is_ok()["unmerged_from"]["title"], "Dark mode", "{body:?}");
    }
    app.acme.request("POST", path, &[], None).unwrap().is_error(409, NOT_MERGED);
}

/// Addition 3.
#[test]
fn the_target_is_named_by_id_or_slug() {
    let app = with_requests(&["Dark mode", "Night theme"]);
    let id = app.acme.detail("1")["id"].as_str().unwrap().to_owned();
    for target in [id.as_str(), &id.to_uppercase(), "1-dark-mode", "1-an-older-title", "1"] {
        let merged = app.acme.post_merge("2-night-theme", &into(target)).is_ok();
        assert_eq!(merged["feature_request"]["id"], json!(id), "{target}");
        app.acme.unmerge("2-night-theme");
    }
}

/// Addition 3: a merge into itself or its own descendant is 422 naming `target_id`.
/// Addition 3: a merge of a public one into a private one is 422.
#[test]
fn invalid_targets_are_rejected_by_name() {
    let app = with_requests(&["One", "Two", "Three"]);
    let private = app.acme.feature_request_with(&json!({ "title": "Private", "private": true }));
    app.acme.merge("3", "2");
    let missing = "param is missing or the value is empty or invalid: target_id";
    let descendant = "target_id is a feature request that was merged into this one";
    let hidden = "target_id is a private feature request, into which a public one cannot be merged";
    for (source, body, message) in [
        ("1", json!({}), missing),
        ("1", json!({ "target_id": null }), missing),
        ("1", json!({ "target_id": " " }), missing),
        ("1", json!({ "target_id": 2 }), "target_id must be a string"),
        ("1", json!({ "target_id": ["2"] }), "target_id must be a string"),
        ("1", json!({ "target_id": "2", "operation_key": 5 }), "operation_key must be a string"),
        ("1", into("1"), "target_id is the feature request itself"),
        ("2", into("3"), descendant),
        ("1", into(&private), hidden),
        // What is merged into a public one counts as a part of it.
        ("2", into(&private), hidden),
    ] {
        app.acme.post_merge(source, &body).is_error(422, message);
    }
    assert_eq!(app.count("SELECT count(*) FROM feature_requests WHERE merged_into_id IS NOT NULL"), 1);
}

#[test]
fn unknown_and_foreign_feature_requests_cannot_be_merged() {
    let app = with_requests(&["One"]);
    let (bolt, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for body in [into("1"), into(unknown), json!({}), json!({ "target_id": 5 })] {
            app.acme.post_merge(unknown, &body).is_error(404, UNKNOWN);
        }
        app.acme.post_unmerge(unknown, &json!({})).is_error(404, UNKNOWN);
    }
    let foreign = bolt.detail("2")["id"].as_str().unwrap().to_owned();
    let targets = UNKNOWN_IDS.into_iter().filter(|id| !matches!(*id, "1" | "%00" | "%ff"));
    for target in targets.chain([foreign.as_str(), "2"]) {
        app.acme.post_merge("1", &into(target)).is_error(404, UNKNOWN);
    }
    assert_eq!(bolt.detail("2")["merged"], json!([]));
}

/// Addition 3: what is merged there already is 200 without a change, and what is merged elsewhere is 409.
#[test]
fn a_source_that_is_there_already_stays_and_one_that_is_elsewhere_is_refused() {
    let app = with_requests(&["One", "Two", "Three", "Four"]);
    app.acme.merge("2", "1");
    app.acme.merge("3", "1");
    age_feature_requests(&app);
    // A target that is merged itself is resolved to where it leads.
    for target in ["1", "3"] {
        let merged = app.acme.post_merge("2", &into(target)).is_ok();
        assert_eq!(merged["feature_request"], app.acme.detail("1"), "{target}");
        assert_eq!(merged["merged"]["title"], "Two");
    }
    assert_eq!(app.acme.detail("1")["updated_at"], outdated());
    let refused = app.acme.post_merge("2", &into("4"));
    refused.is_error(409, ELSEWHERE);
    assert_eq!(refused.header("retry-after"), None);
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'feature_request.merge'"), 2);
}

/// Addition 3: a merged target is resolved to where it leads.
#[test]
fn a_target_that_is_merged_is_resolved_to_where_it_leads() {
    let app = with_requests(&["One", "Two", "Three", "Four"]);
    app.acme.merge("3", "2");
    app.acme.merge("2", "1");
    let merged = app.acme.post_merge("4", &into("3")).is_ok();
    assert_eq!(merged["feature_request"]["title"], "One");
    assert_eq!(column(&merged["feature_request"], "merged", "title"), ["Two", "Three", "Four"]);
    // It was merged into the first one, so unmerging the one that was named does not take it along.
    let unmerged = app.acme.post_unmerge("2", &json!({})).is_ok();
    assert_eq!(column(&unmerged["feature_request"], "merged", "title"), ["Three"]);
    assert_eq!(unmerged["unmerged_from"]["title"], "One");
    assert_eq!(column(&app.acme.detail("1"), "merged", "title"), ["Four"]);
    assert_eq!(app.acme.post_unmerge("4", &json!({})).is_ok()["unmerged_from"]["title"], "One");
}

/// Addition 3: the tally of the target is the number of distinct customers.
#[test]
fn the_example_of_the_documentation_is_exact() {
    let app = with_requests(&["Dark mode", "Night theme", "Black background"]);
    for (id, name) in [("1", "ann"), ("1", "bo"), ("2", "bo"), ("2", "cem"), ("3", "dee")] {
        app.acme.vote(id, &format!("{name}@example.com"));
    }
    let is = |expected: [i64; 3]| {
        assert_eq!(["1", "2", "3"].map(|id| votes_count(&app.acme, id)), expected);
    };
    is([2, 2, 1]);
    app.acme.merge("3", "2");
    is([2, 3, 3]);
    app.acme.merge("2", "1");
    is([4, 4, 4]);
    app.acme.vote("3", "eve@example.com");
    is([5, 5, 5]);
    app.acme.unmerge("2");
    is([3, 3, 3]);
    app.acme.unmerge("3");
    is([3, 2, 1]);
    app.data.is_sound();
}

/// Addition 3: the voters list of the target shows each once, with the earliest time.
/// Addition 3: `GET /votes` shows the target once; `already_voted` looks at all of them.
/// Addition 4: in the `votes_count` of a customer, merged ones count once.
#[test]
fn voters_of_all_are_listed_once_with_the_earliest_vote() {
    let app = with_requests(&["One", "Two", "Three"]);
    for (id, name, seconds) in
        [("1", "ann", 50), ("2", "ann", 10), ("2", "bo", 20), ("3", "bo", 40), ("3", "cem", 30), ("1", "dee", 5)]
    {
        app.acme.vote(id, &format!("{name}@example.com"));
        let condition = format!(
            "request_id = (SELECT id FROM feature_requests WHERE tag_number = {id})
             AND customer_id = (SELECT id FROM customers WHERE email = '{name}@example.com')"
        );
        set_time(&app, "votes", &condition, seconds);
    }
    app.acme.merge("3", "2");
    app.acme.merge("2", "1");
    let listed = app.acme.get_voters("3", "").is_ok();
    let times = ["00:00:30", "00:00:20", "00:00:10", "00:00:05"];
    assert_eq!(
        column(&listed, "voters", "email"),
        ["cem", "bo", "ann", "dee"].map(|name| format!("{name}@example.com"))
    );
    assert_eq!(column(&listed, "voters", "created_at"), times.map(|time| format!("2026-01-01T{time}.000Z")));
    assert_eq!(listed["total_count"], 4);
    let pages: Vec<Value> = (1..=4)
        .flat_map(|page| {
            column(&app.acme.get_voters("1", &format!("page={page}&page_size=1")).is_ok(), "voters", "email")
        })
        .collect();
    assert_eq!(pages, column(&listed, "voters", "email"));
    let votes = app.acme.get_votes("email=ann@example.com").is_ok();
    assert_eq!((column(&votes, "feature_requests", "tag_number"), &votes["total_count"]), (vec![json!(1)], &json!(1)));
    assert_eq!(votes["feature_requests"][0]["votes_count"], 4);
    let customers = app.acme.get_customers("query=ann").is_ok();
    assert_eq!(customers["customers"][0]["votes_count"], 1);
}

/// Addition 2: a merged feature request is shown as what it was merged into.
/// Addition 3: voting, commenting, moving by the source's id or slug act on the target.
#[test]
fn references_to_the_source_act_on_the_target() {
    let app = with_requests(&["Target", "Source"]);
    app.acme.vote("1", "ann@example.com");
    app.acme.vote("2", "bo@example.com");
    app.acme.merge("2", "1");
    let vote = |email: &str| {
        let body = json!({ "customer": { "email": email }, "reference_note": { "body": "note" } });
        let body = app.acme.post_upvote("2-source", &body).is_ok();
        let request = &body["feature_request"];
        (request["title"].clone(), request["votes_count"].clone(), body["vote_registered"].clone())
    };
    assert_eq!(vote("cem@example.com"), (json!("Target"), json!(3), json!(true)));
    for already in ["ann@example.com", "bo@example.com", "CEM@example.com"] {
        assert_eq!(vote(already), (json!("Target"), json!(3), json!(false)), "{already}");
    }
    let posted = app.acme.post_comment("2", &json!({ "comment": { "content": "Soon" } })).is_ok();
    assert_eq!(posted["feature_request"]["title"], "Target");
    let moved = app.acme.patch_track("2", &json!({ "track_id": app.track("Done") })).is_ok();
    assert_eq!(
        (&moved["feature_request"]["title"], &moved["feature_request"]["track"]),
        (&json!("Target"), &json!("Done"))
    );
    let edited = app.acme.patch_feature_request("2", &json!({ "feature_request": { "tags": ["new"] } })).is_ok();
    assert_eq!(edited["feature_request"]["title"], "Target");
    let title = json!({ "feature_request": { "title": "New target" } });
    app.acme.patch_feature_request("2", &title).is_ok();
    app.acme.put_subscription("2", &json!({ "email": "dee@example.com" })).is_ok();
    assert_eq!(app.acme.get_moves("2", "").is_ok()["total_count"], 1);
    assert_eq!(app.acme.get_reference_notes("2", "").is_ok()["total_count"], 4);

    // All of it stays with the target.
    app.acme.unmerge("2");
    let (target, source) = (app.acme.detail("1"), app.acme.detail("2"));
    assert_eq!(
        (&target["title"], &target["tags"], &target["track"]),
        (&json!("New target"), &json!(["new"]), &json!("Done"))
    );
    assert_eq!((&source["title"], &source["tags"], &source["track"]), (&json!("Source"), &json!([]), &json!("Inbox")));
    assert_eq!((&target["votes_count"], &source["votes_count"]), (&json!(2), &json!(1)));
    assert_eq!((voters(&app.acme, "1").len(), voters(&app.acme, "2")), (2, vec![json!("bo@example.com")]));
    assert_eq!((comments(&app.acme, "1"), comments(&app.acme, "2")), (vec![json!("Soon")], vec![]));
    assert_eq!(app.acme.get_reference_notes("1", "").is_ok()["total_count"], 4);
    assert_eq!(app.acme.get_reference_notes("2", "").is_ok()["total_count"], 0);
    assert_eq!(app.acme.get_moves("2", "").is_ok()["total_count"], 0);
}

/// Addition 3: deleting a vote of a merged tree deletes the customer's votes in all of it.
#[test]
fn a_withdrawn_vote_is_withdrawn_from_all_of_them() {
    let app = with_requests(&["One", "Two", "Three"]);
    for id in ["1", "2", "3"] {
        app.acme.vote(id, "ann@example.com");
        app.acme.vote(id, "bo@example.com");
    }
    app.acme.merge("3", "2");
    app.acme.merge("2", "1");
    let withdrawn = app.acme.delete_upvote("3", "email=ann@example.com").is_ok();
    assert_eq!((&withdrawn["vote_removed"], &withdrawn["feature_request"]["title"]), (&json!(true), &json!("One")));
    assert_eq!(withdrawn["feature_request"]["votes_count"], 1);
    app.acme.unmerge("2");
    app.acme.unmerge("3");
    for id in ["1", "2", "3"] {
        assert_eq!((votes_count(&app.acme, id), voters(&app.acme, id)), (1, vec![json!("bo@example.com")]), "{id}");
    }
    app.data.is_sound();
}

/// Addition 3: comments of the source are in order of time with `from`, and its description is the first of them.
#[test]
fn comments_of_the_source_and_its_description_are_listed_in_order_of_time() {
    let app = App::start();
    let target = app.acme.feature_request_with(&json!({ "title": "Target", "description": "Not listed" }));
    let source = app.acme.post_feature_request(&json!({
        "feature_request": { "title": "Source", "description": "<p>In the <b>dark</b></p>" },
        "customer": { "email": "ann@example.com", "name": "Ann" },
    }));
    let source = source.is_ok()["feature_request"].clone();
    app.acme.feature_request_with(&json!({ "title": "Without words" }));
    for (id, content, seconds) in [("1", "first", 1), ("2", "second", 2), ("1", "third", 3), ("2", "fourth", 4)] {
        app.acme.comment(id, content);
        set_time(&app, "comments", &format!("content = '{content}'"), seconds);
    }
    set_time(&app, "feature_requests", "tag_number = 2", 0);
    let listed = app.acme.get_comments("1", "").is_ok();
    assert_eq!(column(&listed, "comments", "content"), ["first", "third"]);
    assert_eq!(app.acme.detail("1")["comments_count"], 2);
    app.acme.merge("2", "1");
    app.acme.merge("3", "1");
    let listed = app.acme.get_comments("2", "").is_ok();
    let from = json!({ "id": source["id"], "title": "Source", "url": source["url"] });
    let at = |seconds: u32| json!(format!("2026-01-01T00:00:0{seconds}.000Z"));
    assert_eq!(
        listed["comments"][0],
        json!({
            "id": source["id"],
            "content": "<p>In the <b>dark</b></p>",
            "author": { "kind": "customer", "name": "Ann" },
            "created_at": at(0),
            "updated_at": at(0),
            "from": from,
        })
    );
    assert_eq!(
        column(&listed, "comments", "content"),
        ["<p>In the <b>dark</b></p>", "first", "second", "third", "fourth"]
    );
    let origins: Vec<Option<&Value>> =
        listed["comments"].as_array().unwrap().iter().map(|comment| comment.get("from")).collect();
    assert_eq!(origins, [Some(&from), None, Some(&from), None, Some(&from)]);
    assert_eq!(listed["comments"][2]["author"], json!({ "kind": "member", "name": "Olga" }));
    assert_eq!((&listed["total_count"], &app.acme.detail("1")["comments_count"]), (&json!(5), &json!(5)));
    let pages: Vec<Value> = (1..=5)
        .flat_map(|page| {
            column(&app.acme.get_comments(&target, &format!("page={page}&page_size=1")).is_ok(), "comments", "content")
        })
        .collect();
    assert_eq!(pages, column(&listed, "comments", "content"));
    // A comment of the source is edited and deleted as before.
    let second = listed["comments"][2]["id"].as_str().unwrap();
    let edited = app.acme.patch_comment(second, &json!({ "comment": { "content": "edited" } })).is_ok();
    assert_eq!((&edited["comment"]["content"], &edited["comment"]["from"]), (&json!("edited"), &from));
    app.acme.delete_comment(second).is_empty();
    // A description is no comment.
    app.acme.delete_comment(source["id"].as_str().unwrap()).is_error(404, "Comment does not exist.");
    app.acme.unmerge("2");
    assert_eq!(comments(&app.acme, "1"), ["first", "third"]);
    assert_eq!(comments(&app.acme, "2"), ["fourth"]);
    assert_eq!(app.acme.detail("2")["comments_count"], 1);
}

/// Addition 3.
#[test]
fn a_description_without_an_author_is_of_the_team() {
    let app = with_requests(&["Target"]);
    app.acme.feature_request_with(&json!({ "title": "Source", "description": "Words" }));
    app.acme.merge("2", "1");
    let listed = app.acme.get_comments("1", "").is_ok();
    assert_eq!(listed["comments"][0]["author"], json!({ "kind": "member", "name": "Team" }));
}

/// Addition 3: notes of the source are listed with those of the target, newest first.
#[test]
fn notes_of_the_source_are_listed_newest_first() {
    let app = with_requests(&["One", "Two"]);
    for (id, body, seconds) in [("1", "first", 1), ("2", "second", 2), ("1", "third", 3), ("2", "fourth", 4)] {
        app.acme.post_upvote(id, &json!({ "reference_note": { "body": body } })).is_ok();
        set_time(&app, "notes", &format!("body = '{body}'"), seconds);
    }
    app.acme.merge("2", "1");
    let bodies = |id: &str| column(&app.acme.get_reference_notes(id, "").is_ok(), "reference_notes", "body");
    assert_eq!(bodies("1"), ["fourth", "third", "second", "first"]);
    assert_eq!(bodies("2"), bodies("1"));
    app.acme.unmerge("2");
    assert_eq!(
        (bodies("1"), bodies("2")),
        (vec![json!("third"), json!("first")], vec![json!("fourth"), json!("second")])
    );
}

/// Addition 3: of a private one that is merged into a public one, votes count and no words show.
#[test]
fn of_a_private_source_its_votes_count_and_none_of_its_words_show() {
    let app = with_requests(&["Public"]);
    let private = json!({ "title": "Quokka", "description": "marsupial", "tags": ["zoology"], "private": true });
    let private = app.acme.feature_request_with(&private);
    app.acme.vote(&private, "ann@example.com");
    app.acme.comment(&private, "a wombat");
    app.acme.post_upvote(&private, &json!({ "reference_note": { "body": "platypus" } })).is_ok();
    app.acme.merge(&private, "1");
    let shown = app.acme.detail("1");
    assert_eq!(
        (&shown["votes_count"], &shown["comments_count"], &shown["private"]),
        (&json!(1), &json!(0), &json!(false))
    );
    assert_eq!(column(&shown, "merged", "title"), ["Quokka"]);
    assert_eq!(comments(&app.acme, "1"), [] as [Value; 0]);
    assert_eq!(voters(&app.acme, "1"), ["ann@example.com"]);
    for word in ["quokka", "marsupial", "zoology", "wombat", "platypus"] {
        assert_eq!(found(&app.acme, word), [] as [Value; 0], "{word}");
    }
    // The team finds its notes.
    let notes = app.acme.get_reference_notes("1", "").is_ok();
    assert_eq!(column(&notes, "reference_notes", "body"), ["platypus"]);
    // A target that becomes private shows its team everything.
    let hide = |private: bool| {
        let body = json!({ "feature_request": { "private": private } });
        app.acme.patch_feature_request("1", &body).is_ok();
    };
    hide(true);
    assert_eq!(comments(&app.acme, "1").len(), 2);
    hide(false);
    assert_eq!(comments(&app.acme, "1"), [] as [Value; 0]);
    app.acme.unmerge(&private);
    assert_eq!(
        (comments(&app.acme, &private), app.acme.detail(&private)["private"].clone()),
        (vec![json!("a wombat")], json!(true))
    );
}

/// Addition 3: search lists the target only, and finds it by the source's title and tags.
#[test]
fn a_search_lists_the_target_only_and_finds_it_by_the_words_of_the_source() {
    let app = with_requests(&["Dark mode"]);
    app.acme.feature_request_with(&json!({ "title": "Quokka view", "tags": ["zoology"], "description": "wombat" }));
    app.acme.feature_request_with(&json!({ "title": "Platypus", "tags": ["monotreme"] }));
    assert_eq!(found(&app.acme, "quokka"), ["Quokka view"]);
    app.acme.merge("3", "2");
    assert_eq!(found(&app.acme, "platypus"), ["Quokka view"]);
    app.acme.merge("2", "1");
    for word in ["dark", "quokka", "zoology", "platypus", "monotreme"] {
        assert_eq!(found(&app.acme, word), ["Dark mode"], "{word}");
    }
    // An edit of the target keeps the words of what is merged into it.
    app.acme.patch_feature_request("1", &json!({ "feature_request": { "title": "Night mode" } })).is_ok();
    for (word, title) in [("quokka", Some("Night mode")), ("night", Some("Night mode")), ("dusk", None)] {
        assert_eq!(found(&app.acme, word), title.map(|title| json!(title)).into_iter().collect::<Vec<_>>(), "{word}");
    }
    app.acme.unmerge("2");
    for (word, title) in [("quokka", "Quokka view"), ("platypus", "Quokka view"), ("night", "Night mode")] {
        assert_eq!(found(&app.acme, word), [title], "{word}");
    }
    app.acme.unmerge("3");
    assert_eq!(found(&app.acme, "platypus"), ["Platypus"]);
}

/// Addition 3: lists, the roadmap and counts leave merged ones out.
#[test]
fn lists_leave_merged_ones_out() {
    let app = with_requests(&["One", "Two", "Three"]);
    let planned = app.track("Planned");
    for id in ["1", "2", "3"] {
        app.acme.patch_track(id, &json!({ "track_id": planned })).is_ok();
    }
    let lane = || {
        let roadmap = app.acme.get_roadmap("").is_ok();
        let lane = &roadmap["lanes"][1];
        (lane["feature_requests_count"].clone(), column(lane, "feature_requests", "title"))
    };
    let of_track = || column(&app.acme.get_track_requests(&planned, "").is_ok(), "feature_requests", "title");
    assert_eq!(lane(), (json!(3), vec![json!("Three"), json!("Two"), json!("One")]));
    app.acme.merge("3", "2");
    assert_eq!(lane(), (json!(2), vec![json!("Two"), json!("One")]));
    app.acme.merge("2", "1");
    assert_eq!((lane(), of_track()), ((json!(1), vec![json!("One")]), vec![json!("One")]));
    assert_eq!(app.acme.get_lanes().is_ok()["lanes"][1]["feature_requests_count"], 1);
    app.acme.unmerge("2");
    assert_eq!((lane(), of_track().len()), ((json!(2), vec![json!("Two"), json!("One")]), 2));
}

/// Addition 3: at most 500 are merged into one (not in the contract).
#[test]
fn a_tree_has_at_most_500_merged_feature_requests() {
    let app = with_requests(&["Target", "One too many"]);
    in_parallel(4, |_| (0..125).for_each(|_| drop(app.acme.feature_request("Merged"))));
    let target = "(SELECT id FROM feature_requests WHERE tag_number = 1)";
    app.data.execute(&format!(
        "UPDATE feature_requests SET merged_into_id = {target}, root_id = {target} WHERE title = 'Merged'"
    ));
    app.acme.post_merge("2", &into("1")).is_error(422, "target_id has too many merged feature requests");
    assert_eq!(app.acme.detail("1")["merged"].as_array().map(Vec::len), Some(500));
    app.acme.unmerge("3");
    app.acme.merge("2", "1");
}

/// Feature request of the model: its votes and what it is merged into.
#[derive(Debug, Clone, Default)]
struct Modelled {
    votes: Vec<u64>,
    parent: Option<usize>,
}

/// Root of the tree of a feature request.
fn root(model: &[Modelled], mut at: usize) -> usize {
    while let Some(parent) = model[at].parent {
        at = parent;
    }
    at
}

/// Customers with a vote in the tree of a root.
fn tally(model: &[Modelled], of: usize) -> usize {
    let members = (0..model.len()).filter(|member| root(model, *member) == of);
    let customers: std::collections::BTreeSet<u64> = members.flat_map(|member| model[member].votes.clone()).collect();
    customers.len()
}

/// Addition 3: unmerging restores exactly, in any order; votes and comments since then stay.
#[test]
fn undoing_merges_in_any_order_is_exact() {
    const REQUESTS: usize = 6;
    let mut rng = SeededRng::from_env();
    for _ in 0..rounds(4, 40) {
        let app = with_requests(&["1", "2", "3", "4", "5", "6"]);
        let mut model = vec![Modelled::default(); REQUESTS];
        let id = |index: usize| (index + 1).to_string();
        for step in 0..40 {
            let of = usize::try_from(rng.below(REQUESTS as u64)).unwrap();
            let other = usize::try_from(rng.below(REQUESTS as u64)).unwrap();
            let customer = rng.below(8);
            let email = format!("c{customer}@example.com");
            match rng.below(4) {
                0 => {
                    let top = root(&model, of);
                    let members: Vec<usize> = (0..REQUESTS).filter(|member| root(&model, *member) == top).collect();
                    let already = members.iter().any(|member| model[*member].votes.contains(&customer));
                    let body = app.acme.post_upvote(&id(of), &json!({ "customer": { "email": email } })).is_ok();
                    assert_eq!(body["already_voted"], already, "step {step}: {model:?}");
                    if !already {
                        model[top].votes.push(customer);
                    }
                }
                1 => {
                    let top = root(&model, of);
                    let members: Vec<usize> = (0..REQUESTS).filter(|member| root(&model, *member) == top).collect();
                    let voted = members.iter().any(|member| model[*member].votes.contains(&customer));
                    let body = app.acme.delete_upvote(&id(of), &format!("email={email}")).is_ok();
                    assert_eq!(body["vote_removed"], voted, "step {step}: {model:?}");
                    for member in members {
                        model[member].votes.retain(|voter| *voter != customer);
                    }
                }
                2 => {
                    let is_ancestor = {
                        let mut at = Some(other);
                        std::iter::from_fn(|| {
                            let current = at?;
                            at = model[current].parent;
                            Some(current)
                        })
                        .any(|ancestor| ancestor == of)
                    };
                    let response = app.acme.post_merge(&id(of), &into(&id(other)));
                    let expected = match model[of].parent {
                        _ if is_ancestor => 422,
                        Some(_) if root(&model, of) == root(&model, other) => 200,
                        Some(_) => 409,
                        None => {
                            model[of].parent = Some(root(&model, other));
                            200
                        }
                    };
                    assert_eq!(response.status, expected, "step {step}: {of} into {other}: {model:?}");
                }
                _ => {
                    let response = app.acme.post_unmerge(&id(of), &json!({}));
                    let expected = if model[of].parent.take().is_some() { 200 } else { 409 };
                    assert_eq!(response.status, expected, "step {step}: {of}: {model:?}");
                }
            }
            for index in 0..REQUESTS {
                let top = root(&model, index);
                let shown = app.acme.detail(&id(index));
                assert_eq!(
                    (&shown["title"], &shown["votes_count"]),
                    (&json!(id(top)), &json!(tally(&model, top))),
                    "step {step}: {index}: {model:?}"
                );
            }
        }
        app.data.is_sound();
    }
}

/// Waits until a condition holds or the other side has stopped.
fn wait_for(stopped: &AtomicBool, is_so: impl Fn() -> bool) {
    while !is_so() && !stopped.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
}

/// Addition 3: every tally equals a recount, with 1,000 votes while source and target are merged and unmerged 100
/// times.
#[test]
fn tallies_are_exact_while_a_source_with_votes_is_merged_and_unmerged() {
    const CONNECTIONS: usize = 16;
    let (votes, merges) = (rounds(1_000, 5_000), rounds(100, 500));
    let app = with_requests(&["Target", "Source"]);
    let (begun, merged) = (AtomicU64::new(0), AtomicU64::new(0));
    let (no_more_votes, no_more_merges) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _stop = StopOnDrop(&no_more_merges);
            for round in 0..merges {
                // Both sides proceed at the same pace, so that all merges and votes overlap.
                wait_for(&no_more_votes, || begun.load(Ordering::SeqCst) * merges >= round * votes);
                app.acme.merge("2", "1");
                app.acme.unmerge("2");
                merged.store(round + 1, Ordering::SeqCst);
            }
        });
        let _stop = StopOnDrop(&no_more_votes);
        in_parallel(CONNECTIONS, |_| {
            loop {
                let number = begun.fetch_add(1, Ordering::SeqCst);
                if number >= votes {
                    return;
                }
                let ahead = number.saturating_sub(2 * CONNECTIONS as u64);
                wait_for(&no_more_merges, || merged.load(Ordering::SeqCst) * votes >= ahead * merges);
                // Two numbers share a customer, who votes for both feature requests. Some withdraw.
                let (id, email) = (if number % 2 == 0 { "1" } else { "2" }, format!("c{}@example.com", number / 2));
                app.acme.vote(id, &email);
                if number % 7 == 0 {
                    app.acme.delete_upvote(id, &format!("email={email}")).is_ok();
                }
            }
        });
    });
    app.data.is_sound();
    let counted = |id: &str| {
        let count = votes_count(&app.acme, id);
        let request = format!("(SELECT id FROM feature_requests WHERE tag_number = {id})");
        assert_eq!(app.acme.get_voters(id, "page_size=1").is_ok()["total_count"], count, "{id}");
        assert_eq!(app.count(&format!("SELECT count(*) FROM votes WHERE request_id = {request}")), count, "{id}");
        count
    };
    let (target, source) = (counted("1"), counted("2"));
    assert!(target > 0 && source > 0, "{target} {source}");
    app.acme.merge("2", "1");
    let distinct = app.count("SELECT count(DISTINCT customer_id) FROM votes");
    assert_eq!(votes_count(&app.acme, "1"), distinct);
    assert_eq!(app.acme.get_voters("1", "page_size=1").is_ok()["total_count"], distinct);
    app.data.is_sound();
    app.has_logged_no_failure();
}

/// Addition 3: concurrent merges make no cycle and lead to one target.
#[test]
fn concurrent_merges_of_one_source_lead_to_one_target() {
    let app = with_requests(&["Source", "Two", "Three", "Four", "Five"]);
    for round in 0..rounds(5, 50) {
        let responses = in_parallel(4, |number| app.acme.post_merge("1", &into(&(number + 2).to_string())));
        let statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "round {round}: {statuses:?}");
        assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 3, "round {round}: {statuses:?}");
        app.acme.unmerge("1");
    }
    // Two that are merged into each other at once make no circle.
    for round in 0..rounds(5, 50) {
        let responses = in_parallel(2, |number| {
            let (source, target) = if number == 0 { ("1", "2") } else { ("2", "1") };
            (source, app.acme.post_merge(source, &into(target)))
        });
        let merged: Vec<&str> =
            responses.iter().filter(|(_, response)| response.status == 200).map(|(source, _)| *source).collect();
        assert_eq!(merged.len(), 1, "round {round}");
        assert!(responses.iter().all(|(_, response)| matches!(response.status, 200 | 422)), "round {round}");
        app.acme.unmerge(merged[0]);
    }
    app.has_logged_no_failure();
}
