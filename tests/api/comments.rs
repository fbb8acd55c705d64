//! `GET` and `POST /feature_requests/{id}/comments`, contract section 4.8; `PATCH` and `DELETE /comments/{id}`.

use serde_json::{Value, json};

use crate::app::{App, Client, is_id, is_timestamp};
use crate::database::{hex, sql_timestamp};
use crate::shared::{is_unknown, unknown_requests};

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

/// Contract 1: public comments are posted.
/// Contract 2.6: a comment has `id`, `content` and `created_at`.
/// Contract 4.8: the response has the comment and the request.
/// Contract 2.2; Decision 3.
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

/// Contract 4.8: missing or empty `content` is named.
/// Contract 7: a comment without `content` is an error.
/// Decision 4: the content of a comment is required after cleaning.
/// Decision 2.
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

/// Contract 4.8: the author is that of `author_email`, else the oldest member.
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

/// Contract 4.8, 6.
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

/// Contract 4.8.
#[test]
fn notifying_nobody_is_no_error() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let body = json!({ "comment": { "content": "Soon" }, "notify_all_voters": true });
    assert_eq!(app.acme.post_comment("1", &body).status, 201);
    assert_eq!(app.sql(AUDIENCE), Vec::<String>::new());
}

/// Decision 3: content and notes have up to 100,000 characters.
/// Decision 2.
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

/// Comment of a customer.
fn of_customer(content: &str, customer: &Value) -> Value {
    json!({ "comment": { "content": content }, "customer": customer })
}

/// Contract 2.6: `content` takes HTML.
/// Contract 4.8: `comment.content` takes HTML.
/// Addition 2: comments have their fields, oldest first, without addresses.
/// Addition 2: a customer without a name shows as `Customer`.
#[test]
fn comments_are_listed_oldest_first() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    app.acme.feature_request("Another");
    app.acme.comment("2", "Of the other one");
    let ids = [
        comment("<p>We are <b>on it</b><script>x</script></p>"),
        of_customer("Please", &json!({ "email": "ann@example.com", "name": "Ann" })),
        of_customer("Me too", &json!({ "email": "bo@example.com" })),
    ]
    .map(|body| {
        let body = app.acme.post_comment("1", &body).is_ok();
        (body["comment"]["id"].clone(), body["comment"]["created_at"].clone())
    });
    let expected = |index: usize, content: &str, kind: &str, name: &str| {
        json!({
            "id": ids[index].0,
            "content": content,
            "author": { "kind": kind, "name": name },
            "created_at": ids[index].1,
            "updated_at": ids[index].1,
        })
    };
    let listed = app.acme.get_comments("1-dark-mode", "").is_ok();
    assert_eq!(
        listed,
        json!({
            "comments": [
                expected(0, "<p>We are <b>on it</b></p>", "member", "Olga"),
                expected(1, "Please", "customer", "Ann"),
                expected(2, "Me too", "customer", "Customer"),
            ],
            "page": 1,
            "page_size": 25,
            "total_count": 3,
            "total_pages": 1,
        })
    );
    assert!(!listed.to_string().contains("example.com"), "{listed}");
    assert_eq!(app.acme.detail("1")["comments_count"], 3);
}

#[test]
fn a_workspace_without_members_shows_the_team_as_author() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    bolt.comment("1", "Soon");
    let author = bolt.get_comments("1", "").is_ok()["comments"][0]["author"].clone();
    assert_eq!(author, json!({ "kind": "member", "name": "Team" }));
}

/// Addition 1.
#[test]
fn the_request_is_checked_before_the_page() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let (_, unknown) = unknown_requests(&app);
    for unknown in &unknown {
        for query in ["", "page=2", "page=0", "page_size=x"] {
            app.acme.get_comments(unknown, query).is_error(404, "FeatureRequest does not exist.");
        }
    }
}

/// Decision 4: the response to a comment contains the cleaned HTML.
/// Addition 2: POST of a comment takes `customer` instead of `author_email`, and both are 422 naming `customer`.
#[test]
fn a_comment_of_a_customer_is_the_customer_s_and_mails_nobody() {
    let app = App::start();
    let request = app.acme.feature_request("Dark mode");
    vote(&app.acme, "1", "ann@example.com");
    let customer = json!({ "email": "ANN@example.com", "name": "Ann" });
    let body = app.acme.post_comment("1", &of_customer("<p>Please<script>x</script></p>", &customer)).is_ok();
    let mut expected = request;
    expected["votes_count"] = json!(1);
    assert_eq!(
        body,
        json!({
            "comment": {
                "id": body["comment"]["id"],
                "content": "<p>Please</p>",
                "created_at": body["comment"]["created_at"],
            },
            "feature_request": expected,
        })
    );
    assert_eq!(app.count("SELECT count(*) FROM outbox"), 0);
}

