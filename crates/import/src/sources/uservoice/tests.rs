//! Tables of cases for the conversion of exports of UserVoice.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::dates::Dates;
use crate::records::{Action, Comment, FeatureRequest, Kind, Origin, Person, PersonKey, Record, Vote};
use crate::sources::kept::Kept;
use crate::table::MAX_RECORD_BYTES;

fn nothing_is_known(_: &str) -> bool {
    false
}

fn options() -> Options<'static> {
    let dates = Dates { order: None, now: Timestamp::parse("2026-11-28T08:00:00Z").unwrap() };
    Options { encoding: None, delimiter: None, dates, is_known: &nothing_is_known, max_records: 1_000 }
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

/// Converts one file of ideas.
fn of(text: &str) -> Kept {
    run(&[("full-suggestions.csv", text)]).unwrap().0
}

/// Converts two ideas and a file with another name.
fn with(name: &str, text: &str) -> Kept {
    run(&[("ideas.csv", "Idea Id,Idea Title,Moderation State\n1,a,\n2,b,spam\n"), (name, text)]).unwrap().0
}

fn person(email: &str, name: &str) -> Option<Person> {
    let name = (!name.is_empty()).then(|| name.to_owned());
    Some(Person { key: PersonKey::Email(email.to_owned()), name })
}

#[test]
fn all_fields_of_an_idea_are_read() {
    let kept = of(
        "Idea Id,Idea Title,Idea Description,Forum Name,Category Name,Public Status Name,Moderation State,Labels,Voters Count,Created Timestamp,Idea Creator Name,Idea Creator Email Address,Public Status Update Message,Public Status Updated Timestamp,Public Status Creator Email Address,User Name,User Email Address,Linked Idea Creation Date\n\
        1,\" Dark\nmode\",\"Please,\nsoon\",Product Ideas,Features,Under Review,published,\"[\"\"ui\"\",\"\"a, b\"\"]\",3,2025-07-21 03:37:03,Alice,Alice@x.example,\"We look\nat it\",2025-08-01 09:00:00,arya@x.example,Bob,Bob@x.example,2025-07-22 10:00:00\n",
    );
    let origin = Origin { file: 0, line: 2 };
    let Record::Comment(Comment { external_id, .. }) = &kept.records[1] else { panic!() };
    assert_eq!(external_id.len(), 32);
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "1".to_owned(),
                title: "Dark mode".to_owned(),
                description: "Please,\nsoon".to_owned(),
                status: Some("Under Review".to_owned()),
                tags: ["ui", "a, b", "Features", "Product Ideas"].map(str::to_owned).to_vec(),
                is_private: false,
                awaits_approval: false,
                author: person("Alice@x.example", "Alice"),
                is_team: false,
                nameless_votes: 2,
                created_at: Timestamp::parse("2025-07-21T03:37:03Z"),
                url: None,
                merged_into: None,
                origin,
            }),
            Record::Comment(Comment {
                external_id: external_id.clone(),
                request: "1".to_owned(),
                body: "We look\nat it".to_owned(),
                author: person("arya@x.example", ""),
                is_team: true,
                is_held: false,
                created_at: Timestamp::parse("2025-08-01T09:00:00Z"),
                origin,
            }),
            Record::Vote(Vote {
                request: "1".to_owned(),
                person: person("Bob@x.example", "Bob").unwrap(),
                is_subscribed: None,
                created_at: Timestamp::parse("2025-07-22T10:00:00Z"),
                origin,
            }),
        ]
    );
    assert!(kept.problems.is_empty() && kept.lost.is_empty() && kept.rejected.is_empty());
}

