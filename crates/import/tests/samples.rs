//! Small files of each kind, through the public interface: from a path to records and counts.

// Tests panic when an expectation fails.
#![expect(clippy::unwrap_used)]

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use roadmap_domain::model::timestamp::Timestamp;
use roadmap_import::archive::{Input, Limits, open};
use roadmap_import::dates::Dates;
use roadmap_import::encoding::from_label;
use roadmap_import::records::{
    Action, Changelog, Comment, FeatureRequest, Kind, Lost, Note, PersonKey, Problem, Record, Sink, Status, Vote,
    VoteTotals,
};
use roadmap_import::sources::csv::{FieldMap, FileKind, MAX_RECORDS, Options, Summary, convert};
use roadmap_import::sources::{astuto, canny, clearflask, fider, github, logchimp, quackback, uservoice};

/// What a conversion finds.
#[derive(Default)]
struct Found {
    requests: Vec<FeatureRequest>,
    votes: Vec<Vote>,
    comments: Vec<Comment>,
    notes: Vec<Note>,
    changelogs: Vec<Changelog>,
    /// Other records.
    others: Vec<Record>,
    problems: Vec<Problem>,
    lost: Vec<Lost>,
    rejected: Vec<u8>,
}

impl Found {
    fn count(&self, action: Action) -> usize {
        self.problems.iter().filter(|problem| problem.action == action).count()
    }

    fn request(&self, id: &str) -> &FeatureRequest {
        self.requests.iter().find(|request| request.external_id == id).unwrap()
    }

    fn titles(&self) -> Vec<&str> {
        self.requests.iter().map(|request| request.title.as_str()).collect()
    }
}

impl Sink for Found {
    fn record(&mut self, record: Record) -> io::Result<()> {
        let line = serde_json::to_string(&record)?;
        assert_eq!(serde_json::from_str::<Record>(&line)?, record);
        match record {
            Record::FeatureRequest(request) => self.requests.push(request),
            Record::Vote(vote) => self.votes.push(vote),
            Record::Comment(comment) => self.comments.push(comment),
            Record::Note(note) => self.notes.push(note),
            Record::Changelog(changelog) => self.changelogs.push(changelog),
            other => self.others.push(other),
        }
        Ok(())
    }

    fn problem(&mut self, problem: Problem) -> io::Result<()> {
        self.problems.push(problem);
        Ok(())
    }

    fn lost(&mut self, lost: Lost) -> io::Result<()> {
        self.lost.push(lost);
        Ok(())
    }

    fn rejected(&mut self, _: Kind, _: usize, _: &[u8], original: &mut dyn Read) -> io::Result<()> {
        original.read_to_end(&mut self.rejected).map(drop)
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn import(names: &[&str], encoding: Option<&str>) -> (Found, Summary) {
    let inputs: Vec<_> = names.iter().flat_map(|name| open(&sample(name), &Limits::default()).unwrap()).collect();
    let map = FieldMap::default();
    let options = Options {
        map: &map,
        encoding: encoding.map(|label| from_label(label).unwrap()),
        delimiter: None,
        dates: Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() },
        is_known: &|_| false,
        max_records: MAX_RECORDS,
    };
    let mut found = Found::default();
    let summary = convert(&inputs, &options, &mut found).unwrap();
    assert_eq!(found.others, []);
    (found, summary)
}

#[test]
fn posts_with_votes_and_comments() {
    let (found, summary) = import(&["csv/posts.csv", "csv/votes.csv", "csv/comments.csv"], None);
    assert_eq!(summary.files, [(0, FileKind::FeatureRequests), (1, FileKind::Votes), (2, FileKind::Comments)]);
    let ids: Vec<_> = found.requests.iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["A-1", "A-2", "A-4", "A-5"]);
    assert_eq!((found.votes.len(), found.comments.len(), found.notes.len()), (6, 2, 1));
    assert_eq!(summary.votes, VoteTotals { voters: 6, nameless: 1, doubles: 1 });
    assert_eq!(summary.votes.source(), 8);

    let dark_mode = found.request("A-1");
    assert_eq!(dark_mode.description, "Please,\n\"soon\"");
    assert_eq!(dark_mode.tags, ["ui", "theme"]);
    assert_eq!(dark_mode.created_at, Timestamp::parse("2024-05-01T00:00:00Z"));
    assert_eq!(found.request("A-2").merged_into.as_deref(), Some("A-1"));
    assert_eq!((found.request("A-4").nameless_votes, &found.request("A-4").author), (1, &None));
    let long = found.request("A-5");
    assert_eq!((long.title.chars().count(), long.is_private, long.nameless_votes), (200, true, 0));
    assert_eq!(long.created_at, Timestamp::parse("2024-05-01T08:00:00Z"));
    assert_eq!(long.merged_into.as_deref(), Some("A-99"));

