//! Provisioning by operators: workspaces, members and API keys.

use async_trait::async_trait;
use diesel::prelude::{BoolExpressionMethods, ExpressionMethods, QueryDsl};
use diesel::sql_types::{Bool, Text, Timestamptz, Uuid as SqlUuid};
use diesel::{QueryResult, QueryableByName};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, KeyDigest};
use roadmap_domain::model::email_address::FoldedEmail;
use roadmap_domain::model::id::{ApiKeyId, MemberId};
use roadmap_domain::model::member::{Member, Role};
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::ports::{Insertion, Provisioning};
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{ApiKeyRow, MemberRow};
use uuid::Uuid;

use crate::locks::WorkspaceLock;
use crate::rows::{api_key_columns, member_columns};
use crate::schema::{api_keys, members, settings, workspaces};
use crate::statement::statement;
use crate::unit::PostgresUnit;

statement! {
    /// Inserts a member, or restores a removed one with the same address. Returns no row if the address is in use.
    InsertMember {
        workspace: Uuid => SqlUuid,
        id: Uuid => SqlUuid,
        email: String => Text,
        email_folded: String => Text,
        name: String => Text,
        role: String => Text,
        at: TimestampColumn => Timestamptz,
    } -> (SqlUuid, Text, Text, Text, Timestamptz),
    "INSERT INTO members (workspace_id, id, email, email_folded, name, role, created_at, told_until)
     VALUES ({workspace}, {id}, {email}, {email_folded}, {name}, {role}, {at}, {at})
     ON CONFLICT (workspace_id, email_folded) DO UPDATE
     SET name = excluded.name, role = excluded.role, removed_at = NULL, told_until = excluded.told_until
     WHERE members.removed_at IS NOT NULL
     RETURNING id, email, name, role, created_at"
}

/// The login, and whether it may create workspaces.
#[derive(QueryableByName)]
struct Login {
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = Bool)]
    may_insert: bool,
}

async fn batch(mut connection: &AsyncPgConnection, statement: &str) -> QueryResult<()> {
    connection.batch_execute(statement).await
}

/// Interprets the number of rows that an insert with "on conflict do nothing" has inserted.
fn insertion(inserted: usize) -> Insertion {
    if inserted == 1 { Insertion::Inserted } else { Insertion::NameTaken }
}

#[async_trait]
impl Provisioning for PostgresUnit {
    async fn insert_workspace(
        &mut self,
        workspace: &Workspace,
        setting: &Setting,
        at: Timestamp,
    ) -> Result<Insertion, StoreError> {
        // The service's role may not create workspaces (ADR 10): this one statement runs as the login.
        self.run(batch(self.connection()?, "SET LOCAL ROLE NONE")).await?;
        let may = "SELECT current_user::text AS login, has_table_privilege('workspaces', 'INSERT') AS may_insert";
        let may: Login = self.run(diesel::sql_query(may).get_result(&mut self.connection()?)).await?;
        if !may.may_insert {
            let problem = format!(
                "the login {} may not create workspaces; use the one that owns the tables in database_url",
                may.login
            );
            return Err(StoreError::Fatal(problem.into()));
        }
        let insert = diesel::insert_into(workspaces::table)
            .values((
                workspaces::id.eq(self.workspace),
                workspaces::subdomain.eq(workspace.subdomain.as_str()),
                workspaces::created_at.eq(TimestampColumn::from(at)),
            ))
            .on_conflict(workspaces::subdomain)
            .do_nothing();
        let inserted = self.run(insert.execute(&mut self.connection()?)).await?;
        // Back to the role of the connection.
        self.run(batch(self.connection()?, "SET LOCAL ROLE TO DEFAULT")).await?;
        if inserted == 1 {
            let insert = diesel::insert_into(settings::table).values((
                settings::workspace_id.eq(self.workspace),
                settings::product_name.eq(setting.product_name.as_str()),
                settings::website_url.eq(setting.website_url.as_str()),
            ));
            self.run(insert.execute(&mut self.connection()?)).await?;
        }
        Ok(insertion(inserted))
    }

    async fn insert_member(&mut self, member: &Member) -> Result<Option<Member>, StoreError> {
        let insert = InsertMember {
            workspace: self.workspace,
            id: member.id.uuid(),
            email: member.email.as_str().to_owned(),
            email_folded: member.email.folded().as_str().to_owned(),
            name: member.name.to_string(),
            role: member.role.name().to_owned(),
            at: member.created_at.into(),
        };
        let row: Option<MemberRow> = self.run_optional(insert.get_result(&mut self.connection()?)).await?;
        row.map(Member::try_from).transpose()
    }

