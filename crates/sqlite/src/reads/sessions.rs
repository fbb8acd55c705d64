//! Sessions and sign-ins.

use async_trait::async_trait;
use diesel::dsl::auto_type;
use diesel::prelude::{ExpressionMethods, OptionalExtension, QueryDsl, RunQueryDsl};
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use diesel::{Queryable, SqliteConnection};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{SessionId, SignInId, WorkspaceId};
use roadmap_domain::model::member::Member;
use roadmap_domain::model::portal::Language;
use roadmap_domain::model::session::{BrowserName, SecretDigest, Session};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignIn};
use roadmap_domain::model::timestamp::Timestamp;
use roadmap_domain::ports::SessionReader;
use roadmap_store::columns::{Id, inconsistent};

use crate::SqliteStore;
use crate::codec::{optional_timestamp, timestamp};
use crate::records::customer_name;
use crate::rows::MemberRow;
use crate::schema::{sessions, sign_ins};
use crate::statement::statement;

statement! {
    /// Selects a session with the customer and the member of its address.
    OneSession { workspace: Id => Binary, digest: Vec<u8> => Binary } -> (
        (Binary, Text, BigInt, BigInt),
        Nullable<(Binary, Nullable<Text>, Text, Nullable<Text>)>,
        Nullable<(Binary, Text, Text, Text, BigInt)>,
    ),
    "SELECT sessions.id, sessions.email, sessions.created_at, sessions.last_seen_at,
            customers.id, customers.name, customers.email, customers.language,
            members.id, members.email, members.name, members.role, members.created_at
     FROM sessions
     LEFT JOIN customers ON customers.workspace_id = sessions.workspace_id
           AND customers.email_folded = sessions.email_folded
     LEFT JOIN members ON members.workspace_id = sessions.workspace_id
           AND members.email_folded = sessions.email_folded AND members.removed_at IS NULL
     WHERE sessions.workspace_id = ? AND sessions.digest = ?"
}

/// A row of [`OneSession`].
#[derive(Debug, Queryable)]
struct SessionRow {
    session: (Id, String, i64, i64),
    /// ID, name, address and language.
    customer: Option<(Id, Option<String>, String, Option<String>)>,
    member: Option<MemberRow>,
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        let (id, email, created_at, last_seen_at) = row.session;
        let (customer, language) = match row.customer {
            Some((customer, name, email, code)) => {
                let broken = || inconsistent("customers", "language", customer.0);
                let language = code.map(|code| Language::from_code(&code).ok_or_else(broken)).transpose()?;
                (Some(customer_name((customer, name, email))), language)
            }
            None => (None, None),
        };
        Ok(Self {
            id: SessionId::new(id.0),
            email: EmailAddress::from_stored(email),
            customer,
            language,
            member: row.member.map(Member::try_from).transpose()?,
            created_at: timestamp(created_at, "sessions", "created_at", id)?,
            last_seen_at: timestamp(last_seen_at, "sessions", "last_seen_at", id)?,
        })
    }
}

/// The columns of a sign-in.
#[auto_type]
pub(super) fn sign_in_columns() -> _ {
    (
        sign_ins::id,
        sign_ins::email,
        sign_ins::browser_digest,
        sign_ins::browser_name,
        sign_ins::action,
        sign_ins::next,
        sign_ins::language,
        sign_ins::wrong_codes,
        sign_ins::created_at,
        sign_ins::consumed_at,
    )
}

/// A row of [`sign_in_columns()`].
#[derive(Debug, Queryable)]
pub(super) struct SignInRow {
    id: Id,
    email: String,
    browser_digest: Option<Vec<u8>>,
    browser_name: Option<String>,
    action: Option<String>,
    next: Option<String>,
    language: String,
    wrong_codes: i64,
    created_at: i64,
    consumed_at: Option<i64>,
}

impl TryFrom<SignInRow> for SignIn {
    type Error = StoreError;

    fn try_from(row: SignInRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("sign_ins", column, row.id.0);
        let digest = |bytes: Vec<u8>| bytes.try_into().map(SecretDigest).map_err(|_| broken("browser_digest"));
        let action = |json: String| PageAction::from_json(&json).ok_or_else(|| broken("action"));
        let next = |path: String| LocalPath::parse(&path).ok_or_else(|| broken("next"));
        Ok(Self {
            id: SignInId::new(row.id.0),
            email: EmailAddress::from_stored(row.email),
            browser: row.browser_digest.map(digest).transpose()?,
            browser_name: row.browser_name.map(BrowserName::from_stored),
            action: row.action.map(action).transpose()?,
            next: row.next.map(next).transpose()?,
            language: Language::from_code(&row.language).ok_or_else(|| broken("language"))?,
            wrong_codes: u32::try_from(row.wrong_codes).map_err(|_| broken("wrong_codes"))?,
            created_at: timestamp(row.created_at, "sign_ins", "created_at", row.id)?,
            consumed_at: optional_timestamp(row.consumed_at, "sign_ins", "consumed_at", row.id)?,
        })
    }
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
