//! Tables of cases for the conversion of files of Quackback.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{Action, Changelog, Comment, FeatureRequest, Kind, Note, Origin, Record, Status, Vote};
use crate::sources::kept::{Kept, inputs, key, options, person};

fn run(files: &[(&str, &str)]) -> Result<(Kept, VoteTotals), String> {
    let mut kept = Kept::default();
    match convert(&inputs(files), &options(), &mut kept) {
        Ok(votes) => Ok((kept, votes)),
        Err(error) => Err(error.to_string()),
    }
}

/// Converts one file of posts.
fn of(text: &str) -> Kept {
    run(&[("posts.csv", text)]).unwrap().0
}

/// Converts two posts and another file.
fn with(name: &str, text: &str) -> Kept {
    run(&[("posts.csv", "id,title\n1,a\n2,b\n"), (name, text)]).unwrap().0
}

const POSTS: &str = "id,title,content,status,tags,board,author_name,author_email,vote_count,created_at\n";
const COMMENTS: &str = "id,post_id,parent_id,author_name,author_email,is_team_member,is_private,moderation_state,content,created_at,updated_at\n";
const VOTES: &str = "id,post_id,voter_email,source_type,created_at\n";
const CHANGELOG: &str = "id,title,content,published_at,display_date,view_count,created_at,updated_at\n";
const STATUSES: &str = "id,name,slug,color,category,position,show_on_roadmap,is_default\n";
const USERS: &str =
    "name,email,verified,lifecycle,segments,joined_at,last_seen_at,post_count,comment_count,vote_count\n";

