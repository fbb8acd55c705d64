//! Tables of cases for the conversion of issues and discussions.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{Action, Comment, FeatureRequest, Kind, Origin, Person, PersonKey, Record};
use crate::sources::kept::Kept;
use crate::table::MAX_RECORD_BYTES;

fn nothing_is_known(_: &str) -> bool {
    false
}

const MAX: usize = 1_000;

fn options() -> Options<'static> {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { encoding: None, dates, is_known: &nothing_is_known, max_records: MAX }
}

fn inputs(files: &[(&str, &str)]) -> Vec<Input> {
    files.iter().map(|(name, text)| Input::from_bytes(*name, text.as_bytes())).collect()
}

fn run(files: &[(&str, &str)]) -> Result<(Kept, Summary), String> {
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(), &mut kept) {
        Ok(summary) => Ok((kept, summary)),
        Err(error) => Err(error.to_string()),
    }
}

/// Converts one file.
fn of(text: &str) -> Kept {
    run(&[("issues.json", text)]).unwrap().0
}

/// Converts an issue with these members beside number and title.
fn with(members: &str) -> Kept {
    of(&format!("[{{\"number\":7,\"title\":\"Dark mode\",{members}}}]"))
}

/// Converts a comment with these members on an issue.
fn with_comment(members: &str) -> Kept {
    with(&format!("\"comments\":[{{{members}}}]"))
}

fn person(login: &str, name: &str) -> Option<Person> {
    Some(Person { key: PersonKey::ExternalId(login.to_owned()), name: Some(name.to_owned()) })
}

#[test]
fn all_members_of_an_issue_are_read() {
    let kept = of(r#"
        [{"number": 7, "title": " Dark\nmode ", "body": "Please,\r\n**soon**", "state": "OPEN",
          "author": {"login": "ann", "name": "Ann Lee"}, "authorAssociation": "MEMBER",
          "labels": [{"name": "ui"}, {"name": "P: a, b"}], "category": {"name": "Ideas"},
          "reactionGroups": [{"content": "THUMBS_UP", "users": {"totalCount": 4}}],
          "createdAt": "2024-05-01T10:00:00Z", "url": "https://github.com/acme/app/issues/7",
          "comments": [{"id": "IC_1", "body": "Yes", "author": {"login": "bob"}, "authorAssociation": "NONE",
                        "createdAt": "2024-05-02T10:00:00Z"}]}]"#);
    let origin = Origin { file: 0, line: 2 };
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "acme/app#7".to_owned(),
                title: "Dark mode".to_owned(),
                description: "Please,\r\n**soon**".to_owned(),
                status: Some("Open".to_owned()),
                tags: vec!["ui".to_owned(), "P: a, b".to_owned(), "Ideas".to_owned()],
                is_private: false,
                awaits_approval: false,
                author: person("ann", "Ann Lee"),
                is_team: true,
                nameless_votes: 4,
                created_at: Timestamp::parse("2024-05-01T10:00:00Z"),
                url: Some("https://github.com/acme/app/issues/7".to_owned()),
                merged_into: None,
                origin,
            }),
            Record::Comment(Comment {
                external_id: "IC_1".to_owned(),
                request: "acme/app#7".to_owned(),
                body: "Yes".to_owned(),
                author: person("bob", "bob"),
                is_team: false,
                is_held: false,
                created_at: Timestamp::parse("2024-05-02T10:00:00Z"),
                origin,
            }),
        ]
    );
    assert!(kept.problems.is_empty() && kept.lost.is_empty() && kept.rejected.is_empty());
}

#[test]
fn only_number_and_title_are_needed() {
    let nulls = r#"[{"number":7,"title":"a","body":null,"state":null,"stateReason":null,"author":null,"labels":null,
        "comments":null,"reactionGroups":null,"reactions":null,"upvoteCount":null,"createdAt":null,"url":null,
        "html_url":null,"pull_request":null,"milestone":null,"assignees":null,"category":null}]"#;
    for text in ["[{\"number\":7,\"title\":\"a\"}]", "{\"title\":\"a\",\"number\":\"#007\",\"x\":{}}", nulls] {
        let (kept, summary) = run(&[("a", text)]).unwrap();
        assert_eq!(
            kept.records,
            [Record::FeatureRequest(FeatureRequest {
                external_id: "#7".to_owned(),
                title: "a".to_owned(),
                description: String::new(),
                status: None,
                tags: Vec::new(),
                is_private: false,
                awaits_approval: false,
                author: None,
                is_team: false,
                nameless_votes: 0,
                created_at: None,
                url: None,
                merged_into: None,
                origin: Origin { file: 0, line: 1 },
            })],
            "{text}"
        );
        assert!(kept.problems.is_empty() && kept.lost.is_empty());
        let votes = VoteTotals::default();
        assert_eq!(summary, Summary { files: vec![0], votes, shared_category: None });
    }
}

