//! Tables of cases for the conversion of exports of ClearFlask.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{Action, Comment, FeatureRequest, Kind, Origin, Person, PersonKey, Record};
use crate::sources::kept::{Kept, inputs, key, options, person};
use crate::table::MAX_RECORD_BYTES;

fn run(files: &[(&str, &str)]) -> Result<(Kept, VoteTotals), String> {
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(), &mut kept) {
        Ok(votes) => Ok((kept, votes)),
        Err(error) => Err(error.to_string()),
    }
}

/// Converts one file of posts.
fn of(text: &str) -> Kept {
    run(&[("acme-posts-2026-01-01-10-00-00.csv", text)]).unwrap().0
}

/// Converts two posts and a file of comments.
fn with_comments(text: &str) -> Kept {
    run(&[("a-posts.csv", "ideaId,title\n1,a\n2,b\n"), ("a-comments.csv", text)]).unwrap().0
}

const POSTS: &str = "ideaId,authorUserId,created,title,description,response,categoryId,statusId,tagIds,funded,fundersCount,fundGoal,voteValue,votersCount,expressionsValue,expressions\r\n";
const COMMENTS: &str = "ideaId,commentId,parentCommentId,authorUserId,created,edited,content,upvotes,downvotes\r\n";
const USERS: &str = "userId,ssoGuid,isMod,name,email,emailVerified,emailNotify,balance,created\r\n";

#[test]
fn all_fields_are_read() {
    let posts = format!(
        "{POSTS}dark-x7f,ann-1,2022-04-01T10:15:30.123Z,\" Dark\nmode\",<p>Please</p>,<p>On it</p>,ideas-1a2,planned-9bc,\"ui-4fd,web-77a\",500,2,1000,3,4,2.0,\"👍=2,❤️=1\"\r\n"
    );
    let comments =
        format!("{COMMENTS}dark-x7f,c1,,arya-3,2022-04-03T00:00:00Z,2022-04-05T00:00:00Z,<p>Soon</p>,2,1\r\n");
    let users = format!(
        "{USERS}ann-1,,,Ann Lee,Ann@x.example,true,true,0,2022-03-01T00:00:00Z\r\narya-3,sso-1,true,Arya,,true,false,7,2022-01-01T00:00:00Z\r\n"
    );
    let (kept, votes) = run(&[("c.csv", &comments), ("p.csv", &posts), ("u.csv", &users)]).unwrap();
    let origin = Origin { file: 1, line: 2 };
    let arya = Person { key: PersonKey::ExternalId("arya-3".to_owned()), name: Some("Arya".to_owned()) };
    assert_eq!(
        kept.records,
        [
            Record::FeatureRequest(FeatureRequest {
                external_id: "dark-x7f".to_owned(),
                title: "Dark mode".to_owned(),
                description: "<p>Please</p>".to_owned(),
                status: Some("planned".to_owned()),
                tags: ["ui", "web", "ideas"].map(str::to_owned).to_vec(),
                is_private: false,
                awaits_approval: false,
                author: person("Ann@x.example", "Ann Lee"),
                is_team: false,
                nameless_votes: 3,
                created_at: Timestamp::parse("2022-04-01T10:15:30.123Z"),
                url: Some("/post/dark-x7f".to_owned()),
                merged_into: None,
                origin,
            }),
            Record::Comment(Comment {
                external_id: "dark-x7f response".to_owned(),
                request: "dark-x7f".to_owned(),
                body: "<p>On it</p>".to_owned(),
                author: None,
                is_team: true,
                is_held: false,
                created_at: None,
                origin,
            }),
            Record::Comment(Comment {
                external_id: "c1".to_owned(),
                request: "dark-x7f".to_owned(),
                body: "<p>Soon</p>".to_owned(),
                author: Some(arya),
                is_team: true,
                is_held: false,
                created_at: Timestamp::parse("2022-04-03T00:00:00Z"),
                origin: Origin { file: 0, line: 2 },
            }),
        ]
    );
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 3, doubles: 0 });
    assert_eq!(
        kept.lost(),
        [
            ("balances", 1),
            ("funding", 1),
            ("ids of single sign-on", 1),
            ("reactions", 3),
            ("times of edits", 1),
            ("votes on comments", 3),
        ]
    );
    assert!(kept.problems.is_empty());
}

