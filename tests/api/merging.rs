//! `POST /feature_requests/{id}/merge` and `/unmerge`, and what merged feature requests show.

use serde_json::{Value, json};

use crate::app::{App, Client, in_parallel};
use crate::effort::rounds;
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

/// Addition 3.
#[test]
fn comments_of_the_source_and_its_description_name_the_source() {
    let app = with_requests(&["Target"]);
    let source = app.acme.post_feature_request(&json!({
        "feature_request": { "title": "Source", "description": "<p>In the <b>dark</b></p>" },
        "customer": { "email": "ann@example.com", "name": "Ann" },
    }));
    let source = source.is_ok()["feature_request"].clone();
    app.acme.comment("2", "first");
    app.acme.merge("2", "1");
    let listed = app.acme.get_comments("2", "").is_ok();
    let from = json!({ "id": source["id"], "title": "Source", "url": source["url"] });
    assert_eq!(
        listed["comments"][0],
        json!({
            "id": source["id"],
            "content": "<p>In the <b>dark</b></p>",
            "author": { "kind": "customer", "name": "Ann" },
            "created_at": source["created_at"],
            "updated_at": source["created_at"],
            "from": from,
        })
    );
    // A comment of the source is edited as before.
    let first = listed["comments"][1]["id"].as_str().unwrap();
    let edited = app.acme.patch_comment(first, &json!({ "comment": { "content": "edited" } })).is_ok();
    assert_eq!((&edited["comment"]["content"], &edited["comment"]["from"]), (&json!("edited"), &from));
    // A description is no comment.
    app.acme.delete_comment(source["id"].as_str().unwrap()).is_error(404, "Comment does not exist.");
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

/// Addition 3: concurrent merges of one source lead to one target.
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
    app.has_logged_no_failure();
}
