//! The directory of workspaces and their API keys.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Credential, KeyDigest, LAST_USE_PRECISION};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::WorkspaceDirectory;
use roadmap_store::columns::{TimestampColumn, inconsistent};
use roadmap_store::rows::ApiKeyRow;
use uuid::Uuid;

use crate::PostgresStore;
use crate::rows::api_key_columns;
use crate::schema::{api_keys, workspaces};
use crate::session::NO_WORKSPACE;

/// Converts rows to workspaces.
fn listed(rows: Vec<(Uuid, String)>) -> Vec<Workspace> {
    let workspace = |(id, subdomain): (Uuid, String)| {
        let id = WorkspaceId::new(id);
        Workspace { id, subdomain: Subdomain::from_stored(subdomain) }
    };
    rows.into_iter().map(workspace).collect()
}

#[async_trait]
impl WorkspaceDirectory for PostgresStore {
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError> {
        let Some(workspace) = self.workspace(subdomain).await? else { return Ok(None) };
        let session = self.session(workspace.id).await?;
        let key = api_keys::table
            .filter(api_keys::workspace_id.eq(workspace.id.uuid()))
            .filter(api_keys::digest.eq(digest.0.as_slice()))
            .select(api_key_columns());
        let row: Option<ApiKeyRow> = session.run_optional(key.first(&mut session.connection()?)).await?;
        row.map(|key| Ok(Credential { workspace, key: key.try_into()? })).transpose()
    }

    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError> {
        let session = self.session(credential.workspace.id).await?;
        let stale = TimestampColumn::from(at.plus(-LAST_USE_PRECISION));
        let record = diesel::update(api_keys::table)
            .filter(api_keys::workspace_id.eq(credential.workspace.id.uuid()))
            .filter(api_keys::id.eq(credential.key.id.uuid()))
            .filter(api_keys::last_used_at.is_null().or(api_keys::last_used_at.le(stale)))
            .set(api_keys::last_used_at.eq(TimestampColumn::from(at)));
        session.run(record.execute(&mut session.connection()?)).await?;
        Ok(())
    }

    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let id = workspaces::table.filter(workspaces::subdomain.eq(subdomain.as_str())).select(workspaces::id);
        let id: Option<Uuid> = session.run_optional(id.first(&mut session.connection()?)).await?;
        Ok(id.map(|id| Workspace { id: WorkspaceId::new(id), subdomain: subdomain.clone() }))
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let all = workspaces::table.order(workspaces::subdomain).select((workspaces::id, workspaces::subdomain));
        let rows: Vec<(Uuid, String)> = session.run(all.load(&mut session.connection()?)).await?;
        Ok(listed(rows))
    }

    async fn first_workspaces(&self, limit: u32) -> Result<Vec<Workspace>, StoreError> {
        let session = self.session(NO_WORKSPACE).await?;
        let first = workspaces::table
            .order(workspaces::subdomain)
            .limit(limit.into())
            .select((workspaces::id, workspaces::subdomain));
        let rows: Vec<(Uuid, String)> = session.run(first.load(&mut session.connection()?)).await?;
        Ok(listed(rows))
    }

    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
        let session = self.session(workspace).await?;
        let keys = api_keys::table
            .filter(api_keys::workspace_id.eq(workspace.uuid()))
            .order((api_keys::created_at, api_keys::id))
            .select(api_key_columns());
        let rows: Vec<ApiKeyRow> = session.run(keys.load(&mut session.connection()?)).await?;
        rows.into_iter().map(ApiKey::try_from).collect()
    }

    async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError> {
        let session = self.session(workspace).await?;
        let digests = api_keys::table.filter(api_keys::workspace_id.eq(workspace.uuid())).select(api_keys::digest);
        let digests: Vec<Vec<u8>> = session.run(digests.load(&mut session.connection()?)).await?;
        let digest =
            |bytes: Vec<u8>| bytes.try_into().map_err(|_| inconsistent("api_keys", "digest", workspace.uuid()));
        digests.into_iter().map(|bytes| Ok(KeyDigest(digest(bytes)?))).collect()
    }
}
