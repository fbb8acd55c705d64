//! Pages of the portal: who may open them, where they lead, what caches may keep, and what they show.

use serde_json::json;

use crate::app::{App, BASE_HOST, Client, eventually};
use crate::browser::{Browser, path_of};
use crate::database::text_list;

/// Returns the path of a feature request's page.
fn page_of(request: &serde_json::Value) -> String {
    path_of(request["url"].as_str().unwrap())
}

/// Changes the settings of the portal of `acme`, and waits until they are in effect.
fn set_portal(app: &App, settings: &serde_json::Value) {
    assert_eq!(app.acme.patch_portal(&json!({ "portal": settings })).status, 200);
    std::thread::sleep(std::time::Duration::from_millis(1_600));
}

/// Portal: each page has its address and its audience: visitors, people of named domains, members; closed portals ask
/// for a sign-in, programs get 404.
#[test]
fn every_page_is_for_its_audience() {
    let app = App::start();
    let request = page_of(&app.acme.feature_request("Dark mode"));
    let body = json!({ "changelog": { "title": "New", "content": "<p>Much</p>", "publish": true } });
    let changelog = app.acme.post_changelog(&body).json()["changelog"]["id"].as_str().unwrap().to_owned();
    let visitor = Browser::new(&app);
    let customer = Browser::signed_in(&app, "ann@example.com");
    let guest = Browser::signed_in(&app, "gus@other.example");
    let member = Browser::signed_in(&app, "olga@acme.example");
    // The statuses for a visitor, a customer of a named domain, another customer, and a member.
    let open = [200; 4];
    let own = [303, 200, 200, 200];
    let private = [303, 200, 403, 200];
    let members = [303, 403, 403, 200];
    let audience = ["/", "/feature_requests", "/feature_requests/new", &request, "/changelogs"];
    let changelog = format!("/changelogs/{changelog}");
    let feed = format!("{request}.atom");
    let picture = format!("{request}.png");
    let programs = [
        "/changelogs.atom",
        "/feature_requests.atom",
        &feed,
        &picture,
        "/preview.png",
        "/embed/roadmap",
        "/embed/changelogs",
        "/sitemap.xml",
        "/sitemap-1.xml",
    ];
    for (visibility, expected, of_account, of_programs) in
        [("public", open, own, [200; 4]), ("private", private, private, [404; 4]), ("off", members, members, [404; 4])]
    {
        set_portal(&app, &json!({ "visibility": visibility, "mail_domains": ["example.com"] }));
        let check = |path: &str, expected: [u16; 4]| {
            let statuses = [&visitor, &customer, &guest, &member].map(|browser| browser.get(path).status);
            assert_eq!(statuses, expected, "{visibility} {path}");
        };
        audience.iter().chain([&changelog.as_str()]).for_each(|path| check(path, expected));
        programs.iter().for_each(|path| check(path, of_programs));
        check("/account", of_account);
        check("/sign-in", open);
        check("/robots.txt", open);
        check("/nothing", [404; 4]);
        check(
            "/feature_requests/99-nothing",
            if visibility == "public" {
                [404; 4]
            } else {
                expected.map(|status| if status == 200 { 404 } else { status })
            },
        );
    }
    let sign_in = visitor.get("/feature_requests?sort=votes");
    assert_eq!(sign_in.header("location"), Some("/sign-in?next=%2Ffeature_requests%3Fsort%3Dvotes"));
}

/// Portal: pages that everybody sees name a picture for previews of links. It shows what is public, in the language of the
/// portal, and is drawn again only when that changes.
#[test]
fn links_have_pictures_for_previews() {
    let app = App::start();
    let request = page_of(&app.acme.feature_request("Dark mode"));
    app.acme.feature_request_with(&json!({ "title": "Secret plan", "private": true }));
    let secret = "/feature_requests/2-secret-plan";
    let (visitor, member) = (Browser::new(&app), Browser::signed_in(&app, "olga@acme.example"));
    let image = |path: &str| {
        let page = visitor.page(path);
        let (_, rest) = page.split_once("<meta property=\"og:image\" content=\"").expect("a picture");
        path_of(rest.split('"').next().unwrap())
    };
    assert_eq!([image("/"), image("/feature_requests"), image("/changelogs")], ["/preview.png"; 3]);
    assert_eq!(image(&request), format!("{request}.png"));
    assert!(!member.page(secret).contains("og:image"));
    // Nobody gets one of what is private, nor of what does not exist.
    for path in [secret, "/feature_requests/99"] {
        assert_eq!([&visitor, &member].map(|browser| browser.get(&format!("{path}.png")).status), [404; 2], "{path}");
    }
    let get = |path: &str, language: &str, tag: &str| {
        visitor.send("GET", &format!("{path}.png"), &[("Accept-Language", language), ("If-None-Match", tag)], None)
    };
    let drawn = get(&request, "ar", "\"0\"");
    assert_eq!((drawn.status, drawn.header("content-type")), (200, Some("image/png")));
    assert_eq!(drawn.header("cache-control"), Some("public, max-age=3600"));
    let size = image::load_from_memory(&drawn.bytes).map(|picture| (picture.width(), picture.height()));
    assert_eq!(size.unwrap(), (1_200, 630));
    // Also under its number.
    let tag = drawn.header("etag").expect("a tag").to_owned();
    for path in [request.as_str(), "/feature_requests/1"] {
        let known = get(path, "en", &tag);
        assert_eq!((known.status, known.bytes.len()), (304, 0), "{path}");
    }
    app.acme.vote("1", "ann@example.com");
    let changed = get(&request, "en", &tag);
    assert_eq!(changed.status, 200);
    assert_ne!(changed.bytes, drawn.bytes);
    // A merged one has that of what it was merged into.
    let other = page_of(&app.acme.feature_request("Night colours"));
    app.acme.merge("3", "1");
    assert_eq!(get(&other, "en", changed.header("etag").unwrap()).status, 304);
}

