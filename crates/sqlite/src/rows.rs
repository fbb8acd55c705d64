//! Columns that several statements share, and rows that several operations look up.

use diesel::dsl::auto_type;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{OptionalExtension, RunQueryDsl, SqliteConnection};
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::FeatureRequestId;
use roadmap_domain::model::member::Author;
use roadmap_store::columns::Id;
use roadmap_store::rows::{MemberRow, SummaryRow};

use crate::errors::SqlError;
use crate::schema::{
    api_keys, attachments, audit_entries, feature_requests, lanes, link_sources, members, sign_ins, tracks,
    vote_tallies, webhooks,
};

roadmap_store::declare_columns!();

/// Feature requests with their vote tally, their track and its lane.
#[auto_type]
pub(crate) fn placed_requests() -> _ {
    feature_requests::table
        .inner_join(vote_tallies::table.on(vote_tallies::row_number.eq(feature_requests::row_number)))
        .inner_join(
            tracks::table.on(tracks::workspace_id
                .eq(feature_requests::workspace_id)
                .and(tracks::id.eq(feature_requests::track_id))),
        )
        .left_join(
            lanes::table.on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
        )
}

/// SQL that joins feature requests with what [`placed_requests()`] joins them.
macro_rules! placed_joins {
    () => {
        "CROSS JOIN vote_tallies ON vote_tallies.row_number = feature_requests.row_number
         CROSS JOIN tracks ON tracks.workspace_id = feature_requests.workspace_id
                AND tracks.id = feature_requests.track_id
         LEFT JOIN lanes ON lanes.workspace_id = tracks.workspace_id AND lanes.id = tracks.lane_id"
    };
}
pub(crate) use placed_joins;

/// SQL for the columns of a feature request's summary.
macro_rules! summary_sql {
    () => {
        "feature_requests.id, feature_requests.tag_number, feature_requests.title, tracks.name, lanes.name,
         vote_tallies.votes_count, feature_requests.created_at"
    };
}
pub(crate) use summary_sql;

/// The types of the columns of [`summary_sql!`].
pub(crate) type SummarySql = (Binary, BigInt, Text, Text, Nullable<Text>, BigInt, BigInt);

/// Finds the feature request that a client refers to, if it belongs to the workspace. A merged one is the one that it
/// was merged into.
pub(crate) fn find_summary(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
) -> Result<Option<SummaryRow>, SqlError> {
    let Some((row, root)) = find_row(connection, workspace, request)? else { return Ok(None) };
    let Some(root) = root else { return Ok(Some(row)) };
    let root = FeatureRequestRef::Id(FeatureRequestId::new(root.0));
    Ok(find_row(connection, workspace, &root)?.map(|(row, _)| row))
}

/// Finds the feature request that a client refers to, even if it is merged, and the root of its tree if it is.
pub(crate) fn find_row(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
) -> Result<Option<(SummaryRow, Option<Id>)>, SqlError> {
    let requests = placed_requests()
        .select((summary_columns(), vote_tallies::root_id))
        .filter(feature_requests::workspace_id.eq(workspace));
    Ok(match *request {
        FeatureRequestRef::Id(id) => {
            requests.filter(feature_requests::id.eq(Id(id.uuid()))).first(connection).optional()?
        }
        FeatureRequestRef::Number(number) => {
            requests.filter(feature_requests::tag_number.eq(number)).first(connection).optional()?
        }
        FeatureRequestRef::Unresolvable => None,
    })
}

/// Finds the author of a note or comment: the member with the address, else the oldest member. Removed members are no
/// authors.
pub(crate) fn find_author(
    connection: &mut SqliteConnection,
    workspace: Id,
    author: &Author,
) -> Result<Option<Id>, SqlError> {
    let team = members::table
        .filter(members::workspace_id.eq(workspace))
        .filter(members::removed_at.is_null())
        .select(members::id);
    let named = match author.address() {
        Some(address) => team.filter(members::email_folded.eq(address)).first(connection).optional()?,
        None => None,
    };
    match named {
        Some(member) => Ok(Some(member)),
        None => Ok(team.order((members::created_at, members::id)).first(connection).optional()?),
    }
}

/// The members of a workspace who were not removed, oldest first.
pub(crate) fn load_members(connection: &mut SqliteConnection, workspace: Id) -> Result<Vec<MemberRow>, SqlError> {
    Ok(members::table
        .filter(members::workspace_id.eq(workspace))
        .filter(members::removed_at.is_null())
        .order((members::created_at, members::id))
        .select(member_columns())
        .load(connection)?)
}
