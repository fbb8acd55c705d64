//! Who may open which page of the admin panel: every route of the table, for every kind of caller.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::time::Duration;

use serde_json::{Value, json};

use crate::app::{App, FORM_TYPE, eventually, form_with};
use crate::browser::{Browser, path_of};

/// The table of the pages, of which the rows are the test cases.
const TABLE: &str = include_str!("../../crates/web/src/routes.rs");

/// The part of paths that is the ID of a delivery.
const DELIVERY: &str = "{delivery}";

/// A route of the panel.
#[derive(Debug)]
struct Route {
    method: &'static str,
    path: &'static str,
    who: &'static str,
}

/// Reads the rows of the panel from the table.
fn routes() -> Vec<Route> {
    let rows = TABLE.lines().map(str::trim);
    let row = |line: &'static str| {
        let kinds = [("get(\"", "GET"), ("post(\"", "POST"), ("upload(\"", "POST")];
        let (method, rest) = kinds.into_iter().find_map(|(start, method)| Some((method, line.strip_prefix(start)?)))?;
        let (path, rest) = rest.split_once('"')?;
        let who = rest.trim_start_matches(", ").split(',').next()?;
        path.starts_with("/admin").then_some(Route { method, path, who })
    };
    let routes: Vec<Route> = rows.filter_map(row).collect();
    assert!(routes.len() > 60, "{}", routes.len());
    routes
}

/// A workspace with one record of each kind, by the start of the paths of its pages.
fn records(app: &App) -> BTreeMap<&'static str, String> {
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    let request = app.acme.feature_request("Dark mode");
    let body = json!({ "comment": { "content": "Soon", "author_email": "olga@acme.example" } });
    let comment = id(&app.acme.post_comment(&id(&request), &body).json()["comment"]);
    let vote = json!({
        "customer": { "email": "ann@example.com", "name": "Ann" },
        "reference_note": { "body": "Calls often", "author_email": "olga@acme.example" },
    });
    assert_eq!(app.acme.post_upvote(&id(&request), &vote).status, 201);
    let note = id(&app.acme.get_reference_notes(&id(&request), "").json()["reference_notes"][0]);
    let link = json!({ "link": { "url": "https://acme.example/browse/APP-7" } });
    let link = id(&app.acme.post_link(&id(&request), &link).json()["link"]);
    let source = json!({ "link_source": { "name": "Code", "kind": "github" } });
    let source = id(&app.acme.send("POST", "/api/external/v1/link_sources", &source).json()["link_source"]);
    let webhook = json!({ "webhook": { "url": "https://receiver.invalid/", "enabled": false } });
    let webhook = id(&app.acme.send("POST", "/api/external/v1/webhooks", &webhook).json()["webhook"]);
    let test = format!("/api/external/v1/webhooks/{webhook}/test");
    let delivery = id(&app.acme.send("POST", &test, &json!({})).json()["delivery"]);
    let changelog = json!({ "changelog": { "title": "New", "content": "<p>Much</p>" } });
    let changelog = id(&app.acme.post_changelog(&changelog).json()["changelog"]);
    let track = id(&app.acme.get_tracks().json()["tracks"][0]);
    let lane = id(&app.acme.get_lanes().json()["lanes"][0]);
    app.acme.feature_request_with(&json!({ "title": "Tagged", "tags": ["ui"] }));
    let customer = id(&app.acme.get_customers("").json()["customers"][0]);
    let members = app.acme.get_members().json();
    let key = app.roadmap(&["api-key", "list", "--workspace", "acme"]).json();
    BTreeMap::from([
        ("/admin/feature_requests/", path_of(request["url"].as_str().unwrap()).replace("/feature_requests/", "")),
        ("/admin/comments/", comment),
        ("/admin/notes/", note),
        ("/admin/links/", link),
        ("/admin/webhooks/", webhook),
        // Not the start of a path: the second part of those of deliveries.
        (DELIVERY, delivery),
        ("/admin/link-sources/", source),
        ("/admin/covers/", changelog.clone()),
        ("/admin/changelogs/", changelog),
        ("/admin/tracks/", track),
        ("/admin/lanes/", lane),
        ("/admin/customers/", customer),
        ("/admin/members/", id(&members["members"][0])),
        ("/admin/api-keys/", id(&key[0])),
        ("/admin/exports/", done_export(app)),
        ("/admin/imports/", uploaded_import(app)),
    ])
}

/// Uploads a file to import. Returns the id of the import.
fn uploaded_import(app: &App) -> String {
    let start = "--limit\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\ncsv\r\n";
    let form = [start.as_bytes(), &form_with("a.csv", b"title\nDark mode\n")].concat();
    let headers = [("Content-Type", FORM_TYPE)];
    let uploaded = app.acme.request("POST", "/api/external/v2/imports", &headers, Some(&form)).expect("a response");
    uploaded.is_ok()["import"]["id"].as_str().unwrap().to_owned()
}