/// Portal: visitors' pages have no cookie, a strong `ETag` and 304; pages for a session are `private, no-store`.
#[test]
fn pages_of_visitors_can_be_kept_and_those_of_people_cannot() {
    let app = App::start();
    let request = page_of(&app.acme.feature_request("Dark mode"));
    let (visitor, customer) = (Browser::new(&app), Browser::signed_in(&app, "ann@example.com"));
    for path in ["/", "/feature_requests", &request, "/changelogs", "/feature_requests/new"] {
        let page = visitor.get(path);
        assert_eq!(page.header("cache-control"), Some("public, max-age=0, must-revalidate"), "{path}");
        assert_eq!(page.header("vary"), Some("Cookie, Accept-Language, Accept-Encoding"));
        assert_eq!(page.header("set-cookie"), None);
        let tag = page.header("etag").unwrap();
        let same = visitor.send("GET", path, &[("If-None-Match", tag)], None);
        assert_eq!((same.status, same.bytes.len(), same.header("etag")), (304, 0, Some(tag)), "{path}");
        let other = visitor.send("GET", path, &[("If-None-Match", "\"other\"")], None);
        assert_eq!((other.status, other.text()), (200, page.text()));
        let german = visitor.send("GET", path, &[("Accept-Language", "de"), ("If-None-Match", tag)], None);
        assert_eq!(german.status, 200, "{path}");
        let own = customer.get(path);
        assert_eq!(own.header("cache-control"), Some("private, no-store"), "{path}");
        assert_eq!(own.header("etag"), None);
    }
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(visitor.get("/").header(name), Some(value));
    }
    let policy = visitor.get("/").header("content-security-policy").unwrap().to_owned();
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
    // After signing out, nothing of the session can be shown again.
    let signed_out = customer.post("/sign-out", &[]);
    assert_eq!((signed_out.status, signed_out.header("clear-site-data")), (303, Some("\"cache\"")));
    assert_eq!(customer.get("/account").status, 303);
}

/// Portal: workspaces share no page and no session.
#[test]
fn workspaces_share_no_page() {
    let app = App::start();
    let beta = app.workspace("beta");
    app.acme.feature_request("Only at Acme");
    beta.feature_request("Only at Beta");
    let (acme, beta) = (Browser::new(&app), Browser::at(&app, "beta"));
    for path in ["/feature_requests", "/feature_requests.atom", "/sitemap-1.xml", "/feature_requests?query=only"] {
        let (one, other) = (acme.page(path), beta.page(path));
        assert!(one.contains("nly") && !one.contains("Beta") && !one.contains("only-at-beta"), "{path}: {one}");
        assert!(other.contains("nly") && !other.contains("Acme") && !other.contains("only-at-acme"), "{path}: {other}");
    }
    // A session is one of its workspace.
    let ann = Browser::signed_in(&app, "ann@example.com");
    let session = ann.send("GET", "/account", &[], None);
    assert_eq!(session.status, 200);
    let foreign = Client { host: format!("beta.{BASE_HOST}"), key: None, ..app.acme.clone() };
    let cookie = ann.cookie_header();
    assert_eq!(foreign.request("GET", "/account", &[("Cookie", &cookie)], None).unwrap().status, 303);
}

