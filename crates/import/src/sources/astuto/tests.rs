//! Tables of cases for the conversion of the database of Astuto.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{FeatureRequest, Origin, Person, PersonKey, Status, Vote};
use crate::sources::kept::{Kept, key, options, person, tables_of};
use crate::table::MAX_RECORD_BYTES;

const USERS: &str = "id,email,full_name,role,status\n\
    1,Ann@x.example,Ann Lee,0,0\n\
    2,arya@x.example,Arya Stark,3,0\n\
    3,a1B2c3@deleted.com,Deleted user,0,2\n\
    4,,Nomail,0,0\n";
const ONE_POST: &str = "id,title,board_id,post_status_id\n1,a,,\n";
const STATUSES: &str = "id,name,order,show_in_roadmap\n1,Open,2,f\n2,Planned,1,t\n";

fn run(tables: &[(&str, &str)]) -> (Kept, VoteTotals) {
    let mut kept = Kept::default();
    let votes = convert(&tables_of(tables), &options(), &mut kept).unwrap();
    (kept, votes)
}

fn error_of(tables: &[(&str, &str)]) -> String {
    convert(&tables_of(tables), &options(), &mut Kept::default()).unwrap_err().to_string()
}

/// Converts a table beside people and one feature request.
fn with(name: &str, text: &str) -> (Kept, VoteTotals) {
    run(&[(name, text), ("posts", ONE_POST), ("users", USERS), ("post_statuses", STATUSES)])
}

#[test]
fn all_tables_are_read() {
    let (kept, votes) = run(&[
        ("boards", "tenant_id,name,id\n1,Ideas,7\n1,Bugs,8\n"),
        ("follows", "id,user_id,post_id,created_at\n1,1,10,2023-03-01 10:00:02\n2,4,10,2023-03-01 10:00:03\n"),
        ("likes", "id,user_id,post_id,created_at\n1,1,10,2023-03-01 10:00:01.5\n"),
        ("post_statuses", STATUSES),
        ("post_status_changes", "id,user_id,post_id,post_status_id,created_at\n5,2,10,2,2023-03-02 12:00:00\n"),
        (
            "posts",
            "slug,approval_status,title,id,user_id,description,post_status_id,board_id,created_at,new_column\n\
             dark-mode,0,\" Dark\nmode\",10,1,\"Please,\nsoon\",2,7,2023-03-01 10:00:00.5,x\n\
             other,0,Other,11,,,,8,2023-03-01 10:00:00,x\n",
        ),
        ("users", USERS),
        ("comments", "id,body,user_id,post_id,parent_id,created_at\n1,Yes,4,10,,2023-03-04 12:00:00\n"),
    ]);
    let origin = |file, line| Origin { file, line };
    let at = |text| Timestamp::parse(text);
    let [status, request, _, vote, subscription, comment, moved] = &kept.records[..] else {
        panic!("{:?}", kept.records)
    };
    assert_eq!(*status, Record::Status(Status { name: "Planned".to_owned(), origin: origin(3, 3) }));
    assert_eq!(
        *request,
        Record::FeatureRequest(FeatureRequest {
            external_id: "10".to_owned(),
            title: "Dark mode".to_owned(),
            description: "Please,\nsoon".to_owned(),
            status: Some("Planned".to_owned()),
            tags: vec!["Ideas".to_owned()],
            is_private: false,
            awaits_approval: false,
            author: person("Ann@x.example", "Ann Lee"),
            is_team: false,
            nameless_votes: 0,
            created_at: at("2023-03-01T10:00:00.5Z"),
            url: Some("/posts/dark-mode".to_owned()),
            merged_into: None,
            origin: origin(5, 2),
        })
    );
    assert_eq!(
        *vote,
        Record::Vote(Vote {
            request: "10".to_owned(),
            person: person("Ann@x.example", "Ann Lee").unwrap(),
            is_subscribed: Some(true),
            created_at: at("2023-03-01T10:00:01.5Z"),
            origin: origin(2, 2),
        })
    );
    let nomail = Person { key: PersonKey::ExternalId("4".to_owned()), name: Some("Nomail".to_owned()) };
    assert_eq!(
        *subscription,
        Record::Subscription(Subscription {
            request: "10".to_owned(),
            person: nomail.clone(),
            created_at: at("2023-03-01T10:00:03Z"),
            origin: origin(1, 3),
        })
    );
    let Record::Comment(comment) = comment else { panic!("{comment:?}") };
    assert_eq!((&*comment.body, &comment.author, comment.is_team), ("Yes", &Some(nomail), false));
    assert_eq!(
        *moved,
        Record::Move(Move {
            external_id: "5".to_owned(),
            request: "10".to_owned(),
            status: "Planned".to_owned(),
            author: person("arya@x.example", "Arya Stark"),
            at: at("2023-03-02T12:00:00Z").unwrap(),
            origin: origin(4, 2),
        })
    );
    assert_eq!(votes, VoteTotals { voters: 1, nameless: 0, doubles: 0 });
    assert!(kept.problems.is_empty() && kept.lost.is_empty(), "{:?} {:?}", kept.problems_of_files(), kept.lost);
}

