//! Link sources.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{LinkSourceId, WorkspaceId};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::ports::LinkSourceReader;
use roadmap_store::rows::{LinkSourceRow, sealed_link_source};

use crate::PostgresReader;
use crate::rows::link_source_columns;
use crate::schema::link_sources;

#[async_trait]
impl LinkSourceReader for PostgresReader {
    async fn link_sources(&self, workspace: WorkspaceId) -> Result<Vec<LinkSource>, StoreError> {
        let session = self.session(workspace).await?;
        let select = link_sources::table
            .filter(link_sources::workspace_id.eq(workspace.uuid()))
            .order((link_sources::created_at, link_sources::id))
            .select(link_source_columns());
        let rows: Vec<LinkSourceRow> = session.run(select.load(&mut session.connection()?)).await?;
        rows.into_iter().map(LinkSource::try_from).collect()
    }

    async fn sealed_link_source(
        &self,
        workspace: WorkspaceId,
        source: LinkSourceId,
    ) -> Result<Option<(LinkSource, String)>, StoreError> {
        let session = self.session(workspace).await?;
        let select = link_sources::table
            .filter(link_sources::workspace_id.eq(workspace.uuid()))
            .filter(link_sources::id.eq(source.uuid()))
            .select((link_source_columns(), link_sources::sealed_secret));
        let row: Option<(LinkSourceRow, String)> =
            session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map(sealed_link_source).transpose()
    }
}
