//! `GET /overview`.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use crate::app::{App, has_keys, is_timestamp};
use crate::database::sql_timestamp;
use crate::shared::column;

const DAY: i64 = 86_400_000;

fn overview(app: &App, query: &str) -> Value {
    let body = app.acme.get_overview(query).is_ok();
    has_keys(&body, &["overview"]);
    body["overview"].clone()
}

fn numbers(requests: i64, votes: i64, comments: i64) -> Value {
    json!({ "requests": requests, "votes": votes, "comments": comments })
}

/// The fields of a feature request that a response to a vote has.
fn summary(app: &App, id: &str) -> Value {
    let detail = app.acme.detail(id);
    let fields = ["id", "title", "url", "admin_url", "status", "track", "votes_count", "created_at"];
    fields.iter().map(|field| ((*field).to_owned(), detail[field].clone())).collect()
}

fn now() -> i64 {
    i64::try_from(UNIX_EPOCH.elapsed().expect("a time after 1970").as_millis()).expect("a number")
}

/// The first instant of the week of a timestamp, a Monday. 1 January 1970 was a Thursday.
fn monday(at: i64) -> i64 {
    let day = at.div_euclid(DAY);
    (day - (day + 3).rem_euclid(7)) * DAY
}

/// The numbers of the weeks, the oldest first, of these days before now.
fn weeks(now: i64, days: &[i64]) -> Vec<i64> {
    let of_week = |week: i64| {
        let start = monday(now) - (11 - week) * 7 * DAY;
        let is_in = |day: &&i64| (start..start + 7 * DAY).contains(&(now - **day * DAY));
        i64::try_from(days.iter().filter(is_in).count()).expect("a number")
    };
    (0..12).map(of_week).collect()
}

fn counts(overview: &Value, field: &str) -> Vec<i64> {
    column(overview, "weeks", field).iter().map(|count| count.as_i64().expect("a number")).collect()
}

/// Makes rows of a table this many days old.
fn age(app: &App, table: &str, condition: &str, days: i64) {
    let at = sql_timestamp(&(now() - days * DAY).to_string());
    app.data.execute(&format!("UPDATE {table} SET created_at = {at} WHERE {condition}"));
}

/// Votes as a customer who has not voted before, this many days ago.
fn vote(app: &App, id: &str, name: &str, days: i64) {
    let email = format!("{name}@example.com");
    app.acme.vote(id, &email);
    let of_customer = format!("customer_id = (SELECT id FROM customers WHERE email = '{email}')");
    age(app, "votes", &of_customer, days);
}

/// Comments as a customer, this many days ago.
fn comment(app: &App, id: &str, content: &str, days: i64) {
    let body = json!({ "comment": { "content": content }, "customer": { "email": "fay@example.com" } });
    app.acme.post_comment(id, &body).is_ok();
    age(app, "comments", &format!("content LIKE '%{content}%'"), days);
}

/// Addition 8: `GET /overview` has the numbers of the period, of the one before and of twelve weeks from Monday.
/// Addition 8: `days` is 7 by default, and anything but 7, 30 and 365 is 422.
#[test]
fn an_empty_workspace_has_an_overview() {
    let app = App::start();
    let overview_body = overview(&app, "");
    let starts = column(&overview_body, "weeks", "start");
    let week = |start: &Value| json!({ "start": start, "requests": 0, "votes": 0, "comments": 0 });
    assert_eq!(
        overview_body,
        json!({
            "activity": numbers(0, 0, 0),
            "activity_before": numbers(0, 0, 0),
            "weeks": starts.iter().map(week).collect::<Vec<_>>(),
            "unanswered": [],
            "replied": [],
            "oldest_unanswered_at": null,
            "rising": [],
            "missed_searches": [],
        })
    );
    assert_eq!(starts.len(), 12);
    for start in &starts {
        is_timestamp(start);
        assert!(start.as_str().is_some_and(|start| start.ends_with("T00:00:00.000Z")), "{start}");
    }
    assert!(starts.is_sorted_by_key(|start| start.as_str().map(str::to_owned)), "{starts:?}");
    for query in ["days=", "days=%20", "days=7", "days=365&days=7"] {
        assert_eq!(overview(&app, query), overview_body, "{query}");
    }
}

