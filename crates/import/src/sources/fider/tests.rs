//! Tables of cases for the conversion of files of Fider.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io::Read;

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::records::{
    Action, Comment, FeatureRequest, File, Kind, Lost, Note, Origin, Person, PersonKey, Problem, Record, Subscription,
};
use crate::table::MAX_RECORD_BYTES;

/// A sink that keeps everything.
#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    problems: Vec<Problem>,
    lost: Vec<(String, u64, Option<Kind>)>,
    /// The rejected bytes of each file, with its head.
    rejected: BTreeMap<usize, Vec<u8>>,
    kinds: Vec<Kind>,
    /// The records and problems that it takes before it fails.
    space: Option<usize>,
}

impl Kept {
    fn take_space(&mut self) -> io::Result<()> {
        match &mut self.space {
            Some(0) => Err(io::Error::other("disk full")),
            Some(space) => {
                *space -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn requests(&self) -> Vec<&FeatureRequest> {
        let requests = self.records.iter().filter_map(|record| match record {
            Record::FeatureRequest(request) => Some(request),
            _ => None,
        });
        requests.collect()
    }

    fn request(&self) -> &FeatureRequest {
        let [request] = self.requests()[..] else { panic!("{:?}", self.requests()) };
        request
    }

    fn comments(&self) -> Vec<&Comment> {
        let comments = self.records.iter().filter_map(|record| match record {
            Record::Comment(comment) => Some(comment),
            _ => None,
        });
        comments.collect()
    }

    /// The votes, as feature request, person and whether they are subscribed.
    fn votes(&self) -> Vec<(&str, &str, Option<bool>)> {
        let votes = self.records.iter().filter_map(|record| match record {
            Record::Vote(vote) => Some((vote.request.as_str(), key(&vote.person), vote.is_subscribed)),
            _ => None,
        });
        votes.collect()
    }

    fn subscriptions(&self) -> Vec<(&str, &str)> {
        let subscriptions = self.records.iter().filter_map(|record| match record {
            Record::Subscription(subscription) => Some((subscription.request.as_str(), key(&subscription.person))),
            _ => None,
        });
        subscriptions.collect()
    }

    /// The problems, as line, id, field, value, sentence and action.
    fn problems(&self) -> Vec<String> {
        let text = |problem: &Problem| {
            let mut text = String::new();
            if let Some(line) = problem.line {
                write!(text, "{line} ").unwrap();
            }
            if let Some(id) = &problem.id {
                write!(text, "{id} ").unwrap();
            }
            if let (Some(field), Some(value)) = (&problem.field, &problem.value) {
                write!(text, "{field}={value} ").unwrap();
            }
            write!(text, "{:?}: {}", problem.action, problem.problem).unwrap();
            text
        };
        self.problems.iter().map(text).collect()
    }

    fn lost(&self) -> Vec<(&str, u64, Option<Kind>)> {
        self.lost.iter().map(|(what, count, kind)| (what.as_str(), *count, *kind)).collect()
    }

    fn rejected(&self, file: usize) -> &str {
        self.rejected.get(&file).map_or("", |bytes| std::str::from_utf8(bytes).unwrap())
    }
}

fn key(person: &Person) -> &str {
    match &person.key {
        PersonKey::Email(key) | PersonKey::ExternalId(key) => key,
    }
}

impl Sink for Kept {
    fn record(&mut self, record: Record) -> io::Result<()> {
        self.records.push(record);
        self.take_space()
    }

    fn problem(&mut self, problem: Problem) -> io::Result<()> {
        self.problems.push(problem);
        self.take_space()
    }

    fn lost(&mut self, lost: Lost) -> io::Result<()> {
        self.lost.push((lost.what, lost.count, lost.kind));
        self.take_space()
    }

    fn rejected(&mut self, kind: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()> {
        self.kinds.push(kind);
        original.read_to_end(self.rejected.entry(file).or_insert(head.to_vec()))?;
        self.take_space()
    }
}

fn options() -> Options {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { encoding: None, dates, max_records: MAX_RECORDS }
}

fn inputs(files: &[(&str, &str)]) -> Vec<Input> {
    files.iter().map(|(name, text)| Input::from_bytes(*name, text.as_bytes())).collect()
}

fn run(files: &[(&str, &str)]) -> Result<(Kept, VoteTotals), String> {
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(), &mut kept) {
        Ok(votes) => Ok((kept, votes)),
        Err(error) => Err(error.to_string()),
    }
}

/// Two customers, one of the team, one who is deleted, one of the team without an address.
fn users() -> String {
    json!([
        {"id": 1, "name": "Ann", "email": "ann@x.example", "role": 1, "status": 1},
        {"id": 2, "name": "Bob", "email": "Bob@x.example", "role": 1, "status": 3},
        {"id": 3, "name": "Arya", "email": "arya@x.example", "role": 3, "status": 1},
        {"id": 4, "name": "", "email": "", "role": 1, "status": 2},
        {"id": 5, "name": "Eve", "email": "", "role": 2, "status": 1},
    ])
    .to_string()
}

/// Posts of the ids and numbers 101 and 1, 102 and 2, and a deleted one of 103 and 3.
fn posts() -> String {
    let post = |number: u32, status: u32| json!({"id": 100 + number, "number": number, "title": format!("Post {number}"), "status": status, "slug": "p", "user_id": 1});
    json!([post(1, 0), post(2, 1), post(3, 6)]).to_string()
}

/// Converts posts and other tables of a backup, with the usual people.
fn backup_of(posts: &Value, tables: &[(&str, Value)]) -> (Kept, VoteTotals) {
    let tables: Vec<_> = tables.iter().map(|(name, rows)| (format!("{name}.json"), rows.to_string())).collect();
    let (posts, users) = (posts.to_string(), users());
    let mut files = vec![("posts.json", &*posts), ("users.json", &users)];
    files.extend(tables.iter().map(|(name, rows)| (&**name, &**rows)));
    run(&files).unwrap()
}

fn backup(tables: &[(&str, Value)]) -> (Kept, VoteTotals) {
    backup_of(&serde_json::from_str(&posts()).unwrap(), tables)
}

fn post(columns: &Value) -> Kept {
    let mut post = json!({"id": 101, "number": 1, "title": "Dark mode", "slug": "dark-mode", "tenant_id": 1});
    post.as_object_mut().unwrap().append(&mut columns.as_object().unwrap().clone());
    backup_of(&json!([post]), &[]).0
}

#[test]
fn all_columns_of_a_post_are_read() {
    let (kept, votes) = backup_of(
        &json!([{
            "created_at": "2018-03-23T19:33:22.104Z", "description": "Please,\n@[Arya]", "id": 101, "is_approved": true,
            "language": "english", "number": 1, "original_id": null, "response": "On the way",
            "response_date": "2018-04-04T19:48:10+02:00", "response_user_id": 3, "search": "'dark':1A",
            "slug": "dark-mode", "status": 4, "tenant_id": 1, "title": " Dark\nmode ", "user_id": 2
        }]),
        &[
            ("tenants", json!([{"id": 1, "cname": "ideas.acme.example", "is_private": false}])),
            ("tags", json!([{"id": 1, "name": "ui", "is_public": true}, {"id": 2, "name": "a, b"}])),
            ("post_tags", json!([{"post_id": 101, "tag_id": 2}, {"post_id": 101, "tag_id": 1}])),
        ],
    );
    let person =
        |email: &str, name: &str| Some(Person { key: PersonKey::Email(email.to_owned()), name: Some(name.to_owned()) });
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "1".to_owned(),
                title: "Dark mode".to_owned(),
                description: "Please,\n@Arya".to_owned(),
                status: Some("Planned".to_owned()),
                tags: vec!["ui".to_owned(), "a, b".to_owned()],
                is_private: false,
                awaits_approval: false,
                author: person("Bob@x.example", "Bob"),
                is_team: false,
                nameless_votes: 0,
                created_at: Timestamp::parse("2018-03-23T19:33:22.104Z"),
                url: Some("https://ideas.acme.example/posts/1/dark-mode".to_owned()),
                merged_into: None,
                origin: Origin { file: 0, line: 1 },
            }),
            Record::Comment(Comment {
                external_id: "response-1".to_owned(),
                request: "1".to_owned(),
                body: "On the way".to_owned(),
                author: person("arya@x.example", "Arya"),
                is_team: true,
                is_held: false,
                created_at: Timestamp::parse("2018-04-04T17:48:10Z"),
                origin: Origin { file: 0, line: 1 },
            }),
        ]
    );
    assert_eq!(votes, VoteTotals::default());
    assert!(kept.problems.is_empty() && kept.lost.is_empty() && kept.rejected.is_empty());
}

