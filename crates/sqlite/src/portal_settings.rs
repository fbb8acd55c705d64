//! The stored settings of a portal, which units of work and reads return in the same form.

use diesel::Queryable;
use diesel::sql_types::{Binary, Bool, Nullable, Text};
use roadmap_domain::error::StoreError;
use roadmap_domain::model::id::AttachmentId;
use roadmap_domain::model::portal::{Color, EmbedOrigin, Language, MailDomain, PortalAccess, PortalSettings};
use roadmap_store::columns::{Id, inconsistent};

use crate::statement::statement;

/// SQL for the columns of the settings of a portal. The texts of a JSON array are one per line: none of them has a line
/// break.
macro_rules! portal_columns {
    () => {
        "portal_settings.access,
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.mail_domains)),
         portal_settings.is_indexed,
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.embed_origins)),
         (SELECT group_concat(value, char(10) ORDER BY key) FROM json_each(portal_settings.languages)),
         portal_settings.holds_posts, portal_settings.accent, portal_settings.logo_attachment_id"
    };
}
pub(crate) use portal_columns;

/// The types of the columns of [`portal_columns!`].
pub(crate) type SettingsSql =
    (Text, Nullable<Text>, Bool, Nullable<Text>, Nullable<Text>, Bool, Nullable<Text>, Nullable<Binary>);

statement! {
    /// Selects the settings of a portal.
    StoredSettings { workspace: Id => Binary } -> SettingsSql,
    concat!("SELECT ", portal_columns!(), " FROM portal_settings WHERE workspace_id = ?")
}

/// A row of the columns of [`portal_columns!`].
#[derive(Debug, Queryable)]
pub(crate) struct PortalSettingsRow {
    access: String,
    mail_domains: Option<String>,
    is_indexed: bool,
    embed_origins: Option<String>,
    languages: Option<String>,
    holds_posts: bool,
    accent: Option<String>,
    logo: Option<Id>,
}

impl PortalSettingsRow {
    /// Converts the row to the settings of a workspace.
    pub(crate) fn settings(self, workspace: Id) -> Result<PortalSettings, StoreError> {
        let broken = |column| inconsistent("portal_settings", column, workspace.0);
        let lines =
            |text: Option<String>| -> Vec<String> { text.unwrap_or_default().lines().map(str::to_owned).collect() };
        let language = |code: &String| Language::from_code(code).ok_or_else(|| broken("languages"));
        let color = |accent: &String| Color::from_hex(accent).ok_or_else(|| broken("accent"));
        Ok(PortalSettings {
            access: PortalAccess::from_name(&self.access).ok_or_else(|| broken("access"))?,
            mail_domains: lines(self.mail_domains).into_iter().map(MailDomain::from_stored).collect(),
            is_indexed: self.is_indexed,
            embed_origins: lines(self.embed_origins).into_iter().map(EmbedOrigin::from_stored).collect(),
            languages: lines(self.languages).iter().map(language).collect::<Result<_, _>>()?,
            holds_posts: self.holds_posts,
            accent: self.accent.as_ref().map(color).transpose()?,
            logo: self.logo.map(|logo| AttachmentId::new(logo.0)),
        })
    }
}
