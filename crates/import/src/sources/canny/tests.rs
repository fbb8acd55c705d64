//! Tables of cases for the conversion of list calls.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io;

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{
    Action, Changelog, Comment, FeatureRequest, Kind, Lost, Move, Note, Origin, Person, PersonKey, Problem, Record,
};

/// A sink that keeps everything.
#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    problems: Vec<Problem>,
    lost: Vec<Lost>,
    /// The rejected bytes of each file, with its head.
    rejected: BTreeMap<usize, Vec<u8>>,
    rejected_kinds: Vec<Kind>,
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

    /// The votes, as feature request and person.
    fn votes(&self) -> Vec<(&str, &str)> {
        let votes = self.records.iter().filter_map(|record| match record {
            Record::Vote(vote) => Some(match &vote.person.key {
                PersonKey::Email(key) | PersonKey::ExternalId(key) => (vote.request.as_str(), key.as_str()),
            }),
            _ => None,
        });
        votes.collect()
    }

    /// The comments and notes, as id and text. Notes begin with `note`.
    fn texts(&self) -> Vec<String> {
        let texts = self.records.iter().filter_map(|record| match record {
            Record::Comment(comment) => Some(format!("{} {}", comment.external_id, comment.body)),
            Record::Note(note) => Some(format!("note {} {}", note.external_id, note.body)),
            _ => None,
        });
        texts.collect()
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
        self.lost.iter().map(|lost| (lost.what.as_str(), lost.count, lost.kind)).collect()
    }

    /// What was rejected of a file, closed as an array.
    fn rejected(&self, file: usize) -> String {
        let bytes = self.rejected.get(&file).map_or(&b"["[..], Vec::as_slice);
        String::from_utf8(bytes.to_vec()).unwrap() + "]"
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
        self.lost.push(lost);
        self.take_space()
    }

    fn rejected(&mut self, kind: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()> {
        self.rejected_kinds.push(kind);
        original.read_to_end(self.rejected.entry(file).or_insert_with(|| head.to_vec()))?;
        self.take_space()
    }
}

fn options(max_records: usize) -> Options<'static> {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { encoding: None, dates, is_known: &|id| id == "known", max_records }
}

fn inputs(files: &[(&str, &str)]) -> Vec<Input> {
    files.iter().map(|(name, text)| Input::from_bytes(*name, text.as_bytes())).collect()
}

fn run(files: &[(&str, &str)]) -> Result<(Kept, VoteTotals), String> {
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(MAX_RECORDS), &mut kept) {
        Ok(votes) => Ok((kept, votes)),
        Err(error) => Err(error.to_string()),
    }
}

/// Converts one file.
fn of(text: &str) -> Kept {
    run(&[("canny.json", text)]).unwrap().0
}

/// Converts feature requests, as the elements of their list.
fn posts(elements: &str) -> Kept {
    of(&format!("{{\"hasMore\":false,\"posts\":[{elements}]}}"))
}

/// Converts a list beside a feature request `A`.
fn beside_a_post(list: &str, elements: &str) -> (Kept, VoteTotals) {
    run(&[("a.json", &format!("{{\"{list}\":[{elements}]}}")), ("b.json", r#"{"posts":[{"id":"A","title":"a"}]}"#)])
        .unwrap()
}

fn time(text: &str) -> Option<Timestamp> {
    Some(Timestamp::parse(text).unwrap())
}

fn person(email: &str, name: &str) -> Option<Person> {
    Some(Person { key: PersonKey::Email(email.to_owned()), name: Some(name.to_owned()) })
}

#[test]
fn all_fields_of_a_post_are_read() {
    let kept = posts(
        r#"{"title":" Dark\n mode","url":"https://a.example/p/1","tags":[{"name":"a, b"},{"name":"ui"},"UI",{"id":"x"}],
        "status":"in progress","score":7,"owner":{"id":"U9"},"jira":{"linkedIssues":[{"id":1},{"id":2}]},"clickup":{"linkedTasks":[{}]},
        "imageURLs":["HTTPS://a.example/1.png","javascript:alert(1)","http://","http://a>b",null],"id":"A","details":"one\ntwo","created":"2021-01-01T10:00:00.000Z",
        "category":{"name":"Web"},"board":{"id":"B","name":"Ideas","isPrivate":true},"by":{"id":"U2"},"eta":"March 2027",
        "customFields":[{"name":"Plan","value":"Pro"},{"name":"Seats","value":12},{"name":"Empty","value":null},{"name":"Many","value":["a","b"]}],
        "author":{"id":"U1","email":"Ann@Customer.example","name":" Ann ","isAdmin":true}}"#,
    );
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "A".to_owned(),
                title: "Dark mode".to_owned(),
                description: "one\ntwo\n\n<HTTPS://a.example/1.png>".to_owned(),
                status: Some("in progress".to_owned()),
                tags: ["a, b", "ui", "Web", "Ideas"].map(str::to_owned).to_vec(),
                is_private: true,
                awaits_approval: false,
                author: person("Ann@Customer.example", "Ann"),
                is_team: true,
                nameless_votes: 7,
                created_at: time("2021-01-01T10:00:00Z"),
                url: Some("https://a.example/p/1".to_owned()),
                merged_into: None,
                origin: Origin { file: 0, line: 1 },
            }),
            Record::Note(Note {
                is_team: true,
                external_id: "A:fields".to_owned(),
                request: "A".to_owned(),
                body: "ETA: March 2027\nPlan: Pro\nSeats: 12\nMany: a, b".to_owned(),
                author: None,
                created_at: None,
                origin: Origin { file: 0, line: 1 },
            }),
        ]
    );
    assert_eq!(
        kept.problems(),
        [concat!(
            r#"1 A imageURLs=["HTTPS://a.example/1.png","javascript:alert(1)","http://","http://a>b",null] "#,
            "Ignored: a picture has no address of the web"
        )]
    );
    assert_eq!(
        kept.lost(),
        [
            ("links to records of other programs", 3, None),
            ("names of those who posted or voted for others", 1, None),
            ("owners of feature requests", 1, None),
        ]
    );
}