#[test]
fn only_the_posts_are_needed() {
    let (kept, votes) = run(&[(
        "posts",
        "id,title,board_id,user_id,post_status_id\n1,a,1,1,1\n2,b,1,1,1\n\
         ,c,,,\n",
    )]);
    assert_eq!(kept.requests().len(), 3);
    assert_eq!(kept.requests()[2].external_id.len(), 32);
    assert_eq!((&kept.requests()[0].author, kept.requests()[0].status.as_deref()), (&None, None));
    assert_eq!(kept.requests()[0].url.as_deref(), Some("/posts/1"));
    assert_eq!(votes.source(), 0);
    assert_eq!(
        kept.problems_of_files(),
        [
            "posts Ignored: there is no `users.csv` beside it: nobody is an author, and no vote has a name",
            "posts Ignored: there is no `boards.csv` beside it: no record gets what `board_id` says",
            "posts Ignored: there is no `post_statuses.csv` beside it: no record gets what `post_status_id` says",
        ]
    );
}

#[test]
fn people_are_of_the_team_or_deleted() {
    for (cells, name, key, is_team) in [
        ("Ann@x.example,Ann,0,0,t", Some("Ann"), Some("Ann@x.example"), false),
        ("ann@x.example,,,,", None, Some("ann@x.example"), false),
        ("ann@x.example,Ann,1,0,", Some("Ann"), Some("ann@x.example"), true),
        ("ann@x.example,Ann,2,0,", Some("Ann"), Some("ann@x.example"), true),
        ("ann@x.example,Ann,3,1,f", Some("Ann"), Some("ann@x.example"), true),
        (",Ann,0,0,", Some("Ann"), Some("7"), false),
        ("bad,Ann,0,0,", Some("Ann"), Some("7"), false),
        ("a1B2c3@deleted.com,Ann,0,0,", None, None, false),
        ("A1@DELETED.COM ,Ann,3,0,", None, None, true),
        ("ann@x.example,Ann,0,2,", None, None, false),
        ("bad,Ann,0,2,", None, None, false),
    ] {
        let users = format!("id,email,full_name,role,status,notifications_enabled\n7,{cells}\n");
        let (kept, _) = run(&[("posts", "id,title,board_id,post_status_id,user_id\n1,a,,,7\n"), ("users", &users)]);
        let request = kept.request();
        let found = request.author.as_ref();
        assert_eq!(
            (found.and_then(|person| person.name.as_deref()), found.map(key_of), request.is_team),
            (name, key, is_team),
            "{cells}"
        );
        let has_problem = cells.starts_with("bad") && found.is_some();
        assert_eq!(kept.problems.len(), usize::from(has_problem), "{cells}: {:?}", kept.problems_of_files());
        let is_blocked = cells.contains(",1,");
        assert_eq!(kept.lost.len(), usize::from(is_blocked && cells.ends_with('f')), "{cells}: {:?}", kept.lost);
    }
    let (kept, _) = run(&[
        ("posts", "id,title,board_id,post_status_id,user_id\n1,a,,,8\n2,b,,,\n"),
        ("users", "id,email,role\n,x@x.example,0\n1,a@x.example,owner\n1,b@x.example,0\n2,c@x.example\n"),
    ]);
    assert_eq!(
        kept.problems_of_files(),
        [
            "users 2 id= Ignored: the id is blank",
            "users 3 1 role=owner Ignored: the value is no whole number",
            "users 4 1 id=1 Ignored: an earlier record has the same id",
            "users 5 Rejected: the record has 2 cells, but the header has 3",
            "posts 2 1 user_id=8 Ignored: there is no user with this id",
        ]
    );
    assert_eq!((kept.rejected(1), &*kept.kinds), ("id,email,role\n2,c@x.example\n", &[Kind::Customers][..]));
}