#[test]
fn most_columns_may_be_missing_or_null() {
    for post in [
        json!({"number": 7, "title": 2_024_202_420, "id": null, "slug": null, "user_id": null, "description": null,
               "status": null, "is_approved": null, "response": null, "response_date": null, "created_at": null}),
        json!({"number": "7", "title": "2024202420", "slug": [], "user_id": {}, "tenant_id": 1}),
    ] {
        let (kept, _) = backup_of(&json!([post]), &[]);
        assert_eq!(
            *kept.request(),
            FeatureRequest {
                external_id: "7".to_owned(),
                title: "2024202420".to_owned(),
                description: String::new(),
                status: None,
                tags: Vec::new(),
                is_private: false,
                awaits_approval: false,
                author: None,
                is_team: false,
                nameless_votes: 0,
                created_at: None,
                url: Some("/posts/7".to_owned()),
                merged_into: None,
                origin: Origin { file: 0, line: 1 },
            }
        );
        assert!(kept.problems.is_empty(), "{:?}", kept.problems());
    }
    // Without a number, the id is the external id, and without both a digest.
    let posts = json!([
        {"id": 101, "title": "a", "tenant_id": 1, "slug": "a", "user_id": 1},
        {"title": "b", "created_at": "2024-05-01"},
        {"title": "b", "created_at": "2024-05-02"},
        {"id": 104, "number": 4, "title": "c", "status": 5, "original_id": 101},
    ]);
    let (kept, votes) = backup_of(&posts, &[("post_votes", json!([{"post_id": 101, "user_id": 1}]))]);
    let requests = kept.requests();
    let ids: HashSet<_> = requests.iter().map(|request| (&*request.external_id, request.external_id.len())).collect();
    assert!(ids.contains(&("id-101", 6)) && ids.iter().filter(|(_, length)| *length == 32).count() == 2);
    assert_eq!((requests[0].url.as_deref(), requests[3].merged_into.as_deref()), (None, Some("id-101")));
    assert_eq!((kept.votes(), votes.voters), (vec![("id-101", "ann@x.example", None)], 1));
}

#[test]
fn a_status_is_a_name_and_a_deleted_post_is_skipped() {
    for (status, name) in [
        (json!(0), Some("Open")),
        (json!(1), Some("Started")),
        (json!(2), Some("Completed")),
        (json!(3), Some("Declined")),
        (json!("4"), Some("Planned")),
        (json!("completed"), Some("Completed")),
        (json!("In\nreview"), Some("In review")),
        (json!(null), None),
    ] {
        let kept = post(&json!({"status": status, "original_id": 101}));
        assert_eq!((kept.request().status.as_deref(), &kept.request().merged_into), (name, &None), "{status}");
        assert!(kept.problems.is_empty(), "{status}");
    }
    let kept = post(&json!({"status": 9}));
    assert_eq!(
        (&kept.request().status, kept.problems()),
        (&None, vec!["1 1 status=9 Ignored: no status has this number".to_owned()])
    );
    let kept = post(&json!({"status": 6, "title": ""}));
    assert_eq!((kept.records.len(), kept.problems.len()), (0, 0));
    assert_eq!(kept.lost(), [("deleted feature requests", 1, Some(Kind::FeatureRequests))]);
}

#[test]
fn a_duplicate_is_merged_into_its_original() {
    let duplicate = |id: u32, original: Value| json!({"id": 100 + id, "number": id, "title": "x", "status": 5, "original_id": original, "tenant_id": 1});
    let posts = json!([
        duplicate(1, json!(102)),
        duplicate(2, json!(101)),
        duplicate(3, json!(null)),
        duplicate(4, json!(999)),
        duplicate(5, json!(106)),
        {"id": 106, "number": 6, "title": "gone", "status": 6},
    ]);
    let (kept, _) = backup_of(&posts, &[]);
    let merged: Vec<_> = kept.requests().iter().map(|request| request.merged_into.as_deref()).collect();
    assert_eq!(merged, [Some("2"), Some("1"), None, None, None]);
    assert!(kept.requests().iter().all(|request| request.status.as_deref() == Some("Declined")));
    let problem = "Ignored: the feature request of which it is a duplicate is not imported: it is not merged";
    assert_eq!(
        kept.problems(),
        [
            format!("1 3 original_id= {problem}"),
            format!("1 4 original_id=999 {problem}"),
            format!("1 5 original_id=106 {problem}")
        ]
    );
}

#[test]
fn a_post_that_is_not_approved_awaits_approval() {
    for (value, awaits_approval) in
        [(json!(false), true), (json!(0), true), (json!(true), false), (json!(1), false), (json!(null), false)]
    {
        let kept = post(&json!({"is_approved": value}));
        assert_eq!((kept.request().is_private, kept.request().awaits_approval), (awaits_approval, awaits_approval));
    }
    let kept = post(&json!({"is_approved": "perhaps"}));
    assert!(kept.request().awaits_approval);
    assert_eq!(kept.problems(), ["1 1 is_approved=perhaps Changed: the value is neither yes nor no: it counts as no"]);
}

