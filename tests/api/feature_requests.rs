//! `POST /feature_requests`, contract section 4.9.

use serde_json::{Value, json};

use crate::app::{App, Client, Response, is_id, is_timestamp};

fn create(client: &Client, request: &Value) -> Response {
    client.post_feature_request(&json!({ "feature_request": request }))
}

fn match_count(client: &Client, query: &str) -> usize {
    let body = client.get_feature_requests(&format!("query={query}")).json();
    body["feature_requests"].as_array().expect("a list").len()
}

/// Contract 2.2: `admin_url` ends in the slug.
/// Contract 4.9: `POST /feature_requests` takes `feature_request`, `customer` and `operation_key`.
/// Decision 3: `url` and `admin_url` are below the workspace's address.
/// Decision 4: a request is created from the fields of the body, of which only the title is required.
/// Decision 4: a new request is 201 with the request and both flags.
/// Decision 4: a new request is on the track of `track_id`, else on the workspace's first track.
#[test]
fn creating_returns_the_request_and_the_outcome_of_the_vote() {
    let app = App::start();
    let response = app.acme.post_feature_request(&json!({
        "feature_request": {
            "title": "Façade mode",
            "description": "<p>Make the front white</p>",
            "tags": ["paint", "office"],
            "track_id": app.track("Planned"),
            "private": false,
        },
        "customer": { "email": "ann@example.com", "name": "Ann" },
        "reference_note": { "body": "<p>Wants it</p>", "author_email": "olga@acme.example" },
        "operation_key": "one",
    }));
    assert_eq!(response.status, 201);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    let request = &body["feature_request"];
    assert_eq!(
        body,
        json!({
            "feature_request": {
                "id": request["id"],
                "title": "Façade mode",
                "url": "https://acme.roadmap.example.com/feature_requests/1-facade-mode",
                "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-facade-mode",
                "status": "Planned",
                "track": "Planned",
                "votes_count": 1,
                "created_at": request["created_at"],
            },
            "vote_registered": true,
            "already_voted": false,
        })
    );
    is_id(&request["id"]);
    is_timestamp(&request["created_at"]);
}

/// Contract 4.9; Decision 4.
#[test]
fn a_title_is_enough() {
    let app = App::start();
    let nulls = json!({ "title": "Dark mode", "description": null, "tags": null, "track_id": null, "private": null });
    let empty = json!({ "title": "Dark mode", "description": " ", "tags": [], "track_id": "" });
    for (number, body) in [
        (1, json!({ "feature_request": { "title": "Dark mode" } })),
        (2, json!({ "feature_request": nulls, "customer": null, "reference_note": null, "operation_key": null })),
        (3, json!({ "feature_request": empty, "operation_key": " " })),
    ] {
        let response = app.acme.post_feature_request(&body);
        assert_eq!(response.status, 201, "{body}");
        let after = response.json();
        assert_eq!(
            after,
            json!({
                "feature_request": {
                    "id": after["feature_request"]["id"],
                    "title": "Dark mode",
                    "url": format!("https://acme.roadmap.example.com/feature_requests/{number}-dark-mode"),
                    "admin_url": format!("https://acme.roadmap.example.com/admin/feature_requests/{number}-dark-mode"),
                    "status": null,
                    "track": "Inbox",
                    "votes_count": 0,
                    "created_at": after["feature_request"]["created_at"],
                },
                "vote_registered": false,
                "already_voted": false,
            }),
            "{body}"
        );
    }
    assert_eq!(app.sql("SELECT description FROM feature_requests"), ["", "", ""]);
    assert_eq!(app.sql("SELECT author_id FROM feature_requests"), ["NULL", "NULL", "NULL"]);
    assert_eq!(match_count(&app.acme, "dark"), 3);
    assert_eq!(app.count("SELECT count(*) FROM customers") + app.count("SELECT count(*) FROM notes"), 0);
}