/// Addition 2.
#[test]
fn invalid_fields_of_a_customer_s_comment_are_rejected_by_name() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let customer = json!({ "email": "ann@example.com" });
    let with = |field: &str, value: Value| {
        let mut body = of_customer("Please", &customer);
        body[field] = value;
        body
    };
    let missing = "param is missing or the value is empty or invalid: email";
    for (body, message) in [
        (with("author_email", json!("olga@acme.example")), "customer and author_email cannot both be given"),
        (
            with("notify_all_voters", json!(true)),
            "notify_all_voters is for comments of the team, not for those of a customer",
        ),
        (with("customer", json!("ann@example.com")), "customer must be an object"),
        (with("customer", json!([])), "customer must be an object"),
        (with("customer", json!({})), missing),
        (with("customer", json!({ "email": " " })), missing),
        (with("customer", json!({ "name": "Ann" })), missing),
        (with("customer", json!({ "email": "ann" })), "email is not a valid e-mail address"),
        (with("customer", json!({ "email": 5 })), "email must be a string"),
        (with("customer", json!({ "email": "ann@example.com", "name": [] })), "name must be a string"),
        (
            with("customer", json!({ "email": "ann@example.com", "name": "n".repeat(201) })),
            "name must be at most 200 characters long",
        ),
        (of_customer(" ", &customer), "param is missing or the value is empty or invalid: content"),
    ] {
        app.acme.post_comment("1", &body).is_error(422, message);
    }
    assert_eq!(app.count("SELECT count(*) FROM comments") + app.count("SELECT count(*) FROM customers"), 0);
    // What is blank or false is not given.
    for body in [
        with("author_email", json!("")),
        with("author_email", json!(null)),
        with("notify_all_voters", json!(false)),
        with("customer", json!(null)),
    ] {
        app.acme.post_comment("1", &body).is_ok();
    }
}

/// Addition 2: `PATCH` and `DELETE /comments/{id}` edit and delete a comment.
#[test]
fn an_edited_comment_has_its_new_content_and_time() {
    let app = App::start();
    app.acme.feature_request("Dark mode");
    let team = app.acme.comment("1", "Soon");
    let body = of_customer("Please", &json!({ "email": "ann@example.com", "name": "Ann" }));
    let customer = app.acme.post_comment("1", &body).is_ok()["comment"]["id"].as_str().unwrap().to_owned();
    let at = sql_timestamp("1767225600000");
    app.data.execute(&format!("UPDATE comments SET created_at = {at}, updated_at = {at}"));
    for (id, kind, name) in [(&team, "member", "Olga"), (&customer, "customer", "Ann")] {
        let response = app.acme.patch_comment(id, &comment("<p>La<b>ter</b><script>x</script></p>"));
        assert_eq!(response.status, 200);
        let edited = response.is_ok();
        assert_eq!(
            edited,
            json!({
                "comment": {
                    "id": id,
                    "content": "<p>La<b>ter</b></p>",
                    "author": { "kind": kind, "name": name },
                    "created_at": "2026-01-01T00:00:00.000Z",
                    "updated_at": edited["comment"]["updated_at"],
                },
            })
        );
        is_timestamp(&edited["comment"]["updated_at"]);
        assert_ne!(edited["comment"]["updated_at"], "2026-01-01T00:00:00.000Z");
        let listed = app.acme.get_comments("1", "").is_ok();
        assert!(listed["comments"].as_array().unwrap().contains(&edited["comment"]), "{listed}");
    }
    assert_eq!(app.acme.get_comments("1", "").is_ok()["total_count"], 2);
}

/// Addition 2.
#[test]
fn the_comment_is_checked_before_its_content() {
    let app = App::start();
    let bolt = app.workspace("bolt");
    bolt.feature_request("Dark mode");
    let foreign = bolt.comment("1", "Bolt's");
    let request = app.acme.feature_request("Dark mode")["id"].as_str().unwrap().to_owned();
    let id = app.acme.comment("1", "Soon");
    for body in [comment("Taken over"), comment(""), json!({}), json!({ "comment": 5 })] {
        is_unknown(&foreign, "Comment", |id| app.acme.patch_comment(id, &body));
        app.acme.patch_comment(&request, &body).is_error(404, "Comment does not exist.");
    }
    is_unknown(&foreign, "Comment", |id| app.acme.delete_comment(id));
    let missing = "param is missing or the value is empty or invalid: content";
    let no_comment = "param is missing or the value is empty or invalid: comment";
    for (body, message) in [
        (json!({}), no_comment),
        (json!({ "content": "Outside" }), no_comment),
        (json!({ "comment": null }), no_comment),
        (json!({ "comment": {} }), missing),
        (comment(" "), missing),
        (comment("<p> </p><script>x</script>"), missing),
        (json!({ "comment": { "content": 5 } }), "content must be a string"),
        (json!({ "comment": "Soon" }), "comment must be an object"),
        (comment("a\u{0}"), "content must not contain the NUL character"),
        (comment(&"x".repeat(100_001)), "content must be at most 100000 characters long"),
        (json!({ "comment": { "content": "x" }, "operation_key": 5 }), "operation_key must be a string"),
    ] {
        app.acme.patch_comment(&id, &body).is_error(422, message);
    }
    assert_eq!(app.sql("SELECT content FROM comments ORDER BY content"), ["Bolt's", "Soon"]);
}
