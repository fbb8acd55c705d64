//! The first day of an installation: what a start prints, where the base host leads, and logos that nobody has uploaded.

use serde_json::{Value, json};

use crate::app::{App, BASE_HOST, Client, Response, Server, eventually, form_with, run};
use crate::browser::Browser;
use crate::database::Data;

/// The command that creates the first workspace, as in the README.
const CREATE: &str = "roadmap workspace create acme --product-name \"Acme\" --website-url https://acme.example";

/// Creates a workspace.
fn create(data: &Data, subdomain: &str) {
    let website = "https://elsewhere.example";
    let arguments = ["workspace", "create", subdomain, "--product-name", subdomain, "--website-url", website];
    run(data.path(), &arguments, &[]).json();
}

/// Returns the lines that a start prints after the first one, without blank ones.
fn greeting(data: &Data, flags: &[&str]) -> Vec<String> {
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let printed = Server::start(data.path(), &flags, &[]).stop();
    printed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Returns a client without a key at the base host.
fn at_base_host(port: u16) -> Client {
    Client { port, host: BASE_HOST.to_owned(), key: None }
}

/// Returns the two lines about a workspace at this URL.
fn addresses(subdomain: &str, url: &str) -> [String; 2] {
    [format!("Portal of {subdomain}: {url}"), format!("Admin panel of {subdomain}: {url}/admin")]
}

#[test]
fn a_start_without_workspaces_prints_the_command_of_the_readme() {
    assert!(include_str!("../../README.md").contains(CREATE));
    let lines = greeting(&Data::empty(), &[]);
    assert_eq!(lines[0], "There is no workspace yet. In another terminal:");
    assert_eq!(lines[1].trim_start(), format!("{CREATE} --data-dir '.'"));
    assert!(!lines.iter().any(|line| line.starts_with("Portal of ")), "{lines:?}");
}

#[test]
fn a_start_prints_the_addresses_of_at_most_five_workspaces() {
    let data = Data::empty();
    let below = |subdomain: &str| addresses(subdomain, &format!("https://{subdomain}.{BASE_HOST}"));
    // Hints about members have a test of their own.
    let printed = |flags: &[&str]| {
        let mut lines = greeting(&data, flags);
        lines.retain(|line| !line.contains(" has no members. "));
        lines
    };
    create(&data, "g");
    assert_eq!(printed(&[]), below("g"));
    // The log is elsewhere, whatever its format.
    assert_eq!(printed(&["--log-format", "json"]), below("g"));
    ["f", "e", "d", "c", "b", "a"].iter().for_each(|subdomain| create(&data, subdomain));
    let more = |count: u32| vec![format!("… and {count} more: roadmap workspace list --data-dir '.'")];
    let five = ["a", "b", "c", "d", "e"].map(below).concat();
    assert_eq!(printed(&[]), [five, more(2)].concat());
    // The default workspace comes first.
    let four = ["a", "b", "c", "d"].map(below).concat();
    let default = addresses("g", &format!("https://{BASE_HOST}")).to_vec();
    assert_eq!(printed(&["--default-workspace", "g"]), [default, four, more(2)].concat());
}

/// Portal: the base host of a service without a workspace says how to create one.
#[test]
fn the_base_host_without_workspaces_says_how_to_create_one() {
    let data = Data::empty();
    let server = Server::start(data.path(), &[], &[]);
    let base = at_base_host(server.port);
    let shows = |page: &Response| {
        assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
        assert_eq!(page.header("cache-control"), Some("private, no-store"));
        let text = page.text();
        assert!(text.contains("There is no workspace yet") && text.contains(CREATE), "{text}");
        assert!(text.contains("href=\"/brand/1-17694f-dot.svg\""), "{text}");
    };
    for path in ["/", "/admin", "/feature_requests?sort=votes", "/nothing"] {
        shows(&base.get(path));
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    shows(&base.request("POST", "/sign-in", &form, Some(b"email=ann%40example.com")).unwrap());
    let german = base.request("GET", "/", &[("Accept-Language", "de")], None).unwrap().text();
    assert!(german.contains("Es gibt noch keinen Arbeitsbereich") && german.contains(CREATE), "{german}");
    // Programs and other hosts get what they always get.
    base.get("/api/external/v1/tracks").is_error(401, "Could not authenticate, invalid API Key");
    let unknown = Client { host: format!("nobody.{BASE_HOST}"), ..base.clone() };
    assert!(unknown.get("/").text().contains("This page does not exist"));
    create(&data, "acme");
    eventually("the base host leads to the workspace", || base.get("/").status == 302);
}

/// Portal: the base host leads to the only workspace, to the same page, for as long as it is the only one.
#[test]
fn the_base_host_leads_to_the_only_workspace() {
    let app = App::start();
    let base = at_base_host(app.port());
    let other_spelling = Client { host: format!("ROADMAP.example.com.:{}", app.port()), ..base.clone() };
    for path in
        ["/", "/admin", "/feature_requests?sort=votes&page=2", "/changelogs.atom", "/nothing", "//evil.example/"]
    {
        for client in [&base, &other_spelling] {
            for method in ["GET", "HEAD"] {
                let found = client.request(method, path, &[], None).unwrap();
                let location = format!("https://acme.{BASE_HOST}{path}");
                assert_eq!((found.status, found.header("location")), (302, Some(location.as_str())), "{method} {path}");
                assert_eq!(found.header("cache-control"), Some("no-cache"));
            }
        }
    }
    // A form is for its own page, and programs get what they always get.
    let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "https://roadmap.example.com")];
    let sent = base.request("POST", "/sign-in", &form, Some(b"email=ann%40example.com")).unwrap();
    assert_eq!((sent.status, sent.header("location")), (404, None));
    base.get("/api/external/v1/tracks").is_error(401, "Could not authenticate, invalid API Key");
    for host in [format!("nobody.{BASE_HOST}"), "elsewhere.example".to_owned()] {
        let unknown = Client { host, ..base.clone() }.get("/");
        assert_eq!((unknown.status, unknown.header("location")), (404, None));
    }
    app.workspace("beta");
    eventually("the base host leads nowhere", || base.get("/").status == 404);
    let page = base.get("/admin");
    assert_eq!((page.status, page.header("location")), (404, None));
    assert!(page.text().contains("This page does not exist") && !page.text().contains(CREATE), "{}", page.text());
}

