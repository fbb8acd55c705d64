//! `GET /tags`, `PATCH` and `DELETE /tags/{name}`, and the page of the tags in the panel.

use serde_json::{Value, json};

use crate::app::{App, Client, eventually};
use crate::browser::{Browser, hidden, shows};
use crate::shared::{LISTED, column, comes_in_pages};

const UNKNOWN: &str = "Tag does not exist.";

/// Creates a feature request with these tags. Returns its id.
fn create(client: &Client, title: &str, tags: &[&str]) -> String {
    client.feature_request_with(&json!({ "title": title, "tags": tags }))
}

fn create_private(client: &Client, title: &str, tags: &[&str]) -> String {
    client.feature_request_with(&json!({ "title": title, "tags": tags, "private": true }))
}

fn name(name: &str) -> Value {
    json!({ "tag": { "name": name } })
}

fn tag(name: &str, count: i64) -> Value {
    json!({ "name": name, "feature_requests_count": count })
}

/// The tags of a feature request.
fn tags_of(client: &Client, id: &str) -> Value {
    client.detail(id)["tags"].clone()
}

/// The titles that a search finds.
fn titles(client: &Client, query: &str) -> Vec<Value> {
    column(&client.get_feature_requests(&format!("query={query}")).is_ok(), "feature_requests", "title")
}

/// Percent-encodes a text for a path.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| {
        if byte.is_ascii_alphanumeric() { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(byte).collect()
}

#[test]
fn tags_are_listed_by_use() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let nothing = json!({ "tags": [], "page": 1, "page_size": 25, "total_count": 0, "total_pages": 1 });
    assert_eq!(app.acme.get_tags("").is_ok(), nothing);
    create(&app.acme, "One", &["UI", "Integrations"]);
    create_private(&app.acme, "Two", &["ui", "Ärger"]);
    create(&bolt, "Elsewhere", &["ui", "zebra"]);
    let expected = [tag("ui", 2), tag("Integrations", 1), tag("Ärger", 1)];
    assert_eq!(
        app.acme.get_tags("").is_ok(),
        json!({ "tags": expected, "page": 1, "page_size": 25, "total_count": 3, "total_pages": 1 })
    );
    for (query, expected) in [
        ("query=%20i", json!([tag("ui", 2), tag("Integrations", 1)])),
        ("query=%C3%84r", json!([tag("Ärger", 1)])),
        ("query=%20", json!([tag("ui", 2), tag("Integrations", 1), tag("Ärger", 1)])),
        ("query=zebra", json!([])),
        ("page=2&page_size=2", json!([tag("Ärger", 1)])),
    ] {
        assert_eq!(app.acme.get_tags(query).is_ok()["tags"], expected, "{query}");
    }
    app.acme.get_tags(&format!("query={}", "x".repeat(51))).is_error(422, "query must be at most 50 characters long");
    app.acme.get_tags("cursor=").is_error(422, "cursor cannot be given for tags");
}

#[test]
fn tags_come_in_pages() {
    let app = App::start();
    let names: Vec<String> = (0..LISTED).map(|number| format!("tag-{number:03}")).collect();
    for tags in names.chunks(20) {
        app.acme.feature_request_with(&json!({ "title": "Many", "tags": tags }));
    }
    let names: Vec<Value> = names.into_iter().map(Value::from).collect();
    comes_in_pages("tags", "name", &names, |query| app.acme.get_tags(query));
}

