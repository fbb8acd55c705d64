//! Tables of cases for the conversion of the database of LogChimp.

use proptest::prelude::*;
use roadmap_domain::model::timestamp::Timestamp;

use super::*;
use crate::records::{Action, Comment, FeatureRequest, Note, Origin, PersonKey, Record, Status, Vote};
use crate::sources::kept::{Kept, key, options, person, tables_of};

const USERS: &str = "userId,email,name,username,isOwner,isBlocked,notes\n\
    u-1,Ann@x.example,Ann Lee,ann,f,f,\n\
    u-2,arya@x.example,,arya,t,f,\n";
const ONE_POST: &str = "postId,title,slugId\np-1,a,x\n";
const ACTIVITIES: &str = "id,type,post_id,author_id\na-1,comment,p-1,u-1\na-2,comment,p-1,u-2\na-3,comment,p-9,u-1\n\
    a-4,comment,p-1,u-9\na-5,comment,,u-1\n";

fn run(tables: &[(&str, &str)]) -> (Kept, VoteTotals) {
    let mut kept = Kept::default();
    let votes = convert(&tables_of(tables), &options(), &mut kept).unwrap();
    (kept, votes)
}

fn error_of(tables: &[(&str, &str)]) -> String {
    convert(&tables_of(tables), &options(), &mut Kept::default()).unwrap_err().to_string()
}

/// Converts comments beside people, activities and one feature request.
fn with_comments(text: &str) -> Kept {
    run(&[("posts_comments", text), ("posts", ONE_POST), ("users", USERS), ("posts_activity", ACTIVITIES)]).0
}

/// The comments and notes, as id and text.
fn texts(kept: &Kept) -> Vec<(&str, &str)> {
    let texts = kept.records.iter().filter_map(|record| match record {
        Record::Comment(Comment { external_id, body, .. }) | Record::Note(Note { external_id, body, .. }) => {
            Some((&**external_id, &**body))
        }
        _ => None,
    });
    texts.collect()
}

#[test]
fn all_tables_are_read() {
    let (kept, votes) = run(&[
        ("boards", "name,boardId\nIdeas,b-1\nBugs,b-2\n"),
        (
            "posts",
            "roadmap_id,slug,slugId,title,postId,userId,contentMarkdown,boardId,createdAt,views\n\
             r-1,dark-mode-Ab3,Ab3,Dark mode,p-1,u-1,\"Please\n\n* night\",b-1,2022-02-01 10:00:00+01,3\n\
             ,,Zz1,Other,p-2,u-2,,,2022-02-02 10:00:00.123+00,\n",
        ),
        ("posts_activity", ACTIVITIES),
        (
            "posts_comments",
            "id,parent_id,activity_id,body,is_edited,is_spam,is_internal,created_at\n\
             c-2,c-1,a-2,for us,f,f,t,2022-02-03 00:00:00+00\n\
             c-1,,a-1,me too,f,f,f,2022-02-02 00:00:00+00\n",
        ),
        ("roadmaps", "id,name,index,display\nr-2,Done,2,t\nr-1,Planned,1,t\nr-3,Secret,3,f\n"),
        ("users", USERS),
        ("votes", "voteId,userId,postId,createdAt\nv-1,u-2,p-1,2022-02-01 10:00:01+00\n"),
    ]);
    let origin = |file, line| Origin { file, line };
    let at = |text| Timestamp::parse(text);
    assert_eq!(
        kept.records,
        [
            Record::Status(Status { name: "Planned".to_owned(), origin: origin(4, 3) }),
            Record::Status(Status { name: "Done".to_owned(), origin: origin(4, 2) }),
            Record::FeatureRequest(FeatureRequest {
                external_id: "p-1".to_owned(),
                title: "Dark mode".to_owned(),
                description: "Please\n\n* night".to_owned(),
                status: Some("Planned".to_owned()),
                tags: vec!["Ideas".to_owned()],
                is_private: false,
                awaits_approval: false,
                author: person("Ann@x.example", "Ann Lee"),
                is_team: false,
                nameless_votes: 0,
                created_at: at("2022-02-01T09:00:00Z"),
                url: Some("/posts/dark-mode-Ab3".to_owned()),
                merged_into: None,
                origin: origin(1, 2),
            }),
            Record::FeatureRequest(FeatureRequest {
                external_id: "p-2".to_owned(),
                title: "Other".to_owned(),
                description: String::new(),
                status: None,
                tags: Vec::new(),
                is_private: false,
                awaits_approval: false,
                author: person("arya@x.example", "arya"),
                is_team: true,
                nameless_votes: 0,
                created_at: at("2022-02-02T10:00:00.123Z"),
                url: None,
                merged_into: None,
                origin: origin(1, 5),
            }),
            Record::Vote(Vote {
                request: "p-1".to_owned(),
                person: person("arya@x.example", "arya").unwrap(),
                is_subscribed: None,
                created_at: at("2022-02-01T10:00:01Z"),
                origin: origin(6, 2),
            }),
            Record::Comment(Comment {
                external_id: "c-1".to_owned(),
                request: "p-1".to_owned(),
                body: "me too".to_owned(),
                author: person("Ann@x.example", "Ann Lee"),
                is_team: false,
                is_held: false,
                created_at: at("2022-02-02T00:00:00Z"),
                origin: origin(3, 3),
            }),
            Record::Note(Note {
                is_team: true,
                external_id: "c-2".to_owned(),
                request: "p-1".to_owned(),
                body: "> me too\n\nfor us".to_owned(),
                author: person("arya@x.example", "arya"),
                created_at: at("2022-02-03T00:00:00Z"),
                origin: origin(3, 2),
            }),
        ]
    );
    assert_eq!(votes, VoteTotals { voters: 1, nameless: 0, doubles: 0 });
    assert!(kept.problems.is_empty() && kept.lost.is_empty(), "{:?} {:?}", kept.problems_of_files(), kept.lost);
}