#[test]
fn the_external_id_is_from_the_address() {
    for (members, id) in [
        (r#""url":"https://github.com/acme/app/issues/7""#, "acme/app#7"),
        (r#""url":"https://github.com/acme/app/discussions/7?sort=new#top""#, "acme/app#7"),
        (r#""url":"http://git.acme.example:8080/acme/app.js/issues/7/""#, "acme/app.js#7"),
        (r#""url":"https://api.github.com/repos/acme/app/issues/7""#, "acme/app#7"),
        (
            r#""url":"https://api.github.com/repos/acme/app/issues/7","html_url":"https://github.com/new/name/issues/7""#,
            "new/name#7",
        ),
        (r#""url":"https://github.com/issues/issues/issues/7""#, "issues/issues#7"),
        // The number is what counts.
        (r#""url":"https://github.com/acme/app/issues/8""#, "acme/app#7"),
        (r#""repository_url":"https://api.github.com/repos/acme/app""#, "acme/app#7"),
        (r#""repository_url":"https://api.github.com/acme/app""#, "#7"),
        (r#""url":"https://github.com/acme/app""#, "#7"),
        (r#""url":"https://github.com/acme/app/milestones/7""#, "#7"),
        (r#""url":"ftp://github.com/acme/app/issues/7""#, "#7"),
        (r#""url":"https://github.com/a<b/app/issues/7""#, "#7"),
        (r#""url":"https://acme/app/issues/7""#, "#7"),
        (r#""url":"acme/app/issues/7""#, "#7"),
        (r#""url":5"#, "#7"),
    ] {
        assert_eq!(with(members).request().external_id, id, "{members}");
    }
    for (text, id) in [
        (r#"[{"title":"a","url":"https://github.com/acme/app/issues/12"}]"#, "acme/app#12"),
        (r#"[{"title":"a","number":"x","url":"https://github.com/acme/app/issues/12"}]"#, "acme/app#12"),
        (r#"[{"title":"a","number":1234567890123456789}]"#, "#1234567890123456789"),
    ] {
        assert_eq!(of(text).request().external_id, id, "{text}");
    }
}

#[test]
fn the_address_is_that_for_people() {
    let long = "x".repeat(2_000);
    for (members, url, problems) in [
        (
            r#""url":" https://github.com/acme/app/issues/7 ""#.to_owned(),
            Some("https://github.com/acme/app/issues/7"),
            &[][..],
        ),
        (r#""url":"https://api.github.com/repos/acme/app/issues/7""#.to_owned(), None, &[]),
        (r#""url":"https://git.acme.example/api/v3/repos/acme/app/issues/7""#.to_owned(), None, &[]),
        (
            r#""url":"https://api.github.com/x","html_url":"https://old.example""#.to_owned(),
            Some("https://old.example"),
            &[],
        ),
        (format!(r#""url":"{long}""#), Some(&*long), &[]),
        (
            r#""url":"a\nb""#.to_owned(),
            None,
            &["1 #7 url=a\\nb Ignored: the address is too long or has control characters"],
        ),
        (r#""html_url":["a"]"#.to_owned(), None, &[r#"1 #7 html_url=["a"] Ignored: the address is no text"#]),
    ] {
        let kept = with(&members);
        assert_eq!(kept.request().url.as_deref(), url, "{members}");
        assert_eq!(kept.problems(), problems, "{members}");
    }
    let kept = with(&format!(r#""url":"{long}y""#));
    assert_eq!((&kept.request().url, kept.problems.len()), (&None, 1));
}

#[test]
fn what_is_closed_is_done_unless_there_is_another_reason() {
    for (members, status, has_problem) in [
        (r#""state":"OPEN""#, Some("Open"), false),
        (r#""state":"open","state_reason":"reopened""#, Some("Open"), false),
        (r#""state":"CLOSED""#, Some("Done"), false),
        (r#""state":"closed","state_reason":null"#, Some("Done"), false),
        (r#""state":"closed","state_reason":"completed""#, Some("Done"), false),
        (r#""state":"CLOSED","stateReason":"""#, Some("Done"), false),
        (r#""state":"CLOSED","stateReason":"COMPLETED""#, Some("Done"), false),
        (r#""state":"CLOSED","stateReason":"NOT_PLANNED""#, Some("Declined"), false),
        (r#""state":"closed","state_reason":"not_planned""#, Some("Declined"), false),
        (r#""state":"CLOSED","stateReason":"DUPLICATE""#, Some("Declined"), false),
        (r#""closed":true,"stateReason":"RESOLVED""#, Some("Done"), false),
        (r#""closed":true,"stateReason":"OUTDATED""#, Some("Declined"), false),
        (r#""closed":false,"stateReason":null"#, Some("Open"), false),
        (r#""closedAt":"2024-01-01T00:00:00Z""#, Some("Done"), false),
        (r#""closed_at":null"#, None, false),
        (r#""state":"""#, None, false),
        (r#""state":"merged""#, None, true),
        (r#""state":["OPEN"]"#, None, true),
    ] {
        let kept = with(members);
        assert_eq!(kept.request().status.as_deref(), status, "{members}");
        assert_eq!(kept.problems.len(), usize::from(has_problem), "{members}");
    }
    assert_eq!(
        with(r#""state":"merged""#).problems(),
        ["1 #7 state=merged Ignored: the state is neither open nor closed"]
    );
}

#[test]
fn the_largest_count_is_the_votes() {
    for (members, votes, reactions) in [
        (r#""reactionGroups":[]"#, 0, 0),
        (
            r#""reactionGroups":[{"content":"HEART","users":{"totalCount":2}},{"content":"THUMBS_UP","users":{"totalCount":4}}]"#,
            4,
            2,
        ),
        (r#""reactionGroups":[{"content":"THUMBS_UP","reactors":{"totalCount":4}}],"upvoteCount":6"#, 6, 0),
        (r#""reactionGroups":[{"content":"THUMBS_UP","count":"4"}],"upvoteCount":3"#, 4, 0),
        (r#""reactions":{"url":"x","total_count":9,"+1":5,"-1":3,"laugh":0,"eyes":1}"#, 5, 4),
        (r#""reactions":{"totalCount":9}"#, 0, 0),
        (
            r#""reactionGroups":{"nodes":[null,1,{},{"content":"THUMBS_UP"},{"content":null,"users":{"totalCount":1}}]}"#,
            0,
            0,
        ),
        (r#""upvoteCount":1"#, 1, 0),
        (r#""upvoteCount":99999999999"#, u32::MAX, 0),
    ] {
        let kept = with(members);
        assert_eq!(kept.request().nameless_votes, votes, "{members}");
        let lost = if reactions > 0 { vec![("reactions", reactions)] } else { vec![] };
        assert_eq!(kept.lost(), lost, "{members}");
        assert!(kept.problems.is_empty(), "{members}");
    }
    let kept = with(r#""reactions":{"+1":-2,"-1":1.5},"upvoteCount":{}"#);
    assert_eq!(kept.request().nameless_votes, 0);
    assert_eq!(
        kept.problems(),
        [
            "1 #7 reactions=-2 Changed: the count is below 0: it is 0",
            "1 #7 reactions=1.5 Ignored: the count is no whole number",
            "1 #7 upvoteCount={} Ignored: the count is no whole number",
        ]
    );
    let text = r#"[{"number":1,"title":"a","upvoteCount":2},{"number":2,"title":"b","upvoteCount":3},
        {"number":2,"title":"again","upvoteCount":9}]"#;
    let (_, summary) = run(&[("a", text)]).unwrap();
    assert_eq!(summary.votes, VoteTotals { voters: 0, nameless: 5, doubles: 0 });
}

#[test]
fn people_are_known_by_their_login() {
    let long = format!(r#""author":{{"login":"ann","name":"{}"}}"#, "x".repeat(201));
    let cut = "x".repeat(200);
    for (members, author, is_team) in [
        (r#""author":{"login":"ann","name":"Ann Lee"}"#, person("ann", "Ann Lee"), false),
        (r#""user":{"login":"ann","id":5,"type":"User"},"author_association":"owner""#, person("ann", "ann"), true),
        (r#""author":{"login":" ann ","name":""},"authorAssociation":"COLLABORATOR""#, person("ann", "ann"), true),
        (
            r#""author":{"login":"app/bot","is_bot":true},"authorAssociation":"CONTRIBUTOR""#,
            person("app/bot", "app/bot"),
            false,
        ),
        (r#""author":"ann""#, person("ann", "ann"), false),
        (r#""author":{"login":5}"#, person("5", "5"), false),
        (&*long, person("ann", &cut), false),
        (r#""author":{"login":"ghost"}"#, None, false),
        (r#""author":{"login":"Ghost","name":"Ann"},"authorAssociation":"MEMBER""#, None, true),
        (r#""author":{"login":""},"authorAssociation":7"#, None, false),
        (r#""author":{}"#, None, false),
        (r#""author":null,"user":null"#, None, false),
    ] {
        let kept = with(members);
        assert_eq!((&kept.request().author, kept.request().is_team), (&author, is_team), "{members}");
        assert!(kept.problems.is_empty() && kept.lost.is_empty(), "{members}");
        // It is the same for comments.
        let kept = with_comment(&format!("\"body\":\"Yes\",{members}"));
        assert_eq!((&kept.comments()[0].author, kept.comments()[0].is_team), (&author, is_team), "{members}");
    }
    let kept = with(r#""author":{"login":null,"name":"Ann"}"#);
    assert_eq!((&kept.request().author, kept.lost()), (&None, vec![("names without a login", 1)]));
    let kept = with(r#""user":["ann"]"#);
    assert_eq!(kept.request().author, None);
    assert_eq!(kept.problems(), [r#"1 #7 user=["ann"] Ignored: this is no author"#]);
    let kept = with(&format!(r#""user":"{}""#, "x".repeat(201)));
    assert_eq!((&kept.request().author, kept.problems.len()), (&None, 1));
}

#[test]
fn labels_are_tags() {
    for (members, tags) in [
        (r#""labels":[{"name":"ui"},{"name":"a|b;c,d"}]"#, &["ui", "a|b;c,d"][..]),
        (r#""labels":["ui",7,null,"","UI",{"name":null},{},[]]"#, &["ui", "7"]),
        (r#""labels":{"nodes":[{"name":"ui"}]}"#, &["ui"]),
        (r#""labels":{"edges":[{"node":{"name":"ui"}}]}"#, &["ui"]),
        (r#""labels":"ui, theme""#, &["ui", "theme"]),
        (r#""labels":[],"category":{"name":"Ideas"}"#, &["Ideas"]),
        (r#""category":"Ideas""#, &["Ideas"]),
    ] {
        let kept = with(members);
        assert_eq!(kept.request().tags, tags, "{members}");
        assert!(kept.problems.is_empty(), "{members}");
    }
    let numbers: Vec<_> = (0..22).map(|n| n.to_string()).collect();
    let long = "y".repeat(51);
    let kept = with(&format!(r#""labels":["{long}",{}]"#, numbers.join(",")));
    assert_eq!(kept.request().tags, numbers[..20]);
    assert_eq!(
        kept.problems(),
        [
            format!("1 #7 labels={long} Ignored: tags have at most 50 characters"),
            "1 #7 labels=20|21 Ignored: a feature request has at most 20 tags: 2 are left out".to_owned(),
        ]
    );
    assert_eq!(with(r#""labels":{}"#).problems(), ["1 #7 labels={} Ignored: these are no labels"]);
}

#[test]
fn a_category_that_all_share_is_no_tag() {
    let discussion =
        |number: u32, category: &str| format!(r#"{{"number":{number},"title":"a","category":{category}}}"#);
    let [ideas, polls] = [r#"{"name":"Ideas"}"#, r#"{"name":"Polls"}"#];
    let pull = r#"{"number":9,"title":"a","pull_request":{}}"#.to_owned();
    for (objects, shared) in [
        (vec![discussion(1, ideas), discussion(2, ideas)], Some("Ideas")),
        (vec![discussion(1, ideas), pull, discussion(2, ideas)], Some("Ideas")),
        (vec![discussion(1, ideas), discussion(2, polls)], None),
        (vec![discussion(1, ideas), discussion(2, "null"), discussion(3, ideas)], None),
        (vec![discussion(1, ideas)], None),
        (vec![], None),
    ] {
        for files in [vec![objects.join("\n")], objects.clone()] {
            let files: Vec<_> =
                files.iter().map(|text| ("a", text.as_str())).filter(|(_, text)| !text.is_empty()).collect();
            let (kept, summary) = run(&files).unwrap();
            assert_eq!(summary.shared_category.as_deref(), shared, "{files:?}");
            let tags: usize = kept.requests().iter().map(|request| request.tags.len()).sum();
            let with_category = objects.iter().filter(|object| object.contains("name")).count();
            assert_eq!(tags, if shared.is_some() { 0 } else { with_category }, "{files:?}");
        }
    }
}

#[test]
fn long_titles_are_cut_and_texts_are_found() {
    let long = "x".repeat(201);
    let kept = of(&format!(r#"[{{"number":7,"title":"{long}","body":"Why"}}]"#));
    assert_eq!(kept.request().title, format!("{}…", "x".repeat(199)));
    assert_eq!(kept.request().description, format!("{long}\n\nWhy"));
    assert_eq!(kept.problems.len(), 1);
    for (members, text) in [
        (r#""body":"a","bodyText":"b""#, "a"),
        (r#""body":" ","bodyText":"b""#, "b"),
        (r#""body_html":"<p>c</p>""#, "<p>c</p>"),
        (r#""body":12"#, "12"),
        (r#""body":"half \ud83d""#, "half \u{fffd}"),
    ] {
        let kept = with(members);
        assert_eq!(kept.request().description, text, "{members}");
        assert!(kept.problems.is_empty());
    }
    let kept = with(r#""body":{"a":1}"#);
    assert_eq!(
        (kept.request().description.as_str(), kept.problems()),
        ("", vec![r#"1 #7 body={"a":1} Ignored: this is no text"#.to_owned()])
    );
}

#[test]
fn times_that_cannot_be_used_are_listed() {
    for (members, time, problems) in [
        (r#""createdAt":"2024-05-01T10:00:00Z""#, Some("2024-05-01T10:00:00Z"), &[][..]),
        (r#""created_at":"2024-05-01T10:00:00+02:00""#, Some("2024-05-01T08:00:00Z"), &[]),
        (r#""created_at":1714550400"#, Some("2024-05-01T08:00:00Z"), &[]),
        (r#""createdAt":"""#, None, &[]),
        (r#""createdAt":"yesterday""#, None, &["1 #7 createdAt=yesterday Changed: the time cannot be read"]),
        (r#""createdAt":[]"#, None, &["1 #7 createdAt=[] Changed: the time cannot be read"]),
        (
            r#""created_at":"2999-01-01T00:00:00Z""#,
            None,
            &["1 #7 created_at=2999-01-01T00:00:00Z Changed: the time is in the future"],
        ),
    ] {
        let kept = with(members);
        assert_eq!(kept.request().created_at, time.and_then(Timestamp::parse), "{members}");
        assert_eq!(kept.problems(), problems, "{members}");
        let kept = with_comment(&format!("\"id\":\"#7\",\"body\":\"Yes\",{members}"));
        assert_eq!(kept.comments()[0].created_at, time.and_then(Timestamp::parse), "{members}");
        assert_eq!(kept.problems(), problems, "{members}");
    }
}

#[test]
fn what_cannot_be_a_feature_request_is_rejected_with_its_bytes() {
    let bad = [
        r#"{"number":1,"title":" \u200b"}"#,
        r#"{"number":2,"title":["a"]}"#,
        r#"{"number":3}"#,
        r#"{"number":7,"title":"again"}"#,
        r#"{"title":"no number"}"#,
        r#"{"number":-5,"title":"no number"}"#,
        r#"{"number":8,"title":"a","body":"\u0000"}"#,
        r#"{"number":9,"title":nonsense}"#,
    ];
    let text = format!(
        "[{{\"number\":7,\"title\":\"a\"}},\n{},5,null,{{}},{{\"number\":10,\"title\":\"b\"}}]",
        bad.join("\n,")
    );
    let kept = of(&text);
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["#7", "#10"]);
    assert_eq!(
        kept.problems(),
        [
            r"2 #1 title= \u200b Rejected: the title is blank",
            r#"3 #2 title=["a"] Rejected: the title is blank"#,
            "4 #3 title= Rejected: the title is blank",
            "5 #7 number=#7 Rejected: an earlier record has the same number",
            "6 number= Rejected: there is no number",
            "7 number=-5 Rejected: there is no number",
            "8 #8 Rejected: the record has a NUL character",
            "9 Rejected: the record is no valid JSON",
            "9 Ignored: this is no object",
        ]
    );
    assert_eq!(kept.rejected(0), format!("[{}", bad.join(",")));
    assert_eq!(kept.kinds, [Kind::FeatureRequests; 8]);
}

#[test]
fn records_that_are_too_large_or_too_deep_are_rejected() {
    let large = format!("{{\"number\":1,\"title\":\"{}\"}}", "x".repeat(MAX_RECORD_BYTES));
    let deep = format!("{{\"number\":2,\"title\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let kept = of(&format!("[{large},\n{deep},{{\"number\":3,\"title\":\"a\"}}]"));
    assert_eq!(
        kept.problems(),
        ["1 Rejected: the record is larger than 4 MB", "2 Rejected: the record is nested deeper than 64 levels"]
    );
    assert_eq!(kept.rejected(0), format!("[{large},{deep}"));
    assert_eq!(kept.request().external_id, "#3");
}

#[test]
fn comments_and_replies_are_read() {
    let parent = format!("  > quoted\\n\\n{}", "x".repeat(80));
    let replies = r#"{"id":2,"body":"Me too","replies":[{"id":3,"body":"And I"}]},null,5"#;
    let kept = with(&format!(
        r#""comments":{{"totalCount":4,"nodes":[null,{{}},{{"id":1,"body":"{parent}","replies":{{"totalCount":4,"nodes":[{replies}]}}}}]}}"#
    ));
    let found: Vec<_> =
        kept.comments().iter().map(|comment| (comment.external_id.as_str(), comment.body.as_str())).collect();
    let quoted = format!("> > quoted\n>\n> {}…\n\nMe too", "x".repeat(80 - 10));
    assert_eq!(
        found,
        [("1", &*format!("  > quoted\n\n{}", "x".repeat(80))), ("2", &quoted), ("3", "> Me too\n\nAnd I")]
    );
    assert!(kept.comments().iter().all(|comment| comment.request == "#7"));
    assert_eq!(kept.problems(), ["1 #7 replies=5 Ignored: this is no comment"]);
    // One comment and one reply are on other pages.
    assert_eq!(kept.lost(), [("comments that are not in the files", 2)]);

    for (members, lost, problems) in [
        (r#""comments":5"#, &[("comments that are not in the files", 5)][..], &[][..]),
        (r#""comments":{"totalCount":2}"#, &[("comments that are not in the files", 2)], &[]),
        (r#""comments":0"#, &[], &[]),
        (r#""comments":-5"#, &[], &[]),
        (r#""comments":{}"#, &[], &["1 #7 comments={} Ignored: these are no comments"]),
        (r#""comments":"many""#, &[], &["1 #7 comments=many Ignored: these are no comments"]),
    ] {
        let kept = with(members);
        assert_eq!(kept.lost(), lost, "{members}");
        assert_eq!(kept.problems(), problems, "{members}");
    }
}

#[test]
fn comments_have_ids() {
    for (members, id) in [
        (r#""id":"IC_1","node_id":"x""#, "IC_1"),
        (r#""id":501"#, "501"),
        (r#""id":null,"databaseId":5"#, "5"),
        (
            r#""url":"https://github.com/acme/app/issues/7#issuecomment-1""#,
            "https://github.com/acme/app/issues/7#issuecomment-1",
        ),
    ] {
        let kept = with_comment(&format!("\"body\":\"Yes\",{members}"));
        assert_eq!(kept.comments()[0].external_id, id, "{members}");
    }
    let comment = |body: &str, login: &str| format!(r#"{{"body":"{body}","author":{{"login":"{login}"}}}}"#);
    let comments = [comment("a", "x"), comment("b", "x"), comment("a", "y"), comment("a", "x")];
    let kept = with(&format!("\"comments\":[{}]", comments.join(",")));
    assert!(kept.comments().iter().all(|comment| comment.external_id.len() == 32));
    assert_eq!(kept.comments().len(), 3);
    assert_eq!(kept.problems(), ["1 id= Rejected: an earlier comment is the same, and there is no id"]);
}

#[test]
fn comments_that_cannot_be_ones_are_rejected_with_the_whole_issue() {
    let first = r#"{"number":1,"title":"a","comments":[{"id":1,"body":" "},{"id":2,"body":"\u0000","replies":[{"id":3,"body":"c"}]},{"id":4}]}"#;
    let second = r#"{"number":2,"title":"b","comments":[{"id":5,"body":"d"},{"id":5,"body":"e"},{"id":6,"isMinimized":true,"body":"buy","replies":[{"id":7,"body":"no"}]}]}"#;
    let kept = of(&format!("[{first},{second}]"));
    assert_eq!(kept.requests().len(), 2);
    let found: Vec<_> =
        kept.comments().iter().map(|comment| (comment.external_id.as_str(), comment.body.as_str())).collect();
    // What has no parent here quotes nothing.
    assert_eq!(found, [("3", "c"), ("5", "d"), ("7", "no")]);
    assert_eq!(
        kept.problems(),
        [
            "1 1 body=  Rejected: the text is blank",
            "1 2 Rejected: the comment has a NUL character",
            "1 4 body= Rejected: the text is blank",
            "1 5 id=5 Rejected: an earlier comment has the same id",
        ]
    );
    assert_eq!(kept.rejected(0), format!("[{first},{second}"));
    assert_eq!(kept.kinds, [Kind::Comments; 4]);
    assert_eq!(kept.lost, [("minimized comments".to_owned(), 1, Some(Kind::Comments))]);
}

#[test]
fn what_has_no_place_is_counted() {
    let kept = with(
        r#""milestone":{"title":"v2"},"assignees":[{"login":"a"},{"login":"b"}],
           "comments":[{"id":1,"body":"a","reactions":{"+1":2,"heart":1},"upvoteCount":3}]"#,
    );
    let lost = [("assignees", 2), ("milestones", 1), ("reactions", 3), ("upvotes of comments", 3)];
    assert_eq!(kept.lost(), lost);
    assert!(kept.lost.iter().all(|(_, _, kind)| kind.is_none()));
}

#[test]
fn pull_requests_are_left_out() {
    let kept = of(r#"[
        {"number":1,"title":"a","pull_request":{"url":"x"}},
        {"number":2,"title":"b","isPullRequest":true},
        {"number":3,"title":"c","__typename":"PullRequest"},
        {"number":4,"title":"d","url":"https://github.com/acme/app/pull/4"},
        {"number":5,"title":" ","pull_request":true},
        {"number":6,"title":"f","pull_request":false,"isPullRequest":false,"__typename":"Issue"}]"#);
    assert_eq!(kept.request().external_id, "#6");
    assert_eq!(kept.lost, [("pull requests".to_owned(), 5, Some(Kind::FeatureRequests))]);
    assert!(kept.problems.is_empty());
}

#[test]
fn pages_of_comments_are_read_after_all_issues() {
    let comment = |id: u32, number: u32, rest: &str| {
        format!(
            r#"{{"id":{id},"issue_url":"https://api.github.com/repos/acme/app/issues/{number}","body":"Yes"{rest}}}"#
        )
    };
    let comments = [
        comment(1, 7, ""),
        comment(2, 8, r#","html_url":"https://github.com/acme/app/pull/8#issuecomment-2""#),
        comment(3, 9, ""),
        comment(4, 10, ""),
        r#"{"id":5,"issue_url":"nowhere","body":"Yes"}"#.to_owned(),
        comment(6, 7, r#","body":"""#),
        r#"{"number":11,"title":"b","html_url":"https://github.com/acme/app/issues/11","comments":1}"#.to_owned(),
    ];
    let issues = r#"[{"number":7,"title":"a","html_url":"https://github.com/acme/app/issues/7","comments":3}]"#;
    let files = inputs(&[("comments.json", &format!("[{}]", comments.join(","))), ("issues.json", issues)]);
    let is_known = |id: &str| id == "acme/app#10";
    let mut kept = Kept::default();
    let summary = convert(&files, &Options { is_known: &is_known, ..options() }, &mut kept).unwrap();
    assert_eq!(summary.files, [0, 1]);
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["acme/app#11", "acme/app#7"]);
    let found: Vec<_> =
        kept.comments().iter().map(|comment| (comment.external_id.as_str(), comment.request.as_str())).collect();
    assert_eq!(found, [("1", "acme/app#7"), ("4", "acme/app#10")]);
    assert_eq!(
        kept.problems(),
        [
            "1 3 issue_url=https://api.github.com/repos/acme/app/issues/9 Skipped: there is no feature request with this address",
            "1 5 issue_url=nowhere Skipped: there is no feature request with this address",
            "1 6 body= Rejected: the text is blank",
        ]
    );
    assert_eq!(kept.rejected(0), format!("[{}", comments[5]));
    // Two of the four comments on known feature requests are here.
    assert_eq!(
        kept.lost(),
        [
            ("comments that are not in the files", 2),
            ("comments on pull requests", 1),
            ("comments on unknown feature requests", 2)
        ]
    );
}

#[test]
fn all_forms_of_files_are_read() {
    let issue = |number: u32| format!(r#"{{"number":{number},"title":"a"}}"#);
    let (a, b) = (issue(1), issue(2));
    for text in [
        format!("[{a},{b}]"),
        format!("[[{a}],[{b}]]"),
        format!("[{a}]\n[{b}]"),
        format!("{a}\n{b}\n"),
        format!(r#"{{"total_count":2,"incomplete_results":false,"items":[{a},{b}]}}"#),
        format!(r#"{{"data":{{"repository":{{"name":"app","issues":{{"nodes":[{a},{{}},null,{b}]}}}}}}}}"#),
        format!(
            r#"[{{"data":{{"repository":{{"discussions":{{"edges":[{{"cursor":"x","node":{a}}}]}}}}}}}},{{"data":{{"search":{{"nodes":[{b}]}}}}}}]"#
        ),
        format!(
            r#"{{"errors":[{{"message":"x","path":["data"]}}],"data":{{"organization":{{"repository":{{"issue":{a},"discussion":{b}}}}}}}}}"#
        ),
    ] {
        let (kept, _) = run(&[("a", &text)]).unwrap();
        let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.as_str()).collect();
        assert_eq!((ids, kept.problems()), (vec!["#1", "#2"], vec![]), "{text}");
        assert!(recognizes(&inputs(&[("a", &text)])), "{text}");
    }
    for text in ["[]", "[[],[]]", r#"{"data":{"repository":{"issues":{"nodes":[]}}}}"#, "[{}]", "null"] {
        let (kept, summary) = run(&[("a.json", text)]).unwrap();
        assert_eq!((kept.records.len(), kept.problems.len(), summary.files), (0, 0, vec![0]), "{text}");
        assert!(!recognizes(&inputs(&[("a", text)])), "{text}");
    }
}

#[test]
fn files_of_other_sources_are_refused() {
    let foreign = "`a.json` has no issues or discussions of GitHub, which have a `number` and a `title`:";
    for (text, message) in [
        (
            r#"[{"number":1,"title":"a","slug":"a","user_id":1,"tenant_id":1}]"#,
            format!("{foreign} it looks like a part of a backup of Fider"),
        ),
        (r#"{"hasMore":false,"posts":[{"title":"a"}]}"#, format!("{foreign} it looks like an answer of Canny")),
        (
            r#"{"cursor":null,"hasNextPage":false,"items":[{"title":"a","board":{},"created":"x"}]}"#,
            format!("{foreign} it looks like an answer of Canny"),
        ),
        (r#"[{"title":"a"}]"#, format!("{foreign} its first object has `title`")),
        (r#"{"message":"Bad\u0007","a\u0007":1}"#, format!("{foreign} its first object has `message`, `a\u{fffd}`")),
        ("[{nonsense}]", format!("{foreign} its first object is no valid JSON")),
        ("\"text\"", format!("{foreign} line 1 has something that is no object")),
        ("", "`a.json` cannot be imported: the file is empty".to_owned()),
        ("number,title\n1,a\n", "`a.json` cannot be imported: it is no JSON in line 1".to_owned()),
        (
            "[{\"number\":1,\"title\":\"a\"},\n{\"number\":",
            "`a.json` cannot be imported: the file ends inside of what begins in line 2, so it is not complete"
                .to_owned(),
        ),
        (
            "[{\"number\":1,\"title\":\"a\"}",
            "`a.json` cannot be imported: the file ends inside of what begins in line 1, so it is not complete"
                .to_owned(),
        ),
    ] {
        assert_eq!(run(&[("a.json", text)]).err().as_ref(), Some(&message), "{text}");
    }
    for text in
        [r#"[{"number":1,"title":"a","tenant_id":1}]"#, r#"[{"title":"a"}]"#, "id,title\n", "", "[5]", "[{\"a\""]
    {
        assert!(!recognizes(&inputs(&[("a", text)])), "{text}");
    }
    assert!(recognizes(&inputs(&[("a", "id"), ("b", r#"[{"number":1,"title":null},"#)])));
}

#[test]
fn other_files_among_several_are_left_out() {
    let issues = ("issues.json", r#"[{"number":1,"title":"a"}]"#);
    let (kept, summary) =
        run(&[("README.md", "# Export"), ("repository.json", r#"{"id":1,"name":"app"}"#), issues]).unwrap();
    assert_eq!((summary.files, kept.requests().len()), (vec![2], 1));
    assert_eq!(kept.problems(), ["Skipped: the file has no issues or discussions of GitHub"; 2]);
    for (files, message) in [
        (vec![("README.md", "# Export"), ("a.csv", "id\n")], "`README.md` cannot be imported: it is no JSON in line 1"),
        (
            vec![issues, ("more.JSON", "[")],
            "`more.JSON` cannot be imported: the file ends inside of what begins in line 1, so it is not complete",
        ),
    ] {
        assert_eq!(run(&files).err().as_deref(), Some(message));
    }
    assert_eq!(run(&[]).unwrap().1.files, [] as [usize; 0]);
}

#[test]
fn rejected_records_keep_their_encoding() {
    let text = "[{\"number\":1,\"title\":\"\"},{\"number\":2,\"title\":\"ü\"},{\"number\":3,\"title\":\" \"}]";
    let utf_16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let bytes = [&b"\xff\xfe"[..], &utf_16(text)].concat();
    let mut kept = Kept::default();
    convert(&[Input::from_bytes("a", bytes)], &options(), &mut kept).unwrap();
    assert_eq!(kept.request().title, "ü");
    let rejected = "[{\"number\":1,\"title\":\"\"},{\"number\":3,\"title\":\" \"}";
    assert_eq!(kept.rejected[&0], [&b"\xff\xfe"[..], &utf_16(rejected)].concat());

    let file = [Input::from_bytes("a", *b"[{\"number\":1,\"title\":\"\xfc\"}]")];
    let mut kept = Kept::default();
    convert(&file, &options(), &mut kept).unwrap();
    assert_eq!(kept.request().title, "ü");
    assert_eq!(
        kept.problems(),
        ["Changed: the encoding is not known, so the file is read as windows-1252: --encoding names another one"]
    );
    let mut kept = Kept::default();
    convert(&file, &Options { encoding: Some(encoding_rs::UTF_8), ..options() }, &mut kept).unwrap();
    assert_eq!(kept.problems(), ["1 Rejected: the record has bytes that are no UTF-8"]);
    assert_eq!(kept.rejected[&0], b"[{\"number\":1,\"title\":\"\xfc\"}");
    let error = convert(&file, &Options { encoding: Some(encoding_rs::GBK), ..options() }, &mut kept).unwrap_err();
    assert_eq!(error.to_string(), "`a` cannot be imported: JSON is not read in GBK: convert the file to UTF-8");
}

#[test]
fn memory_is_bounded_and_a_full_disk_ends_the_conversion() {
    let files = inputs(&[
        (
            "a.json",
            r#"[{"number":1,"title":"a","milestone":{},"body":{},"comments":[{"id":1,"body":"b"},{"id":1,"body":"c"}]},{"number":2}]"#,
        ),
        ("b.json", r#"[{"id":2,"issue_url":"https://x.example/a/b/issues/1","body":"d"}]"#),
    ]);
    // A feature request and a comment; the other one is for an unknown feature request.
    for max_records in 0..2 {
        let error = convert(&files, &Options { max_records, ..options() }, &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    let mut whole = Kept::default();
    convert(&files, &Options { max_records: 2, ..options() }, &mut whole).unwrap();
    let steps = whole.records.len() + whole.problems.len() + whole.lost.len() + whole.kinds.len();
    assert_eq!(steps, 2 + 4 + 2 + 2);
    for space in 0..steps {
        let error = convert(&files, &options(), &mut Kept::with_space(space)).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    assert!(convert(&files, &options(), &mut Kept::with_space(steps)).is_ok());
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("issues.json");
    std::fs::write(&path, "[]").unwrap();
    let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = convert(&files, &options(), &mut Kept::default()).unwrap_err();
    assert!(error.to_string().starts_with("`issues.json` cannot be read: "), "{error}");
    assert!(!recognizes(&files));
}

proptest! {
    /// No file makes the conversion panic, and what is rejected is JSON again with a closing bracket.
    #[test]
    fn any_objects_are_converted(
        values in prop::collection::vec("null|1|-1|\"\"|\"a\"|\"7\"|\\[\\]|\\[1,null\\]|\\{\\}|true|\"https://x/a/b/issues/7\"", 14),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let keys = ["number", "title", "body", "state", "author", "labels", "comments", "url", "reactions", "createdAt",
            "category", "milestone", "upvoteCount", "pull_request"];
        let members: Vec<_> = keys.iter().zip(&values).map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let object = format!("{{{}}}", members.join(","));
        let comments = format!(r#"{{"number":8,"title":"b","comments":[{object},{object}]}}"#);
        let (kept, _) = run(&[("a", &format!(r#"[{{"number":7,"title":"a"}},{object},{comments},{object}]"#))]).unwrap();
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.kinds.len());
        if rejected > 0 {
            let array: Vec<serde_json::Value> = serde_json::from_str(&format!("{}]", kept.rejected(0))).unwrap();
            prop_assert!(!array.is_empty());
        }
        let file = [Input::from_bytes("a", bytes)];
        let _ = recognizes(&file);
        let _ = convert(&file, &options(), &mut Kept::default());
    }
}
