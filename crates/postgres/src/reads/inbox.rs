//! The inbox: its counters and its lists.
//!
//! A list without a tag and without a member is read from indexes in its order. A list of tracks is merged from the first
//! rows of each track, and so are lists of a state, whose indexes are by track. By counts there are indexes of all feature
//! requests only: whether those of a state are picked from them or sorted depends on their number ([`is_rare`]). Lists
//! with a tag or a member are sorted (`selections.rs`).

mod rows;
mod selections;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::admin::{
    InboxCounts, InboxFilter, InboxList, InboxRow, InboxSort, InboxState, MergePreview,
};
use roadmap_domain::model::id::{FeatureRequestId, WorkspaceId};
use roadmap_domain::model::pagination::Listing;
use roadmap_domain::ports::InboxReader;
use roadmap_store::rows::{InboxCountsRow, InboxListRow, MergePreviewRow, inbox_counts, merge_preview};
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::portal_lists::ids;
use crate::reads::tracks::most_voted;
use crate::session::Session;
use crate::statement::statement;
use rows::{InboxColumns, InboxRows, Scope, inbox_columns, inbox_joins};

/// Up to how many feature requests are counted one by one, and sorted if no index has them in order. That is what the
/// pages can show.
const MAX_LISTED: i64 = 10_000;

/// The SQL of the feature requests that wait for approval, of a workspace.
macro_rules! awaiting {
    () => {
        "SELECT FROM feature_requests WHERE workspace_id = {workspace} AND awaiting_approval AND root_id IS NULL"
    };
}

statement! {
    /// Selects the tracks with their counters, each with the numbers of feature requests and of comments that wait for
    /// approval and of merged feature requests, which are counted.
    Counts { workspace: Uuid => SqlUuid, limit: i64 => BigInt }
        -> ((SqlUuid, Text, Nullable<(SqlUuid, Text, Text, Text)>), BigInt, BigInt, BigInt, BigInt, BigInt, BigInt, BigInt),
    concat!("WITH counted AS MATERIALIZED (
         SELECT (SELECT count(*) FROM (", awaiting!(), " LIMIT {limit}) AS waiting) AS awaiting,
                (SELECT count(*) FROM (
                     SELECT FROM held_comments WHERE workspace_id = {workspace} LIMIT {limit}) AS held) AS held,
                (SELECT count(*) FROM (
                     SELECT FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL LIMIT {limit}
                 ) AS merged) AS merged
     )
     SELECT tracks.id, tracks.name, lanes.id, lanes.name, lanes.kind, lanes.names, coalesce(all_count, 0),
            coalesce(unanswered_count, 0), coalesce(replied_count, 0), coalesce(all_count - public_count, 0), awaiting, held, merged
     FROM counted CROSS JOIN tracks
     LEFT JOIN lanes ON lanes.workspace_id = {workspace} AND lanes.id = lane_id
     LEFT JOIN track_tallies ON track_tallies.workspace_id = {workspace} AND track_tallies.track_id = tracks.id
     WHERE tracks.workspace_id = {workspace} ORDER BY tracks.position")
}

/// The SQL of the common table expression `track_set`: the tracks of a filter.
macro_rules! track_set {
    () => {
        "track_set AS MATERIALIZED (
             SELECT id FROM tracks
             WHERE workspace_id = {workspace} AND ({tracks} IS NULL OR id = ANY ({tracks}))
         )"
    };
}

