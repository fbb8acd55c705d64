//! What people do on the pages: sign in, vote, comment, submit ideas, subscribe, and what protects them.

use serde_json::json;

use crate::app::{App, eventually, in_parallel};
use crate::browser::{Browser, hidden, path_of, sign_in_mails};

/// Creates a feature request and returns its ID and the path of its page.
fn request(app: &App, title: &str) -> (String, String) {
    let request = app.acme.feature_request(title);
    (request["id"].as_str().unwrap().to_owned(), path_of(request["url"].as_str().unwrap()))
}

fn votes(app: &App, id: &str) -> i64 {
    app.acme.detail(id)["votes_count"].as_i64().unwrap()
}

/// Portal: a kept action is shown in full and done when the link is confirmed; GET and HEAD consume nothing; a link
/// works once.
#[test]
fn a_visitor_s_vote_comes_along_with_the_sign_in() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let browser = Browser::new(&app);
    let response = browser.post(&format!("{path}/vote"), &[]);
    assert_eq!(response.status, 200);
    assert!(
        response.text().contains("E-mail address") && response.text().contains("Send me a code"),
        "{}",
        response.text()
    );
    assert!(response.text().contains("your vote counts when you confirm it there."), "{}", response.text());
    let response = browser.post(&format!("{path}/unvote"), &[]).text();
    assert!(response.contains("the vote is removed when you confirm it there."), "{response}");
    let sent = browser.submit(&format!("{path}/vote"), &[("email", "Ann@Example.com")]);
    assert_eq!(sent, "/sign-in/sent");
    let mail = sign_in_mails(&app, "Ann@Example.com", 1).remove(0);
    assert!(mail.subject.contains(&mail.code[..2]) && !mail.subject.contains(&mail.code[..4]), "{}", mail.subject);
    // Opening the link shows the action and changes nothing, however often.
    let elsewhere = Browser::new(&app);
    for method in ["GET", "HEAD", "GET"] {
        assert_eq!(elsewhere.send(method, &mail.path, &[], None).status, 200);
    }
    let page = elsewhere.page(&mail.path);
    for part in ["Dark mode", "Sign in and vote", "Only sign in", "This was not me", "Ann@Example.com"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(votes(&app, &id), 0);
    let next = elsewhere.submit(&mail.path, &[("choice", "act")]);
    assert_eq!(next, format!("{path}?done=voted"));
    assert_eq!(votes(&app, &id), 1);
    let page = elsewhere.page(&next);
    assert!(page.contains("role=\"status\"") && page.contains("Remove vote for Dark mode"), "{page}");
    // The link is used up.
    for browser in [&browser, &elsewhere] {
        assert_eq!(browser.get(&mail.path).status, 404);
        assert_eq!(browser.post(&mail.path, &[("choice", "act")]).status, 404);
    }
    assert!(!browser.has_cookie("__Host-session") && elsewhere.has_cookie("__Host-session"));
    // Who is signed in does not need a new one, and goes on.
    let (new, known) = (browser.get(&mail.path).text(), elsewhere.get(&mail.path).text());
    assert!(new.contains("Send me a code") && !new.contains("You are signed in already"), "{new}");
    assert!(known.contains("You are signed in already") && known.contains("Ann@Example.com"), "{known}");
    assert!(known.contains("href=\"/\">Go on</a>") && !known.contains("Send me a code"), "{known}");
    // From now on one click is enough.
    assert_eq!(elsewhere.submit(&format!("{path}/unvote"), &[]), format!("{path}?done=unvoted"));
    assert_eq!(votes(&app, &id), 0);
}