#[test]
fn other_names_of_columns_are_known() {
    let kept = of(
        "suggestion.created_timestamp\tsuggestion.id\tsuggestion.title\tsuggestion.body\tsuggestion.portal_url\tsuggestion.forum.name\tsuggestion.category.name\tsuggestion.status.name\tsuggestion.labels.name\tsuggestion.parent.id\tsuggestion.supporters_count\tuser.id\n\
        2024-05-01\t7\tDark mode\tWhy\thttps://x.uservoice.example/7\tIdeas\tWeb\tplanned\tui, theme\t5\t2\t99\n\
        2024-05-01\t7\tDark mode\tWhy\thttps://x.uservoice.example/7\tIdeas\tWeb\tplanned\tui, theme\t5\t2\t99\n",
    );
    let [request] = kept.requests()[..] else { panic!() };
    assert_eq!((&*request.external_id, &*request.title, &*request.description), ("7", "Dark mode", "Why"));
    assert_eq!((request.status.as_deref(), request.merged_into.as_deref()), (Some("planned"), Some("5")));
    assert_eq!(request.url.as_deref(), Some("https://x.uservoice.example/7"));
    assert_eq!(request.tags, ["ui", "theme", "Web", "Ideas"]);
    assert_eq!((request.created_at, request.nameless_votes), (Timestamp::parse("2024-05-01T00:00:00Z"), 0));
    // Somebody without an address is known by an id.
    assert_eq!(kept.votes(), [("7", "99")]);
    assert!(kept.problems.is_empty() && kept.lost.is_empty());
}

#[test]
fn only_a_title_is_needed() {
    let (kept, summary) = run(&[("a", "Idea Title\nDark mode\nDark mode\n")]).unwrap();
    let [request] = kept.requests()[..] else { panic!() };
    assert_eq!((request.external_id.len(), &*request.title), (32, "Dark mode"));
    assert_eq!(
        (request.nameless_votes, request.created_at, &request.author, request.status.as_ref()),
        (0, None, &None, None)
    );
    assert_eq!(
        summary,
        Summary { files: vec![(0, FileKind::Ideas)], votes: VoteTotals::default(), shared_categories: vec![] }
    );
}

#[test]
fn rows_of_an_idea_are_its_votes() {
    let text = "Idea Id,Idea Title,Voters Count,User Name,User Email Address,Linked Idea Creation Date\n\
                1,a,9,Ann,ann@x.example,tomorrow\n\
                2,b,1,Bob,bob@x.example,\n\
                1,ignored,7,,ANN@x.example,\n\
                1,,9,Nobody,,\n\
                1,a,9,,,\n\
                1,a,9,,bad,2024-05-01\n\
                2,b,1,,bob@y.example,\n\
                3,c,-4,,,\n\
                4,d,many,,,\n";
    let (kept, summary) = run(&[("a.csv", text)]).unwrap();
    let nameless: Vec<_> = kept.requests().iter().map(|request| request.nameless_votes).collect();
    // 1: nine are counted, four are listed, of which two have no address.
    assert_eq!(nameless, [7, 0, 0, 0]);
    assert_eq!(kept.votes(), [("1", "ann@x.example"), ("2", "bob@x.example"), ("2", "bob@y.example")]);
    assert_eq!(summary.votes, VoteTotals { voters: 3, nameless: 7, doubles: 1 });
    assert_eq!(
        kept.problems(),
        [
            "2 1 Linked Idea Creation Date=tomorrow Changed: the time cannot be read",
            "7 1 User Email Address=bad Changed: the address is not a valid e-mail address: the vote has no name",
            "9 3 Voters Count=-4 Changed: the count is below 0: it is 0",
            "10 4 Voters Count=many Ignored: the count is no whole number",
        ]
    );
    assert_eq!(kept.lost(), [("names without an address", 1)]);
    assert_eq!(kept.requests()[0].title, "a");
}