statement! {
    /// Selects the number of tracks of a filter, and their counters: all feature requests, those without an answer,
    /// those with a new reply, and private ones.
    Tallied { workspace: Uuid => SqlUuid, tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>> }
        -> (BigInt, BigInt, BigInt, BigInt, BigInt),
    concat!("WITH ", track_set!(), "
     SELECT count(*), coalesce(sum(all_count), 0)::bigint, coalesce(sum(unanswered_count), 0)::bigint,
            coalesce(sum(replied_count), 0)::bigint, coalesce(sum(all_count - public_count), 0)::bigint
     FROM track_set JOIN track_tallies ON workspace_id = {workspace} AND track_id = track_set.id")
}

/// The SQL of the feature requests of a track that meet a condition, newest first or oldest first. The track is compared
/// as a part of a row, and ordered by, as in [`most_voted`]. Only columns of the indexes are read.
macro_rules! numbered {
    ($condition:literal, $direction:literal, $limit:literal) => {
        concat!(
            "SELECT tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND (track_id, tag_number) >= (track_set.id, 0)
               AND track_id <= track_set.id
               AND ",
            $condition,
            " ORDER BY track_id ",
            $direction,
            ", tag_number ",
            $direction,
            " LIMIT ",
            $limit
        )
    };
}

/// The SQL of the feature requests of a track that meet a condition, last updated first.
macro_rules! updated {
    ($condition:literal) => {
        concat!(
            "SELECT updated_at, tag_number FROM feature_requests
             WHERE workspace_id = {workspace} AND track_id = track_set.id AND ",
            $condition,
            " ORDER BY updated_at DESC, tag_number DESC LIMIT {scan_limit}"
        )
    };
}

statement! {
    /// Counts the feature requests that wait for approval on the tracks of a filter, up to a number.
    CountAwaiting {
        workspace: Uuid => SqlUuid,
        tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>>,
        limit: i64 => BigInt,
    } -> BigInt,
    concat!("WITH ", track_set!(), "
     SELECT count(*) FROM (
         SELECT FROM track_set CROSS JOIN LATERAL (
             ", numbered!("awaiting_approval AND root_id IS NULL", "DESC", "{limit}"), "
         ) AS counted LIMIT {limit}
     ) AS counted")
}

statement! {
    /// Counts the merged feature requests on the tracks of a filter, up to a number.
    CountMerged {
        workspace: Uuid => SqlUuid,
        tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>>,
        limit: i64 => BigInt,
    } -> BigInt,
    concat!("WITH ", track_set!(), "
     SELECT count(*) FROM (
         SELECT FROM track_set CROSS JOIN LATERAL (", numbered!("root_id IS NOT NULL", "DESC", "{limit}"), ") AS counted
         LIMIT {limit}
     ) AS counted")
}

/// A page of a list.
#[derive(Clone)]
struct Window {
    workspace: Uuid,
    /// The tracks that are shown. `None` means all.
    tracks: Option<Vec<Uuid>>,
    limit: i64,
    offset: i64,
}

impl Window {
    /// Whether it shows all tracks.
    const fn is_of_workspace(&self) -> bool {
        self.tracks.is_none()
    }

    /// Number of rows until the end of the page.
    const fn end(&self) -> i64 {
        self.offset.saturating_add(self.limit)
    }
}

/// The SQL of a page of the inbox. The parameters are a query of tag numbers, and their order.
macro_rules! inbox_page {
    ($rows:expr, $order:literal) => {
        concat!(
            "WITH ",
            track_set!(),
            ", page AS MATERIALIZED (
                 SELECT tag_number, row_number() OVER () AS place FROM (
                     SELECT top.* FROM (",
            $rows,
            ") AS top ORDER BY ",
            $order,
            " LIMIT {limit} OFFSET {offset}
                 ) AS top
             )
             SELECT ",
            inbox_columns!(),
            " FROM page
             JOIN feature_requests ON feature_requests.workspace_id = {workspace}
                                  AND feature_requests.tag_number = page.tag_number
             ",
            inbox_joins!(),
            " ORDER BY place"
        )
    };
}

/// The SQL of the first feature requests of each track.
macro_rules! of_tracks {
    ($rows:expr) => {
        concat!("SELECT top.* FROM track_set CROSS JOIN LATERAL (", $rows, ") AS top")
    };
}

/// Declares a statement for a page of the inbox, whose parameter `scan_limit` bounds the rows that are read, of each
/// track or of all.
macro_rules! inbox_list {
    ($(#[$doc:meta])* $name:ident, $rows:expr, $order:literal) => {
        statement! {
            $(#[$doc])*
            $name {
                workspace: Uuid => SqlUuid,
                tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>>,
                limit: i64 => BigInt,
                offset: i64 => BigInt,
                scan_limit: i64 => BigInt,
            } -> InboxColumns,
            inbox_page!($rows, $order)
        }

        impl $name {
            /// Selects a page. Of each track, or of all, at most `scan_limit` rows are listed.
            async fn rows(session: &Session, window: Window, scan_limit: i64) -> Result<Vec<InboxListRow>, StoreError> {
                let Window { workspace, tracks, limit, offset } = window;
                let page = Self { workspace, tracks, limit, offset, scan_limit };
                session.run(page.load(&mut session.connection()?)).await
            }
        }
    };
}

inbox_list! {
    /// Selects a page of the feature requests of a workspace, newest first.
    NewestOfWorkspace,
    "SELECT tag_number FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NULL
     ORDER BY tag_number DESC LIMIT {scan_limit}",
    "tag_number DESC"
}

inbox_list! {
    /// Selects a page of the feature requests of a workspace, oldest first.
    OldestOfWorkspace,
    "SELECT tag_number FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NULL
     ORDER BY tag_number LIMIT {scan_limit}",
    "tag_number"
}

/// Declares the statements of a state by number.
macro_rules! by_number {
    ($newest:ident, $oldest:ident, $condition:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state, newest first.
            $newest, of_tracks!(numbered!($condition, "DESC", "{scan_limit}")), "tag_number DESC"
        }
        inbox_list! {
            /// Selects a page of the feature requests of a state, oldest first.
            $oldest, of_tracks!(numbered!($condition, "ASC", "{scan_limit}")), "tag_number"
        }
    };
}

by_number!(NewestAll, OldestAll, "root_id IS NULL");

by_number!(NewestUnanswered, OldestUnanswered, "attention = 'unanswered'");

by_number!(NewestReplied, OldestReplied, "attention = 'replied'");

by_number!(NewestAwaiting, OldestAwaiting, "awaiting_approval AND root_id IS NULL");

by_number!(NewestPrivate, OldestPrivate, "private AND root_id IS NULL");

by_number!(NewestMerged, OldestMerged, "root_id IS NOT NULL");

/// Declares the statement of a state by the last change.
macro_rules! by_update {
    ($name:ident, $condition:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state, last updated first.
            $name, of_tracks!(updated!($condition)), "updated_at DESC, tag_number DESC"
        }
    };
}

by_update!(UpdatedAll, "root_id IS NULL");

by_update!(UpdatedUnanswered, "attention = 'unanswered'");

by_update!(UpdatedReplied, "attention = 'replied'");

by_update!(UpdatedPrivate, "private AND root_id IS NULL");

/// The SQL of the most voted feature requests of a workspace, as in [`most_voted`].
macro_rules! most_voted_of_workspace {
    ($filter:literal) => {
        concat!(
            "(SELECT votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND tier >= 16 AND root_id IS NULL",
            $filter,
            " ORDER BY tier DESC, votes_count DESC, tag_number DESC LIMIT {scan_limit})
             UNION ALL
             (SELECT votes_count, tag_number FROM vote_tallies
              WHERE workspace_id = {workspace} AND tier < 16 AND root_id IS NULL",
            $filter,
            " ORDER BY tier DESC, tag_number DESC LIMIT {scan_limit})"
        )
    };
}

/// Declares the statements of a state by votes, which read all feature requests in that order.
macro_rules! by_votes {
    ($of_tracks:ident, $of_workspace:ident, $filter:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state on some tracks, most voted first.
            $of_tracks,
            of_tracks!(most_voted!("track_set.id", $filter, "{scan_limit}")),
            "votes_count DESC, tag_number DESC"
        }
        inbox_list! {
            /// Selects a page of the feature requests of a state, most voted first.
            $of_workspace, most_voted_of_workspace!($filter), "votes_count DESC, tag_number DESC"
        }
    };
}

by_votes!(VotedAll, VotedOfWorkspace, "");

by_votes!(VotedUnanswered, VotedUnansweredOfWorkspace, " AND attention = 'unanswered'");

by_votes!(VotedReplied, VotedRepliedOfWorkspace, " AND attention = 'replied'");

by_votes!(VotedPrivate, VotedPrivateOfWorkspace, " AND private");

/// The SQL of the feature requests of a track with voters of the most companies. The track is compared as in
/// [`most_voted`].
macro_rules! most_companies {
    ($filter:literal) => {
        concat!(
            "SELECT companies_count, tag_number FROM vote_tallies
             WHERE workspace_id = {workspace} AND (track_id, companies_count) >= (track_set.id, 0)
               AND track_id <= track_set.id AND root_id IS NULL",
            $filter,
            " ORDER BY track_id DESC, companies_count DESC, tag_number DESC LIMIT {scan_limit}"
        )
    };
}

/// Declares the statement of a state by companies, which reads all feature requests of the tracks in that order.
macro_rules! by_companies {
    ($name:ident, $filter:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state, those with voters of the most companies first.
            $name, of_tracks!(most_companies!($filter)), "companies_count DESC, tag_number DESC"
        }
    };
}

by_companies!(CompaniesAll, "");

by_companies!(CompaniesUnanswered, " AND attention = 'unanswered'");

by_companies!(CompaniesReplied, " AND attention = 'replied'");

by_companies!(CompaniesPrivate, " AND private");

/// Declares the statement of a state that sorts all of its feature requests by a count of `vote_tallies`.
macro_rules! sorted_by_count {
    ($name:ident, $count:literal, $condition:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state by a count. The newest `scan_limit` are read.
            $name,
            of_tracks!(concat!(
                "SELECT newest.tag_number, tallies.counted FROM (
                     SELECT id, tag_number FROM feature_requests
                     WHERE workspace_id = {workspace} AND (track_id, tag_number) >= (track_set.id, 0)
                       AND track_id <= track_set.id AND ", $condition, "
                     ORDER BY track_id DESC, tag_number DESC LIMIT {scan_limit}
                 ) AS newest
                 CROSS JOIN LATERAL (
                     SELECT ", $count, " AS counted FROM vote_tallies
                     WHERE workspace_id = {workspace} AND request_id = newest.id OFFSET 0
                 ) AS tallies"
            )),
            "counted DESC, tag_number DESC"
        }
    };
}

