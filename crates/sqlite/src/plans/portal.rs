//! The query plans of the portal: lists of tracks sort only what they merge.

use super::{ID, Step, assert_selective, plan, sql};
use crate::fixtures::{connection, database};
use crate::reads::accounts::{Followed, LatestIdeas, Sessions};
use crate::reads::changelogs::{Neighbours, PublicLinks};
use crate::reads::comments::{CountHeld, Held};
use crate::reads::portal_lists::rows::{Matching, Rows, VotedAmong};
use crate::reads::portal_lists::selections::{
    CountTagged, CountVoted, CountWritten, TaggedLanes, TaggedPage, VotedLanes, VotedPage, WrittenLanes, WrittenPage,
};
use crate::reads::portal_lists::tracks::{CountPublic, LastUpdatedPage, MostVotedPage, NewestPage, OldestPage};
use crate::reads::portal_lists::trending::{
    CountOfTag, CountOfTracks, NewOfTag, NewOfTracks, RankingOfTag, RankingOfTracks,
};
use crate::reads::request_pages::{CommentsAndAnswer, Head, Parts, ShownCommentsAndAnswer, Visible, WrittenAmong};
use crate::reads::requests::{LastTagNumber, Sitemap};
use crate::reads::sessions::OneSession;
use crate::reads::settings::OnePortal;
use crate::reads::tracks::Cards;
use crate::writes::comments::NotifyPeople;
use crate::writes::own_posts::{FindOwnComment, FindOwnRequest};

const PAGE: (i64, i64, i64) = (25, 25, 0);

/// The lists of the feature requests on tracks.
fn lists_of_tracks() -> Vec<String> {
    let (workspace, lane, (scan_limit, limit, offset)) = (ID, Some(ID), PAGE);
    vec![
        sql(&MostVotedPage { workspace, lane, scan_limit, limit, offset }),
        sql(&NewestPage { workspace, lane, scan_limit, limit, offset }),
        sql(&OldestPage { workspace, lane, scan_limit, limit, offset }),
        sql(&LastUpdatedPage { workspace, lane, scan_limit, limit, offset }),
        sql(&NewOfTracks { workspace, lane, closed: String::new(), first_new: ID }),
        sql(&RankingOfTracks {
            workspace,
            lane,
            closed: String::new(),
            scan_limit,
            only_open: true,
            new: String::new(),
            limit,
            offset,
        }),
    ]
}