#[test]
fn the_state_says_who_sees_an_idea() {
    for (state, private, awaits, has_problem) in [
        ("", false, false, false),
        ("Published", false, false, false),
        ("approved", false, false, false),
        ("pending", true, true, false),
        ("archived", true, false, false),
        ("Hidden", true, false, false),
        ("odd", true, false, true),
    ] {
        let kept = of(&format!("Idea Id,Idea Title,Moderation State\n1,a,{state}\n"));
        let [request] = kept.requests()[..] else { panic!() };
        assert_eq!((request.is_private, request.awaits_approval), (private, awaits), "{state}");
        assert_eq!(kept.problems.len(), usize::from(has_problem), "{state}");
    }
    let (kept, summary) = run(&[(
        "a",
        "Idea Id,Idea Title,Moderation State,User Email Address\n1,a,spam,x@x.example\n1,a,spam,y@x.example\n2, ,deleted,\n3,c,,\n",
    )])
    .unwrap();
    assert_eq!(kept.requests().len(), 1);
    assert_eq!(
        kept.lost,
        [
            ("deleted".to_owned(), 1, Some(Kind::FeatureRequests)),
            ("spam".to_owned(), 1, Some(Kind::FeatureRequests)),
            ("votes for spam or deleted feature requests".to_owned(), 2, Some(Kind::Votes)),
        ]
    );
    assert_eq!((summary.votes.source(), kept.problems.len()), (0, 0));
}

#[test]
fn labels_are_lists_of_json_or_have_commas() {
    for (cell, tags) in [
        ("[\"\"ui\"\",\"\"a, b\"\",null,7,{}]", &["ui", "a, b", "7", "{}"][..]),
        (" [] ", &[]),
        ("ui, theme,,UI", &["ui", "theme"]),
        ("a;b", &["a;b"]),
        ("[ui", &["[ui"]),
        ("[ui]", &["[ui]"]),
        ("", &[]),
    ] {
        let kept = of(&format!("Idea Id,Idea Title,Labels\n1,a,\"{cell}\"\n"));
        assert_eq!(kept.requests()[0].tags, tags, "{cell}");
        assert!(kept.problems.is_empty());
    }
    let numbers: Vec<_> = (0..22).map(|n| n.to_string()).collect();
    let long = "y".repeat(51);
    let kept = of(&format!("Idea Id,Idea Title,Labels\n1,a,\"{long},{}\"\n", numbers.join(",")));
    assert_eq!(kept.requests()[0].tags, numbers[..20]);
    assert_eq!(
        kept.problems(),
        [
            format!("2 1 Labels={long} Ignored: tags have at most 50 characters"),
            "2 1 Labels=20|21 Ignored: a feature request has at most 20 tags: 2 are left out".to_owned(),
        ]
    );
}

#[test]
fn forums_and_categories_that_all_share_are_no_tags() {
    let head = "Idea Id,Idea Title,Forum Name,Category Name,Moderation State\n";
    for (rows, tags, shared) in [
        ("1,a,Ideas,Web,\n2,b,Ideas,App,\n", vec![vec!["Web"], vec!["App"]], vec!["Ideas"]),
        ("1,a,Ideas,Web,\n2,b,Ideas,Web,\n", vec![vec![], vec![]], vec!["Ideas", "Web"]),
        ("1,a,Ideas,Web,\n2,b,Ideas,,\n", vec![vec!["Web"], vec![]], vec!["Ideas"]),
        ("1,a,Ideas,,\n2,b,Bugs,,\n", vec![vec!["Ideas"], vec!["Bugs"]], vec![]),
        // Rows of one idea, and what is left out, do not count.
        ("1,a,Ideas,,\n1,a,Ideas,,\n", vec![vec!["Ideas"]], vec![]),
        ("1,a,Ideas,,\n2,b,Bugs,,spam\n3,c,Ideas,,\n", vec![vec![], vec![]], vec!["Ideas"]),
    ] {
        let (kept, summary) = run(&[("a", &format!("{head}{rows}"))]).unwrap();
        let found: Vec<_> = kept.requests().iter().map(|request| request.tags.clone()).collect();
        assert_eq!(found, tags, "{rows}");
        assert_eq!(summary.shared_categories, shared, "{rows}");
    }
}

