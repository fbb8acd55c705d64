//! Tables of cases for the conversion of CSV files.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io::Read;

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::dates::DayOrder;
use crate::records::{
    Action, Comment, FeatureRequest, Kind, Lost, Note, Origin, Person, PersonKey, Problem, Record, Vote,
};
use crate::table::MAX_RECORD_BYTES;

/// A sink that keeps everything.
#[derive(Default)]
struct Kept {
    records: Vec<Record>,
    problems: Vec<Problem>,
    lost: Vec<(String, u64)>,
    /// The rejected bytes of each file, without its head.
    rejected: BTreeMap<usize, Vec<u8>>,
    heads: BTreeMap<usize, Vec<u8>>,
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

    /// The votes, as feature request and address.
    fn votes(&self) -> Vec<(&str, &str)> {
        let votes = self.records.iter().filter_map(|record| match record {
            Record::Vote(Vote { request, person: Person { key: PersonKey::Email(email), .. }, .. }) => {
                Some((request.as_str(), email.as_str()))
            }
            _ => None,
        });
        votes.collect()
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

    fn rejected(&self, file: usize) -> &str {
        self.rejected.get(&file).map_or("", |bytes| std::str::from_utf8(bytes).unwrap())
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
        self.lost.push((lost.what, lost.count));
        self.take_space()
    }

    fn rejected(&mut self, _: Kind, file: usize, head: &[u8], original: &mut dyn Read) -> io::Result<()> {
        self.heads.insert(file, head.to_vec());
        original.read_to_end(self.rejected.entry(file).or_default())?;
        self.take_space()
    }
}

fn nothing_is_known(_: &str) -> bool {
    false
}

fn options(map: &FieldMap) -> Options<'_> {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { map, encoding: None, delimiter: None, dates, is_known: &nothing_is_known, max_records: MAX_RECORDS }
}

fn inputs(files: &[(&str, &str)]) -> Vec<Input> {
    files.iter().map(|(name, text)| Input::from_bytes(*name, text.as_bytes())).collect()
}

fn run(files: &[(&str, &str)], maps: &[&str]) -> Result<(Kept, Summary), String> {
    let mut map = FieldMap::default();
    for text in maps {
        map.add(text).unwrap();
    }
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(&map), &mut kept) {
        Ok(summary) => Ok((kept, summary)),
        Err(error) => Err(error.to_string()),
    }
}

fn converted(files: &[(&str, &str)]) -> (Kept, Summary) {
    run(files, &[]).unwrap()
}

/// Converts one file.
fn of(text: &str) -> Kept {
    converted(&[("posts.csv", text)]).0
}

#[test]
fn all_fields_of_a_feature_request_are_read() {
    let kept = of(
        "id,title,description,status,tags,private,author_email,author_name,votes,voters,created_at,url,merged_into\n\
                   A-1,\" Dark\nmode \",\"Please,\n\"\"soon\"\"\",Planned,ui|theme,yes, Ann@Customer.example,Ann  ,4,bob@x.example,2024-05-01,https://old.example/1, A-2 \n",
    );
    assert_eq!(
        kept.requests(),
        [&FeatureRequest {
            external_id: "A-1".to_owned(),
            title: "Dark mode".to_owned(),
            description: "Please,\n\"soon\"".to_owned(),
            status: Some("Planned".to_owned()),
            tags: vec!["ui".to_owned(), "theme".to_owned()],
            is_private: true,
            awaits_approval: false,
            author: Some(Person {
                key: PersonKey::Email("Ann@Customer.example".to_owned()),
                name: Some("Ann".to_owned())
            }),
            is_team: false,
            nameless_votes: 3,
            created_at: Timestamp::parse("2024-05-01T00:00:00Z"),
            url: Some("https://old.example/1".to_owned()),
            merged_into: Some("A-2".to_owned()),
            origin: Origin { file: 0, line: 2 },
        }]
    );
    assert_eq!(kept.votes(), [("A-1", "bob@x.example")]);
    assert!(kept.problems.is_empty() && kept.lost.is_empty() && kept.rejected.is_empty());
}

#[test]
fn only_a_title_is_needed() {
    let (kept, summary) = converted(&[("posts.csv", "Title\nDark mode\n")]);
    let [request] = kept.requests()[..] else { panic!() };
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
            origin: Origin { file: 0, line: 2 },
        }
    );
    assert_eq!(request.external_id.len(), 32);
    assert_eq!(summary.files, [(0, FileKind::FeatureRequests)]);
}