#[test]
fn a_renamed_tag_is_renamed_everywhere() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let public = create(&app.acme, "Public", &["moss", "quokka"]);
    let hidden = create_private(&app.acme, "Hidden", &["QUOKKA"]);
    let other = create(&app.acme, "Other", &["moss"]);
    let foreign = create(&bolt, "Elsewhere", &["quokka"]);
    let renamed = app.acme.patch_tag("Quokka", &name(" Wombat ")).is_ok();
    assert_eq!(renamed, json!({ "tag": tag("Wombat", 2) }));
    assert_eq!(tags_of(&app.acme, &public), json!(["moss", "Wombat"]));
    assert_eq!(tags_of(&app.acme, &hidden), json!(["Wombat"]));
    assert_eq!(tags_of(&bolt, &foreign), json!(["quokka"]));
    assert_eq!(titles(&app.acme, "quokka"), Vec::<Value>::new());
    assert_eq!(titles(&app.acme, "wombat"), ["Public"]);
    let since = app.acme.detail(&public)["updated_at"].as_str().unwrap().to_owned();
    let all = format!("/api/external/v1/feature_requests/all?include_private=true&updated_since={since}");
    let changed = column(&app.acme.get(&all).is_ok(), "feature_requests", "id");
    assert!(changed.contains(&json!(public)) && changed.contains(&json!(hidden)), "{changed:?}");
    assert!(!changed.contains(&json!(other)), "{changed:?}");
    let entries = app.acme.get_audit_entries("action=tag.update").is_ok()["audit_entries"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 1);
    assert_eq!(entries[0]["subject"], json!({ "kind": "tag", "id": null }));
    let changes = json!([
        { "field": "name", "old": "QUOKKA", "new": "Wombat" },
        { "field": "feature_requests", "old": null, "new": 2 },
    ]);
    assert_eq!(entries[0]["changes"], changes);
    // The same name again changes nothing, and another spelling of it does.
    assert_eq!(app.acme.patch_tag("wombat", &name("Wombat")).is_ok(), renamed);
    assert_eq!(app.acme.patch_tag("wombat", &name("WOMBAT")).is_ok(), json!({ "tag": tag("WOMBAT", 2) }));
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'tag.update'"), 2);
    app.acme.patch_tag("quokka", &name("gecko")).is_error(404, UNKNOWN);
}

#[test]
fn a_tag_becomes_one_with_another() {
    let app = App::start();
    let both = create(&app.acme, "Both", &["moss", "quokka", "fern", "reed"]);
    let one = create(&app.acme, "One", &["quokka"]);
    let other = create(&app.acme, "Other", &["Fern"]);
    let before = app.acme.detail(&other);
    let merged = app.acme.patch_tag("quokka", &json!({ "tag": { "name": "FERN" }, "operation_key": "k" }));
    assert_eq!(merged.is_ok(), json!({ "tag": tag("Fern", 3) }));
    assert_eq!(tags_of(&app.acme, &both), json!(["moss", "Fern", "reed"]));
    assert_eq!(tags_of(&app.acme, &one), json!(["Fern"]));
    assert_eq!(app.acme.detail(&other), before);
    assert_eq!(app.acme.get_tags("").is_ok()["tags"], json!([tag("Fern", 3), tag("moss", 1), tag("reed", 1)]));
    // The saved response, although there is no such tag any more.
    let again = app.acme.patch_tag("quokka", &json!({ "tag": { "name": "other" }, "operation_key": "k" }));
    assert_eq!((again.header("idempotent-replayed"), again.text()), (Some("true"), merged.text()));
}

#[test]
fn a_deleted_tag_is_on_no_feature_request() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let first = create(&app.acme, "One", &["moss", "quokka", "fern"]);
    let second = create_private(&app.acme, "Two", &["Quokka"]);
    let foreign = create(&bolt, "Elsewhere", &["quokka"]);
    app.acme.delete_tag("QUOKKA").is_empty();
    assert_eq!(tags_of(&app.acme, &first), json!(["moss", "fern"]));
    assert_eq!(tags_of(&app.acme, &second), json!([]));
    assert_eq!(tags_of(&bolt, &foreign), json!(["quokka"]));
    assert_eq!(titles(&app.acme, "quokka"), Vec::<Value>::new());
    let entry = app.acme.get_audit_entries("action=tag.delete").is_ok()["audit_entries"][0].clone();
    let changes = json!([
        { "field": "name", "old": "Quokka", "new": null },
        { "field": "feature_requests", "old": null, "new": 2 },
    ]);
    assert_eq!(entry["changes"], changes);
    app.acme.delete_tag("quokka").is_error(404, UNKNOWN);
    // Its name is free again.
    create(&app.acme, "Three", &["quokka"]);
    assert_eq!(app.acme.get_tags("query=quokka").is_ok()["tags"], json!([tag("quokka", 1)]));
}

#[test]
fn a_name_may_have_any_letters() {
    let app = App::start();
    for sent in ["a/b", "100%", "büro & co", "c++", "%41", "x?y=1#z", "a;b", "\"<i>\"", "../lanes"] {
        let id = create(&app.acme, "Odd", &[sent]);
        assert_eq!(app.acme.patch_tag(&encoded(sent), &name("plain")).is_ok(), json!({ "tag": tag("plain", 1) }));
        assert_eq!(app.acme.patch_tag("plain", &name(sent)).is_ok(), json!({ "tag": tag(sent, 1) }), "{sent}");
        assert_eq!(tags_of(&app.acme, &id), json!([sent]));
        app.acme.delete_tag(&encoded(sent)).is_empty();
        assert_eq!(tags_of(&app.acme, &id), json!([]), "{sent}");
    }
}

