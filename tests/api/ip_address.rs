//! A service that is used by an IP address, as in a network without DNS.

use crate::app::{App, Client, refusal};
use crate::database::Data;

#[test]
fn the_default_workspace_works_by_an_ip_address() {
    for url in ["http://192.0.2.7:8080", "http://[::1]:8080"] {
        let app = App::with(&["--base-url", url, "--default-workspace", "acme"], &[]);
        let host = url.strip_prefix("http://").unwrap().to_owned();
        let acme = Client { host: host.clone(), ..app.acme.clone() };
        let created = acme.feature_request("Dark mode");
        assert_eq!(created["url"], format!("{url}/feature_requests/1-dark-mode"));
        let stranger = Client { key: None, ..acme.clone() };
        for path in ["/", "/feature_requests/1-dark-mode", "/sign-in"] {
            let page = stranger.get(path);
            assert_eq!(page.status, 200, "{path}: {}", page.text());
        }

        let environment = [("ROADMAP_BASE_URL", url), ("ROADMAP_DEFAULT_WORKSPACE", "acme")];
        let link = ["sign-in", "link", "--workspace", "acme", "--email", "olga@acme.example", "--json"];
        let link = app.roadmap_with_environment(&link, &environment).json();
        let path = link["url"].as_str().unwrap().strip_prefix(url).expect("the base URL").to_owned();
        let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", url)];
        let signed_in = stranger.request("POST", &path, &form, Some(b"choice=only")).unwrap();
        assert_eq!(signed_in.status, 303, "{}", signed_in.text());
        let cookie = signed_in.header("set-cookie").expect("a cookie");
        // Browsers refuse both without TLS.
        assert!(!cookie.contains("Secure") && !cookie.contains("__Host-"), "{cookie}");
        let pair = cookie.split_once(';').unwrap().0;
        let admin = stranger.request("GET", "/admin", &[("Cookie", pair)], None).unwrap();
        assert!(matches!(admin.status, 200 | 303), "{}", admin.text());
        assert!(admin.header("location").is_none_or(|to| to.starts_with("/admin")), "{:?}", admin.header("location"));

        // A form of another site, and another host.
        let form = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "http://192.0.2.8:8080")];
        let email = b"email=ann%40example.com";
        assert_eq!(stranger.request("POST", "/sign-in", &form, Some(email)).unwrap().status, 403);
        let elsewhere = Client { host: "192.0.2.8:8080".to_owned(), ..acme };
        assert_eq!(elsewhere.get_tracks().status, 401);
    }
}

#[test]
fn an_ip_address_needs_a_default_workspace() {
    let data = Data::empty();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--base-url", "http://192.0.2.7:8080"];
    let said = refusal(data.path(), &arguments, &[]);
    assert!(said.contains("base_url has the IP address 192.0.2.7") && said.contains("set default_workspace"), "{said}");
}