fn key_of(person: &Person) -> &str {
    key(person)
}

#[test]
fn the_approval_says_who_sees_a_feature_request() {
    for (cell, is_private, awaits, has_problem) in [
        ("", false, false, false),
        ("0", false, false, false),
        (" 1 ", true, true, false),
        ("2", true, false, false),
        ("3", true, false, true),
        ("odd", true, false, true),
    ] {
        let text = format!("id,title,board_id,post_status_id,approval_status\n1,a,,,{cell}\n");
        let (kept, _) = run(&[("posts", &text), ("users", USERS)]);
        assert_eq!((kept.request().is_private, kept.request().awaits_approval), (is_private, awaits), "{cell}");
        assert_eq!(kept.problems.len(), usize::from(has_problem), "{cell}");
    }
}

#[test]
fn likes_are_votes() {
    let (kept, votes) = run(&[
        (
            "likes",
            "id,user_id,post_id,created_at\n\
             1,1,1,2023-03-01 10:00:01\n\
             2,3,1,\n\
             3,1,1,\n\
             4,9,1,\n\
             5,4,1,soon\n\
             6,1,77,\n\
             7,1,,\n\
             8,1,2,\n\
             9,1\n\
             1,5,2,\n\
             11,1,known,\n\
             12,3,known,\n",
        ),
        ("posts", "id,title,board_id,post_status_id\n1,a,,\n2,b,,\n"),
        ("users", "id,email,status\n1,ann@x.example,0\n3,x@deleted.com,2\n4,,0\n5,ANN@x.example,0\n"),
    ]);
    let nameless: Vec<_> = kept.requests().iter().map(|request| request.nameless_votes).collect();
    assert_eq!(nameless, [2, 0]);
    // The fifth user has the mailbox of the first.
    assert_eq!(kept.votes(), [("1", "ann@x.example"), ("1", "4"), ("2", "ann@x.example")]);
    assert!(kept.all_votes().iter().all(|vote| vote.is_subscribed.is_none()));
    assert_eq!(votes, VoteTotals { voters: 3, nameless: 2, doubles: 2 });
    assert_eq!(
        kept.problems_of_files(),
        [
            "likes 5 1 user_id=9 Changed: there is no user with this id: the vote has no name",
            "likes 6 1 created_at=soon Changed: the time cannot be read",
            "likes 7 post_id=77 Skipped: there is no feature request with this id",
            "likes 8 post_id= Skipped: the id of the feature request is blank",
            "likes 10 Rejected: the record has 2 cells, but the header has 4",
            "likes 12 post_id=known Skipped: there is no feature request with this id",
            "likes 13 post_id=known Skipped: there is no feature request with this id",
        ]
    );
    assert_eq!(kept.lost, [("votes for unknown feature requests".to_owned(), 4, Some(Kind::Votes))]);
    assert_eq!((kept.rejected(0), &*kept.kinds), ("id,user_id,post_id,created_at\n9,1\n", &[Kind::Votes][..]));
}