    assert_eq!(
        [Action::Rejected, Action::Skipped, Action::Changed, Action::Ignored].map(|action| found.count(action)),
        [3, 1, 5, 1]
    );
    assert_eq!(
        String::from_utf8(found.rejected).unwrap(),
        "A-3,,no title,,,,,,,,,,\nA-1,Dark mode again,,,,,,,,,,,\nC-4,A-4,,bob@customer.example,Bob,no,no,2024-05-05\n"
    );
    let what = "votes for unknown feature requests".to_owned();
    assert_eq!(found.lost, [Lost { what, count: 1, kind: Some(Kind::Votes) }]);
}

#[test]
fn a_folder_of_files() {
    let (found, summary) = import(&["csv"], None);
    assert_eq!(summary.files.len(), 5);
    assert_eq!((found.requests.len(), found.votes.len(), found.comments.len(), found.notes.len()), (8, 6, 2, 1));
}

#[test]
fn counts_without_voters() {
    let (found, summary) = import(&["csv/canny-style.csv"], None);
    let nameless: Vec<_> = found.requests.iter().map(|request| request.nameless_votes).collect();
    assert_eq!(nameless, [4, 1, 0]);
    assert_eq!(summary.votes, VoteTotals { voters: 0, nameless: 5, doubles: 0 });
    assert_eq!(found.requests[0].tags, ["ui", "Web"]);
    assert_eq!(found.requests[0].description, "Please add it.\n\nAt night the screen is too bright.");
    assert_eq!(found.requests[2].status.as_deref(), Some("Needs research"));
    assert_eq!(found.lost, [Lost { what: "column comment_count".to_owned(), count: 3, kind: None }]);
    assert!(found.problems.is_empty());
}

#[test]
fn files_of_windows() {
    let (found, _) = import(&["csv/semicolon-windows-1252.csv"], None);
    assert_eq!((found.titles(), found.problems.len()), (vec!["Über Größe – “quoted”"], 1));
    assert_eq!(found.requests[0].description, "5 € für ß");
}

#[test]
fn list_calls_of_canny() {
    let inputs = open(&sample("canny"), &Limits::default()).unwrap();
    assert!(canny::recognizes(&inputs));
    let options = canny::Options {
        encoding: None,
        dates: Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() },
        is_known: &|_| false,
        max_records: canny::MAX_RECORDS,
    };
    let mut found = Found::default();
    let votes = canny::convert(&inputs, &options, &mut found).unwrap();
    let id = |end: &str| format!("553c3ef8b8cdcd1501{end}");

    // One of them is only in the history of the first.
    assert_eq!(found.titles(), ["Dark mode", "Night theme", "Export to CSV", "Custom status here"]);
    let dark_mode = found.request(&id("be0001"));
    assert_eq!(
        dark_mode.description,
        "Please add it.\n\nAt night the screen is too bright.\n\n<https://canny.io/images/0123456789abcdef.png>"
    );
    assert_eq!(
        (dark_mode.tags.as_slice(), dark_mode.status.as_deref()),
        (&["ui".to_owned(), "Web".to_owned()][..], Some("planned"))
    );
    assert_eq!(found.request(&id("be0009")).merged_into, Some(id("be0001")));
    assert!(found.request(&id("be0002")).tags.is_empty());
    assert_eq!(found.request(&id("be0003")).author, None);

    // Four and one are counted. Four and two are listed, of which two are one person.
    assert_eq!(votes, VoteTotals { voters: 5, nameless: 0, doubles: 1 });
    let nameless: Vec<_> = found.requests.iter().map(|request| request.nameless_votes).collect();
    assert_eq!((found.votes.len(), nameless), (5, vec![0; 4]));
    assert_eq!(found.votes[2].person.key, PersonKey::ExternalId(id("ba0004")));

    let comments: Vec<_> = found.comments.iter().map(|comment| (comment.body.as_str(), comment.is_team)).collect();
    assert_eq!(comments, [("+1, please", false), ("> +1, please\n\nPlanned for spring.", true)]);
    let notes: Vec<_> = found.notes.iter().map(|note| note.body.as_str()).collect();
    assert_eq!(
        notes,
        ["ETA: March 2027", "Deal of 20k depends on it", "<https://canny.io/images/fedcba9876543210.png>"]
    );

    let [published, scheduled] = &found.changelogs[..] else { panic!() };
    assert_eq!(published.published_at, Timestamp::parse("2021-05-02T00:00:00Z"));
    assert_eq!((&published.requests, published.body.lines().count()), (&vec![id("be0001")], 4));
    assert_eq!((scheduled.published_at, scheduled.body.as_str()), (None, "soon"));

    let lost: Vec<_> = found.lost.iter().map(|lost| (lost.what.as_str(), lost.count)).collect();
    assert_eq!(
        lost,
        [
            ("names of those who posted or voted for others", 2),
            ("reactions", 2),
            ("times of scheduled changelogs", 1),
            ("types and labels of changelogs", 1),
        ]
    );
    assert!(found.problems.is_empty() && found.rejected.is_empty());
}

