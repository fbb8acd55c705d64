//! The pages of the team about people and about the service: customers, members, API keys, mail, the audit log.

use roadmap_testkit::smtp::{Reply, Sink, Step};
use serde_json::{Value, json};

use crate::app::{App, Client, Response, eventually, in_parallel};
use crate::browser::{Browser, hidden, sign_in_mails};
use crate::database::{ON_POSTGRES, sql_timestamp};
use crate::mail::app_with_smtp;

const OLGA: &str = "olga@acme.example";
const UNKNOWN: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Starts a service whose admin Olga is signed in.
fn started() -> (App, Browser) {
    let app = App::start();
    let olga = Browser::signed_in(&app, OLGA);
    (app, olga)
}

/// Sends a form with the operation key of the page on which it is.
fn send(browser: &Browser, page: &str, action: &str, fields: &[(&str, &str)]) -> Response {
    let key = hidden(&browser.page(page), "operation_key");
    let mut fields = fields.to_vec();
    fields.push(("operation_key", &key));
    browser.post(action, &fields)
}

/// Sends a form that is accepted, twice: it does one thing. Returns the path to which it leads.
#[track_caller]
fn submit(browser: &Browser, page: &str, action: &str, fields: &[(&str, &str)]) -> String {
    let key = hidden(&browser.page(page), "operation_key");
    let mut fields = fields.to_vec();
    fields.push(("operation_key", &key));
    let next = browser.submit(action, &fields);
    assert_eq!(browser.submit(action, &fields), next);
    next
}

/// Checks that a form was refused with a sentence about a field. Returns the page.
#[track_caller]
fn refused(response: &Response, field: &str, sentence: &str) -> String {
    let page = response.text();
    assert_eq!(response.status, 422, "{page}");
    for part in ["<title>Error: ", "role=\"alert\"", "There is a problem"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains(&format!("<a href=\"#{field}\">{sentence}")), "{field} {sentence}: {page}");
    page
}