#[test]
fn what_cannot_be_a_record_is_rejected_with_its_bytes() {
    let kept = of("Idea Id,Idea Title\n1,a\n2, \u{200b}\n3\n4,a\0b\n1,\n");
    assert_eq!(
        kept.problems(),
        [
            "3 2 Idea Title= \u{200b} Rejected: the title is blank",
            "4 Rejected: the record has 1 cells, but the header has 2",
            "5 Rejected: the record has a NUL character",
        ]
    );
    assert_eq!(kept.rejected(0), "Idea Id,Idea Title\n2, \u{200b}\n3\n4,a\0b\n");
    assert_eq!(kept.kinds, [Kind::FeatureRequests; 3]);
    assert_eq!(kept.requests().len(), 1);

    let kept = with("comments.csv", "id,suggestion_id,text\n1,1,Yes\n2,1, \n1,1,again\n,1,b\n,1,b\n");
    assert_eq!(
        kept.problems(),
        [
            "3 2 text=  Rejected: the text is blank",
            "4 1 id=1 Rejected: an earlier record has the same id",
            "6 id= Rejected: an earlier record is the same, and there is no id",
        ]
    );
    assert_eq!(kept.rejected(1), "id,suggestion_id,text\n2,1, \n1,1,again\n,1,b\n");
    assert_eq!(kept.kinds, [Kind::Comments; 3]);

    let kept = with("users.csv", "email,type\nx\n");
    assert_eq!((kept.rejected(1), &*kept.kinds), ("email,type\nx\n", &[Kind::Customers][..]));

    let large = format!("2,\"{}\"\n", "x".repeat(MAX_RECORD_BYTES));
    let kept = of(&format!("Idea Id,Idea Title\n1,a\n{large}3,c\n"));
    assert_eq!(kept.rejected(0), format!("Idea Id,Idea Title\n{large}"));
    assert_eq!(kept.requests().len(), 2);
}

#[test]
fn other_bad_values_are_listed() {
    let (long, url) = ("x".repeat(201), "z".repeat(2_001));
    let kept = of(&format!(
        "Idea Id,Idea Title,Created Timestamp,Idea Creator Name,Idea Creator Email Address,Idea Portal Url,Public Status Update Message,Public Status Updated Timestamp,Public Status Creator Email Address\n\
         1,{long},2999-01-01,Ann,bad,{url},Soon,soon,worse\n"
    ));
    let cut = |text: &str| format!("{}…", &text[..79]);
    assert_eq!(
        kept.problems(),
        [
            format!(
                "2 1 Idea Title={} Changed: the title is longer than 200 characters: it is cut, and whole before the description",
                cut(&long)
            ),
            "2 1 Idea Creator Email Address=bad Ignored: the address is not a valid e-mail address".to_owned(),
            "2 1 Created Timestamp=2999-01-01 Changed: the time is in the future".to_owned(),
            format!("2 1 Idea Portal Url={} Ignored: the address is too long or has control characters", cut(&url)),
            "2 1 Public Status Creator Email Address=worse Ignored: the address is not a valid e-mail address"
                .to_owned(),
            "2 1 Public Status Updated Timestamp=soon Changed: the time cannot be read".to_owned(),
        ]
    );
    let request = kept.requests()[0];
    assert_eq!((request.title.chars().count(), &*request.description), (200, &*long));
    assert_eq!((&request.author, &request.url, request.created_at), (&None, &None, None));
    assert_eq!((&kept.comments()[0].author, kept.comments()[0].is_team), (&None, true));
    assert_eq!(kept.lost(), [("names without an address", 1)]);
}

