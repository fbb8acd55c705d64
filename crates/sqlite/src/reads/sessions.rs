//! Sessions and sign-ins.

use crate::records::CustomerNameSql;
use async_trait::async_trait;
use diesel::SqliteConnection;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::{SessionId, SignInId, WorkspaceId};
use roadmap_domain::model::session::{SecretDigest, Session};
use roadmap_domain::model::sign_in::SignIn;
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SessionReader;
use roadmap_store::columns::Id;
use roadmap_store::rows::{SessionRow, SignInRow};

use crate::SqliteStore;
use crate::rows::sign_in_columns;
use crate::schema::{sessions, sign_ins};
use crate::statement::statement;

statement! {
    /// Selects a session with the customer and the member of its address.
    OneSession { workspace: Id => Binary, digest: Vec<u8> => Binary } -> (
        Binary, Text, Nullable<CustomerNameSql>, Nullable<Text>, Nullable<(Binary, Text, Text, Text, BigInt)>, BigInt,
        BigInt, Nullable<Bool>,
    ),
    "SELECT sessions.id, sessions.email, customers.id, customers.name, customers.email, customers.language,
            members.id, members.email, members.name, members.role, members.created_at,
            sessions.created_at, sessions.last_seen_at, members.shortcuts
     FROM sessions
     LEFT JOIN customers ON customers.workspace_id = sessions.workspace_id
           AND customers.email_folded = sessions.email_folded
     LEFT JOIN members ON members.workspace_id = sessions.workspace_id
           AND members.email_folded = sessions.email_folded AND members.removed_at IS NULL
     WHERE sessions.workspace_id = ? AND sessions.digest = ?"
}

#[async_trait]
impl SessionReader for SqliteStore {
    async fn session(&self, workspace: WorkspaceId, digest: &SecretDigest) -> Result<Option<Session>, StoreError> {
        let workspace = Id(workspace.uuid());
        let find = OneSession { workspace, digest: digest.0.to_vec() };
        let row: Option<SessionRow> =
            self.readers.run(move |connection| Ok(find.get_result(connection).optional()?)).await?;
        row.map(Session::try_from).transpose()
    }

    async fn touch_session(&self, workspace: WorkspaceId, session: SessionId, at: Timestamp) -> Result<(), StoreError> {
        let (workspace, session) = (Id(workspace.uuid()), Id(session.uuid()));
        let save = move |connection: &mut SqliteConnection| {
            diesel::update(sessions::table)
                .filter(sessions::workspace_id.eq(workspace))
                .filter(sessions::id.eq(session))
                .filter(sessions::last_seen_at.lt(at.millis()))
                .set(sessions::last_seen_at.eq(at.millis()))
                .execute(connection)?;
            Ok(())
        };
        self.write(save).await
    }

    async fn sign_in(&self, workspace: WorkspaceId, id: SignInId) -> Result<Option<SignIn>, StoreError> {
        let (workspace, sign_in) = (Id(workspace.uuid()), Id(id.uuid()));
        let row: Option<SignInRow> = self
            .readers
            .run(move |connection| {
                let row = sign_ins::table.find((workspace, sign_in));
                Ok(row.select(sign_in_columns()).first(connection).optional()?)
            })
            .await?;
        row.map(SignIn::try_from).transpose()
    }

    async fn sign_in_of_browser(
        &self,
        workspace: WorkspaceId,
        browser: &SecretDigest,
    ) -> Result<Option<SignIn>, StoreError> {
        let workspace = Id(workspace.uuid());
        let digest = browser.0.to_vec();
        let row: Option<SignInRow> = self
            .readers
            .run(move |connection| {
                Ok(sign_ins::table
                    .filter(sign_ins::workspace_id.eq(workspace))
                    .filter(sign_ins::browser_digest.eq(digest))
                    .order((sign_ins::created_at.desc(), sign_ins::id.desc()))
                    .select(sign_in_columns())
                    .first(connection)
                    .optional()?)
            })
            .await?;
        row.map(SignIn::try_from).transpose()
    }
}