#[track_caller]
fn has(page: &str, parts: &[&str]) {
    for part in parts {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[track_caller]
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let rest = text.split_once(start).unwrap_or_else(|| panic!("{start}: {text}")).1;
    rest.split_once(end).unwrap_or_else(|| panic!("{end}: {text}")).0
}

/// Returns the notice of a page.
#[track_caller]
fn notice(browser: &Browser, path: &str) -> String {
    let page = browser.page(path);
    between(&page, "role=\"status\">", "</p>").rsplit("</svg>").next().expect("a sentence").to_owned()
}

/// Returns the newest entry of an action: who, on what, and the changes.
fn audited(client: &Client, action: &str) -> (Value, Value, Value) {
    let entries = client.get_audit_entries(&format!("action={action}")).is_ok()["audit_entries"].clone();
    let entry = &entries[0];
    assert_eq!(entry["channel"], "page", "{entries}");
    (entry["actor"]["name"].clone(), entry["subject"]["id"].clone(), entry["changes"].clone())
}

fn count(client: &Client, action: &str) -> usize {
    client.get_audit_entries(&format!("action={action}")).is_ok()["audit_entries"].as_array().expect("a list").len()
}

/// Creates a customer who votes for a feature request. Returns the ID.
fn customer(app: &App, request: &str, email: &str, name: Option<&str>) -> String {
    let vote = json!({ "customer": { "email": email, "name": name } });
    assert!(matches!(app.acme.post_upvote(request, &vote).status, 200 | 201));
    let listed = app.acme.get_customers(&format!("query={email}")).is_ok();
    listed["customers"][0]["id"].as_str().expect("an id").to_owned()
}

fn request(app: &App, title: &str) -> String {
    app.acme.feature_request(title)["id"].as_str().expect("an id").to_owned()
}

#[test]
fn customers_are_listed_and_found() {
    let (app, olga) = started();
    has(&olga.page("/admin/customers"), &["<h1>Customers</h1>", "No customers yet"]);
    let dark = request(&app, "Dark mode");
    let ann = customer(&app, &dark, "ann@example.com", Some("Ann <b>"));
    customer(&app, &dark, "bob@example.com", None);
    let page = olga.page("/admin/customers");
    let row = format!("<th scope=\"row\"><a href=\"/admin/customers/{ann}\"><bdi>Ann &#60;b&#62;</bdi></a>");
    has(&page, &[&row, "<bdi dir=\"ltr\">ann@example.com</bdi>", "2 customers", "aria-label=\"Search customers\""]);
    // Somebody without a name is known by the address.
    has(&page, &["<bdi>bob@example.com</bdi></a>"]);
    let page = olga.page("/admin/customers?query=ANN");
    assert!(page.contains("1 customer<") && !page.contains("bob@example.com"), "{page}");
    has(&page, &["value=\"ANN\"", "Show all customers"]);
    has(&olga.page("/admin/customers?query=nobody"), &["Nobody found", "value=\"nobody\""]);
    // A bad page is the first one, and one after the last is empty.
    has(&olga.page("/admin/customers?page=x"), &["ann@example.com"]);
    for number in ["2", "99999999999999999999"] {
        let page = olga.page(&format!("/admin/customers?page={number}"));
        assert!(!page.contains("ann@example.com") && !page.contains("No customers yet"), "{page}");
        has(&page, &["<h2>This page is empty</h2>", "href=\"/admin/customers\">To the first page</a>"]);
    }
    let page = olga.page("/admin/customers?query=example.com&page=2");
    assert!(!page.contains("Nobody found"), "{page}");
    has(&page, &["href=\"/admin/customers?query=example.com\">To the first page</a>"]);
    let long = "a".repeat(255);
    refused(&olga.get(&format!("/admin/customers?query={long}")), "query", "Search is too long");
    app.data.add_voters(&dark, 60);
    let page = olga.page("/admin/customers?query=example.com&page=1");
    has(&page, &["62 customers", "Page 1 of 2", "href=\"/admin/customers?query=example.com&#38;page=2\""]);
    assert_eq!(olga.page("/admin/customers?query=example.com&page=2").matches("<th scope=\"row\">").count(), 12);
}

#[test]
fn a_customer_s_page_has_everything_that_is_known() {
    let (app, olga) = started();
    let dark = json!({
        "feature_request": { "title": "Dark mode" },
        "customer": { "email": "ann@example.com", "name": "Ann" },
        "reference_note": { "body": "<p>Calls <strong>often</strong></p>", "author_email": OLGA },
    });
    assert_eq!(app.acme.post_feature_request(&dark).status, 201);
    let night = request(&app, "Night mode");
    let ann = customer(&app, &night, "ann@example.com", None);
    let comment = json!({ "comment": { "content": "<p>Me, too</p>" }, "customer": { "email": "ann@example.com" } });
    assert_eq!(app.acme.post_comment(&night, &comment).status, 201);
    let path = format!("/admin/customers/{ann}");
    let page = olga.page(&path);
    let region = |name: &str| between(&page, &format!("aria-labelledby=\"{name}\""), "</section>").to_owned();
    has(&page, &["<h1 dir=\"auto\">Ann</h1>", "ann@example.com", "value=\"Ann\"", "Merge with another customer"]);
    has(&region("votes"), &[">Votes</span>", "Night mode", "Dark mode", "/admin/feature_requests/2-night-mode"]);
    let requests = region("requests");
    assert!(requests.contains("Dark mode") && !requests.contains("Night mode"), "{requests}");
    has(&region("comments"), &[">Comments</h2>", "Night mode", "<p>Me, too</p>"]);
    has(&region("notes"), &[">Private notes</h2>", "Olga", "<p>Calls <strong>often</strong></p>"]);
    has(&region("subscriptions"), &["Night mode"]);
    app.data.execute(&format!(
        "UPDATE customers SET mail_stopped_at = {}, mail_stopped_because = 'unsubscribed', stops_changelogs = 1 = 1",
        sql_timestamp("1772622120000")
    ));
    has(
        &olga.page(&path),
        &["This customer has stopped all mail on <time datetime=\"2026-03-04\">4 March 2026</time>"],
    );

    let next = submit(&olga, &path, &path, &[("name", " Ann Miller ")]);
    assert_eq!(
        (next.clone(), notice(&olga, &next)),
        (format!("{path}?done=customer-saved"), "The name was saved.".to_owned())
    );
    assert_eq!(app.acme.get_customer(&ann).is_ok()["customer"]["name"], "Ann Miller");
    // Names of customers are not recorded.
    assert_eq!(audited(&app.acme, "customer.update"), (json!("Olga"), json!(ann), json!([{ "field": "name" }])));
    assert_eq!(submit(&olga, &path, &path, &[("name", "Ann Miller")]), format!("{path}?done=unchanged"));
    assert_eq!(count(&app.acme, "customer.update"), 1);
    refused(&send(&olga, &path, &path, &[("name", " ")]), "name", "Name is missing");
    let long = "ä".repeat(201);
    let page = refused(&send(&olga, &path, &path, &[("name", &long)]), "name", "Name is too long");
    has(&page, &[&long, "aria-invalid=\"true\""]);
    for path in [format!("/admin/customers/{UNKNOWN}"), "/admin/customers/nonsense".to_owned()] {
        assert_eq!((olga.get(&path).status, olga.post(&path, &[("name", "A")]).status), (404, 404));
        assert_eq!(olga.get(&format!("{path}/merge")).status, 404);
    }
}

#[test]
fn two_customers_become_one() {
    let (app, olga) = started();
    let (dark, night) = (request(&app, "Dark mode"), request(&app, "Night mode"));
    let ann = customer(&app, &dark, "ann@example.com", Some("Ann"));
    let home = customer(&app, &dark, "ann@home.example", None);
    customer(&app, &night, "ann@home.example", None);
    let path = format!("/admin/customers/{ann}/merge");
    let page = olga.page(&path);
    has(&page, &["<h1>Merge two customers</h1>", "aria-label=\"Search customers\""]);
    let page = olga.page(&format!("{path}?query=ann"));
    let choose = format!("{path}?with={home}");
    has(&page, &["ann@home.example", &format!("href=\"{choose}\"")]);
    // Nobody is merged with itself.
    assert!(!page.contains(&format!("with={ann}")), "{page}");
    has(&olga.page(&format!("{path}?query=nobody")), &["No other customer was found"]);
    refused(&olga.get(&format!("{path}?query={}", "a".repeat(255))), "query", "Search is too long");
    for with in [UNKNOWN, "nonsense", &ann] {
        refused(&olga.get(&format!("{path}?with={with}")), "query", "That customer does not exist any more");
    }
    let ask = olga.page(&choose);
    has(
        &ask,
        &["Keep Ann<", "Keep ann@home.example<", "This cannot be undone", "one vote counts", "belongs to nobody then"],
    );
    let checked = |id: &str| format!("name=\"keep\" value=\"{id}\" checked");
    assert!(ask.contains(&checked(&ann)) && !ask.contains(&checked(&home)), "{ask}");
    for keep in ["", "nonsense", UNKNOWN] {
        let response = send(&olga, &choose, &path, &[("with", &home), ("keep", keep)]);
        refused(&response, "keep-this", "Choose which of the two customers stays");
    }
    let gone = send(&olga, &choose, &path, &[("with", UNKNOWN), ("keep", &ann)]);
    refused(&gone, "query", "That customer does not exist any more");
    assert_eq!(
        (app.acme.get_customers("").is_ok()["total_count"].clone(), count(&app.acme, "customer.merge")),
        (json!(2), 0)
    );

    // The one without a name is kept, and gets the name.
    let next = submit(&olga, &choose, &path, &[("with", &home), ("keep", &home)]);
    assert_eq!(next, format!("/admin/customers/{home}?done=customers-merged"));
    assert_eq!(notice(&olga, &next), "The two customers are one now.");
    let customers = app.acme.get_customers("").is_ok()["customers"].clone();
    let left = customers.as_array().unwrap();
    assert_eq!(left.len(), 1, "{customers}");
    assert_eq!(
        [&left[0]["id"], &left[0]["name"], &left[0]["email"], &left[0]["votes_count"]],
        [&json!(home), &json!("Ann"), &json!("ann@home.example"), &json!(2)]
    );
    assert_eq!(
        (&app.acme.detail(&dark)["votes_count"], &app.acme.detail(&night)["votes_count"]),
        (&json!(1), &json!(1))
    );
    let changes = json!([{ "field": "merged_into", "old": null, "new": home }]);
    assert_eq!(audited(&app.acme, "customer.merge"), (json!("Olga"), json!(ann), changes));
    assert_eq!(olga.get(&format!("/admin/customers/{ann}")).status, 404);
    assert_eq!(olga.post(&path, &[("with", &home), ("keep", &ann)]).status, 404);
}

#[test]
fn a_merge_of_customers_asks_for_a_fresh_sign_in() {
    let (app, olga) = started();
    let dark = request(&app, "Dark mode");
    let ann = customer(&app, &dark, "ann@example.com", Some("Ann"));
    let bob = customer(&app, &dark, "bob@example.com", Some("Bob"));
    app.data.age_sessions();
    let path = format!("/admin/customers/{ann}/merge");
    let page = olga.page(&format!("{path}?with={bob}"));
    has(&page, &["Sign in again", "Keep Bob<"]);
    assert!(!page.contains(">Merge</button>"), "{page}");
    assert_eq!(olga.post(&path, &[("with", &bob), ("keep", &ann)]).status, 303);
    assert_eq!(app.acme.get_customers("").is_ok()["total_count"], 2);
}

/// Returns a member by the address.
fn member(app: &App, email: &str) -> Value {
    let members = app.acme.get_members().is_ok()["members"].clone();
    members.as_array().expect("a list").iter().find(|member| member["email"] == email).cloned().unwrap_or(Value::Null)
}

#[test]
fn an_invited_member_gets_a_link_by_mail() {
    let (app, olga) = started();
    let path = "/admin/members";
    let page = olga.page(path);
    has(
        &page,
        &["<h1>Members</h1>", "Olga", OLGA, "aria-label=\"Role of Olga\"", "aria-label=\"Remove Olga\"", ">You<"],
    );
    let fields = [("email", "Mia@acme.example"), ("name", "Mia"), ("role", "admin")];
    let next = submit(&olga, path, path, &fields);
    assert_eq!(
        (next.as_str(), notice(&olga, &next).as_str()),
        (
            "/admin/members?done=invited",
            "The invitation was written to a file, because no mail server is set. Nobody gets it."
        )
    );
    let mia = member(&app, "Mia@acme.example");
    assert_eq!((&mia["name"], &mia["role"]), (&json!("Mia"), &json!("admin")));
    let change = |field: &str, new: &str| json!({ "field": field, "old": null, "new": new });
    let changes = json!([change("name", "Mia"), change("role", "admin")]);
    assert_eq!(audited(&app.acme, "member.add"), (json!("Olga"), mia["id"].clone(), changes));
    // One mail, although the form was sent twice. Its link leads to the panel.
    let mail = sign_in_mails(&app, "Mia@acme.example", 1).remove(0);
    let browser = Browser::new(&app);
    assert_eq!(browser.submit(&mail.path, &[("choice", "only")]), "/admin?done=signed-in");
    has(&browser.page(path), &["<h1>Members</h1>"]);

    let page = refused(&send(&olga, path, path, &fields), "email", "Somebody with this address is in the team already");
    has(&page, &["value=\"Mia@acme.example\"", "<option value=\"admin\" selected>"]);
    let nothing = send(&olga, path, path, &[("email", "nobody"), ("name", " "), ("role", "king")]);
    let page = refused(&nothing, "email", "This is not an e-mail address");
    has(&page, &["value=\"nobody\"", "<a href=\"#name\">Name is missing", "<a href=\"#role\">Role "]);
    // Olga was added by a command.
    assert_eq!(count(&app.acme, "member.add"), 2);

    // The link is sent again, until there were too many.
    let again = format!("{path}/{}/invitation", mia["id"].as_str().unwrap());
    for mails in [2, 3, 4] {
        assert_eq!(submit(&olga, path, &again, &[]), "/admin/members?done=invited");
        sign_in_mails(&app, "Mia@acme.example", mails);
    }
    let field = format!("invitation-{}", mia["id"].as_str().unwrap());
    refused(&send(&olga, path, &again, &[]), &field, "No more invitations can be sent for now");
    let gone = send(&olga, path, &format!("{path}/{UNKNOWN}/invitation"), &[]);
    refused(&gone, "members", "This person is not in the team any more");
    assert_eq!(olga.post(&format!("{path}/nonsense/invitation"), &[]).status, 404);
}

#[test]
fn a_member_is_added_even_if_no_mail_can_be_sent() {
    let (app, olga) = started();
    // Strangers cannot prevent an invitation, but there are three an hour.
    for _ in 0..3 {
        Browser::new(&app).submit("/sign-in", &[("email", "mia@acme.example")]);
    }
    let fields = [("email", "mia@acme.example"), ("name", "Mia"), ("role", "member")];
    for _ in 0..3 {
        assert_eq!(submit(&olga, "/admin/members", "/admin/members", &fields), "/admin/members?done=invited");
        let id = member(&app, "mia@acme.example")["id"].as_str().unwrap().to_owned();
        olga.submit(&format!("/admin/members/{id}/remove"), &[]);
    }
    let next = submit(&olga, "/admin/members", "/admin/members", &fields);
    assert_eq!(next, "/admin/members?done=member-added");
    assert!(notice(&olga, &next).starts_with("The member was added, but no mail could be sent."));
    assert_eq!(member(&app, "mia@acme.example")["role"], "member");
}

#[test]
fn roles_are_changed_but_never_that_of_the_last_admin() {
    let (app, olga) = started();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]).json();
    let id = |email: &str| member(&app, email)["id"].as_str().unwrap().to_owned();
    let (own, mia) = (id(OLGA), id("mia@acme.example"));
    let role_of = |id: &str| format!("/admin/members/{id}/role");
    let list = "/admin/members";
    let signed_in = Browser::signed_in(&app, "mia@acme.example");
    for (id, role, sentence) in [(&own, "member", "This is the last admin"), (&mia, "king", "Choose a role")] {
        refused(&send(&olga, list, &role_of(id), &[("role", role)]), &format!("role-{id}"), sentence);
    }
    let gone = send(&olga, list, &role_of(UNKNOWN), &[("role", "admin")]);
    refused(&gone, "members", "This person is not in the team any more");
    assert_eq!(count(&app.acme, "member.role"), 0);
    // The own role as it is changes nothing, so that nobody is signed out.
    assert_eq!(submit(&olga, list, &role_of(&own), &[("role", "admin")]), "/admin/members?done=unchanged");
    assert_eq!(submit(&olga, list, &role_of(&mia), &[("role", "admin")]), "/admin/members?done=role-changed");
    assert_eq!(notice(&olga, "/admin/members?done=role-changed"), "The role was changed.");
    assert_eq!(member(&app, "mia@acme.example")["role"], "admin");
    let changes = json!([{ "field": "role", "old": "member", "new": "admin" }]);
    assert_eq!(audited(&app.acme, "member.role"), (json!("Olga"), json!(mia), changes));
    assert_eq!(signed_in.get("/admin").status, 303, "the sessions end");
    // Olga leaves the panel by her own change.
    let key = hidden(&olga.page(list), "operation_key");
    let next = olga.submit(&role_of(&own), &[("role", "member"), ("operation_key", &key)]);
    assert_eq!(next, "/sign-in?next=%2Fadmin&done=role-changed");
    assert_eq!(member(&app, OLGA)["role"], "member");
}