/// Declares the statements of a state that sort all of its feature requests by votes and by companies.
macro_rules! sorted_by_counts {
    ($by_votes:ident, $by_companies:ident, $condition:literal) => {
        sorted_by_count!($by_votes, "votes_count", $condition);
        sorted_by_count!($by_companies, "companies_count", $condition);
    };
}

sorted_by_counts!(SortedUnanswered, SortedCompaniesUnanswered, "attention = 'unanswered'");

sorted_by_counts!(SortedReplied, SortedCompaniesReplied, "attention = 'replied'");

sorted_by_counts!(SortedPrivate, SortedCompaniesPrivate, "private AND root_id IS NULL");

sorted_by_counts!(SortedAwaiting, SortedCompaniesAwaiting, "awaiting_approval AND root_id IS NULL");

sorted_by_counts!(SortedMerged, SortedCompaniesMerged, "root_id IS NOT NULL");

/// Declares the statement of a state that sorts all of its feature requests by the last change.
macro_rules! sorted_by_update {
    ($name:ident, $condition:literal) => {
        inbox_list! {
            /// Selects a page of the feature requests of a state, last updated first. The newest `scan_limit` are read.
            $name,
            of_tracks!(concat!(
                "SELECT tag_number, updated_at FROM feature_requests
                 WHERE workspace_id = {workspace} AND (track_id, tag_number) >= (track_set.id, 0)
                   AND track_id <= track_set.id AND ", $condition, "
                 ORDER BY track_id DESC, tag_number DESC LIMIT {scan_limit}"
            )),
            "updated_at DESC, tag_number DESC"
        }
    };
}

