//! Cases that several endpoints share.

use serde_json::{Value, json};

use crate::app::{App, Client, Response};
use crate::database::sql_timestamp;

/// Number of items that a list must have for [`comes_in_pages`].
pub const LISTED: usize = 101;

/// Asserts pagination (contract section 4.11) of a list of [`LISTED`] items, whose `field` values are given in list
/// order.
#[track_caller]
pub fn comes_in_pages(list: &str, field: &str, items: &[Value], get: impl Fn(&str) -> Response) {
    assert_eq!(items.len(), LISTED);
    let huge = format!("1{}", "0".repeat(40));
    for (query, page, page_size, total_pages, listed) in [
        ("", 1, 25, 5, 0..25),
        ("page=1", 1, 25, 5, 0..25),
        ("page=2", 2, 25, 5, 25..50),
        ("page=5", 5, 25, 5, 100..101),
        ("page=6", 6, 25, 5, 0..0),
        ("page_size=1", 1, 1, 101, 0..1),
        ("page=34&page_size=3", 34, 3, 34, 99..101),
        ("page_size=100", 1, 100, 2, 0..100),
        ("page_size=101", 1, 100, 2, 0..100),
        ("page=2&page_size=1000000", 2, 100, 2, 100..101),
        (&format!("page_size={huge}"), 1, 100, 2, 0..100),
        ("page=9223372036854775807", i64::MAX, 25, 5, 0..0),
        ("page=9223372036854775807&page_size=100", i64::MAX, 100, 2, 0..0),
        ("page=9223372036854775807&page_size=1", i64::MAX, 1, 101, 0..0),
        (&format!("page={huge}"), i64::MAX, 25, 5, 0..0),
    ] {
        let response = get(query);
        assert_eq!(response.status, 200, "{query}");
        let mut body = response.json();
        let values: Vec<Value> =
            body[list].as_array().expect("a list").iter().map(|item| item[field].clone()).collect();
        assert_eq!(values, items[listed], "{query}");
        body[list] = json!("as above");
        let envelope = json!({
            list: "as above",
            "page": page,
            "page_size": page_size,
            "total_count": LISTED,
            "total_pages": total_pages,
        });
        assert_eq!(body, envelope, "{query}");
    }
}

/// Returns identifiers of feature requests that do not exist in `acme`: unknown ones, malformed ones and the id of a
/// feature request of another workspace. Also returns a client of that workspace. `acme` must have one feature
/// request.
pub fn unknown_requests(app: &App) -> (Client, Vec<String>) {
    let bolt = app.workspace("bolt");
    bolt.feature_request("Bolt's first");
    let foreign = bolt.feature_request("Bolt's second");
    let foreign = foreign["id"].as_str().expect("an id");
    let unknown = [
        foreign,
        "2-bolt-s-second",
        "01890a5d-ac96-774b-bcce-b302099a8057",
        "0",
        "dark-mode",
        "-1",
        "99999999999999999999",
        "%00",
        "%ff",
    ];
    (bolt, unknown.map(str::to_owned).to_vec())
}

/// Makes all feature requests look as if they were changed last at [`outdated`].
pub fn age_feature_requests(app: &App) {
    app.data.execute(&format!("UPDATE feature_requests SET updated_at = {}", sql_timestamp("0")));
}

/// Timestamp that [`age_feature_requests`] sets.
pub fn outdated() -> Value {
    json!("1970-01-01T00:00:00.000Z")
}

/// Returns one field of every item of a list.
pub fn column(body: &Value, list: &str, field: &str) -> Vec<Value> {
    body[list].as_array().expect("a list").iter().map(|item| item[field].clone()).collect()
}

/// Ids with which no record can be found in `acme`, in addition to the id of a foreign record.
pub const UNKNOWN_IDS: [&str; 6] =
    ["01890a5d-ac96-774b-bcce-b302099a8057", "00000000-0000-0000-0000-000000000000", "1", "x", "%00", "%ff"];

/// Asserts that a record is not found by an unknown, malformed or foreign id.
#[track_caller]
pub fn is_unknown(foreign: &str, record: &str, send: impl Fn(&str) -> Response) {
    for id in UNKNOWN_IDS.into_iter().chain([foreign]) {
        send(id).is_error(404, &format!("{record} does not exist."));
    }
}
