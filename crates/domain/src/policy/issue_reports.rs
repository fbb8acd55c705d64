//! Reports of issue trackers: how they are proved, and what they say. The field names are those of each tracker's
//! documentation of its webhooks.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::macros::format_description;
use url::Url;

use crate::model::feature_request::Title;
use crate::model::link::{LinkKind, LinkState, LinkUrl, Tracker};
use crate::model::link_source::Report;
use crate::model::text::{clean_line, truncate};
use crate::model::timestamp::Timestamp;
use crate::policy::sealing::SecretText;

/// Returns the header that proves a report.
#[must_use]
pub const fn proof_header(tracker: Tracker) -> &'static str {
    match tracker {
        Tracker::Github => "X-Hub-Signature-256",
        Tracker::Gitlab => "X-Gitlab-Token",
        Tracker::Jira => "X-Hub-Signature",
        Tracker::Linear => "Linear-Signature",
    }
}

/// Whether the value of the header proves a body: an authentication code of it, or the secret itself. Compared in constant
/// time.
#[must_use]
pub fn is_proved(tracker: Tracker, secret: &SecretText, proof: &[u8], body: &[u8]) -> bool {
    let secret = secret.as_str().as_bytes();
    let prefix = match tracker {
        Tracker::Gitlab => return is_equal(proof, secret),
        Tracker::Github | Tracker::Jira => "sha256=",
        Tracker::Linear => "",
    };
    is_equal(&proof.to_ascii_lowercase(), format!("{prefix}{}", authentication_code(secret, body)).as_bytes())
}

/// Returns HMAC-SHA256 in hexadecimal digits.
fn authentication_code(secret: &[u8], body: &[u8]) -> String {
    // HMAC accepts keys of any length, so the fallback is unreachable.
    let mac = Hmac::<Sha256>::new_from_slice(secret).unwrap_or_else(|_| Hmac::new(&[0; 64].into()));
    let code = mac.chain_update(body).finalize().into_bytes();
    code.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares digests, so that the time says nothing of the texts, also not of their lengths.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let (one, other) = (Sha256::digest(one), Sha256::digest(other));
    one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other)) == 0
}

/// Reads a report that arrived at `received`. `None` for what says nothing about the state of an issue.
#[must_use]
pub fn read(tracker: Tracker, body: &Value, received: Timestamp) -> Option<Report> {
    let Reported { url, title, outcome, at } = match tracker {
        Tracker::Github => github(body),
        Tracker::Gitlab => gitlab(body),
        Tracker::Jira => jira(body),
        Tracker::Linear => linear(body),
    }?;
    let issue = LinkUrl::parse(Some(&url)).ok()?.issue();
    let title = title.map(|title| truncate(&clean_line(title), Title::MAX).to_owned());
    let title = title.filter(|title| !title.is_empty());
    (issue.kind == LinkKind::Tracker(tracker)).then(|| Report {
        issue,
        title: title.map(Title::from_stored),
        state: if outcome == Outcome::Open { LinkState::Open } else { LinkState::Closed },
        is_done: outcome == Outcome::Done,
        at: at.unwrap_or(received),
    })
}

/// What became of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Open,
    /// Closed, and what it asks for was done.
    Done,
    /// Closed without that.
    Dropped,
}

/// The fields of a report.
struct Reported<'a> {
    url: String,
    title: Option<&'a str>,
    outcome: Outcome,
    at: Option<Timestamp>,
}

fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}

/// Reads a timestamp in milliseconds.
fn millis(value: &Value, pointer: &str) -> Option<Timestamp> {
    value.pointer(pointer)?.as_i64().and_then(Timestamp::from_millis)
}

/// Reads an issue or a pull request of GitHub. A report about a pull request's comment has it as an issue.
fn github(body: &Value) -> Option<Reported<'_>> {
    let (record, pull_request) = match (body.get("pull_request"), body.get("issue")) {
        (Some(pull_request), _) => (pull_request, Some(pull_request)),
        (None, issue) => (issue?, issue?.get("pull_request").filter(|value| value.is_object())),
    };
    let outcome = match (text(record, "/state")?, pull_request) {
        ("open", _) => Outcome::Open,
        ("closed", Some(pull_request)) => {
            let is_merged = pull_request.get("merged") == Some(&Value::Bool(true));
            if is_merged || text(pull_request, "/merged_at").is_some() { Outcome::Done } else { Outcome::Dropped }
        }
        ("closed", None) => match text(record, "/state_reason") {
            None | Some("completed") => Outcome::Done,
            Some(_) => Outcome::Dropped,
        },
        _ => return None,
    };
    let at = text(record, "/updated_at").and_then(Timestamp::parse);
    Some(Reported { url: text(record, "/html_url")?.to_owned(), title: text(record, "/title"), outcome, at })
}