#[test]
fn only_a_title_is_needed_and_values_may_have_other_types() {
    let nulls = r#"{"title":"Dark mode","id":null,"author":null,"board":null,"category":null,"created":null,"customFields":null,
        "details":null,"eta":null,"imageURLs":null,"mergeHistory":null,"score":null,"status":null,"tags":null,"url":null,"by":null}"#;
    let empty = r#"{"title":"Dark mode","id":"","author":{},"board":{},"category":{},"created":"","customFields":[],"details":"",
        "eta":"","imageURLs":[],"mergeHistory":[],"score":"","status":"","tags":[],"url":"","unknown":[{}]}"#;
    for text in [r#"{"title":"Dark mode"}"#, nulls, empty] {
        let kept = posts(text);
        let [Record::FeatureRequest(request)] = &kept.records[..] else { panic!("{text}") };
        assert_eq!(
            *request,
            FeatureRequest {
                external_id: request.external_id.clone(),
                title: "Dark mode".to_owned(),
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
            }
        );
        assert_eq!(request.external_id.len(), 32);
        assert!(kept.problems.is_empty() && kept.lost.is_empty(), "{text}");
    }
    // Numbers and flags are texts, and texts numbers.
    let kept = posts(
        r#"{"id":17,"title":2024,"details":true,"status":5,"score":"4","created":1609495200000,"tags":[1],"eta":2027,
        "author":{"id":3,"name":4,"isAdmin":"true"},"customFields":{"Plan":"Pro"}}"#,
    );
    let [Record::FeatureRequest(request), Record::Note(note)] = &kept.records[..] else { panic!() };
    assert_eq!(
        (request.external_id.as_str(), request.title.as_str(), request.description.as_str()),
        ("17", "2024", "true")
    );
    assert_eq!((request.status.as_deref(), request.nameless_votes, request.is_team), (Some("5"), 4, true));
    assert_eq!((request.created_at, &request.tags), (time("2021-01-01T10:00:00Z"), &vec!["1".to_owned()]));
    let author = Person { key: PersonKey::ExternalId("3".to_owned()), name: Some("4".to_owned()) };
    assert_eq!((request.author.as_ref(), note.body.as_str()), (Some(&author), "ETA: 2027\nPlan: Pro"));
    assert!(kept.problems.is_empty());
}

#[test]
fn what_cannot_be_a_record_is_rejected_with_its_bytes() {
    let kept = posts(
        "{\"id\":\"1\",\"title\":\"one\"},\n{\"id\":\"2\",\"title\":\" \\u200b\"},\n{\"id\":\"1\",  \"title\":\"again\"},\n\
         {\"id\":\"3\",\"title\":\"a\\u0000b\"},\n7,\n{\"title\":\"x\"},\n{\"title\":\"x\"},\n{\"id\":\"5\",\"title\":\"five\"}",
    );
    assert_eq!(
        kept.problems(),
        [
            "2 2 title= \u{200b} Rejected: the title is blank",
            "3 1 id=1 Rejected: an earlier record has the same id",
            "4 Rejected: the record has a NUL character",
            "5 title= Rejected: the title is blank",
            "7 id= Rejected: an earlier record has the same title and time, and there is no id",
        ]
    );
    assert_eq!(
        kept.rejected(0),
        "[{\"id\":\"2\",\"title\":\" \\u200b\"},\n{\"id\":\"1\",  \"title\":\"again\"},\n{\"id\":\"3\",\"title\":\"a\\u0000b\"},\n7,\n{\"title\":\"x\"}]"
    );
    assert!(serde_json::from_str::<Vec<serde_json::Value>>(&kept.rejected(0)).is_ok());
    let titles: Vec<_> = kept.requests().iter().map(|request| request.title.as_str()).collect();
    assert_eq!(titles, ["one", "x", "five"]);
    assert_eq!(kept.rejected_kinds, [Kind::FeatureRequests; 5]);
}

#[test]
fn records_that_cannot_be_read_are_rejected_as_what_their_list_has() {
    let large = format!("{{\"id\":\"L\",\"x\":\"{}\"}}", "y".repeat(MAX_ELEMENT_BYTES));
    let deep = format!("{{\"id\":\"D\",\"x\":{}1{}}}", "[".repeat(70), "]".repeat(70));
    let nul = r#"{"id":"N","x":"\u0000"}"#;
    for (list, kind) in [
        ("posts", Kind::FeatureRequests),
        ("votes", Kind::Votes),
        ("comments", Kind::Comments),
        ("statusChanges", Kind::Moves),
        ("entries", Kind::Changelogs),
        ("items", Kind::FeatureRequests),
    ] {
        let (kept, _) = beside_a_post(list, &format!("{large},{deep},{nul}"));
        assert_eq!(
            kept.problems(),
            [
                "1 Rejected: the record is larger than 4 MB, up to line 1",
                "1 Rejected: the record is nested more than 64 deep",
                "1 Rejected: the record has a NUL character",
            ]
        );
        assert!(kept.rejected(0) == format!("[{large},\n{deep},\n{nul}]"), "{list}");
        assert_eq!((&kept.rejected_kinds, kept.records.len()), (&vec![kind; 3], 1));
    }
    let (kept, _) = beside_a_post("items", &format!("{{\"value\":\"x\",\"post\":{{\"id\":\"A\"}}}},{nul}"));
    assert_eq!((&kept.rejected_kinds[..], kept.records.len()), (&[Kind::Comments][..], 2));
    let board = r#"{"name":"x","isPrivate":true}"#;
    let (kept, _) = beside_a_post("items", &format!("{board},{nul}"));
    assert_eq!((&kept.rejected_kinds[..], kept.records.len()), (&[Kind::FeatureRequests][..], 1));
    let (kept, _) = beside_a_post("boards", nul);
    assert_eq!(kept.problems(), ["1 Ignored: the record has a NUL character: the board is not known"]);
    // A page of something else, which is too large to be read.
    let kept = of(&format!("{{\"posts\":[{{\"title\":\"a\"}}]}}{{\"users\":[{large}]}}"));
    assert_eq!(kept.lost(), [("records of an unknown kind", 1, None)]);
    assert!(kept.rejected.is_empty());
    // Bare records, one in each line.
    let kept = of(&format!("{{\"title\":\"a\"}}\n{nul}\n"));
    assert_eq!(kept.rejected(0), format!("[{nul}]"));
}