#[test]
fn comments_are_read() {
    let kept = with(
        "comments.csv",
        "id,suggestion_id,text,user_name,user_email,created_at,state\n\
         11,1,\"Yes,\nplease\",Bob,bob@x.example,2025-07-22 10:01:00,published\n\
         12,9,lost,Bob,bob@x.example,,\n\
         13,2,on spam,,,,\n\
         14,1,buy,,,,spam\n\
         15,1,held,,,,pending\n\
         16,1,hidden,,,,archived\n\
         17,1,odd,Eve,,soon,odd\n\
         18,1,gone,,,,deleted\n",
    );
    let found: Vec<_> = kept.comments().iter().map(|comment| (&*comment.external_id, comment.is_held)).collect();
    assert_eq!(found, [("11", false), ("15", true), ("17", true)]);
    let first = kept.comments()[0];
    assert_eq!((&*first.request, &*first.body, &first.author), ("1", "Yes,\nplease", &person("bob@x.example", "Bob")));
    assert_eq!(
        (first.created_at, first.origin),
        (Timestamp::parse("2025-07-22T10:01:00Z"), Origin { file: 1, line: 2 })
    );
    assert_eq!(
        kept.problems(),
        [
            "4 12 suggestion_id=9 Skipped: there is no feature request with this id",
            "9 17 state=odd Changed: the state is not known, so that the comment waits for approval",
            "9 17 created_at=soon Changed: the time cannot be read",
        ]
    );
    assert_eq!(
        kept.lost(),
        [
            ("names without an address", 1),
            ("spam", 1),
            ("comments on spam or deleted feature requests", 1),
            ("comments on unknown feature requests", 1),
            ("comments that are deleted", 1),
            ("comments that are hidden", 1),
            ("comments that are spam", 1),
        ]
    );
}

#[test]
fn comments_may_be_on_feature_requests_of_an_earlier_run() {
    let mut kept = Kept::default();
    let files = inputs(&[("comments.csv", "id,suggestion_id,text\n1,7,Yes\n2,8,No\n")]);
    let is_known = |id: &str| id == "7";
    convert(&files, &Options { is_known: &is_known, ..options() }, &mut kept).unwrap();
    assert_eq!((kept.comments().len(), kept.problems.len()), (1, 1));
}

#[test]
fn what_may_be_a_note_is_no_comment() {
    let row = "id,suggestion_id,text\n5,1,Deal\n";
    for (name, text, is_note, has_problem) in [
        ("comments.csv", row, false, false),
        ("Export-Comments-2025.csv", row, false, false),
        ("notes.csv", row, true, false),
        ("notes/comments.csv", row, false, false),
        ("comments/notes.csv", row, true, false),
        ("comments-and-notes.csv", row, true, false),
        ("export.csv", row, true, true),
        ("export.csv", "Note Id,Suggestion Id,Note\n5,1,Deal\n", true, false),
        ("export.csv", "Comment Id,Idea Id,Comment Text\n5,1,Deal\n", false, false),
        // The title of the idea makes a comment no idea.
        ("comments.csv", "id,suggestion_id,suggestion_title,text\n5,1,a,Deal\n", false, false),
    ] {
        let kept = with(name, text);
        let found: Vec<_> = kept.notes().iter().map(|note| (&*note.external_id, &*note.body)).collect();
        assert_eq!(found, if is_note { vec![("note-5", "Deal")] } else { vec![] }, "{name} {text}");
        assert_eq!(kept.comments().len(), usize::from(!is_note), "{name} {text}");
        assert_eq!(kept.problems.len(), usize::from(has_problem), "{name} {text}");
    }
    assert_eq!(
        with("export.csv", row).problems(),
        [
            "Changed: the file does not say whether it has comments or notes, so that it has notes: for comments, name it comments.csv"
        ]
    );
}

#[test]
fn the_team_is_known_by_what_only_it_does() {
    let ideas = "Idea Id,Idea Title,Idea Creator Email Address,Public Status Update Message,Public Status Creator Email Address\n\
                 1,a,ARYA@x.example,,\n2,b,bob@x.example,Soon,arya@x.example\n";
    let comments = "id,suggestion_id,text,user_email,state\n\
                    1,1,a,arya@x.example,pending\n2,1,b,bob@x.example,\n3,1,c,nora@x.example,\n4,1,d,olaf@x.example,\n5,1,e,gus@x.example,\n";
    let notes = "id,suggestion_id,text,user_email\n1,1,a,nora@x.example\n";
    let users = "email,type,state\nolaf@x.example,\"End user, Admin\",active\nbob@x.example,user,active\ngus@x.example,owner,deleted\nbad,admin,\n";
    let (kept, summary) =
        run(&[("comments.csv", comments), ("ideas.csv", ideas), ("notes.csv", notes), ("users.csv", users)]).unwrap();
    let files = [FileKind::Comments, FileKind::Ideas, FileKind::Notes, FileKind::Users];
    assert_eq!(summary.files, files.into_iter().enumerate().collect::<Vec<_>>());
    let is_team: Vec<_> = kept.requests().iter().map(|request| request.is_team).collect();
    assert_eq!(is_team, [true, false]);
    let comments: Vec<_> =
        kept.comments()[1..].iter().map(|comment| (&*comment.external_id, comment.is_team)).collect();
    assert_eq!(comments, [("1", true), ("2", false), ("3", true), ("4", true), ("5", true)]);
    // The team waits for nobody, and who is deleted is no author.
    assert!(!kept.comments()[1].is_held);
    assert_eq!(kept.comments()[5].author, None);
    assert_eq!((kept.notes().len(), kept.problems.len(), kept.lost.len()), (1, 0, 0));
}