#[test]
fn ids_have_names() {
    for (id, name) in [
        ("planned-9bc", Some("planned")),
        ("in-progress-1f2", Some("in-progress")),
        ("feature-request", Some("feature")),
        ("bugs", Some("bugs")),
        (" planned-9bc ", Some("planned")),
        ("accepted-1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", Some("accepted")),
        ("1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", Some("1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed")),
        ("xb9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", Some("xb9d6bcd-bbfd-4b2d-9b5d")),
        ("ü-9bc", Some("ü")),
        ("-9bc", Some("-9bc")),
        ("-", Some("-")),
        ("", None),
    ] {
        let kept = of(&format!("ideaId,title,statusId\n1,a,{id}\n"));
        assert_eq!(kept.requests()[0].status.as_deref(), name, "{id}");
    }
    for (cell, tags) in [
        ("ui-4fd,web-77a", &["ui", "web"][..]),
        ("[\"\"ui-4fd\"\",\"\"web-77a\"\"]", &["ui", "web"]),
        ("{ui-4fd,\"\"big deal-77a\"\"}", &["ui", "big deal"]),
        ("ui-4fd,UI-9ab,,", &["ui"]),
        ("", &[]),
    ] {
        let kept = of(&format!("ideaId,title,tagIds\n1,a,\"{cell}\"\n"));
        assert_eq!(kept.requests()[0].tags, tags, "{cell}");
    }
}

#[test]
fn a_category_that_all_posts_share_is_no_tag() {
    for (rows, tags) in [
        ("1,a,ideas-1\n", vec![vec!["ideas"]]),
        ("1,a,ideas-1\n2,b,ideas-2\n3,,bugs-1\n", vec![vec![], vec![]]),
        ("1,a,ideas-1\n2,b,bugs-2\n", vec![vec!["ideas"], vec!["bugs"]]),
        ("1,a,ideas-1\n2,b,\n", vec![vec!["ideas"], vec![]]),
    ] {
        let kept = of(&format!("ideaId,title,categoryId\n{rows}"));
        assert_eq!(kept.requests().iter().map(|request| request.tags.clone()).collect::<Vec<_>>(), tags, "{rows}");
    }
}

#[test]
fn votes_are_counted() {
    for (cells, nameless, problems) in [
        ("3,9", 3, vec![]),
        (",9", 0, vec![]),
        ("-1,1", 0, vec!["2 1 voteValue=-1 Changed: the count is below 0: it is 0"]),
        ("many,1", 0, vec!["2 1 voteValue=many Ignored: the count is no whole number"]),
    ] {
        let kept = of(&format!("ideaId,title,voteValue,votersCount\n1,a,{cells}\n"));
        assert_eq!(kept.requests()[0].nameless_votes, nameless, "{cells}");
        assert_eq!(kept.problems(), problems);
    }
    assert_eq!(of("ideaId,title,votersCount\n1,a,4\n").requests()[0].nameless_votes, 4);
}

#[test]
fn people_are_known_by_their_ids() {
    let posts = "ideaId,title,authorUserId\n1,a,ann\n2,b,bob\n3,c,gus\n4,d,\n5,e,mod\n";
    let users = "userId,isMod,name,email\nann,,Ann,ann@x.example\nbob,false,Bob,not-an-address\nbob,true,Bob,\n,,x,\nmod,t,Mod,mod@x.example\n";
    let (kept, _) = run(&[("posts.csv", posts), ("users.csv", users)]).unwrap();
    let authors: Vec<_> =
        kept.requests().iter().map(|request| (request.author.as_ref().map(key), request.is_team)).collect();
    assert_eq!(
        authors,
        [
            (Some("ann@x.example"), false),
            (Some("bob"), false),
            (None, false),
            (None, false),
            (Some("mod@x.example"), true)
        ]
    );
    assert_eq!(
        kept.problems(),
        [
            "3 bob email=not-an-address Ignored: the address is not a valid e-mail address",
            "4 bob userId=bob Skipped: an earlier user has the same id",
            "5 userId= Skipped: the id of the user is blank",
            "4 3 authorUserId=gus Ignored: there is no user with this id",
        ]
    );
    // Without a table of users.
    let kept = of(posts);
    assert_eq!(kept.requests()[2].author, Some(Person { key: PersonKey::ExternalId("gus".to_owned()), name: None }));
    assert!(kept.problems.is_empty());
}

