//! Mail about comments, from the request to the mailbox and to the unsubscribe page.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use mailparse::{MailHeaderMap, ParsedMail, parse_mail};
use roadmap_testkit::smtp::{Received, Reply, Setup, Sink, Step};
use serde_json::{Value, json};

use crate::app::{App, Client, Finished, Response, eventually, has_keys};
use crate::browser::{Browser, hidden};
use crate::database::{ON_POSTGRES, json_object, json_with, migration_undone, random_id, sql_timestamp, uuid_text};
use crate::effort::rounds;

/// The headers of a notification, in order.
pub(crate) const NOTIFICATION_HEADERS: [&str; 11] = [
    "Message-ID",
    "Date",
    "From",
    "To",
    "Subject",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "Auto-Submitted",
    "MIME-Version",
    "X-Auto-Response-Suppress",
    "Content-Type",
];

/// Path and query of a URL of the service.
pub(crate) fn path_of(url: &str) -> String {
    url.strip_prefix("https://acme.roadmap.example.com").expect("a URL of the workspace").to_owned()
}

fn vote(client: &Client, request: &Value, email: &str) {
    let body = json!({
        "customer": { "email": email, "name": "A voter" },
        "reference_note": { "body": "a private note about the canary" },
    });
    assert_eq!(client.post_upvote(request["id"].as_str().unwrap(), &body).status, 201);
}

fn comment(client: &Client, request: &Value, body: &Value) {
    assert_eq!(client.post_comment(request["id"].as_str().unwrap(), body).status, 201);
}

fn announce(client: &Client, request: &Value, content: &str) {
    comment(client, request, &json!({ "comment": { "content": content }, "notify_all_voters": true }));
}

pub(crate) fn files(app: &App) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(app.data_dir().join("mail")).expect("the folder for mail");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "eml")).collect()
}

/// Waits for this many mail files and returns them by recipient.
pub(crate) fn wait_for_mail_files(app: &App, expected: usize) -> BTreeMap<String, Vec<u8>> {
    eventually("the mails are written", || files(app).len() >= expected);
    let mails: Vec<Vec<u8>> = files(app).iter().map(|path| std::fs::read(path).expect("a mail")).collect();
    assert_eq!(mails.len(), expected);
    mails.into_iter().map(|mail| (header(&mail, "To"), mail)).collect()
}

pub(crate) fn header(mail: &[u8], name: &str) -> String {
    parse_mail(mail).expect("a mail").headers.get_first_value(name).unwrap_or_default()
}

/// Path of a mail's `List-Unsubscribe` URL.
pub(crate) fn unsubscribe_link(mail: &[u8]) -> String {
    path_of(header(mail, "List-Unsubscribe").trim_matches(['<', '>']))
}

fn bodies(mail: &ParsedMail<'_>) -> (String, String) {
    let [text, html] = mail.subparts.as_slice() else { panic!("two parts") };
    assert_eq!((text.ctype.mimetype.as_str(), html.ctype.mimetype.as_str()), ("text/plain", "text/html"));
    (text.get_body().expect("text"), html.get_body().expect("text"))
}

/// Text and HTML of a mail.
pub(crate) fn parts(mail: &[u8]) -> (String, String) {
    bodies(&parse_mail(mail).expect("a mail"))
}

/// All links in a mail.
pub(crate) fn links(mail: &[u8]) -> Vec<String> {
    let (text, html) = bodies(&parse_mail(mail).expect("a mail"));
    let ways = [text, html, header(mail, "List-Unsubscribe")].join(" ");
    let words = ways.split(|char: char| char.is_whitespace() || "<>\"'".contains(char));
    words.filter(|word| word.contains("://")).map(str::to_owned).collect()
}

/// Whether no mail is waiting in the workspace.
pub(crate) fn all_settled(app: &App) -> bool {
    let status = app.roadmap(&["mail", "status"]).json();
    status[0]["waiting"] == 0 && status[0]["audiences"] == 0
}