/// Addition 8: the overview has unanswered feature requests, public ones only, and rising ones, private ones included.
#[test]
fn the_activity_of_a_period_and_of_the_one_before_is_counted() {
    let app = App::start();
    for (title, days) in [("Import", 400), ("Export", 10), ("Answered", 3), ("Dark mode", 0)] {
        // What is private counts, too.
        app.acme.feature_request_with(&json!({ "title": title, "private": title == "Import" }));
        age(&app, "feature_requests", &format!("title = '{title}'"), days);
    }
    for (id, name, days) in
        [("4", "ann", 0), ("4", "bo", 3), ("4", "cem", 0), ("2", "dot", 10), ("2", "eve", 0), ("1", "gus", 40)]
    {
        vote(&app, id, name, days);
    }
    comment(&app, "4", "Please", 0);
    comment(&app, "1", "Still", 20);
    comment(&app, "3", "Thanks", 5);
    // The team's comments do not count, and answer what they are on.
    app.acme.comment("3", "Done");
    // A vote that was withdrawn is not there any more.
    vote(&app, "3", "hal", 0);
    app.acme.delete_upvote("3", "email=hal@example.com").is_ok();

    let now = now();
    let [dark, export, import] = ["4", "2", "1"].map(|id| summary(&app, id));
    let rose = |request: &Value, votes: i64| json!({ "feature_request": request, "new_votes": votes });
    for (days, activity, before, rising) in [
        (7, numbers(2, 4, 2), numbers(1, 1, 0), vec![rose(&dark, 3), rose(&export, 1)]),
        (30, numbers(3, 5, 3), numbers(0, 1, 0), vec![rose(&dark, 3), rose(&export, 2)]),
        (365, numbers(3, 6, 3), numbers(1, 0, 0), vec![rose(&dark, 3), rose(&export, 2), rose(&import, 1)]),
    ] {
        let overview_body = overview(&app, &format!("days={days}"));
        let expected = json!({
            "activity": activity,
            "activity_before": before,
            "weeks": overview_body["weeks"],
            "unanswered": [dark, export],
            "replied": [],
            "oldest_unanswered_at": export["created_at"],
            "rising": rising,
            "missed_searches": [],
        });
        assert_eq!(overview_body, expected, "{days}");
        assert_eq!(counts(&overview_body, "requests"), weeks(now, &[0, 10, 3]), "{days}");
        assert_eq!(counts(&overview_body, "votes"), weeks(now, &[0, 3, 0, 10, 0, 40]), "{days}");
        assert_eq!(counts(&overview_body, "comments"), weeks(now, &[0, 20, 5]), "{days}");
    }
}

/// Addition 8: the overview has searches that found nothing, in lower case and without addresses.
#[test]
fn searches_that_find_nothing_are_counted() {
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    for query in ["Zebra", "xylophone%20%20Quokka", "dark", "zebra", "ann@example.com", "ZEBRA%20bo@example.com"] {
        app.acme.get_feature_requests(&format!("query={query}")).is_ok();
    }
    // What a process has counted is stored at its end at the latest.
    app.terminate();
    app.wait_for_exit();
    app.restart();
    let expected = json!([{ "query": "zebra", "count": 3 }, { "query": "xylophone quokka", "count": 1 }]);
    assert_eq!(overview(&app, "")["missed_searches"], expected);
}

/// Addition 8: an overview is kept for a minute per workspace and period, and read once for concurrent callers, on all
/// surfaces.
#[test]
fn an_overview_is_kept_for_a_while_for_each_period_and_workspace() {
    let mut app = App::start();
    app.acme.feature_request("Dark mode");
    let before = app.acme.get_overview("");
    app.acme.vote("1", "ann@example.com");
    // A minute has not passed.
    let again = app.acme.get_overview("days=7");
    assert_eq!(again.bytes, before.bytes);
    assert_eq!(overview(&app, "days=30")["activity"], numbers(1, 1, 0));
    let bolt = app.workspace("bolt");
    assert_eq!(bolt.get_overview("").is_ok()["overview"]["activity"], numbers(0, 0, 0));
    app.kill();
    app.restart();
    assert_eq!(overview(&app, "")["activity"], numbers(1, 1, 0));
}