#[test]
fn a_record_that_cannot_be_a_feature_request_is_rejected_with_its_bytes() {
    let kept = of("id,title\n1,one\n2, \u{200b}\n1,\"again\n\"\n3\n4,a\0b\n5,five");
    assert_eq!(
        kept.problems(),
        [
            "3 2 title= \u{200b} Rejected: the title is blank",
            "4 1 id=1 Rejected: an earlier record has the same id",
            "6 Rejected: the record has 1 cells, but the header has 2",
            "7 Rejected: the record has a NUL character",
        ]
    );
    assert_eq!(kept.rejected(0), "2, \u{200b}\n1,\"again\n\"\n3\n4,a\0b\n");
    assert_eq!(kept.heads[&0], b"id,title\n");
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["1", "5"]);
}

#[test]
fn a_record_without_an_id_is_one_by_title_and_time() {
    let kept = of("title,created_at\nDark mode,2024-05-01\nDark mode,2024-05-02\nDark mode,2024-05-01\n");
    assert_eq!(
        kept.problems(),
        ["4 title=Dark mode Rejected: an earlier record has the same title and time, and there is no id"]
    );
    assert_eq!(kept.requests().len(), 2);
    // A rejected blank title without an id does not take the place of anything.
    assert_eq!(
        of("title,id\n,\n,\n").problems(),
        ["2 title= Rejected: the title is blank", "3 title= Rejected: the title is blank"]
    );
}

#[test]
fn a_record_that_is_too_large_is_copied_from_the_file() {
    let large = format!("2,\"{}\"\n", "x\n".repeat(MAX_RECORD_BYTES / 2));
    let kept = of(&format!("id,title\n1,one\n{large}3,three\n"));
    assert_eq!(kept.rejected(0), large);
    let last = 3 + MAX_RECORD_BYTES / 2;
    assert_eq!(kept.problems(), [format!("3 Rejected: the record is larger than 4 MB, up to line {last}")]);
    assert_eq!(kept.requests().len(), 2);
}

#[test]
fn other_bad_values_are_listed() {
    let long = "x".repeat(201);
    let tag = "y".repeat(51);
    let url = "z".repeat(2_001);
    let tags: Vec<String> = (0..21).map(|n| format!("t{n}")).collect();
    let head = "id,title,tags,private,author_email,author_name,votes,voters,created_at,url\n";
    let row = format!(
        "1,{long},{tag}|{},perhaps,not-an-address,Ann,-4,x@@y;ann@x.example,2024-13-45,{url}\n",
        tags.join("|")
    );
    let kept = of(&format!("{head}{row}2,two,,,,Bob,many,,01.05.2024,\n3,three,,,,,,,2999-01-01,\n"));
    let cut = |text: &str| format!("{}…", &text[..79]);
    assert_eq!(
        kept.problems(),
        [
            format!(
                "2 1 title={} Changed: the title is longer than 200 characters: it is cut, and whole before the description",
                cut(&long)
            ),
            format!("2 1 tags={tag} Ignored: tags have at most 50 characters"),
            "2 1 tags=t20 Ignored: a feature request has at most 20 tags: 1 are left out".to_owned(),
            "2 1 private=perhaps Ignored: the value is neither yes nor no".to_owned(),
            "2 1 author_email=not-an-address Ignored: author_email is not a valid e-mail address".to_owned(),
            "2 1 votes=-4 Changed: the count is below 0: it is 0".to_owned(),
            "2 1 voters=x@@y Changed: voters is not a valid e-mail address: the vote has no name".to_owned(),
            "2 1 created_at=2024-13-45 Changed: the time cannot be read".to_owned(),
            format!("2 1 url={} Ignored: the address is too long or has control characters", cut(&url)),
            "3 2 votes=many Ignored: the count is no whole number".to_owned(),
            "3 2 created_at=01.05.2024 Changed: the time cannot be read without --dates dmy or --dates mdy".to_owned(),
            "4 3 created_at=2999-01-01 Changed: the time is in the future".to_owned(),
        ]
    );
    let requests = kept.requests();
    assert_eq!((requests[0].title.chars().count(), requests[0].description.as_str()), (200, long.as_str()));
    assert_eq!((requests[0].tags.len(), requests[0].nameless_votes, &requests[0].author), (20, 1, &None));
    assert_eq!((requests[0].url.as_ref(), requests[0].created_at, requests[0].is_private), (None, None, false));
    assert_eq!(kept.lost, [("names without an address".to_owned(), 2)]);
}