#[test]
fn unknown_and_foreign_tags_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    create(&bolt, "Elsewhere", &["foreign"]);
    create(&app.acme, "One", &["own"]);
    for segment in ["foreign", "unknown", "%00", "%ff", "%20", "ow", &"x".repeat(51)] {
        app.acme.patch_tag(segment, &name("new")).is_error(404, UNKNOWN);
        // A missing record comes before an invalid field.
        app.acme.patch_tag(segment, &json!({})).is_error(404, UNKNOWN);
        app.acme.delete_tag(segment).is_error(404, UNKNOWN);
    }
    assert_eq!(bolt.get_tags("").is_ok()["tags"], json!([tag("foreign", 1)]));
}

#[test]
fn invalid_names_are_rejected() {
    let app = App::start();
    create(&app.acme, "One", &["ui"]);
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    for (body, message) in [
        (json!({}), missing("tag")),
        (json!({ "name": "outside" }), missing("tag")),
        (json!({ "tag": null }), missing("tag")),
        (json!({ "tag": {} }), missing("name")),
        (json!({ "tag": "ui" }), "tag must be an object".to_owned()),
        (json!({ "tag": ["ui"] }), "tag must be an object".to_owned()),
        (json!({ "tag": { "name": 5 } }), "name must be a string".to_owned()),
        (json!({ "tag": { "name": ["ui"] } }), "name must be a string".to_owned()),
        (name(" \t"), missing("name")),
        (name("a\u{0}b"), "name must not contain the NUL character".to_owned()),
        (name(&"n".repeat(51)), "name must be at most 50 characters long".to_owned()),
    ] {
        app.acme.patch_tag("ui", &body).is_error(422, &message);
    }
    assert_eq!(app.acme.get_tags("").is_ok()["tags"], json!([tag("ui", 1)]));
}

#[test]
fn many_feature_requests_are_found_by_the_new_name_after_a_moment() {
    let app = App::start();
    for number in 0..104 {
        create(&app.acme, &format!("Numbat {number}"), &["quokka"]);
    }
    let renamed = app.acme.patch_tag("quokka", &name("wombat")).is_ok();
    assert_eq!(renamed, json!({ "tag": tag("wombat", 104) }));
    assert_eq!(titles(&app.acme, "wombat").len(), 8);
    eventually("all are indexed", || titles(&app.acme, "quokka").is_empty());
    eventually("no mark is left", || app.count("SELECT count(*) FROM outdated_documents") == 0);
    app.has_logged_no_failure();
}

/// A workspace with an admin and a member, and their browsers.
fn started() -> (App, Browser, Browser) {
    let app = App::start();
    let add = ["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"];
    app.roadmap(&[&add[..], &["--role", "member"]].concat()).json();
    let [olga, max] = ["olga@acme.example", "max@acme.example"].map(|email| Browser::signed_in(&app, email));
    (app, olga, max)
}