#[test]
fn votes_and_comments_may_be_for_feature_requests_of_another_run() {
    let mut kept = Kept::default();
    let options = Options { is_known: &|id| id == "5", ..options() };
    let tables = tables_of(&[
        ("likes", "user_id,post_id\n1,5\n3,5\n1,6\n"),
        ("comments", "id,body,user_id,post_id\n1,x,1,5\n2,y,1,6\n"),
        ("posts", ONE_POST),
        ("users", USERS),
    ]);
    let votes = convert(&tables, &options, &mut kept).unwrap();
    assert_eq!((kept.votes(), kept.comments().len()), (vec![("5", "Ann@x.example")], 1));
    assert_eq!(votes, VoteTotals { voters: 1, nameless: 0, doubles: 0 });
    assert_eq!(
        kept.lost(),
        [
            ("votes for unknown feature requests", 1),
            ("votes without a person for feature requests of another run", 1),
            ("comments on unknown feature requests", 1),
        ]
    );
}

#[test]
fn without_people_votes_have_no_name() {
    let (kept, votes) = run(&[("likes", "user_id,post_id\n1,1\n2,1\n"), ("posts", ONE_POST)]);
    assert_eq!((kept.request().nameless_votes, kept.problems.len()), (2, 1));
    assert_eq!(votes, VoteTotals { voters: 0, nameless: 2, doubles: 0 });
}

#[test]
fn followers_get_mail() {
    let users = "id,email,notifications_enabled\n1,ann@x.example,t\n2,bob@x.example,t\n3,x@deleted.com,t\n\
                 4,cat@x.example,f\n5,dan@x.example,odd\n";
    let (kept, _) = run(&[
        ("posts", "id,title,board_id,post_status_id\n1,a,,\n2,b,,\n"),
        ("likes", "user_id,post_id\n1,1\n1,2\n4,1\n"),
        (
            "follows",
            "user_id,post_id,created_at\n1,1,\n2,1,2023-03-01 10:00:01\n2,1,\n3,1,\n4,1,\n4,2,\n5,1,\n2,9,\n2\n",
        ),
        ("users", users),
    ]);
    let votes: Vec<_> = kept.all_votes().iter().map(|vote| (&*vote.request, vote.is_subscribed)).collect();
    assert_eq!(votes, [("1", Some(true)), ("2", Some(false)), ("1", Some(false))]);
    let [subscription] = kept.subscriptions()[..] else { panic!("{:?}", kept.subscriptions()) };
    assert_eq!((&*subscription.request, key(&subscription.person)), ("1", "bob@x.example"));
    assert_eq!(subscription.created_at, Timestamp::parse("2023-03-01T10:00:01Z"));
    assert_eq!(
        kept.lost(),
        [
            ("subscriptions of nobody who is known", 1),
            ("subscriptions of people who get no mail", 3),
            ("subscriptions to unknown feature requests", 1),
        ]
    );
    assert_eq!(
        kept.problems_of_files(),
        [
            "users 6 5 notifications_enabled=odd Changed: the value is neither yes nor no: it counts as no",
            "follows 9 post_id=9 Skipped: there is no feature request with this id",
            "follows 10 Rejected: the record has 1 cells, but the header has 3",
        ]
    );
}

