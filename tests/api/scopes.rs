//! Every route with every combination of scopes, with keys of the own and of another workspace, and without a key.

use serde_json::Value;

use crate::app::{App, Client};
use crate::endpoints::{Endpoint, MANAGED, Records, endpoints};

const REFUSED: &str = "Could not authenticate, invalid API Key";
const OUT_OF_SCOPE: &str = "API Key does not have the required scope";
const SCOPES: [&str; 3] = ["read", "write", "manage"];

/// Expected outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// 401.
    Unauthenticated,
    /// 403.
    OutOfScope,
    /// Anything else.
    Passed,
}

fn outcome(status: u16) -> Outcome {
    match status {
        401 => Outcome::Unauthenticated,
        403 => Outcome::OutOfScope,
        _ => Outcome::Passed,
    }
}

/// Creates a key of a workspace with these scopes, also with none, which no command creates.
fn key(app: &App, subdomain: &str, scopes: &[&str]) -> String {
    let named = if scopes.is_empty() { SCOPES.join(",") } else { scopes.join(",") };
    let arguments = ["api-key", "create", "--workspace", subdomain, "--name", "matrix", "--scope", &named];
    let issued = app.roadmap(&arguments).json();
    if scopes.is_empty() {
        let id = issued["id"].as_str().expect("an id").replace('-', "");
        let of_key = format!("{} = '{id}'", crate::database::hex("id"));
        app.data.execute(&format!(
            "UPDATE api_keys SET can_read = false, can_write = false, can_manage = false WHERE {of_key}"
        ));
    }
    issued["key"].as_str().expect("a key").to_owned()
}

/// All combinations of scopes.
fn combinations() -> Vec<Vec<&'static str>> {
    let of_bits = |bits: usize| SCOPES.into_iter().enumerate().filter(move |(bit, _)| bits & (1 << bit) != 0);
    (0..1 << SCOPES.len()).map(|bits| of_bits(bits).map(|(_, scope)| scope).collect()).collect()
}

/// Decision 1: a key with `manage` does not get `write` by itself.
/// Addition 1: the scopes are `read`, `write` and `manage`, and each route accepts the keys with its scope and no
/// others.
/// Addition 1: a key with `manage` does not get `write` by itself.
/// Addition 6: audit entries need `manage`.
/// Addition 7: both of `/portal` need `manage`.
#[test]
fn every_route_accepts_exactly_the_keys_with_its_scope() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    // Ids that exist nowhere, so that no request has an effect on the next one. Whatever passes gets 404 or 422.
    let records = Records::unknown();
    let own: Vec<(Vec<&str>, String)> =
        combinations().into_iter().map(|scopes| (scopes.clone(), key(&app, "acme", &scopes))).collect();
    let foreign: Vec<(Vec<&str>, String)> =
        combinations().into_iter().map(|scopes| (scopes.clone(), key(&app, "bolt", &scopes))).collect();
    let mut cases = 0;
    let mut check = |endpoint: &Endpoint, client: &Client, headers: &[(&str, &str)], expected: Outcome, case: &str| {
        let response = endpoint.send(client, &records, headers);
        let case = format!("{} {case}: {}", endpoint.name(), response.text());
        assert_eq!(outcome(response.status), expected, "{case}");
        assert!(response.status < 500, "{case}");
        let message = match expected {
            Outcome::Unauthenticated => REFUSED,
            Outcome::OutOfScope => OUT_OF_SCOPE,
            Outcome::Passed => return cases += 1,
        };
        response.is_error(response.status, message);
        cases += 1;
    };
    for endpoint in endpoints() {
        let is_allowed = |scopes: &[&str]| endpoint.scope().is_none_or(|scope| scopes.contains(&scope));
        for (scopes, key) in &own {
            let expected = if is_allowed(scopes) { Outcome::Passed } else { Outcome::OutOfScope };
            let bearer = format!("Bearer {key}");
            let nobody = Client { key: None, ..app.acme.clone() };
            check(&endpoint, &app.client("acme", key), &[], expected, &format!("{scopes:?}"));
            check(&endpoint, &nobody, &[("Authorization", &bearer)], expected, &format!("{scopes:?}, bearer"));
        }
        for (scopes, key) in &foreign {
            let case = format!("{scopes:?}, foreign");
            check(&endpoint, &app.client("acme", key), &[], Outcome::Unauthenticated, &case);
        }
        for client in [&app.acme, &bolt] {
            let nobody = Client { key: None, ..client.clone() };
            check(&endpoint, &nobody, &[], Outcome::Unauthenticated, "without a key");
        }
    }
    let routes = endpoints().len();
    println!("{cases} cases of {routes} routes");
    assert_eq!(cases, routes * (8 + 8 + 8 + 2));
    app.has_logged_no_failure();
}

/// Addition 1.
#[test]
fn the_table_of_managed_routes_is_of_the_document() {
    let known: Vec<(&str, &str)> = endpoints().iter().map(|endpoint| (endpoint.method, endpoint.path)).collect();
    for managed in MANAGED {
        assert!(known.contains(&managed), "{managed:?}");
    }
    assert!(known.contains(&("GET", "/api/external/v1/api_key")));
}

/// Addition 1: no route shows or changes a record of another workspace.
#[test]
fn every_route_with_ids_responds_with_404_to_ids_of_another_workspace() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let manager = app.client("bolt", &key(&app, "bolt", &SCOPES));
    let foreign = Records::create(&app, &manager, "foreign");
    let counts = |app: &App| -> Vec<i64> {
        [
            "feature_requests",
            "votes",
            "comments",
            "notes",
            "links",
            "link_sources",
            "webhooks",
            "lanes",
            "tracks",
            "changelogs",
            "customers",
            "attachments",
        ]
        .map(|table| app.count(&format!("SELECT count(*) FROM {table}")))
        .to_vec()
    };
    let before = counts(&app);
    for endpoint in endpoints().into_iter().filter(|endpoint| endpoint.path.contains('{')) {
        let response = endpoint.send(&app.acme, &foreign, &[]);
        let body: Value = response.json();
        let message = body["error"].as_str().expect("a sentence");
        assert_eq!(response.status, 404, "{}: {body}", endpoint.name());
        assert!(message.ends_with(" does not exist."), "{}: {body}", endpoint.name());
        assert_eq!(counts(&app), before, "{}", endpoint.name());
    }
    assert_eq!(bolt.get_api_key().status, 200);
}