#[test]
fn hostile_tables() {
    let (found, _) = import(&["hostile/ragged.csv"], None);
    let problems: Vec<_> = found.problems.iter().map(|problem| problem.problem.as_str()).collect();
    assert_eq!(
        problems,
        [
            "the record has 2 cells, but the header has 3",
            "the record has 5 cells, but the header has 3",
            "the quote that opens in line 5 is not closed, so all lines up to 6 belong to this record"
        ]
    );
    assert_eq!((found.requests.len(), found.count(Action::Rejected)), (0, 3));

    let (found, _) = import(&["hostile/formulas.csv"], None);
    assert_eq!(found.titles(), ["=1+1", "-2 degrees", "=1", "=1"]);

    let (found, _) = import(&["hostile/invalid-utf8.csv"], None);
    assert_eq!((found.titles(), found.problems.len()), (vec!["café ÿþ", "ok"], 1));
    let (found, _) = import(&["hostile/invalid-utf8.csv"], Some("utf-8"));
    assert_eq!((found.titles(), found.count(Action::Rejected)), (vec!["ok"], 1));

    let (found, _) = import(&["hostile/html.csv"], None);
    assert_eq!(found.titles(), ["<script>alert(1)</script>", "md"]);
}

#[test]
fn hostile_archives() {
    for (name, message) in [
        ("hostile/zip-slip.zip", "the archive is refused: the name of the entry `../../evil.csv` contains `..`"),
        ("hostile/same-name-twice.zip", "the archive is refused: two entries have the name `posts.json`"),
        ("hostile/bomb-10MB.zip", "the archive is refused: `posts.json` would unpack to more than 200 times its size"),
    ] {
        assert_eq!(open(&sample(name), &Limits::default()).unwrap_err().to_string(), message);
    }
}

fn import_github(names: &[&str]) -> (Found, github::Summary) {
    let inputs: Vec<_> =
        names.iter().flat_map(|name| open(&sample(&format!("github/{name}")), &Limits::default()).unwrap()).collect();
    assert!(github::recognizes(&inputs));
    let options = github::Options {
        encoding: None,
        dates: Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() },
        is_known: &|_| false,
        max_records: MAX_RECORDS,
    };
    let mut found = Found::default();
    let summary = github::convert(&inputs, &options, &mut found).unwrap();
    (found, summary)
}

fn lost(what: &str, count: u64, kind: Option<Kind>) -> Lost {
    Lost { what: what.to_owned(), count, kind }
}

#[test]
fn issues_of_the_command_line_of_github() {
    let (found, summary) = import_github(&["gh-issue-list.json"]);
    assert_eq!(found.titles(), ["Dark mode", "Night theme"]);
    let dark_mode = found.request("acme/app#7");
    assert_eq!(dark_mode.tags, ["enhancement", "P: planned"]);
    assert_eq!((dark_mode.status.as_deref(), dark_mode.nameless_votes, dark_mode.is_team), (Some("Open"), 4, false));
    let author = dark_mode.author.as_ref().unwrap();
    assert_eq!((&author.key, author.name.as_deref()), (&PersonKey::ExternalId("ann".to_owned()), Some("Ann Lee")));
    assert_eq!(dark_mode.url.as_deref(), Some("https://github.com/acme/app/issues/7"));
    assert_eq!(dark_mode.created_at, Timestamp::parse("2024-01-01T10:00:00Z"));
    let night_theme = found.request("acme/app#9");
    assert_eq!((night_theme.status.as_deref(), &night_theme.author), (Some("Declined"), &None));
    let comments: Vec<_> =
        found.comments.iter().map(|comment| (comment.external_id.as_str(), &*comment.body, comment.is_team)).collect();
    assert_eq!(comments, [("IC_1", "+1", false), ("IC_2", "Planned.", true)]);
    assert_eq!(summary.votes, VoteTotals { voters: 0, nameless: 4, doubles: 0 });
    assert_eq!(
        found.lost,
        [lost("milestones", 1, None), lost("reactions", 1, None), lost("minimized comments", 1, Some(Kind::Comments)),]
    );
    assert!(found.problems.is_empty());
}

