//! The pages of a person's data: the team downloads and erases it, and so do customers their own.

use serde_json::{Value, json};

use crate::app::{App, Response, eventually};
use crate::browser::{Browser, hidden, path_of, shows};
use crate::people::{NAME, Scene, ZELDA, customer, files_with, rows_with, scene};

const OLGA: &str = "olga@acme.example";
const MIA: &str = "mia@acme.example";
const LINK: &str = "link@kokiri.example";
const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

fn id_of(app: &App, address: &str) -> String {
    customer(app, &["show", address])["id"].as_str().expect("an id").to_owned()
}

fn page_of(app: &App, address: &str) -> String {
    format!("/admin/customers/{}", id_of(app, address))
}

/// Signs in an admin and a member who is none.
fn team(app: &App) -> (Browser, Browser) {
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", MIA, "--name", "Mia"]);
    (Browser::signed_in(app, OLGA), Browser::signed_in(app, MIA))
}

/// Opens a page by a link of another one.
fn follow(browser: &Browser, from: &str, to: &str) -> Response {
    browser.send("GET", to, &[("Referer", &format!("{}{from}", browser.origin()))], None)
}

/// Sends the form of a page with its operation key.
fn press(browser: &Browser, page: &str, key: &str, fields: &[(&str, &str)]) -> Response {
    let url = format!("{}{page}", browser.origin());
    let fields = [fields, &[("operation_key", key)]].concat();
    browser.post_with(page, &fields, &[("Origin", &browser.origin()), ("Referer", &url)])
}

