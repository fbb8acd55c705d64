//! Columns that several statements share, and the row of a feature request with all of its fields.

use diesel::Queryable;
use diesel::dsl::auto_type;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, NullableExpressionMethods, QueryDsl};
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::{FeatureRequestDetail, Tag};
use roadmap_domain::model::html::CleanHtml;
use roadmap_store::columns::{Id, TimestampColumn};
use roadmap_store::rows::{CustomerNameRow, LinkRow, SummaryRow};
use uuid::Uuid;

use crate::schema::{
    api_keys, attachments, audit_entries, feature_requests, lanes, link_sources, members, portal_settings, sign_ins,
    tracks, vote_tallies, webhooks,
};
use crate::statement::{placed, resolved, statement, summary};

roadmap_store::declare_columns!();

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

/// The types of [`summary_columns()`], for statements written in SQL.
pub(crate) type SummaryColumns = (SqlUuid, BigInt, Text, Text, Nullable<Text>, BigInt, Timestamptz);

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
    merged_ids: Vec<Id>,
    merged_numbers: Vec<i64>,
    merged_titles: Vec<String>,
    updated_at: TimestampColumn,
}

impl TryFrom<DetailRow> for FeatureRequestDetail {
    type Error = StoreError;

    fn try_from(row: DetailRow) -> Result<Self, StoreError> {
        let id = row.summary.id;
        let merged = row.merged_ids.into_iter().zip(row.merged_numbers).zip(row.merged_titles);
        let merged = merged.map(|((id, tag_number), title)| LinkRow { id, tag_number, title }.into());
        Ok(Self {
            summary: row.summary.try_into()?,
            description: CleanHtml::from_stored(row.description),
            tags: row.tags.into_iter().map(Tag::from_stored).collect(),
            private: row.private,
            awaiting_approval: row.awaiting_approval,
            comments_count: row.comments_count,
            author: row.author.map(Into::into),
            merged: merged.collect(),
            updated_at: row.updated_at.into_timestamp("feature_requests", "updated_at", id)?,
        })
    }
}

/// The types of ID, name and address of a customer.
pub(crate) type CustomerNameColumns = (SqlUuid, Nullable<Text>, Text);

/// The types of a customer: ID, name, address, number of votes, timestamps of the creation and of the block.
pub(crate) type CustomerColumns = (CustomerNameColumns, BigInt, Timestamptz, Nullable<Timestamptz>);

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

/// The types of a listed comment: ID, content, whether a customer wrote it, the author's name, the timestamps of creation
/// and last change, and the merged feature request that it was written on.
pub(crate) type CommentColumns = (SqlUuid, Text, Bool, Nullable<Text>, Timestamptz, Timestamptz, Nullable<LinkColumns>);

/// The types of a link: ID, URL, title, state, the timestamps of creation and last change, and the merged feature request
/// that it belongs to.
pub(crate) type IssueLinkColumns =
    (SqlUuid, Text, Nullable<Text>, Nullable<Text>, Timestamptz, Timestamptz, Nullable<LinkColumns>);

/// The SQL of the links of a table or common table expression, in a statement with the parameter `workspace`.
macro_rules! issue_links {
    ($links:literal) => {
        concat!(
            "SELECT link.id, url, link.title, state, link.created_at, link.updated_at, source.id AS source_id,
                source.tag_number, source.title AS source_title
         FROM ",
            $links,
            " AS link
         LEFT JOIN feature_requests AS source
                ON source.workspace_id = {workspace} AND source.id = link.request_id AND source.root_id IS NOT NULL"
        )
    };
}
pub(crate) use issue_links;

/// The types of a changelog, with the ID and the name of its cover.
pub(crate) type ChangelogColumns =
    (SqlUuid, Text, Text, Nullable<Timestamptz>, Timestamptz, Timestamptz, Nullable<Text>, Nullable<(SqlUuid, Text)>);

/// The types of `webhook_columns`, for statements written in SQL.
pub(crate) type WebhookColumns = (
    SqlUuid,
    Text,
    Text,
    Text,
    Text,
    Nullable<Text>,
    Bool,
    Bool,
    Bool,
    Nullable<Text>,
    Timestamptz,
    Nullable<Timestamptz>,
    Nullable<Timestamptz>,
    Integer,
    Timestamptz,
    Timestamptz,
);

/// The SQL of the columns of a webhook, which are those of `webhook_columns`.
macro_rules! webhook {
    () => {
        "webhooks.id, webhooks.sealed_url, webhooks.sealed_secrets, webhooks.description, webhooks.format,
         webhooks.events, webhooks.include_private, webhooks.include_emails, webhooks.enabled,
         webhooks.disabled_because, webhooks.enabled_at, webhooks.disabled_at, webhooks.failing_since,
         webhooks.failed_tries, webhooks.created_at, webhooks.updated_at"
    };
}
pub(crate) use webhook;

/// The types of an event: ID, kind, the actor's kind, ID and name, what the operation says of it and its records as JSON,
/// and its timestamp.
pub(crate) type StoredEventColumns = (SqlUuid, Text, Text, Nullable<SqlUuid>, Text, Text, Text, Timestamptz);

/// The SQL of the columns of an event.
macro_rules! stored_event {
    () => {
        "webhook_events.id, webhook_events.kind, webhook_events.actor_kind, webhook_events.actor_id,
         webhook_events.actor_name, webhook_events.data::text AS data, webhook_events.snapshot::text AS snapshot,
         webhook_events.created_at"
    };
}
pub(crate) use stored_event;

/// The types of a try of a delivery: its timestamp, the status, the error, the duration, and the response.
type AttemptColumns = (Timestamptz, Nullable<Integer>, Nullable<Text>, BigInt, Nullable<Text>);

/// The types of a delivery: the ID of its event, the type that is sent, what is included, the state, the failure, the number
/// of tries, when it is due, the timestamp of the event, and the last try.
pub(crate) type DeliveryColumns = (
    SqlUuid,
    Text,
    Bool,
    Bool,
    Text,
    Nullable<Text>,
    Integer,
    Nullable<Timestamptz>,
    Timestamptz,
    Nullable<AttemptColumns>,
);

/// The columns of the settings of a portal.
#[auto_type]
pub(crate) fn portal_columns() -> _ {
    (
        portal_settings::access,
        portal_settings::mail_domains,
        portal_settings::is_indexed,
        portal_settings::embed_origins,
        portal_settings::languages,
        portal_settings::holds_posts,
        portal_settings::accent,
        portal_settings::logo_attachment_id,
        portal_settings::reply_to,
        portal_settings::time_zone,
        portal_settings::welcome_text,
        portal_settings::form_question,
        portal_settings::noun,
    )
}
