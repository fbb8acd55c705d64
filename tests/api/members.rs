//! `GET /members` and `GET /api_key`.

use serde_json::json;

use crate::app::{App, is_id, is_timestamp};

/// Addition 4: `GET /members` lists them oldest first, with roles.
#[test]
fn members_are_listed_oldest_first() {
    let app = App::start();
    let add = |email: &str, name: &str, flags: &[&str]| {
        let arguments = ["member", "add", "--workspace", "acme", "--email", email, "--name", name];
        app.roadmap(&[&arguments[..], flags].concat()).json()
    };
    add("Pia@acme.example", "Pia", &[]);
    add("zed@acme.example", "Zed", &["--role", "admin"]);
    let body = app.acme.get_members().is_ok();
    let member = |index: usize, email: &str, name: &str, role: &str| {
        let record = &body["members"][index];
        is_id(&record["id"]);
        is_timestamp(&record["created_at"]);
        json!({ "id": record["id"], "email": email, "name": name, "role": role, "created_at": record["created_at"] })
    };
    assert_eq!(
        body,
        json!({
            "members": [
                // The first member of a workspace is an admin.
                member(0, "olga@acme.example", "Olga", "admin"),
                member(1, "Pia@acme.example", "Pia", "member"),
                member(2, "zed@acme.example", "Zed", "admin"),
            ],
        })
    );
    let bolt = app.workspace("bolt");
    assert_eq!(bolt.get_members().is_ok(), json!({ "members": [] }));
}

/// Addition 1: `GET /api_key` takes any scope, and has no side effects.
#[test]
fn the_key_in_use_is_shown_to_every_scope() {
    let app = App::start();
    let workspace = app.roadmap(&["workspace", "list"]).json()[0]["id"].clone();
    for (flags, scopes) in [
        (&[][..], &["read", "write"][..]),
        (&["--scope", "read"], &["read"]),
        (&["--scope", "write"], &["write"]),
        (&["--scope", "manage"], &["manage"]),
        (&["--scope", "read,write,manage"], &["read", "write", "manage"]),
    ] {
        let arguments = ["api-key", "create", "--workspace", "acme", "--name", "ci & more"];
        let issued = app.roadmap(&[&arguments[..], flags].concat()).json();
        let key = issued["key"].as_str().unwrap();
        let response = app.client("acme", key).get_api_key();
        assert_eq!(response.status, 200);
        assert_eq!(
            response.is_ok(),
            json!({
                "api_key": {
                    "id": issued["id"],
                    "name": "ci & more",
                    "last_four": key[key.len() - 4..],
                    "scopes": scopes,
                    "expires_at": null,
                    "workspace": {
                        "id": workspace,
                        "subdomain": "acme",
                        "base_url": "https://acme.roadmap.example.com",
                    },
                },
            }),
            "{flags:?}"
        );
    }
}

/// Addition 1.
#[test]
fn the_expiry_of_the_key_in_use_is_shown() {
    let app = App::start();
    let client = app.client("acme", &app.key("acme", &["--expires-in", "90d"]));
    let key_body = client.get_api_key().is_ok();
    is_timestamp(&key_body["api_key"]["expires_at"]);
    let listed = app.roadmap(&["api-key", "list", "--workspace", "acme"]).json();
    let keys = listed.as_array().unwrap();
    let key = keys.iter().find(|key| key["id"] == key_body["api_key"]["id"]).expect("the key");
    assert_eq!(key_body["api_key"]["expires_at"], key["expires_at"]);
}
