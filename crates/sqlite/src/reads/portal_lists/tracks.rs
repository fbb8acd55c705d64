//! Lists of the public feature requests on the tracks of a lane, or on all tracks. A page is merged from the first
//! feature requests of each track, which are read from one end of an index.

use diesel::sql_types::{BigInt, Binary, Nullable};

use super::rows::{RowSql, page_of_listed};
use crate::statement::statement;
use roadmap_store::columns::Id;

/// SQL for the first public feature requests of each track of a lane or of all tracks, with the key of an order: where
/// they are read from, the key and the order. They pass through JSON, because the subquery of a join cannot refer to
/// the rows before it, but an argument of a function can.
macro_rules! first_of_tracks {
    ($from:literal, $key:literal, $order:literal) => {
        concat!(
            "SELECT first.value ->> 0, first.value ->> 1 FROM scope
             CROSS JOIN tracks ON tracks.workspace_id = scope.workspace
                    AND tracks.lane_id IS coalesce(scope.lane, tracks.lane_id)
             CROSS JOIN json_each((
                 SELECT json_group_array(json_array(number, key)) FROM (
                     SELECT tally.row_number AS number, ",
            $key,
            " AS key FROM ",
            $from,
            " AND NOT tally.private ORDER BY ",
            $order,
            " LIMIT (SELECT scan_limit FROM scope)
                 )
             )) AS first"
        )
    };
}

/// SQL for the most voted feature requests of each track.
macro_rules! most_voted_of_tracks {
    () => {
        first_of_tracks!(
            "vote_tallies tally INDEXED BY vote_tallies_by_track
             WHERE tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id AND tally.root_id IS NULL",
            "tally.votes_count",
            "tally.votes_count DESC, tally.row_number DESC"
        )
    };
}

/// SQL for the newest feature requests of each track.
macro_rules! newest_of_tracks {
    () => {
        first_of_tracks!(
            "vote_tallies tally INDEXED BY vote_tallies_public
             WHERE tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id AND tally.root_id IS NULL",
            "tally.row_number",
            "tally.row_number DESC"
        )
    };
}

/// SQL for the oldest feature requests of each track.
macro_rules! oldest_of_tracks {
    () => {
        first_of_tracks!(
            "vote_tallies tally INDEXED BY vote_tallies_public
             WHERE tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id AND tally.root_id IS NULL",
            "-tally.row_number",
            "tally.row_number"
        )
    };
}

/// SQL for the last updated feature requests of each track.
macro_rules! last_updated_of_tracks {
    () => {
        first_of_tracks!(
            "feature_requests updated INDEXED BY feature_requests_by_update
             CROSS JOIN vote_tallies tally ON tally.row_number = updated.row_number
             WHERE updated.workspace_id = tracks.workspace_id AND updated.track_id = tracks.id
               AND updated.root_id IS NULL",
            "updated.updated_at",
            "updated.updated_at DESC, updated.row_number DESC"
        )
    };
}

/// Declares a statement for a page of the feature requests on the tracks of a lane, or on all tracks.
macro_rules! page_of_tracks {
    ($(#[$doc:meta])* $name:ident, $first:ident) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, scan_limit: i64 => BigInt,
                limit: i64 => BigInt, offset: i64 => BigInt,
            } -> RowSql,
            concat!(
                "WITH scope (workspace, lane, scan_limit) AS (SELECT ?, ?, ?),
                 listed (number, key) AS (", $first!(), ") ",
                page_of_listed!()
            )
        }
    };
}

page_of_tracks!(
    /// Selects public feature requests, most voted first.
    MostVotedPage, most_voted_of_tracks
);
page_of_tracks!(
    /// Selects public feature requests, newest first.
    NewestPage, newest_of_tracks
);
page_of_tracks!(
    /// Selects public feature requests, oldest first.
    OldestPage, oldest_of_tracks
);
page_of_tracks!(
    /// Selects public feature requests, last updated first.
    LastUpdatedPage, last_updated_of_tracks
);

statement! {
    /// Counts the public feature requests on the tracks of a lane, or on all tracks.
    CountPublic { workspace: Id => Binary, lane: Option<Id> => Nullable<Binary> } -> BigInt,
    "WITH scope (workspace, lane) AS (SELECT ?, ?)
     SELECT coalesce(sum(track_tallies.public_count), 0) FROM scope
     CROSS JOIN tracks ON tracks.workspace_id = scope.workspace
            AND tracks.lane_id IS coalesce(scope.lane, tracks.lane_id)
     CROSS JOIN track_tallies ON track_tallies.workspace_id = tracks.workspace_id
            AND track_tallies.track_id = tracks.id"
}
