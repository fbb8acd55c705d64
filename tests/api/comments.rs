//! `POST /feature_requests/{id}/comments`, contract section 4.8.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id, is_timestamp};
use crate::database::hex;
use crate::shared::unknown_requests;

/// Recipients of all unsent mail.
const AUDIENCE: &str = "SELECT email FROM outbox JOIN customers ON customers.id = customer_id ORDER BY email";

const AUTHORS: &str =
    "SELECT members.name FROM comments JOIN members ON members.id = comments.author_id ORDER BY comments.id";

fn vote(client: &Client, request: &str, email: &str) {
    let response = client.post_upvote(request, &json!({ "customer": { "email": email } }));
    assert_eq!(response.status, 201, "{}", response.text());
}

fn comment(content: &str) -> Value {
    json!({ "comment": { "content": content } })
}

#[test]
fn a_comment_is_returned_with_its_request() {
    let app = App::start();
    let request = app.acme.feature_request("Façade mode");
    vote(&app.acme, "1", "ann@example.com");
    app.acme.patch_track("1", &json!({ "track_id": app.track("Planned") }));
    let response = app.acme.post_comment(
        request["id"].as_str().unwrap(),
        &json!({
            "comment": { "content": "<p>Coming <b>soon</b></p>" },
            "author_email": "olga@acme.example",
            "notify_all_voters": false,
            "operation_key": "one",
        }),
    );
    assert_eq!(response.status, 201);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let body = response.json();
    assert_eq!(
        body,
        json!({
            "comment": {
                "id": body["comment"]["id"],
                "content": "<p>Coming <b>soon</b></p>",
                "created_at": body["comment"]["created_at"],
            },
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
        })
    );
    is_id(&body["comment"]["id"]);
    is_timestamp(&body["comment"]["created_at"]);
    let id = body["comment"]["id"].as_str().unwrap().replace('-', "");
    assert_eq!(app.sql(&format!("SELECT {} FROM comments", hex("id"))), [id]);
}

#[test]
fn the_request_is_found_by_uuid_or_by_the_number_of_its_slug() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    let id = request["id"].as_str().unwrap();
    for reference in [id, &id.to_uppercase(), "1-dark-mode", "1-an-older-title", "1", "1-"] {
        let response = app.acme.post_comment(reference, &comment("Soon"));
        assert_eq!((response.status, &response.json()["feature_request"]), (201, &request), "{reference}");
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 6);
}

#[test]
fn a_private_request_can_be_commented_on() {
    let app = App::start();
    let body = json!({ "feature_request": { "title": "Quokka", "private": true } });
    let request = app.acme.post_feature_request(&body).json()["feature_request"].clone();
    for reference in [request["id"].as_str().unwrap(), "1-quokka"] {
        let response = app.acme.post_comment(reference, &comment("Soon"));
        assert_eq!((response.status, &response.json()["feature_request"]), (201, &request), "{reference}");
    }
}

#[test]
fn the_html_of_a_comment_is_cleaned() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for (sent, shown) in [
        ("Soon", "Soon"),
        (
            "<p>We <strong>love</strong> it</p><ul><li>one</li></ul>",
            "<p>We <strong>love</strong> it</p><ul><li>one</li></ul>",
        ),
        ("<script>alert(1)</script>hi", "hi"),
        ("<style>p{}</style>hi", "hi"),
        ("<img src=x onerror=alert(1)>hi", "hi"),
        ("<svg><script>1</script></svg>hi", "hi"),
        ("<iframe src=\"https://evil.example\"></iframe>hi", "hi"),
        ("<form><input></form>hi", "hi"),
        ("<!-- x -->hi", "hi"),
        ("<b style='x' class='y' onclick='z()'>hi</b>", "<b>hi</b>"),
        (
            "<a href=\"https://example.com/\" target=\"_top\">x</a>",
            "<a href=\"https://example.com/\" rel=\"nofollow noopener\">x</a>",
        ),
        ("<a href=\"javascript:alert(1)\">x</a>", "<a rel=\"nofollow noopener\">x</a>"),
        ("<a href=\"data:text/html,x\">x</a>", "<a rel=\"nofollow noopener\">x</a>"),
        ("<b>never closed", "<b>never closed</b>"),
        ("1 < 2", "1 &lt; 2"),
        ("😀 ü", "😀 ü"),
    ] {
        let response = app.acme.post_comment("1", &comment(sent));
        assert_eq!((response.status, &response.json()["comment"]["content"]), (201, &json!(shown)), "{sent}");
        let stored = app.sql("SELECT content FROM comments ORDER BY id");
        assert_eq!(stored.last().map(String::as_str), Some(shown), "{sent}");
    }
}

