//! Links of feature requests.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{RunQueryDsl, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::link::Link;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::ports::LinkReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::IssueLinkRow;

use crate::SqliteStore;
use crate::codec::json_ids;
use crate::errors::SqlError;
use crate::reads::listing::{Page, listing};
use crate::rows::find_summary;
use crate::statement::statement;
use crate::trees::{LinkSql, tree_members};

/// The types of the columns of a link: ID, URL, title, state, timestamps, and the merged feature request that it belongs
/// to.
pub(crate) type IssueLinkSql = (Binary, Text, Nullable<Text>, Nullable<Text>, BigInt, BigInt, Nullable<LinkSql>);

/// SQL for the columns of a link of [`link_owners!`].
macro_rules! link_columns {
    () => {
        "links.id, links.url, links.title, links.state, links.created_at, links.updated_at,
         source.id, source.tag_number, source.title"
    };
}
pub(crate) use link_columns;

/// SQL that joins links with the merged feature requests that they belong to.
macro_rules! link_owners {
    () => {
        " LEFT JOIN feature_requests source ON source.workspace_id = links.workspace_id
                AND source.id = links.request_id AND source.root_id IS NOT NULL "
    };
}
pub(crate) use link_owners;

statement! {
    /// Selects links of the feature requests of a JSON array, oldest first.
    Links {
        workspace: Id => Binary, requests: String => Text, at: i64 => BigInt, after: Id => Binary, limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> IssueLinkSql,
    concat!(
        "SELECT ", link_columns!(), "
         FROM (SELECT rowid AS number FROM links
               WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?))
                 AND (created_at, id) > (?, ?)
               ORDER BY created_at, id LIMIT ? OFFSET ?) AS page
         CROSS JOIN links ON links.rowid = page.number", link_owners!(), "
         ORDER BY links.created_at, links.id"
    )
}

statement! {
    /// Counts the links of the feature requests of a JSON array.
    CountLinks { workspace: Id => Binary, requests: String => Text } -> BigInt,
    "SELECT count(*) FROM links WHERE workspace_id = ? AND request_id IN (SELECT unhex(value) FROM json_each(?))"
}

fn load_links(
    connection: &mut SqliteConnection,
    workspace: Id,
    request: &FeatureRequestRef,
    page: PageRequest,
) -> Result<Option<Page<IssueLinkRow>>, SqlError> {
    let Some(root) = find_summary(connection, workspace, request)?.map(|row| row.id) else { return Ok(None) };
    let requests = json_ids(&tree_members(connection, workspace, root)?);
    let total: i64 = CountLinks { workspace, requests: requests.clone() }.get_result(connection)?;
    let Some(offset) = page.offset() else { return Ok(Some((Vec::new(), total))) };
    let (at, after) = page.after();
    let links = Links { workspace, requests, at: at.millis(), after: Id(after), limit: page.limit(), offset };
    Ok(Some((links.load(connection)?, total)))
}

#[async_trait]
impl LinkReader for SqliteStore {
    async fn links(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Link>>, StoreError> {
        let (workspace, request) = (Id(workspace.uuid()), *request);
        let load = move |connection: &mut SqliteConnection| load_links(connection, workspace, &request, page);
        let rows = self.readers.run_in_snapshot(load).await?;
        rows.map(|rows| listing(rows, page, Link::try_from)).transpose()
    }
}
