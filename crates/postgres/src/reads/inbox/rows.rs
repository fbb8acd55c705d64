//! Rows of the inbox: the form that all lists share, and feature requests by their IDs.

use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Uuid as SqlUuid};
use roadmap_domain::model::admin::{InboxFilter, InboxRow};
use roadmap_domain::model::feature_request::Tag;
use uuid::Uuid;

use crate::rows::{CustomerNameColumns, LinkColumns, SummaryColumns};
use crate::statement::statement;

/// The types of a row of the inbox: the feature request; whether it is private, awaits approval and what it needs; its
/// numbers of companies, of comments and of those that wait; the beginning of its description, its tags, its number of notes; its
/// author; its root.
pub(super) type InboxColumns = (
    SummaryColumns,
    Bool,
    Bool,
    Nullable<Text>,
    BigInt,
    BigInt,
    BigInt,
    Text,
    Array<Text>,
    BigInt,
    Nullable<CustomerNameColumns>,
    Nullable<LinkColumns>,
);

const _: () = assert!(InboxRow::EXCERPT == 160, "as in `inbox_columns!`");

/// The SQL of the columns of [`InboxColumns`], of feature requests with [`inbox_joins`].
macro_rules! inbox_columns {
    () => {
        concat!(
            crate::statement::summary!(),
            ", feature_requests.private, feature_requests.awaiting_approval, feature_requests.attention,
             vote_tallies.companies_count,
             (SELECT count(*) FROM comments
              WHERE comments.workspace_id = {workspace} AND comments.request_id = feature_requests.id) AS comments_count,
             (SELECT count(*) FROM held_comments AS held
              WHERE held.workspace_id = {workspace} AND held.request_id = feature_requests.id) AS held_count,
             substr(feature_requests.description_text, 1, 160) AS excerpt,
             ARRAY(SELECT tag FROM feature_request_tags AS tags
                   WHERE tags.workspace_id = {workspace} AND tags.request_id = feature_requests.id
                   ORDER BY position) AS tags,
             (SELECT count(*) FROM notes
              WHERE notes.workspace_id = {workspace} AND notes.request_id = feature_requests.id) AS notes_count,
             author.id AS author_id, author.name AS author_name, author.email AS author_email,
             root.id AS root_id, root.tag_number AS root_number, root.title AS root_title"
        )
    };
}
pub(super) use inbox_columns;

/// The SQL of what [`inbox_columns`] needs, after `feature_requests`.
macro_rules! inbox_joins {
    () => {
        concat!(
            crate::statement::placed!(),
            " LEFT JOIN customers AS author ON author.workspace_id = {workspace} AND author.id = feature_requests.author_id
              LEFT JOIN feature_requests AS root
                     ON root.workspace_id = {workspace} AND root.id = feature_requests.root_id"
        )
    };
}
pub(super) use inbox_joins;

/// The SQL condition of rows of `vote_tallies` whose feature requests match a filter, apart from its tag and its member.
/// Only private feature requests await approval.
macro_rules! is_in_state {
    () => {
        "(vote_tallies.root_id IS NOT NULL) = ({state} = 'merged')
         AND CASE {state}
             WHEN 'unanswered' THEN vote_tallies.attention IS NOT DISTINCT FROM 'unanswered'
             WHEN 'replied' THEN vote_tallies.attention IS NOT DISTINCT FROM 'replied'
             WHEN 'private' THEN vote_tallies.private
             WHEN 'awaiting' THEN vote_tallies.private AND (
                 SELECT waiting.awaiting_approval FROM feature_requests AS waiting
                 WHERE waiting.workspace_id = {workspace} AND waiting.id = vote_tallies.request_id)
             ELSE true
         END
         AND ({tracks} IS NULL OR vote_tallies.track_id = ANY ({tracks}))"
    };
}
pub(super) use is_in_state;

/// The SQL condition of rows of `vote_tallies` whose feature requests have the tag of a filter, if it has one.
macro_rules! is_tagged {
    () => {
        "({tag} IS NULL OR EXISTS (
             SELECT FROM feature_request_tags AS tags
             WHERE tags.workspace_id = {workspace} AND tags.request_id = vote_tallies.request_id
               AND tags.tag_folded = {tag}))"
    };
}
pub(super) use is_tagged;

statement! {
    /// Selects those of these feature requests that match a filter, in the given order.
    InboxRows {
        workspace: Uuid => SqlUuid,
        requests: Vec<Uuid> => Array<SqlUuid>,
        state: String => Text,
        tracks: Option<Vec<Uuid>> => Nullable<Array<SqlUuid>>,
        tag: Option<String> => Nullable<Text>,
        member: Option<Uuid> => Nullable<SqlUuid>,
    } -> InboxColumns,
    concat!("SELECT ", inbox_columns!(), " FROM unnest({requests}) WITH ORDINALITY AS wanted (request_id, place)
     JOIN feature_requests
       ON feature_requests.workspace_id = {workspace} AND feature_requests.id = wanted.request_id
     ", inbox_joins!(), "
     WHERE ", is_in_state!(), " AND ", is_tagged!(), "
       AND ({member} IS NULL OR EXISTS (
           SELECT FROM comments
           WHERE comments.workspace_id = {workspace} AND comments.author_id = {member}
             AND comments.request_id = feature_requests.id
       ) OR EXISTS (
           SELECT FROM notes
           WHERE notes.workspace_id = {workspace} AND notes.author_id = {member}
             AND notes.request_id = feature_requests.id
       ))
     ORDER BY place")
}

/// The parameters of a filter.
pub(super) struct Scope {
    /// The name of the state.
    pub(super) state: String,
    /// The tracks that are shown. `None` means all.
    pub(super) tracks: Option<Vec<Uuid>>,
    /// The tag in lower case.
    pub(super) tag: Option<String>,
    pub(super) member: Option<Uuid>,
}

impl From<&InboxFilter> for Scope {
    fn from(filter: &InboxFilter) -> Self {
        Self {
            state: filter.state.name().to_owned(),
            tracks: filter.tracks.as_ref().map(|tracks| tracks.iter().map(|track| track.uuid()).collect()),
            tag: filter.tag.as_ref().map(Tag::folded),
            member: filter.member.map(|member| member.uuid()),
        }
    }
}