#[test]
fn pages_of_the_rest_api_of_github() {
    let (found, summary) = import_github(&["rest-issues.json"]);
    assert_eq!((found.titles(), found.request("acme/app#7").nameless_votes), (vec!["Dark mode"], 4));
    assert_eq!(summary.votes.source(), 4);
    assert_eq!(
        found.lost,
        [
            lost("comments that are not in the files", 2, None),
            lost("reactions", 1, None),
            lost("pull requests", 1, Some(Kind::FeatureRequests)),
        ]
    );
    assert!(found.problems.is_empty());

    let (found, summary) = import_github(&["rest-pages.json", "rest-comments.json"]);
    assert_eq!(found.titles(), ["Offline mode", "Sounds"]);
    let statuses: Vec<_> = found.requests.iter().map(|request| request.status.as_deref()).collect();
    assert_eq!(statuses, [Some("Declined"), Some("Done")]);
    assert_eq!((found.requests[0].tags.as_slice(), summary.votes.source()), (&["mobile".to_owned()][..], 1));
    let [comment] = &*found.comments else { panic!() };
    assert_eq!((&*comment.external_id, &*comment.request, comment.is_team), ("501", "acme/app#20", true));
    assert_eq!(
        found.lost,
        [
            lost("comments that are not in the files", 1, None),
            lost("reactions", 2, None),
            lost("comments on pull requests", 1, Some(Kind::Comments)),
            lost("comments on unknown feature requests", 1, Some(Kind::Comments)),
        ]
    );
    assert_eq!((found.problems.len(), found.count(Action::Skipped)), (1, 1));
}

#[test]
fn discussions_of_github() {
    let (found, summary) = import_github(&["discussions.json"]);
    assert_eq!(found.titles(), ["Calendar view", "Old thing", "Shortcuts"]);
    assert_eq!(summary.shared_category.as_deref(), Some("Ideas"));
    assert_eq!(summary.votes, VoteTotals { voters: 0, nameless: 7, doubles: 0 });
    let statuses: Vec<_> = found.requests.iter().map(|request| request.status.as_deref()).collect();
    assert_eq!(statuses, [Some("Open"), Some("Declined"), Some("Done")]);
    assert_eq!(
        (found.requests[0].tags.as_slice(), found.requests[0].nameless_votes),
        (&["ui".to_owned(), "a, b".to_owned()][..], 6)
    );
    assert_eq!((found.requests[2].description.as_str(), &found.requests[2].author), ("Like vim.", &None));
    let [comment, reply] = &*found.comments else { panic!() };
    assert_eq!((comment.is_team, &*comment.external_id), (true, "DC_1"));
    assert_eq!(
        reply.body,
        "> Which one? There are several, and each of them has its own idea of what a week i…\n\nThe small one."
    );
    assert_eq!((reply.is_team, &reply.author), (false, &None));
    let problems: Vec<_> =
        found.problems.iter().map(|problem| (problem.line, problem.id.as_deref(), problem.problem.as_str())).collect();
    assert_eq!(
        problems,
        [
            (Some(8), Some("DC_3"), "the text is blank"),
            (Some(79), Some("acme/app#13"), "the count is below 0: it is 0"),
            (Some(79), Some("acme/app#13"), "the time is in the future"),
        ]
    );
    let rejected: serde_json::Value = serde_json::from_slice(&found.rejected).unwrap();
    assert_eq!(rejected["number"], 11);
    assert_eq!(
        found.lost,
        [
            lost("comments that are not in the files", 2, None),
            lost("reactions", 3, None),
            lost("upvotes of comments", 1, None),
        ]
    );
}

#[test]
fn a_folder_of_files_of_github() {
    let (found, summary) = import_github(&[""]);
    assert_eq!((summary.files.len(), summary.shared_category), (5, None));
    assert_eq!((found.requests.len(), found.comments.len(), found.votes.len()), (7, 5, 0));
    assert_eq!(found.request("acme/app#11").tags, ["ui", "a, b", "Ideas"]);
    // A comment without a text, and an issue that is in two of the files.
    assert_eq!(found.count(Action::Rejected), 2);
    assert_eq!(summary.votes, VoteTotals { voters: 0, nameless: 12, doubles: 0 });
}

fn import_uservoice(names: &[&str]) -> (Found, uservoice::Summary) {
    let inputs: Vec<_> = names
        .iter()
        .flat_map(|name| open(&sample(&format!("uservoice/{name}")), &Limits::default()).unwrap())
        .collect();
    assert!(uservoice::recognizes(&inputs));
    let options = uservoice::Options {
        encoding: None,
        delimiter: None,
        dates: Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() },
        is_known: &|_| false,
        max_records: MAX_RECORDS,
    };
    let mut found = Found::default();
    let summary = uservoice::convert(&inputs, &options, &mut found).unwrap();
    (found, summary)
}