#[test]
fn members_are_removed_but_never_the_last_admin() {
    let (app, olga) = started();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]).json();
    let path = |email: &str| format!("/admin/members/{}/remove", member(&app, email)["id"].as_str().unwrap());
    let (own, mia) = (path(OLGA), path("mia@acme.example"));
    let page = olga.page(&own);
    has(&page, &["<h1>Remove Olga?</h1>", "This is the last admin, and a team needs one."]);
    assert!(!page.contains("aria-label=\"Remove Olga\""), "{page}");
    refused(&olga.post(&own, &[]), "remove", "This is the last admin");
    let page = olga.page(&mia);
    has(
        &page,
        &["<h1>Remove Mia?</h1>", "mia@acme.example", "Comments and private notes stay", "aria-label=\"Remove Mia\""],
    );
    assert_eq!(count(&app.acme, "member.remove"), 0);
    assert_eq!(submit(&olga, &mia, &mia, &[]), "/admin/members?done=member-removed");
    assert_eq!(notice(&olga, "/admin/members?done=member-removed"), "The member was removed.");
    assert_eq!(member(&app, "mia@acme.example"), Value::Null);
    let changes = json!([{ "field": "name", "old": "Mia", "new": null }]);
    assert_eq!(audited(&app.acme, "member.remove").2, changes);
    assert_eq!(olga.get(&mia).status, 404);
    refused(&olga.post(&mia, &[]), "members", "This person is not in the team any more");
    // Olga removes herself, once there is another admin. Somebody who was removed can be invited again.
    let fields = [("email", "mia@acme.example"), ("name", "Mia"), ("role", "admin")];
    assert_eq!(submit(&olga, "/admin/members", "/admin/members", &fields), "/admin/members?done=invited");
    has(&olga.page(&own), &["This is you."]);
    assert_eq!(olga.submit(&own, &[]), "/?done=member-removed");
    assert_eq!((member(&app, OLGA), olga.get("/admin").status), (Value::Null, 303));
}