/// Decision 4: the customer of a new request is its author and first voter.
#[test]
fn the_customer_becomes_author_and_first_voter() {
    let app = App::start();
    for (number, email, name, votes) in [
        (1, "Ann@Example.com", json!(" Ann "), 1),
        (2, "ann@example.com", json!("Anna"), 2),
        (3, "bob@example.com", json!(null), 1),
    ] {
        let customer = json!({ "email": email, "name": name });
        let body = json!({ "feature_request": { "title": "Dark mode" }, "customer": customer });
        let response = app.acme.post_feature_request(&body);
        let body = response.json();
        assert_eq!((response.status, &body["feature_request"]["votes_count"]), (201, &json!(1)), "{email}");
        assert_eq!((&body["vote_registered"], &body["already_voted"]), (&json!(true), &json!(false)), "{email}");
        let voters = app.acme.get_voters(&number.to_string(), "").json();
        assert_eq!(voters["total_count"], 1, "{email}");
        let listed = app.acme.get_votes(&format!("email={email}")).json();
        assert_eq!(listed["total_count"], votes, "{email}");
    }
    let authors = "SELECT email || ' ' || coalesce(name, '-') FROM feature_requests
                   JOIN customers ON customers.id = author_id ORDER BY tag_number";
    assert_eq!(app.sql(authors), ["Ann@Example.com Ann", "Ann@Example.com Ann", "bob@example.com -"]);
    let voters = "SELECT email || ' ' || tag_number || ' ' || CASE WHEN subscribed THEN 1 ELSE 0 END FROM votes
                  JOIN customers ON customers.id = customer_id
                  JOIN feature_requests ON feature_requests.id = request_id ORDER BY tag_number";
    assert_eq!(app.sql(voters), ["Ann@Example.com 1 1", "Ann@Example.com 2 1", "bob@example.com 3 1"]);
    let again = app.acme.post_upvote("1", &json!({ "customer": { "email": "ann@example.com" } })).json();
    assert_eq!((&again["vote_registered"], &again["already_voted"]), (&json!(false), &json!(true)));
}

/// Decision 3: numbers count from 1 in each workspace, without reuse.
/// Contract 2.2.
#[test]
fn numbers_count_from_1_in_each_workspace() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for number in 1..=3 {
        for (client, host) in [(&app.acme, "acme"), (&bolt, "bolt")] {
            let request = client.feature_request("Dark mode");
            let url = format!("https://{host}.roadmap.example.com/feature_requests/{number}-dark-mode");
            let admin_url = format!("https://{host}.roadmap.example.com/admin/feature_requests/{number}-dark-mode");
            assert_eq!((&request["url"], &request["admin_url"]), (&json!(url), &json!(admin_url)));
        }
    }
}

/// Decision 2.
#[test]
fn unknown_and_foreign_tracks_do_not_exist() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    let tracks = bolt.get_tracks().json();
    let foreign = tracks["tracks"][0]["id"].clone();
    for id in [json!("01890a5d-ac96-774b-bcce-b302099a8057"), json!("00000000-0000-0000-0000-000000000000"), foreign] {
        let request = json!({ "title": "Dark mode", "track_id": id });
        let body = json!({ "feature_request": request, "customer": { "email": "ann@example.com" } });
        app.acme.post_feature_request(&body).is_error(404, "Track does not exist.");
    }
    let left =
        ["SELECT count(*) FROM feature_requests", "SELECT count(*) FROM customers"].map(|query| app.count(query));
    assert_eq!(left, [0, 0]);
}

/// Decision 3: a title has 1 to 200 characters, a description up to 20,000.
/// Decision 3: a tag has 1 to 50 characters, and there are at most 20.
/// Decision 3: names have up to 200 characters.
/// Decision 4: `tags` and `description` of a new request are kept.
#[test]
fn limits_count_characters() {
    let app = App::start();
    let tags: Vec<String> = (10..30).map(|number| format!("{}{number}", "ü".repeat(48))).collect();
    let body = json!({
        "feature_request": { "title": "ü".repeat(200), "description": "ü".repeat(20_000), "tags": tags },
        "customer": { "email": format!("{}@example.com", "a".repeat(64)), "name": "😀".repeat(200) },
        "reference_note": { "body": "ü".repeat(100_000), "author_email": "x".repeat(254) },
        "operation_key": "ü".repeat(255),
    });
    let response = app.acme.post_feature_request(&body);
    assert_eq!((response.status, &response.json()["feature_request"]["title"]), (201, &json!("ü".repeat(200))));
    assert_eq!(app.count("SELECT length(description) FROM feature_requests"), 20_000);
    assert_eq!(app.count("SELECT length(body) FROM notes"), 100_000);
    assert_eq!(app.count("SELECT length(name) FROM customers"), 200);
    assert_eq!(app.sql("SELECT tag FROM feature_request_tags ORDER BY position"), tags);
}

