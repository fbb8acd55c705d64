//! Mail to team members about what customers write, from the post to the mailbox and back.

use std::collections::BTreeSet;

use serde_json::json;

use crate::app::{App, Client, eventually};
use crate::browser::Browser;
use crate::mail::{files, header, parts, unsubscribe_link};

const INES: &str = "ines@acme.example";

/// Starts a service with a member, who has made a choice.
fn started(choice: &str) -> (App, Browser) {
    let app = App::start();
    let add = ["member", "add", "--workspace", "acme", "--email", INES, "--name", "Ines"];
    app.roadmap(&add).json();
    let ines = Browser::signed_in(&app, INES);
    if !choice.is_empty() {
        assert_eq!(ines.submit("/account/mail", &[("team", choice)]), "/account?done=mail-saved");
    }
    (app, ines)
}

/// The mails to the member about what customers write.
fn team_mails(app: &App) -> Vec<Vec<u8>> {
    let team = files(app).into_iter().filter(|path| path.to_string_lossy().contains("/team."));
    let mails = team.map(|path| std::fs::read(path).expect("a mail"));
    mails.filter(|mail| header(mail, "To") == INES).collect()
}

fn wait_for_team_mails(app: &App, expected: usize) -> Vec<Vec<u8>> {
    eventually("the member is told", || team_mails(app).len() >= expected);
    let mails = team_mails(app);
    assert_eq!(mails.len(), expected);
    mails
}

fn comment(app: &App, email: &str, content: &str) {
    let body = json!({ "comment": { "content": content }, "customer": { "email": email } });
    app.acme.post_comment("1", &body).is_ok();
}

/// Addition 5: each new request and reply within minutes, in one mail, which stops by its own link and comes back.
#[test]
fn a_member_hears_of_what_customers_write() {
    let (app, ines) = started("each");
    let page = ines.page("/account");
    assert!(page.contains("name=\"team\" value=\"each\" checked"), "{page}");
    app.acme.feature_request("Dark mode");
    comment(&app, "ann@example.com", "My eyes");
    app.data.age_posts();
    let [mail] = wait_for_team_mails(&app, 1).try_into().unwrap();
    assert_eq!((header(&mail, "To").as_str(), header(&mail, "List-Unsubscribe-Post").is_empty()), (INES, false));
    assert_eq!(header(&mail, "Subject"), "1 new feature request, 1 new comment");
    let (text, html) = parts(&mail);
    for part in ["Dark mode", "A customer", "My eyes", "/admin/feature_requests/1-dark-mode", "/account#mail"] {
        assert!(text.contains(part) && html.contains(part), "{part}: {text}");
    }
    // The link leads to the page, whose button stops the mail, with a way back.
    let link = unsubscribe_link(&mail);
    let visitor = Browser::new(&app);
    let asked = visitor.get(&link);
    assert_eq!(asked.status, 303);
    let path = asked.header("location").expect("a path").to_owned();
    let page = visitor.page(&path);
    assert!(page.contains("Stop mail for the team") && page.contains(INES), "{page}");
    let stopped = visitor.submit(&path, &[("team", "nothing")]);
    let page = visitor.page(&stopped);
    assert!(page.contains("You get no more mail about what customers write."), "{page}");
    assert!(page.contains("name=\"team\" value=\"each\"") && page.contains("href=\"/account#mail\""), "{page}");
    assert!(ines.page("/account").contains("value=\"nothing\" checked"));
    comment(&app, "ann@example.com", "While it is off");
    app.data.age_posts();
    visitor.submit(&path, &[("team", "each")]);
    assert!(ines.page("/account").contains("value=\"each\" checked"));
    // What was written meanwhile is not told.
    comment(&app, "bo@example.com", "Me too");
    app.data.age_last_comment();
    let mails = wait_for_team_mails(&app, 2);
    let subjects: BTreeSet<String> = mails.iter().map(|mail| header(mail, "Subject")).collect();
    let expected = ["1 new comment: Dark mode", "1 new feature request, 1 new comment"];
    assert_eq!(subjects, expected.map(str::to_owned).into());
    // A mail program stops it with one request.
    let program = Client { key: None, ..app.acme.clone() };
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    let done = program.request("POST", &link, &form, Some(b"List-Unsubscribe=One-Click")).unwrap();
    assert_eq!(done.status, 200);
    assert!(ines.page("/account").contains("value=\"nothing\" checked"));
}

/// A member who has chosen nothing gets a daily mail, about what happened since the last one.
#[test]
fn a_new_member_gets_a_daily_mail() {
    let (app, ines) = started("");
    assert!(ines.page("/account").contains("value=\"daily\" checked"));
    assert!(ines.page("/account").contains("At 8:00 (UTC)."));
    app.acme.feature_request("Dark mode");
    app.data.age_posts();
    let [mail] = wait_for_team_mails(&app, 1).try_into().unwrap();
    assert_eq!(header(&mail, "Subject"), "1 new feature request: Dark mode");
}

/// Whoever has answered, also by `author_email` of the API, hears of replies to it and of nothing else.
#[test]
fn replies_to_what_a_member_answered() {
    let (app, _ines) = started("answered");
    app.acme.feature_request("Dark mode");
    app.acme.feature_request("Another one");
    let answer = json!({ "comment": { "content": "Soon" }, "author_email": INES });
    app.acme.post_comment("1", &answer).is_ok();
    comment(&app, "ann@example.com", "Great");
    let other = json!({ "comment": { "content": "Not this" }, "customer": { "email": "ann@example.com" } });
    app.acme.post_comment("2", &other).is_ok();
    app.data.age_posts();
    let [mail] = wait_for_team_mails(&app, 1).try_into().unwrap();
    assert_eq!(header(&mail, "Subject"), "1 new comment: Dark mode");
    let (text, _) = parts(&mail);
    assert!(text.contains("Great") && !text.contains("Not this"), "{text}");
}

/// A link is for one member of one workspace and for nothing else.
#[test]
fn links_of_members_and_customers_are_not_interchangeable() {
    let (app, ines) = started("each");
    app.acme.feature_request("Dark mode");
    app.data.age_posts();
    let [mail] = wait_for_team_mails(&app, 1).try_into().unwrap();
    let link = unsubscribe_link(&mail);
    let program = Client { key: None, ..app.acme.clone() };
    let post = |path: &str| {
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        program.request("POST", path, &form, Some(b"List-Unsubscribe=One-Click")).unwrap().status
    };
    let as_customer = link.replace("?kind=team", "");
    assert_eq!((post(&as_customer), program.get(&as_customer).status), (404, 404));
    let settings = as_customer.replace("/unsubscribe/", "/mail/");
    assert_eq!(Browser::new(&app).get(&settings).status, 404);
    app.acme.vote("1", "ann@example.com");
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    app.acme.post_comment("1", &body).is_ok();
    let to_customers = || files(&app).into_iter().filter(|path| !path.to_string_lossy().contains("/team."));
    eventually("the customer has mail", || to_customers().count() > 0);
    let customers = to_customers();
    let [customer]: [_; 1] = customers.collect::<Vec<_>>().try_into().unwrap();
    let of_customer = unsubscribe_link(&std::fs::read(customer).unwrap());
    let forged = format!("{}?kind=team", of_customer.split('?').next().unwrap());
    assert_eq!((post(&forged), program.get(&forged).status), (404, 404));
    assert!(ines.page("/account").contains("value=\"each\" checked"));
    // A removed member has no link any more.
    app.roadmap(&["member", "remove", "--workspace", "acme", INES]);
    assert_eq!(post(&link), 404);
}
