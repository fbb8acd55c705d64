//! Provisioning by operators: workspaces, members and API keys.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Bool, Text};
use diesel::{QueryResult, QueryableByName};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::api_key::{ApiKey, KeyDigest};
use roadmap_domain::model::id::ApiKeyId;
use roadmap_domain::model::member::Member;
use roadmap_domain::model::setting::Setting;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::model::workspace::Workspace;
use roadmap_domain::ports::{Insertion, Provisioning};

use crate::codec::TimestampColumn;
use crate::rows::{ApiKeyRow, api_key_columns};
use crate::schema::{api_keys, members, settings, workspaces};
use crate::unit::PostgresUnit;

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
pub(crate) fn insertion(inserted: usize) -> Insertion {
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
        // The service's role may not create workspaces (ADR 25): this one statement runs as the login.
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

    async fn insert_member(&mut self, member: &Member) -> Result<Insertion, StoreError> {
        let insert = diesel::insert_into(members::table)
            .values((
                members::workspace_id.eq(self.workspace),
                members::id.eq(member.id.uuid()),
                members::email.eq(member.email.as_str()),
                members::email_folded.eq(member.email.folded().as_str()),
                members::name.eq(member.name.as_str()),
                members::created_at.eq(TimestampColumn::from(member.created_at)),
            ))
            .on_conflict((members::workspace_id, members::email_folded))
            .do_nothing();
        Ok(insertion(self.run(insert.execute(&mut self.connection()?)).await?))
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
        ));
        self.run(insert.execute(&mut self.connection()?)).await?;
        Ok(())
    }

    async fn find_api_key(&mut self, key: ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
        let found = api_keys::table
            .filter(api_keys::workspace_id.eq(self.workspace))
            .filter(api_keys::id.eq(key.uuid()))
            .select(api_key_columns());
        let row: Option<ApiKeyRow> = self.run_optional(found.first(&mut self.connection()?)).await?;
        row.map(ApiKey::try_from).transpose()
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
