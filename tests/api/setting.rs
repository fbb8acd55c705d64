//! `GET`, `PATCH` and `PUT /setting`, contract sections 4.2 and 4.3.

use serde_json::{Value, json};

use crate::app::{App, Client, Response};
use crate::database::hex;

/// One of the two equivalent update methods.
type Update = fn(&Client, &Value) -> Response;

const UPDATES: [(&str, Update); 2] = [("PATCH", Client::patch_setting), ("PUT", Client::put_setting)];

fn setting(product_name: &str, website_url: &str) -> Value {
    json!({ "setting": { "product_name": product_name, "website_url": website_url } })
}

/// Contract 1: product name and website URL are read and updated.
/// Contract 2.1: `product_name` is a string.
/// Contract 4.2: `GET /setting` returns `setting` and its two fields.
#[test]
fn the_setting_is_the_product_name_and_the_website_url() {
    let app = App::start();
    let response = app.acme.get_setting();
    assert_eq!((response.status, response.json()), (200, setting("Acme", "https://acme.example")));
    assert_eq!(response.header("content-type"), Some("application/json"));
}

/// Contract 4.3: `PATCH /setting` and `PUT /setting` are the same.
/// Contract 4.3: either or both fields may be sent.
/// Contract 4.3: omitted fields are unchanged.
/// Contract 4.3: the response is the setting after the update.
/// Contract 1.
#[test]
fn either_or_both_fields_may_be_sent_and_the_others_are_unchanged() {
    let app = App::start();
    for (method, update) in UPDATES {
        for (sent, after) in [
            (
                json!({ "product_name": "Roadmap", "website_url": "https://roadmap.example" }),
                setting("Roadmap", "https://roadmap.example"),
            ),
            (json!({ "product_name": "Anvils" }), setting("Anvils", "https://roadmap.example")),
            (json!({ "website_url": "http://anvils.example/" }), setting("Anvils", "http://anvils.example/")),
        ] {
            let response = update(&app.acme, &json!({ "setting": sent }));
            assert_eq!((response.status, response.json()), (200, after.clone()), "{method} {sent}");
            assert_eq!(response.header("content-type"), Some("application/json"), "{method} {sent}");
            assert_eq!(app.acme.get_setting().json(), after, "{method} {sent}");
        }
    }
}

/// Contract 2.1: other settings are ignored.
/// Contract 4.3: other keys are ignored.
#[test]
fn other_keys_are_ignored() {
    let app = App::start();
    let id = app.sql(&format!("SELECT {} FROM workspaces", hex("id")));
    for (method, update) in UPDATES {
        let other = json!({ "theme": "dark", "id": 5, "subdomain": "bolt", "workspace_id": null, "websiteUrl": [] });
        let response = update(&app.acme, &json!({ "setting": other, "product_name": "Outside", "more": { "a": 1 } }));
        assert_eq!((response.status, response.json()), (200, setting("Acme", "https://acme.example")), "{method}");
        let response = update(&app.acme, &json!({ "setting": { "product_name": method, "theme": "dark" } }));
        assert_eq!((response.status, response.json()), (200, setting(method, "https://acme.example")), "{method}");
        update(&app.acme, &setting("Acme", "https://acme.example"));
    }
    assert_eq!(app.sql(&format!("SELECT {} FROM workspaces", hex("id"))), id);
    assert_eq!(app.sql("SELECT subdomain FROM workspaces"), ["acme"]);
}