sorted_by_update!(UpdatedAwaiting, "awaiting_approval AND root_id IS NULL");

sorted_by_update!(UpdatedMerged, "root_id IS NOT NULL");

statement! {
    /// Selects the feature request with a number, and the newest private ones: ID, title, and whether it is the former.
    FindUnindexed { workspace: Uuid => SqlUuid, number: Option<i64> => Nullable<BigInt>, scan_limit: i64 => BigInt }
        -> (SqlUuid, Text, Bool),
    concat!("WITH track_set AS MATERIALIZED (
         SELECT id FROM tracks WHERE workspace_id = {workspace}
     ), newest AS MATERIALIZED (
         ", of_tracks!(numbered!("private AND root_id IS NULL", "DESC", "{scan_limit}")), "
         ORDER BY tag_number DESC LIMIT {scan_limit}
     )
     SELECT id, title, is_numbered FROM (
         SELECT id, title, true AS is_numbered, tag_number FROM feature_requests
         WHERE workspace_id = {workspace} AND tag_number = {number}
         UNION ALL
         SELECT id, title, false, newest.tag_number FROM newest
         CROSS JOIN LATERAL (
             SELECT id, title FROM feature_requests
             WHERE workspace_id = {workspace} AND tag_number = newest.tag_number OFFSET 0
         ) AS requests
     ) AS found
     ORDER BY is_numbered DESC, tag_number DESC")
}