#[test]
fn only_the_posts_are_needed() {
    let (kept, votes) = run(&[
        ("posts", "postId,title,contentMarkdown,userId,boardId,roadmap_id\np-1,a,,u-1,b-1,r-1\n"),
        ("posts_comments", "id,activity_id,body,is_internal\nc-1,a-1,x,f\nc-2,a-1,y,t\n"),
    ]);
    assert_eq!((kept.requests().len(), texts(&kept).len(), votes.source()), (1, 0, 0));
    assert_eq!(
        kept.problems_of_files(),
        [
            "posts Ignored: there is no `users.csv` beside it: nobody is an author, and no vote has a name",
            "posts_comments Ignored: there is no `posts_activity.csv` beside it, which says on what comments are",
            "posts Ignored: there is no `boards.csv` beside it: no record gets what `boardId` says",
            "posts Ignored: there is no `roadmaps.csv` beside it: no record gets what `roadmap_id` says",
        ]
    );
    assert_eq!(
        kept.lost,
        [
            ("comments without an activity, which says on what they are".to_owned(), 1, Some(Kind::Comments)),
            ("notes without an activity, which says on what they are".to_owned(), 1, Some(Kind::Notes)),
        ]
    );
}

#[test]
fn people_have_an_address_or_an_id() {
    for (header, cells, person, name, is_team, lost) in [
        ("email,name,username,isOwner", "Ann@x.example,Ann,ann,f", "Ann@x.example", Some("Ann"), false, 0),
        ("username,email,isOwner", "ann,ann@x.example,t", "ann@x.example", Some("ann"), true, 0),
        ("emailAddress,name", "ann@x.example,", "ann@x.example", None, false, 0),
        ("email", "", "u-1", None, false, 0),
        ("name", "Ann", "u-1", Some("Ann"), false, 0),
        ("email,isBlocked,notes", "ann@x.example,t,rude", "ann@x.example", None, false, 2),
    ] {
        let users = format!("{header},userId\n{cells},u-1\n");
        let (kept, _) = run(&[("posts", "postId,title,slugId,userId\np-1,a,x,u-1\n"), ("users", &users)]);
        let request = kept.request();
        let author = request.author.as_ref().unwrap();
        assert_eq!((key(author), author.name.as_deref(), request.is_team), (person, name, is_team), "{header}");
        assert_eq!(matches!(author.key, PersonKey::ExternalId(_)), person == "u-1", "{header}");
        assert_eq!((kept.lost.len(), kept.problems.len()), (lost, 0), "{header}");
    }
}

