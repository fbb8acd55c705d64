//! Mail about changes of the status and about changelogs, from the request to the mailbox.

use std::collections::BTreeMap;

use mailparse::parse_mail;
use serde_json::{Value, json};

use crate::app::{App, Client, eventually};
use crate::browser::Browser;
use crate::mail::{NOTIFICATION_HEADERS, all_settled, files, header, parts, unsubscribe_link, wait_for_mail_files};

const NO_WORKER: (&str, &str) = ("ROADMAP_MAIL_WORKER", "false");

/// Recipients of all unsent mail, with the kind of each.
fn outbox(app: &App) -> Vec<String> {
    app.sql(
        "SELECT kind || ' ' || email FROM outbox JOIN customers ON customers.id = customer_id
         WHERE sent_at IS NULL ORDER BY kind, email",
    )
}

fn moved(app: &App, id: &str, track: &str, notify: bool) {
    let body = json!({ "track_id": app.track(track), "notify_all_voters": notify });
    app.acme.patch_track(id, &body).is_ok();
}

fn id_of(client: &Client, number: &str) -> Value {
    client.detail(number)["id"].clone()
}

fn changelog(client: &Client, fields: &Value) -> String {
    let body = client.post_changelog(&json!({ "changelog": fields })).is_ok();
    body["changelog"]["id"].as_str().expect("an id").to_owned()
}

fn publish(client: &Client, id: &str) {
    client.post_publish(id, &json!({ "notify_subscribers": true })).is_ok();
}

/// Waits until nothing is left to send, and returns the mails by recipient and the number of them.
fn sent(app: &App, expected: usize) -> BTreeMap<String, Vec<Vec<u8>>> {
    eventually("all is settled", || files(app).len() >= expected && all_settled(app));
    let mut mails: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for path in files(app) {
        let mail = std::fs::read(path).expect("a mail");
        mails.entry(header(&mail, "To")).or_default().push(mail);
    }
    assert_eq!(mails.values().map(Vec::len).sum::<usize>(), expected, "{:?}", mails.keys());
    mails
}