/// Beyond the contract: the empty fields of a form count as absent.
#[test]
fn the_empty_fields_of_a_form_count_as_absent() {
    let app = App::start();
    let (customer, note) = (json!({ "email": "", "name": "" }), json!({ "body": " ", "author_email": "" }));
    let body = json!({
        "feature_request": { "title": "Dark mode", "description": "", "track_id": "", "tags": null, "private": null },
        "customer": customer,
        "reference_note": note,
        "operation_key": "",
    });
    for body in [
        body,
        json!({
            "feature_request": { "title": "Night mode" },
            "customer": { "email": null, "name": null },
            "reference_note": { "body": null, "author_email": null },
        }),
    ] {
        let response = app.acme.post_feature_request(&body);
        assert_eq!((response.status, &response.json()["vote_registered"]), (201, &json!(false)), "{body}");
    }
    let ann = json!({ "email": "ann@example.com", "name": "" });
    let heard = json!({ "body": "Heard", "author_email": "" });
    for (body, registered) in [
        (json!({ "customer": ann, "reference_note": note }), true),
        (json!({ "customer": customer, "reference_note": heard }), false),
    ] {
        let response = app.acme.post_upvote("1", &body);
        assert_eq!((response.status, &response.json()["vote_registered"]), (201, &json!(registered)), "{body}");
    }
    let missing = "param is missing or the value is empty or invalid: reference_note";
    app.acme.post_upvote("1", &json!({ "customer": customer, "reference_note": note })).is_error(422, missing);
    let comment = json!({ "comment": { "content": "Soon" }, "customer": customer, "author_email": "" });
    let response = app.acme.post_comment("1", &comment);
    assert_eq!(response.status, 201, "{}", response.text());
    assert_eq!(app.acme.get_comments("1", "").json()["comments"][0]["author"]["kind"], "member");
    let counts = ["customers", "notes", "votes"].map(|table| app.count(&format!("SELECT count(*) FROM {table}")));
    assert_eq!(counts, [1, 1, 1]);
}

/// Decision 2: what is too long is 422 that names the field.
/// Decision 3: e-mail addresses have up to 254 characters.
/// Decision 4.
#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    let missing = |field: &str| format!("param is missing or the value is empty or invalid: {field}");
    let longer_than = |field: &str, max: usize| format!("{field} must be at most {max} characters long");
    let address = format!("ann@{}.example", "b".repeat(250));
    let with = |field: &str, value: Value| {
        let mut request = json!({ "title": "Dark mode" });
        request[field] = value;
        json!({ "feature_request": request })
    };
    let beside = |field: &str, value: Value| json!({ "feature_request": { "title": "Dark mode" }, field: value });
    for (body, message) in [
        (json!({}), missing("feature_request")),
        (json!({ "title": "Dark mode" }), missing("feature_request")),
        (json!({ "feature_request": null }), missing("feature_request")),
        (json!({ "feature_request": {} }), missing("title")),
        (with("title", json!("")), missing("title")),
        (with("title", json!(" \t\n\u{2003}")), missing("title")),
        (with("title", json!("t".repeat(201))), longer_than("title", 200)),
        (with("description", json!("d".repeat(20_001))), longer_than("description", 20_000)),
        (with("tags", json!(["ui", " "])), missing("tags")),
        (with("tags", json!(["ui", "t".repeat(51)])), longer_than("tags", 50)),
        (with("tags", json!(vec!["ui"; 21])), "tags must have at most 20 items".to_owned()),
        (with("track_id", json!("Planned")), "track_id is not a valid UUID".to_owned()),
        (with("track_id", json!("01890a5dac96774bbcceb302099a8057")), "track_id is not a valid UUID".to_owned()),
        (beside("customer", json!({})), missing("email")),
        (beside("customer", json!({ "name": "Ann" })), missing("email")),
        (beside("customer", json!({ "email": " " })), missing("email")),
        (beside("customer", json!({ "email": "ann" })), "email is not a valid e-mail address".to_owned()),
        (beside("customer", json!({ "email": address })), longer_than("email", 254)),
        (beside("customer", json!({ "email": "ann@example.com", "name": "n".repeat(201) })), longer_than("name", 200)),
        (beside("reference_note", json!({})), missing("body")),
        (beside("reference_note", json!({ "body": "<p> </p>" })), missing("body")),
        (beside("reference_note", json!({ "body": "x".repeat(100_001) })), longer_than("body", 100_000)),
        (
            beside("reference_note", json!({ "body": "x", "author_email": "x".repeat(255) })),
            longer_than("author_email", 254),
        ),
    ] {
        app.acme.post_feature_request(&body).is_error(422, &message);
    }
    for table in ["feature_requests", "customers", "votes", "notes", "search_documents", "operations"] {
        assert_eq!(app.count(&format!("SELECT count(*) FROM {table}")), 0, "{table}");
    }
}