#[test]
fn votes_are_counted_once() {
    let (kept, votes) = run(&[
        ("posts", "postId,title,slugId\np-1,a,x\np-2,b,y\n"),
        ("users", USERS),
        (
            "votes",
            "voteId,userId,postId,createdAt\n1,u-1,p-1,\n2,u-1,p-1,\n3,u-2,p-1,\n3,u-9,p-2,\n5,u-1,p-7,\n6,u-1\n",
        ),
    ]);
    assert_eq!(kept.votes(), [("p-1", "Ann@x.example"), ("p-1", "arya@x.example")]);
    assert_eq!(votes, VoteTotals { voters: 2, nameless: 1, doubles: 1 });
    assert_eq!(
        kept.problems_of_files(),
        [
            "votes 5 p-2 userId=u-9 Changed: there is no user with this id: the vote has no name",
            "votes 6 postId=p-7 Skipped: there is no feature request with this id",
            "votes 7 Rejected: the record has 2 cells, but the header has 4",
        ]
    );
    assert_eq!(
        (kept.rejected(2), kept.lost()),
        ("voteId,userId,postId,createdAt\n6,u-1\n", vec![("votes for unknown feature requests", 1)])
    );
}

#[test]
fn comments_are_where_their_activity_says() {
    let kept = with_comments(
        "id,activity_id,body,is_spam,is_internal,created_at\n\
         c-1,a-1,customer,f,f,2022-02-02 00:00:00+00\n\
         c-2,a-2,team,f,f,\n\
         c-3,a-1,internal,f,t,\n\
         c-4,a-1,spam,t,f,\n\
         c-5,a-1,internal spam,t,t,\n\
         c-6,a-3,elsewhere,f,f,\n\
         c-7,a-4,nobody,f,f,\n\
         c-8,a-5,nowhere,f,t,\n\
         c-9,a-9,unknown,f,f,\n\
         c-10,a-1, ,f,f,\n\
         c-11,a-1, ,f,t,\n\
         c-1,a-1,again,f,t,\n\
         c-12,a-1,odd,odd,maybe,\n\
         c-13,a-1\n",
    );
    let comments: Vec<_> = kept
        .comments()
        .iter()
        .map(|comment| (&*comment.body, comment.author.as_ref().map(key), comment.is_team))
        .collect();
    assert_eq!(
        comments,
        [("customer", Some("Ann@x.example"), false), ("team", Some("arya@x.example"), true), ("nobody", None, false)]
    );
    let notes: Vec<_> = kept.notes().iter().map(|note| (&*note.body, note.author.as_ref().map(key))).collect();
    assert_eq!(notes, [("internal", Some("Ann@x.example")), ("odd", Some("Ann@x.example"))]);
    assert_eq!(
        kept.problems_of_files(),
        [
            "posts_comments 7 c-6 post_id=p-9 Skipped: there is no feature request with this id",
            "posts_comments 8 c-7 author_id=u-9 Ignored: there is no user with this id",
            "posts_comments 10 c-9 activity_id=a-9 Skipped: there is no activity with this id",
            "posts_comments 11 c-10 body=  Rejected: the text is blank",
            "posts_comments 15 Rejected: the record has 2 cells, but the header has 6",
            "posts_comments 9 c-8 post_id= Skipped: the id of the feature request is blank",
            "posts_comments 12 c-11 body=  Rejected: the text is blank",
            "posts_comments 13 c-1 id=c-1 Rejected: an earlier record has the same id",
            "posts_comments 14 c-12 is_spam=odd Changed: the value is neither yes nor no: it counts as no",
            "posts_comments 14 c-12 is_internal=maybe Changed: the value is neither yes nor no: it counts as yes",
        ]
    );
    assert_eq!(
        kept.lost,
        [
            ("comments on unknown feature requests".to_owned(), 1, Some(Kind::Comments)),
            ("comments without an activity, which says on what they are".to_owned(), 1, Some(Kind::Comments)),
            ("spam".to_owned(), 2, Some(Kind::Comments)),
            ("notes on unknown feature requests".to_owned(), 1, Some(Kind::Notes)),
        ]
    );
    assert_eq!(kept.kinds, [Kind::Comments, Kind::Comments, Kind::Notes, Kind::Notes]);
}

