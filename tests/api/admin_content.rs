//! The pages of the team for changelogs, for tracks and lanes, and for the settings.

use serde_json::{Value, json};

use crate::app::{App, Response, form_with, in_parallel};
use crate::browser::{Browser, hidden, shows};

const OLGA: &str = "olga@acme.example";
const NO_WORKER: (&str, &str) = ("ROADMAP_MAIL_WORKER", "false");

/// Beginning of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

/// A service, and the browser of Olga, who is an admin.
fn started() -> (App, Browser) {
    let app = App::with(&[], &[NO_WORKER]);
    let olga = Browser::signed_in(&app, OLGA);
    (app, olga)
}

/// A member who is no admin.
fn member(app: &App) -> Browser {
    let add = ["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"];
    app.roadmap(&[&add[..], &["--role", "member"]].concat()).json();
    Browser::signed_in(app, "max@acme.example")
}

/// Sends a form with a file, as browsers do.
fn send(browser: &Browser, path: &str, fields: &[(&str, &str)], file: Option<(&str, &str, &[u8])>) -> Response {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part = format!("--limit\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    // A browser sends an empty part if no file was chosen.
    let (field, filename, content) = file.unwrap_or(("cover", "", b""));
    let head = format!(
        "--limit\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{filename}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--limit--\r\n");
    let origin = browser.origin();
    let headers = [("Origin", origin.as_str()), ("Content-Type", "multipart/form-data; boundary=limit")];
    browser.send("POST", path, &headers, Some(&body))
}

/// Sends a form that is accepted, and returns the path to which it leads.
#[track_caller]
fn submit(browser: &Browser, path: &str, fields: &[(&str, &str)]) -> String {
    let response = send(browser, path, fields, None);
    assert_eq!(response.status, 303, "{path}: {}", response.text());
    response.header("location").unwrap().to_owned()
}

/// Asserts that a form is shown again with a problem of a field. Returns the page.
#[track_caller]
fn is_refused(response: &Response, field: &str, sentence: &str) -> String {
    let page = response.text();
    assert_eq!(response.status, 422, "{page}");
    assert!(page.contains("<title>Error: ") && page.contains("There is a problem"), "{page}");
    assert!(page.contains(&format!("<li><a href=\"#{field}\">{sentence}</a></li>")), "{field} {sentence}: {page}");
    page
}

/// The sentence of the notice of a page.
#[track_caller]
fn notice(browser: &Browser, path: &str) -> String {
    let page = browser.page(path);
    let (_, rest) = page.split_once("role=\"status\">").unwrap_or_else(|| panic!("no notice: {page}"));
    rest.split_once("</svg>").unwrap().1.split_once("</p>").unwrap().0.to_owned()
}

/// Actions of the audit log, newest first, each with its actor and the changed fields.
fn audit(app: &App, count: usize) -> Vec<(String, String, String)> {
    let entries = app.acme.get_audit_entries("page_size=100").is_ok();
    let entries = entries["audit_entries"].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let fields = |entry: &Value| {
        let changes = entry["changes"].as_array().unwrap().clone();
        changes.iter().map(|change| text(&change["field"])).collect::<Vec<_>>().join(" ")
    };
    let entry = |entry: &Value| (text(&entry["action"]), text(&entry["actor"]["name"]), fields(entry));
    entries.iter().take(count).map(entry).collect()
}

fn by_olga(entries: &[(&str, &str)]) -> Vec<(String, String, String)> {
    let owned = |(action, fields): &(&str, &str)| ((*action).to_owned(), "Olga".to_owned(), (*fields).to_owned());
    entries.iter().map(owned).collect()
}

/// The ID in the path of the form of a changelog.
fn id_of(path: &str) -> String {
    let rest = path.strip_prefix("/admin/changelogs/").unwrap();
    rest.split('?').next().unwrap().to_owned()
}

fn changelog(app: &App, id: &str) -> Value {
    app.acme.get_changelog(id).is_ok()["changelog"].clone()
}

/// Creates a changelog by the API. Returns its ID and the path of its form.
fn draft(app: &App, fields: &Value) -> (String, String) {
    let created = app.acme.post_changelog(&json!({ "changelog": fields })).is_ok();
    let id = created["changelog"]["id"].as_str().unwrap().to_owned();
    let path = format!("/admin/changelogs/{id}");
    (id, path)
}

/// A feature request that a customer has voted for.
fn voted(app: &App, title: &str, email: &str) -> String {
    let id = app.acme.feature_request(title)["id"].as_str().unwrap().to_owned();
    app.acme.vote(&id, email);
    id
}

/// A time some days after now, as a browser sends it, and as the API shows it.
fn in_days(app: &App, days: i64) -> (String, String) {
    let is_postgres = *crate::database::ON_POSTGRES;
    let now = app.count(match is_postgres {
        true => "SELECT CAST(extract(epoch FROM now()) AS bigint)",
        false => "SELECT CAST(strftime('%s', 'now') AS INTEGER)",
    });
    let minutes = (now + days * 86_400) / 60 * 60;
    let query = match is_postgres {
        true => format!("SELECT to_char(to_timestamp({minutes}) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI')"),
        false => format!("SELECT strftime('%Y-%m-%dT%H:%M', {minutes}, 'unixepoch')"),
    };
    let field_value = app.sql(&query).remove(0);
    let timestamp = format!("{field_value}:00.000Z");
    (field_value, timestamp)
}

fn mails(app: &App) -> i64 {
    app.count("SELECT count(*) FROM outbox")
}

#[test]
fn a_changelog_is_written_found_published_and_withdrawn() {
    let (app, olga) = started();
    let (undo, other) = (voted(&app, "Undo send", "ann@example.com"), voted(&app, "Quokkas", "bob@example.com"));
    shows(
        &olga.page("/admin/changelogs"),
        &["<h1>Changelog</h1>", "No changelog yet", "href=\"/admin/changelogs/new\""],
    );
    let page = olga.page("/admin/changelogs/new");
    shows(&page, &["New changelog</h1>", "Nobody would get mail now."]);
    let key = hidden(&page, "operation_key");

    // A search shows what can be linked, and keeps what was typed.
    let draft_fields = [("operation_key", key.as_str()), ("title", "Undo & more"), ("content", "**Ten** seconds")];
    let response =
        send(&olga, "/admin/changelogs/new", &[&draft_fields[..], &[("query", "undo"), ("do", "find")]].concat(), None);
    assert_eq!(response.status, 200);
    let page = response.text();
    shows(&page, &["value=\"Undo &#38; more\"", "**Ten** seconds</textarea>", "Undo send</bdi><small>1 vote</small>"]);
    assert!(page.contains(&format!("name=\"linked\" value=\"{undo}\">")) && !page.contains("Quokkas"), "{page}");
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 0);
    let nothing = send(
        &olga,
        "/admin/changelogs/new",
        &[&draft_fields[..], &[("query", "wombat"), ("do", "find")]].concat(),
        None,
    );
    shows(&nothing.text(), &["Nothing found for “wombat”"]);

    // A preview shows what visitors would read.
    let linked = [("linked", undo.as_str()), ("linked", other.as_str())];
    let preview =
        send(&olga, "/admin/changelogs/new", &[&draft_fields[..], &linked, &[("do", "preview")]].concat(), None);
    assert_eq!(preview.status, 200);
    shows(&preview.text(), &["<p><strong>Ten</strong> seconds</p>", "2 people would get it, each once.", "Quokkas"]);
    assert!(preview.text().contains(&format!("value=\"{other}\" checked>")), "{}", preview.text());

    // Saving makes a draft. The form sent twice makes one.
    let fields = [&draft_fields[..], &linked, &[("notify", "1"), ("do", "save")]].concat();
    let saved = submit(&olga, "/admin/changelogs/new", &fields);
    assert_eq!(submit(&olga, "/admin/changelogs/new", &fields), saved);
    let id = id_of(&saved);
    let path = format!("/admin/changelogs/{id}");
    assert_eq!(saved, format!("{path}?done=changelog-saved&notify=1"));
    assert_eq!(notice(&olga, &saved), "The changelog was saved.");
    let stored = changelog(&app, &id);
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 1);
    assert_eq!((&stored["title"], &stored["status"]), (&json!("Undo & more"), &json!("draft")));
    assert_eq!(stored["content"].as_str().unwrap().trim_end(), "<p><strong>Ten</strong> seconds</p>");
    assert_eq!(stored["feature_requests"].as_array().unwrap().len(), 2);
    assert_eq!(audit(&app, 1), by_olga(&[("changelog.create", "title public_from")]));

    // The form has it as Markdown, with the tick. One of the two is not linked any more.
    let page = olga.page(&saved);
    shows(&page, &[">Draft</span>", "**Ten** seconds</textarea>", "name=\"notify\" value=\"1\" checked"]);
    assert!(!page.contains("value=\"unpublish\"") && !page.contains("See on the portal"), "{page}");
    let fingerprint = hidden(&page, "fingerprint");
    let form = [
        ("title", "Undo send"),
        ("content", "**Ten** seconds"),
        ("format", "markdown"),
        ("fingerprint", fingerprint.as_str()),
        ("linked", undo.as_str()),
        ("notify", "1"),
    ];
    let published = submit(&olga, &path, &[&form[..], &[("do", "publish")]].concat());
    assert_eq!(published, format!("{path}?done=changelog-mailed&count=1"));
    assert_eq!(notice(&olga, &published), "The changelog was published, and 1 person gets mail.");
    let stored = changelog(&app, &id);
    assert_eq!((&stored["title"], &stored["status"]), (&json!("Undo send"), &json!("published")));
    assert_eq!(mails(&app), 1);
    let expected = [("changelog.publish", "public_from notified"), ("changelog.update", "title feature_request_ids")];
    assert_eq!(audit(&app, 2), by_olga(&expected));

    // Who was mailed once is not mailed again.
    let page = olga.page(&path);
    shows(
        &page,
        &[
            ">Published</span>",
            &format!("href=\"/changelogs/{id}\">See on the portal"),
            "Voters have got mail about it.",
        ],
    );
    // The changelog itself says so, not the audit log, which keeps entries for a while only.
    app.data.execute("UPDATE changelogs SET notified = FALSE");
    assert!(!olga.page(&path).contains("Voters have got mail about it."));
    app.data.execute("UPDATE changelogs SET notified = TRUE");
    let page = olga.page(&path);
    shows(&page, &["Voters have got mail about it."]);
    assert!(!page.contains("name=\"notify\"") && !page.contains("name=\"publish-at\""), "{page}");
    let fingerprint = hidden(&page, "fingerprint");
    let form =
        [("title", "Undo send"), ("content", "**Ten** seconds"), ("fingerprint", &fingerprint), ("linked", &undo)];
    let withdrawn = submit(&olga, &path, &[&form[..], &[("do", "unpublish")]].concat());
    assert_eq!(notice(&olga, &withdrawn), "The changelog is a draft again.");
    assert_eq!(changelog(&app, &id)["status"], "draft");
    let fingerprint = hidden(&olga.page(&path), "fingerprint");
    let form = [("title", "Undo send"), ("content", "**Ten** seconds"), ("fingerprint", &fingerprint), ("notify", "1")];
    let again = submit(&olga, &path, &[&form[..], &[("do", "publish")]].concat());
    assert_eq!(notice(&olga, &again), "The changelog was published.");
    assert_eq!((mails(&app), changelog(&app, &id)["feature_requests"].clone()), (1, json!([])));

    // It is deleted after a question.
    let page = olga.page(&format!("{path}/delete"));
    shows(&page, &["Delete “Undo send”?</h1>", "also from the portal", "Delete changelog</button>"]);
    assert_eq!(changelog(&app, &id)["status"], "published");
    let deleted = olga.submit(&format!("{path}/delete"), &[("operation_key", &hidden(&page, "operation_key"))]);
    assert_eq!(notice(&olga, &deleted), "The changelog was deleted.");
    app.acme.get_changelog(&id).is_error(404, "Changelog does not exist.");
    assert_eq!(audit(&app, 1), by_olga(&[("changelog.delete", "")]));
    for gone in [path.clone(), format!("{path}/delete"), "/admin/changelogs/nothing".to_owned()] {
        assert_eq!(olga.get(&gone).status, 404, "{gone}");
    }
    assert_eq!(olga.post(&format!("{path}/delete"), &[]).status, 404);
}

