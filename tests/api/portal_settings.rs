//! `GET` and `PATCH /portal`: the settings of the public pages.

use serde_json::{Value, json};

use crate::app::{App, Client, Response, form_with};

/// Beginning of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

fn defaults() -> Value {
    json!({
        "visibility": "public",
        "mail_domains": [],
        "indexing": true,
        "embed_origins": [],
        "languages": ["en", "de", "ar"],
        "moderation": false,
        "accent_color": null,
        "logo_url": null,
        "reply_to": null,
        "time_zone": "UTC",
        "welcome_text": {},
        "form_question": {},
        "noun": "feature_requests",
    })
}

fn change(client: &Client, fields: &Value) -> Response {
    client.patch_portal(&json!({ "portal": fields }))
}

#[track_caller]
fn settings(client: &Client) -> Value {
    client.get_portal().is_ok()["portal"].clone()
}

fn upload(client: &Client) -> Value {
    client.post_attachment(&form_with("logo.png", PNG)).is_ok()
}

/// Addition 7: `GET /portal` has the settings, without stored ones the defaults.
#[test]
fn a_new_portal_is_public_and_in_all_languages() {
    let app = App::start();
    assert_eq!(app.acme.get_portal().is_ok(), json!({ "portal": defaults() }));
    assert_eq!(app.count("SELECT count(*) FROM portal_settings"), 0);
}

/// Addition 7: `PATCH /portal` keeps fields that are left out; null and empty values remove what the portal can be
/// without.
/// Addition 7: domains, origins and colours are normalized.
#[test]
fn sent_fields_change_and_the_others_stay() {
    let app = App::start();
    let mut expected = defaults();
    for (sent, field, expected_value) in [
        (json!({ "visibility": "private" }), "visibility", json!("private")),
        (
            json!({ "mail_domains": [" Acme.example ", "@team.acme.example", "ACME.EXAMPLE"] }),
            "mail_domains",
            json!(["acme.example", "team.acme.example"]),
        ),
        (json!({ "mail_domains": ["m\u{fc}nchen.example"] }), "mail_domains", json!(["xn--mnchen-3ya.example"])),
        (json!({ "indexing": false }), "indexing", json!(false)),
        (
            json!({ "embed_origins": ["https://Help.acme.example:443/", "http://localhost:3000", "https://help.acme.example"] }),
            "embed_origins",
            json!(["https://help.acme.example", "http://localhost:3000"]),
        ),
        (json!({ "languages": ["ar", " de ", "ar"] }), "languages", json!(["ar", "de"])),
        (json!({ "moderation": true }), "moderation", json!(true)),
        (json!({ "accent_color": " #ABC " }), "accent_color", json!("#aabbcc")),
        (json!({ "reply_to": " Help@acme.example " }), "reply_to", json!("Help@acme.example")),
        (json!({ "time_zone": " europe/berlin " }), "time_zone", json!("Europe/Berlin")),
        (
            json!({ "welcome_text": { "en": " **Hi** ", "de": "" }, "form_question": null }),
            "welcome_text",
            json!({ "en": "**Hi**" }),
        ),
        (json!({ "form_question": { "ar": "\u{645}", "en": null } }), "form_question", json!({ "ar": "\u{645}" })),
        (json!({ "welcome_text": { "de": "Hallo" } }), "welcome_text", json!({ "de": "Hallo" })),
        (json!({ "form_question": {} }), "form_question", json!({})),
        (json!({ "noun": " ideas " }), "noun", json!("ideas")),
        (json!({ "noun": null }), "noun", json!("feature_requests")),
        (json!({ "visibility": "off" }), "visibility", json!("off")),
        // Null is an absent flag, and otherwise nothing.
        (json!({ "indexing": null, "moderation": null }), "indexing", json!(false)),
        (json!({ "accent_color": null }), "accent_color", json!(null)),
        (json!({ "reply_to": "" }), "reply_to", json!(null)),
        (json!({ "time_zone": null }), "time_zone", json!("UTC")),
        (json!({ "mail_domains": null }), "mail_domains", json!([])),
        (json!({ "embed_origins": [] }), "embed_origins", json!([])),
        (json!({ "theme": "dark", "logo_url": "https://evil.example", "id": 5 }), "logo_url", json!(null)),
        (json!({}), "logo_url", json!(null)),
    ] {
        expected[field] = expected_value;
        let response = change(&app.acme, &sent);
        assert_eq!((response.status, &response.json()["portal"]), (200, &expected), "{sent}");
        assert_eq!(settings(&app.acme), expected, "{sent}");
    }
    let all = json!({
        "visibility": "public",
        "mail_domains": ["acme.example"],
        "indexing": true,
        "embed_origins": ["https://acme.example"],
        "languages": ["en"],
        "moderation": false,
        "accent_color": "#17694f",
        "reply_to": "help@acme.example",
        "time_zone": "America/New_York",
        "welcome_text": { "en": "Hi" },
        "form_question": { "en": "What?" },
        "noun": "ideas",
    });
    let mut expected = all.clone();
    expected["logo_url"] = json!(null);
    assert_eq!(change(&app.acme, &all).is_ok(), json!({ "portal": expected }));
}