#[test]
fn all_files_of_an_export_are_read() {
    let posts = format!(
        "{POSTS}post_1,\" Dark\nmode\",\"'=1+1, please\",\"in_progress\",\"ui,theme\",\"feature-requests\",\"'@nn\",\"Ann@x.example\",5,2026-01-01T00:00:00.000Z\n"
    );
    let votes = format!(
        "{VOTES}v1,post_1,\"bob@x.example\",\"\",2026-01-02T00:00:00.000Z\nv2,post_1,\"\",\"import\",2026-01-03T00:00:00.000Z\nv3,post_1,\"BOB@x.example\",\"\",2026-01-04T00:00:00.000Z\n"
    );
    let comments = format!(
        "{COMMENTS}c1,post_1,,\"Bob\",\"bob@x.example\",false,false,published,\"Yes, please\",2026-01-03T00:00:00.000Z,2026-01-03T00:00:00.000Z\n\
        c2,post_1,c1,\"Arya\",\"arya@x.example\",true,true,published,\"Only for us\",2026-01-04T00:00:00.000Z,2026-01-05T00:00:00.000Z\n"
    );
    let statuses = format!(
        "{STATUSES}s1,\"In progress\",\"in_progress\",#fff,active,3,true,false\ns2,\"Done\",\"done\",#fff,complete,0,true,false\ns3,\"Planned\",\"planned\",#fff,active,2,t,false\ns4,\"Someday\",\"someday\",#fff,active,1,false,true\n"
    );
    let changelog = format!(
        "{CHANGELOG}e1,\"New\",\"'- dark mode\",2026-02-01T00:00:00.000Z,,7,2026-01-31T00:00:00.000Z,2026-02-01T00:00:00.000Z\n"
    );
    let users =
        format!("{USERS}\"Bob Ray\",\"Bob@X.example\",true,user,\"Beta,VIP\",2026-01-01T00:00:00.000Z,,0,1,2\n");
    let (kept, totals) = run(&[
        ("e/boards.csv", "id,slug,name,description,created_at\nb1,x,y,,\n"),
        ("e/changelog.csv", &changelog),
        ("e/companies.csv", "name,domain\n\"Big\n\nco\",big.example\nSmall,\n"),
        ("e/conversations.jsonl", "{\"id\":1}\n\n {\"id\":2}"),
        ("e/kb_articles.csv", "id,title,content,published_at\n"),
        ("e/manifest.json", "{}"),
        ("e/post_comments.csv", &comments),
        ("e/post_votes.csv", &votes),
        ("e/posts.csv", &posts),
        ("e/statuses.csv", &statuses),
        ("e/tags.csv", ""),
        ("e/users.csv", &users),
    ])
    .unwrap();
    let time = Timestamp::parse;
    let at = |file: usize, line: u64| Origin { file, line };
    let status = |name: &str, line| Record::Status(Status { name: name.to_owned(), origin: at(9, line) });
    assert_eq!(
        kept.records,
        [
            status("Planned", 4),
            status("In progress", 2),
            status("Done", 3),
            Record::FeatureRequest(FeatureRequest {
                external_id: "post_1".to_owned(),
                title: "Dark mode".to_owned(),
                description: "=1+1, please".to_owned(),
                status: Some("In progress".to_owned()),
                tags: ["ui", "theme", "feature-requests"].map(str::to_owned).to_vec(),
                is_private: false,
                awaits_approval: false,
                author: person("Ann@x.example", "@nn"),
                is_team: false,
                nameless_votes: 3,
                created_at: time("2026-01-01T00:00:00Z"),
                url: Some("/b/feature-requests/posts/post_1".to_owned()),
                merged_into: None,
                origin: at(8, 2),
            }),
            Record::Vote(Vote {
                request: "post_1".to_owned(),
                person: person("bob@x.example", "Bob Ray").unwrap(),
                is_subscribed: None,
                created_at: time("2026-01-02T00:00:00Z"),
                origin: at(7, 2),
            }),
            Record::Comment(Comment {
                external_id: "c1".to_owned(),
                request: "post_1".to_owned(),
                body: "Yes, please".to_owned(),
                author: person("bob@x.example", "Bob"),
                is_team: false,
                is_held: false,
                created_at: time("2026-01-03T00:00:00Z"),
                origin: at(6, 2),
            }),
            Record::Note(Note {
                is_team: true,
                external_id: "c2".to_owned(),
                request: "post_1".to_owned(),
                body: "> Yes, please\n\nOnly for us".to_owned(),
                author: person("arya@x.example", "Arya"),
                created_at: time("2026-01-04T00:00:00Z"),
                origin: at(6, 3),
            }),
            Record::Changelog(Changelog {
                external_id: "e1".to_owned(),
                title: "New".to_owned(),
                body: "- dark mode".to_owned(),
                category: None,
                published_at: time("2026-02-01T00:00:00Z"),
                requests: Vec::new(),
                origin: at(1, 2),
            }),
        ]
    );
    assert_eq!(totals, VoteTotals { voters: 1, nameless: 3, doubles: 1 });
    assert_eq!(
        kept.lost(),
        [
            ("column segments", 1),
            ("column source_type", 1),
            ("column view_count", 1),
            ("companies", 2),
            ("conversations", 2),
            ("times of edits", 1),
        ]
    );
    assert!(kept.problems.is_empty());
}

#[test]
fn the_template_needs_only_a_title() {
    let kept =
        of("title,content,status,tags,board,author_name,author_email,email_verified,vote_count,created_at,source_id\n\
        a,Text,planned,,,,,true,,,ext-1\nb,,,,,,,,,2026-01-01,\nb,,,,,,,,,2026-01-01,\nc,,,,,,,,,,ext-1\n");
    let ids: Vec<_> = kept.requests().iter().map(|request| request.external_id.clone()).collect();
    assert_eq!((ids.len(), &*ids[0], ids[1].len()), (2, "ext-1", 32));
    assert_eq!(
        kept.problems(),
        [
            "4 source_id= Rejected: an earlier record has the same title and time, and there is no id",
            "5 ext-1 source_id=ext-1 Rejected: an earlier record has the same id",
        ]
    );
    assert_eq!(kept.lost(), [("column email_verified", 1)]);
    let (kept, _) = run(&[("anything", "Title\na\n")]).unwrap();
    assert_eq!((kept.requests()[0].url.as_deref(), kept.requests()[0].status.as_deref()), (None, None));
}