#[test]
fn a_stale_form_of_a_changelog_keeps_the_links_of_others() {
    let (app, olga) = started();
    let [undo, quokkas, ferns] = ["Undo send", "Quokkas", "Ferns"].map(|title| voted(&app, title, "ann@example.com"));
    let fields = json!({ "title": "1.0", "content": "<p>Text</p>", "feature_request_ids": [undo] });
    let (id, path) = draft(&app, &fields);
    let page = olga.page(&path);
    let [key, fingerprint, before] = ["operation_key", "fingerprint", "linked-before"].map(|name| hidden(&page, name));
    assert_eq!(before, undo);
    // Meanwhile somebody else links another one.
    app.acme.patch_changelog(&id, &json!({ "changelog": { "feature_request_ids": [undo, quokkas] } })).is_ok();
    let form = [
        ("operation_key", key.as_str()),
        ("title", "1.1"),
        ("content", "Text"),
        ("format", "markdown"),
        ("fingerprint", &fingerprint),
        ("linked-before", &before),
        ("linked", &ferns),
    ];
    let linked = |changelog: &Value| -> Vec<Value> {
        changelog["feature_requests"].as_array().unwrap().iter().map(|linked| linked["id"].clone()).collect()
    };
    // A preview shows the links of both.
    let preview = send(&olga, &path, &[&form[..], &[("do", "preview")]].concat(), None).text();
    assert_eq!(hidden(&preview, "linked-before"), format!("{undo} {quokkas}"));
    let ticked = |id: &str| preview.contains(&format!("value=\"{id}\" checked>"));
    assert_eq!([&undo, &quokkas, &ferns].map(|id| ticked(id)), [false, true, true]);
    let save = [&form[..], &[("do", "save")]].concat();
    let saved = submit(&olga, &path, &save);
    assert_eq!(linked(&changelog(&app, &id)), [json!(quokkas), json!(ferns)]);
    assert_eq!(audit(&app, 1), by_olga(&[("changelog.update", "title feature_request_ids")]));
    // Sent twice, it is no conflict with itself.
    assert_eq!(submit(&olga, &path, &save), saved);
    assert_eq!(linked(&changelog(&app, &id)), [json!(quokkas), json!(ferns)]);
}

#[test]
fn a_changelog_can_be_published_at_once_with_mail() {
    let (app, olga) = started();
    let undo = voted(&app, "Undo send", "ann@example.com");
    let fields = [("title", "New"), ("content", "Text"), ("linked", &undo), ("notify", "1"), ("do", "publish")];
    let published = submit(&olga, "/admin/changelogs/new", &fields);
    let id = id_of(&published);
    assert_eq!(published, format!("/admin/changelogs/{id}?done=changelog-mailed&count=1"));
    assert_eq!((changelog(&app, &id)["status"].clone(), mails(&app)), (json!("published"), 1));
    assert_eq!(
        audit(&app, 2),
        by_olga(&[("changelog.publish", "notified"), ("changelog.create", "title public_from")])
    );
    let silent = submit(&olga, "/admin/changelogs/new", &[&fields[..2], &fields[4..]].concat());
    assert_eq!(notice(&olga, &silent), "The changelog was published.");

    // Voters of a published one can get mail later, once.
    let path = format!("/admin/changelogs/{}", id_of(&silent));
    let page = olga.page(&path);
    shows(&page, &["Mail goes out when you press Save."]);
    let fingerprint = hidden(&page, "fingerprint");
    let fields = [&fields[..4], &[("fingerprint", fingerprint.as_str()), ("do", "save")]].concat();
    assert_eq!(submit(&olga, &path, &fields), format!("{path}?done=changelog-mailed&count=1"));
    assert_eq!(mails(&app), 2);
    let page = olga.page("/admin/changelogs");
    assert_eq!(page.matches(">Published</span>").count(), 2);
}

