//! Lists of the inbox of which a limited number of feature requests is read and sorted, the newest ones: those with a
//! tag, of a member, and of a state that no index has in the order of the list.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::rows::{InboxSql, is_shown, matches_scope, page_of_listed};
use crate::statement::statement;
use roadmap_store::columns::Id;

/// SQL for the feature requests that a filter chooses, as common table expressions, from how the row numbers of at most
/// `scan_limit` are found. The parameters are the filter and the limit.
macro_rules! selected {
    ($candidates:literal) => {
        concat!(
            "WITH scope (workspace, tracks, tag, member, state, scan_limit) AS (SELECT ?, ?, ?, ?, ?, ?),
             candidates (number) AS (",
            $candidates,
            "),
             selected (number, votes, companies) AS MATERIALIZED (
                 SELECT tally.row_number, tally.votes_count, tally.companies_count FROM scope CROSS JOIN candidates
                 CROSS JOIN vote_tallies tally ON tally.row_number = candidates.number
                 CROSS JOIN tracks ON tracks.workspace_id = tally.workspace_id AND tracks.id = tally.track_id
                 WHERE ",
            matches_scope!(),
            ")"
        )
    };
}

/// Declares the statements of a filter: a page and the total.
macro_rules! selected_statements {
    ($page:ident, $count:ident, $candidates:literal) => {
        statement! {
            /// Selects feature requests that a filter chooses, in an order.
            $page {
                workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
                tag: Option<String> => Nullable<Text>, member: Option<Id> => Nullable<Binary>,
                state: &'static str => Text, scan_limit: i64 => BigInt, sort: &'static str => Text,
                limit: i64 => BigInt, offset: i64 => BigInt,
            } -> InboxSql,
            concat!(
                selected!($candidates),
                ", listed (number, key) AS (
                     SELECT number, CASE ?
                         WHEN 'votes' THEN votes
                         WHEN 'companies' THEN companies
                         WHEN 'oldest' THEN -number
                         WHEN 'updated' THEN (SELECT updated_at FROM feature_requests WHERE row_number = number)
                         ELSE number
                     END FROM selected
                 ) ",
                page_of_listed!()
            )
        }

        statement! {
            /// Counts the feature requests that a filter chooses.
            $count {
                workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
                tag: Option<String> => Nullable<Text>, member: Option<Id> => Nullable<Binary>,
                state: &'static str => Text, scan_limit: i64 => BigInt,
            } -> BigInt,
            concat!(selected!($candidates), " SELECT count(*) FROM selected")
        }
    };
}

// Ids begin with the timestamp of the creation: the last ones are the newest.
selected_statements!(
    TaggedPage,
    CountTagged,
    "SELECT tagged.row_number FROM (
         SELECT DISTINCT workspace_id, request_id FROM feature_request_tags
         WHERE workspace_id = (SELECT workspace FROM scope) AND tag_folded = (SELECT tag FROM scope)
         ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
     ) AS newest
     CROSS JOIN vote_tallies tagged ON tagged.workspace_id = newest.workspace_id AND tagged.request_id = newest.request_id"
);
selected_statements!(
    MemberPage,
    CountOfMember,
    "SELECT written.row_number FROM (
         SELECT request_id FROM (
             SELECT DISTINCT request_id FROM comments
             WHERE workspace_id = (SELECT workspace FROM scope) AND author_id = (SELECT member FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
         )
         UNION
         SELECT request_id FROM (
             SELECT DISTINCT request_id FROM notes
             WHERE workspace_id = (SELECT workspace FROM scope) AND author_id = (SELECT member FROM scope)
             ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
         )
         ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
     ) AS newest
     CROSS JOIN vote_tallies written ON written.workspace_id = (SELECT workspace FROM scope)
            AND written.request_id = newest.request_id"
);
selected_statements!(
    AwaitingPage,
    CountAwaitingOfTracks,
    "SELECT row_number FROM feature_requests INDEXED BY feature_requests_awaiting_by_number
     WHERE workspace_id = (SELECT workspace FROM scope) AND awaiting_approval AND root_id IS NULL
     ORDER BY tag_number DESC LIMIT (SELECT scan_limit FROM scope)"
);
selected_statements!(
    MergedPage,
    CountMergedOfTracks,
    "SELECT row_number FROM feature_requests INDEXED BY feature_requests_merged
     WHERE workspace_id = (SELECT workspace FROM scope) AND root_id IS NOT NULL
     ORDER BY tag_number DESC LIMIT (SELECT scan_limit FROM scope)"
);

/// Declares a statement for a page of a state with few feature requests on the tracks of a filter, those with the most
/// votes or with voters of the most companies first: the index, and its condition.
macro_rules! few_of_tracks {
    ($(#[$doc:meta])* $page:ident, $index:literal, $condition:literal) => {
        statement! {
            $(#[$doc])*
            $page {
                workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
                state: &'static str => Text, sort: &'static str => Text, limit: i64 => BigInt, offset: i64 => BigInt,
            } -> InboxSql,
            concat!(
                "WITH scope (workspace, tracks, state, sort) AS (SELECT ?, ?, ?, ?),
                 listed (number, key) AS (
                     SELECT tally.row_number,
                            iif(scope.sort = 'companies', tally.companies_count, tally.votes_count) FROM scope
                     CROSS JOIN tracks ON tracks.workspace_id = scope.workspace AND ", is_shown!(), "
                     CROSS JOIN feature_requests request INDEXED BY ", $index, "
                             ON request.workspace_id = tracks.workspace_id AND request.track_id = tracks.id
                     CROSS JOIN vote_tallies tally ON tally.row_number = request.row_number
                     WHERE ", $condition, " AND request.root_id IS NULL
                 ) ",
                page_of_listed!()
            )
        }
    };
}

few_of_tracks!(
    /// Selects the feature requests on tracks that need something, by a count.
    FewNoticedPage, "feature_requests_by_attention_and_track", "request.attention = scope.state"
);
few_of_tracks!(
    /// Selects the private feature requests on tracks, by a count.
    FewPrivatePage, "feature_requests_private_by_track", "request.private"
);
