//! `GET` and `POST /feature_requests/{id}/links`, `PATCH` and `DELETE /links/{id}`.

use serde_json::{Value, json};

use crate::app::{App, Client, Response, is_id, is_timestamp};
use crate::shared::{LISTED, column, comes_in_pages, is_unknown, unknown_requests};

fn link(url: &str) -> Value {
    json!({ "link": { "url": url } })
}

/// Adds a link. Returns it.
#[track_caller]
fn add(client: &Client, request: &str, body: &Value) -> Value {
    let response = client.post_link(request, body);
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["link"].clone()
}

#[track_caller]
fn listed(client: &Client, request: &str) -> Vec<Value> {
    client.get_links(request, "").is_ok()["links"].as_array().expect("links").clone()
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Links: the record, the envelope, oldest first; known kinds by path.
#[test]
fn a_link_has_its_fields() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    for (url, kind, name, state) in [
        ("https://github.com/acme/app/issues/7", "github", "acme/app#7", json!("open")),
        ("https://github.com/acme/app/pull/8", "github", "acme/app#8", json!("open")),
        ("https://gitlab.com/acme/team/app/-/issues/7", "gitlab", "acme/team/app#7", json!("open")),
        ("https://gitlab.com/acme/team/app/-/work_items/8", "gitlab", "acme/team/app#8", json!("open")),
        ("https://gitlab.com/acme/team/app/-/merge_requests/7", "gitlab", "acme/team/app!7", json!("open")),
        ("https://jira.acme.example/browse/APP-7", "jira", "APP-7", json!("open")),
        ("https://linear.app/acme/issue/ENG-7/dark-mode", "linear", "ENG-7", json!("open")),
        ("http://acme.example:8080/board?id=7", "other", "acme.example:8080/board", json!(null)),
    ] {
        let added = add(&app.acme, "1-dark-mode", &link(url));
        assert_eq!(
            added,
            json!({
                "id": added["id"],
                "url": url,
                "kind": kind,
                "name": name,
                "title": null,
                "state": state,
                "created_at": added["created_at"],
                "updated_at": added["created_at"],
            })
        );
        is_id(&added["id"]);
        is_timestamp(&added["created_at"]);
    }
    let page = app.acme.get_links(text(&request["id"]), "page_size=2&page=2").is_ok();
    assert_eq!(column(&page, "links", "name"), ["acme/team/app#7", "acme/team/app#8"]);
    let envelope = ["page", "page_size", "total_count", "total_pages"].map(|key| page[key].clone());
    assert_eq!(envelope, [2, 2, 8, 4].map(|number| json!(number)));
    let cursor = app.acme.get_links("1", "page_size=3&cursor=").is_ok();
    let rest = app.acme.get_links("1", &format!("cursor={}", text(&cursor["next_cursor"]))).is_ok();
    assert_eq!((rest["links"].as_array().map(Vec::len), &rest["next_cursor"]), (Some(5), &json!(null)));
}