#[test]
fn comments_are_read() {
    let long = "x".repeat(81);
    let kept = with_comments(&format!(
        "{COMMENTS}1,c1,,ann,2022-04-03T00:00:00Z,,\"<p>{long}</p>\",0,0\n\
        1,c2,c1,bob,2022-04-04T00:00:00Z,,<p>Soon</p>,0,0\n\
        1,c3,c1,,2022-04-04T00:00:00Z,,,0,0\n\
        1,c4,,,,,<p><br></p>,0,0\n\
        1,c5,c3,,,,After,0,0\n\
        1,c6,c9,,,,Lonely,0,0\n\
        1,c1,,,,,Again,0,0\n\
        9,c7,,,,,Elsewhere,0,0\n\
        ,c8,,,,,Nowhere,0,0\n\
        2,,,,,,<3,0,0\n\
        2,,,,,,<3,0,0\n"
    ));
    let bodies: Vec<_> = kept.comments().iter().map(|comment| comment.body.as_str()).collect();
    let quote = format!("> {}…\n\n<p>Soon</p>", "x".repeat(80));
    assert_eq!(bodies, [&format!("<p>{long}</p>"), &quote, "After", "Lonely", "<3"]);
    assert_eq!(kept.comments()[4].external_id.len(), 32);
    assert_eq!(
        kept.problems(),
        [
            "7 c6 parentCommentId=c9 Ignored: there is no comment with this id, so the reply quotes nothing",
            "8 c1 commentId=c1 Rejected: an earlier record has the same id",
            "9 c7 ideaId=9 Skipped: there is no feature request with this id",
            "10 c8 ideaId= Skipped: the id of the feature request is blank",
            "12 commentId= Rejected: an earlier record is the same, and there is no id",
        ]
    );
    assert_eq!(kept.lost(), [("comments on unknown feature requests", 2), ("comments that are deleted", 2)]);
    assert_eq!(kept.lost[0].2, Some(Kind::Comments));
    assert!(kept.rejected(1).ends_with("1,c1,,,,,Again,0,0\n2,,,,,,<3,0,0\n"));

    let (kept, _) = run(&[
        ("posts.csv", "ideaId,title,response\n1,a,Soon\n"),
        ("comments.csv", "ideaId,commentId,content\n1,1 response,Hi\n"),
    ])
    .unwrap();
    assert_eq!(kept.problems(), ["2 1 response commentId=1 response Rejected: an earlier record has the same id"]);

    let files = inputs(&[("comments.csv", "ideaId,commentId,content\nold,c1,Hi\nolder,c2,Hi\n")]);
    let mut kept = Kept::default();
    convert(&files, &Options { is_known: &|id| id == "old", ..options() }, &mut kept).unwrap();
    assert_eq!((kept.comments().len(), kept.lost()), (1, vec![("comments on unknown feature requests", 1)]));
}

#[test]
fn what_shows_nothing_is_no_text() {
    for (html, is_shown) in [
        ("", false),
        (" \n", false),
        ("<p></p>", false),
        ("<p>&nbsp;<br/></p>\n<p> </p>", false),
        ("<p>a</p>", true),
        ("a", true),
        ("<3", true),
        ("<3 you> ", true),
        ("<img src='https://x.example/a.png'>", true),
        ("a<br>", true),
    ] {
        let kept = of(&format!("ideaId,title,response\n1,a,\"{html}\"\n"));
        assert_eq!(kept.comments().len(), usize::from(is_shown), "{html}");
    }
}

