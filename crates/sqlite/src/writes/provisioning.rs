//! Provisioning by operators: workspaces, members and API keys.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, KeyDigest};
use roadmap_domain::model::id::ApiKeyId;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::ports::{Insertion, Provisioning};

use crate::codec::Id;
use crate::rows::{ApiKeyRow, api_key_columns};
use crate::schema::{api_keys, members, settings, workspaces};
use crate::unit::SqliteUnit;

/// Interprets the number of rows that an insert with "on conflict do nothing" has inserted.
pub(crate) fn insertion(inserted: usize) -> Insertion {
    if inserted == 1 { Insertion::Inserted } else { Insertion::NameTaken }
}

#[async_trait]
impl Provisioning for SqliteUnit {
    async fn insert_workspace(
        &mut self,
        workspace: &Workspace,
        setting: &Setting,
        at: Timestamp,
    ) -> Result<Insertion, StoreError> {
        let (workspace, setting) = (workspace.clone(), setting.clone());
        self.run(move |connection, id| {
            let inserted = diesel::insert_into(workspaces::table)
                .values((
                    workspaces::id.eq(id),
                    workspaces::subdomain.eq(workspace.subdomain.as_str()),
                    workspaces::created_at.eq(at.millis()),
                ))
                .on_conflict(workspaces::subdomain)
                .do_nothing()
                .execute(connection)?;
            if inserted == 1 {
                diesel::insert_into(settings::table)
                    .values((
                        settings::workspace_id.eq(id),
                        settings::product_name.eq(setting.product_name.as_str()),
                        settings::website_url.eq(setting.website_url.as_str()),
                    ))
                    .execute(connection)?;
            }
            Ok(insertion(inserted))
        })
        .await
    }

    async fn insert_member(&mut self, member: &Member) -> Result<Insertion, StoreError> {
        let member = member.clone();
        self.run(move |connection, workspace| {
            let inserted = diesel::insert_into(members::table)
                .values((
                    members::workspace_id.eq(workspace),
                    members::id.eq(Id(member.id.uuid())),
                    members::email.eq(member.email.as_str()),
                    members::email_folded.eq(member.email.folded().as_str()),
                    members::name.eq(member.name.as_str()),
                    members::created_at.eq(member.created_at.millis()),
                ))
                .on_conflict((members::workspace_id, members::email_folded))
                .do_nothing()
                .execute(connection)?;
            Ok(insertion(inserted))
        })
        .await
    }

    async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError> {
        let (key, digest) = (key.clone(), *digest);
        self.run(move |connection, workspace| {
            diesel::insert_into(api_keys::table)
                .values((
                    api_keys::workspace_id.eq(workspace),
                    api_keys::id.eq(Id(key.id.uuid())),
                    api_keys::name.eq(key.name.as_str()),
                    api_keys::digest.eq(digest.0.to_vec()),
                    api_keys::last_four.eq(key.last_four),
                    api_keys::can_read.eq(key.scopes.read),
                    api_keys::can_write.eq(key.scopes.write),
                    api_keys::can_manage.eq(key.scopes.manage),
                    api_keys::created_at.eq(key.created_at.millis()),
                    api_keys::expires_at.eq(key.expires_at.map(Timestamp::millis)),
                    api_keys::revoked_at.eq(key.revoked_at.map(Timestamp::millis)),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let row: Option<ApiKeyRow> = self
            .run(move |connection, workspace| {
                Ok(api_keys::table
                    .filter(api_keys::workspace_id.eq(workspace))
                    .filter(api_keys::id.eq(Id(key.uuid())))
                    .select(api_key_columns())
                    .first(connection)
                    .optional()?)
            })
            .await?;
        row.map(ApiKey::try_from).transpose()
    }

    async fn update_api_key_validity(
        &mut self,
        key: ApiKeyId,
        expires_at: Option<Timestamp>,
        revoked_at: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(api_keys::table)
                .filter(api_keys::workspace_id.eq(workspace))
                .filter(api_keys::id.eq(Id(key.uuid())))
                .set((
                    api_keys::expires_at.eq(expires_at.map(Timestamp::millis)),
                    api_keys::revoked_at.eq(revoked_at.map(Timestamp::millis)),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}