/// Contract 4.8: the messages of `notify_all_voters` are sent as e-mail.
/// Contract 6: the mail of `notify_all_voters` arrives.
/// Contract 6: the only outbound effect is the mail of `notify_all_voters`, to its recipients.
/// Decision 6: a vote subscribes the voter.
/// Decision 6: a worker writes `.eml` files if no SMTP is configured.
/// Decision 6: each voter gets at most one message for a comment, except after a kill.
/// Decision 6: each message has one address.
/// Decision 6: messages have `List-Unsubscribe` and `List-Unsubscribe-Post`.
/// Decision 6: a mail has no private note, no other voter's address and no key in it.
/// Decision 7: without SMTP, mail is written to `.eml` files under `<data dir>/mail`.
#[test]
fn every_subscribed_voter_gets_one_mail_about_the_comment() {
    let app = App::start();
    let request = app.acme.feature_request("Dark <mode> & more");
    for voter in ["ann@example.com", "ANN@example.com", "bob@example.com"] {
        vote(&app.acme, &request, voter);
    }
    comment(&app.acme, &request, &json!({ "comment": { "content": "not this one" } }));
    comment(&app.acme, &request, &json!({ "comment": { "content": "nor this" }, "notify_all_voters": false }));
    let body = json!({
        "comment": { "content": "<p>It is <b>done</b><script>alert(1)</script></p>" },
        "notify_all_voters": true,
        "operation_key": "announce",
    });
    comment(&app.acme, &request, &body);
    let mails = wait_for_mail_files(&app, 2);
    comment(&app.acme, &request, &body);
    for (to, mail) in &mails {
        let parsed = parse_mail(mail).unwrap();
        let names: Vec<String> = parsed.headers.iter().map(|header| header.get_key()).collect();
        assert_eq!(names, NOTIFICATION_HEADERS);
        assert_eq!(header(mail, "Subject"), "Olga answered: Dark <mode> & more");
        assert_eq!(header(mail, "From"), "\"Acme via Roadmap\" <noreply@roadmap.example.com>");
        assert_eq!(header(mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
        let (text, html) = bodies(&parsed);
        let url = request["url"].as_str().unwrap();
        for part in [
            "Dark <mode> & more",
            url,
            "It is done",
            "Olga from Acme answered a feature request that you voted for or follow:",
            &format!("https://acme.roadmap.example.com{}", unsubscribe_link(mail)),
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(html.contains("<p>It is <b>done</b></p>") && html.contains(&format!("href=\"{url}\"")), "{html}");
        let other = mails.keys().find(|other| *other != to).unwrap();
        for hidden in ["canary", "script", other.as_str(), app.acme.key.as_ref().unwrap()] {
            assert!(!text.contains(hidden) && !html.contains(hidden), "{hidden}");
        }
    }
    assert_eq!(mails.into_keys().collect::<Vec<_>>(), ["ann@example.com", "bob@example.com"]);
    eventually("all is settled", || all_settled(&app));
    assert_eq!(files(&app).len(), 2);
}

/// Decision 6: POST unsubscribes without a login; one click stops mail about the feature request of the mail, or changelogs.
/// Decision 6: GET of the unsubscribe link leads to a page with the question, and changes nothing.
/// Decision 6: the page also stops all mail, undoes what it has done, and leads to all settings, without a login.
#[test]
fn a_get_shows_the_unsubscribe_page_and_a_post_unsubscribes() {
    let app = App::start();
    let (dark, light) = (app.acme.feature_request("Dark mode"), app.acme.feature_request("Light mode"));
    let voters = ["all@example.com", "none@example.com", "one@example.com", "undo@example.com"];
    for voter in voters {
        vote(&app.acme, &dark, voter);
        vote(&app.acme, &light, voter);
    }
    announce(&app.acme, &dark, "Soon");
    let mails = wait_for_mail_files(&app, 4);
    let reader = Client { key: None, ..app.acme.clone() };
    for method in ["GET", "HEAD"] {
        for mail in mails.values() {
            let response = reader.request(method, &unsubscribe_link(mail), &[], None).unwrap();
            let page = unsubscribe_link(mail).replace("/unsubscribe/", "/stop-mail/");
            assert_eq!((response.status, response.header("location")), (303, Some(page.as_str())));
            assert_eq!(reader.request(method, &page, &[], None).unwrap().status, 200);
        }
    }
    // One click of a mail program, twice.
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    for _ in 0..2 {
        let link = unsubscribe_link(&mails["one@example.com"]);
        let done = reader.request("POST", &link, &form, Some(b"List-Unsubscribe=One-Click")).unwrap();
        assert_eq!((done.status, done.text().as_str(), done.header("location")), (200, "Unsubscribed.\n", None));
    }
    let stop = |who: &str, what: &str| {
        let page = unsubscribe_link(&mails[who]).replace("/unsubscribe/", "/stop-mail/");
        let person = Browser::new(&app);
        let asked = person.page(&page);
        for part in
            ["<h1>Stop mail</h1>", who, ">Dark mode</a>", ">Stop mail about this feature request<", ">Stop all mail<"]
        {
            assert!(asked.contains(part), "{part} is not in {asked}");
        }
        let stopped = person.submit(&page, &[("stop", what)]);
        let done = person.page(&stopped);
        let settings = stopped.split('?').next().unwrap().to_owned();
        assert!(done.contains(&format!("<a href=\"{settings}\">All mail settings</a>")), "{done}");
        (person, done, settings)
    };
    let (person, done, settings) = stop("none@example.com", "all");
    assert!(done.contains("You get no more mail from us."), "{done}");
    let page = person.page(&settings);
    assert!(page.contains("<h1>Mail settings</h1>") && page.contains("none@example.com"), "{page}");
    assert!(!page.contains(" checked"), "{page}");
    let (person, done, settings) = stop("undo@example.com", "request");
    assert!(done.contains("You get no more mail about “Dark mode”."), "{done}");
    let follow = hidden(&done, "follow");
    assert_eq!(follow, dark["id"].as_str().unwrap());
    assert_eq!(person.submit(&settings, &[("follow", &follow)]), format!("{settings}?done=subscribed"));
    // What was stopped is stopped, and the rest goes on.
    let wait = |expected: usize| {
        eventually("all is settled", || all_settled(&app));
        mail_file_recipients(&app, expected)
    };
    let count = |all: &[String]| voters.map(|who| all.iter().filter(|to| *to == who).count());
    announce(&app.acme, &dark, "Sooner");
    assert_eq!(count(&wait(6)), [2, 1, 1, 2]);
    announce(&app.acme, &light, "Later");
    assert_eq!(count(&wait(9)), [3, 1, 2, 3]);
    // Later votes change nothing, but following again is consent, and so is a box in the settings.
    let api = app.acme.feature_request("API");
    for voter in voters {
        vote(&app.acme, &api, voter);
    }
    announce(&app.acme, &api, "Now");
    assert_eq!(count(&wait(12)), [4, 1, 3, 4]);
    let (person, _, settings) = stop("all@example.com", "all");
    assert_eq!(person.submit(&settings, &[("requests", "1")]), format!("{settings}?done=mail-saved"));
    let page = person.page(&settings);
    assert!(page.contains("name=\"requests\" value=\"1\" checked") && page.matches(" checked").count() == 1, "{page}");
    let none = Browser::signed_in(&app, "none@example.com");
    let next = none.submit("/feature_requests/3-api/subscription", &[("state", "on")]);
    assert_eq!(next, "/feature_requests/3-api?done=mail-resumed");
    assert!(none.page(&next).contains("You had stopped mail from us: it is on again."));
    announce(&app.acme, &api, "Done");
    eventually("all is settled", || all_settled(&app));
    let notified = |who: &str| {
        let all = files(&app).into_iter().map(|path| std::fs::read(path).expect("a mail"));
        all.filter(|mail| header(mail, "To") == who && !header(mail, "List-Unsubscribe").is_empty()).count()
    };
    assert_eq!(voters.map(notified), [5, 2, 4, 5]);
}

/// The account has the same settings as the links in mails, whose references are good for nothing else.
#[test]
fn an_account_has_the_mail_settings() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, &request, "ann@example.com");
    announce(&app.acme, &request, "Soon");
    let mails = wait_for_mail_files(&app, 1);
    let ann = Browser::signed_in(&app, "ann@example.com");
    assert_eq!(ann.page("/account").matches(" checked").count(), 2);
    assert!(!ann.page("/account").contains("Mail for the team"));
    assert_eq!(ann.submit("/account/mail", &[("changelogs", "1")]), "/account?done=mail-saved");
    let page = ann.page("/account?done=mail-saved");
    assert!(
        page.contains("Your mail settings were saved.") && page.contains("name=\"changelogs\" value=\"1\" checked")
    );
    assert_eq!(page.matches(" checked").count(), 1);
    // Whoever has no record as a customer has no settings, and neither has a visitor.
    let nobody = Browser::signed_in(&app, "nobody@example.com");
    assert!(!nobody.page("/account").contains("Save mail settings"));
    assert_eq!(nobody.post("/account/mail", &[("requests", "1")]).status, 404);
    let visitor = Browser::new(&app);
    assert_eq!(visitor.post("/account/mail", &[("requests", "1")]).status, 303);
    // The link that stops mail does not open the settings, and that of the settings stops nothing by itself.
    let link = unsubscribe_link(&mails["ann@example.com"]);
    let token = link.strip_prefix("/unsubscribe/").unwrap().split('?').next().unwrap().to_owned();
    assert_eq!(visitor.get(&format!("/mail/{token}")).status, 404);
    assert_eq!(visitor.post(&format!("/mail/{token}"), &[("requests", "1")]).status, 404);
    let stopped = visitor.submit(&format!("/stop-mail/{token}"), &[("stop", "changelogs")]);
    let page = visitor.page(&stopped);
    assert!(page.contains("You get no more mail about changelogs."), "{page}");
    // What *Undo* would restore is what was before: of the two kinds, only changelogs were on.
    assert!(page.contains("name=\"changelogs\" value=\"1\"") && !page.contains("name=\"requests\""), "{page}");
    let settings = stopped.strip_prefix("/mail/").unwrap().split('?').next().unwrap().to_owned();
    assert_eq!(visitor.get(&format!("/stop-mail/{settings}")).status, 404);
    assert_eq!(visitor.post(&format!("/unsubscribe/{settings}"), &[]).status, 404);
    assert_eq!(Browser::at(&app, "bolt").get(&format!("/mail/{settings}")).status, 404);
    // A feature request that the person may not see is not followed.
    let private = json!({ "feature_request": { "title": "Secret", "private": true } });
    let secret = app.acme.post_feature_request(&private).is_ok()["feature_request"]["id"].as_str().unwrap().to_owned();
    for follow in [secret.as_str(), "x"] {
        assert_eq!(visitor.post(&format!("/mail/{settings}"), &[("follow", follow)]).status, 404);
    }
    assert_eq!(visitor.get(&format!("/stop-mail/{token}?request={secret}")).text().matches("Secret").count(), 0);
}

/// Waits for this many mail files and returns their recipients.
fn mail_file_recipients(app: &App, expected: usize) -> Vec<String> {
    let mails: Vec<Vec<u8>> = files(app).iter().map(|path| std::fs::read(path).expect("a mail")).collect();
    assert_eq!(mails.len(), expected);
    mails.iter().map(|mail| header(mail, "To")).collect()
}

/// Decision 6: a forged or foreign token of an unsubscribe link is 404.
#[test]
fn an_invalid_unsubscribe_link_is_not_found() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, &request, "ann@example.com");
    announce(&app.acme, &request, "Soon");
    let mails = wait_for_mail_files(&app, 1);
    let path = unsubscribe_link(&mails["ann@example.com"]);
    let (token, query) = path.strip_prefix("/unsubscribe/").unwrap().split_once('?').unwrap();
    let mut flipped = token.to_owned().into_bytes();
    flipped[10] = if flipped[10] == b'A' { b'B' } else { b'A' };
    let flipped = String::from_utf8(flipped).unwrap();
    let reader = Client { key: None, ..app.acme.clone() };
    let bolt = Client { key: None, ..app.workspace("bolt") };
    let is_page = |response: Response, status: u16, title: &str| {
        assert_eq!((response.status, response.header("content-type")), (status, Some("text/html; charset=utf-8")));
        assert!(response.text().contains(&format!("<h1>{title}</h1>")), "{}", response.text());
    };
    let is_missing = |response: Response| is_page(response, 404, "This page does not exist");
    let origin = format!("https://{}", app.acme.host);
    for method in ["GET", "POST"] {
        for token in [flipped.as_str(), "x", "%ff", &token[1..]] {
            for page in ["unsubscribe", "stop-mail", "mail"] {
                let path = format!("/{page}/{token}?{query}");
                is_missing(reader.request(method, &path, &[("Origin", origin.as_str())], None).unwrap());
            }
        }
        is_missing(bolt.request(method, &path, &[], None).unwrap());
    }
    is_page(reader.request("PUT", &path, &[], None).unwrap(), 405, "This did not work");
    // With a missing or invalid feature request, the page stops other mail.
    for query in ["", "?request=x"] {
        let page = reader.get(&format!("/stop-mail/{token}{query}"));
        assert!(page.status == 200 && !page.text().contains("about this feature request"), "{}", page.text());
    }
    let unknown = reader.request(
        "POST",
        &format!("/unsubscribe/{token}?request=01890a5d-ac96-774b-bcce-b302099a8057"),
        &[],
        Some(b"from=request"),
    );
    assert_eq!(unknown.unwrap().status, 200);
    announce(&app.acme, &request, "Still");
    wait_for_mail_files(&app, 1 + 1);
}