#[test]
fn votes_of_deleted_people_are_nameless() {
    let ideas =
        "Idea Id,Idea Title,Voters Count,User Name,User Email Address\n1,a,2,Gus,gus@x.example\n1,a,2,,ann@x.example\n";
    let (kept, summary) = run(&[("ideas.csv", ideas), ("users.csv", "email,state\nGus@x.example,deleted\n")]).unwrap();
    assert_eq!(kept.votes(), [("1", "ann@x.example")]);
    assert_eq!(summary.votes, VoteTotals { voters: 1, nameless: 1, doubles: 0 });
    assert!(kept.problems.is_empty() && kept.lost.is_empty());
}

#[test]
fn columns_without_a_field_are_counted_once_for_each_idea() {
    let kept = of("Idea Id,Idea Title,Idea List Names,\u{1b}size\n1,a,2027,\n1,a,2027,\n2,b,2028,x\n");
    assert_eq!(kept.lost(), [("column Idea List Names", 2), ("column \u{fffd}size", 1)]);
}

#[test]
fn files_are_recognized_by_their_columns() {
    for (head, is_recognized) in [
        ("Idea Id,Idea Title", true),
        ("suggestion.title", true),
        ("id;suggestion_id;text", true),
        ("id,suggestion_id", false),
        ("id,title,description", false),
        ("request_id,body", false),
        ("email,type", false),
        ("", false),
        ("[{\"number\":1,\"title\":\"a\"}]", false),
    ] {
        assert_eq!(recognizes(&inputs(&[("a.csv", &format!("{head}\n"))])), is_recognized, "{head}");
    }
    assert!(recognizes(&inputs(&[("README", "x"), ("a", "Idea Title\n")])));
    let ideas = ("ideas.csv", "Idea Title\na\n");
    let (kept, summary) = run(&[("README.md", "# Export"), ("empty", ""), ideas]).unwrap();
    assert_eq!(summary.files, [(2, FileKind::Ideas)]);
    assert_eq!(kept.problems(), ["Skipped: the file is no table of a known kind"; 2]);
    for (files, message) in [
        (
            vec![("a\u{1b}.csv", "colour,\u{7}size\n")],
            "`a\u{fffd}.csv` has neither ideas nor comments, notes or users of UserVoice. Its columns are `colour`, `\u{fffd}size`",
        ),
        (
            vec![ideas, ("other.CSV", "colour\n")],
            "`other.CSV` has neither ideas nor comments, notes or users of UserVoice. Its columns are `colour`",
        ),
        (
            vec![("votes.csv", "request_id,email\n")],
            "`votes.csv` has neither ideas nor comments, notes or users of UserVoice. Its columns are `request_id`, `email`",
        ),
        (
            vec![("a", "colour\n"), ("b", "size\n")],
            "`a` has neither ideas nor comments, notes or users of UserVoice. Its columns are `colour`",
        ),
        (vec![ideas, ("a.csv", "")], "`a.csv` cannot be imported: the file is empty"),
        (
            vec![("a.csv", "Idea Title,idea_title\n")],
            "`a.csv` cannot be imported: the columns `Idea Title` and `idea_title` have the same name: rename or remove one of them",
        ),
    ] {
        assert_eq!(run(&files).err().as_deref(), Some(message));
    }
    let many: Vec<_> = (0..41).map(|n| format!("c{n}")).collect();
    assert!(run(&[("a", &many.join(","))]).err().unwrap().ends_with("`c39`, …"));
    for (name, head) in [("users.csv", "id,email"), ("a.csv", "user.email,user.type"), ("a.csv", "email,state")] {
        let (_, summary) = run(&[(name, &format!("{head}\n"))]).unwrap();
        assert_eq!(summary.files, [(0, FileKind::Users)], "{head}");
    }
    assert_eq!(run(&[]).unwrap().1.files, []);
}