#[test]
fn a_post_that_cannot_be_a_feature_request_is_rejected_with_its_bytes() {
    let large = format!(r#"{{"id":9,"title":"{}"}}"#, "x".repeat(MAX_RECORD_BYTES));
    let deep = format!(r#"{{"id":10,"title":"deep","x":{}{}}}"#, "[".repeat(64), "]".repeat(64));
    let elements = [
        r#"{"id":101,"number":1,"title":"one","tenant_id":1,"slug":"one"}"#,
        r#"{"id":102,"number":2,"title":" \u200b"}"#,
        r#"{"id":101,"number":3,"title":"same id"}"#,
        r#"{"id":104,"number":1,"title":"same number"}"#,
        r#"{"id":101,"number":1,"title":"same"}"#,
        r#"{"id":105,"number":5,"title":"a\u0000b"}"#,
        r#""text""#,
        r#"{"id":106,"number":6,"title":}"#,
        &large,
        &deep,
        r#"{"id":103,"number":3,"title":"three"}"#,
    ];
    let file = format!("[{}]", elements.join(",\n"));
    let (kept, _) = run(&[("posts.json", &file), ("users.json", "[]")]).unwrap();
    assert_eq!(
        kept.problems(),
        [
            "2 2 title= \u{200b} Rejected: the title is blank",
            "3 3 id=101 Rejected: an earlier record has the same id",
            "4 1 id=104 Rejected: an earlier record has the same id",
            "5 1 id=101 Rejected: an earlier record has the same id",
            "6 Rejected: the record has a NUL character",
            "7 Rejected: the record is no object in JSON",
            "8 Rejected: the record is no object in JSON",
            "9 Rejected: the record is larger than 4 MB",
            "10 Rejected: the record has more than 64 levels of lists and objects",
        ]
    );
    assert_eq!(kept.rejected(0), format!("[{}", elements[1..10].join(",\n")));
    assert_eq!(kept.kinds, [Kind::FeatureRequests; 9]);
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["1", "3"]);
}

#[test]
fn votes_for_a_rejected_post_are_for_an_unknown_one() {
    let posts = json!([{"id": 101, "number": 1, "title": "", "tenant_id": 1, "slug": ""}]);
    let (kept, votes) =
        backup_of(&posts, &[("post_votes", json!([{"post_id": 101, "user_id": 1}, {"post_id": 101, "user_id": 4}]))]);
    assert_eq!((kept.records.len(), votes), (0, VoteTotals::default()));
    assert_eq!(kept.lost(), [("votes for unknown feature requests", 2, Some(Kind::Votes))]);
}

#[test]
fn other_bad_values_are_listed() {
    let title = "x".repeat(201);
    let kept = post(&json!({
        "title": title, "created_at": "2024-13-45", "user_id": 99, "response": "No", "response_user_id": "Arya",
        "response_date": "2999-01-01T00:00:00Z", "slug": "a b",
    }));
    assert_eq!(
        kept.problems(),
        [
            format!(
                "1 1 title={}… Changed: the title is longer than 200 characters: it is cut, and whole before the description",
                &title[..79]
            ),
            "1 1 user_id=99 Ignored: there is no user with this id".to_owned(),
            "1 1 created_at=2024-13-45 Changed: the time cannot be read".to_owned(),
            "1 1 response_user_id=Arya Ignored: there is no user with this id".to_owned(),
            "1 1 response_date=2999-01-01T00:00:00Z Changed: the time is in the future".to_owned(),
        ]
    );
    let request = kept.request();
    assert_eq!((request.title.chars().count(), &request.description), (200, &title));
    assert_eq!((request.created_at, &request.author, request.url.as_deref()), (None, &None, Some("/posts/1")));
    let [comment] = kept.comments()[..] else { panic!() };
    assert_eq!((&comment.author, comment.created_at, comment.is_team), (&None, None, true));
}

#[test]
fn people_are_customers_or_the_team_unless_they_are_deleted() {
    let users = json!([
        {"id": 1, "name": " Ann\nLee ", "email": " Ann@x.example ", "role": 1, "status": 1, "api_key": "secret"},
        {"id": "2", "name": "Eve", "email": "", "role": "2", "status": 1},
        {"id": 3, "name": "Gone", "email": "gone@x.example", "role": 3, "status": 2},
        {"id": 4, "name": null, "email": "not an address", "role": "admin", "status": null},
        {"id": 1, "name": "Second"},
        {"name": "Nobody"},
        "text",
    ]);
    let comments: Vec<_> = (1..=4).map(|id| json!({"id": id, "post_id": 101, "user_id": id, "content": "x"})).collect();
    let (comments, users) = (json!(comments).to_string(), users.to_string());
    let (kept, _) = run(&[("posts.json", &posts()), ("users.json", &users), ("comments.json", &comments)]).unwrap();
    let authors: Vec<_> = kept.comments().iter().map(|comment| (comment.author.clone(), comment.is_team)).collect();
    let person = |key, name: Option<&str>| Some(Person { key, name: name.map(str::to_owned) });
    assert_eq!(
        authors,
        [
            (person(PersonKey::Email("Ann@x.example".to_owned()), Some("Ann Lee")), false),
            (person(PersonKey::ExternalId("2".to_owned()), Some("Eve")), true),
            (None, true),
            (person(PersonKey::ExternalId("4".to_owned()), None), false),
        ]
    );
    assert_eq!(
        kept.problems(),
        [
            "1 4 role=admin Ignored: the value is no whole number",
            "1 4 email=not an address Ignored: email is not a valid e-mail address",
            "1 1 id=1 Ignored: an earlier record has the same id",
            "1 id= Ignored: the id is blank",
            "1 Ignored: the record is no object in JSON",
        ]
    );
    assert!(kept.rejected.is_empty());
}

#[test]
fn votes_are_counted() {
    let vote =
        |post: Value, user: Value| json!({"post_id": post, "user_id": user, "created_at": "2018-03-18T00:00:00Z"});
    let users = json!([
        {"id": 1, "email": "ann@x.example"}, {"id": 2, "email": "ANN@x.example"}, {"id": 3, "email": ""},
        {"id": 4, "status": 2},
    ]);
    let votes = json!([
        vote(json!(101), json!(1)),
        vote(json!(101), json!(1)),
        vote(json!("101"), json!("2")),
        vote(json!(101), json!(3)),
        vote(json!(101), json!(4)),
        vote(json!(101), json!(9)),
        vote(json!(102), json!(null)),
        vote(json!(102), json!(1)),
        vote(json!(103), json!(1)),
        vote(json!(999), json!(1)),
        vote(json!(null), json!(1)),
        {"post_id": 102, "user_id": 3, "created_at": "soon"},
        7,
    ]);
    let (users, votes) = (users.to_string(), votes.to_string());
    let files = [("posts.json", &*posts()), ("users.json", &users), ("post_votes.json", &votes)];
    let (kept, totals) = run(&files).unwrap();
    let expected = [("1", "ann@x.example"), ("1", "3"), ("2", "ann@x.example"), ("2", "3")];
    assert_eq!(kept.votes(), expected.map(|(request, key)| (request, key, None)));
    let nameless: Vec<_> = kept.requests().iter().map(|request| request.nameless_votes).collect();
    assert_eq!(nameless, [2, 1]);
    assert_eq!(totals, VoteTotals { voters: 4, nameless: 3, doubles: 2 });
    assert_eq!(
        kept.problems(),
        [
            "1 1 user_id=9 Changed: there is no user with this id: the vote has no name",
            "1 2 user_id= Changed: there is no user with this id: the vote has no name",
            "1 post_id=999 Skipped: there is no feature request with this id",
            "1 post_id= Skipped: the id of the feature request is blank",
            "1 2 created_at=soon Changed: the time cannot be read",
            "1 Rejected: the record is no object in JSON",
        ]
    );
    assert_eq!((kept.rejected(2), &*kept.kinds), ("[7", &[Kind::Votes][..]));
    assert_eq!(
        kept.lost()[1..],
        [
            ("votes for deleted feature requests", 1, Some(Kind::Votes)),
            ("votes for unknown feature requests", 2, Some(Kind::Votes)),
        ]
    );
    let Record::Vote(vote) = &kept.records[2] else { panic!() };
    assert_eq!(vote.created_at, Timestamp::parse("2018-03-18T00:00:00Z"));
}

#[test]
fn subscribers_have_votes_or_are_subscriptions() {
    let row = |post: u32, user: u32, status: Value| json!({"post_id": post, "user_id": user, "status": status, "created_at": "2018-03-23T19:33:22Z"});
    let (kept, _) = backup(&[
        ("post_votes", json!([row(101, 1, json!(null)), row(101, 2, json!(null)), row(101, 5, json!(null))])),
        (
            "post_subscribers",
            json!([
                row(101, 1, json!(1)),
                row(101, 2, json!(0)),
                row(101, 3, json!(1)),
                row(102, 1, json!(1)),
                row(102, 1, json!(1)),
                row(102, 2, json!(0)),
                row(102, 4, json!(1)),
                row(102, 9, json!(1)),
                row(103, 1, json!(1)),
                row(999, 1, json!(1)),
                row(102, 5, json!("perhaps")),
                row(102, 5, json!(null)),
            ]),
        ),
    ]);
    let votes = [("1", "ann@x.example", Some(true)), ("1", "Bob@x.example", Some(false)), ("1", "5", None)];
    assert_eq!(kept.votes(), votes);
    assert_eq!(kept.subscriptions(), [("1", "arya@x.example"), ("2", "ann@x.example")]);
    let subscription = kept.records.iter().find(|record| matches!(record, Record::Subscription(_))).unwrap();
    let name = Some("Arya".to_owned());
    assert_eq!(
        *subscription,
        Record::Subscription(Subscription {
            request: "1".to_owned(),
            person: Person { key: PersonKey::Email("arya@x.example".to_owned()), name },
            created_at: Timestamp::parse("2018-03-23T19:33:22Z"),
            origin: Origin { file: 3, line: 1 },
        })
    );
    assert_eq!(
        kept.problems(),
        [
            "1 status=perhaps Ignored: the status is neither 0 nor 1",
            "1 status= Ignored: the status is neither 0 nor 1",
            "1 post_id=999 Skipped: there is no feature request with this id",
        ]
    );
    assert_eq!(
        kept.lost()[1..],
        [
            ("subscriptions of nobody who is known", 2, Some(Kind::Subscriptions)),
            ("subscriptions to deleted feature requests", 1, Some(Kind::Subscriptions)),
            ("subscriptions to unknown feature requests", 1, Some(Kind::Subscriptions)),
        ]
    );
}

#[test]
fn comments_are_read() {
    let comment = |id: Value, post: u32, user: u32, content: &str| json!({"id": id, "post_id": post, "user_id": user, "content": content, "created_at": "2018-03-24T08:00:00Z"});
    let with = |mut comment: Value, key: &str, value: Value| {
        comment[key] = value;
        comment
    };
    let (kept, _) = backup(&[(
        "comments",
        json!([
            comment(json!(1), 101, 1, "Yes,\n@[Arya]"),
            with(comment(json!(2), 101, 3, "On it"), "is_approved", json!(false)),
            with(comment(json!(3), 101, 1, "spam?"), "is_approved", json!(false)),
            with(comment(json!(4), 101, 1, "oops"), "deleted_at", json!("2018-03-24T09:00:00Z")),
            comment(json!(5), 101, 1, " \n"),
            comment(json!(1), 102, 1, "again"),
            comment(json!(6), 103, 1, "gone"),
            comment(json!(7), 999, 1, "lost"),
            comment(json!(8), 102, 4, "by nobody"),
            comment(json!(null), 102, 1, "no id"),
            comment(json!(null), 102, 1, "no id"),
            with(comment(json!(9), 102, 1, "12"), "content", json!(12)),
        ]),
    )]);
    let found: Vec<_> = kept
        .comments()
        .iter()
        .map(|comment| {
            (&*comment.request, &*comment.body, comment.author.as_ref().map(key), comment.is_team, comment.is_held)
        })
        .collect();
    let ann = Some("ann@x.example");
    assert_eq!(
        found,
        [
            ("1", "Yes,\n@Arya", ann, false, false),
            ("1", "On it", Some("arya@x.example"), true, false),
            ("1", "spam?", ann, false, true),
            ("2", "by nobody", None, false, false),
            ("2", "no id", ann, false, false),
            ("2", "12", ann, false, false),
        ]
    );
    let first = kept.comments()[0];
    assert_eq!((first.external_id.as_str(), first.created_at), ("1", Timestamp::parse("2018-03-24T08:00:00Z")));
    let id = &kept.comments()[4].external_id;
    assert_eq!(
        kept.problems(),
        [
            "1 5 content= \u{fffd} Rejected: the text is blank".to_owned(),
            "1 1 id=1 Rejected: an earlier record has the same id".to_owned(),
            "1 post_id=999 Skipped: there is no feature request with this id".to_owned(),
            format!("1 {id} id= Rejected: an earlier record has the same id"),
        ]
    );
    assert_eq!(kept.kinds, [Kind::Comments; 3]);
    let rejected: Vec<Value> = serde_json::from_str(&format!("{}]", kept.rejected(2))).unwrap();
    assert_eq!(rejected.iter().map(|comment| &comment["id"]).collect::<Vec<_>>(), [&json!(5), &json!(1), &json!(null)]);
    assert_eq!(
        kept.lost()[1..],
        [
            ("comments on deleted feature requests", 1, Some(Kind::Comments)),
            ("comments on unknown feature requests", 1, Some(Kind::Comments)),
            ("deleted comments", 1, Some(Kind::Comments)),
        ]
    );
}

#[test]
fn a_tag_that_is_not_public_is_a_note() {
    let long = "y".repeat(51);
    let mut tags: Vec<_> = (0..21).map(|id| json!({"id": id, "name": format!("t{id}")})).collect();
    tags.extend([
        json!({"id": 30, "name": "big\ndeal", "is_public": false}),
        json!({"id": 31, "name": long}),
        json!({"id": 32, "name": " "}),
        json!({"id": 33, "name": "T0"}),
        json!({"id": 34, "name": "odd", "is_public": "perhaps"}),
        json!({"id": 30, "name": "again"}),
    ]);
    let tagged = |post: u32, tag: u32| json!({"post_id": post, "tag_id": tag, "created_by_id": 3, "created_at": "2018-03-23T19:33:22Z"});
    let mut post_tags: Vec<_> = (0..21).map(|id| tagged(102, id)).collect();
    for (post, tag) in [(101, 30), (101, 30), (101, 31), (101, 0), (101, 33), (101, 99), (103, 30), (999, 30)] {
        post_tags.push(tagged(post, tag));
    }
    let (kept, _) = backup(&[("tags", json!(tags)), ("post_tags", json!(post_tags))]);
    let tags: Vec<_> = kept.requests().iter().map(|request| request.tags.clone()).collect();
    assert_eq!(tags, [vec!["t0".to_owned()], (0..20).map(|id| format!("t{id}")).collect::<Vec<_>>()]);
    let notes: Vec<_> = kept.records.iter().filter(|record| matches!(record, Record::Note(_))).collect();
    assert_eq!(
        notes,
        [&Record::Note(Note {
            is_team: true,
            external_id: "tag-30-1".to_owned(),
            request: "1".to_owned(),
            body: "Private tag: big deal".to_owned(),
            author: Some(Person { key: PersonKey::Email("arya@x.example".to_owned()), name: Some("Arya".to_owned()) }),
            created_at: Timestamp::parse("2018-03-23T19:33:22Z"),
            origin: Origin { file: 3, line: 1 },
        })]
    );
    assert_eq!(
        kept.problems(),
        [
            "1 32 name=  Ignored: the name is blank".to_owned(),
            "1 34 is_public=perhaps Changed: the value is neither yes nor no: it counts as no".to_owned(),
            "1 30 id=30 Ignored: an earlier record has the same id".to_owned(),
            "1 tag_id=99 Ignored: there is no tag with this id".to_owned(),
            format!("1 1 tags={long} Ignored: tags have at most 50 characters"),
            "1 2 tags=t20 Ignored: a feature request has at most 20 tags: 1 are left out".to_owned(),
            "1 post_id=999 Skipped: there is no feature request with this id".to_owned(),
        ]
    );
    assert_eq!(
        kept.lost()[1..],
        [
            ("private tags of deleted feature requests", 1, Some(Kind::Notes)),
            ("private tags of unknown feature requests", 1, Some(Kind::Notes)),
        ]
    );
}

/// A key as Fider makes it.
const KEY: &str = "attachments/Q1w2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C2v3B4n5M6q7W8e9R0t1Y2-shot.png";

#[test]
fn pictures_of_the_backup_are_files() {
    let posts = json!([
        {"id": 101, "number": 1, "title": "a", "tenant_id": 1, "slug": "a",
         "description": format!("![The shot](fider-image:{KEY}) ![](fider-image:attachments/ü.png)")},
        {"id": 102, "number": 2, "title": "b", "response": format!("see ![](fider-image:{KEY})")},
        {"id": 103, "number": 3, "title": "c", "description": "![a](fider-image:x/b.png) ![](fider-image:x/no[t].png)"},
        {"id": 104, "number": 4, "title": "d", "description": "old"},
    ])
    .to_string();
    let attachments = json!([
        {"post_id": 101, "comment_id": null, "attachment_bkey": KEY},
        {"post_id": 104, "comment_id": null, "attachment_bkey": "attachments/one.png"},
        {"post_id": 104, "comment_id": null, "attachment_bkey": KEY},
        {"post_id": 104, "comment_id": 7, "attachment_bkey": "attachments/two.png"},
        {"post_id": 104, "comment_id": null, "attachment_bkey": "attachments/missing.png"},
    ])
    .to_string();
    let comments = json!([{"id": 7, "post_id": 104, "content": "", "user_id": 1}]).to_string();
    let blob = format!("blobs/{KEY}");
    let files = [
        ("posts.json", &*posts),
        ("attachments.json", &attachments),
        ("comments.json", &comments),
        ("users.json", &users()),
        (&blob, "PNG"),
        ("blobs/attachments/ü.png", "PNG"),
        ("blobs/attachments/one.png", "PNG"),
        ("blobs/attachments/two.png", "PNG"),
        ("blobs/logos/logo.png", "PNG"),
    ];
    let (kept, _) = run(&files).unwrap();
    let digest = crate::sources::csv::values::digest(&["attachments/ü.png"]);
    let descriptions: Vec<_> = kept.requests().iter().map(|request| request.description.as_str()).collect();
    assert_eq!(
        descriptions,
        [
            &*format!("![The shot](import-file:{KEY}) ![](import-file:{digest})"),
            "",
            "a not.png",
            &format!("old\n\n![](import-file:attachments/one.png)\n\n![](import-file:{KEY})"),
        ]
    );
    let bodies: Vec<_> = kept.comments().iter().map(|comment| comment.body.as_str()).collect();
    assert_eq!(bodies, [&*format!("see ![](import-file:{KEY})"), "![](import-file:attachments/two.png)"]);
    // Each file comes once, before the first text that has it.
    let order: Vec<_> = kept
        .records
        .iter()
        .map(|record| match record {
            Record::File(File { external_id, name, origin }) => format!("{external_id} {name} {}", origin.file),
            Record::FeatureRequest(request) => request.external_id.clone(),
            Record::Comment(comment) => comment.external_id.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    let shot = format!("{KEY} shot.png 4");
    let named = format!("{digest} ü.png 5");
    let (one, two) = ("attachments/one.png one.png 6", "attachments/two.png two.png 7");
    assert_eq!(order, [&*shot, &named, "1", "2", "response-2", "3", one, "4", two, "7"]);
    assert_eq!(
        kept.problems(),
        [
            "1 attachment_bkey=attachments/missing.png Ignored: the file is not in the backup",
            "1 3 description=x/b.png Changed: the picture is not in the backup: its name is in its place",
            "1 3 description=x/no[t].png Changed: the picture is not in the backup: its name is in its place",
        ]
    );
    assert_eq!(kept.lost(), [("files that no text has", 1, None)]);
}

#[test]
fn a_text_has_a_hundred_attached_files_at_most() {
    let keys: Vec<String> = (0..102).map(|n| format!("attachments/{n}.png")).collect();
    let rows: Vec<_> = keys.iter().map(|key| json!({"post_id": 101, "attachment_bkey": key})).collect();
    let mut files = inputs(&[("posts.json", &posts()), ("users.json", &users())]);
    files.push(Input::from_bytes("attachments.json", json!(rows).to_string().into_bytes()));
    files.extend(keys.iter().map(|key| Input::from_bytes(format!("blobs/{key}"), *b"PNG")));
    let mut kept = Kept::default();
    convert(&files, &options(), &mut kept).unwrap();
    assert_eq!(kept.requests()[0].description.matches("![](import-file:").count(), 100);
    assert_eq!(kept.problems(), ["1 1 Ignored: a text has at most 100 attached files: 2 are left out"]);
    assert_eq!(kept.lost()[0], ("files that no text has", 2, None));
}

#[test]
fn a_picture_that_is_missing_becomes_a_link_if_the_site_has_a_host() {
    let posts = json!([{"id": 101, "number": 1, "title": "a", "tenant_id": 1, "slug": "a",
        "description": format!("![](fider-image:{KEY}) ![A](fider-image:ü)")}]);
    let (kept, _) = backup_of(&posts, &[("tenants", json!([{"cname": "ideas.acme.example"}]))]);
    assert_eq!(kept.request().description, format!("[shot.png](https://ideas.acme.example/static/images/{KEY}) A"));
    let shown: String = KEY.chars().take(79).collect();
    assert_eq!(
        kept.problems(),
        [
            format!("1 1 description={shown}… Changed: the picture is not in the backup: a link is in its place"),
            "1 1 description=ü Changed: the picture is not in the backup: its name is in its place".to_owned(),
        ]
    );
}

#[test]
fn what_a_private_site_has_stays_private() {
    let (kept, _) = backup(&[("tenants", json!([{"cname": "bad host", "is_private": true}]))]);
    assert_eq!(kept.requests()[0].url.as_deref(), Some("/posts/1/p"));
    assert!(kept.requests().iter().all(|request| request.is_private && !request.awaits_approval));
    assert_eq!(
        kept.problems(),
        ["1 is_private=true Changed: the whole site is private: its feature requests are private here"]
    );
}

#[test]
fn files_of_a_backup_are_found_by_their_names() {
    let (posts, users) = (posts(), users());
    // A table that is never read need not be readable.
    let (kept, _) = run(&[
        ("posts.json", &posts),
        ("users.json", &users),
        ("oauth_providers.json", "secret"),
        ("email_verifications.json", ""),
        ("user_providers.json", "["),
        ("notifications.json", "{}"),
        ("user_settings.json", "\0"),
        ("README.md", "# Backup"),
        ("old/users.json", "[]"),
        ("posts.csv", "number,title,original_number\n9,nine,\n"),
    ])
    .unwrap();
    assert_eq!(kept.requests().len(), 2);
    assert_eq!(kept.problems(), ["Skipped: the file is no table of a known kind"; 3]);
    let files: Vec<_> = kept.problems.iter().map(|problem| problem.file.as_str()).collect();
    assert_eq!(files, ["README.md", "old/users.json", "posts.csv"]);

    // A backup may be in a folder.
    let blob = format!("b/blobs/{KEY}");
    let with_picture = json!([{"id": 1, "number": 1, "title": "a", "slug": "", "tenant_id": 1, "user_id": 1,
        "description": format!("![](fider-image:{KEY})")}])
    .to_string();
    let (kept, _) =
        run(&[("b/posts.json", &*with_picture), ("b/users.json", &users), (&blob, "PNG"), ("c/posts.json", "{}")])
            .unwrap();
    assert_eq!((kept.requests().len(), kept.records.len(), kept.problems.len()), (1, 2, 1));

    // The posts alone, whatever their name.
    for name in ["posts.json", "export (1).json"] {
        let (kept, _) = run(&[(name, &posts)]).unwrap();
        assert_eq!(kept.requests().len(), 2);
        assert_eq!(
            kept.problems(),
            ["Ignored: there is no `users.json` beside it: nobody is an author, and no vote has a name"]
        );
    }
    let votes = json!([{"post_id": 101, "user_id": 1}, {"post_id": 101, "user_id": 2}]).to_string();
    let (kept, totals) = run(&[("posts.json", &posts), ("post_votes.json", &votes)]).unwrap();
    assert_eq!((kept.requests()[0].nameless_votes, totals), (2, VoteTotals { nameless: 2, ..VoteTotals::default() }));

    let (kept, _) = run(&[("posts.json", "[]"), ("post_votes.json", "[]"), ("users.json", "[]")]).unwrap();
    assert!(kept.records.is_empty() && kept.problems.is_empty());
}

#[test]
fn inputs_of_other_programs_are_refused() {
    let none = "there is neither a `posts.json` of a backup nor a `posts.csv` of Fider";
    let other =
        |file: &str, source: &str| format!("`{file}` is not of Fider: it looks like a file of the source `{source}`");
    let canny = r#"{"hasMore":false,"posts":[{"id":"a","title":"b","status":"open"}]}"#;
    let issue = r#"[{"number":1,"title":"a","html_url":"https://github.example/1","labels":[]}]"#;
    for (files, message) in [
        (vec![], none.to_owned()),
        (vec![("README.md", "# x")], none.to_owned()),
        (vec![("posts.json", "[]")], none.to_owned()),
        (vec![("posts.json", "")], none.to_owned()),
        (vec![("users.json", "[]"), ("comments.json", "[]")], none.to_owned()),
        (vec![("picture.png", "\u{0}PNG")], none.to_owned()),
        (vec![("posts.json", canny)], other("posts.json", "canny")),
        (vec![("x/posts.json", canny), ("x/votes.json", "{}")], other("x/posts.json", "canny")),
        (vec![("issues\u{1b}.json", issue)], other("issues\u{fffd}.json", "github")),
        (vec![("a.csv", "Idea Id,Idea Title\n")], other("a.csv", "uservoice")),
        (vec![("a.csv", "id,title,votes\n")], other("a.csv", "csv")),
        (vec![("a.csv", "id,name,voteValue\n")], other("a.csv", "clearflask")),
        (vec![("posts.csv", "id,title,board_id,post_status_id\n")], other("posts.csv", "astuto")),
        (vec![("posts.csv", "postId,title,slugId\n")], other("posts.csv", "logchimp")),
        (vec![("a.csv", "colour\n"), ("b.csv", "")], none.to_owned()),
        (vec![("a.txt", "number,title,responded_at\n"), ("b.txt", "")], none.to_owned()),
    ] {
        let inputs = inputs(&files);
        assert!(!recognizes(&inputs), "{files:?}");
        let mut kept = Kept::default();
        assert_eq!(convert(&inputs, &options(), &mut kept).unwrap_err().to_string(), message, "{files:?}");
        assert!(kept.records.is_empty() && kept.problems.is_empty());
    }
    for files in [
        vec![("posts.json", &*posts())],
        vec![("posts.json", "\u{feff}null\n"), ("post_votes.json", "[]")],
        vec![("a.txt", "Number;Title;Responded at\n")],
        vec![("a.csv", "colour\n"), ("export.CSV", "tags,title,original_number,number\n")],
        vec![("posts.json", canny), ("posts.csv", "number,title,responded_by\n")],
    ] {
        assert!(recognizes(&inputs(&files)), "{files:?}");
    }
}

#[test]
fn a_broken_table_ends_the_conversion() {
    let posts = posts();
    let cut = &posts[..posts.len() - 5];
    for (files, message) in [
        (
            vec![("posts.json", cut)],
            "`posts.json` cannot be imported: the file ends in line 1, before its list does: it is not complete",
        ),
        (vec![("posts.json", &*posts), ("users.json", "")], "`users.json` cannot be imported: the file is empty"),
        (
            vec![("posts.json", &*posts), ("post_votes.json", "{}")],
            "`post_votes.json` cannot be imported: the file is no list in JSON",
        ),
        (
            vec![("posts.json", &*posts), ("comments.json", "[{}\n{}]")],
            "`comments.json` cannot be imported: line 2 is no JSON",
        ),
        (
            vec![("posts.csv", "number,title,Title,responded_at\n")],
            "there is neither a `posts.json` of a backup nor a `posts.csv` of Fider",
        ),
    ] {
        assert_eq!(run(&files).err().unwrap(), message);
    }
}

/// The header of `posts.csv`.
const HEADER: &str = "number,title,description,created_at,created_by,votes_count,comments_count,status,responded_by,\
                      responded_at,response,original_number,original_title,tags";

#[test]
fn all_columns_of_a_csv_are_read() {
    let rows = "7,\" Dark\nmode \",'=1+1,2018-02-21T15:51:35+02:00,Ann,3,2,duplicate,Arya,2018-04-04T19:48:10Z,\"On,\nit\",2,Other,\"ui, a,b,  , UI\"\n";
    let (kept, votes) = run(&[("posts.csv", &format!("{HEADER}\n{rows}"))]).unwrap();
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "7".to_owned(),
                title: "Dark mode".to_owned(),
                description: "'=1+1".to_owned(),
                status: Some("Declined".to_owned()),
                tags: vec!["ui".to_owned(), "a,b".to_owned()],
                is_private: false,
                awaits_approval: false,
                author: None,
                is_team: false,
                nameless_votes: 3,
                created_at: Timestamp::parse("2018-02-21T13:51:35Z"),
                url: Some("/posts/7".to_owned()),
                merged_into: Some("2".to_owned()),
                origin: Origin { file: 0, line: 2 },
            }),
            Record::Comment(Comment {
                external_id: "response-7".to_owned(),
                request: "7".to_owned(),
                body: "On,\nit".to_owned(),
                author: None,
                is_team: true,
                is_held: false,
                created_at: Timestamp::parse("2018-04-04T19:48:10Z"),
                origin: Origin { file: 0, line: 2 },
            }),
        ]
    );
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 3, doubles: 0 });
    assert_eq!(
        kept.problems(),
        ["Ignored: the file has no voters, comments and addresses: the `backup.zip` of Fider also has these"]
    );
    assert_eq!(kept.lost(), [("comments", 2, None), ("names without an address", 2, None)]);
}