#[test]
fn exports_of_uservoice() {
    let (found, summary) = import_uservoice(&[""]);
    assert_eq!(summary.files, [(0, uservoice::FileKind::Comments), (1, uservoice::FileKind::Ideas)]);
    assert_eq!(found.titles(), ["Dark mode", "Export CSV"]);
    // The second voter of the first idea is there twice.
    assert_eq!(summary.votes, VoteTotals { voters: 3, nameless: 0, doubles: 1 });
    assert_eq!((found.votes.len(), found.notes.len()), (3, 0));
    assert_eq!(summary.shared_categories, ["Product Ideas", "Features"]);
    let dark_mode = found.request("1");
    assert_eq!(
        (&*dark_mode.description, dark_mode.status.as_deref()),
        ("Please add it,\nat night", Some("Under Review"))
    );
    assert_eq!((dark_mode.tags.as_slice(), dark_mode.is_private), (&["ui".to_owned(), "theme".to_owned()][..], false));
    assert_eq!(dark_mode.author.as_ref().unwrap().key, PersonKey::Email("alice@customer.example".to_owned()));
    assert_eq!(dark_mode.created_at, Timestamp::parse("2025-07-21T03:37:03Z"));
    // The status update is by the same address as the last comment, which is of the team for that.
    let comments: Vec<_> = found.comments.iter().map(|comment| (&*comment.body, comment.is_team)).collect();
    assert_eq!(comments, [("We look at it", true), ("Yes!", false), ("Soon.\nReally", true)]);
    assert_eq!(found.comments[2].external_id, "12");
    assert_eq!(found.lost, [lost("column Idea List Names", 1, None), lost("spam", 1, Some(Kind::FeatureRequests))]);
    assert!(found.problems.is_empty());

    let (found, summary) = import_uservoice(&["full-suggestions.csv"]);
    assert_eq!((found.comments.len(), summary.votes.source()), (1, 4));
}

fn import_quackback(name: &str) -> (Found, VoteTotals) {
    let inputs = open(&sample(name), &Limits::default()).unwrap();
    assert!(quackback::recognizes(&inputs));
    assert!(!clearflask::recognizes(&inputs) && !uservoice::recognizes(&inputs) && !fider::recognizes(&inputs));
    assert!(!canny::recognizes(&inputs) && !github::recognizes(&inputs));
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    let options =
        quackback::Options { encoding: None, delimiter: None, dates, is_known: &|_| false, max_records: MAX_RECORDS };
    let mut found = Found::default();
    let votes = quackback::convert(&inputs, &options, &mut found).unwrap();
    (found, votes)
}

#[test]
fn the_template_of_quackback() {
    let (found, votes) = import_quackback("quackback/template.csv");
    assert_eq!(found.titles(), ["Dark mode", "Post 2", "Post 4", "Post 5"]);
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 12, doubles: 0 });
    // The third one has the id of the first.
    assert_eq!(
        [Action::Rejected, Action::Skipped, Action::Changed, Action::Ignored].map(|action| found.count(action)),
        [1, 0, 2, 2]
    );
    let rejected =
        "\"Post 3\",\"Text, 3\",under_review,\"\",,\"\",x@customer.example,false,3,2026-01-03T00:00:00Z,ext-1\n";
    assert_eq!(String::from_utf8(found.rejected.clone()).unwrap(), rejected);
    let dark_mode = found.request("ext-1");
    assert_eq!(dark_mode.tags, ["ui", "theme", "feature-requests"]);
    let author = dark_mode.author.as_ref().unwrap();
    assert_eq!(
        (&author.key, author.name.as_deref()),
        (&PersonKey::Email("ann@customer.example".to_owned()), Some("Ann Lee"))
    );
    let statuses: Vec<_> = found.requests.iter().filter_map(|request| request.status.as_deref()).collect();
    assert_eq!(statuses, ["Planned", "open", "Never heard of it", "complete"]);
    assert_eq!(found.lost, [lost("column email_verified", 4, None)]);
}

