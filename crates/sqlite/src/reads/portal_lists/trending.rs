//! The ranking of what trends: new ideas, and all others. Of tracks, the first ones of each are read from an index; those
//! with a tag, a limited number, are sorted.

use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::policy::trending;
use roadmap_store::columns::Id;

use super::rows::newest_with_tag;
use crate::statement::statement;

/// [`trending::MAX_NEW`], as in these statements.
pub(super) const MAX_NEW: i64 = 10;

const _: () = assert!(trending::MAX_NEW == MAX_NEW.unsigned_abs(), "as in these statements");
const _: () = assert!(trending::MIN_VOTES == 2, "as in these statements and the index");

/// SQL for the tracks of a lane or of all lanes that a common table expression `scope` chooses, each with whether it is
/// none of the JSON array of closed tracks there.
macro_rules! tracks_in_scope {
    () => {
        "SELECT tracks.workspace_id AS workspace, tracks.id AS track,
                tracks.id NOT IN (SELECT unhex(value) FROM json_each(scope.closed)) AS is_open
         FROM scope CROSS JOIN tracks ON tracks.workspace_id = scope.workspace
                AND tracks.lane_id IS coalesce(scope.lane, tracks.lane_id)"
    };
}

/// SQL for the new ideas among those that a common table expression `listed (number, is_open)` has.
macro_rules! new_of_listed {
    () => {
        "SELECT tally.request_id FROM listed
         CROSS JOIN vote_tallies tally ON tally.row_number = listed.number
         WHERE listed.is_open AND tally.votes_count < 2 AND tally.request_id >= (SELECT first_new FROM scope)
         ORDER BY listed.number DESC LIMIT 10"
    };
}

/// SQL for a part of the ranking of those that a common table expression `listed (number, is_open)` has, without those of
/// a JSON array.
macro_rules! others_of_listed {
    () => {
        "SELECT tally.request_id FROM listed
         CROSS JOIN vote_tallies tally ON tally.row_number = listed.number
         WHERE tally.request_id NOT IN (SELECT unhex(value) FROM json_each(?))
         ORDER BY listed.is_open DESC, tally.votes_count >= 2 DESC, tally.trend DESC, listed.number DESC LIMIT ? OFFSET ?"
    };
}

/// SQL for the rows of a common table expression `listed (number, is_open)`: the first ones of each of certain tracks, in
/// an order.
macro_rules! listed_of_tracks {
    ($tracks:literal, $index:literal, $order:literal, $limit:literal) => {
        concat!(
            "listed (number, is_open) AS (
                 SELECT first.value, is_open FROM (",
            tracks_in_scope!(),
            " AND ",
            $tracks,
            ") AS of_scope CROSS JOIN json_each((
                     SELECT json_group_array(number) FROM (
                         SELECT tally.row_number AS number FROM vote_tallies tally INDEXED BY ",
            $index,
            " WHERE tally.workspace_id = of_scope.workspace AND tally.track_id = of_scope.track
                            AND tally.root_id IS NULL AND NOT tally.private
                         ORDER BY ",
            $order,
            " LIMIT ",
            $limit,
            "
                     )
                 )) AS first
             ) "
        )
    };
}

/// SQL for the rows of a common table expression `listed (number, is_open)`: those with a tag, the newest `scan_limit`.
macro_rules! listed_of_tag {
    () => {
        concat!(
            "listed (number, is_open) AS (
                 SELECT tally.row_number, is_open FROM (",
            newest_with_tag!(),
            ") AS tagged
                 CROSS JOIN vote_tallies tally ON tally.workspace_id = (SELECT workspace FROM scope)
                        AND tally.request_id = tagged.request_id
                 CROSS JOIN (",
            tracks_in_scope!(),
            ") AS of_scope ON of_scope.track = tally.track_id
                 WHERE tally.root_id IS NULL AND NOT tally.private
             ) "
        )
    };
}

statement! {
    /// Counts the public feature requests on the tracks of a lane, or on all tracks, and those of them that are open.
    CountOfTracks { workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text }
        -> (BigInt, BigInt),
    concat!(
        "WITH scope (workspace, lane, closed) AS (SELECT ?, ?, ?)
         SELECT coalesce(sum(public_count), 0), coalesce(sum(public_count * is_open), 0) FROM (", tracks_in_scope!(), ")
             AS of_scope
         CROSS JOIN track_tallies ON track_tallies.workspace_id = of_scope.workspace
                AND track_tallies.track_id = of_scope.track"
    )
}

statement! {
    /// Selects the new ideas on the tracks of a lane, or on all tracks.
    NewOfTracks {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text, first_new: Id => Binary,
    } -> Binary,
    concat!(
        "WITH scope (workspace, lane, closed, first_new) AS (SELECT ?, ?, ?, ?), ",
        listed_of_tracks!("is_open", "vote_tallies_public", "tally.row_number DESC", "10"), new_of_listed!()
    )
}

statement! {
    /// Selects a part of the ranking of the feature requests on the tracks of a lane, or on all tracks; only on those that
    /// are open if there are enough.
    RankingOfTracks {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text, scan_limit: i64 => BigInt,
        only_open: bool => Bool, new: String => Text, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> Binary,
    concat!(
        "WITH scope (workspace, lane, closed, scan_limit, only_open) AS (SELECT ?, ?, ?, ?, ?), ",
        listed_of_tracks!(
            "(is_open OR NOT scope.only_open)",
            "vote_tallies_by_trend",
            "tally.votes_count >= 2 DESC, tally.trend DESC, tally.row_number DESC",
            "(SELECT scan_limit FROM scope)"
        ),
        others_of_listed!()
    )
}

statement! {
    /// Counts the public feature requests with a tag, and those of them that are open.
    CountOfTag {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text, tag: String => Text,
        scan_limit: i64 => BigInt,
    } -> (BigInt, BigInt),
    concat!(
        "WITH scope (workspace, lane, closed, tag, scan_limit) AS (SELECT ?, ?, ?, ?, ?), ", listed_of_tag!(),
        "SELECT count(*), coalesce(sum(is_open), 0) FROM listed"
    )
}

statement! {
    /// Selects the new ideas with a tag.
    NewOfTag {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text, tag: String => Text,
        scan_limit: i64 => BigInt, first_new: Id => Binary,
    } -> Binary,
    concat!(
        "WITH scope (workspace, lane, closed, tag, scan_limit, first_new) AS (SELECT ?, ?, ?, ?, ?, ?), ", listed_of_tag!(),
        new_of_listed!()
    )
}

statement! {
    /// Selects a part of the ranking of the feature requests with a tag.
    RankingOfTag {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, closed: String => Text, tag: String => Text,
        scan_limit: i64 => BigInt, new: String => Text, limit: i64 => BigInt, offset: i64 => BigInt,
    } -> Binary,
    concat!(
        "WITH scope (workspace, lane, closed, tag, scan_limit) AS (SELECT ?, ?, ?, ?, ?), ", listed_of_tag!(), others_of_listed!()
    )
}