/// Portal: on an unknown host every page is one 404 page that names no workspace.
#[test]
fn an_unknown_host_gets_one_page_that_names_no_workspace() {
    let app = App::start();
    let unknown = Client { host: format!("nobody.{BASE_HOST}"), key: None, ..app.acme.clone() };
    let pages = ["/", "/feature_requests", "/account", "/nothing", "/sign-in"].map(|path| unknown.get(path));
    for page in &pages {
        assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
        assert_eq!(page.text(), pages[0].text());
        assert!(!page.text().contains("Acme") && page.text().contains("This page does not exist"));
    }
    // Errors that no page has seen are pages, too.
    let not_allowed = app.acme.request("DELETE", "/", &[], None).unwrap();
    assert_eq!((not_allowed.status, not_allowed.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(not_allowed.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(not_allowed.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    // The API's errors are JSON, also at the same host.
    unknown.get("/api/external/v1/tracks").is_error(401, "Could not authenticate, invalid API Key");
    app.acme.get("/api/nothing").is_error(404, "Not found");
}

/// Portal: `url` and changelog links lead to pages; other words or a UUID are 301, merged ones 302 at once with
/// `no-cache`.
/// Contract 2.2.
#[test]
fn a_feature_request_has_one_address() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let target = app.acme.feature_request("Themes");
    let (id, path) = (request["id"].as_str().unwrap(), page_of(&request));
    let browser = Browser::new(&app);
    for other in ["/feature_requests/1", "/feature_requests/1-light-mode", &format!("/feature_requests/{id}")] {
        let moved = browser.get(other);
        assert_eq!((moved.status, moved.header("location")), (301, Some(path.as_str())), "{other}");
    }
    assert!(browser.page(&path).contains(&format!("<link rel=\"canonical\" href=\"https://acme.{BASE_HOST}{path}\">")));
    app.acme.merge(id, target["id"].as_str().unwrap());
    eventually("it leads to its target", || browser.get(&path).status == 302);
    for merged in [&path, "/feature_requests/1", &format!("/feature_requests/{id}")] {
        let response = browser.get(merged);
        assert_eq!(response.header("location"), Some(page_of(&target).as_str()), "{merged}");
        assert_eq!((response.status, response.header("cache-control")), (302, Some("no-cache")));
    }
    // The notice of what was done before the merge comes along.
    let response = browser.get(&format!("{path}?done=voted"));
    assert_eq!(response.header("location"), Some(format!("{}?done=voted", page_of(&target)).as_str()));
}

/// Portal: a done feature request leads to the latest public changelog about it.
#[test]
fn a_done_request_says_what_it_was_shipped_in() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let changelog = |title: &str, publish: bool| {
        let fields = json!({
            "title": title, "content": "New", "publish": publish, "feature_request_ids": [request["id"]],
        });
        let created = app.acme.post_changelog(&json!({ "changelog": fields })).is_ok();
        created["changelog"]["id"].as_str().unwrap().to_owned()
    };
    let id = changelog("Night & day", true);
    changelog("A draft", false);
    let browser = Browser::signed_in(&app, "ann@example.com");
    let path = page_of(&request);
    assert!(!browser.page(&path).contains("Shipped in"));
    app.acme.patch_track("1", &json!({ "track_id": app.track("Done") })).is_ok();
    let link = format!("<span>Shipped in</span><a href=\"/changelogs/{id}\"><bdi>Night &#38; day</bdi></a>");
    eventually("the page says so", || browser.page(&path).contains(&link));
    // The changelog itself leads to the ones before and after it.
    assert!(!browser.page(&format!("/changelogs/{id}")).contains("More changelogs"));
    let second = changelog("Quokkas", true);
    let newer =
        format!("href=\"/changelogs/{second}\" rel=\"prev\"><span class=\"muted\">Newer</span> <bdi>Quokkas</bdi></a>");
    let older = format!("href=\"/changelogs/{id}\" rel=\"next\"><span class=\"muted\">Older</span> <bdi>Night");
    eventually("the first one says so", || browser.page(&format!("/changelogs/{id}")).contains(&newer));
    let page = browser.page(&format!("/changelogs/{second}"));
    assert!(page.contains(&older) && !page.contains("Newer"), "{page}");
}

/// Decision 3: a private request is hidden from all public pages.
/// Portal: a private request is 404 for everybody but members and the author, who see it marked. A page leads members to
/// the same one of the panel.
#[test]
fn private_feature_requests_are_for_members_and_their_author() {
    let app = App::start();
    let fields = json!({ "title": "Secret plan", "private": true });
    let body = json!({ "feature_request": fields, "customer": { "email": "ann@example.com" } });
    let path = page_of(&app.acme.post_feature_request(&body).json()["feature_request"]);
    let visitor = Browser::new(&app);
    let [author, other, member] =
        ["ann@example.com", "bob@example.com", "olga@acme.example"].map(|email| Browser::signed_in(&app, email));
    assert_eq!([&visitor, &other].map(|browser| browser.get(&path).status), [404; 2]);
    for browser in [&author, &member] {
        let page = browser.page(&path);
        assert!(page.contains(">Private<") && !page.contains("Everybody can read it."), "{page}");
        assert!(page.contains("Only the team and the author see it, as long as"), "{page}");
    }
    let public = page_of(&app.acme.feature_request("Dark mode"));
    assert!(visitor.page(&public).contains("Everybody can read it."));
    let panel = format!("href=\"/admin{public}\">Open in the admin panel</a>");
    for (browser, leads_on) in [(&visitor, false), (&author, false), (&member, true)] {
        assert_eq!(browser.page(&public).contains(&panel), leads_on);
    }
    assert_eq!(member.get(&format!("/admin{public}")).status, 200);
    for list in ["/", "/feature_requests", "/feature_requests?query=secret", "/feature_requests.atom", "/sitemap-1.xml"]
    {
        for browser in [&visitor, &other] {
            let page = browser.page(list);
            assert!(!page.contains("Secret") && !page.contains("secret-plan"), "{list}");
        }
    }
    assert_eq!(visitor.get(&format!("{path}.atom")).status, 404);
    for action in ["vote", "unvote", "comments", "subscription"] {
        let fields = [("email", "bob@example.com"), ("content", "x"), ("state", "on")];
        assert_eq!(other.post(&format!("{path}/{action}"), &fields[1..]).status, 404, "{action}");
        assert_eq!(visitor.post(&format!("{path}/{action}"), &fields).status, 404, "{action}");
    }
}

/// Contract 2.6: a comment is public on the roadmap.
/// Contract 4.8: the comment is public on the roadmap.
/// Portal: no address of anybody appears outside of one's own account.
#[test]
fn no_page_shows_an_address() {
    let app = App::start();
    let customer = json!({ "email": "ann@hidden.example", "name": "Ann" });
    let body = json!({ "feature_request": { "title": "Dark mode" }, "customer": customer });
    let request = app.acme.post_feature_request(&body).json()["feature_request"]["id"].as_str().unwrap().to_owned();
    app.acme.vote(&request, "bob@hidden.example");
    let comment = json!({ "comment": { "content": "Please" }, "customer": { "email": "cid@hidden.example" } });
    assert_eq!(app.acme.post_comment(&request, &comment).status, 201);
    app.acme.comment(&request, "<p>Soon</p>");
    let path = page_of(&app.acme.detail(&request));
    let (visitor, customer) = (Browser::new(&app), Browser::signed_in(&app, "dan@example.com"));
    for path in [
        "/",
        "/feature_requests",
        "/feature_requests?query=dark",
        &path,
        &format!("{path}.atom"),
        "/feature_requests.atom",
        "/changelogs.atom",
        "/embed/roadmap",
        "/feature_requests/new?title=dark",
        "/feature_requests/similar?title=dark",
    ] {
        for browser in [&visitor, &customer] {
            let page = browser.get(path);
            assert_eq!(page.status, 200, "{path}");
            let all = format!("{}{:?}", page.text(), page.headers);
            assert!(!all.contains("hidden.example") && !all.contains("olga@"), "{path}");
        }
    }
    let page = visitor.page(&path);
    assert!(
        page.contains("Ann") && page.contains("Customer") && page.contains("Olga") && page.contains("Team"),
        "{page}"
    );
}

/// Portal: bad parameters of lists give the default, a page past the end is empty, and `mine` of visitors leads to the
/// sign-in.
#[test]
fn bad_parameters_show_the_default_and_pages_past_the_end_are_empty() {
    let app = App::start();
    for number in 1..=30 {
        app.acme.feature_request(&format!("Wish number {number}"));
    }
    let browser = Browser::new(&app);
    let first = browser.page("/feature_requests?sort=newest");
    assert!(first.contains("Wish number 30") && !first.contains("Wish number 5<"));
    let second = browser.page("/feature_requests?sort=newest&page=2");
    assert!(second.contains("Wish number 5<") && !second.contains("Wish number 30"));
    for past in ["3", "201", "9999999999999999999999"] {
        let page = browser.page(&format!("/feature_requests?sort=newest&page={past}"));
        assert!(!page.contains("Wish number"), "{past}");
    }
    assert!(browser.page("/changelogs").contains("Nothing published yet"));
    for past in ["9", "201"] {
        let page = browser.page(&format!("/changelogs?page={past}"));
        assert!(page.contains("<h2>This page is empty</h2>") && !page.contains("Nothing published yet"), "{page}");
        assert!(page.contains("href=\"/changelogs\">To the first page</a>"), "{page}");
    }
    // A list offers the orders that it can have.
    let page = browser.page("/feature_requests?query=wish&sort=updated");
    assert!(page.contains("<option value=\"newest\" selected>"), "{page}");
    assert!(!page.contains("<option value=\"updated\"") && !page.contains("<option value=\"trending\""), "{page}");
    for bad in [
        "page=0",
        "page=-1",
        "page=x",
        "sort=best",
        "lane=Nowhere%20at%20all&page=1",
        "tag=%00",
        "query=%00",
        "mine=all",
    ] {
        assert_eq!(browser.get(&format!("/feature_requests?{bad}")).status, 200, "{bad}");
    }
    assert_eq!(browser.get("/feature_requests?mine=voted").status, 303);
    let long = "a".repeat(2_000);
    assert!(matches!(browser.get(&format!("/feature_requests?query={long}")).status, 200 | 422));
    assert!(matches!(browser.get(&format!("/feature_requests/new?title={long}")).status, 422));
}

/// Portal: the numbers beside the lanes are those of the search and of the other filters. The field of the search says how
/// many feature requests it searches.
#[test]
fn lanes_are_counted_within_the_filter() {
    let app = App::start();
    let track = |name: &str| {
        let tracks = app.acme.get_tracks().is_ok();
        tracks["tracks"].as_array().unwrap().iter().find(|track| track["name"] == name).unwrap()["id"].clone()
    };
    for (title, lane, tags) in [
        ("Dark mode", "Planned", json!(["ui"])),
        ("Dark sidebar", "Planned", json!([])),
        ("Dark mails", "Done", json!(["ui"])),
        ("Undo send", "Planned", json!(["ui"])),
        ("Dark icons", "Inbox", json!(["ui"])),
    ] {
        let id = app.acme.feature_request(title)["id"].as_str().unwrap().to_owned();
        app.acme.patch_feature_request(&id, &json!({ "feature_request": { "tags": tags } })).is_ok();
        app.acme.patch_track(&id, &json!({ "track_id": track(lane) })).is_ok();
        if title == "Dark mails" {
            app.acme.vote(&id, "ann@example.com");
        }
    }
    let ann = Browser::signed_in(&app, "ann@example.com");
    for (query, planned, done) in [
        ("", 3, 1),
        ("sort=votes&page=2", 3, 1),
        ("query=dark", 2, 1),
        ("query=dark&lane=Planned", 2, 1),
        ("query=dark&page=2", 2, 1),
        ("tag=UI", 2, 1),
        ("tag=ui&lane=Done", 2, 1),
        ("query=dark&tag=ui", 1, 1),
        ("mine=voted", 0, 1),
        ("mine=voted&tag=ui&query=dark&lane=Planned", 0, 1),
        ("mine=written", 0, 0),
        ("tag=nothing", 0, 0),
    ] {
        let page = ann.page(&format!("/feature_requests?{query}"));
        for (lane, count) in [("Planned", planned), ("Done", done)] {
            let tab = format!("<bdi>{lane}</bdi> <span class=\"count\">{count}</span>");
            assert!(page.contains(&tab), "{query}: {lane} {count}\n{page}");
        }
    }
    // What is private is not counted, not even for members.
    app.acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    for browser in [Browser::new(&app), ann, Browser::signed_in(&app, "olga@acme.example")] {
        for (query, hint) in [
            ("", "Search 5 feature requests"),
            ("sort=oldest&lane=Planned", "Search 3 feature requests"),
            ("query=dark", "Search feature requests"),
        ] {
            let page = browser.page(&format!("/feature_requests?{query}"));
            assert!(page.contains(&format!(" placeholder=\"{hint}\"")), "{query}: {page}");
        }
    }
}

/// Portal: an empty roadmap leads to the ideas that there are.
#[test]
fn a_roadmap_without_anything_says_where_the_ideas_are() {
    let app = App::start();
    let visitor = Browser::new(&app);
    let (first, elsewhere) = ("so the first word is yours", "Nothing is on the roadmap yet");
    let page = visitor.page("/");
    assert!(page.contains(first) && !page.contains(elsewhere), "{page}");
    // What is private is nothing for visitors.
    app.acme.feature_request_with(&json!({ "title": "Secret", "private": true }));
    std::thread::sleep(std::time::Duration::from_millis(1_200));
    assert!(visitor.page("/").contains(first));
    // It leads to the changelogs if there are some.
    let changelogs = "href=\"/changelogs\">See what is new";
    assert!(!visitor.page("/").contains(changelogs));
    let body = json!({ "changelog": { "title": "New", "content": "<p>Much</p>", "publish": true } });
    app.acme.post_changelog(&body).is_ok();
    eventually("the page leads to the changelogs", || visitor.page("/").contains(changelogs));
    app.acme.feature_request("Dark mode");
    eventually("the page is a new one", || !visitor.page("/").contains(first));
    let page = visitor.page("/");
    assert!(
        page.contains(elsewhere) && page.contains("href=\"/feature_requests\">Show all feature requests"),
        "{page}"
    );
}

/// Portal: a card of the roadmap says how much was said about it, since when it has its status, and two tags. A done lane
/// begins with what was done last. A link leads to all where cards are hidden. More than five lanes can be scrolled.
#[test]
fn the_roadmap_says_what_cards_are_about_and_begins_with_what_was_done_last() {
    let app = App::start();
    let dark = app.acme.feature_request_with(&json!({ "title": "Dark mode", "tags": ["ui", "night", "eyes"] }));
    let undo = app.acme.feature_request_with(&json!({ "title": "Undo send" }));
    let merged = app.acme.feature_request_with(&json!({ "title": "Night theme", "description": "<p>Please</p>" }));
    app.acme.vote(&dark, "ann@example.com");
    app.acme.comment(&dark, "<p>Soon</p>");
    app.acme.merge(&merged, &dark);
    let (done, planned) = (json!({ "track_id": app.track("Done") }), json!({ "track_id": app.track("Planned") }));
    for request in [&dark, &undo] {
        app.acme.patch_track(request, &done).is_ok();
    }
    for number in 1..=6 {
        let request = app.acme.feature_request_with(&json!({ "title": format!("Idea {number}") }));
        app.acme.patch_track(&request, &planned).is_ok();
    }
    // The API still begins with the most voted.
    let lanes = app.acme.get_roadmap("").is_ok();
    assert_eq!(lanes["lanes"][3]["feature_requests"][0]["title"], "Dark mode");
    let visitor = Browser::new(&app);
    let page = visitor.page("/");
    let place = |title: &str| page.find(&format!("<bdi>{title}</bdi>")).expect("the card");
    assert!(place("Undo send") < place("Dark mode"), "{page}");
    let (_, card) = page.split_at(place("Dark mode"));
    let (card, _) = card.split_once("</li>").unwrap();
    for part in [
        "<b>1</b> vote</p>",
        "<span aria-hidden=\"true\">2</span><span class=\"hidden\">2 comments</span>",
        "\">since ",
        "</time><bdi>#ui</bdi><bdi>#night</bdi></div>",
    ] {
        assert!(card.contains(part), "{part}\n{card}");
    }
    let all = "<p class=\"lane__more lane__more--phone\"><a href=\"/feature_requests?lane=Planned\">\
               Show all 6<span class=\"hidden\">: <bdi>Planned</bdi></span></a></p>";
    assert!(page.contains(all) && page.matches("lane__more ").count() == 1, "{page}");
    assert!(!page.contains("lanes--many"), "{page}");
    for name in ["Beta", "Later"] {
        app.acme.post_lane(&json!({ "lane": { "name": name } })).is_ok();
    }
    let region = "<section class=\"lanes lanes--many\" aria-label=\"Lanes\" tabindex=\"0\">";
    eventually("six lanes are scrolled", || visitor.page("/").contains(region));
    app.has_logged_no_failure();
}

/// Portal: a private request that was merged leads only those on who may see both.
#[test]
fn a_private_request_that_was_merged_is_unknown_to_those_who_could_not_see_it() {
    let app = App::start();
    let target = page_of(&app.acme.feature_request("Dark mode"));
    let secret = json!({
        "feature_request": { "title": "Secret plan", "private": true },
        "customer": { "email": "ann@example.com" },
    });
    app.acme.post_feature_request(&secret).is_ok();
    app.acme.feature_request("Night theme");
    app.acme.merge("2", "1");
    app.acme.merge("3", "1");
    let [visitor, other] = [Browser::new(&app), Browser::signed_in(&app, "bob@example.com")];
    let [author, member] = ["ann@example.com", "olga@acme.example"].map(|email| Browser::signed_in(&app, email));
    for path in ["2", "2-secret-plan", "2-x", "2.atom", "2-secret-plan.atom", "2/vote", "2-secret-plan/vote"] {
        let unknown = path.replace('2', "99");
        for browser in [&visitor, &other] {
            let [response, unknown] = [path, &unknown].map(|path| browser.get(&format!("/feature_requests/{path}")));
            assert_eq!((response.status, unknown.status), (404, 404), "{path}");
        }
    }
    for browser in [&author, &member] {
        for path in ["2", "2-secret-plan", "2-x"] {
            let response = browser.get(&format!("/feature_requests/{path}"));
            assert_eq!((response.status, response.header("location")), (302, Some(target.as_str())), "{path}");
        }
    }
    // One that was public before leads everybody on.
    for browser in [&visitor, &other, &author, &member] {
        let response = browser.get("/feature_requests/3-night-theme");
        assert_eq!((response.status, response.header("location")), (302, Some(target.as_str())));
    }
}

/// Portal: sentences of the panel (`done`) are shown to members only.
#[test]
fn sentences_of_the_team_are_for_the_team() {
    let app = App::start();
    let [customer, member] = ["ann@example.com", "olga@acme.example"].map(|email| Browser::signed_in(&app, email));
    for (done, sentence) in [
        ("member-removed", "The member was removed."),
        ("key-revoked", "The key was revoked."),
        ("settings-saved", "The settings were saved."),
    ] {
        let address = format!("/?done={done}");
        assert!(member.page(&address).contains(sentence), "{done}");
        for browser in [&Browser::new(&app), &customer] {
            assert!(!browser.page(&address).contains(sentence), "{done}");
        }
    }
}

/// Portal: the account is one list of what somebody follows and voted for, the latest status first, with a switch for mail.
#[test]
fn the_account_has_a_switch_for_what_is_followed_or_voted_for() {
    let app = App::start();
    let [voted, followed] = ["Dark mode", "Undo send"].map(|title| page_of(&app.acme.feature_request(title)));
    let ann = Browser::signed_in(&app, "ann@example.com");
    assert!(ann.page("/account").contains("You neither follow nor voted for anything yet."));
    ann.submit(&format!("{voted}/vote"), &[]);
    ann.submit(&format!("{followed}/subscription"), &[("state", "on")]);
    app.acme.patch_track("1", &json!({ "track_id": app.track("Planned") })).is_ok();
    let entries = || -> Vec<String> {
        let page = ann.page("/account");
        let (_, list) = page.split_once("id=\"followed\"").expect("the list");
        let (list, _) = list.split_once("</section>").expect("its end");
        list.split("<li>").skip(1).map(str::to_owned).collect()
    };
    let shown = entries();
    assert_eq!(shown.len(), 2, "{shown:?}");
    for (entry, parts) in [
        (&shown[0], ["<bdi>Dark mode</bdi>", "<bdi>Planned</bdi>", "\">since ", "Voted</span>", "<b>1</b> vote"]),
        (
            &shown[1],
            ["<bdi>Undo send</bdi>", "<bdi>Not reviewed yet</bdi>", "\">Asked ", "Following<", "<b>0</b> votes"],
        ),
    ] {
        assert!(parts.iter().all(|part| entry.contains(part)), "{entry}");
        assert!(entry.contains("aria-pressed=\"true\"") && entry.contains("value=\"off\""), "{entry}");
    }
    // What was voted for stays in the list.
    let off = [("state", "off"), ("next", "/account")];
    for path in [&voted, &followed] {
        assert_eq!(ann.submit(&format!("{path}/subscription"), &off), "/account?done=unsubscribed");
    }
    let shown = entries();
    assert!(shown.len() == 1 && shown[0].contains("Dark mode"), "{shown:?}");
    assert!(shown[0].contains("aria-pressed=\"false\"") && shown[0].contains("value=\"on\""), "{shown:?}");
    let on = [("state", "on"), ("next", "/account")];
    assert_eq!(ann.submit(&format!("{voted}/subscription"), &on), "/account?done=subscribed");
    assert!(entries()[0].contains("Following</span>"));
}

/// Portal: addresses above 4 KB are 414, and no parameter is multiplied into a page.
#[test]
fn a_long_address_is_refused_and_never_multiplied() {
    let app = App::start();
    for number in 0..30 {
        app.acme.feature_request(&format!("Wish {number}"));
    }
    let (visitor, member) = (Browser::new(&app), Browser::signed_in(&app, "olga@acme.example"));
    let paths = [
        "/",
        "/feature_requests",
        "/feature_requests/1-wish-0",
        "/feature_requests/1-wish-0/vote",
        "/feature_requests/new",
        "/feature_requests/similar",
        "/changelogs",
        "/sign-in",
        "/account",
        "/embed/roadmap",
        "/nothing",
        "/admin",
        "/admin/customers",
        "/admin/tags",
        "/admin/merge",
        "/admin/audit",
    ];
    let parameters = [
        "tag", "lane", "query", "sort", "mine", "page", "title", "next", "done", "lang", "track", "other", "subject",
        "id", "rename", "delete",
    ];
    for (length, is_refused) in [(60_000, true), (3_900, false)] {
        for (path, name) in paths.into_iter().flat_map(|path| parameters.map(|name| (path, name))) {
            for (browser, letter) in [(&visitor, "x"), (&member, "x"), (&visitor, "%26")] {
                let value = letter.repeat(length / letter.len());
                let response = browser.get(&format!("{path}?{name}={value}"));
                assert_eq!(response.status == 414, is_refused, "{path}?{name}: {}", response.status);
                assert!(response.status < 500, "{path}?{name}: {}", response.status);
                let size = response.text().len();
                assert!(size < 100_000, "{path}?{name} of {length} bytes: {size}");
                let location = response.header("location").unwrap_or_default();
                assert!(location.len() < 4_096, "{path}?{name}: {location}");
            }
        }
    }
    let page = visitor.send("GET", &format!("/?{}", "x".repeat(4_100)), &[("Accept-Language", "de")], None);
    assert_eq!(page.status, 414);
    assert!(page.text().contains("Diese Adresse ist zu lang"), "{}", page.text());
    // A tag is not cut to another one.
    let tag = "t".repeat(50);
    app.acme.feature_request_with(&json!({ "title": "Tagged", "tags": [tag] }));
    assert!(visitor.page(&format!("/feature_requests?tag={tag}")).contains("Tagged"));
    assert!(!visitor.page(&format!("/feature_requests?tag={tag}t")).contains("Tagged"));
    // A selection of as many as there may be fits.
    let ids = vec!["id=01890a5d-ac96-774b-bcce-b302099a8057"; 100].join("&");
    assert_ne!(member.get(&format!("/admin/merge?{ids}")).status, 414);
}

/// Portal: there are feeds, a sitemap, embedded pages and a brand stylesheet.
#[test]
fn feeds_and_sitemaps_are_xml_and_embeds_can_be_framed_by_named_sites_only() {
    let app = App::start();
    let request = app.acme.feature_request("A <b> & \"c\"");
    let path = page_of(&request);
    let browser = Browser::new(&app);
    for (feed, kind) in [
        ("/feature_requests.atom", "application/atom+xml; charset=utf-8"),
        ("/changelogs.atom", "application/atom+xml; charset=utf-8"),
        (&format!("{path}.atom"), "application/atom+xml; charset=utf-8"),
        ("/sitemap.xml", "application/xml; charset=utf-8"),
        ("/sitemap-1.xml", "application/xml; charset=utf-8"),
    ] {
        let response = browser.get(feed);
        assert_eq!((response.status, response.header("content-type")), (200, Some(kind)), "{feed}");
        assert!(response.text().starts_with("<?xml"), "{feed}");
    }
    assert!(browser.page("/sitemap-1.xml").contains(&format!("<loc>https://acme.{BASE_HOST}{path}</loc>")));
    // The part is cached: another one is there later, and a client that has it gets 304.
    let listed = browser.get("/sitemap-1.xml");
    app.acme.feature_request("Later");
    let same = browser.get("/sitemap-1.xml");
    assert_eq!((same.text(), same.header("etag")), (listed.text(), listed.header("etag")));
    let tag = listed.header("etag").unwrap();
    let known = browser.send("GET", "/sitemap-1.xml", &[("If-None-Match", tag)], None);
    assert_eq!((known.status, known.bytes.len()), (304, 0));
    let compressed = browser.send("GET", "/sitemap-1.xml", &[("Accept-Encoding", "gzip")], None);
    assert_eq!((compressed.status, compressed.header("content-encoding")), (200, Some("gzip")));
    assert_ne!(compressed.header("etag"), Some(tag));
    for beyond in ["/sitemap-0.xml", "/sitemap-2.xml", "/sitemap-x.xml", "/sitemap-99999999999999999999.xml"] {
        assert_eq!(browser.get(beyond).status, 404, "{beyond}");
    }
    let policy = |path: &str| browser.get(path).header("content-security-policy").unwrap().to_owned();
    assert!(policy("/embed/roadmap").ends_with("frame-ancestors 'none'"));
    set_portal(
        &app,
        &json!({ "embed_origins": ["https://help.example"], "indexing": false, "accent_color": "#ffee00" }),
    );
    for path in ["/embed/roadmap", "/embed/changelogs"] {
        assert!(policy(path).ends_with("frame-ancestors https://help.example"), "{}", policy(path));
        assert!(policy(path).contains("script-src 'none'") && policy(path).contains("form-action 'none'"));
    }
    assert!(policy("/").contains("frame-ancestors 'none'"));
    for origin in ["https://a.example;sandbox", "https://a.example,default-src", "https://a'b.example"] {
        let refused = app.acme.patch_portal(&json!({ "portal": { "embed_origins": [origin] } }));
        refused.is_error(422, "embed_origins is not an origin such as https://help.example.com");
    }
    // One that was stored before is left out.
    let stored = text_list(&["https://a.example;sandbox", "https://b.example"]);
    app.data.execute(&format!("UPDATE portal_settings SET embed_origins = {stored}"));
    // The portal's settings are cached for a second.
    eventually("it is left out", || policy("/embed/roadmap").ends_with("frame-ancestors https://b.example"));
    let page = browser.get("/");
    assert!(
        page.header("x-robots-tag") == Some("noindex") || page.text().contains("name=\"robots\" content=\"noindex\"")
    );
    assert!(!browser.page("/sitemap.xml").contains("<loc>"));
    assert_eq!(browser.get("/sitemap-1.xml").status, 404);
    let brand = page.text().split_once("href=\"/brand/").map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
    let brand = browser.get(&format!("/brand/{}", brand.expect("a brand stylesheet")));
    assert_eq!((brand.status, brand.header("content-type")), (200, Some("text/css; charset=utf-8")));
    assert_eq!(brand.header("cache-control"), Some("public, max-age=31536000, immutable"));
    assert_eq!(browser.get("/brand/2-zzzzzz.css").status, 404);
    assert_eq!(browser.get("/assets/site.0000000000000000.css").status, 404);
}

/// Portal: there is one canonical host.
#[test]
fn a_default_workspace_lives_at_the_base_host() {
    let app = App::with(&["--default-workspace", "acme"], &[]);
    let request = app.acme.feature_request("Dark mode");
    let path = page_of(&request);
    assert_eq!(request["url"], format!("https://{BASE_HOST}{path}"));
    let base = Client { host: BASE_HOST.to_owned(), key: None, ..app.acme.clone() };
    assert_eq!(base.get(&path).status, 200);
    let other = Client { key: None, ..app.acme.clone() };
    for path in ["/", "/feature_requests?sort=votes", &path] {
        let moved = other.get(path);
        assert_eq!(
            (moved.status, moved.header("location")),
            (301, Some(format!("https://{BASE_HOST}{path}").as_str()))
        );
    }
    // The API works at both.
    let at_base = Client { host: BASE_HOST.to_owned(), ..app.acme.clone() };
    assert_eq!((at_base.get_tracks().status, app.acme.get_tracks().status), (200, 200));
}

/// Portal: covers of published changelogs and the logo are served, and no other file.
#[test]
fn covers_of_published_changelogs_and_the_logo_are_served() {
    const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
    let app = App::start();
    let upload = |name: &str| app.acme.post_attachment(&crate::app::form_with(name, PIXEL)).json();
    let (cover, logo, other) = (upload("cover.png"), upload("logo.png"), upload("other.png"));
    let path = |file: &serde_json::Value| format!("/covers/{}/x.png", file["id"].as_str().unwrap());
    let browser = Browser::new(&app);
    let body = json!({ "changelog": { "title": "New", "content": "<p>Much</p>", "cover_image_signed_id": cover["signed_id"] } });
    let changelog = app.acme.post_changelog(&body).json()["changelog"]["id"].as_str().unwrap().to_owned();
    for file in [&cover, &logo, &other] {
        assert_eq!(browser.get(&path(file)).status, 404);
    }
    assert_eq!(app.acme.post_publish(&changelog, &json!({})).status, 200);
    set_portal(&app, &json!({ "logo_signed_id": logo["signed_id"] }));
    for file in [&cover, &logo] {
        let image = browser.get(&path(file));
        assert_eq!((image.status, image.header("content-type"), &image.bytes[..]), (200, Some("image/png"), PIXEL));
        assert_eq!(image.header("cache-control"), Some("public, max-age=86400"));
    }
    assert_eq!(browser.get(&path(&other)).status, 404);
    assert!(browser.page("/").contains("/logo.png"));
    for visibility in ["private", "off"] {
        set_portal(&app, &json!({ "visibility": visibility }));
        assert_eq!(browser.get(&path(&cover)).status, 404);
        let member = Browser::signed_in(&app, "olga@acme.example");
        for image in [browser.get(&path(&logo)), member.get(&path(&logo)), member.get(&path(&cover))] {
            assert_eq!((image.status, image.header("cache-control")), (200, Some("private, max-age=3600")));
        }
    }
    app.acme.delete_attachment(logo["id"].as_str().unwrap()).is_error(409, "Attachment is in use.");
}