pub(crate) fn app_with_smtp(sink: &Sink, timeout: &str) -> App {
    let url = sink.url();
    let environment = [
        ("ROADMAP_SMTP_URL", url.as_str()),
        ("ROADMAP_MAIL_FROM", "hello@acme.example"),
        ("ROADMAP_MAIL_TIMEOUT", timeout),
    ];
    App::with(&[], &environment)
}

/// Decision 6: permanent failures are given up at once, reported, and retried on an operator's command.
/// Decision 6: an address without a mailbox gets no more mail.
/// Decision 7: mail is sent by SMTP with `ROADMAP_SMTP_URL` and `ROADMAP_MAIL_FROM`.
#[test]
fn rejected_mail_is_reported_and_can_be_retried() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To("gone@example.com") => Reply::Custom("550 5.1.1 no such user"),
        Step::To("listed@example.com") => Reply::Custom("550 5.7.1 this list is closed"),
        Step::To("busy@example.com") => Reply::Custom("450 4.2.1 busy"),
        _ => Reply::Default,
    });
    let app = app_with_smtp(&sink, "5s");
    let request = app.acme.feature_request("Dark mode");
    for voter in ["good", "gone", "listed", "busy"] {
        vote(&app.acme, &request, &format!("{voter}@example.com"));
    }
    announce(&app.acme, &request, "Soon");
    let status = || app.roadmap(&["mail", "status"]).json()[0].clone();
    eventually("all were tried", || status()["failures"].as_array().unwrap().len() == 3 && sink.count() == 1);
    let status = status();
    has_keys(&status, &["workspace", "waiting", "audiences", "oldest", "sent", "dead", "failures"]);
    assert_eq!(
        (&status["workspace"], &status["waiting"], &status["sent"], &status["dead"]),
        (&json!("acme"), &json!(1), &json!(1), &json!(2))
    );
    for failure in status["failures"].as_array().unwrap() {
        has_keys(failure, &["mail", "attempts", "next", "reason"]);
        let reason = failure["reason"].as_str().unwrap();
        assert!(reason.starts_with("at RCPT TO: "), "{reason}");
        assert_eq!(failure["next"].is_null(), reason.contains("550"), "{reason}");
        assert_eq!(failure["attempts"], 1);
    }
    let human = app.roadmap_as_text(&["mail", "status"]);
    for part in [
        "smtp://127.0.0.1:",
        "The latest failures of acme",
        "5.7.1 this list is closed",
        "given up",
        "mail retry --dead",
    ] {
        assert!(human.contains(part), "{part} in {human}");
    }
    sink.script(|_| Reply::Default);
    assert_eq!(app.roadmap(&["mail", "retry", "--workspace", "acme"]).json()[0]["retried"], 1);
    eventually("the busy one has it", || sink.count() == 2);
    assert_eq!(app.roadmap(&["mail", "retry", "--dead"]).json()[0]["retried"], 2);
    eventually("the listed one has it", || sink.count() == 3);
    eventually("all is settled", || all_settled(&app));
    assert_eq!(app.roadmap(&["mail", "retry", "--dead", "--workspace", "acme"]).json()[0]["retried"], 0);
    let body = app.acme.get_audit_entries("action=mail.retry").is_ok();
    let entries = body["audit_entries"].as_array().unwrap().iter().map(|entry| {
        assert_eq!((&entry["actor"]["kind"], &entry["channel"]), (&json!("operator"), &json!("command")));
        assert_eq!(entry["subject"], json!({ "kind": "mail", "id": null }));
        entry["changes"].clone()
    });
    let mails = |count: u64| json!([{ "field": "mails", "old": 0, "new": count }]);
    assert_eq!(entries.collect::<Vec<_>>(), [mails(2), mails(1)]);
    // A rejected recipient gets no mail, neither about this comment nor about the next.
    announce(&app.acme, &request, "Sooner");
    eventually("the next is sent", || sink.count() == 6);
    eventually("all is settled", || all_settled(&app));
    assert!(sink.received().iter().all(|mail| mail.to != ["gone@example.com"]));
    let unknown = app.roadmap(&["mail", "status", "--workspace", "nobody"]);
    assert!(!unknown.success && unknown.stderr.contains("no workspace `nobody`"), "{}", unknown.stderr);
}