#[test]
fn an_activity_is_the_first_with_its_id() {
    let (kept, _) = run(&[
        ("posts", ONE_POST),
        ("users", USERS),
        ("posts_activity", "id,post_id,author_id\na-1,p-1,u-1\na-1,p-1,u-2\na-2\n"),
        ("posts_comments", "id,activity_id,body\nc-1,a-1,x\n"),
    ]);
    assert_eq!(kept.comments()[0].author, person("Ann@x.example", "Ann Lee"));
    assert_eq!(
        kept.problems_of_files(),
        [
            "posts_activity 3 a-1 id=a-1 Ignored: an earlier record has the same id",
            "posts_activity 4 Ignored: the record has 1 cells, but the header has 3",
        ]
    );
}

#[test]
fn a_comment_may_be_on_a_feature_request_of_another_run() {
    let mut kept = Kept::default();
    let tables = tables_of(&[
        ("posts", ONE_POST),
        ("users", USERS),
        ("posts_activity", ACTIVITIES),
        ("posts_comments", "id,activity_id,body\nc-1,a-3,x\n"),
    ]);
    convert(&tables, &Options { is_known: &|id| id == "p-9", ..options() }, &mut kept).unwrap();
    assert_eq!((&*kept.comments()[0].request, kept.problems.len()), ("p-9", 0));
}

#[test]
fn what_is_internal_is_quoted_in_notes_only() {
    let kept = with_comments(
        "id,parent_id,activity_id,body,is_spam,is_internal\n\
         c-1,,a-1,public,f,f\n\
         c-2,c-1,a-1,public reply,f,f\n\
         c-3,c-1,a-1,internal reply,f,t\n\
         c-4,c-3,a-1,reply to a note,f,f\n\
         c-5,c-3,a-1,note on a note,f,t\n\
         c-6,,a-1,cheap,t,f\n\
         c-7,c-6,a-1,reply to spam,f,f\n",
    );
    assert_eq!(
        texts(&kept),
        [
            ("c-1", "public"),
            ("c-2", "> public\n\npublic reply"),
            ("c-4", "reply to a note"),
            ("c-7", "reply to spam"),
            ("c-3", "> public\n\ninternal reply"),
            ("c-5", "> internal reply\n\nnote on a note"),
        ]
    );
    assert_eq!(
        kept.problems_of_files(),
        ["posts_comments 5 c-4 parent_id=c-3 Ignored: the reply is public, but the comment is not: it is not quoted"]
    );
}

#[test]
fn an_id_with_a_line_break_is_no_other_id() {
    let (kept, _) = run(&[
        ("posts", ONE_POST),
        ("users", USERS),
        ("posts_activity", "id,post_id,author_id\na-1,\"p-1\nx\",u-1\n"),
        ("posts_comments", "id,activity_id,body\nc-1,a-1,x\n"),
    ]);
    assert_eq!(texts(&kept), []);
    assert_eq!(
        kept.problems_of_files(),
        ["posts_comments 2 c-1 activity_id=a-1 Skipped: there is no activity with this id"]
    );
}