#[test]
fn columns_of_a_csv_may_have_older_names_or_be_missing() {
    let (kept, votes) = run(&[(
        "posts.csv",
        "total_votes,title,total_comments,number,responded_on,created_on,status,colour\n\
         4,Go,2,10,,2018-03-23T19:33:22Z,Started,red\n\
         ,Went,,A-1,,,Rejected by us,\n\
         1,Gone,0,12,,,deleted,\n",
    )])
    .unwrap();
    let found: Vec<_> = kept
        .requests()
        .iter()
        .map(|request| (&*request.external_id, request.status.as_deref(), request.url.as_deref()))
        .collect();
    assert_eq!(found, [("10", Some("Started"), Some("/posts/10")), ("A-1", Some("Rejected by us"), None)]);
    assert_eq!(kept.requests()[0].created_at, Timestamp::parse("2018-03-23T19:33:22Z"));
    assert_eq!((votes.nameless, kept.comments().len()), (4, 0));
    assert_eq!(
        kept.lost(),
        [
            ("column colour", 1, None),
            ("comments", 2, None),
            ("deleted feature requests", 1, Some(Kind::FeatureRequests)),
        ]
    );
}

#[test]
fn bad_records_of_a_csv_are_rejected_and_bad_values_listed() {
    let long = "x".repeat(201);
    let large = format!("9,\"{}\",,\n", "x".repeat(MAX_RECORD_BYTES));
    let bad = format!("2, \u{200b},,\n1,again,,\n,one,,2024\n,one,,\n3,a\0b,,\n4\n{large}");
    let file = format!("number,title,votes_count,responded_at\n1,one,-4,\n,{long},many,\n{bad}5,five,,\n");
    let (kept, votes) = run(&[("posts.csv", &file)]).unwrap();
    let digest = |title: &str| crate::sources::csv::values::digest(&[title, ""]);
    let shown: String = long.chars().take(79).collect();
    assert_eq!(
        kept.problems()[1..],
        [
            "2 1 votes_count=-4 Changed: the count is below 0: it is 0".to_owned(),
            format!(
                "3 {} title={shown}… Changed: the title is longer than 200 characters: it is cut, and whole before the description",
                digest(&long)
            ),
            format!("3 {} votes_count=many Ignored: the count is no whole number", digest(&long)),
            "4 2 title= \u{200b} Rejected: the title is blank".to_owned(),
            "5 1 number=1 Rejected: an earlier record has the same id".to_owned(),
            format!(
                "7 {} title=one Rejected: an earlier record has the same title and time, and there is no number",
                digest("one")
            ),
            "8 Rejected: the record has a NUL character".to_owned(),
            "9 Rejected: the record has 1 cells, but the header has 4".to_owned(),
            "10 Rejected: the record is larger than 4 MB, up to line 10".to_owned(),
        ]
    );
    let kept_line = ",one,,2024\n";
    assert_eq!(kept.rejected(0), format!("number,title,votes_count,responded_at\n{}", bad.replace(kept_line, "")));
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.clone()).collect();
    assert_eq!(ids, ["1".to_owned(), digest(&long), digest("one"), "5".to_owned()]);
    assert_eq!(votes, VoteTotals::default());
}