/// Asks for an export and waits until it is done. Returns its id.
fn done_export(app: &App) -> String {
    let asked = app.acme.post_export(&json!({ "export": {} })).is_ok();
    let id = asked["export"]["id"].as_str().unwrap().to_owned();
    eventually("the export is done", || app.acme.get_export(&id).json()["export"]["state"] == "done");
    id
}

/// Everything that a form of the panel could change.
fn state(app: &App) -> Vec<Value> {
    let roadmap = |arguments: &[&str]| app.roadmap(&[arguments, &["--workspace", "acme"]].concat()).json();
    let without_use = |keys: Value| {
        let mut keys = keys;
        for key in keys.as_array_mut().unwrap() {
            key.as_object_mut().unwrap().remove("last_used_at");
        }
        keys
    };
    vec![
        app.acme.get_track_requests(&app.track("Inbox"), "").json(),
        app.acme.get_tracks().json(),
        app.acme.get_lanes().json(),
        app.acme.get_customers("").json(),
        app.acme.get_tags("").json(),
        app.acme.get_members().json(),
        app.acme.get_changelogs("").json(),
        app.acme.get_setting().json(),
        app.acme.get_portal().json(),
        app.acme.get_exports("").json()["total_count"].clone(),
        app.acme.get("/api/external/v1/webhooks").json(),
        app.acme.get("/api/external/v2/imports").json(),
        without_use(roadmap(&["api-key", "list"])),
        roadmap(&["mail", "status"]),
    ]
}

#[test]
fn every_page_of_the_panel_is_for_its_members() {
    let app = App::start();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "mia@acme.example", "--name", "Mia"]);
    app.workspace("beta");
    app.roadmap(&["member", "add", "--workspace", "beta", "--email", "bea@beta.example", "--name", "Bea"]);
    let records = records(&app);
    let visitor = Browser::new(&app);
    let customer = Browser::signed_in(&app, "ann@example.com");
    let member = Browser::signed_in(&app, "mia@acme.example");
    let admin = Browser::signed_in(&app, "olga@acme.example");
    // The admin of another workspace, with the session of there.
    let foreign = Browser::at(&app, "beta");
    let link = app.roadmap(&["sign-in", "link", "--workspace", "beta", "--email", "bea@beta.example"]).json();
    foreign.submit(&path_of(link["url"].as_str().unwrap()), &[("choice", "only")]);
    let foreign = foreign.moved_to("acme");
    let ended = Browser::signed_in(&app, "olga@acme.example");
    let copy = ended.duplicate();
    ended.submit("/sign-out", &[]);
    let before = state(&app);
    let routes = routes();
    for route in &routes {
        let path = path_with(route, &records);
        let ask = |browser: &Browser| match route.method {
            "GET" => browser.get(&path),
            _ => browser.post(&path, &[]),
        };
        for (name, browser) in [("visitor", &visitor), ("foreign", &foreign), ("ended", &copy)] {
            let response = ask(browser);
            assert_eq!(response.status, 303, "{name} {route:?}");
            let location = response.header("location").unwrap();
            assert!(location.starts_with("/sign-in?next=%2Fadmin"), "{name} {route:?} {location}");
        }
        assert_eq!(ask(&customer).status, 404, "customer {route:?}");
        let is_for_admins = matches!(route.who, "Admin" | "FreshAdmin");
        assert!(is_for_admins || matches!(route.who, "Member" | "FreshMember"), "{route:?}");
        if is_for_admins {
            let response = ask(&member);
            assert_eq!(response.status, 403, "member {route:?}");
            assert!(response.text().contains("Only admins can see this page"), "{}", response.text());
        }
        if route.method == "GET" && route.path != "/admin/covers/{id}/{name}" && !route.path.contains("{file}") {
            let allowed = if is_for_admins { vec![&admin] } else { vec![&member, &admin] };
            for browser in allowed {
                assert_eq!(ask(browser).status, 200, "{route:?} {}", ask(browser).text());
            }
        }
    }
    assert_eq!(state(&app), before);
    // What cannot be undone asks for a sign-in within the last hour.
    app.data.age_sessions();
    let mut fresh = 0;
    for route in routes.iter().filter(|route| route.who.starts_with("Fresh")) {
        let path = path_with(route, &records);
        let response = if route.method == "GET" { admin.get(&path) } else { admin.post(&path, &[]) };
        assert_eq!(response.status, 303, "{route:?}");
        assert_eq!(response.header("location"), Some("/sign-in?next=%2Fadmin"), "{route:?}");
        fresh += 1;
    }
    assert!(fresh > 5, "{fresh}");
    assert_eq!(state(&app), before);
    for path in ["/admin/members", "/admin/api-keys"] {
        assert!(admin.page(path).contains("Sign in again"), "{path}");
    }
}

