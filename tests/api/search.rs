//! `GET /feature_requests`, contract section 4.5.

use serde_json::{Value, json};

use crate::app::{App, Client, has_keys};
use crate::database::ON_POSTGRES;

/// Percent-encodes every byte of a text for a query parameter.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn create(client: &Client, title: &str, tags: &[&str], description: &str) {
    let request = json!({ "title": title, "tags": tags, "description": description });
    let response = client.post_feature_request(&json!({ "feature_request": request }));
    assert_eq!(response.status, 201, "{}", response.text());
}

fn titles(body: &Value) -> Vec<String> {
    let requests = body["feature_requests"].as_array().expect("a list");
    requests.iter().map(|request| request["title"].as_str().expect("a string").to_owned()).collect()
}

/// Returns the titles of the matches in order.
fn matching_titles(client: &Client, query: &str) -> Vec<String> {
    let response = client.get_feature_requests(&format!("query={}", encoded(query)));
    assert_eq!(response.status, 200, "{query}: {}", response.text());
    titles(&response.json())
}

/// Contract 1: public requests are searched.
/// Contract 2.2: a request that is found has the fields of the search column, and no others.
/// Contract 4.5: the response has `feature_requests` in the search shape.
/// Decision 3: the three shapes have exactly their fields.
#[test]
fn search_results_have_a_description_and_no_number() {
    let app = App::start();
    let body = json!({
        "feature_request": {
            "title": "Façade mode",
            "description": "<p>Make the <b>front</b> white &amp; bright</p>",
            "tags": ["paint"],
        },
        "customer": { "email": "ann@example.com" },
    });
    let request = app.acme.post_feature_request(&body).json()["feature_request"].clone();
    app.acme.feature_request("Something else");
    for (track, status) in [("Inbox", json!(null)), ("In progress", json!("In progress"))] {
        app.acme.patch_track("1", &json!({ "track_id": app.track(track) }));
        let response = app.acme.get_feature_requests("query=paint");
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(
            response.json(),
            json!({
                "feature_requests": [{
                    "id": request["id"],
                    "title": "Façade mode",
                    "description": "Make the front white & bright",
                    "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                    "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                    "status": status,
                    "track": track,
                    "votes_count": 1,
                    "created_at": request["created_at"],
                }],
            })
        );
    }
}

/// Contract 4.5: the parameter with the words is open; by decision 4 it is `query`.
/// Contract 4.5: a blank query has an empty list.
/// Decision 4: a search takes `query`; an absent or blank one has an empty list.
#[test]
fn a_blank_query_finds_nothing() {
    let app = App::start();
    create(&app.acme, "Dark mode", &["ui"], "For the night");
    for query in ["", "query", "query=", "query=%20", "query=+%09%0A", "query=%C2%A0", "per_page=15"] {
        let response = app.acme.get_feature_requests(query);
        assert_eq!((response.status, response.json()), (200, json!({ "feature_requests": [] })), "{query}");
    }
    let response = app.acme.get("/api/external/v1/feature_requests");
    assert_eq!((response.status, response.json()), (200, json!({ "feature_requests": [] })));
}

/// Contract 4.5: `per_page` is 1 to 15, 8 by default, and lowered to 15.
/// Contract 4.5: a search is not paginated and has no envelope.
/// Contract 4.11: search and tracks are not paginated.
/// Contract 8: `per_page` is 8 by default, and at most 15.
/// Decision 2.
#[test]
fn no_more_than_fifteen_are_returned_and_eight_unless_asked() {
    let app = App::start();
    for number in 1..=16 {
        app.acme.feature_request(&format!("Dark mode {number}"));
    }
    let newest: Vec<String> = (1..=16).rev().map(|number| format!("Dark mode {number}")).collect();
    let huge = format!("&per_page=1{}", "0".repeat(40));
    for (parameters, count) in [
        ("", 8),
        ("&per_page=1", 1),
        ("&per_page=8", 8),
        ("&per_page=15", 15),
        ("&per_page=16", 15),
        ("&per_page=100", 15),
        ("&per_page=9223372036854775807", 15),
        (&huge, 15),
        ("&page=2&page_size=3", 8),
        ("&page=0&page_size=none", 8),
    ] {
        let response = app.acme.get_feature_requests(&format!("query=dark{parameters}"));
        assert_eq!(response.status, 200, "{parameters}");
        let body = response.json();
        assert_eq!(titles(&body), newest[..count], "{parameters}");
        has_keys(&body, &["feature_requests"]);
    }
}

