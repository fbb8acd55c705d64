//! Lists in pages that are read with a cursor while items come and go.

use serde_json::{Value, json};

use crate::app::{App, Client, Response};
use crate::shared::column;

/// Reads a list in pages of two, and changes it after each page. Returns the ids.
fn read(list: &str, get: impl Fn(&str) -> Response, change: impl Fn(usize)) -> Vec<Value> {
    let (mut cursor, mut ids) = (String::new(), Vec::new());
    for number in 0.. {
        let body = get(&format!("page_size=2&cursor={cursor}")).is_ok();
        assert_eq!((&body["page"], &body["page_size"]), (&json!(1), &json!(2)), "{list}");
        let page = column(&body, list, "id");
        assert!(page.len() <= 2, "{list}");
        ids.extend(page);
        match &body["next_cursor"] {
            Value::String(next) => next.clone_into(&mut cursor),
            next => {
                assert_eq!((next, body.as_object().unwrap().contains_key("next_cursor")), (&Value::Null, true));
                return ids;
            }
        }
        change(number);
    }
    unreachable!("the list ends")
}

/// The ids of a list without a cursor, which has no other keys than before.
fn ids(list: &str, get: impl Fn(&str) -> Response) -> Vec<Value> {
    let body = get("page_size=100").is_ok();
    assert!(body.get("next_cursor").is_none(), "{list}");
    column(&body, list, "id")
}

fn vote(client: &Client, request: &str, email: &str) {
    client.vote(request, email);
}

/// Addition 6: lists in pages take `cursor`, so that no item that stays is on two pages or none; only then they have
/// `next_cursor`.
#[test]
fn nothing_is_listed_twice_or_left_out_while_items_come_and_go() {
    let app = App::start();
    let acme = &app.acme;
    let request = acme.feature_request_with(&json!({ "title": "Dark mode" }));
    // Each list, with a function that adds an item and one that removes the first one, if it can.
    for number in 0..7 {
        vote(acme, &request, &format!("voter-{number}@example.com"));
        acme.comment(&request, &format!("Comment {number}"));
        let other = acme.feature_request_with(&json!({ "title": format!("Idea {number}") }));
        vote(acme, &other, "ann@example.com");
        let note = json!({ "reference_note": { "body": format!("Note {number}") } });
        acme.post_upvote(&request, &note).is_ok();
        let track = app.track(if number % 2 == 0 { "Planned" } else { "Inbox" });
        acme.patch_track(&request, &json!({ "track_id": track })).is_ok();
        acme.post_changelog(&json!({ "changelog": { "title": format!("News {number}"), "content": "x" } })).is_ok();
    }

    let voters = |query: &str| acme.get_voters(&request, query);
    let before = ids("voters", voters);
    let read_voters = read("voters", voters, |number| {
        vote(acme, &request, &format!("late-{number}@example.com"));
        acme.delete_upvote(&request, &format!("email=voter-{}@example.com", 6 - number)).is_ok();
    });
    assert_eq!(read_voters, before);

    let votes = |query: &str| acme.get_votes(&format!("email=ann@example.com&{query}"));
    let before = ids("feature_requests", votes);
    let read_votes = read("feature_requests", votes, |number| {
        let late = acme.feature_request_with(&json!({ "title": format!("Late {number}") }));
        vote(acme, &late, "ann@example.com");
    });
    assert_eq!(read_votes, before);

    let comments = |query: &str| acme.get_comments(&request, query);
    let before = ids("comments", comments);
    let read_comments = read("comments", comments, |number| {
        acme.delete_comment(before[number].as_str().unwrap()).is_empty();
    });
    assert_eq!(read_comments, before);

    let notes = |query: &str| acme.get_reference_notes(&request, query);
    let before = ids("reference_notes", notes);
    let read_notes = read("reference_notes", notes, |number| {
        acme.delete_reference_note(before[number].as_str().unwrap()).is_empty();
    });
    assert_eq!(read_notes, before);

    let moves = |query: &str| acme.get_moves(&request, query);
    let before = ids("moves", moves);
    let read_moves = read("moves", moves, |number| {
        let track = app.track(if number % 2 == 0 { "Inbox" } else { "Planned" });
        acme.patch_track(&request, &json!({ "track_id": track })).is_ok();
    });
    assert_eq!(read_moves, before);

    let changelogs = |query: &str| acme.get_changelogs(query);
    let before = ids("changelogs", changelogs);
    let read_changelogs = read("changelogs", changelogs, |number| {
        acme.post_changelog(&json!({ "changelog": { "title": format!("Late {number}"), "content": "x" } })).is_ok();
        acme.delete_changelog(before[number].as_str().unwrap()).is_empty();
    });
    assert_eq!(read_changelogs, before);

    let inbox = app.track("Inbox");
    let requests = |query: &str| acme.get_track_requests(&inbox, &format!("sort=newest&{query}"));
    let before = ids("feature_requests", requests);
    let read_requests = read("feature_requests", requests, |number| {
        acme.feature_request_with(&json!({ "title": format!("Newer {number}") }));
        acme.delete_feature_request(before[number].as_str().unwrap(), "").is_empty();
    });
    assert_eq!(read_requests, before);

    let customers = |query: &str| acme.get_customers(&format!("query=voter&{query}"));
    assert_eq!(read("customers", customers, |_| ()), ids("customers", customers));
}

/// Addition 6: a cursor of another list, workspace or filter is 422.
#[test]
fn a_cursor_of_another_list_or_beside_a_page_is_rejected() {
    let app = App::start();
    let acme = &app.acme;
    let bolt = app.workspace("bolt");
    for client in [acme, &bolt] {
        for title in ["One", "Two"] {
            let request = client.feature_request_with(&json!({ "title": title }));
            for voter in ["ann", "bob"] {
                vote(client, &request, &format!("{voter}@example.com"));
                client.comment(&request, "Soon");
            }
        }
    }
    let cursor = |response: Response| response.is_ok()["next_cursor"].as_str().expect("a cursor").to_owned();
    let first = "page_size=1&cursor=";
    let own = cursor(acme.get_voters("1", first));
    acme.get_voters("1", &format!("page=1&cursor={own}")).is_ok();
    for (response, what) in [
        (acme.get_voters("2", &format!("cursor={own}")), "another feature request"),
        (acme.get_comments("1", &format!("cursor={own}")), "another list"),
        (acme.get_changelogs(&format!("cursor={own}")), "another list"),
        (acme.get_voters("1", &format!("cursor={}", cursor(bolt.get_voters("1", first)))), "another workspace"),
        (
            acme.get_votes(&format!("email=bob@example.com&cursor={}", {
                cursor(acme.get_votes(&format!("email=ann@example.com&{first}")))
            })),
            "another customer",
        ),
        (acme.get_voters("1", "cursor=x"), "malformed"),
    ] {
        assert_eq!(response.status, 422, "{what}");
        response.is_error(422, "cursor is not a cursor of this list");
    }
    acme.get_voters("1", &format!("page=2&cursor={own}")).is_error(422, "cursor and page cannot both be given");
    let inbox = app.track("Inbox");
    for sort in ["", "sort=votes&", "sort=updated&"] {
        acme.get_track_requests(&inbox, &format!("{sort}cursor="))
            .is_error(422, "cursor can only be given with sort=newest");
    }
    acme.get_voters("99", "cursor=x").is_error(404, "FeatureRequest does not exist.");
}