#[test]
fn comments_are_of_the_team_or_of_customers() {
    let (kept, _) = with(
        "comments",
        "id,body,user_id,post_id,parent_id,created_at,is_post_update\n\
         1,customer,1,1,,2023-03-01 12:00:00,f\n\
         2,team,2,1,,,f\n\
         3,update,1,1,,,t\n\
         4,deleted,3,1,,2999-01-01 00:00:00,f\n\
         5,nobody,,1,,,odd\n\
         6, ,1,1,,,f\n\
         1,again,1,1,,,f\n\
         7,elsewhere,1,8,,,f\n\
         ,no id,1,1,,,f\n\
         ,no id,1,1,,,f\n",
    );
    let comments: Vec<_> = kept
        .comments()
        .iter()
        .map(|comment| (&*comment.body, comment.author.as_ref().map(key), comment.is_team, comment.is_held))
        .collect();
    assert_eq!(
        comments,
        [
            ("customer", Some("Ann@x.example"), false, false),
            ("team", Some("arya@x.example"), true, false),
            ("update", Some("Ann@x.example"), true, false),
            ("deleted", None, false, false),
            ("nobody", None, false, false),
            ("no id", Some("Ann@x.example"), false, false),
        ]
    );
    assert_eq!(kept.comments()[0].created_at, Timestamp::parse("2023-03-01T12:00:00Z"));
    let digest = &kept.comments()[5].external_id;
    assert_eq!(
        kept.problems_of_files(),
        [
            "comments 5 4 created_at=2999-01-01 00:00:00 Changed: the time is in the future".to_owned(),
            "comments 6 5 is_post_update=odd Changed: the value is neither yes nor no: it counts as no".to_owned(),
            "comments 7 6 body=  Rejected: the text is blank".to_owned(),
            "comments 8 1 id=1 Rejected: an earlier record has the same id".to_owned(),
            "comments 9 7 post_id=8 Skipped: there is no feature request with this id".to_owned(),
            format!("comments 11 id={digest} Rejected: an earlier record is the same, and there is no id"),
        ]
    );
    let rejected = "6, ,1,1,,,f\n1,again,1,1,,,f\n,no id,1,1,,,f\n";
    assert!(kept.rejected(0).ends_with(rejected) && kept.kinds == [Kind::Comments; 3], "{}", kept.rejected(0));
    assert_eq!(kept.lost, [("comments on unknown feature requests".to_owned(), 1, Some(Kind::Comments))]);
}

#[test]
fn replies_quote_what_they_reply_to() {
    let long = "x".repeat(81);
    let text = format!(
        "id,parent_id,body,user_id,post_id\n\
         1,2,before its parent,1,1\n\
         2,,\"line one\n\nline two\",1,1\n\
         3,1,deeper,1,1\n\
         4,,{long},1,1\n\
         5,4,short,1,1\n\
         6,9,lost,1,1\n\
         7,8,of a blank one,1,1\n\
         8,, ,1,1\n\
         10,10,of itself,1,1\n"
    );
    let (kept, _) = with("comments", &text);
    let bodies: Vec<_> = kept.comments().iter().map(|comment| comment.body.clone()).collect();
    assert_eq!(
        bodies,
        [
            "> line one\n>\n> line two\n\nbefore its parent".to_owned(),
            "line one\n\nline two".to_owned(),
            "> before its parent\n\ndeeper".to_owned(),
            long,
            format!("> {}…\n\nshort", "x".repeat(80)),
            "lost".to_owned(),
            "of a blank one".to_owned(),
            "> of itself\n\nof itself".to_owned(),
        ]
    );
    assert_eq!(
        kept.problems_of_files(),
        [
            "comments 9 6 parent_id=9 Ignored: there is no comment with this id, so the reply quotes nothing",
            "comments 11 8 body=  Rejected: the text is blank",
        ]
    );
}

#[test]
fn changes_of_the_status_are_moves() {
    let (kept, _) = with(
        "post_status_changes",
        "id,user_id,post_id,post_status_id,created_at\n\
         1,2,1,2,2023-03-02 12:00:00\n\
         2,3,1,,2023-03-03 12:00:00+02\n\
         3,2,1,9,2023-03-04 12:00:00\n\
         4,2,8,1,2023-03-04 12:00:00\n\
         1,2,1,1,2023-03-04 12:00:00\n\
         5,2,1,1,\n\
         6,2\n\
         ,2,1,1,2023-03-05 12:00:00\n",
    );
    let at = |text| Timestamp::parse(text).unwrap();
    let moves: Vec<_> =
        kept.moves().iter().map(|moved| (&*moved.status, moved.author.as_ref().map(key), moved.at)).collect();
    let team = Some("arya@x.example");
    assert_eq!(
        moves,
        [
            ("Planned", team, at("2023-03-02T12:00:00Z")),
            ("", None, at("2023-03-03T10:00:00Z")),
            ("Open", team, at("2026-11-28T08:00:00Z")),
            ("Open", team, at("2023-03-05T12:00:00Z")),
        ]
    );
    assert_eq!(
        kept.problems_of_files(),
        [
            "post_status_changes 4 3 post_status_id=9 Ignored: `post_statuses.csv` has no record with this id",
            "post_status_changes 5 4 post_id=8 Skipped: there is no feature request with this id",
            "post_status_changes 6 1 id=1 Skipped: an earlier record has the same id",
            "post_status_changes 8 Rejected: the record has 2 cells, but the header has 5",
        ]
    );
    assert_eq!(
        kept.lost(),
        [
            ("repeated status changes", 1),
            ("status changes of unknown feature requests", 1),
            ("status changes to unknown statuses", 1),
        ]
    );
    assert_eq!(kept.kinds, [Kind::Moves]);
}

