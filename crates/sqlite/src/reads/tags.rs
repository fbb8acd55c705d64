//! The tags of all feature requests.

use async_trait::async_trait;
use diesel::prelude::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::Tag;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::model::tag::{ListedTag, TagQuery};
use roadmap_domain::ports::TagReader;
use roadmap_store::columns::Id;

use crate::SqliteStore;
use crate::reads::listing::{Page, listing};
use crate::statement::statement;

/// SQL for the merged feature requests of a workspace, as a common table expression. There is another one, `scope`, with the
/// workspace.
macro_rules! merged_requests {
    () => {
        "merged (id) AS MATERIALIZED (
             SELECT id FROM feature_requests INDEXED BY feature_requests_by_root
             WHERE workspace_id = (SELECT workspace FROM scope) AND root_id IS NOT NULL
         )"
    };
}

/// SQL for a tag as the newest feature request has it, by its folded name. IDs begin with the timestamp of the creation.
macro_rules! newest_spelling {
    ($folded:literal) => {
        concat!(
            "(SELECT newest.tag FROM feature_request_tags newest INDEXED BY feature_request_tags_by_tag
              WHERE newest.workspace_id = scope.workspace AND newest.tag_folded = ",
            $folded,
            " ORDER BY newest.request_id DESC LIMIT 1)"
        )
    };
}

statement! {
    /// Selects a page of the tags whose folded names contain a text, which may be empty, most used first.
    TagsPage { workspace: Id => Binary, part: String => Text, limit: i64 => BigInt, offset: i64 => BigInt }
        -> (Text, BigInt),
    concat!(
        "WITH scope (workspace, part) AS (SELECT ?, ?), ", merged_requests!(), ",
         page (folded, uses) AS MATERIALIZED (
             SELECT tag_folded, count(*) FILTER (WHERE request_id NOT IN (SELECT id FROM merged)) AS uses
             FROM feature_request_tags INDEXED BY feature_request_tags_by_tag
             WHERE workspace_id = (SELECT workspace FROM scope) AND instr(tag_folded, (SELECT part FROM scope)) > 0
             GROUP BY tag_folded ORDER BY uses DESC, tag_folded LIMIT ? OFFSET ?
         )
         SELECT ", newest_spelling!("page.folded"), ", page.uses
         FROM scope CROSS JOIN page ORDER BY page.uses DESC, page.folded"
    )
}

statement! {
    /// Counts the tags whose folded names contain a text, which may be empty.
    CountTags { workspace: Id => Binary, part: String => Text } -> BigInt,
    "SELECT count(*) FROM (
         SELECT DISTINCT tag_folded FROM feature_request_tags INDEXED BY feature_request_tags_by_tag
         WHERE workspace_id = ? AND instr(tag_folded, ?) > 0
     )"
}

statement! {
    /// Selects a tag by its folded name, with the number of its feature requests. Without any, the tag is NULL.
    FindTag { workspace: Id => Binary, folded: String => Text } -> (Nullable<Text>, BigInt),
    concat!(
        "WITH scope (workspace, folded) AS (SELECT ?, ?), ", merged_requests!(), "
         SELECT ", newest_spelling!("scope.folded"), ", (
             SELECT count(*) FROM feature_request_tags used INDEXED BY feature_request_tags_by_tag
             WHERE used.workspace_id = scope.workspace AND used.tag_folded = scope.folded
               AND used.request_id NOT IN (SELECT id FROM merged)
         )
         FROM scope"
    )
}

statement! {
    /// Selects the tags that are used most among the last ones of the newest feature requests.
    KnownTags { workspace: Id => Binary, scan_limit: i64 => BigInt, limit: i64 => BigInt } -> Text,
    concat!(
        "WITH scope (workspace, scan_limit) AS (SELECT ?, ?),
         latest (folded) AS MATERIALIZED (
             SELECT tag_folded FROM feature_request_tags
             WHERE workspace_id = (SELECT workspace FROM scope)
             ORDER BY request_id DESC, position DESC LIMIT (SELECT scan_limit FROM scope)
         ),
         known (folded, uses) AS MATERIALIZED (
             SELECT folded, count(*) AS uses FROM latest GROUP BY folded ORDER BY uses DESC, folded LIMIT ?
         )
         SELECT ", newest_spelling!("known.folded"), " FROM scope CROSS JOIN known ORDER BY known.uses DESC, known.folded"
    )
}

/// Converts the row of a tag. `None` if no feature request has the tag.
pub(crate) fn found_tag((tag, count): (Option<String>, i64)) -> Option<ListedTag> {
    tag.map(|tag| ListedTag { name: Tag::from_stored(tag), feature_requests_count: count })
}

#[async_trait]
impl TagReader for SqliteStore {
    async fn tags(
        &self,
        workspace: WorkspaceId,
        query: Option<&TagQuery>,
        page: PageRequest,
    ) -> Result<Listing<ListedTag>, StoreError> {
        let workspace = Id(workspace.uuid());
        let part = query.map(TagQuery::folded).unwrap_or_default().to_owned();
        let rows: Page<(String, i64)> = self
            .readers
            .run_in_snapshot(move |connection| {
                let total: i64 = CountTags { workspace, part: part.clone() }.get_result(connection)?;
                let Some(offset) = page.offset() else { return Ok((Vec::new(), total)) };
                let rows = TagsPage { workspace, part, limit: page.limit(), offset }.load(connection)?;
                Ok((rows, total))
            })
            .await?;
        listing(rows, page, |(name, feature_requests_count)| {
            Ok(ListedTag { name: Tag::from_stored(name), feature_requests_count })
        })
    }

    async fn tag(&self, workspace: WorkspaceId, name: &Tag) -> Result<Option<ListedTag>, StoreError> {
        let find = FindTag { workspace: Id(workspace.uuid()), folded: name.folded() };
        let row: (Option<String>, i64) = self.readers.run(move |connection| Ok(find.get_result(connection)?)).await?;
        Ok(found_tag(row))
    }

    async fn known_tags(&self, workspace: WorkspaceId, scan_limit: u32, limit: u32) -> Result<Vec<Tag>, StoreError> {
        let known = KnownTags { workspace: Id(workspace.uuid()), scan_limit: scan_limit.into(), limit: limit.into() };
        let tags: Vec<String> = self.readers.run(move |connection| Ok(known.load(connection)?)).await?;
        Ok(tags.into_iter().map(Tag::from_stored).collect())
    }
}