#[test]
fn one_guard_is_taken_off_all_cells() {
    let (kept, _) = run(&[
        ("posts.csv", "id,title,content,tags,status\n'-1,'=a,''=b,'+1,'@c\n"),
        ("post_votes.csv", "post_id,voter_email\n'-1,'+ann@x.example\n"),
        ("post_comments.csv", "id,post_id,content\n1,'-1,\"'\tx\"\n"),
    ])
    .unwrap();
    let request = kept.requests()[0];
    assert_eq!((&*request.external_id, &*request.title, &*request.description), ("-1", "=a", "''=b"));
    assert_eq!((request.tags.as_slice(), request.status.as_deref()), (&["+1".to_owned()][..], Some("@c")));
    assert_eq!((kept.votes(), kept.comments()[0].body.as_str()), (vec![("-1", "+ann@x.example")], "\tx"));
}

#[test]
fn statuses_on_the_roadmap_come_in_its_order() {
    for (rows, names) in [
        ("s,A,a,#f,active,2,true,\ns,B,b,#f,active,1,1,\n", vec!["B", "A"]),
        ("s,A,a,#f,complete,0,true,\ns,B,b,#f,active,9,true,\n", vec!["B", "A"]),
        ("s,A,a,#f,active,,true,\ns,B,b,#f,active,x,true,\ns,C,c,#f,active,3,true,\n", vec!["C", "A", "B"]),
        ("s,A,a,#f,active,1,true,\ns,a,a2,#f,active,2,true,\n", vec!["A"]),
        ("s,A,a,#f,active,1,false,\ns,B,b,#f,active,1,,\n", vec![]),
    ] {
        let kept = with("statuses.csv", &format!("{STATUSES}{rows}"));
        assert_eq!(kept.statuses().iter().map(|status| &*status.name).collect::<Vec<_>>(), names, "{rows}");
        assert!(kept.problems.is_empty());
    }
    let long = "x".repeat(201);
    let kept = with("statuses.csv", &format!("name,show_on_roadmap\n,true\n{long},true\nA,maybe\n"));
    assert_eq!(
        kept.problems(),
        [
            "2 name= Skipped: the name of the status is blank".to_owned(),
            format!("3 name={}… Skipped: there are more than 1000 statuses, or the name is too long", &long[..79]),
            "4 show_on_roadmap=maybe Changed: the value is neither yes nor no: it counts as no".to_owned(),
        ]
    );
    let many: String = (0..1_003).map(|n| format!("s{n},slug{n},true\n")).collect();
    let kept = with("statuses.csv", &format!("name,slug,show_on_roadmap\n{many}"));
    assert_eq!((kept.statuses().len(), kept.problems.len()), (1_000, 3));
}

#[test]
fn votes_are_counted() {
    for (count, rows, voters, nameless, doubles) in [
        ("2", "a@x.example|", 1, 1, 0),
        ("", "a@x.example", 1, 0, 0),
        ("5", "a@x.example|A@X.example|bad|", 1, 3, 1),
        ("1", "||", 0, 3, 0),
        ("3", "temp-1@anon.quackback.io|TEMP-2@ANON.quackback.io", 0, 3, 0),
        ("-1", "", 0, 1, 0),
    ] {
        let votes: String = rows.split('|').map(|email| format!("v,1,{email},,\n")).collect();
        let posts = format!("id,title,vote_count\n1,a,{count}\n");
        let (kept, totals) = run(&[("posts.csv", &posts), ("votes.csv", &format!("{VOTES}{votes}"))]).unwrap();
        assert_eq!(totals, VoteTotals { voters, nameless, doubles }, "{count} {rows}");
        assert_eq!(kept.votes().len() as u64, voters);
        assert_eq!(u64::from(kept.requests()[0].nameless_votes), nameless);
    }
    let kept = with(
        "votes.csv",
        "post_id,voter_email,created_at\n1,bad,\n9,ann@x.example,\n,ann@x.example,\n1,ann@x.example,soon\n",
    );
    assert_eq!(
        kept.problems(),
        [
            "2 1 voter_email=bad Changed: the address is not valid: the vote has no name",
            "3 post_id=9 Skipped: there is no feature request with this id",
            "4 post_id= Skipped: the id of the feature request is blank",
            "5 1 created_at=soon Changed: the time cannot be read",
        ]
    );
    assert_eq!((kept.lost(), kept.lost[0].2), (vec![("votes for unknown feature requests", 2)], Some(Kind::Votes)));
}