/// Decision 6: a message that fails is retried with back-off.
/// Decision 6: a failing mail server never fails the API.
#[test]
fn an_unreachable_mail_server_slows_nothing_and_gets_all_when_it_is_back() {
    let sink = Sink::start();
    sink.stop();
    let app = app_with_smtp(&sink, "1s");
    let request = app.acme.feature_request("Dark mode");
    for voter in 0..20 {
        vote(&app.acme, &request, &format!("v{voter}@example.com"));
    }
    announce(&app.acme, &request, "Soon");
    let failed = || app.roadmap(&["mail", "status"]).json()[0]["failures"].as_array().unwrap().len();
    eventually("the mails were tried", || failed() > 0);
    assert_eq!(app.acme.get_tracks().status, 200);
    sink.restart();
    app.roadmap(&["mail", "retry"]).json();
    eventually("all have it", || {
        app.roadmap(&["mail", "retry"]).json();
        sink.count() == 20
    });
    eventually("all is settled", || all_settled(&app));
    assert_eq!(recipients(&sink.received()).len(), 20);
}

#[test]
fn a_refused_connection_is_no_try_of_a_mail() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::Connect => Reply::Custom("421 4.7.0 too many connections"),
        _ => Reply::Default,
    });
    let app = app_with_smtp(&sink, "5s");
    let request = app.acme.feature_request("Dark mode");
    for voter in 0..3 {
        vote(&app.acme, &request, &format!("v{voter}@example.com"));
    }
    announce(&app.acme, &request, "Soon");
    let failures = || app.roadmap(&["mail", "status"]).json()[0]["failures"].as_array().unwrap().clone();
    eventually("all wait for a connection", || failures().len() == 3);
    for failure in failures() {
        assert_eq!((&failure["attempts"], failure["next"].is_null()), (&json!(0), false), "{failure}");
        assert!(failure["reason"].as_str().unwrap().contains("421"), "{failure}");
    }
    sink.script(|_| Reply::Default);
    assert_eq!(app.roadmap(&["mail", "retry"]).json()[0]["retried"], 3);
    eventually("all have it", || sink.count() == 3 && all_settled(&app));
    assert_eq!(app.count("SELECT max(attempts) FROM outbox"), 1);
}

/// Counts mails per recipient. All mails of a recipient must have the same `Message-ID`.
fn recipients(received: &[Received]) -> BTreeMap<String, usize> {
    let mut identities: BTreeMap<String, String> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for mail in received {
        let [to] = mail.to.as_slice() else { panic!("one recipient") };
        let identity = header(&mail.data, "Message-ID");
        assert_eq!(identities.entry(to.clone()).or_insert_with(|| identity.clone()), &identity);
        *counts.entry(to.clone()).or_insert(0) += 1;
    }
    counts
}

/// Number of voters in tests with kills: enough that every kill interrupts deliveries.
fn voters() -> usize {
    usize::try_from(rounds(1_500, 10_000)).unwrap()
}

/// Most mails that one worker sends at a time.
const IN_FLIGHT: usize = 8;

/// Waits until every voter has a mail. Fails when no more mail arrives.
fn all_arrive(sink: &Sink) {
    loop {
        let received = sink.received();
        let missing = voters() - recipients(&received).len();
        if missing == 0 {
            return;
        }
        // Every check parses all mails, so it waits for several new ones.
        eventually("more arrives", || sink.count() >= received.len() + missing.min(200));
    }
}

fn many_voters(app: &App) -> Value {
    let request = app.acme.feature_request("Dark mode");
    app.data.add_voters(request["id"].as_str().unwrap(), voters());
    request
}

/// Decision 6: a killed worker loses no mail and duplicates at most the 8 being sent.
/// Decision 6: a duplicated mail has the same `Message-ID`.
/// Decision 7.
#[test]
fn a_killed_worker_loses_no_mail_and_sends_twice_only_what_was_in_flight() {
    const KILLS: usize = 10;
    let sink = Sink::start();
    // The lease of four seconds expires soon after each kill.
    let mut app = app_with_smtp(&sink, "1s");
    let request = many_voters(&app);
    announce(&app.acme, &request, "Soon");
    for kill in 0..KILLS {
        let before = sink.count();
        eventually("mail is on its way", || sink.count() > before + voters() / 100 + kill * voters() / 270);
        app.kill();
        app.restart();
    }
    all_arrive(&sink);
    eventually("all is settled", || all_settled(&app));
    let doubled: usize = recipients(&sink.received()).values().map(|count| count - 1).sum();
    println!("{} mails, {KILLS} kills, {doubled} mails doubled", voters());
    assert!(doubled <= KILLS * IN_FLIGHT, "{doubled} mails were doubled");
}