#[test]
fn what_admins_cannot_undo_asks_for_a_fresh_sign_in() {
    let (app, olga) = started();
    app.data.age_sessions();
    let key = app.roadmap(&["api-key", "list", "--workspace", "acme"]).json()[0]["id"].as_str().unwrap().to_owned();
    let own = member(&app, OLGA)["id"].as_str().unwrap().to_owned();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]).json();
    let mia = member(&app, "mia@acme.example")["id"].as_str().unwrap().to_owned();
    for path in [
        "/admin/members".to_owned(),
        format!("/admin/members/{mia}/remove"),
        "/admin/api-keys".to_owned(),
        format!("/admin/api-keys/{key}/revoke"),
        "/admin/webhooks".to_owned(),
        "/admin/link-sources".to_owned(),
    ] {
        let page = olga.page(&path);
        has(&page, &["Sign in again"]);
        assert!(!page.contains("name=\"operation_key\""), "{path}: {page}");
    }
    for (path, fields) in [
        ("/admin/members".to_owned(), &[("email", "a@b.example"), ("name", "A"), ("role", "member")][..]),
        (format!("/admin/members/{mia}/role"), &[("role", "admin")]),
        (format!("/admin/members/{own}/remove"), &[]),
        ("/admin/api-keys".to_owned(), &[("name", "A"), ("scope", "read"), ("expires_in", "never")]),
        (format!("/admin/api-keys/{key}/rotate"), &[("overlap", "none")]),
        (format!("/admin/api-keys/{key}/revoke"), &[]),
        ("/admin/webhooks".to_owned(), &[("url", "https://receiver.invalid/"), ("format", "standard")]),
        (format!("/admin/webhooks/{UNKNOWN}"), &[("url", "https://receiver.invalid/")]),
        (format!("/admin/webhooks/{UNKNOWN}/rotate"), &[("overlap", "none")]),
        ("/admin/link-sources".to_owned(), &[("name", "A"), ("kind", "github")]),
    ] {
        assert_eq!(olga.submit(&path, fields), "/sign-in?next=%2Fadmin", "{path}");
    }
    assert_eq!(app.acme.get_members().is_ok()["members"].as_array().unwrap().len(), 2);
    assert_eq!(app.acme.get_api_key().status, 200);
}

/// Returns the keys of the workspace.
fn keys(app: &App) -> Vec<Value> {
    app.roadmap(&["api-key", "list", "--workspace", "acme"]).json().as_array().expect("a list").clone()
}

/// Returns the key that a page shows.
#[track_caller]
fn displayed_key(response: &Response) -> String {
    assert_eq!((response.status, response.header("cache-control")), (200, Some("private, no-store")));
    let page = response.text();
    let key = between(&page, "<input class=\"input code\" id=\"key\" type=\"text\" value=\"", "\"").to_owned();
    has(&page, &["readonly", "curl -H &#39;X-Api-Key: ", "/api/external/v1/api_key", "it is shown only this once"]);
    assert_eq!(page.matches(&key).count(), 2, "{page}");
    key
}

#[test]
fn the_text_of_a_key_is_shown_once() {
    let (app, olga) = started();
    let path = "/admin/api-keys";
    let page = olga.page(path);
    has(&page, &["<h1>API keys</h1>", "<caption class=\"hidden\">API keys</caption>", "tests", "read, write, manage"]);
    let operation_key = hidden(&page, "operation_key");
    let fields = [
        ("name", "Sync <b>"),
        ("scope", "read"),
        ("scope", "manage"),
        ("expires_in", "30"),
        ("operation_key", operation_key.as_str()),
    ];
    let key = displayed_key(&olga.post(path, &fields));
    let api_key = app.client("acme", &key).get_api_key().is_ok();
    assert_eq!(
        (&api_key["api_key"]["name"], &api_key["api_key"]["scopes"]),
        (&json!("Sync <b>"), &json!(["read", "manage"]))
    );
    // The same form again, also after a reload, neither makes another key nor shows this one.
    for _ in 0..2 {
        let next = olga.submit(path, &fields);
        assert_eq!(next, "/admin/api-keys?done=key-created-before");
        assert!(notice(&olga, &next).starts_with("This form was sent twice."));
    }
    let listed = keys(&app);
    assert_eq!(listed.len(), 2);
    let (created, expires) = (listed[1]["created_at"].as_str().unwrap(), listed[1]["expires_at"].as_str().unwrap());
    assert!(created < expires && created[10..] == expires[10..], "{created} {expires}");
    let page = olga.page(path);
    has(&page, &["Sync &#60;b&#62;", &format!("…{}", &key[key.len() - 4..]), "Expires"]);
    assert!(!page.contains(&key) && !olga.page("/admin/audit").contains(&key));
    let body = if *ON_POSTGRES { "convert_from(body, 'UTF8')" } else { "CAST(body AS TEXT)" };
    let saved = app.count(&format!("SELECT count(*) FROM operations WHERE {body} LIKE '%{key}%'"));
    assert_eq!(saved, 0, "the text is stored nowhere");
    let change = |field: &str, new: Value| json!({ "field": field, "old": null, "new": new });
    let changes = json!([change("name", json!("Sync <b>")), change("scopes", json!(["read", "manage"]))]);
    assert_eq!(audited(&app.acme, "api_key.create"), (json!("Olga"), listed[1]["id"].clone(), changes));
}

/// Returns the secret that a page shows.
#[track_caller]
fn shown_secret(response: &Response) -> String {
    assert_eq!((response.status, response.header("cache-control")), (200, Some("private, no-store")));
    let page = response.text();
    let secret = between(&page, "id=\"secret\" type=\"text\" value=\"", "\"").to_owned();
    assert!(secret.starts_with("whsec_") && page.matches(&secret).count() == 1, "{page}");
    secret
}