/// The numbers by which a list is read.
struct Totals {
    /// The number of tracks of the filter.
    tracks: i64,
    /// The number of feature requests on them.
    all: i64,
    /// The number of those that are listed.
    listed: i64,
}

/// Whether it takes less to sort all feature requests of a state by a count than to pick the first `end` of them, on each
/// track, from all in that order. A sorted one takes about twice as long as one that is read in order.
fn is_rare(totals: &Totals, end: i64) -> bool {
    let Totals { tracks, all, listed } = *totals;
    let picked = tracks.saturating_mul(end).saturating_mul(all) / listed.max(1);
    listed <= i64::from(InboxList::READ_LIMIT) && listed.saturating_mul(2) <= picked.min(all)
}

/// Selects the numbers of a list.
async fn totals(session: &Session, window: &Window, state: InboxState) -> Result<Totals, StoreError> {
    let Window { workspace, tracks, .. } = window.clone();
    let limit = MAX_LISTED;
    let listed: i64 = match state {
        InboxState::Awaiting => {
            let count = CountAwaiting { workspace, tracks, limit };
            session.run(count.get_result(&mut session.connection()?)).await?
        }
        InboxState::Merged => {
            let count = CountMerged { workspace, tracks, limit };
            session.run(count.get_result(&mut session.connection()?)).await?
        }
        InboxState::Open | InboxState::All | InboxState::Unanswered | InboxState::Replied | InboxState::Private => {
            let tallied = Tallied { workspace, tracks };
            let (tracks, all, unanswered, replied, private): (i64, i64, i64, i64, i64) =
                session.run(tallied.get_result(&mut session.connection()?)).await?;
            let listed = match state {
                InboxState::Unanswered => unanswered,
                InboxState::Replied => replied,
                InboxState::Private => private,
                InboxState::Open | InboxState::All | InboxState::Awaiting | InboxState::Merged => all,
            };
            let tracks = if window.is_of_workspace() { 1 } else { tracks };
            return Ok(Totals { tracks, all, listed });
        }
    };
    Ok(Totals { tracks: 1, all: listed, listed })
}

/// Selects a page of a list by number.
async fn numbered_page(
    session: &Session,
    window: Window,
    state: InboxState,
    is_newest_first: bool,
) -> Result<Vec<InboxListRow>, StoreError> {
    let end = window.end();
    match (state, is_newest_first) {
        (InboxState::Open | InboxState::All, true) if window.is_of_workspace() => {
            NewestOfWorkspace::rows(session, window, end).await
        }
        (InboxState::Open | InboxState::All, false) if window.is_of_workspace() => {
            OldestOfWorkspace::rows(session, window, end).await
        }
        (InboxState::Open | InboxState::All, true) => NewestAll::rows(session, window, end).await,
        (InboxState::Open | InboxState::All, false) => OldestAll::rows(session, window, end).await,
        (InboxState::Unanswered, true) => NewestUnanswered::rows(session, window, end).await,
        (InboxState::Unanswered, false) => OldestUnanswered::rows(session, window, end).await,
        (InboxState::Replied, true) => NewestReplied::rows(session, window, end).await,
        (InboxState::Replied, false) => OldestReplied::rows(session, window, end).await,
        (InboxState::Awaiting, true) => NewestAwaiting::rows(session, window, end).await,
        (InboxState::Awaiting, false) => OldestAwaiting::rows(session, window, end).await,
        (InboxState::Private, true) => NewestPrivate::rows(session, window, end).await,
        (InboxState::Private, false) => OldestPrivate::rows(session, window, end).await,
        (InboxState::Merged, true) => NewestMerged::rows(session, window, end).await,
        (InboxState::Merged, false) => OldestMerged::rows(session, window, end).await,
    }
}

/// Selects a page of a list by the last change.
async fn updated_page(session: &Session, window: Window, state: InboxState) -> Result<Vec<InboxListRow>, StoreError> {
    let end = window.end();
    match state {
        InboxState::Open | InboxState::All => UpdatedAll::rows(session, window, end).await,
        InboxState::Unanswered => UpdatedUnanswered::rows(session, window, end).await,
        InboxState::Replied => UpdatedReplied::rows(session, window, end).await,
        InboxState::Private => UpdatedPrivate::rows(session, window, end).await,
        InboxState::Awaiting => UpdatedAwaiting::rows(session, window, MAX_LISTED).await,
        InboxState::Merged => UpdatedMerged::rows(session, window, MAX_LISTED).await,
    }
}