/// Decision 6: a worker that is stopped by a signal duplicates nothing.
#[test]
fn a_stopped_worker_sends_nothing_twice() {
    let sink = Sink::start();
    let mut app = app_with_smtp(&sink, "30s");
    let request = many_voters(&app);
    announce(&app.acme, &request, "Soon");
    for stop in 0..3 {
        let before = sink.count();
        eventually("mail is on its way", || sink.count() > before + 50 + 41 * stop);
        app.terminate();
        assert!(app.wait_for_exit().success());
        app.restart();
    }
    all_arrive(&sink);
    eventually("all is settled", || all_settled(&app));
    assert_eq!(recipients(&sink.received()), (0..voters()).map(|voter| (format!("v{voter}@example.com"), 1)).collect());
}

/// Decision 6: a worker sends the messages by SMTP.
/// Decision 7: `worker` (not in the decision) works.
/// Decision 7: `mail_worker` and `mail_timeout` (not in the decision) take effect.
/// Contract 4.8.
#[test]
fn separate_workers_share_the_mail() {
    let sink = Sink::start();
    let url = sink.url();
    let environment = [
        ("ROADMAP_SMTP_URL", url.as_str()),
        ("ROADMAP_MAIL_FROM", "hello@acme.example"),
        ("ROADMAP_MAIL_WORKER", "false"),
    ];
    let app = App::with(&[], &environment);
    let request = many_voters(&app);
    announce(&app.acme, &request, "Soon");
    let status = app.roadmap(&["mail", "status"]).json();
    assert_eq!((&status[0]["waiting"], &status[0]["audiences"], sink.count()), (&json!(0), &json!(1), 0));
    let workers: Vec<_> = (0..2).map(|_| app.worker(&environment)).collect();
    all_arrive(&sink);
    eventually("all is settled", || all_settled(&app));
    assert_eq!(sink.count(), voters());
    assert_eq!(recipients(&sink.received()).len(), voters());
    for worker in workers {
        assert!(worker.stop().success());
    }
}

/// Decision 7: `mail test`, `mail status` and `mail retry` work.
#[test]
fn a_test_mail_shows_the_smtp_dialog_and_the_error() {
    let login = Some(("ann".to_owned(), "secret".to_owned()));
    let sink = Sink::with_setup(Setup { login, ..Setup::default() });
    let app = App::start();
    let test = |login: &str| {
        let url = format!("smtp://{login}@127.0.0.1:{}", sink.port());
        let environment = [("ROADMAP_SMTP_URL", url.as_str()), ("ROADMAP_MAIL_FROM", "hello@acme.example")];
        app.roadmap_with_environment(&["mail", "test", "--to", "ops@acme.example"], &environment)
    };
    let good = test("ann:secret");
    assert!(good.success, "{}", good.stderr);
    for line in [
        "> EHLO",
        "< 235 2.7.0 Welcome",
        "> RCPT TO:<ops@acme.example>",
        "The server has accepted the mail to ops@acme.example.",
    ] {
        assert!(good.stdout.contains(line), "{line} in {}", good.stdout);
    }
    let wrong = test("ann:wrong");
    assert!(!wrong.success && wrong.stderr.contains("at AUTH: permanent error (535)"), "{}", wrong.stderr);
    assert!(!wrong.stdout.contains("wrong") && !wrong.stderr.contains("wrong") && !good.stdout.contains("secret"));
    let without = app.roadmap_with_environment(&["mail", "test", "--to", "ops@acme.example"], &[]);
    assert!(!without.success && without.stderr.contains("smtp_url is not set"), "{}", without.stderr);
    let nobody = app.roadmap_with_environment(&["mail", "test", "--to", "nobody"], &[]);
    assert!(nobody.stderr.contains("--to is not a valid e-mail address"), "{}", nobody.stderr);
    eventually("it has arrived", || sink.count() == 1);
    assert_eq!(header(&sink.received()[0].data, "Subject"), "Test of outgoing mail");
}

const NO_WORKER: (&str, &str) = ("ROADMAP_MAIL_WORKER", "false");

/// Queues a test mail for `acme` and waits for its result.
fn queue_test(app: &App, to: &str, flags: &[&str]) -> Finished {
    app.roadmap_with_environment(&[&["mail", "test", "--workspace", "acme", "--to", to], flags].concat(), &[])
}

/// Decision 7.
#[test]
fn a_queued_test_mail_is_sent_by_a_worker_and_the_response_is_shown() {
    let sink = Sink::start();
    let app = app_with_smtp(&sink, "5s");
    let good = queue_test(&app, "ops@acme.example", &[]);
    assert!(good.success, "{}", good.stderr);
    for part in ["to ops@acme.example is queued.", "It was sent at try 1.", "response: 250 2.0.0 Accepted"] {
        assert!(good.stdout.contains(part), "{part} in {}", good.stdout);
    }
    let received = sink.received();
    let [mail] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!(mail.to, ["ops@acme.example"]);
    assert_eq!(header(&mail.data, "Subject"), "Test of outgoing mail from Acme");
    assert_eq!(header(&mail.data, "From"), "\"Acme via Roadmap\" <hello@acme.example>");
    let id = good.stdout.split_whitespace().find(|word| word.starts_with("test.")).expect("an identity");
    assert_eq!(header(&mail.data, "Message-ID"), format!("<{id}@acme.roadmap.example.com>"));
    assert_eq!(header(&mail.data, "List-Unsubscribe"), "");
    assert_eq!(app.roadmap(&["mail", "status"]).json()[0]["sent"], 1);
    let unknown =
        app.roadmap_with_environment(&["mail", "test", "--workspace", "nobody", "--to", "ops@acme.example"], &[]);
    assert!(!unknown.success && unknown.stderr.contains("no workspace `nobody`"), "{}", unknown.stderr);
    // Flags of queued mail are rejected for a direct one.
    let direct = app.roadmap_with_environment(&["mail", "test", "--to", "ops@acme.example", "--no-wait"], &[]);
    assert!(!direct.success && direct.stderr.contains("--workspace"), "{}", direct.stderr);
}

