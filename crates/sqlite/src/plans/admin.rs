//! The query plans of the admin panel: the lists of the inbox read an index in its order. Only the overview reads all rows
//! of a workspace.

use super::{ID, assert_selective, plan, sql};
use crate::fixtures::{connection, database};
use crate::reads::comments::CommentCustomers;
use crate::reads::customers::{AskedFor, Commented, CountTexts, Noted, SubscribedTo, TextsPage, Voted};
use crate::reads::inbox::ordered::{
    CountAwaiting, CountMerged, CountOfTracks, LastUpdatedNoticedOfTracks, LastUpdatedOfTracks,
    LastUpdatedPrivateOfTracks, MostCompaniesOfTracks, MostVotedOfTracks, MostVotedPage, NewestAwaitingPage,
    NewestMergedPage, NewestNoticedOfTracks, NewestNoticedPage, NewestOfTracks, NewestPage, NewestPrivateOfTracks,
    NewestPrivatePage, OldestAwaitingPage, OldestMergedPage, OldestNoticedOfTracks, OldestNoticedPage, OldestOfTracks,
    OldestPage, OldestPrivateOfTracks, OldestPrivatePage,
};
use crate::reads::inbox::rows::Rows;
use crate::reads::inbox::selections::{
    AwaitingPage, CountAwaitingOfTracks, CountMergedOfTracks, CountOfMember, CountTagged, FewNoticedPage,
    FewPrivatePage, MemberPage, MergedPage, TaggedPage,
};
use crate::reads::inbox::{Counts, Preview, Unindexed};
use crate::reads::overview::{CountActivity, MostMissed, MostRising, MostVotedNoticed};
use crate::reads::requests::{CountChangelogAudience, LatestNotes, SubscribersAndVoters};

/// The lists that are read from one end of an index.
fn ordered_lists() -> Vec<String> {
    let (workspace, state) = (ID, "unanswered");
    let tracks = || Some("[]".to_owned());
    let (scan_limit, limit, offset) = (50, 50, 0);
    macro_rules! all {
        ($($page:ident),+ $(,)?) => {
            vec![$(sql(&$page { workspace, tracks: tracks(), state, scan_limit, limit, offset })),+]
        };
    }
    all![
        NewestPage,
        OldestPage,
        NewestNoticedPage,
        OldestNoticedPage,
        NewestPrivatePage,
        OldestPrivatePage,
        NewestAwaitingPage,
        OldestAwaitingPage,
        NewestMergedPage,
        OldestMergedPage,
        NewestOfTracks,
        OldestOfTracks,
        NewestNoticedOfTracks,
        OldestNoticedOfTracks,
        NewestPrivateOfTracks,
        OldestPrivateOfTracks,
        MostVotedPage,
        MostVotedOfTracks,
        MostCompaniesOfTracks,
        LastUpdatedOfTracks,
        LastUpdatedNoticedOfTracks,
        LastUpdatedPrivateOfTracks,
    ]
}

/// All other statements of the panel.
fn other_statements() -> Vec<String> {
    let (workspace, state) = (ID, "unanswered");
    let tracks = || Some("[]".to_owned());
    let (tag, member, customer, root) = (Some("ui".to_owned()), Some(ID), ID, ID);
    let (scan_limit, limit, offset, sort) = (5_000, 50, 0, "votes");
    let requests = String::new();
    macro_rules! selected {
        ($($page:ident, $count:ident);+) => {
            [$(
                sql(&$page {
                    workspace, tracks: tracks(), tag: tag.clone(), member, state, scan_limit, sort, limit, offset,
                }),
                sql(&$count { workspace, tracks: tracks(), tag: tag.clone(), member, state, scan_limit }),
            )+]
        };
    }
    let mut all = vec![
        sql(&Counts { workspace, limit: scan_limit }),
        sql(&CountOfTracks { workspace, tracks: tracks(), state }),
        sql(&CountAwaiting { workspace, limit: scan_limit }),
        sql(&CountMerged { workspace, limit: scan_limit }),
        sql(&FewNoticedPage { workspace, tracks: tracks(), state, sort, limit, offset }),
        sql(&FewPrivatePage { workspace, tracks: tracks(), state, sort, limit, offset }),
        sql(&Rows { workspace, tracks: tracks(), tag: tag.clone(), member, state, requests: requests.clone() }),
        sql(&LatestNotes { workspace, root, limit }),
        sql(&SubscribersAndVoters { workspace, root, limit }),
        sql(&CommentCustomers { workspace, comments: requests.clone() }),
        sql(&CountChangelogAudience { workspace, requests }),
        sql(&Preview { workspace, source: ID, target: ID }),
        sql(&Unindexed { workspace, number: Some(1), scan_limit }),
        sql(&Voted { workspace, customer, scan_limit, limit }),
        sql(&AskedFor { workspace, customer, limit }),
        sql(&Commented { workspace, customer, limit }),
        sql(&Noted { workspace, customer, limit }),
        sql(&SubscribedTo { workspace, customer, scan_limit, limit }),
        sql(&CountTexts { workspace, customer }),
        sql(&TextsPage { workspace, customer, scan_limit, limit, offset }),
        sql(&MostVotedNoticed { workspace, state, limit }),
        sql(&MostMissed { workspace, day: 0, limit }),
    ];
    all.extend(selected!(
        TaggedPage, CountTagged; MemberPage, CountOfMember; AwaitingPage, CountAwaitingOfTracks;
        MergedPage, CountMergedOfTracks
    ));
    all
}

/// The statements of the overview, which read all votes of a workspace.
fn statements_of_votes() -> [String; 2] {
    let (workspace, now, since, limit) = (ID, 4, 3, 10);
    [
        sql(&CountActivity { workspace, from: 0, now, since, before: 2, weeks_from: 1, week: 7 }),
        sql(&MostRising { workspace, since, now, limit }),
    ]
}

/// Tables of which a workspace has few rows, and indexes of which a list or a count reads the first entries.
const SMALL: [&str; 9] = [
    "tracks",
    "customers_with_news",
    "sqlite_autoindex_feature_requests_2",
    "held_comments_by_age",
    "vote_tallies_by_count",
    "feature_requests_by_attention",
    "feature_requests_private",
    "feature_requests_awaiting_by_number",
    "feature_requests_merged",
];

#[test]
fn no_statement_reads_all_rows_of_a_workspace() {
    assert_selective(ordered_lists().into_iter().chain(other_statements()), &SMALL);
    let of_votes = [&SMALL[..], &["votes_by_age", "feature_requests_by_root"]].concat();
    assert_selective(statements_of_votes().into_iter(), &of_votes);
}

#[test]
fn lists_of_the_inbox_read_an_index_in_its_order() {
    let (_folder, options) = database();
    let mut connection = connection(&options.path);
    for statement in ordered_lists() {
        let steps = plan(&mut connection, &statement);
        let reads: Vec<i64> = steps
            .iter()
            .filter(|step| step.detail.starts_with("SEARCH request USING "))
            .map(|step| step.parent)
            .collect();
        assert_eq!(reads.len(), 1, "{statement}");
        let sorts = steps.iter().filter(|step| step.detail.starts_with("USE TEMP B-TREE"));
        assert!(sorts.map(|step| step.parent).all(|sorted| !reads.contains(&sorted)), "{statement}");
    }
}
