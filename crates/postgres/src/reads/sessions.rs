//! Sessions and sign-ins.

use async_trait::async_trait;
use diesel::prelude::{ExpressionMethods, QueryDsl};
use diesel::sql_types::{Binary, Bool, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use diesel_async::RunQueryDsl;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{SessionId, SignInId, WorkspaceId};
use roadmap_domain::model::session::{SecretDigest, Session};
use roadmap_domain::model::sign_in::SignIn;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SessionReader;
use roadmap_store::columns::TimestampColumn;
use roadmap_store::rows::{SessionRow, SignInRow};
use uuid::Uuid;

use crate::PostgresReader;
use crate::rows::{CustomerNameColumns, sign_in_columns};
use crate::schema::{sessions, sign_ins};
use crate::statement::statement;

statement! {
    /// Selects a session with the customer, the customer's language and the member of its address.
    FindSession { workspace: Uuid => SqlUuid, digest: Vec<u8> => Binary } -> SessionColumns,
    "SELECT sessions.id, sessions.email, customers.id, customers.name, customers.email, language,
            members.id, members.email, members.name, role, members.created_at, sessions.created_at, last_seen_at,
            shortcuts
     FROM sessions
     LEFT JOIN customers
            ON customers.workspace_id = {workspace} AND customers.email_folded = sessions.email_folded
     LEFT JOIN members
            ON members.workspace_id = {workspace} AND members.email_folded = sessions.email_folded
           AND removed_at IS NULL
     WHERE sessions.workspace_id = {workspace} AND digest = {digest}"
}

type SessionColumns = (
    SqlUuid,
    Text,
    Nullable<CustomerNameColumns>,
    Nullable<Text>,
    Nullable<(SqlUuid, Text, Text, Text, Timestamptz)>,
    Timestamptz,
    Timestamptz,
    Nullable<Bool>,
);

#[async_trait]
impl SessionReader for PostgresReader {
    async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError> {
        let session = self.session(workspace).await?;
        let workspace = workspace.uuid();
        let find = FindSession { workspace, digest: digest.0.to_vec() };
        let row: Option<SessionRow> = session.run_optional(find.get_result(&mut session.connection()?)).await?;
        row.map(Session::try_from).transpose()
    }

    async fn touch_session(&self, workspace: WorkspaceId, id: SessionId, at: Timestamp) -> Result<(), StoreError> {
        let session = self.session(workspace).await?;
        let at = TimestampColumn::from(at);
        // Of concurrent uses, the last one counts.
        let touch = diesel::update(sessions::table)
            .filter(sessions::workspace_id.eq(workspace.uuid()))
            .filter(sessions::id.eq(id.uuid()))
            .filter(sessions::last_seen_at.lt(at))
            .set(sessions::last_seen_at.eq(at));
        session.run(touch.execute(&mut session.connection()?)).await?;
        Ok(())
    }

    async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError> {
        let session = self.session(workspace).await?;
        let select = sign_ins::table
            .filter(sign_ins::workspace_id.eq(workspace.uuid()))
            .filter(sign_ins::id.eq(id.uuid()))
            .select(sign_in_columns());
        let row: Option<SignInRow> = session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map(SignIn::try_from).transpose()
    }

    async fn sign_in_of_browser(
        &self,
        workspace: WorkspaceId,
        browser: &SecretDigest,
    ) -> Result<Option<SignIn>, StoreError> {
        let session = self.session(workspace).await?;
        let select = sign_ins::table
            .filter(sign_ins::workspace_id.eq(workspace.uuid()))
            .filter(sign_ins::browser_digest.eq(browser.0.to_vec()))
            .order((sign_ins::created_at.desc(), sign_ins::id.desc()))
            .select(sign_in_columns());
        let row: Option<SignInRow> = session.run_optional(select.first(&mut session.connection()?)).await?;
        row.map(SignIn::try_from).transpose()
    }
}
