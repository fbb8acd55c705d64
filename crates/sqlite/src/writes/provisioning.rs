//! Provisioning by operators: workspaces, members and API keys.

use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, KeyDigest};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{ApiKeyId, MemberId};
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::ports::{Insertion, Provisioning};
use roadmap_store::columns::Id;
use roadmap_store::rows::{ApiKeyRow, MemberRow};

use crate::errors::SqlError;
use crate::rows::{api_key_columns, load_members, member_columns};
use crate::schema::{api_keys, members, settings, workspaces};
use crate::unit::SqliteUnit;

fn insert_member(connection: &mut SqliteConnection, workspace: Id, member: &Member) -> Result<(), SqlError> {
    diesel::insert_into(members::table)
        .values((
            members::workspace_id.eq(workspace),
            members::id.eq(Id(member.id.uuid())),
            members::email.eq(member.email.as_str()),
            members::email_folded.eq(member.email.folded().as_str()),
            members::name.eq(member.name.as_str()),
            members::role.eq(member.role.name()),
            members::created_at.eq(member.created_at.millis()),
            members::told_until.eq(member.created_at.millis()),
        ))
        .execute(connection)?;
    Ok(())
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
            Ok(if inserted == 1 { Insertion::Inserted } else { Insertion::NameTaken })
        })
        .await
    }

    async fn insert_member(&mut self, member: &Member) -> Result<Option<Member>, StoreError> {
        let member = member.clone();
        let stored: Option<MemberRow> = self
            .run(move |connection, workspace| {
                let with_address = members::table
                    .filter(members::workspace_id.eq(workspace))
                    .filter(members::email_folded.eq(member.email.folded().as_str()));
                let known: Option<(Id, Option<i64>)> =
                    with_address.select((members::id, members::removed_at)).first(connection).optional()?;
                let id = match known {
                    Some((_, None)) => return Ok(None),
                    Some((removed, Some(_))) => {
                        diesel::update(members::table.find((workspace, removed)))
                            .set((
                                members::name.eq(member.name.as_str()),
                                members::role.eq(member.role.name()),
                                members::removed_at.eq(None::<i64>),
                                members::told_until.eq(member.created_at.millis()),
                            ))
                            .execute(connection)?;
                        removed
                    }
                    None => {
                        insert_member(connection, workspace, &member)?;
                        Id(member.id.uuid())
                    }
                };
                Ok(Some(members::table.find((workspace, id)).select(member_columns()).first(connection)?))
            })
            .await?;
        stored.map(Member::try_from).transpose()
    }

    async fn load_members(&mut self) -> Result<Vec<Member>, StoreError> {
        let rows = self.run(load_members).await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    async fn find_member(&mut self, address: &FoldedEmail) -> Result<Option<Member>, StoreError> {
        let address = address.clone();
        let row: Option<MemberRow> = self
            .run(move |connection, workspace| {
                Ok(members::table
                    .filter(members::workspace_id.eq(workspace))
                    .filter(members::email_folded.eq(address.as_str()))
                    .filter(members::removed_at.is_null())
                    .select(member_columns())
                    .first(connection)
                    .optional()?)
            })
            .await?;
        row.map(Member::try_from).transpose()
    }

    async fn set_role(&mut self, member: MemberId, role: Role) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(members::table.find((workspace, Id(member.uuid()))))
                .set(members::role.eq(role.name()))
                .execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn remove_member(&mut self, member: MemberId, at: Timestamp) -> Result<(), StoreError> {
        self.run(move |connection, workspace| {
            diesel::update(members::table.find((workspace, Id(member.uuid()))))
                .set(members::removed_at.eq(at.millis()))
                .execute(connection)?;
            Ok(())
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
                    api_keys::made_by.eq(key.made_by.map(|member| Id(member.uuid()))),
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

    async fn revoke_keys_of(&mut self, member: MemberId, at: Timestamp) -> Result<Vec<ApiKey>, StoreError> {
        let (member, at) = (Id(member.uuid()), at.millis());
        let rows: Vec<ApiKeyRow> = self
            .run(move |connection, workspace| {
                let valid = api_keys::table
                    .filter(api_keys::workspace_id.eq(workspace))
                    .filter(api_keys::made_by.eq(member))
                    .filter(api_keys::revoked_at.is_null().or(api_keys::revoked_at.gt(at)))
                    .filter(api_keys::expires_at.is_null().or(api_keys::expires_at.gt(at)));
                Ok(diesel::update(valid)
                    .set(api_keys::revoked_at.eq(at))
                    .returning(api_key_columns())
                    .get_results(connection)?)
            })
            .await?;
        let mut keys = rows.into_iter().map(ApiKey::try_from).collect::<Result<Vec<_>, _>>()?;
        keys.sort_by_key(|key| (key.created_at, key.id.uuid()));
        Ok(keys)
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