#[test]
fn an_export_of_quackback() {
    let (found, votes) = import_quackback("quackback/export");
    assert_eq!((found.titles(), found.votes.len()), (vec!["Dark mode"], 1));
    assert_eq!(votes, VoteTotals { voters: 1, nameless: 1, doubles: 0 });
    let [Record::Status(Status { name, .. })] = &*found.others else { panic!("{:?}", found.others) };
    assert_eq!(name, "Planned");
    let dark_mode = &found.requests[0];
    assert_eq!((&*dark_mode.description, dark_mode.nameless_votes), ("=1+1 please", 1));
    let comments: Vec<_> = found.comments.iter().map(|comment| (&*comment.body, comment.is_team)).collect();
    assert_eq!(comments, [("Yes, please", false)]);
    let notes: Vec<_> = found.notes.iter().map(|note| &*note.body).collect();
    assert_eq!(notes, ["> Yes, please\n\nOnly for us"]);
    assert!(found.problems.is_empty() && found.lost.is_empty());
}

#[test]
fn an_export_of_clearflask() {
    let inputs = open(&sample("clearflask/data.zip"), &Limits::default()).unwrap();
    assert!(clearflask::recognizes(&inputs));
    assert!(!quackback::recognizes(&inputs) && !uservoice::recognizes(&inputs) && !fider::recognizes(&inputs));
    assert!(!canny::recognizes(&inputs) && !github::recognizes(&inputs));
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    let options =
        clearflask::Options { encoding: None, delimiter: None, dates, is_known: &|_| false, max_records: MAX_RECORDS };
    let mut found = Found::default();
    let votes = clearflask::convert(&inputs, &options, &mut found).unwrap();
    assert_eq!(
        found.titles(),
        ["Dark mode", "Export CSV", "Idea number 3", "Idea number 4", "Idea number 5", "Idea number 6"]
    );
    // Three, one below nothing, and three to six.
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 21, doubles: 0 });
    assert_eq!((found.problems.len(), found.count(Action::Changed)), (1, 1));

    let dark_mode = found.request("dark-mode-x7f4b");
    assert_eq!(
        (dark_mode.status.as_deref(), dark_mode.tags.as_slice()),
        (Some("planned"), &["ui", "web", "feature"].map(str::to_owned)[..])
    );
    assert_eq!(dark_mode.description, "<p>Please add it</p><p>At night</p>");
    assert_eq!(found.request("idea-number-3-ab3c").tags, ["bugs"]);
    let author = found.request("export-csv-1b2c").author.as_ref().unwrap();
    assert_eq!(
        (&author.key, author.name.as_deref()),
        (&PersonKey::ExternalId("bob-ray-9c8k2".to_owned()), Some("Bob Ray"))
    );
    // The response, and four of five comments.
    let comments: Vec<_> = found.comments.iter().map(|comment| (&*comment.body, comment.is_team)).collect();
    assert_eq!(
        comments,
        [
            ("<p>On it</p>", true),
            ("<p>Yes, please</p>", false),
            ("> Yes, please\n\n<p>Soon</p>", true),
            ("<p>me too 4</p>", false),
            ("<p>me too 5</p>", false),
        ]
    );
    assert_eq!(
        found.lost,
        [
            lost("ids of single sign-on", 1, None),
            lost("reactions", 3, None),
            lost("times of edits", 1, None),
            lost("votes on comments", 1, None),
            lost("comments that are deleted", 1, Some(Kind::Comments)),
        ]
    );
}

fn import_fider(name: &str) -> (Found, VoteTotals) {
    let inputs = open(&sample(name), &Limits::default()).unwrap();
    assert!(fider::recognizes(&inputs));
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    let options = fider::Options { encoding: None, dates, max_records: fider::MAX_RECORDS };
    let mut found = Found::default();
    let votes = fider::convert(&inputs, &options, &mut found).unwrap();
    (found, votes)
}

#[test]
fn a_backup_of_fider() {
    let (found, votes) = import_fider("fider/backup.zip");
    assert_eq!(found.titles(), ["Dark mode for the web app", "2024202420", "Night theme", "Waits for approval"]);
    assert_eq!(votes, VoteTotals { voters: 5, nameless: 0, doubles: 0 });
    // The answer of the team and three comments; a tag that is not public; the picture.
    assert_eq!((found.votes.len(), found.comments.len(), found.notes.len(), found.others.len()), (5, 4, 1, 1));
    assert!(found.problems.is_empty(), "{:?}", found.problems);
    let lost = |what: &str, kind| Lost { what: what.to_owned(), count: 1, kind: Some(kind) };
    assert_eq!(
        found.lost,
        [lost("deleted feature requests", Kind::FeatureRequests), lost("deleted comments", Kind::Comments)]
    );

    let dark_mode = found.request("1");
    let key = "attachments/Q1w2e3R4t5Y6u7I8o9P0a1S2d3F4g5H6j7K8l9Z0x1C2v3B4n5M6q7W8e9R0t1Y2-shot.png";
    assert_eq!(dark_mode.description, format!("Please add a **dark** theme.\n\n![](import-file:{key})"));
    assert_eq!((dark_mode.status.as_deref(), &*dark_mode.tags), (Some("Planned"), &["ui".to_owned()][..]));
    assert_eq!(dark_mode.url.as_deref(), Some("/posts/1/dark-mode-for-the-web-app"));
    let Record::File(file) = &found.others[0] else { panic!("{:?}", found.others) };
    assert_eq!((&*file.external_id, &*file.name), (key, "shot.png"));
    assert_eq!(found.request("2").description, "<b>A & B</b>");
    let night_theme = found.request("3");
    assert_eq!((night_theme.status.as_deref(), night_theme.merged_into.as_deref()), (Some("Declined"), Some("1")));
    let waiting = found.request("5");
    assert_eq!((waiting.awaits_approval, waiting.is_private, dark_mode.is_private), (true, true, false));
}

