//! Link sources.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{LinkSourceId, WorkspaceId};
use roadmap_domain::model::link_source::LinkSource;
use roadmap_domain::ports::LinkSourceReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{LinkSourceRow, sealed_link_source};

use crate::SqliteStore;
use crate::errors::SqlError;
use crate::rows::link_source_columns;
use crate::schema::link_sources;

/// A link source with its sealed secret.
pub(crate) type SealedRow = (LinkSourceRow, String);

/// Selects the link sources of a workspace with their sealed secrets, oldest first.
pub(crate) fn sealed_link_sources(
    connection: &mut SqliteConnection,
    workspace: Id,
) -> Result<Vec<SealedRow>, SqlError> {
    let of_workspace = link_sources::table.filter(link_sources::workspace_id.eq(workspace));
    let ordered = of_workspace.order((link_sources::created_at, link_sources::id));
    Ok(ordered.select((link_source_columns(), link_sources::sealed_secret)).load(connection)?)
}

#[async_trait]
impl LinkSourceReader for SqliteStore {
    async fn link_sources(&self, workspace: WorkspaceId) -> Result<Vec<LinkSource>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows = self.readers.run(move |connection| sealed_link_sources(connection, workspace)).await?;
        rows.into_iter().map(|(row, _)| row.try_into()).collect()
    }

    async fn sealed_link_source(
        &self,
        workspace: WorkspaceId,
        source: LinkSourceId,
    ) -> Result<Option<(LinkSource, String)>, StoreError> {
        let (workspace, source) = (Id(workspace.uuid()), Id(source.uuid()));
        let select = move |connection: &mut _| {
            let row = link_sources::table.find((workspace, source));
            let row = row.select((link_source_columns(), link_sources::sealed_secret));
            Ok(row.first::<SealedRow>(connection).optional()?)
        };
        let row: Option<SealedRow> = self.readers.run(select).await?;
        row.map(sealed_link_source).transpose()
    }
}