#[test]
fn the_public_roadmap_has_an_order() {
    let (kept, _) = run(&[
        ("posts", "id,title,board_id,post_status_id\n1,a,,3\n"),
        (
            "post_statuses",
            "id,name,order,show_in_roadmap\n1,Done,10,t\n2,Open,0,f\n3,\" In progress\",2,t\n4, ,1,t\n5,done,3,t\n\
             1,Twice,0,t\n6,Odd,0,x\n7,Late,,t\n",
        ),
        ("users", USERS),
    ]);
    let names: Vec<_> = kept.statuses().iter().map(|status| &*status.name).collect();
    assert_eq!(names, ["In progress", "done", "Late"]);
    assert_eq!(kept.request().status.as_deref(), Some("In progress"));
    assert_eq!(
        kept.problems_of_files(),
        [
            "post_statuses 5 4 name=  Ignored: the name is blank",
            "post_statuses 7 1 id=1 Ignored: an earlier record has the same id",
            "post_statuses 8 6 show_in_roadmap=x Changed: the value is neither yes nor no: it counts as no",
        ]
    );
}

#[test]
fn a_board_that_all_share_is_no_tag() {
    for (posts, tags) in [
        ("1,a,7,\n2,b,7,\n", [&[][..], &[][..]]),
        ("1,a,7,\n2,b,8,\n", [&["Ideas"], &["Bugs"]]),
        ("1,a,7,\n2,b,,\n", [&["Ideas"], &[]]),
        ("1,a,,\n2,b,7,\n", [&[], &["Ideas"]]),
        ("1,a,7,\n2,b,9,\n", [&["Ideas"], &["IDEAS"]]),
        ("1,a,7,\n3, ,8,\n2,b,7,\n", [&[], &[]]),
    ] {
        let posts = format!("id,title,board_id,post_status_id\n{posts}");
        let (kept, _) = run(&[("posts", &posts), ("boards", "id,name\n7,Ideas\n8,Bugs\n9,IDEAS\n"), ("users", USERS)]);
        let found: Vec<_> = kept.requests().iter().map(|request| request.tags.clone()).collect();
        assert_eq!(found, tags.map(<[&str]>::to_vec), "{posts}");
    }
    let long = "y".repeat(51);
    let (kept, _) = run(&[
        ("posts", "id,title,board_id,post_status_id\n1,a,7,\n"),
        ("boards", &format!("id,name\n7,{long}\n")),
        ("users", USERS),
    ]);
    assert!(kept.request().tags.is_empty());
    assert_eq!(kept.problems.len(), 1);
}

#[test]
fn long_titles_are_cut() {
    let title = format!("{} {}", "x".repeat(150), "y".repeat(60));
    let text = format!("id,title,board_id,post_status_id,description\n1,{title},,,Why\n");
    let (kept, _) = run(&[("posts", &text), ("users", USERS)]);
    assert_eq!(kept.request().title, format!("{}…", "x".repeat(150)));
    assert_eq!(kept.request().description, format!("{title}\n\nWhy"));
    assert_eq!(kept.problems.len(), 1);
}