/// Links: the same issue again is 200 with the one that is there, title and state updated if sent.
#[test]
fn the_same_issue_is_linked_once() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = json!({ "link": { "url": "https://github.com/acme/app/issues/7", "title": "Dark", "state": "closed" } });
    let first = add(&app.acme, "1", &body);
    let again = |url: &str, title: Value, state: Value| {
        let mut body = link(url);
        for (key, value) in [("title", title), ("state", state)] {
            if value != json!(false) {
                body["link"][key] = value;
            }
        }
        let response = app.acme.post_link("1", &body);
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()["link"].clone()
    };
    let absent = || json!(false);
    assert_eq!(again("http://GitHub.com/ACME/App/pull/7/files?w=1#r2", absent(), absent()), first);
    let renamed = again("https://github.com/acme/app/issues/7", json!(" Darker "), absent());
    assert_eq!((&renamed["title"], &renamed["state"]), (&json!("Darker"), &json!("closed")));
    let opened = again("https://github.com/acme/app/issues/7", absent(), json!("open"));
    assert_eq!((&opened["title"], &opened["state"]), (&json!("Darker"), &json!("open")));
    let emptied = again("https://github.com/acme/app/issues/7", json!(null), json!(null));
    assert_eq!((&emptied["title"], &emptied["state"], &emptied["id"]), (&json!(null), &json!(null), &first["id"]));
    assert_eq!(listed(&app.acme, "1"), [emptied]);
    // What changes nothing has no entry.
    let entries = app.acme.get_audit_entries("action=link.update").is_ok();
    assert_eq!(entries["audit_entries"].as_array().map(Vec::len), Some(3));
    let log = app.acme.get_audit_entries("page_size=100").text();
    assert!(!log.contains("github.com") && !log.contains("Darker"), "{log}");
    // Another issue, and the same one of another feature request, are others.
    app.acme.feature_request("Light mode");
    add(&app.acme, "1", &link("https://github.com/acme/app/issues/8"));
    add(&app.acme, "2", &link("https://github.com/acme/app/issues/7"));
}

/// Links: a 21st is 409; the same issue again is not one.
#[test]
fn a_feature_request_has_at_most_20_links() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for number in 0..20 {
        add(&app.acme, "1", &link(&format!("https://acme.example/{number}")));
    }
    let more = link("https://acme.example/20");
    app.acme.post_link("1", &more).is_error(409, "FeatureRequest has at most 20 links.");
    assert_eq!(app.acme.post_link("1", &link("https://acme.example/7")).status, 200);
    app.acme.delete_link(text(&listed(&app.acme, "1")[3]["id"])).is_empty();
    add(&app.acme, "1", &more);
    app.acme.post_link("1", &link("https://acme.example/3")).is_error(409, "FeatureRequest has at most 20 links.");
    assert_eq!(app.acme.get_links("1", "").is_ok()["total_count"], 20);
}

/// Links: `url` is absolute, `http` or `https`, of at most 2,048 characters, without user info; 422 names the field.
#[test]
fn other_urls_titles_and_states_are_refused() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let long = format!("https://acme.example/{}", "a".repeat(2_027));
    add(&app.acme, "1", &link(&long));
    let no_url = "url is not an absolute http or https URL without user info";
    for (url, message) in [
        (format!("{long}a"), "url must be at most 2048 characters long"),
        (String::new(), "param is missing or the value is empty or invalid: url"),
        ("https://a\0.example".to_owned(), "url must not contain the NUL character"),
        ("javascript:alert(document.domain)".to_owned(), no_url),
        (" \tjava\nscript:alert(1)".to_owned(), no_url),
        ("data:text/html,<script>alert(1)</script>".to_owned(), no_url),
        ("ftp://acme.example/".to_owned(), no_url),
        ("/browse/APP-7".to_owned(), no_url),
        ("//acme.example/browse/APP-7".to_owned(), no_url),
        ("https:acme.example".to_owned(), no_url),
        ("https:///acme.example".to_owned(), no_url),
        ("https://user@acme.example/".to_owned(), no_url),
        ("https://user:word@acme.example/".to_owned(), no_url),
        ("https://acme.example@evil.example/".to_owned(), no_url),
        ("https://acme.example/\u{202e}".to_owned(), no_url),
    ] {
        app.acme.post_link("1", &link(&url)).is_error(422, message);
    }
    let id = listed(&app.acme, "1")[0]["id"].clone();
    let fields = |title: Value, state: Value| json!({ "link": { "url": "https://acme.example", "title": title, "state": state } });
    for (body, message) in [
        (fields(json!("a".repeat(201)), json!(null)), "title must be at most 200 characters long"),
        (fields(json!("a\0"), json!(null)), "title must not contain the NUL character"),
        (fields(json!(null), json!("done")), "state is not one of open, closed"),
        (fields(json!(null), json!("Open")), "state is not one of open, closed"),
        (json!({}), "param is missing or the value is empty or invalid: link"),
    ] {
        app.acme.post_link("1", &body).is_error(422, message);
        app.acme.patch_link(text(&id), &body).is_error(422, message);
    }
    assert_eq!(app.acme.get_links("1", "").is_ok()["total_count"], 1);
}