#[test]
fn several_csvs_are_one_import() {
    let csv = "number,title,responded_at\n1,one,\n";
    let (kept, _) = run(&[("a.csv", csv), ("b.csv", csv), ("readme.txt", "x"), ("Backup.ZIP", "PK")]).unwrap();
    assert_eq!(kept.requests().len(), 1);
    assert_eq!((kept.rejected(0), kept.rejected(1)), ("", csv));
    assert_eq!(
        kept.problems().split_off(3),
        [
            "Skipped: the file is no table of a known kind",
            "Skipped: an archive beside other files is not opened: import it alone",
        ]
    );
    let mut kept = Kept::default();
    let windows = [Input::from_bytes("posts.csv", *b"number;title;responded_at\r\n1;\xdcber;\r\n")];
    convert(&windows, &options(), &mut kept).unwrap();
    assert_eq!(kept.request().title, "Über");
    assert_eq!(
        kept.problems()[0],
        "Changed: the encoding is not known, so the file is read as windows-1252: --encoding names another one"
    );
    let mut kept = Kept::default();
    let encoding = Some(encoding_rs::UTF_8);
    convert(&windows, &Options { encoding, ..options() }, &mut kept).unwrap();
    assert_eq!(kept.problems()[1..], ["2 Rejected: the record has bytes that are no UTF-8"]);
    assert_eq!(kept.rejected[&0], b"number;title;responded_at\r\n1;\xdcber;\r\n");
}