/// Decision 7.
#[test]
fn a_queued_test_mail_that_is_not_sent_is_explained() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To("gone@acme.example") => Reply::Custom("550 5.1.1 no such user"),
        Step::To("busy@acme.example") => Reply::Custom("450 4.2.1 busy"),
        Step::To("slow@acme.example") => Reply::Stall(Duration::from_secs(600)),
        _ => Reply::Default,
    });
    let app = app_with_smtp(&sink, "60s");
    let fails = |to: &str, wait: &str, parts: &[&str]| {
        let failed = queue_test(&app, to, &["--wait", wait]);
        assert!(!failed.success, "{}", failed.stdout);
        for part in parts {
            assert!(failed.stderr.contains(part), "{part} in {}", failed.stderr);
        }
    };
    fails("gone@acme.example", "20s", &["given up at try 1: at RCPT TO: permanent error (550): 5.1.1 no such user"]);
    fails("busy@acme.example", "5s", &["was not sent within 5s, and is tried again at 20", "4.2.1 busy"]);
    fails("slow@acme.example", "5s", &["the mail server has not answered yet"]);
    // A failed delivery to an address that is not a customer's stops no customer's mail.
    assert_eq!(app.count("SELECT count(*) FROM customers WHERE mail_stopped_at IS NOT NULL"), 0);
}

/// Decision 7.
#[test]
fn a_queued_test_mail_waits_for_a_worker() {
    let app = App::with(&[], &[NO_WORKER]);
    let alone = queue_test(&app, "ops@acme.example", &["--wait", "1s"]);
    assert!(!alone.success && alone.stderr.contains("no worker has taken the mail within 1s"), "{}", alone.stderr);
    let queued = queue_test(&app, "ann@acme.example", &["--no-wait"]);
    assert!(queued.success && queued.stdout.ends_with("is queued.\n"), "{}{}", queued.stdout, queued.stderr);
    assert_eq!(app.roadmap(&["mail", "status"]).json()[0]["waiting"], 2);
    let worker = app.worker(&[]);
    let mails = wait_for_mail_files(&app, 2);
    assert_eq!(mails.into_keys().collect::<Vec<_>>(), ["ann@acme.example", "ops@acme.example"]);
    let finished = queue_test(&app, "eve@acme.example", &[]);
    assert!(finished.success && finished.stdout.contains("response: written to "), "{}", finished.stderr);
    assert!(worker.stop().success());
}

/// The mail server is silent for all voters. Their notifications, 20,000 in each of two workspaces, occupy all slots
/// that notifications may use. Test mails are still sent.
#[test]
fn urgent_mail_does_not_wait_for_notifications() {
    const VOTERS: usize = 20_000;
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To(to) if to.starts_with('v') => Reply::Stall(Duration::from_secs(600)),
        _ => Reply::Default,
    });
    // Longer than the test's timeout: a mail that waits for a silent server even once is too late.
    let app = app_with_smtp(&sink, "600s");
    let request = app.acme.feature_request("Dark mode");
    app.data.add_voters(request["id"].as_str().unwrap(), VOTERS);
    comment(&app.acme, &request, &json!({ "comment": { "content": "Soon" } }));
    let bolt = app.workspace("bolt");
    let bolt_id = "(SELECT id FROM workspaces WHERE subdomain = 'bolt')";
    let other = bolt.feature_request("Dark mode");
    comment(&bolt, &other, &json!({ "comment": { "content": "Soon" } }));
    let voters = |table: &str, columns: &str, values: &str| {
        format!(
            "INSERT INTO {table} (workspace_id, {columns}) SELECT {bolt_id}, {values} FROM {table} source
             WHERE workspace_id <> {bolt_id};"
        )
    };
    let request_id = format!("(SELECT id FROM feature_requests WHERE workspace_id = {bolt_id})");
    app.data.execute(
        &[
            voters("customers", "id, email, email_folded, created_at", "id, email, email_folded, created_at"),
            voters(
                "votes",
                "request_id, customer_id, subscribed, created_at",
                &format!("{request_id}, customer_id, subscribed, created_at"),
            ),
        ]
        .concat(),
    );
    notify_all_voters(&app, "true");
    let leased = "SELECT count(DISTINCT workspace_id) FROM outbox WHERE leased_until IS NOT NULL";
    eventually("notifications of both are leased", || app.count(leased) == 2);
    for number in 0..3 {
        for workspace in ["acme", "bolt"] {
            let to = format!("ops{number}@{workspace}.example");
            let sent = app.roadmap_with_environment(&["mail", "test", "--workspace", workspace, "--to", &to], &[]);
            assert!(sent.success, "{}", sent.stderr);
        }
    }
    assert_eq!(recipients(&sink.received()).len(), 6);
    let waiting: Vec<Value> = app.roadmap(&["mail", "status"]).json().as_array().unwrap().clone();
    assert!(waiting.iter().all(|status| status["waiting"] == json!(VOTERS)), "{waiting:?}");
}

/// After the migration, mail of the old tables is sent from the new table of messages: mails, held mails and
/// audiences.
#[test]
fn waiting_mail_survives_the_migration_to_messages() {
    const VOTERS: usize = 30;
    let environment = [NO_WORKER, ("ROADMAP_MAIL_PER_ADDRESS", "1/h")];
    let mut app = App::with(&[], &environment);
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, &request, "ann@example.com");
    for _ in 0..3 {
        announce(&app.acme, &request, "Soon");
    }
    let worker = app.worker(&environment);
    eventually("two are held", || app.count("SELECT count(*) FROM outbox WHERE digest_id IS NOT NULL") == 2);
    eventually("one is sent", || app.roadmap(&["mail", "status"]).json()[0]["sent"] == 1);
    assert!(worker.stop().success());
    let (few, many) = (app.acme.feature_request("Few"), app.acme.feature_request("Many"));
    for voter in ["few0@example.com", "few1@example.com"] {
        vote(&app.acme, &few, voter);
    }
    announce(&app.acme, &few, "Soon");
    app.data.add_voters(many["id"].as_str().unwrap(), VOTERS);
    announce(&app.acme, &many, "Soon");
    app.terminate();
    app.wait_for_exit();

    // Audiences named their feature request then.
    let request = format!(
        "(SELECT {} FROM comments WHERE {} = payload ->> 'comment')",
        uuid_text("comments.request_id"),
        uuid_text("comments.id")
    );
    app.data.execute(&format!(
        "UPDATE outbox SET payload = {} WHERE kind = 'comment_audience'",
        json_with("payload", "request", &request)
    ));
    for migration in ["20261125000610_name_requests_of_mail", "20261122000500_queue_messages"] {
        app.data.execute(&migration_undone(migration));
    }
    let count = |rows: &str| app.count(&format!("SELECT count(*) FROM {rows}"));
    assert_eq!(
        [
            count("outbox WHERE sent_at IS NOT NULL AND digest_at IS NULL"),
            count("outbox WHERE digest_at IS NOT NULL AND due_at = digest_at AND sent_at IS NULL"),
            count("outbox WHERE digest_at IS NULL AND sent_at IS NULL AND due_at = created_at AND attempts = 0"),
            count("outbox"),
            count("outbox_audiences"),
        ],
        [1, 2, 2, 5, 1]
    );
    // The hour is over.
    let long_ago = sql_timestamp("1770000000000");
    app.data.execute(&format!(
        "UPDATE outbox SET due_at = {long_ago}, digest_at = {long_ago} WHERE digest_at IS NOT NULL;
         UPDATE outbox SET attempts = 3, failure = '450 busy' WHERE digest_at IS NULL AND sent_at IS NULL"
    ));
    app.restart();
    let status = app.roadmap(&["mail", "status"]).json()[0].clone();
    assert_eq!(
        [&status["waiting"], &status["audiences"], &status["sent"], &status["dead"]],
        [&json!(4), &json!(1), &json!(1), &json!(0)]
    );
    assert_eq!(status["failures"].as_array().unwrap().len(), 2);
    let worker = app.worker(&environment);
    eventually("all is settled", || all_settled(&app));
    let mails = files(&app);
    assert_eq!(mails.len(), 1 + 1 + 2 + VOTERS);
    let digest =
        mails.iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("digest.1770000000000."));
    let digest = std::fs::read(digest.expect("the digest")).unwrap();
    assert_eq!(
        (header(&digest, "To"), header(&digest, "Subject")),
        ("ann@example.com".to_owned(), "2 updates from Acme".to_owned())
    );
    let attempts =
        "SELECT DISTINCT attempts FROM outbox JOIN customers ON customers.id = customer_id WHERE email LIKE 'few%'";
    assert_eq!(app.sql(attempts), ["4"]);
    assert!(worker.stop().success());
}

