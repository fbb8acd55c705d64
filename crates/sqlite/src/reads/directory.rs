//! The directory of workspaces and their API keys.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, Credential, KeyDigest, LAST_USE_PRECISION};
use roadmap_domain::model::id::WorkspaceId;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::{Subdomain, Workspace};
use roadmap_domain::ports::WorkspaceDirectory;
use roadmap_store::columns::{Id, inconsistent};
use roadmap_store::rows::ApiKeyRow;

use crate::SqliteStore;
use crate::rows::api_key_columns;
use crate::schema::{api_keys, workspaces};

/// Converts rows to workspaces.
fn listed(rows: Vec<(Id, String)>) -> Vec<Workspace> {
    let workspace = |(id, subdomain): (Id, String)| {
        let id = WorkspaceId::new(id.0);
        Workspace { id, subdomain: Subdomain::from_stored(subdomain) }
    };
    rows.into_iter().map(workspace).collect()
}

#[async_trait]
impl WorkspaceDirectory for SqliteStore {
    async fn credential(&self, subdomain: &Subdomain, digest: &KeyDigest) -> Result<Option<Credential>, StoreError> {
        let (name, digest) = (subdomain.clone(), digest.0.to_vec());
        let row: Option<(Id, ApiKeyRow)> = self
            .readers
            .run(move |connection| {
                Ok(api_keys::table
                    .inner_join(workspaces::table.on(workspaces::id.eq(api_keys::workspace_id)))
                    .filter(workspaces::subdomain.eq(name.as_str()))
                    .filter(api_keys::digest.eq(digest))
                    .select((workspaces::id, api_key_columns()))
                    .first(connection)
                    .optional()?)
            })
            .await?;
        row.map(|(id, key)| {
            let workspace = Workspace { id: WorkspaceId::new(id.0), subdomain: subdomain.clone() };
            Ok(Credential { workspace, key: key.try_into()? })
        })
        .transpose()
    }

    async fn record_use(&self, credential: &Credential, at: Timestamp) -> Result<(), StoreError> {
        let workspace = Id(credential.workspace.id.uuid());
        let key = Id(credential.key.id.uuid());
        let record = move |connection: &mut diesel::SqliteConnection| {
            let stale = at.plus(-LAST_USE_PRECISION).millis();
            diesel::update(api_keys::table)
                .filter(api_keys::workspace_id.eq(workspace))
                .filter(api_keys::id.eq(key))
                .filter(api_keys::last_used_at.is_null().or(api_keys::last_used_at.le(stale)))
                .set(api_keys::last_used_at.eq(at.millis()))
                .execute(connection)?;
            Ok(())
        };
        self.write(record).await
    }

    async fn workspace(&self, subdomain: &Subdomain) -> Result<Option<Workspace>, StoreError> {
        let name = subdomain.clone();
        let row: Option<Id> = self
            .readers
            .run(move |connection| {
                Ok(workspaces::table
                    .filter(workspaces::subdomain.eq(name.as_str()))
                    .select(workspaces::id)
                    .first(connection)
                    .optional()?)
            })
            .await?;
        Ok(row.map(|id| Workspace { id: WorkspaceId::new(id.0), subdomain: subdomain.clone() }))
    }

    async fn workspaces(&self) -> Result<Vec<Workspace>, StoreError> {
        let rows: Vec<(Id, String)> = self
            .readers
            .run(|connection| {
                Ok(workspaces::table
                    .order(workspaces::subdomain)
                    .select((workspaces::id, workspaces::subdomain))
                    .load(connection)?)
            })
            .await?;
        Ok(listed(rows))
    }

    async fn first_workspaces(&self, limit: u32) -> Result<Vec<Workspace>, StoreError> {
        let rows: Vec<(Id, String)> = self
            .readers
            .run(move |connection| {
                Ok(workspaces::table
                    .order(workspaces::subdomain)
                    .limit(limit.into())
                    .select((workspaces::id, workspaces::subdomain))
                    .load(connection)?)
            })
            .await?;
        Ok(listed(rows))
    }

    async fn api_keys(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
        let workspace = Id(workspace.uuid());
        let rows: Vec<ApiKeyRow> = self
            .readers
            .run(move |connection| {
                Ok(api_keys::table
                    .filter(api_keys::workspace_id.eq(workspace))
                    .order((api_keys::created_at, api_keys::id))
                    .select(api_key_columns())
                    .load(connection)?)
            })
            .await?;
        rows.into_iter().map(ApiKey::try_from).collect()
    }

    async fn key_digests(&self, workspace: WorkspaceId) -> Result<Vec<KeyDigest>, StoreError> {
        let id = Id(workspace.uuid());
        let digests: Vec<Vec<u8>> = self
            .readers
            .run(move |connection| {
                Ok(api_keys::table.filter(api_keys::workspace_id.eq(id)).select(api_keys::digest).load(connection)?)
            })
            .await?;
        let digest =
            |bytes: Vec<u8>| bytes.try_into().map_err(|_| inconsistent("api_keys", "digest", workspace.uuid()));
        digests.into_iter().map(|bytes| Ok(KeyDigest(digest(bytes)?))).collect()
    }
}