#[test]
fn posts_of_fider() {
    let (found, votes) = import_fider("fider/posts.csv");
    let ids: Vec<_> = found.requests.iter().map(|request| request.external_id.as_str()).collect();
    assert_eq!(ids, ["7", "5", "4", "3", "2", "1"]);
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 10, doubles: 0 });
    assert_eq!((found.votes.len(), found.comments.len(), found.notes.len(), found.others.len()), (0, 3, 0, 0));
    // Four authors, and three who answered.
    let lost = |what: &str, count| Lost { what: what.to_owned(), count, kind: None };
    assert_eq!(found.lost, [lost("comments", 3), lost("names without an address", 7)]);
    assert_eq!(found.problems.len(), 1);
    assert_eq!(found.count(Action::Ignored), 1);
    assert_eq!(found.request("1").tags, ["ui", "accessibility"]);
    let night_theme = found.request("3");
    assert_eq!(
        (night_theme.status.as_deref(), night_theme.merged_into.as_deref(), &*night_theme.tags),
        (Some("Declined"), Some("1"), &["this-tag-has,comma".to_owned()][..])
    );
    assert_eq!(found.request("4").title, "=HYPERLINK(\"http://evil.example\",\"x\") formula");
    assert_eq!(found.request("2").created_at, Timestamp::parse("2018-02-21T13:51:35Z"));
}

#[test]
fn files_of_other_programs_are_neither_of_quackback_nor_of_clearflask() {
    for name in
        ["csv", "canny", "fider", "fider/posts.csv", "fider/backup.zip", "github", "uservoice", "hostile/formulas.csv"]
    {
        let inputs = open(&sample(name), &Limits::default()).unwrap();
        assert!(!quackback::recognizes(&inputs) && !clearflask::recognizes(&inputs), "{name}");
    }
}

/// How a database is read: by [`astuto::convert`] or [`logchimp::convert`].
type ConvertDump = fn(&[Input], &astuto::Options<'_>, &mut dyn Sink) -> Result<VoteTotals, astuto::AstutoError>;

fn import_dump(name: &str, convert: ConvertDump) -> (Found, VoteTotals) {
    let inputs = open(&sample(name), &Limits::default()).unwrap();
    let options = astuto::Options {
        encoding: None,
        delimiter: None,
        dates: Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() },
        is_known: &|_| false,
        max_records: MAX_RECORDS,
    };
    let mut found = Found::default();
    let votes = convert(&inputs, &options, &mut found).unwrap();
    assert!(found.problems.is_empty() && found.rejected.is_empty(), "{:?}", found.problems);
    (found, votes)
}

#[test]
fn a_database_of_astuto() {
    let (found, votes) = import_dump("astuto", astuto::convert);
    assert_eq!(
        found.titles(),
        ["Dark mode", "Anonymous wish", "Pending", "Wish number 4", "Wish number 5", "Wish number 6"]
    );
    // Of six likes, one is by somebody who is deleted.
    assert_eq!(votes, VoteTotals { voters: 5, nameless: 1, doubles: 0 });
    let nameless: Vec<_> = found.requests.iter().map(|request| request.nameless_votes).collect();
    assert_eq!(nameless, [1, 0, 0, 0, 0, 0]);
    let subscribed: Vec<_> = found.votes.iter().map(|vote| vote.is_subscribed).collect();
    assert_eq!(subscribed, [Some(true), Some(false), Some(false), Some(false), Some(false)]);
    let standings: Vec<_> =
        found.requests.iter().map(|request| (request.is_private, request.awaits_approval)).collect();
    let public = (false, false);
    assert_eq!(standings, [public, public, (true, true), public, public, (true, false)]);

    let dark_mode = found.request("1");
    assert_eq!(dark_mode.description, "Please, **soon**\n\n- night");
    assert_eq!(
        (dark_mode.status.as_deref(), &*dark_mode.tags),
        (Some("Planned"), &["Feature Requests".to_owned()][..])
    );
    assert_eq!(dark_mode.author.as_ref().unwrap().key, PersonKey::Email("ann@customer.example".to_owned()));
    assert_eq!(dark_mode.created_at, Timestamp::parse("2023-03-01T10:00:00.5Z"));
    assert_eq!(dark_mode.url.as_deref(), Some("/posts/dark-mode"));
    let anonymous = found.request("2");
    assert_eq!((&anonymous.author, &anonymous.status, &*anonymous.tags), (&None, &None, &["Bugs".to_owned()][..]));

    let comments: Vec<_> =
        found.comments.iter().map(|comment| (&*comment.body, comment.is_team, comment.author.is_some())).collect();
    assert_eq!(
        comments,
        [
            ("+1", false, true),
            ("Planned for May", true, true),
            ("> Planned for May\n\nthanks", false, true),
            ("line one\nline two", false, false),
            ("line one\nline two", false, false),
        ]
    );
    let [Record::Status(status), Record::Move(moved)] = &found.others[..] else { panic!("{:?}", found.others) };
    assert_eq!((&*status.name, &*moved.status, &*moved.request), ("Planned", "Planned", "1"));
    assert_eq!((found.notes.len(), &*found.lost), (0, &[][..]));
}