/// Decision 6: a failing mail server does not slow the API down: no request waits for it.
#[test]
fn a_comment_does_not_wait_for_the_mail_server() {
    let sink = Sink::start();
    sink.script(|_| Reply::Stall(Duration::from_secs(60)));
    let app = app_with_smtp(&sink, "30s");
    let request = app.acme.feature_request("Dark mode");
    for voter in 0..10 {
        vote(&app.acme, &request, &format!("v{voter}@example.com"));
    }
    // Every request gets a response although no mail can be sent: requests have a time limit of twenty seconds.
    for _ in 0..5 {
        announce(&app.acme, &request, "Soon");
    }
    assert_eq!(sink.count(), 0);
}

/// Copies the data of the only feature request of `acme` into every workspace whose subdomain begins with `w`.
fn copy_into_workspaces(app: &App) {
    let columns = |table: &str| -> Vec<String> {
        let query = if *ON_POSTGRES {
            format!(
                "SELECT column_name FROM information_schema.columns
                 WHERE table_schema = current_schema() AND table_name = '{table}' AND is_generated = 'NEVER'"
            )
        } else {
            format!("SELECT name FROM pragma_table_info('{table}')")
        };
        app.sql(&query)
            .into_iter()
            .filter(|column| !["workspace_id", "row_number"].contains(&column.as_str()))
            .collect()
    };
    for table in
        ["settings", "members", "lanes", "tracks", "customers", "feature_requests", "vote_tallies", "votes", "comments"]
    {
        let columns = columns(table);
        let (names, values) = (columns.join(", "), columns.iter().map(|column| format!("source.{column}")));
        app.data.execute(&format!(
            "INSERT INTO {table} (workspace_id, {names}) SELECT target.id, {} FROM {table} source
             JOIN workspaces home ON home.id = source.workspace_id AND home.subdomain = 'acme'
             JOIN workspaces target ON target.subdomain LIKE 'w%'",
            values.collect::<Vec<_>>().join(", ")
        ));
    }
}

/// Queues a notification of every comment for every voter in these workspaces.
fn notify_all_voters(app: &App, workspaces: &str) {
    let (comment, customer) = (uuid_text("comments.id"), uuid_text("votes.customer_id"));
    app.data.execute(&format!(
        "INSERT INTO outbox (workspace_id, id, kind, priority, customer_id, payload, created_at, due_at)
         SELECT votes.workspace_id, {comment} || '.' || {customer}, 'comment', 1, votes.customer_id, {payload},
                comments.created_at, comments.created_at FROM votes
         JOIN comments ON comments.workspace_id = votes.workspace_id AND comments.request_id = votes.request_id
         JOIN workspaces ON workspaces.id = votes.workspace_id AND {workspaces}",
        payload = json_object("comment", &comment),
    ));
}

/// With one unreadable row, and a mail server that is silent for the recipients of one workspace, the mail of 48
/// other workspaces is sent without delay.
///
/// Decision 6.
#[test]
fn no_workspace_s_mail_waits_for_that_of_another() {
    const WORKSPACES: usize = 50;
    const VOTERS: usize = 10;
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To(to) if to.ends_with("@silent.example") => Reply::Stall(Duration::from_secs(600)),
        _ => Reply::Default,
    });
    // Longer than the test's timeout: a mail that waits for a silent server even once is too late.
    let mut app = app_with_smtp(&sink, "600s");
    let request = app.acme.feature_request("Dark mode");
    app.data.add_voters(request["id"].as_str().unwrap(), VOTERS);
    comment(&app.acme, &request, &json!({ "comment": { "content": "Soon" } }));
    app.terminate();
    app.wait_for_exit();
    let workspace = |number: usize| format!("w{number:02}");
    let names: Vec<String> = (0..WORKSPACES).map(workspace).collect();
    let copies: Vec<String> = names
        .iter()
        .map(|name| {
            format!(
                "INSERT INTO workspaces (id, subdomain, created_at) SELECT {id}, '{name}', created_at FROM workspaces
                 WHERE subdomain = 'acme';",
                id = random_id()
            )
        })
        .collect();
    app.data.execute(&copies.concat());
    copy_into_workspaces(&app);
    // The lowest ids are processed first: the two that fail.
    let lowest = app.sql("SELECT subdomain FROM workspaces WHERE subdomain LIKE 'w%' ORDER BY id LIMIT 2");
    let [silent, unreadable] = lowest.as_slice() else { panic!("two workspaces") };
    let id_of = |name: &str| format!("(SELECT id FROM workspaces WHERE subdomain = '{name}')");
    for name in &names {
        let host = if name == silent { "silent.example".to_owned() } else { format!("{name}.example") };
        app.data.execute(&format!(
            "UPDATE customers SET email = replace(email, 'example.com', '{host}'),
                                  email_folded = replace(email_folded, 'example.com', '{host}')
             WHERE workspace_id = {}",
            id_of(name)
        ));
    }
    notify_all_voters(&app, "subdomain LIKE 'w%'");
    app.data.execute(&format!(
        "UPDATE outbox SET attempts = -7 WHERE workspace_id = {id} AND customer_id =
         (SELECT id FROM customers WHERE workspace_id = {id} AND email LIKE 'v7@%')",
        id = id_of(unreadable),
    ));
    let begun = Instant::now();
    app.restart();
    let expected = (WORKSPACES - 1) * VOTERS - 1;
    eventually("all others have their mail", || sink.count() >= expected);
    println!("{expected} mails of {} workspaces arrived after {:?}", WORKSPACES - 1, begun.elapsed());
    assert_eq!(sink.count(), expected);
    let status = app.roadmap(&["mail", "status", "--workspace", unreadable]).json()[0].clone();
    assert_eq!((&status["sent"], &status["dead"]), (&json!(VOTERS - 1), &json!(1)));
    let reason = status["failures"][0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("the row cannot be read: stored data is inconsistent: outbox.attempts of row "),
        "{reason}"
    );
}

