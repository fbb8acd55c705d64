//! Records that units of work and reads return in the same form: feature requests with all of their fields, comments,
//! customers and changelogs.

use diesel::SqliteConnection;
use diesel::dsl::auto_type;
use diesel::prelude::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
    RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, Tag};
use roadmap_domain::model::html::CleanHtml;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{ChangelogRow, CustomerNameRow, LinkRow, SummaryRow};

use crate::errors::SqlError;
use crate::rows::{SummarySql, find_summary, placed_joins, summary_sql};
use crate::schema::{attachments, changelogs, customers, feature_request_tags, feature_requests};
use crate::statement::statement;
use crate::trees::{LinkSql, MergedRequests};

/// SQL for the feature requests whose words the feature request of a common table expression `root (workspace, id,
/// private)` shows, as another one: itself and what was merged into it, without private ones if it is public.
macro_rules! shown_by_root {
    () => {
        "shown (workspace, id, is_described) AS (
             SELECT workspace, id, 0 FROM root
             UNION ALL
             SELECT merged.workspace_id, merged.id, octet_length(merged.description_text) > 0 FROM root
             CROSS JOIN feature_requests merged ON merged.workspace_id = root.workspace AND merged.root_id = root.id
             WHERE root.private OR NOT merged.private
         )"
    };
}
pub(crate) use shown_by_root;

/// SQL for the feature requests whose words a feature request shows, as common table expressions. The parameters are
/// the workspace, the root, and whether the root is private.
macro_rules! shown_requests {
    () => {
        concat!("root (workspace, id, private) AS (SELECT ?, ?, ?), ", $crate::records::shown_by_root!())
    };
}
pub(crate) use shown_requests;

/// SQL for the columns of a listed comment, apart from the feature request that it was written on.
macro_rules! comment_columns {
    () => {
        "comments.id, comments.content, comments.customer_id IS NOT NULL,
         CASE WHEN comments.customer_id IS NULL THEN members.name ELSE customers.name END,
         comments.created_at, comments.updated_at"
    };
}
pub(crate) use comment_columns;

/// SQL that joins comments with their authors.
macro_rules! comment_authors {
    () => {
        "LEFT JOIN members ON members.workspace_id = comments.workspace_id AND members.id = comments.author_id
         LEFT JOIN customers ON customers.workspace_id = comments.workspace_id AND customers.id = comments.customer_id"
    };
}
pub(crate) use comment_authors;

/// The types of the columns of a listed comment: ID, content, whether the author is a customer, the author's name,
/// timestamps, and the merged feature request that it was written on.
pub(crate) type CommentSql = (Binary, Text, Bool, Nullable<Text>, BigInt, BigInt, Nullable<LinkSql>);

statement! {
    /// Selects a comment as it is listed.
    OneComment { workspace: Id => Binary, comment: Id => Binary } -> CommentSql,
    concat!(
        "SELECT ", comment_columns!(), ", source.id, source.tag_number, source.title
         FROM comments ", comment_authors!(), "
         LEFT JOIN feature_requests source ON source.workspace_id = comments.workspace_id
               AND source.id = comments.request_id AND source.root_id IS NOT NULL
         WHERE comments.workspace_id = ? AND comments.id = ?"
    )
}

statement! {
    /// Counts the comments of a feature request into which nothing was merged.
    CountComments { workspace: Id => Binary, request: Id => Binary } -> BigInt,
    "SELECT count(*) FROM comments WHERE workspace_id = ? AND request_id = ?"
}

/// SQL for the number of comments that the feature requests of [`shown_by_root!`] have, with the descriptions of what
/// was merged.
macro_rules! shown_comments_count {
    () => {
        "(SELECT count(*) FROM shown CROSS JOIN comments
              ON comments.workspace_id = shown.workspace AND comments.request_id = shown.id)
         + (SELECT count(*) FROM shown WHERE is_described)"
    };
}
pub(crate) use shown_comments_count;

statement! {
    /// Counts the comments that a feature request shows, with the descriptions of what was merged into it.
    CountShownComments { workspace: Id => Binary, root: Id => Binary, private: bool => Bool } -> BigInt,
    concat!("WITH ", shown_requests!(), " SELECT ", shown_comments_count!())
}

/// SQL for the number of feature requests that a customer voted for. What is merged counts once.
macro_rules! customer_votes {
    () => {
        "CASE WHEN EXISTS (SELECT 1 FROM feature_requests merged
                           WHERE merged.workspace_id = customer.workspace_id AND merged.root_id IS NOT NULL)
         THEN (SELECT count(DISTINCT coalesce(vote_tallies.root_id, votes.request_id)) FROM votes
               CROSS JOIN vote_tallies ON vote_tallies.workspace_id = votes.workspace_id
                      AND vote_tallies.request_id = votes.request_id
               WHERE votes.workspace_id = customer.workspace_id AND votes.customer_id = customer.id)
         ELSE (SELECT count(*) FROM votes
               WHERE votes.workspace_id = customer.workspace_id AND votes.customer_id = customer.id)
         END"
    };
}
pub(crate) use customer_votes;

/// The types of the columns of a customer: ID, name, address, number of votes, timestamps of the creation and of the
/// block.
pub(crate) type CustomerSql = (CustomerNameSql, BigInt, BigInt, Nullable<BigInt>);

statement! {
    /// Selects a customer.
    OneCustomer { workspace: Id => Binary, customer: Id => Binary } -> CustomerSql,
    concat!(
        "SELECT customer.id, customer.name, customer.email, ", customer_votes!(), ", customer.created_at, customer.blocked_at
         FROM customers customer WHERE customer.workspace_id = ? AND customer.id = ?"
    )
}

