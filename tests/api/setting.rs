//! `GET`, `PATCH` and `PUT /setting`, contract sections 4.2 and 4.3.

use serde_json::{Value, json};

use crate::app::{App, Client, Response};

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

/// Contract 2.1: `website_url` is a valid URL.
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

/// Decision 2.
#[test]
fn a_setting_is_required_and_an_object() {
    let app = App::start();
    let missing = "param is missing or the value is empty or invalid: setting";
    for body in [json!({}), json!({ "product_name": "Outside" })] {
        for (_, update) in UPDATES {
            update(&app.acme, &body).is_error(422, missing);
        }
    }
}

/// Contract 4.3: an invalid URL is an error that names it.
/// Contract 7: an invalid website URL is an error.
/// Decision 2: an invalid URL is `Website URL is invalid`.
/// Decision 2: a blank name is `Product name can't be blank`.
#[test]
fn a_refused_update_changes_nothing() {
    let app = App::start();
    for (_, update) in UPDATES {
        update(&app.acme, &setting("New", "nonsense")).is_error(422, "Website URL is invalid");
        update(&app.acme, &setting(" ", "https://new.example")).is_error(422, "Product name can't be blank");
        assert_eq!(app.acme.get_setting().json(), setting("Acme", "https://acme.example"));
    }
}
