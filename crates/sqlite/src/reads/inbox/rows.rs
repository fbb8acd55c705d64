//! Rows of the inbox: the form that all lists share, and feature requests by their IDs.

use crate::records::CustomerNameSql;
use crate::trees::LinkSql;
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::model::admin::{InboxFilter, InboxRow, InboxState};
use roadmap_domain::model::feature_request::Tag;
use roadmap_store::columns::Id;

use crate::codec::json_ids;
use crate::rows::SummarySql;
use crate::statement::statement;

/// SQL for the columns of a row of the inbox.
macro_rules! inbox_sql {
    () => {
        concat!(
            $crate::rows::summary_sql!(),
            ", vote_tallies.private, feature_requests.awaiting_approval, vote_tallies.attention,
             vote_tallies.companies_count,
             (SELECT count(*) FROM comments
              WHERE comments.workspace_id = feature_requests.workspace_id AND comments.request_id = feature_requests.id),
             (SELECT count(*) FROM held_comments held
              WHERE held.workspace_id = feature_requests.workspace_id AND held.request_id = feature_requests.id),
             substr(feature_requests.description_text, 1, 160),
             (SELECT group_concat(tag, char(10)) FROM (
                  SELECT tag FROM feature_request_tags tags
                  WHERE tags.workspace_id = feature_requests.workspace_id AND tags.request_id = feature_requests.id
                  ORDER BY position)),
             (SELECT count(*) FROM notes
              WHERE notes.workspace_id = feature_requests.workspace_id AND notes.request_id = feature_requests.id),
             author.id, author.name, author.email, root.id, root.tag_number, root.title"
        )
    };
}
pub(super) use inbox_sql;

/// SQL that joins feature requests with what [`inbox_sql!`] needs.
macro_rules! inbox_joins {
    () => {
        concat!(
            $crate::rows::placed_joins!(),
            " LEFT JOIN customers author ON author.workspace_id = feature_requests.workspace_id
                    AND author.id = feature_requests.author_id
              LEFT JOIN feature_requests root ON root.workspace_id = vote_tallies.workspace_id
                    AND root.id = vote_tallies.root_id"
        )
    };
}
pub(super) use inbox_joins;

/// The types of the columns of [`inbox_sql!`].
pub(super) type InboxSql = (
    SummarySql,
    Bool,
    Bool,
    Nullable<Text>,
    BigInt,
    BigInt,
    BigInt,
    Text,
    Nullable<Text>,
    BigInt,
    Nullable<CustomerNameSql>,
    Nullable<LinkSql>,
);

const _: () = assert!(InboxRow::EXCERPT == 160, "as in `inbox_sql!`");

/// SQL for a page of the rows that a common table expression `listed (number, key)` has, the highest key first.
macro_rules! page_of_listed {
    () => {
        concat!(
            "SELECT ",
            $crate::reads::inbox::rows::inbox_sql!(),
            " FROM (SELECT number, key FROM listed ORDER BY key DESC, number DESC LIMIT ? OFFSET ?) AS page
             CROSS JOIN feature_requests ON feature_requests.row_number = page.number ",
            $crate::reads::inbox::rows::inbox_joins!(),
            " ORDER BY page.key DESC, page.number DESC"
        )
    };
}
pub(super) use page_of_listed;

/// SQL for whether a row of `tracks` is shown: `scope.tracks` is a JSON array of IDs, or NULL for all.
macro_rules! is_shown {
    () => {
        "(scope.tracks IS NULL OR tracks.id IN (SELECT unhex(shown.value) FROM json_each(scope.tracks) AS shown))"
    };
}
pub(super) use is_shown;

/// SQL for whether a row `tally` of `vote_tallies` on a row of `tracks` matches the filter in a common table expression
/// `scope (tracks, tag, member, state)`. Only private feature requests await approval.
macro_rules! matches_scope {
    () => {
        concat!(
            $crate::reads::inbox::rows::is_shown!(),
            "
         AND (tally.root_id IS NOT NULL) = (scope.state = 'merged')
         AND CASE scope.state
             WHEN 'unanswered' THEN tally.attention IS 'unanswered'
             WHEN 'replied' THEN tally.attention IS 'replied'
             WHEN 'private' THEN tally.private
             WHEN 'awaiting' THEN tally.private AND (
                 SELECT waiting.awaiting_approval FROM feature_requests waiting
                 WHERE waiting.row_number = tally.row_number
             )
             ELSE 1
         END
         AND (scope.tag IS NULL OR EXISTS (
             SELECT 1 FROM feature_request_tags tag WHERE tag.workspace_id = tally.workspace_id
                AND tag.tag_folded = scope.tag AND tag.request_id = tally.request_id
         ))
         AND (scope.member IS NULL OR EXISTS (
             SELECT 1 FROM comments WHERE comments.workspace_id = tally.workspace_id
                AND comments.author_id = scope.member AND comments.request_id = tally.request_id
         ) OR EXISTS (
             SELECT 1 FROM notes WHERE notes.workspace_id = tally.workspace_id
                AND notes.author_id = scope.member AND notes.request_id = tally.request_id
         ))"
        )
    };
}
pub(super) use matches_scope;

statement! {
    /// Selects the feature requests of a JSON array that match a filter, in its order.
    Rows {
        workspace: Id => Binary, tracks: Option<String> => Nullable<Text>,
        tag: Option<String> => Nullable<Text>, member: Option<Id> => Nullable<Binary>, state: &'static str => Text,
        requests: String => Text,
    } -> InboxSql,
    concat!(
        "WITH scope (workspace, tracks, tag, member, state) AS (SELECT ?, ?, ?, ?, ?),
         page (number, key) AS MATERIALIZED (
             SELECT tally.row_number, request.key FROM scope CROSS JOIN json_each(?) AS request
             CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                    AND tally.request_id = unhex(request.value)
             CROSS JOIN tracks ON tracks.workspace_id = tally.workspace_id AND tracks.id = tally.track_id
             WHERE ", matches_scope!(), "
         )
         SELECT ", inbox_sql!(), " FROM page
         CROSS JOIN feature_requests ON feature_requests.row_number = page.number ", inbox_joins!(), "
         ORDER BY page.key"
    )
}

/// The parameters of a filter.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) workspace: Id,
    /// The tracks that are shown, as a JSON array. `None` means all.
    pub(super) tracks: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) member: Option<Id>,
    pub(super) state: InboxState,
}

impl Scope {
    pub(super) fn new(workspace: Id, filter: &InboxFilter) -> Self {
        Self {
            workspace,
            tracks: filter
                .tracks
                .as_ref()
                .map(|tracks| json_ids(&tracks.iter().map(|track| Id(track.uuid())).collect::<Vec<_>>())),
            tag: filter.tag.as_ref().map(Tag::folded),
            member: filter.member.map(|member| Id(member.uuid())),
            state: filter.state,
        }
    }
}