fn gitlab(body: &Value) -> Option<Reported<'_>> {
    let record = body.get("object_attributes")?;
    let outcome = match (text(record, "/state")?, text(body, "/object_kind")) {
        ("opened", _) => Outcome::Open,
        ("merged", _) => Outcome::Done,
        ("closed", Some("merge_request")) => Outcome::Dropped,
        ("closed", _) => Outcome::Done,
        _ => return None,
    };
    let at = text(record, "/updated_at").and_then(gitlab_time);
    Some(Reported { url: text(record, "/url")?.to_owned(), title: text(record, "/title"), outcome, at })
}

/// Reads a time of GitLab, which is one of RFC 3339, `2026-03-01 09:30:00 UTC` or `2026-03-01 10:30:00 +0100`.
fn gitlab_time(raw: &str) -> Option<Timestamp> {
    let form = format_description!(
        "[year]-[month]-[day] [hour]:[minute]:[second] [offset_hour sign:mandatory][offset_minute]"
    );
    Timestamp::parse(raw).or_else(|| OffsetDateTime::parse(&raw.replace("UTC", "+0000"), form).ok().map(Timestamp::new))
}

/// Reads an issue of Jira, which names its address only by that of the API.
fn jira(body: &Value) -> Option<Reported<'_>> {
    let (key, api) = (text(body, "/issue/key")?, Url::parse(text(body, "/issue/self")?).ok()?);
    let port = api.port().map(|port| format!(":{port}")).unwrap_or_default();
    let url = format!("https://{}{port}/browse/{key}", api.host_str()?);
    let outcome = match text(body, "/issue/fields/status/statusCategory/key")? {
        "done" => Outcome::Done,
        _ => Outcome::Open,
    };
    let title = text(body, "/issue/fields/summary");
    Some(Reported { url, title, outcome, at: millis(body, "/timestamp") })
}