#[test]
fn a_changelog_waits_for_its_time() {
    let (app, olga) = started();
    let ((field_value, timestamp), (past, _)) = (in_days(&app, 3), in_days(&app, -3));
    let base = [("title", "New"), ("content", "Text")];
    let with = |more: &[(&'static str, &str)]| {
        let fields: Vec<(&str, String)> =
            base.iter().chain(more).map(|(name, value)| (*name, (*value).to_owned())).collect();
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        send(&olga, "/admin/changelogs/new", &fields, None)
    };
    let page = is_refused(
        &with(&[("publish-at", &past), ("do", "save")]),
        "publish-at",
        "This time has passed. Choose a later one, or empty the field and press Publish.",
    );
    shows(&page, &[&format!("value=\"{past}\""), "value=\"New\"", "Text</textarea>"]);
    is_refused(
        &with(&[("publish-at", &field_value), ("do", "publish")]),
        "publish-at",
        "You have chosen a time and pressed Publish. Press Save to publish it at that time, or empty the field and press \
         Publish to publish it now.",
    );
    is_refused(
        &with(&[("publish-at", "soon"), ("do", "save")]),
        "publish-at",
        "This is not a time. It should look like 2026-03-31T09:00.",
    );
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 0);
    let scheduled = with(&[("publish-at", &field_value), ("do", "save")]);
    let path = scheduled.header("location").unwrap().to_owned();
    assert_eq!(notice(&olga, &path), "The changelog will be published at the time you have chosen.");
    let id = id_of(&path);
    let path = format!("/admin/changelogs/{id}");
    let stored = || (changelog(&app, &id)["status"].clone(), changelog(&app, &id)["publish_at"].clone());
    assert_eq!(stored(), (json!("scheduled"), json!(timestamp)));
    shows(&olga.page("/admin/changelogs"), &[">Scheduled</span>", "Public from"]);

    // A time that stays is no problem, an empty one makes a draft, and publishing does not wait.
    let save = |publish_at: &str, action: &str| {
        let page = olga.page(&path);
        let fingerprint = hidden(&page, "fingerprint");
        let more = [("fingerprint", fingerprint.as_str()), ("publish-at", publish_at), ("do", action)];
        submit(&olga, &path, &[&base[..], &more].concat())
    };
    shows(&olga.page(&path), &[&format!("value=\"{field_value}\"")]);
    assert_eq!(save(&field_value, "save"), format!("{path}?done=changelog-saved"));
    assert_eq!(stored().0, json!("scheduled"));
    assert_eq!(save("", "save"), format!("{path}?done=changelog-saved"));
    assert_eq!(stored(), (json!("draft"), Value::Null));
    assert_eq!(save(&field_value, "save"), format!("{path}?done=changelog-scheduled"));
    assert_eq!(save(&field_value, "publish"), format!("{path}?done=changelog-published"));
    assert_eq!(stored().0, json!("published"));

    // Mail waits with it, and does not if the box is unticked before it is published.
    let waiting = || app.count("SELECT count(*) FROM outbox WHERE kind = 'changelog_audience'");
    let mailed = with(&[("publish-at", &field_value), ("notify", "1"), ("do", "save")]);
    let landing = mailed.header("location").unwrap().to_owned();
    assert!(landing.ends_with("?done=changelog-scheduled-mail&count=0"), "{landing}");
    assert!(notice(&olga, &landing).contains("nobody would get mail now"));
    let of_mailed = format!("/admin/changelogs/{}", id_of(&landing));
    let page = olga.page(&of_mailed);
    shows(&page, &["name=\"notify\" value=\"1\" checked"]);
    assert_eq!(waiting(), 1);
    let fingerprint = hidden(&page, "fingerprint");
    let fields = [("fingerprint", fingerprint.as_str()), ("publish-at", &field_value), ("do", "publish")];
    let published = submit(&olga, &of_mailed, &[&base[..], &fields].concat());
    assert_eq!(published, format!("{of_mailed}?done=changelog-published"));
    assert_eq!(waiting(), 0);

    // A published one is not scheduled again.
    let fingerprint = hidden(&olga.page(&path), "fingerprint");
    let (later, _) = in_days(&app, 5);
    let fields = [&base[..], &[("fingerprint", &fingerprint), ("publish-at", &later), ("do", "save")]].concat();
    let page = is_refused(
        &send(&olga, &path, &fields, None),
        "publish-at",
        "It is published already, so that it cannot be scheduled. Empty the field, or unpublish it first.",
    );
    shows(&page, &[&format!("value=\"{later}\"")]);
}

/// Publishing can move the linked feature requests to the first track that means that they are done. Who is done already,
/// or linked no more, stays.
#[test]
fn publishing_moves_the_linked_feature_requests() {
    let (app, olga) = started();
    let [open, declined, shipped, other] = ["Undo send", "Quokkas", "Dark mode", "Snooze"].map(|title| {
        let id = app.acme.feature_request(title)["id"].as_str().unwrap().to_owned();
        app.acme.vote(&id, "ann@example.com");
        id
    });
    // A second track that means the same.
    app.roadmap(&["track", "add", "--workspace", "acme", "Shipped", "--lane", "Done"]);
    app.acme.patch_track(&shipped, &json!({ "track_id": app.track("Shipped") })).is_ok();
    app.acme.patch_track(&declined, &json!({ "track_id": app.track("Declined") })).is_ok();
    let placed = |id: &str| app.acme.detail(id)["track"].as_str().unwrap().to_owned();
    let page = olga.page("/admin/changelogs/new");
    shows(&page, &["Move the linked feature requests to Done", "Nobody gets mail about the moves."]);
    let base = [("title", "New"), ("content", "Text"), ("move-linked", "1")];
    let linked = [("linked", open.as_str()), ("linked", &declined), ("linked", &shipped)];
    // A draft keeps the tick on its page, and moves nothing. With a time, it would do nothing.
    let fields = [&base[..], &linked, &[("do", "save")]].concat();
    let (later, _) = in_days(&app, 3);
    let scheduled = [&fields[..], &[("publish-at", later.as_str())]].concat();
    is_refused(
        &send(&olga, "/admin/changelogs/new", &scheduled, None),
        "move-linked",
        "Feature requests are moved only when you press Publish. Untick this, or publish it now.",
    );
    let saved = submit(&olga, "/admin/changelogs/new", &fields);
    assert!(saved.ends_with("?done=changelog-saved&move-linked=1"), "{saved}");
    let page = olga.page(&saved);
    shows(&page, &["name=\"move-linked\" value=\"1\" checked"]);
    assert_eq!(placed(&open), "Inbox");
    let path = format!("/admin/changelogs/{}", id_of(&saved));
    let fingerprint = hidden(&page, "fingerprint");
    let mails_before = mails(&app);
    let fields = [&base[..], &linked, &[("fingerprint", fingerprint.as_str()), ("do", "publish")]].concat();
    assert_eq!(submit(&olga, &path, &fields), format!("{path}?done=changelog-published"));
    assert_eq!([&open, &declined, &shipped, &other].map(|id| placed(id)), ["Done", "Done", "Shipped", "Inbox"]);
    assert_eq!(mails(&app), mails_before);
    // A published one has no such box.
    assert!(!olga.page(&path).contains("move-linked"));
    // A new one is published and moves at once.
    let fields = [&base[..], &[("linked", other.as_str()), ("do", "publish")]].concat();
    submit(&olga, "/admin/changelogs/new", &fields);
    assert_eq!(placed(&other), "Done");
}

/// The panel reads and shows times in the time zone of the workspace, on both sides of the changes of the year.
#[test]
fn a_changelog_waits_for_a_time_of_the_workspace_s_zone() {
    let (app, olga) = started();
    app.acme.patch_portal(&json!({ "portal": { "time_zone": "Europe/Berlin" } })).is_ok();
    let create = |at: &str| {
        let fields = [("title", "New"), ("content", "Text"), ("publish-at", at), ("do", "save")];
        send(&olga, "/admin/changelogs/new", &fields, None)
    };
    for (local, utc, words) in [
        ("2049-07-01T09:00", "2049-07-01T07:00:00.000Z", "1 July 2049, 09:00"),
        ("2049-01-10T09:00", "2049-01-10T08:00:00.000Z", "10 January 2049, 09:00"),
        ("2049-03-28T01:59", "2049-03-28T00:59:00.000Z", "28 March 2049, 01:59"),
        ("2049-03-28T03:00", "2049-03-28T01:00:00.000Z", "28 March 2049, 03:00"),
        ("2049-10-31T01:59", "2049-10-30T23:59:00.000Z", "31 October 2049, 01:59"),
        ("2049-10-31T03:00", "2049-10-31T02:00:00.000Z", "31 October 2049, 03:00"),
    ] {
        let path = create(local).header("location").unwrap().to_owned();
        let id = id_of(&path);
        assert_eq!(changelog(&app, &id)["publish_at"], json!(utc), "{local}");
        let page = olga.page(&format!("/admin/changelogs/{id}"));
        shows(&page, &[&format!("value=\"{local}\""), words, "Time zone Europe/Berlin, where it is "]);
        shows(&olga.page("/admin/changelogs"), &[words, "Times are those of the time zone Europe/Berlin."]);
    }
    for (local, sentence) in [
        ("2049-03-28T02:30", "In Europe/Berlin, clocks are set forward over this time, so that it does not exist."),
        ("2049-10-31T02:30", "In Europe/Berlin, clocks are set back over this time, so that it exists twice."),
    ] {
        let page = is_refused(&create(local), "publish-at", &format!("{sentence} Choose another one."));
        shows(&page, &[&format!("value=\"{local}\""), "value=\"New\"", "Text</textarea>"]);
    }
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 6);
}