/// Portal: after the first confirmed action, a page asks for a name, which is optional. One's own posts say so to oneself.
#[test]
fn somebody_who_takes_part_is_asked_for_a_name() {
    const QUESTION: &str = "How shall we call you?";
    let app = App::start();
    let (_, path) = request(&app, "Dark mode");
    let ann = Browser::new(&app);
    ann.submit(&format!("{path}/comments"), &[("email", "ann@example.com"), ("content", "Please!")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    let landing = ann.submit(&mail.path, &[("choice", "act")]);
    let page = ann.page(&landing);
    assert!(page.contains(QUESTION) && page.contains("<h3 dir=\"auto\">You</h3>"), "{page}");
    // No answer is one, too, and no other page asks.
    let next = landing.split_once('?').unwrap().0.to_owned();
    assert_eq!(ann.submit("/account/name", &[("name", " "), ("next", &landing)]), next);
    for page in [&next, "/", "/account"] {
        assert!(!ann.page(page).contains(QUESTION), "{page}");
    }
    // What cannot be a name is shown again.
    let refused = ann.post("/account/name", &[("name", "https://spam.example"), ("next", &landing)]);
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("https://spam.example\""), "{}", refused.text());
    // Neither leads to another site.
    for elsewhere in ["https://evil.example/", "//evil.example", ""] {
        assert_eq!(ann.submit("/account/name", &[("name", ""), ("next", elsewhere)]), "/account");
    }
    let named = ann.submit("/account/name", &[("name", " Ann Lee "), ("next", &landing)]);
    assert_eq!(named, format!("{next}?done=named"));
    let page = ann.page(&named);
    let own = "<h3 dir=\"auto\">Ann Lee</h3><span class=\"badge\">You</span>";
    assert!(page.contains("Your name is saved.") && page.contains(own) && !page.contains(QUESTION), "{page}");
    assert_eq!(app.acme.get_customers("").is_ok()["customers"][0]["name"], "Ann Lee");
    // Others see the name only. Who has one is not asked, nor is a member.
    let bob = Browser::new(&app).page(&path);
    assert!(bob.contains("<h3 dir=\"auto\">Ann Lee</h3>") && !bob.contains(">You<"), "{bob}");
    assert!(!ann.page(&landing).contains(QUESTION));
    let olga = Browser::signed_in(&app, "olga@acme.example");
    assert!(!olga.page(&olga.submit(&format!("{path}/vote"), &[])).contains(QUESTION));
    // Nobody who is not signed in has a name.
    assert_eq!(Browser::new(&app).post("/account/name", &[("name", "Eve")]).status, 303);
    // One's own idea says so as well, also while it waits for approval.
    app.acme.patch_portal(&json!({ "portal": { "moderation": true } })).is_ok();
    let idea = ann.submit("/feature_requests/new", &[("title", "Undo send"), ("description", "")]);
    let page = ann.page(&idea);
    assert!(page.contains("<bdi>Ann Lee</bdi><span class=\"badge\">You</span>"), "{idea} {page}");
    ann.submit(&format!("{path}/comments"), &[("content", "Again")]);
    assert_eq!(ann.page(&path).matches("<span class=\"badge\">You</span>").count(), 2);
}

/// Portal: the code works in the browser that asked, with five tries.
#[test]
fn a_code_works_in_the_browser_that_asked() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let (browser, other) = (Browser::new(&app), Browser::new(&app));
    let fields = [("email", "ann@example.com"), ("content", "**Please!**")];
    browser.submit(&format!("{path}/comments"), &fields);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    for wrong in ["", "AAAA-AAAA", &mail.code[..7]] {
        let refused = browser.post("/sign-in/sent", &[("code", wrong)]);
        assert_eq!(refused.status, 422, "{wrong}");
        assert!(refused.text().contains("There is a problem") && refused.text().contains("<title>Error: "), "{wrong}");
    }
    assert_eq!(other.post("/sign-in/sent", &[("code", &mail.code)]).status, 422);
    // As phones and mail programs write it.
    let code = format!("\u{2068}{}\u{2069}\u{a0}", mail.code.to_lowercase().replace('-', "\u{2013}"));
    let next = browser.submit("/sign-in/sent", &[("code", &code)]);
    assert_eq!(next, format!("{path}?done=commented"));
    let comments = app.acme.get_comments(&id, "").json();
    assert_eq!(comments["comments"][0]["content"], "<p><strong>Please!</strong></p>\n");
    assert_eq!(browser.post("/sign-in/sent", &[("code", &mail.code)]).status, 422);
    assert_eq!(browser.get(&mail.path).status, 404);
}