fn linear(body: &Value) -> Option<Reported<'_>> {
    let outcome = match text(body, "/data/state/type")? {
        "completed" => Outcome::Done,
        "canceled" => Outcome::Dropped,
        _ => Outcome::Open,
    };
    let url = text(body, "/url")?.to_owned();
    Some(Reported { url, title: text(body, "/data/title"), outcome, at: millis(body, "/webhookTimestamp") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usecase::fixtures::now;
    use serde_json::json;

    fn secret(text: &str) -> SecretText {
        SecretText::new(text.to_owned())
    }

    /// Links: the proofs over the raw body. The codes are those of `openssl dgst -sha256 -hmac`, the first one is the example
    /// in GitHub's documentation.
    #[test]
    fn a_report_is_proved_by_the_secret() {
        const GITHUB: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
        let (key, body) = ("It's a Secret to Everybody", b"Hello, World!".as_slice());
        for (tracker, proof) in [
            (Tracker::Github, format!("sha256={GITHUB}")),
            (Tracker::Github, format!("SHA256={}", GITHUB.to_uppercase())),
            (Tracker::Jira, format!("sha256={GITHUB}")),
            (Tracker::Linear, GITHUB.to_owned()),
            (Tracker::Gitlab, key.to_owned()),
        ] {
            let proved =
                |secret_text: &str, proof: &[u8], body: &[u8]| is_proved(tracker, &secret(secret_text), proof, body);
            assert!(proved(key, proof.as_bytes(), body), "{tracker:?} {proof}");
            assert!(!proved("It's a secret to everybody", proof.as_bytes(), body), "{tracker:?}");
            assert!(!proved(key, &proof.as_bytes()[1..], body), "{tracker:?}");
            assert!(!proved(key, &[proof.as_bytes(), b" "].concat(), body), "{tracker:?}");
            assert!(!proved(key, b"", body), "{tracker:?}");
            // GitLab's proof is not one of the body.
            assert_eq!(proved(key, proof.as_bytes(), b"Hello, World?"), tracker == Tracker::Gitlab);
        }
        assert!(!is_proved(Tracker::Github, &secret(key), GITHUB.as_bytes(), body), "without the algorithm");
        assert!(!is_proved(Tracker::Github, &secret(key), key.as_bytes(), body), "the secret itself");
        assert!(!is_proved(Tracker::Gitlab, &secret(key), key.to_uppercase().as_bytes(), body), "another case");
    }

    fn read_one(tracker: Tracker, body: &Value) -> Option<(String, Option<String>, Outcome, Timestamp)> {
        read(tracker, body, now()).map(|report| {
            let outcome = match (report.state, report.is_done) {
                (LinkState::Open, false) => Outcome::Open,
                (LinkState::Closed, true) => Outcome::Done,
                (LinkState::Closed, false) => Outcome::Dropped,
                (LinkState::Open, true) => panic!("open and done"),
            };
            (report.issue.name, report.title.map(|title| title.to_string()), outcome, report.at)
        })
    }

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    /// Links: the table of the trackers.
    #[test]
    fn issues_and_pull_requests_of_github_are_read() {
        let url = "https://github.com/acme/app/issues/7";
        let issue = |state: &str, reason: Value, pull_request: Value| {
            json!({ "action": "closed", "issue": {
                "html_url": url, "title": "Dark mode", "state": state, "state_reason": reason,
                "updated_at": "2026-03-01T09:30:00Z", "pull_request": pull_request,
            } })
        };
        let pull = |state: &str, merged: Value, merged_at: Value| {
            json!({ "pull_request": {
                "html_url": "https://github.com/acme/app/pull/7", "title": "Dark mode", "state": state, "merged": merged,
                "merged_at": merged_at, "updated_at": "2026-03-01T09:30:00Z",
            } })
        };
        let (null, merged_at) = (Value::Null, json!("2026-03-01T09:30:00Z"));
        for (body, outcome) in [
            (issue("open", null.clone(), null.clone()), Outcome::Open),
            (issue("open", json!("reopened"), null.clone()), Outcome::Open),
            (issue("closed", json!("completed"), null.clone()), Outcome::Done),
            (issue("closed", null.clone(), null.clone()), Outcome::Done),
            (issue("closed", json!("not_planned"), null.clone()), Outcome::Dropped),
            (issue("closed", json!("duplicate"), null.clone()), Outcome::Dropped),
            // A comment on a pull request that was closed without a merge, and on one that was merged.
            (issue("closed", null.clone(), json!({ "merged_at": null })), Outcome::Dropped),
            (issue("closed", null.clone(), json!({ "merged_at": merged_at })), Outcome::Done),
            (pull("open", json!(false), null.clone()), Outcome::Open),
            (pull("closed", json!(true), merged_at.clone()), Outcome::Done),
            (pull("closed", json!(false), null.clone()), Outcome::Dropped),
            (pull("closed", null.clone(), merged_at.clone()), Outcome::Done),
        ] {
            let expected = ("acme/app#7".to_owned(), Some("Dark mode".to_owned()), outcome, at("2026-03-01T09:30:00Z"));
            assert_eq!(read_one(Tracker::Github, &body), Some(expected), "{body}");
        }
        for ignored in [
            json!({ "zen": "Keep it logically awesome.", "hook_id": 1 }),
            json!({ "issue": { "html_url": url } }),
            json!({ "issue": { "state": "closed" } }),
            json!({ "issue": { "html_url": "https://github.com/acme/app/discussions/7", "state": "closed" } }),
            json!({ "issue": { "html_url": url, "state": "melted" } }),
            json!({ "issue": { "html_url": 7, "state": "open" } }),
            json!({ "issue": null }),
            json!([url]),
            json!("issue"),
        ] {
            assert_eq!(read_one(Tracker::Github, &ignored), None, "{ignored}");
        }
    }

    /// Links: the table of the trackers.
    #[test]
    fn issues_and_merge_requests_of_gitlab_are_read() {
        let body = |kind: &str, path: &str, state: &str, time: &str| {
            json!({ "object_kind": kind, "object_attributes": {
                "url": format!("https://git.acme.example/acme/app/-/{path}"), "title": "Dark mode", "state": state,
                "updated_at": time,
            } })
        };
        for (body, name, outcome) in [
            (body("issue", "issues/7", "opened", "2026-03-01 09:30:00 UTC"), "acme/app#7", Outcome::Open),
            (body("issue", "issues/7", "closed", "2026-03-01T09:30:00Z"), "acme/app#7", Outcome::Done),
            (body("work_item", "work_items/7", "closed", "2026-03-01 10:30:00 +0100"), "acme/app#7", Outcome::Done),
            (
                body("merge_request", "merge_requests/7", "merged", "2026-03-01 09:30:00 UTC"),
                "acme/app!7",
                Outcome::Done,
            ),
            (
                body("merge_request", "merge_requests/7", "closed", "2026-03-01 09:30:00 UTC"),
                "acme/app!7",
                Outcome::Dropped,
            ),
            (
                body("merge_request", "merge_requests/7", "opened", "2026-03-01 09:30:00 UTC"),
                "acme/app!7",
                Outcome::Open,
            ),
        ] {
            let expected = (name.to_owned(), Some("Dark mode".to_owned()), outcome, at("2026-03-01T09:30:00Z"));
            assert_eq!(read_one(Tracker::Gitlab, &body), Some(expected), "{body}");
        }
        let unreadable = read_one(Tracker::Gitlab, &body("issue", "issues/7", "opened", "yesterday"));
        assert_eq!(unreadable.map(|(.., at)| at), Some(now()), "the time of arrival");
        for ignored in [
            json!({ "object_kind": "push" }),
            // A note has no state.
            json!({ "object_kind": "note", "object_attributes": { "url": "https://git.acme.example/acme/app/-/issues/7#note_1" } }),
            body("issue", "issues/7", "locked", ""),
            body("pipeline", "pipelines/7", "opened", ""),
        ] {
            assert_eq!(read_one(Tracker::Gitlab, &ignored), None, "{ignored}");
        }
    }

    /// Links: the table of the trackers.
    #[test]
    fn issues_of_jira_are_read() {
        let body = |address: &str, category: &str| {
            json!({ "timestamp": 1_770_000_000_123_i64, "issue": {
                "key": "APP-7", "self": address,
                "fields": { "summary": "Dark mode", "status": { "name": "X", "statusCategory": { "key": category } } },
            } })
        };
        let cloud = "https://acme.atlassian.net/rest/api/2/10002";
        for (address, category, outcome) in [
            (cloud, "new", Outcome::Open),
            (cloud, "indeterminate", Outcome::Open),
            (cloud, "done", Outcome::Done),
            ("https://issues.acme.example:8443/jira/rest/api/2/issue/10002", "done", Outcome::Done),
        ] {
            let time = Timestamp::from_millis(1_770_000_000_123).unwrap();
            let expected = ("APP-7".to_owned(), Some("Dark mode".to_owned()), outcome, time);
            assert_eq!(read_one(Tracker::Jira, &body(address, category)), Some(expected), "{address} {category}");
        }
        let issue_of = |url: &str| LinkUrl::parse(Some(url)).unwrap().issue();
        let report = read(Tracker::Jira, &body(cloud, "done"), now()).unwrap();
        assert_eq!(report.issue, issue_of("https://acme.atlassian.net/browse/APP-7"));
        let report =
            read(Tracker::Jira, &body("http://issues.acme.example:8443/jira/rest/api/2/1", "done"), now()).unwrap();
        assert_eq!(report.issue, issue_of("https://issues.acme.example:8443/jira/browse/APP-7"));
        for ignored in [
            json!({ "timestamp": 1, "project": { "key": "APP" } }),
            body("not a URL", "done"),
            json!({ "issue": { "key": "APP-7", "self": cloud, "fields": {} } }),
            json!({ "issue": { "key": "../x", "self": cloud, "fields": { "status": { "statusCategory": { "key": "done" } } } } }),
        ] {
            assert_eq!(read_one(Tracker::Jira, &ignored), None, "{ignored}");
        }
    }

    /// Links: the table of the trackers.
    #[test]
    fn issues_of_linear_are_read() {
        let body = |state: &str| {
            json!({
                "type": "Issue", "url": "https://linear.app/acme/issue/ENG-7/dark-mode", "webhookTimestamp": 1_770_000_000_123_i64,
                "data": { "title": "Dark mode", "state": { "type": state } },
            })
        };
        for (state, outcome) in [
            ("triage", Outcome::Open),
            ("backlog", Outcome::Open),
            ("unstarted", Outcome::Open),
            ("started", Outcome::Open),
            ("completed", Outcome::Done),
            ("canceled", Outcome::Dropped),
        ] {
            let time = Timestamp::from_millis(1_770_000_000_123).unwrap();
            let expected = ("ENG-7".to_owned(), Some("Dark mode".to_owned()), outcome, time);
            assert_eq!(read_one(Tracker::Linear, &body(state)), Some(expected), "{state}");
        }
        let comment = json!({ "type": "Comment", "url": "https://linear.app/acme/issue/ENG-7/x#comment-1", "data": { "body": "Hi" } });
        assert_eq!(read_one(Tracker::Linear, &comment), None);
    }

    #[test]
    fn a_title_is_one_line_that_a_link_has_room_for() {
        let body = |title: Value| json!({ "issue": { "html_url": "https://github.com/a/b/issues/7", "state": "open", "title": title } });
        for (title, expected) in [
            (json!(" Dark\nmode\u{202e} "), Some("Dark mode".to_owned())),
            (json!("a\0b"), Some("ab".to_owned())),
            (json!("ä".repeat(300)), Some("ä".repeat(Title::MAX))),
            (json!("  "), None),
            (json!(7), None),
        ] {
            let read = read_one(Tracker::Github, &body(title.clone())).unwrap();
            assert_eq!(read.1, expected, "{title}");
        }
    }
}