/// Links: `PATCH` changes title and state, `DELETE` is 204; unknown: 404 `Link does not exist.`
#[test]
fn a_link_is_changed_and_deleted() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for client in [&app.acme, &bolt] {
        client.feature_request("Dark mode");
    }
    let foreign = add(&bolt, "1", &link("https://acme.example/browse/APP-7"));
    let added = add(&app.acme, "1", &link("https://acme.example/browse/APP-7"));
    let id = text(&added["id"]);
    let changed = |fields: Value| app.acme.patch_link(id, &json!({ "link": fields })).is_ok()["link"].clone();
    let closed = changed(json!({ "state": "closed", "url": "https://evil.example" }));
    let expected = json!({ "state": "closed", "updated_at": closed["updated_at"] });
    let mut with_change = added.clone();
    for (key, value) in expected.as_object().unwrap() {
        with_change[key] = value.clone();
    }
    assert_eq!(closed, with_change);
    assert_eq!(changed(json!({})), closed);
    assert_eq!(changed(json!({ "title": "Dark mode" }))["title"], "Dark mode");
    let emptied = changed(json!({ "title": null, "state": null }));
    assert_eq!((&emptied["title"], &emptied["state"]), (&json!(null), &json!(null)));
    assert_eq!(listed(&app.acme, "1"), [emptied]);
    let detail = app.acme.detail("1");
    assert_eq!(detail["updated_at"], detail["created_at"], "a link changes no feature request");

    let foreign = text(&foreign["id"]);
    is_unknown(foreign, "Link", |id| app.acme.patch_link(id, &json!({ "link": { "state": "open" } })));
    is_unknown(foreign, "Link", |id| app.acme.delete_link(id));
    app.acme.delete_link(id).is_empty();
    app.acme.delete_link(id).is_error(404, "Link does not exist.");
    assert!(listed(&app.acme, "1").is_empty());
    assert_eq!(listed(&bolt, "1").len(), 1);
}

/// Links: the feature request is looked up before page and fields, and the link before fields.
#[test]
fn the_record_is_checked_before_the_fields() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (_, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for query in ["", "page=2", "page=0", "page_size=x"] {
            app.acme.get_links(unknown, query).is_error(404, "FeatureRequest does not exist.");
        }
        for body in [link("https://acme.example"), link("javascript:x"), json!({ "link": 5 })] {
            app.acme.post_link(unknown, &body).is_error(404, "FeatureRequest does not exist.");
        }
    }
    let body = json!({ "link": { "state": "x" } });
    app.acme.patch_link("01890a5d-ac96-774b-bcce-b302099a8057", &body).is_error(404, "Link does not exist.");
}

/// Links: reading needs the scope `read`, everything else `write`.
#[test]
fn scopes_are_those_of_comments() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let added = add(&app.acme, "1", &link("https://acme.example"));
    let id = text(&added["id"]).to_owned();
    let client = |scope: &str| {
        let arguments = ["api-key", "create", "--workspace", "acme", "--name", scope, "--scope", scope];
        let key = app.roadmap(&arguments).json()["key"].as_str().expect("a key").to_owned();
        app.client("acme", &key)
    };
    let (reader, writer) = (client("read"), client("write"));
    assert_eq!(listed(&reader, "1"), [added]);
    let refused = |response: Response| response.is_error(403, "API Key does not have the required scope");
    refused(writer.get_links("1", ""));
    refused(reader.post_link("1", &link("https://acme.example")));
    refused(reader.patch_link(&id, &json!({ "link": {} })));
    refused(reader.delete_link(&id));
    assert_eq!(writer.post_link("1", &link("https://acme.example")).status, 200);
    writer.patch_link(&id, &json!({ "link": { "title": "Board" } })).is_ok();
    writer.delete_link(&id).is_empty();
}