#[test]
fn votes_may_be_for_feature_requests_of_an_earlier_run() {
    let files = inputs(&[("votes.csv", "post_id,voter_email,voter_name\nold,ann@x.example,Ann\nold,,Bob\n")]);
    let mut kept = Kept::default();
    let totals = convert(&files, &Options { is_known: &|id| id == "old", ..options() }, &mut kept).unwrap();
    assert_eq!((kept.votes(), totals.source()), (vec![("old", "ann@x.example")], 1));
    assert_eq!(
        kept.lost(),
        [("names without an address", 1), ("votes without a person for feature requests of another run", 1)]
    );
}

#[test]
fn a_board_that_all_posts_share_is_no_tag() {
    for (rows, tags) in [
        ("a,\"ui\",ideas\n", vec![vec!["ui", "ideas"]]),
        ("a,,ideas\nb,,ideas\n,,bugs\n", vec![vec![], vec![]]),
        ("a,,ideas\nb,\"bugs,ui\",bugs\n", vec![vec!["ideas"], vec!["bugs", "ui"]]),
    ] {
        let kept = of(&format!("title,tags,board\n{rows}"));
        assert_eq!(kept.requests().iter().map(|request| request.tags.clone()).collect::<Vec<_>>(), tags, "{rows}");
    }
}

#[test]
fn the_state_says_who_sees_a_post() {
    for (cells, is_private, awaits_approval, problems) in [
        ("published,false", false, false, vec![]),
        (",", false, false, vec![]),
        (",true", true, false, vec![]),
        ("pending,", true, true, vec![]),
        ("archived,", true, false, vec![]),
        (
            "odd,",
            true,
            false,
            vec!["2 1 moderation_state=odd Changed: the state is not known, so that the feature request is private"],
        ),
        (
            ",maybe",
            true,
            false,
            vec!["2 1 is_private=maybe Changed: the value is neither yes nor no: it counts as yes"],
        ),
    ] {
        let kept = of(&format!("id,title,moderation_state,is_private\n1,a,{cells}\n"));
        let request = kept.requests()[0];
        assert_eq!((request.is_private, request.awaits_approval), (is_private, awaits_approval), "{cells}");
        assert_eq!(kept.problems(), problems);
    }
    let (kept, totals) = run(&[
        ("posts.csv", "id,title,moderation,merged_into\n1,a,spam,\n2,b,deleted,\n3,c,,1\n"),
        ("votes.csv", "post_id,voter_email\n1,ann@x.example\n"),
        ("comments.csv", "id,post_id,content,is_private\nc1,2,Hi,\nc2,2,Hi,1\n"),
    ])
    .unwrap();
    assert_eq!((kept.records.len(), kept.requests()[0].merged_into.as_deref(), totals.source()), (1, Some("1"), 0));
    assert_eq!(
        kept.lost(),
        [
            ("deleted", 1),
            ("spam", 1),
            ("votes for spam or deleted feature requests", 1),
            ("comments on spam or deleted feature requests", 1),
            ("notes on spam or deleted feature requests", 1),
        ]
    );
    assert!(kept.problems.is_empty());
}