/// All other statements of the portal that are written in SQL.
fn other_statements() -> Vec<String> {
    let (workspace, root, lane, customer, (scan_limit, limit, offset)) = (ID, ID, Some(ID), Some(ID), PAGE);
    let (tag, sort) = (Some("ui".to_owned()), "votes");
    let (requests, private, is_member) = (String::new(), false, false);
    let (request, number) = (Some(ID), None);
    macro_rules! selected {
        ($page:ident, $count:ident, $lanes:ident) => {
            [
                sql(&$page { workspace, lane, tag: tag.clone(), customer, scan_limit, sort, limit, offset }),
                sql(&$count { workspace, lane, tag: tag.clone(), customer, scan_limit }),
                sql(&$lanes { workspace, lane, tag: tag.clone(), customer, scan_limit }),
            ]
        };
    }
    let mut all: Vec<String> = vec![
        sql(&CountPublic { workspace, lane }),
        sql(&Rows { workspace, requests: requests.clone() }),
        sql(&Matching {
            workspace,
            lane,
            tag: tag.clone(),
            voter: customer,
            author: customer,
            requests: requests.clone(),
        }),
        sql(&VotedAmong { workspace, customer: ID, requests }),
        sql(&Head { workspace, request, number, customer, is_member }),
        sql(&Parts { workspace, root, private, customer, is_member, max_events: limit, max_held: limit }),
        sql(&CommentsAndAnswer { workspace, root, limit, offset }),
        sql(&ShownCommentsAndAnswer { workspace, root, private, limit, offset }),
        sql(&Visible { workspace, request, number, customer, is_member }),
        sql(&PublicLinks { workspace, changelogs: String::new() }),
        sql(&Followed { workspace, customer: ID, scan_limit, limit }),
        sql(&LatestIdeas { workspace, customer: ID, limit }),
        sql(&Sessions { workspace, email: String::new(), limit }),
        sql(&CountHeld { workspace }),
        sql(&Held { workspace, scan_limit, at: 0, after: ID, limit, offset }),
        sql(&OneSession { workspace, digest: Vec::new() }),
        sql(&OnePortal { workspace }),
        sql(&Sitemap { workspace, after: 0, limit }),
        sql(&LastTagNumber { workspace }),
        sql(&Neighbours { workspace, changelog: ID, published_at: 0, now: 0 }),
        sql(&WrittenAmong { workspace, customer: ID, comments: String::new() }),
        sql(&FindOwnComment { workspace, comment: ID, customer: ID }),
        sql(&FindOwnRequest { workspace, customer: ID, id: request, number }),
        sql(&NotifyPeople {
            workspace,
            comment: ID,
            topic: String::new(),
            kind: String::new(),
            payload: String::new(),
            at: 0,
            to_author: true,
            replied: String::new(),
        }),
        sql(&CountOfTracks { workspace, lane, closed: String::new() }),
        sql(&CountOfTag { workspace, lane, closed: String::new(), tag: "ui".to_owned(), scan_limit }),
        sql(&NewOfTag { workspace, lane, closed: String::new(), tag: "ui".to_owned(), scan_limit, first_new: ID }),
        sql(&RankingOfTag {
            workspace,
            lane,
            closed: String::new(),
            tag: "ui".to_owned(),
            scan_limit,
            new: String::new(),
            limit,
            offset,
        }),
    ];
    all.extend(selected!(TaggedPage, CountTagged, TaggedLanes));
    all.extend(selected!(VotedPage, CountVoted, VotedLanes));
    all.extend(selected!(WrittenPage, CountWritten, WrittenLanes));
    all
}

/// Tables with one row per workspace, and indexes of which a workspace has few rows or a list reads the first ones.
const SMALL: [&str; 7] = [
    "settings",
    "tag_counters",
    "portal_settings",
    "tracks_by_lane",
    "feature_requests_awaiting",
    "held_comments_by_age",
    "held_comments_by_customer",
];

#[test]
fn no_statement_reads_all_rows_of_a_workspace() {
    assert_selective(lists_of_tracks().into_iter().chain(other_statements()), &SMALL);
}

#[test]
fn the_roadmap_reads_the_first_of_each_track() {
    let cards = sql(&Cards { workspace: ID, per_lane: 20, latest_first: String::new() });
    assert_selective(std::iter::once(cards.clone()), &["lanes"]);
    let (_folder, options) = database();
    let mut connection = connection(&options.path);
    let steps = plan(&mut connection, &cards);
    for read in ["best USING INDEX vote_tallies_by_track", "latest USING INDEX feature_requests_by_status"] {
        let read = steps.iter().find(|step| step.detail.contains(read)).expect(read);
        let sorts = steps.iter().filter(|step| step.detail.starts_with("USE TEMP B-TREE"));
        assert!(sorts.map(|step| step.parent).all(|sorted| sorted != read.parent), "{}", read.detail);
    }
}

#[test]
fn lists_of_tracks_read_an_index_in_its_order() {
    let (_folder, options) = database();
    let mut connection = connection(&options.path);
    for statement in lists_of_tracks() {
        let steps = plan(&mut connection, &statement);
        let from_index = |step: &&Step| {
            let indexes =
                ["vote_tallies_by_track", "vote_tallies_by_trend", "vote_tallies_public", "feature_requests_by_update"];
            indexes.iter().any(|index| step.detail.contains(&format!("USING INDEX {index} ")))
        };
        let reads: Vec<i64> = steps.iter().filter(from_index).map(|step| step.parent).collect();
        assert!(!reads.is_empty());
        let sorts = steps.iter().filter(|step| step.detail.starts_with("USE TEMP B-TREE"));
        let sorted: Vec<i64> = sorts.map(|step| step.parent).collect();
        assert!(!sorted.is_empty(), "the merge of the tracks is sorted");
        assert!(reads.iter().all(|read| !sorted.contains(read)), "{statement}");
    }
}