    async fn load_members(&mut self) -> Result<Vec<Member>, StoreError> {
        self.lock_workspace(WorkspaceLock::Members).await?;
        let all = members::table
            .filter(members::workspace_id.eq(self.workspace))
            .filter(members::removed_at.is_null())
            .order((members::created_at, members::id))
            .select(member_columns());
        let rows: Vec<MemberRow> = self.run(all.load(&mut self.connection()?)).await?;
        rows.into_iter().map(Member::try_from).collect()
    }

    async fn find_member(&mut self, address: &FoldedEmail) -> Result<Option<Member>, StoreError> {
        let select = members::table
            .filter(members::workspace_id.eq(self.workspace))
            .filter(members::email_folded.eq(address.as_str()))
            .filter(members::removed_at.is_null())
            .select(member_columns());
        let row: Option<MemberRow> = self.run_optional(select.first(&mut self.connection()?)).await?;
        row.map(Member::try_from).transpose()
    }

    async fn set_role(&mut self, member: MemberId, role: Role) -> Result<(), StoreError> {
        let change = diesel::update(members::table)
            .filter(members::workspace_id.eq(self.workspace))
            .filter(members::id.eq(member.uuid()))
            .set(members::role.eq(role.name()));
        self.run(change.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn remove_member(&mut self, member: MemberId, at: Timestamp) -> Result<(), StoreError> {
        let remove = diesel::update(members::table)
            .filter(members::workspace_id.eq(self.workspace))
            .filter(members::id.eq(member.uuid()))
            .set(members::removed_at.eq(TimestampColumn::from(at)));
        self.run(remove.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn insert_api_key(&mut self, key: &ApiKey, digest: &KeyDigest) -> Result<(), StoreError> {
        let insert = diesel::insert_into(api_keys::table).values((
            api_keys::workspace_id.eq(self.workspace),
            api_keys::id.eq(key.id.uuid()),
            api_keys::name.eq(key.name.as_str()),
            api_keys::digest.eq(digest.0.as_slice()),
            api_keys::last_four.eq(key.last_four.as_str()),
            api_keys::can_read.eq(key.scopes.read),
            api_keys::can_write.eq(key.scopes.write),
            api_keys::can_manage.eq(key.scopes.manage),
            api_keys::created_at.eq(TimestampColumn::from(key.created_at)),
            api_keys::expires_at.eq(key.expires_at.map(TimestampColumn::from)),
            api_keys::revoked_at.eq(key.revoked_at.map(TimestampColumn::from)),
            api_keys::made_by.eq(key.made_by.map(|member| member.uuid())),
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let select = api_keys::table
            .filter(api_keys::workspace_id.eq(self.workspace))
            .filter(api_keys::id.eq(key.uuid()))
            .select(api_key_columns())
            .for_no_key_update();
        let row: Option<ApiKeyRow> = self.run_optional(select.first(&mut self.connection()?)).await?;
        row.map(ApiKey::try_from).transpose()
    }

    async fn revoke_keys_of(&mut self, member: MemberId, at: Timestamp) -> Result<Vec<ApiKey>, StoreError> {
        let now = TimestampColumn::from(at);
        let valid = api_keys::table
            .filter(api_keys::workspace_id.eq(self.workspace))
            .filter(api_keys::made_by.eq(member.uuid()))
            .filter(api_keys::revoked_at.is_null().or(api_keys::revoked_at.gt(now)))
            .filter(api_keys::expires_at.is_null().or(api_keys::expires_at.gt(now)));
        let revoke = diesel::update(valid).set(api_keys::revoked_at.eq(now)).returning(api_key_columns());
        let rows: Vec<ApiKeyRow> = self.run(revoke.get_results(&mut self.connection()?)).await?;
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
        let end = diesel::update(api_keys::table)
            .filter(api_keys::workspace_id.eq(self.workspace))
            .filter(api_keys::id.eq(key.uuid()))
            .set((
                api_keys::expires_at.eq(expires_at.map(TimestampColumn::from)),
                api_keys::revoked_at.eq(revoked_at.map(TimestampColumn::from)),
            ));
        self.run(end.execute(&mut self.connection()?)).await?;
        Ok(())
    }
}
