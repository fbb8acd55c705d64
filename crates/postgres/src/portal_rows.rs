//! Row types of the portal that reads and writes share, and their conversion to records.

use diesel::Queryable;
use diesel::dsl::auto_type;
use roadmap_domain::error::StoreError;
use roadmap_domain::model::email_address::EmailAddress;
use roadmap_domain::model::id::{AttachmentId, SignInId};
use roadmap_domain::model::portal::{Color, EmbedOrigin, Language, MailDomain, PortalAccess, PortalSettings};
use roadmap_domain::model::session::{BrowserName, SecretDigest};
use roadmap_domain::model::sign_in::{LocalPath, PageAction, SignIn};
use roadmap_store::columns::{TimestampColumn, inconsistent, optional_timestamp};
use uuid::Uuid;

use crate::schema::{portal_settings, sign_ins};

/// The columns of the settings of a portal.
#[auto_type]
pub(crate) fn portal_columns() -> _ {
    (
        portal_settings::access,
        portal_settings::mail_domains,
        portal_settings::is_indexed,
        portal_settings::embed_origins,
        portal_settings::languages,
        portal_settings::holds_posts,
        portal_settings::accent,
        portal_settings::logo_attachment_id,
    )
}

/// A row of [`portal_columns()`].
#[derive(Debug, Queryable)]
pub(crate) struct SettingsRow {
    access: String,
    mail_domains: Vec<String>,
    is_indexed: bool,
    embed_origins: Vec<String>,
    languages: Vec<String>,
    holds_posts: bool,
    accent: Option<String>,
    logo: Option<Uuid>,
}

impl SettingsRow {
    /// Converts the row of a workspace to settings.
    pub(crate) fn into_settings(self, workspace: Uuid) -> Result<PortalSettings, StoreError> {
        let broken = |column| inconsistent("portal_settings", column, workspace);
        let languages = self.languages.iter().map(|code| Language::from_code(code));
        let accent = self.accent.map(|accent| Color::from_hex(&accent).ok_or_else(|| broken("accent")));
        Ok(PortalSettings {
            access: PortalAccess::from_name(&self.access).ok_or_else(|| broken("access"))?,
            mail_domains: self.mail_domains.into_iter().map(MailDomain::from_stored).collect(),
            is_indexed: self.is_indexed,
            embed_origins: self.embed_origins.into_iter().map(EmbedOrigin::from_stored).collect(),
            languages: languages.collect::<Option<_>>().ok_or_else(|| broken("languages"))?,
            holds_posts: self.holds_posts,
            accent: accent.transpose()?,
            logo: self.logo.map(AttachmentId::new),
        })
    }
}

/// The columns of a sign-in.
#[auto_type]
pub(crate) fn sign_in_columns() -> _ {
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
pub(crate) struct SignInRow {
    id: Uuid,
    email: String,
    browser_digest: Option<Vec<u8>>,
    browser_name: Option<String>,
    action: Option<String>,
    next: Option<String>,
    language: String,
    wrong_codes: i64,
    created_at: TimestampColumn,
    consumed_at: Option<TimestampColumn>,
}

impl TryFrom<SignInRow> for SignIn {
    type Error = StoreError;

    fn try_from(row: SignInRow) -> Result<Self, StoreError> {
        let broken = |column| inconsistent("sign_ins", column, row.id);
        let browser = row.browser_digest.map(|digest| digest.try_into().map(SecretDigest));
        let action = row.action.map(|action| PageAction::from_json(&action).ok_or_else(|| broken("action")));
        let next = row.next.map(|next| LocalPath::parse(&next).ok_or_else(|| broken("next")));
        Ok(Self {
            id: SignInId::new(row.id),
            email: EmailAddress::from_stored(row.email),
            browser: browser.transpose().map_err(|_| broken("browser_digest"))?,
            browser_name: row.browser_name.map(BrowserName::from_stored),
            action: action.transpose()?,
            next: next.transpose()?,
            language: Language::from_code(&row.language).ok_or_else(|| broken("language"))?,
            wrong_codes: u32::try_from(row.wrong_codes).unwrap_or(u32::MAX),
            created_at: row.created_at.into_timestamp("sign_ins", "created_at", row.id)?,
            consumed_at: optional_timestamp(row.consumed_at, "sign_ins", "consumed_at", row.id)?,
        })
    }
}