#[test]
fn more_records_than_can_be_remembered_are_refused() {
    let map = FieldMap::default();
    let files = inputs(&[
        ("posts.csv", "id,title,voters\nA,a,\nB,b,ann@x.example;bob@x.example;bob@x.example\n"),
        ("votes.csv", "request_id,email\nA,ann@x.example\nB,ann@x.example\n"),
        ("comments.csv", "request_id,body\nA,Yes\n"),
    ]);
    // Two ids, twice as those of listed voters, three votes and a comment.
    for max_records in 0..8 {
        let error = convert(&files, &Options { max_records, ..options(&map) }, &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    assert!(convert(&files, &Options { max_records: 8, ..options(&map) }, &mut Kept::default()).is_ok());
}

#[test]
fn dates_are_read_in_the_given_order() {
    let map = FieldMap::default();
    let mut kept = Kept::default();
    let dates = Dates { order: Some(DayOrder::DayFirst), ..options(&map).dates };
    convert(&inputs(&[("a.csv", "title,date\nx,1.2.2024\n")]), &Options { dates, ..options(&map) }, &mut kept).unwrap();
    assert_eq!(kept.requests()[0].created_at, Timestamp::parse("2024-02-01T00:00:00Z"));
}

#[test]
fn guards_against_formulas_are_taken_off_once() {
    let kept = of("id,title,description,tags,author_email,author_name,voters\n\
                   '=1,'=1+1,'+1,'@ui|'-x,'+ann@x.example,'@Ann,'+bob@x.example\n''=1,'quoted',''=1,,,,\n");
    let requests = kept.requests();
    let text = |request: &FeatureRequest| {
        (request.external_id.clone(), request.title.clone(), request.description.clone(), request.tags.clone())
    };
    let owned = |id: &str, title: &str, description: &str, tags: &[&str]| {
        (
            id.to_owned(),
            title.to_owned(),
            description.to_owned(),
            tags.iter().map(ToString::to_string).collect::<Vec<_>>(),
        )
    };
    assert_eq!(text(requests[0]), owned("=1", "=1+1", "+1", &["@ui", "'-x"]));
    assert_eq!(text(requests[1]), owned("''=1", "'quoted'", "''=1", &[]));
    let author = Person { key: PersonKey::Email("+ann@x.example".to_owned()), name: Some("@Ann".to_owned()) };
    assert_eq!(requests[0].author, Some(author));
    assert_eq!(kept.votes(), [("=1", "+bob@x.example")]);
}

#[test]
fn votes_are_counted_over_all_files() {
    let posts = "id,title,votes,voters\n\
                 A,a,2,ann@x.example;bob@x.example\n\
                 B,b,9,ann@x.example;ANN@x.example;nobody\n\
                 C,c,3,\n\
                 D,d,,\n";
    let votes = "request_id,email,name,created_at\n\
                 A,cem@x.example,Cem,2024-05-03T08:00:00Z\n\
                 A,BOB@x.example,,\n\
                 B,,Somebody,\n\
                 B,bad,,\n\
                 C,ann@x.example,,tomorrow\n\
                 X,ann@x.example,,\n\
                 ,ann@x.example,,\n";
    // The order of the files does not matter.
    for files in [[("posts.csv", posts), ("votes.csv", votes)], [("votes.csv", votes), ("posts.csv", posts)]] {
        let (kept, summary) = converted(&files);
        let nameless: Vec<_> = kept.requests().iter().map(|request| request.nameless_votes).collect();
        // B: 9 are counted, 5 are listed, of which 3 have no address.
        assert_eq!(nameless, [0, 7, 2, 0]);
        let voters = [("A", "ann"), ("A", "bob"), ("B", "ann"), ("A", "cem"), ("C", "ann")];
        let voters: Vec<_> = voters.iter().map(|(id, name)| (*id, format!("{name}@x.example"))).collect();
        let found: Vec<_> = kept.votes().into_iter().map(|(id, email)| (id, email.to_owned())).collect();
        assert_eq!(found, voters);
        assert_eq!(summary.votes, VoteTotals { voters: 5, nameless: 9, doubles: 2 });
        assert_eq!(
            kept.problems(),
            [
                "3 B voters=nobody Changed: voters is not a valid e-mail address: the vote has no name",
                "5 B email=bad Changed: email is not a valid e-mail address: the vote has no name",
                "6 C created_at=tomorrow Changed: the time cannot be read",
                "7 request_id=X Skipped: there is no feature request with this id",
                "8 request_id= Skipped: the id of the feature request is blank",
            ]
        );
        let lost = [("names without an address", 1), ("votes for unknown feature requests", 2)];
        assert_eq!(kept.lost, lost.map(|(what, count)| (what.to_owned(), count)));
        let cem = kept.records.iter().find_map(|record| match record {
            Record::Vote(vote) if vote.person.name.is_some() => Some(vote),
            _ => None,
        });
        let cem = cem.unwrap();
        assert_eq!(
            (cem.person.name.as_deref(), cem.created_at),
            (Some("Cem"), Timestamp::parse("2024-05-03T08:00:00Z"))
        );
    }
}

#[test]
fn votes_and_comments_may_be_for_feature_requests_of_an_earlier_run() {
    let map = FieldMap::default();
    let mut kept = Kept::default();
    let is_known = |id: &str| id == "A";
    let files = inputs(&[
        ("votes.csv", "request_id,email\nA,ann@x.example\nA,bad\nB,ann@x.example\n"),
        ("comments.csv", "request_id,body\nA,Yes\nB,No\n"),
    ]);
    let summary = convert(&files, &Options { is_known: &is_known, ..options(&map) }, &mut kept).unwrap();
    assert_eq!(kept.records.len(), 2);
    assert_eq!(summary.votes, VoteTotals { voters: 1, nameless: 0, doubles: 0 });
    assert_eq!(
        kept.problems(),
        [
            "3 A email=bad Skipped: email is not a valid e-mail address: the vote is left out, because the feature request is from another run",
            "4 request_id=B Skipped: there is no feature request with this id",
            "3 request_id=B Skipped: there is no feature request with this id",
        ]
    );
}

#[test]
fn comments_and_notes_are_read() {
    let comments = "id,request_id,body,author_email,author_name,team,internal,created_at\n\
                    C-1,A,\"Yes,\nplease\",bob@x.example,Bob,no,no,2024-05-02\n\
                    C-2,A,On it,,Arya,yes,no,\n\
                    C-3,A,Deal,arya@x.example,Arya,yes,yes,2024-05-04\n\
                    C-4,A, ,,,,,\n\
                    C-1,A,again,,,,,\n\
                    C-5,X,lost,,,,,\n\
                    C-6,A,odd,bad,,perhaps,,soon\n\
                    ,A,no id,,,,,\n\
                    ,A,no id,,,,,\n";
    let (kept, summary) = converted(&[("posts.csv", "id,title\nA,a\n"), ("comments.csv", comments)]);
    assert_eq!(summary.files, [(0, FileKind::FeatureRequests), (1, FileKind::Comments)]);
    let person =
        |email: &str, name: &str| Some(Person { key: PersonKey::Email(email.to_owned()), name: Some(name.to_owned()) });
    let comment = |id: &str, body: &str, author, is_team, at: &str, line| {
        Record::Comment(Comment {
            external_id: id.to_owned(),
            request: "A".to_owned(),
            body: body.to_owned(),
            author,
            is_team,
            is_held: false,
            created_at: Timestamp::parse(at),
            origin: Origin { file: 1, line },
        })
    };
    assert_eq!(
        kept.records[1..5],
        [
            comment("C-1", "Yes,\nplease", person("bob@x.example", "Bob"), false, "2024-05-02T00:00:00Z", 2),
            comment("C-2", "On it", None, true, "", 4),
            Record::Note(Note {
                is_team: true,
                external_id: "C-3".to_owned(),
                request: "A".to_owned(),
                body: "Deal".to_owned(),
                author: person("arya@x.example", "Arya"),
                created_at: Timestamp::parse("2024-05-04T00:00:00Z"),
                origin: Origin { file: 1, line: 5 },
            }),
            comment("C-6", "odd", None, false, "", 9),
        ]
    );
    assert_eq!(kept.records.len(), 6);
    assert_eq!(
        kept.problems(),
        [
            "6 C-4 body=  Rejected: the text is blank",
            "7 C-1 id=C-1 Rejected: an earlier record has the same id",
            "8 request_id=X Skipped: there is no feature request with this id",
            "9 C-6 team=perhaps Ignored: the value is neither yes nor no",
            "9 C-6 author_email=bad Ignored: author_email is not a valid e-mail address",
            "9 C-6 created_at=soon Changed: the time cannot be read",
            "11 id= Rejected: an earlier record is the same, and there is no id",
        ]
    );
    assert_eq!(kept.rejected(1), "C-4,A, ,,,,,\nC-1,A,again,,,,,\n,A,no id,,,,,\n");
    let lost = [("names without an address", 1), ("comments on unknown feature requests", 1)];
    assert_eq!(kept.lost, lost.map(|(what, count)| (what.to_owned(), count)));
}

#[test]
fn a_category_that_all_share_is_no_tag() {
    for (text, tags, shared) in [
        ("title,category,tags\na,Web,ui\nb,Web,\n", vec![vec!["ui"], vec![]], Some("Web")),
        ("title,category\na,Web\nb,App\n", vec![vec!["Web"], vec!["App"]], None),
        ("title,category\na,Web\nb,\n", vec![vec!["Web"], vec![]], None),
        ("title,category\na,Web\n", vec![vec!["Web"]], None),
        ("title,category\na,Web\n,App\nb,Web\nc\n", vec![vec![], vec![]], Some("Web")),
        ("title,board,category\na,Ideas,Web\nb,Ideas,App\n", vec![vec!["Web"], vec!["App"]], Some("Ideas")),
        ("title,tags\na,ui\nb,ui\n", vec![vec!["ui"], vec!["ui"]], None),
    ] {
        let (kept, summary) = converted(&[("posts.csv", text)]);
        let found: Vec<_> = kept.requests().iter().map(|request| request.tags.clone()).collect();
        assert_eq!(found, tags, "{text}");
        assert_eq!(summary.shared_category.as_deref(), shared, "{text}");
    }
    let (kept, _) = converted(&[("a.csv", "id,title,board\n1,a,Web\n"), ("b.csv", "id,title,board\n2,b,App\n")]);
    assert!(kept.requests().iter().all(|request| request.tags.len() == 1));
}

#[test]
fn columns_without_a_field_are_lost() {
    let (kept, _) =
        run(&[("posts.csv", "title,colour,\u{1b}size,votes\na,red,,1\nb,blue,x,2\nc,,,\n")], &["votes="]).unwrap();
    let lost = [("column colour", 2), ("column votes", 2), ("column \u{fffd}size", 1)];
    assert_eq!(kept.lost, lost.map(|(what, count)| (what.to_owned(), count)));
}

#[test]
fn a_file_without_a_title_names_its_columns() {
    assert_eq!(
        run(&[("posts.csv", "colour,size\nred,1\n")], &[]).err().unwrap(),
        "`posts.csv` has no column for the title. Its columns are `colour`, `size`. Name one with --map \"title=COLUMN\""
    );
    let (kept, _) = run(&[("posts.csv", "colour,size\nred,1\n")], &["title=Colour", "votes=SIZE"]).unwrap();
    assert_eq!((kept.requests()[0].title.as_str(), kept.requests()[0].nameless_votes), ("red", 1));
    assert_eq!(
        run(&[("posts.csv", "title\nred\n")], &["votes=Colour\u{7}"]).err().unwrap(),
        "no file has the column `Colour\u{fffd}` of --map"
    );
}

#[test]
fn files_of_an_archive_that_are_no_tables_are_left_out() {
    let posts = ("posts.csv", "title\na\n");
    let (kept, summary) = converted(&[("README.md", "# Export"), posts, ("logo.png", "\u{0}PNG\n"), ("empty", "")]);
    assert_eq!(summary.files, [(1, FileKind::FeatureRequests)]);
    assert_eq!(kept.problems(), ["Skipped: the file is no table of a known kind"; 3]);
    assert_eq!(kept.problems[1].file, "logo.png");
    for (files, message) in [
        (vec![("README.md", "# Export"), ("b", "colour\n")], "`README.md` has no column for the title."),
        (vec![posts, ("other.CSV", "colour\n")], "`other.CSV` has no column for the title."),
        (vec![posts, ("other.tsv", "")], "`other.tsv` cannot be imported: the file is empty"),
        (
            vec![("posts.csv", "title,Title\n")],
            "`posts.csv` cannot be imported: the columns `title` and `Title` have the same name",
        ),
        (vec![("a\u{1b}.csv", "")], "`a\u{fffd}.csv` cannot be imported: the file is empty"),
    ] {
        let error = run(&files, &[]).err().unwrap();
        assert!(error.starts_with(message), "{error}");
    }
    let (_, summary) = converted(&[]);
    assert_eq!(summary.files, []);
}

#[test]
fn an_unknown_encoding_is_a_warning() {
    let map = FieldMap::default();
    let file = [Input::from_bytes("posts.csv", *b"id;title\r\n1;\xdcber\r\n2;caf\xe9\r\n")];
    let mut kept = Kept::default();
    convert(&file, &options(&map), &mut kept).unwrap();
    assert_eq!(
        kept.problems(),
        ["Changed: the encoding is not known, so the file is read as windows-1252: --encoding names another one"]
    );
    assert_eq!(kept.requests()[0].title, "Über");
    let mut kept = Kept::default();
    convert(&file, &Options { encoding: Some(encoding_rs::UTF_8), ..options(&map) }, &mut kept).unwrap();
    assert_eq!(
        kept.problems(),
        ["2 Rejected: the record has bytes that are no UTF-8", "3 Rejected: the record has bytes that are no UTF-8"]
    );
    assert_eq!(kept.rejected[&0], b"1;\xdcber\r\n2;caf\xe9\r\n");
    let mut kept = Kept::default();
    let error = convert(&file, &Options { delimiter: Some(b','), ..options(&map) }, &mut kept).unwrap_err();
    assert!(matches!(error, CsvError::NoTitle { .. }));
}

#[test]
fn a_file_is_inspected_before_it_is_converted() {
    let mut map = FieldMap::default();
    map.add("votes=").unwrap();
    let [posts, other] = &inputs(&[("posts.csv", "Headline,Score,colour\n"), ("x", "Wish,State\n")])[..] else {
        panic!()
    };
    let inspection = inspect(posts, &options(&map)).unwrap();
    let columns = [("Headline", Some(Field::Title)), ("Score", None), ("colour", None)];
    assert_eq!(inspection.columns, columns.map(|(name, field)| (name.to_owned(), field)));
    assert_eq!((inspection.kind, inspection.encoding.encoding.name()), (Some(FileKind::FeatureRequests), "UTF-8"));
    let inspection = inspect(other, &options(&map)).unwrap();
    // The title is missing, so that nobody need choose the other fields again.
    let columns = [("Wish", None), ("State", Some(Field::Status))];
    assert_eq!(inspection.kind, None);
    assert_eq!(inspection.columns, columns.map(|(name, field)| (name.to_owned(), field)));
}

#[test]
fn a_file_that_cannot_be_read_and_a_full_disk_end_the_conversion() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("posts.csv");
    std::fs::write(&path, "title\n").unwrap();
    let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let map = FieldMap::default();
    let error = convert(&files, &options(&map), &mut Kept::default()).unwrap_err();
    assert!(error.to_string().starts_with("`posts.csv` cannot be read: "), "{error}");

    let files = inputs(&[
        ("posts.csv", "id,title,voters,colour\n1,a,ann@x.example,red\n2\n2,\n"),
        ("comments.csv", "request_id,body\n1,Yes\n2,No\n"),
    ]);
    let mut whole = Kept::default();
    convert(&files, &options(&map), &mut whole).unwrap();
    let steps = whole.records.len() + whole.problems.len() + whole.lost.len() + 2;
    for space in 0..steps {
        let mut kept = Kept { space: Some(space), ..Kept::default() };
        let error = convert(&files, &options(&map), &mut kept).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    assert!(convert(&files, &options(&map), &mut Kept { space: Some(steps), ..Kept::default() }).is_ok());
}

proptest! {
    /// No file makes the conversion panic, all that is rejected is in the file, and votes add up.
    #[test]
    fn any_table_is_converted(
        rows in prop::collection::vec("[ab12,;|@.'=\"\n-]{0,30}", 0..10),
        voters in prop::collection::vec("[ab]@x[.]example|bad|", 0..6),
        count in -3_i64..9,
    ) {
        let posts = format!("id,title,votes,voters\nA,a,{count},{}\n{}\n", voters.join(";"), rows.join("\n"));
        let votes = format!("request_id,email\nA,a@x.example\n{}\n", rows.join("\n"));
        let (kept, summary) = converted(&[("posts.csv", &posts), ("votes.csv", &votes)]);
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert!(rejected == 0 || !kept.rejected.is_empty());
        prop_assert_eq!(kept.votes().len() as u64, summary.votes.voters);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!(nameless, summary.votes.nameless);
        let unique: HashSet<_> = kept.votes().into_iter().map(|(id, email)| (id, email.to_lowercase())).collect();
        prop_assert_eq!(unique.len(), kept.votes().len());
    }
}