#[test]
fn what_is_no_feature_request_is_rejected_with_its_bytes() {
    let big = "x".repeat(MAX_RECORD_BYTES);
    let text = format!(
        "id,title,board_id,post_status_id\n1,a,,\n2,\u{200b} ,,\n1,again,,\n3,b\n4,c,,,\n5,d\0,,\n6,{big},,\n,e,,\n\
         ,e,,\n7,\"f,,\n"
    );
    let (kept, votes) = run(&[("posts", &text), ("users", USERS), ("likes", "user_id,post_id\n1,1\n1,2\n1,6\n")]);
    assert_eq!(kept.requests().len(), 2);
    let problems: Vec<_> =
        kept.problems.iter().map(|problem| (problem.line.unwrap(), &*problem.problem, problem.action)).collect();
    let rejected = Action::Rejected;
    assert_eq!(
        problems[..8],
        [
            (3, "the title is blank", rejected),
            (4, "an earlier record has the same id", rejected),
            (5, "the record has 2 cells, but the header has 4", rejected),
            (6, "the record has 5 cells, but the header has 4", rejected),
            (7, "the record has a NUL character", rejected),
            (8, "the record is larger than 4 MB, up to line 8", rejected),
            (10, "an earlier record has the same title and time, and there is no id", rejected),
            (
                11,
                "the quote that opens in line 11 is not closed, so all lines up to 11 belong to this record",
                rejected
            ),
        ]
    );
    let original: String = text.split_inclusive('\n').filter(|line| !["1,a,,\n", ",e,,\n"].contains(line)).collect();
    let expected = original.replace("7,\"f", ",e,,\n7,\"f");
    assert_eq!(kept.rejected(0), expected);
    // Votes for what is rejected are for nothing.
    assert_eq!(
        (kept.votes().len(), votes.source(), kept.lost()),
        (1, 1, vec![("votes for unknown feature requests", 2)])
    );
}

#[test]
fn other_files_are_listed_or_have_nothing_to_import() {
    let (kept, _) = run(&[
        ("posts", ONE_POST),
        ("users", USERS),
        ("tenants", "id,site_name\n1,x\n"),
        ("api_keys", "id,token_digest\n1,secret\n"),
        ("tenant_settings", "id,is_private\n1,t\n"),
        ("active_storage_attachments", "id,record_type\n1,Post\n2,Comment\n3,Tenant\n"),
        ("novel", "a,b\n1,2\n"),
        ("copy/posts", ONE_POST),
    ]);
    assert_eq!(
        kept.problems_of_files(),
        [
            "novel Skipped: the file is no table of a known kind",
            "copy/posts Skipped: the file is no table of a known kind",
            "tenant_settings 2 is_private=t Ignored: the whole site is private, but its feature requests are imported as \
             public",
        ]
    );
    assert_eq!(kept.lost(), [("attachments", 2)]);
}

#[test]
fn tables_are_found_by_their_names_and_columns() {
    for (tables, is_recognized) in [
        (&[("posts", ONE_POST)][..], true),
        (&[("public.Posts", ONE_POST)], true),
        (&[("dump/posts", ONE_POST), ("dump/users", USERS)], true),
        (&[("renamed", ONE_POST)], true),
        (&[("renamed", ONE_POST), ("users", USERS)], false),
        (&[("posts", "id,title,board_id\n")], false),
        (&[("posts", "postId,title,slugId,userId,boardId\n")], false),
        (&[("posts", "number,title,original_number\n")], false),
        (&[("posts", "")], false),
        (&[("users", USERS)], false),
        (&[], false),
    ] {
        assert_eq!(recognizes(&tables_of(tables)), is_recognized, "{tables:?}");
    }
    assert_eq!(
        error_of(&[("users", USERS)]),
        "there is no `posts.csv` of Astuto: the files are named as the tables of its database"
    );
    assert_eq!(
        error_of(&[("posts", ONE_POST), ("likes", "id,post_id\n")]),
        "`likes.csv` has no column `user_id`. Its columns are `id`, `post_id`"
    );
    assert_eq!(error_of(&[("posts", ONE_POST), ("likes", "")]), "`likes.csv` cannot be imported: the file is empty");
    // A table of another folder is none of this database.
    let (kept, _) = run(&[("a/posts", ONE_POST), ("b/users", USERS)]);
    assert_eq!(kept.problems.len(), 2);
}