#[test]
fn what_cannot_be_a_record_is_rejected_with_its_bytes() {
    let too_large = "x".repeat(MAX_RECORD_BYTES);
    let text = format!(
        "ideaId,title,created\n1,a,\n2, \u{200b},\n3,\n1,b,\n4,c\0,\n5,{too_large},\n,d,2022\n,d,2022\n6,e,\"\n7,f,\n"
    );
    let kept = of(&text);
    assert_eq!(kept.requests().iter().map(|request| &*request.title).collect::<Vec<_>>(), ["a", "d"]);
    assert_eq!(
        kept.problems(),
        [
            "3 2 title= \u{200b} Rejected: the title is blank",
            "4 Rejected: the record has 2 cells, but the header has 3",
            "5 1 ideaId=1 Rejected: an earlier record has the same id",
            "6 Rejected: the record has a NUL character",
            "7 Rejected: the record is larger than 4 MB, up to line 7",
            "9 ideaId= Rejected: an earlier record has the same title and time, and there is no id",
            "10 Rejected: the quote that opens in line 10 is not closed, so all lines up to 11 belong to this record",
        ]
    );
    assert_eq!(
        kept.rejected(0),
        format!("ideaId,title,created\n2, \u{200b},\n3,\n1,b,\n4,c\0,\n5,{too_large},\n,d,2022\n6,e,\"\n7,f,\n")
    );
    assert_eq!(kept.kinds, [Kind::FeatureRequests; 7]);
}

#[test]
fn other_bad_values_are_listed() {
    let title = format!("{} {}", "x".repeat(190), "y".repeat(20));
    let tags: Vec<_> = (0..21).map(|n| format!("tag{n}-1ab")).collect();
    let long = "z".repeat(51);
    let kept = of(&format!(
        "ideaId,title,description,created,tagIds,colour\n1,{title},Why,2030-01-01,\"{long}-1,{}\",red\n2,b,,01/02/2024,,\n",
        tags.join(",")
    ));
    let [first, second] = &kept.requests()[..] else { panic!() };
    assert_eq!(first.title, format!("{}…", "x".repeat(190)));
    assert_eq!(first.description, format!("{title}\n\nWhy"));
    assert_eq!((first.tags.len(), first.created_at, second.created_at), (20, None, None));
    let shown = &title[..79];
    assert_eq!(
        kept.problems(),
        [
            format!(
                "2 1 title={shown}… Changed: the title is longer than 200 characters: it is cut, and whole before the description"
            ),
            format!("2 1 tagIds={long} Ignored: tags have at most 50 characters"),
            "2 1 tagIds=tag20 Ignored: a feature request has at most 20 tags: 1 are left out".to_owned(),
            "2 1 created=2030-01-01 Changed: the time is in the future".to_owned(),
            "3 2 created=01/02/2024 Changed: the time cannot be read without --dates dmy or --dates mdy".to_owned(),
        ]
    );
    assert_eq!(kept.lost(), [("column colour", 1)]);
    let kept = of("ideaId,title\nü/1,a\n");
    assert_eq!(kept.requests()[0].url, None);
}

#[test]
fn tables_are_recognized_by_their_columns() {
    for (name, head, is_recognized) in [
        ("a.csv", POSTS, true),
        ("a.csv", COMMENTS, true),
        ("a.csv", USERS, true),
        ("data", "ideaId;title;voteValue\n", true),
        ("a.csv", "Idea Id,Idea Title,User Email Address\n", false),
        ("a.csv", "id,title,votes\n", false),
        ("a.csv", "userId,name,email\n", false),
        ("a.csv", "", false),
    ] {
        assert_eq!(recognizes(&inputs(&[(name, head)])), is_recognized, "{head}");
    }
    assert!(recognizes(&inputs(&[("README", "x"), ("a.csv", POSTS)])));
    assert!(!recognizes(&inputs(&[("README", "x"), ("a.txt", POSTS)])));
    assert!(!recognizes(&[]));

    let posts = ("a.csv", "ideaId,title\n1,a\n");
    let (kept, _) = run(&[("README.md", "# Export"), posts, ("other.csv", "colour\nred\n")]).unwrap();
    assert_eq!(kept.requests().len(), 1);
    assert_eq!(kept.problems(), ["Skipped: the file is no table of a known kind"; 2]);
    for (files, message) in [
        (
            vec![("a\u{1b}.csv", "colour,\u{7}size\n")],
            "`a\u{fffd}.csv` has no records of ClearFlask. Its columns are `colour`, `\u{fffd}size`",
        ),
        (
            vec![("a.csv", "colour\n"), ("b.csv", "size\n")],
            "none of the files has records of ClearFlask: its export has tables of posts, comments and users",
        ),
        (vec![], "none of the files has records of ClearFlask: its export has tables of posts, comments and users"),
        (vec![posts, ("b.csv", "")], "`b.csv` cannot be imported: the file is empty"),
        (
            vec![("a.csv", "ideaId,title,Title\n")],
            "`a.csv` cannot be imported: the columns `title` and `Title` have the same name: rename or remove one of them",
        ),
    ] {
        assert_eq!(run(&files).err().as_deref(), Some(message));
    }
    let many: Vec<_> = (0..41).map(|n| format!("c{n}")).collect();
    assert!(run(&[("a", &many.join(","))]).err().unwrap().ends_with("`c39`, …"));
}