#[test]
fn the_state_says_who_sees_a_comment() {
    // Who may see it: all, the team before it is approved, the team for ever, nobody.
    for (cells, seen) in [
        ("false,false,published", "all"),
        ("true,false,published", "all"),
        (",,", "all"),
        ("false,false,pending", "held"),
        ("true,false,pending", "all"),
        ("false,true,published", "note"),
        ("true,true,pending", "note"),
        ("t,t,", "note"),
        ("1,0,closed", "note"),
        ("0,0,closed", "held"),
        ("0,0,odd", "held"),
        ("1,0,odd", "note"),
        ("0,maybe,", "note"),
        ("false,false,spam", "none"),
        ("true,true,deleted", "none"),
    ] {
        let kept = with("post_comments.csv", &format!("{COMMENTS}c,1,,,,{cells},Hi,,\n"));
        let found = match (&kept.comments()[..], kept.notes().len()) {
            ([comment], 0) if comment.is_held => "held",
            ([_], 0) => "all",
            ([], 1) => "note",
            _ => "none",
        };
        assert_eq!(found, seen, "{cells}");
        assert!(kept.comments().iter().all(|comment| !(comment.is_held && comment.is_team)));
        assert_eq!(kept.problems.len(), usize::from(cells.contains("odd") || cells.contains("maybe")), "{cells}");
    }
    let kept = with("comments.csv", &format!("{COMMENTS}a,1,,,,,1,spam,Hi,,\nb,1,,,,,,deleted,Hi,,\n"));
    assert_eq!(kept.lost(), [("comments that are deleted", 1), ("notes that are spam", 1)]);
    let kept = with("notes.csv", "post_id,body,author_email\n1,Deal,arya@x.example\n");
    assert_eq!((kept.notes().len(), kept.comments().len()), (1, 0));
    let (kept, _) = run(&[
        ("posts.csv", "id,title\n1,a\n"),
        ("comments.csv", "id,post_id,content,is_private\nc,1,Hi,true\n"),
        ("notes.csv", "id,post_id,body\nc,1,Deal\n"),
    ])
    .unwrap();
    assert_eq!((kept.notes().len(), kept.kinds), (1, vec![Kind::Notes]));
}

#[test]
fn comments_are_read() {
    let kept = with(
        "post_comments.csv",
        &format!(
            "{COMMENTS}a,1,,Ann,,false,false,,{},,\n\
            b,1,a,Arya,,true,false,,Soon,,\n\
            c,1,b,,bad,maybe,false,,<b>Why</b> & how,,\n\
            d,1,c,,temp-1@anon.quackback.io,false,false,,Reply,2026-01-01,2026-01-01\n\
            e,1,,,,true,true,,Secret,,\n\
            f,1,e,,,false,false,,Public reply,,\n\
            g,1,h,,,false,false,,Lonely,,\n\
            a,1,,,,,,,Again,,\n\
            i,1,,,,,,, ,,\n\
            ,2,,,ann@x.example,,,,No id,2027-01-01,\n\
            ,2,,,ann@x.example,,,,No id,2027-01-01,\n\
            j,1,k,,,,,,To spam,,\n\
            k,1,,,,,,spam,Buy,,\n",
            "x".repeat(81)
        ),
    );
    let quote = format!("> {}…\n\nSoon", "x".repeat(80));
    let bodies: Vec<_> = kept.comments().iter().map(|comment| (comment.body.as_str(), comment.is_team)).collect();
    assert_eq!(
        bodies[1..],
        [
            (&*quote, true),
            ("> Soon\n\n<b>Why</b> & how", false),
            ("> Why &amp; how\n\nReply", false),
            ("Public reply", false),
            ("Lonely", false),
            ("No id", false),
            ("To spam", false),
        ]
    );
    assert_eq!((kept.comments()[6].external_id.len(), kept.notes().len()), (32, 1));
    assert!(kept.comments().iter().enumerate().all(|(n, comment)| comment.author.is_some() == (n == 6)));
    assert_eq!(
        kept.problems(),
        [
            "4 c is_team_member=maybe Changed: the value is neither yes nor no: it counts as no",
            "4 c author_email=bad Ignored: the address is not a valid e-mail address",
            "7 f parent_id=e Ignored: the reply is public, but the comment is not: it is not quoted",
            "8 g parent_id=h Ignored: there is no comment with this id, so the reply quotes nothing",
            "9 a id=a Rejected: an earlier record has the same id",
            "10 i content=  Rejected: the text is blank",
            &format!("11 {} created_at=2027-01-01 Changed: the time is in the future", kept.comments()[6].external_id),
            "12 id= Rejected: an earlier record is the same, and there is no id",
        ]
    );
    // The name of somebody of the team is shown as that of the team.
    assert_eq!(kept.lost(), [("names without an address", 1), ("comments that are spam", 1)]);
}