#[test]
fn every_wrong_field_is_explained_and_nothing_is_lost() {
    let (app, olga) = started();
    let long = "a".repeat(20_001);
    let ids: Vec<String> = (0..51).map(|number| format!("00000000-0000-0000-0000-{number:012}")).collect();
    let mut fields = vec![("title", " "), ("content", &long), ("do", "save")];
    fields.extend(ids.iter().map(|id| ("linked", id.as_str())));
    let response = send(&olga, "/admin/changelogs/new", &fields, None);
    let page = is_refused(&response, "title", "Title is missing. Please fill it in.");
    is_refused(&response, "content", "Content is too long. It can have 20,000 characters at most.");
    is_refused(&response, "linked", "A changelog can have 50 linked feature requests at most. Untick some.");
    shows(&page, &[&format!("{long}</textarea>"), "aria-invalid=\"true\" aria-describedby=\"title-error\""]);
    let fields = [("title", "New"), ("content", " "), ("do", "preview")];
    let response = send(&olga, "/admin/changelogs/new", &fields, None);
    is_refused(&response, "content", "Content is missing. Please fill it in.");
    let query = "a".repeat(1_001);
    let response = send(&olga, "/admin/changelogs/new", &[("query", &query), ("do", "find")], None);
    is_refused(&response, "query", "Search is too long. It can have 1,000 characters at most.");
    // A feature request that is gone.
    let fields = [("title", "New"), ("content", "Text"), ("linked", ids[1].as_str()), ("do", "save")];
    let response = send(&olga, "/admin/changelogs/new", &fields, None);
    let sentence = "One of the linked feature requests does not exist any more. It is not in the list now. Check the list, \
                    and then try again.";
    let page = is_refused(&response, "linked", sentence);
    assert!(!page.contains(&ids[1]) && page.contains("value=\"New\""), "{page}");
    assert_eq!(app.acme.get_changelogs("").is_ok()["total_count"], 0);
}

#[test]
fn mail_over_the_budget_publishes_nothing() {
    let app = App::with(&[], &[NO_WORKER, ("ROADMAP_MAIL_PER_DAY", "1")]);
    let olga = Browser::signed_in(&app, OLGA);
    let undo = voted(&app, "Undo send", "ann@example.com");
    app.acme.vote(&undo, "bob@example.com");
    let sentence = "The mails of today are used up, so nothing was published and nothing was sent. Untick this, or try \
                    again tomorrow.";
    let fields = [("title", "New"), ("content", "Text"), ("linked", &undo), ("notify", "1"), ("do", "publish")];
    let page = is_refused(&send(&olga, "/admin/changelogs/new", &fields, None), "notify", sentence);
    shows(&page, &["value=\"New\"", "Text</textarea>", &format!("value=\"{undo}\" checked"), "2 people would get it"]);
    assert_eq!((app.acme.get_changelogs("").is_ok()["total_count"].clone(), mails(&app)), (json!(0), 0));

    let (id, path) = draft(&app, &json!({ "title": "Old", "content": "<p>Text</p>" }));
    let fingerprint = hidden(&olga.page(&path), "fingerprint");
    let fields = [&fields[..], &[("fingerprint", fingerprint.as_str())]].concat();
    is_refused(&send(&olga, &path, &fields, None), "notify", sentence);
    let stored = changelog(&app, &id);
    assert_eq!((&stored["title"], &stored["status"], mails(&app)), (&json!("Old"), &json!("draft"), 0));
}

#[test]
fn a_cover_is_kept_shown_and_removed() {
    let (app, olga) = started();
    let path = "/admin/changelogs/new";
    let invalid = [("title", ""), ("content", "Text"), ("do", "save")];
    let refused =
        send(&olga, path, &invalid, Some(("cover", "a b.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>")));
    let sentence = "This is not an image that browsers show. Choose a PNG, JPEG, WebP or GIF file.";
    is_refused(&refused, "cover", sentence);
    let large = [PNG, &vec![0; 5_000_000]].concat();
    let refused = send(&olga, path, &invalid, Some(("cover", "large.png", &large)));
    is_refused(&refused, "cover", "This image is too large. It can have 5,000 kB at most.");
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 0);

    // It survives the problem of another field, and only as a signed reference.
    let page = is_refused(
        &send(&olga, path, &invalid, Some(("cover", "a b.png", PNG))),
        "title",
        "Title is missing. Please fill it in.",
    );
    let reference = hidden(&page, "cover-reference");
    let cover_path = format!("/admin/covers/{reference}/a%20b.png");
    shows(&page, &[&format!("src=\"{cover_path}\""), "name=\"cover-name\" value=\"a b.png\"", "Remove cover"]);
    let image = olga.get(&cover_path);
    assert_eq!((image.status, image.header("content-type"), &image.bytes[..]), (200, Some("image/png"), PNG));
    assert_eq!(image.header("cache-control"), Some("private, max-age=3600"));
    assert_eq!(image.header("cross-origin-resource-policy"), Some("same-origin"));
    assert_eq!(app.count("SELECT count(*) FROM attachments"), 1);

    // Only members see it, and nothing but what a page has signed is shown.
    let customer = Browser::signed_in(&app, "ann@example.com");
    assert_eq!(customer.get(&cover_path).status, 404);
    assert_eq!(Browser::new(&app).get(&cover_path).status, 303);
    let uploaded = app.acme.post_attachment(&form_with("other.txt", b"text")).json();
    let raw = uploaded["id"].as_str().unwrap();
    let signed = uploaded["signed_id"].as_str().unwrap();
    for refused in [format!("/admin/covers/{raw}/x.png"), format!("/admin/covers/{signed}/x.txt")] {
        assert_eq!(olga.get(&refused).status, 404, "{refused}");
    }
    let forged = [("title", "New"), ("content", "Text"), ("cover-reference", raw), ("do", "save")];
    let gone = "This image cannot be used any more. Please choose it again.";
    is_refused(&send(&olga, path, &forged, None), "cover", gone);

    let cover_fields =
        [("title", "New"), ("content", "Text"), ("cover-reference", &reference), ("cover-name", "a b.png")];
    let id = id_of(&submit(&olga, path, &[&cover_fields[..], &[("do", "save")]].concat()));
    let url = changelog(&app, &id)["cover_image_url"].as_str().unwrap().to_owned();
    assert!(url.ends_with("/a%20b.png"), "{url}");
    let path = format!("/admin/changelogs/{id}");
    let page = olga.page(&path);
    shows(&page, &[&cover_path]);
    let fingerprint = hidden(&page, "fingerprint");
    let cover_fields = [&cover_fields[..], &[("fingerprint", fingerprint.as_str())]].concat();
    let preview =
        send(&olga, &path, &[&cover_fields[..], &[("cover-removed", "1"), ("do", "preview")]].concat(), None).text();
    shows(&preview, &["name=\"cover-removed\" value=\"1\" checked", &cover_path]);
    submit(&olga, &path, &[&cover_fields[..], &[("cover-removed", "1"), ("do", "save")]].concat());
    assert_eq!(changelog(&app, &id)["cover_image_url"], Value::Null);
    assert_eq!(audit(&app, 1), by_olga(&[("changelog.update", "cover_image")]));
    let page = olga.page(&path);
    assert!(!page.contains("cover-reference"), "{page}");
}