#[test]
fn content_is_required_also_after_sanitizing() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    for body in [
        json!({}),
        json!({ "content": "Outside" }),
        json!({ "comment": null }),
        json!({ "comment": {} }),
        json!({ "comment": { "body": "Another name" } }),
        json!({ "comment": { "content": null } }),
        comment(""),
        comment(" \t\n\u{2003}"),
        comment("<p> </p>"),
        comment("<br><hr>"),
        comment("<p>&nbsp;</p>"),
        comment("<img src=x>"),
        comment("<script>alert(1)</script>"),
        comment("<!-- nothing -->"),
    ] {
        let message = "param is missing or the value is empty or invalid: content";
        app.acme.post_comment("1", &body).is_error(422, message);
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 0);
}

#[test]
fn the_author_of_a_comment_is_the_named_or_the_oldest_member() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    app.acme.feature_request("Dark mode");
    for (subdomain, email, name) in [("acme", "Pia@acme.example", "Pia"), ("bolt", "zed@bolt.example", "Zed")] {
        app.roadmap(&["member", "add", "--workspace", subdomain, "--email", email, "--name", name]).json();
    }
    for (author_email, name) in [
        (json!("pia@ACME.example"), "Pia"),
        (json!(" olga@acme.example "), "Olga"),
        (json!("nobody@acme.example"), "Olga"),
        (json!("zed@bolt.example"), "Olga"),
        (json!("no address"), "Olga"),
        (json!(""), "Olga"),
        (json!(null), "Olga"),
    ] {
        let body = json!({ "comment": { "content": "Soon" }, "author_email": author_email });
        assert_eq!(app.acme.post_comment("1", &body).status, 201, "{author_email}");
        assert_eq!(app.sql(AUTHORS).last().map(String::as_str), Some(name), "{author_email}");
    }
    app.acme.post_comment("1", &comment("Nobody named"));
    assert_eq!(app.sql(AUTHORS).last().map(String::as_str), Some("Olga"));
}

#[test]
fn a_workspace_without_members_has_comments_without_author() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    let body = json!({ "comment": { "content": "Soon" }, "author_email": "olga@acme.example" });
    assert_eq!(bolt.post_comment("1", &body).status, 201);
    assert_eq!(app.sql("SELECT author_id FROM comments"), ["NULL"]);
}

#[test]
fn every_subscribed_voter_of_the_request_is_notified_once() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    for (client, emails) in [
        (&app.acme, &["ann@example.com", "bob@example.com", "cid@example.com", "ANN@example.com"][..]),
        (&bolt, &["bolt@example.com"]),
    ] {
        client.feature_request("Dark mode");
        client.feature_request("Another");
        for email in emails {
            vote(client, "1", email);
        }
    }
    vote(&app.acme, "2", "dan@example.com");
    app.acme.post_upvote("1", &json!({ "reference_note": { "body": "No voter" } }));
    let unsubscribe = "UPDATE votes SET subscribed = false
                       WHERE customer_id = (SELECT id FROM customers WHERE email = 'bob@example.com')";
    app.data.execute(unsubscribe);
    let mut body = comment("Soon");
    body["notify_all_voters"] = json!(true);
    let response = app.acme.post_comment("1", &body);
    assert_eq!(response.status, 201);
    assert_eq!(app.sql(AUDIENCE), ["ann@example.com", "cid@example.com"]);
    let id = response.json()["comment"]["id"].as_str().unwrap().to_owned();
    assert_eq!(app.sql("SELECT DISTINCT payload ->> 'comment' FROM outbox"), [id]);
    app.acme.post_comment("1", &body);
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 4);
    assert_eq!(app.count("SELECT count(DISTINCT payload ->> 'comment') FROM outbox"), 2);
}

#[test]
fn nobody_is_notified_unless_asked() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com");
    for notify in [json!(false), json!(null)] {
        let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": notify });
        assert_eq!(app.acme.post_comment("1", &body).status, 201, "{notify}");
    }
    assert_eq!(app.acme.post_comment("1", &comment("Soon")).status, 201);
    let body = json!({ "comment": { "content": "Soon", "notify_all_voters": true } });
    assert_eq!(app.acme.post_comment("1", &body).status, 201);
    assert_eq!(app.sql(AUDIENCE), Vec::<String>::new());
}

#[test]
fn notifying_nobody_is_no_error() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    assert_eq!(app.acme.post_comment("1", &body).status, 201);
    assert_eq!(app.sql(AUDIENCE), Vec::<String>::new());
}