/// The content of a file to download.
#[track_caller]
fn file(response: &Response, customer: &str) -> Value {
    assert_eq!(response.status, 200, "{}", response.text());
    let name = format!("attachment; filename=\"customer-{customer}.json\"");
    for (header, value) in [
        ("content-disposition", name.as_str()),
        ("content-type", "application/json"),
        ("cache-control", "private, no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(response.header(header), Some(value));
    }
    serde_json::from_str(&response.text()).expect("JSON")
}

#[track_caller]
fn leads_to(response: &Response, path: &str) {
    assert_eq!((response.status, response.header("location")), (303, Some(path)), "{}", response.text());
}

/// Who did what to whom, newest first.
fn audited(app: &App, action: &str) -> Vec<(String, String)> {
    let entries = app.acme.get_audit_entries(&format!("action={action}")).is_ok();
    let entries = entries["audit_entries"].as_array().expect("a list").clone();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entry = |entry: &Value| {
        assert_eq!(entry["channel"], "page", "{entry}");
        let actor = &entry["actor"];
        let who = if actor["kind"] == "member" { text(&actor["name"]) } else { text(&actor["kind"]) };
        (who, text(&entry["subject"]["id"]))
    };
    entries.iter().map(entry).collect()
}

/// Import contract 8, 9.
#[test]
fn the_team_downloads_the_data_of_a_customer() {
    let Scene { app, .. } = scene();
    let (olga, mia) = team(&app);
    let (zelda, page) = (id_of(&app, ZELDA), page_of(&app, ZELDA));
    let download = format!("{page}/export");
    for browser in [&olga, &mia] {
        shows(&browser.page(&page), &[&format!("<a href=\"{download}\">Download data</a>")]);
        let export = file(&browser.get(&download), &zelda);
        assert_eq!((&export["format"], &export["notes"][0]["body"]), (&json!("roadmap-person"), &json!("A princess")));
    }
    let entry = |who: &str| (who.to_owned(), zelda.clone());
    assert_eq!(audited(&app, "customer.export"), [entry("Mia"), entry("Olga")]);
    assert_eq!(olga.post(&download, &[]).status, 405);
    for unknown in [UNKNOWN, "nonsense"] {
        assert_eq!(olga.get(&format!("/admin/customers/{unknown}/export")).status, 404);
    }
    // A sign-in of long ago is not enough. Afterwards the page comes with the link, not the file alone.
    app.data.age_sessions();
    let sign_in = format!("/sign-in?next={}", page.replace('/', "%2F"));
    leads_to(&follow(&mia, &page, &download), &sign_in);
    leads_to(&follow(&Browser::new(&app), &page, &download), &sign_in);
    assert_eq!(audited(&app, "customer.export").len(), 2);
}

/// Import contract 8, 9.
#[test]
fn an_admin_erases_a_customer() {
    let Scene { app, own, other } = scene();
    let (olga, mia) = team(&app);
    let named = json!({ "comment": { "content": "Ask Zelda Quist" }, "customer": { "email": LINK } });
    app.acme.post_comment(&other, &named).is_ok();
    app.acme.post_upvote(&own, &json!({ "customer": { "email": OLGA } })).is_ok();
    let (zelda, page) = (id_of(&app, ZELDA), page_of(&app, ZELDA));
    let erase = format!("{page}/erase");
    let link = format!("<a href=\"{erase}\">Erase customer</a>");
    shows(&olga.page(&page), &[&link]);
    assert!(!mia.page(&page).contains(&link));
    let html = olga.page(&erase);
    shows(&html, &["<h1 dir=\"auto\">Erase Zelda Quist?</h1>", ZELDA, "1 private note", "This cannot be undone."]);
    shows(
        &html,
        &[">Votes <span class=\"muted\">3</span>", "Texts <span class=\"muted\">2 feature requests · 1 comment</span>"],
    );
    shows(&html, &["value=\"keep\" checked aria-label=\"Keep votes\"", "aria-label=\"Remove votes\""]);
    shows(&html, &["value=\"keep\" checked aria-label=\"Keep texts\"", "aria-label=\"Remove texts\""]);
    // What others have written about her.
    shows(&html, &["<bdi>Ocarina</bdi></a></h3>\n<p class=\"meta\"><span>Comment</span></p>"]);
    let neighbour = app.workspace("beta");
    app.roadmap(&["member", "add", "--workspace", "beta", "--email", "bea@beta.example", "--name", "Bea"]);
    let bea = Browser::at(&app, "beta");
    let sign_in = app.roadmap(&["sign-in", "link", "--workspace", "beta", "--email", "bea@beta.example"]).json();
    bea.submit(&path_of(sign_in["url"].as_str().expect("a URL")), &[("choice", "only")]);
    assert_eq!(neighbour.get_customer(&zelda).status, 404);
    assert_eq!((bea.get(&erase).status, bea.post(&erase, &[]).status), (404, 404));
    assert_eq!((mia.get(&erase).status, mia.post(&erase, &[]).status), (403, 403));
    assert_eq!(olga.post_with(&erase, &[], &[("Origin", "https://evil.example")]).status, 403);
    // A member of the team.
    let of_member = format!("{}/erase", page_of(&app, OLGA));
    let sentence = "This is a member of the team. Remove the member first.";
    let html = olga.page(&of_member);
    shows(&html, &[sentence]);
    assert!(!html.contains("Keep votes"), "{html}");
    let refused = olga.post(&of_member, &[]);
    assert_eq!(refused.status, 422);
    shows(&refused.text(), &["role=\"alert\"", &format!("<a href=\"#erase\">{sentence}</a>")]);
    for unknown in [UNKNOWN, "nonsense"] {
        let path = format!("/admin/customers/{unknown}/erase");
        assert_eq!((olga.get(&path).status, olga.post(&path, &[]).status), (404, 404));
    }
    let key = hidden(&olga.page(&erase), "operation_key");
    app.data.age_sessions();
    let html = olga.page(&erase);
    shows(&html, &["Sign in again"]);
    assert!(!html.contains("Keep votes"), "{html}");
    let again = format!("/sign-in?next={}", erase.replace('/', "%2F"));
    leads_to(&press(&olga, &erase, &key, &[]), &again);
    assert!(!rows_with(&app).is_empty() && audited(&app, "customer.erase").is_empty());

    let olga = Browser::signed_in(&app, OLGA);
    let key = hidden(&olga.page(&erase), "operation_key");
    for _ in 0..2 {
        let fields = [("votes", "drop"), ("texts", "remove")];
        leads_to(&press(&olga, &erase, &key, &fields), "/admin/customers?done=customer-erased");
    }
    shows(&olga.page("/admin/customers?done=customer-erased"), &["The customer is erased."]);
    assert_eq!(audited(&app, "customer.erase"), [("Olga".to_owned(), zelda)]);
    let request = app.acme.detail(&own);
    assert_eq!((&request["title"], &request["votes_count"]), (&json!("Feature request 1"), &json!(2)));
    for path in [&page, &erase] {
        assert_eq!(olga.get(path).status, 404, "{path}");
    }
    assert_eq!(olga.post(&erase, &[]).status, 404);
    let left = app.sql("SELECT email FROM customers WHERE email LIKE 'erased-%'").remove(0);
    let page = page_of(&app, &left);
    let html = olga.page(&page);
    assert!(!html.contains("Download data") && !html.contains("Erase customer"), "{html}");
    assert_eq!(olga.get(&format!("{page}/erase")).status, 404);
    app.has_logged_no_failure();
}

/// Import contract 8, 9: a customer sees in the file what the portal shows, too.
#[test]
fn customers_get_their_own_data() {
    let Scene { app, other, .. } = scene();
    let private = app.acme.feature_request_with(&json!({ "title": "Secret plan", "private": true }));
    for email in [ZELDA, OLGA] {
        app.acme.post_upvote(&private, &json!({ "customer": { "email": email } })).is_ok();
    }
    let (zelda, olga, id) = (Browser::signed_in(&app, ZELDA), Browser::signed_in(&app, OLGA), id_of(&app, ZELDA));
    shows(&zelda.page("/account"), &["href=\"/account/export\">Download my data</a>", ">Delete me</a>"]);
    let export = file(&zelda.get("/account/export"), &id);
    assert_eq!((&export["customer"]["email"], &export["notes"]), (&json!(ZELDA), &json!([])));
    let of_private = json!({ "id": private, "title": null, "url": null });
    let votes = export["votes"].as_array().expect("a list");
    assert!(votes.iter().any(|vote| vote["feature_request"] == of_private), "{export}");
    assert!(votes.iter().any(|vote| vote["feature_request"]["id"] == *other), "{export}");
    let text = export.to_string().to_lowercase();
    for of_others in ["secret plan", "princess", "link", "kokiri", "olga"] {
        assert!(!text.contains(of_others), "{of_others}: {export}");
    }
    assert_eq!(audited(&app, "customer.export"), [("customer".to_owned(), id)]);

    // Members have the panel. Who has never taken part has no data.
    let newcomer = Browser::signed_in(&app, "navi@kokiri.example");
    for browser in [&olga, &newcomer] {
        let page = browser.page("/account");
        assert!(!page.contains("Download my data") && !page.contains("Delete me"), "{page}");
        for path in ["/account/export", "/account/delete"] {
            assert_eq!(browser.get(path).status, 404, "{path}");
        }
        assert_eq!(browser.post("/account/delete", &[("texts", "keep")]).status, 404);
    }
    let neighbour = app.workspace("beta");
    neighbour.get_customers("").is_ok();
    for browser in [Browser::new(&app), zelda.moved_to("beta")] {
        leads_to(&follow(&browser, "/account", "/account/export"), "/sign-in?next=%2Faccount");
        leads_to(&browser.get("/account/delete"), "/sign-in?next=%2Faccount%2Fdelete");
        leads_to(&browser.post("/account/delete", &[]), "/sign-in?next=%2Faccount");
    }
    assert_eq!(zelda.post("/account/export", &[]).status, 405);
    app.data.age_sessions();
    leads_to(&follow(&zelda, "/account", "/account/export"), "/sign-in?next=%2Faccount");
    assert_eq!(audited(&app, "customer.export").len(), 1);
}

/// Import contract 8, 9.
#[test]
fn customers_delete_themselves() {
    let Scene { app, own, other } = scene();
    let counted = |request: &str| app.acme.detail(request)["votes_count"].clone();
    let before = (counted(&own), counted(&other));
    let (zelda, id) = (Browser::signed_in(&app, ZELDA), id_of(&app, ZELDA));
    let page = "/account/delete";
    let key = hidden(&zelda.page(page), "operation_key");
    assert_eq!(zelda.post_with(page, &[], &[("Origin", "https://evil.example")]).status, 403);
    app.data.age_sessions();
    let html = zelda.page(page);
    shows(&html, &["Sign in again", "href=\"/sign-in?next=%2Faccount%2Fdelete\""]);
    assert!(!html.contains("Keep texts"), "{html}");
    leads_to(&press(&zelda, page, &key, &[("texts", "remove")]), "/sign-in?next=%2Faccount%2Fdelete");
    assert!(audited(&app, "customer.erase").is_empty());

    let [zelda, elsewhere] = [ZELDA, ZELDA].map(|email| Browser::signed_in(&app, email));
    let html = zelda.page(page);
    shows(&html, &["<h1>Delete your account?</h1>", "Your 3 votes stay", "This cannot be undone."]);
    shows(&html, &["value=\"keep\" checked aria-label=\"Keep texts\"", "aria-label=\"Remove texts\""]);
    assert!(!html.contains("Keep votes"), "{html}");
    let key = hidden(&html, "operation_key");
    // A double click: the second form is sent with the session that the first one ends.
    for browser in [zelda.duplicate(), zelda] {
        leads_to(&press(&browser, page, &key, &[("texts", "keep")]), "/?done=account-deleted");
        assert!(!browser.has_cookie("__Host-session") && !browser.has_cookie("session"));
        shows(&browser.page("/?done=account-deleted"), &["Your account is deleted, and you are signed out."]);
    }
    // Another form, or the same one with other words, is not the one that was sent.
    let visitor = Browser::new(&app);
    for (key, texts) in [(key.as_str(), "remove"), ("web:x", "keep"), ("", "keep")] {
        leads_to(&press(&visitor, page, key, &[("texts", texts)]), "/sign-in?next=%2Faccount%2Fdelete");
    }
    leads_to(&elsewhere.get("/account"), "/sign-in?next=%2Faccount");
    assert_eq!(audited(&app, "customer.erase"), [("customer".to_owned(), id)]);
    assert_eq!((counted(&own), counted(&other)), before);
    assert_eq!(app.acme.detail(&own)["title"], "Master sword");
    eventually("no row has Zelda", || rows_with(&app).is_empty());
    eventually("no file has Zelda", || files_with(app.data_dir()).is_empty());
    // Who signs in again is somebody new.
    let again = Browser::signed_in(&app, ZELDA);
    assert!(!again.page("/account").contains(NAME));
    assert_eq!(again.get(page).status, 404);
    app.has_logged_no_failure();
}