/// Fills in the record of a route's path.
fn path_with(route: &Route, records: &BTreeMap<&'static str, String>) -> String {
    let record = records.iter().find(|(start, _)| route.path.starts_with(**start)).map_or("", |(_, id)| id.as_str());
    route
        .path
        .replace("{slug}", record)
        .replace("{id}", record)
        .replace(DELIVERY, &records[DELIVERY])
        .replace("{name}", "cover.png")
        .replace("{file}", record)
}

#[test]
fn no_form_of_the_panel_can_be_sent_from_elsewhere() {
    let app = App::start();
    let records = records(&app);
    let admin = Browser::signed_in(&app, "olga@acme.example");
    let before = state(&app);
    let own = admin.origin();
    let sibling = own.replace("//acme.", "//beta.");
    let senders: [&[(&str, &str)]; 6] = [
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", "https://evil.example")],
        &[("Sec-Fetch-Site", "same-site"), ("Origin", &sibling)],
        &[("Origin", &sibling)],
        &[],
        &[("Origin", "null")],
        &[("Origin", "https://evil.example"), ("X-Forwarded-Host", "evil.example")],
    ];
    for route in routes().iter().filter(|route| route.method == "POST") {
        let path = path_with(route, &records);
        for headers in senders {
            // The fields of any form of the panel, so that one that was accepted would do something.
            let track = app.track("Planned");
            let fields = [
                ("id", "1"),
                ("change", track.as_str()),
                ("name", "Forged"),
                ("title", "Forged"),
                ("content", "Forged"),
                ("email", "forged@example.com"),
                ("role", "member"),
                ("read", "1"),
                ("tag", "ui"),
                ("tag-name", "Forged"),
            ];
            let response = admin.post_with(&path, &fields, headers);
            assert_eq!(response.status, 403, "{route:?} {headers:?}");
            assert!(response.text().contains("This form came from somewhere else"), "{route:?}");
        }
    }
    assert_eq!(state(&app), before);
}

#[test]
fn a_member_who_is_removed_or_demoted_is_out_at_once() {
    let app = App::start();
    app.roadmap(&[
        "member",
        "add",
        "--workspace",
        "acme",
        "--email",
        "mia@acme.example",
        "--name",
        "Mia",
        "--role",
        "admin",
    ]);
    let mia = Browser::signed_in(&app, "mia@acme.example");
    assert_eq!(mia.get("/admin/tracks").status, 200);
    app.roadmap(&["member", "role", "--workspace", "acme", "mia@acme.example", "member"]);
    assert_ne!(mia.get("/admin/tracks").status, 200);
    let mia = Browser::signed_in(&app, "mia@acme.example");
    assert_eq!((mia.get("/admin/tracks").status, mia.get("/admin").status), (403, 200));
    app.roadmap(&["member", "remove", "--workspace", "acme", "mia@acme.example"]);
    assert_ne!(mia.get("/admin").status, 200);
}

#[test]
fn members_find_the_panel_and_others_do_not() {
    let app = App::start();
    let customer = Browser::signed_in(&app, "ann@example.com");
    let member = Browser::signed_in(&app, "olga@acme.example");
    for path in ["/", "/feature_requests", "/account"] {
        assert!(member.page(path).contains("<a href=\"/admin\">Admin</a>"), "{path}");
        assert!(!customer.page(path).contains("/admin"), "{path}");
        assert!(!Browser::new(&app).get(path).text().contains("/admin"), "{path}");
    }
    assert!(member.page("/admin").contains("<a href=\"/admin\" aria-current=\"page\">Admin</a>"));
}

#[test]
fn a_form_that_arrives_after_the_removal_of_its_sender_changes_nothing() {
    let app = App::start();
    let add = ["member", "add", "--workspace", "acme", "--email", "max@acme.example", "--name", "Max"];
    app.roadmap(&[&add[..], &["--role", "admin"]].concat()).json();
    let max = Browser::signed_in(&app, "max@acme.example");
    let body = "name=Backdoor&scope=write&expires_in=never";
    let head = format!(
        "POST /admin/api-keys HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\nCookie: {}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n",
        app.acme.host,
        max.origin(),
        max.cookie_header(),
        body.len()
    );
    let sent = |removes: bool| {
        let mut stream = app.acme.connect();
        let (begin, end) = body.split_at(10);
        stream.write_all(format!("{head}{begin}").as_bytes()).expect("the server reads");
        // The session is found before the form is read to its end.
        std::thread::sleep(Duration::from_millis(1_200));
        if removes {
            app.roadmap(&["member", "remove", "--workspace", "acme", "max@acme.example"]).json();
        }
        stream.write_all(end.as_bytes()).expect("the server reads");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    };
    let keys = || app.count("SELECT count(*) FROM api_keys");
    let before = keys();
    assert!(sent(false).starts_with("HTTP/1.1 200"));
    assert_eq!(keys(), before + 1);
    let refused = sent(true);
    assert!(refused.starts_with("HTTP/1.1 303") && refused.contains("\r\nlocation: /sign-in"), "{refused}");
    assert_eq!(keys(), before + 1);
}