/// Selects a page of a list by votes.
async fn voted_page(
    session: &Session,
    window: Window,
    state: InboxState,
    totals: &Totals,
) -> Result<Vec<InboxListRow>, StoreError> {
    let (end, of_workspace) = (window.end(), window.is_of_workspace());
    let is_rare = is_rare(totals, end);
    match state {
        InboxState::Open | InboxState::All if of_workspace => VotedOfWorkspace::rows(session, window, end).await,
        InboxState::Open | InboxState::All => VotedAll::rows(session, window, end).await,
        InboxState::Unanswered if is_rare => SortedUnanswered::rows(session, window, MAX_LISTED).await,
        InboxState::Unanswered if of_workspace => VotedUnansweredOfWorkspace::rows(session, window, end).await,
        InboxState::Unanswered => VotedUnanswered::rows(session, window, end).await,
        InboxState::Replied if is_rare => SortedReplied::rows(session, window, MAX_LISTED).await,
        InboxState::Replied if of_workspace => VotedRepliedOfWorkspace::rows(session, window, end).await,
        InboxState::Replied => VotedReplied::rows(session, window, end).await,
        InboxState::Private if is_rare => SortedPrivate::rows(session, window, MAX_LISTED).await,
        InboxState::Private if of_workspace => VotedPrivateOfWorkspace::rows(session, window, end).await,
        InboxState::Private => VotedPrivate::rows(session, window, end).await,
        InboxState::Awaiting => SortedAwaiting::rows(session, window, MAX_LISTED).await,
        InboxState::Merged => SortedMerged::rows(session, window, MAX_LISTED).await,
    }
}

/// Selects a page of a list by companies.
async fn companies_page(
    session: &Session,
    window: Window,
    state: InboxState,
    totals: &Totals,
) -> Result<Vec<InboxListRow>, StoreError> {
    let end = window.end();
    let is_rare = is_rare(totals, end);
    match state {
        InboxState::Open | InboxState::All => CompaniesAll::rows(session, window, end).await,
        InboxState::Unanswered if is_rare => SortedCompaniesUnanswered::rows(session, window, MAX_LISTED).await,
        InboxState::Unanswered => CompaniesUnanswered::rows(session, window, end).await,
        InboxState::Replied if is_rare => SortedCompaniesReplied::rows(session, window, MAX_LISTED).await,
        InboxState::Replied => CompaniesReplied::rows(session, window, end).await,
        InboxState::Private if is_rare => SortedCompaniesPrivate::rows(session, window, MAX_LISTED).await,
        InboxState::Private => CompaniesPrivate::rows(session, window, end).await,
        InboxState::Awaiting => SortedCompaniesAwaiting::rows(session, window, MAX_LISTED).await,
        InboxState::Merged => SortedCompaniesMerged::rows(session, window, MAX_LISTED).await,
    }
}

statement! {
    /// Selects two feature requests, the first one itself and of the second one the root, each with whether it is the
    /// former, and with the number of different voters of both and of what is merged into them.
    Preview { workspace: Uuid => SqlUuid, source: Uuid => SqlUuid, target: Uuid => SqlUuid }
        -> (InboxColumns, Bool, BigInt),
    concat!("WITH RECURSIVE named AS MATERIALIZED (
         SELECT {source} AS id, true AS is_source
         UNION ALL
         SELECT coalesce(root_id, id), false FROM feature_requests WHERE workspace_id = {workspace} AND id = {target}
     ), members AS (
         SELECT id FROM named
         UNION
         SELECT merged.id FROM members CROSS JOIN LATERAL (
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND merged_into_id = members.id OFFSET 0
         ) AS merged
     ), voters AS (
         SELECT DISTINCT votes.customer_id FROM members
         JOIN votes ON votes.workspace_id = {workspace} AND votes.request_id = members.id
     )
     SELECT ", inbox_columns!(), ", is_source, (SELECT count(*) FROM voters) + (
         SELECT sum(nameless_votes)::bigint FROM members
         JOIN vote_tallies ON vote_tallies.workspace_id = {workspace} AND vote_tallies.request_id = members.id
     ) FROM named
     JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND feature_requests.id = named.id
     ", inbox_joins!())
}