/// Links: those of merged ones, too, with `from`; unmerging gives them back, and deleting deletes them.
#[test]
fn links_of_merged_requests_are_listed_with_from() {
    let app = App::start();
    let source = app.acme.feature_request("Night mode");
    let target = app.acme.feature_request("Dark mode");
    let of_source = add(&app.acme, "1", &link("https://acme.example/browse/APP-7"));
    let of_target = add(&app.acme, "2", &link("https://acme.example/browse/APP-8"));
    app.acme.merge("1", "2");
    let mut shown = of_source.clone();
    shown["from"] = json!({ "id": source["id"], "title": "Night mode", "url": source["url"] });
    for reference in ["1", "2-dark-mode", text(&source["id"]), text(&target["id"])] {
        assert_eq!(listed(&app.acme, reference), [shown.clone(), of_target.clone()]);
    }
    let again = app.acme.post_link("2", &link("https://acme.example/browse/app-7?x"));
    assert_eq!((again.status, &again.json()["link"]), (200, &shown));
    let changed = app.acme.patch_link(text(&of_source["id"]), &json!({ "link": { "state": "closed" } })).is_ok();
    assert_eq!(changed["link"]["from"], shown["from"]);
    // A new one belongs to the target, whatever it is added to.
    let new = add(&app.acme, "1", &link("https://acme.example/browse/APP-9"));
    assert_eq!(new.get("from"), None);
    app.acme.unmerge("1");
    let mut given_back = changed["link"].clone();
    given_back.as_object_mut().unwrap().remove("from");
    assert_eq!(listed(&app.acme, "1"), [given_back]);
    assert_eq!(listed(&app.acme, "2"), [of_target, new]);
    app.acme.delete_feature_request("2", "").is_empty();
    assert_eq!(app.count("SELECT count(*) FROM links"), 1);
}

/// Links are for the team: also those of private feature requests are found by their holders of keys, and no page of the
/// portal and no feed has one.
#[test]
fn customers_see_no_link() {
    let app = App::start();
    let private = app.acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    let public = app.acme.feature_request_with(&json!({ "title": "Dark mode" }));
    for request in [&private, &public] {
        add(
            &app.acme,
            request,
            &json!({ "link": { "url": "https://tracker.example/browse/APP-7", "title": "Plan X" } }),
        );
        assert_eq!(listed(&app.acme, request).len(), 1);
    }
    for path in ["/", "/feature_requests/2-dark-mode", "/feature_requests/2.atom", "/feature_requests.atom", "/roadmap"]
    {
        let page = app.acme.get(path).text();
        assert!(!page.contains("tracker.example") && !page.contains("Plan X"), "{path}: {page}");
    }
}

/// Contract 4.11.
#[test]
fn links_come_in_pages() {
    let app = App::start();
    // A feature request has 20 links; those that are merged into it have more.
    let target = app.acme.feature_request_with(&json!({ "title": "Target" }));
    for number in 0..6 {
        let source = app.acme.feature_request_with(&json!({ "title": format!("Source {number}") }));
        for issue in 0..20 {
            if number * 20 + issue < LISTED {
                add(&app.acme, &source, &link(&format!("https://acme.example/browse/S{number}-{issue}")));
            }
        }
        app.acme.merge(&source, &target);
    }
    let all = [1, 2].map(|page| app.acme.get_links(&target, &format!("page_size=100&page={page}")).is_ok());
    let ids: Vec<Value> = all.iter().flat_map(|page| column(page, "links", "id")).collect();
    comes_in_pages("links", "id", &ids, |query| app.acme.get_links(&target, query));
}
