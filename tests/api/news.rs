//! Mail about all changelogs, for anybody with an address.

use serde_json::json;

use crate::app::{App, Client, eventually};
use crate::browser::{Browser, sign_in_mails};
use crate::mail::{all_settled, files, header, parts, unsubscribe_link};

/// Publishes a changelog about nothing, with mail.
fn publish(app: &App, title: &str) {
    let fields = json!({ "changelog": { "title": title, "content": "New" } });
    let body = app.acme.post_changelog(&fields).is_ok();
    let id = body["changelog"]["id"].as_str().expect("an id").to_owned();
    app.acme.post_publish(&id, &json!({ "notify_subscribers": true })).is_ok();
    eventually("all is settled", || all_settled(app));
}

/// The changelogs that an address has got.
fn changelogs(app: &App, email: &str) -> Vec<Vec<u8>> {
    let about = files(app).into_iter().filter(|path| path.to_string_lossy().contains("/changelog."));
    let mails = about.map(|path| std::fs::read(path).expect("a mail"));
    mails.filter(|mail| header(mail, "To") == email).collect()
}

/// A visitor confirms the address by mail (double opt-in), gets each changelog, and stops it by its link.
#[test]
fn a_visitor_gets_news_after_a_confirmation() {
    let app = App::start();
    let visitor = Browser::new(&app);
    assert!(visitor.page("/changelogs").contains("href=\"/news\""));
    assert!(visitor.page("/news").contains("Each changelog of Acme by mail."));
    for wrong in ["", "ann"] {
        let refused = visitor.post("/news", &[("email", wrong)]);
        assert_eq!(refused.status, 422);
        assert!(refused.text().contains(&format!("value=\"{wrong}\"")), "{}", refused.text());
    }
    let robot = visitor.post("/news", &[("email", "ann@example.com"), ("leave_blank", "x")]);
    assert_eq!(robot.status, 422);
    assert_eq!(visitor.submit("/news", &[("email", "ann@example.com")]), "/sign-in/sent");
    let [asked] = sign_in_mails(&app, "ann@example.com", 1).try_into().ok().unwrap();
    assert!(asked.subject.starts_with("Confirm that you want mail about news from Acme"), "{}", asked.subject);
    // Without the confirmation, there is none.
    publish(&app, "1.0");
    assert_eq!(changelogs(&app, "ann@example.com").len(), 0);
    assert!(visitor.page(&asked.path).contains("Sign in and get news"));
    assert_eq!(visitor.submit(&asked.path, &[("choice", "act")]), "/changelogs?done=news");
    assert!(visitor.page("/changelogs?done=news").contains("You get a mail about each changelog from now on."));
    assert!(visitor.page("/news").contains("You get mail about news already."));
    assert!(visitor.page("/account").contains("name=\"news\" value=\"1\" checked"));
    publish(&app, "2.0");
    let [mail] = changelogs(&app, "ann@example.com").try_into().unwrap();
    let (text, _) = parts(&mail);
    assert!(text.contains("because you asked for mail about news from Acme"), "{text}");
    // The page behind the link stops news, with a way back; a mail program stops them at once.
    let link = unsubscribe_link(&mail);
    let path = visitor.get(&link).header("location").expect("a path").to_owned();
    let page = visitor.page(&path);
    assert!(page.contains("Stop mail about news") && !page.contains("Stop mail about changelogs"), "{page}");
    let stopped = visitor.submit(&path, &[("stop", "news")]);
    let page = visitor.page(&stopped);
    assert!(page.contains("You get no more mail about news."), "{page}");
    let settings = stopped.split('?').next().unwrap();
    visitor.submit(settings, &[("requests", "1"), ("changelogs", "1"), ("news", "1")]);
    assert!(visitor.page("/account").contains("name=\"news\" value=\"1\" checked"));
    let program = Client { key: None, ..app.acme.clone() };
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(program.request("POST", &link, &form, Some(b"List-Unsubscribe=One-Click")).unwrap().status, 200);
    publish(&app, "3.0");
    assert_eq!(changelogs(&app, "ann@example.com").len(), 1);
}

/// Somebody who is signed in gets news at once. On a portal that is not for everybody, a visitor is asked to sign in.
#[test]
fn news_are_for_those_who_may_see_the_portal() {
    let app = App::start();
    let bo = Browser::signed_in(&app, "bo@example.com");
    assert!(!bo.page("/news").contains("name=\"email\""));
    assert_eq!(bo.submit("/news", &[]), "/changelogs?done=news");
    publish(&app, "1.0");
    assert_eq!(changelogs(&app, "bo@example.com").len(), 1);
    assert_eq!(app.acme.patch_portal(&json!({ "portal": { "visibility": "private" } })).status, 200);
    let visitor = Browser::new(&app);
    assert_eq!(visitor.get("/news").status, 303);
    assert_eq!(visitor.post("/news", &[("email", "ann@example.com")]).status, 303);
}