#[test]
fn rejected_records_have_their_bytes() {
    let text = "postId,title,slugId\r\np-1,a,x\r\np-1,b,y\r\np-2,\u{200b},z\r\np-3\r\np-4,c\0,\r\n";
    let (kept, _) = run(&[("posts", text), ("users", USERS)]);
    assert_eq!(kept.requests().len(), 1);
    assert_eq!(kept.rejected(0), text.replace("p-1,a,x\r\n", ""));
    let actions: Vec<_> = kept.problems.iter().map(|problem| problem.action).collect();
    assert_eq!((actions, &*kept.kinds), (vec![Action::Rejected; 4], &[Kind::FeatureRequests; 4][..]));
}

#[test]
fn tables_are_found_by_their_names_and_columns() {
    for (tables, is_recognized) in [
        (&[("posts", ONE_POST)][..], true),
        (&[("renamed", ONE_POST)], true),
        (&[("x/posts", "title,roadmap_id,postId\n"), ("x/users", USERS)], true),
        (&[("posts", "id,title,board_id,post_status_id\n")], false),
        (&[("posts", "id,post_id,title\n")], false),
        (&[("posts", "title,slugId\n")], false),
        (&[("comments", "id,post_id,title,body\n")], false),
        (&[("votes", "userId,postId\n")], false),
    ] {
        assert_eq!(recognizes(&tables_of(tables)), is_recognized, "{tables:?}");
    }
    assert_eq!(
        error_of(&[("votes", "userId,postId\n")]),
        "there is no `posts.csv` of LogChimp: the files are named as the tables of its database"
    );
    assert_eq!(
        error_of(&[("posts", ONE_POST), ("posts_activity", "id,post_id\n")]),
        "`posts_activity.csv` has no column `author_id`. Its columns are `id`, `post_id`"
    );
    let (kept, _) = run(&[
        ("posts", ONE_POST),
        ("users", USERS),
        ("settings", "title\nx\n"),
        ("roles_users", "id\n1\n"),
        ("novel", "a\n1\n"),
    ]);
    assert_eq!(kept.problems_of_files(), ["novel Skipped: the file is no table of a known kind"]);
}

#[test]
fn memory_has_a_bound_and_a_full_disk_ends_the_conversion() {
    let tables = tables_of(&[
        ("posts", "postId,title,slugId,boardId,roadmap_id\np-1,a,x,b-1,r-1\np-2, ,y,,\n"),
        ("users", USERS),
        ("boards", "boardId,name\nb-1,Ideas\n"),
        ("roadmaps", "id,name,display\nr-1,Planned,t\n"),
        ("votes", "userId,postId\nu-1,p-1\nu-9,p-1\nu-1,p-9\n"),
        ("posts_activity", ACTIVITIES),
        ("posts_comments", "id,parent_id,activity_id,body,is_internal\nc-1,,a-1,x,f\nc-2,c-1,a-2,y,t\nc-3,,a-1,,t\n"),
    ]);
    let mut whole = Kept::default();
    convert(&tables, &options(), &mut whole).unwrap();
    for space in 0..whole.steps() {
        let error = convert(&tables, &options(), &mut Kept::with_space(space)).unwrap_err();
        assert_eq!(error.to_string(), "the converted records cannot be stored: disk full");
    }
    let needed = (0..100)
        .find(|max| convert(&tables, &Options { max_records: *max, ..options() }, &mut Kept::default()).is_ok());
    // Two people, a board, a status, five activities that count twice, six ids of them, a feature request with a
    // nameless vote, a voter, two comments, and one with a reply.
    assert_eq!(needed, Some(26));
}

proptest! {
    #[test]
    fn no_input_ends_in_a_panic(
        posts in "[pa-c,\"\n\r\0é1-3]{0,60}",
        comments in "[a-c,\"\ntf1-3]{0,80}",
        activities in "[a-c,\"\n1-3]{0,60}",
    ) {
        let posts = format!("postId,title,slugId\n{posts}");
        let comments = format!("id,parent_id,activity_id,body,is_spam,is_internal\n{comments}");
        let activities = format!("id,post_id,author_id\n{activities}");
        let mut kept = Kept::default();
        let tables = [("posts", &*posts), ("posts_comments", &comments), ("posts_activity", &activities)];
        convert(&tables_of(&tables), &options(), &mut kept).unwrap();
    }
}