#[test]
fn other_bad_values_are_listed() {
    let title = "x".repeat(201);
    let tag = "y".repeat(51);
    let tags: Vec<String> = (0..21).map(|n| format!("\"t{n}\"")).collect();
    let kept = posts(&format!(
        r#"{{"id":"1","title":"{title}","details":{{"a":1}},"tags":["{tag}",{}],"score":-4,"created":"2021-13-45","url":"a\nb",
        "author":{{"email":"not-an-address","name":"Ann"}},"customFields":7,"imageURLs":"https://a.example/1.png"}},
        {{"id":"2","title":"two","author":"Ann","score":"many","created":"2999-01-01","tags":{{}},"details":"a\ud83d"}},
        {{"id":"3","title":"three","author":{{"id":"U1","email":"bad"}},"score":2.0,"created":[1]}},
        {{"id":"4","title":"four","score":2.5}}"#,
        tags.join(",")
    ));
    let cut = |text: &str| format!("{}…", &text[..79]);
    assert_eq!(
        kept.problems(),
        [
            "1 1 score=-4 Changed: the count is below 0: it is 0".to_owned(),
            format!("1 1 tags={tag} Ignored: tags have at most 50 characters"),
            "1 1 tags=t20 Ignored: a feature request has at most 20 tags: 1 are left out".to_owned(),
            "1 1 details={\"a\":1} Ignored: the value is no text".to_owned(),
            "1 1 imageURLs=https://a.example/1.png Ignored: a picture has no address of the web".to_owned(),
            format!(
                "1 1 title={} Changed: the title is longer than 200 characters: it is cut, and whole before the description",
                cut(&title)
            ),
            "1 1 author=not-an-address Ignored: email is not a valid e-mail address".to_owned(),
            "1 1 created=2021-13-45 Changed: the time cannot be read".to_owned(),
            "1 1 url=a\u{fffd}b Ignored: the address is too long or has control characters".to_owned(),
            "1 1 customFields=7 Ignored: the value is no list of fields".to_owned(),
            "3 2 Changed: the record has halves of characters: they are replaced".to_owned(),
            "3 2 score=many Ignored: the count is no whole number".to_owned(),
            "3 2 tags={} Ignored: the value is no list of tags".to_owned(),
            "3 2 author=Ann Ignored: the value is no person".to_owned(),
            "3 2 created=2999-01-01 Changed: the time is in the future".to_owned(),
            "4 3 author=bad Ignored: email is not a valid e-mail address".to_owned(),
            "4 3 created=[1] Changed: the time cannot be read".to_owned(),
            "5 4 score=2.5 Ignored: the count is no whole number".to_owned(),
        ]
    );
    let requests = kept.requests();
    assert_eq!((requests[0].title.chars().count(), requests[0].description.as_str()), (200, title.as_str()));
    assert_eq!((requests[0].tags.len(), requests[0].nameless_votes, requests[2].nameless_votes), (20, 0, 2));
    assert_eq!((&requests[0].author, &requests[0].url, requests[1].description.as_str()), (&None, &None, "a\u{fffd}"));
    assert_eq!(requests[2].author, Some(Person { key: PersonKey::ExternalId("U1".to_owned()), name: None }));
    assert_eq!(kept.lost(), [("names without an address", 1, None)]);
}

