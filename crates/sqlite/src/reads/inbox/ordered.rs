//! Lists of the inbox that are read from one end of an index, of all feature requests of a state or of those on some
//! tracks. In the latter case, a page is merged from the first feature requests of each track.

use diesel::sql_types::{BigInt, Binary, Nullable, Text};

use super::rows::{InboxSql, is_shown, page_of_listed};
use crate::statement::statement;
use roadmap_store::columns::Id;

/// Declares a statement for a page that a common table expression `listed (number, key)` has.
macro_rules! ordered_page {
    ($(#[$doc:meta])* $name:ident, $($listed:tt)+) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
                state: &'static str => Text, scan_limit: i64 => BigInt, limit: i64 => BigInt, offset: i64 => BigInt,
            } -> InboxSql,
            concat!(
                "WITH scope (workspace, tracks, state, scan_limit) AS (SELECT ?, ?, ?, ?),
                 listed (number, key) AS (",
                $($listed)+, ") ", page_of_listed!()
            )
        }
    };
}

/// Declares a statement for a page of the feature requests of a workspace: where they are read from, the key of the
/// order, and the order.
macro_rules! page_of_workspace {
    ($(#[$doc:meta])* $name:ident, $from:expr, $key:literal, $order:literal) => {
        ordered_page!(
            $(#[$doc])* $name,
            "SELECT * FROM (SELECT request.row_number, ", $key, " FROM ", $from, " ORDER BY ", $order,
            " LIMIT (SELECT scan_limit FROM scope))"
        );
    };
}

/// Declares a statement for a page of the feature requests on the tracks of a filter. Those of a track pass through
/// JSON, because the subquery of a join cannot refer to the rows before it, but an argument of a function can.
macro_rules! page_of_tracks {
    ($(#[$doc:meta])* $name:ident, $from:expr, $key:literal, $order:literal) => {
        ordered_page!(
            $(#[$doc])* $name,
            "SELECT first.value ->> 0, first.value ->> 1 FROM scope
             CROSS JOIN tracks ON tracks.workspace_id = scope.workspace AND ", is_shown!(), "
             CROSS JOIN json_each((
                 SELECT json_group_array(json_array(number, key)) FROM (
                     SELECT request.row_number AS number, ", $key, " AS key FROM ", $from, "
                        AND request.workspace_id = tracks.workspace_id AND request.track_id = tracks.id
                     ORDER BY ", $order, " LIMIT (SELECT scan_limit FROM scope)
                 )
             )) AS first"
        );
    };
}

/// Declares the statements of the lists by number of a workspace.
macro_rules! by_number_of_workspace {
    ($newest:ident, $oldest:ident, $from:literal) => {
        page_of_workspace!(
            /// Selects feature requests of a workspace, newest first.
            $newest, $from, "request.tag_number", "request.tag_number DESC"
        );
        page_of_workspace!(
            /// Selects feature requests of a workspace, oldest first.
            $oldest, $from, "-request.tag_number", "request.tag_number"
        );
    };
}

/// Declares the statements of the lists by number of tracks.
macro_rules! by_number_of_tracks {
    ($newest:ident, $oldest:ident, $from:literal) => {
        page_of_tracks!(
            /// Selects feature requests on tracks, newest first.
            $newest, $from, "request.row_number", "request.row_number DESC"
        );
        page_of_tracks!(
            /// Selects feature requests on tracks, oldest first.
            $oldest, $from, "-request.row_number", "request.row_number"
        );
    };
}

by_number_of_workspace!(
    NewestPage,
    OldestPage,
    "feature_requests request CROSS JOIN vote_tallies tally ON tally.row_number = request.row_number
     WHERE tally.root_id IS NULL AND request.workspace_id = (SELECT workspace FROM scope)"
);
by_number_of_workspace!(
    NewestNoticedPage,
    OldestNoticedPage,
    "feature_requests request INDEXED BY feature_requests_by_attention
     WHERE request.attention = (SELECT state FROM scope) AND request.workspace_id = (SELECT workspace FROM scope)"
);
by_number_of_workspace!(
    NewestPrivatePage,
    OldestPrivatePage,
    "feature_requests request INDEXED BY feature_requests_private
     WHERE request.private AND request.root_id IS NULL AND request.workspace_id = (SELECT workspace FROM scope)"
);
by_number_of_workspace!(
    NewestAwaitingPage,
    OldestAwaitingPage,
    "feature_requests request INDEXED BY feature_requests_awaiting_by_number
     WHERE request.awaiting_approval AND request.root_id IS NULL
       AND request.workspace_id = (SELECT workspace FROM scope)"
);
by_number_of_workspace!(
    NewestMergedPage,
    OldestMergedPage,
    "feature_requests request INDEXED BY feature_requests_merged
     WHERE request.root_id IS NOT NULL AND request.workspace_id = (SELECT workspace FROM scope)"
);

by_number_of_tracks!(
    NewestOfTracks,
    OldestOfTracks,
    "feature_requests request INDEXED BY feature_requests_by_track WHERE request.root_id IS NULL"
);
by_number_of_tracks!(
    NewestNoticedOfTracks,
    OldestNoticedOfTracks,
    "feature_requests request INDEXED BY feature_requests_by_attention_and_track
     WHERE request.attention = (SELECT state FROM scope)"
);
by_number_of_tracks!(
    NewestPrivateOfTracks,
    OldestPrivateOfTracks,
    "feature_requests request INDEXED BY feature_requests_private_by_track
     WHERE request.private AND request.root_id IS NULL"
);

/// SQL for whether a row `request` of `vote_tallies` is of the state of `scope`, of those that have an index by votes.
macro_rules! is_of_state {
    () => {
        "CASE (SELECT state FROM scope)
             WHEN 'private' THEN request.private
             WHEN 'unanswered' THEN request.attention IS 'unanswered'
             WHEN 'replied' THEN request.attention IS 'replied'
             ELSE 1
         END"
    };
}

page_of_workspace!(
    /// Selects feature requests of a workspace that are of a state, most voted first.
    MostVotedPage,
    concat!(
        "vote_tallies request INDEXED BY vote_tallies_by_count
         WHERE request.root_id IS NULL AND request.workspace_id = (SELECT workspace FROM scope) AND ",
        is_of_state!()
    ),
    "request.votes_count",
    "request.votes_count DESC, request.row_number DESC"
);
page_of_tracks!(
    /// Selects feature requests on tracks that are of a state, most voted first.
    MostVotedOfTracks,
    concat!(
        "vote_tallies request INDEXED BY vote_tallies_by_track WHERE request.root_id IS NULL AND ",
        is_of_state!()
    ),
    "request.votes_count",
    "request.votes_count DESC, request.row_number DESC"
);

page_of_tracks!(
    /// Selects feature requests on tracks that are of a state, those with voters of the most companies first.
    MostCompaniesOfTracks,
    concat!(
        "vote_tallies request INDEXED BY vote_tallies_by_companies WHERE request.root_id IS NULL AND ",
        is_of_state!()
    ),
    "request.companies_count",
    "request.companies_count DESC, request.row_number DESC"
);

page_of_tracks!(
    /// Selects feature requests on tracks, last updated first.
    LastUpdatedOfTracks,
    "feature_requests request INDEXED BY feature_requests_by_update WHERE request.root_id IS NULL",
    "request.updated_at",
    "request.updated_at DESC, request.row_number DESC"
);
page_of_tracks!(
    /// Selects feature requests on tracks that need something, last updated first.
    LastUpdatedNoticedOfTracks,
    "feature_requests request INDEXED BY feature_requests_by_attention_and_update
     WHERE request.attention = (SELECT state FROM scope)",
    "request.updated_at",
    "request.updated_at DESC, request.row_number DESC"
);
page_of_tracks!(
    /// Selects private feature requests on tracks, last updated first.
    LastUpdatedPrivateOfTracks,
    "feature_requests request INDEXED BY feature_requests_private_by_update
     WHERE request.private AND request.root_id IS NULL",
    "request.updated_at",
    "request.updated_at DESC, request.row_number DESC"
);

statement! {
    /// Counts the feature requests of a state on the tracks of a filter.
    CountOfTracks {
        workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
        state: &'static str => Text,
    } -> BigInt,
    concat!("WITH scope (workspace, tracks, state) AS (SELECT ?, ?, ?)
     SELECT coalesce(sum(CASE scope.state
         WHEN 'unanswered' THEN tally.unanswered_count
         WHEN 'replied' THEN tally.replied_count
         WHEN 'private' THEN tally.all_count - tally.public_count
         ELSE tally.all_count
     END), 0) FROM scope
     CROSS JOIN tracks ON tracks.workspace_id = scope.workspace AND ", is_shown!(), "
     CROSS JOIN track_tallies tally ON tally.workspace_id = tracks.workspace_id AND tally.track_id = tracks.id")
}

/// SQL for the number of feature requests that await approval, at most as many as a common table expression `scope
/// (workspace, row_limit)` says.
macro_rules! awaiting_count {
    () => {
        "(SELECT count(*) FROM (
              SELECT 1 FROM feature_requests INDEXED BY feature_requests_awaiting_by_number
              WHERE workspace_id = (SELECT workspace FROM scope) AND awaiting_approval AND root_id IS NULL
              LIMIT (SELECT row_limit FROM scope)
          ))"
    };
}
pub(super) use awaiting_count;

/// SQL for the number of merged feature requests, at most as many as a common table expression `scope
/// (workspace, row_limit)` says.
macro_rules! merged_count {
    () => {
        "(SELECT count(*) FROM (
              SELECT 1 FROM feature_requests INDEXED BY feature_requests_merged
              WHERE workspace_id = (SELECT workspace FROM scope) AND root_id IS NOT NULL
              LIMIT (SELECT row_limit FROM scope)
          ))"
    };
}
pub(super) use merged_count;

statement! {
    /// Counts the feature requests that await approval, up to a limit.
    CountAwaiting { workspace: Id => Binary, limit: i64 => BigInt } -> BigInt,
    concat!("WITH scope (workspace, row_limit) AS (SELECT ?, ?) SELECT ", awaiting_count!())
}

statement! {
    /// Counts the merged feature requests, up to a limit.
    CountMerged { workspace: Id => Binary, limit: i64 => BigInt } -> BigInt,
    concat!("WITH scope (workspace, row_limit) AS (SELECT ?, ?) SELECT ", merged_count!())
}