#[test]
fn an_unknown_encoding_is_a_warning() {
    let file = [Input::from_bytes("a.csv", *b"ideaId;title\r\n1;\xdcber\r\n")];
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
    assert!(matches!(error, ClearflaskError::Foreign { .. }));
}

#[test]
fn memory_is_bounded_and_a_full_disk_ends_the_conversion() {
    let files = inputs(&[
        ("c.csv", "ideaId,commentId,parentCommentId,content\n1,c1,,Yes\n1,c2,c1,Yes\n1,c2,,Yes\n1\n"),
        ("p.csv", "ideaId,title,response,voteValue\n1,a,Soon,-1\n"),
        ("u.csv", "userId,name\nann,Ann\n"),
    ]);
    // A post, its response, two comments, a comment with a reply, and a user.
    for max_records in 0..6 {
        let error = convert(&files, &Options { max_records, ..options() }, &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    let mut whole = Kept::default();
    convert(&files, &Options { max_records: 6, ..options() }, &mut whole).unwrap();
    let steps = whole.steps();
    assert_eq!(steps, 4 + 3 + 2);
    for space in 0..steps {
        let error = convert(&files, &options(), &mut Kept::with_space(space)).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    assert!(convert(&files, &options(), &mut Kept::with_space(steps)).is_ok());

    // Quotes have half of the space.
    let parents: String = (0..40).map(|n| format!("1,c{n},,{}\n1,r{n},c{n},Yes\n", "x".repeat(80))).collect();
    let text = format!("ideaId,commentId,parentCommentId,content\n{parents}");
    let files = inputs(&[("c.csv", &text), ("p.csv", "ideaId,title\n1,a\n")]);
    let mut kept = Kept::default();
    convert(&files, &Options { max_records: 130, ..options() }, &mut kept).unwrap();
    assert_eq!(kept.lost(), [("quotes of comments that have replies", 30)]);
    assert!(kept.problems.is_empty());

    let name = "x".repeat(199);
    let users: String = (0..170_000).map(|n| format!("{n},{name}\n")).collect();
    let files = inputs(&[("u.csv", &format!("userId,name\n{users}"))]);
    let error = convert(&files, &Options { max_records: 1_000_000, ..options() }, &mut Kept::default()).unwrap_err();
    assert_eq!(error.to_string(), "the names and addresses of people have more than 32 MB");

    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("posts.csv");
    std::fs::write(&path, "ideaId,title\n").unwrap();
    let files = crate::archive::open(&path, &crate::archive::Limits::default()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let error = convert(&files, &options(), &mut Kept::default()).unwrap_err();
    assert!(error.to_string().starts_with("`posts.csv` cannot be read: "), "{error}");
    assert!(!recognizes(&files));
}

proptest! {
    /// No file makes the conversion panic, and votes add up.
    #[test]
    fn any_table_is_converted(
        rows in prop::collection::vec("[12]?,[a ]?,[0-9-]{0,2},[ab<>&=,\"\n-]{0,4},[12]?", 0..12),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let posts = format!("ideaId,title,voteValue,tagIds,authorUserId\n{}\n", rows.join("\n"));
        let comments = format!("ideaId,content,created,commentId,parentCommentId\n{}\n", rows.join("\n"));
        let users = format!("userId,name,balance,email,isMod\n{}\n", rows.join("\n"));
        let (kept, votes) = run(&[("a.csv", &posts), ("b.csv", &comments), ("c.csv", &users)]).unwrap();
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.kinds.len());
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!((nameless, 0), (votes.nameless, votes.voters));
        let file = [Input::from_bytes("a", bytes)];
        let _ = recognizes(&file);
        let _ = convert(&file, &options(), &mut Kept::default());
    }
}