#[test]
fn records_are_found_in_every_layout() {
    let post = |id: u8| format!("{{\"id\":\"{id}\",\"title\":\"t{id}\",\"board\":null}}");
    let (one, two) = (post(1), post(2));
    let page = |list: &str, elements: &str| format!("{{\"hasMore\":true,\"{list}\":[{elements}]}}");
    for text in [
        page("posts", &format!("{one},{two}")),
        page("items", &format!("{one},{two}")),
        format!("[{},{}]", page("posts", &one), page("items", &two)),
        format!("{}\n{}\n", page("posts", &one), page("posts", &two)),
        format!("[{one},{two}]"),
        format!("[[{one}],[{two}]]"),
        format!("{one}\n{two}\n"),
        format!("{{\"posts\":[{},{}]}}", page("posts", &one), page("posts", &two)),
        format!("\u{feff}{}", page("posts", &format!("{one},{two}"))),
    ] {
        let ids: Vec<_> = of(&text).requests().iter().map(|request| request.external_id.clone()).collect();
        assert_eq!(ids, ["1", "2"], "{text}");
    }
    // All lists in one object, with records that are known by their keys.
    let kept = of(
        r#"{"votes":[{"voter":{"id":"U"},"post":{"id":"A"}}],"items":[{"value":"Yes","post":{"id":"A"}},{"what":1}],
        "posts":[{"id":"A","title":"a"}],"status_changes":[{"status":"planned","post":{"id":"A"}}],"entries":[{"title":"e","plaintextDetails":"x"}],
        "companies":[{"name":"x"}]}"#,
    );
    let kinds: Vec<_> = kept
        .records
        .iter()
        .map(|record| match record {
            Record::FeatureRequest(_) => "request",
            Record::Vote(_) => "vote",
            Record::Comment(_) => "comment",
            Record::Move(_) => "move",
            Record::Changelog(_) => "changelog",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["request", "vote", "comment", "move", "changelog"]);
    assert_eq!(kept.lost(), [("records of an unknown kind", 1, None)]);
    assert!(of(r#"{"hasMore":false,"posts":[]}"#).records.is_empty());
    assert!(run(&[]).unwrap().0.records.is_empty());
}

#[test]
fn a_record_is_what_its_keys_say() {
    use RecordKind::{Board, Comment, Entry, Post, StatusChange, Vote};
    for (text, kind) in [
        (r#"{"id":1,"voter":null,"post":{}}"#, Some(Vote)),
        (r#"{"postID":"A","voterID":"U"}"#, Some(Vote)),
        (r#"{"changer":{},"changeComment":{"value":""},"status":"open"}"#, Some(StatusChange)),
        (r#"{"changeComment":{"value":""},"status":"open"}"#, Some(StatusChange)),
        (r#"{"value":"x","author":null}"#, Some(Comment)),
        (r#"{"value":"x","parentID":null}"#, Some(Comment)),
        (r#"{"title":"x","markdownDetails":"y","posts":[]}"#, Some(Entry)),
        (r#"{"title":"x","publishedAt":null}"#, Some(Entry)),
        (r#"{"title":"x"}"#, Some(Post)),
        (r#"{"title":"x","changeComment":{"value":""}}"#, Some(Post)),
        (r#"{"name":"x","isPrivate":false}"#, Some(Board)),
        (r#"{"name":"x"}"#, None),
        (r#"{"title":"x","number":1}"#, None),
        (r#"{"title":"x","description":"y"}"#, None),
        (r#"{"value":"x"}"#, None),
        ("{}", None),
    ] {
        assert_eq!(RecordKind::of(None, &Object::parse(text).unwrap()), kind, "{text}");
    }
}

#[test]
fn files_of_other_sources_are_refused() {
    let post = ("posts.json", r#"{"posts":[{"title":"a"}]}"#);
    let no_list = "has no list of Canny: an object with `posts`, `votes`, `comments`, `items`, `boards`, `entries` or \
                   `statusChanges`";
    for (name, text, message) in [
        ("a.json", "", no_list),
        ("a.json", "[]", no_list),
        ("a.json", r#"{"error":"invalid API key"}"#, no_list),
        ("a.json", r#"{"users":[{"id":1}]}"#, no_list),
        ("a.json", "[1,null]", no_list),
        (
            "a.json",
            r#"[{"number":1,"title":"x","html_url":"https://github.com/o/r/issues/1"}]"#,
            "is not of the list calls of Canny: it looks like issues or discussions of GitHub",
        ),
        (
            "a.json",
            r#"[{"number":1,"title":"x","labels":[]}]"#,
            "is not of the list calls of Canny: it looks like issues or discussions of GitHub",
        ),
        (
            "a.json",
            r#"[{"id":1,"number":1,"title":"x","slug":"x"}]"#,
            "is not of the list calls of Canny: it looks like posts of Fider",
        ),
        (
            "a.CSV",
            "title,score\n",
            "is not of the list calls of Canny: it looks like a table, which the source `csv` reads",
        ),
        ("a\u{1b}.json", "x", "is no valid JSON in line 1"),
        ("a.json", r#"{"posts":[{"title":"a"},"#, "is not whole: it ends in line 1, inside of a value"),
        ("a.txt", r#"{"posts":[{"title":"a"},"#, "is not whole: it ends in line 1, inside of a value"),
        (
            "a.json",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
            "is nested more than 64 deep in line 1",
        ),
    ] {
        let shown = name.replace('\u{1b}', "\u{fffd}");
        assert_eq!(run(&[(name, text)]).err().unwrap(), format!("`{shown}` {message}"), "{text}");
        // A file that says it is JSON, or begins as one of Canny, and is not whole, is no other file.
        let is_broken = (message.ends_with("value") || message.contains("line")) && (name != "a.CSV");
        match run(&[post, (name, text)]) {
            Err(error) => assert!(is_broken && error.ends_with(message), "{error}"),
            Ok((kept, _)) => {
                assert!(!is_broken, "{text}");
                assert_eq!((kept.records.len(), kept.problems.len()), (1, 1));
                assert_eq!((kept.problems[0].action, kept.problems[0].line), (Action::Skipped, None));
            }
        }
    }
    let (kept, _) =
        run(&[("README.md", "# Export"), ("posts.csv", "title\n"), post, ("logo.png", "\u{0}PNG")]).unwrap();
    assert_eq!(
        kept.problems(),
        [
            "Skipped: the file has no list of Canny",
            "Skipped: the file is not of the list calls of Canny: it looks like a table, which the source `csv` reads",
            "Skipped: the file has no list of Canny",
        ]
    );
    assert_eq!(run(&[("README.md", "# Export"), ("x", "")]).err().unwrap(), "`README.md` is no valid JSON in line 1");
}

#[test]
fn only_files_of_canny_are_recognized() {
    let board = r#"{"boards":[{"isPrivate":false,"name":"x","postCount":1}]}"#;
    for (text, is_recognized) in [
        (r#"{"hasMore":false,"posts":[{"title":"x","board":{},"created":"","score":1}]}"#, true),
        (r#"[{"title":"x","board":null,"created":null,"details":""}]"#, true),
        (r#"{"votes":[{"voter":{},"post":{}}"#, true),
        (r#"{"cursor":null,"items":[{"value":"x","post":{},"author":{},"created":""}]}"#, true),
        (r#"{"statusChanges":[{"changer":{},"post":{}}]}"#, true),
        (r#"{"entries":[{"title":"x","markdownDetails":""}]}"#, true),
        (board, true),
        (r#"{"posts":[{"title":"x"}]}"#, false),
        (r#"{"posts":[]}"#, false),
        (r#"[{"number":1,"title":"x","board":{},"created":"","score":1}]"#, false),
        (r#"{"title":"x"}"#, false),
        ("title,score\n", false),
        ("", false),
        ("\u{0}PNG", false),
    ] {
        assert_eq!(recognizes(&inputs(&[("a", text)])), is_recognized, "{text}");
        assert!(recognizes(&inputs(&[("a", text), ("b", board)])));
    }
    let long =
        format!(r#"{{"votes":[{{"voter":{{}},"post":{{}},"x":"{}"}}]}}"#, "ü".repeat(MAX_ELEMENT_BYTES / 2 - 100));
    assert!(recognizes(&inputs(&[("a", &format!("{long}{}", " ".repeat(BEGINNING)))])));
    assert!(!recognizes(&[]));
}

#[test]
fn votes_are_counted_over_all_files() {
    let vote = |id: &str, post: &str, voter: &str| {
        format!("{{\"id\":\"{id}\",\"post\":{{\"id\":\"{post}\"}},\"voter\":{voter}}}")
    };
    let ann = r#"{"id":"U1","email":"ann@x.example","name":"Ann"}"#;
    let votes = [
        vote("1", "A", ann),
        vote("2", "A", r#"{"id":"U2","email":null,"name":"Bob"}"#),
        vote("3", "B", r#"{"id":"U3","email":"ANN@x.example"}"#),
        vote("4", "B", ann),
        vote("5", "B", "null"),
        vote("6", "B", r#"{"name":"Cem"}"#),
        vote("7", "B", r#"{"email":"bad"}"#),
        vote("8", "C", r#"{"id":"U2"}"#),
        vote("9", "C", r#"{"id":"U2","email":"bad"}"#),
        vote("1", "A", r#"{"id":"U9"}"#),
        vote("10", "X", ann),
        r#"{"id":"11","voter":{"id":"U1"}}"#.to_owned(),
        vote("12", "known", ann),
        vote("13", "known", "null"),
        r#"{"postID":"A","voterID":"U4","created":"2021-01-01T00:00:00Z","by":{"id":"U5"}}"#.to_owned(),
        // An address and an id that look the same are two people.
        vote("15", "A", r#"{"id":"ann@x.example"}"#),
    ];
    let votes = format!("{{\"votes\":[\n{}]}}", votes.join(",\n"));
    let posts = r#"{"posts":[{"id":"A","title":"a","score":5},{"id":"B","title":"b","score":9},{"id":"C","title":"c"},{"id":"D","title":"d","score":3}]}"#;
    for files in [[("votes.json", &*votes), ("posts.json", posts)], [("posts.json", posts), ("votes.json", &votes)]] {
        let (kept, totals) = run(&files).unwrap();
        let nameless: Vec<_> = kept.requests().iter().map(|request| request.nameless_votes).collect();
        // B: 9 are counted, 5 are listed, of which 3 are nobody.
        assert_eq!(nameless, [1, 7, 0, 3]);
        assert_eq!(
            kept.votes(),
            [
                ("A", "ann@x.example"),
                ("A", "U2"),
                ("B", "ANN@x.example"),
                ("C", "U2"),
                ("known", "ann@x.example"),
                ("A", "U4"),
                ("A", "ann@x.example"),
            ]
        );
        assert_eq!(totals, VoteTotals { voters: 7, nameless: 11, doubles: 2 });
        assert_eq!(
            kept.problems(),
            [
                "8 7 voter=bad Changed: email is not a valid e-mail address: the vote has no name",
                "10 9 voter=bad Ignored: email is not a valid e-mail address",
                "11 1 id=1 Rejected: an earlier record has the same id",
                "12 10 post=X Skipped: there is no feature request with this id",
                "13 11 post= Skipped: the id of the feature request is blank",
                "15 13 voter=null Skipped: there is no voter: the vote is left out, because the feature request is from another run",
            ]
        );
        assert_eq!(
            kept.lost(),
            [
                ("names of those who posted or voted for others", 1, None),
                ("names without an address", 1, None),
                ("votes for unknown feature requests", 2, Some(Kind::Votes)),
                ("votes without a person for feature requests of another run", 1, Some(Kind::Votes)),
            ]
        );
        let dated =
            kept.records.iter().filter(|record| matches!(record, Record::Vote(vote) if vote.created_at.is_some()));
        assert_eq!(dated.count(), 1);
        assert_eq!(kept.rejected_kinds, [Kind::Votes]);
    }
}

#[test]
fn boards_say_what_is_private() {
    let boards = r#"{"boards":[{"id":"B","isPrivate":true,"privateComments":false},{"id":"C","isPrivate":false,"privateComments":true},
        {"id":"D","isPrivate":"perhaps"},{"isPrivate":true}]}"#;
    let posts = r#"{"posts":[{"id":"1","title":"a","board":{"id":"B","name":"Secret"}},{"id":"2","title":"b","board":{"id":"C"}},
        {"id":"3","title":"c","board":{"id":"D"}},{"id":"4","title":"d","boardID":"B"},{"id":"5","title":"e","board":{"id":"E","name":"New"}},
        {"id":"6","title":"f","board":{"id":"E"}},{"id":"7","title":"g","board":{"id":"F","isPrivate":true}},
        {"id":"8","title":"h","board":{"id":"F","isPrivate":false}},{"id":"9","title":"i"}]}"#;
    let comments = r#"{"items":[{"id":"c1","value":"x","post":{"id":"2"},"board":{"id":"C"}},{"id":"c2","value":"x","post":{"id":"1"},"board":{"id":"B"}}]}"#;
    let (kept, _) = run(&[("comments.json", comments), ("posts.json", posts), ("x.json", boards)]).unwrap();
    let private: Vec<_> = kept.requests().iter().map(|request| request.is_private).collect();
    assert_eq!(private, [true, false, true, true, false, false, true, false, false]);
    assert_eq!(kept.texts(), ["note c1 x", "c2 x"]);
    assert_eq!(
        kept.problems(),
        [
            "2 D isPrivate=perhaps Changed: the value is neither yes nor no: it counts as yes",
            "2 5 board=New Ignored: no file says whether this board is private, so its feature requests are public: \
             import the list of boards together with them",
        ]
    );
}

#[test]
fn a_board_or_category_that_all_share_is_no_tag() {
    let post = |id: u8, board: &str, category: &str| {
        let name = |name: &str| if name.is_empty() { "null".to_owned() } else { format!("{{\"name\":\"{name}\"}}") };
        format!("{{\"id\":{id},\"title\":\"t\",\"board\":{},\"category\":{}}}", name(board), name(category))
    };
    for (first, second, tags) in [
        (("FR", "Web"), ("FR", "App"), [&["Web"][..], &["App"]]),
        (("FR", "Web"), ("FR", "Web"), [&["Web"], &["Web"]]),
        (("FR", "Web"), ("Bugs", "Web"), [&["FR"], &["Bugs"]]),
        (("FR", ""), ("FR", "Web"), [&[], &["Web"]]),
        (("FR", ""), ("Bugs", ""), [&["FR"], &["Bugs"]]),
        (("", "Web"), ("FR", ""), [&["Web"], &["FR"]]),
    ] {
        let text = [post(1, first.0, first.1), post(2, second.0, second.1)].join(",");
        // A post without a title is none.
        let kept = posts(&format!("{text},{}", r#"{"id":9,"title":" ","board":{"name":"x"}}"#));
        let found: Vec<_> = kept.requests().iter().map(|request| request.tags.clone()).collect();
        assert_eq!(found, tags, "{text}");
    }
    assert_eq!(posts(&post(1, "FR", "Web")).requests()[0].tags, ["Web", "FR"]);
}

#[test]
fn merged_posts_are_linked_or_made() {
    let kept = posts(
        r#"{"id":"M","title":"in the list"},
        {"id":"A","title":"a","score":3,"board":{"id":"B","isPrivate":true},"mergeHistory":[
            {"created":"2021-02-01T00:00:00Z","post":{"id":"M","title":"M"}},
            {"post":{"id":"N","title":"n","details":"same","created":"2021-01-15T00:00:00Z","imageURLs":["https://x.example/1.png"],"score":2}},
            {"post":{"id":"R","title":" "}},
            {"post":{"id":"T","title":" "}},
            {"post":null},7]},
        {"id":"B","title":"b","mergeHistory":[{"post":{"id":"N","title":"n"}},{"post":{"id":"M","title":"m"}},{"post":{"id":"A","title":"a"}}]},
        {"id":"T","title":""}"#,
    );
    let merges: Vec<_> = kept
        .requests()
        .iter()
        .map(|request| {
            (request.external_id.as_str(), request.merged_into.as_deref(), request.is_private, request.nameless_votes)
        })
        .collect();
    assert_eq!(
        merges,
        [("M", Some("A"), false, 0), ("A", Some("B"), true, 3), ("N", Some("A"), true, 0), ("B", None, false, 0)]
    );
    let made = kept.requests()[2];
    assert_eq!(made.description, "same\n\n<https://x.example/1.png>");
    assert_eq!((made.created_at, made.origin), (time("2021-01-15T00:00:00Z"), Origin { file: 0, line: 2 }));
    assert_eq!(
        kept.problems(),
        [
            "2 R title=  Rejected: the title is blank",
            "2 T title=  Rejected: the title is blank",
            "9 T title= Rejected: the title is blank",
        ]
    );
    assert_eq!(kept.rejected(0).lines().next(), Some(r#"[{"id":"R","title":" "},"#));
    // Votes for a post that is only in a history are its own.
    let (kept, totals) = run(&[
        ("posts.json", r#"{"posts":[{"id":"A","title":"a","mergeHistory":[{"post":{"id":"N","title":"n"}}]}]}"#),
        ("votes.json", r#"{"votes":[{"post":{"id":"N"},"voter":null},{"post":{"id":"N"},"voter":{"id":"U"}}]}"#),
    ])
    .unwrap();
    assert_eq!((kept.votes(), totals), (vec![("N", "U")], VoteTotals { voters: 1, nameless: 1, doubles: 0 }));
}

#[test]
fn comments_and_notes_are_read() {
    let comments = r#"{"id":"1","post":{"id":"A"},"value":"Yes,\n*please*","created":"2021-01-02T11:00:00Z","author":{"id":"U1","email":"bob@x.example","name":"Bob"},"likeCount":2,"reactions":{"like":2,"party":1}},
{"id":"2","post":{"id":"A"},"value":"On it","author":{"isAdmin":true,"name":"Arya"}},
{"id":"3","post":{"id":"A"},"value":"Deal","internal":true,"author":{"id":null,"userID":"U2"}},
{"id":"4","post":{"id":"A"},"value":"Secret","private":true},
{"id":"5","post":{"id":"A"},"value":null,"imageURLs":["https://x.example/1.png"],"private":"perhaps"},
{"id":"6","post":{"id":"A"},"value":" "},
{"id":"1","post":{"id":"A"},"value":"again"},
{"id":"7","post":{"id":"X"},"value":"lost"},
{"id":"8","postID":"known","value":"odd","created":"soon"},
{"post":{"id":"A"},"value":"no id"},
{"post":{"id":"A"},"value":"no id"},
{"id":"9","value":"no post"}"#;
    let (kept, _) = beside_a_post("comments", comments);
    let comment = |id: &str, request: &str, body: &str, author, is_team, created_at, line| {
        Record::Comment(Comment {
            external_id: id.to_owned(),
            request: request.to_owned(),
            body: body.to_owned(),
            author,
            is_team,
            is_held: false,
            created_at,
            origin: Origin { file: 0, line },
        })
    };
    let note = |id: &str, body: &str, author: Option<&str>, line| {
        Record::Note(Note {
            is_team: false,
            external_id: id.to_owned(),
            request: "A".to_owned(),
            body: body.to_owned(),
            author: author.map(|id| Person { key: PersonKey::ExternalId(id.to_owned()), name: None }),
            created_at: None,
            origin: Origin { file: 0, line },
        })
    };
    let first = time("2021-01-02T11:00:00Z");
    assert_eq!(
        kept.records[1..7],
        [
            comment("1", "A", "Yes,\n*please*", person("bob@x.example", "Bob"), false, first, 1),
            comment("2", "A", "On it", None, true, None, 2),
            note("3", "Deal", Some("U2"), 3),
            note("4", "Secret", None, 4),
            note("5", "<https://x.example/1.png>", None, 5),
            comment("8", "known", "odd", None, false, None, 9),
        ]
    );
    assert_eq!(kept.records.len(), 8);
    assert_eq!(
        kept.problems(),
        [
            "5 5 private=perhaps Changed: the value is neither yes nor no: it counts as yes",
            "6 6 value=  Rejected: the text is blank",
            "7 1 id=1 Rejected: an earlier record has the same id",
            "8 7 post=X Skipped: there is no feature request with this id",
            "9 8 created=soon Changed: the time cannot be read",
            "11 id= Rejected: an earlier record is the same, and there is no id",
            "12 9 post= Skipped: the id of the feature request is blank",
        ]
    );
    assert_eq!(
        kept.lost(),
        [
            ("names without an address", 1, None),
            ("reactions", 3, None),
            ("comments on unknown feature requests", 2, Some(Kind::Comments)),
        ]
    );
    assert_eq!(kept.rejected_kinds, [Kind::Comments; 3]);
}

#[test]
fn replies_quote_what_they_reply_to() {
    let long = format!("{} end", "ü".repeat(79));
    let comment = |id: &str, parent: &str, value: &str, more: &str| {
        format!("{{\"id\":\"{id}\",\"parentID\":{parent},\"value\":\"{value}\",\"post\":{{\"id\":\"A\"}}{more}}}")
    };
    // A list may begin with the newest.
    let comments = [
        comment("2", "\"1\"", "reply", ""),
        comment("1", "null", "one\\n\\n two\\n", ""),
        comment("3", "\"long\"", "reply", ""),
        comment("long", "\"1\"", &long, ""),
        comment("secret", "null", "secret", ",\"internal\":true"),
        comment("4", "\"secret\"", "public", ""),
        comment("5", "\"secret\"", "internal", ",\"private\":true"),
        comment("6", "\"missing\"", "reply", ""),
        comment("picture", "\"\"", "", ",\"imageURLs\":[\"https://x.example/1.png\"]"),
        comment("7", "\"picture\"", "reply", ""),
    ];
    let (kept, _) = beside_a_post("items", &comments.join(",\n"));
    assert_eq!(
        kept.texts(),
        [
            "2 > one\n>\n>  two\n\nreply".to_owned(),
            "1 one\n\n two\n".to_owned(),
            format!("3 > {}…\n\nreply", "ü".repeat(79)),
            format!("long > one\n>\n>  two\n\n{long}"),
            "note secret secret".to_owned(),
            "4 public".to_owned(),
            "note 5 > secret\n\ninternal".to_owned(),
            "6 reply".to_owned(),
            "picture <https://x.example/1.png>".to_owned(),
            "7 reply".to_owned(),
        ]
    );
    assert_eq!(
        kept.problems(),
        [
            "6 4 parentID=secret Ignored: the reply is public, but the comment is not: it is not quoted",
            "8 6 parentID=missing Ignored: there is no comment with this id, so the reply quotes nothing",
        ]
    );
}

#[test]
fn status_changes_become_moves_and_comments() {
    let change = |id: &str, status: &str, created: &str, comment: &str| {
        format!(
            "{{\"id\":\"{id}\",\"status\":\"{status}\",\"created\":\"{created}\",\"post\":{{\"id\":\"A\"}},\"changeComment\":{comment},\
             \"changer\":{{\"email\":\"arya@x.example\",\"name\":\"Arya\",\"isAdmin\":true}}}}"
        )
    };
    let said = |text: &str| format!("{{\"value\":\"{text}\",\"imageURLs\":[]}}");
    let changes = [
        change("1", "planned", "2021-01-01T10:00:00Z", &said("On it")),
        change("2", "complete", "2021-02-01T10:00:00.500Z", &said(" Shipped ")),
        change("3", "open", "2021-03-01T10:00:00Z", &said("")),
        change("4", "open", "", "null"),
        change("5", "open", "2999-01-01", "\"later\""),
        change("6", " ", "2021-04-01T10:00:00Z", "{\"value\":\"x\",\"imageURLs\":[7]}"),
        change("1", "open", "2021-01-01T10:00:00Z", "null"),
        r#"{"id":"7","status":"open","post":{"id":"X"},"changeComment":{"value":"lost"}}"#.to_owned(),
        r#"{"status":"open","post":{"id":"A"}}"#.to_owned(),
        r#"{"status":"open","post":{"id":"A"}}"#.to_owned(),
    ];
    let changes = format!("{{\"statusChanges\":[\n{}]}}", changes.join(",\n"));
    // Only the second is the comment of a change: the same text, at most a second apart.
    let comment = |id: &str, value: &str, created: &str, post: &str| {
        format!("{{\"id\":\"{id}\",\"value\":\"{value}\",\"created\":\"{created}\",\"post\":{{\"id\":\"{post}\"}}}}")
    };
    let comments = [
        comment("c1", "On it", "2021-01-01T10:00:01.001Z", "A"),
        comment("c2", "Shipped", "2021-02-01T10:00:01.500Z", "A"),
        comment("c3", "On it", "2021-01-01T10:00:00Z", "known"),
    ];
    let comments = format!("{{\"items\":[{}]}}", comments.join(","));
    let posts = r#"{"posts":[{"id":"A","title":"a"}]}"#;
    let (kept, _) = run(&[("c.json", &changes), ("d.json", &comments), ("e.json", posts)]).unwrap();
    let moves: Vec<_> = kept
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Move(Move { external_id, status, at, .. }) if external_id.len() < 9 => {
                Some((external_id.as_str(), status.as_str(), at.to_string()))
            }
            _ => None,
        })
        .collect();
    let now = "2026-11-28T08:00:00.000Z".to_owned();
    assert_eq!(
        moves,
        [
            ("1", "planned", "2021-01-01T10:00:00.000Z".to_owned()),
            ("2", "complete", "2021-02-01T10:00:00.500Z".to_owned()),
            ("3", "open", "2021-03-01T10:00:00.000Z".to_owned()),
            ("4", "open", now.clone()),
            ("5", "open", now),
        ]
    );
    assert_eq!(
        kept.texts(),
        ["c1 On it", "c2 Shipped", "c3 On it", "1:comment On it", "5:comment later", "6:comment x"]
    );
    let Some(Record::Comment(comment)) = kept
        .records
        .iter()
        .find(|record| matches!(record, Record::Comment(comment) if comment.external_id == "1:comment"))
    else {
        panic!()
    };
    assert_eq!(
        (&comment.author, comment.is_team, comment.created_at, comment.origin),
        (&person("arya@x.example", "Arya"), true, time("2021-01-01T10:00:00Z"), Origin { file: 0, line: 2 })
    );
    assert_eq!(
        kept.problems(),
        [
            "6 5 created=2999-01-01 Changed: the time is in the future",
            "7 6 status=  Skipped: the status is blank",
            "7 6 changeComment={\"value\":\"x\",\"imageURLs\":[7]} Ignored: a picture has no address of the web",
            "8 1 id=1 Rejected: an earlier record has the same id",
            "9 7 post=X Skipped: there is no feature request with this id",
            "11 id= Rejected: an earlier record is the same, and there is no id",
        ]
    );
    assert_eq!(
        kept.lost(),
        [
            ("status changes of unknown feature requests", 1, Some(Kind::Moves)),
            ("status changes without a status", 1, Some(Kind::Moves)),
        ]
    );
    // The other way round, a comment is a second too early.
    let times = |created: &str| {
        let comments = format!("{{\"items\":[{}]}}", comment_at(created));
        run(&[("c.json", &changes), ("d.json", &comments), ("e.json", posts)]).unwrap().0.texts().len()
    };
    assert_eq!([times("2021-01-01T09:59:59.000Z"), times("2021-01-01T09:59:58.999Z"), times("")], [4, 5, 5]);
}

fn comment_at(created: &str) -> String {
    format!(
        "{{\"id\":\"c\",\"value\":\"On it\",\"created\":\"{created}\",\"post\":{{\"id\":\"A\"}},\"internal\":true}}"
    )
}

#[test]
fn entries_become_changelogs() {
    let long = "x".repeat(201);
    let posts: Vec<_> = (0..52).map(|n| format!("{{\"id\":\"P{n}\"}}")).collect();
    let entries = [
        r#"{"id":"1","title":"New","markdownDetails":"**bold**","plaintextDetails":"bold","status":"published","publishedAt":"2021-05-02T00:00:00Z","created":"2021-05-01T00:00:00Z","posts":[{"id":"A"},{"id":"B"},{"id":"A"},"C",null],"types":["beta","new"],"labels":[{"name":"l"}],"reactions":{"like":2}}"#.to_owned(),
        r#"{"id":"2","title":"Later","markdownDetails":" ","plaintextDetails":"soon","status":"scheduled","scheduledFor":"2099-01-01T00:00:00Z","publishedAt":null}"#.to_owned(),
        r#"{"id":"3","title":"Draft","plaintextDetails":"x","status":"draft","publishedAt":"2021-05-02T00:00:00Z"}"#.to_owned(),
        r#"{"id":"4","title":"a","plaintextDetails":"x","publishedAt":"2021-05-02T00:00:00Z"}"#.to_owned(),
        r#"{"id":"5","title":"a","plaintextDetails":"x"}"#.to_owned(),
        r#"{"id":"6","title":"a","plaintextDetails":"x","status":"published","publishedAt":"never","created":"2021-05-01T00:00:00Z"}"#.to_owned(),
        r#"{"id":"7","title":"a","plaintextDetails":"x","status":"Published"}"#.to_owned(),
        format!(r#"{{"id":"8","title":"{long}","plaintextDetails":"x","posts":[{}]}}"#, posts.join(",")),
        r#"{"id":"9","title":"","plaintextDetails":"x"}"#.to_owned(),
        r#"{"id":"10","title":"x","plaintextDetails":"","markdownDetails":null}"#.to_owned(),
        r#"{"id":"1","title":"x","plaintextDetails":"x"}"#.to_owned(),
        r#"{"title":"x","plaintextDetails":"x"}"#.to_owned(),
        r#"{"title":"x","plaintextDetails":"x"}"#.to_owned(),
    ];
    let kept = of(&format!("{{\"entries\":[\n{}]}}", entries.join(",\n")));
    let Record::Changelog(first) = &kept.records[0] else { panic!() };
    assert_eq!(
        *first,
        Changelog {
            external_id: "1".to_owned(),
            title: "New".to_owned(),
            body: "**bold**".to_owned(),
            category: Some("new".to_owned()),
            published_at: time("2021-05-02T00:00:00Z"),
            requests: ["A", "B", "C"].map(str::to_owned).to_vec(),
            origin: Origin { file: 0, line: 2 },
        }
    );
    let changelogs = kept.records.iter().filter_map(|record| match record {
        Record::Changelog(changelog) => Some((changelog.external_id.as_str(), changelog.published_at)),
        _ => None,
    });
    let changelogs: Vec<_> = changelogs.collect();
    assert_eq!(
        changelogs[1..8],
        [
            ("2", None),
            ("3", None),
            ("4", time("2021-05-02T00:00:00Z")),
            ("5", None),
            ("6", time("2021-05-01T00:00:00Z")),
            ("7", time("2026-11-28T08:00:00Z")),
            ("8", None),
        ]
    );
    let Record::Changelog(eighth) = &kept.records[7] else { panic!() };
    assert_eq!((eighth.title.chars().count(), eighth.body.as_str()), (200, format!("{long}\n\nx").as_str()));
    assert_eq!((eighth.requests.len(), kept.records.len()), (50, 9));
    assert_eq!(
        kept.problems(),
        [
            "7 6 publishedAt=never Changed: the time cannot be read".to_owned(),
            format!(
                "9 8 title={}… Changed: the title is longer than 200 characters: it is cut, and whole before the text",
                "x".repeat(79)
            ),
            "9 8 Ignored: a changelog links to at most 50 feature requests: 2 are left out".to_owned(),
            "10 9 title= Rejected: the title is blank".to_owned(),
            "11 10 markdownDetails=null Rejected: the text is blank".to_owned(),
            "12 1 id=1 Rejected: an earlier record has the same id".to_owned(),
            "14 id= Rejected: an earlier record has the same title and time, and there is no id".to_owned(),
        ]
    );
    assert_eq!(
        kept.lost(),
        [
            ("reactions", 2, None),
            ("times of scheduled changelogs", 1, None),
            ("types and labels of changelogs", 2, None),
        ]
    );
}

#[test]
fn encodings_are_found_or_given() {
    let text = r#"{"posts":[{"id":"1","title":"Über"},{"id":"2","title":""}]}"#;
    let utf_16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let mut kept = Kept::default();
    convert(&[Input::from_bytes("a.json", utf_16)], &options(MAX_RECORDS), &mut kept).unwrap();
    assert_eq!((kept.requests()[0].title.as_str(), &*kept.rejected(0)), ("Über", r#"[{"id":"2","title":""}]"#));

    let latin = [Input::from_bytes("a.json", *b"{\"posts\":[{\"title\":\"\xdcber\"},{\"title\":\"b\"}]}")];
    let mut kept = Kept::default();
    convert(&latin, &options(MAX_RECORDS), &mut kept).unwrap();
    assert_eq!(
        kept.problems(),
        ["Changed: the encoding is not known, so the file is read as windows-1252: --encoding names another one"]
    );
    assert_eq!(kept.requests()[0].title, "Über");
    let mut kept = Kept::default();
    convert(&latin, &Options { encoding: Some(encoding_rs::UTF_8), ..options(MAX_RECORDS) }, &mut kept).unwrap();
    assert_eq!(kept.problems(), ["1 Rejected: the record has bytes that are no UTF-8"]);
    assert_eq!((&*kept.rejected[&0], kept.requests().len()), (&b"[{\"title\":\"\xdcber\"}"[..], 1));
}

/// A file with records of each kind.
const ALL: &str = r#"{"boards":[{"id":"B","isPrivate":false}],"posts":[{"id":"A","title":"a","eta":"soon","board":{"id":"C"},"mergeHistory":[{"post":{"id":"M","title":"m"}}]}],
    "votes":[{"post":{"id":"A"},"voter":{"id":"U"}}],"items":[{"id":"1","value":"x","post":{"id":"A"},"created":"2021-01-01"},{"id":"2","parentID":"1","value":"y","created":"2021-01-01","post":{"id":"A"}}],
    "statusChanges":[{"id":"S","status":"open","post":{"id":"A"},"created":"2021-01-01","changeComment":{"value":"x"}}],"entries":[{"id":"E","title":"e","plaintextDetails":"x"},{"title":""}]}"#;

#[test]
fn more_records_than_can_be_remembered_are_refused() {
    // A board, an unknown board, two posts, those listed for one, a merge with its text, a vote, two comments, one with a
    // reply, a comment of a change and its time, a change, and a changelog.
    let needed = 1 + 1 + 2 + 1 + 2 + 1 + 2 + 1 + 2 + 1 + 1;
    for max_records in 0..needed {
        let error = convert(&inputs(&[("a.json", ALL)]), &options(max_records), &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    let mut kept = Kept::default();
    convert(&inputs(&[("a.json", ALL)]), &options(needed), &mut kept).unwrap();
    assert_eq!(kept.texts(), ["note A:fields ETA: soon", "1 x", "2 > x\n\ny"]);
}

#[test]
fn quotes_stay_within_memory() {
    let mut comments = String::new();
    for n in 0..20 {
        write!(comments, "{{\"id\":\"{n}\",\"value\":\"{}\",\"post\":{{\"id\":\"A\"}}}},", "x".repeat(80)).unwrap();
        write!(comments, "{{\"id\":\"r{n}\",\"value\":\"y\",\"post\":{{\"id\":\"A\"}},\"parentID\":\"{n}\"}},")
            .unwrap();
    }
    let text =
        format!("{{\"posts\":[{{\"id\":\"A\",\"title\":\"a\"}}],\"items\":[{}]}}", comments.trim_end_matches(','));
    for (max_records, quotes) in [(61, 5), (1_000, 20)] {
        let mut kept = Kept::default();
        convert(&inputs(&[("a.json", &text)]), &options(max_records), &mut kept).unwrap();
        assert_eq!(kept.texts().iter().filter(|text| text.contains("> ")).count(), quotes);
        let left_out = ("quotes of comments that have replies", 20 - quotes as u64, None);
        assert_eq!(kept.lost(), if quotes == 20 { vec![] } else { vec![left_out] });
        assert!(kept.problems.is_empty());
    }
}

#[test]
fn a_file_that_cannot_be_read_and_a_full_disk_end_the_conversion() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("posts.json");
    std::fs::write(&path, "[]").unwrap();
    let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = convert(&files, &options(MAX_RECORDS), &mut Kept::default()).unwrap_err();
    assert!(error.to_string().starts_with("`posts.json` cannot be read: "), "{error}");
    assert!(!recognizes(&files));

    let files = inputs(&[("a.json", ALL), ("b.md", "#")]);
    let mut whole = Kept::default();
    convert(&files, &options(MAX_RECORDS), &mut whole).unwrap();
    let steps = whole.records.len() + whole.problems.len() + whole.lost.len() + whole.rejected_kinds.len();
    for space in 0..steps {
        let mut kept = Kept { space: Some(space), ..Kept::default() };
        let error = convert(&files, &options(MAX_RECORDS), &mut kept).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    let mut kept = Kept { space: Some(steps), ..Kept::default() };
    assert!(convert(&files, &options(MAX_RECORDS), &mut kept).is_ok());
}

proptest! {
    #[test]
    fn any_bytes_are_converted_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let files = [Input::from_bytes("a.json", bytes)];
        let _ = recognizes(&files);
        let _ = convert(&files, &options(MAX_RECORDS), &mut Kept::default());
    }

    /// Any values under the known keys are converted: votes add up, ids are unique, and what is rejected is JSON.
    #[test]
    fn any_values_are_converted(values in prop::collection::vec((0..24_usize, 0..14_usize), 1..60), score in -3..9) {
        const KEYS: [&str; 24] = [
            "id", "title", "details", "author", "board", "by", "category", "created", "customFields", "eta", "imageURLs",
            "mergeHistory", "score", "status", "tags", "url", "voter", "post", "value", "parentID", "internal", "changer",
            "changeComment", "posts",
        ];
        const VALUES: [&str; 14] = [
            "null", "1", "-2.5", "true", "\"\"", "\"A\"", "\"B\"", "\"2021-01-01\"", "\"a@x.example\"", "[]", "[1,null,{}]",
            r#"{"id":"A","email":"b@x.example","value":"x","isPrivate":1,"name":"n"}"#,
            r#"[{"post":{"id":"C","title":"c"},"name":"n","value":[1]}]"#, r#"{"id":"B"}"#,
        ];
        let records: Vec<_> = values
            .chunks(6)
            .map(|keys| {
                let fields: Vec<_> = keys.iter().map(|(key, value)| format!("\"{}\":{}", KEYS[*key], VALUES[*value])).collect();
                format!("{{{}}}", fields.join(","))
            })
            .collect();
        let records = records.join(",");
        let text = format!(
            r#"{{"posts":[{{"id":"A","title":"a","score":{score}}},{records}],"votes":[{records}],"items":[{records}],
            "comments":[{records}],"statusChanges":[{records}],"entries":[{records}],"boards":[{records}]}}"#
        );
        let (kept, votes) = run(&[("a.json", &text)]).unwrap();
        prop_assert_eq!(kept.votes().len() as u64, votes.voters);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!(nameless, votes.nameless);
        let ids: HashSet<_> = kept.requests().iter().map(|request| &request.external_id).collect();
        prop_assert_eq!(ids.len(), kept.requests().len());
        prop_assert!(serde_json::from_str::<Vec<serde_json::Value>>(&kept.rejected(0)).is_ok());
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.rejected_kinds.len());
    }
}