/// Asserts the headers and parts that all notifications have, and that nobody else is named.
#[track_caller]
fn is_notification(mail: &[u8], to: &str, hidden: &[&str]) -> (String, String) {
    let names: Vec<String> = parse_mail(mail).expect("a mail").headers.iter().map(|header| header.get_key()).collect();
    assert_eq!(names, NOTIFICATION_HEADERS);
    assert_eq!(header(mail, "To"), to);
    assert_eq!(header(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    let (text, html) = parts(mail);
    let unsubscribe = format!("https://acme.roadmap.example.com{}", unsubscribe_link(mail));
    assert!(text.contains(&unsubscribe), "{text}");
    for hidden in hidden {
        assert!(!text.contains(hidden) && !html.contains(hidden), "{hidden} in {text}{html}");
    }
    (text, html)
}

/// Addition 5: a move mails the voters that the public status changed, with the new status's name.
/// Addition 5: mails have text and HTML parts, one recipient, and `List-Unsubscribe`.
#[test]
fn voters_are_told_the_new_status() {
    let app = App::start();
    let request = app.acme.feature_request("Dark <mode> & more");
    for email in ["ann@example.com", "ANN@example.com", "bo@example.com"] {
        app.acme.vote("1", email);
    }
    app.acme.put_subscription("1", &json!({ "email": "cem@example.com" })).is_ok();
    app.acme.put_subscription("1", &json!({ "email": "bo@example.com" })).is_ok();
    let lane = app.acme.get_lanes().is_ok()["lanes"][2]["id"].as_str().unwrap().to_owned();
    app.acme.patch_lane(&lane, &json!({ "lane": { "name": "Being <built>" } })).is_ok();
    moved(&app, "1", "In progress", true);
    let mails = sent(&app, 3);
    assert_eq!(mails.keys().collect::<Vec<_>>(), ["ann@example.com", "bo@example.com", "cem@example.com"]);
    for (to, mails) in &mails {
        let others: Vec<&str> =
            ["ann@", "bo@", "cem@", "rmk_", "Inbox"].into_iter().filter(|other| !to.starts_with(other)).collect();
        let (text, html) = is_notification(&mails[0], to, &others);
        assert_eq!(header(&mails[0], "Subject"), "Being <built>: Dark <mode> & more");
        for part in ["Dark <mode> & more", "Being <built>", request["url"].as_str().unwrap(), "Acme"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let url = format!("href=\"{}\"", request["url"].as_str().unwrap());
        for part in ["Being &lt;built&gt;", "Dark &lt;mode&gt; &amp; more", &url] {
            assert!(
                html.replace("&#60;", "&lt;").replace("&#62;", "&gt;").replace("&#38;", "&amp;").contains(part),
                "{part} in {html}"
            );
        }
    }
}

/// Addition 5.
#[test]
fn a_request_that_left_the_roadmap_is_told_so_too() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.vote("1", "ann@example.com");
    moved(&app, "1", "Planned", false);
    moved(&app, "1", "Declined", true);
    let mails = sent(&app, 1);
    let (text, _) = is_notification(&mails["ann@example.com"][0], "ann@example.com", &["Declined", "null"]);
    let lead = "Acme took a feature request that you voted for or follow off the roadmap:";
    assert_eq!(text.lines().take(3).collect::<Vec<_>>(), [lead, "", "Dark mode"], "{text}");
}

/// Addition 5: `notify_subscribers` mails each voter once per changelog.
#[test]
fn a_changelog_is_mailed_once_to_every_subscriber_of_its_feature_requests() {
    let app = App::start();
    for title in ["Dark mode", "Light mode", "Other"] {
        app.acme.feature_request(title);
    }
    for (id, email) in
        [("1", "ann@example.com"), ("2", "ann@example.com"), ("2", "bo@example.com"), ("3", "dan@example.com")]
    {
        app.acme.vote(id, email);
    }
    app.acme.put_subscription("1", &json!({ "email": "cem@example.com" })).is_ok();
    let linked = json!([id_of(&app.acme, "1"), id_of(&app.acme, "2")]);
    let fields = json!({
        "title": "Dark mode is <here>",
        "content": "<p>It is <b>done</b><script>x</script></p>",
        "feature_request_ids": linked,
    });
    let id = changelog(&app.acme, &fields);
    app.acme.post_publish(&id, &json!({})).is_ok();
    app.acme.post_publish(&id, &json!({ "notify_subscribers": false })).is_ok();
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
    publish(&app.acme, &id);
    let mails = sent(&app, 3);
    assert_eq!(mails.keys().collect::<Vec<_>>(), ["ann@example.com", "bo@example.com", "cem@example.com"]);
    for (to, mails) in &mails {
        let others: Vec<&str> =
            ["ann@", "bo@", "cem@", "rmk_", "script"].into_iter().filter(|other| !to.starts_with(other)).collect();
        let (text, html) = is_notification(&mails[0], to, &others);
        assert_eq!(header(&mails[0], "Subject"), "New: Dark mode is <here>");
        let url = format!("https://acme.roadmap.example.com/changelogs/{id}");
        for part in ["Dark mode is <here>", "It is done", &url, "Acme"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(html.contains("<p>It is <b>done</b></p>") && html.contains(&format!("href=\"{url}\"")), "{html}");
    }
}

/// Addition 5.
#[test]
fn a_changelog_without_feature_requests_or_subscribers_mails_nobody() {
    let app = App::with(&[], &[NO_WORKER]);
    app.acme.feature_request("Dark mode");
    let linked = json!({ "title": "1.0", "content": "New", "feature_request_ids": [id_of(&app.acme, "1")] });
    publish(&app.acme, &changelog(&app.acme, &linked));
    app.acme.vote("1", "ann@example.com");
    let alone = json!({ "title": "1.1", "content": "New" });
    publish(&app.acme, &changelog(&app.acme, &alone));
    let created =
        json!({ "title": "1.2", "content": "New", "feature_request_ids": [id_of(&app.acme, "1")], "publish": true });
    changelog(&app.acme, &created);
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
}

/// Addition 5: a mail's link stops its kind, and no other.
#[test]
fn each_kind_of_mail_is_stopped_by_its_own_link() {
    for kind in ["status", "changelog"] {
        let app = App::start();
        let request = app.acme.feature_request("Dark mode");
        app.acme.vote("1", "ann@example.com");
        let announce = |title: &str| {
            if kind == "status" {
                moved(&app, "1", title, true);
            } else {
                let fields = json!({ "title": title, "content": "New", "feature_request_ids": [request["id"]] });
                publish(&app.acme, &changelog(&app.acme, &fields));
            }
        };
        announce("Planned");
        let mails = wait_for_mail_files(&app, 1);
        let reader = Client { key: None, ..app.acme.clone() };
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        let link = unsubscribe_link(&mails["ann@example.com"]);
        assert_eq!(reader.get(&link).status, 303, "{kind}");
        let done = reader.request("POST", &link, &form, Some(b"List-Unsubscribe=One-Click")).unwrap();
        assert_eq!(done.status, 200, "{kind}");
        announce("Done");
        let comment = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
        app.acme.post_comment("1", &comment).is_ok();
        // Answers still come after the link of a changelog, and nothing about this feature request after that of a status.
        let expected = if kind == "status" { 1 } else { 2 };
        eventually("all is settled", || all_settled(&app));
        assert_eq!(files(&app).len(), expected, "{kind}");
        assert_eq!(app.acme.put_subscription("1", &json!({ "email": "ann@example.com" })).is_ok()["subscribed"], true);
    }
}

/// The voters of what was merged are told into what, if a member ticks it; those of the other one are not.
#[test]
fn voters_of_a_merged_request_are_told_on_request() {
    let app = App::start();
    let olga = Browser::signed_in(&app, "olga@acme.example");
    for (title, voter) in [("Dark theme", "ann@example.com"), ("Dark mode", "bo@example.com")] {
        let request = app.acme.feature_request(title);
        app.acme.vote(request["id"].as_str().unwrap(), voter);
    }
    let into = id_of(&app.acme, "2");
    let into = into.as_str().unwrap();
    let page = olga.page(&format!("/admin/feature_requests/1-dark-theme/merge?into={into}"));
    assert!(page.contains("Tell 1 voter"), "{page}");
    let merge = "/admin/feature_requests/1-dark-theme/merge";
    assert!(olga.submit(merge, &[("into", into)]).ends_with("?done=merged"));
    olga.submit("/admin/feature_requests/1-dark-theme/unmerge", &[]);
    let told = olga.submit(merge, &[("into", into), ("tell", "1")]);
    assert!(told.ends_with("?done=merged-mail"), "{told}");
    assert!(olga.page(&told).contains("The feature request was merged, and its voters get mail."));
    let mails = wait_for_mail_files(&app, 1);
    let mail = &mails["ann@example.com"];
    assert_eq!(header(mail, "Subject"), "Merged: Dark mode");
    assert!(parts(mail).0.contains("Acme merged “Dark theme”, which you voted for or follow"));
    // A private feature request is told to nobody.
    app.acme.feature_request("Secret");
    for id in ["2", "3"] {
        app.acme.patch_feature_request(id, &json!({ "feature_request": { "private": true } })).is_ok();
    }
    let into = id_of(&app.acme, "3");
    let into = into.as_str().unwrap();
    let page = olga.page(&format!("/admin/feature_requests/2-dark-mode/merge?into={into}"));
    assert!(!page.contains("Tell "), "{page}");
    olga.submit("/admin/feature_requests/2-dark-mode/merge", &[("into", into), ("tell", "1")]);
    eventually("all is settled", || all_settled(&app));
    assert_eq!(files(&app).len(), 1);
}

/// Addition 5: budgets, digests and unsubscribing are the same for all kinds of mail.
#[test]
fn the_daily_budget_counts_all_kinds() {
    let app = App::with(&[], &[NO_WORKER, ("ROADMAP_MAIL_PER_DAY", "3")]);
    let request = app.acme.feature_request("Dark mode");
    for email in ["ann@example.com", "bo@example.com"] {
        app.acme.vote("1", email);
    }
    moved(&app, "1", "Planned", true);
    let over = "Mails of the day are used up, the workspace has 3";
    let body = json!({ "track_id": app.track("Done"), "notify_all_voters": true });
    app.acme.patch_track("1", &body).is_error(429, over);
    assert_eq!(app.acme.detail("1")["track"], "Planned");
    let fields = json!({ "title": "1.0", "content": "New", "feature_request_ids": [request["id"]] });
    let id = changelog(&app.acme, &fields);
    app.acme.post_publish(&id, &json!({ "notify_subscribers": true })).is_error(429, over);
    assert_eq!(app.acme.get_changelog(&id).is_ok()["changelog"]["status"], "draft");
    assert_eq!(outbox(&app).len(), 2);
    app.acme.post_publish(&id, &json!({})).is_ok();
}

/// Portal: a reply begins with what it is a reply to, and its author is told if they follow the feature request.
#[test]
fn a_reply_quotes_a_comment_and_is_mailed_to_its_author() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let path = "/feature_requests/1-dark-mode";
    let (ann, bob) = (Browser::signed_in(&app, "ann@example.com"), Browser::signed_in(&app, "bob@example.com"));
    ann.submit(&format!("{path}/vote"), &[]);
    ann.submit(&format!("{path}/comments"), &[("content", "My *eyes* hurt # a lot")]);
    let page = bob.page(path);
    let id = page.split("id=\"comment-").nth(1).and_then(|rest| rest.split('"').next()).expect("a comment").to_owned();
    assert!(page.contains(&format!("href=\"{path}?comments=1&#38;reply={id}#write\"")), "{page}");
    assert!(!ann.page(path).contains("#write"), "nobody replies to oneself");
    let reply = format!("{path}?comments=1&reply={id}");
    let form = bob.page(&reply);
    let area = form.split("</textarea>").next().and_then(|form| form.rsplit("<textarea").next()).expect("the form");
    assert!(area.contains("My eyes hurt \\# a lot") && area.contains(&format!("#comment-{id})")), "{area}");
    assert!(Browser::new(&app).page(&reply).contains("noindex"));
    // Neither a comment of another page nor what is none is quoted.
    for other in ["00000000-0000-0000-0000-000000000000", "x", ""] {
        let form = bob.page(&format!("{path}?reply={other}"));
        assert!(!form.contains("#comment-0") && form.contains("</textarea>"), "{other}");
    }
    let quoted =
        format!("> [Ann wrote](https://acme.roadmap.example.com{path}#comment-{id})\n> My eyes hurt\n\nMine, too");
    bob.submit(&format!("{path}/comments"), &[("content", &quoted)]);
    let mails = sent(&app, 1);
    let (text, _) = is_notification(&mails["ann@example.com"][0], "ann@example.com", &["bob@example.com"]);
    assert!(text.contains("Mine, too") && text.contains("My eyes hurt"), "{text}");
    // The team replies in the panel.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let form = olga.page(&format!("/admin{reply}"));
    assert!(form.contains("My eyes hurt") && form.contains(&format!("#comment-{id})")), "{form}");
    assert!(form.contains(&format!("reply={id}#content")), "{form}");
}