#[test]
fn the_second_editor_sees_what_the_first_has_stored() {
    let (app, olga) = started();
    let max = member(&app);
    let (id, path) = draft(&app, &json!({ "title": "Old", "content": "<p>Old text</p>" }));
    let [of_olga, of_max] = [&olga, &max].map(|browser| hidden(&browser.page(&path), "fingerprint"));
    assert_eq!(of_olga, of_max);
    let form = |title: &'static str, content: &'static str, fingerprint: &str| {
        [("title", title), ("content", content), ("do", "save")]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .chain([("fingerprint".to_owned(), fingerprint.to_owned())])
            .collect::<Vec<_>>()
    };
    let post = |browser: &Browser, fields: &[(String, String)]| {
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        send(browser, &path, &fields, None)
    };
    assert_eq!(post(&max, &form("Max's title", "Old text", &of_max)).status, 303);
    let conflict = post(&olga, &form("Olga's title", "Olga's text", &of_olga));
    let page = conflict.text();
    assert_eq!(conflict.status, 409, "{page}");
    shows(
        &page,
        &[
            "role=\"alert\"",
            "Max has saved this changelog since you opened it",
            "Stored now</h2>",
            "<dd dir=\"auto\">Max&#39;s title</dd>",
            "dir=\"auto\">Old text</dd>",
            "value=\"Olga&#39;s title\"",
            "Olga&#39;s text</textarea>",
        ],
    );
    assert_eq!(changelog(&app, &id)["title"], "Max's title");
    // Saving once more replaces it knowingly.
    let fingerprint = hidden(&page, "fingerprint");
    assert_ne!(fingerprint, of_olga);
    assert_eq!(post(&olga, &form("Olga's title", "Olga's text", &fingerprint)).status, 303);
    assert_eq!(changelog(&app, &id)["title"], "Olga's title");

    // What was deleted meanwhile can be made again.
    app.acme.delete_changelog(&id).is_empty();
    let gone = post(&max, &form("Max's title", "Max's text", &of_max));
    let page = gone.text();
    assert_eq!(gone.status, 409, "{page}");
    shows(
        &page,
        &["Somebody has deleted this changelog", "action=\"/admin/changelogs/new\"", "Max&#39;s text</textarea>"],
    );
}

#[test]
fn html_that_markdown_cannot_express_stays_html() {
    let (app, olga) = started();
    let html = "<p>H<sub>2</sub>O</p>";
    let (id, path) = draft(&app, &json!({ "title": "Old", "content": html }));
    let page = olga.page(&path);
    assert_eq!(hidden(&page, "format"), "html");
    shows(&page, &["This text is HTML", "&#60;p&#62;H&#60;sub&#62;2&#60;/sub&#62;O&#60;/p&#62;</textarea>"]);
    let save = |content: &str| {
        let fingerprint = hidden(&olga.page(&path), "fingerprint");
        let fields = [("title", "New"), ("content", content), ("format", "html"), ("fingerprint", &fingerprint)];
        submit(&olga, &path, &[&fields[..], &[("do", "save")]].concat());
        (changelog(&app, &id)["content"].clone(), audit(&app, 1))
    };
    assert_eq!(save(html), (json!(html), by_olga(&[("changelog.update", "title")])));
    // What is typed is cleaned as by the API.
    let cleaned = json!("<p>CO<sub>2</sub></p>");
    assert_eq!(save("<p onclick=x>CO<sub>2</sub></p>"), (cleaned, by_olga(&[("changelog.update", "content")])));
}

#[test]
fn changelogs_come_in_pages() {
    let (app, olga) = started();
    for number in 0..26 {
        draft(&app, &json!({ "title": format!("Number {number}"), "content": "Text" }));
    }
    let page = olga.page("/admin/changelogs");
    shows(&page, &["Page 1 of 2", "href=\"/admin/changelogs?page=2\""]);
    assert_eq!(page.matches("<h2><a href=\"/admin/changelogs/").count(), 25);
    assert_eq!(olga.page("/admin/changelogs?page=2").matches("<h2><a href=\"/admin/changelogs/").count(), 1);
    shows(&olga.page("/admin/changelogs?page=3"), &["This page is empty"]);
    shows(&olga.page("/admin/changelogs?page=x"), &["Page 1 of 2"]);
}

#[test]
fn what_was_typed_outlives_the_session() {
    let (app, olga) = started();
    let (id, path) = draft(&app, &json!({ "title": "Old", "content": "Text" }));
    olga.submit("/sign-out", &[]);
    let response = send(&olga, &path, &[("title", "Typed title"), ("content", "Typed text"), ("do", "save")], None);
    assert_eq!(response.status, 422);
    shows(&response.text(), &["Typed title", "Typed text"]);
    assert_eq!(changelog(&app, &id)["title"], "Old");
}

#[test]
fn members_write_changelogs_but_only_admins_change_tracks_and_settings() {
    let (app, olga) = started();
    let max = member(&app);
    let saved = submit(&max, "/admin/changelogs/new", &[("title", "New"), ("content", "Text"), ("do", "save")]);
    assert_eq!(audit(&app, 1)[0].1, "Max");
    assert_eq!(max.get(&saved).status, 200);
    let track = app.track("Planned");
    let lane = app.acme.get_lanes().is_ok()["lanes"][0]["id"].as_str().unwrap().to_owned();
    let paths = [
        "/admin/tracks".to_owned(),
        format!("/admin/tracks/{track}"),
        format!("/admin/tracks/{track}/delete"),
        format!("/admin/lanes/{lane}"),
        format!("/admin/lanes/{lane}/delete"),
        "/admin/settings".to_owned(),
    ];
    let before = (app.acme.get_tracks().is_ok(), app.acme.get_lanes().is_ok());
    for path in &paths {
        assert_eq!((olga.get(path).status, max.get(path).status), (200, 403), "{path}");
        let fields = [("track-name", "New"), ("lane-name", "New"), ("product_name", "New")];
        assert_eq!(max.post(path, &fields).status, 403, "{path}");
    }
    assert_eq!(max.post("/admin/lanes", &[("lane-name", "New")]).status, 403);
    assert_eq!((app.acme.get_tracks().is_ok(), app.acme.get_lanes().is_ok()), before);
}

/// Names of the tracks or lanes, in order.
fn names(list: &Value) -> Vec<String> {
    let name = |item: &Value| item["name"].as_str().unwrap().to_owned();
    list.as_array().unwrap().iter().map(name).collect()
}

fn tracks(app: &App) -> Vec<String> {
    names(&app.acme.get_tracks().is_ok()["tracks"])
}

fn lanes(app: &App) -> Vec<String> {
    names(&app.acme.get_lanes().is_ok()["lanes"])
}

fn lane(app: &App, name: &str) -> String {
    let lanes = app.acme.get_lanes().is_ok()["lanes"].clone();
    let lane = lanes.as_array().unwrap().iter().find(|lane| lane["name"] == name).unwrap().clone();
    lane["id"].as_str().unwrap().to_owned()
}