/// A backup that has something of each kind.
fn whole_backup() -> Vec<Input> {
    let blob = format!("blobs/{KEY}");
    let row = |post: u32, user: u32| json!({"post_id": post, "user_id": user, "status": 1, "tag_id": 1});
    let tables = [
        ("posts.json", serde_json::from_str(&posts()).unwrap()),
        ("users.json", serde_json::from_str(&users()).unwrap()),
        ("tags.json", json!([{"id": 1, "name": "deal", "is_public": false}, {"id": 2, "name": "ui"}])),
        ("post_tags.json", json!([row(101, 0), {"post_id": 101, "tag_id": 2}])),
        ("post_votes.json", json!([row(101, 1), row(101, 4), row(101, 9)])),
        ("post_subscribers.json", json!([row(101, 1), row(102, 1)])),
        ("attachments.json", json!([{"post_id": 101, "attachment_bkey": KEY}])),
        ("comments.json", json!([{"id": 1, "post_id": 101, "content": "x", "user_id": 1}, {"id": 2}])),
    ];
    let tables = tables.into_iter().map(|(name, rows)| Input::from_bytes(name, rows.to_string().into_bytes()));
    tables.chain([Input::from_bytes(blob, *b"PNG")]).collect()
}

#[test]
fn more_rows_than_can_be_remembered_are_refused() {
    let files = whole_backup();
    let csv = inputs(&[("posts.csv", "number,title,responded_at\n1,a,\n2,b,\n")]);
    // Posts 3 and 2 ids, users 5, tags 2, tagged 1, nameless 1, attachments 1, voters 1, a comment and a note. One of two
    // subscribers is forgotten before the last ones.
    for (files, most) in [(&files, 19), (&csv, 2)] {
        for max_records in 0..most {
            let error = convert(files, &Options { max_records, ..options() }, &mut Kept::default()).unwrap_err();
            assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
        }
        assert!(convert(files, &Options { max_records: most, ..options() }, &mut Kept::default()).is_ok());
    }
}