/// Decision 4.
#[test]
fn other_fields_are_ignored() {
    let app = App::start();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let response = app.acme.post_feature_request(&json!({
        "feature_request": {
            "id": id,
            "title": "Dark mode",
            "tag_number": 77,
            "slug": "77-other",
            "url": "https://evil.example",
            "status": "Done",
            "track": "Done",
            "votes_count": 99,
            "created_at": "2001-01-01T00:00:00.000Z",
            "workspace_id": id,
            "more": { "deep": [1, 2] },
        },
        "customer": { "email": "ann@example.com", "id": id, "admin": true },
        "title": "Outside",
        "vote_registered": 5,
    }));
    assert_eq!(response.status, 201);
    let body = response.json();
    let request = &body["feature_request"];
    assert_ne!(request["id"], id);
    assert_ne!(request["created_at"], "2001-01-01T00:00:00.000Z");
    assert_eq!(
        body,
        json!({
            "feature_request": {
                "id": request["id"],
                "title": "Dark mode",
                "url": "https://acme.roadmap.example.com/feature_requests/1-dark-mode",
                "admin_url": "https://acme.roadmap.example.com/admin/feature_requests/1-dark-mode",
                "status": null,
                "track": "Inbox",
                "votes_count": 1,
                "created_at": request["created_at"],
            },
            "vote_registered": true,
            "already_voted": false,
        })
    );
}

/// Contract 4.8: `{id}` is a UUID or a slug.
/// Decision 3: a private request is hidden from search.
/// Decision 3: a private request is accessible with the key.
#[test]
fn a_private_request_is_hidden_from_search_but_not_from_the_key_s_holder() {
    let app = App::start();
    let response = create(&app.acme, &json!({ "title": "Quokka", "tags": ["wombat"], "private": true }));
    assert_eq!(response.status, 201);
    let request = response.json()["feature_request"].clone();
    for title in ["Zebra", "Zebras"] {
        create(&app.acme, &json!({ "title": title, "private": false }));
    }
    assert_eq!(
        [match_count(&app.acme, "quokka"), match_count(&app.acme, "wombat"), match_count(&app.acme, "zebra")],
        [0, 0, 2]
    );
    for reference in [request["id"].as_str().unwrap(), "1-quokka", "1"] {
        let comment = app.acme.post_comment(reference, &json!({ "comment": { "content": "Soon" } }));
        assert_eq!((comment.status, &comment.json()["feature_request"]), (201, &request), "{reference}");
    }
}

/// Contract 2.5: a note is never visible to customers.
/// Decision 4: a new request takes a `reference_note`.
#[test]
fn a_reference_note_is_kept_privately_and_attributed() {
    let app = App::start();
    app.roadmap(&["member", "add", "--workspace", "acme", "--email", "Pia@acme.example", "--name", "Pia"]).json();
    let notes = "SELECT members.name || ': ' || notes.body FROM notes
                 JOIN members ON members.id = notes.author_id ORDER BY notes.id";
    for (author_email, name) in [
        (json!("pia@ACME.example"), "Pia"),
        (json!("nobody@acme.example"), "Olga"),
        (json!("no address"), "Olga"),
        (json!(null), "Olga"),
    ] {
        let note = json!({ "body": "<b>Confidential</b><script>x</script>", "author_email": author_email });
        let body = json!({ "feature_request": { "title": "Dark mode" }, "reference_note": note });
        let response = app.acme.post_feature_request(&body);
        assert_eq!(response.status, 201, "{author_email}");
        assert!(!response.text().contains("Confidential"), "{author_email}");
        let body = response.json();
        assert_eq!((&body["vote_registered"], &body["already_voted"]), (&json!(false), &json!(false)));
        assert_eq!(body["feature_request"]["votes_count"], 0, "{author_email}");
        let expected = format!("{name}: <b>Confidential</b>");
        assert_eq!(app.sql(notes).last(), Some(&expected), "{author_email}");
    }
    assert_eq!(match_count(&app.acme, "confidential"), 0);
}