/// The value of the button with this name.
#[track_caller]
fn position(page: &str, label: &str) -> String {
    let mark = format!("aria-label=\"{label}\" name=\"position\" value=\"");
    let (_, rest) = page.split_once(&mark).unwrap_or_else(|| panic!("no button {label}: {page}"));
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn tracks_are_added_renamed_mapped_and_moved() {
    let (app, olga) = started();
    voted(&app, "Undo send", "ann@example.com");
    let page = olga.page("/admin/tracks");
    shows(&page, &["<h1>Tracks</h1>", "<strong><bdi>Inbox</bdi></strong>", "1 feature request<", "The public roadmap"]);
    shows(&page, &["aria-label=\"Move Inbox up\" disabled", "aria-label=\"Move Declined down\" disabled"]);
    let planned = lane(&app, "Planned");
    let key = hidden(&page, "operation_key");
    let fields = [("operation_key", key.as_str()), ("track-name", " Ideas "), ("track-lane", &planned)];
    for _ in 0..2 {
        let added = olga.submit("/admin/tracks", &fields);
        assert_eq!(notice(&olga, &added), "The track was added.");
    }
    assert_eq!(tracks(&app).last().unwrap(), "Ideas");
    assert_eq!(audit(&app, 1), by_olga(&[("track.create", "name")]));
    let path = format!("/admin/tracks/{}", app.track("Ideas"));

    let up = position(&olga.page("/admin/tracks"), "Move Ideas up");
    let moved = olga.submit(&path, &[("position", &up)]);
    assert_eq!(notice(&olga, &moved), "The track was saved.");
    assert_eq!(tracks(&app)[5..], ["Ideas", "Declined"]);
    let down = position(&olga.page("/admin/tracks"), "Move Ideas down");
    olga.submit(&path, &[("position", &down)]);
    assert_eq!(tracks(&app)[5..], ["Declined", "Ideas"]);
    assert_eq!(audit(&app, 2), by_olga(&[("track.update", "position"), ("track.update", "position")]));

    let page = olga.page(&path);
    shows(&page, &["<h1 dir=\"auto\">Track “Ideas”</h1>", "value=\"Ideas\""]);
    assert!(page.contains(&format!("value=\"{planned}\" selected>Planned")), "{page}");
    let saved = olga.submit(&path, &[("track-name", "Later"), ("track-lane", "")]);
    assert_eq!(saved, "/admin/tracks?done=track-saved");
    let listed = app.acme.get_tracks().is_ok()["tracks"][6].clone();
    assert_eq!((&listed["name"], &listed["status"]), (&json!("Later"), &Value::Null));
    assert_eq!(audit(&app, 1), by_olga(&[("track.update", "name lane")]));
}

#[test]
fn a_stale_form_of_a_track_changes_what_was_typed() {
    let (app, olga) = started();
    let (id, done) = (app.track("Planned"), lane(&app, "Done"));
    let path = format!("/admin/tracks/{id}");
    let page = olga.page(&path);
    let [name, planned] = ["name-before", "lane-before"].map(|field| hidden(&page, field));
    assert_eq!((name.as_str(), planned.as_str()), ("Planned", lane(&app, "Planned").as_str()));
    // Meanwhile somebody else moves it to another lane, and renames it.
    app.acme.patch_track_itself(&id, &json!({ "track": { "lane_id": done } })).is_ok();
    let before = [("name-before", name.as_str()), ("lane-before", &planned)];
    // A problem keeps what the form showed.
    let page = is_refused(
        &olga.post(&path, &[&before[..], &[("track-name", " "), ("track-lane", &planned)]].concat()),
        "track-name",
        "Name is missing. Please fill it in.",
    );
    assert_eq!(hidden(&page, "lane-before"), planned);
    olga.submit(&path, &[&before[..], &[("track-name", "Next"), ("track-lane", &planned)]].concat());
    let listed = || app.acme.get_tracks().is_ok()["tracks"][2].clone();
    assert_eq!((&listed()["name"], &listed()["status"]), (&json!("Next"), &json!("Done")));
    assert_eq!(audit(&app, 1), by_olga(&[("track.update", "name")]));
    olga.submit(&path, &[&before[..], &[("track-name", "Planned"), ("track-lane", "")]].concat());
    assert_eq!((&listed()["name"], &listed()["status"]), (&json!("Next"), &Value::Null));
}

#[test]
fn wrong_names_of_tracks_and_lanes_are_explained() {
    let (app, olga) = started();
    let (inbox, planned) = (format!("/admin/tracks/{}", app.track("Inbox")), lane(&app, "Planned"));
    let lane_path = format!("/admin/lanes/{planned}");
    let long = "a".repeat(201);
    let before = (tracks(&app), lanes(&app));
    for path in ["/admin/tracks", &inbox] {
        for (name, sentence) in [
            (" ", "Name is missing. Please fill it in."),
            (long.as_str(), "Name is too long. It can have 200 characters at most."),
            ("dONE", "Another track has this name. Choose a different one."),
        ] {
            let response = olga.post(path, &[("track-name", name), ("track-lane", &planned)]);
            let page = is_refused(&response, "track-name", sentence);
            assert!(page.contains(&format!("value=\"{name}\"")), "{page}");
            assert!(page.contains(&format!("value=\"{planned}\" selected>Planned")), "{page}");
        }
        for lane in ["Planned", "00000000-0000-0000-0000-000000000001"] {
            let response = olga.post(path, &[("track-name", "New"), ("track-lane", lane)]);
            is_refused(&response, "track-lane", "This lane does not exist any more. Choose another one.");
        }
    }
    for path in ["/admin/lanes", &lane_path] {
        for (name, sentence) in [
            ("", "Name is missing. Please fill it in."),
            (long.as_str(), "Name is too long. It can have 200 characters at most."),
            ("done", "Another lane has this name. Choose a different one."),
        ] {
            let page = is_refused(&olga.post(path, &[("lane-name", name)]), "lane-name", sentence);
            assert!(page.contains(&format!("value=\"{name}\"")), "{page}");
        }
    }
    assert_eq!((tracks(&app), lanes(&app)), before);
    for unknown in ["/admin/tracks/00000000-0000-0000-0000-000000000001", "/admin/lanes/nothing"] {
        assert_eq!(olga.get(unknown).status, 404, "{unknown}");
        for fields in [[("position", "1")], [("track-name", "New")]] {
            assert_eq!(olga.post(unknown, &fields).status, 404, "{unknown}");
        }
        assert_eq!(olga.get(&format!("{unknown}/delete")).status, 404, "{unknown}");
        assert_eq!(olga.post(&format!("{unknown}/delete"), &[]).status, 404, "{unknown}");
    }
}

#[test]
fn lanes_are_added_renamed_moved_and_deleted() {
    let (app, olga) = started();
    let added = olga.submit("/admin/lanes", &[("lane-name", "Someday")]);
    assert_eq!(notice(&olga, &added), "The lane was added.");
    assert_eq!(lanes(&app), ["Under consideration", "Planned", "In progress", "Done", "Someday"]);
    let path = format!("/admin/lanes/{}", lane(&app, "Someday"));
    let up = position(&olga.page("/admin/tracks"), "Move lane Someday up");
    assert_eq!(notice(&olga, &olga.submit(&path, &[("position", &up)])), "The lane was saved.");
    assert_eq!(lanes(&app)[3..], ["Someday", "Done"]);
    shows(&olga.page(&path), &["<h1 dir=\"auto\">Lane “Someday”</h1>", "value=\"Someday\""]);
    olga.submit(&path, &[("lane-name", "One day")]);
    assert_eq!(lanes(&app)[3..], ["One day", "Done"]);
    let expected = [("lane.update", "name"), ("lane.update", "position"), ("lane.create", "name")];
    assert_eq!(audit(&app, 3), by_olga(&expected));

    // A lane without tracks, and one with a track.
    shows(&olga.page(&format!("{path}/delete")), &["Delete the lane “One day”?", "No track leads to it"]);
    let deleted = olga.submit(&format!("{path}/delete"), &[]);
    assert_eq!(notice(&olga, &deleted), "The lane was deleted.");
    let path = format!("/admin/lanes/{}/delete", lane(&app, "Planned"));
    shows(&olga.page(&path), &["lose their public status", "<bdi>Planned</bdi>", "0 feature requests"]);
    assert_eq!(lanes(&app).len(), 4);
    olga.submit(&path, &[]);
    assert_eq!(lanes(&app), ["Under consideration", "In progress", "Done"]);
    let listed = app.acme.get_tracks().is_ok()["tracks"][2].clone();
    assert_eq!((&listed["name"], &listed["status"]), (&json!("Planned"), &Value::Null));
    assert_eq!(audit(&app, 2), by_olga(&[("lane.delete", "name"), ("lane.delete", "name")]));
}

#[test]
fn a_deleted_track_hands_its_feature_requests_over() {
    let (app, olga) = started();
    let request = voted(&app, "Undo send", "ann@example.com");
    let (inbox, planned) = (app.track("Inbox"), app.track("Planned"));
    let path = format!("/admin/tracks/{inbox}/delete");
    let page = olga.page(&path);
    shows(&page, &["Delete the track “Inbox”?", "1 feature request is on it and moves to another track."]);
    shows(&page, &["<label for=\"move-to\">Move its feature requests to</label>", "Delete track</button>"]);
    assert!(!page.contains(&format!("value=\"{inbox}\"")), "{page}");
    for (target, sentence) in [
        ("", "Merged feature requests are still on this track. Choose where they go."),
        ("nothing", "This track does not exist any more. Choose another one."),
        (inbox.as_str(), "This track does not exist any more. Choose another one."),
    ] {
        is_refused(&olga.post(&path, &[("move-to", target)]), "move-to", sentence);
    }
    assert_eq!(tracks(&app).len(), 6);
    let deleted = olga.submit(&path, &[("move-to", &planned)]);
    assert_eq!(notice(&olga, &deleted), "The track was deleted.");
    assert_eq!((tracks(&app).len(), app.acme.detail(&request)["track"].clone()), (5, json!("Planned")));
    assert_eq!(audit(&app, 1), by_olga(&[("track.delete", "name moved_to")]));
    assert_eq!(mails(&app), 0);

    // Merged ones are not counted, but they need a track, too.
    let merged = voted(&app, "Undo", "bob@example.com");
    app.acme.patch_track(&merged, &json!({ "track_id": app.track("Done") })).is_ok();
    app.acme.merge(&merged, &request);
    let path = format!("/admin/tracks/{}/delete", app.track("Done"));
    let page = olga.page(&path);
    assert!(page.contains("No feature request is on it.") && !page.contains("name=\"move-to\""), "{page}");
    let page = is_refused(
        &olga.post(&path, &[]),
        "move-to",
        "Merged feature requests are still on this track. Choose where they go.",
    );
    shows(&page, &["id=\"move-to\""]);
    olga.submit(&path, &[("move-to", &planned)]);
    for name in ["Under consideration", "In progress", "Declined"] {
        olga.submit(&format!("/admin/tracks/{}/delete", app.track(name)), &[]);
    }

    // The last one stays.
    let path = format!("/admin/tracks/{planned}/delete");
    let sentence = "This is the last track, and every feature request needs one. Add another track first.";
    let page = olga.page(&path);
    assert!(page.contains(sentence) && !page.contains("Delete track</button>"), "{page}");
    let refused = olga.post(&path, &[]);
    assert_eq!(refused.status, 422);
    shows(&refused.text(), &[&format!("role=\"alert\">{sentence}")]);
    assert_eq!(tracks(&app), ["Planned"]);
}

/// The fields of the settings as a new workspace has them.
const SETTINGS: [(&str, &str); 10] = [
    ("product_name", "Acme"),
    ("website_url", "https://acme.example"),
    ("accent", "#17694f"),
    ("accent-default", "1"),
    ("access", "public"),
    ("languages", "en"),
    ("languages", "de"),
    ("languages", "ar"),
    ("default-language", "en"),
    ("time-zone", "UTC"),
];

/// The fields of the settings with some of them replaced, and others added.
fn settings<'a>(changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let is_changed = |name: &str| changes.iter().any(|(changed, _)| *changed == name);
    let unchanged = SETTINGS.into_iter().filter(|(name, _)| !is_changed(name));
    // A box without a tick is not sent.
    unchanged.chain(changes.iter().copied()).filter(|(_, value)| *value != "off").chain([("do", "save")]).collect()
}

