//! Row types that several queries share, and their conversion to records.

use diesel::Queryable;
use diesel::dsl::auto_type;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Scopes};
use roadmap_domain::model::attachment::{Attachment, BlobKey, Checksum, Dimensions, Filename};
use roadmap_domain::model::changelog::{Changelog, CoverImage};
use roadmap_domain::model::comment::{Comment, ListedComment, PublicAuthor};
use roadmap_domain::model::customer::{Customer, CustomerName};
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::feature_request::{FeatureRequestDetail, FeatureRequestSummary, RequestLink, Tag, Title};
use roadmap_domain::model::html::CleanHtml;
use roadmap_domain::model::id::{
    ApiKeyId, AttachmentId, ChangelogId, CommentId, CustomerId, FeatureRequestId, LaneId, MemberId, TrackId,
};
use roadmap_domain::model::media_type::MediaType;
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::text::Name;
use roadmap_domain::model::track::{Lane, Placement, Track};
use roadmap_store::columns::{TimestampColumn, inconsistent, optional_timestamp};
use uuid::Uuid;

use crate::schema::{api_keys, attachments, feature_requests, lanes, members, tracks, vote_tallies};
use crate::statement::{placed, resolved, statement, summary};

/// Feature requests with their vote tally, their track and its lane.
#[auto_type]
pub(crate) fn placed_requests() -> _ {
    feature_requests::table
        .inner_join(
            vote_tallies::table.on(vote_tallies::workspace_id
                .eq(feature_requests::workspace_id)
                .and(vote_tallies::request_id.eq(feature_requests::id))),
        )
        .inner_join(
            tracks::table.on(tracks::workspace_id
                .eq(feature_requests::workspace_id)
                .and(tracks::id.eq(feature_requests::track_id))),
        )
        .left_join(
            lanes::table.on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
        )
}

/// The columns of a feature request's summary.
#[auto_type]
pub(crate) fn summary_columns() -> _ {
    (
        feature_requests::id,
        feature_requests::tag_number,
        feature_requests::title,
        tracks::name,
        lanes::name.nullable(),
        vote_tallies::votes_count,
        feature_requests::created_at,
    )
}

/// The types of [`summary_columns()`], for statements written in SQL.
pub(crate) type SummaryColumns = (SqlUuid, BigInt, Text, Text, Nullable<Text>, BigInt, Timestamptz);

/// A row of [`summary_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct SummaryRow {
    pub(crate) id: Uuid,
    tag_number: i64,
    title: String,
    track: String,
    lane: Option<String>,
    pub(crate) votes_count: i64,
    created_at: TimestampColumn,
}

impl TryFrom<SummaryRow> for FeatureRequestSummary {
    type Error = StoreError;

    fn try_from(row: SummaryRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: FeatureRequestId::new(row.id),
            tag_number: row.tag_number,
            title: Title::from_stored(row.title),
            placement: Placement { track: Name::from_stored(row.track), status: row.lane.map(Name::from_stored) },
            votes_count: row.votes_count,
            created_at: row.created_at.into_timestamp("feature_requests", "created_at", row.id)?,
        })
    }
}

