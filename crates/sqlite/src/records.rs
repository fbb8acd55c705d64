//! Records that units of work and reads return in the same form: feature requests with all of their fields, comments,
//! customers and changelogs.

use diesel::dsl::auto_type;
use diesel::prelude::{
    BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, OptionalExtension, QueryDsl,
    RunQueryDsl,
};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use diesel::{Queryable, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::attachment::Filename;
use roadmap_domain::model::changelog::{Changelog, CoverImage};
use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
use roadmap_domain::model::customer::{Customer, CustomerName};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{
    FeatureRequestDetail, FeatureRequestRef, FeatureRequestSummary, RequestLink, Tag, Title,
};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId};
use roadmap_domain::model::text::Name;
use roadmap_store::columns::Id;

use crate::codec::{optional_timestamp, timestamp};
use crate::errors::SqlError;
use crate::rows::{SummaryRow, SummarySql, find_summary, placed_joins, summary_sql};
use crate::schema::{attachments, changelogs, customers, feature_request_tags, feature_requests};
use crate::statement::statement;
use crate::trees::{MergedRequests, MergedRow};

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
        "comments.id, comments.content, comments.created_at, comments.updated_at, comments.customer_id IS NOT NULL,
         CASE WHEN comments.customer_id IS NULL THEN members.name ELSE customers.name END"
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

/// The types of the columns of a listed comment: ID, content, timestamps, whether the author is a customer, the
/// author's name, and ID, tag number and title of the merged feature request that it was written on.
pub(crate) type CommentSql =
    (Binary, Text, BigInt, BigInt, Bool, Nullable<Text>, Nullable<Binary>, Nullable<BigInt>, Nullable<Text>);

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
pub(crate) type CustomerSql = (Binary, Nullable<Text>, Text, BigInt, BigInt, Nullable<BigInt>);

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

/// A customer as another record names it: ID, name and address.
pub(crate) type CustomerNameRow = (Id, Option<String>, String);

/// Converts a row to a customer's name.
pub(crate) fn customer_name((id, name, email): CustomerNameRow) -> CustomerName {
    CustomerName {
        id: CustomerId::new(id.0),
        name: name.map(Name::from_stored),
        email: EmailAddress::from_stored(email),
    }
}

/// Converts a row to a link.
pub(crate) fn request_link((id, tag_number, title): MergedRow) -> RequestLink {
    RequestLink { id: FeatureRequestId::new(id.0), tag_number, title: Title::from_stored(title) }
}

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
type DetailRow = (String, bool, bool, i64, Option<CustomerNameRow>);

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
    let merged: Vec<MergedRow> = MergedRequests { workspace, root: row.id }.load(connection)?;
    let comments_count = count_comments(connection, workspace, row.id, private, !merged.is_empty())?;
    let updated_at = timestamp(updated_at, "feature_requests", "updated_at", row.id)?;
    Ok(FeatureRequestDetail {
        summary: FeatureRequestSummary::try_from(row)?,
        description: CleanHtml::from_stored(description),
        tags: tags.into_iter().map(Tag::from_stored).collect(),
        private,
        awaiting_approval,
        comments_count,
        author: author.map(customer_name),
        merged: merged.into_iter().map(request_link).collect(),
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

/// A row of a listed comment.
#[derive(Debug, Queryable)]
pub(crate) struct CommentRow {
    id: Id,
    content: String,
    created_at: i64,
    updated_at: i64,
    is_customer: bool,
    author: Option<String>,
    from: Option<Id>,
    from_number: Option<i64>,
    from_title: Option<String>,
}

impl TryFrom<CommentRow> for ListedComment {
    type Error = StoreError;

    fn try_from(row: CommentRow) -> Result<Self, StoreError> {
        let author = row.author.map(Name::from_stored);
        let from = row.from.zip(row.from_number).zip(row.from_title);
        Ok(Self {
            comment: Comment {
                id: CommentId::new(row.id.0),
                content: CleanHtml::from_stored(row.content),
                created_at: timestamp(row.created_at, "comments", "created_at", row.id)?,
            },
            author: if row.is_customer { PublicAuthor::Customer(author) } else { PublicAuthor::Member(author) },
            from: from.map(|((id, tag_number), title)| request_link((id, tag_number, title))),
            updated_at: timestamp(row.updated_at, "comments", "updated_at", row.id)?,
        })
    }
}

/// A row of a customer.
#[derive(Debug, Queryable)]
pub(crate) struct CustomerRow {
    id: Id,
    name: Option<String>,
    email: String,
    votes_count: i64,
    created_at: i64,
    blocked_at: Option<i64>,
}

impl TryFrom<CustomerRow> for Customer {
    type Error = StoreError;

    fn try_from(row: CustomerRow) -> Result<Self, StoreError> {
        Ok(Self {
            customer: customer_name((row.id, row.name, row.email)),
            votes_count: row.votes_count,
            created_at: timestamp(row.created_at, "customers", "created_at", row.id)?,
            blocked_at: optional_timestamp(row.blocked_at, "customers", "blocked_at", row.id)?,
        })
    }
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
        attachments::id.nullable(),
        attachments::filename.nullable(),
    )
}

/// A row of [`changelog_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct ChangelogRow {
    pub(crate) id: Id,
    title: String,
    content: String,
    published_at: Option<i64>,
    created_at: i64,
    updated_at: i64,
    cover: Option<Id>,
    cover_name: Option<String>,
}

impl TryFrom<ChangelogRow> for Changelog {
    type Error = StoreError;

    fn try_from(row: ChangelogRow) -> Result<Self, StoreError> {
        let cover = row.cover.zip(row.cover_name).map(|(attachment, filename)| CoverImage {
            attachment: AttachmentId::new(attachment.0),
            filename: Filename::from_stored(filename),
        });
        Ok(Self {
            id: ChangelogId::new(row.id.0),
            title: Title::from_stored(row.title),
            content: CleanHtml::from_stored(row.content),
            cover,
            public_from: optional_timestamp(row.published_at, "changelogs", "published_at", row.id)?,
            created_at: timestamp(row.created_at, "changelogs", "created_at", row.id)?,
            updated_at: timestamp(row.updated_at, "changelogs", "updated_at", row.id)?,
        })
    }
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