/// Decision 4: in a search without `query`, an unknown parameter is 422 and named.
#[test]
fn a_misspelt_parameter_of_a_search_without_words_is_named() {
    let app = App::start();
    create(&app.acme, "Dark mode", &[], "");
    for (query, unknown) in [
        ("q=dark", "q"),
        ("Query=dark", "Query"),
        ("querry=dark&per_page=3", "querry"),
        ("per_page=3&search=dark", "search"),
        ("page=2", "page"),
        ("%71=dark", "q"),
        ("query%5B%5D=dark", "query[]"),
        ("q", "q"),
    ] {
        let message = format!("{unknown} is not one of the parameters query, per_page");
        app.acme.get_feature_requests(query).is_error(422, &message);
    }
    for query in ["", "per_page=3", "query", "query=", "query=&q=dark", "&&", "query=+&page=2"] {
        let response = app.acme.get_feature_requests(query);
        assert_eq!((response.status, response.json()), (200, json!({ "feature_requests": [] })), "{query}");
    }
    let response = app.acme.get_feature_requests("q=x&query=dark&page=7");
    assert_eq!((response.status, titles(&response.json())), (200, vec!["Dark mode".to_owned()]));
    let long = app.acme.get_feature_requests(&format!("{}=dark", "x".repeat(60_000)));
    long.is_error(422, &format!("{} is not one of the parameters query, per_page", "x".repeat(100)));
}

/// Contract 4.5: title, description and tags of public requests are searched.
/// Contract 2.5.
#[test]
fn title_description_and_tags_are_searched_and_nothing_else() {
    let app = App::start();
    let body = json!({
        "feature_request": {
            "title": "Dark mode",
            "description": "<p title=\"tooltip\">My <b>eyes</b> hurt &amp; tear</p><script>alert(1)</script>",
            "tags": ["accessibility", "night shift"],
        },
        "customer": { "email": "zebedee@example.com", "name": "Zebedee" },
        "reference_note": { "body": "confidential" },
    });
    assert_eq!(app.acme.post_feature_request(&body).status, 201);
    app.acme.post_comment("1", &json!({ "comment": { "content": "shipping soon" } }));
    for (query, is_found) in [
        ("dark", true),
        ("accessibility", true),
        ("shift", true),
        ("eyes", true),
        ("hurt", true),
        ("mode night eyes", true),
        ("eyes mode", true),
        ("zebedee", false),
        ("confidential", false),
        ("shipping", false),
        ("inbox", false),
        ("tooltip", false),
        ("alert", false),
        ("script", false),
        ("amp", false),
    ] {
        assert_eq!(matching_titles(&app.acme, query) == ["Dark mode"], is_found, "{query}");
    }
}

/// Contract 4.5, 7: a search that fails is `search_unavailable`.
/// Decision 2: a search backend that fails is 503 `search_unavailable` with `Retry-After`.
#[test]
fn a_broken_index_takes_down_search_alone() {
    let app = App::start();
    create(&app.acme, "Dark mode", &[], "");
    assert_eq!(matching_titles(&app.acme, "dark"), ["Dark mode"]);
    let index = if *ON_POSTGRES { "DROP FUNCTION search_matches" } else { "DROP TABLE search_index" };
    app.data.execute(index);
    for query in ["query=dark", "query=nothing+of+the+kind"] {
        let response = app.acme.get_feature_requests(query);
        response.is_error(503, "search_unavailable");
        assert!(response.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()), "{query}");
    }
    let vote = json!({ "customer": { "email": "ann@example.com" } });
    assert_eq!(app.acme.post_upvote("1", &vote).status, 201);
    assert_eq!(app.acme.post_comment("1", &json!({ "comment": { "content": "Soon" } })).status, 201);
    assert_eq!(app.acme.patch_track("1", &json!({ "track_id": app.track("Done") })).status, 200);
    assert_eq!(app.acme.get_votes("email=ann@example.com").json()["total_count"], 1);
    assert_eq!(app.acme.get_voters("1", "").json()["total_count"], 1);
    assert_eq!(app.acme.get_setting().status, 200);
}

/// Decision 4: at most 5 public feature requests are similar, all but the best two clearly; an absent or blank
/// title has none.
#[test]
fn similar_requests_are_found_by_title_before_one_is_created() {
    let app = App::start();
    for number in 1..=6 {
        create(&app.acme, &format!("Export as CSV, part {number}"), &[], "");
    }
    create(&app.acme, "Dark mode", &["ui"], "For the night");
    let similar = |title: &str| {
        let path = format!("/api/external/v1/feature_requests/similar?title={}", encoded(title));
        let response = app.acme.get(&path);
        assert_eq!(response.status, 200, "{title}: {}", response.text());
        response.json()
    };
    let searched = app.acme.get_feature_requests("query=dark+mode").json();
    assert_eq!(similar("A dark mode for the app"), searched);
    assert_eq!(similar("Night mode"), searched);
    assert_eq!(titles(&similar("CSV export")).len(), 5);
    for title in ["", "  ", "Integration with smart watches", "Export of rubber ducks to the moon and back"] {
        assert_eq!(similar(title), json!({ "feature_requests": [] }), "{title}");
    }
    let without = app.acme.get("/api/external/v1/feature_requests/similar");
    assert_eq!((without.status, without.json()), (200, json!({ "feature_requests": [] })));
    for (title, problem) in [
        ("dark%00mode", "must not contain the NUL character"),
        (&encoded(&"x".repeat(1_001)), "must be at most 1000 characters long"),
        ("%ff", "is not valid UTF-8"),
    ] {
        let response = app.acme.get(&format!("/api/external/v1/feature_requests/similar?title={title}"));
        response.is_error(422, &format!("title {problem}"));
    }
}
