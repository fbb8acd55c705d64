//! Lists of the feature requests that have a tag or belong to a person. A limited number of them is read and sorted.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::rows::{RowSql, newest_with_tag, page_of_listed};
use crate::statement::statement;
use roadmap_store::columns::Id;

/// SQL for the feature requests that a filter with a tag or a person chooses, as common table expressions: how the IDs
/// of at most `scan_limit` are found, and which of them are shown. The parameters are the workspace, the lane, the tag,
/// the customer and the limit.
macro_rules! selected {
    ($candidates:expr, $condition:literal) => {
        concat!(
            "WITH scope (workspace, lane, tag, customer, scan_limit) AS (SELECT ?, ?, ?, ?, ?),
             candidates (request) AS (",
            $candidates,
            "),
             selected (number, votes, private) AS MATERIALIZED (
                 SELECT tally.row_number, tally.votes_count, tally.private FROM scope CROSS JOIN candidates
                 CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                        AND tally.request_id = candidates.request
                 CROSS JOIN tracks ON tracks.workspace_id = tally.workspace_id AND tracks.id = tally.track_id
                 WHERE tally.root_id IS NULL AND tracks.lane_id IS coalesce(scope.lane, tracks.lane_id)
                   AND (scope.tag IS NULL OR EXISTS (
                       SELECT 1 FROM feature_request_tags tag WHERE tag.workspace_id = tally.workspace_id
                          AND tag.tag_folded = scope.tag AND tag.request_id = tally.request_id
                   ))
                   AND ",
            $condition,
            "
             )"
        )
    };
}

/// Declares the statements of a filter with a tag or a person: a page, the total, and the total of each lane.
macro_rules! selected_statements {
    ($page:ident, $count:ident, $lanes:ident, $candidates:expr, $condition:literal) => {
        statement! {
            /// Selects feature requests that a filter chooses, in an order.
            $page {
                workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, tag: Option<String> => Nullable<Text>,
                customer: Option<Id> => Nullable<Binary>, scan_limit: i64 => BigInt, sort: &'static str => Text,
                limit: i64 => BigInt, offset: i64 => BigInt,
            } -> RowSql,
            concat!(
                selected!($candidates, $condition),
                ", listed (number, key) AS (
                     SELECT number, CASE ?
                         WHEN 'votes' THEN votes
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
                workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, tag: Option<String> => Nullable<Text>,
                customer: Option<Id> => Nullable<Binary>, scan_limit: i64 => BigInt,
            } -> BigInt,
            concat!(selected!($candidates, $condition), " SELECT count(*) FROM selected")
        }

        statement! {
            /// Counts the feature requests that a filter chooses, by lane.
            $lanes {
                workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, tag: Option<String> => Nullable<Text>,
                customer: Option<Id> => Nullable<Binary>, scan_limit: i64 => BigInt,
            } -> (Text, BigInt),
            concat!(
                selected!($candidates, $condition),
                " SELECT lanes.name, count(*) FROM selected
                 CROSS JOIN vote_tallies tally ON tally.row_number = selected.number
                 CROSS JOIN tracks ON tracks.workspace_id = tally.workspace_id AND tracks.id = tally.track_id
                 CROSS JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id
                 GROUP BY lanes.name"
            )
        }
    };
}

selected_statements!(TaggedPage, CountTagged, TaggedLanes, newest_with_tag!(), "NOT tally.private");
selected_statements!(
    VotedPage,
    CountVoted,
    VotedLanes,
    "SELECT DISTINCT coalesce(vote_tallies.root_id, vote.request_id) FROM (
         SELECT workspace_id, request_id FROM votes INDEXED BY votes_by_customer
         WHERE workspace_id = (SELECT workspace FROM scope) AND customer_id = (SELECT customer FROM scope)
         ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)
     ) AS vote
     CROSS JOIN vote_tallies ON vote_tallies.workspace_id = vote.workspace_id
            AND vote_tallies.request_id = vote.request_id",
    "(NOT tally.private OR EXISTS (
         SELECT 1 FROM feature_requests own WHERE own.row_number = tally.row_number AND own.author_id = scope.customer
     ))"
);
selected_statements!(
    WrittenPage,
    CountWritten,
    WrittenLanes,
    "SELECT id FROM feature_requests
     WHERE workspace_id = (SELECT workspace FROM scope) AND author_id = (SELECT customer FROM scope)
     ORDER BY row_number DESC LIMIT (SELECT scan_limit FROM scope)",
    "1"
);