#[test]
fn a_replayed_comment_is_posted_and_mailed_once() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com");
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true, "operation_key": "one" });
    let first = app.acme.post_comment("1", &body);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None));
    let second = app.acme.post_comment("1", &body);
    assert_eq!((second.status, second.header("idempotent-replayed")), (201, Some("true")));
    assert_eq!(second.bytes, first.bytes);
    assert_eq!(app.count("SELECT count(*) FROM comments"), 1);
    assert_eq!(app.sql(AUDIENCE), ["ann@example.com"]);
}

#[test]
fn content_has_up_to_100000_characters() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let longest = "ü".repeat(100_000);
    let response = app.acme.post_comment("1", &comment(&longest));
    assert_eq!(response.status, 201);
    assert!(response.json()["comment"]["content"] == longest.as_str());
    let message = "content must be at most 100000 characters long";
    app.acme.post_comment("1", &comment(&format!("{longest}x"))).is_error(422, message);
}

#[test]
fn invalid_fields_are_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let beside = |field: &str, value: Value| json!({ "comment": { "content": "Soon" }, field: value });
    for (body, message) in [
        (json!({ "comment": "Soon" }), "comment must be an object"),
        (json!({ "comment": ["Soon"] }), "comment must be an object"),
        (json!({ "comment": 5 }), "comment must be an object"),
        (json!({ "comment": { "content": 5 } }), "content must be a string"),
        (json!({ "comment": { "content": ["Soon"] } }), "content must be a string"),
        (json!({ "comment": { "content": true } }), "content must be a string"),
        (comment("a\u{0}b"), "content must not contain the NUL character"),
        (beside("author_email", json!(5)), "author_email must be a string"),
        (beside("author_email", json!({})), "author_email must be a string"),
        (beside("author_email", json!("x".repeat(255))), "author_email must be at most 254 characters long"),
        (beside("author_email", json!("a\u{0}b")), "author_email must not contain the NUL character"),
        (beside("notify_all_voters", json!("true")), "notify_all_voters must be a boolean"),
        (beside("notify_all_voters", json!(1)), "notify_all_voters must be a boolean"),
        (beside("notify_all_voters", json!([])), "notify_all_voters must be a boolean"),
        (beside("operation_key", json!(5)), "operation_key must be a string"),
        (beside("operation_key", json!("k".repeat(256))), "operation_key must be at most 255 characters long"),
    ] {
        app.acme.post_comment("1", &body).is_error(422, message);
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 0);
}

#[test]
fn an_unknown_request_is_reported_before_bad_fields() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (_, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for body in [
            comment("Soon"),
            comment(""),
            json!({}),
            json!({ "comment": 5 }),
            json!({ "comment": { "content": "Soon" }, "operation_key": 5 }),
        ] {
            app.acme.post_comment(unknown, &body).is_error(404, "FeatureRequest does not exist.");
        }
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 0);
}

/// Comment with so much markup that it is sanitized on a separate thread.
fn marked_up(key: &str) -> Value {
    json!({ "comment": { "content": "<p>We are <b>on it</b></p>".repeat(500) }, "operation_key": key })
}

#[test]
fn long_markup_is_parsed_after_the_key_and_the_record_are_looked_up() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let first = app.acme.post_comment("1", &marked_up("k"));
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None), "{}", first.text());
    assert_eq!(first.json()["comment"]["content"], marked_up("k")["comment"]["content"]);
    let hostile = json!({ "comment": { "content": "<a>x".repeat(25_000) }, "operation_key": "k" });
    for again in [marked_up("k"), hostile.clone()] {
        let replayed = app.acme.post_comment("1", &again);
        assert_eq!((replayed.status, replayed.header("idempotent-replayed")), (201, Some("true")));
        assert_eq!(replayed.bytes, first.bytes);
    }
    app.acme.post_comment("7", &marked_up("other")).is_error(404, "FeatureRequest does not exist.");
    let sentence = "content has too much markup, it must not become more than 2 times as long when it is cleaned";
    let mut fresh = hostile;
    fresh["operation_key"] = json!("fresh");
    app.acme.post_comment("1", &fresh).is_error(422, sentence);
    // The operation key of a rejected request is unused.
    assert_eq!(app.acme.post_comment("1", &marked_up("fresh")).status, 201);
    assert_eq!(app.count("SELECT count(*) FROM comments"), 2);
}

#[test]
fn concurrent_long_markup_with_one_key_is_one_comment() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let responses = crate::app::in_parallel(16, |_| app.acme.post_comment("1", &marked_up("k")));
    for response in &responses {
        assert_eq!((response.status, &response.bytes), (201, &responses[0].bytes), "{}", response.text());
    }
    assert_eq!(app.count("SELECT count(*) FROM comments"), 1);
}