/// Sets the name of the product and the accent colour of `acme`.
fn set_look(app: &App, product_name: &str, accent: &Value) {
    app.acme.patch_setting(&json!({ "setting": { "product_name": product_name } })).is_ok();
    app.acme.patch_portal(&json!({ "portal": { "accent_color": accent } })).is_ok();
}

/// Portal: a workspace without a logo has the first letter of its product's name on its accent colour.
#[test]
fn a_workspace_without_a_logo_has_a_letter() {
    let app = App::start();
    let [visitor, member] = [Browser::new(&app), Browser::signed_in(&app, "olga@acme.example")];
    let acme = "/brand/1-17694f-41.svg";
    for (browser, path) in [(&visitor, "/"), (&visitor, "/sign-in"), (&visitor, "/nothing"), (&member, "/admin")] {
        let page = browser.get(path).text();
        let icon = format!("<link rel=\"icon\" href=\"{acme}\" type=\"image/svg+xml\">");
        assert!(page.contains(&icon) && page.contains(&format!("<img src=\"{acme}\" alt=\"\"")), "{path}: {page}");
    }
    assert!(visitor.page("/embed/roadmap").contains(&format!("<link rel=\"icon\" href=\"{acme}\" ")));
    for (product_name, accent, path, letter, ink) in [
        ("acme", json!("#ffd400"), "/brand/1-ffd400-41.svg", ">A</text>", "#000000"),
        ("\u{639}\u{631}\u{628}\u{64a}", json!("#7a3f9d"), "/brand/1-7a3f9d-d8b9.svg", ">\u{639}</text>", "#ffffff"),
        ("\u{8def}\u{7ebf}\u{56fe}", json!(null), "/brand/1-17694f-e8b7af.svg", ">\u{8def}</text>", "#ffffff"),
        ("\u{1f680}", json!(null), "/brand/1-17694f-dot.svg", "<circle ", "#ffffff"),
        ("<script>", json!(null), "/brand/1-17694f-53.svg", ">S</text>", "#ffffff"),
    ] {
        set_look(&app, product_name, &accent);
        let icon = format!("<link rel=\"icon\" href=\"{path}\" type=\"image/svg+xml\">");
        eventually("the page is a new one", || visitor.page("/").contains(&icon));
        // The address contains everything, so that any host serves it.
        let unknown = Client { host: format!("nobody.{BASE_HOST}"), key: None, ..app.acme.clone() };
        for image in [visitor.get(path), unknown.get(path)] {
            assert_eq!((image.status, image.header("content-type")), (200, Some("image/svg+xml")), "{path}");
            assert_eq!(image.header("cache-control"), Some("public, max-age=31536000, immutable"));
            assert_eq!(image.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(image.header("content-security-policy"), Some("default-src 'none'; sandbox"));
            let text = image.text();
            assert!(text.contains(letter) && text.contains(&format!("fill=\"{ink}\"")), "{text}");
        }
    }
    let logo = app.acme.post_attachment(&form_with("logo.png", b"\x89PNG\r\n\x1a\n")).is_ok();
    app.acme.patch_portal(&json!({ "portal": { "logo_signed_id": logo["signed_id"] } })).is_ok();
    eventually("the logo is shown", || visitor.page("/").contains("/logo.png"));
    assert!(!visitor.page("/").contains("/brand/1-"));
}

/// Portal: the address of a logo or a stylesheet that no page has is 404.
#[test]
fn a_file_of_a_brand_that_no_page_names_does_not_exist() {
    let app = App::start();
    let visitor = Browser::new(&app);
    visitor.page("/");
    let long = "41".repeat(2_000);
    for file in [
        "",
        "x",
        ".svg",
        ".css",
        "1-17694f-41",
        "1-17694f-41.SVG",
        "1-17694f-41.png",
        "1-17694f.svg",
        "1-17694f-.svg",
        "1-17694f-4.svg",
        "1-17694f-61.svg",
        "1-17694f-4142.svg",
        "1-17694f-3c.svg",
        "1-17694f-00.svg",
        "1-17694f-ff.svg",
        "1-17694f-zz.svg",
        "1-17694f-%41.svg",
        "1-17694f-%ff.svg",
        "1-17694f-%C3%A9.svg",
        "1-%C3%A9%C3%A94f-41.svg",
        "%C3%A9-17694f-41.svg",
        "%ff%fe.svg",
        "1-17694F-41.svg",
        "1-123-41.svg",
        "2-17694f-41.svg",
        "1-17694f.css",
        "2-%C3%A9%C3%A94f.css",
        &format!("1-17694f-{long}.svg"),
    ] {
        let missing = visitor.get(&format!("/brand/{file}"));
        assert_eq!((missing.status, missing.header("content-type")), (404, Some("text/html; charset=utf-8")), "{file}");
    }
    app.has_logged_no_failure();
}