#[test]
fn members_see_and_rename_tags_in_the_panel() {
    let (app, olga, max) = started();
    shows(&max.page("/admin/tags"), &["<h1>Tags</h1>", "No tags yet"]);
    create(&app.acme, "One", &["a&b", "UI"]);
    let two = create_private(&app.acme, "Two", &["ui"]);
    let page = max.page("/admin/tags");
    let row = "<a href=\"/admin?state=all&#38;tag=ui\"><bdi>ui</bdi></a>";
    shows(&page, &[row, "tag=a%26b\"", "aria-label=\"Rename ui\"", "aria-label=\"Delete ui\"", "2 tags"]);
    assert!(!max.page("/admin/tags?query=B").contains(row));
    shows(&max.page("/admin/tags?query=zebra"), &["No tag found"]);
    shows(&max.page("/admin?state=all&tag=ui"), &["One", "Two"]);

    let page = max.page("/admin/tags?rename=UI");
    shows(&page, &["<h1 dir=\"auto\">Rename “ui”</h1>", "2 feature requests have it.", "value=\"ui\""]);
    let key = hidden(&page, "operation_key");
    let form = [("operation_key", key.as_str()), ("tag", "ui"), ("tag-name", "Design")];
    for _ in 0..2 {
        let done = max.submit("/admin/tags/rename", &form);
        assert_eq!(done, "/admin/tags?done=tag-saved&count=2");
        shows(&max.page(&done), &["The tag was renamed on 2 feature requests."]);
    }
    assert_eq!(tags_of(&app.acme, &two), json!(["Design"]));
    let same = max.submit("/admin/tags/rename", &[("tag", "design"), ("tag-name", "Design")]);
    assert_eq!(same, "/admin/tags?done=unchanged");

    let long = "x".repeat(51);
    for (typed, sentence) in [
        (" ", "New name is missing. Please fill it in."),
        (long.as_str(), "New name is too long. It can have 50 characters at most."),
    ] {
        let refused = max.post("/admin/tags/rename", &[("tag", "design"), ("tag-name", typed)]);
        assert_eq!(refused.status, 422);
        shows(&refused.text(), &[&format!("<li><a href=\"#tag-name\">{sentence}</a></li>")]);
    }
    for path in ["/admin/tags?rename=nothing", "/admin/tags?delete=nothing", "/admin/tags?rename=%00"] {
        assert_eq!(max.get(path).status, 404, "{path}");
    }
    for path in ["/admin/tags/rename", "/admin/tags/delete"] {
        assert_eq!(max.post(path, &[("tag", "nothing"), ("tag-name", "new")]).status, 404, "{path}");
    }
    shows(&olga.page("/admin/audit"), &["Tag renamed", "Design"]);
}

#[test]
fn a_merge_of_tags_and_a_deletion_are_asked_about() {
    let (app, olga, max) = started();
    let both = create(&app.acme, "Both", &["quokka", "moss", "fern"]);
    create(&app.acme, "One", &["quokka"]);
    create(&app.acme, "Two", &["Fern"]);
    let before = app.acme.get_tags("").is_ok();

    let asks = max.submit("/admin/tags/rename", &[("tag", "quokka"), ("tag-name", "fern")]);
    assert_eq!(asks, "/admin/tags?rename=quokka&to=fern");
    let page = max.page(&asks);
    shows(&page, &["<h1 dir=\"auto\">Merge “quokka” into “Fern”?</h1>", "2 feature requests", "cannot be undone"]);
    assert_eq!(app.acme.get_tags("").is_ok(), before);
    // An answer about another tag is none.
    let other = [("tag", "quokka"), ("tag-name", "fern"), ("merge", "moss")];
    assert_eq!(max.submit("/admin/tags/rename", &other), asks);
    assert_eq!(app.acme.get_tags("").is_ok(), before);
    let [key, tag_name, merge] = ["operation_key", "tag-name", "merge"].map(|field| hidden(&page, field));
    let form = [("operation_key", key.as_str()), ("tag", "quokka"), ("tag-name", &tag_name), ("merge", &merge)];
    for _ in 0..2 {
        let done = max.submit("/admin/tags/rename", &form);
        assert_eq!(done, "/admin/tags?done=tag-merged&count=2");
        shows(&max.page(&done), &["The two tags are one now. 2 feature requests were changed."]);
    }
    assert_eq!(tags_of(&app.acme, &both), json!(["Fern", "moss"]));

    let before = app.acme.get_tags("").is_ok();
    let page = max.page("/admin/tags?delete=fern");
    shows(&page, &["<h1 dir=\"auto\">Delete the tag “Fern”?</h1>", "3 feature requests lose it."]);
    assert_eq!(app.acme.get_tags("").is_ok(), before);
    let key = hidden(&page, "operation_key");
    for _ in 0..2 {
        let done = max.submit("/admin/tags/delete", &[("operation_key", &key), ("tag", "Fern")]);
        assert_eq!(done, "/admin/tags?done=tag-deleted&count=3");
        shows(&max.page(&done), &["The tag was removed from 3 feature requests."]);
    }
    assert_eq!(app.acme.get_tags("").is_ok()["tags"], json!([tag("moss", 1)]));
    shows(&olga.page("/admin/audit"), &["Tag deleted", "Fern"]);
}

#[test]
fn fields_of_one_tag_suggest_those_in_use() {
    let (app, _, max) = started();
    create(&app.acme, "One", &["Integrations", "<ui>"]);
    let page = max.page("/admin");
    let options = ["<option value=\"Integrations\">", "<option value=\"&#60;ui&#62;\">"];
    shows(&page, &[&["<datalist id=\"known-tags\">"][..], &options].concat());
    assert_eq!(page.matches("list=\"known-tags\"").count(), 2);
}
