//! The tags of all feature requests.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, Text, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::tag::{ListedTag, TagQuery};
use roadmap_domain::ports::TagReader;
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, listing};
use crate::statement::statement;

/// The SQL expression of a tag as the newest feature request has it, by its folded name, in a statement with the parameter
/// `workspace`. IDs begin with the timestamp of the creation.
macro_rules! newest_spelling {
    ($folded:literal) => {
        concat!(
            "(SELECT newest.tag FROM feature_request_tags AS newest
              WHERE newest.workspace_id = {workspace} AND newest.tag_folded = ",
            $folded,
            " ORDER BY newest.request_id DESC LIMIT 1)"
        )
    };
}

statement! {
    /// Selects the number of tags whose folded names contain a text, which may be empty, with a page of them, most used
    /// first.
    TagsPage { workspace: Uuid => SqlUuid, part: String => Text, limit: i64 => BigInt, offset: i64 => BigInt }
        -> (BigInt, Nullable<(Text, BigInt)>),
    concat!("WITH merged AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL
     ), used AS MATERIALIZED (
         SELECT tag_folded COLLATE \"C\" AS folded,
                count(*) FILTER (WHERE request_id NOT IN (SELECT id FROM merged)) AS uses
         FROM feature_request_tags
         WHERE workspace_id = {workspace} AND strpos(tag_folded, {part}) > 0
         GROUP BY tag_folded
     ), page AS MATERIALIZED (
         SELECT folded, uses FROM used ORDER BY uses DESC, folded LIMIT {limit} OFFSET {offset}
     ), listed AS (
         SELECT ", newest_spelling!("page.folded"), " AS tag, uses, folded FROM page
     )
     SELECT total, listed.tag, listed.uses FROM (SELECT count(*) AS total FROM used) AS counted
     LEFT JOIN listed ON true ORDER BY listed.uses DESC, listed.folded")
}

statement! {
    /// Selects a tag by its folded name, with the number of its feature requests. Without any, the tag is NULL.
    FindTag { workspace: Uuid => SqlUuid, folded: String => Text } -> (Nullable<Text>, BigInt),
    concat!("SELECT ", newest_spelling!("{folded}"), ", (
         SELECT count(*) FROM feature_request_tags
         WHERE workspace_id = {workspace} AND tag_folded = {folded} AND request_id NOT IN (
             SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND root_id IS NOT NULL
         )
     )")
}

statement! {
    /// Selects the tags that are used most among the last ones of the newest feature requests.
    KnownTags { workspace: Uuid => SqlUuid, scan_limit: i64 => BigInt, limit: i64 => BigInt } -> Text,
    concat!("WITH latest AS MATERIALIZED (
         SELECT tag_folded COLLATE \"C\" AS folded FROM feature_request_tags
         WHERE workspace_id = {workspace} ORDER BY request_id DESC, position DESC LIMIT {scan_limit}
     ), known AS MATERIALIZED (
         SELECT folded, count(*) AS uses FROM latest GROUP BY folded ORDER BY uses DESC, folded LIMIT {limit}
     )
     SELECT ", newest_spelling!("known.folded"), " FROM known ORDER BY uses DESC, folded")
}

/// Converts the row of a tag. `None` if no feature request has the tag.
pub(crate) fn found_tag((tag, count): (Option<String>, i64)) -> Option<ListedTag> {
    tag.map(|tag| ListedTag { name: Tag::from_stored(tag), feature_requests_count: count })
}

#[async_trait]
impl TagReader for PostgresReader {
    async fn tags(
        &self,
        workspace: WorkspaceId,
        query: Option<&TagQuery>,
        page: PageRequest,
    ) -> Result<Listing<ListedTag>, StoreError> {
        let session = self.session(workspace).await?;
        let tags = TagsPage {
            workspace: workspace.uuid(),
            part: query.map(TagQuery::folded).unwrap_or_default().to_owned(),
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<(String, i64)>)> = session.run(tags.load(&mut session.connection()?)).await?;
        listing(rows, page, |(name, feature_requests_count)| {
            Ok(ListedTag { name: Tag::from_stored(name), feature_requests_count })
        })
    }

    async fn tag(&self, workspace: WorkspaceId, name: &Tag) -> Result<Option<ListedTag>, StoreError> {
        let session = self.session(workspace).await?;
        let find = FindTag { workspace: workspace.uuid(), folded: name.folded() };
        let row: (Option<String>, i64) = session.run(find.get_result(&mut session.connection()?)).await?;
        Ok(found_tag(row))
    }

    async fn known_tags(&self, workspace: WorkspaceId, scan_limit: u32, limit: u32) -> Result<Vec<Tag>, StoreError> {
        let session = self.session(workspace).await?;
        let known = KnownTags { workspace: workspace.uuid(), scan_limit: scan_limit.into(), limit: limit.into() };
        let tags: Vec<String> = session.run(known.load(&mut session.connection()?)).await?;
        Ok(tags.into_iter().map(Tag::from_stored).collect())
    }
}