#[test]
fn who_comments_as_the_team_is_of_the_team() {
    let (kept, _) = run(&[
        (
            "posts.csv",
            "id,title,author_email,author_name\n1,a,ARYA@x.example,Arya\n2,b,ann@x.example,\n3,c,,Bob\n4,d,bad,Bob\n",
        ),
        ("post_comments.csv", "post_id,content,author_email,is_team_member\n1,Hi,arya@x.example,true\n"),
        ("users.csv", "email,name\nAnn@x.example,Ann Lee\nbad,B\nbob@x.example,\n"),
    ])
    .unwrap();
    let authors: Vec<_> = kept.requests().iter().map(|request| (request.author.clone(), request.is_team)).collect();
    assert_eq!(
        authors,
        [
            (person("ARYA@x.example", "Arya"), true),
            (person("ann@x.example", "Ann Lee"), false),
            (None, false),
            (None, false)
        ]
    );
    assert_eq!(kept.comments()[0].author.as_ref().map(key), Some("arya@x.example"));
    assert_eq!(kept.lost(), [("names without an address", 2)]);
    assert_eq!(kept.problems(), ["5 4 author_email=bad Ignored: the address is not a valid e-mail address"]);
}

#[test]
fn changelogs_are_read() {
    let title = format!("{} {}", "x".repeat(190), "y".repeat(20));
    let kept = with(
        "changelog.csv",
        &format!(
            "{CHANGELOG}1,Published,a,2026-02-01,,,,\n2,Draft,a,,2026-01-01,,,\n3,Scheduled,a,2027-01-01,,,,\n\
            4,Shown earlier,a,2026-02-01,2025-01-01,,,\n5,Odd,a,soon,,,,\n6,{title},a,2026-02-01,later,,,\n\
            ,No id,a,,,,2026-01-01,\n1,Again,a,,,,,\n8,,a,,,,,\n9,Blank,,,,,,\n"
        ),
    );
    let found: Vec<_> = kept
        .changelogs()
        .iter()
        .map(|changelog| changelog.published_at.map(|at| at.to_string()[..10].to_owned()).unwrap_or_default())
        .collect();
    assert_eq!(found, ["2026-02-01", "", "", "2025-01-01", "2026-11-28", "2026-02-01", ""]);
    assert_eq!(kept.changelogs()[5].body, format!("{title}\n\na"));
    assert_eq!(kept.changelogs()[6].external_id.len(), 32);
    assert_eq!(
        kept.problems(),
        [
            "6 5 published_at=soon Changed: the time cannot be read".to_owned(),
            format!(
                "7 6 title={}… Changed: the title is longer than 200 characters: it is cut, and whole before the text",
                &title[..79]
            ),
            "7 6 display_date=later Changed: the time cannot be read".to_owned(),
            "9 1 id=1 Rejected: an earlier record has the same id".to_owned(),
            "10 8 title= Rejected: the title is blank".to_owned(),
            "11 9 content= Rejected: the text is blank".to_owned(),
        ]
    );
    assert_eq!((kept.lost(), kept.kinds.len()), (vec![("times of scheduled changelogs", 1)], 3));
}

#[test]
fn what_cannot_be_a_record_is_rejected_with_its_bytes() {
    let kept = of("id,title,content\r\n1,a,\r\n2, ,b\r\n3,c\r\n4,d,,e\r\n1,f,\r\n5,g\0,\r\n6,h,\"open\r\n7,i,\r\n");
    assert_eq!(kept.requests().len(), 1);
    assert_eq!(
        kept.problems(),
        [
            "3 2 title=  Rejected: the title is blank",
            "4 Rejected: the record has 2 cells, but the header has 3",
            "5 Rejected: the record has 4 cells, but the header has 3",
            "6 1 id=1 Rejected: an earlier record has the same id",
            "7 Rejected: the record has a NUL character",
            "8 Rejected: the quote that opens in line 8 is not closed, so all lines up to 9 belong to this record",
        ]
    );
    assert_eq!(
        kept.rejected(0),
        "id,title,content\r\n2, ,b\r\n3,c\r\n4,d,,e\r\n1,f,\r\n5,g\0,\r\n6,h,\"open\r\n7,i,\r\n"
    );
}