/// Portal: a slash behind a link leads to its page.
#[test]
fn a_slash_behind_a_link_leads_to_its_page() {
    let app = App::start();
    let browser = Browser::new(&app);
    browser.submit("/sign-in", &[("email", "ann@example.com")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    let slashed = format!("{}/", mail.path);
    let page = browser.page(&slashed);
    assert!(page.contains("ann@example.com") && page.contains(&format!("action=\"{}\"", mail.path)), "{page}");
    browser.submit(&mail.path, &[("choice", "only")]);
    let gone = Browser::new(&app).get(&slashed);
    assert_eq!(gone.status, 404);
    assert!(gone.text().contains("This link does not work any more") && gone.text().contains("Send me a code"));
}

/// Portal: without cookies, the page after the sign-in says so.
#[test]
fn without_cookies_the_page_after_the_sign_in_says_what_is_missing() {
    let app = App::start();
    let browser = Browser::new(&app);
    browser.submit("/sign-in", &[("email", "ann@example.com")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    let next = browser.submit(&mail.path, &[("choice", "only")]);
    assert_eq!(next, "/?done=signed-in");
    assert!(browser.page(&next).contains("You are signed in."));
    // A browser that has dropped the cookie.
    let (forgetful, needed) = (Browser::new(&app), "your browser has not accepted the cookie of this site");
    let page = forgetful.page(&next);
    assert!(page.contains(needed) && !page.contains("You are signed in."), "{page}");
    // A closed portal asks it to sign in again.
    app.acme.patch_portal(&json!({ "portal": { "visibility": "off" } })).is_ok();
    eventually("the portal is closed", || forgetful.get("/").status == 303);
    let again = forgetful.get("/?done=signed-in").header("location").unwrap().to_owned();
    assert!(forgetful.page(&again).contains(needed), "{again}");
    assert!(!forgetful.page("/sign-in?next=%2F").contains(needed));
}

/// Portal.
#[test]
fn codes_cannot_be_guessed() {
    let app = App::start();
    let browser = Browser::new(&app);
    browser.submit("/sign-in", &[("email", "ann@example.com")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    let copies: Vec<Browser> = (0..8).map(|_| browser.duplicate()).collect();
    let copies: Vec<std::sync::Mutex<Browser>> = copies.into_iter().map(std::sync::Mutex::new).collect();
    let refused =
        in_parallel(8, |number| copies[number].lock().unwrap().post("/sign-in/sent", &[("code", "AAAA-AAAA")]).status);
    assert_eq!(refused, [422; 8]);
    // Even the right one is too late now, but the link still works.
    assert_eq!(browser.post("/sign-in/sent", &[("code", &mail.code)]).status, 422);
    assert_eq!(browser.submit(&mail.path, &[("choice", "only")]), "/?done=signed-in");
}

/// Portal: used, expired, changed, denied or foreign links are 404 with the offer of a new one; `next` leads to no
/// other host.
#[test]
fn links_that_are_expired_changed_denied_or_foreign_sign_nobody_in() {
    let app = App::start();
    app.workspace("beta");
    let browser = Browser::new(&app);
    browser.submit("/sign-in", &[("email", "ann@example.com"), ("next", "/feature_requests")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    let changed = format!("{}A", &mail.path[..mail.path.len() - 1]);
    let changed = if changed == mail.path { format!("{}B", &mail.path[..mail.path.len() - 1]) } else { changed };
    let refuses = |browser: &Browser, path: &str| {
        let page = browser.get(path);
        assert_eq!(page.status, 404, "{path}");
        assert!(page.text().contains("Send me a code"), "{}", page.text());
        assert_eq!(browser.post(path, &[("choice", "only")]).status, 404, "{path}");
        assert!(!browser.has_cookie("__Host-session"));
    };
    refuses(&browser, &changed);
    refuses(&browser, "/sign-in/nonsense");
    refuses(&Browser::at(&app, "beta"), &mail.path);
    assert_eq!(browser.submit(&mail.path, &[("choice", "deny")]), "/sign-in?done=denied");
    refuses(&browser, &mail.path);
    // A link to another host is not followed.
    for next in ["https://evil.example/", "//evil.example", "/\\evil.example"] {
        let browser = Browser::signed_in(&app, "bob@example.com");
        let (_, path) = request(&app, "Next");
        let location = browser.submit(&format!("{path}/vote"), &[("next", next)]);
        assert_eq!(location, format!("{path}?done=voted"), "{next}");
    }
    browser.submit("/sign-in", &[("email", "ann@example.com")]);
    let mail = sign_in_mails(&app, "ann@example.com", 2).remove(1);
    let age = "UPDATE sign_ins SET created_at = ";
    app.data.execute(&format!("{age}{}", crate::database::sql_timestamp("0")));
    refuses(&browser, &mail.path);
}

/// Portal: forms of other origins change nothing, also those of a sibling workspace.
#[test]
fn forms_of_other_origins_change_nothing() {
    let app = App::start();
    app.workspace("beta");
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    let member = Browser::signed_in(&app, "olga@acme.example");
    let comment = "01890a5d-ac96-774b-bcce-b302099a8057";
    let forms: [(&str, &[(&str, &str)]); 12] = [
        (&format!("{path}/vote"), &[]),
        (&format!("{path}/unvote"), &[]),
        (&format!("{path}/comments"), &[("content", "from elsewhere")]),
        (&format!("{path}/subscription"), &[("state", "on")]),
        (&format!("{path}/approve"), &[]),
        (&format!("/comments/{comment}/approve"), &[]),
        (&format!("/comments/{comment}/discard"), &[]),
        ("/feature_requests/new", &[("title", "from elsewhere")]),
        ("/sign-in", &[("email", "eve@example.com")]),
        ("/sign-out", &[]),
        ("/account", &[("name", "from elsewhere")]),
        ("/account/sessions", &[]),
    ];
    let before = (app.count("SELECT count(*) FROM sessions"), app.count("SELECT count(*) FROM sign_ins"));
    for (path, fields) in forms {
        for headers in [
            &[][..],
            &[("Origin", "null")],
            &[("Origin", "https://evil.example")],
            &[("Origin", "https://beta.roadmap.example.com")],
            &[("Origin", "http://acme.roadmap.example.com")],
            &[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://acme.roadmap.example.com")],
            &[("Sec-Fetch-Site", "same-site"), ("Origin", "https://acme.roadmap.example.com")],
            &[("Origin", "https://evil.example"), ("X-Forwarded-Host", "evil.example")],
        ] {
            for browser in [&ann, &member] {
                let refused = browser.post_with(path, fields, headers);
                assert_eq!(refused.status, 403, "{path} {headers:?}");
                assert!(refused.text().contains("This form came from somewhere else"));
            }
        }
    }
    let comments = app.acme.get_comments(&id, "").json();
    assert_eq!((votes(&app, &id), &comments["total_count"]), (0, &json!(0)));
    assert_eq!(app.acme.get_feature_requests("query=elsewhere").json()["feature_requests"], json!([]));
    let after = (app.count("SELECT count(*) FROM sessions"), app.count("SELECT count(*) FROM sign_ins"));
    assert_eq!(before, after);
    // The same form of the own origin counts, with either header.
    let location = ann.post_with(&format!("{path}/vote"), &[], &[("Sec-Fetch-Site", "same-origin")]);
    assert_eq!((location.status, votes(&app, &id)), (303, 1));
}

/// Portal: two POSTs of one form do one thing.
#[test]
fn a_form_that_is_sent_twice_does_one_thing() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    let key = hidden(&ann.page(&path), "operation_key");
    let fields = [("operation_key", key.as_str()), ("content", "Only once")];
    let copies: Vec<std::sync::Mutex<Browser>> = (0..8).map(|_| std::sync::Mutex::new(ann.duplicate())).collect();
    let locations =
        in_parallel(8, |number| copies[number].lock().unwrap().submit(&format!("{path}/comments"), &fields));
    assert!(locations.iter().all(|location| *location == format!("{path}?done=commented")), "{locations:?}");
    assert_eq!(app.acme.get_comments(&id, "").json()["total_count"], 1);
    let key = hidden(&ann.page("/feature_requests/new?title=Moon"), "operation_key");
    let idea = [("operation_key", key.as_str()), ("title", "Moon phases"), ("description", "")];
    let (one, other) = (ann.submit("/feature_requests/new", &idea), ann.submit("/feature_requests/new", &idea));
    assert_eq!(one, other);
    assert_eq!(app.count("SELECT count(*) FROM feature_requests"), 2);
    // The key of somebody else's form is none.
    let bob = Browser::signed_in(&app, "bob@example.com");
    bob.submit(&format!("{path}/comments"), &fields);
    assert_eq!(app.acme.get_comments(&id, "").json()["total_count"], 2);
}

/// Portal: 422 has everything that was typed, and nothing typed is lost.
#[test]
fn nothing_typed_is_lost() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let visitor = Browser::new(&app);
    let words = "My <careful> \"words\" & more";
    let escaped = "My &#60;careful&#62; &#34;words&#34; &#38; more";
    // A missing or invalid address.
    for email in ["", "nonsense"] {
        let page = visitor.post(&format!("{path}/comments"), &[("content", words), ("email", email)]);
        assert_eq!(page.status, 422);
        for part in [escaped, "There is a problem", "href=\"#email\"", "aria-invalid=\"true\"", "<title>Error: "] {
            assert!(page.text().contains(part), "{part}: {}", page.text());
        }
        let page =
            visitor.post("/feature_requests/new", &[("title", "Moon"), ("description", words), ("email", email)]);
        assert_eq!(page.status, 422);
        assert!(page.text().contains(escaped) && page.text().contains("value=\"Moon\""), "{}", page.text());
    }
    // Too long.
    let long = format!("{words}{}", "a".repeat(20_000));
    let page = visitor.post(&format!("{path}/comments"), &[("content", &long), ("email", "ann@example.com")]);
    assert!(page.status == 422 && page.text().contains("too long") && page.text().contains(escaped));
    // A session that has ended.
    let ann = Browser::signed_in(&app, "ann@example.com");
    let key = hidden(&ann.page(&path), "operation_key");
    app.data.execute("DELETE FROM sessions");
    let page = ann.post(&format!("{path}/comments"), &[("content", words), ("operation_key", &key)]);
    assert_eq!(page.status, 422);
    assert!(page.text().contains(escaped) && page.text().contains("E-mail address"), "{}", page.text());
    // A feature request that is deleted while the mail is on its way.
    visitor.submit(&format!("{path}/comments"), &[("content", words), ("email", "cid@example.com")]);
    let mail = sign_in_mails(&app, "cid@example.com", 1).remove(0);
    assert_eq!(app.acme.delete_feature_request(&id, "").status, 204);
    let page = visitor.page(&mail.path);
    assert!(page.contains("careful") && !page.contains("Sign in and post"), "{page}");
    let page = visitor.post(&mail.path, &[("choice", "act")]);
    assert!(page.text().contains(escaped), "{} {}", page.status, page.text());
    // A body that is larger than any form.
    let huge = "a".repeat(600 * 1024);
    let page = visitor.post("/feature_requests/new", &[("title", "Moon"), ("description", &huge)]);
    assert_eq!(page.status, 413);
    assert!(page.text().contains("This is too long"));
}

/// Portal: ideas, comments and subscriptions of the portal are those of the API; a member's comment is the team's, and
/// the author of a feature request gets it by mail.
/// Contract 4.8.
#[test]
fn ideas_comments_and_subscriptions_are_those_of_the_api() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    assert_eq!(ann.submit(&format!("{path}/subscription"), &[("state", "on")]), format!("{path}?done=subscribed"));
    assert!(ann.page(&path).contains(">Following<"));
    assert_eq!(ann.submit(&format!("{path}/subscription"), &[("state", "off")]), format!("{path}?done=unsubscribed"));
    assert!(ann.page(&path).contains("</svg>Follow</button>"));
    let page = ann.page("/feature_requests/new?title=dark+mode+please");
    assert!(page.contains("Similar feature requests") && page.contains(">Dark mode<"), "{page}");
    let page = ann.page("/feature_requests/new?title=Umbrella");
    assert!(page.contains("Similar feature requests"), "{page}");
    let preview = ann.post(&format!("{path}/comments"), &[("content", "*soft*"), ("preview", "1")]);
    assert!(preview.status == 200 && preview.text().contains("<em>soft</em>"));
    assert_eq!(app.acme.get_comments(&id, "").json()["total_count"], 0);
    let location = ann.submit("/feature_requests/new", &[("title", "Umbrella"), ("description", "For *rain*")]);
    let idea = app.acme.get_feature_requests("query=umbrella").json()["feature_requests"][0].clone();
    assert_eq!(location, format!("{}?done=submitted", path_of(idea["url"].as_str().unwrap())));
    let idea = app.acme.detail(idea["id"].as_str().unwrap());
    assert_eq!(idea["description"], "<p>For <em>rain</em></p>");
    assert_eq!((&idea["votes_count"], &idea["author"]["email"]), (&json!(1), &json!("ann@example.com")));
    // A member's comment is the team's, and its author gets it by mail.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let idea_path = path_of(idea["url"].as_str().unwrap());
    olga.submit(&format!("{idea_path}/comments"), &[("content", "On it")]);
    let comments = app.acme.get_comments(idea["id"].as_str().unwrap(), "").json();
    assert_eq!(comments["comments"][0]["author"], json!({ "kind": "member", "name": "Olga" }));
    eventually("the author has a mail", || {
        let status = app.roadmap(&["mail", "status"]).json();
        status[0]["sent"].as_i64() == Some(1)
    });
}

/// Portal: what waits for moderation is visible to its author and to members only.
/// Contract 2.6.
#[test]
fn held_posts_wait_for_a_member() {
    let app = App::start();
    assert_eq!(app.acme.patch_portal(&json!({ "portal": { "moderation": true } })).status, 200);
    std::thread::sleep(std::time::Duration::from_millis(700));
    let (id, path) = request(&app, "Dark mode");
    let [ann, bob, olga] =
        ["ann@example.com", "bob@example.com", "olga@acme.example"].map(|email| Browser::signed_in(&app, email));
    assert_eq!(
        ann.submit(&format!("{path}/comments"), &[("content", "Spam or not")]),
        format!("{path}?done=comment-held")
    );
    assert!(ann.page(&path).contains("Spam or not") && ann.page(&path).contains("Awaiting approval"));
    assert!(!bob.page(&path).contains("Spam or not") && !Browser::new(&app).page(&path).contains("Spam or not"));
    assert_eq!(app.acme.get_comments(&id, "").json()["total_count"], 0);
    let idea = ann.submit("/feature_requests/new", &[("title", "Umbrella"), ("description", "")]);
    let idea_path = idea.strip_suffix("?done=idea-held").expect("a held idea").to_owned();
    let page = ann.page(&idea_path);
    assert!(page.contains("Awaiting approval") && !page.contains("Everybody can read it."), "{page}");
    assert_eq!(bob.get(&idea_path).status, 404);
    assert_eq!(bob.post(&format!("{idea_path}/approve"), &[]).status, 404);
    assert_eq!(app.acme.get_feature_requests("query=umbrella").json()["feature_requests"], json!([]));
    let held = app.acme.get_held_posts("").json();
    assert_eq!(held["total_count"], 2);
    let comment = held["held_posts"].as_array().unwrap().iter().find(|post| post["kind"] == "comment").unwrap();
    let comment = comment["id"].as_str().unwrap();
    assert_eq!(bob.post(&format!("/comments/{comment}/approve"), &[]).status, 404);
    assert_eq!(olga.submit(&format!("/comments/{comment}/approve"), &[]), format!("{path}?done=approved"));
    assert_eq!(olga.submit(&format!("{idea_path}/approve"), &[]), format!("{idea_path}?done=approved"));
    assert!(bob.page(&path).contains("Spam or not") && bob.page(&idea_path).contains("Umbrella"));
    // Members need no approval.
    assert_eq!(olga.submit(&format!("{path}/comments"), &[("content", "Ours")]), format!("{path}?done=commented"));
}

/// Portal: an account has name, language, lists, sessions, and signs out everywhere.
#[test]
fn an_account_has_name_language_lists_and_sessions() {
    let app = App::start();
    let (_, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    let other = Browser::signed_in(&app, "ann@example.com");
    ann.submit(&format!("{path}/vote"), &[]);
    let saved = ann.submit("/account", &[("name", " Ann \u{5d0} "), ("language", "de")]);
    assert_eq!(saved, "/account?done=saved");
    let page = ann.page("/account");
    for part in ["lang=\"de\"", "ann@example.com", "value=\"Ann \u{5d0}\"", "Dark mode"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // People without a name are shown as the hint says, and all mail is in the chosen language.
    for part in ["Ohne Namen steht dort „Kundin oder Kunde“.", "Die Sprache dieser Seiten und der E-Mails an Sie."]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    let long = ann.post("/account", &[("name", &"a".repeat(61)), ("language", "")]);
    assert!(long.status == 422 && long.text().contains(&"a".repeat(61)));
    let advertisement = ann.post("/account", &[("name", "Pills https://spam.example"), ("language", "")]);
    assert!(advertisement.status == 422 && advertisement.text().contains("Bitte ein Name ohne Link."));
    assert!(advertisement.text().contains("Pills https://spam.example"));
    assert!(ann.page("/feature_requests?mine=voted").contains("Dark mode"));
    assert!(!ann.page("/feature_requests?mine=written").contains("Dark mode<"));
    let signed_out = ann.submit("/account/sessions", &[]);
    assert_eq!(signed_out, "/?done=signed-out-everywhere");
    assert_eq!([&ann, &other].map(|browser| browser.get("/account").status), [303; 2]);
}

#[test]
fn a_name_beside_approved_posts_is_changed_by_the_team_alone() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    assert_eq!(app.acme.patch_portal(&json!({ "portal": { "moderation": true } })).status, 200);
    let bob = Browser::signed_in(&app, "bob@example.com");
    assert_eq!(bob.submit("/account", &[("name", "Bob"), ("language", "")]), "/account?done=saved");
    bob.submit(&format!("{path}/comments"), &[("content", "Please")]);
    let held = app.acme.get_held_posts("").json()["held_posts"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(app.acme.approve_comment(&held).status, 200);
    let refused = bob.post("/account", &[("name", "Cheap pills"), ("language", "de")]);
    assert_eq!(refused.status, 422);
    for part in ["Your name is beside posts that the team has approved.", "value=\"Cheap pills\""] {
        assert!(refused.text().contains(part), "{part}: {}", refused.text());
    }
    let author = || app.acme.get_comments(&id, "").json()["comments"][0]["author"]["name"].clone();
    assert_eq!(author(), "Bob");
    // The language alone can be changed, the name removed, and the team has no limit.
    assert_eq!(bob.submit("/account", &[("name", "Bob"), ("language", "de")]), "/account?done=saved");
    let customer = app.acme.get_customers("query=bob").json()["customers"][0]["id"].as_str().unwrap().to_owned();
    let renamed = app.acme.patch_customer(&customer, &json!({ "customer": { "name": "Robert" } }));
    assert_eq!((renamed.status, author()), (200, json!("Robert")));
    assert_eq!(bob.submit("/account", &[("name", ""), ("language", "")]), "/account?done=saved");
    assert_eq!(bob.post("/account", &[("name", "Cheap pills"), ("language", "")]).status, 422);
}

/// Portal: a removed member is none with the next request.
#[test]
fn a_removed_member_is_none_with_the_next_request() {
    let app = App::start();
    let id = app.acme.feature_request_with(&json!({ "title": "Secret plan", "private": true }));
    let path = path_of(app.acme.detail(&id)["url"].as_str().unwrap());
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"]).json();
    let max = Browser::signed_in(&app, "max@acme.example");
    assert_eq!(max.get(&path).status, 200);
    app.roadmap(&["member", "remove", "--workspace", "acme", "max@acme.example"]).json();
    assert_eq!((max.get(&path).status, max.get("/account").status), (404, 303));
}

/// Portal: limits of sign-ins and posts are pages with 429.
#[test]
fn programs_are_stopped_by_the_limits() {
    let limits = [("ROADMAP_RATE_LIMIT_SIGN_IN", "1/h burst 8"), ("ROADMAP_RATE_LIMIT_POSTS", "4/h")];
    let app = App::with(&[], &limits);
    let (id, path) = request(&app, "Dark mode");
    let program = Browser::new(&app);
    // Three mails to one address in 15 minutes.
    for number in 1..=4 {
        let response = program.post("/sign-in", &[("email", "ann@example.com")]);
        assert_eq!(response.status, if number == 4 { 429 } else { 303 }, "{number}");
    }
    // The typed text of a visitor is shown again.
    let limited = program.post(&format!("{path}/comments"), &[("email", "ann@example.com"), ("content", "My words")]);
    assert!(limited.status == 429 && limited.text().contains("My words") && limited.header("retry-after").is_some());
    // Addresses of clients have a limit, too: eight so far, with those above.
    let statuses: Vec<u16> =
        (0..6).map(|number| program.post("/sign-in", &[("email", &format!("a{number}@example.com"))]).status).collect();
    assert_eq!((statuses.first(), statuses.last()), (Some(&303), Some(&429)), "{statuses:?}");
    let bob = Browser::signed_in(&app, "bob@example.com");
    for number in 1..=5 {
        let response = bob.post(&format!("{path}/comments"), &[("content", &format!("Number {number}"))]);
        assert_eq!(response.status, if number == 5 { 429 } else { 303 }, "{number}");
    }
    assert_eq!(app.acme.get_comments(&id, "").json()["total_count"], 4);
    // A vote counts as a quarter of a comment.
    let limited = bob.post(&format!("{path}/vote"), &[]);
    assert_eq!((limited.status, limited.header("retry-after")), (429, Some("225")));
    let cyd = Browser::signed_in(&app, "cyd@example.com");
    let toggle = |number: i32| if number % 2 == 0 { "vote" } else { "unvote" };
    for number in 0..=16 {
        let response = cyd.post(&format!("{path}/{}", toggle(number)), &[]);
        assert_eq!(response.status, if number == 16 { 429 } else { 303 }, "{number}");
    }
}

#[test]
fn customers_do_not_fill_the_audit_log_or_the_storage_of_a_workspace() {
    let app = App::with(&[], &[("ROADMAP_RATE_LIMIT_POSTS", "off"), ("ROADMAP_STORAGE_RECORDS", "100KB")]);
    let (id, path) = request(&app, "Dark mode");
    let ann = Browser::signed_in(&app, "ann@example.com");
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"]).json();
    let max = Browser::signed_in(&app, "max@acme.example");
    let before = app.count("SELECT count(*) FROM audit_entries");
    // Repeated, and back and forth.
    for browser in [&ann, &max] {
        for (form, state) in [
            ("subscription", "off"),
            ("subscription", "on"),
            ("subscription", "on"),
            ("vote", ""),
            ("vote", ""),
            ("subscription", "off"),
            ("unvote", ""),
            ("unvote", ""),
        ] {
            assert_eq!(browser.post(&format!("{path}/{form}"), &[("state", state)]).status, 303, "{form} {state}");
        }
    }
    // Without an effect, it uses no storage: 400 votes would be 200 KB.
    assert_eq!(ann.post(&format!("{path}/vote"), &[]).status, 303);
    for _ in 0..400 {
        assert_eq!(ann.post(&format!("{path}/vote"), &[]).status, 303);
    }
    assert_eq!(app.count("SELECT count(*) FROM audit_entries"), before);
    app.acme.feature_request("The team still writes");
    // A key records what it changes, and that once.
    for (repetition, expected) in [(1, 1), (2, 0)] {
        let before = app.count("SELECT count(*) FROM audit_entries");
        app.acme.put_subscription(&id, &json!({ "email": "bob@example.com" })).is_ok();
        assert_eq!(app.count("SELECT count(*) FROM audit_entries") - before, expected, "{repetition}");
    }
    for (repetition, expected) in [(1, 1), (2, 0)] {
        let before = app.count("SELECT count(*) FROM audit_entries");
        app.acme.delete_subscription(&id, "email=bob@example.com").is_ok();
        assert_eq!(app.count("SELECT count(*) FROM audit_entries") - before, expected, "{repetition}");
    }
}

/// Portal: no secret of a cookie, link or code is in rows or logs.
#[test]
fn secrets_are_in_no_row_log_or_backup() {
    let app = App::start();
    let browser = Browser::new(&app);
    browser.submit("/sign-in", &[("email", "ann@example.com")]);
    let mail = sign_in_mails(&app, "ann@example.com", 1).remove(0);
    browser.submit(&mail.path, &[("choice", "only")]);
    let token = mail.path.strip_prefix("/sign-in/").unwrap().to_owned();
    let session = browser.cookie_header();
    let session = session.split_once("__Host-session=").unwrap().1.split(';').next().unwrap().to_owned();
    let rows =
        ["SELECT CAST(payload AS text) FROM outbox", "SELECT id FROM outbox"].map(|query| app.sql(query).join("\n"));
    let log = std::fs::read_to_string(app.data_dir().join("server.log")).unwrap();
    for secret in [token.as_str(), &mail.code, &mail.code.replace('-', ""), &session] {
        assert!(rows.iter().all(|row| !row.contains(secret)) && !log.contains(secret), "{secret}");
    }
    let sessions = app.sql("SELECT CAST(email AS text) FROM sessions");
    assert_eq!(sessions, ["ann@example.com"]);
}

/// Portal: the page of the code names the address and what the code does; nobody types the address twice in a browser.
#[test]
fn the_page_of_the_code_says_for_which_address_and_what_it_does() {
    let app = App::start();
    let (id, path) = request(&app, "Dark <mode>");
    let browser = Browser::new(&app);
    let none = browser.page("/sign-in/sent");
    assert!(none.contains("We have sent you a mail.") && none.contains(">Sign in</button>"), "{none}");
    let (vote, unvote, follow) = (format!("{path}/vote"), format!("{path}/unvote"), format!("{path}/subscription"));
    let comment = format!("{path}/comments");
    for (form, fields, sentence, button) in [
        (vote.as_str(), vec![], "to vote for “Dark &#60;mode&#62;”.", "Vote"),
        (&unvote, vec![], "to remove your vote for “Dark &#60;mode&#62;”.", "Remove vote"),
        (&follow, vec![("state", "on")], "to follow “Dark &#60;mode&#62;”.", "Follow"),
        (&follow, vec![("state", "off")], "to follow “Dark &#60;mode&#62;” no more.", "Unfollow"),
        (&comment, vec![("content", "Yes")], "to post your comment on “Dark &#60;mode&#62;”.", "Post comment"),
        ("/feature_requests/new", vec![("title", "A & B")], "to submit your idea “A &#38; B”.", "Submit idea"),
        ("/news", vec![], "to get mail about news.", "Get mail about news"),
        ("/sign-in", vec![], "in this browser, to sign in.", "Sign in"),
    ] {
        // Each has a browser and an address of its own, which is unknown here.
        let browser = Browser::new(&app);
        let email = format!("{}@example.com", button.to_lowercase().replace(' ', "-"));
        let fields = [fields, vec![("email", email.as_str())]].concat();
        assert_eq!(browser.submit(form, &fields), "/sign-in/sent");
        let page = browser.page("/sign-in/sent");
        for part in [&email, sentence, &format!(">{button}</button>"), "/sign-in?again=1"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // The next form of the same browser knows the address; that of another browser does not.
        let known = format!("value=\"{email}\"");
        for form in [&vote, &follow, "/sign-in", "/sign-in?again=1"] {
            assert!(browser.page(form).contains(&known), "{form}");
            assert!(!Browser::new(&app).page(form).contains("@example.com"), "{form}");
        }
    }
    // A title that is not public any more is not named, whoever the address belongs to.
    for email in ["ann@example.com", "olga@acme.example"] {
        let browser = Browser::new(&app);
        browser.submit(&vote, &[("email", email)]);
        for (private, is_named) in [(false, true), (true, false)] {
            let change = json!({ "feature_request": { "private": private } });
            app.acme.patch_feature_request(&id, &change).is_ok();
            let page = browser.page("/sign-in/sent");
            assert_eq!(page.contains("Dark &#60;mode&#62;"), is_named, "{email} {private}");
            assert!(page.contains(email) && page.contains(if is_named { ">Vote<" } else { ">Sign in<" }), "{page}");
        }
        app.acme.patch_feature_request(&id, &json!({ "feature_request": { "private": false } })).is_ok();
        app.acme.patch_portal(&json!({ "portal": { "visibility": "off" } })).is_ok();
        assert!(!browser.page("/sign-in/sent").contains("Dark &#60;"));
        app.acme.patch_portal(&json!({ "portal": { "visibility": "public" } })).is_ok();
    }
}

/// Portal: without script, a vote in a list leads back to its row, beside which the answer is; with it, the service returns
/// the part of the page that has changed.
#[test]
fn a_vote_in_a_list_keeps_its_place() {
    let app = App::start();
    let (id, path) = request(&app, "Dark mode");
    request(&app, "Undo send");
    let ann = Browser::signed_in(&app, "ann@example.com");
    let list = ann.page("/feature_requests?sort=newest");
    let next = "/feature_requests?sort=newest&#38;row=1#request-1";
    assert!(
        list.contains(&format!("name=\"next\" value=\"{next}\"")) && list.contains("<li id=\"request-1\">"),
        "{list}"
    );
    let next = next.replace("&#38;", "&");
    let landing = ann.submit(&format!("{path}/vote"), &[("next", &next)]);
    assert_eq!(landing, "/feature_requests?sort=newest&row=1&done=voted#request-1");
    let page = ann.page(&landing);
    let (_, row) = page.split_once("<li id=\"request-1\">").unwrap();
    let row = row.split_once("</li>").unwrap().0;
    assert!(row.contains("role=\"status\">Your vote counts. Thank you.</p>"), "{row}");
    assert_eq!(page.matches("role=\"status\"").count(), 1, "{page}");
    // What was done before is not in the next address.
    assert!(row.contains(&format!("value=\"{}\"", next.replace('&', "&#38;"))), "{row}");
    // A list without the row says it above.
    let gone = ann.page("/feature_requests?mine=written&row=1&done=unvoted#request-1");
    assert!(gone.contains("<p class=\"notice\" role=\"status\">") && gone.contains("Your vote is removed."), "{gone}");

    // The script asks for the changed part.
    let part = |browser: &Browser, action: &str, fields: &[(&str, &str)]| {
        browser.post(&format!("{path}/{action}"), &[&[("next", next.as_str())], fields].concat())
    };
    let removed = part(&ann, "unvote", &[("part", "row")]);
    let html = removed.text();
    assert_eq!((removed.status, votes(&app, &id)), (200, 0), "{html}");
    for expected in ["<p>Your vote is removed.</p>", "data-part=\"row\"", "aria-pressed=\"false\"", "<b>0</b> votes"] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    assert!(html.contains(&next.replace('&', "&#38;")) && !html.contains("<header"), "{html}");
    assert!(html.len() <= 2_048, "{} bytes", html.len());
    assert_eq!(removed.header("cache-control"), Some("private, no-store"));
    let voted = part(&ann, "vote", &[("part", "page")]).text();
    for expected in
        ["Your vote counts.", "data-part=\"page\"", "Remove vote for Dark mode", ">Following<", "<b>1</b> vote<"]
    {
        assert!(voted.contains(expected), "{expected}: {voted}");
    }
    let unfollowed = part(&ann, "subscription", &[("part", "page"), ("state", "off")]).text();
    assert!(unfollowed.contains("You do not follow this any more") && unfollowed.contains(">Follow<"), "{unfollowed}");
    // The sentence is that of what was done, not of the button.
    ann.submit("/account/mail", &[]);
    let resumed = part(&ann, "subscription", &[("part", "page"), ("state", "on")]).text();
    assert!(resumed.contains("You had stopped mail from us: it is on again."), "{resumed}");
    assert_eq!(votes(&app, &id), 1);
    // Somebody who has never taken part is shown the own vote, too.
    let olga = Browser::signed_in(&app, "olga@acme.example");
    let first = part(&olga, "vote", &[("part", "row")]).text();
    assert!(first.contains("Remove vote for Dark mode") && first.contains("<b>2</b> votes"), "{first}");
    part(&olga, "unvote", &[("part", "row")]);
    // Whoever is not signed in any more gets the form for the address.
    let signed_out = part(&Browser::new(&app), "unvote", &[("part", "row")]);
    assert!(signed_out.status == 200 && !signed_out.text().contains("data-part"), "{}", signed_out.text());
    assert_eq!(votes(&app, &id), 1);

    // What is done has a count alone.
    app.acme.patch_track(&id, &json!({ "track_id": app.track("Done") })).is_ok();
    for page in ["/feature_requests?sort=newest", &path] {
        let html = ann.page(page);
        assert!(!html.contains("vote for Dark mode") && html.contains("<b>1</b> vote"), "{page}: {html}");
    }
}