#[test]
fn all_settings_are_saved_by_one_form() {
    let (app, olga) = started();
    let page = olga.page("/admin/settings");
    shows(
        &page,
        &[
            "<h1>Settings</h1>",
            "id=\"product_name\" name=\"product_name\" type=\"text\" value=\"Acme\"",
            "type=\"color\" value=\"#17694f\"",
            "name=\"accent-default\" value=\"1\" checked",
            "value=\"public\" checked",
            "name=\"indexed\" value=\"1\" checked",
            "Button 6.6 : 1, link 7.6 : 1",
            "&#60;iframe src=&#34;https://acme.roadmap.example.com/embed/roadmap&#34;",
        ],
    );
    let key = hidden(&page, "operation_key");
    let changes = [
        ("operation_key", key.as_str()),
        ("product_name", " Acme & Co "),
        ("website_url", "https://new.example"),
        ("accent", "#ffdd00"),
        ("accent-default", "off"),
        ("access", "private"),
        ("mail-domains", "acme.example\r\n\r\n@Other.example\r\nacme.example"),
        ("embed-origins", "https://help.example.com/\r\n"),
        ("languages", "de"),
        ("languages", "ar"),
        ("default-language", "ar"),
        ("reply-to", " help@acme.example "),
        ("time-zone", "Europe/Berlin"),
        ("noun", "ideas"),
        ("moderation", "1"),
        ("synonyms", "2fa, two-factor,mfa\r\n\r\nquokka,numbat"),
        ("welcome-ar", " Salaam, **you** "),
        ("question-de", "Was fehlt?"),
    ];
    let fields = settings(&changes);
    let response = send(&olga, "/admin/settings", &fields, Some(("logo", "logo.png", PNG)));
    assert_eq!(response.status, 303, "{}", response.text());
    assert_eq!(response.header("location"), Some("/admin/settings?done=settings-saved"));
    // The form sent twice changes nothing again.
    assert_eq!(send(&olga, "/admin/settings", &fields, Some(("logo", "logo.png", PNG))).status, 303);
    let expected = [
        ("synonyms.replace", "synonyms"),
        (
            "portal.update",
            "visibility mail_domains indexing embed_origins languages moderation accent_color logo reply_to \
             time_zone welcome_text form_question noun",
        ),
        ("setting.update", "product_name website_url"),
    ];
    assert_eq!(audit(&app, 3), by_olga(&expected));
    assert_eq!(app.count("SELECT count(*) FROM audit_entries WHERE action = 'portal.update'"), 1);
    let setting = json!({ "product_name": "Acme & Co", "website_url": "https://new.example" });
    assert_eq!(app.acme.get_setting().is_ok()["setting"], setting);
    let mut portal = app.acme.get_portal().is_ok()["portal"].clone();
    let logo = portal["logo_url"].take();
    assert!(logo.as_str().is_some_and(|url| url.ends_with("/logo.png")), "{logo}");
    assert_eq!(
        portal,
        json!({
            "visibility": "private",
            "mail_domains": ["acme.example", "other.example"],
            "indexing": false,
            "embed_origins": ["https://help.example.com"],
            "languages": ["ar", "de"],
            "moderation": true,
            "accent_color": "#ffdd00",
            "logo_url": null,
            "reply_to": "help@acme.example",
            "time_zone": "Europe/Berlin",
            "welcome_text": { "ar": "Salaam, **you**" },
            "form_question": { "de": "Was fehlt?" },
            "noun": "ideas",
        })
    );
    shows(&olga.page("/feature_requests/new?lang=de"), &["<p class=\"lead\" dir=\"auto\">Was fehlt?</p>"]);
    // Visitors read of ideas, and the panel of feature requests.
    shows(&olga.page("/feature_requests?lang=de"), &["Ideen</h1>", "Ideen durchsuchen"]);
    shows(&olga.page("/feature_requests?lang=ar"), &["الأفكار</h1>"]);
    shows(&olga.page("/admin/tracks?lang=de"), &["0 Wünsche"]);
    let groups = json!([["2fa", "two-factor", "mfa"], ["quokka", "numbat"]]);
    assert_eq!(app.acme.get_synonyms().is_ok()["synonyms"], groups);

    // What is stored is in the form, with a warning that visitors do not see the portal.
    let page = olga.page("/admin/settings?lang=de");
    shows(&page, &["Einstellungen</h1>", "Mit dieser Wahl sehen Besucher das Portal nicht", "/brand/2-ffdd00.css"]);
    shows(&page, &["2fa, two-factor, mfa\nquokka, numbat</textarea>", "acme.example\nother.example</textarea>"]);
    let reference = hidden(&page, "logo-reference");
    assert_eq!(olga.get(&format!("/admin/covers/{reference}/logo.png")).bytes, PNG);
    assert_eq!(Browser::new(&app).get("/").status, 303);

    // The logo and the colour are removed, and nothing else is touched.
    let mut fields = settings(&changes);
    fields.retain(|(name, _)| !["operation_key", "accent-default"].contains(name));
    fields.extend([("accent-default", "1"), ("logo-reference", reference.as_str()), ("logo-removed", "1")]);
    submit(&olga, "/admin/settings", &fields);
    assert_eq!(audit(&app, 1), by_olga(&[("portal.update", "accent_color logo")]));
    // What is sent as it is changes nothing.
    let count = app.count("SELECT count(*) FROM audit_entries");
    fields.retain(|(name, _)| !name.starts_with("logo"));
    assert_eq!(submit(&olga, "/admin/settings", &fields), "/admin/settings?done=settings-saved");
    assert_eq!(app.count("SELECT count(*) FROM audit_entries"), count);
}