#[test]
fn a_comment_over_the_daily_mail_limit_is_rejected() {
    let app = App::with(&[], &[("ROADMAP_MAIL_PER_DAY", "5")]);
    let request = app.acme.feature_request("Dark mode");
    for voter in 0..3 {
        vote(&app.acme, &request, &format!("v{voter}@example.com"));
    }
    announce(&app.acme, &request, "Soon");
    let body = json!({
        "comment": { "content": "Sooner" },
        "notify_all_voters": true,
        "operation_key": "announce",
    });
    let id = request["id"].as_str().unwrap();
    for _ in 0..2 {
        let refused = app.acme.post_comment(id, &body);
        refused.is_error(429, "Mails of the day are used up, the workspace has 5");
        assert_eq!(refused.header("retry-after"), Some("3600"));
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 1);
    // A comment without notifications is always allowed.
    comment(&app.acme, &request, &json!({ "comment": { "content": "Sooner" } }));
}

#[test]
fn mails_over_the_hourly_limit_are_sent_as_one_digest() {
    let app = App::with(&[], &[("ROADMAP_MAIL_PER_ADDRESS", "3/h")]);
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, &request, "ann@example.com");
    for number in 0..8 {
        announce(&app.acme, &request, &format!("<p>Comment &lt;{number}&gt;</p>"));
    }
    let held = "SELECT count(*) FROM outbox WHERE digest_id IS NOT NULL";
    eventually("five are held", || app.count(held) == 5 && files(&app).len() == 3);
    let status = || app.roadmap(&["mail", "status"]).json()[0].clone();
    assert_eq!((&status()["waiting"], &status()["sent"], &status()["dead"]), (&json!(5), &json!(3), &json!(0)));
    // The hour is over.
    let long_ago = sql_timestamp("1770000000000");
    app.data.execute(&format!("UPDATE outbox SET due_at = {long_ago} WHERE kind = 'comment_digest'"));
    eventually("the digest is sent", || all_settled(&app) && files(&app).len() == 4);
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let digest = files(&app).into_iter().find(|path| name(path).starts_with("digest.")).expect("a digest");
    let mail = std::fs::read(&digest).unwrap();
    assert_eq!(header(&mail, "Subject"), "5 updates from Acme");
    assert_eq!(header(&mail, "To"), "ann@example.com");
    assert_eq!(header(&mail, "List-Unsubscribe-Post"), "List-Unsubscribe=One-Click");
    assert_eq!(
        header(&mail, "Message-ID"),
        format!("<{}@acme.roadmap.example.com>", name(&digest).trim_end_matches(".eml"))
    );
    let (text, html) = bodies(&parse_mail(&mail).unwrap());
    for number in 3..8 {
        assert!(text.contains(&format!("\nComment <{number}>")), "{number} in {text}");
        assert!(html.contains(&format!(">Comment &#60;{number}&#62;</div>")), "{number} in {html}");
    }
    assert!(text.matches(request["url"].as_str().unwrap()).count() == 5 && !text.contains("more\n"), "{text}");
    assert_eq!(status()["sent"], 8);
    // The unsubscribe link of a digest stops all mail.
    let reader = Client { key: None, ..app.acme.clone() };
    assert_eq!(reader.request("POST", &unsubscribe_link(&mail), &[], None).unwrap().status, 200);
    announce(&app.acme, &request, "One more");
    assert_eq!(app.count("SELECT count(*) FROM outbox WHERE due_at IS NOT NULL"), 0);
}

#[test]
fn mail_is_from_the_product_via_the_service() {
    let app = App::with(&[], &[("ROADMAP_SERVICE_NAME", "Wishes")]);
    let product = json!({ "setting": { "product_name": "ceo@bank.example\" <ceo@bank.example>" } });
    assert_eq!(app.acme.patch_setting(&product).status, 200);
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, &request, "ann@example.com");
    announce(&app.acme, &request, "Soon");
    let mails = wait_for_mail_files(&app, 1);
    let from = header(&mails["ann@example.com"], "From");
    assert_eq!(from, "\"ceo bank.example ceo bank.example via Wishes\" <noreply@roadmap.example.com>");
}

/// Mail has the sender's name that the operator gave the workspace, its address for replies, and its look, in the language
/// of the customer's last visit.
#[test]
fn mail_is_that_of_the_workspace() {
    let app = App::start();
    app.roadmap(&["workspace", "set", "acme", "--sender-name", "Acme Desk"]);
    let portal = json!({ "reply_to": "help@acme.example", "accent_color": "#7a3f9d", "languages": ["en", "de"] });
    app.acme.patch_portal(&json!({ "portal": portal })).is_ok();
    let request = app.acme.feature_request("Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    ann.submit("/feature_requests/1-dark-mode/vote?lang=de", &[]);
    vote(&app.acme, &request, "bob@example.com");
    announce(&app.acme, &request, "Soon");
    eventually("both are sent", || all_settled(&app));
    let mails: Vec<Vec<u8>> = files(&app).iter().map(|file| std::fs::read(file).unwrap()).collect();
    for (to, subject, lead) in [
        ("ann@example.com", "Olga hat geantwortet: Dark mode", "Olga von Acme hat"),
        ("bob@example.com", "Olga answered: Dark mode", "Olga from Acme answered"),
    ] {
        let about = |mail: &&Vec<u8>| header(mail, "To") == to && !header(mail, "List-Unsubscribe").is_empty();
        let mail = mails.iter().find(about).expect("a notification");
        assert_eq!(header(mail, "Subject"), subject);
        assert_eq!(header(mail, "From"), "\"Acme Desk\" <noreply@roadmap.example.com>");
        assert_eq!(header(mail, "Reply-To"), "help@acme.example");
        let (text, html) = bodies(&parse_mail(mail).unwrap());
        assert!(text.starts_with(lead), "{text}");
        assert!(html.contains("background-color:#7a3f9d"), "{html}");
    }
}