statement! {
    /// Selects the feature request that a reference means.
    FindRequest {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> SummaryColumns,
    concat!("SELECT ", summary!(), " FROM feature_requests ", placed!(), "
     WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ", resolved!())
}

/// The SQL of the feature request that a reference means, with all of its fields and the given further columns, in a
/// statement with the parameters `workspace`, `request` and `number`. What is merged into it is named on a condition. The
/// comments of private feature requests that are merged into a public one do not count.
macro_rules! detail {
    ($named:literal, $shows_private:literal, $columns:expr) => {
        concat!(
            "WITH request AS MATERIALIZED (
         SELECT ",
            crate::statement::summary!(),
            ", description, feature_requests.private, awaiting_approval, author_id,
                updated_at
         FROM feature_requests ",
            crate::statement::placed!(),
            "
         WHERE feature_requests.workspace_id = {workspace} AND feature_requests.id = ",
            crate::statement::resolved!(),
            "
     ), merged AS MATERIALIZED (
         SELECT feature_requests.id, feature_requests.tag_number, feature_requests.title,
                request.private AND ",
            $shows_private,
            " OR NOT feature_requests.private AS is_shown,
                description_text <> '' AS is_described
         FROM request
         JOIN feature_requests ON feature_requests.workspace_id = {workspace} AND root_id = request.id
     )
     SELECT request.id, tag_number, title, track, lane, votes_count, request.created_at, description,
            ARRAY(SELECT tag FROM feature_request_tags
                  WHERE workspace_id = {workspace} AND request_id = request.id ORDER BY position),
            private, awaiting_approval,
            (SELECT count(*) FROM comments WHERE workspace_id = {workspace} AND request_id = request.id)
            + (SELECT count(*) FROM merged
               JOIN comments ON comments.workspace_id = {workspace} AND comments.request_id = merged.id
               WHERE is_shown)
            + (SELECT count(*) FROM merged WHERE is_shown AND is_described),
            customers.id, customers.name, customers.email,
            ARRAY(SELECT id FROM merged WHERE ",
            $named,
            " ORDER BY tag_number),
            ARRAY(SELECT tag_number FROM merged WHERE ",
            $named,
            " ORDER BY tag_number),
            ARRAY(SELECT title FROM merged WHERE ",
            $named,
            " ORDER BY tag_number), updated_at",
            $columns,
            "
     FROM request
     LEFT JOIN customers ON customers.workspace_id = {workspace} AND customers.id = author_id"
        )
    };
}
pub(crate) use detail;

statement! {
    /// Selects the feature request that a reference means, with all of its fields.
    FindDetail {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
    } -> DetailColumns,
    detail!("true", "true", "")
}

/// The types of a feature request with all of its fields.
pub(crate) type DetailColumns = (
    SummaryColumns,
    Text,
    Array<Text>,
    Bool,
    Bool,
    BigInt,
    Nullable<CustomerNameColumns>,
    Array<SqlUuid>,
    Array<BigInt>,
    Array<Text>,
    Timestamptz,
);

/// A row of [`detail`].
#[derive(Debug, Queryable)]
pub(crate) struct DetailRow {
    summary: SummaryRow,
    description: String,
    tags: Vec<String>,
    private: bool,
    awaiting_approval: bool,
    comments_count: i64,
    author: Option<CustomerNameRow>,
    merged_ids: Vec<Uuid>,
    merged_numbers: Vec<i64>,
    merged_titles: Vec<String>,
    updated_at: TimestampColumn,
}

impl TryFrom<DetailRow> for FeatureRequestDetail {
    type Error = StoreError;

    fn try_from(row: DetailRow) -> Result<Self, StoreError> {
        let id = row.summary.id;
        let merged = row.merged_ids.into_iter().zip(row.merged_numbers).zip(row.merged_titles);
        Ok(Self {
            summary: row.summary.try_into()?,
            description: CleanHtml::from_stored(row.description),
            tags: row.tags.into_iter().map(Tag::from_stored).collect(),
            private: row.private,
            awaiting_approval: row.awaiting_approval,
            comments_count: row.comments_count,
            author: row.author.map(customer_name),
            merged: merged.map(|((id, tag_number), title)| request_link((id, tag_number, title))).collect(),
            updated_at: row.updated_at.into_timestamp("feature_requests", "updated_at", id)?,
        })
    }
}

/// The types of ID, name and address of a customer.
pub(crate) type CustomerNameColumns = (SqlUuid, Nullable<Text>, Text);
pub(crate) type CustomerNameRow = (Uuid, Option<String>, String);

/// Converts a row of [`CustomerNameColumns`].
pub(crate) fn customer_name((id, name, email): CustomerNameRow) -> CustomerName {
    CustomerName { id: CustomerId::new(id), name: name.map(Name::from_stored), email: EmailAddress::from_stored(email) }
}

/// The types of a customer: ID, name, address, number of votes, timestamps of the creation and of the block.
pub(crate) type CustomerColumns = (CustomerNameColumns, BigInt, Timestamptz, Nullable<Timestamptz>);
pub(crate) type CustomerRow = (CustomerNameRow, i64, TimestampColumn, Option<TimestampColumn>);

/// Converts a row of [`CustomerColumns`].
pub(crate) fn customer((name, votes_count, created_at, blocked_at): CustomerRow) -> Result<Customer, StoreError> {
    let created_at = created_at.into_timestamp("customers", "created_at", name.0)?;
    let blocked_at = optional_timestamp(blocked_at, "customers", "blocked_at", name.0)?;
    Ok(Customer { customer: customer_name(name), votes_count, created_at, blocked_at })
}

/// The SQL expression of the number of feature requests that a customer voted for, in a statement with the parameter
/// `workspace`. What is merged counts once.
macro_rules! votes_of {
    ($customer:literal) => {
        concat!(
            "CASE WHEN EXISTS (SELECT FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL)
             THEN (SELECT count(DISTINCT coalesce(vote_tallies.root_id, votes.request_id)) FROM votes
                   JOIN vote_tallies ON vote_tallies.workspace_id = {workspace}
                                    AND vote_tallies.request_id = votes.request_id
                   WHERE votes.workspace_id = {workspace} AND votes.customer_id = ",
            $customer,
            ")
             ELSE (SELECT count(*) FROM votes WHERE workspace_id = {workspace} AND customer_id = ",
            $customer,
            ") END"
        )
    };
}
pub(crate) use votes_of;

/// The types of ID, tag number and title of a feature request.
pub(crate) type LinkColumns = (SqlUuid, BigInt, Text);
pub(crate) type LinkRow = (Uuid, i64, String);

/// Converts a row of [`LinkColumns`].
pub(crate) fn request_link((id, tag_number, title): LinkRow) -> RequestLink {
    RequestLink { id: FeatureRequestId::new(id), tag_number, title: Title::from_stored(title) }
}

/// The types of a listed comment: ID, content, whether a customer wrote it, the author's name, the timestamps of creation
/// and last change, and the merged feature request that it was written on.
pub(crate) type CommentColumns = (SqlUuid, Text, Bool, Nullable<Text>, Timestamptz, Timestamptz, Nullable<LinkColumns>);
pub(crate) type CommentRow = (Uuid, String, bool, Option<String>, TimestampColumn, TimestampColumn, Option<LinkRow>);

/// Converts a row of [`CommentColumns`].
pub(crate) fn listed_comment(row: CommentRow) -> Result<ListedComment, StoreError> {
    let (id, content, is_customer, name, created_at, updated_at, from) = row;
    let name = name.map(Name::from_stored);
    Ok(ListedComment {
        comment: Comment {
            id: CommentId::new(id),
            content: CleanHtml::from_stored(content),
            created_at: created_at.into_timestamp("comments", "created_at", id)?,
        },
        author: if is_customer { PublicAuthor::Customer(name) } else { PublicAuthor::Member(name) },
        from: from.map(request_link),
        updated_at: updated_at.into_timestamp("comments", "updated_at", id)?,
    })
}

/// The types of a changelog, with the ID and the name of its cover.
pub(crate) type ChangelogColumns =
    (SqlUuid, Text, Text, Nullable<Timestamptz>, Timestamptz, Timestamptz, Nullable<SqlUuid>, Nullable<Text>);
pub(crate) type ChangelogRow =
    (Uuid, String, String, Option<TimestampColumn>, TimestampColumn, TimestampColumn, Option<Uuid>, Option<String>);

/// Converts a row of [`ChangelogColumns`].
pub(crate) fn changelog(row: ChangelogRow) -> Result<Changelog, StoreError> {
    let (id, title, content, public_from, created_at, updated_at, cover, filename) = row;
    Ok(Changelog {
        id: ChangelogId::new(id),
        title: Title::from_stored(title),
        content: CleanHtml::from_stored(content),
        cover: cover.zip(filename).map(|(attachment, filename)| CoverImage {
            attachment: AttachmentId::new(attachment),
            filename: Filename::from_stored(filename),
        }),
        public_from: optional_timestamp(public_from, "changelogs", "published_at", id)?,
        created_at: created_at.into_timestamp("changelogs", "created_at", id)?,
        updated_at: updated_at.into_timestamp("changelogs", "updated_at", id)?,
    })
}

/// The columns of an attachment.
#[auto_type]
pub(crate) fn attachment_columns() -> _ {
    (
        attachments::id,
        attachments::filename,
        attachments::content_type,
        attachments::byte_size,
        attachments::checksum,
        attachments::key,
        attachments::service_name,
        attachments::width,
        attachments::height,
        attachments::created_at,
    )
}

/// A row of [`attachment_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct AttachmentRow {
    id: Uuid,
    filename: String,
    content_type: String,
    byte_size: i64,
    checksum: Vec<u8>,
    key: String,
    service_name: String,
    width: Option<i64>,
    height: Option<i64>,
    created_at: TimestampColumn,
}

impl TryFrom<AttachmentRow> for Attachment {
    type Error = StoreError;

    fn try_from(row: AttachmentRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("attachments", column, row.id);
        Ok(Self {
            id: AttachmentId::new(row.id),
            filename: Filename::from_stored(row.filename),
            media_type: MediaType::from_stored(row.content_type),
            byte_size: row.byte_size.unsigned_abs(),
            checksum: Checksum(row.checksum.try_into().map_err(|_| broken("checksum"))?),
            key: BlobKey::parse(&row.key).ok_or_else(|| broken("key"))?,
            service_name: row.service_name,
            dimensions: Dimensions::from_stored(row.width, row.height),
            created_at: row.created_at.into_timestamp("attachments", "created_at", row.id)?,
        })
    }
}

/// The columns of a member.
#[auto_type]
pub(crate) fn member_columns() -> _ {
    (members::id, members::email, members::name, members::role, members::created_at)
}

/// A row of [`member_columns()`].
pub(crate) type MemberRow = (Uuid, String, String, String, TimestampColumn);

/// Converts a row of [`member_columns()`].
pub(crate) fn member((id, email, name, role, created_at): MemberRow) -> Result<Member, StoreError> {
    Ok(Member {
        id: MemberId::new(id),
        email: EmailAddress::from_stored(email),
        name: Name::from_stored(name),
        role: Role::from_name(&role).ok_or_else(|| inconsistent("members", "role", id))?,
        created_at: created_at.into_timestamp("members", "created_at", id)?,
    })
}

/// Tracks with their lanes.
#[auto_type]
pub(crate) fn mapped_tracks() -> _ {
    tracks::table
        .left_join(
            lanes::table.on(lanes::workspace_id.eq(tracks::workspace_id).and(lanes::id.nullable().eq(tracks::lane_id))),
        )
        .select((tracks::id, tracks::name, lanes::id.nullable(), lanes::name.nullable()))
}

/// A row of [`mapped_tracks()`].
#[derive(Debug, Queryable)]
pub(crate) struct TrackRow {
    id: Uuid,
    name: String,
    lane_id: Option<Uuid>,
    lane_name: Option<String>,
}

impl From<TrackRow> for Track {
    fn from(row: TrackRow) -> Self {
        let lane = row.lane_id.zip(row.lane_name);
        Self {
            id: TrackId::new(row.id),
            name: Name::from_stored(row.name),
            lane: lane.map(|(id, name)| Lane { id: LaneId::new(id), name: Name::from_stored(name) }),
        }
    }
}

/// The columns of an API key.
#[auto_type]
pub(crate) fn api_key_columns() -> _ {
    (
        api_keys::id,
        api_keys::name,
        api_keys::last_four,
        api_keys::can_read,
        api_keys::can_write,
        api_keys::can_manage,
        api_keys::created_at,
        api_keys::expires_at,
        api_keys::revoked_at,
        api_keys::last_used_at,
        api_keys::made_by,
    )
}

/// A row of [`api_key_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct ApiKeyRow {
    id: Uuid,
    name: String,
    last_four: String,
    can_read: bool,
    can_write: bool,
    can_manage: bool,
    created_at: TimestampColumn,
    expires_at: Option<TimestampColumn>,
    revoked_at: Option<TimestampColumn>,
    last_used_at: Option<TimestampColumn>,
    made_by: Option<Uuid>,
}

impl TryFrom<ApiKeyRow> for ApiKey {
    type Error = StoreError;

    fn try_from(row: ApiKeyRow) -> Result<Self, StoreError> {
        let optional = |timestamp, column| optional_timestamp(timestamp, "api_keys", column, row.id);
        Ok(Self {
            id: ApiKeyId::new(row.id),
            name: Name::from_stored(row.name),
            last_four: row.last_four,
            scopes: Scopes { read: row.can_read, write: row.can_write, manage: row.can_manage },
            created_at: row.created_at.into_timestamp("api_keys", "created_at", row.id)?,
            expires_at: optional(row.expires_at, "expires_at")?,
            revoked_at: optional(row.revoked_at, "revoked_at")?,
            last_used_at: optional(row.last_used_at, "last_used_at")?,
            made_by: row.made_by.map(MemberId::new),
        })
    }
}