#[test]
fn a_stale_form_of_the_settings_changes_what_was_typed() {
    let (app, olga) = started();
    let page = olga.page("/admin/settings");
    let (key, fingerprints) = (hidden(&page, "operation_key"), hidden(&page, "shown"));
    // Meanwhile somebody else hides the portal, and adds synonyms.
    app.acme.patch_portal(&json!({ "portal": { "visibility": "off", "mail_domains": ["acme.example"] } })).is_ok();
    app.acme.put_synonyms(&json!({ "synonyms": [["2fa", "mfa"]] })).is_ok();
    let stale =
        [("operation_key", key.as_str()), ("shown", &fingerprints), ("indexed", "1"), ("product_name", "Acme 2")];
    let fields = settings(&stale);
    let response = send(&olga, "/admin/settings", &fields, Some(("logo", "logo.png", PNG)));
    assert_eq!(response.status, 303, "{}", response.text());
    assert_eq!(audit(&app, 2), by_olga(&[("portal.update", "logo"), ("setting.update", "product_name")]));
    let portal = || app.acme.get_portal().is_ok()["portal"].clone();
    assert_eq!((&portal()["visibility"], &portal()["mail_domains"]), (&json!("off"), &json!(["acme.example"])));
    assert_eq!(app.acme.get_synonyms().is_ok()["synonyms"], json!([["2fa", "mfa"]]));
    // Sent twice, it is no conflict with itself.
    assert_eq!(send(&olga, "/admin/settings", &fields, Some(("logo", "logo.png", PNG))).status, 303);

    // What both have changed is not overwritten unknowingly, and nothing else is saved.
    let stale = [
        ("shown", fingerprints.as_str()),
        ("access", "private"),
        ("synonyms", "2fa, two-factor"),
        ("product_name", "Acme 3"),
    ];
    let count = app.count("SELECT count(*) FROM audit_entries");
    let refused = send(&olga, "/admin/settings", &settings(&stale), None);
    let sentence = |now: &str| {
        format!(
            "Somebody else has changed this since you opened the page, so nothing is saved yet. It is now: {now}. The \
             next Save replaces it."
        )
    };
    let page = is_refused(&refused, "access", &sentence("Only the team"));
    is_refused(&refused, "synonyms", &sentence("2fa,mfa"));
    is_refused(&refused, "product_name", &sentence("Acme 2"));
    assert_eq!(app.count("SELECT count(*) FROM audit_entries"), count);
    let fingerprints = hidden(&page, "shown");
    submit(&olga, "/admin/settings", &settings(&[&[("shown", fingerprints.as_str())], &stale[1..]].concat()));
    let expected = [
        ("synonyms.replace", "synonyms"),
        ("portal.update", "visibility indexing"),
        ("setting.update", "product_name"),
    ];
    assert_eq!(audit(&app, 3), by_olga(&expected));
    assert_eq!(portal()["mail_domains"], json!(["acme.example"]));
}

#[test]
fn of_two_forms_of_the_settings_at_once_one_is_saved_and_the_other_is_shown_again() {
    let (app, olga) = started();
    let copies = [olga.duplicate(), olga.duplicate()].map(std::sync::Mutex::new);
    for round in 0..12 {
        let fingerprints = hidden(&olga.page("/admin/settings"), "shown");
        let names = ["One", "Two"].map(|name| format!("{name} {round}"));
        let responses = in_parallel(2, |number| {
            let fields = settings(&[("shown", fingerprints.as_str()), ("product_name", &names[number])]);
            let browser = copies[number].lock().unwrap();
            send(&browser, "/admin/settings", &fields, None)
        });
        let saved = app.acme.get_setting().is_ok()["setting"]["product_name"].as_str().unwrap().to_owned();
        let winner = names.iter().position(|name| *name == saved).expect("one of both");
        assert_eq!(responses[winner].status, 303, "round {round}: {}", responses[winner].text());
        let now = format!("It is now: {saved}. ");
        let page = responses[1 - winner].text();
        assert_eq!(responses[1 - winner].status, 422, "round {round}: {page}");
        assert!(page.replace(['\u{2068}', '\u{2069}'], "").contains(&now), "round {round}: {page}");
    }
    app.has_logged_no_failure();
}

#[test]
fn wrong_settings_change_nothing() {
    let (app, olga) = started();
    let before = (app.acme.get_setting().is_ok(), app.acme.get_portal().is_ok(), app.acme.get_synonyms().is_ok());
    for (field, value, id, sentence) in [
        ("product_name", " ", "product_name", "Product name is missing. Please fill it in."),
        (
            "website_url",
            "javascript:alert(1)",
            "website_url",
            "This is not the address of a website. It should look like https://example.com.",
        ),
        ("access", "hack", "access", "Choose who can see the portal."),
        (
            "mail-domains",
            "acme.example\r\n<b>",
            "mail-domains",
            "“&#60;b&#62;” is not a mail domain. It should look like example.com.",
        ),
        (
            "embed-origins",
            "https://a.example/path",
            "embed-origins",
            "“https://a.example/path” is not an origin. It should look like https://help.example.com.",
        ),
        ("languages", "fr", "languages", "Choose at least one language."),
        ("languages", "de", "default-language", "The default language has to be one of the offered ones."),
        (
            "synonyms",
            "a, b\r\n\r\nalone",
            "synonyms",
            "Line 3 cannot be used: “alone”. A line has 2 to 8 words or phrases with commas between them. Each has at \
             most 60 characters, a letter or a digit among them, and is nowhere else in the list.",
        ),
    ] {
        // The other changes of the form are not saved either.
        let changes = [("moderation", "1"), (field, value)];
        let response = send(&olga, "/admin/settings", &settings(&changes), None);
        let page = is_refused(&response, id, sentence);
        shows(&page, &["name=\"moderation\" value=\"1\" checked"]);
    }
    let wrong = settings(&[("accent", "red"), ("accent-default", "off")]);
    let sentence = "This is not a colour. It should look like #17694f.";
    is_refused(&send(&olga, "/admin/settings", &wrong, None), "accent", sentence);
    let large = [PNG, &vec![0; 256_000]].concat();
    let refused = send(&olga, "/admin/settings", &settings(&[]), Some(("logo", "logo.png", &large)));
    is_refused(&refused, "logo", "This image is too large. It can have 256 kB at most.");
    // A logo survives the problem of another field.
    let response = send(&olga, "/admin/settings", &settings(&[("product_name", "")]), Some(("logo", "a.png", PNG)));
    let page = is_refused(&response, "product_name", "Product name is missing. Please fill it in.");
    let reference = hidden(&page, "logo-reference");
    let forged = settings(&[("logo-reference", "forged")]);
    let gone = "This image cannot be used any more. Please choose it again.";
    is_refused(&send(&olga, "/admin/settings", &forged, None), "logo", gone);
    let after = (app.acme.get_setting().is_ok(), app.acme.get_portal().is_ok(), app.acme.get_synonyms().is_ok());
    assert_eq!(after, before);
    let fields = settings(&[("logo-reference", &reference), ("logo-name", "a.png"), ("indexed", "1")]);
    submit(&olga, "/admin/settings", &fields);
    assert_eq!(audit(&app, 1), by_olga(&[("portal.update", "logo")]));
}

#[test]
fn colours_are_shown_before_they_are_saved() {
    let (app, olga) = started();
    let mut fields = settings(&[("accent", "#7a3f9d"), ("accent-default", "off"), ("access", "off")]);
    fields.retain(|(name, _)| *name != "access" && *name != "do");
    fields.extend([("access", "off"), ("product_name", "Typed"), ("do", "colours")]);
    let response = send(&olga, "/admin/settings", &fields, None);
    assert_eq!(response.status, 200);
    let page = response.text();
    shows(
        &page,
        &["href=\"/brand/2-7a3f9d.css\"", "type=\"color\" value=\"#7a3f9d\"", "visitors do not see the portal"],
    );
    assert_eq!(app.acme.get_portal().is_ok()["portal"]["accent_color"], Value::Null);
    let stylesheet = olga.get("/brand/2-7a3f9d.css");
    assert!(stylesheet.text().contains("--accent:light-dark(#7a3f9d,"), "{}", stylesheet.text());
    fields.retain(|(name, _)| *name != "accent");
    fields.push(("accent", "red"));
    let sentence = "This is not a colour. It should look like #17694f.";
    is_refused(&send(&olga, "/admin/settings", &fields, None), "accent", sentence);
}