#[test]
fn encodings_and_delimiters_are_detected_or_given() {
    let mut kept = Kept::default();
    let bytes = b"id;title;board_id;post_status_id\n1;\xdcber;;\n".to_vec();
    let files = [Input::from_bytes("posts.csv", bytes)];
    convert(&files, &Options { delimiter: Some(b';'), ..options() }, &mut kept).unwrap();
    assert_eq!(kept.request().title, "Über");
    assert_eq!(kept.problems.len(), 2);
    let mut kept = Kept::default();
    let utf_8 = Options { encoding: Some(encoding_rs::UTF_8), ..options() };
    convert(&files, &utf_8, &mut kept).unwrap();
    assert_eq!((kept.requests().len(), &*kept.kinds), (0, &[Kind::FeatureRequests][..]));
}

#[test]
fn memory_has_a_bound_and_a_full_disk_ends_the_conversion() {
    let tables = tables_of(&[
        ("posts", "id,title,board_id,post_status_id\n1,a,7,2\n2, ,,\n"),
        ("users", USERS),
        ("boards", "id,name\n7,Ideas\n"),
        ("likes", "user_id,post_id\n1,1\n3,1\n1,9\n"),
        ("follows", "user_id,post_id\n1,1\n2,1\n"),
        ("comments", "id,body,user_id,post_id,parent_id\n1,x,1,1,\n2,y,1,1,1\n"),
        ("post_statuses", STATUSES),
        ("post_status_changes", "id,user_id,post_id,post_status_id\n1,2,1,2\n"),
    ]);
    let mut whole = Kept::default();
    convert(&tables, &options(), &mut whole).unwrap();
    for space in 0..whole.steps() {
        let mut kept = Kept::with_space(space);
        let error = convert(&tables, &options(), &mut kept).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full");
    }
    let needed = (0..100)
        .find(|max| convert(&tables, &Options { max_records: *max, ..options() }, &mut Kept::default()).is_ok());
    // Four people, a board, two statuses, a feature request with a nameless vote, a voter, two followers, two comments,
    // one with a reply, and a status change.
    assert_eq!(needed, Some(16));
    let error = convert(&tables, &Options { max_records: 15, ..options() }, &mut Kept::default()).unwrap_err();
    assert_eq!(error.to_string(), "the files have more than 15 records");
}

proptest! {
    #[test]
    fn each_like_is_counted_once(
        likes in prop::collection::vec((0..8_u8, 1..4_u8), 0..40),
        columns in Just(["user_id", "post_id", "id"]).prop_shuffle(),
    ) {
        let mut text = format!("{}\n", columns.join(","));
        for (index, (user, post)) in likes.iter().enumerate() {
            let cells = columns.map(|column| match column {
                "user_id" => user.to_string(),
                "post_id" => post.to_string(),
                _ => index.to_string(),
            });
            text.push_str(&format!("{}\n", cells.join(",")));
        }
        let (kept, votes) = run(&[
            ("likes", &text),
            ("posts", "id,title,board_id,post_status_id\n1,a,,\n2,b,,\n3,c,,\n"),
            ("users", USERS),
        ]);
        prop_assert_eq!(votes.source(), likes.len() as u64);
        let nameless: u64 = kept.requests().iter().map(|request| u64::from(request.nameless_votes)).sum();
        prop_assert_eq!((votes.voters, votes.nameless), (kept.votes().len() as u64, nameless));
        // Of eight people, three are known and not deleted.
        let unusable = likes.iter().filter(|(user, _)| ![1, 2, 4].contains(user)).count() as u64;
        prop_assert_eq!(nameless, unusable);
    }

    #[test]
    fn no_input_ends_in_a_panic(text in "[a-c,\"\n\r\0é;1-3]{0,60}", comments in "[a-c,\"\n1-3]{0,60}") {
        let posts = format!("id,title,board_id,post_status_id\n{text}");
        let comments = format!("id,parent_id,body,post_id\n{comments}");
        let mut kept = Kept::default();
        let tables = tables_of(&[("posts", &posts), ("comments", &comments), ("users", USERS)]);
        convert(&tables, &options(), &mut kept).unwrap();
    }
}