#[test]
fn files_are_recognized() {
    let manifest = "{\n  \"format_version\": 1,\n  \"generator\": \"quackback\"\n}";
    for (name, text, is_recognized) in [
        ("posts.csv", POSTS, true),
        ("export/posts.csv", POSTS, true),
        ("other.csv", POSTS, false),
        ("a.csv", COMMENTS, true),
        ("a.csv", VOTES, true),
        ("a.csv", STATUSES, true),
        ("a", "title,content,status,email_verified,source_id\n", true),
        ("manifest.json", manifest, true),
        ("export/manifest.json", manifest, true),
        ("manifest.json", "{\"generator\": \"other\"}", false),
        ("manifest.json", "\u{fffd}", false),
        ("posts.csv", "id,title,content,votes\n", false),
        ("votes.csv", "post_id,email\n", false),
        ("comments.csv", "id,post_id,body,is_post_update\n", false),
        ("users.csv", USERS, false),
        ("a.csv", "", false),
    ] {
        assert_eq!(recognizes(&inputs(&[(name, text)])), is_recognized, "{name} {text}");
    }
    assert!(recognizes(&inputs(&[("README", "x"), ("a.csv", VOTES)])));
    assert!(!recognizes(&inputs(&[("README", "x"), ("a", VOTES)])));
    assert!(!recognizes(&inputs(&[("a.csv", "x"), ("manifest.json", "[]")])));

    // Without their names, by their columns.
    for (text, found) in [
        ("post_id,voter_email\n9,ann@x.example\n", "votes for unknown feature requests"),
        ("post_id,content\n9,Hi\n", "comments on unknown feature requests"),
        ("name,show_on_roadmap\nA,1\n", "status"),
        ("title,content,published_at\na,b,\n", "changelog"),
        ("title,content\na,b\n", "feature_request"),
    ] {
        let kept = run(&[("a.csv", text)]).unwrap().0;
        let record = kept.records.first().map(|record| serde_json::to_value(record).unwrap()["kind"].clone());
        let lost = kept.lost.first().map(|(what, ..)| what.clone().into());
        assert_eq!(record.or(lost), Some(serde_json::Value::from(found)), "{text}");
    }
}

#[test]
fn other_files_are_left_out_or_refused() {
    let posts = ("posts.csv", "title\na\n");
    let (kept, _) = run(&[("README.md", "# Export"), posts, ("segments.csv", "colour\nred\n")]).unwrap();
    assert_eq!(kept.requests().len(), 1);
    assert_eq!(kept.problems(), ["Skipped: the file is no table of a known kind"; 2]);
    const NOTHING: &str =
        "none of the files has records of Quackback: its export has a `posts.csv`, and its template a column `title`";
    for (files, message) in [
        (
            vec![("a\u{1b}.csv", "colour,\u{7}size\n")],
            "`a\u{fffd}.csv` has no records of Quackback. Its columns are `colour`, `\u{fffd}size`",
        ),
        (
            vec![posts, ("post_votes.csv", "id,email\n")],
            "`post_votes.csv` has no records of Quackback. Its columns are `id`, `email`",
        ),
        (vec![("a.csv", "colour\n"), ("b.csv", "size\n")], NOTHING),
        (vec![("boards.csv", "id\n"), ("manifest.json", "{}"), ("companies.csv", "name\n")], NOTHING),
        (vec![], NOTHING),
        (vec![posts, ("users.csv", "")], "`users.csv` cannot be imported: the file is empty"),
    ] {
        assert_eq!(run(&files).err().as_deref(), Some(message));
    }
    // What has no place here may be broken.
    let (kept, _) = run(&[posts, ("companies.csv", ""), ("kb_articles.csv", "id,title\n1\n2,a\n")]).unwrap();
    assert_eq!(kept.lost(), [("articles of the knowledge base", 2)]);
}