statement! {
    /// Selects the feature requests that a changelog is about, in order. A merged one is the one that it was merged
    /// into, listed once.
    LinkedRequests { workspace: Id => Binary, changelog: Id => Binary } -> SummarySql,
    concat!(
        "WITH linked (workspace, request, position) AS MATERIALIZED (
             SELECT link.workspace_id, coalesce(vote_tallies.root_id, link.request_id), min(link.position)
             FROM changelog_feature_requests link
             CROSS JOIN vote_tallies ON vote_tallies.workspace_id = link.workspace_id
                    AND vote_tallies.request_id = link.request_id
             WHERE link.workspace_id = ? AND link.changelog_id = ? GROUP BY 1, 2
         )
         SELECT ", summary_sql!(), " FROM linked
         CROSS JOIN feature_requests ON feature_requests.workspace_id = linked.workspace
                AND feature_requests.id = linked.request ", placed_joins!(), "
         ORDER BY linked.position"
    )
}

/// The types of the columns of a customer as another record names it: ID, name and address.
pub(crate) type CustomerNameSql = (Binary, Nullable<Text>, Text);

/// Returns the tags of a feature request, in order.
pub(crate) fn load_tags(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: Id,
) -> Result<Vec<String>, SqlError> {
    Ok(feature_request_tags::table
        .filter(feature_request_tags::workspace_id.eq(workspace))
        .filter(feature_request_tags::request_id.eq(request))
        .order(feature_request_tags::position)
        .select(feature_request_tags::tag)
        .load(connection)?)
}

/// Description, visibility, whether it awaits approval, timestamp of the last change, author.
type DetailRow = (String, bool, bool, TimestampColumn, Option<CustomerNameRow>);

/// Returns a feature request with all of its fields. A merged one is the one that it was merged into.
pub(crate) fn load_detail(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
) -> Result<Option<FeatureRequestDetail>, SqlError> {
    let Some(row) = find_summary(connection, workspace, request)? else { return Ok(None) };
    load_detail_of(connection, workspace, row).map(Some)
}

/// Adds all fields to the summary of a feature request, which may be merged.
pub(crate) fn load_detail_of(
    connection: &mut SqliteConnection,
    workspace: Id,
    row: SummaryRow,
) -> Result<FeatureRequestDetail, SqlError> {
    let (description, private, awaiting_approval, updated_at, author): DetailRow = feature_requests::table
        .left_join(
            customers::table.on(customers::workspace_id
                .eq(feature_requests::workspace_id)
                .and(customers::id.nullable().eq(feature_requests::author_id))),
        )
        .filter(feature_requests::workspace_id.eq(workspace))
        .filter(feature_requests::id.eq(row.id))
        .select((
            feature_requests::description,
            feature_requests::private,
            feature_requests::awaiting_approval,
            feature_requests::updated_at,
            (customers::id, customers::name, customers::email).nullable(),
        ))
        .first(connection)?;
    let tags = load_tags(connection, workspace, row.id)?;
    let merged: Vec<LinkRow> = MergedRequests { workspace, root: row.id }.load(connection)?;
    let comments_count = count_comments(connection, workspace, row.id, private, !merged.is_empty())?;
    let updated_at = updated_at.into_timestamp("feature_requests", "updated_at", row.id)?;
    Ok(FeatureRequestDetail {
        summary: FeatureRequestSummary::try_from(row)?,
        description: CleanHtml::from_stored(description),
        tags: tags.into_iter().map(Tag::from_stored).collect(),
        private,
        awaiting_approval,
        comments_count,
        author: author.map(Into::into),
        merged: merged.into_iter().map(Into::into).collect(),
        updated_at,
    })
}

/// Counts the entries in the list of comments of a root.
pub(crate) fn count_comments(
    connection: &mut SqliteConnection,
    workspace: Id,
    root: Id,
    private: bool,
    has_merged: bool,
) -> Result<i64, SqlError> {
    Ok(if has_merged {
        CountShownComments { workspace, root, private }.get_result(connection)?
    } else {
        CountComments { workspace, request: root }.get_result(connection)?
    })
}

/// Changelogs with their covers.
#[auto_type]
pub(crate) fn covered_changelogs() -> _ {
    changelogs::table.left_join(
        attachments::table.on(attachments::workspace_id
            .eq(changelogs::workspace_id)
            .and(changelogs::cover_attachment_id.eq(attachments::id.nullable()))),
    )
}

/// The columns of a changelog.
#[auto_type]
pub(crate) fn changelog_columns() -> _ {
    (
        changelogs::id,
        changelogs::title,
        changelogs::content,
        changelogs::published_at,
        changelogs::created_at,
        changelogs::updated_at,
        changelogs::category,
        (attachments::id, attachments::filename).nullable(),
    )
}

/// Returns a changelog.
pub(crate) fn find_changelog(
    connection: &mut SqliteConnection,
    workspace: Id,
    changelog: Id,
) -> Result<Option<ChangelogRow>, SqlError> {
    Ok(covered_changelogs()
        .filter(changelogs::workspace_id.eq(workspace))
        .filter(changelogs::id.eq(changelog))
        .select(changelog_columns())
        .first(connection)
        .optional()?)
}

/// Returns the feature requests that a changelog is about, in order.
pub(crate) fn load_linked(
    connection: &mut SqliteConnection,
    workspace: Id,
    changelog: Id,
) -> Result<Vec<SummaryRow>, SqlError> {
    Ok(LinkedRequests { workspace, changelog }.load(connection)?)
}