/// Webhooks: what is refused, the secret, once, and all that the pages do.
#[test]
fn a_webhook_is_created_changed_and_deleted() {
    let app = App::with(&[], &[("ROADMAP_WEBHOOK_WORKER", "false")]);
    let olga = Browser::signed_in(&app, OLGA);
    let (path, api) = ("/admin/webhooks", "/api/external/v1/webhooks");
    let listed = || app.acme.get(api).is_ok()["webhooks"].clone();
    let page = olga.page(path);
    has(&page, &["<h1>Webhooks</h1>", "No webhook has been created yet.", "value=\"vote.created\"", "Microsoft Teams"]);
    for (url, sentence) in [
        ("", "URL is missing."),
        ("http://receiver.invalid/", "This is not an address for webhooks."),
        ("https://127.0.0.1/", "Webhooks cannot lead to local or reserved addresses"),
        ("https://receiver.invalid:25/", "Webhooks can use the ports 80 and 443"),
    ] {
        let fields = [("url", url), ("description", "Sync <b>"), ("format", "standard"), ("include_private", "1")];
        let page = refused(&olga.post(path, &fields), "url", sentence);
        has(&page, &["value=\"Sync &#60;b&#62;\"", "name=\"include_private\" value=\"1\" checked"]);
    }
    let chat = [("url", "https://hooks.slack.com/services/secretaB3x"), ("format", "slack")];
    let vote = [&chat[..], &[("events", "vote.created")]].concat();
    refused(&olga.post(path, &vote), "events", "This format does not have all of these events.");
    assert_eq!(listed(), json!([]));
    // The secret is shown once, also if the form is sent again.
    let operation_key = hidden(&olga.page(path), "operation_key");
    let fields = [
        ("url", "https://receiver.invalid/hook"),
        ("description", "Sync <b>"),
        ("format", "standard"),
        ("events", "vote.created"),
        ("events", "comment.created"),
        ("include_emails", "1"),
        ("operation_key", operation_key.as_str()),
    ];
    let first = shown_secret(&olga.post(path, &fields));
    let webhook = listed()[0].clone();
    let own = format!("{path}/{}", webhook["id"].as_str().unwrap());
    for _ in 0..2 {
        let next = olga.submit(path, &fields);
        assert_eq!(next, format!("{own}?done=webhook-created-before"));
        assert!(notice(&olga, &next).starts_with("This form was sent twice."));
    }
    assert_eq!(listed().as_array().unwrap().len(), 1);
    assert_eq!(
        (&webhook["events"], &webhook["include_emails"]),
        (&json!(["vote.created", "comment.created"]), &json!(true))
    );
    has(&olga.page(path), &["https://receiver.invalid/hook", "Sync &#60;b&#62;", "Enabled"]);
    // Rotated, changed, tested, disabled, enabled.
    let rotate = format!("{own}/rotate");
    refused(&send(&olga, &own, &rotate, &[]), "overlap", "Choose when the old secret ends.");
    let second = shown_secret(&send(&olga, &own, &rotate, &[("overlap", "hour")]));
    let page = olga.page(&own);
    has(&page, &["An older secret signs until", "value=\"https://receiver.invalid/hook\""]);
    let audit = olga.page("/admin/audit");
    has(&audit, &["Webhook created", "Secret of a webhook rotated", &own]);
    for secret in [&first, &second] {
        assert!(first != second && !page.contains(secret) && !audit.contains(secret));
    }
    let elsewhere = [("url", "https://elsewhere.invalid/"), ("description", "")];
    assert_eq!(submit(&olga, &own, &own, &elsewhere), format!("{own}?done=webhook-saved"));
    let changed = listed()[0].clone();
    assert_eq!((&changed["url"], &changed["events"]), (&json!("https://elsewhere.invalid/"), &json!(null)));
    assert_eq!(changed["include_emails"], false);
    refused(&send(&olga, &own, &own, &[("url", "")]), "url", "URL is missing.");
    assert_eq!(submit(&olga, &own, &format!("{own}/test"), &[]), format!("{own}?done=webhook-tested"));
    let page = olga.page(&own);
    has(&page, &["<caption class=\"hidden\">Deliveries</caption>", "webhook.test", "Waiting", "No try yet"]);
    assert!(!olga.page(&format!("{own}?state=failed")).contains("webhook.test</bdi>"));
    let delivery = between(&page, &format!("href=\"{own}/deliveries/"), "\"").to_owned();
    let delivery = format!("{own}/deliveries/{delivery}");
    has(&olga.page(&delivery), &["<h1>Delivery of webhook.test</h1>", "&#34;type&#34;:&#34;webhook.test&#34;"]);
    let again = format!("{delivery}/redeliver");
    assert_eq!(submit(&olga, &delivery, &again, &[]), format!("{delivery}?done=delivery-redelivered"));
    let all = format!("{own}/redeliver");
    assert_eq!(submit(&olga, &own, &all, &[]), format!("{own}?done=webhook-none-failed"));
    assert_eq!(submit(&olga, &own, &format!("{own}/disable"), &[]), format!("{own}?done=webhook-disabled"));
    has(&olga.page(&own), &["Disabled by the team", "Enable the webhook before you send anything again."]);
    refused(&send(&olga, &own, &all, &[]), "redeliver", "Enable the webhook");
    refused(&olga.post(&again, &[]), "redeliver", "Enable the webhook");
    assert_eq!(submit(&olga, &own, &format!("{own}/enable"), &[]), format!("{own}?done=webhook-enabled"));
    assert_eq!(listed()[0]["enabled"], true);
    // That of a chat service has no secret, and its URL is a credential.
    assert!(submit(&olga, path, path, &chat).ends_with("?done=webhook-created"));
    let slack = listed()[1].clone();
    let chat = format!("{path}/{}", slack["id"].as_str().unwrap());
    let page = olga.page(&chat);
    has(&page, &["https://hooks.slack.com/…aB3x", "id=\"url\" name=\"url\" type=\"url\" value=\"\""]);
    assert!(!page.contains("secretaB3x") && !page.contains("Rotate secret") && !page.contains("vote.created"));
    assert_eq!(submit(&olga, &chat, &chat, &[("description", "Chat")]), format!("{chat}?done=webhook-saved"));
    assert_eq!((&listed()[1]["url"], &listed()[1]["description"]), (&slack["url"], &json!("Chat")));
    for webhook in [&own, &chat] {
        let delete = format!("{webhook}/delete");
        has(&olga.page(&delete), &["Nothing is sent to it any more"]);
        assert_eq!(submit(&olga, &delete, &delete, &[]), format!("{path}?done=webhook-deleted"));
        assert_eq!((olga.get(webhook).status, olga.get(&delete).status), (404, 404));
    }
    assert_eq!((listed(), olga.get(&delivery).status), (json!([]), 404));
    // An eleventh is refused.
    for number in 0..10 {
        let url = format!("https://receiver.invalid/{number}");
        assert_eq!(app.acme.send("POST", api, &json!({ "webhook": { "url": url } })).status, 201);
    }
    let eleventh = [("url", "https://receiver.invalid/"), ("format", "standard")];
    refused(&olga.post(path, &eleventh), "url", "There are 10 webhooks already.");
}