/// Addition 7: invalid settings of the portal are 422 naming the field, and nothing changes.
#[test]
fn an_invalid_field_is_named_and_changes_nothing() {
    let app = App::start();
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let many = |count: usize, end: &str| (0..count).map(|number| format!("a{number}{end}")).collect::<Vec<_>>();
    let origins =
        |count: usize| many(count, ".example").iter().map(|host| format!("https://{host}")).collect::<Vec<_>>();
    let (domain, origin) = ("a mail domain such as example.com", "an origin such as https://help.example.com");
    let colour = "accent_color is not a colour such as #17694f";
    for (sent, message) in [
        (json!({ "visibility": " " }), missing("visibility")),
        (json!({ "visibility": "hidden" }), "visibility is not one of public, private, off".to_owned()),
        (json!({ "visibility": "PUBLIC" }), "visibility is not one of public, private, off".to_owned()),
        (json!({ "mail_domains": ["acme.example", ""] }), format!("mail_domains is not {domain}")),
        (
            json!({ "mail_domains": [format!("{}.example", "a".repeat(254))] }),
            "mail_domains must be at most 254 characters long".to_owned(),
        ),
        (json!({ "mail_domains": many(51, ".example") }), "mail_domains must have at most 50 items".to_owned()),
        (json!({ "embed_origins": ["https://acme.example/help"] }), format!("embed_origins is not {origin}")),
        (json!({ "embed_origins": origins(21) }), "embed_origins must have at most 20 items".to_owned()),
        (json!({ "languages": [] }), missing("languages")),
        (json!({ "languages": ["en", "fr"] }), "languages is not one of en, de, ar".to_owned()),
        (json!({ "languages": ["EN"] }), "languages is not one of en, de, ar".to_owned()),
        (json!({ "accent_color": "green" }), colour.to_owned()),
        (json!({ "reply_to": "help" }), "reply_to is not an address that replies can be sent to".to_owned()),
        (
            json!({ "welcome_text": { "en": "a".repeat(301) } }),
            "welcome_text must be at most 300 characters long".to_owned(),
        ),
        (
            json!({ "form_question": { "fr": "Quoi ?" } }),
            "form_question is not an object with the keys en, de and ar".to_owned(),
        ),
        (json!({ "noun": "wishes" }), "noun is not one of feature_requests, ideas".to_owned()),
        (json!({ "time_zone": "Berlin" }), "time_zone is not an IANA time zone such as Europe/Berlin".to_owned()),
    ] {
        let mut fields = sent;
        // A valid field beside it is not changed either.
        if fields.get("accent_color").is_none() {
            fields["accent_color"] = json!("#123456");
        }
        change(&app.acme, &fields).is_error(422, &message);
    }
    assert_eq!(settings(&app.acme), defaults());
    let limits = json!({ "mail_domains": many(50, ".example"), "embed_origins": origins(20) });
    let changed = change(&app.acme, &limits).is_ok();
    assert_eq!(
        (&changed["portal"]["mail_domains"], &changed["portal"]["embed_origins"]),
        (&limits["mail_domains"], &limits["embed_origins"])
    );
}

/// Addition 7.
#[test]
fn the_settings_are_required_and_an_object() {
    let app = App::start();
    let missing = "param is missing or the value is empty or invalid: portal";
    for body in [json!({}), json!({ "visibility": "off" })] {
        app.acme.patch_portal(&body).is_error(422, missing);
    }
    assert_eq!(settings(&app.acme), defaults());
}

/// Addition 7: `logo_signed_id` is a file of the workspace, which is then in use, so that deleting it is 409.
#[test]
fn the_logo_is_a_file_that_stays_in_use() {
    let app = App::start();
    let file = upload(&app.acme);
    let (id, signed_id) = (file["id"].as_str().unwrap(), &file["signed_id"]);
    let changed = change(&app.acme, &json!({ "logo_signed_id": signed_id })).is_ok();
    let url = changed["portal"]["logo_url"].as_str().expect("a URL");
    assert!(url.starts_with("https://acme.roadmap.example.com/blobs/") && url.ends_with("/logo.png"), "{url}");
    assert_eq!(settings(&app.acme), changed["portal"]);
    let opened = app.acme.get(url.strip_prefix("https://acme.roadmap.example.com").unwrap());
    assert_eq!(opened.status, 302);

    // It stays with other changes, and cannot be deleted.
    let other = change(&app.acme, &json!({ "accent_color": "#17694f" })).is_ok();
    assert_eq!(other["portal"]["logo_url"].as_str(), Some(url));
    app.acme.delete_attachment(id).is_error(409, "Attachment is in use.");
    for nothing in [json!(null), json!(""), json!(" ")] {
        change(&app.acme, &json!({ "logo_signed_id": signed_id })).is_ok();
        let removed = change(&app.acme, &json!({ "logo_signed_id": nothing })).is_ok();
        assert_eq!(removed["portal"]["logo_url"], json!(null), "{nothing}");
    }
    app.acme.delete_attachment(id).is_empty();
    let message = "logo_signed_id is not the signed_id of an uploaded image";
    change(&app.acme, &json!({ "logo_signed_id": signed_id })).is_error(422, message);
}

/// Addition 7.
#[test]
fn forged_and_foreign_logos_are_rejected() {
    let app = App::start();
    let file = upload(&app.acme);
    let foreign = upload(&app.workspace("bolt"));
    let message = "logo_signed_id is not the signed_id of an uploaded image";
    for reference in [
        json!("forged"),
        file["id"].clone(),
        file["attachable_sgid"].clone(),
        foreign["signed_id"].clone(),
        json!(format!("{}x", file["signed_id"].as_str().unwrap())),
    ] {
        change(&app.acme, &json!({ "logo_signed_id": reference })).is_error(422, message);
    }
    assert_eq!(settings(&app.acme), defaults());
}