#[test]
fn a_file_that_cannot_be_read_and_a_full_disk_end_the_conversion() {
    for (name, text) in [("posts.json", posts()), ("posts.csv", "number,title,responded_at\n".to_owned())] {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let error = convert(&files, &options(), &mut Kept::default()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("`{name}` cannot be read: ")), "{error}");
        assert!(!recognizes(&files));
    }
    let csv = inputs(&[("posts.csv", "number,title,responded_at,response,colour\n1,a,,x,red\n2,,,,\n3\n"), ("b", "")]);
    for files in [whole_backup(), csv] {
        let mut whole = Kept::default();
        convert(&files, &options(), &mut whole).unwrap();
        let steps = whole.records.len() + whole.problems.len() + whole.lost.len() + whole.kinds.len();
        for space in 0..steps {
            let mut kept = Kept { space: Some(space), ..Kept::default() };
            let error = convert(&files, &options(), &mut kept).unwrap_err();
            assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
        }
        assert!(convert(&files, &options(), &mut Kept { space: Some(steps), ..Kept::default() }).is_ok());
    }
}

proptest! {
    /// No bytes make the conversion panic.
    #[test]
    fn any_bytes_are_read(
        name in prop::sample::select(&["posts.json", "users.json", "comments.json", "post_votes.json", "posts.csv"][..]),
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let mut files = whole_backup();
        files.retain(|input| input.name() != name);
        files.push(Input::from_bytes(name, bytes.clone()));
        let _ = convert(&files, &options(), &mut Kept::default());
        let alone = [Input::from_bytes(name, bytes)];
        prop_assert!(!recognizes(&alone));
    }

    /// Rows of any values are converted, votes add up, and nobody votes twice.
    #[test]
    fn any_rows_are_converted(
        posts in prop::collection::vec(("[0-3]?", "[0-3]?", "[a ]{0,2}", "[0-7]"), 0..6),
        votes in prop::collection::vec(("[0-4]?", "[0-6]?"), 0..12),
        value in prop::sample::select(vec![json!(null), json!(1.5), json!([[]]), json!({"a": 1}), json!("\u{0}"), json!(true)]),
    ) {
        let posts: Vec<_> = posts
            .into_iter()
            .map(|(id, number, title, status)| json!({"id": id, "number": number, "title": title, "status": status, "slug": value}))
            .chain([json!({"number": 9, "title": "last", "slug": "", "tenant_id": 1})])
            .rev()
            .collect();
        let votes: Vec<_> = votes.into_iter().map(|(post, user)| json!({"post_id": post, "user_id": user, "x": value})).collect();
        let (kept, totals) = backup_of(&json!(posts), &[("post_votes", json!(votes)), ("post_subscribers", json!(votes))]);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!((kept.votes().len() as u64, nameless), (totals.voters, totals.nameless));
        prop_assert!(totals.source() <= votes.len() as u64);
        let pairs: HashSet<_> = kept.votes().into_iter().collect();
        prop_assert_eq!(pairs.len(), kept.votes().len());
        let ids: HashSet<_> = kept.requests().iter().map(|request| &request.external_id).collect();
        prop_assert_eq!(ids.len(), kept.requests().len());
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.kinds.len());
    }
}