#[async_trait]
impl InboxReader for PostgresReader {
    async fn inbox_counts(&self, workspace: WorkspaceId) -> Result<InboxCounts, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let counts = Counts { workspace, limit: MAX_LISTED };
        let rows: Vec<InboxCountsRow> = session.run(counts.load(&mut session.connection()?)).await?;
        Ok(inbox_counts(rows))
    }

    async fn inbox(&self, workspace: WorkspaceId, list: &InboxList) -> Result<Listing<InboxRow>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let InboxList { filter, sort, page: request } = list;
        // No rows are read of a page that is too far.
        let is_read = request.page() <= InboxList::MAX_PAGE;
        let (limit, offset) = if is_read { (request.limit(), request.offset().unwrap_or(0)) } else { (0, 0) };
        let InboxFilter { state, tracks, tag, member } = filter;
        if tag.is_some() || member.is_some() {
            return selections::page(&session, workspace, list, limit, offset).await;
        }
        let tracks = tracks.as_ref().map(|tracks| tracks.iter().map(|track| track.uuid()).collect());
        let window = Window { workspace, tracks, limit, offset };
        let totals = totals(&session, &window, *state).await?;
        let records = if limit == 0 || offset >= totals.listed {
            Vec::new()
        } else {
            match sort {
                InboxSort::Newest => numbered_page(&session, window, *state, true).await?,
                InboxSort::Oldest => numbered_page(&session, window, *state, false).await?,
                InboxSort::Updated => updated_page(&session, window, *state).await?,
                InboxSort::Votes => voted_page(&session, window, *state, &totals).await?,
                InboxSort::Companies => companies_page(&session, window, *state, &totals).await?,
            }
        };
        let items = records.into_iter().map(InboxRow::try_from).collect::<Result<_, _>>()?;
        Ok(Listing { items, request: *request, total: totals.listed.unsigned_abs() })
    }

    async fn inbox_rows(
        &self,
        workspace: WorkspaceId,
        filter: &InboxFilter,
        requests: &[FeatureRequestId],
    ) -> Result<Vec<InboxRow>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let Scope { state, tracks, tag, member } = filter.into();
        let rows = InboxRows { workspace, requests: ids(requests), state, tracks, tag, member };
        let rows: Vec<InboxListRow> = session.run(rows.load(&mut session.connection()?)).await?;
        rows.into_iter().map(InboxRow::try_from).collect()
    }

    async fn find_unindexed(
        &self,
        workspace: WorkspaceId,
        number: Option<i64>,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<FeatureRequestId>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let find = FindUnindexed { workspace, number, scan_limit: i64::from(InboxList::READ_LIMIT) };
        let rows: Vec<(Uuid, String, bool)> = session.run(find.load(&mut session.connection()?)).await?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut requests: Vec<FeatureRequestId> = Vec::new();
        for (id, title, is_numbered) in rows {
            if requests.len() >= limit {
                break;
            }
            let id = FeatureRequestId::new(id);
            let title = title.to_lowercase();
            let is_found = is_numbered || words.iter().all(|word| title.contains(&word.to_lowercase()));
            if is_found && !requests.contains(&id) {
                requests.push(id);
            }
        }
        Ok(requests)
    }

    async fn merge_preview(
        &self,
        workspace: WorkspaceId,
        source: FeatureRequestId,
        target: FeatureRequestId,
    ) -> Result<Option<MergePreview>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let preview = Preview { workspace, source: source.uuid(), target: target.uuid() };
        let rows: Vec<MergePreviewRow> = session.run(preview.load(&mut session.connection()?)).await?;
        merge_preview(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_feature_requests_are_sorted_and_many_are_picked() {
        for (tracks, all, listed, end, expected) in [
            (1, 100_000, 0, 50, true),
            (1, 100_000, 1_500, 50, true),
            (1, 100_000, 1_600, 50, false),
            (6, 100_000, 1_600, 50, true),
            (1, 100_000, 5_000, 10_000, true),
            (1, 100_000, 5_001, 10_000, false),
            // All would be picked.
            (1, 1_000, 600, 10_000, false),
            (i64::MAX, i64::MAX, i64::MAX, i64::MAX, false),
        ] {
            assert_eq!(is_rare(&Totals { tracks, all, listed }, end), expected, "{tracks} {all} {listed} {end}");
        }
    }
}