#[test]
fn an_unknown_encoding_is_a_warning() {
    let file = [Input::from_bytes("a.csv", *b"Idea Id;Idea Title\r\n1;\xdcber\r\n")];
    let mut kept = Kept::default();
    convert(&file, &options(), &mut kept).unwrap();
    assert_eq!(
        kept.problems(),
        ["Changed: the encoding is not known, so the file is read as windows-1252: --encoding names another one"]
    );
    assert_eq!(kept.requests()[0].title, "Über");
    let mut kept = Kept::default();
    convert(&file, &Options { encoding: Some(encoding_rs::UTF_8), ..options() }, &mut kept).unwrap();
    assert_eq!(kept.problems(), ["2 Rejected: the record has bytes that are no UTF-8"]);
    let error = convert(&file, &Options { delimiter: Some(b','), ..options() }, &mut kept).unwrap_err();
    assert!(matches!(error, UservoiceError::Foreign { .. }));
}

#[test]
fn memory_is_bounded_and_a_full_disk_ends_the_conversion() {
    let files = inputs(&[
        ("comments.csv", "id,suggestion_id,text,colour\n1,1,Yes,red\n2,1,,\n3\n"),
        (
            "ideas.csv",
            "Idea Id,Idea Title,User Email Address,Public Status Update Message,Public Status Creator Email Address\n1,a,ann@x.example,Soon,arya@x.example\n",
        ),
        ("users.csv", "email,state\ngus@x.example,deleted\n"),
    ]);
    // An idea, what is said of it, a vote, two comments, and two people.
    for max_records in 0..7 {
        let error = convert(&files, &Options { max_records, ..options() }, &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    let mut whole = Kept::default();
    convert(&files, &Options { max_records: 7, ..options() }, &mut whole).unwrap();
    let steps = whole.records.len() + whole.problems.len() + whole.lost.len() + whole.kinds.len();
    assert_eq!(steps, 4 + 2 + 1 + 2);
    for space in 0..steps {
        let error = convert(&files, &options(), &mut Kept::with_space(space)).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    assert!(convert(&files, &options(), &mut Kept::with_space(steps)).is_ok());

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("ideas.csv");
    std::fs::write(&path, "Idea Title\n").unwrap();
    let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = convert(&files, &options(), &mut Kept::default()).unwrap_err();
    assert!(error.to_string().starts_with("`ideas.csv` cannot be read: "), "{error}");
    assert!(!recognizes(&files));
}

proptest! {
    /// No file makes the conversion panic, and votes add up.
    #[test]
    fn any_table_is_converted(
        rows in prop::collection::vec("[12]?,[a ]?,[0-9-]{0,2},(|spam|pending),([ab]@x[.]example|bad|),[ab\"\n,]{0,3}", 0..12),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let ideas = format!("Idea Id,Idea Title,Voters Count,State,User Email,Labels\n{}\n", rows.join("\n"));
        let comments = format!("id,suggestion_id,text,state,user_email,x\n{}\n", rows.join("\n"));
        let (kept, summary) = run(&[("ideas.csv", &ideas), ("comments.csv", &comments)]).unwrap();
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.kinds.len());
        prop_assert_eq!(kept.votes().len() as u64, summary.votes.voters);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!(nameless, summary.votes.nameless);
        let mut unique: Vec<_> = kept.votes();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), kept.votes().len());
        let file = [Input::from_bytes("a", bytes)];
        let _ = recognizes(&file);
        let _ = convert(&file, &options(), &mut Kept::default());
    }
}
