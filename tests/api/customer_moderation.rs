//! Spam: who wrote what, removing everything that a person wrote, blocks, and decisions about many held posts.

use serde_json::{Value, json};

use crate::app::App;
use crate::browser::{Browser, hidden, sign_in_mails};

const OLGA: &str = "olga@acme.example";
const ANN: &str = "ann@example.com";

/// Starts a service whose admin Olga is signed in.
fn started() -> (App, Browser) {
    let app = App::start();
    let olga = Browser::signed_in(&app, OLGA);
    (app, olga)
}

/// Creates a feature request of a customer. Returns its ID.
fn idea(app: &App, title: &str, email: &str, name: Option<&str>) -> String {
    let body = json!({
        "feature_request": { "title": title, "description": format!("<p>Cheap {}</p>", title.to_lowercase()), "tags": ["shop"] },
        "customer": { "email": email, "name": name },
    });
    let response = app.acme.post_feature_request(&body);
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["feature_request"]["id"].as_str().expect("an id").to_owned()
}

fn comment(app: &App, request: &str, content: &str, email: &str) -> String {
    let body = json!({ "comment": { "content": content }, "customer": { "email": email } });
    let response = app.acme.post_comment(request, &body);
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["comment"]["id"].as_str().expect("an id").to_owned()
}

/// Returns the titles that a search finds.
fn matching_titles(app: &App, query: &str) -> Vec<String> {
    let listed = app.acme.get_feature_requests(&format!("query={query}")).is_ok()["feature_requests"].clone();
    let listed = listed.as_array().expect("a list").iter();
    listed.map(|request| request["title"].as_str().expect("a title").to_owned()).collect()
}

