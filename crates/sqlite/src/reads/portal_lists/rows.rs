//! Rows of lists on the portal: the form that all lists share, and feature requests by their IDs.

use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::model::feature_request::Description;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_store::columns::Id;

use crate::codec::json_ids;
use crate::rows::{SummarySql, placed_joins};
use crate::statement::statement;

/// SQL for the columns of a row of a list, with [`Description::EXCERPT_MAX`] characters of the description.
macro_rules! row_sql {
    () => {
        concat!(
            $crate::rows::summary_sql!(),
            ", substr(feature_requests.description_text, 1, 500), feature_requests.private,
             feature_requests.awaiting_approval, feature_requests.status_since"
        )
    };
}
pub(in crate::reads) use row_sql;

const _: () = assert!(Description::EXCERPT_MAX == 500, "as in `row_sql!`");

/// The types of the columns of [`row_sql!`].
pub(in crate::reads) type RowSql = (SummarySql, Text, Bool, Bool, BigInt);

/// SQL for a page of the rows that a common table expression `listed (number, key)` has, the highest key first.
macro_rules! page_of_listed {
    () => {
        concat!(
            "SELECT ",
            $crate::reads::portal_lists::rows::row_sql!(),
            " FROM (SELECT number, key FROM listed ORDER BY key DESC, number DESC LIMIT ? OFFSET ?) AS page
             CROSS JOIN feature_requests ON feature_requests.row_number = page.number ",
            $crate::rows::placed_joins!(),
            " ORDER BY page.key DESC, page.number DESC"
        )
    };
}
pub(in crate::reads) use page_of_listed;

/// SQL for the newest feature requests with the tag of a common table expression `scope (workspace, tag, scan_limit, …)`,
/// at most `scan_limit`. IDs begin with the timestamp of the creation: the last ones are the newest.
macro_rules! newest_with_tag {
    () => {
        "SELECT DISTINCT request_id FROM feature_request_tags
         WHERE workspace_id = (SELECT workspace FROM scope) AND tag_folded = (SELECT tag FROM scope)
         ORDER BY request_id DESC LIMIT (SELECT scan_limit FROM scope)"
    };
}
pub(in crate::reads) use newest_with_tag;

statement! {
    /// Selects the public feature requests of a JSON array, in its order.
    Rows { workspace: Id => Binary, requests: String => Text } -> RowSql,
    concat!(
        "WITH scope (workspace) AS (SELECT ?)
         SELECT ", row_sql!(), " FROM scope CROSS JOIN json_each(?) AS request
         CROSS JOIN feature_requests ON feature_requests.workspace_id = scope.workspace
                AND feature_requests.id = unhex(request.value) ", placed_joins!(), "
         WHERE NOT vote_tallies.private AND vote_tallies.root_id IS NULL ORDER BY request.key"
    )
}

/// SQL for whether a customer has voted for a feature request or for one that is merged into it.
macro_rules! has_voted {
    ($customer:literal, $workspace:literal, $request:literal) => {
        concat!(
            "(EXISTS (SELECT 1 FROM votes WHERE votes.workspace_id = ",
            $workspace,
            " AND votes.request_id = ",
            $request,
            " AND votes.customer_id = ",
            $customer,
            ")
              OR EXISTS (
                  SELECT 1 FROM feature_requests merged
                  CROSS JOIN votes ON votes.workspace_id = merged.workspace_id AND votes.request_id = merged.id
                         AND votes.customer_id = ",
            $customer,
            "
                  WHERE merged.workspace_id = ",
            $workspace,
            " AND merged.root_id = ",
            $request,
            "
              ))"
        )
    };
}
pub(in crate::reads) use has_voted;

statement! {
    /// Selects those public feature requests of a JSON array that match a filter.
    Matching {
        workspace: Id => Binary, lane: Option<Id> => Nullable<Binary>, tag: Option<String> => Nullable<Text>,
        voter: Option<Id> => Nullable<Binary>, author: Option<Id> => Nullable<Binary>, requests: String => Text,
    } -> Binary,
    concat!(
        "WITH scope (workspace, lane, tag, voter, author) AS (SELECT ?, ?, ?, ?, ?)
         SELECT tally.request_id FROM scope CROSS JOIN json_each(?) AS request
         CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                AND tally.request_id = unhex(request.value)
         CROSS JOIN tracks ON tracks.workspace_id = tally.workspace_id AND tracks.id = tally.track_id
         WHERE tally.root_id IS NULL AND NOT tally.private
           AND tracks.lane_id IS coalesce(scope.lane, tracks.lane_id)
           AND (scope.tag IS NULL OR EXISTS (
               SELECT 1 FROM feature_request_tags tag WHERE tag.workspace_id = tally.workspace_id
                  AND tag.tag_folded = scope.tag AND tag.request_id = tally.request_id
           ))
           AND (scope.author IS NULL OR EXISTS (
               SELECT 1 FROM feature_requests own
               WHERE own.row_number = tally.row_number AND own.author_id = scope.author
           ))
           AND (scope.voter IS NULL OR ", has_voted!("scope.voter", "tally.workspace_id", "tally.request_id"), ")"
    )
}

statement! {
    /// Selects those feature requests of a JSON array that a customer has voted for.
    VotedAmong { workspace: Id => Binary, customer: Id => Binary, requests: String => Text } -> Binary,
    concat!(
        "WITH scope (workspace, customer) AS (SELECT ?, ?)
         SELECT tally.request_id FROM scope CROSS JOIN json_each(?) AS request
         CROSS JOIN vote_tallies tally ON tally.workspace_id = scope.workspace
                AND tally.request_id = unhex(request.value)
         WHERE ", has_voted!("scope.customer", "tally.workspace_id", "tally.request_id")
    )
}

/// Encodes the IDs of feature requests as a JSON array.
pub(in crate::reads) fn json_requests(requests: &[FeatureRequestId]) -> String {
    json_ids(&requests.iter().map(|request| Id(request.uuid())).collect::<Vec<_>>())
}

pub(in crate::reads) fn request_ids(ids: Vec<Id>) -> Vec<FeatureRequestId> {
    ids.into_iter().map(|id| FeatureRequestId::new(id.0)).collect()
}