/// Links: address and secret, once; what is refused; **Delete {name}**.
#[test]
fn a_tracker_is_connected_and_its_secret_shown_once() {
    let (app, olga) = started();
    let path = "/admin/link-sources";
    let listed = || app.acme.get("/api/external/v1/link_sources").is_ok()["link_sources"].clone();
    let shipped = app.track("Planned");
    let page = olga.page(path);
    has(&page, &["<h1>Link sources</h1>", "No tracker is connected yet.", "Do not move", "Planned"]);
    let operation_key = hidden(&page, "operation_key");
    let fields = |secret: &'static str| {
        [
            ("name", "Code <b>"),
            ("kind", "gitlab"),
            ("track", shipped.as_str()),
            ("notify", "1"),
            ("secret", secret),
            ("operation_key", operation_key.as_str()),
        ]
    };
    let page = refused(&olga.post(path, &fields("too short")), "secret", "The secret must have 16 to 255 characters.");
    assert!(page.contains("value=\"Code &#60;b&#62;\"") && !page.contains("too short"), "{page}");
    refused(&olga.post(path, &[("name", " "), ("kind", "gitlab")]), "name", "");
    let unknown = [("name", "a"), ("kind", "github"), ("track", UNKNOWN)];
    refused(&olga.post(path, &unknown), "track", "");
    assert_eq!(listed(), json!([]));
    let created = olga.post(path, &fields("a secret & 16 characters")).text();
    has(&created, &["Code &#60;b&#62; was added", "value=\"a secret &#38; 16 characters\"", "secret token"]);
    let source = listed()[0].clone();
    has(&created, &[&format!("value=\"{}\"", source["hook_url"].as_str().unwrap())]);
    assert_eq!((&source["closed_track_id"], &source["notify_all_voters"]), (&json!(shipped), &json!(true)));
    let page = olga.page(path);
    has(&page, &["Code &#60;b&#62;", "GitLab", "Never", source["hook_url"].as_str().unwrap()]);
    assert!(!page.contains("a secret") && !olga.page("/admin/audit").contains("a secret"));
    has(&olga.page("/admin/audit"), &["Link source added", "Code &#60;b&#62;"]);
    let visitor = Client { key: None, ..app.acme.clone() };
    let headers = [("Content-Type", "application/json"), ("X-Gitlab-Token", "a secret & 16 characters")];
    let hook = format!("/hooks/{}", source["id"].as_str().unwrap());
    assert_eq!(visitor.request("POST", &hook, &headers, Some(b"{}")).unwrap().status, 200);
    assert!(!olga.page(path).contains("Never"));
    let delete = format!("{path}/{}/delete", source["id"].as_str().unwrap());
    has(&olga.page(&delete), &["Delete Code &#60;b&#62;?", "Its reports are refused from then on."]);
    assert_eq!(submit(&olga, &delete, &delete, &[]), "/admin/link-sources?done=link-source-deleted");
    assert_eq!((listed(), olga.get(&delete).status), (json!([]), 404));
    assert_eq!(visitor.request("POST", &hook, &headers, Some(b"{}")).unwrap().status, 401);
    // Without a secret, one is made, and shown for the first of equal forms.
    let operation_key = hidden(&olga.page(path), "operation_key");
    let fields = [("name", "b"), ("kind", "linear"), ("operation_key", operation_key.as_str())];
    let made = olga.post(path, &fields).text();
    for _ in 0..2 {
        let next = olga.submit(path, &fields);
        assert_eq!(next, "/admin/link-sources?done=link-source-added-before");
        assert!(notice(&olga, &next).starts_with("This form was sent twice."));
    }
    assert_eq!(listed().as_array().unwrap().len(), 1);
    assert_eq!(between(&made, "id=\"secret\" type=\"text\" value=\"", "\"").len(), 40);
}

#[test]
fn of_parallel_forms_one_makes_a_key() {
    let (app, olga) = started();
    let key = hidden(&olga.page("/admin/api-keys"), "operation_key");
    let copies: Vec<_> = (0..8).map(|_| std::sync::Mutex::new(olga.duplicate())).collect();
    let fields = [("name", "One"), ("scope", "read"), ("expires_in", "never"), ("operation_key", key.as_str())];
    let statuses = in_parallel(8, |number| copies[number].lock().unwrap().post("/admin/api-keys", &fields).status);
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| matches!(status, 200 | 303)), "{statuses:?}");
    assert_eq!(keys(&app).len(), 2);
}

#[test]
fn a_key_needs_a_name_a_scope_and_a_lifetime() {
    let (app, olga) = started();
    let path = "/admin/api-keys";
    let page = refused(&send(&olga, path, path, &[("name", " ")]), "name", "Name is missing");
    has(&page, &["<a href=\"#read\">Tick at least one scope", "<a href=\"#expires_in\">Choose when the key expires"]);
    for (fields, field, sentence) in [
        ([("name", "A"), ("scope", "all"), ("expires_in", "30")], "read", "Tick at least one scope"),
        ([("name", "A"), ("scope", "manage"), ("expires_in", "31")], "expires_in", "Choose when the key expires"),
    ] {
        let page = refused(&send(&olga, path, path, &fields), field, sentence);
        has(&page, &["value=\"A\""]);
        assert_eq!(page.contains("value=\"manage\" checked"), field == "expires_in", "{page}");
        assert!(!page.contains("value=\"read\" checked"), "{page}");
    }
    assert_eq!((keys(&app).len(), count(&app.acme, "api_key.create")), (1, 1));
}

#[test]
fn a_key_is_rotated_and_revoked() {
    let (app, olga) = started();
    let list = "/admin/api-keys";
    let old = app.key("acme", &["--scope", "read"]);
    let id = keys(&app)[1]["id"].as_str().unwrap().to_owned();
    let rotate = format!("{list}/{id}/rotate");
    has(&olga.page(list), &["aria-label=\"Rotate another\"", "aria-label=\"Revoke another\""]);
    refused(
        &send(&olga, list, &rotate, &[("overlap", "year")]),
        &format!("overlap-{id}"),
        "Choose when the old key ends",
    );
    let operation_key = hidden(&olga.page(list), "operation_key");
    let fields = [("overlap", "hour"), ("operation_key", operation_key.as_str())];
    let response = olga.post(&rotate, &fields);
    has(&response.text(), &["The old key still works for 1 hour."]);
    let new = displayed_key(&response);
    assert_eq!(olga.submit(&rotate, &fields), "/admin/api-keys?done=key-created-before");
    for key in [&old, &new] {
        let api_key = app.client("acme", key).get_api_key().is_ok();
        assert_eq!((&api_key["api_key"]["name"], &api_key["api_key"]["scopes"]), (&json!("another"), &json!(["read"])));
    }
    let listed = keys(&app);
    assert_eq!((listed.len(), listed[1]["expires_at"].is_null(), listed[2]["expires_at"].is_null()), (3, false, true));
    assert_eq!(audited(&app.acme, "api_key.rotate").1, listed[2]["id"]);

    let revoke = format!("{list}/{id}/revoke");
    has(&olga.page(&revoke), &["<h1>Revoke another?</h1>", "It cannot be undone", "aria-label=\"Revoke another\""]);
    assert_eq!(submit(&olga, &revoke, &revoke, &[]), "/admin/api-keys?done=key-revoked");
    let page = olga.page("/admin/api-keys?done=key-revoked");
    has(&page, &["The key was revoked.", "<summary>1 key that does not work any more</summary>"]);
    assert_eq!((audited(&app.acme, "api_key.revoke").1, count(&app.acme, "api_key.revoke")), (json!(id), 1));
    eventually("the key is refused", || app.client("acme", &old).get_api_key().status == 401);
    has(&olga.page(&revoke), &["This key was revoked before."]);
    refused(&send(&olga, list, &rotate, &[("overlap", "none")]), "active", "This key does not work any more");
    for path in [UNKNOWN, "nonsense"] {
        assert_eq!(olga.get(&format!("{list}/{path}/revoke")).status, 404);
        assert_eq!(olga.post(&format!("{list}/{path}/revoke"), &[]).status, 404);
        assert_eq!(olga.post(&format!("{list}/{path}/rotate"), &[("overlap", "none")]).status, 404);
    }
    // At once.
    let rotate = format!("{list}/{}/rotate", listed[2]["id"].as_str().unwrap());
    let response = send(&olga, list, &rotate, &[("overlap", "none")]);
    has(&response.text(), &["The old key does not work any more."]);
    eventually("the key is refused", || app.client("acme", &new).get_api_key().status == 401);
}