#[test]
fn memory_is_bounded_and_a_full_disk_ends_the_conversion() {
    let files = inputs(&[
        (
            "post_comments.csv",
            "id,post_id,parent_id,content,author_email,is_team_member\nc1,1,,Yes,arya@x.example,1\nc2,1,c1,Yes,,\nc3,1,,,,\nc4\n",
        ),
        ("posts.csv", "id,title,colour\n1,a,red\n"),
        ("post_votes.csv", "post_id,voter_email\n1,ann@x.example\n1,bad\n"),
        ("statuses.csv", "name,show_on_roadmap\nA,1\n"),
        ("users.csv", "name,email\nAnn,ann@x.example\n"),
        ("changelog.csv", "id,title,content,published_at\n1,a,b,\n"),
    ]);
    // A post, two comments, a comment with a reply, a changelog, a user, somebody of the team, a list and a pair of voters.
    for max_records in 0..9 {
        let error = convert(&files, &Options { max_records, ..options() }, &mut Kept::default()).unwrap_err();
        assert_eq!(error.to_string(), format!("the files have more than {max_records} records"));
    }
    let mut whole = Kept::default();
    convert(&files, &Options { max_records: 9, ..options() }, &mut whole).unwrap();
    let steps = whole.steps();
    assert_eq!(steps, 6 + 3 + 1 + 2);
    for space in 0..steps {
        let error = convert(&files, &options(), &mut Kept::with_space(space)).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full", "{space}");
    }
    assert!(convert(&files, &options(), &mut Kept::with_space(steps)).is_ok());

    let folder = tempfile::TempDir::new().unwrap();
    for name in ["companies.csv", "conversations.jsonl", "manifest.json"] {
        std::fs::write(folder.path().join(name), "x\n").unwrap();
    }
    std::fs::write(folder.path().join("posts.csv"), "title\n").unwrap();
    let files = crate::archive::open(folder.path(), &crate::archive::Limits::default()).unwrap();
    for name in ["companies.csv", "conversations.jsonl", "posts.csv"].into_iter().rev() {
        std::fs::remove_file(folder.path().join(name)).unwrap();
        let error = convert(&files, &options(), &mut Kept::default()).unwrap_err();
        assert!(error.to_string().contains("cannot be read: "), "{error}");
        if name != "posts.csv" {
            std::fs::write(folder.path().join(name), "x\n").unwrap();
        }
        std::fs::write(folder.path().join("posts.csv"), "title\n").unwrap();
    }
}

proptest! {
    /// No file makes the conversion panic, and votes add up.
    #[test]
    fn any_table_is_converted(
        rows in prop::collection::vec("[12]?,[a ]?,[0-9-]{0,2},(|spam|pending),([ab]@x[.]example|bad|),[ab\"\n,']{0,3}", 0..12),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let table = |head: &str| format!("{head}\n{}\n", rows.join("\n"));
        let (kept, votes) = run(&[
            ("posts.csv", &table("id,title,vote_count,moderation_state,author_email,tags")),
            ("votes.csv", &table("post_id,voter_name,created_at,x,voter_email,y")),
            ("comments.csv", &table("post_id,id,parent_id,moderation_state,author_email,content")),
            ("statuses.csv", &table("position,name,slug,category,color,show_on_roadmap")),
            ("changelog.csv", &table("id,title,published_at,x,display_date,content")),
        ]).unwrap();
        let rejected = kept.problems.iter().filter(|problem| problem.action == Action::Rejected).count();
        prop_assert_eq!(rejected, kept.kinds.len());
        prop_assert_eq!(kept.votes().len() as u64, votes.voters);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!(nameless, votes.nameless);
        let mut unique: Vec<_> = kept.votes();
        unique.sort_unstable();
        unique.dedup();
        prop_assert_eq!(unique.len(), kept.votes().len());
        let file = [Input::from_bytes("a", bytes)];
        let _ = recognizes(&file);
        let _ = convert(&file, &options(), &mut Kept::default());
    }
}