#[test]
fn a_database_of_logchimp() {
    let (found, votes) = import_dump("logchimp", logchimp::convert);
    let id = |end: &str| format!("0f6ad3b2-7c1e-4a55-9d3c-000000000{end}");
    assert_eq!(found.titles(), ["Dark mode", "No board", "Post number 3", "Post number 4", "Post number 5"]);
    // Six votes, of which two are repeated.
    assert_eq!(votes, VoteTotals { voters: 4, nameless: 0, doubles: 2 });
    let voted: Vec<_> = found.votes.iter().map(|vote| vote.request.clone()).collect();
    assert_eq!(voted, [id("006"), id("006"), id("104"), id("105")]);

    let dark_mode = found.request(&id("006"));
    assert_eq!((&*dark_mode.description, dark_mode.status.as_deref()), ("Please\n\n* night", Some("Planned")));
    assert_eq!(
        (&*dark_mode.tags, dark_mode.url.as_deref()),
        (&["Ideas".to_owned()][..], Some("/posts/dark-mode-Ab3dE9"))
    );
    assert_eq!(dark_mode.created_at, Timestamp::parse("2022-02-01T09:00:00Z"));
    let no_board = found.request(&id("007"));
    assert_eq!((no_board.tags.len(), &no_board.status, &*no_board.description), (0, &None, ""));
    assert_eq!(found.request(&id("103")).status.as_deref(), Some("Secret"));

    let [comment] = &found.comments[..] else { panic!("{:?}", found.comments) };
    assert_eq!((&*comment.body, comment.is_team, &comment.request), ("me too", false, &id("006")));
    let [note] = &found.notes[..] else { panic!("{:?}", found.notes) };
    assert_eq!(note.body, "> me too\n\nfor the team only");
    assert_eq!(note.author.as_ref().unwrap().key, PersonKey::Email("arya@acme.example".to_owned()));
    let [Record::Status(status)] = &found.others[..] else { panic!("{:?}", found.others) };
    assert_eq!((&*status.name, &*found.lost), ("Planned", &[][..]));
}

#[test]
fn databases_are_told_from_other_files() {
    for (name, is_astuto, is_logchimp) in [
        ("astuto", true, false),
        ("logchimp", false, true),
        ("csv", false, false),
        ("csv/posts.csv", false, false),
        ("fider/posts.csv", false, false),
        ("fider/backup.zip", false, false),
        ("canny", false, false),
        ("github", false, false),
        ("uservoice", false, false),
        ("hostile/formulas.csv", false, false),
    ] {
        let inputs = open(&sample(name), &Limits::default()).unwrap();
        assert_eq!((astuto::recognizes(&inputs), logchimp::recognizes(&inputs)), (is_astuto, is_logchimp), "{name}");
    }
    for name in ["astuto", "logchimp"] {
        let inputs = open(&sample(name), &Limits::default()).unwrap();
        assert!(!fider::recognizes(&inputs) && !uservoice::recognizes(&inputs) && !canny::recognizes(&inputs));
        assert!(!github::recognizes(&inputs));
    }
}

#[test]
fn files_of_other_programs_are_not_of_fider() {
    for name in ["csv", "csv/posts.csv", "csv/comments.csv", "csv/canny-style.csv", "hostile/formulas.csv"] {
        assert!(!fider::recognizes(&open(&sample(name), &Limits::default()).unwrap()), "{name}");
    }
}
