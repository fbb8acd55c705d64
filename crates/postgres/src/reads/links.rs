//! Links of feature requests.

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Nullable, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::feature_request::FeatureRequestRef;
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::link::Link;
use roadmap_domain::model::pagination::{Listing, PageRequest};
use roadmap_domain::ports::LinkReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::IssueLinkRow;
use uuid::Uuid;

use crate::PostgresReader;
use crate::reads::listing::{BEYOND, existing_listing};
use crate::rows::{IssueLinkColumns, issue_links};
use crate::statement::{id_or_number, members, resolved, statement};

statement! {
    /// Selects the number of links of a feature request and of everything that is merged into it, with a page of them.
    /// Returns no row if the feature request does not exist.
    LinksPage {
        workspace: Uuid => SqlUuid,
        request: Option<Uuid> => Nullable<SqlUuid>,
        number: Option<i64> => Nullable<BigInt>,
        at: TimestampColumn => Timestamptz,
        after: Uuid => SqlUuid,
        limit: i64 => BigInt,
        offset: i64 => BigInt,
    } -> (BigInt, Nullable<IssueLinkColumns>),
    concat!("WITH roots AS MATERIALIZED (
         SELECT id FROM feature_requests WHERE workspace_id = {workspace} AND id = ", resolved!(), "
     ), ", members!(), ", total AS (
         SELECT count(*) AS total FROM members
         JOIN links ON links.workspace_id = {workspace} AND links.request_id = members.id
     ), page AS MATERIALIZED (
         SELECT links.* FROM members
         JOIN links ON links.workspace_id = {workspace} AND links.request_id = members.id
         WHERE (links.created_at, links.id) > ({at}, {after})
         ORDER BY links.created_at, links.id LIMIT {limit} OFFSET {offset}
     ), listed AS (", issue_links!("page"), ")
     SELECT total, listed.* FROM roots CROSS JOIN total LEFT JOIN listed ON true
     ORDER BY listed.created_at, listed.id")
}

#[async_trait]
impl LinkReader for PostgresReader {
    async fn links(
        &self,
        workspace: WorkspaceId,
        request: &FeatureRequestRef,
        page: PageRequest,
    ) -> Result<Option<Listing<Link>>, StoreError> {
        let Some((request, number)) = id_or_number(request) else { return Ok(None) };
        let session = self.session(workspace).await?;
        let (at, after) = page.after();
        let links = LinksPage {
            workspace: workspace.uuid(),
            request,
            number,
            at: at.into(),
            after,
            limit: page.limit(),
            offset: page.offset().unwrap_or(BEYOND),
        };
        let rows: Vec<(i64, Option<IssueLinkRow>)> = session.run(links.load(&mut session.connection()?)).await?;
        existing_listing(rows, page, Link::try_from)
    }
}