/// Contract 4.10.
#[test]
fn an_operation_key_replays_no_update() {
    let app = App::start();
    for (method, update) in UPDATES {
        for name in ["Anvils", "Rockets"] {
            let body = json!({ "setting": { "product_name": name }, "operation_key": "key" });
            let response = update(&app.acme, &body);
            assert_eq!(response.json(), setting(name, "https://acme.example"), "{method}");
            assert_eq!(response.header("idempotent-replayed"), None, "{method}");
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM operations"), 0);
}

/// Decision 3.
#[test]
fn a_product_name_has_up_to_200_characters_without_the_white_space_around_it() {
    let app = App::start();
    let longest = "ü".repeat(200);
    for (sent, kept) in
        [(longest.as_str(), longest.as_str()), ("\t Façade & <Söhne> 😀\n", "Façade & <Söhne> 😀"), ("x", "x")]
    {
        for (method, update) in UPDATES {
            let response = update(&app.acme, &json!({ "setting": { "product_name": sent } }));
            assert_eq!(
                (response.status, response.json()),
                (200, setting(kept, "https://acme.example")),
                "{method} {sent}"
            );
        }
    }
}

/// Decision 2: a blank name is `Product name can't be blank`.
/// Contract 2.1.
#[test]
fn an_invalid_product_name_is_rejected_by_name() {
    let app = App::start();
    let blank = "Product name can't be blank";
    for (sent, message) in [
        (json!(""), blank),
        (json!(" \t\n\u{2003}"), blank),
        (json!(null), blank),
        (json!("n".repeat(201)), "product_name must be at most 200 characters long"),
        (json!("a\u{0}b"), "product_name must not contain the NUL character"),
        (json!(5), "product_name must be a string"),
        (json!(true), "product_name must be a string"),
        (json!(["Acme"]), "product_name must be a string"),
        (json!({}), "product_name must be a string"),
    ] {
        for (_, update) in UPDATES {
            update(&app.acme, &json!({ "setting": { "product_name": sent } })).is_error(422, message);
        }
    }
    assert_eq!(app.acme.get_setting().json(), setting("Acme", "https://acme.example"));
}

/// Contract 2.1: `website_url` is a valid URL.
/// Decision 4: a website URL is an absolute `http` or `https` URL with a host.
#[test]
fn absolute_http_urls_with_a_host_are_kept_as_written() {
    let app = App::start();
    for url in [
        "https://example.com",
        "http://example.com",
        "HTTPS://Example.com/Path?q=1&r=%20#f",
        "https://münchen.example/ü",
        "http://127.0.0.1:8080",
        "https://[::1]/",
        "https://localhost",
    ] {
        for (method, update) in UPDATES {
            let response = update(&app.acme, &json!({ "setting": { "website_url": url } }));
            assert_eq!((response.status, response.json()), (200, setting("Acme", url)), "{method} {url}");
        }
    }
}

/// Contract 4.3: an invalid URL is an error that names it.
/// Contract 7: an invalid website URL is an error.
/// Decision 2: an invalid URL is `Website URL is invalid`.
/// Contract 2.1; Decision 4.
#[test]
fn every_other_website_url_is_invalid() {
    let app = App::start();
    for sent in [
        json!(null),
        json!(""),
        json!(" "),
        json!("nonsense"),
        json!("acme.example"),
        json!("//acme.example"),
        json!("/path"),
        json!("ftp://acme.example"),
        json!("javascript:alert(1)"),
        json!("javascript://acme.example/%0aalert(1)"),
        json!("data:text/html,x"),
        json!("mailto:olga@acme.example"),
        json!("file:///etc/passwd"),
        json!("http:acme.example"),
        json!("http:/acme.example"),
        json!("https://"),
        json!("https:///path"),
        json!("https://?q"),
        json!("https://:443"),
        json!("https://acme.example:99999"),
        json!("https://ac me.example"),
        json!("https://acme\t.example"),
        json!("https://acme.example/a\nb"),
        json!("https://acme\u{0}.example"),
        json!("https:\\\\acme.example"),
        json!("https://[::1"),
        json!("https://user:pw@acme.example"),
        json!("https://acme.example@evil.example"),
        json!("https://acme.example/\u{202e}gpj.exe"),
    ] {
        for (_, update) in UPDATES {
            update(&app.acme, &json!({ "setting": { "website_url": sent } })).is_error(422, "Website URL is invalid");
        }
    }
    for sent in [json!(5), json!(false), json!(["https://acme.example"]), json!({})] {
        for (_, update) in UPDATES {
            let body = json!({ "setting": { "website_url": sent } });
            update(&app.acme, &body).is_error(422, "website_url must be a string");
        }
    }
    assert_eq!(app.acme.get_setting().json(), setting("Acme", "https://acme.example"));
}

/// Decision 4: `setting` must be an object.
/// Decision 2.
#[test]
fn a_setting_is_required_and_an_object() {
    let app = App::start();
    let missing = "param is missing or the value is empty or invalid: setting";
    for (body, message) in [
        (json!({}), missing),
        (json!({ "setting": null }), missing),
        (json!({ "product_name": "Outside" }), missing),
        (json!({ "setting": "Acme" }), "setting must be an object"),
        (json!({ "setting": ["Acme", "https://acme.example"] }), "setting must be an object"),
        (json!({ "setting": [] }), "setting must be an object"),
        (json!({ "setting": 5 }), "setting must be an object"),
        (json!({ "setting": true }), "setting must be an object"),
    ] {
        for (_, update) in UPDATES {
            update(&app.acme, &body).is_error(422, message);
        }
    }
}

/// Contract 4.3.
#[test]
fn a_refused_update_changes_nothing() {
    let app = App::start();
    for (_, update) in UPDATES {
        update(&app.acme, &setting("New", "nonsense")).is_error(422, "Website URL is invalid");
        update(&app.acme, &setting(" ", "https://new.example")).is_error(422, "Product name can't be blank");
        assert_eq!(app.acme.get_setting().json(), setting("Acme", "https://acme.example"));
    }
}

/// Contract 2.1: each workspace has one setting.
/// Contract 1.
#[test]
fn two_workspaces_do_not_share_their_setting() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    assert_eq!(bolt.get_setting().json(), setting("bolt", "https://elsewhere.example"));
    for (method, update) in UPDATES {
        update(&app.acme, &setting("Anvils", "https://anvils.example"));
        assert_eq!(bolt.get_setting().json(), setting("bolt", "https://elsewhere.example"), "{method}");
        update(&bolt, &setting("Bolts", "https://bolts.example"));
        assert_eq!(app.acme.get_setting().json(), setting("Anvils", "https://anvils.example"), "{method}");
        update(&bolt, &setting("bolt", "https://elsewhere.example"));
    }
}