#[test]
fn failed_mail_is_shown_and_sent_again() {
    let sink = Sink::start();
    sink.script(|step| match step {
        Step::To("gone@example.com") => Reply::Custom("550 5.7.1 this <list> is closed"),
        Step::To("busy@example.com") => Reply::Custom("450 4.2.1 busy"),
        _ => Reply::Default,
    });
    let app = app_with_smtp(&sink, "5s");
    let olga = Browser::signed_in(&app, OLGA);
    let path = "/admin/mail";
    let page = olga.page(path);
    has(&page, &["<h1>Mail</h1>", "Waiting", "Postponed", "Failed", "Sent lately", "All mail has arrived"]);
    has(&page, &["A test mail goes to your own address:", OLGA]);
    assert!(!page.contains("Retry failed mail") && !page.contains("Send postponed mail now"), "{page}");

    let dark = request(&app, "Dark mode");
    let gone = customer(&app, &dark, "gone@example.com", None);
    customer(&app, &dark, "busy@example.com", None);
    let comment = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    assert_eq!(app.acme.post_comment(&dark, &comment).status, 201);
    eventually("both were tried", || olga.page(path).matches("<th scope=\"row\">").count() == 2);
    let page = olga.page(path);
    let row = |text: &str| {
        let rows = page.split("<tr>").filter(|row| row.contains(text));
        rows.collect::<Vec<_>>().concat()
    };
    has(
        &row("550"),
        &[
            "Comment</a>",
            "5.7.1 this &#60;list&#62; is closed",
            "Given up",
            "1 try",
            &format!("/admin/customers/{gone}"),
        ],
    );
    has(&row("450"), &["4.2.1 busy", "Next try:"]);
    has(&page, &["Retry failed mail", "Send postponed mail now", "The oldest mail waits since"]);
    let numbers: Vec<&str> = page.split("<dd><b>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(numbers, ["1", "1", "1", "0"]);

    sink.script(|_| Reply::Default);
    let retry = "/admin/mail/retry";
    let next = submit(&olga, path, retry, &[]);
    assert_eq!(
        (next.as_str(), notice(&olga, &next).as_str()),
        ("/admin/mail?done=mail-retried&count=1", "1 mail is sent again.")
    );
    eventually("the busy one has it", || sink.count() == 1);
    assert_eq!(submit(&olga, path, retry, &[("dead", "on")]), "/admin/mail?done=mail-retried&count=1");
    eventually("the gone one has it", || sink.count() == 2);
    eventually("nothing is left", || olga.page(path).contains("All mail has arrived"));
    assert_eq!(olga.submit(retry, &[("dead", "on")]), "/admin/mail?done=unchanged");
    let changes = json!([{ "field": "mails", "old": 0, "new": 1 }]);
    assert_eq!(audited(&app.acme, "mail.retry"), (json!("Olga"), Value::Null, changes));
    assert_eq!(count(&app.acme, "mail.retry"), 2);
}

#[test]
fn test_mails_go_to_the_own_address_and_there_are_five_an_hour() {
    let sink = Sink::start();
    let app = app_with_smtp(&sink, "5s");
    let olga = Browser::signed_in(&app, OLGA);
    let (path, test) = ("/admin/mail", "/admin/mail/test");
    has(&olga.page(path), &["A test mail goes to your own address:", OLGA]);
    for number in 1..=5 {
        let next = submit(&olga, path, test, &[("email", "victim@example.com")]);
        assert_eq!(
            (next.as_str(), notice(&olga, &next).as_str()),
            ("/admin/mail?done=mail-tested", "The test mail is on its way."),
            "{number}"
        );
    }
    refused(&send(&olga, path, test, &[]), "test", "To keep out spam, there are limits. Please try again in");
    eventually("they are there", || sink.count() == 5);
    assert!(sink.received().iter().all(|mail| mail.to == [OLGA]));
    assert_eq!((audited(&app.acme, "mail.test").2, count(&app.acme, "mail.test")), (json!([]), 5));
}

#[test]
fn without_a_mail_server_the_panel_says_so() {
    let sentence = "No mail server is set. Customers cannot sign in, and nobody gets mail";
    let pages = ["/admin", "/admin/overview", "/admin/changelogs", "/admin/members", "/admin/settings", "/admin/mail"];
    let (_app, olga) = started();
    for path in pages {
        assert!(olga.page(path).contains(sentence), "{path}");
    }
    assert!(!olga.page("/admin/tracks").contains(sentence));
    let next = submit(&olga, "/admin/mail", "/admin/mail/test", &[]);
    assert_eq!(notice(&olga, &next), "The test mail was written to a file. Nobody gets it.");
    has(
        &olga.page("/admin/mail"),
        &["Nothing, because nothing is sent.", "Written to files, and not sent to anybody.", "It is written to a file"],
    );
    let sink = Sink::start();
    let app = app_with_smtp(&sink, "5s");
    let olga = Browser::signed_in(&app, OLGA);
    for path in pages {
        assert!(!olga.page(path).contains(sentence), "{path}");
    }
}

/// Returns the rows of the audit log.
fn rows(page: &str) -> Vec<String> {
    let Some((_, body)) = page.split_once("<tbody>") else { return Vec::new() };
    body.split("<tr>").skip(1).map(|row| row.split("</tr>").next().unwrap().to_owned()).collect()
}

#[test]
fn the_audit_log_says_who_changed_what() {
    let (app, olga) = started();
    let (dark, night) = (request(&app, "Dark <mode>"), request(&app, "Night mode"));
    let edit = json!({ "feature_request": { "title": "Very dark mode", "private": true } });
    app.acme.patch_feature_request(&dark, &edit).is_ok();
    app.acme.patch_feature_request(&dark, &json!({ "feature_request": { "private": false } })).is_ok();
    app.acme.post_merge(&night, &json!({ "target_id": dark })).is_ok();
    assert_eq!(app.acme.delete_feature_request(&request(&app, "Mistake"), "").status, 204);
    let path = "/admin/audit";
    let page = olga.page(path);
    has(&page, &["<h1>Audit</h1>", "<caption class=\"hidden\">Audit</caption>", "<label for=\"actor\">Actor</label>"]);
    has(&page, &["<label for=\"action\">Action</label>", "Download CSV", "Member: Olga", "API key: tests (…"]);
    let of = |code: &str| {
        let all = rows(&page);
        let row = all.iter().find(|row| row.contains(&format!("<code>{code}</code>")));
        row.unwrap_or_else(|| panic!("{code}: {page}")).clone()
    };
    // By title, also of one that is merged into another.
    let merge = of("feature_request.merge");
    has(&merge, &["Feature request merged", "<bdi>tests</bdi>", "by the API", "<bdi>Night mode</bdi></a>"]);
    has(&merge, &["Merged into", "<bdi>Very dark mode</bdi></ins>", "href=\"/admin/feature_requests/2-night-mode\""]);
    let all = rows(&page);
    let edits: Vec<&String> = all.iter().filter(|row| row.contains("feature_request.update")).collect();
    has(edits[1], &["<bdi>Dark &#60;mode&#62;</bdi></del>", "<bdi>Very dark mode</bdi></ins>", "<bdi>no</bdi></del>"]);
    has(edits[1], &["href=\"/admin/feature_requests/1-very-dark-mode\"", "<bdi>yes</bdi></ins>"]);
    // What was deleted has its last title, and no link.
    let deleted = of("feature_request.delete");
    has(&deleted, &["Feature request deleted", "<bdi>Mistake</bdi>"]);
    assert!(!deleted.contains("/admin/feature_requests/"), "{deleted}");
    has(&of("api_key.create"), &["href=\"/admin/api-keys\"><bdi>tests</bdi>", "read, write, manage", "by a command"]);
    has(&of("workspace.create"), &["Workspace created"]);
    // The link of a record leads to its entries.
    let only = format!("/admin/audit?subject={dark}");
    has(edits[0], &[&format!("href=\"{only}\"")]);
    let page = olga.page(&only);
    assert_eq!(rows(&page).len(), 2, "{page}");
    has(&page, &["Entries about one record are shown.", "href=\"/admin/audit\">Show all records"]);
    has(&page, &[&format!("name=\"subject\" value=\"{dark}\""), &format!("href=\"/admin/audit.csv?subject={dark}\"")]);
}

#[test]
fn the_audit_log_is_filtered_and_comes_in_pages() {
    let (app, olga) = started();
    let path = "/admin/audit";
    for number in 0..60 {
        let lane = json!({ "lane": { "name": format!("Lane {number}") } });
        assert_eq!(app.acme.post_lane(&lane).status, 201);
    }
    let count = |query: &str| rows(&olga.page(&format!("{path}?{query}"))).len();
    let page = olga.page(&format!("{path}?action=lane.create"));
    assert_eq!(rows(&page).len(), 50);
    has(&rows(&page)[0], &["<bdi>Lane 59</bdi>", "Lane added"]);
    has(&page, &["<option value=\"lane.create\" selected>Lane added</option>"]);
    let older = between(&page, "<a class=\"button\" href=\"/admin/audit?action=lane.create&#38;cursor=", "\"");
    let page = olga.page(&format!("{path}?action=lane.create&cursor={older}"));
    assert_eq!(rows(&page).len(), 10);
    has(&rows(&page)[9], &["<bdi>Lane 0</bdi>"]);
    has(&page, &["href=\"/admin/audit?action=lane.create\">Newest entries"]);
    assert!(!page.contains("Older entries"), "{page}");
    // Actors: a kind, a key, a member.
    let key = app.acme.get_api_key().is_ok()["api_key"]["id"].as_str().unwrap().to_owned();
    let own = member(&app, OLGA)["id"].as_str().unwrap().to_owned();
    assert_eq!((count("actor=api_key"), count(&format!("actor={key}")), count(&format!("actor={own}"))), (50, 50, 0));
    let operator = count("actor=operator");
    assert!((1..10).contains(&operator), "{operator}");
    assert_eq!((count("actor=operator&action=lane.create"), count("actor=customer")), (0, 0));
    has(&olga.page(&format!("{path}?actor=customer")), &["No entries", "<option value=\"customer\" selected>"]);
    // Days: the last one is a part of it.
    let now = app.acme.get_audit_entries("page_size=1").is_ok()["audit_entries"][0]["created_at"].clone();
    let today = now.as_str().expect("a time").split('T').next().unwrap().to_owned();
    assert_eq!(count(&format!("action=lane.create&from={today}&to={today}")), 50);
    assert_eq!((count("to=2020-02-29"), count("from=2999-01-01")), (0, 0));
    let page = refused(&olga.get(&format!("{path}?from=yesterday&to=2020-02-30")), "from", "This is not a day");
    has(&page, &["value=\"yesterday\"", "<a href=\"#to\">This is not a day"]);
    refused(&olga.get(&format!("{path}?actor=king")), "actor", "The log cannot be filtered by this");
    refused(&olga.get(&format!("{path}?subject=nonsense")), "subject", "The log cannot be filtered by this");
}

#[test]
fn the_audit_log_is_downloaded_as_it_is_filtered() {
    let (app, olga) = started();
    let dark = request(&app, "=1+1");
    app.acme.patch_feature_request(&dark, &json!({ "feature_request": { "title": "Dark, \"very\"" } })).is_ok();
    let response = olga.get(&format!("/admin/audit.csv?subject={dark}"));
    assert_eq!(response.status, 200);
    for (name, value) in [
        ("content-type", "text/csv; charset=utf-8"),
        ("content-disposition", "attachment; filename=\"audit.csv\""),
        ("cache-control", "private, no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(response.header(name), Some(value));
    }
    let entry = app.acme.get_audit_entries(&format!("subject={dark}")).is_ok()["audit_entries"][0].clone();
    let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let expected = [
        "\u{feff}\"created_at\",\"actor_kind\",\"actor_id\",\"actor_name\",\"channel\",\"request_id\",\"action\",\
         \"subject_kind\",\"subject_id\",\"changes\""
            .to_owned(),
        format!(
            "\"{}\",\"api_key\",\"{}\",\"tests\",\"api\",\"{}\",\"feature_request.update\",\"feature_request\",\"{dark}\",\
             \"[{{\"\"field\"\":\"\"title\"\",\"\"new\"\":\"\"Dark, \\\"\"very\\\"\"\"\",\"\"old\"\":\"\"=1+1\"\"}}]\"",
            text("/created_at"),
            text("/actor/id"),
            text("/request_id"),
        ),
    ];
    assert_eq!(response.text().lines().collect::<Vec<_>>(), expected);
    // Everything: more than one page of the API has.
    for number in 0..120 {
        app.acme.post_lane(&json!({ "lane": { "name": format!("Lane {number}") } }));
    }
    assert_eq!(olga.page("/admin/audit.csv?action=lane.create").lines().count(), 121);
    let wrong = olga.get("/admin/audit.csv?from=x");
    assert_eq!((wrong.status, wrong.header("location")), (303, Some("/admin/audit?from=x")));
}