fn customer_id(app: &App, email: &str) -> String {
    let listed = app.acme.get_customers(&format!("query={email}")).is_ok();
    listed["customers"][0]["id"].as_str().expect("an id").to_owned()
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

/// Sends a form with the operation key of the page on which it is, twice: it does one thing. Returns where it leads.
#[track_caller]
fn submit(browser: &Browser, page: &str, action: &str, fields: &[(&str, &str)]) -> String {
    let key = hidden(&browser.page(page), "operation_key");
    let mut fields = fields.to_vec();
    fields.push(("operation_key", &key));
    let next = browser.submit(action, &fields);
    assert_eq!(browser.submit(action, &fields), next);
    next
}

/// Returns the entries of an action: the subject and the changes, newest first.
fn audited(app: &App, action: &str) -> Vec<(Value, Value)> {
    let entries = app.acme.get_audit_entries(&format!("action={action}")).is_ok()["audit_entries"].clone();
    let entries = entries.as_array().expect("a list").iter();
    entries.map(|entry| (entry["subject"]["id"].clone(), entry["changes"].clone())).collect()
}

#[test]
fn the_team_sees_who_wrote_each_comment_and_nobody_else_does() {
    let (app, olga) = started();
    let dark = idea(&app, "Dark mode", "bob@example.com", None);
    let night = idea(&app, "Night mode", ANN, Some("Ann <b>"));
    app.acme.merge(&night, &dark);
    let public = comment(&app, &dark, "<p>Me, too</p>", ANN);
    comment(&app, &dark, "<p>And me</p>", "bob@example.com");
    app.acme.comment(&dark, "<p>Soon</p>");
    let held = app.data.hold_comment(&dark, ANN, "<p>Buy watches</p>", "61000");
    let ann = customer_id(&app, ANN);
    let link = format!("<a href=\"/admin/customers/{ann}\"><bdi>Ann &#60;b&#62;</bdi></a>");
    let page = olga.page("/admin/feature_requests/1-dark-mode");
    // The description of the merged one, the comment, and the one that waits.
    assert_eq!(page.matches(&format!("<h3 dir=\"auto\">{link}</h3>")).count(), 3, "{page}");
    assert!(page.matches(">ann@example.com</bdi>").count() >= 3, "{page}");
    // Whoever has no name is known by the address, once.
    has(&page, &["<bdi>bob@example.com</bdi></a></h3>"]);
    let named = "the comment of Ann &#60;b&#62; (ann@example.com) on “Dark mode”, 1 January 1970, 00:01</span>";
    has(
        &page,
        &[&format!("Approve<span class=\"hidden\"> {named}"), &format!("Discard<span class=\"hidden\"> {named}")],
    );
    let change = between(&page, &format!("/admin/comments/{public}?"), "</a>");
    has(change, &["the comment of Ann &#60;b&#62; (ann@example.com) on “Dark mode”, "]);
    let edit = olga.page(&format!("/admin/comments/{public}"));
    has(&edit, &[&link, ">ann@example.com</bdi>"]);
    let inbox = olga.page("/admin?state=awaiting");
    has(&inbox, &[&link, ">ann@example.com</bdi>", &format!("Approve<span class=\"hidden\"> {named}")]);

    // Not even a member sees an address on the portal, and the API has none in the list of comments.
    for page in [olga.page("/feature_requests/1-dark-mode"), Browser::new(&app).page("/feature_requests/1-dark-mode")] {
        assert!(!page.contains("ann@example.com") && !page.contains("bob@example.com"), "{page}");
    }
    let member = olga.page("/feature_requests/1-dark-mode");
    has(
        &member,
        &[&format!("/comments/{held}/approve"), "the comment of Ann &#60;b&#62; on “Dark mode”, 1 January 1970"],
    );
    assert!(!app.acme.get_comments(&dark, "").text().contains("@example.com"));
}

#[test]
fn all_texts_of_a_person_are_removed_and_restored() {
    let (app, olga) = started();
    let spam = idea(&app, "Watches", ANN, Some("Ann"));
    let dark = idea(&app, "Dark mode", "bob@example.com", None);
    app.acme.vote(&spam, "bob@example.com");
    comment(&app, &spam, "<p>No, thanks</p>", "bob@example.com");
    comment(&app, &dark, "<p>Buy <strong>now</strong></p>", ANN);
    app.data.hold_comment(&dark, ANN, "<p>Buy later</p>", "61000");
    let ann = customer_id(&app, ANN);
    let path = format!("/admin/customers/{ann}");
    let page = olga.page(&path);
    let texts = between(&page, "aria-labelledby=\"texts\"", "</section>");
    has(
        texts,
        &["<span class=\"count\">3</span>", "Watches", "Buy <strong>now</strong>", "Buy later", "Awaiting approval"],
    );
    has(
        texts,
        &["/admin/feature_requests/1-watches", "/admin/feature_requests/2-dark-mode", "Remove all texts</button>"],
    );
    assert!(!texts.contains("Undo"), "{texts}");

    let ask = olga.page(&format!("{path}/remove-texts"));
    has(
        &ask,
        &["<h1 dir=\"auto\">Remove all texts of Ann</h1>", "2 comments are", "One feature request becomes private"],
    );
    has(&ask, &["Votes, comments of others and private notes stay", "for 30 days"]);
    let (before, comments) = (app.acme.detail(&spam), app.acme.get_comments(&dark, "").is_ok());
    let next = submit(&olga, &format!("{path}/remove-texts"), &format!("{path}/remove-texts"), &[]);
    assert_eq!(next, format!("{path}?done=texts-removed&count=3"));
    assert_eq!(notice(&olga, &next), "3 texts were removed.");
    let visitor = Browser::new(&app);
    assert_eq!(visitor.get("/feature_requests/1-watches").status, 404);
    for page in ["/", "/feature_requests", "/feature_requests.atom", "/feature_requests/2-dark-mode", "/sitemap.xml"] {
        let text = visitor.get(page).text();
        assert!(!text.contains("atches") && !text.contains("Buy"), "{page}: {text}");
    }
    let now = app.acme.detail(&spam);
    assert_eq!((&now["title"], &now["description"], &now["private"]), (&json!("[removed]"), &json!(""), &json!(true)));
    assert_eq!((&now["votes_count"], &now["comments_count"]), (&json!(2), &json!(1)));
    assert_eq!(app.acme.get_comments(&dark, "").is_ok()["total_count"], 0);
    assert_eq!(app.acme.get_held_posts("").is_ok()["total_count"], 0);
    assert_eq!(matching_titles(&app, "watches"), [""; 0]);
    app.data.is_sound();
    // The team still sees the texts, and can bring them back.
    let page = olga.page(&path);
    let texts = between(&page, "aria-labelledby=\"texts\"", "</section>");
    has(
        texts,
        &[
            "3 texts are removed",
            "Undo</button>",
            "Watches",
            "Buy <strong>now</strong>",
            "Buy later",
            ">Removed</span>",
        ],
    );
    assert!(!texts.contains("Remove all texts"), "{texts}");
    has(&olga.page(&format!("{path}/remove-texts")), &["This customer has written nothing."]);
    let changes = json!([
        { "field": "feature_requests", "old": null, "new": 1 },
        { "field": "comments", "old": null, "new": 2 },
    ]);
    assert_eq!(audited(&app, "customer.remove_texts"), [(json!(ann), changes.clone())]);

    let next = submit(&olga, &path, &format!("{path}/restore-texts"), &[]);
    assert_eq!(notice(&olga, &next), "3 texts were restored.");
    let mut restored = app.acme.detail(&spam);
    restored["updated_at"] = before["updated_at"].clone();
    assert_eq!((restored, app.acme.get_comments(&dark, "").is_ok()), (before, comments));
    assert_eq!(app.acme.get_held_posts("").is_ok()["total_count"], 1);
    assert_eq!(matching_titles(&app, "watches"), ["Watches"]);
    assert_eq!(audited(&app, "customer.restore_texts"), [(json!(ann), changes)]);
    app.data.is_sound();
    for action in ["remove-texts", "restore-texts", "block", "unblock"] {
        for id in ["01890a5d-ac96-774b-bcce-b302099a8057", "nonsense"] {
            assert_eq!(olga.post(&format!("/admin/customers/{id}/{action}"), &[]).status, 404, "{action}");
        }
    }
}

#[test]
fn a_blocked_person_notices_nothing_and_does_nothing() {
    let (app, olga) = started();
    let dark = idea(&app, "Dark mode", "bob@example.com", None);
    app.acme.vote(&dark, ANN);
    let ann = Browser::signed_in(&app, ANN);
    assert_eq!(ann.get("/account").status, 200);
    // A link that was sent before does not work afterwards.
    for email in [ANN, "eve@example.com"] {
        Browser::new(&app).submit("/sign-in", &[("email", email)]);
    }
    let sent = sign_in_mails(&app, ANN, 1).remove(0);
    let id = customer_id(&app, ANN);
    let path = format!("/admin/customers/{id}");
    let next = submit(&olga, &path, &format!("{path}/block"), &[]);
    assert_eq!(notice(&olga, &next), "The customer is blocked.");
    has(&olga.page(&path), &["Blocked since", "Unblock</button>", ">Blocked</span>"]);
    assert_eq!(ann.get("/account").status, 303, "the session has ended");
    let used = Browser::new(&app).post(&sent.path, &[("choice", "only")]);
    assert_ne!(used.status, 303, "{}", used.text());

    // Everything looks as for anybody else, but no mail comes.
    for (form, fields) in [
        ("/sign-in", vec![]),
        ("/feature_requests/1-dark-mode/comments", vec![("content", "Buy watches")]),
        ("/feature_requests/new", vec![("title", "Watches"), ("description", "")]),
        // More than an address may ask for.
        ("/feature_requests/1-dark-mode/vote", vec![]),
    ] {
        let send = |email: &str| {
            let mut fields = fields.clone();
            fields.push(("email", email));
            let response = Browser::new(&app).post(form, &fields);
            let next = response.header("location").map(ToOwned::to_owned);
            (response.status, next, response.text().replace(email, "(address)"))
        };
        assert_eq!(send("ANN@example.com"), send("eve@example.com"), "{form}");
    }
    assert_eq!(sign_in_mails(&app, "eve@example.com", 3).len(), 3);
    let waiting =
        app.count("SELECT count(*) FROM outbox WHERE kind = 'sign_in' AND lower(address) = 'ann@example.com'");
    assert_eq!(waiting, 1, "only the mail from before");
    assert_eq!(app.acme.detail(&dark)["comments_count"], 0);

    // The team's votes count, and send the person nothing.
    let night = idea(&app, "Night mode", "bob@example.com", None);
    app.acme.vote(&night, ANN);
    assert_eq!(app.acme.detail(&night)["votes_count"], 2);
    let announce = json!({ "comment": { "content": "<p>Soon</p>" }, "notify_all_voters": true });
    assert_eq!(app.acme.post_comment(&night, &announce).status, 201);
    let mails = |id: &str| {
        let id = id.replace('-', "");
        let customer = crate::database::hex("customer_id");
        app.count(&format!("SELECT count(*) FROM outbox WHERE {customer} = '{id}'"))
    };
    assert_eq!(mails(&id), 0);

    let page = olga.page("/admin/customers?blocked=1");
    has(&page, &["1 customer<", "ann@example.com", ">Blocked</span>", "name=\"blocked\" value=\"1\" checked"]);
    assert!(!page.contains("bob@example.com"), "{page}");
    has(&olga.page("/admin/customers?blocked=1&query=bob"), &["Nobody found"]);
    has(&olga.page("/admin/customers"), &["ann@example.com", "bob@example.com", ">Blocked</span>"]);

    let next = submit(&olga, &path, &format!("{path}/unblock"), &[]);
    assert_eq!(notice(&olga, &next), "The customer is not blocked any more.");
    assert_eq!(app.acme.post_comment(&night, &announce).status, 201);
    assert_eq!(mails(&id), 1);
    let blocked = |old: bool| json!([{ "field": "blocked", "old": old, "new": !old }]);
    assert_eq!(audited(&app, "customer.block"), [(json!(id), blocked(false))]);
    assert_eq!(audited(&app, "customer.unblock"), [(json!(id), blocked(true))]);
    // Members are not blocked.
    app.acme.vote(&dark, OLGA);
    let path = format!("/admin/customers/{}", customer_id(&app, OLGA));
    let key = hidden(&olga.page(&path), "operation_key");
    let refused = olga.post(&format!("{path}/block"), &[("operation_key", &key)]);
    assert_eq!(refused.status, 422);
    has(
        &refused.text(),
        &["<a href=\"#block\">This is a member of the team.", "aria-describedby=\"block-error block-hint\""],
    );
    assert_eq!(olga.get("/admin").status, 200);
}

#[test]
fn many_held_posts_are_decided_at_once() {
    let (app, olga) = started();
    let dark = idea(&app, "Dark mode", "bob@example.com", None);
    let hold = |title: &str| {
        let body = json!({ "feature_request": { "title": title, "private": true }, "customer": { "email": ANN } });
        let response = app.acme.post_feature_request(&body);
        let id = response.json()["feature_request"]["id"].as_str().expect("an id").to_owned();
        app.data.hold_feature_request(&id);
        id
    };
    let (good, spam) = (hold("Night mode"), hold("Watches"));
    let held: Vec<String> =
        (0..4).map(|number| app.data.hold_comment(&dark, ANN, &format!("<p>Text {number}</p>"), "61000")).collect();
    let page = olga.page("/admin?state=awaiting");
    for comment in &held {
        has(&page, &[&format!("name=\"comment\" value=\"{comment}\" form=\"posts\"")]);
    }
    has(
        &page,
        &[
            "name=\"action\" value=\"approve\">Approve</button>",
            "aria-label=\"Select the comment of ann@example.com on",
        ],
    );
    let decide = |action: &str, ids: &[&str], comments: &[&str]| {
        let mut fields: Vec<(&str, &str)> = vec![("action", action), ("next", "/admin?state=awaiting")];
        fields.extend(ids.iter().map(|id| ("id", *id)));
        fields.extend(comments.iter().map(|comment| ("comment", *comment)));
        submit(&olga, "/admin", "/admin/triage", &fields)
    };
    let next = decide("approve", &[&good], &[&held[0], &held[1]]);
    assert_eq!(next, "/admin?state=awaiting&done=posts-approved&count=3");
    assert_eq!(notice(&olga, &next), "3 posts were approved.");
    assert_eq!(
        (&app.acme.detail(&good)["private"], app.acme.get_comments(&dark, "").is_ok()["total_count"].clone()),
        (&json!(false), json!(2))
    );
    // What does not wait any more is left out, also a comment that is public now.
    let next = decide("discard", &[&spam, &good], &[&held[1], &held[2], &held[3]]);
    assert_eq!(notice(&olga, &next), "3 posts were discarded.");
    assert_eq!(app.acme.detail(&spam)["private"], json!(true));
    assert_eq!(app.acme.get_comments(&dark, "").is_ok()["total_count"], 2);
    assert_eq!(app.acme.get_held_posts("").is_ok()["total_count"], 0);
    assert_eq!(decide("discard", &[], &[&held[2]]), "/admin?state=awaiting&done=unchanged");
    let counts = ["comment.approve", "comment.delete", "feature_request.approve", "feature_request.decline"];
    assert_eq!(counts.map(|action| audited(&app, action).len()), [2, 2, 1, 1]);
    app.data.is_sound();

    // Nothing is ticked, or too much: what is ticked stays.
    let waiting = app.data.hold_comment(&dark, ANN, "<p>Waits</p>", "61000");
    let refused = |comments: &[String]| {
        let mut fields = vec![("action", "discard"), ("next", "/admin?state=awaiting")];
        fields.extend(comments.iter().map(|comment| ("comment", comment.as_str())));
        let response = olga.post("/admin/triage", &fields);
        assert_eq!(response.status, 422);
        response.text()
    };
    has(&refused(&[]), &["<a href=\"#select-1\">Nothing is selected. Tick at least one post.", "id=\"select-1\""]);
    let mut many: Vec<String> = (0..100).map(|number| format!("01890a5d-ac96-774b-bcce-{number:012}")).collect();
    many.push(waiting.clone());
    let page = refused(&many);
    has(&page, &["Select at most 100 posts.", &format!("value=\"{waiting}\" form=\"posts\" checked")]);
    assert_eq!(app.acme.get_held_posts("").is_ok()["total_count"], 1);
}

#[test]
fn keys_of_whoever_leaves_are_listed_and_revoked() {
    let (app, olga) = started();
    let add = |email: &str, name: &str| {
        let added = ["member", "add", "--workspace", "acme", "--email", email, "--name", name, "--role", "admin"];
        app.roadmap(&added).json()["id"].as_str().expect("an id").to_owned()
    };
    let make = |browser: &Browser, name: &str| {
        let key = hidden(&browser.page("/admin/api-keys"), "operation_key");
        let fields = [("name", name), ("scope", "read"), ("expires_in", "never"), ("operation_key", key.as_str())];
        let page = browser.post("/admin/api-keys", &fields).text();
        let start = page.find("rmk_").unwrap_or_else(|| panic!("no key: {page}"));
        page[start..start + 53].to_owned()
    };
    let status = |key: &str| app.client("acme", key).get_feature_requests("query=x").status;
    let revoked = |key: &str| crate::app::eventually("the key is refused", || status(key) == 401);
    let bob = add("bob@acme.example", "Bob");
    let (of_bob, of_olga) = (make(&Browser::signed_in(&app, "bob@acme.example"), "bobs-backdoor"), make(&olga, "ours"));
    assert_eq!((status(&of_bob), status(&of_olga)), (200, 200));
    let path = format!("/admin/members/{bob}/remove");
    let page = olga.page(&path);
    has(&page, &["bobs-backdoor", &format!("…{}", &of_bob[49..]), "name=\"keys\" value=\"1\" checked"]);
    assert!(!page.contains("ours"), "{page}");
    submit(&olga, &path, &path, &[("keys", "1")]);
    revoked(&of_bob);
    assert_eq!(
        (status(&of_olga), audited(&app, "api_key.revoke").len(), audited(&app, "member.remove").len()),
        (200, 1, 1)
    );

    // An admin who becomes a member is asked about, too. Without the tick the keys go on working.
    let eve = add("eve@acme.example", "Eve");
    let of_eve = make(&Browser::signed_in(&app, "eve@acme.example"), "eves");
    let role = format!("/admin/members/{eve}/role");
    let ask = format!("/admin/members/{eve}/demote");
    assert_eq!(submit(&olga, "/admin/members", &role, &[("role", "member")]), ask);
    has(&olga.page(&ask), &["eves", "name=\"keys\" value=\"1\" checked", "name=\"confirmed\" value=\"1\""]);
    let members = app.roadmap(&["member", "list", "--workspace", "acme"]).json();
    let still = members.as_array().expect("a list").iter().find(|member| member["id"] == eve.as_str());
    assert_eq!(still.expect("Eve")["role"], "admin");
    let next = submit(&olga, &ask, &role, &[("role", "member"), ("confirmed", "1")]);
    assert_eq!((next.as_str(), status(&of_eve)), ("/admin/members?done=role-changed", 200));

    // The commands do the same.
    let member = |arguments: &[&str]| app.roadmap(&[&["member"], arguments, &["--workspace", "acme"]].concat()).json();
    member(&["role", "eve@acme.example", "admin"]);
    let response = member(&["role", "eve@acme.example", "member", "--keep-api-keys"]);
    assert_eq!(response["revoked_api_keys"], json!([]));
    let removed = member(&["remove", "eve@acme.example"]);
    assert_eq!(removed["revoked_api_keys"].as_array().expect("a list").len(), 1);
    revoked(&of_eve);
    assert_eq!(status(&of_olga), 200);
}
